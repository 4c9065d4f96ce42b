//! Below the comparison: where each rollout first leaves each other one.

use crate::export::text;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs;
use crate::tui::model::Model;
use crate::tui::numbers::signed_brief;
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// Cells of an entry: `s13 t1 +.20`.
const CELL: usize = 13;

/// Draws the table.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let pairs = &model.comparing.pairs;
    let n = pairs.rollouts.len();
    let mut extra = Row::new();
    extra.put("state, step, value of the row's rollout", theme.dim);
    let hidden = snapshot.analysis.group.rollouts.len() - n;
    if hidden > 0 {
        extra.put(format!("  {hidden} more not shown"), theme.dim);
    }
    canvas.rule("First divergence of each pair", extra, &[], false);
    let name = pairs.rollouts.iter().map(|&r| text::width(&snapshot.name(r, 12)) + 2).max();
    let name = name.unwrap_or(4) + 2;
    let here = model.comparing.alignment.rollouts.get(model.comparing.column);
    let at = here.and_then(|r| pairs.rollouts.iter().position(|x| x == r)).unwrap_or(0);
    let fit = (canvas.width().saturating_sub(name) / CELL).max(1);
    let left = first_in_sight(at, n, fit);
    let mut head = Row::new();
    head.gap(name);
    for &r in pairs.rollouts.iter().skip(left).take(fit) {
        head.right(&snapshot.name(r, CELL - 2), CELL, theme.dim);
    }
    canvas.row(1, &head);
    let height = canvas.height().saturating_sub(2);
    let top = first_in_sight(at, n, height);
    for (y, i) in (top..n).take(height).enumerate() {
        let row = line(snapshot, model, (i, left, fit), name, i == at, &theme);
        canvas.row(2 + y, &row);
    }
}

fn line(
    snapshot: &Snapshot,
    model: &Model,
    (i, left, fit): (usize, usize, usize),
    name: usize,
    selected: bool,
    theme: &Theme,
) -> Row {
    let pairs = &model.comparing.pairs;
    let analysis = &snapshot.analysis;
    let mut row = Row::new();
    let Some(&rollout) = pairs.rollouts.get(i) else {
        return row;
    };
    row.put(super::mark(selected), theme.text);
    row.put(snapshot.name(rollout, 12), if selected { theme.title } else { theme.text });
    if let Some(data) = analysis.group.rollouts.get(rollout) {
        let good = data.outcome == crate::rollout::Outcome::Success;
        let glyph = glyphs::outcome(data.outcome);
        row.put(format!(" {glyph}"), if good { theme.pos } else { theme.neg });
    }
    row.to(name);
    let steps = pairs.steps.get(i).map_or(&[][..], Vec::as_slice);
    for (k, step) in steps.iter().enumerate().skip(left).take(fit) {
        match step {
            None if k == i => row.right("·", CELL, theme.dim),
            None => row.right("none", CELL, theme.dim),
            Some(step) => {
                let start = analysis.group.rollouts.get(rollout).map_or(0, |r| r.steps.start);
                let value = analysis.y_column().get(*step);
                let told = value.map_or_else(|| "·".to_owned(), signed_brief);
                let state = analysis.graph.state_of(*step);
                let style = value.map_or(theme.dim, |a| theme.of_sign(a));
                row.right(&format!("s{state} t{} {told}", step - start), CELL, style)
            }
        };
    }
    row
}
