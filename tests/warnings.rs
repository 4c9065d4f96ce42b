//! Every warning of a group: an input that raises it, one that does not, and a place where it is
//! explained.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use std::collections::BTreeSet;
use std::path::Path;

use cli_common::{Bench, WORKED};
use serde_json::{Value, json};

/// A group of rollouts: id, what else it has, steps.
fn group(rollouts: &[(&str, Value, Vec<Value>)]) -> String {
    let all: Vec<Value> = rollouts
        .iter()
        .map(|(id, more, steps)| {
            let mut one = json!({"id": id, "steps": steps});
            for (name, value) in more.as_object().unwrap() {
                one[name] = value.clone();
            }
            one
        })
        .collect();
    json!({"schema": "credscope/1", "task": "t", "rollouts": all}).to_string()
}

/// Opaque steps from `state.action` words.
fn walk(words: &str) -> Vec<Value> {
    let step = |word: &str| {
        let (state, action) = word.split_once('.').unwrap();
        json!({"state": state, "action": action})
    };
    words.split_whitespace().map(step).collect()
}

fn won() -> Value {
    json!({"outcome": "success"})
}

fn lost() -> Value {
    json!({"outcome": "failure"})
}

/// Two rollouts with these keys beside their steps.
fn two(a: Value, b: Value) -> String {
    group(&[("a", a, walk("s.x u.y")), ("b", b, walk("s.y u.y"))])
}

/// The same in an environment that is played in words.
fn at(what: &Value) -> Value {
    json!({"outcome": what["outcome"], "harness": "textworld"})
}

/// Steps that each show a page.
fn paged() -> Vec<Value> {
    let step = |page: &str| json!({"thought": format!("<link>{page}</link>"), "observation": format!("Current page: {page}")});
    vec![step("a"), step("b")]
}

fn bash(command: &str) -> Value {
    json!({"tool": "bash", "args": {"command": command}, "observation": ""})
}

/// Edits of one file in a rollout, each different.
fn edits(from: usize) -> Vec<Value> {
    (from..from + 20).map(|i| bash(&format!("sed -i 's/old{i}/new{i}/' core.py"))).collect()
}

/// One success of many steps that it takes alone, and a failure.
fn long() -> String {
    let words: Vec<String> = (0..120).map(|i| format!("s{i}.a")).collect();
    group(&[("a", won(), walk(&words.join(" "))), ("b", lost(), walk("z.b"))])
}

