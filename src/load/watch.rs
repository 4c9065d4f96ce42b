//! A load that a person watches: what has come in so far is put together now and then and handed on, and
//! the load can be told to keep just that. A load that nobody watches pays nothing for it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Loaded;
use super::assemble::assemble;
use super::options::{LoadOptions, Progress};
use super::report::FileVerdict;
use super::sources::{Side, Sources};
use super::work::{Frames, Record, in_order};
use crate::profile::Profiles;
use crate::rollout::{Corpus, Group, GroupKey, Rollout};

/// Nothing is shown before a load has run this long.
const FIRST: Duration = Duration::from_millis(100);
/// From the end of one showing to the next, at least.
const PAUSE: Duration = Duration::from_millis(300);
/// And at least this many times what the last one took: the whole costs a sixth at most.
const SHARE: u32 = 5;
/// Of what came of a stream and was not shown yet, at most this many bytes are read after a stop.
const SOON: u64 = 16 << 20;

/// Takes what a load has read so far.
pub type OnSoFar = Arc<dyn Fn(Loaded) + Send + Sync>;

/// A load that a person watches.
#[derive(Clone, Default)]
pub struct Watch {
    /// The way to stop it.
    pub halt: Arc<Halt>,
    /// Where what was read so far is shown, from the thread that loads; the corpus shares the groups
    /// that did not change with the one that was shown before.
    pub so_far: Option<OnSoFar>,
    /// How often.
    pub pace: Pace,
}

/// How often what was read so far is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As often as it costs little.
    #[default]
    Timed,
    /// Whenever this many more rollouts have been read; of a stream, whenever so many more bytes came.
    Every(u64),
}

/// The way to stop a load.
#[derive(Debug, Default)]
pub struct Halt {
    cancel: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    /// Whether it was told to stop once more.
    again: AtomicBool,
    /// Whether what was read is of use.
    keeps: bool,
    /// Whether records are being read by now: before, there is nothing to keep.
    reading: AtomicBool,
    /// Whether something was left unread because of the stop.
    short: AtomicBool,
    /// Whether the stop fell into a stream.
    stream: AtomicBool,
    /// Bytes of what came of it that may still be read.
    left: AtomicU64,
}

impl Halt {
    /// For a load whose beginning is of use, too.
    #[must_use]
    pub fn keeping() -> Self {
        Self { keeps: true, ..Self::default() }
    }

