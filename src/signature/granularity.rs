//! The knobs of a signature, their presets and their declared order of refinement.

use serde::Serialize;

/// How the lines of a view are put into buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum ViewBucket {
    /// Views leave no trace in the state and carry no lines in the action.
    Off,
    /// A file was viewed, whatever the lines.
    File,
    /// Buckets of this many lines: line div width.
    Width(u32),
    /// The lines as they are.
    Lines,
}

/// What makes two edits of one file the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum EditIdentity {
    /// Edits leave no trace in the state.
    None,
    /// The file alone.
    File,
    /// The file and how it was edited.
    Kind,
    /// The text that was put in.
    NewText,
    /// The text taken out and the text put in.
    OldNew,
}

/// How much of an execution the state remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum ExecuteTrace {
    /// Nothing.
    Off,
    /// The program.
    Program,
    /// The program and the file it ran.
    Target,
    /// Both and the result.
    Result,
    /// The whole command and the result.
    Command,
}

/// How much of the tests the state remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum TestTrace {
    /// Nothing.
    Off,
    /// That tests were run.
    Seen,
    /// The last result.
    LastResult,
    /// Counts of failed and passed runs, capped at 3.
    Capped,
    /// Counts of failed and passed runs.
    Counts,
}

/// How much of the thoughts the state remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum ThinkTrace {
    /// Nothing.
    Off,
    /// That there was a thought.
    Seen,
    /// How many.
    Counts,
}

/// How much of a path names a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum TargetScope {
    /// Nothing.
    None,
    /// The extension.
    Extension,
    /// The file's name.
    Basename,
    /// The first `k` folders and, at the end, the file's name is left out.
    Folder(u32),
    /// The whole path, relative to the workspace root.
    Path,
}

#[allow(clippy::struct_excessive_bools, reason = "each switch is a knob of its own")]
/// Every knob. Values run from coarse to fine; [`Granularity::paper`] is the default.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Granularity {
    /// Buckets of views.
    pub view_bucket: ViewBucket,
    /// Whether full and partial views are told apart.
    pub view_extent: bool,
    /// Identity of edits.
    pub edit_identity: EditIdentity,
    /// Hexadecimal digits of an edit's short hash, 1 to 16.
    pub edit_hash: u32,
    /// Executions in the state.
    pub execute: ExecuteTrace,
    /// Tests in the state.
    pub test: TestTrace,
    /// Thoughts in the state.
    pub think: ThinkTrace,
    /// Whether failed views, searches and edits leave a trace.
    pub failed: bool,
    /// Whether searches leave a trace.
    pub search: bool,
    /// Whether a revert leaves a trace of its own.
    pub reverts: bool,
    /// Whether actions carry their result.
    pub result: bool,
    /// Scope of targets.
    pub target: TargetScope,
    /// Whether all test files count as one.
    pub tests_as_one: bool,
    /// Whether the order of operations matters.
    pub sequence: bool,
    /// `observation` only: whether times, pids, addresses and temp paths are masked.
    pub mask: bool,
    /// `history` only: whether text turns count.
    pub history_text: bool,
    /// `tools` only: whether repeated calls count (a multiset).
    pub tools_multiset: bool,
}

impl Default for Granularity {
    fn default() -> Self {
        Self::paper()
    }
}

/// A knob that could not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{given}`; expected {expected}")]
pub struct KnobError {
    /// `preset`, `knob`, or the knob's name with `value of`.
    pub what: String,
    /// What was given.
    pub given: String,
    /// What would have been right.
    pub expected: String,
}

/// The names of the knobs, in the order of the panel, with their values from coarse to fine.
pub const KNOBS: [(&str, &str); 17] = [
    ("view-bucket", "off, file, 500, 100, 50, 10, lines, or any width"),
    ("view-extent", "off, on"),
    ("edit-identity", "none, file, kind, new-text, old+new"),
    ("edit-hash", "0..16 digits"),
    ("execute", "off, program, program+target, +result, command"),
    ("test", "off, seen, last-result, capped, counts"),
    ("think", "off, seen, counts"),
    ("failed", "off, on"),
    ("search", "off, on"),
    ("reverts", "off, on"),
    ("result", "off, on"),
    ("target", "none, extension, folder-K, basename, path"),
    ("test-files", "one, files"),
    ("order", "set, sequence"),
    ("mask", "on, off"),
    ("history-text", "off, on"),
    ("tools-multiset", "off, on"),
];

/// The names of the presets.
pub const PRESETS: [&str; 6] = ["paper", "paper-literal", "coarse", "coarser", "fine", "exact"];

