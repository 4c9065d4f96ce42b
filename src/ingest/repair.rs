//! Makes strict JSON of nearly-JSON: bare `NaN`, `Infinity`, numbers out of range, lone surrogates,
//! raw control bytes in strings, bytes that are no UTF-8.
//!
//! It runs only on a record that the strict parser refused. Python's `True` and `False` become the truth
//! values that they are. Other words and numbers that frameworks write and JSON has not become texts, so that the number rules can say what stood there; nothing is dropped and
//! nothing becomes 0. Any other word stays as it is, and so breaks its record: where a quote is lost, a
//! guess would read half of what stood there.

use std::borrow::Cow;

use super::path::Path;
use super::reader::{RecordError, RecordErrorKind};
use super::{holes, json, scan};

/// What a repair did, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Tokens that were made JSON (`NaN`, `1e400`).
    pub tokens: usize,
    /// Those of them that are no numbers of any kind (`None`, `undefined`).
    pub words: usize,
    /// The first of those words: the field, and the word.
    pub said: Vec<(String, String)>,
    /// Lone surrogates that were replaced by U+FFFD.
    pub surrogates: usize,
    /// Raw control bytes in strings that were escaped.
    pub controls: usize,
    /// Bytes that were no UTF-8.
    pub bytes: bool,
    /// The first word that nobody writes and that was left as it is: the field, and the word.
    pub junk: Option<(String, String)>,
}

