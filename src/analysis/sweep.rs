//! One row per value of a knob: what a signature gains and loses along it, over all groups.

use super::skill::{Aggregate, GroupTerms};
use super::{Analysis, Tally};

/// What a setting gives over all groups, and what changed against the setting in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepRow {
    /// Groups.
    pub groups: usize,
    /// Steps, scored or not.
    pub steps: usize,
    /// Steps of scored rollouts.
    pub scored_steps: u64,
    /// Distinct states, summed over groups.
    pub states: usize,
    /// Distinct pairs, summed over groups.
    pub pairs: usize,
    /// Steps whose state two or more scored rollouts visited.
    pub shared_steps: u64,
    /// Branching states.
    pub branching: usize,
    /// Steps in each evidence class, strongest first.
    pub evidence: [u64; 4],
    /// States that two or more scored rollouts visited.
    pub shared_states: usize,
    /// Quadrants; groups of uniform outcome as the caller chose.
    pub tally: Tally,
    /// Steps whose Y value is outside tau at both settings, with opposite signs.
    pub flips: u64,
    /// Steps whose Y value is outside tau at the setting in force and inside here.
    pub faded: u64,
    /// Skill over the groups that have one.
    pub skill: Aggregate,
    visits: f64,
    visited: f64,
    impurity: f64,
    terms: Vec<GroupTerms>,
}

impl SweepRow {
    /// Adds a group: under the row's setting, and under the setting in force. `counts` says whether
    /// the group enters the quadrants.
    pub fn add(&mut self, here: &Analysis, base: &Analysis, counts: bool) {
        let row = here.group_row(false);
        self.groups += 1;
        self.steps += row.steps;
        self.scored_steps += row.evidence.iter().map(|&n| u64::from(n)).sum::<u64>();
        self.states += row.states;
        self.pairs += row.pairs;
        self.shared_steps += u64::from(row.shared_steps);
        self.branching += row.branching;
        for (mine, theirs) in self.evidence.iter_mut().zip(row.evidence) {
            *mine += u64::from(theirs);
        }
        if counts {
            self.tally.merge(&row.tally);
        }
        for state in 0..here.projection.states {
            let v = here.values.state(state);
            if v.n > 0 {
                self.visits += f64::from(v.n);
                self.visited += 1.0;
            }
        }
        for impurity in here.impurities().iter().flatten() {
            self.shared_states += 1;
            self.impurity += impurity;
        }
        let change = |step: usize| {
            let value = |a: &Analysis| a.y_column().get(step);
            change(value(base), value(here), base.settings.tau.1, here.settings.tau.1)
        };
        for step in 0..here.group.len() {
            match change(step) {
                Some(Change::Flip) => self.flips += 1,
                Some(Change::Faded) => self.faded += 1,
                None => {}
            }
        }
        self.terms.extend(super::skill::terms(here));
    }

    /// Adds the groups of another row of the same setting.
    pub fn merge(&mut self, other: Self) {
        self.groups += other.groups;
        self.steps += other.steps;
        self.scored_steps += other.scored_steps;
        self.states += other.states;
        self.pairs += other.pairs;
        self.shared_steps += other.shared_steps;
        self.branching += other.branching;
        for (mine, theirs) in self.evidence.iter_mut().zip(other.evidence) {
            *mine += theirs;
        }
        self.shared_states += other.shared_states;
        self.tally.merge(&other.tally);
        self.flips += other.flips;
        self.faded += other.faded;
        self.visits += other.visits;
        self.visited += other.visited;
        self.impurity += other.impurity;
        self.terms.extend(other.terms);
    }

    /// Takes the sums: after the last group.
    pub fn finish(&mut self, seed: u64) {
        self.skill = Aggregate::of(&self.terms, seed);
    }

    /// Mean N(s) over the states where a scored rollout was.
    #[must_use]
    pub fn mean_visits(&self) -> Option<f64> {
        (self.visited > 0.0).then(|| self.visits / self.visited)
    }

    /// Mean impurity over the states that two or more scored rollouts visited.
    #[must_use]
    pub fn mean_impurity(&self) -> Option<f64> {
        (self.shared_states > 0).then(|| self.impurity / self.shared_states as f64)
    }

    /// Share of scored steps whose state two or more scored rollouts visited.
    #[must_use]
    pub fn sharing(&self) -> Option<f64> {
        (self.scored_steps > 0).then(|| self.shared_steps as f64 / self.scored_steps as f64)
    }
}

/// What became of a value between two settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Outside tau at both, with opposite signs.
    Flip,
    /// Outside before, inside now.
    Faded,
}

/// What became of a value; thresholds are strict. `None` where nothing did, or a value is missing.
#[must_use]
pub fn change(
    before: Option<f64>,
    now: Option<f64>,
    tau_before: f64,
    tau_now: f64,
) -> Option<Change> {
    let (before, now) = (before?, now?);
    if before.abs() <= tau_before {
        None
    } else if now.abs() <= tau_now {
        Some(Change::Faded)
    } else {
        ((before > 0.0) != (now > 0.0)).then_some(Change::Flip)
    }
}

impl Analysis {
    /// Impurity of each state, 1 - |2p - 1| over the outcomes of its scored rollouts; `None` where
    /// fewer than two passed.
    #[must_use]
    pub fn impurities(&self) -> Vec<Option<f64>> {
        self.purity()
            .into_iter()
            .map(|(k, n)| (n >= 2).then(|| 1.0 - (2.0 * (k as f64 / n as f64) - 1.0).abs()))
            .collect()
    }

    /// Per state: how many of its scored rollouts succeeded, and how many there are.
    #[must_use]
    pub fn purity(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0, 0); self.graph.state_counts.len()];
        for i in self.basis.scored_rollouts() {
            let success = self.basis.success.get(i) == Some(&true);
            let steps = self.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            for step in steps.filter(|&s| self.graph.revisit.get(s) == Some(&false)) {
                if let Some((k, n)) = counts.get_mut(self.graph.state_of(step) as usize) {
                    *n += 1;
                    *k += u64::from(success);
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_strict() {
        let c = |a: f64, b: f64| change(Some(a), Some(b), 0.01, 0.01);
        assert_eq!(c(0.02, -0.02), Some(Change::Flip));
        assert_eq!(c(0.02, 0.01), Some(Change::Faded));
        assert_eq!(c(0.01, -0.02), None);
        assert_eq!(c(0.02, 0.5), None);
        assert_eq!(change(None, Some(1.0), 0.01, 0.01), None);
    }
}
