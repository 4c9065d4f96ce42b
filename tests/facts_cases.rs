//! The case inputs, read into facts. Expectations are written by hand from EXPECTED.md.
//!
//! The cases stand outside the repository; `CREDSCOPE_CASES` names their folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::sync::Arc;

use credscope::facts::Interpreter;
use credscope::profile::Profiles;
use credscope::rollout::RolloutFacts;
use credscope::rollout::facts::{Category, Extent, Fact, Flags, StepResult};
use credscope::rollout::raw::{Ending, RawArgs, RawKind, RawRollout, RawStep};
use serde_json::Value;

/// A file of a case; `None` (said on stderr) when the cases are not there.
fn case_file(name: &str) -> Option<String> {
    let root = std::env::var_os("CREDSCOPE_CASES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/cases"),
        PathBuf::from,
    );
    let path = root.join(name);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("SKIPPED: no case file {} (set CREDSCOPE_CASES)", path.display());
    }
    text
}

fn raw_step(step: &Value) -> RawStep {
    let text = |key: &str| step[key].as_str().map(str::to_owned);
    let kind = if step["tool"].is_null() { RawKind::Text } else { RawKind::Call };
    RawStep {
        kind,
        thought: text("text").unwrap_or_default(),
        tool: text("tool"),
        args: RawArgs::Object(step["args"].as_object().cloned().unwrap_or_default()),
        observation: text("observation"),
        exit_code: step["exit_code"].as_i64(),
        ..RawStep::default()
    }
}

/// The rollouts of a native group document, as facts.
fn read_case(name: &str) -> Option<Vec<RolloutFacts>> {
    let document: Value = serde_json::from_str(&case_file(name)?).unwrap();
    let mut interpreter = Interpreter::new(Arc::new(Profiles::builtin()));
    let rollouts = document["rollouts"].as_array().unwrap().iter().map(|rollout| {
        let limit = rollout["stop"].as_str().map(|s| Ending::Limit(s.to_owned()));
        let raw = RawRollout {
            ending: limit.unwrap_or_default(),
            steps: rollout["steps"].as_array().unwrap().iter().map(raw_step).collect(),
            ..RawRollout::default()
        };
        interpreter.read("native", &raw)
    });
    Some(rollouts.collect())
}

fn targets(facts: &RolloutFacts, fact: &Fact) -> Vec<String> {
    facts.table.targets_of(fact).iter().map(|&s| facts.symbols.text(s).to_owned()).collect()
}

/// `category op target+target`.
fn shape(facts: &RolloutFacts, fact: &Fact) -> String {
    let names = targets(facts, fact).join("+");
    format!("{} {} {names}", fact.category.name(), facts.symbols.text(fact.op))
}

fn effect_shapes(facts: &RolloutFacts, step: usize) -> Vec<String> {
    let step = &facts.table.steps[step];
    facts.table.effects_of(step).iter().map(|f| shape(facts, f)).collect()
}

fn full_hash(facts: &RolloutFacts, fact: &Fact) -> [u8; 32] {
    facts.table.edit(fact.edit.unwrap()).unwrap().old_new
}

#[test]
fn case_10_text_only_replies_of_a_truncated_rollout_are_invalid() {
    let Some(rollouts) = read_case("10-truncated-tail/input.json") else {
        return;
    };
    let categories: Vec<Category> =
        rollouts[2].table.steps.iter().map(|s| s.action.category).collect();
    assert_eq!(categories[0], Category::View);
    assert_eq!(categories[1..], [Category::Invalid; 6]);
}

#[test]
fn case_14_repeated_views_are_one_fact() {
    let Some(rollouts) = read_case("14-loop-revisits-state/input.json") else {
        return;
    };
    let r0 = &rollouts[0];
    for step in 0..6 {
        assert_eq!(effect_shapes(r0, step), ["view view core.py"]);
        assert_eq!(r0.table.steps[step].action.extent, Extent::Full);
        assert_eq!(r0.table.steps[step].action.result, StepResult::Ok);
    }
    assert_eq!(r0.table.steps[6].action.category, Category::Finish);
    assert!(effect_shapes(r0, 6).is_empty(), "finish changes nothing");
    let r1 = &rollouts[1];
    assert_eq!(shape(r1, &r1.table.steps[1].action), "modify replace core.py");
    assert_eq!(shape(r1, &r1.table.steps[2].action), "test pytest tests/test_core.py");
    assert_eq!(r1.table.steps[2].action.result, StepResult::Ok);
}