impl Repairs {
    /// Whether anything changed.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.tokens > 0 || self.surrogates > 0 || self.controls > 0 || self.bytes
    }

    /// These and others together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.said.extend(other.said);
        self.said.truncate(SAID);
        Self {
            tokens: self.tokens + other.tokens,
            words: self.words + other.words,
            said: self.said,
            surrogates: self.surrogates + other.surrogates,
            controls: self.controls + other.controls,
            bytes: self.bytes || other.bytes,
            junk: self.junk.or(other.junk),
        }
    }

    /// The parser's complaint about a record, with the word that breaks it and its field.
    #[must_use]
    pub fn blame(&self, error: RecordError) -> RecordError {
        match &self.junk {
            Some((field, word)) if error.kind == RecordErrorKind::Broken => RecordError {
                field: error.field.or_else(|| Some(field.clone()).filter(|f| is_name(f))),
                reason: format!("`{word}` is no JSON, a quote may be missing; {}", error.reason),
                ..error
            },
            _ => error,
        }
    }

    /// What the load report says, with the field where it is one; the quoted numbers speak for
    /// themselves elsewhere.
    #[must_use]
    pub fn notes(&self) -> Vec<(&str, String)> {
        let mut notes: Vec<(&str, String)> = self
            .said
            .iter()
            .map(|(field, word)| {
                let read = match truth(word) {
                    Some(value) => format!("`{value}`"),
                    None => "a text".to_owned(),
                };
                (field.as_str(), format!("`{word}` is no JSON; read as {read}"))
            })
            .collect();
        if self.words > self.said.len() {
            let more = self.words - self.said.len();
            notes.push(("", format!("{more} further words are no JSON; read like these")));
        }
        notes.extend(self.note().map(|note| ("", note)));
        notes
    }

    /// What was done to texts, in one sentence.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.surrogates > 0 {
            parts.push(format!("{} lone surrogates replaced", self.surrogates));
        }
        if self.controls > 0 {
            parts.push(format!("{} raw control bytes in texts escaped", self.controls));
        }
        if self.bytes {
            parts.push("bytes that are no UTF-8 replaced".to_owned());
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Whether a path is one of names. Behind a quote that is missing, what stands between texts seems to be a
/// key.
fn is_name(path: &str) -> bool {
    !path.is_empty() && !path.contains(['{', '}', ',', ':', '\\'])
}

/// As many words are told one by one.
const SAID: usize = 4;

/// The repaired text of a record, and what was done.
#[must_use]
pub fn repair(bytes: &[u8]) -> (String, Repairs) {
    let text = String::from_utf8_lossy(bytes);
    let mut done = Repairs { bytes: matches!(text, Cow::Owned(_)), ..Repairs::default() };
    let mut out = String::with_capacity(text.len() + 64);
    let raw = text.as_bytes();
    let (mut at, mut path) = (0, Path::default());
    while let Some(&byte) = raw.get(at) {
        let end = match byte {
            b'"' => {
                let end = scan::string_end(raw, at).unwrap_or(raw.len());
                let string = text.get(at..end).unwrap_or_default();
                path.text(string.trim_matches('"'));
                push_string(string, &mut out, &mut done);
                end
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {
                path.mark(byte);
                out.push(char::from(byte));
                at + 1
            }
            _ => {
                let end = scan::value_end(raw, at).unwrap_or(raw.len()).max(at + 1);
                let token = text.get(at..end).unwrap_or_default();
                let known = !path.text(token) && is_known(token);
                let said = || (path.to_string(), json::short(token, 40).into_owned());
                if is_json(token) {
                    out.push_str(token);
                } else if known {
                    if !is_number(token) {
                        done.words += 1;
                        if done.said.len() < SAID {
                            done.said.push(said());
                        }
                    }
                    done.tokens += 1;
                    let quoted = ["\"", token, "\""];
                    match truth(token) {
                        Some(value) => out.push_str(value),
                        None => quoted.into_iter().for_each(|part| out.push_str(part)),
                    }
                } else {
                    done.junk = done.junk.take().or_else(|| Some(said()));
                    out.push_str(token);
                }
                end
            }
        };
        at = end;
    }
    (out, done)
}

/// JSON that stands in a text of a record, as strict JSON where it is as lenient as the writers in
/// Python are: `NaN`, `Infinity`, numbers out of range, lone surrogates. Anything else that is wrong with
/// it stays: a call that the model wrote badly is a bad call.
#[must_use]
pub fn embedded(text: &str) -> Cow<'_, str> {
    // Numbers out of range are fine as long as nobody wants their value.
    if serde_json::from_str::<serde_json::Value>(text).is_ok() {
        return Cow::Borrowed(text);
    }
    let (repaired, done) = repair(text.as_bytes());
    let lenient = done.any() && done.controls == 0 && done.words == 0;
    if lenient && serde_json::from_str::<serde::de::IgnoredAny>(&repaired).is_ok() {
        Cow::Owned(repaired)
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a record is JSON, after a repair if need be; one that is too long to be held is not asked.
pub(super) fn whole(body: &Result<Vec<u8>, u64>) -> bool {
    body.as_ref().map_or(true, |bytes| is_whole(bytes))
}

/// Whether a text is JSON, after a repair if need be.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let is_json = |bytes: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    is_json(bytes) || !holes::any(bytes) && is_json(repair(bytes).0.as_bytes())
}

/// Whether a token is one that JSON has, or one that frameworks write.
pub(super) fn is_word(token: &str) -> bool {
    is_json(token) || is_known(token)
}

/// What a truth value of Python is in JSON.
fn truth(token: &str) -> Option<&'static str> {
    match token {
        "True" => Some("true"),
        "False" => Some("false"),
        _ => None,
    }
}

/// Whether a token is a number that JSON has no word for.
fn is_number(token: &str) -> bool {
    let bare = token.strip_prefix('-').unwrap_or(token);
    let digits = bare.starts_with(|c: char| c.is_ascii_digit()) && token.parse::<f64>().is_ok();
    matches!(bare, "NaN" | "Infinity") || digits
}

/// Whether a token is one that frameworks write where JSON has no word: numbers that are none or out of
/// range, and what Python and JavaScript call nothing and truth.
fn is_known(token: &str) -> bool {
    token.parse::<f64>().is_ok() || matches!(token, "None" | "True" | "False" | "undefined")
}

fn is_json(token: &str) -> bool {
    matches!(token, "true" | "false" | "null") || serde_json::from_str::<f64>(token).is_ok()
}

/// Copies a string with its quotes; escapes that make no character become U+FFFD.
fn push_string(text: &str, out: &mut String, done: &mut Repairs) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let width = match c {
            '\\' => {
                if let Some(unit) = escape(rest) {
                    push_unit(rest, unit, out, done)
                } else {
                    let width = 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
                    out.push_str(rest.get(..width).unwrap_or_default());
                    width
                }
            }
            '\u{0}'..='\u{1f}' => {
                done.controls += 1;
                out.push_str("\\u00");
                for digit in [u32::from(c) >> 4, u32::from(c) & 15] {
                    out.extend(char::from_digit(digit, 16));
                }
                1
            }
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(width..).unwrap_or_default();
    }
}

