//! Chat messages in the `OpenAI` style: the part that other formats share, and the fallback reader
//! for JSON lines of conversations.
//!
//! Calls are read from `tool_calls`, from the old `function_call`, from content blocks, and from
//! XML in the text. Whether a text turn is a reply or a mistake is not decided here.

use serde_json::value::RawValue;

use super::json::{self, Error, Object};
use super::reader::{
    Context, Part, Reader, RecordError, Sniff, digest, digest64, record_object, short_digest,
};
use super::role::{self, Role};
use super::scan;
use super::shape::{RecordShape, Shape};
use super::turns::{Call, Reply, Turns};
use super::{calls, content, ending, frames, native, repair, segment, trajectory_rows};
use crate::rollout::raw::{Ending, RawRollout};

/// The fallback reader.
#[derive(Debug)]
pub struct Messages;

/// Fields of a message that may hold what it says.
const CONTENT: [&str; 3] = ["content", "value", "text"];

/// Fields that may hold the conversation.
const LISTS: [&str; 2] = ["messages", "conversations"];

/// Fields that may hold the task.
const TASK: [&str; 7] =
    ["task", "task_id", "problem_id", "instance_id", "example_id", "prompt_id", "group"];

/// Fields that may hold the rollout's id.
const ID: [&str; 5] = ["rollout_id", "traj_id", "trajectory_id", "id", "uuid"];

impl Reader for Messages {
    fn id(&self) -> &'static str {
        "messages"
    }

    fn title(&self) -> &'static str {
        "OpenAI-style chat messages, one conversation per line"
    }

    fn source(&self) -> &'static str {
        "OpenAI chat completions; SWE-bench/SWE-smith-trajectories (messages, resolved)"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = |r: &RecordShape<'_>| {
            LISTS.iter().any(|l| r.value(l).is_some_and(conversation))
                // These hold messages too, but need a reader that knows what is in them.
                && !r.has_any(&["trajectory_format", "schema_version", "simulations", "samples"])
        };
        if shape.any(known) { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some((_, list)) = record.first(&LISTS) else {
            return Err(RecordError::missing("messages", "a list of messages was expected"));
        };
        let mut raw =
            RawRollout { other_keys: native::other_keys(&record)?, ..RawRollout::default() };
        native::note_repeated(&record, &mut raw);
        raw.task = first_id(&record, &TASK)?;
        raw.id = first_id(&record, &ID)?;
        if let Some((task, attempt)) = raw.task.as_deref().and_then(trajectory_rows::sampled) {
            let task = task.to_owned();
            raw.id = raw.id.or_else(|| raw.task.clone());
            (raw.task, raw.attempt) = (Some(task), Some(attempt));
        }
        raw.policy = first_id(&record, &["model", "model_name", "policy"])?;
        raw.harness = first_id(&record, &["harness", "agent"])?;
        raw.namespace = record.id("namespace")?;
        if let Some((name, value)) = record.first(&["resolved", "target", "is_correct"]) {
            raw.verdict = match value.get() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            };
            raw.outcome_field = raw.verdict.map(|_| name.to_owned());
        }
        for name in ["reward", "score"] {
            if let Some(value) = record.get(name) {
                raw.reward = json::number(value)?;
                raw.reward_field = Some(name);
                raw.outcome_field = raw.outcome_field.or(Some(name.to_owned()));
                break;
            }
        }
        raw.ending = native::ending(&record, &["exit_status"])?;
        let embedded;
        let list = if list.get().starts_with('"') {
            embedded = repair::embedded(&json::string(list)?).into_owned();
            serde_json::from_str::<&RawValue>(&embedded)?
        } else {
            list
        };
        read_into(&mut raw, list)?;
        if raw.task.is_none() && record.first(&segment::PLACE).is_some() {
            // The segments of a rollout do not start alike: the second begins with a summary.
            raw.task = first_id(&record, &["group_id", "uid"])?;
        }
        if raw.task.is_none() {
            // Conversations that start alike are attempts at one task.
            let named =
                |p: &String| format!("prompt{}", short_digest(digest64(&digest(p.as_bytes()))));
            raw.task = raw.prompt.as_ref().map(named);
        }
        Ok(vec![Part::whole(raw)])
    }
}

