//! Searching: a pattern over actions, signatures and texts of the group; hits come in while it runs.
//! Part of [`super::update`]; the reading itself is [`super::worker`]'s.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::layout::Pane;
use super::message::Effect;
use super::model::{Layer, Model};
use crate::rollout::raw::{RawArgs, RawStep};

/// A running or finished search.
#[derive(Debug, Default)]
pub struct Finding {
    /// What is searched; empty when nothing is.
    pub pattern: String,
    /// Number of the search.
    pub key: u64,
    /// The group it is for.
    pub group: usize,
    /// The shown analysis whose signatures were searched.
    pub shown: u64,
    /// Steps that match, as indices in the group.
    pub hits: BTreeSet<usize>,
    /// Rollouts whose texts were read, and how many there are.
    pub read: (usize, usize),
    /// Rollouts whose texts could not be read.
    pub failed: usize,
    /// Whether a person waits for the first hit: the cursor goes there. It stays where it is while the
    /// same pattern is searched again, because the analysis changed.
    pub goes: bool,
}

impl Finding {
    /// Whether a search is shown.
    #[must_use]
    pub fn active(&self) -> bool {
        !self.pattern.is_empty()
    }

    /// Whether texts are still being read.
    #[must_use]
    pub fn running(&self) -> bool {
        self.active() && self.read.0 < self.read.1
    }

    /// `/pattern 3 hits`, and how far the reading is.
    #[must_use]
    pub fn status(&self) -> String {
        let n = self.hits.len();
        let plural = if n == 1 { "" } else { "s" };
        let reading = if self.running() {
            format!("  reading {} of {} rollouts …", self.read.0, self.read.1)
        } else {
            String::new()
        };
        // No hit in texts that were not read is no zero: then that comes first.
        let told = match (self.failed, n) {
            (0, _) => format!("{n} hit{plural}"),
            (all, 0) if all == self.read.1 => "texts unreadable, 0 in labels".to_owned(),
            (all, _) if all == self.read.1 => format!("{n} hit{plural}  texts unreadable"),
            (some, 0) => format!("{some} of {} unreadable, 0 hits in the rest", self.read.1),
            (1, _) => format!("{n} hit{plural}  1 rollout without text"),
            (some, _) => format!("{n} hit{plural}  {some} rollouts without text"),
        };
        format!("/{}  {told}{reading}", self.pattern)
    }
}

/// A part of the answer: hits, rollouts read so far, whether the last one could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Steps that match, as indices in the group.
    pub hits: Vec<usize>,
    /// Rollouts whose texts were read.
    pub read: usize,
    /// Whether a text could not be read.
    pub failed: bool,
}

/// The pattern as an expression: case matters only where it has a capital letter.
pub fn expression(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(!pattern.chars().any(char::is_uppercase))
        .multi_line(true)
        .size_limit(1 << 22)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("not a pattern: {reason}")
        })
}

/// Whether the text of a step matches: thought, tool, arguments, result.
#[must_use]
pub fn matches(pattern: &Regex, step: &RawStep) -> bool {
    let some = |text: &Option<String>| text.as_deref().is_some_and(|t| pattern.is_match(t));
    let args = match &step.args {
        RawArgs::Object(map) => map.values().any(|v| value_matches(pattern, v)),
        RawArgs::Unparsable(text) => pattern.is_match(text),
    };
    args || pattern.is_match(&step.thought) || some(&step.tool) || some(&step.observation)
}

fn value_matches(pattern: &Regex, value: &serde_json::Value) -> bool {
    // Without recursion: arguments may be nested as deep as a file likes.
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        match value {
            serde_json::Value::String(text) if pattern.is_match(text) => return true,
            serde_json::Value::Array(items) => todo.extend(items),
            serde_json::Value::Object(map) => todo.extend(map.values()),
            serde_json::Value::Number(n) if pattern.is_match(&n.to_string()) => return true,
            _ => {}
        }
    }
    false
}

