//! Columns that compare returns inside a hierarchy of groups: HGPO by states, `A2Agent` by actions.

use super::algebra::Algebra;
use super::formula::{
    Cells, Derived, Formula, Given, Groups, Wanted, fill, scored_steps, scores, step_leaf,
};
use super::step_groups::{GAMMA, NORM, Norm, Pool, SCORE, rows};
use super::{Context, Meta, ParamSpec};

const DEPTH: ParamSpec = ParamSpec {
    name: "depth",
    default: "2",
    range: "number from 0",
    meaning: "K: longest history that is compared",
};
const ALPHA: ParamSpec = ParamSpec {
    name: "alpha",
    default: "1",
    range: "number from 0",
    meaning: "exponent of the weights, which are normalised over the groups that exist",
};
const WEIGHT: ParamSpec = ParamSpec {
    name: "weight",
    default: "k+1",
    range: "k+1|k+2",
    meaning: "weight of depth k before the exponent; the reference code has k+2, its base group being 1",
};
const BASE: ParamSpec = ParamSpec {
    name: "base",
    default: "off",
    range: "off|per-step|rollout|return0",
    meaning: "the whole group takes part as one more group of weight 1: scores over step rows (ddof 1), scores over rollouts, or first returns over rollouts",
};
const ZEROS: ParamSpec = ParamSpec {
    name: "zeros",
    default: "keep",
    range: "keep|drop",
    meaning: "drop: values of exactly 0 take no part in the weighted mean, as the reference code has it",
};

static HGPO_META: Meta = Meta {
    id: "hgpo",
    title: "HGPO",
    formula: "sum over k = 0..K of w_k (G_t - mean_k) / (std_k + eps), groups share the last k+1 states",
    source: "arXiv 2602.22817; verl-agent recipe/hgpo",
    uses_states: true,
    params: &[GAMMA, NORM, DEPTH, ALPHA, WEIGHT, BASE, ZEROS, SCORE],
    reading: "population deviation; groups of one take no part; weights (k+1)^alpha",
};

/// Hierarchy of groups.
pub(super) struct Hgpo;
pub(super) static HGPO: Derived<Hgpo> = Derived(Hgpo);

static A2AGENT_META: Meta = Meta {
    id: "a2agent",
    title: "A2Agent",
    formula: "as HGPO, groups share the previous k+1 actions (the current one excluded)",
    source: "donian00/A2Agent",
    uses_states: true,
    params: &[
        GAMMA,
        NORM,
        DEPTH,
        ALPHA,
        WEIGHT,
        ParamSpec {
            name: "key",
            default: "previous",
            range: "previous|state|action",
            meaning: "previous k+1 actions; the same with the current state; the last k+1 actions, the current one included",
        },
        BASE,
        ZEROS,
        SCORE,
    ],
    reading: "items of real groups only: a shorter history has no group of that depth",
};

/// Groups by action histories.
pub(super) struct A2Agent;
pub(super) static A2AGENT: Derived<A2Agent> = Derived(A2Agent);

