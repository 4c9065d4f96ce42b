//! mini-SWE-agent trajectories (`*.traj.json`): version 1 with one fenced command per message,
//! version 2 with tool calls (`extra.actions`), and the oldest form, a bare list of messages.
//!
//! The outcome stands in no trajectory; it is joined from reports. A turn that version 2 refused is
//! not among its messages: only the refusal is, and it stands for the turn.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json::{self, Error, Object};
use super::reader::{Context, Layout, Part, Reader, RecordError, Sniff, record_object};
use super::role::{self, Role};
use super::shape::{RecordShape, Shape};
use super::turns::{Call, Reply, Turns};
use super::{calls, content, ending, frames, place, scan};
use crate::rollout::StepResult;
use crate::rollout::raw::{Ending, RawArgs, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct MiniSweAgent;

/// Words before a fenced command.
const FENCES: [&str; 2] = ["```bash", "```mswea_bash_command"];

/// Endings of the files' names.
const ENDINGS: [&str; 3] = [".traj.json", ".traj", ".json"];

impl Reader for MiniSweAgent {
    fn id(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn title(&self) -> &'static str {
        "mini-SWE-agent trajectories (.traj.json)"
    }

    fn source(&self) -> &'static str {
        "SWE-agent/mini-swe-agent@a83fcae src/minisweagent/agents/default.py, models/utils/"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let named = |r: &RecordShape<'_>| {
            r.value("trajectory_format").is_some_and(|v| v.starts_with(b"\"mini-swe-agent"))
        };
        let info = |r: &RecordShape<'_>| {
            let known = ["mini_version", "model_stats", "exit_status"];
            r.value("info").is_some_and(|info| {
                scan::entries(info).iter().any(|e| known.iter().any(|k| k.as_bytes() == e.key))
            })
        };
        let known = |r: &RecordShape<'_>| named(r) || (r.list("messages") && info(r));
        if shape.any(known) || bare(shape) { Sniff::Yes } else { Sniff::No }
    }

    fn layout(&self, shape: &Shape<'_>) -> Layout {
        // A list of messages is one rollout, not one per element.
        if shape.layout() == Layout::Elements { Layout::Document } else { shape.layout() }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let mut raw =
            RawRollout { harness: Some("mini-swe-agent".to_owned()), ..RawRollout::default() };
        let messages = if text.trim_start().starts_with('[') {
            serde_json::from_str::<&RawValue>(text)?
        } else {
            let record = record_object(text)?;
            raw.task = record.id("instance_id")?;
            if let Some(info) = record.object("info")? {
                read_info(&info, &mut raw)?;
            }
            record.some("messages").ok_or_else(|| {
                RecordError::missing("messages", "a list of messages was expected")
            })?
        };
        if !json::is_array(messages) {
            let reason = "a list of messages was expected";
            return Err(RecordError::unexpected(Some("messages"), reason));
        }
        name(&mut raw, context);
        let mut reading = Reading { turns: Turns::with_harness(), waiting: false };
        for (at, message) in json::elements(messages)?.into_iter().enumerate() {
            if let Some(reason) = content::no_entry(message, "message") {
                content::left_out(&mut raw, format!("messages[{at}]"), reason);
                continue;
            }
            let end = reading.message(&Object::of(message)?, at, &mut raw);
            if let Some(end) = end.map_err(|error| error.in_list("messages", at))? {
                raw.ending = ending::worse(std::mem::take(&mut raw.ending), end);
            }
        }
        raw.prompt = reading.turns.finish(&mut raw);
        Ok(vec![Part::whole(raw)])
    }
}

/// The oldest form: a list of messages, some of which hold a fenced command.
fn bare(shape: &Shape<'_>) -> bool {
    let fenced = |r: &RecordShape<'_>| {
        r.value("role") == Some(b"\"assistant\"")
            && r.value("content").is_some_and(|c| {
                FENCES.iter().any(|f| memchr::memmem::find(c, f.as_bytes()).is_some())
            })
    };
    shape.layout() == Layout::Elements
        && shape.records().iter().all(|r| r.has("role") && r.has("content"))
        && shape.any(fenced)
}

fn read_info(info: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    if let Some(config) = info.object("config")?
        && let Some(model) = config.object("model")?
    {
        raw.policy = model.id("model_name")?;
    }
    if let Some(version) = info.id("mini_version")? {
        raw.other_keys.push(("mini_version".to_owned(), version));
    }
    raw.ending = info.string("exit_status")?.map(|s| status(&s)).unwrap_or_default();
    Ok(())
}

