//! Below the list of groups: how many rollouts meet at a state, and the quadrants of all groups that
//! have successes and failures.

use crate::analysis::Tally;
use crate::analysis::sizes::{SizeRow, merge_sizes};
use crate::analysis::skill::{Aggregate, Verdict};
use crate::tui::canvas::{Canvas, Row};
use crate::tui::model::Model;
use crate::tui::numbers::{count, percent, signed_brief};
use crate::tui::snapshot::{Summary, failed};
use crate::tui::theme::Theme;

/// Draws the part.
pub fn draw(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let done: Vec<&Summary> = model.groups.rows.iter().flatten().map(|s| &**s).collect();
    let mixed: Vec<&Summary> = model.counted();
    let left = canvas.width() * 2 / 5;
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

fn histogram(mixed: &[&Summary], canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut extra = Row::new();
    extra.put("rollouts at a state, mixed groups", theme.dim);
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
    head.right("rollouts", 10, theme.dim).right("states", 8, theme.dim);
    head.right("steps", 8, theme.dim);
    canvas.row(1, &head);
    let bar = canvas.width().saturating_sub(10 + 8 + 8 + 5 + 2) as u64;
    for (y, (name, states, steps)) in rows.into_iter().enumerate() {
        let mut row = Row::new();
        row.right(&name, 10, theme.text).right(&states.to_string(), 8, theme.text);
        row.right(&steps.to_string(), 8, theme.text);
        row.right(&percent(steps, total), 5, theme.dim).gap(1);
        let cells = (steps * bar + most / 2) / most;
        row.put("█".repeat((cells.max(u64::from(steps > 0))) as usize), theme.pos);
        canvas.row(y + 2, &row);
    }
}

fn aggregate(model: &Model, mixed: &[&Summary], uniform: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut extra = Row::new();
    let kind = if model.groups.uniform_counts { "counted" } else { "mixed" };
    extra.put(format!("{} {kind}", mixed.len()), theme.text);
    if uniform > 0 {
        extra.put(format!(", {uniform} uniform left out"), theme.dim);
    }
    canvas.rule("Aggregate quadrants", extra, &[], false);
    let mut sides = [Tally::default(); 2];
    let mut evidence = [0_u64; 4];
    for summary in mixed {
        for (sum, more) in sides.iter_mut().zip(&summary.outcomes) {
            sum.merge(more);
        }
        for (sum, more) in evidence.iter_mut().zip(summary.row.evidence) {
            *sum += u64::from(more);
        }
    }
    let width = (canvas.width().saturating_sub(10) / 5).clamp(6, 13);
    let names = if width >= 11 {
        ["both+", "rescued", "penalized", "both−", "inside"]
    } else {
        ["++", "−+", "+−", "−−", "in"]
    };
    let mut head = Row::new();
    head.gap(3).right("n", 7, theme.dim);
    for name in names {
        head.right(name, width, theme.dim);
    }
    canvas.row(1, &head);
    let [ok, bad] = sides;
    let mut all = ok;
    all.merge(&bad);
    let cross = failed(mixed.iter().map(|s| s.truncated).sum());
    let sides = [("✓", theme.pos, ok), (cross, theme.neg, bad), ("Σ", theme.text, all)];
    for (y, (mark, style, tally)) in sides.into_iter().enumerate() {
        canvas.row(2 + y, &line(mark, style, &tally, width, &theme));
    }
    let mut row = Row::new();
    row.gap(1);
    for (class, n) in crate::graph::Evidence::ALL.into_iter().zip(evidence) {
        let glyph = crate::tui::glyphs::evidence(Some(class));
        row.put(format!("{glyph} {} ", class.name()), theme.dim);
        row.put(format!("{}   ", count(n)), theme.text);
    }
    canvas.row(6, &row);
    let mut row = Row::new();
    row.gap(1);
    let known = model.groups.totals.as_ref().filter(|(key, _)| *key == model.groups.key);
    if let Some((_, totals)) = known {
        // Over the groups: how much the shares of all steps would vary.
        let mut line = Row::new();
        line.gap(1).left("95%", 4, theme.dim).gap(5);
        let [both_pos, rescued, both_neg, penalized] = totals.quadrants;
        for share in [both_pos, rescued, penalized, both_neg] {
            let told = share.interval.map_or_else(String::new, |i| {
                format!("{:.0}..{:.0}", 100.0 * i.low, 100.0 * i.high)
            });
            line.right(&told, width, theme.dim);
        }
        canvas.row(5, &line);
    }
    match known.map(|(_, totals)| (&totals.skill, totals.skill.steps.skill())) {
        Some((skill, Some(value))) => {
            let brief = |x: Option<f64>| x.map_or_else(|| "n/a".to_owned(), signed_brief);
            row.put("held-out skill ", theme.dim).put(signed_brief(value), theme.title);
            if let Some(i) = skill.interval {
                let ends = format!(" [{}, {}]", signed_brief(i.low), signed_brief(i.high));
                row.put(ends, theme.dim);
            }
            row.put(format!("  null {}", brief(skill.null)), theme.dim);
            row.put(format!("  ceiling {}", brief(skill.ceiling)), theme.dim);
            row.put(format!("  {} groups", skill.groups), theme.dim);
            let verdict = Aggregate::verdict(skill.groups, skill.interval);
            if verdict == Verdict::TooFewGroups {
                row.put(", no verdict", theme.warn);
            }
        }
        Some(_) => {
            row.put("held-out skill: no group has successes and failures", theme.dim);
        }
        None => {
            row.put("held-out skill: when all groups are computed …", theme.dim);
        }
    }
    canvas.row(8, &row);
}

fn line(
    mark: &str,
    style: ratatui::style::Style,
    tally: &Tally,
    width: usize,
    theme: &Theme,
) -> Row {
    let mut row = Row::new();
    row.gap(1).left(mark, 2, style).right(&count(tally.scored), 7, theme.text);
    let cells = [
        (tally.both_pos, false),
        (tally.rescued, true),
        (tally.penalized, true),
        (tally.both_neg, false),
        (tally.inside(), false),
    ];
    for (n, loud) in cells {
        let both = format!("{} {:>4}", count(n), percent(n, tally.scored));
        let text = if n > 0 && both.len() < width { both } else { count(n) };
        let style = match (n, loud) {
            (0, _) => theme.dim,
            (_, true) => theme.strong,
            _ => theme.text,
        };
        row.right(&text, width, style);
    }
    row
}
