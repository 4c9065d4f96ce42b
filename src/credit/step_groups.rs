//! Columns that compare numbers of the steps at one state: `GiGPO`, `RewardFlow`.

use super::algebra::Algebra;
use super::bellman::{Next, successor};
use super::formula::{
    Cells, Derived, Formula, Given, Groups, Wanted, fill, scored_steps, scores, step_leaf,
};
use super::{Context, Meta, ParamSpec};

pub(super) const GAMMA: ParamSpec = ParamSpec {
    name: "gamma",
    default: "0.95",
    range: "number from 0 to 1, or inherit",
    meaning: "discount per action (or turn: --discount-per); inherit: --gamma",
};
pub(super) const NORM: ParamSpec = ParamSpec {
    name: "norm",
    default: "mean_std",
    range: "mean_std|mean|none",
    meaning: "mean_std: centre and divide by std + 1e-6; mean: centre only; none: the numbers themselves",
};
const OMEGA: ParamSpec = ParamSpec {
    name: "omega",
    default: "1",
    range: "number from 0",
    meaning: "weight of the step part",
};
const EPISODE: ParamSpec = ParamSpec {
    name: "episode",
    default: "rollout",
    range: "rollout|per-step|off",
    meaning: "episode part: mean over rollouts; per-step: over step rows, so that long rollouts weigh more, as the reference code does; off: step part alone",
};
const SINGLETON: ParamSpec = ParamSpec {
    name: "singleton",
    default: "zero",
    range: "zero|raw",
    meaning: "episode part of a group of one: 0, or the raw score as verl-agent returns it",
};
pub(super) const SCORE: ParamSpec = ParamSpec {
    name: "score",
    default: "outcome",
    range: "outcome|total",
    meaning: "outcome: R; total: R plus all step rewards",
};
/// Beside deviations, as all reference codes have it.
const EPS: f64 = 1e-6;

/// How the numbers of a pool are compared.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Norm {
    MeanStd,
    Mean,
    None,
}

impl Norm {
    pub(super) fn of(params: &Given) -> Self {
        match params.text("norm") {
            "mean" => Self::Mean,
            "none" => Self::None,
            _ => Self::MeanStd,
        }
    }
}

/// Mean and what to divide by, of one pool of numbers.
pub(super) struct Pool<V> {
    mean: Option<V>,
    below: Option<V>,
}

impl<V: Clone> Pool<V> {
    pub(super) fn new<A: Algebra<Value = V>>(
        algebra: &A,
        name: &str,
        values: &[V],
        norm: Norm,
        ddof: usize,
    ) -> Self {
        if norm == Norm::None {
            return Self { mean: None, below: None };
        }
        let mean = algebra.mean(|| name.to_owned(), values);
        let below = (norm == Norm::MeanStd)
            .then(|| algebra.sum(vec![algebra.std(values, &mean, ddof), algebra.number(EPS)]));
        Self { mean: Some(mean), below }
    }

    pub(super) fn of<A: Algebra<Value = V>>(&self, algebra: &A, value: V) -> V {
        let centred = match &self.mean {
            Some(mean) => algebra.sub(value, mean.clone()),
            None => value,
        };
        match &self.below {
            Some(below) => algebra.div(centred, below.clone()),
            None => centred,
        }
    }
}

/// Scores of the rollouts (times `scale`) against the group's, with ddof 1, over rollouts or over
/// step rows.
pub(super) fn episode_part<A: Algebra>(
    algebra: &A,
    context: &Context,
    divide: bool,
    per_step: bool,
    scale: f64,
) -> Vec<(usize, A::Value)> {
    let scores: Vec<(usize, A::Value)> = scores(algebra, context, false)
        .into_iter()
        .map(|(i, v)| (i, if scale == 1.0 { v } else { algebra.mul(algebra.number(scale), v) }))
        .collect();
    let norm = if divide { Norm::MeanStd } else { Norm::Mean };
    let pool = Pool::new(algebra, "mean R", &rows(context, &scores, per_step), norm, 1);
    scores.into_iter().map(|(i, v)| (i, pool.of(algebra, v))).collect()
}

