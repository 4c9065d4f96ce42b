//! What every export carries: version, settings with their origins, inputs, load counts.
//!
//! No clock, no absolute path, nothing that depends on the machine: same input and settings, same
//! bytes.

use crate::analysis::AnalysisSettings;
use crate::credit::ColumnSpec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Entry, Settings};

/// An input file.
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    /// Name, relative to what was given.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Hash over the sorted digests of its records: the order of records does not matter.
    pub digest: String,
}

/// The stamp of an export.
#[derive(Debug, Clone, Serialize)]
pub struct Stamp {
    /// `credscope.KIND/1`.
    pub schema: String,
    /// Version of the program.
    pub version: &'static str,
    /// Settings by name, each with value and origin.
    pub settings: Stamped,
    /// The convention of each column: every parameter with the value in force.
    pub conventions: Stamped,
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Counts of the load.
    pub load: Value,
}

/// Settings as they stand in a stamp.
#[derive(Debug, Clone)]
pub struct Stamped(Vec<(String, Value)>);

impl Serialize for Stamped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Stamp {
    /// The stamp of an export of a kind. `options` are those of the command that change numbers or
    /// rows.
    #[must_use]
    pub fn new(
        kind: &str,
        settings: &Settings,
        options: &[(&str, Value)],
        inputs: Vec<Input>,
        load: Value,
    ) -> Self {
        let mut stamped: Vec<(String, Value)> = settings
            .entries
            .iter()
            .filter(|e| e.spec.stamped)
            .map(|e| (e.spec.name.to_owned(), value(e)))
            .collect();
        stamped.extend(
            options
                .iter()
                .map(|(name, v)| ((*name).to_owned(), json!({"value": v, "origin": "command"}))),
        );
        Self {
            schema: format!("credscope.{kind}/1"),
            version: env!("CARGO_PKG_VERSION"),
            settings: Stamped(stamped),
            conventions: conventions(&settings.analysis),
            inputs,
            load,
        }
    }
}

/// The parameters in force of every column that is shown, X and Y included.
fn conventions(settings: &AnalysisSettings) -> Stamped {
    let mut columns: Vec<(String, Value)> = Vec::new();
    let axes = [&settings.x, &settings.y].map(|name| ColumnSpec::new(name).ok());
    for spec in settings.columns.iter().cloned().chain(axes.into_iter().flatten()) {
        if columns.iter().all(|(name, _)| *name != spec.name) {
            let params = spec.resolved();
            let params = params.into_iter().map(|(k, v)| (k.to_owned(), Value::from(v)));
            columns.push((spec.name, Value::Object(params.collect())));
        }
    }
    Stamped(columns)
}

fn value(entry: &Entry) -> Value {
    json!({"value": entry.json(), "origin": entry.origin().name()})
}
