//! Below the list of groups: how many rollouts meet at a state, the quadrants of all groups that have
//! successes and failures, by the evidence behind them, and what explains where X and Y disagree.

use super::quadrants::Buckets;
use crate::analysis::Tally;
use crate::analysis::aggregate::Totals;
use crate::analysis::sizes::{Backing, REASONS, SizeRow, merge_sizes};
use crate::analysis::skill::{Aggregate, Verdict};
use crate::export::text::width as width_of;
use crate::graph::Evidence;
use crate::rollout::plural;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::glyphs;
use crate::tui::model::Model;
use crate::tui::numbers::{count, digits, percent, signed_brief};
use crate::tui::snapshot::{Summary, failed};
use crate::tui::theme::Theme;

/// Rows of the part: rule, head, three outcomes, intervals, four classes, two of reasons, skill.
pub const ROWS: usize = 13;

/// Draws the part.
pub fn draw(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let done: Vec<&Summary> = model.groups.rows.iter().flatten().map(|s| &**s).collect();
    let mixed: Vec<&Summary> = model.counted();
    // The histogram needs its numbers; the bars take what is left.
    let left = if canvas.width() < 100 { 30 } else { canvas.width() * 2 / 5 };
    let height = canvas.height();
    for y in 1..height {
        canvas.text(left, y, "│", theme.dim);
    }
    let mut part = canvas.part(0, 0, left, height);
    histogram(&mixed, &mut part);
    canvas.text(left, 0, if model.look.ascii { "│" } else { "┬" }, theme.dim);
    let mut part = canvas.part(left + 1, 0, canvas.width() - left - 1, height);
    aggregate(model, &mixed, done.len() - mixed.len(), &mut part);
}

/// The longest of some texts that fits, or nothing.
fn fitting<'a>(texts: &[&'a str], room: usize) -> &'a str {
    texts.iter().find(|t| width_of(t) <= room).copied().unwrap_or_default()
}

fn histogram(mixed: &[&Summary], canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut extra = Row::new();
    let what = ["rollouts at a state, mixed groups", "rollouts at a state", "mixed groups"];
    extra.put(fitting(&what, canvas.width().saturating_sub(16)), theme.dim);
    canvas.rule("Group size", extra, &[], false);
    let mut sizes: Vec<SizeRow> = Vec::new();
    for summary in mixed {
        merge_sizes(&mut sizes, &summary.sizes);
    }
    if sizes.is_empty() {
        canvas.empty(1, &["no group has successes and failures"]);
        return;
    }
    let room = canvas.height().saturating_sub(2);
    // Where not every size has a row, the largest share the last one.
    let several = sizes.len() > room;
    let (shown, rest) = sizes.split_at(if several { room.saturating_sub(1) } else { sizes.len() });
    let mut rows: Vec<(String, u64, u64)> = shown
        .iter()
        .map(|r| (r.rollouts.to_string(), u64::from(r.states), u64::from(r.steps)))
        .collect();
    if let Some(first) = rest.first() {
        let states = rest.iter().map(|r| u64::from(r.states)).sum();
        let steps = rest.iter().map(|r| u64::from(r.steps)).sum();
        rows.push((format!("{}+", first.rollouts), states, steps));
    }
    let total: u64 = rows.iter().map(|r| r.2).sum();
    let most = rows.iter().map(|r| r.2).max().unwrap_or(1).max(1);
    let mut head = Row::new();
    let [first, second, third] = if canvas.width() < 33 { [9, 7, 7] } else { [10, 8, 8] };
    head.right("rollouts", first, theme.dim).right("states", second, theme.dim);
    head.right("steps", third, theme.dim).right("share", 6, theme.dim);
    canvas.row(1, &head);
    let bar = canvas.width().saturating_sub(first + second + third + 6 + 2) as u64;
    for (y, (name, states, steps)) in rows.into_iter().enumerate() {
        let mut row = Row::new();
        row.right(&name, first, theme.text).right(&states.to_string(), second, theme.text);
        row.right(&steps.to_string(), third, theme.text);
        row.right(&percent(steps, total), 6, theme.dim).gap(1);
        if bar > 0 {
            let cells = (steps * bar + most / 2) / most;
            row.put("█".repeat((cells.max(u64::from(steps > 0))) as usize), theme.pos);
        }
        canvas.row(y + 2, &row);
    }
}

