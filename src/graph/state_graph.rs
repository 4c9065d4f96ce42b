//! States, pairs (s,a) and transitions of a group, over petgraph.

use std::sync::OnceLock;

use petgraph::graph::{DiGraph, NodeIndex};

use super::Lists;
use crate::rollout::Group;
use crate::signature::{ActionId, Projection, StateId};

/// An index into [`StateGraph::pairs`].
pub type PairId = u32;

/// A state and an action taken there. Pairs are sorted by state, then action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// State.
    pub state: StateId,
    /// Action.
    pub action: ActionId,
}

/// How often something occurred, counting scored rollouts only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Distinct rollouts.
    pub rollouts: u32,
    /// All visits, repeats inside a rollout included.
    pub visits: u32,
    /// Visits that were the first of their state in the rollout.
    pub first: u32,
}

/// An edge of the graph: a pair that led to a state (or to the end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The pair that was taken.
    pub pair: PairId,
    /// How often, all rollouts.
    pub visits: u32,
}

/// How much evidence stands behind the value of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// Another rollout took an action other than this one at this state.
    Compared,
    /// Another rollout was at this state, always with this action.
    Shared,
    /// Only this rollout was here, with two or more actions.
    Own,
    /// Only this rollout was here, with one action.
    Single,
}

impl Evidence {
    /// All classes, strongest first.
    pub const ALL: [Self; 4] = [Self::Compared, Self::Shared, Self::Own, Self::Single];

    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compared => "compared",
            Self::Shared => "shared",
            Self::Own => "self",
            Self::Single => "single",
        }
    }
}

/// The graph of a group under one projection.
#[derive(Debug)]
pub struct StateGraph {
    /// Distinct pairs, sorted.
    pub pairs: Vec<Pair>,
    /// The pair of each step.
    pub step_pair: Vec<PairId>,
    /// The rollout of each step.
    pub step_rollout: Vec<u32>,
    /// Whether the state of each step occurred earlier in its rollout.
    pub revisit: Vec<bool>,
    /// Whether the pair of each step occurred earlier in its rollout.
    pub pair_repeat: Vec<bool>,
    /// Counts per pair.
    pub pair_counts: Vec<Counts>,
    /// Counts per state.
    pub state_counts: Vec<Counts>,
    /// Class of each step; `None` for steps of rollouts that are not scored.
    pub evidence: Vec<Option<Evidence>>,
    /// Whether two or more actions were taken at a state by two or more rollouts.
    pub branching: Vec<bool>,
    /// Steps of each pair, scored rollouts only, in canonical order.
    pub pair_steps: Lists,
    transitions: OnceLock<DiGraph<StateId, Transition>>,
    state_pairs: Vec<(u32, u32)>,
}

impl StateGraph {
    /// Builds the graph. `scored[i]` says whether rollout `i` enters the statistics.
    #[must_use]
    pub fn new(group: &Group, projection: &Projection, scored: &[bool]) -> Self {
        let steps = group.len();
        let mut step_rollout = vec![0_u32; steps];
        for (i, rollout) in group.rollouts.iter().enumerate() {
            if let Some(range) = step_rollout.get_mut(rollout.steps.clone()) {
                range.fill(i as u32);
            }
        }
        let keys: Vec<Pair> = projection
            .state
            .iter()
            .zip(&projection.action)
            .map(|(&state, &action)| Pair { state, action })
            .collect();
        let mut pairs = keys.clone();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.shrink_to_fit();
        let step_pair: Vec<PairId> =
            keys.iter().map(|key| pairs.binary_search(key).unwrap_or_default() as PairId).collect();
        let mut state_pairs = vec![(0_u32, 0_u32); projection.states as usize];
        for (id, pair) in pairs.iter().enumerate() {
            if let Some(range) = state_pairs.get_mut(pair.state as usize) {
                if range.1 == 0 {
                    range.0 = id as u32;
                }
                range.1 = id as u32 + 1;
            }
        }
        let mut graph = Self {
            pair_counts: vec![Counts::default(); pairs.len()],
            state_counts: vec![Counts::default(); projection.states as usize],
            pair_steps: Lists::default(),
            branching: vec![false; projection.states as usize],
            revisit: vec![false; steps],
            pair_repeat: vec![false; steps],
            evidence: vec![None; steps],
            transitions: OnceLock::new(),
            state_pairs,
            pairs,
            step_pair,
            step_rollout,
        };
        graph.count(group, projection, scored);
        graph.classify(scored);
        graph
    }

    /// The pairs of a state.
    #[must_use]
    pub fn pairs_of(&self, state: StateId) -> std::ops::Range<usize> {
        self.state_pairs
            .get(state as usize)
            .map_or(0..0, |&(start, end)| start as usize..end as usize)
    }

    /// The pair with this id.
    #[must_use]
    pub fn pair(&self, id: PairId) -> Pair {
        self.pairs.get(id as usize).copied().unwrap_or(Pair { state: 0, action: 0 })
    }

    /// The counts of a pair.
    #[must_use]
    pub fn pair_count(&self, id: PairId) -> Counts {
        self.pair_counts.get(id as usize).copied().unwrap_or_default()
    }

    /// The counts of a state.
    #[must_use]
    pub fn state_count(&self, state: StateId) -> Counts {
        self.state_counts.get(state as usize).copied().unwrap_or_default()
    }