impl Granularity {
    /// The setting that the published method describes, with executions and their results in the state.
    #[must_use]
    pub const fn paper() -> Self {
        Self {
            view_bucket: ViewBucket::Width(100),
            view_extent: true,
            edit_identity: EditIdentity::OldNew,
            edit_hash: 4,
            execute: ExecuteTrace::Result,
            test: TestTrace::Counts,
            think: ThinkTrace::Counts,
            failed: false,
            search: true,
            reverts: true,
            result: true,
            target: TargetScope::Path,
            tests_as_one: false,
            sequence: false,
            mask: true,
            history_text: false,
            tools_multiset: false,
        }
    }

    /// A preset by name.
    pub fn preset(name: &str) -> Result<Self, KnobError> {
        let paper = Self::paper();
        Ok(match name {
            "paper" => paper,
            "paper-literal" => Self { execute: ExecuteTrace::Off, ..paper },
            "coarse" => Self {
                view_bucket: ViewBucket::File,
                view_extent: false,
                edit_identity: EditIdentity::File,
                execute: ExecuteTrace::Program,
                test: TestTrace::LastResult,
                think: ThinkTrace::Off,
                search: false,
                reverts: false,
                tests_as_one: true,
                ..paper
            },
            "coarser" => Self {
                view_bucket: ViewBucket::Off,
                view_extent: false,
                edit_identity: EditIdentity::File,
                execute: ExecuteTrace::Off,
                test: TestTrace::Seen,
                think: ThinkTrace::Off,
                search: false,
                reverts: false,
                result: false,
                target: TargetScope::Basename,
                tests_as_one: true,
                ..paper
            },
            "fine" => {
                Self { view_bucket: ViewBucket::Width(50), edit_hash: 8, failed: true, ..paper }
            }
            "exact" => Self {
                view_bucket: ViewBucket::Width(10),
                edit_hash: 16,
                execute: ExecuteTrace::Command,
                failed: true,
                sequence: true,
                ..paper
            },
            _ => {
                return Err(KnobError {
                    what: "preset".into(),
                    given: name.into(),
                    expected: PRESETS.join(", "),
                });
            }
        })
    }

    /// Sets one knob by name.
    #[allow(clippy::too_many_lines, reason = "one arm per knob, in the order of the panel")]
    pub fn set(&mut self, knob: &str, value: &str) -> Result<(), KnobError> {
        let Some((_, expected)) = KNOBS.iter().find(|(name, _)| *name == knob) else {
            return Err(KnobError {
                what: "knob".into(),
                given: knob.into(),
                expected: KNOBS.map(|(name, _)| name).join(", "),
            });
        };
        let wrong = || KnobError {
            what: format!("value of {knob}"),
            given: value.into(),
            expected: (*expected).into(),
        };
        let switch = || match value {
            "on" | "true" => Ok(true),
            "off" | "false" => Ok(false),
            _ => Err(wrong()),
        };
        match knob {
            "view-bucket" => {
                self.view_bucket = match value {
                    "off" => ViewBucket::Off,
                    "file" => ViewBucket::File,
                    "lines" => ViewBucket::Lines,
                    width => match width.parse() {
                        Ok(w) if w > 0 => ViewBucket::Width(w),
                        _ => return Err(wrong()),
                    },
                }
            }
            "view-extent" => self.view_extent = switch()?,
            "edit-identity" => {
                self.edit_identity = match value {
                    "none" => EditIdentity::None,
                    "file" => EditIdentity::File,
                    "kind" => EditIdentity::Kind,
                    "new-text" => EditIdentity::NewText,
                    "old+new" => EditIdentity::OldNew,
                    _ => return Err(wrong()),
                }
            }
            "edit-hash" => match value.parse() {
                Ok(d @ 0..=16) => self.edit_hash = d,
                _ => return Err(wrong()),
            },
            "execute" => {
                self.execute = match value {
                    "off" => ExecuteTrace::Off,
                    "program" => ExecuteTrace::Program,
                    "program+target" => ExecuteTrace::Target,
                    "+result" | "result" => ExecuteTrace::Result,
                    "command" => ExecuteTrace::Command,
                    _ => return Err(wrong()),
                }
            }
            "test" => {
                self.test = match value {
                    "off" => TestTrace::Off,
                    "seen" => TestTrace::Seen,
                    "last-result" => TestTrace::LastResult,
                    "capped" => TestTrace::Capped,
                    "counts" => TestTrace::Counts,
                    _ => return Err(wrong()),
                }
            }
            "think" => {
                self.think = match value {
                    "off" => ThinkTrace::Off,
                    "seen" => ThinkTrace::Seen,
                    "counts" => ThinkTrace::Counts,
                    _ => return Err(wrong()),
                }
            }
            "failed" => self.failed = switch()?,
            "search" => self.search = switch()?,
            "reverts" => self.reverts = switch()?,
            "result" => self.result = switch()?,
            "target" => {
                self.target = match value {
                    "none" => TargetScope::None,
                    "extension" => TargetScope::Extension,
                    "basename" => TargetScope::Basename,
                    "path" => TargetScope::Path,
                    other => match other.strip_prefix("folder-").and_then(|k| k.parse().ok()) {
                        Some(k) => TargetScope::Folder(k),
                        None => return Err(wrong()),
                    },
                }
            }
            "test-files" => {
                self.tests_as_one = match value {
                    "one" => true,
                    "files" => false,
                    _ => return Err(wrong()),
                }
            }
            "order" => {
                self.sequence = match value {
                    "set" => false,
                    "sequence" => true,
                    _ => return Err(wrong()),
                }
            }
            "mask" => self.mask = switch()?,
            "history-text" => self.history_text = switch()?,
            _ => self.tools_multiset = switch()?,
        }
        Ok(())
    }

