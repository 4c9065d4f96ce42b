//! The filter of steps: what is chosen, and which steps pass. Part of [`super::update`].

use super::keymap::{self, Action};
use super::message::Effect;
use super::model::{Layer, Model};
use super::navigate;
use crate::analysis::{Facet, StepFilter};

/// The filter and what passes it.
#[derive(Debug, Default)]
pub struct Filtering {
    /// What is chosen.
    pub filter: StepFilter,
    /// Only the steps of this rollout.
    pub only: Option<String>,
    /// Whether each step of the shown group passes; empty without a filter.
    pub passes: Vec<bool>,
    /// The facets that some step of the shown group has, and how many steps each would leave.
    pub facets: Vec<(Facet, usize)>,
    /// The shown analysis and the filter that these are for.
    pub made_for: Option<(u64, StepFilter, Option<String>)>,
}

/// Brings what passes up to date.
pub(super) fn settle(model: &mut Model) {
    let wanted = (model.shown_key, model.filtering.filter.clone(), model.filtering.only.clone());
    let open = matches!(model.layers.last(), Some(Layer::Filter { .. }));
    let idle = wanted.1.is_empty() && wanted.2.is_none() && !open;
    if model.filtering.made_for.as_ref() == Some(&wanted)
        || idle && model.filtering.passes.is_empty()
    {
        return;
    }
    let Some(snapshot) = model.snapshot().map(std::sync::Arc::clone) else {
        return;
    };
    let analysis = &snapshot.analysis;
    let filter = &model.filtering.filter;
    // A group without the rollout shows all of its own.
    let only = model.filtering.only.as_deref().and_then(|id| analysis.group.find(id));
    let passes = if filter.is_empty() && only.is_none() {
        Vec::new()
    } else {
        let wanted = |s: usize| only.is_none_or(|r| analysis.graph.rollout_of(s) == r);
        (0..analysis.group.len()).map(|s| wanted(s) && filter.passes(analysis, s)).collect()
    };
    let facets: Vec<Facet> = Facet::all()
        .into_iter()
        .filter(|f| {
            filter.chosen().contains(f) || (0..analysis.group.len()).any(|s| f.holds(analysis, s))
        })
        .collect();
    let counts = filter.counts(analysis, &facets);
    model.filtering.facets = facets.into_iter().zip(counts).collect();
    model.filtering.passes = passes;
    model.filtering.made_for = Some(wanted);
}

/// A key in the list of facets.
pub(super) fn key(model: &mut Model, at: usize, name: &str, effects: &mut Vec<Effect>) {
    let last = model.filtering.facets.len().saturating_sub(1);
    let page = usize::from(model.area.height / 2).max(1);
    let to = match (name, keymap::action(name)) {
        ("Space" | "Enter", _) => {
            if let Some(&(facet, _)) = model.filtering.facets.get(at) {
                model.filtering.filter.toggle(facet);
            }
            at
        }
        ("c", _) => {
            model.filtering.filter = StepFilter::default();
            model.filtering.only = None;
            at
        }
        (_, Some(Action::Close | Action::Filter)) => {
            model.layers.pop();
            come_in(model);
            return;
        }
        (_, Some(Action::Help)) => {
            model.layers.push(Layer::Help { query: String::new(), scroll: 0 });
            return;
        }
        (_, Some(Action::Quit)) => {
            effects.push(Effect::Quit(0));
            return;
        }
        (_, action) => navigate::in_list(action, at, page, last),
    };
    model.layers.pop();
    model.layers.push(Layer::Filter { at: to });
}

/// The cursor goes to the next step that passes, if its own does not.
fn come_in(model: &mut Model) {
    let Some(step) = model.step() else {
        return;
    };
    if model.passes(step) {
        return;
    }
    let n = model.filtering.passes.len();
    let next = (0..n).map(|k| (step + k) % n.max(1)).find(|&s| model.passes(s));
    match next {
        Some(next) => super::navigate::go_to_step(model, next),
        None => {
            model.message =
                Some("no step of this group passes the filter: f changes it".to_owned());
        }
    }
}

impl Filtering {
    /// In a few words: `rollout r1, success`.
    #[must_use]
    pub fn name(&self) -> String {
        let only = self.only.as_ref().map(|id| format!("rollout {id}"));
        let filter = Some(self.filter.name()).filter(|name| !name.is_empty());
        only.into_iter().chain(filter).collect::<Vec<_>>().join(", ")
    }
}

impl Model {
    /// Whether a step of the shown group passes the filter.
    #[must_use]
    pub fn passes(&self, step: usize) -> bool {
        self.filtering.passes.is_empty() || self.filtering.passes.get(step) == Some(&true)
    }

    /// The step numbers of a rollout that the steps list.
    #[must_use]
    pub fn listed(&self, rollout: usize) -> Vec<usize> {
        let steps = self.steps_of(rollout);
        let start = steps.start;
        steps.filter(|&s| self.passes(s)).map(|s| s - start).collect()
    }
}