/// Whether a value is a list of messages, or the text of one: its first element has a role.
fn conversation(value: &[u8]) -> bool {
    let inner = value.strip_prefix(b"\"").unwrap_or(value);
    let Some(list) = inner.strip_prefix(b"[") else { return false };
    if inner.len() < value.len() {
        return list.trim_ascii_start().starts_with(b"{");
    }
    scan::entries(list).iter().any(|e| e.key == b"role" || e.key == b"from")
}

/// What is said of a list of messages, steps or events that is `null`.
pub(super) const NOTHING: &str = "`null`: the rollout has no steps";

/// A rollout whose conversation is `null`: it has no steps, and without a limit or an error of its own
/// that is a failure of the infrastructure.
pub(super) fn never_began(mut raw: RawRollout, field: &str) -> RawRollout {
    raw.notes.push((field.to_owned(), NOTHING.to_owned()));
    if raw.ending == Ending::Clean {
        raw.ending = Ending::Infra("no messages".to_owned());
    }
    raw
}

pub(super) fn first_id(record: &Object<'_>, names: &[&str]) -> Result<Option<String>, Error> {
    for name in names {
        if let Some(id) = record.id(name)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Reads a list of messages of an agent in a harness into the rollout's steps.
pub fn read_into(raw: &mut RawRollout, list: &RawValue) -> Result<(), RecordError> {
    if !json::is_array(list) {
        return Err(RecordError::unexpected(Some("messages"), "a list of messages was expected"));
    }
    let mut turns = Turns::with_harness();
    for (at, message) in json::elements(list)?.into_iter().enumerate() {
        if let Some(end) = read_message(message, ("messages", at), &mut turns, raw)? {
            raw.ending = ending::worse(std::mem::take(&mut raw.ending), end);
        }
    }
    let prompt = turns.finish(raw);
    raw.prompt = raw.prompt.take().or(prompt);
    Ok(())
}

/// Reads one message; the result is an ending where the message is one (role `exit`). `place` is the list
/// that it stands in, and where there.
pub fn read_message(
    message: &RawValue,
    place: (&str, usize),
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<Option<Ending>, RecordError> {
    of_role(message, place, turns, raw).map_err(|error| error.in_list(place.0, place.1))
}

fn of_role(
    message: &RawValue,
    place: (&str, usize),
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<Option<Ending>, RecordError> {
    if !json::is_object(message) {
        return Err(RecordError::unexpected(Some("messages"), "each message must be an object"));
    }
    let message = Object::of(message)?;
    match role::of(&message, place, raw)? {
        Some(role) => read_as(role, &message, place, turns, raw),
        None => Ok(None),
    }
}

/// The same for a message of which it is known who speaks.
pub(super) fn read_as(
    role: Role,
    message: &Object<'_>,
    place: (&str, usize),
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<Option<Ending>, RecordError> {
    let content = message.first(&CONTENT).map(|(_, v)| v);
    content::note(raw, place, message, &CONTENT)?;
    match role {
        Role::Assistant => assistant(message, content, place, turns, raw)?,
        Role::Tool => {
            // Some write the id of the call as the message's own, others number all messages.
            let own = || message.id("id").map(|id| id.filter(|id| turns.called(id)));
            let id = message.id("tool_call_id")?.map_or_else(own, |id| Ok(Some(id)))?;
            turns.gets(id.as_deref(), result(message, content)?);
        }
        Role::User => {
            if message.some("tool_calls").is_some_and(|c| c.get() != "[]") {
                raw.excluded_calls += 1;
            }
            user(content, turns)?;
        }
        Role::Exit => {
            let status = match message.object("extra")? {
                Some(extra) => extra.string("exit_status")?.map(String::from),
                None => None,
            };
            return Ok(status.map(|s| ending::of_word(&s)));
        }
        Role::System => {}
    }
    Ok(None)
}

fn assistant(
    message: &Object<'_>,
    content: Option<&RawValue>,
    place: (&str, usize),
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    let mut said = String::new();
    if let Some((_, thinking)) = message.first(&["reasoning_content", "reasoning", "thinking"]) {
        said.push_str(&json::content(thinking)?.unwrap_or_default());
    }
    let body = content.map(json::content).transpose()?.flatten().unwrap_or_default();
    if !said.is_empty() && !body.is_empty() {
        said.push('\n');
    }
    said.push_str(&body);
    let mut calls = blocks(content)?;
    calls.extend(calls::of_message(message, place, &mut raw.notes)?);
    if calls.is_empty() {
        if let Some(call) = frames::xml_call(&said) {
            turns.says(&call.before);
            turns.calls(Call { tool: call.tool, args: call.args, id: None });
            return Ok(());
        }
        turns.says(&said);
        return Ok(());
    }
    if !said.is_empty() {
        turns.says(&said);
    }
    for call in calls {
        turns.calls(call);
    }
    Ok(())
}

/// Calls that stand as blocks in the content.
fn blocks(content: Option<&RawValue>) -> Result<Vec<Call>, Error> {
    let mut calls = Vec::new();
    for block in content_blocks(content)? {
        if block.string("type")?.as_deref() == Some("tool_use") {
            calls.push(calls::call_of(&block)?);
        }
    }
    Ok(calls)
}

fn content_blocks(content: Option<&RawValue>) -> Result<Vec<Object<'_>>, Error> {
    let Some(list) = content.filter(|c| json::is_array(c)) else { return Ok(Vec::new()) };
    json::elements(list)?.into_iter().filter(|b| json::is_object(b)).map(Object::of).collect()
}

fn user(content: Option<&RawValue>, turns: &mut Turns) -> Result<(), RecordError> {
    let mut results = false;
    for block in content_blocks(content)? {
        if block.string("type")?.as_deref() == Some("tool_result") {
            results = true;
            let id = block.id("tool_use_id")?;
            let mut reply = result(&block, block.some("content"))?;
            reply.is_error = block.truth("is_error").or(reply.is_error);
            turns.gets(id.as_deref(), reply);
        }
    }
    if !results {
        turns.hears(&content.map(json::content).transpose()?.flatten().unwrap_or_default());
    }
    Ok(())
}

/// What came back with a message or a block.
pub(super) fn result(message: &Object<'_>, content: Option<&RawValue>) -> Result<Reply, Error> {
    let text = content.map(json::content).transpose()?.flatten().unwrap_or_default();
    let mut reply = frames::framed(text.into_owned());
    if let Some(extra) = message.object("extra")?
        && let Some(code) = extra.some("returncode")
    {
        reply.exit_code = code.get().parse().ok().or(reply.exit_code);
    }
    reply.is_error = message.truth("is_error").or(message.truth("error")).or(reply.is_error);
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::{RawArgs, RawKind};

    fn read(text: &str) -> RawRollout {
        Messages.parse(text, &Context::default()).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn calls_as_texts_and_results_in_order() {
        let raw = read(
            r#"{"example_id":3,"reward":1,"messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":"","tool_calls":["{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}"]},
            {"role":"tool","content":"done","tool_calls":null}]}"#,
        );
        assert_eq!(raw.task.as_deref(), Some("3"));
        assert_eq!(raw.steps.len(), 1);
        assert_eq!(raw.steps[0].tool.as_deref(), Some("f"));
        assert_eq!(raw.steps[0].args, json::args_text(r#"{"x":1}"#));
        assert_eq!(raw.steps[0].observation.as_deref(), Some("done"));
    }

    #[test]
    fn content_blocks_hold_calls_and_results() {
        let raw = read(
            r#"{"messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool_use","id":"a","name":"Read","input":{"p":1}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no"}]}]},
            {"role":"assistant","content":"bye"}]}"#,
        );
        assert!(raw.task.as_deref().unwrap().starts_with("prompt~"));
        let kinds: Vec<_> = raw.steps.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [RawKind::Call, RawKind::Text]);
        assert_eq!(raw.steps[0].thought, "look");
        assert_eq!(raw.steps[0].is_error, Some(true));
        assert_eq!(raw.steps[0].observation.as_deref(), Some("no"));
    }

    #[test]
    fn a_call_without_a_name_stays_a_call() {
        let raw = read(
            r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"arguments":"{\"a\": "}}]}]}"#,
        );
        assert_eq!((raw.steps[0].kind, &raw.steps[0].tool), (RawKind::Call, &None));
        assert_eq!(raw.steps[0].args, RawArgs::Unparsable("{\"a\": ".into()));
    }

    /// Calls `a` and `b` of one answer, then these results, then another answer.
    fn answered(calls: &str, results: &str) -> Vec<(Option<String>, Option<String>)> {
        let text = format!(
            r#"{{"messages":[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":"","tool_calls":[{calls}]}},{results}
            {{"role":"assistant","content":"done"}}]}}"#
        );
        let steps = read(&text).steps;
        steps.into_iter().map(|s| (s.tool, s.observation)).collect()
    }

    fn told(steps: &[(Option<String>, Option<String>)]) -> Vec<(&str, Option<&str>)> {
        steps.iter().map(|(t, o)| (t.as_deref().unwrap_or("-"), o.as_deref())).collect()
    }

    const BY_ID: &str = r#"{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":2,"function":{"name":"b","arguments":"{}"}}"#;
    const BARE: &str =
        r#"{"function":{"name":"a","arguments":"{}"}},{"function":{"name":"b","arguments":"{}"}}"#;

    #[test]
    fn results_with_ids_reach_their_calls_in_any_order() {
        // An id is the same as a number and as a text.
        let results = r#"{"role":"tool","tool_call_id":"2","content":"B"},{"role":"tool","tool_call_id":1,"content":"A"},"#;
        let got = answered(BY_ID, results);
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B")), ("-", None)]);
    }

    #[test]
    fn results_without_ids_follow_the_calls_in_order() {
        let both = r#"{"role":"tool","content":"A"},{"role":"tool","content":"B"},"#;
        for calls in [BARE, BY_ID] {
            let got = answered(calls, both);
            assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B")), ("-", None)]);
        }
    }

    #[test]
    fn one_result_for_many_calls_is_what_the_last_of_them_left() {
        let got = answered(BARE, r#"{"role":"tool","content":"both"},"#);
        assert_eq!(told(&got), [("a", None), ("b", Some("both")), ("-", None)]);
    }

    #[test]
    fn with_fewer_results_than_calls_the_others_have_none() {
        let got = answered(BY_ID, r#"{"role":"tool","tool_call_id":"1","content":"A"},"#);
        assert_eq!(told(&got), [("a", Some("A")), ("b", None), ("-", None)]);
        // One with an id and one without: the second is of the call that still waits.
        let mixed =
            r#"{"role":"tool","tool_call_id":"2","content":"B"},{"role":"tool","content":"A"},"#;
        let got = answered(BY_ID, mixed);
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B")), ("-", None)]);
        let three = format!("{BARE},{}", r#"{"function":{"name":"c","arguments":"{}"}}"#);
        let two = r#"{"role":"tool","content":"A"},{"role":"tool","content":"B"},"#;
        let got = answered(&three, two);
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B")), ("c", None), ("-", None)]);
    }

    #[test]
    fn calls_with_one_id_take_their_results_one_each_and_nothing_is_lost() {
        let same = BY_ID.replace(r#""id":2"#, r#""id":"1""#);
        let results = r#"{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"1","content":"B"},"#;
        let got = answered(&same, results);
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B")), ("-", None)]);
        // A third one stays with the last of them.
        let more = format!("{results}{}", r#"{"role":"tool","tool_call_id":"1","content":"C"},"#);
        let got = answered(&same, &more);
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B\nC")), ("-", None)]);
    }

    #[test]
    fn a_result_of_an_unknown_id_goes_to_the_call_that_waits() {
        let got = answered(
            BY_ID,
            r#"{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"x","content":"B"},"#,
        );
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B")), ("-", None)]);
    }

    #[test]
    fn a_user_who_speaks_after_a_result_is_heard_with_it() {
        let results = r#"{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"2","content":"B"},{"role":"user","content":"That was wrong."},"#;
        let got = answered(BY_ID, results);
        assert_eq!(told(&got), [("a", Some("A")), ("b", Some("B\nThat was wrong.")), ("-", None)]);
    }

    #[test]
    fn content_that_is_no_text_is_read_and_noted() {
        let raw = read(
            r#"{"messages":[{"role":"user","content":7},{"role":"assistant","content":42},
            {"role":"user","content":{"x":1}},{"role":"assistant","content":[{"type":"text","text":"a"}]}]}"#,
        );
        assert_eq!(raw.steps[0].thought, "42");
        assert_eq!(raw.steps[0].observation.as_deref(), Some(r#"{"x":1}"#));
        let fields: Vec<&str> = raw.notes.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["messages[0].content", "messages[1].content", "messages[2].content"]);
    }
}
