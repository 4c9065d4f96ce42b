//! Verdicts of side files (SWE-bench reports and run summaries, results of Harbor trials), joined to
//! rollouts by instance and run.
//!
//! The nearest file of the run counts, a report of one instance before a summary, and a verdict of the
//! record itself before both. Files that contradict themselves or each other about a rollout give it no
//! verdict, and what they say is told.

use std::collections::{BTreeMap, BTreeSet};

use super::join::{Join, NAMED};
use super::report::Note;
use super::sources::{Side, Sources};
use super::standing::{Rollouts, Standing};
use super::work::Pending;
use crate::ingest::verdicts::{Given, SideFile};
use crate::rollout::Outcome;
use crate::rollout::raw::{Ending, RawRollout};

/// Joins side files; one entry per summary, one for all reports of single instances.
pub fn join(pendings: &mut [Pending], sources: &Sources, sides: &[Side]) -> Vec<Join> {
    let place_of = |p: &Pending| sources.get(p.record.source).map_or("", |s| s.place()).to_owned();
    let standings = Rollouts::of(pendings, place_of).standings(sides);
    let files = Files::of(sides, &standings);
    let mut tally = Tally::new(sides.len());
    for pending in pendings {
        let place = place_of(pending);
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
            tally.used(best.at, best.instance(&names));
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
        tally.used(best.at, best.instance(&names));
    }
    tally.joins(sides, &standings)
}

/// What was read as something else in side files.
pub fn notes(sides: &[Side]) -> Vec<Note> {
    let of = |side: &Side| {
        let name = side.name.clone();
        side.content.notes.clone().into_iter().map(move |(field, reason)| Note {
            file: name.clone(),
            unit: "document",
            number: 1,
            rollout: None,
            field,
            reason,
        })
    };
    sides.iter().flat_map(of).collect()
}

/// The side files, found by the instances that they name.
struct Files<'s> {
    sides: &'s [Side],
    standings: &'s [Standing],
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

/// How well a side file fits a rollout: one that says something, by run, by the nearest folder, a report
/// before a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    says: bool,
    by_run: bool,
    near: usize,
    single: bool,
}

impl<'s> Files<'s> {
    fn of(sides: &'s [Side], standings: &'s [Standing]) -> Self {
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
        Self { sides, standings, by_instance, open }
    }

    /// The files that are about a rollout, the best one last.
    fn fits(&self, raw: &RawRollout, names: &[String], place: &str) -> Vec<Fit<'s>> {
        let listed = names.iter().filter_map(|n| self.by_instance.get(n.as_str())).flatten();
        let all: BTreeSet<usize> = listed.chain(&self.open).copied().collect();
        let fit = |at: usize| {
            let side = self.sides.get(at)?;
            let entry = names.iter().find_map(|n| side.content.given.get_key_value(n));
            let name = entry.map(|(name, _)| name.as_str());
            let given = entry.map(|(_, given)| *given).or(side.content.rest);
            let by_folder = matches!(self.standings.get(at), Some(Standing::Folder));
            let rank = rank(&side.content, raw, place, by_folder)?;
            let rank = Rank { says: given != Some(Given::Open), ..rank };
            Some(Fit { rank, at, side, name, given })
        };
        let mut fits: Vec<Fit<'s>> = all.into_iter().filter_map(fit).collect();
        fits.sort_by_key(|f| (f.rank, f.at));
        fits
    }
}

fn rank(side: &SideFile, raw: &RawRollout, place: &str, by_folder: bool) -> Option<Rank> {
    let near = under(&side.home, place);
    let by_run = of_run(side, raw.run.as_deref(), place);
    let fits = if side.runs.is_empty() || by_folder { near } else { by_run };
    let near = if near { side.home.len() + 1 } else { 0 };
    fits.then_some(Rank { says: true, by_run, near, single: side.single })
}

/// Whether a file names the run of a rollout, or a folder that it lies in.
pub fn of_run(side: &SideFile, run: Option<&str>, place: &str) -> bool {
    let own = |name: &String| run == Some(name) || place.split('/').any(|part| part == name);
    side.runs.iter().any(own)
}

impl Fit<'_> {
    /// The instance of a rollout with these names, as the file calls it.
    fn instance<'n>(&'n self, names: &'n [String]) -> &'n str {
        self.name.or(names.first().map(String::as_str)).unwrap_or_default()
    }

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
            // How it ended still says what it says.
            Some(Given::Open) => {
                raw.unscored = Some(format!("{}: `resolved` is null", self.side.name));
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
            let says = other.given.is_some_and(|given| given != Given::Open);
            let known = other.side.content.trial.is_none() && says;
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
            Some(Given::Open) | None => "nothing",
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
pub fn instances(raw: &RawRollout, place: &str) -> Vec<String> {
    let mut parts = place.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let bare =
        [".traj.json", ".traj", ".jsonl", ".json"].into_iter().find_map(|e| file.strip_suffix(e));
    let all = [raw.task.as_deref(), Some(bare.unwrap_or(file)), parts.next()];
    all.into_iter().flatten().filter(|n| !n.is_empty()).map(str::to_owned).collect()
}

/// Whether `place` lies under `home`.
pub fn under(home: &str, place: &str) -> bool {
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
    fn joins(self, sides: &[Side], standings: &[Standing]) -> Vec<Join> {
        let mut joins: BTreeMap<String, Join> = BTreeMap::new();
        let all = sides.iter().zip(standings).zip(&self.used).zip(self.disputes);
        for (((side, standing), used), disputes) in all {
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
            let rest = side.content.given.keys().filter(|name| !used.contains(*name));
            join.left_over.extend(rest.take(NAMED - join.left_over.len()).cloned());
            join.disputes.extend(disputes);
            if join.unjoined.is_none() {
                join.unjoined = standing.told(&side.content);
            }
        }
        joins.into_values().collect()
    }
}
