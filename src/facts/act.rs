//! One thing that a call does, read from its text alone: not yet applied to the rollout.

use crate::rollout::facts::{Category, Edit, Extent, Flags};

/// Which files a revert or a stash is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// The paths that are named.
    #[default]
    Named,
    /// All edited files that existed before.
    All,
    /// All files made in this rollout (`git clean -f`).
    Made,
}

/// The kind of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActKind {
    /// Shows files.
    View,
    /// Looks for files or text.
    Search,
    /// Writes whole files.
    Write,
    /// Appends to files.
    Append,
    /// Replaces text in files, applies a diff.
    Replace,
    /// Inserts text into a file.
    Insert,
    /// Takes edits back.
    Revert(Scope),
    /// Takes edits back and keeps them.
    Stash(Scope),
    /// Makes stashed edits active again.
    Unstash,
    /// Takes the last edit of a file back.
    Undo,
    /// Removes files.
    Remove,
    /// Moves files to [`Act::to`].
    Move,
    /// Copies files to [`Act::to`].
    Copy,
    /// Makes empty files.
    Touch,
    /// Changes the file system without changing a file's text.
    FileOp,
    /// Runs something.
    Execute,
    /// Says or sets something; an execute when nothing else stands in the line.
    #[default]
    Quiet,
    /// Runs tests.
    Test,
    /// Installs packages.
    Install,
    /// A thought.
    Think,
    /// A reply.
    Respond,
    /// The end of the work.
    Finish,
    /// A known tool of no category, or an unknown one.
    Other,
    /// A call that is none.
    Invalid,
}

impl ActKind {
    /// Which act of a line carries the effect: the highest decides (signatures.md, section 4).
    #[must_use]
    pub const fn rank(self) -> u8 {
        match self {
            Self::Finish => 10,
            Self::Test => 9,
            Self::Write
            | Self::Append
            | Self::Replace
            | Self::Insert
            | Self::Revert(_)
            | Self::Stash(_)
            | Self::Unstash
            | Self::Undo => 8,
            Self::Install => 7,
            Self::Remove | Self::Move | Self::Copy | Self::Touch | Self::FileOp => 6,
            Self::Execute | Self::Other | Self::Invalid | Self::Think | Self::Respond => 5,
            Self::Search => 4,
            Self::View => 3,
            Self::Quiet => 1,
        }
    }

    /// Whether it changes the text of a file.
    #[must_use]
    pub const fn is_edit(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::Replace | Self::Insert)
    }

    /// The category of the action, where the rollout has no say in it.
    #[must_use]
    pub const fn category(self) -> Category {
        match self {
            Self::View => Category::View,
            Self::Search => Category::Search,
            Self::Write
            | Self::Append
            | Self::Replace
            | Self::Insert
            | Self::Revert(_)
            | Self::Stash(_)
            | Self::Unstash
            | Self::Undo => Category::Modify,
            Self::Remove | Self::Move | Self::Copy | Self::Touch | Self::FileOp => Category::FileOp,
            Self::Execute | Self::Quiet => Category::Execute,
            Self::Test => Category::Test,
            Self::Install => Category::Install,
            Self::Think => Category::Think,
            Self::Respond => Category::Respond,
            Self::Finish => Category::Finish,
            Self::Other => Category::Other,
            Self::Invalid => Category::Invalid,
        }
    }
}

/// What the exit code of the line says about an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speaks {
    /// It is the act's own code.
    #[default]
    Always,
    /// 0 means that the act worked; another code may belong to what came after it.
    OnZero,
    /// Nothing.
    Never,
}

/// One thing that a call does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Act {
    /// What it is.
    pub kind: ActKind,
    /// Canonical program or operation.
    pub op: String,
    /// Paths as written, joined to the directory that the line changed to.
    pub paths: Vec<String>,
    /// Where it moves or copies to.
    pub to: Option<String>,
    /// Lines shown.
    pub extent: Extent,
    /// The edit, where it makes one.
    pub edit: Option<Edit>,
    /// Test runner.
    pub runner: String,
    /// Marks known from the text.
    pub flags: Flags,
    /// The rule in words.
    pub why: String,
    /// What the exit code says about it.
    pub speaks: Speaks,
    /// Number of the pipe that it stands in, for shell lines.
    pub pipe: usize,
    /// Stage of that pipe.
    pub stage: usize,
    /// What it prints, where the line says so (`echo TEXT`).
    pub prints: Option<String>,
}

impl Act {
    /// An act with its operation and its rule.
    #[must_use]
    pub fn new(kind: ActKind, op: &str, why: &str) -> Self {
        Self { kind, op: op.to_owned(), why: why.to_owned(), ..Self::default() }
    }

    /// The same with paths.
    #[must_use]
    pub fn on(mut self, paths: Vec<String>) -> Self {
        self.paths = paths;
        self
    }

    /// The same with an edit.
    #[must_use]
    pub fn editing(mut self, edit: Edit) -> Self {
        self.edit = Some(edit);
        self
    }

    /// The same with a mark.
    #[must_use]
    pub fn marked(mut self, flag: Flags) -> Self {
        self.flags = self.flags.with(flag);
        self
    }
}
