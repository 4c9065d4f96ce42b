//! From the events of `OpenHands` to steps: flat events of V0, pairs of them, and events of the V1
//! SDK.
//!
//! Actions and observations are joined by the id of the event or of the call, never by order: what came
//! back from an action that is not there is left out, and noted. Calls of one answer of the model share a
//! turn, although V0 runs them one after the other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::content;
use super::json::{self, Error, Object};
use super::openhands_calls::{Call, sdk_args};
use super::turns::demands;
use crate::rollout::StepResult;
use crate::rollout::raw::{Ending, RawKind, RawRollout, RawStep};

/// Actions of the agent that are no steps of it.
const NO_STEPS: [&str; 7] = [
    "system",
    "recall",
    "change_agent_state",
    "null",
    "condensation",
    "condensation_request",
    "reject",
];

/// Builds steps from events.
#[derive(Debug, Default)]
pub struct Events {
    steps: Vec<RawStep>,
    prompt: Option<String>,
    by_event: BTreeMap<String, usize>,
    by_call: BTreeMap<String, usize>,
    /// The answer of the model that the open turn belongs to.
    answer: Option<String>,
    ending: Ending,
    /// Events that are no steps, by their ids: what they caused is no result.
    aside: BTreeSet<String>,
    /// Steps that have what came back from them.
    answered: BTreeSet<usize>,
    /// The place of the event that is being read.
    place: String,
    notes: Vec<(String, String)>,
}

impl Events {
    /// Reads a list of events into the rollout; what is no event is noted.
    pub fn read_into(raw: &mut RawRollout, list: &RawValue, field: &str) -> Result<(), Error> {
        let mut events = Self::default();
        for (at, event) in json::elements(list)?.into_iter().enumerate() {
            events.place = format!("{field}[{at}]");
            if let Some(reason) = events.event_or_pair(event)? {
                raw.dropped += 1;
                events.note("", reason);
            }
        }
        raw.notes.append(&mut events.notes);
        raw.steps = events.steps;
        raw.prompt = raw.prompt.take().or(events.prompt);
        if raw.ending == Ending::Clean {
            raw.ending = events.ending;
        }
        Ok(())
    }

    fn note(&mut self, field: &str, reason: String) {
        self.notes.push((format!("{}{field}", self.place), reason));
    }

    /// The text under a key of a part of the event: a string, or parts.
    pub(super) fn text(&mut self, object: &Object<'_>, key: &str) -> Result<String, Error> {
        let place = format_args!("{}.", self.place);
        let text = content::read(&mut self.notes, place, key, object.some(key))?;
        Ok(text.unwrap_or_default().into_owned())
    }

    /// Reads an event, or an action and what came back from it; the result is why it is none.
    fn event_or_pair(&mut self, event: &RawValue) -> Result<Option<String>, Error> {
        if json::is_array(event) {
            let mut odd = None;
            for half in json::elements(event)?.into_iter().filter(|half| !json::is_null(half)) {
                odd = self.object(half)?.or(odd);
            }
            return Ok(odd);
        }
        self.object(event)
    }

    fn object(&mut self, event: &RawValue) -> Result<Option<String>, Error> {
        if let Some(reason) = content::no_entry(event, "event") {
            return Ok(Some(reason));
        }
        let event = Object::of(event)?;
        if event.get("kind").is_some() && event.get("args").is_none() {
            self.sdk(&event)?;
        } else if event.get("observation").is_some() {
            self.observation(&event)?;
        } else if event.get("action").is_some() {
            self.action(&event)?;
        }
        Ok(None)
    }

    /// Opens a step; those of one answer share a turn, and only the first of them has the thought.
    fn push(&mut self, answer: Option<String>, mut step: RawStep) {
        let turn = self.steps.last().map_or(0, |s| s.turn);
        let shared = answer.is_some() && answer == self.answer && !self.steps.is_empty();
        step.turn = if shared || self.steps.is_empty() { turn } else { turn + 1 };
        if shared {
            step.thought = String::new();
        }
        self.answer = answer;
        self.steps.push(step);
    }