/// What an exit status means. A limit on refused answers is a limit: the model would have gone on.
/// Every other word is the name of an exception.
fn status(word: &str) -> Ending {
    match word.trim() {
        "" | "Submitted" | "UserInterruption" => Ending::Clean,
        limit if limit.starts_with("LimitsExceeded") => Ending::Limit(limit.to_owned()),
        limit @ ("TimeExceeded" | "RepeatedFormatError" | "ContextWindowExceededError") => {
            Ending::Limit(limit.to_owned())
        }
        class => Ending::Infra(json::short(class, 80).into_owned()),
    }
}

/// Task and run by folders: `<run>/<instance>/<instance>.traj.json`.
fn name(raw: &mut RawRollout, context: &Context<'_>) {
    let file = place::file(context.path, &ENDINGS);
    if raw.task.is_none() {
        raw.task = place::folder(context.path).map(str::to_owned);
    }
    let task = raw.task.as_deref().unwrap_or_default();
    // A file that is not named like its task is named like its run.
    let own = Some(file).filter(|f| !f.is_empty() && *f != task);
    raw.run = own.or_else(|| place::run(context.path, task)).map(str::to_owned);
}

struct Reading {
    turns: Turns,
    /// Calls without an id wait for the next message of the user.
    waiting: bool,
}

impl Reading {
    /// Reads one message; the result is how it ended, where the message says so.
    fn message(
        &mut self,
        message: &Object<'_>,
        at: usize,
        raw: &mut RawRollout,
    ) -> Result<Option<Ending>, RecordError> {
        let place = ("messages", at);
        let extra = message.object("extra")?.unwrap_or_default();
        if message.string("type")?.as_deref() == Some("function_call_output") {
            content::note(raw, place, message, &["output"])?;
            let reply = reply(message.some("output"), &extra)?;
            self.turns.gets(message.id("call_id")?.as_deref(), reply);
            return Ok(None);
        }
        // An answer of the Responses API stands there as it came.
        if message.some("role").is_none() && message.some("output").is_some_and(json::is_array) {
            content::note(raw, place, message, &[])?;
            let text = said(message)?;
            let calls = calls(message, &extra, place, raw)?;
            self.assistant(&text, calls);
            return Ok(None);
        }
        let Some(role) = role::of(message, place, raw)? else { return Ok(None) };
        content::note(raw, place, message, &["content"])?;
        let content = message.some("content");
        match role {
            Role::Assistant => {
                let text = content.map(json::content).transpose()?.flatten().unwrap_or_default();
                let calls = calls(message, &extra, place, raw)?;
                self.assistant(&text, calls);
            }
            Role::Tool => {
                let reply = reply(content, &extra)?;
                self.turns.gets(message.id("tool_call_id")?.as_deref(), reply);
            }
            Role::User => self.user(content, &extra)?,
            Role::Exit => return Ok(extra.string("exit_status")?.map(|s| status(&s))),
            Role::System => {}
        }
        Ok(None)
    }

    fn assistant(&mut self, text: &str, calls: Vec<Call>) {
        if !calls.is_empty() {
            self.waiting = calls.iter().all(|c| c.id.is_none());
            // A command without an id stands in the text, and is not said twice.
            let (before, after) = match (self.waiting, fenced(text)) {
                (true, Some((before, _, after))) => (before, after),
                _ => (text, ""),
            };
            self.says(before);
            for call in calls {
                self.turns.calls(call);
            }
            self.says(after);
            return;
        }
        let Some((before, command, after)) = fenced(text) else {
            self.waiting = false;
            self.turns.says(text);
            return;
        };
        self.waiting = true;
        self.says(before);
        self.turns.calls(bash(command, None));
        self.says(after);
    }

    fn says(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.turns.says(text.trim());
        }
    }

    fn user(&mut self, content: Option<&RawValue>, extra: &Object<'_>) -> Result<(), RecordError> {
        let reply = reply(content, extra)?;
        if extra.string("interrupt_type")?.as_deref() == Some("FormatError") {
            let answer = extra.string("model_response")?.unwrap_or_default();
            self.turns.refuses(&answer, &reply.text);
        } else if std::mem::take(&mut self.waiting) {
            self.turns.gets(None, reply);
        } else {
            self.turns.hears(&reply.text);
        }
        Ok(())
    }
}

