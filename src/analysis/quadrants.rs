//! Two columns against each other: which steps agree, which are rescued, which are penalized.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Analysis;
use crate::graph::Evidence;
use crate::rollout::Category;

/// Where a step falls. A step is in a quadrant only if both values are outside their thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bucket {
    /// X and Y positive.
    BothPos,
    /// X negative, Y positive.
    Rescued,
    /// X and Y negative.
    BothNeg,
    /// X positive, Y negative.
    Penalized,
    /// Only X is inside its threshold.
    InsideX,
    /// Only Y is inside its threshold.
    InsideY,
    /// Both are inside.
    InsideBoth,
    /// X or Y has no value.
    Missing,
}

impl Bucket {
    /// All buckets, in display order.
    pub const ALL: [Self; 8] = [
        Self::BothPos,
        Self::Rescued,
        Self::BothNeg,
        Self::Penalized,
        Self::InsideX,
        Self::InsideY,
        Self::InsideBoth,
        Self::Missing,
    ];

    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BothPos => "both_pos",
            Self::Rescued => "rescued",
            Self::BothNeg => "both_neg",
            Self::Penalized => "penalized",
            Self::InsideX => "inside_x",
            Self::InsideY => "inside_y",
            Self::InsideBoth => "inside_both",
            Self::Missing => "missing",
        }
    }

    /// The bucket of a pair of values; thresholds are strict: a value at tau is inside.
    #[must_use]
    pub fn of(x: Option<f64>, y: Option<f64>, (tau_x, tau_y): (f64, f64)) -> Self {
        let (Some(x), Some(y)) = (x, y) else {
            return Self::Missing;
        };
        match (x.abs() > tau_x, y.abs() > tau_y) {
            (false, false) => Self::InsideBoth,
            (false, true) => Self::InsideX,
            (true, false) => Self::InsideY,
            (true, true) => match (x > 0.0, y > 0.0) {
                (true, true) => Self::BothPos,
                (false, true) => Self::Rescued,
                (false, false) => Self::BothNeg,
                (true, false) => Self::Penalized,
            },
        }
    }

    /// Whether the two columns disagree.
    #[must_use]
    pub const fn disagrees(self) -> bool {
        matches!(self, Self::Rescued | Self::Penalized)
    }
}

/// How many steps (or tokens) fall into each bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Everything.
    pub steps: u64,
    /// Of it: steps of scored rollouts, the first denominator.
    pub scored: u64,
    /// X and Y positive.
    pub both_pos: u64,
    /// X negative, Y positive.
    pub rescued: u64,
    /// X and Y negative.
    pub both_neg: u64,
    /// X positive, Y negative.
    pub penalized: u64,
    /// Only X inside.
    pub inside_x: u64,
    /// Only Y inside.
    pub inside_y: u64,
    /// Both inside.
    pub inside_both: u64,
    /// X or Y without a value.
    pub missing: u64,
}

impl Tally {
    /// Adds one step.
    pub fn add(&mut self, bucket: Bucket, scored: bool, weight: u64) {
        self.steps += weight;
        self.scored += if scored { weight } else { 0 };
        *match bucket {
            Bucket::BothPos => &mut self.both_pos,
            Bucket::Rescued => &mut self.rescued,
            Bucket::BothNeg => &mut self.both_neg,
            Bucket::Penalized => &mut self.penalized,
            Bucket::InsideX => &mut self.inside_x,
            Bucket::InsideY => &mut self.inside_y,
            Bucket::InsideBoth => &mut self.inside_both,
            Bucket::Missing => &mut self.missing,
        } += weight;
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Self) {
        self.steps += other.steps;
        self.scored += other.scored;
        self.both_pos += other.both_pos;
        self.rescued += other.rescued;
        self.both_neg += other.both_neg;
        self.penalized += other.penalized;
        self.inside_x += other.inside_x;
        self.inside_y += other.inside_y;
        self.inside_both += other.inside_both;
        self.missing += other.missing;
    }

    /// Inside the threshold of X, of Y or of both.
    #[must_use]
    pub const fn inside(&self) -> u64 {
        self.inside_x + self.inside_y + self.inside_both
    }

    /// Outside both thresholds: the second denominator.
    #[must_use]
    pub const fn outside(&self) -> u64 {
        self.both_pos + self.rescued + self.both_neg + self.penalized
    }

    /// The four quadrants in export order.
    #[must_use]
    pub const fn quadrants(&self) -> [u64; 4] {
        [self.both_pos, self.rescued, self.both_neg, self.penalized]
    }
}

