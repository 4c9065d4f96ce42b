//! An edit as a difference by lines: what is taken out and what is put in, among the lines that the old
//! and the new text have in common.
//!
//! Nothing is decided by a clock: the same edit is shown the same way on every machine.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::text::LineKind;
use crate::export::text;
use crate::rollout::plural;

/// Common lines in sight beside a change.
const CONTEXT: usize = 3;
/// Common lines that are folded away at once, at least: fewer take as much room as the line that says so.
const FOLDED: usize = 3;
/// Lines taken out times lines put in, at most: beyond that comparing them would keep a reader waiting.
/// What both texts begin and end with does not count.
const PAIRS: usize = 16_000_000;

/// Pairs of argument names that hold the text taken out and the text put in.
const EDITS: &[(&str, &str)] = &[
    ("old_str", "new_str"),
    ("old_string", "new_string"),
    ("old_text", "new_text"),
    ("search", "replace"),
];
/// Arguments that hold all of a file.
const WHOLE: &[&str] = &["file_text", "content", "contents"];
/// Tools whose `content` is all of a file.
const WRITERS: &[&str] = &["write", "write_file", "write_to_file", "create_file", "create"];

/// What a call puts into a file and takes out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit<'a> {
    /// The arguments that say so.
    pub names: Vec<&'a str>,
    /// Old and new text of each change.
    pub changes: Vec<(&'a str, &'a str)>,
    /// Whether the file is written as a whole, so that what was there before is not in the call.
    pub whole: bool,
}

/// The edit that the arguments of a call describe, if they describe one.
pub(super) fn edit<'a>(tool: &str, args: &'a Map<String, Value>) -> Option<Edit<'a>> {
    if let Some((names, change)) = pair(args) {
        return Some(Edit { names, changes: vec![change], whole: false });
    }
    if let Some((name, Value::Array(list))) = args.get_key_value("edits") {
        let changes: Option<Vec<_>> =
            list.iter().map(|one| Some(pair(one.as_object()?)?.1)).collect();
        if let Some(changes) = changes.filter(|c| !c.is_empty()) {
            return Some(Edit { names: vec![name], changes, whole: false });
        }
    }
    let (name, text) = WHOLE.iter().find_map(|name| {
        let (name, value) = args.get_key_value(*name)?;
        Some((name.as_str(), value.as_str().filter(|t| !t.is_empty())?))
    })?;
    let writes = name == "file_text" || WRITERS.contains(&&*tool.to_ascii_lowercase());
    writes.then(|| Edit { names: vec![name], changes: vec![("", text)], whole: true })
}

/// The arguments that hold an old and a new text, and these.
fn pair(args: &Map<String, Value>) -> Option<(Vec<&str>, (&str, &str))> {
    EDITS.iter().find_map(|(old, new)| {
        let held = |name: &str| args.get_key_value(name).map(|(n, v)| (n.as_str(), v.as_str()));
        match (held(old), held(new)) {
            (Some((a, Some(old))), Some((b, Some(new)))) if !(old.is_empty() && new.is_empty()) => {
                Some((vec![a, b], (old, new)))
            }
            // Without a new text the old one is taken out; a search alone is no edit.
            (Some((a, Some(old))), None) if a.starts_with("old_str") && !old.is_empty() => {
                Some((vec![a], (old, "")))
            }
            (None, Some((b, Some(new)))) if args.contains_key("insert_line") && !new.is_empty() => {
                Some((vec![b], ("", new)))
            }
            _ => None,
        }
    })
}

/// A difference by lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Difference {
    /// All lines, each with its mark in the first cell; remarks in between.
    pub lines: Vec<(LineKind, String)>,
    /// How many are taken out.
    pub removed: usize,
    /// How many are put in.
    pub added: usize,
}

