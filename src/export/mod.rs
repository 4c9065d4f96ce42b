//! Kinds make tables and documents, formats write them: k + f files, not k x f.
//!
//! Every number comes from [`crate::analysis`]; nothing is computed here but widths and shares that
//! stand in the analysis' own tables. Text from data is cleaned in [`text`], once, by the formats.

pub mod check;
pub mod csv;
pub mod document;
pub mod explain;
pub mod groups;
pub mod json;
pub mod markdown;
pub mod output;
pub mod plain;
pub mod quadrants;
pub mod report;
pub mod rollouts;
pub mod simulation;
pub mod steps;
pub mod table;
pub mod text;
pub mod tree;
pub mod writer;

pub use document::{Block, Body, Page};
pub use output::{Output, OutputError};
pub use table::{Cell, Column, Table};
pub use writer::{Format, TableWriter, Writing};
