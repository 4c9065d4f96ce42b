//! Random keys, pastes, clicks and sizes over five files: nothing panics, the cursor always stands on
//! something that exists, and neither a knob nor a late answer moves it.
//!
//! The model is driven as the run loop drives it: workers that hold the latest request only, and answer
//! late and in any order. Seeds are fixed. `CREDSCOPE_KEYS=N` presses N keys per file instead of 20,000.
//! After every message the cursor is checked; drawn is every fifth, and of screens over 200x60 every
//! fiftieth, which keeps the whole within a minute without optimisation.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_desk;
mod tui_support;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use credscope::analysis::AnalysisSettings;
use credscope::load::Progress;
use credscope::rollout::Corpus;
use credscope::tui::keymap::BINDINGS;
use credscope::tui::layout::Pane;
use credscope::tui::loading::Arrival;
use credscope::tui::model::{Look, Model, Start};
use credscope::tui::update::{Effect, Msg, begin, update};
use credscope::tui::worker::Reloaded;
use credscope::tui::{Depth, ThemeId, panes};
use crossterm::event::{
    KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::buffer::Buffer;
use tui_desk::{Desk, File, Random};
use tui_support::key;

/// Keys per file, unless `CREDSCOPE_KEYS` says otherwise.
const KEYS: usize = 20_000;

/// The selected place by name: group, rollout id, step.
type Place = Option<(usize, String, usize)>;

fn place(model: &Model) -> Place {
    let (group, snapshot) = model.shown.as_ref()?;
    let rollout = snapshot.analysis.group.rollouts.get(model.cursor.rollout)?;
    Some((*group, rollout.id.clone(), model.cursor.step))
}

/// What is settled of a computation, without what the computation adds to it.
fn turned(model: &Model) -> AnalysisSettings {
    AnalysisSettings { batch: None, ..model.settings.clone() }
}

/// A model over a file with the desk that works for it.
struct Session<'a> {
    file: &'a File,
    model: Model,
    desk: Desk,
    random: Random,
    /// What was done last, for a failure to tell.
    log: VecDeque<String>,
    left: usize,
    /// Keys that come next: sequences that single random keys seldom make.
    next: VecDeque<&'static str>,
    /// How many parts of a load have come, and loads that came to their end.
    part: usize,
    loads: usize,
    /// Turns of a knob or a column, answers that were shown, panes that had the focus.
    turns: usize,
    shown: usize,
    foci: BTreeSet<Pane>,
}

impl<'a> Session<'a> {
    fn start(file: &'a File, seed: u64) -> Self {
        let random = Random(seed);
        let model = Model::new(
            file.corpus.clone(),
            Vec::new(),
            AnalysisSettings::default(),
            tui_support::PLAIN,
            None,
        );
        let log = VecDeque::new();
        let mut session = Self {
            file,
            model,
            desk: Desk::default(),
            random,
            log,
            left: 0,
            next: VecDeque::new(),
            part: 0,
            loads: 0,
            turns: 0,
            shown: 0,
            foci: BTreeSet::new(),
        };
        session.open();
        session
    }

    /// Opens the screen anew, in a look and at a size.
    fn open(&mut self) {
        let random = &mut self.random;
        let look = Look {
            theme: ThemeId::ALL[random.below(4)],
            depth: [Depth::None, Depth::Ansi16, Depth::Ansi256, Depth::True][random.below(4)],
            ascii: random.one_in(4),
        };
        let settings = AnalysisSettings::default();
        // Half of the screens open on a load that still runs.
        let runs = random.one_in(2);
        let corpus = if runs { Corpus::default() } else { self.file.corpus.clone() };
        self.model = Model::new(corpus, Vec::new(), settings, look, None);
        self.part = 0;
        if runs {
            self.model.wait_for(Progress::default(), random.one_in(2));
        }
        self.desk.workers.clear();
        self.desk.searched_by_hand.clear();
        let effects = begin(&mut self.model);
        self.carry_out(effects, false);
        self.apply(Msg::Resize(80, 24));
    }

