//! What can go wrong for a whole load, and when text is read again.

use std::path::PathBuf;

use super::report::FileVerdict;

/// A load that gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No path was given.
    #[error("no file, folder or `-` was given")]
    NothingGiven,
    /// A path does not exist or cannot be opened.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file could be opened, but reading it failed.
    #[error("reading {file} failed: {error}")]
    Io {
        /// The file's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// `--from` names no reader.
    #[error("no reader is called `{given}`; there are {}", known.join(", "))]
    UnknownFormat {
        /// What was given.
        given: String,
        /// The readers there are.
        known: Vec<&'static str>,
    },
    /// Nothing that was given holds rollouts.
    #[error("{}", no_rollouts(files))]
    NoRollouts {
        /// Each file with its reason.
        files: Vec<FileVerdict>,
    },
    /// `--group-by` names a field that no rollout has.
    #[error("no rollout has a field `{field}` to group by; there are {}", list(available))]
    NoSuchKey {
        /// What was given.
        field: String,
        /// The fields that rollouts have.
        available: Vec<String>,
    },
    /// `--only` names a task that is not there.
    #[error("no rollout belongs to task `{task}`; there are {}", list(available))]
    NoSuchTask {
        /// What was given.
        task: String,
        /// Some of the tasks that are there.
        available: Vec<String>,
    },
    /// A table that was given beside the rollouts cannot be used.
    #[error("{file}: {reason}")]
    BadTable {
        /// The file's name.
        file: String,
        /// What was expected and what stands there.
        reason: String,
        /// The forms that it can have.
        forms: &'static str,
    },
    /// The load was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl LoadError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NothingGiven => {
                "give a rollout file or a folder; `credscope formats` lists what is read".into()
            }
            Self::Unreadable { .. } => "check the path and its permissions".into(),
            Self::UnknownFormat { .. } => "leave `--from` out to let the content decide".into(),
            Self::NoRollouts { files } => files.iter().find_map(|f| f.hint.clone())?,
            Self::NoSuchKey { .. } => "leave `--group-by` out to group by the task id".into(),
            Self::NoSuchTask { .. } => "`credscope groups PATH` lists the tasks".into(),
            Self::BadTable { forms, .. } => (*forms).to_owned(),
            Self::Io { .. } | Self::Cancelled => return None,
        })
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn no_rollouts(files: &[FileVerdict]) -> String {
    match files {
        [] => "there are no rollouts here: an empty folder, or verdict files alone (SWE-bench reports and \
               summaries join with trajectories; give both)"
            .to_owned(),
        [one] => format!("{} holds no rollouts: {}", one.name, one.reason),
        many => {
            let mut lines = vec![format!("none of {} files holds rollouts", many.len())];
            lines.extend(many.iter().take(10).map(|f| format!("  {}: {}", f.name, f.reason)));
            if many.len() > 10 {
                lines.push(format!("  and {} more", many.len() - 10));
            }
            lines.join("\n")
        }
    }
}

/// The text of a step could not be read again.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The group has no such rollout, step or record.
    #[error("there is no such step in this group")]
    NoSuchStep,
    /// The file is not what it was when it was loaded.
    #[error("{file} has changed since it was loaded; load it again")]
    Changed {
        /// The file's name.
        file: String,
    },
    /// The file cannot be read any more.
    #[error("{file} cannot be read again: {error}")]
    Io {
        /// The file's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
}
