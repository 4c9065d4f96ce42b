//! The diagnostics of a report, by hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::{Bench, WORKED};
use serde_json::Value;

fn report(bench: &Bench, more: &[&str]) -> Value {
    let mut args = vec!["report", "input.json", "--step-reward", "none", "--format", "json"];
    args.extend(more);
    bench.json(&args)["rows"][0].clone()
}

fn at(row: &Value) -> (String, u64) {
    (row["rollout"].as_str().unwrap().to_owned(), row["step"].as_u64().unwrap())
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {row}"))
}

#[test]
fn pivots_drops_and_impure_states() {
    let row = report(&Bench::new(WORKED), &[]);
    // Success rates: s0 2 of 4 for both actions; s1 c 1, d 0; s3 f 0 of 2, g 1, all 1 of 3.
    let pivotal = row["pivotal"].as_array().unwrap();
    let found: Vec<_> = pivotal.iter().map(|p| (at(p), number(p, "comparison"))).collect();
    let expected = [("t4", 1, 2.0 / 3.0), ("t1", 1, 0.5), ("t2", 1, -0.5), ("t2", 2, -1.0 / 3.0)];
    assert_eq!(found.len(), 4);
    for (((id, step), value), (e_id, e_step, e)) in found.iter().zip(expected) {
        assert_eq!((id.as_str(), *step), (e_id, e_step));
        assert!((value - e).abs() < 1e-12);
    }
    // V: s0 .4876, s1 .495, s3 .3267; s0 b to s3 is one way, taken by t3 and t4.
    let drops = row["drops"].as_array().unwrap();
    let g = 0.99_f64;
    let (v0, v1, v3) = ((g * g + g * g * g) / 4.0, g / 2.0, g * g / 3.0);
    assert_eq!(drops.len(), 2);
    assert_eq!((at(&drops[0]), at(&drops[1])), (("t2".into(), 1), ("t3".into(), 0)));
    assert!((number(&drops[0], "change") - (v3 - v1)).abs() < 1e-12);
    assert!((number(&drops[1], "change") - (v3 - v0)).abs() < 1e-12);
    let impure = row["impure_states"].as_array().unwrap();
    let found: Vec<_> = impure
        .iter()
        .map(|s| (s["state"].as_str().unwrap(), s["rollouts"].as_u64(), s["successes"].as_u64()))
        .collect();
    let expected = [("s0", Some(4), Some(2)), ("s1", Some(2), Some(1)), ("s3", Some(3), Some(1))];
    assert_eq!(found, expected);
    assert!((number(&impure[2], "impurity") - 2.0 / 3.0).abs() < 1e-12);
    // Wilson of 2 in 4, from the formula: .5 -+ 1.96 sqrt(.25/4 + 3.8415/64) / (1 + 3.8415/4).
    assert!((number(&impure[0], "low") - 0.150_036).abs() < 1e-5);
}

#[test]
fn signs_depths_and_mass() {
    let row = report(&Bench::new(WORKED), &[]);
    let facts = &row["diagnostics"];
    // a and b at s0 were taken by a success and a failure each.
    assert_eq!((&facts["sign_conflicts"], &facts["sign_conflict_steps"]), (&2.into(), &4.into()));
    // t1 - + +, t2 - - -, t3 - -, t4 - + + +.
    assert_eq!(facts["sign_changes"], 2);
    assert_eq!(facts["sharing_ends"], 2);
    let sharing: Vec<f64> =
        row["depths"].as_array().unwrap().iter().map(|d| number(d, "sharing")).collect();
    assert_eq!(sharing, [1.0, 1.0, 1.0 / 3.0, 0.0]);
    let mass: f64 = [
        "cmp_outcome",
        "cmp_discount",
        "cmp_shaping",
        "prior_outcome",
        "prior_discount",
        "prior_shaping",
    ]
    .iter()
    .map(|part| number(facts, &format!("mass_{part}")))
    .sum();
    assert!((mass - 1.0).abs() < 1e-12);
    assert_eq!(number(facts, "mass_cmp_shaping"), 0.0);
}

#[test]
fn waste_counts_a_step_once_and_forgives_after_a_change() {
    let step = |command: &str, code: i64| {
        format!(
            r#"{{"tool":"bash","args":{{"command":"{command}"}},"exit_code":{code},"observation":"x"}}"#
        )
    };
    let walk = |id: &str, outcome: &str, steps: &[String]| {
        format!(r#"{{"task":"t","id":"{id}","outcome":"{outcome}","steps":[{}]}}"#, steps.join(","))
    };
    let edit = "sed -i s/a/b/ core.py";
    let steps = [
        step("cat nope.py", 1),
        step("cat nope.py", 1), // failed before, nothing changed: also a revisit
        step(edit, 0),
        step("cat nope.py", 1), // after a change it may work
        step("cat nope.py", 1),
    ];
    let text = format!("{}\n{}\n", walk("a", "failure", &steps), walk("b", "success", &[]));
    let bench = Bench::new("{}");
    bench.write("input.json", &text);
    let row = report(&bench, &[]);
    let waste = &row["redundancy"][0];
    assert_eq!((&waste["rollout"], &waste["steps"]), (&"a".into(), &5.into()));
    assert_eq!(waste["failed_again"], 2, "{waste}");
    // A failed view leaves no trace: the second call and the edit start from the state of the first,
    // the last call from that of the one before. Two of these steps are the repeated calls.
    assert_eq!(waste["revisits"], 3, "{waste}");
    assert_eq!(waste["redundant"], 3);
}

#[test]
fn brief_leaves_them_out() {
    let bench = Bench::new(WORKED);
    assert!(report(&bench, &["--brief"]).get("diagnostics").is_none());
    let text = bench.ok(&["report", "input.json"]);
    assert!(text.contains("Pivotal steps") && text.contains("Impure states"));
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(!bench.ok(&["report", "input.json", "--brief"]).contains("Pivotal steps"));
}
