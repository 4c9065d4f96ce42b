//! The table that every kind makes and every format writes: named, typed columns and rows of cells.

use crate::rollout::{Group, GroupKey};
use std::fmt::Write as _;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Text, from data or from the program.
    Text,
    /// A count.
    Int,
    /// A number.
    Float,
    /// A truth value.
    Bool,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Stable name, as in CSV and JSON.
    pub name: String,
    /// What it holds.
    pub holds: Type,
    /// Short name over the column in text; `None` leaves the column out of text.
    pub head: Option<String>,
    /// Decimals in text.
    pub places: usize,
    /// Repeated at the left when a text table is broken into panels.
    pub key: bool,
    /// Stays in one panel with the column before it.
    pub glued: bool,
    /// Widest in text; longer texts are cut.
    pub limit: usize,
    /// Cut in the middle, where both ends tell texts apart.
    pub middle: bool,
}

impl Column {
    /// A column that is left out of text.
    #[must_use]
    pub fn new(name: impl Into<String>, holds: Type) -> Self {
        Self {
            name: name.into(),
            holds,
            head: None,
            places: 3,
            key: false,
            glued: false,
            limit: 40,
            middle: false,
        }
    }

    /// Shown in text, under this head.
    #[must_use]
    pub fn shown(mut self, head: impl Into<String>) -> Self {
        self.head = Some(head.into());
        self
    }

    /// Repeated in each panel.
    #[must_use]
    pub const fn key(mut self) -> Self {
        self.key = true;
        self
    }

    /// Kept in one panel with the column before it.
    #[must_use]
    pub const fn glued(mut self) -> Self {
        self.glued = true;
        self
    }

    /// Cut in the middle.
    #[must_use]
    pub const fn middle(mut self) -> Self {
        self.middle = true;
        self
    }

    /// At most this wide in text.
    #[must_use]
    pub const fn at_most(mut self, cells: usize) -> Self {
        self.limit = cells;
        self
    }
}

/// A column of text.
#[must_use]
pub fn text(name: &str) -> Column {
    Column::new(name, Type::Text)
}

/// A column of counts.
#[must_use]
pub fn int(name: &str) -> Column {
    Column::new(name, Type::Int)
}

/// A column of numbers.
#[must_use]
pub fn float(name: &str) -> Column {
    Column::new(name, Type::Float)
}

/// A column of truth values.
#[must_use]
pub fn truth(name: &str) -> Column {
    Column::new(name, Type::Bool)
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text as it is in the data; formats clean it.
    Text(String),
    /// A count.
    Int(u64),
    /// A finite number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// No value; the reason stands in the row's `reason` where the kind has one.
    Missing,
}

impl Cell {
    /// Text; empty text is missing.
    #[must_use]
    pub fn text(value: impl Into<String>) -> Self {
        let value = value.into();
        if value.is_empty() { Self::Missing } else { Self::Text(value) }
    }

    /// A number. What is not finite is missing: it never reaches a file.
    #[must_use]
    pub fn float(value: impl Into<Option<f64>>) -> Self {
        match value.into() {
            Some(x) if x.is_finite() => Self::Float(x),
            _ => Self::Missing,
        }
    }

    /// A count.
    #[must_use]
    pub fn int(value: impl TryInto<u64>) -> Self {
        value.try_into().map_or(Self::Missing, Self::Int)
    }

    /// The share of a part, missing where the whole is nothing.
    #[must_use]
    pub fn share(part: u64, whole: u64) -> Self {
        if whole == 0 { Self::Missing } else { Self::Float(part as f64 / whole as f64) }
    }
}

/// Columns and rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// A line over the table in text; not part of the data.
    pub title: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, as wide as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Rows for people alone (totals): text forms print them, data forms leave them out.
    pub totals: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, ..Self::default() }
    }

    /// The position of a column.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// Sorts rows by a column, missing ones last; rows that are equal keep their order.
    pub fn sort(&mut self, column: usize, descending: bool) {
        self.rows.sort_by(|a, b| {
            let (a, b) = (a.get(column), b.get(column));
            match (a, b) {
                (None | Some(Cell::Missing), None | Some(Cell::Missing)) => {
                    std::cmp::Ordering::Equal
                }
                (None | Some(Cell::Missing), _) => std::cmp::Ordering::Greater,
                (_, None | Some(Cell::Missing)) => std::cmp::Ordering::Less,
                (Some(a), Some(b)) if descending => order(b, a),
                (Some(a), Some(b)) => order(a, b),
            }
        });
    }
}

fn order(a: &Cell, b: &Cell) -> std::cmp::Ordering {
    match (a, b) {
        (Cell::Int(a), Cell::Int(b)) => a.cmp(b),
        (Cell::Float(a), Cell::Float(b)) => a.total_cmp(b),
        (Cell::Bool(a), Cell::Bool(b)) => a.cmp(b),
        (Cell::Text(a), Cell::Text(b)) => crate::rollout::natural(a, b),
        _ => std::cmp::Ordering::Equal,
    }
}

/// The columns of a group's key.
#[must_use]
pub fn key_columns() -> Vec<Column> {
    vec![text("namespace"), text("task"), text("policy"), int("train_step")]
}

/// The cells of a group's key.
#[must_use]
pub fn key_cells(key: &GroupKey) -> Vec<Cell> {
    vec![
        Cell::text(key.namespace.as_str()),
        Cell::text(key.task.as_str()),
        key.policy.as_deref().map_or(Cell::Missing, Cell::text),
        key.train_step.map_or(Cell::Missing, Cell::Int),
    ]
}

/// A group's key in one line for people; the namespace only where nothing else tells groups apart.
#[must_use]
pub fn key_line(group: &Group) -> String {
    let key = &group.key;
    let mut line = group.label().into_owned();
    if let Some(policy) = key.policy.as_deref().filter(|p| !p.is_empty()) {
        line.push_str("  ");
        line.push_str(policy);
    }
    if let Some(step) = key.train_step {
        let _ = write!(line, "  step {step}");
    }
    line
}
