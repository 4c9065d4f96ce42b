//! Settings from the text of a config file or a profile (TOML) and from environment variables.
//!
//! Keys are the names of the table. `knob` and `set` may be lists of `NAME=VALUE` or tables.

use toml::{Table, Value};

use super::table::{self, SETTINGS};
use super::{Form, Given, Origin, SettingError};
use crate::credit::{ColumnError, registry};
use crate::signature::KnobError;

/// The settings in a config file's text; `file` is its name for messages.
pub fn from_toml(text: &str, file: &str) -> Result<Vec<Given>, SettingError> {
    from_table(&parse(text, file)?, file, Origin::Config)
}

/// The settings that come with a profile: its table `settings`, with the keys of a config file.
pub fn from_profile(text: &str, file: &str) -> Result<Vec<Given>, SettingError> {
    let root = parse(text, file)?;
    let Some(settings) = root.get("settings").and_then(Value::as_table) else {
        return Ok(Vec::new());
    };
    if settings.contains_key("profile") {
        return Err(SettingError::Together(format!(
            "{file}: a profile cannot name another profile"
        )));
    }
    from_table(settings, &format!("the profile {file}"), Origin::Profile)
}

fn parse(text: &str, file: &str) -> Result<Table, SettingError> {
    text.parse().map_err(|error: toml::de::Error| SettingError::Config {
        file: file.to_owned(),
        reason: error.message().to_owned(),
    })
}

fn from_table(root: &Table, file: &str, origin: Origin) -> Result<Vec<Given>, SettingError> {
    let mut found = Vec::new();
    for (key, value) in root {
        let place = format!("{key} in {file}");
        let Some(spec) = table::find(key) else {
            return Err(SettingError::Unknown {
                place: file.to_owned(),
                name: key.clone(),
                hint: near(key),
            });
        };
        let mut texts = Vec::new();
        if spec.form == Form::Many {
            many(value, "", key == "set", &mut texts);
        } else if let Value::Array(items) = value {
            let parts: Option<Vec<String>> = items.iter().map(scalar).collect();
            texts.push(parts.map(|p| p.join(",")));
        } else {
            texts.push(scalar(value));
        }
        for text in texts {
            let Some(value) = text else {
                return Err(SettingError::Value {
                    place,
                    value: format!("a {}", value.type_str()),
                    expected: format!("expected {}", spec.value),
                });
            };
            found.push(Given { name: key.clone(), value, origin, place: place.clone() });
        }
    }
    Ok(found)
}

/// `NAME=VALUE` texts of a list or a table; tables in tables join their names with dots.
fn many(value: &Value, prefix: &str, nested: bool, out: &mut Vec<Option<String>>) {
    match value {
        Value::Array(items) => out.extend(items.iter().map(scalar)),
        Value::Table(entries) => {
            for (name, inner) in entries {
                let name =
                    if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                if nested && inner.is_table() {
                    many(inner, &name, false, out);
                } else {
                    out.push(scalar(inner).map(|text| format!("{name}={text}")));
                }
            }
        }
        other => out.push(scalar(other)),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(n) => Some(n.to_string()),
        Value::Float(x) => Some(crate::credit::derivation::number(*x)),
        Value::Boolean(b) => Some(b.to_string()),
        _ => None,
    }
}

