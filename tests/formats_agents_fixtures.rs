//! Formats of agents on small made-up files: what each gives, and that damage costs what is damaged.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::path::{Path, PathBuf};

use credscope::ingest::{Context, Layout, Shape, detect, read_record};
use credscope::load::{LoadError, LoadOptions, Loaded};
use credscope::rollout::StepResult;
use credscope::rollout::raw::{RawKind, RawRollout};
use load_common::{ids, load_with, outcomes};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents").join(name)
}

fn load(name: &str) -> Loaded {
    load_with(&[fixture(name)], &LoadOptions::default()).unwrap()
}

/// The rollouts of the only group, in order, with all their text.
fn rollouts(loaded: &Loaded) -> Vec<RawRollout> {
    let [group] = &loaded.corpus.groups[..] else { panic!("{:?}", loaded.report.group_sizes) };
    group.rollouts.iter().map(|r| loaded.sources.rollout(&r.records[0]).unwrap()).collect()
}

fn tools(raw: &RawRollout) -> Vec<&str> {
    raw.steps.iter().map(|s| s.tool.as_deref().unwrap_or("-")).collect()
}

#[test]
fn mini_swe_agent_old_and_new() {
    let loaded = load("mini");
    let keys: Vec<_> = loaded
        .corpus
        .groups
        .iter()
        .map(|g| (g.key.task.as_str(), g.key.policy.as_deref(), g.rollouts[0].id.as_str()))
        .collect();
    assert_eq!(keys, [("toy__toy-1", None, "run-a"), ("toy__toy-1", Some("acme/small"), "run-b")]);
    let old = loaded.sources.rollout(&loaded.corpus.groups[0].rollouts[0].records[0]).unwrap();
    assert_eq!(tools(&old), ["bash", "-", "bash", "bash"]);
    assert!(old.steps[1].told_to_continue);
    let new = &loaded.corpus.groups[1];
    assert_eq!(outcomes(new), [("truncated", 1)]);
    assert_eq!(new.rollouts[0].ending, "LimitsExceeded");
    let new = loaded.sources.rollout(&new.rollouts[0].records[0]).unwrap();
    assert_eq!(tools(&new), ["bash", "bash", "-", "bash"]);
    assert_eq!(new.steps.iter().map(|s| s.turn).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(new.steps[1].stopped, Some(StepResult::Timeout));
}

#[test]
fn swe_agent_attempts() {
    let loaded = load("swe-agent");
    let group = &loaded.corpus.groups[0];
    assert_eq!(ids(group), ["run-1.0", "run-1.1"]);
    assert_eq!(outcomes(group), [("truncated", 1), ("unscored", 1)]);
    let all = rollouts(&loaded);
    assert_eq!((all[0].steps.len(), all[1].steps.len()), (2, 1));
    let text = loaded.sources.step_text(group, 0, 0).unwrap();
    assert_eq!(text.thought, "Look.");
}

#[test]
fn openhands_pairs_attempts_and_sessions() {
    let loaded = load("openhands/v0");
    let keys: Vec<_> = loaded.corpus.groups.iter().map(|g| outcomes(g)).collect();
    assert_eq!(keys, [[("success", 1)], [("error", 1)]]);
    assert_eq!(loaded.corpus.groups[0].rollouts[0].id, "small_maxiter_9_N_run_1");
    let first = loaded.sources.rollout(&loaded.corpus.groups[0].rollouts[0].records[0]).unwrap();
    assert_eq!(tools(&first), ["str_replace_editor", "finish"]);
    assert_eq!(first.steps[0].observation.as_deref(), Some("1\tdef add"));

    let loaded = load("openhands/v1");
    assert_eq!(ids(&loaded.corpus.groups[0]), ["run-1.1", "run-1.2"]);
    assert_eq!(outcomes(&loaded.corpus.groups[0]), [("truncated", 1), ("unscored", 1)]);
    assert_eq!(rollouts(&loaded)[0].steps[0].exit_code, Some(0));

    let loaded = load("openhands/session.json");
    assert_eq!(loaded.report.files[0].format, "openhands-gui");
    let raw = rollouts(&loaded).remove(0);
    assert_eq!(
        raw.steps.iter().map(|s| s.kind).collect::<Vec<_>>(),
        [RawKind::Call, RawKind::Text]
    );
    assert_eq!(loaded.corpus.groups[0].profile, "openhands");
}

#[test]
fn inspect_scores_limits_and_errors() {
    let loaded = load("inspect/log.json");
    let group = &loaded.corpus.groups[0];
    assert_eq!((group.key.namespace.as_str(), group.key.task.as_str()), ("toy", "1"));
    let want = ["success", "failure", "truncated", "error", "success"];
    assert_eq!(group.rollouts.iter().map(|r| r.outcome.name()).collect::<Vec<_>>(), want);
    assert_eq!(group.rollouts[4].named_rewards.len(), 2);
    let raw = rollouts(&loaded).remove(0);
    assert_eq!(raw.prompt.as_deref(), Some("Make add() add."));
    assert_eq!(raw.steps[0].thought, "hm\nLook.");
}

#[test]
fn a_harbor_trial_and_terminal_bench() {
    let loaded = load("harbor");
    let group = &loaded.corpus.groups[0];
    assert_eq!((group.key.task.as_str(), ids(group)), ("toy-add", vec!["toy-add__aB3dE6g"]));
    let raw = rollouts(&loaded).remove(0);
    assert_eq!(tools(&raw), ["bash_command", "bash_command", "mark_task_complete"]);
    assert_eq!(raw.steps[1].observation.as_deref(), Some("def add\ntoy.py"));

    let loaded = load("terminal-bench");
    let group = &loaded.corpus.groups[0];
    assert_eq!(outcomes(group), [("success", 1), ("truncated", 1), ("error", 1)]);
    assert_eq!(group.rollouts[0].outcome_source, "field is_resolved");
    assert!(group.is_empty());
}

#[test]
fn claude_code_sessions() {
    let loaded = load("claude-code/session.jsonl");
    let raw = rollouts(&loaded).remove(0);
    assert_eq!(tools(&raw), ["Read", "Bash", "Task", "-"]);
    assert_eq!(raw.steps.iter().map(|s| s.turn).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(raw.steps[0].thought, "hm\nI look.");
    assert_eq!((raw.steps[1].is_error, raw.excluded_calls), (Some(true), 1));
    assert_eq!((raw.policy.as_deref(), raw.id.as_deref()), (Some("acme-small"), Some("s-1")));
    assert_eq!(raw.prompt.as_deref(), Some("Make add() add."));
    assert_eq!(loaded.report.totals.notes, 0);

    let loaded = load("claude-code/stream.jsonl");
    let group = &loaded.corpus.groups[0];
    assert_eq!((outcomes(group), group.rollouts[0].excluded_calls), (vec![("truncated", 1)], 1));
    assert_eq!(group.profile, "claude-code");
}

#[test]
fn codex_rollouts() {
    let loaded = load("codex/rollout-new.jsonl");
    let raw = rollouts(&loaded).remove(0);
    assert_eq!(tools(&raw), ["shell", "apply_patch", "-"]);
    assert_eq!((raw.steps[0].exit_code, &*raw.steps[0].thought), (Some(0), "hm"));
    assert_eq!((raw.policy.as_deref(), raw.id.as_deref()), (Some("acme-small"), Some("s-3")));
    assert_eq!(raw.prompt.as_deref(), Some("Make add() add."));
    assert_eq!(loaded.corpus.groups[0].profile, "codex");

    let loaded = load("codex/rollout-old.jsonl");
    let raw = rollouts(&loaded).remove(0);
    assert_eq!(tools(&raw), ["local_shell", "-"]);
    assert_eq!(raw.id.as_deref(), Some("s-4"));
}

/// All fixture files.
fn all() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&fixture(""), &mut found);
    found.sort();
    found
}

