//! A small group made by hand, and a screen that draws into memory: tests drive what a person drives.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use credscope::analysis::{AnalysisSettings, Contrast};
use credscope::rollout::raw::{RawArgs, RawStep};
use credscope::rollout::{
    Corpus, Group, GroupKey, Outcome, Rollout, StepFacts, StepTable, Symbols,
};
use credscope::tui::finding;
use credscope::tui::model::{Look, Model};
use credscope::tui::snapshot::{Snapshot, Summary, totals};
use credscope::tui::sweeping;
use credscope::tui::text::{Document, TextSource};
use credscope::tui::update::{Effect, Msg, begin, update};
use credscope::tui::worker::{Analyst, Library, Origin, Workers};
use credscope::tui::{Depth, ThemeId, run, terminal};
use crossbeam_channel::{Receiver, Sender, unbounded};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// A rollout: id, success, steps as (state, action).
pub type Walk<'a> = (&'a str, Outcome, Vec<(String, String)>);

/// A group of opaque steps with a state key each.
pub fn group(task: &str, walks: &[Walk]) -> Arc<Group> {
    let mut symbols = Symbols::default();
    let mut steps = StepTable::default();
    let mut rollouts = Vec::new();
    for (id, outcome, walk) in walks {
        let start = steps.turn.len();
        for (t, (state, action)) in walk.iter().enumerate() {
            steps.turn.push(t as u32);
            steps.step_reward.push(Some(0.005));
            steps.state.push(symbols.intern(state));
            steps.action.push(symbols.intern(action));
            steps.tokens.push(None);
            steps.text.push(credscope::rollout::TextRef { record: 0, raw: t as u32 });
            steps.facts.steps.push(StepFacts::default());
        }
        rollouts.push(Rollout {
            id: (*id).to_owned(),
            outcome: *outcome,
            outcome_source: "made by hand".to_owned(),
            ending: String::new(),
            reward: Some(f64::from(u8::from(*outcome == Outcome::Success))),
            outcome_reward: None,
            named_rewards: Vec::new(),
            harness: None,
            policy: None,
            attempt: None,
            steps: start..steps.turn.len(),
            records: Vec::new(),
            segment_starts: Vec::new(),
            missing_segments: String::new(),
            excluded_calls: 0,
            excluded_messages: 0,
            forked_from: None,
        });
    }
    Arc::new(Group {
        key: GroupKey { task: task.to_owned(), ..GroupKey::default() },
        rollouts,
        steps,
        symbols,
        ..Group::default()
    })
}

/// Eight rollouts that split twice, four of them successes; one failure starts well.
pub fn eight() -> Arc<Group> {
    let walk = |edit: &str, tail: usize| {
        let mut steps = vec![
            ("s0".to_owned(), "search:grep@.".to_owned()),
            ("s1".to_owned(), "view:full@separable.py".to_owned()),
            ("s2".to_owned(), format!("modify:replace:{edit}@separable.py")),
        ];
        for k in 0..tail {
            steps.push((
                format!("after {edit}"),
                format!("test:pytest:{}@tests/test_separable.py", k % 2),
            ));
        }
        steps.push((format!("end {edit}"), "finish".to_owned()));
        steps
    };
    let short = |edit: &str| {
        vec![
            ("s0".to_owned(), "view:full@separable.py".to_owned()),
            ("s9".to_owned(), format!("modify:replace:{edit}@separable.py")),
            (format!("end {edit}"), "finish".to_owned()),
        ]
    };
    let (ok, bad) = (Outcome::Success, Outcome::Failure);
    group(
        "astropy-12907",
        &[
            ("r1", ok, walk("7fd1", 5)),
            ("r2", bad, walk("3859", 0)),
            ("r3", ok, walk("4a62", 7)),
            ("r4", bad, short("b6de")),
            ("r5", ok, walk("33a6", 0)),
            ("r6", bad, short("2a3b")),
            ("r7", ok, walk("33a6", 0)),
            ("r8", bad, short("b627")),
        ],
    )
}

