//! The palette: every key of the table by what it does. Part of [`super::update`].

use super::keymap::{Action, BINDINGS};
use super::message::Effect;
use super::model::{Layer, Model};

/// An entry: keys, what they do, the action.
pub type Entry = (String, &'static str, Action);

/// The entries that contain what was typed.
#[must_use]
pub fn entries(query: &str) -> Vec<Entry> {
    let query = query.trim().to_lowercase();
    let mut list: Vec<Entry> = Vec::new();
    for b in BINDINGS {
        for (key, action) in b.keys.iter().zip(b.actions) {
            if *action == Action::Palette {
                continue;
            }
            match list.iter_mut().find(|(_, _, a)| a == action) {
                Some((keys, ..)) => {
                    keys.push(' ');
                    keys.push_str(key);
                }
                None => list.push(((*key).to_owned(), b.help, *action)),
            }
        }
    }
    list.retain(|(keys, help, action)| {
        let name = format!("{keys} {help} {action:?}").to_lowercase();
        query.split_whitespace().all(|word| name.contains(word))
    });
    // A stable order: names that start with what was typed, names that contain it, the rest.
    list.sort_by_key(|&(_, _, action)| {
        let name = title(action);
        let word = name.split(' ').any(|w| w.starts_with(&query));
        let own = name.strip_prefix("focus ").unwrap_or(&name);
        match () {
            () if query.is_empty() => 0,
            () if name.starts_with(&query) => 0,
            () if own.starts_with(&query) => 1,
            () if word => 2,
            () if name.contains(&query) => 3,
            () => 4,
        }
    });
    list
}

/// What an entry is called: the words of its action.
#[must_use]
pub fn title(action: Action) -> String {
    let mut out = String::new();
    for c in format!("{action:?}").chars().filter(|c| c.is_alphanumeric()) {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// A key in the palette.
pub(super) fn key(
    model: &mut Model,
    query: &str,
    at: usize,
    name: &str,
    effects: &mut Vec<Effect>,
) {
    let (mut query, mut at) = (query.to_owned(), at);
    let page = usize::from(model.area.height / 2).max(1);
    match name {
        "Esc" => {
            model.layers.pop();
            return;
        }
        "Enter" => {
            model.layers.pop();
            if let Some(&(_, _, action)) = entries(&query).get(at) {
                super::update::act(model, action, 1, effects);
            }
            return;
        }
        "Down" | "Tab" => at += 1,
        "Up" | "Shift-Tab" => at = at.saturating_sub(1),
        "PgDn" => at += page,
        "PgUp" => at = at.saturating_sub(page),
        "Backspace" => {
            query.pop();
            at = 0;
        }
        "Space" => query.push(' '),
        one if one.chars().count() == 1 => {
            query.push_str(one);
            at = 0;
        }
        _ => {}
    }
    let last = entries(&query).len().saturating_sub(1);
    model.layers.pop();
    model.layers.push(Layer::Palette { query, at: at.min(last) });
}
