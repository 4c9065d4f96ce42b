//! What is odd about messages: content that is neither text nor a list of parts is read as the JSON that
//! stands there, of a repeated key the last one counts, and both are noted. What cannot be a message
//! costs its rollout: where a bracket is missing, the rollouts behind it seem to be messages.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::json::{self, Error, Object};
use super::native::REPEATED;
use super::reader::RecordError;
use crate::rollout::raw::RawRollout;

/// Lists that rollouts have and neither their messages nor their steps.
const OF_ROLLOUTS: [&str; 3] = ["messages", "steps", "trajectory"];

/// Notes what is odd about the message at `place` (the list's name and the position in it); its content is
/// the first of `fields` that holds something. An error where a rollout stands there.
pub fn note(
    raw: &mut RawRollout,
    place: (&str, usize),
    message: &Object<'_>,
    fields: &[&'static str],
) -> Result<(), RecordError> {
    let (list, at) = place;
    no_rollout(message).map_err(|error| error.in_list(list, at))?;
    for key in message.repeated() {
        raw.notes.push((format!("{list}[{at}].{key}"), REPEATED.to_owned()));
    }
    let Some((field, content)) = message.first(fields) else { return Ok(()) };
    if let Some(what) = odd(content) {
        raw.notes.push((format!("{list}[{at}].{field}"), what.to_owned()));
    }
    Ok(())
}

/// Leaves a message, step or event out of its rollout: noted under `field`, and counted.
pub fn left_out(raw: &mut RawRollout, field: String, reason: String) {
    raw.dropped += 1;
    raw.notes.push((field, reason));
}

/// What is said of an entry of a list that is none of what stands there (`what`: a message, a step, an
/// event): no object, or one that says nothing.
#[must_use]
pub fn no_entry(entry: &RawValue, what: &str) -> Option<String> {
    let inner = entry.get().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match inner {
        None => Some(format!("no {what}: an object was expected; left out")),
        Some(inner) => inner.trim().is_empty().then(|| empty(what)),
    }
}

/// What is said of an entry that is an empty object.
#[must_use]
pub fn empty(what: &str) -> String {
    format!("no {what}: an empty object; left out")
}

/// The text of a value (that of a message, or what came back), for formats whose entries are no messages:
/// what is odd about it is noted under `field`, at the `place` that stands before it.
pub fn read<'a>(
    notes: &mut Vec<(String, String)>,
    place: fmt::Arguments<'_>,
    field: &str,
    value: Option<&'a RawValue>,
) -> Result<Option<Cow<'a, str>>, Error> {
    let Some(value) = value else { return Ok(None) };
    tell(notes, place, field, value);
    json::content(value)
}

/// Notes what is odd about a value.
pub fn tell(
    notes: &mut Vec<(String, String)>,
    place: fmt::Arguments<'_>,
    field: &str,
    value: &RawValue,
) {
    notes.extend(odd(value).map(|what| (format!("{place}{field}"), what.to_owned())));
}

/// An error where an entry of a list of messages or steps is a rollout with such a list of its own.
pub fn no_rollout(entry: &Object<'_>) -> Result<(), RecordError> {
    let list = |key: &&str| entry.some(key).is_some_and(json::is_array);
    OF_ROLLOUTS.iter().find(|key| list(key)).map_or(Ok(()), |key| {
        let reason = format!(
            "a rollout with `{key}` of its own stands among those of another one: a bracket is missing \
             before it"
        );
        Err(RecordError::unexpected(None, reason).to_mend())
    })
}

/// An error where a call that has nothing to call is a message: it has a role.
pub fn no_message(call: &Object<'_>) -> Result<(), RecordError> {
    if call.some("role").is_none()
        || call.first(&["name", "function", "tool", "function_name"]).is_some()
    {
        return Ok(());
    }
    let reason = "a message stands among the calls: a bracket is missing before it";
    Err(RecordError::unexpected(Some("tool_calls"), reason).to_mend())
}

/// What a content is that is neither a text nor a list of texts and parts.
#[must_use]
pub fn odd(content: &RawValue) -> Option<&'static str> {
    match content.get().as_bytes().first() {
        Some(b'"' | b'n') | None => None,
        Some(b'{') => Some("an object, not a text: read as its JSON"),
        Some(b't' | b'f') => Some("a truth value, not a text: read as its JSON"),
        Some(b'[') => json::elements(content).ok()?.into_iter().find_map(part),
        Some(_) => Some("a number, not a text: read as its JSON"),
    }
}

/// The same for a part of a list.
fn part(part: &RawValue) -> Option<&'static str> {
    match part.get().as_bytes().first() {
        Some(b'"' | b'n' | b'[') | None => None,
        Some(b'{') => {
            // A part says what it is, or has a text.
            let known = ["\"type\"", "\"text\"", "\"content\"", "\"thinking\"", "\"reasoning\""];
            let bare = !known.iter().any(|key| part.get().contains(key));
            bare.then_some("a part without a type and a text: left out")
        }
        Some(_) => Some("a part that is no text: read as its JSON"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<&'static str> {
        odd(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn texts_and_lists_of_parts_are_usual() {
        for usual in [
            r#""42""#,
            "null",
            "[]",
            r#"["a"]"#,
            r#"[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]"#,
            r#"[{"text":"a"}]"#,
        ] {
            assert_eq!(told(usual), None, "{usual}");
        }
    }

    #[test]
    fn everything_else_is_told() {
        for (odd, word) in [
            ("42", "a number"),
            ("-1.5", "a number"),
            ("true", "a truth value"),
            (r#"{"x":1}"#, "an object"),
            ("[42]", "a part that is no text"),
            (r#"["a",{"x":1}]"#, "left out"),
        ] {
            assert!(told(odd).is_some_and(|t| t.contains(word)), "{odd}");
        }
    }
}