/// The numbers that an episode mean runs over: one per rollout, or one per step row.
pub(super) fn rows<V: Clone>(context: &Context, scores: &[(usize, V)], per_step: bool) -> Vec<V> {
    if per_step {
        scored_steps(context)
            .into_iter()
            .filter_map(|s| super::turn_columns::of_rollout(context, scores, s))
            .collect()
    } else {
        scores.iter().map(|(_, v)| v.clone()).collect()
    }
}

/// The episode part of a step: its rollout's score against the group's.
fn episode<A: Algebra>(
    algebra: &A,
    context: &Context,
    params: &Given,
    ddof: usize,
) -> Option<impl Fn(usize) -> Option<A::Value>> {
    // One closure per column: the scores are compared once.
    if params.is("episode", "off") {
        return None;
    }
    let scores = scores(algebra, context, params.is("score", "total"));
    let norm = Norm::of(params);
    let rows = rows(context, &scores, params.is("episode", "per-step"));
    let raw = scores.len() == 1 && params.is("singleton", "raw");
    let pool = if raw {
        let below = (norm == Norm::MeanStd)
            .then(|| algebra.sum(vec![algebra.number(1.0), algebra.number(EPS)]));
        Pool { mean: Some(algebra.number(0.0)), below }
    } else {
        Pool::new(algebra, "mean R", &rows, norm, ddof)
    };
    let values: Vec<(usize, A::Value)> =
        scores.into_iter().map(|(i, v)| (i, pool.of(algebra, v))).collect();
    Some(move |step: usize| super::turn_columns::of_rollout(context, &values, step))
}

/// `episode + omega * step part`, whichever is wanted.
fn combine<A: Algebra>(
    algebra: &A,
    episode: Option<A::Value>,
    omega: f64,
    step: A::Value,
) -> A::Value {
    let step = if omega == 1.0 { step } else { algebra.mul(algebra.number(omega), step) };
    match episode {
        Some(e) if omega == 0.0 => e,
        Some(e) => algebra.sum(vec![e, step]),
        None => step,
    }
}

static GIGPO_META: Meta = Meta {
    id: "gigpo",
    title: "GiGPO",
    formula: "A^E + omega (G_t - mean_group) / (std_group + eps) over all visits of the state",
    source: "arXiv 2505.10978; verl-agent core_gigpo",
    uses_states: true,
    params: &[GAMMA, NORM, OMEGA, EPISODE, SINGLETON, SCORE],
    reading: "episode mean per rollout, not per step row; a state visited once gives 0",
};

/// Group-in-group policy optimisation.
pub(super) struct Gigpo;
pub(super) static GIGPO: Derived<Gigpo> = Derived(Gigpo);

impl Formula for Gigpo {
    fn meta(&self) -> &'static Meta {
        &GIGPO_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let returns = context.returns_at(params.number("gamma", context.settings.gamma));
        step_level(algebra, context, params, wanted, &returns, "G")
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!(
            "gamma {}, {}, ddof 1, episode {}",
            params.text("gamma"),
            params.text("norm"),
            params.text("episode")
        )
    }
}

/// The `GiGPO` sum over any number per step.
fn step_level<A: Algebra>(
    algebra: &A,
    context: &Context,
    params: &Given,
    wanted: Wanted,
    numbers: &[f64],
    what: &str,
) -> Cells<A::Value> {
    let groups = Groups::by(context, |step| Some(context.graph.state_of(step)));
    let episode = episode(algebra, context, params, 1);
    let norm = Norm::of(params);
    let omega = params.number("omega", 1.0);
    let leaf = |s: usize| {
        step_leaf(algebra, context, what, s, numbers.get(s).copied().unwrap_or(f64::NAN))
    };
    let mut pools: rustc_hash::FxHashMap<usize, Pool<A::Value>> = rustc_hash::FxHashMap::default();
    fill(context, wanted, |step| {
        let members = groups.of(step);
        let key = members.first().copied().unwrap_or(step);
        let own = leaf(step);
        let part = if members.len() < 2 && norm != Norm::None {
            algebra.sub(own.clone(), own)
        } else {
            let pool = pools.entry(key).or_insert_with(|| {
                let leaves: Vec<A::Value> = members.iter().map(|&s| leaf(s)).collect();
                Pool::new(algebra, &format!("mean {what} at the state"), &leaves, norm, 1)
            });
            pool.of(algebra, own)
        };
        Ok(combine(algebra, episode.as_ref().and_then(|e| e(step)), omega, part))
    })
}

