//! The two lenses on one graph as rows of a tree: folded walks, and states that appear once each.
//!
//! Plain data without a terminal type; counts come from the graph.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use crate::analysis::Analysis;
use crate::graph::{Evidence, PairId};
use crate::signature::StateId;

/// Which lens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LensKind {
    /// Folded segments of the walks.
    #[default]
    Paths,
    /// Each state once, under the in-edge by which it was reached most.
    States,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A folded segment of walks.
    Segment,
    /// A further step of an opened segment.
    Inner,
    /// A transition under which its state stands.
    Edge(Option<StateId>),
    /// A transition to a state that stands elsewhere.
    Link(StateId),
    /// A transition that stays in its state, with its visits.
    Loop(u32),
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct LensRow {
    /// What it stands for.
    pub kind: RowKind,
    /// Distance from the top.
    pub depth: u32,
    /// The row above it in the tree.
    pub parent: Option<usize>,
    /// Whether rows hang below it (inner steps not counted).
    pub parent_of_rows: bool,
    /// The pair whose numbers it shows.
    pub pair: PairId,
    /// Its first step (index in the group) in its first rollout.
    pub step: usize,
    /// Rollouts that pass, in canonical order.
    pub members: Vec<u32>,
    /// Scored ones among them, successes, failures.
    pub counts: (u32, u32, u32),
    /// The strongest evidence among its rollouts.
    pub evidence: Option<Evidence>,
    /// Steps in it.
    pub steps: u32,
    /// Branching states folded inside.
    pub branching: u32,
    /// Other rows of its state.
    pub elsewhere: u32,
    /// Revisits folded inside.
    pub revisits: u32,
}

impl LensRow {
    /// Whether it can be opened or closed.
    #[must_use]
    pub const fn folds(&self) -> bool {
        self.parent_of_rows || matches!(self.kind, RowKind::Segment) && self.steps > 1
    }
}

/// The rows of a lens, a parent before its children.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lens {
    /// The rows.
    pub rows: Vec<LensRow>,
    /// The row of each step of the group; `u32::MAX` where there is none.
    pub step_row: Vec<u32>,
}

/// Which rows are folded otherwise than at first: children closed, segments opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folds {
    /// Rows whose children are hidden.
    pub closed: BTreeSet<usize>,
    /// Segments whose steps are shown.
    pub opened: BTreeSet<usize>,
}

impl Lens {
    /// The rows of a lens.
    #[must_use]
    pub fn new(analysis: &Analysis, kind: LensKind) -> Self {
        match kind {
            LensKind::Paths => paths(analysis),
            LensKind::States => states(analysis),
        }
    }
}

/// Scored, succeeded, failed among some rollouts.
fn counts(analysis: &Analysis, members: &[u32]) -> (u32, u32, u32) {
    let of = |list: &[bool], i: u32| list.get(i as usize) == Some(&true);
    let scored = members.iter().filter(|&&i| of(&analysis.basis.scored, i)).count() as u32;
    let ok = members
        .iter()
        .filter(|&&i| of(&analysis.basis.scored, i) && of(&analysis.basis.success, i))
        .count() as u32;
    (scored, ok, scored - ok)
}

/// The strongest class of a pair's steps among some rollouts.
fn strongest(analysis: &Analysis, pair: PairId, members: &[u32]) -> Option<Evidence> {
    analysis
        .graph
        .steps_of(pair)
        .iter()
        .map(|&s| s as usize)
        .filter(|&s| members.contains(&(analysis.graph.rollout_of(s) as u32)))
        .filter_map(|s| analysis.graph.evidence.get(s).copied().flatten())
        .min()
}

fn paths(analysis: &Analysis) -> Lens {
    let tree = &analysis.paths;
    let mut lens = Lens { rows: Vec::new(), step_row: vec![u32::MAX; analysis.group.len()] };
    let mut place = vec![0_usize; tree.rows.len()];
    // Steps walked before each row.
    let mut walked = vec![0_u32; tree.rows.len()];
    for (i, row) in tree.rows.iter().enumerate() {
        let above = row.parent.and_then(|p| {
            let before = walked.get(p)? + tree.rows.get(p)?.steps;
            Some(before)
        });
        let before = above.unwrap_or(0);
        if let (Some(w), Some(p)) = (walked.get_mut(i), place.get_mut(i)) {
            *w = before;
            *p = lens.rows.len();
        }
        let first = LensRow {
            kind: RowKind::Segment,
            depth: 0,
            parent: row.parent.and_then(|p| place.get(p).copied()),
            parent_of_rows: !row.children.is_empty(),
            pair: row.pair,
            step: row.first_step,
            members: row.members.clone(),
            counts: counts(analysis, &row.members),
            evidence: strongest(analysis, row.pair, &row.members),
            steps: row.steps,
            branching: row.branching,
            elsewhere: row.elsewhere,
            revisits: row.revisits,
        };
        let at = lens.rows.len();
        let depth = row.depth;
        lens.rows.push(LensRow { depth, ..first.clone() });
        for k in 1..row.steps {
            let step = row.first_step + k as usize;
            let pair = analysis.graph.pair_of(step);
            lens.rows.push(LensRow {
                kind: RowKind::Inner,
                depth: depth + 1,
                parent: Some(at),
                parent_of_rows: false,
                pair,
                step,
                evidence: strongest(analysis, pair, &row.members),
                steps: 1,
                branching: u32::from(
                    analysis.graph.branching.get(analysis.graph.state_of(step) as usize)
                        == Some(&true),
                ),
                elsewhere: 0,
                revisits: u32::from(analysis.graph.revisit.get(step) == Some(&true)),
                ..first.clone()
            });
        }
        for &member in &row.members {
            let start = analysis.group.rollouts.get(member as usize).map_or(0, |r| r.steps.start);
            for k in 0..row.steps {
                let step = start + (before + k) as usize;
                if let Some(slot) = lens.step_row.get_mut(step) {
                    *slot = (at + k as usize) as u32;
                }
            }
        }
    }
    lens
}

