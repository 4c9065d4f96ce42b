//! tinker-cookbook rollout summaries: rewards per step, and mostly no text.
//!
//! Without text there are no actions: a step is its number, so that rewards can be looked at and
//! nothing is compared that was not logged.

use super::json::{self, Object};
use super::native;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use crate::rollout::raw::{RawKind, RawNumber, RawRollout, RawStep};

/// The reader.
#[derive(Debug)]
pub struct Tinker;

impl Reader for Tinker {
    fn id(&self) -> &'static str {
        "tinker"
    }

    fn title(&self) -> &'static str {
        "tinker-cookbook rollout summaries (*_rollout_summaries.jsonl)"
    }

    fn source(&self) -> &'static str {
        "thinking-machines-lab/tinker-cookbook tinker_cookbook/rl/rollout_logging.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known =
            shape.any(|r| r.has("group_idx") && r.has("traj_idx") && (r.list("steps") || r.cut()));
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let split = record.id("split")?;
        let group = record.id("group_idx")?;
        let mut raw = RawRollout {
            id: record.id("traj_idx")?,
            task: group.map(|g| split.map_or_else(|| g.clone(), |s| format!("{s}/{g}"))),
            train_step: record.whole("iteration")?,
            // The sum judges; the final reward is what is added to the last step.
            outcome_reward: record.number("total_reward")?,
            reward: record.number("final_reward")?,
            outcome_field: Some("total_reward".to_owned()),
            other_keys: native::other_keys(&record)?,
            ..RawRollout::default()
        };
        let Some(steps) = record.some("steps").filter(|s| json::is_array(s)) else {
            return Err(RecordError::missing("steps", "a list of steps was expected"));
        };
        let (mut sum, mut lost) = (0.0, None);
        for (at, step) in json::elements(steps)?.into_iter().enumerate() {
            if !json::is_object(step) {
                return Err(RecordError::unexpected(Some("steps"), "each step must be an object")
                    .in_list("steps", at));
            }
            let step = read_step(&Object::of(step)?, at as u32)?;
            sum += step.step_reward.value().unwrap_or(0.0);
            if let RawNumber::Bad(why) = &step.step_reward {
                lost = lost.or_else(|| Some(format!("unknown: the reward of step {at} is {why}")));
            }
            raw.steps.push(step);
        }
        if raw.outcome_reward == RawNumber::Missing
            && let Some(last) = raw.reward.value()
        {
            raw.outcome_reward = lost.map_or(RawNumber::Value(sum + last), RawNumber::Bad);
        }
        Ok(vec![Part::whole(raw)])
    }
}

fn read_step(step: &Object<'_>, at: u32) -> Result<RawStep, RecordError> {
    let number = step.whole("step_idx")?.unwrap_or(u64::from(at));
    let mut raw = RawStep {
        kind: RawKind::Opaque,
        state: Some(format!("step {number}")),
        action: Some("(not logged)".to_owned()),
        step_reward: step.number("reward")?,
        tokens: step.whole("ac_len")?.map(|n| (0, n)),
        turn: at,
        ..RawStep::default()
    };
    // Some loggers add the texts.
    if let Some(said) = step.string("ac_text")? {
        raw.kind = RawKind::Text;
        raw.thought = said.into_owned();
        (raw.state, raw.action) = (None, None);
    }
    if let Some(metrics) = step.object("metrics")? {
        for (name, value) in metrics.iter() {
            raw.values.extend(json::finite_number(value)?.map(|v| (name.to_owned(), v)));
        }
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_without_text() {
        let text = r#"{"schema_version":1,"split":"train","iteration":4,"group_idx":2,"traj_idx":5,"tags":["g"],"total_reward":1.25,"final_reward":1.0,
          "steps":[{"step_idx":0,"ob_len":9,"ac_len":7,"reward":0.25,"episode_done":false,"metrics":{"ok":1}},{"step_idx":1,"reward":0.0}]}"#;
        let raw = Tinker.parse(text, &Context::default()).unwrap().remove(0).rollout.unwrap();
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("train/2"), Some("5")));
        assert_eq!((raw.reward.value(), raw.outcome_reward.value()), (Some(1.0), Some(1.25)));
        assert_eq!(raw.steps[0].step_reward, RawNumber::Value(0.25));
        assert_eq!((raw.steps[0].tokens, raw.steps[0].values.len()), (Some((0, 7)), 1));
        assert_eq!((raw.train_step, raw.steps.len()), (Some(4), 2));
    }
}
