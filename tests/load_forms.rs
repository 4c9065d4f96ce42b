//! Forms of input, identities, options, and reading text again.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use credscope::load::{LoadError, LoadOptions, Pool, TextError};
use credscope::rollout::Outcome;
use load_common::{case, corpus, ids, load_text, load_with, outcomes, summary, with_all_steps};

fn options() -> LoadOptions {
    LoadOptions::default()
}

#[test]
fn the_native_format_in_all_its_forms() {
    let document = r#"{"schema":"credscope/1","task":"t","rollouts":[{"id":"a","reward":1,"steps":[]},{"id":"b","reward":0,"steps":[]}]}"#;
    let lines = "{\"task\":\"t\",\"id\":\"a\",\"reward\":1,\"steps\":[]}\n{\"task\":\"t\",\"id\":\"b\",\"reward\":0,\"steps\":[]}\n";
    let pretty = document.replace(',', ",\n ");
    let forms = [
        document.to_owned(),
        pretty.clone(),
        format!("[{document}]"),
        format!("[\n{pretty}\n]\n"),
        lines.to_owned(),
        format!("\u{feff}{}", lines.replace('\n', "\r\n")),
        format!("[{}]", lines.trim().replace('\n', ",")),
        format!("{document}\n"),
        lines.replace("},", "},\n").replace(",\"id", ",\n\"id"),
    ];
    for form in forms {
        // The name says nothing.
        let loaded =
            load_text("data.txt", &form, &options()).unwrap_or_else(|e| panic!("{form}: {e}"));
        assert_eq!(loaded.report.files[0].format, "native");
        assert_eq!(loaded.corpus.groups.len(), 1, "{form}");
        assert_eq!(ids(&loaded.corpus.groups[0]), ["a", "b"], "{form}");
        assert_eq!(outcomes(&loaded.corpus.groups[0]), [("success", 1), ("failure", 1)]);
    }
}

#[test]
fn ids_are_text_of_any_size_and_in_natural_order() {
    let text = r#"{"schema":"credscope/1","task":2,"rollouts":[
        {"id":123456789012345678901234567890,"steps":[]},{"id":10,"steps":[]},{"id":"9","steps":[]}]}"#;
    let loaded = load_text("a.json", text, &options()).unwrap();
    assert_eq!(loaded.corpus.groups[0].key.task, "2");
    assert_eq!(ids(&loaded.corpus.groups[0]), ["9", "10", "123456789012345678901234567890"]);
}

#[test]
fn order_and_threads_change_nothing() {
    let Some(path) = corpus("derived/r2e_gym.astropy-12907.k8.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let plain = load_text("r.jsonl", &lines.join("\n"), &options()).unwrap();
    lines.reverse();
    lines.swap(1, 5);
    let one = LoadOptions { threads: NonZeroUsize::new(1), ..options() };
    let four = LoadOptions { threads: NonZeroUsize::new(4), ..options() };
    let shuffled = load_text("r.jsonl", &lines.join("\n"), &one).unwrap();
    assert_eq!(summary(&plain), summary(&shuffled));
    assert_eq!(
        summary(&plain),
        summary(&load_text("r.jsonl", &lines.join("\r\n"), &four).unwrap())
    );
    assert_eq!(plain.report.files[0].digest, shuffled.report.files[0].digest);
    assert_eq!(plain.report.totals, shuffled.report.totals);
}

#[test]
fn conflicting_ids_do_not_depend_on_the_order_of_lines() {
    let (a, b, c) = (
        r#"{"task":"t","id":"x","reward":1,"steps":[]}"#,
        r#"{"task":"t","id":"x","reward":0,"steps":[]}"#,
        r#"{"task":"t","reward":0,"rollout_id":null,"id":null,"steps":[]}"#,
    );
    let one = load_text("r.jsonl", &[a, b, a, c, c].join("\n"), &options()).unwrap();
    let two = load_text("r.jsonl", &[c, b, c, a, a].join("\n"), &options()).unwrap();
    assert_eq!(summary(&one), summary(&two));
    let group = &one.corpus.groups[0];
    assert_eq!(ids(group)[..2], ["x", "x#2"]);
    assert!(ids(group)[2].starts_with('~') && ids(group)[2].len() == 9);
    // The named copy is left out; the two without an id are samples.
    assert_eq!((one.report.totals.duplicates, group.rollouts.len()), (1, 4));
    assert!(one.report.warning("duplicate").is_some() && one.report.warning("id-suffix").is_some());
}

#[test]
fn the_same_run_in_two_files_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let line = r#"{"task":"t","id":"x","reward":1,"steps":[]}"#;
    for run in ["run1", "run2"] {
        std::fs::create_dir(dir.path().join(run)).unwrap();
        std::fs::write(dir.path().join(run).join("out.jsonl"), line).unwrap();
    }
    let loaded = load_with(&[dir.path().into()], &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["x", "x#2"]);
    assert!(loaded.report.warning("same-content").is_some());
    let names: Vec<_> = loaded.report.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["run1/out.jsonl", "run2/out.jsonl"]);
}

