//! Advantage estimators: one file per column behind one trait and one registry.
//!
//! No file access lives here. All arithmetic is f64; sums run in canonical order.

mod algebra;
pub mod basis;
mod bellman;
mod column;
pub mod derivation;
mod formula;
mod frameworks;
mod graph_columns;
mod graph_gpo;
mod grpo;
mod grpo_step;
mod hierarchy;
pub mod linear;
mod logged;
mod outcome_columns;
mod rtmc;
pub mod stats;
mod step_groups;
mod tree_columns;
mod turn_columns;
pub mod values;

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

pub use basis::{
    Basis, BonusOn, CreditSettings, DiscountPer, Prior, Returns, RewardSource, StepRewardMode,
    Visit,
};
pub use bellman::Bellman;
pub use column::{Column, Missing};
pub use derivation::{Expr, Node};
pub use frameworks::{FRAMEWORKS, Framework, OptionSet};
pub use turn_columns::{batch_numbers, batch_of, needs_batch};
pub use values::{Parts, Split, ValueTable};

use crate::graph::StateGraph;
use crate::rollout::Group;

/// A parameter of a column.
#[derive(Debug, Clone, Copy)]
pub struct ParamSpec {
    /// Name, as in `--set COLUMN.NAME=VALUE`.
    pub name: &'static str,
    /// Default value, as text.
    pub default: &'static str,
    /// Allowed values.
    pub range: &'static str,
    /// What it means, with its source where it is a reading of an open point.
    pub meaning: &'static str,
}

/// What a column is: the one table behind help, chooser and documentation.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Name of the column in options and exports.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// The formula, in one line.
    pub formula: &'static str,
    /// Paper or code it comes from.
    pub source: &'static str,
    /// Whether it looks at states: then evidence classes apply to it.
    pub uses_states: bool,
    /// Parameters.
    pub params: &'static [ParamSpec],
    /// Where the source leaves something open, the reading that is the default.
    pub reading: &'static str,
}

/// Parameters of one instance of a column, as texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Sets a parameter.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(n, _)| n == name) {
            Some((_, v)) => value.clone_into(v),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// All that were set.
    #[must_use]
    pub fn entries(&self) -> &[(String, String)] {
        &self.0
    }

    fn text<'a>(&'a self, meta: &'a Meta, name: &str) -> &'a str {
        self.0.iter().find(|(n, _)| n == name).map_or_else(
            || meta.params.iter().find(|p| p.name == name).map_or("", |p| p.default),
            |(_, v)| v,
        )
    }

    fn number(&self, meta: &Meta, name: &str, inherited: f64) -> f64 {
        self.text(meta, name).parse().unwrap_or(inherited)
    }
}

/// A column that could not be found or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// No column has this id.
    #[error("unknown column `{0}`; known: {1}")]
    Unknown(String, String),
    /// The column has no such parameter.
    #[error("column `{0}` has no parameter `{1}`; it has: {2}")]
    Param(String, String, String),
    /// The value is out of range.
    #[error("{0}.{1} cannot be `{2}`; expected {3}")]
    Value(String, String, String, String),
}

/// Everything that columns of one group share.
pub struct Context<'a> {
    /// The group.
    pub group: &'a Group,
    /// Its state graph.
    pub graph: &'a StateGraph,
    /// Shared settings.
    pub settings: &'a CreditSettings,
    /// Who is scored, rewards.
    pub basis: &'a Basis,
    /// Returns at the settings' discount.
    pub returns: &'a Arc<Returns>,
    /// Values at the settings' parameters.
    pub values: &'a ValueTable,
    /// Statistics over all groups of the load, for columns that need the whole batch; `None` takes the
    /// group for the batch.
    pub batch: Option<&'a Batch>,
}

/// Mean and variance of a column's numbers over every scored step of the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batch {
    /// Mean return.
    pub mean: f64,
    /// Variance of the returns.
    pub variance: f64,
    /// Scored steps.
    pub steps: usize,
    /// Groups.
    pub groups: usize,
}

impl Context<'_> {
    /// `rollout:step` of a step.
    #[must_use]
    pub fn at(&self, step: usize) -> String {
        let i = self.graph.rollout_of(step);
        self.group.rollouts.get(i).map_or_else(String::new, |rollout| {
            format!("{}:{}", rollout.id, step.saturating_sub(rollout.steps.start))
        })
    }

    /// Whether a step is the first of its rollout.
    #[must_use]
    pub fn is_first(&self, step: usize) -> bool {
        let i = self.graph.rollout_of(step);
        self.group.rollouts.get(i).is_some_and(|r| r.steps.start == step)
    }

    /// Why a rollout is not scored.
    #[must_use]
    pub fn unscored(&self, rollout: usize) -> Missing {
        self.basis.unscored_reason.get(rollout).copied().flatten().unwrap_or("unscored")
    }

    /// Returns at a discount: the shared ones where it is the settings'.
    fn returns_at(&self, gamma: f64) -> std::borrow::Cow<'_, [f64]> {
        if gamma == self.settings.gamma {
            std::borrow::Cow::Borrowed(&self.returns.total)
        } else {
            std::borrow::Cow::Owned(self.basis.returns(self.group, gamma).total)
        }
    }
}

