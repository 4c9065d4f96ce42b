//! Columns that follow turns: REINFORCE++, SALT, GAE.

use rustc_hash::FxHashMap;

use super::algebra::Algebra;
use super::bellman::{Bellman, Next, successor};
use super::formula::{
    Cells, Derived, Formula, Given, Groups, Once, Wanted, fill, scored_steps, scores, step_leaf,
};
use super::{Basis, Batch, ColumnSpec, Context, CreditSettings, Meta, ParamSpec, stats};
use crate::rollout::{Group, plural};

const SCORE: ParamSpec = ParamSpec {
    name: "score",
    default: "outcome",
    range: "outcome|total",
    meaning: "outcome: R; total: R plus all step rewards",
};

/// GRPO values of the scored rollouts at its default convention (ddof 1, eps 1e-6 beside std).
pub(super) fn grpo<A: Algebra>(
    algebra: &A,
    context: &Context,
    total: bool,
) -> Vec<(usize, A::Value)> {
    let scores = scores(algebra, context, total);
    let all: Vec<A::Value> = scores.iter().map(|(_, v)| v.clone()).collect();
    let mean = algebra.mean(|| "mean R".to_owned(), &all);
    let below = algebra.sum(vec![algebra.std(&all, &mean, 1), algebra.number(1e-6)]);
    scores
        .into_iter()
        .map(|(i, v)| {
            let value = algebra.div(algebra.sub(v, mean.clone()), below.clone());
            let id = || context.group.rollouts.get(i).map_or("", |r| &r.id);
            (i, algebra.named(|| format!("GRPO of {}", id()), value))
        })
        .collect()
}

/// The value of the step's rollout; values stand in the order of rollouts.
pub(super) fn of_rollout<V: Clone>(
    context: &Context,
    values: &[(usize, V)],
    step: usize,
) -> Option<V> {
    let i = context.graph.rollout_of(step);
    at_rollout(values, i).cloned()
}

/// The value of a rollout; values stand in the order of rollouts.
pub(super) fn at_rollout<V>(values: &[(usize, V)], rollout: usize) -> Option<&V> {
    let place = values.binary_search_by_key(&rollout, |(j, _)| *j).ok()?;
    values.get(place).map(|(_, v)| v)
}

static REINFORCE_META: Meta = Meta {
    id: "reinforce++",
    title: "REINFORCE++",
    formula: "(G_t - mean) / sqrt(var + 1e-8) over every scored step of the load, gamma 1",
    source: "arXiv 2501.03262; verl",
    uses_states: false,
    params: &[
        ParamSpec {
            name: "gamma",
            default: "1",
            range: "number from 0 to 1, or inherit",
            meaning: "discount per action (or turn: --discount-per)",
        },
        ParamSpec {
            name: "ddof",
            default: "1",
            range: "0|1",
            meaning: "taken off the count under the variance",
        },
        ParamSpec {
            name: "baseline",
            default: "none",
            range: "none|group",
            meaning: "none: returns; group: R - mean R of the group (a group of one keeps R), the same at every step",
        },
        ParamSpec {
            name: "whiten",
            default: "batch",
            range: "batch|group|off",
            meaning: "batch: over all groups of the load; group: over this group alone; off: no whitening",
        },
        SCORE,
    ],
    reading: "var as verl's masked variance, ddof 1",
};

/// Whitened returns.
pub(super) struct Reinforce;
pub(super) static REINFORCE: Derived<Reinforce> = Derived(Reinforce);

/// Beside the variance.
const VAR_EPS: f64 = 1e-8;

impl Reinforce {
    fn rows<A: Algebra>(
        algebra: &A,
        context: &Context,
        params: &Given,
    ) -> FxHashMap<usize, A::Value> {
        let steps = scored_steps(context);
        if params.is("baseline", "group") {
            let scores = scores(algebra, context, params.is("score", "total"));
            let all: Vec<A::Value> = scores.iter().map(|(_, v)| v.clone()).collect();
            let mean = algebra.mean(|| "mean R".to_owned(), &all);
            let centred: Vec<(usize, A::Value)> = scores
                .into_iter()
                .map(|(i, v)| (i, if all.len() == 1 { v } else { algebra.sub(v, mean.clone()) }))
                .collect();
            return steps
                .into_iter()
                .filter_map(|s| Some((s, of_rollout(context, &centred, s)?)))
                .collect();
        }
        let returns = context.returns_at(params.number("gamma", context.settings.gamma));
        steps
            .into_iter()
            .map(|s| {
                let g = returns.get(s).copied().unwrap_or(f64::NAN);
                (s, step_leaf(algebra, context, "G", s, g))
            })
            .collect()
    }
}