#[test]
fn text_comes_back_and_a_changed_file_is_noticed() {
    let Some(path) = corpus("nemo-gym/anyswe_astropy-12907_hermes.jsonl") else { return };
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("h.jsonl");
    std::fs::copy(path, &copy).unwrap();
    let loaded = load_with(std::slice::from_ref(&copy), &options()).unwrap();
    let group = with_all_steps(&loaded, 0);
    let text = loaded.sources.step_text(&group, 0, 0).unwrap();
    assert_eq!(text.tool.as_deref(), Some("terminal"));
    assert!(text.args_text.contains("separable"), "{}", text.args_text);
    assert_eq!(text.raw.exit_code, Some(0));
    // The frame is read, and the text stays what the file has.
    assert!(text.observation.as_deref().unwrap().starts_with("{\"output\":"));
    let all = loaded.sources.rollout_text(&group, 0).unwrap();
    assert_eq!(all.len(), group.rollouts[0].steps.len());
    assert_eq!(all[0], text);
    assert!(matches!(loaded.sources.step_text(&group, 0, 999), Err(TextError::NoSuchStep)));

    let bytes = std::fs::read(&copy).unwrap();
    let changed: Vec<u8> = bytes.iter().map(|b| if *b == b'e' { b'E' } else { *b }).collect();
    std::fs::write(&copy, changed).unwrap();
    let error = loaded.sources.step_text(&group, 0, 0).unwrap_err();
    assert_eq!(error.to_string(), "h.jsonl has changed since it was loaded; load it again");
    std::fs::write(&copy, "").unwrap();
    assert!(matches!(loaded.sources.step_text(&group, 0, 0), Err(TextError::Changed { .. })));
    std::fs::remove_file(&copy).unwrap();
    assert!(matches!(loaded.sources.step_text(&group, 0, 0), Err(TextError::Io { .. })));
}

#[test]
fn parts_of_a_document_are_found_again() {
    let Some(path) = case("14-loop-revisits-state/input.json") else { return };
    let loaded = load_with(&[path], &options()).unwrap();
    let group = with_all_steps(&loaded, 0);
    let first = loaded.sources.step_text(&group, 1, 0).unwrap();
    assert!(first.args_text.contains("/testbed/core.py"));
    assert_eq!(loaded.sources.rollout_text(&group, 1).unwrap().len(), 4);
}

#[test]
fn options_choose() {
    let text = [
        r#"{"task":"a","id":"1","reward":0.5,"policy":"p","train_step":1,"steps":[]}"#,
        r#"{"task":"a","id":"2","reward":0.4,"policy":"q","train_step":1,"steps":[]}"#,
        r#"{"task":"b","id":"3","reward":0.5,"policy":"q","train_step":2,"steps":[]}"#,
    ]
    .join("\n");
    let sizes = |o: LoadOptions| load_text("r.jsonl", &text, &o).unwrap().report.group_sizes;
    assert_eq!(sizes(options()), [(1, 3)]);
    let pool = Pool { policy: true, train_step: false };
    assert_eq!(sizes(LoadOptions { pool, ..options() }), [(1, 1), (2, 1)]);
    assert_eq!(sizes(LoadOptions { only: Some("b".into()), ..options() }), [(1, 1)]);
    let rule = LoadOptions { success_at: "0.5".parse().unwrap(), ..options() };
    assert_eq!(load_text("r.jsonl", &text, &rule).unwrap().report.totals.successes, 2);
    let rule = LoadOptions { success_at: ">0.5".parse().unwrap(), ..options() };
    assert_eq!(load_text("r.jsonl", &text, &rule).unwrap().report.totals.successes, 0);

    let none = LoadOptions { only: Some("z".into()), ..options() };
    let error = load_text("r.jsonl", &text, &none).unwrap_err();
    assert_eq!(error.to_string(), "no rollout belongs to task `z`; there are a, b");
    let none = LoadOptions { group_by: Some("z".into()), ..options() };
    let error = load_text("r.jsonl", &text, &none).unwrap_err();
    assert!(matches!(error, LoadError::NoSuchKey { .. }), "{error}");
    let none = LoadOptions { from: Some("z".into()), ..options() };
    let error = load_text("r.jsonl", &text, &none).unwrap_err();
    assert!(error.to_string().contains("there are native, r2e-gym, "), "{error}");
}

