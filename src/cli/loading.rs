//! The load behind the screen: in a thread of its own, so that the screen need not wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::error::Failure;
use super::place::locate;
use super::session::{Session, Stop, inputs};
use crate::export::check;
use crate::load::{Halt, Loaded, OnProgress, OnSoFar, Progress, Watch};
use crate::rollout::Group;
use crate::settings::{Settings, When};
use crate::tui::loading::{Arrival, LOADING, ONCE, Running};
use crate::tui::message::Msg;
use crate::tui::model::PARTIAL;
use crate::tui::worker::Reloaded;
use crate::tui::{Narrow, Notice, Provenance, Start};

/// A load that ends within this time is waited for: then the screen opens on all of it.
const BRIEF: Duration = Duration::from_millis(80);

/// What is to be loaded.
#[derive(Clone)]
pub struct Given {
    pub settings: Settings,
    pub paths: Vec<PathBuf>,
    /// The step that the screen opens at.
    pub at: Option<String>,
    /// Loads one task alone.
    pub narrow: Option<Narrow>,
}

/// How the screen starts.
pub enum Opening {
    /// On all of it.
    Whole(Box<Arrival>),
    /// On a load that still runs.
    While(Running, Failed),
}

/// Why a load that ran beside the screen failed.
pub type Failed = Arc<Mutex<Option<Failure>>>;

/// Starts the load, and waits for it for a moment.
pub fn open(given: &Given) -> Result<Opening, Failure> {
    let (outbox, inbox) = unbounded();
    let halt = Arc::new(Halt::keeping());
    let failed = Failed::default();
    let (mine, tell, to, halted) =
        (given.clone(), outbox.clone(), Arc::clone(&failed), Arc::clone(&halt));
    std::thread::Builder::new().name("credscope-load".to_owned()).spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| mine.first(&halted, &tell)))
            .unwrap_or_else(|_| Err(broke()));
        let msg = match done {
            Ok(arrival) => Msg::Loaded(Box::new(arrival)),
            Err(_) if halted.stopped() => {
                let next = if mine.once().is_none() { "R loads again" } else { ONCE };
                Msg::NothingLoaded(format!("stopped before anything was read; {next}"))
            }
            Err(failure) => {
                *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                Msg::LoadFailed
            }
        };
        // Without a screen nobody waits for it any more.
        let _ = tell.send(msg);
    })?;
    let seeks = given.at.is_some() || given.settings.view.rollout.is_some();
    brief(Running { halt, progress: Progress::default(), seeks, outbox, inbox }, failed)
}

/// Waits for the end of a load that is quick.
fn brief(mut running: Running, failed: Failed) -> Result<Opening, Failure> {
    let deadline = Instant::now() + BRIEF;
    let next = |inbox: &Receiver<Msg>| inbox.recv_deadline(deadline);
    while let Ok(msg) = next(&running.inbox) {
        match msg {
            Msg::Loaded(arrival) => return Ok(Opening::Whole(arrival)),
            Msg::LoadFailed => return Err(failure(&failed).unwrap_or_else(broke)),
            Msg::Progress(progress) => running.progress = progress,
            // Something newer comes soon.
            _ => {}
        }
    }
    Ok(Opening::While(running, failed))
}

