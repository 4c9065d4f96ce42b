//! One page per group: what it is, how its steps are credited, what to know before believing it.

use super::document::{Block, Body, Fact, Page};
use super::plain::short;
use super::quadrants::Breakdowns;
use super::rollouts;
use super::table::{Cell, Table, int, key_cells, key_line, text, truth};
use crate::analysis::{Analysis, By, GroupRow, RolloutRow, Weight};
use crate::credit::{Prior, RewardSource, StepRewardMode};
use crate::graph::Evidence;
use crate::rollout::{Outcome, plural};
use crate::signature::{Granularity, KNOBS, PRESETS};
use std::fmt::Write as _;

/// The page of a group; of one rollout's rows where one is given. `brief` leaves the diagnostics out, and
/// `data` has in them what only data forms show.
#[must_use]
pub fn page(analysis: &Analysis, rollout: Option<&str>, brief: bool, data: bool) -> Page {
    // First, since it takes memory for a while that the tables need afterwards.
    let diagnostics = if brief { Vec::new() } else { super::diagnostics::blocks(analysis, data) };
    let row = analysis.group_row(false);
    let rows: Vec<RolloutRow> = (0..analysis.group.rollouts.len())
        .filter(|&i| {
            let id = analysis.group.rollouts.get(i).map(|r| r.id.as_str());
            rollout.is_none() || id == rollout
        })
        .map(|i| analysis.rollout_row(i))
        .collect();
    let mut blocks = vec![
        Block::new("group", "", Body::Facts(group_facts(analysis, &row))),
        Block::new("columns", "", Body::Data(conventions(analysis))),
        Block::new(
            "rollouts",
            "Rollouts: sum (Σ) and mean (µ) of each column over the steps",
            Body::Table(rollouts::table(analysis, &rows)),
        ),
        Block::new("", "Notes", Body::Facts(rollouts::notes(analysis, &rows))),
    ];
    let mut breakdown = Breakdowns::new(By::Outcome, false, Weight::Steps, false);
    breakdown.add(analysis);
    blocks.push(Block::new("quadrants", axes(analysis), Body::Table(breakdown.table())));
    blocks.push(Block::new("quadrants_totals", "", Body::Data(breakdown.totals())));
    blocks.push(Block::new("", super::quadrants::SHARES, Body::Table(breakdown.beside())));
    blocks.extend(diagnostics);
    blocks.extend(warnings(analysis));
    Page {
        title: format!("{}  {}  {}", key_line(&analysis.group), head(&row), glyphs(&row)),
        blocks,
    }
}

/// X against Y, in words.
#[must_use]
pub fn axes(analysis: &Analysis) -> String {
    let settings = &analysis.settings;
    format!(
        "Quadrants: X = {}, Y = {}; counted where |X| > {} and |Y| > {}",
        settings.x, settings.y, settings.tau.0, settings.tau.1
    )
}

/// How many rollouts there are, and how many of them have a verdict.
fn head(row: &GroupRow) -> String {
    let [.., errors, unscored] = row.outcomes;
    let s = |n: usize| if n == 1 { "" } else { "s" };
    let mut head = format!("{} rollout{}, {} scored", row.rollouts, s(row.rollouts), row.scored);
    if errors > 0 {
        let _ = write!(head, ", {errors} error{}", s(errors));
    }
    if unscored > 0 {
        let _ = write!(head, ", {unscored} unscored");
    }
    head
}

fn glyphs(row: &GroupRow) -> String {
    let [successes, failures, truncated, ..] = row.outcomes;
    format!("✓{successes} ✗{failures} ⊘{truncated}")
}

fn group_facts(analysis: &Analysis, row: &GroupRow) -> Vec<Fact> {
    let group = &analysis.group;
    let mut key = vec!["namespace", "task", "policy", "train_step"]
        .into_iter()
        .zip(key_cells(&group.key))
        .collect::<Vec<_>>();
    key.push(("profile", Cell::text(group.profile.as_str())));
    let scored_steps: u32 = row.evidence.iter().sum();
    let mut facts = vec![
        Fact::new("group", group_line(analysis), key),
        outcomes(analysis, row),
        Fact::new(
            "steps",
            format!(
                "{}, {}, {} of state and action, {}",
                plural(row.steps, "step"),
                plural(row.states, "state"),
                plural(row.pairs, "pair"),
                plural(row.branching, "branching state")
            ),
            vec![
                ("steps", Cell::int(row.steps)),
                ("states", Cell::int(row.states)),
                ("pairs", Cell::int(row.pairs)),
                ("branching_states", Cell::int(row.branching)),
            ],
        ),
        Fact::new(
            "states",
            format!(
                "{}: {}; granularity {}",
                analysis.abstraction.id(),
                analysis.abstraction_reason,
                granularity(&analysis.settings.granularity)
            ),
            vec![
                ("abstraction", Cell::text(analysis.abstraction.id())),
                ("abstraction_reason", Cell::text(analysis.abstraction_reason.as_str())),
                ("granularity", Cell::text(granularity(&analysis.settings.granularity))),
            ],
        ),
        tree(analysis),
        Fact::new(
            "sharing",
            format!(
                "{} of {scored_steps} scored steps start from a state that two or more scored rollouts visited{}",
                row.shared_steps,
                percent(row.shared_steps, scored_steps)
            ),
            vec![("shared_steps", Cell::int(row.shared_steps))],
        ),
        evidence(row, scored_steps),
    ];
    facts.extend(credit_facts(analysis));
    for (spec, column) in &analysis.columns {
        let params: Vec<String> =
            spec.params.entries().iter().map(|(n, v)| format!("{n}={v}")).collect();
        let set =
            if params.is_empty() { String::new() } else { format!("  [set {}]", params.join(" ")) };
        let mut told = format!("{}{set}", column.convention);
        let (missing, reasons) = missing(analysis, column);
        if missing > 0 {
            let _ = write!(told, "; no value at {missing} of {} steps: {reasons}", row.steps);
        }
        facts.push(Fact::new(&spec.name, told, Vec::new()));
    }
    facts
}

