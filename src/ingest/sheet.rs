//! Where the cells of a record of columns are, and how its rows are put together.
//!
//! A sheet holds places and no cell: four bytes for each of them. A row is read from as many places as
//! there are columns, and is an object with one cell under each column's name. What that means is the
//! reader's business.

use std::io::{self, BufReader, Read};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::document::Document;
use super::outline::Open;
use super::reader::RecordError;
use super::split::{Piece, Sink};

/// A column of a record: what a format needs to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length<'a> {
    /// Its key.
    pub name: &'a str,
    /// Cells that are whole.
    pub cells: usize,
    /// Its last bracket is there. Only the last column of a record that is cut can lack it.
    pub closed: bool,
}

/// A format whose records are objects of columns.
pub trait Columnar {
    /// What the columns of a record, in the order of the file, are together; `closed` tells whether
    /// the record's end is there. An error where they are no rollouts.
    fn table(&self, columns: &[Length<'_>], closed: bool) -> Result<Table, RecordError>;
}

/// What a format makes of a record's columns.
#[derive(Debug)]
pub struct Table {
    /// Reads a row: an object with a cell under the name of each column that has one there.
    pub document: Arc<dyn Document>,
    /// Indices of the columns that its rows are made of.
    pub kept: Vec<usize>,
    /// How many rows there are. One that stands for what is cut off counts.
    pub rows: usize,
    /// What is odd about the columns and costs nothing: (field, what).
    pub notes: Vec<(String, String)>,
    /// What is lost behind its rows, all of which are there.
    pub lost: Option<RecordError>,
}

/// A column and the places of its cells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub cells: Places,
    /// Where its closing bracket is, or in one that is cut the end of its last whole cell.
    pub end: u64,
    pub closed: bool,
}

impl Column {
    pub fn length(&self) -> Length<'_> {
        Length { name: &self.name, cells: self.cells.len, closed: self.closed }
    }

    /// The bytes of a cell, with the comma and the white space behind it.
    fn cell(&self, at: usize) -> Option<Range<u64>> {
        let start = self.cells.get(at)?;
        Some(start..self.cells.get(at + 1).unwrap_or(self.end))
    }
}

/// Ascending places, four bytes each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub len: usize,
    last: u64,
    /// Every [`APART`]th place.
    marks: Vec<u64>,
    /// How far each place is behind the one before.
    steps: Vec<u32>,
}

/// Places from one mark to the next.
const APART: usize = 64;

impl Places {
    /// Adds a place; `false` where it is too far behind the last one to be kept.
    #[must_use]
    pub fn push(&mut self, place: u64) -> bool {
        let before = if self.len == 0 { place } else { self.last };
        let Ok(step) = u32::try_from(place - before) else { return false };
        if self.len.is_multiple_of(APART) {
            self.marks.push(place);
        }
        self.steps.push(step);
        (self.len, self.last) = (self.len + 1, place);
        true
    }

    /// Takes the last place away.
    pub fn pop(&mut self) -> Option<u64> {
        let (last, step) = (self.last, self.steps.pop()?);
        self.len -= 1;
        if self.len.is_multiple_of(APART) {
            self.marks.pop();
        }
        self.last -= u64::from(step);
        Some(last)
    }

    fn get(&self, at: usize) -> Option<u64> {
        let mark = *self.marks.get(at / APART)?;
        let steps = self.steps.get(at - at % APART + 1..=at).unwrap_or_default();
        (at < self.len).then(|| mark + steps.iter().copied().map(u64::from).sum::<u64>())
    }

    pub fn shrink(&mut self) {
        self.marks.shrink_to_fit();
        self.steps.shrink_to_fit();
    }
}

/// A record of columns whose rows are read one by one.
#[derive(Debug)]
pub struct Sheet {
    /// The record's bytes.
    pub bytes: Range<u64>,
    /// Line or value, from 1.
    pub number: u64,
    /// The format's reading.
    pub document: Arc<dyn Document>,
    /// How many rows there are.
    pub rows: usize,
    /// What is odd about the columns: (field, what).
    pub notes: Vec<(String, String)>,
    /// What is lost behind its rows.
    pub lost: Option<RecordError>,
    /// By name; what stands before each cell of a row.
    columns: Vec<(String, Column)>,
}

/// The same places of the same record: they are read in one way.
impl PartialEq for Sheet {
    fn eq(&self, other: &Self) -> bool {
        (&self.bytes, self.number, self.rows) == (&other.bytes, other.number, other.rows)
            && (&self.columns, &self.notes) == (&other.columns, &other.notes)
    }
}

impl Eq for Sheet {}

/// Bytes that are read ahead: of one column, and of all together.
const AHEAD: (usize, usize) = (64 << 10, 4 << 20);

/// Appends the cell of a column, which is at a place, to a row.
type ReadCell<'r> = dyn FnMut(usize, Range<u64>, &mut Vec<u8>) -> io::Result<()> + 'r;

