//! RTMC (arXiv 2604.11037): Q from visit counts against a smoothed V of the merged state.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::algebra::Algebra;
use super::basis::{Prior, Returns, Visit};
use super::formula::{Cells, Derived, Formula, Given, Wanted, fill, step_leaf};
use super::{Context, Meta, ParamSpec, ValueTable, stats};

static META: Meta = Meta {
    id: "rtmc",
    title: "RTMC",
    formula: "Q(s,a) - V'(s), V' = (N V + n_prior V_prior) / (N + n_prior)",
    source: "arXiv 2604.11037",
    uses_states: true,
    params: &[
        ParamSpec {
            name: "n-prior",
            default: "inherit",
            range: "number from 0, or inherit",
            meaning: "weight of the prior in visits; inherit: --n-prior",
        },
        ParamSpec {
            name: "prior",
            default: "inherit",
            range: "inherit|auto|rate|mean|return0",
            meaning: "the prior of V; inherit: --prior",
        },
        ParamSpec {
            name: "visit",
            default: "inherit",
            range: "inherit|pair|state|every",
            meaning: "which visits count; inherit: --visit",
        },
        ParamSpec {
            name: "gamma",
            default: "inherit",
            range: "number from 0 to 1, or inherit",
            meaning: "discount per action (or turn: --discount-per); inherit: --gamma",
        },
        ParamSpec {
            name: "normalize",
            default: "off",
            range: "off|on",
            meaning: "divide by the population deviation of A over the group's steps, without centring",
        },
    ],
    reading: "first visits of each pair; Q is not smoothed, or a singleton would always be 0",
};

/// Deviations up to this count as none when normalising.
const NO_DEVIATION: f64 = 1e-8;

/// Rollout-tree Monte Carlo.
pub(super) struct Rtmc;

pub(super) static RTMC: Derived<Rtmc> = Derived(Rtmc);

/// Means of several steps, which steps share: each is taken once.
struct Means<V> {
    of_pair: FxHashMap<u32, V>,
    of_state: FxHashMap<u32, V>,
}

impl<V> Default for Means<V> {
    fn default() -> Self {
        Self { of_pair: FxHashMap::default(), of_state: FxHashMap::default() }
    }
}

/// The numbers of one instance: the shared table where its parameters are the settings'.
struct Table<'a> {
    values: Cow<'a, ValueTable>,
    returns: Arc<Returns>,
    prior: Prior,
    /// One number per scored rollout; their mean is the prior.
    prior_numbers: Vec<(usize, f64)>,
}

