//! Columns on Bellman values of the state graph: CRBC, GRAFT.

use rustc_hash::FxHashMap;

use super::algebra::Algebra;
use super::bellman::{Bellman, Next, power, successor};
use super::formula::{
    Cells, Derived, Formula, Given, Groups, Once, Wanted, fill, scored_steps, step_leaf,
};
use super::turn_columns::{grpo, next_key, of_rollout};
use super::{Context, Meta, ParamSpec};

static CRBC_META: Meta = Meta {
    id: "crbc",
    title: "CRBC",
    formula: "w_g GRPO + w_s [2 or more actions at s] (Q - V)/max(sigma, 0.1), Bellman V",
    source: "arXiv 2609.35082",
    uses_states: true,
    params: &[
        ParamSpec {
            name: "beta",
            default: "0.98",
            range: "number from 0 to 1",
            meaning: "discount of the backups, per edge of the state graph whatever --discount-per",
        },
        ParamSpec {
            name: "depth",
            default: "inf",
            range: "number from 0, or inf",
            meaning: "backups from the visit-local means; inf: the fixed point",
        },
        ParamSpec {
            name: "output",
            default: "final",
            range: "final|norm|raw",
            meaning: "final: with GRPO; norm: the step part; raw: Q - V",
        },
        ParamSpec {
            name: "sigma-min",
            default: "0.1",
            range: "number from 0",
            meaning: "floor of sigma",
        },
        ParamSpec { name: "w-g", default: "1", range: "number from 0", meaning: "weight of GRPO" },
        ParamSpec {
            name: "w-s",
            default: "5",
            range: "number from 0",
            meaning: "weight of the step part",
        },
    ],
    reading: "sigma is the population deviation of Q over the visits of the state",
};

/// Counterfactual backups.
pub(super) struct Crbc;
pub(super) static CRBC: Derived<Crbc> = Derived(Crbc);

/// What each scored visit is worth: the number whose means are Q and V.
fn worth(context: &Context, beta: f64, depth: Option<u32>) -> Vec<f64> {
    let n = context.group.len();
    if depth == Some(0) {
        return (0..n)
            .map(|s| {
                let left = context.basis.steps_left.get(s).copied().unwrap_or(0);
                let success = context.basis.success.get(context.graph.rollout_of(s)) == Some(&true);
                if success { power(beta, left + 1) } else { 0.0 }
            })
            .collect();
    }
    let values = match depth {
        Some(k) => Bellman::backups(context, beta, k).0,
        None => Bellman::solve(context, beta, false).values,
    };
    (0..n)
        .map(|s| match successor(context, s, false) {
            Next::State(next) => beta * values.get(next as usize).copied().unwrap_or(f64::NAN),
            Next::End(x) => beta * x,
        })
        .collect()
}

