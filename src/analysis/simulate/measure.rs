//! How far columns are from the truth, by group size.

use super::{ProcessKind, SimulatedGroup, TRUTH};
use crate::analysis::panel::spearman;
use crate::analysis::{Analysis, AnalysisSettings};
use crate::credit::{ColumnError, ColumnSpec, CreditSettings, StepRewardMode, registry};
use crate::signature::Abstraction;

/// True advantages up to this size have no sign worth guessing.
const TAU: f64 = 0.01;

/// What is measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Process.
    pub process: ProcessKind,
    /// How many groups, each a process of its own.
    pub groups: usize,
    /// Group sizes; smaller groups are the first rollouts of larger ones.
    pub sizes: Vec<usize>,
    /// Seed.
    pub seed: u64,
    /// Discount of the truth and of every column that has one.
    pub gamma: f64,
}

/// A column under a name of its own.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// `rtmc`, `rtmc n-prior=0`.
    pub name: String,
    /// The column.
    pub spec: ColumnSpec,
}

/// One column at one group size, over the steps of all groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The candidate.
    pub column: String,
    /// Rollouts per group.
    pub size: usize,
    /// Steps with a value.
    pub steps: usize,
    /// Steps without one.
    pub missing: usize,
    /// Mean of value - truth.
    pub bias: Option<f64>,
    /// Root of the mean of (value - truth)^2.
    pub rmse: Option<f64>,
    /// Share of right signs among steps whose true advantage is beyond 0.01.
    pub sign: Option<f64>,
    /// Spearman's rank correlation of values and truth over all steps.
    pub spearman: Option<f64>,
}

/// Forms that estimate the advantage itself, without a scale of their own.
const RAW: [(&str, &[(&str, &str)]); 4] = [
    ("rtmc", &[("n-prior", "0")]),
    ("rtmc", &[("n-prior", "0"), ("visit", "every")]),
    ("crbc", &[("output", "raw")]),
    ("graft", &[("output", "raw")]),
];

/// Every column at its defaults, and the forms without prior and scale; all at one discount.
pub fn candidates(gamma: f64) -> Result<Vec<Candidate>, ColumnError> {
    let mut all = Vec::new();
    for estimator in registry() {
        let meta = estimator.meta();
        let raw = RAW.iter().filter(|(id, _)| *id == meta.id).map(|(_, params)| *params);
        for params in std::iter::once(&[][..]).chain(raw) {
            let mut spec = ColumnSpec::new(meta.id)?;
            for param in meta.params.iter().filter(|p| ["gamma", "beta"].contains(&p.name)) {
                spec.set(param.name, &gamma.to_string())?;
            }
            let mut name = meta.id.to_owned();
            for (param, value) in params {
                spec.set(param, value)?;
                name = format!("{name} {param}={value}");
            }
            all.push(Candidate { name, spec });
        }
    }
    Ok(all)
}

#[derive(Default, Clone)]
struct Tally {
    steps: usize,
    missing: usize,
    sum: f64,
    squares: f64,
    signed: usize,
    right: usize,
    values: Vec<f64>,
    truths: Vec<f64>,
}

impl Tally {
    fn add(&mut self, value: Option<f64>, truth: f64) {
        let Some(value) = value else {
            self.missing += 1;
            return;
        };
        self.steps += 1;
        let error = value - truth;
        self.sum += error;
        self.squares += error * error;
        self.values.push(value);
        self.truths.push(truth);
        if truth.abs() > TAU {
            self.signed += 1;
            self.right += usize::from(value != 0.0 && (value > 0.0) == (truth > 0.0));
        }
    }
}

/// Measures candidates; rows by candidate, then by size. `None` once `stopped` says so: it is asked
/// before every column of a group, since large groups take seconds.
#[must_use]
pub fn measure(
    plan: &Plan,
    candidates: &[Candidate],
    stopped: impl Fn() -> bool,
) -> Option<Vec<Measured>> {
    let most = plan.sizes.iter().copied().max().unwrap_or(0);
    let mut tallies = vec![vec![Tally::default(); plan.sizes.len()]; candidates.len()];
    let settings = AnalysisSettings {
        abstraction: Some(Abstraction::Logged),
        credit: CreditSettings {
            gamma: plan.gamma,
            step_reward: StepRewardMode::None,
            ..CreditSettings::default()
        },
        ..AnalysisSettings::default()
    };
    for index in 0..plan.groups as u64 {
        let simulated = SimulatedGroup::new(plan.process, plan.seed, index, most, plan.gamma);
        for (slot, &size) in plan.sizes.iter().enumerate() {
            let analysis = Analysis::new(simulated.group(size), &settings);
            let context = analysis.context();
            let named = |(name, _): &&(String, Vec<Option<f64>>)| name == TRUTH[2];
            let Some((_, truth)) = analysis.group.steps.values.iter().find(named) else { continue };
            for (candidate, tallies) in candidates.iter().zip(&mut tallies) {
                if stopped() {
                    return None;
                }
                let column = candidate.spec.estimate(&context);
                let Some(tally) = tallies.get_mut(slot) else { continue };
                for (step, truth) in truth.iter().enumerate() {
                    if let Some(truth) = truth {
                        tally.add(column.get(step), *truth);
                    }
                }
            }
        }
    }
    let mut rows = Vec::new();
    for (candidate, tallies) in candidates.iter().zip(tallies) {
        for (&size, tally) in plan.sizes.iter().zip(tallies) {
            let n = tally.steps as f64;
            let some = tally.steps > 0;
            rows.push(Measured {
                column: candidate.name.clone(),
                size,
                steps: tally.steps,
                missing: tally.missing,
                bias: some.then(|| tally.sum / n),
                rmse: some.then(|| (tally.squares / n).sqrt()),
                sign: (tally.signed > 0).then(|| tally.right as f64 / tally.signed as f64),
                spearman: spearman(&tally.values, &tally.truths),
            });
        }
    }
    Some(rows)
}
