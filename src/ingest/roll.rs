//! ROLL rollout dumps: one object of columns per training step, each index one rollout.
//!
//! Agentic columns hold JSON as text: what the environment logged, and the conversation as one list
//! of messages per context segment. Columns of plain answers hold texts.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json::{self, Error, Object};
use super::reader::{Context, Part, Reader, RecordError, RecordErrorKind, Sniff, record_object};
use super::scan::{self, Entry};
use super::shape::Shape;
use super::transcript;
use super::turns::Turns;
use super::{ending, messages, repair};
use crate::rollout::raw::{Ending, RawNumber, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct Roll;

impl Reader for Roll {
    fn id(&self) -> &'static str {
        "roll"
    }

    fn title(&self) -> &'static str {
        "ROLL rollout dumps (rollout_dump_data.step_<N>.jsonl), columns"
    }

    fn source(&self) -> &'static str {
        "alibaba/ROLL@8eb27cc roll/utils/functionals.py, pipeline/agentic/env_manager/agent_native_env_manager.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.list("trajectory_data") && (r.list("messages") || r.list("exp_name") || r.cut())
                || r.list("responses") && r.list("scores")
                || r.cut() && r.list("prompt") && r.list("global_step")
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        match record_object(text) {
            Ok(record) => {
                let mut parts = Vec::new();
                read_rows(&record, None, context, &mut |part| parts.push(part))?;
                Ok(parts)
            }
            Err(error) if error.kind == RecordErrorKind::Cut => read_cut(text, error, context),
            Err(error) => Err(error),
        }
    }

    fn parse_each(
        &self,
        text: &str,
        context: &Context<'_>,
        each: &mut dyn FnMut(Part),
    ) -> Option<Result<(), RecordError>> {
        Some(record_object(text).and_then(|record| read_rows(&record, None, context, each)))
    }
}

/// The rows of a dump whose end is not there: those that are whole in the last column that is, as long
/// as no column is missing that a rollout needs.
fn read_cut(
    text: &str,
    error: RecordError,
    context: &Context<'_>,
) -> Result<Vec<Part>, RecordError> {
    let entries = scan::entries(text.as_bytes());
    let Some((last, whole)) = entries.split_last().filter(|(e, _)| e.value.starts_with(b"["))
    else {
        return Err(error);
    };
    let (cells, end) = scan::cells(last.value);
    let has = |name: &[u8]| entries.iter().any(|e| e.key == name);
    let needs = if has(b"trajectory_data") {
        ["trajectory_data", "messages"]
    } else {
        ["responses", "scores"]
    };
    let column = String::from_utf8_lossy(last.key);
    if let Some(missing) = needs.iter().find(|name| !has(name.as_bytes())) {
        let reason = format!("cut in this column and before `{missing}`: no row is whole");
        let hint = Some("file may still be being written".to_owned());
        return Err(RecordError { field: Some(column.into_owned()), reason, hint, ..error });
    }
    let closed = Entry { value: last.value.get(..end).unwrap_or_default(), ..*last };
    let mut all = String::from("{");
    for entry in whole.iter().chain([&closed]) {
        all.push_str(if all.len() > 1 { ",\"" } else { "\"" });
        all.push_str(&String::from_utf8_lossy(entry.key));
        all.push_str("\":");
        all.push_str(&String::from_utf8_lossy(entry.value));
    }
    all.push_str("]}");
    let mut parts = Vec::new();
    read_rows(&record_object(&all)?, Some(cells), context, &mut |part| parts.push(part))?;
    let rollout = Err(RecordError {
        field: Some(format!("{column}[{cells}]")),
        reason: "cut at the end of the file: the rows before it are whole".to_owned(),
        hint: Some("file may still be being written".to_owned()),
        ..error
    });
    parts.push(Part { rollout, digest: Some(0), lost: Vec::new() });
    Ok(parts)
}

