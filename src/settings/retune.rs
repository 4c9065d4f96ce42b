//! Settings as they are after they were changed at the screen: the same numbers from a command line, a
//! config file, or the stamp of an export.

use std::fmt::Write as _;

use super::{Origin, Settings};
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
        settings.analysis = analysis.clone();
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

/// A config file with the signature and the columns of an analysis, to be used with `--config`.
#[must_use]
pub fn to_toml(analysis: &AnalysisSettings) -> String {
    let mut text =
        "# Signature and columns, saved by credscope; use with --config FILE.\n".to_owned();
    // A JSON text or list of texts is one in TOML, too.
    let mut put = |name: &str, value: serde_json::Value| {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{name} = {value}");
    };
    for (name, values) in changed(analysis) {
        match (name, values.as_slice()) {
            ("knob", []) => {}
            ("knob", _) => put(name, values.into()),
            ("columns", [list]) => put(name, list.split(',').collect::<Vec<_>>().into()),
            (_, [one]) => put(name, one.as_str().into()),
            _ => {}
        }
    }
    let params: Vec<String> = analysis
        .columns
        .iter()
        .flat_map(|c| c.params.entries().iter().map(|(p, v)| format!("{}.{p}={v}", c.name)))
        .collect();
    if !params.is_empty() {
        put("set", params.into());
    }
    let credit = &analysis.credit;
    for (name, value) in [("gamma", credit.gamma), ("n-prior", credit.n_prior)] {
        put(name, value.into());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Given, Settings, config};
    use super::*;

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
        let text = to_toml(&analysis);
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