    /// The value of a knob, as [`Granularity::set`] reads it.
    #[must_use]
    pub fn get(&self, knob: &str) -> String {
        let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
        match knob {
            "view-bucket" => match self.view_bucket {
                ViewBucket::Off => "off".into(),
                ViewBucket::File => "file".into(),
                ViewBucket::Width(w) => w.to_string(),
                ViewBucket::Lines => "lines".into(),
            },
            "view-extent" => switch(self.view_extent),
            "edit-identity" => match self.edit_identity {
                EditIdentity::None => "none",
                EditIdentity::File => "file",
                EditIdentity::Kind => "kind",
                EditIdentity::NewText => "new-text",
                EditIdentity::OldNew => "old+new",
            }
            .into(),
            "edit-hash" => self.edit_hash.to_string(),
            "execute" => match self.execute {
                ExecuteTrace::Off => "off",
                ExecuteTrace::Program => "program",
                ExecuteTrace::Target => "program+target",
                ExecuteTrace::Result => "+result",
                ExecuteTrace::Command => "command",
            }
            .into(),
            "test" => match self.test {
                TestTrace::Off => "off",
                TestTrace::Seen => "seen",
                TestTrace::LastResult => "last-result",
                TestTrace::Capped => "capped",
                TestTrace::Counts => "counts",
            }
            .into(),
            "think" => match self.think {
                ThinkTrace::Off => "off",
                ThinkTrace::Seen => "seen",
                ThinkTrace::Counts => "counts",
            }
            .into(),
            "failed" => switch(self.failed),
            "search" => switch(self.search),
            "reverts" => switch(self.reverts),
            "result" => switch(self.result),
            "target" => match self.target {
                TargetScope::None => "none".into(),
                TargetScope::Extension => "extension".into(),
                TargetScope::Basename => "basename".into(),
                TargetScope::Folder(k) => format!("folder-{k}"),
                TargetScope::Path => "path".into(),
            },
            "test-files" => if self.tests_as_one { "one" } else { "files" }.into(),
            "order" => if self.sequence { "sequence" } else { "set" }.into(),
            "mask" => switch(self.mask),
            "history-text" => switch(self.history_text),
            "tools-multiset" => switch(self.tools_multiset),
            _ => String::new(),
        }
    }

    /// The name of the preset that this is, or the nearest one with `+changes`.
    #[must_use]
    pub fn name(&self) -> String {
        PRESETS
            .iter()
            .find(|p| Self::preset(p).is_ok_and(|g| g == *self))
            .map_or_else(|| "custom".to_owned(), |p| (*p).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_reads_back_what_it_prints() {
        for preset in PRESETS {
            let granularity = Granularity::preset(preset).unwrap();
            let mut copy = Granularity::preset("coarser").unwrap();
            for (knob, _) in KNOBS {
                copy.set(knob, &granularity.get(knob)).unwrap();
            }
            assert_eq!(copy, granularity, "{preset}");
        }
    }

    #[test]
    fn wrong_values_name_the_right_ones() {
        let error = Granularity::paper().set("edit-hash", "17").unwrap_err();
        assert_eq!(error.to_string(), "unknown value of edit-hash `17`; expected 0..16 digits");
        assert!(Granularity::paper().set("nope", "1").is_err());
    }
}
