//! From facts to state and action ids: the projection that is repeated on every turn of a knob.
//!
//! It works on small tuples; no text is read or parsed here, and labels are made when drawn.

mod action;
pub mod granularity;
pub mod ladder;
pub mod paths;
mod refine;
mod simple;
mod states;
mod swe;

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

pub use granularity::{Granularity, KNOBS, KnobError, PRESETS};
pub use ladder::{LADDERS, Ladder};
pub use states::StateId;

use crate::rollout::{Group, Sym};

/// An id of a distinct action of one projection.
pub type ActionId = u32;

/// What a state is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Abstraction {
    /// Operations per file and counters: coding agents.
    Swe,
    /// Hash of the last observation.
    Observation,
    /// The exact sequence of calls so far: a true tree.
    History,
    /// The set of calls of the state tools so far.
    Tools,
    /// The page, room or screen that the last observation shows.
    Page,
    /// A key found in the file.
    Logged,
    /// The step number: a debug view.
    Index,
}

impl Abstraction {
    /// All of them, in display order.
    pub const ALL: [Self; 7] = [
        Self::Swe,
        Self::Observation,
        Self::History,
        Self::Tools,
        Self::Page,
        Self::Logged,
        Self::Index,
    ];

    /// The id used in options and exports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Swe => "swe",
            Self::Observation => "observation",
            Self::History => "history",
            Self::Tools => "tools",
            Self::Page => "page",
            Self::Logged => "logged",
            Self::Index => "index",
        }
    }

    /// The abstraction with this id.
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.id() == id)
    }

    /// The abstraction that suits a group, and why: `logged` if every step has a key; else `swe` if at
    /// least half of the calls are of coding categories; else `page` if observations show one; else
    /// `tools`.
    #[must_use]
    pub fn choose(group: &Group) -> (Self, String) {
        let steps = group.len();
        let keyed = group.steps.state.iter().filter(|s| !s.is_none()).count();
        let (coding, calls) = group.coding_calls;
        if steps > 0 && keyed == steps {
            (Self::Logged, format!("all {steps} steps have a state key in the file"))
        } else if calls > 0 && coding * 2 >= calls {
            (Self::Swe, format!("{coding} of {calls} calls are coding actions"))
        } else if group.steps.facts.steps.iter().any(|s| !s.page.is_none()) {
            (Self::Page, format!("the profile {} names a page field", group.profile))
        } else if calls == 0 && keyed > 0 {
            (Self::Logged, format!("{keyed} of {steps} steps have a state key in the file"))
        } else {
            (Self::Tools, format!("{coding} of {calls} calls are coding actions: fewer than half"))
        }
    }
}

/// State and action ids of every step of a group, with what is needed to label them.
#[derive(Debug)]
pub struct Projection {
    /// State before each step.
    pub state: Box<[StateId]>,
    /// Action of each step.
    pub action: Box<[ActionId]>,
    /// Number of distinct states.
    pub states: u32,
    /// Number of distinct actions.
    pub actions: u32,
    /// How many distinct edits of one file share a short hash with another.
    pub collisions: u32,
    contents: Contents,
    keys: Vec<action::ActionKey>,
    scope: paths::Scope,
    granularity: Granularity,
    labels: OnceLock<Vec<String>>,
}

#[derive(Debug)]
enum Contents {
    Swe { states: states::StateTable, elements: Vec<swe::Element> },
    Tools { states: states::StateTable },
    Keys { keys: Vec<simple::Key> },
}

impl Projection {
    /// Projects a group.
    #[must_use]
    pub fn new(group: &Group, abstraction: Abstraction, granularity: &Granularity) -> Self {
        match abstraction {
            Abstraction::Swe => swe::project(group, granularity),
            other => simple::project(group, other, granularity),
        }
    }

    /// The signature of a state as text.
    #[must_use]
    pub fn state_label(&self, group: &Group, state: StateId) -> String {
        match &self.contents {
            Contents::Swe { states, elements } => {
                swe::label(&states.content(state), elements, self, group)
            }
            Contents::Tools { states } => simple::set_label(&states.content(state).0, self, group),
            Contents::Keys { keys } => simple::label(state, keys, self, group),
        }
    }

    /// The signature of an action as text.
    #[must_use]
    pub fn action_label(&self, group: &Group, action: ActionId) -> String {
        self.keys.get(action as usize).map_or_else(String::new, |key| {
            key.label(&group.symbols, &|path| self.path_label(path), &self.granularity)
        })
    }

    /// The granularity it was made with.
    #[must_use]
    pub const fn granularity(&self) -> &Granularity {
        &self.granularity
    }

    fn path_label(&self, path: Sym) -> String {
        self.labels
            .get_or_init(|| paths::suffix_labels(self.scope.names()))
            .get(path.0 as usize)
            .cloned()
            .unwrap_or_default()
    }
}

/// The index of `key` in `list`, added when new. `index` finds it by hash; the key stands in the list
/// alone.
fn intern<K: Hash + Eq>(list: &mut Vec<K>, index: &mut HashTable<u32>, key: K) -> u32 {
    let hash = |key: &K| FxBuildHasher.hash_one(key);
    let own = hash(&key);
    if let Some(&id) = index.find(own, |&id| list.get(id as usize) == Some(&key)) {
        return id;
    }
    let id = list.len() as u32;
    list.push(key);
    index.insert_unique(own, id, |&id| list.get(id as usize).map_or(0, hash));
    id
}
