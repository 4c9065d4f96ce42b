//! The keys that matter now, as many as fit; help and quit always.

use crate::export::plain::wrap;
use crate::export::text;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::keymap::{Action, binding};
use crate::tui::layout::{Pane, Plan};
use crate::tui::model::{Layer, Model};

/// The message in lines that leave room for help and quit; nothing without one, or while a count is typed.
pub fn message(model: &Model, width: usize) -> Vec<String> {
    let typing = model.typed.is_some_and(|t| t.count);
    let Some(message) = model.message.as_ref().filter(|_| !typing) else {
        return Vec::new();
    };
    let room = width.saturating_sub("  ? help  q quit".len() + 1).max(1);
    wrap(&text::line(message), room, 0)
}

/// Draws what of a long message has no room in the line itself: over the rows above it.
pub fn above(model: &Model, canvas: &mut Canvas) {
    let mut lines = message(model, canvas.width());
    lines.pop();
    let from = canvas.height().saturating_sub(lines.len());
    let skipped = lines.len().saturating_sub(canvas.height());
    let style = canvas.theme.title;
    for (y, line) in lines.into_iter().skip(skipped).enumerate() {
        let mut row = Row::new();
        row.gap(1).put(line, style).to(canvas.width());
        canvas.row(from + y, &row);
    }
}

/// Draws the line.
pub fn draw(model: &Model, plan: &Plan, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut end = Row::new();
    for (key, what) in [("?", "help"), ("q", "quit")] {
        end.put("  ", theme.text);
        end.put(key, theme.key);
        end.put(format!(" {what}"), theme.text);
    }
    let room = canvas.width().saturating_sub(end.width());
    let mut row = Row::new();
    if let (Some(Layer::Search { text }), None) = (model.layers.last(), &model.message) {
        row.put(" /", theme.key);
        row.put(
            text::cut_left(&text::line(text), room.saturating_sub(3)).into_owned(),
            theme.title,
        );
        row.put("▏", theme.key);
    } else if let Some(typed) = model.typed.filter(|t| t.count) {
        row.put(format!(" {}", typed.number), theme.key);
    } else if let Some(last) = message(model, canvas.width()).pop() {
        row.gap(1).put(last, theme.title);
    } else {
        if let (Some(loading), true) = (&model.loading, model.layers.is_empty()) {
            status(&loading.parts(), room.saturating_sub(STOP), &mut row, theme.title);
        }
        if model.finding.active() && model.layers.is_empty() {
            let status = model.finding.status();
            let left = (room / 2).min(room.saturating_sub(row.width() + 1));
            row.gap(1).put(found(&status, &model.finding.pattern, left), theme.title);
        }
        for (key, what) in keys(model, plan) {
            let before = if row.width() == 0 { " " } else { "  " };
            if row.width() + before.len() + text::width(key) + 1 + text::width(what) > room {
                continue;
            }
            row.put(before, theme.text);
            row.put(key, theme.key);
            row.put(format!(" {what}"), theme.text);
        }
    }
    row.append(end);
    canvas.row(0, &row);
}

/// Cells of the key that stops a load, with what it does.
const STOP: usize = 18;

/// How far a load is: as many of its parts as there is room for.
fn status(parts: &[String], room: usize, row: &mut Row, style: ratatui::style::Style) {
    for (at, part) in parts.iter().enumerate() {
        let before = if at == 0 { " " } else { ", " };
        if row.width() + before.len() + text::width(part) > room {
            return;
        }
        row.put(format!("{before}{part}"), style);
    }
}

/// The state of a search: a long pattern gives way before the count of its hits does.
fn found(status: &str, pattern: &str, room: usize) -> String {
    let rest = status.strip_prefix('/').and_then(|s| s.strip_prefix(pattern)).unwrap_or_default();
    let count = rest.trim_start().split("  ").next().map_or(0, |n| 3 + text::width(n));
    let left = room.saturating_sub(count).max(8);
    let whole = format!("/{}{}", text::cut(&text::line(pattern), left), text::line(rest));
    text::cut(&whole, room).into_owned()
}

/// The keys that every pane has, the most wanted first.
const REST: [Action; 25] = [
    Action::NextRollout,
    Action::NextDisagreement,
    Action::NextBranching,
    Action::NextPane,
    Action::Lens,
    Action::NextColumn,
    Action::Columns,
    Action::Knobs,
    Action::Sweep,
    Action::Pivotal,
    Action::Filter,
    Action::Search,
    Action::Compare,
    Action::Export,
    Action::Open,
    Action::Reload,
    Action::Scale,
    Action::Groups,
    Action::NextGroup,
    Action::Enter,
    Action::Warnings,
    Action::JumpBack,
    Action::Palette,
    Action::Theme,
    Action::Copy,
];

