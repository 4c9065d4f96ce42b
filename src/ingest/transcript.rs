//! Flat transcripts: what is left of a conversation once a tokenizer has dropped its special tokens.
//!
//! Role words stand alone on their lines, calls between `<tool_call>` tags, results between
//! `<tool_response>` or `<information>` tags. A role word inside a result is text of the result: a
//! folder may be called `user`.

use std::borrow::Cow;

use super::calls;
use super::frames;
use super::json::Object;
use super::reader::{digest, digest64, short_digest};
use super::turns::{Call, Reply, Turns};
use crate::rollout::raw::RawArgs;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The instructions before everything.
    System,
    /// The user, or the environment in its place.
    User,
    /// The policy.
    Assistant,
    /// A tool.
    Tool,
}

/// What one role says, without the line break before the next role word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: &'a str,
}

const CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
const RESPONSE: (&str, &str) = ("<tool_response>", "</tool_response>");
const INFORMATION: (&str, &str) = ("<information>", "</information>");

/// The role that a line names.
fn role_of(line: &str) -> Option<Role> {
    match line.trim_end_matches(['\r', '\n']) {
        "system" => Some(Role::System),
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "tool" => Some(Role::Tool),
        _ => None,
    }
}

/// Whether `next` may speak after `now`: a line that names any other role is text.
const fn may_follow(now: Role, next: Role) -> bool {
    match now {
        Role::System => matches!(next, Role::User | Role::Assistant),
        Role::User => matches!(next, Role::Assistant | Role::Tool),
        Role::Assistant => matches!(next, Role::User | Role::Tool),
        Role::Tool => !matches!(next, Role::System),
    }
}

/// The sections of a transcript that begins with `first`, or with a role word of its own.
#[must_use]
pub fn sections(text: &str, first: Role) -> Vec<Section<'_>> {
    let mut found = Vec::new();
    let last = text.rfind("\nassistant").map_or(0, |at| at + 1);
    let (mut role, mut start, mut at) = (first, 0, 0);
    // The end of the result that the lines stand in.
    let mut inside: usize = 0;
    for line in text.split_inclusive('\n') {
        let (begin, end) = (at, at + line.len());
        at = end;
        if begin < inside {
            continue;
        }
        if let Some(next) = role_of(line)
            && (begin == 0
                || may_follow(role, next)
                    && (role != Role::Assistant || answered(text, begin, end, last)))
            && line.ends_with('\n')
        {
            if begin > 0 {
                found.push(Section { role, text: chomp(text.get(start..begin)) });
            }
            (role, start) = (next, end);
            continue;
        }
        // Without a line break between a message and the next role word.
        if role == Role::Assistant
            && let Some(before) = line.trim_end().strip_suffix("user")
            && before.ends_with('>')
            && text.get(end..).is_some_and(|rest| rest.starts_with(RESPONSE.0))
        {
            found.push(Section { role, text: chomp(text.get(start..begin + before.len())) });
            (role, start) = (Role::User, end);
            continue;
        }
        let lead = line.trim_start();
        for tags in [RESPONSE, INFORMATION] {
            if lead.starts_with(tags.0) {
                let open = begin + (line.len() - lead.len()) + tags.0.len();
                inside = close(text, open, tags.1).map_or(text.len(), |at| at + tags.1.len());
            }
        }
    }
    found.push(Section { role, text: chomp(text.get(start..)) });
    found
}

/// Whether a role word between these places ends what a policy said: it follows a call, a result
/// follows it, or the policy speaks again at `last`. Else it is a word of an answer, say in a list.
fn answered(text: &str, begin: usize, end: usize, last: usize) -> bool {
    let before = text.get(..begin).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    before.trim_end().ends_with(CALL.1) || after.starts_with(RESPONSE.0) || begin < last
}

/// Without the line break at its end.
fn chomp(text: Option<&str>) -> &str {
    let text = text.unwrap_or_default();
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// Where the closing tag of a result is. A result may quote the tag: the one counts that a result, a
/// role word or the end of the text follows, and where there is none the first.
fn close(text: &str, from: usize, tag: &str) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut first = None;
    for (at, _) in rest.match_indices(tag) {
        first = first.or(Some(from + at));
        let after = rest.get(at + tag.len()..).unwrap_or_default().trim_start();
        let line = after.split('\n').next().unwrap_or_default();
        if after.is_empty() || after.starts_with('<') || role_of(line).is_some() {
            return Some(from + at);
        }
    }
    first
}

