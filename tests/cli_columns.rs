//! Columns through the command line: conventions of frameworks, forks, needs that are not met.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::{Bench, WORKED, close, numbers, texts};

#[test]
fn a_framework_is_followed_and_named() {
    let bench = Bench::new(WORKED);
    // R = 1 0 0 1: mean 1/2, deviation sqrt(1/3) with ddof 1, 1/2 with ddof 0.
    let third = (1.0_f64 / 3.0).sqrt();
    for (like, below) in [("verl", third + 1e-6), ("trl", third + 1e-4), ("rllm", 0.5 + 1e-6)] {
        let out = bench.ok(&["steps", "input.json", "--like", like]);
        close(&numbers(&out, "grpo")[2..4], &[0.5 / below, -0.5 / below], 1e-12);
        assert!(out.starts_with("# {"));
        assert!(
            out.lines()
                .next()
                .unwrap()
                .contains(&format!(r#""like":{{"origin":"flag","value":"{like}"}}"#))
        );
    }
    let page = bench.ok(&["report", "input.json", "--like", "trl"]);
    assert!(page.contains("ddof 1, eps 1e-4"), "{page}");
    // What is set by hand goes on from the framework.
    let out = bench.ok(&["steps", "input.json", "--like", "trl", "--set", "grpo.ddof=0"]);
    close(&numbers(&out, "grpo")[..1], &[0.5 / (0.5 + 1e-4)], 1e-12);
    let (code, told) = bench.fails(&["steps", "input.json", "--like", "nemo"]);
    assert_eq!(code, 2);
    assert!(told.contains("expected verl, trl, roll, verl-agent, rllm, skyrl"), "{told}");
}

#[test]
fn a_group_of_one_keeps_its_score_only_where_a_framework_does() {
    let one = r#"{"task":"t","rollouts":[{"id":"a","outcome":"success","steps":[{"state":"s","action":"x"}]}]}"#;
    let bench = Bench::new(one);
    let grpo = |like: &str| numbers(&bench.ok(&["steps", "input.json", "--like", like]), "grpo");
    close(&grpo("verl"), &[1.0 / (1.0 + 1e-6)], 1e-12);
    close(&grpo("skyrl"), &[1.0 / (1.0 + 1e-6)], 1e-12);
    assert_eq!(grpo("trl"), [0.0]);
}

/// Help at 80 cells tells every column and parameter; the page in the documentation is the same table.
#[test]
fn the_page_of_columns_is_up_to_date() {
    let bench = Bench::new("");
    let text = bench.ok(&["estimators"]);
    assert!(text.lines().all(|l| l.chars().count() <= 80));
    for estimator in credscope::credit::registry() {
        let meta = estimator.meta();
        assert!(text.contains(&format!("{}  {}\n", meta.id, meta.title)), "{}", meta.id);
        for param in meta.params {
            assert!(text.contains(&format!("{}.{}", meta.id, param.name)));
        }
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/estimators.md");
    let page = std::fs::read_to_string(file).unwrap();
    let (_, generated) = page.split_once("<!-- credscope estimators --format md -->\n\n").unwrap();
    assert_eq!(
        bench.ok(&["estimators", "--format", "md"]),
        generated,
        "write the page again: credscope estimators --format md"
    );
}

/// Two trees: a with its forks b and c (R 1 0 0), d with its fork e (R 1 1).
const FORKED: &str = r#"{"schema":"credscope/1","task":"t","rollouts":[
{"id":"a","outcome":"success","steps":[{"state":"s0","action":"x"},{"state":"s1","action":"y"}]},
{"id":"b","outcome":"failure","forked_from":{"rollout":"a","step":1},"steps":[{"state":"s0","action":"x"},{"state":"s1","action":"z"}]},
{"id":"c","outcome":"failure","forked_from":{"rollout":"b","step":1},"steps":[{"state":"s0","action":"x"}]},
{"id":"d","outcome":"success","steps":[{"state":"s2","action":"x"}]},
{"id":"e","outcome":"success","forked_from":"d","steps":[{"state":"s2","action":"y"}]}
]}"#;

#[test]
fn forks_make_two_levels() {
    let bench = Bench::new(FORKED);
    let out = bench.ok(&["steps", "input.json", "--columns", "tree-grpo"]);
    // All: mean 3/5, squares 3 (2/5)^2 + 2 (3/5)^2 = 6/5 over 4. Tree of a: mean 1/3, squares
    // (2/3)^2 + 2 (1/3)^2 = 2/3 over 2. Tree of d: equal scores, 0.
    let all = |r: f64| (r - 0.6) / (0.3_f64.sqrt() + 1e-6);
    let inside = |r: f64| (r - 1.0 / 3.0) / ((1.0_f64 / 3.0).sqrt() + 1e-6);
    let (a, b, d) = (all(1.0) + inside(1.0), all(0.0) + inside(0.0), all(1.0));
    close(&numbers(&out, "tree-grpo"), &[a, a, b, b, b, d, d], 1e-12);
}

#[test]
fn a_need_that_is_not_met_is_a_reason_and_never_a_zero() {
    let bench = Bench::new(WORKED);
    let columns = "tree-grpo,gae,logged:critic";
    let args = ["steps", "input.json", "--columns", columns, "--set", "gae.values=logged"];
    let reasons = [
        "tree-grpo: no forks in the file",
        "gae: no logged critic in this group",
        "logged:critic: not logged in this group",
    ];
    let out = bench.ok(&args);
    for name in columns.split(',') {
        assert!(texts(&out, name).iter().all(String::is_empty), "{name}");
    }
    for told in texts(&out, "reason") {
        assert!(reasons.iter().all(|reason| told.contains(reason)), "{told}");
    }
    let mut json = args.to_vec();
    json.extend(["--format", "json"]);
    for row in bench.json(&json)["rows"].as_array().unwrap() {
        assert!(columns.split(',').all(|name| row[name].is_null()));
        assert!(reasons.iter().all(|reason| row["reason"].as_str().unwrap().contains(reason)));
    }
    // Where one step has the number, only the others lack it.
    let some = WORKED.replacen(
        r#""state":"s0","action":"a""#,
        r#""state":"s0","action":"a","values":{"critic":0.25}"#,
        1,
    );
    let bench = Bench::new(&some);
    let out = bench.ok(&["steps", "input.json", "--columns", "logged:critic"]);
    assert_eq!(texts(&out, "logged:critic")[..2], ["0.25", ""]);
    assert!(texts(&out, "reason")[1].contains("logged:critic: not logged at this step"));
}