fn aggregate(model: &Model, mixed: &[&Summary], uniform: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let kind = if model.groups.uniform_counts { "counted" } else { "mixed" };
    let counted = format!("{} {kind}", mixed.len());
    let told = ["uniform left out", "uniform out"].map(|out| format!("{counted}, {uniform} {out}"));
    let [long, short] = &told;
    let choices = if uniform > 0 { vec![&**long, short, &counted] } else { vec![&*counted] };
    let mut extra = Row::new();
    extra.put(fitting(&choices, canvas.width().saturating_sub(24)), theme.text);
    canvas.rule("Aggregate quadrants", extra, &[], false);
    let mut sides = [Tally::default(); 2];
    let mut backing = Backing::default();
    for summary in mixed {
        for (sum, more) in sides.iter_mut().zip(&summary.outcomes) {
            sum.merge(more);
        }
        backing.merge(&summary.backing);
    }
    let [ok, bad] = sides;
    let mut all = ok;
    all.merge(&bad);
    let narrow = canvas.width() < 60;
    let label = if narrow { 9 } else { 12 };
    let n = digits(all.scored).max(3) + 1;
    let room = canvas.width().saturating_sub(label + n + 1);
    let wanted = [(room / 5).clamp(6, 13); 5];
    let long = ["both+", "rescued", "penalized", "both−", "inside"];
    let short = ["++", "−+", "+−", "−−", "in"];
    let mut tallies = vec![ok, bad, all];
    tallies.extend(backing.evidence);
    // Intervals stand in the same cells and need a blank beside them, too.
    let fits = |names| Buckets::fit(&tallies, wanted, room, names);
    let (buckets, names) = [(fits(long), long), (fits(short), short)]
        .into_iter()
        .find(|(b, _)| b.shares && b.widths.iter().all(|w| *w >= 7))
        .unwrap_or_else(|| (Buckets::counts(cells(room, all)), short));
    let mut head = Row::new();
    head.gap(1).left(if buckets.shares { "" } else { "counts" }, label - 1, theme.dim);
    head.right("n", n, theme.dim);
    for (name, width) in names.into_iter().zip(buckets.widths) {
        head.right(name, width, theme.dim);
    }
    canvas.row(1, &head);
    let cross = failed(mixed.iter().map(|s| s.truncated).sum());
    let mut lines = vec![
        ("✓".to_owned(), theme.pos, ok),
        (cross.to_owned(), theme.neg, bad),
        ("Σ".to_owned(), theme.text, all),
    ];
    for (class, tally) in Evidence::ALL.into_iter().zip(backing.evidence) {
        let name = if narrow && class == Evidence::Compared { "comp." } else { class.name() };
        let glyph = glyphs::evidence(Some(class));
        lines.push((format!("{glyph} {name}"), theme.text, tally));
    }
    let known = model.groups.totals.as_ref().filter(|(key, _)| *key == model.groups.key);
    let totals = known.map(|(_, totals)| &**totals);
    for (y, (name, style, tally)) in lines.iter().enumerate() {
        let mut row = Row::new();
        row.gap(1).left(name, label - 1, *style).right(&count(tally.scored), n, theme.text);
        buckets.put(&mut row, tally, &theme);
        // The intervals of the shares stand below the sums.
        canvas.row(2 + y + usize::from(y >= 3), &row);
    }
    if let Some(totals) = totals {
        canvas.row(5, &intervals(totals, label + n, buckets.widths, &theme));
    }
    let kinds = [("rescued", all.rescued), ("penalized", all.penalized)];
    for (y, (kind, reasons)) in kinds.into_iter().zip(backing.reasons).enumerate() {
        canvas.row(10 + y, &explained(kind, reasons, canvas.width(), &theme));
    }
    canvas.row(12, &skill(totals, canvas.width(), &theme));
}

