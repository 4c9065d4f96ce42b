//! A block of a file was never written and reads as NUL bytes: line ends, brackets and quotes may be among
//! what is lost. What stands before it and what stands behind it are never one rollout, and a loss is told.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::BTreeSet;

use credscope::load::{LoadOptions, Loaded};
use load_common::{ids, load_with};
use serde_json::{Value, json};

/// A rollout with two steps, whose texts say which one it is.
fn rollout(task: &str, n: usize) -> Value {
    let step = |s: usize| json!({"tool": "bash", "args": {"command": format!("ls {task}{n}{s}")}, "observation": format!("out {task}{n}{s}")});
    json!({"task": task, "id": format!("r{n}"), "outcome": if n.is_multiple_of(2) { "failure" } else { "success" },
        "steps": [step(0), step(1)]})
}

fn load(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Result<Loaded, String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let loaded = load_with(&[path], &LoadOptions::default()).map_err(|e| e.to_string());
    (dir, loaded)
}

/// Every rollout in full, its texts included, by its group.
fn contents(loaded: &Loaded) -> BTreeSet<String> {
    let of = |at: usize, group: &credscope::rollout::Group| {
        let texts = loaded.sources.rollout_text(group, at).unwrap();
        let rollout = &group.rollouts[at];
        format!("{:?} {} {:?} {texts:?}", group.key, rollout.id, rollout.outcome)
    };
    let groups = loaded.corpus.groups.iter();
    groups.flat_map(|g| (0..g.rollouts.len()).map(move |at| of(at, g))).collect()
}

/// Forms of a file with many rollouts.
fn forms() -> Vec<(&'static str, &'static str, String)> {
    let rollouts: Vec<Value> = (0..4).map(|n| rollout("t", n)).collect();
    let pretty = |v: &Value| serde_json::to_string_pretty(v).unwrap();
    let lines = |all: &[Value], each: &dyn Fn(&Value) -> String, between: &str| {
        all.iter().map(each).collect::<Vec<_>>().join(between)
    };
    let group = |task: &str| {
        let own = |n| {
            let mut one = rollout(task, n);
            one.as_object_mut().unwrap().remove("task");
            one
        };
        json!({"schema": "credscope/1", "task": task, "rollouts": (0..3).map(own).collect::<Vec<_>>(), "policy": "m"})
    };
    let groups = ["a", "b", "c"].map(group);
    let all = json!(rollouts);
    let of = |make: &dyn Fn(usize) -> Value| (0..4).map(make).collect::<Vec<_>>();
    let columns = json!({"id": of(&|n| json!(format!("t{n}"))), "responses": of(&|n| json!(format!("answer {n} of the dump"))),
        "scores": of(&|n| json!(n)), "tag": of(&|n| json!(format!("g{n}")))});
    vec![
        ("lines", "x.jsonl", lines(&rollouts, &Value::to_string, "\n") + "\n"),
        ("array", "x.json", all.to_string()),
        ("pretty array", "x.json", pretty(&all)),
        (
            "array of lines",
            "x.json",
            format!("[\n{}\n]\n", lines(&rollouts, &Value::to_string, ",\n")),
        ),
        ("values", "x.json", lines(&rollouts, &pretty, "\n")),
        ("document", "x.json", group("a").to_string()),
        ("pretty document", "x.json", pretty(&group("a"))),
        ("lines of documents", "x.jsonl", lines(&groups, &Value::to_string, "\n") + "\n"),
        ("array of documents", "x.json", json!(groups).to_string()),
        ("values that are documents", "x.json", lines(&groups, &pretty, "\n")),
        (
            "columns",
            "dump.jsonl",
            format!("{columns}\n{}\n", columns.to_string().replace("\"t", "\"u")),
        ),
    ]
}

#[test]
fn no_rollout_is_put_together_of_two() {
    for (form, name, text) in forms() {
        let (_dir, whole) = load(name, text.as_bytes());
        let whole = contents(&whole.unwrap());
        assert!(whole.len() >= 3, "{form}");
        // Short blocks, and such that hide the ends of one, two or three records.
        for len in [2, 60, 260, 500] {
            for from in (0..text.len().saturating_sub(len)).step_by(37 + len / 10) {
                let mut bytes = text.clone().into_bytes();
                bytes[from..from + len].fill(0);
                let place = format!("{form}: {len} bytes from {from}");
                // A file of which nothing can be read is an error.
                let (_dir, Ok(loaded)) = load(name, &bytes) else { continue };
                let got = contents(&loaded);
                assert!(got.is_subset(&whole), "{place}: {got:#?}");
                let report = &loaded.report;
                let lost = whole.len() - got.len();
                let unknown = report.partial().is_some_and(|told| told.contains("unknown"));
                assert!(unknown || report.totals.skipped >= lost.max(1), "{place}: {report:#?}");
                assert!(report.fault().is_some(), "{place}");
            }
        }
    }
}

