//! Every seed of the fuzz targets, and everything that fuzzing ever broke, through the same bodies.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
}

/// Names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let names: BTreeSet<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.into_iter().collect()
}

/// Runs every input of every target; all that fail are told.
fn replay(kind: &str) -> usize {
    let (mut inputs, mut failed) = (0, Vec::new());
    for target in names(&folder(kind)) {
        for name in names(&folder(kind).join(&target)) {
            let data = std::fs::read(folder(kind).join(&target).join(&name)).unwrap();
            if std::panic::catch_unwind(|| fuzz::run(&target, &data)).is_err() {
                failed.push(format!("fuzz/{kind}/{target}/{name}"));
            }
            inputs += 1;
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    inputs
}

#[test]
fn seeds_hold() {
    assert!(replay("corpus") > 150);
}

#[test]
fn what_was_found_stays_mended() {
    assert!(replay("regressions") > 0);
}

/// A reader without a target, or a target without seeds, is seen here.
#[test]
fn every_target_is_built_and_has_seeds() {
    let manifest: toml::Table =
        std::fs::read_to_string(folder("Cargo.toml")).unwrap().parse().unwrap();
    let built = manifest["bin"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap());
    let built: BTreeSet<String> = built.map(str::to_owned).collect();
    let known: BTreeSet<String> = fuzz::targets().into_iter().collect();
    assert_eq!(built, known);
    let seeded: BTreeSet<String> = names(&folder("corpus")).into_iter().collect();
    assert_eq!(seeded, known);
}
