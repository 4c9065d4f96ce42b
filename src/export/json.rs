//! JSON: one document in an envelope, or one object per line. Missing values are `null`.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::document::{Body, Fact, Page};
use super::table::{Cell, Column, Table};
use super::text;
use super::writer::{TableWriter, Writing};

/// One row as an object, in the order of the columns.
struct Row<'a> {
    columns: &'a [Column],
    cells: &'a [Cell],
    raw: bool,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            map.serialize_entry(&clean(&column.name, self.raw), &Value { cell, raw: self.raw })?;
        }
        map.end()
    }
}

fn clean(value: &str, raw: bool) -> std::borrow::Cow<'_, str> {
    if raw { value.into() } else { text::line(value) }
}

struct Value<'a> {
    cell: &'a Cell,
    raw: bool,
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.cell {
            Cell::Text(value) => serializer.serialize_str(&clean(value, self.raw)),
            Cell::Int(n) => serializer.serialize_u64(*n),
            Cell::Float(x) if x.is_finite() => serializer.serialize_f64(*x),
            Cell::Bool(b) => serializer.serialize_bool(*b),
            Cell::Float(_) | Cell::Missing => serializer.serialize_unit(),
        }
    }
}

/// Writes the envelope and its rows.
pub struct Json<'a> {
    out: &'a mut dyn Write,
    writing: Writing,
    any: bool,
}

impl<'a> Json<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing, any: false }
    }

    /// Opens the envelope.
    pub fn open(&mut self) -> io::Result<()> {
        self.out.write_all(b"{")?;
        if let Some(stamp) = &self.writing.stamp {
            // The stamp's members come first; its own braces are those of the envelope.
            let text = serde_json::to_string(stamp)?;
            let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
            self.out.write_all(inner.unwrap_or_default().as_bytes())?;
            self.out.write_all(b",\n")?;
        }
        for (name, value) in &self.writing.extra {
            serde_json::to_writer(&mut *self.out, name)?;
            self.out.write_all(b":")?;
            serde_json::to_writer(&mut *self.out, value)?;
            self.out.write_all(b",\n")?;
        }
        self.out.write_all(b"\"rows\":[")
    }

    /// Writes one element of `rows`.
    pub fn element(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        serde_json::to_writer(&mut *self.out, value)?;
        Ok(())
    }

    /// Writes a page as an element of `rows`.
    pub fn page(&mut self, page: &Page) -> io::Result<()> {
        let raw = self.writing.raw;
        self.element(&PageValue { page, raw })
    }

    /// Closes the envelope.
    pub fn close(&mut self) -> io::Result<()> {
        self.out.write_all(if self.any { b"\n]}\n" } else { b"]}\n" })?;
        self.out.flush()
    }
}

impl TableWriter for Json<'_> {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        self.open()
    }

    fn chunk(&mut self, table: &Table) -> io::Result<()> {
        let raw = self.writing.raw;
        for cells in &table.rows {
            self.element(&Row { columns: &table.columns, cells, raw })?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.close()
    }
}

/// Writes the stamp as the first line, then one row per line.
pub struct Jsonl<'a> {
    out: &'a mut dyn Write,
    writing: Writing,
}

impl<'a> Jsonl<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing }
    }
}

impl TableWriter for Jsonl<'_> {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        if let Some(stamp) = &self.writing.stamp {
            serde_json::to_writer(&mut *self.out, stamp)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn chunk(&mut self, table: &Table) -> io::Result<()> {
        for cells in &table.rows {
            let row = Row { columns: &table.columns, cells, raw: self.writing.raw };
            serde_json::to_writer(&mut *self.out, &row)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A page as an object: one member per named block.
struct PageValue<'a> {
    page: &'a Page,
    raw: bool,
}

impl Serialize for PageValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let raw = self.raw;
        for block in self.page.blocks.iter().filter(|b| !b.name.is_empty()) {
            match &block.body {
                Body::Facts(facts) => map.serialize_entry(block.name, &Facts { facts, raw })?,
                Body::Table(table) | Body::Data(table) => {
                    map.serialize_entry(block.name, &Rows { table, raw })?;
                }
                Body::Lines(lines) => {
                    let lines: Vec<_> = lines.iter().map(|l| clean(l, raw)).collect();
                    map.serialize_entry(block.name, &lines)?;
                }
            }
        }
        map.end()
    }
}

struct Facts<'a> {
    facts: &'a [Fact],
    raw: bool,
}

impl Serialize for Facts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for fact in self.facts {
            for (name, cell) in &fact.data {
                map.serialize_entry(name, &Value { cell, raw: self.raw })?;
            }
        }
        map.end()
    }
}

/// The rows of a table as a JSON value.
pub fn rows(table: &Table, raw: bool) -> serde_json::Result<serde_json::Value> {
    serde_json::to_value(Rows { table, raw })
}

struct Rows<'a> {
    table: &'a Table,
    raw: bool,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.table.rows.len()))?;
        for cells in &self.table.rows {
            seq.serialize_element(&Row { columns: &self.table.columns, cells, raw: self.raw })?;
        }
        seq.end()
    }
}
