//! The immutable snapshot of one group under one setting: everything that screen, report and export
//! print. Every number has its one home here; nothing is parsed and no file is read.

pub mod aggregate;
pub mod align;
mod batch;
pub mod contrast;
pub mod diagnostics;
pub mod explain;
pub mod panel;
pub mod parting;
mod purity;
pub mod quadrants;
pub mod resample;
mod rows;
pub mod runs;
mod select;
pub mod simulate;
pub mod sizes;
pub mod skill;
pub mod stability;
pub mod sweep;
mod warnings;

use std::sync::Arc;

pub use batch::batch;
pub use contrast::{Change, Contrast, Measures, SignatureSetting};
pub use explain::{Explanation, Member};
pub use quadrants::{
    Breakdown, BreakdownKey, Bucket, By, Tally, Weight, breakdown, breakdown_rows,
};
pub use rows::{GroupRow, RolloutRow, StepRow};
pub use select::{Facet, StepFilter};
pub use skill::Skill;
pub use warnings::Warning;

use crate::credit::{
    Basis, Column, ColumnSpec, Context, CreditSettings, Returns, ValueTable, stats,
};
use crate::graph::{PathTree, StateGraph};
use crate::rollout::Group;
use crate::signature::{Abstraction, Granularity, Projection};

/// What an analysis depends on, besides the group.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalysisSettings {
    /// Abstraction; `None` chooses by the group.
    pub abstraction: Option<Abstraction>,
    /// Granularity.
    pub granularity: Granularity,
    /// What the columns share.
    pub credit: CreditSettings,
    /// Columns, X and Y among them.
    pub columns: Vec<ColumnSpec>,
    /// Name of the column on the X axis.
    pub x: String,
    /// Name of the column on the Y axis.
    pub y: String,
    /// Thresholds of X and Y, strict.
    pub tau: (f64, f64),
    /// Seed of everything that resamples.
    pub seed: u64,
    /// Statistics over all groups of the load, for the columns that need them: see [`batch`].
    pub batch: Option<crate::credit::Batch>,
}

impl Default for AnalysisSettings {
    fn default() -> Self {
        let column =
            |id: &str| ColumnSpec { name: id.to_owned(), params: crate::credit::Params::default() };
        Self {
            abstraction: None,
            granularity: Granularity::paper(),
            credit: CreditSettings::default(),
            columns: vec![column("grpo"), column("grpo-step"), column("rtmc")],
            x: "grpo-step".to_owned(),
            y: "rtmc".to_owned(),
            tau: (0.01, 0.01),
            seed: 0,
            batch: None,
        }
    }
}

/// A group under one setting.
pub struct Analysis {
    /// The group.
    pub group: Arc<Group>,
    /// The settings.
    pub settings: AnalysisSettings,
    /// The abstraction in force.
    pub abstraction: Abstraction,
    /// Why it was chosen.
    pub abstraction_reason: String,
    /// State and action ids.
    pub projection: Projection,
    /// Who is scored, rewards.
    pub basis: Basis,
    /// Returns at the settings' discount.
    pub returns: Arc<Returns>,
    /// Counts.
    pub graph: StateGraph,
    /// Folded walks.
    pub paths: PathTree,
    /// Q, V, V'.
    pub values: ValueTable,
    /// Columns in the order of the settings.
    pub columns: Vec<(ColumnSpec, Column)>,
    /// Bucket of each step.
    pub buckets: Vec<Bucket>,
    /// What to know before believing the numbers.
    pub warnings: Vec<Warning>,
    x: usize,
    y: usize,
}

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysis").field("key", &self.group.key).finish_non_exhaustive()
    }
}

