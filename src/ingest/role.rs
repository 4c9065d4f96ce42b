//! Who speaks in a message: one reading for all formats.
//!
//! A role in other letters, or a well-known word for one, is read as what it means, and noted. A message
//! whose role is missing or unknown is left out of its rollout, noted and counted: nobody knows whether
//! the policy spoke.

use super::content;
use super::json::{self, Error, Object};
use super::reader::RecordError;
use crate::rollout::raw::RawRollout;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The instructions.
    System,
    /// The user, or a harness in its place.
    User,
    /// The policy.
    Assistant,
    /// A tool: a result.
    Tool,
    /// The harness says how it ended.
    Exit,
}

/// Fields that may hold the role.
const FIELDS: [&str; 2] = ["role", "from"];

/// What is said where no role can be made out.
const LEFT_OUT: &str =
    "`assistant`, `user`, `tool` or `system` was expected: the message was left out";

impl Role {
    /// The role's usual word.
    const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Exit => "exit",
        }
    }

    /// The role of a word that formats write.
    fn usual(word: &str) -> Option<Self> {
        Some(match word {
            "assistant" | "ai" | "gpt" | "model" => Self::Assistant,
            "tool" | "function" | "observation" | "environment" | "ipython" => Self::Tool,
            "user" | "human" => Self::User,
            "system" | "developer" => Self::System,
            "exit" => Self::Exit,
            _ => return None,
        })
    }

    /// The role of a word in other letters, or of one that no known format writes.
    fn meant(word: &str) -> Option<Self> {
        let plain = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        Self::usual(&plain).or(match &*plain {
            "agent" | "bot" => Some(Self::Assistant),
            "tool_result" | "tool_response" | "tool_output" => Some(Self::Tool),
            _ => None,
        })
    }
}

/// Who speaks in a message, without a word about what is odd.
pub(super) fn plain(message: &Object<'_>) -> Result<Option<Role>, Error> {
    let Some((field, _)) = message.first(&FIELDS) else {
        return Ok(beside_calls(message).map(|(_, role)| role));
    };
    Ok(message.string(field)?.and_then(|word| Role::meant(&word)))
}

/// Who speaks in the message at `place` (the list's name and the position in it). `None` where it is to
/// be left out, which is noted and counted. An error where a rollout stands there.
pub(super) fn of(
    message: &Object<'_>,
    place: (&str, usize),
    raw: &mut RawRollout,
) -> Result<Option<Role>, RecordError> {
    let (list, at) = place;
    content::no_rollout(message).map_err(|error| error.in_list(list, at))?;
    let Some((field, given)) = message.first(&FIELDS) else {
        return Ok(without(message, place, raw));
    };
    let word = message.string(field)?;
    let field = format!("{list}[{at}].{field}");
    let Some(word) = word else {
        let found = json::short(given.get(), 40);
        content::left_out(raw, field, format!("{found} is no role; {LEFT_OUT}"));
        return Ok(None);
    };
    let usual = Role::usual(&word);
    let role = usual.or_else(|| Role::meant(&word));
    let found = json::short(&word, 40);
    match (usual, role) {
        (Some(_), _) => {}
        (None, Some(role)) => {
            raw.notes.push((field, format!("`{found}` was read as `{}`", role.name())));
        }
        (None, None) => {
            content::left_out(raw, field, format!("`{found}` is no known role; {LEFT_OUT}"));
        }
    }
    Ok(role)
}

/// The role of a message that names none: what it holds may tell.
fn without(message: &Object<'_>, place: (&str, usize), raw: &mut RawRollout) -> Option<Role> {
    let (list, at) = place;
    if message.all().next().is_none() {
        content::left_out(raw, format!("{list}[{at}]"), content::empty("message"));
        return None;
    }
    let named = FIELDS.iter().find(|field| message.get(field).is_some());
    let field = format!("{list}[{at}].{}", named.unwrap_or(&"role"));
    let found = if named.is_some() { "`null`" } else { "missing" };
    if let Some((beside, role)) = beside_calls(message) {
        let reason = format!("{found}; read as `{}`, since `{beside}` stands there", role.name());
        raw.notes.push((field, reason));
        return Some(role);
    }
    content::left_out(raw, field, format!("{found}; {LEFT_OUT}"));
    None
}