/// A code, an input with options that raises it, and one that does not.
type Case = (&'static str, (String, &'static [&'static str]), (String, &'static [&'static str]));

fn cases() -> Vec<Case> {
    let worked = || (WORKED.to_owned(), &[][..]);
    let logged_reward = |a: f64, b: f64| {
        two(json!({"outcome": "failure", "reward": a}), json!({"outcome": "failure", "reward": b}))
    };
    let rewarded = |reward: f64| {
        let mut steps = walk("s.x u.y");
        steps[0]["step_reward"] = json!(reward);
        steps[1]["step_reward"] = json!(0.0);
        group(&[("a", won(), walk("s.x")), ("b", lost(), steps)])
    };
    let graded = |reward: f64| two(json!({"reward": 1.0}), json!({"reward": reward}));
    let outcome = |word: &str| two(won(), json!({"outcome": word}));
    let keyless = {
        let mut steps = walk("s.x u.y");
        steps[1] = json!({"action": "y"});
        group(&[("a", won(), walk("s.x")), ("b", lost(), steps)])
    };
    let one_place = group(&[
        ("a", won(), walk("s.a s.b s.a s.b s.c")),
        ("b", lost(), walk("s.a s.b s.a s.b s.d")),
    ]);
    let tests = |command: &str| {
        group(&[("a", won(), vec![bash(command), bash("ls")]), ("b", lost(), vec![bash("ls")])])
    };
    let edited = group(&[("a", won(), edits(0)), ("b", lost(), edits(20))]);
    vec![
        ("group-of-one", (group(&[("a", won(), walk("s.x"))]), &[]), worked()),
        ("uniform-outcome", (two(won(), won()), &[]), worked()),
        ("graded", (graded(0.4), &[]), (graded(0.0), &[])),
        ("state-keys-missing", (keyless.clone(), &["--abstraction", "logged"]), worked()),
        (
            "pages-missing",
            (two(won(), lost()), &["--abstraction", "page"]),
            (
                group(&[("a", at(&won()), paged()), ("b", at(&lost()), paged())]),
                &["--abstraction", "page"],
            ),
        ),
        ("state-keys-unused", (WORKED.to_owned(), &["--abstraction", "history"]), worked()),
        ("one-state", (one_place.clone(), &[]), worked()),
        ("shaped-uniform", (logged_reward(0.1, 0.2), &[]), (logged_reward(0.1, 0.1), &[])),
        ("near-zero-variance", (logged_reward(0.9, 0.9001), &[]), (logged_reward(0.2, 0.9), &[])),
        ("repeat-weight", (one_place.clone(), &[]), worked()),
        ("repeat-note", (one_place, &["--n-prior", "0"]), worked()),
        ("truncated", (outcome("truncated"), &[]), worked()),
        ("errors", (outcome("error"), &[]), worked()),
        ("unscored", (two(won(), json!({})), &[]), worked()),
        ("empty", (group(&[("a", won(), vec![]), ("b", lost(), walk("s.x"))]), &[]), worked()),
        (
            "mixed-harness",
            (
                two(
                    json!({"outcome": "success", "harness": "one"}),
                    json!({"outcome": "failure", "harness": "two"}),
                ),
                &[],
            ),
            (
                two(
                    json!({"outcome": "success", "harness": "one"}),
                    json!({"outcome": "failure", "harness": "one"}),
                ),
                &[],
            ),
        ),
        ("step-rewards-missing", (rewarded(0.1), &[]), (rewarded(0.1), &["--step-reward", "none"])),
        (
            "collisions",
            (edited.clone(), &["--abstraction", "swe", "--knob", "edit-hash=1"]),
            (edited, &["--abstraction", "swe", "--knob", "edit-hash=16"]),
        ),
        ("masked-tests", (tests("pytest -q tests | cat"), &[]), (tests("pytest -q tests"), &[])),
        ("shaping-outweighs-outcome", (rewarded(0.9), &[]), (rewarded(0.1), &[])),
        ("magnitude", (rewarded(50.0), &[]), (rewarded(5.0), &[])),
        ("prior-discount-flips", (long(), &[]), (long(), &["--gamma", "1"])),
    ]
}

fn codes(input: &str, options: &[&str]) -> BTreeSet<String> {
    let bench = Bench::new(input);
    let mut line = vec!["report", "input.json", "--format", "json"];
    line.extend(options);
    let found = bench.json(&line);
    let warnings = found["rows"][0]["warnings"].as_array().unwrap();
    for warning in warnings {
        let help = warning["help"].as_str().unwrap();
        assert!(help.len() > 20, "{warning} says what to do");
    }
    warnings.iter().map(|w| w["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_warning_is_raised_where_it_should_be_and_nowhere_else() {
    for (code, (with, with_options), (without, without_options)) in cases() {
        let raised = codes(&with, with_options);
        assert!(raised.contains(code), "{code} is not raised: {raised:?}");
        let quiet = codes(&without, without_options);
        assert!(!quiet.contains(code), "{code} is raised: {quiet:?}");
    }
}

/// Codes between quotes in a source, told by the words before them.
fn in_source(file: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('"') {
        let before = text[..at].trim_end();
        let adds =
            ["add(", "code:", "if matters {", "} else {"].iter().any(|w| before.ends_with(w));
        let word: String = text[at + 1..].chars().take_while(|c| *c != '"').collect();
        let is_code = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let alone = [
            "truncated",
            "errors",
            "unscored",
            "empty",
            "graded",
            "magnitude",
            "collisions",
            "skipped",
            "coerced",
            "duplicate",
        ];
        if adds && is_code && (word.contains('-') || alone.contains(&word.as_str())) {
            found.insert(word);
        }
    }
    found
}

#[test]
fn every_code_of_the_source_is_tried_and_explained() {
    let of_groups = in_source("src/analysis/warnings.rs");
    let tried: BTreeSet<String> = cases().into_iter().map(|(code, ..)| code.to_owned()).collect();
    assert_eq!(of_groups, tried);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/warnings.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let explained: BTreeSet<String> = docs
        .lines()
        .filter_map(|l| l.strip_prefix("| `")?.split('`').next().map(ToOwned::to_owned))
        .collect();
    let mut all = of_groups;
    for file in ["src/load/warn.rs", "src/load/keys.rs"] {
        all.extend(in_source(file));
    }
    all.insert("inputs-changed".to_owned());
    let missing: Vec<&String> = all.difference(&explained).collect();
    assert!(missing.is_empty(), "docs/warnings.md lacks {missing:?}");
}
