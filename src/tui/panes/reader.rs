//! The text of the selected step: a look at each part in a small pane, everything in a pager.
//!
//! Nothing is cut without saying how much.

use ratatui::style::Style;
use regex::Regex;

use crate::export::text;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::difference::glance as glance_at;
use crate::tui::finding;
use crate::tui::model::{Model, Text};
use crate::tui::numbers::bytes;
use crate::tui::snapshot::Snapshot;
use crate::tui::text::{Document, LineKind, Wrapped};
use crate::tui::theme::Theme;

/// Cells of the names at the left.
const NAMES: usize = 9;

/// The width of the text in a pane of this width.
#[must_use]
pub fn text_width(pane: usize) -> usize {
    pane.saturating_sub(NAMES + 1).max(4)
}

/// The style of a line.
pub(super) fn style(kind: LineKind, theme: &Theme) -> Style {
    match kind {
        LineKind::Plain | LineKind::Same => theme.text,
        LineKind::Dim => theme.dim,
        LineKind::Added => theme.pos,
        LineKind::Removed => theme.neg,
    }
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool, alone: bool) {
    let theme = *canvas.theme;
    let analysis = &snapshot.analysis;
    let mut extra = Row::new();
    if model.picks_elsewhere() {
        canvas.rule("i Step", extra, &[], focus);
        canvas.empty(1, &["Enter opens the group of this step, and reads it"]);
        return;
    }
    if let (Some(rollout), Some(step)) =
        (analysis.group.rollouts.get(model.cursor.rollout), model.step())
    {
        let data = analysis.step_row(step);
        let id = text::line(&rollout.id).into_owned();
        extra.put(text::cut(&id, 20).into_owned(), theme.title);
        extra.put(format!(" t{}", model.cursor.step), theme.title);
        extra.put(format!("  turn {}  {}", data.turn, data.category.name()), theme.text);
    }
    let pager = focus || alone;
    let height = canvas.height().saturating_sub(1);
    let lines = &model.reader.lines;
    if pager && lines.len() > height {
        let last = (model.reader.scroll + height).min(lines.len());
        extra.put(
            format!("  lines {}–{last} of {}", model.reader.scroll + 1, lines.len())
                .replace('–', "-"),
            theme.dim,
        );
    }
    if pager && let Some(told) = found(model) {
        extra.put(told, theme.strong);
    }
    canvas.rule("i Step", extra, &[("=", "why"), ("y", "copy")], focus);
    match &model.reader.text {
        Text::None => {
            let key = super::to_steps(model);
            canvas.empty(1, &[&format!("no step is selected: {key}")]);
        }
        Text::Loading => canvas.empty(1, &["reading the file …"]),
        Text::Failed(reason) => {
            let width = canvas.width().saturating_sub(2);
            let clean = text::line(reason).into_owned();
            let mut y = 1;
            for part in super::warnings::fold(&clean, width) {
                let mut row = Row::new();
                row.gap(1).put(part, theme.warn);
                canvas.row(y, &row);
                y += 1;
            }
            canvas
                .empty(y, &["the numbers were made when it was loaded: R loads everything again"]);
        }
        Text::Ready(document) if document.sections.is_empty() => {
            canvas.empty(1, &["this step has no text in the file: j goes to the next one"]);
        }
        Text::Ready(_) if pager => {
            let pattern = pattern(model);
            for (y, line) in lines.iter().skip(model.reader.scroll).take(height).enumerate() {
                // The name of a part that starts above is repeated at the top.
                let name = if y == 0 {
                    lines
                        .iter()
                        .take(model.reader.scroll + 1)
                        .rev()
                        .find_map(|l| (!l.name.is_empty()).then_some(l.name))
                        .unwrap_or("")
                } else {
                    line.name
                };
                let row = match &pattern {
                    Some(pattern) => sought(name, line, pattern, &theme),
                    None => drawn(name, line, &theme),
                };
                canvas.row(y + 1, &row);
            }
        }
        Text::Ready(document) => glance(document, lines, height, canvas),
    }
}

/// What is searched, where this step has it.
fn pattern(model: &Model) -> Option<Regex> {
    let here = model.finding.active() && model.finding.hits.contains(&model.step()?);
    here.then(|| finding::expression(&model.finding.pattern).ok()).flatten()
}

