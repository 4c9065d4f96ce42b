//! Text for people: aligned tables, pages of 80 columns.

use std::io::{self, Write};

use super::ascii;
use super::document::{Block, Body, Page};
use super::table::{Cell, Column, Table, Type};
use super::text;
use super::writer::{TableWriter, Writing, stamp_line};

/// What stands for a missing value.
const NONE: &str = "–";

/// A number with this many decimals; one that would be shown as 0 but is none is shown by its size.
#[must_use]
pub fn short(x: f64, places: usize) -> String {
    let fixed = format!("{x:.places$}");
    let zero = fixed.chars().all(|c| matches!(c, '0' | '.' | '-'));
    if zero && x != 0.0 {
        format!("{x:.0e}")
    } else if zero {
        fixed.trim_start_matches('-').to_owned()
    } else {
        fixed
    }
}

/// A cell as text.
#[must_use]
pub fn cell(cell: &Cell, places: usize) -> String {
    match cell {
        Cell::Text(value) => text::line(value).into_owned(),
        Cell::Int(n) => n.to_string(),
        Cell::Float(x) => short(*x, places),
        Cell::Bool(true) => "yes".to_owned(),
        Cell::Bool(false) => "no".to_owned(),
        Cell::Missing => NONE.to_owned(),
    }
}

/// Writes text.
pub struct Plain<'a> {
    out: &'a mut dyn Write,
    writing: Writing,
    started: bool,
}

impl<'a> Plain<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing, started: false }
    }

    /// A writer of what comes after a page.
    pub fn further(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing, started: true }
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        let line = line.trim_end();
        if self.writing.ascii {
            let line = ascii::line(line);
            let line = if ascii::utf8() { line } else { ascii::escaped(&line) };
            writeln!(self.out, "{line}")
        } else {
            writeln!(self.out, "{line}")
        }
    }

    /// Writes the stamp line and the mark of partial data.
    pub fn stamp(&mut self) -> io::Result<()> {
        stamp_line(self.out, self.writing.stamp.as_ref())?;
        if let Some(partial) = self.writing.partial.clone() {
            self.line(&format!("⚠ {partial}"))?;
            self.started = true;
        }
        Ok(())
    }

    /// Writes a page.
    pub fn page(&mut self, page: &Page) -> io::Result<()> {
        let width = self.writing.width.unwrap_or(80);
        if self.started {
            self.line("")?;
        }
        self.started = true;
        if !page.title.is_empty() {
            let title = text::line(&page.title).into_owned();
            for part in wrap(&title, width, 0) {
                self.line(&part)?;
            }
            self.line(&"═".repeat(text::width(&title).min(width)))?;
        }
        for block in page.blocks.iter().filter(|b| !b.is_empty()) {
            self.block(block, width)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, width: usize) -> io::Result<()> {
        if !block.title.is_empty() {
            self.line("")?;
            for part in wrap(&text::line(&block.title), width, 2) {
                self.line(&part)?;
            }
        }
        match &block.body {
            Body::Facts(facts) => {
                let facts: Vec<_> = facts.iter().filter(|f| !f.text.is_empty()).collect();
                let label = facts.iter().map(|f| text::width(&f.label)).max().unwrap_or(0);
                let indent = if label == 0 { 0 } else { label + 2 };
                for fact in facts {
                    let room = width.saturating_sub(indent);
                    let head = text::fit(&fact.label, indent);
                    for (i, part) in wrap(&text::line(&fact.text), room, 2).iter().enumerate() {
                        let left = if i == 0 { head.clone() } else { " ".repeat(indent) };
                        self.line(&format!("{left}{part}"))?;
                    }
                }
                Ok(())
            }
            Body::Table(table) => self.table(table, Some(width)),
            Body::Data(_) => Ok(()),
            Body::Lines(lines) => {
                for line in lines {
                    self.line(line)?;
                }
                Ok(())
            }
        }
    }

    /// Writes a table, in panels where it is wider than allowed.
    fn table(&mut self, table: &Table, width: Option<usize>) -> io::Result<()> {
        let shown = columns(table);
        for (i, panel) in panels(&shown, width).iter().enumerate() {
            if i > 0 {
                self.line("")?;
            }
            let widths = widths(panel, width);
            let heads: Vec<&str> = panel.iter().map(|c| c.head.as_str()).collect();
            self.row(&heads, panel, &widths)?;
            for at in 0..table.rows.len() + table.totals.len() {
                let cells: Vec<&str> =
                    panel.iter().map(|c| c.cells.get(at).map_or("", |c| c)).collect();
                self.row(&cells, panel, &widths)?;
            }
        }
        Ok(())
    }

    /// Writes a row; what is wider than its column goes on below.
    fn row(&mut self, cells: &[&str], panel: &[&Shown], widths: &[usize]) -> io::Result<()> {
        let parts: Vec<Vec<String>> =
            cells
                .iter()
                .zip(widths)
                .map(|(value, &w)| {
                    if text::width(value) > w {
                        wrap(value, w, 0)
                    } else {
                        vec![(*value).to_owned()]
                    }
                })
                .collect();
        for at in 0..parts.iter().map(Vec::len).max().unwrap_or(0) {
            let mut row = Row::default();
            for ((part, column), &w) in parts.iter().zip(panel).zip(widths) {
                row.push(part.get(at).map_or("", |p| p), column.right, w);
            }
            self.line(&row.0)?;
        }
        Ok(())
    }
}

/// Cells of the narrowest column that a text is broken into.
const NARROW: usize = 12;

