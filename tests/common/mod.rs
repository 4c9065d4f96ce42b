//! What several tests share: where inputs are, groups made by hand, a small evaluator.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

pub mod derivations;
pub mod eval;
pub mod generate;

use std::path::PathBuf;
use std::sync::Arc;

use credscope::rollout::{Group, GroupKey, Outcome, Rollout, StepFacts};

/// A folder of inputs that are not part of the repository, or `None` (said loudly) when it is missing.
pub fn folder(variable: &str, default: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(default), PathBuf::from);
    if path.is_dir() {
        Some(path)
    } else {
        eprintln!("SKIPPED: {} is missing; set {variable} to run this test", path.display());
        None
    }
}

pub fn golden() -> Option<PathBuf> {
    folder("CREDSCOPE_GOLDEN", "../shared/golden")
}

pub fn cases() -> Option<PathBuf> {
    folder("CREDSCOPE_CASES", "../shared/cases")
}

pub fn corpus() -> Option<PathBuf> {
    folder("CREDSCOPE_CORPUS", "../shared/data")
}

/// What the project ships.
pub fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data").join(name)
}

/// The groups of a file, with everything at its default.
pub fn load(paths: &[PathBuf]) -> credscope::load::Loaded {
    let profiles = Arc::new(credscope::profile::Profiles::builtin());
    credscope::load::load(paths, &credscope::load::LoadOptions::default(), &profiles).unwrap()
}

/// One rollout of opaque steps: id, terminal reward, outcome, (state, action, step reward).
pub struct Walk {
    pub id: String,
    pub reward: f64,
    pub outcome: Outcome,
    pub steps: Vec<(String, String, Option<f64>)>,
}

impl Walk {
    /// A walk from `state.action` words, with no step rewards; a success when `reward` is 1.
    pub fn of(id: &str, reward: f64, words: &str) -> Self {
        Self {
            id: id.to_owned(),
            reward,
            outcome: if reward >= 1.0 { Outcome::Success } else { Outcome::Failure },
            steps: words
                .split_whitespace()
                .map(|word| {
                    let (state, action) = word.split_once('.').unwrap();
                    (state.to_owned(), action.to_owned(), None)
                })
                .collect(),
        }
    }
}

/// A group of opaque steps.
pub fn group(walks: &[Walk]) -> Arc<Group> {
    let mut group =
        Group { key: GroupKey { task: "t".into(), ..GroupKey::default() }, ..Group::default() };
    for walk in walks {
        let start = group.steps.turn.len();
        for (t, (state, action, reward)) in walk.steps.iter().enumerate() {
            let state = group.symbols.intern(state);
            let action = group.symbols.intern(action);
            group.steps.turn.push(t as u32);
            group.steps.step_reward.push(*reward);
            group.steps.state.push(state);
            group.steps.action.push(action);
            group.steps.tokens.push(None);
            group.steps.text.push(credscope::rollout::TextRef::default());
            group.steps.facts.steps.push(StepFacts::default());
        }
        group.rollouts.push(Rollout {
            id: walk.id.clone(),
            outcome: walk.outcome,
            outcome_source: "test".into(),
            ending: String::new(),
            reward: Some(walk.reward),
            outcome_reward: None,
            named_rewards: Vec::new(),
            harness: None,
            policy: None,
            attempt: None,
            steps: start..group.steps.turn.len(),
            records: Vec::new(),
            segment_starts: Vec::new(),
            missing_segments: String::new(),
            excluded_calls: 0,
            excluded_messages: 0,
            forked_from: None,
        });
    }
    Arc::new(group)
}

/// The same group with other turns: `turn` of rollout and step.
pub fn with_turns(group: &Group, turn: impl Fn(usize, usize) -> u32) -> Arc<Group> {
    let mut group = group.clone();
    for (i, rollout) in group.rollouts.iter().enumerate() {
        for (t, at) in rollout.steps.clone().enumerate() {
            group.steps.turn[at] = turn(i, t);
        }
    }
    Arc::new(group)
}
