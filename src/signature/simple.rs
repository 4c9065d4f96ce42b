//! The abstractions that need no knowledge of files: `tools`, `history`, `observation`, `page`,
//! `logged`, `index`.

use hashbrown::HashTable;

use super::action::ActionKey;
use super::paths::Scope;
use super::states::{Content, Counters, StateTable};
use super::{Abstraction, Contents, Granularity, Projection, intern};
use crate::rollout::{Category, Flags, Group, StepFacts, Sym};

/// What a state of one of these abstractions is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Nothing was seen yet.
    Start,
    /// A logged key or a page.
    Text(Sym),
    /// Hash of the last observation.
    Seen(u64),
    /// A step without a key in the file: a state of its own, shared with nobody.
    Unknown(u32),
    /// The step number.
    Index(u32),
    /// A previous state and the action that was taken there.
    After(u32, u32),
}

pub(super) fn project(
    group: &Group,
    abstraction: Abstraction,
    granularity: &Granularity,
) -> Projection {
    let mut scope = Scope::default();
    let (mut actions, mut action_index) = (Vec::new(), HashTable::new());
    let (mut keys, mut key_index) = (Vec::new(), HashTable::new());
    let mut sets = StateTable::with_capacity(group.len());
    let mut state = Vec::with_capacity(group.len());
    let mut action = Vec::with_capacity(group.len());
    let by_call = matches!(abstraction, Abstraction::Tools | Abstraction::History);
    for rollout in &group.rollouts {
        let mut content = Content::new(granularity.sequence);
        let mut previous: Option<StepFacts> = None;
        let mut past = intern(&mut keys, &mut key_index, Key::Start);
        for (t, at) in rollout.steps.clone().enumerate() {
            let Some(step) = group.steps.facts.steps.get(at) else {
                continue;
            };
            let logged = group.steps.action.get(at).copied().unwrap_or(Sym::NONE);
            let key = if abstraction == Abstraction::Logged && !logged.is_none() {
                ActionKey::Logged(logged)
            } else if by_call {
                ActionKey::call(&step)
            } else {
                ActionKey::coding(
                    &step,
                    &group.steps.facts,
                    &group.symbols,
                    granularity,
                    &mut scope,
                )
            };
            let taken = intern(&mut actions, &mut action_index, key);
            action.push(taken);
            let here = match abstraction {
                Abstraction::Tools => {
                    sets.id(content.hash(), content.elements(), Counters::default())
                }
                Abstraction::History => past,
                Abstraction::Logged => {
                    let text = group.steps.state.get(at).copied().unwrap_or(Sym::NONE);
                    let key =
                        if text.is_none() { Key::Unknown(at as u32) } else { Key::Text(text) };
                    intern(&mut keys, &mut key_index, key)
                }
                Abstraction::Page => {
                    let key = previous.map_or(Key::Start, |p| Key::Text(p.page));
                    intern(&mut keys, &mut key_index, key)
                }
                Abstraction::Index => intern(&mut keys, &mut key_index, Key::Index(t as u32)),
                Abstraction::Observation | Abstraction::Swe => {
                    let key = previous.map_or(Key::Start, |p| {
                        Key::Seen(if granularity.mask { p.seen_masked } else { p.seen })
                    });
                    intern(&mut keys, &mut key_index, key)
                }
            };
            state.push(here);
            if abstraction == Abstraction::Tools && moves_state(&step) {
                if granularity.tools_multiset {
                    content.add_again(taken);
                } else {
                    content.add(taken);
                }
            }
            if abstraction == Abstraction::History && (!is_text(&step) || granularity.history_text)
            {
                past = intern(&mut keys, &mut key_index, Key::After(past, taken));
            }
            previous = Some(step);
        }
    }
    actions.shrink_to_fit();
    keys.shrink_to_fit();
    let (states, contents) = if abstraction == Abstraction::Tools {
        sets.close();
        (sets.len() as u32, Contents::Tools { states: sets })
    } else {
        (keys.len() as u32, Contents::Keys { keys })
    };
    Projection {
        state: state.into(),
        action: action.into(),
        states,
        actions: actions.len() as u32,
        collisions: 0,
        contents,
        keys: actions,
        scope,
        granularity: granularity.clone(),
        labels: std::sync::OnceLock::new(),
    }
}

/// A call of a state tool that did not fail.
fn moves_state(step: &StepFacts) -> bool {
    let flags = step.action.flags;
    !step.tool.is_none()
        && flags.has(Flags::STATE_TOOL)
        && !flags.has(Flags::TOOL_ERROR)
        && !flags.has(Flags::INVALID)
        && !step.action.result.failed()
}

fn is_text(step: &StepFacts) -> bool {
    step.tool.is_none()
        && matches!(
            step.action.category,
            Category::Respond | Category::Think | Category::Finish | Category::Invalid
        )
}

/// The text of a state that is a key.
pub(super) fn label(id: u32, keys: &[Key], projection: &Projection, group: &Group) -> String {
    match keys.get(id as usize) {
        None | Some(Key::Start) => "(start)".to_owned(),
        Some(Key::Text(sym)) => group.symbols.text(*sym).to_owned(),
        Some(Key::Unknown(_)) => "(no key)".to_owned(),
        Some(Key::Seen(0)) => "(no observation)".to_owned(),
        Some(Key::Seen(hash)) => format!("obs:{:08x}", hash >> 32),
        Some(Key::Index(t)) => format!("step {t}"),
        Some(Key::After(..)) => {
            let mut parts = Vec::new();
            let mut at = id;
            while let Some(Key::After(before, action)) = keys.get(at as usize) {
                parts.push(projection.action_label(group, *action));
                at = *before;
            }
            parts.reverse();
            parts.join(" > ")
        }
    }
}

/// The text of a state that is a set of calls.
pub(super) fn set_label(content: &[u32], projection: &Projection, group: &Group) -> String {
    if content.is_empty() {
        return "{}".to_owned();
    }
    let mut calls: Vec<String> =
        content.iter().map(|&action| projection.action_label(group, action)).collect();
    calls.sort();
    format!("{{{}}}", calls.join(", "))
}
