//! The sweep picture: one row per value of a knob, or one per knob at its coarsest. What is swept is
//! part of [`super::update`]; the rows are made in a worker, on demand, and the latest request only.
//!
//! The numbers are those of [`crate::analysis::sweep`], which the command line prints too.

use std::sync::Arc;

use super::keymap::Action;
use super::layout::Plan;
use super::message::Effect;
use super::model::Model;
use super::turning::{self, KnobRow};
use crate::analysis::sweep::SweepRow;
use crate::analysis::{Analysis, AnalysisSettings, batch};
use crate::export::sweep::Point;
use crate::rollout::{Corpus, Group};
use crate::signature::{Abstraction, LADDERS, Ladder};

/// What is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Every knob at its coarsest value, one row each: which one merges the most.
    Coarsest,
    /// What a state is made of, one row per kind.
    Abstraction,
    /// The values of a knob.
    Knob(&'static Ladder),
    /// Values of a number that the columns depend on.
    Number {
        /// Its name, as in the options.
        name: &'static str,
        /// The values, besides the one in force.
        values: &'static [&'static str],
        /// What it is.
        meaning: &'static str,
    },
}

/// The numbers that can be swept.
const NUMBERS: [Axis; 4] = [
    Axis::Number {
        name: "n-prior",
        values: &["0", "0.5", "1", "2", "4", "8", "16"],
        meaning: "weight of the prior of V, in visits",
    },
    Axis::Number {
        name: "gamma",
        values: &["0.9", "0.95", "0.98", "0.99", "0.995", "1"],
        meaning: "discount per action",
    },
    Axis::Number {
        name: "beta",
        values: &["0", "0.01", "0.02", "0.05", "0.1", "0.2"],
        meaning: "bonus of a validation action in computed step rewards",
    },
    Axis::Number {
        name: "tau",
        values: &["0", "0.001", "0.01", "0.02", "0.05", "0.1"],
        meaning: "threshold of both axes: a value counts when it is beyond it",
    },
];

/// Everything that can be swept, in the order of the keys.
#[must_use]
pub fn axes() -> Vec<Axis> {
    [Axis::Coarsest, Axis::Abstraction]
        .into_iter()
        .chain(LADDERS.iter().map(Axis::Knob))
        .chain(NUMBERS)
        .collect()
}

impl Axis {
    /// Its name, as in the options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coarsest => "every knob at its coarsest",
            Self::Abstraction => KnobRow::Abstraction.name(),
            Self::Knob(ladder) => ladder.knob,
            Self::Number { name, .. } => name,
        }
    }

    /// What it decides.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Coarsest => "which knob merges the most",
            Self::Abstraction => KnobRow::Abstraction.meaning(),
            Self::Knob(ladder) => ladder.meaning,
            Self::Number { meaning, .. } => meaning,
        }
    }

    /// The points of the picture: what is turned to which value, and the settings with it.
    #[must_use]
    pub fn points(self, base: &AnalysisSettings) -> Vec<(Point, AnalysisSettings)> {
        let turned: Vec<(&str, String)> = match self {
            Self::Coarsest => LADDERS
                .iter()
                .filter_map(|l| Some((l.knob, (*l.values.first()?).to_owned())))
                .collect(),
            Self::Abstraction => {
                let values = KnobRow::Abstraction.values().into_iter();
                values.map(|v| (self.name(), v.to_owned())).collect()
            }
            Self::Knob(ladder) => {
                let now = base.granularity.get(ladder.knob);
                let mut values: Vec<String> =
                    ladder.values.iter().map(|v| (*v).to_owned()).collect();
                if !values.contains(&now) {
                    // A width in between stands before the next finer one.
                    let finer = ladder.turned(&now, 1);
                    let at = values.iter().position(|v| v == finer).unwrap_or(values.len());
                    values.insert(at, now);
                }
                values.into_iter().map(|v| (ladder.knob, v)).collect()
            }
            Self::Number { name, values, .. } => {
                let now = number(name, base);
                let mut list: Vec<f64> = values.iter().filter_map(|v| v.parse().ok()).collect();
                if !list.contains(&now) {
                    list.push(now);
                }
                list.sort_by(f64::total_cmp);
                list.into_iter().map(|v| (name, v.to_string())).collect()
            }
        };
        turned
            .into_iter()
            .map(|(name, value)| {
                let settings = put(base, name, &value);
                let current = settings == AnalysisSettings { batch: None, ..base.clone() };
                (Point { at: vec![(name.to_owned(), value)], current }, settings)
            })
            .collect()
    }
}

/// A number that can be swept, as it is in force.
fn number(name: &str, settings: &AnalysisSettings) -> f64 {
    match name {
        "n-prior" => settings.credit.n_prior,
        "gamma" => settings.credit.gamma,
        "beta" => settings.credit.beta,
        _ => settings.tau.1,
    }
}

