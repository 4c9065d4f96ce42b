//! The diagnostics of a group as blocks of its page.

use super::document::{Block, Body, Fact};
use super::plain::short;
use super::table::{Cell, Table, float, int, text};
use super::text as clean;
use crate::analysis::Analysis;
use crate::analysis::diagnostics::{Diagnostics, PARTS, Pivot, diagnostics};
use crate::rollout::plural;

/// Rows of a list that text shows; JSON has all of them.
const TOLD: usize = 5;

/// The blocks; those that only data forms show are left out where `data` does not ask for them, since a
/// list may have a row for each step.
#[must_use]
pub fn blocks(analysis: &Analysis, data: bool) -> Vec<Block> {
    let found = diagnostics(analysis);
    let mut blocks = vec![Block::new(
        "diagnostics",
        "Diagnostics (scored rollouts)",
        Body::Facts(facts(analysis, &found)),
    )];
    let mut list = |name: &'static str, title: &str, all: usize, rows: &dyn Fn(usize) -> Table| {
        let title = match all {
            n if n > TOLD => format!("{title} (the first {TOLD} of {n})"),
            _ => title.to_owned(),
        };
        if data {
            blocks.push(Block::new(name, "", Body::Data(rows(all))));
        }
        blocks.push(Block::new("", title, Body::Table(rows(all.min(TOLD)))));
    };
    list(
        "pivotal",
        "Pivotal steps: largest comparison of outcomes at a state",
        found.pivotal.len(),
        &|n| pivots(analysis, found.pivotal.get(..n).unwrap_or_default(), "comparison"),
    );
    list("drops", "Largest drops of V after a step", found.drops.len(), &|n| {
        pivots(analysis, found.drops.get(..n).unwrap_or_default(), "change")
    });
    list(
        "impure_states",
        "Impure states: rollouts of different fate merge here (Wilson 95 %)",
        found.impure.len(),
        &|n| impure(analysis, &found, n),
    );
    blocks.push(Block::new(
        "categories",
        format!("Categories: {} and what was lost or won", analysis.settings.y),
        Body::Table(categories(&found)),
    ));
    if data {
        blocks.push(Block::new("redundancy", "", Body::Data(redundancy(analysis, &found))));
        blocks.push(Block::new("depths", "", Body::Data(depths(&found))));
        blocks.push(Block::new("state_sizes", "", Body::Data(state_sizes(&found))));
    }
    blocks
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.0} %", 100.0 * part as f64 / whole as f64)
    }
}

fn facts(analysis: &Analysis, found: &Diagnostics) -> Vec<Fact> {
    let y = &analysis.settings.y;
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| short(x, 2));
    let [all, won, lost] = found.length;
    let mut facts = Vec::new();
    if let Some(mass) = found.mass {
        let parts: Vec<String> = PARTS
            .iter()
            .zip(mass)
            .filter(|(_, share)| *share >= 0.005)
            .map(|(name, share)| format!("{} {:.0} %", name.replace('_', " "), 100.0 * share))
            .collect();
        facts.push(Fact::new(
            "mass",
            format!("of the six parts of Q - V': {}", parts.join(", ")),
            PARTS.into_iter().zip(mass.map(Cell::float)).map(|(n, c)| (mass_name(n), c)).collect(),
        ));
    }
    facts.push(Fact::new(
        "signs",
        format!(
            "{} of {y} in {}; {} of {} values are 0; {} ({} of the steps) {} taken by successes and by others: GRPO pulls {} both ways",
            plural(found.sign_changes, "sign change"),
            plural(found.sign_changing, "rollout"),
            found.zeros,
            found.steps,
            plural(found.conflicts, "pair"),
            share(found.conflict_steps, found.steps),
            if found.conflicts == 1 { "was" } else { "were" },
            if found.conflicts == 1 { "it" } else { "them" },
        ),
        vec![
            ("sign_changes", Cell::int(found.sign_changes)),
            ("sign_changing_rollouts", Cell::int(found.sign_changing)),
            ("zero_values", Cell::int(found.zeros)),
            ("sign_conflicts", Cell::int(found.conflicts)),
            ("sign_conflict_steps", Cell::int(found.conflict_steps)),
        ],
    ));
    facts.push(Fact::new(
        "length",
        format!(
            "Spearman of {y} and steps to the end {}; in successes {}, in the others {}",
            number(all),
            number(won),
            number(lost)
        ),
        vec![
            ("length_confound", Cell::float(all)),
            ("length_confound_successes", Cell::float(won)),
            ("length_confound_others", Cell::float(lost)),
        ],
    ));
    facts.push(depth_fact(found));
    facts.push(Fact::new(
        "states",
        format!(
            "{} of {} shared states are impure, {} were reached with different results; states by rollouts: {}",
            found.impure.len(),
            found.shared_states,
            found.mixed_results,
            sizes(found)
        ),
        vec![
            ("shared_states", Cell::int(found.shared_states)),
            ("impure_states_count", Cell::int(found.impure.len())),
            ("mixed_result_states", Cell::int(found.mixed_results)),
        ],
    ));
    facts.push(waste(analysis, found));
    facts
}

