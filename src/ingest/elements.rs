//! Cuts off the values of an array, or values that stand one after the other, and finds its way back
//! where a quote or a bracket is missing.
//!
//! A missing quote turns texts and what is between them inside out, up to the end of the file. It shows
//! where a text runs over the end of a line, where something follows the array's end, or where two
//! values have no comma between them. Where elements begin on lines of their own, the next line that
//! begins like those before is the next element: what is between is lost, and told. Where they do not,
//! nothing behind the fault is cut: a wrong cut could be read as something that is not there.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use super::repair;
use super::split::{Body, Fault, Piece, Reach, Scanner, Sink, Token, piece};
use super::tears::begins::{Begins, first_key, key};
use super::tears::order::Order;

/// Pieces that wait for the end of their line hold at most this much.
const WAITING: usize = 64 << 20;

/// Cuts off the values at depth `base`. An array that is not closed has one more value, which is cut:
/// an empty one where nothing of it is there.
pub(super) fn values(
    mut input: impl BufRead,
    mut at: u64,
    base: usize,
    limit: usize,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let mut cutter = Cutter::new(base, limit, at);
    loop {
        let chunk = input.fill_buf()?;
        let len = chunk.len();
        if len == 0 {
            break;
        }
        // Where the open value starts in this chunk; 0 when it came over from the last one.
        let (mut from, mut next) = (0, 0);
        while let Some(&byte) = chunk.get(next) {
            let was_open = cutter.open;
            let step = cutter.step(byte, at + next as u64);
            if !was_open && cutter.open {
                from = next;
            }
            let end = match step {
                Step::Last | Step::Again => Some(next + 1),
                Step::Before => Some(next),
                Step::Inside | Step::Outside => None,
            };
            if let Some(end) = end {
                cutter.body.push(chunk.get(from..end).unwrap_or_default(), limit);
            }
            let go_on = match step {
                Step::Last | Step::Before => cutter.close(),
                Step::Again => {
                    from = next + 1;
                    cutter.again(at + next as u64 + 1, sink)
                }
                Step::Inside | Step::Outside => ControlFlow::Continue(()),
            };
            if go_on.is_break() || cutter.settle(byte, sink).is_break() {
                return Ok(());
            }
            next += 1;
            next += cutter.plain(chunk.get(next..).unwrap_or_default());
        }
        if cutter.open {
            cutter.body.push(chunk.get(from..).unwrap_or_default(), limit);
        }
        cutter.ends_with(chunk);
        input.consume(len);
        at += len as u64;
    }
    cutter.finish(at, sink);
    Ok(())
}

/// What a byte is to the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Between values.
    Outside,
    /// The byte belongs to a value.
    Inside,
    /// The byte is the last of a value.
    Last,
    /// The value ended before this byte.
    Before,
    /// With this byte a line has begun like the elements before, and none was due.
    Again,
}

/// Where a value begins.
#[derive(Debug, Clone, Copy)]
struct Start {
    offset: u64,
    number: u64,
}

/// How far the values since the last sure one can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Sure,
    /// A text ran over the end of a line, an escape stands outside of texts, or something follows the
    /// array's end.
    Doubt,
    /// Two values have no comma between them, or nothing opened a bracket: one of them is no value.
    Stray,
}

/// What speaks for the values that wait.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    /// A comma was before the open value.
    comma: bool,
    /// The open value is a text.
    text: bool,
    /// The line has ended on which the last of them ends.
    line_ended: bool,
}

struct Cutter {
    scanner: Scanner,
    base: usize,
    limit: usize,
    begins: Begins,
    body: Body,
    /// A value is open at the base depth.
    open: bool,
    start: Start,
    /// Values that are cut off but not handed over: the line may yet turn out to be torn.
    waiting: Vec<Piece>,
    held: usize,
    /// Where the last one ends that was handed over.
    done: u64,
    /// The first value that may be torn.
    first: Option<Start>,
    trust: Trust,
    /// The array is closed.
    ended: bool,
    /// Where something stands behind its end.
    behind: Option<u64>,
    /// Where a line ends it, whatever the quotes and brackets before say, and nothing follows.
    end_line: Option<u64>,
    /// A comma, or the beginning, is before the next value.
    due: bool,
    signs: Signs,
    /// How things follow each other in the open value.
    order: Order,
    /// The last two bytes that are no white space.
    last: [u8; 2],
}

