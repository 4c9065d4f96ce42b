//! Which tool of which framework is what: profiles, runner tables and program tables, as data.
//!
//! Profiles are TOML (assets/profiles/*.toml and user files); no logic per framework lives here.
//! A new framework is a new file: its tools with their categories, the names of their arguments,
//! and how its harness frames results.

mod choose;
mod file;
mod literals;
mod patterns;
mod programs;
mod runners;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use choose::CallCounts;
use patterns::Check;
pub use patterns::Patterns;
pub use programs::{Install, Kind, Program, Programs};
pub(crate) use programs::{base_name, is_assignment};
pub(crate) use runners::glob;
pub use runners::{Evidence, Found, Runner, Runners, TargetRule, Verdict};

/// A profile or table that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The text is no TOML of the expected shape.
    #[error("{origin}: {source}")]
    Toml {
        /// File name.
        origin: String,
        /// What the TOML reader says, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A pattern is no regular expression.
    #[error("{origin}: {field}: {source}")]
    Pattern {
        /// File name.
        origin: String,
        /// Field that holds the pattern.
        field: String,
        /// What the pattern compiler says.
        source: Box<regex::Error>,
    },
    /// A word that stands for nothing known.
    #[error("{origin}: {field}: unknown word `{word}` (expected one of: {expected})")]
    Word {
        /// File name.
        origin: String,
        /// Field that holds the word.
        field: String,
        /// The word.
        word: String,
        /// What could stand there.
        expected: String,
    },
    /// An included profile that does not exist (yet).
    #[error("{origin}: include: no profile `{name}`")]
    Include {
        /// File name.
        origin: String,
        /// Name of the missing profile.
        name: String,
    },
}

/// What a tool does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deed {
    /// Runs a shell command line.
    Shell,
    /// Shows a file or a part of it.
    View,
    /// Looks for files or text, lists folders.
    Search,
    /// Replaces text by text.
    Replace,
    /// Replaces a range of lines of the open file.
    EditLines,
    /// Inserts text.
    Insert,
    /// Writes a whole file.
    Write,
    /// Applies a diff.
    Patch,
    /// Takes the last edit of a file back.
    Undo,
    /// Removes a file.
    Remove,
    /// Runs code that stands in an argument.
    Run,
    /// Installs packages.
    Install,
    /// A thought.
    Think,
    /// Ends the work.
    Finish,
    /// Speaks to a user.
    Respond,
    /// A tool that is known and belongs to no category.
    Other,
}

impl Deed {
    /// The words of profile files.
    pub const WORDS: [(&'static str, Self); 16] = [
        ("shell", Self::Shell),
        ("view", Self::View),
        ("search", Self::Search),
        ("replace", Self::Replace),
        ("edit-lines", Self::EditLines),
        ("insert", Self::Insert),
        ("write", Self::Write),
        ("patch", Self::Patch),
        ("undo", Self::Undo),
        ("remove", Self::Remove),
        ("run", Self::Run),
        ("install", Self::Install),
        ("think", Self::Think),
        ("finish", Self::Finish),
        ("respond", Self::Respond),
        ("other", Self::Other),
    ];

    /// Whether calls of it count as coding calls (view to fileop).
    #[must_use]
    pub const fn is_coding(self) -> bool {
        !matches!(self, Self::Think | Self::Finish | Self::Respond | Self::Other)
    }
}

/// What a tool (or one of its sub-commands) is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verb {
    /// What it does.
    pub deed: Deed,
    /// Canonical program or operation; empty for the deed's own word.
    pub op: String,
}

/// A tool of a framework.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Name as logged.
    pub name: String,
    /// What it is, where no sub-command says otherwise.
    pub verb: Option<Verb>,
    /// Argument that names the sub-command.
    pub by: Option<String>,
    /// Sub-commands.
    pub sub: BTreeMap<String, Verb>,
    /// Argument names that differ from the profile's, by role.
    pub args: BTreeMap<String, Vec<String>>,
    /// The tool leaves its file open for the tools that name no path.
    pub opens: bool,
    /// It shows a window: the lines shown stand in the result.
    pub windowed: bool,
    /// The rule in words.
    pub why: String,
}

