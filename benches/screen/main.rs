//! The screen's speed: from a key to its frame, a frame alone, and the first frame of the program.
//!
//! The first two on a group of 64 rollouts of 200 steps, made here and driven through the run loop with
//! its workers and a drawing surface in memory. The third in a pseudo-terminal, from the start of the
//! process, beside the rollout viewer that comes with verl, where that is there (`just viewer`).
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[cfg(all(feature = "tui", unix))]
mod driven;
#[cfg(all(feature = "tui", unix))]
#[path = "../../tests/common/generate.rs"]
#[allow(dead_code)]
mod generate;
#[cfg(all(feature = "tui", unix))]
mod started;

#[cfg(all(feature = "tui", unix))]
fn main() {
    driven::measure();
    started::measure();
}

#[cfg(not(all(feature = "tui", unix)))]
fn main() {
    println!("the screen is not built in here");
}

/// Prints a line: what was measured, median and p99, and the limit.
#[cfg(all(feature = "tui", unix))]
fn tell(what: &str, mut times: Vec<f64>, limit: Option<f64>) {
    times.sort_by(f64::total_cmp);
    let n = times.len();
    let (p50, p99) = (times[n / 2], times[(n * 99 / 100).min(n - 1)]);
    let against = limit.map_or_else(String::new, |limit| {
        let word = if p99 < limit { "holds" } else { "MISSED" };
        format!("  limit {limit:.0} ms: {word}")
    });
    println!("{what:<44} n {n:>5}  p50 {p50:>8.2} ms  p99 {p99:>8.2} ms{against}");
}
