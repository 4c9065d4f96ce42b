//! Calls of editors, file tools and search tools: what they do, read by the roles of arguments.

use serde_json::Value;

use super::act::{Act, ActKind};
use super::args::{Args, whole_number};
use super::edits::{edit, join, normalise};
use super::results::Seen;
use super::shell::{diff_files, patch_acts};
use crate::profile::{Deed, Tool, Verb};
use crate::rollout::facts::{Edit, EditKind, Extent, Flags};

/// The verb of a call: of its sub-command where the tool has some. `None` for a sub-command that
/// the tool does not have.
#[must_use]
pub fn verb(tool: &Tool, args: &Args<'_>) -> Option<Verb> {
    let sub = tool.by.as_deref().and_then(|name| args.named(name)).and_then(Value::as_str);
    match sub {
        Some(word) => tool.sub.get(word.trim()).or(tool.verb.as_ref()).cloned(),
        None => tool.verb.clone().or_else(|| guess(tool, args)),
    }
}

/// The sub-command is missing: what the other arguments allow.
fn guess(tool: &Tool, args: &Args<'_>) -> Option<Verb> {
    let has = |deed: Deed| tool.sub.values().find(|v| v.deed == deed).cloned();
    if args.value("old").is_some() { has(Deed::Replace) } else { None }
}

/// The acts of a call; several for a diff. Empty for verbs that are not read here.
#[must_use]
pub fn acts(verb: &Verb, tool: &Tool, args: &Args<'_>, seen: &Seen<'_>) -> Vec<Act> {
    let why = if tool.why.is_empty() { default_why(verb.deed) } else { tool.why.as_str() };
    let act = |kind: ActKind, op: &str| {
        Act::new(kind, if verb.op.is_empty() { op } else { &verb.op }, why)
    };
    let path = || args.text("path").into_iter().collect::<Vec<_>>();
    let lone = |act: Act| vec![act];
    match verb.deed {
        Deed::View => lone(view(act(ActKind::View, "view"), args, seen)),
        Deed::Search => {
            let folder = args.text("folder").filter(|f| !f.trim().is_empty());
            let folders = match (args.value("folder"), folder) {
                (_, Some(folder)) => vec![folder],
                (Some(Value::Array(list)), None) => {
                    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => vec![".".to_owned()],
            };
            lone(act(ActKind::Search, "search").on(folders))
        }
        Deed::Replace => lone(replace(act(ActKind::Replace, "replace"), args).on(path())),
        Deed::EditLines => lone(edit_lines(act(ActKind::Replace, "replace"), args).on(path())),
        Deed::Insert => {
            let new = args.text("new").or_else(|| args.text("text")).unwrap_or_default();
            let made = edit(EditKind::Insert, "", &new);
            lone(act(ActKind::Insert, "insert").on(path()).editing(made))
        }
        Deed::Write => {
            let text = args.text("text").unwrap_or_default();
            let made = edit(EditKind::Write, "", &text);
            lone(act(ActKind::Write, "write").on(path()).editing(made))
        }
        Deed::Patch => {
            let diff = args.text("patch").unwrap_or_default();
            let mut files = diff_files(&diff);
            if files.changed.is_empty() && files.made.is_empty() && files.removed.is_empty() {
                files.changed = path();
            }
            patch_acts(&normalise(&diff), files, why)
        }
        Deed::Undo => lone(act(ActKind::Undo, "revert").on(path())),
        Deed::Remove => lone(act(ActKind::Remove, "rm").on(path())),
        Deed::Run => {
            let code = args.text("code").unwrap_or_default();
            let mut run = act(ActKind::Execute, "python");
            if code.trim().is_empty() {
                run.flags = run.flags.with(Flags::EMPTY_COMMAND);
            }
            lone(super::shell::marked_by_code(run, &code))
        }
        Deed::Install => lone(act(ActKind::Install, "pip")),
        Deed::Think => lone(act(ActKind::Think, "")),
        Deed::Finish => lone(act(ActKind::Finish, "")),
        Deed::Respond => lone(act(ActKind::Respond, "")),
        Deed::Shell | Deed::Other => Vec::new(),
    }
}

const fn default_why(deed: Deed) -> &'static str {
    match deed {
        Deed::View => "the tool shows a file",
        Deed::Search => "the tool searches",
        Deed::Replace | Deed::EditLines => "the tool replaces text",
        Deed::Insert => "the tool inserts text",
        Deed::Write => "the tool writes a file",
        Deed::Patch => "the tool applies a diff",
        Deed::Undo => "the tool takes an edit back",
        Deed::Remove => "the tool removes a file",
        Deed::Run => "the tool runs code",
        Deed::Install => "the tool installs packages",
        Deed::Think => "the tool records a thought",
        Deed::Finish => "the tool ends the work",
        Deed::Respond => "the tool speaks to the user",
        Deed::Shell | Deed::Other => "the tool is of no category",
    }
}

