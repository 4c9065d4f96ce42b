//! Arguments of calls: by role, in canonical form, and as a short text.

use serde_json::{Map, Value};

use super::edits::short_hash;
use crate::profile::{Profile, Tool};
use crate::rollout::raw::RawArgs;

/// The arguments of one call, looked up by the roles that the profile gives to their names.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    profile: &'a Profile,
    tool: Option<&'a Tool>,
    map: &'a Map<String, Value>,
}

impl<'a> Args<'a> {
    /// The arguments of a call of `tool`.
    #[must_use]
    pub const fn new(
        profile: &'a Profile,
        tool: Option<&'a Tool>,
        map: &'a Map<String, Value>,
    ) -> Self {
        Self { profile, tool, map }
    }

    /// The profile that names the roles.
    #[must_use]
    pub const fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// The same roles in an object that stands inside an argument.
    #[must_use]
    pub const fn of_object(&self, map: &'a Map<String, Value>) -> Self {
        Self { map, ..*self }
    }

    /// The argument of this very name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    /// The argument that plays a role; null is absent.
    #[must_use]
    pub fn value(&self, role: &str) -> Option<&'a Value> {
        let names = self.profile.names(self.tool, role);
        names.iter().find_map(|name| self.map.get(name)).filter(|v| !v.is_null())
    }

    /// The same as text; numbers are written out.
    #[must_use]
    pub fn text(&self, role: &str) -> Option<String> {
        match self.value(role)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    }

    /// A command line: a text, or a list of words (`["bash", "-lc", "ls"]`).
    #[must_use]
    pub fn command(&self) -> Option<String> {
        match self.value("command")? {
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                match words.as_slice() {
                    ["bash" | "sh" | "zsh", "-c" | "-lc", line] => Some((*line).to_owned()),
                    _ => Some(words.iter().map(|w| quote(w)).collect::<Vec<_>>().join(" ")),
                }
            }
            _ => self.text("command"),
        }
    }

    /// A whole number, also where it stands as text.
    #[must_use]
    pub fn number(&self, role: &str) -> Option<i64> {
        whole_number(self.value(role)?)
    }
}

/// A word as it would be typed.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A whole number, also as text.
#[must_use]
pub fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e15).map(|f| f as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Canonical text of arguments: keys sorted, numbers in shortest form, strings as they are. Text
/// that holds an object was parsed by the reader.
#[must_use]
pub fn canonical(args: &RawArgs) -> String {
    let mut text = String::new();
    match args {
        RawArgs::Unparsable(raw) => text.push_str(raw),
        RawArgs::Object(map) => write_object(map, &mut text),
    }
    text
}

fn write_object(map: &Map<String, Value>, text: &mut String) {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort_unstable();
    text.push('{');
    for (n, key) in keys.into_iter().enumerate() {
        if n > 0 {
            text.push(',');
        }
        text.push_str(&Value::String(key.clone()).to_string());
        text.push(':');
        if let Some(value) = map.get(key) {
            write_value(value, text);
        }
    }
    text.push('}');
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => write_object(map, text),
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::Number(_) => match whole_number(value) {
            Some(whole) => text.push_str(&whole.to_string()),
            None => text.push_str(&value.to_string()),
        },
        _ => text.push_str(&value.to_string()),
    }
}

/// Hash of tool and canonical arguments.
#[must_use]
pub fn call_hash(tool: &str, canonical: &str) -> u64 {
    short_hash(format!("{tool}\0{canonical}").as_bytes())
}

/// Longest [`brief`].
const BRIEF: usize = 60;

/// A short, readable form of the arguments: `user_id=mia_li, reservation=ABC`.
#[must_use]
pub fn brief(map: &Map<String, Value>) -> String {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort_unstable();
    let mut text = String::new();
    for key in keys {
        let Some(value) = map.get(key) else { continue };
        let mut shown = String::new();
        match value {
            Value::String(string) => shown.push_str(string),
            other => write_value(other, &mut shown),
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(key);
        text.push('=');
        text.extend(shown.chars().map(|c| if c.is_control() { ' ' } else { c }));
        if text.chars().count() > BRIEF {
            break;
        }
    }
    shorten(&text)
}

/// Cuts a text at the length of a brief.
#[must_use]
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= BRIEF {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(BRIEF - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn object(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn arguments_have_one_form() {
        let a = RawArgs::Object(object(r#"{"b": 1.0, "a": {"y": [2.50, "x"], "x": null}}"#));
        let b = RawArgs::Object(object(r#"{"a": {"x": null, "y": [2.5, "x"]}, "b": 1}"#));
        assert_eq!(canonical(&a), r#"{"a":{"x":null,"y":[2.5,"x"]},"b":1}"#);
        assert_eq!(canonical(&a), canonical(&b));
        assert_eq!(canonical(&RawArgs::default()), "{}");
    }

    #[test]
    fn briefs_are_short_and_printable() {
        let map = object(r#"{"user_id": "mia_li", "reservation": "A\nB"}"#);
        assert_eq!(brief(&map), "reservation=A B, user_id=mia_li");
        let long = object(&format!(r#"{{"x": "{}"}}"#, "é".repeat(200)));
        assert_eq!(brief(&long).chars().count(), 60);
    }
}
