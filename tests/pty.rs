//! The program in a real pseudo-terminal: start, keys, signals, and a terminal that is left as it was.
#![cfg(all(feature = "tui", unix))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, clippy::indexing_slicing)]

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const DEADLINE: Duration = Duration::from_secs(10);

/// The R2E file, or a loud word that it is missing.
fn r2e() -> Option<PathBuf> {
    let root = std::env::var_os("CREDSCOPE_CORPUS")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let path = root.join("derived/r2e_gym.astropy-12907.k8.jsonl");
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is missing; set CREDSCOPE_CORPUS", path.display());
    None
}

struct Output {
    parser: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
}

type Shared = Arc<(Mutex<Output>, Condvar)>;

/// A running program and what its terminal shows.
struct Session {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    output: Shared,
}

impl Session {
    fn start(size: (u16, u16), env: &[(&str, &str)]) -> Option<Self> {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_credscope"));
        command.arg(r2e()?);
        Some(Self::spawn(command, size, env))
    }

    fn spawn(mut command: CommandBuilder, size: (u16, u16), env: &[(&str, &str)]) -> Self {
        let size = PtySize { cols: size.0, rows: size.1, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.cwd(std::env::current_dir().unwrap());
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(size.rows, size.cols, 0);
        let output: Shared = Arc::new((
            Mutex::new(Output { parser, raw: Vec::new(), ended: false }),
            Condvar::new(),
        ));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let into = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            loop {
                let n = reader.read(&mut chunk).unwrap_or(0);
                let mut out = into.0.lock().unwrap();
                if n == 0 {
                    out.ended = true;
                    into.1.notify_all();
                    return;
                }
                out.parser.process(&chunk[..n]);
                out.raw.extend_from_slice(&chunk[..n]);
                into.1.notify_all();
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { child, master: pair.master, keys, output }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen fits; fails at the deadline with what it shows.
    fn wait(&self, what: &str, fits: impl Fn(&vt100::Screen) -> bool) -> String {
        let deadline = Instant::now() + DEADLINE;
        let mut out = self.output.0.lock().unwrap();
        loop {
            if fits(out.parser.screen()) {
                return out.parser.screen().contents();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !out.ended,
                "no screen with {what}:\n{}",
                out.parser.screen().contents()
            );
            out = self.output.1.wait_timeout(out, left).unwrap().0;
        }
    }

    fn wait_text(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contents().contains(text))
    }

    /// Waits for the first whole picture: the line that takes the value apart is drawn last.
    fn ready(&self) -> String {
        self.wait("the main screen", |s| {
            let text = s.contents();
            text.contains(READY) && text.contains("shap") && !text.contains("loading")
        })
    }

    /// Waits for the end; the exit code. The terminal must be as it was.
    fn end(mut self) -> u32 {
        let deadline = Instant::now() + DEADLINE;
        let mut out = self.output.0.lock().unwrap();
        while !out.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "it does not end:\n{}", out.parser.screen().contents());
            out = self.output.1.wait_timeout(out, left).unwrap().0;
        }
        let screen = out.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is left");
        assert!(!screen.hide_cursor(), "the cursor is shown");
        assert!(!screen.bracketed_paste(), "bracketed paste is off");
        assert_eq!(screen.contents().trim(), "", "nothing is left behind");
        drop(out);
        self.child.wait().unwrap().exit_code()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// The state letter of the process.
    fn state(&self) -> char {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id().unwrap()));
        let stat = stat.unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    }
}

const READY: &str = "▾search:grep@.";

#[test]
fn it_opens_explains_and_leaves_a_clean_terminal() {
    let Some(mut session) = Session::start((80, 24), &[]) else { return };
    // No key was pressed: first row of the tree, three bars, both lines of the quadrants. What the load
    // showed while it ran may still be there for a moment.
    let whole = [
        "━━━│    ━━━│       │█▌  +0.307 −+≠ comparison",
        " ✓ 28  28 100%",
        " ✗ 13        ·  2  15%",
    ];
    session.wait("all of the first picture", |screen| {
        let text = screen.contents();
        text.contains(READY) && whole.iter().all(|part| text.contains(part))
    });
    session.press("j");
    let whole = |l: &str| l.starts_with("▸ 1") && l.contains("prior");
    let screen = session.wait("the second step", |s| s.contents().lines().any(whole));
    let row = screen.lines().find(|l| whole(l)).unwrap().to_owned();
    let value = row.split_whitespace().find(|w| w.starts_with('+') && w.len() == 6).unwrap();
    session.press("\r");
    session.wait("a zoomed pane", |s| !s.contents().contains("1 Tree"));
    session.press("=");
    let screen = session.wait_text("rounded; eval has all digits");
    let line = screen.lines().find(|l| l.contains("A = Q(s,a)")).unwrap().to_owned();
    assert!(line.contains(&format!("= {value} ")), "{value} is explained by: {line}");
    session.press("q");
    assert_eq!(session.end(), 0);
}