/// Loads bytes under the fixture's own folders and name.
fn load_bytes(path: &Path, bytes: &[u8]) -> Result<Loaded, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join(path.strip_prefix(fixture("")).unwrap());
    std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
    std::fs::write(&inside, bytes).unwrap();
    load_with(&[inside], &LoadOptions::default())
}

fn counts(loaded: &Loaded) -> (usize, usize, usize) {
    let totals = loaded.report.totals;
    (totals.groups, totals.rollouts, totals.raw_steps)
}

#[test]
fn line_ends_and_marks_change_nothing() {
    for path in all() {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(plain) = load_bytes(&path, &bytes) else { continue };
        let text = String::from_utf8(bytes).unwrap();
        let carriage = text.replace('\n', "\r\n");
        let marked = format!("\u{feff}{text}");
        let blank = format!("\n\n{text}\n\n");
        for other in [carriage, marked, blank] {
            let loaded = load_bytes(&path, other.as_bytes()).unwrap();
            assert_eq!(counts(&loaded), counts(&plain), "{}", path.display());
        }
    }
}

#[test]
fn a_cut_file_gives_what_is_whole_or_a_reason() {
    for path in all() {
        let bytes = std::fs::read(&path).unwrap();
        for n in 0..50 {
            let cut = &bytes[..bytes.len() * n / 50];
            match load_bytes(&path, cut) {
                Ok(loaded) => assert!(loaded.report.totals.rollouts > 0),
                Err(error) => reasoned(&path, &error),
            }
        }
    }
}

