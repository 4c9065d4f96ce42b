//! What one action did, free of granularity and free of text: plain data that [`crate::facts`]
//! makes once, while the text is in hand, and [`crate::signature`] projects on every turn of a knob.

use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::steps::Steps;
use super::symbols::{Sym, SymMap, Symbols};

/// The kind of an action, the first part of its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Category {
    /// Reading a file.
    View,
    /// Looking for files or text, listing folders.
    Search,
    /// Changing a file that was seen before.
    Modify,
    /// Writing a file that was not seen before.
    Create,
    /// Running something that is none of the others.
    Execute,
    /// Running tests: a validation action.
    Test,
    /// Installing packages.
    Install,
    /// Moving, copying, removing files.
    FileOp,
    /// A thought that the harness accepts as a step.
    Think,
    /// A reply to a user.
    Respond,
    /// The end of the work.
    Finish,
    /// A tool that no profile knows; its signature carries the tool's name.
    #[default]
    Other,
    /// A malformed call, an unknown tool where the profile demands known ones, a missing call.
    Invalid,
}

impl Category {
    /// All categories, in display order.
    pub const ALL: [Self; 13] = [
        Self::View,
        Self::Search,
        Self::Modify,
        Self::Create,
        Self::Execute,
        Self::Test,
        Self::Install,
        Self::FileOp,
        Self::Think,
        Self::Respond,
        Self::Finish,
        Self::Other,
        Self::Invalid,
    ];

    /// The word used in signatures and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Search => "search",
            Self::Modify => "modify",
            Self::Create => "create",
            Self::Execute => "execute",
            Self::Test => "test",
            Self::Install => "install",
            Self::FileOp => "fileop",
            Self::Think => "think",
            Self::Respond => "respond",
            Self::Finish => "finish",
            Self::Other => "other",
            Self::Invalid => "invalid",
        }
    }
}

/// What came of an action. No evidence is `Unknown`, never `Ok`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum StepResult {
    /// It worked.
    Ok,
    /// It failed: a failing test, a non-zero exit, a refusal by the tool.
    Error,
    /// Nothing says whether it worked.
    #[default]
    Unknown,
    /// It was stopped by a time limit.
    Timeout,
    /// It was interrupted.
    Interrupted,
    /// It was killed (out of memory, signal).
    Killed,
}

impl StepResult {
    /// All results, in the order of their declaration.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Error, Self::Unknown, Self::Timeout, Self::Interrupted, Self::Killed];

    /// The word used in signatures and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Unknown => "unknown",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
        }
    }

    /// Whether it is known not to have worked.
    #[must_use]
    pub const fn failed(self) -> bool {
        matches!(self, Self::Error | Self::Timeout | Self::Interrupted | Self::Killed)
    }
}

/// Which lines a view showed. Lines count from 1; both ends are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Extent {
    /// Not a view, or the part shown is unknown (`cat x | awk …`).
    #[default]
    None,
    /// The whole file.
    Full,
    /// A closed range of lines.
    Lines(u32, u32),
    /// From a line to the end of the file.
    From(u32),
}

/// How an edit was made; the scope part of a modify signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EditKind {
    /// Replacing text (`str_replace`, `sed -i`, `perl -pi`, a patch).
    Replace,
    /// Inserting text, appending.
    Insert,
    /// Writing a whole file.
    Write,
}

/// The identity of an edit: full blake3 hashes, so that short forms can be made at any number of
/// digits and their collisions counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edit {
    /// How it was made.
    pub kind: EditKind,
    /// `blake3(u64-LE len(old) ‖ old ‖ new)`, line ends normalised, trailing newlines dropped.
    pub old_new: [u8; 32],
    /// `blake3(new)`, normalised likewise.
    pub new: [u8; 32],
}

/// An index into [`FactTable::edits`]. It is kept as the number after it: none costs no further bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(NonZeroU32);

