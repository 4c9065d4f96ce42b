//! The load report: a row per file, and everything else in words.

use serde_json::{Value, json};
use std::fmt::Write as _;

use super::document::{Block, Body, Fact};
use super::table::{Cell, Column, Table, int, text};
use crate::load::{FileVerdict, Join, LoadReport, VerdictKind};

/// How many entries of one list are told in text.
const TOLD: usize = 20;

/// Cells of a file's name in text.
const NAME: usize = 48;

/// The columns.
#[must_use]
pub fn columns() -> Vec<Column> {
    vec![
        text("file").shown("file").at_most(NAME).key(),
        text("format").shown("format"),
        int("groups").shown("groups"),
        int("rollouts").shown("rollouts"),
        int("steps").shown("steps"),
        int("scored").shown("scored"),
        int("successes").shown("✓"),
        int("skipped").shown("skipped"),
        text("problems"),
    ]
}

/// A row per file with rollouts, then the files without, with their reasons.
#[must_use]
pub fn table(report: &LoadReport) -> Table {
    let mut table = Table::new(columns());
    table.rows = report
        .files
        .iter()
        .map(|f| {
            vec![
                Cell::text(f.name.as_str()),
                Cell::text(f.format.as_str()),
                Cell::int(f.groups),
                Cell::int(f.rollouts),
                Cell::int(f.steps),
                Cell::int(f.scored),
                Cell::int(f.successes),
                Cell::int(f.skipped),
                Cell::text(f.problems.join("; ")),
            ]
        })
        .collect();
    table.rows.extend(report.not_rollouts.iter().map(|f| {
        let mut row = vec![Cell::text(f.name.as_str()), Cell::Missing];
        row.extend(std::iter::repeat_n(Cell::Int(0), 6));
        row.push(Cell::text(format!("{}: {}", f.kind.mark(), f.reason)));
        row
    }));
    table
}

/// The counts for a stamp.
#[must_use]
pub fn counts(report: &LoadReport) -> Value {
    let mut counts = serde_json::to_value(report.totals).unwrap_or_default();
    if let Some(map) = counts.as_object_mut() {
        map.insert("partial".to_owned(), json!(report.partial()));
        let refused = report.refused().map(|f| json!({"name": f.name, "reason": f.reason}));
        map.insert("refused".to_owned(), refused.collect());
        map.insert("grouped_by".to_owned(), json!(report.grouped_by));
    }
    counts
}

/// One paragraph for the foot of a report.
#[must_use]
pub fn summary(report: &LoadReport) -> Vec<Fact> {
    let t = &report.totals;
    let many = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let mut facts = vec![Fact::new(
        "read",
        format!(
            "{}, {}, {}, {}, {}; {} scored, {} successful; grouped by {}; success at {}",
            many(t.files, "file"),
            many(t.records, "record"),
            many(t.groups, "group"),
            many(t.rollouts, "rollout"),
            many(t.steps, "step"),
            t.scored,
            t.successes,
            report.grouped_by,
            report.success_at,
        ),
        vec![
            ("files", Cell::int(t.files)),
            ("records", Cell::int(t.records)),
            ("groups", Cell::int(t.groups)),
            ("rollouts", Cell::int(t.rollouts)),
            ("steps", Cell::int(t.steps)),
            ("scored", Cell::int(t.scored)),
            ("successes", Cell::int(t.successes)),
            ("skipped", Cell::int(t.skipped)),
            ("unscored", Cell::int(t.unscored)),
            ("errors", Cell::int(t.errors)),
        ],
    )];
    if let Some(partial) = report.partial() {
        facts.push(Fact::new("⚠", partial, Vec::new()));
    }
    for lost in report.refused().take(TOLD) {
        facts.push(Fact::new("not read", lost.to_string(), Vec::new()));
    }
    let excluded = [
        (t.excluded_calls, "call", "of sub-agents and users"),
        (t.excluded_messages, "greeting", "before the user's first message"),
    ];
    for (count, what, which) in excluded.into_iter().filter(|(count, ..)| *count > 0) {
        let are = if count == 1 { "is no step" } else { "are no steps" };
        let text = format!("{} {which} {are} of the policy", many(count, what));
        facts.push(Fact::new("excluded", text, Vec::new()));
    }
    let mut tell = |label: &str, total: usize, lines: Vec<String>| {
        let told = lines.len();
        for (i, line) in lines.into_iter().enumerate() {
            facts.push(Fact::new(if i == 0 { label } else { "" }, line, Vec::new()));
        }
        if total > told {
            facts.push(Fact::new("", format!("and {} more", total - told), Vec::new()));
        }
    };
    let skipped = report.skipped.iter().take(TOLD).map(ToString::to_string);
    tell("skipped", t.skipped, skipped.collect());
    let collapsed = report.collapsed.iter().take(TOLD).map(ToString::to_string);
    tell("left out", t.duplicates + t.retries, collapsed.collect());
    let unscored = report.unscored.iter().take(TOLD);
    let unscored = unscored.map(|u| {
        let mut line = format!("{} {}: {}", u.task, u.rollout, u.outcome);
        if u.reason != u.outcome {
            let _ = write!(line, ", {}", u.reason);
        }
        line
    });
    tell("unscored", report.unscored.len(), unscored.collect());
    let warnings = report.warnings.iter().map(|w| {
        let hint = w.hint.as_deref().unwrap_or_default();
        format!("{} [{}] {hint}", w.text, w.code)
    });
    tell("warnings", report.warnings.len(), warnings.collect());
    facts
}

