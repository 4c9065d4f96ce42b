//! Real shell commands, classified by the library and by reading them.
//!
//! `tests/labels/commands.tsv` holds hashes and labels; `tests/reference/draw_commands.py` finds the
//! commands in the corpus again.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use credscope::facts::Interpreter;
use credscope::profile::Profiles;
use credscope::rollout::Category;
use credscope::rollout::raw::{RawArgs, RawRollout, RawStep};
use serde_json::json;

/// One command of the corpus.
struct Drawn {
    key: String,
    profile: String,
    command: String,
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The label file as key and category.
fn labels() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(here("labels/commands.tsv")).unwrap();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .map(|(key, label)| (key.to_owned(), label.to_owned()))
        .collect()
}

/// Every command of the corpus, found by the script; `None` (said loudly) when something is missing.
fn drawn() -> Option<Vec<Drawn>> {
    let corpus = common::corpus()?;
    let script = here("reference/draw_commands.py");
    let output = match Command::new("python3").arg("-B").arg(script).arg(corpus).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: python3 is missing ({error})");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| {
        let [key, profile, command] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        Drawn {
            key: key.to_owned(),
            profile: profile.to_owned(),
            command: serde_json::from_str(command).unwrap(),
        }
    });
    Some(rows.collect())
}

/// What the library says of a command, alone in a rollout of its framework.
fn classify(interpreter: &mut Interpreter, profiles: &Profiles, drawn: &Drawn) -> Category {
    let profile = profiles.get(&drawn.profile).unwrap();
    let (tool, argument) = match drawn.profile.as_str() {
        "claude-code" => ("Bash", "command"),
        "hermes" => ("terminal", "command"),
        "openhands" => ("execute_bash", "command"),
        "terminus" => ("bash_command", "keystrokes"),
        _ => ("bash", "command"),
    };
    let args = json!({ argument: drawn.command }).as_object().unwrap().clone();
    let step =
        RawStep { tool: Some(tool.to_owned()), args: RawArgs::Object(args), ..RawStep::default() };
    let raw = RawRollout { steps: vec![step], ..RawRollout::default() };
    interpreter.read_as(profile, &raw).table.steps[0].action.category
}

fn agrees(label: &str, category: Category) -> bool {
    match label {
        "write" => matches!(category, Category::Create | Category::Modify),
        _ => label == category.name(),
    }
}

#[test]
fn commands_are_classified_as_labelled() {
    let Some(commands) = drawn() else { return };
    let labels = labels();
    assert!(labels.len() >= 300, "{} labels", labels.len());
    let profiles = Arc::new(Profiles::builtin());
    let mut interpreter = Interpreter::new(Arc::clone(&profiles));
    let mut confusion: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut found, mut right) = (0, 0);
    let mut wrong = Vec::new();
    for drawn in &commands {
        let category = classify(&mut interpreter, &profiles, drawn);
        let Some(label) = labels.get(&drawn.key) else {
            // The sample holds every command that runs tests.
            if category == Category::Test {
                wrong.push(format!("not labelled, read as test: {}", drawn.key));
            }
            continue;
        };
        found += 1;
        *confusion.entry((label, category.name())).or_default() += 1;
        if agrees(label, category) {
            right += 1;
        } else {
            wrong.push(format!("{} is {label}, read as {}", drawn.key, category.name()));
        }
    }
    println!("label     read as   commands");
    for ((label, read), n) in &confusion {
        println!("{label:<9} {read:<9} {n:>8}");
    }
    println!("{right} of {found} right; {}", wrong.join("; "));
    assert_eq!(found, labels.len(), "labelled commands that the corpus lacks");
    assert!(right * 100 >= found * 97, "{right} of {found} right: {wrong:#?}");
    let tests = |line: &&String| line.contains("test");
    let on_tests: Vec<_> = wrong.iter().filter(tests).collect();
    assert!(on_tests.is_empty(), "{on_tests:#?}");
}