const fn mass_name(part: &'static str) -> &'static str {
    match part.as_bytes() {
        b"cmp_outcome" => "mass_cmp_outcome",
        b"cmp_discount" => "mass_cmp_discount",
        b"cmp_shaping" => "mass_cmp_shaping",
        b"prior_outcome" => "mass_prior_outcome",
        b"prior_discount" => "mass_prior_discount",
        _ => "mass_prior_shaping",
    }
}

fn sizes(found: &Diagnostics) -> String {
    let parts: Vec<String> = found
        .sizes
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(at, n)| format!("{n} by {}", at + 1))
        .collect();
    parts.join(", ")
}

/// How many states so many scored rollouts passed.
fn state_sizes(found: &Diagnostics) -> Table {
    let mut table = Table::new(vec![int("rollouts"), int("states")]);
    table.rows = found
        .sizes
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(at, n)| vec![Cell::int(at + 1), Cell::int(*n)])
        .collect();
    table
}

/// Sharing by step number, in at most eight words.
fn depth_fact(found: &Diagnostics) -> Fact {
    let last = found.depths.iter().rposition(|d| d.shared > 0);
    let wide = found.depths.len().div_ceil(8).max(1);
    let parts: Vec<String> = found
        .depths
        .chunks(wide)
        .enumerate()
        .map(|(at, rows)| {
            let (from, to) = (at * wide, at * wide + rows.len() - 1);
            let name = if from == to { format!("t{from}") } else { format!("t{from}-{to}") };
            let sum = |pick: fn(&crate::analysis::diagnostics::DepthRow) -> u64| {
                rows.iter().map(pick).sum::<u64>()
            };
            format!("{name} {}", share(sum(|d| d.shared), sum(|d| d.steps)))
        })
        .collect();
    let end = last.map_or_else(|| "nowhere".to_owned(), |t| format!("up to t{t}"));
    Fact::new(
        "depth",
        format!("sharing {end}: {}", parts.join(", ")),
        vec![("sharing_ends", last.map_or(Cell::Missing, Cell::int))],
    )
}

fn waste(analysis: &Analysis, found: &Diagnostics) -> Fact {
    let scored = |(i, _): &(usize, _)| analysis.basis.scored.get(*i) == Some(&true);
    let (mut steps, mut any, mut parts) = (0, 0, [0; 3]);
    for (_, r) in found.redundancy.iter().enumerate().filter(scored) {
        steps += r.steps;
        any += r.any;
        for (sum, n) in parts.iter_mut().zip([r.revisits, r.no_ops, r.failed_again]) {
            *sum += n;
        }
    }
    let [revisits, no_ops, again] = parts;
    Fact::new(
        "redundancy",
        format!(
            "{any} of {steps} steps ({}): {revisits} at a state seen before, {} without effect, {} repeated with nothing changed",
            share(any, steps),
            plural(no_ops, "edit"),
            plural(again, "failed call")
        ),
        vec![
            ("redundant_steps", Cell::int(any)),
            ("revisit_steps", Cell::int(revisits)),
            ("no_op_edits", Cell::int(no_ops)),
            ("failed_again", Cell::int(again)),
        ],
    )
}