/// The rows of a dump; only the first `whole` of them where it is cut.
fn read_rows(
    record: &Object<'_>,
    whole: Option<usize>,
    context: &Context<'_>,
    each: &mut dyn FnMut(Part),
) -> Result<(), RecordError> {
    let mut columns = BTreeMap::new();
    for (name, value) in record.iter() {
        if json::is_array(value) {
            columns.insert(name, json::elements(value)?);
        }
    }
    let (lead, read): (&str, ReadRow) = if columns.contains_key("trajectory_data") {
        ("trajectory_data", read_agentic)
    } else if columns.contains_key("responses") {
        ("responses", read_answer)
    } else {
        return Err(RecordError::missing(
            "trajectory_data",
            "a column `trajectory_data` (or `responses` and `scores`) was expected",
        ));
    };
    let rows = columns.get(lead).map_or(0, Vec::len);
    let rows = whole.map_or(rows, |whole| whole.min(rows));
    // A list that the framework does not write is no column of it.
    columns
        .retain(|name, column| whole.is_some() || column.len() == rows || COLUMNS.contains(name));
    // What a rollout can do without may be left empty.
    columns.retain(|name, column| !column.is_empty() || NEEDED.contains(name));
    let columns = Columns(columns);
    // Rows beyond the end of a column are lost, those before it are whole.
    let all = if whole.is_none() { columns.longest() } else { rows };
    for at in 0..all {
        each(if context.only.is_some_and(|only| only as usize != at) {
            Part::default()
        } else {
            let lacking = if whole.is_none() { columns.lacking(at) } else { None };
            let row = match lacking {
                Some(error) => Err(error),
                None => read(&Row { columns: &columns, at }),
            };
            Part::of(&columns.text(at), row)
        });
    }
    Ok(())
}

/// The columns that the framework writes.
const COLUMNS: [&str; 18] = [
    "trajectory_data",
    "messages",
    "tools",
    "exp_name",
    "global_step",
    "id",
    "source",
    "difficulty",
    "prompt",
    "ground_truth",
    "case_type",
    "test_case_function",
    "test_cases",
    "tag",
    "domain",
    "responses",
    "scores",
    "sampling_params",
];

/// Those that a rollout needs.
const NEEDED: [&str; 4] = ["trajectory_data", "messages", "responses", "scores"];

type ReadRow = fn(&Row<'_>) -> Result<RawRollout, RecordError>;

struct Columns<'a>(BTreeMap<&'a str, Vec<&'a RawValue>>);

impl Columns<'_> {
    fn longest(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }

    /// What is said of a row that a column lacks.
    fn lacking(&self, at: usize) -> Option<RecordError> {
        let (name, column) = self.0.iter().find(|(_, column)| column.len() <= at)?;
        let (have, all) = (column.len(), self.longest());
        let full = |name: &str| self.0.get(name).is_some_and(|c| c.len() == all);
        let other = || self.0.keys().copied().find(|name| full(name));
        let full = NEEDED.into_iter().find(|name| full(name)).or_else(other).unwrap_or_default();
        let rows = match all - have {
            1 => "the last row lacks one".to_owned(),
            n => format!("the last {n} rows lack one"),
        };
        let values = if have == 1 { "value" } else { "values" };
        let reason = format!("{have} {values} here, {all} in `{full}`: {rows}");
        Some(RecordError::unexpected(Some(name), reason))
    }

    /// The row's own text: what its content is told apart by.
    fn text(&self, at: usize) -> String {
        let cells = self.0.iter().filter_map(|(name, c)| c.get(at).map(|v| (name, v)));
        cells.fold(String::new(), |mut all, (name, value)| {
            for part in [name, ":", value.get(), ","] {
                all.push_str(part);
            }
            all
        })
    }
}

struct Row<'a> {
    columns: &'a Columns<'a>,
    at: usize,
}

impl<'a> Row<'a> {
    fn some(&self, name: &str) -> Option<&'a RawValue> {
        let value = self.columns.0.get(name)?.get(self.at)?;
        (!json::is_null(value)).then_some(*value)
    }

    fn id(&self, name: &str) -> Result<Option<String>, Error> {
        self.some(name).map_or(Ok(None), json::id)
    }

    /// JSON that stands in a cell, as text or as it is.
    fn json(&self, name: &str) -> Result<String, RecordError> {
        match self.some(name) {
            None => Err(RecordError::missing(name, "nothing stands in this row")),
            Some(cell) => Ok(repair::embedded(&json::text(cell)?.unwrap_or_default()).into_owned()),
        }
    }
}

