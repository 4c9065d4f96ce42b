//! Simulated processes: exact values, the rollouts' means, and how columns come nearer to the truth.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;

use cli_common::{Bench, close, numbers, texts};
use credscope::analysis::simulate::measure::{Measured, Plan, candidates, measure};
use credscope::analysis::simulate::{
    Action, Draws, Next, Process, ProcessKind, SimulatedGroup, State, Way,
};

fn sure(key: &str, chance: f64, next: Next) -> Action {
    let ways = vec![Way { chance: 1.0, next, answer: None }];
    Action { key: key.into(), chance, call: None, ways }
}

#[test]
fn values_of_a_loop_by_hand() {
    // s0: stay 1/2, go 1/2. s1: win 1/4, lose 3/4. gamma 1/2: V(s1) = 1/4, Q(s0,go) = 1/8,
    // V(s0) = V(s0)/4 + 1/16, so V(s0) = 1/12 and Q(s0,stay) = 1/24.
    let state = |key: &str, actions| State { key: key.into(), actions };
    let process = Process {
        states: vec![
            state("s0", vec![sure("stay", 0.5, Next::State(0)), sure("go", 0.5, Next::State(1))]),
            state(
                "s1",
                vec![sure("win", 0.25, Next::End(true)), sure("lose", 0.75, Next::End(false))],
            ),
        ],
    };
    let exact = process.solve(0.5);
    close(&exact.v, &[1.0 / 12.0, 0.25], 1e-15);
    close(&exact.q[0], &[1.0 / 24.0, 0.125], 1e-15);
    close(&exact.q[1], &[1.0, 0.0], 1e-15);
}

/// Advantages of the policy add up to 0 at every state.
#[test]
fn true_advantages_balance() {
    for kind in ProcessKind::ALL {
        let process = kind.build(&mut Draws::new(5, 9));
        let exact = process.solve(0.97);
        for (i, state) in process.states.iter().enumerate() {
            let mean: f64 = state.actions.iter().zip(&exact.q[i]).map(|(a, q)| a.chance * q).sum();
            assert!((mean - exact.v[i]).abs() < 1e-12, "{kind:?} {i}");
        }
    }
}

/// The mean return of 20,000 rollouts is within four standard errors of V at the start.
#[test]
fn returns_have_the_exact_mean() {
    let (gamma, n) = (0.95_f64, 20_000);
    for kind in ProcessKind::ALL {
        let group = SimulatedGroup::new(kind, 1, 0, n, gamma);
        let returns: Vec<f64> = group
            .walks
            .iter()
            .map(|w| {
                let last = i32::try_from(w.steps.len() - 1).unwrap();
                if w.success.unwrap() { gamma.powi(last) } else { 0.0 }
            })
            .collect();
        let mean = returns.iter().sum::<f64>() / n as f64;
        let variance = returns.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0);
        let error = (variance / n as f64).sqrt();
        let v = group.exact.v[0];
        assert!(error > 0.0 && (mean - v).abs() < 4.0 * error, "{kind:?}: {mean} {v} {error}");
    }
}

fn measured(process: ProcessKind) -> Vec<Measured> {
    let plan = Plan { process, groups: 64, sizes: vec![8, 64], seed: 0, gamma: 0.99 };
    let wanted = ["grpo", "dr-grpo", "rtmc n-prior=0", "crbc output=raw", "graft output=raw"];
    let all = candidates(plan.gamma).unwrap();
    let some: Vec<_> = all.into_iter().filter(|c| wanted.contains(&c.name.as_str())).collect();
    assert_eq!(some.len(), wanted.len());
    measure(&plan, &some, || false).unwrap()
}

/// On true states and deterministic transitions the columns that estimate the advantage come nearer
/// to it as the group grows; one value per rollout does not.
#[test]
fn more_rollouts_bring_step_credit_nearer_to_the_truth() {
    for process in [ProcessKind::Chain, ProcessKind::Tree] {
        let rows = measured(process);
        let rmse = |column: &str, size: usize| {
            let row = rows.iter().find(|r| r.column == column && r.size == size).unwrap();
            assert!(row.steps > 0 && row.missing == 0);
            row.rmse.unwrap()
        };
        for column in ["rtmc n-prior=0", "crbc output=raw", "graft output=raw"] {
            let (few, many) = (rmse(column, 8), rmse(column, 64));
            assert!(many < 0.6 * few, "{process:?} {column}: {few} {many}");
        }
        for column in ["grpo", "dr-grpo"] {
            let (few, many) = (rmse(column, 8), rmse(column, 64));
            assert!(many > 0.95 * few, "{process:?} {column}: {few} {many}");
        }
    }
}

#[test]
fn what_is_written_is_read_back_with_its_truth() {
    let bench = Bench::new("");
    let args = ["simulate", "--process", "coding", "--groups", "2", "--seed", "3", "--out"];
    let mut first = args.to_vec();
    first.push("a.jsonl");
    bench.ok(&first);
    let mut second = args.to_vec();
    second.push("b.jsonl");
    bench.ok(&second);
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    assert_eq!(read("a.jsonl"), read("b.jsonl"));
    assert_eq!(read("a.jsonl").lines().count(), 16);

    let base =
        ["steps", "a.jsonl", "--columns", "logged:true_q,logged:true_v,logged:true_advantage"];
    let mut logged = base.to_vec();
    logged.extend(["--abstraction", "logged"]);
    let out = bench.ok(&logged);
    let (q, v, a) = (
        numbers(&out, "logged:true_q"),
        numbers(&out, "logged:true_v"),
        numbers(&out, "logged:true_advantage"),
    );
    for ((q, v), a) in q.iter().zip(&v).zip(&a) {
        assert!((q - v - a).abs() < 1e-15);
    }
    assert!(texts(&out, "state").iter().any(|s| s.contains("edited")));
    // The same file holds real calls: the coding abstraction reads them.
    let out = bench.ok(&base);
    let categories = texts(&out, "category");
    for known in ["view", "modify", "test"] {
        assert!(categories.iter().any(|c| c == known), "{known} of {categories:?}");
    }
    let (code, told) = bench.fails(&["simulate", "--process", "maze"]);
    assert_eq!(code, 2);
    assert!(told.contains("coding, chain, tree, grid"), "{told}");
}

/// States that look alike hide what is true: their exact values differ.
#[test]
fn the_coding_process_has_states_that_look_alike() {
    let bench = Bench::new("");
    bench.ok(&["simulate", "--groups", "1", "--rollouts", "64", "--out", "a.jsonl"]);
    let out =
        bench.ok(&["steps", "a.jsonl", "--abstraction", "logged", "--columns", "logged:true_v"]);
    let mut seen = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for (state, v) in texts(&out, "state").into_iter().zip(numbers(&out, "logged:true_v")) {
        seen.entry(state).or_default().push(v);
    }
    let spread = |vs: &Vec<f64>| {
        vs.iter().copied().fold(f64::MIN, f64::max) - vs.iter().copied().fold(f64::MAX, f64::min)
    };
    assert!(seen.values().any(|vs| spread(vs) > 0.2));
}
