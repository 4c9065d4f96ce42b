//! The worked example of the mathematical contract, from a native file to printed numbers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::{Bench, WORKED, close, csv, numbers, texts};

const NONE: [&str; 4] = ["steps", "input.json", "--step-reward", "none"];

/// Rows in canonical order: t1 s0 s1 s2, t2 s0 s1 s3, t3 s0 s3, t4 s0 s3 s4 s5.
fn by_hand() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let g = 0.99_f64;
    let (g2, g3) = (g * g, g * g * g);
    // Returns: t1 g2 g 1, t2 and t3 zero, t4 g3 g2 g 1.
    let v0 = (g2 + 0.0 + 0.0 + g3) / 4.0;
    let v1 = g / 2.0;
    let v3 = (0.0 + 0.0 + g2) / 3.0;
    let smooth = |v: f64, n: f64| (n * v + 2.0 * 0.5) / (n + 2.0);
    let (s0, s1, s3) = (smooth(v0, 4.0), smooth(v1, 2.0), smooth(v3, 3.0));
    let (s2, s4, s5) = (smooth(1.0, 1.0), smooth(g, 1.0), smooth(1.0, 1.0));
    let v = vec![v0, v1, 1.0, v0, v1, v3, v0, v3, v0, v3, g, 1.0];
    let smoothed = vec![s0, s1, s2, s0, s1, s3, s0, s3, s0, s3, s4, s5];
    let (qa, qb) = (g2 / 2.0, g3 / 2.0);
    let q = [qa, g, 1.0, qa, 0.0, 0.0, qb, 0.0, qb, g2, g, 1.0];
    let a = q.iter().zip(&smoothed).map(|(q, s)| q - s).collect();
    (v, smoothed, a)
}

#[test]
fn values_and_rtmc() {
    let out = Bench::new(WORKED).ok(&NONE);
    let (v, smoothed, rtmc) = by_hand();
    close(&numbers(&out, "v"), &v, 1e-12);
    close(&numbers(&out, "v_smooth"), &smoothed, 1e-12);
    close(&numbers(&out, "rtmc"), &rtmc, 1e-12);
    // As printed in the contract.
    let printed = [
        -0.0017, 0.4925, 0.3333, -0.0017, -0.4975, -0.3960, -0.0066, -0.3960, -0.0066, 0.5841,
        0.3267, 0.3333,
    ];
    close(&numbers(&out, "rtmc"), &printed, 5e-5);
    let v_printed =
        [0.4876, 0.495, 1.0, 0.4876, 0.495, 0.3267, 0.4876, 0.3267, 0.4876, 0.3267, 0.99, 1.0];
    close(&numbers(&out, "v"), &v_printed, 5e-5);
    let smooth_printed = [0.49173, 0.4975, 0.66667];
    close(&numbers(&out, "v_smooth")[..3], &smooth_printed, 5e-6);
}

#[test]
fn grpo_and_its_parameters() {
    let bench = Bench::new(WORKED);
    let sign = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0];
    let expected = |std: f64| sign.map(|s| s * 0.5 / (std + 1e-6));
    // Rewards 1 0 0 1: squares add up to 1; ddof 1 divides by 3, ddof 0 by 4.
    let out = bench.ok(&NONE);
    close(&numbers(&out, "grpo"), &expected((1.0_f64 / 3.0).sqrt()), 1e-12);
    close(&numbers(&out, "grpo"), &sign.map(|s| s * 0.8660), 5e-5);
    let mut args = NONE.to_vec();
    args.extend(["--set", "grpo.ddof=0"]);
    close(&numbers(&bench.ok(&args), "grpo"), &expected(0.5), 1e-12);
}

