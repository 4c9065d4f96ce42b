//! Back to the trainer: one rollout per line, its steps with their advantages.

use serde_json::{Map, Value, json};

use super::steps::with_cause;
use super::text as clean;
use crate::analysis::Analysis;

/// The line of a rollout. `columns` are positions among the analysis' columns: one gives a number
/// under `advantage`, several give it for the first and all of them under `advantages`. A missing
/// value is `null` with its `reason`; `calls` are the ids of the calls, step by step.
#[must_use]
pub fn line(
    analysis: &Analysis,
    rollout: usize,
    columns: &[usize],
    calls: &[Option<String>],
    raw: bool,
) -> Value {
    let group = &analysis.group;
    let text = |s: &str| -> Value { if raw { s.into() } else { clean::line(s).into() } };
    let Some(one) = group.rollouts.get(rollout) else {
        return Value::Null;
    };
    let named = |at: &usize| analysis.columns.get(*at);
    let steps: Vec<Value> = one
        .steps
        .clone()
        .enumerate()
        .map(|(t, step)| {
            let value = |at: &usize| json!(named(at).and_then(|(_, c)| c.get(step)));
            let mut map = Map::new();
            map.insert("step".into(), json!(t));
            map.insert("turn".into(), json!(group.steps.turn.get(step)));
            let call = calls.get(t).and_then(Option::as_deref);
            map.insert("call_id".into(), call.map_or(Value::Null, &text));
            map.insert("advantage".into(), columns.first().map_or(Value::Null, value));
            let reason = |at: &usize| named(at).and_then(|(_, c)| c.reason(step));
            if columns.iter().any(|at| reason(at).is_some()) {
                let told = |at: &usize| Some(format!("{}: {}", named(at)?.0.name, reason(at)?));
                let reasons: Vec<String> = columns.iter().filter_map(told).collect();
                map.insert("reason".into(), text(&with_cause(reasons.join("; "), Some(one))));
            }
            if columns.len() > 1 {
                let all =
                    columns.iter().filter_map(|at| Some((named(at)?.0.name.clone(), value(at))));
                map.insert("advantages".into(), Value::Object(all.collect()));
            }
            match group.steps.tokens.get(step).copied().flatten() {
                // A count is no place.
                Some((from, to)) if from > 0 => {
                    map.insert("tokens".into(), json!([from, to]));
                }
                _ => {}
            }
            Value::Object(map)
        })
        .collect();
    json!({
        "namespace": text(&group.key.namespace),
        "task": text(&group.key.task),
        "policy": group.key.policy.as_deref().map(&text),
        "train_step": group.key.train_step,
        "rollout": text(&one.id),
        "outcome": one.outcome.name(),
        "column": columns.first().and_then(named).map(|(spec, _)| spec.name.as_str()),
        "steps": steps,
    })
}
