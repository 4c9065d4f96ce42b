//! Scales, ticks and legends: what several figures share.

use super::canvas::{Anchor, At, Canvas, Fill, Kind, SIZE, Tip, wide};
use crate::export::plain::short;

/// A straight scale from numbers to places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    /// `from` is widened where it has no extent.
    pub(super) fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        let from = if from.1 > from.0 { from } else { (from.0 - 0.5, from.0 + 0.5) };
        Self { from, to }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        let share = (x - self.from.0) / (self.from.1 - self.from.0);
        self.to.0 + share * (self.to.1 - self.to.0)
    }

    /// Round numbers inside the scale, about `n` of them, with the decimals they need.
    pub(super) fn ticks(&self, n: usize) -> (Vec<f64>, usize) {
        let (low, high) = self.from;
        let rough = (high - low) / n.max(1) as f64;
        let mut power = 1.0;
        let mut places = 0;
        while power * 10.0 <= rough {
            power *= 10.0;
        }
        while power > rough && places < 12 {
            power /= 10.0;
            places += 1;
        }
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        let all = (0..=2 * n.max(8)).map(|i| first + i as f64).take_while(|k| *k <= last);
        (all.map(|k| k * step).collect(), places)
    }
}

/// Horizontal grid lines with their numbers at the left of `x`.
pub(super) fn left_axis(canvas: &mut Canvas, scale: &Scale, (x, right): (f64, f64), n: usize) {
    let (ticks, places) = scale.ticks(n);
    for tick in ticks {
        let y = scale.at(tick);
        canvas.line((x, y), (right, y), false);
        canvas.text((x - 5.0, y + 3.5), Anchor::End, Kind::Tick, &short(tick, places));
    }
}

/// Swatches with their words in lines, from the left; returns where it ends.
pub(super) fn legend(canvas: &mut Canvas, (x, y): At, width: f64, entries: &[(Fill, &str)]) -> f64 {
    let (mut left, mut top) = (x, y);
    for (fill, label) in entries {
        let long = 18.0 + wide(label, SIZE) + 14.0;
        if left > x && left + long > x + width {
            (left, top) = (x, top + 18.0);
        }
        canvas.rect((left, top), (12.0, 12.0), *fill, &Tip::none());
        canvas.text((left + 17.0, top + 10.0), Anchor::Start, Kind::Label, label);
        left += long;
    }
    top + 18.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let ticks = |low, high, n| {
            let (list, places) = Scale::new((low, high), (0.0, 1.0)).ticks(n);
            list.iter().map(|t| short(*t, places)).collect::<Vec<_>>()
        };
        assert_eq!(ticks(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks(-0.7, 0.7, 4), ["-0.5", "0.0", "0.5"]);
        assert_eq!(ticks(0.0, 130.0, 4), ["0", "50", "100"]);
        assert_eq!(ticks(3.0, 3.0, 2), ["2.5", "3.0", "3.5"]);
    }
}
