//! What the discount lies between: every two actions, or turns alone (`--discount-per turn`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;
mod common;

use std::sync::Arc;

use cli_common::Bench;
use common::Walk;
use common::derivations::check_derivations;
use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{ColumnSpec, DiscountPer, StepRewardMode, registry};
use credscope::rollout::Group;
use proptest::prelude::*;

/// Two rollouts with calls side by side: turns 0 1 1 2 and 0 1.
const TURNS: &str = r#"{"schema":"credscope/1","task":"t","rollouts":[
{"id":"a","outcome":"success","steps":[{"state":"s0","action":"x","turn":0},{"state":"s1","action":"y","turn":1},{"state":"s2","action":"z","turn":1},{"state":"s3","action":"e","turn":2}]},
{"id":"b","outcome":"failure","steps":[{"state":"s0","action":"x","turn":0},{"state":"s1","action":"w","turn":1}]}
]}"#;

/// The same rollouts as a group.
fn pair() -> Arc<Group> {
    let group = common::group(&[
        Walk::of("a", 1.0, "s0.x s1.y s2.z s3.e"),
        Walk::of("b", 0.0, "s0.x s1.w"),
    ]);
    common::with_turns(&group, |_, t| [0, 1, 1, 2][t])
}

fn set(id: &str, params: &[(&str, &str)]) -> ColumnSpec {
    let mut spec = ColumnSpec::new(id).unwrap();
    for (name, value) in params {
        spec.set(name, value).unwrap();
    }
    spec
}

fn analyse(group: &Arc<Group>, per: DiscountPer, columns: Vec<ColumnSpec>) -> Analysis {
    let mut settings = AnalysisSettings { columns, ..AnalysisSettings::default() };
    settings.credit.gamma = 0.9;
    settings.credit.discount_per = per;
    settings.credit.step_reward = StepRewardMode::None;
    Analysis::new(Arc::clone(group), &settings)
}

fn all() -> Vec<ColumnSpec> {
    registry().iter().map(|e| ColumnSpec::new(e.meta().id).unwrap()).collect()
}

#[track_caller]
fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-9, "{got} is not {want}");
}

#[track_caller]
fn shows(analysis: &Analysis, column: &str, want: &[f64]) {
    for (step, &want) in want.iter().enumerate() {
        close(analysis.column(column).unwrap().1.get(step).unwrap(), want);
    }
}

#[test]
fn returns_by_hand() {
    for (per, want) in [
        (DiscountPer::Call, [0.9 * 0.9 * 0.9, 0.9 * 0.9, 0.9, 1.0]),
        (DiscountPer::Turn, [0.9 * 0.9, 0.9, 0.9, 1.0]),
    ] {
        let analysis = analyse(&pair(), per, vec![set("grpo-step", &[("norm", "none")])]);
        for (step, want) in want.into_iter().enumerate() {
            close(analysis.returns.total[step], want);
            close(analysis.returns.discount[step], want - 1.0);
            close(analysis.returns.outcome[step], 1.0);
        }
        shows(&analysis, "grpo-step", &want);
    }
}

/// Step rewards of one turn are not discounted against each other, nor the last turn's against R.
#[test]
fn step_rewards_go_by_turns_too() {
    let mut group = (*pair()).clone();
    group.steps.step_reward = vec![Some(0.1); 6];
    let mut settings = AnalysisSettings::default();
    settings.credit.gamma = 0.9;
    settings.credit.discount_per = DiscountPer::Turn;
    let returns = Analysis::new(Arc::new(group), &settings).returns.clone();
    // 1.1 | .1 + .9*1.1 = 1.09 | .1 + 1.09 = 1.19 | .1 + .9*1.19 = 1.171; b: .1 | .1 + .09.
    for (step, want) in [1.171, 1.19, 1.09, 1.1, 0.19, 0.1].into_iter().enumerate() {
        close(returns.total[step], want);
        close(returns.outcome[step] + returns.discount[step] + returns.shaping[step], want);
    }
}

