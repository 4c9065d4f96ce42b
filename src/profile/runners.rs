//! The table of test runners, and what programs print about how they ended.

use serde::Deserialize;

use super::ProfileError;
use super::patterns::{Check, Patterns};

/// The built-in table.
pub(super) const BUILTIN: &str = include_str!("../../assets/runners.toml");

/// What a runner takes as the thing to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetRule {
    /// Words that look like paths.
    #[default]
    Paths,
    /// Every word that is no flag.
    Words,
    /// Nothing: its words are filters or names of targets.
    None,
    /// The script itself.
    Script,
}

/// What a runner printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All tests passed.
    Ok,
    /// Something failed.
    Error,
    /// No test ran; whether that is a failure is the runner's own convention.
    NothingRan {
        /// The runner ends with a failure then.
        is_error: bool,
    },
}

/// One test runner.
#[derive(Debug, Clone, Default)]
pub struct Runner {
    /// Name shown in signatures' details.
    pub name: String,
    /// Beginnings of command lines, as words with `*`; see [`Runners::find`].
    starts: Vec<Vec<String>>,
    /// Modules of `python -m`.
    modules: Vec<String>,
    /// The words after the first may stand anywhere (`mvn -q clean test`).
    anywhere: bool,
    /// Flags with which no test is run.
    unless: Vec<String>,
    /// Flags that take the next word as their value.
    pub values: Vec<String>,
    /// What it takes as the thing to test.
    pub targets: TargetRule,
    /// The rule in words.
    pub why: String,
    ok: Patterns,
    error: Patterns,
    nothing: Patterns,
    nothing_is_error: bool,
}

impl Runner {
    /// The verdict that stands in the output, if any: a failure outweighs what else is printed.
    #[must_use]
    pub fn verdict(&self, output: &str) -> Option<Verdict> {
        if self.error.is_match(output) {
            Some(Verdict::Error)
        } else if self.nothing.is_match(output) {
            Some(Verdict::NothingRan { is_error: self.nothing_is_error })
        } else if self.ok.is_match(output) {
            Some(Verdict::Ok)
        } else {
            None
        }
    }

    fn refuses(&self, rest: &[String]) -> bool {
        rest.iter().any(|word| self.unless.contains(word))
    }
}

/// What programs other than test runners print about how they ended.
#[derive(Debug, Clone)]
pub struct Evidence {
    programs: Vec<String>,
    ok: Patterns,
    error: Patterns,
}

/// All runners and evidence, in the order of the table.
#[derive(Debug, Clone, Default)]
pub struct Runners {
    runners: Vec<Runner>,
    evidence: Vec<Evidence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    #[serde(default)]
    runner: Vec<RunnerFile>,
    #[serde(default)]
    evidence: Vec<EvidenceFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunnerFile {
    name: String,
    #[serde(default)]
    starts: Vec<String>,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    anywhere: bool,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    targets: Option<String>,
    why: String,
    #[serde(default)]
    ok: Vec<String>,
    #[serde(default)]
    error: Vec<String>,
    #[serde(default)]
    nothing: Vec<String>,
    #[serde(default)]
    nothing_is_error: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceFile {
    programs: Vec<String>,
    #[serde(default)]
    ok: Vec<String>,
    #[serde(default)]
    error: Vec<String>,
}

impl Runners {
    /// The built-in table; a test holds that it can be read.
    pub(super) fn builtin() -> Self {
        Self::read_as(BUILTIN, "runners.toml", Check::Never).unwrap_or_default()
    }

    /// Reads a table.
    pub fn read(text: &str, origin: &str) -> Result<Self, ProfileError> {
        Self::read_as(text, origin, Check::Now)
    }

    fn read_as(text: &str, origin: &str, check: Check) -> Result<Self, ProfileError> {
        let patterns = |field: &str, texts: &[String]| Patterns::read(origin, field, texts, check);
        let file: TableFile = toml::from_str(text).map_err(|source| ProfileError::Toml {
            origin: origin.to_owned(),
            source: Box::new(source),
        })?;
        let mut table = Self::default();
        for runner in file.runner {
            let field = |name: &str| format!("runner {}: {name}", runner.name);
            table.runners.push(Runner {
                starts: runner.starts.iter().map(|s| words(s)).collect(),
                modules: runner.modules,
                anywhere: runner.anywhere,
                unless: runner.unless,
                values: runner.values,
                targets: target_rule(origin, &runner.name, runner.targets.as_deref())?,
                why: runner.why,
                ok: patterns(&field("ok"), &runner.ok)?,
                error: patterns(&field("error"), &runner.error)?,
                nothing: patterns(&field("nothing"), &runner.nothing)?,
                nothing_is_error: runner.nothing_is_error,
                name: runner.name,
            });
        }
        for evidence in file.evidence {
            table.evidence.push(Evidence {
                ok: patterns("evidence: ok", &evidence.ok)?,
                error: patterns("evidence: error", &evidence.error)?,
                programs: evidence.programs,
            });
        }
        Ok(table)
    }

    /// Puts the rules of another table (a user's) before these.
    pub fn prepend(&mut self, mut other: Self) {
        other.runners.append(&mut self.runners);
        other.evidence.append(&mut self.evidence);
        *self = other;
    }

    /// The runner of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Runner> {
        self.runners.iter().find(|r| r.name == name)
    }

    /// All runners, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = &Runner> {
        self.runners.iter()
    }

