//! Verdicts that stand in other files, outcome maps and sidecars.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod load_common;

use std::fs;

use credscope::load::{LoadError, LoadOptions, Loaded, Pool};
use credscope::rollout::{Group, Outcome};
use load_common::{corpus, ids, load_with, outcomes};

fn group<'l>(loaded: &'l Loaded, task: &str, policy: &str) -> &'l Group {
    let mut found = loaded.corpus.groups.iter().filter(|g| {
        g.key.task == task && g.key.policy.as_deref().unwrap_or_default().contains(policy)
    });
    found.next().unwrap()
}

#[test]
fn summaries_and_reports_of_swe_bench_reach_their_runs() {
    let Some(dir) = corpus("mini-swe-agent/deepseek-dev") else { return };
    let loaded = load_with(std::slice::from_ref(&dir), &LoadOptions::default()).unwrap();
    let chat = group(&loaded, "sqlfluff__sqlfluff-1733", "deepseek-chat");
    assert_eq!(outcomes(chat), [("success", 2), ("failure", 2)]);
    let reasoner = group(&loaded, "sqlfluff__sqlfluff-1733", "deepseek-reasoner");
    assert_eq!(outcomes(reasoner), [("error", 1)]);
    assert!(reasoner.rollouts[0].ending.contains("InternalServerError"));
    let easy = group(&loaded, "sqlfluff__sqlfluff-2419", "deepseek-chat");
    assert_eq!(outcomes(easy), [("success", 4)]);
    for rollout in &easy.rollouts {
        assert!(rollout.outcome_source.contains(".json: resolved"), "{}", rollout.outcome_source);
        assert!(!rollout.outcome_source.starts_with('/'));
    }
    assert_eq!(loaded.report.totals.scored, 8);
    assert_eq!(loaded.report.joins.iter().map(|j| j.matched).sum::<usize>(), 8);

    let pooled =
        LoadOptions { pool: Pool { policy: true, train_step: false }, ..LoadOptions::default() };
    let loaded = load_with(&[dir], &pooled).unwrap();
    let all = group(&loaded, "sqlfluff__sqlfluff-1733", "");
    assert_eq!(outcomes(all), [("success", 2), ("failure", 2), ("error", 1)]);
}

#[test]
fn flat_reports_under_logs_are_joined() {
    let Some(dir) = corpus("mini-swe-agent/gemini-3-pro-v1") else { return };
    let loaded = load_with(&[dir], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.totals.rollouts, 2);
    assert_eq!(loaded.report.totals.scored, 2);
    assert_eq!(loaded.report.joins.len(), 1);
    assert_eq!((loaded.report.joins[0].matched, loaded.report.joins[0].missing), (2, 0));
}

#[test]
fn a_report_beside_its_trajectory() {
    let Some(dir) = corpus("swe-agent/swe-smith") else { return };
    let loaded = load_with(&[dir], &LoadOptions::default()).unwrap();
    let rollouts = loaded.corpus.groups.iter().flat_map(|g| &g.rollouts);
    let told: Vec<_> = rollouts.filter(|r| r.outcome_source.contains("report.json")).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].outcome != Outcome::Success);
}