/// Compares two texts by lines; `controls` shows control characters in visible forms.
pub(super) fn difference(old: &str, new: &str, controls: bool) -> Difference {
    let mut out = Difference::default();
    if old == new {
        out.remark("old and new text are the same: nothing changes");
    }
    let (before, after) = (split(old), split(new));
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let (rest_before, rest_after) = (tail(&before, head), tail(&after, head));
    let backwards = rest_before.iter().rev().zip(rest_after.iter().rev());
    let foot = backwards.take_while(|(a, b)| a == b).count();
    let out_lines = rest_before.get(..rest_before.len() - foot).unwrap_or(&[]);
    let in_lines = rest_after.get(..rest_after.len() - foot).unwrap_or(&[]);
    let same = |out: &mut Difference, lines: &[&str]| {
        out.lines
            .extend(lines.iter().map(|l| (LineKind::Same, format!("  {}", shown(l, controls)))));
    };
    same(&mut out, before.get(..head).unwrap_or(&[]));
    if out_lines.len().saturating_mul(in_lines.len()) > PAIRS {
        out.remark(&format!(
            "too long to compare line by line: {} lines are taken out, then {} are put in",
            out_lines.len(),
            in_lines.len()
        ));
        out.hunk(out_lines, in_lines, controls);
    } else {
        let of = |lines: &[&str], from: usize, n: usize| (from, (from + n).min(lines.len()));
        for op in operations(out_lines, in_lines) {
            let (old_index, old_len, new_index, new_len, equal) = match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    (old_index, len, new_index, len, true)
                }
                DiffOp::Delete { old_index, old_len, new_index } => {
                    (old_index, old_len, new_index, 0, false)
                }
                DiffOp::Insert { old_index, new_index, new_len } => {
                    (old_index, 0, new_index, new_len, false)
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    (old_index, old_len, new_index, new_len, false)
                }
            };
            let (a, b) = of(out_lines, old_index, old_len);
            let (c, d) = of(in_lines, new_index, new_len);
            let gone = out_lines.get(a..b).unwrap_or(&[]);
            if equal {
                same(&mut out, gone);
            } else {
                out.hunk(gone, in_lines.get(c..d).unwrap_or(&[]), controls);
            }
        }
    }
    same(&mut out, tail(&before, before.len() - foot));
    match (old.ends_with('\n'), new.ends_with('\n')) {
        _ if before.is_empty() || after.is_empty() => {}
        (true, false) => out.remark("the old text ends with a line end, the new one does not"),
        (false, true) => out.remark("the new text ends with a line end, the old one does not"),
        _ => {}
    }
    out
}

impl Difference {
    fn remark(&mut self, told: &str) {
        self.lines.push((LineKind::Dim, told.to_owned()));
    }

    /// Lines taken out, and what stands in their place. A pair that would look alike is shown with what
    /// tells it apart: tabs, blanks at the end, carriage returns, control characters.
    fn hunk(&mut self, gone: &[&str], come: &[&str], controls: bool) {
        self.removed += gone.len();
        self.added += come.len();
        let bare: Vec<bool> = gone
            .iter()
            .zip(come)
            .map(|(a, b)| shown(a, controls).trim_end() == shown(b, controls).trim_end())
            .collect();
        let sides = [(gone, LineKind::Removed, '−'), (come, LineKind::Added, '+')];
        for (lines, kind, sign) in sides {
            for (at, line) in lines.iter().enumerate() {
                let alike = bare.get(at).copied().unwrap_or(false);
                let told = if alike { told_apart(line).into() } else { shown(line, controls) };
                self.lines.push((kind, format!("{sign} {told}")));
            }
        }
    }
}

/// What turns one list of lines into the other.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Comparing numbers is cheaper than comparing lines.
    let mut known: FxHashMap<&str, u32> = FxHashMap::default();
    let (mut a, mut b) = (Vec::with_capacity(old.len()), Vec::with_capacity(new.len()));
    for (lines, list) in [(old, &mut a), (new, &mut b)] {
        for &line in lines {
            let next = known.len() as u32;
            list.push(*known.entry(line).or_insert(next));
        }
    }
    capture_diff_slices(Algorithm::Patience, &a, &b)
}

/// The lines of a text; one line end at the end is no line of its own.
fn split(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    text.strip_suffix('\n').unwrap_or(text).split('\n').collect()
}

fn tail<'a, 'b>(lines: &'a [&'b str], from: usize) -> &'a [&'b str] {
    lines.get(from..).unwrap_or(&[])
}

/// A line, clean.
fn shown(line: &str, controls: bool) -> Cow<'_, str> {
    if controls {
        // Everything is shown: also what a carriage return overwrites.
        text::visible(line)
    } else {
        text::lines(line).next().unwrap_or_default()
    }
}

/// A line with what cannot be seen in it made visible.
fn told_apart(line: &str) -> String {
    let line = line.replace('\t', "→");
    let clean = text::visible(&line);
    let solid = clean.trim_end_matches(' ');
    format!("{solid}{}", "·".repeat(clean.len() - solid.len()))
}

/// A line of a difference as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The line with this number.
    Line(usize),
    /// So many common lines, folded into one.
    Alike(usize),
}

