//! RTMC (arXiv 2604.11037): Q from visit counts against a smoothed V of the merged state.

use std::borrow::Cow;
use std::rc::Rc;

use super::basis::{Prior, Visit};
use super::{
    Column, Context, Estimator, Expr, Meta, Node, ParamSpec, Params, ValueTable, mean_node, stats,
};

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
            meaning: "discount per action; inherit: --gamma",
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

/// Deviations below this count as none when normalising.
const NO_DEVIATION: f64 = 1e-8;

/// Rollout-tree Monte Carlo.
pub(super) struct Rtmc;

pub(super) static RTMC: Rtmc = Rtmc;

struct Table<'a> {
    values: Cow<'a, ValueTable>,
    returns: Cow<'a, [f64]>,
    prior: Prior,
}

impl Rtmc {
    fn table<'a>(context: &'a Context, params: &Params) -> Table<'a> {
        let settings = context.settings;
        let gamma = params.number(&META, "gamma", settings.gamma);
        let n_prior = params.number(&META, "n-prior", settings.n_prior);
        let prior = match params.text(&META, "prior") {
            "auto" => Prior::Auto,
            "rate" => Prior::Rate,
            "mean" => Prior::Mean,
            "return0" => Prior::Return0,
            _ => settings.prior,
        };
        let visit = match params.text(&META, "visit") {
            "pair" => Visit::Pair,
            "state" => Visit::State,
            "every" => Visit::Every,
            _ => settings.visit,
        };
        let same = (gamma, n_prior, prior, visit)
            == (
                settings.gamma,
                settings.n_prior,
                settings.prior,
                settings.visit,
            );
        if same {
            return Table {
                values: Cow::Borrowed(context.values),
                returns: Cow::Borrowed(&context.returns.total),
                prior,
            };
        }
        let returns = context.basis.returns(context.group, gamma);
        let (_, numbers) =
            context
                .basis
                .prior(context.group, prior, &settings.reward_source, &returns);
        let v_prior = stats::mean(&numbers).unwrap_or(0.0);
        let values = ValueTable::new(
            context.group,
            context.graph,
            &context.basis.scored,
            &returns,
            visit,
            (n_prior, v_prior),
        );
        Table {
            values: Cow::Owned(values),
            returns: Cow::Owned(returns.total),
            prior,
        }
    }

    fn raw(context: &Context, values: &ValueTable) -> Vec<Result<f64, super::Missing>> {
        let mut cells = Vec::with_capacity(context.group.len());
        for (i, rollout) in context.group.rollouts.iter().enumerate() {
            let scored = context.basis.scored.get(i) == Some(&true);
            for step in rollout.steps.clone() {
                let pair = context.graph.pair_of(step);
                let state = context.graph.pair(pair).state;
                cells.push(if !scored {
                    Err(context.unscored(i))
                } else if values.visit == Visit::State && values.counted(pair) == 0 {
                    Err("not a first visit")
                } else {
                    values
                        .smoothed(state)
                        .map(|v| values.pair(pair).mean - v)
                        .ok_or("no scored rollout was here")
                });
            }
        }
        cells
    }

    /// The deviation to divide by, when normalising and when there is one.
    fn deviation(params: &Params, cells: &[Result<f64, super::Missing>]) -> Option<f64> {
        if params.text(&META, "normalize") != "on" {
            return None;
        }
        let numbers: Vec<f64> = cells.iter().copied().filter_map(Result::ok).collect();
        let mean = stats::mean(&numbers)?;
        let std = stats::variance(&numbers, mean, 0).sqrt();
        (std > NO_DEVIATION).then_some(std)
    }
}

impl Estimator for Rtmc {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn estimate(&self, context: &Context, params: &Params) -> Column {
        let table = Self::table(context, params);
        let mut cells = Self::raw(context, &table.values);
        let deviation = Self::deviation(params, &cells);
        if let Some(std) = deviation {
            for cell in &mut cells {
                *cell = cell.map(|a| a / std);
            }
        }
        let number = super::derivation::number;
        let convention = format!(
            "n_prior {}, V_prior {} ({}), visit {}{}",
            number(table.values.n_prior),
            number(table.values.v_prior),
            table.prior.name(),
            table.values.visit.name(),
            if deviation.is_some() {
                ", divided by std"
            } else {
                ""
            }
        );
        Column { cells, convention }
    }

    fn derive(&self, context: &Context, params: &Params, step: usize) -> Option<Rc<Node>> {
        let table = Self::table(context, params);
        let cells = Self::raw(context, &table.values);
        cells.get(step).copied()?.ok()?;
        let pair = context.graph.pair_of(step);
        let state = context.graph.pair(pair).state;
        let leaves = |steps: &[u32]| -> Vec<Rc<Node>> {
            steps
                .iter()
                .map(|&s| {
                    let at = context.at(s as usize);
                    let g = table.returns.get(s as usize).copied().unwrap_or(f64::NAN);
                    Node::leaf(format!("G of {at}"), g, at)
                })
                .collect()
        };
        let q = mean_node("Q(s,a)", &leaves(table.values.pair_members(pair)));
        let v = mean_node("V(s)", &leaves(table.values.members(state)));
        let n = u64::from(table.values.state(state).n);
        let n_prior = table.values.n_prior;
        let smoothed = if n_prior == 0.0 {
            v
        } else {
            let prior = self.prior_node(context, params);
            Node::new(
                "V'(s)",
                Expr::div(
                    Expr::Sum(vec![
                        Expr::mul(Expr::Count(n), Expr::Named(v)),
                        Expr::mul(Expr::Number(n_prior), Expr::Named(prior)),
                    ]),
                    Expr::Sum(vec![Expr::Count(n), Expr::Number(n_prior)]),
                ),
            )
        };
        let inline = if n_prior == 0.0 {
            Expr::Named(smoothed)
        } else {
            Expr::Inline(smoothed)
        };
        let difference = Expr::sub(Expr::Named(q), inline);
        let expr = match Self::deviation(params, &cells) {
            None => difference,
            Some(std) => {
                let all = cells
                    .iter()
                    .enumerate()
                    .filter_map(|(s, cell)| {
                        let a = (*cell).ok()?;
                        let at = context.at(s);
                        Some(Node::leaf(format!("Q - V' of {at}"), a, at))
                    })
                    .collect::<Vec<_>>();
                let mean = mean_node("mean A", &all);
                let node = super::std_node(&all, &mean, 0, None);
                debug_assert!(node.value.to_bits() == std.to_bits());
                Expr::div(difference, Expr::Named(node))
            }
        };
        Some(Node::new("A rtmc", expr))
    }
}

impl Rtmc {
    fn prior_node(&self, context: &Context, params: &Params) -> Rc<Node> {
        let settings = context.settings;
        let table = Self::table(context, params);
        let gamma = params.number(&META, "gamma", settings.gamma);
        let returns = context.basis.returns(context.group, gamma);
        let (rollouts, numbers) = context.basis.prior(
            context.group,
            table.prior,
            &settings.reward_source,
            &returns,
        );
        let leaves: Vec<Rc<Node>> = rollouts
            .iter()
            .zip(&numbers)
            .map(|(&i, &x)| {
                let id = context.group.rollouts.get(i).map_or("", |r| &r.id);
                Node::leaf(
                    format!(
                        "{} of {id}",
                        if table.prior == Prior::Return0 {
                            "G_0"
                        } else {
                            "R"
                        }
                    ),
                    x,
                    id,
                )
            })
            .collect();
        mean_node(&format!("V_prior ({})", table.prior.name()), &leaves)
    }
}