/// The whole report in words, under the table of files.
#[must_use]
pub fn blocks(report: &LoadReport) -> Vec<Block> {
    let mut files = table(report);
    files.rows.truncate(report.files.len());
    let names: Vec<&str> = report.files.iter().map(|f| f.name.as_str()).collect();
    for (row, name) in files.rows.iter_mut().zip(super::text::short_paths(&names, NAME)) {
        if let Some(cell) = row.first_mut() {
            *cell = Cell::text(name);
        }
    }
    let mut blocks = vec![Block::new("", "", Body::Table(files))];
    let line = |text: String| Fact::new("", text, Vec::new());
    let problems = report
        .files
        .iter()
        .flat_map(|f| f.problems.iter().map(move |p| format!("{}: {p}", f.name)));
    let (damaged, without): (Vec<_>, Vec<_>) =
        report.not_rollouts.iter().partition(|f| f.kind == VerdictKind::Damaged);
    let problems = problems.chain(damaged.into_iter().map(|f| format!("{}: {}", f.name, f.reason)));
    blocks.push(Block::new("", "Problems", Body::Facts(problems.map(line).collect())));
    let mark = |f: &FileVerdict| match f.kind {
        VerdictKind::Copy => format!("{}: {}: {}", f.name, f.kind.mark(), f.reason),
        _ => format!("{}: {}", f.name, f.reason),
    };
    let mut without: Vec<Fact> = without.into_iter().map(|f| line(mark(f))).collect();
    let mut hints: Vec<&str> =
        report.not_rollouts.iter().filter_map(|f| f.hint.as_deref()).collect();
    hints.sort_unstable();
    hints.dedup();
    without.extend(hints.into_iter().map(|h| line(format!("hint: {h}"))));
    blocks.push(Block::new("", "Files without rollouts", Body::Facts(without)));
    blocks.push(Block::new("", "Load", Body::Facts(summary(report))));
    let outcomes = report
        .outcomes
        .iter()
        .map(|o| Fact::new("", format!("{} from {}", o.rollouts, o.source), Vec::new()))
        .collect();
    blocks.push(Block::new("", "Outcomes", Body::Facts(outcomes)));
    let joins = report.joins.iter();
    let joins = joins.map(|j| line(joined(j))).collect();
    blocks.push(Block::new("", "Joined files", Body::Facts(joins)));
    let sizes = report
        .group_sizes
        .iter()
        .map(|(n, groups)| {
            let text = format!("{groups} of {n} rollout{}", if *n == 1 { "" } else { "s" });
            Fact::new("", text, Vec::new())
        })
        .collect();
    blocks.push(Block::new("", "Groups by size", Body::Facts(sizes)));
    let notes: Vec<Fact> = report
        .notes
        .iter()
        .take(TOLD)
        .map(|n| {
            let who = n.rollout.as_deref().map_or_else(String::new, |r| format!(" {r}"));
            let field = if n.field.is_empty() { String::new() } else { format!(" {}", n.field) };
            let text = format!("{}: {} {}{who}{field}: {}", n.file, n.unit, n.number, n.reason);
            Fact::new("", text, Vec::new())
        })
        .collect();
    let more = report.totals.notes.saturating_sub(notes.len());
    let title = if more > 0 { format!("Notes ({more} more)") } else { "Notes".to_owned() };
    blocks.push(Block::new("", title, Body::Facts(notes)));
    blocks
}

/// What a file brought.
fn joined(join: &Join) -> String {
    let mut told = format!(
        "{} ({}): {} matched, {} without an entry, {} left over",
        join.file,
        join.kind,
        join.matched,
        join.missing,
        join.extra + join.ambiguous
    );
    if let Some(names) = join.told_left_over() {
        let _ = write!(told, ": {names}");
    }
    if !join.numbers.is_empty() {
        let _ = write!(told, "; logged numbers: {}", join.numbers.join(", "));
    }
    if !join.texts.is_empty() {
        let _ = write!(told, "; no number stands in: {} (text, not logged)", join.texts.join(", "));
    }
    told
}
