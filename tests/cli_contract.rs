//! What scripts rely on: names, envelopes, exit codes, files that are safe.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::{Bench, WORKED, csv, numbers, program, texts};
use std::io::Read;
use std::process::Stdio;

const STEPS: &str = "namespace,task,policy,train_step,rollout,outcome,reward,step,turn,tool,category,action,state,result,valid,step_reward,ret,n_sa,n_s,rollouts_sa,rollouts_s,q,v,v_prior,v_smooth,cmp_outcome,cmp_discount,cmp_shaping,prior_outcome,prior_discount,prior_shaping,evidence,revisit,masked,quadrant,label,reason,grpo,grpo-step,rtmc";
const GROUPS: &str = "namespace,task,policy,train_step,rollouts,scored,successes,failures,truncated,errors,unscored,steps,states,pairs,shared_steps,compared_steps,shared_only_steps,self_steps,single_steps,branching_states,both_pos,rescued,both_neg,penalized,inside,missing,uniform,skill,skill_null,skill_ceiling,coverage,warnings";
const QUADRANTS: &str = "by,key,weight,steps,both_pos,rescued,both_neg,penalized,inside_x,inside_y,inside_both,missing,share_both_pos,share_rescued,share_both_neg,share_penalized,class_share_both_pos,class_share_rescued,class_share_both_neg,class_share_penalized";

/// One group of mixed outcomes with an unscored rollout, one uniform group.
const TWO: &str = r#"[{"schema":"credscope/1","task":"mixed","rollouts":[
{"id":"r1","outcome":"success","steps":[{"state":"s0","action":"a"},{"state":"s1","action":"b"}]},
{"id":"r2","outcome":"failure","steps":[{"state":"s0","action":"c"},{"state":"s2","action":"b"}]},
{"id":"r\u001b[31m3","steps":[{"state":"s0","action":"a"}]}]},
{"schema":"credscope/1","task":"uniform","rollouts":[
{"id":"r1","outcome":"success","steps":[{"state":"s0","action":"a"}]},
{"id":"u2","outcome":"success","steps":[{"state":"s0","action":"b"}]}]}]"#;

#[test]
fn headers_are_those_of_the_contract() {
    let bench = Bench::new(WORKED);
    for (command, header) in [("steps", STEPS), ("groups", GROUPS), ("quadrants", QUADRANTS)] {
        let out = bench.ok(&[command, "input.json", "--format", "csv", "--no-stamp"]);
        assert_eq!(out.lines().next().unwrap(), header);
        let stamped = bench.ok(&[command, "input.json", "--format", "csv"]);
        let (first, rest) = stamped.split_once('\n').unwrap();
        assert_eq!(rest, out);
        let stamp: serde_json::Value =
            serde_json::from_str(first.strip_prefix("# ").unwrap()).unwrap();
        assert_eq!(stamp["schema"], format!("credscope.{command}/1"));
        assert_eq!(stamp["settings"]["gamma"]["value"], 0.99);
        assert_eq!(stamp["settings"]["gamma"]["origin"], "default");
        assert_eq!(stamp["inputs"][0]["name"], "input.json");
        assert_eq!(stamp["load"]["skipped"], 0);
        assert!(stamp["settings"].get("threads").is_none());
        assert!(!first.contains(bench.path("").to_str().unwrap()));
    }
    let chosen =
        bench.ok(&["steps", "input.json", "--columns", "dr-grpo,logged:critic", "--no-stamp"]);
    let header = chosen.lines().next().unwrap();
    assert!(header.ends_with("reason,dr-grpo,logged:critic,grpo-step,rtmc"), "{header}");
}

#[test]
fn json_has_one_envelope_and_null_with_a_reason() {
    let bench = Bench::new(TWO);
    for command in ["steps", "groups", "quadrants", "report", "tree", "check"] {
        let found = bench.json(&[command, "input.json", "--format", "json"]);
        assert_eq!(found["schema"], format!("credscope.{command}/1"));
        assert!(found["rows"].is_array() && found["load"]["records"].is_u64());
        assert!(found["version"].is_string() && found["inputs"][0]["digest"].is_string());
    }
    let found = bench.json(&["steps", "input.json", "--format", "json"]);
    let rows = found["rows"].as_array().unwrap();
    let row = rows.iter().find(|r| r["outcome"] == "unscored").unwrap();
    assert_eq!(row["rollout"], "r3", "cleaned");
    assert!(row["grpo"].is_null() && row["ret"].is_null() && row["evidence"].is_null());
    assert!(row["reason"].as_str().unwrap().contains("grpo: unscored"));
    assert_eq!(row["quadrant"], "missing");
    assert!(row["q"].is_f64(), "a scored rollout took the pair");
    let raw = bench.json(&["steps", "input.json", "--format", "json", "--raw"]);
    let names: Vec<&str> =
        raw["rows"].as_array().unwrap().iter().filter_map(|r| r["rollout"].as_str()).collect();
    assert!(names.contains(&"r\u{1b}[31m3"));
    let lines = bench.ok(&["steps", "input.json", "--format", "jsonl", "--no-stamp"]);
    let objects: Vec<serde_json::Value> =
        lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(&objects, rows);
}