/// What the breakdown goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum By {
    /// Outcome of the rollout.
    Outcome,
    /// Rollout.
    Rollout,
    /// Category of the action.
    Category,
    /// Step number.
    Depth,
    /// Evidence class.
    Evidence,
}

impl By {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Outcome, Self::Rollout, Self::Category, Self::Depth, Self::Evidence];

    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::Rollout => "rollout",
            Self::Category => "category",
            Self::Depth => "depth",
            Self::Evidence => "evidence",
        }
    }
}

/// Weight of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Weight {
    /// Each step counts 1.
    Steps,
    /// Each step counts its tokens; steps without a count weigh 0.
    Tokens,
}

impl Weight {
    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
        }
    }
}

/// A key of a breakdown, sortable in display order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BreakdownKey {
    order: u64,
    /// The key as text.
    pub text: String,
}

/// One row of a breakdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Breakdown {
    /// Buckets.
    pub tally: Tally,
    /// Evidence classes, strongest first; steps of rollouts that are not scored have none.
    pub evidence: [u64; 4],
    /// Steps that have a weight: with [`Weight::Tokens`] those with a token count.
    pub weighed: u64,
    /// Steps that have none, and count nothing.
    pub unweighed: u64,
}

impl Breakdown {
    /// Adds another row.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.weighed += other.weighed;
        self.unweighed += other.unweighed;
        for (mine, theirs) in self.evidence.iter_mut().zip(other.evidence) {
            *mine += theirs;
        }
    }
}

/// The buckets of a group's steps by key.
#[must_use]
pub fn breakdown(
    analysis: &Analysis,
    by: By,
    only_compared: bool,
    weight: Weight,
) -> Vec<(BreakdownKey, Tally)> {
    breakdown_rows(analysis, by, only_compared, weight)
        .into_iter()
        .map(|(key, row)| (key, row.tally))
        .collect()
}

/// The buckets and evidence classes of a group's steps by key.
#[must_use]
pub fn breakdown_rows(
    analysis: &Analysis,
    by: By,
    only_compared: bool,
    weight: Weight,
) -> Vec<(BreakdownKey, Breakdown)> {
    let group = &analysis.group;
    let mut rows: BTreeMap<BreakdownKey, Breakdown> = BTreeMap::new();
    for (i, rollout) in group.rollouts.iter().enumerate() {
        let scored = analysis.basis.scored.get(i) == Some(&true);
        for (t, step) in rollout.steps.clone().enumerate() {
            let evidence = analysis.graph.evidence.get(step).copied().flatten();
            if only_compared && evidence != Some(Evidence::Compared) {
                continue;
            }
            let (order, text) = match by {
                By::Outcome => (rollout.outcome as u64, rollout.outcome.name().to_owned()),
                By::Rollout => (i as u64, rollout.id.clone()),
                By::Category => {
                    let action = group.steps.facts.steps.action(step);
                    let category = action.map_or(Category::Other, |a| a.category);
                    (category as u64, category.name().to_owned())
                }
                By::Depth => (t as u64, t.to_string()),
                By::Evidence => {
                    evidence.map_or((9, "none".to_owned()), |e| (e as u64, e.name().to_owned()))
                }
            };
            let amount = match weight {
                Weight::Steps => Some(1),
                Weight::Tokens => group
                    .steps
                    .tokens
                    .get(step)
                    .copied()
                    .flatten()
                    .map(|(a, b)| b.saturating_sub(a)),
            };
            let row = rows.entry(BreakdownKey { order, text }).or_default();
            row.weighed += u64::from(amount.is_some());
            row.unweighed += u64::from(amount.is_none());
            let amount = amount.unwrap_or(0);
            row.tally.add(analysis.bucket(step), scored, amount);
            if let Some(slot) = evidence.and_then(|e| row.evidence.get_mut(e as usize)) {
                *slot += amount;
            }
        }
    }
    rows.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_strict() {
        let tau = (0.01, 0.01);
        assert_eq!(Bucket::of(Some(0.01), Some(0.5), tau), Bucket::InsideX);
        assert_eq!(Bucket::of(Some(-0.02), Some(0.02), tau), Bucket::Rescued);
        assert_eq!(Bucket::of(Some(0.02), Some(-0.02), tau), Bucket::Penalized);
        assert_eq!(Bucket::of(Some(0.02), Some(-0.01), tau), Bucket::InsideY);
        assert_eq!(Bucket::of(Some(0.0), Some(-0.0), tau), Bucket::InsideBoth);
        assert_eq!(Bucket::of(None, Some(1.0), tau), Bucket::Missing);
    }
}
