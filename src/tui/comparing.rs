//! Rollouts side by side: which ones, which row, which column. Part of [`super::update`].

use std::sync::Arc;

use super::keymap::Action;
use super::model::Model;
use crate::analysis::Analysis;
use crate::analysis::align::{AlignedRow, Alignment, first_divergence, nearest};

/// Cells of a column of the comparison, at least.
const COLUMN: usize = 25;
/// Cells of a column that shows most actions whole.
const WIDE: usize = 33;
/// Rollouts side by side, at most.
const MOST: usize = 8;

/// The comparison.
#[derive(Debug, Default)]
pub struct Comparing {
    /// Rollouts that were marked to be compared, in the order of marking.
    pub marked: Vec<usize>,
    /// The alignment.
    pub alignment: Alignment,
    /// The shown analysis that it is made of.
    pub made_for: Option<u64>,
    /// Where the rollouts of the group first part, each from each.
    pub pairs: Pairs,
    /// Only rows where the selected rollout stands alone.
    pub only_here: bool,
    /// Selected row.
    pub at: usize,
    /// Selected column.
    pub column: usize,
}

/// Rollouts in the table of pairs, at most.
const PAIRED: usize = 24;

/// Where rollouts first part: per rollout and other rollout, the first step of the one that leaves the
/// other in a state where both were.
#[derive(Debug, Default)]
pub struct Pairs {
    /// The rollouts: those side by side first.
    pub rollouts: Vec<usize>,
    /// The steps, as indices in the group.
    pub steps: Vec<Vec<Option<usize>>>,
}

impl Pairs {
    fn new(analysis: &Analysis, first: &[usize]) -> Self {
        let others = (0..analysis.group.rollouts.len()).filter(|r| !first.contains(r));
        let rollouts: Vec<usize> = first.iter().copied().chain(others).take(PAIRED).collect();
        let row = |&a: &usize| {
            rollouts
                .iter()
                .map(|&b| if a == b { None } else { first_divergence(analysis, a, b) })
                .collect()
        };
        Self { steps: rollouts.iter().map(row).collect(), rollouts }
    }
}

impl Comparing {
    /// The rows that are listed: all, or those where the selected rollout stands alone.
    #[must_use]
    pub fn listed(&self) -> Vec<usize> {
        let alone = |row: &AlignedRow| {
            row.state.is_none() && row.cells.get(self.column).copied().flatten().is_some()
        };
        let rows = self.alignment.rows.iter().enumerate();
        rows.filter(|(_, row)| !self.only_here || alone(row)).map(|(i, _)| i).collect()
    }
}

/// How many rollouts fit side by side.
#[must_use]
pub fn fit(width: usize) -> usize {
    (width.saturating_sub(4) / COLUMN).clamp(2, MOST)
}

/// How many are chosen where none is marked: four, and more where the width leaves each its room.
fn side_by_side(width: usize) -> usize {
    fit(width).min((width / WIDE).max(4))
}

/// Chooses what to compare: what is marked, else the selected rollout and its nearest.
pub(super) fn open(model: &mut Model) {
    let Some(snapshot) = model.snapshot().map(Arc::clone) else {
        return;
    };
    let analysis = &snapshot.analysis;
    let chosen = if model.comparing.marked.len() >= 2 {
        model.comparing.marked.clone()
    } else {
        nearest(analysis, model.cursor.rollout, side_by_side(usize::from(model.area.width)))
    };
    align(model, &chosen);
    let here = model.cursor.rollout;
    model.comparing.column = chosen.iter().position(|&r| r == here).unwrap_or(0);
    follow(model);
}

fn align(model: &mut Model, rollouts: &[usize]) {
    if let Some(snapshot) = model.snapshot().map(Arc::clone) {
        model.comparing.alignment = Alignment::new(&snapshot.analysis, rollouts);
        model.comparing.pairs = Pairs::new(&snapshot.analysis, rollouts);
        model.comparing.made_for = Some(model.shown_key);
    }
}

