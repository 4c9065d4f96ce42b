//! Partial data: told once, marked in every export, and a failure where that was asked for.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod cli_common;

use cli_common::{Bench, WORKED, case};

const MARK: &str = "partial data: 3 lines skipped";

/// The case of a torn file in a folder of its own.
fn torn() -> Option<Bench> {
    let input = std::fs::read_to_string(case("23")?.join("input.jsonl")).unwrap();
    let bench = Bench::new(WORKED);
    bench.write("torn.jsonl", &input);
    Some(bench)
}

#[test]
fn one_warning_and_every_command_can_be_strict() {
    let Some(bench) = torn() else { return };
    let output = bench.run(&["groups", "torn.jsonl"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert_eq!(told.lines().count(), 1, "{told}");
    let place = "torn.jsonl: line 4: broken JSON: it ends within a string, at column 50";
    assert!(told.starts_with(&format!("warning: {MARK}; first: {place}")), "{told}");
    for command in
        ["report", "groups", "steps", "quadrants", "tree", "panel", "stability", "convert", "check"]
    {
        let output = bench.run(&[command, "torn.jsonl", "--strict"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command}: {told}");
        assert_eq!(told.trim_end(), format!("error: 3 lines skipped; first: {place}"), "{command}");
        // Nothing is written that a script could take for the whole.
        assert_eq!(output.stdout.is_empty(), command != "check", "{command}");
        let fine = bench.run(&[command, "input.json", "--strict"]);
        assert_eq!(fine.status.code(), Some(0), "{command}");
    }
    let output = bench.run(&["compare-runs", "input.json", "torn.jsonl", "--strict"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn every_export_carries_the_mark() {
    let Some(bench) = torn() else { return };
    let shown = [
        ("report", "text"),
        ("report", "md"),
        ("groups", "text"),
        ("steps", "text"),
        ("quadrants", "text"),
        ("quadrants", "md"),
        ("quadrants", "tex"),
        ("tree", "text"),
        ("tree", "dot"),
        ("check", "text"),
    ];
    for (command, form) in shown {
        let args = [command, "torn.jsonl", "--format", form, "--no-stamp"];
        let text = bench.ok(&args);
        assert!(text.contains(MARK), "{command} {form}: {text}");
        let whole = bench.ok(&[command, "input.json", "--format", form, "--no-stamp"]);
        assert!(!whole.contains("partial data"), "{command} {form}: {whole}");
    }
    // Data forms have it in the stamp.
    for (command, form) in [
        ("report", "json"),
        ("groups", "csv"),
        ("groups", "json"),
        ("steps", "csv"),
        ("steps", "jsonl"),
        ("quadrants", "json"),
        ("tree", "json"),
        ("panel", "json"),
        ("stability", "csv"),
        ("check", "json"),
    ] {
        let text = bench.ok(&[command, "torn.jsonl", "--format", form]);
        assert!(text.contains(&format!("\"partial\":\"{MARK}\"")), "{command} {form}: {text}");
    }
    let text = bench.ok(&["advantages", "torn.jsonl"]);
    assert!(text.lines().next().unwrap().contains(MARK), "{text}");
    let text = bench.ok(&["compare-runs", "input.json", "torn.jsonl"]);
    assert!(text.contains(&format!("⚠ B: {MARK}")), "{text}");
}

#[test]
fn a_converted_file_remembers_that_it_is_partial() {
    let Some(bench) = torn() else { return };
    bench.ok(&["convert", "torn.jsonl", "--out", "whole.jsonl"]);
    let text = std::fs::read_to_string(bench.path("whole.jsonl")).unwrap();
    assert_eq!(text.matches(MARK).count(), 1, "{text}");
    assert!(text.lines().next().unwrap().contains("\"extra\":{\"partial\":"), "{text}");
    // The rollouts are the same, nothing is skipped any more, and the mark is noted.
    let before = bench.ok(&["steps", "torn.jsonl", "--no-stamp"]);
    assert_eq!(bench.ok(&["steps", "whole.jsonl", "--no-stamp"]), before);
    let report = bench.json(&["check", "whole.jsonl", "--format", "json"]);
    assert_eq!(report["report"]["totals"]["skipped"], 0);
    let note = &report["report"]["notes"][0];
    assert_eq!(note["reason"], format!("the file was converted from {MARK}"), "{report}");
}

#[test]
fn what_is_missing_fails_a_strict_check_by_name() {
    let bench = Bench::new(WORKED);
    std::fs::create_dir(bench.path("run")).unwrap();
    std::fs::copy(bench.path("input.json"), bench.path("run/a.json")).unwrap();
    // What a run's folder holds besides is no fault: notes, logs, empty markers.
    bench.write("run/README.md", "# notes\n");
    bench.write("run/trial.log", "");
    bench.ok(&["check", "run", "--strict"]);
    bench.ok(&["groups", "run", "--strict"]);
    for (name, text, word) in [
        ("empty.jsonl", "", "empty file"),
        (
            "lfs.jsonl",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "Git LFS pointer",
        ),
        ("broken.zip", "PK\u{3}\u{4}nothing", "cannot be unpacked"),
    ] {
        let at = format!("run/{name}");
        bench.write(&at, text);
        for command in ["check", "groups"] {
            let (code, told) = bench.fails(&[command, "run", "--strict"]);
            assert_eq!(code, 1, "{name}: {told}");
            assert!(told.contains(name) && told.contains(word), "{name}: {told}");
            assert_eq!(bench.run(&[command, "run"]).status.code(), Some(0), "{name}");
        }
        std::fs::remove_file(bench.path(&at)).unwrap();
    }
}

#[test]
fn a_named_path_that_gives_nothing_fails_at_the_end() {
    let bench = Bench::new(WORKED);
    let whole = bench.ok(&["groups", "input.json"]);
    bench.write("notes.md", "# notes\n");
    bench.write("empty.jsonl", "");
    bench.write("broken.jsonl", "{\"task\":\"t\",\"id\":\"a\",\"steps\":[1}\n");
    for (name, word) in [
        ("none.jsonl", "No such file"),
        ("notes.md", "no JSON"),
        ("empty.jsonl", "empty file"),
        ("broken.jsonl", "no record of it could be read"),
    ] {
        let output = bench.run(&["groups", "input.json", name]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        let last = told.lines().last().unwrap();
        assert!(last.starts_with(&format!("error: could not be read: {name}: ")), "{told}");
        assert!(last.contains(word), "{told}");
        // The rest is done all the same, and the reason is told once.
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(whole.lines().nth(1).unwrap()), "{name}: {text}");
        assert_eq!(told.matches("notes.md").count(), usize::from(name == "notes.md"), "{told}");
    }
    // What a framework writes beside its rollouts may be named, too.
    bench.write("x_reward_profiling.jsonl", "{\"mean/reward\":0.4,\"_ng_task_index\":0}\n");
    let output = bench.run(&["groups", "input.json", "x_reward_profiling.jsonl"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_place_of_broken_json_is_one_in_the_file() {
    let bench = Bench::new(WORKED);
    // An array over many lines: its second element breaks on line 8.
    bench.write(
        "tau.json",
        "[\n {\"task_id\": 1, \"trial\": 0, \"reward\": 1.0,\n  \"info\": {\"reward_info\": {}},\n  \"traj\": []},\n {\"task_id\": 1,\n  \"trial\": 1,\n  \"info\": {\"reward_info\": {}},\n  \"reward\" 1.0, \"traj\": []},\n {\"task_id\": 1, \"trial\": 2, \"reward\": 0.0, \"info\": {\"reward_info\": {}}, \"traj\": 5}\n]\n",
    );
    let report = bench.json(&["check", "tau.json", "--format", "json"]);
    let skipped = report["report"]["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    let place = |at: usize| [&skipped[at]["number"], &skipped[at]["line"], &skipped[at]["at"]];
    assert_eq!(place(0), [&2.into(), &5.into(), &serde_json::json!([8, 12])]);
    assert_eq!(place(1), [&3.into(), &9.into(), &serde_json::Value::Null]);
    assert_eq!(skipped[1]["field"], "traj");
    let (_, told) = bench.fails(&["groups", "tau.json", "--strict"]);
    let want = "tau.json: element 2 (line 5): broken JSON: expected `:`, at line 8, column 12";
    assert!(told.contains(want), "{told}");
}
