//! The formats of trainers and data sets on real files, against an independent reading of them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use credscope::ingest::StepText;
use credscope::load::{LoadOptions, Loaded, Pool};
use credscope::rollout::raw::RawArgs;
use credscope::signature::{Abstraction, Granularity, Projection};
use load_common::{corpus, load_with, outcomes, with_all_steps};
use serde_json::Value;

/// The lines that the independent reading prints; `None`, said loudly, where it cannot run.
fn reference(more: &[&str]) -> Option<Vec<Value>> {
    let root = corpus("")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/trainers_table.py");
    let Ok(output) = Command::new("python3").arg(script).arg(root).args(more).output() else {
        eprintln!("SKIPPED: python3 is not here; the independent reading cannot run");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(!lines.is_empty());
    Some(lines)
}

fn load_one(name: &str) -> Loaded {
    let path = corpus(name).unwrap();
    load_with(&[path], &LoadOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Group and rollout of each rollout, in the order of the file.
fn in_file_order(loaded: &Loaded) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (g, group) in loaded.corpus.groups.iter().enumerate() {
        for (r, rollout) in group.rollouts.iter().enumerate() {
            let place = &rollout.records[0];
            all.push((place.bytes.start, place.part, g, r));
        }
    }
    all.sort_unstable();
    all.into_iter().map(|(_, _, g, r)| (g, r)).collect()
}

#[test]
fn the_table_equals_an_independent_reading() {
    let Some(table) = reference(&[]) else { return };
    for line in table {
        let name = line["file"].as_str().unwrap();
        let loaded = load_one(name);
        let totals = &loaded.report.totals;
        assert_eq!(loaded.report.files[0].format, line["format"], "{name}");
        let got = [
            ("groups", loaded.corpus.groups.len()),
            ("rollouts", totals.rollouts),
            ("steps", totals.raw_steps),
            ("steps", totals.steps),
            ("scored", totals.scored),
            ("successes", totals.successes),
        ];
        for (field, count) in got {
            assert_eq!(line[field], count, "{name}: {field}");
        }
        assert!(loaded.report.skipped.is_empty(), "{name}: {:?}", loaded.report.skipped);
        let rewards: Vec<Value> = in_file_order(&loaded)
            .into_iter()
            .map(|(g, r)| {
                loaded.corpus.groups[g].rollouts[r].reward.map_or(Value::Null, Into::into)
            })
            .collect();
        assert_eq!(line["rewards"], Value::Array(rewards), "{name}: rewards");
    }
}

/// Numbers that look random and are the same in each run.
fn sequence(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    }
}

#[test]
fn text_on_demand_equals_an_independent_reading() {
    let Some(lines) = reference(&["--texts"]) else { return };
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in lines {
        files.entry(line["file"].as_str().unwrap().to_owned()).or_default().push(line);
    }
    let mut formats: BTreeMap<&str, Vec<(&str, usize, usize)>> = BTreeMap::new();
    for (name, rollouts) in &files {
        for (at, line) in rollouts.iter().enumerate() {
            let steps = 0..line["steps"].as_array().unwrap().len();
            let all = formats.entry(line["format"].as_str().unwrap()).or_default();
            all.extend(steps.map(|step| (name.as_str(), at, step)));
        }
    }
    let mut pick = sequence(7);
    let mut loads = BTreeMap::new();
    for (name, rollouts) in &files {
        let loaded = load_one(name);
        let groups: Vec<_> =
            (0..loaded.corpus.groups.len()).map(|g| with_all_steps(&loaded, g)).collect();
        let order = in_file_order(&loaded);
        assert_eq!(order.len(), rollouts.len(), "{name}");
        loads.insert(name.as_str(), (loaded, groups, order));
    }
    for all in formats.into_values() {
        // At most 200 of each format, each once.
        let mut chosen = BTreeSet::new();
        while chosen.len() < all.len().min(200) {
            chosen.insert(all[pick(all.len())]);
        }
        for (name, at, step) in chosen {
            let (loaded, groups, order) = &loads[name];
            let (g, r) = order[at];
            let text = loaded.sources.step_text(&groups[g], r, step).unwrap();
            let line = &files[name][at];
            compare(&text, &line["steps"][step], &format!("{name}: rollout {at}, step {step}"));
            if let Some(reward) = line["step_rewards"].get(step) {
                let got = groups[g].steps.step_reward[groups[g].rollouts[r].steps.start + step];
                assert_eq!(got, reward.as_f64(), "{name}: rollout {at}, step {step}: reward");
            }
        }
    }
}

fn compare(text: &StepText, want: &Value, place: &str) {
    let [thought, tool, args, observation] = &want.as_array().unwrap()[..] else { panic!() };
    assert_eq!(text.thought, thought.as_str().unwrap(), "{place}: thought");
    assert_eq!(text.tool.as_deref(), tool.as_str(), "{place}: tool");
    assert_eq!(text.observation.as_deref(), observation.as_str(), "{place}: observation");
    let got = match &text.args {
        RawArgs::Unparsable(raw) => Value::String(raw.clone()),
        RawArgs::Object(map) if map.is_empty() && args.is_null() => Value::Null,
        RawArgs::Object(map) => Value::Object(map.clone()),
    };
    assert_eq!(&got, args, "{place}: arguments");
}

/// The action signatures of each rollout, the rollouts by outcome and length.
fn actions(loaded: &Loaded) -> Vec<(bool, Vec<String>)> {
    let group = &loaded.corpus.groups[0];
    let swe = Abstraction::find("swe").unwrap();
    let signatures = Projection::new(group, swe, &Granularity::default());
    let mut all: Vec<_> = group
        .rollouts
        .iter()
        .map(|rollout| {
            let steps = rollout.steps.clone();
            let labels =
                steps.map(|at| signatures.action_label(group, signatures.action[at])).collect();
            (rollout.outcome == credscope::rollout::Outcome::Success, labels)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn one_group_in_three_formats() {
    let names = [
        "derived/r2e_gym.astropy-12907.k8.jsonl",
        "derived/roll_rollout_dump_data.step_40.jsonl",
        "derived/verl_rollout_dir.40.jsonl",
    ];
    if corpus(names[0]).is_none() {
        return;
    }
    let loads = names.map(load_one);
    for loaded in &loads {
        assert_eq!(loaded.corpus.groups.len(), 1);
        assert_eq!(outcomes(&loaded.corpus.groups[0]), [("success", 4), ("failure", 4)]);
        assert_eq!(loaded.report.totals.steps, 41);
    }
    for loaded in &loads[1..] {
        assert_eq!(loaded.corpus.groups[0].key.train_step, Some(40));
    }
    let [r2e, roll, verl] = loads.each_ref().map(actions);
    assert_eq!(unframed(r2e.clone()), unframed(roll));
    // Only the tools' names and the white space around an edit's texts differ: which rollouts made
    // the same edit does not.
    let edits = |all: &[(bool, Vec<String>)]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for label in all.iter().flat_map(|(_, labels)| labels) {
            if label.starts_with("modify:replace:") {
                *counts.entry(label.clone()).or_default() += 1;
            }
        }
        let mut sizes: Vec<usize> = counts.into_values().collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(edits(&r2e), edits(&verl));
    assert_eq!(anonymous(unframed(r2e)), anonymous(unframed(verl)));
}

/// Without the one thing that only R2E-Gym frames: the exit code of a run that printed nothing.
fn unframed(mut all: Vec<(bool, Vec<String>)>) -> Vec<(bool, Vec<String>)> {
    for label in all.iter_mut().flat_map(|(_, labels)| labels) {
        *label = label.replace(":ok", ":unknown");
    }
    all
}

/// Without the hashes of edits and without the program that searches.
fn anonymous(mut all: Vec<(bool, Vec<String>)>) -> Vec<(bool, Vec<String>)> {
    for label in all.iter_mut().flat_map(|(_, labels)| labels) {
        if let Some((start, path)) = label.clone().split_once('@') {
            let kind = start.rsplit_once(':').map_or(start, |(kind, _)| kind);
            *label = format!("{kind}@{path}");
        }
    }
    all.sort();
    all
}

#[test]
fn four_policies_of_tau2_pool_to_ten_groups_of_four() {
    let Some(folder) = corpus("tau2-bench") else { return };
    let options =
        LoadOptions { pool: Pool { policy: true, ..Pool::default() }, ..LoadOptions::default() };
    let pooled = load_with(std::slice::from_ref(&folder), &options).unwrap();
    assert_eq!(pooled.report.group_sizes, [(4, 10)]);
    assert!(pooled.corpus.groups.iter().all(|g| g.key.namespace == "airline"));
    let apart = load_with(&[folder], &LoadOptions::default()).unwrap();
    assert_eq!(apart.report.group_sizes, [(1, 40)]);
    assert_eq!(apart.report.totals.successes, 5 + 6 + 5 + 3);
}
