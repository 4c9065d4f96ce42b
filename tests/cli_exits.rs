//! Exit codes of every command: done, bad input, usage, a reader that has gone, a signal.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use cli_common::{Bench, WORKED, program};

/// Every command with what it needs besides its input; `None` in place of the input.
const COMMANDS: [(&str, &[Option<&str>]); 25] = [
    ("report", &[None]),
    ("groups", &[None]),
    ("steps", &[None]),
    ("quadrants", &[None]),
    ("tree", &[None]),
    ("explain", &[None, Some("--at"), Some("t1:0")]),
    ("sweep", &[None, Some("--knob"), Some("n-prior=0,2")]),
    ("skill", &[None]),
    ("panel", &[None]),
    ("stability", &[None]),
    ("compare", &[None, Some("--rollouts"), Some("t1,t2")]),
    ("compare-runs", &[None, Some("other.json")]),
    ("figure", &[Some("tree"), None]),
    ("advantages", &[None]),
    ("convert", &[None]),
    ("check", &[None]),
    ("simulate", &[]),
    ("formats", &[]),
    ("estimators", &[]),
    ("profiles", &[]),
    ("themes", &[]),
    ("keys", &[]),
    ("completions", &[Some("bash")]),
    ("man", &[]),
    ("schema", &[Some("steps")]),
];

fn line<'a>(command: &'a str, args: &[Option<&'a str>], input: &'a str) -> Vec<&'a str> {
    std::iter::once(command).chain(args.iter().map(|a| a.unwrap_or(input))).collect()
}

fn reads(args: &[Option<&str>]) -> bool {
    args.contains(&None)
}

/// The commands that are built in.
fn commands() -> impl Iterator<Item = (&'static str, &'static [Option<&'static str>])> {
    COMMANDS
        .into_iter()
        .filter(|(name, _)| cfg!(feature = "tui") || !matches!(*name, "themes" | "keys"))
}

fn bench() -> Bench {
    let bench = Bench::new(WORKED);
    bench.write("other.json", &WORKED.replace("t4", "t5"));
    bench.write("broken.json", "{\"schema\":\"credscope/1\",\"task\":");
    bench.write("noise.bin", "\u{1}\u{2}nothing that anybody writes\n");
    bench
}

#[test]
fn the_table_of_this_test_is_that_of_the_program() {
    let help = String::from_utf8(program().arg("--help").output().unwrap().stdout).unwrap();
    let listed: Vec<&str> = help
        .lines()
        .skip_while(|l| *l != "Commands:")
        .skip(1)
        .take_while(|l| !l.is_empty())
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(listed, COMMANDS.map(|(name, _)| name));
}

#[test]
fn done_is_0_bad_input_1_and_usage_2() {
    let bench = bench();
    for (command, args) in commands() {
        let good = bench.run(&line(command, args, "input.json"));
        assert_eq!(good.status.code(), Some(0), "{command}");
        assert!(!good.stdout.is_empty(), "{command}");
        let told = String::from_utf8(good.stderr).unwrap();
        assert!(!told.contains("error"), "{command}: {told}");
        let mut odd = line(command, args, "input.json");
        odd.push("--nonsense");
        let (code, told) = bench.fails(&odd);
        assert!(code == 2 && told.contains("--nonsense"), "{command}: {told}");
        assert_eq!(bench.run(&[command, "--help"]).status.code(), Some(0), "{command}");
        if !reads(args) {
            continue;
        }
        for missing in ["nowhere.json", "broken.json"] {
            let (code, told) = bench.fails(&line(command, args, missing));
            assert_eq!(code, 1, "{command} {missing}: {told}");
            assert!(told.contains(missing) && told.starts_with("error: "), "{command}: {told}");
        }
        // What is no format at all is a question of usage: `--from` may know better.
        let (code, told) = bench.fails(&line(command, args, "noise.bin"));
        assert!(code == 1 || code == 2, "{command}: {told}");
        assert!(told.contains("noise.bin") && !told.contains("panicked"), "{command}: {told}");
        let mut odd = line(command, args, "input.json");
        odd.extend(["--gamma", "7"]);
        let (code, told) = bench.fails(&odd);
        assert!(code == 2 && told.contains("from 0 to 1"), "{command}: {told}");
        let (code, _) = bench.fails(&[command]);
        assert_eq!(code, 2, "{command} without a path");
    }
    for wrong in [vec!["schema"], vec!["schema", "nope"], vec!["completions", "nope"]] {
        assert_eq!(bench.fails(&wrong).0, 2, "{wrong:?}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let bench = bench();
    for (command, args) in commands() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = bench
            .command(&line(command, args, "input.json"))
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.is_empty() || told.starts_with("note: "), "{command}: {told}");
    }
}

/// Starts a command that waits for its standard input, and feeds it more than a pipe holds: when that
/// is taken, the command is at work.
fn waiting(bench: &Bench, args: &[&str]) -> Child {
    let mut command: Command = bench.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let line = "{\"task\":\"t\",\"id\":\"r\",\"outcome\":\"success\",\"steps\":[{\"state\":\"s\",\"action\":\"a\"}]}\n";
    child.stdin.as_mut().unwrap().write_all(line.repeat(4_000).as_bytes()).unwrap();
    child
}

fn kill(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn a_signal_ends_with_its_number_and_leaves_no_file() {
    let bench = bench();
    for (command, args) in commands().filter(|(_, args)| reads(args)) {
        for (signal, number) in [("-TERM", 15), ("-INT", 2)] {
            let mut given = line(command, args, "-");
            given.extend(["--out", "out.svg"]);
            let mut child = waiting(&bench, &given);
            kill(&child, signal);
            drop(child.stdin.take());
            let output = child.wait_with_output().unwrap();
            let status = output.status;
            let code = status.code().or_else(|| status.signal().map(|s| 128 + s));
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(code, Some(128 + number), "{command} {signal}: {told}");
            assert!(!told.contains("panicked"), "{command}: {told}");
            let left: Vec<String> = std::fs::read_dir(bench.path(""))
                .unwrap()
                .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
                .filter(|n| n.contains("out") || n.starts_with(".credscope"))
                .collect();
            assert!(left.is_empty(), "{command} {signal}: {left:?}");
        }
    }
}

#[test]
fn a_simulation_ends_with_the_signal_and_leaves_no_file() {
    for more in [&["--rollouts", "8"][..], &["--rollouts", "64", "--measure"]] {
        let bench = bench();
        let mut child = bench
            .command(&[&["simulate", "--groups", "1000000", "--out", "out"], more].concat())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Its temporary file says that it listens and is at work.
        let begun = || {
            std::fs::read_dir(bench.path(""))
                .unwrap()
                .any(|e| e.unwrap().file_name().to_string_lossy().starts_with(".credscope"))
        };
        while !begun() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
            std::thread::yield_now();
        }
        kill(&child, "-TERM");
        assert_eq!(child.wait().unwrap().code(), Some(143), "{more:?}");
        assert!(!begun() && !bench.path("out").exists(), "{more:?}");
    }
}
