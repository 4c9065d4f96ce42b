//! The group key of a rollout, and the building of a group's columns.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::{Draft, Segments};
use super::options::LoadOptions;
use super::outcome::{self, Decision};
use super::packed::Columns;
use super::work::{Pending, StepMeta};
use crate::facts::relate_paths;
use crate::rollout::facts::Known;
use crate::rollout::raw::RawRollout;
use crate::rollout::symbols::SymMap;
use crate::rollout::{Group, GroupKey, Rollout, StepTable, Sym, TextRef};

/// The value of a field that may serve as a group key.
#[must_use]
pub fn key_of<'a>(raw: &'a RawRollout, field: &str) -> Option<&'a str> {
    let other =
        raw.other_keys.iter().rev().find(|(name, _)| name == field).map(|(_, v)| v.as_str());
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

/// The keys that differ from another one in the namespace alone.
#[must_use]
pub fn namesakes<'k>(keys: impl Iterator<Item = &'k GroupKey>) -> BTreeSet<GroupKey> {
    let mut called: BTreeMap<_, Vec<&GroupKey>> = BTreeMap::new();
    for key in keys {
        called.entry(key.without_namespace()).or_default().push(key);
    }
    let several = called.into_values().filter(|keys| keys.len() > 1);
    several.flatten().cloned().collect()
}

/// A group with what the report needs to know about its rollouts, in the same order.
pub struct Built {
    /// The group.
    pub group: Group,
    /// How each outcome was decided.
    pub decisions: Vec<Decision>,
    /// Where each outcome came from, without folders.
    pub kinds: Vec<String>,
    /// Raw steps of each rollout.
    pub raw_steps: Vec<u32>,
}

/// Puts drafts, in canonical order, into columns.
#[must_use]
pub fn build(key: GroupKey, drafts: Vec<Draft>, options: &LoadOptions) -> Built {
    let mut group = Group { key, ..Group::default() };
    let (mut decisions, mut kinds, mut raw_steps) = (Vec::new(), Vec::new(), Vec::new());
    let mut values: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    let mut known = Known::default();
    let steps = drafts.iter().map(|d| d.pending.steps.len()).sum();
    group.steps.facts.reserve(steps);
    group.steps.turn.reserve_exact(steps);
    group.rollouts.reserve_exact(drafts.len());
    for draft in drafts {
        let Draft { id, pending, records, segments, missing, .. } = draft;
        let Pending { raw, steps, raw_steps: raw_count, told, .. } = pending;
        let raw = *raw;
        let Columns { steps, values: numbers, facts } = steps.unpack();
        let decision = outcome::decide(&raw, told.as_deref(), options.success_at);
        kinds.push(decision.kind(told.as_deref()));
        let map = group.symbols.absorb(&facts.symbols);
        let start = group.steps.turn.len();
        group.steps.facts.append(&facts.table, &map, &mut known);
        group.steps.turn.extend(steps.iter().map(|step| step.turn));
        push_places(&mut group, &segments, &steps);
        push_logged(&mut group.steps, &steps, &map, start);
        push_values(&mut values, numbers, start);
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
            missing_segments: missing,
            excluded_calls: raw.excluded_calls,
            excluded_messages: raw.excluded_messages,
            forked_from: raw.forked_from,
        });
        decisions.push(decision);
        raw_steps.push(raw_count);
    }
    let len = group.len();
    group.steps.values = values
        .into_iter()
        .map(|(name, mut column)| {
            column.resize(len, None);
            column.shrink_to_fit();
            (name, column)
        })
        .collect();
    let columns = &mut group.steps;
    columns.text.shrink_to_fit();
    fill(&mut columns.step_reward, len, None);
    fill(&mut columns.reward_lost, len, false);
    fill(&mut columns.state, len, Sym::NONE);
    fill(&mut columns.action, len, Sym::NONE);
    fill(&mut columns.tokens, len, None);
    relate_paths(&mut group);
    group.steps.facts.pack();
    group.symbols.pack();
    Built { group, decisions, kinds, raw_steps }
}

/// Puts where the texts of a rollout are into its column: it begins with the first rollout that does not
/// have its steps one after the other in one record.
fn push_places(group: &mut Group, segments: &Segments, steps: &[StepMeta]) {
    let own = |step: usize| TextRef { record: 0, raw: step as u32 };
    let place = |step: &StepMeta| {
        let (record, raw) = segments.locate(step.raw);
        TextRef { record, raw }
    };
    let text = &mut group.steps.text;
    if text.is_empty() {
        if steps.iter().enumerate().all(|(at, step)| place(step) == own(at)) {
            return;
        }
        text.extend(group.rollouts.iter().flat_map(|r| (0..r.steps.len()).map(own)));
    }
    text.extend(steps.iter().map(place));
}

/// Puts what the file says about steps into its columns: one begins where the first step has something.
fn push_logged(columns: &mut StepTable, steps: &[StepMeta], map: &SymMap, start: usize) {
    let lost = |s: &StepMeta| s.reward_lost && s.step_reward.is_none();
    push(&mut columns.step_reward, start, None, steps.iter().map(|s| s.step_reward));
    push(&mut columns.reward_lost, start, false, steps.iter().map(lost));
    push(&mut columns.state, start, Sym::NONE, steps.iter().map(|s| map.map(s.state)));
    push(&mut columns.action, start, Sym::NONE, steps.iter().map(|s| map.map(s.action)));
    push(&mut columns.tokens, start, None, steps.iter().map(|s| s.tokens));
}

