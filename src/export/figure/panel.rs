//! Columns against each other as a heat map: sign agreement above the diagonal, rank correlation
//! below it.

use super::Figure;
use super::axes::legend;
use super::canvas::{Anchor, Canvas, Fill, Kind, SIZE, Tip, wide};
use crate::analysis::panel::Panel;
use crate::export::panel::pairs;
use crate::export::plain::short;
use crate::export::text;
use crate::rollout::plural;

/// Side of a cell.
const SIDE: f64 = 44.0;

/// The figure.
#[must_use]
pub fn panel(panel: &Panel, mut notes: Vec<String>) -> Figure {
    let mut canvas = Canvas::default();
    let names: Vec<String> =
        panel.names.iter().map(|n| text::cut(&text::line(n), 20).into_owned()).collect();
    let left = 10.0 + names.iter().map(|n| wide(n, SIZE)).fold(0.0, f64::max);
    // Turned heads: sine of 45 degrees.
    let top = 12.0 + (left - 10.0) * 0.71;
    for (at, name) in names.iter().enumerate() {
        let middle = (at as f64 + 0.5) * SIDE;
        canvas.text((left - 6.0, top + middle + 4.0), Anchor::End, Kind::Label, name);
        let head = (left + middle, top - 5.0);
        canvas.turned(head, Anchor::Start, Kind::Label, (name, -45.0));
    }
    for a in 0..names.len() {
        for b in 0..names.len() {
            let place = (left + b as f64 * SIDE, top + a as f64 * SIDE);
            cell(&mut canvas, panel, (a, b), place);
        }
    }
    let end = names.len() as f64 * SIDE;
    canvas.room(left + end + left * 0.71, top + end);
    legend(
        &mut canvas,
        (0.0, top + end + 12.0),
        (left + end).max(480.0),
        &[
            (Fill::Pos, "agreement over one half, correlation over 0"),
            (Fill::Neg, "under (hatched)"),
            (Fill::Missing, "no value: no step outside both thresholds, or a constant column"),
        ],
    );
    notes.insert(
        0,
        "above the diagonal: share of equal signs among the steps outside both thresholds; below: Spearman's rank correlation over the steps where both have a value".to_owned(),
    );
    Figure::new("Columns against each other", notes, canvas, pairs(panel))
}

fn cell(canvas: &mut Canvas, panel: &Panel, (a, b): (usize, usize), place: (f64, f64)) {
    let size = (SIDE - 2.0, SIDE - 2.0);
    if a == b {
        canvas.rect(place, size, Fill::Inside, &Tip::none());
        return;
    }
    let pair = panel.pair(a.min(b), a.max(b));
    let agreement = pair.agreement();
    let name = |at: usize| panel.names.get(at).map_or("", String::as_str);
    let (value, centred, what) = if a < b {
        (agreement, agreement.map(|x| 2.0 * x - 1.0), "sign agreement")
    } else {
        (pair.spearman, pair.spearman, "Spearman")
    };
    let told = value.map_or_else(|| "no value".to_owned(), crate::credit::derivation::number);
    let words =
        format!("{} and {}: {what} {told}; {}", name(a), name(b), plural(pair.steps, "step"));
    let tip = Tip { words, value };
    match centred {
        None => canvas.rect(place, size, Fill::Missing, &tip),
        Some(x) => canvas.shade(place, size, (Fill::signed(x, false), 0.1 + 0.7 * x.abs()), &tip),
    }
    let label = value.map_or_else(|| "–".to_owned(), |x| short(x, 2));
    let middle = (place.0 + size.0 / 2.0, place.1 + size.1 / 2.0 + 4.0);
    canvas.text(middle, Anchor::Middle, Kind::OnDark, &label);
}
