//! All warnings: of the group, then of the load, each with what it means.

use crate::export::text;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::model::Model;

/// Draws the layer.
pub fn draw(model: &Model, at: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let warnings = model.warnings();
    let mut extra = Row::new();
    let of_group = model.snapshot().map_or(0, |s| s.analysis.warnings.len());
    let of_load = warnings.len() - of_group;
    extra.put(format!("{of_group} of this group, {of_load} of the load"), theme.text);
    canvas.rule("W Warnings", extra, &[("jk", "row"), ("Esc", "back")], true);
    if warnings.is_empty() {
        canvas.empty(1, &["no warnings: nothing is known that speaks against the numbers"]);
        return;
    }
    // Each warning takes as many rows as its texts need; the selected one stays in sight.
    let width = canvas.width().saturating_sub(4).max(10);
    let mut rows: Vec<(usize, Row)> = Vec::new();
    for (i, warning) in warnings.iter().enumerate() {
        for (k, part) in fold(&text::line(&warning.text), width).into_iter().enumerate() {
            let mut row = Row::new();
            row.put(super::mark(i == at && k == 0), theme.text);
            row.put(if k == 0 { "⚠ " } else { "  " }, theme.warn);
            row.put(part, theme.text);
            rows.push((i, row));
        }
        let about = format!("{} ({})", text::line(&warning.help), text::line(&warning.code));
        for part in fold(&about, width) {
            let mut row = Row::new();
            row.gap(3).put(part, theme.dim);
            rows.push((i, row));
        }
    }
    let height = canvas.height().saturating_sub(1);
    let cursor = rows.iter().position(|(i, _)| *i == at).unwrap_or(0);
    let first = crate::tui::canvas::first_in_sight(cursor, rows.len(), height);
    for (y, (i, row)) in rows.iter().skip(first).take(height).enumerate() {
        canvas.draw(y + 1, row, *i == at);
    }
}

/// A text in lines of at most `width` cells, broken at blanks.
pub(super) fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last().map_or(0, |l| text::width(l));
        if last > 0 && last + 1 + text::width(word) > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
