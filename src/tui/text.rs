//! The text of a step as lines to read: thought, call, result. An edit is shown as a difference.
//!
//! Cleans every string, wraps to a width, cuts nothing. Where the text comes from is behind
//! [`TextSource`]; no file is opened here but by [`crate::load::Sources`], which is one.

use std::borrow::Cow;

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use super::difference::{self, Edit, Part};
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
            .map_err(|error| on_screen(&error))
    }

    fn rollout_text(&self, group: &Group, rollout: usize) -> Result<Vec<RawStep>, String> {
        Self::rollout_text(self, group, rollout)
            .map(|texts| texts.into_iter().map(|t| t.raw).collect())
            .map_err(|error| on_screen(&error))
    }
}

/// An error of the loader with the key that does what it asks for.
fn on_screen(error: &impl std::fmt::Display) -> String {
    error.to_string().replace("load it again", "R loads it again")
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
    /// A line of an edit that stays as it is.
    Same,
}

impl LineKind {
    /// Whether a mark stands in the first cell of the line, and a blank in the second.
    const fn marked(self) -> bool {
        matches!(self, Self::Added | Self::Removed | Self::Same)
    }
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

    /// Its lines with long runs of what an edit leaves as it is folded into one each.
    pub fn shown(&self) -> impl Iterator<Item = (LineKind, Cow<'_, str>)> {
        difference::folded(&self.lines).into_iter().filter_map(|part| match part {
            Part::Line(at) => self.lines.get(at).map(|(kind, l)| (*kind, l.as_str().into())),
            Part::Alike(n) => Some((LineKind::Dim, difference::alike(n).into())),
        })
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
                let edit = difference::edit(step.tool.as_deref().unwrap_or_default(), map);
                for (name, value) in map {
                    if edit.as_ref().is_some_and(|e| e.names.contains(&name.as_str())) {
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
                if let Some(edit) = edit {
                    self.edit = Some(changed(&edit, self.controls, &mut lines));
                }
            }
        }
        self.call = brief.join(" ");
        lines
    }

    /// All lines at a width: wrapped, none left out but what an edit leaves as it is, whose number is told.
    #[must_use]
    pub fn wrap(&self, width: usize) -> Vec<Wrapped> {
        let mut out = Vec::new();
        for section in &self.sections {
            let mut name = section.name;
            for (kind, line) in section.shown() {
                for part in parts(kind, &line, width.max(4)) {
                    out.push(Wrapped { name: std::mem::take(&mut name), kind, text: part });
                }
            }
        }
        out
    }
}

/// Where the lines that hold a pattern start, at a width: see [`Document::wrap`]. A line that is folded
/// away is where the line stands that says so.
#[must_use]
pub fn lines_with(document: &Document, pattern: &regex::Regex, width: usize) -> Vec<usize> {
    let mut at = 0;
    let mut found = Vec::new();
    for section in &document.sections {
        let mut line = 0;
        for part in difference::folded(&section.lines) {
            match part {
                Part::Line(i) => {
                    let Some((kind, text)) = section.lines.get(i) else { continue };
                    let parts = parts(*kind, text, width.max(4));
                    if pattern.is_match(text) {
                        found
                            .push(at + parts.iter().position(|p| pattern.is_match(p)).unwrap_or(0));
                    }
                    at += parts.len();
                    line = i + 1;
                }
                Part::Alike(n) => {
                    let hidden = section.lines.get(line..line + n).unwrap_or(&[]);
                    if hidden.iter().any(|(_, text)| pattern.is_match(text)) {
                        found.push(at);
                    }
                    at += wrap_line(&difference::alike(n), width.max(4)).len();
                    line += n;
                }
            }
        }
    }
    found
}

/// Lays out the changes of an edit; how many lines are taken out and put in.
fn changed(edit: &Edit, controls: bool, lines: &mut Vec<(LineKind, String)>) -> (usize, usize) {
    let (mut removed, mut added) = (0, 0);
    if edit.whole {
        let told = "all of the file; what stood there before is not part of the call";
        lines.push((LineKind::Dim, format!("{}: {told}", edit.names.join(" "))));
    }
    for (i, (old, new)) in edit.changes.iter().enumerate() {
        if edit.changes.len() > 1 {
            let told = format!("change {} of {}:", i + 1, edit.changes.len());
            lines.push((LineKind::Dim, told));
        }
        let found = difference::difference(old, new, controls);
        removed += found.removed;
        added += found.added;
        lines.extend(found.lines);
    }
    (removed, added)
}

/// A line in parts that fit. The mark of a line of an edit stands before each of them; `│` behind it
/// says that the line goes on.
fn parts(kind: LineKind, line: &str, width: usize) -> Vec<String> {
    let mark = line.chars().next().filter(|_| kind.marked());
    let Some((mark, (_, rest))) = mark.map(|m| (m, text::split(line, 2))) else {
        return wrap_line(line, width);
    };
    let put =
        |(i, part): (usize, String)| format!("{mark}{}{part}", if i == 0 { ' ' } else { '│' });
    wrap_line(rest, width.saturating_sub(2).max(2)).into_iter().enumerate().map(put).collect()
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
    fn a_wrapped_line_of_an_edit_keeps_its_mark() {
        let step = call(&serde_json::json!({
            "old_str": "same\none two three\r", "new_str": "same\none two\r\nfour"
        }));
        let document = Document::new(&step);
        let rows: Vec<(LineKind, String)> =
            document.wrap(9).into_iter().skip(2).map(|w| (w.kind, w.text)).collect();
        let row = |kind, text: &str| (kind, text.to_owned());
        let wanted = [
            row(LineKind::Plain, "edit"),
            row(LineKind::Same, "  same"),
            row(LineKind::Removed, "− one two"),
            row(LineKind::Removed, "−│three"),
            row(LineKind::Added, "+ one two"),
            row(LineKind::Added, "+ four"),
        ];
        let trimmed: Vec<_> = rows.iter().map(|(k, t)| (*k, t.trim_end().to_owned())).collect();
        assert_eq!(trimmed.get(..6), Some(&wanted[..]), "{rows:?}");
        assert_eq!(document.edit, Some((1, 2)));
        // A hit is found where it stands, also in a continuation.
        let three = regex::Regex::new("three").unwrap();
        assert_eq!(lines_with(&document, &three, 9), [5]);
    }

    #[test]
    fn what_is_folded_is_told_and_not_lost() {
        let lines: Vec<String> = (1..=20).map(|i| format!("line {i}")).collect();
        let (old, new) = (lines.join("\n"), lines.join("\n").replace("line 20", "end"));
        let document = Document::new(&call(&serde_json::json!({"old_str": old, "new_str": new})));
        let rows: Vec<String> = document.wrap(60).into_iter().map(|w| w.text).collect();
        assert!(rows.contains(&"… 16 lines alike, o shows them".to_owned()), "{rows:?}");
        assert!(!rows.contains(&"  line 5".to_owned()));
        assert!(document.plain().contains("  line 5\n"), "outside all of it is there");
        // What is searched for in the fold is found at the fold.
        let five = regex::Regex::new("line 5$").unwrap();
        let fold = rows.iter().position(|r| r.starts_with('…')).unwrap();
        assert_eq!(lines_with(&document, &five, 60), [fold]);
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
