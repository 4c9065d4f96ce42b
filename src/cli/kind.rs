//! The table of commands: names, help, forms.

use crate::export::Format;

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
    /// One row per value of a knob.
    Sweep,
    /// Held-out skill of the state signature.
    Skill,
    /// Columns against each other.
    Panel,
    /// A figure for a paper.
    Figure,
    /// What one rollout more or less changes.
    Stability,
    /// Rollouts side by side.
    Compare,
    /// Two loads side by side.
    CompareRuns,
    /// Advantages for the trainer.
    Advantages,
    /// The native format.
    Convert,
    /// The load report alone.
    Check,
    /// Rollouts with known values.
    Simulate,
    /// What can be read.
    Formats,
    /// What can be computed.
    Estimators,
    /// The profiles.
    Profiles,
    /// The themes.
    Themes,
    /// The keys.
    Keys,
    /// Completions.
    Completions,
    /// The manual page.
    Man,
    /// A JSON Schema.
    Schema,
}

impl Kind {
    /// All commands, in the order of help.
    pub const ALL: [Self; 25] = [
        Self::Report,
        Self::Groups,
        Self::Steps,
        Self::Quadrants,
        Self::Tree,
        Self::Explain,
        Self::Sweep,
        Self::Skill,
        Self::Panel,
        Self::Stability,
        Self::Compare,
        Self::CompareRuns,
        Self::Figure,
        Self::Advantages,
        Self::Convert,
        Self::Check,
        Self::Simulate,
        Self::Formats,
        Self::Estimators,
        Self::Profiles,
        Self::Themes,
        Self::Keys,
        Self::Completions,
        Self::Man,
        Self::Schema,
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
            Self::Simulate => "simulate",
            Self::Formats => "formats",
            Self::Estimators => "estimators",
            Self::Sweep => "sweep",
            Self::Skill => "skill",
            Self::Panel => "panel",
            Self::Stability => "stability",
            Self::Compare => "compare",
            Self::CompareRuns => "compare-runs",
            Self::Figure => "figure",
            Self::Advantages => "advantages",
            Self::Convert => "convert",
            Self::Schema => "schema",
            Self::Profiles => "profiles",
            Self::Themes => "themes",
            Self::Keys => "keys",
            Self::Completions => "completions",
            Self::Man => "man",
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
            Self::Simulate => {
                "Rollouts of small processes with known values, and columns measured against them"
            }
            Self::Formats => "The formats that are read",
            Self::Estimators => "The columns: formula, source, readings, parameters",
            Self::Sweep => {
                "One row per value of a knob: sharing, evidence, impurity, quadrants, flips, skill"
            }
            Self::Skill => {
                "Held-out skill of the state signature over groups, with intervals and guards"
            }
            Self::Panel => {
                "Sign agreement and rank correlation of every pair of columns, or of all against one"
            }
            Self::Stability => {
                "Leave-one-rollout-out: sign flips, and the jackknife error of Q, V and the Y column"
            }
            Self::Compare => {
                "Rollouts of one group aligned on state signature, with their first divergences"
            }
            Self::CompareRuns => {
                "Two policies or training steps on the same tasks: tasks gained and lost, side by side"
            }
            Self::Figure => {
                "A figure for a paper: advantages, quadrants, matrix, tree, sweep or panel, as SVG or HTML"
            }
            Self::Advantages => "Advantages per step for the trainer, one rollout per line",
            Self::Convert => "The rollouts in the native format, one per line",
            Self::Schema => "The JSON Schema of an output",
            Self::Profiles => "The profiles: tools and arguments of agent frameworks",
            Self::Themes => "The colour themes of the screen",
            Self::Keys => "The keys of the screen",
            Self::Completions => "Completions for a shell",
            Self::Man => "The manual page",
        }
    }

    /// The forms it can be written in; the first is the default.
    pub const fn formats(self) -> &'static [Format] {
        match self {
            Self::Report => &[Format::Text, Format::Markdown, Format::Json],
            Self::Quadrants => &[
                Format::Text,
                Format::Csv,
                Format::Json,
                Format::Jsonl,
                Format::Markdown,
                Format::Tex,
            ],
            Self::Groups
            | Self::Simulate
            | Self::Sweep
            | Self::Skill
            | Self::Panel
            | Self::Stability
            | Self::Compare
            | Self::CompareRuns => {
                &[Format::Text, Format::Csv, Format::Json, Format::Jsonl, Format::Markdown]
            }
            Self::Advantages | Self::Convert => &[Format::Jsonl],
            Self::Schema => &[Format::Json],
            Self::Figure => &[Format::Svg, Format::Html],
            Self::Completions | Self::Man => &[Format::Text],
            Self::Steps => &[Format::Csv, Format::Jsonl, Format::Json, Format::Text],
            Self::Tree => &[Format::Text, Format::Json, Format::Csv, Format::Dot],
            Self::Explain => &[Format::Text, Format::Json],
            Self::Estimators => &[Format::Text, Format::Json, Format::Csv, Format::Markdown],
            Self::Check | Self::Formats | Self::Profiles | Self::Themes | Self::Keys => {
                &[Format::Text, Format::Json, Format::Csv]
            }
        }
    }

    /// Whether it reads rollouts.
    pub const fn reads(self) -> bool {
        !matches!(
            self,
            Self::Simulate
                | Self::Formats
                | Self::Estimators
                | Self::Profiles
                | Self::Themes
                | Self::Keys
                | Self::Completions
                | Self::Man
                | Self::Schema
        )
    }
}
