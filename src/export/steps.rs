//! One row per step: the contract's names in the contract's order, then one field per column.

use super::table::{
    Cell, Column, Table, float, int, key_cells, key_columns, key_line, text, truth,
};
use crate::analysis::{Analysis, AnalysisSettings, StepRow};
use crate::rollout::{Outcome, Rollout};

/// Runs of one action from this length on are loops.
pub const LOOP: usize = 3;

/// The columns under these settings.
#[must_use]
pub fn columns(settings: &AnalysisSettings) -> Vec<Column> {
    let mut columns = key_columns();
    columns.extend([
        text("rollout").shown("rollout").at_most(20).key(),
        text("outcome"),
        float("reward"),
        int("step").shown("t").key(),
        int("turn"),
        text("tool"),
        text("category").shown("category"),
        text("action"),
        text("state"),
        text("result").shown("result"),
        truth("valid"),
        float("step_reward").shown("r"),
        float("ret").shown("G"),
        int("n_sa").shown("N(s,a)"),
        int("n_s").shown("N(s)"),
        int("rollouts_sa"),
        int("rollouts_s"),
        float("q").shown("Q"),
        float("v"),
        float("v_prior"),
        float("v_smooth").shown("V'"),
        float("cmp_outcome"),
        float("cmp_discount"),
        float("cmp_shaping"),
        float("prior_outcome"),
        float("prior_discount"),
        float("prior_shaping"),
        text("evidence").shown("evidence"),
        truth("revisit"),
        truth("masked"),
        text("quadrant").shown("quadrant"),
        text("label").shown("label"),
        text("reason"),
    ]);
    columns.extend(settings.columns.iter().map(|spec| float(&spec.name).shown(spec.name.as_str())));
    columns
}

/// The steps of a group; of one rollout where one is given.
#[must_use]
pub fn table(analysis: &Analysis, rollout: Option<&str>) -> Table {
    let mut table = Table::new(columns(&analysis.settings));
    table.title = key_line(&analysis.group);
    let group = &analysis.group;
    for (i, r) in group.rollouts.iter().enumerate() {
        if rollout.is_some_and(|id| id != r.id) {
            continue;
        }
        for step in r.steps.clone() {
            table.rows.push(cells(analysis, &analysis.step_row(step), i));
        }
    }
    table
}

/// Rows that are made before they are written.
const ROWS: usize = 256;

/// The steps of a group as [`table`] gives them, a few rows at a time, for forms that write row by row:
/// the rows of a large group take many times the memory of its steps.
pub fn in_parts<E>(
    analysis: &Analysis,
    rollout: Option<&str>,
    mut then: impl FnMut(&Table) -> Result<(), E>,
) -> Result<(), E> {
    let mut part = Table::new(columns(&analysis.settings));
    for (i, r) in analysis.group.rollouts.iter().enumerate() {
        if rollout.is_some_and(|id| id != r.id) {
            continue;
        }
        for step in r.steps.clone() {
            part.rows.push(cells(analysis, &analysis.step_row(step), i));
            if part.rows.len() == ROWS {
                then(&part)?;
                part.rows.clear();
            }
        }
    }
    then(&part)
}

/// Puts a row before the first step of each segment but the first, for people: the prompt that starts it
/// is no action of the agent.
pub fn divide_segments(table: &mut Table, analysis: &Analysis) {
    let at = |name: &str| table.position(name);
    let (Some(id), Some(category), Some(number)) = (at("rollout"), at("category"), at("step"))
    else {
        return;
    };
    let width = table.columns.len();
    let rollouts = &analysis.group.rollouts;
    for rollout in rollouts.iter().filter(|r| !r.segment_starts.is_empty()) {
        let of = rollout.segment_starts.len() + 1;
        for (k, &start) in rollout.segment_starts.iter().enumerate() {
            let own = Cell::text(rollout.id.as_str());
            let first = |row: &Vec<Cell>| {
                row.get(id) == Some(&own) && row.get(number) == Some(&Cell::int(start))
            };
            let Some(place) = table.rows.iter().position(first) else { continue };
            let told = |at: usize| match at {
                at if at == id => own.clone(),
                at if at == category => Cell::text(format!("-- segment {} of {of} --", k + 2)),
                _ => Cell::text(" "),
            };
            table.rows.insert(place, (0..width).map(told).collect());
        }
    }
}

