//! Cuts records that are objects of columns into their rows.
//!
//! A record is scanned once for where each cell of each column begins; then its rows are put together
//! one by one ([`Sheet`]). So nothing but one row and the places is held, however long the record is.
//!
//! The scan is strict about everything around the cells, and asks of a cell no more than that its
//! brackets and quotes are closed. A quote or a bracket that is missing breaks that order sooner or
//! later: such a record is not cut, and is handed over as a whole.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::elements;
use super::holes;
use super::outline::Open;
use super::reader::{Layout, RecordError};
use super::repair;
use super::sheet::{Column, Columnar, Places, Sheet};
use super::split::{self, Piece, Scanner, Token};
use super::survey::Found;

/// A record with more columns, or other values, is none.
const COLUMNS: usize = 4096;

/// A key that is longer names no column.
const KEY: usize = 1 << 16;

/// The sheet of a record that is at hand as a whole; `None` where it is no object of columns.
pub fn sheet(text: &str, format: &dyn Columnar) -> Option<Result<Sheet, RecordError>> {
    let bytes = text.as_bytes();
    let mut scan = Scan::new(0);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at).filter(|_| scan.state != State::Odd) {
        scan.step(byte, at as u64);
        at += 1;
        at += scan.plain(bytes.get(at..).unwrap_or_default(), false);
    }
    let outline = scan.finish(at as u64)?;
    let other = |range: &Range<u64>| {
        let value = text.get(range.start as usize..range.end as usize).unwrap_or_default();
        serde_json::from_str::<serde::de::IgnoredAny>(value)
    };
    if let Some(error) = outline.others.iter().find_map(|range| other(range).err()) {
        return Some(Err(error.into()));
    }
    Some(outline.sheet(1, format))
}

/// Cuts a file of `len` bytes into records, and such that are columns into their rows, which follow
/// their [`Found::Sheet`] as elements. A record of one row is handed over as a whole.
pub fn split(
    layout: Layout,
    format: &dyn Columnar,
    len: u64,
    limit: usize,
    open: &Open<'_>,
    sink: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> io::Result<()> {
    let input = BufReader::with_capacity(1 << 20, open(0..len));
    let (mut base, mut input) = split::without_mark(input)?;
    let lines = layout == Layout::Lines;
    let hands = Hands { format, limit, open };
    let (mut scan, mut number) = (None::<Scan>, 1);
    loop {
        let chunk = input.fill_buf()?;
        let (used, mut at) = (chunk.len(), 0);
        while let Some(&byte) = chunk.get(at) {
            let place = base + at as u64;
            at += 1;
            if lines && byte == b'\n' {
                if hands.over(scan.take(), place, number, false, sink)?.is_break() {
                    return Ok(());
                }
                number += 1;
                continue;
            }
            if scan.is_none() && matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                continue;
            }
            let open = scan.get_or_insert_with(|| Scan::new(place));
            open.step(byte, place);
            match open.state {
                State::Odd if !lines => {
                    let whole = layout == Layout::Document && number == 1;
                    return hands.rest(open.start..len, number, whole, sink);
                }
                State::Done if !lines => {
                    if hands.over(scan.take(), place + 1, number, false, sink)?.is_break() {
                        return Ok(());
                    }
                    number += 1;
                }
                _ => at += open.plain(chunk.get(at..).unwrap_or_default(), lines),
            }
        }
        input.consume(used);
        base += used as u64;
        if used == 0 {
            // The end of the file: whether the caller wants more does not matter.
            return hands.over(scan, base, number, true, sink).map(|_| ());
        }
    }
}

/// Hands over what was found.
struct Hands<'a, 'o> {
    format: &'a dyn Columnar,
    limit: usize,
    open: &'a Open<'o>,
}

impl Hands<'_, '_> {
    /// The record that ends here, if one is open.
    fn over(
        &self,
        scan: Option<Scan>,
        end: u64,
        number: u64,
        at_end: bool,
        sink: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let Some(scan) = scan else { return Ok(ControlFlow::Continue(())) };
        let start = scan.start;
        let Some(sheet) = self.sheet(scan, end, number)? else {
            let body = self.read(start..end)?;
            let piece = split::piece(start, number, body, at_end);
            return Ok(piece.map_or(ControlFlow::Continue(()), |p| sink(Found::Record(p))));
        };
        let sheet = Arc::new(sheet);
        if sink(Found::Sheet(Arc::clone(&sheet))).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        sheet.rows(self.limit, self.open, &mut |row| sink(Found::Element(row)))
    }

