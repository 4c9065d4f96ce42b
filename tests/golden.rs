//! Numbers of independent implementations, every variant of every file: each is claimed by a column
//! with options, or stands in the list of what no column claims yet.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{ColumnSpec, CreditSettings, Prior, RewardSource, StepRewardMode, Visit};
use credscope::rollout::{Group, Outcome};
use credscope::signature::Abstraction;
use serde_json::Value;

/// What no column claims, by prefix of the file and of the variant, with the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("verl", "grpo_passk", "pass@k is no step-level advantage"),
    ("verl", "gpg", "batch-scaled policy gradient, no column"),
    ("verl", "gae_whitened", "whitening over the batch, no column"),
    ("gigpo_similarity", "", "greedy text similarity, no abstraction of ours"),
    ("treegrpo", "tree_grpo", "the trees are assigned by row number, the group holds no forks"),
    ("treegrpo", "grpo_per_token", "see tree_grpo"),
];

/// Files that hold no per-step numbers of a group.
const OTHER_FILES: &[&str] = &["fragile_float32.json", "sig_primerl_bash.json"];

struct Claim {
    column: ColumnSpec,
    credit: CreditSettings,
}

fn between<'a>(text: &'a str, left: &str) -> Option<&'a str> {
    let rest = &text[text.find(left)? + left.len()..];
    Some(&rest[..rest.find([',', ']']).unwrap_or(rest.len())])
}

