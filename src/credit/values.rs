//! Q, V and V' of every pair and state from visit counts (RTMC, arXiv 2604.11037), with the exact
//! split of every value in outcome, discount and shaping.

use std::sync::Arc;

use super::basis::{Returns, Visit};
use super::stats;
use crate::graph::{Lists, StateGraph};
use crate::rollout::Group;

/// The three parts of a return, or of a mean of returns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// R, undiscounted.
    pub outcome: f64,
    /// What the discount takes.
    pub discount: f64,
    /// Step rewards.
    pub shaping: f64,
}

/// A mean over visits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mean {
    /// How many visits.
    pub n: u32,
    /// Mean return; 0 where `n` is 0.
    pub mean: f64,
    /// Its parts.
    pub parts: Parts,
}

/// The six parts of an advantage: comparison = Q - V and prior = k (V - prior), each for outcome,
/// discount and shaping.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Split {
    /// Q - V.
    pub comparison: Parts,
    /// `n_prior` / (N + `n_prior`) times (V - prior); the prior belongs to the outcome.
    pub prior: Parts,
}

/// Values of all pairs and states.
#[derive(Debug, Clone)]
pub struct ValueTable {
    /// Q of the pairs that count more than once.
    pairs: Means,
    /// V of the states that count more than once.
    states: Means,
    /// Returns of each step.
    returns: Arc<Returns>,
    /// Per pair: how often it counts in N(s). Differs from `pairs[..].n` under `visit = state` only.
    pub counted: Vec<u32>,
    /// Per state: the steps that count, in canonical order.
    pub members: Lists,
    /// Per pair: the steps that count for Q, in canonical order.
    pub pair_members: Lists,
    /// Weight of the prior.
    pub n_prior: f64,
    /// The prior.
    pub v_prior: f64,
    /// Which visits count.
    pub visit: Visit,
}

impl ValueTable {
    /// Builds the table.
    #[must_use]
    pub fn new(
        group: &Group,
        graph: &StateGraph,
        scored: &[bool],
        returns: &Arc<Returns>,
        visit: Visit,
        (n_prior, v_prior): (f64, f64),
    ) -> Self {
        // For each step of a scored rollout: whether it counts for Q and for V.
        let counts = |step: usize| {
            let first_pair = graph.pair_repeat.get(step) == Some(&false);
            let first_state = graph.revisit.get(step) == Some(&false);
            match visit {
                Visit::Pair => (first_pair, first_pair),
                Visit::State => (first_pair, first_state),
                Visit::Every => (true, true),
            }
        };
        let scored = group.rollouts.iter().zip(scored).filter(|(_, scored)| **scored);
        let steps = scored.flat_map(|(rollout, _)| rollout.steps.clone());
        let for_q = steps.clone().filter(|&step| counts(step).0);
        let for_v = steps.filter(|&step| counts(step).1);
        let mut counted = vec![0; graph.pairs.len()];
        for step in for_v.clone() {
            if let Some(n) = counted.get_mut(graph.pair_of(step) as usize) {
                *n += 1;
            }
        }
        let pair_members =
            Lists::new(graph.pairs.len(), for_q.map(|step| (graph.pair_of(step), step as u32)));
        let members = Lists::new(
            graph.state_counts.len(),
            for_v.map(|step| (graph.state_of(step), step as u32)),
        );
        Self {
            pairs: Means::new(&pair_members, returns),
            states: Means::new(&members, returns),
            returns: Arc::clone(returns),
            counted,
            members,
            pair_members,
            n_prior,
            v_prior,
            visit,
        }
    }

    /// N(s,a) and Q.
    #[must_use]
    pub fn pair(&self, pair: u32) -> Mean {
        self.pairs.get(pair, &self.pair_members, &self.returns)
    }

    /// N(s) and V.
    #[must_use]
    pub fn state(&self, state: u32) -> Mean {
        self.states.get(state, &self.members, &self.returns)
    }

    /// N(s) of every state, in order.
    pub fn visits(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().map(|members| members.len() as u32)
    }

    /// How often a pair counts in N(s).
    #[must_use]
    pub fn counted(&self, pair: u32) -> u32 {
        self.counted.get(pair as usize).copied().unwrap_or_default()
    }

    /// Steps that count at a state.
    #[must_use]
    pub fn members(&self, state: u32) -> &[u32] {
        self.members.get(state)
    }