/// On how many lines the search found something.
fn found(model: &Model) -> Option<String> {
    pattern(model)?;
    matches!(model.reader.text, Text::Ready(_)).then(|| match model.reader.found.len() {
        0 => "  / in its action or state, or over lines".to_owned(),
        1 => "  / on 1 line".to_owned(),
        n => format!("  / on {n} lines"),
    })
}

fn drawn(name: &str, line: &Wrapped, theme: &Theme) -> Row {
    let mut row = Row::new();
    row.gap(1).left(name, NAMES - 1, theme.dim);
    row.put(line.text.clone(), style(line.kind, theme));
    row
}

/// A line with what a search looks for standing out; its mark at the left needs no colour.
fn sought(name: &str, line: &Wrapped, pattern: &Regex, theme: &Theme) -> Row {
    let mut row = Row::new();
    let plain = style(line.kind, theme);
    let hit = pattern.is_match(&line.text);
    row.put(if hit { "/" } else { " " }, theme.strong).left(name, NAMES - 1, theme.dim);
    let mut from = 0;
    for found in pattern.find_iter(&line.text) {
        row.put(line.text.get(from..found.start()).unwrap_or_default(), plain);
        row.put(found.as_str(), plain.patch(theme.select));
        from = found.end();
    }
    row.put(line.text.get(from..).unwrap_or_default(), plain);
    row
}

/// The beginnings of all parts, with what is left out of each.
fn glance(document: &Document, lines: &[Wrapped], height: usize, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let starts: Vec<usize> =
        lines.iter().enumerate().filter(|(_, l)| !l.name.is_empty()).map(|(i, _)| i).collect();
    let parts: Vec<&[Wrapped]> = starts
        .iter()
        .enumerate()
        .map(|(i, &from)| {
            let to = starts.get(i + 1).copied().unwrap_or(lines.len());
            lines.get(from..to).unwrap_or(&[])
        })
        .collect();
    let mut y = 1;
    for (part, rows) in parts.iter().zip(budget(&parts, height)) {
        let cut = part.len() > rows;
        let shown = if cut { rows.saturating_sub(1) } else { rows };
        let picked = pick(part, shown);
        for line in &picked {
            let name =
                if std::ptr::eq(*line, part.first().unwrap_or(line)) { line.name } else { "" };
            canvas.row(y, &drawn(name, line, &theme));
            y += 1;
        }
        if cut && rows > 0 {
            let left: usize = part.iter().map(|l| l.text.len() + 1).sum::<usize>()
                - picked.iter().map(|l| l.text.len() + 1).sum::<usize>();
            let mut row = Row::new();
            let name = if shown == 0 { part.first().map_or("", |l| l.name) } else { "" };
            row.gap(1).left(name, NAMES - 1, theme.dim);
            row.put(format!("… {} more", bytes(left)), theme.dim);
            canvas.row(y, &row);
            y += 1;
        }
    }
    let _ = document;
}

/// Which lines of a part are shown: of an edit some taken out and some put in.
fn pick(part: &[Wrapped], rows: usize) -> Vec<&Wrapped> {
    let kinds: Vec<LineKind> = part.iter().map(|l| l.kind).collect();
    glance_at(&kinds, rows).into_iter().filter_map(|i| part.get(i)).collect()
}

/// Rows of each part: everything where it fits; else a fifth for the thought, two fifths for the call,
/// the rest for the result, and what one leaves for the others.
fn budget(parts: &[&[Wrapped]], height: usize) -> Vec<usize> {
    let needs: Vec<usize> = parts.iter().map(|p| p.len()).collect();
    if needs.iter().sum::<usize>() <= height || parts.len() < 2 {
        return needs.iter().map(|n| (*n).min(height)).collect();
    }
    let shares: Vec<usize> = match parts.len() {
        2 => vec![height / 2, height - height / 2],
        _ => vec![(height / 5).max(2), height * 2 / 5],
    };
    let mut rows: Vec<usize> = needs
        .iter()
        .enumerate()
        .map(|(i, &n)| n.min(shares.get(i).copied().unwrap_or(0)))
        .collect();
    let mut left = height.saturating_sub(rows.iter().sum());
    for (have, &need) in rows.iter_mut().zip(&needs).rev() {
        let more = left.min(need - *have);
        *have += more;
        left -= more;
    }
    rows
}
