//! How text tells rollouts that are no plain success or failure: truncated, lost, caught in a loop.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod cli_common;

use cli_common::{Bench, case, texts};

#[test]
fn a_truncated_rollout_is_told_apart_and_its_loop_is_folded() {
    let Some(case) = case("10") else { return };
    let input = std::fs::read_to_string(case.join("input.json")).unwrap();
    let bench = Bench::new(&input);
    let args = ["input.json", "--step-reward", "logged"];
    let page = bench.ok(&[&["report"], &args[..]].concat());
    assert!(page.contains("1 success, 1 failure, 1 truncated"), "{page}");
    assert!(page.contains("loop: t1 to t6 ×6 invalid"), "{page}");
    let text = bench.ok(&[&["steps"], &args[..], &["--format", "text"]].concat());
    let folded: Vec<&str> = text.lines().filter(|l| l.contains("invalid")).collect();
    assert_eq!(folded.len(), 1, "{text}");
    let words: Vec<&str> = folded[0].split_whitespace().collect();
    // The step rewards are equal, the returns are not.
    assert_eq!(words[..7], ["r2", "1-6", "invalid", "×6", "loop", "error", "-0.005"], "{text}");
    assert_eq!(words[7], "…");
    // Data forms keep every step.
    let csv = bench.ok(&[&["steps"], &args[..], &["--format", "csv"]].concat());
    assert_eq!(texts(&csv, "category").iter().filter(|c| *c == "invalid").count(), 6);
    let tree = bench.ok(&[&["tree"], &args[..]].concat());
    assert!(tree.contains("invalid ×6 loop"), "{tree}");
}

#[test]
fn the_head_of_a_page_counts_errors() {
    let Some(case) = case("11") else { return };
    let input = std::fs::read_to_string(case.join("input.json")).unwrap();
    let bench = Bench::new(&input);
    let page = bench.ok(&["report", "input.json"]);
    assert!(page.lines().next().unwrap().contains("4 rollouts, 2 scored, 2 errors"), "{page}");
    assert!(page.contains("r2  0 steps, sandbox_lost"), "{page}");
}

#[test]
fn files_of_a_report_can_be_told_apart() {
    let bench = Bench::new("{}");
    let row = "{\"task\":\"t\",\"id\":\"a\",\"reward\":1,\"steps\":[]}\n";
    let mut names = Vec::new();
    for run in ["first", "second", "a-run-with-a-rather-long-name-of-its-own"] {
        let folder = format!("runs/{run}/an-instance-with-a-long-name__1733");
        std::fs::create_dir_all(bench.path(&folder)).unwrap();
        let name = format!("{folder}/an-instance-with-a-long-name__1733.jsonl");
        bench.write(&name, row);
        names.push(name);
    }
    let text = bench.ok(&["check", "runs"]);
    let shown: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("native"))
        .filter_map(|l| l.split("  ").next())
        .collect();
    assert_eq!(shown.len(), 3, "{text}");
    let apart: std::collections::BTreeSet<_> = shown.iter().collect();
    assert_eq!(apart.len(), 3, "{text}");
    assert!(
        shown.iter().any(|s| s.contains("first")) && shown.iter().all(|s| s.chars().count() <= 48)
    );
    // Data forms have the whole names.
    let json = bench.json(&["check", "runs", "--format", "json"]);
    let files: Vec<_> = json["rows"].as_array().unwrap().iter().map(|r| &r["file"]).collect();
    assert_eq!(files.len(), 3);
    assert!(names.iter().all(|n| files.iter().any(|f| *f == n.strip_prefix("runs/").unwrap())));
}

#[test]
fn calls_that_are_no_steps_are_counted_in_text() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agents/claude-code");
    let bench = Bench::new("{}");
    let text = bench.ok(&["check", fixture]);
    // One call of a sub-agent in each of the two sessions.
    assert!(text.contains("excluded  2 calls of sub-agents and users are no steps"), "{text}");
}

#[test]
fn greetings_that_are_no_steps_are_counted_in_text() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/trainers/tau2.json");
    let bench = Bench::new("{}");
    let text = bench.ok(&["check", fixture]);
    // The agent speaks first in each of the three conversations.
    let told = "3 greetings before the user's first message are no steps of the policy";
    assert!(text.contains(told), "{text}");
    let rollouts = bench.ok(&["report", fixture]);
    assert!(rollouts.contains("1 greeting is no step"), "{rollouts}");
    // Conversion keeps the count.
    bench.ok(&["convert", fixture, "--out", "native.jsonl"]);
    assert!(bench.ok(&["check", "native.jsonl"]).contains(told));
}

#[test]
fn an_abstraction_without_its_fields_is_warned_about() {
    let input = r#"{"schema":"credscope/1","task":"t","rollouts":[
        {"id":"a","outcome":"success","steps":[{"tool":"x","args":{},"observation":"seen"},{"tool":"z","args":{}}]},
        {"id":"b","outcome":"failure","steps":[{"tool":"y","args":{},"observation":"seen"},{"tool":"z","args":{}}]}]}"#;
    let bench = Bench::new(input);
    for (abstraction, code, text) in [
        ("page", "pages-missing", "2 of 2 observations show no page"),
        ("logged", "state-keys-missing", "4 of 4 steps have no state key"),
    ] {
        let page = bench.ok(&["report", "input.json", "--abstraction", abstraction]);
        assert!(page.contains(code) && page.contains(text), "{page}");
    }
    let page = bench.ok(&["report", "input.json"]);
    assert!(!page.contains("missing]"), "{page}");
}