    /// The pair of a step.
    #[must_use]
    pub fn pair_of(&self, step: usize) -> PairId {
        self.step_pair.get(step).copied().unwrap_or_default()
    }

    /// The state of a step.
    #[must_use]
    pub fn state_of(&self, step: usize) -> StateId {
        self.pair(self.pair_of(step)).state
    }

    /// Steps of a pair, scored rollouts only, in canonical order.
    #[must_use]
    pub fn steps_of(&self, id: PairId) -> &[u32] {
        self.pair_steps.get(id)
    }

    /// The rollout of a step.
    #[must_use]
    pub fn rollout_of(&self, step: usize) -> usize {
        self.step_rollout.get(step).copied().unwrap_or_default() as usize
    }

    fn count(&mut self, group: &Group, projection: &Projection, scored: &[bool]) {
        const NEVER: u32 = u32::MAX;
        let mut state_last = vec![NEVER; projection.states as usize];
        let mut pair_last = vec![NEVER; self.pairs.len()];
        for (i, rollout) in group.rollouts.iter().enumerate() {
            let counts = scored.get(i).copied().unwrap_or(false);
            for step in rollout.steps.clone() {
                let pair = self.pair_of(step);
                let state = self.pair(pair).state;
                let new_state = mark(&mut state_last, state, i as u32);
                let new_pair = mark(&mut pair_last, pair, i as u32);
                set(&mut self.revisit, step, !new_state);
                set(&mut self.pair_repeat, step, !new_pair);
                if !counts {
                    continue;
                }
                if let Some(c) = self.state_counts.get_mut(state as usize) {
                    c.visits += 1;
                    c.rollouts += u32::from(new_state);
                    c.first += u32::from(new_state);
                }
                if let Some(c) = self.pair_counts.get_mut(pair as usize) {
                    c.visits += 1;
                    c.rollouts += u32::from(new_pair);
                    c.first += u32::from(new_state);
                }
            }
        }
        let counting = group.rollouts.iter().zip(scored).filter(|(_, scored)| **scored);
        let steps = counting.flat_map(|(rollout, _)| rollout.steps.clone());
        let taken = steps.map(|step| (self.pair_of(step), step as u32));
        let lists = Lists::new(self.pairs.len(), taken);
        self.pair_steps = lists;
    }

    /// The only scored rollout of a pair, if there is just one.
    fn sole(&self, pair: usize, lists: &Lists) -> Option<u32> {
        if self.pair_counts.get(pair)?.rollouts == 1 {
            let step = *lists.get(pair as u32).first()?;
            self.step_rollout.get(step as usize).copied()
        } else {
            None
        }
    }

    fn classify(&mut self, scored: &[bool]) {
        let lists = std::mem::take(&mut self.pair_steps);
        for state in 0..self.state_counts.len() {
            let range = self.pairs_of(state as StateId);
            let live: Vec<(PairId, Option<u32>)> = range
                .filter(|&p| self.pair_counts.get(p).is_some_and(|c| c.visits > 0))
                .map(|p| (p as PairId, self.sole(p, &lists)))
                .collect();
            let rollouts = self.state_counts.get(state).map_or(0, |c| c.rollouts);
            set(&mut self.branching, state, live.len() >= 2 && rollouts >= 2);
            for &(pair, _) in &live {
                for &step in lists.get(pair) {
                    let me = self.step_rollout.get(step as usize).copied().unwrap_or_default();
                    if !scored.get(me as usize).copied().unwrap_or(false) {
                        continue;
                    }
                    let elsewhere = live.iter().any(|&(p, sole)| p != pair && sole != Some(me));
                    let class = if elsewhere {
                        Evidence::Compared
                    } else if rollouts >= 2 {
                        Evidence::Shared
                    } else if live.len() >= 2 {
                        Evidence::Own
                    } else {
                        Evidence::Single
                    };
                    set(&mut self.evidence, step as usize, Some(class));
                }
            }
        }
        self.pair_steps = lists;
    }

    /// The transitions: nodes are states in order of their ids, then one END node. No column needs them:
    /// they are made when they are first asked for.
    #[must_use]
    pub fn transitions(&self) -> &DiGraph<StateId, Transition> {
        self.transitions.get_or_init(|| self.connect())
    }

    fn connect(&self) -> DiGraph<StateId, Transition> {
        let end = self.state_counts.len() as StateId;
        let mut edges: Vec<(StateId, PairId, StateId)> = (0..self.step_pair.len())
            .map(|step| {
                let same = self.step_rollout.get(step + 1) == self.step_rollout.get(step);
                let next = if same { self.state_of(step + 1) } else { end };
                (self.state_of(step), self.pair_of(step), next)
            })
            .collect();
        edges.sort_unstable();
        let mut transitions = DiGraph::with_capacity(end as usize + 1, edges.len());
        for state in 0..=end {
            transitions.add_node(state);
        }
        for run in edges.chunk_by(|a, b| a == b) {
            if let Some(&(from, pair, to)) = run.first() {
                transitions.add_edge(
                    NodeIndex::new(from as usize),
                    NodeIndex::new(to as usize),
                    Transition { pair, visits: run.len() as u32 },
                );
            }
        }
        transitions
    }
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

/// Marks `at` with `now`; whether it was not marked with it before.
fn mark(list: &mut [u32], at: u32, now: u32) -> bool {
    match list.get_mut(at as usize) {
        Some(slot) if *slot != now => {
            *slot = now;
            true
        }
        _ => false,
    }
}
