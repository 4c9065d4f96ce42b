//! The calls of a message: a list of objects, as `OpenAI` has them or flat, or of texts of them.
//!
//! What stands there instead of a list is read as far as it is a call, and noted. What is none stays a
//! call that cannot be read, as a call with broken arguments does: the policy tried to act there.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::json::{self, Error, Object};
use super::reader::RecordError;
use super::turns::Call;
use super::{content, repair};
use crate::rollout::raw::RawArgs;

/// What is said of what is no call.
const KEPT: &str = "kept as a call that cannot be read";

/// The calls of the message at `place` (the list's name and the position in it).
pub(super) fn of_message(
    message: &Object<'_>,
    place: (&str, usize),
    notes: &mut Vec<(String, String)>,
) -> Result<Vec<Call>, RecordError> {
    let mut found = Found { calls: Vec::new(), place, notes };
    if let Some(given) = message.some("tool_calls") {
        found.value(given)?;
    }
    let mut calls = found.calls;
    if let Some(call) = message.object("function_call")? {
        calls.push(function(&call, None)?);
    }
    Ok(calls)
}

struct Found<'a> {
    calls: Vec<Call>,
    place: (&'a str, usize),
    notes: &'a mut Vec<(String, String)>,
}

impl Found<'_> {
    fn note(&mut self, element: Option<usize>, reason: String) {
        let (list, at) = self.place;
        let nth = element.map(|nth| format!("[{nth}]")).unwrap_or_default();
        self.notes.push((format!("{list}[{at}].tool_calls{nth}"), reason));
    }

    fn unreadable(&mut self, element: Option<usize>, given: &str, what: &str) {
        self.note(element, format!("{what}: {KEPT}"));
        let args = RawArgs::Unparsable(given.to_owned());
        self.calls.push(Call { args, ..Call::default() });
    }

    fn value(&mut self, given: &RawValue) -> Result<(), RecordError> {
        match given.get().as_bytes().first() {
            Some(b'[') => self.list(given),
            Some(b'{') => self.alone(given),
            Some(b'"') => self.text(&json::string(given)?),
            _ => {
                let what = format!("{}, no list of calls", json::short(given.get(), 40));
                self.unreadable(None, given.get(), &what);
                Ok(())
            }
        }
    }

    fn list(&mut self, list: &RawValue) -> Result<(), RecordError> {
        for (at, call) in json::elements(list)?.into_iter().enumerate() {
            if json::is_object(call) {
                let call = Object::of(call)?;
                content::no_message(&call)?;
                self.calls.push(call_of(&call)?);
                continue;
            }
            let text = if call.get().starts_with('"') { Some(json::string(call)?) } else { None };
            match text.as_deref().map(Object::parse) {
                Some(Ok(call)) => self.calls.push(call_of(&call)?),
                Some(Err(_)) => {
                    let text = text.as_deref().unwrap_or_default();
                    self.unreadable(Some(at), text, "a text that holds no call");
                }
                None => {
                    let what = format!("{}, no call", json::short(call.get(), 40));
                    self.unreadable(Some(at), call.get(), &what);
                }
            }
        }
        Ok(())
    }

    /// One object where a list was expected.
    fn alone(&mut self, given: &RawValue) -> Result<(), RecordError> {
        let object = Object::of(given)?;
        if object.all().next().is_none() {
            return Ok(());
        }
        content::no_message(&object)?;
        let call = call_of(&object)?;
        if call.tool.is_none() {
            self.unreadable(None, given.get(), "an object that names no tool, not a list of calls");
            return Ok(());
        }
        self.note(None, "an object, not a list: read as the only call".to_owned());
        self.calls.push(call);
        Ok(())
    }

    /// A text that may hold the list.
    fn text(&mut self, text: &str) -> Result<(), RecordError> {
        let plain = repair::embedded(text);
        let inner = serde_json::from_str::<&RawValue>(&plain).ok();
        match inner.filter(|v| json::is_array(v) || json::is_object(v)) {
            Some(inner) => {
                self.note(None, "a text, not a list: its JSON was read".to_owned());
                self.value(inner)
            }
            None if matches!(plain.trim(), "" | "null") => Ok(()),
            None => {
                self.unreadable(None, text, "a text that is no JSON of calls");
                Ok(())
            }
        }
    }
}

