//! Counts while records become groups, for the load report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::group::Built;
use super::identity::{Draft, Seen};
use super::locate::Locator;
use super::options::LoadOptions;
use super::report::{
    Collapsed, FileReport, KEPT, LoadReport, Note, OutcomeOrigin, Skipped, Totals, Unscored,
};
use super::segments;
use super::sources::Sources;
use super::work::{Pending, Record};
use crate::rollout::{Group, Outcome, SourceId};

/// Counters of a load.
pub struct Tally {
    report: LoadReport,
    digests: Vec<Vec<[u8; 32]>>,
    groups_of: Vec<BTreeSet<usize>>,
    groups: usize,
    /// Where the skipped records of the report start; a part has no place of its own where its record
    /// was read as a whole.
    places: Vec<(SourceId, Option<u64>)>,
    origins: BTreeMap<String, usize>,
    out_of_range: usize,
}

impl Tally {
    /// Counters at zero.
    #[must_use]
    pub fn new(sources: &Sources, options: &LoadOptions) -> Self {
        let files = sources
            .iter()
            .map(|(id, source)| FileReport {
                problems: source.problem().map(str::to_owned).into_iter().collect(),
                damaged: source.problem().is_some(),
                named: source.named(),
                name: sources.name(id).to_owned(),
                bytes: sources.bytes(id),
                format: sources.format(id).to_owned(),
                ..FileReport::default()
            })
            .collect();
        Self {
            report: LoadReport { files, success_at: options.success_at, ..LoadReport::default() },
            digests: vec![Vec::new(); sources.len()],
            groups_of: vec![BTreeSet::new(); sources.len()],
            groups: 0,
            places: Vec::new(),
            origins: BTreeMap::new(),
            out_of_range: 0,
        }
    }

    /// Counts a record and hands on its rollouts.
    pub fn take(&mut self, record: Record, sources: &Sources) -> Vec<Pending> {
        let at = record.source.0 as usize;
        if let Some(digests) = self.digests.get_mut(at) {
            digests.push(record.digest);
        }
        let unit = sources.get(record.source).map_or("record", |s| s.unit());
        let name = sources.name(record.source).to_owned();
        let mut fine = Vec::new();
        let note = |rollout: Option<&String>, field: &str, reason: &str| Note {
            file: name.clone(),
            unit,
            number: record.number,
            rollout: rollout.cloned(),
            field: field.to_owned(),
            reason: reason.to_owned(),
        };
        for (field, reason) in record.repairs.notes() {
            keep(&mut self.report.notes, &mut self.report.totals.notes, note(None, field, &reason));
        }
        for (field, reason) in &record.notes {
            keep(&mut self.report.notes, &mut self.report.totals.notes, note(None, field, reason));
        }
        let mut read = record.parts.is_empty();
        for part in record.parts {
            match part {
                Ok(pending) => {
                    read = true;
                    self.report.totals.dropped += pending.raw.dropped as usize;
                    for (field, reason) in &pending.raw.notes {
                        let note = note(pending.raw.id.as_ref(), field, reason);
                        keep(&mut self.report.notes, &mut self.report.totals.notes, note);
                    }
                    fine.push(pending);
                }
                Err(lost) => {
                    read |= lost.part.is_some() || lost.line;
                    self.report.uncut += usize::from(lost.uncut);
                    if self.report.skipped.len() < KEPT {
                        let place = lost.offset.or(lost.part.is_none().then_some(record.offset));
                        self.places.push((record.source, place));
                    }
                    let skipped = Skipped {
                        file: name.clone(),
                        // A line of a document gets its number where it is located.
                        unit: if lost.line { "line" } else { unit },
                        number: if lost.line { 0 } else { record.number },
                        line: None,
                        at: None,
                        part: lost.part.map(|p| p + 1),
                        kind: lost.error.kind,
                        field: lost.error.field,
                        reason: lost.error.reason,
                        hint: lost.error.hint,
                        around: lost.around,
                    };
                    self.report.skip(skipped);
                    self.file(record.source, |f| f.skipped += 1);
                }
            }
        }
        if read {
            self.report.totals.records += 1;
            self.file(record.source, |f| f.records += 1);
        }
        fine
    }

