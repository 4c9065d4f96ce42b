//! The mathematics: the worked example, identities on random groups, derivations bit for bit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use common::Walk;
use common::derivations::check_derivations;
use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{ColumnSpec, CreditSettings, DiscountPer, StepRewardMode, Visit};
use credscope::graph::Evidence;
use credscope::rollout::{Group, Outcome};
use proptest::prelude::*;

fn analyse(group: &Arc<Group>, change: impl FnOnce(&mut AnalysisSettings)) -> Analysis {
    let mut settings = AnalysisSettings {
        columns: credscope::credit::registry()
            .iter()
            .map(|e| ColumnSpec::new(e.meta().id).unwrap())
            .collect(),
        ..AnalysisSettings::default()
    };
    change(&mut settings);
    Analysis::new(group.clone(), &settings)
}

fn example() -> Arc<Group> {
    common::group(&[
        Walk::of("t1", 1.0, "s0.a s1.c s2.e"),
        Walk::of("t2", 0.0, "s0.a s1.d s3.f"),
        Walk::of("t3", 0.0, "s0.b s3.f"),
        Walk::of("t4", 1.0, "s0.b s3.g s4.h s5.e"),
    ])
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 5e-5, "{got} is not {want}");
}

#[test]
fn the_worked_example_of_the_method() {
    let analysis = analyse(&example(), |s| s.credit.step_reward = StepRewardMode::None);
    let row = |i| analysis.step_row(i);
    // Steps in order: t1 s0 s1 s2 | t2 s0 s1 s3 | t3 s0 s3 | t4 s0 s3 s4 s5.
    close(row(0).v.unwrap(), 0.4876);
    close(row(1).v.unwrap(), 0.495);
    close(row(5).v.unwrap(), 0.3267);
    for (step, want) in [(0, 0.49173), (1, 0.4975), (2, 0.66667), (5, 0.39602), (10, 0.66333)] {
        close(row(step).v_smooth.unwrap(), want);
    }
    let rtmc = [
        -0.0017, 0.4925, 0.3333, -0.0017, -0.4975, -0.3960, -0.0066, -0.3960, -0.0066, 0.5841,
        0.3267, 0.3333,
    ];
    for (step, want) in rtmc.into_iter().enumerate() {
        close(analysis.column("rtmc").unwrap().1.get(step).unwrap(), want);
        let grpo = analysis.column("grpo").unwrap().1.get(step).unwrap();
        close(grpo, if (3..8).contains(&step) { -0.8660 } else { 0.8660 });
    }
}

#[test]
fn one_rollout_acting_twice_alone_is_not_a_comparison() {
    let group =
        common::group(&[Walk::of("a", 1.0, "s0.x s1.p s1.q"), Walk::of("b", 0.0, "s2.x s3.p")]);
    let analysis = analyse(&group, |_| {});
    assert_eq!(analysis.group_row(false).evidence, [0, 0, 2, 3]);
    assert_eq!(analysis.group_row(false).branching, 0);
}

#[test]
fn evidence_classes_by_hand() {
    // s0: a takes x, b takes x and (later) y, c takes x. s1: a alone, one action.
    let group = common::group(&[
        Walk::of("a", 1.0, "s0.x s1.p"),
        Walk::of("b", 0.0, "s0.x s0.y s2.p"),
        Walk::of("c", 0.0, "s0.x s2.p"),
    ]);
    let analysis = analyse(&group, |_| {});
    let class = |step: usize| analysis.graph.evidence[step].unwrap();
    assert_eq!(class(0), Evidence::Compared); // b took y
    assert_eq!(class(1), Evidence::Single);
    assert_eq!(class(2), Evidence::Shared); // only b itself took y
    assert_eq!(class(3), Evidence::Compared); // others took x
    assert_eq!(class(4), Evidence::Shared);
}

#[test]
fn unscored_rollouts_enter_no_statistic_and_get_no_advantage() {
    let mut walks =
        vec![Walk::of("a", 1.0, "s0.x"), Walk::of("b", 0.0, "s0.y"), Walk::of("c", 1.0, "s0.x")];
    walks[2].outcome = Outcome::Error;
    let analysis = analyse(&common::group(&walks), |_| {});
    assert_eq!(analysis.basis.scored_count(), 2);
    let row = analysis.step_row(2);
    assert_eq!((row.state.rollouts, row.pair.rollouts), (2, 1));
    assert!(row.values.iter().all(Option::is_none));
    assert!(row.reason.contains("rtmc: error"));
    assert_eq!(row.evidence, None);
    assert_eq!(row.q, Some(1.0));
    assert_eq!(row.v, Some(0.5));
}

