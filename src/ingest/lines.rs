//! Formats that spread one rollout over the lines of a file: the whole file is a record, and a line
//! that cannot be read costs itself.

use serde_json::value::RawValue;

use super::reader::{Context, RecordError};
use super::{json, place, repair};
use crate::rollout::raw::RawRollout;

/// The lines that are JSON, as one JSON array; the others are noted by number.
#[must_use]
pub fn array(text: &str, notes: &mut Vec<(String, String)>) -> String {
    let mut all = String::with_capacity(text.len() + 2);
    all.push('[');
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let mut take = |line: &str| {
            if all.len() > 1 {
                all.push(',');
            }
            all.push_str(line);
        };
        match serde_json::from_str::<&RawValue>(line) {
            Ok(_) => take(line),
            Err(first) => {
                let (repaired, done) = repair::repair(line.as_bytes());
                if done.any() && serde_json::from_str::<&RawValue>(&repaired).is_ok() {
                    take(&repaired);
                    notes.extend(done.note().map(|note| (format!("line {}", at + 1), note)));
                } else {
                    notes.push((
                        format!("line {}", at + 1),
                        format!("broken JSON, left out: {}", json::complaint(&first)),
                    ));
                }
            }
        }
    }
    all.push(']');
    all
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
    fn broken_lines_cost_themselves() {
        let mut notes = Vec::new();
        let all = array("{\"a\":1}\r\n\n{\"b\":\n{\"c\":NaN}\n", &mut notes);
        assert_eq!(all, "[{\"a\":1},{\"c\":\"NaN\"}]");
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].0, "line 3");
    }
}
