//! The rows that exports and panes print: one struct per kind, names as in the command line's contract.

use super::{Analysis, Bucket, Tally, skill};
use crate::credit::Split;
use crate::graph::{Counts, Evidence};
use crate::rollout::{Category, Flags, Outcome, StepResult};

/// Everything about one step.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// Index in the group.
    pub index: usize,
    /// Index of the rollout.
    pub rollout: usize,
    /// Step number within the rollout, from 0.
    pub step: usize,
    /// Turn number.
    pub turn: u32,
    /// Tool name as logged.
    pub tool: String,
    /// Category of the action.
    pub category: Category,
    /// Result of the action.
    pub result: StepResult,
    /// Whether the call was well formed and accepted.
    pub valid: bool,
    /// Step reward, without the terminal reward; `None` where the file should have one and has none,
    /// which the return counts as 0.
    pub step_reward: Option<f64>,
    /// Terminal part of the step's reward: R at the last action of a scored rollout, else 0.
    pub terminal: f64,
    /// Return G.
    pub ret: f64,
    /// N(s,a): what Q divides by.
    pub n_sa: u32,
    /// N(s).
    pub n_s: u32,
    /// Rollouts and visits of the pair.
    pub pair: Counts,
    /// Rollouts and visits of the state.
    pub state: Counts,
    /// Q(s,a), where a scored rollout took the pair.
    pub q: Option<f64>,
    /// V(s), where a scored rollout was.
    pub v: Option<f64>,
    /// The prior.
    pub v_prior: f64,
    /// V'(s).
    pub v_smooth: Option<f64>,
    /// The six parts of Q - V'.
    pub split: Option<Split>,
    /// Evidence class.
    pub evidence: Option<Evidence>,
    /// Whether the state occurred earlier in the rollout.
    pub revisit: bool,
    /// Whether the exit code does not speak for the command.
    pub masked: bool,
    /// Quadrant.
    pub bucket: Bucket,
    /// What makes the Y value, for disagreements only.
    pub label: Option<&'static str>,
    /// Why a value is missing; empty when none is.
    pub reason: String,
    /// Values of the columns.
    pub values: Vec<Option<f64>>,
}

/// Everything about one rollout.
#[derive(Debug, Clone)]
pub struct RolloutRow {
    /// Index of the rollout.
    pub rollout: usize,
    /// Whether it enters the statistics, or why not.
    pub scored: Result<(), &'static str>,
    /// Number of steps.
    pub steps: usize,
    /// Sum of step rewards.
    pub shaping: f64,
    /// Return of the first step; `None` without steps.
    pub g0: Option<f64>,
    /// Sum and mean of each column over the steps that have a value.
    pub columns: Vec<Option<(f64, f64)>>,
    /// Steps in each evidence class, strongest first.
    pub evidence: [u32; 4],
    /// Steps whose state occurred earlier in the rollout.
    pub revisits: u32,
    /// Quadrants of its steps.
    pub tally: Tally,
}

/// Everything about one group.
#[derive(Debug, Clone)]
pub struct GroupRow {
    /// Number of rollouts.
    pub rollouts: usize,
    /// How many are scored.
    pub scored: usize,
    /// How many ended in each outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [usize; 5],
    /// Number of steps.
    pub steps: usize,
    /// Distinct states that a step of a scored rollout starts from.
    pub states: usize,
    /// Distinct pairs that a scored rollout took.
    pub pairs: usize,
    /// Steps of scored rollouts whose state another scored rollout visited.
    pub shared_steps: u32,
    /// Steps in each evidence class, strongest first.
    pub evidence: [u32; 4],
    /// Branching states.
    pub branching: usize,
    /// Quadrants.
    pub tally: Tally,
    /// Whether all scored rollouts ended alike.
    pub uniform: bool,
    /// Held-out skill.
    pub skill: Option<skill::Skill>,
}

impl GroupRow {
    /// Share of scored steps whose state another scored rollout visited; it asks for no outcome. `None`
    /// without scored steps.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        let steps = self.tally.scored;
        (steps > 0).then(|| f64::from(self.shared_steps) / steps as f64)
    }
}

