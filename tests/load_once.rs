//! A rollout counts once, however often a framework wrote it, and whole, however many files it is in.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::fs;
use std::io::Write as _;
use std::path::Path;

use credscope::load::{LoadOptions, Loaded};
use load_common::{ids, load_with, outcomes};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read_to_string(path).unwrap()
}

fn loaded(dir: &Path) -> Loaded {
    load_with(&[dir.to_owned()], &LoadOptions::default()).unwrap()
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_file_and_its_packed_twin_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let text = fixture("trainers/swe_gym.jsonl");
    write(dir.path(), "a/run.jsonl", &text);
    let packed = fs::File::create(dir.path().join("a/run.jsonl.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap();
    let both = loaded(dir.path());
    assert_eq!((both.report.files.len(), both.report.totals.rollouts), (1, 2));
    assert_eq!(
        both.report.not_rollouts[0].reason,
        "holds the same as `a/run.jsonl`, which is read"
    );
    assert!(both.report.fault().is_none());
    assert!(both.report.warnings.is_empty(), "{:?}", both.report.warnings);
    // Named, it is told that it was left out: it is a rollout file all the same.
    let paths = ["a/run.jsonl", "a/run.jsonl.gz"].map(|name| dir.path().join(name));
    let named = load_with(&paths, &LoadOptions::default()).unwrap();
    let told = named.report.warning("packed-copy").unwrap();
    assert_eq!(told.text, "run.jsonl.gz: left out: holds the same as `run.jsonl`, which is read");
    assert!(named.report.unread(&paths).is_empty() && named.report.partial().is_none());
    // A folder of another run with the same content is another run.
    write(dir.path(), "b/run.jsonl", &text);
    let two = loaded(dir.path());
    assert_eq!(two.report.totals.rollouts, 4);
    assert!(two.report.warning("same-content").is_some());
    // A packed file that is older than the plain one is another file.
    write(dir.path(), "a/run.jsonl", &text.replace("\"resolved\": true", "\"resolved\": false"));
    assert_eq!(loaded(dir.path()).report.files.len(), 3);
}

/// A copied file and a copied folder: all of their rollouts count, and it is said which files are copies.
#[test]
fn copies_of_files_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let rollout = |instance: &str| {
        format!(
            r#"{{"info":{{"exit_status":"Submitted","submission":"x","model_stats":{{}},"config":{{"model":{{"model_name":"m"}}}}}},
            "messages":[{{"role":"system","content":"s"}},{{"role":"user","content":"fix {instance}"}},
            {{"role":"assistant","content":"look\n```bash\nls\n```"}},{{"role":"user","content":"<returncode>0</returncode>\n<output>\na\n</output>"}}],
            "trajectory_format":"mini-swe-agent-1","instance_id":"{instance}"}}"#
        )
    };
    write(dir.path(), "run1/a.traj.json", &rollout("a"));
    write(dir.path(), "run1/b.traj.json", &rollout("b"));
    let one = loaded(dir.path());
    assert_eq!(one.report.totals.rollouts, 2);
    assert!(one.report.warning("same-content").is_none());
    write(dir.path(), "run1/backup.traj.json", &rollout("a"));
    for name in ["a", "b"] {
        write(dir.path(), &format!("run1_copy/{name}.traj.json"), &rollout(name));
    }
    let all = loaded(dir.path());
    let same = all.report.warning("same-content").unwrap();
    assert_eq!(all.report.totals.rollouts, 5);
    assert_eq!(
        same.text,
        format!(
            "3 files hold the same as another file: `run1/backup.traj.json` as `run1/a.traj.json`, \
             `run1_copy/a.traj.json` as `run1/a.traj.json`, `run1_copy/b.traj.json` as `run1/b.traj.json`; \
             3 rollouts count more than once"
        )
    );
    assert!(
        same.hint.as_deref().unwrap().starts_with("delete the copies, or name only one of them")
    );
    let copy = all.report.files.iter().find(|f| f.name == "run1/backup.traj.json").unwrap();
    assert_eq!(copy.problems, ["holds the same as `run1/a.traj.json`"]);
    assert!(all.report.partial().is_none(), "nothing is missing");
}

