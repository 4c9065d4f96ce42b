//! GRPO (arXiv 2402.03300) and Dr. GRPO (arXiv 2503.20783): one value per rollout.

use std::rc::Rc;

use super::{Column, Context, Estimator, Expr, Meta, Node, ParamSpec, Params, mean_node, std_node};

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
}

pub(super) static GRPO: Grpo = Grpo { meta: &GRPO_META };
pub(super) static DR_GRPO: Grpo = Grpo {
    meta: &DR_GRPO_META,
};

struct Convention {
    divide: bool,
    ddof: u32,
    eps: f64,
    eps_in_var: bool,
    raw_singleton: bool,
    total: bool,
}

impl Grpo {
    fn convention(&self, params: &Params) -> Convention {
        let text = |name: &str| params.text(self.meta, name);
        Convention {
            divide: self.meta.id == "grpo" && text("norm") == "std",
            ddof: u32::from(text("ddof") != "0"),
            eps: params.number(self.meta, "eps", 1e-6),
            eps_in_var: text("eps-at") == "var",
            raw_singleton: text("singleton") == "raw",
            total: text("score") == "total",
        }
    }

    /// The value of every scored rollout as a node, in canonical order.
    fn nodes(&self, context: &Context, params: &Params) -> Vec<(usize, Rc<Node>)> {
        let convention = self.convention(params);
        let symbol = if convention.total {
            "R + step rewards"
        } else {
            "R"
        };
        let scores: Vec<(usize, Rc<Node>)> = context
            .basis
            .scored_rollouts()
            .map(|i| {
                let id = context.group.rollouts.get(i).map_or("", |r| &r.id);
                let score = context.basis.score(context.group, i, convention.total);
                (i, Node::leaf(format!("{symbol} of {id}"), score, id))
            })
            .collect();
        let leaves: Vec<Rc<Node>> = scores.iter().map(|(_, leaf)| Rc::clone(leaf)).collect();
        let alone = leaves.len() == 1 && convention.raw_singleton;
        let (mean, std) = if alone {
            (
                Node::new("mean, group of one", Expr::Number(0.0)),
                Node::new("std, group of one", Expr::Number(1.0)),
            )
        } else {
            let mean = mean_node(&format!("mean {symbol}"), &leaves);
            let eps = convention.eps_in_var.then_some(convention.eps);
            let std = std_node(&leaves, &mean, convention.ddof, eps);
            (mean, std)
        };
        scores
            .into_iter()
            .map(|(i, leaf)| {
                let centred =
                    Expr::sub(Expr::Named(Rc::clone(&leaf)), Expr::Named(Rc::clone(&mean)));
                let below = if convention.eps_in_var && !alone {
                    Expr::Named(Rc::clone(&std))
                } else {
                    Expr::Sum(vec![
                        Expr::Named(Rc::clone(&std)),
                        Expr::Number(convention.eps),
                    ])
                };
                let expr = if !convention.divide {
                    centred
                } else if below.eval() == 0.0 {
                    // Equal scores and no eps: 0/0 by the formula, 0 by convention.
                    Expr::mul(centred, Expr::Number(0.0))
                } else {
                    Expr::div(centred, below)
                };
                (i, Node::new(format!("A {}", self.meta.id), expr))
            })
            .collect()
    }
}

impl Estimator for Grpo {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn estimate(&self, context: &Context, params: &Params) -> Column {
        let convention = self.convention(params);
        let nodes = self.nodes(context, params);
        let cells = context.per_rollout(|i| {
            nodes
                .iter()
                .find(|(k, _)| *k == i)
                .map(|(_, node)| node.value)
                .filter(|value| value.is_finite())
                .ok_or("not finite")
        });
        let mut text = if convention.divide {
            format!(
                "ddof {}, eps {} in {}",
                convention.ddof,
                super::derivation::number(convention.eps),
                if convention.eps_in_var { "var" } else { "std" }
            )
        } else {
            "centre only".to_owned()
        };
        if convention.raw_singleton {
            text.push_str(", singleton raw");
        }
        if convention.total {
            text.push_str(", score total");
        }
        Column {
            cells,
            convention: text,
        }
    }

    fn derive(&self, context: &Context, params: &Params, step: usize) -> Option<Rc<Node>> {
        let i = context.graph.rollout_of(step);
        self.nodes(context, params)
            .into_iter()
            .find(|(k, _)| *k == i)
            .map(|(_, node)| node)
    }
}
