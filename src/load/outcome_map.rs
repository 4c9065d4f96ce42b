//! The outcome map that a person gives, joined to rollouts by id, run, path or task.
//!
//! It outweighs what records and side files say. A map that contradicts itself about a rollout gives it no
//! verdict; of two maps the later one counts, and that is told.

use std::collections::{BTreeMap, BTreeSet};

use super::error::LoadError;
use super::join::{Join, NAMED};
use super::report::Skipped;
use super::sources::Sources;
use super::table::{Row, Table};
use super::verdict_files;
use super::work::Pending;
use crate::ingest::{json, short_digest};
use crate::rollout::Outcome;
use crate::rollout::raw::{RawNumber, RawRollout};

/// The forms of an outcome map, each with an example.
pub const FORMS: &str = "an outcome map is one of these: CSV whose first line is `rollout,outcome`, with lines such as \
     `r1,success`; JSON lines such as `{\"rollout\":\"r1\",\"outcome\":\"success\"}`, or a list of them; one \
     JSON object such as `{\"r1\":\"success\",\"r2\":0.5}`; a SWE-bench summary such as \
     `{\"resolved_ids\":[\"i1\"],\"unresolved_ids\":[\"i2\"]}`";

/// What a map says about a rollout.
#[derive(Clone, Copy, PartialEq)]
pub enum Told {
    /// In the words of the product.
    Outcome(Outcome),
    /// Yes or no.
    Verdict(bool),
    /// For the success rule to judge.
    Number(f64),
}

impl Told {
    /// Yes or no, in whatever words.
    fn verdict(self) -> Option<bool> {
        match self {
            Self::Outcome(Outcome::Success) | Self::Number(1.0) => Some(true),
            Self::Outcome(Outcome::Failure) | Self::Number(0.0) => Some(false),
            Self::Verdict(verdict) => Some(verdict),
            Self::Outcome(_) | Self::Number(_) => None,
        }
    }

    fn word(self) -> String {
        match self {
            Self::Outcome(outcome) => outcome.name().to_owned(),
            Self::Verdict(verdict) => verdict.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }

    fn agrees(self, other: Self) -> bool {
        self == other || self.verdict().is_some() && self.verdict() == other.verdict()
    }
}

/// What the maps before the current one said about each rollout, and which one it was.
pub type Earlier = BTreeMap<usize, (String, Told)>;

const KEYS: [&str; 10] = [
    "rollout",
    "rollout_id",
    "id",
    "path",
    "file",
    "trajectory",
    "name",
    "instance",
    "instance_id",
    "key",
];
const VALUES: [&str; 7] =
    ["outcome", "resolved", "success", "reward", "outcome_reward", "score", "value"];

/// Joins a map that a person gives; says how many of its entries found a rollout.
pub fn join(
    pendings: &mut [Pending],
    sources: &Sources,
    table: &Table,
    earlier: &mut Earlier,
    skipped: &mut Vec<Skipped>,
) -> Result<Join, LoadError> {
    let names: Vec<Vec<String>> = pendings.iter().map(|p| map_names(p, sources)).collect();
    let map = Map::of(table, pendings, &names)?;
    let mut join = Join { file: table.name.clone(), kind: "outcomes", ..Join::default() };
    let (mut used, mut unclear) = (BTreeSet::new(), BTreeSet::new());
    for (which, (pending, names)) in pendings.iter_mut().zip(&names).enumerate() {
        let entries = map.about(names, pending.raw.task.as_deref(), &mut unclear);
        let Some(last) = entries.last() else {
            join.missing += 1;
            continue;
        };
        used.extend(entries.iter().map(|entry| entry.at));
        tell(pending, last.told, table, map.value);
        let other = entries.iter().find(|entry| !entry.told.agrees(last.told));
        let before = earlier.get(&which).filter(|(_, then)| !then.agrees(last.told));
        if let Some(other) = other {
            let why = map.contradiction(other, last);
            join.disputes.push(verdict_files::about(&pending.raw, &why));
            contradicted(&mut pending.raw, &why);
            continue;
        }
        if let Some((file, then)) = before {
            let (then, now) = (then.word(), last.told.word());
            let why = format!(
                "{file} says {then}, {}, which was given later and counts, {now}",
                table.name
            );
            join.disputes.push(verdict_files::about(&pending.raw, &why));
        }
        earlier.insert(which, (table.name.clone(), last.told));
    }
    let mut bad = map.unreadable();
    let readable = table.rows().count() - bad.len();
    bad.extend(table.skipped());
    bad.sort_by_key(|s| s.number);
    skipped.append(&mut bad);
    join.matched = used.len();
    join.ambiguous = unclear.difference(&used).count();
    join.left_over = map.left_over(&used);
    join.extra = readable.saturating_sub(join.matched + join.ambiguous);
    Ok(join)
}

/// A map, its rows by the name that they give.
struct Map<'t> {
    table: &'t Table,
    rows: BTreeMap<&'t str, Vec<(usize, Row<'t>)>>,
    /// The column of the name.
    key: usize,
    /// The column of the outcome.
    value: usize,
    task: Option<usize>,
    /// Names that rollouts of several tasks have: they say nothing without the task.
    several: BTreeSet<&'t str>,
}