/// What the footer says, the most wanted first; the table of keys has the words.
fn keys(model: &Model, plan: &Plan) -> Vec<(&'static str, &'static str)> {
    use Action as A;
    if let Some(keys) = model.layers.last().and_then(layer_keys) {
        return keys;
    }
    let of = |action: Action| binding(action).map_or(("", ""), |b| b.short);
    let alone = plan.panes.len() == 1;
    let mut list = Vec::new();
    if model.loading.as_ref().is_some_and(|l| !l.stopping) {
        list.push(of(A::StopLoading));
    }
    if model.finding.active() && model.focus != Pane::Groups {
        list.extend([("n N", "hit"), ("Esc", "end search")]);
    }
    match model.focus {
        Pane::Explain => {
            list.extend([("Esc", "back"), ("jk", "member"), ("Enter", "follow")]);
            list.extend([of(A::NextColumn), ("i", "read"), of(A::Copy)]);
        }
        Pane::Reader => {
            list.extend([("Esc", "back"), ("jk", "line"), ("PgDn", "page")]);
            list.extend([("=", "why"), of(A::Copy)]);
        }
        Pane::Groups => {
            let esc = if model.groups.sought.is_some() { "end search" } else { "back" };
            list.extend([
                ("Esc", esc),
                ("jk", "row"),
                ("Enter", "open"),
                of(A::Sort),
                ("f", "mixed only"),
                ("/", "find task"),
            ]);
        }
        Pane::Matrix => {
            list.extend([("Esc", "back"), ("hl", "step"), ("jk", "rollout")]);
            list.extend([of(A::NextColumn), of(A::Knobs), of(A::Pin), ("=", "why")]);
        }
        Pane::Compare => {
            list.extend([("Esc", "back"), ("hl", "rollout"), ("jk", "row")]);
            list.extend([
                ("d D", "divergence"),
                ("f", "only here"),
                of(A::NextColumn),
                ("=", "why"),
                ("i", "read"),
            ]);
        }
        Pane::Sweep => {
            list.extend([("Esc", "back"), ("jk", "row"), ("hl", "knob"), ("Enter", "take it")]);
            list.extend([of(A::Undo)]);
        }
        Pane::Pivotal => {
            list.extend([("Esc", "back"), ("jk", "row"), ("Enter", "go there"), ("=", "why")]);
            list.extend([("i", "read")]);
        }
        Pane::Knobs => {
            list.extend([("Esc", "back"), ("hl", "turn"), ("jk", "knob"), of(A::Sweep)]);
            list.extend([of(A::Pin), of(A::Undo), of(A::NextPreset), of(A::NextColumn)]);
        }
        Pane::Tree | Pane::Steps | Pane::Quadrants | Pane::Rollouts => {
            list.extend([of(A::Pivotal), of(A::NextPane), of(A::Down)]);
            if model.focus == Pane::Tree {
                list.extend([of(A::Left), of(A::Lens), of(A::Sort), of(A::Prune)]);
            }
            list.extend([("=", "why"), ("i", "read"), of(A::NextRollout), of(A::NextDisagreement)]);
            if model.corpus.groups.len() > 1 {
                list.push(of(A::Groups));
            }
            if alone {
                list.push(("Enter", "unzoom"));
            }
        }
    }
    list.extend(REST.map(of));
    let mut seen: Vec<&str> = Vec::new();
    list.retain(|(key, _)| {
        let new = !key.is_empty() && !seen.contains(key);
        seen.push(key);
        new
    });
    list
}

/// What the footer says while a layer is open; nothing where the panes are drawn below it.
fn layer_keys(layer: &Layer) -> Option<Vec<(&'static str, &'static str)>> {
    let keys = match layer {
        Layer::Help { .. } => vec![("Esc", "back"), ("↑↓", "scroll"), ("type", "to search")],
        Layer::Warnings { .. } => vec![("Esc", "back"), ("jk", "warning")],
        Layer::Columns { .. } => {
            vec![("Esc", "back"), ("jk", "column"), ("Space", "show"), ("x", "as X"), ("y", "as Y")]
        }
        Layer::Export { .. } => vec![("Esc", "back"), ("jk", "row"), ("Enter", "write")],
        Layer::Filter { .. } => {
            vec![("Esc", "done"), ("jk", "row"), ("Space", "choose"), ("c", "clear")]
        }
        Layer::Palette { .. } => {
            vec![("Esc", "back"), ("↑↓", "row"), ("Enter", "do it"), ("type", "to narrow")]
        }
        Layer::Search { .. } => return None,
    };
    Some(keys)
}