    /// The runner that these words start, with the number of words that belong to the start. The
    /// first word may be a path; a pattern without a slash looks at its last part only. Between
    /// the words of a start flags may stand.
    #[must_use]
    pub fn find(&self, words: &[String]) -> Option<(&Runner, usize)> {
        self.runners.iter().find_map(|runner| {
            let used =
                runner.starts.iter().find_map(|start| starts(words, start, runner.anywhere))?;
            (!runner.refuses(words)).then_some((runner, used))
        })
    }

    /// The runner that `python -m module` starts.
    #[must_use]
    pub fn find_module(&self, module: &str, rest: &[String]) -> Option<&Runner> {
        self.runners.iter().find(|r| r.modules.iter().any(|m| m == module) && !r.refuses(rest))
    }

    /// Whether the output shows that this program failed (or that it worked). `known` keeps what
    /// was found for this output: several programs share rows, and each costs a walk over the text.
    #[must_use]
    pub fn evidence(&self, program: &str, output: &str, known: &mut Found) -> Option<bool> {
        let fits = |e: &Evidence| e.programs.iter().any(|p| p == program || p == "*");
        for failed in [true, false] {
            for (at, row) in self.evidence.iter().enumerate().filter(|(_, e)| fits(e)) {
                let before = known.0.iter().find(|k| (k.0, k.1) == (at, failed));
                let found = if let Some(&(_, _, found)) = before {
                    found
                } else {
                    let patterns = if failed { &row.error } else { &row.ok };
                    let found = patterns.is_match(output);
                    known.0.push((at, failed, found));
                    found
                };
                if found {
                    return Some(!failed);
                }
            }
        }
        None
    }
}

/// What was found in one output: row of the table, error or not, whether it matched.
#[derive(Debug, Clone, Default)]
pub struct Found(Vec<(usize, bool, bool)>);

fn target_rule(origin: &str, runner: &str, word: Option<&str>) -> Result<TargetRule, ProfileError> {
    match word {
        None | Some("paths") => Ok(TargetRule::Paths),
        Some("words") => Ok(TargetRule::Words),
        Some("none") => Ok(TargetRule::None),
        Some("script") => Ok(TargetRule::Script),
        Some(other) => Err(ProfileError::Word {
            origin: origin.to_owned(),
            field: format!("runner {runner}: targets"),
            word: other.to_owned(),
            expected: "paths, words, none, script".to_owned(),
        }),
    }
}

pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// How many of `words` the start covers, if they begin with it.
pub(super) fn starts(words: &[String], start: &[String], anywhere: bool) -> Option<usize> {
    let (first, rest) = start.split_first()?;
    let word = words.first()?;
    if !matches_path(word, first) {
        return None;
    }
    let mut used = 1;
    for pattern in rest {
        let from = if anywhere { 1 } else { used };
        let mut open = words.iter().enumerate().skip(from);
        let found = if anywhere || pattern.starts_with('-') {
            open.find(|(_, w)| glob(w, pattern))
        } else {
            open.find(|(_, w)| !w.starts_with('-')).filter(|(_, w)| glob(w, pattern))
        };
        used = used.max(found?.0 + 1);
    }
    Some(used)
}

/// A pattern with a slash looks at the end of the path, one without at its last part.
fn matches_path(word: &str, pattern: &str) -> bool {
    if pattern.contains('/') {
        let word = word.strip_prefix("./").unwrap_or(word);
        glob(word, pattern) || glob(word, &format!("*/{pattern}"))
    } else {
        glob(word.rsplit('/').next().unwrap_or(word), pattern)
    }
}

/// `*` stands for any text.
#[must_use]
pub(crate) fn glob(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            tail.is_empty()
                || rest
                    .char_indices()
                    .map(|(i, _)| i)
                    .chain([rest.len()])
                    .any(|i| rest.get(i..).is_some_and(|r| glob(r, tail)))
        }),
    }
}