#[test]
fn progress_is_told_and_a_load_can_be_stopped() {
    let Some(path) = corpus("derived/r2e_gym.astropy-12907.k8.jsonl") else { return };
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let progress = LoadOptions {
        progress: Some(Arc::new(move |p| sink.lock().unwrap().push(p))),
        ..options()
    };
    load_with(std::slice::from_ref(&path), &progress).unwrap();
    let last = *told.lock().unwrap().last().unwrap();
    assert_eq!(last.records, 8);
    assert_eq!(last.bytes, last.total_bytes);

    let stop = LoadOptions { cancel: Some(Arc::new(AtomicBool::new(true))), ..options() };
    assert!(matches!(load_with(&[path], &stop), Err(LoadError::Cancelled)));
}

#[test]
fn odd_json_costs_nothing_but_itself() {
    let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
    let text = [
        format!(r#"{{"task":"t","id":"deep","reward":1,"steps":[{{"tool":"x","args":{deep}}}]}}"#),
        r#"{"task":"t","id":"half","reward":1,"steps":[{"tool":"x","args":{"a":"\ud800"},"observation":"\udc00!"}]}"#.to_owned(),
        r#"{"task":"t","id":"twice","reward":0,"reward":1,"steps":[]}"#.to_owned(),
        r#"{"task":"t","id":"huge","reward":1,"steps":[{"tool":"x","args":{"n":1e999,"m":NaN}}]}"#.to_owned(),
        r#"{"id":"no task","reward":1,"steps":[]}"#.to_owned(),
        r#"{"task":"t","id":"no steps","reward":1}"#.to_owned(),
    ]
    .join("\n");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("odd.jsonl");
    std::fs::write(&path, text).unwrap();
    let loaded = load_with(&[path], &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["deep", "half", "huge", "twice"]);
    assert!(loaded.corpus.groups[0].rollouts.iter().all(|r| r.outcome == Outcome::Success));
    let fields: Vec<_> = loaded.report.skipped.iter().map(|s| s.field.as_deref()).collect();
    assert_eq!(fields, [Some("task"), Some("steps")]);
    assert!(loaded.report.notes.iter().any(|n| n.reason.contains("2 lone surrogates")));
    assert!(
        loaded
            .report
            .notes
            .iter()
            .any(|n| n.field == "reward" && n.reason.contains("more than once"))
    );
    let group = with_all_steps(&loaded, 0);
    assert_eq!(
        loaded.sources.step_text(&group, 1, 0).unwrap().observation.as_deref(),
        Some("\u{fffd}!")
    );
}

#[test]
fn broken_bytes_are_replaced_and_noted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    let mut bytes =
        br#"{"task":"t","id":"a","reward":1,"steps":[{"tool":"x","observation":"\u001b[31mred "#
            .to_vec();
    bytes.extend_from_slice(b"\xff\xfe\"}]}\n");
    std::fs::write(&path, bytes).unwrap();
    let loaded = load_with(&[path], &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["a"]);
    assert!(loaded.report.notes[0].reason.contains("no UTF-8"));
    let group = with_all_steps(&loaded, 0);
    let text = loaded.sources.step_text(&group, 0, 0).unwrap();
    assert_eq!(text.observation.as_deref(), Some("\u{1b}[31mred \u{fffd}\u{fffd}"));
}