/// The unit of a `\uXXXX` escape at the start of `text`.
fn escape(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(hex, 16).ok()
}

fn push_unit(rest: &str, unit: u32, out: &mut String, done: &mut Repairs) -> usize {
    let low = rest.get(6..).and_then(escape).filter(|u| (0xdc00..0xe000).contains(u));
    match (unit, low) {
        (0xd800..0xdc00, Some(_)) => {
            out.push_str(rest.get(..12).unwrap_or_default());
            12
        }
        (0xd800..0xe000, _) => {
            done.surrogates += 1;
            out.push_str("\\ufffd");
            6
        }
        _ => {
            out.push_str(rest.get(..6).unwrap_or_default());
            6
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_tokens_become_texts() {
        let (text, done) = repair(br#"{"a":NaN,"b":[-Infinity,1e400,1.5e3],"c":"NaN","d":true}"#);
        assert_eq!(text, r#"{"a":"NaN","b":["-Infinity","1e400",1.5e3],"c":"NaN","d":true}"#);
        assert_eq!(done.tokens, 3);
        assert_eq!(done.note(), None);
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        let (text, done) = repair(br#"["\ud83d\ude00","\ud800x","\udc00","\\ud800"]"#);
        assert_eq!(text, r#"["\ud83d\ude00","\ufffdx","\ufffd","\\ud800"]"#);
        assert_eq!(done.surrogates, 2);
    }

    #[test]
    fn json_in_texts_is_read_as_python_reads_it() {
        assert_eq!(embedded(r#"{"a":NaN,"b":-Infinity}"#), r#"{"a":"NaN","b":"-Infinity"}"#);
        assert_eq!(embedded("[1e400]"), r#"["1e400"]"#);
        for bad in
            ["{a: 1}", "{\"a\": nan}", "{\"a\": \"x\ny\"}", "{\"a\": \"l", "[NaN", "[01]", ""]
        {
            let read = embedded(bad);
            assert!(bad == "[01]" || matches!(read, Cow::Borrowed(t) if t == bad), "{bad}: {read}");
        }
    }

    #[test]
    fn words_that_nobody_writes_stay_as_they_are() {
        let (text, done) = repair(br#"{"a":None,"b":[nan,-inf,True],"c":undefined}"#);
        assert_eq!(text, r#"{"a":"None","b":["nan","-inf",true],"c":"undefined"}"#);
        let told: Vec<_> = done.notes().into_iter().map(|(_, note)| note).collect();
        assert_eq!(told[0], "`None` is no JSON; read as a text");
        assert_eq!(told[3], "`True` is no JSON; read as `true`");
        assert_eq!((done.tokens, done.words, done.junk), (5, 5, None));
        for (bad, field, word) in [
            (r#"{"m":[{"a":NaN,role": "x"}]}"#, "m[0].role\"", "role\""),
            (r#"{"id": r2","x":NaN}"#, "id", "r2\""),
            (r#"{"a":NaN,"b":tru}"#, "b", "tru"),
            (r#"{"a":NaN,None:1}"#, "None", "None"),
        ] {
            let (text, done) = repair(bad.as_bytes());
            assert_eq!(text, bad.replace("NaN", "\"NaN\""));
            assert_eq!(done.junk, Some((field.to_owned(), word.to_owned())), "{bad}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err());
        }
    }

    #[test]
    fn what_stands_between_texts_is_no_name_of_a_field() {
        for (text, told) in [
            (r#"{"a:1,"b":2}"#, None),
            (r#"{"a":tru}"#, Some("a")),
            (r#"{"a":[1,{"b":tru}]}"#, Some("a[1].b")),
        ] {
            let error = serde_json::from_str::<serde::de::IgnoredAny>(text).unwrap_err();
            let error = repair(text.as_bytes()).1.blame(RecordError::from(error));
            assert_eq!(error.field.as_deref(), told, "{text}: {error}");
        }
    }

    #[test]
    fn control_bytes_and_broken_utf8() {
        let (text, done) = repair(b"[\"a\nb\xff\"]");
        assert_eq!(text, "[\"a\\u000ab\u{fffd}\"]");
        assert!(done.bytes && done.controls == 1 && done.any());
    }
}
