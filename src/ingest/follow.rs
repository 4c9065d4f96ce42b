//! Follows the brackets and keys of documents: where each is, and the array of its elements in it, and
//! whether anything stands where it can only if a quote or a bracket is missing.

use super::holes;
use super::outline::{Array, Frame};
use super::reader::Layout;
use super::split::{Scanner, Token};
use super::tears::begins::Begins;

/// Follows one record after the other.
pub(super) struct Survey {
    pub scanner: Scanner,
    pub lines: bool,
    /// The depth at which records stand.
    pub base: usize,
    key: &'static [u8],
    pub number: u64,
    record: Option<Record>,
    /// Records that were found and not handed over: the line may yet turn out to be torn.
    found: Vec<Frame>,
    /// The whole file is one record.
    one: bool,
    begins: Begins,
    /// Where the open element begins.
    element: u64,
    /// How things stood at the last line end outside of a text.
    mark: Option<Mark>,
    /// A text ran over the end of a line, or an escape or a bracket stands where none can.
    doubt: bool,
    /// Where the record begins in which something stands that cannot, and that place.
    odd: Option<(u64, u64)>,
    /// NUL bytes of the open record.
    nul: holes::Follow,
    /// What stood before, white space left out; the inside of a text where one is open.
    last: Token,
}

/// How things stood at the end of a line.
#[derive(Clone, Copy)]
struct Mark {
    start: u64,
    number: u64,
    arrays: usize,
    /// The last of them is not closed.
    open: bool,
}

struct Record {
    start: u64,
    /// It has keys.
    object: bool,
    label: Label,
    arrays: Vec<Array>,
}

/// Where the scan is among the keys of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// A key is due.
    Due,
    /// In a key that is equal to the wanted one so far: that many bytes; `None` for another one.
    Reading(Option<usize>),
    /// After the wanted key (`true`) or after another one.
    Read(bool),
    /// After its colon.
    Value,
    /// After the list of elements.
    Closed,
    /// In anything else.
    Other,
}

impl Survey {
    pub fn new(layout: Layout, key: &'static str) -> Self {
        let lines = layout == Layout::Lines;
        Self {
            scanner: Scanner::default(),
            lines,
            base: usize::from(layout == Layout::Elements),
            key: key.as_bytes(),
            number: u64::from(lines),
            record: None,
            found: Vec::new(),
            one: layout == Layout::Document,
            begins: Begins::default(),
            element: 0,
            mark: None,
            doubt: false,
            odd: None,
            nul: holes::Follow::default(),
            last: Token::Comma,
        }
    }

    pub fn plain(&self, rest: &[u8]) -> usize {
        let reading = matches!(&self.record, Some(Record { label: Label::Reading(Some(_)), .. }));
        let begins = !self.lines && self.begins.alive();
        if reading || begins {
            0
        } else {
            holes::Follow::plain(rest, self.scanner.plain(rest, true))
        }
    }

    /// Records that are as they seem.
    pub fn ready(&mut self) -> Vec<Frame> {
        let wait = self.one || self.doubt || self.begins.any();
        let sure = self.lines || !wait || (!self.one && !self.doubt && self.mark.is_none());
        if sure { std::mem::take(&mut self.found) } else { Vec::new() }
    }

    /// The records that are left at the end of the file.
    pub fn rest(&mut self, end: u64) -> Vec<Frame> {
        let open = self.finish(end).map(|frame| Frame { at_end: true, ..frame });
        self.found.extend(open);
        std::mem::take(&mut self.found)
    }

    /// Moves over one byte.
    pub fn step(&mut self, byte: u8, at: u64) {
        self.nul.step(byte, at);
        let ended = self.follow(byte, at);
        self.found.extend(ended);
        if self.lines {
            return;
        }
        if byte == b'\n' {
            if self.scanner.string {
                self.doubt = true;
            } else if !self.doubt {
                self.set_mark();
            }
        }
        // An escape stands outside of texts.
        self.doubt |= byte == b'\\' && !self.scanner.string;
        if self.doubt && self.begins.ends(byte) {
            self.again(at, true);
        }
        let Some(brace) = self.begins.step(byte, at) else { return };
        let open = self.record.as_ref().and_then(|r| r.arrays.last());
        let open = open.is_some_and(|a| a.close.is_none());
        let fits = open
            && self.element == brace
            && self.scanner.depth == self.base + 3
            && !self.scanner.string;
        if fits && self.begins.learn(!self.doubt) {
            (self.doubt, self.odd) = (false, None);
            self.set_mark();
        } else if self.doubt && self.begins.known() {
            self.again(brace, false);
        } else if !self.doubt && open {
            self.begins.within();
        }
    }

    /// What was found up to here is as it seems, but for the record that is open.
    fn set_mark(&mut self) {
        self.mark = self.record.as_ref().map(|record| Mark {
            start: record.start,
            number: self.number,
            arrays: record.arrays.len(),
            open: record.arrays.last().is_some_and(|a| a.close.is_none()),
        });
    }

    /// The next element begins here, or the list ends, whatever the quotes and brackets before it say.
    fn again(&mut self, brace: u64, ends: bool) {
        let Some(mark) = self.mark.filter(|mark| mark.open) else { return };
        let open = self.record.take().filter(|r| r.start == mark.start).map(|r| r.arrays);
        let found = || self.found.iter().find(|f| f.bytes.start == mark.start);
        let Some(mut arrays) = open.or_else(|| found().map(|f| f.arrays.clone())) else { return };
        arrays.truncate(mark.arrays);
        if let Some(array) = arrays.last_mut() {
            let close = ends.then_some(brace);
            *array = Array { close, several: true, odd: false, ..*array };
        }
        self.nul.found |= self.found.iter().any(|f| f.hole && f.bytes.start >= mark.start);
        self.found.retain(|f| f.bytes.start < mark.start);
        self.number = mark.number;
        let (start, object) = (mark.start, true);
        self.record = Some(Record { start, object, label: Label::Other, arrays });
        self.scanner = Scanner::at(self.base + if ends { 1 } else { 3 });
        (self.element, self.doubt, self.odd) = (brace, false, None);
        self.last = Token::Open;
    }

