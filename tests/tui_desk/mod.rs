//! Workers without threads: each holds the latest request only, and works and answers when a test says so.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use credscope::analysis::{Contrast, batch};
use credscope::rollout::Corpus;
use credscope::tui::snapshot::{Snapshot, Summary, totals};
use credscope::tui::text::{Document, NoText, TextSource};
use credscope::tui::update::{Effect, Msg};
use credscope::tui::{finding, sweeping};

/// Numbers that look random and are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// The work of a kind that is asked for: the latest request, and answers that were not taken yet.
#[derive(Default)]
pub struct Worker {
    pub request: Option<Effect>,
    pub answers: VecDeque<Msg>,
}

/// All workers, and what they made.
#[derive(Default)]
pub struct Desk {
    pub workers: BTreeMap<&'static str, Worker>,
    snapshots: HashMap<String, Arc<Snapshot>>,
    summaries: HashMap<String, Arc<Summary>>,
    contrasts: HashMap<String, Arc<Contrast>>,
    /// Searches that a person asked for: they go to the first hit. One that a new analysis asked for
    /// must not.
    pub searched_by_hand: Vec<u64>,
}

/// Results are kept, so that turning there and back is computed once; not more than this many.
const KEPT: usize = 300;

fn kept<T>(kept: &mut HashMap<String, Arc<T>>, name: String, make: impl FnOnce() -> T) -> Arc<T> {
    if kept.len() > KEPT {
        kept.clear();
    }
    Arc::clone(kept.entry(name).or_insert_with(|| Arc::new(make())))
}

impl Desk {
    /// Takes an effect that is work; gives back one that is not.
    pub fn take(&mut self, effect: Effect, by_hand: bool) -> Option<Effect> {
        let kind = match &effect {
            Effect::Analyse { .. } => "analysis",
            Effect::Contrast { .. } => "contrast",
            Effect::Summarise { .. } => "groups",
            Effect::Read { .. } | Effect::Open { .. } => "texts",
            Effect::Sweep(_) => "sweep",
            Effect::StopSweep(_) => {
                self.workers.entry("sweep").or_default().request = None;
                return None;
            }
            Effect::Export(_) => "export",
            Effect::Reload => "reload",
            Effect::Find { key, .. } => {
                if by_hand {
                    self.searched_by_hand.push(*key);
                }
                "search"
            }
            Effect::StopFinding(_) => {
                self.workers.entry("search").or_default().request = None;
                return None;
            }
            _ => return Some(effect),
        };
        self.workers.entry(kind).or_default().request = Some(effect);
        None
    }

    /// Does what one of the workers was asked for.
    pub fn work(&mut self, kind: &'static str, file: &File, random: &mut Random) {
        let Some(request) = self.workers.get_mut(kind).and_then(|w| w.request.take()) else {
            return;
        };
        let mut answers = Vec::new();
        match request {
            Effect::Analyse { key, index, group, mut settings, load } => {
                if let Some(groups) = load {
                    settings.batch = batch(&Corpus { groups }, &settings);
                }
                // A group may be there in several states of one load.
                let name = format!("{} {:p} {settings:?}", group.key.task, Arc::as_ptr(&group));
                let made = kept(&mut self.snapshots, name, || Snapshot::new(&group, &settings));
                answers.push(Msg::Analysed(key, index, made));
            }
            Effect::Contrast { key, now, pin, earlier } => {
                let (task, at) = (&now.analysis.group.key.task, Arc::as_ptr(&now.analysis.group));
                let name = format!("{task} {at:p} {:?} {pin:?}", now.analysis.settings);
                let make = || Contrast::new(&now.analysis, &pin, earlier.as_deref());
                answers.push(Msg::Contrasted(key, kept(&mut self.contrasts, name, make)));
            }
            Effect::Summarise { key, groups, settings, uniform_counts, .. } => {
                // Sometimes not all rows are made before something newer is wanted.
                let n =
                    if random.one_in(4) { random.below(groups.len() + 1) } else { groups.len() };
                let mut rows = Vec::new();
                for (i, group) in groups.iter().take(n).enumerate() {
                    let name = format!("{} {:p} {settings:?}", group.key.task, Arc::as_ptr(group));
                    let row = kept(&mut self.summaries, name, || Summary::new(group, &settings));
                    rows.push(Arc::clone(&row));
                    answers.push(Msg::Summarised(key, i, row));
                }
                if n == groups.len() {
                    let sums = totals(rows.iter().map(|r| &**r), uniform_counts, settings.seed);
                    answers.push(Msg::Totalled(key, Arc::new(sums)));
                }
            }
            Effect::Sweep(job) => sweeping::run(&job, |part| {
                answers.push(Msg::Swept(job.key, part));
                // Now and then something newer is wanted before the end.
                !random.one_in(40)
            }),
            Effect::Read { of, group, controls } => {
                let text = file.texts.step_text(&group, of.1, of.2);
                let read = text.map(|raw| Arc::new(Document::with(&raw, controls)));
                answers.push(Msg::Read(of, read));
            }
            Effect::Open { of, group } => {
                let text = file.texts.step_text(&group, of.1, of.2);
                answers.push(Msg::Opened(text.map(|raw| Document::new(&raw).plain())));
            }
            Effect::Find { key, snapshot, pattern } => {
                // Most searches stay with the signatures: reading a whole file each time takes long.
                let texts: &dyn TextSource = if random.one_in(8) { &*file.texts } else { &NoText };
                finding::run(&snapshot, &pattern, texts, &|| true, |part| {
                    answers.push(Msg::Found(key, part));
                    true
                });
            }
            Effect::Export(_) => answers.push(Msg::Say("written".to_owned())),
            Effect::Reload => answers.push(Msg::Reloaded(file.again(random))),
            _ => {}
        }
        if let Some(worker) = self.workers.get_mut(kind) {
            worker.answers.extend(answers);
        }
    }

    /// Whether something is asked for or answered.
    pub fn busy(&self) -> Vec<&'static str> {
        let busy = |w: &Worker| w.request.is_some() || !w.answers.is_empty();
        self.workers.iter().filter(|(_, w)| busy(w)).map(|(kind, _)| *kind).collect()
    }
}

/// A loaded file.
pub struct File {
    pub name: &'static str,
    pub corpus: Corpus,
    pub texts: Arc<dyn TextSource>,
    /// What its load shows on the way.
    pub parts: Vec<Corpus>,
}

impl File {
    /// The file, loaded again: mostly as it was, sometimes with groups missing, or not at all.
    pub fn again(
        &self,
        random: &mut Random,
    ) -> Result<(Corpus, Vec<credscope::tui::model::Notice>), String> {
        let mut groups = self.corpus.groups.clone();
        match random.below(8) {
            0 => return Err("the file is gone".to_owned()),
            1 => groups.clear(),
            2 => groups.truncate(1),
            3 => {
                groups.remove(random.below(groups.len()));
            }
            _ => {}
        }
        Ok((Corpus { groups }, Vec::new()))
    }
}