/// A group of everything that is odd: no steps, no verdict, hostile names.
pub fn odd() -> Arc<Group> {
    group(
        "odd \u{1b}[31m文件\u{202e}",
        &[
            ("empty", Outcome::Failure, vec![]),
            ("un\u{7}scored", Outcome::Unscored, vec![("a".into(), "x\u{1b}]0;t\u{7}y".into())]),
            (
                "cut",
                Outcome::Truncated,
                vec![
                    ("a".into(), "文件名字很长很长很长很长很长很长很长很长".into()),
                    ("a".into(), "b".into()),
                ],
            ),
            ("fine", Outcome::Success, vec![("a".into(), "b".into())]),
        ],
    )
}

pub fn corpus() -> Corpus {
    Corpus { groups: vec![eight(), odd()] }
}

/// Text for every step: long enough to be cut in a small pane.
pub struct Made;

impl TextSource for Made {
    fn step_text(&self, _: &Group, rollout: usize, step: usize) -> Result<RawStep, String> {
        made(rollout, step, || {
            (0..70_000).map(|i| ["line ", &i.to_string(), "\n"].concat()).collect()
        })
    }
}

/// The same with an observation that is made where it is wanted.
fn made(rollout: usize, step: usize, seen: impl Fn() -> String) -> Result<RawStep, String> {
    if rollout == 3 {
        return Err("trace.jsonl changed since it was loaded".to_owned());
    }
    let args = serde_json::json!({
        "command": "str_replace", "path": "/w/separable.py",
        "old_str": "old line\n".repeat(12), "new_str": "new line\n".repeat(30),
    });
    Ok(RawStep {
        thought: format!("I think about step {step}. ").repeat(40),
        tool: Some("file_editor".to_owned()),
        args: RawArgs::Object(args.as_object().unwrap().clone()),
        observation: Some(seen()),
        ..RawStep::default()
    })
}

pub const PLAIN: Look = Look { theme: ThemeId::Default, depth: Depth::Ansi16, ascii: false };

/// A screen in memory that shows each drawing to the test.
pub struct Memory {
    terminal: Terminal<TestBackend>,
    shown: Arc<Mutex<String>>,
    pub copied: Arc<Mutex<Vec<String>>>,
    drawn: Sender<()>,
}

impl terminal::Screen for Memory {
    type Backend = TestBackend;

    fn terminal(&mut self) -> &mut Terminal<TestBackend> {
        &mut self.terminal
    }

    fn after_draw(&mut self) -> std::io::Result<()> {
        *self.shown.lock().unwrap() = text_of(self.terminal.backend());
        let _ = self.drawn.send(());
        Ok(())
    }

    fn copy(&mut self, text: &str, _: &str) -> std::io::Result<String> {
        self.copied.lock().unwrap().push(text.to_owned());
        Ok("copied".to_owned())
    }

    fn show(&mut self, text: &str) -> std::io::Result<String> {
        self.copied.lock().unwrap().push(text.to_owned());
        Ok("shown outside".to_owned())
    }

    fn suspend(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn text_of(backend: &TestBackend) -> String {
    let buffer = backend.buffer();
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut skip = 0;
        for x in 0..buffer.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = credscope::export::text::width(symbol).saturating_sub(1);
            out.push_str(symbol);
        }
        out.push('\n');
    }
    out
}

/// A running screen: keys in, pictures out.
pub struct Driver {
    pub keys: Sender<Msg>,
    shown: Arc<Mutex<String>>,
    pub copied: Arc<Mutex<Vec<String>>>,
    drawn: Receiver<()>,
    thread: Option<std::thread::JoinHandle<u8>>,
}

impl Driver {
    pub fn start(corpus: Corpus, size: (u16, u16)) -> Self {
        Self::with(corpus, size, Arc::new(Library), PLAIN)
    }

    pub fn with(corpus: Corpus, size: (u16, u16), analyst: Arc<dyn Analyst>, look: Look) -> Self {
        Self::reading(corpus, size, analyst, look, Arc::new(Made))
    }

    pub fn reading(
        corpus: Corpus,
        size: (u16, u16),
        analyst: Arc<dyn Analyst>,
        look: Look,
        texts: Arc<dyn TextSource>,
    ) -> Self {
        Self::over(corpus, size, analyst, look, Origin::new(texts))
    }

