//! Bellman values of large cyclic groups: solved by sweeps, to a residual that is checked from outside.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::Walk;
use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::Bellman;
use credscope::rollout::Outcome;
use credscope::signature::Abstraction;

const STATES: u64 = 2_000;

/// Eight walks over 2,000 states that all reach each other; half of the walks succeed.
fn cyclic() -> Analysis {
    let mut seed = 11_u64;
    let mut random = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let walks: Vec<Walk> = (0..8_u64)
        .map(|i| {
            let mut state = 0;
            let mut steps = Vec::new();
            // Once around, so that every state is in the one component, then at random.
            for t in 0..3 * STATES {
                let action = if t < STATES { 0 } else { random(3) };
                steps.push((format!("s{state}"), format!("a{action}"), None));
                state = match action {
                    0 => (state + 1) % STATES,
                    1 => (state * 7 + 3) % STATES,
                    _ => random(STATES),
                };
            }
            let success = i % 2 == 0;
            Walk {
                id: format!("r{i}"),
                reward: f64::from(u8::from(success)),
                outcome: if success { Outcome::Success } else { Outcome::Failure },
                steps,
            }
        })
        .collect();
    let settings = AnalysisSettings {
        abstraction: Some(Abstraction::Logged),
        columns: Vec::new(),
        ..AnalysisSettings::default()
    };
    Analysis::new(common::group(&walks), &settings)
}

#[test]
fn two_thousand_states_in_one_loop_are_solved() {
    let analysis = cyclic();
    let (group, graph) = (&analysis.group, &analysis.graph);
    for disc in [0.9, 0.98, 0.99] {
        let start = std::time::Instant::now();
        let solved = Bellman::solve(&analysis.context(), disc, false);
        println!("discount {disc}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        // V(s) against the mean over its visits of disc V(s'), taken from the walks themselves.
        let mut sums = vec![(0.0, 0.0); graph.state_counts.len()];
        for rollout in &group.rollouts {
            for step in rollout.steps.clone() {
                let ahead = if step + 1 < rollout.steps.end {
                    solved.value(graph.state_of(step + 1))
                } else {
                    rollout.reward.unwrap()
                };
                let slot = &mut sums[graph.state_of(step) as usize];
                *slot = (slot.0 + disc * ahead, slot.1 + 1.0);
            }
        }
        assert_eq!(sums.iter().filter(|(_, n)| *n > 0.0).count() as u64, STATES);
        let residual = sums
            .iter()
            .enumerate()
            .filter(|(_, (_, n))| *n > 0.0)
            .map(|(s, (sum, n))| (solved.value(s as u32) - sum / n).abs())
            .fold(0.0, f64::max);
        println!("residual {residual:e}, told {:e}", solved.residual);
        assert!(residual < 1e-12 && solved.residual < 1e-12);
    }
}

/// A ring walked twice, then the end: V(last) = (disc/2) / (1 - disc^n / 2), and disc^k of it k states
/// before. Solved by elimination up to 256 states, by sweeps above.
#[test]
fn a_ring_has_its_closed_form() {
    for n in [2_u32, 100, 256, 257, 300] {
        let words: Vec<String> = (0..2 * n).map(|k| format!("s{}.a", k % n)).collect();
        let group = common::group(&[Walk::of("r", 1.0, &words.join(" "))]);
        let settings = AnalysisSettings {
            abstraction: Some(Abstraction::Logged),
            ..AnalysisSettings::default()
        };
        let analysis = Analysis::new(group, &settings);
        let disc = 0.99_f64;
        let solved = Bellman::solve(&analysis.context(), disc, false);
        let last = (disc / 2.0) / (1.0 - disc.powi(n.cast_signed()) / 2.0);
        for k in 0..n {
            let state = analysis.graph.state_of(k as usize);
            let want = last * disc.powi((n - 1 - k).cast_signed());
            assert!((solved.value(state) - want).abs() < 1e-13, "{n} {k}");
        }
    }
}