#[test]
fn a_harbor_trial_brings_its_result() {
    let Some(file) = corpus("harbor-atif/openhands__hello-world.trajectory.json") else { return };
    let dir = tempfile::tempdir().unwrap();
    for (trial, verdict) in [
        ("hello-world__aB3dE6g", r#"{"rewards":{"reward":1.0}}"#),
        ("hello-world__zZ9yY8x", "null"),
    ] {
        let agent = dir.path().join(trial).join("agent");
        fs::create_dir_all(&agent).unwrap();
        fs::copy(&file, agent.join("trajectory.json")).unwrap();
        let result = format!(
            r#"{{"id":"u","task_name":"hello-world","trial_name":"{trial}","agent_info":{{"name":"openhands"}},"verifier_result":{verdict}}}"#
        );
        fs::write(dir.path().join(trial).join("result.json"), result).unwrap();
    }
    let loaded = load_with(&[dir.path().into()], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.corpus.groups.len(), 1);
    let group = &loaded.corpus.groups[0];
    assert_eq!(ids(group), ["hello-world__aB3dE6g", "hello-world__zZ9yY8x"]);
    assert_eq!(outcomes(group), [("success", 1), ("unscored", 1)]);
}

const LINES: &str = r#"{"task":"t","id":"a","steps":[{"tool":"x","args":{}},{"tool":"y","args":{}}]}
{"task":"t","id":2,"reward":0,"steps":[{"tool":"x","args":{}}]}
{"task":"u","id":"a","steps":[{"tool":"x","args":{}}]}
{"task":"u","id":"c","steps":[{"tool":"x","args":{}}]}
"#;

fn with(name: &str, table: &str, sidecar: bool) -> Result<Loaded, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let (rollouts, path) = (dir.path().join("r.jsonl"), dir.path().join(name));
    fs::write(&rollouts, LINES).unwrap();
    fs::write(&path, table).unwrap();
    let mut options = LoadOptions::default();
    if sidecar {
        options.sidecars.push(path);
    } else {
        options.outcomes.push(path);
    }
    load_with(&[rollouts], &options)
}

fn outcome(loaded: &Loaded, task: &str, id: &str) -> (Outcome, String) {
    let group = group(loaded, task, "");
    let rollout = &group.rollouts[group.find(id).unwrap()];
    (rollout.outcome, rollout.outcome_source.clone())
}

#[test]
fn outcome_maps_in_csv_and_json() {
    let loaded =
        with("map.csv", "task,rollout,outcome\nt,a,success\n,2,1\nu,a,failure\n,zz,1\n", false)
            .unwrap();
    assert_eq!(outcome(&loaded, "t", "a"), (Outcome::Success, "map.csv: outcome".to_owned()));
    assert_eq!(outcome(&loaded, "t", "2").0, Outcome::Success);
    assert_eq!(outcome(&loaded, "u", "a").0, Outcome::Failure);
    assert_eq!(outcome(&loaded, "u", "c").0, Outcome::Unscored);
    let join = &loaded.report.joins[0];
    assert_eq!((join.matched, join.missing, join.extra, join.ambiguous), (3, 1, 1, 0));
    assert_eq!(join.left_over, ["zz"]);
    let partial = loaded.report.warning("join-partial").unwrap();
    assert!(partial.text.ends_with("1 entry without a rollout; left over: `zz`"), "{partial:?}");
    let hint = partial.hint.as_deref().unwrap();
    assert!(hint.starts_with("check the ids") && hint.contains("keep the verdict"), "{hint}");

    let loaded = with("map.json", r#"{"a":"success","c":0.5,"2":true}"#, false).unwrap();
    let join = &loaded.report.joins[0];
    assert_eq!((join.matched, join.missing, join.extra, join.ambiguous), (2, 2, 0, 1));
    assert_eq!(outcome(&loaded, "u", "c"), (Outcome::Failure, "map.json: value >=1".to_owned()));
    assert_eq!(outcome(&loaded, "t", "a").0, Outcome::Unscored);
    assert_eq!(join.left_over, ["a"]);
    let unclear = &loaded.report.warning("join-ambiguous").unwrap().text;
    assert!(unclear.ends_with(", 1 whose id several tasks have; left over: `a`"), "{unclear}");

    let wrong = with("map.csv", "x,y\n1,2\n", false).unwrap_err();
    assert!(wrong.to_string().contains("map.csv") && wrong.hint().is_some());
}

#[test]
fn sidecars_put_columns_on_steps() {
    let loaded = with(
        "side.csv",
        "task,rollout,step,state,step_reward,critic,word\nt,a,0,S,0.5,0.25,p\nt,a,1,,,,q\n,2,0,S,0,1,r\n,2,9,S,0,1,r\n,a,0,Z,,,\n",
        true,
    )
    .unwrap();
    let join = &loaded.report.joins[0];
    assert_eq!((join.matched, join.missing, join.extra, join.ambiguous), (3, 2, 1, 1));
    let group = group(&loaded, "t", "");
    // "2" comes before "a".
    assert_eq!(group.steps.step_reward, [Some(0.0), Some(0.5), None]);
    assert_eq!(group.symbols.text(group.steps.state[1]), "S");
    assert!(group.steps.state[2].is_none());
    assert_eq!(group.steps.values, [("critic".to_owned(), vec![Some(1.0), Some(0.25), None])]);
    let wrong = with("side.jsonl", "{\"rollout\":\"a\",\"stop\":\"x\"}\n", true).unwrap_err();
    assert!(wrong.to_string().contains("`rollout` and `step` are needed"), "{wrong}");
}

/// A row that cannot be used costs itself: the load is partial, and names file, row and column.
#[test]
fn bad_rows_of_tables_cost_themselves() {
    let side =
        "task,rollout,step,state,step_reward\nt,a,0,S,0.5\nt,a,x,S,1\nt,a,1,Q,much\nt,2,0,S\n";
    let loaded = with("side.csv", side, true).unwrap();
    let told: Vec<String> = loaded.report.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "side.csv: line 3, field `step`: a whole number from 0 was expected, `x` stands there",
            "side.csv: line 4, field `step_reward`: a finite number was expected, `much` stands there",
            "side.csv: line 5: 5 cells were expected, not 4",
        ]
    );
    let report = &loaded.report;
    assert!(report.partial().unwrap().contains("3 lines skipped") && report.fault().is_some());
    let join = &report.joins[0];
    assert_eq!((join.matched, join.extra), (1, 0));
    let group = group(&loaded, "t", "");
    // "2" comes before "a".
    assert_eq!(group.steps.step_reward, [None, Some(0.5), None]);
    assert!(group.steps.state[2].is_none());

    let map = "task,rollout,outcome\nt,a,success\nt,2,perhaps\n";
    let loaded = with("map.csv", map, false).unwrap();
    assert_eq!(outcome(&loaded, "t", "a").0, Outcome::Success);
    let told = loaded.report.skipped[0].to_string();
    assert!(told.starts_with("map.csv: line 3, field `outcome`: `perhaps` is neither"), "{told}");
    assert_eq!(loaded.report.totals.skipped, 1);
    let lines = "{\"rollout\":\"a\",\"task\":\"t\",\"outcome\":\"success\"}\n{\"rollout\":\n";
    let loaded = with("map.jsonl", lines, false).unwrap();
    assert_eq!((loaded.report.skipped[0].number, loaded.report.totals.skipped), (2, 1));
}

