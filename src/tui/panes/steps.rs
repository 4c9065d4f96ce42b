//! The steps of the selected rollout: what each column says, where X and Y disagree, and why.

use crate::analysis::Bucket;
use crate::export::text;
use crate::graph::Evidence;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::glyphs::{self, Fill, bar};
use crate::tui::labels::{self, Elision};
use crate::tui::listing::StepLine;
use crate::tui::model::Model;
use crate::tui::numbers::{plain, sign, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// How the width is shared out.
#[derive(Clone, Debug)]
struct Columns {
    label: usize,
    /// Half of a bar.
    half: usize,
    /// Columns with a bar.
    bars: Vec<usize>,
    n: bool,
    why: usize,
}

/// Cells of a bar with its axis and a blank: heads need a few letters.
const fn bar_cells(half: usize) -> usize {
    if half < 2 { 5 } else { 2 * half + 2 }
}

impl Columns {
    /// What disappears first: halves of bars, the length of `why`, N, further bars.
    fn new(width: usize, snapshot: &Snapshot) -> Self {
        let all: Vec<usize> = (0..snapshot.analysis.columns.len()).collect();
        let first = Self::of(width, snapshot, &all, 0);
        if first.label >= snapshot.longest_call {
            return first;
        }
        // Names of calls would be cut: a column that says one thing of a whole rollout says it in the rule.
        let varying: Vec<usize> = all.iter().copied().filter(|&c| !snapshot.constant(c)).collect();
        let roomy = Self::of(width, snapshot, &varying, snapshot.longest_call.min(width * 2 / 5));
        // What explains a disagreement is worth more than the end of a name.
        if roomy.why > 0 { roomy } else { Self::of(width, snapshot, &varying, 0) }
    }

    fn of(width: usize, snapshot: &Snapshot, all: &[usize], wanted: usize) -> Self {
        let y = snapshot.y();
        let fixed = 1 + snapshot.widths.t + 2 + 1 + 6 + 1 + 3;
        let choices: [(usize, usize, bool, bool, usize); 9] = [
            (5, 10, true, true, 34),
            (4, 10, true, true, 30),
            (3, 10, true, true, 20),
            (2, 10, true, true, 20),
            (2, 5, true, true, 18),
            (1, 5, true, true, 18),
            (1, 5, false, true, 14),
            (1, 0, false, true, 12),
            (1, 0, false, false, 0),
        ];
        for (half, why, n, every, least) in choices {
            let bars = if every { all.to_vec() } else { vec![y] };
            let taken = fixed
                + bars.len() * bar_cells(half)
                + usize::from(n) * (snapshot.widths.visits + 2)
                + if why > 0 { why + 1 } else { 0 };
            let label = width.saturating_sub(taken);
            if label >= least.max(wanted) {
                // Without N a blank keeps labels from the bars.
                return Self { label: label.saturating_sub(usize::from(!n)), half, bars, n, why };
            }
        }
        Self { label: 0, half: 1, bars: vec![y], n: false, why: 0 }
    }
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let analysis = &snapshot.analysis;
    let Some(rollout) = analysis.group.rollouts.get(model.cursor.rollout) else {
        canvas.rule("2 Steps", Row::new(), &[], focus);
        let key = super::to_steps_of_a_group(model);
        canvas.empty(1, &[&format!("this group has no rollouts: {key}")]);
        return;
    };
    let columns = Columns::new(canvas.width(), snapshot);
    let steps = rollout.steps.clone();
    let mut extra = Row::new();
    extra.put(snapshot.name(model.cursor.rollout, canvas.width() / 4), theme.title);
    let success = rollout.outcome == crate::rollout::Outcome::Success;
    let style = if success { theme.pos } else { theme.neg };
    extra.put(format!(" {} ", glyphs::outcome(rollout.outcome)), style);
    let row = snapshot.rollouts.get(model.cursor.rollout);
    match row.map(|r| r.scored) {
        Some(Ok(())) => {
            let r = analysis.basis.terminal.get(model.cursor.rollout);
            let r = r.copied().unwrap_or(0.0);
            extra.put(format!("R={}", crate::tui::numbers::setting(r)), theme.text);
        }
        Some(Err(reason)) => {
            extra.put(format!("not scored: {reason}"), theme.warn);
        }
        None => {}
    }
    let n = steps.len();
    extra.put(format!("  {n} step{}", if n == 1 { "" } else { "s" }), theme.text);
    for c in (0..analysis.columns.len()).filter(|c| !columns.bars.contains(c)) {
        let Some((spec, column)) = analysis.columns.get(c).filter(|_| snapshot.constant(c)) else {
            continue;
        };
        let mut part = Row::new();
        part.put(format!("  {} ", super::column_title(&spec.name)), theme.dim);
        match steps.clone().next().and_then(|s| column.get(s)) {
            Some(value) => part.put(signed(value, 2), theme.of_sign(value)),
            None => part.put("·", theme.dim),
        };
        if "─ 2 Steps  ".chars().count() + extra.width() + part.width() <= canvas.width() {
            extra.append(part);
        }
    }
    if !model.filtering.passes.is_empty() {
        let listed = model.listed(model.cursor.rollout).len();
        let told = text::line(&model.filtering.name()).into_owned();
        extra.put(format!("  {listed} listed: {told}"), theme.strong);
    }
    let kind = if model.shared_scale { "shared" } else { "own" };
    let scales: Vec<String> = columns
        .bars
        .iter()
        .map(|&c| plain(snapshot.scale(c, model.shared_scale), 2))
        .map(|scale| glyphs::around(&scale, model.look.ascii))
        .collect();
    let scale = if model.shared_scale {
        format!("scale {kind} {}", scales.first().cloned().unwrap_or_default())
    } else {
        format!("scale {kind} {}", scales.join(" "))
    };
    let short = scale.trim_start_matches("scale ").to_owned();
    let hints: &[(&str, &str)] =
        if canvas.width() >= 76 { &[("[ ]", "rollout"), ("s", &scale)] } else { &[("s", &short)] };
    canvas.rule("2 Steps", extra, hints, focus);
    header(snapshot, &columns, canvas);
    if steps.is_empty() {
        let key = super::to_steps(model);
        canvas.empty(2, &[&format!("this rollout has no steps: {key}")]);
        return;
    }
    let lines = model.step_lines(model.cursor.rollout);
    if lines.is_empty() {
        canvas.empty(2, &["no step of this rollout passes the filter: ] goes on, f changes it"]);
        return;
    }
    let label = |line: &StepLine| line.step().map(|t| analysis.action_label(steps.start + t));
    let labels: Vec<String> = lines.iter().filter_map(label).collect();
    let level = labels::elision(&labels.iter().map(|l| (l.as_str(), columns.label)));
    let cursor = model.step_line(&lines);
    let width = canvas.width();
    super::list(canvas, 2, lines.len(), cursor, |at, theme| match lines.get(at) {
        Some(&StepLine::Step { t, run, folded }) => {
            let line = Line { model, snapshot, columns: &columns, level, theme };
            line.draw(t, steps.start + t, if run > 0 { Some((run, folded)) } else { None })
        }
        Some(&StepLine::Segment(number, of)) => divider(number, of, width, theme),
        None => Row::new(),
    });
}

/// What divides two segments.
fn divider(number: usize, of: usize, width: usize, theme: &Theme) -> Row {
    let mut row = Row::new();
    let told = super::segment(number, of);
    row.put("╌╌ ", theme.dim);
    row.put(text::cut(&told, width.saturating_sub(4)).into_owned(), theme.text).gap(1);
    let rest = width.saturating_sub(row.width());
    row.put("╌".repeat(rest), theme.dim);
    row
}

fn header(snapshot: &Snapshot, columns: &Columns, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let w = snapshot.widths;
    let mut row = Row::new();
    row.gap(1).right("t", w.t, theme.dim).gap(2);
    row.left("action", columns.label, theme.dim);
    if columns.n {
        row.right("N", w.visits + 1, theme.dim);
    }
    row.gap(1);
    for &c in &columns.bars {
        let name = snapshot
            .analysis
            .columns
            .get(c)
            .map_or_else(String::new, |(spec, _)| super::column_title(&spec.name));
        let style = if c == snapshot.y() { theme.title } else { theme.dim };
        // A blank stays between two heads.
        let room = bar_cells(columns.half) - 1;
        let name = match &*name {
            "G+Step" if room < 6 => "G+S",
            "DrGRPO" if room < 6 => "DrG",
            name => name,
        };
        row.middle(name, room, style).gap(1);
    }
    // The tree's A is always RTMC's; this one is the Y column's, and says so when it is another's.
    let y = &snapshot.analysis.settings.y;
    let name = if y == "rtmc" { "A".to_owned() } else { super::column_title(y) };
    row.right(&text::cut(&name, 6), 6, theme.dim).gap(1).left("XY", 3, theme.dim);
    if columns.why > 0 {
        row.gap(1).left("why", columns.why, theme.dim);
    }
    canvas.row(1, &row);
}

struct Line<'a> {
    model: &'a Model,
    snapshot: &'a Snapshot,
    columns: &'a Columns,
    level: Elision,
    theme: &'a Theme,
}

