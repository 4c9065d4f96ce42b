//! What the programs of a shell line are: readers, searchers, writers, wrappers, installers.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ProfileError;
use super::runners::{starts, words};

/// The built-in table.
pub(super) const BUILTIN: &str = include_str!("../../assets/programs.toml");

/// How the words of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Shows whole files.
    View,
    /// Shows the first lines.
    Head,
    /// Shows the last lines.
    Tail,
    /// Stream editor: shows a range of lines, or edits in place.
    Sed,
    /// Shows a part that is not known.
    Awk,
    /// Edits in place with `-i`, else runs code.
    Perl,
    /// Looks for text; the first word is the pattern.
    Grep,
    /// Looks for files; the first words are folders.
    Find,
    /// Lists folders.
    List,
    /// Writes its arguments to its output.
    Produce,
    /// Copies its input to files.
    Tee,
    /// Applies a diff.
    Patch,
    /// Version control, by sub-command.
    Git,
    /// Removes files.
    Remove,
    /// Moves files.
    Move,
    /// Copies files.
    Copy,
    /// Makes empty files.
    Touch,
    /// Changes the file system without changing a file's text.
    FileOp,
    /// Runs a file or code.
    Interpreter,
    /// A shell: runs a script, or reads the line after `-c`.
    Shell,
    /// Works on what comes in by the pipe.
    Filter,
    /// Says or waits, changes nothing: names an action only when nothing else is there.
    Quiet,
}

/// A shell program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Canonical name.
    pub op: String,
    /// How its words are read.
    pub kind: Kind,
    /// Flags that take the next word as their value.
    pub values: Vec<String>,
    /// The rule in words.
    pub why: String,
}

/// A beginning of a line that is looked through.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wrapper {
    start: Vec<String>,
    skip: usize,
    values: Vec<String>,
}

/// A beginning of a line that installs packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// Canonical name of the package manager.
    pub op: String,
    /// The rule in words.
    pub why: String,
    starts: Vec<Vec<String>>,
}

/// All programs.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    by_name: BTreeMap<String, Program>,
    wrappers: Vec<Wrapper>,
    installs: Vec<Install>,
    /// Flags with which a package manager changes nothing.
    dry_run_flags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    #[serde(default)]
    program: Vec<ProgramFile>,
    #[serde(default)]
    wrapper: Vec<WrapperFile>,
    #[serde(default)]
    install: Vec<InstallFile>,
    #[serde(default)]
    dry_run_flags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    names: Vec<String>,
    kind: Kind,
    op: Option<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrapperFile {
    starts: Vec<String>,
    #[serde(default)]
    skip: usize,
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InstallFile {
    op: String,
    starts: Vec<String>,
    #[serde(default)]
    why: String,
}

impl Programs {
    /// The built-in table; a test holds that it can be read.
    pub(super) fn builtin() -> Self {
        Self::read(BUILTIN, "programs.toml").unwrap_or_default()
    }

    /// Reads a table.
    pub fn read(text: &str, origin: &str) -> Result<Self, ProfileError> {
        let file: TableFile = toml::from_str(text).map_err(|source| ProfileError::Toml {
            origin: origin.to_owned(),
            source: Box::new(source),
        })?;
        let mut table = Self { dry_run_flags: file.dry_run_flags, ..Self::default() };
        for program in file.program {
            for name in &program.names {
                table.by_name.insert(
                    name.clone(),
                    Program {
                        op: program.op.clone().unwrap_or_else(|| name.clone()),
                        kind: program.kind,
                        values: program.values.clone(),
                        why: program.why.clone(),
                    },
                );
            }
        }
        for wrapper in file.wrapper {
            for start in &wrapper.starts {
                table.wrappers.push(Wrapper {
                    start: words(start),
                    skip: wrapper.skip,
                    values: wrapper.values.clone(),
                });
            }
        }
        for install in file.install {
            table.installs.push(Install {
                op: install.op,
                why: install.why,
                starts: install.starts.iter().map(|s| words(s)).collect(),
            });
        }
        Ok(table)
    }

    /// The program of this name; a path is looked up by its last part, a version at the end
    /// (`python3.11`) is dropped.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Program> {
        let name = base_name(name);
        self.by_name.get(name).or_else(|| {
            let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            if plain.len() < name.len() { self.by_name.get(plain) } else { None }
        })
    }

    /// How many words belong to a wrapper at the beginning of the line, if there is one.
    #[must_use]
    pub fn wrapper(&self, line: &[String]) -> Option<usize> {
        self.wrappers.iter().find_map(|wrapper| {
            let mut at = starts(line, &wrapper.start, false)?;
            let mut skip = wrapper.skip;
            while let Some(word) = line.get(at) {
                if wrapper.values.contains(word) {
                    at += 2;
                } else if word.starts_with('-') && word.len() > 1 {
                    at += 1;
                    if word == "--" {
                        break;
                    }
                } else if is_assignment(word) {
                    at += 1;
                } else if skip > 0 {
                    skip -= 1;
                    at += 1;
                } else {
                    break;
                }
            }
            Some(at.min(line.len()))
        })
    }

    /// The install rule that the line begins with.
    #[must_use]
    pub fn install(&self, line: &[String]) -> Option<&Install> {
        if line.iter().any(|word| self.dry_run_flags.contains(word)) {
            return None;
        }
        self.installs
            .iter()
            .find(|i| i.starts.iter().any(|start| starts(line, start, false).is_some()))
    }
}

/// The last part of a path.
#[must_use]
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `NAME=value`.
#[must_use]
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
