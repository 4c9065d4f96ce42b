//! Held-out skill over groups: rows for all steps, for rollouts of equal weight, and by depth.

use super::table::{Cell, Column, Table, float, int, text};
use crate::analysis::resample::Interval;
use crate::analysis::skill::{Aggregate, Depth, Terms};

/// What stands over the table for people.
pub const HEAD: &str = "skill = 1 - Brier / Brier of the base rate, Brier terms added up over groups; 95 % bootstrap over groups (1,000 resamples, percentile)";

/// The columns.
#[must_use]
pub fn columns() -> Vec<Column> {
    vec![
        text("abstraction").shown("states").key(),
        text("scope").shown("scope").key(),
        int("depth").shown("t").key(),
        int("groups").shown("groups"),
        int("rollouts"),
        int("steps").shown("steps"),
        float("skill").shown("skill"),
        float("skill_low").shown("low"),
        float("skill_high").shown("high"),
        float("skill_null").shown("null"),
        float("skill_ceiling").shown("ceil."),
        float("skill_of_ceiling").shown("of c."),
        float("coverage").shown("cover"),
        text("verdict").shown("verdict"),
    ]
}

/// The rows of one abstraction, its depths last.
#[must_use]
pub fn rows(abstraction: &str, all: &Aggregate, depths: &[Depth]) -> Vec<Vec<Cell>> {
    let row = |scope: &str, depth: Option<usize>, groups: usize, terms: &Terms, spread| {
        let spread: Option<Interval> = spread;
        let of_all = scope == "all";
        let skill = terms.skill();
        let of_ceiling =
            skill.zip(all.ceiling).filter(|(_, c)| of_all && *c != 0.0).map(|(s, c)| s / c);
        vec![
            Cell::text(abstraction),
            Cell::text(scope),
            depth.map_or(Cell::Missing, Cell::int),
            Cell::int(groups),
            if depth.is_none() { Cell::int(all.scored) } else { Cell::Missing },
            Cell::int(terms.steps),
            Cell::float(skill),
            Cell::float(spread.map(|i| i.low)),
            Cell::float(spread.map(|i| i.high)),
            Cell::float(all.null.filter(|_| of_all)),
            Cell::float(all.ceiling.filter(|_| of_all)),
            Cell::float(of_ceiling),
            Cell::float(terms.coverage()),
            Cell::text(Aggregate::verdict(groups, spread).name()),
        ]
    };
    let mut rows = vec![
        row("all", None, all.groups, &all.steps, all.interval),
        row("rollouts", None, all.groups, &all.rollouts, all.rollouts_interval),
    ];
    rows.extend(
        depths
            .iter()
            .enumerate()
            .map(|(t, d)| row("depth", Some(t), d.groups, &d.terms, d.interval)),
    );
    rows
}

/// A table of these rows.
#[must_use]
pub fn table(rows: Vec<Vec<Cell>>) -> Table {
    Table { rows, ..Table::new(columns()) }
}
