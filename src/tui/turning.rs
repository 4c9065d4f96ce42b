//! Turning the signature: the knobs, the pin, and what was turned before. Part of [`super::update`].

use std::sync::Arc;

use super::keymap::Action;
use super::message::Effect;
use super::model::Model;
use super::update::request;
use crate::analysis::{Analysis, AnalysisSettings, Contrast, SignatureSetting};
use crate::credit::CreditSettings;
use crate::signature::{Abstraction, Granularity, LADDERS, Ladder, PRESETS};

/// Turns that can be taken back, at most.
const UNDO: usize = 200;

/// The knobs, the pin and what was turned before.
#[derive(Debug)]
pub struct Turning {
    /// Selected row of [`rows`].
    pub at: usize,
    /// The signature that changes are counted against.
    pub pin: SignatureSetting,
    /// What was in force before the last turns, the latest last.
    pub undo: Vec<Turned>,
    /// The signature before the last turn, and the knob that was turned, until its analysis is there.
    pub told: Option<(SignatureSetting, KnobRow)>,
    /// What changed, and for which shown analysis.
    pub contrast: Option<(u64, Arc<Contrast>)>,
    /// Number of the last comparison that was asked for.
    pub asked: u64,
    /// What it was asked for: the shown analysis and the pin.
    pub asked_for: Option<(u64, SignatureSetting)>,
}

/// What a turn can change: the signature, and the numbers that a sweep goes over.
#[derive(Debug, Clone, PartialEq)]
pub struct Turned {
    signature: SignatureSetting,
    credit: CreditSettings,
    tau: (f64, f64),
}

impl Turned {
    fn of(settings: &AnalysisSettings) -> Self {
        Self {
            signature: SignatureSetting::of(settings),
            credit: settings.credit.clone(),
            tau: settings.tau,
        }
    }

    /// The settings with this in place of theirs.
    fn put_into(self, settings: &AnalysisSettings) -> AnalysisSettings {
        let turned = self.signature.put_into(settings);
        let batch = turned.batch.filter(|_| self.credit == settings.credit);
        AnalysisSettings { credit: self.credit, tau: self.tau, batch, ..turned }
    }
}

impl Turning {
    /// Pins the signature that the screen starts with.
    #[must_use]
    pub fn new(settings: &AnalysisSettings) -> Self {
        Self {
            at: 0,
            pin: SignatureSetting::of(settings),
            undo: Vec::new(),
            told: None,
            contrast: None,
            asked: 0,
            asked_for: None,
        }
    }
}

/// A row of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnobRow {
    /// What a state is made of.
    Abstraction,
    /// A knob of the granularity.
    Knob(&'static Ladder),
}

impl KnobRow {
    /// Its name, as in the options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abstraction => "abstraction",
            Self::Knob(ladder) => ladder.knob,
        }
    }

    /// What it decides.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Abstraction => "what a state is made of; auto chooses by the group",
            Self::Knob(ladder) => ladder.meaning,
        }
    }

    /// Its values, from coarse to fine where they are ordered.
    #[must_use]
    pub fn values(self) -> Vec<&'static str> {
        match self {
            Self::Abstraction => {
                std::iter::once("auto").chain(Abstraction::ALL.map(Abstraction::id)).collect()
            }
            Self::Knob(ladder) => ladder.values.to_vec(),
        }
    }

    /// Its value in a signature.
    #[must_use]
    pub fn value(self, setting: &SignatureSetting) -> String {
        match self {
            Self::Abstraction => setting.abstraction.map_or("auto", Abstraction::id).to_owned(),
            Self::Knob(ladder) => setting.granularity.get(ladder.knob),
        }
    }

    /// Whether turning it can change anything under an abstraction.
    #[must_use]
    pub fn matters(self, abstraction: Abstraction) -> bool {
        let Self::Knob(ladder) = self else {
            return true;
        };
        match ladder.knob {
            "mask" => abstraction == Abstraction::Observation,
            "history-text" => abstraction == Abstraction::History,
            "tools-multiset" => abstraction == Abstraction::Tools,
            // What actions are made of.
            "view-extent" | "view-bucket" | "edit-identity" | "edit-hash" | "result" | "target"
            | "test-files" => abstraction != Abstraction::Logged,
            _ => abstraction == Abstraction::Swe,
        }
    }
}

/// The rows of the panel.
#[must_use]
pub fn rows() -> Vec<KnobRow> {
    std::iter::once(KnobRow::Abstraction).chain(LADDERS.iter().map(KnobRow::Knob)).collect()
}

/// Does what a key asks of the signature.
pub(super) fn act(model: &mut Model, action: Action, count: usize, effects: &mut Vec<Effect>) {
    let now = SignatureSetting::of(&model.settings);
    match action {
        Action::Right => turn(model, &now, count.cast_signed(), effects),
        Action::Left => turn(model, &now, -count.cast_signed(), effects),
        Action::Pin => {
            model.message = Some(format!("pinned {}: changes count against it", now.name()));
            model.turning.pin = now;
        }
        Action::Undo => match model.turning.undo.pop() {
            Some(before) => {
                let settings = before.put_into(&model.settings);
                model.message = Some(back(&model.settings, &settings));
                model.settings = settings;
                request(model, effects);
            }
            None => model.message = Some("nothing was turned yet".to_owned()),
        },
        Action::NextPreset => preset(model, &now, true, effects),
        Action::PreviousPreset => preset(model, &now, false, effects),
        _ => {}
    }
}

