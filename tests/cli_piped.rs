//! Rollouts that are piped in without a path, and one rollout on the screen.

#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;

use std::io::Write;
use std::process::{Output, Stdio};

use cli_common::{Bench, WORKED, texts};

/// Runs the program with a text piped in.
fn piped(bench: &Bench, args: &[&str], text: &str) -> Output {
    let mut command = bench.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_is_piped_in_without_a_path_is_read() {
    let bench = Bench::new(WORKED);
    for args in [&["steps", "--format", "csv"][..], &["report"], &[]] {
        let named = piped(&bench, &[args, &["-"]].concat(), WORKED);
        let bare = piped(&bench, args, WORKED);
        assert!(bare.status.success(), "{args:?}: {}", String::from_utf8_lossy(&bare.stderr));
        assert_eq!(bare.stdout, named.stdout, "{args:?}");
    }
    let out = piped(&bench, &["steps", "--format", "csv"], WORKED);
    let rollouts = texts(&String::from_utf8(out.stdout).unwrap(), "rollout");
    assert_eq!(rollouts.len(), 3 + 3 + 2 + 4, "one row per step");
    // A file in place of a pipe.
    let file = std::fs::File::open(bench.path("input.json")).unwrap();
    let out = bench.command(&["steps", "--format", "csv"]).stdin(file).output().unwrap();
    assert_eq!(texts(&String::from_utf8(out.stdout).unwrap(), "rollout"), rollouts);
    // A path that is given is what is read, whatever is piped in.
    let out = piped(&bench, &["steps", "input.json", "--format", "csv"], "{}");
    assert_eq!(texts(&String::from_utf8(out.stdout).unwrap(), "rollout"), rollouts);
    // With nothing to read from there is nothing to read.
    let out = bench.command(&[]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("no file, folder or `-` was given"));
}

/// The texts of a picture, line by line.
fn shown(bench: &Bench, args: &[&str]) -> Vec<String> {
    let mut all = vec!["input.json", "--screenshot", "out.svg", "--force", "--size", "80x24"];
    all.extend(args);
    bench.ok(&all);
    let svg = std::fs::read_to_string(bench.path("out.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let mut lines: Vec<(u32, String)> = Vec::new();
    for text in document.descendants().filter(|n| n.has_tag_name("text")) {
        let y: u32 = text.attribute("y").unwrap().parse().unwrap();
        let told = text.text().unwrap_or_default();
        match lines.last_mut() {
            Some((last, line)) if *last == y => line.push_str(told),
            _ => lines.push((y, told.to_owned())),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn one_rollout_on_the_screen_is_selected_and_listed_alone() {
    let bench = Bench::new(WORKED);
    let steps = |lines: &[String]| -> String {
        lines.iter().find(|l| l.contains("2 Steps")).unwrap().clone()
    };
    // Without it the screen opens where it always does, with no filter.
    let plain = steps(&shown(&bench, &["--keys", ""]));
    assert!(!plain.contains("t4") && !plain.contains("listed"), "{plain}");
    let only = shown(&bench, &["--rollout", "t4", "--keys", ""]);
    let rule = steps(&only);
    assert!(rule.contains("t4 ✓"), "{rule}");
    assert!(rule.contains("4 listed: rollout t4"), "{rule}");
    assert!(only.iter().any(|l| l.contains("4 of 4 scored")), "all count as before");
    // No other rollout is gone to.
    let next = shown(&bench, &["--rollout", "t4", "--keys", "["]);
    assert!(steps(&next).contains("t4 ✓"), "{next:#?}");
    let told = "no further rollout has a step that passes the filter";
    assert!(next.iter().any(|l| l.contains(told)), "{next:#?}");
    // c in the filter takes it away.
    let clear = shown(&bench, &["--rollout", "t4", "--keys", "f c Esc"]);
    assert!(!steps(&clear).contains("listed"), "{clear:#?}");
}

#[test]
fn a_rollout_that_is_not_there_opens_no_screen() {
    let bench = Bench::new(WORKED);
    let (code, told) = bench.fails(&["input.json", "--screenshot", "out.svg", "--rollout", "t9"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("no rollout is called `t9`"), "{told}");
    assert!(told.contains("there are t1, t2, t3, t4"), "{told}");
    assert!(!bench.path("out.svg").exists());
}