fn reasoned(path: &Path, error: &LoadError) {
    let LoadError::NoRollouts { files, .. } = error else { panic!("{}: {error}", path.display()) };
    let name = path.file_name().unwrap().to_string_lossy();
    assert!(files.iter().all(|f| f.name == name && f.reason.len() > 8), "{error}");
}

#[test]
fn what_is_no_file_at_all_says_so() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n";
    for path in all() {
        for (bytes, word) in
            [(&b""[..], "empty"), (&pointer[..], "LFS"), (&b"\x00\x01\x02"[..], "binary")]
        {
            let error = load_bytes(&path, bytes).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

/// Each value of the document in turn becomes something else.
fn damage(
    value: &serde_json::Value,
    with: &serde_json::Value,
    left: &mut usize,
) -> serde_json::Value {
    use serde_json::Value;
    if *left == 0 {
        *left = usize::MAX;
        return with.clone();
    }
    *left -= 1;
    match value {
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), damage(v, with, left))).collect(),
        Value::Array(list) => list.iter().map(|v| damage(v, with, left)).collect(),
        other => other.clone(),
    }
}

/// Reads a text as the records that it holds; each is read or has a reason.
fn read_text(path: &Path, text: &str) {
    let name = path.file_name().unwrap().to_string_lossy();
    let shape = Shape::of(&name, text.as_bytes(), true);
    let Ok(reader) = detect(&shape) else { return };
    let place = path.to_string_lossy();
    let context = Context { path: &place, ..Context::default() };
    let records: Vec<&str> = match reader.layout(&shape) {
        Layout::Lines => text.lines().collect(),
        _ => vec![text],
    };
    for record in records {
        match read_record(reader, record.as_bytes(), &context) {
            Ok(parsed) => {
                for part in parsed.parts {
                    assert!(part.rollout.err().is_none_or(|e| e.reason.len() > 8));
                }
            }
            Err(error) => assert!(error.reason.len() > 8, "{error}"),
        }
    }
}

#[test]
fn null_lists_numbers_and_texts_anywhere_do_no_harm() {
    use serde_json::{Value, json};
    for path in all() {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = path.extension().is_some_and(|e| e == "jsonl");
        let documents: Vec<Value> = if lines {
            text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
        } else {
            vec![serde_json::from_str(&text).unwrap()]
        };
        let others = [Value::Null, json!([1, "x"]), json!({"a": null}), json!(7)];
        let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
        for (at, document) in documents.iter().enumerate() {
            for with in &others {
                for place in 0.. {
                    let mut left = place;
                    let damaged = damage(document, with, &mut left);
                    if left < usize::MAX / 2 {
                        break;
                    }
                    let mut all = texts.clone();
                    all[at] = damaged.to_string();
                    read_text(&path, &all.join("\n"));
                }
            }
        }
    }
}