#[test]
fn the_discount_alone_flips_signs_where_the_contract_says() {
    for (successes, terminal_only) in [(4, 69), (6, 29), (7, 14)] {
        let walks: Vec<Walk> = (0..8)
            .map(|i| Walk::of(&format!("r{i}"), f64::from(u8::from(i < successes)), "s0.x"))
            .collect();
        let analysis =
            analyse(&common::group(&walks), |s| s.credit.step_reward = StepRewardMode::None);
        assert_eq!(analysis.discount_flip(0.0), Some(terminal_only));
        let shaped = [(4, None), (6, Some(70)), (7, Some(30))];
        let want = shaped.iter().find(|(k, _)| *k == successes).unwrap().1;
        assert_eq!(analysis.discount_flip(0.005), want);
    }
}

#[test]
fn derivations_of_the_worked_example_are_bit_exact() {
    check_derivations(&analyse(&example(), |_| {}));
    // Every parameter of every column at every choice it offers.
    for estimator in credscope::credit::registry() {
        let meta = estimator.meta();
        for param in meta.params {
            let values: Vec<&str> = if param.range.starts_with("number") {
                vec!["0", "0.5", "2"]
            } else {
                param.range.split('|').collect()
            };
            for value in values {
                let mut spec = ColumnSpec::new(meta.id).unwrap();
                if spec.set(param.name, value).is_ok() {
                    check_derivations(&analyse(&example(), |s| s.columns = vec![spec.clone()]));
                }
            }
        }
    }
}

fn random_group() -> impl Strategy<Value = Arc<Group>> {
    let reward = prop_oneof![Just(0.0), Just(1.0), Just(0.7), -1.0..1.0];
    let step = (0..5_u8, 0..3_u8, prop_oneof![Just(0.0), Just(0.005), -0.2..0.2]);
    let walk = (reward, prop::collection::vec(step, 0..12));
    prop::collection::vec(walk, 1..7).prop_map(|walks| {
        let walks: Vec<Walk> = walks
            .into_iter()
            .enumerate()
            .map(|(i, (reward, steps))| Walk {
                id: format!("r{i}"),
                reward,
                outcome: if reward >= 0.7 { Outcome::Success } else { Outcome::Failure },
                steps: steps
                    .into_iter()
                    .map(|(s, a, r)| (format!("s{s}"), format!("a{a}"), Some(r)))
                    .collect(),
            })
            .collect();
        common::group(&walks)
    })
}

/// REINFORCE++ runs over every scored step of the load, not of the group.
#[test]
fn a_batch_column_sees_all_groups() {
    let one = common::group(&[Walk::of("a", 1.0, "s0.x s1.y"), Walk::of("b", 0.0, "s0.x")]);
    let two = common::group(&[Walk::of("c", 1.0, "s0.x")]);
    let corpus = credscope::rollout::Corpus { groups: vec![one.clone(), two] };
    let mut settings = AnalysisSettings {
        columns: vec![ColumnSpec::new("reinforce++").unwrap()],
        ..AnalysisSettings::default()
    };
    settings.credit.step_reward = StepRewardMode::None;
    settings.batch = credscope::analysis::batch(&corpus, &settings);
    // Returns at gamma 1: 1 1 | 0 | 1; mean 3/4, squared deviations 3 * 1/16 + 9/16 = 3/4 over 3.
    let batch = settings.batch.unwrap();
    assert_eq!((batch.mean, batch.variance, batch.steps, batch.groups), (0.75, 0.25, 4, 2));
    let analysis = Analysis::new(one, &settings);
    let value = analysis.column("reinforce++").unwrap().1.get(0).unwrap();
    assert_eq!(value, 0.25 / (0.25 + 1e-8_f64).sqrt());
    check_derivations(&analysis);
}

