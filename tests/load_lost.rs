//! What is lost stays told: reasons survive `convert`, and files, steps and rollouts that could not be
//! read mark the data as partial.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod cli_common;

use cli_common::{Bench, WORKED, case};
use serde_json::Value;

fn stderr(bench: &Bench, args: &[&str]) -> String {
    String::from_utf8(bench.run(args).stderr).unwrap()
}

fn load(bench: &Bench, path: &str) -> Value {
    let report = bench.ok(&["report", path, "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    report["load"].clone()
}

const GOOD: &str = r#"{"task":"t","id":"a","reward":1,"steps":[{"state":"S","action":"A"}]}"#;

#[test]
fn reasons_survive_convert() {
    let Some(case) = case("12") else { return };
    let bench = Bench::new(WORKED);
    bench.write("nan.json", &std::fs::read_to_string(case.join("input.json")).unwrap());
    let converted = bench.ok(&["convert", "nan.json"]);
    let expected = [
        ("r1", "reward is NaN"),
        ("r2", "reward is Infinity"),
        ("r3", "reward is -Infinity"),
        ("r4", "reward is null"),
        ("r8", "reward is 1e400, which is out of range"),
    ];
    let lines: Vec<Value> = converted.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for (id, why) in expected {
        let line = lines.iter().find(|l| l["id"] == id).unwrap();
        assert!(line.as_object().unwrap().contains_key("reward"), "{id}");
        assert_eq!((&line["reward"], &line["reason"]), (&Value::Null, &Value::from(why)), "{id}");
    }
    bench.write("again.jsonl", &converted);
    let told = bench.ok(&["check", "again.jsonl"]);
    for (id, why) in expected {
        assert!(told.contains(&format!("{id}: unscored, {why}")), "{told}");
    }
    let again = bench.ok(&["convert", "again.jsonl"]);
    assert_eq!(again, converted);
    let rows = bench.ok(&["advantages", "again.jsonl"]);
    let row = rows.lines().find(|l| l.contains(r#""rollout":"r1""#)).unwrap();
    assert!(row.contains("unscored; outcome: reward is NaN"), "{row}");
}

#[test]
fn step_rewards_that_are_no_numbers_are_missing() {
    let bench = Bench::new(WORKED);
    let step = |reward: &str| format!(r#"{{"state":"S","action":"A","step_reward":{reward}}}"#);
    for rewards in [["NaN", "0.5"], ["NaN", "NaN"]] {
        let steps = rewards.map(step).join(",");
        bench.write("r.jsonl", &format!(r#"{{"task":"t","id":"a","reward":1,"steps":[{steps}]}}"#));
        let rows = bench.ok(&["steps", "r.jsonl", "--format", "jsonl", "--no-stamp"]);
        let row: Value = rows
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).unwrap())
            .find(|r| r["step"] == 0)
            .unwrap();
        assert!(row["step_reward"].is_null(), "{row}");
        assert!(row["reason"].as_str().unwrap().contains("step_reward: none logged"), "{row}");
        let told = stderr(&bench, &["groups", "r.jsonl"]);
        assert!(told.contains("`steps[0].step_reward`: NaN"), "{told}");
        let converted = bench.ok(&["convert", "r.jsonl"]);
        assert!(converted.contains(r#""step_reward":null,"#), "{converted}");
        assert!(converted.contains(r#""reason":"NaN""#), "{converted}");
    }
}

#[test]
fn files_of_a_folder_that_could_not_be_read_are_told() {
    let bench = Bench::new(WORKED);
    std::fs::create_dir(bench.path("dir")).unwrap();
    bench.write("dir/a.jsonl", GOOD);
    bench.write("dir/README.md", "# hello\n");
    assert_eq!(load(&bench, "dir")["partial"], Value::Null);
    bench.write("dir/empty.jsonl", "");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    bench.write("dir/lfs.jsonl", pointer);
    let told = load(&bench, "dir");
    assert_eq!(told["partial"], "partial data: 2 files could not be read");
    let names: Vec<_> =
        told["refused"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert!(names.len() == 2 && names[0].ends_with("empty.jsonl"), "{names:?}");
    let report = bench.ok(&["report", "dir"]);
    assert!(report.contains("not read") && report.contains("lfs.jsonl"), "{report}");
    let told = stderr(&bench, &["groups", "dir"]);
    assert!(told.contains("[lost-file]") && !told.contains("README"), "{told}");
}

#[test]
fn dropped_steps_and_lost_rollouts_mark_partial_data() {
    let bench = Bench::new(WORKED);
    let step = r#"{"action":"ls","observation":"","response":"r","thought":"t"}"#;
    bench.write(
        "a.traj",
        &format!(
            r#"{{"trajectory":[{step},"lost",{step}],"history":[],"info":{{"exit_status":"submitted"}},"environment":"a__a-1"}}"#
        ),
    );
    assert_eq!(load(&bench, "a.traj")["partial"], "partial data: 1 step left out of its rollout");
    assert_eq!(bench.run(&["groups", "a.traj", "--strict"]).status.code(), Some(1));
    bench.write(
        "torn.json",
        &format!(r#"{{"schema":"credscope/1","task":"t","rollouts":[{GOOD},{{"id":"b","st"#),
    );
    assert_eq!(load(&bench, "torn.json")["partial"], "partial data: 1 rollout skipped");
}

#[test]
fn the_shown_key_is_the_one_that_was_used() {
    let bench = Bench::new(WORKED);
    let row = |id: u32, nonce: u32| {
        format!(r#"{{"task":"{id}","id":"r{nonce}","nonce":{nonce},"reward":1,"steps":[]}}"#)
    };
    let rows = [row(0, 0), row(0, 1), row(1, 2), row(1, 3)];
    bench.write("n.jsonl", &rows.join("\n"));
    assert_eq!(load(&bench, "n.jsonl")["grouped_by"], "task");
}

#[test]
fn conversations_that_never_began_are_errors() {
    let bench = Bench::new(WORKED);
    let lost = r#"{"task":"t","id":"b","error":"sandbox_lost","messages":null}"#;
    bench.write("m.jsonl", &format!("{GOOD}\n{lost}\n"));
    let told = load(&bench, "m.jsonl");
    assert_eq!((&told["errors"], &told["skipped"]), (&Value::from(1), &Value::from(0)));
}
