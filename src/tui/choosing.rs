//! The chooser of columns: which ones the steps show, which are X and Y. Part of [`super::update`].

use super::keymap::{self, Action};
use super::message::Effect;
use super::model::{Layer, Model};
use super::navigate;
use super::update::request;
use crate::credit::{self, ColumnSpec, registry};

/// The names of all columns that this group can have, in the order of the chooser.
#[must_use]
pub fn names(model: &Model) -> Vec<String> {
    let mut names: Vec<String> = registry().iter().map(|e| e.meta().id.to_owned()).collect();
    if let Some(group) = model.shown_group() {
        names.extend(group.steps.values.iter().map(|(name, _)| format!("logged:{name}")));
    }
    // What was chosen on the command line is there, whatever the group has.
    for spec in &model.settings.columns {
        if !names.contains(&spec.name) {
            names.push(spec.name.clone());
        }
    }
    names
}

/// A key in the chooser.
pub(super) fn key(model: &mut Model, at: usize, name: &str, effects: &mut Vec<Effect>) {
    let names = names(model);
    let last = names.len().saturating_sub(1);
    let page = usize::from(model.area.height / 2).max(1);
    let chosen = names.get(at).cloned().unwrap_or_default();
    let to = match (name, keymap::action(name)) {
        ("x", _) => {
            axis(model, &chosen, true, effects);
            at
        }
        ("y", _) => {
            axis(model, &chosen, false, effects);
            at
        }
        ("Space" | "Enter", _) => {
            toggle(model, &chosen, effects);
            at
        }
        (_, Some(Action::Close | Action::Columns)) => {
            model.layers.pop();
            return;
        }
        (_, Some(Action::Help)) => {
            model.layers.push(Layer::Help { query: chosen, scroll: 0 });
            return;
        }
        (_, Some(Action::Quit)) => {
            effects.push(Effect::Quit(0));
            return;
        }
        (_, action) => navigate::in_list(action, at, page, last),
    };
    model.layers.pop();
    model.layers.push(Layer::Columns { at: to });
}

fn add(model: &mut Model, name: &str) {
    if model.settings.columns.iter().any(|c| c.name == name) {
        return;
    }
    // With the parameters that were given for it, and those of a framework that is followed.
    let given = model.begun_with.clone().and_then(|mut settings| {
        settings.add_column(name).ok()?;
        settings.analysis.columns.into_iter().find(|c| c.name == name)
    });
    if let Some(spec) = given.or_else(|| ColumnSpec::new(name).ok()) {
        model.settings.columns.push(spec);
    }
}

/// The statistics of the whole load belong to the columns that need them.
fn changed(model: &mut Model, effects: &mut Vec<Effect>) {
    if !model.settings.columns.iter().any(credit::needs_batch) {
        model.settings.batch = None;
    }
    request(model, effects);
}

fn axis(model: &mut Model, name: &str, x: bool, effects: &mut Vec<Effect>) {
    add(model, name);
    let (axis, slot) = if x { ("X", &mut model.settings.x) } else { ("Y", &mut model.settings.y) };
    name.clone_into(slot);
    model.message = Some(if model.settings.x == model.settings.y {
        format!("X and Y are both {name}: nothing can disagree")
    } else {
        format!("{axis} is {name}")
    });
    changed(model, effects);
}

fn toggle(model: &mut Model, name: &str, effects: &mut Vec<Effect>) {
    let settings = &mut model.settings;
    let axis = if settings.x == name {
        Some("X")
    } else if settings.y == name {
        Some("Y")
    } else {
        None
    };
    let at = settings.columns.iter().position(|c| c.name == name);
    match (at, axis) {
        (Some(_), Some(axis)) => {
            model.message =
                Some(format!("{name} is {axis} and stays: choose another {axis} first"));
            return;
        }
        (Some(at), None) => {
            settings.columns.remove(at);
        }
        (None, _) => add(model, name),
    }
    changed(model, effects);
}
