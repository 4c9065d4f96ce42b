//! What is not known is said, with a reason; what has no effect is refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::{Bench, WORKED};

/// Two rollouts with a logged number, named rewards, and tokens at one step of three.
const NAMED: &str = r#"{"schema":"credscope/1","task":"t","rollouts":[
{"id":"a","outcome":"success","rewards":{"tests":1.0,"style":0.5},"steps":[{"state":"s","action":"x","tokens":[0,10],"values":{"critic":0.5}},{"state":"u","action":"x"}]},
{"id":"b","outcome":"failure","rewards":{"tests":0.0,"style":0.25},"steps":[{"state":"s","action":"y"}]}]}"#;

#[test]
fn a_truth_that_is_not_there_is_an_error_that_names_what_is() {
    let bench = Bench::new(NAMED);
    let (code, told) = bench.fails(&["panel", "input.json", "--against", "logged:nope"]);
    assert!(code == 1 && told.contains("no step has a logged number `nope`"), "{told}");
    assert!(told.contains("there are critic"), "{told}");
    bench.ok(&["panel", "input.json", "--against", "logged:critic"]);
    let bench = Bench::new(WORKED);
    let (code, told) = bench.fails(&["panel", "input.json", "--against", "logged:critic"]);
    assert!(code == 1 && told.contains("--sidecar FILE"), "{told}");
}

#[test]
fn a_reward_that_is_not_there_is_an_error_that_names_what_is() {
    let bench = Bench::new(NAMED);
    let base = ["report", "input.json", "--reward-source", "logged", "--reward"];
    let with = |name: &'static str| {
        let mut args = base.to_vec();
        args.push(name);
        args
    };
    let (code, told) = bench.fails(&with("nope"));
    assert!(code == 1 && told.contains("no rollout has a reward called `nope`"), "{told}");
    assert!(told.contains("there are style, tests"), "{told}");
    let (code, _) = bench.fails(&with("tests=0.5,nope=0.5"));
    assert_eq!(code, 1);
    bench.ok(&with("tests=0.5,style=0.5"));
    let bench = Bench::new(WORKED);
    let (code, told) = bench.fails(&with("tests"));
    assert!(code == 1 && told.contains("no rollout has named rewards"), "{told}");
}

#[test]
fn a_column_without_values_says_why_everywhere() {
    let bench = Bench::new(WORKED);
    let why = "no forks in the file";
    let lines = bench.ok(&["advantages", "input.json", "--column", "tree-grpo,grpo", "--no-stamp"]);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for step in line["steps"].as_array().unwrap() {
            assert!(step["advantage"].is_null() && step["advantages"]["grpo"].is_number());
            assert_eq!(step["reason"], format!("tree-grpo: {why}"));
        }
    }
    let columns = ["--columns", "tree-grpo,rtmc"];
    let report = |form: &str| {
        let mut args = vec!["report", "input.json", "--format", form];
        args.extend(columns);
        bench.ok(&args)
    };
    assert!(
        report("text").replace("\n            ", " ").contains("no value at 12 of 12 steps: no")
    );
    assert!(report("md").contains(&format!("no value at 12 of 12 steps: {why}")));
    let json: serde_json::Value = serde_json::from_str(&report("json")).unwrap();
    let told = |name: &str| {
        let all = json["rows"][0]["columns"].as_array().unwrap();
        let one = all.iter().find(|c| c["name"] == name).unwrap();
        (one["missing"].as_u64().unwrap(), one["reason"].clone())
    };
    assert_eq!(told("tree-grpo"), (12, why.into()));
    assert_eq!(told("rtmc"), (0, serde_json::Value::Null));
    let page = bench.ok(&["explain", "input.json", "--at", "t1:0", "--columns", "tree-grpo,rtmc"]);
    let line = page.lines().find(|l| l.starts_with("tree-grpo")).unwrap();
    assert!(line.contains(&format!("n/a: {why}")), "{line}");
}