impl Cutter {
    fn new(base: usize, limit: usize, at: u64) -> Self {
        Self {
            scanner: Scanner::default(),
            base,
            limit,
            begins: Begins::default(),
            body: Body::default(),
            open: false,
            start: Start { offset: at, number: 0 },
            waiting: Vec::new(),
            held: 0,
            done: 0,
            first: None,
            trust: Trust::Sure,
            ended: false,
            behind: None,
            end_line: None,
            due: true,
            signs: Signs::default(),
            order: Order::default(),
            last: [0; 2],
        }
    }

    /// How many of the bytes that follow change nothing.
    fn plain(&self, rest: &[u8]) -> usize {
        let each = self.begins.alive() || self.end_line.is_some();
        if each { 0 } else { self.scanner.plain(rest, true) }
    }

    fn ends_with(&mut self, chunk: &[u8]) {
        let mut bytes = chunk.iter().rev().filter(|b| !b.is_ascii_whitespace());
        self.last = match (bytes.next(), bytes.next()) {
            (Some(&last), Some(&before)) => [before, last],
            (Some(&last), None) => [self.last[1], last],
            (None, _) => return,
        };
    }

    fn step(&mut self, byte: u8, at: u64) -> Step {
        let was_open = self.open;
        let token = self.scanner.step(byte);
        if self.ended && token != Token::Space {
            self.doubt();
            self.behind = self.behind.or(Some(at));
        }
        let step = self.place(token);
        if !was_open && self.open {
            self.opens(byte, at);
        }
        if self.open {
            self.order.step(token, byte, self.scanner.string);
        }
        if token == Token::Colon && self.base > 0 && self.scanner.depth == self.base {
            // A list has no keys: a bracket before is missing or too many.
            self.trust = Trust::Stray;
        }
        if byte == b'\n' && self.scanner.string || byte == b'\\' && !self.scanner.string {
            self.doubt();
        }
        if self.begins.ends(byte) {
            self.end_line = Some(at);
        } else if !byte.is_ascii_whitespace() {
            self.end_line = None;
        }
        let Some(brace) = self.begins.step(byte, at) else { return step };
        let fits = self.open
            && self.start.offset == brace
            && self.scanner.depth == self.base + 1
            && !self.scanner.string;
        // Within a value in which a bracket is lost the next one seems to be.
        let sure = self.trust == Trust::Sure && !self.order.broken;
        if fits && self.trust != Trust::Stray && self.begins.learn(sure) {
            (self.trust, self.ended, self.behind) = (Trust::Sure, false, None);
        } else if sure {
            self.begins.within();
        } else if self.begins.known() {
            return Step::Again;
        }
        step
    }

    fn place(&mut self, token: Token) -> Step {
        let (depth, base) = (self.scanner.depth, self.base);
        match (token, depth) {
            (Token::Open, depth) if depth <= base => Step::Outside,
            (Token::Close, depth) if depth == base && self.open => Step::Last,
            (Token::Close, depth) if depth < base => {
                self.ended = true;
                self.before()
            }
            (Token::Close, 0) => {
                // A bracket that nothing opened.
                self.trust = Trust::Stray;
                Step::Inside
            }
            (Token::Close, _) => Step::Inside,
            // At the depth of values, and before the array that holds them.
            (Token::Comma | Token::Space, depth) if depth <= base => {
                let step = self.before();
                self.due |= token == Token::Comma;
                step
            }
            _ => {
                self.open = true;
                Step::Inside
            }
        }
    }

    const fn before(&self) -> Step {
        if self.open { Step::Before } else { Step::Outside }
    }

    fn doubt(&mut self) {
        if self.trust == Trust::Sure {
            self.trust = Trust::Doubt;
        }
    }