/// A call as an object has it: with a `function` inside, or flat.
pub(super) fn call_of(call: &Object<'_>) -> Result<Call, Error> {
    let id = call.id("id")?.or(call.id("call_id")?).or(call.id("tool_call_id")?);
    match call.object("function")? {
        Some(inner) => function(&inner, id),
        None => function(call, id),
    }
}

fn function(call: &Object<'_>, id: Option<String>) -> Result<Call, Error> {
    let name = call.string("name")?.or(call.string("function")?).or(call.string("function_name")?);
    let args = call.first(&["arguments", "args", "input", "parameters"]).map(|(_, v)| v);
    Ok(Call {
        tool: name.map(Cow::into_owned).filter(|n| !n.is_empty()),
        args: json::args(args)?,
        id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool_calls: &str) -> (Vec<Call>, Vec<(String, String)>) {
        let text = format!(r#"{{"tool_calls":{tool_calls}}}"#);
        let mut notes = Vec::new();
        let message = Object::parse(&text).unwrap();
        let calls = of_message(&message, ("messages", 1), &mut notes).unwrap();
        (calls, notes)
    }

    fn tools(calls: &[Call]) -> Vec<(&str, Option<&str>)> {
        calls.iter().map(|c| (c.tool.as_deref().unwrap_or("-"), c.id.as_deref())).collect()
    }

    const CALL: &str = r#"{"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}"#;
    const FLAT: &str = r#"{"id":"2","name":"b","arguments":{"x":1}}"#;

    #[test]
    fn lists_of_calls_are_nothing_odd() {
        let (calls, notes) = read(&format!("[{CALL},{FLAT}]"));
        assert_eq!(tools(&calls), [("a", Some("1")), ("b", Some("2"))]);
        assert!(calls.iter().all(|c| c.args == json::args_text(r#"{"x":1}"#)));
        assert_eq!(notes, []);
        for none in ["[]", "null", "{}", "\"\"", "\"null\""] {
            let (calls, notes) = read(none);
            assert_eq!((calls.len(), notes), (0, vec![]), "{none}");
        }
    }

    #[test]
    fn an_object_or_a_text_in_place_of_a_list_is_read_and_noted() {
        let field = || "messages[1].tool_calls".to_owned();
        let (calls, notes) = read(CALL);
        assert_eq!(tools(&calls), [("a", Some("1"))]);
        assert_eq!(notes, [(field(), "an object, not a list: read as the only call".to_owned())]);
        let text = serde_json::to_string(&format!("[{CALL},{FLAT}]")).unwrap();
        let (calls, notes) = read(&text);
        assert_eq!(tools(&calls), [("a", Some("1")), ("b", Some("2"))]);
        assert_eq!(notes, [(field(), "a text, not a list: its JSON was read".to_owned())]);
    }

    #[test]
    fn what_is_no_call_stays_one_that_cannot_be_read() {
        for (given, kept, field, what) in [
            ("5", "5", "tool_calls", "5, no list of calls"),
            ("true", "true", "tool_calls", "true, no list of calls"),
            (r#""ls""#, "ls", "tool_calls", "a text that is no JSON of calls"),
            (
                r#"{"calls":[]}"#,
                r#"{"calls":[]}"#,
                "tool_calls",
                "an object that names no tool, not a list of calls",
            ),
            ("[7]", "7", "tool_calls[0]", "7, no call"),
            ("[null]", "null", "tool_calls[0]", "null, no call"),
            (r#"["ls"]"#, "ls", "tool_calls[0]", "a text that holds no call"),
        ] {
            let (calls, notes) = read(given);
            assert_eq!(calls.len(), 1, "{given}");
            assert_eq!(calls[0].args, RawArgs::Unparsable(kept.to_owned()));
            assert_eq!(calls[0].tool, None);
            assert_eq!(notes, [(format!("messages[1].{field}"), format!("{what}: {KEPT}"))]);
        }
    }
}
