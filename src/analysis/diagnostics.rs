//! What to look at in a group: where credit turns, where states mix what should be apart, what the
//! values depend on. Only scored rollouts count. Definitions: section 7 of the contract on credit.

use super::panel::{correlation_of_ranks, ranks};
use super::resample::{Interval, wilson};
use super::{Analysis, Bucket};
use crate::rollout::{Category, Flags};

/// A step that matters, strongest first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pivot {
    /// Index of the step in the group.
    pub step: usize,
    /// What it is measured by: comparison of outcomes at its state, or the change of V after it.
    pub value: f64,
}

/// A state that rollouts of different fate share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impure {
    /// The state.
    pub state: u32,
    /// Scored rollouts that passed.
    pub rollouts: u64,
    /// Of them: successes.
    pub successes: u64,
    /// 1 - |2p - 1|.
    pub impurity: f64,
    /// Wilson interval of the success rate.
    pub interval: Option<Interval>,
    /// Distinct results of the actions that led here; the first step has none.
    pub results: usize,
}

/// What one category of actions gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CategoryRow {
    /// The category.
    pub category: Category,
    /// Steps of scored rollouts.
    pub steps: u64,
    /// Of them: steps whose state two or more scored rollouts visited.
    pub shared: u64,
    /// Mean of the Y column over those with a value.
    pub mean: Option<f64>,
    /// Mean N(s).
    pub visits: Option<f64>,
    /// Penalized steps of successes.
    pub regressions: u64,
    /// Rescued steps of the other scored rollouts.
    pub progress: u64,
}

/// Wasted steps of a rollout. A step that is wasted in two ways counts once in `any`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redundancy {
    /// Steps.
    pub steps: u64,
    /// Steps whose state occurred earlier.
    pub revisits: u64,
    /// Edits that changed nothing.
    pub no_ops: u64,
    /// Calls that had failed before in the same words, with nothing changed in between.
    pub failed_again: u64,
    /// Steps that are any of these.
    pub any: u64,
}

/// Sharing at one step number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DepthRow {
    /// Scored steps of this number.
    pub steps: u64,
    /// Of them: steps whose state two or more scored rollouts visited.
    pub shared: u64,
    /// Of them: steps of evidence class `compared`.
    pub compared: u64,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnostics {
    /// Pairs with the largest |comparison of outcomes|, each by its first step.
    pub pivotal: Vec<Pivot>,
    /// Ways from a pair to the next state along which V falls most, each by its first step.
    pub drops: Vec<Pivot>,
    /// Impure states: most impure first, then most visited.
    pub impure: Vec<Impure>,
    /// States that two or more scored rollouts passed.
    pub shared_states: u64,
    /// Of them: states whose members came here with different results.
    pub mixed_results: u64,
    /// Pairs that both a success and another scored rollout took: GRPO pulls them both ways.
    pub conflicts: u64,
    /// Steps of such pairs.
    pub conflict_steps: u64,
    /// By category, in display order.
    pub categories: Vec<CategoryRow>,
    /// By rollout, all of them.
    pub redundancy: Vec<Redundancy>,
    /// Spearman of the Y column against the steps left to the end: of all scored steps, of successes,
    /// of the others.
    pub length: [Option<f64>; 3],
    /// Share of the six parts in the sum of their sizes: comparison and prior, each for outcome,
    /// discount, shaping.
    pub mass: Option<[f64; 6]>,
    /// By step number.
    pub depths: Vec<DepthRow>,
    /// How many states n scored rollouts passed, by n from 1.
    pub sizes: Vec<u64>,
    /// Sign changes of the Y column from a step to the next inside a rollout; zeros are skipped.
    pub sign_changes: u64,
    /// Rollouts with at least one.
    pub sign_changing: u64,
    /// Scored steps whose Y value is exactly 0.
    pub zeros: u64,
    /// Scored steps.
    pub steps: u64,
}

/// The names of the six parts, in the order of [`Diagnostics::mass`].
pub const PARTS: [&str; 6] = [
    "cmp_outcome",
    "cmp_discount",
    "cmp_shaping",
    "prior_outcome",
    "prior_discount",
    "prior_shaping",
];

/// The diagnostics of a group.
#[must_use]
pub fn diagnostics(analysis: &Analysis) -> Diagnostics {
    let mut found = Diagnostics::default();
    states(analysis, &mut found);
    pairs(analysis, &mut found);
    walks(analysis, &mut found);
    found.categories = categories(analysis);
    found.redundancy = redundancy(analysis);
    found.length = length(analysis);
    found.mass = mass(analysis);
    found
}

