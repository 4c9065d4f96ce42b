//! The steps worth reading first, ranked, with why; below them the sentence of the selected one.

use std::borrow::Cow;

use crate::export::text;
use crate::rollout::plural;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs::{self, Fill, bar};
use crate::tui::labels::{self, Elision};
use crate::tui::model::Model;
use crate::tui::numbers::signed;
use crate::tui::pivotal::{Kind, Pick};
use crate::tui::theme::Theme;

/// Cells of the two counts of successes.
const COUNTS: usize = 7;
/// Half of a bar.
const HALF: usize = 3;

/// Cells of the value that the rows are ranked by.
const VALUE: usize = 8;

enum Line {
    /// Nothing in this group compares outcomes.
    Caution(&'static str),
    Head(Kind),
    Pick(usize),
}

struct Columns {
    task: usize,
    name: usize,
    action: usize,
    bar: bool,
    /// The two counts of successes; the sentence below has them, too.
    counts: bool,
    why: usize,
}

/// Draws the pane.
pub fn draw(model: &Model, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let picks = model.picks();
    let all = model.reading.all;
    let groups = model.corpus.groups.len();
    let mut extra = Row::new();
    if all {
        let done = model.groups.rows.iter().flatten().count();
        extra.put(format!("all {groups} groups"), theme.title);
        if done < groups {
            extra.put(format!("  {done} computed …"), theme.dim);
        }
    } else {
        extra.put(plural(picks.len() as u64, "step"), theme.text);
    }
    let scope = if all { "this group" } else { "all groups" };
    let mut hints = vec![("Enter", "goes there"), ("=", "why"), ("Space", scope)];
    if groups < 2 {
        hints.pop();
    }
    canvas.rule("r Worth reading", extra, &hints, focus);
    if picks.is_empty() {
        canvas.empty(1, &nothing(model));
        return;
    }
    let columns = columns(canvas.width(), &picks, all, model);
    let told: Vec<String> = picks.get(model.reading.at).map_or_else(Vec::new, |(_, p)| {
        super::warnings::fold(&text::line(&p.told), canvas.width().saturating_sub(4))
    });
    let below = if canvas.height() >= 8 { told.len().min(3) } else { 0 };
    let height = canvas.height().saturating_sub(2 + below);
    let contrast = model.snapshot().filter(|_| !all).and_then(|s| s.no_contrast());
    let mut lines = lines(&picks, all);
    if contrast.is_some() {
        lines.insert(0, Line::Caution(alike(model)));
    }
    let here = |l: &Line| matches!(l, Line::Pick(i) if *i == model.reading.at);
    let cursor = lines.iter().position(here).unwrap_or(0);
    let first = first_in_sight(cursor, lines.len(), height);
    // Each section names its quantity; the header does where the heading of the first row is out of sight.
    let quantity = match lines.get(first) {
        Some(Line::Pick(i)) => picks.get(*i).map_or("", |(_, pick)| pick.kind.quantity()),
        _ => "",
    };
    header(&columns, all, quantity, canvas);
    for (y, line) in lines.iter().skip(first).take(height).enumerate() {
        match line {
            Line::Caution(told) => {
                let mut row = Row::new();
                row.gap(1).put(text::cut(told, canvas.width() - 2).into_owned(), theme.warn);
                canvas.row(2 + y, &row);
            }
            Line::Head(kind) => {
                canvas.row(2 + y, &head(*kind, &columns, &theme));
            }
            Line::Pick(i) => {
                if let Some((group, pick)) = picks.get(*i) {
                    let selected = *i == model.reading.at;
                    let row = self::row(model, (*i, *group), pick, &columns, selected, &theme);
                    canvas.draw(2 + y, &row, selected);
                }
            }
        }
    }
    for (y, line) in told.into_iter().take(below).enumerate() {
        let mut row = Row::new();
        row.gap(1).put(if y == 0 { "→ " } else { "  " }, theme.key).put(line, theme.text);
        canvas.row(canvas.height() - below + y, &row);
    }
}

/// Why no step of a group can tell success from failure.
fn alike(model: &Model) -> &'static str {
    match model.snapshot().map_or(0, |s| s.row.scored) {
        0 => "no rollout of this group is scored: nothing here compares outcomes",
        1 => "group of 1: nothing here compares outcomes, the values rest on the prior",
        _ => "every scored rollout of this group ended alike: nothing here compares outcomes",
    }
}

/// Why there is nothing, and which key helps.
fn nothing(model: &Model) -> Vec<&'static str> {
    let uniform = model.snapshot().is_some_and(|s| s.row.uniform);
    let mut told = vec![if model.reading.all {
        "no group has a state that rollouts left in different ways to different ends (yet)"
    } else if uniform {
        alike(model)
    } else {
        "no state was left in different ways to different ends: v merges more states"
    }];
    if model.corpus.groups.len() > 1 {
        told.push("} goes to the next group, a lists them, Space looks through all of them");
    }
    told
}

fn lines(picks: &[(usize, &Pick)], all: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut before = None;
    for (i, (_, pick)) in picks.iter().enumerate() {
        if before != Some(pick.kind) && !all {
            lines.push(Line::Head(pick.kind));
        }
        before = Some(pick.kind);
        lines.push(Line::Pick(i));
    }
    lines
}

