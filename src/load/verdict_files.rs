//! Verdicts of side files (SWE-bench reports and run summaries, results of Harbor trials), joined to
//! rollouts by instance and run.
//!
//! The nearest file of the run counts, a report of one instance before a summary, and a verdict of the
//! record itself before both. Files that contradict themselves or each other about a rollout give it no
//! verdict, and what they say is told.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Join;
use super::sources::{Side, Sources};
use super::work::Pending;
use crate::ingest::verdicts::{Given, SideFile};
use crate::rollout::Outcome;
use crate::rollout::raw::{Ending, RawRollout};

/// Joins side files; one entry per summary, one for all reports of single instances.
pub fn join(pendings: &mut [Pending], sources: &Sources, sides: &[Side]) -> Vec<Join> {
    let files = Files::of(sides);
    let mut tally = Tally::new(sides.len());
    for pending in pendings {
        let place = sources.get(pending.record.source).map_or("", |s| s.place()).to_owned();
        let names = instances(&pending.raw, &place);
        let fits = files.fits(&pending.raw, &names, &place);
        let Some(best) = fits.last() else {
            tally.missing += usize::from(!has_verdict(&pending.raw));
            continue;
        };
        if has_verdict(&pending.raw) {
            if let Some(told) = best.against(&pending.raw) {
                tally.disputes(best.at, &told, pending);
            }
            continue;
        }
        match best.dispute(&fits) {
            Some(told) => {
                tally.disputes(best.at, &told, pending);
                pending.raw.mask = Some(format!("contradictory verdicts: {told}"));
            }
            None => best.apply(&mut pending.raw),
        }
        pending.told = Some(best.side.name.clone());
        tally.used(best.at, best.name.or(names.first().map(String::as_str)).unwrap_or_default());
    }
    tally.joins(sides)
}

/// The side files, found by the instances that they name.
struct Files<'s> {
    sides: &'s [Side],
    by_instance: BTreeMap<&'s str, Vec<usize>>,
    /// Those that say something about instances that they do not name.
    open: Vec<usize>,
}

/// A side file that is about a rollout.
struct Fit<'s> {
    rank: Rank,
    at: usize,
    side: &'s Side,
    /// The name under which it knows the rollout.
    name: Option<&'s str>,
    given: Option<Given>,
}

/// How well a side file fits a rollout: by run, by the nearest folder, a report before a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    by_run: bool,
    near: usize,
    single: bool,
}

impl<'s> Files<'s> {
    fn of(sides: &'s [Side]) -> Self {
        let mut by_instance: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut open = Vec::new();
        for (at, side) in sides.iter().enumerate() {
            for instance in side.content.given.keys() {
                by_instance.entry(instance).or_default().push(at);
            }
            if side.content.rest.is_some() || side.content.trial.is_some() {
                open.push(at);
            }
        }
        Self { sides, by_instance, open }
    }

    /// The files that are about a rollout, the best one last.
    fn fits(&self, raw: &RawRollout, names: &[String], place: &str) -> Vec<Fit<'s>> {
        let listed = names.iter().filter_map(|n| self.by_instance.get(n.as_str())).flatten();
        let all: BTreeSet<usize> = listed.chain(&self.open).copied().collect();
        let fit = |at: usize| {
            let side = self.sides.get(at)?;
            let rank = rank(&side.content, raw, place)?;
            let entry = names.iter().find_map(|n| side.content.given.get_key_value(n));
            let name = entry.map(|(name, _)| name.as_str());
            let given = entry.map(|(_, given)| *given).or(side.content.rest);
            Some(Fit { rank, at, side, name, given })
        };
        let mut fits: Vec<Fit<'s>> = all.into_iter().filter_map(fit).collect();
        fits.sort_by_key(|f| (f.rank, f.at));
        fits
    }
}

fn rank(side: &SideFile, raw: &RawRollout, place: &str) -> Option<Rank> {
    let near = under(&side.home, place);
    let own =
        |run: &String| raw.run.as_ref() == Some(run) || place.split('/').any(|part| part == run);
    let by_run = side.runs.iter().any(own);
    let fits = if side.runs.is_empty() { near } else { by_run };
    let near = if near { side.home.len() + 1 } else { 0 };
    fits.then_some(Rank { by_run, near, single: side.single })
}