/// A key while the pattern is typed.
pub(super) fn key(model: &mut Model, text: &str, name: &str, effects: &mut Vec<Effect>) {
    let mut text = text.to_owned();
    match name {
        "Esc" => {
            model.layers.pop();
            return;
        }
        "Enter" => {
            model.layers.pop();
            start(model, &text, effects);
            return;
        }
        "Backspace" if text.is_empty() => {
            model.layers.pop();
            return;
        }
        "Backspace" => {
            text.pop();
        }
        "Ctrl-u" => text.clear(),
        "Space" => text.push(' '),
        one if one.chars().count() == 1 => text.push_str(one),
        _ => {}
    }
    model.layers.pop();
    model.layers.push(Layer::Search { text });
}

fn start(model: &mut Model, text: &str, effects: &mut Vec<Effect>) {
    // The list of groups is searched for tasks.
    let listed = model.focus == Pane::Groups;
    if text.is_empty() && !listed {
        stop(model, effects);
        return;
    }
    match expression(text) {
        Err(reason) => {
            model.message = Some(reason);
            model.layers.push(Layer::Search { text: text.to_owned() });
            return;
        }
        Ok(pattern) if listed => {
            super::grouping::seek(model, text, pattern);
            return;
        }
        Ok(_) => {}
    }
    text.clone_into(&mut model.finding.pattern);
    search(model, true, effects);
}

/// Searches what is shown.
fn search(model: &mut Model, goes: bool, effects: &mut Vec<Effect>) {
    let Some((group, snapshot)) = model.shown.clone() else {
        return;
    };
    let finding = &mut model.finding;
    *finding = Finding {
        pattern: std::mem::take(&mut finding.pattern),
        key: finding.key + 1,
        group,
        shown: model.shown_key,
        read: (0, snapshot.analysis.group.rollouts.len()),
        goes,
        ..Finding::default()
    };
    effects.push(Effect::Find { key: finding.key, snapshot, pattern: finding.pattern.clone() });
}

/// Ends the search.
pub(super) fn stop(model: &mut Model, effects: &mut Vec<Effect>) {
    model.finding = Finding { key: model.finding.key + 1, ..Finding::default() };
    effects.push(Effect::StopFinding(model.finding.key));
}

/// Signatures change with the analysis: then it is searched again.
pub(super) fn settle(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.finding.active() && !model.waiting() && model.finding.shown != model.shown_key {
        search(model, false, effects);
    }
}

/// Takes a part of the answer. The first hit is gone to, as long as the cursor is not on one.
pub(super) fn found(model: &mut Model, key: u64, part: &Found) {
    if key != model.finding.key || !model.finding.active() {
        return;
    }
    let first = model.finding.goes && model.finding.hits.is_empty();
    model.finding.hits.extend(&part.hits);
    model.finding.read.0 = part.read;
    model.finding.failed += usize::from(part.failed);
    if first
        && let (Some(here), false) = (model.step(), model.finding.hits.is_empty())
        && !model.finding.hits.contains(&here)
    {
        let next = model.finding.hits.range(here..).next().or(model.finding.hits.first()).copied();
        if let Some(next) = next {
            super::jumps::note(model);
            super::navigate::go_to_step(model, next);
        }
    }
}

/// The search of a worker: signatures first, then the texts of one rollout after the other. `goes_on` is
/// asked before each step, and `tell` says whether to go on as well.
pub fn run(
    snapshot: &Arc<super::snapshot::Snapshot>,
    pattern: &str,
    texts: &dyn super::text::TextSource,
    goes_on: &dyn Fn() -> bool,
    mut tell: impl FnMut(Found) -> bool,
) {
    let Ok(pattern) = expression(pattern) else {
        return;
    };
    let analysis = &snapshot.analysis;
    let group = &analysis.group;
    let hits = (0..group.len())
        .take_while(|_| goes_on())
        .filter(|&s| {
            pattern.is_match(&analysis.action_label(s))
                || pattern.is_match(&analysis.state_label(s))
        })
        .collect();
    if !goes_on() || !tell(Found { hits, read: 0, failed: false }) {
        return;
    }
    for (i, rollout) in group.rollouts.iter().enumerate() {
        let read = texts.rollout_text(group, i);
        let failed = read.is_err() && !rollout.steps.is_empty();
        let hits = read
            .unwrap_or_default()
            .iter()
            .zip(rollout.steps.clone())
            .take_while(|_| goes_on())
            .filter(|(raw, _)| matches(&pattern, raw))
            .map(|(_, step)| step)
            .collect();
        if !goes_on() || !tell(Found { hits, read: i + 1, failed }) {
            return;
        }
    }
}
