//! The tree in another order and without its small branches: how siblings are sorted, which subtrees are
//! left out, and how much that hides. The lens itself and its counts stay as they are.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::keymap::Action;
use super::layout::Pane;
use super::lens::{Folds, Lens, LensKind, RowKind};
use super::model::Model;
use crate::analysis::Analysis;

/// Order of the siblings in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeOrder {
    /// Most rollouts first, then canonical.
    #[default]
    Canonical,
    /// Most visits N(s,a) first.
    Visits,
    /// Largest |A| first.
    Size,
    /// Largest A first.
    Advantage,
    /// Most steps down to the furthest end first; in the states lens most rows.
    Depth,
    /// By the label of the action.
    Name,
}

impl TreeOrder {
    /// All orders, as the key turns them.
    pub const ALL: [Self; 6] =
        [Self::Canonical, Self::Visits, Self::Size, Self::Advantage, Self::Depth, Self::Name];

    /// What the rule says; nothing for the canonical order.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Canonical => "",
            Self::Visits => "N↓",
            Self::Size => "|A|↓",
            Self::Advantage => "A↓",
            Self::Depth => "depth↓",
            Self::Name => "name↑",
        }
    }

    /// What it goes by, in full.
    const fn about(self) -> &'static str {
        match self {
            Self::Canonical => "most rollouts first",
            Self::Visits => "most visits N(s,a) first",
            Self::Size => "largest |A| first",
            Self::Advantage => "largest A first",
            Self::Depth => "deepest first",
            Self::Name => "name of the action",
        }
    }
}

/// How the tree is arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arrangement {
    /// Order of the siblings.
    pub order: TreeOrder,
    /// Subtrees in which no row has so many scored rollouts are left out; 0 leaves none out.
    pub least: usize,
}

/// What is in sight of a lens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// Rows in sight, as they are drawn.
    pub rows: Vec<usize>,
    /// For each row of the lens: whether no sibling is drawn after it.
    pub last: Vec<bool>,
    /// For each row of the lens: how many rollouts go on in subtrees that are left out right below it.
    pub pruned_below: Vec<u32>,
    /// Rows that are left out; steps inside a segment not counted.
    pub pruned_rows: usize,
    /// Rollouts, scored or not, that pass a row that is left out.
    pub pruned_rollouts: usize,
}

impl Sight {
    /// What is in sight under an arrangement. `drawn` is every row in drawing order.
    #[must_use]
    pub fn new(lens: &Lens, folds: &Folds, drawn: &[usize], least: usize) -> Self {
        let n = lens.rows.len();
        let kept = kept(lens, least);
        let keeps = |i: usize| kept.get(i) == Some(&true);
        let mut sight = Self { pruned_below: vec![0; n], ..Self::default() };
        let mut shown = vec![false; n];
        for &i in drawn {
            let Some(row) = lens.rows.get(i).filter(|_| keeps(i)) else {
                continue;
            };
            let sees = row.parent.is_none_or(|p| {
                let inner = row.kind == RowKind::Inner;
                shown.get(p) == Some(&true)
                    && if inner { folds.opened.contains(&p) } else { !folds.closed.contains(&p) }
            });
            if let Some(slot) = shown.get_mut(i).filter(|_| sees) {
                *slot = true;
                sight.rows.push(i);
            }
        }
        // From the end: the first row of a parent that is met is its last one. One place is for the top.
        let mut met = vec![false; n + 1];
        sight.last = vec![false; n];
        for &i in drawn.iter().rev().filter(|&&i| keeps(i)) {
            let Some(row) = lens.rows.get(i).filter(|r| r.kind != RowKind::Inner) else {
                continue;
            };
            if let (Some(met), Some(last)) =
                (met.get_mut(row.parent.map_or(0, |p| p + 1)), sight.last.get_mut(i))
            {
                *last = !std::mem::replace(met, true);
            }
        }
        sight.count_pruned(lens, &kept);
        sight
    }

    fn count_pruned(&mut self, lens: &Lens, kept: &[bool]) {
        let mut rollouts: BTreeSet<u32> = BTreeSet::new();
        let mut below: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for (row, _) in lens.rows.iter().zip(kept).filter(|(_, kept)| !**kept) {
            if row.kind == RowKind::Inner {
                continue;
            }
            self.pruned_rows += 1;
            rollouts.extend(&row.members);
            if let Some(parent) = row.parent.filter(|&p| kept.get(p) == Some(&true)) {
                below.entry(parent).or_default().extend(&row.members);
            }
        }
        self.pruned_rollouts = rollouts.len();
        for (parent, set) in below {
            if let Some(slot) = self.pruned_below.get_mut(parent) {
                *slot = set.len() as u32;
            }
        }
    }

    /// The place in sight of the row that shows a step or hides it inside.
    #[must_use]
    pub fn position(&self, lens: &Lens, step: usize) -> Option<usize> {
        let mut place = vec![None; lens.rows.len()];
        for (at, &row) in self.rows.iter().enumerate() {
            if let Some(slot) = place.get_mut(row) {
                *slot = Some(at);
            }
        }
        let mut at = *lens.step_row.get(step)? as usize;
        loop {
            if let Some(position) = place.get(at).copied().flatten() {
                return Some(position);
            }
            at = lens.rows.get(at)?.parent?;
        }
    }

