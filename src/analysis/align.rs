//! Rollouts side by side, aligned on their state signatures: where they were in the same state, and
//! where they took different ways.

use rustc_hash::FxHashMap;

use super::Analysis;
use crate::signature::StateId;

/// Above so many pairs of steps an alignment takes the next equal state instead of the best one.
const EXACT: usize = 4_000_000;
/// What an equal state counts where an equal action counts 1: with fewer steps than this the number of
/// states decides first.
const STATE: u64 = 1 << 24;

/// A row of an alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedRow {
    /// The state that the row's steps share; `None` where each rollout follows its own steps.
    pub state: Option<StateId>,
    /// The step of each rollout, as an index in the group.
    pub cells: Vec<Option<usize>>,
    /// Distinct actions that these rollouts take in the row.
    pub ways: usize,
}

impl AlignedRow {
    /// Whether the rollouts part here.
    #[must_use]
    pub const fn diverges(&self) -> bool {
        self.state.is_some() && self.ways > 1
    }
}

/// Rollouts side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alignment {
    /// The rollouts, in the order of the cells.
    pub rollouts: Vec<usize>,
    /// The rows, each rollout's steps in their order.
    pub rows: Vec<AlignedRow>,
}

impl Alignment {
    /// Aligns rollouts, one after the other: each is laid along the rows so far at as many equal states
    /// as their order allows. Steps between two shared states stand side by side.
    #[must_use]
    pub fn new(analysis: &Analysis, rollouts: &[usize]) -> Self {
        let mut rows: Vec<(StateId, Vec<Option<usize>>)> = Vec::new();
        for (k, &rollout) in rollouts.iter().enumerate() {
            let steps: Vec<usize> =
                analysis.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone()).collect();
            let own: Vec<Place> = steps.iter().map(|&s| place(analysis, s)).collect();
            // Of a row that several share, the first one's action stands for all.
            let known: Vec<Place> = rows
                .iter()
                .filter_map(|(_, cells)| cells.iter().flatten().next())
                .map(|&s| place(analysis, s))
                .collect();
            let mut merged = Vec::with_capacity(rows.len() + own.len());
            let mut rest = rows.into_iter().enumerate().peekable();
            let mut matches = matches(&known, &own).into_iter().peekable();
            for (at, (&step, &(state, _))) in steps.iter().zip(&own).enumerate() {
                let mut cells = vec![None; rollouts.len()];
                if let Some((row, _)) = matches.next_if(|&(_, b)| b == at) {
                    while let Some((_, before)) = rest.next_if(|(i, _)| *i < row) {
                        merged.push(before);
                    }
                    if let Some((_, (_, shared))) = rest.next() {
                        cells = shared;
                    }
                }
                if let Some(cell) = cells.get_mut(k) {
                    *cell = Some(step);
                }
                merged.push((state, cells));
            }
            merged.extend(rest.map(|(_, row)| row));
            rows = merged;
        }
        Self { rollouts: rollouts.to_vec(), rows: pack(analysis, rows, rollouts.len()) }
    }

    /// The row of a step.
    #[must_use]
    pub fn row_of(&self, step: usize) -> Option<usize> {
        self.rows.iter().position(|r| r.cells.contains(&Some(step)))
    }
}

/// Puts steps that nobody shares side by side, between the rows that are shared.
fn pack(
    analysis: &Analysis,
    rows: Vec<(StateId, Vec<Option<usize>>)>,
    n: usize,
) -> Vec<AlignedRow> {
    let mut out = Vec::new();
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); n];
    let flush = |own: &mut Vec<Vec<usize>>, out: &mut Vec<AlignedRow>| {
        let longest = own.iter().map(Vec::len).max().unwrap_or(0);
        for i in 0..longest {
            let cells = own.iter().map(|list| list.get(i).copied()).collect();
            out.push(AlignedRow { state: None, cells, ways: 0 });
        }
        own.iter_mut().for_each(Vec::clear);
    };
    for (state, cells) in rows {
        let here: Vec<usize> = cells.iter().flatten().copied().collect();
        if here.len() < 2 {
            for (list, cell) in own.iter_mut().zip(&cells) {
                list.extend(cell);
            }
            continue;
        }
        flush(&mut own, &mut out);
        let mut actions: Vec<u32> = here.iter().map(|&s| analysis.graph.pair_of(s)).collect();
        actions.sort_unstable();
        actions.dedup();
        out.push(AlignedRow { state: Some(state), cells, ways: actions.len() });
    }
    flush(&mut own, &mut out);
    out
}

/// A state, and the pair that was taken there.
pub(super) type Place = (StateId, u32);

/// Where a step is.
pub(super) fn place(analysis: &Analysis, step: usize) -> Place {
    (analysis.graph.state_of(step), analysis.graph.pair_of(step))
}

