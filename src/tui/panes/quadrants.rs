//! X against Y: how many steps agree, are rescued, are penalized, or are inside the thresholds; by
//! outcome, and by the evidence that stands behind them.

use crate::analysis::Tally;
use crate::graph::Evidence;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::glyphs;
use crate::tui::numbers::{count, digits, percent, setting};
use crate::tui::snapshot::{Snapshot, failed};
use crate::tui::theme::Theme;

/// Draws the pane.
pub fn draw(snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let settings = &snapshot.analysis.settings;
    let mut extra = Row::new();
    extra.put(format!("X {}  Y {}", settings.x, settings.y), theme.text);
    let (x, y) = settings.tau;
    let tau = if x == y {
        format!("|A|>{}", setting(x))
    } else {
        format!("|X|>{} |Y|>{}", setting(x), setting(y))
    };
    extra.put(format!("  {tau}"), theme.dim);
    // Steps without a value in X or Y are in no bucket: the rows add up with them.
    let missing: u64 = snapshot.outcomes.iter().map(|t| t.missing).sum();
    if missing > 0 {
        extra.put(format!("  {missing} without a value"), theme.warn);
    }
    // The counts below would read as findings.
    if let Some((long, short)) = snapshot.no_contrast() {
        let room = canvas.width().saturating_sub(extra.width() + 20);
        extra.put(format!("  {}", if long.len() <= room { long } else { short }), theme.warn);
    }
    let beside = canvas.width() >= 80 && canvas.height() < 8;
    if beside {
        canvas.rule(
            "4 Quadrants",
            extra,
            &[("", "share of row, evidence of steps"), ("n", "next ≠")],
            focus,
        );
        flat(snapshot, canvas);
    } else {
        canvas.rule("4 Quadrants", extra, &[("n", "next ≠")], focus);
        table(snapshot, canvas);
    }
}

/// Count and share of each bucket, in display order.
fn cells(tally: &Tally) -> [(u64, bool); 5] {
    [
        (tally.both_pos, false),
        (tally.rescued, true),
        (tally.penalized, true),
        (tally.both_neg, false),
        (tally.inside(), false),
    ]
}

fn bucket_cells(row: &mut Row, tally: &Tally, widths: [usize; 5], shares: bool, theme: &Theme) {
    for ((n, loud), width) in cells(tally).into_iter().zip(widths) {
        let style = match (n, loud) {
            (0, _) => theme.dim,
            (_, true) => theme.strong,
            _ => theme.text,
        };
        let number = count(n);
        let both = format!("{number} {:>4}", percent(n, tally.scored));
        let text = if shares && n > 0 && both.len() < width { both } else { number };
        row.right(&text, width, style);
    }
}

/// Two lines and a header, with the evidence of the steps beside them.
fn flat(snapshot: &Snapshot, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let most = snapshot.outcomes.iter().map(|t| t.scored).max().unwrap_or(0);
    // Counts of four digits and more take their room from the penalized, whose name is the longest.
    let n = digits(most).clamp(3, 6);
    let widths = [9, 8, 10 - (n - 3), 8, 7];
    let mut header = Row::new();
    header.gap(2 + n);
    let penalized = if n > 3 { "penal." } else { "penalized" };
    for (name, width) in ["both+", "rescued", penalized, "both−", "inside"].iter().zip(widths) {
        header.right(name, width, theme.dim);
    }
    header.put(" │", theme.dim);
    let names = Evidence::ALL.map(|e| format!("{}{}", glyphs::evidence(Some(e)), e.name()));
    for (i, name) in names.iter().enumerate() {
        header.put(if i == 0 { "" } else { " " }, theme.dim);
        header.put(name.clone(), theme.dim);
    }
    canvas.row(1, &header);
    let sides = snapshot.outcomes.iter().zip(&snapshot.outcome_evidence);
    for (y, ((tally, evidence), (glyph, style))) in
        sides.zip([("✓", theme.pos), (failed(snapshot.truncated()), theme.neg)]).enumerate()
    {
        let mut row = Row::new();
        // Two marks begin one cell further left: the numbers stay where they are.
        row.right(glyph, 2, style);
        row.right(&count(tally.scored), n, theme.text);
        bucket_cells(&mut row, tally, widths, true, &theme);
        row.put(" │", theme.dim);
        for (i, (name, &n)) in names.iter().zip(evidence).enumerate() {
            let width = crate::export::text::width(name) + usize::from(i > 0);
            let style = if n > 0 { theme.text } else { theme.dim };
            row.right(&count(u64::from(n)), width, style);
        }
        canvas.row(2 + y, &row);
    }
}

/// A full table: outcomes, their sum, evidence classes.
fn table(snapshot: &Snapshot, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let label = 11;
    let n = digits(snapshot.row.steps as u64).max(3) + 1;
    let room = canvas.width().saturating_sub(label + n + 1);
    // With shares where they fit: a count, a blank, up to `100%`.
    let shares = room >= 37;
    let widths = if shares {
        let (more, rest) = ((room - 37) / 5, (room - 37) % 5);
        let [a, b, c, d, e] = [8, 8, 7, 8, 6].map(|w| w + more);
        [a, b, c, d, e + rest]
    } else {
        [room / 5; 5]
    };
    let mut header = Row::new();
    header.gap(label).right("n", n, theme.dim);
    let names = if shares {
        ["both+", "rescued", "penal.", "both−", "inside"]
    } else {
        ["++", "−+", "+−", "−−", "in"]
    };
    for (name, width) in names.into_iter().zip(widths) {
        let full = if name == "penal." && width > 9 { "penalized" } else { name };
        header.right(full, width, theme.dim);
    }
    canvas.row(1, &header);
    let mut y = 2;
    let mut line = |canvas: &mut Canvas, head: &str, style, tally: &Tally| {
        let mut row = Row::new();
        row.gap(1).left(head, label - 1, style);
        row.right(&count(tally.scored), n, theme.text);
        bucket_cells(&mut row, tally, widths, shares, &theme);
        canvas.row(y, &row);
        y += 1;
    };
    let [ok, bad] = &snapshot.outcomes;
    line(canvas, "✓", theme.pos, ok);
    line(canvas, failed(snapshot.truncated()), theme.neg, bad);
    if canvas.height() >= 5 {
        let mut total = *ok;
        total.merge(bad);
        line(canvas, "Σ", theme.text, &total);
    }
    for (class, tally) in Evidence::ALL.into_iter().zip(&snapshot.by_evidence) {
        let name = format!("{} {}", glyphs::evidence(Some(class)), class.name());
        line(canvas, &name, theme.text, tally);
    }
}
