//! Files that stand beside the rollouts: profiles of further frameworks, outcome maps, sidecars.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;

use serde_json::Value;

/// A framework that nobody has heard of.
const FOREIGN: &str = r#"{"schema":"credscope/1","task":"t","rollouts":[
{"id":"a","outcome":"success","steps":[
 {"tool":"peek","args":{"what":"/testbed/a.py"},"observation":"1\tx"},
 {"tool":"scribble","args":{"what":"/testbed/a.py","body":"y"},"observation":"done"},
 {"tool":"run_it","args":{"line":"pytest -q"},"observation":"1 passed","exit_code":0}]}]}"#;

const PROFILE: &str = r#"
name = "foreign"
title = "A framework of tomorrow"
include = ["base"]
marks = ["peek", "scribble"]

[[tool]]
names = ["peek"]
does = "view"
args = { path = ["what"] }

[[tool]]
names = ["scribble"]
does = "write"
args = { path = ["what"], text = ["body"] }

[[tool]]
names = ["run_it"]
does = "shell"
args = { command = ["line"] }
"#;

/// One field of every row.
fn column(json: &str, name: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    rows.iter().map(|r| r[name].to_string().trim_matches('"').to_owned()).collect()
}

#[test]
fn a_framework_is_one_toml_file() {
    let bench = cli_common::Bench::new(FOREIGN);
    let plain = bench.ok(&["steps", "input.json", "--format", "json"]);
    assert_eq!(column(&plain, "category")[0], "other");
    bench.write("foreign.toml", PROFILE);
    let args = ["steps", "input.json", "--format", "json", "--profile", "foreign.toml"];
    let known = bench.ok(&args);
    assert_eq!(column(&known, "category"), ["view", "modify", "test"]);
    assert_eq!(column(&known, "result"), ["ok", "ok", "ok"]);
    assert!(column(&known, "action")[1].starts_with("modify:"));
    assert!(known.contains(r#""value":["foreign.toml"]"#), "the stamp names the profile");
}

#[test]
fn a_profile_that_is_wrong_says_where() {
    let bench = cli_common::Bench::new(FOREIGN);
    bench.write("foreign.toml", "name = \"x\"\n[[tool]]\nnames = [\"peek\"]\ndoes = \"fly\"\n");
    let (code, message) = bench.fails(&["steps", "input.json", "--profile", "foreign.toml"]);
    assert_eq!(code, 1);
    assert!(message.contains("foreign.toml") && message.contains("fly"), "{message}");
}

#[test]
fn an_outcome_map_outweighs_the_file() {
    let bench = cli_common::Bench::new(cli_common::WORKED);
    bench.write("verdicts.csv", "rollout,outcome\nt2,success\nnobody,success\n");
    let args = ["groups", "input.json", "--format", "json", "--outcomes", "verdicts.csv"];
    assert_eq!(column(&bench.ok(&args), "successes"), ["3"]);
    let report = bench.ok(&["report", "input.json", "--outcomes", "verdicts.csv"]);
    assert!(report.contains("verdicts.csv"), "the report says what was joined");
}

/// A trainer's own advantages beside ours, joined by rollout and step, with counts.
#[test]
fn a_sidecar_brings_numbers_of_each_step() {
    let bench = cli_common::Bench::new(cli_common::WORKED);
    bench.write(
        "trainer.jsonl",
        "{\"rollout\":\"t1\",\"step\":0,\"mine\":0.25}\n{\"rollout\":\"t1\",\"step\":1,\"mine\":-0.5}\n{\"rollout\":\"zz\",\"step\":0,\"mine\":9}\n",
    );
    let args = [
        "steps",
        "input.json",
        "--format",
        "json",
        "--sidecar",
        "trainer.jsonl",
        "--columns",
        "rtmc,logged:mine",
    ];
    let json = bench.ok(&args);
    let mine = column(&json, "logged:mine");
    assert_eq!(mine[..3], ["0.25", "-0.5", "null"]);
    assert!(column(&json, "reason")[2].contains("not logged at this step"));
    let report = bench.ok(&["report", "input.json", "--sidecar", "trainer.jsonl"]);
    assert!(report.contains("trainer.jsonl"), "the report says what was joined");
}

/// What stands where a number should is told by the load report, and a column of words as such.
#[test]
fn a_sidecar_cell_that_is_no_number_is_told() {
    let bench = cli_common::Bench::new(cli_common::WORKED);
    bench.write("sd.csv", "rollout,step,p,word\nt1,0,0.5,x\nt1,1,oops,y\n");
    let side = ["input.json", "--sidecar", "sd.csv"];
    let run = bench.run(&[&["steps"], &side[..], &["--columns", "logged:p"]].concat());
    let csv = String::from_utf8(run.stdout).unwrap();
    assert_eq!(cli_common::texts(&csv, "logged:p")[..2], ["0.5", ""]);
    let told = String::from_utf8(run.stderr).unwrap();
    assert!(told.contains("sd.csv, line 3, `p`: `oops`"), "{told}");
    let check = bench.ok(&[&["check"], &side[..]].concat()).replace("\n  ", " ");
    assert!(check.contains("sd.csv: line 3 p: `oops` is no finite number"), "{check}");
    assert!(check.contains("logged numbers: p; no number stands in: word"), "{check}");
}

/// A runner of one's own makes a command a test, and the reason is told.
#[test]
fn a_runner_is_a_table_in_a_file() {
    let input = r#"{"schema":"credscope/1","task":"t","rollouts":[
{"id":"a","outcome":"success","steps":[{"tool":"execute_bash","args":{"command":"./check-all fast"},"observation":"all 3 fine","exit_code":0}]}]}"#;
    let bench = cli_common::Bench::new(input);
    assert_eq!(
        column(&bench.ok(&["steps", "input.json", "--format", "json"]), "category"),
        ["execute"]
    );
    bench.write(
        "mine.toml",
        "[[runner]]\nname = \"check-all\"\nstarts = [\"check-all\"]\nwhy = \"check-all runs our tests\"\nok = ['\\ball \\d+ fine\\b']\n",
    );
    let args = ["steps", "input.json", "--format", "json", "--runners", "mine.toml"];
    let json = bench.ok(&args);
    assert_eq!(column(&json, "category"), ["test"]);
    assert_eq!(column(&json, "result"), ["ok"]);
    let told = bench.ok(&["explain", "input.json", "--at", "a:0", "--runners", "mine.toml"]);
    assert!(told.contains("because: check-all runs our tests"), "{told}");
}

