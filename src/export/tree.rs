//! The rollout tree through its two lenses: folded paths, and states with their actions.

use super::table::{
    Cell, Column, Table, float, int, key_cells, key_columns, key_line, text, truth,
};
use super::text as clean;
use super::text::width as text_width;
use crate::analysis::Analysis;
use crate::graph::paths::Row;
use crate::rollout::Outcome;
use std::fmt::Write as _;

/// Deepest indent in text.
const INDENT: u32 = 12;
/// Cells of an indented label with its marks: the numbers before it fill up to 80.
const DRAWN: usize = 34;

/// What the tree shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lens {
    /// The compressed trie of walks.
    Paths,
    /// Each state once, with its actions.
    States,
}

impl Lens {
    /// The word used in options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paths => "paths",
            Self::States => "states",
        }
    }
}

/// The columns of a lens.
#[must_use]
pub fn columns(lens: Lens) -> Vec<Column> {
    let mut columns = key_columns();
    columns.extend(match lens {
        Lens::Paths => vec![
            int("depth"),
            text("label"),
            int("n").shown("n"),
            int("successes").shown("✓"),
            int("failures").shown("✗"),
            int("n_sa").shown("N(s,a)"),
            int("n_s").shown("N(s)"),
            float("q").shown("Q"),
            float("v"),
            float("v_smooth").shown("V'"),
            float("a").shown("A"),
            int("steps"),
            int("branching"),
            int("elsewhere"),
            int("revisits"),
            text("members"),
            text("first_rollout"),
            int("first_step"),
            text("drawn").shown("action +steps ⋎branching ↺revisits").at_most(DRAWN),
        ],
        Lens::States => vec![
            text("state").shown("state").at_most(26).middle().key(),
            text("action").shown("action").at_most(22).middle().key(),
            int("n_s").shown("N(s)"),
            int("n_sa").shown("N(s,a)"),
            int("rollouts_s"),
            int("rollouts_sa").shown("rollouts"),
            int("visits_s"),
            int("visits_sa"),
            int("successes").shown("✓"),
            int("failures").shown("✗"),
            float("q").shown("Q"),
            float("v").shown("V"),
            float("v_smooth").shown("V'"),
            truth("branching").shown("branching"),
        ],
    });
    columns
}

/// The tree of a group.
#[must_use]
pub fn table(analysis: &Analysis, lens: Lens) -> Table {
    let mut table = Table::new(columns(lens));
    table.title = key_line(&analysis.group);
    table.rows = match lens {
        Lens::Paths => analysis.paths.rows.iter().map(|row| path_cells(analysis, row)).collect(),
        Lens::States => state_rows(analysis),
    };
    table
}

/// Scored rollouts among these, and how many of them are successes.
fn split(analysis: &Analysis, rollouts: impl Iterator<Item = usize>) -> (u64, u64) {
    let (mut n, mut successes) = (0, 0);
    for i in rollouts {
        if analysis.basis.scored.get(i) == Some(&true) {
            n += 1;
            let outcome = analysis.group.rollouts.get(i).map(|r| r.outcome);
            successes += u64::from(outcome == Some(Outcome::Success));
        }
    }
    (n, successes)
}

/// What a row folds: a run of one action, or further steps.
fn folded(analysis: &Analysis, row: &Row) -> String {
    let steps = row.steps as usize;
    let run = analysis.projection.action.get(row.first_step..row.first_step + steps);
    let alike = run.is_some_and(|run| run.windows(2).all(|pair| pair.first() == pair.last()));
    match steps {
        0 | 1 => String::new(),
        n if alike && n >= super::steps::LOOP => format!(" ×{n} loop"),
        n if alike => format!(" ×{n}"),
        n => format!(" +{}", n - 1),
    }
}

fn path_cells(analysis: &Analysis, row: &Row) -> Vec<Cell> {
    let step = analysis.step_row(row.first_step);
    let (n, successes) = split(analysis, row.members.iter().map(|&i| i as usize));
    let ids: Vec<&str> = row
        .members
        .iter()
        .filter_map(|&i| analysis.group.rollouts.get(i as usize))
        .map(|r| r.id.as_str())
        .collect();
    let label = analysis.action_label(row.first_step);
    let indent = " ".repeat(row.depth.min(INDENT) as usize);
    let beyond =
        if row.depth > INDENT { format!("+{} ", row.depth - INDENT) } else { String::new() };
    let mut marks = folded(analysis, row);
    for (mark, n) in [("⋎", row.branching), ("↺", row.revisits)] {
        if n > 0 {
            let _ = write!(marks, " {mark}{n}");
        }
    }
    let room = DRAWN.saturating_sub(text_width(&indent) + text_width(&beyond) + text_width(&marks));
    let short = clean::cut_middle(&clean::line(&label), room.max(8)).into_owned();
    let mut cells = key_cells(&analysis.group.key);
    cells.extend([
        Cell::int(row.depth),
        Cell::text(label.as_str()),
        Cell::int(n),
        Cell::int(successes),
        Cell::int(n - successes),
        Cell::int(step.n_sa),
        Cell::int(step.n_s),
        Cell::float(step.q),
        Cell::float(step.v),
        Cell::float(step.v_smooth),
        Cell::float(analysis.y_column().get(row.first_step)),
        Cell::int(row.steps),
        Cell::int(row.branching),
        Cell::int(row.elsewhere),
        Cell::int(row.revisits),
        Cell::text(ids.join(";")),
        Cell::text(analysis.group.rollouts.get(step.rollout).map_or("", |r| r.id.as_str())),
        Cell::int(step.step),
        Cell::text(format!("{indent}{beyond}{short}{marks}")),
    ]);
    cells
}

fn state_rows(analysis: &Analysis) -> Vec<Vec<Cell>> {
    let group = &analysis.group;
    let mut rows = Vec::new();
    for state in 0..analysis.projection.states {
        for id in analysis.graph.pairs_of(state) {
            let id = id as u32;
            let pair = analysis.graph.pair(id);
            let mut rollouts: Vec<usize> = analysis
                .graph
                .steps_of(id)
                .iter()
                .map(|&s| analysis.graph.rollout_of(s as usize))
                .collect();
            rollouts.dedup();
            let (n, successes) = split(analysis, rollouts.into_iter());
            let (q, v) = (analysis.values.pair(id), analysis.values.state(state));
            let (here, taken) = (analysis.graph.state_count(state), analysis.graph.pair_count(id));
            let mut cells = key_cells(&group.key);
            cells.extend([
                Cell::text(analysis.projection.state_label(group, state)),
                Cell::text(analysis.projection.action_label(group, pair.action)),
                Cell::int(v.n),
                Cell::int(q.n),
                Cell::int(here.rollouts),
                Cell::int(taken.rollouts),
                Cell::int(here.visits),
                Cell::int(taken.visits),
                Cell::int(successes),
                Cell::int(n - successes),
                Cell::float((q.n > 0).then_some(q.mean)),
                Cell::float((v.n > 0).then_some(v.mean)),
                Cell::float(analysis.values.smoothed(state)),
                Cell::Bool(analysis.graph.branching.get(state as usize) == Some(&true)),
            ]);
            rows.push(cells);
        }
    }
    rows
}
