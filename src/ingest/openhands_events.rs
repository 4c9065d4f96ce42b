//! From the events of `OpenHands` to steps: flat events of V0, pairs of them, and events of the V1
//! SDK.
//!
//! Actions and observations are joined by the id of the event or of the call, never by order. Calls
//! of one answer of the model share a turn, although V0 runs them one after the other.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json::{self, Error, Object};
use super::turns::demands;
use crate::rollout::StepResult;
use crate::rollout::raw::{Ending, RawArgs, RawKind, RawRollout, RawStep};

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

/// Arguments of V0 actions that the harness adds.
const ADDED: [&str; 7] =
    ["thought", "blocking", "is_static", "cwd", "hidden", "confirmation_state", "impl_source"];

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
}

impl Events {
    /// Reads a list of events into the rollout; what is no event is noted.
    pub fn read_into(raw: &mut RawRollout, list: &RawValue, field: &str) -> Result<(), Error> {
        let mut events = Self::default();
        for (at, event) in json::elements(list)?.into_iter().enumerate() {
            if !events.event_or_pair(event)? {
                let reason = "no event: an object was expected; left out".to_owned();
                raw.dropped += 1;
                raw.notes.push((format!("{field}[{at}]"), reason));
            }
        }
        raw.steps = events.steps;
        raw.prompt = raw.prompt.take().or(events.prompt);
        if raw.ending == Ending::Clean {
            raw.ending = events.ending;
        }
        Ok(())
    }

    fn event_or_pair(&mut self, event: &RawValue) -> Result<bool, Error> {
        if json::is_array(event) {
            let mut all = true;
            for half in json::elements(event)? {
                all &= json::is_null(half) || self.object(half)?;
            }
            return Ok(all);
        }
        self.object(event)
    }

