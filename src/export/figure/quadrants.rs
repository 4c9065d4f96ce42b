//! Two columns against each other as stacked bars: a bar per key, a segment per bucket.

use super::Figure;
use super::axes::legend;
use super::canvas::{Anchor, Canvas, Fill, Kind, SIZE, Tip, wide};
use crate::analysis::Tally;
use crate::export::quadrants::Breakdowns;
use crate::export::text;

/// The segments of a bar, from the left: the disagreements meet in the middle.
const SEGMENTS: [(Fill, &str); 6] = [
    (Fill::Pos, "both positive"),
    (Fill::Rescued, "rescued (X−, Y+)"),
    (Fill::Inside, "inside a threshold"),
    (Fill::Missing, "no value"),
    (Fill::Penalized, "penalized (X+, Y−)"),
    (Fill::Neg, "both negative"),
];

const fn counts(tally: &Tally) -> [u64; 6] {
    [tally.both_pos, tally.rescued, tally.inside(), tally.missing, tally.penalized, tally.both_neg]
}

/// The figure. `notes` tell the axes and what is left out.
#[must_use]
pub fn quadrants(breakdowns: &Breakdowns, title: String, notes: Vec<String>) -> Figure {
    let mut canvas = Canvas::default();
    let rows = breakdowns.tallies();
    let labels: Vec<String> =
        rows.iter().map(|(key, _)| text::cut(&text::line(key), 28).into_owned()).collect();
    let left = 8.0 + labels.iter().map(|l| wide(l, SIZE)).fold(0.0, f64::max);
    let (width, high) = (520.0, 26.0);
    let mut y = 0.0;
    for ((key, tally), label) in rows.iter().zip(&labels) {
        canvas.text((left - 6.0, y + 17.0), Anchor::End, Kind::Label, label);
        let mut x = left;
        for ((fill, name), n) in SEGMENTS.iter().zip(counts(tally)).filter(|(_, n)| *n > 0) {
            let long = width * n as f64 / tally.steps as f64;
            let words = format!("{key}: {name}: {n} of {}", tally.steps);
            let tip = Tip { words, value: Some(n as f64) };
            canvas.rect((x, y), (long, high), *fill, &tip);
            let told = n.to_string();
            if wide(&told, SIZE) + 4.0 < long {
                canvas.text((x + long / 2.0, y + 17.0), Anchor::Middle, Kind::OnDark, &told);
            }
            x += long;
        }
        let end = (left + width + 8.0, y + 17.0);
        if tally.steps == 0 {
            let at = (left + 6.0, y + 17.0);
            canvas.text(at, Anchor::Start, Kind::Dim, "n/a: no step has a token count");
        } else {
            canvas.text(end, Anchor::Start, Kind::Number, &format!("n {}", tally.steps));
        }
        y += high + 8.0;
    }
    for share in 0..=4 {
        let x = left + width * f64::from(share) / 4.0;
        canvas.line((x, y), (x, y + 4.0), true);
        let label = format!("{} %", share * 25);
        canvas.text((x, y + 15.0), Anchor::Middle, Kind::Tick, &label);
    }
    canvas.line((left, y), (left + width, y), true);
    legend(&mut canvas, (0.0, y + 30.0), left + width, &SEGMENTS);
    canvas.room(left + width + 60.0, 0.0);
    Figure::new(title, notes, canvas, breakdowns.table())
}
