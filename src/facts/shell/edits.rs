//! Ranges and edits that stand in shell words: sed and awk scripts, diffs.

use crate::facts::act::{Act, ActKind};
use crate::facts::edits::edit;
use crate::profile::Program;
use crate::rollout::facts::{EditKind, Extent};

use super::words::Words;

/// What a sed call does.
pub struct Sed<'a> {
    /// It edits in place.
    pub in_place: bool,
    /// Its scripts, joined by newlines.
    pub script: String,
    /// Its files.
    pub files: Vec<&'a str>,
    /// It prints only what the script says.
    pub quiet: bool,
}

/// Reads the words after `sed`.
#[must_use]
pub fn sed<'a>(words: &'a [String], program: &Program) -> Sed<'a> {
    let taken = Words::new(words, &program.values);
    let in_place = taken.flags.iter().any(|(flag, _)| {
        flag.starts_with("-i")
            || flag.starts_with("--in-place")
            || (is_bundle(flag) && flag.ends_with('i'))
    });
    let mut scripts: Vec<&str> = taken.values(&["-e", "--expression", "-f", "--file"]).collect();
    // `-ne SCRIPT`: the bundle's last letter takes the script, which then stands first.
    let mut files = taken.positional.into_iter().filter(|w| !w.is_empty());
    if scripts.is_empty() {
        scripts.extend(files.next());
    }
    let quiet = taken.flags.iter().any(|(flag, _)| {
        matches!(*flag, "-n" | "--quiet" | "--silent") || (is_bundle(flag) && flag.contains('n'))
    });
    Sed { in_place, script: scripts.join("\n"), files: files.collect(), quiet }
}

/// `-nE`: several one-letter flags.
fn is_bundle(flag: &str) -> bool {
    flag.len() > 2 && flag.starts_with('-') && flag.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
}

/// The lines that a printing script shows: `a,bp`, `ap`, `a,$p`, `a,+np`, `bq`, `a,b!d`.
#[must_use]
pub fn sed_extent(script: &str, quiet: bool) -> Extent {
    let mut extent = Extent::None;
    for part in script.split([';', '\n']).map(str::trim).filter(|p| !p.is_empty()) {
        let this = if let Some(range) = part.strip_suffix('p').filter(|_| quiet) {
            line_range(range)
        } else if let Some(range) = part.strip_suffix("!d").filter(|_| !quiet) {
            line_range(range)
        } else if let Some(last) = part.strip_suffix(['q', 'Q']) {
            match (last.trim().parse(), extent) {
                (_, Extent::Lines(..) | Extent::From(_)) => continue,
                (Ok(last), _) if !quiet => Extent::Lines(1, last),
                _ => continue,
            }
        } else {
            return Extent::None;
        };
        extent = match (extent, this) {
            (Extent::None, this) => this,
            // Two ranges: which lines lie between them is not shown, so the part is unknown.
            _ => return Extent::None,
        };
    }
    extent
}

fn line_range(range: &str) -> Extent {
    let range = range.trim().trim_end_matches('{').trim();
    match range.split_once(',') {
        None => match range.parse() {
            Ok(line) if line > 0 => Extent::Lines(line, line),
            _ => Extent::None,
        },
        Some((first, last)) => {
            let (Ok(first), last) = (first.trim().parse::<u32>(), last.trim()) else {
                return Extent::None;
            };
            let first = first.max(1);
            if last == "$" {
                return if first == 1 { Extent::Full } else { Extent::From(first) };
            }
            let last = match last.strip_prefix('+') {
                Some(more) => more.parse::<u32>().ok().map(|m| first.saturating_add(m)),
                None => last.parse::<u32>().ok(),
            };
            // sed prints one line when the end lies before the beginning.
            last.map_or(Extent::None, |last| Extent::Lines(first, last.max(first)))
        }
    }
}

/// `NR>=a && NR<=b`, `NR==a,NR==b`.
#[must_use]
pub fn awk_extent(script: &str) -> Extent {
    let plain: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    let number = |after: &str| {
        plain.split_once(after).and_then(|(_, rest)| {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest.get(..end)?.parse::<u32>().ok()
        })
    };
    let first = number("NR>=").or_else(|| number("NR>").map(|n| n + 1)).or_else(|| number("NR=="));
    let last = number("NR<=")
        .or_else(|| number("NR<").map(|n| n.saturating_sub(1)))
        .or_else(|| number(",NR=="));
    match (first, last) {
        (Some(first), Some(last)) if first <= last => Extent::Lines(first.max(1), last),
        (None, Some(last)) => Extent::Lines(1, last),
        _ => Extent::None,
    }
}

