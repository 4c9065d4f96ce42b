//! `--like FRAMEWORK`: the option sets that make columns repeat a training framework's numbers.
//!
//! One table, used by the program and by the test that compares it with numbers of those frameworks.
//! The commits that the numbers were taken from stand beside each framework.

/// Parameters of a column, as `--set COLUMN.NAME=VALUE` takes them.
pub type OptionList = &'static [(&'static str, &'static str)];

/// How one column follows a framework.
#[derive(Debug, Clone, Copy)]
pub struct OptionSet {
    /// Id of the column.
    pub column: &'static str,
    /// What the framework calls it: the estimator, with the option where it has several forms.
    pub name: &'static str,
    /// What is set.
    pub params: OptionList,
}

/// A training framework.
#[derive(Debug, Clone, Copy)]
pub struct Framework {
    /// Name, as in `--like NAME`.
    pub id: &'static str,
    /// Repository, commit and file.
    pub source: &'static str,
    /// What to know: conventions that are no parameter of a column.
    pub note: &'static str,
    /// Option sets. The first of a column is the one that `--like` puts in force; the others are
    /// further forms of it in the framework.
    pub sets: &'static [OptionSet],
}

impl Framework {
    /// The framework of this name.
    #[must_use]
    pub fn find(id: &str) -> Option<&'static Self> {
        FRAMEWORKS.iter().find(|f| f.id == id)
    }

    /// What is set for a column: its first option set, or nothing.
    #[must_use]
    pub fn params(&self, column: &str) -> OptionList {
        self.sets.iter().find(|s| s.column == column).map_or(&[], |s| s.params)
    }

    /// The option set of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'static OptionSet> {
        self.sets.iter().find(|s| s.name == name)
    }
}

const fn set(column: &'static str, name: &'static str, params: OptionList) -> OptionSet {
    OptionSet { column, name, params }
}

