//! tau-bench results: a JSON array of `{task_id, reward, info, traj, trial}`.
//!
//! The conversation is with a (simulated) user: what the user says next is the observation of a
//! reply, and `###STOP###` in it is no step. Only the first call of a message was executed.

use super::json::{self, Object};
use super::messages;
use super::native;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use super::turns::Turns;
use crate::rollout::raw::{Ending, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct TauBench;

impl Reader for TauBench {
    fn id(&self) -> &'static str {
        "tau-bench"
    }

    fn title(&self) -> &'static str {
        "tau-bench results (JSON array)"
    }

    fn source(&self) -> &'static str {
        "sierra-research/tau-bench@59a200c tau_bench/types.py, run.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.has("task_id") && r.list("traj")
                || r.has("task_id") && r.has("reward") && r.object("info") && r.has("trial")
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let mut raw = RawRollout {
            task: record.id("task_id")?,
            id: record.id("trial")?,
            attempt: record.whole("trial")?,
            reward: record.number("reward")?,
            outcome_field: Some("reward".to_owned()),
            ..RawRollout::default()
        };
        native::note_repeated(&record, &mut raw);
        let nothing = record.get("traj").is_some_and(json::is_null);
        let Some(traj) = record.some("traj").filter(|t| json::is_array(t)) else {
            if !nothing {
                return Err(RecordError::missing("traj", "a list of messages was expected"));
            }
            // The conversation never began.
            let info = record.object("info")?.unwrap_or_default();
            if info.some("error").is_some() {
                raw.ending = ending(&info)?;
            }
            return Ok(vec![Part::whole(messages::never_began(raw, "traj"))]);
        };
        // Rows that end without a verdict of the environment ran into the cap of 30 steps.
        let info = record.object("info")?.unwrap_or_default();
        raw.ending = ending(&info)?;
        if let Some(task) = info.object("task")? {
            raw.prompt = task.string("instruction")?.map(Into::into);
        }
        let mut turns = Turns::with_user();
        for (at, message) in json::elements(traj)?.into_iter().enumerate() {
            messages::read_message(message, ("traj", at), &mut turns, &mut raw)?;
        }
        let first = turns.finish(&mut raw);
        raw.prompt = raw.prompt.or(first);
        Ok(vec![Part::whole(raw)])
    }
}

fn ending(info: &Object<'_>) -> Result<Ending, RecordError> {
    if let Some(error) = info.some("error") {
        let text = json::text(error)?.unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let kind = if line.is_empty() { "exception" } else { line };
        return Ok(Ending::Infra(json::short(kind, 80).into_owned()));
    }
    Ok(if info.some("reward_info").is_some() {
        Ending::Clean
    } else {
        Ending::Limit("max_steps".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawKind;

    fn read(text: &str) -> RawRollout {
        TauBench.parse(text, &Context::default()).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn replies_calls_and_the_end_marker() {
        let raw = read(
            r#"{"task_id":2,"reward":0.0,"trial":3,"info":{"task":{"instruction":"You are"},"reward_info":null},"traj":[
            {"role":"system","content":"policy"},{"role":"user","content":"Hi"},
            {"role":"assistant","content":"Your id?"},{"role":"user","content":"mia"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"think","arguments":"{\"thought\":\"x\"}"}}]},
            {"role":"tool","tool_call_id":"c","name":"think","content":""},
            {"role":"assistant","content":"Done."},{"role":"user","content":"Thanks ###STOP###"}]}"#,
        );
        let kinds: Vec<_> = raw.steps.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [RawKind::Text, RawKind::Call, RawKind::Text]);
        assert_eq!(raw.steps[0].observation.as_deref(), Some("mia"));
        assert_eq!(raw.steps[1].observation.as_deref(), Some(""));
        assert_eq!(raw.steps[2].observation.as_deref(), Some("Thanks ###STOP###"));
        assert_eq!(
            (raw.task.as_deref(), raw.id.as_deref(), raw.attempt),
            (Some("2"), Some("3"), Some(3))
        );
        assert_eq!(raw.ending, Ending::Limit("max_steps".into()));
        assert_eq!(raw.prompt.as_deref(), Some("You are"));
    }

    #[test]
    fn an_exception_is_an_infrastructure_ending() {
        let raw = read(
            r#"{"task_id":1,"reward":0.0,"trial":0,"info":{"error":"RateLimit: x","traceback":"…"},"traj":[]}"#,
        );
        assert_eq!(raw.ending, Ending::Infra("RateLimit: x".into()));
        assert!(raw.steps.is_empty());
    }
}
