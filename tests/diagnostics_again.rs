//! Every diagnostic of a report, computed a second time from the rows of `steps` alone: other code, other
//! order, other sums.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;
mod common;

use std::collections::{BTreeMap, BTreeSet};

use cli_common::Bench;
use serde_json::Value;

/// A scored step.
struct Step<'a> {
    rollout: &'a str,
    won: bool,
    at: u64,
    left: f64,
    row: &'a Value,
}

impl Step<'_> {
    fn text(&self, name: &str) -> &str {
        self.row[name].as_str().unwrap_or_default()
    }

    fn number(&self, name: &str) -> f64 {
        self.row[name].as_f64().unwrap()
    }

    fn shared(&self) -> bool {
        self.number("rollouts_s") >= 2.0
    }
}

fn near(a: &Value, b: f64, what: &str) {
    let a = a.as_f64().unwrap_or_else(|| panic!("{what}: {a}"));
    assert!((a - b).abs() < 1e-9, "{what}: {a} is not {b}");
}

fn lists(found: &[f64], expected: &mut [f64], what: &str) {
    let mut found = found.to_vec();
    found.sort_by(f64::total_cmp);
    expected.sort_by(f64::total_cmp);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected.iter()) {
        assert!((a - b).abs() < 1e-9, "{what}: {a} is not {b}");
    }
}

/// Average ranks by counting, Pearson of them.
fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let ranks = |list: &[f64]| -> Vec<f64> {
        list.iter()
            .map(|a| {
                let under = list.iter().filter(|b| *b < a).count() as f64;
                let equal = list.iter().filter(|b| *b == a).count() as f64;
                under + f64::midpoint(equal, 1.0)
            })
            .collect()
    };
    let (x, y) = (ranks(x), ranks(y));
    let n = x.len() as f64;
    let mean = f64::midpoint(n, 1.0);
    let cov: f64 = x.iter().zip(&y).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let var = |list: &[f64]| list.iter().map(|a| (a - mean).powi(2)).sum::<f64>();
    let scale = (var(&x) * var(&y)).sqrt();
    (n >= 2.0 && scale > 0.0).then(|| cov / scale)
}

fn by_depth(steps: &[Step], row: &Value) {
    for depth in row["depths"].as_array().unwrap() {
        let here: Vec<&Step> =
            steps.iter().filter(|s| Some(s.at) == depth["step"].as_u64()).collect();
        let shared = here.iter().filter(|s| s.shared()).count();
        let compared = here.iter().filter(|s| s.text("evidence") == "compared").count();
        assert_eq!(depth["steps"], here.len());
        assert_eq!((&depth["shared"], &depth["compared"]), (&shared.into(), &compared.into()));
        near(&depth["sharing"], shared as f64 / here.len() as f64, "sharing by depth");
    }
    let last = steps.iter().filter(|s| s.shared()).map(|s| s.at).max();
    assert_eq!(row["diagnostics"]["sharing_ends"].as_u64(), last);
}

fn by_category(steps: &[Step], row: &Value) {
    let categories = row["categories"].as_array().unwrap();
    let names: BTreeSet<&str> = steps.iter().map(|s| s.text("category")).collect();
    assert_eq!(categories.len(), names.len());
    for category in categories {
        let name = category["category"].as_str().unwrap();
        let here: Vec<&Step> = steps.iter().filter(|s| s.text("category") == name).collect();
        let count = |keep: &dyn Fn(&Step) -> bool| here.iter().filter(|s| keep(s)).count();
        assert_eq!(category["steps"], here.len());
        assert_eq!(category["shared"], count(&|s| s.shared()));
        let mean = |of: &str| here.iter().map(|s| s.number(of)).sum::<f64>() / here.len() as f64;
        near(&category["mean"], mean("rtmc"), name);
        near(&category["mean_n"], mean("n_s"), name);
        near(&category["share"], here.len() as f64 / steps.len() as f64, name);
        assert_eq!(category["regressions"], count(&|s| s.won && s.text("quadrant") == "penalized"));
        assert_eq!(category["progress"], count(&|s| !s.won && s.text("quadrant") == "rescued"));
    }
}