/// What is left over is named: the first three in words, the first twenty as data. What could not be read is
/// told as skipped, and not here.
#[test]
fn what_is_left_over_is_named() {
    let strangers: Vec<String> = (1..=25).map(|n| format!(",x{n},1\n")).collect();
    let map = format!("task,rollout,outcome\nt,a,1\nv,a,1\n,y,perhaps\n{}", strangers.concat());
    let loaded = with("map.csv", &map, false).unwrap();
    let join = &loaded.report.joins[0];
    assert_eq!((join.matched, join.extra, join.left_over.len()), (1, 26, 20));
    assert_eq!(join.left_over[..3], ["v a", "x1", "x2"]);
    let text = &loaded.report.warning("join-partial").unwrap().text;
    assert!(text.ends_with("; left over: `v a`, `x1`, `x2` and 23 more"), "{text}");
    // Rows of a sidecar by rollout and step: an unknown rollout, a step too many, an id of two tasks.
    let side = "task,rollout,step,p\nt,a,0,1\n,zz,0,1\nt,a,9,1\n,a,0,1\n,c,x,1\n";
    let loaded = with("side.csv", side, true).unwrap();
    let join = &loaded.report.joins[0];
    assert_eq!((join.matched, join.extra, join.ambiguous), (1, 2, 1));
    assert_eq!(join.left_over, ["zz:0", "a:9", "a:0"]);
}

