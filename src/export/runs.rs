//! Two loads side by side: a row per task.

use super::table::{Cell, Column, Table, float, int, text};
use crate::analysis::runs::{Fate, Runs, Side};

/// The columns: those of A and B stand in pairs.
#[must_use]
pub fn columns() -> Vec<Column> {
    let mut columns = vec![
        text("namespace"),
        text("task").shown("task").at_most(28).key(),
        text("fate").shown("fate"),
    ];
    let mut pair = |name: &str, head: Option<&str>, real: bool| {
        for (side, mark) in [("a", "A"), ("b", "B")] {
            let name = format!("{side}_{name}");
            let column = if real { float(&name) } else { int(&name) };
            columns.push(match head {
                Some(head) => column.shown(format!("{mark} {head}")),
                None => column,
            });
        }
    };
    pair("groups", None, false);
    pair("scored", Some("n"), false);
    pair("successes", Some("✓"), false);
    pair("success_rate", Some("rate"), true);
    pair("steps", Some("steps"), false);
    pair("sharing", Some("shar."), true);
    pair("compared_share", Some("comp."), true);
    for name in ["both_pos", "rescued", "both_neg", "penalized"] {
        let head = match name {
            "rescued" => Some("resc."),
            "penalized" => Some("penal."),
            _ => None,
        };
        pair(name, head, false);
    }
    columns
}

/// The rows, with the sums over common tasks as a total.
#[must_use]
pub fn table(runs: &Runs) -> Table {
    let mut table = Table::new(columns());
    table.rows = runs
        .rows()
        .map(|(namespace, task, a, b, fate)| cells(namespace, task, fate.name(), a, b))
        .collect();
    let (a, b) = runs.totals();
    table.totals = vec![cells("", "common tasks", "", &a, &b)];
    table
}

/// How many tasks met each fate.
#[must_use]
pub fn fates(runs: &Runs) -> Vec<(&'static str, usize)> {
    Fate::ALL.iter().map(|f| f.name()).zip(runs.fates()).collect()
}

fn cells(namespace: &str, task: &str, fate: &str, a: &Side, b: &Side) -> Vec<Cell> {
    let mut cells = vec![Cell::text(namespace), Cell::text(task), Cell::text(fate)];
    let mut pair = |of: &dyn Fn(&Side) -> Cell| cells.extend([of(a), of(b)]);
    pair(&|s| Cell::int(s.groups));
    pair(&|s| Cell::int(s.scored));
    pair(&|s| Cell::int(s.successes));
    pair(&|s| Cell::float(s.rate()));
    pair(&|s| Cell::int(s.steps));
    pair(&|s| Cell::share(s.shared, s.steps));
    pair(&|s| Cell::share(s.compared, s.steps));
    for at in 0..4 {
        pair(&|s| s.quadrants.get(at).map_or(Cell::Missing, |&n| Cell::Int(n)));
    }
    cells
}
