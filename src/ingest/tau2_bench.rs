//! tau2-bench results: an object with `info`, `tasks` and `simulations`, or one simulation per file.
//!
//! The user is simulated and has tools of its own: its calls are counted, and are no steps of the
//! policy. The fixed greeting that opens a conversation is no step either, and is counted, too.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::content;
use super::document::{self, Document};
use super::ending;
use super::json::{self, Error, Object};
use super::messages;
use super::native;
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::role::{self, Role};
use super::scan;
use super::shape::{RecordShape, Shape};
use super::turns::Turns;
use crate::rollout::raw::{Ending, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct Tau2Bench;

/// The key of the rollouts.
const SIMULATIONS: &str = "simulations";

impl Reader for Tau2Bench {
    fn id(&self) -> &'static str {
        "tau2-bench"
    }

    fn title(&self) -> &'static str {
        "tau2-bench results (simulations in one document, or one per file)"
    }

    fn source(&self) -> &'static str {
        "sierra-research/tau2-bench@a2c0247 src/tau2/data_model/simulation.py, message.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let run = |r: &RecordShape<'_>| {
            r.object("info") && r.has("timestamp") && (r.list("tasks") || r.cut())
        };
        let document = |r: &RecordShape<'_>| r.list("simulations") && r.has_any(&["info", "tasks"]);
        // The rest of the document may come after the simulations.
        let first = |r: &RecordShape<'_>| {
            let list = r.value(SIMULATIONS).and_then(|v| v.strip_prefix(b"["));
            let keys = list.map(scan::entries).unwrap_or_default();
            let has = |key: &[u8]| keys.iter().any(|e| e.key == key);
            has(b"task_id") && has(b"termination_reason")
        };
        if shape.any(|r| document(r) || first(r) || run(r) && r.cut() || one_simulation(r)) {
            return Sniff::Yes;
        }
        if shape.any(run) {
            return Sniff::NotRollouts(NotRollouts {
                what: "a tau2-bench run: its settings and tasks".into(),
                missing: "the simulations stand in files of their own".into(),
                hint: "give the folder: the simulations are in `simulations/` beside this file"
                    .into(),
            });
        }
        Sniff::No
    }

    /// `<run>/results.json` has the settings and tasks of `<run>/simulations/<uuid>.json`.
    fn described_in(&self, path: &str) -> Option<String> {
        let (run, _) = path.rsplit_once("/simulations/")?;
        Some(format!("{run}/results.json"))
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(list) = record.some(SIMULATIONS) else {
            // A description that cannot be read costs what it would say.
            let described = context.header.and_then(|h| Run::of(&Object::parse(h).ok()?).ok());
            let run = described.unwrap_or_default();
            return Ok(vec![Part::whole(read_simulation(&record, &run, context.path)?)]);
        };
        if !json::is_array(list) {
            return Err(RecordError::unexpected(Some(SIMULATIONS), "a list was expected"));
        }
        document::parts(list, &Run::of(&record)?, context)
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &["info", "tasks"]
    }

    fn elements(&self) -> Option<&'static str> {
        Some(SIMULATIONS)
    }

    fn document(&self, text: &str, _: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Run::of(&record_object(text)?)?))
    }
}

impl Document for Run {
    fn element(
        &self,
        text: &str,
        _: usize,
        context: &Context<'_>,
    ) -> Result<RawRollout, RecordError> {
        read_simulation(&record_object(text)?, self, context.path)
    }
}

fn one_simulation(r: &RecordShape<'_>) -> bool {
    r.has("task_id")
        && r.has("termination_reason")
        && (r.has_any(&["messages", "ticks"]) || r.cut())
}

/// The domain that a run's file or folder is named after.
fn domain_of(path: &str) -> Option<String> {
    const DOMAINS: [&str; 5] = ["airline", "retail", "telecom", "banking", "mock"];
    let mut words = path.rsplit('/').take(3).flat_map(|f| f.split(['_', '-', ' ', '.']));
    words.find_map(|word| DOMAINS.into_iter().find(|d| word == *d)).map(str::to_owned)
}

/// What holds for all simulations of a run.
#[derive(Debug, Default)]
struct Run {
    domain: Option<String>,
    policy: Option<String>,
    harness: Option<String>,
    prompts: BTreeMap<String, String>,
}

