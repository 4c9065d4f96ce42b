//! The steps worth reading first: where rollouts in one state went different ways to different ends,
//! where X and Y disagree, where the outlook falls. The choice is part of [`super::update`].
//!
//! The numbers are those of [`crate::analysis::diagnostics`]; here they get a rank and words.

use super::jumps;
use super::keymap::Action;
use super::layout::Pane;
use super::message::Effect;
use super::model::Model;
use super::numbers::{plain, signed};
use super::update::{focus, open_group};
use crate::analysis::diagnostics::{Pivot, drops, pivotal};
use crate::analysis::{Analysis, Bucket};
use crate::graph::Evidence;
use crate::rollout::{Outcome, plural};

/// Rows of each kind, at most.
const MOST: usize = 12;
/// Rows that each group brings to the list over all groups.
const OF_A_GROUP: usize = 3;

/// Why a step is on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rollouts in its state went different ways, to different ends.
    Parts,
    /// X and Y disagree about it.
    Disagrees,
    /// The state it leads to has a lower V.
    Falls,
}

impl Kind {
    /// What stands over its rows.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Parts => "where rollouts in one state went different ways to different ends",
            Self::Disagrees => "where X and Y disagree",
            Self::Falls => "after which the outlook falls: V of the next state is lower",
        }
    }

    /// The same where there is less room.
    #[must_use]
    pub const fn brief(self) -> &'static str {
        match self {
            Self::Parts => "one state, different ways and ends",
            Self::Disagrees => "where X and Y disagree",
            Self::Falls => "V of the next state is lower",
        }
    }

    /// The quantity that its rows are ranked by and show.
    #[must_use]
    pub const fn quantity(self) -> &'static str {
        match self {
            Self::Parts => "cmp",
            Self::Disagrees => "A",
            Self::Falls => "ΔV",
        }
    }
}

/// A step worth reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// Why it is here.
    pub kind: Kind,
    /// Index of the step in its group.
    pub step: usize,
    /// Id of its rollout.
    pub rollout: String,
    /// Outcome of its rollout.
    pub outcome: Outcome,
    /// Step in its rollout.
    pub t: usize,
    /// Its action.
    pub action: String,
    /// Evidence behind it.
    pub evidence: Option<Evidence>,
    /// What it is ranked by: comparison of outcomes, the Y value, the change of V.
    pub value: f64,
    /// Of the scored rollouts that took this way out of the state: successes, and all.
    pub this: (usize, usize),
    /// The same of those that took another way.
    pub others: (usize, usize),
    /// Rollouts that came back and are among both.
    pub both: usize,
    /// Ways out of the state.
    pub ways: usize,
    /// In a few words.
    pub why: String,
    /// In a sentence.
    pub told: String,
}

/// The list of a group: each kind by size, the largest first.
#[must_use]
pub fn picks(analysis: &Analysis) -> Vec<Pick> {
    let mut list = Vec::new();
    for pivot in pivotal(analysis).into_iter().take(MOST) {
        list.extend(parts(analysis, pivot));
    }
    let value = |step: usize| analysis.y_column().get(step).unwrap_or(0.0);
    let mut disagree: Vec<usize> =
        (0..analysis.group.len()).filter(|&s| analysis.bucket(s).disagrees()).collect();
    disagree.sort_by(|&a, &b| value(b).abs().total_cmp(&value(a).abs()).then(a.cmp(&b)));
    for step in disagree.into_iter().take(MOST) {
        list.extend(disagrees(analysis, step, value(step)));
    }
    let deep = |drop: &Pivot| drop.value.abs() > analysis.settings.tau.1;
    for drop in drops(analysis).into_iter().filter(deep).take(MOST) {
        list.extend(falls(analysis, drop));
    }
    list
}

/// What a group brings to the list over all groups.
#[must_use]
pub fn best(analysis: &Analysis) -> Vec<Pick> {
    pivotal(analysis)
        .into_iter()
        .take(OF_A_GROUP)
        .filter_map(|pivot| parts(analysis, pivot))
        .collect()
}

fn parts(analysis: &Analysis, pivot: Pivot) -> Option<Pick> {
    let pick = pick(analysis, Kind::Parts, pivot)?;
    let ((ok, n), (good, others)) = (pick.this, pick.others);
    let told = format!(
        "{} of {} rollouts were in this state and left it in {} ways: {}, {}.",
        analysis.graph.state_count(analysis.graph.state_of(pick.step)).rollouts,
        analysis.basis.scored_count(),
        pick.ways,
        fate((ok, n), "this way"),
        fate((good, others), "another way"),
    );
    let again = match pick.both {
        0 => String::new(),
        1 => " One of them came back here, went both ways, and is counted in both.".to_owned(),
        n => format!(" {n} of them came back here, went both ways, and are counted in both."),
    };
    let told = format!("{told}{again}");
    let why = if pick.value < 0.0 { "worse way" } else { "better way" };
    Some(Pick { why: why.to_owned(), told, ..pick })
}

/// What became of the rollouts that went some way.
fn fate((ok, n): (usize, usize), way: &str) -> String {
    match (ok, n) {
        (1, 1) => format!("the one that went {way} succeeded"),
        (0, 1) => format!("the one that went {way} did not succeed"),
        _ => format!("{ok} of the {n} that went {way} succeeded"),
    }
}

