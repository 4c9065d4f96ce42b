//! Readers: a file of one format is cut, read, turned into facts, and read again for its text.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use credscope::facts::Interpreter;
use credscope::ingest::split::{LIMIT, Piece};
use credscope::ingest::survey::Found;
use credscope::ingest::{
    Context, Document, Layout, Parsed, Reader, RecordError, Shape, StepText, by_id, read_document,
    read_element, read_record,
};
use credscope::profile::Profiles;
use credscope::rollout::RolloutFacts;
use credscope::rollout::raw::{RawRollout, RawStep};

use super::keyed::found;
use super::splitters::pieces;

/// Records of one input that are looked at.
const RECORDS: usize = 16;

/// Paths that name runs, tasks and attempts as the frameworks do.
const PATHS: &[&str] = &[
    "rollouts.jsonl",
    "outputs/library--lib-1b/0a0b0c0d/results.jsonl",
    "run-a/toy__toy-1/toy__toy-1.traj.json",
    "jobs/toy-add__aB3dE6g/agent/trajectory.json",
    "episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_0.json",
    "rollouts/step_3/train/all/traces.jsonl",
    "",
];

/// The built-in profiles, made once.
pub fn profiles() -> Arc<Profiles> {
    static ALL: OnceLock<Arc<Profiles>> = OnceLock::new();
    Arc::clone(ALL.get_or_init(|| Arc::new(Profiles::builtin())))
}

/// The facts of a rollout, by an interpreter that lives as long as the thread.
pub fn facts(format: &str, raw: &RawRollout) -> RolloutFacts {
    thread_local!(static KEPT: RefCell<Interpreter> = RefCell::new(Interpreter::new(profiles())));
    KEPT.with_borrow_mut(|kept| kept.read(format, raw))
}

/// Reads the data as a file of this format.
pub fn reader(format: &str, data: &[u8]) {
    let reader = by_id(format).expect("no such reader");
    // What an archive says about its members stands before a zero byte.
    let (header, data) = match memchr(data) {
        Some(at) if format == "inspect" => (std::str::from_utf8(&data[..at]).ok(), &data[at + 1..]),
        _ => (None, data),
    };
    let path = PATHS[data.len() % PATHS.len()];
    let name = path.rsplit('/').next().unwrap_or_default();
    let shape = Shape::of(name, data, true);
    let layout = reader.layout(&shape);
    let stem = name.split('.').next().unwrap_or_default();
    let context = |piece: &Piece| Context { stem, path, number: piece.number, header, only: None };
    if reader.columnar().is_some() && layout != Layout::Elements {
        return rows(reader, super::sheets::found(layout, data, LIMIT), context);
    }
    let Some(key) = reader.elements().filter(|key| shape.any(|r| r.list(key))) else {
        for piece in pieces(layout, data, LIMIT).into_iter().take(RECORDS) {
            record(reader, piece.body.as_ref().unwrap(), &context(&piece));
        }
        return;
    };
    let mut document = None;
    for found in found(layout, key, data, LIMIT).into_iter().take(RECORDS) {
        match found {
            Found::Record(piece) => record(reader, piece.body.as_ref().unwrap(), &context(&piece)),
            Found::Document(frame, text) => {
                let opened = read_document(reader, &text.unwrap(), frame.several(), frame.closed);
                document = opened.inspect_err(complaint).ok();
                document.iter().flat_map(|d| &d.lost).for_each(complaint);
            }
            Found::Sheet(_) => panic!("no format of columns was asked for"),
            Found::Element(piece) => {
                if let Some(document) = &document {
                    element(reader, &*document.document, &piece, &context(&piece));
                }
            }
        }
    }
}

/// Records of columns, row by row.
fn rows<'c>(reader: &dyn Reader, all: Vec<Found>, context: impl Fn(&Piece) -> Context<'c>) {
    let mut document = None;
    for found in all.into_iter().take(RECORDS) {
        match found {
            Found::Record(piece) => record(reader, piece.body.as_ref().unwrap(), &context(&piece)),
            Found::Sheet(sheet) => document = Some(Arc::clone(&sheet.document)),
            Found::Element(piece) => {
                let document = document.as_deref().expect("a row follows its record");
                element(reader, document, &piece, &context(&piece));
            }
            Found::Document(..) => panic!("no key was asked for"),
        }
    }
}