impl EditId {
    /// The id of the edit at this index.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    /// The index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A slice of [`FactTable::targets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Targets {
    /// First index.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// A set of marks on a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u32);

impl Flags {
    /// The action changed nothing although it says it did (equal texts, revert of an untouched file).
    pub const NO_OP: Self = Self(1);
    /// An edit was taken back (`git checkout`, `restore`, `reset --hard`, removal of a file made here).
    pub const REVERT: Self = Self(1 << 1);
    /// `undo_edit`: only the last edit of the file is taken back.
    pub const UNDO: Self = Self(1 << 2);
    /// `git stash pop` / `apply`: the stashed edits are active again.
    pub const UNSTASH: Self = Self(1 << 3);
    /// A revert that keeps the edits for a later [`Flags::UNSTASH`].
    pub const STASH: Self = Self(1 << 4);
    /// The exit code does not speak for the command (`| tail`, `|| true`, `; echo`).
    pub const MASKED: Self = Self(1 << 5);
    /// A malformed or unknown call, or one that the tool itself refused.
    pub const INVALID: Self = Self(1 << 6);
    /// An opaque program that may write files (`python - <<EOF … open(…, 'w')`).
    pub const MAY_WRITE: Self = Self(1 << 7);
    /// A success that looks false (empty `old_str`).
    pub const SUSPICIOUS: Self = Self(1 << 8);
    /// The runner ran no test.
    pub const NOTHING_RAN: Self = Self(1 << 9);
    /// A closing message taken as `finish`.
    pub const IMPLICIT_FINISH: Self = Self(1 << 10);
    /// The arguments could not be parsed; the raw text is kept in the file.
    pub const UNPARSABLE: Self = Self(1 << 11);
    /// The call names no known tool.
    pub const UNKNOWN_TOOL: Self = Self(1 << 12);
    /// The call has no result in the file.
    pub const NO_RESULT: Self = Self(1 << 13);
    /// A file was removed that was not made in this rollout.
    pub const DELETE: Self = Self(1 << 14);
    /// A call of a tool that moves the state of the `tools` abstraction.
    pub const STATE_TOOL: Self = Self(1 << 15);
    /// The tool reported a failure of the call itself (`Error: …`).
    pub const TOOL_ERROR: Self = Self(1 << 16);
    /// An interpreter ran a file: the `test+run` trigger of the validation bonus.
    pub const RUNS_FILE: Self = Self(1 << 17);
    /// A required argument was empty or null.
    pub const EMPTY_COMMAND: Self = Self(1 << 18);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every mark of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One thing that an action did. Small and `Copy`; texts are symbols of the table it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fact {
    /// Kind of the action.
    pub category: Category,
    /// Canonical program or operation: `grep`, `find`, `python`, `pip`, `mv`, `replace`, `insert`, `revert`.
    pub op: Sym,
    /// What it acted on, as paths relative to the workspace root; empty when it has no target.
    pub targets: Targets,
    /// Lines shown, for views.
    pub extent: Extent,
    /// Identity of the edit, for modify and create.
    pub edit: Option<EditId>,
    /// Test runner, for tests.
    pub runner: Sym,
    /// What came of it.
    pub result: StepResult,
    /// Marks.
    pub flags: Flags,
}

/// All facts of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepFacts {
    /// The fact that names the action: the command that carries the effect.
    pub action: Fact,
    /// The facts that move the state, in order: a slice of [`FactTable::effects`]. It includes the
    /// action itself where that moves the state. [`StepFacts::ACTION`] where the action is all of it.
    /// Ask [`FactTable::effects_of`].
    pub effects: (u32, u32),
    /// The tool's name as logged.
    pub tool: Sym,
    /// Hash of the whole command text, normalised (64 bits of blake3); 0 for none.
    pub command: u64,
    /// Hash of tool and canonical arguments (64 bits of blake3).
    pub call: u64,
    /// A short, readable form of the canonical arguments, for labels of tool agents.
    pub brief: Sym,
    /// Hash of the observation as it is; 0 for none.
    pub seen: u64,
    /// Hash of the observation with times, pids, addresses, temp paths and durations masked; 0 for none.
    pub seen_masked: u64,
    /// The page, room or screen that the observation shows, where the profile names a field.
    pub page: Sym,
    /// Why the action has its category: a rule of the profile or of the runner table.
    pub why: Sym,
}

impl StepFacts {
    /// In the place of a range of effects: the action is the only one, and is not stored twice.
    pub const ACTION: (u32, u32) = (1, 0);
}

/// The facts of a whole group (the group's symbols), or of one rollout (local symbols; a plain list).
#[derive(Debug, Clone, Default)]
pub struct FactTable<S = Steps> {
    /// One entry per step.
    pub steps: S,
    /// Facts that move the state; steps refer to ranges of it.
    pub effects: Vec<Fact>,
    /// Paths; facts refer to ranges of it.
    pub targets: Vec<Sym>,
    /// Distinct edits.
    pub edits: Vec<Edit>,
}

impl<S> FactTable<S> {
    /// The targets of a fact.
    #[must_use]
    pub fn targets_of(&self, fact: &Fact) -> &[Sym] {
        let start = fact.targets.start as usize;
        self.targets.get(start..start + fact.targets.len as usize).unwrap_or(&[])
    }

    /// The facts that move the state at a step.
    #[must_use]
    pub fn effects_of<'a>(&'a self, step: &'a StepFacts) -> &'a [Fact] {
        if step.effects == StepFacts::ACTION {
            return std::slice::from_ref(&step.action);
        }
        self.effects.get(step.effects.0 as usize..step.effects.1 as usize).unwrap_or(&[])
    }

    /// The edit behind an id.
    #[must_use]
    pub fn edit(&self, id: EditId) -> Option<&Edit> {
        self.edits.get(id.index())
    }

