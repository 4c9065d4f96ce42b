//! What every export carries: version, settings with their origins, inputs, load counts.
//!
//! No clock, no absolute path, nothing that depends on the machine: same input and settings, same
//! bytes.

use crate::analysis::AnalysisSettings;
use crate::credit::ColumnSpec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Entry, Form, Given, Origin, Settings};

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

impl Stamp {
    /// Adds the inputs and load counts of a second load: the counts become a list.
    pub fn join(&mut self, other: &Self) {
        self.inputs.extend(other.inputs.iter().cloned());
        self.load = json!([self.load, other.load]);
    }
}

fn value(entry: &Entry) -> Value {
    json!({"value": entry.json(), "origin": entry.origin().name()})
}

/// The stamp of an export that is there already: what it takes to run it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Kind of the export: the command that made it.
    pub kind: String,
    /// Version of the program that made it.
    pub version: String,
    /// Settings in force, with their origins.
    pub given: Vec<Given>,
    /// Options of the command.
    pub options: Vec<(String, Value)>,
    /// Name and digest of each file that was read.
    pub inputs: Vec<(String, String)>,
}

/// Reads the stamp of an export: the first line of CSV, JSON lines, text, LaTeX and Markdown, or the
/// envelope of JSON. The reason tells what is missing.
pub fn find(text: &str, file: &str) -> Result<Found, String> {
    let first = text.lines().next().unwrap_or_default();
    let line = ["# ", "% ", "// "].iter().find_map(|mark| first.strip_prefix(mark));
    let line = line.or_else(|| first.strip_prefix("<!-- ")?.strip_suffix(" -->"));
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let stamp = match line {
        Some(line) => parse(line),
        None => parse(first).filter(|v| v.get("schema").is_some()).or_else(|| parse(text)),
    };
    if stamp.as_ref().is_some_and(is_native) {
        return Err("native files carry no settings; give the command again with its flags".into());
    }
    let stamp = stamp
        .filter(|v| v.get("settings").is_some())
        .ok_or("it has no stamp of settings (was it written with --no-stamp?)")?;
    let word = |name: &str| stamp.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let schema = word("schema");
    let kind = schema
        .strip_prefix("credscope.")
        .and_then(|k| k.strip_suffix("/1"))
        .ok_or_else(|| format!("`{schema}` is no export of this program"))?;
    let mut found = Found {
        kind: kind.to_owned(),
        version: word("version"),
        given: Vec::new(),
        options: Vec::new(),
        inputs: inputs(&stamp),
    };
    let settings = stamp.get("settings").and_then(Value::as_object);
    for (name, entry) in settings.into_iter().flatten() {
        let value = entry.get("value").unwrap_or(&Value::Null);
        let origin = entry.get("origin").and_then(Value::as_str).unwrap_or_default();
        let Some(origin) = Origin::ALL.into_iter().find(|o| o.name() == origin) else {
            found.options.push((name.clone(), value.clone()));
            continue;
        };
        let Some(spec) = super::table::find(name) else {
            return Err(format!("it was made with a setting `{name}` that does not exist here"));
        };
        for value in texts(spec.form, value) {
            let place = format!("{name} in {file}");
            found.given.push(Given { name: name.clone(), value, origin, place });
        }
    }
    Ok(found)
}

/// Rollouts in the native format: one, or a list of groups.
fn is_native(value: &Value) -> bool {
    let first = value.as_array().and_then(|all| all.first()).unwrap_or(value);
    first.get("schema").and_then(Value::as_str) == Some("credscope/1")
}

/// Name and digest of the inputs of a stamp.
fn inputs(stamp: &Value) -> Vec<(String, String)> {
    let all = stamp.get("inputs").and_then(Value::as_array);
    let text = |input: &Value, name: &str| Some(input.get(name)?.as_str()?.to_owned());
    all.into_iter().flatten().filter_map(|i| Some((text(i, "name")?, text(i, "digest")?))).collect()
}

/// The texts that give this value back.
fn texts(form: Form, value: &Value) -> Vec<String> {
    let scalar = |v: &Value| match v {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) if form == Form::Many => items.iter().map(scalar).collect(),
        Value::Array(items) => vec![items.iter().map(scalar).collect::<Vec<_>>().join(",")],
        other => vec![scalar(other)],
    }
}
