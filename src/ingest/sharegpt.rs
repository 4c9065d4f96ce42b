//! Conversations in the form of `ShareGPT`: lines with `conversations`, a list of `from` and `value`.
//!
//! Instructions that the agent only acknowledges belong to the prompt: in sets of agent data they are
//! the same for all tasks.

use super::json::{self, Object};
use super::messages::{self, first_id};
use super::native;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::role::{self, Role};
use super::scan;
use super::shape::Shape;
use super::transcript;
use super::turns::Turns;
use crate::rollout::raw::{RawNumber, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct ShareGpt;

/// Fields that may hold the task.
const TASK: [&str; 6] = ["task", "task_id", "problem_id", "instance_id", "example_id", "prompt_id"];

impl Reader for ShareGpt {
    fn id(&self) -> &'static str {
        "sharegpt"
    }

    fn title(&self) -> &'static str {
        "ShareGPT conversations (from, value), one per line or in a list"
    }

    fn source(&self) -> &'static str {
        "THUDM/AgentTuning, Yifan-Song793/ETO (conversations, reward)"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.value("conversations").and_then(|v| v.strip_prefix(b"[")).is_some_and(|list| {
                let first = scan::entries(list);
                first.iter().any(|e| e.key == b"from" || e.key == b"role")
            })
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(list) = record.some("conversations").filter(|c| json::is_array(c)) else {
            return Err(RecordError::missing("conversations", "a list of messages was expected"));
        };
        let mut raw = RawRollout {
            task: first_id(&record, &TASK)?,
            id: first_id(&record, &["rollout_id", "traj_id", "id"])?,
            policy: first_id(&record, &["model", "model_name"])?,
            namespace: first_id(&record, &["namespace", "source", "dataset"])?,
            reward: record.number("reward")?,
            ending: native::ending(&record, &["exit_status"])?,
            other_keys: native::other_keys(&record)?,
            ..RawRollout::default()
        };
        native::note_repeated(&record, &mut raw);
        if raw.reward == RawNumber::Missing {
            raw.reward = record.number("score")?;
            raw.reward_field = Some("score");
        }
        raw.outcome_field = Some("reward".to_owned());
        for name in ["resolved", "target", "success", "is_correct"] {
            if let (None, Some(verdict)) = (raw.verdict, record.truth(name)) {
                raw.verdict = Some(verdict);
                raw.outcome_field = Some(name.to_owned());
            }
        }
        let list = json::elements(list)?;
        let from = acknowledged(&list)?;
        let mut turns = Turns::with_harness();
        for (at, message) in list.into_iter().enumerate().skip(from) {
            messages::read_message(message, ("conversations", at), &mut turns, &mut raw)?;
        }
        raw.prompt = turns.finish(&mut raw);
        raw.task = raw.task.or(raw.prompt.as_deref().map(transcript::prompt_task));
        Ok(vec![Part::whole(raw)])
    }
}

/// How many messages at the beginning are instructions and the agent's word that it read them.
fn acknowledged(list: &[&serde_json::value::RawValue]) -> Result<usize, RecordError> {
    let (mut at, mut agents) = (0, 0);
    for message in list.iter().take(3) {
        at += 1;
        if !json::is_object(message) {
            break;
        }
        let message = Object::of(message)?;
        if role::plain(&message)? == Some(Role::Assistant) {
            agents += 1;
            let said = message.string("value")?.or(message.string("content")?).unwrap_or_default();
            let word = said.trim().trim_end_matches(['.', '!']).to_ascii_lowercase();
            let only = matches!(&*word, "ok" | "okay" | "i understand" | "understood");
            return Ok(if only && agents == 1 && at < list.len() { at } else { 0 });
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RawRollout {
        ShareGpt.parse(text, &Context::default()).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn instructions_that_are_acknowledged_are_no_step() {
        let row = |task: &str| {
            read(&format!(
                r#"{{"id":"w_{task}","reward":0.5,"conversations":[{{"from":"human","value":"rules"}},{{"from":"gpt","value":"OK."}},
                {{"from":"human","value":"{task}"}},{{"from":"gpt","value":"Thought: x\nAction: click[Buy]"}},{{"from":"human","value":"bought"}}]}}"#
            ))
        };
        let (a, b) = (row("a"), row("b"));
        assert_ne!(a.task, b.task);
        assert_eq!((a.prompt.as_deref(), a.steps.len()), (Some("a"), 1));
        assert_eq!(a.steps[0].observation.as_deref(), Some("bought"));
        assert_eq!((a.id.as_deref(), a.reward.value()), (Some("w_a"), Some(0.5)));
    }

    #[test]
    fn an_answer_is_a_step() {
        let raw = read(
            r#"{"conversations":[{"role":"user","content":"hi"},{"role":"assistant","content":"ok"}],"success":true}"#,
        );
        assert_eq!((raw.steps.len(), raw.verdict), (1, Some(true)));
    }
}