/// The lines that are left of `extent` after `head -n count`.
#[must_use]
pub fn cut_head(extent: Extent, count: Option<&str>) -> Extent {
    let Some(count) = count.and_then(|c| c.parse::<u32>().ok()).filter(|c| *c > 0) else {
        return Extent::None;
    };
    match extent {
        Extent::None => Extent::None,
        Extent::Full => Extent::Lines(1, count),
        Extent::From(first) => Extent::Lines(first, first.saturating_add(count - 1)),
        Extent::Lines(first, last) => {
            Extent::Lines(first, last.min(first.saturating_add(count - 1)))
        }
    }
}

/// The lines that are left of `extent` after `tail -n count`: only `+k` says which.
#[must_use]
pub fn cut_tail(extent: Extent, count: Option<&str>) -> Extent {
    let from = count.and_then(|c| c.strip_prefix('+')).and_then(|c| c.parse::<u32>().ok());
    match (extent, from) {
        (Extent::Full, Some(0 | 1)) => Extent::Full,
        (Extent::Full, Some(from)) => Extent::From(from),
        _ => Extent::None,
    }
}

/// Files that a diff is about, with what becomes of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DiffFiles {
    /// Files that are made.
    pub made: Vec<String>,
    /// Files that are changed.
    pub changed: Vec<String>,
    /// Files that are removed.
    pub removed: Vec<String>,
}

/// Reads unified diffs and the `*** Begin Patch` form.
#[must_use]
pub fn diff_files(diff: &str) -> DiffFiles {
    let mut files = DiffFiles::default();
    let mut old = "";
    let name = |line: &str| {
        let name = line.split('\t').next().unwrap_or(line).trim();
        let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
        name.to_owned()
    };
    let mut add = |list: fn(&mut DiffFiles) -> &mut Vec<String>, path: String| {
        if !list(&mut files).contains(&path) {
            list(&mut files).push(path);
        }
    };
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            add(|f| &mut f.made, name(path));
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            add(|f| &mut f.changed, name(path));
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            add(|f| &mut f.removed, name(path));
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = path;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            match (old.trim() == "/dev/null", path.trim() == "/dev/null") {
                (true, _) => add(|f| &mut f.made, name(path)),
                (_, true) => add(|f| &mut f.removed, name(old)),
                _ => add(|f| &mut f.changed, name(path)),
            }
        }
    }
    files
}

/// Acts of a diff: one for what it changes (with unknown files when it names none), one for each
/// other thing it does.
#[must_use]
pub fn patch_acts(diff: &str, files: DiffFiles, why: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    let edit = edit(EditKind::Replace, "", diff);
    if !files.changed.is_empty() || (files.made.is_empty() && files.removed.is_empty()) {
        acts.push(Act::new(ActKind::Replace, "replace", why).on(files.changed).editing(edit));
    }
    if !files.made.is_empty() {
        let edit = crate::rollout::facts::Edit { kind: EditKind::Write, ..edit };
        acts.push(Act::new(ActKind::Write, "write", why).on(files.made).editing(edit));
    }
    if !files.removed.is_empty() {
        acts.push(Act::new(ActKind::Remove, "rm", why).on(files.removed));
    }
    acts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_ranges() {
        let rows = [
            ("1,50p", true, Extent::Lines(1, 50)),
            ("7p", true, Extent::Lines(7, 7)),
            ("250,$p", true, Extent::From(250)),
            ("1,$p", true, Extent::Full),
            ("10,+5p", true, Extent::Lines(10, 15)),
            ("10,20p;20q", true, Extent::Lines(10, 20)),
            ("1,20p;50,60p", true, Extent::None),
            ("/def f/,/^$/p", true, Extent::None),
            ("10q", false, Extent::Lines(1, 10)),
            ("5,9!d", false, Extent::Lines(5, 9)),
            ("s/a/b/", false, Extent::None),
        ];
        for (script, quiet, expected) in rows {
            assert_eq!(sed_extent(script, quiet), expected, "{script}");
        }
        assert_eq!(awk_extent("NR>=10 && NR<=20"), Extent::Lines(10, 20));
        assert_eq!(awk_extent("NR==3,NR==9 {print}"), Extent::Lines(3, 9));
        assert_eq!(awk_extent("{print $1}"), Extent::None);
    }

    #[test]
    fn diffs_name_their_files() {
        let diff = "--- a/x.py\t2020\n+++ b/x.py\n@@ -1 +1 @@\n--- /dev/null\n+++ b/new.py\n";
        let files = diff_files(diff);
        assert_eq!((files.changed, files.made), (vec!["x.py".into()], vec!["new.py".into()]));
        let patch = "*** Begin Patch\n*** Update File: a.py\n*** Delete File: b.py\n";
        let files = diff_files(patch);
        assert_eq!((files.changed, files.removed), (vec!["a.py".into()], vec!["b.py".into()]));
    }
}
