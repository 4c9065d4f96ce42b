//! One level of JSON at a time: objects as lists of raw values, and the few conversions that every
//! reader needs (ids as text, tolerant numbers, arguments, message content).
//!
//! Bodies that nobody asks for are skipped, not built. No format knowledge lives here.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::repair;
use crate::rollout::raw::{RawArgs, RawNumber};

/// A JSON error of the parser.
pub type Error = serde_json::Error;

/// What the parser complains about, without the place: that is one within the text it was given, and
/// a reader gives it parts of a record.
#[must_use]
pub fn complaint(error: &Error) -> String {
    let all = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let bare = all.strip_suffix(&place).unwrap_or(&all);
    match bare.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            let found = match found {
                "map" => "an object",
                "sequence" => "a list",
                "null" => "`null`",
                other => other,
            };
            format!("{expected} was expected, {found} stands there")
        }
        None => bare.replacen("EOF while parsing", "it ends within", 1),
    }
}

/// An object whose values are still raw. Of a repeated key the last wins.
#[derive(Debug, Default)]
pub struct Object<'a> {
    entries: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Reads the object in `text`.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let mut de = serde_json::Deserializer::from_str(text);
        let entries = de.deserialize_map(Entries)?;
        de.end()?;
        Ok(Self { entries })
    }

    /// Reads the object that `raw` holds.
    pub fn of(raw: &'a RawValue) -> Result<Self, Error> {
        Self::parse(raw.get())
    }

    /// The value of `key`, `null` included; the last one of a repeated key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.entries.iter().rev().find(|(k, _)| k == key).map(|&(_, v)| v)
    }

    /// The value of `key` unless it is absent or `null`.
    #[must_use]
    pub fn some(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|v| !is_null(v))
    }

    /// The first of `keys` that holds something, with its name.
    #[must_use]
    pub fn first<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &'a RawValue)> {
        keys.iter().find_map(|&k| self.some(k).map(|v| (k, v)))
    }

    /// The object under `key`, if there is one.
    pub fn object(&self, key: &str) -> Result<Option<Object<'a>>, Error> {
        self.some(key).filter(|v| is_object(v)).map(Object::of).transpose()
    }

    /// The text under `key`: a string as it is, `None` for absent, `null` and anything else.
    pub fn string(&self, key: &str) -> Result<Option<Cow<'a, str>>, Error> {
        self.some(key).filter(|v| v.get().starts_with('"')).map(string).transpose()
    }

    /// The truth value under `key`.
    #[must_use]
    pub fn truth(&self, key: &str) -> Option<bool> {
        match self.get(key)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number under `key`, tolerantly.
    pub fn number(&self, key: &str) -> Result<RawNumber, Error> {
        self.get(key).map_or(Ok(RawNumber::Missing), number)
    }

    /// The id under `key` as text.
    pub fn id(&self, key: &str) -> Result<Option<String>, Error> {
        self.get(key).map_or(Ok(None), id)
    }

    /// The whole number under `key`, where it is one (also when it stands there as text).
    pub fn whole(&self, key: &str) -> Result<Option<u64>, Error> {
        Ok(self.id(key)?.and_then(|t| t.trim().parse().ok()))
    }

    /// The keys that occur more than once, in order of their first occurrence.
    #[must_use]
    pub fn repeated(&self) -> Vec<&str> {
        // Objects of this size are compared faster than they are put into a set.
        const SMALL: usize = 24;
        let mut found: Vec<&str> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let small = self.entries.len() <= SMALL;
        for (at, (key, _)) in self.entries.iter().enumerate() {
            let again = if small {
                self.entries.iter().take(at).any(|(k, _)| k == key)
            } else {
                !seen.insert(key)
            };
            if again && !found.contains(&&**key) {
                found.push(key);
            }
        }
        found
    }

    /// All entries in file order, repeated keys as often as they stand there.
    pub fn all(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.entries.iter().map(|(key, value)| (&**key, *value))
    }

    /// All entries in file order; of a repeated key the last one.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        let repeated = self.repeated();
        let counts = move |at: usize, key: &str| {
            !repeated.contains(&key) || self.entries.iter().skip(at + 1).all(|(k, _)| k != key)
        };
        let entries = self.entries.iter().enumerate();
        entries.filter(move |(at, (k, _))| counts(*at, k)).map(|(_, (k, v))| (&**k, *v))
    }
}

/// The elements of an array, still raw.
pub fn elements(raw: &RawValue) -> Result<Vec<&RawValue>, Error> {
    serde_json::Deserializer::from_str(raw.get()).deserialize_seq(Elements)
}

/// Whether the value is `null`.
#[must_use]
pub fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// Whether the value is an object.
#[must_use]
pub fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Whether the value is an array.
#[must_use]
pub fn is_array(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

/// The text of a string value.
pub fn string(raw: &RawValue) -> Result<Cow<'_, str>, Error> {
    Text.deserialize(&mut serde_json::Deserializer::from_str(raw.get()))
}

