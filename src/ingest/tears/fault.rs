//! Where bytes stop being JSON by their structure: brackets that belong together, keys with colons,
//! commas between values, words that are words.
//!
//! A quote that is lost turns texts inside out, and a bracket that is lost puts values where none can
//! stand: both show here, mostly within a few bytes. What is only cut has no fault. Behind a fault it
//! finds the first place from which everything is as it should be.

use super::begins::first_key;
use crate::ingest::repair;
use crate::ingest::scan::{self, Entry};

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Value,
    /// A value, or the end of the list.
    First,
    Key,
    /// A key, or the end of the object.
    FirstKey,
    Colon,
    /// A comma, the end of a list or an object, or where none is open the next value.
    Next,
}

/// How far the structure holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    /// Where it breaks.
    fault: Option<usize>,
    /// Behind the bracket that closes what was open at first.
    closed: Option<usize>,
}

/// Where the values that the bytes hold one after the other stop being JSON; `None` where they are, as far
/// as they go. Texts may hold anything, and words that frameworks write and JSON has not are words.
#[must_use]
pub fn fault(bytes: &[u8]) -> Option<usize> {
    held(bytes, 0, Vec::new(), Due::Value).fault
}

/// Whether one value stands there and nothing else, as far as its structure goes.
#[must_use]
pub fn is_value(bytes: &[u8]) -> bool {
    scan::value_end(bytes, 0) == Some(bytes.len()) && fault(bytes).is_none()
}

/// Follows the structure from `at` on, where these brackets are due to close.
fn held(bytes: &[u8], mut at: usize, mut open: Vec<u8>, mut due: Due) -> Held {
    let mut closed = None;
    let fault = loop {
        at = scan::skip_space(bytes, at);
        let Some(&byte) = bytes.get(at) else { break None };
        let value = match due {
            Due::Value | Due::First => true,
            Due::Next => open.is_empty(),
            Due::Key | Due::FirstKey | Due::Colon => false,
        };
        let end = match (due, byte) {
            (Due::Key | Due::FirstKey, b'"') => {
                due = Due::Colon;
                scan::string_end(bytes, at)
            }
            (Due::Colon, b':') => {
                due = Due::Value;
                Some(at + 1)
            }
            (Due::Next, b',') => {
                due = if open.last() == Some(&b'}') { Due::Key } else { Due::Value };
                Some(at + 1)
            }
            (Due::Next, b'}' | b']') | (Due::First, b']') | (Due::FirstKey, b'}') => {
                if open.pop() != Some(byte) {
                    break Some(at);
                }
                due = Due::Next;
                closed = closed.or_else(|| open.is_empty().then_some(at + 1));
                Some(at + 1)
            }
            (_, b'{') if value => {
                open.push(b'}');
                due = Due::FirstKey;
                Some(at + 1)
            }
            (_, b'[') if value => {
                open.push(b']');
                due = Due::First;
                Some(at + 1)
            }
            _ if value => {
                let end = scan::value_end(bytes, at);
                if byte != b'"' && !is_word(bytes, at, end) {
                    break Some(at);
                }
                due = Due::Next;
                end
            }
            _ => break Some(at),
        };
        match end {
            Some(end) => at = end,
            None => break None,
        }
    };
    Held { fault, closed }
}

/// Whether a number or a word that somebody writes stands there; what touches the end may be cut.
fn is_word(bytes: &[u8], at: usize, end: Option<usize>) -> bool {
    let token = end.and_then(|end| bytes.get(at..end)).unwrap_or_default();
    let touches = end == Some(bytes.len()) && token.iter().all(u8::is_ascii_alphanumeric);
    touches || std::str::from_utf8(token).is_ok_and(repair::is_word)
}

/// Where the list that an object with a fault is in goes on: the first object behind a comma from which
/// everything holds up to the end of the list and of the bytes: more ends behind it would be those of what
/// the list is in. One that begins like the faulty one goes before others. Where the bytes are `cut` the list may be open; then no others
/// are taken, as long as the faulty one begins like anything.
#[must_use]
pub fn list_behind(bytes: &[u8], from: usize, cut: bool) -> Option<usize> {
    let own = bytes.get(from..).and_then(first_key);
    let like = |key: Option<&[u8]>| {
        behind(bytes, from, |at| {
            let begins = bytes.get(at..).and_then(first_key);
            if begins.is_none() || key.is_some() && begins != key {
                return Err(at);
            }
            let held = held(bytes, at, vec![b']'], Due::Value);
            let ends = held.closed.is_some_and(|end| scan::skip_space(bytes, end) >= bytes.len());
            let open = cut && held == Held { fault: None, closed: None };
            if ends || open { Ok(()) } else { Err(held.fault.or(held.closed).unwrap_or(at)) }
        })
    };
    let alike = own.and_then(|_| like(own));
    alike.or_else(|| if cut && own.is_some() { None } else { like(None) })
}

