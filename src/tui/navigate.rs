//! Moving: what keys do to the cursor, to folds and to what scrolls. Part of [`super::update`].

use std::sync::Arc;

use super::keymap::Action;
use super::layout::Pane;
use super::lens::RowKind;
use super::listing::StepLine;
use super::message::Effect;
use super::model::{Cursor, Model};
use super::snapshot::Snapshot;
use super::update::{focus, open_group};

/// The place to start in a group: the first disagreement, else the first step.
pub(super) fn first(snapshot: &Snapshot) -> Cursor {
    let analysis = &snapshot.analysis;
    (0..analysis.group.len())
        .find(|&step| analysis.bucket(step).disagrees())
        .map_or_else(Cursor::default, |step| place(snapshot, step))
}

/// The cursor on a step of the group.
fn place(snapshot: &Snapshot, step: usize) -> Cursor {
    let rollout = snapshot.analysis.graph.rollout_of(step);
    let start = snapshot.analysis.group.rollouts.get(rollout).map_or(0, |r| r.steps.start);
    Cursor { rollout, step: step.saturating_sub(start) }
}

/// Keeps the cursor on a rollout and a step that exist.
pub(super) fn clamp(model: &mut Model) {
    let rollouts = model.shown_group().map_or(0, |g| g.rollouts.len());
    model.cursor.rollout = model.cursor.rollout.min(rollouts.saturating_sub(1));
    let steps = model.steps_of(model.cursor.rollout).len();
    model.cursor.step = model.cursor.step.min(steps.saturating_sub(1));
}

/// Rows of a page of the focused pane.
fn page(model: &Model) -> usize {
    model
        .plan()
        .find(model.focus)
        .map_or(1, |area| usize::from(area.height).saturating_sub(2).max(1))
}

/// Does what the key asks for in the focused pane.
pub(super) fn act(model: &mut Model, action: Action, count: usize, effects: &mut Vec<Effect>) {
    let page = page(model);
    match action {
        Action::Down => rows(model, |at| at.saturating_add(count)),
        Action::Up => rows(model, |at| at.saturating_sub(count)),
        Action::PageDown => rows(model, |at| at.saturating_add(page * count)),
        Action::PageUp => rows(model, |at| at.saturating_sub(page * count)),
        Action::Top => rows(model, |_| 0),
        Action::Bottom => rows(model, |_| usize::MAX),
        Action::NextRollout => rollout(model, |at| at.saturating_add(count)),
        Action::PreviousRollout => rollout(model, |at| at.saturating_sub(count)),
        Action::Enter | Action::Left | Action::Right | Action::Fold
            if model.focus == Pane::Sweep =>
        {
            super::sweeping::act(model, action, count, effects);
        }
        Action::Enter | Action::Fold if model.focus == Pane::Pivotal => {
            super::pivotal::act(model, action, effects);
        }
        Action::Enter => enter(model, effects),
        Action::Left | Action::Right | Action::NextBranching | Action::PreviousBranching
            if model.focus == Pane::Compare =>
        {
            super::comparing::act(model, action, count);
        }
        Action::Fold if model.focus == Pane::Rollouts => super::comparing::mark(model),
        Action::Fold if model.focus == Pane::Explain => model.zoom = !model.zoom,
        Action::Left | Action::Right if model.focus == Pane::Matrix => {
            let at = model.cursor.step;
            let forward = action == Action::Right;
            model.cursor.step = if forward { at + count } else { at.saturating_sub(count) };
            clamp(model);
        }
        Action::Left | Action::Right | Action::Fold if model.focus == Pane::Steps => {
            super::listing::fold(model, action);
        }
        Action::Left | Action::Right | Action::Fold if model.focus != Pane::Tree => {
            model.message = Some("rows fold in the tree: 1 goes there".to_owned());
        }
        Action::Left => fold(model, Some(true)),
        Action::Right => fold(model, Some(false)),
        Action::Fold => fold(model, None),
        Action::Prune => super::ordering::act(model, action, count),
        Action::FoldAll | Action::UnfoldAll => fold_all(model, action == Action::FoldAll),
        Action::Lens => {
            model.lens = match model.lens {
                super::lens::LensKind::Paths => super::lens::LensKind::States,
                super::lens::LensKind::States => super::lens::LensKind::Paths,
            };
            if model.plan().find(Pane::Tree).is_none() {
                focus(model, Pane::Tree);
            }
        }
        Action::NextDisagreement | Action::PreviousDisagreement if model.finding.active() => {
            let forward = action == Action::NextDisagreement;
            let hits = model.finding.hits.clone();
            let none = format!("no hit for /{}", model.finding.pattern);
            seek(model, forward, count, &none, |_, step| hits.contains(&step));
        }
        Action::NextDisagreement | Action::PreviousDisagreement => {
            let forward = action == Action::NextDisagreement;
            seek(model, forward, count, "X and Y disagree at no step", |s, step| {
                s.analysis.bucket(step).disagrees()
            });
        }
        Action::NextBranching | Action::PreviousBranching => {
            let forward = action == Action::NextBranching;
            seek(model, forward, count, "no state branches here", |s, step| {
                let state = s.analysis.graph.state_of(step);
                s.analysis.graph.branching.get(state as usize) == Some(&true)
            });
        }
        _ => {}
    }
}

