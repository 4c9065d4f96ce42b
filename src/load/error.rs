//! What can go wrong for a whole load, and when text is read again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
        /// The file, as given where that is known.
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
    #[error("{}", no_rollouts(given, files))]
    NoRollouts {
        /// The paths as given.
        given: Vec<PathBuf>,
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
        /// Its path as given.
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
    /// None of these files holds rollouts.
    pub(super) const fn no_rollouts(files: Vec<FileVerdict>) -> Self {
        Self::NoRollouts { given: Vec::new(), files }
    }

    /// The same with the paths as they were given.
    #[must_use]
    pub(super) fn about(self, given: &[PathBuf]) -> Self {
        match self {
            Self::NoRollouts { files, .. } => Self::NoRollouts { given: given.to_vec(), files },
            Self::Io { file, error } => Self::Io { file: typed(given, &file), error },
            other => other,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NothingGiven => {
                "give a rollout file or a folder; `credscope formats` lists what is read".into()
            }
            Self::Unreadable { .. } => "check the path and its permissions".into(),
            Self::UnknownFormat { .. } => "leave `--from` out to let the content decide".into(),
            Self::NoRollouts { files, .. } => {
                let hints = hints(files);
                // Where there are several, each stands behind its file.
                hints.first().filter(|_| hints.len() == 1).map(|hint| (*hint).to_owned())?
            }
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

/// So many files are told with their reasons.
const TOLD: usize = 10;

/// What to do about the files that are told.
fn hints(files: &[FileVerdict]) -> BTreeSet<&str> {
    files.iter().take(TOLD).filter_map(|f| f.hint.as_deref()).collect()
}

fn no_rollouts(given: &[PathBuf], files: &[FileVerdict]) -> String {
    let paths: Vec<String> = given.iter().take(3).map(|p| format!("`{}`", p.display())).collect();
    let more = given.len() - paths.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let within = match paths.as_slice() {
        [] => String::new(),
        paths => format!(" in {}{more}", paths.join(", ")),
    };
    let name = |file: &FileVerdict| typed(given, &file.name);
    match files {
        [] => format!(
            "there are no rollouts{}: an empty folder, or verdict files alone (SWE-bench reports and summaries \
             join with trajectories; give both)",
            if within.is_empty() { " here" } else { within.as_str() }
        ),
        [one] => format!("{} holds no rollouts: {}", name(one), one.reason),
        many => {
            let each = hints(many).len() > 1;
            // A folder stands in the first line, and its files are named from there.
            let within = if given.len() == 1 { within.as_str() } else { "" };
            let name = |f: &FileVerdict| if given.len() == 1 { f.name.clone() } else { name(f) };
            let mut lines = vec![format!("none of {} files{within} holds rollouts", many.len())];
            lines.extend(many.iter().take(TOLD).map(|f| match &f.hint {
                Some(hint) if each => format!("  {}: {} ({hint})", name(f), f.reason),
                _ => format!("  {}: {}", name(f), f.reason),
            }));
            if many.len() > TOLD {
                lines.push(format!("  and {} more", many.len() - TOLD));
            }
            lines.join("\n")
        }
    }
}

/// A file or a member of an archive as it was given, where that is clear: names are short, and say
/// nothing about where a file lies.
pub fn typed(given: &[PathBuf], name: &str) -> String {
    let (file, member) = match name.split_once('!') {
        Some((file, member)) => (file, format!("!{member}")),
        None => (name, String::new()),
    };
    let is_it = |path: &&PathBuf| {
        path.ends_with(file) || fs::canonicalize(path).is_ok_and(|real| real.ends_with(file))
    };
    let found: Vec<&PathBuf> = given.iter().filter(is_it).collect();
    let within = |folder: &Path| Some(folder.join(file)).filter(|path| path.is_file());
    let path = match (found.as_slice(), given) {
        ([one], _) => Some((*one).clone()),
        ([], [folder]) => within(folder),
        _ => None,
    };
    path.map_or_else(|| name.to_owned(), |path| format!("{}{member}", path.display()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_the_path_that_was_typed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("in.jsonl"), "").unwrap();
        let path = |name: &str| dir.path().join(name);
        let given = [PathBuf::from("./a/run.jsonl"), "b/run.jsonl".into(), "../x.zip".into()];
        for (given, name, expected) in [
            (&given[..], "a/run.jsonl", "./a/run.jsonl".to_owned()),
            (&given, "x.zip!m/run.jsonl", "../x.zip!m/run.jsonl".to_owned()),
            // Two of them are called that.
            (&given, "run.jsonl", "run.jsonl".to_owned()),
            (&given, "other.jsonl", "other.jsonl".to_owned()),
            (&[path("")], "in.jsonl", path("in.jsonl").display().to_string()),
            (&[path("")], "gone.jsonl", "gone.jsonl".to_owned()),
            (&["-".into()], "stdin", "stdin".to_owned()),
        ] {
            assert_eq!(typed(given, name), expected);
        }
    }

    #[test]
    fn hints_stand_behind_their_files_where_they_differ() {
        let file = |name: &str, hint: &str| FileVerdict {
            name: name.to_owned(),
            reason: "why".to_owned(),
            hint: Some(hint.to_owned()),
            ..FileVerdict::default()
        };
        let told = |files| {
            let error = LoadError::no_rollouts(files).about(&["f/a".into(), "f/b".into()]);
            (error.to_string(), error.hint())
        };
        let (text, hint) = told(vec![file("a", "do"), file("b", "do")]);
        assert_eq!(text, "none of 2 files holds rollouts\n  f/a: why\n  f/b: why");
        assert_eq!(hint.as_deref(), Some("do"));
        let (text, hint) = told(vec![file("a", "pull"), file("b", "fill")]);
        assert_eq!(text, "none of 2 files holds rollouts\n  f/a: why (pull)\n  f/b: why (fill)");
        assert_eq!(hint, None);
        let (text, _) = told(Vec::new());
        assert!(
            text.starts_with("there are no rollouts in `f/a`, `f/b`: an empty folder"),
            "{text}"
        );
        let error = LoadError::no_rollouts(vec![file("a", "x"), file("b", "x")]);
        let text = error.about(&["../f".into()]).to_string();
        assert_eq!(text, "none of 2 files in `../f` holds rollouts\n  a: why\n  b: why");
    }
}
