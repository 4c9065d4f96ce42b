//! rllm episodes: one file per episode with `trajectories`, each a list of steps with a reward.
//!
//! A step holds what the agent saw before it acted, so the result of an action stands in the next
//! step. The rewards of the steps add up to the trajectory's; the last of them is the outcome's.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::calls;
use super::content;
use super::document::{self, Document};
use super::ending;
use super::json::{self, Error, Object};
use super::messages::first_id;
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use super::transcript;
use super::turns::{Call, Reply, Turns};
use crate::rollout::raw::{RawNumber, RawRollout};

/// What an episode says about its trajectories.
const SHARED: [&str; 9] = [
    "episode_id",
    "task",
    "task_hash",
    "task_id",
    "training_step",
    "is_correct",
    "epoch",
    "mode",
    "termination_reason",
];

/// The reader.
#[derive(Debug)]
pub struct Rllm;

impl Reader for Rllm {
    fn id(&self) -> &'static str {
        "rllm"
    }

    fn title(&self) -> &'static str {
        "rllm episodes (episode_hash*.json)"
    }

    fn source(&self) -> &'static str {
        "rllm-org/rllm rllm/utils/episode_logger.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            (r.list("trajectories") || r.cut())
                && r.has_any(&["episode_id", "task_hash"])
                && r.has_any(&["is_correct", "termination_reason", "training_step", "trajectories"])
        });
        if known {
            return Sniff::Yes;
        }
        if shape.any(|r| r.list("episode_files") && r.object("summary_stats")) {
            return Sniff::NotRollouts(NotRollouts {
                what: "the summary of a batch of rllm episodes".into(),
                missing: "the episodes stand in files of their own".into(),
                hint: "give the folder: the episodes are beside this file".into(),
            });
        }
        Sniff::No
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(list) = record.some("trajectories").filter(|t| json::is_array(t)) else {
            return Err(RecordError::missing("trajectories", "a list was expected"));
        };
        let several = json::elements(list)?.len() > 1;
        let mut parts = document::parts(list, &Episode::of(&record, several)?, context)?;
        if let [only] = &mut *parts {
            // The only trajectory of an episode is told apart by all that the episode says.
            only.digest = None;
        }
        Ok(parts)
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &SHARED
    }

    fn elements(&self) -> Option<&'static str> {
        Some("trajectories")
    }

    fn document(&self, text: &str, several: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Episode::of(&record_object(text)?, several)?))
    }
}

/// What an episode says about all of its trajectories.
#[derive(Debug)]
struct Episode {
    raw: RawRollout,
    several: bool,
}

impl Episode {
    fn of(episode: &Object<'_>, several: bool) -> Result<Self, RecordError> {
        let mut raw = RawRollout {
            id: episode.id("episode_id")?,
            task: first_id(episode, &["task_hash", "task_id"])?,
            train_step: episode.whole("training_step")?,
            verdict: episode.truth("is_correct"),
            prompt: prompt(episode)?,
            ..RawRollout::default()
        };
        raw.outcome_field =
            Some(if raw.verdict.is_some() { "is_correct" } else { "reward" }.to_owned());
        for name in ["episode_id", "task_hash", "epoch", "mode"] {
            raw.other_keys.extend(episode.id(name)?.map(|id| (name.to_owned(), id)));
        }
        if let Some(reason) = episode.string("termination_reason")? {
            let word = reason.rsplit('.').next().unwrap_or_default();
            raw.ending = ending::of_word(word);
        }
        if raw.task.is_none() {
            raw.task = episode.some("task").map(|t| transcript::prompt_task(t.get()));
        }
        Ok(Self { raw, several })
    }
}

impl Document for Episode {
    fn element(&self, text: &str, _: usize, _: &Context<'_>) -> Result<RawRollout, RecordError> {
        let trajectory = record_object(text)?;
        let raw = RawRollout { reward: trajectory.number("reward")?, ..self.raw.clone() };
        read_trajectory(&trajectory, raw, self.several)
    }
}

fn read_trajectory(
    trajectory: &Object<'_>,
    mut raw: RawRollout,
    several: bool,
) -> Result<RawRollout, RecordError> {
    // One episode of several agents: each plays a part of its own.
    if several && let Some(name) = trajectory.id("name")? {
        raw.id = raw.id.map(|id| format!("{id}/{name}"));
        raw.harness = Some(name);
    }
    let Some(steps) = trajectory.some("steps").filter(|s| json::is_array(s)) else {
        return Err(RecordError::missing("steps", "a list of steps was expected"));
    };
    read_steps(steps, &mut raw)?;
    Ok(raw)
}

