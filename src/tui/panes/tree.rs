//! The tree: folded walks, or states that stand once each. Numbers stay in fixed columns.

use crate::export::text;
use crate::graph::Evidence;
use crate::rollout::plural;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs::{Fill, bar};
use crate::tui::labels::{self, Elision};
use crate::tui::lens::{Lens, LensKind, LensRow, RowKind};
use crate::tui::model::Model;
use crate::tui::numbers::{count, plain, signed};
use crate::tui::ordering::Sight;
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// Indent in cells, at most.
const INDENT: usize = 12;
/// Above so many rows only those in sight are labelled.
const LABELLED: usize = 256;
/// Half of the bar.
const HALF: usize = 3;

/// Which columns there is room for.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each says whether a column is there")]
struct Columns {
    label: usize,
    q: bool,
    v: bool,
    smooth: bool,
    bar: bool,
}

impl Columns {
    fn new(width: usize, snapshot: &Snapshot) -> Self {
        let w = snapshot.widths;
        // Mark, n ✓ ✗, N, V', A, steps.
        let fixed = 1 + 3 * (w.n + 1) + w.visits + 1 + 7 + 7 + w.steps + 1;
        let rest = width.saturating_sub(fixed);
        let with = |more: usize, least: usize| rest >= more + least;
        let (v, q, bar) = if with(22, 44) {
            (true, true, true)
        } else if with(15, 24) {
            (false, true, true)
        } else if with(7, 24) {
            (false, true, false)
        } else {
            (false, false, false)
        };
        // Names of calls are long and have no short form: they get the room of V'.
        let smooth = q || rest >= snapshot.longest_call + 6;
        let label = (rest + usize::from(!smooth) * 7)
            .saturating_sub(usize::from(q) * 7)
            .saturating_sub(usize::from(v) * 7)
            .saturating_sub(usize::from(bar) * 8);
        Self { label, q, v, smooth, bar }
    }
}

/// A row before its label is fitted.
struct Prepared<'a> {
    row: &'a LensRow,
    prefix: String,
    label: String,
    marks: String,
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let Some((lens, sight)) = model.tree() else {
        return;
    };
    let extra = told(model, snapshot, lens, &sight, canvas);
    let other = if model.lens == LensKind::Paths { "states" } else { "paths" };
    canvas.rule("1 Tree", extra, &[("hl", "fold"), ("t", other)], focus);
    let columns = Columns::new(canvas.width(), snapshot);
    header(snapshot, columns, canvas);
    if lens.rows.is_empty() {
        let key = super::to_steps_of_a_group(model);
        canvas.empty(2, &[&format!("no rollout of this group has steps: {key}")]);
        return;
    }
    if sight.rows.is_empty() {
        let least = model.arrangement.least;
        let why = format!("no row has {least} scored rollouts: Z shows the rows with fewer");
        canvas.empty(2, &[&why]);
        return;
    }
    let visible = &sight.rows;
    let cursor = model.step().and_then(|step| sight.position(lens, step));
    // Elision goes by pane; of a very long tree only what is in sight is labelled.
    let height = canvas.height().saturating_sub(2);
    let first = first_in_sight(cursor.unwrap_or(0), visible.len(), height);
    let labelled = if visible.len() > LABELLED { first..first + height } else { 0..visible.len() };
    let prepared: Vec<Option<Prepared>> = visible
        .iter()
        .enumerate()
        .map(|(at, &i)| {
            labelled
                .contains(&at)
                .then(|| prepare(model, snapshot, (lens, &sight), i, columns))
                .flatten()
        })
        .collect();
    let level = labels::elision(&prepared.iter().flatten().map(|p| {
        let taken = text::width(&p.prefix) + text::width(&p.marks);
        (p.label.as_str(), columns.label.saturating_sub(taken))
    }));
    super::list(canvas, 2, prepared.len(), cursor, |at, theme| {
        prepared
            .get(at)
            .and_then(Option::as_ref)
            .map_or_else(Row::new, |p| line(snapshot, p, columns, level, cursor == Some(at), theme))
    });
}