#[test]
fn case_15_noise_does_not_tell_steps_apart() {
    let Some(rollouts) = read_case("15-pid-and-timestamp-noise/input.json") else {
        return;
    };
    let (r0, r1) = (&rollouts[0], &rollouts[1]);
    for step in 0..3 {
        let (a, b) = (&r0.table.steps[step], &r1.table.steps[step]);
        assert_eq!(shape(r0, &a.action), shape(r1, &b.action));
        assert_eq!(a.action.result, b.action.result);
        assert_ne!(a.seen, b.seen);
        assert_eq!(a.seen_masked, b.seen_masked);
    }
    assert_eq!(shape(r0, &r0.table.steps[0].action), "execute python ");
    assert_eq!(r0.table.steps[2].action.result, StepResult::Error);
    assert_eq!(r1.table.steps[3].action.category, Category::Think);
}

#[test]
fn case_16_view_ranges() {
    let Some(rollouts) = read_case("16-view-range-minus-one/input.json") else {
        return;
    };
    let facts = &rollouts[0];
    let expected = [
        (Extent::Full, StepResult::Ok),
        (Extent::Full, StepResult::Ok),
        (Extent::Lines(1, 120), StepResult::Ok),
        (Extent::Lines(100, 299), StepResult::Ok),
        (Extent::From(250), StepResult::Ok),
        (Extent::None, StepResult::Error),
        (Extent::None, StepResult::Error),
        (Extent::Lines(3, 40), StepResult::Ok),
        (Extent::Lines(5, 60), StepResult::Ok),
    ];
    for (step, (extent, result)) in facts.table.steps.iter().zip(expected) {
        assert_eq!(shape(facts, &step.action), "view view a.py");
        assert_eq!(
            (step.action.result, step.action.flags.has(Flags::INVALID)),
            (result, result == StepResult::Error)
        );
        if result == StepResult::Ok {
            assert_eq!(step.action.extent, extent);
        }
    }
}

#[test]
fn case_17_edits_that_change_nothing() {
    let Some(rollouts) = read_case("17-identical-and-failed-edits/input.json") else {
        return;
    };
    let facts = &rollouts[0];
    let actions: Vec<&Fact> = facts.table.steps.iter().map(|s| &s.action).collect();
    for action in &actions {
        assert_eq!(shape(facts, action), "modify replace m.py");
    }
    for action in &actions[..3] {
        assert_eq!(action.result, StepResult::Error);
        assert!(action.flags.has(Flags::INVALID));
    }
    assert!(actions[0].flags.has(Flags::NO_OP));
    // blake3(5 as u64-LE, "x = 1", "x = 2"): the same with CRLF.
    let expected = *blake3::hash(b"\x05\0\0\0\0\0\0\0x = 1x = 2").as_bytes();
    assert_eq!(full_hash(facts, actions[3]), expected);
    assert_eq!(full_hash(facts, actions[4]), expected);
    assert_eq!(actions[3].result, StepResult::Ok);
    assert_eq!(actions[5].result, StepResult::Ok);
    assert!(actions[5].flags.has(Flags::SUSPICIOUS));
}

#[test]
fn case_18_tests_behind_wrappers_and_masks() {
    let Some(rollouts) = read_case("18-cd-and-pytest-masked-exit/input.json") else {
        return;
    };
    let facts = &rollouts[0];
    let expected = [
        ("tests/test_io.py", StepResult::Ok, false),
        ("tests/test_io.py", StepResult::Error, true),
        ("tests", StepResult::Error, true),
        ("", StepResult::Error, true),
        ("", StepResult::Unknown, true),
        ("tests/test_io.py", StepResult::Ok, false),
        ("tests/test_io.py", StepResult::Ok, false),
        ("tests/test_io.py", StepResult::Error, false),
    ];
    for (n, (step, (target, result, masked))) in facts.table.steps.iter().zip(expected).enumerate()
    {
        assert_eq!(shape(facts, &step.action), format!("test pytest {target}"), "row {n}");
        assert_eq!(step.action.result, result, "row {n}");
        assert_eq!(step.action.flags.has(Flags::MASKED), masked, "row {n}");
        assert_eq!(facts.symbols.text(step.action.runner), "pytest");
    }
    assert!(facts.table.steps[3].action.flags.has(Flags::NOTHING_RAN));
}

