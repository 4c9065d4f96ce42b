//! What the model holds beside its state because it takes a while to derive: the explanation, the
//! wrapped text, the list of groups. Part of [`super::update`]: called after every message.

use std::sync::Arc;

use super::layout::{Pane, Plan};
use super::message::Effect;
use super::model::{Model, Reader, Text};
use super::text::{Document, LineKind, Section};
use super::turning;

/// Brings everything that is derived up to date: the explanation, the text, the list of groups.
pub(super) fn settle(model: &mut Model, effects: &mut Vec<Effect>) {
    let plan = model.plan();
    explain(model, &plan);
    if plan.find(Pane::Compare).is_some() {
        super::comparing::settle(model);
    }
    super::sweeping::settle(model, &plan, effects);
    super::filtering::settle(model);
    super::finding::settle(model, effects);
    read(model, &plan, effects);
    if plan.find(Pane::Matrix).or(plan.find(Pane::Knobs)).is_some() {
        turning::compare(model, effects);
    }
    let surveyed = model.focus == Pane::Groups || model.focus == Pane::Pivotal && model.reading.all;
    let turned = model.groups.settings.as_ref() != Some(&model.settings);
    if surveyed && (turned || model.groups.stale) {
        if turned {
            model.groups.rows = vec![None; model.corpus.groups.len()];
        }
        model.groups.key += 1;
        model.groups.stale = false;
        model.groups.settings = Some(model.settings.clone());
        effects.push(Effect::Summarise {
            key: model.groups.key,
            groups: model.corpus.groups.clone(),
            rows: model.groups.rows.clone(),
            settings: model.settings.clone(),
            uniform_counts: model.groups.uniform_counts,
        });
    }
}

fn explain(model: &mut Model, plan: &Plan) {
    let Some(snapshot) = model.snapshot().map(Arc::clone) else {
        return;
    };
    let column = &snapshot.analysis.settings.y;
    let needed = plan.find(Pane::Explain).is_some() || plan.sum.is_some() && column != "rtmc";
    let Some(step) = model.step().filter(|_| needed) else {
        model.explanation = None;
        return;
    };
    let known = model.explanation.as_ref().is_some_and(|e| e.index == step && e.column == *column);
    if !known {
        model.explanation = snapshot.analysis.explain(step, column);
        model.member = 0;
    }
}

/// The text of a step that starts a segment says so first.
pub(super) fn in_its_segment(
    model: &Model,
    (_, rollout, step): (usize, usize, usize),
    document: Arc<Document>,
) -> Arc<Document> {
    let starts = model.shown_group().and_then(|g| g.rollouts.get(rollout));
    let starts = starts.map_or(&[][..], |r| &r.segment_starts);
    match starts.iter().position(|&s| s as usize == step) {
        None => document,
        Some(at) => {
            let told = super::panes::segment(at + 2, starts.len() + 1);
            let mut document = (*document).clone();
            let lines = vec![(LineKind::Dim, told)];
            document.sections.insert(0, Section { name: "segment", lines });
            Arc::new(document)
        }
    }
}

/// Where a search found the step, its text opens at the first line that holds the pattern, and
/// [`super::panes::reader`] marks it; once for each search, so that scrolling stays free.
fn go_to_hit(model: &mut Model, step: usize, width: usize) {
    let key = model.finding.active().then_some(model.finding.key);
    let here = model.finding.hits.contains(&step);
    let Text::Ready(document) = &model.reader.text else {
        return;
    };
    if !here || model.reader.sought == key {
        return;
    }
    model.reader.sought = key;
    model.reader.found = super::finding::expression(&model.finding.pattern)
        .map(|pattern| super::text::lines_with(document, &pattern, width))
        .unwrap_or_default();
    if let Some(&first) = model.reader.found.first() {
        // Two lines before it, to see what it belongs to.
        model.reader.scroll = first.saturating_sub(2);
    }
}

fn read(model: &mut Model, plan: &Plan, effects: &mut Vec<Effect>) {
    // An explanation that stands alone has room for the call.
    let alone = plan.find(Pane::Explain).filter(|_| plan.panes.len() == 1);
    let Some(area) = plan.find(Pane::Reader).or(alone) else {
        return;
    };
    let Some((group, snapshot)) = &model.shown else {
        return;
    };
    let of = (*group, model.cursor.rollout, model.cursor.step);
    let Some(step) = model.step() else {
        model.reader = Reader::default();
        return;
    };
    if model.reader.of != Some(of) {
        let target = Arc::clone(&snapshot.analysis.group);
        model.reader = Reader { of: Some(of), text: Text::Loading, ..Reader::default() };
        effects.push(Effect::Read { of, group: target, controls: model.controls });
    }
    let width = super::panes::reader::text_width(usize::from(area.width));
    if let Text::Ready(document) = &model.reader.text
        && model.reader.width != width
    {
        model.reader.lines = document.wrap(width);
        model.reader.width = width;
    }
    go_to_hit(model, step, width);
    let page = usize::from(area.height).saturating_sub(1).max(1);
    let last = model.reader.lines.len().saturating_sub(page);
    model.reader.scroll = model.reader.scroll.min(last);
}