#[test]
fn tokens_that_nobody_counted_are_no_zeros() {
    let bench = Bench::new(WORKED);
    let args = ["quadrants", "input.json", "--weight", "tokens", "--format", "json"];
    let found = bench.json(&args);
    let row = &found["rows"][0];
    assert_eq!(row["key"], "success");
    for (name, value) in row.as_object().unwrap() {
        assert!(matches!(name.as_str(), "by" | "key" | "weight") || value.is_null(), "{name}");
    }
    let told = String::from_utf8(bench.run(&args).stderr).unwrap();
    assert!(told.contains("12 of 12 steps have no token count"), "{told}");
    // One step of three has a count: its key is weighed, the other is not.
    let bench = Bench::new(NAMED);
    let found = bench.json(&args);
    assert_eq!(found["rows"][0]["steps"], 10);
    assert!(found["rows"][1]["steps"].is_null());
    let text = bench.ok(&["quadrants", "input.json", "--weight", "tokens"]);
    assert!(text.contains("2 of 3 steps have no token count"), "{text}");
}

#[test]
fn a_parameter_of_a_column_that_is_not_computed_is_refused() {
    let bench = Bench::new(WORKED);
    let set = ["--set", "rtmc#3.n-prior=0"];
    for command in ["report", "groups", "steps", "quadrants", "tree", "panel"] {
        let (code, told) = bench.fails(&[command, "input.json", set[0], set[1]]);
        assert!(code == 2 && told.contains("`rtmc#3` is not computed"), "{command}: {told}");
    }
    let chosen = ["--columns", "grpo,rtmc#3"];
    bench.ok(&["steps", "input.json", set[0], set[1], chosen[0], chosen[1]]);
    // Columns that an option of the command names are computed, too.
    bench.ok(&["explain", "input.json", "--at", "t1:0", "--column", "rtmc#3", set[0], set[1]]);
    bench.ok(&["panel", "input.json", "--against", "rtmc#3", set[0], set[1]]);
    bench.ok(&["figure", "matrix", "input.json", "--column", "rtmc#3", set[0], set[1]]);
    // A config file may hold parameters of columns that are not always there.
    bench.write("c.toml", "set = [\"gigpo.omega=2\"]\n");
    bench.ok(&["steps", "input.json", "--config", "c.toml"]);
}

#[test]
fn tables_for_people_tell_what_columns_were_computed_with() {
    let bench = Bench::new(WORKED);
    for command in ["groups", "quadrants", "steps"] {
        for form in ["text", "md"] {
            if command == "steps" && form == "md" {
                continue;
            }
            let args = [command, "input.json", "--format", form, "--set", "grpo.ddof=0"];
            let text = bench.ok(&args).replace("\n  ", " ").replace('\\', "");
            let line =
                text.lines().find(|l| l.contains("Columns: ")).unwrap_or_else(|| panic!("{text}"));
            assert!(line.contains("grpo (ddof 0, eps 1e-6); grpo-step (ddof 1, eps 1e-6); rtmc; gamma 0.99, n-prior 2"), "{line}");
        }
        let csv = bench.ok(&[command, "input.json", "--format", "csv", "--no-stamp"]);
        assert!(!csv.contains("Columns:"));
    }
}

#[test]
fn near_names_are_hinted() {
    let bench = Bench::new(NAMED);
    bench.write("other.json", NAMED);
    let runs: [(&[&str], &str); 17] = [
        (&["explain", "input.json", "--at", "a:0", "--column", "rtcm"], "did you mean `rtmc`?"),
        (&["panel", "input.json", "--against", "grop"], "did you mean `grpo`?"),
        (&["panel", "input.json", "--against", "logged:critc"], "did you mean `critic`?"),
        (&["panel", "input.json", "--against", "loged:critic"], "did you mean `logged:critic`?"),
        (&["steps", "input.json", "--columns", "rtmc,grop"], "did you mean `grpo`?"),
        (&["steps", "input.json", "--y", "rtcm"], "did you mean `rtmc`?"),
        (&["steps", "input.json", "--set", "grop.ddof=0"], "did you mean `grpo`?"),
        (&["steps", "input.json", "--set", "grpo.dof=0"], "did you mean `ddof`?"),
        (&["steps", "input.json", "--knob", "edit-hsh=2"], "did you mean `edit-hash`?"),
        (&["steps", "input.json", "--preset", "corase"], "did you mean `coarse`?"),
        (&["steps", "input.json", "--abstraction", "histroy"], "did you mean `history`?"),
        (&["sweep", "input.json", "--knob", "gama=1"], "did you mean `gamma`?"),
        (&["explain", "input.json", "--at", "a"], "hint: the first step of that rollout is `a:0`"),
        (&["explain", "input.json", "--at", "zz"], "hint: there are the rollouts a, b"),
        (&["stesp", "input.json"], "did you mean the command `steps`?"),
        (&["stesp", "no-such-file.json"], "did you mean the command `steps`?"),
        // Another command's option alone would be told as unknown.
        (&["explan", "input.json", "--artefacts"], "did you mean the command `explain`?"),
    ];
    for (args, hint) in runs {
        let (code, told) = bench.fails(args);
        assert!(code > 0 && told.contains(hint), "{args:?}: {told}");
    }
    // A file that is called so is a file, and a name far from all has no hint.
    bench.write("stesp", NAMED);
    bench.ok(&["stesp"]);
    let (_, told) = bench.fails(&["steps", "input.json", "--columns", "something-else"]);
    assert!(!told.contains("did you mean"), "{told}");
}

