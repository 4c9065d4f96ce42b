//! Which files of a folder are one run, so that an id names one rollout in all of them: a framework may
//! write the segments, retries and copies of a rollout into several files.
//!
//! Files in which one id stands for different contents are different runs; they, and files of different
//! folders, are never brought together. No rollouts are joined here.

use std::collections::{BTreeMap, BTreeSet};

use super::work::Pending;
use crate::rollout::SourceId;

/// What an id may name only once in a folder: a segment of an attempt at a task by a policy.
type Slot<'a> = (usize, [Option<&'a str>; 4], [Option<u64>; 3]);

/// Gives the records of files that are one run the first of these files as what their ids are unique in.
pub fn bring_together(pendings: &mut [Pending], folder: impl Fn(SourceId) -> Option<String>) {
    let mut folders: BTreeMap<String, BTreeSet<SourceId>> = BTreeMap::new();
    let files: BTreeSet<SourceId> =
        pendings.iter().filter(|p| named(p)).map(|p| p.record.source).collect();
    for file in files {
        if let Some(folder) = folder(file) {
            folders.entry(folder).or_default().insert(file);
        }
    }
    folders.retain(|_, files| files.len() > 1);
    let nth: BTreeMap<SourceId, usize> = folders
        .values()
        .enumerate()
        .flat_map(|(nth, files)| files.iter().map(move |&file| (file, nth)))
        .collect();
    let apart = contradicting(pendings, &nth);
    let mut first: BTreeMap<SourceId, SourceId> = BTreeMap::new();
    for files in folders.values() {
        let run: Vec<SourceId> = files.difference(&apart).copied().collect();
        if let Some(&one) = run.first() {
            first.extend(run.into_iter().map(|file| (file, one)));
        }
    }
    for pending in pendings.iter_mut().filter(|p| named(p)) {
        if let Some(&file) = first.get(&pending.record.source) {
            pending.run_file = file;
        }
    }
}

/// Whether the record says itself which rollout it is, and its format does not say where.
const fn named(pending: &Pending) -> bool {
    pending.raw.id.is_some() && pending.raw.home.is_none()
}

/// Files that say something else than another one of their folder about the same rollout.
fn contradicting(pendings: &[Pending], nth: &BTreeMap<SourceId, usize>) -> BTreeSet<SourceId> {
    let mut slots: BTreeMap<Slot<'_>, BTreeSet<(SourceId, u64)>> = BTreeMap::new();
    for p in pendings.iter().filter(|p| named(p)) {
        let Some(&folder) = nth.get(&p.record.source) else { continue };
        let raw = &p.raw;
        let names = [&raw.id, &raw.task, &raw.namespace, &raw.policy].map(Option::as_deref);
        let slot = (folder, names, [raw.train_step, raw.attempt, raw.segment_index]);
        slots.entry(slot).or_default().insert((p.record.source, p.content));
    }
    let differs = |said: &&BTreeSet<(SourceId, u64)>| {
        let files: BTreeSet<SourceId> = said.iter().map(|s| s.0).collect();
        let contents: BTreeSet<u64> = said.iter().map(|s| s.1).collect();
        files.len() > 1 && contents.len() > 1
    };
    slots.values().filter(differs).flatten().map(|said| said.0).collect()
}
