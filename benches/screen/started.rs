//! From the start of a process to its first frame, in a pseudo-terminal.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

const SIZE: PtySize = PtySize { cols: 120, rows: 40, pixel_width: 0, pixel_height: 0 };
const TIMES: usize = 10;
/// Start to first frame, in milliseconds.
const FIRST: f64 = 100.0;
/// What is taken for a program that shows nothing.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Milliseconds until the terminal shows what is asked for; none where the program ends before.
fn until(command: CommandBuilder, shows: impl Fn(&str) -> bool) -> Option<f64> {
    let pair = native_pty_system().openpty(SIZE).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let start = Instant::now();
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut parser = vt100::Parser::new(SIZE.rows, SIZE.cols, 0);
    let mut chunk = [0; 8_192];
    let mut found = None;
    while start.elapsed() < PATIENCE {
        let n = reader.read(&mut chunk).unwrap_or(0);
        if n == 0 {
            break;
        }
        parser.process(&chunk[..n]);
        if shows(&parser.screen().contents()) {
            found = Some(start.elapsed().as_secs_f64() * 1e3);
            break;
        }
    }
    if found.is_none() {
        println!("it shows:\n{}", parser.screen().contents());
    }
    let _ = child.kill();
    let _ = child.wait();
    found
}

fn command(program: &Path, args: &[&Path]) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.args(args);
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    command.env("LANG", "C.UTF-8");
    command
}

pub fn measure() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sample = root.join("sample-data/slugify-fix/rollouts.jsonl");
    println!("first frame, from the start of the process, 120 x 40 cells");
    let ours = || {
        // All panes with their numbers: the line of warnings stands last.
        until(command(Path::new(env!("CARGO_BIN_EXE_credscope")), &[&sample]), |screen| {
            screen.contains("1 Tree") && screen.contains("6 Rollouts") && screen.contains("V_prior")
        })
    };
    let times: Vec<f64> = (0..TIMES).filter_map(|_| ours()).collect();
    assert_eq!(times.len(), TIMES, "every start shows the screen");
    super::tell("credscope, main panes with their numbers", times, Some(FIRST));
    viewer(root, &sample);
}

/// The rollout viewer of verl, on the same file.
fn viewer(root: &Path, sample: &Path) {
    let folder =
        std::env::var_os("VERL_VIEWER").map_or_else(|| root.join("target/viewer"), PathBuf::from);
    let (python, script) = (folder.join("venv/bin/python"), folder.join("rollout_viewer.py"));
    if !python.exists() || !script.exists() {
        println!(
            "SKIPPED: verl's rollout viewer is not in {}; `just viewer` puts it there",
            folder.display()
        );
        return;
    }
    // It takes a folder of files that are called by numbers.
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(sample, dir.path().join("1.jsonl")).unwrap();
    let theirs = || {
        until(command(&python, &[&script, dir.path()]), |screen| {
            screen.contains("field filter") && screen.contains("trajectory_steps")
        })
    };
    let times: Vec<f64> = (0..TIMES).filter_map(|_| theirs()).collect();
    if times.is_empty() {
        println!("SKIPPED: verl's rollout viewer showed nothing");
        return;
    }
    super::tell("verl's rollout viewer, the first sample", times, None);
}