/// Equal rows of one file are samples; two files of equal rows are told, members of archives as well.
#[test]
fn equal_rows_are_samples_and_equal_files_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let row = r#"{"input":"q","output":"a","score":1.0,"step":1}"#;
    write(dir.path(), "1.jsonl", &format!("{row}\n{row}\n"));
    let one = loaded(dir.path());
    assert_eq!(one.report.totals.rollouts, 2);
    assert!(one.report.warning("same-content").is_none());
    // The same rows once more are no copy of the file.
    write(dir.path(), "2.jsonl", &format!("{row}\n{row}\n{row}\n"));
    let told = |loaded: &Loaded| {
        let same = loaded.report.warning("same-content");
        same.is_some_and(|w| w.text.contains("as another file"))
    };
    assert!(!told(&loaded(dir.path())));
    let mut zip = zip::ZipWriter::new(fs::File::create(dir.path().join("old.zip")).unwrap());
    zip.start_file("1.jsonl", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(format!("{row}\n{row}\n").as_bytes()).unwrap();
    zip.finish().unwrap();
    let all = loaded(dir.path());
    assert_eq!(all.report.totals.rollouts, 7);
    let text = &all.report.warning("same-content").unwrap().text;
    assert!(
        text.starts_with(
            "1 file holds the same as another file: `old.zip!1.jsonl` as `1.jsonl`; 2 rollouts count"
        ),
        "{text}"
    );
}

#[test]
fn critic_attempts_are_rollouts_and_the_best_of_them_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let attempt =
        |k: u32| fixture(&format!("agents/openhands/v1/run-1/output.critic_attempt_{k}.jsonl"));
    for k in [1, 2] {
        write(dir.path(), &format!("run-1/output.critic_attempt_{k}.jsonl"), &attempt(k));
    }
    // What the evaluation writes in the end: the chosen attempt, with its verdict.
    let best = attempt(2).replacen("\"git_patch\": \"\"", "\"report\": {\"resolved\": true}", 1);
    assert_ne!(best, attempt(2));
    write(dir.path(), "run-1/output.jsonl", &best);
    let all = loaded(dir.path());
    let [group] = &all.corpus.groups[..] else { panic!("{:?}", all.report.group_sizes) };
    assert_eq!(ids(group), ["run-1.1", "run-1.2"]);
    assert!(outcomes(group).contains(&("success", 1)), "{:?}", outcomes(group));
    let told = all.report.collapsed[0].to_string();
    assert_eq!(
        told,
        "output.critic_attempt_2.jsonl: line 1, rollout run-1.2: a copy, the last one is kept"
            .replace("output", "run-1/output")
    );
}

#[test]
fn an_evaluated_file_replaces_the_one_it_was_made_of() {
    let dir = tempfile::tempdir().unwrap();
    let evaluated = fixture("agents/openhands/v0/output.swebench_eval.jsonl");
    let before = evaluated.replace(", \"report\": {\"resolved\": true}", "");
    assert_ne!(before, evaluated);
    write(dir.path(), "run/output.jsonl", &before);
    write(dir.path(), "run/output.swebench_eval.jsonl", &evaluated);
    let all = loaded(dir.path());
    assert_eq!((all.report.totals.rollouts, all.report.totals.successes), (2, 1));
    assert_eq!(all.report.totals.duplicates, 2);
}

#[test]
fn predictions_beside_a_trajectory_are_no_rollouts() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "run/toy__toy-1/toy__toy-1.traj",
        &fixture("agents/swe-agent/run-1/toy__toy-1/toy__toy-1.traj"),
    );
    let one = loaded(dir.path()).report.totals.rollouts;
    write(
        dir.path(),
        "run/preds.json",
        r#"{"toy__toy-1":{"model_name_or_path":"m","instance_id":"toy__toy-1","model_patch":"diff"}}"#,
    );
    write(
        dir.path(),
        "run/toy__toy-1/toy__toy-1.pred",
        r#"{"model_name_or_path":"m","instance_id":"toy__toy-1","model_patch":"diff"}"#,
    );
    write(
        dir.path(),
        "run/all_preds.jsonl",
        "{\"model_name_or_path\":\"m\",\"instance_id\":\"toy__toy-1\",\"model_patch\":\"diff\"}\n",
    );
    let all = loaded(dir.path());
    assert_eq!((all.report.totals.rollouts, all.report.files.len()), (one, 1));
    assert_eq!(all.report.not_rollouts.len(), 3);
}

const STEP: &str = r#"{"step_id":STEP,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"bash_command","arguments":{"keystrokes":"STEP"}}],"observation":{"results":[{"content":"seen STEP"}]}}"#;

