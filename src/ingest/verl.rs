//! verl rollout dumps: one line per sample with `input`, `output`, `score`, `step`.
//!
//! The whole conversation is one flat text. Forks that prompt anew at each step write a line per step;
//! the lines of a trajectory share `traj_uid` and are joined as its segments.

use std::sync::LazyLock;

use regex::Regex;

use super::json::{self, Error, Object};
use super::messages::first_id;
use super::native;
use super::place;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use super::transcript;
use super::turns::Turns;
use crate::rollout::raw::{RawNumber, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct Verl;

/// Fields that name the task, where a reward function logged one.
const TASK: [&str; 4] = ["instance_id", "task_id", "problem_id", "prompt_id"];

/// Fields that name the rollout.
const ID: [&str; 5] = ["traj_uid", "trajectory_uid", "traj_id", "rollout_id", "request_id"];

/// Fields that count the steps of a trajectory that is written step by step.
const STEP: [&str; 5] = ["step_idx", "step_index", "turn_idx", "turn", "env_step"];

impl Reader for Verl {
    fn id(&self) -> &'static str {
        "verl"
    }

    fn title(&self) -> &'static str {
        "verl rollout dumps (<step>.jsonl), one sample or one step per line"
    }

    fn source(&self) -> &'static str {
        "volcengine/verl@b178a3c verl/trainer/ppo/ray_trainer.py (_dump_generations)"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.has("input")
                && r.value("output").is_some_and(|v| v.starts_with(b"\""))
                && r.has("score")
                && r.has_any(&["step", "gts", "acc", "uid", "traj_uid", "data_source"])
                // An answer can be longer than what is looked at.
                || r.cut() && r.has("input") && r.has("output") && r.keys().count() == 2
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(output) = record.string("output")? else {
            return Err(RecordError::missing("output", "the text of the answer was expected"));
        };
        let input = record.some("input").map(json::text).transpose()?.flatten();
        let input = input.unwrap_or_default();
        let mut raw = RawRollout {
            id: first_id(&record, &ID)?,
            task: first_id(&record, &TASK)?,
            namespace: record.id("data_source")?,
            policy: first_id(&record, &["model", "model_name", "policy"])?,
            reward: record.number("score")?,
            reward_field: Some("score"),
            outcome_field: Some("score".to_owned()),
            ending: native::ending(&record, &["stop_reason", "termination_reason"])?,
            other_keys: native::other_keys(&record)?,
            prompt: transcript::last_user(&input).filter(|p| !p.is_empty()),
            ..RawRollout::default()
        };
        native::note_repeated(&record, &mut raw);
        let step = record.whole("step")?.or(record.whole("global_step")?);
        raw.train_step = step.or_else(|| place::train_step(context.path));
        verdict(&record, &mut raw)?;
        let mut turns = Turns::with_harness();
        transcript::read_into(&output, &mut turns);
        turns.finish(&mut raw);
        let by_step = record.some("traj_uid").is_some();
        if by_step {
            step_row(&record, &input, &output, context, &mut raw)?;
        }
        if raw.task.is_none() {
            // Prompts of one trajectory differ from step to step, and only the group's id is the same.
            let uid = if by_step || input.is_empty() { record.id("uid")? } else { None };
            raw.task = uid.or((!input.is_empty()).then(|| transcript::prompt_task(&input)));
        }
        Ok(vec![Part::whole(raw)])
    }
}

/// The verifier's own number, where the score is shaped, and further numbers of reward functions.
fn verdict(record: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    if let Some(acc) = record.some("acc") {
        match json::number(acc)? {
            RawNumber::Value(v) | RawNumber::Coerced(v, _) => {
                raw.outcome_reward = RawNumber::Value(v);
                raw.outcome_field = Some("acc".to_owned());
            }
            RawNumber::Bad(why) => {
                raw.notes.push(("acc".to_owned(), format!("{why}: the score counts")));
            }
            RawNumber::Missing => {}
        }
    }
    for (name, value) in record.iter() {
        let rewards = name.contains("reward") || name.contains("score") || name == "acc";
        if rewards
            && name != "score"
            && let Some(v) = json::finite_number(value)?
        {
            raw.named_rewards.push((name.to_owned(), v));
        }
    }
    Ok(())
}

static AT_STEP: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)you are now at step (\d+)|already taken (\d+) step").ok());

static OBSERVATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)current observation(?: is)?\s*:\s*(.+?)\s*(?:\n\s*(?:your )?admissible actions|\n\s*now it's your turn|\z)").ok()
});

static ACTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)<action>\s*(.*?)\s*</action>").ok());

/// Marks the places among the steps that a prompt tells.
const SAID: u64 = 1 << 40;

/// Marks the numbers of lines that stand in for a place.
const LINE: u64 = 1 << 39;

/// A line that is one step: its place among the steps, and keys for the `logged` abstraction.
fn step_row(
    record: &Object<'_>,
    input: &str,
    output: &str,
    context: &Context<'_>,
    raw: &mut RawRollout,
) -> Result<(), Error> {
    let mut at = None;
    for name in STEP {
        at = at.or(record.whole(name)?);
    }
    // Lines of a batch may be shuffled before they are dumped; the prompt says which step it is.
    let said = AT_STEP.as_ref().and_then(|re| re.captures(input)).and_then(|c| {
        let now = c.get(1).and_then(|n| n.as_str().parse::<u64>().ok());
        now.or(c.get(2).and_then(|n| n.as_str().parse::<u64>().ok()).map(|n| n + 1))
    });
    // The first prompt of a trajectory says nothing of steps: the line's number stands in for one, and
    // goes before all steps that are said.
    raw.segment_index = at.or(said.map(|n| SAID | n)).or(Some(LINE | context.number));
    let Some(step) = raw.steps.last_mut() else { return Ok(()) };
    for name in ["step_reward", "step_rewards"] {
        let number = record.number(name)?;
        // One of the two may be there without a number.
        if number.value().is_some() || step.step_reward.value().is_none() {
            step.step_reward =
                if number == RawNumber::Missing { step.step_reward.clone() } else { number };
        }
    }
    let anchor = record.string("anchor_obs")?.map(String::from);
    step.state = anchor.or_else(|| capture(&OBSERVATION, input));
    if step.state.is_some() {
        step.action = capture(&ACTION, output).or_else(|| Some(output.trim().to_owned()));
    }
    Ok(())
}

fn capture(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    let found = pattern.as_ref()?.captures_iter(text).last()?;
    found.get(1).map(|m| m.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_record;
    use crate::rollout::raw::RawKind;

    fn read(text: &str) -> RawRollout {
        let context = Context { path: "dumps/7.jsonl", number: 3, ..Context::default() };
        let parsed = read_record(&Verl, text.as_bytes(), &context).unwrap();
        parsed.parts.into_iter().next().unwrap().rollout.unwrap()
    }

    #[test]
    fn equal_prompts_are_one_task_and_the_file_names_the_step() {
        let raw = read(r#"{"input":"user\ngo\nassistant\n","output":"ok","score":NaN,"gts":null}"#);
        assert_eq!(raw.reward, RawNumber::Bad("NaN".into()));
        assert_eq!((raw.train_step, raw.prompt.as_deref()), (Some(7), Some("go")));
        let again = read(
            r#"{"input":"user\ngo\nassistant\n","output":"no","score":-1,"acc":true,"step":9}"#,
        );
        assert_eq!(raw.task, again.task);
        assert_eq!((again.train_step, again.outcome_reward), (Some(9), RawNumber::Value(1.0)));
        assert_eq!(again.reward, RawNumber::Value(-1.0));
    }

    #[test]
    fn a_line_per_step_is_a_segment() {
        let row = |input: &str| {
            read(&format!(
                r#"{{"input":"{input}","output":"<think>x</think><action>go north</action>","score":1.0,"step":2,"uid":"u","traj_uid":"t"}}"#
            ))
        };
        let second = row(
            "Prior to this step, you have already taken 1 step(s). You are now at step 2 and your current observation is: a dark room\\nYour admissible actions are: [x].",
        );
        assert_eq!((second.id.as_deref(), second.task.as_deref()), (Some("t"), Some("u")));
        assert_eq!(second.segment_index, Some(SAID | 2));
        assert_eq!((second.steps.len(), second.steps[0].kind), (1, RawKind::Text));
        assert_eq!(second.steps[0].state.as_deref(), Some("a dark room"));
        assert_eq!(second.steps[0].action.as_deref(), Some("go north"));
        let first = row("Your current observation is: a hall");
        assert_eq!(first.segment_index, Some(LINE | 3));
        assert_eq!(first.steps[0].state.as_deref(), Some("a hall"));
    }
}
