//! The text of a step as lines to read: thought, call, result. An edit is shown as a difference.
//!
//! Cleans every string, wraps to a width, cuts nothing. Where the text comes from is behind
//! [`TextSource`]; no file is opened here but by [`crate::load::Sources`], which is one.

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::export::text;
use crate::rollout::Group;
use crate::rollout::raw::{RawArgs, RawKind, RawStep};

/// Where the text of a step comes from.
pub trait TextSource: Send + Sync {
    /// The text of a step, or why there is none: a message for a person.
    fn step_text(&self, group: &Group, rollout: usize, step: usize) -> Result<RawStep, String>;

    /// The texts of all steps of a rollout, in order.
    fn rollout_text(&self, group: &Group, rollout: usize) -> Result<Vec<RawStep>, String> {
        let steps = group.rollouts.get(rollout).map_or(0, |r| r.steps.len());
        (0..steps).map(|step| self.step_text(group, rollout, step)).collect()
    }
}

/// A source for groups that have no text.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoText;

impl TextSource for NoText {
    fn step_text(&self, _: &Group, _: usize, _: usize) -> Result<RawStep, String> {
        Err("this group was made without text".to_owned())
    }
}

impl TextSource for crate::load::Sources {
    fn step_text(&self, group: &Group, rollout: usize, step: usize) -> Result<RawStep, String> {
        Self::step_text(self, group, rollout, step)
            .map(|text| text.raw)
            .map_err(|error| error.to_string())
    }

    fn rollout_text(&self, group: &Group, rollout: usize) -> Result<Vec<RawStep>, String> {
        Self::rollout_text(self, group, rollout)
            .map(|texts| texts.into_iter().map(|t| t.raw).collect())
            .map_err(|error| error.to_string())
    }
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Text.
    Plain,
    /// The name of an argument or a remark.
    Dim,
    /// A line put in.
    Added,
    /// A line taken out.
    Removed,
}

/// A part of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// `thought`, `call` or `result`.
    pub name: &'static str,
    /// Its lines, clean, as long as they are.
    pub lines: Vec<(LineKind, String)>,
}

impl Section {
    /// Its size in bytes, from a line on.
    #[must_use]
    pub fn bytes_from(&self, line: usize) -> usize {
        self.lines.iter().skip(line).map(|(_, l)| l.len() + 1).sum()
    }
}

/// The text of a step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Its parts that are not empty.
    pub sections: Vec<Section>,
    /// The call in a few words: tool and short arguments.
    pub call: String,
    /// Lines taken out and put in, where the call is an edit.
    pub edit: Option<(usize, usize)>,
    /// Whether control characters are shown.
    pub controls: bool,
}

/// A line at a width: which section and line, and the part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// Name of the section, at its first line only.
    pub name: &'static str,
    /// What it is.
    pub kind: LineKind,
    /// The text.
    pub text: String,
}

/// Pairs of argument names that hold the text taken out and the text put in.
const EDITS: &[(&str, &str)] = &[
    ("old_str", "new_str"),
    ("old_string", "new_string"),
    ("old_text", "new_text"),
    ("search", "replace"),
];

impl Document {
    /// Lays out a step; control characters are left out.
    #[must_use]
    pub fn new(step: &RawStep) -> Self {
        Self::with(step, false)
    }

    /// Lays out a step; `controls` shows control characters in visible forms.
    #[must_use]
    pub fn with(step: &RawStep, controls: bool) -> Self {
        let mut document = Self { controls, ..Self::default() };
        if !step.thought.trim().is_empty() {
            document.add("thought", block(&step.thought, controls));
        }
        if step.kind == RawKind::Call {
            let call = document.call_lines(step);
            document.add("call", call);
        }
        match &step.observation {
            Some(seen) if seen.is_empty() => {
                document.add("result", vec![(LineKind::Dim, "(empty)".to_owned())]);
            }
            Some(seen) => document.add("result", block(seen, controls)),
            None if step.kind == RawKind::Call => document.add(
                "result",
                vec![(LineKind::Dim, "(the file has no result for this call)".to_owned())],
            ),
            None => {}
        }
        if step.kind == RawKind::Opaque {
            let mut lines = Vec::new();
            for (name, value) in [("state", &step.state), ("action", &step.action)] {
                if let Some(value) = value {
                    lines.push((LineKind::Plain, format!("{name}: {}", text::line(value))));
                }
            }
            document.add("logged", lines);
        }
        document
    }

