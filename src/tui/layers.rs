//! Keys while a layer is open: it takes all of them but the one that leaves at once. Part of
//! [`super::update`].

use super::keymap::{self, Action};
use super::layout::Pane;
use super::message::Effect;
use super::model::{Layer, Model};

/// Opens a layer; in the list of groups the filter is its own.
pub(super) fn open(model: &mut Model, action: Action) {
    let layer = match action {
        Action::Columns => {
            let names = super::choosing::names(model);
            let at = names.iter().position(|n| *n == model.settings.y).unwrap_or(0);
            Layer::Columns { at }
        }
        Action::Filter if model.focus == Pane::Groups => {
            model.groups.mixed = !model.groups.mixed;
            let order = model.group_order();
            if let Some(&first) = order.first().filter(|_| !order.contains(&model.groups.at)) {
                model.groups.at = first;
            }
            return;
        }
        Action::Filter if model.focus == Pane::Compare => {
            super::comparing::act(model, action, 1);
            return;
        }
        Action::Filter => Layer::Filter { at: 0 },
        Action::Search => Layer::Search { text: String::new() },
        Action::Palette => Layer::Palette { query: String::new(), at: 0 },
        Action::Warnings => Layer::Warnings { at: 0 },
        Action::Help => Layer::Help { query: String::new(), scroll: 0 },
        Action::Export if model.snapshot().is_some() => Layer::Export { at: 0 },
        _ => return,
    };
    model.layers.push(layer);
}

/// A key for the topmost layer.
pub(super) fn key(model: &mut Model, layer: &Layer, name: &str, effects: &mut Vec<Effect>) {
    let page = usize::from(model.area.height).saturating_sub(4).max(1);
    let action = keymap::action(name);
    match layer {
        Layer::Help { query, scroll } => {
            let (mut query, mut scroll) = (query.clone(), *scroll);
            match name {
                "Esc" => {
                    model.layers.pop();
                    return;
                }
                "Down" => scroll += 1,
                "Up" => scroll = scroll.saturating_sub(1),
                "PgDn" => scroll += page,
                "PgUp" => scroll = scroll.saturating_sub(page),
                "Home" => scroll = 0,
                "Enter" => {}
                "Backspace" => {
                    query.pop();
                    scroll = 0;
                }
                "?" if query.is_empty() => {
                    model.layers.pop();
                    return;
                }
                "Space" => query.push(' '),
                one if one.chars().count() == 1 => {
                    query.push_str(one);
                    scroll = 0;
                }
                _ => {}
            }
            let lines = super::panes::help::lines(&query).len();
            scroll = scroll.min(lines.saturating_sub(1));
            model.layers.pop();
            model.layers.push(Layer::Help { query, scroll });
        }
        Layer::Export { at } => super::exporting::key(model, *at, name, effects),
        Layer::Columns { at } => super::choosing::key(model, *at, name, effects),
        Layer::Filter { at } => super::filtering::key(model, *at, name, effects),
        Layer::Search { text } => super::finding::key(model, text, name, effects),
        Layer::Palette { query, at } => super::palette::key(model, query, *at, name, effects),
        Layer::Warnings { at } => {
            let last = model.warnings().len().saturating_sub(1);
            let at = match action {
                Some(Action::Close | Action::Warnings) => {
                    model.layers.pop();
                    return;
                }
                Some(Action::Quit) => {
                    effects.push(Effect::Quit(0));
                    return;
                }
                Some(Action::Help) => {
                    model.layers.push(Layer::Help { query: String::new(), scroll: 0 });
                    return;
                }
                // The warnings name these keys.
                Some(Action::Reload) => {
                    model.layers.pop();
                    super::loading::again(model, effects);
                    return;
                }
                Some(Action::StopLoading) => {
                    super::loading::stop(model, effects);
                    return;
                }
                Some(Action::Down) => at + 1,
                Some(Action::Up) => at.saturating_sub(1),
                Some(Action::PageDown) => at + page,
                Some(Action::PageUp) => at.saturating_sub(page),
                Some(Action::Top) => 0,
                Some(Action::Bottom) => last,
                _ => *at,
            };
            model.layers.pop();
            model.layers.push(Layer::Warnings { at: at.min(last) });
        }
    }
}