fn at(analysis: &Analysis, step: usize) -> (Cell, Cell) {
    let row = analysis.step_row(step);
    let id = analysis.group.rollouts.get(row.rollout).map_or("", |r| r.id.as_str());
    (Cell::text(id), Cell::int(row.step))
}

fn pivots(analysis: &Analysis, list: &[Pivot], what: &str) -> Table {
    let mut table = Table::new(vec![
        text("rollout").shown("rollout").at_most(18).key(),
        int("step").shown("t").key(),
        text("action").shown("action"),
        float(what).shown(what),
        int("n_sa").shown("N(s,a)"),
        int("n_s").shown("N(s)"),
        text("evidence").shown("evidence"),
    ]);
    table.rows = list
        .iter()
        .map(|pivot| {
            let row = analysis.step_row(pivot.step);
            let (rollout, step) = at(analysis, pivot.step);
            let action = analysis.action_label(pivot.step);
            vec![
                rollout,
                step,
                Cell::text(clean::cut_middle(&clean::line(&action), 22)),
                Cell::float(pivot.value),
                Cell::int(row.n_sa),
                Cell::int(row.n_s),
                Cell::text(row.evidence.map_or("", |e| e.name())),
            ]
        })
        .collect();
    table
}

fn impure(analysis: &Analysis, found: &Diagnostics, rows: usize) -> Table {
    let mut table = Table::new(vec![
        text("state").shown("state").at_most(34),
        int("rollouts").shown("n"),
        int("successes").shown("✓"),
        float("impurity").shown("impurity"),
        float("low").shown("low"),
        float("high").shown("high"),
        int("results").shown("results"),
    ]);
    table.rows = found
        .impure
        .iter()
        .take(rows)
        .map(|state| {
            vec![
                Cell::text(analysis.projection.state_label(&analysis.group, state.state)),
                Cell::int(state.rollouts),
                Cell::int(state.successes),
                Cell::float(state.impurity),
                Cell::float(state.interval.map(|i| i.low)),
                Cell::float(state.interval.map(|i| i.high)),
                Cell::int(state.results),
            ]
        })
        .collect();
    table
}

fn categories(found: &Diagnostics) -> Table {
    let mut table = Table::new(vec![
        text("category").shown("category").key(),
        int("steps").shown("steps"),
        float("share").shown("share"),
        int("shared"),
        float("sharing").shown("shared"),
        float("mean").shown("mean A"),
        float("mean_n").shown("mean N(s)"),
        int("regressions").shown("regressions"),
        int("progress").shown("progress"),
    ]);
    table.rows = found
        .categories
        .iter()
        .map(|row| {
            vec![
                Cell::text(row.category.name()),
                Cell::int(row.steps),
                Cell::share(row.steps, found.steps),
                Cell::int(row.shared),
                Cell::share(row.shared, row.steps),
                Cell::float(row.mean),
                Cell::float(row.visits),
                Cell::int(row.regressions),
                Cell::int(row.progress),
            ]
        })
        .collect();
    table
}

fn redundancy(analysis: &Analysis, found: &Diagnostics) -> Table {
    let mut table = Table::new(vec![
        text("rollout"),
        int("steps"),
        int("revisits"),
        int("no_op_edits"),
        int("failed_again"),
        int("redundant"),
        float("share"),
    ]);
    table.rows = analysis
        .group
        .rollouts
        .iter()
        .zip(&found.redundancy)
        .map(|(rollout, r)| {
            vec![
                Cell::text(rollout.id.as_str()),
                Cell::int(r.steps),
                Cell::int(r.revisits),
                Cell::int(r.no_ops),
                Cell::int(r.failed_again),
                Cell::int(r.any),
                Cell::share(r.any, r.steps),
            ]
        })
        .collect();
    table
}

fn depths(found: &Diagnostics) -> Table {
    let mut table = Table::new(vec![
        int("step"),
        int("steps"),
        int("shared"),
        int("compared"),
        float("sharing"),
    ]);
    table.rows = found
        .depths
        .iter()
        .enumerate()
        .map(|(t, d)| {
            vec![
                Cell::int(t),
                Cell::int(d.steps),
                Cell::int(d.shared),
                Cell::int(d.compared),
                Cell::share(d.shared, d.steps),
            ]
        })
        .collect();
    table
}
