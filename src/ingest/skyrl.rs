//! Evaluation dumps of `SkyRL`: lines with `input_prompt`, `output_response`, `score`.
//!
//! A score may be a list with one number per token; their sum is the reward. No token is known to
//! belong to a turn, so there are no rewards per step.

use serde_json::value::RawValue;

use super::ending;
use super::json::{self, Error};
use super::messages::{self, first_id};
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use super::transcript;
use super::turns::Turns;
use super::verifiers_traces::step_of_folder;
use crate::rollout::raw::{RawNumber, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct SkyRl;

impl Reader for SkyRl {
    fn id(&self) -> &'static str {
        "skyrl"
    }

    fn title(&self) -> &'static str {
        "SkyRL evaluation dumps (dumped_evals/global_step_<N>_evals/*.jsonl)"
    }

    fn source(&self) -> &'static str {
        "NovaSky-AI/SkyRL skyrl-train/skyrl_train/utils/trainer_utils.py (dump_per_dataset_eval_results)"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        if shape.any(|r| r.has("input_prompt") && (r.has("output_response") || r.cut())) {
            return Sniff::Yes;
        }
        if shape.name == "aggregated_results.jsonl"
            && shape.any(|r| r.keys().any(|k| k.starts_with(b"eval/")))
        {
            return Sniff::NotRollouts(NotRollouts {
                what: "SkyRL averages of an evaluation".into(),
                missing: "there are no rollouts".into(),
                hint: "give the files of the data sets beside it".into(),
            });
        }
        Sniff::No
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(answer) = record.string("output_response")? else {
            return Err(RecordError::missing(
                "output_response",
                "the text of the answer was expected",
            ));
        };
        let prompt = record.some("input_prompt").map(json::text).transpose()?.flatten();
        let prompt = prompt.unwrap_or_default();
        let extras = record.object("env_extras")?.unwrap_or_default();
        let mut raw = RawRollout {
            id: first_id(&record, &["trajectory_id", "rollout_id"])?,
            task: first_id(&extras, &["instance_id", "task_id", "problem_id", "uid"])?,
            namespace: record.id("data_source")?.or(record.id("env_class")?),
            train_step: record.whole("global_step")?.or(step_of_folder(context.path)),
            reward: record.get("score").map_or(Ok(RawNumber::Missing), score)?,
            outcome_field: Some("score".to_owned()),
            prompt: transcript::last_user(&prompt).filter(|p| !p.is_empty()),
            ..RawRollout::default()
        };
        for name in ["env_class", "data_source"] {
            raw.other_keys.extend(record.id(name)?.map(|id| (name.to_owned(), id)));
        }
        if let Some(reason) = record.string("stop_reason")? {
            raw.ending = ending::of_word(&reason);
        }
        raw.task = raw.task.or((!prompt.is_empty()).then(|| transcript::prompt_task(&prompt)));
        if let Some(list) = record.some("chat_history").filter(|l| json::is_array(l)) {
            messages::read_into(&mut raw, list)?;
        } else {
            let mut turns = Turns::with_harness();
            transcript::read_into(&answer, &mut turns);
            turns.finish(&mut raw);
        }
        Ok(vec![Part::whole(raw)])
    }
}

/// One number, or the sum of one per token.
fn score(value: &RawValue) -> Result<RawNumber, Error> {
    if !json::is_array(value) {
        return json::number(value);
    }
    let mut sum = 0.0;
    for token in json::elements(value)? {
        match json::number(token)? {
            RawNumber::Value(v) | RawNumber::Coerced(v, _) => sum += v,
            bad => return Ok(bad),
        }
    }
    Ok(RawNumber::Value(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::Ending;

    #[test]
    fn scores_per_token_are_summed() {
        let path = "out/dumped_evals/global_step_8_evals/gsm8k.jsonl";
        let read = |score: &str| {
            let text = format!(
                r#"{{"input_prompt":"user\nhow many?\nassistant\n","output_response":"<search>x</search>\n<information>y</information>\n<answer>3</answer>","score":{score},"stop_reason":"length","env_class":"search","env_extras":{{}},"data_source":"nq"}}"#
            );
            let context = Context { path, ..Context::default() };
            SkyRl.parse(&text, &context).unwrap().remove(0).rollout.unwrap()
        };
        let raw = read("[0.0,0.0,1.0]");
        assert_eq!((raw.reward.value(), raw.train_step), (Some(1.0), Some(8)));
        assert_eq!((raw.namespace.as_deref(), raw.steps.len()), (Some("nq"), 2));
        assert_eq!(raw.ending, Ending::Limit("length".into()));
        assert_eq!(read("[]").reward.value(), Some(0.0));
        assert!(matches!(read("[0, null]").reward, RawNumber::Bad(_)));
        assert_eq!(read("0.5").task, raw.task);
    }
}