impl Fit<'_> {
    fn apply(&self, raw: &mut RawRollout) {
        if let Some(trial) = &self.side.content.trial {
            trial.apply(raw);
            return;
        }
        match self.given {
            Some(Given::Resolved(resolved)) => {
                raw.verdict = Some(resolved);
                raw.outcome_field = Some("resolved".to_owned());
            }
            Some(Given::Broken) => {
                let end = Ending::Infra("evaluation error".to_owned());
                raw.ending = crate::ingest::ending::worse(std::mem::take(&mut raw.ending), end);
            }
            None => {}
        }
    }

    /// What contradicts this file: itself, or another one among `fits`. A file that is only farther
    /// away was made for another purpose, and the nearer one counts; a report of the instance and
    /// a summary that names it are about the same evaluation wherever they lie.
    fn dispute(&self, fits: &[Self]) -> Option<String> {
        if self.side.content.trial.is_some() {
            return None;
        }
        if let Some(why) = self.name.and_then(|n| self.side.content.disputed.get(n)) {
            return Some(format!("{}: {why}", self.side.name));
        }
        let alike = |other: &Self| {
            let same = (self.rank.by_run, self.rank.near) == (other.rank.by_run, other.rank.near);
            let both_name_it = self.name.is_some() && other.name.is_some();
            same || both_name_it && self.rank.single != other.rank.single
        };
        let differs = |other: &&Self| {
            let known = other.side.content.trial.is_none() && other.given.is_some();
            known && other.given != self.given && alike(other)
        };
        let other = fits.iter().filter(|f| f.at != self.at).rev().find(differs)?;
        Some(format!(
            "{} says {}, {} {}",
            self.side.name,
            self.word(),
            other.side.name,
            other.word()
        ))
    }

    /// What it says against the verdict that the record itself gives.
    fn against(&self, raw: &RawRollout) -> Option<String> {
        let own = raw.verdict.or(match raw.outcome {
            Some(Outcome::Success) => Some(true),
            Some(Outcome::Failure) => Some(false),
            _ => None,
        })?;
        let Some(Given::Resolved(told)) = self.given else { return None };
        (told != own && self.side.content.trial.is_none()).then(|| {
            let own = if own { "resolved" } else { "unresolved" };
            format!(
                "the record itself says {own}, which counts, {} {}",
                self.side.name,
                self.word()
            )
        })
    }

    fn word(&self) -> &'static str {
        match self.given {
            Some(Given::Resolved(true)) => "resolved",
            Some(Given::Resolved(false)) => "unresolved",
            Some(Given::Broken) => "error",
            None => "nothing",
        }
    }
}

/// What is said about a rollout, with its name.
pub fn about(raw: &RawRollout, told: &str) -> String {
    let task = raw.task.as_deref().unwrap_or("?");
    match raw.id.as_deref().or(raw.run.as_deref()) {
        Some(id) => format!("`{task}`, rollout {id}: {told}"),
        None => format!("`{task}`: {told}"),
    }
}

fn has_verdict(raw: &RawRollout) -> bool {
    raw.outcome.is_some()
        || raw.verdict.is_some()
        || raw.mask.is_some()
        || raw.reward.value().is_some()
        || raw.outcome_reward.value().is_some()
}

/// Names under which a verdict may know a rollout: its task, its file, its folder.
fn instances(raw: &RawRollout, place: &str) -> Vec<String> {
    let mut parts = place.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let bare =
        [".traj.json", ".traj", ".jsonl", ".json"].into_iter().find_map(|e| file.strip_suffix(e));
    let all = [raw.task.as_deref(), Some(bare.unwrap_or(file)), parts.next()];
    all.into_iter().flatten().filter(|n| !n.is_empty()).map(str::to_owned).collect()
}

/// Whether `place` lies under `home`.
fn under(home: &str, place: &str) -> bool {
    place.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'))
}

/// What is known about the use of each file.
struct Tally {
    used: Vec<BTreeSet<String>>,
    disputes: Vec<Vec<String>>,
    missing: usize,
}

impl Tally {
    fn new(sides: usize) -> Self {
        Self { used: vec![BTreeSet::new(); sides], disputes: vec![Vec::new(); sides], missing: 0 }
    }

    fn used(&mut self, at: usize, name: &str) {
        if let Some(used) = self.used.get_mut(at) {
            used.insert(name.to_owned());
        }
    }

    fn disputes(&mut self, at: usize, told: &str, pending: &Pending) {
        if let Some(disputes) = self.disputes.get_mut(at) {
            disputes.push(about(&pending.raw, told));
        }
    }

    /// One entry per summary; reports of single instances are counted together.
    fn joins(self, sides: &[Side]) -> Vec<Join> {
        let mut joins: BTreeMap<String, Join> = BTreeMap::new();
        for ((side, used), disputes) in sides.iter().zip(&self.used).zip(self.disputes) {
            let base = side.name.rsplit('/').next().unwrap_or_default();
            let name = if side.content.single { base } else { &side.name };
            let join = joins.entry(name.to_owned()).or_insert_with(|| Join {
                file: name.to_owned(),
                kind: "verdicts",
                missing: self.missing,
                ..Join::default()
            });
            let all = side.content.given.len().max(usize::from(side.content.trial.is_some()));
            join.matched += used.len();
            join.extra += all.saturating_sub(used.len());
            join.disputes.extend(disputes);
        }
        joins.into_values().collect()
    }
}
