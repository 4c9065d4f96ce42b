//! verifiers traces, the second form, as prime-rl writes them: a line is an episode, each of its
//! traces a rollout whose messages are nodes of a tree.
//!
//! A tree branches where the context was rewritten. The policy's actions are the sampled nodes in
//! the order in which they were made, whatever branch they stand on.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::document::{self, Document};
use super::ending;
use super::json::{self, Error, Object};
use super::messages::{self, first_id};
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::role::{self, Role};
use super::shape::Shape;
use super::turns::Turns;
use super::verifiers;
use crate::rollout::raw::{RawNumber, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct VerifiersTraces;

impl Reader for VerifiersTraces {
    fn id(&self) -> &'static str {
        "verifiers-traces"
    }

    fn title(&self) -> &'static str {
        "verifiers and prime-rl traces (traces.jsonl), one episode per line"
    }

    fn source(&self) -> &'static str {
        "PrimeIntellect-ai/prime-rl@559b447 src/prime_rl/orchestrator; verifiers@a60a606 verifiers/v1"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.list("traces") && (r.has_any(&["env", "group", "errors"]) || r.cut())
                || r.list("nodes") && r.has("task") && r.has_any(&["rewards", "agent", "version"])
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(list) = record.some("traces") else {
            return Ok(vec![Part::whole(read_trace(&record, &Episode::default(), context)?)]);
        };
        if !json::is_array(list) {
            return Err(RecordError::unexpected(Some("traces"), "a list of traces was expected"));
        }
        document::parts(list, &Episode::of(&record)?, context)
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &["id", "env", "group", "errors"]
    }

    fn elements(&self) -> Option<&'static str> {
        Some("traces")
    }

    fn document(&self, text: &str, _: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Episode::of(&record_object(text)?)?))
    }
}

/// What an episode says about all of its traces.
#[derive(Debug, Default)]
struct Episode {
    id: Option<String>,
    env: Option<String>,
    group: Option<String>,
    error: Option<String>,
}

impl Episode {
    fn of(record: &Object<'_>) -> Result<Self, Error> {
        Ok(Self {
            id: record.id("id")?,
            env: record.id("env")?,
            group: record.object("group")?.map(|g| g.id("id")).transpose()?.flatten(),
            error: first_error(record)?,
        })
    }
}

impl Document for Episode {
    fn element(
        &self,
        text: &str,
        _: usize,
        context: &Context<'_>,
    ) -> Result<RawRollout, RecordError> {
        read_trace(&record_object(text)?, self, context)
    }
}

/// The first of the errors that something lists, in a word.
fn first_error(holder: &Object<'_>) -> Result<Option<String>, Error> {
    let Some(list) = holder.some("errors").filter(|l| json::is_array(l)) else { return Ok(None) };
    let Some(error) = json::elements(list)?.first().copied() else { return Ok(None) };
    let word = if json::is_object(error) {
        first_id(&Object::of(error)?, &["type", "error", "kind", "message"])?
    } else {
        json::id(error)?
    };
    let word = word.unwrap_or_else(|| "error".to_owned());
    Ok(Some(json::short(word.lines().next().unwrap_or_default(), 80).into_owned()))
}

fn read_trace(
    trace: &Object<'_>,
    episode: &Episode,
    context: &Context<'_>,
) -> Result<RawRollout, RecordError> {
    let mut raw = RawRollout {
        id: trace.id("id")?,
        namespace: episode.env.clone().or(trace.id("env")?),
        train_step: step_of_folder(context.path),
        ending: verifiers::ending_of(trace)?,
        ..RawRollout::default()
    };
    let names =
        [("group", &episode.group), ("episode", &episode.id), ("env", &raw.namespace.clone())];
    for (name, id) in names {
        raw.other_keys.extend(id.iter().map(|id| (name.to_owned(), id.clone())));
    }
    read_task(trace, &mut raw)?;
    if let Some(agent) = trace.object("agent")? {
        raw.harness = agent.id("name")?;
        if agent.truth("trainable") == Some(false) {
            raw.mask = Some("agent.trainable is false".to_owned());
        }
        if let Some(config) = agent.object("config")? {
            raw.policy = first_id(&config, &["model", "model_name"])?;
        }
    }
    for word in [first_error(trace)?.as_ref(), episode.error.as_ref()].into_iter().flatten() {
        raw.ending = ending::worse(raw.ending, ending::of_error(word));
    }
    read_rewards(trace, &mut raw)?;
    let Some(nodes) = trace.some("nodes").filter(|n| json::is_array(n)) else {
        return Err(RecordError::missing("nodes", "a list of nodes was expected"));
    };
    read_nodes(nodes, &mut raw)?;
    Ok(raw)
}

