//! The reconstruction of the published case: its figures by the program, by an independent script,
//! and what makes it look like real rollouts.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

type Row = BTreeMap<String, String>;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn rollouts() -> PathBuf {
    here("sample-data/datalad_final_05ea/rollouts.jsonl")
}

/// What the program prints about the sample as CSV, every setting at its default.
fn credscope(arguments: &[&str]) -> Vec<Row> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_credscope"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CREDSCOPE_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", here("tests/no-config"));
    let output = command
        .args(arguments)
        .arg(rollouts())
        .args(["--format", "csv", "--no-stamp"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    reader.deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// A share of all steps of the row, in whole percent.
fn percent(row: &Row, column: &str) -> f64 {
    (100.0 * number(row, column) / number(row, "steps")).round()
}

/// What a script prints; `None` (said loudly) without Python.
fn python(script: &str, arguments: &[&str]) -> Option<String> {
    match Command::new("python3").arg("-B").arg(here(script)).args(arguments).output() {
        Err(error) => {
            eprintln!("SKIPPED: python3 is missing ({error})");
            None
        }
        Ok(output) => {
            let text = String::from_utf8(output.stdout).unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{text}{error}");
            Some(text)
        }
    }
}

#[test]
fn the_figures_are_the_published_ones() {
    let rows = credscope(&["quadrants"]);
    let [success, failure] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((success["key"].as_str(), failure["key"].as_str()), ("success", "failure"));
    assert_eq!(percent(failure, "both_neg"), 88.0);
    assert_eq!((number(failure, "rescued"), percent(failure, "rescued")), (4.0, 3.0));
    assert_eq!(percent(success, "penalized"), 15.0);
    assert!((115.0..=160.0).contains(&number(failure, "steps")));
}

#[test]
fn an_independent_script_says_the_same_of_every_step() {
    let file = rollouts();
    let arguments = ["--steps", file.to_str().unwrap()];
    let Some(text) = python("tests/reference/datalad_quadrants.py", &arguments) else { return };
    let rows = credscope(&["steps"]);
    assert_eq!(text.lines().count(), rows.len());
    let ours: BTreeMap<_, _> =
        rows.iter().map(|r| ((r["rollout"].as_str(), r["step"].as_str()), r)).collect();
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let row = ours[&(words[0], words[1])];
        for (value, column) in [(words[2], "grpo-step"), (words[3], "rtmc")] {
            let theirs: f64 = value.parse().unwrap();
            assert!((theirs - number(row, column)).abs() < 1e-12, "{line}: {row:?}");
        }
        let bucket = row["quadrant"].as_str();
        let bucket = if bucket.starts_with("inside") { "inside" } else { bucket };
        assert_eq!(words[4], bucket, "{line}");
    }
}

#[test]
fn the_rollouts_are_of_many_kinds() {
    let rollouts_rows = credscope(&["quadrants", "--by", "rollout"]);
    assert_eq!(rollouts_rows.len(), 8);
    let categories = credscope(&["quadrants", "--by", "category"]);
    assert!(categories.len() >= 6, "{categories:?}");
    let all: f64 = categories.iter().map(|r| number(r, "steps")).sum();
    for row in &categories {
        assert!(number(row, "steps") <= 0.4 * all, "{row:?}");
    }
    let steps = credscope(&["steps"]);
    let mut lengths: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in &steps {
        *lengths.entry((&row["rollout"], &row["outcome"])).or_default() += 1;
    }
    let failures: Vec<_> = lengths.iter().filter(|((_, o), _)| *o == "failure").collect();
    assert_eq!((lengths.len(), failures.len()), (8, 4));
    assert!(failures.iter().all(|(_, n)| (20..=50).contains(*n)), "{failures:?}");
}

#[test]
fn every_record_says_what_it_is() {
    let text = std::fs::read_to_string(rollouts()).unwrap();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["ds"]["instance_id"], "datalad_final_05ea");
        let note = record["ds"]["note"].as_str().unwrap();
        assert!(note.contains("reconstruction") && note.contains("not the authors' rollouts"));
        let steps = record["trajectory_steps"].as_array().unwrap();
        assert!(steps.iter().all(|s| !s["observation"].as_str().unwrap().trim().is_empty()));
        let actions: Vec<_> = steps.iter().map(|s| s["action"].to_string()).collect();
        assert!(seen.insert(actions), "two rollouts take the same steps");
    }
    assert_eq!(seen.len(), 8);
}

#[test]
fn making_the_case_again_gives_the_same_file() {
    python("sample-data/datalad_final_05ea/make.py", &["--check"]);
}