#[test]
fn the_six_parts_add_up_and_evidence_is_as_defined() {
    let out = Bench::new(WORKED).ok(&NONE);
    let names = [
        "cmp_outcome",
        "cmp_discount",
        "cmp_shaping",
        "prior_outcome",
        "prior_discount",
        "prior_shaping",
    ];
    let mut sums = vec![0.0; 12];
    for name in names {
        for (sum, x) in sums.iter_mut().zip(numbers(&out, name)) {
            *sum += x;
        }
    }
    close(&sums, &numbers(&out, "rtmc"), 1e-12);
    // s0, s1 and s3 saw two actions by two rollouts; s2, s4 and s5 one rollout.
    let c = "compared";
    let expected = [c, c, "single", c, c, c, c, c, c, c, "single", "single"];
    assert_eq!(texts(&out, "evidence"), expected);
}

#[test]
fn explain_gives_the_value_bit_for_bit_and_its_members() {
    let bench = Bench::new(WORKED);
    let found = bench.json(&["explain", "input.json", "--at", "t4:1", "--format", "json"]);
    let (_, _, rtmc) = by_hand();
    let value = found["value"].as_f64().unwrap();
    assert!((value - rtmc[9]).abs() < 1e-12);
    assert_eq!(found["expression"], "0.9801 - (3*0.3267 + 2.0*0.5) / (3 + 2.0)");
    assert_eq!(value.to_bits(), (0.9801_f64 - (3.0 * 0.3267 + 2.0 * 0.5) / (3.0 + 2.0)).to_bits());
    let members: Vec<&str> = found["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["rollout"].as_str().unwrap())
        .collect();
    assert_eq!(members, ["t4", "t2", "t3"]);
    let text = bench.ok(&["explain", "input.json", "--at", "t4:1", "--artefacts"]);
    assert!(text.contains("eval   0.9801 - (3*0.3267 + 2.0*0.5) / (3 + 2.0)"));
    // 0.99^68 = .5049, 0.99^69 = .4998: the first below .5 is 69 steps before the end.
    assert!(text.contains("negative from 69 steps before the end"), "{text}");
}

#[test]
fn tree_rows_carry_the_pair_of_their_first_step() {
    let out = Bench::new(WORKED).ok(&["tree", "input.json", "--format", "csv"]);
    assert_eq!(texts(&out, "label"), ["a", "c", "d", "b", "f", "g"]);
    assert_eq!(texts(&out, "depth"), ["0", "1", "1", "0", "1", "1"]);
    assert_eq!(texts(&out, "steps"), ["1", "2", "2", "1", "1", "3"]);
    assert_eq!(texts(&out, "members"), ["t1;t2", "t1", "t2", "t3;t4", "t3", "t4"]);
    assert_eq!(texts(&out, "successes"), ["1", "1", "0", "1", "0", "1"]);
    close(&numbers(&out, "n_s"), &[4.0, 2.0, 2.0, 4.0, 3.0, 3.0], 0.0);
    let states =
        Bench::new(WORKED).ok(&["tree", "input.json", "--lens", "states", "--format", "csv"]);
    assert_eq!(csv(&states).1.len(), 9);
}

/// With first visits of states, a pair's mean is still over first visits of the pair: `r0` takes `b` at
/// its second visit of `S`, which counts in Q and not in V or N(s).
#[test]
fn first_visits_of_states_say_what_they_leave_out() {
    let bench = Bench::new(concat!(
        r#"{"task":"t","id":"r0","outcome":"success","#,
        r#""steps":[{"state":"S","action":"a"},{"state":"S","action":"b"}]}"#,
        "\n",
        r#"{"task":"t","id":"r1","outcome":"failure","steps":[{"state":"S","action":"b"}]}"#,
    ));
    let at = ["explain", "input.json", "--at", "r1:0", "--gamma", "1", "--step-reward", "none"];
    let text = bench.ok(&[&at[..], &["--visit", "state"]].concat());
    assert!(text.contains("Q is over the 2 first visits of the pair"), "{text}");
    assert!(text.contains("V and N(s): 1 of these") && text.contains("of N(s) 2,"), "{text}");
    let text = bench.ok(&at);
    assert!(!text.contains("Q is over"), "{text}");
}