/// Indices of the scored rollouts' steps, rollout after rollout.
fn scored_steps(analysis: &Analysis) -> impl Iterator<Item = usize> + '_ {
    let steps = |i: usize| analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
    analysis.basis.scored_rollouts().flat_map(steps)
}

fn won(analysis: &Analysis, step: usize) -> bool {
    analysis.basis.success.get(analysis.graph.rollout_of(step)) == Some(&true)
}

fn states(analysis: &Analysis, found: &mut Diagnostics) {
    // The result that led to each visit of a state, as bits: which of the six results occurred.
    let mut results = vec![0_u32; analysis.graph.state_counts.len()];
    for i in analysis.basis.scored_rollouts() {
        let steps = analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
        for step in steps.skip(1) {
            let before = analysis.group.steps.facts.steps.action(step - 1);
            let result = before.map_or(0, |a| a.result as u32);
            if let Some(seen) = results.get_mut(analysis.graph.state_of(step) as usize) {
                *seen |= 1 << result;
            }
        }
    }
    for (state, (successes, rollouts)) in analysis.purity().into_iter().enumerate() {
        let size = rollouts as usize;
        if size == 0 {
            continue;
        }
        if found.sizes.len() < size {
            found.sizes.resize(size, 0);
        }
        if let Some(slot) = found.sizes.get_mut(size - 1) {
            *slot += 1;
        }
        if size < 2 {
            continue;
        }
        let results = results.get(state).map_or(0, |bits| bits.count_ones() as usize);
        found.shared_states += 1;
        found.mixed_results += u64::from(results > 1);
        let impurity = 1.0 - (2.0 * (successes as f64 / rollouts as f64) - 1.0).abs();
        if impurity > 0.0 {
            found.impure.push(Impure {
                state: state as u32,
                rollouts,
                successes,
                impurity,
                interval: wilson(successes, rollouts),
                results,
            });
        }
    }
    found.impure.sort_by(|a, b| {
        b.impurity
            .total_cmp(&a.impurity)
            .then(b.rollouts.cmp(&a.rollouts))
            .then(a.state.cmp(&b.state))
    });
}

fn pairs(analysis: &Analysis, found: &mut Diagnostics) {
    for id in 0..analysis.graph.pairs.len() {
        let id = id as u32;
        let steps = analysis.graph.steps_of(id);
        let wins = steps.iter().filter(|&&s| won(analysis, s as usize)).count();
        if wins > 0 && wins < steps.len() {
            found.conflicts += 1;
            found.conflict_steps += steps.len() as u64;
        }
    }
    found.pivotal = pivotal(analysis);
}

/// Pairs with a comparison of outcomes, each by its first step: the largest first.
#[must_use]
pub fn pivotal(analysis: &Analysis) -> Vec<Pivot> {
    let mut found: Vec<Pivot> = (0..analysis.graph.pairs.len() as u32)
        .filter_map(|id| {
            let step = *analysis.graph.steps_of(id).first()? as usize;
            let split = analysis.values.split(id, analysis.graph.pair(id).state)?;
            let value = split.comparison.outcome;
            (value != 0.0).then_some(Pivot { step, value })
        })
        .collect();
    found.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then(a.step.cmp(&b.step)));
    found
}

fn walks(analysis: &Analysis, found: &mut Diagnostics) {
    for i in analysis.basis.scored_rollouts() {
        let steps = analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
        let (mut last, mut changes) = (0.0, 0);
        for (t, step) in steps.clone().enumerate() {
            let state = analysis.graph.state_of(step);
            if found.depths.len() <= t {
                found.depths.resize(t + 1, DepthRow::default());
            }
            if let Some(depth) = found.depths.get_mut(t) {
                let class = analysis.graph.evidence.get(step).copied().flatten();
                depth.steps += 1;
                depth.shared += u64::from(analysis.graph.state_count(state).rollouts >= 2);
                depth.compared += u64::from(class == Some(crate::graph::Evidence::Compared));
            }
            found.steps += 1;
            if let Some(value) = analysis.y_column().get(step) {
                found.zeros += u64::from(value == 0.0);
                changes += u64::from(value * last < 0.0);
                if value != 0.0 {
                    last = value;
                }
            }
        }
        found.sign_changes += changes;
        found.sign_changing += u64::from(changes > 0);
    }
    found.drops = drops(analysis);
}

/// Ways from a pair to the next state along which V falls, each by its first step: the deepest first.
#[must_use]
pub fn drops(analysis: &Analysis) -> Vec<Pivot> {
    let mut found = Vec::new();
    for i in analysis.basis.scored_rollouts() {
        let steps = analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
        for step in steps.start..steps.end.saturating_sub(1) {
            let next = analysis.values.state(analysis.graph.state_of(step + 1));
            let change = next.mean - analysis.values.state(analysis.graph.state_of(step)).mean;
            if next.n > 0 && change < 0.0 {
                found.push(Pivot { step, value: change });
            }
        }
    }
    found.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.step.cmp(&b.step)));
    // One way from pair to state counts once, by its first step.
    let mut seen = rustc_hash::FxHashSet::default();
    let way = |step: usize| (analysis.graph.pair_of(step), analysis.graph.state_of(step + 1));
    found.retain(|drop| seen.insert(way(drop.step)));
    found
}