#[allow(clippy::too_many_lines)] // one arm per source
fn claim(prefix: &str, variant: &str, score: &str, file_gamma: Option<f64>) -> Option<Claim> {
    let mut credit = CreditSettings {
        reward_source: RewardSource::Logged(Vec::new()),
        step_reward: StepRewardMode::Logged,
        ..CreditSettings::default()
    };
    if let Some(gamma) = between(variant, "gamma=") {
        credit.gamma = gamma.parse().unwrap();
    }
    let column = |id: &str, params: &[(&str, &str)]| {
        let mut spec = ColumnSpec::new(id).unwrap();
        for (name, value) in params {
            spec.set(name, value).unwrap();
        }
        Some(spec)
    };
    let spec = match (prefix, variant) {
        ("verl" | "rllm" | "skyrl", "grpo") => column(
            "grpo",
            &[
                ("singleton", "raw"),
                ("ddof", if prefix == "rllm" { "0" } else { "1" }),
                ("score", score),
            ],
        ),
        ("verl", "grpo_no_std(dr_grpo)") | ("rllm", "grpo_no_std") => {
            column("dr-grpo", &[("singleton", "raw"), ("score", score)])
        }
        ("trl", "grpo[scale_rewards=group]") => {
            column("grpo", &[("eps", "1e-4"), ("score", score)])
        }
        ("trl", "grpo[scale_rewards=none]") => column("dr-grpo", &[("score", score)]),
        ("ref_rtmc", v) if v.starts_with("grpo_step") => column(
            "grpo-step",
            &[("pool", if v.contains("G0") { "first-return" } else { "all-steps" })],
        ),
        ("ref_rtmc", v) if v.starts_with("rtmc") => {
            credit.n_prior = between(v, "n_prior=").unwrap().parse().unwrap();
            credit.visit = if v.contains("visit=every") { Visit::Every } else { Visit::Pair };
            credit.prior = if v.contains("mean_return0") { Prior::Return0 } else { Prior::Rate };
            column("rtmc", &[])
        }
        ("rtmc_port", v) if v.starts_with("rtmc") => {
            credit.n_prior = between(v, "n_prior=").unwrap().parse().unwrap();
            credit.step_reward = StepRewardMode::None;
            credit.prior = Prior::Mean;
            column(
                "rtmc",
                &[("normalize", if v.contains("normalize=True") { "on" } else { "off" })],
            )
        }
        ("verl" | "rllm", "rloo") => column("rloo", &[("singleton", "raw"), ("score", score)]),
        ("verl", "rloo_vectorized") | ("trl", "rloo") => column("rloo", &[("score", score)]),
        ("trl", "rloo[normalize_advantages]") => {
            column("rloo", &[("score", score), ("std", "group")])
        }
        ("skyrl", "maxrl") => {
            column("maxrl", &[("eps", "1e-6"), ("singleton", "raw"), ("score", score)])
        }
        ("verl", "opo") => column("opo", &[("singleton", "raw"), ("score", score)]),
        ("verl", "reinforce++_baseline") => {
            column("reinforce++", &[("baseline", "group"), ("score", score)])
        }
        // Centred by the group and whitened over the same group: GRPO with ddof 0.
        ("rllm", "reinforce++_baseline(group as batch)") => {
            column("grpo", &[("ddof", "0"), ("score", score)])
        }
        ("verl", v) if v.starts_with("reinforce++") => {
            let whiten = if v.contains("returns") { "off" } else { "group" };
            if score == "outcome" {
                credit.step_reward = StepRewardMode::None;
            }
            column("reinforce++", &[("gamma", "inherit"), ("whiten", whiten)])
        }
        ("verl", v) if v.starts_with("gae_returns") => {
            if score == "outcome" {
                credit.step_reward = StepRewardMode::None;
            }
            column("gae", &[("lambda", between(v, "lam=").unwrap()), ("values", "logged")])
        }
        ("igpo", v) => {
            if score == "outcome" {
                credit.step_reward = StepRewardMode::None;
            }
            let norm = if v.contains("no_std") { "mean" } else { "std" };
            column("grpo-step", &[("pool", "first-return"), ("norm", norm), ("alone", "unscaled")])
        }
        ("roll", v) => {
            credit.gamma = file_gamma?;
            let norm = |list: &str| match list {
                _ if list.contains("mean_std]") => Some("std"),
                _ if list.contains("mean]") => Some("mean"),
                _ if list.contains("identity]") => Some("none"),
                _ => None,
            };
            if v == "step_returns" || v == "agentic_reinforce_return" {
                column("reinforce++", &[("gamma", "inherit"), ("whiten", "off")])
            } else if v.starts_with("step_reinforce") {
                column("grpo-step", &[("norm", norm(v)?)])
            } else {
                let norm = match norm(v)? {
                    "std" => "mean_std",
                    other => other,
                };
                let episode = if v.starts_with("gigpo_step") { "off" } else { "per-step" };
                let omega = if v.starts_with("gigpo_episode") { "0" } else { "1" };
                column(
                    "gigpo",
                    &[
                        ("gamma", "inherit"),
                        ("norm", norm),
                        ("score", "total"),
                        ("episode", episode),
                        ("omega", omega),
                    ],
                )
            }
        }
        ("gigpo", v) => {
            credit.gamma = file_gamma?;
            let norm = if v.contains("mean_std_norm") { "mean_std" } else { "mean" };
            let score = if v.contains("ep=total") { "total" } else { "outcome" };
            let episode = match v {
                _ if v.starts_with("step[") => "off",
                _ if v.contains("cross_steps=False") => "rollout",
                _ => "per-step",
            };
            let omega = if v.starts_with("episode") { "0" } else { "1" };
            if v == "step_returns" {
                column("reinforce++", &[("gamma", "inherit"), ("whiten", "off")])
            } else {
                column(
                    "gigpo",
                    &[
                        ("gamma", "inherit"),
                        ("norm", norm),
                        ("score", score),
                        ("episode", episode),
                        ("omega", omega),
                        ("singleton", if episode == "per-step" { "zero" } else { "raw" }),
                    ],
                )
            }
        }
        ("hgpo", v) => {
            credit.gamma = file_gamma?;
            let norm = if v.contains("mean_std_norm") { "mean_std" } else { "mean" };
            let base = if v.contains("base_group=True") { "per-step" } else { "off" };
            column(
                "hgpo",
                &[
                    ("gamma", "inherit"),
                    ("norm", norm),
                    ("base", base),
                    ("depth", between(v, "K=").unwrap()),
                    ("weight", "k+2"),
                    ("zeros", "drop"),
                ],
            )
        }
        ("a2agent", v) => {
            let norm = if v.contains("mean_std_norm") { "mean_std" } else { "mean" };
            let base = if v.contains("base=True") { "return0" } else { "off" };
            let key = if v.contains("state_action") { "action" } else { "previous" };
            column(
                "a2agent",
                &[
                    ("gamma", "inherit"),
                    ("norm", norm),
                    ("base", base),
                    ("key", key),
                    ("depth", between(v, "K=").unwrap()),
                    ("weight", "k+2"),
                    ("zeros", "drop"),
                    ("score", "total"),
                ],
            )
        }
        ("rewardflow", v) => {
            let norm = if v.contains("mean_std_norm") { "mean_std" } else { "mean" };
            if v.starts_with("step_reward") {
                column("reward-flow", &[("gamma", "inherit"), ("output", "gain")])
            } else {
                column(
                    "reward-flow",
                    &[("gamma", "inherit"), ("norm", norm), ("episode", "per-step")],
                )
            }
        }
        ("graphgpo", v) => {
            let norm = if v.contains("mean_std_norm") { "mean_std" } else { "mean" };
            let distance = if v.contains("distance=True") { "on" } else { "off" };
            let output = if v.starts_with("path") { "path" } else { "final" };
            column(
                "graph-gpo",
                &[
                    ("w", between(v, "omega=").unwrap()),
                    ("normalize-distance", distance),
                    ("norm", norm),
                    ("output", output),
                    ("episode", "per-step"),
                    ("exponent", "d"),
                    ("episode-score", "r-succ"),
                    ("w-e", between(v, "ep_w=").unwrap_or("1")),
                ],
            )
        }
        ("graft", _) => {
            column("graft", &[("gamma", "inherit"), ("output", "raw"), ("ends", "graded")])
        }
        ("ref_crbc", v) => {
            let output = match v {
                _ if v.starts_with("crbc_raw") => "raw",
                _ if v.starts_with("crbc_norm") => "norm",
                _ => "final",
            };
            column(
                "crbc",
                &[
                    ("beta", between(v, "beta=").unwrap()),
                    ("depth", between(v, "K=").unwrap_or("inf")),
                    ("sigma-min", between(v, "sigma_min=").unwrap_or("1e-6")),
                    ("output", output),
                ],
            )
        }
        _ => None,
    }?;
    Some(Claim { column: spec, credit })
}