    /// The report as it stands.
    #[must_use]
    pub fn so_far(&mut self, sources: &Sources) -> &LoadReport {
        self.locate(sources);
        &self.report
    }

    /// Finds the lines of what was skipped.
    fn locate(&mut self, sources: &Sources) {
        let mut locator = Locator::default();
        for (skipped, &(id, offset)) in self.report.skipped.iter_mut().zip(&self.places) {
            if let (Some(source), Some(offset)) = (sources.get(id), offset) {
                locator.locate(skipped, id, source, offset);
            }
        }
    }

    /// Counts rollouts of other tasks.
    pub fn left_out(&mut self, rollouts: usize) {
        self.report.totals.left_out = rollouts;
    }

    /// Counts segments that are joined to another, and notes what they contradict each other in.
    pub fn segments(&mut self, draft: &Draft, sources: &Sources) {
        self.report.totals.joined_segments += draft.earlier.len();
        for (field, reason) in segments::contradictions(draft) {
            self.note(draft, field, reason, sources);
        }
    }

    /// Notes what is odd in a file beside the rollouts.
    pub fn notes(&mut self, notes: Vec<Note>) {
        for note in notes {
            keep(&mut self.report.notes, &mut self.report.totals.notes, note);
        }
    }

    /// Counts rows of files beside the rollouts that could not be used.
    pub fn skip(&mut self, skipped: Vec<Skipped>) {
        for one in skipped {
            if self.report.skipped.len() < KEPT {
                // Its place is known.
                self.places.push((SourceId::default(), None));
            }
            self.report.skip(one);
        }
    }

    /// Notes a rollout whose last part is not among what was given.
    pub fn continues(&mut self, draft: &Draft, sources: &Sources) {
        let Some(next) = &draft.pending.raw.continues_in else { return };
        let reason = format!("the rollout goes on in `{next}`, which was not given");
        self.note(draft, "continued_trajectory_ref", reason, sources);
    }

    fn note(&mut self, draft: &Draft, field: &str, reason: String, sources: &Sources) {
        let record = &draft.pending.record;
        let note = Note {
            file: sources.name(record.source).to_owned(),
            unit: sources.get(record.source).map_or("record", |s| s.unit()),
            number: record.line,
            rollout: Some(draft.id.clone()),
            field: field.to_owned(),
            reason,
        };
        keep(&mut self.report.notes, &mut self.report.totals.notes, note);
    }

    /// Counts a finished group.
    pub fn group(&mut self, built: &Built) {
        let Built { group, decisions, kinds, raw_steps } = built;
        let told = decisions.iter().zip(kinds).zip(raw_steps);
        for (rollout, ((decision, kind), &raw)) in group.rollouts.iter().zip(told) {
            let (totals, steps) = (&mut self.report.totals, rollout.steps.len());
            let (scored, success) = match rollout.outcome {
                Outcome::Success => (true, true),
                Outcome::Failure | Outcome::Truncated => (true, false),
                Outcome::Error | Outcome::Unscored => (false, false),
            };
            match rollout.outcome {
                Outcome::Success => totals.successes += 1,
                Outcome::Failure => totals.failures += 1,
                Outcome::Truncated => totals.truncated += 1,
                Outcome::Error => totals.errors += 1,
                Outcome::Unscored => totals.unscored += 1,
            }
            totals.rollouts += 1;
            totals.scored += usize::from(scored);
            totals.steps += steps;
            totals.raw_steps += raw as usize;
            totals.excluded_calls += rollout.excluded_calls as usize;
            totals.excluded_messages += rollout.excluded_messages as usize;
            *self.origins.entry(kind.clone()).or_default() += 1;
            if decision.number.is_some_and(|n| !(0.0..=1.0).contains(&n)) {
                self.out_of_range += 1;
            }
            if !scored && self.report.unscored.len() < KEPT {
                self.report.unscored.push(Unscored {
                    task: group.key.task.clone(),
                    rollout: rollout.id.clone(),
                    outcome: rollout.outcome.name(),
                    reason: decision.source.clone(),
                });
            }
            let Some(source) = rollout.records.first().map(|r| r.source) else { continue };
            let nth = self.groups;
            if let Some(groups) = self.groups_of.get_mut(source.0 as usize) {
                groups.insert(nth);
            }
            self.file(source, |f| {
                f.rollouts += 1;
                f.steps += steps;
                f.raw_steps += raw as usize;
                f.scored += usize::from(scored);
                f.successes += usize::from(success);
            });
        }
        self.groups += 1;
    }

