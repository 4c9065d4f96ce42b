//! The arithmetic of one number: for people as a page, for programs as JSON.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::document::{Block, Body, Fact, Page};
use super::plain::{short, wrap};
use super::table::{Cell, Table, float, key_line, text};
use super::text as clean;
use crate::analysis::{Analysis, Explanation};
use crate::credit::derivation::number;
use crate::credit::{DiscountPer, Node, Parts};
use crate::rollout::plural;

/// Characters of an expression that a page shows.
const LONG: usize = 400;

/// What stands over the artefacts.
const ARTEFACTS: &str = "Artefacts: where discount and prior alone flip signs";

/// The page.
#[must_use]
pub fn page(analysis: &Analysis, explained: &Explanation, artefacts: bool) -> Page {
    let at = analysis.context().at(explained.index);
    let mut blocks = vec![Block::new("", "", Body::Facts(head(analysis, explained)))];
    if let Some(node) = &explained.node {
        blocks.push(Block::new("", "", Body::Lines(evaluation(node))));
    }
    blocks.push(Block::new(
        "",
        format!(
            "{} at this state (▸ the explained step's pair)",
            match explained.members.len() {
                1 => "1 step counts".to_owned(),
                n => format!("{n} steps count"),
            }
        ),
        Body::Table(members(analysis, explained)),
    ));
    if let Some(node) = &explained.node {
        blocks.push(Block::new("", "Where it comes from", Body::Facts(intermediates(node))));
    }
    if let Some(table) = parts(explained) {
        let why = explained.why.map_or_else(String::new, |w| format!("; what makes it: {w}"));
        blocks.push(Block::new("", format!("Parts of Q - V'{why}"), Body::Table(table)));
    }
    blocks.push(Block::new(
        "",
        "All columns at this step",
        Body::Table(others(analysis, explained)),
    ));
    if artefacts {
        blocks.push(Block::new("", ARTEFACTS, Body::Facts(flips(analysis))));
    }
    Page { title: format!("{}  {at}  {}", key_line(&analysis.group), explained.column), blocks }
}

/// The artefacts of a group, which need no step.
#[must_use]
pub fn artefacts_page(analysis: &Analysis) -> Page {
    let facts = Body::Facts(flips(analysis));
    Page { title: key_line(&analysis.group), blocks: vec![Block::new("", ARTEFACTS, facts)] }
}

/// The artefacts of a group as a row.
#[must_use]
pub fn artefacts_json(analysis: &Analysis, raw: bool) -> Value {
    let key = &analysis.group.key;
    let text = |s: &str| -> Value { if raw { s.into() } else { clean::line(s).into() } };
    json!({
        "namespace": text(&key.namespace),
        "task": text(&key.task),
        "policy": key.policy.as_deref().map(text),
        "train_step": key.train_step,
        "v_prior": analysis.v_prior(),
        "gamma": analysis.settings.credit.gamma,
        "artefacts": artefacts(analysis),
    })
}

/// For each step reward there is, from how many steps before the end values are negative.
fn artefacts(analysis: &Analysis) -> Vec<Value> {
    let credit = &analysis.settings.credit;
    let before_end = match credit.discount_per {
        DiscountPer::Call => "steps_before_end",
        DiscountPer::Turn => "turns_before_end",
    };
    let flip = |r| json!({"step_reward": r, before_end: analysis.discount_flip(r)});
    [0.0, credit.step_valid].into_iter().map(flip).collect()
}

fn head(analysis: &Analysis, explained: &Explanation) -> Vec<Fact> {
    let spec = analysis.column(&explained.column);
    let convention = spec.map_or("", |(_, c)| c.convention.as_str());
    let formula = spec.map_or("", |(s, _)| s.meta().formula);
    let value = match &explained.value {
        Ok(x) => format!("{}   rounded: {}", number(*x), short(*x, 3)),
        Err(reason) => format!("n/a: {reason}"),
    };
    let row = analysis.step_row(explained.index);
    let reward = format!(
        "r_t = {} step reward + {} terminal; G_t = {}",
        row.step_reward.map_or_else(|| "0 (none logged)".to_owned(), number),
        number(row.terminal),
        number(row.ret)
    );
    let mut facts = vec![
        Fact::new("value", value, Vec::new()),
        Fact::new("formula", format!("{formula}  [{convention}]"), Vec::new()),
        Fact::new("state", explained.state.as_str(), Vec::new()),
        Fact::new("action", action_text(explained), Vec::new()),
        Fact::new("reward", reward, Vec::new()),
    ];
    // Only under `visit = state` do Q and N(s) not count the same steps.
    let pair = analysis.graph.pair_of(explained.index);
    let (in_v, in_q) = (analysis.values.counted(pair), analysis.values.pair(pair).n);
    if let Some(evidence) = explained.evidence {
        facts.push(Fact::new(
            "evidence",
            format!(
                "{}; N(s,a) {} of N(s) {}, {} rollout{} here",
                evidence.name(),
                row.n_sa,
                row.n_s,
                row.state.rollouts,
                if row.state.rollouts == 1 { "" } else { "s" }
            ),
            Vec::new(),
        ));
    }
    if in_v != in_q {
        let text = format!(
            "Q is over the {in_q} first visits of the pair; only first visits of the state count in \
             V and N(s): {in_v} of these"
        );
        facts.push(Fact::new("visit", text, Vec::new()));
    }
    if let Some(at) = explained.counted_at {
        let text = format!(
            "this step takes its pair again; the visit that counts is {}",
            analysis.context().at(at)
        );
        facts.push(Fact::new("revisit", text, Vec::new()));
    }
    if !explained.marks.is_empty() {
        facts.push(Fact::new("marks", explained.marks.join("; "), Vec::new()));
    }
    facts
}

