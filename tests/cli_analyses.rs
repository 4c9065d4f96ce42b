//! Sweeps, panels, comparisons: rows by hand and against runs of other commands.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;
mod common;

use cli_common::{Bench, WORKED, close, csv, numbers, texts};

fn sample() -> String {
    common::sample("slugify-fix/rollouts.jsonl").to_str().unwrap().to_owned()
}

/// The cells of a row under these names.
fn cells(text: &str, row: usize, names: &[&str]) -> Vec<String> {
    names.iter().map(|n| texts(text, n)[row].clone()).collect()
}

#[test]
fn rows_of_a_sweep_are_those_of_separate_runs() {
    let bench = Bench::new("{}");
    let file = sample();
    let shared = [
        "states",
        "pairs",
        "shared_steps",
        "branching_states",
        "compared_steps",
        "shared_only_steps",
        "self_steps",
        "single_steps",
        "both_pos",
        "rescued",
        "both_neg",
        "penalized",
        "inside",
        "missing",
        "skill",
        "skill_null",
        "skill_ceiling",
        "coverage",
    ];
    let sweeps: [(&str, &str, &[&str]); 5] = [
        ("view-bucket", "--knob", &["off", "25", "50", "100"]),
        ("edit-hash", "--knob", &["0", "4", "16"]),
        ("n-prior", "--n-prior", &["0", "2", "8"]),
        ("gamma", "--gamma", &["0.9", "1"]),
        ("tau", "--tau", &["0", "0.1"]),
    ];
    for (knob, flag, values) in sweeps {
        let all = format!("{knob}={}", values.join(","));
        let swept = bench.ok(&["sweep", &file, "--knob", &all, "--format", "csv", "--no-stamp"]);
        for (at, value) in values.iter().enumerate() {
            let given =
                if flag == "--knob" { format!("{knob}={value}") } else { (*value).to_owned() };
            let alone = bench.ok(&["groups", &file, flag, &given, "--format", "csv"]);
            assert_eq!(cells(&swept, at, &shared), cells(&alone, 0, &shared), "{knob}={value}");
            // The same row from a sweep of this value alone, byte for byte.
            let one = format!("{knob}={value}");
            let single =
                bench.ok(&["sweep", &file, "--knob", &one, "--format", "csv", "--no-stamp"]);
            assert_eq!(single.lines().nth(1).unwrap(), swept.lines().nth(at + 1).unwrap());
        }
    }
}

#[test]
fn flips_of_a_sweep_are_counted_against_the_setting_in_force() {
    let bench = Bench::new("{}");
    let file = sample();
    let args = ["sweep", &file, "--knob", "view-bucket=off,100", "--format", "csv"];
    let swept = bench.ok(&args);
    assert_eq!(texts(&swept, "current"), ["false", "true"]);
    let values = |knob: &str| numbers(&bench.ok(&["steps", &file, "--knob", knob]), "rtmc");
    let (now, then) = (values("view-bucket=100"), values("view-bucket=off"));
    let both = || now.iter().zip(&then);
    let flips = both().filter(|(a, b)| a.abs() > 0.01 && b.abs() > 0.01 && *a * *b < 0.0).count();
    let faded = both().filter(|(a, b)| a.abs() > 0.01 && b.abs() <= 0.01).count();
    assert!(flips > 0);
    assert_eq!(numbers(&swept, "flips"), [flips as f64, 0.0]);
    assert_eq!(numbers(&swept, "faded"), [faded as f64, 0.0]);
}

