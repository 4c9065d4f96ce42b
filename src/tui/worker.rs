//! Threads that compute and read while the screen stays live, and the slots that hold their work.
//!
//! A slot keeps the latest request only, so that fast keys never queue up work. What comes back
//! carries the number of its request; the model drops what is old. No drawing, no keys.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crossbeam_channel::Sender;

use super::exporting::{self, Job};
use super::finding;
use super::message::{Effect, Msg};
pub use super::origin::{Origin, Reload, Reloaded, Source};
use super::snapshot::{Snapshot, Summary, totals};
use super::sweeping;
use super::text::Document;
use crate::analysis::{AnalysisSettings, Contrast, SignatureSetting};
use crate::export::text;
use crate::load::{Halt, OnProgress};
use crate::rollout::{Corpus, Group};

/// Who computes. Tests put one in that waits.
pub trait Analyst: Send + Sync {
    /// Everything the main screen draws of a group.
    fn analyse(&self, group: &Arc<Group>, settings: &AnalysisSettings) -> Snapshot {
        Snapshot::new(group, settings)
    }

    /// A row of the list of groups.
    fn summarise(&self, group: &Arc<Group>, settings: &AnalysisSettings) -> Summary {
        Summary::new(group, settings)
    }
}

/// Computes as the library does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library;

impl Analyst for Library {}

/// A place for one request: a newer one replaces an older one that nobody took.
#[derive(Debug)]
pub struct Slot<T> {
    state: Mutex<(Option<T>, bool)>,
    bell: Condvar,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { state: Mutex::new((None, false)), bell: Condvar::new() }
    }
}

impl<T> Slot<T> {
    /// Puts a request in.
    pub fn put(&self, request: T) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = Some(request);
        self.bell.notify_one();
    }

    /// Takes the request out, waiting for one. `None` once the slot is closed.
    pub fn take(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.1 {
                return None;
            }
            if let Some(request) = state.0.take() {
                return Some(request);
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets the worker go home.
    pub fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 = true;
        self.bell.notify_all();
    }
}

struct Analysis {
    key: u64,
    index: usize,
    group: Arc<Group>,
    settings: AnalysisSettings,
    load: Option<Vec<Arc<Group>>>,
}

struct Search {
    key: u64,
    snapshot: Arc<Snapshot>,
    pattern: String,
}

struct Comparison {
    key: u64,
    now: Arc<Snapshot>,
    pin: SignatureSetting,
    earlier: Option<Arc<Contrast>>,
}

struct Survey {
    key: u64,
    groups: Vec<Arc<Group>>,
    rows: Vec<Option<Arc<Summary>>>,
    settings: AnalysisSettings,
    uniform_counts: bool,
}

struct Reading {
    of: (usize, usize, usize),
    group: Arc<Group>,
    /// Whether it is to be opened outside.
    open: bool,
    /// Whether control characters are shown.
    controls: bool,
}

struct Slots {
    origin: Mutex<Origin>,
    analysis: Slot<Analysis>,
    comparison: Slot<Comparison>,
    sweep: Slot<sweeping::Job>,
    survey: Slot<Survey>,
    reading: Slot<Reading>,
    export: Slot<Job>,
    reload: Slot<()>,
    /// The way to stop the load that runs.
    halt: Mutex<Arc<Halt>>,
    search: Slot<Search>,
    /// Number of the newest search: an older one stops between two rollouts.
    newest_search: AtomicU64,
    /// Number of the newest sweep: an older one stops between two analyses.
    newest_sweep: AtomicU64,
    /// Number of the newest survey: an older one stops between two groups.
    newest_survey: AtomicU64,
}

impl Slots {
    fn new(origin: Origin) -> Self {
        Self {
            origin: Mutex::new(origin),
            analysis: Slot::default(),
            comparison: Slot::default(),
            sweep: Slot::default(),
            newest_sweep: AtomicU64::new(0),
            survey: Slot::default(),
            reading: Slot::default(),
            export: Slot::default(),
            reload: Slot::default(),
            halt: Mutex::default(),
            search: Slot::default(),
            newest_search: AtomicU64::new(0),
            newest_survey: AtomicU64::new(0),
        }
    }

    fn origin(&self) -> Origin {
        self.origin.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, source: Source) {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        origin.texts = source.texts;
        origin.provenance = source.provenance;
    }

    /// What is shown is a part of what was to be loaded.
    fn mark(&self, mark: &str) {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        let mut provenance = (*origin.provenance).clone();
        provenance.load = serde_json::json!({ "partial": mark });
        provenance.narrow = None;
        origin.provenance = Arc::new(provenance);
    }

