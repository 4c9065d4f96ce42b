//! Every column on 512 rollouts of 50 steps in groups of 8, single-threaded. The budget is 300 ms for
//! all columns at once. Beside it stand numpy versions of four columns (benches/reference/columns.py;
//! `CREDSCOPE_PYTHON` names the interpreter), whose values must agree, and the Bellman values of one
//! loop of 2,000 states.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{Bellman, ColumnSpec, CreditSettings, StepRewardMode, registry};
use credscope::rollout::{Group, GroupKey, Outcome, Rollout, StepFacts, TextRef};
use credscope::signature::Abstraction;
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

const GROUPS: usize = 64;
const ROLLOUTS: usize = 8;
const STEPS: usize = 50;
/// What all columns of all groups may take, in milliseconds.
const BUDGET: f64 = 300.0;

/// One rollout: reward, states and actions.
type Walk = (f64, Vec<u64>, Vec<u64>);

fn random(seed: &mut u64, n: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n
}

/// Rollouts that start alike, then spread over `states` states.
fn walks(seed: &mut u64, rollouts: usize, steps: usize, states: u64) -> Vec<Walk> {
    (0..rollouts)
        .map(|i| {
            let (mut state, mut at, mut taken) = (0, Vec::new(), Vec::new());
            for t in 0..steps {
                let action = if t < 3 { random(seed, 2) } else { random(seed, 4) };
                at.push(state);
                taken.push(action);
                state = (state * 5 + action + u64::from(random(seed, 8) == 0)) % states;
            }
            (if (i + 1) % 3 == 0 { 1.0 } else { (random(seed, 2)) as f64 }, at, taken)
        })
        .collect()
}

fn group(walks: &[Walk]) -> Arc<Group> {
    let key = GroupKey { task: "bench".into(), ..GroupKey::default() };
    let mut group = Group { key, ..Group::default() };
    for (i, (reward, states, actions)) in walks.iter().enumerate() {
        let start = group.steps.turn.len();
        for (t, (state, action)) in states.iter().zip(actions).enumerate() {
            let state = group.symbols.intern(&format!("s{state}"));
            let action = group.symbols.intern(&format!("a{action}"));
            group.steps.turn.push(t as u32);
            group.steps.step_reward.push(None);
            group.steps.state.push(state);
            group.steps.action.push(action);
            group.steps.tokens.push(None);
            group.steps.text.push(TextRef::default());
            group.steps.facts.steps.push(StepFacts::default());
        }
        group.rollouts.push(Rollout {
            id: format!("r{i}"),
            outcome: if *reward > 0.0 { Outcome::Success } else { Outcome::Failure },
            outcome_source: "bench".into(),
            ending: String::new(),
            reward: Some(*reward),
            outcome_reward: None,
            named_rewards: Vec::new(),
            harness: None,
            policy: None,
            attempt: None,
            steps: start..group.steps.turn.len(),
            records: Vec::new(),
            segment_starts: Vec::new(),
            missing_segments: String::new(),
            excluded_calls: 0,
            excluded_messages: 0,
            forked_from: None,
        });
    }
    Arc::new(group)
}

fn settings(columns: Vec<ColumnSpec>) -> AnalysisSettings {
    AnalysisSettings {
        abstraction: Some(Abstraction::Logged),
        credit: CreditSettings { step_reward: StepRewardMode::None, ..CreditSettings::default() },
        columns,
        ..AnalysisSettings::default()
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn timed<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    median(
        (0..runs)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(work());
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect(),
    )
}

/// Times and values of the numpy versions; `None`, said loudly, where they cannot run.
fn reference(all: &[Vec<Walk>]) -> Option<Value> {
    let groups: Vec<Value> = all
        .iter()
        .map(|walks| {
            json!({
                "reward": walks.iter().map(|w| w.0).collect::<Vec<_>>(),
                "state": walks.iter().map(|w| &w.1).collect::<Vec<_>>(),
                "action": walks.iter().map(|w| &w.2).collect::<Vec<_>>(),
            })
        })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("groups.json");
    std::fs::write(&file, json!({"gamma": 0.99, "groups": groups}).to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/reference/columns.py");
    let python = std::env::var_os("CREDSCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(&python).arg(script).arg(&file).output();
    let found: Option<Value> = output.ok().and_then(|o| serde_json::from_slice(&o.stdout).ok());
    match found {
        Some(found) if found.get("missing").is_none() => Some(found),
        _ => {
            println!("MISSING: {} has no numpy: no ratios, no comparison", python.display());
            None
        }
    }
}

fn columns(c: &mut Criterion) {
    let mut seed = 5_u64;
    let all: Vec<Vec<Walk>> = (0..GROUPS).map(|_| walks(&mut seed, ROLLOUTS, STEPS, 97)).collect();
    let groups: Vec<Arc<Group>> = all.iter().map(|w| group(w)).collect();
    let bare: Vec<Analysis> =
        groups.iter().map(|g| Analysis::new(g.clone(), &settings(Vec::new()))).collect();
    let found = reference(&all);
    println!("{GROUPS} groups of {ROLLOUTS} rollouts of {STEPS} steps");
    let mut sum = 0.0;
    for estimator in registry() {
        let id = estimator.meta().id;
        let spec = ColumnSpec::new(id).unwrap();
        let run = || -> Vec<f64> {
            bare.iter()
                .flat_map(|a| spec.estimate(&a.context()).cells().collect::<Vec<_>>())
                .map(|cell| cell.unwrap_or(f64::NAN))
                .collect()
        };
        let time = timed(9, run);
        sum += time;
        let beside = found.as_ref().filter(|f| f["values"][id].is_array()).map(|found| {
            let numpy: Vec<f64> = serde_json::from_value(found["values"][id].clone()).unwrap();
            let apart =
                run().iter().zip(&numpy).map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max);
            assert!(apart < 1e-9, "{id} is {apart} away from numpy");
            let theirs = found["times"][id].as_f64().unwrap();
            format!(
                "   numpy {theirs:8.2} ms, ratio {:.1}, values within {apart:.0e}",
                theirs / time
            )
        });
        println!("  {id:<12} {time:8.2} ms{}", beside.unwrap_or_default());
    }
    println!("  {:<12} {sum:8.2} ms; budget {BUDGET} ms, ratio {:.2}", "all", sum / BUDGET);

    let specs: Vec<ColumnSpec> =
        registry().iter().map(|e| ColumnSpec::new(e.meta().id).unwrap()).collect();
    let full = settings(specs);
    let whole = timed(5, || {
        groups.iter().map(|g| Analysis::new(g.clone(), &full).columns.len()).sum::<usize>()
    });
    println!("  analyses with every column: {whole:.1} ms");

    // Once around, then at random: all states reach each other.
    let mut big = walks(&mut seed, 8, 6_000, 2_000);
    for walk in &mut big {
        for (t, state) in walk.1.iter_mut().take(2_000).enumerate() {
            *state = t as u64;
        }
    }
    let loops = Analysis::new(group(&big), &settings(Vec::new()));
    let context = loops.context();
    let mut residual = 0.0;
    let time = timed(5, || residual = Bellman::solve(&context, 0.99, false).residual);
    println!("  Bellman values of 2,000 states in one loop: {time:.1} ms, residual {residual:.1e}");

    c.bench_function("all columns 512x50", |b| {
        b.iter(|| {
            groups.iter().map(|g| Analysis::new(g.clone(), &full).columns.len()).sum::<usize>()
        });
    });
}

criterion_group! { name = benches; config = Criterion::default().sample_size(10); targets = columns }
criterion_main!(benches);