    fn carry_out(&mut self, effects: Vec<Effect>, by_hand: bool) {
        for effect in effects {
            let size = (self.model.area.width, self.model.area.height);
            match self.desk.take(effect, by_hand) {
                Some(Effect::Quit(_)) => {
                    self.left += 1;
                    self.open();
                    return;
                }
                Some(Effect::Copy(text, _)) => {
                    self.apply(Msg::Say(format!("{} copied", text.len())));
                }
                Some(Effect::Show(_)) => {
                    self.apply(Msg::Resize(size.0, size.1));
                    self.apply(Msg::Say("back from the pager".to_owned()));
                }
                Some(Effect::Suspend) => self.apply(Msg::Resize(size.0, size.1)),
                _ => {}
            }
        }
    }

    /// A message, and everything that must hold after it.
    fn apply(&mut self, msg: Msg) {
        if self.log.len() > 40 {
            self.log.pop_front();
        }
        self.log.push_back(told(&msg));
        let (before, settings) = (place(&self.model), turned(&self.model));
        let by_hand = matches!(&msg, Msg::Key(_) | Msg::Paste(_) | Msg::Mouse(_));
        // These answer what was asked for: none of them may move the cursor within its group.
        let stays = match &msg {
            // The place that the options name, once it is there.
            Msg::Analysed(..) => self.model.start.is_none(),
            Msg::SoFar(_)
            | Msg::Loaded(_)
            | Msg::Progress(_)
            | Msg::Contrasted(..)
            | Msg::Summarised(..)
            | Msg::Read(..)
            | Msg::Opened(_)
            | Msg::Say(_)
            | Msg::Failed(_)
            | Msg::Repaint
            | Msg::Paste(_)
            | Msg::Resize(..) => true,
            Msg::Found(key, _) => !self.desk.searched_by_hand.contains(key),
            _ => false,
        };
        let key = self.model.shown_key;
        let effects = update(&mut self.model, msg);
        self.shown += usize::from(key != self.model.shown_key);
        self.foci.insert(self.model.focus);
        let after = place(&self.model);
        let same_group = before.as_ref().map(|p| p.0) == after.as_ref().map(|p| p.0);
        let knob = by_hand && settings != turned(&self.model);
        self.turns += usize::from(knob);
        if (stays || knob) && same_group {
            assert_eq!(before, after, "{}: the cursor moved; {}", self.file.name, self.last());
        }
        self.exists();
        self.carry_out(effects, by_hand);
    }

    fn last(&self) -> String {
        let log: Vec<&str> = self.log.iter().map(String::as_str).collect();
        log.join(" ")
    }

    /// The cursor stands on a rollout of the group, and on one of its steps if it has any.
    fn exists(&self) {
        let model = &self.model;
        let groups = model.corpus.groups.len();
        assert!(model.group < groups.max(1), "group {} of {groups}; {}", model.group, self.last());
        assert!(model.groups.at < groups.max(1), "{} of {groups}", model.groups.at);
        let Some((group, snapshot)) = &model.shown else {
            return;
        };
        let (shown, there) = (&snapshot.analysis.group, &model.corpus.groups[*group]);
        // While a load runs, an earlier state of it is shown until the next one is analysed.
        assert!(
            Arc::ptr_eq(shown, there) || model.waiting() && shown.key == there.key,
            "what is shown is the group that it says; {}",
            self.last()
        );
        let rollouts = &snapshot.analysis.group.rollouts;
        let steps = rollouts.get(model.cursor.rollout).map(|r| r.steps.len());
        match steps {
            Some(0) => assert_eq!(model.cursor.step, 0, "{}", self.last()),
            Some(n) => {
                assert!(model.cursor.step < n, "{:?} of {n}; {}", model.cursor, self.last());
                assert!(model.step().is_some());
            }
            None => assert!(rollouts.is_empty(), "{:?}; {}", model.cursor, self.last()),
        }
    }

    fn draw(&self) {
        let area = self.model.area;
        let mut buffer = Buffer::empty(area);
        panes::draw(&self.model, area, &mut buffer);
        let ascii = self.model.look.ascii;
        for cell in &buffer.content {
            let sign = cell.symbol();
            // What was typed or stands in the data stays; a sign of the program's own has a stand-in.
            let fits = !ascii || sign.is_ascii() || credscope::export::ascii::line(sign) == sign;
            assert!(fits && !sign.contains(char::is_control), "{sign:?}");
        }
        assert!(buffer.content.iter().any(|c| c.symbol() != " "), "something is drawn at {area:?}");
    }

