//! Why the selected value is what it is: the rollouts behind it, the arithmetic with its numbers, the
//! parts, the other columns, and one line that evaluates to the value exactly.

use std::rc::Rc;

use crate::analysis::explain::table;
use crate::analysis::{Bucket, Explanation};
use crate::credit::{Node, derivation};
use crate::export::text;
use crate::rollout::Outcome;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs;
use crate::tui::model::{Model, Text};
use crate::tui::numbers::{plain, setting, signed};
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

/// The named numbers below a node, depth first, each once, with their depth.
fn parts(node: &Rc<Node>) -> Vec<(usize, Rc<Node>)> {
    fn walk(node: &Rc<Node>, depth: usize, found: &mut Vec<(usize, Rc<Node>)>) {
        for child in node.children() {
            if found.iter().any(|(_, known)| Rc::ptr_eq(known, &child)) {
                continue;
            }
            found.push((depth, Rc::clone(&child)));
            walk(&child, depth + 1, found);
        }
    }
    let mut found = Vec::new();
    walk(node, 0, &mut found);
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
        canvas.empty(1, &["no step is selected: ] goes to the next rollout, 2 to its steps"]);
        return;
    };
    let width = canvas.width();
    canvas.rule("3 Explain", heading(model, snapshot, explanation, &theme, width), hints, focus);
    let lines = match &explanation.value {
        Err(reason) => missing(explanation, reason, &theme),
        Ok(value) if by_members(model, explanation) => {
            let pane = Members {
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

type Lines = Vec<(Row, bool)>;

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
        row.put(snapshot.name(model.cursor.rollout, 20), theme.title);
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
    let states = analysis
        .column(&explanation.column)
        .is_some_and(|(spec, _)| spec.meta().uses_states);
    if let Some(class) = explanation.evidence.filter(|_| states) {
        let glyph = glyphs::evidence(Some(class));
        row.put(format!("  {glyph} {}", class.name()), theme.text);
    }
    row
}

fn side(outcome: Outcome, theme: &Theme) -> ratatui::style::Style {
    if outcome == Outcome::Success {
        theme.pos
    } else {
        theme.neg
    }
}

fn missing(explanation: &Explanation, reason: &str, theme: &Theme) -> Lines {
    let mut first = Row::new();
    first.gap(1).put(
        format!("{} has no value here: {reason}", explanation.column),
        theme.warn,
    );
    let mut second = Row::new();
    second
        .gap(1)
        .put("m goes to the next column, ] to the next rollout", theme.dim);
    vec![(first, false), (second, false), (state_line(explanation, theme, 200), false)]
}

fn state_line(explanation: &Explanation, theme: &Theme, width: usize) -> Row {
    let mut row = Row::new();
    row.gap(1).put("state  ", theme.dim);
    let state = text::line(&explanation.state).into_owned();
    row.put(text::cut_left(&state, width.saturating_sub(8)).into_owned(), theme.text);
    row
}

fn action_line(explanation: &Explanation, theme: &Theme, width: usize) -> Row {
    let mut row = Row::new();
    row.gap(1).put("action ", theme.dim);
    let action = text::line(&explanation.action).into_owned();
    row.put(text::cut(&action, width.saturating_sub(8)).into_owned(), theme.text);
    row
}

/// `eval` with all digits, in as many lines as it takes, but at most `most`.
fn eval_lines(explanation: &Explanation, theme: &Theme, width: usize, most: usize) -> Lines {
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

/// `(a + b + … 13 more) / n`, in at most `room` cells.
fn mean_text(values: &[f64], room: usize) -> String {
    let n = values.len();
    let numbers: Vec<String> = values.iter().map(|g| plain(*g, 3)).collect();
    let close = |inside: String| {
        if n == 1 {
            format!("{inside} / 1")
        } else {
            format!("({inside}) / {n}")
        }
    };
    for shown in (1..=n).rev() {
        let mut inside = numbers.get(..shown).unwrap_or(&[]).join(" + ");
        if shown < n {
            inside = format!("{inside} + … {} more", n - shown);
        }
        let whole = close(inside);
        if text::width(&whole) <= room {
            return whole;
        }
    }
    format!("sum of {n} / {n}")
}

struct Members<'a> {
    model: &'a Model,
    snapshot: &'a Snapshot,
    explanation: &'a Explanation,
    value: f64,
    width: usize,
    theme: &'a Theme,
}

impl Members<'_> {
    /// The lines at a height: the table of members takes what the arithmetic leaves.
    fn lines(&self, height: usize) -> Lines {
        let (theme, width) = (self.theme, self.width);
        let tall = height >= 19;
        let mut top: Lines = Vec::new();
        if tall {
            top.push((self.definition(), false));
        }
        top.push((state_line(self.explanation, theme, width), false));
        top.push((action_line(self.explanation, theme, width), false));
        let mut bottom: Lines = Vec::new();
        if tall {
            bottom.extend(self.values());
        } else {
            bottom.push((self.values_short(), false));
        }
        bottom.extend(self.parts());
        if tall || top.len() + bottom.len() + 8 <= height {
            bottom.extend(eval_lines(self.explanation, theme, width, 3));
        }
        let members = self.explanation.members.len();
        let mut room = height.saturating_sub(top.len() + bottom.len() + 1);
        if tall && room > members {
            top.push((Row::new(), false));
            room -= 1;
        }
        let mut lines = top;
        lines.extend(self.members(room));
        lines.extend(bottom);
        if lines.len() < height {
            lines.extend(self.call(height - lines.len()));
        }
        lines
    }

    fn definition(&self) -> Row {
        let theme = self.theme;
        let mut row = Row::new();
        let data = self.snapshot.analysis.step_row(self.explanation.index);
        let (q, v) = (data.q.unwrap_or(0.0), data.v_smooth.unwrap_or(0.0));
        row.gap(1).put(
            format!("A = Q(s,a) − V'(s) = {} − {} = ", plain(q, 3), plain(v, 3)),
            theme.text,
        );
        row.put(signed(self.value, 3), theme.of_sign(self.value).patch(theme.title));
        row.put("   rounded; eval has all digits", theme.dim);
        row
    }

    fn members(&self, room: usize) -> Lines {
        let theme = self.theme;
        let list = &self.explanation.members;
        let wide = self.width >= 68;
        let id = self
            .snapshot
            .widths
            .id
            .clamp(2, (self.width / 4).max(4));
        let t = self.snapshot.widths.t + 1;
        let numbers = if wide { 9 * 3 } else { 9 };
        let label = self.width.saturating_sub(1 + id + 2 + t + 2 + numbers + 1).max(1);
        let mut header = Row::new();
        header.gap(1).left("here were", id + 2 + t + 2, theme.dim);
        if id + 2 + t + 2 < 10 {
            header = Row::new();
            header.gap(1).left("here", id + 2 + t + 2, theme.dim);
        }
        header.left("action", label, theme.dim).right("G_t", 9, theme.dim);
        if wide {
            header.right("outcome", 9, theme.dim).right("shaping", 9, theme.dim);
        }
        let mut lines = vec![(header, false)];
        let cut = list.len() > room;
        let shown = if cut { room.saturating_sub(1) } else { room };
        let first = first_in_sight(self.model.member, list.len(), shown);
        let actions: Vec<&str> = list.iter().map(|m| m.action.as_str()).collect();
        let level = crate::tui::labels::elision(actions.iter().map(|&a| (a, label)));
        for (i, member) in list.iter().enumerate().skip(first).take(shown) {
            let selected = i == self.model.member;
            let mut row = Row::new();
            row.put(super::mark(selected), theme.text);
            let rollout = self.snapshot.analysis.group.rollouts.get(member.rollout);
            row.left(&self.snapshot.name(member.rollout, id), id, theme.text);
            let outcome = rollout.map_or(Outcome::Unscored, |r| r.outcome);
            row.put(format!(" {}", glyphs::outcome(outcome)), side(outcome, theme));
            row.gap(1).left(&format!("t{}", member.step), t, theme.dim).gap(1);
            let style = if member.same_action { theme.text } else { theme.dim };
            row.left(&crate::tui::labels::label(&member.action, level, label), label, style);
            row.right(&plain(member.g, 3), 9, style);
            if wide {
                row.right(&plain(member.outcome, 3), 9, style);
                row.right(&plain(member.shaping, 3), 9, style);
            }
            lines.push((row, selected));
        }
        if cut {
            let mut row = Row::new();
            row.gap(1).put(format!("… {} more members, j goes on", list.len() - shown), theme.dim);
            lines.push((row, false));
        }
        lines
    }

    /// Q, V and V' with their numbers.
    fn values(&self) -> Lines {
        let theme = self.theme;
        let analysis = &self.snapshot.analysis;
        let data = analysis.step_row(self.explanation.index);
        let pair = analysis.graph.pair_of(self.explanation.index);
        let state = analysis.graph.pair(pair).state;
        let returns = |steps: &[u32]| -> Vec<f64> {
            let of = |&s: &u32| analysis.returns.total.get(s as usize).copied();
            steps.iter().filter_map(of).collect()
        };
        let room = self.width.saturating_sub(9 + 8 + 19);
        let q = returns(analysis.values.pair_members(pair));
        let v: Vec<f64> = self.explanation.members.iter().map(|m| m.g).collect();
        let n_prior = analysis.values.n_prior;
        let smooth = if n_prior == 0.0 {
            "V(s), no prior".to_owned()
        } else {
            format!(
                "({}·{} + {}·{}) / ({} + {})",
                data.n_s,
                plain(data.v.unwrap_or(0.0), 3),
                setting(n_prior),
                plain(data.v_prior, 3),
                data.n_s,
                setting(n_prior)
            )
        };
        let rollouts = analysis.graph.state_count(state).rollouts;
        let lines = [
            ("Q(s,a)", mean_text(&q, room), data.q, format!("N(s,a) {}", data.n_sa)),
            ("V(s)", mean_text(&v, room), data.v, format!("N(s) {}, {rollouts} roll.", data.n_s)),
            ("V'(s)", smooth, data.v_smooth, format!("prior {}, n {}", self.prior(), setting(n_prior))),
        ];
        lines
            .into_iter()
            .map(|(name, sum, value, note)| {
                let mut row = Row::new();
                row.gap(1).left(name, 6, theme.title).put(" = ", theme.dim);
                row.left(&sum, room, theme.text).put(" = ", theme.dim);
                row.put(plain(value.unwrap_or(0.0), 3), theme.text);
                row.gap(2).put(note, theme.dim);
                (row, false)
            })
            .collect()
    }

    /// The prior: as a rate of successes where it is one.
    fn prior(&self) -> String {
        let analysis = &self.snapshot.analysis;
        let (ok, n) = (analysis.basis.successes(), analysis.basis.scored_count());
        if n > 0 && ok as f64 / n as f64 == analysis.values.v_prior {
            format!("{ok}/{n}")
        } else {
            plain(analysis.values.v_prior, 3)
        }
    }

    fn values_short(&self) -> Row {
        let theme = self.theme;
        let data = self.snapshot.analysis.step_row(self.explanation.index);
        let n_prior = self.snapshot.analysis.values.n_prior;
        let mut row = Row::new();
        row.gap(1).put("Q ", theme.title);
        row.put(plain(data.q.unwrap_or(0.0), 3), theme.text);
        let v = plain(data.v.unwrap_or(0.0), 3);
        row.put("  V ", theme.title).put(v.clone(), theme.text);
        row.put("  V' ", theme.title);
        if n_prior > 0.0 {
            let (n, k) = (data.n_s, setting(n_prior));
            let prior = plain(data.v_prior, 3);
            let long = format!("({n}·{v} + {k}·{prior})/({n}+{k}) = ");
            let short = format!("({n}·{v}+{k}·{prior})/({n}+{k})=");
            let fits = row.width() + text::width(&long) + 6 <= self.width;
            row.put(if fits { long } else { short }, theme.text);
        }
        row.put(plain(data.v_smooth.unwrap_or(0.0), 3), theme.text);
        row
    }

    /// The six parts, their sums, and the other columns beside them where there is room.
    fn parts(&self) -> Lines {
        let theme = self.theme;
        let Some(split) = &self.explanation.split else {
            return Vec::new();
        };
        let mut header = Row::new();
        header.gap(13);
        for name in ["outcome", "discount", "shaping", "sum"] {
            header.right(name, 8, theme.dim).gap(1);
        }
        let beside = self.width >= 72;
        if beside {
            header.gap(2).put("other columns", theme.dim);
        }
        let winner = self.explanation.why;
        let mut lines = vec![(header, false)];
        let others = self.others();
        for (i, (name, cells)) in table(split).into_iter().enumerate() {
            let mut row = Row::new();
            let loud = winner == Some(name);
            row.gap(1).left(name, 11, if loud { theme.title } else { theme.text });
            for (k, x) in cells.into_iter().enumerate() {
                row.right(&signed(x, 3), 9, theme.of_sign(x));
                let won = match winner {
                    Some("discount") => name == "sum" && k == 1,
                    Some("shaping") => name == "sum" && k == 2,
                    Some(part) => part == name && k == 0,
                    None => false,
                };
                if k < 3 || won {
                    row.put(if won { "◂" } else { "" }, theme.strong);
                }
                row.to(13 + 9 * (k + 1));
            }
            if beside && let Some(other) = others.get(i) {
                row.gap(2).append(other.clone());
            }
            lines.push((row, false));
        }
        lines
    }

    fn others(&self) -> Vec<Row> {
        let theme = self.theme;
        let mut rows = Vec::new();
        for (name, value, convention) in &self.explanation.others {
            if *name == self.explanation.column || rows.len() == 2 {
                continue;
            }
            let mut row = Row::new();
            let name = text::line(name).into_owned();
            row.left(&name, 9, theme.text).gap(1);
            match value {
                Some(x) => row.right(&signed(*x, 3), 6, theme.of_sign(*x)),
                None => row.right("·", 6, theme.dim),
            };
            let room = self.width.saturating_sub(51 + row.width() + 2);
            row.gap(1);
            row.put(text::cut(&text::line(convention), room).into_owned(), theme.dim);
            rows.push(row);
        }
        while rows.len() < 2 {
            rows.push(Row::new());
        }
        let mut row = Row::new();
        let bucket = self.snapshot.analysis.bucket(self.explanation.index);
        let (word, style) = match bucket {
            Bucket::Rescued => ("−+ rescued", theme.strong),
            Bucket::Penalized => ("+− penalized", theme.strong),
            Bucket::BothPos => ("no: both +", theme.dim),
            Bucket::BothNeg => ("no: both −", theme.dim),
            Bucket::InsideX => ("no: X inside τ", theme.dim),
            Bucket::InsideY => ("no: Y inside τ", theme.dim),
            Bucket::InsideBoth => ("no: both inside τ", theme.dim),
            Bucket::Missing => ("no value in X or Y", theme.dim),
        };
        row.put("disagree  ", theme.text).put(word, style);
        rows.push(row);
        rows
    }

    /// What was called, as far as there is room.
    fn call(&self, room: usize) -> Lines {
        let theme = self.theme;
        let Text::Ready(document) = &self.model.reader.text else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let mut first = Row::new();
        first.gap(1).put("call   ", theme.dim);
        let note = document.edit.map_or_else(
            || "i reads all".to_owned(),
            |(old, new)| format!("−{old} +{new} lines, i reads all"),
        );
        let left = self.width.saturating_sub(8 + text::width(&note) + 2);
        first.left(&document.call, left, theme.text).gap(1);
        first.put(note, theme.dim);
        lines.push((first, false));
        let section = document.sections.iter().find(|s| s.name == "call");
        let body = section.map_or(&[][..], |s| s.lines.get(1..).unwrap_or(&[]));
        for (kind, line) in body.iter().take(room.saturating_sub(1)) {
            let mut row = Row::new();
            let style = super::reader::style(*kind, theme);
            row.gap(8).put(text::cut(line, self.width.saturating_sub(9)).into_owned(), style);
            lines.push((row, false));
        }
        lines
    }
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
        row.gap(1).put("A = ", theme.text).put(meta.formula, theme.text);
        row.put(" = ", theme.text);
        row.put(signed(value, 3), theme.of_sign(value).patch(theme.title));
        lines.push((row, false));
        let mut row = Row::new();
        row.gap(1).put(text::line(&convention).into_owned(), theme.dim);
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
        let from = if part.source.is_some() {
            "Enter follows".to_owned()
        } else {
            part.expression()
        };
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