static REWARD_FLOW_META: Meta = Meta {
    id: "reward-flow",
    title: "RewardFlow",
    formula: "V(u) = max(r(u), gamma max V(succ)); V(s') - V(s) compared at the state as in GiGPO",
    source: "arXiv 2603.18859; tmlr-group/RewardFlow",
    uses_states: true,
    params: &[
        ParamSpec {
            meaning: "discount per edge of the state graph, whatever --discount-per; inherit: --gamma",
            ..GAMMA
        },
        NORM,
        OMEGA,
        EPISODE,
        SINGLETON,
        SCORE,
        ParamSpec {
            name: "output",
            default: "final",
            range: "final|gain",
            meaning: "gain: V(s') - V(s) before it is compared",
        },
    ],
    reading: "ends: 1 for a success, 0 for a failure",
};

/// Best reachable reward, propagated backwards.
pub(super) struct RewardFlow;
pub(super) static REWARD_FLOW: Derived<RewardFlow> = Derived(RewardFlow);

impl RewardFlow {
    /// V(u) = gamma^(shortest distance to a success); found from the ends backwards, hop by hop.
    fn values(context: &Context, gamma: f64) -> Vec<f64> {
        let distance = distances(context);
        distance.iter().map(|d| d.map_or(0.0, |d| super::bellman::power(gamma, d))).collect()
    }
}

/// Steps from each state to a success along observed transitions; `None` where none is reachable.
pub(super) fn distances(context: &Context) -> Vec<Option<u32>> {
    let states = context.graph.state_counts.len();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); states];
    let mut distance: Vec<Option<u32>> = vec![None; states];
    let mut queue = std::collections::VecDeque::new();
    for step in scored_steps(context) {
        let state = context.graph.state_of(step);
        match successor(context, step, false) {
            Next::State(next) => {
                if let Some(list) = before.get_mut(next as usize) {
                    list.push(state);
                }
            }
            Next::End(1.0) => {
                if let Some(slot) = distance.get_mut(state as usize)
                    && slot.is_none()
                {
                    *slot = Some(1);
                    queue.push_back(state);
                }
            }
            Next::End(_) => {}
        }
    }
    while let Some(state) = queue.pop_front() {
        let d = distance.get(state as usize).copied().flatten().unwrap_or(0);
        for &previous in before.get(state as usize).map_or(&[][..], |b| b) {
            if let Some(slot) = distance.get_mut(previous as usize)
                && slot.is_none()
            {
                *slot = Some(d + 1);
                queue.push_back(previous);
            }
        }
    }
    distance
}

impl Formula for RewardFlow {
    fn meta(&self) -> &'static Meta {
        &REWARD_FLOW_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let values = Self::values(context, params.number("gamma", context.settings.gamma));
        let value = |s: u32| values.get(s as usize).copied().unwrap_or(f64::NAN);
        let gains: Vec<f64> = (0..context.group.len())
            .map(|step| {
                let after = match successor(context, step, false) {
                    Next::State(next) => value(next),
                    Next::End(x) => x,
                };
                after - value(context.graph.state_of(step))
            })
            .collect();
        if params.is("output", "gain") {
            return fill(context, wanted, |s| {
                Ok(step_leaf(
                    algebra,
                    context,
                    "V(s') - V(s)",
                    s,
                    gains.get(s).copied().unwrap_or(f64::NAN),
                ))
            });
        }
        step_level(algebra, context, params, wanted, &gains, "V(s') - V(s)")
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!("gamma {}, {}", params.text("gamma"), params.text("norm"))
    }
}