impl Run {
    fn of(record: &Object<'_>) -> Result<Self, Error> {
        let mut run = Self::default();
        if let Some(info) = record.object("info")? {
            if let Some(agent) = info.object("agent_info")? {
                run.policy = agent.id("llm")?;
                run.harness = agent.id("implementation")?;
            }
            if let Some(environment) = info.object("environment_info")? {
                run.domain = environment.id("domain_name")?;
            }
        }
        if let Some(tasks) = record.some("tasks").filter(|t| json::is_array(t)) {
            for task in json::elements(tasks)?.into_iter().filter(|t| json::is_object(t)) {
                let task = Object::of(task)?;
                if let (Some(id), Some(prompt)) = (task.id("id")?, wish(&task)?) {
                    run.prompts.insert(id, prompt);
                }
            }
        }
        Ok(run)
    }
}

/// What the user of a task wants.
fn wish(task: &Object<'_>) -> Result<Option<String>, Error> {
    let Some(scenario) = task.object("user_scenario")? else { return Ok(None) };
    if let Some(instructions) = scenario.object("instructions")? {
        return Ok(instructions.string("reason_for_call")?.map(Into::into));
    }
    Ok(scenario.string("instructions")?.map(Into::into))
}

/// `path` is where it stands: a run that does not say its domain is named after it.
fn read_simulation(record: &Object<'_>, run: &Run, path: &str) -> Result<RawRollout, RecordError> {
    let task = record.id("task_id")?;
    let mut raw = RawRollout {
        id: record.id("id")?.or(record.id("trial")?),
        prompt: task.as_ref().and_then(|t| run.prompts.get(t).cloned()),
        task,
        namespace: run.domain.clone().or_else(|| domain_of(path)),
        policy: run.policy.clone(),
        harness: run.harness.clone(),
        attempt: record.whole("trial")?,
        outcome_field: Some("reward_info.reward".to_owned()),
        ..RawRollout::default()
    };
    native::note_repeated(record, &mut raw);
    if let Some(seed) = record.id("seed")? {
        raw.other_keys.push(("seed".to_owned(), seed));
    }
    if let Some(info) = record.object("reward_info")? {
        raw.reward = info.number("reward")?;
        if let Some(parts) = info.object("reward_breakdown")? {
            for (name, value) in parts.iter() {
                raw.named_rewards.extend(json::finite_number(value)?.map(|v| (name.to_owned(), v)));
            }
        }
    }
    if let Some(reason) = record.string("termination_reason")? {
        raw.ending = match &*reason {
            "too_many_errors" => Ending::Limit(reason.into_owned()),
            word => ending::of_word(word),
        };
    }
    if record.get("messages").is_some_and(json::is_null) && record.some("ticks").is_none() {
        return Ok(messages::never_began(raw, "messages"));
    }
    let Some(list) = record.some("messages") else {
        let hint = "simulations of spoken conversations hold `ticks`, which are not read";
        return Err(RecordError::missing("messages", "a list of messages was expected").hint(hint));
    };
    if !json::is_array(list) {
        return Err(RecordError::unexpected(Some("messages"), "a list of messages was expected"));
    }
    let mut turns = Turns::with_user();
    let list = json::elements(list)?;
    let from = usize::from(greeted(&list)?);
    raw.excluded_messages = from as u32;
    for (at, message) in list.into_iter().enumerate().skip(from) {
        read_message(message, at, &mut turns, &mut raw)?;
    }
    let first = turns.finish(&mut raw);
    raw.prompt = raw.prompt.or(first);
    Ok(raw)
}

/// Whether a conversation opens with a greeting: the agent speaks before anybody asked.
fn greeted(list: &[&RawValue]) -> Result<bool, RecordError> {
    let [first, second, ..] = list else { return Ok(false) };
    if !json::is_object(first) || !json::is_object(second) {
        return Ok(false);
    }
    let (first, second) = (Object::of(first)?, Object::of(second)?);
    Ok(role::plain(&first)? == Some(Role::Assistant)
        && calls(&first)? == 0
        && role::plain(&second)? == Some(Role::User))
}

fn calls(message: &Object<'_>) -> Result<u32, Error> {
    let Some(given) = message.some("tool_calls").filter(|c| !matches!(c.get(), "{}" | "\"\""))
    else {
        return Ok(0);
    };
    // What is no list counts as one call.
    Ok(if json::is_array(given) { json::elements(given)?.len() as u32 } else { 1 })
}