/// Why the load failed, where it did.
pub fn failure(failed: &Failed) -> Option<Failure> {
    failed.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn broke() -> Failure {
    Failure::failed("the load broke off", None)
}

impl Given {
    /// The first load, which shows what it has read so far.
    fn first(&self, halt: &Arc<Halt>, outbox: &Sender<Msg>) -> Result<Arrival, Failure> {
        let (mine, out) = (self.clone(), outbox.clone());
        let so_far: OnSoFar = Arc::new(move |loaded| {
            let _ = out.send(Msg::SoFar(Box::new(mine.part(loaded))));
        });
        let out = outbox.clone();
        let progress: OnProgress = Arc::new(move |progress| {
            let _ = out.send(Msg::Progress(progress));
        });
        let watch = Watch { halt: Arc::clone(halt), so_far: Some(so_far), ..Watch::default() };
        self.arrived(self.session(watch, progress)?)
    }

    /// What a load brings at its end, and where it is to be opened.
    pub fn arrived(&self, session: Session) -> Result<Arrival, Failure> {
        let stopped = session.loaded.report.stopped.clone();
        let start = match &self.at {
            Some(at) if stopped.is_none() => Some(start_at(session.groups(), at)?),
            _ => self.start(session.groups()),
        };
        let mut loaded = self.whole(session);
        let again = self.once().is_none();
        if stopped.is_some() && !again {
            for notice in loaded.notices.iter_mut().filter(|n| n.code == PARTIAL) {
                notice.help = format!("the rest was left unread: {ONCE}");
            }
        }
        Ok(Arrival { loaded, start, stopped, again })
    }

    /// What cannot be read again, in words.
    fn once(&self) -> Option<String> {
        if self.paths.iter().any(|p| p.as_os_str() == "-") {
            return Some("standard input".to_owned());
        }
        // A pipe is empty by now, and to open it would wait for another writer.
        let once = |p: &&PathBuf| p.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir());
        self.paths.iter().find(once).map(|pipe| pipe.display().to_string())
    }

    /// Loads everything again; half of it is of no use.
    pub fn again(&self, halt: &Arc<Halt>, progress: OnProgress) -> Result<Reloaded, String> {
        if let Some(once) = self.once() {
            return Err(format!("{once} cannot be read again"));
        }
        let watch = Watch { halt: Arc::clone(halt), ..Watch::default() };
        match self.session(watch, progress) {
            Ok(session) => Ok(self.whole(session)),
            Err(_) if halt.stopped() => Err("stopped: what is shown is as it was".to_owned()),
            Err(failure) => Err(failure.told()),
        }
    }

    fn session(&self, watch: Watch, progress: OnProgress) -> Result<Session, Failure> {
        let mut settings = self.settings.clone();
        settings.view.progress = When::Never;
        let stop = Stop::by(watch.halt.cancelling());
        (settings.load.watch, settings.load.progress) = (Some(watch), Some(progress));
        Session::open(settings, &self.paths, stop)
    }

    /// Everything, or as much as was read until it was stopped: then no other load has the same inputs.
    fn whole(&self, session: Session) -> Reloaded {
        let report = &session.loaded.report;
        Reloaded {
            provenance: Provenance {
                inputs: inputs(report),
                load: check::counts(report),
                narrow: self.narrow.clone().filter(|_| report.stopped.is_none()),
                paths: session.inputs().cloned().collect(),
                settings: Some(session.settings.clone()),
                folder: PathBuf::new(),
            },
            notices: Notice::of_load(report),
            corpus: session.loaded.corpus,
            texts: Arc::new(session.loaded.sources),
        }
    }

    /// What has been read so far.
    fn part(&self, loaded: Loaded) -> Arrival {
        let mut notices = Notice::of_load(&loaded.report);
        notices.insert(
            0,
            Notice {
                code: LOADING.to_owned(),
                text: "still loading: every number is of what has been read so far".to_owned(),
                help:
                    "groups and rollouts are still missing; exports wait for the end, X stops here"
                        .to_owned(),
            },
        );
        let paths = loaded.sources.paths().chain(self.settings.files()).cloned().collect();
        let settings = Some(self.settings.clone());
        Arrival {
            start: self.start(&loaded.corpus.groups),
            stopped: None,
            again: self.once().is_none(),
            loaded: Reloaded {
                provenance: Provenance { settings, paths, ..Provenance::default() },
                notices,
                corpus: loaded.corpus,
                texts: Arc::new(loaded.sources),
            },
        }
    }

    /// The place that the options name, where it is there.
    fn start(&self, groups: &[Arc<Group>]) -> Option<Start> {
        if let Some(at) = &self.at {
            return start_at(groups, at).ok();
        }
        let id = self.settings.view.rollout.as_deref()?;
        let mut groups = groups.iter().enumerate();
        groups.find_map(|(group, g)| Some(Start { group, rollout: g.find(id)?, step: 0 }))
    }
}

