//! Segments, retries and copies of one rollout: joined whichever format their rows have and whichever
//! files of a folder they stand in; what is missing or contradicts itself is said.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::fs;

use credscope::load::{LoadOptions, Loaded};
use load_common::{ids, load_text, load_with};

fn options() -> LoadOptions {
    LoadOptions::default()
}

/// A row with these fields before its conversation of one call.
fn row(fields: &str, command: &str) -> String {
    format!(
        r#"{{{fields},"messages":[{{"role":"user","content":"do {command}"}},{{"role":"assistant","content":"t","tool_calls":[{{"id":"c","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"{command}\"}}"}}}}]}},{{"role":"tool","tool_call_id":"c","content":"ok"}}]}}"#
    ) + "\n"
}

/// A native row with these fields.
fn native(fields: &str, command: &str) -> String {
    format!(
        r#"{{"task":"p",{fields},"steps":[{{"tool":"bash","args":{{"command":"{command}"}}}}]}}"#
    ) + "\n"
}

/// Loads a folder of these files.
fn folder(files: &[(&str, &str)]) -> Loaded {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    load_with(&[dir.path().to_owned()], &options()).unwrap()
}

#[test]
fn segments_are_joined_whichever_reader_claims_the_row() {
    for (names, place) in [
        (r#""instance_id":"p","traj_id":"r0","resolved":true"#, "segment_index"),
        (r#""instance_id":"p","traj_id":"r0","resolved":true"#, "segment_id"),
        (r#""prompt_id":"p","rollout_id":"r0","reward":1.0"#, "segment_index"),
        (r#""task_id":"p","trajectory_id":"r0","reward":1.0"#, "segment_index"),
        (r#""group_id":"p","trajectory_id":"r0","reward":1.0"#, "segment_index"),
        (r#""instance_id":"p","rollout_id":"r0","reward":1.0"#, "segment_id"),
    ] {
        let text = [
            row(&format!(r#"{names},"{place}":1"#), "second"),
            row(&format!(r#"{names},"{place}":0"#), "first"),
        ]
        .concat();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        fs::write(&path, text).unwrap();
        let loaded = load_with(&[path], &options()).unwrap();
        let [group] = &loaded.corpus.groups[..] else { panic!("one group of {names}") };
        assert_eq!((ids(group), group.key.task.as_str()), (vec!["r0"], "p"), "{names} {place}");
        assert_eq!(
            (group.rollouts[0].steps.len(), &group.rollouts[0].segment_starts[..]),
            (2, &[1][..])
        );
        assert_eq!(loaded.report.totals.joined_segments, 1);
        let texts = loaded.sources.rollout_text(group, 0).unwrap();
        assert!(format!("{:?}", texts[0].args).contains("first"), "{texts:?}");
    }
}

#[test]
fn a_place_that_is_no_number_is_noted() {
    let text = row(r#""instance_id":"p","traj_id":"r0","resolved":true,"segment_id":"tail""#, "x");
    let loaded = load_text("rows.jsonl", &text, &options()).unwrap();
    assert_eq!(loaded.report.notes[0].field, "segment_id");
}

#[test]
fn segments_retries_and_copies_meet_across_the_files_of_a_folder() {
    let segments = folder(&[
        (
            "a.jsonl",
            &[
                native(r#""id":"r0","segment_index":1,"reward":1"#, "b"),
                native(r#""id":"r1","reward":0"#, "a"),
            ]
            .concat(),
        ),
        ("b.jsonl", &native(r#""id":"r0","segment_index":0,"reward":1"#, "a")),
    ]);
    assert_eq!(ids(&segments.corpus.groups[0]), ["r0", "r1"]);
    assert_eq!(segments.corpus.groups[0].rollouts[0].steps.len(), 2);
    let retries = folder(&[
        (
            "part-0.jsonl",
            &[
                native(r#""id":"r0","reward":0,"attempt":0"#, "a"),
                native(r#""id":"r1","reward":0"#, "a"),
            ]
            .concat(),
        ),
        ("part-1.jsonl", &native(r#""id":"r0","reward":1,"attempt":1"#, "a")),
    ]);
    let group = &retries.corpus.groups[0];
    assert_eq!((ids(group), group.rollouts[0].attempt), (vec!["r0", "r1"], Some(1)));
    assert_eq!(retries.report.totals.retries, 1);
    let copy = native(r#""id":"r0","reward":1"#, "a");
    let copies = folder(&[
        ("part-0.jsonl", &[copy.clone(), native(r#""id":"r1","reward":0"#, "a")].concat()),
        ("part-1.jsonl", &copy),
    ]);
    assert_eq!(ids(&copies.corpus.groups[0]), ["r0", "r1"]);
    assert_eq!(copies.report.totals.duplicates, 1);
}

#[test]
fn two_runs_with_the_same_ids_stay_apart() {
    let first = native(r#""id":"r0","segment_index":0,"reward":1"#, "a");
    let second = native(r#""id":"r0","segment_index":1,"reward":1"#, "b");
    // Other folders are other runs, other training steps and policies other rollouts.
    let folders = folder(&[("x/a.jsonl", &first), ("y/a.jsonl", &second)]);
    assert_eq!(folders.report.totals.rollouts, 2);
    let step = |n: u32, i: u32| {
        native(&format!(r#""id":"r0","train_step":{n},"attempt":{i},"reward":1"#), "a")
    };
    let steps = folder(&[("1.jsonl", &step(1, 0)), ("2.jsonl", &step(2, 1))]);
    assert_eq!((steps.report.totals.rollouts, steps.report.totals.retries), (2, 0));
    // Files that contradict each other are two runs in one folder, also where some rollouts are equal.
    let run = |reward: u32| {
        [
            native(r#""id":"r0","reward":1"#, "a"),
            native(&format!(r#""id":"r1","reward":{reward}"#), "a"),
        ]
        .concat()
    };
    let runs = folder(&[("a.jsonl", &run(0)), ("b.jsonl", &run(1))]);
    assert_eq!(ids(&runs.corpus.groups[0]), ["r0", "r0#2", "r1", "r1#2"]);
    assert!(runs.report.warning("same-content").is_some());
}

#[test]
fn pooled_training_steps_do_not_share_retries() {
    let step = |n: u32, i: u32| {
        native(&format!(r#""id":"r0","train_step":{n},"attempt":{i},"reward":1"#), "a")
    };
    let text = [step(1, 0), step(2, 1)].concat();
    let mut pooled = options();
    pooled.pool.train_step = true;
    let loaded = load_text("rows.jsonl", &text, &pooled).unwrap();
    assert_eq!((loaded.report.totals.rollouts, loaded.report.totals.retries), (2, 0));
}

#[test]
fn a_missing_segment_is_named_and_contradicting_rewards_are_noted() {
    let part = |id: &str, place: u32, reward: &str| {
        native(&format!(r#""id":"{id}","segment_index":{place},"reward":{reward}"#), "a")
    };
    let torn =
        [&part("r", 0, "1.0"), "{\"task\":\"p\",\"id\":\"r\",\"segm\n", &part("r", 2, "1.0")]
            .concat();
    let loaded = load_text("torn.jsonl", &torn, &options()).unwrap();
    let rollout = &loaded.corpus.groups[0].rollouts[0];
    assert_eq!((rollout.missing_segments.as_str(), rollout.steps.len()), ("segment 1", 2));
    let gap = loaded.report.warning("segment-gap").unwrap();
    assert!(gap.text.contains("`r`"));
    assert!(gap.hint.as_deref().unwrap().starts_with("`credscope report` names the segments"));
    assert!(loaded.report.notes.is_empty());
    // The whole one beside it tells that segments count from 0; a reward that is null says nothing.
    let gaps = [
        part("r", 1, "1.0"),
        part("q", 0, "0.0"),
        part("q", 1, "1.0"),
        part("s", 0, "null"),
        part("s", 1, "1.0"),
    ];
    let loaded = load_text("gap.jsonl", &gaps.concat(), &options()).unwrap();
    let missing: Vec<_> =
        loaded.corpus.groups[0].rollouts.iter().map(|r| r.missing_segments.as_str()).collect();
    assert_eq!(missing, ["", "segment 0", ""]);
    let notes: Vec<_> =
        loaded.report.notes.iter().filter(|n| n.reason.contains("segments")).collect();
    let [note] = &notes[..] else { panic!("one note: {notes:?}") };
    assert_eq!((note.rollout.as_deref(), note.field.as_str()), (Some("q"), "reward"));
    assert_eq!(note.reason, "its segments say 0 and 1; the last one counts");
    // Numbers from 1 are as good.
    let from_one = [part("r", 1, "1.0"), part("r", 2, "1.0")].concat();
    let loaded = load_text("one.jsonl", &from_one, &options()).unwrap();
    assert!(loaded.report.warning("segment-gap").is_none());
}

#[test]
fn an_id_as_a_number_and_as_text_is_one_id() {
    let text = [
        native(r#""id":"2","reward":1"#, "a"),
        native(r#""id":2,"reward":1"#, "a"),
        native(r#""id":3,"reward":1"#, "a"),
        native(r#""id":"3","reward":0"#, "a"),
    ];
    let loaded = load_text("rows.jsonl", &text.concat(), &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["2", "3", "3#2"]);
    assert_eq!(loaded.report.totals.duplicates, 1);
    assert!(loaded.report.warning("id-suffix").unwrap().text.contains("`3#2`"));
    // The same in a document of rollouts.
    let rows: Vec<&str> = text.iter().map(|row| row.trim_end()).collect();
    let document =
        format!("{{\"schema\":\"credscope/1\",\"task\":\"p\",\"rollouts\":[{}]}}", rows.join(","));
    let loaded = load_text("group.json", &document, &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["2", "3", "3#2"]);
}