/// A transition that is waiting for its place: most visited first, then canonical.
type Waiting = (u32, Reverse<(PairId, StateId)>);

/// Each state once. From the states where rollouts begin, the most visited transition out of what is
/// placed places the next state: so no state can hang below itself.
fn states(analysis: &Analysis) -> Lens {
    let graph = &analysis.graph;
    let end = analysis.projection.states;
    let mut home: Vec<Option<(PairId, StateId)>> = vec![None; end as usize];
    let mut placed = vec![false; end as usize];
    let mut roots = Vec::new();
    let mut heap: BinaryHeap<Waiting> = BinaryHeap::new();
    let settle = |state: StateId, placed: &mut Vec<bool>, heap: &mut BinaryHeap<Waiting>| {
        if let Some(slot) = placed.get_mut(state as usize) {
            *slot = true;
        }
        for edge in graph.transitions().edges(NodeIndex::new(state as usize)) {
            let to = edge.target().index() as StateId;
            heap.push((edge.weight().visits, Reverse((edge.weight().pair, to))));
        }
    };
    let starts = analysis
        .group
        .rollouts
        .iter()
        .filter(|r| !r.steps.is_empty())
        .map(|r| graph.state_of(r.steps.start));
    for root in starts {
        if placed.get(root as usize) == Some(&false) {
            settle(root, &mut placed, &mut heap);
            roots.push(root);
        }
    }
    while let Some((_, Reverse((pair, to)))) = heap.pop() {
        if placed.get(to as usize) == Some(&false) {
            if let Some(slot) = home.get_mut(to as usize) {
                *slot = Some((pair, to));
            }
            settle(to, &mut placed, &mut heap);
        }
    }
    let mut build = Build {
        analysis,
        home,
        lens: Lens { rows: Vec::new(), step_row: vec![u32::MAX; analysis.group.len()] },
        index: std::collections::BTreeMap::new(),
    };
    build.walk(&roots, end);
    build.finish()
}

struct Build<'a> {
    analysis: &'a Analysis,
    home: Vec<Option<(PairId, StateId)>>,
    lens: Lens,
    index: std::collections::BTreeMap<(PairId, StateId), usize>,
}

impl Build<'_> {
    /// Lays the states out depth first, without recursion: chains may be thousands of states deep.
    fn walk(&mut self, roots: &[StateId], end: StateId) {
        let mut todo: Vec<(PairId, StateId, Option<usize>, u32)> = Vec::new();
        for &root in roots.iter().rev() {
            self.push_edges(&mut todo, root, None, 0);
        }
        while let Some((pair, to, parent, depth)) = todo.pop() {
            let at = self.lens.rows.len();
            let from = self.analysis.graph.pair(pair).state;
            let home = self.home.get(to as usize).copied().flatten() == Some((pair, to));
            let kind = if to == from {
                RowKind::Loop(0)
            } else if to == end {
                RowKind::Edge(None)
            } else if home {
                RowKind::Edge(Some(to))
            } else {
                RowKind::Link(to)
            };
            self.lens.rows.push(LensRow {
                kind,
                depth,
                parent,
                parent_of_rows: home,
                pair,
                step: 0,
                members: Vec::new(),
                counts: (0, 0, 0),
                evidence: None,
                steps: 0,
                branching: 0,
                elsewhere: 0,
                revisits: 0,
            });
            self.index.insert((pair, to), at);
            if home {
                self.push_edges(&mut todo, to, Some(at), depth + 1);
            }
        }
    }

    /// Puts the transitions of a state on the pile, so that the most visited comes off first.
    fn push_edges(
        &self,
        todo: &mut Vec<(PairId, StateId, Option<usize>, u32)>,
        state: StateId,
        parent: Option<usize>,
        depth: u32,
    ) {
        let mut edges: Vec<Waiting> = self
            .analysis
            .graph
            .transitions()
            .edges(NodeIndex::new(state as usize))
            .map(|e| (e.weight().visits, Reverse((e.weight().pair, e.target().index() as StateId))))
            .collect();
        edges.sort_unstable();
        for (_, Reverse((pair, to))) in edges {
            todo.push((pair, to, parent, depth));
        }
    }

    /// Hangs the steps on their rows.
    fn finish(mut self) -> Lens {
        let end = self.analysis.projection.states;
        for (i, rollout) in self.analysis.group.rollouts.iter().enumerate() {
            for step in rollout.steps.clone() {
                let to = if step + 1 < rollout.steps.end {
                    self.analysis.graph.state_of(step + 1)
                } else {
                    end
                };
                let key = (self.analysis.graph.pair_of(step), to);
                let Some(&at) = self.index.get(&key) else {
                    continue;
                };
                if let Some(slot) = self.lens.step_row.get_mut(step) {
                    *slot = at as u32;
                }
                let Some(row) = self.lens.rows.get_mut(at) else {
                    continue;
                };
                if row.steps == 0 {
                    row.step = step;
                }
                row.steps += 1;
                if let RowKind::Loop(k) = &mut row.kind {
                    *k += 1;
                }
                if row.members.last() != Some(&(i as u32)) {
                    row.members.push(i as u32);
                }
            }
        }
        for row in &mut self.lens.rows {
            row.counts = counts(self.analysis, &row.members);
            row.evidence = strongest(self.analysis, row.pair, &row.members);
        }
        self.lens
    }
}