/// A cell that is no number costs only itself, and is told with its place.
#[test]
fn one_bad_cell_of_a_sidecar_is_one_missing_number() {
    let csv = "task,rollout,step,p,q,word\nt,a,0,0.5,1,x\n\nt,a,1,oops,1,y\n,2,0,nan,1,\n";
    let lines = "{\"task\":\"t\",\"rollout\":\"a\",\"step\":0,\"p\":0.5,\"q\":1,\"word\":\"x\"}\n\n\
        {\"task\":\"t\",\"rollout\":\"a\",\"step\":1,\"p\":\"oops\",\"q\":1}\n\
        {\"rollout\":2,\"step\":0,\"p\":\"nan\",\"q\":1}\n";
    let list = format!("[{}]", lines.trim().replace("}\n\n{", "},{").replace("}\n{", "},{"));
    for (name, text, unit, first) in [
        ("side.csv", csv, "line", 4),
        ("side.jsonl", lines, "line", 3),
        ("side.json", list.as_str(), "element", 2),
    ] {
        let loaded = with(name, text, true).unwrap();
        let group = group(&loaded, "t", "");
        // "2" comes before "a".
        let p = ("p".to_owned(), vec![None, Some(0.5), None]);
        let q = ("q".to_owned(), vec![Some(1.0); 3]);
        let mut found = group.steps.values.clone();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, [p, q], "{name}");
        let notes: Vec<_> = loaded.report.notes.iter().map(|n| (n.number, &*n.field)).collect();
        assert_eq!(notes, [(first, "p"), (first + 1, "p")], "{name}");
        let note = &loaded.report.notes[0];
        assert!(
            note.file == name && note.unit == unit && note.reason.contains("`oops`"),
            "{note:?}"
        );
        let join = &loaded.report.joins[0];
        assert_eq!(
            (&*join.numbers, &*join.texts),
            (&["p".into(), "q".into()][..], &["word".into()][..])
        );
        let warning = &loaded.report.warning("coerced").unwrap().text;
        let told =
            format!("2 values coerced or odd; first: {name}, {unit} {}, `p`: `nan`", first + 1);
        assert!(warning.contains(&told), "{warning}");
    }
}

/// A folder of one run with two instances, and side files beside it.
fn evaluated(files: &[(&str, &str)]) -> Loaded {
    load_common::evaluated(&["run_1/a__a-1", "run_1/b__b-2"], files)
}

fn verdict(loaded: &Loaded, task: &str) -> (Outcome, String) {
    let rollout = &group(loaded, task, "").rollouts[0];
    (rollout.outcome, rollout.outcome_source.clone())
}

fn disagreement(loaded: &Loaded) -> String {
    loaded.report.warning("verdicts-disagree").map(|w| w.text.clone()).unwrap_or_default()
}