/// The signature, and the rule that gave it its category.
fn action_text(explained: &Explanation) -> String {
    if explained.rule.is_empty() {
        return explained.action.clone();
    }
    format!("{}  because: {}", explained.action, explained.rule)
}

/// The line that gives the value exactly when evaluated.
fn evaluation(node: &Node) -> Vec<String> {
    let mut lines = wrap(&format!("eval   {}", node.expression()), 80, 7);
    lines.push(format!("       = {}", number(node.value)));
    lines
}

/// The steps at the state, on lines of at most 80 cells: ids without what they share, actions without
/// their middle.
fn members(analysis: &Analysis, explained: &Explanation) -> Table {
    const ID: usize = 15;
    const ACTION: usize = 22;
    let id = |rollout: usize| analysis.group.rollouts.get(rollout).map_or("", |r| r.id.as_str());
    let ids: Vec<&str> = explained.members.iter().map(|m| id(m.rollout)).collect();
    let prefix = clean::common_prefix(&ids);
    let mut table = Table::new(vec![
        text("at").shown("here were"),
        text("outcome").shown("outcome"),
        text("action").shown("action"),
        float("g").shown("G_t"),
        float("disc").shown("R part"),
        float("shaping").shown("shaping"),
    ]);
    table.rows = explained
        .members
        .iter()
        .map(|m| {
            let mark = if m.same_action { "▸" } else { " " };
            let outcome = analysis.group.rollouts.get(m.rollout).map(|r| r.outcome);
            let own = id(m.rollout).strip_prefix(prefix).unwrap_or_default();
            let dots = if prefix.is_empty() { "" } else { "…" };
            let at = clean::line(&format!("{dots}{own}:{}", m.step)).into_owned();
            let action = clean::line(&m.action);
            vec![
                Cell::text(format!("{mark}{}", clean::cut_left(&at, ID))),
                Cell::text(outcome.map_or("", |o| o.name())),
                Cell::text(clean::cut_middle(&action, ACTION)),
                Cell::float(m.g),
                Cell::float(m.outcome),
                Cell::float(m.shaping),
            ]
        })
        .collect();
    table
}

