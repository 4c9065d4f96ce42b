//! Sums over groups and their intervals, against a bootstrap written down once more here.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]
#![allow(clippy::cast_sign_loss, clippy::format_push_string)]

mod cli_common;

use cli_common::{Bench, close, numbers, texts};

/// Six groups over two training steps, with (successes, failures) rollouts of one step each.
const GROUPS: [(u64, usize, usize); 6] =
    [(0, 1, 3), (0, 2, 2), (0, 3, 1), (1, 4, 0), (1, 1, 1), (1, 2, 4)];

fn bench() -> Bench {
    let mut text = String::new();
    for (task, (train_step, won, lost)) in GROUPS.into_iter().enumerate() {
        for i in 0..won + lost {
            let outcome = if i < won { "success" } else { "failure" };
            let action = ["a", "b"][i % 2];
            text.push_str(&format!(
                "{{\"task\":\"t{task}\",\"id\":\"r{i}\",\"policy\":\"p\",\"train_step\":{train_step},\"outcome\":\"{outcome}\",\"steps\":[{{\"state\":\"s\",\"action\":\"{action}\"}}]}}\n"
            ));
        }
    }
    let bench = Bench::new("{}");
    bench.write("in.jsonl", &text);
    bench
}

/// Splitmix64, drawn modulo n; percentiles linear between neighbours.
fn bootstrap(counts: &[(f64, f64)]) -> (f64, f64) {
    let mut state = 0_u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut found: Vec<f64> = (0..1000)
        .map(|_| {
            let (mut part, mut whole) = (0.0, 0.0);
            for _ in 0..counts.len() {
                let (p, w) = counts[(next() % counts.len() as u64) as usize];
                part += p;
                whole += w;
            }
            part / whole
        })
        .collect();
    found.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * 999.0;
        let below = found[place as usize];
        below + (place - place.floor()) * (found[place.ceil() as usize] - below)
    };
    (at(0.025), at(0.975))
}

#[test]
fn groups_by_training_step_carry_intervals() {
    let bench = bench();
    let args = ["groups", "in.jsonl", "--by", "train_step", "--format", "csv"];
    let out = bench.ok(&args);
    assert_eq!(texts(&out, "key"), ["0", "1"]);
    assert_eq!(numbers(&out, "groups"), [3.0, 3.0]);
    assert_eq!(numbers(&out, "quadrant_groups"), [3.0, 2.0], "the uniform group stays out");
    close(&numbers(&out, "success_rate"), &[6.0 / 12.0, 7.0 / 12.0], 1e-12);
    for (at, rows) in [&GROUPS[..3], &GROUPS[3..]].iter().enumerate() {
        let counts: Vec<(f64, f64)> =
            rows.iter().map(|&(_, won, lost)| (won as f64, (won + lost) as f64)).collect();
        let (low, high) = bootstrap(&counts);
        close(&[numbers(&out, "success_rate_low")[at]], &[low], 1e-12);
        close(&[numbers(&out, "success_rate_high")[at]], &[high], 1e-12);
    }
    let policy = bench.ok(&["groups", "in.jsonl", "--by", "policy", "--format", "csv"]);
    assert_eq!((texts(&policy, "key"), numbers(&policy, "groups")), (vec!["p".into()], vec![6.0]));
    let all = bench.json(&["groups", "in.jsonl", "--format", "json"]);
    let rate = all["totals"][0]["success_rate"].as_f64().unwrap();
    assert!((rate - 13.0 / 24.0).abs() < 1e-12);
    // The same bytes every time and with any number of threads.
    let threads = bench.ok(&[
        "groups",
        "in.jsonl",
        "--by",
        "train_step",
        "--format",
        "csv",
        "--threads",
        "1",
    ]);
    assert_eq!(threads, out);
}

#[test]
fn quadrants_over_groups_carry_intervals() {
    let bench = bench();
    let found = bench.json(&["quadrants", "in.jsonl", "--format", "json"]);
    let intervals = found["intervals"].as_array().unwrap();
    let row = |key: &str, quadrant: &str| {
        intervals.iter().find(|r| r["key"] == key && r["quadrant"] == quadrant).unwrap().clone()
    };
    let all = row("all", "both_pos");
    assert_eq!(all["groups"], 5);
    // The shares are those of the table.
    let rows = found["rows"].as_array().unwrap();
    let steps: f64 = rows.iter().map(|r| r["steps"].as_f64().unwrap()).sum();
    let both: f64 = rows.iter().map(|r| r["both_pos"].as_f64().unwrap()).sum();
    assert!((all["share"].as_f64().unwrap() - both / steps).abs() < 1e-12);
    assert!(all["low"].as_f64().unwrap() <= all["share"].as_f64().unwrap());
    let failures = rows.iter().find(|r| r["key"] == "failure").unwrap();
    assert_eq!(row("failure", "both_neg")["share"], failures["share_both_neg"]);
    let one = bench.json(&["quadrants", "in.jsonl", "--only", "t1", "--format", "json"]);
    assert_eq!(one["intervals"].as_array().unwrap().len(), 0, "one group has no spread");
}

/// What the text calls `all` stands beside the rows, so that a sum over the rows counts once.
#[test]
fn totals_of_quadrants_stand_beside_the_rows() {
    let bench = cli_common::Bench::new(cli_common::WORKED);
    let sums = |rows: &serde_json::Value, total: &serde_json::Value| {
        let rows = rows.as_array().unwrap();
        assert!(rows.len() > 1 && rows.iter().all(|r| r["key"] != "all"));
        let total = &total[0];
        assert_eq!(total["key"], "all");
        for name in ["steps", "both_pos", "rescued", "both_neg", "penalized", "missing"] {
            let sum: u64 = rows.iter().map(|r| r[name].as_u64().unwrap()).sum();
            assert_eq!(total[name].as_u64().unwrap(), sum, "{name}");
        }
        assert_eq!(total["steps"], 12);
        let share = total["both_pos"].as_f64().unwrap() / 12.0;
        assert!((total["share_both_pos"].as_f64().unwrap() - share).abs() < 1e-12);
    };
    let json = bench.json(&["quadrants", "input.json", "--format", "json"]);
    sums(&json["rows"], &json["totals"]);
    let json = bench.json(&["report", "input.json", "--format", "json"]);
    sums(&json["rows"][0]["quadrants"], &json["rows"][0]["quadrants_totals"]);
    let csv = bench.ok(&["quadrants", "input.json", "--format", "csv"]);
    assert_eq!(cli_common::texts(&csv, "key"), ["success", "failure"]);
}
