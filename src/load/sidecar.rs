//! Sidecars: a table of `rollout, step` with states, actions, step rewards and further numbers, put
//! on the steps of rollouts that were read elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::error::LoadError;
use super::identity::Draft;
use super::join::{Join, NAMED};
use super::packed::{Columns as StepColumns, Packed};
use super::report::{Note, Skipped};
use super::table::{Row, Table};
use crate::rollout::GroupKey;

/// Columns that are no numbers of their own.
const KNOWN: [&str; 8] =
    ["rollout", "rollout_id", "step", "task", "task_id", "state", "action", "step_reward"];

/// What a sidecar brought, and what of it could not be used.
pub struct Applied {
    /// How its rows found their steps.
    pub join: Join,
    /// Cells that are no numbers among numbers.
    pub notes: Vec<Note>,
    /// Rows that could not be used.
    pub skipped: Vec<Skipped>,
}

/// The forms of a sidecar, each with an example.
const FORMS: &str = "a sidecar is one of these: CSV whose first line is `rollout,step,critic` (or other columns), with \
     lines such as `r1,0,0.5`; JSON lines such as `{\"rollout\":\"r1\",\"step\":0,\"critic\":0.5}`, or a list \
     of them";

/// Puts a sidecar on the rollouts of all groups.
pub fn apply(path: &Path, groups: &mut [(GroupKey, Vec<Draft>)]) -> Result<Applied, LoadError> {
    let table = Table::read(path, FORMS)?;
    let columns = Columns::of(&table)?;
    let mut join = Join {
        file: table.name.clone(),
        kind: "sidecar",
        numbers: columns.numbers.iter().map(|(name, _)| name.clone()).collect(),
        texts: columns.texts.clone(),
        ..Join::default()
    };
    let mut tasks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (key, drafts) in groups.iter() {
        for draft in drafts {
            tasks.entry(draft.id.clone()).or_default().insert(key.task.clone());
        }
    }
    // Rows by task (where one is given or the id has one only), rollout and step. Rows that contradict each
    // other about a step say nothing about it.
    let mut rows: BTreeMap<(&str, &str), BTreeMap<u32, Row<'_>>> = BTreeMap::new();
    let mut contradicted: BTreeSet<(&str, &str, u32)> = BTreeSet::new();
    let (mut total, mut skipped) = (0, table.skipped());
    // Rows that find no step, by their number.
    let mut left: BTreeMap<u64, String> = BTreeMap::new();
    for row in table.rows() {
        total += 1;
        let Some(id) = row.cell(Some(columns.rollout)) else {
            left.insert(row.number, table.place(row.number));
            continue;
        };
        let step = row.cell(Some(columns.step)).and_then(|s| s.trim().parse::<u32>().ok());
        let Some(step) = step else {
            let cell = row.cell(Some(columns.step)).unwrap_or_default();
            let reason = format!("a whole number from 0 was expected, `{cell}` stands there");
            skipped.push(table.skip(row.number, Some("step"), reason));
            total -= 1;
            continue;
        };
        let task = match (row.cell(columns.task), tasks.get(id)) {
            (Some(task), _) => task,
            (None, Some(known)) if known.len() == 1 => known.first().map_or("", String::as_str),
            (None, known) => {
                join.ambiguous += usize::from(known.is_some());
                left.insert(row.number, format!("{id}:{step}"));
                continue;
            }
        };
        let before = rows.entry((task, id)).or_default().insert(step, row);
        let Some(before) = before else { continue };
        // A row that stands twice counts once.
        total -= 1;
        if before.says_as(row) {
            continue;
        }
        let place = table.place(before.number);
        let reason = format!("{place} says something else about this step: none of them is used");
        skipped.push(table.skip(row.number, Some("step"), reason));
        contradicted.insert((task, id, step));
    }
    for (task, id, step) in contradicted {
        let of_step = rows.get_mut(&(task, id)).and_then(|of| of.remove(&step));
        total -= usize::from(of_step.is_some());
    }
    left.extend(rows.iter().flat_map(|((_, id), of)| {
        of.iter().map(move |(step, row)| (row.number, format!("{id}:{step}")))
    }));
    for (key, drafts) in groups {
        for draft in drafts {
            let before = join.matched;
            if let Some(found) = rows.get(&(key.task.as_str(), draft.id.as_str())) {
                let mut steps = draft.pending.steps.unpack();
                for (&step, &row) in found {
                    match columns.put(row, step, &mut steps) {
                        Ok(false) => {}
                        Ok(true) => {
                            join.matched += 1;
                            left.remove(&row.number);
                        }
                        Err(reason) => {
                            left.remove(&row.number);
                            skipped.push(table.skip(row.number, Some("step_reward"), reason));
                            total -= 1;
                        }
                    }
                }
                draft.pending.steps = Packed::of(&steps);
            }
            join.missing += draft.pending.steps.len().saturating_sub(join.matched - before);
        }
    }
    join.extra = total - join.matched - join.ambiguous;
    join.left_over = left.into_values().take(NAMED).collect();
    skipped.sort_by_key(|s| s.number);
    Ok(Applied { join, notes: columns.odd(&table), skipped })
}

