//! What is skipped is counted in the unit that it is, in every form of a file; pointers of Git LFS among
//! records are told as what they are.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use credscope::load::{LoadOptions, Loaded};
use load_common::{ids, load_text, load_with};
use serde_json::{Value, json};

fn load(name: &str, text: &str) -> Loaded {
    load_text(name, text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn rollout(i: usize) -> Value {
    json!({"task":"t","id":format!("r{i}"),"reward":1,"steps":[{"tool":"x","args":{"k":i},"observation":"o"}]})
}

/// Five rollouts of which the second and the fourth have a word that is no JSON.
fn torn(indent: bool) -> Vec<String> {
    let write = |value: &Value| {
        if indent { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }
    };
    let text = |i: usize| write(&rollout(i)).unwrap();
    (0..5)
        .map(|i| if i % 2 == 1 { text(i).replacen("\"o\"", "oops", 1) } else { text(i) })
        .collect()
}

fn partial(loaded: &Loaded) -> String {
    loaded.report.partial().unwrap_or_default()
}

#[test]
fn losses_have_the_unit_of_their_form() {
    let document = |all: &[String]| {
        format!(r#"{{"schema":"credscope/1","task":"t","rollouts":[{}]}}"#, all.join(","))
    };
    for (name, text, told) in [
        ("a.jsonl", torn(false).join("\n"), "2 lines"),
        ("one.json", format!("[{}]", torn(false).join(",")), "2 elements"),
        ("lines.json", format!("[\n{}\n]\n", torn(false).join(",\n")), "2 elements"),
        ("indented.json", format!("[\n{}\n]\n", torn(true).join(",\n")), "2 elements"),
        ("values.json", torn(true).join("\n"), "2 values"),
        ("document.json", document(&torn(false)), "2 rollouts"),
        ("pretty.json", document(&torn(true)), "2 rollouts"),
    ] {
        let loaded = load(name, &text);
        assert_eq!(ids(&loaded.corpus.groups[0]), ["r0", "r2", "r4"], "{name}");
        assert_eq!(partial(&loaded), format!("partial data: {told} skipped"), "{name}");
        assert_eq!(loaded.report.totals.skipped, 2, "{name}");
    }
}

#[test]
fn losses_of_several_files_are_counted_each_in_its_unit() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("a.jsonl", &torn(false).join("\n"));
    write("b.json", &format!("[\n{}\n]\n", torn(true)[..2].join(",\n")));
    let load = || load_with(&[dir.path().to_owned()], &LoadOptions::default()).unwrap();
    assert_eq!(partial(&load()), "partial data: 2 lines and 1 element skipped");
    write("c.json", &format!(r#"{{"task":"t","rollouts":[{}]}}"#, torn(false).join(",")));
    let loaded = load();
    let told = "2 lines, 1 element and 2 rollouts skipped";
    assert_eq!(partial(&loaded), format!("partial data: {told}"));
    assert!(loaded.report.warning("skipped").unwrap().text.contains(told));
    assert!(loaded.report.fault().unwrap().starts_with(told));
}

#[test]
fn a_document_that_lost_none_of_its_rollouts_lost_a_part() {
    let all: Vec<String> = (0..3).map(|i| rollout(i).to_string()).collect();
    let whole =
        format!(r#"{{"schema":"credscope/1","rollouts":[{}],"note":[1,2]}}"#, all.join(","));
    for (text, told) in [
        (whole[..whole.len() - 1].to_owned(), "1 document part"),
        (whole[..whole.len() - 4].to_owned(), "1 document part"),
        (whole.replace("[1,2]", "[1 2]"), "1 document part"),
    ] {
        let loaded = load("document.json", &text);
        assert_eq!(loaded.report.totals.rollouts, 3);
        assert_eq!(partial(&loaded), format!("partial data: {told} skipped"), "{text}");
    }
}

#[test]
fn rows_that_are_cut_off_are_all_counted() {
    let text = r#"{"id":["a","b","c","d"],"responses":["1","2","3","4"],"scores":[1.0,0.0,0"#;
    let loaded = load("dump.jsonl", text);
    assert_eq!(loaded.report.totals.rollouts, 2);
    assert_eq!(partial(&loaded), "partial data: 2 rollouts skipped");
}

#[test]
fn a_line_that_was_a_document_may_have_held_more() {
    let document = |task: &str| {
        json!({"info":{},"tasks":[],"simulations":[{"id":"s","task_id":task,"termination_reason":"user_stop","reward_info":{"reward":1.0},"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}]})
            .to_string()
    };
    let (good, torn) = (document("a"), document("b"));
    let loaded = load("runs.jsonl", &format!("{good}\n{}\n{}\n", &torn[..12], document("c")));
    assert_eq!(loaded.report.totals.rollouts, 2);
    assert_eq!(partial(&loaded), "partial data: 1 line skipped, how many more with it is unknown");
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";

#[test]
fn a_pointer_of_git_lfs_among_records_is_one_loss_and_says_what_to_do() {
    let line = |i: usize| format!("{}\n", rollout(i));
    for (at, text) in [
        (1, format!("{POINTER}{}{}", line(0), line(1))),
        (2, format!("{}{POINTER}{}", line(0), line(1))),
        (3, format!("{}{}{POINTER}", line(0), line(1))),
    ] {
        let loaded = load("a.jsonl", &text);
        assert_eq!(ids(&loaded.corpus.groups[0]), ["r0", "r1"]);
        let [one] = &loaded.report.skipped[..] else { panic!("{:?}", loaded.report.skipped) };
        assert_eq!(one.number, at);
        assert!(one.reason.contains("Git LFS pointer"), "{one}");
        assert!(one.hint.as_deref().unwrap().contains("git lfs pull"), "{one}");
        let told = "partial data: 1 line skipped, how many more with it is unknown";
        assert_eq!(partial(&loaded), told);
    }
    // Two pointers are two.
    let loaded = load("a.jsonl", &format!("{}{POINTER}{POINTER}{}", line(0), line(1)));
    assert_eq!(loaded.report.totals.skipped, 2);
    // Lines that only look like the rest of one are lines.
    let loaded = load("a.jsonl", &format!("{}size 5\n{}", line(0), line(1)));
    assert!(!loaded.report.skipped[0].reason.contains("LFS"));
}
