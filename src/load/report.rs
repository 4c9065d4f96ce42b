//! The load report: what was read, what was skipped and why, and where outcomes came from.
//!
//! Plain data for exports. It must not hold absolute paths, clocks, or the number of threads.

use std::path::PathBuf;

use serde::Serialize;

use super::error::typed;
use super::join::Join;
use super::options::SuccessRule;
use crate::ingest::RecordErrorKind;
use crate::rollout::plural;

/// How many entries of one list are kept; the totals count all of them.
pub const KEPT: usize = 1000;

/// Everything that a load has to say.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LoadReport {
    /// Files with rollouts, by name.
    pub files: Vec<FileReport>,
    /// Files without rollouts, by name.
    pub not_rollouts: Vec<FileVerdict>,
    /// The field that rollouts were grouped by.
    pub grouped_by: String,
    /// How many groups have how many rollouts: (rollouts, groups), ascending.
    pub group_sizes: Vec<(usize, usize)>,
    /// The rule that made successes of numbers.
    pub success_at: SuccessRule,
    /// Records that could not be read.
    pub skipped: Vec<Skipped>,
    /// Records that were left out because another record is the same rollout.
    pub collapsed: Vec<Collapsed>,
    /// What was coerced or odd.
    pub notes: Vec<Note>,
    /// Rollouts without a verdict, with reasons.
    pub unscored: Vec<Unscored>,
    /// Where outcomes came from, with counts.
    pub outcomes: Vec<OutcomeOrigin>,
    /// Files that were joined to the rollouts: verdicts, outcome maps, sidecars.
    pub joins: Vec<Join>,
    /// Warnings, one per code and cause.
    pub warnings: Vec<Warning>,
    /// Sums over all files.
    pub totals: Totals,
    /// Why the rest was left unread, where a person stopped the load.
    #[serde(skip)]
    pub stopped: Option<String>,
    /// How many of the skipped records could not be told from what follows them: that is lost as well, and
    /// nobody knows how many records it held.
    #[serde(skip)]
    pub uncut: usize,
    /// How many of what was skipped, as it is counted in words, in order of the first of each.
    #[serde(skip)]
    pub skipped_by: Vec<(&'static str, usize)>,
}

impl LoadReport {
    /// The first skipped record in one line.
    #[must_use]
    pub fn first_skipped(&self) -> Option<String> {
        self.skipped.first().map(ToString::to_string)
    }

    /// What a strict reader trips over, the first of it named: records that were skipped, files that
    /// were cut, files whose content is not there.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let cut = self.files.iter().filter(|f| f.damaged);
        let cut = cut.map(|f| format!("{}: {}", f.name, f.problems.join("; ")));
        let lost = self.not_rollouts.iter().filter(|f| f.is_fault());
        let lost: Vec<String> = cut.chain(lost.map(ToString::to_string)).collect();
        let mut parts = Vec::new();
        if let (Some(told), Some(first)) = (self.told_skipped(), self.skipped.first()) {
            parts.push(format!("{told}; first: {first}"));
        }
        parts.extend(self.told_dropped());
        if let Some(first) = lost.first() {
            parts.push(format!("{} could not be read; first: {first}", plural(lost.len(), "file")));
        }
        (!parts.is_empty()).then(|| parts.join("\n"))
    }

    /// Paths that a person named and that gave nothing, as `given`, with reasons: the rest is done
    /// without them.
    #[must_use]
    pub fn unread(&self, given: &[PathBuf]) -> Vec<String> {
        let none = self.files.iter().filter(|f| f.named && f.rollouts == 0 && f.skipped > 0);
        let none =
            none.map(|f| format!("{}: no record of it could be read", typed(given, &f.name)));
        let lost = self.not_rollouts.iter().filter(|f| f.named && !f.kind.is_known());
        let lost = lost.map(|f| FileVerdict { name: typed(given, &f.name), ..f.clone() });
        none.chain(lost.map(|f| f.to_string())).collect()
    }

    /// The mark of partial data, for screens and exports.
    #[must_use]
    pub fn partial(&self) -> Option<String> {
        let damaged = self.damaged().len();
        let lost = self.lost().count();
        let damaged = (damaged > 0).then(|| format!("{} damaged or cut", plural(damaged, "file")));
        let lost = (lost > 0).then(|| format!("{} could not be read", plural(lost, "file")));
        let parts = [self.stopped.clone(), self.told_skipped(), self.told_dropped(), damaged, lost];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("partial data: {}", parts.join(", ")))
    }

    /// Files and members whose content is not there or cannot be opened, though they look like data.
    pub fn lost(&self) -> impl Iterator<Item = &FileVerdict> {
        self.not_rollouts.iter().filter(|f| f.kind == VerdictKind::Lost && f.is_fault())
    }

    /// What is lost, and what is damaged and held no rollouts.
    pub fn refused(&self) -> impl Iterator<Item = &FileVerdict> {
        self.not_rollouts.iter().filter(|f| match f.kind {
            VerdictKind::Lost => f.is_fault(),
            kind => kind == VerdictKind::Damaged,
        })
    }

    /// Counts something that was skipped.
    pub fn skip(&mut self, one: Skipped) {
        let counted = one.counted();
        match self.skipped_by.iter_mut().find(|(unit, _)| *unit == counted) {
            Some((_, count)) => *count += 1,
            None => self.skipped_by.push((counted, 1)),
        }
        self.totals.skipped += 1;
        if self.skipped.len() < KEPT {
            self.skipped.push(one);
        }
    }

    /// How much was skipped, each in its unit.
    #[must_use]
    pub fn told_skipped(&self) -> Option<String> {
        let mut all: Vec<String> =
            self.skipped_by.iter().map(|(unit, count)| plural(*count, unit)).collect();
        let last = all.pop()?;
        let word = if all.is_empty() { last } else { format!("{} and {last}", all.join(", ")) };
        let more = if self.uncut > 0 { ", how many more with it is unknown" } else { "" };
        Some(format!("{word} skipped{more}"))
    }

    fn told_dropped(&self) -> Option<String> {
        let dropped = self.totals.dropped;
        let whose = if dropped == 1 { "its rollout" } else { "their rollouts" };
        (dropped > 0).then(|| format!("{} left out of {whose}", plural(dropped, "step")))
    }

    /// The warning with this code, if there is one.
    #[must_use]
    pub fn warning(&self, code: &str) -> Option<&Warning> {
        self.warnings.iter().find(|w| w.code == code)
    }
}

