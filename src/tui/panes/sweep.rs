//! The sweep picture: one row per value of a knob, with bars of what is shared and compared.

use std::fmt::Write as _;

use crate::analysis::sweep::SweepRow;
use crate::export::sweep::Point;
use crate::rollout::plural;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::model::Model;
use crate::tui::numbers::{MINUS, count, percent, plain, signed_brief};
use crate::tui::sweeping::{Axis, Picture, axes};
use crate::tui::theme::Theme;

struct Columns {
    value: usize,
    bar: usize,
    /// States merged against the setting in force: where a signature is turned.
    merged: bool,
    /// Branching states: what gives way first.
    branching: bool,
    /// The rest of the quadrants, skill: what there is room for.
    more: usize,
    /// Cells of a row: a column without room is left out as a whole.
    width: usize,
}

/// A row that takes whole columns only.
struct Whole {
    row: Row,
    width: usize,
    /// Columns that had no room.
    left_out: usize,
}

impl Whole {
    const fn new(row: Row, width: usize) -> Self {
        Self { row, width, left_out: 0 }
    }

    /// Adds a column at the right of its cells, unless it or one before it has no room.
    fn right(&mut self, text: &str, width: usize, style: ratatui::style::Style) -> bool {
        let fits = self.left_out == 0 && self.row.width() + width <= self.width;
        if fits {
            self.row.right(text, width, style);
        } else {
            self.left_out += 1;
        }
        fits
    }
}

/// Draws the pane.
pub fn draw(model: &Model, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let Some(axis) = axes().get(model.sweeping.axis).copied() else {
        return;
    };
    let groups = model.corpus.groups.len();
    let all = model.sweeping.all && groups > 1;
    let mut extra = Row::new();
    extra.put(axis.name(), theme.title);
    extra.put(
        if all { format!("  all {groups} groups") } else { "  this group".to_owned() },
        theme.text,
    );
    let picture = model.sweeping.picture.as_ref();
    if let Some((done, total)) = picture.map(|p| p.progress).filter(|(done, total)| done < total) {
        extra.put(format!("  {done} of {total} analyses …"), theme.dim);
    }
    let scope = if all { "this group" } else { "all groups" };
    let mut hints = vec![("hl", "knob"), ("Enter", "takes it"), ("u", "undo"), ("Space", scope)];
    if groups < 2 {
        hints.pop();
    }
    canvas.rule("w Sweep", extra, &hints, focus);
    let Some(picture) = picture else {
        canvas.empty(1, &["no group was loaded: q quits, then give a path with rollouts"]);
        return;
    };
    let columns = columns(canvas.width(), axis, &picture.points);
    let head = header(axis, &columns, &theme);
    canvas.row(1, &head.row);
    let mut told = Vec::new();
    if canvas.height() >= 10 {
        let found = findings(axis, picture);
        let meaning = found.as_deref().unwrap_or_else(|| axis.meaning());
        let legend = "* in force; flips and faded: values against it; shares of the scored steps";
        let mut legend = legend.to_owned();
        if head.left_out > 0 {
            let _ = write!(legend, "; {}", left_out(head.left_out));
        }
        for line in [meaning, &legend] {
            told.extend(super::warnings::fold(line, canvas.width().saturating_sub(2)));
        }
    }
    if told.is_empty() && head.left_out > 0 {
        told.push(left_out(head.left_out));
    }
    let height = canvas.height().saturating_sub(2 + told.len());
    let first = first_in_sight(model.sweeping.at, picture.points.len(), height);
    let rows = picture.points.iter().zip(&picture.rows).enumerate();
    for (y, (at, ((point, _), row))) in rows.skip(first).take(height).enumerate() {
        let selected = at == model.sweeping.at;
        let line = line(axis, point, row.as_deref(), &columns, selected, &theme);
        canvas.draw(2 + y, &line, selected);
    }
    let top = canvas.height().saturating_sub(told.len());
    for (y, told) in told.into_iter().enumerate() {
        let mut line = Row::new();
        line.gap(1).put(told, theme.dim);
        canvas.row(top + y, &line);
    }
}

/// Whether a row is what is in force, as far as states and actions go.
fn changes_nothing(row: &SweepRow) -> bool {
    (row.states, row.pairs) == row.in_force && row.flips == 0 && row.faded == 0
}

/// What the rows say, once all of them are there: which one merges the most, how many change nothing.
fn findings(axis: Axis, picture: &Picture) -> Option<String> {
    if matches!(axis, Axis::Number { .. }) {
        return None;
    }
    let rows: Vec<&SweepRow> = picture.rows.iter().map(Option::as_deref).collect::<Option<_>>()?;
    let idle = rows.iter().filter(|r| changes_nothing(r)).count();
    if idle == rows.len() {
        return Some("none of these changes a state or an action here".to_owned());
    }
    let idle = rows
        .iter()
        .zip(&picture.points)
        .filter(|(row, (point, _))| changes_nothing(row) && !point.current)
        .count();
    let idle = match idle {
        0 => String::new(),
        1 => "; 1 other changes nothing".to_owned(),
        n => format!("; {n} others change nothing"),
    };
    let (most, (point, _)) = rows.iter().zip(&picture.points).min_by_key(|(r, _)| r.states)?;
    Some(if most.states < most.in_force.0 {
        let told = name(axis, point);
        format!(
            "{told} merges the most: {} for {}{idle}",
            plural(most.states, "state"),
            most.in_force.0
        )
    } else {
        format!("{}: none merges states{idle}", axis.meaning())
    })
}