/// The transcript without special tokens, where a tokenizer left them in.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains("<|") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<|") {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        if let Some((token, after)) = special(rest) {
            // A role word has its line for itself.
            if matches!(token, "<|im_start|>" | "<|start_header_id|>")
                && !out.is_empty()
                && !out.ends_with('\n')
            {
                out.push('\n');
            }
            rest = after;
            if token == "<|end_header_id|>" {
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            }
        } else {
            out.push_str("<|");
            rest = rest.get(2..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The special token at the beginning of a text, and what follows it.
fn special(text: &str) -> Option<(&'static str, &str)> {
    const TOKENS: [&str; 7] = [
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|begin_of_text|>",
        "<|start_header_id|>",
        "<|end_header_id|>",
        "<|eot_id|>",
    ];
    TOKENS.into_iter().find_map(|token| text.strip_prefix(token).map(|rest| (token, rest)))
}

/// Reads what a policy and its environment said into turns. The transcript begins with the policy.
pub fn read_into(text: &str, turns: &mut Turns) {
    let text = &*plain(text);
    let all = sections(text, Role::Assistant);
    let last = all.len().saturating_sub(1);
    for (at, section) in all.into_iter().enumerate() {
        match section.role {
            Role::Assistant if at == last && at > 0 && section.text.trim().is_empty() => {}
            Role::Assistant => read_assistant(section.text, turns),
            Role::Tool => turns.gets(None, frames::framed(section.text.to_owned())),
            Role::User => read_user(section.text, turns),
            Role::System => {}
        }
    }
}

fn read_assistant(text: &str, turns: &mut Turns) {
    let mut rest = text;
    let mut acted = false;
    while let Some((at, tags)) = next_tag(rest) {
        let before = rest.get(..at).unwrap_or_default().trim();
        let from = at + tags.0.len();
        let end = if tags == CALL {
            rest.get(from..).and_then(|r| r.find(tags.1)).map(|n| from + n)
        } else {
            close(rest, from, tags.1)
        };
        let inner = rest.get(from..end.unwrap_or(rest.len())).unwrap_or_default();
        rest = end.and_then(|end| rest.get(end + tags.1.len()..)).unwrap_or_default();
        if !before.is_empty() {
            turns.says(before);
        }
        if tags == CALL {
            turns.calls(call(inner, end.is_some()));
        } else if acted || !before.is_empty() {
            turns.gets(None, Reply::from(strip_frame(inner).to_owned()));
        }
        acted = true;
    }
    let tail = rest.trim();
    if acted {
        if !tail.is_empty() {
            turns.says(tail);
        }
        return;
    }
    match frames::xml_call(tail) {
        Some(call) => {
            if !call.before.is_empty() {
                turns.says(&call.before);
            }
            turns.calls(Call { tool: call.tool, args: call.args, id: None });
        }
        None => turns.says(tail),
    }
}

/// The first tag that an assistant's text may hold: a call, or a result that was put between.
fn next_tag(text: &str) -> Option<(usize, (&'static str, &'static str))> {
    [CALL, RESPONSE, INFORMATION]
        .into_iter()
        .filter_map(|tags| text.find(tags.0).map(|at| (at, tags)))
        .min_by_key(|(at, _)| *at)
}

fn read_user(text: &str, turns: &mut Turns) {
    let mut rest = text;
    let mut results = false;
    while let Some(at) = rest.find(RESPONSE.0) {
        let before = rest.get(..at).unwrap_or_default().trim();
        let from = at + RESPONSE.0.len();
        let end = close(rest, from, RESPONSE.1);
        let inner = rest.get(from..end.unwrap_or(rest.len())).unwrap_or_default();
        if !before.is_empty() {
            turns.hears(before);
        }
        turns.gets(None, frames::framed(strip_frame(inner).to_owned()));
        results = true;
        rest = end.and_then(|end| rest.get(end + RESPONSE.1.len()..)).unwrap_or_default();
    }
    let tail = if results { rest.trim() } else { rest };
    if !results || !tail.is_empty() {
        turns.hears(tail);
    }
}

/// Without the line breaks that chat templates put around a result.
fn strip_frame(text: &str) -> &str {
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.strip_suffix('\n').unwrap_or(text)
}

/// A call between its tags: JSON, or XML; whatever else stands there is a call that cannot be parsed.
fn call(text: &str, closed: bool) -> Call {
    let text = text.trim();
    let broken = || Call { args: RawArgs::Unparsable(text.to_owned()), ..Call::default() };
    if !closed {
        return broken();
    }
    if let Ok(object) = Object::parse(text) {
        return calls::call_of(&object).unwrap_or_else(|_| broken());
    }
    match frames::xml_call(text) {
        Some(call) => Call { tool: call.tool, args: call.args, id: None },
        None => broken(),
    }
}

/// The task of rollouts that name none: equal prompts are attempts at one task.
#[must_use]
pub fn prompt_task(prompt: &str) -> String {
    format!("prompt{}", short_digest(digest64(&digest(prompt.as_bytes()))))
}

/// What the user said last in a prompt.
#[must_use]
pub fn last_user(prompt: &str) -> Option<String> {
    let prompt = &*plain(prompt);
    let all = sections(prompt, Role::User);
    all.iter().rev().find(|s| s.role == Role::User).map(|s| s.text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::{RawKind, RawRollout, RawStep};

    fn read(text: &str) -> Vec<RawStep> {
        let mut turns = Turns::with_harness();
        read_into(text, &mut turns);
        let mut raw = RawRollout::default();
        turns.finish(&mut raw);
        raw.steps
    }

    #[test]
    fn a_tool_conversation() {
        let steps = read(
            "look\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"/\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"pwd\", \"arguments\": \"{}\"}\n</tool_call>\nuser\n<tool_response>\nuser\nassistant\ntool\n</tool_response>\n<tool_response>\n/\n</tool_response>\nassistant\ndone",
        );
        let [ls, pwd, done] = &steps[..] else { panic!("three steps: {steps:?}") };
        assert_eq!((ls.tool.as_deref(), &*ls.thought), (Some("ls"), "look"));
        assert_eq!(ls.observation.as_deref(), Some("user\nassistant\ntool"));
        assert_eq!((pwd.observation.as_deref(), pwd.turn), (Some("/"), 0));
        assert_eq!((done.kind, &*done.thought, done.turn), (RawKind::Text, "done", 1));
    }

    #[test]
    fn a_result_may_quote_its_closing_tag_and_a_cut_one_runs_to_the_end() {
        let steps = read(
            "<tool_call>\n{\"name\": \"cat\"}\n</tool_call>user\n<tool_response>\na </tool_response> b\n</tool_response>\nassistant\n<tool_call>\n{\"name\": \"cat\"}\n</tool_call>\nuser\n<tool_response>\ncut here\nassistant\n",
        );
        assert_eq!(steps.len(), 2, "{steps:?}");
        assert_eq!(steps[0].observation.as_deref(), Some("a </tool_response> b"));
        assert_eq!(steps[1].observation.as_deref(), Some("cut here\nassistant"));
    }

    #[test]
    fn searches_in_words() {
        let steps = read(
            "<think>hm</think>\n<search> who </search>\n\n<information>Doc 1: x\nuser\ny</information>\n\n<think>so</think>\n<answer> x </answer>",
        );
        let [search, answer] = &steps[..] else { panic!("two steps: {steps:?}") };
        assert_eq!(search.kind, RawKind::Text);
        assert_eq!(search.thought, "<think>hm</think>\n<search> who </search>");
        assert_eq!(search.observation.as_deref(), Some("Doc 1: x\nuser\ny"));
        assert_eq!((&*answer.thought, answer.turn), ("<think>so</think>\n<answer> x </answer>", 1));
    }

    #[test]
    fn special_tokens_that_were_left_in() {
        let steps = read(
            "look\n<tool_call>\n{\"name\": \"ls\"}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\na <| b\n</tool_response><|im_end|>\n<|im_start|>assistant\ndone<|im_end|>",
        );
        let [ls, done] = &steps[..] else { panic!("two steps: {steps:?}") };
        assert_eq!((ls.observation.as_deref(), &*done.thought), (Some("a <| b"), "done"));
        let prompt = "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nx<|eot_id|><|start_header_id|>user<|end_header_id|>\n\ngo<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
        assert_eq!(last_user(prompt).as_deref(), Some("go"));
    }

    #[test]
    fn a_role_word_in_an_answer_is_text() {
        let steps = read("The roles are:\nuser\ntool\nand no other.");
        assert_eq!((steps.len(), steps[0].observation.as_deref()), (1, None));
        let steps = read("What next?\nuser\ngo on\nassistant\nDone.");
        assert_eq!((steps.len(), steps[0].observation.as_deref()), (2, Some("go on")));
    }

    #[test]
    fn broken_calls_stay_calls() {
        for (text, raw) in [
            ("<tool_call>\n{\"name\": \"ls\", \n</tool_call>", "{\"name\": \"ls\","),
            ("<tool_call>\n{\"name\": \"ls\"}", "{\"name\": \"ls\"}"),
        ] {
            let steps = read(text);
            assert_eq!((steps.len(), steps[0].kind), (1, RawKind::Call), "{text}");
            assert_eq!(steps[0].args, RawArgs::Unparsable(raw.to_owned()));
        }
        let xml = read(
            "<tool_call>\n<function=ls>\n<parameter=path>/</parameter>\n</function>\n</tool_call>",
        );
        assert_eq!(xml[0].tool.as_deref(), Some("ls"));
    }

    #[test]
    fn tools_without_tags_and_prompts() {
        let steps = read("<tool_call>{\"name\":\"a\"}</tool_call>\ntool\nA\ntool\nB\nassistant\n");
        assert_eq!((steps.len(), steps[0].observation.as_deref()), (1, Some("A\nB")));
        assert_eq!(last_user("system\nx\nuser\ndo it\nassistant\n").as_deref(), Some("do it"));
        assert_eq!(last_user("plain").as_deref(), Some("plain"));
        assert_eq!(prompt_task("a"), prompt_task("a"));
    }
}
