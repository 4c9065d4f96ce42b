//! The splitter for documents whose rollouts are the elements of one array under a key: what it finds
//! lies in order within the input, elements within their document, and `serde_json` sees the same.

use std::io::Read;
use std::ops::{ControlFlow, Range};

use credscope::ingest::Layout;
use credscope::ingest::split::LIMIT;
use credscope::ingest::survey::{Found, Frame, split};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::splitters::{Slow, rises, without_mark};

/// What is found in an input that is read in chunks of some size; at most `most` of it.
fn cut(
    layout: Layout,
    key: &'static str,
    input: &[u8],
    (limit, chunk, most): (usize, usize, usize),
) -> Vec<Found> {
    let open = |part: Range<u64>| -> Box<dyn Read + '_> {
        let part = usize::try_from(part.start).unwrap()..usize::try_from(part.end).unwrap();
        Box::new(Slow(&input[part], chunk))
    };
    let mut all = Vec::new();
    split(layout, key, input.len() as u64, limit, &open, &mut |found| {
        all.push(found);
        if all.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .unwrap();
    all
}

/// What is found in a whole input, after all that must hold for it was checked.
pub fn found(layout: Layout, key: &'static str, input: &[u8], limit: usize) -> Vec<Found> {
    let all = cut(layout, key, input, (limit, usize::MAX, usize::MAX));
    let (mut end, mut number) = (0, 0);
    let mut document: Option<(&Frame, u64, u64)> = None;
    let mut torn = false;
    for found in &all {
        match found {
            Found::Record(piece) => {
                let body = piece.body.as_ref();
                let len = body.map_or_else(|len| *len, |b| b.len() as u64);
                same_bytes(input, piece.offset, body.ok());
                assert!(piece.offset >= end && piece.number > number);
                (end, number, document) = (piece.offset + len, piece.number, None);
            }
            Found::Document(frame, text) => {
                assert!(frame.bytes.start >= end && frame.number > number);
                (end, number) = (frame.bytes.end, frame.number);
                let len = text.as_ref().map_or_else(|len| *len, |t| t.len() as u64);
                assert!(len <= frame.bytes.end - frame.bytes.start + 1, "a frame of {len} bytes");
                (document, torn) = (Some((frame, frame.bytes.start, 0)), false);
            }
            Found::Sheet(_) => panic!("no format of columns was asked for"),
            Found::Element(piece) => {
                let (frame, from, before) = document.expect("an element follows its document");
                // What is nothing but white space that JSON does not know counts, and is not told.
                assert!(rises(piece, before, torn));
                let body = piece.body.as_ref();
                let len = body.map_or_else(|len| *len, |b| b.len() as u64);
                same_bytes(input, piece.offset, body.ok());
                assert!(piece.offset >= from && piece.offset + len <= frame.bytes.end);
                torn = piece.fault.is_some();
                document = Some((frame, piece.offset + len, piece.number));
            }
        }
        assert!(end <= input.len() as u64, "something ends after the input");
    }
    all
}

fn same_bytes(input: &[u8], offset: u64, body: Option<&Vec<u8>>) {
    let start = usize::try_from(offset).unwrap();
    if let Some(body) = body {
        assert_eq!(&input[start..start + body.len()], &body[..]);
    }
}

/// The first byte says what the outermost form is, how large chunks are and how long a record may be.
pub fn target(data: &[u8]) {
    const LAYOUTS: [Layout; 4] =
        [Layout::Document, Layout::Lines, Layout::Values, Layout::Elements];
    const KEY: &str = "rollouts";
    let Some((&how, input)) = data.split_first() else { return };
    let layout = LAYOUTS[usize::from(how & 3)];
    let chunk = usize::from((how >> 2) & 7) + 1;
    let limit = if how < 192 { LIMIT } else { 8 << ((how >> 5) & 1) };
    let all = found(layout, KEY, input, limit);
    assert_eq!(cut(layout, KEY, input, (limit, chunk, usize::MAX)), all, "chunks of {chunk}");
    for most in [1, 2, 3] {
        let first = cut(layout, KEY, input, (limit, usize::MAX, most));
        assert_eq!(first, all[..all.len().min(most)], "the sink said stop");
    }
    if layout == Layout::Document && limit == LIMIT {
        beside_serde(&all, without_mark(input), KEY);
    }
}

/// A document that is JSON: its elements are those of the array, and the frame is all the rest.
fn beside_serde(all: &[Found], input: &[u8], key: &str) {
    let Ok(mut object) = serde_json::from_slice::<Map<String, Value>>(input) else { return };
    match all {
        [Found::Record(piece)] => {
            assert_eq!(piece.body.as_ref().unwrap(), input.trim_ascii());
            let elements = object.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            assert!(elements < 2 || repeated(input, key));
        }
        [Found::Document(frame, text), elements @ ..] => {
            assert!(frame.closed && frame.elements_end());
            let text = text.as_ref().unwrap();
            let around: Map<String, Value> = serde_json::from_slice(text).expect("a frame is JSON");
            if repeated(input, key) {
                return;
            }
            let array: Vec<Value> = match object.insert(key.to_owned(), Value::Array(Vec::new())) {
                Some(Value::Array(array)) => array,
                other => panic!("cut into the elements of {other:?}"),
            };
            assert_eq!(around, object);
            let read = |found: &Found| match found {
                Found::Element(piece) => {
                    serde_json::from_slice::<Value>(piece.body.as_ref().unwrap()).unwrap()
                }
                other => panic!("{other:?} among elements"),
            };
            assert_eq!(elements.iter().map(read).collect::<Vec<_>>(), array);
        }
        other => panic!("one document is {other:?}"),
    }
}

/// Whether the key stands in the input more than once, or in a spelling that only JSON knows.
fn repeated(input: &[u8], key: &str) -> bool {
    let Ok(pairs) = serde_json::from_slice::<Pairs>(input) else { return true };
    pairs.0.iter().filter(|(name, _)| name == key).count() != 1
        || !String::from_utf8_lossy(input).contains(&format!("\"{key}\""))
}

/// The entries of an object as they stand, repeated ones too.
struct Pairs(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> serde::de::Visitor<'de> for All {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(All)
    }
}