/// What was read is never written over, whatever it was read for and by whatever command.
#[test]
fn no_export_replaces_a_file_that_settings_came_from() {
    let bench = cli_common::Bench::new(cli_common::WORKED);
    bench.write("given", "gamma = 0.9\n");
    bench.write("verdicts.csv", "rollout,outcome\nt2,success\n");
    bench.write("trainer.jsonl", "{\"rollout\":\"t1\",\"step\":0,\"mine\":0.25}\n");
    bench.write("foreign.toml", PROFILE);
    bench.write("mine.toml", "[[runner]]\nname = \"x\"\nstarts = [\"x\"]\nwhy = \"x\"\n");
    let flags = [
        ("--config", "given"),
        ("--outcomes", "verdicts.csv"),
        ("--sidecar", "trainer.jsonl"),
        ("--profile", "foreign.toml"),
        ("--runners", "mine.toml"),
    ];
    let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
    let refused = |args: &[&str], file: &str| {
        let before = read(file);
        let (code, told) = bench.fails(args);
        assert!(code == 1 && told.contains(&format!("{file} is an input")), "{args:?}: {told}");
        assert!(read(file) == before, "{args:?} wrote over {file}");
    };
    for (flag, file) in flags {
        refused(&["steps", "input.json", flag, file, "--out", file, "--force"], file);
        let two = ["compare-runs", "input.json", "input.json"];
        refused(&[&two[..], &[flag, file, "--out", file, "--force"]].concat(), file);
        let figure = ["figure", "tree", "input.json", "--format", "svg"];
        refused(&[&figure[..], &[flag, file, "-o", file, "--force"]].concat(), file);
        let print = ["steps", "input.json", "--print-settings"];
        refused(&[&print[..], &[flag, file, "--out", file, "--force"]].concat(), file);
        if cfg!(feature = "tui") {
            refused(&["input.json", flag, file, "--screenshot", file, "--force"], file);
        }
    }
    let print = ["steps", "input.json", "--print-settings", "--out", "input.json", "--force"];
    refused(&print, "input.json");
    bench.ok(&["steps", "input.json", "--out", "export.csv"]);
    let again = ["steps", "input.json", "--settings-from", "export.csv", "--out"];
    refused(&[&again[..], &["export.csv", "--force"]].concat(), "export.csv");
    // Named by the environment, also where nothing is loaded.
    let made: [&[&str]; 4] = [&["formats"], &["man"], &["schema", "steps"], &["simulate"]];
    for args in made {
        let output = bench
            .command(&[args, &["--out", "given", "--force"]].concat())
            .env("CREDSCOPE_CONFIG", "given")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(read("given"), b"gamma = 0.9\n", "{args:?}");
    }
    // A file that is only like one of them is written over.
    bench.write("other.toml", "gamma = 0.9\n");
    bench.ok(&["steps", "input.json", "--config", "given", "--out", "other.toml", "--force"]);
}
