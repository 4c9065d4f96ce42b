//! The filter of steps: what is chosen, and which steps pass. Part of [`super::update`].

use super::keymap::{self, Action};
use super::message::Effect;
use super::model::{Layer, Model};
use super::navigate;
use crate::analysis::{Facet, StepFilter};

/// So many files are listed at first.
const FILES: usize = 12;

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
    /// Whether all files are listed, not only those of most steps.
    pub all_files: bool,
    /// Files that are not listed.
    pub more_files: usize,
    /// The shown analysis and the filter that these are for.
    pub made_for: Option<(u64, StepFilter, Option<String>, bool)>,
}

/// Brings what passes up to date.
pub(super) fn settle(model: &mut Model) {
    let filtering = &model.filtering;
    let wanted =
        (model.shown_key, filtering.filter.clone(), filtering.only.clone(), filtering.all_files);
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
    let is_chosen = |f: &Facet| filter.chosen().contains(f);
    let mut facets: Vec<Facet> = Facet::all()
        .into_iter()
        .filter(|f| is_chosen(f) || (0..analysis.group.len()).any(|s| f.holds(analysis, s)))
        .collect();
    // A file that was chosen in another group stays, to be given up.
    let mut files = Facet::files(analysis);
    let strange = filter.chosen().iter().filter(|f| f.kind() == "file" && !files.contains(f));
    let strange: Vec<Facet> = strange.cloned().collect();
    let all = files.len();
    let mut place = 0;
    files.retain(|f| {
        place += 1;
        place <= FILES || model.filtering.all_files || is_chosen(f)
    });
    let more_files = all - files.len();
    facets.extend(files.into_iter().chain(strange));
    let counts = filter.counts(analysis, &facets);
    model.filtering.facets = facets.into_iter().zip(counts).collect();
    model.filtering.passes = passes;
    model.filtering.more_files = more_files;
    model.filtering.made_for = Some(wanted);
}

/// A key in the list of facets.
pub(super) fn key(model: &mut Model, at: usize, name: &str, effects: &mut Vec<Effect>) {
    let last = model.filtering.rows().saturating_sub(1);
    let page = usize::from(model.area.height / 2).max(1);
    let to = match (name, keymap::action(name)) {
        ("Space" | "Enter", _) => {
            match model.filtering.facets.get(at) {
                Some((facet, _)) => {
                    let facet = facet.clone();
                    model.filtering.filter.toggle(facet);
                }
                None => model.filtering.all_files = true,
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
    /// Rows of the list: the facets, and one for the files that are not listed.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.facets.len() + usize::from(self.more_files > 0)
    }

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
