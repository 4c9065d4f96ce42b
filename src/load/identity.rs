//! Which records are one rollout: copies left out, segments joined, ids made unique.
//!
//! Identity is (run, id), where a run is a file, or the files of a folder that do not contradict each
//! other. Under one identity, byte-equal content is a copy and another attempt a retry: the last one is
//! kept. Formats whose attempts are rollouts of their own give each an id.
//! Order in a file never identifies: where a record has no id, a short digest of its content is one.

use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::segments;
use super::work::{Pending, StepMeta};
use crate::ingest::short_digest;
use crate::rollout::{RecordRef, SourceId, natural};

/// How many raw steps each segment has.
#[derive(Debug, Clone, Default)]
pub struct Segments {
    lens: Vec<u32>,
}

impl Segments {
    /// Segments with these numbers of raw steps.
    #[must_use]
    pub const fn new(lens: Vec<u32>) -> Self {
        Self { lens }
    }

    /// The record and the raw step in it behind a raw step of the joined rollout.
    #[must_use]
    pub fn locate(&self, raw: u32) -> (u32, u32) {
        let mut rest = raw;
        for (at, &len) in self.lens.iter().enumerate() {
            if rest < len {
                return (at as u32, rest);
            }
            rest -= len;
        }
        (0, raw)
    }

    /// Steps at which a further segment starts.
    #[must_use]
    pub fn step_starts(&self, steps: &[StepMeta]) -> Vec<u32> {
        let mut end = 0;
        let mut starts = Vec::new();
        for &len in self.lens.iter().take(self.lens.len().saturating_sub(1)) {
            end += len;
            starts.push(steps.iter().position(|s| s.raw >= end).unwrap_or(steps.len()) as u32);
        }
        starts
    }
}

/// One rollout on its way into a group.
#[derive(Debug)]
pub struct Draft {
    /// Its id; unique in the group once [`drafts`] is done.
    pub id: String,
    /// The rollout. For several segments it is the last one until they are joined.
    pub pending: Pending,
    /// Its records, in segment order.
    pub records: Vec<RecordRef>,
    /// Earlier segments, to be joined before the pending one.
    pub earlier: Vec<Pending>,
    /// Raw steps per record.
    pub segments: Segments,
    /// Which segments are missing, in words.
    pub missing: String,
}

/// A record that another one of the same rollout stands for.
#[derive(Debug, Clone)]
pub struct Collapsed {
    /// The rollout.
    pub id: String,
    /// The record that was left out.
    pub record: RecordRef,
    /// The attempt that was left out, and the one that was kept; `None` for a copy.
    pub attempts: Option<(Option<u64>, u64)>,
}

/// What was seen on the way.
#[derive(Debug, Default)]
pub struct Seen {
    /// Copies and earlier attempts that were left out.
    pub collapsed: Vec<Collapsed>,
    /// Ids that got a suffix because another rollout of the group has them.
    pub suffixed: Vec<String>,
    /// Ids under which equal content stands in two files, and these files.
    pub same_content: Vec<(String, [SourceId; 2])>,
    /// Rollouts without an id that are equal to another one of their file: samples, all of them count.
    pub equal_samples: usize,
    /// Rollouts of which a segment is missing.
    pub lacking: Vec<String>,
}

/// The rollouts of one group, in canonical order, with unique ids.
#[must_use]
pub fn drafts(pendings: Vec<Pending>, seen: &mut Seen) -> Vec<Draft> {
    let ids = base_ids(&pendings);
    // One identity: all records that claim to be the same rollout of the same file.
    let mut identities = Identities::new();
    for (id, pending) in ids.into_iter().zip(pendings) {
        let key = (id, pending.raw.attempt, Home::of(&pending));
        // Most identities are one record: a list that grows would take room for four.
        identities.entry(key).or_insert_with(|| Vec::with_capacity(1)).push(pending);
    }
    drop_retries(&mut identities, seen);
    let mut drafts = Vec::new();
    for ((id, _, home), mut pendings) in identities {
        if matches!(home, Home::Folder(_)) {
            keep_last_file(&id, &mut pendings, seen);
        }
        split_identity(&id, pendings, seen, &mut drafts);
    }
    drafts.sort_by(canonical);
    make_unique(&mut drafts, seen);
    seen.lacking.extend(segments::mark_missing(&mut drafts));
    drafts
}

/// What an id is unique in: a file, or a folder where a format spreads or repeats a rollout over files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// A file, or the first one of a run of several; in it a policy and a training step, which groups
    /// may pool.
    File(SourceId, Option<String>, Option<u64>),
    /// A folder.
    Folder(String),
}

impl Home {
    /// The home of a record's id.
    #[must_use]
    pub fn of(pending: &Pending) -> Self {
        let folder = pending.raw.home.clone().map(Self::Folder);
        folder.unwrap_or_else(|| {
            let raw = &pending.raw;
            Self::File(pending.run_file, raw.policy.clone(), raw.train_step)
        })
    }
}

