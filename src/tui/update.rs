//! What a message does to the model, and which effects it asks for. Pure: nothing is drawn, read,
//! computed at length or written here.

use std::sync::Arc;

use crossterm::event::{KeyEvent, KeyEventKind, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::keymap::{self, Action};
use super::layout::Pane;
pub use super::message::{Effect, Msg};
use super::model::{Cursor, Layer, Model, Reader, Text, Typed};
use super::snapshot::Snapshot;
use super::{
    finding, jumps, layers, loading, looks, navigate, pivotal, refresh, reload, sweeping, turning,
};

/// Rows of one notch of the wheel.
const WHEEL: usize = 3;

/// The effects that start the screen.
pub fn begin(model: &mut Model) -> Vec<Effect> {
    let mut effects = Vec::new();
    request(model, &mut effects);
    effects
}

/// Applies a message.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Key(key) => {
            model.untouched = false;
            if key.kind != KeyEventKind::Release {
                on_key(model, &key, &mut effects);
            }
        }
        Msg::Resize(width, height) => model.area = Rect::new(0, 0, width, height),
        Msg::Repaint => effects.push(Effect::Repaint),
        Msg::Analysed(key, group, snapshot) => analysed(model, key, group, snapshot),
        Msg::Found(key, part) => finding::found(model, key, &part),
        Msg::Opened(Ok(text)) => effects.push(Effect::Show(text)),
        Msg::Reloaded(Ok((corpus, notices))) => {
            model.loading = None;
            super::reload::take(model, corpus, notices, &mut effects);
        }
        Msg::Progress(progress) => {
            if let Some(loading) = &mut model.loading {
                loading.progress = progress;
            }
        }
        Msg::SoFar(arrival) => loading::so_far(model, *arrival, &mut effects),
        Msg::Loaded(arrival) => loading::ended(model, *arrival, &mut effects),
        Msg::Mouse(event) => mouse(model, event, &mut effects),
        Msg::Paste(text) => paste(model, &text),
        Msg::Swept(key, part) => sweeping::swept(model, key, part),
        Msg::Contrasted(key, contrast) => turning::contrasted(model, key, contrast),
        Msg::Summarised(key, group, summary) => {
            if key == model.groups.key
                && let Some(slot) = model.groups.rows.get_mut(group)
            {
                *slot = Some(summary);
            }
        }
        Msg::Totalled(key, totals) => model.groups.totals = Some((key, totals)),
        Msg::Read(of, result) => {
            let asked = result.as_ref().map_or(true, |d| d.controls == model.controls);
            if model.reader.of == Some(of) && asked {
                model.reader.text = match result {
                    Ok(document) => Text::Ready(refresh::in_its_segment(model, of, document)),
                    Err(reason) => Text::Failed(reason),
                };
                model.reader.width = 0;
            }
        }
        Msg::Failed(text) => {
            // Nothing newer will come for the last request: what is shown stays.
            model.shown_key = model.wanted;
            model.message = Some(text);
        }
        Msg::NothingLoaded(text) => loading::nothing(model, text, &mut effects),
        Msg::Reloaded(Err(text)) => {
            model.loading = None;
            model.message = Some(text);
        }
        Msg::Say(text) | Msg::Opened(Err(text)) => model.message = Some(text),
        Msg::Signal(signal) => effects.push(Effect::Quit(exit_code(signal))),
        Msg::Stop => effects.push(Effect::Suspend),
        Msg::InputClosed | Msg::LoadFailed => effects.push(Effect::Quit(1)),
    }
    refresh::settle(model, &mut effects);
    effects
}

/// The exit code of a signal: 128+n.
pub(super) fn exit_code(signal: i32) -> u8 {
    u8::try_from(signal).map_or(u8::MAX, |n| n.saturating_add(128))
}

/// Asks for the analysis of the wanted group under the wanted settings.
pub(super) fn request(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(group) = model.corpus.groups.get(model.group) else {
        return;
    };
    model.wanted += 1;
    model.since = model.wanted;
    effects.push(Effect::Analyse {
        key: model.wanted,
        index: model.group,
        group: Arc::clone(group),
        settings: model.settings.clone(),
        load: (model.settings.batch.is_none()
            && model.settings.columns.iter().any(crate::credit::needs_batch))
        .then(|| model.corpus.groups.clone()),
    });
}

