//! Retries and copies of one rollout: the last one counts, the others are named.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod cli_common;
mod load_common;

use cli_common::Bench;
use credscope::load::LoadOptions;
use load_common::{ids, load_text, load_with, outcomes};

fn options() -> LoadOptions {
    LoadOptions::default()
}

/// Three tries at r1 (the second succeeded, the third failed), one at r2, a copy of r3.
const TRIED: &str = r#"{"task":"t","id":"r1","attempt":2,"outcome":"success","steps":[{"tool":"a","args":{}}]}
{"task":"t","id":"r1","attempt":1,"outcome":"error","steps":[]}
{"task":"t","id":"r2","attempt":1,"outcome":"success","steps":[{"tool":"b","args":{}}]}
{"task":"t","id":"r1","attempt":3,"outcome":"failure","steps":[{"tool":"a","args":{}},{"tool":"c","args":{}}]}
{"task":"t","id":"r3","outcome":"failure","steps":[]}
{"task":"t","id":"r3","outcome":"failure","steps":[]}
"#;

#[test]
fn of_retries_and_copies_the_last_one_counts() {
    let loaded = load_text("tries.jsonl", TRIED, &options()).unwrap();
    let [group] = &loaded.corpus.groups[..] else { panic!("one group") };
    assert_eq!(ids(group), ["r1", "r2", "r3"]);
    assert_eq!(outcomes(group), [("success", 1), ("failure", 2)]);
    assert_eq!((group.rollouts[0].attempt, group.rollouts[0].steps.len()), (Some(3), 2));
    let totals = loaded.report.totals;
    assert_eq!((totals.rollouts, totals.retries, totals.duplicates), (3, 2, 1));
    assert_eq!((totals.records, totals.skipped), (6, 0));
    let told: Vec<_> = loaded.report.collapsed.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "tries.jsonl: line 2, rollout r1: attempt 1, attempt 3 is kept",
            "tries.jsonl: line 1, rollout r1: attempt 2, attempt 3 is kept",
            "tries.jsonl: line 5, rollout r3: a copy, the last one is kept",
        ]
    );
    assert!(loaded.report.warning("retry").unwrap().text.starts_with("2 earlier attempts"));
    // The order of lines changes nothing but places.
    let lines: Vec<&str> = TRIED.lines().rev().collect();
    let turned = lines.join("\n");
    let turned = load_text("tries.jsonl", &turned, &options()).unwrap();
    assert_eq!(load_common::summary(&turned), load_common::summary(&loaded));
}

#[test]
fn segments_of_an_attempt_stay_together() {
    let part = |attempt: u32, segment: u32, tool: &str| {
        format!(
            "{{\"task\":\"t\",\"id\":\"r\",\"attempt\":{attempt},\"segment_index\":{segment},\"reward\":1,\"steps\":[{{\"tool\":\"{tool}\",\"args\":{{}}}}]}}\n"
        )
    };
    let text = [part(1, 0, "x"), part(2, 1, "b"), part(1, 1, "y"), part(2, 0, "a")].concat();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, text).unwrap();
    let loaded = load_with(&[path], &options()).unwrap();
    let group = &loaded.corpus.groups[0];
    assert_eq!((ids(group), group.rollouts[0].steps.len()), (vec!["r"], 2));
    let texts = loaded.sources.rollout_text(group, 0).unwrap();
    let tools: Vec<_> = texts.iter().map(|t| t.tool.as_deref().unwrap()).collect();
    assert_eq!(tools, ["a", "b"]);
    assert_eq!((loaded.report.totals.retries, loaded.report.totals.joined_segments), (2, 1));
}

#[test]
fn nemo_gym_numbers_the_attempts_of_a_rollout() {
    let row = |rollout: u32, attempt: u32, reward: f64| {
        format!(
            "{{\"responses_create_params\":{{\"input\":\"go\"}},\"response\":{{\"model\":\"m\",\"output\":[{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{rollout} {attempt}\"}}]}},\"reward\":{reward},\"_ng_task_index\":0,\"_ng_rollout_index\":{rollout},\"_ng_attempt_index\":{attempt},\"agent_ref\":{{\"name\":\"a\"}}}}\n"
        )
    };
    let text = [row(0, 0, 0.0), row(1, 0, 0.0), row(0, 1, 1.0)].concat();
    let loaded = load_text("rollouts.jsonl", &text, &options()).unwrap();
    let group = &loaded.corpus.groups[0];
    assert_eq!(ids(group), ["a-0", "a-1"]);
    assert_eq!(outcomes(group), [("success", 1), ("failure", 1)]);
    assert_eq!(loaded.report.collapsed[0].rollout, "a-0");
}

#[test]
fn rows_without_an_id_are_samples_even_when_they_are_equal() {
    let row = "{\"task\":\"t\",\"reward\":1,\"steps\":[],\"schema\":\"credscope/1\"}\n";
    let loaded = load_text("samples.jsonl", &row.repeat(3), &options()).unwrap();
    assert_eq!(loaded.report.totals.rollouts, 3);
    assert!(loaded.report.collapsed.is_empty());
}

#[test]
fn the_report_lists_what_was_left_out() {
    let bench = Bench::new("{}");
    bench.write("tries.jsonl", TRIED);
    let text = bench.ok(&["check", "tries.jsonl"]);
    assert!(text.contains("left out  tries.jsonl: line 2, rollout r1: attempt 1"), "{text}");
    assert!(text.contains("tries.jsonl: 1 copy left out"), "{text}");
    assert!(text.contains("tries.jsonl: 2 retries left out"), "{text}");
    let json = bench.json(&["check", "tries.jsonl", "--format", "json"]);
    assert_eq!(json["load"]["retries"], 2);
    let listed = json["report"]["collapsed"].as_array().unwrap();
    let kinds: Vec<_> = listed.iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["retry", "retry", "copy"]);
    assert_eq!((&listed[0]["attempt"], &listed[0]["kept"]), (&1.into(), &3.into()));
}
