//! One row per value of a knob, or per pair of values of two.

use super::table::{Cell, Column, Table, float, int, text, truth};
use crate::analysis::sweep::SweepRow;

/// Cells of the longest bar.
const BAR: usize = 12;

/// A value of a knob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Knobs with their values, one or two.
    pub at: Vec<(String, String)>,
    /// Whether this is the setting in force.
    pub current: bool,
}

/// The columns; `people` adds the bar of sharing.
#[must_use]
pub fn columns(people: bool) -> Vec<Column> {
    let mut columns = vec![
        text("knob").shown("knob").key(),
        text("value").shown("value").key(),
        text("knob_2").shown("knob").key(),
        text("value_2").shown("value").key(),
        truth("current").shown("now"),
        int("groups"),
        int("steps"),
        int("scored_steps"),
        int("states").shown("states"),
        int("pairs").shown("pairs"),
        int("shared_steps"),
        float("sharing").shown("shar."),
        int("branching_states").shown("branch"),
        float("mean_n").shown("N(s)"),
        int("compared_steps").shown("comp"),
        float("compared_share"),
        int("shared_only_steps").shown("shared"),
        int("self_steps").shown("self"),
        int("single_steps").shown("single"),
        int("shared_states"),
        float("impurity").shown("impur."),
        int("both_pos").shown("both+"),
        int("rescued").shown("resc."),
        int("both_neg").shown("both-"),
        int("penalized").shown("penal."),
        int("inside").shown("inside"),
        int("missing"),
        int("flips").shown("flips"),
        int("faded").shown("faded"),
        float("skill").shown("skill"),
        float("skill_low"),
        float("skill_high"),
        float("skill_null").shown("null"),
        float("skill_ceiling"),
        float("coverage").shown("cover"),
    ];
    if people && let Some(at) = columns.iter().position(|c| c.name == "sharing") {
        columns.insert(at + 1, text("bar").shown("sharing").glued());
    }
    columns
}

/// The rows.
#[must_use]
pub fn table(rows: &[(Point, SweepRow)], people: bool) -> Table {
    let mut table = Table::new(columns(people));
    table.rows = rows.iter().map(|(point, row)| cells(point, row, people)).collect();
    if people && rows.iter().all(|(point, _)| point.at.len() < 2) {
        for column in &mut table.columns {
            if column.name.ends_with("_2") {
                column.head = None;
            }
        }
    }
    table
}

fn cells(point: &Point, row: &SweepRow, people: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for at in 0..2 {
        let (knob, value) = point.at.get(at).map_or(("", ""), |(k, v)| (k.as_str(), v.as_str()));
        cells.extend([Cell::text(knob), Cell::text(value)]);
    }
    let [compared, shared, own, single] = row.evidence;
    let skill = &row.skill;
    cells.extend([
        Cell::Bool(point.current),
        Cell::int(row.groups),
        Cell::int(row.steps),
        Cell::int(row.scored_steps),
        Cell::int(row.states),
        Cell::int(row.pairs),
        Cell::int(row.shared_steps),
        Cell::float(row.sharing()),
        Cell::int(row.branching),
        Cell::float(row.mean_visits()),
        Cell::int(compared),
        Cell::float(row.compared_share()),
        Cell::int(shared),
        Cell::int(own),
        Cell::int(single),
        Cell::int(row.shared_states),
        Cell::float(row.mean_impurity()),
        Cell::int(row.tally.both_pos),
        Cell::int(row.tally.rescued),
        Cell::int(row.tally.both_neg),
        Cell::int(row.tally.penalized),
        Cell::int(row.tally.inside()),
        Cell::int(row.tally.missing),
        Cell::int(row.flips),
        Cell::int(row.faded),
        Cell::float(skill.steps.skill()),
        Cell::float(skill.interval.map(|i| i.low)),
        Cell::float(skill.interval.map(|i| i.high)),
        Cell::float(skill.null),
        Cell::float(skill.ceiling),
        Cell::float(skill.steps.coverage()),
    ]);
    if people && let Some(at) = columns(false).iter().position(|c| c.name == "sharing") {
        cells.insert(at + 1, Cell::text(bar(row.sharing().unwrap_or(0.0))));
    }
    cells
}

/// A bar of a share.
fn bar(share: f64) -> String {
    let full = (0..BAR).filter(|&at| share * BAR as f64 >= at as f64 + 0.5).count();
    format!("{}{}", "█".repeat(full), "·".repeat(BAR - full))
}
