//! Warnings of a load: codes that stay, one sentence each, and what to do.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::copies::Copies;
use super::damage::Damage;
use super::identity::Seen;
use super::join::Join;
use super::keys::Keys;
use super::options::SuccessRule;
use super::report::{LoadReport, Note, VerdictKind, Warning};
use crate::rollout::{Group, natural, plural};

/// The first few names.
fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(3);
    let first = names.iter().take(3).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// Adds all warnings.
pub fn warn(
    report: &mut LoadReport,
    groups: &[Arc<Group>],
    keys: &Keys,
    seen: &Seen,
    copies: &Copies,
) {
    let skipped = report.told_skipped();
    let damage = damaged(&report.damaged());
    let same = same_content(report, seen, copies);
    let lost: Vec<String> = report.lost().filter(|f| !f.named).map(ToString::to_string).collect();
    let mut add = |code, text: String, hint: &str, tasks: Vec<String>| {
        let hint = Some(hint.to_owned()).filter(|h| !h.is_empty());
        report.warnings.push(Warning { code, text, hint, tasks });
    };
    if let Some(skipped) = skipped {
        let first = report.skipped.first().map(ToString::to_string).unwrap_or_default();
        add(
            "skipped",
            format!("partial data: {skipped}; first: {first}"),
            "`credscope check` lists them; `--strict` fails on them",
            Vec::new(),
        );
    }
    for file in report.not_rollouts.iter().filter(|f| f.named) {
        let hint = file.hint.clone().unwrap_or_default();
        let (code, word) = match file.kind {
            VerdictKind::Companion => ("no-rollouts", "not a rollout file"),
            VerdictKind::Copy => ("packed-copy", "left out"),
            VerdictKind::Unknown => ("unread", "not a rollout file"),
            VerdictKind::Lost | VerdictKind::Damaged => ("unread", "could not be read"),
        };
        add(code, format!("{}: {word}: {}", file.name, file.reason), &hint, Vec::new());
    }
    if let Some(first) = lost.first() {
        let text = format!(
            "partial data: {} could not be read; first: {first}",
            plural(lost.len(), "file")
        );
        add(
            "lost-file",
            text,
            "`credscope check` lists them; `--strict` fails on them",
            Vec::new(),
        );
    }
    if report.totals.dropped > 0 {
        let text = format!(
            "partial data: {} left out of {}: no step could be read there",
            plural(report.totals.dropped, "step"),
            if report.totals.dropped == 1 { "its rollout" } else { "their rollouts" }
        );
        add("dropped-steps", text, "`credscope check` lists them", Vec::new());
    }
    if let Some(warning) = keys.singletons() {
        let Warning { code, text, hint, tasks } = warning;
        add(code, text, &hint.unwrap_or_default(), tasks);
    }
    if let Some((without, all)) = keys.without_field() {
        let field = keys.grouped_by();
        let text = format!("{without} of {all} rollouts have no `{field}`; their task id was used");
        add("group-by-missing", text, "", Vec::new());
    }
    mixed_harness(groups, &mut add);
    disputed(&report.joins, &mut add);
    joined(&report.joins, &mut add);
    if let Some((text, hint)) = damage {
        add("damaged-file", text, &hint, Vec::new());
    }
    if let Some(text) = same {
        let hint =
            "delete the copies, or name only one of them; samples that came out equal may stay";
        add("same-content", text, hint, Vec::new());
    }
    identity(report.totals.duplicates, report.totals.retries, seen, &mut add);
    // The first by rollout and field: the order of lines decides nothing.
    let first = report.notes.iter().min_by(|a, b| {
        let key = |n: &'_ Note| (n.rollout.clone().unwrap_or_default(), n.field.clone());
        let ((a_id, a_field), (b_id, b_field)) = (key(a), key(b));
        natural(&a_id, &b_id).then(a_field.cmp(&b_field)).then(a.reason.cmp(&b.reason))
    });
    if let Some(first) = first {
        let place = match &first.rollout {
            Some(id) => format!("rollout {id}"),
            None => format!("{}, {} {}", first.file, first.unit, first.number),
        };
        let field =
            if first.field.is_empty() { String::new() } else { format!(", `{}`", first.field) };
        let text = format!(
            "{} coerced or odd; first: {place}{field}: {}",
            plural(report.totals.notes, "value"),
            first.reason
        );
        add("coerced", text, "`credscope check` lists them", Vec::new());
    }
}