impl Analysis {
    /// The row of a step; `index` counts within the group.
    #[must_use]
    pub fn step_row(&self, index: usize) -> StepRow {
        let rollout = self.graph.rollout_of(index);
        let steps = self.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
        let facts = self.group.steps.facts.steps.get(index).unwrap_or_default();
        let pair = self.graph.pair_of(index);
        let state = self.graph.pair(pair).state;
        let (q, v) = (self.values.pair(pair), self.values.state(state));
        let scored = self.basis.scored.get(rollout) == Some(&true);
        let last = index + 1 == steps.end;
        let bucket = self.bucket(index);
        let reason = self
            .columns
            .iter()
            .filter_map(|(spec, column)| Some(format!("{}: {}", spec.name, column.reason(index)?)))
            .collect::<Vec<_>>()
            .join("; ");
        StepRow {
            index,
            rollout,
            step: index.saturating_sub(steps.start),
            turn: self.group.steps.turn.get(index).copied().unwrap_or_default(),
            tool: self.group.symbols.text(facts.tool).to_owned(),
            category: facts.action.category,
            result: facts.action.result,
            valid: facts.action.category != Category::Invalid
                && !facts.action.flags.has(Flags::INVALID),
            step_reward: self.basis.step_reward_of(&self.group, index),
            terminal: if last && scored {
                self.basis.terminal.get(rollout).copied().unwrap_or(0.0)
            } else {
                0.0
            },
            ret: self.returns.total.get(index).copied().unwrap_or(0.0),
            n_sa: q.n,
            n_s: v.n,
            pair: self.graph.pair_count(pair),
            state: self.graph.state_count(state),
            q: (q.n > 0).then_some(q.mean),
            v: (v.n > 0).then_some(v.mean),
            v_prior: self.values.v_prior,
            v_smooth: self.values.smoothed(state),
            split: if scored { self.values.split(pair, state) } else { None },
            evidence: self.graph.evidence.get(index).copied().flatten(),
            revisit: self.graph.revisit.get(index) == Some(&true),
            masked: facts.action.flags.has(Flags::MASKED),
            bucket,
            label: if bucket.disagrees() { self.why(index) } else { None },
            reason,
            values: self.columns.iter().map(|(_, column)| column.get(index)).collect(),
        }
    }

    /// The row of a rollout.
    #[must_use]
    pub fn rollout_row(&self, rollout: usize) -> RolloutRow {
        let steps = self.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
        let scored = self.basis.scored.get(rollout) == Some(&true);
        let mut tally = Tally::default();
        let mut evidence = [0; 4];
        for step in steps.clone() {
            tally.add(self.bucket(step), scored, 1);
            count(&mut evidence, self.graph.evidence.get(step).copied().flatten());
        }
        let columns = self
            .columns
            .iter()
            .map(|(_, column)| {
                let values: Vec<f64> = steps.clone().filter_map(|s| column.get(s)).collect();
                let sum = crate::credit::stats::sum(&values);
                (!values.is_empty()).then(|| (sum, sum / values.len() as f64))
            })
            .collect();
        RolloutRow {
            rollout,
            scored: if scored { Ok(()) } else { Err(self.context().unscored(rollout)) },
            steps: steps.len(),
            shaping: crate::credit::stats::sum(
                self.basis.step_reward.get(steps.clone()).unwrap_or(&[]),
            ),
            g0: if steps.is_empty() || !scored {
                None
            } else {
                self.returns.total.get(steps.start).copied()
            },
            columns,
            evidence,
            revisits: steps.filter(|&s| self.graph.revisit.get(s) == Some(&true)).count() as u32,
            tally,
        }
    }

    /// The row of the group. Skill is computed only when asked for: it resamples.
    #[must_use]
    pub fn group_row(&self, with_skill: bool) -> GroupRow {
        let mut tally = Tally::default();
        let mut evidence = [0; 4];
        let mut shared_steps = 0;
        for step in 0..self.group.len() {
            let scored = self.basis.scored.get(self.graph.rollout_of(step)) == Some(&true);
            tally.add(self.bucket(step), scored, 1);
            count(&mut evidence, self.graph.evidence.get(step).copied().flatten());
            let state = self.graph.state_count(self.graph.state_of(step));
            shared_steps += u32::from(scored && state.rollouts >= 2);
        }
        GroupRow {
            rollouts: self.group.rollouts.len(),
            scored: self.basis.scored_count(),
            outcomes: Outcome::ALL
                .map(|o| self.group.rollouts.iter().filter(|r| r.outcome == o).count()),
            steps: self.group.len(),
            states: self.graph.state_counts.iter().filter(|c| c.rollouts > 0).count(),
            pairs: (0..self.graph.pairs.len())
                .filter(|&p| self.graph.pair_count(p as u32).rollouts > 0)
                .count(),
            shared_steps,
            evidence,
            branching: self.graph.branching.iter().filter(|&&b| b).count(),
            tally,
            uniform: self.basis.uniform_outcome(),
            skill: if with_skill { skill::skill(self) } else { None },
        }
    }

    /// For each step number: how many scored rollouts are then in a state that two or more scored
    /// rollouts visited.
    #[must_use]
    pub fn shared_at_steps(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        for i in self.basis.scored_rollouts() {
            let steps = self.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            for (t, step) in steps.enumerate() {
                if numbers.len() <= t {
                    numbers.resize(t + 1, 0);
                }
                let shared = self.graph.state_count(self.graph.state_of(step)).rollouts >= 2;
                if let Some(slot) = numbers.get_mut(t) {
                    *slot += u32::from(shared);
                }
            }
        }
        numbers
    }

    /// The state signature of a step as text.
    #[must_use]
    pub fn state_label(&self, step: usize) -> String {
        self.projection.state_label(&self.group, self.graph.state_of(step))
    }

    /// The action signature of a step as text.
    #[must_use]
    pub fn action_label(&self, step: usize) -> String {
        self.projection.action_label(&self.group, self.graph.pair(self.graph.pair_of(step)).action)
    }
}

fn count(classes: &mut [u32; 4], evidence: Option<Evidence>) {
    if let Some(slot) = evidence.and_then(|e| classes.get_mut(e as usize)) {
        *slot += 1;
    }
}