#[test]
fn an_instance_in_two_lists_of_a_summary_has_no_verdict() {
    for (list, other) in [
        ("unresolved_ids", r#""empty_patch_ids":[]"#),
        ("empty_patch_ids", r#""unresolved_ids":[]"#),
        ("error_ids", r#""unresolved_ids":[]"#),
    ] {
        let summary = format!(
            r#"{{"resolved_ids":["a__a-1","b__b-2"],"{list}":["a__a-1"],{other},"schema_version":2}}"#
        );
        let loaded = evaluated(&[("m.run_1.json", &summary)]);
        let (outcome, why) = verdict(&loaded, "a__a-1");
        assert_eq!(outcome, Outcome::Unscored, "{list}");
        assert_eq!(
            why,
            format!(
                "contradictory verdicts: m.run_1.json: it stands in `{list}` and `resolved_ids`"
            )
        );
        assert_eq!(verdict(&loaded, "b__b-2").0, Outcome::Success);
        let told = disagreement(&loaded);
        assert!(
            told.starts_with("1 rollout with contradictory verdicts; first: `a__a-1`"),
            "{told}"
        );
        assert!(told.contains("m.run_1.json"), "{told}");
        assert_eq!(loaded.report.totals.unscored, 1);
    }
    // Two lists that say the same are no contradiction.
    let loaded = evaluated(&[(
        "m.run_1.json",
        r#"{"resolved_ids":[],"unresolved_ids":["a__a-1","b__b-2"],"empty_patch_ids":["a__a-1"]}"#,
    )]);
    assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Failure);
    assert_eq!(disagreement(&loaded), "");
}

#[test]
fn a_report_and_a_summary_of_one_run_that_differ_give_no_verdict() {
    let summary = r#"{"resolved_ids":["b__b-2"],"unresolved_ids":["a__a-1"],"schema_version":2}"#;
    let report =
        |resolved| format!(r#"{{"a__a-1":{{"resolved":{resolved},"patch_exists":true}}}}"#);
    let (of_run, flat) =
        ("logs/run_evaluation/run_1/m/a__a-1/report.json", "logs/a__a-1/report.json");
    for (place, told) in [
        (of_run, format!("{of_run} says resolved, m.run_1.json unresolved")),
        (flat, format!("m.run_1.json says unresolved, {flat} resolved")),
    ] {
        let loaded = evaluated(&[("m.run_1.json", summary), (place, &report(true))]);
        let (outcome, why) = verdict(&loaded, "a__a-1");
        assert_eq!(outcome, Outcome::Unscored);
        assert_eq!(why, format!("contradictory verdicts: {told}"));
        assert_eq!(verdict(&loaded, "b__b-2").0, Outcome::Success);
        assert!(disagreement(&loaded).contains("`a__a-1`"));
        // Where they agree, nothing is told.
        let loaded = evaluated(&[("m.run_1.json", summary), (place, &report(false))]);
        assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Failure);
        assert_eq!(disagreement(&loaded), "");
    }
}

#[test]
fn a_summary_of_the_run_outweighs_a_list_that_only_lies_above_it() {
    let summary = r#"{"resolved_ids":["a__a-1"],"unresolved_ids":["b__b-2"]}"#;
    let list = r#"{"resolved":["b__b-2"],"no_generation":[]}"#;
    let loaded = evaluated(&[("results/results.json", list), ("m.run_1.json", summary)]);
    assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Success);
    assert_eq!(verdict(&loaded, "b__b-2").0, Outcome::Failure);
    assert_eq!(disagreement(&loaded), "");
}

#[test]
fn a_record_with_a_verdict_of_its_own_keeps_it_and_a_side_file_against_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let line = r#"{"instance_id":"a__a-1","resolved":true,"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":"<function=bash>\n<parameter=command>ls</parameter>\n</function>"}]}"#;
    fs::create_dir(dir.path().join("run_1")).unwrap();
    fs::write(dir.path().join("run_1/out.jsonl"), line).unwrap();
    let summary = r#"{"resolved_ids":[],"unresolved_ids":["a__a-1"]}"#;
    fs::write(dir.path().join("m.run_1.json"), summary).unwrap();
    let loaded = load_with(&[dir.path().into()], &LoadOptions::default()).unwrap();
    assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Success);
    let told = disagreement(&loaded);
    assert!(told.contains("the record itself says resolved, which counts"), "{told}");
    assert!(told.contains("m.run_1.json unresolved"), "{told}");
}

#[test]
fn numbers_that_are_equal_are_one_id_and_texts_stay() {
    let lines = r#"{"task":2,"id":1,"reward":1,"steps":[{"tool":"x","args":{}}]}
{"task":2.0,"id":2.0,"reward":0,"steps":[{"tool":"x","args":{}}]}
{"task":"2","id":"3","reward":0,"steps":[{"tool":"x","args":{}}]}
{"task":"2.0","id":4e0,"reward":0,"steps":[{"tool":"x","args":{}}]}
{"task":9007199254740993,"id":5,"reward":0,"steps":[{"tool":"x","args":{}}]}
{"task":9007199254740993.0,"id":6,"reward":0,"steps":[{"tool":"x","args":{}}]}
{"task":9007199254740992,"id":7,"reward":0,"steps":[{"tool":"x","args":{}}]}
"#;
    let dir = tempfile::tempdir().unwrap();
    let (rollouts, map) = (dir.path().join("r.jsonl"), dir.path().join("m.jsonl"));
    fs::write(&rollouts, lines).unwrap();
    fs::write(&map, "{\"rollout\":3.0,\"outcome\":\"success\"}\n").unwrap();
    let options = LoadOptions { outcomes: vec![map], ..LoadOptions::default() };
    let loaded = load_with(&[rollouts], &options).unwrap();
    let found: Vec<(&str, Vec<&str>)> =
        loaded.corpus.groups.iter().map(|g| (g.key.task.as_str(), ids(g))).collect();
    let wanted = [
        ("2", vec!["1", "2", "3"]),
        ("2.0", vec!["4"]),
        ("9007199254740992", vec!["7"]),
        ("9007199254740993", vec!["5", "6"]),
    ];
    assert_eq!(found, wanted);
    assert_eq!(outcome(&loaded, "2", "3").0, Outcome::Success);
}

