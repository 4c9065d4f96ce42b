//! Claude Code sessions: the JSON lines of `~/.claude/projects`, and what `claude -p --output-format
//! stream-json` prints. One file is one rollout.
//!
//! An answer of the model is split over several lines with one message id; what a sub-agent did
//! stands on lines of its own and is not a step.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::content;
use super::json::{self, Error, Object};
use super::lines;
use super::reader::{Context, Layout, Part, Reader, RecordError, Sniff};
use super::shape::{RecordShape, Shape};
use super::turns::{Call, Reply, Turns};
use crate::rollout::StepResult;
use crate::rollout::raw::{Ending, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct ClaudeCode;

/// The model name of answers that the program made up itself.
const SYNTHETIC: &str = "<synthetic>";

impl Reader for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn title(&self) -> &'static str {
        "Claude Code sessions and stream-json output (JSON lines)"
    }

    fn source(&self) -> &'static str {
        "session files of Claude Code 2.x, and its stream-json output"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let kind = |r: &RecordShape<'_>, words: &[&[u8]]| {
            r.value("type").is_some_and(|t| words.contains(&t))
        };
        let known = |r: &RecordShape<'_>| {
            let session = r.has_any(&["sessionId", "session_id"]);
            let message = kind(r, &[b"\"user\"", b"\"assistant\""]) && r.object("message");
            message && (session || r.has("parentUuid"))
                || session && kind(r, &[b"\"system\""]) && r.value("subtype") == Some(b"\"init\"")
                || kind(r, &[b"\"summary\""]) && r.has("leafUuid")
                || kind(r, &[b"\"file-history-snapshot\""])
        };
        if shape.any(known) { Sniff::Yes } else { Sniff::No }
    }

    fn layout(&self, _: &Shape<'_>) -> Layout {
        Layout::Document
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let mut raw =
            RawRollout { harness: Some("claude-code".to_owned()), ..RawRollout::default() };
        let mut lost = Vec::new();
        let (all, numbers) = lines::array(text, &mut raw, &mut lost);
        let all = serde_json::from_str::<&RawValue>(&all)?;
        let mut session = Session { raw, ..Session::default() };
        let mut seen = BTreeSet::new();
        for (line, number) in json::elements(all)?.into_iter().zip(numbers) {
            let line = Object::of(line)?;
            session.number = number;
            // A session that was taken up again repeats lines.
            if line.id("uuid")?.is_none_or(|uuid| seen.insert(uuid)) {
                session.line(&line)?;
            }
        }
        let Session { mut raw, turns, messages, api_error, .. } = session;
        if messages == 0 {
            return Err(RecordError::missing("message", "no line holds a message"));
        }
        raw.prompt = turns.finish(&mut raw);
        if api_error && raw.ending == Ending::Clean {
            raw.ending = Ending::Infra("api_error".to_owned());
        }
        lines::name(&mut raw, context)?;
        Ok(vec![Part { lost, ..Part::whole(raw) }])
    }
}

#[derive(Default)]
struct Session {
    raw: RawRollout,
    turns: Turns,
    messages: u32,
    /// The line that is being read.
    number: usize,
    /// The last answer was an error message of the program.
    api_error: bool,
}