/// All frameworks, in the order of help.
pub static FRAMEWORKS: &[Framework] = &[
    Framework {
        id: "verl",
        source: "volcengine/verl@b178a3cd verl/trainer/ppo/core_algos.py",
        note: "scores are sums of token rewards: with step rewards use score = total; gae stands before verl's whitening",
        sets: &[
            set(
                "grpo",
                "grpo",
                &[("ddof", "1"), ("eps", "1e-6"), ("eps-at", "std"), ("singleton", "raw")],
            ),
            set("dr-grpo", "grpo norm_adv_by_std_in_grpo=False", &[("singleton", "raw")]),
            set("rloo", "rloo", &[("singleton", "raw")]),
            set("rloo", "rloo_vectorized", &[("singleton", "zero")]),
            set("opo", "opo", &[("singleton", "raw")]),
            set(
                "reinforce++",
                "reinforce_plus_plus",
                &[("gamma", "inherit"), ("ddof", "1"), ("whiten", "batch")],
            ),
            set(
                "reinforce++",
                "reinforce_plus_plus_baseline",
                &[("baseline", "group"), ("ddof", "1"), ("whiten", "batch")],
            ),
            set(
                "reinforce++",
                "reinforce_plus_plus returns",
                &[("gamma", "inherit"), ("whiten", "off")],
            ),
            set("gae", "gae", &[("gamma", "inherit"), ("lambda", "1"), ("values", "logged")]),
        ],
    },
    Framework {
        id: "trl",
        source: "huggingface/trl@f2cd5771 trl/trainer/grpo_trainer.py, rloo_trainer.py",
        note: "eps 1e-4 beside the deviation",
        sets: &[
            set("grpo", "grpo scale_rewards=group", &[("ddof", "1"), ("eps", "1e-4")]),
            set("dr-grpo", "grpo scale_rewards=none", &[]),
            set("rloo", "rloo", &[]),
            set("rloo", "rloo normalize_advantages", &[("std", "group"), ("eps", "1e-4")]),
        ],
    },
    Framework {
        id: "roll",
        source: "alibaba/ROLL@8eb27cc2 roll/pipeline/agentic/utils.py",
        note: "statistics run over step rows, so that long rollouts weigh more; the discount is --gamma",
        sets: &[
            set("grpo-step", "step_reinforce mean_std", &[("pool", "all-steps"), ("norm", "std")]),
            set("grpo-step", "step_reinforce mean", &[("pool", "all-steps"), ("norm", "mean")]),
            set("grpo-step", "step_reinforce identity", &[("norm", "none")]),
            set(
                "gigpo",
                "gigpo mean_std",
                &[
                    ("gamma", "inherit"),
                    ("norm", "mean_std"),
                    ("score", "total"),
                    ("episode", "per-step"),
                ],
            ),
            set(
                "gigpo",
                "gigpo mean",
                &[
                    ("gamma", "inherit"),
                    ("norm", "mean"),
                    ("score", "total"),
                    ("episode", "per-step"),
                ],
            ),
            set(
                "gigpo",
                "gigpo identity",
                &[
                    ("gamma", "inherit"),
                    ("norm", "none"),
                    ("score", "total"),
                    ("episode", "per-step"),
                ],
            ),
            set(
                "reinforce++",
                "agentic_reinforce_return",
                &[("gamma", "inherit"), ("whiten", "off")],
            ),
        ],
    },
    Framework {
        id: "verl-agent",
        source: "langfengQ/verl-agent@37aec781 gigpo/core_gigpo.py, recipe/hgpo, recipe/GraphGPO",
        note: "an episode is weighed once per step row; depths of HGPO weigh k + 2 beside a base group of 1, values of exactly 0 are dropped",
        sets: &[
            set(
                "gigpo",
                "gigpo mean_std_norm",
                &[
                    ("gamma", "0.95"),
                    ("norm", "mean_std"),
                    ("episode", "per-step"),
                    ("singleton", "zero"),
                ],
            ),
            set(
                "gigpo",
                "gigpo mean_norm",
                &[
                    ("gamma", "0.95"),
                    ("norm", "mean"),
                    ("episode", "per-step"),
                    ("singleton", "zero"),
                ],
            ),
            set(
                "gigpo",
                "gigpo mean_std_norm cross_steps=False",
                &[
                    ("gamma", "0.95"),
                    ("norm", "mean_std"),
                    ("episode", "rollout"),
                    ("singleton", "raw"),
                ],
            ),
            set(
                "gigpo",
                "gigpo mean_norm cross_steps=False",
                &[
                    ("gamma", "0.95"),
                    ("norm", "mean"),
                    ("episode", "rollout"),
                    ("singleton", "raw"),
                ],
            ),
            set(
                "hgpo",
                "hgpo mean_std_norm base_group=False",
                &[("norm", "mean_std"), ("base", "off"), ("weight", "k+2"), ("zeros", "drop")],
            ),
            set(
                "hgpo",
                "hgpo mean_std_norm base_group=True",
                &[("norm", "mean_std"), ("base", "per-step"), ("weight", "k+2"), ("zeros", "drop")],
            ),
            set(
                "hgpo",
                "hgpo mean_norm base_group=False",
                &[("norm", "mean"), ("base", "off"), ("weight", "k+2"), ("zeros", "drop")],
            ),
            set(
                "hgpo",
                "hgpo mean_norm base_group=True",
                &[("norm", "mean"), ("base", "per-step"), ("weight", "k+2"), ("zeros", "drop")],
            ),
            set(
                "graph-gpo",
                "graphgpo mean_std_norm",
                &[
                    ("norm", "mean_std"),
                    ("episode", "per-step"),
                    ("exponent", "d"),
                    ("episode-score", "r-succ"),
                ],
            ),
            set(
                "graph-gpo",
                "graphgpo mean_norm",
                &[
                    ("norm", "mean"),
                    ("episode", "per-step"),
                    ("exponent", "d"),
                    ("episode-score", "r-succ"),
                ],
            ),
        ],
    },
    Framework {
        id: "rllm",
        source: "rllm-org/rllm@9beb6e0f rllm/trainer/algorithms/rl_algo.py",
        note: "numpy.std: ddof 0",
        sets: &[
            set("grpo", "grpo", &[("ddof", "0"), ("eps", "1e-6"), ("singleton", "raw")]),
            // Centred by the group, then whitened over the batch: the group as the batch is GRPO.
            set("grpo", "reinforce++_baseline, one group a batch", &[("ddof", "0")]),
            set("dr-grpo", "grpo without std", &[("singleton", "raw")]),
            set("rloo", "rloo", &[("singleton", "raw")]),
        ],
    },
    Framework {
        id: "skyrl",
        source: "NovaSky-AI/SkyRL@a9564572 skyrl/backends/skyrl_train/utils/ppo_utils.py",
        note: "scores are sums of token rewards: with step rewards use score = total",
        sets: &[
            set("grpo", "grpo", &[("ddof", "1"), ("eps", "1e-6"), ("singleton", "raw")]),
            set("maxrl", "maxrl", &[("eps", "1e-6"), ("singleton", "raw")]),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credit::ColumnSpec;

    #[test]
    fn every_option_fits_its_column_and_every_name_is_unique() {
        for framework in FRAMEWORKS {
            for (at, one) in framework.sets.iter().enumerate() {
                let mut spec = ColumnSpec::new(one.column).unwrap();
                for (name, value) in one.params {
                    spec.set(name, value).unwrap();
                }
                assert!(framework.sets[..at].iter().all(|s| s.name != one.name), "{}", one.name);
            }
        }
    }
}
