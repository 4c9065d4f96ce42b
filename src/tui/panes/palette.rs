//! The palette: what can be done, narrowed by what is typed.

use crate::export::text;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::palette::{entries, title};

/// Draws the layer.
pub fn draw(query: &str, at: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let entries = entries(query);
    let mut extra = Row::new();
    if query.is_empty() {
        extra.put("type what to do", theme.dim);
    } else {
        extra.put(text::line(query).into_owned(), theme.title);
    }
    extra.put(format!("  {} of all keys", entries.len()), theme.dim);
    canvas.rule(": Palette", extra, &[("Enter", "does it"), ("Esc", "back")], true);
    if entries.is_empty() {
        canvas.empty(1, &["nothing is called like this: Backspace takes a letter back"]);
        return;
    }
    let width = canvas.width();
    super::list(canvas, 1, entries.len(), Some(at), |i, theme| {
        let mut row = Row::new();
        if let Some((keys, help, action)) = entries.get(i) {
            row.put(super::mark(i == at), theme.text);
            row.left(keys, 13, theme.key).left(&title(*action), 22, theme.title);
            let room = width.saturating_sub(row.width());
            row.put(text::cut(help, room).into_owned(), theme.dim);
        }
        row
    });
}
