//! What an input is: rollouts of a format, verdicts on rollouts of other files, or neither, with the
//! reason. No record is read here.

use std::io;

use serde::de::IgnoredAny;

use super::beside::Descriptions;
use super::read_at::read_range;
use super::report::{FileVerdict, VerdictKind};
use super::sources::{Side, Source};
use super::walk::{Content, Input};
use crate::ingest::{Layout, Reader, RecordShape, Shape, detect, json, shape, verdicts};

/// What one input is.
pub(super) enum Looked {
    Rollouts(Box<Source>),
    Side(Box<Side>),
    Neither(FileVerdict),
}

pub(super) fn look_at(
    input: Result<Input, FileVerdict>,
    forced: Option<&'static dyn Reader>,
    runs: &Descriptions,
) -> Looked {
    let input = match input {
        Ok(input) => input,
        Err(verdict) => return Looked::Neither(verdict),
    };
    let (name, named, problem) = (input.name.clone(), input.named, input.problem.clone());
    let looked = look(input, forced, runs).unwrap_or_else(|error| {
        let reason = format!("cannot be read: {error}");
        Looked::Neither(FileVerdict { name, named, reason, hint: None, kind: VerdictKind::Lost })
    });
    match (looked, problem) {
        // Whatever it was to be: something of it is not there.
        (Looked::Neither(verdict), Some(problem)) => Looked::Neither(FileVerdict {
            reason: format!("{problem}; what is there: {}", verdict.reason),
            kind: VerdictKind::Damaged,
            ..verdict
        }),
        (Looked::Side(side), Some(problem)) => {
            let problem =
                side.problem.as_ref().map_or(problem.clone(), |own| format!("{problem}; {own}"));
            Looked::Side(Box::new(Side { problem: Some(problem), ..*side }))
        }
        (looked, _) => looked,
    }
}

/// How much of a file is looked at where its first record is long.
const LONG: u64 = 64 << 20;

/// Side files are small; a larger file holds no verdicts only.
const SIDE: u64 = 32 << 20;

fn look(
    mut input: Input,
    forced: Option<&'static dyn Reader>,
    runs: &Descriptions,
) -> io::Result<Looked> {
    let beginning = |size: u64| {
        input
            .content
            .with(|file, start, len| Ok((len, read_range(file, start, len.min(size) as usize)?)))
    };
    let base = input.place.rsplit('/').next().filter(|b| !b.is_empty());
    let base = base.unwrap_or(&input.name).to_owned();
    let (len, mut head) = beginning(shape::HEAD as u64)?;
    let whole = |head: &[u8]| head.len() as u64 >= len;
    // A first record that is longer than what was looked at can hide the keys that tell, and one that is
    // torn those that follow.
    let hidden = forced.is_none() && !whole(&head) && {
        let shape = Shape::of(&base, &head, false);
        shape.any(RecordShape::cut) && shape.obstacle().is_none() && detect(&shape).is_err()
    };
    if hidden {
        (_, head) = beginning(LONG)?;
    }
    let shape = Shape::of(&base, &head, whole(&head));
    let reader = match (forced, shape.obstacle()) {
        (Some(_), Some(not)) => Err(not),
        (Some(reader), None) => Ok(reader),
        (None, _) => detect(&shape),
    };
    let reader = match reader {
        Ok(reader) => reader,
        Err(not) => {
            if forced.is_none() && len <= SIDE && verdicts::may_be(&shape) {
                let whole = input.content.with(|f, at, len| read_range(f, at, len as usize))?;
                if let Some(content) = verdicts::read(&input.place, &whole) {
                    let (name, problem) = (input.name, content.trouble());
                    return Ok(Looked::Side(Box::new(Side { name, content, problem })));
                }
            }
            if forced.is_none()
                && let Some(trouble) = broken(&input, &shape, not != shape.unknown())?
            {
                let (reason, hint) = match trouble {
                    Trouble::Json(why) => (
                        format!("{why}; what can be seen of it: {not}"),
                        "mend or remove it: it may have held rollouts or verdicts",
                    ),
                    Trouble::Verdict(why) => (
                        format!("a report of an evaluation whose verdict cannot be read: {why}"),
                        super::sources::MEND_VERDICT,
                    ),
                };
                return Ok(Looked::Neither(FileVerdict {
                    name: input.name,
                    named: input.named,
                    kind: VerdictKind::Damaged,
                    reason,
                    hint: Some(hint.to_owned()),
                }));
            }
            let kind = if shape.lacks_content() {
                VerdictKind::Lost
            } else if not == shape.unknown() || shape.obstacle().is_some() {
                VerdictKind::Unknown
            } else {
                VerdictKind::Companion
            };
            return Ok(Looked::Neither(FileVerdict {
                name: input.name,
                named: input.named,
                kind,
                reason: not.to_string(),
                hint: Some(not.hint),
            }));
        }
    };
    if input.header.is_none() && matches!(input.content, Content::Path(_)) {
        input.header = reader.described_in(&input.place).and_then(|place| runs.get(&place));
    }
    let layout = reader.layout(&shape);
    // Where no record shows the key, and it may not come later in one either, lines are only lines.
    let later = |r: &RecordShape<'_>| r.long() || r.torn() && layout == Layout::Document;
    let key = reader.elements().filter(|key| {
        let torn = layout != Layout::Lines && shape.names(key);
        torn || shape.any(|r| r.list(key) || later(r))
    });
    let stem = base.split('.').next().unwrap_or_default().to_owned();
    let source = Source::new(input, stem, reader, layout, key, len);
    Ok(Looked::Rollouts(Box::new(source)))
}

/// Endings of files that hold nothing but JSON.
const JSON: [&str; 5] = [".json", ".jsonl", ".ndjson", ".traj", ".trajectory"];

/// What is wrong with a file that no reader knows.
enum Trouble {
    /// Its JSON.
    Json(String),
    /// It is a report of an evaluation, and what it says is no verdict.
    Verdict(String),
}

/// What is wrong with a file that no reader knows although it is JSON by its name, by its beginning, or by
/// what it is beside the rollouts: cut before the keys that tell what it is, or broken. It may have been
/// one of the run's.
fn broken(input: &Input, shape: &Shape<'_>, known: bool) -> io::Result<Option<Trouble>> {
    let named = JSON.iter().any(|ending| shape.name.to_ascii_lowercase().ends_with(ending));
    let (len, bytes) = input
        .content
        .with(|file, at, len| Ok((len, read_range(file, at, len.min(SIDE) as usize)?)))?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii();
    let torn = || shape.any(|r| r.torn() && r.keys().next().is_some());
    if shape.obstacle().is_some() {
        return Ok(None);
    }
    if !matches!(text.first(), Some(b'{' | b'[')) {
        // Its first bytes are lost, and no record is whole that would say what it was.
        let keys = memchr::memmem::find(text, b"\":").is_some();
        let lost = named && keys && !matches!(text.first(), Some(b'#' | b'/'));
        let lost = lost && !shape.any(|r| !r.torn());
        return Ok(lost.then(|| Trouble::Json("JSON whose beginning is lost".to_owned())));
    }
    if len > SIDE {
        return Ok(torn().then(|| Trouble::Json("broken JSON: a record is torn".to_owned())));
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    Ok(match values.find_map(Result::err) {
        Some(error) if error.is_eof() => Some(Trouble::Json("JSON that is cut".to_owned())),
        Some(error) if named || known || torn() => {
            Some(Trouble::Json(format!("broken JSON: {}", json::complaint(&error))))
        }
        Some(_) => None,
        None => verdicts::unreadable(&input.place, text).map(Trouble::Verdict),
    })
}