/// What the rule says: how many rows there are, in which order, and what is left out.
fn told(model: &Model, snapshot: &Snapshot, lens: &Lens, sight: &Sight, canvas: &Canvas) -> Row {
    let theme = *canvas.theme;
    let (brief, long) = match model.lens {
        LensKind::Paths => {
            let paths = &snapshot.analysis.paths;
            let rows = plural(paths.rows.len() as u64, "row");
            // Rollouts without a verdict have rows, too; those without steps have none.
            let walking = snapshot.row.rollouts.saturating_sub(paths.empty.len());
            let most = (2 * walking).max(1) - 1;
            (format!("paths  {rows}"), format!("paths  {rows} of at most {most}"))
        }
        LensKind::States => {
            let rows = plural(lens.rows.len() as u64, "row");
            // Rollouts without a verdict are drawn, too: these are not the states of the statistics.
            let drawn = snapshot.analysis.graph.pairs.chunk_by(|a, b| a.state == b.state).count();
            let states = plural(drawn as u64, "state");
            (format!("states  {rows}"), format!("states  {rows} for {states}, each once"))
        }
    };
    let kind = if model.lens == LensKind::Paths { "paths" } else { "states" };
    let order = model.arrangement.order.name();
    // A row without a parent in sight has none that could stand for it.
    let lost =
        sight.pruned_rows > 0 && model.step().is_some_and(|s| sight.position(lens, s).is_none());
    let arranged = |sort: &str, rollouts: bool| {
        let mut row = Row::new();
        if !order.is_empty() {
            row.put(format!("  {sort}"), theme.dim).put(order, theme.title);
        }
        if sight.pruned_rows > 0 {
            let mut told = format!("  − {}", plural(sight.pruned_rows as u64, "row"));
            if rollouts {
                told.push_str(", ");
                told.push_str(&plural(sight.pruned_rollouts as u64, "rollout"));
            }
            row.put(told + " hidden", theme.strong);
        } else if model.arrangement.least > 0 {
            row.put(format!("  none below {}", model.arrangement.least), theme.dim);
        }
        if lost {
            row.put(", the cursor's too", theme.warn);
        }
        row
    };
    let mut in_sight = Row::new();
    if sight.pruned_rows == 0
        && (sight.rows.len() < lens.rows.len() && model.lens == LensKind::States
            || !model.folds().closed.is_empty())
    {
        in_sight.put(format!("  {} in sight", sight.rows.len()), theme.dim);
    }
    // Before the order and what is hidden go out of sight, the counts of the lens do.
    let room = canvas.width().saturating_sub("━ 1 Tree   ".chars().count());
    let forms = [
        (long.as_str(), "sort ", true),
        (&brief, "sort ", true),
        (&brief, "", true),
        (kind, "", true),
        (kind, "", false),
    ];
    let plain = order.is_empty() && model.arrangement.least == 0;
    let fits = |&(head, sort, rollouts): &(&str, &str, bool)| {
        plain || text::width(head) + arranged(sort, rollouts).width() + in_sight.width() <= room
    };
    let [.., last] = forms;
    let (head, sort, rollouts) = forms.into_iter().find(fits).unwrap_or(last);
    let mut extra = Row::new();
    extra.put(head, theme.text).append(arranged(sort, rollouts)).append(in_sight);
    extra
}

fn header(snapshot: &Snapshot, columns: Columns, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let w = snapshot.widths;
    let mut row = Row::new();
    row.gap(1).left("first action", columns.label, theme.dim);
    row.right("n", w.n + 1, theme.dim);
    row.right("✓", w.n + 1, theme.pos);
    row.right("✗", w.n + 1, theme.neg);
    row.gap(1).middle("N", w.visits, theme.dim);
    if columns.q {
        row.right("Q", 7, theme.dim);
    }
    if columns.v {
        row.right("V", 7, theme.dim);
    }
    if columns.smooth {
        row.right("V'", 7, theme.dim);
    }
    row.right("A", 7, theme.dim);
    if columns.bar {
        row.gap(8);
    }
    row.right("stp", w.steps + 1, theme.dim);
    canvas.row(1, &row);
}

fn prepare<'a>(
    model: &Model,
    snapshot: &Snapshot,
    (lens, sight): (&'a Lens, &Sight),
    index: usize,
    columns: Columns,
) -> Option<Prepared<'a>> {
    let row = lens.rows.get(index)?;
    let label = snapshot.analysis.action_label(row.step);
    let segment = row.kind == RowKind::Segment;
    let target = match row.kind {
        RowKind::Edge(Some(state)) => format!(" →s{state}"),
        RowKind::Edge(None) => " →end".to_owned(),
        RowKind::Link(state) => format!(" ↪s{state}"),
        RowKind::Loop(visits) => format!(" ↺{visits}"),
        RowKind::Segment | RowKind::Inner => String::new(),
    };
    // A number says how many are folded in a segment; a single step needs none.
    let counted = |glyph: char, n: u32| match (n, segment) {
        (0, _) => String::new(),
        (n, true) => format!(" {glyph}{n}"),
        (_, false) => format!(" {glyph}"),
    };
    let elsewhere = match row.elsewhere {
        0 => String::new(),
        n => format!(" ≡{}", n + 1),
    };
    let pruned = match sight.pruned_below.get(index) {
        None | Some(0) => String::new(),
        Some(n) => format!(" −{n}"),
    };
    let folded = [counted('⋎', row.branching), counted('↺', row.revisits)].concat();
    let marks = [target, elsewhere, folded, pruned];
    // Close together where the label needs the room.
    let several = marks.iter().filter(|m| !m.is_empty()).count() > 1;
    let marks = if columns.label < 30 && several {
        format!(" {}", marks.concat().replace(' ', ""))
    } else {
        marks.concat()
    };
    Some(Prepared { row, prefix: prefix(model, (lens, sight), index, row), label, marks })
}