    /// For each ancestor of a row, from the top: whether more siblings follow it.
    #[must_use]
    pub fn guides(&self, lens: &Lens, row: usize) -> Vec<bool> {
        let mut guides = Vec::new();
        let mut at = lens.rows.get(row).and_then(|r| r.parent);
        while let Some(parent) = at {
            guides.push(self.last.get(parent) == Some(&false));
            at = lens.rows.get(parent).and_then(|r| r.parent);
        }
        guides.reverse();
        guides
    }
}

/// Whether each row is kept: in it or below it is a row with so many scored rollouts. A further step of a
/// segment goes with its segment.
fn kept(lens: &Lens, least: usize) -> Vec<bool> {
    let mut kept: Vec<bool> = lens.rows.iter().map(|r| r.counts.0 as usize >= least).collect();
    for (i, row) in lens.rows.iter().enumerate().rev() {
        if let (Some(true), Some(above)) =
            (kept.get(i).copied(), row.parent.and_then(|p| kept.get_mut(p)))
        {
            *above = true;
        }
    }
    kept
}

/// Every row of a lens in drawing order: a parent before its rows, siblings as the order says, ties as
/// they stand in the lens.
#[must_use]
pub fn drawing_order(
    lens: &Lens,
    analysis: &Analysis,
    kind: LensKind,
    by: TreeOrder,
) -> Vec<usize> {
    let n = lens.rows.len();
    if by == TreeOrder::Canonical {
        return (0..n).collect();
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
    for (i, row) in lens.rows.iter().enumerate() {
        if let Some(list) = children.get_mut(row.parent.map_or(0, |p| p + 1)) {
            list.push(i);
        }
    }
    let inner = |i: usize| lens.rows.get(i).is_some_and(|r| r.kind == RowKind::Inner);
    let deep = if by == TreeOrder::Depth { depths(lens, kind) } else { Vec::new() };
    let a = |i: usize| lens.rows.get(i).and_then(|r| analysis.pair_advantage(r.pair));
    for list in &mut children {
        // The steps of an opened segment stay in their order, before the rows below it.
        let own = list.partition_point(|&i| inner(i));
        let Some(list) = list.get_mut(own..) else {
            continue;
        };
        match by {
            TreeOrder::Canonical => {}
            TreeOrder::Visits => list.sort_by_key(|&i| {
                Reverse(lens.rows.get(i).map_or(0, |r| analysis.values.pair(r.pair).n))
            }),
            // What has no value stands behind all that have one.
            TreeOrder::Size => {
                list.sort_by(|&x, &y| falling(a(x).map(f64::abs), a(y).map(f64::abs)));
            }
            TreeOrder::Advantage => list.sort_by(|&x, &y| falling(a(x), a(y))),
            TreeOrder::Depth => list.sort_by_key(|&i| Reverse(deep.get(i).copied())),
            TreeOrder::Name => list
                .sort_by_cached_key(|&i| lens.rows.get(i).map(|r| analysis.action_label(r.step))),
        }
    }
    let mut drawn = Vec::with_capacity(n);
    let mut todo: Vec<usize> = children.first().into_iter().flatten().rev().copied().collect();
    while let Some(i) = todo.pop() {
        drawn.push(i);
        todo.extend(children.get(i + 1).into_iter().flatten().rev());
    }
    drawn
}

fn falling(x: Option<f64>, y: Option<f64>) -> std::cmp::Ordering {
    let key = |v: Option<f64>| v.map_or(f64::INFINITY, |v| -v);
    key(x).total_cmp(&key(y))
}

/// For each row how far it goes down to the furthest end below it.
fn depths(lens: &Lens, kind: LensKind) -> Vec<u32> {
    let mut deep = vec![0_u32; lens.rows.len()];
    for (i, row) in lens.rows.iter().enumerate().rev() {
        if row.kind == RowKind::Inner {
            continue;
        }
        let own = if kind == LensKind::Paths { row.steps } else { 1 };
        let Some(all) = deep.get_mut(i).map(|below| {
            *below += own;
            *below
        }) else {
            continue;
        };
        if let Some(above) = row.parent.and_then(|p| deep.get_mut(p)) {
            *above = (*above).max(all);
        }
    }
    deep
}

/// The next order of the tree.
pub(super) fn turn(model: &mut Model) {
    let all = TreeOrder::ALL;
    let at = all.iter().position(|&o| o == model.arrangement.order).unwrap_or(0);
    model.arrangement.order = all.get((at + 1) % all.len()).copied().unwrap_or_default();
    model.message = Some(format!("siblings sorted: {}", model.arrangement.order.about()));
}

/// Leaves small subtrees out: fewer than 2, 3, 5 scored rollouts, then none; a count is the number itself.
pub(super) fn prune(model: &mut Model, count: usize) {
    let steps = [2, 3, 5];
    let at = model.arrangement.least;
    model.arrangement.least = if count > 1 {
        count
    } else if at == 0 {
        2
    } else {
        let here = steps.iter().position(|&n| n == at);
        here.and_then(|i| steps.get(i + 1)).copied().unwrap_or(0)
    };
    if model.plan().find(Pane::Tree).is_none() {
        super::update::focus(model, Pane::Tree);
    }
    model.message = Some(match model.arrangement.least {
        0 => "every row of the tree is shown".to_owned(),
        n => format!("left out: subtrees with fewer than {n} scored rollouts; Z goes on"),
    });
}

/// Does what the key asks for in the tree.
pub(super) fn act(model: &mut Model, action: Action, count: usize) {
    match action {
        Action::Prune => prune(model, count),
        _ => turn(model),
    }
}