    pub fn over(
        corpus: Corpus,
        size: (u16, u16),
        analyst: Arc<dyn Analyst>,
        look: Look,
        origin: Origin,
    ) -> Self {
        let (keys, inbox) = unbounded();
        let (drawn_out, drawn) = unbounded();
        let shown = Arc::new(Mutex::new(String::new()));
        let copied = Arc::new(Mutex::new(Vec::new()));
        let (outbox, see, clip) = (keys.clone(), Arc::clone(&shown), Arc::clone(&copied));
        let thread = std::thread::spawn(move || {
            let mut screen = Memory {
                terminal: Terminal::new(TestBackend::new(size.0, size.1)).unwrap(),
                shown: see,
                copied: clip,
                drawn: drawn_out,
            };
            let workers = Workers::start(&analyst, &origin, &outbox).unwrap();
            let given = origin.provenance.settings.as_ref();
            let settings = given.map_or_else(AnalysisSettings::default, |s| s.analysis.clone());
            let mut model = Model::new(corpus, Vec::new(), settings, look, None);
            run::drive(&mut screen, &mut model, &workers, &inbox).unwrap()
        });
        Self { keys, shown, copied, drawn, thread: Some(thread) }
    }

    pub fn press(&self, name: &str) {
        self.keys.send(Msg::Key(key(name))).unwrap();
    }

    pub fn picture(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// Waits for a picture; fails after ten seconds with the last one.
    pub fn wait(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let picture = self.picture();
            if fits(&picture) {
                return picture;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no picture with {what}:\n{picture}");
            let _ = self.drawn.recv_timeout(left);
        }
    }

    pub fn quit(mut self, name: &str) -> u8 {
        self.press(name);
        self.thread.take().unwrap().join().unwrap()
    }
}

/// A key by the name that the keymap uses.
pub fn key(name: &str) -> KeyEvent {
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Shift-Tab" => KeyCode::BackTab,
        "Space" => KeyCode::Char(' '),
        "Down" => KeyCode::Down,
        "Up" => KeyCode::Up,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgDn" => KeyCode::PageDown,
        "PgUp" => KeyCode::PageUp,
        "Backspace" => KeyCode::Backspace,
        other => {
            if let Some(c) = other.strip_prefix("Ctrl-") {
                return KeyEvent::new(
                    KeyCode::Char(c.chars().next().unwrap()),
                    KeyModifiers::CONTROL,
                );
            }
            KeyCode::Char(other.chars().next().unwrap())
        }
    };
    KeyEvent::new(code, KeyModifiers::NONE)
}

/// Carries out effects at once.
pub fn settle(model: &mut Model, mut effects: Vec<Effect>) {
    while let Some(effect) = effects.pop() {
        let msg = match effect {
            Effect::Analyse { key, index, group, mut settings, load } => {
                if let Some(groups) = load {
                    settings.batch = credscope::analysis::batch(&Corpus { groups }, &settings);
                }
                Msg::Analysed(key, index, Arc::new(Snapshot::new(&group, &settings)))
            }
            Effect::Summarise { key, groups, settings, uniform_counts, .. } => {
                let rows: Vec<Summary> =
                    groups.iter().map(|g| Summary::new(g, &settings)).collect();
                let sums = totals(rows.iter(), uniform_counts, settings.seed);
                for (i, row) in rows.into_iter().enumerate() {
                    effects.extend(update(model, Msg::Summarised(key, i, Arc::new(row))));
                }
                Msg::Totalled(key, Arc::new(sums))
            }
            Effect::Sweep(job) => {
                let mut parts = Vec::new();
                sweeping::run(&job, |part| {
                    parts.push(part);
                    true
                });
                for part in parts {
                    effects.extend(update(model, Msg::Swept(job.key, part)));
                }
                continue;
            }
            Effect::Read { of, controls, .. } => {
                let raw = made(of.1, of.2, || "short".to_owned());
                Msg::Read(of, raw.map(|r| Arc::new(Document::with(&r, controls))))
            }
            Effect::Find { key, snapshot, pattern } => {
                let mut parts = Vec::new();
                let texts = credscope::tui::text::NoText;
                finding::run(&snapshot, &pattern, &texts, &|| true, |part| {
                    parts.push(part);
                    true
                });
                for part in parts {
                    effects.extend(update(model, Msg::Found(key, part)));
                }
                continue;
            }
            Effect::Contrast { key, now, pin, earlier } => Msg::Contrasted(
                key,
                Arc::new(Contrast::new(&now.analysis, &pin, earlier.as_deref())),
            ),
            _ => continue,
        };
        effects.extend(update(model, msg));
    }
}

