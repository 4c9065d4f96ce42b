//! Results of Harbor trials: what the `result.json` of a trial says about the trajectory beside it,
//! and why such a file is no rollout by itself.

use super::json::{self, Object};
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::shape::{RecordShape, Shape};
use crate::rollout::raw::{Ending, RawNumber, RawRollout};

/// Knows the result files, so that their reason is said; the rollouts are the trajectories.
#[derive(Debug)]
pub struct HarborResult;

/// The verdict on a trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrialResult {
    /// Name of the trial: the name of its folder.
    pub trial: Option<String>,
    /// Name of the task.
    pub task: Option<String>,
    /// Agent program.
    pub harness: Option<String>,
    /// Model.
    pub policy: Option<String>,
    /// The number that decides; missing where the verifier gave none.
    pub reward: RawNumber,
    /// Field that the number came from.
    pub field: Option<String>,
    /// All numbers by name, where there are several.
    pub rewards: Vec<(String, f64)>,
    /// How the trial ended.
    pub ending: Ending,
}

impl TrialResult {
    /// Reads the `result.json` of a trial.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let record = record_object(text)?;
        let Some(trial) = record.id("trial_name")? else {
            return Err(RecordError::missing("trial_name", "the result of a trial was expected")
                .hint("the result.json of a whole job holds statistics, not trials"));
        };
        let agent = record.object("agent_info")?.unwrap_or_default();
        let model = agent.object("model_info")?.unwrap_or_default();
        let mut result = Self {
            trial: Some(trial),
            task: record.id("task_name")?,
            harness: agent.id("name")?,
            policy: model.id("name")?,
            ..Self::default()
        };
        if let (Some(provider), Some(name)) = (model.id("provider")?, &result.policy) {
            result.policy = Some(format!("{provider}/{name}"));
        }
        if let Some(exception) = record.object("exception_info")? {
            let kind = exception.id("exception_type")?.unwrap_or_else(|| "exception".to_owned());
            let limit = kind.contains("Timeout") && kind.contains("Agent")
                || kind.contains("ContextLength")
                || kind.contains("OutputLength");
            result.ending = if limit { Ending::Limit(kind) } else { Ending::Infra(kind) };
        }
        result.read_rewards(&record)?;
        Ok(result)
    }

    fn read_rewards(&mut self, record: &Object<'_>) -> Result<(), RecordError> {
        let verifier = record.object("verifier_result")?.unwrap_or_default();
        let Some(rewards) = verifier.object("rewards")? else { return Ok(()) };
        let all: Vec<_> = rewards.iter().collect();
        let deciding = all.iter().find(|(name, _)| *name == "reward").or(all.first());
        if let Some((name, value)) = deciding {
            self.reward = json::number(value)?;
            self.field = Some(format!("verifier_result.rewards.{name}"));
        }
        if all.len() > 1 {
            for (name, value) in &all {
                if let Some(number) = json::finite_number(value)? {
                    self.rewards.push(((*name).to_owned(), number));
                }
            }
        }
        Ok(())
    }

    /// Puts the verdict on the rollout of the trial. What the trajectory says itself stays.
    pub fn apply(&self, raw: &mut RawRollout) {
        raw.reward = self.reward.clone();
        raw.outcome_field.clone_from(&self.field);
        raw.named_rewards.clone_from(&self.rewards);
        raw.ending = super::ending::worse(std::mem::take(&mut raw.ending), self.ending.clone());
        if let Some(task) = &self.task {
            raw.task = Some(task.clone());
        }
        raw.id = self.trial.clone().or_else(|| raw.id.take());
        raw.policy = raw.policy.take().or_else(|| self.policy.clone());
        raw.harness = raw.harness.take().or_else(|| self.harness.clone());
    }
}

impl Reader for HarborResult {
    fn id(&self) -> &'static str {
        "harbor-result"
    }

    fn title(&self) -> &'static str {
        "results of Harbor trials and jobs (verdicts only; the rollouts are the trajectories)"
    }

    fn source(&self) -> &'static str {
        "harbor models/trial/result.py in xuanZH424/evolving-skills@f695ec1"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let trial = |r: &RecordShape<'_>| {
            r.has("trial_name")
                && r.has("task_name")
                && r.has_any(&["verifier_result", "agent_info"])
        };
        let job = |r: &RecordShape<'_>| r.object("stats") && r.has("n_total_trials");
        let not = |what: &str| {
            Sniff::NotRollouts(NotRollouts {
                what: what.into(),
                missing: "there are no steps".into(),
                hint: "give the folder: the trajectory is `agent/trajectory.json` beside it".into(),
            })
        };
        if shape.any(trial) {
            return not("result of a Harbor trial");
        }
        if shape.any(job) {
            return not("result of a Harbor job");
        }
        Sniff::No
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let mut raw = RawRollout::default();
        TrialResult::parse(text)?.apply(&mut raw);
        Ok(vec![Part::whole(raw)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_goes_to_its_rollout() {
        let text = r#"{"id":"u","task_name":"hello-world","trial_name":"hello-world__aB3dE6g",
            "agent_info":{"name":"terminus-2","version":"2","model_info":{"name":"gpt-4o","provider":"openai"}},
            "verifier_result":{"rewards":{"style":0.5,"reward":1.0}},"exception_info":null}"#;
        let mut raw = RawRollout { harness: Some("t".into()), ..RawRollout::default() };
        TrialResult::parse(text).unwrap().apply(&mut raw);
        assert_eq!((raw.task.as_deref(), raw.reward), (Some("hello-world"), RawNumber::Value(1.0)));
        assert_eq!(
            (raw.policy.as_deref(), raw.harness.as_deref()),
            (Some("openai/gpt-4o"), Some("t"))
        );
        assert_eq!(raw.named_rewards.len(), 2);
        let shape = Shape::of("result.json", text.as_bytes(), true);
        assert!(matches!(HarborResult.sniff(&shape), Sniff::NotRollouts(_)));
    }

    #[test]
    fn without_a_verifier_there_is_no_number() {
        let text = r#"{"task_name":"t","trial_name":"t__aB3dE6g","verifier_result":null,
            "exception_info":{"exception_type":"AgentTimeoutError","exception_message":"late"}}"#;
        let result = TrialResult::parse(text).unwrap();
        assert_eq!(result.reward, RawNumber::Missing);
        assert_eq!(result.ending, Ending::Limit("AgentTimeoutError".into()));
        assert!(TrialResult::parse(r#"{"stats":{}}"#).unwrap_err().hint.is_some());
    }
}