fn read_message(
    given: &RawValue,
    at: usize,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    if !json::is_object(given) {
        let error = RecordError::unexpected(Some("messages"), "each message must be an object");
        return Err(error.in_list("messages", at));
    }
    let message = Object::of(given)?;
    if let Some(list) = message.some("tool_messages").filter(|l| json::is_array(l)) {
        for one in json::elements(list)? {
            read_message(one, at, turns, raw)?;
        }
        return Ok(());
    }
    let place = ("messages", at);
    let Some(role) = role::of(&message, place, raw)? else { return Ok(()) };
    let by_user = message.string("requestor")?.as_deref() == Some("user");
    match role {
        Role::Tool if by_user => {}
        Role::Tool => {
            content::note(raw, place, &message, &["content"])?;
            // A result has the id of its call as its own.
            let id = message.id("tool_call_id")?.or(message.id("id")?);
            let reply = messages::result(&message, message.some("content"))?;
            turns.gets(id.as_deref(), reply);
        }
        Role::User => {
            raw.excluded_calls += calls(&message)?;
            content::note(raw, place, &message, &["content"])?;
            // A message that only calls says nothing that the agent could hear.
            let content = message.some("content").map(json::content).transpose()?.flatten();
            if let Some(text) = content.filter(|t| !t.is_empty()) {
                turns.hears(&text);
            }
        }
        role => {
            let read = messages::read_as(role, &message, place, turns, raw);
            read.map_err(|error| error.in_list("messages", at))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawKind;

    #[test]
    fn greeting_user_calls_and_bundled_results() {
        let text = r#"{"timestamp":"t","info":{"agent_info":{"implementation":"llm_agent","llm":"m"},"environment_info":{"domain_name":"telecom"}},
          "tasks":[{"id":"2","user_scenario":{"instructions":{"reason_for_call":"no signal"}}}],
          "simulations":[{"id":"s","task_id":"2","trial":1,"seed":5,"termination_reason":"too_many_errors","reward_info":{"reward":0.0,"reward_breakdown":{"DB":1.0}},
          "messages":[{"role":"assistant","content":"Hi!","tool_calls":null},{"role":"user","content":"help","tool_calls":null},
          {"role":"assistant","content":null,"tool_calls":[{"id":"a","name":"f","arguments":{"x":1},"requestor":"assistant"},{"id":"b","name":"g","arguments":{},"requestor":"assistant"}]},
          {"role":"tool","tool_messages":[{"role":"tool","id":"b","content":"B","requestor":"assistant","error":false},{"role":"tool","id":"a","content":"A","requestor":"assistant","error":true}]},
          {"role":"assistant","content":"Restart.","tool_calls":null},
          {"role":"user","content":null,"tool_calls":[{"id":"u","name":"reboot","arguments":{},"requestor":"user"}]},
          {"role":"tool","id":"u","content":"ok","requestor":"user","error":false},
          {"role":"user","content":"Done ###STOP###"}]},{"id":"v","task_id":"2","messages":null}]}"#;
        let parts = Tau2Bench.parse(text, &Context::default()).unwrap();
        let raw = parts[0].rollout.as_ref().unwrap();
        assert_eq!((raw.namespace.as_deref(), raw.policy.as_deref()), (Some("telecom"), Some("m")));
        assert_eq!((raw.excluded_calls, raw.excluded_messages), (1, 1));
        assert_eq!(raw.attempt, Some(1));
        assert_eq!(raw.ending, Ending::Limit("too_many_errors".into()));
        assert_eq!(raw.prompt.as_deref(), Some("no signal"));
        let [a, b, text] = &raw.steps[..] else { panic!("three steps") };
        assert_eq!((a.observation.as_deref(), a.is_error), (Some("A"), Some(true)));
        assert_eq!((b.observation.as_deref(), b.turn), (Some("B"), 0));
        assert_eq!(
            (text.kind, text.observation.as_deref()),
            (RawKind::Text, Some("Done ###STOP###"))
        );
        let empty = parts[1].rollout.as_ref().unwrap();
        assert_eq!((empty.steps.len(), &empty.ending), (0, &Ending::Infra("no messages".into())));
    }

    #[test]
    fn one_simulation_per_file() {
        let text = r#"{"id":"s","task_id":4,"termination_reason":"user_stop","reward_info":null,"messages":[
          {"role":"assistant","content":"x","tool_calls":[{"id":"a","name":"f","arguments":{}}]}]}"#;
        let shape = Shape::of("s.json", text.as_bytes(), true);
        assert_eq!(Tau2Bench.sniff(&shape), Sniff::Yes);
        let path = "runs/20260101_telecom_llm_agent/simulations/s.json";
        let parts = Tau2Bench.parse(text, &Context { path, ..Context::default() }).unwrap();
        let raw = parts[0].rollout.as_ref().unwrap();
        assert_eq!((raw.task.as_deref(), raw.steps.len()), (Some("4"), 1));
        assert_eq!(raw.excluded_messages, 0);
        assert_eq!(raw.namespace.as_deref(), Some("telecom"));
        let run = r#"{"timestamp":"t","info":{},"tasks":[]}"#;
        let shape = Shape::of("results.json", run.as_bytes(), true);
        assert!(matches!(Tau2Bench.sniff(&shape), Sniff::NotRollouts(_)));
    }
}