impl Session {
    fn line(&mut self, line: &Object<'_>) -> Result<(), RecordError> {
        if self.raw.id.is_none() {
            self.raw.id = line.id("sessionId")?.or(line.id("session_id")?);
        }
        let kind = line.string("type")?;
        let speaks = matches!(kind.as_deref(), Some("assistant" | "user"));
        let message = line.some("message").filter(|_| speaks);
        if let Some(reason) = message.and_then(|m| content::no_entry(m, "message")) {
            content::left_out(&mut self.raw, format!("line {}: message", self.number), reason);
        }
        match kind.as_deref() {
            Some("assistant") => {
                if let Some(message) = line.object("message")? {
                    self.messages += 1;
                    self.assistant(line, &message)?;
                }
            }
            Some("user") => {
                if let Some(message) = line.object("message")? {
                    self.messages += 1;
                    self.user(line, &message)?;
                }
            }
            Some("system") if line.string("subtype")?.as_deref() == Some("init") => {
                self.raw.policy = self.raw.policy.take().or(line.id("model")?);
            }
            Some("result") => {
                let failed = line.truth("is_error") == Some(true);
                let word = line.string("subtype")?.unwrap_or_default();
                self.raw.ending = match &*word {
                    "error_max_turns" | "error_max_budget_usd" => Ending::Limit(word.into_owned()),
                    "success" if !failed => Ending::Clean,
                    "success" => Ending::Infra("error".to_owned()),
                    _ => Ending::Infra(word.into_owned()),
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn assistant(&mut self, line: &Object<'_>, message: &Object<'_>) -> Result<(), RecordError> {
        let model = message.id("model")?.filter(|m| m != SYNTHETIC);
        let blocks = blocks(message)?;
        if aside(line) {
            for block in &blocks {
                let call = block.string("type")?.as_deref() == Some("tool_use");
                self.raw.excluded_calls += u32::from(call);
            }
            return Ok(());
        }
        self.api_error = line.truth("isApiErrorMessage") == Some(true);
        if self.api_error {
            return Ok(());
        }
        self.raw.policy = self.raw.policy.take().or(model);
        self.turns.answer(message.id("id")?.as_deref());
        if let Some(text) = self.content(message)? {
            self.turns.says(&text);
        }
        for block in &blocks {
            match block.string("type")?.as_deref() {
                Some("tool_use") => self.turns.calls(Call {
                    tool: block.id("name")?,
                    args: json::args(block.get("input"))?,
                    id: block.id("id")?,
                }),
                Some("text" | "thinking") => {
                    let text = block.first(&["text", "thinking"]);
                    let text = text.map(|(field, value)| self.block(field, Some(value)));
                    let text = text.transpose()?.flatten().unwrap_or_default();
                    if !text.is_empty() {
                        self.turns.says(&text);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn user(&mut self, line: &Object<'_>, message: &Object<'_>) -> Result<(), RecordError> {
        // What the program adds for itself is nothing that anybody said.
        let added = ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
        if aside(line) || added.iter().any(|name| line.truth(name) == Some(true)) {
            return Ok(());
        }
        if let Some(text) = self.content(message)? {
            self.turns.hears(&text);
        }
        let shown = line.object("toolUseResult")?.unwrap_or_default();
        let interrupted = shown.truth("interrupted") == Some(true);
        for block in blocks(message)? {
            match block.string("type")?.as_deref() {
                Some("tool_result") => {
                    let text = self.block("content", block.some("content"))?;
                    let reply = Reply {
                        text: text.unwrap_or_default().into_owned(),
                        is_error: block.truth("is_error"),
                        stopped: interrupted.then_some(StepResult::Interrupted),
                        ..Reply::default()
                    };
                    self.turns.gets(block.id("tool_use_id")?.as_deref(), reply);
                }
                Some("text") => {
                    let text = self.block("text", block.some("text"))?;
                    self.turns.hears(&text.unwrap_or_default());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Session {
    /// What a message says outside of blocks: all of it, or what stands among them and is none.
    fn content<'a>(&mut self, message: &Object<'a>) -> Result<Option<Cow<'a, str>>, Error> {
        let Some(value) = message.some("content") else { return Ok(None) };
        let place = format_args!("line {}: ", self.number);
        content::tell(&mut self.raw.notes, place, "message.content", value);
        if !json::is_array(value) {
            return json::content(value);
        }
        let mut bare = Vec::new();
        for part in json::elements(value)?.into_iter().filter(|part| !json::is_object(part)) {
            bare.extend(json::content(part)?.filter(|text| !text.is_empty()));
        }
        Ok((!bare.is_empty()).then(|| Cow::Owned(bare.join("\n"))))
    }

    /// The text of a field of a block.
    fn block<'a>(
        &mut self,
        field: &str,
        value: Option<&'a RawValue>,
    ) -> Result<Option<Cow<'a, str>>, Error> {
        let place = format_args!("line {}: message.content[].", self.number);
        content::read(&mut self.raw.notes, place, field, value)
    }
}

/// Whether a line belongs to a sub-agent.
fn aside(line: &Object<'_>) -> bool {
    line.truth("isSidechain") == Some(true) || line.some("parent_tool_use_id").is_some()
}

fn blocks<'a>(message: &Object<'a>) -> Result<Vec<Object<'a>>, Error> {
    let Some(list) = message.some("content").filter(|c| json::is_array(c)) else {
        return Ok(Vec::new());
    };
    json::elements(list)?.into_iter().filter(|b| json::is_object(b)).map(Object::of).collect()
}
