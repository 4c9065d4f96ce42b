//! Two columns against each other over all loaded groups: rows by key, both denominators, and the
//! evidence beside the counts.

use std::collections::BTreeMap;

use super::table::{Cell, Column, Table, float, int, text};
use crate::analysis::aggregate::Share;
use crate::analysis::{Analysis, Breakdown, BreakdownKey, By, Tally, Weight, breakdown_rows};

/// What stands over [`Breakdowns::beside`].
pub const SHARES: &str = "Shares: of all scored steps; c. = of the steps outside both thresholds";

/// The columns. In text, `kind` stands over the key column.
#[must_use]
pub fn columns(by: By) -> Vec<Column> {
    let mut columns = vec![
        text("by"),
        text("key").shown(by.name()).at_most(24).key(),
        text("weight"),
        int("steps").shown("steps"),
        int("both_pos").shown("both+"),
        int("rescued").shown("resc."),
        int("both_neg").shown("both-"),
        int("penalized").shown("penal."),
        int("inside_x").shown("in x"),
        int("inside_y").shown("in y"),
        int("inside_both").shown("in xy"),
        int("missing").shown("miss."),
    ];
    let names = ["both_pos", "rescued", "both_neg", "penalized"];
    columns.extend(names.map(|name| float(&format!("share_{name}"))));
    columns.extend(names.map(|name| float(&format!("class_share_{name}"))));
    columns
}

/// The breakdown of many groups, group after group.
#[derive(Debug)]
pub struct Breakdowns {
    by: By,
    compared: bool,
    weight: Weight,
    several: bool,
    merged: BTreeMap<BreakdownKey, Breakdown>,
    groups: Vec<BTreeMap<BreakdownKey, Breakdown>>,
    listed: Vec<(String, Breakdown)>,
}

