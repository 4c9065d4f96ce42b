//! After everything was loaded again: the same group, rollout and step where they still exist, found by
//! name. Part of [`super::update`].

use super::filtering::Filtering;
use super::jumps::Jumps;
use super::message::Effect;
use super::model::{GroupList, Model, Notice};
use super::numbers::plural;
use super::update::request;
use crate::rollout::Corpus;

/// Takes what was loaded.
pub(super) fn take(
    model: &mut Model,
    corpus: Corpus,
    notices: Vec<Notice>,
    effects: &mut Vec<Effect>,
) {
    let key = model.corpus.groups.get(model.group).map(|g| g.key.clone());
    let place = model.shown_group().and_then(|g| {
        let rollout = g.rollouts.get(model.cursor.rollout)?;
        Some((rollout.id.clone(), model.cursor.step))
    });
    let shown = model.shown.as_ref().map(|(group, _)| *group);
    let found = key.and_then(|key| corpus.groups.iter().position(|g| g.key == key));
    let old = (model.corpus.groups.len(), rollouts(&model.corpus));
    let new = (corpus.groups.len(), rollouts(&corpus));
    model.group = found.unwrap_or(0);
    model.groups = GroupList {
        rows: vec![None; corpus.groups.len()],
        key: model.groups.key + 1,
        at: model.group,
        order: model.groups.order,
        mixed: model.groups.mixed,
        uniform_counts: model.groups.uniform_counts,
        settings: None,
        totals: None,
    };
    model.corpus = corpus;
    model.notices = notices;
    // Indices of groups mean something else now.
    model.visited.clear();
    model.shown = None;
    model.jumps = Jumps::default();
    model.filtering = Filtering {
        filter: model.filtering.filter.clone(),
        only: model.filtering.only.clone(),
        ..Filtering::default()
    };
    if let (Some(_), Some(place), Some(group)) = (shown, place, found) {
        model.visited.insert(group, place);
    }
    model.sweeping.asked_for = None;
    model.settings.batch = None;
    // Answers to earlier requests are of groups that are not here any more, even if nothing new is asked.
    model.wanted += 1;
    model.shown_key = model.wanted;
    model.message = Some(if old == new {
        let (groups, rollouts) = (plural(new.0 as u64, "group"), plural(new.1 as u64, "rollout"));
        format!("loaded again: {groups}, {rollouts}, as before")
    } else {
        format!(
            "loaded again: {} (before {}), {} (before {})",
            plural(new.0 as u64, "group"),
            old.0,
            plural(new.1 as u64, "rollout"),
            old.1
        )
    });
    request(model, effects);
}

fn rollouts(corpus: &Corpus) -> usize {
    corpus.groups.iter().map(|g| g.rollouts.len()).sum()
}
