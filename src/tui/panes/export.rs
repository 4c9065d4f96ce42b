//! The menu of exports.

use crate::tui::canvas::{Canvas, Row};
use crate::tui::exporting::menu;
use crate::tui::model::Model;

/// Draws the layer.
pub fn draw(model: &Model, at: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut extra = Row::new();
    extra.put("into a new file in the working directory; nothing is written over", theme.dim);
    canvas.rule("e Export", extra, &[("Enter", "writes"), ("Esc", "back")], true);
    let menu = menu(model);
    super::list(canvas, 1, menu.len(), Some(at), |i, theme| {
        let mut row = Row::new();
        row.put(super::mark(i == at), theme.text);
        row.put(menu.get(i).map_or("", |w| w.about()), theme.text);
        row
    });
}
