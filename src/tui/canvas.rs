//! Drawing into a rectangle of the buffer: rows of styled texts, rules, and nothing outside.
//!
//! Every text is expected to be clean (see [`crate::export::text`]); widths are counted by grapheme.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::theme::Theme;
use crate::export::plain::wrap;
use crate::export::text;

/// A row under construction, from left to right.
#[derive(Debug, Clone, Default)]
pub struct Row {
    spans: Vec<Span>,
    width: usize,
}

#[derive(Debug, Clone)]
struct Span {
    text: String,
    style: Style,
    /// A bar: it keeps its colours where the selection swaps them.
    solid: bool,
}

impl Row {
    /// An empty row.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many cells it takes so far.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Adds a text as it is.
    pub fn put(&mut self, text: impl Into<String>, style: Style) -> &mut Self {
        self.span(text.into(), style, false)
    }

    /// Adds a text in exactly `width` cells, at the left.
    pub fn left(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        self.put(text::fit(text, width), style)
    }

    /// Adds a text in exactly `width` cells, at the right.
    pub fn right(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        self.put(text::fit_right(text, width), style)
    }

    /// Adds a text in exactly `width` cells, in the middle.
    pub fn middle(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let cut = text::cut(text, width);
        let before = (width - text::width(&cut)).div_ceil(2);
        self.gap(before);
        self.left(&cut, width - before, style)
    }

    /// Adds blanks.
    pub fn gap(&mut self, width: usize) -> &mut Self {
        self.put(" ".repeat(width), Style::new())
    }

    /// Adds blanks up to a column.
    pub fn to(&mut self, column: usize) -> &mut Self {
        self.gap(column.saturating_sub(self.width))
    }

    /// Adds a part of a bar.
    pub fn solid(&mut self, text: impl Into<String>, style: Style) -> &mut Self {
        self.span(text.into(), style, true)
    }

    /// Adds all of another row.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.width += other.width;
        self.spans.extend(other.spans);
        self
    }

    /// Gives every text of the row a further style.
    pub fn restyle(&mut self, style: Style) -> &mut Self {
        for span in &mut self.spans {
            span.style = span.style.patch(style);
        }
        self
    }

    /// What it says.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|s| s.text.as_str()).collect()
    }

    /// Whether something other than blanks stands past so many cells.
    fn passes(&self, width: usize) -> bool {
        let mut x = 0;
        self.width > width
            && self.spans.iter().flat_map(|s| text::clusters(&s.text)).any(|cell| {
                x += text::width(cell);
                x > width && !cell.trim().is_empty()
            })
    }

    fn span(&mut self, text: String, style: Style, solid: bool) -> &mut Self {
        self.width += text::width(&text);
        self.spans.push(Span { text, style, solid });
        self
    }
}

/// A rectangle to draw in.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    /// Where it is.
    pub area: Rect,
    /// The styles.
    pub theme: &'a Theme,
}

impl<'a> Canvas<'a> {
    /// A canvas over the part of `area` that the buffer has.
    pub fn new(buffer: &'a mut Buffer, area: Rect, theme: &'a Theme) -> Self {
        let area = area.intersection(buffer.area);
        Self { buffer, area, theme }
    }

    /// Cells per row.
    #[must_use]
    pub fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    /// Draws a row.
    pub fn row(&mut self, y: usize, row: &Row) {
        self.draw(y, row, false);
    }

    /// Draws a row as the selected one: over the whole width.
    pub fn selected(&mut self, y: usize, row: &Row) {
        self.draw(y, row, true);
    }

    /// Draws a row, selected or not. What has no room ends with `…`, never without a mark.
    pub fn draw(&mut self, y: usize, row: &Row, selected: bool) {
        let select = if selected { self.theme.select } else { Style::new() };
        let mut x = 0;
        for span in &row.spans {
            // Without a colour of its own a full block would have that of the ground around it.
            let coloured = span.style.fg.is_some();
            let keep = span.solid && selected && self.theme.reverses() && coloured;
            if keep {
                // A bar keeps its colours; the blanks beside it are selected like the rest.
                for cell in text::clusters(&span.text) {
                    let style = if cell == " " { span.style.patch(select) } else { span.style };
                    x = self.text(x, y, cell, style);
                }
            } else {
                x = self.text(x, y, &span.text, span.style.patch(select));
            }
        }
        if selected {
            let rest = " ".repeat(self.width().saturating_sub(x));
            self.text(x, y, &rest, select);
        }
        if row.passes(self.width()) {
            self.cut(y, self.theme.dim.patch(select));
        }
    }

    /// Marks a row whose end has no room.
    fn cut(&mut self, y: usize, style: Style) {
        let Some(last) = self.width().checked_sub(1) else { return };
        // Half of a wide letter would take the mark with it.
        let before = last
            .checked_sub(1)
            .map(|x| Position::new(self.area.x + x as u16, self.area.y.saturating_add(y as u16)));
        if let Some(cell) = before.and_then(|at| self.buffer.cell_mut(at))
            && text::width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
        self.text(last, y, "…", style);
    }