impl Formula for Crbc {
    fn meta(&self) -> &'static Meta {
        &CRBC_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let beta = params.number("beta", 0.98);
        let worth = worth(context, beta, params.text("depth").parse().ok());
        let states = Groups::by(context, |s| Some(context.graph.state_of(s)));
        let pairs = Groups::by(context, |s| Some(context.graph.pair_of(s)));
        let leaf = |s: usize| {
            step_leaf(algebra, context, "backup", s, worth.get(s).copied().unwrap_or(f64::NAN))
        };
        let mean = |name: &str, members: &[usize]| {
            let leaves: Vec<A::Value> = members.iter().map(|&s| leaf(s)).collect();
            algebra.mean(|| name.to_owned(), &leaves)
        };
        // Each mean is taken once, under the first of its steps.
        let q = Once::new(|first| mean("Q(s,a)", pairs.of(first)));
        let v = Once::new(|first| mean("V(s)", states.of(first)));
        let q_of = |s: usize| q.of(pairs.of(s).first().copied().unwrap_or(s));
        let base = grpo(algebra, context, false);
        let mut sigmas: FxHashMap<usize, A::Value> = FxHashMap::default();
        fill(context, wanted, |step| {
            let here = states.of(step);
            let raw = algebra.sub(q_of(step), v.of(here.first().copied().unwrap_or(step)));
            if params.is("output", "raw") {
                return Ok(raw);
            }
            let branching =
                here.iter().any(|&s| context.graph.pair_of(s) != context.graph.pair_of(step));
            let part = if branching {
                let key = here.first().copied().unwrap_or(step);
                let sigma = sigmas.entry(key).or_insert_with(|| {
                    let qs: Vec<A::Value> = here.iter().map(|&s| q_of(s)).collect();
                    let centre = algebra.mean(|| "mean Q over visits".to_owned(), &qs);
                    algebra.std(&qs, &centre, 0)
                });
                let floor = params.number("sigma-min", 0.1);
                let below =
                    if algebra.get(sigma) > floor { sigma.clone() } else { algebra.number(floor) };
                algebra.div(raw, below)
            } else {
                algebra.mul(raw, algebra.number(0.0))
            };
            if params.is("output", "norm") {
                return Ok(part);
            }
            let own = of_rollout(context, &base, step).ok_or("unscored")?;
            Ok(algebra.sum(vec![
                algebra.mul(algebra.number(params.number("w-g", 1.0)), own),
                algebra.mul(algebra.number(params.number("w-s", 5.0)), part),
            ]))
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!(
            "beta {}, depth {}, {}",
            params.text("beta"),
            params.text("depth"),
            params.text("output")
        )
    }
}

static GRAFT_META: Meta = Meta {
    id: "graft",
    title: "GRAFT",
    formula: "gamma V(s') - V(s), Bellman V, then (x - mean)/(std + eps) over the edges of the state",
    source: "arXiv 2609.28963",
    uses_states: true,
    params: &[
        ParamSpec {
            name: "gamma",
            default: "0.99",
            range: "number from 0 to 1, or inherit",
            meaning: "discount per edge of the state graph, whatever --discount-per",
        },
        ParamSpec {
            name: "output",
            default: "norm",
            range: "norm|raw|gae",
            meaning: "norm: per state; raw: the difference; gae: its sum over hops of distinct edges",
        },
        ParamSpec {
            name: "lambda",
            default: "0.95",
            range: "number from 0 to 1",
            meaning: "weight of later hops, output = gae",
        },
        ParamSpec {
            name: "ends",
            default: "outcome",
            range: "outcome|graded",
            meaning: "value of an end: 1 or 0, or the terminal reward",
        },
        ParamSpec {
            name: "eps",
            default: "1e-6",
            range: "number from 0",
            meaning: "beside the deviation",
        },
    ],
    reading: "gae over distinct edges: over raw edge instances it collapses to the one-step difference at the fixed point",
};

/// Graph-based temporal differences.
pub(super) struct Graft;
pub(super) static GRAFT: Derived<Graft> = Derived(Graft);

type Edge = (u32, u32);

/// The distinct edges of the graph with one visit each, and the states they lead to.
struct Edges {
    /// Representative visit of each edge, by state, in canonical order.
    by_state: FxHashMap<u32, Vec<usize>>,
    next: FxHashMap<usize, Option<u32>>,
}

impl Edges {
    fn new(context: &Context) -> Self {
        let mut seen: FxHashMap<Edge, usize> = FxHashMap::default();
        let mut edges = Self { by_state: FxHashMap::default(), next: FxHashMap::default() };
        for step in scored_steps(context) {
            let key = (context.graph.pair_of(step), end_key(context, step));
            if seen.insert(key, step).is_none() {
                edges.by_state.entry(context.graph.state_of(step)).or_default().push(step);
                let next = match successor(context, step, false) {
                    Next::State(s) => Some(s),
                    Next::End(_) => None,
                };
                edges.next.insert(step, next);
            }
        }
        edges
    }