/// The calls of a message: as the model made them, else as they were run.
fn calls(
    message: &Object<'_>,
    extra: &Object<'_>,
    place: (&str, usize),
    raw: &mut RawRollout,
) -> Result<Vec<Call>, RecordError> {
    let mut calls = calls::of_message(message, place, &mut raw.notes)?;
    let nameless = calls.iter().all(|c| c.tool.is_none());
    if let Some(list) = extra.some("actions").filter(|l| nameless && json::is_array(l)) {
        let run = json::elements(list)?;
        if !run.is_empty() {
            calls.clear();
        }
        for action in run.into_iter().filter(|a| json::is_object(a)) {
            let action = Object::of(action)?;
            let command = action.string("command")?.unwrap_or_default();
            calls.push(bash(&command, action.id("tool_call_id")?));
        }
    }
    Ok(calls)
}

fn bash(command: &str, id: Option<String>) -> Call {
    let mut args = Map::new();
    args.insert("command".to_owned(), Value::String(command.to_owned()));
    Call { tool: Some("bash".to_owned()), args: RawArgs::Object(args), id }
}

/// What an answer of the Responses API says besides its calls.
fn said(message: &Object<'_>) -> Result<String, RecordError> {
    let mut all = Vec::new();
    let Some(output) = message.some("output") else { return Ok(String::new()) };
    for item in json::elements(output)?.into_iter().filter(|i| json::is_object(i)) {
        let item = Object::of(item)?;
        if item.string("type")?.as_deref() == Some("function_call") {
            continue;
        }
        if let Some((_, part)) = item.first(&["content", "summary"])
            && let Some(text) = json::content(part)?.filter(|t| !t.is_empty())
        {
            all.push(text.into_owned());
        }
    }
    Ok(all.join("\n"))
}

/// A result: the text as the model saw it, with its exit code.
fn reply(content: Option<&RawValue>, extra: &Object<'_>) -> Result<Reply, Error> {
    let text = content.map(json::content).transpose()?.flatten().unwrap_or_default();
    let killed = text.starts_with("The last command <command>")
        && text.contains("</command> timed out and has been killed");
    let mut reply = frames::framed(text.into_owned());
    if let Some(code) = extra.some("returncode") {
        reply.exit_code = code.get().parse().ok().or(reply.exit_code);
    }
    let exception = extra.string("exception_info")?.unwrap_or_default();
    if killed || exception.contains("timed out") || exception.contains("TimeoutExpired") {
        reply.stopped = Some(StepResult::Timeout);
    }
    Ok(reply)
}

/// The only fenced command of a text with what stands before and after it; `None` when there is none
/// or more than one, which the harness refuses.
fn fenced(text: &str) -> Option<(&str, &str, &str)> {
    let (at, body, end) = next_fence(text, 0)?;
    if next_fence(text, end).is_some() {
        return None;
    }
    Some((text.get(..at)?, body.trim(), text.get(end..)?))
}

