//! The splitter for records of columns: chunks and a sink that stops change nothing, rows stand within
//! their record, and `serde_json` sees the same cells and the reader the same rollouts.

use std::io::Read;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use credscope::ingest::sheet::Sheet;
use credscope::ingest::split::LIMIT;
use credscope::ingest::survey::Found;
use credscope::ingest::{Context, Layout, by_id, columns};
use serde_json::{Map, Value};

use super::splitters::{Slow, without_mark};

/// What is found in an input that is read in chunks of some size; at most `most` of it.
fn cut(layout: Layout, input: &[u8], (limit, chunk, most): (usize, usize, usize)) -> Vec<Found> {
    let open = |part: Range<u64>| -> Box<dyn Read + '_> {
        let part = usize::try_from(part.start).unwrap()..usize::try_from(part.end).unwrap();
        Box::new(Slow(&input[part], chunk))
    };
    let format = by_id("roll").unwrap().columnar().unwrap();
    let mut all = Vec::new();
    columns::split(layout, format, input.len() as u64, limit, &open, &mut |found| {
        all.push(found);
        if all.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .unwrap();
    all
}

/// What is found in a whole input, after all that must hold for it was checked.
pub fn found(layout: Layout, input: &[u8], limit: usize) -> Vec<Found> {
    let all = cut(layout, input, (limit, usize::MAX, usize::MAX));
    let (mut end, mut number) = (0, 0);
    let mut sheet: Option<(&Arc<Sheet>, u64)> = None;
    for found in &all {
        match found {
            Found::Record(piece) => {
                let body = piece.body.as_ref();
                let start = usize::try_from(piece.offset).unwrap();
                if let Ok(body) = body {
                    assert_eq!(&input[start..start + body.len()], &body[..]);
                }
                assert!(piece.offset >= end && piece.number > number);
                let len = body.map_or_else(|len| *len, |b| b.len() as u64);
                // What is torn is told with its size.
                let len = piece.fault.map_or(len, |fault| fault.bytes);
                (end, number, sheet) = (piece.offset + len, piece.number, None);
            }
            Found::Sheet(next) => {
                assert!(next.bytes.start >= end && next.number > number);
                // Of one row only where that is not all of the record.
                assert!(next.rows > 1 || next.rows == 1 && next.lost.is_some());
                (end, number, sheet) = (next.bytes.end, next.number, Some((next, 0)));
            }
            Found::Element(row) => {
                let (sheet_of, before) = sheet.expect("a row follows its record");
                assert_eq!((row.offset, row.number), (sheet_of.bytes.start, before + 1));
                let len = row.body.as_ref().map_or(0, Vec::len);
                assert!(len <= limit && row.number <= sheet_of.rows as u64);
                sheet = Some((sheet_of, row.number));
            }
            Found::Document(..) => panic!("no key was asked for"),
        }
        assert!(end <= input.len() as u64, "something ends after the input");
    }
    all
}

/// An input in all forms, beside the whole record where it is one.
pub fn target(data: &[u8]) {
    super::splitters::columns(data);
    for layout in [Layout::Lines, Layout::Values, Layout::Document] {
        for limit in [LIMIT, 64] {
            let all = found(layout, data, limit);
            for chunk in [1, 5] {
                let slow = cut(layout, data, (limit, chunk, usize::MAX));
                assert_eq!(slow, all, "chunks of {chunk}");
            }
            for most in [1, 2, 3] {
                let first = cut(layout, data, (limit, usize::MAX, most));
                assert_eq!(first, all[..all.len().min(most)], "the sink said stop");
            }
        }
    }
    let all = found(Layout::Document, data, LIMIT);
    if let [Found::Sheet(sheet), rows @ ..] = &all[..] {
        beside_the_whole(without_mark(data), sheet, rows);
    }
}

/// One record: its rows are those of the record that is read as a whole, and of `serde_json`.
fn beside_the_whole(input: &[u8], sheet: &Arc<Sheet>, rows: &[Found]) {
    let row = |found: &Found| match found {
        Found::Element(row) => row.body.clone().unwrap(),
        other => panic!("{other:?} among rows"),
    };
    // Something stands behind the record.
    if rows.iter().any(|r| !matches!(r, Found::Element(_))) {
        return;
    }
    let rows: Vec<Vec<u8>> = rows.iter().map(row).collect();
    let Ok(text) = std::str::from_utf8(input) else { return };
    let parts = by_id("roll").unwrap().parse(text, &Context::default());
    let Ok(parts) = parts else { return };
    assert_eq!(parts.len(), rows.len());
    for (at, (mut part, row)) in parts.into_iter().zip(&rows).enumerate() {
        let row = std::str::from_utf8(row).unwrap();
        let alone = sheet.document.part(row, at, &Context::default());
        if let (0, Ok(raw)) = (at, &mut part.rollout) {
            // What is odd about the columns stands with the record, where there is one.
            raw.notes.truncate(raw.notes.len() - sheet.notes.len());
        }
        assert_eq!((alone.rollout, alone.digest), (part.rollout, part.digest));
    }
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(text) else { return };
    for (at, row) in rows.iter().enumerate() {
        let Ok(row) = serde_json::from_slice::<Map<String, Value>>(row) else { continue };
        for (name, cell) in &row {
            assert_eq!(object[name].as_array().and_then(|column| column.get(at)), Some(cell));
        }
    }
}