/// The settings with one knob or number at a value; a batch belongs to the settings it was made with.
fn put(base: &AnalysisSettings, name: &str, value: &str) -> AnalysisSettings {
    let mut settings = AnalysisSettings { batch: None, ..base.clone() };
    let credit = &mut settings.credit;
    match (name, value.parse::<f64>()) {
        ("abstraction", _) => settings.abstraction = Abstraction::find(value),
        ("n-prior", Ok(x)) => credit.n_prior = x,
        ("gamma", Ok(x)) => credit.gamma = x,
        ("beta", Ok(x)) => credit.beta = x,
        ("tau", Ok(x)) => settings.tau = (x, x),
        // Every value of a ladder is one that its knob takes.
        _ => drop(settings.granularity.set(name, value)),
    }
    settings
}

/// What a picture is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    axis: Axis,
    /// The group; `None` for all of them.
    group: Option<usize>,
    settings: AnalysisSettings,
}

/// A picture as far as it is made.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The points, in the order of the values.
    pub points: Vec<(Point, AnalysisSettings)>,
    /// Their rows.
    pub rows: Vec<Option<Arc<SweepRow>>>,
    /// Analyses that are made, and how many there will be.
    pub progress: (usize, usize),
}

/// The sweep.
#[derive(Debug, Default)]
pub struct Sweeping {
    /// Which of [`axes`].
    pub axis: usize,
    /// Over all groups instead of the shown one.
    pub all: bool,
    /// Selected row.
    pub at: usize,
    /// Number of the last request.
    pub asked: u64,
    /// What it asks for; nothing while none is wanted.
    pub asked_for: Option<Wanted>,
    /// The picture of the last request.
    pub picture: Option<Picture>,
}

/// A request for a picture.
#[derive(Debug, Clone)]
pub struct Job {
    /// Number of the request.
    pub key: u64,
    /// The groups that count.
    pub groups: Vec<Arc<Group>>,
    /// All groups of the load: some columns need statistics over them.
    pub load: Vec<Arc<Group>>,
    /// The settings in force.
    pub base: AnalysisSettings,
    /// The settings of each row.
    pub points: Vec<AnalysisSettings>,
    /// Whether groups of uniform outcome stay out of the quadrants.
    pub exclude: bool,
}

/// A part of the answer.
#[derive(Debug, Clone)]
pub struct Part {
    /// Analyses that are made.
    pub done: usize,
    /// A row that is complete: which one.
    pub row: Option<(usize, Arc<SweepRow>)>,
}

/// Makes a picture: all rows of a group before the next group, so that each group is analysed once
/// under the settings in force. `tell` says whether to go on.
pub fn run(job: &Job, mut tell: impl FnMut(Part) -> bool) {
    let with_batch = |settings: &AnalysisSettings| {
        let corpus = Corpus { groups: job.load.clone() };
        AnalysisSettings { batch: batch(&corpus, settings), ..settings.clone() }
    };
    let base = with_batch(&AnalysisSettings { batch: None, ..job.base.clone() });
    let points: Vec<AnalysisSettings> = job.points.iter().map(with_batch).collect();
    let mut rows = vec![SweepRow::default(); points.len()];
    let mut done = 0;
    for (g, group) in job.groups.iter().enumerate() {
        let now = Analysis::new(Arc::clone(group), &base);
        let counts = !(job.exclude && now.basis.uniform_outcome());
        let last = g + 1 == job.groups.len();
        for (at, (row, settings)) in rows.iter_mut().zip(&points).enumerate() {
            row.add(&Analysis::new(Arc::clone(group), settings), &now, counts);
            done += 1;
            let complete = last.then(|| {
                row.finish(base.seed);
                (at, Arc::new(row.clone()))
            });
            if !tell(Part { done, row: complete }) {
                return;
            }
        }
    }
}

/// Opens the picture of the knob under the cursor.
pub(super) fn open(model: &mut Model) {
    if let Some(KnobRow::Knob(ladder)) = turning::rows().get(model.turning.at) {
        let at = axes().iter().position(|a| *a == Axis::Knob(ladder));
        model.sweeping.axis = at.unwrap_or(0);
    }
    model.sweeping.at = usize::MAX;
}