    fn object(&mut self, event: &RawValue) -> Result<bool, Error> {
        if !json::is_object(event) {
            return Ok(false);
        }
        let event = Object::of(event)?;
        if event.get("kind").is_some() && event.get("args").is_none() {
            self.sdk(&event)?;
        } else if event.get("observation").is_some() {
            self.observation(&event)?;
        } else if event.get("action").is_some() {
            self.action(&event)?;
        }
        Ok(true)
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
                self.user(&content(&args)?);
            }
            return Ok(());
        }
        if NO_STEPS.contains(&&*name) {
            return Ok(());
        }
        let at = self.steps.len();
        if name == "message" {
            let thought = content(&args)?;
            self.push(None, RawStep { kind: RawKind::Text, thought, ..RawStep::default() });
        } else {
            let call = Call::of(event, &name, &args)?;
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
            .and_then(|id| self.by_call.get(&id))
            .or_else(|| cause.as_ref().and_then(|id| self.by_event.get(id)))
            .copied();
        let text = content(event)?;
        let failed = (kind == "error").then_some(true);
        let Some(at) = at else {
            let own = event.string("source")?.as_deref() == Some("agent");
            let word = extras.id("error_id")?.unwrap_or_default();
            if failed.is_some() && own && cause.is_none() && !word.starts_with("STATUS$") {
                self.refused(text);
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
        self.give(at, &text, code.filter(|&c| c != -1), failed, stopped);
        Ok(())
    }

    /// An event of the V1 SDK, by its `kind`.
    fn sdk(&mut self, event: &Object<'_>) -> Result<(), Error> {
        match event.string("kind")?.as_deref() {
            Some("MessageEvent") => {
                let message = event.object("llm_message")?.unwrap_or_default();
                let text = content(&message)?;
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
                let said = [part(event, "reasoning_content")?, part(event, "thought")?];
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
                let text = match content(&seen)? {
                    text if text.is_empty() => part(&seen, "output")?,
                    text => text,
                };
                if let Some(at) = self.target(event)? {
                    let failed = seen.truth("is_error").filter(|&e| e);
                    self.give(at, &text, code, failed, stopped);
                }
            }
            Some("AgentErrorEvent" | "UserRejectObservation") => {
                let text = match part(event, "error")? {
                    text if text.is_empty() => part(event, "rejection_reason")?,
                    text => text,
                };
                match self.target(event)? {
                    Some(at) => self.give(at, &text, None, Some(true), None),
                    None => self.refused(text),
                }
            }
            Some("ConversationErrorEvent") => {
                self.ending = ending(&part(event, "code")?, &part(event, "detail")?);
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

/// A call of V0 with everything that belongs to it.
struct Call {
    tool: Option<String>,
    args: RawArgs,
    id: Option<String>,
    answer: Option<String>,
    thought: String,
}

impl Call {
    /// The call as the model made it, where that is kept; else as the action gives it.
    fn of(event: &Object<'_>, name: &str, args: &Object<'_>) -> Result<Self, Error> {
        let metadata = event.object("tool_call_metadata")?.unwrap_or_default();
        let id = metadata.id("tool_call_id")?;
        let response = metadata.object("model_response")?.unwrap_or_default();
        let mut call = Self {
            tool: metadata.id("function_name")?.or_else(|| Some(name.to_owned())),
            args: RawArgs::default(),
            answer: response.id("id")?,
            thought: String::new(),
            id,
        };
        let own = if name == "think" { String::new() } else { part(args, "thought")? };
        if let Some(message) = message(&response)? {
            call.thought = part(&message, "content")?;
            if let Some(given) = arguments(&message, call.id.as_deref())? {
                if call.thought.is_empty() {
                    call.thought = own;
                }
                call.args = given;
                return Ok(call);
            }
        }
        if call.thought.is_empty() {
            call.thought = own;
        }
        let mut map = serde_json::Map::new();
        for (key, value) in args.iter() {
            let added = ADDED.contains(&key) && !(name == "think" && key == "thought");
            if !added && !json::is_null(value) {
                map.insert(key.to_owned(), serde_json::from_str(value.get())?);
            }
        }
        call.args = RawArgs::Object(map);
        Ok(call)
    }
}

/// The first message of an answer.
fn message<'a>(response: &Object<'a>) -> Result<Option<Object<'a>>, Error> {
    let Some(choices) = response.some("choices").filter(|c| json::is_array(c)) else {
        return Ok(None);
    };
    match json::elements(choices)?.first().filter(|c| json::is_object(c)) {
        Some(choice) => Object::of(choice)?.object("message"),
        None => Ok(None),
    }
}

/// The arguments of the call with this id.
fn arguments(message: &Object<'_>, id: Option<&str>) -> Result<Option<RawArgs>, Error> {
    let Some(list) = message.some("tool_calls").filter(|l| json::is_array(l)) else {
        return Ok(None);
    };
    for call in json::elements(list)?.into_iter().filter(|c| json::is_object(c)) {
        let call = Object::of(call)?;
        if call.id("id")?.as_deref() == id
            && let Some(function) = call.object("function")?
        {
            return json::args(function.get("arguments")).map(Some);
        }
    }
    Ok(None)
}

/// The arguments of a V1 call: as the model wrote them, else the fields of the action.
fn sdk_args(event: &Object<'_>) -> Result<RawArgs, Error> {
    if let Some(call) = event.object("tool_call")? {
        let function = call.object("function")?;
        let holder = function.as_ref().unwrap_or(&call);
        if let Some(given) = holder.some("arguments") {
            return json::args(Some(given));
        }
    }
    let mut args = json::args(event.get("action"))?;
    if let RawArgs::Object(map) = &mut args {
        map.remove("kind");
    }
    Ok(args)
}

fn content(object: &Object<'_>) -> Result<String, Error> {
    part(object, "content")
}

/// The text under a key: a string, or parts.
fn part(object: &Object<'_>, key: &str) -> Result<String, Error> {
    let text = object.some(key).map(json::content).transpose()?.flatten();
    Ok(text.unwrap_or_default().into_owned())
}