/// Two entries about one rollout that differ give it no verdict, in every form; equal ones are one.
#[test]
fn an_outcome_map_that_contradicts_itself_gives_no_verdict_and_says_so() {
    for (name, map, places) in [
        (
            "map.csv",
            "rollout,task,outcome\na,t,success\na,t,failure\n2,,1\n2,,success\n",
            "line 2 says success, line 3 failure",
        ),
        (
            "map.jsonl",
            "{\"rollout\":\"a\",\"task\":\"t\",\"outcome\":1}\n{\"rollout\":\"a\",\"task\":\"t\",\"outcome\":0}\n\
             {\"rollout\":2,\"outcome\":true}\n{\"rollout\":2,\"outcome\":true}\n",
            "line 1 says 1, line 2 0",
        ),
        (
            "map.json",
            r#"{"t":"success","t":"failure","2":1,"2":true}"#,
            "line 1 says success, line 1 failure",
        ),
    ] {
        let loaded = with(name, map, false).unwrap();
        let (decided, why) = outcome(&loaded, "t", "a");
        assert_eq!(decided, Outcome::Unscored, "{name}");
        assert_eq!(why, format!("contradictory verdicts: {name}: {places}"));
        let told = disagreement(&loaded);
        assert!(
            told.starts_with("1 rollout with contradictory verdicts; first: `t`, rollout a: "),
            "{told}"
        );
        assert!(told.contains(places), "{told}");
        assert_eq!(outcome(&loaded, "t", "2").0, Outcome::Success, "{name}");
        assert_eq!(loaded.report.joins[0].extra, 0, "{name}");
    }
}

/// Rows about one step that differ are not used; a row that stands twice is one.
#[test]
fn rows_of_a_sidecar_that_contradict_each_other_are_skipped() {
    let side = "task,rollout,step,step_reward\nt,a,0,0.5\nt,a,0,0.9\nt,a,1,1\nt,a,1,1\n";
    let loaded = with("side.csv", side, true).unwrap();
    let told: Vec<String> = loaded.report.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "side.csv: line 3, field `step`: line 2 says something else about this step: none of them is used"
        ]
    );
    let join = &loaded.report.joins[0];
    assert_eq!((join.matched, join.extra), (1, 0));
    // "2" comes before "a".
    assert_eq!(group(&loaded, "t", "").steps.step_reward, [None, None, Some(1.0)]);
}

/// Of two maps the later one counts, and what the earlier one said is told.
#[test]
fn two_outcome_maps_that_differ_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let rollouts = dir.path().join("r.jsonl");
    std::fs::write(&rollouts, r#"{"task":"t","id":"a","steps":[{"state":"s","action":"x"}]}"#)
        .unwrap();
    let mut options = LoadOptions::default();
    for (name, text) in [("one.json", r#"{"a":"success"}"#), ("two.json", r#"{"a":0}"#)] {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        options.outcomes.push(path);
    }
    let loaded = load_with(&[rollouts], &options).unwrap();
    assert_eq!(outcome(&loaded, "t", "a").0, Outcome::Failure);
    let told = disagreement(&loaded);
    assert!(
        told.ends_with("one.json says success, two.json, which was given later and counts, 0"),
        "{told}"
    );
}