    /// All of it as plain text, for a program outside.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            out.push_str(section.name);
            out.push('\n');
            for (_, line) in &section.lines {
                out.push_str("  ");
                out.push_str(line);
                out.push('\n');
            }
            out.push('\n');
        }
        out
    }

    fn add(&mut self, name: &'static str, lines: Vec<(LineKind, String)>) {
        if !lines.is_empty() {
            self.sections.push(Section { name, lines });
        }
    }

    fn call_lines(&mut self, step: &RawStep) -> Vec<(LineKind, String)> {
        let tool = text::line(step.tool.as_deref().unwrap_or("(no tool)")).into_owned();
        let mut lines = vec![(LineKind::Plain, tool.clone())];
        let mut brief = vec![tool];
        match &step.args {
            RawArgs::Unparsable(raw) => {
                lines.push((LineKind::Dim, "arguments that are no object:".to_owned()));
                lines.extend(block(raw, self.controls));
            }
            RawArgs::Object(map) => {
                let edit = EDITS.iter().find_map(|(old, new)| {
                    let old_text = map.get(*old)?.as_str()?;
                    let new_text = map.get(*new)?.as_str()?;
                    (!old_text.is_empty() || !new_text.is_empty())
                        .then_some((*old, *new, old_text, new_text))
                });
                for (name, value) in map {
                    if edit.is_some_and(|(old, new, ..)| name == old || name == new) {
                        continue;
                    }
                    if let Value::String(short) = value
                        && !short.contains('\n')
                        && text::width(short) <= 60
                    {
                        brief.push(short_path(&text::line(short)));
                    }
                    argument(name, value, self.controls, &mut lines);
                }
                if let Some((_, _, old, new)) = edit {
                    let (removed, added) = (block(old, self.controls), block(new, self.controls));
                    self.edit = Some((removed.len(), added.len()));
                    let mark = |list: Vec<(LineKind, String)>, kind, sign: &'static str| {
                        list.into_iter().map(move |(_, l)| (kind, format!("{sign} {l}")))
                    };
                    lines.extend(mark(removed, LineKind::Removed, "−"));
                    lines.extend(mark(added, LineKind::Added, "+"));
                }
            }
        }
        self.call = brief.join(" ");
        lines
    }

    /// All lines at a width: wrapped, none left out.
    #[must_use]
    pub fn wrap(&self, width: usize) -> Vec<Wrapped> {
        let mut out = Vec::new();
        for section in &self.sections {
            let mut name = section.name;
            for (kind, line) in &section.lines {
                for part in wrap_line(line, width.max(4)) {
                    out.push(Wrapped { name: std::mem::take(&mut name), kind: *kind, text: part });
                }
            }
        }
        out
    }
}

/// Where the lines that hold a pattern start, at a width: see [`Document::wrap`].
#[must_use]
pub fn lines_with(document: &Document, pattern: &regex::Regex, width: usize) -> Vec<usize> {
    let mut at = 0;
    let mut found = Vec::new();
    for (_, line) in document.sections.iter().flat_map(|s| &s.lines) {
        let parts = wrap_line(line, width.max(4));
        if pattern.is_match(line) {
            found.push(at + parts.iter().position(|p| pattern.is_match(p)).unwrap_or(0));
        }
        at += parts.len();
    }
    found
}

fn short_path(text: &str) -> String {
    match text.rsplit_once('/') {
        Some((_, last)) if text.starts_with('/') && !last.is_empty() => last.to_owned(),
        _ => text.to_owned(),
    }
}

