//! Documents with many rollouts: what such a document says is read once, and each element of its list
//! by itself, so that damage costs only the element or the entry that it is in.
//!
//! Where a document and its elements are in a file is not decided here: that is [`super::survey`].

use std::fmt::Debug;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::holes;
use super::json::{self, Object};
use super::reader::{Context, Parsed, Part, Reader, RecordError, RecordErrorKind, tolerantly};
use super::repair::{self, Repairs};
use super::scan::{self, Entry};
use crate::rollout::raw::RawRollout;

/// What a document says about all of its elements.
pub trait Document: Debug + Send + Sync {
    /// The rollout in the element with this index.
    fn element(
        &self,
        text: &str,
        at: usize,
        context: &Context<'_>,
    ) -> Result<RawRollout, RecordError>;

    /// The same with the digest that tells its copies.
    fn part(&self, text: &str, at: usize, context: &Context<'_>) -> Part {
        Part::of(text, self.element(text, at, context))
    }
}

/// The elements of a document that is at hand as a whole.
pub fn parts(
    list: &RawValue,
    document: &dyn Document,
    context: &Context<'_>,
) -> Result<Vec<Part>, RecordError> {
    let part = |(at, one): (usize, &RawValue)| {
        if context.only.is_some_and(|only| only as usize != at) {
            return Part::default();
        }
        document.part(one.get(), at, context)
    };
    Ok(json::elements(list)?.into_iter().enumerate().map(part).collect())
}

/// Reads one element that stands alone.
pub fn read_element(
    document: &dyn Document,
    bytes: &[u8],
    at: usize,
    context: &Context<'_>,
) -> Result<Parsed, RecordError> {
    let parse = |text: &str| Ok(vec![document.part(text, at, context)]);
    tolerantly(bytes, parse)
}

/// A document that was opened, and what of it is lost.
#[derive(Debug)]
pub struct Opened {
    /// What it says.
    pub document: Arc<dyn Document>,
    /// Entries that could not be read, by name.
    pub lost: Vec<RecordError>,
    /// What had to be repaired.
    pub repairs: Repairs,
}

/// Reads what a document says around its elements: strictly, after a repair, and at last without the
/// entries that are no JSON. `closed` tells whether the document's end is there.
pub fn read_document(
    reader: &dyn Reader,
    text: &[u8],
    several: bool,
    closed: bool,
) -> Result<Opened, RecordError> {
    let read = |text: &str| reader.document(text, several).map(Arc::from);
    let strict = std::str::from_utf8(text).map_or_else(
        |error| Err(broken(None, &format!("no UTF-8 at byte {}", error.valid_up_to()))),
        &read,
    );
    let first = match strict {
        Ok(document) => {
            return Ok(Opened { document, lost: Vec::new(), repairs: Repairs::default() });
        }
        Err(error) if !error.is_broken() => return Err(error),
        Err(error) => error,
    };
    if let Some(error) = holes::error(text) {
        return Err(error);
    }
    let (repaired, whole) = repair::repair(text);
    if closed && let Ok(document) = read(&repaired) {
        return Ok(Opened { document, lost: Vec::new(), repairs: whole });
    }
    let (kept, mut lost, repairs) = whole_entries(text, closed);
    half_read(reader, text, &kept, &lost)?;
    let document = read(&kept)?;
    if closed && lost.is_empty() {
        lost.push(whole.blame(first));
    }
    Ok(Opened { document, lost, repairs })
}

/// An error where an entry is broken that the rollouts take something from: without it they would be those
/// of another policy or task.
fn half_read(
    reader: &dyn Reader,
    text: &[u8],
    kept: &str,
    lost: &[RecordError],
) -> Result<(), RecordError> {
    let broken: Vec<_> = lost.iter().filter(|e| e.kind == RecordErrorKind::Broken).collect();
    let Some(&first) = broken.first() else { return Ok(()) };
    let kept = Object::parse(kept)?;
    // A key that lost one of its quotes is none, but its name is there.
    let missing = |key: &&&str| kept.get(key).is_none() && scan::may_name(text, key);
    let Some(key) = reader.shared_keys().iter().find(missing) else { return Ok(()) };
    let own = broken.iter().find(|e| e.field.as_deref() == Some(key)).map_or(first, |e| e);
    let reason =
        format!("{}; every rollout takes something from `{key}`, so none is read", own.reason);
    Err(RecordError { reason, ..own.clone() })
}

/// The entries of an object that are JSON, as an object, and complaints about the others. In one that
/// is not `closed` a number or a word at the very end may go on.
fn whole_entries(text: &[u8], closed: bool) -> (String, Vec<RecordError>, Repairs) {
    let (mut kept, mut lost, mut all) = (String::from("{"), Vec::new(), Repairs::default());
    for Entry { key, value } in scan::entries(text) {
        let key = String::from_utf8_lossy(key);
        let last = value.as_ptr_range().end == text.as_ptr_range().end;
        let bare = !matches!(value.last(), Some(b'"' | b'}' | b']'));
        if !closed && last && (bare || scan::value_end(value, 0).is_none()) {
            let cut = broken(Some(&key), "cut");
            lost.push(RecordError { kind: RecordErrorKind::Cut, ..cut });
            continue;
        }
        let (value, repairs) = repair::repair(value);
        if let Err(error) = serde_json::from_str::<&RawValue>(&value) {
            lost.push(repairs.blame(broken(Some(&key), &format!("broken JSON: {error}"))));
            continue;
        }
        all = all.and(repairs);
        kept.push_str(if kept.len() > 1 { ",\"" } else { "\"" });
        for part in [&*key, "\":", &*value] {
            kept.push_str(part);
        }
    }
    kept.push('}');
    (kept, lost, all)
}

fn broken(field: Option<&str>, reason: &str) -> RecordError {
    RecordError {
        kind: RecordErrorKind::Broken,
        field: field.map(str::to_owned),
        reason: reason.to_owned(),
        hint: None,
    }
}