    /// The sheet of a record that is cut into rows.
    fn sheet(&self, scan: Scan, end: u64, number: u64) -> io::Result<Option<Sheet>> {
        let Some(outline) = scan.finish(end) else { return Ok(None) };
        let others = outline.others.clone();
        // What is wrong with all of a record is told by its reader.
        let sheet =
            outline.sheet(number, self.format).ok().filter(|s| s.rows > 1 || s.lost.is_some());
        if sheet.is_none() {
            return Ok(None);
        }
        for range in others {
            // What is no JSON there may be the trace of something worse.
            if !self.read(range)?.is_ok_and(|bytes| repair::is_whole(&bytes)) {
                return Ok(None);
            }
        }
        Ok(sheet)
    }

    /// Hands over what begins with a record that cannot be cut.
    fn rest(
        &self,
        range: Range<u64>,
        number: u64,
        whole: bool,
        sink: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let start = range.start;
        if whole {
            let piece = split::piece(start, number, self.read(range)?, true);
            let _ = piece.map(|piece| sink(Found::Record(piece)));
            return Ok(());
        }
        let input = BufReader::with_capacity(1 << 20, (self.open)(range));
        elements::values(input, start, 0, self.limit, &mut |piece| {
            sink(Found::Record(Piece { number: piece.number + number - 1, ..piece }))
        })
    }

    fn read(&self, range: Range<u64>) -> io::Result<Result<Vec<u8>, u64>> {
        let len = range.end - range.start;
        if len > self.limit as u64 {
            return Ok(Err(len));
        }
        let mut bytes = Vec::with_capacity(len as usize);
        (self.open)(range).read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    }
}

/// Where the scan is in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before its bracket.
    Begin,
    /// A key is due, or as well the end.
    Key {
        or_end: bool,
    },
    InKey,
    Colon,
    Value,
    /// A cell is due, or as well the column's end.
    Cell {
        or_end: bool,
    },
    Inside(Kind),
    /// Behind a cell or a value.
    Behind,
    /// Behind its end.
    Done,
    /// It is no object of columns, or something is missing in it.
    Odd,
}

/// A value that the scan is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Brackets,
    /// A number or a word.
    Bare,
}

/// Follows one record.
struct Scan {
    start: u64,
    scanner: Scanner,
    state: State,
    /// In a column.
    list: bool,
    key: Vec<u8>,
    columns: Vec<Column>,
    /// Values that are no columns.
    others: Vec<Range<u64>>,
    nul: holes::Follow,
}

/// A record that was followed to its end.
struct Outline {
    bytes: Range<u64>,
    closed: bool,
    columns: Vec<Column>,
    others: Vec<Range<u64>>,
}

impl Outline {
    fn sheet(self, number: u64, format: &dyn Columnar) -> Result<Sheet, RecordError> {
        let lengths: Vec<_> = self.columns.iter().map(Column::length).collect();
        let table = format.table(&lengths, self.closed)?;
        Ok(Sheet::new(self.bytes, number, self.columns, table))
    }
}

impl Scan {
    fn new(start: u64) -> Self {
        Self {
            start,
            scanner: Scanner::default(),
            state: State::Begin,
            list: false,
            key: Vec::new(),
            columns: Vec::new(),
            others: Vec::new(),
            nul: holes::Follow::default(),
        }
    }

    /// How many of the bytes that follow change nothing.
    fn plain(&self, rest: &[u8], lines: bool) -> usize {
        match self.state {
            State::InKey => 0,
            State::Odd if lines => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            _ => holes::Follow::plain(rest, self.scanner.plain(rest, lines)),
        }
    }

    /// Moves over one byte.
    fn step(&mut self, byte: u8, at: u64) {
        let token = self.scanner.step(byte);
        self.state = match (self.state, token) {
            (State::Inside(kind), token) => self.inside(kind, token, byte, at),
            (state, token) => self.between(state, token, byte, at),
        };
        // Cells of one column may have been lost, and all behind them would be those of other rows.
        self.nul.step(byte, at);
        if self.nul.found {
            self.state = State::Odd;
        }
    }

