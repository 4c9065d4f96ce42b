//! What a setting is: its name, its form, what a change of it makes necessary.

use super::Settings;

/// Puts a value into the settings, or says what was expected.
pub(super) type Apply = fn(&mut Settings, &str) -> Result<(), String>;

/// What a change of a setting makes necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Files are read again.
    Load,
    /// Texts are read again.
    Facts,
    /// States and everything after them.
    Projection,
    /// Columns and everything after them.
    Credit,
    /// Drawing and writing only.
    View,
}

impl Class {
    /// The word used in `--print-settings`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Facts => "facts",
            Self::Projection => "projection",
            Self::Credit => "credit",
            Self::View => "view",
        }
    }
}

/// The form of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Given or not.
    Switch,
    /// A number.
    Number,
    /// A word or a text.
    Text,
    /// Names between commas.
    List,
    /// May be given several times; all count.
    Many,
}

/// One setting.
pub struct Spec {
    /// Name: the flag without its dashes, and the key in a config file.
    pub name: &'static str,
    /// What a change makes necessary.
    pub class: Class,
    /// Form of the value.
    pub form: Form,
    /// What may stand there, for help.
    pub value: &'static str,
    /// Default as text; empty for none.
    pub default: &'static str,
    /// What it means.
    pub help: &'static str,
    /// Whether exports carry it.
    pub stamped: bool,
    /// A setting that overrules this one when it comes from a stronger place.
    pub yields_to: Option<&'static str>,
    pub(super) apply: Apply,
}

impl std::fmt::Debug for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spec").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Spec {
    /// Its environment variable.
    #[must_use]
    pub fn env(&self) -> String {
        format!("CREDSCOPE_{}", self.name.replace('-', "_").to_ascii_uppercase())
    }

    /// The same, left out of exports.
    pub(super) const fn local(mut self) -> Self {
        self.stamped = false;
        self
    }

    /// The same, overruled by a stronger `other`.
    pub(super) const fn under(mut self, other: &'static str) -> Self {
        self.yields_to = Some(other);
        self
    }
}