#[test]
fn signals_restore_the_terminal_and_name_themselves() {
    for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let Some(session) = Session::start((80, 24), &[]) else { return };
        session.ready();
        session.signal(name);
        assert_eq!(session.end(), code, "SIG{name}");
    }
}

#[test]
fn control_c_leaves_from_anywhere() {
    let Some(mut session) = Session::start((80, 24), &[]) else { return };
    session.ready();
    session.press("?scal");
    session.wait_text("search: scal");
    session.press("\u{3}");
    assert_eq!(session.end(), 130);
}

#[test]
fn without_colour_the_selected_row_is_reversed() {
    let Some(mut session) = Session::start((80, 24), &[("NO_COLOR", "1")]) else { return };
    session.ready();
    session.press("j");
    session.wait("a reversed row", |screen| {
        (0..24).any(|y| {
            screen.cell(y, 0).is_some_and(|c| c.contents() == "▸")
                && (0..40).all(|x| screen.cell(y, x).is_some_and(vt100::Cell::inverse))
        })
    });
    let colours = {
        let out = session.output.0.lock().unwrap();
        let screen = out.parser.screen();
        (0..24).any(|y| {
            (0..80).any(|x| {
                screen.cell(y, x).is_some_and(|c| {
                    c.fgcolor() != vt100::Color::Default || c.bgcolor() != vt100::Color::Default
                })
            })
        })
    };
    assert!(!colours, "no colour is set");
    session.press("q");
    assert_eq!(session.end(), 0);
}

#[test]
fn it_asks_the_terminal_nothing_and_draws_inside_synchronized_updates() {
    let Some(mut session) = Session::start((80, 24), &[]) else { return };
    session.ready();
    session.press("q");
    let output = Arc::clone(&session.output);
    assert_eq!(session.end(), 0);
    let raw = String::from_utf8_lossy(&output.0.lock().unwrap().raw).into_owned();
    for query in ["\u{1b}[6n", "\u{1b}[c", "\u{1b}[?u", "\u{1b}]11;?", "\u{1b}[>q"] {
        assert!(!raw.contains(query), "{query:?}");
    }
    assert!(raw.contains("\u{1b}[?2026h") && raw.contains("\u{1b}[?2026l"));
    assert!(!raw.contains("\u{1b}[?1000h"), "the mouse is left to the terminal");
}

#[test]
fn a_new_size_is_drawn_at_once_and_a_locale_without_utf8_gets_ascii() {
    let Some(mut session) = Session::start((80, 24), &[("LANG", "C")]) else { return };
    let screen = session.wait_text("vsearch:grep@.");
    assert!(screen.is_ascii(), "{screen}");
    session.output.0.lock().unwrap().parser.screen_mut().set_size(40, 120);
    let size = PtySize { cols: 120, rows: 40, pixel_width: 0, pixel_height: 0 };
    session.master.resize(size).unwrap();
    session.wait_text("6 Rollouts");
    session.press("q");
    assert_eq!(session.end(), 0);
}

#[test]
fn names_that_the_locale_cannot_show_are_escaped_and_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.jsonl");
    let line = |id: &str, reward: u8| {
        let step = r#"{"state":"s","action":"a"}"#;
        format!("{{\"task\":\"t\",\"id\":\"{id}\",\"reward\":{reward},\"steps\":[{step}]}}\n")
    };
    std::fs::write(&path, line("無題-1", 1) + &line("解析-1", 0)).unwrap();
    let start = |options: &[&str], locale: &str| {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_credscope"));
        command.args(options);
        command.arg(&path);
        Session::spawn(command, (200, 60), &[("LANG", locale)])
    };
    // Asked for in a terminal that shows them: names stay, borders do not.
    let mut session = start(&["--ascii"], "C.UTF-8");
    session.wait_text("無題-1");
    let screen = session.wait_text("解析-1");
    assert!(!screen.contains('━') && !screen.contains('✓'), "{screen}");
    session.press("q");
    assert_eq!(session.end(), 0);
    let mut session = start(&[], "C");
    session.wait_text("{984c}-1");
    let screen = session.wait_text("{6790}-1");
    assert!(screen.is_ascii(), "{screen}");
    session.press("q");
    assert_eq!(session.end(), 0);
}

#[test]
fn suspending_gives_the_terminal_back_and_continuing_draws_again() {
    let Some(mut session) = Session::start((80, 24), &[]) else { return };
    session.ready();
    session.press("\u{1a}");
    session.wait("the shell's screen", |s| !s.alternate_screen() && !s.hide_cursor());
    let deadline = Instant::now() + DEADLINE;
    while session.state() != 'T' {
        assert!(Instant::now() < deadline, "it stops");
        std::thread::yield_now();
    }
    session.signal("CONT");
    session.wait("the screen again", |s| s.alternate_screen() && s.contents().contains(READY));
    session.press("q");
    assert_eq!(session.end(), 0);
}

