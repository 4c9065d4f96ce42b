//! Corpus, groups, rollouts and steps: plain columnar data in canonical order.
//!
//! No reader, no file access and no mathematics lives here.

pub mod facts;
pub mod raw;
pub mod steps;
pub mod symbols;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub use facts::{Category, Extent, Fact, FactTable, Flags, RolloutFacts, StepFacts, StepResult};
pub use symbols::{Sym, Symbols};

/// What became of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The verifier accepted it.
    Success,
    /// The verifier refused it.
    Failure,
    /// A limit (steps, tokens, context, time) stopped it without a success.
    Truncated,
    /// The infrastructure failed: no verdict about the policy.
    Error,
    /// No verdict in the files.
    Unscored,
}

impl Outcome {
    /// All outcomes, in display order.
    pub const ALL: [Self; 5] =
        [Self::Success, Self::Failure, Self::Truncated, Self::Error, Self::Unscored];

    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Truncated => "truncated",
            Self::Error => "error",
            Self::Unscored => "unscored",
        }
    }
}

/// What makes rollouts comparable. Missing parts are empty; the harness is never a part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GroupKey {
    /// Benchmark, domain or environment; else the format's id.
    pub namespace: String,
    /// Task id.
    pub task: String,
    /// Model or checkpoint.
    pub policy: Option<String>,
    /// Training step.
    pub train_step: Option<u64>,
}

impl GroupKey {
    /// What tells it from others of the load beside the namespace.
    #[must_use]
    pub fn without_namespace(&self) -> (&str, Option<&str>, Option<u64>) {
        (&self.task, self.policy.as_deref(), self.train_step)
    }
}

impl Ord for GroupKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        natural(&self.namespace, &other.namespace)
            .then_with(|| natural(&self.task, &other.task))
            .then_with(|| {
                natural(
                    self.policy.as_deref().unwrap_or_default(),
                    other.policy.as_deref().unwrap_or_default(),
                )
            })
            .then(self.train_step.cmp(&other.train_step))
    }
}

impl PartialOrd for GroupKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A count with its noun: `1 step`, `2 steps`.
#[must_use]
pub fn plural<N: Copy + PartialEq + From<u8> + std::fmt::Display>(n: N, noun: &str) -> String {
    format!("{n} {noun}{}", if n == N::from(1) { "" } else { "s" })
}

/// Natural order of ids (`r2` before `r10`), made total by the plain order of the texts.
#[must_use]
pub fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    natord::compare(a, b).then_with(|| a.cmp(b))
}

/// An index into the loader's list of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceId(pub u32);

/// Where the text of a rollout (or of one segment of it) is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordRef {
    /// Which source.
    pub source: SourceId,
    /// Byte range of the record.
    pub bytes: Range<u64>,
    /// Which rollout of the record, for records that hold several.
    pub part: u32,
    /// First 64 bits of the blake3 hash of the record's bytes: a changed file is noticed.
    pub digest: u64,
    /// Line (from 1) or element (from 1) in the source, for messages only.
    pub line: u64,
}

/// Where the text of a step is: which record of its rollout, which raw step of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextRef {
    /// Index into [`Rollout::records`].
    pub record: u32,
    /// Index among the raw steps of that record.
    pub raw: u32,
}

/// One rollout: everything but its text.
#[derive(Debug, Clone)]
pub struct Rollout {
    /// Id, unique in its group.
    pub id: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Where the outcome came from: a field, a verdict file, a rule; or why there is none.
    pub outcome_source: String,
    /// How it ended, in the file's words (`max_steps`, `sandbox_lost`); empty for a clean end.
    pub ending: String,
    /// Terminal reward as logged; `None` when absent or not finite.
    pub reward: Option<f64>,
    /// Verdict score where `reward` is shaped.
    pub outcome_reward: Option<f64>,
    /// Further named rewards.
    pub named_rewards: Vec<(String, f64)>,
    /// Agent program around the model.
    pub harness: Option<String>,
    /// Model or checkpoint.
    pub policy: Option<String>,
    /// Attempt number.
    pub attempt: Option<u64>,
    /// Its steps in the group's columns.
    pub steps: Range<usize>,
    /// Where its text is: one record per segment.
    pub records: Vec<RecordRef>,
    /// Steps (within the rollout) at which a further segment starts.
    pub segment_starts: Vec<u32>,
    /// Which of its segments were not among what was given, in words; empty where none is known to be.
    pub missing_segments: String,
    /// Calls that are no steps of the policy.
    pub excluded_calls: u32,
    /// Messages of the policy that are no steps: a greeting before anybody asked.
    pub excluded_messages: u32,
    /// Id of the rollout that this one branched off, for trees of forked rollouts.
    pub forked_from: Option<String>,
}