    /// Whether an effect says the same as the action, wherever their targets stand. That the call is one
    /// of a state tool is said of actions alone.
    #[must_use]
    pub fn is_action(&self, effect: &Fact, action: &Fact) -> bool {
        let flags = Flags(effect.flags.0 | action.flags.0 & Flags::STATE_TOOL.0);
        effect.targets.len == action.targets.len
            && *action == (Fact { targets: action.targets, flags, ..*effect })
            && self.targets_of(effect) == self.targets_of(action)
    }
}

impl FactTable {
    /// Makes room for this many further steps.
    pub fn reserve(&mut self, steps: usize) {
        self.steps.reserve(steps);
    }

    /// Appends a rollout's facts, with its symbols mapped into the group's. An effect that is the action
    /// again is not stored a second time, and neither are edits and lists of paths and effects that are
    /// there already.
    pub fn append(&mut self, other: &FactTable<Vec<StepFacts>>, map: &SymMap, known: &mut Known) {
        let Self { steps, effects, targets, edits } = self;
        let ids: Vec<EditId> = other.edits.iter().map(|e| known.edit(*e, edits)).collect();
        let mut shift = |fact: &Fact| {
            let own = other.targets_of(fact).iter().map(|&t| map.map(t));
            let (start, end) = known.targets.place(targets, own);
            Fact {
                op: map.map(fact.op),
                runner: map.map(fact.runner),
                targets: Targets { start, len: end - start },
                edit: fact.edit.and_then(|e| ids.get(e.index()).copied()),
                ..*fact
            }
        };
        for step in &other.steps {
            let action = shift(&step.action);
            let effects = match other.effects_of(step) {
                [one] if other.is_action(one, &step.action) => StepFacts::ACTION,
                all => known.effects.place(effects, all.iter().map(&mut shift)),
            };
            steps.push(StepFacts {
                action,
                effects,
                tool: map.map(step.tool),
                brief: map.map(step.brief),
                page: map.map(step.page),
                why: map.map(step.why),
                ..*step
            });
        }
    }

    /// Bytes that it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.steps.bytes()
            + self.effects.capacity() * size_of::<Fact>()
            + self.targets.capacity() * size_of::<Sym>()
            + self.edits.capacity() * size_of::<Edit>()
    }

    /// Gives back what only further steps would need.
    pub fn pack(&mut self) {
        self.steps.pack();
        self.effects.shrink_to_fit();
        self.targets.shrink_to_fit();
        self.edits.shrink_to_fit();
    }
}

/// What a table has already, while rollouts are [appended](FactTable::append).
#[derive(Debug, Default)]
pub struct Known {
    edits: HashTable<EditId>,
    targets: KnownRuns,
    effects: KnownRuns,
}

impl Known {
    fn edit(&mut self, edit: Edit, edits: &mut Vec<Edit>) -> EditId {
        let hash = |edit: &Edit| FxBuildHasher.hash_one(edit);
        let at = |id: EditId, edits: &[Edit]| edits.get(id.index()).copied();
        let own = hash(&edit);
        if let Some(&id) = self.edits.find(own, |&id| at(id, edits) == Some(edit)) {
            return id;
        }
        let id = EditId::new(edits.len() as u32);
        edits.push(edit);
        self.edits.insert_unique(own, id, |&id| at(id, edits).map_or(0, |edit| hash(&edit)));
        id
    }
}

/// The runs of a list that stand for themselves: an equal one is not added again.
#[derive(Debug, Default)]
struct KnownRuns(HashTable<(u32, u32)>);

impl KnownRuns {
    /// Start and end of the run in the list; none has the place 0 to 0.
    fn place<T: Eq + Hash>(
        &mut self,
        list: &mut Vec<T>,
        run: impl Iterator<Item = T>,
    ) -> (u32, u32) {
        let start = list.len();
        list.extend(run);
        let of = |list: &[T], (start, end): (u32, u32)| {
            FxBuildHasher.hash_one(list.get(start as usize..end as usize).unwrap_or_default())
        };
        let new = (start as u32, list.len() as u32);
        if new.0 == new.1 {
            return (0, 0);
        }
        let own = of(list, new);
        let (before, added) = list.split_at(start);
        let equal = |&(start, end): &(u32, u32)| {
            before.get(start as usize..end as usize).is_some_and(|run| run == added)
        };
        if let Some(&run) = self.0.find(own, equal) {
            list.truncate(start);
            return run;
        }
        self.0.insert_unique(own, new, |&run| of(list, run));
        new
    }
}

/// What [`crate::facts`] makes of one raw rollout: only real steps, in order.
#[derive(Debug, Clone, Default)]
pub struct RolloutFacts {
    /// The facts, one entry per step.
    pub table: FactTable<Vec<StepFacts>>,
    /// Texts of `table`.
    pub symbols: Symbols,
    /// For each step its index among the raw steps: an empty closing message is no step.
    pub raw_index: Vec<u32>,
    /// The profile that was used.
    pub profile: String,
    /// How many calls map to coding categories, of all calls: decides the abstraction.
    pub coding_calls: u32,
    /// All tool calls.
    pub calls: u32,
}
