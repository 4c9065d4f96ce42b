//! What a loaded group holds of a step: its facts, not its text, and nothing that the file does not say.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "common/generate.rs"]
#[allow(dead_code)]
mod generate;

use std::sync::Arc;

use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;
use credscope::rollout::Group;

fn group(text: &str) -> Arc<Group> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, text).unwrap();
    let loaded = load(&[path], &LoadOptions::default(), &Arc::new(Profiles::builtin())).unwrap();
    Arc::clone(&loaded.corpus.groups[0])
}

fn each(group: &Group) -> usize {
    let each = group.bytes() / group.len();
    println!("{each} bytes a step");
    each
}

/// 4 bytes for which action it was, 8 for what was seen, 4 for the turn. What actions are, with their
/// edits (65 bytes), paths and labels, is there once: 64 rollouts of 200 steps share some thousands.
#[test]
fn a_step_takes_few_bytes() {
    let group = group(&generate::coding(64, 200));
    assert_eq!(group.len(), 64 * 200);
    let each = each(&group);
    assert!((16..40).contains(&each), "{each} bytes a step");
}

/// Many rollouts of one task repeat each other all the more.
#[test]
fn steps_of_a_giant_group_take_fewer() {
    let group = group(&generate::coding(600, 40));
    assert_eq!(group.len(), 600 * 40);
    let each = each(&group);
    assert!((16..32).contains(&each), "{each} bytes a step");
}

/// Where no step is like another one, each has an action of its own: 32 bytes, for three in five of them 40
/// of facts, for one in five an edit, or a path of 20 letters with 8 bytes around it.
#[test]
fn steps_that_nothing_repeats_take_their_actions_too() {
    let rollout = |i: usize| {
        let step = |t: usize| {
            let n = 100_000 + 40 * i + t;
            let (tool, args) = match t % 5 {
                0 => ("execute_bash", format!(r#""command":"grep -rn name_{n} src/""#)),
                1 => ("execute_bash", format!(r#""command":"sed -n {n},{}p src/a.py""#, n + 40)),
                2 => ("execute_bash", format!(r#""command":"python -m pytest tests/test_{n}.py""#)),
                3 => (
                    "str_replace_editor",
                    format!(
                        r#""command":"str_replace","path":"src/a.py","old_str":"{n}","new_str":"x{n}""#
                    ),
                ),
                _ => ("execute_bash", format!(r#""command":"cat src/a.py | head -{n}""#)),
            };
            format!(
                r#"{{"tool":"{tool}","args":{{{args}}},"exit_code":0,"observation":"saw {n}"}}"#
            )
        };
        let steps: Vec<String> = (0..40).map(step).collect();
        format!(r#"{{"id":"r{i}","outcome":"success","steps":[{}]}}"#, steps.join(","))
    };
    let rollouts: Vec<String> = (0..100).map(rollout).collect();
    let text =
        format!(r#"{{"schema":"credscope/1","task":"t","rollouts":[{}]}}"#, rollouts.join(","));
    let group = group(&text);
    assert_eq!(group.len(), 4000);
    let each = each(&group);
    assert!((48..110).contains(&each), "{each} bytes a step");
}

/// Columns of what files may say about a step are empty where no step has it, and whole where one has.
#[test]
fn columns_that_nobody_fills_are_not_there() {
    let bare = group(&generate::coding(2, 6));
    let steps = &bare.steps;
    assert!(steps.tokens.is_empty() && steps.state.is_empty() && steps.action.is_empty());
    assert!(steps.step_reward.is_empty() && steps.reward_lost.is_empty());
    assert!(steps.text.is_empty());
    assert_eq!(steps.turn.len(), 12);

    let some = group(
        r#"{"schema":"credscope/1","task":"t","rollouts":[
            {"id":"a","outcome":"success","steps":[{"state":"s","action":"x"},{"state":"s","action":"y"}]},
            {"id":"b","outcome":"failure","steps":[{"action":"x","step_reward":0.5},{"action":"y"}]}]}"#,
    );
    let text = |sym| some.symbols.text(sym);
    let states: Vec<&str> = some.steps.state.iter().map(|&s| text(s)).collect();
    assert_eq!(states, ["s", "s", "", ""]);
    assert_eq!(some.steps.step_reward, [None, None, Some(0.5), None]);
    assert!(some.steps.reward_lost.is_empty() && some.steps.tokens.is_empty());
}

/// An edit that several rollouts made is there once.
#[test]
fn an_edit_is_kept_once() {
    let call = r#"{"tool":"str_replace_editor","args":{"command":"str_replace","path":"a.py","old_str":"a","new_str":"b"},"observation":"ok"}"#;
    let rollout =
        |id: &str| format!(r#"{{"id":"{id}","outcome":"success","steps":[{call},{call}]}}"#);
    let rollouts = ["a", "b", "c"].map(rollout).join(",");
    let group = group(&format!(r#"{{"schema":"credscope/1","task":"t","rollouts":[{rollouts}]}}"#));
    let facts = &group.steps.facts;
    assert_eq!((facts.steps.len(), facts.edits.len()), (6, 1));
    assert!(facts.steps.iter().all(|s| s.action.edit == facts.steps.action(0).unwrap().edit));
    assert!(facts.steps.iter().all(|s| facts.effects_of(&s).len() == 1));
}