#[test]
fn a_sweep_by_hand() {
    let bench = Bench::new(WORKED);
    let out = bench.ok(&[
        "sweep",
        "input.json",
        "--step-reward",
        "none",
        "--knob",
        "n-prior=0,2",
        "--knob",
        "tau=0,0.01",
        "--format",
        "csv",
    ]);
    assert_eq!(csv(&out).1.len(), 4);
    assert_eq!(texts(&out, "value"), ["0", "0", "2", "2"]);
    assert_eq!(texts(&out, "value_2"), ["0", "0.01", "0", "0.01"]);
    // Twelve steps; s0 (4 visits), s1 (2) and s3 (3) are shared, s2, s4, s5 have one visit each.
    close(&numbers(&out, "sharing"), &[0.75; 4], 1e-12);
    close(&numbers(&out, "mean_n"), &[2.0; 4], 1e-12);
    assert_eq!((numbers(&out, "states"), numbers(&out, "pairs")), (vec![6.0; 4], vec![9.0; 4]));
    // s0: 2 of 4, s1: 1 of 2, s3: 1 of 3: impurities 1, 1, 2/3.
    close(&numbers(&out, "impurity"), &[8.0 / 9.0; 4], 1e-12);
    // Without a prior the three singletons fall from 1/3 to exactly 0; s0 stays inside tau.
    let flips = numbers(&out, "flips");
    assert_eq!(flips, [0.0; 4], "values inside tau never flip");
    assert_eq!(numbers(&out, "faded"), [3.0, 3.0, 0.0, 0.0]);
}

