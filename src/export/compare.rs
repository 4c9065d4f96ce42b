//! Rollouts side by side: a row per step of the alignment in data, a row per place for people, and a
//! row per pair of rollouts.

use super::table::{Cell, Column, Table, float, int, key_cells, key_columns, text, truth};
use crate::analysis::Analysis;
use crate::analysis::align::{Alignment, first_divergence};
use crate::analysis::parting::pair;

/// The columns of the alignment.
#[must_use]
pub fn columns() -> Vec<Column> {
    let mut columns = key_columns();
    columns.extend([
        int("row").shown("row").key(),
        text("rollout").shown("rollout").at_most(20),
        int("step").shown("t"),
        truth("aligned").shown("aligned"),
        text("state").shown("state").at_most(60),
        text("action").shown("action").at_most(40),
        text("result").shown("result"),
        text("evidence").shown("evidence"),
        float("q").shown("Q"),
        float("value").shown("A"),
    ]);
    columns
}

/// A row per step, place after place.
#[must_use]
pub fn table(analysis: &Analysis, alignment: &Alignment) -> Table {
    let mut table = Table::new(columns());
    for (at, row) in alignment.rows.iter().enumerate() {
        for step in row.cells.iter().flatten() {
            let one = analysis.step_row(*step);
            let id = analysis.group.rollouts.get(one.rollout).map_or("", |r| r.id.as_str());
            let mut cells = key_cells(&analysis.group.key);
            cells.extend([
                Cell::int(at),
                Cell::text(id),
                Cell::int(one.step),
                Cell::Bool(row.state.is_some()),
                Cell::text(analysis.state_label(*step)),
                Cell::text(analysis.action_label(*step)),
                Cell::text(one.result.name()),
                Cell::text(one.evidence.map_or("", |e| e.name())),
                Cell::float(one.q),
                Cell::float(analysis.y_column().get(*step)),
            ]);
            table.rows.push(cells);
        }
    }
    table
}

/// For people: a column per rollout, a row per place; `=` where all that are there do the same, `≠`
/// where they part, nothing where each follows its own steps.
#[must_use]
pub fn side_by_side(analysis: &Analysis, alignment: &Alignment) -> Table {
    let rollouts = &alignment.rollouts;
    let wide = 72 / rollouts.len().max(1);
    let mut columns = vec![text("same").shown(" ").key()];
    columns.extend(rollouts.iter().enumerate().map(|(at, &r)| {
        let rollout = analysis.group.rollouts.get(r);
        let id = rollout.map_or("", |r| r.id.as_str());
        let id = super::text::cut_left(&super::text::line(id), 20).into_owned();
        let outcome = rollout.map_or("", |r| r.outcome.name());
        text(&format!("r{at}")).shown(format!("{id} {outcome}")).at_most(wide.max(16))
    }));
    let mut table = Table::new(columns);
    for row in &alignment.rows {
        let mark = match (row.state, row.diverges()) {
            (None, _) => " ",
            (Some(_), false) => "=",
            (Some(_), true) => "≠",
        };
        let mut cells = vec![Cell::text(mark)];
        cells.extend(row.cells.iter().map(|step| {
            step.map_or(Cell::Text("·".to_owned()), |s| {
                Cell::text(format!("{} {}", analysis.step_row(s).step, analysis.action_label(s)))
            })
        }));
        table.rows.push(cells);
    }
    table
}

/// A row per pair of rollouts; for people without the steps where each first leaves the other.
#[must_use]
pub fn matrix(analysis: &Analysis, rollouts: &[usize], people: bool) -> Table {
    let mut columns = vec![
        text("a").shown("a").at_most(20).key(),
        text("b").shown("b").at_most(20).key(),
        int("common").shown("common"),
        text("parting").shown("part by"),
        text("at_state").shown("at state").at_most(40),
        text("a_action").shown("a does").at_most(28),
        text("b_action").shown("b does").at_most(28),
        int("shared_states").shown("states"),
        int("aligned").shown("aligned"),
    ];
    if !people {
        // In a state where the other one was, too, and took other actions only.
        columns.extend([int("a_leaves"), int("b_leaves")]);
    }
    let mut table = Table::new(columns);
    for (at, &a) in rollouts.iter().enumerate() {
        for &b in rollouts.iter().skip(at + 1) {
            let found = pair(analysis, a, b);
            let id = |r: usize| analysis.group.rollouts.get(r).map_or("", |r| r.id.as_str());
            let step = |r: usize| {
                let steps = analysis.group.rollouts.get(r).map_or(0..0, |r| r.steps.clone());
                let at = steps.start + found.common;
                (at < steps.end).then_some(at)
            };
            let label = |s: Option<usize>| {
                s.map_or(Cell::Missing, |s| Cell::text(analysis.action_label(s)))
            };
            let leaves = |r: usize, other: usize| {
                let at = first_divergence(analysis, r, other);
                at.map_or(Cell::Missing, |s| Cell::int(analysis.step_row(s).step))
            };
            let mut cells = vec![
                Cell::text(id(a)),
                Cell::text(id(b)),
                Cell::int(found.common),
                Cell::text(found.parting.name()),
                step(a).map_or(Cell::Missing, |s| Cell::text(analysis.state_label(s))),
                label(step(a)),
                label(step(b)),
                Cell::int(found.shared_states),
                Cell::int(found.aligned),
            ];
            if !people {
                cells.extend([leaves(a, b), leaves(b, a)]);
            }
            table.rows.push(cells);
        }
    }
    table
}
