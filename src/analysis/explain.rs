//! Why a number is what it is: the arithmetic of one value and the rollouts behind it.

use std::rc::Rc;

use super::Analysis;
use crate::credit::{Node, Split};
use crate::graph::Evidence;
use crate::rollout::Flags;

/// A step that counts at the state of the explained step.
#[derive(Debug, Clone)]
pub struct Member {
    /// Index in the group.
    pub index: usize,
    /// Index of the rollout.
    pub rollout: usize,
    /// Step number within the rollout.
    pub step: usize,
    /// Its action signature.
    pub action: String,
    /// Whether it is the explained step's pair: it counts in Q.
    pub same_action: bool,
    /// Return.
    pub g: f64,
    /// Of it: discounted outcome.
    pub outcome: f64,
    /// Of it: shaping.
    pub shaping: f64,
}

/// The arithmetic of one value.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Index of the step in the group.
    pub index: usize,
    /// Name of the column.
    pub column: String,
    /// The value, or why there is none.
    pub value: Result<f64, String>,
    /// The expression tree; evaluating it gives the value bit for bit.
    pub node: Option<Rc<Node>>,
    /// State signature.
    pub state: String,
    /// Action signature.
    pub action: String,
    /// Evidence class.
    pub evidence: Option<Evidence>,
    /// Steps that count at the state, the explained step's pair first, then canonical order.
    pub members: Vec<Member>,
    /// Index of the rollout's own visit that counts for this pair, where it is another one: a revisited
    /// pair inherits the value of its first visit.
    pub counted_at: Option<usize>,
    /// The rule that gave the action its category: `pytest runs tests`; empty where none was needed.
    pub rule: String,
    /// What to know about the action: `may write files`, `exit code masked`, …
    pub marks: Vec<&'static str>,
    /// The six parts of Q - V': they belong to RTMC, other columns have none.
    pub split: Option<Split>,
    /// What makes the value, where Y is RTMC.
    pub why: Option<&'static str>,
    /// Values of all columns, with their names and conventions.
    pub others: Vec<(String, Option<f64>, String)>,
}

