//! The replayable cases at load level: numbers of rollouts, outcomes, actions, reasons and causes as
//! their EXPECTED.md says.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use credscope::load::{LoadOptions, Loaded};
use credscope::rollout::Outcome;
use credscope::rollout::raw::{RawArgs, RawKind};
use load_common::{case, ids, load_with, outcomes, raw_steps};

fn load(name: &str) -> Option<Loaded> {
    Some(load_with(&[case(name)?], &LoadOptions::default()).unwrap())
}

#[test]
fn outcomes_of_the_plain_cases() {
    let want: [(&str, &[(&str, usize)]); 7] = [
        ("01-uniform-all-success/input.json", &[("success", 4)]),
        ("02-group-of-one/input.json", &[("success", 1)]),
        ("08-step-rewards-not-only-last/input.json", &[("success", 1), ("failure", 1)]),
        ("10-truncated-tail/input.json", &[("success", 1), ("failure", 1), ("truncated", 1)]),
        ("11-infra-abort-zero-steps/input.json", &[("success", 1), ("failure", 1), ("error", 2)]),
        ("13-shaped-rewards-uniform-outcome/input.json", &[("failure", 4)]),
        ("14-loop-revisits-state/input.json", &[("success", 1), ("failure", 1)]),
    ];
    for (name, outcome) in want {
        let Some(loaded) = load(name) else { return };
        assert_eq!(loaded.corpus.groups.len(), 1, "{name}");
        assert_eq!(outcomes(&loaded.corpus.groups[0]), outcome, "{name}");
        assert_eq!(loaded.report.totals.skipped, 0, "{name}");
    }
}

#[test]
fn c03_and_c04_have_eight_rollouts() {
    for name in ["03-loo-float-residue/input.json", "04-eps-and-ddof/input.json"] {
        let Some(loaded) = load(name) else { return };
        assert_eq!(loaded.report.totals.rollouts, 8, "{name}");
    }
}

#[test]
fn c05_groups_of_three_two_and_one_in_natural_order() {
    let Some(loaded) = load("05-uneven-groups-in-one-file/input.jsonl") else { return };
    let got: Vec<_> = loaded.corpus.groups.iter().map(|g| (g.key.task.as_str(), ids(g))).collect();
    assert_eq!(got, [("p1", vec!["a", "b", "d"]), ("p2", vec!["c", "f"]), ("p3", vec!["e"])]);
    assert_eq!(loaded.report.group_sizes, [(1, 1), (2, 1), (3, 1)]);
    assert_eq!(loaded.report.grouped_by, "problem_id");
}

#[test]
fn c06_one_group_of_four_and_one_warning_naming_both_keys() {
    let Some(path) = case("06-unique-group-ids/input.jsonl") else { return };
    let loaded = load_with(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.group_sizes, [(4, 1)]);
    let [warning] = &loaded.report.warnings[..] else { panic!("{:?}", loaded.report.warnings) };
    assert_eq!(warning.code, "singleton-keys");
    assert!(warning.text.contains("`group_id`") && warning.text.contains("`problem_id`"));

    let by = LoadOptions { group_by: Some("group_id".into()), ..LoadOptions::default() };
    let loaded = load_with(&[path], &by).unwrap();
    assert_eq!(loaded.report.group_sizes, [(1, 4)]);
    assert_eq!(loaded.report.grouped_by, "group_id");
}

#[test]
fn c07_segments_are_one_rollout() {
    let Some(loaded) = load("07-segments-of-one-rollout/input.jsonl") else { return };
    let group = &loaded.corpus.groups[0];
    assert_eq!(ids(group), ["r0", "r1", "r2"]);
    assert_eq!(outcomes(group), [("success", 1), ("failure", 2)]);
    let r0 = &group.rollouts[0];
    assert_eq!(r0.reward, Some(1.0));
    // Lines 4, 2, 5 of the file hold segments 0, 1, 2.
    assert_eq!(r0.records.iter().map(|r| r.line).collect::<Vec<_>>(), [4, 2, 5]);
    let states: Vec<_> = r0
        .records
        .iter()
        .flat_map(|r| loaded.sources.rollout(r).unwrap().steps)
        .map(|s| s.state.unwrap())
        .collect();
    assert_eq!(states, ["S00", "S01", "S10", "S20"]);
    assert_eq!(loaded.report.totals.joined_segments, 2);
    if !r0.steps.is_empty() {
        assert_eq!(r0.steps.len(), 4);
        assert_eq!(r0.segment_starts, [2, 3]);
        let text = loaded.sources.step_text(group, 0, 2).unwrap();
        assert_eq!(text.raw.state.as_deref(), Some("S10"));
        assert_eq!(loaded.sources.rollout_text(group, 0).unwrap().len(), 4);
    }
}

