//! Shares over several groups, each with its bootstrap interval over the groups.

use super::Analysis;
use super::resample::{Interval, interval};
use super::runs::Side;
use super::skill::{Aggregate, GroupTerms, terms};

/// What a group brings to an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its counts.
    pub side: Side,
    /// Whether it counts in quadrants: groups of uniform outcome may stay out.
    pub in_quadrants: bool,
    /// Its terms of held-out skill.
    pub terms: Option<GroupTerms>,
}

impl Part {
    /// The part of a group.
    #[must_use]
    pub fn of(analysis: &Analysis, in_quadrants: bool) -> Self {
        Self { side: Side::of(analysis), in_quadrants, terms: terms(analysis) }
    }
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Share {
    /// Sum of the parts over the sum of the wholes; `None` where the whole is nothing.
    pub value: Option<f64>,
    /// 95 %, over groups; `None` for one group.
    pub interval: Option<Interval>,
}

impl Share {
    /// The share of counts `(part, whole)`, one per group.
    #[must_use]
    pub fn of(counts: &[(u64, u64)], seed: u64) -> Self {
        let ratio = |list: &mut dyn Iterator<Item = &(u64, u64)>| {
            let (part, whole) = list.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            (whole > 0).then(|| part as f64 / whole as f64)
        };
        Self {
            value: ratio(&mut counts.iter()),
            interval: interval(counts, seed, |draw| ratio(&mut draw.iter().copied())),
        }
    }
}

/// Sums and shares of several groups.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Sums of the counts; quadrants of the groups that count there.
    pub side: Side,
    /// Groups that count in quadrants.
    pub in_quadrants: usize,
    /// Successes of scored rollouts.
    pub success: Share,
    /// Shared steps of scored steps.
    pub sharing: Share,
    /// Compared steps of scored steps.
    pub compared: Share,
    /// The four quadrants of scored steps: both positive, rescued, both negative, penalized.
    pub quadrants: [Share; 4],
    /// Held-out skill.
    pub skill: Aggregate,
}

impl Totals {
    /// Sums up groups in the given order.
    #[must_use]
    pub fn of(parts: &[Part], seed: u64) -> Self {
        let share = |of: &dyn Fn(&Side) -> (u64, u64)| {
            Share::of(&parts.iter().map(|p| of(&p.side)).collect::<Vec<_>>(), seed)
        };
        let counted: Vec<&Side> =
            parts.iter().filter(|p| p.in_quadrants).map(|p| &p.side).collect();
        let quadrant = |at: usize| {
            let counts: Vec<(u64, u64)> = counted
                .iter()
                .map(|s| (s.quadrants.get(at).copied().unwrap_or(0), s.steps))
                .collect();
            Share::of(&counts, seed)
        };
        let mut side = Side::default();
        for part in parts {
            let mut one = part.side;
            if !part.in_quadrants {
                one.quadrants = [0; 4];
            }
            side.merge(&one);
        }
        let found: Vec<GroupTerms> = parts.iter().filter_map(|p| p.terms.clone()).collect();
        Self {
            side,
            in_quadrants: counted.len(),
            success: share(&|s| (s.successes, s.scored)),
            sharing: share(&|s| (s.shared, s.steps)),
            compared: share(&|s| (s.compared, s.steps)),
            quadrants: [quadrant(0), quadrant(1), quadrant(2), quadrant(3)],
            skill: Aggregate::of(&found, seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_counts_before_they_divide() {
        let share = Share::of(&[(1, 1), (0, 9)], 0);
        assert_eq!(share.value, Some(0.1));
        let spread = share.interval.unwrap();
        assert_eq!((spread.low, spread.high), (0.0, 1.0));
        assert_eq!(Share::of(&[(1, 4)], 0), Share { value: Some(0.25), interval: None });
        assert_eq!(Share::of(&[(0, 0)], 0).value, None);
    }
}
