//! Cuts documents whose rollouts are the elements of one array under a known key.
//!
//! A document is scanned once for where that array is and where the document ends; then what stands
//! outside of the elements (the frame) is handed over, and the elements one by one. So it does not
//! matter whether the rest of the document comes before or after them, and nothing but the frame and
//! one element is held. The scan knows keys and brackets; what they mean is the reader's business.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::elements;
use super::follow::Survey;
use super::holes;
pub use super::outline::{Frame, Lost, Open};
use super::reader::Layout;
use super::repair;
use super::scan;
use super::sheet::Sheet;
use super::split::{self, Fault, Piece, Reach, Scanner};
use super::tears::begins::first_key;
pub use super::tears::document::Keyed;
use super::tears::document::{Reading, Tear, Torn};
use super::tears::held::Outer;

/// What is found on the way.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// A record without elements under the key, or with at most one.
    Record(Piece),
    /// A document; its elements follow.
    Document(Frame, Result<Vec<u8>, u64>),
    /// A record of columns ([`super::columns`]); its rows follow as elements.
    Sheet(Arc<Sheet>),
    /// An element of the document, or a row of the record, that was found last, numbered from 1.
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
                    if let Pass::Over(next) = self.take(frame, survey.lines, sink)? {
                        return Ok(next);
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
            if let Pass::Over(next) = self.take(frame, true, sink)? {
                return Ok(next);
            }
        }
        Ok(None)
    }

    /// Hands over a record, torn or not; with `cut` one that is not closed may be torn.
    fn take(&self, frame: Frame, cut: bool, sink: &mut Sink<'_>) -> io::Result<Pass> {
        let number = frame.number;
        let (go_on, next) = if frame.hole && self.blurred(&frame)? {
            (self.record(frame, sink)?, None)
        } else if frame.odd.is_some() || cut && !frame.closed {
            self.torn(frame, sink)?
        } else {
            (self.hand_over(frame, sink)?, None)
        };
        if go_on.is_break() {
            return Ok(Pass::Over(None));
        }
        Ok(match next.filter(|_| self.layout != Layout::Lines) {
            Some(next) => Pass::Over((next < self.len).then_some((next, number))),
            None => Pass::On,
        })
    }

    /// Whether the elements of a document with a block of NUL bytes may be those of two documents, or lack
    /// what all of them take from their document. Where the list goes on behind it they are of one list.
    fn blurred(&self, frame: &Frame) -> io::Result<bool> {
        let Some(list) = frame.elements().filter(|_| self.layout == Layout::Document) else {
            return Ok(true);
        };
        let text = frame.text(self.limit, self.open)?.unwrap_or_default();
        if self.keyed.shared.iter().all(|key| scan::may_name(&text, key)) {
            return Ok(false);
        }
        let (mut key, mut met, mut goes_on) = (None, false, true);
        self.values(list, &mut |piece| {
            let own = piece.body.unwrap_or_default();
            let hole = holes::any(&own);
            let like = first_key(&own).map(<[u8]>::to_vec);
            (met, goes_on) = (met || hole, !hole && (!met || goes_on || like == key));
            key = key.take().or(like);
            ControlFlow::Continue(())
        })?;
        Ok(!goes_on)
    }

    /// Hands over what can be read of a document that may be torn; where it ends, if that was another
    /// place than it seemed.
    fn torn(
        &self,
        frame: Frame,
        sink: &mut Sink<'_>,
    ) -> io::Result<(ControlFlow<()>, Option<u64>)> {
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
            let body = self.body(place)?;
            let piece = Piece { offset, number, body, at_end: false, fault: None };
            if sink(Found::Element(piece)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The bytes of a record, or their number where it is over the limit.
    fn body(&self, place: Range<u64>) -> io::Result<Result<Vec<u8>, u64>> {
        let len = place.end - place.start;
        if len > self.limit as u64 {
            return Ok(Err(len));
        }
        let mut bytes = Vec::with_capacity(len as usize);
        (self.open)(place).read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    }

    fn values(&self, list: Range<u64>, sink: &mut split::Sink<'_>) -> io::Result<()> {
        let size = (list.end - list.start).min(1 << 20) as usize;
        let input = BufReader::with_capacity(size, (self.open)(list.clone()));
        elements::values(input, list.start, 1, self.limit, sink)
    }

    fn record(&self, frame: Frame, sink: &mut Sink<'_>) -> io::Result<ControlFlow<()>> {
        let start = frame.bytes.start;
        let body = self.body(frame.bytes)?;
        let piece = split::piece(start, frame.number, body, frame.at_end);
        Ok(piece.map_or(ControlFlow::Continue(()), |p| sink(Found::Record(p))))
    }

    fn hand_over(&self, frame: Frame, sink: &mut Sink<'_>) -> io::Result<ControlFlow<()>> {
        let Some(list) = frame.elements() else { return self.record(frame, sink) };
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

/// Whether a pass goes on behind a record.
enum Pass {
    On,
    /// It is over: another one goes on there, or nothing does.
    Over(Next),
}

/// Where another pass begins, and the number of the last record before.
type Next = Option<(u64, u64)>;

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
                    Found::Sheet(_) => panic!("no format of columns was asked for"),
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