/// Moves the row of the focused pane.
fn rows(model: &mut Model, to: impl Fn(usize) -> usize) {
    match model.focus {
        Pane::Tree => tree_row(model, to),
        Pane::Steps | Pane::Quadrants => {
            // Among the steps that are listed: all of them, or those that pass the filter.
            let lines = model.step_lines(model.cursor.rollout);
            let listed: Vec<usize> = lines.into_iter().filter_map(StepLine::step).collect();
            let at = listed.partition_point(|&t| t < model.cursor.step);
            let on = listed.get(at) == Some(&model.cursor.step);
            let goal = to(at);
            let goal = if !on && goal > at { goal - 1 } else { goal };
            if let Some(&t) = listed.get(goal.min(listed.len().saturating_sub(1))) {
                model.cursor.step = t;
            }
            clamp(model);
        }
        Pane::Rollouts | Pane::Matrix => rollout(model, to),
        Pane::Compare => super::comparing::rows(model, to),
        Pane::Sweep => {
            let n = model.sweeping.picture.as_ref().map_or(0, |p| p.points.len());
            model.sweeping.at = to(model.sweeping.at).min(n.saturating_sub(1));
        }
        Pane::Pivotal => super::pivotal::rows(model, to),
        Pane::Knobs => {
            let last = super::turning::rows().len().saturating_sub(1);
            model.turning.at = to(model.turning.at).min(last);
        }
        Pane::Explain => {
            let last = super::panes::explain::row_count(model).saturating_sub(1);
            model.member = to(model.member).min(last);
        }
        Pane::Reader => model.reader.scroll = to(model.reader.scroll),
        Pane::Groups => {
            let order = model.group_order();
            let at = order.iter().position(|&g| g == model.groups.at).unwrap_or(0);
            let at = to(at).min(order.len().saturating_sub(1));
            if let Some(&group) = order.get(at) {
                model.groups.at = group;
            }
        }
    }
}

fn rollout(model: &mut Model, to: impl Fn(usize) -> usize) {
    // With a filter: among the rollouts that have a step to show.
    let last = model.shown_group().map_or(0, |g| g.rollouts.len()).saturating_sub(1);
    let here = model.cursor.rollout;
    let goal = to(here).min(last);
    let fits = |r: usize| model.filtering.passes.is_empty() || !model.listed(r).is_empty();
    let found = if goal >= here {
        (goal..=last).find(|&r| fits(r))
    } else {
        (0..=goal).rev().find(|&r| fits(r))
    };
    let Some(found) = found else {
        model.message = Some("no further rollout has a step that passes the filter".to_owned());
        return;
    };
    model.cursor.rollout = found;
    if model.focus == Pane::Compare {
        super::comparing::open(model);
    }
    if let (false, Some(&t)) = (model.filtering.passes.is_empty(), model.listed(found).first()) {
        model.cursor.step = t;
    }
    clamp(model);
}

/// Where the cursor of a list with `last` as its last row goes; other actions leave it.
pub(super) fn in_list(action: Option<Action>, at: usize, page: usize, last: usize) -> usize {
    let to = match action {
        Some(Action::Down) => at + 1,
        Some(Action::Up) => at.saturating_sub(1),
        Some(Action::PageDown) => at + page,
        Some(Action::PageUp) => at.saturating_sub(page),
        Some(Action::Top) => 0,
        Some(Action::Bottom) => last,
        _ => at,
    };
    to.min(last)
}

/// Puts the cursor on a step of the shown group.
pub(super) fn go_to_step(model: &mut Model, step: usize) {
    if let Some(snapshot) = model.snapshot() {
        model.cursor = place(snapshot, step);
    }
}

/// Moves to another row of the tree: the selected rollout stays where it passes there.
fn tree_row(model: &mut Model, to: impl Fn(usize) -> usize) {
    let Some((lens, sight)) = model.tree() else {
        return;
    };
    let at = model
        .step()
        .and_then(|step| sight.position(lens, step))
        .map_or(0, to)
        .min(sight.rows.len().saturating_sub(1));
    let Some(&row) = sight.rows.get(at) else {
        return;
    };
    go_to_row(model, row);
}