/// Which lines are shown, and where common ones are folded away: all but [`CONTEXT`] beside a change.
pub(super) fn folded(lines: &[(LineKind, String)]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(lines.len());
    let mut at = 0;
    for run in lines.chunk_by(|a, b| (a.0 == LineKind::Same) == (b.0 == LineKind::Same)) {
        let end = at + run.len();
        let same = run.first().is_some_and(|l| l.0 == LineKind::Same);
        let changed = |line: Option<&(LineKind, String)>| {
            line.is_some_and(|l| matches!(l.0, LineKind::Added | LineKind::Removed))
        };
        let before = changed(at.checked_sub(1).and_then(|i| lines.get(i)));
        let after = changed(lines.get(end));
        // Where nothing changes at all, the beginning is shown.
        let head = if before || !after { CONTEXT } else { 0 };
        let foot = if after { CONTEXT } else { 0 };
        let hidden = run.len().saturating_sub(head + foot);
        if same && hidden >= FOLDED {
            parts.extend((at..at + head).map(Part::Line));
            parts.push(Part::Alike(hidden));
            parts.extend((end - foot..end).map(Part::Line));
        } else {
            parts.extend((at..end).map(Part::Line));
        }
        at = end;
    }
    parts
}

/// What stands for folded lines.
pub(super) fn alike(n: usize) -> String {
    format!("… {} alike, o shows {}", plural(n, "line"), if n == 1 { "it" } else { "them" })
}