/// The weighted mean over depths. `key` gives what a step shares at a depth; `None` takes no part.
fn hierarchy<A: Algebra>(
    algebra: &A,
    context: &Context,
    params: &Given,
    wanted: Wanted,
    key: impl Fn(usize, usize) -> Option<Vec<u64>>,
) -> Cells<A::Value> {
    let returns = context.returns_at(params.number("gamma", context.settings.gamma));
    let norm = Norm::of(params);
    let alpha = params.number("alpha", 1.0);
    let depth: usize = params.text("depth").parse().unwrap_or(2);
    let offset = if params.is("weight", "k+2") { 2 } else { 1 };
    let drop = params.is("zeros", "drop");
    let leaf =
        |s: usize| step_leaf(algebra, context, "G", s, returns.get(s).copied().unwrap_or(f64::NAN));
    let groups: Vec<Groups> =
        (0..=depth).map(|k| Groups::by(context, |step| key(step, k))).collect();
    let base = (!params.is("base", "off")).then(|| {
        let per_step = params.is("base", "per-step");
        let scores = if params.is("base", "return0") {
            scored_steps(context)
                .into_iter()
                .filter(|&s| context.is_first(s))
                .map(|s| (context.graph.rollout_of(s), leaf(s)))
                .collect()
        } else {
            scores(algebra, context, params.is("score", "total"))
        };
        let rows = rows(context, &scores, per_step);
        let pool = Pool::new(algebra, "mean of the group", &rows, norm, usize::from(per_step));
        (scores, pool)
    });
    let mut pools: rustc_hash::FxHashMap<(usize, usize), Pool<A::Value>> =
        rustc_hash::FxHashMap::default();
    fill(context, wanted, |step| {
        let mut items: Vec<(usize, A::Value)> = Vec::new();
        if let Some((scores, pool)) = &base {
            let i = context.graph.rollout_of(step);
            if let Some(score) = super::turn_columns::at_rollout(scores, i) {
                items.push((1, pool.of(algebra, score.clone())));
            }
        }
        for (k, grouping) in groups.iter().enumerate() {
            let members = grouping.of(step);
            let Some(&first) = members.first().filter(|_| members.len() >= 2) else { continue };
            let pool = pools.entry((k, first)).or_insert_with(|| {
                let leaves: Vec<A::Value> = members.iter().map(|&s| leaf(s)).collect();
                Pool::new(algebra, &format!("mean G at depth {k}"), &leaves, norm, 0)
            });
            items.push((k + offset, pool.of(algebra, leaf(step))));
        }
        if drop {
            items.retain(|(_, v)| algebra.get(v) != 0.0);
        }
        if items.is_empty() {
            return Ok(algebra.sub(leaf(step), leaf(step)));
        }
        // The weights are numbers of the setting: their powers are taken outside the formula.
        let weights: Vec<f64> = items.iter().map(|(w, _)| (*w as f64).powf(alpha)).collect();
        let below = algebra.number(super::stats::sum(&weights));
        let terms = items
            .into_iter()
            .zip(&weights)
            .map(|((_, v), &w)| algebra.mul(algebra.number(w), v))
            .collect();
        Ok(algebra.div(algebra.sum(terms), below))
    })
}

/// The `k` items before a step; `None` when the rollout is shorter.
fn history(
    context: &Context,
    step: usize,
    k: usize,
    item: impl Fn(usize) -> u64,
) -> Option<Vec<u64>> {
    let rollout = context.graph.rollout_of(step);
    let start = context.group.rollouts.get(rollout).map_or(0, |r| r.steps.start);
    (step >= start + k).then(|| (step - k..step).map(item).collect())
}

impl Formula for Hgpo {
    fn meta(&self) -> &'static Meta {
        &HGPO_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let state = |s: usize| u64::from(context.graph.state_of(s));
        hierarchy(algebra, context, params, wanted, |step, k| {
            let mut key = history(context, step, k, state)?;
            key.push(state(step));
            Some(key)
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!(
            "gamma {}, K {}, {}, ddof 0",
            params.text("gamma"),
            params.text("depth"),
            params.text("norm")
        )
    }
}

impl Formula for A2Agent {
    fn meta(&self) -> &'static Meta {
        &A2AGENT_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let action = |s: usize| u64::from(context.graph.pair(context.graph.pair_of(s)).action);
        hierarchy(algebra, context, params, wanted, |step, k| {
            if params.is("key", "action") {
                let mut key = history(context, step, k, action)?;
                key.push(action(step));
                return Some(key);
            }
            // The first step has no previous action: it belongs with the other first steps, at depth 0.
            let first = context.is_first(step);
            let mut key =
                if k == 0 && first { Vec::new() } else { history(context, step, k + 1, action)? };
            if params.is("key", "state") {
                key.push(u64::from(context.graph.state_of(step)));
            }
            Some(key)
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!(
            "gamma {}, K {}, key {}, {}, ddof 0",
            params.text("gamma"),
            params.text("depth"),
            params.text("key"),
            params.text("norm")
        )
    }
}