#[test]
fn quadrants_add_up_and_uniform_groups_are_told() {
    let bench = Bench::new(TWO);
    let sum = |args: &[&str]| -> f64 {
        let out = bench.ok(args);
        let buckets = [
            "both_pos",
            "rescued",
            "both_neg",
            "penalized",
            "inside_x",
            "inside_y",
            "inside_both",
            "missing",
        ];
        let all: f64 = buckets.iter().flat_map(|b| numbers(&out, b)).sum();
        assert_eq!(all, numbers(&out, "steps").iter().sum::<f64>());
        all
    };
    for by in ["outcome", "rollout", "category", "depth", "evidence"] {
        let base = ["quadrants", "input.json", "--format", "csv", "--by", by];
        assert_eq!(sum(&base), 5.0, "{by}");
        let mut with = base.to_vec();
        with.extend(["--uniform", "include"]);
        assert_eq!(sum(&with), 7.0, "{by}");
        // Only the two steps at s0 met another action of another rollout.
        let mut compared = base.to_vec();
        compared.extend(["--only", "compared"]);
        assert_eq!(sum(&compared), 2.0, "{by}");
        let mut one = base.to_vec();
        one.extend(["--only", "uniform"]);
        assert_eq!(sum(&one), 2.0, "a single group always counts");
    }
    let told = bench.run(&["quadrants", "input.json"]);
    let note = String::from_utf8(told.stderr).unwrap();
    assert!(note.contains("1 of 2 groups have a uniform outcome and are left out"), "{note}");
    let found = bench.json(&["quadrants", "input.json", "--format", "json"]);
    assert_eq!(found["settings"]["uniform_left_out"]["value"], 1);
    // Success: s0.a and s1.b, unscored: s0.a. Shares of scored steps alone.
    let out = bench.ok(&["quadrants", "input.json", "--format", "csv"]);
    assert_eq!(texts(&out, "key"), ["success", "failure", "unscored"]);
    assert_eq!(texts(&out, "share_both_pos")[2], "", "no scored step, no share");
}

#[test]
fn exit_codes() {
    let bench = Bench::new(WORKED);
    let cases: [(&[&str], i32, &str); 14] = [
        (&["report", "nowhere.json"], 1, "nowhere.json"),
        (&["reprot", "input.json"], 1, "did you mean the command `report`?"),
        (&["report"], 2, "no file, folder or `-`"),
        (&[], 2, "no file, folder or `-`"),
        (
            &["report", "input.json", "--gamma", "1.5"],
            2,
            "--gamma cannot be `1.5`: expected a number from 0 to 1",
        ),
        (&["report", "input.json", "--nonsense"], 2, "--nonsense"),
        (&["report", "input.json", "--from", "nope"], 2, "no reader is called `nope`"),
        (&["report", "input.json", "--only", "nope"], 1, "nope"),
        (&["report", "input.json", "--rollout", "nope"], 1, "there are t1, t2, t3, t4"),
        (&["explain", "input.json", "--at", "t9:0"], 1, "no rollout is called `t9`"),
        (&["explain", "input.json", "--at", "t1:3"], 1, "its steps are 0 to 2"),
        (&["explain", "input.json", "--at", "t1"], 2, "expected ROLLOUT:STEP"),
        (
            &["explain", "input.json", "--at", "t1:0", "--column", "nope"],
            2,
            "unknown column `nope`",
        ),
        (&["steps", "input.json", "--set", "grpo.nope=1"], 2, "no parameter `nope`"),
    ];
    for (args, code, text) in cases {
        let (found, told) = bench.fails(args);
        assert_eq!(found, code, "{args:?}: {told}");
        assert!(told.contains(text), "{args:?}: {told}");
        assert!(!told.contains("panicked"), "{told}");
    }
    assert_eq!(bench.run(&["--help"]).status.code(), Some(0));
    assert_eq!(bench.run(&["--version"]).status.code(), Some(0));
    // Without a terminal there is the report, and a name like a command's is a path with `./`.
    std::fs::copy(bench.path("input.json"), bench.path("report")).unwrap();
    let report = bench.ok(&["report", "input.json"]);
    assert_eq!(bench.ok(&["input.json"]), report);
    assert!(bench.ok(&["./report"]).starts_with("worked  4 rollouts, 4 scored  "));
}

