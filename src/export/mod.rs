//! Kinds make tables and documents, formats write them: k + f files, not k x f.
//!
//! Every number comes from [`crate::analysis`]; nothing is computed here but widths and shares that
//! stand in the analysis' own tables. Text from data is cleaned in [`text`], once, by the formats.

pub mod advantages;
pub mod ascii;
pub mod check;
pub mod compare;
pub mod conventions;
pub mod csv;
pub mod diagnostics;
pub mod document;
pub mod dot;
pub mod explain;
pub mod figure;
pub mod groups;
pub mod json;
pub mod markdown;
pub mod native;
pub mod output;
pub mod panel;
pub mod plain;
pub mod quadrants;
pub mod report;
pub mod rollouts;
pub mod runs;
pub mod schema;
pub mod simulation;
pub mod skill;
pub mod stability;
pub mod steps;
pub mod sweep;
pub mod table;
pub mod tex;
pub mod text;
pub mod totals;
pub mod tree;
pub mod writer;

pub use document::{Block, Body, Page};
pub use output::{Later, Output, OutputError};
pub use table::{Cell, Column, Table};
pub use writer::{Format, TableWriter, Writing};