/// A view with its range: `view_range`, first and last line, or offset and limit.
fn view(mut act: Act, args: &Args<'_>, seen: &Seen<'_>) -> Act {
    act.paths = args.text("path").into_iter().collect();
    let range = match args.value("range") {
        Some(value) => match range_of(value) {
            Some(range) => Some(range),
            None if is_empty_range(value) => None,
            None => return act.marked(Flags::INVALID),
        },
        None => match (args.number("first"), args.number("last")) {
            (None, None) => None,
            (first, last) => Some((first.unwrap_or(1), last.unwrap_or(-1))),
        },
    };
    if let Some((first, last)) = range {
        match lines(first, last) {
            Some(extent) => act.extent = extent,
            // The tool may have taken it nonetheless: then it is read as it was meant.
            None if seen.tool_took_it(args.profile()) => act.extent = meant(first, last),
            None => act.flags = act.flags.with(Flags::INVALID),
        }
        return act;
    }
    let offset = args.number("offset").map(|o| o.max(1));
    act.extent = match (offset, args.number("limit")) {
        (None | Some(1), None) => Extent::Full,
        (Some(offset), None) => Extent::From(line(offset)),
        (offset, Some(limit)) => {
            let first = offset.unwrap_or(1);
            Extent::Lines(line(first), line(first.saturating_add(limit.max(1) - 1)))
        }
    };
    act
}

/// A line number; what is larger than any file is the largest.
fn line(number: i64) -> u32 {
    u32::try_from(number.max(1)).unwrap_or(u32::MAX)
}

/// A range of lines counted from 1, -1 for the end. `None` when it is reversed or starts at 0.
fn lines(first: i64, last: i64) -> Option<Extent> {
    match (first, last) {
        (1, -1) => Some(Extent::Full),
        (first, -1) if first > 1 => Some(Extent::From(line(first))),
        (first, last) if first >= 1 && last >= first => {
            Some(Extent::Lines(line(first), line(last)))
        }
        _ => None,
    }
}

fn meant(first: i64, last: i64) -> Extent {
    let (low, high) = if last >= 0 && last < first { (last, first) } else { (first, last) };
    lines(low.max(1), if high < 0 { -1 } else { high.max(1) }).unwrap_or(Extent::None)
}

/// `[5, 60]`, `['3', '40']`, `"[5, 60]"`, `"5-60"`, `"5,60"`, `"5:60"`.
fn range_of(value: &Value) -> Option<(i64, i64)> {
    match value {
        Value::Array(ends) => match ends.as_slice() {
            [first, last] => Some((whole_number(first)?, whole_number(last)?)),
            [first] => Some((whole_number(first)?, -1)),
            _ => None,
        },
        Value::String(text) => {
            let inner = text.trim().trim_matches(['[', ']', '(', ')']);
            let (first, last) = inner
                .split_once([',', ':'])
                .or_else(|| inner.split_once(char::is_whitespace))
                .or_else(|| {
                    inner
                        .get(1..)?
                        .find('-')
                        .and_then(|i| Some((inner.get(..=i)?, inner.get(i + 2..)?)))
                })?;
            let number = |t: &str| t.trim().trim_matches(['\'', '"']).parse().ok();
            Some((number(first)?, number(last)?))
        }
        _ => None,
    }
}

