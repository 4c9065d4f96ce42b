//! The group key of a rollout, and the building of a group's columns.

use std::collections::BTreeMap;

use super::identity::Draft;
use super::options::LoadOptions;
use super::outcome::{self, Decision};
use super::work::{Pending, StepMeta};
use crate::facts::relate_paths;
use crate::rollout::raw::RawRollout;
use crate::rollout::{Group, GroupKey, Rollout, TextRef};

/// The value of a field that may serve as a group key.
#[must_use]
pub fn key_of<'a>(raw: &'a RawRollout, field: &str) -> Option<&'a str> {
    let other = raw.other_keys.iter().rev().find(|(name, _)| name == field).map(|(_, v)| v.as_str());
    other.or(match field {
        "task" => raw.task.as_deref(),
        "policy" => raw.policy.as_deref(),
        "harness" => raw.harness.as_deref(),
        "namespace" => raw.namespace.as_deref(),
        "run" => raw.run.as_deref(),
        _ => None,
    })
}

/// What the rollout's task is: the field to group by, else the task id.
#[must_use]
pub fn task_of(raw: &RawRollout, options: &LoadOptions) -> Option<String> {
    let field = options.group_by.as_deref().and_then(|field| key_of(raw, field));
    field.or(raw.task.as_deref()).map(str::to_owned)
}

/// The group that a rollout belongs to; `format` stands in for a missing namespace.
#[must_use]
pub fn group_key(raw: &RawRollout, format: &str, options: &LoadOptions) -> Option<GroupKey> {
    Some(GroupKey {
        namespace: raw.namespace.clone().unwrap_or_else(|| format.to_owned()),
        task: task_of(raw, options)?,
        policy: raw.policy.clone().filter(|_| !options.pool.policy),
        train_step: raw.train_step.filter(|_| !options.pool.train_step),
    })
}

/// A group with what the report needs to know about its rollouts, in the same order.
pub struct Built {
    /// The group.
    pub group: Group,
    /// How each outcome was decided.
    pub decisions: Vec<Decision>,
    /// Raw steps of each rollout.
    pub raw_steps: Vec<u32>,
}

/// Puts drafts, in canonical order, into columns.
#[must_use]
pub fn build(key: GroupKey, drafts: Vec<Draft>, options: &LoadOptions) -> Built {
    let mut group = Group { key, ..Group::default() };
    let (mut decisions, mut raw_steps) = (Vec::new(), Vec::new());
    let mut values: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for draft in drafts {
        let Draft { id, pending, records, segments, .. } = draft;
        let Pending { raw, steps, facts, raw_steps: raw_count, .. } = pending;
        let decision = outcome::decide(&raw, options.success_at);
        let map = group.symbols.absorb(&facts.symbols);
        let start = group.steps.turn.len();
        group.steps.facts.append(&facts.table, &map);
        for step in &steps {
            let (record, within) = segments.locate(step.raw);
            group.steps.text.push(TextRef { record, raw: within });
            group.steps.turn.push(step.turn);
            group.steps.step_reward.push(step.step_reward);
            group.steps.state.push(map.map(step.state));
            group.steps.action.push(map.map(step.action));
            group.steps.tokens.push(step.tokens);
        }
        push_values(&mut values, &steps, start);
        if group.profile.is_empty() {
            group.profile.clone_from(&facts.profile);
        }
        group.coding_calls.0 += facts.coding_calls;
        group.coding_calls.1 += facts.calls;
        if group.prompt.is_empty() {
            group.prompt = raw.prompt.clone().unwrap_or_default();
        }
        group.rollouts.push(Rollout {
            id,
            outcome: decision.outcome,
            outcome_source: decision.source.clone(),
            ending: outcome::ending_word(&raw.ending).to_owned(),
            reward: raw.reward.value(),
            outcome_reward: raw.outcome_reward.value(),
            named_rewards: raw.named_rewards,
            harness: raw.harness,
            policy: raw.policy,
            attempt: raw.attempt,
            steps: start..group.steps.turn.len(),
            records,
            segment_starts: segments.step_starts(&steps),
            excluded_calls: raw.excluded_calls,
        });
        decisions.push(decision);
        raw_steps.push(raw_count);
    }
    let len = group.len();
    group.steps.values = values
        .into_iter()
        .map(|(name, mut column)| {
            column.resize(len, None);
            (name, column)
        })
        .collect();
    relate_paths(&mut group);
    Built { group, decisions, raw_steps }
}

fn push_values(values: &mut BTreeMap<String, Vec<Option<f64>>>, steps: &[StepMeta], start: usize) {
    for (at, step) in steps.iter().enumerate() {
        for (name, value) in &step.values {
            let column = values.entry(name.clone()).or_default();
            column.resize(start + at, None);
            column.push(Some(*value));
        }
    }
}