fn walks(group: &Value) -> Vec<common::Walk> {
    let graded = group["id"] == "graded";
    group["rollouts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            let reward = r["reward"].as_f64().unwrap();
            let success = if graded { reward > 0.0 } else { reward >= 1.0 };
            common::Walk {
                id: r["id"].as_str().unwrap().to_owned(),
                reward,
                outcome: if success { Outcome::Success } else { Outcome::Failure },
                steps: r["steps"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|s| {
                        let text = |key: &str| s[key].as_str().unwrap().to_owned();
                        (text("state"), text("action"), s["reward"].as_f64())
                    })
                    .collect(),
            }
        })
        .collect()
}

/// The fixed values that the critic's goldens were made with.
fn add_critic(group: &mut Group) {
    let mut values = Vec::new();
    for (i, rollout) in group.rollouts.iter().enumerate() {
        values.extend((0..rollout.steps.len()).map(|t| Some(0.1 * ((7 * i + 3 * t) % 10) as f64)));
    }
    group.steps.values = vec![("critic".to_owned(), values)];
}

#[test]
fn every_golden_variant_is_claimed_and_met() {
    let Some(folder) = common::golden() else {
        return;
    };
    let mut claimed: BTreeMap<String, u32> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if OTHER_FILES.contains(&name) {
            continue;
        }
        let prefix = name.split("__").next().unwrap();
        let score = if name.ends_with("__total.json") { "total" } else { "outcome" };
        let file_gamma =
            name.rsplit_once("__g").and_then(|(_, g)| g.strip_suffix(".json")?.parse().ok());
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut group = common::group(&walks(&file["group"]));
        add_critic(Arc::make_mut(&mut group));
        for (variant, expected) in file["expected"].as_object().unwrap() {
            let Some(claim) = claim(prefix, variant, score, file_gamma) else {
                let allowed =
                    ALLOWED.iter().any(|(p, v, _)| *p == prefix && variant.starts_with(v));
                if !allowed {
                    failures.push(format!("{name}: nobody claims {variant}"));
                }
                continue;
            };
            // These sources hold their rewards in float32.
            let double = ["graft", "ref_crbc", "ref_rtmc", "rtmc_port"].contains(&prefix);
            let tolerance = if double { 1e-12 } else { 2e-5 };
            let settings = AnalysisSettings {
                abstraction: Some(Abstraction::Logged),
                credit: claim.credit,
                columns: vec![claim.column.clone()],
                ..AnalysisSettings::default()
            };
            let analysis = Analysis::new(group.clone(), &settings);
            let (_, column) = analysis.column(&claim.column.name).unwrap();
            let expected: Vec<f64> = expected
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|r| r.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()))
                .collect();
            assert_eq!(expected.len(), column.cells.len(), "{name}: {variant}");
            for (step, want) in expected.iter().enumerate() {
                // These variants are returns: the advantage and the critic's value.
                let critic = if variant.starts_with("gae_returns") {
                    group.steps.values[0].1[step].unwrap()
                } else {
                    0.0
                };
                let got = column.cells[step].unwrap_or(f64::NAN) + critic;
                if got.is_nan() || (got - want).abs() > tolerance {
                    failures.push(format!("{name}: {variant}: step {step}: {got} is not {want}"));
                }
            }
            *claimed.entry(format!("{prefix} by {}", claim.column.name)).or_default() += 1;
        }
    }
    for (what, count) in &claimed {
        println!("{count:4} variants of {what}");
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    for needed in
        ["ref_rtmc by rtmc", "rtmc_port by rtmc", "verl by grpo", "trl by dr-grpo", "rllm by grpo"]
    {
        assert!(claimed.contains_key(needed), "nothing of {needed} was found");
    }
}