/// One file with rollouts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Name: relative to what was given.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Digest over the sorted digests of its records: the order of lines does not matter.
    pub digest: String,
    /// Id of its format.
    pub format: String,
    /// Records that were read.
    pub records: usize,
    /// Groups it has rollouts in.
    pub groups: usize,
    /// Rollouts, segments joined and duplicates left out.
    pub rollouts: usize,
    /// Their steps.
    pub steps: usize,
    /// Actions as the reader saw them: an empty closing message is one here and no step.
    pub raw_steps: usize,
    /// Rollouts with a verdict.
    pub scored: usize,
    /// Successes.
    pub successes: usize,
    /// Records that could not be read.
    pub skipped: usize,
    /// What is wrong with it, in words.
    pub problems: Vec<String>,
    /// It was named by the person, not found in a folder.
    pub named: bool,
    /// It ends before its end.
    pub damaged: bool,
}

/// A file without rollouts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileVerdict {
    /// Name: relative to what was given.
    pub name: String,
    /// It was named by the person, not found in a folder.
    pub named: bool,
    /// What it is and what is missing.
    pub reason: String,
    /// What to try.
    pub hint: Option<String>,
    /// How sure it is that nothing is lost without it.
    pub kind: VerdictKind,
}

/// What a file without rollouts is, as far as anything can be lost with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// No reader knows it.
    #[default]
    Unknown,
    /// A framework writes it beside its rollouts.
    Companion,
    /// The same file as one that is read, packed beside it: its rollouts would count twice.
    Copy,
    /// Its content is not there or cannot be opened: empty, a pointer, no permission.
    Lost,
    /// Damaged or cut: a file, a part of an archive, what is left of a packed file, a verdict that is none.
    Damaged,
}

impl VerdictKind {
    /// Whether it is known what it is, and that nothing is lost without it.
    #[must_use]
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Companion | Self::Copy)
    }

    /// What stands before the reason in lists of files.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Copy => "left out",
            Self::Unknown | Self::Companion | Self::Lost => "no rollouts",
        }
    }
}

impl FileVerdict {
    /// Whether rollouts may be missing for it. An empty log in a run's folder is no fault.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        const HOLD: [&str; 10] =
            ["json", "jsonl", "ndjson", "traj", "eval", "gz", "zst", "zip", "tgz", "tar"];
        match self.kind {
            VerdictKind::Companion | VerdictKind::Copy => false,
            VerdictKind::Unknown => self.named,
            VerdictKind::Damaged => true,
            VerdictKind::Lost => {
                let ending = self.name.rsplit('.').next().unwrap_or_default();
                self.named
                    || self.name.ends_with('/')
                    || HOLD.contains(&ending.to_ascii_lowercase().as_str())
            }
        }
    }
}

