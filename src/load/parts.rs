//! From the bytes of a record to its rollouts without their text: each rollout is kept and its text
//! dropped as soon as it is read, since one record may be a whole file of them.

use super::documents::{self, OpenDocument};
use super::group::task_of;
use super::options::LoadOptions;
use super::sources::Source;
use super::work::{Lost, Pending, Record};
use crate::facts::Interpreter;
use crate::ingest::split::Piece;
use crate::ingest::{
    Context, LostLine, Part, RecordError, RecordErrorKind, digest, digest64, holes, read_record,
};
use crate::rollout::RecordRef;

/// Parses a record or an element and keeps what its rollouts are without their text.
pub fn fill(
    record: &mut Record,
    source: &Source,
    bytes: &[u8],
    piece: &Piece,
    document: Option<&OpenDocument>,
    options: &LoadOptions,
    interpreter: &mut Interpreter,
) -> Result<(), RecordError> {
    record.digest = digest(bytes);
    let (start, element) = (piece.offset, record.element.as_ref().map(|e| e.index));
    let place = RecordRef {
        source: record.source,
        bytes: document.map_or(start..start + bytes.len() as u64, |d| d.place(piece)),
        part: element.unwrap_or(0),
        digest: digest64(&record.digest),
        line: record.number,
    };
    let context = Context { number: record.number, ..source.context() };
    let mut reading = Reading { place: &place, source, options, interpreter, all: Vec::new() };
    let parsed = if let Some(document) = document {
        let parsed = document.element(bytes, place.part, &context)?;
        if let Some(element) = &mut record.element {
            element.note(&parsed.parts, place.digest);
        }
        parsed
    } else {
        read_record(source.reader(), bytes, &context)?
    };
    record.repairs = parsed.repairs;
    parsed.parts.into_iter().for_each(|part| reading.take(part));
    let all = reading.all;
    let several = all.len() > 1;
    if element.is_none() && several {
        let task = all.iter().find_map(|one| one.task.as_deref());
        let own = documents::of_parts(all.iter().map(|one| one.digest), task);
        record.digest = own.unwrap_or(record.digest);
    }
    for (at, one) in all.into_iter().enumerate() {
        record.parts.extend(one.lines.into_iter().map(|line| {
            let text = bytes.get(line.at..).and_then(|rest| rest.split(|&b| b == b'\n').next());
            let lost = Lost::line(start + line.at as u64, explain(line.error, piece.at_end));
            Err(Lost { uncut: text.is_some_and(holes::any), ..lost })
        }));
        let which = (several || element.is_some()).then_some(place.part + at as u32);
        let lost = |error| Err(Lost::of(which, error));
        record.parts.push(match one.kept {
            Kept::Rollout(pending) => Ok(*pending),
            Kept::LeftOut(task) => {
                record.left_out.push(task);
                continue;
            }
            Kept::Lost(error) => lost(explain(error, element.is_some() && piece.at_end)),
            Kept::NoTask => lost(no_task()),
        });
    }
    Ok(())
}

/// The parts of a record, each kept without its text as soon as it is there.
struct Reading<'a> {
    place: &'a RecordRef,
    source: &'a Source,
    options: &'a LoadOptions,
    interpreter: &'a mut Interpreter,
    all: Vec<One>,
}

struct One {
    /// Digest of its own text.
    digest: Option<u64>,
    /// The task as the file has it.
    task: Option<String>,
    /// Lines of it that could not be read.
    lines: Vec<LostLine>,
    kept: Kept,
}

enum Kept {
    Rollout(Box<Pending>),
    /// Of another task than the one that is asked for.
    LeftOut(String),
    Lost(RecordError),
    NoTask,
}

impl Reading<'_> {
    fn take(&mut self, part: Part) {
        let at = self.all.len() as u32;
        let task = part.rollout.as_ref().ok().and_then(|raw| raw.task.clone());
        let kept = match part.rollout {
            Err(error) => Kept::Lost(error),
            Ok(raw) => match (task_of(&raw, self.options), &self.options.only) {
                (None, _) => Kept::NoTask,
                (Some(task), Some(only)) if task != *only => Kept::LeftOut(task),
                _ => {
                    let place = RecordRef { part: self.place.part + at, ..self.place.clone() };
                    let content = part.digest.unwrap_or(place.digest);
                    let facts = self.interpreter.read(self.source.reader().id(), &raw);
                    Kept::Rollout(Box::new(Pending::new(place, content, raw, facts)))
                }
            },
        };
        self.all.push(One { digest: part.digest, task, lines: part.lost, kept });
    }
}

pub fn too_large(len: u64) -> RecordError {
    RecordError {
        kind: RecordErrorKind::TooLarge,
        field: None,
        reason: format!("a record of {} MB; at most 256 MB are read", len >> 20),
        hint: Some("write one rollout per line, and leave token ids and images out".to_owned()),
    }
}

fn no_task() -> RecordError {
    RecordError::missing("task", "a rollout without a task cannot be grouped")
        .hint("add `task` (or `task_id`, `problem_id`, `instance_id`), or group by another field")
}

/// A cut record at the end of a file is a file that is still being written, more often than not.
pub fn explain(mut error: RecordError, at_end: bool) -> RecordError {
    // A reader that knows more about a cut has said so.
    if error.kind == RecordErrorKind::Cut && error.hint.is_none() {
        if at_end {
            return RecordError {
                reason: "cut at the end of the file".to_owned(),
                hint: Some("file may still be being written".to_owned()),
                ..error
            };
        }
        error.kind = RecordErrorKind::Broken;
    }
    error
}
