//! The formats of trainers that no public file could be had of: small invented files, and what happens
//! to all of them when they are cut, mangled or written in other ways.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::path::{Path, PathBuf};

use credscope::ingest::{Context, Shape, detect, read_record};
use credscope::load::{LoadError, LoadOptions, Loaded};
use credscope::rollout::raw::RawArgs;
use credscope::rollout::{Group, Outcome};
use load_common::{ids, load_text, load_with, raw_steps, with_all_steps};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/trainers")
}

fn fixture(name: &str) -> Loaded {
    load_with(&[root().join(name)], &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// File, format, (size, groups of it), steps, scored, successes, skipped.
type Row = (&'static str, &'static str, &'static [(usize, usize)], usize, usize, usize, usize);

const TABLE: [Row; 14] = [
    ("verl/41.jsonl", "verl", &[(2, 2)], 8, 3, 1, 0),
    ("verl/42.jsonl", "verl", &[(2, 2)], 8, 3, 1, 0),
    ("verl_search/7.jsonl", "verl", &[(2, 1)], 3, 2, 1, 0),
    ("verl_agent/3.jsonl", "verl", &[(2, 1)], 5, 2, 1, 0),
    ("roll/rollout_dump_data.step_6.jsonl", "roll", &[(2, 1)], 6, 2, 1, 1),
    ("roll_rlvr/rollout_dump_data.step_5.jsonl", "roll", &[(1, 1), (2, 1)], 4, 3, 2, 0),
    ("rollouts/step_3/train/all/traces.jsonl", "verifiers-traces", &[(2, 1)], 4, 2, 1, 0),
    ("outputs/evals/library--lib-1b/0a0b0c0d/results.jsonl", "verifiers", &[(3, 1)], 6, 2, 1, 0),
    ("dumped_evals/global_step_8_evals/library.jsonl", "skyrl", &[(2, 1)], 3, 2, 1, 0),
    ("train_rollout_summaries.jsonl", "tinker", &[(2, 1)], 4, 2, 1, 0),
    ("sharegpt.jsonl", "sharegpt", &[(2, 1)], 4, 2, 1, 0),
    ("swe_gym.jsonl", "messages", &[(2, 1)], 4, 2, 1, 0),
    ("tau2.json", "tau2-bench", &[(3, 1)], 9, 2, 1, 1),
    ("tau2_run/simulations/5f00-0.json", "tau2-bench", &[(1, 1)], 3, 1, 1, 0),
];

#[test]
fn every_fixture_is_known_by_its_content() {
    for (name, format, sizes, steps, scored, successes, skipped) in TABLE {
        let loaded = fixture(name);
        let totals = &loaded.report.totals;
        assert_eq!(loaded.report.files[0].format, format, "{name}");
        assert_eq!(loaded.report.group_sizes, sizes, "{name}");
        assert_eq!(
            (totals.raw_steps, totals.scored, totals.successes, totals.skipped),
            (steps, scored, successes, skipped),
            "{name}"
        );
        for group in &loaded.corpus.groups {
            assert!(raw_steps(&loaded, group) > 0, "{name}");
        }
    }
}

#[test]
fn two_step_files_give_two_groups_per_prompt() {
    let loaded = fixture("verl");
    assert_eq!(loaded.report.group_sizes, [(2, 4)]);
    let keys: Vec<_> =
        loaded.corpus.groups.iter().map(|g| (g.key.task.as_str(), g.key.train_step)).collect();
    let [(a, Some(41)), (b, Some(42)), (c, Some(41)), (d, Some(42))] = keys[..] else {
        panic!("{keys:?}")
    };
    assert!(a == b && c == d && a != c, "{keys:?}");
    assert!(loaded.report.unscored.iter().all(|u| u.reason.contains("NaN")));
    let options = LoadOptions { group_by: Some("uid".into()), ..LoadOptions::default() };
    let by_uid = load_with(&[root().join("verl/41.jsonl")], &options).unwrap();
    assert_eq!(by_uid.corpus.groups[0].key.task, "u41-1");
}

/// Thought, tool and observation of a rollout's steps.
fn texts(loaded: &Loaded, group: usize, id: &str) -> Vec<(String, Option<String>, Option<String>)> {
    let all: Group = with_all_steps(loaded, group);
    let at = all.rollouts.iter().position(|r| r.id == id).unwrap();
    let texts = loaded.sources.rollout_text(&all, at).unwrap();
    texts.into_iter().map(|t| (t.thought, t.tool, t.observation)).collect()
}

#[test]
fn a_row_per_step_is_joined_in_the_order_of_the_steps() {
    let loaded = fixture("verl_agent/3.jsonl");
    assert_eq!(ids(&loaded.corpus.groups[0]), ["t1", "t2"]);
    let steps = texts(&loaded, 0, "t1");
    let actions: Vec<_> = steps.iter().map(|s| s.0.as_str()).collect();
    let act = |what: &str| format!("<think>next</think><action>{what}</action>");
    assert_eq!(actions, [act("take cup"), act("go shelf"), act("put cup")]);
    let group = &loaded.corpus.groups[0];
    let states: Vec<_> = group.steps.state.iter().map(|&s| group.symbols.text(s)).collect();
    // Both begin in the same room, whatever the prompts say besides.
    assert_eq!(states[0], "a kitchen with a cup");
    assert_eq!(states[0], states[3]);
}

#[test]
fn segments_of_one_conversation_are_one_rollout() {
    let loaded = fixture("roll/rollout_dump_data.step_6.jsonl");
    let steps = texts(&loaded, 0, "0");
    let tools: Vec<_> = steps.iter().map(|s| s.1.as_deref().unwrap_or("-")).collect();
    assert_eq!(tools, ["search", "file_editor", "file_editor", "-"]);
    assert!(steps[1].2.as_deref().unwrap().ends_with("1 atlas"), "the summary is no result");
    let group = &loaded.corpus.groups[0];
    assert_eq!(group.key.task, "LIB/1/0/9");
    assert_eq!(group.key.train_step, Some(6));
    let rewards: Vec<_> = group.steps.step_reward.iter().map(|r| r.unwrap()).collect();
    let want = [0.005, 0.005, 0.005, 0.005, 0.005, -0.005];
    assert!(rewards.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{rewards:?}");
    assert_eq!(group.rollouts[0].reward, Some(1.0));
    assert_eq!(group.rollouts[1].outcome, Outcome::Truncated);
}

#[test]
fn an_episode_per_file_makes_a_group() {
    let loaded = fixture("episodes");
    let group = &loaded.corpus.groups[0];
    assert_eq!(loaded.report.group_sizes, [(2, 1)]);
    assert_eq!((group.key.task.as_str(), group.key.train_step), ("0badcafe", Some(12)));
    assert_eq!(group.rollouts[0].reward, Some(1.0));
    assert_eq!(group.steps.step_reward[..2], [Some(0.1), Some(0.0)]);
    let steps = texts(&loaded, 0, "lib-1:0");
    assert_eq!(steps[0].2.as_deref(), Some("You hold the atlas."));
}

#[test]
fn folders_name_what_the_records_do_not() {
    let key = |name: &str| fixture(name).corpus.groups[0].key.clone();
    assert_eq!(key("rollouts/step_3/train/all/traces.jsonl").train_step, Some(3));
    assert_eq!(key("dumped_evals/global_step_8_evals/library.jsonl").train_step, Some(8));
    let key = key("outputs/evals/library--lib-1b/0a0b0c0d/results.jsonl");
    assert_eq!((key.namespace.as_str(), key.policy.as_deref()), ("library", Some("lib-1b")));
}

#[test]
fn special_tokens_are_no_text() {
    let loaded = fixture("dumped_evals/global_step_8_evals/library.jsonl");
    let group = &loaded.corpus.groups[0];
    assert_eq!(group.prompt, "Which shelf holds the atlas?");
    let done = group.rollouts.iter().find(|r| r.outcome == Outcome::Success).unwrap();
    let steps = texts(&loaded, 0, &done.id);
    assert_eq!(steps[0].2.as_deref(), Some("shelf: 7"));
    assert_eq!(steps[1].0, "Shelf 7.");
}

#[test]
fn trained_credit_is_a_column() {
    let loaded = fixture("rollouts/step_3/train/all/traces.jsonl");
    let (name, column) = &loaded.corpus.groups[0].steps.values[0];
    assert_eq!(name, "trained");
    assert_eq!(column[..], [Some(0.5), Some(0.5), Some(-0.5), Some(-0.5)]);
    let loaded = fixture("outputs/evals/library--lib-1b/0a0b0c0d/results.jsonl");
    assert_eq!(ids(&loaded.corpus.groups[0]), ["7", "8", "9"]);
    let outcomes: Vec<_> = loaded.corpus.groups[0].rollouts.iter().map(|r| r.outcome).collect();
    assert_eq!(outcomes, [Outcome::Success, Outcome::Truncated, Outcome::Error]);
}

#[test]
fn calls_of_the_user_are_counted_and_no_steps() {
    let loaded = fixture("tau2.json");
    let group = &loaded.corpus.groups[0];
    assert_eq!(group.key.namespace, "telecom");
    assert!(group.rollouts.iter().all(|r| r.excluded_calls == 1));
    // The greeting that opens each conversation is counted, since it is no step.
    assert!(group.rollouts.iter().all(|r| r.excluded_messages == 1));
    let steps = texts(&loaded, 0, "5f00-0");
    assert_eq!(steps[0].2.as_deref(), Some("active"));
    assert_eq!(steps[1].2.as_deref(), Some("no bill"));
    assert_eq!(steps[2].2.as_deref(), Some("It works. ###STOP###"));
    assert!(
        loaded.report.skipped[0].reason.contains("ticks")
            || loaded.report.skipped[0].hint.is_some()
    );
    // A folder of single simulations: the file of settings is no rollout file.
    let loaded = fixture("tau2_run");
    assert_eq!(loaded.report.group_sizes, [(3, 1)]);
    assert_eq!(loaded.report.not_rollouts.len(), 1);
}

#[test]
fn sampled_instances_are_attempts_at_one_task() {
    let loaded = fixture("swe_gym.jsonl");
    let group = &loaded.corpus.groups[0];
    assert_eq!(group.key.task, "lib__shelves-12");
    assert_eq!(ids(group), ["lib__shelves-12_0", "lib__shelves-12_1"]);
}

#[test]
fn messages_may_be_the_text_of_a_list() {
    let text = std::fs::read_to_string(root().join("swe_gym.jsonl")).unwrap();
    let rows = text.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["messages"] = Value::String(row["messages"].to_string());
        format!("{row}\n")
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.jsonl");
    std::fs::write(&path, rows.collect::<String>()).unwrap();
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    assert_eq!((loaded.report.totals.raw_steps, loaded.report.totals.successes), (4, 1));
    let steps = texts(&loaded, 0, "lib__shelves-12_0");
    assert_eq!(steps, texts(&fixture("swe_gym.jsonl"), 0, "lib__shelves-12_0"));
}

#[test]
fn the_whole_folder_loads_at_once() {
    let loaded = load_with(&[root()], &LoadOptions::default()).unwrap();
    let names: Vec<_> = loaded.report.not_rollouts.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "dumped_evals/global_step_8_evals/aggregated_results.jsonl",
            "episodes/train_step_12_epoch_0/batch_summary.json",
            "outputs/evals/library--lib-1b/0a0b0c0d/metadata.json",
            "tau2_run/results.json",
        ]
    );
    assert_eq!(loaded.report.totals.skipped, 2);
}

fn files() -> Vec<(String, String)> {
    let all = TABLE.iter().map(|row| row.0.to_owned());
    let more = [0, 1]
        .map(|n| format!("episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_{n}.json"));
    all.chain(more)
        .map(|name| (std::fs::read_to_string(root().join(&name)).unwrap(), name))
        .map(|(text, name)| (name, text))
        .collect()
}

fn line_ends(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Whether a fixture's records stand on lines.
fn of_lines(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "jsonl")
}

/// What a load came to, when nobody may panic and every refusal has a reason.
fn survives(name: &str, text: &[u8]) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name.rsplit('/').next().unwrap());
    std::fs::write(&path, text).unwrap();
    match load_with(&[path], &LoadOptions::default()) {
        Ok(loaded) => {
            let report = &loaded.report;
            assert!(report.skipped.iter().all(|s| !s.reason.is_empty()), "{name}");
            report.totals.rollouts
        }
        Err(LoadError::NoRollouts { files, .. }) => {
            assert!(files.iter().all(|f| f.reason.len() > 8), "{name}: {files:?}");
            0
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

#[test]
fn cut_files_lose_no_more_than_what_is_cut() {
    for (name, text) in files() {
        let bytes = text.as_bytes();
        let whole = survives(&name, bytes);
        let lines = line_ends(bytes);
        for at in 0..50 {
            let cut = bytes.len() * at / 50;
            let left = survives(&name, &bytes[..cut]);
            assert!(left <= whole, "{name} cut at {cut}");
            let complete = line_ends(&bytes[..cut]);
            // Where a line is a rollout, complete lines stay.
            if whole == lines && of_lines(&name) {
                assert!(left >= complete, "{name} cut at {cut}: {left} of {complete} lines");
            }
        }
    }
}

#[test]
fn line_ends_marks_and_empty_files() {
    for (name, text) in files() {
        let base = name.rsplit('/').next().unwrap();
        let plain = survives(&name, text.as_bytes());
        for other in
            [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), format!("\n\n{text}\n\n")]
        {
            assert_eq!(survives(&name, other.as_bytes()), plain, "{name}");
        }
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
        for (content, word) in [("", "empty file"), (" \n", "empty file"), (pointer, "Git LFS")] {
            let error = load_text(base, content, &LoadOptions::default()).unwrap_err();
            assert!(error.to_string().contains(word), "{name}: {error}");
        }
    }
}

/// Each value of a document replaced by each of these, one at a time.
fn mangled(value: &Value, visit: &mut dyn FnMut(&Value)) {
    let others = || {
        [
            Value::Null,
            Value::Bool(true),
            serde_json::json!(-1.5),
            serde_json::json!(""),
            serde_json::json!("\u{0}{\"a\":"),
            serde_json::json!([]),
            serde_json::json!([[null], {}, "x", 3]),
            serde_json::json!({}),
        ]
    };
    let mut paths = Vec::new();
    collect(value, String::new(), &mut paths);
    for path in paths {
        for other in others() {
            let mut copy = value.clone();
            *copy.pointer_mut(&path).unwrap() = other;
            visit(&copy);
        }
        let Some((parent, key)) = path.rsplit_once('/') else { continue };
        let mut copy = value.clone();
        if let Some(Value::Object(map)) = copy.pointer_mut(parent) {
            map.remove(key);
            visit(&copy);
        }
    }
}

fn collect(value: &Value, at: String, paths: &mut Vec<String>) {
    let mut below = |key: &str, inner: &Value| {
        // Keys with a slash would need escapes; the fixtures have none.
        collect(inner, format!("{at}/{key}"), paths);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| below(key, inner)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, inner)| below(&n.to_string(), inner));
        }
        _ => {}
    }
    if !at.is_empty() {
        paths.push(at);
    }
}

