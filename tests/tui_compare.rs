//! Rollouts side by side.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use credscope::analysis::align::{Alignment, first_divergence, nearest};
use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::tui::layout::Pane;
use tui_support::{R2E, eight, line, opened, picture, press, real, started};

#[test]
fn every_step_has_one_cell_in_order_and_shared_rows_share_their_state() {
    let mut groups = vec![eight(), tui_support::odd()];
    if let Some((corpus, _)) = real(R2E) {
        groups.extend(corpus.groups);
    }
    for group in groups {
        let analysis = Analysis::new(group, &AnalysisSettings::default());
        let n = analysis.group.rollouts.len();
        for chosen in [(0..n).collect::<Vec<_>>(), nearest(&analysis, n - 1, 3)] {
            let alignment = Alignment::new(&analysis, &chosen);
            for (k, &rollout) in chosen.iter().enumerate() {
                let steps: Vec<usize> = alignment.rows.iter().filter_map(|r| r.cells[k]).collect();
                let wanted: Vec<usize> = analysis.group.rollouts[rollout].steps.clone().collect();
                assert_eq!(steps, wanted);
            }
            for row in &alignment.rows {
                let here: Vec<usize> = row.cells.iter().flatten().copied().collect();
                let Some(state) = row.state else { continue };
                assert!(here.len() >= 2);
                assert!(here.iter().all(|&s| analysis.graph.state_of(s) == state));
                let mut actions: Vec<_> = here.iter().map(|&s| analysis.graph.pair_of(s)).collect();
                actions.sort_unstable();
                actions.dedup();
                assert_eq!(actions.len(), row.ways);
            }
        }
    }
}

#[test]
fn the_first_divergence_is_where_another_action_was_taken() {
    let analysis = Analysis::new(eight(), &AnalysisSettings::default());
    let at = |i: usize, j: usize| {
        first_divergence(&analysis, i, j)
            .map(|s| s - analysis.group.rollouts[analysis.graph.rollout_of(s)].steps.start)
    };
    assert_eq!(at(0, 1), Some(2));
    assert_eq!(at(0, 3), Some(0));
    assert_eq!(at(3, 5), Some(1));
    assert_eq!(at(4, 6), None, "the same walk");
    assert_eq!(at(0, 0), None);
}

#[test]
fn keys_walk_rows_columns_and_divergences() {
    let mut model = started((120, 40));
    press(&mut model, "|");
    assert_eq!(model.focus, Pane::Compare);
    let own = model.cursor.rollout;
    assert_eq!(model.comparing.alignment.rollouts[0], own);
    assert_eq!(model.comparing.alignment.rollouts.len(), 4);
    press(&mut model, "l");
    assert_eq!(model.cursor.rollout, model.comparing.alignment.rollouts[1]);
    press(&mut model, "d");
    assert_eq!(model.cursor.step, 2);
    let shown = picture(&model);
    line(&shown, &["⋎", "ways at s", "of 8 rollouts were here, V "]);
    line(&shown, &["Ways at s", "5 of 8 rollouts were here"]);
    line(&shown, &["▸modify:", "1/5", "│"]);
    // The rollout that is marked and the selected one.
    press(&mut model, "Esc");
    press(&mut model, "6");
    press(&mut model, "Space");
    press(&mut model, "j");
    press(&mut model, "Space");
    press(&mut model, "|");
    assert_eq!(model.comparing.alignment.rollouts.len(), 2);
    press(&mut model, "|");
    assert_eq!(model.focus, Pane::Rollouts);
}

#[test]
fn a_turn_of_the_signature_aligns_again() {
    let Some((corpus, _)) = real(R2E) else { return };
    let mut model = opened(corpus, (120, 40));
    press(&mut model, "|");
    let before = model.comparing.alignment.clone();
    let place = model.cursor;
    for _ in 0..2 {
        press(&mut model, "p");
    }
    assert_eq!(model.comparing.alignment.rollouts, before.rollouts);
    assert_ne!(model.comparing.alignment.rows, before.rows);
    assert_eq!(model.cursor, place);
}

#[test]
fn the_aggregate_is_the_sum_over_mixed_groups() {
    let Some((corpus, _)) = real("tau-bench/gpt-4o-airline.subset-a.json") else { return };
    let groups = corpus.groups.clone();
    let mut model = opened(corpus, (120, 40));
    press(&mut model, "a");
    let shown = picture(&model);
    line(&shown, &["Aggregate quadrants  12 mixed, 2 uniform left out"]);
    let mut wanted = credscope::analysis::Tally::default();
    let mut steps = 0;
    for group in &groups {
        let analysis = Analysis::new(group.clone(), &AnalysisSettings::default());
        if credscope::analysis::sizes::is_mixed(&analysis) {
            let [ok, bad] = credscope::analysis::sizes::outcome_tallies(&analysis);
            wanted.merge(&ok);
            wanted.merge(&bad);
            steps += credscope::analysis::sizes::sizes(&analysis)
                .iter()
                .map(|r| u64::from(r.steps))
                .sum::<u64>();
        }
    }
    assert_eq!(wanted.scored, 658);
    assert_eq!(steps, wanted.scored, "every step is at a state of some size");
    line(&shown, &["Σ           658", &wanted.rescued.to_string(), &wanted.penalized.to_string()]);
    press(&mut model, "f");
    let shown = picture(&model);
    line(&shown, &["mixed only, 2 left out"]);
    assert!(!shown.contains("uniform-outcome"));
    // By skill: the largest first.
    press(&mut model, "S");
    press(&mut model, "S");
    let order = model.group_order();
    let skill = |g: usize| model.groups.rows[g].as_ref().unwrap().row.skill.unwrap().skill;
    assert!(order.windows(2).all(|w| skill(w[0]) >= skill(w[1])));
}