/// The wheel moves the rows of the focused pane; a click focuses a pane.
fn mouse(model: &mut Model, event: MouseEvent, effects: &mut Vec<Effect>) {
    let wheel = match event.kind {
        MouseEventKind::ScrollDown => Action::Down,
        MouseEventKind::ScrollUp => Action::Up,
        MouseEventKind::Down(_) if model.layers.is_empty() => {
            model.untouched = false;
            let at = Position::new(event.column, event.row);
            let plan = model.plan();
            if let Some(&(pane, _)) = plan.panes.iter().find(|(_, area)| area.contains(at)) {
                focus(model, pane);
            }
            return;
        }
        _ => return,
    };
    model.untouched = false;
    if let Some(layer) = model.layers.last().cloned() {
        let name = if wheel == Action::Down { "Down" } else { "Up" };
        layers::key(model, &layer, name, effects);
    } else {
        navigate::act(model, wheel, WHEEL, effects);
    }
}

/// Pasted text goes where text is typed, and nowhere else: no key is fired.
fn paste(model: &mut Model, pasted: &str) {
    let clean: String = pasted.chars().filter(|c| !c.is_control()).collect();
    match model.layers.last_mut() {
        Some(Layer::Search { text }) => text.push_str(&clean),
        Some(Layer::Palette { query, at }) => {
            query.push_str(&clean);
            *at = 0;
        }
        Some(Layer::Help { query, scroll }) => {
            query.push_str(&clean);
            *scroll = 0;
        }
        _ => {}
    }
}

/// Goes to another group: what is shown stays until the new one is there.
pub(super) fn open_group(model: &mut Model, group: usize, effects: &mut Vec<Effect>) {
    if group < model.corpus.groups.len() && group != model.group {
        jumps::note(model);
        switch_group(model, group, effects);
    }
}

/// The same without a note among the jumps.
pub(super) fn switch_group(model: &mut Model, group: usize, effects: &mut Vec<Effect>) {
    remember(model);
    model.group = group;
    model.groups.at = group;
    request(model, effects);
}

fn remember(model: &mut Model) {
    if let Some((shown, snapshot)) = &model.shown
        && let Some(rollout) = snapshot.analysis.group.rollouts.get(model.cursor.rollout)
    {
        let place = (rollout.id.clone(), model.cursor.step);
        model.visited.insert(*shown, place);
    }
}

fn analysed(model: &mut Model, key: u64, group: usize, snapshot: Arc<Snapshot>) {
    if key < model.since {
        return;
    }
    // An earlier state of the group may stand elsewhere by now.
    let group = if key == model.wanted { group } else { model.group };
    remember(model);
    let seen = model.shown.as_ref().is_some_and(|(g, _)| *g == group);
    if seen {
        reload::carry(model, &snapshot);
    }
    turning::tell_idle(model, group, &snapshot.analysis);
    let fresh = !seen;
    let known = model.visited.get(&group).cloned();
    let target = &snapshot.analysis.group;
    let start = model.start.filter(|_| key == model.wanted);
    if start.is_some() {
        model.start = None;
    }
    let cursor = match (start.filter(|s| s.group == group), known) {
        (Some(start), _) => Some(Cursor { rollout: start.rollout, step: start.step }),
        (None, Some((id, step))) => target.find(&id).map(|rollout| Cursor { rollout, step }),
        (None, None) => None,
    };
    model.cursor = cursor.unwrap_or_else(|| navigate::first(&snapshot));
    if fresh {
        model.comparing = super::comparing::Comparing::default();
        model.folds = Default::default();
        model.opened_runs.clear();
        model.reader = Reader::default();
    } else {
        // Folds name rows by place: they hold while the rows are the same.
        let same = model.snapshot().is_some_and(|old| {
            old.paths.rows.len() == snapshot.paths.rows.len()
                && old.states.rows.len() == snapshot.states.rows.len()
        });
        if !same {
            model.folds = Default::default();
        }
    }
    // Statistics over the load were made on the way: the next request takes them along.
    if key == model.wanted {
        model.settings.batch = snapshot.analysis.settings.batch;
    }
    model.shown = Some((group, snapshot));
    model.shown_key = key;
    model.explanation = None;
    navigate::clamp(model);
    open_afresh(model);
}