    /// Steps that count for the Q of a pair.
    #[must_use]
    pub fn pair_members(&self, pair: u32) -> &[u32] {
        self.pair_members.get(pair)
    }

    /// V' = (N V + `n_prior` `V_prior`) / (N + `n_prior`); V itself without a prior. `None` where no scored
    /// rollout was, and no prior stands in.
    #[must_use]
    pub fn smoothed(&self, state: u32) -> Option<f64> {
        let v = self.state(state);
        if v.n == 0 {
            return None;
        }
        // Equal numbers are their own mean, without a rounding residue.
        if self.n_prior == 0.0 || v.mean == self.v_prior {
            return Some(v.mean);
        }
        let n = f64::from(v.n);
        Some((n * v.mean + self.n_prior * self.v_prior) / (n + self.n_prior))
    }

    /// The six parts of Q - V'. `None` where there is no value.
    #[must_use]
    pub fn split(&self, pair: u32, state: u32) -> Option<Split> {
        let (q, v) = (self.pair(pair), self.state(state));
        if q.n == 0 || v.n == 0 {
            return None;
        }
        let k = self.n_prior / (f64::from(v.n) + self.n_prior);
        Some(Split {
            comparison: Parts {
                outcome: q.parts.outcome - v.parts.outcome,
                discount: q.parts.discount - v.parts.discount,
                shaping: q.parts.shaping - v.parts.shaping,
            },
            prior: Parts {
                outcome: k * (v.parts.outcome - self.v_prior),
                discount: k * v.parts.discount,
                shaping: k * v.parts.shaping,
            },
        })
    }
}

/// The means of lists of steps. A list of one step is its own mean: where nearly all states are met once,
/// nothing is kept of them.
#[derive(Debug, Clone, Default)]
struct Means {
    /// The lists of several steps, ascending.
    lists: Vec<u32>,
    /// The mean of each of them.
    several: Vec<Mean>,
}

impl Means {
    fn new(lists: &Lists, returns: &Returns) -> Self {
        let several = || (0..).zip(lists.iter()).filter(|(_, list)| list.len() > 1);
        let mut means = Self::default();
        means.lists.reserve_exact(several().count());
        means.lists.extend(several().map(|(id, _)| id));
        means.several.reserve_exact(means.lists.len());
        means.several.extend(several().map(|(_, list)| mean(list, returns)));
        means
    }

    fn get(&self, id: u32, lists: &Lists, returns: &Returns) -> Mean {
        let list = lists.get(id);
        if list.len() > 1 {
            let at = self.lists.binary_search(&id).ok();
            return at.and_then(|at| self.several.get(at)).copied().unwrap_or_default();
        }
        let Some(&step) = list.first() else { return Mean::default() };
        let of = |list: &[f64]| list.get(step as usize).copied().unwrap_or(0.0);
        Mean {
            n: 1,
            mean: of(&returns.total),
            parts: Parts {
                outcome: of(&returns.outcome),
                discount: of(&returns.discount),
                shaping: of(&returns.shaping),
            },
        }
    }
}

fn mean(members: &[u32], returns: &Returns) -> Mean {
    let of = |list: &[f64]| {
        let numbers: Vec<f64> =
            members.iter().filter_map(|&s| list.get(s as usize).copied()).collect();
        stats::mean(&numbers).unwrap_or(0.0)
    };
    Mean {
        n: members.len() as u32,
        mean: of(&returns.total),
        parts: Parts {
            outcome: of(&returns.outcome),
            discount: of(&returns.discount),
            shaping: of(&returns.shaping),
        },
    }
}

impl Split {
    /// Which kind of part makes a value of this sign: the largest one with the value's sign of
    /// comparison:outcome, prior:outcome, both discount parts, both shaping parts.
    #[must_use]
    pub fn label(&self, value: f64) -> &'static str {
        let candidates = [
            ("comparison", self.comparison.outcome),
            ("prior", self.prior.outcome),
            ("discount", self.comparison.discount + self.prior.discount),
            ("shaping", self.comparison.shaping + self.prior.shaping),
        ];
        let sign = value.signum();
        candidates
            .into_iter()
            .reduce(|best, next| if next.1 * sign > best.1 * sign { next } else { best })
            .map_or("", |(name, _)| name)
    }
}
