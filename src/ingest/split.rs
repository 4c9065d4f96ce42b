//! Cuts a stream into records without holding more than one of them.
//!
//! Lines are found with memchr; elements and values by counting brackets outside strings. The cutter
//! knows no format: what a record means is the reader's business.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;

use super::elements::values;
use super::reader::Layout;

/// The largest record that is read.
pub const LIMIT: usize = 256 << 20;

/// What the cutter hands over.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the record starts in the file.
    pub offset: u64,
    /// Line, element or value, from 1.
    pub number: u64,
    /// The record, or its length when it is over the limit.
    pub body: Result<Vec<u8>, u64>,
    /// The file ended with this record and without a line end after it, or within it.
    pub at_end: bool,
    /// It is torn, and so is what follows it: the body is how it begins.
    pub fault: Option<Fault>,
}

/// How far a fault reaches: a quote or a bracket is missing in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Bytes from the record's start to the end of what is lost.
    pub bytes: u64,
    /// What that end is.
    pub reach: Reach,
}

/// Where a fault ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The next record begins there.
    Next,
    /// A record begins there, but more than this one may be lost before it.
    Later,
    /// The list ends there.
    List,
    /// No next one could be found: the rest of the file is lost.
    Rest,
    /// The document ends there, and how many records are lost with it is unknown.
    Document,
    /// All records are there: what is lost stands behind the last one.
    After,
}

pub(super) type Sink<'s> = dyn FnMut(Piece) -> ControlFlow<()> + 's;

/// Cuts `input` into records of at most `limit` bytes. Records come without white space around them
/// and without a byte-order mark; blank lines are counted and not handed over.
pub fn split(
    layout: Layout,
    input: impl Read,
    limit: usize,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let (start, input) = without_mark(BufReader::with_capacity(1 << 20, input))?;
    match layout {
        Layout::Lines => lines(input, start, limit, sink),
        Layout::Document => document(input, start, limit, sink),
        Layout::Elements => values(input, start, 1, limit, sink),
        Layout::Values => values(input, start, 0, limit, sink),
    }
}

/// The input after its byte-order mark, and the mark's length. A stream may give less than a mark at
/// once.
pub(super) fn without_mark(mut input: impl BufRead) -> io::Result<(u64, impl BufRead)> {
    let mut head = Vec::with_capacity(3);
    input.by_ref().take(3).read_to_end(&mut head)?;
    let mark = head == b"\xef\xbb\xbf";
    if mark {
        head.clear();
    }
    Ok((if mark { 3 } else { 0 }, io::Cursor::new(head).chain(input)))
}

/// From this size on a record gets all the room that it may need at once.
const HUGE: usize = 16 << 20;

/// A record that grows up to the limit; beyond it only its length is kept.
#[derive(Default)]
pub(super) struct Body {
    bytes: Vec<u8>,
    len: u64,
}

impl Body {
    pub fn push(&mut self, more: &[u8], limit: usize) {
        self.len += more.len() as u64;
        if self.len <= limit as u64 {
            // Growing by doubling would hold a huge record twice and a half for a while. Room that is
            // not written to costs no memory.
            if self.bytes.len() >= HUGE && self.bytes.capacity() < limit {
                self.bytes.reserve_exact(limit - self.bytes.len());
            }
            self.bytes.extend_from_slice(more);
        } else {
            self.bytes = Vec::new();
        }
    }

    /// What there is of it; nothing where it is too long.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn take(&mut self, limit: usize) -> Result<Vec<u8>, u64> {
        let len = std::mem::take(&mut self.len);
        let bytes = std::mem::take(&mut self.bytes);
        if len <= limit as u64 { Ok(bytes) } else { Err(len) }
    }
}

/// A piece with white space trimmed; `None` for a blank one.
pub(super) fn piece(
    offset: u64,
    number: u64,
    body: Result<Vec<u8>, u64>,
    at_end: bool,
) -> Option<Piece> {
    let Ok(mut bytes) = body else {
        return Some(Piece { offset, number, body, at_end, fault: None });
    };
    bytes.truncate(bytes.trim_ascii_end().len());
    let lead = bytes.len() - bytes.trim_ascii_start().len();
    bytes.drain(..lead);
    (!bytes.is_empty()).then_some(Piece {
        offset: offset + lead as u64,
        number,
        body: Ok(bytes),
        at_end,
        fault: None,
    })
}

fn lines(
    mut input: impl BufRead,
    mut at: u64,
    limit: usize,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let (mut body, mut number, mut start) = (Body::default(), 1, at);
    loop {
        let chunk = input.fill_buf()?;
        let end_of_file = chunk.is_empty();
        let newline = memchr::memchr(b'\n', chunk);
        let used = newline.map_or(chunk.len(), |n| n + 1);
        body.push(chunk.get(..newline.unwrap_or(used)).unwrap_or_default(), limit);
        input.consume(used);
        at += used as u64;
        if newline.is_some() || end_of_file {
            if let Some(piece) = piece(start, number, body.take(limit), end_of_file)
                && sink(piece).is_break()
            {
                return Ok(());
            }
            number += 1;
            start = at;
        }
        if end_of_file {
            return Ok(());
        }
    }
}

