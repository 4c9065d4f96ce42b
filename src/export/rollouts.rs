//! One row per rollout of a report, and what is odd about single rollouts.

use super::document::Fact;
use super::steps::LOOP;
use super::table::{Cell, Table, float, int, text};
use crate::analysis::{Analysis, RolloutRow};
use crate::rollout::{Outcome, plural};

/// Credit, evidence and quadrants of each rollout.
#[must_use]
pub fn table(analysis: &Analysis, rows: &[RolloutRow]) -> Table {
    let mut columns = vec![
        text("rollout").shown("rollout").at_most(20).key(),
        text("outcome").shown("outcome"),
        float("reward"),
        float("g0").shown("G_0"),
    ];
    for (spec, _) in &analysis.columns {
        columns.push(float(&format!("{}_sum", spec.name)).shown(format!("Σ {}", spec.name)));
        columns.push(float(&format!("{}_mean", spec.name)).shown("µ").glued());
    }
    columns.extend([
        int("steps").shown("steps"),
        int("compared_steps").shown("compared"),
        int("shared_only_steps").shown("shared"),
        int("self_steps").shown("self"),
        int("single_steps").shown("single"),
        int("revisits").shown("revisits"),
        int("rescued").shown("rescued"),
        int("penalized").shown("penalized"),
        text("notes"),
    ]);
    let mut table = Table::new(columns);
    for row in rows {
        let Some(rollout) = analysis.group.rollouts.get(row.rollout) else {
            continue;
        };
        let mut cells = vec![
            Cell::text(rollout.id.as_str()),
            Cell::text(rollout.outcome.name()),
            Cell::float(rollout.reward),
            Cell::float(row.g0),
        ];
        for column in &row.columns {
            cells.push(Cell::float(column.map(|(sum, _)| sum)));
            cells.push(Cell::float(column.map(|(_, mean)| mean)));
        }
        cells.push(Cell::int(row.steps));
        cells.extend(row.evidence.map(Cell::int));
        cells.extend([
            Cell::int(row.revisits),
            Cell::int(row.tally.rescued),
            Cell::int(row.tally.penalized),
            Cell::text(rollout_notes(analysis, row).join("; ")),
        ]);
        table.rows.push(cells);
    }
    table
}

/// What a person should know about single rollouts.
#[must_use]
pub fn notes(analysis: &Analysis, rows: &[RolloutRow]) -> Vec<Fact> {
    rows.iter()
        .filter_map(|row| {
            let notes = rollout_notes(analysis, row);
            let id = &analysis.group.rollouts.get(row.rollout)?.id;
            (!notes.is_empty()).then(|| {
                let label = super::text::line(id).into_owned();
                Fact::new(&super::text::cut_left(&label, 20), notes.join("; "), Vec::new())
            })
        })
        .collect()
}

fn rollout_notes(analysis: &Analysis, row: &RolloutRow) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(rollout) = analysis.group.rollouts.get(row.rollout) else {
        return notes;
    };
    let steps = (row.steps == 0).then_some("0 steps");
    let ending = Some(rollout.ending.as_str()).filter(|e| !e.is_empty());
    let end: Vec<&str> = steps.into_iter().chain(ending).collect();
    notes.extend((!end.is_empty()).then(|| end.join(", ")));
    if let Err(reason) = row.scored {
        let why = &rollout.outcome_source;
        notes.push(if rollout.outcome == Outcome::Unscored && !why.is_empty() {
            format!("not scored: {why}")
        } else {
            format!("not scored: {reason}")
        });
    }
    if let Some((times, first, action)) = longest_loop(analysis, rollout.steps.clone()) {
        notes.push(format!("loop: t{first} to t{} ×{times} {action}", first + times - 1));
    }
    let segments = rollout.segment_starts.len();
    if segments > 0 {
        notes.push(format!("{} segments", segments + 1));
    }
    if !rollout.missing_segments.is_empty() {
        notes.push(format!("{} missing", rollout.missing_segments));
    }
    for (count, what) in [(rollout.excluded_calls, "call"), (rollout.excluded_messages, "greeting")]
    {
        if count > 0 {
            let are = if count == 1 { "is no step" } else { "are no steps" };
            notes.push(format!("{} {are}", plural(count, what)));
        }
    }
    notes
}

/// The longest run of one action: how often, from which step, which action.
fn longest_loop(
    analysis: &Analysis,
    steps: std::ops::Range<usize>,
) -> Option<(usize, usize, String)> {
    let actions = analysis.projection.action.get(steps.clone())?;
    let mut best: Option<(usize, usize)> = None;
    let mut at = 0;
    for run in actions.chunk_by(|a, b| a == b) {
        if run.len() >= LOOP && best.is_none_or(|(n, _)| run.len() > n) {
            best = Some((run.len(), at));
        }
        at += run.len();
    }
    best.map(|(n, first)| (n, first, analysis.action_label(steps.start + first)))
}