impl Line<'_> {
    fn draw(&self, t: usize, step: usize, run: Option<(usize, bool)>) -> Row {
        let (theme, columns, snapshot) = (self.theme, self.columns, self.snapshot);
        let analysis = &snapshot.analysis;
        let data = analysis.step_row(step);
        let weak = matches!(data.evidence, None | Some(Evidence::Own | Evidence::Single));
        let hit = self.model.finding.hits.contains(&step);
        let action = if hit {
            theme.strong
        } else if weak {
            theme.dim
        } else {
            theme.text
        };
        let selected = t == self.model.cursor.step;
        let mut row = Row::new();
        row.put(super::mark(selected), theme.text);
        row.right(&t.to_string(), snapshot.widths.t, theme.dim);
        let flag = if hit { "/" } else { flag(&data, snapshot.pivotal == Some(step)) };
        row.put(flag, if hit { theme.key } else { theme.text });
        row.gap(1);
        let loops = run.map_or_else(String::new, |(n, folded)| {
            format!(" ×{n} loop{}", if folded { " ▸" } else { " ▾" })
        });
        let room = columns.label.saturating_sub(text::width(&loops));
        let label = labels::label(&analysis.action_label(step), self.level, room);
        row.put(label, action);
        let filled = columns.label.saturating_sub(room);
        row.put(text::cut(&loops, filled).into_owned(), theme.strong);
        row.to(1 + snapshot.widths.t + 2 + columns.label);
        if columns.n {
            let visits = format!("{}/{}", data.n_sa, data.n_s);
            row.right(&visits, snapshot.widths.visits + 1, theme.dim);
        }
        row.gap(1);
        for &c in &columns.bars {
            self.bar(&mut row, c, &data);
        }
        let y = snapshot.y();
        let value = data.values.get(y).copied().flatten();
        match value {
            Some(a) => row.right(&signed(a, 3), 6, theme.of_sign(a)),
            None => row.right("·", 6, theme.dim),
        };
        row.gap(1);
        let loud = data.bucket.disagrees();
        let xy = if loud { theme.strong } else { theme.dim };
        let tau = analysis.settings.tau;
        let mut signs = String::new();
        signs.push(sign(analysis.x_column().get(step), tau.0));
        signs.push(sign(value, tau.1));
        signs.push(if loud { '≠' } else { ' ' });
        row.put(signs, xy);
        if columns.why > 0 {
            let why = if data.bucket == Bucket::Missing && value.is_none() {
                analysis.y_column().reason(step).unwrap_or("no value")
            } else {
                analysis.why(step).unwrap_or("")
            };
            row.gap(1);
            row.left(&short_why(why, columns.why), columns.why, xy);
        }
        row
    }

    fn bar(&self, row: &mut Row, column: usize, data: &crate::analysis::StepRow) {
        let half = self.columns.half;
        let snapshot = self.snapshot;
        let value = data.values.get(column).copied().flatten();
        let states =
            snapshot.analysis.columns.get(column).is_some_and(|(spec, _)| spec.meta().uses_states);
        let fill = match data.evidence {
            Some(class) if states => Fill::Class(class),
            _ => Fill::Slim,
        };
        let scale = snapshot.scale(column, self.model.shared_scale);
        let (left, right) = bar(value.unwrap_or(0.0), scale, half, fill);
        row.solid(left, self.theme.neg);
        // A value of nothing has no bar: then the axis shows the evidence.
        let axis = match (value, fill) {
            (None, _) => '·',
            (Some(0.0), Fill::Class(class)) => glyphs::evidence(Some(class)),
            _ => '│',
        };
        row.put(axis.to_string(), self.theme.dim);
        row.solid(right, self.theme.pos).gap(bar_cells(half) - 2 * half - 1);
    }
}

/// Pivotal, revisited, masked: the first that holds.
const fn flag(row: &crate::analysis::StepRow, pivotal: bool) -> &'static str {
    if pivotal {
        "◆"
    } else if row.revisit {
        "↺"
    } else if row.masked {
        "m"
    } else {
        " "
    }
}

/// The kind of part in a few letters where the room is short.
fn short_why(why: &str, width: usize) -> String {
    match (why, width < 10) {
        ("comparison", true) => "comp".to_owned(),
        ("discount", true) => "disc".to_owned(),
        ("shaping", true) => "shape".to_owned(),
        _ => why.to_owned(),
    }
}