#[test]
fn the_table_of_pairs_holds_the_first_divergences() {
    let mut model = started((120, 60));
    press(&mut model, "|");
    let pairs = &model.comparing.pairs;
    assert_eq!(pairs.rollouts.len(), 8);
    let analysis = &model.snapshot().unwrap().analysis;
    for (i, &a) in pairs.rollouts.iter().enumerate() {
        for (k, &b) in pairs.rollouts.iter().enumerate() {
            let wanted = if a == b { None } else { first_divergence(analysis, a, b) };
            assert_eq!(pairs.steps[i][k], wanted);
        }
    }
    let shown = picture(&model);
    line(&shown, &["First divergence of each pair"]);
    // r2 leaves all that searched first at its third step, and those that viewed first at its first.
    let row = shown.lines().rev().find(|l| l.starts_with("▸r2")).unwrap();
    assert_eq!(row.matches(" t2 ").count(), 4, "{row}");
    assert_eq!(row.matches(" t0 ").count(), 3, "{row}");
    // Two rollouts that walked alike never part.
    let row = shown.lines().rev().find(|l| l.trim_start().starts_with("r5 ✓")).unwrap();
    assert_eq!(row.matches("none").count(), 1, "{row}");
}

#[test]
fn steps_only_here_are_those_of_one_rollout() {
    let mut model = started((120, 60));
    press(&mut model, "|");
    press(&mut model, "f");
    assert!(picture(&model).contains("steps only here"));
    let listed = model.comparing.listed();
    let column = model.comparing.column;
    for (i, row) in model.comparing.alignment.rows.iter().enumerate() {
        let alone = row.state.is_none() && row.cells[column].is_some();
        assert_eq!(listed.contains(&i), alone, "{i}");
    }
    // The listed rows name the state that the ways below are of.
    let analysis = &model.snapshot().unwrap().analysis;
    let first = model.comparing.alignment.rows[listed[0]].cells[column].unwrap();
    let state = analysis.graph.state_of(first);
    line(&picture(&model), &[&format!("▸s{state} ")]);
    // Every row stands on a step of this rollout.
    let own = model.cursor.rollout;
    for _ in 0..=listed.len() {
        press(&mut model, "j");
        assert!(listed.contains(&model.comparing.at));
        assert_eq!(model.cursor.rollout, own);
    }
    press(&mut model, "d");
    assert!(!model.comparing.only_here, "a divergence is a shared row");
}

#[test]
fn the_sums_of_the_groups_are_those_of_the_command() {
    let Some((corpus, _)) = real("tau-bench/gpt-4o-airline.subset-a.json") else { return };
    let root = std::env::var_os("CREDSCOPE_CORPUS")
        .map_or_else(|| std::path::PathBuf::from("../shared/data"), std::path::PathBuf::from);
    let there = |uniform: &str| -> Vec<u64> {
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_credscope"))
            .args(["quadrants", "--format", "jsonl", "--no-stamp", "--by", "outcome"])
            .args(["--uniform", uniform])
            .arg(root.join("tau-bench/gpt-4o-airline.subset-a.json"))
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .output()
            .unwrap();
        let rows: Vec<serde_json::Value> = String::from_utf8(made.stdout)
            .unwrap()
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let sum = |name: &str| rows.iter().map(|r| r[name].as_u64().unwrap_or(0)).sum();
        ["rescued", "penalized"].map(sum).to_vec()
    };
    for uniform_counts in [false, true] {
        let groups = credscope::rollout::Corpus { groups: corpus.groups.clone() };
        let mut model = opened(groups, (160, 45));
        model.groups.uniform_counts = uniform_counts;
        press(&mut model, "a");
        let wanted = there(if uniform_counts { "include" } else { "exclude" });
        let shown = picture(&model);
        // With uniform groups counted there is one population, and one sum.
        let row = if uniform_counts { "Σ   56" } else { "Σ mixed" };
        let sum = shown
            .lines()
            .find(|l| l.trim_start().starts_with(row))
            .unwrap_or_else(|| panic!("{shown}"));
        let numbers: Vec<&str> = sum.split_whitespace().collect();
        let has = |n: u64| numbers.contains(&n.to_string().as_str());
        assert!(wanted.iter().all(|&n| has(n)), "{wanted:?} {sum}");
        let below = shown.lines().find(|l| l.contains("│ Σ")).unwrap();
        assert!(wanted.iter().all(|n| below.contains(&n.to_string())), "{wanted:?} {below}");
        assert!(has(if uniform_counts { 56 } else { 48 }), "{sum}");
    }
}