#[test]
fn case_19_shell_edits() {
    let Some(rollouts) = read_case("19-shell-edits-sed-heredoc/input.json") else {
        return;
    };
    let facts = &rollouts[0];
    let expected = [
        "modify replace src/core.py",
        "view sed src/core.py",
        "modify replace a.py+b.py",
        "create write tests/test_new.py",
        "modify insert requirements.txt",
        "view cat src/core.py",
        "view cat src/core.py",
        "search grep .",
        "execute python ",
        "modify replace ",
        "modify insert NOTES.md",
        "execute ls ",
        "execute echo ",
        "modify replace src/core.py",
    ];
    let actions: Vec<&Fact> = facts.table.steps.iter().map(|s| &s.action).collect();
    for (action, expected) in actions.iter().zip(expected) {
        assert_eq!(shape(facts, action), expected);
    }
    assert_eq!(actions[1].extent, Extent::Lines(1, 50));
    assert_eq!(actions[5].extent, Extent::Full);
    assert_eq!(actions[6].extent, Extent::Lines(1, 20));
    assert!(actions[8].flags.has(Flags::MAY_WRITE));
    assert_ne!(full_hash(facts, actions[0]), full_hash(facts, actions[2]));
    // The body of the heredoc, its last newline dropped, as a write: old is empty.
    let body = b"import pytest\ndef test_a():\n    assert 1";
    let expected = *blake3::hash(&[&[0; 8][..], body].concat()).as_bytes();
    assert_eq!(full_hash(facts, actions[3]), expected);
}

#[test]
fn case_20_reverts() {
    let Some(rollouts) = read_case("20-git-checkout-revert/input.json") else {
        return;
    };
    let r0 = &rollouts[0];
    let revert = &r0.table.steps[1].action;
    assert_eq!(shape(r0, revert), "modify revert core.py");
    assert!(revert.flags.has(Flags::REVERT) && !revert.flags.has(Flags::NO_OP));
    assert_eq!(effect_shapes(r0, 1), ["modify revert core.py"]);
    let r2 = &rollouts[2];
    let stash = &r2.table.steps[1].action;
    assert_eq!(shape(r2, stash), "modify revert core.py");
    assert!(stash.flags.has(Flags::REVERT.with(Flags::STASH)));
    let pop = &r2.table.steps[3].action;
    assert_eq!(shape(r2, pop), "modify unstash core.py");
    assert!(pop.flags.has(Flags::UNSTASH) && !pop.flags.has(Flags::NO_OP));
    assert_eq!(r2.table.steps[2].action.result, StepResult::Error);
    assert_eq!(r2.table.steps[4].action.result, StepResult::Ok);
}

/// Facts of command lines in one rollout, all with exit code 0 and no output.
fn read_lines(lines: &[&str]) -> RolloutFacts {
    let steps = lines.iter().map(|line| {
        let args = serde_json::json!({ "command": line });
        RawStep {
            tool: Some("bash".to_owned()),
            args: RawArgs::Object(args.as_object().unwrap().clone()),
            observation: Some(String::new()),
            exit_code: Some(0),
            ..RawStep::default()
        }
    });
    let raw = RawRollout { steps: steps.collect(), ..RawRollout::default() };
    Interpreter::new(Arc::new(Profiles::builtin())).read("native", &raw)
}

#[test]
fn case_21_the_runner_table() {
    let Some(positive) = case_file("21-test-runner-table/positive.txt") else {
        return;
    };
    let Some(negative) = case_file("21-test-runner-table/negative.txt") else {
        return;
    };
    for (text, is_test, count) in [(positive, true, 32), (negative, false, 17)] {
        let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        assert_eq!(lines.len(), count);
        let facts = read_lines(&lines);
        for (line, step) in lines.iter().zip(&facts.table.steps) {
            assert_eq!(step.action.category == Category::Test, is_test, "{line}");
            if is_test {
                assert!(!facts.symbols.text(step.why).is_empty(), "{line}");
            }
        }
    }
    let facts = read_lines(&["pytest --collect-only -q", "pytest --version", "test -f setup.py"]);
    for step in &facts.table.steps {
        assert_eq!(step.action.category, Category::Execute);
    }
}