/// The entries of the object at the beginning that stand behind a fault in it: those from which everything
/// holds up to the end of the object and of the bytes.
#[must_use]
pub fn entries_behind(bytes: &[u8], from: usize) -> Vec<Entry<'_>> {
    let place = behind(bytes, from, |at| {
        if bytes.get(at) != Some(&b'"') {
            return Err(at);
        }
        let held = held(bytes, at, vec![b'}'], Due::Key);
        let ends = held.closed.is_some_and(|end| scan::skip_space(bytes, end) >= bytes.len());
        if ends { Ok(()) } else { Err(held.fault.or(held.closed).unwrap_or(at)) }
    });
    place.map(|at| scan::fields(bytes, at)).unwrap_or_default()
}

/// The first place behind a comma that passes. A test that fails says up to where it makes no sense to try
/// again: so nothing is looked at more than twice.
fn behind(bytes: &[u8], from: usize, test: impl Fn(usize) -> Result<(), usize>) -> Option<usize> {
    let mut from = from;
    loop {
        let comma = from + memchr::memchr(b',', bytes.get(from..)?)?;
        let at = scan::skip_space(bytes, comma + 1);
        match test(at) {
            Ok(()) => return Some(at),
            Err(next) => from = next.max(comma + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_and_what_is_cut_has_no_fault() {
        for text in [
            r#"{"a":[1,-2.5e3,{"b":"x\"y"}],"c":null}"#,
            r#"{"a":NaN,"b":[None,-Infinity,True]}"#,
            "{\"a\":\"two\nlines\"}",
            "{} [] 1,{\"a\":{}}\n{\"b\":[]}",
            r#"{"a":[1,{"b":"cut"#,
            r#"{"a":tru"#,
            r#"{"a"#,
            "[",
            "",
        ] {
            assert_eq!(fault(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_fault_is_where_the_structure_breaks() {
        for (text, at) in [
            (r#"{"a":"x,"b":1}"#, r#"b":1"#),
            (r#"{"a":x","b":1}"#, r#"x","#),
            (r#"{a":1,"b":2}"#, r#"a":"#),
            (r#"{"a":[1,2,"b":3}"#, ":3}"),
            (r#"{"a":1,2],"b":3}"#, "2]"),
            (r#"{"a":[1,2},"b":3}"#, "},"),
            (r#"[{"s":[1]},{"s":[2],{"s":[3]}]"#, r#"{"s":[3]"#),
            ("{\"a\":1,\n{\"a\":2}", "{\"a\":2}"),
            (r#"{"a":tru,"b":1}"#, "tru"),
            (r#"{"a":1}]"#, "]"),
            ("[1,]", "]"),
        ] {
            assert_eq!(fault(text.as_bytes()), text.find(at), "{text}");
        }
    }

    #[test]
    fn the_list_goes_on_behind_a_torn_element() {
        let rest = r#"{"a":[{"b":1},{"b":2}]},{"a":[]}]"#;
        for torn in [
            r#"[{a":[{"b":1},{"b":2}],"c":"x, y"},"#,
            r#"[{"a":[{"b":1},{"b":2}],"c":"x, y},"#,
            r#"[{"a":[{"b":1},{"b":2},"c":"x, y"},"#,
            r#"[{"a":[{"b":1},{"b":2}],"c":"x, y","#,
        ] {
            for tail in ["", "\n"] {
                let text = format!("{torn}{rest}{tail}");
                assert_eq!(list_behind(text.as_bytes(), 1, false), Some(torn.len()), "{text}");
            }
        }
        // Of a list that is cut, objects of lists within the torn one are none of its own.
        let cut = r#"[{"a":x"},{"b":1},{"a":[{"b":1},{"b":"#;
        assert_eq!(list_behind(cut.as_bytes(), 1, true), cut.find(r#"{"a":[{"#));
        assert_eq!(list_behind(cut.as_bytes(), 1, false), None);
    }

    #[test]
    fn entries_behind_a_fault_are_those_of_the_object() {
        let keys = |text: &str| -> Vec<String> {
            let found = entries_behind(text.as_bytes(), 0);
            found.iter().map(|e| String::from_utf8(e.key.to_vec()).unwrap()).collect()
        };
        let text = r#"{"a":{"x":1,"y:2,"z":3},"b":[{"x":1,"y":2}],"c":{"x":1,"y":2}}"#;
        assert_eq!(keys(text), ["b", "c"]);
        assert_eq!(keys(r#"{"a":"x,"b":[{"x":1,"y":2}]"#), [""; 0]);
    }
}
