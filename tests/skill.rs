//! Held-out skill on a process whose states are known to carry information, and on the same process
//! with the states dealt out anew; against an independent computation of the same definition.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::cast_sign_loss)]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{Walk, group};
use credscope::analysis::resample::SplitMix;
use credscope::analysis::skill::{Aggregate, GroupTerms, Verdict, depths, terms};
use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::rollout::Group;

/// Groups of 8 rollouts of 6 steps. From the second step on a rollout is on a good or a bad road; it
/// succeeds with 85 % on the good one, with 15 % on the bad one. `deal` gives the roads of a step to
/// other rollouts of the group: then a state says nothing.
fn process(groups: usize, deal: bool) -> Vec<Arc<Group>> {
    let mut random = SplitMix(7);
    let mut chance = move || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..groups)
        .map(|_| {
            let roads: Vec<bool> = (0..8).map(|_| chance() < 0.5).collect();
            let rewards: Vec<f64> = roads
                .iter()
                .map(|&good| f64::from(u8::from(chance() < if good { 0.85 } else { 0.15 })))
                .collect();
            let mut words: Vec<Vec<String>> = vec![vec!["start.go".to_owned()]; 8];
            for t in 1..6 {
                let mut seen = roads.clone();
                if deal {
                    for k in (1..8).rev() {
                        let j = (chance() * (k + 1) as f64) as usize;
                        seen.swap(k, j);
                    }
                }
                for (words, good) in words.iter_mut().zip(&seen) {
                    words.push(format!("{t}{}.go", if *good { "good" } else { "bad" }));
                }
            }
            let walks: Vec<Walk> = rewards
                .iter()
                .zip(&words)
                .enumerate()
                .map(|(i, (&reward, words))| Walk::of(&format!("r{i}"), reward, &words.join(" ")))
                .collect();
            group(&walks)
        })
        .collect()
}

fn analyse(groups: &[Arc<Group>]) -> Vec<Analysis> {
    groups.iter().map(|g| Analysis::new(Arc::clone(g), &AnalysisSettings::default())).collect()
}

fn aggregate(groups: &[Arc<Group>]) -> Aggregate {
    let found: Vec<GroupTerms> = analyse(groups).iter().filter_map(terms).collect();
    Aggregate::of(&found, 0)
}

#[test]
fn true_states_have_skill_and_dealt_out_ones_have_none() {
    let groups = process(30, false);
    let all = aggregate(&groups);
    let (skill, interval) = (all.steps.skill().unwrap(), all.interval.unwrap());
    assert!(skill > 0.1 && interval.low > 0.0, "{skill} {interval:?}");
    assert_eq!(Aggregate::verdict(all.groups, all.interval), Verdict::Informative);
    assert!(all.null.unwrap() < 0.0, "a state that says nothing scores below 0");
    assert!(all.ceiling.unwrap() > skill);
    // Nothing is known before the roads part.
    let found: Vec<GroupTerms> = analyse(&groups).iter().filter_map(terms).collect();
    let by_depth = depths(&found, 0);
    let depth = |t: usize| by_depth[t].terms.skill().unwrap();
    assert_eq!(by_depth.len(), 6);
    assert!(depth(0).abs() < 1e-12 && (1..6).all(|t| depth(t) > 0.1));

    let dealt = aggregate(&process(30, true));
    assert!(dealt.steps.skill().unwrap() <= 0.0, "{:?}", dealt.steps);
    assert_ne!(Aggregate::verdict(dealt.groups, dealt.interval), Verdict::Informative);
    // The generator deals roads with the same chances: the null of the true states is its like.
    assert!((dealt.steps.skill().unwrap() - all.null.unwrap()).abs() < 0.1);
}

/// The definition once more, from state names and maps.
#[test]
fn the_sums_are_those_of_the_definition() {
    let groups = process(6, false);
    let (mut brier, mut base) = (0.0, 0.0);
    for group in &groups {
        let wins: Vec<f64> = group.rollouts.iter().map(|r| r.reward.unwrap()).collect();
        let total: f64 = wins.iter().sum();
        if total == 0.0 || total == 8.0 {
            continue;
        }
        let mut at: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, rollout) in group.rollouts.iter().enumerate() {
            for step in rollout.steps.clone() {
                let state = group.symbols.text(group.steps.state[step]);
                let list = at.entry(state).or_default();
                if !list.contains(&i) {
                    list.push(i);
                }
            }
        }
        for (i, rollout) in group.rollouts.iter().enumerate() {
            let p0 = (total - wins[i]) / 7.0;
            for step in rollout.steps.clone() {
                let state = group.symbols.text(group.steps.state[step]);
                let others: Vec<f64> =
                    at[state].iter().filter(|&&j| j != i).map(|&j| wins[j]).collect();
                let p = (others.iter().sum::<f64>() + 2.0 * p0) / (others.len() as f64 + 2.0);
                brier += (p - wins[i]).powi(2);
                base += (p0 - wins[i]).powi(2);
            }
        }
    }
    let all = aggregate(&groups);
    assert!((all.steps.brier - brier).abs() < 1e-9 && (all.steps.base - base).abs() < 1e-9);
    assert!((all.steps.skill().unwrap() - (1.0 - brier / base)).abs() < 1e-12);
    // All rollouts are equally long: weighing rollouts changes the sums, not the ratio.
    assert!((all.rollouts.skill().unwrap() - all.steps.skill().unwrap()).abs() < 1e-12);
}

#[test]
fn few_groups_give_no_verdict_and_one_group_no_interval() {
    let few = aggregate(&process(3, false));
    assert_eq!(Aggregate::verdict(few.groups, few.interval), Verdict::TooFewGroups);
    let one = aggregate(&process(1, false)[..1]);
    assert_eq!(one.interval, None);
    // The ceiling of 8 rollouts with 4 successes: the first step tells nothing, so it grows with the
    // length.
    let long = |steps: usize| {
        let walks: Vec<Walk> = (0..8)
            .map(|i| {
                let words: Vec<String> = (0..steps).map(|t| format!("s{t}.a")).collect();
                Walk::of(&format!("r{i}"), f64::from(u8::from(i < 4)), &words.join(" "))
            })
            .collect();
        aggregate(&[group(&walks)]).ceiling.unwrap()
    };
    // Others alike 3, prior 2 of 3/7: miss of the signature (2 * 4/7 / 5)^2 against (4/7)^2: 0.16.
    assert!((long(1000) - 0.84).abs() < 1e-3, "{}", long(1000));
    assert!(long(1).abs() < 1e-12);
}