#[test]
fn wrong_sweeps_say_what_there_is() {
    let bench = Bench::new(WORKED);
    for (args, word) in [
        (vec!["sweep", "input.json"], "no knob was given"),
        (vec!["sweep", "input.json", "--knob", "nope=1"], "no knob `nope`"),
        (vec!["sweep", "input.json", "--knob", "edit-hash=4,99"], "edit-hash"),
        (vec!["sweep", "input.json", "--knob", "gamma=2"], "from 0 to 1"),
    ] {
        let (code, told) = bench.fails(&args);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn a_panel_by_hand() {
    let bench = Bench::new(WORKED);
    let base = ["panel", "input.json", "--step-reward", "none", "--format", "csv"];
    let out = bench.ok(&base);
    assert_eq!(texts(&out, "a"), ["grpo", "grpo", "grpo-step"]);
    assert_eq!(texts(&out, "b"), ["grpo-step", "rtmc", "rtmc"]);
    // The four values of rtmc at s0 are inside tau. Outside it: t1 + +, t2 - -, t3 -, t4 + + +.
    assert_eq!(numbers(&out, "outside"), [12.0, 8.0, 8.0]);
    assert_eq!(numbers(&out, "agree"), [12.0, 8.0, 8.0]);
    let mut args = base.to_vec();
    args.extend(["--against", "dr-grpo", "--columns", "grpo,rloo", "--x", "grpo", "--y", "rloo"]);
    let out = bench.ok(&args);
    assert_eq!(texts(&out, "column"), ["grpo", "rloo"]);
    // R - mean is +-1/2, rloo 4/3 of it: 7 positive and 5 negative steps, differences +-1/6.
    let rloo = [2.0 / 6.0 / 12.0, 1.0 / 6.0, 1.0, 1.0];
    let found: Vec<f64> = ["bias", "rmse", "sign_accuracy", "spearman"]
        .iter()
        .map(|name| numbers(&out, name)[1])
        .collect();
    close(&found, &rloo, 1e-12);
}

#[test]
fn rollouts_are_aligned_on_their_states() {
    let bench = Bench::new(WORKED);
    let found =
        bench.json(&["compare", "input.json", "--rollouts", "t4,t3,t2", "--format", "json"]);
    let rows = found["rows"].as_array().unwrap();
    let place = |rollout: &str, step: u64| {
        let row = rows.iter().find(|r| r["rollout"] == rollout && r["step"] == step).unwrap();
        row["row"].as_u64().unwrap()
    };
    // t4: s0 s3 s4 s5; t3: s0 s3; t2: s0 s1 s3.
    assert_eq!(rows.len(), 9);
    assert_eq!(place("t4", 0), place("t3", 0));
    assert_eq!(place("t4", 0), place("t2", 0));
    assert_eq!(place("t4", 1), place("t3", 1));
    assert_eq!(place("t4", 1), place("t2", 2));
    assert!(place("t2", 1) > place("t4", 0) && place("t2", 1) < place("t4", 1));
    let pairs = found["pairs"].as_array().unwrap();
    let pair = |at: usize| {
        let p = &pairs[at];
        (
            p["common"].as_u64().unwrap(),
            p["parting"].as_str().unwrap(),
            p["aligned"].as_u64().unwrap(),
        )
    };
    // t4 and t3 take b at s0, then g and f at s3; t2 takes a at s0.
    assert_eq!(pair(0), (1, "action", 2));
    assert_eq!(pair(1), (0, "action", 2));
    assert_eq!(pair(2), (0, "action", 2));
    let text = bench.ok(&["compare", "input.json", "--rollouts", "t4,t3"]);
    assert!(text.contains("Common beginning of each pair, and what parts it"), "{text}");
    let (code, told) = bench.fails(&["compare", "input.json", "--rollouts", "t4,nope"]);
    assert_eq!((code, told.contains("no rollout is called `nope`")), (1, true), "{told}");
}

#[test]
fn runs_are_compared_task_by_task() {
    let bench = Bench::new("{}");
    let line = |task: &str, id: &str, outcome: &str, action: &str| {
        format!(
            "{{\"task\":\"{task}\",\"id\":\"{id}\",\"outcome\":\"{outcome}\",\"steps\":[{{\"state\":\"s\",\"action\":\"{action}\"}}]}}\n"
        )
    };
    let (win, fail) = ("success", "failure");
    let a = [
        line("t1", "1", fail, "a"),
        line("t1", "2", fail, "b"),
        line("t2", "1", win, "a"),
        line("t2", "2", fail, "a"),
        line("t3", "1", win, "a"),
        line("t9", "1", win, "a"),
    ];
    let b = [
        line("t1", "1", win, "a"),
        line("t1", "2", fail, "a"),
        line("t2", "1", fail, "a"),
        line("t2", "2", fail, "b"),
        line("t3", "1", win, "b"),
        line("t10", "1", win, "a"),
    ];
    bench.write("a.jsonl", &a.concat());
    bench.write("b.jsonl", &b.concat());
    let out = bench.ok(&["compare-runs", "a.jsonl", "b.jsonl", "--format", "csv"]);
    assert_eq!(texts(&out, "task"), ["t1", "t2", "t3", "t9", "t10"]);
    assert_eq!(texts(&out, "fate"), ["gained", "lost", "kept", "one_sided", "one_sided"]);
    assert_eq!(numbers(&out, "a_success_rate")[..3], [0.0, 0.5, 1.0]);
    assert_eq!(numbers(&out, "b_success_rate")[..3], [0.5, 0.0, 1.0]);
    assert_eq!(numbers(&out, "a_sharing")[..3], [1.0, 1.0, 0.0]);
    assert_eq!(numbers(&out, "a_compared_share")[..3], [1.0, 0.0, 0.0]);
    let found = bench.json(&["compare-runs", "a.jsonl", "b.jsonl", "--format", "json"]);
    assert_eq!(found["settings"]["tasks"]["value"]["gained"], 1);
    assert_eq!(found["inputs"].as_array().unwrap().len(), 2);
    let (code, _) = bench.fails(&["compare-runs", "a.jsonl"]);
    assert_eq!(code, 2);
}

#[test]
fn the_steps_behind_a_number_are_one_table_of_80_columns() {
    let bench = Bench::new("{}");
    let file = sample();
    let page = bench.ok(&["explain", &file, "--at", "slugify-fix-run-1:3"]);
    let head = page.lines().find(|l| l.starts_with("here were")).unwrap();
    for name in ["outcome", "action", "G_t", "R part", "shaping"] {
        assert!(head.contains(name), "{head}");
    }
    assert!(page.lines().all(|l| l.chars().count() <= 80), "{page}");
}

#[test]
fn a_second_instance_of_a_column_has_its_own_parameters() {
    let bench = Bench::new(WORKED);
    let out = bench.ok(&[
        "steps",
        "input.json",
        "--step-reward",
        "none",
        "--columns",
        "rtmc,rtmc#2",
        "--set",
        "rtmc#2.n-prior=0",
    ]);
    let alone =
        bench.ok(&["steps", "input.json", "--step-reward", "none", "--set", "rtmc.n-prior=0"]);
    let plain = bench.ok(&["steps", "input.json", "--step-reward", "none"]);
    assert_eq!(texts(&out, "rtmc"), texts(&plain, "rtmc"));
    assert_eq!(texts(&out, "rtmc#2"), texts(&alone, "rtmc"));
    assert_ne!(texts(&out, "rtmc#2"), texts(&plain, "rtmc"));
    for wrong in ["rtmc#", "rtmc#x", "nope#2"] {
        assert_eq!(bench.fails(&["steps", "input.json", "--columns", wrong]).0, 2, "{wrong}");
    }
    let told = bench.ok(&["explain", "input.json", "--at", "t1:0", "--column", "rtmc#2"]);
    assert!(told.contains("rtmc#2"));
}

#[test]
fn two_policies_or_training_steps_of_one_load_are_compared_as_two_files_are() {
    let bench = Bench::new("{}");
    let line = |policy: &str, step: u64, task: &str, id: &str, outcome: &str| {
        format!(
            "{{\"policy\":\"{policy}\",\"train_step\":{step},\"task\":\"{task}\",\"id\":\"{id}\",\"outcome\":\"{outcome}\",\"steps\":[{{\"state\":\"s\",\"action\":\"{id}\"}}]}}\n"
        )
    };
    let x = [
        line("x", 1, "t1", "1", "failure"),
        line("x", 1, "t1", "2", "failure"),
        line("x", 1, "t2", "1", "success"),
    ]
    .concat();
    let y = [line("y", 2, "t1", "1", "success"), line("y", 2, "t2", "1", "failure")].concat();
    let z = line("z", 3, "t1", "1", "success");
    bench.write("x.jsonl", &x);
    bench.write("y.jsonl", &y);
    bench.write("all.jsonl", &[x, y, z.clone()].concat());
    let rows = |args: &[&str]| {
        let mut line = vec!["compare-runs"];
        line.extend(args);
        line.extend(["--format", "csv", "--no-stamp"]);
        bench.ok(&line)
    };
    let two = rows(&["x.jsonl", "y.jsonl"]);
    assert_eq!(texts(&two, "fate"), ["gained", "lost"]);
    assert_eq!(two, rows(&["all.jsonl", "--policies", "x,y"]));
    assert_eq!(two, rows(&["all.jsonl", "--train-steps", "1,2"]));
    assert_eq!(two, rows(&["x.jsonl", "y.jsonl", "--policies", "x,y"]));
    let text = bench.ok(&["compare-runs", "all.jsonl", "--policies", "x,y"]);
    assert!(text.contains("A = x, B = y"), "{text}");
    for (given, code, word) in [
        (["--policies", "x,w"], 1, "there are x, y, z"),
        (["--train-steps", "1,9"], 1, "there is no training step `9`"),
        (["--policies", "x"], 2, "two different names"),
        (["--policies", "x,x"], 2, "two different names"),
    ] {
        let (found, told) = bench.fails(&["compare-runs", "all.jsonl", given[0], given[1]]);
        assert!(found == code && told.contains(word), "{told}");
    }
    let (code, told) = bench.fails(&["compare-runs", "all.jsonl"]);
    assert!(code == 2 && told.contains("--policies X,Y"), "{told}");
    // A name may have a comma of its own; where that can be read in two ways, it is asked.
    bench.write("comma.jsonl", &[line("x,1", 1, "t1", "1", "failure"), z.clone()].concat());
    let text = bench.ok(&["compare-runs", "comma.jsonl", "--policies", "x,1,z"]);
    assert!(text.contains("A = x,1, B = z"), "{text}");
    let both = ["x", "x,1", "1,z", "z"].map(|p| line(p, 1, "t1", "1", "failure"));
    bench.write("both.jsonl", &both.concat());
    let (code, told) = bench.fails(&["compare-runs", "both.jsonl", "--policies", "x,1,z"]);
    assert!(code == 2 && told.contains("either `x` and `1,z` or `x,1` and `z`"), "{told}");
}

#[test]
fn all_rollouts_of_the_only_group_are_compared() {
    let bench = Bench::new(WORKED);
    let run = |ids: &str| {
        bench.ok(&["compare", "input.json", "--rollouts", ids, "--format", "csv", "--no-stamp"])
    };
    assert_eq!(run("all"), run("t1,t2,t3,t4"));
    let found = bench.json(&["compare", "input.json", "--rollouts", "all", "--format", "json"]);
    assert_eq!(found["pairs"].as_array().unwrap().len(), 6);
    bench.write("two.json", &format!("[{WORKED},{}]", WORKED.replace("\"worked\"", "\"other\"")));
    let (code, told) = bench.fails(&["compare", "two.json", "--rollouts", "all"]);
    assert!(code == 1 && told.contains("--only TASK"), "{told}");
}

/// A sweep over presets or abstractions: each row is the run with that flag.
#[test]
fn presets_and_abstractions_are_swept_as_knobs_are() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample-data/slugify-fix/rollouts.jsonl");
    let bench = cli_common::Bench::new(cli_common::WORKED);
    let states = |args: &[&str]| {
        let csv = bench.ok(&[&["groups", sample, "--format", "csv"], args].concat());
        cli_common::texts(&csv, "states")[0].clone()
    };
    for (name, values) in [("preset", ["coarser", "exact"]), ("abstraction", ["index", "history"])]
    {
        let knob = format!("{name}={}", values.join(","));
        let csv = bench.ok(&["sweep", sample, "--knob", &knob, "--format", "csv"]);
        assert_eq!(cli_common::texts(&csv, "knob"), [name, name]);
        assert_eq!(cli_common::texts(&csv, "value"), values);
        let flag = format!("--{name}");
        let alone = values.map(|value| states(&[flag.as_str(), value]));
        assert!(alone[0] != alone[1]);
        assert_eq!(cli_common::texts(&csv, "states"), alone);
    }
    let grid = ["sweep", sample, "--knob", "preset=paper,coarse", "--knob", "edit-hash=0,4"];
    let csv = bench.ok(&[&grid[..], &["--format", "csv"]].concat());
    assert_eq!(cli_common::texts(&csv, "value_2"), ["0", "4", "0", "4"]);
    let (code, told) = bench.fails(&["sweep", sample, "--knob", "preset=nope"]);
    assert!(code == 2 && told.contains("paper-literal"), "{told}");
}

/// How many visits met another rollout's asks for no outcome; errors are no part of any statistic.
#[test]
fn groups_of_one_outcome_have_coverage_and_errors_have_no_states() {
    let bench = Bench::new(
        r#"[{"schema":"credscope/1","task":"same","rollouts":[
{"id":"a","outcome":"success","steps":[{"state":"s0","action":"x"},{"state":"s1","action":"y"},{"state":"s2","action":"z"}]},
{"id":"b","outcome":"success","steps":[{"state":"s0","action":"x"}]},
{"id":"c","outcome":"error","steps":[{"state":"s1","action":"w"},{"state":"s9","action":"x"}]}]},
{"schema":"credscope/1","task":"stopped","rollouts":[
{"id":"d","outcome":"error","steps":[{"state":"s0","action":"x"},{"state":"s1","action":"y"}]},
{"id":"e","outcome":"error","steps":[{"state":"s0","action":"x"}]}]}]"#,
    );
    let rows = &bench.json(&["groups", "input.json", "--format", "json"])["rows"];
    // s0 twice of four scored steps; s1 met an error alone.
    assert_eq!((&rows[0]["uniform"], &rows[0]["coverage"]), (&true.into(), &0.5.into()));
    assert!(rows[0]["skill"].is_null());
    let counts =
        |row: usize| ["steps", "states", "pairs", "shared_steps"].map(|k| rows[row][k].as_i64());
    assert_eq!(counts(0), [Some(6), Some(3), Some(3), Some(2)]);
    assert_eq!(counts(1), [Some(3), Some(0), Some(0), Some(0)]);
    assert!(rows[1]["coverage"].is_null());
}

/// The same of real groups: 46 of 60 steps, and all 24.
#[test]
fn real_groups_of_one_outcome_have_coverage() {
    let Some(corpus) = common::corpus() else { return };
    let file = corpus.join("tau-bench/gpt-4o-airline.subset-a.json");
    let args = ["groups", file.to_str().unwrap(), "--format", "json"];
    let rows = &Bench::new("").json(&args)["rows"];
    let of = |task: &str| {
        let row = rows.as_array().unwrap().iter().find(|r| r["task"] == task).unwrap();
        row["coverage"].as_f64().unwrap()
    };
    assert!((of("0") - 0.767).abs() < 5e-4, "{}", of("0"));
    assert_eq!(of("12"), 1.0);
}
