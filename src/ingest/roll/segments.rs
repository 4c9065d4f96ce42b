//! Conversations of ROLL: one list of messages per context segment.

use serde_json::value::RawValue;

use crate::ingest::json::{self, Error, Object};
use crate::ingest::messages;
use crate::ingest::reader::RecordError;
use crate::ingest::turns::Turns;
use crate::rollout::raw::RawRollout;

/// Conversations, one per context segment. A segment repeats what is kept of the one before and may
/// begin with a summary: neither is an action or a result.
pub(super) fn read_segments(list: &RawValue, raw: &mut RawRollout) -> Result<(), RecordError> {
    if !json::is_array(list) {
        return Err(RecordError::unexpected(Some("messages"), "a list of messages was expected"));
    }
    let mut segments = Vec::new();
    let mut flat = Vec::new();
    for element in json::elements(list)? {
        if json::is_array(element) {
            segments.push(json::elements(element)?);
        } else {
            flat.push(element);
        }
    }
    if !flat.is_empty() {
        segments.push(flat);
    }
    let mut turns = Turns::with_harness();
    let mut before: Vec<&RawValue> = Vec::new();
    for segment in segments {
        let fresh = fresh(&before, &segment);
        let mut acted = before.is_empty() || fresh.is_none();
        let from = fresh.unwrap_or_else(|| shared(&before, &segment));
        for (at, message) in segment.iter().enumerate().skip(from) {
            acted = acted || is_assistant(message)?;
            if acted {
                messages::read_message(message, ("messages", at), &mut turns, raw)?;
            }
        }
        before = segment;
    }
    raw.prompt = turns.finish(raw);
    Ok(())
}

/// How many messages two segments begin with in common.
fn shared(before: &[&RawValue], next: &[&RawValue]) -> usize {
    before.iter().zip(next).take_while(|(a, b)| a.get() == b.get()).count()
}

/// Where the new part of a segment begins, `None` where it only goes on with the one before.
fn fresh(before: &[&RawValue], next: &[&RawValue]) -> Option<usize> {
    let common = shared(before, next);
    if common == before.len() {
        return None;
    }
    // A window that slides repeats the end of the segment before.
    let rest = next.get(common..).unwrap_or_default();
    let tail = before.get(common..).unwrap_or_default();
    let overlap = (1..=tail.len().min(rest.len())).rev().find(|&n| {
        let (end, start) = (tail.len() - n, rest.get(..n).unwrap_or_default());
        tail.get(end..).unwrap_or_default().iter().zip(start).all(|(a, b)| a.get() == b.get())
    });
    Some(common + overlap.unwrap_or(0))
}

fn is_assistant(message: &RawValue) -> Result<bool, Error> {
    if !json::is_object(message) {
        return Ok(false);
    }
    Ok(Object::of(message)?.string("role")?.as_deref() == Some("assistant"))
}
