//! A column written once as a formula over an [`Algebra`]: the wrapper makes table and derivation of it.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::algebra::{Algebra, Plain, Traced, node};
use super::{Column, Context, Estimator, Meta, Missing, Node, Params};

/// The cells that were asked for: all steps in order, or one.
pub(super) type Cells<V> = Vec<Result<V, Missing>>;

/// Which steps are wanted.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// Every step of the group; the result has one cell per step.
    All,
    /// One step; the result has one cell.
    One(usize),
}

impl Wanted {
    /// The steps, in canonical order.
    pub(super) fn steps(self, context: &Context) -> std::ops::Range<usize> {
        match self {
            Self::All => 0..context.group.len(),
            Self::One(step) => step..step + 1,
        }
    }
}

/// A column as a formula.
pub(super) trait Formula: Sync {
    fn meta(&self) -> &'static Meta;
    /// The values of the wanted steps.
    fn cells<A: Algebra>(
        &self,
        algebra: &A,
        context: &Context,
        params: &Given,
        wanted: Wanted,
    ) -> Cells<A::Value>;
    /// The convention in words.
    fn convention(&self, context: &Context, params: &Given) -> String;
}

/// Parameters, read against the column's table.
pub(super) struct Given<'a> {
    meta: &'static Meta,
    params: &'a Params,
}

impl<'a> Given<'a> {
    pub(super) const fn new(meta: &'static Meta, params: &'a Params) -> Self {
        Self { meta, params }
    }
    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.params.text(self.meta, name) == value
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.params.text(self.meta, name)
    }

    /// A number; where the text is none (`inherit`), `inherited`.
    pub(super) fn number(&self, name: &str, inherited: f64) -> f64 {
        self.params.number(self.meta, name, inherited)
    }
}

/// Makes an estimator of a formula.
pub(super) struct Derived<F>(pub F);

impl<F: Formula> Estimator for Derived<F> {
    fn meta(&self) -> &'static Meta {
        self.0.meta()
    }

    fn estimate(&self, context: &Context, params: &Params) -> Column {
        let given = Given::new(self.0.meta(), params);
        let cells = self.0.cells(&Plain, context, &given, Wanted::All);
        Column::new(cells.into_iter(), self.0.convention(context, &given))
    }

    fn derive(&self, context: &Context, params: &Params, step: usize) -> Option<Rc<Node>> {
        let given = Given::new(self.0.meta(), params);
        let cell = self.0.cells(&Traced, context, &given, Wanted::One(step)).pop()?.ok()?;
        let node = node(format!("A {}", self.0.meta().id), cell);
        node.value.is_finite().then_some(node)
    }
}

/// Steps that belong together, in canonical order: scored rollouts only.
pub(super) struct Groups {
    of: FxHashMap<usize, u32>,
    members: Vec<Vec<usize>>,
}

impl Groups {
    /// Groups the steps of scored rollouts by a key.
    pub(super) fn by<K: std::hash::Hash + Eq>(
        context: &Context,
        key: impl Fn(usize) -> Option<K>,
    ) -> Self {
        let mut index: FxHashMap<K, u32> = FxHashMap::default();
        let (mut of, mut members) = (FxHashMap::default(), Vec::<Vec<usize>>::new());
        for step in scored_steps(context) {
            let Some(key) = key(step) else { continue };
            let group = *index.entry(key).or_insert_with(|| {
                members.push(Vec::new());
                members.len() as u32 - 1
            });
            of.insert(step, group);
            if let Some(list) = members.get_mut(group as usize) {
                list.push(step);
            }
        }
        Self { of, members }
    }

    /// The steps that belong with this one, itself included.
    pub(super) fn of(&self, step: usize) -> &[usize] {
        self.of.get(&step).and_then(|&g| self.members.get(g as usize)).map_or(&[], |list| list)
    }
}

/// Steps of scored rollouts, in canonical order.
pub(super) fn scored_steps(context: &Context) -> Vec<usize> {
    context
        .basis
        .scored_rollouts()
        .filter_map(|i| context.group.rollouts.get(i))
        .flat_map(|r| r.steps.clone())
        .collect()
}

/// Fills the wanted cells of scored rollouts; the others get the rollout's reason.
pub(super) fn fill<V>(
    context: &Context,
    wanted: Wanted,
    mut value: impl FnMut(usize) -> Result<V, Missing>,
) -> Cells<V> {
    wanted
        .steps(context)
        .map(|step| {
            let rollout = context.graph.rollout_of(step);
            if context.basis.scored.get(rollout) == Some(&true) {
                value(step)
            } else {
                Err(context.unscored(rollout))
            }
        })
        .collect()
}

/// The score of each scored rollout as a leaf, in canonical order.
pub(super) fn scores<A: Algebra>(
    algebra: &A,
    context: &Context,
    total: bool,
) -> Vec<(usize, A::Value)> {
    let what = if total { "R + step rewards" } else { "R" };
    context
        .basis
        .scored_rollouts()
        .map(|i| {
            let score = context.basis.score(context.group, i, total);
            let leaf = algebra.leaf(score, || {
                let id = context.group.rollouts.get(i).map_or("", |r| &r.id);
                (format!("{what} of {id}"), id.to_owned())
            });
            (i, leaf)
        })
        .collect()
}

/// A number of a step as a leaf.
pub(super) fn step_leaf<A: Algebra>(
    algebra: &A,
    context: &Context,
    what: &str,
    step: usize,
    x: f64,
) -> A::Value {
    algebra.leaf(x, || {
        let at = context.at(step);
        (format!("{what} of {at}"), at)
    })
}

/// Values that several steps share: each is worked out once.
pub(super) struct Once<V, F> {
    known: RefCell<FxHashMap<usize, V>>,
    make: F,
}

impl<V: Clone, F: Fn(usize) -> V> Once<V, F> {
    pub(super) fn new(make: F) -> Self {
        Self { known: RefCell::new(FxHashMap::default()), make }
    }

    pub(super) fn of(&self, key: usize) -> V {
        if let Some(value) = self.known.borrow().get(&key) {
            return value.clone();
        }
        let value = (self.make)(key);
        self.known.borrow_mut().insert(key, value.clone());
        value
    }
}
