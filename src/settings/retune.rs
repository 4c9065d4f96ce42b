//! Settings as they are after they were changed at the screen: the same numbers from a command line, a
//! config file, or the stamp of an export.

use std::fmt::Write as _;

use super::{Class, Form, Origin, Settings};
use crate::analysis::AnalysisSettings;
use crate::signature::{Abstraction, Granularity, KNOBS, PRESETS};

/// The settings that the screen can change, as texts; a setting may have several values.
#[must_use]
pub fn changed(analysis: &AnalysisSettings) -> Vec<(&'static str, Vec<String>)> {
    let (preset, knobs) = nearest(&analysis.granularity);
    let columns: Vec<&str> = analysis.columns.iter().map(|c| c.name.as_str()).collect();
    vec![
        ("abstraction", vec![analysis.abstraction.map_or("auto", Abstraction::id).to_owned()]),
        ("preset", vec![preset.to_owned()]),
        ("knob", knobs),
        ("columns", vec![columns.join(",")]),
        ("x", vec![analysis.x.clone()]),
        ("y", vec![analysis.y.clone()]),
        ("gamma", vec![analysis.credit.gamma.to_string()]),
        ("n-prior", vec![analysis.credit.n_prior.to_string()]),
        ("beta", vec![analysis.credit.beta.to_string()]),
        ("tau", vec![analysis.tau.1.to_string()]),
    ]
}

/// The preset that differs in the fewest knobs, and those knobs as `NAME=VALUE`.
#[must_use]
pub fn nearest(granularity: &Granularity) -> (&'static str, Vec<String>) {
    let differing = |preset: &Granularity| -> Vec<String> {
        KNOBS
            .iter()
            .filter(|(knob, _)| preset.get(knob) != granularity.get(knob))
            .map(|(knob, _)| format!("{knob}={}", granularity.get(knob)))
            .collect()
    };
    PRESETS
        .iter()
        .filter_map(|name| Some((*name, differing(&Granularity::preset(name).ok()?))))
        .min_by_key(|(_, knobs)| knobs.len())
        .unwrap_or(("paper", Vec::new()))
}

impl Settings {
    /// These settings with another analysis: what changed stands as if it had been given as a flag.
    #[must_use]
    pub fn retuned(&self, analysis: &AnalysisSettings) -> Self {
        let mut settings = self.clone();
        let before = changed(&self.analysis);
        for ((name, values), (_, old)) in changed(analysis).into_iter().zip(before) {
            if values == old {
                continue;
            }
            if let Some(entry) = settings.entries.iter_mut().find(|e| e.spec.name == name) {
                entry.values = values.into_iter().map(|v| (v, Origin::Flag)).collect();
            }
        }
        if analysis.tau != self.analysis.tau {
            // One threshold for both axes now.
            for name in ["tau-x", "tau-y"] {
                settings = settings.without(name);
            }
        }
        settings.analysis = analysis.clone();
        settings
    }

    /// These settings with one of them at its default.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut settings = self.clone();
        if let Some(entry) = settings.entries.iter_mut().find(|e| e.spec.name == name) {
            let default = Some(entry.spec.default).filter(|d| !d.is_empty());
            entry.values = default.map(|d| (d.to_owned(), Origin::Default)).into_iter().collect();
        }
        settings
    }

    /// These settings with one more value as if it had been given as a flag.
    #[must_use]
    pub fn with_flag(&self, name: &str, value: &str) -> Self {
        let mut settings = self.clone();
        if let Some(entry) = settings.entries.iter_mut().find(|e| e.spec.name == name) {
            entry.values = vec![(value.to_owned(), Origin::Flag)];
        }
        settings
    }
}

/// A config file with everything that the numbers depend on, to be used with `--config`: all of the
/// signature and the credit, and what else was set, but not which task or rollout is looked at.
#[must_use]
pub fn to_toml(settings: &Settings) -> String {
    let mut text = "# Settings saved by credscope; use with --config FILE.\n".to_owned();
    for entry in settings.entries.iter().filter(|e| e.spec.stamped) {
        let numbers = matches!(entry.spec.class, Class::Projection | Class::Credit);
        let names_data = matches!(entry.spec.name, "only" | "rollout");
        let given = entry.origin() != Origin::Default;
        if entry.values.is_empty() || names_data || !(numbers || given) {
            continue;
        }
        // A JSON number, text, or list of texts is one in TOML, too. Files go by their whole path here.
        let value = match entry.spec.form {
            Form::Many => entry.values.iter().map(|(v, _)| v.as_str()).collect(),
            _ => entry.json(),
        };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{} = {value}", entry.spec.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Given, Settings, config};
    use super::*;

    fn given(name: &str, value: &str) -> Given {
        Given {
            name: name.to_owned(),
            value: value.to_owned(),
            origin: Origin::Flag,
            place: format!("--{name}"),
        }
    }

    #[test]
    fn a_saved_file_gives_the_same_analysis() {
        let mut analysis = AnalysisSettings {
            granularity: Granularity::preset("fine").unwrap(),
            abstraction: Some(Abstraction::Swe),
            ..AnalysisSettings::default()
        };
        analysis.granularity.set("think", "off").unwrap();
        analysis.granularity.set("view-bucket", "75").unwrap();
        analysis.columns.push(crate::credit::ColumnSpec::new("gigpo").unwrap());
        analysis.columns.last_mut().unwrap().set("omega", "2").unwrap();
        analysis.y = "gigpo".to_owned();
        analysis.credit.n_prior = 4.0;
        analysis.tau = (0.05, 0.05);
        let start = Settings::resolve(&[
            given("step-reward", "none"),
            given("prior", "mean"),
            given("set", "grpo.ddof=0"),
            given("set", "gigpo.omega=2"),
            given("tau-x", "0.2"),
            given("only", "one"),
        ])
        .unwrap();
        analysis.credit.step_reward = start.analysis.credit.step_reward;
        analysis.credit.prior = start.analysis.credit.prior;
        analysis.columns[0] = start.analysis.columns[0].clone();
        let text = to_toml(&start.retuned(&analysis));
        assert!(!text.contains("only"), "{text}");
        let given: Vec<Given> = config::from_toml(&text, "saved.toml").unwrap();
        assert_eq!(Settings::resolve(&given).unwrap().analysis, analysis, "{text}");
    }

    #[test]
    fn only_what_changed_gets_a_new_origin() {
        let settings = Settings::resolve(&[]).unwrap();
        let mut analysis = settings.analysis.clone();
        analysis.granularity.set("think", "off").unwrap();
        let retuned = settings.retuned(&analysis);
        assert_eq!(retuned.entry("knob").unwrap().text(), "think=off");
        assert_eq!(retuned.entry("knob").unwrap().origin(), Origin::Flag);
        assert_eq!(retuned.entry("preset").unwrap().origin(), Origin::Default);
        assert_eq!(retuned.entry("x").unwrap().origin(), Origin::Default);
    }
}