    /// Something that a person, a terminal or a signal may do.
    fn event(&mut self, keys: &[&str]) -> Msg {
        if self.model.so_far().is_some() && self.random.one_in(15) {
            return self.load();
        }
        if let Some(name) = self.next.pop_front() {
            return Msg::Key(key(name));
        }
        let random = &mut self.random;
        if random.one_in(120) {
            // Out of every layer, then a run of turns with moves between them, a filter, a search, or
            // a choice of columns.
            let (first, then): (&[&'static str], &[&'static str]) = match random.below(5) {
                0 | 1 => (&["v"], &["h", "l", "j", "k", "p", "P", "u", "b", "m", "]", "n", "d"]),
                2 => (&["f"], &["j", "j", "Space", "k", "PgDn", "Space", "c"]),
                3 => (&["/", "[", "a", "-", "n", "]", ":", "Enter"], &["n", "N", "m", "p", "j"]),
                _ => (&["c"], &["j", "Space", "k", "x", "y", "G", "Space", "g"]),
            };
            self.next.extend(["Esc", "Esc", "Esc", "Esc"]);
            self.next.extend(first);
            for _ in 0..random.below(24) {
                self.next.push_back(then[random.below(then.len())]);
            }
            self.next.push_back("Esc");
        }
        match random.below(100) {
            0..=3 => {
                let (width, height) = match random.below(4) {
                    0 => (1 + random.below(500), 1 + random.below(200)),
                    1 => (1 + random.below(60), 1 + random.below(16)),
                    _ => (40 + random.below(180), 10 + random.below(60)),
                };
                Msg::Resize(width as u16, height as u16)
            }
            4..=6 => Msg::Mouse(MouseEvent {
                kind: [
                    MouseEventKind::ScrollDown,
                    MouseEventKind::ScrollUp,
                    MouseEventKind::Down(MouseButton::Left),
                    MouseEventKind::Up(MouseButton::Left),
                    MouseEventKind::Drag(MouseButton::Right),
                    MouseEventKind::Moved,
                ][random.below(6)],
                column: random.below(510) as u16,
                row: random.below(210) as u16,
                modifiers: KeyModifiers::NONE,
            }),
            7..=8 => {
                let pasted = [
                    "view",
                    "q\nq\u{1b}[31m",
                    "(",
                    "文件 👩‍👩‍👧 \u{202e}",
                    "[a-z]+@.*py",
                    "",
                    "theme",
                    ".",
                ];
                Msg::Paste(pasted[random.below(pasted.len())].to_owned())
            }
            9 => match random.below(6) {
                0 => Msg::Repaint,
                1 => Msg::Stop,
                2 => Msg::Say("a remark".to_owned()),
                3 => Msg::Key(KeyEvent { kind: KeyEventKind::Release, ..key("j") }),
                4 => Msg::Key(KeyEvent { kind: KeyEventKind::Repeat, ..key("j") }),
                _ => Msg::Key(KeyEvent::new(key("x").code, KeyModifiers::ALT)),
            },
            _ => {
                let name = keys[random.below(keys.len())];
                // The keys that leave start the session again: seldom, so that others go deep.
                let leaves = matches!(name, "q" | "Ctrl-c");
                Msg::Key(key(if leaves && !random.one_in(10) { "j" } else { name }))
            }
        }
    }

    /// The next part of the load, or its end.
    fn load(&mut self) -> Msg {
        let progress = Progress { bytes: self.part as u64, total_bytes: 30, ..Progress::default() };
        if self.random.one_in(3) {
            return Msg::Progress(progress);
        }
        let part = self.file.parts.get(self.part).cloned();
        self.part += 1 + self.random.below(4);
        let ends = part.is_none();
        let corpus = part.unwrap_or_else(|| self.file.corpus.clone());
        let group = self.random.below(corpus.groups.len());
        let start = Start { group, rollout: 0, step: 0 };
        let arrival = Box::new(Arrival {
            again: true,
            loaded: Reloaded { corpus, ..Reloaded::nothing(None) },
            start: self.random.one_in(2).then_some(start),
            stopped: None,
        });
        self.loads += usize::from(ends);
        if ends { Msg::Loaded(arrival) } else { Msg::SoFar(arrival) }
    }