/// The text of any value: a string's own text, nothing for `null`, else the JSON as it stands.
pub fn text(raw: &RawValue) -> Result<Option<Cow<'_, str>>, Error> {
    match raw.get().as_bytes().first() {
        Some(b'"') => string(raw).map(Some),
        Some(b'n') => Ok(None),
        _ => Ok(Some(Cow::Borrowed(raw.get()))),
    }
}

/// An id as text: `2`, `2.0` and `"2"` are the same id, whole numbers of any size keep their digits, and
/// a text stays what it is. `null`, empty text, objects and arrays are no ids.
pub fn id(raw: &RawValue) -> Result<Option<String>, Error> {
    Ok(match raw.get().as_bytes().first() {
        Some(b'"') => Some(string(raw)?.into_owned()).filter(|t| !t.is_empty()),
        Some(b'n' | b'{' | b'[') | None => None,
        _ => Some(super::decimal::plain(raw.get()).into_owned()),
    })
}

/// A number, tolerantly: what is not a finite number says why, and never becomes 0.
pub fn number(raw: &RawValue) -> Result<RawNumber, Error> {
    let plain = raw.get();
    Ok(match plain.as_bytes().first() {
        Some(b'"') => {
            let given = string(raw)?;
            match finite(given.trim()) {
                Ok(v) => RawNumber::Coerced(v, format!("the text {:?} was read as {v}", &*given)),
                Err(why) => RawNumber::Bad(why),
            }
        }
        Some(b't') => RawNumber::Coerced(1.0, "true was read as 1".into()),
        Some(b'f') => RawNumber::Coerced(0.0, "false was read as 0".into()),
        Some(b'n') => RawNumber::Bad("null".into()),
        Some(b'{') => RawNumber::Bad("an object, not a number".into()),
        Some(b'[') => RawNumber::Bad("a list, not a number".into()),
        _ => finite(plain).map_or_else(RawNumber::Bad, RawNumber::Value),
    })
}

/// A finite number in `text`, or what stands there instead.
fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(v) if v.is_finite() => Ok(v),
        Ok(v) if v.is_nan() => Err("NaN".into()),
        Ok(_) if text.bytes().any(|b| b.is_ascii_digit()) => {
            Err(format!("{text}, which is out of range"))
        }
        Ok(v) => Err(if v > 0.0 { "Infinity".into() } else { "-Infinity".into() }),
        Err(_) if text.is_empty() => Err("empty text".into()),
        Err(_) => Err(format!("the text {:?}, not a number", short(text, 40))),
    }
}

/// A finite number, when the value is one in any accepted spelling.
pub fn finite_number(raw: &RawValue) -> Result<Option<f64>, Error> {
    number(raw).map(|n| n.value())
}

/// The arguments of a call: an object, text that holds one (also doubly encoded), or nothing.
pub fn args(raw: Option<&RawValue>) -> Result<RawArgs, Error> {
    let Some(raw) = raw else { return Ok(RawArgs::default()) };
    match raw.get().as_bytes().first() {
        Some(b'n') => Ok(RawArgs::default()),
        Some(b'"') => Ok(args_text(&string(raw)?)),
        // An object that nests too deeply to be built stays text.
        _ => Ok(args_text(raw.get())),
    }
}

/// Arguments that came as text.
#[must_use]
pub fn args_text(given: &str) -> RawArgs {
    if given.trim().is_empty() {
        return RawArgs::default();
    }
    match lenient(given) {
        Ok(Value::Object(map)) => RawArgs::Object(map),
        Ok(Value::Null) => RawArgs::default(),
        Ok(Value::String(inner)) => match lenient(&inner) {
            Ok(Value::Object(map)) => RawArgs::Object(map),
            _ if inner.trim().is_empty() => RawArgs::default(),
            _ => RawArgs::Unparsable(given.to_owned()),
        },
        _ => RawArgs::Unparsable(given.to_owned()),
    }
}

/// A value in a text, with the tokens that Python writes and JSON has not.
fn lenient(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&repair::embedded(text)))
}

/// The text of a message: a string, or the texts of a list of parts; pictures leave a mark.
pub fn content(raw: &RawValue) -> Result<Option<Cow<'_, str>>, Error> {
    content_within(raw, DEPTH)
}

/// Parts in parts are read this deep; a text that hides deeper stays JSON.
const DEPTH: usize = 8;

fn content_within(raw: &RawValue, depth: usize) -> Result<Option<Cow<'_, str>>, Error> {
    if !is_array(raw) || depth == 0 {
        return text(raw);
    }
    let mut all = String::new();
    for part in elements(raw)? {
        let piece = if is_object(part) {
            let part = Object::of(part)?;
            match part.first(&["text", "content", "thinking", "reasoning"]) {
                Some((_, inner)) => {
                    content_within(inner, depth - 1)?.unwrap_or_default().into_owned()
                }
                None => match part.string("type")?.as_deref() {
                    Some("image_url" | "image" | "input_image") => "[image]".to_owned(),
                    _ => String::new(),
                },
            }
        } else {
            text(part)?.unwrap_or_default().into_owned()
        };
        if !piece.is_empty() {
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&piece);
        }
    }
    Ok(Some(Cow::Owned(all)))
}

