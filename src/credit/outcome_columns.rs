//! Columns of one value per rollout besides GRPO: RLOO, `MaxRL`, OPO.

use super::algebra::Algebra;
use super::formula::{Cells, Derived, Formula, Given, Wanted, fill, scores};
use super::{Context, Meta, ParamSpec};

const SCORE: ParamSpec = ParamSpec {
    name: "score",
    default: "outcome",
    range: "outcome|total",
    meaning: "outcome: R; total: R plus all step rewards",
};
const SINGLETON: ParamSpec = ParamSpec {
    name: "singleton",
    default: "zero",
    range: "zero|raw",
    meaning: "a group of one: 0, or the raw score as some frameworks return it",
};

/// The value of a rollout among the scored ones.
fn own<V: Clone>(scores: &[(usize, V)], context: &Context, step: usize) -> Option<(usize, V)> {
    let rollout = context.graph.rollout_of(step);
    scores.iter().find(|(i, _)| *i == rollout).cloned()
}

fn values<V: Clone>(scores: &[(usize, V)]) -> Vec<V> {
    scores.iter().map(|(_, v)| v.clone()).collect()
}

/// Repeats one value per rollout over its steps.
fn per_rollout<V: Clone>(
    context: &Context,
    wanted: Wanted,
    mut value: impl FnMut(usize) -> Result<V, super::Missing>,
) -> Cells<V> {
    let mut last: Option<(usize, Result<V, super::Missing>)> = None;
    fill(context, wanted, |step| {
        let rollout = context.graph.rollout_of(step);
        match &last {
            Some((i, cell)) if *i == rollout => cell.clone(),
            _ => {
                let cell = value(step);
                last = Some((rollout, cell.clone()));
                cell
            }
        }
    })
}

static RLOO_META: Meta = Meta {
    id: "rloo",
    title: "RLOO",
    formula: "n/(n-1) (R - mean R): R against the mean of the others",
    source: "arXiv 2402.14740",
    uses_states: false,
    params: &[
        ParamSpec {
            name: "std",
            default: "none",
            range: "none|loo|group",
            meaning: "none; loo: divided by the deviation of the others (ddof 1), unscaled where that is 0; group: the values centred and divided by their deviation plus eps, as trl's normalize_advantages",
        },
        ParamSpec {
            name: "eps",
            default: "1e-4",
            range: "number from 0",
            meaning: "beside the deviation, std = group",
        },
        SINGLETON,
        SCORE,
    ],
    reading: "a group of one is 0",
};

/// REINFORCE leave-one-out.
pub(super) struct Rloo;
pub(super) static RLOO: Derived<Rloo> = Derived(Rloo);

impl Rloo {
    fn plain<A: Algebra>(
        algebra: &A,
        scores: &[A::Value],
        mean: &A::Value,
        own: A::Value,
        raw: bool,
    ) -> A::Value {
        let n = scores.len();
        if n == 1 {
            return if raw { own } else { algebra.sub(own.clone(), own) };
        }
        let factor = algebra.div(algebra.count(n), algebra.sub(algebra.count(n), algebra.count(1)));
        algebra.mul(factor, algebra.sub(own, mean.clone()))
    }
}

