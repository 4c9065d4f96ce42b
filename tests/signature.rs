//! Signatures: nested granularities are monotone, ids are exact, no knob is dead, retuning needs no
//! file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use credscope::rollout::Group;
use credscope::signature::granularity::EditIdentity;
use credscope::signature::{Abstraction, Granularity, KNOBS, PRESETS, Projection};

/// What the project ships.
const SAMPLES: [&str; 3] = [
    "slugify-fix/rollouts.jsonl",
    "airline-desk/results.json",
    "datalad_final_05ea/rollouts.jsonl",
];

/// Some values of every knob.
fn values(knob: &str) -> Vec<&'static str> {
    match knob {
        "view-bucket" => vec!["off", "file", "500", "100", "50", "10", "lines"],
        "edit-identity" => vec!["none", "file", "kind", "new-text", "old+new"],
        "edit-hash" => vec!["1", "2", "4", "16"],
        "execute" => vec!["off", "program", "program+target", "+result", "command"],
        "test" => vec!["off", "seen", "last-result", "capped", "counts"],
        "think" => vec!["off", "seen", "counts"],
        "target" => vec!["none", "extension", "folder-1", "basename", "path"],
        "test-files" => vec!["one", "files"],
        "order" => vec!["set", "sequence"],
        _ => vec!["off", "on"],
    }
}

/// Granularities to compare: the presets, and each with one knob turned.
fn granularities() -> Vec<Granularity> {
    let mut all = Vec::new();
    for preset in PRESETS {
        let base = Granularity::preset(preset).unwrap();
        all.push(base.clone());
        for (knob, _) in KNOBS {
            for value in values(knob) {
                let mut turned = base.clone();
                turned.set(knob, value).unwrap();
                if !all.contains(&turned) {
                    all.push(turned);
                }
            }
        }
    }
    all
}

/// Per step: rollouts at its pair, rollouts at its state.
fn sharing(group: &Group, granularity: &Granularity) -> Vec<(usize, usize)> {
    let projection = Projection::new(group, Abstraction::Swe, granularity);
    let mut pairs: BTreeMap<(u32, u32), BTreeSet<usize>> = BTreeMap::new();
    let mut states: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (i, rollout) in group.rollouts.iter().enumerate() {
        for step in rollout.steps.clone() {
            let (s, a) = (projection.state[step], projection.action[step]);
            pairs.entry((s, a)).or_default().insert(i);
            states.entry(s).or_default().insert(i);
        }
    }
    (0..group.len())
        .map(|step| {
            let (s, a) = (projection.state[step], projection.action[step]);
            (pairs[&(s, a)].len(), states[&s].len())
        })
        .collect()
}

fn monotone(group: &Group, all: &[Granularity], every: usize, offset: usize) -> usize {
    let table: Vec<Vec<(usize, usize)>> = all.iter().map(|g| sharing(group, g)).collect();
    let mut pairs = 0;
    for (f, fine) in all.iter().enumerate() {
        for (c, coarse) in all.iter().enumerate() {
            if f == c || !fine.refines(coarse) || (f + c) % every != offset % every {
                continue;
            }
            pairs += 1;
            for (step, (a, b)) in table[f].iter().zip(&table[c]).enumerate() {
                assert!(
                    a.0 <= b.0 && a.1 <= b.1,
                    "step {step}: {a:?} at {fine:?}, {b:?} at {coarse:?}"
                );
            }
        }
    }
    pairs
}

#[test]
fn refinement_is_a_partial_order() {
    let all = granularities();
    for a in &all {
        assert!(a.refines(a));
        for b in all.iter().filter(|b| a.refines(b)) {
            // The digits of a hash matter only where edits are told apart by one.
            let mut same = b.clone();
            if a.edit_identity < EditIdentity::NewText {
                same.edit_hash = a.edit_hash;
            }
            assert!(*a == same || !b.refines(a), "{a:?} and {b:?} refine each other");
        }
    }
    let paper = Granularity::paper();
    assert!(paper.refines(&Granularity::preset("paper-literal").unwrap()));
    assert!(Granularity::preset("fine").unwrap().refines(&paper));
    let mut counts = paper.clone();
    counts.set("test", "last-result").unwrap();
    assert!(!paper.refines(&counts) && !counts.refines(&paper));
}