/// A row about a rollout.
struct Entry<'t> {
    at: usize,
    row: Row<'t>,
    told: Told,
}

impl<'t> Map<'t> {
    /// The map in a table; `names` are those of the rollouts.
    fn of(
        table: &'t Table,
        pendings: &[Pending],
        names: &'t [Vec<String>],
    ) -> Result<Self, LoadError> {
        let (Some(key), Some(value)) = (table.column(&KEYS), table.column(&VALUES)) else {
            return Err(table.error(format!(
                "a column for the rollout ({}) and one for the outcome ({}) are needed; there are {}",
                KEYS.join(", "),
                VALUES.join(", "),
                table.columns().join(", ")
            )));
        };
        let mut rows: BTreeMap<&str, Vec<(usize, Row<'_>)>> = BTreeMap::new();
        for (at, row) in table.rows().enumerate() {
            let Some(name) = row.cell(Some(key)) else { continue };
            rows.entry(name).or_default().push((at, row));
        }
        let mut tasks: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
        for (pending, names) in pendings.iter().zip(names) {
            for name in names {
                tasks.entry(name).or_default().insert(pending.raw.task.as_deref());
            }
        }
        let several = tasks.into_iter().filter(|(_, tasks)| tasks.len() > 1);
        let several = several.map(|(name, _)| name).collect();
        Ok(Self { table, rows, key, value, task: table.column(&["task", "task_id"]), several })
    }

    /// The rows about a rollout of this task, under the first of its names that has any. Rows that lack the
    /// task that their name needs are put among the unclear ones.
    fn about(
        &self,
        names: &[String],
        own_task: Option<&str>,
        unclear: &mut BTreeSet<usize>,
    ) -> Vec<Entry<'t>> {
        let mut found = Vec::new();
        for name in names {
            for &(at, row) in self.rows.get(name.as_str()).into_iter().flatten() {
                match row.cell(self.task) {
                    Some(task) if Some(task) == own_task => found.push((at, row)),
                    Some(_) => {}
                    None if self.several.contains(name.as_str()) => {
                        unclear.insert(at);
                    }
                    None => found.push((at, row)),
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        let entry = |(at, row)| Some(Entry { at, row, told: self.told(row).ok()? });
        found.into_iter().filter_map(entry).collect()
    }

    fn told(&self, row: Row<'_>) -> Result<Told, String> {
        told(row.cell(Some(self.value)))
    }

    fn contradiction(&self, other: &Entry<'_>, last: &Entry<'_>) -> String {
        let says =
            |entry: &Entry<'_>| entry.row.cell(Some(self.value)).unwrap_or_default().to_owned();
        let place = |entry: &Entry<'_>| self.table.place(entry.row.number);
        let name = &self.table.name;
        format!("{name}: {} says {}, {} {}", place(other), says(other), place(last), says(last))
    }

    /// The first of the rows that say an outcome and were not used, by the names that they give.
    fn left_over(&self, used: &BTreeSet<usize>) -> Vec<String> {
        let rows = self.table.rows().enumerate();
        let rest = rows.filter(|(at, row)| !used.contains(at) && self.told(*row).is_ok());
        rest.take(NAMED).map(|(_, row)| self.name(row)).collect()
    }

    /// What a row calls its rollout, with the task where it has one.
    fn name(&self, row: Row<'_>) -> String {
        match (row.cell(self.task), row.cell(Some(self.key))) {
            (Some(task), Some(name)) => format!("{task} {name}"),
            (None, Some(name)) => name.to_owned(),
            (_, None) => self.table.place(row.number),
        }
    }

    /// Rows whose outcome is none.
    fn unreadable(&self) -> Vec<Skipped> {
        let field = self.table.columns().get(self.value).map(String::as_str);
        let bad = |row: Row<'_>| Some(self.table.skip(row.number, field, self.told(row).err()?));
        self.table.rows().filter_map(bad).collect()
    }
}

/// Names that a map may use: the id, the run, the short digest, and the path as far as it is needed.
fn map_names(pending: &Pending, sources: &Sources) -> Vec<String> {
    let raw = &pending.raw;
    let mut names: Vec<String> = raw.id.iter().chain(&raw.run).cloned().collect();
    names.push(short_digest(pending.content));
    let Some(source) = sources.get(pending.record.source) else { return names };
    names.push(source.name().to_owned());
    let mut rest = source.place();
    while !rest.is_empty() {
        names.push(rest.to_owned());
        rest = rest.split_once('/').map_or("", |(_, after)| after);
    }
    names.extend(raw.task.clone());
    names
}

fn told(cell: Option<&str>) -> Result<Told, String> {
    let Some(text) = cell else { return Err("the outcome is empty".to_owned()) };
    let word = text.trim().to_ascii_lowercase();
    if let Some(outcome) = Outcome::ALL.into_iter().find(|o| o.name() == word) {
        return Ok(Told::Outcome(outcome));
    }
    match word.as_str() {
        "true" | "resolved" | "pass" | "passed" => Ok(Told::Verdict(true)),
        "false" | "unresolved" | "fail" | "failed" => Ok(Told::Verdict(false)),
        number => match number.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(Told::Number(v)),
            _ => {
                let outcomes = Outcome::ALL.map(Outcome::name).join(", ");
                let text = json::short(text, 60);
                Err(format!(
                    "`{text}` is neither an outcome ({outcomes}) nor true, false or a number"
                ))
            }
        },
    }
}

/// A map that says two things about a rollout says nothing.
fn contradicted(raw: &mut RawRollout, why: &str) {
    (raw.outcome, raw.verdict) = (None, None);
    raw.mask = Some(format!("contradictory verdicts: {why}"));
}

fn tell(pending: &mut Pending, told: Told, table: &Table, column: usize) {
    let raw = &mut pending.raw;
    (raw.outcome, raw.verdict, raw.mask) = (None, None, None);
    raw.outcome_field = Some(table.columns().get(column).cloned().unwrap_or_default());
    match told {
        Told::Outcome(outcome) => raw.outcome = Some(outcome),
        Told::Verdict(verdict) => raw.verdict = Some(verdict),
        Told::Number(number) => {
            raw.outcome_reward = RawNumber::Value(number);
            if raw.reward.value().is_none() {
                raw.reward = RawNumber::Value(number);
            }
        }
    }
    pending.told = Some(table.name.clone());
}
