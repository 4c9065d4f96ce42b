//! Rollouts by steps, coloured by one column, with the evidence behind each cell.

use super::advantages::tip;
use super::axes::legend;
use super::canvas::{Anchor, Canvas, Fill, Kind, SIZE, Tip, wide};
use super::{Figure, project};
use crate::analysis::Analysis;
use crate::export::plain::short;
use crate::export::steps;
use crate::export::table::key_line;
use crate::export::text;
use crate::graph::Evidence;

/// The figure of the column at this place.
#[must_use]
pub fn matrix(analysis: &Analysis, column: usize) -> Figure {
    let mut canvas = Canvas::default();
    let (name, convention) =
        analysis.columns.get(column).map_or_else(Default::default, |(s, c)| {
            (s.name.clone(), format!("{}: {}", s.name, c.convention))
        });
    let value = |step| analysis.columns.get(column).and_then(|(_, c)| c.get(step));
    let rollouts = &analysis.group.rollouts;
    let longest = rollouts.iter().map(|r| r.steps.len()).max().unwrap_or(0).max(1);
    let most =
        (0..analysis.group.len()).filter_map(value).fold(0.0_f64, |most, x| most.max(x.abs()));
    let ids: Vec<String> =
        rollouts.iter().map(|r| text::cut_left(&text::line(&r.id), 26).into_owned()).collect();
    let left = 22.0 + ids.iter().map(|id| wide(id, SIZE)).fold(0.0, f64::max);
    let side = (900.0 / longest as f64).clamp(6.0, 22.0).floor();
    let mut y = 14.0;
    let every = if side >= 16.0 { 1 } else { 5 };
    for t in (0..longest).step_by(every) {
        let x = left + (t as f64 + 0.5) * side;
        canvas.text((x, 8.0), Anchor::Middle, Kind::Tick, &t.to_string());
    }
    let tall = side.max(14.0);
    for (rollout, id) in rollouts.iter().zip(&ids) {
        canvas.outcome((4.0, y + tall / 2.0), rollout.outcome);
        canvas.text((14.0, y + tall / 2.0 + 4.0), Anchor::Start, Kind::Label, id);
        for (t, step) in rollout.steps.clone().enumerate() {
            let place = (left + t as f64 * side, y);
            let size = (side - 1.0, tall - 1.0);
            let tip = tip(analysis, (&name, column), step);
            match value(step) {
                None => canvas.rect(place, size, Fill::Missing, &tip),
                Some(x) => {
                    let strength = if most > 0.0 { x.abs() / most } else { 0.0 };
                    canvas.shade(
                        place,
                        size,
                        (Fill::signed(x, false), 0.08 + 0.92 * strength),
                        &tip,
                    );
                }
            }
            let middle = (place.0 + size.0 / 2.0, place.1 + size.1 / 2.0);
            let r = (side * 0.14).max(1.2);
            match analysis.graph.evidence.get(step).copied().flatten() {
                Some(Evidence::Compared) => canvas.mark(middle, r, (0, false), &Tip::none()),
                Some(Evidence::Shared) => canvas.mark(middle, r, (0, true), &Tip::none()),
                _ => {}
            }
        }
        y += tall;
    }
    y = legend(
        &mut canvas,
        (0.0, y + 12.0),
        (left + longest as f64 * side).max(480.0),
        &[(Fill::Pos, "positive"), (Fill::Neg, "negative (hatched)"), (Fill::Missing, "no value")],
    );
    canvas.mark((6.0, y + 6.0), 3.0, (0, false), &Tip::none());
    canvas.text(
        (17.0, y + 10.0),
        Anchor::Start,
        Kind::Label,
        "compared: another rollout took another action at this state",
    );
    canvas.mark((6.0, y + 24.0), 3.0, (0, true), &Tip::none());
    canvas.text(
        (17.0, y + 28.0),
        Anchor::Start,
        Kind::Label,
        "shared: another rollout was there and did the same; no mark: this rollout alone",
    );
    let notes = vec![
        convention,
        format!("full colour at |{name}| = {}; one cell per step, from the left", short(most, 3)),
    ];
    let title = format!("{name} by rollout and step: {}", key_line(&analysis.group));
    let wanted =
        ["rollout", "outcome", "step", "action", "evidence", "quadrant", "reason", name.as_str()];
    Figure::new(title, notes, canvas, project(&steps::table(analysis, None), &wanted))
}