/// Which of so many lines are shown in `rows` rows: of an edit some taken out and some put in.
pub(super) fn glance(kinds: &[LineKind], rows: usize) -> Vec<usize> {
    let change = |k: &LineKind| matches!(k, LineKind::Added | LineKind::Removed);
    let first = kinds.iter().position(change);
    let plain = (0..kinds.len().min(rows)).collect();
    let (Some(first), true) = (first, kinds.len() > rows && rows >= 4) else {
        return plain;
    };
    let kind = kinds.get(first).copied();
    let other = kinds.iter().position(|k| change(k) && Some(*k) != kind).unwrap_or(first);
    if other < rows && first + 1 < rows {
        return plain;
    }
    // The call itself, then where the change begins, then what stands in its place.
    let head = first.min((rows / 3).max(1));
    let rest = rows - head;
    let near = if other > first { (rest - rest / 2).min(other - first) } else { rest };
    let mut list: Vec<usize> = (0..head).chain(first..first + near).collect();
    list.extend((other.max(first + near)..kinds.len()).take(rows - list.len()));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> Vec<String> {
        difference(old, new, false).lines.into_iter().map(|(_, l)| l).collect()
    }

    #[test]
    fn common_lines_stand_between_what_goes_and_what_comes() {
        let found = difference("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n", false);
        let lines: Vec<&str> = found.lines.iter().map(|(_, l)| l.as_str()).collect();
        assert_eq!(lines, ["  a", "− b", "+ B", "  c", "  d", "+ e"]);
        assert_eq!((found.removed, found.added), (1, 2));
        assert_eq!(found.lines[0].0, LineKind::Same);
        assert_eq!(found.lines[1].0, LineKind::Removed);
        assert_eq!(found.lines[2].0, LineKind::Added);
    }

    #[test]
    fn an_empty_side_has_no_lines() {
        assert_eq!(told("", "x\ny"), ["+ x", "+ y"]);
        assert_eq!(told("x\ny\n", ""), ["− x", "− y"]);
        // One empty line is a line.
        assert_eq!(told("", "\n"), ["+ "]);
        assert_eq!(told("a\n\nb", "a\nb"), ["  a", "− ", "  b"]);
    }

    #[test]
    fn nothing_changes_and_says_so() {
        let same = "old and new text are the same: nothing changes";
        assert_eq!(told("a\nb", "a\nb"), [same, "  a", "  b"]);
        assert_eq!(difference("a", "a", false).added, 0);
    }

    #[test]
    fn lines_that_look_alike_are_told_apart() {
        assert_eq!(told("a\r\nb\r\n", "a\nb\n"), ["− a\\r", "− b\\r", "+ a", "+ b"]);
        // The same line ends on both sides are not shown.
        assert_eq!(told("a\r\nb\r\n", "a\r\nc\r\n"), ["  a", "− b", "+ c"]);
        assert_eq!(told("a  ", "a"), ["− a··", "+ a"]);
        assert_eq!(told("\tx", "        x"), ["− →x", "+         x"]);
        assert_eq!(told("\u{1b}[1mx", "x"), ["− ^[[1mx", "+ x"]);
        let end = "the old text ends with a line end, the new one does not";
        assert_eq!(told("a\n", "a"), ["  a", end]);
    }

    #[test]
    fn what_is_too_long_to_compare_is_shown_whole() {
        let lines = |from: usize, n: usize| -> String {
            let list: Vec<String> = (from..from + n).map(|i| i.to_string()).collect();
            list.join("\n") + "\n"
        };
        // Two lines in the middle of seventy thousand are compared: the rest is common.
        let (old, new) = (lines(0, 70_000), lines(0, 70_000).replace("\n40000\n", "\nx\n"));
        let found = difference(&old, &new, false);
        assert_eq!((found.removed, found.added, found.lines.len()), (1, 1, 70_001));
        let found = difference(&old, &lines(70_000, 70_000), false);
        assert_eq!((found.removed, found.added), (70_000, 70_000));
        assert_eq!(
            found.lines[0].1,
            "too long to compare line by line: 70000 lines are taken out, then 70000 are put in"
        );
    }

    #[test]
    fn long_common_runs_are_folded_with_their_number() {
        let lines = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join("\n");
        let (old, new) = (lines(20), lines(20).replace("\n10\n", "\nten\n"));
        let found = difference(&old, &new, false);
        // 1 to 9, 10 taken out and put in, 11 to 20.
        let parts = folded(&found.lines);
        let line = |range: std::ops::Range<usize>| range.map(Part::Line).collect::<Vec<_>>();
        let wanted = [vec![Part::Alike(6)], line(6..14), vec![Part::Alike(7)]].concat();
        assert_eq!(parts, wanted);
        // Five lines between two changes are fewer than the context of both.
        let found = difference("a\n1\n2\n3\n4\n5\nb", "A\n1\n2\n3\n4\n5\nB", false);
        assert_eq!(folded(&found.lines), line(0..9));
        // Without any change the beginning is shown.
        let found = difference(&old, &old, false);
        let wanted = [line(0..4), vec![Part::Alike(17)]].concat();
        assert_eq!(folded(&found.lines), wanted);
    }

    #[test]
    fn a_glance_shows_both_sides_of_a_change() {
        use LineKind::{Added as A, Plain as P, Removed as R, Same as S};
        assert_eq!(glance(&[P, P, P], 2), [0, 1]);
        let kinds = [P, P, S, S, S, R, R, R, R, A, A, A];
        assert_eq!(glance(&kinds, 12), (0..12).collect::<Vec<_>>());
        // Two lines of the call, two of four taken out, two of three put in.
        assert_eq!(glance(&kinds, 6), [0, 1, 5, 6, 9, 10]);
    }

    #[test]
    fn edits_are_known_by_their_arguments() {
        let of = |tool: &str, args: Value| {
            let map = args.as_object().cloned().unwrap_or_default();
            edit(tool, &map).map(|e| {
                let changes = e.changes.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
                (changes.collect::<Vec<_>>(), e.whole)
            })
        };
        let one = |a: &str, b: &str| vec![(a.to_owned(), b.to_owned())];
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(
            of("edit", json(r#"{"old_str": "a", "new_str": "b"}"#)),
            Some((one("a", "b"), false))
        );
        assert_eq!(of("edit", json(r#"{"old_str": "a"}"#)), Some((one("a", ""), false)));
        let insert = json(r#"{"command": "insert", "insert_line": 3, "new_str": "b"}"#);
        assert_eq!(of("edit", insert), Some((one("", "b"), false)));
        let create = json(r#"{"command": "create", "file_text": "b"}"#);
        assert_eq!(of("edit", create), Some((one("", "b"), true)));
        let several = json(
            r#"{"edits": [{"old_string": "a", "new_string": "b"},
                          {"old_string": "c", "new_string": "d"}]}"#,
        );
        let both = [one("a", "b"), one("c", "d")].concat();
        assert_eq!(of("MultiEdit", several), Some((both, false)));
        assert_eq!(
            of("Write", json(r#"{"file_path": "x", "content": "b"}"#)),
            Some((one("", "b"), true))
        );
        // A message and a search are no edits, nor is a call whose texts are empty.
        assert_eq!(of("send", json(r#"{"content": "b"}"#)), None);
        assert_eq!(of("grep", json(r#"{"search": "b"}"#)), None);
        assert_eq!(of("view", json(r#"{"old_str": "", "new_str": ""}"#)), None);
    }
}
