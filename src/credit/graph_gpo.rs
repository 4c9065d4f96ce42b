//! `GraphGPO` (arXiv 2605.26684): shortest observed distances to a success.

use rustc_hash::FxHashMap;

use super::algebra::Algebra;
use super::bellman::{Next, successor};
use super::formula::{Cells, Derived, Formula, Given, Groups, Wanted, fill, step_leaf};
use super::step_groups::distances;
use super::turn_columns::of_rollout;
use super::{Context, Meta, ParamSpec};

static GRAPH_GPO_META: Meta = Meta {
    id: "graph-gpo",
    title: "GraphGPO",
    formula: "r_succ w^(d(s')+1) normalised over the visits of s, plus GRPO; d: steps to a success",
    source: "arXiv 2605.26684; verl-agent recipe/GraphGPO",
    uses_states: true,
    params: &[
        ParamSpec {
            name: "w",
            default: "0.2",
            range: "number from 0",
            meaning: "decay per edge of distance in the state graph",
        },
        ParamSpec {
            name: "r-succ",
            default: "10",
            range: "number from 0",
            meaning: "reward of a success",
        },
        ParamSpec {
            name: "exponent",
            default: "d+1",
            range: "d+1|d",
            meaning: "power of w at distance d; the reference code has d",
        },
        ParamSpec {
            name: "normalize-distance",
            default: "off",
            range: "off|on",
            meaning: "on: the distance that the best step from s leaves is taken off",
        },
        ParamSpec {
            name: "norm",
            default: "mean_std",
            range: "mean_std|mean",
            meaning: "centre and divide (ddof 1, eps 1e-6), or centre",
        },
        ParamSpec { name: "w-e", default: "1", range: "number from 0", meaning: "weight of GRPO" },
        ParamSpec {
            name: "episode",
            default: "rollout",
            range: "rollout|per-step",
            meaning: "GRPO over rollouts, or over step rows as the reference code does",
        },
        ParamSpec {
            name: "episode-score",
            default: "R",
            range: "R|r-succ",
            meaning: "score of the GRPO part: R, or r_succ R as the reference code has it",
        },
        ParamSpec {
            name: "output",
            default: "final",
            range: "final|path",
            meaning: "path: the path return before it is compared",
        },
    ],
    reading: "unreachable: the longest finite distance plus 1; a state visited once gives 0",
};

/// Distances to success on the graph.
pub(super) struct GraphGpo;
pub(super) static GRAPH_GPO: Derived<GraphGpo> = Derived(GraphGpo);

impl GraphGpo {
    fn path_returns(context: &Context, params: &Given) -> Vec<f64> {
        let distance = distances(context);
        let longest = distance.iter().copied().flatten().max().unwrap_or(0);
        let unreachable = longest + 1;
        let w = params.number("w", 0.2);
        let offset = if params.is("exponent", "d") { 0.0 } else { 1.0 };
        let distance_after = |s: usize| match successor(context, s, false) {
            Next::State(next) => {
                distance.get(next as usize).copied().flatten().unwrap_or(unreachable)
            }
            Next::End(1.0) => 0,
            Next::End(_) => unreachable,
        };
        // The distance that the best step from here would leave.
        let best_after = |s: usize| {
            let here = distance.get(context.graph.state_of(s) as usize).copied().flatten();
            here.unwrap_or(unreachable) - 1
        };
        let take_off = params.is("normalize-distance", "on");
        (0..context.group.len())
            .map(|s| {
                let off = if take_off { best_after(s) } else { 0 };
                let d = f64::from(distance_after(s).saturating_sub(off));
                params.number("r-succ", 10.0) * w.powf(d + offset)
            })
            .collect()
    }
}

impl Formula for GraphGpo {
    fn meta(&self) -> &'static Meta {
        &GRAPH_GPO_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let returns = Self::path_returns(context, params);
        let leaf = |s: usize| {
            step_leaf(
                algebra,
                context,
                "path return",
                s,
                returns.get(s).copied().unwrap_or(f64::NAN),
            )
        };
        let states = Groups::by(context, |s| Some(context.graph.state_of(s)));
        let divide = params.is("norm", "mean_std");
        let weight = params.number("w-e", 1.0);
        let scale =
            if params.is("episode-score", "R") { 1.0 } else { params.number("r-succ", 10.0) };
        let per_step = params.is("episode", "per-step");
        let episode = super::step_groups::episode_part(algebra, context, divide, per_step, scale);
        let mut pools: FxHashMap<usize, (A::Value, A::Value)> = FxHashMap::default();
        fill(context, wanted, |step| {
            if params.is("output", "path") {
                return Ok(leaf(step));
            }
            let members = states.of(step);
            let part = if members.len() < 2 {
                algebra.sub(leaf(step), leaf(step))
            } else {
                let key = members.first().copied().unwrap_or(step);
                let (mean, below) = pools.entry(key).or_insert_with(|| {
                    let leaves: Vec<A::Value> = members.iter().map(|&s| leaf(s)).collect();
                    let mean = algebra.mean(|| "mean path return at the state".to_owned(), &leaves);
                    let below =
                        algebra.sum(vec![algebra.std(&leaves, &mean, 1), algebra.number(1e-6)]);
                    (mean, below)
                });
                let centred = algebra.sub(leaf(step), mean.clone());
                if divide { algebra.div(centred, below.clone()) } else { centred }
            };
            if weight == 0.0 {
                return Ok(part);
            }
            let own = of_rollout(context, &episode, step).ok_or("unscored")?;
            let own = if weight == 1.0 { own } else { algebra.mul(algebra.number(weight), own) };
            Ok(algebra.sum(vec![part, own]))
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!("w {}, r_succ {}, {}", params.text("w"), params.text("r-succ"), params.text("norm"))
    }
}