#[test]
fn files_without_rollouts_say_what_they_are() {
    let reason =
        |name: &str, text: &str| load_text(name, text, &options()).unwrap_err().to_string();
    assert!(reason("a.jsonl", "").contains("a.jsonl holds no rollouts: empty file"));
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    assert!(reason("a.jsonl", pointer).contains("Git LFS pointer"));
    assert!(reason("a.json", r#"{"foo":1,"bar":[2]}"#).contains("JSON with the keys `foo`, `bar`"));
    assert!(reason("notes.txt", "hello").contains("no JSON"));
    let profile = r#"{"mean/reward":0.4,"max/reward":1.0,"_ng_task_index":0}"#;
    assert!(reason("x_reward_profiling.jsonl", profile).contains("reward profile"));
    let broken = "{\"task\":\"t\",\"id\":\"a\",\"steps\":[1}\n";
    let text = reason("b.jsonl", broken);
    assert!(
        text.contains("read as native, but no record could be used; line 1: broken JSON"),
        "{text}"
    );
    assert!(reason("c.jsonl", "[]").contains("no rollouts"));
}

#[test]
fn one_named_file_without_rollouts_is_a_warning_beside_others() {
    let dir = tempfile::tempdir().unwrap();
    let (good, bad) = (dir.path().join("good.jsonl"), dir.path().join("bad.txt"));
    std::fs::write(&good, r#"{"task":"t","id":"a","reward":1,"steps":[]}"#).unwrap();
    std::fs::write(&bad, "hello").unwrap();
    let loaded = load_with(&[good, bad], &options()).unwrap();
    assert!(
        loaded.report.warning("unread").unwrap().text.starts_with("bad.txt: not a rollout file")
    );
}

#[test]
fn a_torn_array_loads_its_whole_elements() {
    let row = |id: u32| {
        format!(
            r#"{{"task_id":1,"reward":1.0,"trial":{id},"info":{{"reward_info":{{}}}},"traj":[]}}"#
        )
    };
    let text = format!("[\n{},\n{},\n{{\"task_id\": 1, \"rew", row(0), row(1));
    let loaded = load_text("tau.json", &text, &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["0", "1"]);
    assert_eq!(
        loaded.report.skipped[0].to_string(),
        "tau.json: element 3 (line 4): cut at the end of the file (file may still be being written)"
    );
}

#[test]
fn a_change_in_one_element_of_a_document_is_told_for_that_element() {
    let step = |seen: &str| format!(r#"[{{"tool":"x","args":{{}},"observation":"{seen}"}}]"#);
    let element =
        |id: &str, seen: &str| format!(r#"{{"id":"{id}","reward":1,"steps":{}}}"#, step(seen));
    let document = format!(
        r#"{{"schema":"credscope/1","task":"t","rollouts":[{},{}]}}"#,
        element("a", "first"),
        element("b", "second")
    );
    let array = format!(
        "[{},{}]",
        element("a", "first").replacen("\"id\"", "\"task\":\"t\",\"id\"", 1),
        element("b", "second").replacen("\"id\"", "\"task\":\"t\",\"id\"", 1)
    );
    for text in [document, array] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        std::fs::write(&path, &text).unwrap();
        let loaded = load_with(std::slice::from_ref(&path), &options()).unwrap();
        let group = with_all_steps(&loaded, 0);
        // The length stays what it was.
        std::fs::write(&path, text.replace("second", "wholly")).unwrap();
        let seen = loaded.sources.step_text(&group, 0, 0).unwrap().observation;
        assert_eq!(seen.as_deref(), Some("first"), "the element before it is as it was");
        let error = loaded.sources.step_text(&group, 1, 0).unwrap_err();
        assert_eq!(error.to_string(), "r.json has changed since it was loaded; load it again");
        assert!(matches!(loaded.sources.rollout_text(&group, 1), Err(TextError::Changed { .. })));
    }
}

#[test]
fn the_report_serializes_without_absolute_paths() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    std::fs::write(&path, "{\"task\":\"t\",\"id\":\"a\",\"reward\":\"1\",\"steps\":[]}\nbroken\n")
        .unwrap();
    let loaded = load_with(&[path], &options()).unwrap();
    let json = serde_json::to_string(&loaded.report).unwrap();
    assert!(!json.contains(&*dir.path().to_string_lossy()), "{json}");
    assert!(json.contains(r#""success_at":">=1""#), "{json}");
}

#[test]
fn nesting_and_many_keys_do_no_harm() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let args = nested("{\"a\":", "1", "}", 100_000);
    let content = nested("[{\"content\":", "\"x\"", "}]", 50_000);
    let keys = (0..50_000).map(|n| format!("\"k{n}\":{n},")).collect::<Vec<_>>().concat();
    let text = [
        format!(r#"{{"task":"t","id":"a","reward":1,"steps":[{{"tool":"x","args":{args}}}]}}"#),
        format!(r#"{{"task":"t","id":"b","reward":1,"messages":[{{"role":"assistant","content":{content}}}]}}"#),
        format!(r#"{{{keys}"task":"t","id":"c","reward":1,"steps":[]}}"#),
        nested("[", "", "]", 100_000),
    ]
    .join("\n");
    let loaded = load_text("r.jsonl", &text, &options()).unwrap();
    assert_eq!(ids(&loaded.corpus.groups[0]), ["a", "b", "c"]);
    assert_eq!(loaded.report.skipped[0].reason, "not an object: a list stands here");
}
