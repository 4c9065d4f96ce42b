//! A row per step: what leaving one rollout out does to it; and a summary by evidence for people.

use super::table::{Cell, Column, Table, float, int, key_cells, key_columns, key_line, text};
use crate::analysis::Analysis;
use crate::analysis::stability::StepStability;
use crate::graph::Evidence;

/// The columns.
#[must_use]
pub fn columns() -> Vec<Column> {
    let mut columns = key_columns();
    columns.extend([
        text("rollout").shown("rollout").at_most(20).key(),
        int("step").shown("t").key(),
        text("evidence").shown("evidence"),
        float("q").shown("Q"),
        float("q_error").shown("±"),
        float("v").shown("V"),
        float("v_error").shown("±"),
        text("column"),
        float("a").shown("A"),
        float("a_error").shown("±"),
        float("a_min").shown("min"),
        float("a_max").shown("max"),
        int("runs").shown("runs"),
        int("flips").shown("flips"),
        int("faded").shown("faded"),
    ]);
    for column in &mut columns {
        column.glued = column.name.ends_with("_error");
    }
    columns
}

/// The scored steps of a group; of one rollout where one is given.
#[must_use]
pub fn table(analysis: &Analysis, found: &[StepStability], rollout: Option<&str>) -> Table {
    let mut table = Table::new(columns());
    table.title = key_line(&analysis.group);
    for (i, r) in analysis.group.rollouts.iter().enumerate() {
        let scored = analysis.basis.scored.get(i) == Some(&true);
        if !scored || rollout.is_some_and(|id| id != r.id) {
            continue;
        }
        for step in r.steps.clone() {
            let row = analysis.step_row(step);
            let one = found.get(step).copied().unwrap_or_default();
            let mut cells = key_cells(&analysis.group.key);
            cells.extend([
                Cell::text(r.id.as_str()),
                Cell::int(row.step),
                Cell::text(row.evidence.map_or("", Evidence::name)),
                Cell::float(row.q),
                Cell::float(one.q),
                Cell::float(row.v),
                Cell::float(one.v),
                Cell::text(analysis.settings.y.as_str()),
                Cell::float(analysis.y_column().get(step)),
                Cell::float(one.a),
                Cell::float(one.range.map(|r| r.0)),
                Cell::float(one.range.map(|r| r.1)),
                Cell::int(one.runs),
                Cell::int(one.flips),
                Cell::int(one.faded),
            ]);
            table.rows.push(cells);
        }
    }
    table
}

/// Steps by evidence class: how many there are, and how many flip or fade in at least one run.
#[must_use]
pub fn summary(counts: &[[u64; 4]; 4]) -> Table {
    let mut table = Table::new(vec![
        text("evidence").shown("evidence").key(),
        int("steps").shown("steps"),
        int("flip").shown("flip in a run"),
        int("fade").shown("fade in a run"),
        int("stable").shown("stable"),
    ]);
    table.rows = Evidence::ALL
        .iter()
        .zip(counts)
        .map(|(class, row)| {
            let mut cells = vec![Cell::text(class.name())];
            cells.extend(row.map(Cell::Int));
            cells
        })
        .collect();
    table
}

/// Adds the steps of a group to the counts of [`summary`].
pub fn count(analysis: &Analysis, found: &[StepStability], counts: &mut [[u64; 4]; 4]) {
    for (step, one) in found.iter().enumerate() {
        let class = analysis.graph.evidence.get(step).copied().flatten();
        if let Some([steps, flip, fade, stable]) = class.and_then(|c| counts.get_mut(c as usize)) {
            *steps += 1;
            *flip += u64::from(one.flips > 0);
            *fade += u64::from(one.faded > 0);
            *stable += u64::from(one.flips + one.faded == 0);
        }
    }
}
