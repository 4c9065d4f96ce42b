//! Keys through the run loop, with a drawing surface in memory.

use std::sync::Arc;
use std::time::Instant;

use credscope::analysis::AnalysisSettings;
use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;
use credscope::rollout::Corpus;
use credscope::tui::model::{Look, Model};
use credscope::tui::text::NoText;
use credscope::tui::update::Msg;
use credscope::tui::worker::{Analyst, Library, Origin, Workers};
use credscope::tui::{Depth, ThemeId, panes, run, terminal};
use crossbeam_channel::{Receiver, Sender, unbounded};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

/// Key to frame, in milliseconds.
const KEY: f64 = 33.0;
/// A frame at 200x60.
const FRAME: f64 = 3.0;
const SIZE: (u16, u16) = (200, 60);

/// A drawn frame: when, and whether a newer analysis is still on its way.
type Drawn = (Instant, bool);

struct Memory {
    terminal: Terminal<TestBackend>,
    drawn: Sender<Drawn>,
}

impl terminal::Screen for Memory {
    type Backend = TestBackend;

    fn terminal(&mut self) -> &mut Terminal<TestBackend> {
        &mut self.terminal
    }

    fn after_draw(&mut self) -> std::io::Result<()> {
        let now = Instant::now();
        let title: String = self.terminal.backend().buffer().content[..usize::from(SIZE.0)]
            .iter()
            .map(ratatui::buffer::Cell::symbol)
            .collect();
        let _ = self.drawn.send((now, title.contains("computing") || !title.contains("scored")));
        Ok(())
    }

    fn copy(&mut self, _: &str, _: &str) -> std::io::Result<String> {
        Ok(String::new())
    }

    fn show(&mut self, _: &str) -> std::io::Result<String> {
        Ok(String::new())
    }

    fn suspend(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const LOOK: Look = Look { theme: ThemeId::Default, depth: Depth::True, ascii: false };

/// A running screen.
struct Driver {
    keys: Sender<Msg>,
    drawn: Receiver<Drawn>,
}

impl Driver {
    fn start(corpus: Corpus) -> Self {
        let (keys, inbox) = unbounded();
        let (outbox, (told, drawn)) = (keys.clone(), unbounded());
        std::thread::spawn(move || {
            let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
            let mut screen = Memory { terminal, drawn: told };
            let analyst: Arc<dyn Analyst> = Arc::new(Library);
            let workers =
                Workers::start(&analyst, &Origin::new(Arc::new(NoText)), &outbox).unwrap();
            let settings = AnalysisSettings::default();
            let mut model = Model::new(corpus, Vec::new(), settings, LOOK, None);
            run::drive(&mut screen, &mut model, &workers, &inbox).unwrap()
        });
        let driver = Self { keys, drawn };
        driver.settled();
        driver
    }

    /// Waits until nothing is computed any more.
    fn settled(&self) -> Instant {
        loop {
            let (at, busy) = self.drawn.recv().unwrap();
            if !busy {
                return at;
            }
        }
    }

    fn send(&self, code: KeyCode) -> Instant {
        // Frames of comparisons and texts that came meanwhile are none of this key's.
        while self.drawn.recv_timeout(std::time::Duration::from_millis(20)).is_ok() {}
        let at = Instant::now();
        self.keys.send(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE))).unwrap();
        at
    }

    /// From a key to the first frame after it.
    fn frame(&self, code: KeyCode) -> f64 {
        let sent = self.send(code);
        let (at, _) = self.drawn.recv().unwrap();
        at.duration_since(sent).as_secs_f64() * 1e3
    }

    /// From a key to the frame that shows what it made the worker compute.
    fn answer(&self, code: KeyCode) -> f64 {
        let sent = self.send(code);
        self.settled().duration_since(sent).as_secs_f64() * 1e3
    }
}

fn letters(keys: &str) -> impl Iterator<Item = KeyCode> + '_ {
    keys.chars().map(KeyCode::Char)
}

pub fn measure() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, super::generate::coding(64, 200)).unwrap();
    let profiles = Arc::new(Profiles::builtin());
    let corpus = load(&[path], &LoadOptions::default(), &profiles).unwrap().corpus;
    println!("64 rollouts of 200 steps, {} x {} cells", SIZE.0, SIZE.1);
    frames(&corpus);
    let driver = Driver::start(corpus);
    for (pane, name) in [
        ('1', "tree"),
        ('2', "steps"),
        ('6', "rollouts"),
        ('3', "explain"),
        ('7', "matrix"),
        ('v', "signature"),
        ('|', "compare"),
        ('i', "step"),
    ] {
        driver.frame(KeyCode::Char(pane));
        let mut times = Vec::new();
        for _ in 0..6 {
            times.extend(letters("jjj]jjknd[jjNGgD").map(|key| driver.frame(key)));
        }
        super::tell(&format!("key to frame, moving in {name}"), times, Some(KEY));
        driver.frame(KeyCode::Char('1'));
    }
    driver.frame(KeyCode::Char('1'));
    let mut times = Vec::new();
    for _ in 0..8 {
        times.extend(letters("xjjzjjxtjjkxjjzt").map(|key| driver.frame(key)));
    }
    super::tell("key to frame, folding and the other lens", times, Some(KEY));
    driver.frame(KeyCode::Char('v'));
    let (mut first, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        for key in letters("pPpp") {
            answers.push(driver.answer(key));
        }
        first.extend(letters("jjjj").map(|key| driver.frame(key)));
        for key in letters("hlhl") {
            answers.push(driver.answer(key));
        }
        first.extend(letters("kkkk").map(|key| driver.frame(key)));
    }
    super::tell("key to frame, from knob to knob", first, Some(KEY));
    super::tell("turn of a knob to its new numbers", answers, Some(KEY));
    let _ = driver.keys.send(Msg::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE)));
}

/// Drawing alone, as often as it is asked for, in the panes that stand there without a key and others.
fn frames(corpus: &Corpus) {
    use credscope::tui::snapshot::Snapshot;
    use credscope::tui::update::{Effect, begin, update};
    let settings = AnalysisSettings::default();
    let mut model =
        Model::new(Corpus { groups: corpus.groups.clone() }, Vec::new(), settings, LOOK, None);
    let mut effects = begin(&mut model);
    effects.extend(update(&mut model, Msg::Resize(SIZE.0, SIZE.1)));
    for effect in effects {
        if let Effect::Analyse { key, index, group, settings, .. } = effect {
            let made = Arc::new(Snapshot::new(&group, &settings));
            update(&mut model, Msg::Analysed(key, index, made));
        }
    }
    for (keys, name) in [
        ("", "main panes"),
        ("1x", "an opened tree"),
        ("t", "states"),
        ("7", "matrix"),
        ("|", "compare"),
    ] {
        for key in letters(keys) {
            update(&mut model, Msg::Key(KeyEvent::new(key, KeyModifiers::NONE)));
        }
        let mut buffer = Buffer::empty(model.area);
        let times = (0..300)
            .map(|_| {
                buffer.reset();
                let start = Instant::now();
                panes::draw(&model, model.area, &mut buffer);
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        super::tell(&format!("a frame, {name}"), times, Some(FRAME));
    }
}