    /// Draws a text at a place; the column after it.
    pub fn text(&mut self, x: usize, y: usize, text: &str, style: Style) -> usize {
        let mut x = x;
        if y >= self.height() {
            return x;
        }
        for grapheme in text::clusters(text) {
            let cells = text::width(grapheme);
            if cells == 0 {
                continue;
            }
            if x + cells > self.width() {
                break;
            }
            let at = |x: usize| Position::new(self.area.x + x as u16, self.area.y + y as u16);
            // A cluster that claims more than its two cells would shift the rest of the line.
            let odd = unicode_width::UnicodeWidthStr::width(grapheme) > 2;
            if let Some(cell) = self.buffer.cell_mut(at(x)) {
                // What was drawn before must not shine through a style without a colour.
                cell.reset();
                cell.set_symbol(if odd { "\u{fffd}" } else { grapheme });
                cell.set_style(style);
            }
            if cells == 2
                && let Some(cell) = self.buffer.cell_mut(at(x + 1))
            {
                cell.reset();
                cell.set_style(style);
            }
            x += cells;
        }
        x
    }

    /// The rule line of a pane at its first row: title, what follows it, and key hints at the right,
    /// which go first (from the left) when the width shrinks. The focused pane has a heavy rule.
    pub fn rule(&mut self, title: &str, extra: Row, hints: &[(&str, &str)], focus: bool) {
        let width = self.width();
        let (glyph, style) =
            if focus { ("━", self.theme.focus) } else { ("─", self.theme.dim) };
        let mut head = Row::new();
        head.put(glyph, style);
        head.put(format!(" {title}"), self.theme.title);
        if extra.width() > 0 {
            head.put("  ", Style::new());
            head.append(extra);
        }
        head.put(" ", Style::new());
        let mut tail = Row::new();
        for from in 0..=hints.len() {
            let mut row = Row::new();
            for (i, (key, what)) in hints.iter().skip(from).enumerate() {
                row.put(if i == 0 { " " } else { "  " }, Style::new());
                row.put(*key, self.theme.key);
                let gap = if key.is_empty() || what.is_empty() { "" } else { " " };
                row.put(format!("{gap}{what}"), self.theme.dim);
            }
            if row.width() > 0 {
                row.put(" ", Style::new());
            }
            row.put(glyph, style);
            if head.width() + row.width() <= width || from == hints.len() {
                tail = row;
                break;
            }
        }
        let line = glyph.repeat(width);
        self.text(0, 0, &line, style);
        self.row(0, &head);
        if head.width() + tail.width() <= width {
            let mut row = Row::new();
            row.put(glyph.repeat(width - tail.width() - head.width()), style);
            row.append(tail);
            let mut whole = head;
            whole.append(row);
            self.row(0, &whole);
        }
    }

    /// A message in the middle of the pane: why it is empty, and what helps; in as many rows as it takes.
    pub fn empty(&mut self, from: usize, lines: &[&str]) {
        let room = self.width().saturating_sub(2).max(1);
        let parts = lines.iter().flat_map(|line| wrap(line, room, 0));
        for (i, line) in parts.enumerate() {
            let mut row = Row::new();
            row.gap(1).put(line, self.theme.dim);
            self.row(from + i, &row);
        }
    }

    /// A canvas over a part of this one, in its own coordinates.
    pub fn part(&mut self, x: usize, y: usize, width: usize, height: usize) -> Canvas<'_> {
        let area = Rect::new(
            self.area.x.saturating_add(x as u16),
            self.area.y.saturating_add(y as u16),
            width as u16,
            height as u16,
        )
        .intersection(self.area);
        Canvas { buffer: self.buffer, area, theme: self.theme }
    }
}

/// The first row to draw so that `cursor` is in sight: the cursor stays in the middle of long lists.
#[must_use]
pub fn first_in_sight(cursor: usize, rows: usize, height: usize) -> usize {
    if rows <= height {
        return 0;
    }
    cursor.saturating_sub(height / 2).min(rows - height)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Modifier;

    use super::super::theme::{Depth, ThemeId};
    use super::*;

    fn drawn(row: &Row, width: u16, selected: bool, theme: &Theme) -> Buffer {
        let area = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(area);
        Canvas::new(&mut buffer, area, theme).draw(0, row, selected);
        buffer
    }

    fn text_of(buffer: &Buffer) -> String {
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn what_has_no_room_is_marked() {
        let theme = Theme::new(ThemeId::Default, Depth::True);
        let cut = |text: &str, width| {
            let mut row = Row::new();
            row.put(text, theme.text);
            text_of(&drawn(&row, width, false, &theme))
        };
        assert_eq!(cut("+0.303", 6), "+0.303");
        assert_eq!(cut("+0.303", 4), "+0.…");
        // Blanks are nothing to be missed.
        assert_eq!(cut("+0.303   ", 6), "+0.303");
        // A wide letter goes as a whole.
        assert_eq!(cut("a文b", 3), "a …");
        assert_eq!(cut("ab", 1), "…");
    }

    #[test]
    fn a_selected_bar_is_seen_without_colours() {
        let look = |theme: &Theme| {
            let mut bar = Row::new();
            bar.solid("█ ", theme.pos);
            let buffer = drawn(&bar, 2, true, theme);
            let reversed = |x: u16| buffer[(x, 0)].modifier.contains(Modifier::REVERSED);
            (reversed(0), reversed(1))
        };
        // Black on white, as the row; a colour of its own stands out as it is.
        assert_eq!(look(&Theme::new(ThemeId::Mono, Depth::Ansi16)), (true, true));
        assert_eq!(look(&Theme::new(ThemeId::Default, Depth::Ansi16)), (false, true));
    }
}
