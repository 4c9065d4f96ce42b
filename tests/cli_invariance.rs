//! What must not change the output, and what must; how much memory a big file takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;
mod common;

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

fn real(name: &str) -> Option<String> {
    let corpus = common::corpus()?;
    Some(std::fs::read_to_string(corpus.join(name)).unwrap())
}

const R2E: &str = "derived/r2e_gym.astropy-12907.k8.jsonl";

#[test]
fn the_order_of_lines_changes_no_byte() {
    let Some(text) = real(R2E) else { return };
    let mut lines: Vec<&str> = text.lines().collect();
    let bench = cli_common::Bench::new("{}");
    bench.write("run.jsonl", &text);
    let args = ["steps", "run.jsonl", "--format", "csv"];
    let plain = bench.ok(&args);
    for turn in 1..4 {
        lines.rotate_left(turn);
        lines.swap(0, 5);
        bench.write("run.jsonl", &(lines.join("\n") + "\n"));
        assert_eq!(bench.ok(&args), plain);
    }
    for threads in ["1", "8"] {
        assert_eq!(
            bench.ok(&["steps", "run.jsonl", "--format", "csv", "--threads", threads]),
            plain
        );
    }
}

/// Rollouts of a native document in another order: the same bytes, the stamp included.
#[test]
fn the_order_of_rollouts_in_a_document_changes_no_byte() {
    let Some(cases) = common::cases() else { return };
    for case in ["03-loo-float-residue", "20-git-checkout-revert", "14-loop-revisits-state"] {
        let text = std::fs::read_to_string(cases.join(case).join("input.json")).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let bench = cli_common::Bench::new("{}");
        bench.write("group.json", &document.to_string());
        let before = bench.ok(&["steps", "group.json", "--format", "csv"]);
        document["rollouts"].as_array_mut().unwrap().reverse();
        bench.write("group.json", &document.to_string());
        assert_eq!(bench.ok(&["steps", "group.json", "--format", "csv"]), before, "{case}");
    }
}

#[test]
fn one_other_outcome_changes_the_prior_and_a_sign() {
    let Some(text) = real(R2E) else { return };
    let bench = cli_common::Bench::new("{}");
    let values = |text: &str| -> (f64, Vec<f64>) {
        bench.write("run.jsonl", text);
        let json: Value =
            serde_json::from_str(&bench.ok(&["steps", "run.jsonl", "--format", "json"])).unwrap();
        let rows = json["rows"].as_array().unwrap();
        (
            rows[0]["v_prior"].as_f64().unwrap(),
            rows.iter().map(|r| r["rtmc"].as_f64().unwrap()).collect(),
        )
    };
    let before = values(&text);
    let mut changed = false;
    let flipped: Vec<String> = text
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if !changed && record["reward"] == 1.0 {
                changed = true;
                record["reward"] = 0.0.into();
            }
            record.to_string()
        })
        .collect();
    let after = values(&flipped.join("\n"));
    assert_eq!((before.0, after.0), (0.5, 0.375));
    assert!(before.1.iter().zip(&after.1).any(|(a, b)| a * b < 0.0));
}

#[test]
fn every_split_of_the_quadrants_adds_up() {
    let Some(text) = real(R2E) else { return };
    let bench = cli_common::Bench::new("{}");
    bench.write("run.jsonl", &text);
    for by in ["outcome", "rollout", "category", "depth", "evidence"] {
        let csv =
            bench.ok(&["quadrants", "run.jsonl", "--format", "csv", "--by", by, "--no-stamp"]);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let mut sums = [0_u64; 2];
        for row in reader.records() {
            let row = row.unwrap();
            let numbers: Vec<u64> = (3..12).map(|i| row[i].parse().unwrap()).collect();
            sums[0] += numbers[0];
            sums[1] += numbers[1..].iter().sum::<u64>();
        }
        assert_eq!(sums, [41, 41], "{by}");
    }
}

/// Texts are not kept: 200 MB of lines are reported on in less than 100 MB.
#[test]
fn a_big_file_takes_little_memory() {
    little_memory("big.jsonl", 200_000_000, common::generate::r2e);
}

/// Nor are documents held as a whole: one of 200 MB takes no more.
#[test]
fn a_big_document_takes_little_memory() {
    little_memory("big.json", 200_000_000, common::generate::tau2);
}

/// Lines of 3 MB each, which one thread cuts and others read, do not pile up.
#[test]
fn long_records_take_little_memory() {
    little_memory("long.jsonl", 100_000_000, common::generate::native_long);
}

fn little_memory(name: &str, bytes: u64, generate: fn(&std::path::Path, u64) -> u64) {
    if !std::path::Path::new("/proc/self/status").exists() {
        eprintln!("SKIPPED: no /proc to read the peak memory from");
        return;
    }
    let bench = cli_common::Bench::new("{}");
    let rollouts = generate(&bench.path(name), bytes);
    let mut child = bench
        .command(&["report", name, "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut stdout = child.stdout.take().unwrap();
    let mut peak = 0;
    let mut watch = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default();
        let kib: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        peak = peak.max(kib);
    };
    // Reading keeps the pipe empty; the high-water mark only grows, so the last look counts.
    let (mut output, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        watch();
        match stdout.read(&mut chunk).unwrap() {
            0 => break,
            n => output.extend_from_slice(&chunk[..n]),
        }
    }
    assert!(child.wait().unwrap().success());
    let json: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(json["load"]["rollouts"].as_u64().unwrap(), rollouts);
    println!("{name}: peak {} MB for {rollouts} rollouts of {} MB", peak / 1024, bytes / 1_000_000);
    assert!(peak > 0 && peak < 100 * 1024, "peak {} MB", peak / 1024);
}
