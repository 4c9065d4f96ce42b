//! Codex rollouts: JSON lines of `{timestamp, type, payload}`, and the older lines that are the
//! payloads themselves. One file is one rollout.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::content;
use super::json::{self, Error, Object};
use super::lines;
use super::reader::{Context, Layout, Part, Reader, RecordError, Sniff};
use super::shape::{RecordShape, Shape};
use super::turns::{Call, Reply, Turns};
use crate::rollout::raw::{Ending, RawArgs, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct Codex;

/// Types of lines.
const TYPES: [&[u8]; 5] = [
    b"\"session_meta\"",
    b"\"turn_context\"",
    b"\"response_item\"",
    b"\"event_msg\"",
    b"\"compacted\"",
];

/// How messages begin that the program writes in the user's name.
const ADDED: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<collaboration_mode>",
    "# AGENTS.md instructions",
];

impl Reader for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex rollouts (rollout-*.jsonl)"
    }

    fn source(&self) -> &'static str {
        "openai/codex codex-rs/protocol/src/protocol.rs, models.rs (RolloutLine, ResponseItem)"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = |r: &RecordShape<'_>| {
            r.object("payload") && r.value("type").is_some_and(|t| TYPES.contains(&t))
                || r.value("record_type") == Some(b"\"state\"")
                || !r.has("type") && r.has("id") && r.has("timestamp") && r.has("instructions")
        };
        if shape.any(known) { Sniff::Yes } else { Sniff::No }
    }

    fn layout(&self, _: &Shape<'_>) -> Layout {
        Layout::Document
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let mut raw = RawRollout { harness: Some("codex".to_owned()), ..RawRollout::default() };
        let mut lost = Vec::new();
        let (all, numbers) = lines::array(text, &mut raw, &mut lost);
        let all = serde_json::from_str::<&RawValue>(&all)?;
        let mut turns = Turns::default();
        let mut items = 0;
        for (line, number) in json::elements(all)?.into_iter().zip(numbers) {
            let line = Object::of(line)?;
            let Some(payload) = line.object("payload")? else {
                if raw.id.is_none() && line.get("type").is_none() {
                    raw.id = line.id("id")?;
                }
                items += u32::from(read_item(&line, number, &mut turns, &mut raw)?);
                continue;
            };
            match line.string("type")?.as_deref() {
                Some("session_meta") => raw.id = raw.id.take().or(payload.id("id")?),
                Some("turn_context") => raw.policy = payload.id("model")?.or(raw.policy.take()),
                Some("response_item") => {
                    items += u32::from(read_item(&payload, number, &mut turns, &mut raw)?);
                }
                Some("event_msg") => {
                    if let Some(end) = event(&payload)? {
                        raw.ending = end;
                    }
                }
                _ => {}
            }
        }
        if items == 0 {
            return Err(RecordError::missing("payload", "no line holds an item of a conversation"));
        }
        raw.prompt = turns.finish(&mut raw);
        lines::name(&mut raw, context)?;
        Ok(vec![Part { lost, ..Part::whole(raw) }])
    }
}

/// How it ended, where an event says so; work that went on afterwards takes it back.
fn event(payload: &Object<'_>) -> Result<Option<Ending>, Error> {
    Ok(match payload.string("type")?.as_deref() {
        Some("error" | "stream_error") => {
            let message = payload.string("message")?.unwrap_or_default();
            let line = message.trim().lines().next().unwrap_or("error");
            Some(Ending::Infra(json::short(line, 80).into_owned()))
        }
        Some("task_complete" | "turn_complete" | "task_started" | "turn_started") => {
            Some(Ending::Clean)
        }
        _ => None,
    })
}

/// Reads the item of a line; whether it is one of a conversation.
fn read_item<'a>(
    item: &Object<'a>,
    line: usize,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<bool, RecordError> {
    let mut read = |field: &str, value: Option<&'a RawValue>| {
        content::read(&mut raw.notes, format_args!("line {line}: "), field, value)
    };
    let kind = item.string("type")?.unwrap_or_default();
    let id = item.id("call_id")?;
    match &*kind {
        "message" => {
            let text = read("content", item.some("content"))?.unwrap_or_default();
            match item.string("role")?.as_deref() {
                Some("assistant") => turns.says(&text),
                Some("user") if !ADDED.iter().any(|a| text.trim_start().starts_with(a)) => {
                    turns.hears(&text);
                }
                _ => {}
            }
        }
        "reasoning" => {
            for name in ["summary", "content"] {
                let part = read(name, item.some(name))?;
                if let Some(text) = part.filter(|t| !t.is_empty()) {
                    turns.says(&text);
                }
            }
        }
        "function_call" => turns.calls(Call {
            tool: item.id("name")?,
            args: json::args(item.get("arguments"))?,
            id,
        }),
        // The input is a text of the tool's own making, no JSON.
        "custom_tool_call" => {
            let input = read("input", item.some("input"))?.unwrap_or_default().into_owned();
            let args = Map::from_iter([("input".to_owned(), Value::String(input))]);
            turns.calls(Call { tool: item.id("name")?, args: RawArgs::Object(args), id });
        }
        "local_shell_call" | "web_search_call" => turns.calls(Call {
            tool: Some(kind.trim_end_matches("_call").to_owned()),
            args: json::args(item.get("action"))?,
            id: id.or(item.id("id")?),
        }),
        "function_call_output" | "custom_tool_call_output" => {
            turns.gets(id.as_deref(), output(item, read)?);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// What came back: a text, or an object with one; the text may be JSON with `output` and an exit
/// code in `metadata`.
fn output<'a>(
    item: &Object<'a>,
    mut read: impl FnMut(&str, Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, Error>,
) -> Result<Reply, Error> {
    let mut reply = Reply::default();
    let Some(value) = item.some("output") else { return Ok(reply) };
    if let Some(object) = item.object("output")?
        && (object.get("content").is_some() || object.get("success").is_some())
    {
        let text = read("output.content", object.some("content"))?;
        reply.text = text.unwrap_or_default().into_owned();
        reply.is_error = object.truth("success").filter(|ok| !ok).map(|_| true);
        return Ok(reply);
    }
    reply.text = read("output", Some(value))?.unwrap_or_default().into_owned();
    if reply.text.starts_with('{')
        && let Ok(framed) = Object::parse(reply.text.trim_end())
        && let Ok(Some(metadata)) = framed.object("metadata")
    {
        reply.exit_code = metadata.some("exit_code").and_then(|c| c.get().parse().ok());
    }
    Ok(reply)
}
