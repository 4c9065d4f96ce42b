//! Numbers of independent implementations, every variant of every file: each is claimed by a column
//! with options, or stands in the list of what no column claims yet.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::credit::{
    ColumnSpec, CreditSettings, Framework, Prior, RewardSource, StepRewardMode, Visit,
};
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

#[allow(clippy::unnecessary_wraps)] // an arm among arms that may claim nothing
fn column(id: &str, params: &[(&str, &str)]) -> Option<ColumnSpec> {
    let mut spec = ColumnSpec::new(id).unwrap();
    for (name, value) in params {
        spec.set(name, value).unwrap();
    }
    Some(spec)
}

/// A framework's option set of the product's own table, and what a golden varies beside it.
fn like(framework: &str, name: &str, more: &[(&str, &str)]) -> Option<ColumnSpec> {
    let set = Framework::find(framework)
        .unwrap()
        .named(name)
        .unwrap_or_else(|| panic!("{framework} has no `{name}`"));
    let mut spec = column(set.column, set.params)?;
    for (name, value) in more {
        spec.set(name, value).unwrap();
    }
    Some(spec)
}

/// The column of one variant of a training framework's file, by the product's table.
fn framework(prefix: &str, variant: &str, score: &str) -> Option<ColumnSpec> {
    let scored: &[(&str, &str)] = &[("score", score)];
    match (prefix, variant) {
        ("verl" | "rllm" | "skyrl", "grpo") => like(prefix, "grpo", scored),
        ("verl", "grpo_no_std(dr_grpo)") => {
            like("verl", "grpo norm_adv_by_std_in_grpo=False", scored)
        }
        ("verl", "rloo" | "rloo_vectorized" | "opo") => like("verl", variant, scored),
        ("verl", "reinforce++_baseline") => like("verl", "reinforce_plus_plus_baseline", scored),
        ("verl", v) if v.starts_with("reinforce++_returns") => {
            like("verl", "reinforce_plus_plus returns", &[])
        }
        ("verl", v) if v.starts_with("reinforce++") => like("verl", "reinforce_plus_plus", &[]),
        ("verl", v) if v.starts_with("gae_returns") => {
            like("verl", "gae", &[("lambda", between(v, "lam=").unwrap())])
        }
        ("rllm", "grpo_no_std") => like("rllm", "grpo without std", scored),
        ("rllm", "rloo") => like("rllm", "rloo", scored),
        ("rllm", "reinforce++_baseline(group as batch)") => {
            like("rllm", "reinforce++_baseline, one group a batch", scored)
        }
        ("skyrl", "maxrl") => like("skyrl", "maxrl", scored),
        ("trl", v) => like("trl", &v.replace('[', " ").replace(']', ""), scored),
        ("roll", v) => {
            let norm = ["mean_std", "mean", "identity"]
                .into_iter()
                .find(|norm| v.contains(&format!("{norm}]")));
            match v {
                "step_returns" | "agentic_reinforce_return" => {
                    like("roll", "agentic_reinforce_return", &[])
                }
                _ if v.starts_with("step_reinforce") => {
                    like("roll", &format!("step_reinforce {}", norm?), &[])
                }
                _ => {
                    let more: &[(&str, &str)] = match v {
                        _ if v.starts_with("gigpo_step") => &[("episode", "off")],
                        _ if v.starts_with("gigpo_episode") => &[("omega", "0")],
                        _ => &[],
                    };
                    like("roll", &format!("gigpo {}", norm?), more)
                }
            }
        }
        _ => verl_agent(prefix, variant),
    }
}

fn verl_agent(prefix: &str, v: &str) -> Option<ColumnSpec> {
    let norm = if v.contains("mean_std_norm") { "mean_std_norm" } else { "mean_norm" };
    match prefix {
        "gigpo" if v == "step_returns" => {
            column("reinforce++", &[("gamma", "inherit"), ("whiten", "off")])
        }
        "gigpo" => {
            let cross = if v.contains("cross_steps=False") { " cross_steps=False" } else { "" };
            let score = if v.contains("ep=total") { "total" } else { "outcome" };
            let mut more = vec![("gamma", "inherit"), ("score", score)];
            if v.starts_with("step[") {
                more.push(("episode", "off"));
            }
            if v.starts_with("episode") {
                more.push(("omega", "0"));
            }
            like("verl-agent", &format!("gigpo {norm}{cross}"), &more)
        }
        "hgpo" => {
            let base = if v.contains("base_group=True") { "True" } else { "False" };
            let more = [("gamma", "inherit"), ("depth", between(v, "K=").unwrap())];
            like("verl-agent", &format!("hgpo {norm} base_group={base}"), &more)
        }
        "graphgpo" => {
            let distance = if v.contains("distance=True") { "on" } else { "off" };
            let output = if v.starts_with("path") { "path" } else { "final" };
            let more = [
                ("w", between(v, "omega=").unwrap()),
                ("normalize-distance", distance),
                ("output", output),
                ("w-e", between(v, "ep_w=").unwrap_or("1")),
            ];
            like("verl-agent", &format!("graphgpo {norm}"), &more)
        }
        _ => None,
    }
}

/// Rules of single papers and ports, which are no framework.
fn paper(prefix: &str, variant: &str, credit: &mut CreditSettings) -> Option<ColumnSpec> {
    match (prefix, variant) {
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
        ("igpo", v) => {
            let norm = if v.contains("no_std") { "mean" } else { "std" };
            column("grpo-step", &[("pool", "first-return"), ("norm", norm), ("alone", "unscaled")])
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
    }
}

fn claim(prefix: &str, variant: &str, score: &str, file_gamma: Option<f64>) -> Option<Claim> {
    let mut credit = CreditSettings {
        reward_source: RewardSource::Logged(Vec::new()),
        step_reward: StepRewardMode::Logged,
        ..CreditSettings::default()
    };
    if let Some(gamma) = file_gamma.or_else(|| between(variant, "gamma=")?.parse().ok()) {
        credit.gamma = gamma;
    }
    // These follow returns: in files of outcomes alone there are no step rewards.
    let returns = variant.starts_with("reinforce++[")
        || variant.starts_with("reinforce++_returns")
        || variant.starts_with("gae")
        || prefix == "igpo";
    if returns && ["verl", "igpo"].contains(&prefix) && score == "outcome" {
        credit.step_reward = StepRewardMode::None;
    }
    let column =
        framework(prefix, variant, score).or_else(|| paper(prefix, variant, &mut credit))?;
    Some(Claim { column, credit })
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
            assert_eq!(expected.len(), column.cells().count(), "{name}: {variant}");
            for (step, want) in expected.iter().enumerate() {
                // These variants are returns: the advantage and the critic's value.
                let critic = if variant.starts_with("gae_returns") {
                    group.steps.values[0].1[step].unwrap()
                } else {
                    0.0
                };
                let got = column.get(step).unwrap_or(f64::NAN) + critic;
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