fn argument(name: &str, value: &Value, controls: bool, lines: &mut Vec<(LineKind, String)>) {
    let name = text::line(name).into_owned();
    match value {
        Value::String(long) if long.contains('\n') => {
            lines.push((LineKind::Dim, format!("{name}:")));
            lines.extend(block(long, controls).into_iter().map(|(k, l)| (k, format!("  {l}"))));
        }
        Value::String(short) => {
            let shown = if controls { text::visible(short) } else { text::line(short) };
            lines.push((LineKind::Plain, format!("{name}: {shown}")));
        }
        Value::Object(_) | Value::Array(_) => {
            let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
            if pretty.lines().count() <= 1 {
                lines.push((LineKind::Plain, format!("{name}: {}", text::line(&pretty))));
            } else {
                lines.push((LineKind::Dim, format!("{name}:")));
                lines.extend(
                    block(&pretty, controls).into_iter().map(|(k, l)| (k, format!("  {l}"))),
                );
            }
        }
        other => lines.push((LineKind::Plain, format!("{name}: {other}"))),
    }
}

/// A text as clean lines; one line end at the end is no line of its own.
fn block(raw: &str, controls: bool) -> Vec<(LineKind, String)> {
    let raw = raw.strip_suffix('\n').unwrap_or(raw);
    if controls {
        // Everything is shown: also what a carriage return overwrites.
        raw.split('\n').map(|l| (LineKind::Plain, text::visible(l).into_owned())).collect()
    } else {
        text::lines(raw).map(|l| (LineKind::Plain, l.into_owned())).collect()
    }
}

/// A line in parts of at most `width` cells, broken at blanks where there are any.
fn wrap_line(line: &str, width: usize) -> Vec<String> {
    if text::width(line) <= width {
        return vec![line.to_owned()];
    }
    let mut parts = Vec::new();
    let (mut part, mut used) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let cells = text::width(word.trim_end_matches(' '));
        if used > 0 && used + cells > width {
            parts.push(std::mem::take(&mut part));
            used = 0;
        }
        for grapheme in word.graphemes(true) {
            let cells = text::width(grapheme);
            if used + cells > width {
                parts.push(std::mem::take(&mut part));
                used = 0;
                if grapheme == " " {
                    continue;
                }
            }
            part.push_str(grapheme);
            used += cells;
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(args: &Value) -> RawStep {
        RawStep {
            thought: "look\nthere".to_owned(),
            tool: Some("edit".to_owned()),
            args: RawArgs::Object(args.as_object().cloned().unwrap_or_default()),
            observation: Some("a\u{1b}[31mb\n".to_owned()),
            ..RawStep::default()
        }
    }

    #[test]
    fn an_edit_is_a_difference_and_everything_is_clean() {
        let step = call(&serde_json::json!({
            "path": "/w/a.py", "old_str": "x\ny", "new_str": "z"
        }));
        let document = Document::new(&step);
        let names: Vec<&str> = document.sections.iter().map(|s| s.name).collect();
        assert_eq!(names, ["thought", "call", "result"]);
        assert_eq!(document.edit, Some((2, 1)));
        assert_eq!(document.call, "edit a.py");
        let call = &document.sections[1].lines;
        assert_eq!(call[1].1, "path: /w/a.py");
        assert_eq!(call[2], (LineKind::Removed, "− x".to_owned()));
        assert_eq!(call[4], (LineKind::Added, "+ z".to_owned()));
        assert_eq!(document.sections[2].lines, [(LineKind::Plain, "ab".to_owned())]);
    }

    #[test]
    fn wrapping_keeps_every_character() {
        let line = "one two threeeeeeeeeeeeee four 文件名 five";
        let parts = wrap_line(line, 8);
        assert!(parts.iter().all(|p| text::width(p.trim_end()) <= 8), "{parts:?}");
        let squeeze = |s: &str| s.replace(' ', "");
        assert_eq!(squeeze(&parts.concat()), squeeze(line));
    }
}