fn is_empty_range(value: &Value) -> bool {
    match value {
        Value::Array(ends) => ends.is_empty(),
        Value::String(text) => matches!(text.trim(), "" | "[]" | "None" | "null"),
        _ => false,
    }
}

/// Old and new text, once or several times.
fn replace(mut act: Act, args: &Args<'_>) -> Act {
    let pairs: Vec<(String, String)> = match args.value("edits") {
        Some(Value::Array(list)) => list.iter().filter_map(|one| pair(args, one)).collect(),
        _ => Vec::new(),
    };
    let pairs = if pairs.is_empty() {
        let new = args.text("new").or_else(|| args.text("text")).unwrap_or_default();
        vec![(args.text("old").unwrap_or_default(), new)]
    } else {
        pairs
    };
    // Without any old text the call is incomplete, not empty.
    let complete = args.value("old").is_some() || args.value("edits").is_some();
    if complete && pairs.iter().all(|(old, new)| normalise(old) == normalise(new)) {
        act.flags = act.flags.with(Flags::NO_OP);
    } else if complete && pairs.iter().any(|(old, _)| old.is_empty()) {
        act.flags = act.flags.with(Flags::SUSPICIOUS);
    }
    let edits: Vec<Edit> =
        pairs.iter().map(|(old, new)| edit(EditKind::Replace, old, new)).collect();
    act.edit = join(&edits);
    act
}

fn pair(args: &Args<'_>, one: &Value) -> Option<(String, String)> {
    let inner = args.of_object(one.as_object()?);
    Some((inner.text("old").unwrap_or_default(), inner.text("new").unwrap_or_default()))
}

/// Lines of the open file are replaced: the range stands for the old text, which is not known.
fn edit_lines(act: Act, args: &Args<'_>) -> Act {
    if args.value("old").is_some() {
        return replace(act, args);
    }
    let range = args.text("range").unwrap_or_default();
    let new = args.text("text").unwrap_or_default();
    act.editing(edit(EditKind::Replace, &range, &new))
}

/// An editor with a window shows the lines around the place that was asked for: the numbers before
/// the lines say which.
pub fn see_window(profile: &crate::profile::Profile, acts: &mut [Act], seen: &Seen<'_>) {
    let mut numbers = seen.payload.lines().filter_map(|line| {
        let (number, _) = line.split_once(':')?;
        number.parse::<u32>().ok()
    });
    let Some(first) = numbers.next() else { return };
    let last = numbers.next_back().unwrap_or(first);
    let length = shown_length(profile, seen);
    for act in acts.iter_mut().filter(|act| act.kind == ActKind::View) {
        act.extent = match length {
            Some(length) if first == 1 && last >= length => Extent::Full,
            _ => Extent::Lines(first, last),
        };
    }
}

/// How many lines a view of a whole file showed: what the tool says, else the last number of
/// `cat -n` style numbers (a last numbered line without text is none).
#[must_use]
pub fn shown_length(profile: &crate::profile::Profile, seen: &Seen<'_>) -> Option<u32> {
    let whole = seen.whole.unwrap_or_default();
    let told = profile.lengths.group(whole).and_then(|n| n.parse().ok());
    told.or_else(|| {
        seen.payload.lines().rev().take(12).find_map(|line| {
            let line = line.trim_start();
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let rest = line.get(digits..)?.strip_prefix(['\t', '|', ':', '→'])?;
            let number: u32 = line.get(..digits)?.parse().ok()?;
            Some(if rest.trim().is_empty() { number.saturating_sub(1) } else { number })
        })
    })
}
