//! SWE-agent trajectories (`*.traj`), from 0.x to today; the retry agent keeps several attempts in
//! one file, which are the rollouts of a group.
//!
//! An action is a line of the shell, whatever the model called: the profile knows which words of it
//! are tools. The outcome stands in no trajectory; it is joined from reports.

use serde_json::{Map, Value};

use super::content;
use super::document::{self, Document};
use super::json::{self, Error, Object};
use super::place;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::scan;
use super::shape::{RecordShape, Shape};
use crate::rollout::StepResult;
use crate::rollout::raw::{Ending, RawArgs, RawKind, RawRollout, RawStep};

/// The reader.
#[derive(Debug)]
pub struct SweAgent;

/// Names of environments that stand for no instance.
const NO_INSTANCE: [&str; 4] = ["swe_main", "main", "default", "swe_env"];

/// Endings of the files' names.
const ENDINGS: [&str; 3] = [".traj", ".traj.json", ".json"];

impl Reader for SweAgent {
    fn id(&self) -> &'static str {
        "swe-agent"
    }

    fn title(&self) -> &'static str {
        "SWE-agent trajectories (.traj), retry attempts included"
    }

    fn source(&self) -> &'static str {
        "SWE-agent/SWE-agent@3ea751c sweagent/agent/agents.py, types.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = |r: &RecordShape<'_>| {
            r.value("trajectory").is_some_and(steps)
                && r.has_any(&["history", "info", "environment", "replay_config"])
                || r.value("attempts").is_some_and(attempts)
        };
        if shape.any(known) { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        if let Some(list) = record.some("attempts").filter(|l| json::is_array(l)) {
            let attempts = document::parts(list, &Whole::of(&record)?, context)?;
            // The chosen attempt stands at the top once more.
            if !attempts.is_empty() {
                return Ok(attempts);
            }
        }
        let mut raw = read(&record, &Whole::default(), context)?;
        raw.attempt = place::folder(context.path).and_then(place::attempt);
        Ok(vec![Part::whole(raw)])
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &["environment", "replay_config"]
    }

    fn elements(&self) -> Option<&'static str> {
        Some("attempts")
    }

    fn document(&self, text: &str, _: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Whole::of(&record_object(text)?)?))
    }
}

/// What a file says about all of its attempts, where they do not say it themselves.
#[derive(Debug, Default)]
struct Whole {
    environment: Option<String>,
    replay_config: Option<String>,
}

impl Whole {
    fn of(record: &Object<'_>) -> Result<Self, Error> {
        let config = record.some("replay_config").map(json::text).transpose()?.flatten();
        Ok(Self { environment: record.id("environment")?, replay_config: config.map(Into::into) })
    }
}

impl Document for Whole {
    fn element(
        &self,
        text: &str,
        at: usize,
        context: &Context<'_>,
    ) -> Result<RawRollout, RecordError> {
        let mut raw = read(&record_object(text)?, self, context)?;
        raw.attempt = Some(at as u64);
        // Attempts share the run's name.
        let run = raw.run.take().unwrap_or_else(|| "attempt".to_owned());
        raw.id = Some(format!("{run}.{at}"));
        Ok(raw)
    }
}

/// Whether a value is a list of steps: its first element is an action with what came back, or it
/// has none.
fn steps(value: &[u8]) -> bool {
    let Some(list) = value.strip_prefix(b"[") else { return false };
    if list.trim_ascii_start().starts_with(b"]") {
        return true;
    }
    let keys = scan::entries(list);
    let has = |key: &[u8]| keys.iter().any(|e| e.key == key);
    has(b"action") && (has(b"observation") || has(b"response") || has(b"thought"))
}

/// Whether a value is a list of attempts.
fn attempts(value: &[u8]) -> bool {
    let Some(list) = value.strip_prefix(b"[") else { return false };
    scan::entries(list).iter().any(|e| e.key == b"trajectory" && steps(e.value))
}

/// A trajectory; what it does not say itself may stand in the `whole`.
fn read(
    record: &Object<'_>,
    whole: &Whole,
    context: &Context<'_>,
) -> Result<RawRollout, RecordError> {
    let Some(list) = record.some("trajectory") else {
        return Err(RecordError::missing("trajectory", "a list of steps was expected"));
    };
    if !json::is_array(list) {
        return Err(RecordError::unexpected(Some("trajectory"), "a list of steps was expected"));
    }
    let mut raw = RawRollout { harness: Some("swe-agent".to_owned()), ..RawRollout::default() };
    name(&mut raw, record, whole, context)?;
    if let Some(info) = record.object("info")? {
        raw.ending = info.string("exit_status")?.map(|s| status(&s)).unwrap_or_default();
        if let Some(version) = info.id("swe_agent_version")? {
            raw.other_keys.push(("swe_agent_version".to_owned(), version));
        }
    }
    for (at, step) in json::elements(list)?.into_iter().enumerate() {
        if let Some(reason) = content::no_entry(step, "step") {
            content::left_out(&mut raw, format!("trajectory[{at}]"), reason);
            continue;
        }
        let read = read_step(&Object::of(step)?, at, &mut raw)?;
        raw.steps.extend(read);
    }
    raw.prompt = prompt(record)?;
    Ok(raw)
}