#[test]
fn coarsening_never_parts_steps_of_real_rollouts() {
    let Some(corpus) = common::corpus() else { return };
    let all = granularities();
    let mut paths = vec![
        vec![corpus.join("derived/r2e_gym.astropy-12907.k8.jsonl")],
        vec![common::sample("slugify-fix/rollouts.jsonl")],
    ];
    paths.push(
        ["hermes", "opencode", "claude_code"]
            .map(|h| corpus.join(format!("nemo-gym/anyswe_astropy-12907_{h}.jsonl")))
            .to_vec(),
    );
    let mut pairs = 0;
    for files in paths {
        for group in common::load(&files).corpus.groups {
            pairs += monotone(&group, &all, 1, 0);
        }
    }
    // All other groups of the corpus, each with a share of the pairs.
    for (i, group) in common::load(&[corpus]).corpus.groups.iter().enumerate() {
        pairs += monotone(group, &all, 16, i);
    }
    println!("{pairs} pairs of nested granularities");
    assert!(pairs > 1000);
}

/// Random rollouts over a small world, so that states meet; reverts, stashes and failures included.
fn random_groups(count: usize) -> Vec<Arc<Group>> {
    let mut seed = 3_u64;
    let mut random = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let files = ["src/a.py", "src/b.py", "lib/a.py", "tests/test_a.py", "tests/b.py", "c.rs"];
    let mut text = String::new();
    for g in 0..count {
        for r in 0..2 + random(4) {
            let mut steps = Vec::new();
            for _ in 0..=random(12) {
                let file = files[random(files.len() as u64) as usize];
                let ok = random(4) > 0;
                let done =
                    if ok { "The file has been edited." } else { "No match found for old_str" };
                steps.push(match random(10) {
                    0 => format!(r#"{{"tool":"str_replace_editor","args":{{"command":"view","path":"/testbed/{file}"}},"observation":"1\tx\n2\ty"}}"#),
                    1 => format!(r#"{{"tool":"str_replace_editor","args":{{"command":"view","path":"/testbed/{file}","view_range":[{},{}]}},"observation":"1\tx"}}"#, 1 + 60 * random(3), 90 + 70 * random(3)),
                    2 | 3 => format!(r#"{{"tool":"str_replace_editor","args":{{"command":"str_replace","path":"/testbed/{file}","old_str":"a{}","new_str":"b{}"}},"observation":"{done}"}}"#, random(2), random(3)),
                    4 => format!(r#"{{"tool":"str_replace_editor","args":{{"command":"undo_edit","path":"/testbed/{file}"}},"observation":"Last edit undone"}}"#),
                    5 => format!(r#"{{"tool":"execute_bash","args":{{"command":"git checkout {file}"}},"observation":"","exit_code":0}}"#),
                    6 => format!(r#"{{"tool":"execute_bash","args":{{"command":"git stash{}"}},"observation":"","exit_code":0}}"#, if random(2) == 0 { " pop" } else { "" }),
                    7 => format!(r#"{{"tool":"execute_bash","args":{{"command":"pytest {file}"}},"observation":"{}","exit_code":{}}}"#, if ok { "2 passed" } else { "1 failed" }, u8::from(!ok)),
                    8 => format!(r#"{{"tool":"execute_bash","args":{{"command":"grep -rn x {}"}},"observation":"x","exit_code":0}}"#, if ok { "src" } else { file }),
                    _ => format!(r#"{{"tool":"execute_bash","args":{{"command":"python {file} {}"}},"observation":"","exit_code":{}}}"#, random(2), u8::from(!ok)),
                });
            }
            let outcome = if random(2) == 0 { "success" } else { "failure" };
            let _ = writeln!(
                text,
                r#"{{"task":"g{g}","rollout_id":"r{r}","outcome":"{outcome}","steps":[{}]}}"#,
                steps.join(",")
            );
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("random.jsonl");
    std::fs::write(&path, text).unwrap();
    common::load(&[path]).corpus.groups
}

#[test]
fn coarsening_never_parts_steps_of_random_rollouts() {
    let all = granularities();
    let groups = random_groups(256);
    assert_eq!(groups.len(), 256);
    for (i, group) in groups.iter().enumerate() {
        // Each group tries an eighth of the pairs, so that together they try all of them often.
        assert!(monotone(group, &all, 8, i) > 0);
    }
}

/// Ids by incremental hash against ids by the whole content, as its label tells it.
#[test]
fn state_ids_are_exact() {
    for group in random_groups(64) {
        for preset in ["exact", "fine", "paper", "coarse"] {
            let mut granularity = Granularity::preset(preset).unwrap();
            // Labels tell edits by short hashes; at 16 digits they tell all of them.
            if preset != "coarse" {
                granularity.set("edit-hash", "16").unwrap();
            }
            let projection = Projection::new(&group, Abstraction::Swe, &granularity);
            let mut by_label: BTreeMap<String, u32> = BTreeMap::new();
            let mut by_id: BTreeMap<u32, String> = BTreeMap::new();
            for &state in &projection.state {
                let label = projection.state_label(&group, state);
                if preset != "exact" {
                    assert_eq!(*by_label.entry(label.clone()).or_insert(state), state, "{label}");
                }
                assert_eq!(*by_id.entry(state).or_insert_with(|| label.clone()), label);
            }
        }
    }
}

#[test]
fn no_knob_is_dead() {
    let mut groups = Vec::new();
    for sample in SAMPLES {
        groups.extend(common::load(&[common::sample(sample)]).corpus.groups);
    }
    for (knob, _) in KNOBS {
        let abstraction = match knob {
            "mask" => Abstraction::Observation,
            "history-text" => Abstraction::History,
            "tools-multiset" => Abstraction::Tools,
            _ => Abstraction::Swe,
        };
        let shape = |group: &Group, preset: &str, value: &str| {
            let mut granularity = Granularity::preset(preset).unwrap();
            granularity.set(knob, value).unwrap();
            let projection = Projection::new(group, abstraction, &granularity);
            let canonical = |ids: &[u32]| {
                let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
                ids.iter()
                    .map(|id| {
                        let next = seen.len();
                        *seen.entry(*id).or_insert(next)
                    })
                    .collect::<Vec<_>>()
            };
            (canonical(&projection.state), canonical(&projection.action))
        };
        // A whole view and a part of a file meet only where their lines are not told apart.
        let base = if knob == "view-extent" { "coarse" } else { "paper" };
        let alive = groups.iter().any(|group| {
            let shapes: Vec<_> = values(knob).into_iter().map(|v| shape(group, base, v)).collect();
            shapes.iter().any(|s| *s != shapes[0])
        });
        assert!(alive, "{knob} changes no state and no action of any sample");
    }
}

#[test]
fn retuning_needs_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rollouts.jsonl");
    std::fs::copy(common::sample("slugify-fix/rollouts.jsonl"), &path).unwrap();
    let loaded = common::load(std::slice::from_ref(&path));
    std::fs::remove_file(&path).unwrap();
    let states: BTreeSet<u32> = PRESETS
        .iter()
        .map(|preset| {
            let granularity = Granularity::preset(preset).unwrap();
            Projection::new(&loaded.corpus.groups[0], Abstraction::Swe, &granularity).states
        })
        .collect();
    assert!(states.len() > 2, "{states:?}");
}