/// What stands at the left: the value, and the knob where rows differ in it.
fn name(axis: Axis, point: &Point) -> String {
    let told = point.at.iter().map(|(knob, value)| match axis {
        Axis::Coarsest => format!("{knob}={value}"),
        _ => value.clone(),
    });
    told.collect::<Vec<_>>().join(" ")
}

fn columns(
    width: usize,
    axis: Axis,
    points: &[(Point, crate::analysis::AnalysisSettings)],
) -> Columns {
    let value = points.iter().map(|(p, _)| name(axis, p).len()).max().unwrap_or(0).max(5);
    let merged = !matches!(axis, Axis::Number { .. });
    // states, branching, shared, compared, flips, faded, rescued, penalized.
    let fixed = 2 + value + 7 + 7 + 6 + 6 + 7 + 7 + 8 + 7 + 7 * usize::from(merged);
    let branching = fixed <= width;
    let fixed = fixed - 7 * usize::from(!branching);
    let room = width.saturating_sub(fixed + 2);
    // Bars of twelve cells, then the other columns, then longer bars.
    let more = (room.saturating_sub(24) / 7).min(MORE.len());
    let bar = (room.saturating_sub(more * 7) / 2).min(40);
    Columns { value, bar, merged, branching, more, width }
}

fn header(axis: Axis, columns: &Columns, theme: &Theme) -> Whole {
    let mut row = Row::new();
    let what = if axis == Axis::Coarsest { "knob" } else { "value" };
    row.gap(2).left(what, columns.value, theme.dim);
    let mut row = Whole::new(row, columns.width);
    row.right("states", 7, theme.dim);
    if columns.merged {
        row.right("merged", 7, theme.dim);
    }
    if columns.branching {
        row.right("branch", 7, theme.dim);
    }
    for name in ["share", "comp."] {
        if row.right(name, 6, theme.dim) {
            row.row.gap(1 + columns.bar);
        }
    }
    for (name, width) in [("flips", 6), ("faded", 6), ("rescued", 8), ("penal.", 7)] {
        row.right(name, width, theme.dim);
    }
    for name in MORE.iter().take(columns.more) {
        row.right(name, 7, theme.dim);
    }
    row
}

/// Names of the columns that come with room to spare.
const MORE: [&str; 6] = ["skill", "null", "inside", "N(s)", "both+", "both−"];

fn line(
    axis: Axis,
    point: &Point,
    made: Option<&SweepRow>,
    columns: &Columns,
    selected: bool,
    theme: &Theme,
) -> Row {
    let mut row = Row::new();
    row.put(super::mark(selected), theme.text);
    row.put(if point.current { "*" } else { " " }, theme.strong);
    let idle = made.is_some_and(changes_nothing) && !matches!(axis, Axis::Number { .. });
    let style = match (point.current, idle) {
        (true, _) => theme.title,
        (false, true) => theme.dim,
        (false, false) => theme.text,
    };
    row.left(&name(axis, point), columns.value, style);
    let Some(made) = made else {
        row.right("…", 7, theme.dim);
        return row;
    };
    let mut row = Whole::new(row, columns.width);
    row.right(&made.states.to_string(), 7, theme.text);
    if columns.merged {
        let (now, here) = (made.in_force.0, made.states);
        let sign = if here > now { MINUS.to_string() } else { String::new() };
        let style = if here < now { theme.strong } else { theme.dim };
        row.right(&format!("{sign}{}", now.abs_diff(here)), 7, style);
    }
    if columns.branching {
        row.right(&count(made.branching as u64), 7, theme.text);
    }
    let [compared, ..] = made.evidence;
    for (part, glyph) in [(made.shared_steps, "▒"), (compared, "█")] {
        if !row.right(&percent(part, made.scored_steps), 6, theme.text) {
            continue;
        }
        let full = part as usize * columns.bar * 2 / (made.scored_steps as usize * 2).max(1);
        let full = if part > 0 { full.max(1).min(columns.bar) } else { 0 };
        row.row.gap(1).solid(glyph.repeat(full), theme.pos).gap(columns.bar - full);
    }
    let loud = |n: u64| if n > 0 { theme.strong } else { theme.dim };
    row.right(&count(made.flips), 6, loud(made.flips));
    row.right(&count(made.faded), 6, theme.text);
    row.right(&count(made.tally.rescued), 8, loud(made.tally.rescued));
    row.right(&count(made.tally.penalized), 7, loud(made.tally.penalized));
    let brief = |x: Option<f64>| x.map_or_else(|| "n/a".to_owned(), signed_brief);
    let more = [
        brief(made.skill.steps.skill()),
        brief(made.skill.null),
        count(made.tally.inside()),
        made.mean_visits().map_or_else(|| "n/a".to_owned(), |x| plain(x, 2)),
        count(made.tally.both_pos),
        count(made.tally.both_neg),
    ];
    for text in more.iter().take(columns.more) {
        row.right(text, 7, theme.dim);
    }
    row.row
}

/// How many columns have no room.
fn left_out(columns: usize) -> String {
    format!("{} need{} more width", plural(columns, "column"), if columns == 1 { "s" } else { "" })
}
