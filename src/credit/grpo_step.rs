//! GRPO+Step: the return of each step against the returns of the group (ROLL's `step_reinforce`).

use super::algebra::Algebra;
use super::formula::{Cells, Derived, Formula, Given, Wanted, fill, scored_steps, step_leaf};
use super::{Context, Meta, ParamSpec};

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
            range: "std|mean|none",
            meaning: "std: centre and divide; mean: centre only; none: the return itself",
        },
        ParamSpec {
            name: "pool",
            default: "all-steps",
            range: "all-steps|first-return",
            meaning: "the returns that give mean and deviation: of all steps, or of each rollout's first step",
        },
        ParamSpec { name: "ddof", default: "1", range: "0|1", meaning: "taken off the count" },
        ParamSpec {
            name: "eps",
            default: "1e-6",
            range: "number from 0",
            meaning: "beside the deviation",
        },
        ParamSpec {
            name: "alone",
            default: "all-steps",
            range: "all-steps|unscaled",
            meaning: "first-return pool of one: all steps instead, or centred on it with a deviation of 1",
        },
        ParamSpec {
            name: "gamma",
            default: "inherit",
            range: "number from 0 to 1, or inherit",
            meaning: "discount per action (or turn: --discount-per); inherit: --gamma",
        },
    ],
    reading: "the paper names the baseline, not its pool: all steps, as ROLL pools them",
};

/// Step returns against the group's.
pub(super) struct GrpoStep;

pub(super) static GRPO_STEP: Derived<GrpoStep> = Derived(GrpoStep);

impl GrpoStep {
    /// The steps whose returns give mean and deviation, and whether they had to be all steps.
    fn pool(context: &Context, params: &Given) -> (Vec<usize>, bool) {
        let all = scored_steps(context);
        if !params.is("pool", "first-return") {
            return (all, false);
        }
        let first: Vec<usize> = all.iter().copied().filter(|&s| context.is_first(s)).collect();
        if first.len() < 2 && params.is("alone", "all-steps") {
            (all, true)
        } else {
            (first, false)
        }
    }
}

impl Formula for GrpoStep {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let returns = context.returns_at(params.number("gamma", context.settings.gamma));
        let leaf = |s: usize| {
            step_leaf(algebra, context, "G", s, returns.get(s).copied().unwrap_or(f64::NAN))
        };
        if params.is("norm", "none") {
            return fill(context, wanted, |step| Ok(leaf(step)));
        }
        let (pool, _) = Self::pool(context, params);
        let leaves: Vec<A::Value> = pool.iter().map(|&s| leaf(s)).collect();
        let mean = algebra.mean(|| "mean G".to_owned(), &leaves);
        let below = params.is("norm", "std").then(|| {
            let ddof = usize::from(!params.is("ddof", "0"));
            let std = if leaves.len() == 1 && params.is("alone", "unscaled") {
                algebra.named(|| "std, pool of one".to_owned(), algebra.number(1.0))
            } else {
                algebra.std(&leaves, &mean, ddof)
            };
            algebra.sum(vec![std, algebra.number(params.number("eps", 1e-6))])
        });
        fill(context, wanted, |step| {
            // One derivation shares the leaf of the pool; a table has no use for the search.
            let shared = match wanted {
                Wanted::One(_) => pool.iter().position(|&s| s == step),
                Wanted::All => None,
            };
            let own = shared.and_then(|at| leaves.get(at).cloned()).unwrap_or_else(|| leaf(step));
            let centred = algebra.sub(own, mean.clone());
            Ok(match &below {
                None => centred,
                Some(below) => algebra.quotient(centred, below.clone()),
            })
        })
    }

    fn convention(&self, context: &Context, params: &Given) -> String {
        let how = match params.text("norm") {
            "std" => format!("ddof {}, eps {}", params.text("ddof"), params.text("eps")),
            "mean" => "centre only".to_owned(),
            _ => return "the return itself".to_owned(),
        };
        let (_, fallback) = Self::pool(context, params);
        let pool = if fallback { "all-steps (one rollout)" } else { params.text("pool") };
        format!("{how}, pool {pool}")
    }
}
