//! Content of messages that is neither text nor a list of parts: it is read as the JSON that stands
//! there, and that is noted.

use serde_json::value::RawValue;

use super::json::{self, Object};
use crate::rollout::raw::RawRollout;

/// Notes what is odd about the content of the message at `place` (the list's name and the position in it):
/// the first of `fields` that holds something.
pub fn note(
    raw: &mut RawRollout,
    place: (&str, usize),
    message: &Object<'_>,
    fields: &[&'static str],
) {
    let Some((field, content)) = message.first(fields) else { return };
    if let Some(what) = odd(content) {
        let (list, at) = place;
        raw.notes.push((format!("{list}[{at}].{field}"), what.to_owned()));
    }
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
