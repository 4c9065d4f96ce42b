//! Two analyses of one group against each other: what a turn of the signature changed.
//!
//! The numbers of credit.md section 7 that describe a signature as a whole have their home here.

use std::sync::Arc;

use super::{Analysis, AnalysisSettings, Skill, Tally, skill};
use crate::signature::{Abstraction, Granularity};

/// What a signature is: the abstraction (`None` chooses by the group) and its granularity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureSetting {
    /// Abstraction.
    pub abstraction: Option<Abstraction>,
    /// Granularity.
    pub granularity: Granularity,
}

impl SignatureSetting {
    /// That of some settings.
    #[must_use]
    pub fn of(settings: &AnalysisSettings) -> Self {
        Self { abstraction: settings.abstraction, granularity: settings.granularity.clone() }
    }

    /// The settings with this signature in place of theirs. A batch belongs to an abstraction: it is
    /// kept only where that stays.
    #[must_use]
    pub fn put_into(&self, settings: &AnalysisSettings) -> AnalysisSettings {
        AnalysisSettings {
            abstraction: self.abstraction,
            granularity: self.granularity.clone(),
            batch: settings.batch.filter(|_| self.abstraction == settings.abstraction),
            ..settings.clone()
        }
    }

    /// What to call it: the preset, with the abstraction where that is set.
    #[must_use]
    pub fn name(&self) -> String {
        match self.abstraction {
            Some(a) if a != Abstraction::Swe => a.id().to_owned(),
            _ => self.granularity.name(),
        }
    }
}

/// A signature in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// Distinct states that a step of a scored rollout starts from.
    pub states: usize,
    /// Steps of scored rollouts whose state two or more scored rollouts visited.
    pub shared_steps: u64,
    /// Steps of scored rollouts.
    pub scored_steps: u64,
    /// Share of them whose state another scored rollout visited.
    pub coverage: Option<f64>,
    /// Branching states.
    pub branching: usize,
    /// Mean N(s) over the states that a scored rollout visited.
    pub mean_visits: Option<f64>,
    /// States that two or more scored rollouts passed with different outcomes.
    pub impure: usize,
    /// Steps whose state occurred earlier in their rollout.
    pub revisits: usize,
    /// Steps in each evidence class, strongest first.
    pub evidence: [u32; 4],
    /// Quadrants.
    pub tally: Tally,
    /// Held-out skill; `None` where it says nothing.
    pub skill: Option<Skill>,
}

impl Measures {
    /// The measures of an analysis, its skill among them.
    #[must_use]
    pub fn new(analysis: &Analysis) -> Self {
        let row = analysis.group_row(false);
        let visits: Vec<f64> = analysis.values.visits().filter(|&n| n > 0).map(f64::from).collect();
        Self {
            states: row.states,
            shared_steps: u64::from(row.shared_steps),
            scored_steps: row.tally.scored,
            coverage: row.coverage(),
            branching: row.branching,
            mean_visits: crate::credit::stats::mean(&visits),
            impure: analysis.impurities().into_iter().flatten().filter(|&i| i > 0.0).count(),
            revisits: analysis.graph.revisit.iter().filter(|&&r| r).count(),
            evidence: row.evidence,
            tally: row.tally,
            skill: skill::skill(analysis),
        }
    }
}

/// What became of a step's Y value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change {
    /// Its sign, or its being inside the threshold, is as it was.
    #[default]
    None,
    /// Outside the threshold before and after, with opposite signs.
    Flipped,
    /// Outside the threshold before, inside after.
    Faded,
}

impl Change {
    /// What became of a value under two thresholds, before and now; both are strict. Nothing did where
    /// a value is missing.
    #[must_use]
    pub fn of(before: Option<f64>, now: Option<f64>, (tau_before, tau_now): (f64, f64)) -> Self {
        match (before, now) {
            (Some(before), Some(_)) if before.abs() <= tau_before => Self::None,
            (Some(_), Some(now)) if now.abs() <= tau_now => Self::Faded,
            (Some(before), Some(now)) if (before > 0.0) != (now > 0.0) => Self::Flipped,
            _ => Self::None,
        }
    }
}

/// The change of each step's Y value from one analysis of a group to another.
#[must_use]
pub fn changes(before: &Analysis, after: &Analysis) -> Vec<Change> {
    let tau = (before.settings.tau.1, after.settings.tau.1);
    let (old, new) = (before.y_column(), after.y_column());
    (0..after.group.len()).map(|step| Change::of(old.get(step), new.get(step), tau)).collect()
}

/// A pinned signature and the present one.
#[derive(Debug)]
pub struct Contrast {
    /// The analysis under the pinned signature.
    pub pin: Arc<Analysis>,
    /// Its measures.
    pub before: Measures,
    /// The measures of the present analysis.
    pub after: Measures,
    /// The change of each step's Y value.
    pub changes: Vec<Change>,
}

impl Contrast {
    /// Compares an analysis with the same group under a pinned signature; everything else is as in the
    /// analysis. What an earlier contrast holds of the same pin is taken over.
    #[must_use]
    pub fn new(now: &Arc<Analysis>, pin: &SignatureSetting, earlier: Option<&Self>) -> Self {
        let wanted = pin.put_into(&now.settings);
        let known =
            earlier.filter(|e| e.pin.settings == wanted && Arc::ptr_eq(&e.pin.group, &now.group));
        let after = Measures::new(now);
        let (pin, before) = if wanted == now.settings {
            (Arc::clone(now), after.clone())
        } else if let Some(known) = known {
            (Arc::clone(&known.pin), known.before.clone())
        } else {
            let pin = Arc::new(Analysis::new(Arc::clone(&now.group), &wanted));
            let before = Measures::new(&pin);
            (pin, before)
        };
        Self { changes: changes(&pin, now), pin, before, after }
    }

    /// How many values flipped, and how many faded.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let of = |kind| self.changes.iter().filter(|&&c| c == kind).count();
        (of(Change::Flipped), of(Change::Faded))
    }

    /// The change of a step.
    #[must_use]
    pub fn change(&self, step: usize) -> Change {
        self.changes.get(step).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_strict() {
        let c = |a: f64, b: f64| Change::of(Some(a), Some(b), (0.01, 0.01));
        assert_eq!(c(0.02, -0.02), Change::Flipped);
        assert_eq!(c(0.02, 0.01), Change::Faded);
        assert_eq!(c(0.01, -0.02), Change::None);
        assert_eq!(c(0.02, 0.5), Change::None);
        assert_eq!(Change::of(None, Some(1.0), (0.01, 0.01)), Change::None);
        assert_eq!(Change::of(Some(0.05), Some(-0.05), (0.01, 0.1)), Change::Faded);
    }
}
