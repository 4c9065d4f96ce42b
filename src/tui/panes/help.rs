//! The keys, by heading; what is typed narrows the list. Below them: what the glyphs mean and what the
//! columns are, from the tables that also serve exports.

use crate::credit::registry;
use crate::export::text;
use crate::rollout::plural;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::keymap::{BINDINGS, Binding};

/// Where the meanings start.
const KEYS: usize = 23;

/// A line of the help: heading, keys, meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A heading.
    Head(String),
    /// Keys (or a glyph, or a column) and what they mean.
    Item(String, String),
    /// More about the item above.
    More(String),
}

const GLYPHS: &[(&str, &str)] = &[
    ("█ compared", "another rollout took another action at this state"),
    ("▒ shared", "another rollout was at this state, always with this action"),
    ("∷ self", "only this rollout was here, with two or more actions"),
    ("═ single", "only this rollout was here, with one action"),
    ("━", "a column that looks at no states: evidence does not apply"),
    ("▲ ▼", "dense matrix: + and − of a compared step, or of a column without states"),
    ("△ ▽", "dense matrix: + and − of a shared step; 0 is nothing, · no value"),
    ("+ −", "dense matrix: of a step of class self"),
    ("' .", "dense matrix: + and − of a single step"),
    ("◆", "pivotal: the largest comparison of the group"),
    ("!", "matrix: the sign flipped against the pinned signature"),
    ("*", "a knob that differs from the pinned signature"),
    ("≠", "X and Y disagree: −+ is rescued, +− is penalized"),
    ("↺", "the state occurred earlier in the rollout; ↺3: so many in the row"),
    ("⋎", "branching states folded inside the row; d goes to them"),
    ("≡", "the state of the row stands under other rows, too"),
    ("→s4 ↪s4", "leads to state 4, which stands below; or elsewhere"),
    ("/", "the search found something here"),
    ("− + │", "an edit: lines taken out, put in; │ behind the mark: the line goes on"),
    ("m", "the exit code does not speak for the command"),
    ("N", "N(s,a)/N(s): visits of the pair and of the state"),
    ("✓ ✗ ⊘ ‼ ?", "success, failure, truncated, error, no verdict"),
    ("✗⊘", "failures and truncated ones in one row; so, too, ✗ of the tree"),
];

/// All lines that contain the search text.
#[must_use]
pub fn lines(query: &str) -> Vec<Line> {
    let query = query.trim().to_lowercase();
    let hit = |texts: &[&str]| {
        query.is_empty() || texts.iter().any(|t| t.to_lowercase().contains(&query))
    };
    let mut out = Vec::new();
    let mut section = "";
    // Each heading once, whatever the order of the table.
    let mut order: Vec<&str> = Vec::new();
    for b in BINDINGS {
        if !order.contains(&b.section) {
            order.push(b.section);
        }
    }
    let place = |b: &&Binding| order.iter().position(|s| *s == b.section);
    let mut bindings: Vec<&Binding> = BINDINGS.iter().collect();
    bindings.sort_by_key(place);
    for b in bindings {
        let keys = b.keys.join(" ");
        if !hit(&[&keys, b.help, b.section, b.short.1]) {
            continue;
        }
        if b.section != section {
            section = b.section;
            out.push(Line::Head(section.to_owned()));
        }
        out.push(Line::Item(keys, b.help.to_owned()));
    }
    let glyphs: Vec<_> = GLYPHS.iter().filter(|(g, m)| hit(&[g, m, "glyphs"])).collect();
    if !glyphs.is_empty() {
        out.push(Line::Head("Glyphs".to_owned()));
        out.extend(glyphs.iter().map(|(g, m)| Line::Item((*g).to_owned(), (*m).to_owned())));
    }
    let knobs: Vec<_> = crate::tui::turning::rows()
        .into_iter()
        .filter(|k| hit(&[k.name(), k.meaning(), "knobs", "signature"]))
        .collect();
    if !knobs.is_empty() {
        out.push(Line::Head("Knobs".to_owned()));
    }
    for knob in knobs {
        out.push(Line::Item(knob.name().to_owned(), knob.meaning().to_owned()));
        out.push(Line::More(format!("from coarse to fine: {}", knob.values().join(", "))));
    }
    let columns: Vec<_> = registry()
        .iter()
        .map(|e| e.meta())
        .filter(|m| hit(&[m.id, m.title, m.formula, m.source, m.reading, "columns"]))
        .collect();
    if !columns.is_empty() {
        out.push(Line::Head("Columns".to_owned()));
    }
    for meta in columns {
        out.push(Line::Item(meta.id.to_owned(), meta.formula.to_owned()));
        out.push(Line::More(format!("source: {}", meta.source)));
        if !meta.reading.is_empty() {
            out.push(Line::More(format!("reading: {}", meta.reading)));
        }
    }
    out
}

/// The lines at a width: nothing is cut, neither keys nor meanings.
fn wrapped(lines: &[Line], width: usize) -> Vec<Line> {
    let room = width.saturating_sub(KEYS + 1).max(8);
    let mut out = Vec::new();
    for line in lines {
        match line {
            Line::Head(_) => out.push(line.clone()),
            Line::Item(keys, what) => {
                let mut keys = super::warnings::fold(keys, KEYS - 3).into_iter();
                let mut what = super::warnings::fold(what, room).into_iter();
                loop {
                    let (left, right) = (keys.next(), what.next());
                    if left.is_none() && right.is_none() {
                        break;
                    }
                    let text = |t: Option<String>| t.unwrap_or_default();
                    out.push(Line::Item(text(left), text(right)));
                }
            }
            Line::More(what) => {
                let parts = super::warnings::fold(what, room);
                out.extend(parts.into_iter().map(Line::More));
            }
        }
    }
    out
}

/// Draws the layer.
pub fn draw(query: &str, scroll: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut extra = Row::new();
    if query.is_empty() {
        extra.put("type to search", theme.dim);
    } else {
        extra.put(format!("search: {}", text::line(query)), theme.title);
    }
    let lines = wrapped(&lines(query), canvas.width());
    let height = canvas.height().saturating_sub(1);
    let first = scroll.min(lines.len().saturating_sub(height));
    let below = lines.len().saturating_sub(first + height);
    if below > 0 {
        extra.put(format!("  {} more below", plural(below, "line")), theme.dim);
    }
    canvas.rule("? Keys", extra, &[("Esc", "back")], true);
    if lines.is_empty() {
        canvas.empty(1, &["no key, glyph or column fits this: Backspace takes a letter back"]);
        return;
    }
    for (y, line) in lines.iter().skip(first).take(height).enumerate() {
        let mut row = Row::new();
        row.gap(1);
        match line {
            Line::Head(head) => {
                row.put(head.clone(), theme.title);
            }
            Line::Item(keys, what) => {
                row.gap(1).left(keys, KEYS - 2, theme.key).to(KEYS);
                row.put(what.clone(), theme.text);
            }
            Line::More(what) => {
                row.gap(KEYS).put(what.clone(), theme.dim);
            }
        }
        canvas.row(y + 1, &row);
    }
}