/// Task, run and model.
fn name(
    raw: &mut RawRollout,
    record: &Object<'_>,
    whole: &Whole,
    context: &Context<'_>,
) -> Result<(), Error> {
    let replayed = match record.some("replay_config") {
        Some(config) => json::text(config)?.unwrap_or_default(),
        None => whole.replay_config.as_deref().unwrap_or_default().into(),
    };
    // The configuration is a text that holds JSON; a broken one only costs what it would say.
    let config = Object::parse(&replayed).unwrap_or_default();
    let agent = config.object("agent")?.unwrap_or_default();
    let instance = |id: Option<String>| id.filter(|id| !NO_INSTANCE.contains(&id.as_str()));
    let file = place::file(context.path, &ENDINGS);
    raw.task = instance(record.id("environment")?)
        .or(instance(whole.environment.clone()))
        .or_else(|| Some(file.to_owned()).filter(|f| !f.is_empty()))
        .or(instance(agent.id("name")?));
    let task = raw.task.as_deref().unwrap_or_default();
    let own = Some(file).filter(|f| !f.is_empty() && *f != task);
    raw.run = own.or_else(|| place::run(context.path, task)).map(str::to_owned);
    // A replay keeps the configuration of what it replays, but asks no model.
    if no_tokens(record)? {
        return Ok(());
    }
    let model = agent.object("model")?.unwrap_or_default().id("name")?;
    let model = model.or_else(|| model_of_run(raw.run.as_deref().unwrap_or_default()));
    raw.policy =
        model.filter(|m| !matches!(m.as_str(), "replay" | "human" | "instant_empty_submit"));
    Ok(())
}

/// Whether the statistics say that no token went to a model and none came back.
fn no_tokens(record: &Object<'_>) -> Result<bool, Error> {
    let info = record.object("info")?.unwrap_or_default();
    let stats = info.object("model_stats")?.unwrap_or_default();
    let none = |name: &str| Ok(stats.whole(name)? == Some(0));
    Ok(none("tokens_sent")? && none("tokens_received")?)
}

/// The model in a run folder of version 0.x: `<model>__<data>__<config>__t-0.00__p-0.95__…`.
fn model_of_run(run: &str) -> Option<String> {
    (run.contains("__t-") && run.contains("__p-"))
        .then(|| run.split("__").next().unwrap_or_default().to_owned())
}

/// What an exit status means. `submitted (exit_cost)` is a limit after which the harness handed in
/// what was there. Refused formats are a limit too: the harness stops after some of them. Giving up
/// is the agent's own end.
fn status(word: &str) -> Ending {
    let word = word.trim();
    let inner = word.strip_prefix("submitted (").and_then(|w| w.strip_suffix(')')).unwrap_or(word);
    match inner {
        "exit_cost"
        | "exit_context"
        | "exit_format"
        | "exit_command_timeout"
        | "exit_total_execution_time" => Ending::Limit(word.to_owned()),
        "exit_api" | "exit_error" | "exit_environment_error" => Ending::Infra(word.to_owned()),
        _ if inner.ends_with("_error") || inner.ends_with("Error") => {
            Ending::Infra(word.to_owned())
        }
        _ => Ending::Clean,
    }
}

/// A step; `None` for a marker that the harness writes when it stops the agent.
fn read_step(
    step: &Object<'_>,
    at: usize,
    raw: &mut RawRollout,
) -> Result<Option<RawStep>, RecordError> {
    let turn = raw.steps.len() as u32;
    let mut read = |name: &str| -> Result<Option<String>, Error> {
        let place = format_args!("trajectory[{at}].");
        Ok(content::read(&mut raw.notes, place, name, step.some(name))?.map(Into::into))
    };
    let (action, response) =
        (read("action")?.unwrap_or_default(), read("response")?.unwrap_or_default());
    let marker = matches!(
        action.trim(),
        "" | "exit_cost" | "exit_context" | "exit_format" | "exit_api" | "exit_error"
    );
    if marker && response.is_empty() {
        return Ok(None);
    }
    let observation = read("observation")?;
    let stopped = observation
        .as_deref()
        .is_some_and(|o| o.contains("was cancelled because it took more than"))
        .then_some(StepResult::Timeout);
    if action.trim().is_empty() {
        // An answer without an action: the harness asks again.
        return Ok(Some(RawStep {
            kind: RawKind::Text,
            thought: response,
            observation,
            told_to_continue: true,
            turn,
            ..RawStep::default()
        }));
    }
    let mut args = Map::new();
    args.insert("command".to_owned(), Value::String(action));
    Ok(Some(RawStep {
        kind: RawKind::Call,
        thought: read("thought")?.unwrap_or_default(),
        tool: Some("bash".to_owned()),
        args: RawArgs::Object(args),
        observation,
        stopped,
        turn,
        ..RawStep::default()
    }))
}

