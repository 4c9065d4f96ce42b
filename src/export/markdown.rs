//! Markdown: tables with pipes, pages with headings. Text from data cannot break out of a cell.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::document::{Body, Page};
use super::plain;
use super::table::{Column, Table, Type};
use super::text;
use super::writer::{TableWriter, Writing};

/// Writes Markdown.
pub struct Markdown<'a> {
    out: &'a mut dyn Write,
    writing: Writing,
    started: bool,
}

impl<'a> Markdown<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing, started: false }
    }

    /// A writer of what comes after a page.
    pub fn further(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing, started: true }
    }

    /// Writes the stamp as a comment, and the mark of partial data.
    pub fn stamp(&mut self) -> io::Result<()> {
        super::writer::comment(self.out, self.writing.stamp.as_ref())?;
        if self.writing.stamp.is_some() {
            writeln!(self.out)?;
        }
        if let Some(partial) = &self.writing.partial {
            writeln!(self.out, "> ⚠ {}", escape(partial))?;
            self.started = true;
        }
        Ok(())
    }

    fn gap(&mut self) -> io::Result<()> {
        if self.started {
            writeln!(self.out)?;
        }
        self.started = true;
        Ok(())
    }

    /// Writes a page.
    pub fn page(&mut self, page: &Page) -> io::Result<()> {
        self.gap()?;
        writeln!(self.out, "## {}", escape(&page.title))?;
        for block in page.blocks.iter().filter(|b| !b.is_empty()) {
            writeln!(self.out)?;
            if !block.title.is_empty() {
                writeln!(self.out, "### {}\n", escape(&block.title))?;
            }
            match &block.body {
                Body::Facts(facts) => {
                    for fact in facts.iter().filter(|f| !f.text.is_empty()) {
                        let mut line = String::from("- ");
                        if !fact.label.is_empty() {
                            let _ = write!(line, "**{}** ", escape(&fact.label));
                        }
                        line.push_str(&escape(&fact.text));
                        writeln!(self.out, "{line}")?;
                    }
                }
                Body::Table(table) => self.table(table)?,
                Body::Data(_) => {}
                Body::Lines(lines) => {
                    writeln!(self.out, "```text")?;
                    for line in lines {
                        writeln!(self.out, "{}", line.replace("```", "` ` `"))?;
                    }
                    writeln!(self.out, "```")?;
                }
            }
        }
        Ok(())
    }

    fn table(&mut self, table: &Table) -> io::Result<()> {
        let shown: Vec<(usize, &Column)> =
            table.columns.iter().enumerate().filter(|(_, c)| c.head.is_some()).collect();
        let mut head = String::from("|");
        let mut rule = String::from("|");
        for (_, column) in &shown {
            let name = column.head.as_deref().unwrap_or_default();
            let _ = write!(head, " {} |", escape(name));
            rule.push_str(match column.holds {
                Type::Int | Type::Float => "---:|",
                Type::Text | Type::Bool => "---|",
            });
        }
        writeln!(self.out, "{head}\n{rule}")?;
        for row in table.rows.iter().chain(&table.totals) {
            let mut line = String::from("|");
            for (at, column) in &shown {
                let value =
                    row.get(*at).map_or_else(String::new, |c| plain::cell(c, column.places));
                let _ = write!(line, " {} |", escape(&value));
            }
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }
}

/// Text that stays text: cleaned, with Markdown's and HTML's own characters escaped.
fn escape(value: &str) -> String {
    let mut out = String::new();
    for c in text::line(value).chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

impl TableWriter for Markdown<'_> {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        self.stamp()
    }

    fn chunk(&mut self, table: &Table) -> io::Result<()> {
        self.gap()?;
        for line in table.title.lines() {
            writeln!(self.out, "{}\n", escape(line))?;
        }
        self.table(table)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