fn push<T: Clone + PartialEq>(
    column: &mut Vec<T>,
    start: usize,
    nothing: T,
    cells: impl Iterator<Item = T> + Clone,
) {
    if cells.clone().any(|cell| cell != nothing) {
        column.resize(start, nothing);
        column.extend(cells);
    }
}

/// Ends a column that has begun.
fn fill<T: Clone>(column: &mut Vec<T>, len: usize, nothing: T) {
    if !column.is_empty() {
        column.resize(len, nothing);
        column.shrink_to_fit();
    }
}

fn push_values(
    values: &mut BTreeMap<String, Vec<Option<f64>>>,
    numbers: Vec<(u32, String, f64)>,
    start: usize,
) {
    for (step, name, value) in numbers {
        let column = values.entry(name).or_default();
        column.resize(start + step as usize, None);
        column.push(Some(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::identity::{Seen, drafts};
    use crate::load::packed::Packed;
    use crate::rollout::raw::{Ending, RawNumber, RawStep};
    use crate::rollout::{Outcome, RecordRef, RolloutFacts, StepFacts};

    /// A rollout of opaque steps whose closing message is no step.
    fn pending(id: &str, states: &[&str], segment: Option<u64>) -> Pending {
        let step = |(at, s): (usize, &&str)| RawStep {
            state: Some((*s).to_owned()),
            turn: at as u32,
            step_reward: if at == 0 { RawNumber::Value(0.5) } else { RawNumber::Missing },
            values: if *s == "v" { vec![("critic".to_owned(), 0.25)] } else { Vec::new() },
            ..RawStep::default()
        };
        let mut steps: Vec<RawStep> = states.iter().enumerate().map(step).collect();
        steps.push(RawStep::default());
        let mut facts = RolloutFacts::default();
        facts.symbols.intern(id);
        facts.table.steps = vec![StepFacts::default(); states.len()];
        facts.raw_index = (0..states.len() as u32).collect();
        (facts.calls, facts.coding_calls) = (2, 1);
        let raw = RawRollout {
            id: Some(id.to_owned()),
            steps,
            segment_index: segment,
            reward: RawNumber::Value(1.0),
            ending: Ending::Limit("max_steps".to_owned()),
            ..RawRollout::default()
        };
        let content = u64::from(id.as_bytes()[0]) + segment.unwrap_or(0);
        Pending::new(RecordRef { digest: content, ..RecordRef::default() }, content, raw, facts)
    }

    #[test]
    fn columns_line_up() {
        let all = vec![pending("b", &["s", "v"], None), pending("a", &["t"], None)];
        let drafts = drafts(all, &mut Seen::default());
        let built = build(GroupKey::default(), drafts, &LoadOptions::default());
        let group = built.group;
        let ids: Vec<_> = group.rollouts.iter().map(|r| (r.id.as_str(), r.steps.clone())).collect();
        assert_eq!(ids, [("a", 0..1), ("b", 1..3)]);
        let states: Vec<_> = group.steps.state.iter().map(|&s| group.symbols.text(s)).collect();
        assert_eq!(states, ["t", "s", "v"]);
        assert_eq!(group.steps.step_reward, [Some(0.5), Some(0.5), None]);
        assert_eq!(group.steps.turn, [0, 0, 1]);
        assert_eq!(group.steps.values, [("critic".to_owned(), vec![None, None, Some(0.25)])]);
        assert_eq!(group.steps.facts.steps.len(), 3);
        // Each step is where its number says: nothing is kept of that.
        assert!(group.steps.text.is_empty());
        let places = [0, 1, 2].map(|step| group.text_of(&group.rollouts[1], step));
        assert_eq!(
            places.map(|place| place.map(|t| (t.record, t.raw))),
            [Some((0, 0)), Some((0, 1)), None]
        );
        assert_eq!(group.coding_calls, (2, 4));
        // A success stands, and how it ended is still said.
        assert_eq!(group.rollouts[0].outcome, Outcome::Success);
        assert_eq!(group.rollouts[0].ending, "max_steps");
        assert_eq!(built.raw_steps, [2, 3]);
    }

    #[test]
    fn a_segment_starts_where_its_first_step_is() {
        let parts = vec![pending("r", &["u"], Some(1)), pending("r", &["s", "t"], Some(0))];
        let mut drafts = drafts(parts, &mut Seen::default());
        let [draft] = &mut drafts[..] else { panic!("one rollout") };
        assert_eq!((draft.records.len(), draft.earlier.len()), (2, 1));
        // Joined: raw steps 0, 1, (closing 2), 3, (closing 4).
        let mut joined = pending("r", &["s", "t", "u"], None);
        let mut columns = joined.steps.unpack();
        for (step, raw) in columns.steps.iter_mut().zip([0, 1, 3]) {
            step.raw = raw;
        }
        joined.steps = Packed::of(&columns);
        draft.pending = joined;
        let group = build(GroupKey::default(), drafts, &LoadOptions::default()).group;
        assert_eq!(group.rollouts[0].segment_starts, [2]);
        let places: Vec<_> = group.steps.text.iter().map(|t| (t.record, t.raw)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0)]);
    }
}
