//! How many rollouts meet at a state: the histogram of state groups, and tallies over many groups.

use std::collections::BTreeMap;

use super::quadrants::{By, Weight, breakdown};
use super::{Analysis, Bucket, Tally};
use crate::graph::Evidence;

/// States that so many scored rollouts visited, and the steps taken from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SizeRow {
    /// Scored rollouts at the state.
    pub rollouts: u32,
    /// States.
    pub states: u32,
    /// Steps of scored rollouts.
    pub steps: u32,
}

/// The histogram of a group, by number of rollouts. States without a scored rollout are left out.
#[must_use]
pub fn sizes(analysis: &Analysis) -> Vec<SizeRow> {
    let mut rows: BTreeMap<u32, SizeRow> = BTreeMap::new();
    for counts in analysis.graph.state_counts.iter().filter(|c| c.rollouts > 0) {
        let row = rows.entry(counts.rollouts).or_default();
        row.rollouts = counts.rollouts;
        row.states += 1;
        row.steps += counts.visits;
    }
    rows.into_values().collect()
}

/// Adds the histogram of another group.
pub fn merge_sizes(into: &mut Vec<SizeRow>, more: &[SizeRow]) {
    for row in more {
        match into.binary_search_by_key(&row.rollouts, |r| r.rollouts) {
            Ok(at) => {
                if let Some(mine) = into.get_mut(at) {
                    mine.states += row.states;
                    mine.steps += row.steps;
                }
            }
            Err(at) => into.insert(at, *row),
        }
    }
}

/// The quadrants of the successes and of all other scored rollouts.
#[must_use]
pub fn outcome_tallies(analysis: &Analysis) -> [Tally; 2] {
    let mut both = [Tally::default(); 2];
    for i in analysis.basis.scored_rollouts() {
        let Some(rollout) = analysis.group.rollouts.get(i) else {
            continue;
        };
        let side = usize::from(analysis.basis.success.get(i) != Some(&true));
        if let Some(tally) = both.get_mut(side) {
            for step in rollout.steps.clone() {
                tally.add(analysis.bucket(step), true, 1);
            }
        }
    }
    both
}

/// What stands behind the quadrants of scored rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backing {
    /// The quadrants of each evidence class, in the order of [`Evidence::ALL`].
    pub evidence: [Tally; 4],
    /// Rescued and penalized steps by the part that explains the value of Y: comparison, prior, discount,
    /// shaping. A column without parts explains none.
    pub reasons: [[u64; 4]; 2],
}

/// The parts that explain a value, in the order of [`Backing::reasons`].
pub const REASONS: [&str; 4] = ["comparison", "prior", "discount", "shaping"];

impl Backing {
    /// Counts a group.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let mut all = Self { evidence: evidence_tallies(analysis), ..Self::default() };
        for i in analysis.basis.scored_rollouts() {
            let steps = analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            for step in steps {
                let side = match analysis.bucket(step) {
                    Bucket::Rescued => 0,
                    Bucket::Penalized => 1,
                    _ => continue,
                };
                let why = analysis.why(step);
                let part = REASONS.iter().position(|name| Some(*name) == why);
                let slot = part.and_then(|part| all.reasons.get_mut(side)?.get_mut(part));
                if let Some(n) = slot {
                    *n += 1;
                }
            }
        }
        all
    }

    /// Adds another group.
    pub fn merge(&mut self, other: &Self) {
        for (mine, more) in self.evidence.iter_mut().zip(&other.evidence) {
            mine.merge(more);
        }
        let more = other.reasons.iter().flatten();
        for (mine, more) in self.reasons.iter_mut().flatten().zip(more) {
            *mine += more;
        }
    }
}

/// The quadrants of each evidence class, in the order of [`Evidence::ALL`]; steps of rollouts without a
/// verdict are of no class.
#[must_use]
pub fn evidence_tallies(analysis: &Analysis) -> [Tally; 4] {
    let mut all = [Tally::default(); 4];
    for (key, tally) in breakdown(analysis, By::Evidence, false, Weight::Steps) {
        let class = Evidence::ALL.iter().position(|e| e.name() == key.text);
        if let Some(slot) = class.and_then(|c| all.get_mut(c)) {
            *slot = tally;
        }
    }
    all
}

/// Whether a group has scored successes and scored failures.
#[must_use]
pub fn is_mixed(analysis: &Analysis) -> bool {
    let ok = analysis.basis.successes();
    ok > 0 && ok < analysis.basis.scored_count()
}
