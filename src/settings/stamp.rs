//! What every export carries: version, settings with their origins, inputs, load counts.
//!
//! No clock, no absolute path, nothing that depends on the machine: same input and settings, same
//! bytes.

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
            inputs,
            load,
        }
    }
}

fn value(entry: &Entry) -> Value {
    json!({"value": entry.json(), "origin": entry.origin().name()})
}
