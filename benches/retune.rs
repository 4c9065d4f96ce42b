//! One turn of a knob on 64 rollouts of 200 steps: projection, graph, three columns, evidence and
//! quadrants. The budget is 16 ms, so that the screen keeps 60 frames a second.
//!
//! The group is made, seeded: agents that view, search, edit, test and run on forty files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "../tests/common/generate.rs"]
#[allow(dead_code)]
mod generate;

use std::sync::Arc;
use std::time::Instant;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{Basis, ColumnSpec, Context, ValueTable};
use credscope::graph::{PathTree, StateGraph};
use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;
use credscope::rollout::Group;
use credscope::signature::{Abstraction, Granularity, Projection};
use criterion::{Criterion, criterion_group, criterion_main};

const ROLLOUTS: usize = 64;
const STEPS: usize = 200;
/// What one turn may take, in milliseconds.
const BUDGET: f64 = 16.0;

/// A group of coding rollouts, written and read back.
fn group() -> Arc<Group> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, generate::coding(ROLLOUTS, STEPS)).unwrap();
    let loaded = load(&[path], &LoadOptions::default(), &Arc::new(Profiles::builtin())).unwrap();
    loaded.corpus.groups[0].clone()
}

/// Time of each stage of one retune, in milliseconds.
fn stages(group: &Arc<Group>, settings: &AnalysisSettings) -> [(&'static str, f64); 6] {
    let mut times = [("project", 0.0); 6];
    let mut clock = Instant::now();
    let mut lap = |slot: usize, name| {
        times[slot] = (name, clock.elapsed().as_secs_f64() * 1e3);
        clock = Instant::now();
    };
    let projection = Projection::new(group, Abstraction::Swe, &settings.granularity);
    lap(0, "project");
    let basis = Basis::new(group, &settings.credit, Abstraction::Swe);
    let returns = Arc::new(basis.returns(group, settings.credit.gamma));
    lap(1, "rewards");
    let graph = StateGraph::new(group, &projection, &basis.scored);
    lap(2, "graph");
    let values =
        ValueTable::new(group, &graph, &basis.scored, &returns, settings.credit.visit, (2.0, 0.5));
    lap(3, "values");
    let context = Context {
        group,
        graph: &graph,
        settings: &settings.credit,
        basis: &basis,
        returns: &returns,
        values: &values,
        batch: None,
    };
    for id in ["grpo", "grpo-step", "rtmc"] {
        std::hint::black_box(ColumnSpec::new(id).unwrap().estimate(&context));
    }
    lap(4, "columns");
    std::hint::black_box(PathTree::new(group, &graph, &basis.scored));
    lap(5, "paths");
    times
}

fn retune(c: &mut Criterion) {
    let group = group();
    let settings = AnalysisSettings::default();
    let coarse = AnalysisSettings {
        granularity: Granularity::preset("coarse").unwrap(),
        ..settings.clone()
    };
    let states = Analysis::new(group.clone(), &settings).projection.states;
    println!("{} steps, {states} states", group.len());
    let mut laps: Vec<_> = (0..30).map(|_| stages(&group, &settings)).collect();
    for slot in 0..6 {
        laps.sort_by(|a, b| a[slot].1.total_cmp(&b[slot].1));
        println!("  {:<8} median {:.2} ms", laps[15][slot].0, laps[15][slot].1);
    }
    let mut whole: Vec<f64> = (0..100)
        .map(|i| {
            let start = Instant::now();
            let settings = if i % 2 == 0 { &settings } else { &coarse };
            std::hint::black_box(Analysis::new(group.clone(), settings));
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    whole.sort_by(f64::total_cmp);
    println!(
        "whole retune: median {:.2} ms, p99 {:.2} ms; budget {BUDGET} ms, ratio {:.2}",
        whole[50],
        whole[98],
        whole[98] / BUDGET
    );
    c.bench_function("retune 64x200", |b| b.iter(|| Analysis::new(group.clone(), &settings)));
}

criterion_group! { name = benches; config = Criterion::default().sample_size(50); targets = retune }
criterion_main!(benches);
