//! Why the selected value is what it is: the rollouts behind it, the arithmetic with its numbers, the
//! parts, the other columns, and one line that evaluates to the value exactly. RTMC's own lines are in
//! `super::members`.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::analysis::Explanation;
use crate::credit::{Node, derivation};
use crate::export::text;
use crate::rollout::Outcome;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs;
use crate::tui::model::Model;
use crate::tui::numbers::{plain, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// Whether the explanation is RTMC at the shared settings: then members and parts say it all.
fn by_members(model: &Model, explanation: &Explanation) -> bool {
    explanation.column == "rtmc"
        && explanation.split.is_some()
        && explanation.value.is_ok()
        && model
            .snapshot()
            .and_then(|s| s.analysis.column("rtmc"))
            .is_some_and(|(spec, _)| spec.params.entries().is_empty())
}

/// The named numbers below a node, each once, with their depth: the upper ones first.
fn parts(node: &Rc<Node>) -> Vec<(usize, Rc<Node>)> {
    fn walk(
        node: &Node,
        depth: usize,
        known: &mut FxHashSet<*const Node>,
        found: &mut Vec<(usize, Rc<Node>)>,
    ) {
        for child in node.children() {
            if known.insert(Rc::as_ptr(&child)) {
                found.push((depth, Rc::clone(&child)));
                walk(&child, depth + 1, known, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(node, 0, &mut FxHashSet::default(), &mut found);
    // Means and deviations first, then what they are made of.
    found.sort_by_key(|(depth, _)| *depth);
    // A number may stand in several places of the sum: it is the same one.
    let mut told: FxHashSet<(String, u64)> = FxHashSet::default();
    found.retain(|(_, node)| told.insert((node.name.clone(), node.value.to_bits())));
    found
}

/// How many rows j and k move over.
#[must_use]
pub fn row_count(model: &Model) -> usize {
    match &model.explanation {
        Some(e) if by_members(model, e) => e.members.len(),
        Some(e) => e.node.as_ref().map_or(0, |n| parts(n).len()),
        None => 0,
    }
}

/// The step (index in the group) that the selected row comes from.
#[must_use]
pub fn target(model: &Model) -> Option<usize> {
    let explanation = model.explanation.as_ref()?;
    if by_members(model, explanation) {
        return explanation.members.get(model.member).map(|m| m.index);
    }
    let list = parts(explanation.node.as_ref()?);
    let source = list.get(model.member)?.1.source.clone()?;
    let group = model.shown_group()?;
    let whole = group.find(&source).map(|r| (r, 0));
    let (rollout, step) = whole.or_else(|| {
        let (id, step) = source.rsplit_once(':')?;
        Some((group.find(id)?, step.parse::<usize>().ok()?))
    })?;
    let steps = group.rollouts.get(rollout)?.steps.clone();
    let at = steps.start + step;
    steps.contains(&at).then_some(at)
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let hints: &[(&str, &str)] = &[("m", "next column"), ("y", "copy")];
    let Some(explanation) = &model.explanation else {
        canvas.rule("3 Explain", Row::new(), hints, focus);
        let key = super::to_steps(model);
        canvas.empty(1, &[&format!("no step is selected: {key}")]);
        return;
    };
    let width = canvas.width();
    canvas.rule("3 Explain", heading(model, snapshot, explanation, &theme, width), hints, focus);
    let lines = match &explanation.value {
        Err(reason) => missing(explanation, reason, &theme),
        Ok(value) if by_members(model, explanation) => {
            let pane = super::members::Members {
                model,
                snapshot,
                explanation,
                value: *value,
                width: canvas.width(),
                theme: &theme,
            };
            pane.lines(canvas.height().saturating_sub(1))
        }
        Ok(value) => tree(model, snapshot, explanation, *value, canvas),
    };
    for (y, (row, selected)) in lines.iter().enumerate() {
        canvas.draw(y + 1, row, *selected);
    }
}

pub(super) type Lines = Vec<(Row, bool)>;

fn heading(
    model: &Model,
    snapshot: &Snapshot,
    explanation: &Explanation,
    theme: &Theme,
    width: usize,
) -> Row {
    let mut row = Row::new();
    let analysis = &snapshot.analysis;
    if let Some(rollout) = analysis.group.rollouts.get(model.cursor.rollout) {
        let name = if width < 60 { 8 } else { 20 };
        row.put(snapshot.name(model.cursor.rollout, name), theme.title);
        row.put(format!(" {}", glyphs::outcome(rollout.outcome)), side(rollout.outcome, theme));
        row.put(format!(" t{}", model.cursor.step), theme.title);
        if width >= 60 {
            row.put(format!(" of {}", rollout.steps.len()), theme.title);
        }
    }
    row.put(format!("  {} ", text::line(&explanation.column)), theme.title);
    match &explanation.value {
        Ok(value) => row.put(signed(*value, 3), theme.of_sign(*value).patch(theme.title)),
        Err(_) => row.put("no value", theme.warn),
    };
    let states =
        analysis.column(&explanation.column).is_some_and(|(spec, _)| spec.meta().uses_states);
    if let Some(class) = explanation.evidence.filter(|_| states) {
        let glyph = glyphs::evidence(Some(class));
        let told = format!("  {glyph} {}", class.name());
        // The rule, the title and blanks stand before it.
        if "─ 3 Explain  ".chars().count() + row.width() + text::width(&told) <= width {
            row.put(told, theme.text);
        }
    }
    row
}

pub(super) fn side(outcome: Outcome, theme: &Theme) -> ratatui::style::Style {
    if outcome == Outcome::Success { theme.pos } else { theme.neg }
}

fn missing(explanation: &Explanation, reason: &str, theme: &Theme) -> Lines {
    let mut first = Row::new();
    first.gap(1).put(format!("{} has no value here: {reason}", explanation.column), theme.warn);
    let mut second = Row::new();
    second.gap(1).put("m goes to the next column, ] to the next rollout", theme.dim);
    vec![(first, false), (second, false), (state_line(explanation, theme, 200), false)]
}

pub(super) fn state_line(explanation: &Explanation, theme: &Theme, width: usize) -> Row {
    let mut row = Row::new();
    row.gap(1).put("state  ", theme.dim);
    let state = text::line(&explanation.state).into_owned();
    row.put(text::cut_left(&state, width.saturating_sub(8)).into_owned(), theme.text);
    row
}

pub(super) fn action_line(explanation: &Explanation, theme: &Theme, width: usize) -> Row {
    let mut row = Row::new();
    row.gap(1).put("action ", theme.dim);
    // A revisit and the marks stand behind the signature and keep their room.
    let mut marks: Vec<String> = explanation.marks.iter().map(|m| (*m).to_owned()).collect();
    if let Some(counted) = explanation.counted_at
        && let Some(member) = explanation.members.iter().find(|m| m.index == counted)
    {
        marks.insert(0, format!("↺ t{} counts", member.step));
    }
    let marks = marks.join(", ");
    let room = width.saturating_sub(8 + if marks.is_empty() { 0 } else { text::width(&marks) + 2 });
    let action = text::line(&explanation.action).into_owned();
    row.put(text::cut(&action, room.max(12)).into_owned(), theme.text);
    if !marks.is_empty() {
        row.gap(2).put(marks, theme.warn);
    }
    row
}

/// `eval` with all digits, in as many lines as it takes, but at most `most`.
pub(super) fn eval_lines(
    explanation: &Explanation,
    theme: &Theme,
    width: usize,
    most: usize,
) -> Lines {
    let Some(node) = &explanation.node else {
        return Vec::new();
    };
    let room = width.saturating_sub(9).max(10);
    let mut pieces = super::warnings::fold(&node.expression(), room);
    if pieces.len() + 1 > most {
        pieces.truncate(most.saturating_sub(1).max(1));
        if let Some(last) = pieces.last_mut() {
            *last = text::cut(&format!("{last} …  y copies all"), room).into_owned();
        }
    }
    let mut lines = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let mut row = Row::new();
        row.gap(1).put(if i == 0 { "eval   " } else { "       " }, theme.dim);
        row.put(text::cut(piece, room).into_owned(), theme.text);
        lines.push((row, false));
    }
    let mut row = Row::new();
    row.gap(8).put("= ", theme.dim);
    row.put(derivation::number(node.value), theme.of_sign(node.value));
    lines.push((row, false));
    lines
}

/// Any other column: its own expression, and the named numbers below it.
fn tree(
    model: &Model,
    snapshot: &Snapshot,
    explanation: &Explanation,
    value: f64,
    canvas: &Canvas,
) -> Lines {
    let theme = canvas.theme;
    let (width, height) = (canvas.width(), canvas.height().saturating_sub(1));
    let mut lines: Lines = Vec::new();
    let meta = snapshot
        .analysis
        .column(&explanation.column)
        .map(|(spec, column)| (spec.meta(), column.convention.clone()));
    if let Some((meta, convention)) = meta {
        let mut row = Row::new();
        let told = signed(value, 3);
        let room = width.saturating_sub(1 + 4 + 3 + text::width(&told));
        row.gap(1).put("A = ", theme.text);
        row.put(text::cut(meta.formula, room).into_owned(), theme.text);
        row.put(" = ", theme.text);
        row.put(told, theme.of_sign(value).patch(theme.title));
        lines.push((row, false));
        let mut row = Row::new();
        let convention = text::line(&convention);
        row.gap(1).put(text::cut(&convention, width.saturating_sub(1)).into_owned(), theme.dim);
        lines.push((row, false));
    }
    lines.push((action_line(explanation, theme, width), false));
    let eval = eval_lines(explanation, theme, width, 4);
    let Some(node) = &explanation.node else {
        return lines;
    };
    let list = parts(node);
    let mut header = Row::new();
    header.gap(1).left("number", 30, theme.dim).right("value", 10, theme.dim);
    header.put("  where from", theme.dim);
    lines.push((header, false));
    let room = height.saturating_sub(lines.len() + eval.len());
    let cut = list.len() > room;
    let shown = if cut { room.saturating_sub(1) } else { room };
    let first = first_in_sight(model.member, list.len(), shown);
    for (i, (depth, part)) in list.iter().enumerate().skip(first).take(shown) {
        let selected = i == model.member;
        let mut row = Row::new();
        row.put(super::mark(selected), theme.text);
        let name = format!("{}{}", "  ".repeat((*depth).min(6)), text::line(&part.name));
        row.left(&name, 30, theme.text);
        row.right(&plain(part.value, 3), 10, theme.text).gap(2);
        let from =
            if part.source.is_some() { "Enter follows".to_owned() } else { part.expression() };
        let left = width.saturating_sub(row.width());
        row.put(text::cut(&from, left).into_owned(), theme.dim);
        lines.push((row, selected));
    }
    if cut {
        let mut row = Row::new();
        row.gap(1).put(format!("… {} more, j goes on", list.len() - shown), theme.dim);
        lines.push((row, false));
    }
    lines.extend(eval);
    lines
}