/// After a load that nobody pressed a key in, the cursor goes where the screen opens on a whole load.
pub(super) fn open_afresh(model: &mut Model) {
    if !model.untouched || model.loading.is_some() || model.waiting() {
        return;
    }
    model.untouched = false;
    if let Some((_, snapshot)) = &model.shown {
        model.cursor = navigate::first(snapshot);
        model.visited.clear();
        navigate::clamp(model);
    }
}

fn on_key(model: &mut Model, key: &KeyEvent, effects: &mut Vec<Effect>) {
    let Some(name) = keymap::name(key) else {
        return;
    };
    let said = model.message.take();
    if keymap::action(&name) == Some(Action::Interrupt) {
        effects.push(Effect::Quit(130));
        return;
    }
    if let Some(layer) = model.layers.last().cloned() {
        layers::key(model, &layer, &name, effects);
        return;
    }
    if typed_digit(model, &name) {
        return;
    }
    let typed = model.typed.take();
    let count = typed.filter(|t| t.count).map_or(1, |t| t.number.max(1));
    if let Some(action) = keymap::action(&name) {
        act(model, action, count, effects);
    } else {
        model.message =
            said.or_else(|| Some(format!("{name} does nothing here; ? lists the keys")));
    }
}

/// Takes a digit. A digit of a pane goes there; `0`, `8` and `9`, or any digit after those, make a
/// count of all that was typed, and the focus goes back where it was.
fn typed_digit(model: &mut Model, name: &str) -> bool {
    let Ok(digit) = name.parse::<usize>() else {
        return false;
    };
    let before =
        model.typed.unwrap_or(Typed { number: 0, count: false, focus: (model.focus, model.zoom) });
    let count = before.count || matches!(digit, 0 | 8 | 9);
    let typed =
        Typed { number: (before.number * 10 + digit).min(1_000_000), count, focus: before.focus };
    if count {
        (model.focus, model.zoom) = before.focus;
    } else if let Some(Action::Focus(pane)) = keymap::action(name) {
        focus(model, pane);
    }
    model.typed = Some(typed);
    true
}

/// Gives the focus to a pane. One that is not among the panes of this size takes all the room.
pub(super) fn focus(model: &mut Model, pane: Pane) {
    if model.focus == pane {
        return;
    }
    if matches!(model.focus, Pane::Tree | Pane::Steps | Pane::Quadrants | Pane::Rollouts) {
        model.back = model.focus;
    }
    model.focus = pane;
    model.zoom = false;
}