/// Over the groups: how much the shares of all steps would vary.
fn intervals(totals: &Totals, head: usize, widths: [usize; 5], theme: &Theme) -> Row {
    let mut line = Row::new();
    line.gap(1).left("95% of Σ", head - 1, theme.dim);
    let [both_pos, rescued, both_neg, penalized] = totals.quadrants;
    let shares = [both_pos, rescued, penalized, both_neg];
    let told = |dots: &str| {
        shares.each_ref().map(|share| {
            share.interval.as_ref().map_or_else(String::new, |i| {
                format!("{:.0}{dots}{:.0}%", 100.0 * i.low, 100.0 * i.high)
            })
        })
    };
    // Counts may stand above: the unit stays, the dots give way.
    let long = told("..");
    let fits = long.iter().zip(widths).all(|(t, width)| t.len() < width);
    for (told, width) in if fits { long } else { told("-") }.into_iter().zip(widths) {
        line.right(&told, width, theme.dim);
    }
    line
}

/// Cells of counts without shares: steps inside have no interval and need no more than their number.
fn cells(room: usize, all: Tally) -> [usize; 5] {
    let inside = (digits(all.inside()) + 1).max(3);
    let each = (room.saturating_sub(inside) / 4).clamp(6, 13);
    let inside = room.saturating_sub(4 * each).clamp(inside, 13);
    [each, each, each, each, inside]
}

/// How many disagreements each kind of part explains.
fn explained((name, steps): (&str, u64), reasons: [u64; 4], width: usize, theme: &Theme) -> Row {
    let mut row = Row::new();
    row.gap(1).left(name, 10, theme.text);
    if reasons.iter().all(|n| *n == 0) {
        let none = if steps == 0 { "no step" } else { "by no parts: Y is not rtmc" };
        row.put(none, theme.dim);
        return row;
    }
    let brief = ["comp", "prior", "disc", "shape"];
    let names = if width < 64 { brief } else { REASONS };
    row.put("by ", theme.dim);
    let most = reasons.iter().copied().max();
    for (name, n) in names.iter().zip(reasons) {
        let style = if Some(n) == most { theme.strong } else { theme.text };
        row.put(format!("{name} "), theme.dim);
        row.put(count(n), if n == 0 { theme.dim } else { style }).gap(2);
    }
    row
}

fn skill(totals: Option<&Totals>, width: usize, theme: &Theme) -> Row {
    let mut row = Row::new();
    row.gap(1);
    let Some(totals) = totals else {
        row.put("held-out skill: when all groups are computed …", theme.dim);
        return row;
    };
    let skill = &totals.skill;
    let Some(value) = skill.steps.skill() else {
        row.put("held-out skill: no mixed group", theme.dim);
        return row;
    };
    let brief = |x: Option<f64>| x.map_or_else(|| "n/a".to_owned(), signed_brief);
    let narrow = width < 68;
    row.put(if narrow { "skill " } else { "held-out skill " }, theme.dim);
    row.put(signed_brief(value), theme.title);
    if let Some(i) = skill.interval {
        let ends = format!(" [{}, {}]", signed_brief(i.low), signed_brief(i.high));
        row.put(ends, theme.dim);
    }
    row.put(format!("  null {}", brief(skill.null)), theme.dim);
    row.put(format!("  ceiling {}", brief(skill.ceiling)), theme.dim);
    if !narrow {
        row.put(format!("  {}", plural(skill.groups, "group")), theme.dim);
    }
    let verdict = Aggregate::verdict(skill.groups, skill.interval);
    if verdict == Verdict::TooFewGroups {
        row.put(if narrow { " few" } else { ", no verdict" }, theme.warn);
    }
    row
}
