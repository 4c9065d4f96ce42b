//! `OpenHands` evaluations (`output.jsonl`, V0 and V1, critic attempts) and exported sessions (a list
//! of events).

use super::json::{self, Error, Object};
use super::openhands_events::{self, Events};
use super::place;
use super::reader::{Context, Layout, Part, Reader, RecordError, Sniff, record_object};
use super::shape::{RecordShape, Shape};
use crate::rollout::raw::{RawNumber, RawRollout};
use serde_json::value::RawValue;

/// The reader of evaluations.
#[derive(Debug)]
pub struct OpenHands;

/// The reader of exported sessions.
#[derive(Debug)]
pub struct OpenHandsSession;

impl Reader for OpenHands {
    fn id(&self) -> &'static str {
        "openhands"
    }

    fn title(&self) -> &'static str {
        "OpenHands evaluation output (output.jsonl, V0 and V1)"
    }

    fn source(&self) -> &'static str {
        "All-Hands-AI/OpenHands@156d068 evaluation/utils/shared.py; OpenHands/benchmarks@4e5469e"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = |r: &RecordShape<'_>| {
            r.has("instance_id")
                && r.has("history")
                && r.has_any(&["test_result", "metrics", "metadata", "instruction"])
        };
        if shape.any(known) { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let mut raw = RawRollout { task: record.id("instance_id")?, ..RawRollout::default() };
        name(&record, &mut raw, context)?;
        if let Some(error) = record.some("error") {
            let text = json::content(error)?.unwrap_or_default();
            if !text.trim().is_empty() {
                raw.ending = openhands_events::ending("", &text);
            }
        }
        verdict(&record, &mut raw)?;
        match record.some("history") {
            Some(list) if json::is_array(list) => Events::read_into(&mut raw, list, "history")?,
            Some(_) => {
                let reason = "a list of events was expected";
                return Err(RecordError::unexpected(Some("history"), reason));
            }
            // A run that failed before its first event.
            None => {}
        }
        if let Some(told) = record.string("instruction")? {
            raw.prompt = Some(told.into_owned());
        }
        Ok(vec![Part::whole(raw)])
    }
}

fn name(
    record: &Object<'_>,
    raw: &mut RawRollout,
    context: &Context<'_>,
) -> Result<(), RecordError> {
    let metadata = record.object("metadata")?.unwrap_or_default();
    for holder in ["llm_config", "llm"] {
        if raw.policy.is_none() {
            raw.policy = metadata.object(holder)?.unwrap_or_default().id("model")?;
        }
    }
    raw.harness = metadata.id("agent_class")?.or_else(|| Some("openhands".to_owned()));
    if let Some(dataset) = metadata.id("dataset")? {
        raw.other_keys.push(("dataset".to_owned(), dataset));
    }
    let folder = metadata.string("eval_output_dir")?.unwrap_or_default();
    let run = folder.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
    let run = run.or_else(|| place::run(context.path, ""));
    // `output.critic_attempt_2.jsonl` holds the second attempts.
    let file = place::file(context.path, &[".jsonl", ".json"]);
    let critic = file.split_once("critic_attempt_").and_then(|(_, k)| k.parse().ok());
    raw.attempt = record.whole("attempt")?.or(critic);
    // The evaluation writes all records again, and the best attempts stand in `output.jsonl` once more.
    raw.home = place::parent(context.path).map(str::to_owned);
    match raw.attempt {
        Some(attempt) => raw.id = Some(format!("{}.{attempt}", run.unwrap_or("attempt"))),
        None => raw.run = run.map(str::to_owned),
    }
    Ok(())
}

/// The verdict, where the evaluation wrote it into the record.
fn verdict(record: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    let result = record.object("test_result")?.unwrap_or_default();
    let places = [
        ("report.resolved", record.object("report")?),
        ("test_result.report.resolved", result.object("report")?),
    ];
    for (field, holder) in places {
        if let Some(resolved) = holder.and_then(|h| h.truth("resolved")) {
            (raw.verdict, raw.outcome_field) = (Some(resolved), Some(field.to_owned()));
            return Ok(());
        }
    }
    if let Some(resolved) = record.truth("resolved") {
        (raw.verdict, raw.outcome_field) = (Some(resolved), Some("resolved".to_owned()));
    }
    for field in ["score", "reward"] {
        let number = result.number(field)?;
        if raw.verdict.is_none() && number.value().is_some() && raw.reward == RawNumber::Missing {
            raw.reward = number;
            raw.outcome_field = Some(format!("test_result.{field}"));
        }
    }
    Ok(())
}

