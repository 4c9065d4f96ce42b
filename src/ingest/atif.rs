//! Trajectories in the Agent Trajectory Interchange Format (ATIF), as Harbor writes them.
//!
//! No reward stands in them; that of a Harbor trial is in the `result.json` of the trial
//! ([`super::harbor`]). Steps that were copied from an earlier context are left out. Files that hold
//! only a continuation, or what a sub-agent did, are no rollouts of their own.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::calls;
use super::content;
use super::frames;
use super::json::{self, Error, Object};
use super::place;
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::shape::{RecordShape, Shape};
use super::turns::Turns;
use crate::rollout::raw::RawRollout;

/// The reader.
#[derive(Debug)]
pub struct Atif;

impl Reader for Atif {
    fn id(&self) -> &'static str {
        "atif"
    }

    fn title(&self) -> &'static str {
        "ATIF trajectories (Harbor)"
    }

    fn source(&self) -> &'static str {
        "harbor RFC 0001 (ATIF v1.6) in xuanZH424/evolving-skills@f695ec1"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = |r: &RecordShape<'_>| {
            r.value("schema_version").is_some_and(|v| v.starts_with(b"\"ATIF-v"))
        };
        if !shape.any(known) {
            return Sniff::No;
        }
        if shape.name.contains(".summarization-") {
            return Sniff::NotRollouts(NotRollouts {
                what: "a part of an ATIF trajectory (what a sub-agent did to sum it up)".into(),
                missing: "the rollout stands in another file".into(),
                hint: "give `trajectory.json` beside it".into(),
            });
        }
        Sniff::Yes
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(steps) = record.some("steps") else {
            return Err(RecordError::missing("steps", "a list of steps was expected"));
        };
        if !json::is_array(steps) {
            return Err(RecordError::unexpected(Some("steps"), "a list of steps was expected"));
        }
        let agent = record.object("agent")?.unwrap_or_default();
        let mut raw = RawRollout {
            id: record.id("session_id")?,
            policy: agent.id("model_name")?,
            harness: agent.id("name")?,
            ..RawRollout::default()
        };
        let mut turns = Turns::with_harness();
        let mut copied = None;
        for (at, step) in json::elements(steps)?.into_iter().enumerate() {
            if let Some(reason) = content::no_entry(step, "step") {
                content::left_out(&mut raw, format!("steps[{at}]"), reason);
                continue;
            }
            let step = Object::of(step)?;
            if raw.policy.is_none() {
                raw.policy = step.id("model_name")?;
            }
            if copied.is_none()
                && is_copied(&step)
                && step.string("source")?.as_deref() == Some("user")
            {
                copied = step.some("message").map(json::content).transpose()?.flatten();
            }
            read_step(&step, at, &mut turns, &mut raw)?;
        }
        raw.prompt = turns.finish(&mut raw);
        raw.continues_in = record.id("continued_trajectory_ref")?;
        let part = continuation(context.path);
        if raw.continues_in.is_some() || part.is_some() {
            // The parts of one rollout lie in one folder and are told apart by their number.
            raw.home = place::parent(context.path).map(str::to_owned);
            raw.segment_index = Some(part.unwrap_or(0));
        }
        if let Some(part) = part {
            raw.prompt_is_summary = true;
            raw.prompt = copied.map(Cow::into_owned).or(raw.prompt);
            let end = format!("-cont-{part}");
            raw.id = raw.id.map(|id| id.strip_suffix(&end).unwrap_or(&id).to_owned());
        }
        name(&record, &mut raw, context)?;
        Ok(vec![Part::whole(raw)])
    }
}

/// The number of a continuation: `trajectory.cont-1.json`.
fn continuation(path: &str) -> Option<u64> {
    let file = path.rsplit('/').next()?;
    let (_, rest) = file.split_once(".cont-")?;
    rest.split('.').next()?.parse().ok()
}

/// Whether a step repeats what stands in an earlier part.
fn is_copied(step: &Object<'_>) -> bool {
    step.truth("is_copied_context") == Some(true)
}

/// Task and id: by the folder of the trial, by what the file says, by the prompt.
fn name(record: &Object<'_>, raw: &mut RawRollout, context: &Context<'_>) -> Result<(), Error> {
    if let Some((task, trial)) = place::trial(context.path) {
        (raw.task, raw.id) = (Some(task.to_owned()), Some(trial.to_owned()));
        return Ok(());
    }
    let extra = record.object("extra")?.unwrap_or_default();
    for field in ["task_name", "task_id", "instance_id", "task"] {
        raw.task = raw.task.take().or(extra.id(field)?);
    }
    raw.task = raw.task.take().or_else(|| raw.prompt.as_deref().map(place::task_of_prompt));
    Ok(())
}