    /// The flag that ends the load without a result: it belongs in [`LoadOptions::cancel`].
    #[must_use]
    pub fn cancelling(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Ends the load without a result.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Stops reading. What was read is the result, where it is of use.
    pub fn stop(&self) {
        if self.stop.swap(true, Ordering::Relaxed) {
            self.again.store(true, Ordering::Relaxed);
        }
        if !self.keeps || !self.reading.load(Ordering::Relaxed) {
            self.cancel();
        }
    }

    /// Whether it was told to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag that is set by the wish to stop.
    pub(super) fn stopping(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the load should leave the rest unread; then that is known of it.
    pub(super) fn leaves(&self) -> bool {
        let some = self.in_stream() && !self.again.load(Ordering::Relaxed);
        let leaves = self.stopped() && !some;
        if leaves {
            self.short.store(true, Ordering::Relaxed);
        }
        leaves
    }

    /// Whether a record of so many bytes should still be read; if not, that is known of it.
    pub(super) fn affords(&self, bytes: u64) -> bool {
        if !self.stopped() {
            return true;
        }
        let less = |left: u64| (left > 0).then(|| left.saturating_sub(bytes));
        let some = !self.leaves()
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if !some {
            self.short.store(true, Ordering::Relaxed);
        }
        some
    }

    /// A stream is left where it is, or came to its end just then. A little of what came is read all the
    /// same.
    pub(super) fn leave_stream(&self, ended: bool) {
        self.left.store(SOON, Ordering::Relaxed);
        let others =
            self.stream.swap(true, Ordering::Relaxed) && self.short.load(Ordering::Relaxed);
        self.short.store(others || !ended, Ordering::Relaxed);
    }

    /// Whether the stop fell into a stream.
    fn in_stream(&self) -> bool {
        self.stream.load(Ordering::Relaxed)
    }

    /// Why something was left unread, in words.
    pub(super) fn reason(&self, read: &Progress) -> Option<String> {
        let short = self.short.load(Ordering::Relaxed);
        let percent = || format!("stopped at {} %", read.percent().unwrap_or(0));
        short.then(|| if self.in_stream() { "stopped mid-stream".to_owned() } else { percent() })
    }

    /// From now on there is something to keep.
    pub(super) fn reads(&self) {
        self.reading.store(true, Ordering::Relaxed);
    }
}

/// When the next showing is due.
#[derive(Debug, Clone, Copy)]
struct Pacer {
    pace: Pace,
    next: Duration,
    /// Rollouts, or bytes of a stream, that were shown last.
    amount: u64,
}

impl Pacer {
    const fn new(pace: Pace) -> Self {
        Self { pace, next: FIRST, amount: 0 }
    }

    /// Whether it is due so long after the start with so much.
    fn due(&self, now: Duration, amount: u64) -> bool {
        match self.pace {
            Pace::Timed => now >= self.next && amount > self.amount,
            Pace::Every(n) => amount >= self.amount + n.max(1),
        }
    }

    /// Takes note of one.
    fn shown(&mut self, began: Duration, ended: Duration, amount: u64) {
        self.next = ended + PAUSE.max(ended.saturating_sub(began) * SHARE);
        self.amount = amount;
    }
}

/// Shows what a load has read so far.
pub(super) struct Shown {
    tell: Option<OnSoFar>,
    start: Instant,
    pacer: Pacer,
    /// The groups as they were shown last.
    before: HashMap<GroupKey, Arc<Group>>,
    /// Nothing with fewer rollouts is shown any more.
    least: u64,
    /// What was shown last of a stream.
    kept: Option<Kept>,
    /// Bytes that came of streams.
    came: u64,
}

/// What was shown of a stream: the end of the load, where a stop would leave less than that.
struct Kept {
    loaded: Loaded,
    rollouts: u64,
    /// Bytes of the stream that it is made of.
    bytes: u64,
}

impl Shown {
    /// For a load with these options. A table that can be read once only is left to the end of the load.
    pub fn new(options: &LoadOptions) -> Self {
        let tables = || options.outcomes.iter().chain(&options.sidecars);
        let watch = options.watch.as_ref().filter(|_| tables().all(|path| path.is_file()));
        Self {
            tell: watch.and_then(|w| w.so_far.clone()),
            start: Instant::now(),
            pacer: Pacer::new(watch.map_or(Pace::Timed, |w| w.pace)),
            before: HashMap::new(),
            least: 0,
            kept: None,
            came: 0,
        }
    }

    /// Whether it is time to show something, with so many rollouts or bytes.
    pub fn due(&self, amount: u64) -> bool {
        self.tell.is_some() && self.pacer.due(self.start.elapsed(), amount)
    }

    /// Shows what is made, with so many rollouts in it. What cannot be made is not shown: the end of the
    /// load has the reason.
    pub fn show(&mut self, amount: u64, make: impl FnOnce() -> Option<(Loaded, u64)>) {
        let began = self.start.elapsed();
        if let (Some((mut loaded, rollouts)), Some(tell)) = (make(), &self.tell)
            && rollouts >= self.least
        {
            share(&mut loaded.corpus, &mut self.before);
            self.least = rollouts;
            tell(loaded);
        }
        self.pacer.shown(began, self.start.elapsed(), amount);
    }

    /// Shows what is made of so many bytes of a stream, and keeps it.
    pub fn show_stream(&mut self, bytes: u64, make: impl FnOnce() -> Option<(Loaded, u64)>) {
        let mut kept = None;
        self.show(bytes, || {
            let (loaded, rollouts) = make()?;
            kept = Some(Kept { loaded: copy(&loaded), rollouts, bytes });
            Some((loaded, rollouts))
        });
        let before = self.kept.as_ref().map_or(0, |k| k.rollouts);
        self.kept = kept.filter(|k| k.rollouts >= before).or_else(|| self.kept.take());
    }

    /// So many more bytes came of a stream.
    pub const fn came(&mut self, bytes: u64) {
        self.came += bytes;
    }

    /// What was shown, where the load was stopped in a stream of which more came than is read soon.
    pub fn at_once(&mut self, halt: &Halt) -> Option<Loaded> {
        if !halt.in_stream() || self.came <= SOON || self.kept.is_none() {
            return None;
        }
        halt.short.store(true, Ordering::Relaxed);
        self.instead(halt, &Progress::default())
    }

    /// What was shown of a stream, where a stopped load has read less than that.
    pub fn instead(&mut self, halt: &Halt, read: &Progress) -> Option<Loaded> {
        let Kept { mut loaded, bytes, .. } =
            self.kept.take().filter(|k| k.rollouts > read.rollouts)?;
        let total_bytes = self.came.max(read.total_bytes);
        let reason = halt.reason(&Progress { bytes, total_bytes, ..Progress::default() })?;
        loaded.report.stopped = Some(reason);
        Some(loaded)
    }

    /// All streams came to their end: from now on rollouts count, from none on.
    pub const fn start_over(&mut self) {
        self.pacer.amount = 0;
    }
}

/// What all records are put together with.
pub(super) struct Rest<'a> {
    pub sources: &'a Sources,
    pub sides: &'a [Side],
    pub verdicts: &'a [FileVerdict],
    pub options: &'a LoadOptions,
    pub profiles: &'a Arc<Profiles>,
}

impl Rest<'_> {
    /// Shows copies of the records, put together as the end of the load does it, if it is time to.
    pub fn show(
        &self,
        shown: &mut Shown,
        (records, frames): (&[Record], &Mutex<Frames>),
        rollouts: u64,
    ) {
        if rollouts >= shown.least && shown.due(rollouts) {
            shown.show(rollouts, || Some((self.so_far(records, frames)?, rollouts)));
        }
    }

