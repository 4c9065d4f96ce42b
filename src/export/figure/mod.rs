//! Figures for papers: vector graphics of what other kinds print as tables. Nothing is counted here;
//! every number comes with its table from [`crate::analysis`], and the page form prints that table
//! beneath the picture.
//!
//! No meaning hangs on a colour alone: direction, hatching, shape or a sign says the same.

mod advantages;
mod axes;
mod canvas;
mod ink;
mod matrix;
mod panel;
mod quadrants;
mod render;
mod sweep;
mod tree;

use super::table::Table;
pub use advantages::advantages;
use canvas::{Anchor, Canvas, Kind};
pub use ink::Ink;
pub use matrix::matrix;
pub use panel::panel;
pub use quadrants::quadrants;
pub use render::{html, svg};
pub use sweep::sweep;
pub use tree::tree;

/// What a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// The value of each step, column by column.
    Advantages,
    /// Quadrants as stacked bars.
    Quadrants,
    /// Rollouts by steps, coloured by one column.
    Matrix,
    /// The folded tree of paths.
    Tree,
    /// Values of a knob against what they give.
    Sweep,
    /// Columns against each other.
    Panel,
}

impl FigureKind {
    /// All figures, in the order of help.
    pub const ALL: [Self; 6] =
        [Self::Advantages, Self::Quadrants, Self::Matrix, Self::Tree, Self::Sweep, Self::Panel];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Advantages => "advantages",
            Self::Quadrants => "quadrants",
            Self::Matrix => "matrix",
            Self::Tree => "tree",
            Self::Sweep => "sweep",
            Self::Panel => "panel",
        }
    }

    /// The figure of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }

    /// Whether it shows one group.
    #[must_use]
    pub const fn of_one_group(self) -> bool {
        matches!(self, Self::Advantages | Self::Matrix | Self::Tree)
    }
}

/// A picture with the table of its numbers.
#[derive(Debug)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Lines under the title: axes, thresholds, what is left out.
    pub notes: Vec<String>,
    /// The table of the same numbers.
    pub table: Table,
    canvas: Canvas,
}

impl Figure {
    fn new(title: impl Into<String>, notes: Vec<String>, canvas: Canvas, table: Table) -> Self {
        Self { title: title.into(), notes, table, canvas }
    }
}

/// The columns of a table that a figure shows, in this order.
fn project(table: &Table, names: &[&str]) -> Table {
    let places: Vec<usize> = names.iter().filter_map(|name| table.position(name)).collect();
    let mut found = Table::new(
        places
            .iter()
            .filter_map(|&at| table.columns.get(at))
            .map(|column| {
                let head = column.head.clone().unwrap_or_else(|| column.name.clone());
                column.clone().shown(head)
            })
            .collect(),
    );
    found.rows = table
        .rows
        .iter()
        .map(|row| places.iter().filter_map(|&at| row.get(at).cloned()).collect())
        .collect();
    found
}
