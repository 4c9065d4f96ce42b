//! Settings: one table, five places a value may come from, and the typed result.
//!
//! Precedence: flag, environment, config file, profile, default. No argument parser and no terminal
//! lives here, and no file is read: texts come in, settings go out.

pub mod config;
mod parse;
pub mod retune;
mod spec;
pub mod stamp;
pub mod table;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use spec::{Class, Form, Spec};
pub use stamp::{Input, Stamp};
pub use table::SETTINGS;

use crate::analysis::AnalysisSettings;
use crate::credit::{ColumnError, ColumnSpec, Framework, RewardSource};
use crate::load::LoadOptions;

/// Where a value came from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The program's own value.
    Default,
    /// A profile.
    Profile,
    /// A config file.
    Config,
    /// An environment variable.
    Environment,
    /// The command line.
    Flag,
}

impl Origin {
    /// All places, weakest first.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::Profile, Self::Config, Self::Environment, Self::Flag];

    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Profile => "profile",
            Self::Config => "config",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// When to do something that depends on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// When there is a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl When {
    const CHOICES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];
}

/// The names of the themes of the screen and of figures.
pub const THEMES: [&str; 4] = ["default", "paper", "light", "mono"];

/// What becomes of groups of uniform outcome in aggregates over several groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Uniform {
    /// They count.
    Include,
    /// They are left out, and their number is told.
    #[default]
    Exclude,
}

/// What is drawn and written, and how.
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// Only this rollout.
    pub rollout: Option<String>,
    /// Only groups with successes and failures.
    pub mixed: bool,
    /// Uniform groups in aggregates.
    pub uniform: Uniform,
    /// Where to write.
    pub out: Option<PathBuf>,
    /// Whether an existing file may be replaced.
    pub force: bool,
    /// Colours.
    pub color: When,
    /// No glyphs outside ASCII.
    pub ascii: bool,
    /// Theme of the screen and of figures, one of `THEMES`.
    pub theme: Option<String>,
    /// Fail on anything that could not be read.
    pub strict: bool,
    /// Progress on standard error.
    pub progress: When,
}

/// A value that someone gave, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Name of the setting.
    pub name: String,
    /// The value.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
    /// The place in the person's words, for messages: `--gamma`, `CREDSCOPE_GAMMA`, `gamma in x.toml`.
    pub place: String,
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The value does not fit.
    #[error("{place} cannot be `{value}`: {expected}")]
    Value {
        /// Where it was given.
        place: String,
        /// What was given.
        value: String,
        /// What would have been right.
        expected: String,
    },
    /// There is no such setting.
    #[error("{place}: there is no setting `{name}`{hint}")]
    Unknown {
        /// Where it was given.
        place: String,
        /// What was given.
        name: String,
        /// A near name, with its introduction.
        hint: String,
    },
    /// A config file that is not TOML.
    #[error("{file} is not valid TOML: {reason}")]
    Config {
        /// The file.
        file: String,
        /// The parser's words.
        reason: String,
    },
    /// Two settings that do not go together.
    #[error("{0}")]
    Together(String),
}

/// One setting with its values in force; weaker places come first.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The setting.
    pub spec: &'static Spec,
    /// Values and where they came from; none when nothing is set and there is no default.
    pub values: Vec<(String, Origin)>,
}

impl Entry {
    /// The value for exports: number, truth value, text or list; `null` for none.
    #[must_use]
    pub fn json(&self) -> Value {
        let texts = || self.values.iter().map(|(v, _)| Value::from(v.as_str()));
        let first = self.values.last().map(|(v, _)| v.as_str());
        match (self.spec.form, first) {
            // Of a file its name alone: no path of a machine goes into an export.
            (Form::Many, _) if self.spec.value == "FILE" => {
                let name =
                    |v: &str| Path::new(v).file_name().map(|n| n.to_string_lossy().into_owned());
                self.values.iter().map(|(v, _)| Value::from(name(v).unwrap_or_default())).collect()
            }
            (Form::Many, _) => texts().collect(),
            (_, None) => Value::Null,
            (Form::Switch, Some(v)) => Value::from(parse::switch(v) == Ok(true)),
            (Form::Number, Some(v)) => v.trim().parse::<u64>().map_or_else(
                |_| v.trim().parse::<f64>().map_or(Value::Null, Value::from),
                Value::from,
            ),
            (Form::List, Some(v)) => v.split(',').map(|p| Value::from(p.trim())).collect(),
            (Form::Text, Some(v)) => Value::from(v),
        }
    }

    /// The values as one text for people; empty for none.
    #[must_use]
    pub fn text(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|(v, _)| v.as_str()).collect();
        values.join(" ")
    }

    /// The strongest place that a value came from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.values.iter().map(|(_, o)| *o).max().unwrap_or(Origin::Default)
    }
}