    fn action(&mut self, event: &Object<'_>) -> Result<(), Error> {
        let name = event.string("action")?.unwrap_or_default();
        let args = event.object("args")?.unwrap_or_default();
        if event.string("source")?.as_deref() == Some("user") {
            if name == "message" {
                let text = self.text(&args, "content")?;
                self.user(&text);
            }
            self.aside.extend(event.id("id")?);
            return Ok(());
        }
        if NO_STEPS.contains(&&*name) {
            self.aside.extend(event.id("id")?);
            return Ok(());
        }
        let at = self.steps.len();
        if name == "message" {
            let thought = self.text(&args, "content")?;
            self.push(None, RawStep { kind: RawKind::Text, thought, ..RawStep::default() });
        } else {
            let call = Call::of(event, &name, &args, self)?;
            if let Some(id) = &call.id {
                self.by_call.insert(id.clone(), at);
            }
            self.push(
                call.answer,
                RawStep {
                    thought: call.thought,
                    tool: call.tool,
                    args: call.args,
                    call_id: call.id,
                    ..RawStep::default()
                },
            );
        }
        if let Some(id) = event.id("id")? {
            self.by_event.insert(id, at);
        }
        Ok(())
    }

    fn observation(&mut self, event: &Object<'_>) -> Result<(), Error> {
        let kind = event.string("observation")?.unwrap_or_default();
        let extras = event.object("extras")?.unwrap_or_default();
        let metadata = match event.object("tool_call_metadata")? {
            Some(metadata) => metadata.id("tool_call_id")?,
            None => None,
        };
        let cause = event.id("cause")?;
        let at = metadata
            .as_ref()
            .and_then(|id| self.by_call.get(id))
            .or_else(|| cause.as_ref().and_then(|id| self.by_event.get(id)))
            .copied();
        let text = self.text(event, "content")?;
        let failed = (kind == "error").then_some(true);
        let Some(at) = at else {
            let own = event.string("source")?.as_deref() == Some("agent");
            let word = extras.id("error_id")?.unwrap_or_default();
            match (cause, metadata) {
                (None, _) if failed.is_some() && own && !word.starts_with("STATUS$") => {
                    self.refused(text);
                }
                (Some(cause), _) if self.aside.contains(&cause) => {}
                (Some(cause), _) => self.unasked("event", &cause),
                (None, Some(id)) => self.unasked("call", &id),
                (None, None) => {}
            }
            return Ok(());
        };
        let mut stopped = None;
        let mut code = None;
        if let Some(metadata) = extras.object("metadata")? {
            code = metadata.some("exit_code").and_then(|c| c.get().parse::<i64>().ok());
            let suffix = metadata.string("suffix")?.unwrap_or_default();
            if suffix.contains("timed out") {
                stopped = Some(StepResult::Timeout);
            }
        } else if let Some(given) = extras.some("exit_code") {
            code = given.get().parse().ok();
        }
        // -1 stands for a command that still runs.
        self.answers(at);
        self.give(at, &text, code.filter(|&c| c != -1), failed, stopped);
        Ok(())
    }

    /// An event of the V1 SDK, by its `kind`.
    fn sdk(&mut self, event: &Object<'_>) -> Result<(), Error> {
        match event.string("kind")?.as_deref() {
            Some("MessageEvent") => {
                let message = event.object("llm_message")?.unwrap_or_default();
                let text = self.text(&message, "content")?;
                if event.string("source")?.as_deref() == Some("agent") {
                    let step = RawStep { kind: RawKind::Text, thought: text, ..RawStep::default() };
                    self.push(None, step);
                } else {
                    self.user(&text);
                }
            }
            Some("ActionEvent") => {
                let at = self.steps.len();
                let (id, event_id) = (event.id("tool_call_id")?, event.id("id")?);
                let args = sdk_args(event)?;
                let said = [self.text(event, "reasoning_content")?, self.text(event, "thought")?];
                let said: Vec<String> = said.into_iter().filter(|t| !t.is_empty()).collect();
                let thought = said.join("\n");
                let tool = event.id("tool_name")?;
                let step =
                    RawStep { thought, tool, args, call_id: id.clone(), ..RawStep::default() };
                self.push(event.id("llm_response_id")?, step);
                self.by_call.extend(id.map(|id| (id, at)));
                self.by_event.extend(event_id.map(|id| (id, at)));
            }
            Some("ObservationEvent") => {
                let seen = event.object("observation")?.unwrap_or_default();
                let code = seen.some("exit_code").or(match seen.object("metadata")? {
                    Some(metadata) => metadata.some("exit_code"),
                    None => None,
                });
                let code = code.and_then(|c| c.get().parse::<i64>().ok()).filter(|&c| c != -1);
                let stopped = (seen.truth("timeout") == Some(true)).then_some(StepResult::Timeout);
                let text = match self.text(&seen, "content")? {
                    text if text.is_empty() => self.text(&seen, "output")?,
                    text => text,
                };
                if let Some(at) = self.target(event)? {
                    let failed = seen.truth("is_error").filter(|&e| e);
                    self.answers(at);
                    self.give(at, &text, code, failed, stopped);
                } else {
                    let id = event.id("tool_call_id")?.or(event.id("action_id")?);
                    self.unasked("call", &id.unwrap_or_default());
                }
            }
            Some("AgentErrorEvent" | "UserRejectObservation") => {
                let text = match self.text(event, "error")? {
                    text if text.is_empty() => self.text(event, "rejection_reason")?,
                    text => text,
                };
                match self.target(event)? {
                    Some(at) => {
                        self.answers(at);
                        self.give(at, &text, None, Some(true), None);
                    }
                    None => self.refused(text),
                }
            }
            Some("ConversationErrorEvent") => {
                self.ending = ending(&self.text(event, "code")?, &self.text(event, "detail")?);
            }
            _ => {}
        }
        Ok(())
    }