/// The whole key, and what the facts were read with.
fn group_line(analysis: &Analysis) -> String {
    let group = &analysis.group;
    let mut line = format!("namespace {}", group.key.namespace);
    if let Some(policy) = &group.key.policy {
        let _ = write!(line, ", policy {policy}");
    }
    if let Some(step) = group.key.train_step {
        let _ = write!(line, ", training step {step}");
    }
    if !group.profile.is_empty() {
        let _ = write!(line, ", profile {}", group.profile);
    }
    line
}

fn outcomes(analysis: &Analysis, row: &GroupRow) -> Fact {
    let verdicts = Outcome::ALL.into_iter().zip(row.outcomes).filter_map(|(outcome, n)| {
        let one = n == 1;
        Some(match outcome {
            Outcome::Success => format!("{n} success{}", if one { "" } else { "es" }),
            Outcome::Failure => format!("{n} failure{}", if one { "" } else { "s" }),
            Outcome::Truncated if n > 0 => format!("{n} truncated"),
            // These have no verdict; the head counts them.
            Outcome::Truncated | Outcome::Error | Outcome::Unscored => return None,
        })
    });
    let verdicts: Vec<String> = verdicts.collect();
    let successes = analysis.basis.successes();
    let mut text =
        format!("{}: {}; success rate {successes}/{}", head(row), verdicts.join(", "), row.scored);
    let [_, _, truncated, ..] = row.outcomes;
    if truncated > 0 && analysis.settings.credit.truncated_as_failure {
        let _ = write!(
            text,
            ", {successes}/{} without the truncated",
            row.scored.saturating_sub(truncated)
        );
    }
    let [s, f, t, e, u] = row.outcomes;
    Fact::new(
        "rollouts",
        text,
        vec![
            ("rollouts", Cell::int(row.rollouts)),
            ("scored", Cell::int(row.scored)),
            ("successes", Cell::int(s)),
            ("failures", Cell::int(f)),
            ("truncated", Cell::int(t)),
            ("errors", Cell::int(e)),
            ("unscored", Cell::int(u)),
            ("uniform", Cell::Bool(row.uniform)),
        ],
    )
}

fn percent(part: u32, whole: u32) -> String {
    match Cell::share(u64::from(part), u64::from(whole)) {
        Cell::Float(x) => format!(" ({:.1}%)", 100.0 * x),
        _ => String::new(),
    }
}

/// The preset in force, or the knobs that differ from the paper's.
fn granularity(given: &Granularity) -> String {
    let name = given.name();
    if PRESETS.contains(&name.as_str()) {
        return name;
    }
    let paper = Granularity::paper();
    let knobs = KNOBS.iter().map(|(knob, _)| (knob, given.get(knob)));
    let differing: Vec<String> = knobs
        .filter(|(knob, value)| paper.get(knob) != *value)
        .map(|(knob, value)| format!("{knob}={value}"))
        .collect();
    format!("paper with {}", differing.join(", "))
}

fn tree(analysis: &Analysis) -> Fact {
    let rows = &analysis.paths.rows;
    let forks = rows.iter().filter(|r| r.children.len() > 1).count();
    let depth = analysis.group.rollouts.iter().map(|r| r.steps.len()).max().unwrap_or(0);
    let tops = rows.iter().filter(|r| r.parent.is_none()).count();
    Fact::new(
        "tree",
        format!(
            "{} from {}, {forks} of them {}, longest walk {}",
            plural(rows.len(), "row"),
            plural(tops, "first action"),
            if forks == 1 { "forks" } else { "fork" },
            plural(depth, "step")
        ),
        vec![
            ("tree_rows", Cell::int(rows.len())),
            ("tree_forks", Cell::int(forks)),
            ("tree_first_actions", Cell::int(tops)),
            ("max_depth", Cell::int(depth)),
        ],
    )
}