#[test]
fn a_block_over_line_ends_is_told_with_its_line() {
    let lines: Vec<String> = (0..6).map(|n| rollout("t", n).to_string() + "\n").collect();
    let text = lines.concat();
    // From the first observation of the second line to that of the fourth.
    let from = text.find("out t10").unwrap();
    let to = text.find("out t30").unwrap();
    let mut bytes = text.clone().into_bytes();
    bytes[from..to].fill(0);
    let (_dir, loaded) = load("x.jsonl", &bytes);
    let loaded = loaded.unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["r0", "r4", "r5"]);
    let report = &loaded.report;
    assert_eq!(
        report.partial().unwrap(),
        "partial data: 1 line skipped, how many more with it is unknown"
    );
    let [lost] = &report.skipped[..] else { panic!("{:#?}", report.skipped) };
    assert_eq!(lost.number, 2);
    assert_eq!(
        lost.reason,
        format!(
            "{} NUL bytes stand in it (blocks of the file that were never written, or not yet when it was \
             copied), and how many more records they held is unknown",
            to - from
        )
    );
    assert_eq!(lost.hint.as_deref(), Some("copy or write the file again"));
    assert!(report.notes.is_empty());
}

#[test]
fn a_single_raw_nul_in_a_text_is_escaped_and_noted() {
    let text = rollout("t", 0).to_string().replace("out t00", "out\0t00\0");
    let (_dir, loaded) = load("x.jsonl", text.as_bytes());
    let loaded = loaded.unwrap();
    assert_eq!(loaded.report.totals.skipped, 0);
    let notes: Vec<_> = loaded.report.notes.iter().map(|n| &*n.reason).collect();
    assert_eq!(notes, ["2 raw control bytes in texts escaped"]);
    assert!(contents(&loaded).iter().all(|text| text.contains(r"out\0t00\0")));
}

#[test]
fn a_bracket_that_is_missing_in_a_value_costs_the_value() {
    // Indented, so that the next one begins a line; a bracket at its end, within it, and a line of a log.
    let all: Vec<String> =
        (0..4).map(|n| serde_json::to_string_pretty(&rollout("t", n)).unwrap()).collect();
    let end = all[1].strip_suffix("\n}").unwrap().to_owned();
    let within = all[1].replacen("\n    },", "\n    ,", 1);
    let logged =
        all[1].replacen('\n', "\n2026-01-01 INFO saved {\"step\": 12 checkpoint [ok]\n", 1);
    for torn in [end, within, logged] {
        assert_ne!(torn, all[1]);
        for (open, comma, close) in [("", "\n", "\n"), ("[\n", ",\n", "\n]\n")] {
            let parts = [&*all[0], &torn, &all[2], &all[3]];
            let text = format!("{open}{}{close}", parts.join(comma));
            let (_dir, loaded) = load("x.json", text.as_bytes());
            let loaded = loaded.unwrap();
            assert_eq!(ids(&loaded.corpus.groups[0]), ["r0", "r2", "r3"], "{text}");
            assert_eq!(loaded.report.totals.skipped, 1, "{text}");
            assert_eq!(loaded.report.skipped[0].number, 2, "{text}");
        }
    }
}

#[test]
fn where_no_line_tells_the_next_value_more_may_be_lost() {
    let all: Vec<String> = (0..4).map(|n| rollout("t", n).to_string()).collect();
    let torn = all[1].replacen("},{", ",{", 1);
    assert_ne!(torn, all[1]);
    let text = [&*all[0], &torn, &all[2], &all[3]].join(" ");
    let (_dir, loaded) = load("x.json", text.as_bytes());
    let loaded = loaded.unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["r0"]);
    assert_eq!(
        loaded.report.partial().unwrap(),
        "partial data: 1 value skipped, how many more with it is unknown"
    );
}