    /// The step that an event answers.
    fn target(&self, event: &Object<'_>) -> Result<Option<usize>, Error> {
        let call = event.id("tool_call_id")?.and_then(|id| self.by_call.get(&id));
        let event = event.id("action_id")?.and_then(|id| self.by_event.get(&id));
        Ok(call.or(event).copied())
    }

    /// Notes what came back from nothing that is there.
    fn unasked(&mut self, what: &str, id: &str) {
        let id = json::short(id, 40);
        let reason = format!("it came back from {what} `{id}`, which is no action here: left out");
        self.note("", reason);
    }

    /// Something came back from a step; a second time it is noted.
    fn answers(&mut self, at: usize) {
        if !self.answered.insert(at) {
            let reason = format!("another result for steps[{at}], which has one: put behind it");
            self.note("", reason);
        }
    }

    /// What a user says, or a harness in its place: first the task, later an answer.
    fn user(&mut self, text: &str) {
        let Some(last) = self.steps.last_mut() else {
            self.prompt = self.prompt.take().or_else(|| Some(text.to_owned()));
            return;
        };
        if last.kind == RawKind::Text && last.observation.is_none() {
            last.told_to_continue =
                demands(text) || text.contains("did not include a function call");
        }
        let at = self.steps.len() - 1;
        self.give(at, text, None, None, None);
        self.answer = None;
    }

    /// A call that could not be read is not among the events: only the refusal is, and it stands
    /// for the turn.
    fn refused(&mut self, text: String) {
        let observation = Some(text);
        self.push(
            None,
            RawStep {
                kind: RawKind::Text,
                observation,
                told_to_continue: true,
                is_error: Some(true),
                ..RawStep::default()
            },
        );
    }

    fn give(
        &mut self,
        at: usize,
        text: &str,
        code: Option<i64>,
        failed: Option<bool>,
        stopped: Option<StepResult>,
    ) {
        let Some(step) = self.steps.get_mut(at) else { return };
        match &mut step.observation {
            Some(all) => {
                if !all.is_empty() && !text.is_empty() {
                    all.push('\n');
                }
                all.push_str(text);
            }
            None => step.observation = Some(text.to_owned()),
        }
        step.exit_code = step.exit_code.or(code);
        step.is_error = step.is_error.or(failed);
        step.stopped = step.stopped.or(stopped);
    }
}

/// What the `error` of a run means: a limit where it names one, else the infrastructure.
#[must_use]
pub fn ending(code: &str, detail: &str) -> Ending {
    let all = format!("{code} {detail}").to_ascii_lowercase();
    let limits = [
        ("maximum iteration", "max_iterations"),
        ("max iteration", "max_iterations"),
        ("maxiterations", "max_iterations"),
        ("maximum budget", "max_budget"),
        ("budget", "max_budget"),
        ("stuck", "stuck_in_loop"),
        ("contextwindow", "context_window"),
        ("context window", "context_window"),
    ];
    if let Some((_, word)) = limits.iter().find(|(part, _)| all.contains(part)) {
        return Ending::Limit((*word).to_owned());
    }
    let word = if code.trim().is_empty() { detail } else { code };
    let line = word.trim().lines().next().unwrap_or("error");
    Ending::Infra(json::short(line, 80).into_owned())
}
