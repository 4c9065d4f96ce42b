//! Columns on trees of rollouts: TEMPO and tree differences on shared prefixes, Tree-GRPO on forks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::algebra::Algebra;
use super::bellman::{Next, successor};
use super::formula::{Cells, Derived, Formula, Given, Once, Wanted, fill, scored_steps, scores};
use super::turn_columns::{at_rollout, next_key, of_rollout};
use super::{Context, Meta, ParamSpec};

const SCORE: ParamSpec = ParamSpec {
    name: "score",
    default: "outcome",
    range: "outcome|total",
    meaning: "outcome: R; total: R plus all step rewards",
};

static TEMPO_META: Meta = Meta {
    id: "tempo",
    title: "TEMPO",
    formula: "[(R - mean) + V(s') - V(s)] / (std + eps), V over the action prefix, where it branches",
    source: "arXiv 2509.18314",
    uses_states: true,
    params: &[
        ParamSpec {
            name: "prefix",
            default: "action",
            range: "action|state",
            meaning: "what rollouts share: the actions so far, or the states so far",
        },
        ParamSpec {
            name: "eps",
            default: "1e-6",
            range: "number from 0",
            meaning: "beside the deviation",
        },
        SCORE,
    ],
    reading: "the V difference enters only where the prefix has two or more continuations",
};

/// Tree-estimated mean prefix value.
pub(super) struct Tempo;
pub(super) static TEMPO: Derived<Tempo> = Derived(Tempo);

/// A prefix tree: nodes with the scored rollouts through them and their continuations.
struct Prefixes {
    members: Vec<Vec<usize>>,
    children: Vec<FxHashSet<u32>>,
    /// Node before and node after each step.
    around: FxHashMap<usize, (u32, u32)>,
}

impl Prefixes {
    fn new(context: &Context, by_state: bool) -> Self {
        let mut tree = Self {
            members: vec![Vec::new()],
            children: vec![FxHashSet::default()],
            around: FxHashMap::default(),
        };
        let mut index: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for i in context.basis.scored_rollouts() {
            let steps = context.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            let mut at = tree.enter(&mut index, None, i);
            if by_state && let Some(first) = steps.clone().next() {
                at = tree.enter(&mut index, Some((at, context.graph.state_of(first))), i);
            }
            for step in steps {
                let key = if by_state {
                    next_key(context, step)
                } else {
                    context.graph.pair(context.graph.pair_of(step)).action
                };
                let next = tree.enter(&mut index, Some((at, key)), i);
                tree.around.insert(step, (at, next));
                at = next;
            }
        }
        tree
    }

    fn enter(
        &mut self,
        index: &mut FxHashMap<(u32, u32), u32>,
        edge: Option<(u32, u32)>,
        rollout: usize,
    ) -> u32 {
        let node = match edge {
            None => 0,
            Some((from, key)) => {
                if let Some(list) = self.children.get_mut(from as usize) {
                    list.insert(key);
                }
                *index.entry((from, key)).or_insert_with(|| {
                    self.members.push(Vec::new());
                    self.children.push(FxHashSet::default());
                    self.members.len() as u32 - 1
                })
            }
        };
        if let Some(list) = self.members.get_mut(node as usize) {
            list.push(rollout);
        }
        node
    }

    fn value<A: Algebra>(
        &self,
        algebra: &A,
        scores: &[(usize, A::Value)],
        node: u32,
        name: &str,
    ) -> A::Value {
        let through = self.members.get(node as usize).map_or(&[][..], |m| m);
        let leaves: Vec<A::Value> =
            through.iter().filter_map(|&i| at_rollout(scores, i).cloned()).collect();
        algebra.mean(|| name.to_owned(), &leaves)
    }
}

impl Formula for Tempo {
    fn meta(&self) -> &'static Meta {
        &TEMPO_META
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
        let mean = algebra.mean(|| "mean R".to_owned(), &all);
        let std = algebra.std(&all, &mean, 1);
        let below = algebra.sum(vec![std, algebra.number(params.number("eps", 1e-6))]);
        let tree = Prefixes::new(context, params.is("prefix", "state"));
        let node = |name: &'static str| {
            let (tree, scores) = (&tree, &scores);
            Once::new(move |n: usize| tree.value(algebra, scores, n as u32, name))
        };
        let (v_before, v_after) = (node("V before"), node("V after"));
        fill(context, wanted, |step| {
            let own = of_rollout(context, &scores, step).ok_or("unscored")?;
            let mut above = algebra.sub(own, mean.clone());
            let &(before, after) = tree.around.get(&step).ok_or("no prefix")?;
            if tree.children.get(before as usize).is_some_and(|c| c.len() >= 2) {
                let ahead = algebra.sum(vec![above, v_after.of(after as usize)]);
                above = algebra.sub(ahead, v_before.of(before as usize));
            }
            Ok(algebra.quotient(above, below.clone()))
        })
    }

    fn convention(&self, _context: &Context, params: &Given) -> String {
        format!("prefix of {}s, ddof 1, eps {}", params.text("prefix"), params.text("eps"))
    }
}

