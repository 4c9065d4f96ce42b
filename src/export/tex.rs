//! A LaTeX table (booktabs), ready to be put into a paper: the shown columns, text escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::plain;
use super::table::{Cell, Column, Table, Type};
use super::text;
use super::writer::{TableWriter, Writing};

/// Writes LaTeX.
pub struct Tex<'a> {
    out: &'a mut dyn Write,
    writing: Writing,
}

impl<'a> Tex<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write, writing: Writing) -> Self {
        Self { out, writing }
    }
}

impl TableWriter for Tex<'_> {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        if let Some(stamp) = &self.writing.stamp {
            writeln!(self.out, "% {}", serde_json::to_string(stamp)?)?;
        }
        Ok(())
    }

    fn chunk(&mut self, table: &Table) -> io::Result<()> {
        for line in table.title.lines() {
            writeln!(self.out, "% {}", text::line(line))?;
        }
        let shown: Vec<(usize, &Column)> =
            table.columns.iter().enumerate().filter(|(_, c)| c.head.is_some()).collect();
        let spec: String = shown
            .iter()
            .map(|(_, c)| if matches!(c.holds, Type::Int | Type::Float) { 'r' } else { 'l' })
            .collect();
        writeln!(self.out, "\\begin{{tabular}}{{{spec}}}\n\\toprule")?;
        let heads = shown.iter().map(|(_, c)| escape(c.head.as_deref().unwrap_or_default()));
        writeln!(self.out, "{} \\\\\n\\midrule", heads.collect::<Vec<_>>().join(" & "))?;
        for row in &table.rows {
            writeln!(self.out, "{} \\\\", cells(row, &shown))?;
        }
        if !table.totals.is_empty() {
            writeln!(self.out, "\\midrule")?;
        }
        for row in &table.totals {
            writeln!(self.out, "{} \\\\", cells(row, &shown))?;
        }
        writeln!(self.out, "\\bottomrule")?;
        if let Some(partial) = &self.writing.partial {
            let (width, mark) = (shown.len().max(1), escape(partial));
            writeln!(self.out, "\\multicolumn{{{width}}}{{l}}{{\\footnotesize {mark}}} \\\\")?;
        }
        writeln!(self.out, "\\end{{tabular}}")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn cells(row: &[Cell], shown: &[(usize, &Column)]) -> String {
    let cells: Vec<String> = shown
        .iter()
        .map(|(at, column)| match row.get(*at) {
            Some(Cell::Float(x)) => format!("${}$", plain::short(*x, column.places)),
            Some(Cell::Missing) | None => "--".to_owned(),
            Some(cell) => escape(&plain::cell(cell, column.places)),
        })
        .collect();
    cells.join(" & ")
}

/// Text that stays text in LaTeX.
fn escape(value: &str) -> String {
    let mut out = String::new();
    for c in text::line(value).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' | '>' | '|' => {
                let _ = write!(out, "${c}$");
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::table::{float, text};
    use super::*;

    #[test]
    fn a_table_with_hostile_text() {
        let mut table = Table::new(vec![text("key").shown("a_b"), float("x").shown("x")]);
        table.rows = vec![vec![Cell::text("50% & {x}"), Cell::Float(-0.5)]];
        table.totals = vec![vec![Cell::text("all"), Cell::Missing]];
        let mut out = Vec::new();
        Tex::new(&mut out, Writing::default()).chunk(&table).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "\\begin{tabular}{lr}\n\\toprule\na\\_b & x \\\\\n\\midrule\n50\\% \\& \\{x\\} & $-0.500$ \\\\\n\\midrule\nall & -- \\\\\n\\bottomrule\n\\end{tabular}\n"
        );
    }
}