impl Analysis {
    /// Analyses a group.
    #[must_use]
    pub fn new(group: Arc<Group>, settings: &AnalysisSettings) -> Self {
        let (chosen, reason) = Abstraction::choose(&group);
        let (abstraction, abstraction_reason) = match settings.abstraction {
            Some(given) => (given, "as set".to_owned()),
            None => (chosen, reason),
        };
        let projection = Projection::new(&group, abstraction, &settings.granularity);
        let basis = Basis::new(&group, &settings.credit, abstraction);
        let returns = Arc::new(basis.returns(&group, settings.credit.gamma));
        let graph = StateGraph::new(&group, &projection, &basis.scored);
        let paths = PathTree::new(&group, &graph, &basis.scored);
        let (_, prior) =
            basis.prior(&group, settings.credit.prior, &settings.credit.reward_source, &returns);
        let values = ValueTable::new(
            &group,
            &graph,
            &basis.scored,
            &returns,
            settings.credit.visit,
            (settings.credit.n_prior, stats::mean(&prior).unwrap_or(0.0)),
        );
        let mut columns: Vec<(ColumnSpec, Column)> = Vec::new();
        let mut place = |name: &str| {
            let spec =
                settings.columns.iter().find(|c| c.name == name).cloned().unwrap_or_else(|| {
                    ColumnSpec { name: name.to_owned(), params: crate::credit::Params::default() }
                });
            columns.iter().position(|(c, _)| c.name == spec.name).unwrap_or_else(|| {
                let context = Context {
                    group: &group,
                    graph: &graph,
                    settings: &settings.credit,
                    basis: &basis,
                    returns: &returns,
                    values: &values,
                    batch: settings.batch.as_ref(),
                };
                let column = spec.estimate(&context);
                columns.push((spec, column));
                columns.len() - 1
            })
        };
        for spec in &settings.columns {
            place(&spec.name);
        }
        let (x, y) = (place(&settings.x), place(&settings.y));
        let mut analysis = Self {
            group,
            settings: settings.clone(),
            abstraction,
            abstraction_reason,
            projection,
            basis,
            returns,
            graph,
            paths,
            values,
            columns,
            buckets: Vec::new(),
            warnings: Vec::new(),
            x,
            y,
        };
        analysis.buckets = (0..analysis.group.len())
            .map(|step| {
                Bucket::of(
                    analysis.x_column().get(step),
                    analysis.y_column().get(step),
                    settings.tau,
                )
            })
            .collect();
        analysis.warnings = warnings::warnings(&analysis);
        analysis
    }

    /// The column on the X axis.
    #[must_use]
    pub fn x_column(&self) -> &Column {
        static NONE: Column = Column::EMPTY;
        self.columns.get(self.x).map_or(&NONE, |(_, c)| c)
    }

    /// The column on the Y axis.
    #[must_use]
    pub fn y_column(&self) -> &Column {
        static NONE: Column = Column::EMPTY;
        self.columns.get(self.y).map_or(&NONE, |(_, c)| c)
    }

    /// A column by name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&(ColumnSpec, Column)> {
        self.columns.iter().find(|(spec, _)| spec.name == name)
    }

    /// The bucket of a step.
    #[must_use]
    pub fn bucket(&self, step: usize) -> Bucket {
        self.buckets.get(step).copied().unwrap_or(Bucket::Missing)
    }

    /// What columns share.
    #[must_use]
    pub fn context(&self) -> Context<'_> {
        Context {
            group: &self.group,
            graph: &self.graph,
            settings: &self.settings.credit,
            basis: &self.basis,
            returns: &self.returns,
            values: &self.values,
            batch: self.settings.batch.as_ref(),
        }
    }

    /// Which kind of part makes the Y value of a step, for every value outside tau: `comparison`,
    /// `prior`, `discount` or `shaping`. `None` where Y is not RTMC at the shared settings.
    #[must_use]
    pub fn why(&self, step: usize) -> Option<&'static str> {
        let (spec, column) = self.columns.get(self.y)?;
        if spec.name != "rtmc" || !spec.params.entries().is_empty() {
            return None;
        }
        let value = column.get(step)?;
        if value.abs() <= self.settings.tau.1 {
            return None;
        }
        let pair = self.graph.pair_of(step);
        Some(self.values.split(pair, self.graph.pair(pair).state)?.label(value))
    }

    /// How often one rollout counts at one state, at most, and at how many states it counts more than
    /// once.
    #[must_use]
    pub fn repeat_counts(&self) -> (u32, u32) {
        let (mut most, mut states) = (1, 0);
        for state in 0..self.graph.state_counts.len() {
            let mut here: rustc_hash::FxHashMap<usize, u32> = rustc_hash::FxHashMap::default();
            for &step in self.values.members(state as u32) {
                *here.entry(self.graph.rollout_of(step as usize)).or_default() += 1;
            }
            let k = here.values().copied().max().unwrap_or(0);
            most = most.max(k);
            states += u32::from(k >= 2);
        }
        (most, states)
    }

    /// The step with the largest |comparison:outcome|: the pivotal one of the group.
    #[must_use]
    pub fn pivotal(&self) -> Option<usize> {
        let strength = |step: usize| {
            let pair = self.graph.pair_of(step);
            self.graph.evidence.get(step).copied().flatten()?;
            self.values
                .split(pair, self.graph.pair(pair).state)
                .map(|s| s.comparison.outcome.abs())
                .filter(|s| *s > 0.0)
        };
        (0..self.group.len())
            .filter_map(|step| strength(step).map(|s| (step, s)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(step, _)| step)
    }
}