    /// Workers take, work and answer, now or later, in any order between them.
    fn tick(&mut self) {
        let quiet = self.random.one_in(12);
        loop {
            let busy = self.desk.busy();
            if busy.is_empty() || !quiet && self.random.one_in(2) {
                return;
            }
            let kind = busy[self.random.below(busy.len())];
            if self.random.one_in(2) {
                self.desk.work(kind, self.file, &mut self.random);
            }
            let answer = self.desk.workers.get_mut(kind).and_then(|w| w.answers.pop_front());
            if let Some(answer) = answer {
                self.apply(answer);
            }
        }
    }
}

fn told(msg: &Msg) -> String {
    match msg {
        Msg::Key(key) => {
            credscope::tui::keymap::name(key).unwrap_or_else(|| format!("{:?}", key.code))
        }
        Msg::Resize(w, h) => format!("<{w}x{h}>"),
        Msg::Paste(text) => format!("<paste {text:?}>"),
        Msg::Mouse(event) => format!("<{:?} {},{}>", event.kind, event.column, event.row),
        Msg::Analysed(key, group, _) => format!("<analysed {key} of {group}>"),
        Msg::Contrasted(key, _) => format!("<contrast {key}>"),
        Msg::Summarised(key, group, _) => format!("<row {group} of {key}>"),
        Msg::Read(of, _) => format!("<text {of:?}>"),
        Msg::Found(key, part) => format!("<{} hits of {key}>", part.hits.len()),
        Msg::SoFar(part) => format!("<{} groups so far>", part.loaded.corpus.groups.len()),
        Msg::Loaded(all) => format!("<all {} groups>", all.loaded.corpus.groups.len()),
        Msg::Reloaded(Ok((corpus, _))) => format!("<loaded {} groups>", corpus.groups.len()),
        other => {
            let text = format!("{other:?}");
            format!("<{}>", text.chars().take(30).collect::<String>())
        }
    }
}

fn walk(file: &File, seed: u64) {
    let presses: usize =
        std::env::var("CREDSCOPE_KEYS").ok().and_then(|n| n.parse().ok()).unwrap_or(KEYS);
    let mut keys: Vec<&str> = BINDINGS.iter().flat_map(|b| b.keys).copied().collect();
    keys.extend(["0", "8", "9", "5", "Backspace", "Ctrl-u", "é", "文", "j", "k", "j", "l", "h"]);
    let mut session = Session::start(file, seed);
    let mut drawn = 0;
    for i in 0..presses {
        let msg = session.event(&keys);
        session.apply(msg);
        session.tick();
        let large = session.model.area.area() > 200 * 60;
        if i % if large { 50 } else { 5 } == 0 {
            session.draw();
            drawn += 1;
        }
    }
    let Session { left, turns, shown, foci, loads, .. } = session;
    println!(
        "{}: {presses} events, {drawn} drawn, left {left} times, {loads} loads to their end; {turns} \
         turns, {shown} analyses shown, {} panes",
        file.name,
        foci.len()
    );
    // The walk goes through everything, or it proves little.
    let deep = turns > 200 && shown > 200 && loads > 0;
    assert!(presses < KEYS || deep && foci.len() >= Pane::CYCLE.len() + 2);
}

fn sample(name: &'static str, seed: u64) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data").join(name);
    let (corpus, texts) = tui_support::loaded(&path);
    walk(&File { name, corpus, texts, parts: tui_support::parts(&path) }, seed);
}

fn real(name: &'static str, seed: u64) {
    if let Some(path) = tui_support::real_path(name) {
        let (corpus, texts) = tui_support::loaded(&path);
        walk(&File { name, corpus, texts, parts: tui_support::parts(&path) }, seed);
    }
}

#[test]
fn slugify() {
    sample("slugify-fix/rollouts.jsonl", 0x2545_f491_4f6c_dd1d);
}

#[test]
fn airline_desk() {
    sample("airline-desk/results.json", 0x9e37_79b9_7f4a_7c15);
}

#[test]
fn datalad() {
    sample("datalad_final_05ea/rollouts.jsonl", 0xbf58_476d_1ce4_e5b9);
}

#[test]
fn r2e() {
    real(tui_support::R2E, 0x94d0_49bb_1331_11eb);
}

#[test]
fn tau_bench() {
    real("tau-bench/gpt-4o-airline.subset-a.json", 0xd6e8_feb8_6659_fd93);
}