fn categories(analysis: &Analysis) -> Vec<CategoryRow> {
    let mean = |list: &[f64]| crate::credit::stats::mean(list);
    let of = |step: usize| {
        analysis.group.steps.facts.steps.action(step).map_or(Category::Other, |a| a.category)
    };
    Category::ALL
        .into_iter()
        .filter_map(|category| {
            let steps: Vec<usize> = scored_steps(analysis).filter(|&s| of(s) == category).collect();
            if steps.is_empty() {
                return None;
            }
            let values: Vec<f64> =
                steps.iter().filter_map(|&s| analysis.y_column().get(s)).collect();
            let visits: Vec<f64> = steps
                .iter()
                .map(|&s| f64::from(analysis.values.state(analysis.graph.state_of(s)).n))
                .collect();
            let count = |bucket: Bucket, success: bool| {
                let hit =
                    |s: &&usize| analysis.bucket(**s) == bucket && won(analysis, **s) == success;
                steps.iter().filter(hit).count() as u64
            };
            let shared = |s: &&usize| {
                let state = analysis.graph.state_of(**s);
                analysis.graph.state_count(state).rollouts >= 2
            };
            Some(CategoryRow {
                category,
                steps: steps.len() as u64,
                shared: steps.iter().filter(shared).count() as u64,
                mean: mean(&values),
                visits: mean(&visits),
                regressions: count(Bucket::Penalized, true),
                progress: count(Bucket::Rescued, false),
            })
        })
        .collect()
}

fn redundancy(analysis: &Analysis) -> Vec<Redundancy> {
    let facts = &analysis.group.steps.facts.steps;
    analysis
        .group
        .rollouts
        .iter()
        .map(|rollout| {
            let mut found = Redundancy::default();
            let mut failed: Vec<u64> = Vec::new();
            for step in rollout.steps.clone() {
                let Some(fact) = facts.get(step) else { continue };
                let revisit = analysis.graph.revisit.get(step) == Some(&true);
                let no_op = fact.action.flags.has(Flags::NO_OP);
                let again = fact.call != 0 && failed.contains(&fact.call);
                let changes = matches!(
                    fact.action.category,
                    Category::Modify | Category::Create | Category::FileOp | Category::Install
                );
                if fact.action.result.failed() && fact.call != 0 && !again {
                    failed.push(fact.call);
                } else if changes && !fact.action.result.failed() && !no_op {
                    // What failed before may work now.
                    failed.clear();
                }
                found.steps += 1;
                found.revisits += u64::from(revisit);
                found.no_ops += u64::from(no_op);
                found.failed_again += u64::from(again);
                found.any += u64::from(revisit || no_op || again);
            }
            found
        })
        .collect()
}

fn length(analysis: &Analysis) -> [Option<f64>; 3] {
    let of = |keep: &dyn Fn(usize) -> bool| {
        let valued = |s: &usize| keep(*s) && analysis.y_column().get(*s).is_some();
        let steps = || scored_steps(analysis).filter(valued);
        let left = |s: usize| f64::from(analysis.basis.steps_left.get(s).copied().unwrap_or(0));
        // One list after the other: there may be many steps.
        let ranked = |number: &dyn Fn(usize) -> f64| {
            let mut numbers = Vec::with_capacity(steps().count());
            numbers.extend(steps().map(number));
            ranks(&numbers)
        };
        let value = |s: usize| analysis.y_column().get(s).unwrap_or_default();
        correlation_of_ranks(&ranked(&value), &ranked(&left))
    };
    [of(&|_| true), of(&|s| won(analysis, s)), of(&|s| !won(analysis, s))]
}

fn mass(analysis: &Analysis) -> Option<[f64; 6]> {
    let mut sums = [0.0; 6];
    for step in scored_steps(analysis) {
        let pair = analysis.graph.pair_of(step);
        let Some(split) = analysis.values.split(pair, analysis.graph.pair(pair).state) else {
            continue;
        };
        let (c, p) = (split.comparison, split.prior);
        let parts = [c.outcome, c.discount, c.shaping, p.outcome, p.discount, p.shaping];
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += part.abs();
        }
    }
    let total = crate::credit::stats::sum(&sums);
    (total > 0.0).then(|| sums.map(|s| s / total))
}