/// All settings, typed, each with its origin.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How files are read.
    pub load: LoadOptions,
    /// Files with further profiles.
    pub profiles: Vec<PathBuf>,
    /// Files with further test runners.
    pub runners: Vec<PathBuf>,
    /// How groups are analysed.
    pub analysis: AnalysisSettings,
    /// What is drawn and written.
    pub view: View,
    /// Each setting with its origin, in the order of the table.
    pub entries: Vec<Entry>,
    /// Files that settings were read from: a config file, an export that is run again.
    pub places: Vec<PathBuf>,
    logged: bool,
    weights: Vec<(String, f64)>,
    columns: Vec<String>,
    like: Option<&'static Framework>,
    params: Vec<(String, String, String)>,
}

impl Settings {
    /// Resolves what was given against the table. The order of `given` matters only among values of
    /// one setting from one place: the last one wins, or all count where several may be given.
    pub fn resolve(given: &[Given]) -> Result<Self, SettingError> {
        for one in given {
            if table::find(&one.name).is_none() {
                return Err(SettingError::Unknown {
                    place: one.place.clone(),
                    name: one.name.clone(),
                    hint: config::near(&one.name),
                });
            }
        }
        let strongest = |name: &str| {
            let origins = given.iter().filter(|g| g.name == name).map(|g| g.origin);
            origins.max().unwrap_or(Origin::Default)
        };
        let mut settings = Self::default();
        for spec in SETTINGS {
            let mut mine: Vec<&Given> = given.iter().filter(|g| g.name == spec.name).collect();
            mine.sort_by_key(|g| g.origin);
            if let Some(other) = spec.yields_to {
                let limit = strongest(other);
                mine.retain(|g| g.origin >= limit);
            }
            if spec.form != Form::Many {
                mine = mine.pop().into_iter().collect();
            }
            let mut values = Vec::new();
            if mine.is_empty() && !spec.default.is_empty() {
                settings.put(spec, spec.default, "the default")?;
                values.push((spec.default.to_owned(), Origin::Default));
            }
            for one in mine {
                settings.put(spec, &one.value, &one.place)?;
                values.push((one.value.clone(), one.origin));
            }
            settings.entries.push(Entry { spec, values });
        }
        settings.finish()?;
        Ok(settings)
    }

    /// Everything that is in force and was given, as if it were given again.
    #[must_use]
    pub fn given(&self) -> Vec<Given> {
        let of = |entry: &Entry| {
            let name = entry.spec.name;
            let values = entry.values.iter().filter(|(_, origin)| *origin != Origin::Default);
            values
                .map(|(value, origin)| Given {
                    name: name.to_owned(),
                    value: value.clone(),
                    origin: *origin,
                    place: name.to_owned(),
                })
                .collect::<Vec<_>>()
        };
        self.entries.iter().flat_map(of).collect()
    }

    /// The same settings with further flags: exactly what a run with these flags would use.
    pub fn with_flags(&self, flags: &[(String, String)]) -> Result<Self, SettingError> {
        let mut given = self.given();
        given.extend(flags.iter().map(|(name, value)| Given {
            name: name.clone(),
            value: value.clone(),
            origin: Origin::Flag,
            place: format!("--{name}"),
        }));
        Ok(Self { places: self.places.clone(), ..Self::resolve(&given)? })
    }