fn prompt(episode: &Object<'_>) -> Result<Option<String>, Error> {
    let Some(task) = episode.object("task")? else {
        return Ok(episode.string("task")?.map(Into::into));
    };
    for name in ["question", "problem", "problem_statement", "instruction", "prompt"] {
        if let Some(text) = task.string(name)? {
            return Ok(Some(text.into_owned()));
        }
    }
    Ok(None)
}

fn read_steps(list: &RawValue, raw: &mut RawRollout) -> Result<(), RecordError> {
    let (mut rewards, mut silent) = (Vec::new(), Vec::new());
    let mut turns = Turns::with_harness();
    for (at, step) in json::elements(list)?.into_iter().enumerate() {
        if !json::is_object(step) {
            return Err(RecordError::unexpected(Some("steps"), "each step must be an object")
                .in_list("steps", at));
        }
        let step = Object::of(step)?;
        let saw = match step.some("observation") {
            Some(_) => read_field(&step, "observation", at, raw)?,
            None => heard(step.some("chat_completions"), at, raw)?,
        };
        match saw {
            Some(text) if at == 0 => turns.hears(&text),
            Some(text) => turns.gets(None, Reply::from(text)),
            // Without a word in between the next step is a new turn all the same.
            None if at > 0 => {
                turns.gets(None, Reply::default());
                silent.push(at as u32 - 1);
            }
            None => {}
        }
        act(&step, at, &mut turns, raw)?;
        rewards.push(step.number("reward")?);
    }
    let first = turns.finish(raw);
    // What was only the end of a turn is no result.
    for step in raw.steps.iter_mut().filter(|s| silent.contains(&s.turn)) {
        step.observation = step.observation.take().filter(|o| !o.is_empty());
    }
    raw.prompt = raw.prompt.take().or(first);
    let sum: f64 = rewards.iter().filter_map(RawNumber::value).sum();
    let lost = rewards.iter().enumerate().find_map(|(at, reward)| match reward {
        RawNumber::Bad(why) => Some(format!("unknown: the reward of step {at} is {why}")),
        _ => None,
    });
    let total = raw.reward.value();
    if let Some(last) = rewards.last().and_then(RawNumber::value)
        && total.is_none_or(|total| lost.is_none() && (total - sum).abs() < 1e-6)
    {
        // The last reward is the episode's: it must not count as a step's too.
        raw.reward = RawNumber::Value(last);
        match lost {
            Some(why) if raw.verdict.is_none() => raw.outcome_reward = RawNumber::Bad(why),
            None if raw.verdict.is_none() && sum != last => {
                raw.outcome_reward = RawNumber::Value(sum);
            }
            _ => {}
        }
        if let Some(number) = rewards.last_mut() {
            *number = RawNumber::Value(0.0);
        }
    }
    for (turn, number) in rewards.into_iter().enumerate() {
        if let Some(step) = raw.steps.iter_mut().rev().find(|s| s.turn as usize == turn) {
            step.step_reward = number;
        } else if let RawNumber::Bad(why) = number {
            raw.notes.push((format!("steps[{turn}].reward"), why));
        }
    }
    Ok(())
}

/// The text of a field of a step.
fn read_field(
    step: &Object<'_>,
    field: &str,
    at: usize,
    raw: &mut RawRollout,
) -> Result<Option<String>, Error> {
    let place = format_args!("steps[{at}].");
    Ok(content::read(&mut raw.notes, place, field, step.some(field))?.map(Cow::into_owned))
}

/// What was said to the agent since it spoke last, from the conversation that a step logs.
fn heard(
    list: Option<&RawValue>,
    at: usize,
    raw: &mut RawRollout,
) -> Result<Option<String>, Error> {
    let Some(list) = list.filter(|l| json::is_array(l)) else { return Ok(None) };
    let mut said: Vec<String> = Vec::new();
    let mut answered = false;
    for message in json::elements(list)?.into_iter().rev().filter(|m| json::is_object(m)) {
        let message = Object::of(message)?;
        let role = message.string("role")?.unwrap_or_default();
        match &*role {
            "assistant" if answered || !said.is_empty() => break,
            "assistant" => answered = true,
            "user" | "tool" => {
                let place = format_args!("steps[{at}].chat_completions[].");
                let value = message.some("content");
                let text = content::read(&mut raw.notes, place, "content", value)?;
                said.push(text.unwrap_or_default().into_owned());
            }
            _ => {}
        }
    }
    said.reverse();
    Ok((!said.is_empty()).then(|| said.join("\n")))
}