fn read_agentic(row: &Row<'_>) -> Result<RawRollout, RecordError> {
    let data = row.json("trajectory_data")?;
    let data = Object::parse(&data).map_err(|e| within("trajectory_data", &e))?;
    let env = data.object("env_info")?.unwrap_or_default();
    let mut raw = RawRollout {
        id: env.id("env_id")?.or(data.id("trajectory_id")?),
        run: row.id("exp_name")?,
        train_step: data.whole("current_step")?,
        ..RawRollout::default()
    };
    if raw.train_step.is_none() {
        raw.train_step = row.id("global_step")?.and_then(|t| t.parse().ok());
    }
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

/// Conversations, one per context segment. A segment repeats what is kept of the one before and may
/// begin with a summary: neither is an action or a result.
fn read_segments(list: &RawValue, raw: &mut RawRollout) -> Result<(), RecordError> {
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
    let (steps, prompt) = turns.finish();
    (raw.steps, raw.prompt) = (steps, prompt);
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

/// Rewards per turn. The list holds the final reward in its last entry: it is taken out there, so
/// that it counts once.
fn rewards(info: &Object<'_>, raw: &mut RawRollout) -> Result<(), RecordError> {
    let episode = info.number("episode_reward")?;
    raw.reward = info.number("final_reward")?;
    raw.outcome_field = Some("reward_info.final_reward".to_owned());
    let Some(list) = info.some("step_rewards").filter(|l| json::is_array(l)) else {
        if raw.reward == RawNumber::Missing {
            raw.reward = episode;
            raw.outcome_field = Some("reward_info.episode_reward".to_owned());
        }
        return Ok(());
    };
    let mut numbers = Vec::new();
    for value in json::elements(list)? {
        numbers.push(json::number(value)?);
    }
    let Some(last) = raw.reward.value() else {
        // What is the outcome and what is shaping cannot be told apart: the sum is all there is.
        raw.reward = episode;
        raw.outcome_field = Some("reward_info.episode_reward".to_owned());
        raw.notes.push((
            "reward_info.final_reward".to_owned(),
            "missing: the episode's reward counts, step rewards are left out".to_owned(),
        ));
        return Ok(());
    };
    let sum: f64 = numbers.iter().filter_map(RawNumber::value).sum();
    // A sum without one of its numbers says nothing.
    let whole = numbers.iter().all(|n| n.value().is_some());
    let apart = whole
        && episode.value().is_some_and(|e| (e - sum).abs() > 1e-6 && (e - sum - last).abs() < 1e-6);
    if !apart && let Some(RawNumber::Value(v)) = numbers.last_mut() {
        *v -= last;
    }
    let mut ends: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, step) in raw.steps.iter().enumerate() {
        ends.insert(step.turn, at);
    }
    if ends.len() != numbers.len() {
        let reason = format!("{} rewards for {} turns", numbers.len(), ends.len());
        raw.notes.push(("reward_info.step_rewards".to_owned(), reason));
    }
    // A turn with several calls gets its reward where it ends.
    for (number, at) in numbers.into_iter().zip(ends.into_values()) {
        if let Some(step) = raw.steps.get_mut(at) {
            step.step_reward = number;
        }
    }
    Ok(())
}

fn read_answer(row: &Row<'_>) -> Result<RawRollout, RecordError> {
    let mut raw = RawRollout {
        namespace: row.id("domain")?.or(row.id("tag")?),
        task: row.id("id")?,
        reward: row.some("scores").map_or(Ok(RawNumber::Missing), json::number)?,
        outcome_field: Some("scores".to_owned()),
        train_step: row.id("global_step")?.and_then(|t| t.parse().ok()),
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
    raw.steps = turns.finish().0;
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawStep;

    fn read(text: &str) -> Vec<Result<RawRollout, RecordError>> {
        let parts = Roll.parse(text, &Context::default()).unwrap();
        parts.into_iter().map(|p| p.rollout).collect()
    }

    fn dump(rewards: &str, messages: &str) -> String {
        let data = format!(
            r#"{{"current_step":4,"env_info":{{"env_id":3,"group_id":7,"tag":"SWE","seed":1,"episode_id":0}},"reward_info":{rewards},"length_info":{{"truncated":false}},"failure_info":{{"stop_reason":"FINISH"}}}}"#
        );
        serde_json::json!({"trajectory_data":[data, null],"messages":[messages, null],"tools":["[]", "[]"],"exp_name":["e", "e"],"global_step":[4, 4]}).to_string()
    }

    const TALK: &str = r#"[[{"role":"user","content":"go"},{"role":"assistant","content":"<function=a>\n</function>"},{"role":"user","content":"A"},{"role":"assistant","content":"done"}]]"#;

    fn step_rewards(steps: &[RawStep]) -> Vec<Option<f64>> {
        steps.iter().map(|s| s.step_reward.value()).collect()
    }

    #[test]
    fn the_final_reward_is_taken_out_of_the_last_step() {
        let all = read(&dump(
            r#"{"episode_reward":1.055,"step_rewards":[0.055,1.0],"final_reward":1.0}"#,
            TALK,
        ));
        let raw = all[0].as_ref().unwrap();
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("SWE/7/0/1"), Some("3")));
        assert_eq!((raw.train_step, &raw.ending), (Some(4), &Ending::Clean));
        assert_eq!(raw.reward, RawNumber::Value(1.0));
        assert_eq!(step_rewards(&raw.steps), [Some(0.055), Some(0.0)]);
        // A row without data costs itself.
        assert_eq!(all[1].as_ref().unwrap_err().field.as_deref(), Some("trajectory_data"));
    }

    #[test]
    fn a_final_reward_that_stands_apart_stays() {
        let info = r#"{"episode_reward":1.1,"step_rewards":[0.05,0.05],"final_reward":1.0}"#;
        let all = read(&dump(info, TALK));
        assert_eq!(step_rewards(&all[0].as_ref().unwrap().steps), [Some(0.05), Some(0.05)]);
        let all = read(&dump(r#"{"episode_reward":1,"step_rewards":[1],"final_reward":1}"#, TALK));
        assert_eq!(all[0].as_ref().unwrap().notes[0].1, "1 rewards for 2 turns");
    }

    #[test]
    fn segments_go_on_slide_or_begin_with_a_summary() {
        let m = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
        let list = |all: &[String]| format!("[{}]", all.join(","));
        let (u, a1, o1, a2, o2, a3) = (
            m("user", "go"),
            m("assistant", "one"),
            m("user", "1"),
            m("assistant", "two"),
            m("user", "2"),
            m("assistant", "three"),
        );
        let start = list(&[u.clone(), a1, o1, a2.clone(), o2.clone()]);
        for next in [
            start.replace(']', &format!(",{a3}]")),
            list(&[u.clone(), a2, o2, a3.clone()]),
            list(&[u, m("user", "a summary"), a3]),
        ] {
            let all = read(&dump("{}", &format!("[{start},{next}]")));
            let steps = &all[0].as_ref().unwrap().steps;
            let thoughts: Vec<_> = steps.iter().map(|s| s.thought.as_str()).collect();
            assert_eq!(thoughts, ["one", "two", "three"], "{next}");
            assert_eq!(steps[1].observation.as_deref(), Some("2"), "{next}");
        }
    }

    #[test]
    fn answers_and_columns_of_unequal_length() {
        let all = read(
            r#"{"id":["p","p"],"prompt":["q","q"],"responses":["a","b"],"scores":[1.0,0.0],"global_step":[3,3],"domain":["math","math"]}"#,
        );
        let raw = all[1].as_ref().unwrap();
        assert_eq!((raw.task.as_deref(), raw.namespace.as_deref()), (Some("p"), Some("math")));
        assert_eq!((raw.steps.len(), raw.reward.value(), raw.train_step), (1, Some(0.0), Some(3)));
        let all = read(r#"{"responses":["a","b","c"],"scores":[0.5],"id":["p","p","p"],"tag":[]}"#);
        assert_eq!(all[0].as_ref().unwrap().reward.value(), Some(0.5));
        for row in &all[1..] {
            let error = row.as_ref().unwrap_err();
            assert_eq!(error.field.as_deref(), Some("scores"));
            assert_eq!(error.reason, "1 value here, 3 in `responses`: the last 2 rows lack one");
        }
        assert_eq!(all.len(), 3);
    }
}
