//! Values of a knob against what they give: one small chart per measure; a second knob is a series.

use super::Figure;
use super::axes::{Scale, left_axis};
use super::canvas::{Anchor, At, Canvas, Kind, SIZE, Tip, wide};
use crate::analysis::sweep::SweepRow;
use crate::export::plain::short;
use crate::export::sweep::{Point, table};

/// A measure: its name, its number, its decimals.
type Measure = (&'static str, fn(&SweepRow) -> Option<f64>, usize);

/// The measures, by rows of three.
const MEASURES: [Measure; 9] = [
    ("states", |r| Some(r.states as f64), 0),
    ("sharing (share of steps)", SweepRow::sharing, 3),
    ("compared (share of steps)", SweepRow::compared_share, 3),
    ("branching states", |r| Some(r.branching as f64), 0),
    ("impurity, mean", SweepRow::mean_impurity, 3),
    ("N(s), mean", SweepRow::mean_visits, 2),
    ("sign flips against now", |r| Some(r.flips as f64), 0),
    ("faded against now", |r| Some(r.faded as f64), 0),
    ("held-out skill", |r| r.skill.steps.skill(), 3),
];

/// Width and height of a chart, room around it included.
const CHART: At = (270.0, 158.0);

/// The figure.
#[must_use]
pub fn sweep(rows: &[(Point, SweepRow)], notes: Vec<String>) -> Figure {
    let mut canvas = Canvas::default();
    let knob = |at: usize| {
        let first = rows.first().and_then(|(point, _)| point.at.get(at));
        first.map_or("", |(name, _)| name.as_str())
    };
    let values = |at: usize| {
        let mut found: Vec<&str> = Vec::new();
        for (point, _) in rows {
            if let Some((_, value)) = point.at.get(at)
                && !found.contains(&value.as_str())
            {
                found.push(value);
            }
        }
        found
    };
    let (xs, series) = (values(0), values(1));
    for (at, measure) in MEASURES.iter().enumerate() {
        let place = ((at % 3) as f64 * CHART.0, (at / 3) as f64 * CHART.1);
        chart(&mut canvas, place, measure, (rows, &xs, &series));
    }
    let mut x = 0.0;
    let y = 3.0 * CHART.1 + 4.0;
    for (at, value) in series.iter().enumerate() {
        let label = format!("{} = {value}", knob(1));
        canvas.path(&[(x, y), (x + 26.0, y)], at);
        canvas.mark((x + 13.0, y), 3.2, (at, false), &Tip::none());
        canvas.text((x + 32.0, y + 4.0), Anchor::Start, Kind::Label, &label);
        x += 48.0 + wide(&label, SIZE);
    }
    canvas.mark((x + 6.0, y), 3.2, (0, true), &Tip::none());
    canvas.text((x + 14.0, y + 4.0), Anchor::Start, Kind::Label, "the setting in force");
    let title = match knob(1) {
        "" => format!("Sweep over {}", knob(0)),
        second => format!("Sweep over {} and {second}", knob(0)),
    };
    Figure::new(title, notes, canvas, table(rows, false))
}

type Rows<'a> = (&'a [(Point, SweepRow)], &'a [&'a str], &'a [&'a str]);

fn chart(canvas: &mut Canvas, (x, y): At, (name, number, places): &Measure, rows: Rows<'_>) {
    let (rows, xs, series) = rows;
    let (left, right) = (x + 46.0, x + CHART.0 - 16.0);
    let (top, bottom) = (y + 36.0, y + CHART.1 - 34.0);
    canvas.text((left, y + 12.0), Anchor::Start, Kind::Label, name);
    let numbers: Vec<f64> = rows.iter().filter_map(|(_, row)| number(row)).collect();
    if numbers.is_empty() {
        canvas.text((left, y + 60.0), Anchor::Start, Kind::Dim, "n/a: no group has a value");
        return;
    }
    let low = numbers.iter().copied().fold(0.0, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max).max(0.0);
    let range = if low < high { (low, high) } else { (0.0, 1.0) };
    let scale = Scale::new(range, (bottom, top));
    left_axis(canvas, &scale, (left, right), 3);
    canvas.line((left, bottom), (right, bottom), true);
    let step = (right - left) / xs.len().max(1) as f64;
    let place = |value: &str| {
        let at = xs.iter().position(|v| *v == value).unwrap_or(0);
        left + (at as f64 + 0.5) * step
    };
    for value in xs {
        canvas.text((place(value), bottom + 13.0), Anchor::Middle, Kind::Tick, value);
    }
    for at in 0..series.len().max(1) {
        let own = rows.iter().filter(|(point, _)| {
            point.at.get(1).map(|(_, v)| v.as_str()) == series.get(at).copied()
        });
        let points: Vec<(At, &Point, f64)> = own
            .filter_map(|(point, row)| {
                let x = place(point.at.first()?.1.as_str());
                let value = number(row)?;
                Some(((x, scale.at(value)), point, value))
            })
            .collect();
        canvas.path(&points.iter().map(|p| p.0).collect::<Vec<_>>(), at);
        for (spot, point, value) in points {
            let setting: Vec<String> = point.at.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let told = crate::credit::derivation::number(value);
            let words = format!("{}: {name} {told}", setting.join(" "));
            let tip = Tip { words, value: Some(value) };
            canvas.mark(spot, 3.2, (at, point.current), &tip);
            if series.len() < 2 {
                let told = short(value, *places);
                canvas.text((spot.0, spot.1 - 6.0), Anchor::Middle, Kind::Number, &told);
            }
        }
    }
}