/// What an undo went back to.
fn back(from: &AnalysisSettings, to: &AnalysisSettings) -> String {
    let signature = SignatureSetting::of(to);
    let left = SignatureSetting::of(from);
    if signature != left {
        let turned: Vec<String> = rows()
            .into_iter()
            .filter(|row| row.value(&signature) != row.value(&left))
            .map(|row| format!("{} {}", row.name(), row.value(&signature)))
            .collect();
        let name = signature.name();
        return match turned.as_slice() {
            [] => format!("back to {name}"),
            // A whole preset was taken: its name says more than all its knobs.
            [_, _, _, ..] => format!("back to {name}: {} knobs", turned.len()),
            _ => format!("back to {} ({name})", turned.join(", ")),
        };
    }
    let (a, b) = (&from.credit, &to.credit);
    let numbers = [
        ("n_prior", a.n_prior, b.n_prior),
        ("gamma", a.gamma, b.gamma),
        ("beta", a.beta, b.beta),
        ("tau", from.tau.1, to.tau.1),
    ];
    let changed = numbers.into_iter().find(|(_, a, b)| a != b);
    changed.map_or_else(|| "back".to_owned(), |(name, _, x)| format!("back to {name} {x}"))
}

fn turn(model: &mut Model, now: &SignatureSetting, by: isize, effects: &mut Vec<Effect>) {
    let Some(row) = rows().get(model.turning.at).copied() else {
        return;
    };
    let next = match row {
        KnobRow::Abstraction => {
            let values = row.values();
            let value = row.value(now);
            let at = values.iter().position(|v| *v == value).unwrap_or(0);
            let to = at.saturating_add_signed(by).min(values.len().saturating_sub(1));
            let id = values.get(to).copied().unwrap_or_default();
            SignatureSetting { abstraction: Abstraction::find(id), ..now.clone() }
        }
        KnobRow::Knob(ladder) => {
            SignatureSetting { granularity: now.granularity.turned(ladder.knob, by), ..now.clone() }
        }
    };
    if next == *now {
        let (end, word) = if by > 0 { ("last", "finer") } else { ("first", "coarser") };
        let what = if row == KnobRow::Abstraction { "else" } else { word };
        model.message = Some(format!(
            "{} is at its {end} value, {}: nothing {what} to turn to",
            row.name(),
            row.value(now)
        ));
        return;
    }
    model.turning.told = Some((SignatureSetting::of(&model.settings), row));
    change(model, next.put_into(&model.settings), effects);
}

/// A turn that changed no state and no action of the group says so: silence would look like a key that
/// did nothing. Called with the analysis that comes in, before it is shown.
pub(super) fn tell_idle(model: &mut Model, group: usize, analysis: &Analysis) {
    let Some((before, row)) = model.turning.told.take() else {
        return;
    };
    let Some((_, shown)) = model.shown.as_ref().filter(|(g, _)| *g == group) else {
        return;
    };
    let old = &shown.analysis;
    let same = old.graph.step_pair == analysis.graph.step_pair
        && old.projection.state == analysis.projection.state;
    if SignatureSetting::of(&old.settings) == before && same {
        let value = row.value(&SignatureSetting::of(&analysis.settings));
        let kind = analysis.abstraction.id();
        let told = format!("{} {value} changes nothing here: {kind} states stay", row.name());
        model.message = Some(told);
    }
}

fn preset(model: &mut Model, now: &SignatureSetting, forward: bool, effects: &mut Vec<Effect>) {
    let name = now.granularity.name();
    let n = PRESETS.len();
    let at = PRESETS.iter().position(|p| *p == name);
    let to = match (at, forward) {
        (Some(at), true) => (at + 1) % n,
        (Some(at), false) => (at + n - 1) % n,
        (None, _) => 0,
    };
    let Some(next) = PRESETS.get(to) else {
        return;
    };
    if let Ok(granularity) = Granularity::preset(next) {
        model.message = Some(format!("preset {next} ({} of {n}), u goes back", to + 1));
        let next = SignatureSetting { granularity, ..now.clone() };
        change(model, next.put_into(&model.settings), effects);
    }
}

/// Goes to other settings; the ones before can be taken back.
pub(super) fn change(model: &mut Model, to: AnalysisSettings, effects: &mut Vec<Effect>) {
    let undo = &mut model.turning.undo;
    undo.push(Turned::of(&model.settings));
    if undo.len() > UNDO {
        undo.remove(0);
    }
    model.settings = to;
    request(model, effects);
}

/// Asks for the comparison of what is shown with the pin, unless it is there or on its way. While a
/// newer analysis is being made there is nothing to compare yet.
pub(super) fn compare(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(now) = model.snapshot().map(Arc::clone).filter(|_| !model.waiting()) else {
        return;
    };
    let wanted = (model.shown_key, model.turning.pin.clone());
    if model.turning.asked_for.as_ref() == Some(&wanted) {
        return;
    }
    let turning = &mut model.turning;
    turning.asked += 1;
    effects.push(Effect::Contrast {
        key: turning.asked,
        now,
        pin: wanted.1.clone(),
        earlier: turning.contrast.as_ref().map(|(_, c)| Arc::clone(c)),
    });
    turning.asked_for = Some(wanted);
}

/// Takes the answer to the last comparison.
pub(super) fn contrasted(model: &mut Model, key: u64, contrast: Arc<Contrast>) {
    if key == model.turning.asked
        && let Some((shown, _)) = model.turning.asked_for
    {
        model.turning.contrast = Some((shown, contrast));
    }
}

impl Model {
    /// What changed against the pin, for what is shown and for the present pin.
    #[must_use]
    pub fn contrast(&self) -> Option<&Contrast> {
        let (shown, contrast) = self.turning.contrast.as_ref()?;
        let fresh = *shown == self.shown_key
            && contrast.pin.settings.granularity == self.turning.pin.granularity
            && contrast.pin.settings.abstraction == self.turning.pin.abstraction;
        fresh.then_some(&**contrast)
    }
}
