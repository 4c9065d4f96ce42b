//! What steps can be chosen by, with how many each choice leaves.

use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::model::Model;
use crate::tui::numbers::count;

/// Draws the layer.
pub fn draw(model: &Model, at: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let facets = &model.filtering.facets;
    let filter = &model.filtering.filter;
    let mut extra = Row::new();
    let all = model.shown_group().map_or(0, |g| g.len());
    let passing =
        if filter.is_empty() { all } else { model.filtering.passes.iter().filter(|&&p| p).count() };
    extra.put(format!("{passing} of {all} steps"), theme.text);
    if !filter.is_empty() {
        extra.put(format!("  {}", filter.name()), theme.title);
    }
    let hints = [("Space", "choose"), ("c", "clear"), ("Esc", "done")];
    canvas.rule("f Filter", extra, &hints, true);
    if facets.is_empty() {
        canvas.empty(1, &["there is no step to choose: Esc, then } goes to the next group"]);
        return;
    }
    // As many columns as fit, read downwards.
    let cell = 30;
    let height = canvas.height().saturating_sub(1).max(1);
    let across = (canvas.width() / cell).max(1);
    let down = facets.len().div_ceil(across).max(height.min(facets.len()));
    let (column, line) = (at / down, at % down);
    let first = first_in_sight(line, down, height);
    let mut before = "";
    for (i, (facet, n)) in facets.iter().enumerate() {
        let (x, y) = (i / down, i % down);
        let kind = facet.kind();
        let head = if kind == before && y != first { "" } else { kind };
        before = kind;
        if y < first || y >= first + height {
            continue;
        }
        let mut row = Row::new();
        let selected = (x, y) == (column, line);
        let chosen = filter.chosen().contains(facet);
        row.put(super::mark(selected), theme.text);
        row.left(head, 9, theme.dim);
        row.put(if chosen { "[x] " } else { "[ ] " }, theme.text);
        let style = if chosen { theme.title } else { theme.text };
        row.left(&facet.name(), 11, style);
        row.right(&count(*n as u64), 4, if *n > 0 { theme.text } else { theme.dim });
        let mut part = canvas.part(x * cell, 1 + y - first, cell.min(canvas.width()), 1);
        part.draw(0, &row, selected);
    }
}