    /// Between values, and in keys.
    fn between(&mut self, state: State, token: Token, byte: u8, at: u64) -> State {
        match (state, token) {
            (State::InKey, Token::Text) if self.key.len() < KEY => {
                self.key.push(byte);
                State::InKey
            }
            (State::InKey, Token::Quote) => State::Colon,
            (state, Token::Space) => state,
            (State::Begin, Token::Open) if byte == b'{' => State::Key { or_end: true },
            (State::Key { .. }, Token::Quote) => {
                self.key.clear();
                State::InKey
            }
            (State::Colon, Token::Colon) => State::Value,
            (State::Value, Token::Open) if byte == b'[' => self.open(),
            (State::Value, _) if self.others.len() < COLUMNS => {
                self.name();
                self.others.push(at..at);
                begin(token)
            }
            (State::Cell { .. }, Token::Open | Token::Quote | Token::Bare) => {
                let kept = self.columns.last_mut().is_some_and(|c| c.cells.push(at));
                if kept { begin(token) } else { State::Odd }
            }
            (State::Behind, Token::Comma) if self.list => State::Cell { or_end: false },
            (State::Behind, Token::Comma) => State::Key { or_end: false },
            (State::Behind | State::Cell { or_end: true }, Token::Close)
                if self.list && byte == b']' =>
            {
                self.close(at, true);
                State::Behind
            }
            (State::Behind | State::Key { or_end: true }, Token::Close)
                if !self.list && byte == b'}' =>
            {
                State::Done
            }
            _ => State::Odd,
        }
    }

    /// In a cell or another value.
    fn inside(&mut self, kind: Kind, token: Token, byte: u8, at: u64) -> State {
        let level = if self.list { 2 } else { 1 };
        let end = match (kind, token) {
            (Kind::Text, Token::Quote) => at + 1,
            (Kind::Brackets, Token::Close) if self.scanner.depth == level => at + 1,
            (Kind::Bare, Token::Space | Token::Comma | Token::Close) => at,
            (Kind::Text | Kind::Brackets, _) | (Kind::Bare, Token::Bare) => {
                return State::Inside(kind);
            }
            (Kind::Bare, _) => return State::Odd,
        };
        if !self.list
            && let Some(other) = self.others.last_mut()
        {
            other.end = end;
        }
        // A number or a word ends with what is behind it.
        if end == at { self.between(State::Behind, token, byte, at) } else { State::Behind }
    }

    fn open(&mut self) -> State {
        let name = self.name();
        if self.columns.len() == COLUMNS {
            return State::Odd;
        }
        self.columns.push(Column { name, cells: Places::default(), end: 0, closed: false });
        self.list = true;
        State::Cell { or_end: true }
    }

    fn close(&mut self, end: u64, closed: bool) {
        if let Some(column) = self.columns.last_mut() {
            (column.end, column.closed) = (end, closed);
            column.cells.shrink();
        }
        self.list = false;
    }

    /// The key that was read. Of a repeated one the last counts.
    fn name(&mut self) -> String {
        let plain = !self.key.contains(&b'\\');
        let read = || {
            let quoted = [b"\"", &*self.key, b"\""].concat();
            serde_json::from_slice::<String>(&quoted).ok()
        };
        let name = if plain { None } else { read() };
        let name = name.unwrap_or_else(|| String::from_utf8_lossy(&self.key).into_owned());
        self.columns.retain(|c| c.name != name);
        name
    }

    /// The record as far as it was followed; `None` for one that cannot be cut.
    fn finish(mut self, end: u64) -> Option<Outline> {
        if matches!(self.state, State::Odd | State::Begin) {
            return None;
        }
        let closed = self.state == State::Done;
        if self.list {
            // What touches the end may go on.
            let torn = matches!(self.state, State::Inside(_) | State::Behind);
            let torn = self.columns.last_mut().filter(|_| torn).and_then(|c| c.cells.pop());
            self.close(torn.unwrap_or(end), false);
        } else if matches!(self.state, State::Inside(_)) {
            self.others.pop();
        }
        Some(Outline { bytes: self.start..end, closed, columns: self.columns, others: self.others })
    }
}

/// The state in a value that begins so.
const fn begin(token: Token) -> State {
    match token {
        Token::Quote => State::Inside(Kind::Text),
        Token::Open => State::Inside(Kind::Brackets),
        Token::Bare => State::Inside(Kind::Bare),
        _ => State::Odd,
    }
}
