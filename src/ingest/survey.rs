//! Cuts documents whose rollouts are the elements of one array under a known key.
//!
//! A document is scanned once for where that array is and where the document ends; then what stands
//! outside of the elements (the frame) is handed over, and the elements one by one. So it does not
//! matter whether the rest of the document comes before or after them, and nothing but the frame and
//! one element is held. The scan knows keys and brackets; what they mean is the reader's business.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::{ControlFlow, Range};

use super::begins::Begins;
use super::elements;
use super::mend::Outer;
use super::outline::Array;
pub use super::outline::{Frame, Lost, Open};
use super::reader::Layout;
use super::repair;
use super::split::{self, Fault, Piece, Reach, Scanner, Token};
pub use super::tears::Keyed;
use super::tears::{Reading, Tear, Torn};

/// What is found on the way.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// A record without elements under the key, or with at most one.
    Record(Piece),
    /// A document; its elements follow.
    Document(Frame, Result<Vec<u8>, u64>),
    /// An element of the document that was found last, numbered from 1.
    Element(Piece),
}

/// Cuts a file of `len` bytes into records, and such with an array under the key into its elements.
pub fn split(
    layout: Layout,
    keyed: impl Into<Keyed>,
    len: u64,
    limit: usize,
    open: &Open<'_>,
    sink: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> io::Result<()> {
    let cut = Cut { layout, keyed: keyed.into(), len, limit, open };
    let mut from = Some((0, u64::from(layout == Layout::Lines)));
    while let Some(start) = from {
        from = cut.pass(start, sink)?;
    }
    Ok(())
}

/// What a file is cut with.
struct Cut<'a, 'o> {
    layout: Layout,
    keyed: Keyed,
    len: u64,
    limit: usize,
    open: &'a Open<'o>,
}

impl Cut<'_, '_> {
    /// Goes through the file from a place between two records, the last of them with this number. Behind
    /// a torn document another pass goes on where that ends.
    fn pass(&self, (start, number): (u64, u64), sink: &mut Sink<'_>) -> io::Result<Next> {
        let input = BufReader::with_capacity(1 << 20, (self.open)(start..self.len));
        let (mut base, mut input) = split::without_mark(input)?;
        base += start;
        let mut survey = Survey::new(self.layout, self.keyed.key);
        survey.number = number;
        if start > 0 {
            survey.scanner = Scanner::at(survey.base);
        }
        loop {
            let chunk = input.fill_buf()?;
            let used = chunk.len();
            let mut at = 0;
            while let Some(&byte) = chunk.get(at) {
                survey.step(byte, base + at as u64);
                for frame in survey.ready() {
                    let go_on = if survey.lines && (frame.odd.is_some() || !frame.closed) {
                        self.torn(frame, sink)?.0
                    } else {
                        self.hand_over(frame, sink)?
                    };
                    if go_on.is_break() {
                        return Ok(None);
                    }
                }
                at += 1;
                at += survey.plain(chunk.get(at..).unwrap_or_default());
            }
            input.consume(used);
            base += used as u64;
            if used == 0 {
                return self.rest(survey.rest(base), sink);
            }
        }
    }

    /// The records that are left at the end of the file.
    fn rest(&self, frames: Vec<Frame>, sink: &mut Sink<'_>) -> io::Result<Next> {
        for frame in frames {
            let number = frame.number;
            let (go_on, next) = if frame.odd.is_some() || !frame.closed {
                self.torn(frame, sink)?
            } else {
                (self.hand_over(frame, sink)?, None)
            };
            if go_on.is_break() {
                return Ok(None);
            }
            if let Some(next) = next.filter(|_| self.layout != Layout::Lines) {
                return Ok((next < self.len).then_some((next, number)));
            }
        }
        Ok(None)
    }

    /// Hands over what can be read of a document that may be torn; where it ends, if that was another
    /// place than it seemed.
    fn torn(&self, frame: Frame, sink: &mut Sink<'_>) -> io::Result<(ControlFlow<()>, Option<u64>)> {
        let (outer, end) = match self.layout {
            Layout::Lines => (Outer::Nothing, frame.bytes.end),
            Layout::Document => (Outer::Nothing, self.len),
            Layout::Values => (Outer::Values, self.len),
            Layout::Elements => (Outer::Elements, self.len),
        };
        let torn = Torn { keyed: self.keyed, outer, end, limit: self.limit, open: self.open };
        match torn.read(frame)? {
            Reading::Plain(frame) => Ok((self.hand_over(frame, sink)?, None)),
            Reading::Lost(piece) => {
                let end = piece.offset + piece.fault.map_or(0, |fault| fault.bytes);
                Ok((sink(Found::Record(piece)), Some(end)))
            }
            Reading::Document(frame, tear) => {
                let end = frame.bytes.end;
                Ok((self.mended(frame, tear, sink)?, Some(end)))
            }
        }
    }

    /// Hands over a document and its elements before and behind a tear.
    fn mended(
        &self,
        frame: Frame,
        tear: Option<Tear>,
        sink: &mut Sink<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let Some(list) = frame.elements() else { return Ok(ControlFlow::Continue(())) };
        let last = if frame.bare() { list.end - 1 } else { list.end };
        let stop = tear.as_ref().map_or(last, |tear| tear.piece.offset.min(last));
        let text = frame.text(self.limit, self.open)?;
        if sink(Found::Document(frame, text)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let mut go_on = ControlFlow::Continue(());
        self.values(list.start..stop, &mut |piece| {
            // Where the list is cut there is no element.
            if !matches!(&piece.body, Ok(body) if body.is_empty()) {
                go_on = sink(Found::Element(Piece { at_end: false, ..piece }));
            }
            go_on
        })?;
        let Some(Tear { piece, number, found }) = tear.filter(|_| go_on.is_continue()) else {
            return Ok(go_on);
        };
        if sink(Found::Element(piece)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        for (nth, place) in found.into_iter().enumerate() {
            let (offset, number) = (place.start, number + nth as u64);
            let mut bytes = Vec::with_capacity((place.end - place.start) as usize);
            (self.open)(place).read_to_end(&mut bytes)?;
            let piece = Piece { offset, number, body: Ok(bytes), at_end: false, fault: None };
            if sink(Found::Element(piece)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn values(&self, list: Range<u64>, sink: &mut split::Sink<'_>) -> io::Result<()> {
        let size = (list.end - list.start).min(1 << 20) as usize;
        let input = BufReader::with_capacity(size, (self.open)(list.clone()));
        elements::values(input, list.start, 1, self.limit, sink)
    }

    fn hand_over(&self, frame: Frame, sink: &mut Sink<'_>) -> io::Result<ControlFlow<()>> {
        let Some(list) = frame.elements() else {
            let Range { start, end } = frame.bytes;
            let mut body = Err(end - start);
            if end - start <= self.limit as u64 {
                let mut bytes = Vec::with_capacity((end - start) as usize);
                (self.open)(start..end).read_to_end(&mut bytes)?;
                body = Ok(bytes);
            }
            let piece = split::piece(start, frame.number, body, frame.at_end);
            return Ok(piece.map_or(ControlFlow::Continue(()), |p| sink(Found::Record(p))));
        };
        let (at_end, end) = (frame.at_end, frame.bytes.end);
        let odd = frame.arrays.last().is_some_and(|a| a.odd);
        let text = frame.text(self.limit, self.open)?;
        if sink(Found::Document(frame, text)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let mut go_on = ControlFlow::Continue(());
        let mut last: Option<Piece> = None;
        self.values(list, &mut |piece| {
            let piece = Piece { at_end: piece.at_end && at_end, ..piece };
            // Of a list that may have been closed in the midst of a text, the last element is in doubt.
            let piece = if odd { last.replace(piece) } else { Some(piece) };
            go_on = piece.map_or(go_on, |piece| sink(Found::Element(piece)));
            go_on
        })?;
        if let Some(last) = last.filter(|_| go_on.is_continue()) {
            // What follows the list is told by what the document says around it.
            let fault = (!repair::whole(&last.body))
                .then_some(Fault { bytes: end.saturating_sub(last.offset), reach: Reach::Rest });
            go_on = sink(Found::Element(Piece { fault: last.fault.or(fault), ..last }));
        }
        Ok(go_on)
    }
}

type Sink<'s> = dyn FnMut(Found) -> ControlFlow<()> + 's;

/// Where another pass begins, and the number of the last record before.
type Next = Option<(u64, u64)>;

/// Follows one record after the other.
struct Survey {
    scanner: Scanner,
    lines: bool,
    /// The depth at which records stand.
    base: usize,
    key: &'static [u8],
    number: u64,
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
    fn new(layout: Layout, key: &'static str) -> Self {
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
            last: Token::Comma,
        }
    }

    fn plain(&self, rest: &[u8]) -> usize {
        let reading = matches!(&self.record, Some(Record { label: Label::Reading(Some(_)), .. }));
        let begins = !self.lines && self.begins.alive();
        if reading || begins { 0 } else { self.scanner.plain(rest, true) }
    }

    /// Records that are as they seem.
    fn ready(&mut self) -> Vec<Frame> {
        let wait = self.one || self.doubt || self.begins.any();
        let sure = self.lines || !wait || (!self.one && !self.doubt && self.mark.is_none());
        if sure { std::mem::take(&mut self.found) } else { Vec::new() }
    }

    /// The records that are left at the end of the file.
    fn rest(&mut self, end: u64) -> Vec<Frame> {
        let open = self.finish(end).map(|frame| Frame { at_end: true, ..frame });
        self.found.extend(open);
        std::mem::take(&mut self.found)
    }

    /// Moves over one byte.
    fn step(&mut self, byte: u8, at: u64) {
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
        self.found.retain(|f| f.bytes.start < mark.start);
        self.number = mark.number;
        self.record = Some(Record { start: mark.start, label: Label::Other, arrays });
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
                self.record = Some(Record { start: at, label, arrays: Vec::new() });
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
                    record.arrays.push(Array { open: at, close: None, several: false, odd: false, bare: false });
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
            (Token::Text, _) => false,
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
        let (bytes, number, closed) = (start..end, self.number, left == 0);
        Some(Frame { bytes, number, closed, at_end: false, lost: None, arrays, odd, left })
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
            (Token::Comma, _) => Label::Due,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of three bytes at a time meets every border between chunks.
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

    /// What is found, in words: `=` a record, `<` a document, `-` an element; `…` at the file's end.
    fn cut(layout: Layout, text: &str) -> Vec<String> {
        let part = |r: Range<u64>| &text.as_bytes()[r.start as usize..r.end as usize];
        let run = |open: &Open<'_>| {
            let mut all = Vec::new();
            split(layout, "k", text.len() as u64, 1000, open, &mut |found| {
                let (mark, number, bytes, end) = match found {
                    Found::Record(p) => ('=', p.number, p.body, p.at_end),
                    Found::Document(f, body) => ('<', f.number, body, f.at_end),
                    Found::Element(p) => ('-', p.number, p.body, p.at_end),
                };
                let bytes = String::from_utf8(bytes.unwrap()).unwrap();
                all.push(format!("{mark}{number} {bytes}{}", if end { "…" } else { "" }));
                ControlFlow::Continue(())
            })
            .unwrap();
            all
        };
        let all = run(&|r| Box::new(part(r)));
        assert_eq!(all, run(&|r| Box::new(Slow(part(r)))));
        all
    }

    #[test]
    fn elements_and_what_stands_around_them() {
        let text = r#"{"a":{"k":[9,9]},"k" : [ {"x":"]\""}, [2,3] ],"b":"k"}"#;
        let want = [r#"<1 {"a":{"k":[9,9]},"k" : [],"b":"k"}"#, r#"-1 {"x":"]\""}"#, "-2 [2,3]"];
        assert_eq!(cut(Layout::Document, text), want);
        assert_eq!(cut(Layout::Elements, &format!("[ {text} ]")), want);
        let two = cut(Layout::Values, &format!("{text}\n\n{text}"));
        assert_eq!(two[..3], want);
        assert_eq!(two[3], want[0].replace("<1", "<2"));
    }

    #[test]
    fn what_has_no_list_under_the_key_is_a_record() {
        for text in [
            r#"{"k":{"k":[1,2]}}"#,
            r#"{"kk":[1,2],"\"k":[1,2]}"#,
            r#"["k",[1,2]]"#,
            r#"{"k":[1]}"#,
        ] {
            assert_eq!(cut(Layout::Document, text), [format!("=1 {text}")], "{text}");
        }
    }

    #[test]
    fn lines_end_whatever_is_open() {
        let text = "\n{\"k\":[1,{\"cut\":\"\n{\"k\":[1,2],\"b\":3}\r\n{\"k\":[1,\n7";
        let want = [
            "<2 {\"k\":[]",
            "-1 1",
            "-2 {\"cut\":\"",
            "<3 {\"k\":[],\"b\":3}\r",
            "-1 1",
            "-2 2",
            "<4 {\"k\":[]",
            "-1 1",
            "-2 ",
            "=5 7…",
        ];
        assert_eq!(cut(Layout::Lines, text), want);
    }

    #[test]
    fn the_file_may_end_anywhere() {
        assert_eq!(
            cut(Layout::Document, r#"{"k":[1,{"a"#),
            [r#"<1 {"k":[]…"#, "-1 1", r#"-2 {"a…"#]
        );
        assert_eq!(cut(Layout::Document, r#"{"k":[{}],"b"#), [r#"<1 {"k":[],"b…"#, "-1 {}"]);
        assert_eq!(cut(Layout::Document, r#"{"k":["#), [r#"<1 {"k":[]…"#, "-1 …"]);
        assert_eq!(cut(Layout::Document, r#"{"k"#), [r#"=1 {"k…"#]);
        assert_eq!(cut(Layout::Document, ""), [""; 0]);
    }

    #[test]
    fn of_a_repeated_key_the_last_list_counts() {
        let text = r#"{"k":[1,2],"k":[3,4]}"#;
        assert_eq!(cut(Layout::Document, text), [r#"<1 {"k":[],"k":[]}"#, "-1 3", "-2 4"]);
    }
}