    fn so_far(&self, records: &[Record], frames: &Mutex<Frames>) -> Option<Loaded> {
        let frames = frames.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sources = self.sources.with(frames);
        let records = in_order(records.to_vec());
        let verdicts = self.verdicts.to_vec();
        assemble(records, sources, self.sides, verdicts, self.options, self.profiles).ok()
    }
}

/// The same once more; the groups are shared.
fn copy(loaded: &Loaded) -> Loaded {
    Loaded {
        corpus: loaded.corpus.clone(),
        report: loaded.report.clone(),
        sources: loaded.sources.with(Frames::new()),
    }
}

/// Takes the groups of before where they did not change, so that nothing is held or computed twice.
fn share(corpus: &mut Corpus, before: &mut HashMap<GroupKey, Arc<Group>>) {
    for group in &mut corpus.groups {
        match before.get_mut(&group.key) {
            Some(old) if same(old, group) => *group = Arc::clone(old),
            Some(old) => *old = Arc::clone(group),
            None => {
                before.insert(group.key.clone(), Arc::clone(group));
            }
        }
    }
}

/// Whether two groups of one load are made of the same records with the same outcomes.
fn same(a: &Group, b: &Group) -> bool {
    let told = |r: &Rollout| (r.reward.map(f64::to_bits), r.outcome_reward.map(f64::to_bits));
    let rollout = |(a, b): (&Rollout, &Rollout)| {
        a.id == b.id
            && a.records == b.records
            && a.outcome == b.outcome
            && a.outcome_source == b.outcome_source
            && a.ending == b.ending
            && a.steps == b.steps
            && a.missing_segments == b.missing_segments
            && told(a) == told(b)
    };
    let values = |g: &Group| g.steps.values.len();
    a.namesake == b.namesake
        && a.rollouts.len() == b.rollouts.len()
        && values(a) == values(b)
        && a.rollouts.iter().zip(&b.rollouts).all(rollout)
}

/// Tells how many files have been looked at, where a person watches.
pub(super) fn looked_at(options: &LoadOptions, files: usize, of: usize) {
    if let (Some(_), Some(tell)) = (&options.watch, &options.progress)
        && (files.is_multiple_of((of / 100).max(1)) || files == of)
    {
        let (files, total_files) = (files as u64, of as u64);
        tell(Progress { files, total_files, ..Progress::default() });
    }
}

/// The name of a stream that has no other.
pub(super) fn stream_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_showing_waits_for_its_pause_and_its_share() {
        let mut pacer = Pacer::new(Pace::Timed);
        assert!(!pacer.due(ms(99), 5) && pacer.due(ms(100), 5));
        // It took 20 ms: five times that is less than the pause.
        pacer.shown(ms(100), ms(120), 5);
        assert!(!pacer.due(ms(419), 9) && pacer.due(ms(420), 9));
        assert!(!pacer.due(ms(9_000), 5), "nothing new");
        // It took 200 ms: five times that.
        pacer.shown(ms(420), ms(620), 9);
        assert!(!pacer.due(ms(1_619), 10) && pacer.due(ms(1_620), 10));
    }

    #[test]
    fn a_pace_by_rollouts_knows_no_clock() {
        let mut pacer = Pacer::new(Pace::Every(3));
        assert!(!pacer.due(ms(9_000), 2) && pacer.due(ms(0), 3));
        pacer.shown(ms(0), ms(9_000), 3);
        assert!(!pacer.due(ms(9_001), 5) && pacer.due(ms(9_001), 6));
    }

    #[test]
    fn a_stop_before_anything_was_read_ends_the_load() {
        let halt = Halt::keeping();
        halt.stop();
        assert!(halt.stopped() && halt.cancelling().load(Ordering::Relaxed));
        let halt = Halt::keeping();
        halt.reads();
        halt.stop();
        let half = Progress { bytes: 50, total_bytes: 100, ..Progress::default() };
        assert!(!halt.cancelling().load(Ordering::Relaxed) && halt.reason(&half).is_none());
        assert!(halt.leaves());
        assert_eq!(halt.reason(&half).as_deref(), Some("stopped at 50 %"));
        let halt = Halt::keeping();
        halt.reads();
        halt.stop();
        halt.leave_stream(false);
        assert!(!halt.leaves() && halt.affords(SOON - 1) && halt.affords(9) && !halt.affords(1));
        assert_eq!(halt.reason(&half).as_deref(), Some("stopped mid-stream"));
        halt.leave_stream(true);
        assert!(halt.affords(1), "and another stream");
        halt.stop();
        assert!(halt.leaves() && !halt.affords(1), "told twice");
        let halt = Halt::default();
        halt.reads();
        halt.stop();
        assert!(halt.cancelling().load(Ordering::Relaxed), "half of a second load is of no use");
    }
}
