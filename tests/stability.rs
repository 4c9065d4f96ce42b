//! Leaving one rollout out, against runs of the program on files without that rollout.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;

use std::collections::BTreeMap;

use cli_common::{Bench, numbers, texts};
use serde_json::Value;

const WALKS: &str = r#"[
{"id":"r1","task":"t","outcome":"success","steps":[{"state":"s0","action":"a"},{"state":"s1","action":"c"},{"state":"s2","action":"e"}]},
{"id":"r2","task":"t","outcome":"failure","steps":[{"state":"s0","action":"a"},{"state":"s1","action":"d"},{"state":"s3","action":"f"},{"state":"s1","action":"c"}]},
{"id":"r3","task":"t","outcome":"failure","steps":[{"state":"s0","action":"b"},{"state":"s3","action":"f"}]},
{"id":"r4","task":"t","outcome":"success","steps":[{"state":"s0","action":"b"},{"state":"s3","action":"g"},{"state":"s0","action":"a"}]},
{"id":"r5","task":"t","outcome":"failure","steps":[{"state":"s0","action":"a"},{"state":"s1","action":"c"}]}]"#;

type Step = (String, String);

fn lines(rollouts: &[Value]) -> String {
    rollouts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn close(found: f64, expected: Option<f64>, what: &str) {
    match expected {
        None => assert!(found.is_nan(), "{what}: {found} where there should be none"),
        Some(e) => assert!((found - e).abs() < 1e-12, "{what}: {found} is not {e}"),
    }
}

/// Root of (n - 1) / n times the squared deviations from their mean.
fn jackknife(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (values.len() > 1).then(|| ((n - 1.0) / n * squares).sqrt())
}

#[test]
fn it_equals_as_many_runs_as_there_are_rollouts() {
    let all: Vec<Value> = serde_json::from_str(WALKS).unwrap();
    let bench = Bench::new("{}");
    bench.write("all.jsonl", &lines(&all));
    let mut any = 0.0;
    for column in ["rtmc", "gigpo"] {
        let common = ["--step-reward", "none", "--y", column];
        let steps = |file: &str| {
            let mut args = vec!["steps", file];
            args.extend(common);
            bench.ok(&args)
        };
        let whole = steps("all.jsonl");
        let keys: Vec<Step> =
            texts(&whole, "rollout").into_iter().zip(texts(&whole, "step")).collect();
        let pairs: Vec<(String, String)> =
            texts(&whole, "state").into_iter().zip(texts(&whole, "action")).collect();
        let before = numbers(&whole, column);
        let mut a: BTreeMap<Step, Vec<f64>> = BTreeMap::new();
        let mut q: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        let mut v: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for gone in 0..all.len() {
            let rest: Vec<Value> = all
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != gone)
                .map(|(_, r)| r.clone())
                .collect();
            bench.write("rest.jsonl", &lines(&rest));
            let out = steps("rest.jsonl");
            let rows = texts(&out, "rollout").into_iter().zip(texts(&out, "step"));
            let (qs, vs, values) = (numbers(&out, "q"), numbers(&out, "v"), numbers(&out, column));
            let (states, actions) = (texts(&out, "state"), texts(&out, "action"));
            let (mut seen_q, mut seen_v) = (BTreeMap::new(), BTreeMap::new());
            for (at, key) in rows.enumerate() {
                a.entry(key).or_default().push(values[at]);
                seen_q.insert((states[at].clone(), actions[at].clone()), qs[at]);
                seen_v.insert(states[at].clone(), vs[at]);
            }
            for (key, value) in seen_q {
                q.entry(key).or_default().push(value);
            }
            for (key, value) in seen_v {
                v.entry(key).or_default().push(value);
            }
        }
        let mut args = vec!["stability", "all.jsonl", "--format", "csv"];
        args.extend(common);
        let found = bench.ok(&args);
        let found_keys: Vec<Step> =
            texts(&found, "rollout").into_iter().zip(texts(&found, "step")).collect();
        assert_eq!(found_keys, keys);
        let column_of = |name: &str| numbers(&found, name);
        let (errors, q_errors, v_errors) =
            (column_of("a_error"), column_of("q_error"), column_of("v_error"));
        let (flips, faded, runs) = (column_of("flips"), column_of("faded"), column_of("runs"));
        for (at, key) in keys.iter().enumerate() {
            let values = &a[key];
            close(errors[at], jackknife(values), "A");
            assert_eq!(runs[at], 4.0);
            let outside = before[at].abs() > 0.01;
            let flipped = values
                .iter()
                .filter(|x| outside && x.abs() > 0.01 && *x * before[at] < 0.0)
                .count();
            let inside = values.iter().filter(|x| outside && x.abs() <= 0.01).count();
            assert_eq!((flips[at], faded[at]), (flipped as f64, inside as f64), "{key:?}");
            any += flips[at];
            // A run without any visit leaves the error of Q and V unknown.
            let full = |list: &Vec<f64>| (list.len() == 5).then(|| jackknife(list)).flatten();
            close(q_errors[at], full(&q[&pairs[at]]), "Q");
            close(v_errors[at], full(&v[&pairs[at].0]), "V");
        }
    }
    assert!(any > 0.0, "the example has flips");
}

#[test]
fn threads_change_nothing() {
    let bench = Bench::new("{}");
    bench.write("all.jsonl", &lines(&serde_json::from_str::<Vec<Value>>(WALKS).unwrap()));
    for command in ["stability", "panel", "skill"] {
        let run = |threads: &str| {
            bench.ok(&[command, "all.jsonl", "--format", "json", "--threads", threads])
        };
        assert_eq!(run("1"), run("4"));
    }
}
