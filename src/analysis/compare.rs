//! Rollouts of one group side by side: aligned on their state signatures, and where they part.

use super::Analysis;

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

/// One row of an alignment: a step of each rollout, or none.
pub type Row = Vec<Option<usize>>;

/// States and actions of a rollout's steps, and the index of its first step.
fn walk(analysis: &Analysis, rollout: usize) -> (usize, Vec<(u32, u32)>) {
    let steps = analysis.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
    let first = steps.start;
    let pairs = steps.map(|s| analysis.graph.pair(analysis.graph.pair_of(s)));
    (first, pairs.map(|p| (p.state, p.action)).collect())
}

/// Two rollouts of a group.
#[must_use]
pub fn pair(analysis: &Analysis, a: usize, b: usize) -> Pair {
    let ((_, x), (_, y)) = (walk(analysis, a), walk(analysis, b));
    let common = x.iter().zip(&y).take_while(|(x, y)| x == y).count();
    let parting = match (x.get(common), y.get(common)) {
        (None, None) => Parting::Never,
        (Some(x), Some(y)) if x.0 == y.0 => Parting::Action,
        (Some(_), Some(_)) => Parting::State,
        _ => Parting::End,
    };
    let states = |walk: &[(u32, u32)]| {
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

/// Positions of a longest common subsequence of states; of equally long ones the one that prefers
/// equal actions, then the earliest steps.
fn matches(x: &[(u32, u32)], y: &[(u32, u32)]) -> Vec<(usize, usize)> {
    // Score of the best alignment of the tails: a state counts `EQUAL`, an equal action 1 more. With
    // fewer than EQUAL steps the number of states decides first.
    const EQUAL: u64 = 1 << 24;
    let wide = y.len() + 1;
    let mut best = vec![0_u64; (x.len() + 1) * wide];
    let at = |best: &[u64], i: usize, j: usize| best.get(i * wide + j).copied().unwrap_or(0);
    let worth = |i: usize, j: usize| match (x.get(i), y.get(j)) {
        (Some(a), Some(b)) if a.0 == b.0 => Some(EQUAL + u64::from(a.1 == b.1)),
        _ => None,
    };
    for i in (0..x.len()).rev() {
        for j in (0..y.len()).rev() {
            let skip = at(&best, i + 1, j).max(at(&best, i, j + 1));
            let take = worth(i, j).map_or(0, |w| w + at(&best, i + 1, j + 1));
            if let Some(slot) = best.get_mut(i * wide + j) {
                *slot = skip.max(take);
            }
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < x.len() && j < y.len() {
        let here = at(&best, i, j);
        if worth(i, j).is_some_and(|w| w + at(&best, i + 1, j + 1) == here) {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&best, i + 1, j) == here {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

/// The rollouts aligned with the first of them, step by step: every step of every rollout stands in
/// exactly one row, in order; in a row with a step of the first, the others are at the same state.
#[must_use]
pub fn align(analysis: &Analysis, rollouts: &[usize]) -> Vec<Row> {
    let walks: Vec<(usize, Vec<(u32, u32)>)> =
        rollouts.iter().map(|&r| walk(analysis, r)).collect();
    let Some((_, lead)) = walks.first() else {
        return Vec::new();
    };
    let matched: Vec<Vec<(usize, usize)>> =
        walks.iter().skip(1).map(|(_, other)| matches(lead, other)).collect();
    let mut next = vec![0; walks.len()];
    let mut rows: Vec<Row> = Vec::new();
    let alone = |column: usize, step: usize| {
        let mut row: Row = vec![None; walks.len()];
        if let (Some(slot), Some((first, _))) = (row.get_mut(column), walks.get(column)) {
            *slot = Some(first + step);
        }
        row
    };
    for at in 0..=lead.len() {
        // Steps of the others before their match with this step of the first; after the last one, all.
        for (other, pairs) in matched.iter().enumerate() {
            let column = other + 1;
            let length = walks.get(column).map_or(0, |(_, w)| w.len());
            let until = if at == lead.len() {
                length
            } else {
                pairs.iter().find(|(i, _)| *i == at).map_or(0, |(_, j)| *j)
            };
            if let Some(next) = next.get_mut(column) {
                while *next < until {
                    rows.push(alone(column, *next));
                    *next += 1;
                }
            }
        }
        if at == lead.len() {
            break;
        }
        let mut row = alone(0, at);
        for (other, pairs) in matched.iter().enumerate() {
            let column = other + 1;
            if let (Some((_, j)), Some(slot), Some((first, _)), Some(next)) = (
                pairs.iter().find(|(i, _)| *i == at),
                row.get_mut(column),
                walks.get(column),
                next.get_mut(column),
            ) {
                *slot = Some(first + j);
                *next = j + 1;
            }
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alignment_is_a_longest_common_subsequence_that_prefers_equal_actions() {
        let x = [(0, 0), (1, 0), (2, 0), (3, 0)];
        let y = [(0, 0), (2, 1), (1, 0), (3, 5)];
        // 0 1 3 and 0 2 3 are equally long; at 1 the actions agree, at 2 they do not.
        assert_eq!(matches(&x, &y), [(0, 0), (1, 2), (3, 3)]);
        assert_eq!(matches(&x, &[]), []);
    }
}