/// A part of an ATIF trajectory: its steps after `copied` ones that an earlier part has.
fn part(session: &str, copied: u32, steps: &[u32], next: &str) -> String {
    let head = r#"{"schema_version":"ATIF-v1.6","agent":{"name":"terminus-2","version":"2","model_name":"m"}"#;
    let mark = if copied > 0 { ",\"is_copied_context\":true" } else { "" };
    let prompt = format!("{{\"step_id\":0,\"source\":\"user\",\"message\":\"do it\"{mark}}}");
    let old = (1..=copied).map(|n| {
        let step = STEP.replace("STEP", &n.to_string());
        step.replacen('{', "{\"is_copied_context\":true,", 1)
    });
    let new = steps.iter().map(|n| STEP.replace("STEP", &n.to_string()));
    let all: Vec<String> = std::iter::once(prompt).chain(old).chain(new).collect();
    let next = if next.is_empty() {
        String::new()
    } else {
        format!(",\"continued_trajectory_ref\":\"{next}\"")
    };
    format!("{head},\"session_id\":\"{session}\",\"steps\":[{}]{next}}}", all.join(","))
}

#[test]
fn a_trajectory_goes_on_in_further_files() {
    for folder in ["jobs/j/toy__aB3dE6g/agent", "plain"] {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| format!("{folder}/{name}");
        write(dir.path(), &at("trajectory.json"), &part("s", 0, &[1, 2], "trajectory.cont-1.json"));
        let loaded_alone = loaded(dir.path());
        let note = &loaded_alone.report.notes[0];
        assert_eq!(
            note.reason,
            "the rollout goes on in `trajectory.cont-1.json`, which was not given"
        );
        write(
            dir.path(),
            &at("trajectory.cont-1.json"),
            &part("s-cont-1", 2, &[3], "trajectory.cont-2.json"),
        );
        write(dir.path(), &at("trajectory.cont-2.json"), &part("s-cont-2", 3, &[4, 5], ""));
        write(
            dir.path(),
            &at("trajectory.summarization-1-summary.json"),
            &part("s-summarization", 0, &[9], ""),
        );
        let all = loaded(dir.path());
        let [group] = &all.corpus.groups[..] else { panic!("{:?}", all.report.group_sizes) };
        let [rollout] = &group.rollouts[..] else { panic!("{:?}", ids(group)) };
        assert_eq!(
            (rollout.steps.len(), &rollout.segment_starts[..]),
            (5, &[2, 3][..]),
            "{folder}"
        );
        let texts = all.sources.rollout_text(group, 0).unwrap();
        let seen: Vec<_> = texts.iter().map(|t| t.observation.as_deref().unwrap()).collect();
        assert_eq!(seen, ["seen 1", "seen 2", "seen 3", "seen 4", "seen 5"]);
        assert_eq!((all.report.totals.joined_segments, all.report.totals.notes), (2, 0));
        assert_eq!(all.report.not_rollouts.len(), 1);
    }
}

#[test]
fn simulations_in_files_of_their_own_know_their_run() {
    let dir = tempfile::tempdir().unwrap();
    let simulation = fixture("trainers/tau2_run/simulations/5f00-0.json");
    write(dir.path(), "my_run/simulations/5f00-0.json", &simulation);
    write(
        dir.path(),
        "my_run/results.json",
        r#"{"timestamp":"t","info":{"agent_info":{"implementation":"llm_agent","llm":"lib-1b"},"environment_info":{"domain_name":"telecom"}},"tasks":[{"id":"2","user_scenario":{"instructions":"Your line is dead."}}]}"#,
    );
    // Also when the simulations alone are given.
    for path in ["my_run", "my_run/simulations"] {
        let all = loaded(&dir.path().join(path));
        let group = &all.corpus.groups[0];
        assert_eq!(
            (group.key.namespace.as_str(), group.key.policy.as_deref()),
            ("telecom", Some("lib-1b"))
        );
        assert_eq!(group.prompt, "Your line is dead.");
    }
    // Without it the domain is that of the place, be it a folder or the file itself.
    fs::remove_file(dir.path().join("my_run/results.json")).unwrap();
    fs::rename(dir.path().join("my_run"), dir.path().join("gpt_retail_4")).unwrap();
    assert_eq!(loaded(dir.path()).corpus.groups[0].key.namespace, "retail");
    let document = fixture("trainers/tau2.json").replace("\"domain_name\": \"telecom\",", "");
    write(dir.path(), "x/m_airline_full.json", &document);
    let all = loaded(&dir.path().join("x"));
    assert!(all.corpus.groups.iter().all(|g| g.key.namespace == "airline"));
}
