//! A group's tree as a graph for Graphviz: folded paths, or states with their actions.

use std::fmt::Write as _;

use petgraph::visit::EdgeRef as _;

use super::plain::short;
use super::table::key_line;
use super::text;
use super::tree::Lens;
use crate::analysis::Analysis;
use crate::rollout::plural;

/// Longest label.
const LABEL: usize = 48;

/// The graph of a group, with the mark of partial data below it.
#[must_use]
pub fn graph(analysis: &Analysis, lens: Lens, partial: Option<&str>) -> String {
    let mut out = String::new();
    let title = quote(&key_line(&analysis.group));
    let _ = writeln!(out, "digraph {title} {{\n  rankdir=LR;\n  node [shape=box];");
    if let Some(partial) = partial {
        let _ = writeln!(out, "  label={};", quote(partial));
    }
    match lens {
        Lens::Paths => paths(analysis, &mut out),
        Lens::States => states(analysis, &mut out),
    }
    out.push_str("}\n");
    out
}

fn quote(value: &str) -> String {
    let line = text::line(value);
    let cut = text::cut(&line, LABEL);
    format!("\"{}\"", cut.replace('\\', "\\\\").replace('"', "\\\""))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), |x| short(x, 3))
}

fn paths(analysis: &Analysis, out: &mut String) {
    let _ = writeln!(out, "  root [label=\"start\", shape=circle];");
    for (id, row) in analysis.paths.rows.iter().enumerate() {
        let label = quote(&analysis.action_label(row.first_step));
        let scored = |i: &&u32| analysis.basis.scored.get(**i as usize) == Some(&true);
        let n = row.members.iter().filter(scored).count();
        let won = row
            .members
            .iter()
            .filter(scored)
            .filter(|i| analysis.basis.success.get(**i as usize) == Some(&true))
            .count();
        let label = label.strip_suffix('"').unwrap_or(&label);
        let _ = writeln!(
            out,
            "  p{id} [label={label}\\n{won} of {n}, {}, A {}\"];",
            plural(row.steps, "step"),
            number(analysis.y_column().get(row.first_step))
        );
        let from = row.parent.map_or_else(|| "root".to_owned(), |p| format!("p{p}"));
        let _ = writeln!(out, "  {from} -> p{id};");
    }
}

fn states(analysis: &Analysis, out: &mut String) {
    let graph = &analysis.graph;
    for state in (0..analysis.projection.states).filter(|&s| !graph.pairs_of(s).is_empty()) {
        let label = quote(&analysis.projection.state_label(&analysis.group, state));
        let label = label.strip_suffix('"').unwrap_or(&label);
        let v = analysis.values.state(state);
        let mean = number((v.n > 0).then_some(v.mean));
        let _ = writeln!(out, "  s{state} [label={label}\\nV {mean}, N {}\"];", v.n);
    }
    let end = analysis.projection.states as usize;
    let _ = writeln!(out, "  s{end} [label=\"end\", shape=doublecircle];");
    let mut edges: Vec<(usize, u32, usize, u32)> = graph
        .transitions()
        .edge_references()
        .map(|e| (e.source().index(), e.weight().pair, e.target().index(), e.weight().visits))
        .collect();
    edges.sort_unstable();
    for (from, pair, to, visits) in edges {
        let action = graph.pair(pair).action;
        let label = quote(&analysis.projection.action_label(&analysis.group, action));
        let label = label.strip_suffix('"').unwrap_or(&label);
        let value = number(analysis.pair_advantage(pair));
        let _ = writeln!(out, "  s{from} -> s{to} [label={label}\\n{visits}x, A {value}\"];");
    }
}