/// Aligns again when the analysis changed.
pub(super) fn settle(model: &mut Model) {
    if model.comparing.made_for != Some(model.shown_key) {
        let n = model.shown_group().map_or(0, |g| g.rollouts.len());
        let rollouts = model.comparing.alignment.rollouts.clone();
        if rollouts.is_empty() || rollouts.iter().any(|&r| r >= n) {
            open(model);
        } else {
            align(model, &rollouts);
            follow(model);
        }
    }
}

/// The row goes to where the cursor is.
fn follow(model: &mut Model) {
    let row = model.step().and_then(|step| model.comparing.alignment.row_of(step));
    let last = model.comparing.alignment.rows.len().saturating_sub(1);
    model.comparing.at = row.unwrap_or(model.comparing.at).min(last);
}

/// The cursor goes to the selected cell, if there is a step.
fn lead(model: &mut Model) {
    let comparing = &model.comparing;
    let cell = comparing
        .alignment
        .rows
        .get(comparing.at)
        .and_then(|r| r.cells.get(comparing.column).copied().flatten());
    if let Some(step) = cell {
        super::navigate::go_to_step(model, step);
    }
}

/// Moves to another row.
pub(super) fn rows(model: &mut Model, to: impl Fn(usize) -> usize) {
    let listed = model.comparing.listed();
    let at = listed.partition_point(|&row| row < model.comparing.at);
    if let Some(&row) = listed.get(to(at).min(listed.len().saturating_sub(1))) {
        model.comparing.at = row;
    }
    lead(model);
}

/// Moves to another column, or to the next row where the rollouts part.
pub(super) fn act(model: &mut Model, action: Action, count: usize) {
    let n = model.comparing.alignment.rollouts.len();
    let here = model.comparing.column;
    match action {
        Action::Right => model.comparing.column = (here + count).min(n.saturating_sub(1)),
        Action::Left => model.comparing.column = here.saturating_sub(count),
        Action::Filter => {
            model.comparing.only_here = !model.comparing.only_here;
            come_in(model);
            return;
        }
        Action::NextBranching | Action::PreviousBranching => {
            model.comparing.only_here = false;
            let rows = &model.comparing.alignment.rows;
            let parts: Vec<usize> = (0..rows.len())
                .filter(|&i| rows.get(i).is_some_and(AlignedRow::diverges))
                .collect();
            let at = model.comparing.at;
            let next = if action == Action::NextBranching {
                parts.iter().find(|&&i| i > at).or(parts.first())
            } else {
                parts.iter().rev().find(|&&i| i < at).or(parts.last())
            };
            let Some(&next) = next else {
                model.message = Some("these rollouts never part at a state they share".to_owned());
                return;
            };
            let place = parts.iter().position(|&i| i == next).unwrap_or(0);
            model.message = Some(format!("divergence {} of {}", place + 1, parts.len()));
            super::jumps::note(model);
            model.comparing.at = next;
        }
        _ => {}
    }
    come_in(model);
    lead(model);
}

/// The row goes to a listed one.
fn come_in(model: &mut Model) {
    let listed = model.comparing.listed();
    if listed.contains(&model.comparing.at) {
        return;
    }
    let next = listed.partition_point(|&row| row < model.comparing.at);
    if let Some(&row) = listed.get(next).or(listed.last()) {
        model.comparing.at = row;
        lead(model);
    } else {
        model.comparing.only_here = false;
        model.message = Some("this rollout has no step of its own beside these".to_owned());
    }
}

/// Marks the selected rollout for the comparison, or takes the mark away.
pub(super) fn mark(model: &mut Model) {
    let rollout = model.cursor.rollout;
    let marked = &mut model.comparing.marked;
    match marked.iter().position(|&r| r == rollout) {
        Some(at) => {
            marked.remove(at);
        }
        None if marked.len() >= MOST => {
            model.message = Some(format!("{MOST} rollouts fit side by side"));
            return;
        }
        None => marked.push(rollout),
    }
    model.message = Some(match model.comparing.marked.len() {
        0 => "no rollout is marked".to_owned(),
        1 => "1 rollout is marked: mark another one, then | compares them".to_owned(),
        n => format!("{n} rollouts are marked: | compares them"),
    });
}
