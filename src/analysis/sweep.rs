//! One row per value of a knob: what a signature gains and loses along it, over all groups.

use super::skill::{Aggregate, GroupTerms};
use super::{Analysis, Change, Tally};

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
    /// Distinct states and pairs at the setting in force, summed over groups.
    pub in_force: (usize, usize),
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
        self.in_force.0 += base.graph.pairs.chunk_by(|a, b| a.state == b.state).count();
        self.in_force.1 += base.graph.pairs.len();
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
            Change::of(value(base), value(here), (base.settings.tau.1, here.settings.tau.1))
        };
        for step in 0..here.group.len() {
            match change(step) {
                Change::Flipped => self.flips += 1,
                Change::Faded => self.faded += 1,
                Change::None => {}
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
        self.in_force.0 += other.in_force.0;
        self.in_force.1 += other.in_force.1;
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

    /// Share of scored steps of evidence class `compared`.
    #[must_use]
    pub fn compared_share(&self) -> Option<f64> {
        let compared = self.evidence.first().copied().unwrap_or(0);
        (self.scored_steps > 0).then(|| compared as f64 / self.scored_steps as f64)
    }
}