    fn of(&self, state: u32) -> &[usize] {
        self.by_state.get(&state).map_or(&[], |e| e)
    }
}

/// The next state as a key; the two ends are apart.
fn end_key(context: &Context, step: usize) -> u32 {
    match successor(context, step, false) {
        Next::End(1.0) => u32::MAX - 1,
        _ => next_key(context, step),
    }
}

impl Formula for Graft {
    fn meta(&self) -> &'static Meta {
        &GRAFT_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let gamma = params.number("gamma", context.settings.gamma);
        let graded = params.is("ends", "graded");
        let solved = Bellman::solve(context, gamma, graded);
        let ahead: Vec<f64> = (0..context.group.len())
            .map(|s| match successor(context, s, graded) {
                Next::State(next) => gamma * solved.value(next),
                Next::End(x) => gamma * x,
            })
            .collect();
        let states = Groups::by(context, |s| Some(context.graph.state_of(s)));
        let edges = Edges::new(context);
        let leaf = |s: usize| {
            step_leaf(algebra, context, "gamma V(s')", s, ahead.get(s).copied().unwrap_or(f64::NAN))
        };
        let v = Once::new(|first| {
            let leaves: Vec<A::Value> = states.of(first).iter().map(|&s| leaf(s)).collect();
            algebra.mean(|| "V(s)".to_owned(), &leaves)
        });
        let delta =
            |s: usize| algebra.sub(leaf(s), v.of(states.of(s).first().copied().unwrap_or(s)));
        // Mean and divisor over the edges of a state.
        let scale = Once::new(|state| {
            let out = edges.of(u32::try_from(state).unwrap_or(u32::MAX));
            let deltas: Vec<A::Value> = out.iter().map(|&e| delta(e)).collect();
            let mean = algebra.mean(|| "mean over the edges".to_owned(), &deltas);
            let eps = algebra.number(params.number("eps", 1e-6));
            let below = algebra.sum(vec![algebra.std(&deltas, &mean, 0), eps]);
            (mean, below)
        });
        fill(context, wanted, |step| {
            let own = delta(step);
            match params.text("output") {
                "raw" => Ok(own),
                "gae" => {
                    let lambda = params.number("lambda", 0.95);
                    let left = context.basis.steps_left.get(step).copied().unwrap_or(0);
                    let mut terms = vec![own];
                    let mut frontier: Vec<u32> = match successor(context, step, false) {
                        Next::State(s) => vec![s],
                        Next::End(_) => Vec::new(),
                    };
                    let mut weight = 1.0;
                    for _ in 0..left {
                        weight *= gamma * lambda;
                        let out: Vec<usize> =
                            frontier.iter().flat_map(|&s| edges.of(s).iter().copied()).collect();
                        if out.is_empty() {
                            break;
                        }
                        let deltas: Vec<A::Value> = out.iter().map(|&e| delta(e)).collect();
                        let mean = algebra.mean(|| "mean over the hop".to_owned(), &deltas);
                        terms.push(algebra.mul(algebra.number(weight), mean));
                        frontier = out
                            .iter()
                            .filter_map(|e| edges.next.get(e).copied().flatten())
                            .collect();
                        frontier.sort_unstable();
                        frontier.dedup();
                    }
                    Ok(algebra.sum(terms))
                }
                _ => {
                    let out = edges.of(context.graph.state_of(step));
                    if out.len() < 2 {
                        // One edge: its sign, as the sign of the difference that stands behind it.
                        let x = algebra.get(&own);
                        let sign = if x == 0.0 { 0.0 } else { x.signum() };
                        return Ok(if sign == 0.0 {
                            own
                        } else {
                            algebra.named(
                                || "sign of the difference".to_owned(),
                                algebra.div(own.clone(), algebra.mul(own, algebra.number(sign))),
                            )
                        });
                    }
                    let (mean, below) = scale.of(context.graph.state_of(step) as usize);
                    let centred = algebra.sub(own, mean);
                    Ok(algebra.quotient(centred, below))
                }
            }
        })
    }

    fn convention(&self, context: &Context, params: &Given) -> String {
        let gamma = params.number("gamma", context.settings.gamma);
        let residual = Bellman::solve(context, gamma, params.is("ends", "graded")).residual;
        format!(
            "gamma {}, {}, residual {residual:.0e}",
            params.text("gamma"),
            params.text("output")
        )
    }
}