#[test]
fn rtmc_and_its_split_by_hand() {
    let analysis = analyse(&pair(), DiscountPer::Turn, vec![set("rtmc", &[])]);
    // V' = (2*.405 + 2*.5)/4 | (2*.45 + 1)/4 | (.9 + 1)/3 | (1 + 1)/3; Q is the return.
    shows(
        &analysis,
        "rtmc",
        &[0.405 - 0.4525, 0.9 - 0.475, 0.9 - 1.9 / 3.0, 1.0 / 3.0, 0.405 - 0.4525, -0.475],
    );
    let split = analysis.step_row(1).split.unwrap();
    // Q = 1 - .1, V = .5 - .05, V_prior = .5, k = 2/4.
    close(split.comparison.outcome, 0.5);
    close(split.comparison.discount, -0.05);
    close(split.prior.outcome, 0.0);
    close(split.prior.discount, -0.025);
    let own = analyse(&pair(), DiscountPer::Turn, vec![set("rtmc", &[("gamma", "0.8")])]);
    // G(a:1) = .8, V(s1) = .4, V' = (.8 + 1)/4.
    close(own.column("rtmc").unwrap().1.get(1).unwrap(), 0.8 - 0.45);
}

#[test]
fn gae_by_hand() {
    let analysis = analyse(&pair(), DiscountPer::Turn, vec![set("gae", &[])]);
    let v = [0.4525, 0.475, 1.9 / 3.0, 2.0 / 3.0];
    let a3 = 1.0 - v[3];
    let a2 = 0.9 * v[3] - v[2] + 0.9 * 0.95 * a3;
    // Inside the turn there is lambda and no discount.
    let a1 = v[2] - v[1] + 0.95 * a2;
    let a0 = 0.9 * v[1] - v[0] + 0.9 * 0.95 * a1;
    shows(&analysis, "gae", &[a0, a1, a2, a3]);
}

/// At s1 rollout a has a return of `g` and b of 0: half of it beside their mean.
#[test]
fn columns_with_a_discount_of_their_own() {
    for (per, g) in [(DiscountPer::Call, 0.95 * 0.95), (DiscountPer::Turn, 0.95)] {
        let centred = [("norm", "mean")];
        let columns = vec![
            set("gigpo", &centred),
            set("hgpo", &centred),
            set("a2agent", &centred),
            set("reinforce++", &[("gamma", "0.95"), ("whiten", "off")]),
        ];
        let analysis = analyse(&pair(), per, columns);
        let at = |id: &str| analysis.column(id).unwrap().1.get(1).unwrap();
        close(at("gigpo"), 0.5 + g / 2.0);
        close(at("hgpo"), g / 2.0);
        close(at("a2agent"), g / 2.0);
        close(at("reinforce++"), g);
    }
}

/// What discounts along the edges of the graph, or not at all, knows no turns.
#[test]
fn columns_on_edges_go_by_actions() {
    let call = analyse(&pair(), DiscountPer::Call, all());
    let turn = analyse(&pair(), DiscountPer::Turn, all());
    let mut changed = Vec::new();
    for ((spec, one), (_, two)) in call.columns.iter().zip(&turn.columns) {
        if one.cells().ne(two.cells()) {
            changed.push(spec.name.as_str());
        }
    }
    assert_eq!(changed, ["grpo-step", "rtmc", "gigpo", "hgpo", "a2agent", "gae"]);
}

#[test]
fn every_derivation_of_every_parameter_is_bit_exact() {
    for estimator in registry() {
        let meta = estimator.meta();
        check_derivations(&analyse(&pair(), DiscountPer::Turn, vec![set(meta.id, &[])]));
        for param in meta.params {
            let values: Vec<&str> = if param.range.starts_with("number") {
                vec!["0", "0.5", "inherit"]
            } else {
                param.range.split('|').collect()
            };
            for value in values {
                let mut spec = ColumnSpec::new(meta.id).unwrap();
                if spec.set(param.name, value).is_ok() {
                    check_derivations(&analyse(&pair(), DiscountPer::Turn, vec![spec]));
                }
            }
        }
    }
}

