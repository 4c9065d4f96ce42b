//! Rollouts in the native format: everything that a record holds, one rollout (or segment) per line.

use serde_json::{Map, Value, json};

use crate::facts::profile_of;
use crate::ingest::ending;
use crate::ingest::turns::demands;
use crate::profile::Profiles;
use crate::rollout::raw::{Ending, RawArgs, RawKind, RawNumber, RawRollout, RawStep};
use crate::rollout::{Group, Outcome, Rollout};

/// Member of the first line's `extra` that says that the rollouts came from partial data.
pub const PARTIAL: &str = crate::ingest::native::PARTIAL;

/// The lines of a rollout: one per record, in the order of its segments.
///
/// The verdict is written as it was decided, so that it does not hang on a success rule; a missing
/// harness is filled with the word that leads to the same profile; `format` is the one that the
/// records are in.
#[must_use]
pub fn lines(
    group: &Group,
    rollout: &Rollout,
    format: &str,
    records: &[RawRollout],
    profiles: &Profiles,
) -> Vec<Value> {
    let several = records.len() > 1;
    records
        .iter()
        .enumerate()
        .map(|(at, raw)| {
            let hint = || profile_of(profiles, format, raw)?.harness.first().cloned();
            let harness = rollout.harness.clone().or_else(hint);
            let mut map = head(group, rollout, raw, harness.as_deref());
            if several || raw.segment_index.is_some() {
                map.insert(
                    "segment_index".to_owned(),
                    json!(raw.segment_index.unwrap_or(at as u64)),
                );
            }
            if raw.prompt_is_summary {
                map.insert("prompt_is_summary".to_owned(), json!(true));
            }
            for (key, count) in [
                ("excluded_calls", raw.excluded_calls),
                ("excluded_messages", raw.excluded_messages),
            ] {
                if count > 0 {
                    map.insert(key.to_owned(), json!(count));
                }
            }
            map.insert("steps".to_owned(), raw.steps.iter().map(step).collect());
            Value::Object(map)
        })
        .collect()
}

fn head(
    group: &Group,
    rollout: &Rollout,
    raw: &RawRollout,
    harness: Option<&str>,
) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            map.insert(name.to_owned(), value);
        }
    };
    put("schema", json!("credscope/1"));
    put("namespace", json!(group.key.namespace));
    put("task", json!(group.key.task));
    put("policy", json!(rollout.policy));
    put("train_step", json!(raw.train_step));
    put("harness", json!(harness));
    put("id", json!(rollout.id));
    put("attempt", json!(rollout.attempt));
    // Where nothing is known, nothing is said: the reader finds that out again.
    let known = rollout.outcome != Outcome::Unscored
        || rollout.reward.is_some()
        || rollout.outcome_reward.is_some();
    if known {
        put("outcome", json!(rollout.outcome.name()));
    }
    put("reward", json!(rollout.reward));
    let lost = lost_verdict(rollout, raw);
    put("outcome_reward", json!(rollout.outcome_reward));
    if !rollout.named_rewards.is_empty() {
        let named = rollout.named_rewards.iter().map(|(n, v)| (n.clone(), json!(v)));
        put("rewards", Value::Object(named.collect()));
    }
    match &raw.ending {
        Ending::Clean => {}
        Ending::Limit(word) if ending::of_word(word) == raw.ending => put("stop", json!(word)),
        Ending::Limit(word) => put("stop", json!({"kind": word, "ending": "limit"})),
        Ending::Infra(word) if ending::of_error(word) == raw.ending => put("error", json!(word)),
        Ending::Infra(word) => put("error", json!({"kind": word, "ending": "infra"})),
    }
    put("forked_from", json!(rollout.forked_from.as_ref().map(|id| json!({"rollout": id}))));
    put("prompt", json!(raw.prompt.as_deref().filter(|text| !text.is_empty())));
    if let Some(why) = lost {
        // What stood there and is no number stays a `null` with its reason.
        map.entry("reward").or_insert(Value::Null);
        map.insert("reason".to_owned(), json!(why));
    }
    map
}

/// Why there is no verdict although the file has something in its place.
fn lost_verdict<'a>(rollout: &'a Rollout, raw: &RawRollout) -> Option<&'a str> {
    let given = raw.reward != RawNumber::Missing
        || raw.outcome_reward != RawNumber::Missing
        || raw.unscored.is_some()
        || raw.mask.is_some();
    let why = Some(&*rollout.outcome_source).filter(|why| !why.is_empty())?;
    (rollout.outcome == Outcome::Unscored && given).then_some(why)
}

fn step(raw: &RawStep) -> Value {
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            map.insert(name.to_owned(), value);
        }
    };
    put("turn", json!(raw.turn));
    // Without a call, a text is what makes the step, be it empty.
    if !raw.thought.is_empty() || raw.kind == RawKind::Text {
        put("thought", json!(raw.thought));
    }
    let demanded = raw.kind == RawKind::Text && raw.observation.as_deref().is_some_and(demands);
    if raw.told_to_continue != demanded {
        put("told_to_continue", json!(raw.told_to_continue));
    }
    put("state", json!(raw.state));
    put("action", json!(raw.action));
    put("observation", json!(raw.observation));
    put("exit_code", json!(raw.exit_code));
    put("is_error", json!(raw.is_error));
    put("stopped", json!(raw.stopped.map(crate::rollout::StepResult::name)));
    put("step_reward", json!(raw.step_reward.value()));
    let lost = match &raw.step_reward {
        RawNumber::Bad(why) => Some(why.clone()),
        _ => None,
    };
    put("call_id", json!(raw.call_id));
    put(
        "tokens",
        match raw.tokens {
            None => Value::Null,
            Some((0, n)) => json!(n),
            Some((from, to)) => json!([from, to]),
        },
    );
    if !raw.values.is_empty() {
        let values = raw.values.iter().map(|(n, v)| (n.clone(), json!(v)));
        put("values", Value::Object(values.collect()));
    }
    if let Some(why) = lost {
        map.insert("step_reward".to_owned(), Value::Null);
        map.insert("reason".to_owned(), json!(why));
    }
    if raw.kind == RawKind::Call {
        // A call without a name is a broken call, not a text: `null` stands for the name.
        map.insert("tool".to_owned(), json!(raw.tool));
        let args = match &raw.args {
            RawArgs::Object(args) => Value::Object(args.clone()),
            RawArgs::Unparsable(text) => json!(text),
        };
        map.insert("args".to_owned(), args);
    }
    Value::Object(map)
}