    fn opens(&mut self, byte: u8, at: u64) {
        // An object after another one only lacks its comma, and none is due between values.
        let begins = match byte {
            b'{' => true,
            b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'N' | b'I' => self.base == 0,
            _ => false,
        };
        if !self.due && !begins {
            self.trust = Trust::Stray;
        }
        (self.signs.comma, self.signs.text) = (self.due, byte == b'"');
        self.due = false;
        self.order = Order::default();
        self.start = Start { offset: at, number: self.start.number + 1 };
        self.first = self.first.or(Some(self.start));
    }

    /// The open value has ended.
    fn close(&mut self) -> ControlFlow<()> {
        (self.open, self.signs.line_ended) = (false, false);
        let body = self.body.take(self.limit);
        self.held += body.as_ref().map_or(0, Vec::len);
        match piece(self.start.offset, self.start.number, body, false) {
            Some(piece) => self.waiting.push(piece),
            // Of what is blank nothing can be lost.
            None => self.first = self.first.filter(|first| first.offset != self.start.offset),
        }
        ControlFlow::Continue(())
    }

    /// Hands over what waits, where nothing speaks against it any more.
    fn settle(&mut self, byte: u8, sink: &mut Sink<'_>) -> ControlFlow<()> {
        if self.trust == Trust::Doubt && self.held > WAITING {
            self.trust = Trust::Sure;
        }
        if self.trust != Trust::Sure || self.ended {
            return ControlFlow::Continue(());
        }
        let by_line = self.begins.any() && self.held <= WAITING;
        let line_end = byte == b'\n' && !self.scanner.string;
        self.signs.line_ended |= line_end;
        let sure = match (self.waiting.is_empty(), by_line) {
            (true, by_line) => by_line && line_end,
            (false, true) => self.signs.line_ended && self.followed(true),
            (false, false) => self.followed(false),
        };
        if sure {
            self.first = self.open.then_some(self.start);
            return self.hand_over(sink);
        }
        ControlFlow::Continue(())
    }

    /// Whether what follows the values that wait lets them be whole: the next one, or with `end` what is
    /// none. A key there says that a bracket too many has ended the last one early.
    fn followed(&self, end: bool) -> bool {
        let object = || {
            let body = self.waiting.last().and_then(|piece| piece.body.as_ref().ok());
            body.is_some_and(|body| body.starts_with(b"{"))
        };
        match (self.base, self.open) {
            (0, true) => true,
            (0, false) => self.due || end,
            (_, true) => (self.signs.comma || end) && !(self.signs.text && object()),
            (_, false) => end && !self.due,
        }
    }