impl Breakdowns {
    /// An empty one; `several` when more than one group will come.
    #[must_use]
    pub const fn new(by: By, compared: bool, weight: Weight, several: bool) -> Self {
        Self {
            by,
            compared,
            weight,
            several,
            merged: BTreeMap::new(),
            groups: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// Adds a group. Rollouts of different groups stay apart whatever their ids.
    pub fn add(&mut self, analysis: &Analysis) {
        let mut own = BTreeMap::new();
        for (key, row) in breakdown_rows(analysis, self.by, self.compared, self.weight) {
            if self.by == By::Rollout {
                let name = if self.several {
                    format!("{} {}", analysis.group.label(), key.text)
                } else {
                    key.text
                };
                self.listed.push((name, row));
            } else {
                own.insert(key.clone(), row);
                self.merged.entry(key).or_default().merge(&row);
            }
        }
        self.groups.push(own);
    }

    /// The shares of all scored steps with their bootstrap intervals over groups: a row per key and
    /// quadrant, then of all. Rollouts belong to one group each and have none.
    #[must_use]
    pub fn intervals(&self, seed: u64) -> Table {
        let mut table = Table::new(vec![
            text("key").shown(self.by.name()).at_most(24).key(),
            text("quadrant").shown("quadrant").key(),
            int("groups").shown("groups"),
            float("share").shown("share"),
            float("low").shown("low"),
            float("high").shown("high"),
        ]);
        if self.by == By::Rollout {
            return table;
        }
        let names = ["both_pos", "rescued", "both_neg", "penalized"];
        let keys = self.merged.keys().map(Some).chain([None]);
        for key in keys {
            let rows: Vec<Tally> = self
                .groups
                .iter()
                .filter_map(|group| match key {
                    Some(key) => group.get(key).map(|row| row.tally),
                    None => Some(group.values().fold(Tally::default(), |mut sum, row| {
                        sum.merge(&row.tally);
                        sum
                    })),
                })
                .collect();
            for (at, name) in names.into_iter().enumerate() {
                let part = |t: &Tally| t.quadrants().get(at).copied().unwrap_or(0);
                let counts: Vec<(u64, u64)> = rows.iter().map(|t| (part(t), t.scored)).collect();
                let share = Share::of(&counts, seed);
                table.rows.push(vec![
                    Cell::text(key.map_or("all", |k| k.text.as_str())),
                    Cell::text(name),
                    Cell::int(rows.len()),
                    Cell::float(share.value),
                    Cell::float(share.interval.map(|i| i.low)),
                    Cell::float(share.interval.map(|i| i.high)),
                ]);
            }
        }
        table
    }

    /// The counts of every key, the sum over all of them last.
    #[must_use]
    pub fn tallies(&self) -> Vec<(&str, Tally)> {
        let rows = self.rows().map(|(key, row)| (key, row.tally));
        rows.chain([("all", self.total().tally)]).collect()
    }

    fn rows(&self) -> impl Iterator<Item = (&str, &Breakdown)> {
        let merged = self.merged.iter().map(|(k, row)| (k.text.as_str(), row));
        merged.chain(self.listed.iter().map(|(k, row)| (k.as_str(), row)))
    }

    fn total(&self) -> Breakdown {
        self.rows().fold(Breakdown::default(), |mut sum, (_, row)| {
            sum.merge(row);
            sum
        })
    }

    /// The counts.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(columns(self.by));
        table.rows = self.rows().map(|(key, row)| self.cells(key, row)).collect();
        table.totals = vec![self.cells("all", &self.total())];
        table
    }

    /// The sum over all rows as a table of its own, apart from what a reader sums up.
    #[must_use]
    pub fn totals(&self) -> Table {
        let mut table = Table::new(columns(self.by));
        table.rows = vec![self.cells("all", &self.total())];
        table
    }

    /// Steps with a weight, and steps without one, which count nothing.
    #[must_use]
    pub fn weighed(&self) -> (u64, u64) {
        let total = self.total();
        (total.weighed, total.unweighed)
    }

    fn cells(&self, key: &str, row: &Breakdown) -> Vec<Cell> {
        let tally = &row.tally;
        if row.weighed == 0 && row.unweighed > 0 {
            // Nothing is known about these steps' tokens: no zeros.
            let mut cells =
                vec![Cell::text(self.by.name()), Cell::text(key), Cell::text(self.weight.name())];
            cells.resize(columns(self.by).len(), Cell::Missing);
            return cells;
        }
        let mut cells = vec![
            Cell::text(self.by.name()),
            Cell::text(key),
            Cell::text(self.weight.name()),
            Cell::int(tally.steps),
            Cell::int(tally.both_pos),
            Cell::int(tally.rescued),
            Cell::int(tally.both_neg),
            Cell::int(tally.penalized),
            Cell::int(tally.inside_x),
            Cell::int(tally.inside_y),
            Cell::int(tally.inside_both),
            Cell::int(tally.missing),
        ];
        let quadrants = tally.quadrants();
        cells.extend(quadrants.map(|n| Cell::share(n, tally.scored)));
        cells.extend(quadrants.map(|n| Cell::share(n, tally.outside())));
        cells
    }

    /// For people: both shares in percent, and the evidence behind the counts.
    #[must_use]
    pub fn beside(&self) -> Table {
        let mut columns = vec![text("key").shown(self.by.name()).at_most(24).key()];
        columns.extend(["both+", "resc.", "both-", "penal."].map(|n| int(n).shown(n)));
        columns.extend(["c.both+", "c.resc.", "c.both-", "c.penal."].map(|n| int(n).shown(n)));
        let mut table = Table::new(columns);
        let percent = |n: u64, of: u64| match Cell::share(n, of) {
            Cell::Float(x) => Cell::text(format!("{:.1}%", 100.0 * x)),
            other => other,
        };
        let line = |key: &str, row: &Breakdown| {
            let tally = &row.tally;
            let mut cells = vec![Cell::text(key)];
            cells.extend(tally.quadrants().map(|n| percent(n, tally.scored)));
            cells.extend(tally.quadrants().map(|n| percent(n, tally.outside())));
            cells
        };
        table.rows = self.rows().map(|(key, row)| line(key, row)).collect();
        table.totals = vec![line("all", &self.total())];
        table
    }

    /// For people: the evidence classes of the same rows.
    #[must_use]
    pub fn evidence(&self) -> Table {
        let mut columns = vec![text("key").shown(self.by.name()).at_most(24).key()];
        columns.extend(["compared", "shared", "self", "single"].map(|name| int(name).shown(name)));
        columns.push(int("scored").shown("scored steps"));
        let mut table = Table::new(columns);
        let line = |key: &str, row: &Breakdown| {
            let mut cells = vec![Cell::text(key)];
            if row.weighed == 0 && row.unweighed > 0 {
                cells.resize(6, Cell::Missing);
                return cells;
            }
            cells.extend(row.evidence.map(Cell::Int));
            cells.push(Cell::Int(row.evidence.iter().sum()));
            cells
        };
        table.rows = self.rows().map(|(key, row)| line(key, row)).collect();
        table.totals = vec![line("all", &self.total())];
        table
    }
}