/// The steps of a group, one entry per step, rollout after rollout. A column of what files may say about
/// a step (reward, state, action, tokens) is empty where no step of the group has it.
#[derive(Debug, Clone, Default)]
pub struct StepTable {
    /// What each step did.
    pub facts: FactTable,
    /// Turn number within the rollout.
    pub turn: Vec<u32>,
    /// Reward of the step as logged; `None` where the file has none.
    pub step_reward: Vec<Option<f64>>,
    /// Whether the file has something in the place of the reward that is no number (`NaN`, `null`).
    pub reward_lost: Vec<bool>,
    /// Key of the state before the step, for the `logged` abstraction.
    pub state: Vec<Sym>,
    /// Key of the action, for the `logged` abstraction.
    pub action: Vec<Sym>,
    /// Span of token ids, or a count as `(0, n)`.
    pub tokens: Vec<Option<(u64, u64)>>,
    /// Where the text is; empty where each step of the group stands under its own number in the first
    /// record of its rollout. Ask [`Group::text_of`].
    pub text: Vec<TextRef>,
    /// Further numbers per step, by name.
    pub values: Vec<(String, Vec<Option<f64>>)>,
}

/// The rollouts of one task by one policy at one training step, in canonical order.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// What they share.
    pub key: GroupKey,
    /// The rollouts, sorted by (id in natural order, attempt, file, offset).
    pub rollouts: Vec<Rollout>,
    /// Their steps.
    pub steps: StepTable,
    /// Texts of names, paths and labels.
    pub symbols: Symbols,
    /// Profile that the facts were made with.
    pub profile: String,
    /// How many calls map to coding categories, and how many calls there are.
    pub coding_calls: (u32, u32),
    /// The task's text, shortened, where the file has it.
    pub prompt: String,
    /// Another group of the load differs from it in nothing of the key but the namespace.
    pub namesake: bool,
}

impl Group {
    /// What people know it by: its task, with the namespace where another group is called the same.
    #[must_use]
    pub fn label(&self) -> Cow<'_, str> {
        let GroupKey { namespace, task, .. } = &self.key;
        if self.namesake { Cow::Owned(format!("{namespace}/{task}")) } else { Cow::Borrowed(task) }
    }

    /// Number of steps of all rollouts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.turn.len()
    }

    /// Whether the group has no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.turn.is_empty()
    }

    /// Where the text of a step of a rollout is; nothing past its end.
    #[must_use]
    pub fn text_of(&self, rollout: &Rollout, step: usize) -> Option<TextRef> {
        let at = Some(rollout.steps.start + step).filter(|at| *at < rollout.steps.end)?;
        if self.steps.text.is_empty() {
            return Some(TextRef { record: 0, raw: step as u32 });
        }
        self.steps.text.get(at).copied()
    }

    /// For each rollout the index of the one that its tree of forks starts with; itself without forks.
    #[must_use]
    pub fn fork_roots(&self) -> Vec<usize> {
        let parent = |i: usize| {
            let from = self.rollouts.get(i)?.forked_from.as_deref()?;
            self.find(from).filter(|&p| p != i)
        };
        (0..self.rollouts.len())
            .map(|i| {
                let mut at = i;
                // A loop of forks is a broken file: stop after as many hops as there are rollouts.
                for _ in 0..self.rollouts.len() {
                    match parent(at) {
                        Some(p) => at = p,
                        None => break,
                    }
                }
                at
            })
            .collect()
    }

    /// Bytes that the steps of the group and their texts take in memory; the rollouts themselves come to
    /// about half a kilobyte each on top.
    #[must_use]
    pub fn bytes(&self) -> usize {
        fn of<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        let steps = &self.steps;
        let values: usize = steps.values.iter().map(|(_, column)| of(column)).sum();
        let logged = of(&steps.step_reward) + of(&steps.reward_lost) + of(&steps.tokens);
        let keys = of(&steps.state) + of(&steps.action) + of(&steps.turn) + of(&steps.text);
        steps.facts.bytes() + self.symbols.bytes() + values + logged + keys
    }

    /// The rollout with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.rollouts.iter().position(|r| r.id == id)
    }
}

/// Everything that was loaded, groups in canonical order.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The groups.
    pub groups: Vec<Arc<Group>>,
}
