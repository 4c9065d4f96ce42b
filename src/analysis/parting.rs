//! Two rollouts of a group: how long they go together, how they part, what they share after it.

use super::Analysis;
use super::align::{Place, matches, place};

/// How two rollouts part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// At the same state they take different actions.
    Action,
    /// The same action leads to different states.
    State,
    /// One ends where the other goes on.
    End,
    /// They never part.
    Never,
}

impl Parting {
    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::State => "state",
            Self::End => "end",
            Self::Never => "never",
        }
    }
}

/// Two rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Indices of the rollouts.
    pub rollouts: (usize, usize),
    /// Steps of the common beginning: equal states and actions.
    pub common: usize,
    /// How they part after it.
    pub parting: Parting,
    /// Distinct states that both visited.
    pub shared_states: usize,
    /// Length of the longest common subsequence of their states.
    pub aligned: usize,
}

/// Two rollouts of a group.
#[must_use]
pub fn pair(analysis: &Analysis, a: usize, b: usize) -> Pair {
    let walk = |rollout: usize| -> Vec<Place> {
        let steps = analysis.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
        steps.map(|s| place(analysis, s)).collect()
    };
    let (x, y) = (walk(a), walk(b));
    let common = x.iter().zip(&y).take_while(|(x, y)| x == y).count();
    let parting = match (x.get(common), y.get(common)) {
        (None, None) => Parting::Never,
        (Some(x), Some(y)) if x.0 == y.0 => Parting::Action,
        (Some(_), Some(_)) => Parting::State,
        _ => Parting::End,
    };
    let states = |walk: &[Place]| {
        let mut list: Vec<u32> = walk.iter().map(|p| p.0).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    let there = states(&y);
    let shared_states = states(&x).iter().filter(|s| there.binary_search(s).is_ok()).count();
    let aligned = matches(&x, &y).len();
    Pair { rollouts: (a, b), common, parting, shared_states, aligned }
}