#[test]
fn pasted_text_fires_no_key() {
    let Some(mut session) = Session::start((80, 24), &[]) else { return };
    session.ready();
    session.press("\u{1b}[200~qqq\u{1b}[201~j");
    session.wait_text("▸ 1  view:full@separable.py");
    session.press("q");
    assert_eq!(session.end(), 0);
}

#[test]
fn keys_come_from_the_terminal_while_a_pipe_is_the_input() {
    let Some(path) = r2e() else { return };
    let mut command = CommandBuilder::new("sh");
    let line = "printf qqq | \"$0\" \"$1\"";
    command.args(["-c", line, env!("CARGO_BIN_EXE_credscope")]);
    command.arg(path);
    let mut session = Session::spawn(command, (80, 24), &[]);
    session.ready();
    session.press("j");
    session.wait_text("▸ 1  view:full@separable.py");
    session.press("q");
    assert_eq!(session.end(), 0);
}

/// Not a test of its own: the next one runs it in a terminal.
#[test]
fn a_screen_that_panics() {
    if std::env::var_os("CREDSCOPE_TEST_PANIC").is_none() {
        return;
    }
    credscope::tui::terminal::guard_panics();
    let _screen = credscope::tui::terminal::Tty::enter(false).unwrap();
    let _ = std::thread::spawn(|| panic!("a worker's panic is told on the screen")).join();
    panic!("the screen's own panic");
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_screen_that_panics", "--nocapture", "--test-threads", "1"]);
    let session = Session::spawn(command, (80, 24), &[("CREDSCOPE_TEST_PANIC", "1")]);
    let screen = session.wait("the panic", |s| {
        !s.alternate_screen() && s.contents().contains("the screen's own panic")
    });
    assert!(!screen.contains("a worker's panic"), "{screen}");
    let out = session.output.0.lock().unwrap();
    assert!(!out.parser.screen().hide_cursor() && !out.parser.screen().bracketed_paste());
    assert!(String::from_utf8_lossy(&out.raw).contains("\u{1b}[?1049h"), "it had taken over");
}

#[test]
fn a_pager_has_the_terminal_and_its_keys_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let pager = folder.path().join("pager");
    std::fs::write(&pager, "#!/bin/sh\nhead -n 1 \"$1\"\nread line\necho \"read $line\"\n")
        .unwrap();
    let make = Command::new("chmod").arg("755").arg(&pager).status().unwrap();
    assert!(make.success());
    let env = [("PAGER", pager.to_str().unwrap()), ("TMPDIR", folder.path().to_str().unwrap())];
    let Some(mut session) = Session::start((80, 24), &env) else { return };
    session.ready();
    session.press("o");
    // The main screen is left: the first line of the text stands where the shell was.
    session.wait("the pager", |s| !s.alternate_screen() && s.contents().contains("thought"));
    // Keys that would quit the screen are the pager's.
    session.press("qqq\n");
    session.wait("the way back", |s| s.alternate_screen() && s.contents().contains("back from"));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "the temporary file is gone");
    session.press("j");
    session.wait("a moved cursor", |s| s.contents().lines().any(|l| l.starts_with("▸ 1")));
    session.press("q");
    let mut out = session.output.0.lock().unwrap();
    while !out.ended {
        out = session.output.1.wait_timeout(out, DEADLINE).unwrap().0;
    }
    assert!(!out.parser.screen().alternate_screen());
}

/// A pipe that is written by the test: a load as slow as it likes.
struct Slow {
    folder: tempfile::TempDir,
    lines: Vec<String>,
}

impl Slow {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("slow.jsonl");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let sample = sample.join("sample-data/slugify-fix/rollouts.jsonl");
        let text = std::fs::read_to_string(sample).unwrap();
        Self { folder, lines: text.lines().map(|l| format!("{l}\n")).collect() }
    }

    fn pipe(&self) -> PathBuf {
        self.folder.path().join("slow.jsonl")
    }

    /// Opens the screen on the pipe, and the pipe for writing.
    fn open(&self, size: (u16, u16), options: &[&str]) -> (Session, std::fs::File) {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_credscope"));
        command.args(options);
        command.arg(self.pipe());
        let session = Session::spawn(command, size, &[("TMPDIR", self.temp().to_str().unwrap())]);
        (session, std::fs::OpenOptions::new().write(true).open(self.pipe()).unwrap())
    }

    fn temp(&self) -> PathBuf {
        let temp = self.folder.path().join("temp");
        std::fs::create_dir_all(&temp).unwrap();
        temp
    }

    /// Writes some of the lines.
    fn write(&self, out: &mut std::fs::File, which: std::ops::Range<usize>) {
        for line in &self.lines[which] {
            out.write_all(line.as_bytes()).unwrap();
        }
    }

    /// No temporary file is left behind.
    fn clean(&self) {
        assert_eq!(std::fs::read_dir(self.temp()).unwrap().count(), 0);
    }
}