    /// Follows the brackets; the record that ends here.
    fn follow(&mut self, byte: u8, at: u64) -> Option<Frame> {
        if self.lines && byte == b'\n' {
            let frame = self.finish(at);
            self.number += 1;
            self.scanner = Scanner::default();
            (self.odd, self.last) = (None, Token::Comma);
            return frame;
        }
        let token = self.scanner.step(byte);
        self.follows(token, at);
        let (depth, base) = (self.scanner.depth, self.base);
        let Some(record) = &mut self.record else {
            let between = match token {
                Token::Space | Token::Comma => true,
                Token::Open | Token::Close => depth <= base,
                _ => false,
            };
            if !between {
                self.doubt |= self.one && !self.found.is_empty();
                let label = if byte == b'{' { Label::Due } else { Label::Other };
                let object = byte == b'{';
                self.record = Some(Record { start: at, object, label, arrays: Vec::new() });
                self.number += u64::from(!self.lines);
            }
            return None;
        };
        match (token, depth.checked_sub(base)) {
            (Token::Close, None) => return self.finish(at),
            (Token::Close, Some(0)) if !self.lines => return self.finish(at + 1),
            (Token::Comma | Token::Space, Some(0)) if !self.lines => return self.finish(at),
            (token, Some(1)) => {
                let due = record.label == Label::Due;
                record.level(token, byte, at, self.scanner.string, self.key);
                let closes = token == Token::Close && record.label == Label::Closed;
                if closes && byte != b']' || due && token == Token::Bare {
                    self.odd(at);
                }
            }
            (Token::Open | Token::Bare | Token::Quote, Some(0)) if self.lines => self.odd(at),
            (Token::Colon, Some(0)) => self.odd(at),
            (Token::Open, Some(3)) => self.element = at,
            // In the list itself there are no keys.
            (Token::Colon, Some(2)) if record.arrays.last().is_some_and(|a| a.close.is_none()) => {
                self.odd(at);
            }
            (Token::Open, Some(2)) => {
                let due = record.label == Label::Due;
                if record.label == Label::Value && byte == b'[' {
                    record.arrays.push(Array {
                        open: at,
                        close: None,
                        several: false,
                        odd: false,
                        bare: false,
                    });
                }
                record.label = Label::Other;
                if due {
                    self.odd(at);
                }
            }
            (Token::Comma, Some(2)) => {
                if let Some(array) = record.arrays.last_mut().filter(|a| a.close.is_none()) {
                    array.several = true;
                }
            }
            _ => {}
        }
        None
    }

    /// Whether a token may follow what stands before it: a text or a word that has no comma or colon before
    /// it is the inside of a text, turned out by a quote that is missing.
    fn follows(&mut self, token: Token, at: u64) {
        let odd = match (self.last, token) {
            (_, Token::Space | Token::Text) => return,
            (Token::Quote, Token::Quote | Token::Bare | Token::Open)
            | (Token::Bare, Token::Quote | Token::Open)
            | (Token::Close, Token::Quote | Token::Bare) => self.scanner.depth > self.base,
            _ => false,
        };
        self.last = if self.scanner.string { Token::Text } else { token };
        if odd {
            self.odd(at);
        }
    }

    fn odd(&mut self, at: u64) {
        let start = self.record.as_ref().map_or(at, |record| record.start);
        self.odd = self.odd.or(Some((start, at)));
        self.doubt |= !self.lines;
    }

    /// The record as it stands, if one is open.
    fn finish(&mut self, end: u64) -> Option<Frame> {
        let left = self.scanner.depth.saturating_sub(self.base) + usize::from(self.scanner.string);
        let Record { start, arrays, .. } = self.record.take()?;
        let odd = self.odd.filter(|odd| odd.0 == start).map(|odd| odd.1);
        let hole = std::mem::take(&mut self.nul).found;
        let (bytes, number, closed) = (start..end, self.number, left == 0);
        Some(Frame { bytes, number, closed, at_end: false, lost: None, arrays, odd, left, hole })
    }
}

impl Record {
    /// One byte among the keys and values of the document.
    fn level(&mut self, token: Token, byte: u8, at: u64, opens: bool, key: &[u8]) {
        self.label = match (token, self.label) {
            (Token::Quote, Label::Due) if opens => Label::Reading(Some(0)),
            (Token::Quote, Label::Reading(same)) => Label::Read(same == Some(key.len())),
            (Token::Text, Label::Reading(same)) => {
                Label::Reading(same.filter(|&n| key.get(n) == Some(&byte)).map(|n| n + 1))
            }
            (Token::Colon, Label::Read(true)) => Label::Value,
            (Token::Comma, _) if self.object => Label::Due,
            (Token::Bare | Token::Quote | Token::Open, Label::Closed) => {
                if let Some(array) = self.arrays.last_mut() {
                    array.odd = true;
                }
                Label::Other
            }
            (Token::Close, _) => {
                if let Some(array) = self.arrays.last_mut().filter(|a| a.close.is_none()) {
                    array.close = Some(at);
                    return self.label = Label::Closed;
                }
                Label::Other
            }
            (Token::Space, label) => label,
            _ => Label::Other,
        };
    }
}