/// What the agent was told last before it began, demonstrations left out.
fn prompt(record: &Object<'_>) -> Result<Option<String>, Error> {
    let mut last = None;
    let Some(history) = record.some("history").filter(|h| json::is_array(h)) else {
        return Ok(None);
    };
    for message in json::elements(history)?.into_iter().filter(|m| json::is_object(m)) {
        let message = Object::of(message)?;
        if message.truth("is_demo") == Some(true) {
            continue;
        }
        match message.string("role")?.as_deref() {
            Some("user") => {
                last = message.some("content").map(json::content).transpose()?.flatten();
            }
            Some("assistant") => break,
            _ => {}
        }
    }
    Ok(last.map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str, path: &str) -> Vec<RawRollout> {
        let context = Context { path, ..Context::default() };
        let parts = SweAgent.parse(text, &context).unwrap();
        parts.into_iter().map(|p| p.rollout.unwrap()).collect()
    }

    #[test]
    fn a_trajectory_of_version_0() {
        let raw = read_all(
            r#"{"environment":"swe_main","trajectory":[
            {"action":"open a.py 3\n","observation":"[File: a.py]","response":"look\n```\nopen a.py 3\n```","state":"{}","thought":"look\n"},
            {"action":"sleep 999","observation":"The command 'sleep 999' was cancelled because it took more than 30 seconds.","response":"r","thought":""},
            {"action":"","observation":"again","response":"no action","thought":""},
            {"action":"exit_cost","observation":"Exited","response":"","thought":"Exit due to cost limit"}],
            "history":[{"role":"system","content":"s"},{"role":"user","content":"demo","is_demo":true},{"role":"user","content":"the issue"},{"role":"assistant","content":"x"}],
            "info":{"exit_status":"submitted (exit_cost)","submission":"d"}}"#,
            "/t/gpt4__easy__default__t-0.00__p-0.95__c-3.00__install-1/a__a-1.traj",
        )
        .remove(0);
        assert_eq!((raw.task.as_deref(), raw.policy.as_deref()), (Some("a__a-1"), Some("gpt4")));
        assert_eq!(raw.ending, Ending::Limit("submitted (exit_cost)".into()));
        assert_eq!(raw.prompt.as_deref(), Some("the issue"));
        let [open, sleep, none] = &raw.steps[..] else { panic!("three steps") };
        assert_eq!(open.args, json::args_text(r#"{"command":"open a.py 3\n"}"#));
        assert_eq!(sleep.stopped, Some(StepResult::Timeout));
        assert_eq!((none.kind, none.told_to_continue), (RawKind::Text, true));
    }

    #[test]
    fn attempts_are_rollouts() {
        let text = r#"{"attempts":[
            {"trajectory":[{"action":"ls","observation":"","response":"r","thought":"t"}],"history":[],"info":{"exit_status":"submitted"},"environment":"a__a-1","replay_config":"{\"agent\":{\"model\":{\"name\":\"m\"}}}"},
            7,
            {"trajectory":[],"history":[],"info":{"exit_status":"exit_api"},"environment":"a__a-1"}],
            "trajectory":[{"action":"ls","observation":"","response":"r","thought":"t"}],"info":{"best_attempt_idx":0}}"#;
        let context = Context { path: "/runs/run-3/a__a-1/a__a-1.traj", ..Context::default() };
        let parts = SweAgent.parse(text, &context).unwrap();
        assert_eq!(parts.len(), 3);
        assert!(parts[1].rollout.is_err());
        let first = parts[0].rollout.as_ref().unwrap();
        assert_eq!((first.id.as_deref(), first.attempt), (Some("run-3.0"), Some(0)));
        assert_eq!((first.task.as_deref(), first.policy.as_deref()), (Some("a__a-1"), Some("m")));
        assert_eq!(parts[2].rollout.as_ref().unwrap().ending, Ending::Infra("exit_api".into()));
        assert_eq!(SweAgent.sniff(&Shape::of("x", text.as_bytes(), true)), Sniff::Yes);
    }

    #[test]
    fn statuses() {
        for clean in ["submitted", "exit_forfeit", "exit_command", ""] {
            assert_eq!(status(clean), Ending::Clean, "{clean}");
        }
        assert_eq!(status("exit_format"), Ending::Limit("exit_format".into()));
        assert_eq!(
            status("submitted (exit_environment_error)"),
            Ending::Infra("submitted (exit_environment_error)".into())
        );
    }
}