/// Which rollouts there are, by the title: `4 of 4 scored`.
fn scored(n: usize) -> String {
    format!("{n} of {n} scored")
}

#[test]
fn what_a_slow_load_has_read_is_browsed_while_the_rest_comes() {
    for size in [(80, 24), (200, 60)] {
        let slow = Slow::new();
        let (mut session, mut out) = slow.open(size, &[]);
        let screen = session.wait_text("X stop loading");
        assert!(screen.contains("loading: this fills"), "{screen}");
        slow.write(&mut out, 0..4);
        let screen = session.wait_text(&scored(4));
        assert!(screen.lines().next().unwrap().contains("loading"), "{screen}");
        // The group is browsed: another rollout, its text, the way back.
        session.press("]]i");
        session.wait("a text", |s| {
            s.contents().contains("━ i Step") && s.contents().contains("thought")
        });
        session.press("\u{1b}");
        // The steps have the focus again: an escape and a key at once would be another key.
        session.wait_text("━ 2 Steps");
        session.press("?");
        session.wait_text("to search");
        slow.write(&mut out, 4..8);
        session.wait("more of it behind the help", |s| s.contents().contains(&scored(8)));
        drop(out);
        session.wait("the end behind the help", |s| {
            let text = s.contents();
            text.contains("to search") && !text.contains("loading  ")
        });
        session.press("\u{1b}");
        let screen = session.wait("the end", |s| {
            let text = s.contents();
            text.contains(&scored(8)) && text.contains("2 Steps") && !text.contains("loading")
        });
        assert!(!screen.contains("so far"), "{screen}");
        session.press("q");
        assert_eq!(session.end(), 0);
        slow.clean();
    }
}

#[test]
fn a_slow_load_ends_with_what_it_brought() {
    let slow = Slow::new();
    let (mut session, mut out) = slow.open((80, 24), &[]);
    slow.write(&mut out, 0..8);
    drop(out);
    session.wait("the end", |s| {
        s.contents().contains(&scored(8)) && !s.contents().contains("loading")
    });
    session.press("X");
    session.wait_text("nothing is being loaded");
    session.press("q");
    assert_eq!(session.end(), 0);
    slow.clean();
}

#[test]
fn a_slow_load_is_stopped_and_keeps_what_came() {
    let slow = Slow::new();
    let (mut session, mut out) = slow.open((80, 24), &[]);
    slow.write(&mut out, 0..5);
    session.wait_text(&scored(5));
    session.press("X");
    session.wait_text("stopped mid-stream: 1 group, 5 rollouts");
    let screen = session.wait_text("partial data");
    assert!(!screen.contains("loading"), "{screen}");
    session.press("q");
    assert_eq!(session.end(), 0);
    drop(out);
    slow.clean();
}

#[test]
fn a_slow_load_is_left_at_once_by_key_and_by_signal() {
    for (name, code) in [("q", 0), ("TERM", 143), ("INT", 130)] {
        let slow = Slow::new();
        let (mut session, mut out) = slow.open((80, 24), &[]);
        session.wait_text("X stop loading");
        slow.write(&mut out, 0..2);
        session.wait_text(&scored(2));
        if name == "q" {
            session.press("q");
        } else {
            session.signal(name);
        }
        assert_eq!(session.end(), code, "{name}");
        drop(out);
        slow.clean();
    }
}

#[test]
fn a_load_that_fails_behind_the_screen_gives_the_terminal_back_and_says_why() {
    let told = [
        (&["--at", "nobody:0"][..], "error: no rollout is called `nobody`"),
        (&["--rollout", "nobody"], "error: no rollout is called `nobody`"),
        (&["--strict"], "error: "),
    ];
    for (options, why) in told {
        let slow = Slow::new();
        let (session, mut out) = slow.open((100, 24), options);
        session.wait_text("X stop loading");
        slow.write(&mut out, 0..8);
        if options == ["--strict"] {
            out.write_all(b"{no json\n").unwrap();
        }
        session.wait_text(&scored(8));
        drop(out);
        let screen = session
            .wait("the error", |s| !s.alternate_screen() && s.contents().contains("error: "));
        assert!(screen.contains(why), "{screen}");
        let mut child = session.child;
        assert_eq!(child.wait().unwrap().exit_code(), 1, "{options:?}");
        slow.clean();
    }
}
