//! Verdicts that stand in other files, joined to rollouts: side files that were found beside the rollouts
//! ([`super::verdict_files`]), and the outcome map that a person gives.
//!
//! A verdict of the record itself is kept; the person's map outweighs everything. A map that contradicts
//! itself about a rollout gives it no verdict; of two maps the later one counts, and that is told.

use std::collections::{BTreeMap, BTreeSet};

use super::error::LoadError;
use super::options::LoadOptions;
use super::report::{Join, Skipped};
use super::sources::{Side, Sources};
use super::table::{Row, Table};
use super::verdict_files;
use super::work::Pending;
use crate::ingest::short_digest;
use crate::rollout::Outcome;
use crate::rollout::raw::{RawNumber, RawRollout};

/// Joins all verdicts; says for each file how many of its entries found a rollout.
pub fn join(
    pendings: &mut [Pending],
    sources: &Sources,
    sides: &[Side],
    options: &LoadOptions,
) -> Result<(Vec<Join>, Vec<Skipped>), LoadError> {
    let (mut joins, mut skipped) = (Vec::new(), Vec::new());
    if !sides.is_empty() {
        joins.extend(verdict_files::join(pendings, sources, sides));
    }
    let mut earlier = Earlier::new();
    for path in &options.outcomes {
        let table = Table::read(path)?;
        joins.push(outcome_map(pendings, sources, &table, &mut earlier, &mut skipped)?);
    }
    Ok((joins, skipped))
}

/// What a map says about a rollout.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Outcome(Outcome),
    Verdict(bool),
    Number(f64),
}

impl Told {
    /// Yes or no, in whatever words.
    fn verdict(self) -> Option<bool> {
        match self {
            Self::Outcome(Outcome::Success) | Self::Number(1.0) => Some(true),
            Self::Outcome(Outcome::Failure) | Self::Number(0.0) => Some(false),
            Self::Verdict(verdict) => Some(verdict),
            Self::Outcome(_) | Self::Number(_) => None,
        }
    }