/// A column with parameters.
fn set(id: &str, params: &[(&str, &str)]) -> ColumnSpec {
    let mut spec = ColumnSpec::new(id).unwrap();
    for (name, value) in params {
        spec.set(name, value).unwrap();
    }
    spec
}

/// Walks on a fixed graph, where state and action give the next state, or the end.
fn deterministic_group() -> impl Strategy<Value = Arc<Group>> {
    prop::collection::vec((any::<bool>(), prop::collection::vec(0..3_u8, 1..10)), 1..7).prop_map(
        |walks| {
            let walks: Vec<Walk> = walks
                .into_iter()
                .enumerate()
                .map(|(i, (success, actions))| {
                    let mut state = 0_u8;
                    let mut words = Vec::new();
                    for a in actions {
                        words.push(format!("s{state}.a{a}"));
                        state = (state * 3 + a + 1) % 5;
                    }
                    words.push(format!("s{state}.stop-{success}"));
                    Walk::of(&format!("r{i}"), f64::from(u8::from(success)), &words.join(" "))
                })
                .collect();
            common::group(&walks)
        },
    )
}

fn credit(visit: Visit, n_prior: f64, gamma: f64) -> CreditSettings {
    CreditSettings { visit, n_prior, gamma, ..CreditSettings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Identity 1: with a prior, sum_a N(s,a) A(s,a) = N n_p/(N + n_p) (V - V_prior); 0 without one.
    /// The six parts add up to A.
    #[test]
    fn values_balance_at_every_state(
        group in random_group(),
        every in any::<bool>(),
        n_prior in prop_oneof![Just(0.0), Just(2.0), 0.1..9.0],
        gamma in prop_oneof![Just(1.0), Just(0.99), 0.5..1.0],
    ) {
        let visit = if every { Visit::Every } else { Visit::Pair };
        let analysis = analyse(&group, |s| s.credit = credit(visit, n_prior, gamma));
        let table = &analysis.values;
        for state in 0..table.visits().count() as u32 {
            let v = table.state(state);
            if v.n == 0 {
                continue;
            }
            let n = f64::from(v.n);
            let smooth = table.smoothed(state).unwrap();
            let sum: f64 = analysis.graph.pairs_of(state)
                .map(|p| f64::from(table.counted(p as u32)) * (table.pair(p as u32).mean - smooth))
                .sum();
            let want = n * n_prior / (n + n_prior) * (v.mean - table.v_prior);
            prop_assert!((sum - want).abs() < 1e-9, "{sum} {want}");
        }
        let (_, column) = analysis.column("rtmc").unwrap();
        for step in 0..group.len() {
            let row = analysis.step_row(step);
            let (Some(split), Some(a)) = (row.split, column.get(step)) else { continue };
            let (c, p) = (split.comparison, split.prior);
            let sum = c.outcome + c.discount + c.shaping + p.outcome + p.discount + p.shaping;
            prop_assert!((sum - a).abs() < 1e-12, "{sum} {a}");
        }
    }

    /// Identity 2: a heavy prior leaves Q - V_prior.
    #[test]
    fn a_heavy_prior_leaves_q_minus_prior(group in random_group()) {
        let analysis = analyse(&group, |s| s.credit.n_prior = 1e15);
        for step in 0..group.len() {
            let row = analysis.step_row(step);
            let a = analysis.column("rtmc").unwrap().1.get(step).unwrap();
            prop_assert!((a - (row.q.unwrap() - row.v_prior)).abs() < 1e-9);
        }
    }

    /// The derivation of every value is the value, bit for bit, and prints as it.
    #[test]
    fn derivations_are_bit_exact(group in random_group()) {
        check_derivations(&analyse(&group, |_| {}));
        let paired = common::with_turns(&group, |i, t| usize::midpoint(t, i) as u32);
        check_derivations(&analyse(&paired, |s| s.credit.discount_per = DiscountPer::Turn));
    }

    /// Children and ending rollouts make up the parent; at most 2N - 1 rows.
    #[test]
    fn the_path_tree_adds_up(group in random_group()) {
        let analysis = analyse(&group, |_| {});
        let rows = &analysis.paths.rows;
        let walking = group.rollouts.iter().filter(|r| !r.steps.is_empty()).count();
        prop_assert!(rows.len() <= (2 * walking).saturating_sub(1).max(walking));
        for row in rows {
            let below: usize = row.children.iter().map(|&c| rows[c].members.len()).sum();
            prop_assert_eq!(below + row.ending.len(), row.members.len());
        }
        for (i, rollout) in group.rollouts.iter().enumerate() {
            for t in 0..rollout.steps.len() {
                let at = analysis.paths.row_of(i as u32, t as u32).unwrap();
                prop_assert!(rows[at].members.contains(&(i as u32)));
            }
        }
    }

    /// Identity 3: RLOO = n/(n-1) Dr. GRPO.
    #[test]
    fn rloo_is_dr_grpo_scaled(group in random_group()) {
        let analysis = analyse(&group, |_| {});
        let n = group.rollouts.len() as f64;
        if n < 2.0 {
            return Ok(());
        }
        for step in 0..group.len() {
            let of = |id: &str| analysis.column(id).unwrap().1.get(step).unwrap();
            prop_assert!((of("rloo") - n / (n - 1.0) * of("dr-grpo")).abs() < 1e-12);
        }
    }

    /// Identity 4: sum_a mu (Q - V) = 0 for Bellman values: the raw values of CRBC over the visits of
    /// a state add up to 0.
    #[test]
    fn bellman_advantages_balance(group in random_group()) {
        let analysis = analyse(&group, |s| s.columns = vec![set("crbc", &[("output", "raw")])]);
        let (_, column) = analysis.column("crbc").unwrap();
        for state in 0..analysis.graph.state_counts.len() {
            let sum: f64 = (0..group.len())
                .filter(|&s| analysis.graph.state_of(s) as usize == state)
                .map(|s| column.get(s).unwrap())
                .sum();
            prop_assert!(sum.abs() < 1e-9, "{sum}");
        }
    }

    /// Identity 5: GRAFT raw = CRBC raw when transitions are deterministic and discounts are equal.
    #[test]
    fn graft_is_crbc_on_deterministic_transitions(group in deterministic_group()) {
        let analysis = analyse(&group, |s| s.columns = vec![
            set("crbc", &[("output", "raw"), ("beta", "0.97")]),
            set("graft", &[("output", "raw"), ("gamma", "0.97")]),
        ]);
        for step in 0..group.len() {
            let of = |id: &str| analysis.column(id).unwrap().1.get(step).unwrap();
            prop_assert!((of("crbc") - of("graft")).abs() < 1e-12);
        }
    }

    /// Identity 6: at gamma 1 the differences of a rollout telescope to R - V(s_0).
    #[test]
    fn differences_telescope(group in random_group()) {
        let analysis = analyse(&group, |s| {
            s.credit.step_reward = StepRewardMode::None;
            s.columns = vec![ColumnSpec::new("tree-td").unwrap(), set("gae", &[("gamma", "1"), ("lambda", "0")])];
        });
        for (i, rollout) in group.rollouts.iter().enumerate() {
            if rollout.steps.is_empty() {
                continue;
            }
            let sum = |id: &str| -> f64 {
                rollout.steps.clone().map(|s| analysis.column(id).unwrap().1.get(s).unwrap()).sum()
            };
            let start = analysis.graph.state_of(rollout.steps.start);
            let through: Vec<f64> = (0..group.rollouts.len())
                .filter(|&j| group.rollouts[j].steps.clone().any(|s| analysis.graph.state_of(s) == start))
                .map(|j| analysis.basis.terminal[j])
                .collect();
            let v = through.iter().sum::<f64>() / through.len() as f64;
            let r = analysis.basis.terminal[i];
            prop_assert!((sum("tree-td") - (r - v)).abs() < 1e-9);
            let smooth = analysis.values.smoothed(start).unwrap();
            prop_assert!((sum("gae") - (r - smooth)).abs() < 1e-9);
        }
    }

    /// Identity 7: CRBC depth 0 = beta (Q - V) of RTMC with n_prior 0, every visit, gamma = beta and
    /// the terminal reward alone.
    #[test]
    fn crbc_at_depth_0_is_rtmc_without_a_prior(group in random_group()) {
        let analysis = analyse(&group, |s| {
            s.credit = CreditSettings {
                step_reward: StepRewardMode::None,
                ..credit(Visit::Every, 0.0, 0.93)
            };
            s.columns = vec![
                ColumnSpec::new("rtmc").unwrap(),
                set("crbc", &[("output", "raw"), ("beta", "0.93"), ("depth", "0")]),
            ];
        });
        for step in 0..group.len() {
            let of = |id: &str| analysis.column(id).unwrap().1.get(step).unwrap();
            prop_assert!((of("crbc") - 0.93 * of("rtmc")).abs() < 1e-12);
        }
    }

    /// Identity 9: other names for states, actions and rollouts change no number.
    #[test]
    fn names_do_not_matter(group in random_group()) {
        let mut renamed = (*group).clone();
        let mut symbols = credscope::rollout::Symbols::default();
        for (_, text) in group.symbols.iter() {
            symbols.intern(&format!("{}-renamed", text.chars().rev().collect::<String>()));
        }
        renamed.symbols = symbols;
        for rollout in &mut renamed.rollouts {
            rollout.id = format!("x{}", rollout.id);
        }
        let (a, b) = (analyse(&group, |_| {}), analyse(&Arc::new(renamed), |_| {}));
        for ((_, one), (_, two)) in a.columns.iter().zip(&b.columns) {
            prop_assert_eq!(one.cells().collect::<Vec<_>>(), two.cells().collect::<Vec<_>>());
        }
    }

    /// Equal scores give exactly 0 wherever the formula says so.
    #[test]
    fn uniform_groups_are_exactly_zero(reward in prop_oneof![Just(0.7), Just(0.99), 0.0..1.0], n in 1..12_usize) {
        let walks: Vec<Walk> = (0..n).map(|i| Walk {
            reward,
            ..Walk::of(&format!("r{i}"), 0.0, "s0.a s1.b")
        }).collect();
        let analysis = analyse(&common::group(&walks), |s| {
            s.credit.reward_source = credscope::credit::RewardSource::Logged(Vec::new());
            s.credit.step_reward = StepRewardMode::None;
            s.credit.gamma = 1.0;
        });
        for id in ["grpo", "dr-grpo", "rloo", "opo", "maxrl", "grpo-step", "gigpo", "hgpo", "a2agent", "salt", "tempo", "reinforce++",
            "rtmc",
            "gae"] {
            for step in 0..analysis.group.len() {
                let value = analysis.column(id).unwrap().1.get(step).unwrap();
                if n == 1 && id == "gigpo" {
                    continue;
                }
                // GiGPO, HGPO and A2Agent have a gamma of their own: the two steps differ, each group
                // of steps does not.
                prop_assert_eq!(value, 0.0, "{} at {}", id, step);
            }
        }
    }
}

/// A step without a key shares its state with nobody; the file's keys are never dropped silently.
#[test]
fn missing_state_keys_are_no_shared_state() {
    let mut group = (*common::group(&[
        Walk::of("a", 1.0, "s0.x s1.y s2.z"),
        Walk::of("b", 0.0, "s0.x s1.w s3.z"),
    ]))
    .clone();
    group.steps.state[2] = credscope::rollout::Sym::NONE;
    group.steps.state[5] = credscope::rollout::Sym::NONE;
    let group = Arc::new(group);
    let analysis =
        analyse(&group, |s| s.abstraction = Some(credscope::signature::Abstraction::Logged));
    assert_ne!(analysis.graph.state_of(2), analysis.graph.state_of(5));
    let codes: Vec<&str> = analysis.warnings.iter().map(|w| w.code).collect();
    assert!(codes.contains(&"state-keys-missing"), "{codes:?}");
    let other = analyse(&group, |s| s.abstraction = Some(credscope::signature::Abstraction::Index));
    assert!(other.warnings.iter().any(|w| w.code == "state-keys-unused"));
}

/// Rewards that a threshold turned into failures are told.
#[test]
fn graded_rewards_are_told() {
    let mut group =
        (*common::group(&[Walk::of("a", 0.75, "s0.x"), Walk::of("b", 0.25, "s0.y")])).clone();
    for rollout in &mut group.rollouts {
        rollout.outcome_source = "field reward >=1".into();
    }
    let analysis = analyse(&Arc::new(group), |_| {});
    assert!(analysis.warnings.iter().any(|w| w.code == "graded" && w.text.starts_with("2 graded")));
}