#[test]
fn partial_data_is_a_warning_and_strict_a_failure() {
    let bench = Bench::new(WORKED);
    bench.write(
        "torn.jsonl",
        "{\"task\":\"t\",\"id\":\"a\",\"outcome\":\"success\",\"steps\":[]}\n{\"task\":\"t\",\"id\":\n{\"task\":\"t\",\"id\":\"b\",\"outcome\":\"failure\",\"steps\":[]}\n",
    );
    let output = bench.run(&["groups", "torn.jsonl"]);
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("warning: partial data: 1 line skipped"), "{told}");
    let (code, told) = bench.fails(&["check", "torn.jsonl", "--strict"]);
    assert_eq!(code, 1);
    assert!(told.contains("torn.jsonl: line 2"), "{told}");
    let rows = bench.json(&["check", "torn.jsonl", "--format", "json"]);
    let expected = "file format groups rollouts steps scored successes skipped problems";
    let names: Vec<&str> = expected.split(' ').collect();
    assert_eq!(rows["rows"][0].as_object().unwrap().len(), names.len());
    assert!(names.iter().all(|n| rows["rows"][0].get(n).is_some()));
    assert_eq!(rows["rows"][0]["skipped"], 1);
}

#[test]
fn files_appear_complete_and_nothing_is_lost() {
    let bench = Bench::new(WORKED);
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    let out = ["steps", "input.json", "--out", "steps.csv"];
    bench.ok(&out);
    let first = read("steps.csv");
    assert_eq!(csv(&first).1.len(), 12);
    let (code, told) = bench.fails(&out);
    assert_eq!(code, 1);
    assert!(told.contains("steps.csv exists; --force"), "{told}");
    bench.write("steps.csv", "mine");
    assert_eq!(bench.fails(&out).0, 1);
    assert_eq!(read("steps.csv"), "mine");
    bench.ok(&["steps", "input.json", "--out", "steps.csv", "--force"]);
    assert_eq!(read("steps.csv"), first);
    let before = read("input.json");
    let (code, told) = bench.fails(&["steps", "input.json", "--out", "./input.json", "--force"]);
    assert!(code == 1 && told.contains("is an input"), "{told}");
    assert_eq!(read("input.json"), before);
    let left: Vec<_> =
        std::fs::read_dir(bench.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    bench.ok(&["report", "input.json", "--out", "page.txt"]);
    assert!(read("page.txt").starts_with("# {\"schema\":\"credscope.report/1\""));
}

/// A word that a setting does not know is refused, also by a command that does not need it.
#[test]
fn an_unknown_theme_is_refused_by_every_command() {
    let bench = Bench::new(WORKED);
    for command in ["steps", "report", "check", "convert"] {
        let (code, told) = bench.fails(&[command, "input.json", "--theme", "nope"]);
        let expected = "--theme cannot be `nope`: expected default, paper, light, mono";
        assert!(code == 2 && told.contains(expected), "{command}: {told}");
        bench.ok(&[command, "input.json", "--theme", "mono"]);
    }
    let output = bench.command(&["formats"]).env("CREDSCOPE_THEME", "nope").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    bench.write("cf.toml", "theme = \"nope\"\n");
    let (code, told) = bench.fails(&["steps", "input.json", "--config", "cf.toml"]);
    assert!(code == 2 && told.contains("theme in cf.toml"), "{told}");
}

/// Simulated rollouts are JSON lines; a table is what `--measure` makes.
#[test]
fn a_form_that_simulated_rollouts_do_not_have_is_refused() {
    let bench = Bench::new(WORKED);
    let small = ["simulate", "--groups", "1", "--rollouts", "4"];
    let lines = bench.ok(&small);
    assert_eq!(bench.ok(&[&small[..], &["--format", "jsonl"]].concat()), lines);
    for form in ["text", "csv", "json", "md"] {
        let mut line = [&small[..], &["--format", form]].concat();
        let (code, told) = bench.fails(&line);
        assert!(code == 2 && told.contains(&format!("not written as {form}")), "{told}");
        assert!(told.contains("hint: ") && told.contains("--measure"), "{told}");
        line.push("--measure");
        assert_ne!(bench.ok(&line), lines);
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let rollout = |i: usize| {
        format!(
            "{{\"id\":\"r{i}\",\"outcome\":\"success\",\"steps\":[{}]}}",
            vec!["{\"state\":\"s\",\"action\":\"a\"}"; 200].join(",")
        )
    };
    let rollouts: Vec<String> = (0..20).map(rollout).collect();
    let bench = Bench::new(&format!(
        "{{\"schema\":\"credscope/1\",\"task\":\"t\",\"rollouts\":[{}]}}",
        rollouts.join(",")
    ));
    let mut child = bench
        .command(&["steps", "input.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut byte = [0];
    child.stdout.take().unwrap().read_exact(&mut byte).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_order_of_settings() {
    let bench = Bench::new(WORKED);
    std::fs::create_dir(bench.path("credscope")).unwrap();
    bench.write("credscope/config.toml", "gamma = 0.5\nn-prior = 4\ntau = 0.2\n");
    bench.write("other.toml", "gamma = 0.75\n");
    let found = |args: &[&str], name: &str| {
        let output = bench.command(args).env("CREDSCOPE_N_PRIOR", "0").output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let line =
            out.lines().find(|l| l.split_whitespace().next() == Some(name)).unwrap().to_owned();
        let words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
        (words[1].clone(), words[2].clone())
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let args = ["--print-settings", "--gamma", "0.9"];
    assert_eq!(found(&args, "gamma"), pair("0.9", "flag"));
    assert_eq!(found(&args, "n-prior"), pair("0", "environment"));
    assert_eq!(found(&args, "tau"), pair("0.2", "config"));
    assert_eq!(found(&args, "beta"), pair("0.05", "default"));
    let args = ["--print-settings", "--config", "other.toml"];
    assert_eq!(found(&args, "gamma"), pair("0.75", "config"));
    assert_eq!(found(&args, "tau"), pair("0.01", "default"));
    bench.write("other.toml", "gama = 1\n");
    let (code, told) = bench.fails(&["report", "input.json", "--config", "other.toml"]);
    assert!(code == 2 && told.contains("did you mean `gamma`?"), "{told}");
}

#[test]
fn threads_and_order_of_rollouts_change_no_byte() {
    let bench = Bench::new(WORKED);
    let value: serde_json::Value = serde_json::from_str(WORKED).unwrap();
    let lines = |backwards: bool| {
        let mut rollouts = value["rollouts"].as_array().unwrap().clone();
        if backwards {
            rollouts.reverse();
        }
        rollouts
            .into_iter()
            .map(|mut r| {
                r["task"] = "worked".into();
                r.to_string() + "\n"
            })
            .collect::<String>()
    };
    bench.write("lines.jsonl", &lines(false));
    for command in ["steps", "report", "groups", "quadrants", "tree"] {
        bench.write("lines.jsonl", &lines(false));
        let one = bench.ok(&[command, "lines.jsonl", "--format", "json", "--threads", "1"]);
        bench.write("lines.jsonl", &lines(true));
        let two = bench.ok(&[command, "lines.jsonl", "--format", "json", "--threads", "3"]);
        assert_eq!(one, two, "{command}");
    }
}

#[test]
fn ascii_leaves_names_alone_or_escapes_them_where_the_locale_cannot_show_them() {
    let text = TWO.replace("mixed", "文件");
    assert_ne!(text, TWO);
    let bench = Bench::new(&text);
    let report = |locale: &str| {
        let mut command = bench.command(&["groups", "input.json", "--format", "text", "--ascii"]);
        let out = command.env("LC_ALL", locale).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let shown = report("C.UTF-8");
    assert!(shown.contains("文件") && !shown.contains('─'), "{shown}");
    let escaped = report("C");
    assert!(escaped.is_ascii() && escaped.contains("\\u{6587}\\u{4ef6}"), "{escaped}");
}

#[test]
fn a_page_fits_80_columns_and_catalogues_answer() {
    let bench = Bench::new(TWO);
    let page = bench.ok(&["report", "input.json"]);
    let widest = page.lines().map(credscope::export::text::width).max().unwrap();
    assert!(widest <= 80, "{widest}");
    assert!(!page.contains('\u{1b}'));
    let ascii = bench.ok(&["report", "input.json", "--ascii"]);
    assert!(ascii.is_ascii());
    assert!(bench.ok(&["report", "input.json", "--format", "md"]).contains("## mixed"));
    let estimators = program().arg("estimators").output().unwrap();
    let estimators = String::from_utf8(estimators.stdout).unwrap();
    assert!(estimators.contains("grpo.ddof") && estimators.contains("arXiv 2604.11037"));
    let formats = program().args(["formats", "--format", "csv"]).output().unwrap();
    let formats = String::from_utf8(formats.stdout).unwrap();
    assert!(formats.starts_with("id,title,source\nnative,"), "{formats}");
}
