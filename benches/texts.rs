//! The time that the text of one step takes when a person asks for it: its record is read from the file
//! and parsed again. By format: random steps of the corpus (`CREDSCOPE_CORPUS`), and of our own files for
//! the formats that it lacks. Limit: 50 ms for 99 of 100.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use credscope::load::{self, LoadOptions, Loaded};
use credscope::profile::Profiles;

/// Texts per format.
const TEXTS: usize = 200;

/// Milliseconds that 99 of 100 texts may take.
const LIMIT: f64 = 50.0;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = std::env::var_os("CREDSCOPE_CORPUS")
        .map_or_else(|| here.join("../shared/data"), PathBuf::from);
    if !corpus.is_dir() {
        println!("{} is not there: our own files alone (CREDSCOPE_CORPUS)", corpus.display());
    }
    let mut taken = BTreeMap::new();
    let ours = ["tests/fixtures", "sample-data"].map(|folder| here.join(folder));
    for root in [corpus].into_iter().chain(ours).filter(|r| r.is_dir()) {
        let profiles = Arc::new(Profiles::builtin());
        let loaded = load::load(&[root], &LoadOptions::default(), &profiles).unwrap();
        measure(&loaded, &mut taken);
    }
    println!(
        "{:<20} {:>6} {:>10} {:>10} {:>10}",
        "format", "texts", "p50 ms", "p99 ms", "worst ms"
    );
    let mut missed = Vec::new();
    for (format, mut times) in taken {
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times[(times.len() * share).div_ceil(100) - 1];
        let (n, p99) = (times.len(), at(99));
        println!("{format:<20} {n:>6} {:>10.3} {p99:>10.3} {:>10.3}", at(50), at(100));
        if p99 >= LIMIT {
            missed.push(format);
        }
    }
    if missed.is_empty() {
        println!("limit {LIMIT} ms for 99 of 100: holds for every format");
    } else {
        println!("limit {LIMIT} ms for 99 of 100: MISSED by {}", missed.join(", "));
    }
}

/// Times texts of random steps of every format; a format of an earlier folder is not measured again.
fn measure(loaded: &Loaded, taken: &mut BTreeMap<String, Vec<f64>>) {
    let mut steps: BTreeMap<String, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for (g, group) in loaded.corpus.groups.iter().enumerate() {
        for (r, rollout) in group.rollouts.iter().enumerate() {
            let format = loaded.sources.format(rollout.records[0].source).to_owned();
            steps.entry(format).or_default().extend((0..rollout.steps.len()).map(|s| (g, r, s)));
        }
    }
    steps.retain(|format, all| !all.is_empty() && !taken.contains_key(format));
    let mut seed = 11_u64;
    for (format, all) in steps {
        let times = taken.entry(format).or_default();
        for _ in 0..TEXTS {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (g, r, s) = all[(seed >> 33) as usize % all.len()];
            let begun = Instant::now();
            let text = loaded.sources.step_text(&loaded.corpus.groups[g], r, s).unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            drop(text);
        }
    }
}
