//! terminal-bench results (`results.json`): one verdict per trial, no steps.
//!
//! Rollouts without steps count in a group's rates; what was done in them is in no file that could
//! be read.

use super::document::{self, Document};
use super::json;
use super::native;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::scan;
use super::shape::{RecordShape, Shape};
use crate::rollout::raw::{Ending, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct TerminalBench;

impl Reader for TerminalBench {
    fn id(&self) -> &'static str {
        "terminal-bench"
    }

    fn title(&self) -> &'static str {
        "terminal-bench results.json (outcomes only)"
    }

    fn source(&self) -> &'static str {
        "laude-institute/terminal-bench terminal_bench/harness/models.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let trial = |keys: &[scan::Entry<'_>]| {
            let has = |key: &[u8]| keys.iter().any(|e| e.key == key);
            has(b"task_id") && has(b"is_resolved") && (has(b"trial_name") || has(b"failure_mode"))
        };
        let known = |r: &RecordShape<'_>| {
            r.value("results")
                .and_then(|v| v.strip_prefix(b"["))
                .is_some_and(|list| trial(&scan::entries(list)))
        };
        if shape.any(known) { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(list) = record.some("results").filter(|l| json::is_array(l)) else {
            return Err(RecordError::missing("results", "a list of trials was expected"));
        };
        document::parts(list, &Trials, context)
    }

    fn elements(&self) -> Option<&'static str> {
        Some("results")
    }

    fn document(&self, _: &str, _: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Trials))
    }
}

/// The document itself says nothing about a trial.
#[derive(Debug)]
struct Trials;

impl Document for Trials {
    fn element(&self, text: &str, _: usize, _: &Context<'_>) -> Result<RawRollout, RecordError> {
        trial(text)
    }
}

fn trial(text: &str) -> Result<RawRollout, RecordError> {
    let trial = record_object(text)?;
    let mode = trial.string("failure_mode")?;
    let verdict = trial.truth("is_resolved");
    let mut raw = RawRollout {
        task: trial.id("task_id")?,
        id: trial.id("trial_name")?.or(trial.id("id")?),
        verdict,
        outcome_field: verdict.map(|_| "is_resolved".to_owned()),
        ending: mode.map(|m| ending(&m)).unwrap_or_default(),
        prompt: trial.string("instruction")?.map(Into::into),
        ..RawRollout::default()
    };
    native::note_repeated(&trial, &mut raw);
    Ok(raw)
}

/// What a failure mode means. Answers that cannot be parsed are the agent's own failure.
fn ending(mode: &str) -> Ending {
    match mode {
        "agent_timeout" | "test_timeout" | "context_length_exceeded" | "output_length_exceeded" => {
            Ending::Limit(mode.to_owned())
        }
        "unknown_agent_error" | "agent_installation_failed" | "parse_error" => {
            Ending::Infra(mode.to_owned())
        }
        _ => Ending::Clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_without_steps() {
        let text = r#"{"id":"r","results":[
            {"trial_name":"hello.1-of-2.run","task_id":"hello","instruction":"say it","is_resolved":true,"failure_mode":"unset"},
            {"trial_name":"hello.2-of-2.run","task_id":"hello","is_resolved":null,"failure_mode":"agent_timeout"}, "x"],"accuracy":0.5}"#;
        assert_eq!(TerminalBench.sniff(&Shape::of("x", text.as_bytes(), true)), Sniff::Yes);
        let parts = TerminalBench.parse(text, &Context::default()).unwrap();
        let one = parts[0].rollout.as_ref().unwrap();
        assert_eq!((one.id.as_deref(), one.verdict), (Some("hello.1-of-2.run"), Some(true)));
        let two = parts[1].rollout.as_ref().unwrap();
        assert_eq!((&two.ending, two.verdict), (&Ending::Limit("agent_timeout".into()), None));
        assert!(parts[2].rollout.is_err());
    }
}