/// The four kinds of parts that a label chooses from: `comparison` and `prior` undiscounted, and all
/// `discount` and `shaping`. They add up to the value.
#[must_use]
pub fn kinds(split: &Split) -> [(&'static str, f64); 4] {
    let Split { comparison, prior } = split;
    [
        ("comparison", comparison.outcome),
        ("prior", prior.outcome),
        ("discount", comparison.discount + prior.discount),
        ("shaping", comparison.shaping + prior.shaping),
    ]
}

/// The six parts as a table with its sums: rows comparison, prior, sum; columns outcome, discount,
/// shaping, sum.
#[must_use]
pub fn table(split: &Split) -> [(&'static str, [f64; 4]); 3] {
    let row = |o: f64, d: f64, s: f64| [o, d, s, o + d + s];
    let Split { comparison: c, prior: p } = split;
    [
        ("comparison", row(c.outcome, c.discount, c.shaping)),
        ("prior", row(p.outcome, p.discount, p.shaping)),
        ("sum", row(c.outcome + p.outcome, c.discount + p.discount, c.shaping + p.shaping)),
    ]
}

impl Analysis {
    /// Q - V' of a pair at the shared settings; `None` where no scored rollout took it.
    #[must_use]
    pub fn pair_advantage(&self, pair: crate::graph::PairId) -> Option<f64> {
        let q = self.values.pair(pair);
        let smoothed = self.values.smoothed(self.graph.pair(pair).state)?;
        (q.n > 0).then_some(q.mean - smoothed)
    }

    /// Explains the value of a column at a step. `None` for an unknown column.
    #[must_use]
    pub fn explain(&self, index: usize, column: &str) -> Option<Explanation> {
        let (spec, values) = self.column(column)?;
        let context = self.context();
        let pair = self.graph.pair_of(index);
        let state = self.graph.pair(pair).state;
        let mut members: Vec<Member> = self
            .values
            .members(state)
            .iter()
            .map(|&step| {
                let step = step as usize;
                let rollout = self.graph.rollout_of(step);
                let start = self.group.rollouts.get(rollout).map_or(0, |r| r.steps.start);
                let part = |list: &[f64]| list.get(step).copied().unwrap_or(0.0);
                Member {
                    index: step,
                    rollout,
                    step: step.saturating_sub(start),
                    action: self.action_label(step),
                    same_action: self.graph.pair_of(step) == pair,
                    g: part(&self.returns.total),
                    outcome: part(&self.returns.outcome) + part(&self.returns.discount),
                    shaping: part(&self.returns.shaping),
                }
            })
            .collect();
        let own = self.graph.rollout_of(index);
        let rtmc = spec.name.split('#').next() == Some("rtmc");
        members.sort_by_key(|m| (!m.same_action, m.rollout != own && m.same_action));
        Some(Explanation {
            index,
            column: column.to_owned(),
            value: values.cell(index).unwrap_or(Err("no such step")).map_err(ToOwned::to_owned),
            node: spec.derive(&context, index),
            state: self.state_label(index),
            action: self.action_label(index),
            evidence: self.graph.evidence.get(index).copied().flatten(),
            counted_at: members
                .iter()
                .filter(|m| m.same_action && m.rollout == own)
                .map(|m| m.index)
                .reduce(|first, at| if at == index { at } else { first })
                .filter(|&at| at != index),
            rule: self.rule(index).to_owned(),
            marks: self.marks(index),
            members,
            split: if rtmc && self.basis.scored.get(own) == Some(&true) {
                self.values.split(pair, state)
            } else {
                None
            },
            why: self.why(index),
            others: self
                .columns
                .iter()
                .map(|(s, c)| (s.name.clone(), c.get(index), c.convention.clone()))
                .collect(),
        })
    }

    /// The rule that gave a step's action its category.
    #[must_use]
    pub fn rule(&self, index: usize) -> &str {
        let step = self.group.steps.facts.steps.get(index);
        step.map_or("", |s| self.group.symbols.text(s.why))
    }

    /// What to know about the action of a step, beyond its signature.
    #[must_use]
    pub fn marks(&self, index: usize) -> Vec<&'static str> {
        let flags =
            self.group.steps.facts.steps.action(index).map_or(Flags::default(), |a| a.flags);
        [
            (Flags::MASKED, "exit code masked"),
            (Flags::MAY_WRITE, "may write files"),
            (Flags::SUSPICIOUS, "suspicious: empty old_str"),
            (Flags::NO_OP, "changed nothing"),
            (Flags::NOTHING_RAN, "nothing ran"),
            (Flags::IMPLICIT_FINISH, "closing message taken as finish"),
            (Flags::UNPARSABLE, "unparsable arguments"),
            (Flags::UNKNOWN_TOOL, "unknown tool"),
            (Flags::NO_RESULT, "no result in the file"),
            (Flags::EMPTY_COMMAND, "empty command"),
            (Flags::INVALID, "invalid call"),
        ]
        .into_iter()
        .filter(|(flag, _)| flags.has(*flag))
        .map(|(_, text)| text)
        .collect()
    }

    /// The prior; `None` where nothing is scored.
    #[must_use]
    pub fn v_prior(&self) -> Option<f64> {
        (self.basis.scored_count() > 0).then_some(self.values.v_prior)
    }

    /// How many steps before the end a step that only its own, successful rollout ever took turns
    /// negative although nothing but discount and step rewards speak. `None` when it never does.
    ///
    /// Where the discount is per turn these are turns before the last one, of one call each: further calls
    /// of a turn bring their step rewards and no discount.
    ///
    /// A singleton has A = `n_p/(1` + `n_p`) (G - `V_prior`), so its sign is that of G - `V_prior`.
    #[must_use]
    pub fn discount_flip(&self, step_reward: f64) -> Option<u32> {
        let gamma = self.settings.credit.gamma;
        let prior = self.v_prior()?;
        let mut g = 1.0 + step_reward;
        for left in 0..100_000_u32 {
            if g < prior {
                return Some(left);
            }
            let next = step_reward + gamma * g;
            if next == g {
                return None;
            }
            g = next;
        }
        None
    }
}