fn columns(width: usize, picks: &[(usize, &Pick)], all: bool, model: &Model) -> Columns {
    let widest = |of: &dyn Fn(&(usize, &Pick)) -> usize| picks.iter().map(of).max().unwrap_or(0);
    let task = if all {
        let task = |g: usize| model.corpus.groups.get(g).map_or_else(Cow::default, |g| g.label());
        widest(&|(g, _)| text::width(&text::line(&task(*g)))).clamp(4, width / 6)
    } else {
        0
    };
    let name = widest(&|(g, p)| text::width(&rollout(model, *g, p))).clamp(7, (width / 6).max(7));
    let longest = widest(&|(_, p)| text::width(&p.why));
    let fixed = 1 + 3 + task + usize::from(all) + name + 2 + 5 + 1 + 8;
    let counts = width >= fixed + 2 * COUNTS + 2 + 8;
    let fixed = fixed + if counts { 2 * COUNTS + 2 } else { 0 };
    let bar = width >= 100;
    let room = width.saturating_sub(fixed + if bar { 2 * HALF + 2 } else { 0 });
    let why = if room >= longest + 19 { longest } else { room.saturating_sub(19).min(longest) };
    let why = if why < 9 { 0 } else { why };
    Columns {
        task,
        name,
        action: room.saturating_sub(why + usize::from(why > 0)),
        bar,
        counts,
        why,
    }
}

fn rollout(model: &Model, group: usize, pick: &Pick) -> String {
    match &model.shown {
        Some((shown, snapshot)) if *shown == group => {
            let at = snapshot.analysis.graph.rollout_of(pick.step);
            snapshot.name(at, usize::MAX)
        }
        _ => text::line(&pick.rollout).into_owned(),
    }
}

fn header(columns: &Columns, all: bool, quantity: &str, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut row = Row::new();
    row.gap(4);
    if all {
        row.left("task", columns.task, theme.dim).gap(1);
    }
    row.left("rollout", columns.name, theme.dim).gap(2).right("t", 5, theme.dim).gap(1);
    row.left("action", columns.action, theme.dim);
    row.right(quantity, VALUE, theme.dim);
    if columns.bar {
        row.gap(2 * HALF + 2);
    }
    if columns.counts {
        row.right("✓ this", COUNTS, theme.dim).right("others", COUNTS, theme.dim).gap(2);
    }
    row.left(if columns.why > 0 { "why" } else { "" }, columns.why, theme.dim);
    canvas.row(1, &row);
}

/// What stands over the rows of a kind, and in the column of the value which quantity that is.
fn head(kind: Kind, columns: &Columns, theme: &Theme) -> Row {
    // As far as a row goes before its value.
    let room = 4 + columns.name + 2 + 5 + 1 + columns.action;
    let fits = 1 + text::width(kind.title()) < room;
    let title = if fits { kind.title() } else { kind.brief() };
    let mut row = Row::new();
    row.gap(1).left(&text::cut(title, room - 1), room - 1, theme.title);
    row.right(kind.quantity(), VALUE, theme.dim);
    row
}

fn row(
    model: &Model,
    (rank, group): (usize, usize),
    pick: &Pick,
    columns: &Columns,
    selected: bool,
    theme: &Theme,
) -> Row {
    let mut row = Row::new();
    row.put(super::mark(selected), theme.text);
    row.right(&(rank + 1).to_string(), 2, if rank < 3 { theme.title } else { theme.dim }).gap(1);
    if columns.task > 0 {
        let task = model.corpus.groups.get(group).map_or_else(Cow::default, |g| g.label());
        row.left(&text::cut_left(&text::line(&task), columns.task), columns.task, theme.text)
            .gap(1);
    }
    let name = rollout(model, group, pick);
    row.left(&text::cut_left(&name, columns.name), columns.name, theme.text);
    let good = pick.outcome == crate::rollout::Outcome::Success;
    row.gap(1)
        .put(glyphs::outcome(pick.outcome).to_string(), if good { theme.pos } else { theme.neg });
    row.right(&format!("t{}", pick.t), 5, theme.dim).gap(1);
    row.left(
        &labels::label(&pick.action, Elision::Path, columns.action),
        columns.action,
        theme.text,
    );
    row.right(&signed(pick.value, 3), VALUE, theme.of_sign(pick.value));
    if columns.bar {
        let fill = pick.evidence.map_or(Fill::Slim, Fill::Class);
        let (left, right) = bar(pick.value, 1.0, HALF, fill);
        row.gap(1).solid(left, theme.neg).put("│", theme.dim).solid(right, theme.pos);
    }
    let share = |(ok, n): (usize, usize)| {
        if n == 0 { "·".to_owned() } else { format!("{ok}/{n}") }
    };
    if columns.counts {
        row.right(&share(pick.this), COUNTS, theme.text);
        row.right(&share(pick.others), COUNTS, theme.text).gap(2);
    }
    row.left(&pick.why, columns.why, theme.text);
    row
}
