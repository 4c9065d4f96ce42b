//! A load that runs while the screen is open: how far it is, what it has brought so far, and how it is
//! stopped. Part of [`super::update`]; the load itself runs in threads of its own.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};

use super::message::{Effect, Msg};
use super::model::{Model, Notice, PARTIAL, Start};
use super::worker::Reloaded;
use super::{jumps, reload};
use crate::load::{Halt, Progress};
use crate::rollout::plural;

/// Code of the notice that not everything has been read yet.
pub const LOADING: &str = "loading";
/// Why there is nothing to load again.
pub const ONCE: &str = "a stream is read once only";

/// The first load, where it is not done when the screen opens.
pub struct Running {
    /// The way to stop it.
    pub halt: Arc<Halt>,
    /// How far it is.
    pub progress: Progress,
    /// Whether the screen is to go to a place as soon as it is there.
    pub seeks: bool,
    /// Where it sends its messages.
    pub outbox: Sender<Msg>,
    /// Where they come out.
    pub inbox: Receiver<Msg>,
}

/// What a load brings, in part or at its end.
#[derive(Debug)]
pub struct Arrival {
    /// The groups, and what belongs to them.
    pub loaded: Reloaded,
    /// The place that the options name, where it is in there.
    pub start: Option<Start>,
    /// Why the rest was left unread.
    pub stopped: Option<String>,
    /// Whether all of it can be loaded again.
    pub again: bool,
}

/// What the model knows of a running load.
#[derive(Debug, Clone, Default)]
pub struct Loading {
    /// How far it is.
    pub progress: Progress,
    /// Whether it is the first one: then what is shown is a part of what it reads.
    pub first: bool,
    /// Whether it was told to stop.
    pub stopping: bool,
    /// Whether the cursor goes to the named place once that is there.
    pub seeks: bool,
}

impl Loading {
    /// `loading 34 %`, in the title of every screen.
    #[must_use]
    pub fn badge(&self) -> String {
        let verb = match (self.stopping, self.first) {
            (true, _) => "stopping",
            (false, true) => "loading",
            (false, false) => "loading again",
        };
        self.progress.percent().map_or_else(|| verb.to_owned(), |p| format!("{verb} {p} %"))
    }

    /// How much was read, the most telling part first.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let p = &self.progress;
        let mut list = Vec::new();
        match (p.bytes, p.total_bytes) {
            (0, 0) if p.total_files > 0 => {
                list.push(format!("opening file {} of {}", p.files, p.total_files));
            }
            (0, 0) => list.push("looking at the files".to_owned()),
            (bytes, 0) => list.push(format!("{} of the stream came", size(bytes))),
            (bytes, all) if bytes >= all => list.push("all read, making groups".to_owned()),
            (bytes, all) => list.push(format!("{} of {}", size(bytes), size(all))),
        }
        if p.rollouts > 0 {
            list.push(plural(p.rollouts, "rollout"));
        }
        if p.total_bytes > 0 && p.total_files > 1 {
            list.push(format!("{} of {} files", p.files, p.total_files));
        }
        if p.records > 0 && p.records != p.rollouts {
            list.push(plural(p.records, "record"));
        }
        list
    }
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        1_000_000_000.. => format!("{} GB", tenths(1_000_000_000)),
        10_000_000.. => format!("{} MB", bytes / 1_000_000),
        1_000_000.. => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} kB", bytes.div_ceil(1_000)),
    }
}

impl Model {
    /// The first load, while it runs: every number is of what it has read so far.
    #[must_use]
    pub fn so_far(&self) -> Option<&Loading> {
        self.loading.as_ref().filter(|l| l.first)
    }

    /// Opens the screen on a load that runs.
    pub fn wait_for(&mut self, progress: Progress, seeks: bool) {
        self.untouched = !seeks;
        self.loading = Some(Loading { progress, first: true, seeks, ..Loading::default() });
    }
}

/// Takes a part of what is being loaded.
pub(super) fn so_far(model: &mut Model, arrival: Arrival, effects: &mut Vec<Effect>) {
    // One that was under way when the load ended says nothing any more.
    if model.so_far().is_some() {
        take(model, arrival, effects);
    }
}

