//! GRPO (arXiv 2402.03300) and Dr. GRPO (arXiv 2503.20783): one value per rollout.

use super::algebra::Algebra;
use super::formula::{Cells, Derived, Formula, Given, Wanted, fill, scores};
use super::{Context, Meta, ParamSpec};

const SINGLETON: ParamSpec = ParamSpec {
    name: "singleton",
    default: "zero",
    range: "zero|raw",
    meaning: "a group of one: 0, or the raw score over 1 + eps as verl and rllm return it",
};
const SCORE: ParamSpec = ParamSpec {
    name: "score",
    default: "outcome",
    range: "outcome|total",
    meaning: "outcome: R; total: R plus all step rewards",
};

static GRPO_META: Meta = Meta {
    id: "grpo",
    title: "GRPO",
    formula: "(R - mean R) / (std R + eps), the same for every step",
    source: "arXiv 2402.03300",
    uses_states: false,
    params: &[
        ParamSpec {
            name: "norm",
            default: "std",
            range: "std|none",
            meaning: "std: divide by the deviation; none: centre only",
        },
        ParamSpec {
            name: "ddof",
            default: "1",
            range: "0|1",
            meaning: "taken off the count under the variance: torch.std 1, numpy.std 0",
        },
        ParamSpec {
            name: "eps",
            default: "1e-6",
            range: "number from 0",
            meaning: "keeps the quotient finite",
        },
        ParamSpec {
            name: "eps-at",
            default: "std",
            range: "std|var",
            meaning: "std: added to the deviation; var: added to the variance under the root",
        },
        SINGLETON,
        SCORE,
    ],
    reading: "ddof 1 and eps 1e-6 beside std, as verl; a uniform group and a group of one are exactly 0",
};

static DR_GRPO_META: Meta = Meta {
    id: "dr-grpo",
    title: "Dr. GRPO",
    formula: "R - mean R",
    source: "arXiv 2503.20783",
    uses_states: false,
    params: &[SINGLETON, SCORE],
    reading: "a group of one is 0",
};

/// Group-relative advantage.
pub(super) struct Grpo {
    meta: &'static Meta,
    divide: bool,
}

pub(super) static GRPO: Derived<Grpo> = Derived(Grpo { meta: &GRPO_META, divide: true });
pub(super) static DR_GRPO: Derived<Grpo> = Derived(Grpo { meta: &DR_GRPO_META, divide: false });

impl Formula for Grpo {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let scores = scores(algebra, context, params.is("score", "total"));
        let all: Vec<A::Value> = scores.iter().map(|(_, v)| v.clone()).collect();
        let alone = all.len() == 1 && params.is("singleton", "raw");
        let eps = algebra.number(params.number("eps", 1e-6));
        let mean = if alone {
            algebra.named(|| "mean, group of one".to_owned(), algebra.number(0.0))
        } else {
            algebra.mean(|| "mean R".to_owned(), &all)
        };
        let below = if !self.divide || params.is("norm", "none") {
            None
        } else if alone {
            let one = algebra.named(|| "std, group of one".to_owned(), algebra.number(1.0));
            Some(algebra.sum(vec![one, eps]))
        } else {
            let ddof = usize::from(!params.is("ddof", "0"));
            Some(if params.is("eps-at", "var") {
                let variance = algebra.variance(&all, &mean, ddof);
                algebra.named(
                    || "sqrt(variance + eps)".to_owned(),
                    algebra.sqrt(algebra.sum(vec![variance, eps])),
                )
            } else {
                algebra.sum(vec![algebra.std(&all, &mean, ddof), eps])
            })
        };
        fill(context, wanted, |step| {
            let i = context.graph.rollout_of(step);
            let own = scores.iter().find(|(k, _)| *k == i).map(|(_, v)| v.clone());
            let centred = algebra.sub(own.ok_or("unscored")?, mean.clone());
            Ok(match &below {
                None => centred,
                Some(below) => algebra.quotient(centred, below.clone()),
            })
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        let mut text = if self.divide && params.is("norm", "std") {
            format!(
                "ddof {}, eps {} in {}",
                params.text("ddof"),
                params.text("eps"),
                params.text("eps-at")
            )
        } else {
            "centre only".to_owned()
        };
        if params.is("singleton", "raw") {
            text.push_str(", singleton raw");
        }
        if params.is("score", "total") {
            text.push_str(", score total");
        }
        text
    }
}
