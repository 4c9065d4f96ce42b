//! GRPO+Step: the return of each step against the returns of the group (ROLL's step_reinforce).

use std::rc::Rc;

use super::{
    Column, Context, Estimator, Expr, Meta, Node, ParamSpec, Params, mean_node, stats, std_node,
};

static META: Meta = Meta {
    id: "grpo-step",
    title: "GRPO+Step",
    formula: "(G_t - mean G) / (std G + eps) over all steps of the group",
    source: "arXiv 2604.11037, baseline; alibaba/ROLL step_reinforce",
    uses_states: false,
    params: &[
        ParamSpec {
            name: "norm",
            default: "std",
            range: "std|mean",
            meaning: "std: centre and divide; mean: centre only",
        },
        ParamSpec {
            name: "pool",
            default: "all-steps",
            range: "all-steps|first-return",
            meaning: "the returns that give mean and deviation: of all steps, or of each rollout's first step",
        },
        ParamSpec {
            name: "ddof",
            default: "1",
            range: "0|1",
            meaning: "taken off the count",
        },
        ParamSpec {
            name: "eps",
            default: "1e-6",
            range: "number from 0",
            meaning: "beside the deviation",
        },
        ParamSpec {
            name: "gamma",
            default: "inherit",
            range: "number from 0 to 1, or inherit",
            meaning: "discount per action; inherit: --gamma",
        },
    ],
    reading: "the paper names the baseline, not its pool: all steps, as ROLL pools them",
};

/// Step returns against the group's.
pub(super) struct GrpoStep;

pub(super) static GRPO_STEP: GrpoStep = GrpoStep;

struct Pool {
    /// Indices of the steps in the pool.
    steps: Vec<usize>,
    returns: Vec<f64>,
    mean: f64,
    below: Option<f64>,
    fallback: bool,
}

impl GrpoStep {
    fn returns<'a>(context: &'a Context, params: &Params) -> std::borrow::Cow<'a, [f64]> {
        let gamma = params.number(&META, "gamma", context.settings.gamma);
        if gamma == context.settings.gamma {
            std::borrow::Cow::Borrowed(&context.returns.total)
        } else {
            std::borrow::Cow::Owned(context.basis.returns(context.group, gamma).total)
        }
    }

    fn pool(context: &Context, params: &Params, returns: &[f64]) -> Pool {
        let scored = |i: &usize| context.basis.scored.get(*i) == Some(&true);
        let ranges = || {
            (0..context.group.rollouts.len())
                .filter(scored)
                .filter_map(|i| context.group.rollouts.get(i))
                .map(|r| r.steps.clone())
        };
        let all = || ranges().flatten().collect::<Vec<usize>>();
        let first = params.text(&META, "pool") == "first-return";
        let mut steps: Vec<usize> = if first {
            ranges()
                .filter(|r| !r.is_empty())
                .map(|r| r.start)
                .collect()
        } else {
            all()
        };
        let fallback = first && steps.len() < 2;
        if fallback {
            steps = all();
        }
        let numbers: Vec<f64> = steps
            .iter()
            .filter_map(|&s| returns.get(s).copied())
            .collect();
        let mean = stats::mean(&numbers).unwrap_or(0.0);
        let below = (params.text(&META, "norm") == "std").then(|| {
            let ddof = u32::from(params.text(&META, "ddof") != "0");
            stats::variance(&numbers, mean, ddof).sqrt() + params.number(&META, "eps", 1e-6)
        });
        Pool {
            steps,
            returns: numbers,
            mean,
            below,
            fallback,
        }
    }
}

impl Estimator for GrpoStep {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn estimate(&self, context: &Context, params: &Params) -> Column {
        let returns = Self::returns(context, params);
        let pool = Self::pool(context, params, &returns);
        let equal = stats::uniform(&pool.returns);
        let mut cells = Vec::with_capacity(context.group.len());
        for (i, rollout) in context.group.rollouts.iter().enumerate() {
            let scored = context.basis.scored.get(i) == Some(&true);
            for step in rollout.steps.clone() {
                let g = returns.get(step).copied().unwrap_or(f64::NAN);
                cells.push(if !scored {
                    Err(context.unscored(i))
                } else if equal && !pool.steps.is_empty() && pool.below == Some(0.0) {
                    Ok((g - pool.mean) * 0.0)
                } else {
                    Ok(pool
                        .below
                        .map_or(g - pool.mean, |below| (g - pool.mean) / below))
                });
            }
        }
        let mut convention = match pool.below {
            Some(_) => format!(
                "ddof {}, eps {}",
                params.text(&META, "ddof"),
                super::derivation::number(params.number(&META, "eps", 1e-6))
            ),
            None => "centre only".to_owned(),
        };
        convention.push_str(", pool ");
        convention.push_str(if pool.fallback {
            "all-steps (one rollout)"
        } else {
            params.text(&META, "pool")
        });
        Column { cells, convention }
    }

    fn derive(&self, context: &Context, params: &Params, step: usize) -> Option<Rc<Node>> {
        let i = context.graph.rollout_of(step);
        if context.basis.scored.get(i) != Some(&true) {
            return None;
        }
        let returns = Self::returns(context, params);
        let pool = Self::pool(context, params, &returns);
        let leaf = |s: usize| {
            let at = context.at(s);
            Node::leaf(
                format!("G of {at}"),
                returns.get(s).copied().unwrap_or(f64::NAN),
                at,
            )
        };
        let leaves: Vec<Rc<Node>> = pool.steps.iter().map(|&s| leaf(s)).collect();
        let mean = mean_node("mean G", &leaves);
        let own = pool
            .steps
            .iter()
            .position(|&s| s == step)
            .and_then(|at| leaves.get(at).cloned())
            .unwrap_or_else(|| leaf(step));
        let centred = Expr::sub(Expr::Named(own), Expr::Named(Rc::clone(&mean)));
        let expr = match pool.below {
            None => centred,
            Some(0.0) => Expr::mul(centred, Expr::Number(0.0)),
            Some(_) => {
                let ddof = u32::from(params.text(&META, "ddof") != "0");
                let std = std_node(&leaves, &mean, ddof, None);
                let eps = params.number(&META, "eps", 1e-6);
                Expr::div(
                    centred,
                    Expr::Sum(vec![Expr::Named(std), Expr::Number(eps)]),
                )
            }
        };
        Some(Node::new("A grpo-step", expr))
    }
}