/// Takes what the first load has brought in the end.
pub(super) fn ended(model: &mut Model, arrival: Arrival, effects: &mut Vec<Effect>) {
    let (stopped, again) = (arrival.stopped.clone(), arrival.again);
    take(model, arrival, effects);
    model.loading = None;
    if model.untouched && model.group != 0 {
        super::update::switch_group(model, 0, effects);
    }
    super::update::open_afresh(model);
    let (groups, rollouts) = reload::counts(&model.corpus);
    let told = format!("{}, {}", plural(groups, "group"), plural(rollouts, "rollout"));
    model.message = Some(match stopped {
        None => reload::told(model, "loaded", &told),
        Some(reason) if again => format!("{reason}: {told}; R loads all"),
        Some(reason) => format!("{reason}: {told}; {ONCE}"),
    });
}

/// The first load ended without a result. What it has shown stays, and is known to be a part.
pub(super) fn nothing(model: &mut Model, text: String, effects: &mut Vec<Effect>) {
    model.loading = None;
    if model.corpus.groups.is_empty() {
        model.message = Some(text);
        return;
    }
    let partial = "partial data: stopped, and the rest could not be read".to_owned();
    model.notices.retain(|n| n.code != LOADING);
    let notice = Notice {
        code: PARTIAL.to_owned(),
        text: partial.clone(),
        help: "every number is of what had been read by then".to_owned(),
    };
    model.notices.insert(0, notice);
    let (groups, rollouts) = reload::counts(&model.corpus);
    let told = format!("{}, {}", plural(groups, "group"), plural(rollouts, "rollout"));
    model.message = Some(format!("stopped, the rest could not be read: {told}"));
    effects.push(Effect::Partial(partial));
}

/// Puts it in the place of what is shown.
fn take(model: &mut Model, arrival: Arrival, effects: &mut Vec<Effect>) {
    let Arrival { loaded, start, .. } = arrival;
    let Reloaded { corpus, notices, texts, provenance } = loaded;
    effects.push(Effect::Source(super::worker::Source::new(texts, provenance)));
    let seeks = model.loading.as_mut().is_some_and(|l| {
        std::mem::take(&mut l.seeks) && {
            l.seeks = start.is_none();
            start.is_some()
        }
    });
    reload::replace(model, corpus, notices, effects);
    if let Some(start) = start.filter(|_| seeks) {
        jumps::note(model);
        model.start = Some(start);
        model.untouched = false;
        super::update::switch_group(model, start.group, effects);
    }
}

/// The key that stops a load.
pub(super) fn stop(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(loading) = &mut model.loading else {
        model.message = Some("nothing is being loaded: R loads again".to_owned());
        return;
    };
    loading.stopping = true;
    model.message = Some(if loading.first {
        "stopping: what was read is kept".to_owned()
    } else {
        "stopping: what is shown stays".to_owned()
    });
    effects.push(Effect::StopLoading);
}

/// The key that loads again.
pub(super) fn again(model: &mut Model, effects: &mut Vec<Effect>) {
    model.message = Some(match &model.loading {
        None => {
            model.loading = Some(Loading::default());
            effects.push(Effect::Reload);
            "loading again …".to_owned()
        }
        Some(loading) if loading.stopping => {
            "still stopping: R loads again once that is done".to_owned()
        }
        Some(loading) => format!("{} already: X stops it", loading.badge()),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_as_far_as_it_is_known() {
        let told = |bytes, total_bytes, files, total_files, rollouts| {
            let progress =
                Progress { bytes, total_bytes, records: rollouts, rollouts, files, total_files };
            let loading = Loading { progress, first: true, ..Loading::default() };
            (loading.badge(), loading.parts().join(", "))
        };
        let whole = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(told(0, 0, 0, 0, 0), whole("loading", "looking at the files"));
        assert_eq!(told(0, 0, 3, 80, 0), whole("loading", "opening file 3 of 80"));
        assert_eq!(told(1_500, 0, 0, 0, 0), whole("loading", "2 kB of the stream came"));
        assert_eq!(
            told(340_000_000, 1_000_000_000, 1, 2, 3400),
            whole("loading 34 %", "340 MB of 1.0 GB, 3400 rollouts, 1 of 2 files")
        );
        assert_eq!(told(50, 50, 1, 1, 1).1, "all read, making groups, 1 rollout");
    }
}
