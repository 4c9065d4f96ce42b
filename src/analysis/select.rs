//! Choosing steps by what they are: outcome, result, quadrant, category, file, evidence, size of the value,
//! and what happened at their state.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Analysis, Bucket};
use crate::graph::Evidence;
use crate::rollout::{Category, Flags, Outcome, StepResult};

/// One property that a step may be chosen by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facet {
    /// Outcome of the rollout.
    Outcome(Outcome),
    /// Where the step falls in the quadrants.
    Bucket(Bucket),
    /// What came of the action.
    Result(StepResult),
    /// Category of the action.
    Category(Category),
    /// Evidence class.
    Evidence(Evidence),
    /// |Y| is above so many thousandths.
    Above(u32),
    /// Two or more rollouts visited the state.
    Shared,
    /// The state branches.
    Branching,
    /// The state occurred earlier in the rollout.
    Revisit,
    /// The exit code does not speak for the command.
    Masked,
    /// The action works on this file: one of its targets.
    File(Arc<str>),
}

impl Facet {
    /// All of them that every group may have, in display order: files are each group's own.
    #[must_use]
    pub fn all() -> Vec<Self> {
        Outcome::ALL
            .map(Self::Outcome)
            .into_iter()
            .chain(StepResult::ALL.map(Self::Result))
            .chain(Bucket::ALL.map(Self::Bucket))
            .chain(Evidence::ALL.map(Self::Evidence))
            .chain([50, 100, 200, 500, 1000].map(Self::Above))
            .chain([Self::Shared, Self::Branching, Self::Revisit, Self::Masked])
            .chain(Category::ALL.map(Self::Category))
            .collect()
    }

    /// What it goes by.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Outcome(_) => "outcome",
            Self::Bucket(_) => "quadrant",
            Self::Result(_) => "result",
            Self::Category(_) => "category",
            Self::File(_) => "file",
            Self::Evidence(_) => "evidence",
            Self::Above(_) => "|A|",
            Self::Shared | Self::Branching | Self::Revisit | Self::Masked => "state",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Outcome(o) => o.name().to_owned(),
            Self::Bucket(b) => b.name().to_owned(),
            Self::Result(r) => r.name().to_owned(),
            Self::Category(c) => c.name().to_owned(),
            Self::File(path) => path.to_string(),
            Self::Evidence(e) => e.name().to_owned(),
            Self::Above(n) => format!("> {}", f64::from(*n) / 1000.0),
            Self::Shared => "N≥2".to_owned(),
            Self::Branching => "branching".to_owned(),
            Self::Revisit => "revisit".to_owned(),
            Self::Masked => "masked".to_owned(),
        }
    }

    /// Whether a step has it.
    #[must_use]
    pub fn holds(&self, analysis: &Analysis, step: usize) -> bool {
        let state = || analysis.graph.state_of(step);
        let action = || analysis.group.steps.facts.steps.action(step);
        match self {
            Self::Outcome(o) => {
                let rollout = analysis.graph.rollout_of(step);
                analysis.group.rollouts.get(rollout).is_some_and(|r| r.outcome == *o)
            }
            Self::Bucket(b) => analysis.bucket(step) == *b,
            Self::Category(c) => action().is_some_and(|a| a.category == *c),
            Self::Result(r) => action().is_some_and(|a| a.result == *r),
            Self::File(path) => {
                let table = &analysis.group.steps.facts;
                let symbols = &analysis.group.symbols;
                action().is_some_and(|a| {
                    table.targets_of(a).iter().any(|&t| symbols.text(t) == &**path)
                })
            }
            Self::Evidence(e) => analysis.graph.evidence.get(step).copied().flatten() == Some(*e),
            Self::Above(n) => {
                analysis.y_column().get(step).is_some_and(|a| a.abs() > f64::from(*n) / 1000.0)
            }
            Self::Shared => analysis.graph.state_count(state()).rollouts >= 2,
            Self::Branching => analysis.graph.branching.get(state() as usize) == Some(&true),
            Self::Revisit => analysis.graph.revisit.get(step) == Some(&true),
            Self::Masked => action().is_some_and(|a| a.flags.has(Flags::MASKED)),
        }
    }

    /// The files that the actions of a group work on, those of most steps first, then by name.
    #[must_use]
    pub fn files(analysis: &Analysis) -> Vec<Self> {
        let group = &analysis.group;
        let mut steps: BTreeMap<&str, usize> = BTreeMap::new();
        for fact in group.steps.facts.steps.iter() {
            let targets = group.steps.facts.targets_of(&fact.action).iter();
            let mut names: Vec<&str> = targets.map(|&t| group.symbols.text(t)).collect();
            names.sort_unstable();
            names.dedup();
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                *steps.entry(name).or_default() += 1;
            }
        }
        let mut list: Vec<(&str, usize)> = steps.into_iter().collect();
        list.sort_by_key(|&(_, n)| Reverse(n));
        list.into_iter().map(|(name, _)| Self::File(Arc::from(name))).collect()
    }

    /// Whether two of them widen each other (any of one kind) instead of narrowing (states).
    fn widens(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.kind() != "state"
    }
}

/// Steps that are wanted: any of one kind, all of the kinds; properties of states narrow each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepFilter {
    chosen: Vec<Facet>,
}

impl StepFilter {
    /// Whether nothing is chosen: every step passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// What is chosen, in display order.
    #[must_use]
    pub fn chosen(&self) -> &[Facet] {
        &self.chosen
    }

    /// Chooses a facet, or gives it up.
    pub fn toggle(&mut self, facet: Facet) {
        if let Some(at) = self.chosen.iter().position(|f| *f == facet) {
            self.chosen.remove(at);
        } else {
            self.chosen.push(facet);
            self.chosen.sort();
        }
    }

    /// Whether a step passes.
    #[must_use]
    pub fn passes(&self, analysis: &Analysis, step: usize) -> bool {
        self.chosen
            .iter()
            .all(|f| self.chosen.iter().any(|g| (g == f || g.widens(f)) && g.holds(analysis, step)))
    }

    /// For each facet how many steps have it among those that pass the rest of the filter.
    #[must_use]
    pub fn counts(&self, analysis: &Analysis, facets: &[Facet]) -> Vec<usize> {
        facets
            .iter()
            .map(|facet| {
                let rest = Self {
                    chosen: self
                        .chosen
                        .iter()
                        .filter(|f| !f.widens(facet) && *f != facet)
                        .cloned()
                        .collect(),
                };
                (0..analysis.group.len())
                    .filter(|&s| facet.holds(analysis, s) && rest.passes(analysis, s))
                    .count()
            })
            .collect()
    }

    /// In a few words: `success, rescued or penalized`.
    #[must_use]
    pub fn name(&self) -> String {
        let mut out = String::new();
        let mut before: Option<&Facet> = None;
        for facet in &self.chosen {
            if let Some(before) = before {
                out.push_str(if before.widens(facet) { " or " } else { ", " });
            }
            if matches!(facet, Facet::Above(_)) {
                out.push_str("|A| ");
            }
            out.push_str(&facet.name());
            before = Some(facet);
        }
        out
    }
}
