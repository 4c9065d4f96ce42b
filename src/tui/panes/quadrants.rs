//! X against Y: how many steps agree, are rescued, are penalized, or are inside the thresholds; by
//! outcome, and by the evidence that stands behind them.

use crate::analysis::Tally;
use crate::export::text::width as width_of;
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
const fn cells(tally: &Tally) -> [(u64, bool); 5] {
    [
        (tally.both_pos, false),
        (tally.rescued, true),
        (tally.penalized, true),
        (tally.both_neg, false),
        (tally.inside(), false),
    ]
}

/// How the buckets are written: one way for a whole table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Buckets {
    /// Cells of each.
    pub widths: [usize; 5],
    /// With shares of the row.
    pub shares: bool,
    /// Cells that a share takes at least.
    percent: usize,
}

impl Buckets {
    /// Counts with shares in these cells where all of them fit; else in the cells that they need, if
    /// there are so many; else counts alone. `names` stand above.
    pub fn fit(tallies: &[Tally], wanted: [usize; 5], room: usize, names: [&str; 5]) -> Self {
        for percent in [4, 0] {
            let needs = names.map(|name| 1 + width_of(name));
            let needs = tallies.iter().fold(needs, |mut needs, tally| {
                for (need, (n, _)) in needs.iter_mut().zip(cells(tally)) {
                    *need = (*need).max(1 + with_share(n, tally.scored, percent).len());
                }
                needs
            });
            if needs.iter().zip(wanted).all(|(need, width)| *need <= width) {
                return Self { widths: wanted, shares: true, percent };
            }
            if let Some(spare) = room.checked_sub(needs.iter().sum()) {
                return Self { widths: needs.map(|n| n + spare / 5), shares: true, percent };
            }
        }
        Self::counts(wanted)
    }

    /// Counts alone.
    pub const fn counts(widths: [usize; 5]) -> Self {
        Self { widths, shares: false, percent: 0 }
    }

    /// Adds the buckets of a tally to its row.
    pub fn put(&self, row: &mut Row, tally: &Tally, theme: &Theme) {
        for ((n, loud), width) in cells(tally).into_iter().zip(self.widths) {
            let style = match (n, loud) {
                (0, _) => theme.dim,
                (_, true) => theme.strong,
                _ => theme.text,
            };
            let text = if self.shares && n > 0 {
                with_share(n, tally.scored, self.percent)
            } else {
                count(n)
            };
            row.right(&text, width, style);
        }
    }
}

fn with_share(n: u64, of: u64, width: usize) -> String {
    if n == 0 { String::new() } else { format!("{n} {:>width$}", percent(n, of)) }
}