/// The next fenced command: where its fence starts, its body, where it ends.
fn next_fence(text: &str, mut from: usize) -> Option<(usize, &str, usize)> {
    loop {
        let rest = text.get(from..)?;
        let (at, fence) = FENCES
            .iter()
            .filter_map(|f| rest.find(f).map(|at| (at, f.len())))
            .min_by_key(|&(at, _)| at)?;
        let start = from + at + fence;
        let after = text.get(start..)?;
        let space = after.len() - after.trim_start().len();
        // White space with a line end in it stands between the fence and the command.
        let line = after.get(..space).and_then(|s| s.rfind('\n'));
        if let Some(line) = line
            && let Some(len) =
                after.get(line..).and_then(|b| b.get(1..)).and_then(|b| b.find("\n```"))
        {
            let body = start + line + 1;
            return Some((from + at, text.get(body..body + len)?, body + len + 4));
        }
        from = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawKind;

    fn read(text: &str, path: &str) -> RawRollout {
        let context = Context { path, ..Context::default() };
        MiniSweAgent.parse(text, &context).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn fences() {
        assert_eq!(fenced("a\n```bash\nls\n```\nb"), Some(("a\n", "ls", "\nb")));
        assert_eq!(fenced("```mswea_bash_command\n\n  ls\npwd \n```").unwrap().1, "ls\npwd");
        assert_eq!(fenced("```bash\nls\n```\n```bash\npwd\n```"), None);
        assert_eq!(fenced("```bash ls```"), None);
        assert_eq!(fenced("```python\nls\n```"), None);
    }

    #[test]
    fn the_oldest_form_is_a_bare_list() {
        let text = r#"[{"role":"system","content":"s"},{"role":"user","content":"fix"},
            {"role":"assistant","content":"THOUGHT: look\n\n```bash\nls\n```"},
            {"role":"user","content":"<returncode>2</returncode>\n<output>\nx</output>"},
            {"role":"assistant","content":"two\n```bash\na\n```\n```bash\nb\n```"},
            {"role":"user","content":"Please always provide EXACTLY ONE action in triple backticks."}]"#;
        let raw = read(text, "/r/run-7/a__a-1/a__a-1.traj.json");
        assert_eq!((raw.task.as_deref(), raw.run.as_deref()), (Some("a__a-1"), Some("run-7")));
        assert_eq!(raw.prompt.as_deref(), Some("fix"));
        let [look, two] = &raw.steps[..] else { panic!("two steps") };
        assert_eq!((&*look.thought, look.exit_code), ("THOUGHT: look", Some(2)));
        assert_eq!(look.args, json::args_text(r#"{"command":"ls"}"#));
        assert_eq!((two.kind, two.told_to_continue), (RawKind::Text, true));
        let shape = Shape::of("x", text.as_bytes(), true);
        assert_eq!(MiniSweAgent.sniff(&shape), Sniff::Yes);
        assert_eq!(MiniSweAgent.layout(&shape), Layout::Document);
    }

    #[test]
    fn a_refusal_stands_for_its_turn() {
        let raw = read(
            r#"{"trajectory_format":"mini-swe-agent-1.1","instance_id":"t","info":{"exit_status":"RepeatedFormatError"},"messages":[
            {"role":"user","content":"fix"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},{"id":"b","function":{"name":"bash","arguments":"{\"command\":\"sleep 99\"}"}}],"extra":{"actions":[{"command":"ls","tool_call_id":"a"},{"command":"sleep 99","tool_call_id":"b"}]}},
            {"role":"tool","tool_call_id":"a","content":"x","extra":{"returncode":0}},
            {"role":"tool","tool_call_id":"b","content":"y","extra":{"returncode":-1,"exception_info":"Command timed out after 60 seconds"}},
            {"role":"user","content":"Tool call error: no","extra":{"interrupt_type":"FormatError"}},
            {"role":"exit","content":"","extra":{"exit_status":"RepeatedFormatError","submission":""}}]}"#,
            "",
        );
        assert_eq!(raw.ending, Ending::Limit("RepeatedFormatError".into()));
        let [a, b, c] = &raw.steps[..] else { panic!("three steps") };
        assert_eq!((a.exit_code, a.turn, b.turn, c.turn), (Some(0), 0, 0, 1));
        assert_eq!((b.exit_code, b.stopped), (Some(-1), Some(StepResult::Timeout)));
        assert_eq!((c.kind, c.told_to_continue), (RawKind::Text, true));
        assert_eq!(c.observation.as_deref(), Some("Tool call error: no"));
    }

    #[test]
    fn texts_with_actions_and_answers_of_the_responses_api() {
        let raw = read(
            r#"{"info":{"exit_status":"InternalServerError"},"messages":[
            {"role":"assistant","content":"go\n```mswea_bash_command\nls\n```","extra":{"actions":[{"command":"ls"}]}},
            {"role":"user","content":"out","extra":{"returncode":1}},
            {"object":"response","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","name":"bash","call_id":"c"}],"extra":{"actions":[{"command":"pwd","tool_call_id":"c"}]}},
            {"type":"function_call_output","call_id":"c","output":"/","extra":{"returncode":0}}, 7]}"#,
            "/runs/r/t/t.traj.json",
        );
        assert_eq!(raw.ending, Ending::Infra("InternalServerError".into()));
        let [go, hm] = &raw.steps[..] else { panic!("two steps") };
        assert_eq!(
            (&*go.thought, go.exit_code, go.observation.as_deref()),
            ("go", Some(1), Some("out"))
        );
        assert_eq!((&*hm.thought, hm.exit_code), ("hm", Some(0)));
        assert_eq!(raw.notes[0].0, "messages[4]");
    }
}