/// Walks over five states; the second number says whether a step opens a turn.
fn random_group() -> impl Strategy<Value = (Arc<Group>, Vec<Vec<u32>>)> {
    let step = (0..5_u8, 0..3_u8, any::<bool>());
    let walk = (any::<bool>(), prop::collection::vec(step, 0..10));
    prop::collection::vec(walk, 1..6).prop_map(|walks| {
        let turns = walks
            .iter()
            .map(|(_, steps)| {
                steps
                    .iter()
                    .scan(0, |turn, step| {
                        *turn += u32::from(step.2);
                        Some(*turn)
                    })
                    .collect()
            })
            .collect();
        let walks: Vec<Walk> = walks
            .iter()
            .enumerate()
            .map(|(i, (success, steps))| {
                let words: Vec<String> =
                    steps.iter().map(|(s, a, _)| format!("s{s}.a{a}")).collect();
                Walk::of(&format!("r{i}"), f64::from(u8::from(*success)), &words.join(" "))
            })
            .collect();
        (common::group(&walks), turns)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Where every step has a turn of its own, both are the same bit for bit.
    #[test]
    fn turns_of_one_call_change_nothing((group, _) in random_group()) {
        let call = analyse(&group, DiscountPer::Call, all());
        let turn = analyse(&group, DiscountPer::Turn, all());
        for ((_, one), (_, two)) in call.columns.iter().zip(&turn.columns) {
            let bits = |c: &credscope::credit::Column| -> Vec<_> {
                c.cells().map(|v| v.map(f64::to_bits)).collect()
            };
            prop_assert_eq!(bits(one), bits(two));
        }
    }

    /// The exponent of R is the number of turn changes; parts add up; derivations are bit exact.
    #[test]
    fn the_exponent_counts_changes_of_turn((group, turns) in random_group()) {
        let group = common::with_turns(&group, |i, t| turns[i][t]);
        let analysis = analyse(&group, DiscountPer::Turn, all());
        for (i, rollout) in group.rollouts.iter().enumerate() {
            let last = turns[i].last().copied().unwrap_or(0);
            for (t, at) in rollout.steps.clone().enumerate() {
                let changes = i32::try_from(last - turns[i][t]).unwrap();
                let want = analysis.basis.terminal[i] * 0.9_f64.powi(changes);
                prop_assert!((analysis.returns.total[at] - want).abs() < 1e-12);
                let row = analysis.step_row(at);
                let (Some(split), Some(a)) = (row.split, analysis.column("rtmc").unwrap().1.get(at)) else {
                    continue;
                };
                let (c, p) = (split.comparison, split.prior);
                let sum = c.outcome + c.discount + c.shaping + p.outcome + p.discount + p.shaping;
                prop_assert!((sum - a).abs() < 1e-12, "{sum} {a}");
            }
        }
        check_derivations(&analysis);
    }
}

#[test]
fn the_command_line_discounts_by_turns() {
    let bench = Bench::new(TURNS);
    let returns = |more: &[&str]| -> Vec<f64> {
        let args = ["steps", "input.json", "--gamma", ".9", "--rollout", "a", "--format", "json"];
        let found = bench.json(&[&args, more].concat());
        found["rows"].as_array().unwrap().iter().map(|r| r["ret"].as_f64().unwrap()).collect()
    };
    for (got, want) in returns(&["--discount-per", "turn"]).iter().zip([0.81, 0.9, 0.9, 1.0]) {
        close(*got, want);
    }
    for (got, want) in returns(&[]).iter().zip([0.729, 0.81, 0.9, 1.0]) {
        close(*got, want);
    }
    let (code, told) = bench.fails(&["steps", "input.json", "--discount-per", "token"]);
    assert_eq!(code, 2);
    assert!(told.contains("--discount-per cannot be `token`"), "{told}");
}

#[test]
fn what_people_read_tells_the_unit() {
    let bench = Bench::new(TURNS);
    let turn = ["--discount-per", "turn"];
    let explain = ["explain", "input.json", "--at", "a:1", "--artefacts"];
    let text = bench.ok(&[&explain[..], &turn].concat());
    assert!(text.contains("gamma 0.99 per turn"), "{text}");
    // 0.99^68 = .5049, 0.99^69 = .4998.
    assert!(text.contains("negative from 69 turns of one call each before the end"), "{text}");
    let found = bench.json(&[&explain[..], &turn, &["--format", "json"]].concat());
    assert_eq!(found["artefacts"][0]["turns_before_end"], 69);
    assert_eq!(found["settings"]["discount-per"]["value"], "turn");
    assert_eq!(found["settings"]["discount-per"]["origin"], "flag");
    let text = bench.ok(&[&["report", "input.json"][..], &turn].concat());
    assert!(text.contains("gamma 0.99 per turn"), "{text}");
    // The line is wrapped wherever it ends.
    let groups = |more: &[&str]| {
        let text = bench.ok(&[&["groups", "input.json", "--format", "text"], more].concat());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = groups(&turn);
    assert!(text.contains("gamma 0.99 per turn, n-prior 2"), "{text}");
    let text = groups(&[]);
    assert!(text.contains("gamma 0.99, n-prior 2"), "{text}");
}