pub fn started(size: (u16, u16)) -> Model {
    opened(corpus(), size)
}

/// A model over a corpus, analysed.
pub fn opened(corpus: Corpus, size: (u16, u16)) -> Model {
    opened_with(corpus, AnalysisSettings::default(), size)
}

/// The same under other settings.
pub fn opened_with(corpus: Corpus, settings: AnalysisSettings, size: (u16, u16)) -> Model {
    let mut model = Model::new(corpus, Vec::new(), settings, PLAIN, None);
    let effects = begin(&mut model);
    settle(&mut model, effects);
    let effects = update(&mut model, Msg::Resize(size.0, size.1));
    settle(&mut model, effects);
    model
}

pub fn press(model: &mut Model, name: &str) -> Vec<Effect> {
    let effects = update(model, Msg::Key(key(name)));
    settle(model, effects.clone());
    effects
}

/// Computes only when the test lets it.
#[derive(Default)]
pub struct HeldBack {
    allowed: Mutex<usize>,
    bell: Condvar,
    pub done: AtomicUsize,
}

impl HeldBack {
    pub fn allow(&self, more: usize) {
        *self.allowed.lock().unwrap() += more;
        self.bell.notify_all();
    }
}

impl Analyst for HeldBack {
    fn analyse(&self, group: &Arc<Group>, settings: &AnalysisSettings) -> Snapshot {
        let mut allowed = self.allowed.lock().unwrap();
        while *allowed == 0 {
            allowed = self.bell.wait(allowed).unwrap();
        }
        *allowed -= 1;
        self.done.fetch_add(1, Ordering::SeqCst);
        Snapshot::new(group, settings)
    }
}

/// The model as it would be drawn.
pub fn picture(model: &Model) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(model.area.width, model.area.height)).unwrap();
    terminal.draw(|frame| credscope::tui::panes::view(model, frame)).unwrap();
    text_of(terminal.backend())
}

/// A real file of the corpus, or a loud word that it is missing.
pub fn real(name: &str) -> Option<(Corpus, Arc<credscope::load::Sources>)> {
    Some(loaded(&real_path(name)?))
}

/// Where it is.
pub fn real_path(name: &str) -> Option<std::path::PathBuf> {
    let root = std::env::var_os("CREDSCOPE_CORPUS")
        .map_or_else(|| std::path::PathBuf::from("../shared/data"), std::path::PathBuf::from);
    let path = root.join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set CREDSCOPE_CORPUS", path.display());
        return None;
    }
    Some(path)
}

/// A file, loaded.
pub fn loaded(path: &std::path::Path) -> (Corpus, Arc<credscope::load::Sources>) {
    let profiles = Arc::new(credscope::profile::Profiles::builtin());
    let options = credscope::load::LoadOptions::default();
    let loaded = credscope::load::load(&[path.to_owned()], &options, &profiles).unwrap();
    (loaded.corpus, Arc::new(loaded.sources))
}

/// What a load shows on its way, a few rollouts at a time.
pub fn parts(path: &std::path::Path) -> Vec<Corpus> {
    use credscope::load::{Halt, LoadOptions, OnSoFar, Pace, Watch, load};
    let profiles = Arc::new(credscope::profile::Profiles::builtin());
    let parts = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&parts);
    let so_far: OnSoFar = Arc::new(move |loaded| into.lock().unwrap().push(loaded.corpus));
    let halt = Arc::new(Halt::keeping());
    let watch = Some(Watch { halt, so_far: Some(so_far), pace: Pace::Every(2) });
    // One thread: the records come in the order of the file.
    let threads = std::num::NonZeroUsize::new(1);
    let options = LoadOptions { watch, threads, ..LoadOptions::default() };
    load(&[path.to_owned()], &options, &profiles).unwrap();
    let parts = std::mem::take(&mut *parts.lock().unwrap());
    assert!(parts.len() > 1, "{} is shown in parts", path.display());
    parts
}

pub const R2E: &str = "derived/r2e_gym.astropy-12907.k8.jsonl";

/// The line that contains all of these.
pub fn line<'a>(picture: &'a str, parts: &[&str]) -> &'a str {
    picture
        .lines()
        .find(|l| parts.iter().all(|p| l.contains(p)))
        .unwrap_or_else(|| panic!("no line with {parts:?}:\n{picture}"))
}
