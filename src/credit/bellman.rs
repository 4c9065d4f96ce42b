//! Bellman values of the state graph with two absorbing ends: z+ for a success, z- for a failure.
//!
//! V(a) = disc * `sum_x` P(x|a) V(x) over all visits of scored rollouts. A state can be last in one
//! rollout and inner in another; separate ends keep that sound. Loops make the system cyclic: it is
//! solved component by component, densely up to 256 states, above that by Gauss-Seidel.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Context;

/// Largest component that is solved densely.
const DENSE: usize = 256;
/// Gauss-Seidel stops at this change per sweep, or after [`SWEEPS`].
const STOP: f64 = 1e-15;
const SWEEPS: usize = 100_000;
/// Changes up to this size may be rounding: then the sweeps end once this many of them in a row did
/// not make the change smaller.
const ROUNDING: f64 = 1e-14;
const STEADY: u32 = 100;

/// Where a visit leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// To a state.
    State(u32),
    /// To an end of this value.
    End(f64),
}

/// Solved values.
#[derive(Debug, Clone)]
pub struct Bellman {
    /// Per state; NaN where no scored rollout was.
    pub values: Vec<f64>,
    /// Largest |V - backup of V| over all states.
    pub residual: f64,
}

/// The successor of every step: the next state, or the end that the rollout's outcome gives.
/// `graded` ends are worth the terminal reward, others 1 or 0.
pub(super) fn successor(context: &Context, step: usize, graded: bool) -> Next {
    let rollout = context.graph.rollout_of(step);
    let end = context.group.rollouts.get(rollout).map_or(0, |r| r.steps.end);
    if step + 1 < end {
        return Next::State(context.graph.state_of(step + 1));
    }
    Next::End(if graded {
        context.basis.terminal.get(rollout).copied().unwrap_or(0.0)
    } else {
        f64::from(u8::from(context.basis.success.get(rollout) == Some(&true)))
    })
}

/// Outgoing visits of each state: weights to states, and the sum of end values, over the visit count.
struct Row {
    to: Vec<(u32, f64)>,
    ends: f64,
    visits: f64,
}

fn rows(context: &Context, graded: bool) -> Vec<Row> {
    let mut raw: Vec<(Vec<u32>, f64, f64)> =
        vec![(Vec::new(), 0.0, 0.0); context.graph.state_counts.len()];
    for step in super::formula::scored_steps(context) {
        if let Some((to, ends, visits)) = raw.get_mut(context.graph.state_of(step) as usize) {
            *visits += 1.0;
            match successor(context, step, graded) {
                Next::State(state) => to.push(state),
                Next::End(value) => *ends += value,
            }
        }
    }
    raw.into_iter()
        .map(|(mut to, ends, visits)| {
            to.sort_unstable();
            let to = to
                .chunk_by(|a, b| a == b)
                .filter_map(|run| Some((*run.first()?, run.len() as f64)))
                .collect();
            Row { to, ends, visits }
        })
        .collect()
}

fn at(values: &[f64], state: u32) -> f64 {
    values.get(state as usize).copied().unwrap_or(f64::NAN)
}

fn put(values: &mut [f64], state: u32, value: f64) {
    if let Some(slot) = values.get_mut(state as usize) {
        *slot = value;
    }
}

fn backup(row: &Row, values: &[f64], disc: f64) -> f64 {
    let inner: f64 = row.to.iter().map(|&(x, weight)| weight * at(values, x)).sum();
    disc * (inner + row.ends) / row.visits
}

impl Bellman {
    /// Solves the group's values at a discount.
    #[must_use]
    pub fn solve(context: &Context, disc: f64, graded: bool) -> Self {
        let rows = rows(context, graded);
        let mut values: Vec<f64> =
            rows.iter().map(|r| if r.visits > 0.0 { 0.0 } else { f64::NAN }).collect();
        let mut graph: DiGraph<u32, ()> = DiGraph::with_capacity(rows.len(), rows.len());
        for state in 0..rows.len() as u32 {
            graph.add_node(state);
        }
        for (state, row) in rows.iter().enumerate() {
            for &(x, _) in &row.to {
                graph.add_edge(NodeIndex::new(state), NodeIndex::new(x as usize), ());
            }
        }
        // Tarjan gives components in reverse topological order: successors are solved first.
        for component in tarjan_scc(&graph) {
            let mut states: Vec<u32> = component
                .iter()
                .map(|n| n.index() as u32)
                .filter(|&s| rows.get(s as usize).is_some_and(|r| r.visits > 0.0))
                .collect();
            states.sort_unstable();
            match states.as_slice() {
                [] => {}
                [single] => solve_single(*single, &rows, &mut values, disc),
                many if many.len() <= DENSE => solve_dense(many, &rows, &mut values, disc),
                many => solve_sweeps(many, &rows, &mut values, disc),
            }
        }
        let residual = rows
            .iter()
            .enumerate()
            .filter(|(_, r)| r.visits > 0.0)
            .map(|(s, r)| (at(&values, s as u32) - backup(r, &values, disc)).abs())
            .fold(0.0, f64::max);
        Self { values, residual }
    }

