//! How many rollouts meet at a state: the histogram of state groups, and tallies over many groups.

use std::collections::BTreeMap;

use super::{Analysis, Tally};

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

/// Whether a group has scored successes and scored failures.
#[must_use]
pub fn is_mixed(analysis: &Analysis) -> bool {
    let ok = analysis.basis.successes();
    ok > 0 && ok < analysis.basis.scored_count()
}