/// The training step in a folder named `step_<N>`.
pub(super) fn step_of_folder(path: &str) -> Option<u64> {
    path.rsplit('/').skip(1).take(4).find_map(|folder| {
        let rest = folder.strip_prefix("global_step_").or(folder.strip_prefix("step_"))?;
        rest.split('_').next()?.parse().ok()
    })
}

fn read_task(trace: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    let Some(task) = trace.object("task")? else {
        raw.task = trace.id("task")?;
        return Ok(());
    };
    raw.task = task.id("key")?;
    if let Some(data) = task.object("data")? {
        let named = first_id(&data, &["task_id", "instance_id", "example_id", "id", "idx"])?;
        raw.task = raw.task.take().or(named);
        for name in ["prompt", "question", "instruction", "problem"] {
            if let Some(text) = data.string(name)? {
                raw.prompt = raw.prompt.take().or(Some(text.into_owned()));
            }
        }
    }
    let group = raw.other_keys.iter().find(|(n, _)| n == "group").map(|(_, id)| id.clone());
    raw.task = raw.task.take().or(task.id("hash")?).or(group);
    Ok(())
}

/// The reward is the weighted sum of all rewards; one that is missing leaves no sum.
fn read_rewards(trace: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    raw.outcome_field = Some("rewards".to_owned());
    let Some(rewards) = trace.object("rewards")? else {
        raw.reward = trace.number("reward")?;
        return Ok(());
    };
    let mut sum = None;
    for (name, value) in rewards.iter() {
        if json::is_null(value) {
            continue;
        }
        let (score, weight) = if json::is_object(value) {
            let reward = Object::of(value)?;
            (reward.number("score")?, reward.number("weight")?.value().unwrap_or(1.0))
        } else {
            (json::number(value)?, 1.0)
        };
        match (score.value(), score) {
            (Some(score), _) => {
                raw.named_rewards.push((name.to_owned(), score));
                sum = Some(sum.unwrap_or(0.0) + score * weight);
            }
            (None, RawNumber::Bad(why)) => {
                raw.reward = RawNumber::Bad(format!("{why} (reward `{name}`)"));
                return Ok(());
            }
            (None, _) => {}
        }
    }
    raw.reward = sum.map_or(RawNumber::Missing, RawNumber::Value);
    Ok(())
}

fn read_nodes(list: &RawValue, raw: &mut RawRollout) -> Result<(), RecordError> {
    let mut nodes = Vec::new();
    for node in json::elements(list)? {
        if !json::is_object(node) {
            return Err(RecordError::unexpected(Some("nodes"), "each node must be an object"));
        }
        nodes.push(Object::of(node)?);
    }
    let marked = nodes.iter().any(|n| n.truth("sampled") == Some(true));
    let mut turns = Turns::with_harness();
    // Nodes with a sampled node above them: what stands elsewhere is a prompt.
    let mut after: BTreeSet<u64> = BTreeSet::new();
    let mut advantages = Vec::new();
    let mut acted = false;
    for (at, node) in nodes.iter().enumerate() {
        let Some(message) = node.some("message") else { continue };
        let role =
            if json::is_object(message) { role::plain(&Object::of(message)?)? } else { None };
        let assistant = role == Some(Role::Assistant);
        let sampled = if marked { node.truth("sampled") == Some(true) } else { assistant };
        let below = node.whole("parent")?.is_some_and(|parent| after.contains(&parent));
        if sampled || below {
            after.insert(at as u64);
        }
        // Results in a prompt answer calls of the prompt.
        let shown = !acted && role == Some(Role::Tool);
        if !sampled && (assistant || shown || acted && !below) {
            continue;
        }
        messages::read_message(message, ("nodes", at), &mut turns, raw)?;
        if sampled {
            acted = true;
            advantages.push(advantage(node)?);
        }
    }
    let prompt = turns.finish(raw);
    raw.prompt = raw.prompt.take().or(prompt);
    for step in &mut raw.steps {
        let trained = advantages.get(step.turn as usize).copied().flatten();
        step.values.extend(trained.map(|v| ("trained".to_owned(), v)));
    }
    Ok(())
}