    /// `depth` backups from the visit-local means of disc^(steps left + 1) times the end value; the
    /// values of the last backup but one and of the last.
    #[must_use]
    pub fn backups(context: &Context, disc: f64, depth: u32) -> (Vec<f64>, Vec<f64>) {
        let rows = rows(context, false);
        let mut sums = vec![(0.0, 0.0); rows.len()];
        for step in super::formula::scored_steps(context) {
            let left = context.basis.steps_left.get(step).copied().unwrap_or(0);
            let rollout = context.graph.rollout_of(step);
            let success = context.basis.success.get(rollout) == Some(&true);
            if let Some((sum, n)) = sums.get_mut(context.graph.state_of(step) as usize) {
                *sum += if success { power(disc, left + 1) } else { 0.0 };
                *n += 1.0;
            }
        }
        let mut now: Vec<f64> = sums.iter().map(|(s, n)| s / n).collect();
        let mut before = now.clone();
        for _ in 0..depth {
            before = now;
            now = rows
                .iter()
                .map(|r| if r.visits > 0.0 { backup(r, &before, disc) } else { f64::NAN })
                .collect();
        }
        (before, now)
    }

    /// The value of a state.
    #[must_use]
    pub fn value(&self, state: u32) -> f64 {
        at(&self.values, state)
    }
}

/// disc to a whole power, by multiplication: the same bits on every platform.
pub(super) fn power(disc: f64, n: u32) -> f64 {
    (0..n).fold(1.0, |acc, _| acc * disc)
}

fn solve_single(state: u32, rows: &[Row], values: &mut [f64], disc: f64) {
    let Some(row) = rows.get(state as usize) else { return };
    let own: f64 = row.to.iter().filter(|(x, _)| *x == state).map(|(_, w)| w).sum();
    let inner: f64 =
        row.to.iter().filter(|(x, _)| *x != state).map(|&(x, w)| w * at(values, x)).sum();
    put(values, state, disc * (inner + row.ends) / (row.visits - disc * own));
}

/// Solves `(I - disc P) V = b` of a component at once.
fn solve_dense(states: &[u32], rows: &[Row], values: &mut [f64], disc: f64) {
    let n = states.len();
    let place = |s: u32| states.binary_search(&s).ok();
    let mut matrix: Vec<Vec<f64>> = Vec::with_capacity(n);
    for (i, &state) in states.iter().enumerate() {
        let mut line = vec![0.0; n + 1];
        put(&mut line, i as u32, 1.0);
        if let Some(row) = rows.get(state as usize) {
            let mut constant = row.ends;
            for &(x, weight) in &row.to {
                match place(x) {
                    Some(j) => {
                        let old = at(&line, j as u32);
                        put(&mut line, j as u32, old - disc * weight / row.visits);
                    }
                    None => constant += weight * at(values, x),
                }
            }
            put(&mut line, n as u32, disc * constant / row.visits);
        }
        matrix.push(line);
    }
    let solution = super::linear::solve(matrix);
    for (&state, &value) in states.iter().zip(&solution) {
        put(values, state, value);
    }
}

/// One equation of a component: V = (constant + sum of weight V) / below.
struct Equation {
    state: u32,
    inner: Vec<(u32, f64)>,
    constant: f64,
    below: f64,
}

/// Gauss-Seidel from the last state to the first, until nothing changes, or until what changes is
/// rounding that no longer shrinks.
fn solve_sweeps(states: &[u32], rows: &[Row], values: &mut [f64], disc: f64) {
    let equations: Vec<Equation> = states
        .iter()
        .rev()
        .filter_map(|&state| {
            let row = rows.get(state as usize)?;
            let (mut inner, mut constant, mut own) = (Vec::new(), disc * row.ends, 0.0);
            for &(x, weight) in &row.to {
                if x == state {
                    own += weight;
                } else if states.binary_search(&x).is_ok() {
                    inner.push((x, disc * weight));
                } else {
                    constant += disc * weight * at(values, x);
                }
            }
            Some(Equation { state, inner, constant, below: row.visits - disc * own })
        })
        .collect();
    let (mut least, mut since) = (f64::INFINITY, 0);
    for _ in 0..SWEEPS {
        let mut change: f64 = 0.0;
        for equation in &equations {
            let inner: f64 = equation.inner.iter().map(|&(x, w)| w * at(values, x)).sum();
            let new = (equation.constant + inner) / equation.below;
            change = change.max((new - at(values, equation.state)).abs());
            put(values, equation.state, new);
        }
        if change < least {
            (least, since) = (change, 0);
        } else {
            since += 1;
        }
        if change <= STOP || (least <= ROUNDING && since >= STEADY) {
            return;
        }
    }
}