pub(super) fn act(model: &mut Model, action: Action, count: usize, effects: &mut Vec<Effect>) {
    match action {
        Action::NextPane => cycle(model, 1),
        Action::PreviousPane => cycle(model, Pane::CYCLE.len() - 1),
        Action::Focus(pane) => focus(model, pane),
        Action::Explain => {
            model.member = 0;
            toggle(model, Pane::Explain);
        }
        Action::Read => toggle(model, Pane::Reader),
        Action::Groups => {
            toggle(model, Pane::Groups);
            model.groups.at = model.group;
        }
        Action::Close if model.focus == Pane::Groups && model.groups.sought.is_some() => {
            model.groups.sought = None;
        }
        Action::Close if model.finding.active() => finding::stop(model, effects),
        Action::Close => close(model),
        Action::JumpBack => jumps::go(model, true, count, effects),
        Action::JumpForward => jumps::go(model, false, count, effects),
        Action::Quit => effects.push(Effect::Quit(0)),
        Action::Interrupt => effects.push(Effect::Quit(130)),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Repaint => effects.push(Effect::Repaint),
        Action::Compare if model.focus == Pane::Compare => close(model),
        Action::Compare => {
            super::comparing::open(model);
            focus(model, Pane::Compare);
        }
        Action::Open => match (model.shown.as_ref(), model.step()) {
            (Some((group, snapshot)), Some(_)) => effects.push(Effect::Open {
                of: (*group, model.cursor.rollout, model.cursor.step),
                group: Arc::clone(&snapshot.analysis.group),
            }),
            _ => model.message = Some("no step is selected: ] goes to the next rollout".to_owned()),
        },
        Action::Reload => loading::again(model, effects),
        Action::StopLoading => loading::stop(model, effects),
        Action::Knobs => toggle(model, Pane::Knobs),
        Action::Sweep => {
            if model.focus != Pane::Sweep {
                sweeping::open(model);
            }
            toggle(model, Pane::Sweep);
        }
        Action::Pivotal => {
            if model.focus != Pane::Pivotal {
                pivotal::open(model);
            }
            toggle(model, Pane::Pivotal);
        }
        Action::Pin | Action::Undo | Action::NextPreset | Action::PreviousPreset => {
            turning::act(model, action, count, effects);
        }
        Action::Left | Action::Right if model.focus == Pane::Knobs => {
            turning::act(model, action, count, effects);
        }
        Action::Theme
        | Action::Mouse
        | Action::Controls
        | Action::CopyView
        | Action::Scale
        | Action::Sort
        | Action::Copy => looks::act(model, action, effects),
        Action::NextColumn => next_column(model, effects),
        Action::NextGroup | Action::PreviousGroup => {
            let last = model.corpus.groups.len().saturating_sub(1);
            let to = if action == Action::NextGroup {
                (model.group + count).min(last)
            } else {
                model.group.saturating_sub(count)
            };
            if to == model.group {
                model.message = Some(match last {
                    0 => "there is only one group".to_owned(),
                    _ if to == 0 => "this is the first group".to_owned(),
                    _ => "this is the last group".to_owned(),
                });
            }
            open_group(model, to, effects);
        }
        Action::Columns
        | Action::Export
        | Action::Filter
        | Action::Search
        | Action::Palette
        | Action::Warnings
        | Action::Help => layers::open(model, action),
        other => navigate::act(model, other, count, effects),
    }
}

/// A second press of its key goes back from a pane that was opened.
fn toggle(model: &mut Model, pane: Pane) {
    if model.focus == pane {
        close(model);
    } else {
        focus(model, pane);
    }
}

/// Closes the topmost thing that is open: a zoom, then a pane that was opened.
fn close(model: &mut Model) {
    if model.zoom {
        model.zoom = false;
    } else if matches!(
        model.focus,
        Pane::Explain
            | Pane::Reader
            | Pane::Groups
            | Pane::Matrix
            | Pane::Knobs
            | Pane::Compare
            | Pane::Sweep
            | Pane::Pivotal
    ) {
        model.focus = model.back;
    } else {
        let plan = model.plan();
        if plan.panes.len() == 1 && model.focus != Pane::Steps && model.area.width >= 80 {
            model.focus = Pane::Steps;
        }
    }
}

fn cycle(model: &mut Model, by: usize) {
    let zoom = model.zoom;
    let at = Pane::CYCLE.iter().position(|&p| p == model.focus).unwrap_or(Pane::CYCLE.len() - by);
    if let Some(&pane) = Pane::CYCLE.get((at + by) % Pane::CYCLE.len()) {
        focus(model, pane);
        model.zoom = zoom;
    }
}

fn next_column(model: &mut Model, effects: &mut Vec<Effect>) {
    let columns = &model.settings.columns;
    let at = columns.iter().position(|c| c.name == model.settings.y);
    let next = at.map_or(0, |at| (at + 1) % columns.len().max(1));
    if let Some(column) = columns.get(next) {
        model.settings.y = column.name.clone();
        model.message = Some(if model.settings.y == model.settings.x {
            format!("Y is {}: the same column as X, so nothing disagrees", column.name)
        } else {
            format!("Y is {}", column.name)
        });
        request(model, effects);
    }
}
