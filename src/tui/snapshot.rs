//! Everything that the main screen draws of one group under one setting, made by the worker: the
//! analysis, its rows, and what drawing needs of it (scales of bars, widths of columns, rows of trees).

use std::sync::{Arc, OnceLock};

use super::labels::{call_width, names};
use super::lens::{Lens, LensKind};
use super::numbers::digits;
use super::ordering::{TreeOrder, drawing_order};
use super::pivotal::{Pick, best, picks};
use crate::analysis::aggregate::{Part, Totals};
use crate::analysis::sizes::{self, Backing, SizeRow};
use crate::analysis::skill::skill_of;
use crate::analysis::{Analysis, AnalysisSettings, GroupRow, RolloutRow, Tally, Warning};
use crate::credit::Column;
use crate::export::text::{cut_left, width};
use crate::rollout::{Group, Outcome};

/// Widths of counts, by the largest value of the group, so that nothing moves while scrolling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Rollouts.
    pub n: usize,
    /// `N(s,a)/N(s)`.
    pub visits: usize,
    /// Step numbers.
    pub t: usize,
    /// Rollout ids.
    pub id: usize,
    /// Numbers of steps.
    pub steps: usize,
}

/// A group under one setting, ready to draw.
#[derive(Debug)]
pub struct Snapshot {
    /// The analysis.
    pub analysis: Arc<Analysis>,
    /// The row of the group.
    pub row: GroupRow,
    /// The rows of its rollouts.
    pub rollouts: Vec<RolloutRow>,
    /// Largest magnitude of each column.
    pub scales: Vec<f64>,
    /// The step whose comparison is the largest.
    pub pivotal: Option<usize>,
    /// The steps worth reading.
    pub picks: Vec<Pick>,
    /// Quadrants of the successes and of the failures.
    pub outcomes: [Tally; 2],
    /// Steps in each evidence class, of the successes and of the failures.
    pub outcome_evidence: [[u32; 4]; 2],
    /// Quadrants of each evidence class.
    pub by_evidence: [Tally; 4],
    /// The rows of both lenses.
    pub paths: Lens,
    /// The rows of the state lens.
    pub states: Lens,
    /// Ids of the rollouts as the panes write them.
    pub names: Vec<String>,
    /// Widths of columns.
    pub widths: Widths,
    /// Cells of the longest name of a call with arguments: 0 where there is none.
    pub longest_call: usize,
    /// Per column: whether it says one thing of every whole rollout.
    constant: Vec<bool>,
    /// Rows of both lenses in each order, once somebody looks at it.
    drawn: [[OnceLock<Vec<usize>>; TreeOrder::ALL.len()]; 2],
}

fn truncated(analysis: &Analysis) -> usize {
    let rollouts = analysis.group.rollouts.iter().zip(&analysis.basis.scored);
    rollouts.filter(|(r, scored)| **scored && r.outcome == Outcome::Truncated).count()
}

/// The mark of rows and columns of failures: it has both marks where truncated ones are among them.
#[must_use]
pub const fn failed(truncated: usize) -> &'static str {
    if truncated > 0 { "✗⊘" } else { "✗" }
}

impl Snapshot {
    /// Scored rollouts that were cut off. Where there are only two sides, they are failures.
    #[must_use]
    pub fn truncated(&self) -> usize {
        truncated(&self.analysis)
    }

    /// Why nothing here compares outcomes, in full and in short; nothing where some do.
    #[must_use]
    pub fn no_contrast(&self) -> Option<(&'static str, &'static str)> {
        if !self.row.uniform {
            return None;
        }
        Some(match (self.row.scored, self.analysis.basis.successes()) {
            (0, _) => ("no rollout is scored", "unscored"),
            (1, _) => ("group of 1: no baseline", "group of 1"),
            (_, 0) => ("uniform: no success", "uniform"),
            _ => ("uniform: all succeeded", "uniform"),
        })
    }

    /// Analyses a group and prepares its drawing.
    #[must_use]
    pub fn new(group: &Arc<Group>, settings: &AnalysisSettings) -> Self {
        let analysis = Arc::new(Analysis::new(Arc::clone(group), settings));
        let row = analysis.group_row(false);
        let rollouts: Vec<RolloutRow> =
            (0..group.rollouts.len()).map(|i| analysis.rollout_row(i)).collect();
        let mut outcomes = [Tally::default(); 2];
        let mut outcome_evidence = [[0; 4]; 2];
        for r in rollouts.iter().filter(|r| r.scored.is_ok()) {
            let side = usize::from(analysis.basis.success.get(r.rollout) != Some(&true));
            if let (Some(tally), Some(classes)) =
                (outcomes.get_mut(side), outcome_evidence.get_mut(side))
            {
                tally.merge(&r.tally);
                for (sum, more) in classes.iter_mut().zip(r.evidence) {
                    *sum += more;
                }
            }
        }
        let by_evidence = sizes::evidence_tallies(&analysis);
        let scales = analysis
            .columns
            .iter()
            .map(|(_, column)| column.values().fold(0.0, |most: f64, a| most.max(a.abs())))
            .collect();
        let most_visits = analysis.values.visits().max().unwrap_or(0);
        let longest = group.rollouts.iter().map(|r| r.steps.len()).max().unwrap_or(0);
        let names = names(group.rollouts.iter().map(|r| r.id.as_str()));
        let widths = Widths {
            n: digits(group.rollouts.len() as u64),
            visits: 2 * digits(u64::from(most_visits)) + 1,
            t: digits(longest.saturating_sub(1) as u64).max(2),
            id: names.iter().map(|n| width(n)).max().unwrap_or(2),
            steps: digits(longest as u64).max(3),
        };
        let pairs = 0..analysis.graph.pairs.len() as u32;
        let longest_call = pairs
            .filter_map(|pair| analysis.graph.steps_of(pair).first().copied())
            .filter_map(|step| call_width(&analysis.action_label(step as usize)))
            .max()
            .unwrap_or(0);
        let constant = analysis.columns.iter().map(|(_, c)| is_constant(group, c)).collect();
        Self {
            longest_call,
            constant,
            drawn: Default::default(),
            paths: Lens::new(&analysis, LensKind::Paths),
            states: Lens::new(&analysis, LensKind::States),
            pivotal: analysis.pivotal(),
            picks: picks(&analysis),
            row,
            rollouts,
            scales,
            outcomes,
            outcome_evidence,
            by_evidence,
            names,
            widths,
            analysis,
        }
    }