/// The settings among environment variables. Empty ones are no value; unknown `CREDSCOPE_*` are
/// refused, because a misspelt one would be silently without effect.
pub fn from_environment(
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<Given>, SettingError> {
    let mut found = Vec::new();
    for (key, value) in variables {
        if !key.starts_with("CREDSCOPE_") || IGNORED.contains(&key.as_str()) || value.is_empty() {
            continue;
        }
        let Some(spec) = SETTINGS.iter().find(|s| s.env() == key) else {
            let name = key.trim_start_matches("CREDSCOPE_").to_ascii_lowercase().replace('_', "-");
            return Err(SettingError::Unknown { hint: near(&name), place: key, name });
        };
        let values: Vec<&str> = if spec.form == Form::Many {
            value.split_whitespace().collect()
        } else {
            vec![value.as_str()]
        };
        found.extend(values.into_iter().map(|value| Given {
            name: spec.name.to_owned(),
            value: value.to_owned(),
            origin: Origin::Environment,
            place: key.clone(),
        }));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Variables of this prefix that are no settings.
const IGNORED: [&str; 6] = [
    "CREDSCOPE_CONFIG",
    "CREDSCOPE_LOG",
    // Folders that the tests read, and the interpreter that the benches compare with.
    "CREDSCOPE_CORPUS",
    "CREDSCOPE_CASES",
    "CREDSCOPE_GOLDEN",
    "CREDSCOPE_PYTHON",
];

/// `; did you mean …?` for a near name, or nothing.
#[must_use]
pub fn near(name: &str) -> String {
    meant(name, SETTINGS.iter().map(|s| s.name))
}

/// `; did you mean …?` for a near one of some names, or nothing.
pub fn meant<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// What is wrong with a column, and the name that was probably meant.
#[must_use]
pub fn told_column(error: &ColumnError) -> String {
    let near = match error {
        ColumnError::Unknown(given, _) => match given.split_once(':') {
            Some((kind, name)) => nearest(kind, std::iter::once("logged"))
                .map_or_else(String::new, |kind| format!("; did you mean `{kind}:{name}`?")),
            None => meant(given, registry().iter().map(|e| e.meta().id)),
        },
        ColumnError::Param(_, given, known) => meant(given, known.split(", ")),
        ColumnError::Value(..) => String::new(),
    };
    format!("{error}{near}")
}

/// What is wrong with a knob or a preset, and the name that was probably meant.
#[must_use]
pub fn told_knob(error: &KnobError) -> String {
    let names = error.expected.split(", ");
    let named = matches!(error.what.as_str(), "knob" | "preset");
    let near = if named { meant(&error.given, names) } else { String::new() };
    format!("{error}{near}")
}

/// The nearest of some names, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|known| (distance(name, known), known))
        .filter(|(d, known)| *d <= 1 + known.chars().count() / 5)
        .min_by_key(|(d, _)| *d)
        .map(|(_, known)| known)
}

/// Edits between two names, a swap of neighbours counting as one (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |list: &[usize], k: usize| list.get(k).copied().unwrap_or(usize::MAX - 1);
            let mut best =
                (at(&row, j) + usize::from(x != y)).min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_file_may_use_lists_and_tables() {
        let text = "gamma = 0.95\ncolumns = [\"grpo\", \"rtmc\"]\nmixed = true\n\
                    [knob]\nview-bucket = 50\n[set.grpo]\nddof = 0\n";
        let mut found: Vec<(String, String)> =
            from_toml(text, "c.toml").unwrap().into_iter().map(|g| (g.name, g.value)).collect();
        found.sort();
        let expected = [
            ("columns", "grpo,rtmc"),
            ("gamma", "0.95"),
            ("knob", "view-bucket=50"),
            ("mixed", "true"),
            ("set", "grpo.ddof=0"),
        ];
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec());
    }

    #[test]
    fn unknown_keys_are_refused_with_a_near_name() {
        let error = from_toml("gama = 1", "c.toml").unwrap_err().to_string();
        assert_eq!(error, "c.toml: there is no setting `gama`; did you mean `gamma`?");
        let error =
            from_environment([("CREDSCOPE_N_PRIOUR".into(), "1".into())]).unwrap_err().to_string();
        assert!(error.ends_with("did you mean `n-prior`?"), "{error}");
        assert!(from_toml("gamma =", "c.toml").is_err());
    }

    #[test]
    fn distances() {
        assert_eq!(distance("reprot", "report"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("zzzz", ["report"].into_iter()), None);
    }
}
