//! Comma-separated values: a stamp line, a header of stable names, shortest round-trip numbers, empty
//! cells for missing values.

use std::io::{self, Write};

use super::table::{Cell, Column, Table};
use super::text;
use super::writer::{TableWriter, Writing, stamp_line};
use crate::credit::derivation::number;

/// Writes CSV.
pub struct Csv<'a> {
    out: &'a mut dyn Write,
    writing: Writing,
}

impl<'a> Csv<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing }
    }

    fn record(&mut self, fields: impl IntoIterator<Item = String>) -> io::Result<()> {
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .from_writer(&mut *self.out);
        writer.write_record(fields).map_err(io_error)?;
        writer.flush()
    }
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

impl TableWriter for Csv<'_> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        stamp_line(self.out, self.writing.stamp.as_ref())?;
        self.record(columns.iter().map(|c| text::line(&c.name).into_owned()))
    }

    fn chunk(&mut self, table: &Table) -> io::Result<()> {
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .from_writer(&mut *self.out);
        for row in &table.rows {
            writer.write_record(row.iter().map(field)).map_err(io_error)?;
        }
        writer.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(value) => text::line(value).into_owned(),
        Cell::Int(n) => n.to_string(),
        Cell::Float(x) => number(*x),
        Cell::Bool(b) => b.to_string(),
        Cell::Missing => String::new(),
    }
}
