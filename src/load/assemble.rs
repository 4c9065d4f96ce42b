//! From records to groups: keys, identities, segments, columns, and the report about all of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Loaded;
use super::copies::Copies;
use super::error::LoadError;
use super::folder;
use super::group::{self, key_of};
use super::identity::{self, Draft, Seen};
use super::join;
use super::keys::Keys;
use super::options::LoadOptions;
use super::report::{FileVerdict, LoadReport, Skipped, VerdictKind};
use super::sidecar;
use super::sources::{Side, Sources};
use super::tally::Tally;
use super::verdict_files;
use super::warn;
use super::work::{Pending, Record};
use crate::facts::Interpreter;
use crate::profile::Profiles;
use crate::rollout::raw::RawRollout;
use crate::rollout::{Corpus, GroupKey, natural};

/// Joins everything that was read.
pub fn assemble(
    records: Vec<Record>,
    sources: Sources,
    sides: &[Side],
    verdicts: Vec<FileVerdict>,
    options: &LoadOptions,
    profiles: &Arc<Profiles>,
) -> Result<Loaded, LoadError> {
    let mut tally = Tally::new(&sources, options);
    let mut pendings = Vec::new();
    let mut left_out = Vec::new();
    for mut record in records {
        left_out.append(&mut record.left_out);
        pendings.extend(tally.take(record, &sources));
    }
    if pendings.is_empty() {
        return Err(nothing(&mut tally, verdicts, left_out, options, &sources));
    }
    tally.left_out(left_out.len());
    let (mut joins, skipped) = join::join(&mut pendings, &sources, sides, options)?;
    tally.skip(skipped);
    tally.notes(verdict_files::notes(sides));
    folder::bring_together(&mut pendings, |file| {
        let place = sources.get(file)?.place();
        Some(place.rsplit_once('/')?.0.to_owned())
    });
    let keys = Keys::of(&pendings, options);
    if let Some(field) = &options.group_by
        && !pendings.iter().any(|p| key_of(&p.raw, field).is_some())
    {
        return Err(LoadError::NoSuchKey { field: field.clone(), available: keys.names() });
    }
    let mut grouped: BTreeMap<GroupKey, Vec<Pending>> = BTreeMap::new();
    for pending in pendings {
        let format = sources.format(pending.record.source);
        if let Some(key) = group::group_key(&pending.raw, format, options) {
            grouped.entry(key).or_default().push(pending);
        }
    }
    let namesakes = group::namesakes(grouped.keys());
    let mut seen = Seen::default();
    let mut joiner = Joiner { sources: &sources, profiles, interpreter: None };
    let mut groups = Vec::with_capacity(grouped.len());
    let mut build = |tally: &mut Tally, key, drafts| {
        let namesake = namesakes.contains(&key);
        let mut built = group::build(key, drafts, options);
        built.group.namesake = namesake;
        tally.group(&built);
        groups.push(Arc::new(built.group));
    };
    let mut drafted: Vec<(GroupKey, Vec<Draft>)> = Vec::new();
    for (key, pendings) in grouped {
        if options.cancelled() {
            return Err(LoadError::Cancelled);
        }
        let mut drafts = identity::drafts(pendings, &mut seen);
        for draft in drafts.iter_mut().filter(|d| !d.earlier.is_empty()) {
            tally.segments(draft, &sources);
            joiner.join(draft)?;
        }
        for draft in &drafts {
            tally.continues(draft, &sources);
        }
        // A sidecar speaks of all rollouts; without one, drafts need not wait for each other.
        if options.sidecars.is_empty() {
            build(&mut tally, key, drafts);
        } else {
            drafted.push((key, drafts));
        }
    }
    for path in &options.sidecars {
        let applied = sidecar::apply(path, &mut drafted)?;
        joins.push(applied.join);
        tally.notes(applied.notes);
        tally.skip(applied.skipped);
    }
    for (key, drafts) in drafted {
        if options.cancelled() {
            return Err(LoadError::Cancelled);
        }
        build(&mut tally, key, drafts);
    }
    tally.collapsed(&seen, &sources);
    let mut report = tally.finish(&sources, &groups);
    report.not_rollouts = verdicts;
    report.joins = joins;
    report.grouped_by = keys.grouped_by();
    let copies = Copies::among(&report.files);
    copies.mark(&mut report.files);
    warn::warn(&mut report, &groups, &keys, &seen, &copies);
    Ok(Loaded { corpus: Corpus { groups }, report, sources })
}

