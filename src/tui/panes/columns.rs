//! The chooser of columns, with what the selected one is.

use crate::credit::ColumnSpec;
use crate::export::text;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::choosing::names;
use crate::tui::model::Model;

/// Draws the layer.
pub fn draw(model: &Model, at: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let names = names(model);
    let mut extra = Row::new();
    let settings = &model.settings;
    extra.put(format!("{} in the steps", settings.columns.len()), theme.text);
    extra.put(format!("  X {}  Y {}", settings.x, settings.y), theme.title);
    if model.waiting() {
        extra.put("  computing …", theme.dim);
    }
    let hints = [("Space", "show"), ("x y", "axes"), ("Esc", "back")];
    canvas.rule("c Columns", extra, &hints, true);
    let about = about(names.get(at).map_or("", String::as_str), model, canvas.width());
    let below = about.len() + 1;
    let height = canvas.height().saturating_sub(below).max(4);
    let width = names.iter().map(|n| text::width(n)).max().unwrap_or(4).clamp(4, 24);
    let room = canvas.width();
    {
        let mut part = canvas.part(0, 0, room, height);
        super::list(&mut part, 1, names.len(), Some(at), |i, theme| {
            let mut row = Row::new();
            let name = names.get(i).map_or("", String::as_str);
            let shown = settings.columns.iter().any(|c| c.name == name);
            row.put(super::mark(i == at), theme.text);
            row.put(if shown { "[x] " } else { "[ ] " }, theme.text);
            row.put(if settings.x == name { "X" } else { " " }, theme.title);
            row.put(if settings.y == name { "Y " } else { "  " }, theme.title);
            let style = if shown { theme.title } else { theme.text };
            row.left(&text::line(name), width, style).gap(2);
            let formula = ColumnSpec::new(name).map_or("", |c| c.meta().formula);
            let left = room.saturating_sub(row.width());
            row.put(text::cut(formula, left).into_owned(), theme.dim);
            row
        });
    }
    let top = height.min(names.len() + 1);
    let mut part = canvas.part(0, top, room, below);
    part.rule(names.get(at).map_or("", String::as_str), Row::new(), &[], false);
    for (y, (head, line)) in about.into_iter().enumerate() {
        let mut row = Row::new();
        row.gap(1).left(&head, 10, theme.dim).put(line, theme.text);
        part.row(y + 1, &row);
    }
}

/// What a column is, in lines that fit.
fn about(name: &str, model: &Model, width: usize) -> Vec<(String, String)> {
    let Ok(spec) = ColumnSpec::new(name) else {
        return Vec::new();
    };
    let meta = spec.meta();
    let mut lines = Vec::new();
    let mut say = |head: &str, what: &str| {
        for (i, part) in
            super::warnings::fold(what, width.saturating_sub(13)).into_iter().enumerate()
        {
            lines.push((if i == 0 { head.to_owned() } else { String::new() }, part));
        }
    };
    say("formula", meta.formula);
    say("source", meta.source);
    if !meta.reading.is_empty() {
        say("reading", meta.reading);
    }
    let set = model.settings.columns.iter().find(|c| c.name == name);
    let set = set.map_or(&[][..], |c| c.params.entries());
    for p in meta.params {
        let value = set.iter().find(|(n, _)| n == p.name).map_or(p.default, |(_, v)| v.as_str());
        say(p.name, &format!("{value}  ({})  {}", p.range, p.meaning));
    }
    lines
}
