//! What steps can be chosen by, with how many each choice leaves.

use crate::export::text;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::model::Model;
use crate::tui::numbers::count;

/// Cells of a choice at least, and at most.
const LEAST: usize = 30;
const MOST: usize = 60;
/// Cells of a count with a blank before it.
const COUNT: usize = 6;
/// Cells of a choice beside its name: mark, kind, box, count, a blank.
const BESIDE: usize = 1 + 9 + 4 + COUNT + 1;

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
        let key = super::to_steps_of_a_group(model);
        canvas.empty(1, &[&format!("there is no step to choose: Esc, then {key}")]);
        return;
    }
    // As many columns as the rows take, read downwards: names get the room that is left.
    let rows = model.filtering.rows();
    let height = canvas.height().saturating_sub(1).max(1);
    let across = (canvas.width() / LEAST).clamp(1, rows.div_ceil(height).max(1));
    let cell = (canvas.width() / across).min(MOST);
    let down = rows.div_ceil(across).max(height.min(rows));
    let (column, line) = (at / down, at % down);
    let first = first_in_sight(line, down, height);
    let mut before = "";
    for i in 0..rows {
        let (x, y) = (i / down, i % down);
        let facet = facets.get(i);
        let kind = facet.map_or("", |(facet, _)| facet.kind());
        let head = if kind == before && y != first { "" } else { kind };
        before = kind;
        if y < first || y >= first + height {
            continue;
        }
        let mut row = Row::new();
        let selected = (x, y) == (column, line);
        row.put(super::mark(selected), theme.text);
        row.left(head, 9, theme.dim);
        if let Some((facet, n)) = facet {
            let chosen = filter.chosen().contains(facet);
            row.put(if chosen { "[x] " } else { "[ ] " }, theme.text);
            let style = if chosen { theme.title } else { theme.text };
            let room = cell - BESIDE;
            let name = facet.name();
            let name = text::line(&name);
            row.left(&text::cut_left(&name, room), room, style);
            row.right(&count(*n as u64), COUNT, if *n > 0 { theme.text } else { theme.dim });
        } else {
            let more = format!("… {} more: Space", model.filtering.more_files);
            row.put(more, theme.dim);
        }
        let mut part = canvas.part(x * cell, 1 + y - first, cell.min(canvas.width()), 1);
        part.draw(0, &row, selected);
    }
}