/// At most `chars` characters of `text`.
#[must_use]
pub fn short(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        Some((cut, _)) => Cow::Owned(format!("{}…", text.get(..cut).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::with_capacity(16);
        while let Some(key) = map.next_key_seed(Text)? {
            entries.push((key, map.next_value::<&'de RawValue>()?));
        }
        Ok(entries)
    }
}

struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = seq.next_element::<&'de RawValue>()? {
            all.push(element);
        }
        Ok(all)
    }
}

/// Reads a string without copying where it has no escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<Self::Value, D::Error> {
        de.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(v))
    }

    fn visit_str<E>(self, v: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(v.to_owned()))
    }

    fn visit_string<E>(self, v: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object<'_> {
        Object::parse(text).unwrap()
    }

    #[test]
    fn ids_are_text_of_any_size() {
        let o = object(r#"{"a":2,"b":"2","c":123456789012345678901234567890,"d":null,"e":""}"#);
        assert_eq!(o.id("a").unwrap(), o.id("b").unwrap());
        assert_eq!(o.id("c").unwrap().as_deref(), Some("123456789012345678901234567890"));
        assert_eq!(o.id("d").unwrap(), None);
        assert_eq!(o.id("e").unwrap(), None);
        let o = object(r#"{"a":2.0,"b":"2.0","c":12345678901234567891.0,"d":true}"#);
        assert_eq!(o.id("a").unwrap().as_deref(), Some("2"));
        assert_eq!(o.whole("a").unwrap(), Some(2));
        assert_eq!(o.id("b").unwrap().as_deref(), Some("2.0"));
        assert_eq!(o.id("c").unwrap().as_deref(), Some("12345678901234567891"));
        assert_eq!(o.id("d").unwrap().as_deref(), Some("true"));
    }

    #[test]
    fn numbers_say_why_they_are_none() {
        let o = object(
            r#"{"a":1,"b":"1.0","c":true,"d":null,"e":1e400,"f":"NaN","g":"x","h":"-Infinity"}"#,
        );
        assert_eq!(o.number("a").unwrap(), RawNumber::Value(1.0));
        assert!(matches!(o.number("b").unwrap(), RawNumber::Coerced(v, _) if v == 1.0));
        assert!(matches!(o.number("c").unwrap(), RawNumber::Coerced(v, _) if v == 1.0));
        assert_eq!(o.number("d").unwrap(), RawNumber::Bad("null".into()));
        assert_eq!(o.number("e").unwrap(), RawNumber::Bad("1e400, which is out of range".into()));
        assert_eq!(o.number("f").unwrap(), RawNumber::Bad("NaN".into()));
        assert!(matches!(o.number("g").unwrap(), RawNumber::Bad(_)));
        assert_eq!(o.number("h").unwrap(), RawNumber::Bad("-Infinity".into()));
        assert_eq!(o.number("z").unwrap(), RawNumber::Missing);
    }

    #[test]
    fn of_a_repeated_key_the_last_wins() {
        let o = object(r#"{"a":1,"b":2,"a":3}"#);
        assert_eq!(o.number("a").unwrap(), RawNumber::Value(3.0));
        assert_eq!(o.repeated(), ["a"]);
    }

    #[test]
    fn arguments_come_in_many_ways() {
        let call = |text: &str| {
            let text = format!(r#"{{"arguments":{text}}}"#);
            args(object(&text).get("arguments")).unwrap()
        };
        let ls = args_text(r#"{"command":"ls"}"#);
        assert!(matches!(&ls, RawArgs::Object(m) if m.len() == 1));
        assert_eq!(call(r#"{"command":"ls"}"#), ls);
        assert_eq!(call(r#""{\"command\":\"ls\"}""#), ls);
        assert_eq!(call(r#""\"{\\\"command\\\":\\\"ls\\\"}\"""#), ls);
        for empty in ["null", r#""""#, r#""   ""#, "{}", r#""{}""#] {
            assert_eq!(call(empty), RawArgs::default(), "{empty}");
        }
        assert_eq!(call(r#""[\"ls\"]""#), RawArgs::Unparsable(r#"["ls"]"#.into()));
        assert_eq!(
            call(r#""{\"command\": \"ls -la""#),
            RawArgs::Unparsable("{\"command\": \"ls -la".into())
        );
        for (token, kept) in [("NaN", "NaN"), ("-Infinity", "-Infinity"), ("1e400", "1e400")] {
            let told = format!(r#"{{"command":"ls","timeout":{token}}}"#);
            let RawArgs::Object(map) = args_text(&told) else { panic!("{token}") };
            assert_eq!(map["timeout"], kept);
        }
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        assert_eq!(call(&deep), RawArgs::Unparsable(deep.clone()));
    }

    #[test]
    fn content_is_text_or_parts() {
        let o = object(
            r#"{"a":"x","b":[{"type":"text","text":"x"},{"type":"image_url"},"y"],"c":null}"#,
        );
        assert_eq!(content(o.get("a").unwrap()).unwrap().as_deref(), Some("x"));
        assert_eq!(content(o.get("b").unwrap()).unwrap().as_deref(), Some("x\n[image]\ny"));
        assert_eq!(content(o.get("c").unwrap()).unwrap(), None);
    }
}