impl Table<'_> {
    fn new<'a>(context: &'a Context, params: &Given) -> Table<'a> {
        let settings = context.settings;
        let gamma = params.number("gamma", settings.gamma);
        let n_prior = params.number("n-prior", settings.n_prior);
        let prior = match params.text("prior") {
            "auto" => Prior::Auto,
            "rate" => Prior::Rate,
            "mean" => Prior::Mean,
            "return0" => Prior::Return0,
            _ => settings.prior,
        };
        let visit = match params.text("visit") {
            "pair" => Visit::Pair,
            "state" => Visit::State,
            "every" => Visit::Every,
            _ => settings.visit,
        };
        let shared = (gamma, n_prior, prior, visit)
            == (settings.gamma, settings.n_prior, settings.prior, settings.visit);
        let returns = if gamma == settings.gamma {
            Arc::clone(context.returns)
        } else {
            Arc::new(context.basis.returns(context.group, gamma))
        };
        let (rollouts, numbers) =
            context.basis.prior(context.group, prior, &settings.reward_source, &returns);
        let values = if shared {
            Cow::Borrowed(context.values)
        } else {
            let v_prior = stats::mean(&numbers).unwrap_or(0.0);
            let scored = &context.basis.scored;
            let (group, graph) = (context.group, context.graph);
            let weights = (n_prior, v_prior);
            Cow::Owned(ValueTable::new(group, graph, scored, &returns, visit, weights))
        };
        let prior_numbers = rollouts.into_iter().zip(numbers).collect();
        Table { values, returns, prior, prior_numbers }
    }

    fn mean<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        name: &str,
        members: &[u32],
    ) -> A::Value {
        let leaves: Vec<A::Value> = members
            .iter()
            .map(|&s| {
                let s = s as usize;
                step_leaf(
                    algebra,
                    context,
                    "G",
                    s,
                    self.returns.total.get(s).copied().unwrap_or(f64::NAN),
                )
            })
            .collect();
        algebra.mean(|| name.to_owned(), &leaves)
    }

    fn prior<A: Algebra>(&self, algebra: &A, context: &Context) -> A::Value {
        let what = if self.prior == Prior::Return0 { "G_0" } else { "R" };
        let leaves: Vec<A::Value> = self
            .prior_numbers
            .iter()
            .map(|&(i, x)| {
                algebra.leaf(x, || {
                    let id = context.group.rollouts.get(i).map_or("", |r| &r.id);
                    (format!("{what} of {id}"), id.to_owned())
                })
            })
            .collect();
        algebra.mean(|| format!("V_prior ({})", self.prior.name()), &leaves)
    }

    /// Q - V' of a step of a scored rollout.
    fn advantage<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        prior: &A::Value,
        means: &mut Means<A::Value>,
        step: usize,
    ) -> Result<A::Value, super::Missing> {
        let pair = context.graph.pair_of(step);
        let state = context.graph.pair(pair).state;
        if self.values.visit == Visit::State && self.values.counted(pair) == 0 {
            return Err("not a first visit");
        }
        let mean = |known: &mut FxHashMap<u32, A::Value>, id, name: &str, members: &[u32]| {
            let taken = || self.mean(algebra, context, name, members);
            if members.len() > 1 { known.entry(id).or_insert_with(taken).clone() } else { taken() }
        };
        let q = mean(&mut means.of_pair, pair, "Q(s,a)", self.values.pair_members(pair));
        let v = mean(&mut means.of_state, state, "V(s)", self.values.members(state));
        if self.values.n_prior == 0.0 {
            return Ok(algebra.sub(q, v));
        }
        let n = self.values.state(state).n as usize;
        let n_prior = algebra.number(self.values.n_prior);
        // Equal numbers are their own mean, without a rounding residue.
        if algebra.get(&v) == algebra.get(prior) {
            let equal = algebra.equal(vec![v, prior.clone()]);
            return Ok(
                algebra.sub(q, algebra.named(|| "V'(s), V and prior equal".to_owned(), equal))
            );
        }
        let smoothed = algebra.div(
            algebra.sum(vec![
                algebra.mul(algebra.count(n), v),
                algebra.mul(n_prior.clone(), prior.clone()),
            ]),
            algebra.sum(vec![algebra.count(n), n_prior]),
        );
        Ok(algebra.sub(q, algebra.inline(|| "V'(s)".to_owned(), smoothed)))
    }
}

impl Formula for Rtmc {
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
        let table = Table::new(context, params);
        let prior = table.prior(algebra, context);
        let raw = |wanted| {
            let mut means = Means::default();
            fill(context, wanted, |step| {
                table.advantage(algebra, context, &prior, &mut means, step)
            })
        };
        if !params.is("normalize", "on") {
            return raw(wanted);
        }
        let all: Vec<A::Value> = raw(Wanted::All).into_iter().filter_map(Result::ok).collect();
        let mean = algebra.mean(|| "mean A".to_owned(), &all);
        let std = algebra.std(&all, &mean, 0);
        let divide = algebra.get(&std) > NO_DEVIATION;
        raw(wanted)
            .into_iter()
            .map(|cell| cell.map(|a| if divide { algebra.div(a, std.clone()) } else { a }))
            .collect()
    }

    fn convention(&self, context: &Context, params: &Given) -> String {
        let table = Table::new(context, params);
        let number = super::derivation::number;
        format!(
            "n_prior {}, V_prior {} ({}), visit {}{}",
            number(table.values.n_prior),
            number(table.values.v_prior),
            table.prior.name(),
            table.values.visit.name(),
            if params.is("normalize", "on") { ", divided by std" } else { "" }
        )
    }
}