/// Guides of the ancestors, the branch to the row, and whether it is open.
fn prefix(model: &Model, (lens, sight): (&Lens, &Sight), index: usize, row: &LensRow) -> String {
    let mut out = String::new();
    let guides = sight.guides(lens, index);
    for follows in &guides {
        out.push(if *follows { '│' } else { ' ' });
    }
    if row.kind == RowKind::Inner {
        let parent = row.parent.and_then(|p| lens.rows.get(p));
        out.push(if parent.is_some_and(|p| p.parent_of_rows) { '│' } else { ' ' });
        out.push('·');
        return deep(out, row.depth as usize);
    }
    if row.depth > 0 {
        out.push(if sight.last.get(index) == Some(&true) { '└' } else { '├' });
    }
    let folds = model.folds();
    let open = if row.parent_of_rows {
        Some(!folds.closed.contains(&index))
    } else if row.folds() {
        Some(folds.opened.contains(&index))
    } else {
        None
    };
    out.push(match open {
        Some(true) => '▾',
        Some(false) => '▸',
        None if row.depth > 0 => '─',
        None => ' ',
    });
    deep(out, row.depth as usize)
}

/// Past the indent that fits, the depth is written as a number.
fn deep(prefix: String, depth: usize) -> String {
    if depth <= INDENT {
        return prefix;
    }
    let tail: String = {
        let mut last: Vec<char> = prefix.chars().rev().take(2).collect();
        last.reverse();
        last.into_iter().collect()
    };
    text::fit_right(&format!("+{}{tail}", depth - INDENT), INDENT + 2)
}

fn line(
    snapshot: &Snapshot,
    prepared: &Prepared,
    columns: Columns,
    level: Elision,
    selected: bool,
    theme: &Theme,
) -> Row {
    let row = prepared.row;
    let w = snapshot.widths;
    let analysis = &snapshot.analysis;
    let weak = matches!(row.evidence, None | Some(Evidence::Own | Evidence::Single));
    let action = if weak { theme.dim } else { theme.text };
    let mut out = Row::new();
    out.put(super::mark(selected), theme.text);
    out.put(prepared.prefix.clone(), theme.dim);
    let marks = text::width(&prepared.marks);
    let room = columns.label.saturating_sub(text::width(&prepared.prefix) + marks);
    out.put(labels::label(&prepared.label, level, room), action);
    out.put(
        text::cut(&prepared.marks, columns.label.saturating_sub(out.width() - 1)).into_owned(),
        theme.dim,
    );
    out.to(columns.label + 1);
    let (n, ok, bad) = row.counts;
    out.right(&count(u64::from(n)), w.n + 1, theme.text);
    out.right(&count(u64::from(ok)), w.n + 1, if ok > 0 { theme.pos } else { theme.dim });
    out.right(&count(u64::from(bad)), w.n + 1, if bad > 0 { theme.neg } else { theme.dim });
    let state = analysis.graph.pair(row.pair).state;
    let (q, v) = (analysis.values.pair(row.pair), analysis.values.state(state));
    out.right(&format!("{}/{}", q.n, v.n), w.visits + 1, action);
    let smoothed = analysis.values.smoothed(state).filter(|_| q.n > 0);
    let number = |x: Option<f64>| x.map_or_else(|| "·".to_owned(), |x| plain(x, 3));
    if columns.q {
        out.right(&number((q.n > 0).then_some(q.mean)), 7, theme.dim);
    }
    if columns.v {
        out.right(&number((v.n > 0).then_some(v.mean)), 7, theme.dim);
    }
    if columns.smooth {
        out.right(&number(smoothed), 7, theme.dim);
    }
    let a = analysis.pair_advantage(row.pair);
    match a {
        Some(a) => out.right(&signed(a, 3), 7, theme.of_sign(a)),
        None => out.right("·", 7, theme.dim),
    };
    if columns.bar {
        let scale = snapshot.scale(rtmc(snapshot), false);
        let fill = Fill::Class(row.evidence.unwrap_or(Evidence::Single));
        let (left, right) = bar(a.unwrap_or(0.0), scale, HALF, fill);
        out.gap(1).solid(left, theme.neg);
        out.put("│", theme.dim).solid(right, theme.pos);
    }
    out.right(&row.steps.to_string(), w.steps + 1, theme.dim);
    out
}

/// The column whose scale fits the tree's advantages.
fn rtmc(snapshot: &Snapshot) -> usize {
    snapshot
        .analysis
        .columns
        .iter()
        .position(|(spec, _)| spec.name == "rtmc")
        .unwrap_or_else(|| snapshot.y())
}
