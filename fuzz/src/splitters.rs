//! Splitters: every record lies within the input, in order, apart from the others, and nothing but
//! punctuation is left out; the size of chunks changes nothing; `serde_json` sees the same records.

use std::io::{self, Read};
use std::ops::ControlFlow;

use credscope::ingest::split::{LIMIT, Piece, split};
use credscope::ingest::{Context, Layout, by_id};
use serde_json::value::RawValue;

/// A reader that gives a few bytes at a time.
pub struct Slow<'a>(pub &'a [u8], pub usize);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.len().min(buf.len()).min(self.1);
        let (now, later) = self.0.split_at(n);
        buf[..n].copy_from_slice(now);
        self.0 = later;
        Ok(n)
    }
}

/// The records of an input that is read in chunks of some size; at most `most` of them.
fn cut(layout: Layout, input: impl Read, limit: usize, most: usize) -> Vec<Piece> {
    let mut all = Vec::new();
    split(layout, input, limit, &mut |piece| {
        all.push(piece);
        if all.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .unwrap();
    all
}

/// The records of a whole input, after all that must hold for them was checked.
pub fn pieces(layout: Layout, input: &[u8], limit: usize) -> Vec<Piece> {
    let all = cut(layout, input, limit, usize::MAX);
    let (mut end, mut number, mut torn) = (0, 0, false);
    let mut left_out = Vec::new();
    for (at, piece) in all.iter().enumerate() {
        let start = usize::try_from(piece.offset).unwrap();
        assert!(start >= end, "record {at} begins within the one before it");
        assert!(
            rises(piece, number, torn),
            "record {at} is numbered {} after {number}",
            piece.number
        );
        assert!(!piece.at_end || at + 1 == all.len(), "only the last record ends with the file");
        (number, torn) = (piece.number, piece.fault.is_some());
        left_out.extend_from_slice(&input[end..start]);
        end = match &piece.body {
            // What is torn is told with its size; the body is how it begins.
            body if piece.fault.is_some() => {
                let bytes = piece.fault.map_or(0, |fault| fault.bytes);
                let body = body.as_deref().unwrap_or_default();
                assert!(body.len() <= limit && body.len() as u64 <= bytes);
                assert_eq!(&input[start..start + body.len()], body);
                start + usize::try_from(bytes).unwrap()
            }
            Ok(body) => {
                assert!(body.len() <= limit);
                // Of a list that is cut before an element nothing is there.
                assert!(!body.is_empty() || (piece.at_end && layout == Layout::Elements));
                assert_eq!(body.trim_ascii(), &body[..], "white space around a record");
                assert_eq!(&input[start..start + body.len()], &body[..]);
                start + body.len()
            }
            Err(len) => {
                assert!(*len > limit as u64, "{len} is not over the limit");
                start + usize::try_from(*len).unwrap()
            }
        };
        assert!(end <= input.len(), "record {at} ends after the input");
    }
    left_out.extend_from_slice(&input[end..]);
    nothing_lost(layout, left_out.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&left_out));
    all
}

/// Whether a record is numbered behind the one before it. What is torn between two records (`torn`) is none:
/// it is told with the number of the one that follows.
pub fn rises(piece: &Piece, before: u64, torn: bool) -> bool {
    piece.number > before || torn && piece.number == before
}

fn nothing_lost(layout: Layout, left_out: &[u8]) {
    let plain = |b: &u8| match layout {
        Layout::Lines | Layout::Document => b.is_ascii_whitespace(),
        Layout::Elements | Layout::Values => b.is_ascii_whitespace() || b"[]{},".contains(b),
    };
    assert!(left_out.iter().all(plain), "lost: {:?}", String::from_utf8_lossy(left_out));
}

/// The first byte of the data says how large chunks are and how long a record may be.
fn check(layout: Layout, data: &[u8]) -> Option<(Vec<Piece>, &[u8])> {
    let (&how, input) = data.split_first()?;
    let chunk = usize::from(how & 15) + 1;
    let limit = if how < 128 { LIMIT } else { 8 << ((how >> 4) & 7) };
    let all = pieces(layout, input, limit);
    assert_eq!(cut(layout, Slow(input, chunk), limit, usize::MAX), all, "chunks of {chunk}");
    let first = cut(layout, input, limit, 1);
    assert_eq!(first, all[..all.len().min(1)], "the sink said stop");
    (limit == LIMIT).then_some((all, input))
}

fn bodies(pieces: &[Piece]) -> Vec<&[u8]> {
    pieces.iter().map(|p| &p.body.as_ref().unwrap()[..]).collect()
}

pub fn without_mark(input: &[u8]) -> &[u8] {
    input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input)
}

/// Lines, beside the standard library's way to cut them.
pub fn lines(data: &[u8]) {
    let Some((all, input)) = check(Layout::Lines, data) else { return };
    let lines = without_mark(input).split(|&b| b == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let (numbers, lines): (Vec<u64>, Vec<&[u8]>) =
        lines.filter(|(_, l)| !l.is_empty()).map(|(at, l)| (at as u64 + 1, l)).unzip();
    assert_eq!(bodies(&all), lines);
    assert_eq!(all.iter().map(|p| p.number).collect::<Vec<_>>(), numbers);
}

/// Elements, beside `serde_json`'s where the input is an array.
pub fn elements(data: &[u8]) {
    let Some((all, input)) = check(Layout::Elements, data) else { return };
    let input = without_mark(input);
    if let Ok(array) = serde_json::from_slice::<Vec<&RawValue>>(input) {
        let array: Vec<&[u8]> = array.into_iter().map(|v| v.get().as_bytes()).collect();
        assert_eq!(bodies(&all), array);
    }
}

/// Values, beside `serde_json`'s where the input is nothing but objects and arrays.
pub fn values(data: &[u8]) {
    let Some((all, input)) = check(Layout::Values, data) else { return };
    let stream = serde_json::Deserializer::from_slice(without_mark(input));
    let Ok(values) = stream.into_iter::<&RawValue>().collect::<Result<Vec<_>, _>>() else { return };
    if values.iter().all(|v| v.get().starts_with(['{', '['])) {
        let values: Vec<&[u8]> = values.into_iter().map(|v| v.get().as_bytes()).collect();
        assert_eq!(bodies(&all), values);
    }
}

/// A document is one record, whatever it is.
pub fn document(data: &[u8]) {
    let Some((all, input)) = check(Layout::Document, data) else { return };
    let whole = without_mark(input).trim_ascii();
    assert_eq!(bodies(&all), [whole].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>());
}

/// Columns: as many rollouts as the longest array is long, each the same when it alone is asked for.
pub fn columns(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let reader = by_id("roll").unwrap();
    let Ok(parts) = reader.parse(text, &Context::default()) else { return };
    let object: serde_json::Map<String, serde_json::Value> = match serde_json::from_str(text) {
        Ok(object) => object,
        // Values that serde_json refuses only when it makes numbers and texts of them.
        Err(_) => return,
    };
    // Rows that a column lacks are lost, one by one.
    let columns = object.values().filter_map(serde_json::Value::as_array);
    assert!(columns.map(Vec::len).max() >= Some(parts.len()));
    for (at, part) in parts.iter().enumerate().take(4) {
        let context = Context { only: Some(at as u32), ..Context::default() };
        let alone = reader.parse(text, &context).unwrap();
        assert_eq!(alone.len(), parts.len());
        assert_eq!((&alone[at].rollout, alone[at].digest), (&part.rollout, part.digest));
    }
}