/// Asks for the picture that is wanted, unless it is there or on its way; lets go of one that nobody
/// looks at while it is being made.
pub(super) fn settle(model: &mut Model, plan: &Plan, effects: &mut Vec<Effect>) {
    if plan.find(super::layout::Pane::Sweep).is_none() {
        let busy = model.sweeping.picture.as_ref().is_some_and(|p| p.progress.0 < p.progress.1);
        if busy {
            model.sweeping.asked += 1;
            model.sweeping.asked_for = None;
            model.sweeping.picture = None;
            effects.push(Effect::StopSweep(model.sweeping.asked));
        }
        return;
    }
    let Some(axis) = axes().get(model.sweeping.axis).copied() else {
        return;
    };
    let several = model.corpus.groups.len() > 1;
    let all = model.sweeping.all && several;
    let wanted = Wanted {
        axis,
        group: (!all).then_some(model.group),
        settings: AnalysisSettings { batch: None, ..model.settings.clone() },
    };
    if model.sweeping.asked_for.as_ref() == Some(&wanted) {
        return;
    }
    let groups: Vec<Arc<Group>> = match wanted.group {
        Some(group) => model.corpus.groups.get(group).cloned().into_iter().collect(),
        None => model.corpus.groups.clone(),
    };
    let points = axis.points(&wanted.settings);
    let job = Job {
        key: model.sweeping.asked + 1,
        load: model.corpus.groups.clone(),
        base: wanted.settings.clone(),
        points: points.iter().map(|(_, s)| s.clone()).collect(),
        exclude: all && !model.groups.uniform_counts,
        groups,
    };
    let sweeping = &mut model.sweeping;
    sweeping.asked = job.key;
    sweeping.asked_for = Some(wanted);
    sweeping.picture = Some(Picture {
        rows: vec![None; points.len()],
        progress: (0, points.len() * job.groups.len()),
        points,
    });
    place(model);
    effects.push(Effect::Sweep(Box::new(job)));
}

/// The selection starts at the value in force, or at the top of what is ordered, and stays inside.
fn place(model: &mut Model) {
    let Some(picture) = &model.sweeping.picture else {
        return;
    };
    if model.sweeping.at >= picture.points.len() {
        let ordered = axes().get(model.sweeping.axis) == Some(&Axis::Coarsest);
        let current = picture.points.iter().position(|(p, _)| p.current && !ordered);
        model.sweeping.at = current.unwrap_or(0);
    }
}

/// Knobs side by side answer which one merges the most: the fewest states first, once all are known.
/// A person who already chose a row keeps it.
fn order(sweeping: &mut Sweeping) {
    let Some(picture) = &mut sweeping.picture else {
        return;
    };
    let mut list: Vec<_> =
        picture.points.drain(..).zip(picture.rows.drain(..)).enumerate().collect();
    list.sort_by_key(|(_, (_, row))| row.as_ref().map(|r| (r.states, r.pairs)));
    if sweeping.at > 0 {
        let chosen = list.iter().position(|(was, _)| *was == sweeping.at);
        sweeping.at = chosen.unwrap_or(sweeping.at);
    }
    (picture.points, picture.rows) = list.into_iter().map(|(_, pair)| pair).unzip();
}

/// Takes a part of the answer to the last request.
pub(super) fn swept(model: &mut Model, key: u64, part: Part) {
    if key != model.sweeping.asked {
        return;
    }
    if let Some(picture) = &mut model.sweeping.picture {
        picture.progress.0 = part.done;
        if let Some((at, row)) = part.row
            && let Some(slot) = picture.rows.get_mut(at)
        {
            *slot = Some(row);
        }
        let complete = picture.rows.iter().all(Option::is_some);
        if complete && axes().get(model.sweeping.axis) == Some(&Axis::Coarsest) {
            order(&mut model.sweeping);
        }
    }
}

/// Does what a key asks of the picture.
pub(super) fn act(model: &mut Model, action: Action, count: usize, effects: &mut Vec<Effect>) {
    let n = axes().len();
    match action {
        Action::Right => model.sweeping.axis = (model.sweeping.axis + count) % n,
        Action::Left => model.sweeping.axis = (model.sweeping.axis + n - count % n) % n,
        Action::Fold => {
            if model.corpus.groups.len() < 2 {
                model.message = Some("there is only one group".to_owned());
            }
            model.sweeping.all = !model.sweeping.all;
            return;
        }
        Action::Enter => return take(model, effects),
        _ => return,
    }
    model.sweeping.at = usize::MAX;
}

/// Takes the selected value.
fn take(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((point, settings)) =
        model.sweeping.picture.as_ref().and_then(|p| p.points.get(model.sweeping.at)).cloned()
    else {
        return;
    };
    let told: Vec<String> = point.at.iter().map(|(k, v)| format!("{k} {v}")).collect();
    if point.current {
        model.message = Some(format!("{} is in force", told.join(", ")));
        return;
    }
    model.message = Some(format!("{}, u goes back", told.join(", ")));
    model.sweeping.at = usize::MAX;
    turning::change(model, settings, effects);
}
