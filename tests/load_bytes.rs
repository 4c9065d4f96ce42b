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

/// 96 bytes of facts, 8 for the way to the text, 4 for the turn, 4 for a path; on top what is not in every
/// step: second effects, edits (65 bytes), labels. 64 rollouts of 200 steps stay below 140 a step.
#[test]
fn a_step_takes_few_bytes() {
    let group = group(&generate::coding(64, 200));
    assert_eq!(group.len(), 64 * 200);
    let each = group.bytes() / group.len();
    println!("{each} bytes a step");
    assert!((108..140).contains(&each), "{each} bytes a step");
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