/// The widths of a panel's columns. Where one panel is too wide for a line, texts give way: the widest
/// first, keys last.
fn widths(panel: &[&Shown], width: Option<usize>) -> Vec<usize> {
    let mut widths: Vec<usize> = panel.iter().map(|c| c.width).collect();
    let all = widths.iter().sum::<usize>() + 2 * panel.len().saturating_sub(1);
    let mut excess = width.map_or(0, |w| all.saturating_sub(w));
    while excess > 0 {
        let texts = panel.iter().zip(&mut widths).filter(|(c, w)| !c.right && **w > NARROW);
        let Some((_, widest)) = texts.max_by_key(|(c, w)| (!c.key, **w)) else { break };
        let less = excess.min(*widest - NARROW);
        *widest -= less;
        excess -= less;
    }
    widths
}

/// A column as it is shown.
struct Shown {
    head: String,
    key: bool,
    glued: bool,
    right: bool,
    width: usize,
    cells: Vec<String>,
}

#[derive(Default)]
struct Row(String);

impl Row {
    fn push(&mut self, value: &str, right: bool, width: usize) {
        if !self.0.is_empty() {
            self.0.push_str("  ");
        }
        self.0.push_str(&if right {
            text::fit_right(value, width)
        } else {
            text::fit(value, width)
        });
    }
}

fn columns(table: &Table) -> Vec<Shown> {
    let rows = || table.rows.iter().chain(&table.totals);
    let shown = |(at, column): (usize, &Column)| {
        let head = column.head.clone()?;
        let cells: Vec<String> = rows()
            .map(|row| {
                let value = row.get(at).map_or_else(String::new, |c| cell(c, column.places));
                // Names tell themselves apart by their ends.
                if column.middle {
                    text::cut_middle(&value, column.limit).into_owned()
                } else if column.key {
                    text::cut_left(&value, column.limit).into_owned()
                } else {
                    text::cut(&value, column.limit).into_owned()
                }
            })
            .collect();
        let widest = cells.iter().map(|c| text::width(c)).max().unwrap_or(0);
        Some(Shown {
            key: column.key,
            glued: column.glued,
            right: matches!(column.holds, Type::Int | Type::Float),
            width: widest.max(text::width(&head)),
            head,
            cells,
        })
    };
    table.columns.iter().enumerate().filter_map(shown).collect()
}

/// Columns by panel: key columns come again in each.
fn panels(columns: &[Shown], width: Option<usize>) -> Vec<Vec<&Shown>> {
    let keys: Vec<&Shown> = columns.iter().filter(|c| c.key).collect();
    let taken: usize = keys.iter().map(|c| c.width + 2).sum();
    let mut panels = Vec::new();
    let mut panel = keys.clone();
    let mut used = taken;
    let free: Vec<&Shown> = columns.iter().filter(|c| !c.key).collect();
    for unit in free.chunk_by(|_, next| next.glued) {
        let needs: usize = unit.iter().map(|c| c.width + 2).sum();
        let full = width.is_some_and(|w| used + needs > w + 2);
        if full && panel.len() > keys.len() {
            panels.push(std::mem::replace(&mut panel, keys.clone()));
            used = taken;
        }
        panel.extend(unit);
        used += needs;
    }
    panels.push(panel);
    panels
}

/// Lines of at most `width` cells, broken between words, and inside of one that is wider than a line;
/// further lines are indented.
#[must_use]
pub fn wrap(line: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split(' ') {
        let start = if lines.is_empty() { 0 } else { indent };
        let fits = text::width(&current) + 1 + text::width(word) <= width;
        if current.is_empty() {
            current = format!("{}{word}", " ".repeat(start));
        } else if fits {
            current.push(' ');
            current.push_str(word);
        } else {
            lines.push(std::mem::take(&mut current));
            current = format!("{}{word}", " ".repeat(indent));
        }
        while width > indent && text::width(&current) > width {
            let (head, tail) = text::split(&current, width);
            let tail = format!("{}{tail}", " ".repeat(indent));
            lines.push(head.to_owned());
            current = tail;
        }
    }
    lines.push(current);
    lines
}

impl TableWriter for Plain<'_> {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        self.stamp()
    }

    fn chunk(&mut self, table: &Table) -> io::Result<()> {
        if self.started {
            self.line("")?;
        }
        self.started = true;
        if !table.title.is_empty() {
            for line in table.title.split('\n') {
                let line = text::line(line).into_owned();
                for part in wrap(&line, self.writing.width.unwrap_or(usize::MAX), 2) {
                    self.line(&part)?;
                }
            }
        }
        let width = self.writing.width;
        self.table(table, width)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_not_shown_as_zero() {
        assert_eq!(short(-0.000_033, 3), "-3e-5");
        assert_eq!(short(-0.0, 3), "0.000");
        assert_eq!(short(0.4926, 3), "0.493");
    }

    #[test]
    fn wrapping_breaks_between_words() {
        assert_eq!(wrap("aa bb cc", 5, 1), ["aa bb", " cc"]);
        assert_eq!(wrap("aaaaaaaa b", 5, 0), ["aaaaa", "aaa b"]);
        assert_eq!(wrap("a bbbbbbbb", 5, 1), ["a", " bbbb", " bbbb"]);
    }

    #[test]
    fn wide_tables_are_broken_into_panels_with_their_keys() {
        use super::super::table::{int, text};
        let mut table = Table::new(vec![
            text("id").shown("id").key(),
            int("a").shown("aaaaaaaa"),
            int("b").shown("bbbbbbbb"),
        ]);
        table.rows.push(vec![Cell::Text("r1".into()), Cell::Int(1), Cell::Int(2)]);
        let mut out = Vec::new();
        let writing = Writing { width: Some(14), ..Writing::default() };
        let mut plain = Plain::new(&mut out, writing);
        plain.chunk(&table).unwrap();
        drop(plain);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "id  aaaaaaaa\nr1         1\n\nid  bbbbbbbb\nr1         2\n"
        );
    }
}
