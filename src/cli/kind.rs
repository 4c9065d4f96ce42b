//! The table of commands: names, help, forms; and the options that single commands have.

use crate::analysis::{By, Weight};
use crate::export::Format;
use crate::export::tree::Lens;

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One page per group.
    Report,
    /// One row per group.
    Groups,
    /// One row per step.
    Steps,
    /// Two columns against each other.
    Quadrants,
    /// The rollout tree.
    Tree,
    /// The arithmetic of one number.
    Explain,
    /// The load report alone.
    Check,
    /// What can be read.
    Formats,
    /// What can be computed.
    Estimators,
}

impl Kind {
    /// All commands, in the order of help.
    pub const ALL: [Self; 9] = [
        Self::Report,
        Self::Groups,
        Self::Steps,
        Self::Quadrants,
        Self::Tree,
        Self::Explain,
        Self::Check,
        Self::Formats,
        Self::Estimators,
    ];

    /// The word on the command line, and the kind in `credscope.KIND/1`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Groups => "groups",
            Self::Steps => "steps",
            Self::Quadrants => "quadrants",
            Self::Tree => "tree",
            Self::Explain => "explain",
            Self::Check => "check",
            Self::Formats => "formats",
            Self::Estimators => "estimators",
        }
    }

    /// One line of help.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Report => {
                "One page per group: outcomes, tree, sharing, credit per rollout, quadrants, warnings"
            }
            Self::Groups => "One row per group",
            Self::Steps => "One row per step: signatures, counts, values, parts, every column",
            Self::Quadrants => {
                "Two columns against each other, by outcome, rollout, category, depth or evidence"
            }
            Self::Tree => "The rollout tree: folded paths, or states with their actions",
            Self::Explain => "The arithmetic of one number",
            Self::Check => "The load report alone: what was read, skipped, coerced, and why",
            Self::Formats => "The formats that are read",
            Self::Estimators => "The columns: formula, source, readings, parameters",
        }
    }

    /// The forms it can be written in; the first is the default.
    pub const fn formats(self) -> &'static [Format] {
        match self {
            Self::Report => &[Format::Text, Format::Markdown, Format::Json],
            Self::Groups | Self::Quadrants => {
                &[Format::Text, Format::Csv, Format::Json, Format::Jsonl, Format::Markdown]
            }
            Self::Steps => &[Format::Csv, Format::Jsonl, Format::Json, Format::Text],
            Self::Tree => &[Format::Text, Format::Json, Format::Csv],
            Self::Explain => &[Format::Text, Format::Json],
            Self::Check | Self::Formats | Self::Estimators => {
                &[Format::Text, Format::Json, Format::Csv]
            }
        }
    }

    /// Whether it reads rollouts.
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Formats | Self::Estimators)
    }
}

/// Options of single commands.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub struct Options {
    /// Form of the output.
    pub format: Format,
    /// No stamp line.
    pub no_stamp: bool,
    /// Texts as they were.
    pub raw: bool,
    /// `groups`: sort by this column.
    pub sort: Option<String>,
    /// `quadrants`: rows.
    pub by: By,
    /// `quadrants`: only steps of evidence class `compared`.
    pub compared: bool,
    /// `quadrants`: what counts.
    pub weight: Weight,
    /// `tree`: what it shows.
    pub lens: Lens,
    /// `explain`: the step.
    pub at: Option<String>,
    /// `explain`: the column.
    pub column: Option<String>,
    /// `explain`: artefacts, too.
    pub artefacts: bool,
    /// `check`: fail on skipped records.
    pub strict: bool,
    /// The screen: capture the mouse.
    pub mouse: bool,
    /// The screen as a picture in this file.
    pub screenshot: Option<std::path::PathBuf>,
    /// Size of the picture in cells.
    pub size: Option<String>,
    /// Keys to press before the picture.
    pub keys: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: Format::Text,
            no_stamp: false,
            raw: false,
            sort: None,
            by: By::Outcome,
            compared: false,
            weight: Weight::Steps,
            lens: Lens::Paths,
            at: None,
            column: None,
            artefacts: false,
            strict: false,
            mouse: false,
            screenshot: None,
            size: None,
            keys: None,
        }
    }
}
