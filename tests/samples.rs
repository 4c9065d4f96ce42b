//! What the project ships: derivations of every number, and samples that can be made again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{ColumnSpec, DiscountPer};
use credscope::rollout::{Group, Outcome};

/// Every sample file.
const SAMPLES: [&str; 3] = [
    "slugify-fix/rollouts.jsonl",
    "airline-desk/results.json",
    "datalad_final_05ea/rollouts.jsonl",
];

#[test]
fn every_value_of_every_sample_is_derived_bit_for_bit() {
    for sample in SAMPLES {
        for group in common::load(&[common::sample(sample)]).corpus.groups {
            let settings = AnalysisSettings {
                columns: credscope::credit::registry()
                    .iter()
                    .map(|e| ColumnSpec::new(e.meta().id).unwrap())
                    .collect(),
                ..AnalysisSettings::default()
            };
            in_both_units(group, settings);
        }
    }
}

/// Derivations with the discount per call, and per turn.
fn in_both_units(group: Arc<Group>, mut settings: AnalysisSettings) {
    common::derivations::check_derivations(&Analysis::new(group.clone(), &settings));
    settings.credit.discount_per = DiscountPer::Turn;
    common::derivations::check_derivations(&Analysis::new(group, &settings));
}

/// The same for every step of every real group.
#[test]
fn values_of_real_rollouts_are_derived_bit_for_bit() {
    let Some(corpus) = common::corpus() else { return };
    let loaded = common::load(&[corpus]);
    assert!(loaded.corpus.groups.len() > 100);
    for group in loaded.corpus.groups {
        let settings = AnalysisSettings {
            columns: credscope::credit::registry()
                .iter()
                .map(|e| ColumnSpec::new(e.meta().id).unwrap())
                .collect(),
            ..AnalysisSettings::default()
        };
        common::derivations::check_derivations(&Analysis::new(group, &settings));
    }
}

#[test]
fn the_scripted_agents_pass_and_fail_in_equal_numbers() {
    let loaded = common::load(&[common::sample("slugify-fix/rollouts.jsonl")]);
    let [group] = loaded.corpus.groups.as_slice() else { panic!("one group") };
    let successes = group.rollouts.iter().filter(|r| r.outcome == Outcome::Success).count();
    assert_eq!((group.rollouts.len(), successes), (8, 4));
    let analysis = Analysis::new(group.clone(), &AnalysisSettings::default());
    let tally = analysis.group_row(false).tally;
    assert!(tally.rescued > 0 && tally.penalized > 0, "{tally:?}");
}

#[test]
fn the_desk_has_mixed_uniform_and_single_groups() {
    let loaded = common::load(&[common::sample("airline-desk/results.json")]);
    let rows: Vec<_> = loaded
        .corpus
        .groups
        .iter()
        .map(|g| Analysis::new(g.clone(), &AnalysisSettings::default()).group_row(false))
        .collect();
    assert_eq!(rows.len(), 12);
    assert!(rows.iter().filter(|r| !r.uniform).count() >= 6);
    assert!(rows.iter().any(|r| r.scored > 1 && r.uniform && r.outcomes[0] == r.scored));
    assert!(rows.iter().any(|r| r.scored > 1 && r.uniform && r.outcomes[0] == 0));
    assert!(rows.iter().filter(|r| r.rollouts == 1).count() >= 2);
}

/// Runs a sample's script with `--check`; its exit code 77 says that something it needs is missing.
fn check(script: &Path) {
    match Command::new("python3").arg(script).arg("--check").output() {
        Err(error) => eprintln!("SKIPPED: python3 is missing ({error})"),
        Ok(output) if output.status.code() == Some(77) => {
            eprintln!("SKIPPED: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output) => assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

#[test]
fn recording_the_scripted_agents_again_gives_the_same_file() {
    check(&common::sample("slugify-fix/record.py"));
}

#[test]
fn making_the_desk_again_gives_the_same_file() {
    check(&common::sample("airline-desk/make.py"));
}