/// One identity: an id, an attempt, a file or folder.
type Identities = BTreeMap<(String, Option<u64>, Home), Vec<Pending>>;

/// Leaves out all attempts but the last where a file numbers the attempts of one rollout.
fn drop_retries(identities: &mut Identities, seen: &mut Seen) {
    let named = |pendings: &[Pending]| pendings.iter().any(|p| p.raw.id.is_some());
    let mut last: BTreeMap<(String, Home), u64> = BTreeMap::new();
    for ((id, attempt, home), pendings) in identities.iter() {
        if let Some(attempt) = attempt.filter(|_| named(pendings)) {
            last.insert((id.clone(), home.clone()), attempt);
        }
    }
    identities.retain(|(id, attempt, home), pendings| {
        let Some(&kept) = last.get(&(id.clone(), home.clone())) else { return true };
        if *attempt == Some(kept) || !named(pendings) {
            return true;
        }
        seen.collapsed.extend(pendings.drain(..).map(|p| Collapsed {
            id: id.clone(),
            record: p.record,
            attempts: Some((*attempt, kept)),
        }));
        false
    });
}

/// The id of each record: its own, else the run's where that is clear, else a digest.
fn base_ids(pendings: &[Pending]) -> Vec<String> {
    let mut runs: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for p in pendings {
        if let Some(name) = p.raw.id.as_deref().or(p.raw.run.as_deref()) {
            runs.entry(name).or_default().insert(p.content);
        }
    }
    let alone = |run: &str| runs.get(run).is_some_and(|contents| contents.len() == 1);
    pendings
        .iter()
        .map(|p| match (&p.raw.id, &p.raw.run) {
            (Some(id), _) => id.clone(),
            (None, Some(run)) if alone(run) || p.raw.home.is_some() => run.clone(),
            _ => short_digest(p.content),
        })
        .collect()
}

/// Of a record that stands in several files of a folder the one in the last file is kept: a framework
/// writes it again with more in it.
fn keep_last_file(id: &str, pendings: &mut Vec<Pending>, seen: &mut Seen) {
    let mut last: BTreeMap<Option<u64>, SourceId> = BTreeMap::new();
    for p in pendings.iter() {
        let file = last.entry(p.raw.segment_index).or_insert(p.record.source);
        *file = p.record.source.max(*file);
    }
    pendings.retain(|p| {
        let kept = last.get(&p.raw.segment_index) == Some(&p.record.source);
        if !kept {
            let record = p.record.clone();
            seen.collapsed.push(Collapsed { id: id.to_owned(), record, attempts: None });
        }
        kept
    });
}

/// Segments, copies and different contents under one identity.
fn split_identity(id: &str, pendings: Vec<Pending>, seen: &mut Seen, drafts: &mut Vec<Draft>) {
    // By segment, then by content: the order in the file decides nothing but which copy stays.
    let mut segments: BTreeMap<Option<u64>, BTreeMap<(u64, usize), Pending>> = BTreeMap::new();
    for pending in pendings {
        // A file without ids holds samples: two equal short rollouts are two rollouts. A copy can be
        // told only where the file itself says which rollout a record is.
        let named = pending.raw.id.is_some() || pending.raw.run.is_some();
        let contents = segments.entry(pending.raw.segment_index).or_default();
        let copies = contents.range((pending.content, 0)..=(pending.content, usize::MAX)).count();
        match contents.entry((pending.content, if named { 0 } else { copies })) {
            Entry::Occupied(mut kept) => {
                // The records come in file order: the last one is kept. Where copies are written in
                // two ways the order must not decide which bytes count.
                let other_way = pending.record.digest < kept.get().record.digest;
                let earlier = if other_way { pending } else { kept.insert(pending) };
                seen.collapsed.push(Collapsed {
                    id: id.to_owned(),
                    record: earlier.record,
                    attempts: None,
                });
            }
            Entry::Vacant(free) => {
                free.insert(pending);
            }
        }
    }
    let mut columns: Vec<_> = segments.into_values().map(BTreeMap::into_values).collect();
    loop {
        let mut chain: Vec<Pending> = Vec::with_capacity(columns.len());
        chain.extend(columns.iter_mut().filter_map(Iterator::next));
        let Some(last) = chain.pop() else { return };
        let mut records = Vec::with_capacity(chain.len() + 1);
        records.extend(chain.iter().chain([&last]).map(|p| p.record.clone()));
        let mut lens = Vec::with_capacity(chain.len() + 1);
        lens.extend(chain.iter().chain([&last]).map(|p| p.raw_steps));
        chain.shrink_to_fit();
        drafts.push(Draft {
            id: id.to_owned(),
            pending: last,
            records,
            earlier: chain,
            segments: Segments::new(lens),
            missing: String::new(),
        });
    }
}