impl Sheet {
    pub(super) fn new(bytes: Range<u64>, number: u64, columns: Vec<Column>, table: Table) -> Self {
        let kept = columns.into_iter().enumerate().filter(|(at, _)| table.kept.contains(at));
        let mut columns: Vec<_> = kept.map(|(_, c)| (label(&c.name), c)).collect();
        columns.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        let Table { document, rows, notes, lost, .. } = table;
        Self { bytes, number, document, rows, notes, lost, columns }
    }

    /// One row, or its length where that is over the limit.
    pub fn row(
        &self,
        at: usize,
        limit: usize,
        open: &Open<'_>,
    ) -> io::Result<Result<Vec<u8>, u64>> {
        self.put_together(at, limit, &mut |_, cell, row| {
            let len = (cell.end - cell.start) as usize;
            read_on(&mut open(cell), len, row)
        })
    }

    /// One row of a record that is at hand as a whole.
    pub(super) fn row_of(&self, record: &[u8], at: usize) -> Vec<u8> {
        let open = |part: Range<u64>| -> Box<dyn Read + '_> {
            let part = part.start as usize..part.end as usize;
            Box::new(record.get(part).unwrap_or_default())
        };
        let row = self.row(at, usize::MAX, &open);
        row.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// All rows in order, numbered from 1; nothing but one of them and what is read ahead is held.
    pub fn rows(
        &self,
        limit: usize,
        open: &Open<'_>,
        sink: &mut Sink<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let size = (AHEAD.1 / self.columns.len().max(1)).min(AHEAD.0);
        let mut ahead: Vec<Option<BufReader<_>>> = self.columns.iter().map(|_| None).collect();
        for at in 0..self.rows {
            let body = self.put_together(at, limit, &mut |nth, cell, row| {
                let end = self.columns.get(nth).map_or(cell.end, |(_, column)| column.end);
                let Some(ahead) = ahead.get_mut(nth) else { return Ok(()) };
                let from = ahead
                    .get_or_insert_with(|| BufReader::with_capacity(size, open(cell.start..end)));
                read_on(from, (cell.end - cell.start) as usize, row)
            })?;
            if body.is_err() {
                // What is behind that row is opened anew.
                ahead.fill_with(|| None);
            }
            let offset = self.bytes.start;
            let piece = Piece { offset, number: at as u64 + 1, body, at_end: false, fault: None };
            if sink(piece).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The row as an object; `read` appends the cell of a column.
    fn put_together(
        &self,
        at: usize,
        limit: usize,
        read: &mut ReadCell<'_>,
    ) -> io::Result<Result<Vec<u8>, u64>> {
        let cells = || {
            let all = self.columns.iter().enumerate();
            all.filter_map(|(nth, (label, column))| Some((nth, label, column.cell(at)?)))
        };
        let width = |(_, label, cell): (_, &String, Range<u64>)| {
            label.len() as u64 + cell.end - cell.start + 1
        };
        let len = 2 + cells().map(width).sum::<u64>();
        if len > limit as u64 {
            return Ok(Err(len));
        }
        let mut row = Vec::with_capacity(len as usize);
        row.push(b'{');
        for (nth, label, cell) in cells() {
            if row.len() > 1 {
                row.push(b',');
            }
            row.extend_from_slice(label.as_bytes());
            read(nth, cell, &mut row)?;
            trim(&mut row);
        }
        row.push(b'}');
        Ok(Ok(row))
    }
}

/// Appends `len` bytes, or fewer where the file ends: it has changed, and what is there is no row.
fn read_on(from: &mut dyn Read, len: usize, row: &mut Vec<u8>) -> io::Result<()> {
    let mut end = row.len();
    row.resize(end + len, 0);
    while let Some(rest) = row.get_mut(end..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(n) => end += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    row.truncate(end);
    Ok(())
}

/// Takes the white space and the comma behind a cell away.
fn trim(row: &mut Vec<u8>) {
    let space = |row: &mut Vec<u8>| {
        while matches!(row.last(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            row.pop();
        }
    };
    space(row);
    if row.last() == Some(&b',') {
        row.pop();
        space(row);
    }
}

/// A name as a key.
fn label(name: &str) -> String {
    format!("{}:", serde_json::Value::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_and_taken_back() {
        let all: Vec<u64> = (0..200_u64).map(|i| 5_000_000_000 + i * i * 3).collect();
        let mut places = Places::default();
        assert!(all.iter().all(|&p| places.push(p)));
        let told: Vec<_> = (0..200).map(|i| places.get(i)).collect();
        assert_eq!(told, all.iter().copied().map(Some).collect::<Vec<_>>());
        assert_eq!(places.get(200), None);
        for &place in all.iter().rev().take(80) {
            assert_eq!(places.pop(), Some(place));
        }
        assert_eq!((places.get(119), places.get(120)), (Some(all[119]), None));
        assert!(places.push(all[120]) && !places.push(u64::MAX));
        assert_eq!(places.get(120), Some(all[120]));
    }

    #[test]
    fn what_is_behind_a_cell_goes() {
        for (cell, want) in [("1 , ", "1"), ("\"a, \"\n", "\"a, \""), ("[1],", "[1]"), ("7", "7")] {
            let mut row = cell.as_bytes().to_vec();
            trim(&mut row);
            assert_eq!(row, want.as_bytes());
        }
    }
}