#[test]
fn c09_two_actions_each() {
    let Some(loaded) = load("09-trailing-tool-message/input.jsonl") else { return };
    let group = &loaded.corpus.groups[0];
    assert_eq!(ids(group), ["long", "short"]);
    for rollout in &group.rollouts {
        let raw = loaded.sources.rollout(&rollout.records[0]).unwrap();
        let tools: Vec<_> = raw.steps.iter().map(|s| s.tool.as_deref().unwrap()).collect();
        assert_eq!(tools, ["str_replace_editor", "finish"]);
        let last = raw.steps[1].observation.as_deref().unwrap();
        assert!(last.starts_with("submitted\n[environment] episode closed"), "{last}");
    }
}

#[test]
fn c10_the_truncated_tail() {
    let Some(loaded) = load("10-truncated-tail/input.json") else { return };
    let r2 = &loaded.corpus.groups[0].rollouts[2];
    assert_eq!(
        (r2.id.as_str(), r2.outcome, r2.ending.as_str()),
        ("r2", Outcome::Truncated, "max_steps")
    );
    assert_eq!(loaded.report.totals.scored, 3);
}

#[test]
fn c11_infrastructure_endings_are_no_verdicts() {
    let Some(loaded) = load("11-infra-abort-zero-steps/input.json") else { return };
    let group = &loaded.corpus.groups[0];
    let endings: Vec<_> = group.rollouts.iter().map(|r| r.ending.as_str()).collect();
    assert_eq!(endings, ["", "", "sandbox_lost", "verifier_crash"]);
    assert_eq!((loaded.report.totals.scored, loaded.report.totals.errors), (2, 2));
    assert!(group.rollouts[2].steps.is_empty());
}

#[test]
fn c12_numbers_that_are_none() {
    let Some(loaded) = load("12-nan-and-infinity-rewards/input.json") else { return };
    let group = &loaded.corpus.groups[0];
    assert_eq!(outcomes(group), [("success", 3), ("failure", 1), ("unscored", 5)]);
    let reasons: Vec<_> =
        loaded.report.unscored.iter().map(|u| (u.rollout.as_str(), u.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("r1", "reward is NaN"),
            ("r2", "reward is Infinity"),
            ("r3", "reward is -Infinity"),
            ("r4", "reward is null"),
            ("r8", "reward is 1e400, which is out of range"),
        ]
    );
    let rewards: Vec<_> = group.rollouts.iter().map(|r| r.reward).collect();
    assert_eq!(rewards, [Some(1.0), None, None, None, None, Some(1.0), Some(1.0), Some(0.0), None]);
    let coerced: Vec<_> =
        loaded.report.notes.iter().map(|n| n.rollout.as_deref().unwrap()).collect();
    assert_eq!(coerced, ["r5", "r6"]);
    assert!(loaded.report.warning("coerced").is_some());
}

#[test]
fn c13_the_verdict_score_decides_and_the_shaped_reward_stays() {
    let Some(loaded) = load("13-shaped-rewards-uniform-outcome/input.json") else { return };
    let rewards: Vec<_> =
        loaded.corpus.groups[0].rollouts.iter().map(|r| r.reward.unwrap()).collect();
    assert_eq!(rewards, [0.0, -0.25, -0.5, -0.5]);
    assert!(loaded.report.warnings.is_empty(), "{:?}", loaded.report.warnings);
}

