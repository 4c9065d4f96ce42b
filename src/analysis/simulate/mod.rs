//! Small decision processes with exact values: what estimators are measured against.
//!
//! A process has finitely many states, a fixed sampling policy and absorbing ends. With terminal reward
//! R (1 for a success, 0 for a failure), undiscounted at the last action as everywhere in the program:
//! Q(s,a) = `sum_x` P(x|s,a) (R at an end, else gamma V(x)), V(s) = `sum_a` pi(a|s) Q(s,a), A = Q - V.
//! V is the solution of that linear system. Everything is drawn from a seed; no file is touched here.

pub mod measure;
mod processes;

use std::sync::Arc;

pub use processes::ProcessKind;

use crate::credit::linear;
use crate::rollout::{Group, GroupKey, Outcome, Rollout, StepFacts, TextRef};

/// A walk that is longer than this is cut off; with the processes here that does not occur.
const LONGEST: usize = 100_000;

/// Where an action leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// To a state.
    State(usize),
    /// To the end: a success or a failure.
    End(bool),
}

/// One way that an action may go.
#[derive(Debug, Clone)]
pub struct Way {
    /// Probability, given state and action.
    pub chance: f64,
    /// Where it leads.
    pub next: Next,
    /// What a tool would have answered, with its exit code.
    pub answer: Option<(&'static str, i64)>,
}

/// An action at a state.
#[derive(Debug, Clone)]
pub struct Action {
    /// Its key.
    pub key: String,
    /// Probability under the sampling policy.
    pub chance: f64,
    /// Tool and arguments as JSON, for processes that look like agents at work.
    pub call: Option<(&'static str, String)>,
    /// Its ways; their chances add up to 1.
    pub ways: Vec<Way>,
}

/// A state.
#[derive(Debug, Clone)]
pub struct State {
    /// What can be seen of it. States with equal keys cannot be told apart by an estimator.
    pub key: String,
    /// Its actions; their chances add up to 1.
    pub actions: Vec<Action>,
}

/// A decision process with its sampling policy. It starts at state 0.
#[derive(Debug, Clone)]
pub struct Process {
    /// States.
    pub states: Vec<State>,
}

/// Exact values of a process at a discount.
#[derive(Debug, Clone, PartialEq)]
pub struct Exact {
    /// V per state.
    pub v: Vec<f64>,
    /// Q per state and action.
    pub q: Vec<Vec<f64>>,
}

/// One step of a walk: indices of state, action and way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// State before the step.
    pub state: usize,
    /// Action.
    pub action: usize,
    /// What came of it.
    pub way: usize,
}

/// One rollout of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Its steps.
    pub steps: Vec<Taken>,
    /// How it ended; `None` for a walk that was cut off.
    pub success: Option<bool>,
}

/// Rollouts of one process.
#[derive(Debug, Clone)]
pub struct SimulatedGroup {
    /// Name of the task.
    pub task: String,
    /// The process.
    pub process: Process,
    /// Its exact values.
    pub exact: Exact,
    /// Its rollouts.
    pub walks: Vec<Walk>,
}

/// A small seeded generator (splitmix64).
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    /// Draws of a seed and a stream: streams of one seed are independent for what is drawn here.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(seed);
        let first = mixed.next();
        Self(first ^ Self(stream.wrapping_add(0x2545_f491_4f6c_dd1d)).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1), of 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of several, by their chances.
    fn pick(&mut self, chances: impl Iterator<Item = f64>) -> usize {
        let at = self.unit();
        let (mut sum, mut last) = (0.0, 0);
        for (i, chance) in chances.enumerate() {
            sum += chance;
            last = i;
            if at < sum {
                break;
            }
        }
        last
    }
}