impl Formula for Reinforce {
    fn meta(&self) -> &'static Meta {
        &REINFORCE_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let rows = Self::rows(algebra, context, params);
        let own: Vec<A::Value> =
            scored_steps(context).into_iter().filter_map(|s| rows.get(&s).cloned()).collect();
        let ddof = usize::from(!params.is("ddof", "0"));
        let (mean, root) =
            if let Some(batch) = context.batch.filter(|_| params.is("whiten", "batch")) {
                (
                    algebra.named(
                        || format!("mean over {} of the batch", plural(batch.steps, "step")),
                        algebra.number(batch.mean),
                    ),
                    algebra.sqrt(
                        algebra.sum(vec![algebra.number(batch.variance), algebra.number(VAR_EPS)]),
                    ),
                )
            } else {
                let mean = algebra.mean(|| "mean G".to_owned(), &own);
                let variance = algebra.variance(&own, &mean, ddof.min(own.len().saturating_sub(1)));
                let root = algebra.sqrt(algebra.sum(vec![variance, algebra.number(VAR_EPS)]));
                (mean, root)
            };
        let root = algebra.named(|| "sqrt(var + 1e-8)".to_owned(), root);
        fill(context, wanted, |step| {
            let x = rows.get(&step).cloned().ok_or("no return")?;
            if params.is("whiten", "off") {
                return Ok(x);
            }
            Ok(algebra.div(algebra.sub(x, mean.clone()), root.clone()))
        })
    }

    fn convention(&self, context: &Context, params: &Given) -> String {
        let batch = match context.batch {
            Some(b) if params.is("whiten", "batch") => {
                format!("batch of {} in {}", plural(b.steps, "step"), plural(b.groups, "group"))
            }
            _ if params.is("whiten", "off") => "not whitened".to_owned(),
            _ => "batch: this group alone".to_owned(),
        };
        format!("gamma {}, ddof {}, {batch}", params.text("gamma"), params.text("ddof"))
    }
}

/// Whether a column runs over the whole batch.
#[must_use]
pub fn needs_batch(spec: &ColumnSpec) -> bool {
    let given = Given::new(&REINFORCE_META, &spec.params);
    // A further instance (`reinforce++#2`) takes the group for the batch: there is one batch, the first's.
    spec.name == REINFORCE_META.id && given.is("whiten", "batch")
}

/// The numbers that a group adds to the batch: one per scored step, in canonical order.
#[must_use]
pub fn batch_numbers(
    group: &Group,
    basis: &Basis,
    settings: &CreditSettings,
    spec: &ColumnSpec,
) -> Vec<f64> {
    let given = Given::new(&REINFORCE_META, &spec.params);
    let rollouts: Vec<usize> = basis.scored_rollouts().collect();
    let steps = |i: usize| group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
    if given.is("baseline", "group") {
        let total = given.is("score", "total");
        let scores: Vec<f64> = rollouts.iter().map(|&i| basis.score(group, i, total)).collect();
        let mean = stats::mean(&scores).unwrap_or(0.0);
        let centred = |x: f64| if scores.len() == 1 { x } else { x - mean };
        return rollouts
            .iter()
            .zip(&scores)
            .flat_map(|(&i, &x)| std::iter::repeat_n(centred(x), steps(i).len()))
            .collect();
    }
    let returns = basis.returns(group, given.number("gamma", settings.gamma)).total;
    rollouts.into_iter().flat_map(steps).filter_map(|s| returns.get(s).copied()).collect()
}

/// Mean and variance of the batch; `None` for no numbers.
#[must_use]
pub fn batch_of(numbers: &[f64], groups: usize, spec: &ColumnSpec) -> Option<Batch> {
    let given = Given::new(&REINFORCE_META, &spec.params);
    let mean = stats::mean(numbers)?;
    let ddof = u32::from(!given.is("ddof", "0") && numbers.len() > 1);
    let variance = stats::variance(numbers, mean, ddof);
    Some(Batch { mean, variance, steps: numbers.len(), groups })
}

static SALT_META: Meta = Meta {
    id: "salt",
    title: "SALT",
    formula: "mean GRPO value over identical transitions (s, a, s')",
    source: "arXiv 2510.20022",
    uses_states: true,
    params: &[SCORE],
    reading: "one END state after the last action",
};

/// Step-level advantages over identical transitions.
pub(super) struct Salt;
pub(super) static SALT: Derived<Salt> = Derived(Salt);

/// The next state, or END, as a key.
pub(super) fn next_key(context: &Context, step: usize) -> u32 {
    match successor(context, step, false) {
        Next::State(state) => state,
        Next::End(_) => u32::MAX,
    }
}

impl Formula for Salt {
    fn meta(&self) -> &'static Meta {
        &SALT_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let values = grpo(algebra, context, params.is("score", "total"));
        let groups =
            Groups::by(context, |s| Some((context.graph.pair_of(s), next_key(context, s))));
        let mean = Once::new(|first| {
            let members: Vec<A::Value> =
                groups.of(first).iter().filter_map(|&s| of_rollout(context, &values, s)).collect();
            algebra.mean(|| "mean GRPO over the transition".to_owned(), &members)
        });
        fill(context, wanted, |step| Ok(mean.of(groups.of(step).first().copied().unwrap_or(step))))
    }

    fn convention(&self, _context: &Context, _params: &Given) -> String {
        "GRPO ddof 1, eps 1e-6".to_owned()
    }
}