static TREE_TD_META: Meta = Meta {
    id: "tree-td",
    title: "Tree TD",
    formula: "V(s') - V(s), V = mean R of the rollouts through s, V after the last action = R",
    source: "temporal differences on the rollout tree",
    uses_states: true,
    params: &[],
    reading: "each rollout counts once at a state",
};

/// Differences of mean terminal rewards.
pub(super) struct TreeTd;
pub(super) static TREE_TD: Derived<TreeTd> = Derived(TreeTd);

impl Formula for TreeTd {
    fn meta(&self) -> &'static Meta {
        &TREE_TD_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        _params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let scores = scores(algebra, context, false);
        let mut through: Vec<Vec<usize>> = vec![Vec::new(); context.graph.state_counts.len()];
        for step in scored_steps(context) {
            if context.graph.revisit.get(step) == Some(&false)
                && let Some(list) = through.get_mut(context.graph.state_of(step) as usize)
            {
                list.push(context.graph.rollout_of(step));
            }
        }
        let state_value = |name: &'static str| {
            let (through, scores) = (&through, &scores);
            Once::new(move |state: usize| {
                let here = through.get(state).map_or(&[][..], |t| t);
                let leaves: Vec<A::Value> =
                    here.iter().filter_map(|&i| at_rollout(scores, i).cloned()).collect();
                algebra.mean(|| name.to_owned(), &leaves)
            })
        };
        let (v_after, v_here) = (state_value("V(s')"), state_value("V(s)"));
        fill(context, wanted, |step| {
            let after = match successor(context, step, true) {
                Next::State(next) => v_after.of(next as usize),
                Next::End(_) => of_rollout(context, &scores, step).ok_or("unscored")?,
            };
            Ok(algebra.sub(after, v_here.of(context.graph.state_of(step) as usize)))
        })
    }

    fn convention(&self, _context: &Context, _params: &Given) -> String {
        "mean R, undiscounted".to_owned()
    }
}

static TREE_GRPO_META: Meta = Meta {
    id: "tree-grpo",
    title: "Tree-GRPO",
    formula: "(R - mean)/(std + 1e-6) over all leaves of the task plus the same inside the rollout's own tree",
    source: "arXiv 2509.21240",
    uses_states: false,
    params: &[SCORE],
    reading: "trees are given by forks in the file",
};

/// Two-level groups over forked rollouts.
pub(super) struct TreeGrpo;
pub(super) static TREE_GRPO: Derived<TreeGrpo> = Derived(TreeGrpo);

impl Formula for TreeGrpo {
    fn meta(&self) -> &'static Meta {
        &TREE_GRPO_META
    }

    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value> {
        let scores = scores(algebra, context, params.is("score", "total"));
        let roots = context.group.fork_roots();
        if roots.iter().enumerate().all(|(i, root)| *root == i) {
            return fill(context, wanted, |_| Err("no forks in the file"));
        }
        let level = |members: &[(usize, A::Value)], name: &str| {
            let all: Vec<A::Value> = members.iter().map(|(_, v)| v.clone()).collect();
            let mean = algebra.mean(|| format!("mean R {name}"), &all);
            let below = algebra.sum(vec![algebra.std(&all, &mean, 1), algebra.number(1e-6)]);
            (mean, below)
        };
        let (mean, below) = level(&scores, "of the task");
        let inside = Once::new(|root| {
            let tree: Vec<(usize, A::Value)> =
                scores.iter().filter(|(i, _)| roots.get(*i) == Some(&root)).cloned().collect();
            level(&tree, "of the tree")
        });
        fill(context, wanted, |step| {
            let own = of_rollout(context, &scores, step).ok_or("unscored")?;
            let rollout = context.graph.rollout_of(step);
            let (tree_mean, tree_below) = inside.of(roots.get(rollout).copied().unwrap_or(rollout));
            let part = |m: A::Value, b: A::Value| algebra.div(algebra.sub(own.clone(), m), b);
            Ok(algebra.sum(vec![part(mean.clone(), below.clone()), part(tree_mean, tree_below)]))
        })
    }

    fn convention(&self, _context: &Context, _params: &Given) -> String {
        "ddof 1, eps 1e-6".to_owned()
    }
}
