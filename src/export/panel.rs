//! Columns against each other: a row per pair, or a row per column against one.

use super::table::{Cell, Column, Table, float, int, text};
use crate::analysis::panel::Panel;

/// The columns of pairs.
#[must_use]
pub fn pair_columns() -> Vec<Column> {
    vec![
        text("a").shown("column").at_most(24).key(),
        text("b").shown("against").at_most(24).key(),
        int("steps").shown("steps"),
        int("outside").shown("outside"),
        int("agree").shown("agree"),
        float("sign_agreement").shown("sign agr."),
        float("spearman").shown("Spearman"),
    ]
}

/// Every pair of columns, in the order of the settings.
#[must_use]
pub fn pairs(panel: &Panel) -> Table {
    let mut table = Table::new(pair_columns());
    for (a, name) in panel.names.iter().enumerate() {
        for (b, other) in panel.names.iter().enumerate().skip(a + 1) {
            let pair = panel.pair(a, b);
            table.rows.push(vec![
                Cell::text(name.as_str()),
                Cell::text(other.as_str()),
                Cell::int(pair.steps),
                Cell::int(pair.outside),
                Cell::int(pair.agree),
                Cell::float(pair.agreement()),
                Cell::float(pair.spearman),
            ]);
        }
    }
    table
}

/// The columns against one.
#[must_use]
pub fn against_columns() -> Vec<Column> {
    vec![
        text("column").shown("column").at_most(24).key(),
        text("against").shown("against").at_most(24).key(),
        int("steps").shown("steps"),
        float("bias").shown("bias"),
        float("rmse").shown("RMSE"),
        int("outside").shown("outside"),
        int("right").shown("right"),
        float("sign_accuracy").shown("sign acc."),
        float("spearman").shown("Spearman"),
    ]
}

/// Every other column against one, in the order of the settings. `None` when there is no such column.
#[must_use]
pub fn against(panel: &Panel, truth: &str) -> Option<Table> {
    let at = panel.names.iter().position(|n| n == truth)?;
    let mut table = Table::new(against_columns());
    for (column, name) in panel.names.iter().enumerate().filter(|(c, _)| *c != at) {
        let found = panel.against(column, at);
        table.rows.push(vec![
            Cell::text(name.as_str()),
            Cell::text(truth),
            Cell::int(found.steps),
            Cell::float(found.bias),
            Cell::float(found.rmse),
            Cell::int(found.outside),
            Cell::int(found.right),
            Cell::share(found.right, found.outside),
            Cell::float(found.spearman),
        ]);
    }
    Some(table)
}
