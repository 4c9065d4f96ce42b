//! The shared cases, seen through the command line.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::{Bench, case, close, numbers, texts};

/// A bench on a case, its files under the names of the case.
fn bench(number: &str) -> Option<Bench> {
    let from = case(number)?;
    let bench = Bench::new("");
    std::fs::remove_file(bench.path("input.json")).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "md") {
            std::fs::copy(&path, bench.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
        }
    }
    Some(bench)
}

#[test]
fn uniform_success_is_zero_and_named() {
    let Some(bench) = bench("01-") else { return };
    for set in ["grpo.norm=none", "grpo.ddof=0", "grpo.ddof=1"] {
        let out = bench.ok(&["steps", "input.json", "--step-reward", "logged", "--set", set]);
        assert_eq!(numbers(&out, "grpo"), vec![0.0; 10]);
    }
    let page = bench.ok(&["report", "input.json"]);
    assert!(page.contains("Uniform outcome 4/4: left out of gradient updates"), "{page}");
    let out = bench.ok(&["steps", "input.json", "--step-reward", "logged"]);
    let r2: Vec<f64> = texts(&out, "rollout")
        .iter()
        .zip(numbers(&out, "rtmc"))
        .filter(|(id, _)| *id == "r2")
        .map(|(_, a)| a)
        .collect();
    close(&r2, &[-0.009_933, -0.005, 0.0], 5e-7);
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn a_group_of_one_has_no_baseline() {
    let Some(bench) = bench("02-") else { return };
    let base = ["steps", "input.json", "--step-reward", "logged"];
    let out = bench.ok(&base);
    assert_eq!(numbers(&out, "grpo"), [0.0, 0.0]);
    close(&numbers(&out, "rtmc"), &[-0.006_667, 0.0], 5e-7);
    let mut raw = base.to_vec();
    raw.extend(["--set", "grpo.singleton=raw"]);
    let stamped = bench.ok(&raw);
    assert!(stamped.lines().next().unwrap().contains("grpo.singleton=raw"));
    close(&numbers(&stamped, "grpo"), &[1.0, 1.0], 2e-6);
    assert_eq!(
        texts(&bench.ok(&["groups", "input.json", "--format", "csv"]), "warnings"),
        ["group-of-one"]
    );
}

#[test]
fn equal_peers_leave_no_residue() {
    let Some(bench) = bench("03-") else { return };
    let base = ["steps", "input.json", "--step-reward", "logged", "--reward-source", "logged"];
    let values = |column: &str, set: &[&str]| {
        let mut args = base.to_vec();
        args.extend(["--columns", column]);
        for one in set {
            args.extend(["--set", one]);
        }
        let mut found = numbers(&bench.ok(&args), column);
        assert!(found.iter().all(|a| a.abs() <= 10.0), "{found:?}");
        found.sort_by(f64::total_cmp);
        found.dedup();
        assert_eq!(found.len(), 2, "{found:?}");
        found
    };
    close(&values("grpo", &["grpo.eps=0"]), &[-0.353_553, 2.474_874], 5e-7);
    close(&values("grpo", &["grpo.eps=0", "grpo.ddof=0"]), &[-0.377_964, 2.645_751], 5e-7);
    close(&values("rloo", &[]), &[-0.085_714, 0.6], 5e-7);
    // The peers of the one are all equal: it stays unscaled. The others' peers deviate by 0.226779.
    close(&values("rloo", &["rloo.std=loo"]), &[-0.085_714_286 / 0.226_779, 0.6], 1e-6);
}

#[test]
fn every_convention_of_grpo() {
    let Some(bench) = bench("04-") else { return };
    let table = [
        ("0", "std", "0", 1.732_050_808, -0.577_350_269),
        ("0", "std", "1e-8", 1.732_050_768, -0.577_350_256),
        ("0", "std", "1e-6", 1.732_046_808, -0.577_348_936),
        ("0", "std", "0.0001", 1.731_650_900, -0.577_216_967),
        ("0", "var", "0.0001", 1.731_589_112, -0.577_196_371),
        ("1", "std", "0", 1.620_185_175, -0.540_061_725),
        ("1", "std", "1e-8", 1.620_185_140, -0.540_061_713),
        ("1", "std", "1e-6", 1.620_181_675, -0.540_060_558),
        ("1", "std", "0.0001", 1.619_835_250, -0.539_945_083),
        ("1", "var", "0.0001", 1.619_807_264, -0.539_935_755),
    ];
    for (ddof, at, eps, success, failure) in table {
        let (d, a, e) =
            (format!("grpo.ddof={ddof}"), format!("grpo.eps-at={at}"), format!("grpo.eps={eps}"));
        let args = ["steps", "input.json", "--set", &d, "--set", &a, "--set", &e];
        let out = bench.ok(&args);
        for (outcome, value) in texts(&out, "outcome").iter().zip(numbers(&out, "grpo")) {
            let expected = if outcome == "success" { success } else { failure };
            assert!((value - expected).abs() < 1e-9, "{ddof} {at} {eps}: {value}");
        }
        let page = bench.ok(&["report", "input.json", "--set", &d, "--set", &a, "--set", &e]);
        assert!(page.contains(&format!("ddof {ddof}")));
    }
    let out = bench.ok(&["steps", "input.json", "--set", "grpo.norm=none"]);
    let distinct: std::collections::BTreeSet<String> = texts(&out, "grpo").into_iter().collect();
    assert_eq!(distinct.into_iter().collect::<Vec<_>>(), ["-0.25", "0.75"]);
}

#[test]
fn problems_in_one_file_stay_apart() {
    let Some(bench) = bench("05-") else { return };
    let out =
        bench.ok(&["steps", "input.jsonl", "--reward-source", "logged", "--columns", "dr-grpo"]);
    assert_eq!(texts(&out, "task"), ["p1", "p1", "p1", "p2", "p2", "p3"]);
    assert_eq!(texts(&out, "rollout"), ["a", "b", "d", "c", "f", "e"]);
    close(&numbers(&out, "dr-grpo"), &[-0.4, 0.0, 0.4, -0.5, 0.5, 0.0], 1e-12);
    let rows = texts(&out, "n_s");
    assert_eq!(rows.last().unwrap(), "1");
}

#[test]
fn step_rewards_of_all_steps_count() {
    let Some(bench) = bench("08-") else { return };
    let out = bench.ok(&["steps", "input.json", "--step-reward", "logged"]);
    let expected = [1.024_205, 1.029_5, 1.044_95, 1.005, 0.005_05, 0.000_05, -0.005];
    close(&numbers(&out, "ret"), &expected, 5e-7);
}

#[test]
fn truncated_and_broken_rollouts_are_told_apart() {
    let Some(bench) = bench("10-") else { return };
    let page = bench.ok(&["report", "input.json", "--step-reward", "logged"]);
    assert!(page.contains("1 success, 1 failure, 1 truncated"), "{page}");
    assert!(page.contains("1/2 without the truncated"), "{page}");
    assert!(page.contains("loop: t1 to t6 ×6 invalid"), "{page}");
    let without = bench.ok(&["groups", "input.json", "--format", "csv", "--truncated", "exclude"]);
    assert_eq!(texts(&without, "scored"), ["2"]);
}

#[test]
fn broken_rollouts_are_no_verdict() {
    let Some(bench) = bench("11-") else { return };
    let base = ["steps", "input.json", "--step-reward", "logged"];
    let out = bench.ok(&base);
    assert_eq!(numbers(&out, "v_prior")[0], 0.5);
    assert_eq!(texts(&out, "n_s")[0], "2");
    let mut failures = base.to_vec();
    failures.extend(["--errors", "failure"]);
    let out = bench.ok(&failures);
    assert_eq!(numbers(&out, "v_prior")[0], 0.25);
    assert_eq!(texts(&out, "n_s")[0], "3");
    let page = bench.ok(&["report", "input.json"]);
    assert!(page.contains("0 steps, sandbox_lost"), "{page}");
}

#[test]
fn numbers_that_are_none_are_never_zero() {
    let Some(bench) = bench("12-") else { return };
    let out = bench.ok(&["steps", "input.json", "--step-reward", "logged", "--format", "json"]);
    assert!(!out.contains(":NaN") && !out.contains(":Infinity"));
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = found["rows"].as_array().unwrap();
    let unscored: Vec<&str> = rows
        .iter()
        .filter(|r| r["outcome"] == "unscored")
        .map(|r| r["rollout"].as_str().unwrap())
        .collect();
    assert_eq!(unscored, ["r1", "r2", "r3", "r4", "r8"]);
    assert_eq!(rows[0]["v_prior"], 0.75);
    let reason = rows[1]["reason"].as_str().unwrap();
    assert!(rows[1]["rtmc"].is_null() && reason.contains("reward is NaN"), "{reason}");
}

#[test]
fn shaping_in_a_uniform_group_is_marked() {
    let Some(bench) = bench("13-") else { return };
    let base = ["steps", "input.json", "--step-reward", "logged"];
    assert_eq!(numbers(&bench.ok(&base), "v_prior")[0], 0.0);
    let mut shaped = base.to_vec();
    shaped.extend(["--reward-source", "logged", "--set", "grpo.ddof=0", "--prior", "rate"]);
    let out = bench.ok(&shaped);
    let mut grpo = numbers(&out, "grpo");
    grpo.dedup();
    close(&grpo, &[1.507_557, 0.301_511, -0.904_534], 1e-5);
    assert_eq!(numbers(&out, "v_prior")[0], 0.0);
    let page = bench.ok(&["report", "input.json"]);
    assert!(page.contains("[shaped-uniform]") && page.contains("0.207289"), "{page}");
}

#[test]
fn a_loop_counts_once() {
    let Some(bench) = bench("14-") else { return };
    let out = bench.ok(&["steps", "input.json", "--step-reward", "logged"]);
    let expected = [
        0.014_628, -0.387_316, -0.387_316, -0.387_316, -0.387_316, -0.387_316, -0.411_821,
        0.014_628, 0.622_779, 0.36, 0.333_333,
    ];
    close(&numbers(&out, "rtmc"), &expected, 5e-7);
    assert_eq!(texts(&out, "n_sa")[1], "1");
    assert_eq!(texts(&out, "n_s")[1], "3");
    let revisits = texts(&out, "revisit");
    assert_eq!(revisits[..7], ["false", "false", "true", "true", "true", "true", "true"]);
    let report = bench.json(&["report", "input.json", "--format", "json"]);
    assert_eq!(report["rows"][0]["rollouts"][0]["revisits"], 5);
    let page = bench.ok(&["report", "input.json"]);
    assert!(page.contains("loop: t0 to t5 ×6 view:full@core.py"), "{page}");
}

#[test]
fn an_agreed_file_has_41_scored_steps() {
    let Some(case) = case("01-") else { return };
    let file = case.join("../../data/derived/r2e_gym.astropy-12907.k8.jsonl");
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing", file.display());
        return;
    }
    let bench = Bench::new("");
    let page = bench.ok(&["report", file.to_str().unwrap()]);
    assert!(page.contains("= 41 scored steps"), "{page}");
    let out = bench.ok(&["quadrants", file.to_str().unwrap(), "--format", "csv"]);
    assert_eq!(numbers(&out, "steps").iter().sum::<f64>(), 41.0);
}