    fn halt(&self) -> Arc<Halt> {
        Arc::clone(&self.halt.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn watch(&self, halt: &Arc<Halt>) {
        *self.halt.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(halt);
    }
}

/// The workers. Dropping them closes the slots; a running computation ends by itself.
pub struct Workers {
    slots: Arc<Slots>,
}

impl Workers {
    /// Starts the threads: for analyses, for comparisons with the pin, for the list of groups, for
    /// texts, for searches.
    pub fn start(
        analyst: &Arc<dyn Analyst>,
        origin: &Origin,
        outbox: &Sender<Msg>,
    ) -> std::io::Result<Self> {
        let slots = Arc::new(Slots::new(origin.clone()));
        compute(analyst, &slots, outbox)?;
        read(&slots, outbox)?;
        Ok(Self { slots })
    }

    /// The load that runs already is stopped by this.
    pub fn watch(&self, halt: &Arc<Halt>) {
        self.slots.watch(halt);
    }

    /// Takes an effect that is work; gives back one that is not.
    #[must_use]
    pub fn take(&self, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::Analyse { key, index, group, settings, load } => {
                self.slots.analysis.put(Analysis { key, index, group, settings, load });
            }
            Effect::Find { key, snapshot, pattern } => {
                self.slots.newest_search.store(key, Ordering::Relaxed);
                self.slots.search.put(Search { key, snapshot, pattern });
            }
            Effect::StopFinding(key) => self.slots.newest_search.store(key, Ordering::Relaxed),
            Effect::Contrast { key, now, pin, earlier } => {
                self.slots.comparison.put(Comparison { key, now, pin, earlier });
            }
            Effect::Sweep(job) => {
                self.slots.newest_sweep.store(job.key, Ordering::Relaxed);
                self.slots.sweep.put(*job);
            }
            Effect::StopSweep(key) => self.slots.newest_sweep.store(key, Ordering::Relaxed),
            Effect::Summarise { key, groups, rows, settings, uniform_counts } => {
                self.slots.newest_survey.store(key, Ordering::Relaxed);
                self.slots.survey.put(Survey { key, groups, rows, settings, uniform_counts });
            }
            Effect::Read { of, group, controls } => {
                self.slots.reading.put(Reading { of, group, open: false, controls });
            }
            Effect::Open { of, group } => {
                self.slots.reading.put(Reading { of, group, open: true, controls: false });
            }
            Effect::Export(job) => self.slots.export.put(*job),
            Effect::Reload => self.slots.reload.put(()),
            Effect::StopLoading => self.slots.halt().stop(),
            Effect::Partial(mark) => self.slots.mark(&mark),
            Effect::Source(source) => self.slots.replace(source),
            Effect::Discard(corpus) => {
                // Without a thread for it, it is let go of here.
                let _ = spawn("discard", move || drop(corpus));
            }
            other => return Some(other),
        }
        None
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.slots.halt().cancel();
        self.slots.newest_survey.store(u64::MAX, Ordering::Relaxed);
        self.slots.newest_search.store(u64::MAX, Ordering::Relaxed);
        self.slots.newest_sweep.store(u64::MAX, Ordering::Relaxed);
        self.slots.sweep.close();
        self.slots.search.close();
        self.slots.export.close();
        self.slots.reload.close();
        self.slots.analysis.close();
        self.slots.comparison.close();
        self.slots.survey.close();
        self.slots.reading.close();
    }
}

/// Starts the threads that compute.
fn compute(
    analyst: &Arc<dyn Analyst>,
    slots: &Arc<Slots>,
    outbox: &Sender<Msg>,
) -> std::io::Result<()> {
    let (who, out, at) = (Arc::clone(analyst), outbox.clone(), Arc::clone(slots));
    spawn("analysis", move || {
        while let Some(job) = at.analysis.take() {
            let mut settings = job.settings;
            let done = guarded("the analysis", || {
                if let Some(groups) = job.load {
                    settings.batch = crate::analysis::batch(&Corpus { groups }, &settings);
                }
                who.analyse(&job.group, &settings)
            });
            let msg = match done {
                Ok(snapshot) => Msg::Analysed(job.key, job.index, Arc::new(snapshot)),
                Err(text) => Msg::Failed(text),
            };
            if out.send(msg).is_err() {
                return;
            }
        }
    })?;
    let (out, at) = (outbox.clone(), Arc::clone(slots));
    spawn("contrast", move || {
        while let Some(job) = at.comparison.take() {
            let done = guarded("the comparison with the pin", || {
                Contrast::new(&job.now.analysis, &job.pin, job.earlier.as_deref())
            });
            let msg = match done {
                Ok(contrast) => Msg::Contrasted(job.key, Arc::new(contrast)),
                Err(text) => Msg::Say(text),
            };
            if out.send(msg).is_err() {
                return;
            }
        }
    })?;
    let (out, at) = (outbox.clone(), Arc::clone(slots));
    spawn("sweep", move || {
        while let Some(job) = at.sweep.take() {
            let done = guarded("the sweep", || {
                sweeping::run(&job, |part| {
                    at.newest_sweep.load(Ordering::Relaxed) == job.key
                        && out.send(Msg::Swept(job.key, part)).is_ok()
                });
            });
            if let Err(text) = done
                && out.send(Msg::Say(text)).is_err()
            {
                return;
            }
        }
    })?;
    let (who, out, at) = (Arc::clone(analyst), outbox.clone(), Arc::clone(slots));
    spawn("groups", move || {
        while let Some(job) = at.survey.take() {
            let mut rows: Vec<Arc<Summary>> = Vec::new();
            for (i, group) in job.groups.iter().enumerate() {
                if at.newest_survey.load(Ordering::Relaxed) != job.key {
                    break;
                }
                if let Some(Some(row)) = job.rows.get(i) {
                    rows.push(Arc::clone(row));
                    continue;
                }
                let done = guarded("a row of the groups", || who.summarise(group, &job.settings));
                let msg = match done {
                    Ok(summary) => {
                        let summary = Arc::new(summary);
                        rows.push(Arc::clone(&summary));
                        Msg::Summarised(job.key, i, summary)
                    }
                    Err(text) => Msg::Say(text),
                };
                if out.send(msg).is_err() {
                    return;
                }
            }
            if rows.len() == job.groups.len() {
                let rows = rows.iter().map(|s| &**s);
                let sums = totals(rows, job.uniform_counts, job.settings.seed);
                if out.send(Msg::Totalled(job.key, Arc::new(sums))).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok(())
}

/// Starts the threads that read and write files.
fn read(slots: &Arc<Slots>, outbox: &Sender<Msg>) -> std::io::Result<()> {
    let (out, at) = (outbox.clone(), Arc::clone(slots));
    spawn("texts", move || {
        while let Some(job) = at.reading.take() {
            let (_, rollout, step) = job.of;
            let source = at.origin().texts;
            let read = guarded("reading the text", || {
                let raw = source.step_text(&job.group, rollout, step)?;
                Ok(Arc::new(Document::with(&raw, job.controls)))
            });
            let result = read.unwrap_or_else(Err);
            let msg = if job.open {
                Msg::Opened(result.map(|document| document.plain()))
            } else {
                Msg::Read(job.of, result)
            };
            if out.send(msg).is_err() {
                return;
            }
        }
    })?;
    let (out, at) = (outbox.clone(), Arc::clone(slots));
    spawn("export", move || {
        while let Some(job) = at.export.take() {
            let from = at.origin().provenance;
            let done = guarded("the export", || exporting::write(&job, &from));
            let said = match done {
                Ok(Ok(said) | Err(said)) | Err(said) => said,
            };
            if out.send(Msg::Say(said)).is_err() {
                return;
            }
        }
    })?;
    let (out, at) = (outbox.clone(), Arc::clone(slots));
    spawn("reload", move || {
        while at.reload.take().is_some() {
            let Some(reload) = at.origin().reload else {
                let text = "this was not loaded from files that can be read again".to_owned();
                if out.send(Msg::Reloaded(Err(text))).is_err() {
                    return;
                }
                continue;
            };
            let halt = Arc::new(Halt::default());
            at.watch(&halt);
            let tell = out.clone();
            let tell: OnProgress = Arc::new(move |progress| {
                let _ = tell.send(Msg::Progress(progress));
            });
            let done = guarded("loading again", || reload(&halt, tell)).unwrap_or_else(Err);
            let result = done.map(|loaded| {
                at.replace(Source::new(loaded.texts, loaded.provenance));
                (loaded.corpus, loaded.notices)
            });
            if out.send(Msg::Reloaded(result)).is_err() {
                return;
            }
        }
    })?;
    let (out, at) = (outbox.clone(), Arc::clone(slots));
    spawn("search", move || {
        while let Some(job) = at.search.take() {
            let source = at.origin().texts;
            let done = guarded("the search", || {
                let goes_on = || at.newest_search.load(Ordering::Relaxed) == job.key;
                finding::run(&job.snapshot, &job.pattern, &*source, &goes_on, |part| {
                    out.send(Msg::Found(job.key, part)).is_ok()
                });
            });
            if let Err(text) = done
                && out.send(Msg::Say(text)).is_err()
            {
                return;
            }
        }
    })?;
    Ok(())
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    // What is made for the screen is made as the screen shows it; an export is a file.
    let escapes = name != "export" && text::escapes_here();
    let run = move || {
        text::escape_here(escapes);
        run();
    };
    std::thread::Builder::new().name(format!("credscope-{name}")).spawn(run).map(drop)
}

/// Runs something that must not take the screen down with it.
fn guarded<T>(what: &str, run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let said = panic
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        format!("{what} failed: {said}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_keeps_the_latest_only() {
        let slot = Slot::default();
        slot.put(1);
        slot.put(2);
        assert_eq!(slot.take(), Some(2));
        slot.close();
        assert_eq!(slot.take(), None);
    }

    #[test]
    fn a_panic_becomes_a_message() {
        let text = guarded("it", || -> u32 { panic!("boom") }).unwrap_err();
        assert_eq!(text, "it failed: boom");
    }
}