/// Folds runs of one action into a row each, for people: the row says how often, and shows the numbers
/// that all steps of the run share.
pub fn fold_loops(table: &mut Table) {
    let at = |name: &str| table.position(name);
    let (Some(id), Some(action), Some(category), Some(number)) =
        (at("rollout"), at("action"), at("category"), at("step"))
    else {
        return;
    };
    let same =
        |a: &Vec<Cell>, b: &Vec<Cell>| a.get(id) == b.get(id) && a.get(action) == b.get(action);
    let fold = |run: &[Vec<Cell>]| -> Vec<Vec<Cell>> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Vec::new() };
        if run.len() < LOOP {
            return run.to_vec();
        }
        let mut row: Vec<Cell> = (0..first.len())
            .filter_map(|at| {
                let own = first.get(at)?;
                let shared = run.iter().all(|r| r.get(at) == Some(own));
                Some(if shared { own.clone() } else { Cell::text("…") })
            })
            .collect();
        let words = |cells: &[Cell], at: usize| {
            cells.get(at).map_or_else(String::new, |c| super::plain::cell(c, 0))
        };
        let told = [
            (number, format!("{}-{}", words(first, number), words(last, number))),
            (category, format!("{} ×{} loop", words(first, category), run.len())),
        ];
        for (at, text) in told {
            if let Some(cell) = row.get_mut(at) {
                *cell = Cell::text(text);
            }
        }
        vec![row]
    };
    table.rows = table.rows.chunk_by(same).flat_map(fold).collect();
}

fn cells(analysis: &Analysis, row: &StepRow, rollout: usize) -> Vec<Cell> {
    let group = &analysis.group;
    let r = group.rollouts.get(rollout);
    let scored = analysis.basis.scored.get(rollout) == Some(&true);
    let part = |pick: fn(&crate::credit::Split) -> f64| Cell::float(row.split.as_ref().map(pick));
    let mut cells = key_cells(&group.key);
    cells.extend([
        Cell::text(r.map_or("", |r| r.id.as_str())),
        Cell::text(r.map_or("", |r| r.outcome.name())),
        Cell::float(r.and_then(|r| r.reward)),
        Cell::int(row.step),
        Cell::int(row.turn),
        Cell::text(row.tool.as_str()),
        Cell::text(row.category.name()),
        Cell::text(analysis.action_label(row.index)),
        Cell::text(analysis.state_label(row.index)),
        Cell::text(row.result.name()),
        Cell::Bool(row.valid),
        Cell::float(row.step_reward),
        Cell::float(scored.then_some(row.ret)),
        Cell::int(row.n_sa),
        Cell::int(row.n_s),
        Cell::int(row.pair.rollouts),
        Cell::int(row.state.rollouts),
        Cell::float(row.q),
        Cell::float(row.v),
        Cell::float(analysis.v_prior()),
        Cell::float(row.v_smooth),
        part(|s| s.comparison.outcome),
        part(|s| s.comparison.discount),
        part(|s| s.comparison.shaping),
        part(|s| s.prior.outcome),
        part(|s| s.prior.discount),
        part(|s| s.prior.shaping),
        Cell::text(row.evidence.map_or("", |e| e.name())),
        Cell::Bool(row.revisit),
        Cell::Bool(row.masked),
        Cell::text(row.bucket.name()),
        Cell::text(row.label.unwrap_or_default()),
        Cell::text(reason(row, r)),
    ]);
    cells.extend(row.values.iter().map(|v| Cell::float(*v)));
    cells
}

/// Why a value is missing, with the reason for the missing verdict where that is the cause.
fn reason(row: &StepRow, rollout: Option<&Rollout>) -> String {
    let mut reason = with_cause(row.reason.clone(), rollout);
    if row.step_reward.is_none() {
        reason.push_str(if reason.is_empty() { "" } else { "; " });
        reason.push_str("step_reward: none logged, counted as 0 in the return");
    }
    reason
}

/// A reason, with why the rollout has no verdict where it has none.
pub(super) fn with_cause(mut reason: String, rollout: Option<&Rollout>) -> String {
    let without = |r: &&Rollout| {
        matches!(r.outcome, Outcome::Unscored | Outcome::Error) && !r.outcome_source.is_empty()
    };
    if let Some(r) = rollout.filter(without)
        && !reason.is_empty()
    {
        reason.push_str("; outcome: ");
        reason.push_str(&r.outcome_source);
    }
    reason
}
