//! The value of each step, column by column: one rollout large with its actions, or all of a group as
//! small charts.

use super::axes::{Scale, legend};
use super::canvas::{Anchor, At, Canvas, Fill, Kind, SIZE, Tip, wide};
use super::{Figure, project};
use crate::analysis::Analysis;
use crate::export::plain::short;
use crate::export::steps;
use crate::export::table::key_line;
use crate::export::text;
use crate::graph::Evidence;

/// Longest label of an action, in cells.
const ACTION: usize = 26;

/// The figure: the columns at these places, of one rollout where one is given.
#[must_use]
pub fn advantages(analysis: &Analysis, columns: &[usize], rollout: Option<&str>) -> Figure {
    let mut canvas = Canvas::default();
    let shown: Vec<usize> = (0..analysis.group.rollouts.len())
        .filter(|&i| {
            let found = analysis.group.rollouts.get(i);
            rollout.is_none() || found.map(|r| r.id.as_str()) == rollout
        })
        .collect();
    let charts: Vec<Chart> = columns.iter().map(|&c| Chart::new(analysis, c, &shown)).collect();
    let bottom = match shown.as_slice() {
        [one] => large(&mut canvas, analysis, &charts, *one),
        _ => small(&mut canvas, analysis, &charts, &shown),
    };
    let (width, _) = canvas.extent();
    legend(
        &mut canvas,
        (0.0, bottom + 8.0),
        width.max(480.0),
        &[
            (Fill::Pos, "positive"),
            (Fill::Neg, "negative"),
            (Fill::PosWeak, "positive, no other rollout was at the state"),
            (Fill::NegWeak, "negative, no other rollout was at the state"),
            (Fill::Missing, "no value"),
        ],
    );
    let names: Vec<&str> = charts.iter().map(|c| c.name.as_str()).collect();
    let mut notes: Vec<String> = charts.iter().map(|c| c.convention.clone()).collect();
    notes.push("one bar per step; each column has its own scale".to_owned());
    let mut wanted =
        vec!["rollout", "outcome", "step", "action", "result", "evidence", "quadrant", "reason"];
    wanted.extend(&names);
    let title = format!(
        "Advantages per step: {}{}",
        key_line(&analysis.group),
        rollout.map_or_else(String::new, |id| format!(", {id}"))
    );
    Figure::new(title, notes, canvas, project(&steps::table(analysis, rollout), &wanted))
}

/// A column and how far its values reach.
struct Chart {
    column: usize,
    name: String,
    convention: String,
    states: bool,
    /// Smallest and largest value, 0 among them.
    range: (f64, f64),
}

impl Chart {
    fn new(analysis: &Analysis, column: usize, shown: &[usize]) -> Self {
        let (name, convention, states) =
            analysis.columns.get(column).map_or_else(Default::default, |(spec, c)| {
                let states = spec.meta().uses_states;
                (spec.name.clone(), format!("{}: {}", spec.name, c.convention), states)
            });
        let steps = |i: &usize| analysis.group.rollouts.get(*i).map_or(0..0, |r| r.steps.clone());
        let range = shown
            .iter()
            .flat_map(steps)
            .filter_map(|s| analysis.columns.get(column).and_then(|(_, c)| c.get(s)))
            .fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let range = if range == (0.0, 0.0) { (0.0, 1.0) } else { range };
        Self { column, name, convention, states, range }
    }

    /// The scale of a box; `told` leaves room for numbers over and under the bars.
    fn scale(&self, (y, high): (f64, f64), told: bool) -> Scale {
        let (low, most) = self.range;
        let room = |there: bool| if told && there { 14.0 } else { 2.0 };
        Scale::new(self.range, (y + high - room(low < 0.0), y + room(most > 0.0)))
    }

    fn value(&self, analysis: &Analysis, step: usize) -> Option<f64> {
        analysis.columns.get(self.column).and_then(|(_, c)| c.get(step))
    }

    /// The bars of a rollout around the middle of a box; numbers over them where `told`.
    fn bars(
        &self,
        canvas: &mut Canvas,
        (analysis, rollout): (&Analysis, usize),
        ((x, y), (wide, high)): (At, At),
        told: bool,
    ) {
        let steps = analysis.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
        let scale = self.scale((y, high), told);
        let zero = scale.at(0.0);
        for (t, step) in steps.enumerate() {
            let left = x + t as f64 * wide;
            let (gap, thick) = (wide * 0.12, wide * 0.76);
            let tip = tip(analysis, (&self.name, self.column), step);
            let Some(value) = self.value(analysis, step) else {
                let side = thick.min(6.0);
                canvas.rect(
                    (left + (wide - side) / 2.0, zero - side / 2.0),
                    (side, side),
                    Fill::Missing,
                    &tip,
                );
                continue;
            };
            let evidence = analysis.graph.evidence.get(step).copied().flatten();
            let alone = matches!(evidence, Some(Evidence::Own | Evidence::Single) | None);
            let end = scale.at(value);
            let (top, tall) = (end.min(zero), (end - zero).abs().max(0.4));
            let fill = Fill::signed(value, self.states && alone);
            canvas.rect((left + gap, top), (thick, tall), fill, &tip);
            if told {
                let base = if value < 0.0 { end + 11.0 } else { end - 3.0 };
                let at = (left + wide / 2.0, base);
                canvas.text(at, Anchor::Middle, Kind::Number, &short(value, 2));
            }
        }
    }
}