/// A word of the command line that is a tool of the framework (`str_replace_editor view /p`).
#[derive(Debug, Clone)]
pub struct LineTool {
    /// First word of the line.
    pub word: String,
    /// Tool that it stands for.
    pub tool: String,
    /// Names of the positional words, in order.
    pub positional: Vec<String>,
    /// The lines after the first, up to this word, are the argument `body`.
    pub block_end: Option<String>,
}

/// What a turn without a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoTool {
    /// The harness answers with a demand to continue.
    #[default]
    Invalid,
    /// The harness accepts it.
    Think,
    /// It reaches a user.
    Respond,
}

/// How a framework's calls and results are read.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // They are independent facts about a framework.
pub struct Profile {
    /// Id.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Reader ids that this profile belongs to.
    pub formats: Vec<String>,
    /// Parts of harness names, letters and digits only, lower case.
    pub harness: Vec<String>,
    /// Tools that no other framework has.
    pub marks: Vec<String>,
    /// Never chosen, only included.
    pub only_included: bool,
    /// Chosen for rollouts without any call.
    pub when_no_calls: bool,
    /// Tools by name.
    pub tools: BTreeMap<String, Tool>,
    /// Words of the command line that are tools.
    pub line_tools: BTreeMap<String, LineTool>,
    /// Argument names by role, first match wins.
    pub args: BTreeMap<String, Vec<String>>,
    /// What a turn without a call is.
    pub no_tool: NoTool,
    /// A tool that is not listed is an invalid call.
    pub strict: bool,
    /// Tools that move the state of the `tools` abstraction; empty for all.
    pub state_tools: Vec<String>,
    /// Workspace roots; `*` stands for any text inside a component.
    pub roots: Vec<String>,
    /// The working directory lasts from one command to the next.
    pub persistent_shell: bool,
    /// The code of a command that shows none.
    pub exit_code_when_absent: Option<i64>,
    /// Finds the page, room or screen in an observation (first group).
    pub page: Patterns,
    /// Beginnings of results that report a failure of the call itself.
    pub tool_errors: Vec<String>,
    /// What an editor says when it refuses.
    pub refusals: Patterns,
    /// What the harness writes before a result.
    pub frames: Patterns,
    /// Exit codes in the text of a result (first group).
    pub exit_codes: Patterns,
    /// What the harness writes when a time limit stopped a command.
    pub timeouts: Patterns,
    /// Number of lines of a viewed file (first group).
    pub lengths: Patterns,
    /// A view that lists a folder.
    pub folders: Patterns,
    /// Words of a command line that end the work.
    pub finish_words: Vec<String>,
    /// Finds the action in the text of a turn without a call (first group).
    pub text_actions: Patterns,
}

