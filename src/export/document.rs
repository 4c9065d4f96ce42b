//! Pages for people that are data at the same time: blocks of facts, tables and lines.
//!
//! A fact is a sentence in text and named values in JSON.

use super::table::{Cell, Table};

/// A line of text with the values it tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// What it is about; the left column in text.
    pub label: String,
    /// The sentence. Empty leaves the fact out of text.
    pub text: String,
    /// The values for JSON.
    pub data: Vec<(&'static str, Cell)>,
}

impl Fact {
    /// A fact.
    #[must_use]
    pub fn new(label: &str, text: impl Into<String>, data: Vec<(&'static str, Cell)>) -> Self {
        Self { label: label.to_owned(), text: text.into(), data }
    }
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Facts.
    Facts(Vec<Fact>),
    /// A table.
    Table(Table),
    /// A table that JSON alone has; text tells it in another block.
    Data(Table),
    /// Lines of text.
    Lines(Vec<String>),
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Member name in JSON; empty leaves the block out of JSON.
    pub name: &'static str,
    /// Heading in text; empty for none.
    pub title: String,
    /// What it holds.
    pub body: Body,
}

impl Block {
    /// A block.
    #[must_use]
    pub fn new(name: &'static str, title: impl Into<String>, body: Body) -> Self {
        Self { name, title: title.into(), body }
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.body {
            Body::Facts(facts) => facts.is_empty(),
            Body::Table(table) => table.rows.is_empty() && table.totals.is_empty(),
            Body::Data(_) => true,
            Body::Lines(lines) => lines.is_empty(),
        }
    }
}

/// A page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Title.
    pub title: String,
    /// Blocks.
    pub blocks: Vec<Block>,
}