    fn word(self) -> String {
        match self {
            Self::Outcome(outcome) => outcome.name().to_owned(),
            Self::Verdict(verdict) => verdict.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }

    fn agrees(self, other: Self) -> bool {
        self == other || self.verdict().is_some() && self.verdict() == other.verdict()
    }
}

/// What the maps before the current one said about each rollout, and which one it was.
type Earlier = BTreeMap<usize, (String, Told)>;

const KEYS: [&str; 10] = [
    "rollout",
    "rollout_id",
    "id",
    "path",
    "file",
    "trajectory",
    "name",
    "instance",
    "instance_id",
    "key",
];
const VALUES: [&str; 7] =
    ["outcome", "resolved", "success", "reward", "outcome_reward", "score", "value"];

fn outcome_map(
    pendings: &mut [Pending],
    sources: &Sources,
    table: &Table,
    earlier: &mut Earlier,
    skipped: &mut Vec<Skipped>,
) -> Result<Join, LoadError> {
    let (Some(key), Some(value)) = (table.column(&KEYS), table.column(&VALUES)) else {
        return Err(table.error(format!(
            "a column for the rollout ({}) and one for the outcome ({}) are needed; there are {}",
            KEYS.join(", "),
            VALUES.join(", "),
            table.columns().join(", ")
        )));
    };
    let task = table.column(&["task", "task_id"]);
    let mut rows: BTreeMap<&str, Vec<(usize, Row<'_>)>> = BTreeMap::new();
    for (at, row) in table.rows().enumerate() {
        let Some(name) = row.cell(Some(key)) else { continue };
        rows.entry(name).or_default().push((at, row));
    }
    let mut join = Join { file: table.name.clone(), kind: "outcomes", ..Join::default() };
    let names: Vec<Vec<String>> = pendings.iter().map(|p| map_names(p, sources)).collect();
    // A bare id that several tasks have says nothing without its task.
    let mut tasks: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for (pending, names) in pendings.iter().zip(&names) {
        for name in names {
            tasks.entry(name).or_default().insert(pending.raw.task.as_deref());
        }
    }
    let several: BTreeSet<String> =
        tasks.iter().filter(|(_, t)| t.len() > 1).map(|(n, _)| (*n).to_owned()).collect();
    let (mut used, mut unclear) = (BTreeSet::new(), BTreeSet::new());
    for (which, (pending, names)) in pendings.iter_mut().zip(&names).enumerate() {
        let own_task = pending.raw.task.clone();
        let mut found = Vec::new();
        for name in names {
            let Some(candidates) = rows.get(name.as_str()) else { continue };
            for &(at, row) in candidates {
                match row.cell(task) {
                    Some(t) if Some(t) == own_task.as_deref() => found.push((at, row)),
                    Some(_) => {}
                    None if several.contains(name) => {
                        unclear.insert(at);
                    }
                    None => found.push((at, row)),
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        let found: Vec<(usize, Row<'_>, Told)> = found
            .into_iter()
            .filter_map(|(at, row)| Some((at, row, told(row.cell(Some(value))).ok()?)))
            .collect();
        let Some(&(_, last, now)) = found.last() else {
            join.missing += 1;
            continue;
        };
        used.extend(found.iter().map(|(at, ..)| *at));
        let says = |row: Row<'_>| row.cell(Some(value)).unwrap_or_default().to_owned();
        tell(pending, now, table, value);
        if let Some((_, row, _)) = found.iter().find(|(.., other)| !other.agrees(now)) {
            let (a, b) = (table.place(row.number), table.place(last.number));
            let why = format!("{}: {a} says {}, {b} {}", table.name, says(*row), says(last));
            join.disputes.push(verdict_files::about(&pending.raw, &why));
            contradicted(&mut pending.raw, &why);
            continue;
        }
        if let Some((file, before)) = earlier.get(&which).filter(|(_, then)| !then.agrees(now)) {
            let why = format!(
                "{file} says {}, {}, which was given later and counts, {}",
                before.word(),
                table.name,
                now.word()
            );
            join.disputes.push(verdict_files::about(&pending.raw, &why));
        }
        earlier.insert(which, (table.name.clone(), now));
    }
    let mut bad = table.skipped();
    for row in table.rows() {
        if let Err(why) = told(row.cell(Some(value))) {
            bad.push(table.skip(row.number, table.columns().get(value).map(String::as_str), why));
        }
    }
    bad.sort_by_key(|s| s.number);
    let unread = table.rows().filter(|row| told(row.cell(Some(value))).is_err()).count();
    skipped.append(&mut bad);
    join.matched = used.len();
    join.ambiguous = unclear.difference(&used).count();
    join.extra = (table.rows().count() - unread).saturating_sub(join.matched + join.ambiguous);
    Ok(join)
}

/// Names that a map may use: the id, the run, the short digest, and the path as far as it is needed.
fn map_names(pending: &Pending, sources: &Sources) -> Vec<String> {
    let raw = &pending.raw;
    let mut names: Vec<String> = raw.id.iter().chain(&raw.run).cloned().collect();
    names.push(short_digest(pending.content));
    let Some(source) = sources.get(pending.record.source) else { return names };
    names.push(source.name().to_owned());
    let mut rest = source.place();
    while !rest.is_empty() {
        names.push(rest.to_owned());
        rest = rest.split_once('/').map_or("", |(_, after)| after);
    }
    names.extend(raw.task.clone());
    names
}

fn told(cell: Option<&str>) -> Result<Told, String> {
    let Some(text) = cell else { return Err("the outcome is empty".to_owned()) };
    let word = text.trim().to_ascii_lowercase();
    if let Some(outcome) = Outcome::ALL.into_iter().find(|o| o.name() == word) {
        return Ok(Told::Outcome(outcome));
    }
    match word.as_str() {
        "true" | "resolved" | "pass" | "passed" => Ok(Told::Verdict(true)),
        "false" | "unresolved" | "fail" | "failed" => Ok(Told::Verdict(false)),
        number => match number.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(Told::Number(v)),
            _ => Err(format!("`{text}` is neither an outcome nor a number")),
        },
    }
}

/// A map that says two things about a rollout says nothing.
fn contradicted(raw: &mut RawRollout, why: &str) {
    (raw.outcome, raw.verdict) = (None, None);
    raw.mask = Some(format!("contradictory verdicts: {why}"));
}

fn tell(pending: &mut Pending, told: Told, table: &Table, column: usize) {
    let raw = &mut pending.raw;
    (raw.outcome, raw.verdict, raw.mask) = (None, None, None);
    raw.outcome_field = Some(table.columns().get(column).cloned().unwrap_or_default());
    match told {
        Told::Outcome(outcome) => raw.outcome = Some(outcome),
        Told::Verdict(verdict) => raw.verdict = Some(verdict),
        Told::Number(number) => {
            raw.outcome_reward = RawNumber::Value(number);
            if raw.reward.value().is_none() {
                raw.reward = RawNumber::Value(number);
            }
        }
    }
    pending.told = Some(table.name.clone());
}
