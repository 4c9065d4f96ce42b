//! How text tells rollouts that are no plain success or failure: truncated, lost, caught in a loop.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod cli_common;

use cli_common::{Bench, case, texts};

#[test]
fn a_truncated_rollout_is_told_apart_and_its_loop_is_folded() {
    let Some(case) = case("10") else { return };
    let input = std::fs::read_to_string(case.join("input.json")).unwrap();
    let bench = Bench::new(&input);
    let args = ["input.json", "--step-reward", "logged"];
    let page = bench.ok(&[&["report"], &args[..]].concat());
    assert!(page.contains("1 success, 1 failure, 1 truncated"), "{page}");
    assert!(page.contains("loop: t1 to t6 ×6 invalid"), "{page}");
    let text = bench.ok(&[&["steps"], &args[..], &["--format", "text"]].concat());
    let folded: Vec<&str> = text.lines().filter(|l| l.contains("invalid")).collect();
    assert_eq!(folded.len(), 1, "{text}");
    let words: Vec<&str> = folded[0].split_whitespace().collect();
    // The step rewards are equal, the returns are not.
    assert_eq!(words[..7], ["r2", "1-6", "invalid", "×6", "loop", "error", "-0.005"], "{text}");
    assert_eq!(words[7], "…");
    // Data forms keep every step.
    let csv = bench.ok(&[&["steps"], &args[..], &["--format", "csv"]].concat());
    assert_eq!(texts(&csv, "category").iter().filter(|c| *c == "invalid").count(), 6);
    let tree = bench.ok(&[&["tree"], &args[..]].concat());
    assert!(tree.lines().last().unwrap().ends_with("invalid ×6 loop"), "{tree}");
}

#[test]
fn the_head_of_a_page_counts_errors() {
    let Some(case) = case("11") else { return };
    let input = std::fs::read_to_string(case.join("input.json")).unwrap();
    let bench = Bench::new(&input);
    let page = bench.ok(&["report", "input.json"]);
    assert!(page.lines().next().unwrap().contains("4 rollouts, 2 scored, 2 errors"), "{page}");
    assert!(page.contains("r2  0 steps, sandbox_lost"), "{page}");
}