/// Every named number below the value that is itself computed, nearest first, each once.
fn intermediates(node: &Rc<Node>) -> Vec<Fact> {
    let mut queue = node.children();
    let mut seen: Vec<Rc<Node>> = Vec::new();
    let mut at = 0;
    while let Some(next) = queue.get(at).cloned() {
        at += 1;
        if seen.iter().any(|s| Rc::ptr_eq(s, &next)) {
            continue;
        }
        queue.extend(next.children());
        seen.push(next);
    }
    let mut facts: Vec<Fact> = Vec::new();
    for node in seen.iter().filter(|n| n.source.is_none()) {
        let value = number(node.value);
        let expression = node.expression();
        let text = if expression == value {
            value
        } else if expression.chars().count() > LONG {
            let cut: String = expression.chars().take(LONG).collect();
            format!("{cut}… = {value}  (cut; --format json has all of it)")
        } else {
            format!("{expression} = {value}")
        };
        let fact = Fact::new(&node.name, text, Vec::new());
        // One number may stand at several places of the tree as nodes of their own.
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    facts
}

fn parts(explained: &Explanation) -> Option<Table> {
    let split = explained.split.as_ref()?;
    let mut table = Table::new(vec![
        text("part").shown(""),
        float("outcome").shown("outcome"),
        float("discount").shown("discount"),
        float("shaping").shown("shaping"),
        float("sum").shown("sum"),
    ]);
    let line = |name: &str, p: &Parts| {
        vec![
            Cell::text(name),
            Cell::float(p.outcome),
            Cell::float(p.discount),
            Cell::float(p.shaping),
            Cell::float(p.outcome + p.discount + p.shaping),
        ]
    };
    let (c, p) = (&split.comparison, &split.prior);
    let sum = Parts {
        outcome: c.outcome + p.outcome,
        discount: c.discount + p.discount,
        shaping: c.shaping + p.shaping,
    };
    table.rows = vec![line("comparison", c), line("prior", p), line("sum", &sum)];
    Some(table)
}

fn others(analysis: &Analysis, explained: &Explanation) -> Table {
    let mut table = Table::new(vec![
        text("column").shown("column"),
        float("value").shown("value"),
        text("convention").shown("convention").at_most(56),
    ]);
    table.rows = explained
        .others
        .iter()
        .map(|(name, value, convention)| {
            let reason = analysis.column(name).and_then(|(_, c)| c.reason(explained.index));
            let told = match (value, reason) {
                (None, Some(reason)) => format!("n/a: {reason}"),
                _ => convention.clone(),
            };
            vec![Cell::text(name.as_str()), Cell::float(*value), Cell::text(told)]
        })
        .collect();
    table
}

fn flips(analysis: &Analysis) -> Vec<Fact> {
    let credit = &analysis.settings.credit;
    let mut facts = vec![Fact::new(
        "",
        format!(
            "V_prior {} is not discounted, G is (gamma {} per {}). A step that only its own successful rollout took has the sign of G - V_prior:",
            analysis.v_prior().map_or_else(|| "unknown".to_owned(), number),
            credit.gamma,
            credit.discount_per.unit()
        ),
        Vec::new(),
    )];
    let unit = |n| match credit.discount_per {
        DiscountPer::Call => plural(n, "step"),
        DiscountPer::Turn => format!("{} of one call each", plural(n, "turn")),
    };
    for reward in [0.0, credit.step_valid] {
        let text = match analysis.discount_flip(reward) {
            Some(n) => format!("negative from {} before the end", unit(n)),
            None if analysis.v_prior().is_none() => "unknown: nothing is scored".to_owned(),
            None => "never negative".to_owned(),
        };
        facts.push(Fact::new(&format!("step reward {reward}"), text, Vec::new()));
    }
    facts
}

/// The members of the JSON envelope.
#[must_use]
pub fn json(
    analysis: &Analysis,
    explained: &Explanation,
    with_artefacts: bool,
    raw: bool,
) -> Vec<(&'static str, Value)> {
    let text = |s: &str| -> Value { if raw { s.into() } else { clean::line(s).into() } };
    let members: Vec<Value> = explained
        .members
        .iter()
        .map(|m| {
            let rollout = analysis.group.rollouts.get(m.rollout);
            json!({
                "rollout": text(rollout.map_or("", |r| r.id.as_str())),
                "step": m.step,
                "outcome": rollout.map(|r| r.outcome.name()),
                "action": text(&m.action),
                "same_action": m.same_action,
                "g": m.g,
                "outcome_part": m.outcome,
                "shaping": m.shaping,
            })
        })
        .collect();
    let part =
        |p: &Parts| json!({"outcome": p.outcome, "discount": p.discount, "shaping": p.shaping});
    let split = explained.split.as_ref();
    let others: Vec<Value> = explained
        .others
        .iter()
        .map(|(name, value, convention)| {
            json!({"column": name, "value": value, "convention": convention})
        })
        .collect();
    let row = analysis.step_row(explained.index);
    let mut out = vec![
        ("at", text(&analysis.context().at(explained.index))),
        ("column", text(&explained.column)),
        ("value", json!(explained.value.as_ref().ok())),
        ("reason", json!(explained.value.as_ref().err())),
        ("expression", json!(explained.node.as_ref().map(|n| Node::expression(n)))),
        ("tree", explained.node.as_ref().map_or(Value::Null, |n| node_json(n, &text))),
        ("members", Value::Array(members)),
        (
            "split",
            split.map_or(
                Value::Null,
                |s| json!({"comparison": part(&s.comparison), "prior": part(&s.prior)}),
            ),
        ),
        ("rule", text(&explained.rule)),
        ("marks", json!(explained.marks)),
        ("state", text(&explained.state)),
        ("action", text(&explained.action)),
        ("evidence", json!(explained.evidence.map(crate::graph::Evidence::name))),
        ("label", json!(explained.why)),
        (
            "step",
            json!({
                "step_reward": row.step_reward, "terminal": row.terminal, "ret": row.ret,
                "n_sa": row.n_sa, "n_s": row.n_s, "q": row.q, "v": row.v,
                "v_prior": analysis.v_prior(), "v_smooth": row.v_smooth,
            }),
        ),
        ("others", Value::Array(others)),
    ];
    if with_artefacts {
        out.push(("artefacts", artefacts(analysis).into()));
    }
    out
}

fn node_json(node: &Node, text: &dyn Fn(&str) -> Value) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), text(&node.name));
    map.insert("value".into(), json!(node.value));
    map.insert("expression".into(), json!(node.expression()));
    if let Some(source) = &node.source {
        map.insert("source".into(), text(source));
    }
    let children: Vec<Value> = node.children().iter().map(|c| node_json(c, text)).collect();
    map.insert("children".into(), Value::Array(children));
    Value::Object(map)
}