#[test]
fn case_22_empty_and_broken_arguments() {
    let Some(text) = case_file("22-empty-tool-arguments/input.jsonl") else {
        return;
    };
    let document: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let calls = document["messages"].as_array().unwrap().iter().filter_map(|m| {
        let function = &m["tool_calls"][0]["function"];
        function.is_object().then(|| function.clone())
    });
    let steps = calls.map(|function| {
        let args = match &function["arguments"] {
            Value::Object(map) => RawArgs::Object(map.clone()),
            Value::String(text) if !text.trim().is_empty() => match serde_json::from_str(text) {
                Ok(Value::Object(map)) => RawArgs::Object(map),
                _ => RawArgs::Unparsable(text.clone()),
            },
            _ => RawArgs::default(),
        };
        RawStep {
            tool: function["name"].as_str().map(str::to_owned),
            args,
            observation: Some("x".to_owned()),
            ..RawStep::default()
        }
    });
    let raw = RawRollout { steps: steps.collect(), ..RawRollout::default() };
    let facts = Interpreter::new(Arc::new(Profiles::builtin())).read("messages", &raw);
    let actions: Vec<&Fact> = facts.table.steps.iter().map(|s| &s.action).collect();
    assert_eq!(actions.len(), 10);
    assert_eq!(actions[0].category, Category::Finish);
    for list in &actions[1..4] {
        assert_eq!(shape(&facts, list), "search ls .");
    }
    for broken in &actions[4..6] {
        assert_eq!(broken.category, Category::Invalid);
        assert!(broken.flags.has(Flags::UNPARSABLE.with(Flags::INVALID)));
    }
    assert_eq!(shape(&facts, actions[6]), "search ls .");
    assert_eq!(actions[8].category, Category::Invalid);
    assert!(actions[8].flags.has(Flags::UNKNOWN_TOOL));
    for empty in [actions[7], actions[9]] {
        assert_eq!(empty.category, Category::Execute);
        assert!(empty.flags.has(Flags::EMPTY_COMMAND));
    }
}

/// The actions of real rollouts, as they stand in the pictures of the tree and the comparison.
#[test]
fn real_rollouts_of_r2e_gym() {
    let root = std::env::var_os("CREDSCOPE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"),
        PathBuf::from,
    );
    let path = root.join("derived/r2e_gym.astropy-12907.k8.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: no data file {} (set CREDSCOPE_DATA)", path.display());
        return;
    };
    let mut interpreter = Interpreter::new(Arc::new(Profiles::builtin()));
    let mut edits = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let document: Value = serde_json::from_str(line).unwrap();
        let steps = document["trajectory_steps"].as_array().unwrap().iter().map(|step| {
            let action = step["action"].as_str().unwrap();
            let name = action.split("<function=").nth(1).unwrap().split('>').next().unwrap();
            let args = action.split("<parameter=").skip(1).map(|p| {
                let (key, value) = p.split_once('>').unwrap();
                let value = value.split("</parameter>").next().unwrap().trim();
                (key.to_owned(), Value::String(value.to_owned()))
            });
            RawStep {
                tool: Some(name.to_owned()),
                args: RawArgs::Object(args.collect()),
                observation: step["observation"].as_str().map(str::to_owned),
                ..RawStep::default()
            }
        });
        let raw = RawRollout { steps: steps.collect(), ..RawRollout::default() };
        let facts = interpreter.read("r2e-gym", &raw);
        let actions: Vec<String> = facts
            .table
            .steps
            .iter()
            .map(|s| format!("{}:{}", shape(&facts, &s.action), s.action.result.name()))
            .collect();
        if n == 2 {
            let file = "astropy/modeling/separable.py";
            let test = "test pytest astropy/modeling/tests/test_separable.py:error";
            let install = "install pip :ok";
            assert_eq!(
                actions,
                [
                    "search grep .:ok",
                    &format!("view view {file}:ok"),
                    &format!("modify replace {file}:ok"),
                    test,
                    install,
                    test,
                    install,
                    test,
                    install,
                    test,
                    "finish  :ok",
                ]
            );
        }
        let edited = facts.table.steps.iter().find(|s| s.action.category == Category::Modify);
        let hash = full_hash(&facts, &edited.unwrap().action);
        edits.push(format!("{:02x}{:02x}", hash[0], hash[1]));
    }
    assert_eq!(edits, ["7fd1", "3859", "4a62", "b6de", "33a6", "2a3b", "33a6", "b627"]);
}
