//! Identities of the whole way from file to column, on random groups: order of rollouts and lines,
//! layout over files, and a rollout that stands in its file twice change no bit of any column.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::PathBuf;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{ColumnSpec, registry};
use credscope::signature::Abstraction;
use proptest::prelude::*;

/// Lines of a few groups: rollouts over five states and three actions, with step rewards and loops.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let step = (0..5_u8, 0..3_u8, prop_oneof![Just(0.0), Just(0.005), -0.2..0.2_f64]);
    let rollout = (any::<bool>(), 0..2_u8, prop::collection::vec(step, 0..8));
    prop::collection::vec(rollout, 1..9).prop_map(|rollouts| {
        rollouts
            .into_iter()
            .enumerate()
            .map(|(i, (success, task, steps))| {
                let steps: Vec<String> = steps
                    .iter()
                    .map(|(s, a, r)| {
                        format!(r#"{{"state":"s{s}","action":"a{a}","step_reward":{r:?}}}"#)
                    })
                    .collect();
                let outcome = if success { "success" } else { "failure" };
                format!(
                    r#"{{"task":"t{task}","id":"r{i}","outcome":"{outcome}","steps":[{}]}}"#,
                    steps.join(",")
                )
            })
            .collect()
    })
}

/// Every cell of every column of every group, as bits, with who it belongs to.
fn numbers(files: &[Vec<String>]) -> Vec<(String, String, Vec<Option<u64>>)> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files
        .iter()
        .enumerate()
        .map(|(i, lines)| {
            let path = dir.path().join(format!("part{i}.jsonl"));
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            path
        })
        .collect();
    let loaded = common::load(&paths);
    let mut settings = AnalysisSettings {
        abstraction: Some(Abstraction::Logged),
        columns: registry().iter().map(|e| ColumnSpec::new(e.meta().id).unwrap()).collect(),
        ..AnalysisSettings::default()
    };
    settings.batch = credscope::analysis::batch(&loaded.corpus, &settings);
    let mut found = Vec::new();
    for group in &loaded.corpus.groups {
        let ids: Vec<&str> = group.rollouts.iter().map(|r| r.id.as_str()).collect();
        let ids = format!("{}: {}", group.key.task, ids.join(" "));
        for (spec, column) in &Analysis::new(group.clone(), &settings).columns {
            let bits = column.cells().map(|c| c.ok().map(f64::to_bits)).collect();
            found.push((ids.clone(), spec.name.clone(), bits));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Identity 8: shuffling lines, and spreading them over files, changes no bit.
    #[test]
    fn order_and_layout_do_not_matter(
        (lines, shuffled) in lines().prop_flat_map(|l| (Just(l.clone()), Just(l).prop_shuffle())),
        cut in any::<prop::sample::Index>(),
    ) {
        let plain = numbers(std::slice::from_ref(&lines));
        prop_assert_eq!(&plain, &numbers(std::slice::from_ref(&shuffled)));
        let (one, two) = shuffled.split_at(cut.index(shuffled.len()));
        if !one.is_empty() {
            prop_assert_eq!(&plain, &numbers(&[one.to_vec(), two.to_vec()]));
        }
    }

    /// Identity 11: the same rollout twice under one id changes nothing, wherever the copy stands. (Equal
    /// rollouts of two files are two runs, and are told as such.)
    #[test]
    fn a_rollout_counts_once(
        lines in lines(),
        twice in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
    ) {
        let plain = numbers(std::slice::from_ref(&lines));
        let again = lines[twice.index(lines.len())].clone();
        let mut more = lines.clone();
        more.insert(place.index(more.len() + 1), again);
        prop_assert_eq!(&plain, &numbers(&[more]));
    }
}
