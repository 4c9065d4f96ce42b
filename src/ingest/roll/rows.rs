//! What a row of a ROLL dump says: an agent's rollout, or an answer.

use serde_json::value::RawValue;

use super::rewards::rewards;
use super::segments::read_segments;
use crate::ingest::json::{self, Error, Object};
use crate::ingest::reader::RecordError;
use crate::ingest::turns::Turns;
use crate::ingest::{ending, place, repair, scan, transcript};
use crate::rollout::raw::{Ending, RawNumber, RawRollout};

/// The cells of a row by the names of their columns.
#[derive(Debug)]
pub(super) struct Row<'a>(Object<'a>);

impl<'a> Row<'a> {
    /// Reads a row; one with a cell that is no JSON is lost, and the cell is named.
    pub fn parse(text: &'a str) -> Result<Self, RecordError> {
        Object::parse(text).map(Self).map_err(|error| {
            let broken = |value: &[u8]| serde_json::from_slice::<&RawValue>(value).is_err();
            let cell = scan::entries(text.as_bytes()).into_iter().find(|e| broken(e.value));
            let field = cell.map(|e| String::from_utf8_lossy(e.key).into_owned());
            RecordError { field, ..error.into() }
        })
    }

    /// What the row's content is told apart by.
    pub fn text(&self) -> String {
        self.0.iter().fold(String::new(), |mut all, (name, value)| {
            for part in [name, ":", value.get(), ","] {
                all.push_str(part);
            }
            all
        })
    }

    fn some(&self, name: &str) -> Option<&'a RawValue> {
        self.0.some(name)
    }

    fn id(&self, name: &str) -> Result<Option<String>, Error> {
        self.0.id(name)
    }

    /// JSON that stands in a cell, as text or as it is.
    fn json(&self, name: &str) -> Result<String, RecordError> {
        match self.some(name) {
            None => Err(RecordError::missing(name, "nothing stands in this row")),
            Some(cell) => Ok(repair::embedded(&json::text(cell)?.unwrap_or_default()).into_owned()),
        }
    }
}

pub(super) fn read_agentic(row: &Row<'_>, path: &str) -> Result<RawRollout, RecordError> {
    let data = row.json("trajectory_data")?;
    let data = Object::parse(&data).map_err(|e| within("trajectory_data", &e))?;
    let env = data.object("env_info")?.unwrap_or_default();
    let mut raw = RawRollout {
        id: env.id("env_id")?.or(data.id("trajectory_id")?),
        run: row.id("exp_name")?,
        train_step: data.whole("current_step")?,
        ..RawRollout::default()
    };
    raw.train_step = raw.train_step.map_or_else(|| train_step(row, path), |step| Ok(Some(step)))?;
    let mut names = Vec::new();
    for name in ["tag", "group_id", "episode_id", "seed"] {
        names.extend(env.id(name)?);
    }
    raw.task = (!names.is_empty()).then(|| names.join("/"));
    for name in ["instance_id", "task_id", "tag", "group_id", "episode_id", "seed", "mode"] {
        if let Some(id) = env.id(name)? {
            raw.other_keys.push((name.to_owned(), id));
        }
    }
    raw.ending = ending_of(&data)?;
    if row.some("messages").is_some() {
        let list = row.json("messages")?;
        let list = serde_json::from_str::<&RawValue>(&list).map_err(|e| within("messages", &e))?;
        read_segments(list, &mut raw)?;
    }
    rewards(&data.object("reward_info")?.unwrap_or_default(), &mut raw)?;
    Ok(raw)
}

/// The training step of a row, or that of the dump by its name.
fn train_step(row: &Row<'_>, path: &str) -> Result<Option<u64>, Error> {
    let own = row.id("global_step")?.and_then(|t| t.trim().parse().ok());
    Ok(own.or_else(|| place::train_step(path)))
}

/// An error in JSON that stands as text in a column: it costs that row.
fn within(field: &str, error: &Error) -> RecordError {
    RecordError::unexpected(
        Some(field),
        format!("JSON in a text was expected: {}", json::complaint(error)),
    )
}

fn ending_of(data: &Object<'_>) -> Result<Ending, Error> {
    let mut end = Ending::Clean;
    if let Some(failure) = data.object("failure_info")? {
        for name in ["stop_reason", "failure_mode"] {
            let Some(word) = failure.string(name)? else { continue };
            let told = match &*word.to_ascii_lowercase() {
                "max_length" | "length" => Ending::Limit(word.into_owned()),
                "abort" | "aborted" => Ending::Infra(word.into_owned()),
                _ => ending::of_word(&word),
            };
            end = ending::worse(end, told);
        }
    }
    if let Some(length) = data.object("length_info")?
        && length.truth("truncated") == Some(true)
    {
        end = ending::worse(end, Ending::Limit("truncated".to_owned()));
    }
    Ok(end)
}

pub(super) fn read_answer(row: &Row<'_>, path: &str) -> Result<RawRollout, RecordError> {
    let mut raw = RawRollout {
        namespace: row.id("domain")?.or(row.id("tag")?),
        task: row.id("id")?,
        reward: row.some("scores").map_or(Ok(RawNumber::Missing), json::number)?,
        outcome_field: Some("scores".to_owned()),
        train_step: train_step(row, path)?,
        ..RawRollout::default()
    };
    for name in ["source", "difficulty", "tag", "domain", "case_type"] {
        if let Some(id) = row.id(name)? {
            raw.other_keys.push((name.to_owned(), id));
        }
    }
    let prompt = row.some("prompt").or(row.some("prompts")).map(json::text).transpose()?.flatten();
    raw.task = raw.task.or(prompt.as_deref().map(transcript::prompt_task));
    raw.prompt = prompt.as_deref().and_then(transcript::last_user);
    let answer = row.json("responses")?;
    let mut turns = Turns::with_harness();
    transcript::read_into(&answer, &mut turns);
    turns.finish(&mut raw);
    Ok(raw)
}