/// What a step says when it is pointed at.
pub(super) fn tip(analysis: &Analysis, (name, column): (&str, usize), step: usize) -> Tip {
    let row = analysis.step_row(step);
    let cell = analysis.columns.get(column).map(|(_, c)| c);
    let value = cell.and_then(|c| c.get(step)).map_or_else(
        || {
            cell.and_then(|c| c.reason(step))
                .map_or_else(|| "no value".to_owned(), |reason| format!("no value: {reason}"))
        },
        crate::credit::derivation::number,
    );
    let id = analysis.group.rollouts.get(row.rollout).map_or("", |r| r.id.as_str());
    let words = format!(
        "{id} step {}: {}; {name} {value}; {}",
        row.step,
        analysis.action_label(step),
        row.evidence.map_or("not scored", |e| e.name())
    );
    Tip { words, value: cell.and_then(|c| c.get(step)) }
}

/// One rollout: charts under each other, actions beneath. Returns where it ends.
fn large(canvas: &mut Canvas, analysis: &Analysis, charts: &[Chart], rollout: usize) -> f64 {
    let steps = analysis.group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
    let (left, high) = (70.0, 104.0);
    let wide_step = (900.0 / steps.len().max(1) as f64).clamp(16.0, 46.0);
    let right = left + steps.len() as f64 * wide_step;
    let mut y = 0.0;
    for chart in charts {
        let told = wide_step >= 28.0;
        let scale = chart.scale((y, high), told);
        super::axes::left_axis(canvas, &scale, (left, right), 4);
        canvas.line((left, scale.at(0.0)), (right, scale.at(0.0)), true);
        let middle = y + high / 2.0;
        canvas.turned((12.0, middle), Anchor::Middle, Kind::Label, (&chart.name, -90.0));
        chart.bars(canvas, (analysis, rollout), ((left, y), (wide_step, high)), told);
        y += high + 14.0;
    }
    let mut longest: f64 = 0.0;
    for (t, step) in steps.enumerate() {
        let x = left + (t as f64 + 0.5) * wide_step;
        let label = text::line(&analysis.action_label(step)).into_owned();
        let label = format!("{t} {}", text::cut_middle(&label, ACTION));
        longest = longest.max(wide(&label, SIZE));
        canvas.turned((x + 3.0, y + 4.0), Anchor::End, Kind::Label, (&label, -60.0));
    }
    // The turned labels hang down: sine of 60 degrees.
    let end = y + longest * 0.87 + 14.0;
    canvas.room(right, end);
    end
}

/// All rollouts: a row per rollout, a chart per column.
fn small(canvas: &mut Canvas, analysis: &Analysis, charts: &[Chart], shown: &[usize]) -> f64 {
    let most = shown
        .iter()
        .filter_map(|&i| analysis.group.rollouts.get(i))
        .map(|r| r.steps.len())
        .max()
        .unwrap_or(0)
        .max(1);
    let ids: Vec<String> = shown
        .iter()
        .filter_map(|&i| analysis.group.rollouts.get(i))
        .map(|r| text::cut_left(&text::line(&r.id), 26).into_owned())
        .collect();
    let left = 20.0 + ids.iter().map(|id| wide(id, SIZE)).fold(0.0, f64::max);
    let wide_step = (260.0 / most as f64).clamp(3.0, 20.0);
    let (chart_wide, high, gap) = ((most as f64 * wide_step).max(120.0), 46.0, 18.0);
    let mut y = 16.0;
    for (at, chart) in charts.iter().enumerate() {
        let x = left + at as f64 * (chart_wide + gap);
        let (low, most) = chart.range;
        let head = format!("{}, {} to {}", chart.name, short(low, 3), short(most, 3));
        canvas.text((x, 8.0), Anchor::Start, Kind::Tick, &head);
    }
    for (&rollout, id) in shown.iter().zip(&ids) {
        let middle = y + high / 2.0;
        if let Some(found) = analysis.group.rollouts.get(rollout) {
            canvas.outcome((4.0, middle), found.outcome);
        }
        canvas.text((14.0, middle + 4.0), Anchor::Start, Kind::Label, id);
        for (at, chart) in charts.iter().enumerate() {
            let x = left + at as f64 * (chart_wide + gap);
            let zero = chart.scale((y, high), false).at(0.0);
            canvas.line((x, zero), (x + chart_wide, zero), false);
            chart.bars(canvas, (analysis, rollout), ((x, y), (wide_step, high)), false);
        }
        y += high + 6.0;
    }
    y
}
