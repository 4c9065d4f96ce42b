//! Rollouts side by side, aligned on the state signature, and the ways that leave the state where they
//! part.

use super::pairs;
use crate::analysis::align::{AlignedRow, ways};
use crate::export::text;
use crate::graph::Evidence;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs::{self, Fill, bar};
use crate::tui::labels::{self, Elision};
use crate::tui::model::Model;
use crate::tui::numbers::{plain, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// Cells of the state at the left.
const STATE: usize = 5;

/// A line of the aligned part: a row, or what stands between rows.
enum Line {
    /// A row of the alignment.
    Row(usize),
    /// The rollouts part at the row above.
    Part(usize),
    /// No state is shared any more.
    Alone,
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let alignment = &model.comparing.alignment;
    let mut extra = Row::new();
    for &r in &alignment.rollouts {
        extra.put(format!("{} ", snapshot.name(r, 14)), theme.title);
    }
    let only = model.comparing.only_here;
    let about = if only { " steps only here" } else { " aligned on state signature" };
    extra.put(about, if only { theme.strong } else { theme.dim });
    let own = if only { "all steps" } else { "steps only here" };
    canvas.rule(
        "| Compare",
        extra,
        &[("hl", "rollout"), ("f", own), ("d", "next divergence")],
        focus,
    );
    let n = alignment.rollouts.len();
    if n < 2 {
        let several = |g: &crate::rollout::Group| {
            g.rollouts.iter().filter(|r| !r.steps.is_empty()).count() > 1
        };
        let key = match super::to_a_group(model, several) {
            "W lists what the load says" => "| goes back",
            key => key,
        };
        canvas.empty(1, &[&format!("this group has one rollout: {key}")]);
        return;
    }
    let width = canvas.width().saturating_sub(STATE);
    let column = (width / n).max(16);
    let shown = (width / column).min(n).max(1);
    let first = first_in_sight(model.comparing.column, n, shown);
    header(snapshot, model, canvas, first, shown, column);
    let lines = lines(model);
    let here = lines
        .iter()
        .position(|l| matches!(l, Line::Row(i) if *i == model.comparing.at))
        .unwrap_or(0);
    let ways = ways_rows(model, snapshot);
    let height = canvas.height().saturating_sub(2);
    let below = if height >= 12 { ways.len().min(height / 2).min(12) } else { 0 };
    let spare = height.saturating_sub(below + lines.len().max(8));
    let paired = model.comparing.pairs.rollouts.len();
    // Rule, header, and two rows at least.
    let table = if spare >= 4 { spare.min(paired + 2) } else { 0 };
    let height = height - below - table;
    let top = first_in_sight(here, lines.len(), height);
    let level = elision(model, snapshot, column);
    for (y, line) in lines.iter().skip(top).take(height).enumerate() {
        let row = match line {
            Line::Row(i) => cells(model, snapshot, *i, (first, shown, column), level, &theme),
            Line::Part(i) => part(model, snapshot, *i, canvas.width(), &theme),
            Line::Alone => {
                let mut row = Row::new();
                row.gap(1).left("└", STATE - 1, theme.dim);
                let long = "from here on no state is shared; rows follow each rollout's own steps";
                let fits = STATE + text::width(long) <= canvas.width();
                row.put(if fits { long } else { "no state is shared from here on" }, theme.dim);
                row
            }
        };
        canvas.row(y + 2, &row);
    }
    if table > 0 {
        let mut part = canvas.part(0, 2 + height + below, canvas.width(), table);
        pairs::draw(model, snapshot, &mut part);
    }
    if below > 0 {
        let mut part = canvas.part(0, 2 + height, canvas.width(), below);
        for (y, row) in ways.into_iter().take(below).enumerate() {
            match row {
                WayLine::Head(title) => part.rule(&title, Row::new(), &[], false),
                WayLine::Row(row, selected) => part.draw(y, &row, selected),
            }
        }
    }
}

fn lines(model: &Model) -> Vec<Line> {
    let rows = &model.comparing.alignment.rows;
    let last_shared = rows.iter().rposition(|r| r.state.is_some());
    let mut lines = Vec::new();
    if model.comparing.only_here {
        return model.comparing.listed().into_iter().map(Line::Row).collect();
    }
    for (i, row) in rows.iter().enumerate() {
        if i == last_shared.map_or(0, |l| l + 1) {
            lines.push(Line::Alone);
        }
        lines.push(Line::Row(i));
        if row.diverges() {
            lines.push(Line::Part(i));
        }
    }
    lines
}

fn header(
    snapshot: &Snapshot,
    model: &Model,
    canvas: &mut Canvas,
    first: usize,
    shown: usize,
    column: usize,
) {
    let theme = *canvas.theme;
    let mut row = Row::new();
    row.gap(STATE);
    for (k, &r) in model.comparing.alignment.rollouts.iter().enumerate().skip(first).take(shown) {
        let group = &snapshot.analysis.group;
        let Some(rollout) = group.rollouts.get(r) else {
            continue;
        };
        let mut head = Row::new();
        let style = if k == model.comparing.column { theme.title } else { theme.text };
        head.put(super::mark(k == model.comparing.column), theme.text);
        head.put(snapshot.name(r, column.saturating_sub(14)), style);
        let good = rollout.outcome == crate::rollout::Outcome::Success;
        head.put(
            format!(" {}", glyphs::outcome(rollout.outcome)),
            if good { theme.pos } else { theme.neg },
        );
        let steps = rollout.steps.len();
        let full = format!("  {steps} step{}", if steps == 1 { "" } else { "s" });
        if head.width() + full.len() < column {
            head.put(full, theme.dim);
        }
        let g0 = snapshot.rollouts.get(r).and_then(|d| d.g0);
        if let Some(g0) = g0.map(|g| format!("  G_0 {}", plain(g, 3)))
            && head.width() + g0.len() < column
        {
            head.put(g0, theme.dim);
        }
        let end = row.width() + column;
        row.append(head).to(end);
    }
    canvas.row(1, &row);
}

/// One elision for the whole pane.
fn elision(model: &Model, snapshot: &Snapshot, column: usize) -> Elision {
    let room = column.saturating_sub(5 + 7 + snapshot.widths.t);
    let labels: Vec<String> = model
        .comparing
        .alignment
        .rows
        .iter()
        .take(400)
        .flat_map(|r| r.cells.iter().flatten())
        .map(|&s| snapshot.analysis.action_label(s))
        .collect();
    labels::elision(&labels.iter().map(|l| (l.as_str(), room)))
}

fn cells(
    model: &Model,
    snapshot: &Snapshot,
    at: usize,
    (first, shown, column): (usize, usize, usize),
    level: Elision,
    theme: &Theme,
) -> Row {
    let analysis = &snapshot.analysis;
    let mut row = Row::new();
    let Some(AlignedRow { state, cells, .. }) = model.comparing.alignment.rows.get(at) else {
        return row;
    };
    let here = at == model.comparing.at;
    row.put(super::mark(here), theme.text);
    // Where only the selected rollout is listed, its state is that of the row, as in the ways below.
    let comparing = &model.comparing;
    let own = cells.get(comparing.column).copied().flatten().filter(|_| comparing.only_here);
    let state = state.or_else(|| own.map(|s| analysis.graph.state_of(s)));
    let name = state.map_or_else(String::new, |s| format!("s{s}"));
    row.left(&name, STATE - 1, if here { theme.title } else { theme.dim });
    for (k, cell) in cells.iter().enumerate().skip(first).take(shown) {
        let end = row.width() + column;
        let selected = here && k == model.comparing.column;
        if let Some(step) = *cell {
            let class = analysis.graph.evidence.get(step).copied().flatten();
            let rollout = analysis.graph.rollout_of(step);
            let start = analysis.group.rollouts.get(rollout).map_or(0, |r| r.steps.start);
            let value = analysis.y_column().get(step);
            let weak = matches!(class, None | Some(Evidence::Own | Evidence::Single));
            let mut style = if weak { theme.dim } else { theme.text };
            if selected {
                style = style.patch(theme.select);
            }
            let room = column.saturating_sub(5 + 7 + snapshot.widths.t);
            let t = (step - start.min(step)).to_string();
            row.right(&t, snapshot.widths.t, theme.dim).gap(1);
            let colour = value.map_or(theme.dim, |a| theme.of_sign(a));
            row.put(glyphs::evidence(class).to_string(), colour).gap(1);
            row.left(&labels::label(&analysis.action_label(step), level, room), room, style);
            match value {
                Some(a) => row.right(&signed(a, 3), 7, colour),
                None => row.right("·", 7, theme.dim),
            };
        } else if selected {
            row.put("·", theme.select);
        }
        row.to(end);
    }
    row
}

fn part(model: &Model, snapshot: &Snapshot, at: usize, width: usize, theme: &Theme) -> Row {
    let analysis = &snapshot.analysis;
    let mut row = Row::new();
    let Some(aligned) = model.comparing.alignment.rows.get(at) else {
        return row;
    };
    let Some(state) = aligned.state else {
        return row;
    };
    let visits = analysis.graph.state_count(state);
    let v = analysis.values.state(state);
    let mean = if v.n > 0 { format!(", V {}", plain(v.mean, 3)) } else { String::new() };
    let (ways, here, all) = (aligned.ways, visits.rollouts, snapshot.row.scored);
    let long = format!("╌╌ {ways} ways at s{state}, {here} of {all} rollouts were here{mean}");
    let text = if text::width(&long) + STATE <= width {
        long
    } else {
        format!("╌╌ {ways} ways, {here}/{all} were here{mean}")
    };
    row.gap(1).left("⋎", STATE - 1, theme.warn);
    row.put(text, theme.warn).gap(1);
    let rest = width.saturating_sub(row.width() + 1);
    row.put("╌".repeat(rest), theme.dim);
    row
}

enum WayLine {
    Head(String),
    Row(Row, bool),
}

/// The ways out of the state of the selected row.
fn ways_rows(model: &Model, snapshot: &Snapshot) -> Vec<WayLine> {
    let analysis = &snapshot.analysis;
    let theme = model.look.styles();
    let comparing = &model.comparing;
    let Some(row) = comparing.alignment.rows.get(comparing.at) else {
        return Vec::new();
    };
    let step = row.cells.get(comparing.column).copied().flatten();
    let Some(state) = row.state.or_else(|| step.map(|s| analysis.graph.state_of(s))) else {
        return Vec::new();
    };
    let list = ways(analysis, state);
    if list.is_empty() {
        return Vec::new();
    }
    let name = text::line(&analysis.settings.y).into_owned();
    let mut out = vec![WayLine::Head(format!(
        "Ways at s{state}  {} of {} rollouts were here  {}",
        analysis.graph.state_count(state).rollouts,
        snapshot.row.scored,
        text::cut(&text::line(&analysis.state_label(list.first().map_or(0, |w| w.step))), 60),
    ))];
    let room = usize::from(model.area.width);
    // Half of a bar: what the texts leave of a wide screen.
    let half = (room / 12).clamp(3, 20);
    let numbers = snapshot.widths.visits + 1 + 8 + 9 + 2 + 2 * half + 2;
    let label = (room.saturating_sub(numbers + 2) * 3 / 5).clamp(12, 60);
    let taken = room.saturating_sub(numbers + label + 3);
    let mut head = Row::new();
    head.gap(1).left("action", label, theme.dim).gap(1).left("taken by", taken, theme.dim);
    head.right("N", snapshot.widths.visits + 1, theme.dim).right("Q", 8, theme.dim);
    head.right("A", 9, theme.dim).gap(2).put(name, theme.dim);
    out.push(WayLine::Row(head, false));
    let own = step.map(|s| analysis.graph.pair_of(s));
    let scale = snapshot.scale(snapshot.y(), false);
    for way in list {
        let mut line = Row::new();
        line.put(super::mark(own == Some(way.pair)), theme.text);
        let full = analysis.action_label(way.step);
        line.left(&labels::label(&full, Elision::Path, label), label, theme.text).gap(1);
        let names: Vec<String> = way
            .rollouts
            .iter()
            .filter_map(|&r| {
                let outcome = analysis.group.rollouts.get(r)?.outcome;
                Some(format!("{}{}", snapshot.name(r, 12), glyphs::outcome(outcome)))
            })
            .collect();
        let fits = text::width(&names.join(" ")) <= taken;
        let told = if fits { names.join(" ") } else { format!("{} rollouts", names.len()) };
        line.left(&told, taken, theme.dim);
        let (q, v) = (analysis.values.pair(way.pair), analysis.values.state(state));
        line.right(&format!("{}/{}", q.n, v.n), snapshot.widths.visits + 1, theme.text);
        line.right(&plain(q.mean, 3), 8, theme.dim);
        let value = analysis.y_column().get(way.step);
        match value {
            Some(a) => line.right(&signed(a, 3), 9, theme.of_sign(a)),
            None => line.right("·", 9, theme.dim),
        };
        let class = analysis.graph.evidence.get(way.step).copied().flatten();
        let fill = class.map_or(Fill::Slim, Fill::Class);
        let (left, right) = bar(value.unwrap_or(0.0), scale, half, fill);
        line.gap(2).solid(left, theme.neg).put("│", theme.dim).solid(right, theme.pos);
        out.push(WayLine::Row(line, own == Some(way.pair)));
    }
    out
}