/// Equal states of two walks in one order: (place in `a`, place in `b`), as many as possible; of
/// equally many the ones with the most equal actions, then the earliest.
pub(super) fn matches(a: &[Place], b: &[Place]) -> Vec<(usize, usize)> {
    if a.len().saturating_mul(b.len()) > EXACT {
        return next_equal(a, b);
    }
    // Worth of the best alignment of the tails: a state counts `STATE`, an equal action 1 more.
    let width = b.len() + 1;
    let mut best = vec![0_u64; (a.len() + 1) * width];
    let at = |best: &[u64], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    let worth = |x: &Place, y: &Place| (x.0 == y.0).then(|| STATE + u64::from(x.1 == y.1));
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let skip = at(&best, i + 1, j).max(at(&best, i, j + 1));
            let take = worth(x, y).map_or(0, |w| w + at(&best, i + 1, j + 1));
            if let Some(slot) = best.get_mut(i * width + j) {
                *slot = skip.max(take);
            }
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let here = at(&best, i, j);
        if worth(x, y).is_some_and(|w| w + at(&best, i + 1, j + 1) == here) {
            out.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&best, i + 1, j) == here {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

fn next_equal(a: &[Place], b: &[Place]) -> Vec<(usize, usize)> {
    let mut places: FxHashMap<StateId, Vec<usize>> = FxHashMap::default();
    for (i, &(state, _)) in a.iter().enumerate() {
        places.entry(state).or_default().push(i);
    }
    let (mut from, mut out) = (0, Vec::new());
    for (j, (state, _)) in b.iter().enumerate() {
        let Some(list) = places.get(state) else {
            continue;
        };
        if let Some(&i) = list.get(list.partition_point(|&i| i < from)) {
            out.push((i, j));
            from = i + 1;
        }
    }
    out
}

/// A rollout and those that share the most distinct states with it, the nearest first, in all `n`.
#[must_use]
pub fn nearest(analysis: &Analysis, rollout: usize, n: usize) -> Vec<usize> {
    let states = |i: usize| {
        let steps = analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
        let mut states: Vec<StateId> = steps.map(|s| analysis.graph.state_of(s)).collect();
        states.sort_unstable();
        states.dedup();
        states
    };
    let own = states(rollout);
    let mut others: Vec<(usize, usize)> = (0..analysis.group.rollouts.len())
        .filter(|&i| i != rollout)
        .map(|i| {
            let shared = states(i).iter().filter(|s| own.binary_search(s).is_ok()).count();
            (shared, i)
        })
        .collect();
    others.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    std::iter::once(rollout).chain(others.into_iter().map(|(_, i)| i)).take(n.max(1)).collect()
}

/// Where one rollout first leaves another: its first step in a state where the other one was and took
/// other actions only. `None` where there is no such step.
#[must_use]
pub fn first_divergence(analysis: &Analysis, rollout: usize, other: usize) -> Option<usize> {
    let steps = |i: usize| analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
    let mut pairs: FxHashMap<StateId, Vec<u32>> = FxHashMap::default();
    for step in steps(other) {
        pairs.entry(analysis.graph.state_of(step)).or_default().push(analysis.graph.pair_of(step));
    }
    steps(rollout).find(|&step| {
        pairs
            .get(&analysis.graph.state_of(step))
            .is_some_and(|taken| !taken.contains(&analysis.graph.pair_of(step)))
    })
}

/// One of the ways that leave a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The pair.
    pub pair: u32,
    /// A step that takes it.
    pub step: usize,
    /// Scored rollouts that take it, in canonical order.
    pub rollouts: Vec<usize>,
}

/// The ways that scored rollouts leave a state, the best Q first.
#[must_use]
pub fn ways(analysis: &Analysis, state: StateId) -> Vec<Way> {
    let mut list: Vec<Way> = analysis
        .graph
        .pairs_of(state)
        .filter_map(|pair| {
            let pair = pair as u32;
            let steps = analysis.graph.steps_of(pair);
            let mut rollouts: Vec<usize> =
                steps.iter().map(|&s| analysis.graph.rollout_of(s as usize)).collect();
            rollouts.dedup();
            Some(Way { pair, step: *steps.first()? as usize, rollouts })
        })
        .collect();
    list.sort_by(|a, b| {
        let q = |w: &Way| analysis.values.pair(w.pair).mean;
        q(b).total_cmp(&q(a)).then(a.pair.cmp(&b.pair))
    });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(states: &[u32]) -> Vec<Place> {
        states.iter().map(|&s| (s, 0)).collect()
    }

    #[test]
    fn equal_states_are_matched_in_order() {
        assert_eq!(matches(&walk(&[1, 2, 3, 4]), &walk(&[2, 9, 4])), [(1, 0), (3, 2)]);
        assert_eq!(matches(&[], &walk(&[1])), []);
        assert_eq!(next_equal(&walk(&[1, 2, 3, 2]), &walk(&[2, 2, 1])), [(1, 0), (3, 1)]);
    }

    #[test]
    fn of_equally_long_alignments_the_one_with_equal_actions() {
        let x = [(0, 0), (1, 0), (2, 0), (3, 0)];
        let y = [(0, 0), (2, 1), (1, 0), (3, 5)];
        // 0 1 3 and 0 2 3 are equally long; at 1 the actions agree, at 2 they do not.
        assert_eq!(matches(&x, &y), [(0, 0), (1, 2), (3, 3)]);
        assert_eq!(matches(&x, &[]), []);
    }
}