impl Profile {
    /// The argument names of a role, for this tool.
    #[must_use]
    pub fn names<'a>(&'a self, tool: Option<&'a Tool>, role: &str) -> &'a [String] {
        tool.and_then(|t| t.args.get(role))
            .or_else(|| self.args.get(role))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether calls of this tool move the state of the `tools` abstraction.
    #[must_use]
    pub fn is_state_tool(&self, tool: &str) -> bool {
        self.state_tools.is_empty() || self.state_tools.iter().any(|t| t == tool)
    }
}

/// All profiles that are known, built in and from user files, with the tables that go with them.
#[derive(Debug, Clone, Default)]
pub struct Profiles {
    list: Vec<Arc<Profile>>,
    /// Test runners.
    pub runners: Runners,
    /// Shell programs.
    pub programs: Programs,
}

/// The built-in profiles; an included one stands before those that include it.
const BUILTIN: [(&str, &str); 14] = [
    ("base.toml", include_str!("../../assets/profiles/base.toml")),
    ("r2e-gym.toml", include_str!("../../assets/profiles/r2e-gym.toml")),
    ("openhands.toml", include_str!("../../assets/profiles/openhands.toml")),
    ("swe-agent.toml", include_str!("../../assets/profiles/swe-agent.toml")),
    ("mini-swe-agent.toml", include_str!("../../assets/profiles/mini-swe-agent.toml")),
    ("claude-code.toml", include_str!("../../assets/profiles/claude-code.toml")),
    ("opencode.toml", include_str!("../../assets/profiles/opencode.toml")),
    ("hermes.toml", include_str!("../../assets/profiles/hermes.toml")),
    ("pi.toml", include_str!("../../assets/profiles/pi.toml")),
    ("codex.toml", include_str!("../../assets/profiles/codex.toml")),
    ("terminus.toml", include_str!("../../assets/profiles/terminus.toml")),
    ("tau.toml", include_str!("../../assets/profiles/tau.toml")),
    ("text.toml", include_str!("../../assets/profiles/text.toml")),
    ("generic.toml", include_str!("../../assets/profiles/generic.toml")),
];

impl Profiles {
    /// The built-in profiles and tables. A test holds that all of them can be read, so what cannot
    /// be read is left out here instead of failing.
    #[must_use]
    pub fn builtin() -> Self {
        let mut profiles =
            Self { list: Vec::new(), runners: Runners::builtin(), programs: Programs::builtin() };
        for (origin, text) in BUILTIN {
            let _left_out = profiles.insert(text, origin, Check::Never);
        }
        profiles
    }

    /// Adds a profile from TOML text; one of the same name is replaced. `origin` names the file in
    /// messages. The result is the profile's name.
    pub fn add(&mut self, text: &str, origin: &str) -> Result<String, ProfileError> {
        let name = self.insert(text, origin, Check::Now)?;
        // What a person adds is looked at before what is built in.
        if let Some(at) = self.list.iter().position(|p| p.name == name) {
            let added = self.list.remove(at);
            self.list.insert(0, added);
        }
        Ok(name)
    }

    fn insert(&mut self, text: &str, origin: &str, check: Check) -> Result<String, ProfileError> {
        let profile = file::read(text, origin, self, check)?;
        let name = profile.name.clone();
        match self.list.iter_mut().find(|p| p.name == name) {
            Some(old) => *old = Arc::new(profile),
            None => self.list.push(Arc::new(profile)),
        }
        Ok(name)
    }

    /// The profile of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Profile>> {
        self.list.iter().find(|p| p.name == name)
    }

    /// All profiles, in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.list.iter()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_file_can_be_read() {
        let mut profiles = Profiles {
            list: Vec::new(),
            runners: Runners::default(),
            programs: Programs::default(),
        };
        for (origin, text) in BUILTIN {
            if let Err(error) = profiles.add(text, origin) {
                panic!("{error}");
            }
        }
        Runners::read(runners::BUILTIN, "runners.toml").unwrap();
        Programs::read(programs::BUILTIN, "programs.toml").unwrap();
    }

    #[test]
    fn a_new_framework_needs_no_rust() {
        let mut profiles = Profiles::builtin();
        let text = r#"
            name = "shop"
            title = "Web shop"
            harness = ["shopper"]
            page = "Page: (.*)"
            [[tool]]
            names = ["click"]
            does = "other"
        "#;
        assert_eq!(profiles.add(text, "shop.toml").unwrap(), "shop");
        let mut calls = CallCounts::default();
        calls.count("click");
        let chosen = profiles.choose("native", Some("my-Shopper-v2"), &calls);
        assert_eq!(chosen.unwrap().name, "shop");
    }

    #[test]
    fn mistakes_are_named() {
        let mut profiles = Profiles::builtin();
        let wrong = "name = \"x\"\n[[tool]]\nnames = [\"a\"]\ndoes = \"vew\"\n";
        let message = profiles.add(wrong, "x.toml").unwrap_err().to_string();
        assert!(message.contains("x.toml") && message.contains("vew"), "{message}");
        let unknown = "name = \"x\"\nrots = []\n";
        let message = profiles.add(unknown, "x.toml").unwrap_err().to_string();
        assert!(message.contains("rots"), "{message}");
    }
}