/// What a step does: calls as objects or in the text, else text.
fn act(
    step: &Object<'_>,
    at: usize,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    let mut read = |field| read_field(step, field, at, raw).map(Option::unwrap_or_default);
    let (thought, response) = (read("thought")?, read("model_response")?);
    let calls = calls(step.some("action"))?;
    if calls.is_empty() {
        let action = read("action")?;
        let both;
        let text = if !response.is_empty() {
            &*response
        } else if thought.is_empty() || action.is_empty() {
            if action.is_empty() { &*thought } else { &*action }
        } else {
            both = format!("{thought}\n{action}");
            &both
        };
        transcript::read_into(text, turns);
        return Ok(());
    }
    if !thought.is_empty() {
        turns.says(&thought);
    } else if let Some(before) = response.split("<tool_call>").next() {
        let before = before.trim();
        if !before.is_empty() {
            turns.says(before);
        }
    }
    for call in calls {
        turns.calls(call);
    }
    Ok(())
}

fn calls(action: Option<&RawValue>) -> Result<Vec<Call>, Error> {
    let Some(action) = action else { return Ok(Vec::new()) };
    let list = if json::is_array(action) { json::elements(action)? } else { vec![action] };
    let mut calls = Vec::new();
    for one in list.into_iter().filter(|c| json::is_object(c)) {
        calls.push(calls::call_of(&Object::of(one)?)?);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_next_step_and_the_last_reward_is_the_outcome() {
        let text = r#"{"training_step":3,"epoch":0,"episode_id":"t1:2","task":{"question":"who?"},"task_hash":"abcd1234","is_correct":true,"termination_reason":"ENV_DONE",
          "trajectories":[{"name":"solver","uid":"u","reward":1.1,"steps":[
          {"observation":"start","thought":"hm","action":[{"id":"c","function":{"name":"f","arguments":"{\"x\":1}"}}],"reward":0.1,"done":false,"model_response":""},
          {"observation":"result","thought":"","action":"the end","reward":1.0,"done":true,"model_response":"so\nthe end"}]}]}"#;
        let parts = Rllm.parse(text, &Context::default()).unwrap();
        let raw = parts[0].rollout.as_ref().unwrap();
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("abcd1234"), Some("t1:2")));
        assert_eq!((raw.train_step, raw.verdict), (Some(3), Some(true)));
        assert_eq!(raw.reward, RawNumber::Value(1.0));
        let [call, end] = &raw.steps[..] else { panic!("two steps: {:?}", raw.steps) };
        assert_eq!((call.tool.as_deref(), &*call.thought), (Some("f"), "hm"));
        assert_eq!(call.observation.as_deref(), Some("result"));
        assert_eq!(call.step_reward, RawNumber::Value(0.1));
        assert_eq!((&*end.thought, &end.step_reward), ("so\nthe end", &RawNumber::Value(0.0)));
    }

    #[test]
    fn results_may_stand_in_the_conversation_alone() {
        let text = r#"{"episode_id":"a:0","task":"q","trajectories":[{"name":"p","reward":1.0,"steps":[
          {"observation":null,"action":null,"model_response":"one","reward":0.0,"chat_completions":[{"role":"user","content":"go"},{"role":"assistant","content":"one"}]},
          {"observation":null,"action":null,"model_response":"two","reward":1.0,"chat_completions":[{"role":"user","content":"go"},{"role":"assistant","content":"one"},{"role":"tool","content":"1"},{"role":"assistant","content":"two"}]}]}]}"#;
        let parts = Rllm.parse(text, &Context::default()).unwrap();
        let raw = parts[0].rollout.as_ref().unwrap();
        let texts: Vec<_> = raw.steps.iter().map(|s| s.observation.as_deref()).collect();
        assert_eq!(texts, [Some("1"), None]);
    }

    #[test]
    fn a_reward_that_is_no_sum_stays_apart() {
        let text = r#"{"episode_id":"a:0","task":"q","trajectories":[{"name":"p","reward":1.0,"steps":[{"action":"x","reward":0.2}]},{"name":"q","reward":0,"steps":3}]}"#;
        let parts = Rllm.parse(text, &Context::default()).unwrap();
        let raw = parts[0].rollout.as_ref().unwrap();
        assert_eq!((raw.id.as_deref(), raw.reward.value()), (Some("a:0/p"), Some(1.0)));
        assert_eq!(raw.steps[0].step_reward, RawNumber::Value(0.2));
        assert!(parts[1].rollout.is_err());
    }
}