#[test]
fn values_of_any_kind_cost_a_record_at_most() {
    let mut count = 0;
    for (name, text) in files() {
        let shape = Shape::of(&name, text.as_bytes(), true);
        let reader = detect(&shape).unwrap();
        let record = if of_lines(&name) { text.lines().next().unwrap() } else { &text };
        // What a repair would make of it is another test's matter.
        let record = record.replace("NaN", "null");
        let value: Value = serde_json::from_str(&record).unwrap();
        mangled(&value, &mut |odd| {
            count += 1;
            let odd = odd.to_string();
            match read_record(reader, odd.as_bytes(), &Context::default()) {
                Ok(parsed) => {
                    for error in parsed.parts.iter().filter_map(|p| p.rollout.as_ref().err()) {
                        assert!(error.to_string().len() > 8, "{name}: {odd}");
                    }
                }
                Err(error) => assert!(error.to_string().len() > 8, "{name}: {odd}"),
            }
        });
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn arguments_in_every_spelling() {
    let given = [
        (serde_json::json!({"title": "atlas"}), Some(1)),
        (serde_json::json!("{\"title\": \"atlas\"}"), Some(1)),
        (serde_json::json!("\"{\\\"title\\\": \\\"atlas\\\"}\""), Some(1)),
        (serde_json::json!(""), Some(0)),
        (Value::Null, Some(0)),
        (serde_json::json!("{\"title\": \"at"), None),
    ];
    // Where the first call's arguments stand in a record of each format.
    let places = [
        ("tau2.json", "/simulations/0/messages/2/tool_calls/0/arguments"),
        (
            "rollouts/step_3/train/all/traces.jsonl",
            "/traces/0/nodes/1/message/tool_calls/0/arguments",
        ),
        (
            "outputs/evals/library--lib-1b/0a0b0c0d/results.jsonl",
            "/completion/0/tool_calls/0/function/arguments",
        ),
        ("swe_gym.jsonl", "/messages/2/tool_calls/0/function/arguments"),
        (
            "episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_0.json",
            "/trajectories/0/steps/0/action/0/function/arguments",
        ),
    ];
    let first_args = |name: &str, record: &str| {
        let reader = detect(&Shape::of(name, record.as_bytes(), true)).unwrap();
        let mut parsed = read_record(reader, record.as_bytes(), &Context::default()).unwrap();
        parsed.parts.remove(0).rollout.unwrap().steps.remove(0).args
    };
    for (args, len) in given {
        let mut got = Vec::new();
        for (name, place) in places {
            let text = std::fs::read_to_string(root().join(name)).unwrap();
            let record = if of_lines(name) { text.lines().next().unwrap() } else { &text };
            let mut value: Value = serde_json::from_str(record).unwrap();
            *value.pointer_mut(place).unwrap() = args.clone();
            got.push((name, first_args(name, &value.to_string())));
        }
        let call = serde_json::json!({"name": "find_book", "arguments": args});
        let row = serde_json::json!({"input": "x", "output": format!("<tool_call>\n{call}\n</tool_call>"), "score": 1, "step": 1});
        got.push(("verl", first_args("verl", &row.to_string())));
        for (name, parsed) in got {
            match (&parsed, len) {
                (RawArgs::Object(map), Some(len)) => assert_eq!(map.len(), len, "{name}: {args}"),
                (RawArgs::Unparsable(raw), None) => assert_eq!(raw, "{\"title\": \"at", "{name}"),
                _ => panic!("{name}: {args} became {parsed:?}"),
            }
        }
    }
}