    /// Every file besides the rollouts that is read because of these settings: no export may write
    /// over one.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let named = [&self.load.outcomes, &self.load.sidecars, &self.profiles, &self.runners];
        named.into_iter().chain([&self.places]).flatten()
    }

    fn put(&mut self, spec: &Spec, value: &str, place: &str) -> Result<(), SettingError> {
        (spec.apply)(self, value).map_err(|expected| SettingError::Value {
            place: place.to_owned(),
            value: value.to_owned(),
            expected,
        })
    }

    fn finish(&mut self) -> Result<(), SettingError> {
        let given = |name: &str| self.entry(name).is_some_and(|e| e.origin() == Origin::Flag);
        if !self.logged && !self.weights.is_empty() && given("reward") {
            return Err(SettingError::Together(
                "--reward chooses among logged rewards: it needs --reward-source logged".to_owned(),
            ));
        }
        self.analysis.credit.reward_source = if self.logged {
            RewardSource::Logged(self.weights.clone())
        } else {
            RewardSource::Outcome
        };
        let mut names: Vec<(&str, String)> =
            self.columns.iter().map(|name| ("--columns", name.clone())).collect();
        names.push(("--x", self.analysis.x.clone()));
        names.push(("--y", self.analysis.y.clone()));
        self.analysis.columns.clear();
        for (place, name) in names {
            self.add_column(&name).map_err(|error| SettingError::Value {
                place: place.to_owned(),
                value: name,
                expected: config::told_column(&error),
            })?;
        }
        Ok(())
    }

    /// Adds a column, with the framework's parameters and those that were set for it, unless it is
    /// there.
    pub fn add_column(&mut self, name: &str) -> Result<(), ColumnError> {
        if self.analysis.columns.iter().any(|c| c.name == name) {
            return Ok(());
        }
        let mut spec = ColumnSpec::new(name)?;
        for (param, value) in self.like.map_or(&[][..], |framework| framework.params(name)) {
            spec.set(param, value)?;
        }
        for (_, param, value) in self.params.iter().filter(|(column, ..)| column == name) {
            spec.set(param, value)?;
        }
        self.analysis.columns.push(spec);
        Ok(())
    }

    /// The column and the text of a parameter that was set on the command line for a column that is not
    /// among the chosen ones.
    #[must_use]
    pub fn idle_parameter(&self) -> Option<(String, &str)> {
        let given = self.entry("set")?.values.iter().filter(|(_, o)| *o == Origin::Flag);
        given.into_iter().find_map(|(value, _)| {
            let (column, _, _) = parse::param(value).ok()?;
            let chosen = self.analysis.columns.iter().any(|c| c.name == column);
            (!chosen).then_some((column, value.as_str()))
        })
    }

    /// A setting by name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.spec.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: &str, origin: Origin) -> Given {
        Given { name: name.into(), value: value.into(), origin, place: format!("--{name}") }
    }

    #[test]
    fn defaults_are_those_of_the_modules() {
        let settings = Settings::resolve(&[]).unwrap();
        assert_eq!(settings.analysis, AnalysisSettings::default());
        assert_eq!(settings.view, View::default());
        assert!(settings.entries.iter().all(|e| e.origin() == Origin::Default));
    }

    #[test]
    fn the_stronger_place_wins_whatever_the_order() {
        let settings = Settings::resolve(&[
            given("gamma", "0.9", Origin::Flag),
            given("gamma", "0.5", Origin::Environment),
            given("n-prior", "0", Origin::Config),
        ])
        .unwrap();
        assert_eq!(settings.analysis.credit.gamma, 0.9);
        assert_eq!(settings.analysis.credit.n_prior, 0.0);
        assert_eq!(settings.entry("gamma").unwrap().origin(), Origin::Flag);
        assert_eq!(settings.entry("n-prior").unwrap().origin(), Origin::Config);
    }

    #[test]
    fn a_stronger_preset_drops_weaker_knobs_and_a_stronger_tau_its_parts() {
        let settings = Settings::resolve(&[
            given("knob", "edit-hash=9", Origin::Config),
            given("preset", "fine", Origin::Flag),
            given("knob", "think=off", Origin::Flag),
            given("tau-x", "0.5", Origin::Environment),
            given("tau", "0.02", Origin::Flag),
            given("tau-y", "0.03", Origin::Flag),
        ])
        .unwrap();
        assert_eq!(settings.analysis.granularity.edit_hash, 8);
        assert_eq!(
            settings.analysis.granularity.think,
            crate::signature::granularity::ThinkTrace::Off
        );
        assert_eq!(settings.analysis.tau, (0.02, 0.03));
    }

    #[test]
    fn wrong_values_say_where_what_and_what_was_expected() {
        let wrong = |name, value| {
            Settings::resolve(&[given(name, value, Origin::Flag)]).unwrap_err().to_string()
        };
        assert_eq!(wrong("gamma", "1.5"), "--gamma cannot be `1.5`: expected a number from 0 to 1");
        assert!(wrong("columns", "grpo,nope").contains("unknown column `nope`"));
        assert!(wrong("like", "nope").contains("expected verl, trl, roll"));
        assert!(wrong("set", "grpo.nope=1").contains("no parameter `nope`"));
        assert!(wrong("set", "grpo.ddof=7").contains("expected 0|1"));
        assert!(wrong("knob", "view-bucket=x").contains("view-bucket"));
        assert!(wrong("reward", "a").contains("--reward-source logged"));
        assert!(wrong("gama", "1").contains("did you mean `gamma`"));
    }

    #[test]
    fn a_framework_sets_its_columns_and_set_goes_on_from_there() {
        let settings = Settings::resolve(&[
            given("set", "grpo.eps=7", Origin::Config),
            given("like", "trl", Origin::Flag),
            given("set", "grpo.ddof=0", Origin::Flag),
        ])
        .unwrap();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        // The weaker place's eps is dropped, the flag's ddof counts.
        assert_eq!(
            settings.analysis.columns[0].params.entries(),
            [pair("ddof", "0"), pair("eps", "1e-4")]
        );
        assert_eq!(settings.analysis.columns[1].params.entries(), []);
        assert_eq!(settings.entry("like").unwrap().json(), "trl");
    }

    #[test]
    fn parameters_reach_columns_on_the_axes_too() {
        let settings = Settings::resolve(&[
            given("columns", "grpo", Origin::Flag),
            given("set", "rtmc.n-prior=0", Origin::Flag),
        ])
        .unwrap();
        let names: Vec<&str> = settings.analysis.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["grpo", "grpo-step", "rtmc"]);
        assert_eq!(
            settings.analysis.columns.last().unwrap().params.entries(),
            [("n-prior".to_owned(), "0".to_owned())]
        );
    }
}