impl Formula for Rloo {
    fn meta(&self) -> &'static Meta {
        &RLOO_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let scores = scores(algebra, context, params.is("score", "total"));
        let all = values(&scores);
        let mean = algebra.mean(|| "mean R".to_owned(), &all);
        let raw = params.is("singleton", "raw");
        let eps = params.number("eps", 1e-4);
        let spread = params.is("std", "group").then(|| {
            let plain: Vec<A::Value> =
                all.iter().map(|x| Self::plain(algebra, &all, &mean, x.clone(), raw)).collect();
            let centre = algebra.mean(|| "mean of the values".to_owned(), &plain);
            let std = algebra.std(&plain, &centre, 1);
            (centre, std)
        });
        per_rollout(context, wanted, |step| {
            let (i, x) = own(&scores, context, step).ok_or("unscored")?;
            let plain = Self::plain(algebra, &all, &mean, x, raw);
            if let Some((centre, std)) = &spread {
                let below = algebra.sum(vec![std.clone(), algebra.number(eps)]);
                let centred = algebra.sub(plain, centre.clone());
                return Ok(algebra.quotient(centred, below));
            }
            if params.is("std", "loo") {
                let others: Vec<A::Value> =
                    scores.iter().filter(|(j, _)| *j != i).map(|(_, v)| v.clone()).collect();
                let centre = algebra.mean(|| "mean R of the others".to_owned(), &others);
                if others.len() > 1 {
                    let std = algebra.std(&others, &centre, 1);
                    if algebra.get(&std) > 0.0 {
                        return Ok(algebra.div(plain, std));
                    }
                }
            }
            Ok(plain)
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        match params.text("std") {
            "none" => "centre only".to_owned(),
            other => format!("std {other}"),
        }
    }
}

static MAXRL_META: Meta = Meta {
    id: "maxrl",
    title: "MaxRL",
    formula: "(R - mean R) / mean R; 0 when the mean is 0",
    source: "NovaSky-AI/SkyRL, MaxRL",
    uses_states: false,
    params: &[
        ParamSpec { name: "eps", default: "0", range: "number from 0", meaning: "beside the mean" },
        SINGLETON,
        SCORE,
    ],
    reading: "no eps: the mean of 0/1 rewards is at least 1/n where it is not 0",
};

/// Maximum-likelihood RL.
pub(super) struct MaxRl;
pub(super) static MAXRL: Derived<MaxRl> = Derived(MaxRl);

impl Formula for MaxRl {
    fn meta(&self) -> &'static Meta {
        &MAXRL_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let scores = scores(algebra, context, params.is("score", "total"));
        let mean = algebra.mean(|| "mean R".to_owned(), &values(&scores));
        let eps = params.number("eps", 0.0);
        let below = if eps == 0.0 {
            mean.clone()
        } else {
            algebra.sum(vec![mean.clone(), algebra.number(eps)])
        };
        let raw = scores.len() == 1 && params.is("singleton", "raw");
        per_rollout(context, wanted, |step| {
            let (_, x) = own(&scores, context, step).ok_or("unscored")?;
            if raw {
                return Ok(x);
            }
            let centred = algebra.sub(x, mean.clone());
            Ok(if algebra.get(&mean) == 0.0 {
                algebra.mul(centred, algebra.number(0.0))
            } else {
                algebra.div(centred, below.clone())
            })
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!("eps {}", params.text("eps"))
    }
}

static OPO_META: Meta = Meta {
    id: "opo",
    title: "OPO",
    formula: "R - sum(len R) / sum(len)",
    source: "arXiv 2505.23585",
    uses_states: false,
    params: &[
        ParamSpec {
            name: "length",
            default: "auto",
            range: "auto|steps|tokens",
            meaning: "auto: tokens when every step of the group has a count, else steps",
        },
        SINGLETON,
        SCORE,
    ],
    reading: "lengths in tokens when known, else in steps",
};

/// On-policy optimal baseline.
pub(super) struct Opo;
pub(super) static OPO: Derived<Opo> = Derived(Opo);

impl Opo {
    fn by_tokens(context: &Context, params: &Given) -> bool {
        let known = || {
            !context.group.steps.tokens.is_empty()
                && context.group.steps.tokens.iter().all(Option::is_some)
        };
        params.is("length", "tokens") || (params.is("length", "auto") && known())
    }
}

impl Formula for Opo {
    fn meta(&self) -> &'static Meta {
        &OPO_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let scores = scores(algebra, context, params.is("score", "total"));
        let tokens = Self::by_tokens(context, params);
        let length = |i: usize| -> usize {
            let steps = context.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            if tokens {
                let spans = context.group.steps.tokens.get(steps).unwrap_or(&[]);
                spans.iter().flatten().map(|(a, b)| b.saturating_sub(*a) as usize).sum()
            } else {
                steps.len()
            }
        };
        let total: usize = scores.iter().map(|(i, _)| length(*i)).sum();
        let baseline = (total > 0).then(|| {
            let weighted = scores
                .iter()
                .map(|(i, v)| algebra.mul(algebra.count(length(*i)), v.clone()))
                .collect();
            let all = values(&scores);
            let baseline = if super::stats::uniform(&algebra.numbers(&all)) {
                algebra.equal(all)
            } else {
                algebra.div(algebra.sum(weighted), algebra.count(total))
            };
            algebra.named(|| "length-weighted mean R".to_owned(), baseline)
        });
        let raw = scores.len() == 1 && params.is("singleton", "raw");
        per_rollout(context, wanted, |step| {
            let (_, x) = own(&scores, context, step).ok_or("unscored")?;
            match &baseline {
                _ if raw => Ok(x),
                Some(b) => Ok(algebra.sub(x, b.clone())),
                None => Err("no lengths"),
            }
        })
    }

    fn convention(&self, context: &Context, params: &Given) -> String {
        format!("length in {}", if Self::by_tokens(context, params) { "tokens" } else { "steps" })
    }
}
