//! The frames that harnesses write around what a command printed, and actions written as XML.
//!
//! Frames are part of a format, so the reader takes the exit code out of them. The text itself stays
//! whole.

use serde_json::{Map, Value};

use super::json::Object;
use super::turns::Reply;
use crate::rollout::StepResult;
use crate::rollout::raw::RawArgs;

/// The exit code of R2E-Gym's `Exit code: …` line, and whether it means that time ran out.
#[must_use]
pub fn r2e_exit(observation: &str) -> (Option<i64>, Option<StepResult>) {
    let Some(rest) = observation.strip_prefix("Exit code:") else { return (None, None) };
    let line = rest.lines().next().unwrap_or_default().trim();
    let digits = line.strip_prefix("Error: Exit code").unwrap_or(line).trim();
    match digits.parse() {
        // The sandbox gives -1 when its time limit ends the command.
        Ok(-1) => (Some(-1), Some(StepResult::Timeout)),
        Ok(code) => (Some(code), None),
        Err(_) => (None, None),
    }
}

/// A tool result with its frame read: `<returncode>…</returncode>`, or a JSON object with
/// `output` and `exit_code`. Any other text passes as it is.
#[must_use]
pub fn framed(text: String) -> Reply {
    let mut reply = Reply { exit_code: returncode(&text), ..Reply::default() };
    if reply.exit_code.is_none()
        && text.starts_with('{')
        && let Ok(object) = Object::parse(text.trim_end())
        && object.get("output").is_some()
        && let Some(code) = object.get("exit_code")
    {
        reply.exit_code = code.get().parse().ok();
        let failed = object.some("error").is_some_and(|e| e.get() != "\"\"");
        reply.is_error = failed.then_some(true);
    }
    reply.text = text;
    reply
}

fn returncode(text: &str) -> Option<i64> {
    let inner = text.trim_start().strip_prefix("<returncode>")?;
    inner.split("</returncode>").next()?.trim().parse().ok()
}

/// An action written as `<function=NAME><parameter=KEY>VALUE</parameter>…</function>`.
#[derive(Debug, PartialEq)]
pub struct XmlCall {
    /// Text before the call.
    pub before: String,
    /// Tool name; `None` in an empty call.
    pub tool: Option<String>,
    /// Parameters: texts, stripped, never read as JSON.
    pub args: RawArgs,
}

/// Reads the first call in `text`; `None` when there is none.
#[must_use]
pub fn xml_call(text: &str) -> Option<XmlCall> {
    let (at, body) = open_tag(text, "<function")?;
    let (name, mut rest) = body.split_once('>').unwrap_or((body, ""));
    if let Some((inside, _)) = rest.split_once("</function>")
        // A value may quote the closing tag; then the last parameter decides.
        && inside.matches("<parameter").count() == inside.matches("</parameter>").count()
    {
        rest = inside;
    }
    let mut args = Map::new();
    while let Some((_, body)) = open_tag(rest, "<parameter") {
        let Some((key, after)) = body.split_once('>') else { break };
        let Some((value, after)) = after.split_once("</parameter>") else { break };
        args.insert(key.trim().to_owned(), Value::String(value.trim().to_owned()));
        rest = after;
    }
    Some(XmlCall {
        before: text.get(..at).unwrap_or_default().trim().to_owned(),
        tool: Some(name.trim().to_owned()).filter(|n| !n.is_empty()),
        args: RawArgs::Object(args),
    })
}

/// Where `<tag = ` starts, and what follows the equals sign.
fn open_tag<'a>(text: &'a str, tag: &str) -> Option<(usize, &'a str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(tag)?;
        let after = text.get(at + tag.len()..)?;
        if let Some(body) = after.trim_start().strip_prefix('=') {
            return Some((at, body));
        }
        from = at + tag.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_of_r2e() {
        assert_eq!(r2e_exit("Exit code: 0\nout"), (Some(0), None));
        assert_eq!(r2e_exit("Exit code: Error: Exit code 1\nout"), (Some(1), None));
        assert_eq!(r2e_exit("Exit code: -1\n"), (Some(-1), Some(StepResult::Timeout)));
        assert_eq!(r2e_exit("Execution output of [search]:\n"), (None, None));
    }

    #[test]
    fn frames_give_codes_and_keep_the_text() {
        let text = r#"{"output": "x", "exit_code": 2, "error": null}"#;
        let got = framed(text.into());
        assert_eq!((got.exit_code, got.is_error, &*got.text), (Some(2), None, text));
        assert_eq!(framed("<returncode>127</returncode>\n<output>".into()).exit_code, Some(127));
        assert_eq!(framed(r#"{"content": "x"}"#.into()).exit_code, None);
    }

    #[test]
    fn actions_in_xml() {
        let call = xml_call(
            "look first <function=file_editor>\n  <parameter=command>view</parameter>\n  <parameter=view_range>[1, 50]</parameter>\n  <parameter = path > /a b.py\n</parameter>\n</function>",
        )
        .unwrap();
        assert_eq!(call.before, "look first");
        assert_eq!(call.tool.as_deref(), Some("file_editor"));
        let want =
            serde_json::json!({"command": "view", "view_range": "[1, 50]", "path": "/a b.py"});
        assert_eq!(call.args, RawArgs::Object(want.as_object().unwrap().clone()));
        assert_eq!(xml_call("<function=>\n</function>").unwrap().tool, None);
        assert_eq!(xml_call("no call"), None);
    }
}
