//! What one rollout more or less changes: the group is analysed again without each scored rollout in
//! turn.
//!
//! Signatures are held fixed: the abstraction is that of the whole group.

use std::ops::Range;
use std::sync::Arc;

use super::{Analysis, AnalysisSettings, Change};
use crate::rollout::Group;

/// What leaving rollouts out does to one step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepStability {
    /// Runs without another scored rollout: the step's own one is never left out, because without it
    /// the step is gone.
    pub runs: u32,
    /// Of them: runs where the Y value is outside tau on both sides, with the other sign.
    pub flips: u32,
    /// Of them: runs where it falls inside tau.
    pub faded: u32,
    /// Jackknife error of Q over all scored rollouts; `None` where a run leaves no visit of the pair.
    pub q: Option<f64>,
    /// Jackknife error of V over all scored rollouts; `None` where a run leaves no visit of the state.
    pub v: Option<f64>,
    /// Jackknife error of the Y value over `runs`.
    pub a: Option<f64>,
    /// Smallest and largest Y value of the runs.
    pub range: Option<(f64, f64)>,
}

/// The group without one rollout: its columns without that rollout's steps.
#[must_use]
pub fn without(group: &Group, rollout: usize) -> Group {
    let gone = group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
    let mut rest = group.clone();
    if rollout < rest.rollouts.len() {
        rest.rollouts.remove(rollout);
    }
    for r in rest.rollouts.iter_mut().filter(|r| r.steps.start >= gone.end) {
        r.steps = r.steps.start - gone.len()..r.steps.end - gone.len();
    }
    let steps = &mut rest.steps;
    steps.facts.steps.remove(gone.clone());
    steps.turn.drain(gone.clone());
    drain(&mut steps.text, &gone);
    drain(&mut steps.step_reward, &gone);
    drain(&mut steps.reward_lost, &gone);
    drain(&mut steps.state, &gone);
    drain(&mut steps.action, &gone);
    drain(&mut steps.tokens, &gone);
    for (_, list) in &mut steps.values {
        drain(list, &gone);
    }
    rest
}

/// A column that no step has anything in is empty.
fn drain<T>(column: &mut Vec<T>, gone: &Range<usize>) {
    if !column.is_empty() {
        column.drain(gone.clone());
    }
}

/// The jackknife's standard error (Efron 1981): root of (n - 1) / n times the squared deviations from
/// the mean of the n leave-one-out values. `None` for fewer than two.
#[must_use]
pub fn jackknife(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = crate::credit::stats::mean(values)?;
    let spread = crate::credit::stats::variance(values, mean, 0);
    Some(((values.len() - 1) as f64 * spread).sqrt())
}

/// The stability of every step of a group; unscored steps have no runs.
#[must_use]
pub fn stability(analysis: &Analysis) -> Vec<StepStability> {
    let group = &analysis.group;
    let scored: Vec<usize> = analysis.basis.scored_rollouts().collect();
    let settings =
        AnalysisSettings { abstraction: Some(analysis.abstraction), ..analysis.settings.clone() };
    let mut runs: Vec<Vec<f64>> = vec![Vec::new(); group.len()];
    let mut q: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); analysis.graph.pairs.len()];
    let mut v: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); analysis.graph.state_counts.len()];
    let mut found = vec![StepStability::default(); group.len()];
    let put = |slot: Option<&mut Option<Vec<f64>>>, value: Option<f64>| {
        if let Some(slot) = slot {
            match (slot.as_mut(), value) {
                (Some(list), Some(value)) => list.push(value),
                _ => *slot = None,
            }
        }
    };
    for &left_out in &scored {
        let gone = group.rollouts.get(left_out).map_or(0..0, |r| r.steps.clone());
        let rest = Analysis::new(Arc::new(without(group, left_out)), &settings);
        let (mut seen_q, mut seen_v) = (vec![None; q.len()], vec![None; v.len()]);
        for step in (0..group.len()).filter(|s| !gone.contains(s)) {
            let at = if step >= gone.end { step - gone.len() } else { step };
            let here = rest.y_column().get(at);
            let before = analysis.y_column().get(step);
            if let (Some(value), Some(slot)) = (here, found.get_mut(step)) {
                slot.runs += 1;
                slot.range =
                    Some(slot.range.map_or((value, value), |(a, b)| (a.min(value), b.max(value))));
                let tau = settings.tau.1;
                match Change::of(before, here, (tau, tau)) {
                    Change::Flipped => slot.flips += 1,
                    Change::Faded => slot.faded += 1,
                    Change::None => {}
                }
                if let Some(list) = runs.get_mut(step) {
                    list.push(value);
                }
            }
            let pair = rest.values.pair(rest.graph.pair_of(at));
            let state = rest.values.state(rest.graph.state_of(at));
            if let Some(slot) = seen_q.get_mut(analysis.graph.pair_of(step) as usize) {
                *slot = (pair.n > 0).then_some(pair.mean);
            }
            if let Some(slot) = seen_v.get_mut(analysis.graph.state_of(step) as usize) {
                *slot = (state.n > 0).then_some(state.mean);
            }
        }
        for (pair, value) in seen_q.into_iter().enumerate() {
            put(q.get_mut(pair), value);
        }
        for (state, value) in seen_v.into_iter().enumerate() {
            put(v.get_mut(state), value);
        }
    }
    for (step, slot) in found.iter_mut().enumerate() {
        let error = |list: Option<&Option<Vec<f64>>>| {
            list.and_then(Option::as_ref).and_then(|l| jackknife(l))
        };
        slot.a = runs.get(step).and_then(|l| jackknife(l));
        if analysis.basis.scored.get(analysis.graph.rollout_of(step)) == Some(&true) {
            slot.q = error(q.get(analysis.graph.pair_of(step) as usize));
            slot.v = error(v.get(analysis.graph.state_of(step) as usize));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        // Mean of 1 2 6: leave-one-out means 4, 3.5, 1.5; standard error sqrt(7 / 3).
        let found = jackknife(&[4.0, 3.5, 1.5]).unwrap();
        assert!((found - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(jackknife(&[1.0]), None);
    }
}