/// One element of a document, read twice.
fn element(reader: &dyn Reader, document: &dyn Document, piece: &Piece, context: &Context<'_>) {
    let bytes = piece.body.as_ref().unwrap();
    let at = usize::try_from(piece.number).unwrap() - 1;
    match read_element(document, bytes, at, context) {
        Err(error) => complaint(&error),
        Ok(parsed) => {
            assert_eq!(parsed.parts.len(), 1, "an element is one rollout");
            match &parsed.parts[0].rollout {
                Ok(raw) => rollout(reader.id(), raw),
                Err(error) => complaint(error),
            }
            again(&parsed, 0, read_element(document, bytes, at, context));
        }
    }
}

fn memchr(data: &[u8]) -> Option<usize> {
    data.iter().position(|&b| b == 0)
}

/// One record: read, read again part by part, and made facts of.
fn record(reader: &dyn Reader, bytes: &[u8], context: &Context<'_>) {
    let parsed = match read_record(reader, bytes, context) {
        Ok(parsed) => parsed,
        Err(error) => {
            complaint(&error);
            assert_eq!(read_record(reader, bytes, context).map(|_| ()), Err(error));
            return;
        }
    };
    let count = parsed.parts.len();
    for (at, part) in parsed.parts.iter().enumerate() {
        match &part.rollout {
            Ok(raw) => rollout(reader.id(), raw),
            Err(error) => complaint(error),
        }
        if at < 2 || at + 1 == count {
            let only = Context { only: Some(at as u32), ..*context };
            again(&parsed, at, read_record(reader, bytes, &only));
        }
    }
}

/// A complaint says something.
fn complaint(error: &RecordError) {
    assert!(!error.reason.trim().is_empty(), "an error without a reason: {error:?}");
}

/// What a person gets who asks for the text of one part: the part as it was.
fn again(first: &Parsed, at: usize, alone: Result<Parsed, RecordError>) {
    let alone = alone.expect("a record that was read is read again");
    assert_eq!(alone.parts.len(), first.parts.len(), "parts keep their numbers");
    let (was, is) = (&first.parts[at], &alone.parts[at]);
    assert_eq!(was.rollout, is.rollout);
    // Broken text in one part has the whole record repaired, and is not looked at for another part.
    if first.repairs == alone.repairs {
        assert_eq!(was.digest, is.digest);
    } else {
        assert!(first.parts.len() > 1 && !alone.repairs.any());
    }
}

/// Numbers are finite, and facts stand for real steps, in order.
fn rollout(format: &str, raw: &RawRollout) {
    let finite = |x: Option<f64>| assert!(x.is_none_or(f64::is_finite), "{x:?}");
    finite(raw.reward.value());
    finite(raw.outcome_reward.value());
    raw.named_rewards.iter().for_each(|(_, x)| finite(Some(*x)));
    for step in &raw.steps {
        finite(step.step_reward.value());
        step.values.iter().for_each(|(_, x)| finite(Some(*x)));
        assert!(step.tokens.is_none_or(|(from, to)| from <= to), "{:?}", step.tokens);
    }
    let read = facts(format, raw);
    assert_eq!(read.raw_index.len(), read.table.steps.len());
    assert!(read.raw_index.is_sorted_by(|a, b| a < b));
    assert!(read.raw_index.last().is_none_or(|&at| (at as usize) < raw.steps.len()));
    assert!(read.coding_calls <= read.calls);
    for step in &read.table.steps {
        assert_eq!(read.table.effects_of(step).len(), (step.effects.1 - step.effects.0) as usize);
    }
    raw.steps.iter().take(8).for_each(text);
}

fn text(step: &RawStep) {
    let text = StepText::from(step.clone());
    assert_eq!(text.observation, step.observation);
}