    fn hand_over(&mut self, sink: &mut Sink<'_>) -> ControlFlow<()> {
        self.held = 0;
        for piece in self.waiting.drain(..) {
            self.done = behind(&piece);
            if sink(piece).is_break() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands over the first of those that wait, as far as they are whole, stand in the array and end before
    /// `end`: whatever is wrong is behind them.
    fn hand_over_whole(&mut self, end: u64, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let out =
            |piece: &Piece| self.behind.is_some_and(|at| piece.offset >= at) || behind(piece) > end;
        let broken = self.waiting.iter().position(|p| out(p) || !repair::whole(&p.body));
        let broken = broken.unwrap_or(self.waiting.len());
        let early = self.trust == Trust::Stray && self.ended_early(broken);
        let rest = self.waiting.split_off(broken - usize::from(early));
        let next = rest.first().map(|p| Start { offset: p.offset, number: p.number });
        if self.waiting.len() + rest.len() > 0 {
            self.first = next.or(self.open.then_some(self.start));
        }
        let go_on = self.hand_over(sink);
        self.waiting = rest;
        go_on
    }

    /// Whether the value before that one was ended early, by a bracket too many: then a key follows it that
    /// is not the first one of an object that lacks its bracket.
    fn ended_early(&self, broken: usize) -> bool {
        let waits = |at: usize| self.waiting.get(at).and_then(|piece| piece.body.as_ref().ok());
        let Some(before) = broken.checked_sub(1).and_then(waits) else { return false };
        let next = waits(broken).map_or(self.body.bytes(), Vec::as_slice);
        self.base > 0
            && before.starts_with(b"{")
            && key(next).is_some_and(|key| first_key(before) != Some(key))
    }

    /// Tells what lies between the first value in doubt and `end` as one that is lost.
    fn lose(&mut self, end: u64, reach: Reach, sink: &mut Sink<'_>) -> ControlFlow<()> {
        if self.hand_over_whole(end, sink).is_break() {
            return ControlFlow::Break(());
        }
        let mut own = self.body.take(self.limit);
        let mut number = self.start.number + 1;
        // Where the list seemed to have ended, the first key of the next element has opened a value.
        let key = self.first.take_if(|first| first.offset >= end).is_some();
        if key {
            (own, number) = (Ok(Vec::new()), number - 1);
        }
        let behind = self.behind.map(|offset| Start { offset: offset.max(self.done), number });
        let Some(first) = self.first.take().or(behind) else { return ControlFlow::Continue(()) };
        // What stands behind the end of the array is none of its values.
        let after = self.behind.is_some_and(|at| first.offset >= at);
        let (reach, end) = match (reach, self.end_line) {
            (Reach::Rest, _) if after => (Reach::After, end),
            (Reach::Rest, Some(at)) if at > first.offset => (Reach::List, at),
            _ => (reach, end),
        };
        let bytes = end.saturating_sub(first.offset);
        let mut body = self.waiting.drain(..).next().map_or(own, |before| before.body);
        match &mut body {
            Ok(body) => {
                body.truncate(bytes as usize);
                body.truncate(body.trim_ascii_end().len());
            }
            Err(len) => *len = bytes.min(*len),
        }
        (self.held, self.start.number) = (0, first.number - u64::from(key));
        let fault = Some(Fault { bytes, reach });
        let Start { offset, number } = first;
        sink(Piece { offset, number, body, at_end: reach != Reach::Next, fault })
    }

    /// Goes on with the element that has begun; `at` is behind what has been read of it.
    fn again(&mut self, at: u64, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let head = self.begins.head().to_vec();
        let offset = at - head.len() as u64;
        let go_on = self.lose(offset, Reach::Next, sink);
        self.body.push(&head, self.limit);
        self.scanner = Scanner::at(self.base + 1);
        (self.trust, self.ended, self.due, self.open) = (Trust::Sure, false, false, true);
        (self.behind, self.end_line) = (None, None);
        self.order.within();
        self.start = Start { offset, number: self.start.number + 1 };
        self.first = Some(self.start);
        go_on
    }

    /// The end of the file. Nothing follows: whether the caller wants more does not matter.
    fn finish(&mut self, at: u64, sink: &mut Sink<'_>) {
        // A file that closes its brackets within a text is not cut: a quote is missing.
        let closes = matches!(&self.last, b"}]" | b"]}" | b"]]" | b"}}" | b"\"}" | b"\"]");
        let torn = self.scanner.string && self.base > 0 && closes;
        let odd = match self.trust {
            Trust::Sure => torn,
            Trust::Doubt => {
                let whole = |piece: &Piece| repair::whole(&piece.body);
                let odd = torn || self.open || self.scanner.string || self.behind.is_some();
                odd || !self.waiting.iter().all(whole)
            }
            Trust::Stray => true,
        };
        if odd {
            // What is behind the first value in doubt cannot be told apart.
            let _ = self.lose(at, Reach::Rest, sink);
            return;
        }
        if self.hand_over(sink).is_break() {
            return;
        }
        let last = if self.open {
            piece(self.start.offset, self.start.number, self.body.take(self.limit), true)
        } else {
            let cut = self.base > 0 && self.scanner.depth >= self.base;
            let (number, body) = (self.start.number + 1, Ok(Vec::new()));
            cut.then_some(Piece { offset: at, number, body, at_end: true, fault: None })
        };
        if let Some(piece) = last {
            let _ = sink(piece);
        }
    }
}

/// Where a value ends.
fn behind(piece: &Piece) -> u64 {
    piece.offset + piece.body.as_ref().map_or_else(|len| *len, |body| body.len() as u64)
}