/// Which rollouts passed a state, and whether each is a success.
type Passed<'a> = BTreeMap<&'a str, BTreeMap<&'a str, bool>>;

fn by_state(steps: &[Step], row: &Value) {
    let mut passed: Passed = BTreeMap::new();
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (i, step) in steps.iter().enumerate() {
        passed.entry(step.text("state")).or_default().insert(step.rollout, step.won);
        if step.at > 0 {
            before.entry(step.text("state")).or_default().insert(steps[i - 1].text("result"));
        }
    }
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for rollouts in passed.values() {
        *sizes.entry(rollouts.len() as u64).or_default() += 1;
    }
    let told: BTreeMap<u64, u64> = row["state_sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["rollouts"].as_u64().unwrap(), r["states"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, sizes);
    let shared: Vec<_> = passed.iter().filter(|(_, r)| r.len() >= 2).collect();
    let facts = &row["diagnostics"];
    assert_eq!(facts["shared_states"], shared.len());
    let mixed = shared.iter().filter(|(s, _)| before.get(**s).is_some_and(|r| r.len() > 1)).count();
    assert_eq!(facts["mixed_result_states"], mixed);
    let impure: Vec<(&str, f64, f64)> = shared
        .iter()
        .map(|(state, r)| (**state, r.values().filter(|w| **w).count() as f64, r.len() as f64))
        .filter(|(_, k, n)| *k > 0.0 && k < n)
        .collect();
    let told = row["impure_states"].as_array().unwrap();
    assert_eq!(told.len(), impure.len());
    for one in told {
        let state = one["state"].as_str().unwrap();
        let (_, k, n) = impure.iter().find(|(s, ..)| *s == state).unwrap();
        let (p, z) = (k / n, 1.959_963_984_540_054_f64);
        near(&one["impurity"], 1.0 - (2.0 * p - 1.0).abs(), state);
        // Wilson, as printed in textbooks.
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        assert!((one["low"].as_f64().unwrap() - (middle - half)).abs() < 1e-4, "{one}");
        assert!((one["high"].as_f64().unwrap() - (middle + half)).abs() < 1e-4, "{one}");
    }
}

fn by_pair(steps: &[Step], row: &Value) {
    let mut pairs: BTreeMap<(&str, &str), Vec<&Step>> = BTreeMap::new();
    for step in steps {
        pairs.entry((step.text("state"), step.text("action"))).or_default().push(step);
    }
    let both = |list: &&Vec<&Step>| list.iter().any(|s| s.won) && list.iter().any(|s| !s.won);
    let conflicts: Vec<&Vec<&Step>> = pairs.values().filter(both).collect();
    let facts = &row["diagnostics"];
    assert_eq!(facts["sign_conflicts"], conflicts.len());
    assert_eq!(facts["sign_conflict_steps"], conflicts.iter().map(|l| l.len()).sum::<usize>());
    let numbers = |name: &str, value: &str| -> Vec<f64> {
        row[name].as_array().unwrap().iter().map(|p| p[value].as_f64().unwrap()).collect()
    };
    let mut pivotal: Vec<f64> = pairs
        .values()
        .map(|list| list[0].number("cmp_outcome"))
        .filter(|value| *value != 0.0)
        .collect();
    lists(&numbers("pivotal", "comparison"), &mut pivotal, "pivotal");
    let mut ways: BTreeMap<(&str, &str, &str), f64> = BTreeMap::new();
    for two in steps.windows(2).filter(|w| w[0].rollout == w[1].rollout) {
        let change = two[1].number("v") - two[0].number("v");
        let way = (two[0].text("state"), two[0].text("action"), two[1].text("state"));
        if change < 0.0 {
            ways.insert(way, change);
        }
    }
    let mut drops: Vec<f64> = ways.into_values().collect();
    lists(&numbers("drops", "change"), &mut drops, "drops");
}

fn whole(steps: &[Step], row: &Value) {
    let facts = &row["diagnostics"];
    let (mut changes, mut changing) = (0, BTreeSet::new());
    let mut signs: BTreeMap<&str, f64> = BTreeMap::new();
    for step in steps.iter().filter(|s| s.number("rtmc") != 0.0) {
        let sign = step.number("rtmc").signum();
        if signs.insert(step.rollout, sign).is_some_and(|before| before != sign) {
            changes += 1;
            changing.insert(step.rollout);
        }
    }
    assert_eq!(facts["sign_changes"], changes);
    assert_eq!(facts["sign_changing_rollouts"], changing.len());
    assert_eq!(facts["zero_values"], steps.iter().filter(|s| s.number("rtmc") == 0.0).count());
    let parts = [
        "cmp_outcome",
        "cmp_discount",
        "cmp_shaping",
        "prior_outcome",
        "prior_discount",
        "prior_shaping",
    ];
    let sums = parts.map(|p| steps.iter().map(|s| s.number(p).abs()).sum::<f64>());
    let total: f64 = sums.iter().sum();
    for (part, sum) in parts.iter().zip(sums).filter(|_| total > 0.0) {
        near(&facts[format!("mass_{part}")], sum / total, part);
    }
    for (name, keep) in [
        ("length_confound", None),
        ("length_confound_successes", Some(true)),
        ("length_confound_others", Some(false)),
    ] {
        let here: Vec<&Step> = steps.iter().filter(|s| keep.is_none_or(|k| s.won == k)).collect();
        let values: Vec<f64> = here.iter().map(|s| s.number("rtmc")).collect();
        let left: Vec<f64> = here.iter().map(|s| s.left).collect();
        match spearman(&values, &left) {
            Some(expected) => near(&facts[name], expected, name),
            None => assert!(facts[name].is_null(), "{name}"),
        }
    }
    let revisits = steps.iter().filter(|s| s.row["revisit"] == true).count();
    assert_eq!(facts["revisit_steps"], revisits);
}

#[test]
fn diagnostics_follow_from_the_rows_of_steps() {
    let bench = Bench::new("{}");
    let mut inputs = vec![
        common::sample("slugify-fix/rollouts.jsonl"),
        common::sample("airline-desk/results.json"),
    ];
    inputs.extend(common::corpus().map(|c| c.join("derived/r2e_gym.astropy-12907.k8.jsonl")));
    let (mut groups, mut seen) = (0, 0);
    for input in inputs {
        let file = input.to_str().unwrap();
        let report = bench.json(&["report", file, "--raw", "--format", "json"]);
        let all = bench.json(&["steps", file, "--raw", "--format", "json"]);
        for row in report["rows"].as_array().unwrap() {
            let task = &row["group"]["task"];
            let rows: Vec<&Value> =
                all["rows"].as_array().unwrap().iter().filter(|r| r["task"] == *task).collect();
            let scored = ["success", "failure", "truncated"];
            let length = |id: &Value| rows.iter().filter(|r| r["rollout"] == *id).count() as f64;
            let steps: Vec<Step> = rows
                .iter()
                .filter(|r| scored.contains(&r["outcome"].as_str().unwrap()))
                .map(|r| {
                    let at = r["step"].as_u64().unwrap();
                    Step {
                        rollout: r["rollout"].as_str().unwrap(),
                        won: r["outcome"] == "success",
                        at,
                        left: length(&r["rollout"]) - 1.0 - at as f64,
                        row: r,
                    }
                })
                .collect();
            let names: BTreeSet<&str> = rows.iter().map(|r| r["state"].as_str().unwrap()).collect();
            if row["group"]["states"] != names.len() {
                continue;
            }
            by_depth(&steps, row);
            by_category(&steps, row);
            by_state(&steps, row);
            by_pair(&steps, row);
            whole(&steps, row);
            groups += 1;
            seen += steps.len();
        }
    }
    println!("{groups} groups, {seen} steps");
    assert!(groups >= 12, "only {groups} groups have a name for each state");
}