impl Process {
    /// Whether every action leads to one place.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.states.iter().flat_map(|s| &s.actions).all(|a| a.ways.len() == 1)
    }

    /// Exact values at a discount, from the linear system (I - gamma P) V = r.
    #[must_use]
    pub fn solve(&self, gamma: f64) -> Exact {
        let n = self.states.len();
        let mut matrix = Vec::with_capacity(n);
        for (i, state) in self.states.iter().enumerate() {
            let mut line = vec![0.0; n + 1];
            let mut add = |at: usize, x: f64| {
                if let Some(slot) = line.get_mut(at) {
                    *slot += x;
                }
            };
            add(i, 1.0);
            for action in &state.actions {
                for way in &action.ways {
                    let chance = action.chance * way.chance;
                    match way.next {
                        Next::State(x) => add(x, -gamma * chance),
                        Next::End(true) => add(n, chance),
                        Next::End(false) => {}
                    }
                }
            }
            matrix.push(line);
        }
        let v = linear::solve(matrix);
        let worth = |next: Next| match next {
            Next::State(x) => gamma * v.get(x).copied().unwrap_or(f64::NAN),
            Next::End(success) => f64::from(u8::from(success)),
        };
        let q = self
            .states
            .iter()
            .map(|state| {
                let q = |a: &Action| a.ways.iter().map(|w| w.chance * worth(w.next)).sum();
                state.actions.iter().map(q).collect()
            })
            .collect();
        Exact { v, q }
    }

    /// What was taken at a step.
    #[must_use]
    pub fn taken(&self, taken: Taken) -> Option<(&State, &Action, &Way)> {
        let state = self.states.get(taken.state)?;
        let action = state.actions.get(taken.action)?;
        Some((state, action, action.ways.get(taken.way)?))
    }

    /// One rollout.
    #[must_use]
    pub fn walk(&self, draws: &mut Draws) -> Walk {
        let mut walk = Walk { steps: Vec::new(), success: None };
        let mut at = 0;
        while walk.steps.len() < LONGEST {
            let Some(state) = self.states.get(at) else { break };
            let action = draws.pick(state.actions.iter().map(|a| a.chance));
            let Some(chosen) = state.actions.get(action) else { break };
            let way = draws.pick(chosen.ways.iter().map(|w| w.chance));
            walk.steps.push(Taken { state: at, action, way });
            match chosen.ways.get(way).map(|w| w.next) {
                Some(Next::State(next)) => at = next,
                Some(Next::End(success)) => {
                    walk.success = Some(success);
                    break;
                }
                None => break,
            }
        }
        walk
    }
}

impl Exact {
    /// Q and V of a step; A is their difference.
    #[must_use]
    pub fn at(&self, taken: Taken) -> Option<(f64, f64)> {
        let q = self.q.get(taken.state)?.get(taken.action)?;
        Some((*q, *self.v.get(taken.state)?))
    }
}

impl SimulatedGroup {
    /// Group `index` of a seed: a process of the kind, varied by seed and index, and its rollouts.
    /// Rollout i is the same whatever `rollouts` is, so that larger groups contain smaller ones.
    #[must_use]
    pub fn new(kind: ProcessKind, seed: u64, index: u64, rollouts: usize, gamma: f64) -> Self {
        let process = kind.build(&mut Draws::new(seed, index << 32));
        let exact = process.solve(gamma);
        let walks = (0..rollouts as u64)
            .map(|i| process.walk(&mut Draws::new(seed, (index << 32) + 1 + i)))
            .collect();
        Self { task: format!("{}-{index}", kind.name()), process, exact, walks }
    }

    /// The first `rollouts` rollouts as a group of opaque steps, with `true_q`, `true_v` and
    /// `true_advantage` as logged numbers.
    #[must_use]
    pub fn group(&self, rollouts: usize) -> Arc<Group> {
        let key = GroupKey { task: self.task.clone(), ..GroupKey::default() };
        let mut group = Group { key, ..Group::default() };
        let mut truth: [Vec<Option<f64>>; 3] = Default::default();
        for (i, walk) in self.walks.iter().take(rollouts).enumerate() {
            let start = group.steps.turn.len();
            for (t, &taken) in walk.steps.iter().enumerate() {
                let Some((state, action, _)) = self.process.taken(taken) else { continue };
                let (state, action) =
                    (group.symbols.intern(&state.key), group.symbols.intern(&action.key));
                group.steps.turn.push(t as u32);
                group.steps.step_reward.push(None);
                group.steps.reward_lost.push(false);
                group.steps.state.push(state);
                group.steps.action.push(action);
                group.steps.tokens.push(None);
                group.steps.text.push(TextRef::default());
                group.steps.facts.steps.push(StepFacts::default());
                let (q, v) = self.exact.at(taken).unzip();
                let numbers = [q, v, q.zip(v).map(|(q, v)| q - v)];
                for (list, x) in truth.iter_mut().zip(numbers) {
                    list.push(x);
                }
            }
            group.rollouts.push(Rollout {
                id: format!("r{i}"),
                outcome: outcome(walk),
                outcome_source: "simulated".into(),
                ending: String::new(),
                reward: walk.success.map(|s| f64::from(u8::from(s))),
                outcome_reward: None,
                named_rewards: Vec::new(),
                harness: None,
                policy: None,
                attempt: None,
                steps: start..group.steps.turn.len(),
                records: Vec::new(),
                segment_starts: Vec::new(),
                missing_segments: String::new(),
                excluded_calls: 0,
                excluded_messages: 0,
                forked_from: None,
            });
        }
        group.steps.values = TRUTH.iter().map(|n| (*n).to_owned()).zip(truth).collect();
        Arc::new(group)
    }
}

/// Names of the exact numbers of a step.
pub const TRUTH: [&str; 3] = ["true_q", "true_v", "true_advantage"];

/// The outcome of a walk.
#[must_use]
pub const fn outcome(walk: &Walk) -> Outcome {
    match walk.success {
        Some(true) => Outcome::Success,
        Some(false) => Outcome::Failure,
        None => Outcome::Truncated,
    }
}