/// A finite number.
fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|v| v.is_finite())
}

/// Where the columns are.
struct Columns {
    rollout: usize,
    step: usize,
    task: Option<usize>,
    state: Option<usize>,
    action: Option<usize>,
    step_reward: Option<usize>,
    numbers: Vec<(String, usize)>,
    /// Further columns in which no number stands.
    texts: Vec<String>,
}

impl Columns {
    fn of(table: &Table) -> Result<Self, LoadError> {
        let (Some(rollout), Some(step)) =
            (table.column(&["rollout", "rollout_id"]), table.column(&["step"]))
        else {
            return Err(table.error(format!(
                "the columns `rollout` and `step` are needed; there are {}",
                table.columns().join(", ")
            )));
        };
        // One number makes a column one of numbers: a cell that is none costs only itself.
        let any_number =
            |at: usize| table.rows().any(|r| r.cell(Some(at)).and_then(finite).is_some());
        let further = table.columns().iter().cloned().zip(0..);
        let (numbers, texts): (Vec<_>, Vec<_>) = further
            .filter(|(name, _)| !KNOWN.contains(&name.as_str()))
            .partition(|(_, at)| any_number(*at));
        Ok(Self {
            rollout,
            step,
            task: table.column(&["task", "task_id"]),
            state: table.column(&["state"]),
            action: table.column(&["action"]),
            step_reward: table.column(&["step_reward"]),
            numbers,
            texts: texts.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// Cells of number columns that hold something else.
    fn odd(&self, table: &Table) -> Vec<Note> {
        let mut notes = Vec::new();
        for row in table.rows() {
            for (name, at) in &self.numbers {
                let text = row.cell(Some(*at)).map(str::trim).filter(|t| !t.is_empty());
                let Some(text) = text.filter(|t| finite(t).is_none()) else { continue };
                notes.push(Note {
                    file: table.name.clone(),
                    unit: table.unit(),
                    number: row.number,
                    rollout: None,
                    field: name.clone(),
                    reason: format!("`{text}` is no finite number; the step has none here"),
                });
            }
        }
        notes
    }

    /// Puts a row on its step; `false` when the rollout has no such step. Of a row with a reward that
    /// is none, nothing is taken: the step's reward is lost.
    fn put(&self, row: Row<'_>, nth: u32, pending: &mut StepColumns) -> Result<bool, String> {
        let Some(step) = pending.steps.get_mut(nth as usize) else { return Ok(false) };
        if let Some(text) = row.cell(self.step_reward) {
            let reward = finite(text);
            (step.step_reward, step.reward_lost) = (reward, reward.is_none());
            if reward.is_none() {
                return Err(format!("a finite number was expected, `{text}` stands there"));
            }
        }
        if let Some(state) = row.cell(self.state) {
            step.state = pending.facts.symbols.intern(state);
        }
        if let Some(action) = row.cell(self.action) {
            step.action = pending.facts.symbols.intern(action);
        }
        for (name, at) in &self.numbers {
            if let Some(value) = row.cell(Some(*at)).and_then(finite) {
                pending.values.retain(|(s, n, _)| *s != nth || n != name);
                let place = pending.values.partition_point(|(s, _, _)| *s <= nth);
                pending.values.insert(place, (nth, name.clone(), value));
            }
        }
        Ok(true)
    }
}
