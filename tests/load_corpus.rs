//! The readers and the loader on real files. Expected numbers come from the files' provenance notes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use credscope::load::{LoadError, LoadOptions};
use credscope::rollout::Outcome;
use load_common::{corpus, load_with, outcomes, raw_steps};

#[test]
fn r2e_gym_is_one_group_of_eight() {
    let Some(path) = corpus("derived/r2e_gym.astropy-12907.k8.jsonl") else { return };
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    let [group] = &loaded.corpus.groups[..] else { panic!("one group") };
    assert_eq!(group.key.task, "astropy__astropy-12907");
    assert_eq!(group.key.policy.as_deref(), Some("Qwen3-Coder-30B-A3B-Instruct"));
    assert_eq!(group.key.namespace, "r2e-gym");
    assert_eq!(outcomes(group), [("success", 4), ("failure", 4)]);
    let ids: Vec<_> = group.rollouts.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids[..2], ["derived-claude_code-1", "derived-claude_code-3"]);
    // 9 + 4 + 11 + 3 + 4 + 3 + 4 + 3 steps in the file.
    assert_eq!(loaded.report.totals.raw_steps, 41);
    assert_eq!(loaded.report.files[0].format, "r2e-gym");
    assert_eq!(loaded.report.outcomes[0].source, "field reward >=1");
}

#[test]
fn three_harnesses_of_one_task_are_one_group() {
    let names = ["hermes", "opencode", "claude_code"];
    let paths: Option<Vec<_>> =
        names.iter().map(|n| corpus(&format!("nemo-gym/anyswe_astropy-12907_{n}.jsonl"))).collect();
    let Some(paths) = paths else { return };
    let loaded = load_with(&paths, &LoadOptions::default()).unwrap();
    let [group] = &loaded.corpus.groups[..] else { panic!("one group") };
    assert_eq!(group.key.task, "astropy__astropy-12907");
    assert_eq!(group.key.policy.as_deref(), Some("Qwen/Qwen3-Coder-30B-A3B-Instruct"));
    // Rewards by file: 2 of 5, 4 of 5, 1 of 5.
    assert_eq!(outcomes(group), [("success", 7), ("failure", 8)]);
    let warning = loaded.report.warning("mixed-harness").unwrap();
    assert_eq!(warning.tasks, ["astropy__astropy-12907"]);
    assert_eq!(group.rollouts[0].id, "anyswe_claude_code-0");
    // The verifier's own verdict goes before the reward.
    let [origin] = &loaded.report.outcomes[..] else { panic!("one origin") };
    assert_eq!((origin.source.as_str(), origin.rollouts), ("field resolved", 15));
}

#[test]
fn tau_bench_is_fourteen_groups_of_four() {
    let Some(path) = corpus("tau-bench/gpt-4o-airline.subset-a.json") else { return };
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.group_sizes, [(4, 14)]);
    assert_eq!(loaded.report.totals.successes, 30);
    assert_eq!(loaded.report.totals.scored, 56);
    // The steps column of the groups mock-up.
    let want = [
        ("15", 59),
        ("31", 56),
        ("40", 43),
        ("2", 76),
        ("21", 34),
        ("27", 58),
        ("34", 65),
        ("30", 62),
        ("26", 68),
        ("37", 29),
        ("13", 77),
        ("1", 31),
        ("12", 24),
        ("0", 60),
    ];
    for (task, steps) in want {
        let group = loaded.corpus.groups.iter().find(|g| g.key.task == task).unwrap();
        assert_eq!(raw_steps(&loaded, group), steps, "task {task}");
    }
    assert_eq!(loaded.report.totals.raw_steps, 742);
    assert!([0, 742].contains(&loaded.report.totals.steps), "every message of the agent is a step");
    let order: Vec<_> = loaded.corpus.groups.iter().map(|g| g.key.task.as_str()).collect();
    assert_eq!(order[..5], ["0", "1", "2", "12", "13"]);
    // The one row without a verdict of the environment ran into the cap of 30 steps.
    let capped: Vec<_> = loaded
        .corpus
        .groups
        .iter()
        .flat_map(|g| &g.rollouts)
        .filter(|r| r.outcome == Outcome::Truncated)
        .collect();
    assert_eq!(capped.len(), 1);
    assert_eq!((capped[0].id.as_str(), capped[0].reward), ("1", Some(0.0)));
}

#[test]
fn inputs_are_no_rollouts_and_say_so() {
    let Some(path) = corpus("nemo-gym/circle_click_inputs_only.jsonl") else { return };
    let error = load_with(&[path], &LoadOptions::default()).unwrap_err();
    let LoadError::NoRollouts { files, .. } = &error else { panic!("{error}") };
    assert_eq!(files[0].name, "circle_click_inputs_only.jsonl");
    let text = error.to_string();
    assert!(text.contains("NeMo-Gym inputs") && text.contains("no `response`"), "{text}");
    assert!(error.hint().unwrap().contains("_materialized_inputs"));
}

#[test]
fn the_other_nemo_files() {
    let Some(sokoban) = corpus("nemo-gym/grl_sokoban.jsonl") else { return };
    let loaded = load_with(&[sokoban], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.group_sizes, [(1, 5)]);
    // One of five reaches the goal; the other four are cut after 20 moves.
    assert_eq!((loaded.report.totals.successes, loaded.report.totals.truncated), (1, 4));
    assert_eq!(loaded.report.totals.raw_steps, 10 + 4 * 20);
    assert!(loaded.report.warning("reward-range").is_some());

    let Some(path) = corpus("nemo-gym/blackjack.jsonl") else { return };
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.group_sizes, [(5, 1)]);
    assert_eq!((loaded.report.totals.successes, loaded.report.totals.failures), (3, 2));

    let Some(path) = corpus("nemo-gym/mini_swe_agent_2.jsonl") else { return };
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.group_sizes, [(1, 5)]);
    assert!(loaded.corpus.groups.iter().any(|g| g.key.task == "scikit-learn__scikit-learn-14141"));

    let Some(path) = corpus("nemo-gym/workplace_assistant_noindex.jsonl") else { return };
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    assert_eq!((loaded.report.totals.rollouts, loaded.report.totals.successes), (5, 4));
    assert!(loaded.corpus.groups.iter().all(|g| g.rollouts[0].id.starts_with('~')));
}

#[test]
fn a_folder_lists_what_is_no_rollout_file() {
    let Some(folder) = corpus("nemo-gym") else { return };
    let loaded = load_with(&[folder], &LoadOptions::default()).unwrap();
    let names: Vec<_> = loaded.report.not_rollouts.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["circle_click_inputs_only.jsonl"]);
    // What a folder holds besides is no warning.
    assert!(loaded.report.warning("no-rollouts").is_none());
    assert_eq!(loaded.report.files.len(), 7);
    assert_eq!(loaded.report.totals.rollouts, 15 + 4 * 5);
}

#[test]
fn xml_messages_of_swe_smith_load() {
    let Some(path) = corpus("messages/swe-smith_xml_messages.jsonl") else { return };
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.files[0].format, "messages");
    assert_eq!(loaded.report.totals.rollouts, 2);
    assert!(loaded.report.outcomes.iter().all(|o| o.source == "field resolved"));
}
