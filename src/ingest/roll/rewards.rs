//! Rewards of ROLL: one number per turn, and the final one within the last of them.

use std::collections::BTreeMap;

use crate::ingest::json::{self, Object};
use crate::ingest::reader::RecordError;
use crate::rollout::plural;
use crate::rollout::raw::{RawNumber, RawRollout};

/// Rewards per turn. The list holds the final reward in its last entry: it is taken out there, so
/// that it counts once.
pub(super) fn rewards(info: &Object<'_>, raw: &mut RawRollout) -> Result<(), RecordError> {
    let episode = info.number("episode_reward")?;
    raw.reward = info.number("final_reward")?;
    raw.outcome_field = Some("reward_info.final_reward".to_owned());
    let Some(list) = info.some("step_rewards").filter(|l| json::is_array(l)) else {
        if raw.reward == RawNumber::Missing {
            raw.reward = episode;
            raw.outcome_field = Some("reward_info.episode_reward".to_owned());
        }
        return Ok(());
    };
    let mut numbers = Vec::new();
    for value in json::elements(list)? {
        numbers.push(json::number(value)?);
    }
    let Some(last) = raw.reward.value() else {
        // What is the outcome and what is shaping cannot be told apart: the sum is all there is.
        raw.reward = episode;
        raw.outcome_field = Some("reward_info.episode_reward".to_owned());
        raw.notes.push((
            "reward_info.final_reward".to_owned(),
            "missing: the episode's reward counts, step rewards are left out".to_owned(),
        ));
        return Ok(());
    };
    let sum: f64 = numbers.iter().filter_map(RawNumber::value).sum();
    // A sum without one of its numbers says nothing.
    let whole = numbers.iter().all(|n| n.value().is_some());
    let apart = whole
        && episode.value().is_some_and(|e| (e - sum).abs() > 1e-6 && (e - sum - last).abs() < 1e-6);
    if !apart && let Some(RawNumber::Value(v)) = numbers.last_mut() {
        *v -= last;
    }
    let mut ends: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, step) in raw.steps.iter().enumerate() {
        ends.insert(step.turn, at);
    }
    if ends.len() != numbers.len() {
        let reason =
            format!("{} for {}", plural(numbers.len(), "reward"), plural(ends.len(), "turn"));
        raw.notes.push(("reward_info.step_rewards".to_owned(), reason));
    }
    // A turn with several calls gets its reward where it ends.
    for (number, at) in numbers.into_iter().zip(ends.into_values()) {
        if let Some(step) = raw.steps.get_mut(at) {
            step.step_reward = number;
        }
    }
    Ok(())
}
