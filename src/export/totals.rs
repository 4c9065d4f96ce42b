//! Several groups as one row: sums, and shares with their bootstrap intervals over the groups.

use super::table::{Cell, Column, Table, float, int, text};
use crate::analysis::aggregate::{Share, Totals};

/// The shares, in the order of their columns.
const SHARES: [(&str, &str); 7] = [
    ("success_rate", "success"),
    ("sharing", "shar."),
    ("compared_share", "comp."),
    ("share_both_pos", "both+"),
    ("share_rescued", "resc."),
    ("share_both_neg", "both-"),
    ("share_penalized", "penal."),
];

/// The columns.
#[must_use]
pub fn columns() -> Vec<Column> {
    let mut columns = vec![
        text("by").key(),
        text("key").shown("key").at_most(24).key(),
        int("groups").shown("groups"),
        int("quadrant_groups"),
        int("scored").shown("scored"),
        int("successes").shown("✓"),
        int("steps").shown("steps"),
    ];
    for (name, head) in SHARES.into_iter().chain([("skill", "skill")]) {
        columns.extend([
            float(name).shown(head),
            float(&format!("{name}_low")).shown("low").glued(),
            float(&format!("{name}_high")).shown("high").glued(),
        ]);
    }
    columns
}

/// A row.
#[must_use]
pub fn cells(by: &str, key: Cell, totals: &Totals) -> Vec<Cell> {
    let side = &totals.side;
    let mut cells = vec![
        Cell::text(by),
        key,
        Cell::int(side.groups),
        Cell::int(totals.in_quadrants),
        Cell::int(side.scored),
        Cell::int(side.successes),
        Cell::int(side.steps),
    ];
    let skill = Share { value: totals.skill.steps.skill(), interval: totals.skill.interval };
    let shares = [totals.success, totals.sharing, totals.compared];
    for share in shares.into_iter().chain(totals.quadrants).chain([skill]) {
        cells.extend([
            Cell::float(share.value),
            Cell::float(share.interval.map(|i| i.low)),
            Cell::float(share.interval.map(|i| i.high)),
        ]);
    }
    cells
}

/// A table of these rows.
#[must_use]
pub fn table(rows: Vec<Vec<Cell>>) -> Table {
    Table { rows, ..Table::new(columns()) }
}
