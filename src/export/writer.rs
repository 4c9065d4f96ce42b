//! The forms a table is written in, behind one trait: a table comes in chunks, so that a group can be
//! dropped once it is written.

use std::io::{self, Write};

use super::table::{Column, Table};
use crate::settings::Stamp;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// Comma-separated values.
    Csv,
    /// One JSON document with an envelope.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// Markdown.
    Markdown,
    /// A LaTeX table.
    Tex,
    /// A graph for Graphviz.
    Dot,
    /// A vector graphic.
    Svg,
    /// A page with a vector graphic and the table of its numbers.
    Html,
}

impl Format {
    /// All forms.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Csv,
        Self::Json,
        Self::Jsonl,
        Self::Markdown,
        Self::Tex,
        Self::Dot,
        Self::Svg,
        Self::Html,
    ];

    /// Whether it is for people to read: then a stamp stands only in files.
    #[must_use]
    pub const fn for_people(self) -> bool {
        matches!(self, Self::Text | Self::Markdown | Self::Tex | Self::Dot)
    }

    /// The word used in options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Markdown => "md",
            Self::Tex => "tex",
            Self::Dot => "dot",
            Self::Svg => "svg",
            Self::Html => "html",
        }
    }
}

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct Writing {
    /// The stamp; `None` leaves it out.
    pub stamp: Option<Stamp>,
    /// The mark of partial data ([`crate::load::LoadReport::partial`]): forms for people show it, data
    /// forms have it in their stamp.
    pub partial: Option<String>,
    /// Texts as they were instead of cleaned (JSON only).
    pub raw: bool,
    /// Cells that a text line may take; tables that are wider are broken into panels.
    pub width: Option<usize>,
    /// No glyphs outside ASCII.
    pub ascii: bool,
    /// Further members of a JSON envelope.
    pub extra: Vec<(&'static str, serde_json::Value)>,
}

/// Writes a table in chunks of rows.
pub trait TableWriter {
    /// Writes what stands before the rows.
    fn begin(&mut self, columns: &[Column]) -> io::Result<()>;
    /// Writes rows; the columns are those of [`TableWriter::begin`].
    fn chunk(&mut self, table: &Table) -> io::Result<()>;
    /// Writes what stands after the rows.
    fn finish(&mut self) -> io::Result<()>;
}

/// The writer of a form.
pub fn writer<'a>(
    format: Format,
    out: &'a mut dyn Write,
    writing: Writing,
) -> Box<dyn TableWriter + 'a> {
    match format {
        Format::Tex => Box::new(super::tex::Tex::new(out, writing)),
        // Graphs and graphics are no tables: their kinds write them themselves.
        Format::Text | Format::Dot | Format::Svg | Format::Html => {
            Box::new(super::plain::Plain::new(out, writing))
        }
        Format::Csv => Box::new(super::csv::Csv::new(out, writing)),
        Format::Json => Box::new(super::json::Json::new(out, writing)),
        Format::Jsonl => Box::new(super::json::Jsonl::new(out, writing)),
        Format::Markdown => Box::new(super::markdown::Markdown::new(out, writing)),
    }
}

/// The stamp as a comment of Markdown, HTML and SVG, in the first line.
pub(super) fn comment(out: &mut dyn Write, stamp: Option<&Stamp>) -> io::Result<()> {
    if let Some(stamp) = stamp {
        // Two dashes would end the comment, two characters are none in XML, and what looks like a tag
        // frightens people; escapes read back as the same JSON.
        let json = serde_json::to_string(stamp)?
            .replace("--", "-\\u002d")
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('\u{fffe}', "\\ufffe")
            .replace('\u{ffff}', "\\uffff");
        writeln!(out, "<!-- {json} -->")?;
    }
    Ok(())
}

/// The stamp as the first line of forms that have comments.
pub(super) fn stamp_line(out: &mut dyn Write, stamp: Option<&Stamp>) -> io::Result<()> {
    if let Some(stamp) = stamp {
        out.write_all(b"# ")?;
        serde_json::to_writer(&mut *out, stamp)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