impl std::fmt::Display for FileVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// File.
    pub file: String,
    /// `line`, `element`, `value` or `document`.
    pub unit: &'static str,
    /// Which one, from 1.
    pub number: u64,
    /// The line that the record starts on, where it is none itself.
    pub line: Option<u64>,
    /// Line and column of what the parser could not read, where it is known.
    pub at: Option<(u64, u64)>,
    /// Which rollout of it, from 1, where only one of several is lost.
    pub part: Option<u32>,
    /// What kind of trouble.
    pub kind: RecordErrorKind,
    /// The field at fault.
    pub field: Option<String>,
    /// What was expected and what stands there.
    pub reason: String,
    /// What to do.
    pub hint: Option<String>,
    /// It stands around the rollouts of a document, which were read without it.
    #[serde(skip)]
    pub around: bool,
}

impl Skipped {
    /// What it counts as: a rollout where its document was read without it, what stands around the
    /// rollouts of a document where these were read, else a record by the unit of its file.
    #[must_use]
    pub const fn counted(&self) -> &'static str {
        match self.part {
            Some(_) => "rollout",
            None if self.around => "document part",
            None => self.unit,
        }
    }
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} {}", self.file, self.unit, self.number)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        if let Some(part) = self.part {
            write!(f, ", rollout {part}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ", field `{field}`")?;
        }
        write!(f, ": {}", self.reason)?;
        match (self.at, self.line) {
            (Some((line, column)), Some(_)) => write!(f, ", at line {line}, column {column}")?,
            (Some((_, column)), None) => write!(f, ", at column {column}")?,
            (None, _) => {}
        }
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// A record that was left out because another record is the same rollout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Collapsed {
    /// File.
    pub file: String,
    /// `line`, `element`, `value` or `document`.
    pub unit: &'static str,
    /// Which one, from 1.
    pub number: u64,
    /// The rollout.
    pub rollout: String,
    /// `copy` or `retry`.
    pub kind: &'static str,
    /// The attempt that was left out.
    pub attempt: Option<u64>,
    /// The attempt that was kept.
    pub kept: Option<u64>,
}

impl std::fmt::Display for Collapsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} {}, rollout {}: ", self.file, self.unit, self.number, self.rollout)?;
        match (self.attempt, self.kept) {
            (Some(attempt), Some(kept)) => write!(f, "attempt {attempt}, attempt {kept} is kept"),
            (None, Some(kept)) => write!(f, "no attempt number, attempt {kept} is kept"),
            (_, None) => write!(f, "a copy, the last one is kept"),
        }
    }
}

/// Something coerced or odd that cost nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// File.
    pub file: String,
    /// `line`, `element`, `value` or `document`.
    pub unit: &'static str,
    /// Which one, from 1.
    pub number: u64,
    /// The rollout's id as the file gives it.
    pub rollout: Option<String>,
    /// The field; empty for the whole record.
    pub field: String,
    /// What was done or seen.
    pub reason: String,
}

/// A rollout without a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unscored {
    /// Its task.
    pub task: String,
    /// Its id.
    pub rollout: String,
    /// `error` or `unscored`.
    pub outcome: &'static str,
    /// Why.
    pub reason: String,
}

/// Where outcomes came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeOrigin {
    /// A field, a rule, or a reason.
    pub source: String,
    /// How many rollouts.
    pub rollouts: usize,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable code.
    pub code: &'static str,
    /// What was seen.
    pub text: String,
    /// What to do.
    pub hint: Option<String>,
    /// The tasks it concerns; empty for the whole load.
    pub tasks: Vec<String>,
}

/// Sums over all files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Files with rollouts.
    pub files: usize,
    /// Records that were read.
    pub records: usize,
    /// Groups.
    pub groups: usize,
    /// Rollouts.
    pub rollouts: usize,
    /// Rollouts with a verdict: successes, failures, truncated ones.
    pub scored: usize,
    /// Successes.
    pub successes: usize,
    /// Failures.
    pub failures: usize,
    /// Stopped by a limit.
    pub truncated: usize,
    /// Infrastructure failures.
    pub errors: usize,
    /// Without a verdict.
    pub unscored: usize,
    /// Steps.
    pub steps: usize,
    /// Actions as the readers saw them.
    pub raw_steps: usize,
    /// Calls that are no steps of the policy.
    pub excluded_calls: usize,
    /// Greetings of the policy before anybody asked, which are no steps.
    pub excluded_messages: usize,
    /// Records that could not be read.
    pub skipped: usize,
    /// Steps that could not be read, in rollouts that were.
    pub dropped: usize,
    /// Numbers and fields that were coerced or odd.
    pub notes: usize,
    /// Copies that were left out.
    pub duplicates: usize,
    /// Earlier attempts that were left out.
    pub retries: usize,
    /// Records that were joined to another as segments of one rollout.
    pub joined_segments: usize,
    /// Rollouts of other tasks that `only` left out.
    pub left_out: usize,
}