static GAE_META: Meta = Meta {
    id: "gae",
    title: "GAE",
    formula: "sum_l (gamma lambda)^l delta_{t+l}, delta = r + gamma V(s') - V(s), V after the end 0",
    source: "arXiv 1506.02438",
    uses_states: false,
    params: &[
        ParamSpec {
            name: "gamma",
            default: "inherit",
            range: "number from 0 to 1, or inherit",
            meaning: "discount per action (or turn: --discount-per)",
        },
        ParamSpec {
            name: "lambda",
            default: "0.95",
            range: "number from 0 to 1",
            meaning: "mixing of step lengths: per action, also with --discount-per turn",
        },
        ParamSpec {
            name: "values",
            default: "rtmc",
            range: "rtmc|bellman|logged",
            meaning: "where V comes from: V' of the state table, Bellman values (discounted per edge), or logged numbers",
        },
        ParamSpec {
            name: "critic",
            default: "critic",
            range: "text",
            meaning: "name of the logged numbers",
        },
    ],
    reading: "V' of the state table stands in for a critic unless one is logged",
};

/// Generalised advantage estimation.
pub(super) struct Gae;
pub(super) static GAE: Derived<Gae> = Derived(Gae);

impl Gae {
    /// V before each step; `None` where there is none.
    fn values(context: &Context, params: &Given, gamma: f64) -> Vec<Option<f64>> {
        match params.text("values") {
            "logged" => context
                .group
                .steps
                .values
                .iter()
                .find(|(name, _)| name == params.text("critic"))
                .map_or_else(|| vec![None; context.group.len()], |(_, v)| v.clone()),
            "bellman" => {
                let solved = Bellman::solve(context, gamma, false);
                (0..context.group.len())
                    .map(|s| {
                        Some(solved.value(context.graph.state_of(s))).filter(|v| v.is_finite())
                    })
                    .collect()
            }
            _ => (0..context.group.len())
                .map(|s| context.values.smoothed(context.graph.state_of(s)))
                .collect(),
        }
    }
}

impl Formula for Gae {
    fn meta(&self) -> &'static Meta {
        &GAE_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let gamma = params.number("gamma", context.settings.gamma);
        let lambda = params.number("lambda", 0.95);
        let critic = params.text("critic");
        let logged = || context.group.steps.values.iter().any(|(name, _)| name == critic);
        if params.is("values", "logged") && !logged() {
            return fill(context, wanted, |_| Err("no logged critic in this group"));
        }
        let values = Self::values(context, params, gamma);
        let mut cells: FxHashMap<usize, Result<A::Value, super::Missing>> = FxHashMap::default();
        let wanted_rollout = match wanted {
            Wanted::One(step) => Some(context.graph.rollout_of(step)),
            Wanted::All => None,
        };
        for i in context.basis.scored_rollouts() {
            if wanted_rollout.is_some_and(|w| w != i) {
                continue;
            }
            let steps = context.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            let mut later: Option<A::Value> = None;
            let mut broken = false;
            for step in steps.clone().rev() {
                let last = step + 1 == steps.end;
                let here = values.get(step).copied().flatten();
                let next = if last { Some(0.0) } else { values.get(step + 1).copied().flatten() };
                let (Some(here), Some(next), false) = (here, next, broken) else {
                    broken = true;
                    cells.insert(step, Err("no value from here to the end"));
                    continue;
                };
                let own = context.basis.step_reward.get(step).copied().unwrap_or(0.0);
                let terminal =
                    if last { context.basis.terminal.get(i).copied().unwrap_or(0.0) } else { 0.0 };
                let r = step_leaf(algebra, context, "r", step, own + terminal);
                let v = |x: f64, s: usize| step_leaf(algebra, context, "V", s, x);
                let between = context.basis.discount(step, gamma);
                let ahead = if last {
                    r
                } else {
                    algebra.sum(vec![r, algebra.mul(algebra.number(between), v(next, step + 1))])
                };
                let delta = algebra.sub(ahead, v(here, step));
                let advantage = match later.take() {
                    None => delta,
                    Some(rest) => algebra
                        .sum(vec![delta, algebra.mul(algebra.number(between * lambda), rest)]),
                };
                let advantage = algebra.named(|| format!("A of {}", context.at(step)), advantage);
                later = Some(advantage.clone());
                cells.insert(step, Ok(advantage));
            }
        }
        fill(context, wanted, |step| cells.remove(&step).unwrap_or(Err("no steps")))
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!(
            "gamma {}, lambda {}, V from {}",
            params.text("gamma"),
            params.text("lambda"),
            params.text("values")
        )
    }
}