#[test]
fn c14_every_call_is_kept() {
    let Some(loaded) = load("14-loop-revisits-state/input.json") else { return };
    let group = &loaded.corpus.groups[0];
    // Seven actions of r0 and four of r1.
    assert_eq!(raw_steps(&loaded, group), 7 + 4);
}

#[test]
fn c22_ten_calls_with_all_kinds_of_arguments() {
    let Some(loaded) = load("22-empty-tool-arguments/input.jsonl") else { return };
    let rollout = &loaded.corpus.groups[0].rollouts[0];
    let steps = loaded.sources.rollout(&rollout.records[0]).unwrap().steps;
    assert_eq!(steps.len(), 10);
    assert!(steps.iter().all(|s| s.kind == RawKind::Call && s.observation.as_deref() == Some("x")));
    let empty = RawArgs::default();
    for at in [0, 1, 2, 3, 7] {
        assert_eq!(steps[at].args, empty, "call {at}");
    }
    assert_eq!(steps[4].args, RawArgs::Unparsable(r#"{"command": "ls -la"#.into()));
    assert_eq!(steps[5].args, RawArgs::Unparsable(r#"["ls"]"#.into()));
    let RawArgs::Object(ls) = &steps[6].args else { panic!("an object") };
    assert_eq!(ls.get("command").and_then(|c| c.as_str()), Some("ls"));
    assert_eq!(steps[8].tool, None);
    let RawArgs::Object(null) = &steps[9].args else { panic!("an object") };
    assert!(null.get("command").unwrap().is_null());
}

#[test]
fn c23_a_torn_file_loads_what_is_whole() {
    let Some(loaded) = load("23-torn-jsonl/input.jsonl") else { return };
    assert_eq!(ids(&loaded.corpus.groups[0]), ["r0", "r1", "r2"]);
    assert_eq!(outcomes(&loaded.corpus.groups[0]), [("success", 2), ("failure", 1)]);
    let skipped: Vec<_> = loaded.report.skipped.iter().map(|s| s.number).collect();
    assert_eq!(skipped, [4, 7, 8]);
    let [four, seven, eight] = &loaded.report.skipped[..] else { panic!("three") };
    assert!(four.reason.starts_with("broken JSON"), "{four}");
    assert!(seven.reason.starts_with("not an object"), "{seven}");
    assert_eq!(eight.reason, "cut at the end of the file");
    assert_eq!(eight.hint.as_deref(), Some("file may still be being written"));
    assert_eq!(loaded.report.partial().as_deref(), Some("partial data: 3 lines skipped"));
    assert!(loaded.report.first_skipped().unwrap().starts_with("input.jsonl: line 4: broken JSON"));
    assert!(loaded.report.warning("skipped").is_some());
}

#[test]
fn c24_odd_ids_are_kept_as_they_are() {
    let Some(loaded) = load("24-control-chars-and-ansi/input.json") else { return };
    assert_eq!(ids(&loaded.corpus.groups[0]), ["r0\nx\u{1b}[41m"]);
}

/// Short rollouts of one task are often equal: without ids each line of a file is a sample of its own.
#[test]
fn equal_rollouts_without_ids_all_count() {
    let line = |reward: u8| {
        format!(
            r#"{{"task":"t","reward":{reward},"messages":[{{"role":"user","content":"2+2"}},{{"role":"assistant","content":"4"}}]}}"#
        )
    };
    let text = [line(1), line(1), line(1), line(0)].join("\n");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("samples.jsonl");
    std::fs::write(&path, text).unwrap();
    let profiles = std::sync::Arc::new(credscope::profile::Profiles::builtin());
    let loaded =
        credscope::load::load(&[path], &credscope::load::LoadOptions::default(), &profiles)
            .unwrap();
    let group = &loaded.corpus.groups[0];
    let successes =
        group.rollouts.iter().filter(|r| r.outcome == credscope::rollout::Outcome::Success).count();
    assert_eq!((group.rollouts.len(), successes), (4, 3));
    assert!(loaded.report.warning("equal-samples").is_some());
    assert!(loaded.report.warning("duplicate").is_none());
}
