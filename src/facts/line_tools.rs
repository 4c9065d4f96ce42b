//! Command lines whose first word is a tool of the framework: `str_replace_editor view /p
//! --view_range 10 40`, `edit 3:7` with its text on the lines below.

use serde_json::{Map, Value};

use super::shell::unquote;
use crate::profile::{LineTool, Profile};

/// The tool and the arguments that a line stands for, if it is one.
#[must_use]
pub fn read(profile: &Profile, line: &str) -> Option<(String, Map<String, Value>)> {
    let line = line.trim_start();
    let word = line.split_whitespace().next()?;
    let tool = profile.line_tools.get(word)?;
    let rest = line.get(word.len()..).unwrap_or_default();
    let args = match &tool.block_end {
        Some(end) if is_block(rest, end) => block(rest, end),
        _ => from_words(tool, &split_words(rest)),
    };
    Some((tool.tool.clone(), args))
}

fn is_block(rest: &str, end: &str) -> bool {
    rest.lines().skip(1).any(|l| l.trim() == end)
        || rest.lines().next().is_some_and(|l| l.trim().contains(':') && !l.contains(['"', '\'']))
}

/// `edit 3:7`, its text, its closing word.
fn block(rest: &str, end: &str) -> Map<String, Value> {
    let (first, body) = rest.split_once('\n').unwrap_or((rest, ""));
    let body: Vec<&str> = body.lines().take_while(|l| l.trim() != end).collect();
    let mut args = Map::new();
    if !first.trim().is_empty() {
        args.insert("range".to_owned(), Value::String(first.trim().to_owned()));
    }
    args.insert("body".to_owned(), Value::String(body.join("\n")));
    args
}

fn from_words(tool: &LineTool, words: &[String]) -> Map<String, Value> {
    let mut args = Map::new();
    let mut places = tool.positional.iter();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix("--").filter(|f| !f.is_empty() && !f.contains(' ')) {
            let (flag, value) = match flag.split_once('=') {
                Some((flag, value)) => (flag, Value::String(value.to_owned())),
                None => (flag, flag_value(flag, &mut words)),
            };
            args.insert(flag.to_owned(), value);
        } else if let Some(place) = places.next() {
            args.insert(place.clone(), Value::String(word.clone()));
        }
    }
    args
}

/// The value of a flag: the next word, two numbers for a range.
fn flag_value<'w>(
    flag: &str,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'w String>>,
) -> Value {
    let is_number = |w: &&String| w.parse::<i64>().is_ok();
    let Some(first) = words.next() else {
        return Value::Bool(true);
    };
    if flag.ends_with("range") && first.parse::<i64>().is_ok() {
        let mut range = vec![Value::String(first.clone())];
        if let Some(second) = words.next_if(is_number) {
            range.push(Value::String(second.clone()));
        }
        return Value::Array(range);
    }
    Value::String(first.clone())
}

/// Splits a line into words as a shell would, quotes taken off.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match quote {
            Some('\'') if c == '\'' => quote = None,
            Some('"') if c == '"' => quote = None,
            Some('\'') => {}
            _ if c == '\\' => {
                escaped = true;
                start = start.or(Some(at));
            }
            Some(_) => {}
            None if c.is_whitespace() => {
                if let Some(from) = start.take() {
                    words.push(unquote(text.get(from..at).unwrap_or_default()));
                }
            }
            None => {
                start = start.or(Some(at));
                if matches!(c, '\'' | '"') {
                    quote = Some(c);
                }
            }
        }
    }
    if let Some(from) = start {
        words.push(unquote(text.get(from..).unwrap_or_default()));
    }
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::profile::Profiles;

    fn read_line(line: &str) -> Option<(String, String)> {
        let profiles = Profiles::builtin();
        let (tool, args) = read(profiles.get("swe-agent").unwrap(), line)?;
        Some((tool, Value::Object(args).to_string()))
    }

    #[test]
    fn editor_lines_are_calls() {
        let rows = [
            (
                "str_replace_editor view /p/a.py  --view_range 10 40",
                "str_replace_editor",
                r#"{"command":"view","path":"/p/a.py","view_range":["10","40"]}"#,
            ),
            (
                "str_replace_editor str_replace /p --old_str 'it'\"'\"'s' --new_str 'a\nb'",
                "str_replace_editor",
                r#"{"command":"str_replace","new_str":"a\nb","old_str":"it's","path":"/p"}"#,
            ),
            ("open \"src/a b.py\" 12\n", "open", r#"{"line_number":"12","path":"src/a b.py"}"#),
            ("edit 3:7\n  x\nend_of_edit\n", "edit", r#"{"body":"  x","range":"3:7"}"#),
            ("edit\nx\nend_of_edit", "edit", r#"{"body":"x"}"#),
            ("edit 'a' 'b'", "edit", r#"{"replace":"b","search":"a"}"#),
            ("submit\n", "submit", "{}"),
        ];
        for (line, tool, args) in rows {
            let (t, a) = read_line(line).unwrap();
            let sorted: Map<String, Value> = serde_json::from_str(&a).unwrap();
            let wanted: Map<String, Value> = serde_json::from_str(args).unwrap();
            assert_eq!((t.as_str(), sorted), (tool, wanted), "{line}");
        }
        assert_eq!(read_line("ls -F"), None);
    }
}