fn start_at(groups: &[Arc<Group>], at: &str) -> Result<Start, Failure> {
    let (group, rollout, step) = locate(groups, at)?;
    Ok(Start { group, rollout, step })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::model::PARTIAL;

    fn given(at: Option<&str>) -> Given {
        let sample = "sample-data/slugify-fix/rollouts.jsonl";
        Given {
            settings: Settings::resolve(&[]).unwrap(),
            paths: vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(sample)],
            at: at.map(str::to_owned),
            narrow: Some(Arc::new(|_| Err("not asked for".to_owned()))),
        }
    }

    fn session(given: &Given) -> Session {
        given.session(Watch::default(), Arc::new(drop)).unwrap()
    }

    #[test]
    fn a_load_that_was_stopped_marks_its_exports_and_finds_no_fault_in_a_missing_place() {
        let given = given(Some("nobody:0"));
        assert!(given.arrived(session(&given)).is_err());
        let mut some = session(&given);
        some.loaded.report.stopped = Some("stopped at 34 %".to_owned());
        let arrival = given.arrived(some).unwrap();
        assert_eq!((arrival.start, arrival.stopped.as_deref()), (None, Some("stopped at 34 %")));
        let Reloaded { provenance, notices, .. } = arrival.loaded;
        assert_eq!(provenance.load["partial"], "partial data: stopped at 34 %");
        assert!(provenance.narrow.is_none(), "no other load has the same inputs");
        assert_eq!(notices[0].code, PARTIAL);
        assert_eq!(notices[0].help, "the rest was left unread: R loads all of it");
        // Of a stream there is no rest that could be loaded.
        let piped = Given { paths: vec![PathBuf::from("-")], at: None, ..given.clone() };
        let mut some = session(&given);
        some.loaded.report.stopped = Some("stopped mid-stream".to_owned());
        let arrival = piped.arrived(some).unwrap();
        assert!(!arrival.again);
        let help = "the rest was left unread: a stream is read once only";
        assert_eq!(arrival.loaded.notices[0].help, help);
        let whole = given.whole(session(&given));
        assert!(whole.provenance.narrow.is_some() && whole.provenance.load["partial"].is_null());
    }

    #[test]
    fn a_place_is_found_by_its_step_or_its_rollout() {
        let mut given = given(Some("slugify-fix-run-3:2"));
        let start = given.arrived(session(&given)).unwrap().start;
        assert_eq!(start, Some(Start { group: 0, rollout: 2, step: 2 }));
        given.at = None;
        given.settings.view.rollout = Some("slugify-fix-run-5".to_owned());
        let start = given.arrived(session(&given)).unwrap().start;
        assert_eq!(start, Some(Start { group: 0, rollout: 4, step: 0 }));
        let part = given.part(session(&given).loaded);
        assert_eq!((part.start, part.loaded.notices[0].code.as_str()), (start, LOADING));
    }

    #[test]
    fn loading_again_is_stopped_without_a_trace_and_reads_no_pipe() {
        let mut given = given(None);
        let halt = Arc::new(Halt::default());
        assert_eq!(given.again(&halt, Arc::new(drop)).unwrap().corpus.groups.len(), 1);
        halt.stop();
        let told = given.again(&halt, Arc::new(drop)).unwrap_err();
        assert_eq!(told, "stopped: what is shown is as it was");
        given.paths.push(PathBuf::from("-"));
        let told = given.again(&Arc::default(), Arc::new(drop)).unwrap_err();
        assert_eq!(told, "standard input cannot be read again");
    }
}