/// Who makes the calls of a message, or gives the result of one, and the field that says so.
fn beside_calls(message: &Object<'_>) -> Option<(&'static str, Role)> {
    let holds = |field: &&str| {
        message.some(field).is_some_and(|v| !matches!(v.get(), "[]" | "{}" | "\"\""))
    };
    let calls = ["tool_calls", "function_call"].into_iter().find(holds);
    let result = || Some("tool_call_id").filter(holds);
    calls.map(|f| (f, Role::Assistant)).or_else(|| result().map(|f| (f, Role::Tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> (Option<Role>, u32, Vec<(String, String)>) {
        let mut raw = RawRollout::default();
        let role = of(&Object::parse(message).unwrap(), ("messages", 3), &mut raw).unwrap();
        assert_eq!(plain(&Object::parse(message).unwrap()).unwrap(), role, "{message}");
        (role, raw.dropped, raw.notes)
    }

    #[test]
    fn words_that_formats_write_are_nothing_odd() {
        for (word, role) in [
            ("assistant", Role::Assistant),
            ("gpt", Role::Assistant),
            ("ai", Role::Assistant),
            ("model", Role::Assistant),
            ("human", Role::User),
            ("function", Role::Tool),
            ("observation", Role::Tool),
            ("developer", Role::System),
        ] {
            for field in ["role", "from"] {
                let read = read(&format!(r#"{{"{field}":"{word}","content":"x"}}"#));
                assert_eq!(read, (Some(role), 0, vec![]), "{word}");
            }
        }
    }

    #[test]
    fn other_letters_and_words_are_read_and_noted() {
        for (word, role, name) in [
            ("Assistant", Role::Assistant, "assistant"),
            ("ASSISTANT", Role::Assistant, "assistant"),
            (" assistant ", Role::Assistant, "assistant"),
            ("agent", Role::Assistant, "assistant"),
            ("Bot", Role::Assistant, "assistant"),
            ("User", Role::User, "user"),
            ("tool-result", Role::Tool, "tool"),
            ("System", Role::System, "system"),
        ] {
            let note = ("messages[3].role".to_owned(), format!("`{word}` was read as `{name}`"));
            let read = read(&format!(r#"{{"role":"{word}","content":"x"}}"#));
            assert_eq!(read, (Some(role), 0, vec![note]));
        }
    }

    #[test]
    fn messages_of_nobody_are_left_out_and_counted() {
        let role = "messages[3].role";
        for (message, field, begins) in [
            (r#"{"role":"assistnat","content":"x"}"#, role, "`assistnat` is no known role; "),
            (r#"{"from":"critic","value":"x"}"#, "messages[3].from", "`critic` is no known role; "),
            (r#"{"role":5,"content":"x"}"#, role, "5 is no role; "),
            (r#"{"role":null,"content":"x"}"#, role, "`null`; "),
            (r#"{"content":"x","tool_calls":[]}"#, role, "missing; "),
            ("{ }", "messages[3]", "no message: an empty object; left out"),
        ] {
            let (role, dropped, notes) = read(message);
            assert_eq!((role, dropped, notes.len()), (None, 1, 1), "{message}");
            assert_eq!(notes[0].0, field);
            assert!(notes[0].1.starts_with(begins), "{}", notes[0].1);
        }
    }

    #[test]
    fn calls_and_results_tell_who_speaks() {
        for (message, role, reason) in [
            (
                r#"{"tool_calls":[{"name":"a"}]}"#,
                Role::Assistant,
                "missing; read as `assistant`, since `tool_calls` stands there",
            ),
            (
                r#"{"role":null,"tool_call_id":"1","content":"x"}"#,
                Role::Tool,
                "`null`; read as `tool`, since `tool_call_id` stands there",
            ),
        ] {
            let note = ("messages[3].role".to_owned(), reason.to_owned());
            assert_eq!(read(message), (Some(role), 0, vec![note]));
        }
    }
}
