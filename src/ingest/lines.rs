//! Formats that spread one rollout over the lines of a file: the whole file is a record, and a line
//! that cannot be read costs itself.

use serde_json::value::RawValue;

use super::reader::{Context, LostLine, RecordError, RecordErrorKind};
use super::{holes, json, place, pointer, repair};
use crate::rollout::raw::RawRollout;

/// The lines that are JSON, as one JSON array, and the number of each; the others are lost.
#[must_use]
pub fn array(text: &str, raw: &mut RawRollout, lost: &mut Vec<LostLine>) -> (String, Vec<usize>) {
    let mut numbers = Vec::new();
    let mut all = String::with_capacity(text.len() + 2);
    all.push('[');
    let (mut end, mut number) = (0, 0_usize);
    let mut pointers = pointer::Lines::default();
    for whole in text.split_inclusive('\n') {
        let start = end;
        (end, number) = (start + whole.len(), number + 1);
        let line = whole.trim();
        if line.is_empty() || pointers.goes_on(number as u64, line.as_bytes()) {
            continue;
        }
        let mut take = |line: &str| {
            if all.len() > 1 {
                all.push(',');
            }
            all.push_str(line);
            numbers.push(number);
        };
        let mut lose = |error| lost.push(LostLine { at: start, error });
        if pointer::begins(line.as_bytes()) {
            lose(pointer::among_records());
            continue;
        }
        let strict = serde_json::from_str::<&RawValue>(line);
        if strict.is_ok() && !surrogate(line) {
            if line.starts_with('{') {
                take(line);
            } else {
                lose(RecordError::unexpected(None, "not an object"));
            }
            continue;
        }
        if let Some(error) = holes::error(line.as_bytes()) {
            lose(error);
            continue;
        }
        let (repaired, done) = repair::repair(line.as_bytes());
        match (serde_json::from_str::<&RawValue>(&repaired), strict) {
            (Ok(value), _) if json::is_object(value) => {
                take(&repaired);
                let notes = done.notes().into_iter().map(|(field, note)| match field {
                    "" => (format!("line {number}"), note),
                    field => (format!("line {number}: {field}"), note),
                });
                raw.notes.extend(notes);
            }
            (_, Err(error)) => {
                let cut = error.is_eof() && end == text.len();
                let error = RecordError::from(error);
                lose(done.blame(RecordError {
                    kind: if cut { RecordErrorKind::Cut } else { RecordErrorKind::Broken },
                    ..error
                }));
            }
            (_, Ok(_)) => lose(RecordError::unexpected(None, "not an object")),
        }
    }
    all.push(']');
    (all, numbers)
}

/// Whether a surrogate may stand in it, which must not stand alone.
fn surrogate(line: &str) -> bool {
    ["\\ud", "\\uD"]
        .iter()
        .any(|mark| memchr::memmem::find(line.as_bytes(), mark.as_bytes()).is_some())
}

/// Names the rollout of a session: by the folder of its trial, else its task by its prompt, and
/// where the prompt was not written, by the file.
pub fn name(raw: &mut RawRollout, context: &Context<'_>) -> Result<(), RecordError> {
    if let Some((task, trial)) = place::trial(context.path) {
        (raw.task, raw.id) = (Some(task.to_owned()), Some(trial.to_owned()));
        return Ok(());
    }
    let file = place::file(context.path, &[".jsonl", ".json", ".txt"]);
    raw.run = Some(file).filter(|f| !f.is_empty()).map(str::to_owned);
    raw.task = raw.prompt.as_deref().map(place::task_of_prompt).or_else(|| raw.run.clone());
    if raw.task.is_none() {
        return Err(RecordError::missing("user", "no message of the user says what the task is"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_of_git_lfs_is_one_loss() {
        let (mut raw, mut lost) = (RawRollout::default(), Vec::new());
        let text = "{}\nversion https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n{}\n";
        let (all, numbers) = array(text, &mut raw, &mut lost);
        assert_eq!((&*all, &numbers[..]), ("[{},{}]", &[1, 5][..]));
        let told: Vec<_> = lost.iter().map(|l| (l.at, l.error.hint.is_some())).collect();
        assert_eq!(told, [(3, true)]);
    }

    #[test]
    fn a_line_with_a_block_of_nul_bytes_is_lost() {
        let (mut raw, mut lost) = (RawRollout::default(), Vec::new());
        let text = "{\"a\":\"x\0y\"}\n{\"a\":\"x\0\0y\"}\n{}\n";
        let (all, numbers) = array(text, &mut raw, &mut lost);
        assert_eq!((&*all, &numbers[..]), ("[{\"a\":\"x\\u0000y\"},{}]", &[1, 3][..]));
        assert_eq!((raw.notes.len(), lost.len()), (1, 1));
        assert!(lost[0].error.reason.starts_with("2 NUL bytes"), "{}", lost[0].error.reason);
    }

    #[test]
    fn broken_lines_cost_themselves() {
        let (mut raw, mut lost) = (RawRollout::default(), Vec::new());
        let text = "{\"a\":1}\r\n\n{\"b\":\n{\"c\":NaN}\n7\n{\"d\":tru}\n{\"e\":\"\\ud800\"}\n{\"f";
        let (all, numbers) = array(text, &mut raw, &mut lost);
        assert_eq!(numbers, [1, 4, 7]);
        assert_eq!(all, "[{\"a\":1},{\"c\":\"NaN\"},{\"e\":\"\\ufffd\"}]");
        let told: Vec<_> = lost.iter().map(|l| (l.at, l.error.kind)).collect();
        let [broken, odd, junk, cut] =
            ["{\"b\":\n", "7\n", "{\"d", "{\"f"].map(|line| text.find(line).unwrap());
        assert_eq!(
            told,
            [
                (broken, RecordErrorKind::Broken),
                (odd, RecordErrorKind::Unexpected),
                (junk, RecordErrorKind::Broken),
                (cut, RecordErrorKind::Cut),
            ]
        );
        let fields: Vec<_> = raw.notes.iter().map(|n| n.0.as_str()).collect();
        assert_eq!(fields, ["line 7"]);
        assert_eq!(lost[2].error.field.as_deref(), Some("d"));
    }
}