    /// Whether a column has one value in each whole rollout, and is not the one that is looked at.
    #[must_use]
    pub fn constant(&self, column: usize) -> bool {
        column != self.y() && self.constant.get(column) == Some(&true)
    }

    /// The id of a rollout as the panes write it, in at most `limit` cells.
    #[must_use]
    pub fn name(&self, rollout: usize, limit: usize) -> String {
        let name = self.names.get(rollout).map_or("", String::as_str);
        cut_left(name, limit).into_owned()
    }

    /// The rows of a lens.
    #[must_use]
    pub const fn lens(&self, kind: LensKind) -> &Lens {
        match kind {
            LensKind::Paths => &self.paths,
            LensKind::States => &self.states,
        }
    }

    /// Every row of a lens in drawing order.
    #[must_use]
    pub fn drawn(&self, kind: LensKind, order: TreeOrder) -> &[usize] {
        let [paths, states] = &self.drawn;
        let cells = if kind == LensKind::Paths { paths } else { states };
        cells.get(order as usize).map_or(&[][..], |cell| {
            cell.get_or_init(|| drawing_order(self.lens(kind), &self.analysis, kind, order))
        })
    }

    /// Index of the Y column.
    #[must_use]
    pub fn y(&self) -> usize {
        let name = &self.analysis.settings.y;
        self.analysis.columns.iter().position(|(spec, _)| spec.name == *name).unwrap_or(0)
    }

    /// The largest magnitude of a bar: the column's own, or that of all columns.
    #[must_use]
    pub fn scale(&self, column: usize, shared: bool) -> f64 {
        if shared {
            self.scales.iter().copied().fold(0.0, f64::max)
        } else {
            self.scales.get(column).copied().unwrap_or(0.0)
        }
    }
}

/// Whether a column has one value in each rollout, and some rollout has two steps.
fn is_constant(group: &Group, column: &Column) -> bool {
    let same = |steps: std::ops::Range<usize>| {
        let mut values = steps.map(|s| column.get(s).map(f64::to_bits));
        values.next().is_none_or(|first| values.all(|v| v == first))
    };
    group.rollouts.iter().any(|r| r.steps.len() > 1)
        && group.rollouts.iter().all(|r| same(r.steps.clone()))
}

/// What the list of groups shows of a group.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its row.
    pub row: GroupRow,
    /// Successes among the scored rollouts.
    pub successes: usize,
    /// Truncated ones among the scored rollouts.
    pub truncated: usize,
    /// Its warnings.
    pub warnings: Vec<Warning>,
    /// Whether it has successes and failures.
    pub mixed: bool,
    /// Quadrants of the successes and of the failures.
    pub outcomes: [Tally; 2],
    /// What stands behind them.
    pub backing: Backing,
    /// How many rollouts meet at its states.
    pub sizes: Vec<SizeRow>,
    /// What it brings to the steps worth reading of all groups.
    pub picks: Vec<Pick>,
    /// What sums over groups are made of.
    pub part: Part,
}

impl Summary {
    /// Analyses a group for its row alone.
    #[must_use]
    pub fn new(group: &Arc<Group>, settings: &AnalysisSettings) -> Self {
        let analysis = Analysis::new(Arc::clone(group), settings);
        let mixed = sizes::is_mixed(&analysis);
        let part = Part::of(&analysis, mixed);
        let skill = part.terms.as_ref().and_then(skill_of);
        Self {
            row: GroupRow { skill, ..analysis.group_row(false) },
            successes: analysis.basis.successes(),
            truncated: truncated(&analysis),
            mixed,
            outcomes: sizes::outcome_tallies(&analysis),
            backing: Backing::of(&analysis),
            sizes: sizes::sizes(&analysis),
            picks: best(&analysis),
            part,
            warnings: analysis.warnings,
        }
    }
}

/// Sums over groups with their intervals: the same as the command line's.
#[must_use]
pub fn totals<'a>(
    rows: impl Iterator<Item = &'a Summary>,
    uniform_counts: bool,
    seed: u64,
) -> Totals {
    let parts: Vec<Part> =
        rows.map(|s| Part { in_quadrants: s.mixed || uniform_counts, ..s.part.clone() }).collect();
    Totals::of(&parts, seed)
}
