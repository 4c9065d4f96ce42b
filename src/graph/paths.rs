//! The compressed trie of the rollouts' state-action walks.
//!
//! N rollouts give at most 2N-1 rows at any depth; the rollouts of a row are those of its children
//! plus those that end in it. Source: the radix tree over walks; no statistics are computed here.

use super::{PairId, StateGraph};
use crate::rollout::Group;

/// One folded segment of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Distance from the top, 0 for first actions.
    pub depth: u32,
    /// Row index of the parent.
    pub parent: Option<usize>,
    /// Row indices of the children, in display order.
    pub children: Vec<usize>,
    /// Rollouts that pass through the first edge, scored or not, in canonical order.
    pub members: Vec<u32>,
    /// Rollouts that end inside this row.
    pub ending: Vec<u32>,
    /// The first pair: the row's numbers are this pair's.
    pub pair: PairId,
    /// First step (index in the group) of the first member in this row.
    pub first_step: usize,
    /// How many steps are folded in the row.
    pub steps: u32,
    /// Branching states folded inside, the first state left out.
    pub branching: u32,
    /// On how many other rows the state of the first pair is the first state of a pair, too.
    pub elsewhere: u32,
    /// Steps of the row whose state occurred earlier in the rollout.
    pub revisits: u32,
}

/// The rows in drawing order: a parent before its children.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathTree {
    /// The rows.
    pub rows: Vec<Row>,
    /// Scored rollouts without steps and all others without steps: they have no row.
    pub empty: Vec<u32>,
}

impl PathTree {
    /// Builds the tree. Siblings are sorted by scored members (descending), then by their first
    /// rollout: canonical, whatever the order of the input.
    #[must_use]
    pub fn new(group: &Group, graph: &StateGraph, scored: &[bool]) -> Self {
        let (walking, empty): (Vec<u32>, Vec<u32>) = (0..group.rollouts.len() as u32)
            .partition(|&i| group.rollouts.get(i as usize).is_some_and(|r| !r.steps.is_empty()));
        let mut tree = Self { rows: Vec::new(), empty };
        tree.split(group, graph, scored, &walking, 0, None);
        tree.mark_elsewhere(graph);
        tree
    }

    /// The row in which a rollout takes its step `t`.
    #[must_use]
    pub fn row_of(&self, rollout: u32, t: u32) -> Option<usize> {
        let mut walked = 0;
        let mut at = self.rows.iter().position(|r| r.depth == 0 && r.members.contains(&rollout))?;
        loop {
            let row = self.rows.get(at)?;
            walked += row.steps;
            if t < walked {
                return Some(at);
            }
            at = *row
                .children
                .iter()
                .find(|&&c| self.rows.get(c).is_some_and(|r| r.members.contains(&rollout)))?;
        }
    }

    fn split(
        &mut self,
        group: &Group,
        graph: &StateGraph,
        scored: &[bool],
        members: &[u32],
        from: u32,
        parent: Option<usize>,
    ) {
        let step = |i: u32, t: u32| {
            let steps = group.rollouts.get(i as usize).map_or(0..0, |r| r.steps.clone());
            let at = steps.start + t as usize;
            (at < steps.end).then_some(at)
        };
        let pair = |i: u32, t: u32| step(i, t).map(|at| graph.pair_of(at));
        let mut parts: Vec<(PairId, Vec<u32>)> = Vec::new();
        for &i in members {
            let Some(p) = pair(i, from) else { continue };
            match parts.iter_mut().find(|(q, _)| *q == p) {
                Some((_, list)) => list.push(i),
                None => parts.push((p, vec![i])),
            }
        }
        let weight = |list: &[u32]| {
            list.iter().filter(|&&i| scored.get(i as usize).copied().unwrap_or(false)).count()
        };
        parts.sort_by_key(|(_, list)| (std::cmp::Reverse(weight(list)), list.first().copied()));
        for (first, list) in parts {
            let mut steps = 1;
            while let Some(&lead) = list.first() {
                let next = pair(lead, from + steps);
                if next.is_none() || list.iter().any(|&i| pair(i, from + steps) != next) {
                    break;
                }
                steps += 1;
            }
            let lead = list.first().copied().unwrap_or_default();
            let inside: Vec<usize> = (from..from + steps).filter_map(|t| step(lead, t)).collect();
            let index = self.rows.len();
            self.rows.push(Row {
                depth: parent.and_then(|p| self.rows.get(p)).map_or(0, |r| r.depth + 1),
                parent,
                children: Vec::new(),
                ending: list.iter().copied().filter(|&i| step(i, from + steps).is_none()).collect(),
                pair: first,
                first_step: inside.first().copied().unwrap_or_default(),
                steps,
                branching: inside
                    .iter()
                    .skip(1)
                    .filter(|&&s| graph.branching.get(graph.state_of(s) as usize) == Some(&true))
                    .count() as u32,
                elsewhere: 0,
                revisits: inside.iter().filter(|&&s| graph.revisit.get(s) == Some(&true)).count()
                    as u32,
                members: list.clone(),
            });
            if let Some(row) = parent.and_then(|p| self.rows.get_mut(p)) {
                row.children.push(index);
            }
            self.split(group, graph, scored, &list, from + steps, Some(index));
        }
    }

    /// Counts for each row the rows under other parents that start at the same state: the places
    /// where the tree shows one state more than once.
    fn mark_elsewhere(&mut self, graph: &StateGraph) {
        let firsts: Vec<(u32, Option<usize>)> =
            self.rows.iter().map(|r| (graph.pair(r.pair).state, r.parent)).collect();
        for (row, &(state, parent)) in self.rows.iter_mut().zip(&firsts) {
            let mut others: Vec<Option<usize>> = firsts
                .iter()
                .filter(|&&(s, p)| s == state && p != parent)
                .map(|&(_, p)| p)
                .collect();
            others.sort_unstable();
            others.dedup();
            row.elsewhere = others.len() as u32;
        }
    }
}