fn read_step<'a>(
    step: &Object<'a>,
    at: usize,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    if is_copied(step) {
        return Ok(());
    }
    let source = step.string("source")?;
    if !matches!(source.as_deref(), Some("system" | "user" | "agent")) {
        let found = step.get("source").map_or("missing", RawValue::get);
        let found = json::short(found, 40);
        let reason = format!("{found}; `agent`, `user` or `system` was expected: left out");
        content::left_out(raw, format!("steps[{at}].source"), reason);
        return Ok(());
    }
    let agent = source.as_deref() == Some("agent");
    let calls =
        if agent { calls::of_message(step, ("steps", at), &mut raw.notes)? } else { vec![] };
    let mut read = |field: &str, value: Option<&'a RawValue>| {
        content::read(&mut raw.notes, format_args!("steps[{at}]."), field, value)
    };
    let message = read("message", step.some("message"))?.unwrap_or_default();
    match source.as_deref() {
        Some("user") => turns.hears(&message),
        Some("agent") => {
            // A step is a turn, whether or not something came back.
            turns.answer(None);
            let thinking = read("reasoning_content", step.some("reasoning_content"))?;
            let thinking = thinking.filter(|t| !t.is_empty());
            let silent = thinking.is_none() && message.is_empty() && !calls.is_empty();
            for text in thinking.iter().chain((!silent).then_some(&message)) {
                if !text.is_empty() || calls.is_empty() && thinking.is_none() {
                    turns.says(text);
                }
            }
            let mut last = None;
            for call in calls {
                last.clone_from(&call.id);
                turns.calls(call);
            }
            results(step, last.as_deref(), turns, read)?;
        }
        _ => {}
    }
    Ok(())
}

/// The results of a step; one that names no call is what the last of them left.
fn results<'a>(
    step: &Object<'a>,
    last: Option<&str>,
    turns: &mut Turns,
    mut read: impl FnMut(&str, Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, Error>,
) -> Result<(), RecordError> {
    let observation = step.object("observation")?.unwrap_or_default();
    let Some(list) = observation.some("results").filter(|l| json::is_array(l)) else {
        return Ok(());
    };
    let results: Vec<&RawValue> =
        json::elements(list)?.into_iter().filter(|r| json::is_object(r)).collect();
    let alone = results.len() == 1;
    for result in results {
        let result = Object::of(result)?;
        let text = read("observation.results[].content", result.some("content"))?;
        let reply = frames::framed(text.unwrap_or_default().into_owned());
        let id = result.id("source_call_id")?;
        turns.gets(id.as_deref().or(last.filter(|_| alone)), reply);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawKind;

    fn read(text: &str, path: &str) -> RawRollout {
        let context = Context { path, ..Context::default() };
        Atif.parse(text, &context).unwrap().remove(0).rollout.unwrap()
    }

    const TEXT: &str = r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"terminus-2","version":"2","model_name":"m"},"steps":[
        {"step_id":1,"source":"user","message":"do it"},
        {"step_id":2,"source":"agent","message":"old","is_copied_context":true,"tool_calls":[{"tool_call_id":"z","function_name":"bash_command","arguments":{}}]},
        {"step_id":3,"source":"agent","message":"Plan","reasoning_content":"hm","tool_calls":[{"tool_call_id":"a","function_name":"bash_command","arguments":{"keystrokes":"ls\n"}},{"tool_call_id":"b","function_name":"bash_command","arguments":{"keystrokes":"pwd\n"}}],"observation":{"results":[{"content":"screen"}]}},
        {"step_id":4,"source":"agent","message":"done?","observation":null},
        {"step_id":5,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"mark_task_complete","arguments":{}}]}, 3]}"#;

    #[test]
    fn one_result_for_many_calls_and_turns_by_step() {
        let raw = read(TEXT, "/jobs/j/hello-world__aB3dE6g/agent/trajectory.json");
        assert_eq!(raw.task.as_deref(), Some("hello-world"));
        assert_eq!(raw.id.as_deref(), Some("hello-world__aB3dE6g"));
        let [a, b, said, done] = &raw.steps[..] else { panic!("{:?}", raw.steps) };
        assert_eq!((&*a.thought, a.observation.as_deref(), a.turn), ("hm\nPlan", None, 0));
        assert_eq!((&*b.thought, b.observation.as_deref(), b.turn), ("", Some("screen"), 0));
        assert_eq!((said.kind, said.turn, done.turn), (RawKind::Text, 1, 2));
        assert_eq!((&*done.thought, done.observation.as_deref()), ("", None));
        assert_eq!(raw.notes.len(), 1);
    }

    #[test]
    fn without_a_trial_the_prompt_names_the_task() {
        let raw = read(TEXT, "/x/trajectory.json");
        assert_eq!(
            (raw.task, raw.id.as_deref()),
            (Some(place::task_of_prompt("do it")), Some("s"))
        );
    }
}