impl Reader for OpenHandsSession {
    fn id(&self) -> &'static str {
        "openhands-gui"
    }

    fn title(&self) -> &'static str {
        "OpenHands session (a list of events, as the interface exports it)"
    }

    fn source(&self) -> &'static str {
        "All-Hands-AI/OpenHands@156d068 openhands/events/serialization/; OpenHands/software-agent-sdk"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let sources: [&[u8]; 3] = [b"\"agent\"", b"\"user\"", b"\"environment\""];
        let v0 = |r: &RecordShape<'_>| {
            let ours = r.value("source").is_some_and(|s| sources.contains(&s)) && r.has("id");
            let action = r.has("action") && r.has("args");
            ours && (action || r.has("observation") && r.has("content"))
        };
        let v1 = |r: &RecordShape<'_>| {
            r.value("kind").is_some_and(|k| k.ends_with(b"Event\"")) && r.has("source")
        };
        let known = shape.any(v0) || shape.any(v1);
        if known && !shape.any(|r| r.has_any(&["history", "trajectory"])) {
            Sniff::Yes
        } else {
            Sniff::No
        }
    }

    fn layout(&self, _: &Shape<'_>) -> Layout {
        Layout::Document
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let mut raw = RawRollout { harness: Some("openhands".to_owned()), ..RawRollout::default() };
        let mut lost = Vec::new();
        if text.starts_with('[') {
            let list = serde_json::from_str::<&RawValue>(text)?;
            Events::read_into(&mut raw, list, "events")?;
        } else {
            let (list, _) = super::lines::array(text, &mut raw, &mut lost);
            let list = serde_json::from_str::<&RawValue>(&list)?;
            Events::read_into(&mut raw, list, "events")?;
        }
        let file = place::file(context.path, &[".jsonl", ".json"]);
        raw.run = Some(file).filter(|f| !f.is_empty()).map(str::to_owned);
        // Sessions that start alike are attempts at one task.
        raw.task = raw.prompt.as_deref().map(place::task_of_prompt);
        if raw.task.is_none() {
            return Err(RecordError::missing("source", "no event holds a message of the user"));
        }
        Ok(vec![Part { lost, ..Part::whole(raw) }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::StepResult;
    use crate::rollout::raw::{Ending, RawKind};

    fn read(reader: &dyn Reader, text: &str, path: &str) -> RawRollout {
        let context = Context { path, ..Context::default() };
        reader.parse(text, &context).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn calls_of_one_answer_share_a_turn() {
        let response = r#"{"id":"g1","choices":[{"message":{"content":"look","tool_calls":[{"id":"a","function":{"name":"execute_bash","arguments":"{\"command\":\"ls\"}"}},{"id":"b","function":{"name":"str_replace_editor","arguments":"{\"command\":\"view\",\"path\":\"/x\"}"}}]}}]}"#;
        let text = format!(
            r#"{{"instance_id":"t","test_result":{{"report":{{"resolved":true}}}},"metadata":{{"llm_config":{{"model":"m"}},"agent_class":"CodeActAgent","eval_output_dir":"out/d/m_run_1"}},"error":null,"history":[
            {{"id":0,"source":"agent","action":"system","args":{{"content":"s"}}}},
            {{"id":1,"source":"user","action":"message","args":{{"content":"fix"}}}},
            {{"id":4,"source":"agent","action":"run","args":{{"command":"ls","thought":"look"}},"tool_call_metadata":{{"function_name":"execute_bash","tool_call_id":"a","model_response":{response}}}}},
            {{"id":5,"cause":4,"source":"agent","observation":"run","content":"x","extras":{{"metadata":{{"exit_code":2,"suffix":""}}}}}},
            {{"id":6,"source":"agent","action":"read","args":{{"path":"/x","thought":""}},"tool_call_metadata":{{"function_name":"str_replace_editor","tool_call_id":"b","model_response":{response}}}}},
            {{"id":7,"cause":6,"source":"agent","observation":"read","content":"y","extras":{{}}}},
            {{"id":8,"source":"agent","observation":"error","content":"Parameter 'command' is expected","extras":{{"error_id":""}}}},
            [{{"id":9,"source":"agent","action":"run","args":{{"command":"sleep","thought":"wait","hidden":false}}}},{{"id":10,"cause":9,"observation":"run","content":"","extras":{{"metadata":{{"exit_code":-1,"suffix":"[The command timed out after 9 seconds"}}}}}}],
            5]}}"#
        );
        let raw = read(&OpenHands, &text, "");
        assert_eq!(
            (raw.verdict, raw.outcome_field.as_deref()),
            (Some(true), Some("test_result.report.resolved"))
        );
        assert_eq!((raw.policy.as_deref(), raw.run.as_deref()), (Some("m"), Some("m_run_1")));
        let [ls, view, refused, sleep] = &raw.steps[..] else { panic!("{:?}", raw.steps) };
        assert_eq!((&*ls.thought, ls.exit_code, ls.turn), ("look", Some(2), 0));
        assert_eq!(
            (&*view.thought, view.tool.as_deref(), view.turn),
            ("", Some("str_replace_editor"), 0)
        );
        assert_eq!(view.args, json::args_text(r#"{"command":"view","path":"/x"}"#));
        assert_eq!(
            (refused.kind, refused.told_to_continue, refused.turn),
            (RawKind::Text, true, 1)
        );
        assert_eq!((sleep.exit_code, sleep.stopped), (None, Some(StepResult::Timeout)));
        assert_eq!(sleep.args, json::args_text(r#"{"command":"sleep"}"#));
        assert_eq!(raw.notes.len(), 1);
    }

    #[test]
    fn events_of_the_sdk_and_attempts() {
        let text = r#"{"instance_id":"t","attempt":2,"test_result":{},"error":"Conversation reached max iterations","history":[
            {"kind":"SystemPromptEvent","source":"agent"},
            {"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"fix"}]}},
            {"kind":"ActionEvent","id":"e1","source":"agent","thought":[{"type":"text","text":"look"}],"tool_name":"terminal","tool_call_id":"a","tool_call":{"id":"a","name":"terminal","arguments":"{\"command\":\"ls\"}"},"action":{"kind":"TerminalAction","command":"ls"},"llm_response_id":"r"},
            {"kind":"ActionEvent","id":"e2","source":"agent","thought":[],"tool_name":"file_editor","tool_call_id":"b","action":{"kind":"FileEditorAction","command":"view","path":"/x"},"llm_response_id":"r"},
            {"kind":"ObservationEvent","source":"environment","tool_call_id":"b","action_id":"e2","observation":{"kind":"F","content":[{"type":"text","text":"no such file"}],"is_error":true}},
            {"kind":"ObservationEvent","source":"environment","tool_call_id":"a","action_id":"e1","observation":{"kind":"T","content":[{"type":"text","text":"x"}],"exit_code":0,"is_error":false}},
            {"kind":"MessageEvent","source":"agent","llm_message":{"role":"assistant","content":[{"type":"text","text":"done?"}]}},
            {"kind":"MessageEvent","source":"user","llm_message":{"content":[{"type":"text","text":"Please continue working on the task"}]}}]}"#;
        let raw = read(&OpenHands, text, "/o/run/output.jsonl");
        assert_eq!((raw.id.as_deref(), raw.attempt), (Some("run.2"), Some(2)));
        assert_eq!(raw.ending, Ending::Limit("max_iterations".into()));
        let [ls, view, said] = &raw.steps[..] else { panic!("three steps") };
        assert_eq!((&*ls.thought, ls.exit_code, ls.turn), ("look", Some(0), 0));
        assert_eq!(view.args, json::args_text(r#"{"command":"view","path":"/x"}"#));
        assert_eq!(
            (view.is_error, view.observation.as_deref()),
            (Some(true), Some("no such file"))
        );
        assert_eq!((said.turn, said.told_to_continue), (1, true));
    }

    #[test]
    fn a_session_is_a_list_or_lines() {
        let events = [
            r#"{"id":0,"source":"user","action":"message","args":{"content":"hi"}}"#,
            r#"{"id":1,"source":"agent","action":"finish","args":{"thought":"bye","outputs":{}}}"#,
        ];
        let list = format!("[{}]", events.join(","));
        let lines = format!("{}\n{{\"id\":\n{}\n", events[0], events[1]);
        for text in [&list, &lines] {
            assert_eq!(OpenHandsSession.sniff(&Shape::of("x", text.as_bytes(), true)), Sniff::Yes);
            let raw = read(&OpenHandsSession, text.trim(), "/s/one.json");
            assert_eq!((raw.steps.len(), raw.run.as_deref()), (1, Some("one")));
            assert!(raw.task.unwrap().starts_with("prompt~"));
        }
    }
}