/// The credit that a node was trained with: one number, or the mean over the tokens that count.
fn advantage(node: &Object<'_>) -> Result<Option<f64>, Error> {
    let Some(value) = node.some("advantages").or(node.some("advantage")) else { return Ok(None) };
    if !json::is_array(value) {
        return json::finite_number(value);
    }
    let mask = node.some("mask").filter(|m| json::is_array(m)).map(json::elements).transpose()?;
    let (mut sum, mut count) = (0.0, 0_u32);
    for (at, token) in json::elements(value)?.into_iter().enumerate() {
        let counts = mask
            .as_ref()
            .and_then(|m| m.get(at))
            .is_none_or(|m| !matches!(m.get(), "0" | "0.0" | "false"));
        if counts && let Some(v) = json::finite_number(token)? {
            sum += v;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / f64::from(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPISODE: &str = r#"{"id":"e","env":"wiki","group":{"id":"g"},"errors":[],"traces":[
      {"version":1,"id":"t","task":{"type":"x","data":{"question":"who?"},"key":"k","hash":"h"},
       "agent":{"name":"solver","config":{"model":"m"},"trainable":true},
       "nodes":[{"parent":null,"message":{"role":"user","content":"who?"},"sampled":false},
        {"parent":0,"message":{"role":"assistant","content":"look","tool_calls":[{"id":"c","name":"search","arguments":"{\"q\":1}"}]},"sampled":true,"mask":[0,1,1],"advantages":[9,0.5,1.5]},
        {"parent":1,"message":{"role":"tool","tool_call_id":"c","content":"found"},"sampled":false},
        {"parent":null,"message":{"role":"user","content":"summary so far"},"sampled":false},
        {"parent":3,"message":{"role":"assistant","content":"it is x"},"sampled":true}],
       "rewards":{"right":{"score":1.0,"weight":1.0},"short":{"score":0.5,"weight":0.2},"none":null},
       "stop_condition":"max_turns","is_completed":true},
      {"id":"j","task":{"key":"k"},"agent":{"name":"judge","trainable":false},"nodes":[],"rewards":{}},
      {"id":"b","task":{"key":"k"}}]}"#;

    #[test]
    fn an_episode() {
        let path = "run/rollouts/step_12/train/all/traces.jsonl";
        let context = Context { path, ..Context::default() };
        let parts = VerifiersTraces.parse(EPISODE, &context).unwrap();
        let raw = parts[0].rollout.as_ref().unwrap();
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("k"), Some("t")));
        assert_eq!((raw.namespace.as_deref(), raw.policy.as_deref()), (Some("wiki"), Some("m")));
        assert_eq!((raw.train_step, raw.reward.value()), (Some(12), Some(1.1)));
        assert_eq!(raw.prompt.as_deref(), Some("who?"));
        let [search, answer] = &raw.steps[..] else { panic!("two steps: {:?}", raw.steps) };
        assert_eq!(search.observation.as_deref(), Some("found"));
        assert_eq!(search.values, [("trained".to_owned(), 1.0)]);
        assert_eq!((&*answer.thought, answer.turn, answer.values.len()), ("it is x", 1, 0));
        assert!(parts[1].rollout.as_ref().unwrap().mask.is_some());
        assert_eq!(parts[2].rollout.as_ref().unwrap_err().field.as_deref(), Some("nodes"));
    }

    #[test]
    fn steps_of_folders() {
        assert_eq!(step_of_folder("a/global_step_40_evals/x.jsonl"), Some(40));
        assert_eq!(step_of_folder("a/b/step_3.jsonl"), None);
    }
}