fn disagrees(analysis: &Analysis, step: usize, value: f64) -> Option<Pick> {
    let pick = pick(analysis, Kind::Disagrees, Pivot { step, value })?;
    let bucket = analysis.bucket(step);
    let by = analysis.why(step).unwrap_or("");
    let x = analysis.x_column().get(step).map_or_else(|| "no value".to_owned(), |x| signed(x, 3));
    let (name, other) = (&analysis.settings.y, &analysis.settings.x);
    let lift = if bucket == Bucket::Rescued { "lifts" } else { "lowers" };
    let mut told = format!("{other} says {x}, {name} {}", signed(value, 3));
    if !by.is_empty() {
        told = format!("{told}: mostly {by}");
    }
    let told = format!(
        "{told}. {name} {lift} a step of a {}; = takes the number apart.",
        pick.outcome.name()
    );
    let why = format!("{} {by}", bucket.name());
    Some(Pick { why: why.trim_end().to_owned(), told, ..pick })
}

fn falls(analysis: &Analysis, drop: Pivot) -> Option<Pick> {
    let pick = pick(analysis, Kind::Falls, drop)?;
    let v = |step: usize| analysis.values.state(analysis.graph.state_of(step));
    let (here, next) = (v(drop.step), v(drop.step + 1));
    let told = format!(
        "Before it V is {} over {}, after it {} over {}.",
        plain(here.mean, 3),
        plural(here.n, "visit"),
        plain(next.mean, 3),
        next.n
    );
    let why = format!("V {} to {}", plain(here.mean, 2), plain(next.mean, 2));
    Some(Pick { why, told, ..pick })
}

fn pick(analysis: &Analysis, kind: Kind, Pivot { step, value }: Pivot) -> Option<Pick> {
    let at = analysis.graph.rollout_of(step);
    let rollout = analysis.group.rollouts.get(at)?;
    let ways = crate::analysis::align::ways(analysis, analysis.graph.state_of(step));
    let count = |list: &[usize]| {
        let won = |r: &&usize| analysis.basis.success.get(**r) == Some(&true);
        (list.iter().filter(won).count(), list.len())
    };
    let own = analysis.graph.pair_of(step);
    let (mine, theirs): (Vec<_>, Vec<_>) = ways.iter().partition(|w| w.pair == own);
    let mine: Vec<usize> = mine.iter().flat_map(|w| w.rollouts.iter().copied()).collect();
    // A rollout that came here more than once may have gone several ways: it counts once.
    let mut others: Vec<usize> = theirs.iter().flat_map(|w| w.rollouts.iter().copied()).collect();
    others.sort_unstable();
    others.dedup();
    Some(Pick {
        kind,
        step,
        rollout: rollout.id.clone(),
        outcome: rollout.outcome,
        t: step - rollout.steps.start,
        action: analysis.action_label(step),
        evidence: analysis.graph.evidence.get(step).copied().flatten(),
        value,
        this: count(&mine),
        others: count(&others),
        both: others.iter().filter(|r| mine.contains(r)).count(),
        ways: ways.len(),
        why: String::new(),
        told: String::new(),
    })
}

/// The list of steps worth reading.
#[derive(Debug, Default)]
pub struct Reading {
    /// Selected row.
    pub at: usize,
    /// Over all groups instead of the shown one.
    pub all: bool,
}

impl Model {
    /// The steps worth reading: the group of each.
    #[must_use]
    pub fn picks(&self) -> Vec<(usize, &Pick)> {
        if self.reading.all {
            let rows = self.groups.rows.iter().enumerate();
            let mut list: Vec<(usize, &Pick)> = rows
                .filter_map(|(g, row)| Some((g, row.as_ref()?)))
                .flat_map(|(g, row)| row.picks.iter().map(move |p| (g, p)))
                .collect();
            list.sort_by(|(g, a), (h, b)| {
                b.value.abs().total_cmp(&a.value.abs()).then(g.cmp(h)).then(a.step.cmp(&b.step))
            });
            return list;
        }
        let Some((group, snapshot)) = &self.shown else {
            return Vec::new();
        };
        snapshot.picks.iter().map(|p| (*group, p)).collect()
    }
}

impl Model {
    /// Whether the selected row of the list is a step of another group than the shown one.
    #[must_use]
    pub fn picks_elsewhere(&self) -> bool {
        let shown = self.shown.as_ref().map(|(g, _)| *g);
        self.focus == Pane::Pivotal
            && self.reading.all
            && self.picks().get(self.reading.at).is_some_and(|(g, _)| Some(*g) != shown)
    }
}

/// Opens the list at its first row.
pub(super) fn open(model: &mut Model) {
    jumps::note(model);
    model.reading.at = 0;
    follow(model);
}

/// The one cursor goes to the selected step where its group is the shown one.
fn follow(model: &mut Model) {
    let shown = model.shown.as_ref().map(|(g, _)| *g);
    let step =
        model.picks().get(model.reading.at).filter(|(g, _)| Some(*g) == shown).map(|p| p.1.step);
    if let Some(step) = step {
        super::navigate::go_to_step(model, step);
    }
}

/// Moves to another row.
pub(super) fn rows(model: &mut Model, to: impl Fn(usize) -> usize) {
    let last = model.picks().len().saturating_sub(1);
    model.reading.at = to(model.reading.at).min(last);
    follow(model);
}

/// Goes to the selected step, or turns between this group and all of them.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    if action == Action::Fold {
        if model.corpus.groups.len() < 2 {
            model.message = Some("there is only one group".to_owned());
            return;
        }
        model.reading.all = !model.reading.all;
        model.reading.at = 0;
        follow(model);
        return;
    }
    let Some((group, pick)) = model.picks().get(model.reading.at).map(|&(g, p)| (g, p.clone()))
    else {
        return;
    };
    if model.shown.as_ref().map(|(g, _)| *g) == Some(group) {
        super::navigate::go_to_step(model, pick.step);
    } else {
        model.visited.insert(group, (pick.rollout, pick.t));
        open_group(model, group, effects);
    }
    focus(model, Pane::Steps);
}