/// Files that are damaged, the first with what is wrong, and what to do about all of them.
fn damaged(all: &[Damage<'_>]) -> Option<(String, String)> {
    let first = all.first()?;
    let mut hints: Vec<&str> = Vec::new();
    for hint in all.iter().filter_map(|one| one.hint) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    let names: Vec<String> = all.iter().map(|one| one.name.to_owned()).collect();
    let text = match all.len() {
        1 => format!("1 file damaged or cut: `{}`: {}", first.name, first.reason),
        n => format!("{n} files damaged or cut: {}; the first: {}", some(&names), first.reason),
    };
    Some((text, hints.join("; ")))
}

/// Files that hold the same, and rollouts that stand in several files which do not.
fn same_content(report: &LoadReport, seen: &Seen, copies: &Copies) -> Option<String> {
    let other = seen.same_content.iter().filter(|(_, [a, b])| !copies.are_same(*a, *b));
    let other: Vec<String> = other.map(|(id, _)| id.clone()).collect();
    let other = (!other.is_empty()).then(|| {
        format!("the same rollouts stand in several files: {}; all of them count", some(&other))
    });
    let parts: Vec<String> = copies.told(&report.files).into_iter().chain(other).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What was found when rollouts were told apart, and pieces of one put together.
fn identity(
    copies: usize,
    retries: usize,
    seen: &Seen,
    add: &mut impl FnMut(&'static str, String, &str, Vec<String>),
) {
    if copies > 0 {
        let text = format!(
            "{} left out: the same rollout stands in the same file or folder again",
            plural(copies, "copy").replace("copys", "copies")
        );
        add("duplicate", text, "`credscope check` lists them", Vec::new());
    }
    if retries > 0 {
        let text = format!(
            "{} left out: of the attempts of one rollout the last one counts",
            plural(retries, "earlier attempt")
        );
        add("retry", text, "attempts that are samples want an id each", Vec::new());
    }
    if seen.equal_samples > 0 {
        let text = format!(
            "{} without an id equal to another one of the same file; each counts as a sample",
            plural(seen.equal_samples, "rollout")
        );
        add("equal-samples", text, "an id per rollout would tell copies from samples", Vec::new());
    }
    if !seen.lacking.is_empty() {
        let text = format!(
            "{} with a segment missing: {}; what is there was joined",
            plural(seen.lacking.len(), "rollout"),
            some(&seen.lacking)
        );
        add(
            "segment-gap",
            text,
            "`credscope report` names the segments; give the rest of the run",
            Vec::new(),
        );
    }
    if !seen.suffixed.is_empty() {
        let text = format!(
            "{} with an id that another rollout of the group has: {}",
            plural(seen.suffixed.len(), "rollout"),
            some(&seen.suffixed)
        );
        add("id-suffix", text, "the number after `#` tells them apart", Vec::new());
    }
}

/// Verdicts that contradict each other.
fn disputed(joins: &[Join], add: &mut impl FnMut(&'static str, String, &str, Vec<String>)) {
    let mut all: Vec<&String> = joins.iter().flat_map(|j| &j.disputes).collect();
    all.sort_by(|a, b| natural(a, b));
    let Some(first) = all.first() else { return };
    let text =
        format!("{} with contradictory verdicts; first: {first}", plural(all.len(), "rollout"));
    let any =
        |maps: bool| joins.iter().any(|j| !j.disputes.is_empty() && (j.kind == "outcomes") == maps);
    let hints = [
        (
            any(false),
            "of files beside the rollouts: `--outcomes FILE` decides where the record does not",
        ),
        (
            any(true),
            "of an outcome map: keep one entry per rollout; of two maps the later one counts",
        ),
    ];
    let hints: Vec<&str> = hints.into_iter().filter(|(any, _)| *any).map(|(_, h)| h).collect();
    add("verdicts-disagree", text, &hints.join("; "), Vec::new());
}

/// What was joined and left something over.
fn joined(joins: &[Join], add: &mut impl FnMut(&'static str, String, &str, Vec<String>)) {
    for join in joins {
        let what = if join.kind == "sidecar" { "step" } else { "rollout" };
        let left = join.told_left_over().map_or_else(String::new, |l| format!("; left over: {l}"));
        let mut counts = format!(
            "{}: {} matched, {} without an entry, {} without a {what}",
            join.file,
            join.matched,
            plural(join.missing, what),
            plural(join.extra, "entry").replace("entrys", "entries"),
        );
        if join.ambiguous > 0 {
            let _ = write!(counts, ", {} whose id several tasks have", join.ambiguous);
        }
        let counts = counts + &left;
        if join.ambiguous > 0 {
            add("join-ambiguous", counts, "add a `task` column", Vec::new());
        } else if let Some(why) = join.unjoined.as_ref().filter(|_| join.matched == 0) {
            let text = format!("{}: verdicts, joined to no rollout: {}", join.file, why.reason);
            add("join-nothing", text, why.hint, Vec::new());
        } else if join.matched == 0 {
            add("join-nothing", counts, "check the ids", Vec::new());
        } else if join.kind != "verdicts" && join.missing + join.extra > 0 {
            add("join-partial", counts, &partial_hint(join), Vec::new());
        }
    }
}

/// What to do about a table that fits some rollouts.
fn partial_hint(join: &Join) -> String {
    let (what, without) = match join.kind {
        "sidecar" => (
            "rollout ids and step numbers, from 0,",
            "steps without an entry have none of its numbers",
        ),
        _ => ("ids", "rollouts without an entry keep the verdict that they have"),
    };
    let check = format!(
        "check the {what} of what is left over: `credscope report` lists those that are here"
    );
    let parts = [(join.extra > 0, check.as_str()), (join.missing > 0, without)];
    let parts: Vec<&str> = parts.into_iter().filter(|(any, _)| *any).map(|(_, p)| p).collect();
    parts.join("; ")
}

fn mixed_harness(
    groups: &[Arc<Group>],
    add: &mut impl FnMut(&'static str, String, &str, Vec<String>),
) {
    let (mut tasks, mut names) = (Vec::new(), BTreeSet::new());
    for group in groups {
        let harnesses: BTreeSet<&str> =
            group.rollouts.iter().filter_map(|r| r.harness.as_deref()).collect();
        if harnesses.len() > 1 {
            tasks.push(group.key.task.clone());
            names.extend(harnesses);
        }
    }
    if !tasks.is_empty() {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let text = format!(
            "{} {} harnesses ({}): {}",
            plural(tasks.len(), "group"),
            if tasks.len() == 1 { "mixes" } else { "mix" },
            some(&names),
            some(&tasks)
        );
        add("mixed-harness", text, "compare within one harness, or group by `harness`", tasks);
    }
}

/// Warns about rewards that the default rule hardly fits.
pub fn reward_range(report: &mut LoadReport, count: usize) {
    if report.success_at == SuccessRule::default() {
        report.warnings.push(Warning {
            code: "reward-range",
            text: format!(
                "{} outside 0..1, judged by the default rule (success {})",
                plural(count, "reward"),
                report.success_at
            ),
            hint: Some("`--success-at X` sets the rule".to_owned()),
            tasks: Vec::new(),
        });
    }
}