/// Why there is nothing: another task was asked for, or no record could be read.
fn nothing(
    tally: &mut Tally,
    mut verdicts: Vec<FileVerdict>,
    mut tasks: Vec<String>,
    options: &LoadOptions,
    sources: &Sources,
) -> LoadError {
    if let (Some(only), false) = (&options.only, tasks.is_empty()) {
        tasks.sort_by(|a, b| natural(a, b));
        tasks.dedup();
        tasks.truncate(12);
        return LoadError::NoSuchTask { task: only.clone(), available: tasks };
    }
    let report: &LoadReport = tally.so_far(sources);
    for (id, _) in sources.iter() {
        let name = sources.name(id);
        let first = report.skipped.iter().find(|s| s.file == name);
        verdicts.push(FileVerdict {
            name: name.to_owned(),
            named: true,
            reason: first.map_or_else(
                || format!("read as {}, but it holds no record", sources.format(id)),
                |s| {
                    let told = Skipped { hint: None, ..s.clone() }.to_string();
                    let told = told.strip_prefix(&format!("{name}: ")).unwrap_or(&told).to_owned();
                    format!("read as {}, but no record could be used; {told}", sources.format(id))
                },
            ),
            hint: first.and_then(|s| s.hint.clone()),
            kind: VerdictKind::Lost,
        });
    }
    verdicts.sort_by(|a, b| natural(&a.name, &b.name));
    LoadError::no_rollouts(verdicts)
}

/// Joins the segments of a rollout: they are read again together, since what a step did can depend
/// on what was seen in an earlier segment.
struct Joiner<'a> {
    sources: &'a Sources,
    profiles: &'a Arc<Profiles>,
    interpreter: Option<Interpreter>,
}

impl Joiner<'_> {
    fn join(&mut self, draft: &mut Draft) -> Result<(), LoadError> {
        let mut whole: Option<RawRollout> = None;
        for record in &draft.records {
            let next = self.sources.rollout(record).map_err(|error| LoadError::Io {
                file: self.sources.name(record.source).to_owned(),
                error: std::io::Error::other(error),
            })?;
            whole = Some(match whole {
                None => next,
                Some(before) => append(before, next),
            });
        }
        let Some(raw) = whole else { return Ok(()) };
        // What the records say about the end, and what was joined to it, is there already.
        let said = (*draft.pending.raw).clone();
        let raw = RawRollout {
            steps: raw.steps,
            prompt: raw.prompt,
            excluded_calls: raw.excluded_calls,
            excluded_messages: raw.excluded_messages,
            ..said
        };
        let record = draft.pending.record.clone();
        let format = self.sources.format(record.source);
        let interpreter =
            self.interpreter.get_or_insert_with(|| Interpreter::new(Arc::clone(self.profiles)));
        let facts = interpreter.read(format, &raw);
        let content = draft.pending.content;
        let told = draft.pending.told.take();
        draft.pending = Pending { told, ..Pending::new(record, content, raw, facts) };
        draft.earlier.clear();
        Ok(())
    }
}

/// One rollout out of two segments: steps one after the other; verdict, rewards and ending are those
/// of the later one, so that a reward that each segment repeats counts once.
fn append(before: RawRollout, mut after: RawRollout) -> RawRollout {
    let shift = before.steps.iter().map(|s| s.turn + 1).max().unwrap_or(0);
    let mut steps = before.steps;
    steps.extend(std::mem::take(&mut after.steps).into_iter().map(|mut step| {
        step.turn += shift;
        step
    }));
    RawRollout {
        steps,
        prompt: before.prompt.or(after.prompt),
        excluded_calls: before.excluded_calls + after.excluded_calls,
        excluded_messages: before.excluded_messages + after.excluded_messages,
        ..after
    }
}