fn document(
    mut input: impl BufRead,
    start: u64,
    limit: usize,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let mut body = Body::default();
    loop {
        let chunk = input.fill_buf()?;
        let len = chunk.len();
        if len == 0 {
            break;
        }
        body.push(chunk, limit);
        input.consume(len);
    }
    if let Some(piece) = piece(start, 1, body.take(limit), true) {
        // One record: whether the caller wants more does not matter.
        let _ = sink(piece);
    }
    Ok(())
}

/// What a byte is, by brackets, texts and escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// Inside a text.
    Text,
    /// Opens or closes a text.
    Quote,
    Open,
    Close,
    Comma,
    Colon,
    Space,
    /// Part of a number or a word.
    Bare,
}

/// Follows brackets, texts and escapes.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// How many brackets are open.
    pub depth: usize,
    /// A text is open.
    pub string: bool,
    escape: bool,
}

impl Scanner {
    /// Outside of texts, with this many brackets open.
    pub fn at(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// Moves over one byte; a bracket has been counted when it is told.
    pub fn step(&mut self, byte: u8) -> Token {
        if self.string {
            match byte {
                _ if self.escape => self.escape = false,
                b'\\' => self.escape = true,
                b'"' => {
                    self.string = false;
                    return Token::Quote;
                }
                _ => {}
            }
            return Token::Text;
        }
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                Token::Open
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                Token::Close
            }
            b'"' => {
                self.string = true;
                Token::Quote
            }
            b',' => Token::Comma,
            b':' => Token::Colon,
            b' ' | b'\t' | b'\r' | b'\n' => Token::Space,
            _ => Token::Bare,
        }
    }

    /// How many of the bytes that follow are nothing but text: texts are long.
    pub fn plain(&self, rest: &[u8], stop_at_lines: bool) -> usize {
        if !self.string || self.escape {
            return 0;
        }
        let end = if stop_at_lines {
            memchr::memchr3(b'"', b'\\', b'\n', rest)
        } else {
            memchr::memchr2(b'"', b'\\', rest)
        };
        end.unwrap_or(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(layout: Layout, text: &str) -> Vec<(u64, u64, String, bool)> {
        // A reader of one byte at a time meets every border between chunks.
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let n = self.0.len().min(buf.len()).min(3);
                let (now, later) = self.0.split_at(n);
                buf[..n].copy_from_slice(now);
                self.0 = later;
                Ok(n)
            }
        }
        let run = |input: &mut dyn Read, limit| {
            let mut all = Vec::new();
            split(layout, input, limit, &mut |p: Piece| {
                let body = p
                    .body
                    .map_or_else(|n| format!("too long: {n}"), |b| String::from_utf8(b).unwrap());
                all.push((p.offset, p.number, body, p.at_end));
                ControlFlow::Continue(())
            })
            .unwrap();
            all
        };
        let all = run(&mut Slow(text.as_bytes()), LIMIT);
        assert_eq!(all, run(&mut text.as_bytes(), LIMIT));
        for (offset, _, body, _) in &all {
            let at = *offset as usize;
            assert_eq!(&text[at..at + body.len()], body);
        }
        all
    }

    #[test]
    fn lines_with_mark_blanks_and_carriage_returns() {
        let got = cut(Layout::Lines, "\u{feff}{\"a\":1}\r\n\n  {\"b\":2} \n{\"c");
        let want = [(3, 1, "{\"a\":1}", false), (15, 3, "{\"b\":2}", false), (24, 4, "{\"c", true)];
        assert_eq!(got, want.map(|(o, n, t, e)| (o, n, t.to_owned(), e)));
    }

    #[test]
    fn elements_of_an_array() {
        let got = cut(
            Layout::Elements,
            "[ {\"a\":\"]},{\\\"\"},\n 12 ,[3,[4]],\"x\", {\"b\":{}}, {\"cut\": [",
        );
        let texts: Vec<_> = got.iter().map(|g| g.2.as_str()).collect();
        assert_eq!(
            texts,
            ["{\"a\":\"]},{\\\"\"}", "12", "[3,[4]]", "\"x\"", "{\"b\":{}}", "{\"cut\": ["]
        );
        assert_eq!(got.iter().map(|g| g.1).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        assert!(got[5].3 && !got[4].3);
    }

    #[test]
    fn values_one_after_the_other() {
        let got = cut(Layout::Values, "{\n\"a\":1\n}\n{\"b\":[1,2]}{\"c\":3}");
        let texts: Vec<_> = got.iter().map(|g| g.2.as_str()).collect();
        assert_eq!(texts, ["{\n\"a\":1\n}", "{\"b\":[1,2]}", "{\"c\":3}"]);
    }

    #[test]
    fn a_record_over_the_limit_is_refused_and_the_rest_goes_on() {
        let mut all = Vec::new();
        let text = format!("{{\"a\":\"{}\"}}\n{{\"b\":1}}\n", "x".repeat(100));
        split(Layout::Lines, text.as_bytes(), 50, &mut |p: Piece| {
            all.push(p.body.map(|b| b.len()));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(all, [Err(108), Ok(7)]);
    }
}