/// Id in natural order, attempt, file, content: what follows in a file is no order.
fn canonical(a: &Draft, b: &Draft) -> Ordering {
    natural(&a.id, &b.id)
        .then(a.pending.raw.attempt.cmp(&b.pending.raw.attempt))
        .then(a.pending.record.source.cmp(&b.pending.record.source))
        .then(a.pending.content.cmp(&b.pending.content))
}

fn make_unique(drafts: &mut [Draft], seen: &mut Seen) {
    let mut taken: BTreeSet<String> = drafts.iter().map(|d| d.id.clone()).collect();
    let mut before: Option<(String, u64, SourceId)> = None;
    let mut count = 1;
    for draft in drafts {
        match &before {
            Some((id, content, source)) if *id == draft.id => {
                let equal = *content == draft.pending.content;
                let sample = equal && *source == draft.pending.record.source;
                if equal && !sample {
                    let files = [*source, draft.pending.record.source];
                    seen.same_content.push((id.clone(), files));
                }
                let name = loop {
                    count += 1;
                    let name = format!("{id}#{count}");
                    if taken.insert(name.clone()) {
                        break name;
                    }
                };
                // Equal samples of one file are what they are; other rollouts of one id want a word.
                if sample {
                    seen.equal_samples += 1;
                } else {
                    seen.suffixed.push(name.clone());
                }
                draft.id = name;
            }
            _ => {
                count = 1;
                before =
                    Some((draft.id.clone(), draft.pending.content, draft.pending.record.source));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::RolloutFacts;
    use crate::rollout::raw::RawRollout;

    fn pending(id: Option<&str>, run: Option<&str>, source: u32, content: u64) -> Pending {
        let raw = RawRollout {
            id: id.map(Into::into),
            run: run.map(Into::into),
            ..RawRollout::default()
        };
        let record =
            RecordRef { source: SourceId(source), digest: content, ..RecordRef::default() };
        Pending::new(record, content, raw, RolloutFacts::default())
    }

    fn ids(pendings: Vec<Pending>) -> (Vec<String>, Seen) {
        let mut seen = Seen::default();
        let ids = drafts(pendings, &mut seen).into_iter().map(|d| d.id).collect();
        (ids, seen)
    }

    #[test]
    fn a_copy_is_left_out_and_another_content_stays() {
        let (got, seen) = ids(vec![
            pending(Some("r1"), None, 0, 7),
            pending(Some("r1"), None, 0, 7),
            pending(Some("r1"), None, 0, 9),
        ]);
        assert_eq!(got, ["r1", "r1#2"]);
        assert_eq!((seen.collapsed.len(), seen.same_content.len()), (1, 0));
    }

    #[test]
    fn the_same_content_in_two_files_stays_and_is_said() {
        let (got, seen) =
            ids(vec![pending(Some("r1"), None, 0, 7), pending(Some("r1"), None, 1, 7)]);
        assert_eq!(got, ["r1", "r1#2"]);
        let same = vec![("r1".to_owned(), [SourceId(0), SourceId(1)])];
        assert_eq!((seen.collapsed.len(), seen.same_content), (0, same));
    }

    #[test]
    fn of_the_attempts_of_a_rollout_the_last_is_kept() {
        let tried = |id: Option<&str>, run, source, attempt, content| {
            let mut pending = pending(id, run, source, content);
            pending.raw.attempt = attempt;
            pending
        };
        let (got, seen) = ids(vec![
            tried(Some("r1"), None, 0, Some(10), 7),
            tried(Some("r1"), None, 0, Some(9), 8),
            tried(Some("r1"), None, 0, None, 9),
            tried(Some("r2"), None, 0, Some(1), 7),
            // Another file is another rollout, and a run's name is no rollout's id.
            tried(Some("r1"), None, 1, Some(1), 6),
            tried(None, Some("run"), 0, Some(1), 4),
            tried(None, Some("run"), 0, Some(2), 5),
        ]);
        assert_eq!(got.len(), 5, "{got:?}");
        assert_eq!(
            got.iter().filter(|id| id.starts_with('r')).collect::<Vec<_>>(),
            ["r1", "r1#2", "r2"]
        );
        let attempts: Vec<_> = seen.collapsed.iter().map(|c| c.attempts).collect();
        assert_eq!(attempts, [Some((None, 10)), Some((Some(9), 10))]);
    }

    #[test]
    fn a_run_name_is_an_id_where_it_is_clear() {
        let (got, _) = ids(vec![pending(None, Some("a"), 0, 1), pending(None, Some("b"), 0, 2)]);
        assert_eq!(got, ["a", "b"]);
        let (got, _) = ids(vec![
            pending(None, Some("a"), 0, 0x01ef_cdab),
            pending(None, Some("a"), 0, 0x7856_3412),
        ]);
        assert_eq!(got, ["~12345678", "~abcdef01"]);
    }

    #[test]
    fn segments_point_back_to_their_records() {
        let segments = Segments::new(vec![2, 0, 3]);
        assert_eq!(segments.locate(1), (0, 1));
        assert_eq!(segments.locate(2), (2, 0));
        assert_eq!(segments.locate(4), (2, 2));
    }
}