fn evidence(row: &GroupRow, scored_steps: u32) -> Fact {
    let marks = ["█", "▒", "∷", "═"];
    let parts: Vec<String> = Evidence::ALL
        .iter()
        .zip(marks)
        .zip(row.evidence)
        .map(|((e, mark), n)| format!("{mark} {} {n}", e.name()))
        .collect();
    let names = ["compared_steps", "shared_only_steps", "self_steps", "single_steps"];
    Fact::new(
        "evidence",
        format!("{}  = {}", parts.join("  "), plural(scored_steps, "scored step")),
        names.into_iter().zip(row.evidence.map(Cell::int)).collect(),
    )
}

fn credit_facts(analysis: &Analysis) -> Vec<Fact> {
    let credit = &analysis.settings.credit;
    let basis = &analysis.basis;
    let logged = matches!(credit.reward_source, RewardSource::Logged(_));
    let v_prior = analysis.v_prior();
    let source = match credit.prior {
        Prior::Auto if logged => "auto: mean R".to_owned(),
        Prior::Auto | Prior::Rate => format!(
            "{}: {} of {} scored succeed",
            credit.prior.name(),
            basis.successes(),
            basis.scored_count()
        ),
        Prior::Mean => "mean R".to_owned(),
        Prior::Return0 => "mean G_0".to_owned(),
    };
    let reward = match &credit.reward_source {
        RewardSource::Outcome => "outcome: 1 for a success, 0 for a failure".to_owned(),
        RewardSource::Logged(weights) if weights.is_empty() => "logged".to_owned(),
        RewardSource::Logged(weights) => {
            let parts: Vec<String> =
                weights.iter().map(|(name, weight)| format!("{weight}*{name}")).collect();
            format!("logged: {}", parts.join(" + "))
        }
    };
    let mut steps = basis.step_reward_source.name().to_owned();
    if credit.step_reward == StepRewardMode::Auto {
        steps.push_str(" (auto)");
    }
    if basis.step_reward_source == StepRewardMode::Computed {
        let _ = write!(
            steps,
            ": valid {}, invalid {}, bonus {} on {}",
            credit.step_valid,
            credit.step_invalid,
            credit.beta,
            credit.bonus_on.name()
        );
    }
    vec![
        Fact::new(
            "V_prior",
            format!(
                "{} ({source}), weight {} visit{}",
                v_prior.map_or_else(|| "-".to_owned(), |v| short(v, 4)),
                credit.n_prior,
                if credit.n_prior == 1.0 { "" } else { "s" }
            ),
            vec![
                ("v_prior", Cell::float(v_prior)),
                ("v_prior_source", Cell::text(source.clone())),
                ("n_prior", Cell::float(credit.n_prior)),
            ],
        ),
        Fact::new(
            "rewards",
            format!(
                "R {reward}; step rewards {steps}; gamma {} per {}",
                credit.gamma,
                credit.discount_per.unit()
            ),
            vec![
                ("reward_source", Cell::text(reward.clone())),
                ("step_reward_source", Cell::text(basis.step_reward_source.name())),
                ("gamma", Cell::float(credit.gamma)),
            ],
        ),
    ]
}

/// Steps without a value of a column, and why, the most frequent reason first.
fn missing(analysis: &Analysis, column: &crate::credit::Column) -> (usize, String) {
    let mut reasons: Vec<(&'static str, usize)> = Vec::new();
    for reason in (0..analysis.group.len()).filter_map(|step| column.reason(step)) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, n)) => *n += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let told: Vec<String> = reasons
        .iter()
        .map(
            |(reason, n)| {
                if reasons.len() == 1 { (*reason).to_owned() } else { format!("{reason} ({n})") }
            },
        )
        .collect();
    (reasons.iter().map(|(_, n)| n).sum(), told.join(", "))
}

fn conventions(analysis: &Analysis) -> Table {
    let mut table = Table::new(vec![
        text("name"),
        text("formula"),
        text("convention"),
        text("source"),
        truth("uses_states"),
        int("missing"),
        text("reason"),
    ]);
    table.rows = analysis
        .columns
        .iter()
        .map(|(spec, column)| {
            let meta = spec.meta();
            let (missing, reasons) = missing(analysis, column);
            vec![
                Cell::text(spec.name.as_str()),
                Cell::text(meta.formula),
                Cell::text(column.convention.as_str()),
                Cell::text(meta.source),
                Cell::Bool(meta.uses_states),
                Cell::int(missing),
                Cell::text(reasons),
            ]
        })
        .collect();
    table
}

fn warnings(analysis: &Analysis) -> Vec<Block> {
    let mut table = Table::new(vec![text("code"), text("text"), text("help")]);
    let mut facts = Vec::new();
    for w in &analysis.warnings {
        table.rows.push(vec![Cell::text(w.code), Cell::text(w.text.as_str()), Cell::text(w.help)]);
        facts.push(Fact::new(
            "⚠",
            format!("[{}] {}. {}", w.code, capital(&w.text), capital(w.help)),
            Vec::new(),
        ));
    }
    vec![
        Block::new("warnings", "", Body::Data(table)),
        Block::new("", "Warnings", Body::Facts(facts)),
    ]
}

/// The text with its first letter as a capital.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