/// Two lines and a header, with the evidence of the steps beside them.
fn flat(snapshot: &Snapshot, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let n = digits(snapshot.outcomes.iter().map(|t| t.scored).max().unwrap_or(0)).max(3);
    let all = ["both+", "rescued", "penalized", "both−", "inside"];
    let short = ["++", "−+", "+−", "−−", "in"];
    let long = Evidence::ALL.map(|e| format!("{}{}", glyphs::evidence(Some(e)), e.name()));
    let brief = ["█comp", "▒shar", "∷self", "═sing"].map(str::to_owned);
    // Wide counts take their room from names, never from the shares.
    let choices = [(all, &long), (short, &long), (short, &brief)].map(|(heads, names)| {
        let evidence = names.iter().map(|n| width_of(n) + 1).sum::<usize>() + 1;
        let room = canvas.width().saturating_sub(2 + n + evidence);
        let wanted = [9, 8, 10 - (n.min(6) - 3), 8, 7];
        (Buckets::fit(&snapshot.outcomes, wanted, room, heads), heads, names)
    });
    let [.., last] = choices;
    let (buckets, heads, names) = choices.into_iter().find(|c| c.0.shares).unwrap_or(last);
    let mut header = Row::new();
    header.left(if buckets.shares { "" } else { " no %" }, 2 + n, theme.dim);
    for (name, width) in heads.iter().zip(buckets.widths) {
        header.right(name, width, theme.dim);
    }
    header.put(" │", theme.dim);
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
        buckets.put(&mut row, tally, &theme);
        row.put(" │", theme.dim);
        for (i, (name, &n)) in names.iter().zip(evidence).enumerate() {
            let width = width_of(name) + usize::from(i > 0);
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
    let [ok, bad] = &snapshot.outcomes;
    let mut total = *ok;
    total.merge(bad);
    let mut tallies = vec![*ok, *bad, total];
    tallies.extend(snapshot.by_evidence);
    // With shares where all of them fit: a count, a blank, up to `100%`.
    let wide = room >= 37;
    let (more, rest) = (room.saturating_sub(37) / 5, room.saturating_sub(37) % 5);
    let [a, b, c, d, e] = [8, 8, 7, 8, 6].map(|w| w + more);
    let long = ["both+", "rescued", if c > 9 { "penalized" } else { "penal." }, "both−", "inside"];
    let short = ["++", "−+", "+−", "−−", "in"];
    let buckets = if wide { [a, b, c, d, e + rest] } else { [room / 5; 5] };
    let (mut buckets, mut names) = (Buckets::fit(&tallies, buckets, room, long), long);
    if !buckets.shares {
        buckets = Buckets::fit(&tallies, [room / 5; 5], room, short);
        names = short;
    }
    let mut header = Row::new();
    // Counts alone do not add up to what the shares would say.
    header.left(if buckets.shares { "" } else { " no shares" }, label, theme.dim);
    header.right("n", n, theme.dim);
    for (name, width) in names.into_iter().zip(buckets.widths) {
        header.right(name, width, theme.dim);
    }
    canvas.row(1, &header);
    let mut y = 2;
    let mut line = |canvas: &mut Canvas, head: &str, style, tally: &Tally| {
        let mut row = Row::new();
        row.gap(1).left(head, label - 1, style);
        row.right(&count(tally.scored), n, theme.text);
        buckets.put(&mut row, tally, &theme);
        canvas.row(y, &row);
        y += 1;
    };
    line(canvas, "✓", theme.pos, ok);
    line(canvas, failed(snapshot.truncated()), theme.neg, bad);
    if canvas.height() >= 5 {
        line(canvas, "Σ", theme.text, &total);
    }
    for (class, tally) in Evidence::ALL.into_iter().zip(&snapshot.by_evidence) {
        let name = format!("{} {}", glyphs::evidence(Some(class)), class.name());
        line(canvas, &name, theme.text, tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(both_pos: u64, rescued: u64) -> Tally {
        let scored = both_pos + rescued;
        Tally { steps: scored, scored, both_pos, rescued, ..Tally::default() }
    }

    #[test]
    fn shares_stand_in_all_cells_or_in_none() {
        let names = ["++", "−+", "+−", "−−", "in"];
        let line = |buckets: Buckets, tally: &Tally| {
            let theme = Theme::new(crate::tui::ThemeId::Mono, crate::tui::Depth::None);
            let mut row = Row::new();
            buckets.put(&mut row, tally, &theme);
            row.text()
        };
        // 999 of 1000 is 100 %: eight cells and a blank; 1 is 0 %: six, in eight.
        let wide = tally(999, 1);
        let fits = Buckets::fit(&[wide], [9, 8, 5, 5, 5], 32, names);
        assert!(fits.shares);
        assert_eq!(line(fits, &wide), " 999 100%  1   0%    ·    ·    ·");
        // Wanted are seven each: the others give way.
        let moved = Buckets::fit(&[wide], [7; 5], 35, names);
        assert!(moved.shares && moved.widths.iter().sum::<usize>() <= 35);
        assert!(line(moved, &wide).contains("999 100%"));
        // Without any room the counts stand alone, in every cell.
        let counts = Buckets::fit(&[wide], [4; 5], 20, names);
        assert_eq!(
            (counts.shares, line(counts, &wide)),
            (false, " 999   1   ·   ·   ·".to_owned())
        );
    }
}
