//! The list of groups: its rows as far as they are computed, its order, what it leaves out. No drawing.

use std::sync::Arc;

use regex::Regex;

use super::model::Model;
use super::snapshot::Summary;
use crate::analysis::AnalysisSettings;
use crate::analysis::aggregate::Totals;

/// Order of the list of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupOrder {
    /// Canonical order.
    #[default]
    Name,
    /// Most disagreeing steps first.
    Disagreeing,
    /// Largest held-out skill first.
    Skill,
    /// Lowest success rate first.
    Success,
    /// Most steps first.
    Steps,
    /// Largest share of shared steps first.
    Shared,
    /// Most rollouts first.
    Rollouts,
    /// Most branching states first.
    Branching,
    /// Most rescued steps first.
    Rescued,
    /// Most penalized steps first.
    Penalized,
    /// Most warnings first.
    Warnings,
}

impl GroupOrder {
    /// All orders, as the key turns them.
    pub const ALL: [Self; 11] = [
        Self::Name,
        Self::Disagreeing,
        Self::Skill,
        Self::Success,
        Self::Steps,
        Self::Shared,
        Self::Rollouts,
        Self::Branching,
        Self::Rescued,
        Self::Penalized,
        Self::Warnings,
    ];

    /// What the rule says.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "task↑",
            Self::Disagreeing => "disagreeing↓",
            Self::Skill => "skill↓",
            Self::Success => "success↑",
            Self::Steps => "steps↓",
            Self::Shared => "shared↓",
            Self::Rollouts => "rollouts↓",
            Self::Branching => "branching↓",
            Self::Rescued => "rescued↓",
            Self::Penalized => "penalized↓",
            Self::Warnings => "warnings↓",
        }
    }
}

/// The list of groups.
#[derive(Debug, Default)]
pub struct GroupList {
    /// Rows as far as they are computed.
    pub rows: Vec<Option<Arc<Summary>>>,
    /// Number of the request that makes them; 0 before the first.
    pub key: u64,
    /// Settings they are made with.
    pub settings: Option<AnalysisSettings>,
    /// Whether rows are missing because groups changed.
    pub stale: bool,
    /// Order.
    pub order: GroupOrder,
    /// Selected group.
    pub at: usize,
    /// Sums over all groups, once all rows are there, and the number of the request that they are for.
    pub totals: Option<(u64, Arc<Totals>)>,
    /// What tasks are searched for.
    pub sought: Option<Regex>,
    /// Whether groups without successes or without failures are left out.
    pub mixed: bool,
    /// Whether groups of uniform outcome count in what is summed up over groups.
    pub uniform_counts: bool,
}

impl Model {
    /// The rows that count in the quadrants of all groups: those of groups with successes and failures,
    /// or all of them where the options say so.
    #[must_use]
    pub fn counted(&self) -> Vec<&Summary> {
        let rows = self.groups.rows.iter().flatten().map(|s| &**s);
        rows.filter(|s| s.mixed || self.groups.uniform_counts).collect()
    }

    /// The groups in the order of the list.
    #[must_use]
    pub fn group_order(&self) -> Vec<usize> {
        let row = |i: usize| self.groups.rows.get(i).and_then(Option::as_ref);
        // Rows that are not computed yet may still turn out to be mixed.
        let mut order: Vec<usize> = (0..self.corpus.groups.len())
            .filter(|&i| !self.groups.mixed || row(i).is_none_or(|s| s.mixed))
            .filter(|&i| self.groups.sought.as_ref().is_none_or(|p| self.names(i, p)))
            .collect();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let by = |i: usize| -> Option<f64> {
            let summary = row(i)?;
            let g = &summary.row;
            Some(match self.groups.order {
                GroupOrder::Name => 0.0,
                GroupOrder::Disagreeing => -((g.tally.rescued + g.tally.penalized) as f64),
                GroupOrder::Skill => -g.skill?.skill,
                GroupOrder::Success => share(summary.successes as f64, g.scored as f64),
                GroupOrder::Steps => -(g.steps as f64),
                GroupOrder::Shared => -share(f64::from(g.shared_steps), g.tally.scored as f64),
                GroupOrder::Rollouts => -(g.rollouts as f64),
                GroupOrder::Branching => -(g.branching as f64),
                GroupOrder::Rescued => -(g.tally.rescued as f64),
                GroupOrder::Penalized => -(g.tally.penalized as f64),
                GroupOrder::Warnings => -(summary.warnings.len() as f64),
            })
        };
        // Rows that are not computed yet stay behind, in canonical order.
        order.sort_by(|&a, &b| {
            let key = |i| by(i).unwrap_or(f64::INFINITY);
            key(a).total_cmp(&key(b)).then(a.cmp(&b))
        });
        order
    }

    /// Whether the task of a group has what is searched.
    fn names(&self, group: usize, pattern: &Regex) -> bool {
        self.corpus.groups.get(group).is_some_and(|g| pattern.is_match(&g.key.task))
    }
}

/// Lists only the groups whose task has the pattern; all of them for an empty one.
pub(super) fn seek(model: &mut Model, text: &str, pattern: Regex) {
    model.groups.sought = Some(pattern).filter(|_| !text.is_empty());
    let order = model.group_order();
    // The group that is open is looked at first, if it is among them.
    if !order.contains(&model.groups.at) {
        let open = Some(model.group).filter(|g| order.contains(g));
        model.groups.at = open.or(order.first().copied()).unwrap_or(model.group);
    }
}
