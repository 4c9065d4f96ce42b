//! The folded tree of paths: a row per node, a parent before its children, with how many rollouts pass
//! and how they ended.

use super::Figure;
use super::axes::legend;
use super::canvas::{Anchor, Canvas, Fill, Kind, SIZE, Tip, wide};
use crate::analysis::Analysis;
use crate::export::plain::short;
use crate::export::table::{Cell, Table, key_line};
use crate::export::text;
use crate::export::tree::{Lens, table};
use crate::rollout::plural;

/// Height of a row.
const ROW: f64 = 22.0;
/// Indent of a level.
const LEVEL: f64 = 18.0;
/// Length of the bar that all rollouts fill.
const BAR: f64 = 120.0;

/// The figure.
#[must_use]
pub fn tree(analysis: &Analysis) -> Figure {
    let mut canvas = Canvas::default();
    let mut all = table(analysis, Lens::Paths);
    if let Some(at) = all.position("drawn") {
        all.columns.truncate(at);
        all.rows.iter_mut().for_each(|row| row.truncate(at));
    }
    for name in ["depth", "label"] {
        if let Some(column) = all.position(name).and_then(|at| all.columns.get_mut(at)) {
            column.head = Some(name.to_owned());
        }
    }
    let rows: Vec<Node> = (0..all.rows.len()).map(|at| Node::of(&all, at)).collect();
    let right = rows
        .iter()
        .map(|node| node.depth as f64 * LEVEL + 16.0 + wide(&node.label, SIZE))
        .fold(160.0, f64::max)
        + 14.0;
    let n = analysis.basis.scored_count().max(1) as f64;
    for (x, head) in [
        (right, "rollouts, by outcome"),
        (right + BAR + 64.0, "N(s,a)"),
        (right + BAR + 112.0, "A"),
    ] {
        canvas.text((x, 8.0), Anchor::Start, Kind::Dim, head);
    }
    let mut last_at: Vec<f64> = Vec::new();
    let mut y = 16.0;
    for node in &rows {
        let middle = y + ROW / 2.0;
        let (x, level) = (node.depth as f64 * LEVEL, node.depth);
        last_at.truncate(level);
        if let Some(above) = last_at.last() {
            let stem = x - LEVEL + 4.0;
            canvas.line((stem, above + 5.0), (stem, middle), true);
            canvas.line((stem, middle), (x, middle), true);
        }
        last_at.push(middle);
        canvas.mark((x + 4.0, middle), 3.2, (usize::from(node.forks), false), &Tip::none());
        canvas.text((x + 13.0, middle + 4.0), Anchor::Start, Kind::Label, &node.label);
        node.numbers(&mut canvas, (right, y), n);
        y += ROW;
    }
    legend(
        &mut canvas,
        (0.0, y + 12.0),
        right + BAR + 150.0,
        &[(Fill::Pos, "successes"), (Fill::Neg, "failures (hatched)")],
    );
    canvas.room(right + BAR + 160.0, 0.0);
    let notes = vec![
        format!(
            "folded walks of {}, {} of {} scored succeed; ×n: steps folded in a row; square: the walk forks after it",
            plural(analysis.group.rollouts.len(), "rollout"),
            analysis.basis.successes(),
            analysis.basis.scored_count()
        ),
        format!("A: {} of the row's first step", analysis.settings.y),
    ];
    Figure::new(format!("Paths: {}", key_line(&analysis.group)), notes, canvas, all)
}

/// A row of the tree, as its table tells it.
struct Node {
    depth: usize,
    label: String,
    scored: u64,
    successes: u64,
    visits: u64,
    value: Option<f64>,
    forks: bool,
    tip: String,
}

impl Node {
    fn of(table: &Table, at: usize) -> Self {
        let cell = |name: &str| table.position(name).and_then(|c| table.rows.get(at)?.get(c));
        let int = |name: &str| match cell(name) {
            Some(Cell::Int(n)) => *n,
            _ => 0,
        };
        let word = |name: &str| match cell(name) {
            Some(Cell::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let folded = match int("steps") {
            0 | 1 => String::new(),
            n => format!(" ×{n}"),
        };
        let label = text::line(&word("label")).into_owned();
        let depth = int("depth");
        let below = table.rows.get(at + 1).and_then(|row| row.get(table.position("depth")?));
        Self {
            depth: usize::try_from(depth).unwrap_or(0),
            label: format!("{}{folded}", text::cut_middle(&label, 44)),
            scored: int("n"),
            successes: int("successes"),
            visits: int("n_sa"),
            value: match cell("a") {
                Some(Cell::Float(x)) => Some(*x),
                _ => None,
            },
            forks: matches!(below, Some(Cell::Int(n)) if *n > depth),
            tip: format!("{}: {}", plural(int("steps"), "step"), word("members")),
        }
    }

    fn tip(&self, n: u64) -> Tip {
        Tip { words: self.tip.clone(), value: Some(n as f64) }
    }

    fn numbers(&self, canvas: &mut Canvas, (x, y): (f64, f64), n: f64) {
        let base = y + ROW / 2.0 + 4.0;
        let long = |k: u64| BAR * k as f64 / n;
        let (won, lost) = (long(self.successes), long(self.scored - self.successes));
        let (top, high) = (y + 5.0, ROW - 10.0);
        if won > 0.0 {
            canvas.rect((x, top), (won, high), Fill::Pos, &self.tip(self.successes));
        }
        if lost > 0.0 {
            canvas.rect(
                (x + won, top),
                (lost, high),
                Fill::Neg,
                &self.tip(self.scored - self.successes),
            );
        }
        let told = format!("{} of {}", self.successes, self.scored);
        canvas.text((x + won + lost + 5.0, base), Anchor::Start, Kind::Number, &told);
        let end = (x + BAR + 96.0, base);
        canvas.text(end, Anchor::End, Kind::Number, &self.visits.to_string());
        let value = self.value.map_or_else(|| "–".to_owned(), |a| short(a, 3));
        canvas.text((x + BAR + 148.0, base), Anchor::End, Kind::Number, &value);
    }
}