fn go_to_row(model: &mut Model, row: usize) {
    let Some((lens, _)) = model.tree() else {
        return;
    };
    let Some(target) = lens.rows.get(row) else {
        return;
    };
    let own =
        model.steps_of(model.cursor.rollout).find(|&s| lens.step_row.get(s) == Some(&(row as u32)));
    let step = own.unwrap_or(target.step);
    if let Some(snapshot) = model.snapshot() {
        model.cursor = place(snapshot, step);
    }
}

/// The row of the tree under the cursor.
fn current_row(model: &Model) -> Option<usize> {
    let (lens, sight) = model.tree()?;
    let position = sight.position(lens, model.step()?)?;
    sight.rows.get(position).copied()
}

/// Closes (`Some(true)`), opens (`Some(false)`) or turns the row of the tree. Closing what is closed
/// goes to the parent.
fn fold(model: &mut Model, close: Option<bool>) {
    let Some(row) = current_row(model) else {
        return;
    };
    let Some((lens, _)) = model.tree() else {
        return;
    };
    let Some(target) = lens.rows.get(row) else {
        return;
    };
    let folds = model.folds();
    let segment = target.kind == RowKind::Segment && target.steps > 1;
    let hidden = target.parent_of_rows && folds.closed.contains(&row);
    let opened = segment && folds.opened.contains(&row);
    let shut = !opened && (hidden || !target.parent_of_rows);
    let parent = target.parent;
    let parent_of_rows = target.parent_of_rows;
    match close {
        Some(true) if shut => {
            if let Some(parent) = parent {
                go_to_row(model, parent);
            }
        }
        Some(true) => {
            if opened {
                model.folds_mut().opened.remove(&row);
            } else {
                model.folds_mut().closed.insert(row);
            }
            // The cursor stays on the row that was closed.
            go_to_row(model, row);
        }
        Some(false) => {
            if hidden {
                model.folds_mut().closed.remove(&row);
            } else if segment {
                model.folds_mut().opened.insert(row);
            }
        }
        None => {
            fold(model, Some(if parent_of_rows { !hidden } else { opened }));
        }
    }
}

fn fold_all(model: &mut Model, close: bool) {
    let Some((lens, _)) = model.tree() else {
        return;
    };
    let mut folds = super::lens::Folds::default();
    for (i, row) in lens.rows.iter().enumerate() {
        if close && row.parent_of_rows {
            folds.closed.insert(i);
        }
        if !close && row.folds() && row.kind == RowKind::Segment {
            folds.opened.insert(i);
        }
    }
    *model.folds_mut() = folds;
}

fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.focus {
        Pane::Groups => {
            let group = model.groups.at;
            model.focus = model.back;
            model.zoom = false;
            open_group(model, group, effects);
        }
        Pane::Explain => {
            let target = super::panes::explain::target(model);
            if let (Some(step), Some(snapshot)) = (target, model.snapshot()) {
                let to = place(snapshot, step);
                if to == model.cursor {
                    model.message = Some("this is the explained step itself".to_owned());
                }
                super::jumps::note(model);
                model.cursor = to;
            }
        }
        _ => model.zoom = !model.zoom,
    }
}

/// Goes to the next step (over all rollouts, around the end) that fits.
fn seek(
    model: &mut Model,
    forward: bool,
    count: usize,
    none: &str,
    fits: impl Fn(&Snapshot, usize) -> bool,
) {
    let Some(snapshot) = model.snapshot().map(Arc::clone) else {
        return;
    };
    let hits: Vec<usize> = (0..snapshot.analysis.group.len())
        .filter(|&s| model.passes(s) && fits(&snapshot, s))
        .collect();
    if hits.is_empty() {
        let filtered =
            if model.filtering.passes.is_empty() { "" } else { " that passes the filter" };
        model.message = Some(format!("{none}{filtered}"));
        return;
    }
    let here = model.step().unwrap_or(0);
    let n = hits.len();
    let at = if forward {
        let next = hits.partition_point(|&s| s <= here);
        (next + count - 1) % n
    } else {
        let next = hits.partition_point(|&s| s < here);
        (next + n - count % n) % n
    };
    if let Some(&step) = hits.get(at) {
        let around = if forward { step <= here } else { step >= here };
        super::jumps::note(model);
        model.cursor = place(&snapshot, step);
        model.message =
            Some(format!("{} of {n}{}", at + 1, if around { ", around the end" } else { "" }));
    }
}