/// A column: an advantage estimator, or logged numbers.
pub trait Estimator: Sync {
    /// What it is.
    fn meta(&self) -> &'static Meta;
    /// Its values.
    fn estimate(&self, context: &Context, params: &Params) -> Column;
    /// Where the value of one step comes from; `None` where there is no value. Evaluating the result
    /// gives [`Estimator::estimate`]'s value bit for bit.
    fn derive(&self, context: &Context, params: &Params, step: usize) -> Option<Rc<Node>>;
}

/// One column of a table: an estimator with its parameters, or logged numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name in exports: the id, `id#N` for a further instance, or `logged:NAME`.
    pub name: String,
    /// Parameters that were set.
    pub params: Params,
}

impl ColumnSpec {
    /// A column by id, at its default parameters.
    pub fn new(id: &str) -> Result<Self, ColumnError> {
        if find(id).is_none() {
            let known: Vec<&str> = registry().iter().map(|e| e.meta().id).collect();
            return Err(ColumnError::Unknown(
                id.to_owned(),
                format!("{}, logged:NAME", known.join(", ")),
            ));
        }
        Ok(Self { name: id.to_owned(), params: Params::default() })
    }

    /// Sets a parameter, checked against the column's table.
    pub fn set(&mut self, param: &str, value: &str) -> Result<(), ColumnError> {
        let specs = find(&self.name).map_or(&[][..], |e| e.meta().params);
        let Some(spec) = specs.iter().find(|p| p.name == param) else {
            let known: Vec<&str> = specs.iter().map(|p| p.name).collect();
            return Err(ColumnError::Param(self.name.clone(), param.to_owned(), known.join(", ")));
        };
        let choices: Vec<&str> = spec.range.split('|').map(str::trim).collect();
        let special = |word: &str| value == word && spec.range.ends_with(word);
        let fits = if spec.range.starts_with("text") {
            !value.is_empty()
        } else if spec.range.starts_with("number") {
            special("inherit")
                || special("inf")
                || value.parse::<f64>().is_ok_and(|x| x.is_finite() && x >= 0.0)
        } else {
            choices.contains(&value)
        };
        if !fits {
            return Err(ColumnError::Value(
                self.name.clone(),
                param.to_owned(),
                value.to_owned(),
                spec.range.to_owned(),
            ));
        }
        self.params.set(param, value);
        Ok(())
    }

    /// What it is.
    #[must_use]
    pub fn meta(&self) -> &'static Meta {
        find(&self.name).map_or(logged::LOGGED.meta(), Estimator::meta)
    }

    /// Every parameter with the value in force, in the order of the column's table.
    #[must_use]
    pub fn resolved(&self) -> Vec<(&'static str, String)> {
        let meta = self.meta();
        meta.params.iter().map(|p| (p.name, self.params.text(meta, p.name).to_owned())).collect()
    }

    /// Its values.
    #[must_use]
    pub fn estimate(&self, context: &Context) -> Column {
        match self.name.strip_prefix("logged:") {
            Some(name) => logged::estimate(context, name),
            None => find(&self.name)
                .map_or_else(Column::default, |e| e.estimate(&self.own(context), &self.params)),
        }
    }

    /// Where the value of one step comes from.
    #[must_use]
    pub fn derive(&self, context: &Context, step: usize) -> Option<Rc<Node>> {
        match self.name.strip_prefix("logged:") {
            Some(name) => logged::derive(context, name, step),
            None => find(&self.name)?.derive(&self.own(context), &self.params, step),
        }
    }

    /// The context without the batch, which is the first instance's, for further instances.
    fn own<'a>(&self, context: &Context<'a>) -> Context<'a> {
        let first = base(&self.name) == self.name;
        Context { batch: context.batch.filter(|_| first), ..*context }
    }
}

/// All estimators, in the order of the chooser.
#[must_use]
pub fn registry() -> &'static [&'static dyn Estimator] {
    static ALL: OnceLock<Vec<&'static dyn Estimator>> = OnceLock::new();
    ALL.get_or_init(|| {
        vec![
            &grpo::GRPO,
            &grpo_step::GRPO_STEP,
            &rtmc::RTMC,
            &grpo::DR_GRPO,
            &outcome_columns::RLOO,
            &outcome_columns::MAXRL,
            &outcome_columns::OPO,
            &turn_columns::REINFORCE,
            &step_groups::GIGPO,
            &hierarchy::HGPO,
            &hierarchy::A2AGENT,
            &turn_columns::SALT,
            &tree_columns::TEMPO,
            &tree_columns::TREE_TD,
            &turn_columns::GAE,
            &graph_columns::CRBC,
            &graph_columns::GRAFT,
            &graph_gpo::GRAPH_GPO,
            &step_groups::REWARD_FLOW,
            &tree_columns::TREE_GRPO,
        ]
    })
}

/// The estimator with this id, or of this instance of it (`rtmc#2`); `logged:NAME` for any name.
#[must_use]
pub fn find(id: &str) -> Option<&'static dyn Estimator> {
    if id.strip_prefix("logged:").is_some_and(|name| !name.is_empty()) {
        return Some(&logged::LOGGED);
    }
    let base = base(id);
    registry().iter().copied().find(|e| e.meta().id == base)
}

/// The column that an instance is one of: `rtmc` for `rtmc#2`. Names of logged numbers are taken as
/// they are.
#[must_use]
pub fn base(id: &str) -> &str {
    match id.rsplit_once('#') {
        Some((base, n))
            if !id.starts_with("logged:")
                && !n.is_empty()
                && n.bytes().all(|b| b.is_ascii_digit()) =>
        {
            base
        }
        _ => id,
    }
}
