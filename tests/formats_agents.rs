//! Trajectories of agents on real files, against an independent reading of the same files
//! (`tests/reference/agents_table.py`).
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use credscope::ingest::{StepText, inspect};
use credscope::load::{LoadOptions, Loaded};
use credscope::rollout::raw::RawArgs;
use credscope::rollout::{Group, Outcome};
use load_common::{corpus, load_with, with_all_steps};
use serde_json::Value;

/// What the script prints; nothing, said loudly, where it or the corpus cannot be had.
fn script(mode: &[&str]) -> Option<(PathBuf, Vec<Value>)> {
    let root = corpus("PROVENANCE.md")?.parent().unwrap().to_path_buf();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/agents_table.py");
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let done = Command::new(python).arg(script).arg(&root).args(mode).output();
    let Ok(done) = done else {
        eprintln!("SKIPPED: python3 is not here; set PYTHON");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    Some((root, text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()))
}

fn load(path: PathBuf) -> Loaded {
    load_with(&[path], &LoadOptions::default()).unwrap()
}

#[test]
fn counts_are_those_of_an_independent_reading() {
    let Some((root, rows)) = script(&[]) else { return };
    assert!(rows.len() >= 22, "{} files", rows.len());
    for row in rows {
        let file = row["file"].as_str().unwrap();
        let loaded = load(root.join(file));
        let totals = loaded.report.totals;
        let count = |name: &str| usize::try_from(row[name].as_u64().unwrap()).unwrap();
        assert_eq!(loaded.report.files[0].format, row["format"].as_str().unwrap(), "{file}");
        for (name, got) in [
            ("groups", totals.groups),
            ("rollouts", totals.rollouts),
            ("steps", totals.raw_steps),
            ("scored", totals.scored),
            ("successes", totals.successes),
        ] {
            assert_eq!(got, count(name), "{file}: {name}");
        }
        assert_eq!(totals.skipped + totals.notes, 0, "{file}");
        let mut rewards: Vec<_> = loaded
            .corpus
            .groups
            .iter()
            .flat_map(|g| &g.rollouts)
            .map(|r| ((r.records[0].line, r.records[0].part), r.reward))
            .collect();
        rewards.sort_by_key(|r| r.0);
        let mut got: Vec<_> = rewards.iter().map(|r| r.1).collect();
        let mut want: Vec<_> =
            row["rewards"].as_array().unwrap().iter().map(Value::as_f64).collect();
        if Path::new(file).extension().is_some_and(|e| e == "eval") {
            // Members of an archive have an order of their own; they are compared one by one below.
            got.sort_by(|a, b| a.partial_cmp(b).unwrap());
            want.sort_by(|a, b| a.partial_cmp(b).unwrap());
        }
        assert_eq!(got, want, "{file}: rewards");
    }
}

#[test]
fn texts_on_demand_are_the_files_own() {
    let Some((root, rows)) = script(&["--steps", "200"]) else { return };
    assert!(rows.len() > 350, "{} steps", rows.len());
    let mut loads: BTreeMap<String, (Loaded, Vec<Group>)> = BTreeMap::new();
    for row in rows {
        let file = row["file"].as_str().unwrap().to_owned();
        let (loaded, groups) = loads.entry(file.clone()).or_insert_with(|| {
            let loaded = load(root.join(&file));
            let all =
                (0..loaded.corpus.groups.len()).map(|at| with_all_steps(&loaded, at)).collect();
            (loaded, all)
        });
        let place = (row["line"].as_u64().unwrap(), row["part"].as_u64().unwrap() as u32);
        let step = row["step"].as_u64().unwrap() as usize;
        let member = row["member"].as_str().unwrap();
        let text = text_of(loaded, groups, member, place, step);
        let said = format!("{file} {place:?} step {step}");
        assert_eq!(text.thought, row["thought"].as_str().unwrap(), "{said}");
        assert_eq!(text.tool.as_deref(), row["tool"].as_str(), "{said}");
        let RawArgs::Object(args) = &text.args else { panic!("{said}: {}", text.args_text) };
        assert_eq!(&Value::Object(args.clone()), &row["args"], "{said}");
        assert_eq!(text.observation.as_deref(), row["observation"].as_str(), "{said}");
    }
}

/// The text of a step of the rollout at a place of the file, of the member where it is an archive.
fn text_of(
    loaded: &Loaded,
    groups: &[Group],
    member: &str,
    place: (u64, u32),
    step: usize,
) -> StepText {
    for group in groups {
        let mut all = group.rollouts.iter();
        if let Some(rollout) = all.position(|r| {
            let record = &r.records[0];
            (record.line, record.part) == place
                && loaded.sources.name(record.source).ends_with(member)
        }) {
            return loaded.sources.step_text(group, rollout, step).unwrap();
        }
    }
    panic!("no rollout at {place:?}");
}

#[test]
fn samples_of_inspect_archives() {
    let Some((_, rows)) = script(&["--members"]) else { return };
    assert_eq!(rows.len(), 5);
    for row in rows {
        let header = inspect::Header::parse(row["header"].as_str().unwrap()).unwrap();
        let raw = inspect::sample(row["text"].as_str().unwrap(), &header).unwrap();
        let member = row["member"].as_str().unwrap();
        assert_eq!(raw.steps.len() as u64, row["steps"].as_u64().unwrap(), "{member}");
        assert_eq!(raw.task.as_deref(), row["task"].as_str(), "{member}");
        assert_eq!(raw.namespace.as_deref(), row["namespace"].as_str(), "{member}");
        assert_eq!(raw.policy.as_deref(), row["policy"].as_str(), "{member}");
        assert_eq!(raw.reward.value(), row["reward"].as_f64(), "{member}");
    }
}

#[test]
fn mini_swe_agent_runs_are_rollouts() {
    let Some(folder) = corpus("mini-swe-agent/deepseek-dev") else { return };
    let loaded = load(folder);
    let group = |task: &str, policy: &str| {
        let mut all = loaded.corpus.groups.iter();
        all.find(|g| g.key.task == task && g.key.policy.as_deref() == Some(policy)).unwrap()
    };
    let runs = [
        "deepseek_chat_dev",
        "deepseek_chat_dev_rerun",
        "deepseek_lite_dev",
        "deepseek_lite_dev_noparallel",
    ];
    for task in ["sqlfluff__sqlfluff-1733", "sqlfluff__sqlfluff-2419"] {
        let chat = group(task, "deepseek/deepseek-chat");
        assert_eq!(load_common::ids(chat), runs);
        assert!(chat.rollouts.iter().all(|r| r.ending.is_empty()));
    }
    let reasoner = group("sqlfluff__sqlfluff-1733", "deepseek/deepseek-reasoner");
    assert_eq!(reasoner.rollouts.len(), 1);
    assert_eq!(reasoner.rollouts[0].outcome, Outcome::Error);
    assert_eq!(reasoner.rollouts[0].ending, "InternalServerError");
    assert_eq!(reasoner.profile, "mini-swe-agent");
}

#[test]
fn swe_agent_runs_of_one_instance_are_a_group() {
    let Some(folder) = corpus("swe-agent/marshmallow-1867") else { return };
    let loaded = load(folder);
    let [group] = &loaded.corpus.groups[..] else { panic!("{:?}", loaded.report.group_sizes) };
    assert_eq!(group.key.task, "marshmallow-code__marshmallow-1867");
    assert_eq!(load_common::ids(group).len(), 4);
    assert!(load_common::ids(group).contains(&"function_calling_replace__install-1"));
    assert_eq!(group.profile, "swe-agent");
}

#[test]
fn epochs_of_a_sample_are_rollouts() {
    let Some(path) = corpus("inspect/docent_ctf.json") else { return };
    let loaded = load(path);
    let [group] = &loaded.corpus.groups[..] else { panic!("one group") };
    assert_eq!(group.key.namespace, "inspect_evals/luce_intercode_ctf");
    assert_eq!(load_common::ids(group), ["1", "2"]);
    assert_eq!(load_common::outcomes(group), [("success", 1), ("failure", 1)]);
    assert_eq!(loaded.report.outcomes[0].source, "field scores.includes >=1");
}