    /// Counts copies and earlier attempts that were left out.
    pub fn collapsed(&mut self, seen: &Seen, sources: &Sources) {
        let mut by_file: BTreeMap<SourceId, (usize, usize)> = BTreeMap::new();
        for one in &seen.collapsed {
            let source = one.record.source;
            let (copies, retries) = by_file.entry(source).or_default();
            let totals = &mut self.report.totals;
            if one.attempts.is_some() {
                *retries += 1;
                totals.retries += 1;
            } else {
                *copies += 1;
                totals.duplicates += 1;
            }
            if self.report.collapsed.len() < KEPT {
                self.report.collapsed.push(Collapsed {
                    file: sources.name(source).to_owned(),
                    unit: sources.get(source).map_or("record", |s| s.unit()),
                    number: one.record.line,
                    rollout: one.id.clone(),
                    kind: if one.attempts.is_some() { "retry" } else { "copy" },
                    attempt: one.attempts.and_then(|(left, _)| left),
                    kept: one.attempts.map(|(_, kept)| kept),
                });
            }
        }
        for (source, (copies, retries)) in by_file {
            let told = [(copies, "copy", "copies"), (retries, "retry", "retries")];
            for (n, one, many) in told.into_iter().filter(|(n, ..)| *n > 0) {
                let word = if n == 1 { one } else { many };
                self.file(source, |f| f.problems.push(format!("{n} {word} left out")));
            }
        }
    }

    /// The report, warnings not yet in it.
    #[must_use]
    pub fn finish(mut self, sources: &Sources, groups: &[Arc<Group>]) -> LoadReport {
        for (at, (id, _)) in sources.iter().enumerate() {
            let digest = self.digests.get_mut(at).map(|d| order_free(d)).unwrap_or_default();
            let groups = self.groups_of.get(at).map_or(0, BTreeSet::len);
            self.file(id, |f| {
                f.digest = digest;
                f.groups = groups;
                if f.skipped > 0 {
                    f.problems.insert(0, format!("{} skipped", f.skipped));
                }
                if f.rollouts == 0 {
                    f.problems.push("no rollouts".to_owned());
                }
            });
        }
        self.locate(sources);
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        for group in groups {
            *sizes.entry(group.rollouts.len()).or_default() += 1;
        }
        self.report.group_sizes = sizes.into_iter().collect();
        self.report.outcomes = self
            .origins
            .into_iter()
            .map(|(source, rollouts)| OutcomeOrigin { source, rollouts })
            .collect();
        let totals: &mut Totals = &mut self.report.totals;
        totals.files = self.report.files.len();
        totals.groups = groups.len();
        if self.out_of_range > 0 {
            super::warn::reward_range(&mut self.report, self.out_of_range);
        }
        self.report
    }

    fn file(&mut self, id: SourceId, change: impl FnOnce(&mut FileReport)) {
        if let Some(file) = self.report.files.get_mut(id.0 as usize) {
            change(file);
        }
    }
}

fn keep<T>(list: &mut Vec<T>, total: &mut usize, entry: T) {
    *total += 1;
    if list.len() < KEPT {
        list.push(entry);
    }
}

/// A digest that does not depend on the order of records.
fn order_free(digests: &mut [[u8; 32]]) -> String {
    digests.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for digest in digests.iter() {
        hasher.update(digest);
    }
    hasher.finalize().to_hex().to_string()
}
