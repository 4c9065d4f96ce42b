//! All rollouts of the group: sums, and one cell per step with evidence and sign.

use crate::tui::canvas::{Canvas, Row};
use crate::tui::glyphs;
use crate::tui::model::Model;
use crate::tui::numbers::{plain, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

#[derive(Clone, Copy)]
struct Columns {
    id: usize,
    shaping: bool,
    g0: bool,
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    canvas.rule("6 Rollouts", Row::new(), &[("[ ]", "move")], focus);
    let rows = snapshot.rollouts.len();
    if rows == 0 {
        let key = super::to_steps_of_a_group(model);
        canvas.empty(1, &[&format!("this group has no rollouts: {key}")]);
        return;
    }
    let columns = Columns {
        id: snapshot.widths.id.clamp(2, (canvas.width() / 4).max(4)),
        shaping: canvas.width() >= 54,
        g0: canvas.width() >= 46,
    };
    let mut header = Row::new();
    header.gap(1 + columns.id + 2);
    header.right("steps", snapshot.widths.steps.max(5) + 1, theme.dim);
    if columns.shaping {
        header.right("ΣS", 7, theme.dim);
    }
    if columns.g0 {
        header.right("G_0", 7, theme.dim);
    }
    header.right("Σ A", 8, theme.dim);
    let room = canvas.width().saturating_sub(header.width() + 1);
    let what = ["evidence and sign", "evidence", "class"];
    let what = what.into_iter().find(|w| w.len() <= room).unwrap_or_default();
    header.gap(1).put(what, theme.dim);
    canvas.row(1, &header);
    let width = canvas.width();
    super::list(canvas, 2, rows, Some(model.cursor.rollout), |at, theme| {
        line(model, snapshot, at, columns, width, theme)
    });
}

fn line(
    model: &Model,
    snapshot: &Snapshot,
    at: usize,
    columns: Columns,
    width: usize,
    theme: &Theme,
) -> Row {
    let mut row = Row::new();
    let analysis = &snapshot.analysis;
    let (Some(data), Some(rollout)) = (snapshot.rollouts.get(at), analysis.group.rollouts.get(at))
    else {
        return row;
    };
    let success = rollout.outcome == crate::rollout::Outcome::Success;
    let marked = model.comparing.marked.contains(&at);
    let selected = at == model.cursor.rollout;
    row.put(if marked && !selected { "|" } else { super::mark(selected) }, theme.text);
    let out = !model.filtering.passes.is_empty() && model.listed(at).is_empty();
    let name = if out { theme.dim } else { theme.text };
    row.left(&snapshot.name(at, columns.id), columns.id, name);
    row.put(
        format!(" {}", glyphs::outcome(rollout.outcome)),
        if success { theme.pos } else { theme.neg },
    );
    row.right(&data.steps.to_string(), snapshot.widths.steps.max(5) + 1, theme.text);
    if columns.shaping {
        row.right(&signed(data.shaping, 3), 7, theme.dim);
    }
    if columns.g0 {
        let g = data.g0.map_or_else(|| "·".to_owned(), |g| plain(g, 3));
        row.right(&g, 7, theme.dim);
    }
    match data.columns.get(snapshot.y()).copied().flatten() {
        Some((sum, _)) => row.right(&signed(sum, 2), 8, theme.of_sign(sum)),
        None => row.right("·", 8, theme.dim),
    };
    row.gap(1);
    let mut tail = Row::new();
    if let Err(reason) = data.scored {
        tail.put(format!(" {reason}"), theme.warn);
    }
    for (n, name) in [(data.tally.rescued, "rescued"), (data.tally.penalized, "penalized")] {
        if n > 0 {
            tail.put(format!(" {n} {name}"), theme.strong);
        }
    }
    tail.gap(1);
    let mut room = width.saturating_sub(row.width());
    let fits = tail.width() + rollout.steps.len().min(8) <= room;
    if fits {
        room -= tail.width();
    }
    let y = analysis.y_column();
    let cut = rollout.steps.len() > room;
    for step in rollout.steps.clone().take(room.saturating_sub(usize::from(cut))) {
        let class = analysis.graph.evidence.get(step).copied().flatten();
        let value = y.get(step);
        let style = value.map_or(theme.dim, |a| theme.of_sign(a));
        // The colour tells the sign; where there is none, the glyph does.
        let glyph = match value.filter(|&a| a != 0.0 && theme.pos == theme.neg) {
            Some(a) => glyphs::signed_evidence(class, a > 0.0),
            None => glyphs::evidence(class),
        };
        row.solid(glyph.to_string(), style);
    }
    if cut && room > 0 {
        row.put("…", theme.dim);
    }
    if fits {
        row.to(width.saturating_sub(tail.width()));
        row.append(tail);
    }
    row
}