/// Without its stamp a table has no place for the mark of partial data: that is told, and promised.
#[test]
fn a_table_without_a_stamp_leaves_its_mark_to_standard_error() {
    let bench =
        Bench::new(&format!("{}\n{{\"schema\":\"credscope/1\",\n", NAMED.replace('\n', "")));
    std::fs::rename(bench.path("input.json"), bench.path("input.jsonl")).unwrap();
    for format in ["csv", "jsonl"] {
        let run = bench.run(&["steps", "input.jsonl", "--format", format, "--no-stamp"]);
        assert!(!String::from_utf8_lossy(&run.stdout).contains("partial"));
        let told = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(told.contains("partial data"), "{told}");
    }
    let help = bench.ok(&["steps", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("the mark of partial data goes with it"), "{help}");
}

#[test]
fn artefacts_need_no_step() {
    // V_prior is 1/2 and a discounted success is worth 0.9^n: below 1/2 from n = 7 on.
    let bench = Bench::new(WORKED);
    let args = ["explain", "input.json", "--artefacts", "--gamma", "0.9"];
    let text = bench.ok(&args);
    assert!(text.contains("step reward 0") && text.contains("negative from 7 steps"), "{text}");
    let json = bench.json(&[&args[..], &["--format", "json"]].concat());
    let row = &json["rows"][0];
    assert_eq!((&row["task"], &row["v_prior"]), (&"worked".into(), &0.5.into()));
    assert_eq!(row["artefacts"][0]["step_reward"], 0.0);
    assert_eq!(row["artefacts"][0]["steps_before_end"], 7);
    let (code, told) = bench.fails(&["explain", "input.json"]);
    assert!(code == 2 && told.contains("--at"), "{told}");
    let (code, told) = bench.fails(&["explain", "input.json", "--artefacts", "--column", "rtmc"]);
    assert!(code == 2 && told.contains("--column has no effect"), "{told}");
}

/// Without a verdict there is no prior, and nothing that it could outweigh.
#[test]
fn a_group_without_verdicts_has_no_prior() {
    let rollout = |id: &str| {
        format!(r#"{{"task":"t","id":"{id}","steps":[{{"tool":"x","args":{{}}}}]}}"#) + "\n"
    };
    let bench = Bench::new(&(rollout("a") + &rollout("b")));
    std::fs::rename(bench.path("input.json"), bench.path("input.jsonl")).unwrap();
    let args = ["explain", "input.jsonl", "--artefacts"];
    let text = bench.ok(&args);
    assert!(text.contains("V_prior unknown") && text.contains("nothing is scored"), "{text}");
    let json = bench.json(&[&args[..], &["--format", "json"]].concat());
    let row = &json["rows"][0];
    assert!(row["v_prior"].is_null() && row["artefacts"][0]["steps_before_end"].is_null(), "{row}");
}

#[test]
fn every_text_fits_80_columns() {
    let bench = Bench::new(WORKED);
    let runs: [&[&str]; 15] = [
        &["report"],
        &["groups"],
        &["groups", "--by", "policy"],
        &["steps", "--format", "text"],
        &["quadrants"],
        &["tree"],
        &["tree", "--lens", "states"],
        &["explain", "--at", "R:0", "--artefacts"],
        &["sweep", "--knob", "n-prior=0,2", "--knob", "tau=0,0.1"],
        &["skill"],
        &["panel"],
        &["stability"],
        &["compare", "--rollouts", "R,S"],
        &["compare-runs", "INPUT"],
        &["check"],
    ];
    for sample in ["slugify-fix/rollouts.jsonl", "airline-desk/results.json"] {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data").join(sample);
        let input = path.to_str().unwrap();
        let csv = bench.ok(&["steps", input, "--only", task(sample), "--no-stamp"]);
        let mut ids = cli_common::texts(&csv, "rollout");
        ids.dedup();
        let (first, both) = (format!("{}:0", ids[0]), format!("{},{}", ids[0], ids[1]));
        for run in runs {
            let mut args = vec![run[0], input];
            args.extend(run[1..].iter().map(|a| match *a {
                "R:0" => first.as_str(),
                "R,S" => both.as_str(),
                "INPUT" => input,
                other => other,
            }));
            if matches!(run[0], "explain" | "compare") {
                args.extend(["--only", task(sample)]);
            }
            let text = bench.ok(&args);
            fits(&text, &args);
        }
    }
}

/// The commands that read no rollouts, and texts whose names are longer than a column.
#[test]
fn catalogues_and_long_names_fit_80_columns() {
    let long = "a-run-with-a-long-name-as-schedulers-give-them-0123456789";
    let folder = "a/folder/that/lies/deep/".repeat(5);
    let rollout = |nth: u32, outcome: &str| {
        format!(
            r#"{{"id":"{long}-{nth}-of-the-third-try","outcome":"{outcome}","steps":[{{"state":"{folder}0","action":"{folder}a"}},{{"state":"{folder}{nth}","action":"{folder}b"}}]}}"#
        )
    };
    let rollouts = [rollout(1, "success"), rollout(2, "failure"), rollout(3, "success")];
    let input = format!(
        r#"{{"schema":"credscope/1","task":"{folder}","rollouts":[{}]}}"#,
        rollouts.join(",")
    );
    let bench = Bench::new(&input);
    let at = format!("{long}-1-of-the-third-try:0");
    let both = format!("{long}-1-of-the-third-try,{long}-2-of-the-third-try");
    let runs: [&[&str]; 27] = [
        &["formats"],
        &["estimators"],
        &["profiles"],
        &["themes"],
        &["keys"],
        &["simulate", "--measure", "--groups", "2"],
        &[
            "steps",
            "--print-settings",
            "--columns",
            "all",
            "--reward-source",
            "logged",
            "--reward",
            "a-long-name=0.25,another-one=0.75",
        ],
        &["--help"],
        &["steps", "--help"],
        &["sweep", "-h"],
        &["report", "input.json"],
        &["report", "input.json", "--columns", "all"],
        &["groups", "input.json"],
        &["groups", "input.json", "--by", "policy"],
        &["steps", "input.json", "--format", "text", "--columns", "all"],
        &["quadrants", "input.json", "--by", "rollout"],
        &["tree", "input.json"],
        &["tree", "input.json", "--lens", "states"],
        &["explain", "input.json", "--at", &at],
        &["explain", "input.json", "--artefacts"],
        &["sweep", "input.json", "--knob", "abstraction=history,observation,logged"],
        &["skill", "input.json", "--compare"],
        &["panel", "input.json", "--columns", "all"],
        &["stability", "input.json"],
        &["compare", "input.json", "--rollouts", &both],
        &["compare", "input.json", "--rollouts", "all"],
        &["check", "input.json"],
    ];
    for run in runs {
        if !cfg!(feature = "tui") && matches!(run[0], "keys" | "themes") {
            continue;
        }
        fits(&bench.ok(run), run);
    }
    let text = bench.ok(&["compare-runs", "input.json", "input.json"]);
    fits(&text, &["compare-runs"]);
    // Nothing is lost where a text goes on below.
    let formats = bench.ok(&["formats"]).replace("\n                  ", " ");
    assert!(
        formats.contains("the native format credscope/1 (document, array of documents, or lines)")
    );
}

fn fits(text: &str, of: &[&str]) {
    for line in text.lines() {
        let wide = credscope::export::text::width(line);
        assert!(wide <= 80, "{of:?}: {wide}: {line}");
    }
}

fn task(sample: &str) -> &'static str {
    if sample.starts_with("slugify") { "slugify-fix" } else { "3" }
}

/// Rewards of ±1e308, whose squares are no f64, and of 1e-320, whose squares are 0.
#[test]
fn a_value_that_overflows_is_unknown_and_never_zero() {
    let group = |high: &str, low: &str| {
        let rollout = |id: &str, outcome: &str, reward: &str, action: &str| {
            format!(
                r#"{{"id":"{id}","outcome":"{outcome}","reward":{reward},"steps":[{{"state":"s","action":"{action}"}},{{"state":"u","action":"{action}"}}]}}"#
            )
        };
        format!(
            r#"{{"schema":"credscope/1","task":"t","rollouts":[{},{}]}}"#,
            rollout("a", "success", high, "x"),
            rollout("b", "failure", low, "y")
        )
    };
    let ids: Vec<&str> = credscope::credit::registry().iter().map(|e| e.meta().id).collect();
    let columns = ids.join(",");
    let rows = |text: &str, more: &[&str]| {
        let mut args = vec!["steps", "input.json", "--reward-source", "logged"];
        args.extend(["--columns", &columns, "--format", "json"]);
        args.extend(more);
        let told = Bench::new(text).ok(&args);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["rows"].as_array().unwrap().clone()
    };
    let out_of_range = |row: &serde_json::Value, id: &str| {
        row[id].is_null()
            && row["reason"].as_str().unwrap().contains(&format!("{id}: numbers out of range"))
    };
    let divided = ["grpo", "grpo-step", "reinforce++", "gigpo", "salt", "hgpo", "tempo"];
    let rows_of_large = rows(&group("1e308", "-1e308"), &[]);
    assert_eq!(rows_of_large.len(), 4);
    for row in &rows_of_large {
        for id in divided {
            assert!(out_of_range(row, id), "{id}: {} {}", row[id], row["reason"]);
        }
        // What has a value has it by a way without squares: R - mean R is R itself.
        let own = if row["rollout"] == "a" { 1e308 } else { -1e308 };
        assert_eq!(row["dr-grpo"], own);
    }
    // Tiny ones beside eps are tiny; without eps the deviation is 0, and nothing can be said.
    for row in rows(&group("1e-320", "0"), &[]) {
        assert!(
            row["grpo"].as_f64().unwrap().abs() > 0.0
                && row["grpo"].as_f64().unwrap().abs() < 1e-300
        );
    }
    for row in rows(&group("1e-320", "0"), &["--set", "grpo.eps=0"]) {
        assert!(out_of_range(&row, "grpo"), "{row}");
    }
    // Equal ones are 0, as always.
    for row in rows(&group("1e308", "1e308"), &["--set", "grpo.eps=0"]) {
        assert_eq!(row["grpo"], 0.0);
    }
}

#[test]
fn counts_of_one_have_no_plural() {
    let calls = r#"{"tool":"bash","args":{"command":"cat a.py"},"observation":"x"}"#;
    let one = format!(
        r#"{{"schema":"credscope/1","task":"t","rollouts":[{{"id":"a","outcome":"success","steps":[{calls}]}}]}}"#
    );
    let two = r#"{"schema":"credscope/1","task":"t","rollouts":[
        {"id":"a","outcome":"success","steps":[{"state":"s","action":"x"}]},
        {"id":"b","outcome":"failure","steps":[{"state":"s","action":"y"}]}]}"#;
    let nouns = "steps|states|pairs|rows|actions|rollouts|groups|visits|changes|edits|calls|values|columns|records";
    // `0 of 1 steps` is usual: the noun belongs to the whole.
    let plural = regex::Regex::new(&format!(r"(?:^|[^\w.,/])1 (?:[a-z]+ )?(?:{nouns})\b")).unwrap();
    for text in [one.as_str(), two] {
        let bench = Bench::new(text);
        for command in [
            "report input.json --columns all --n-prior 1",
            "report input.json --format md",
            "quadrants input.json --format text",
            "tree input.json --format dot",
            "explain input.json --artefacts",
            "explain input.json --at a:0 --column reinforce++",
            "sweep input.json --knob view-bucket=off,25",
            "stability input.json",
            "simulate --groups 1 --rollouts 4 --measure",
        ] {
            let args: Vec<&str> = command.split(' ').collect();
            let told = bench.ok(&args).replace("of 1 ", "of one ");
            let found: Vec<&str> = plural.find_iter(&told).map(|m| m.as_str()).collect();
            assert!(found.is_empty(), "{command}: {found:?}");
        }
    }
}
