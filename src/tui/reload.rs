//! After something was loaded: the same group, rollout and step where they still exist, found by name.
//! What is shown stays until the new analysis is there. Part of [`super::update`].

use std::collections::HashMap;
use std::sync::Arc;

use super::message::Effect;
use super::model::{GroupList, Layer, Model, Notice, PARTIAL, Reader, Start, Text};
use super::snapshot::Snapshot;
use super::update::request;
use crate::rollout::{Corpus, Group, GroupKey, plural};

/// Takes what was loaded again.
pub(super) fn take(
    model: &mut Model,
    corpus: Corpus,
    notices: Vec<Notice>,
    effects: &mut Vec<Effect>,
) {
    let (old, new) = (counts(&model.corpus), counts(&corpus));
    replace(model, corpus, notices, effects);
    let (groups, rollouts) = (plural(new.0, "group"), plural(new.1, "rollout"));
    let counts = if old == new {
        format!("{groups}, {rollouts}, as before")
    } else {
        format!("{groups} (before {}), {rollouts} (before {})", old.0, old.1)
    };
    model.message = Some(told(model, "loaded again", &counts));
}

/// What is said at the end of a load: where something is lost, that first.
pub(super) fn told(model: &Model, verb: &str, counts: &str) -> String {
    match model.notices.iter().find(|n| n.code == PARTIAL) {
        Some(lost) => format!("{verb} with losses: {counts}; {}", lost.text),
        None => format!("{verb}: {counts}"),
    }
}

/// How many groups there are, and rollouts in them.
pub(super) fn counts(corpus: &Corpus) -> (u64, u64) {
    let rollouts = corpus.groups.iter().map(|g| g.rollouts.len() as u64).sum();
    (corpus.groups.len() as u64, rollouts)
}

/// Puts a corpus in the place of the one that is shown. Nothing that a person does is disturbed: layers,
/// what is typed, filter, knobs, pin, panes; places are found again by name.
pub(super) fn replace(
    model: &mut Model,
    corpus: Corpus,
    notices: Vec<Notice>,
    effects: &mut Vec<Effect>,
) {
    let old = std::mem::replace(&mut model.corpus, corpus);
    model.notices = notices;
    let there: HashMap<&GroupKey, usize> =
        model.corpus.groups.iter().enumerate().map(|(at, g)| (&g.key, at)).collect();
    let to: Vec<Option<usize>> = old.groups.iter().map(|g| there.get(&g.key).copied()).collect();
    drop(there);
    let to = |at: usize| to.get(at).copied().flatten();
    let batch = model.settings.columns.iter().any(crate::credit::needs_batch);
    let wanted = to(model.group);
    model.start = model.start.take().and_then(|start| moved(start, &old, &model.corpus, to));
    let at = to(model.groups.at);
    rows(model, &old, to, batch);
    model.group = wanted.unwrap_or(0);
    model.groups.at = at.unwrap_or(model.group);
    model.visited = std::mem::take(&mut model.visited)
        .into_iter()
        .filter_map(|(group, place)| Some((to(group)?, place)))
        .collect();
    for places in [&mut model.jumps.past, &mut model.jumps.future] {
        *places = std::mem::take(places)
            .into_iter()
            .filter_map(|(group, id, step)| Some((to(group)?, id, step)))
            .collect();
    }
    model.shown = model.shown.take().and_then(|(group, shown)| Some((to(group)?, shown)));
    model.finding.group = to(model.finding.group).unwrap_or(0);
    let of = model.reader.of.and_then(|(g, r, s)| Some((to(g)?, r, s)));
    if matches!(model.reader.text, Text::Ready(_) | Text::Failed(_)) && of.is_some() {
        model.reader.of = of;
    } else {
        // An answer that is on its way names the group by its old place.
        model.reader = Reader::default();
    }
    model.sweeping.asked_for = None;
    model.settings.batch = None;
    let last = model.warnings().len().saturating_sub(1);
    if let Some(Layer::Warnings { at }) = model.layers.last_mut() {
        *at = last.min(*at);
    }
    let current = model.shown.as_ref().is_some_and(|(group, shown)| {
        let new = model.corpus.groups.get(*group);
        *group == model.group && new.is_some_and(|g| Arc::ptr_eq(g, &shown.analysis.group))
    });
    let (waiting, since) = (model.waiting(), model.since);
    if waiting || batch || !current {
        request(model, effects);
        if waiting && wanted.is_some() {
            // An answer about the group as it was is better than none while more and more comes in.
            model.since = since;
        }
    }
    if model.corpus.groups.is_empty() {
        // Answers to earlier requests are of groups that are not here any more.
        model.wanted += 1;
        (model.since, model.shown_key) = (model.wanted, model.wanted);
    }
    effects.push(Effect::Discard(old));
}

/// A place that was not gone to yet.
fn moved(
    start: Start,
    old: &Corpus,
    new: &Corpus,
    to: impl Fn(usize) -> Option<usize>,
) -> Option<Start> {
    let id = &old.groups.get(start.group)?.rollouts.get(start.rollout)?.id;
    let group = to(start.group)?;
    let rollout = new.groups.get(group)?.find(id)?;
    Some(Start { group, rollout, step: start.step })
}

/// The rows of the list of groups: those of groups that are as they were hold, the others are made anew.
fn rows(model: &mut Model, old: &Corpus, to: impl Fn(usize) -> Option<usize>, batch: bool) {
    let mut rows = vec![None; model.corpus.groups.len()];
    let before = std::mem::take(&mut model.groups.rows);
    for (at, (group, row)) in old.groups.iter().zip(before).enumerate().filter(|_| !batch) {
        let new = to(at);
        let same = new.and_then(|new| model.corpus.groups.get(new));
        if same.is_some_and(|same| Arc::ptr_eq(same, group))
            && let Some(place) = new.and_then(|new| rows.get_mut(new))
        {
            *place = row;
        }
    }
    model.groups = GroupList {
        rows,
        key: model.groups.key + 1,
        stale: true,
        totals: None,
        ..std::mem::take(&mut model.groups)
    };
}

/// Before another analysis of the shown group is shown: what names its rollouts and steps by place is
/// found again by name, where the group is not the same one any more.
pub(super) fn carry(model: &mut Model, new: &Snapshot) {
    let Some((_, shown)) = &model.shown else {
        return;
    };
    let (before, after) = (&shown.analysis.group, &new.analysis.group);
    if Arc::ptr_eq(before, after) {
        return;
    }
    let to = |rollout: &usize| after.find(&before.rollouts.get(*rollout)?.id);
    model.comparing.marked = model.comparing.marked.iter().filter_map(to).collect();
    let side = &model.comparing.alignment.rollouts;
    model.comparing.alignment.rollouts = side.iter().filter_map(to).collect();
    model.opened_runs.clear();
    if let Some((group, rollout, step)) = model.reader.of {
        let records = |g: &Group, r: usize| g.rollouts.get(r).map(|r| r.records.clone());
        match to(&rollout) {
            Some(new)
                if matches!(model.reader.text, Text::Ready(_))
                    && records(before, rollout) == records(after, new) =>
            {
                model.reader.of = Some((group, new, step));
            }
            _ => model.reader = Reader::default(),
        }
    }
}
