//! What a researcher must know before believing the numbers of a group.

use serde::Serialize;

use super::Analysis;
use crate::credit::{RewardSource, StepRewardMode, stats};
use crate::rollout::{Category, Flags, Outcome, Rollout, StepResult, plural};
use crate::signature::Abstraction;

/// A warning with a stable code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable code, for scripts.
    pub code: &'static str,
    /// What is the case, with its numbers.
    pub text: String,
    /// What it means and what to do.
    pub help: &'static str,
}

/// Relative change of the mean prior weight above which repeats inside a rollout matter.
const PRIOR_SHIFT: f64 = 0.1;
/// Magnitude above which an advantage is suspicious.
const MAGNITUDE: f64 = 10.0;
/// Share of the visits above which one state says nearly nothing.
const ONE_STATE: f64 = 0.8;
/// Share of the reward range under which a deviation is nearly none.
const NEAR_ZERO: f64 = 1e-3;

/// Share of the scored steps above which signs made by prior and discount are worth a warning.
const FLIPPED: f64 = 0.1;

/// All warnings of a group.
#[must_use]
pub fn warnings(analysis: &Analysis) -> Vec<Warning> {
    let mut list = Vec::new();
    let mut add = |code, text, help| list.push(Warning { code, text, help });
    let basis = &analysis.basis;
    let (n, k) = (basis.scored_count(), basis.successes());
    if n == 1 {
        add(
            "group-of-one",
            "group of 1: no baseline".to_owned(),
            "one scored rollout has nothing to be compared with: GRPO is 0, RTMC rests on the prior",
        );
    } else if n > 1 && basis.uniform_outcome() {
        add(
            "uniform-outcome",
            format!(
                "uniform outcome {k}/{n}: left out of gradient updates under uniform-outcome filtering"
            ),
            "all scored rollouts ended alike: GRPO is 0; what RTMC shows comes from discount and step rewards, not from the outcome",
        );
    }
    let graded = graded(analysis, &mut add);
    shaped_but_uniform(analysis, graded > 0, &mut add);
    states(analysis, &mut add);
    repeats(analysis, &mut add);
    scores(analysis, &mut add);
    tests(analysis, &mut add);
    flips(analysis, &mut add);
    values(analysis, &mut add);
    list
}

type Add<'a> = dyn FnMut(&'static str, String, &'static str) + 'a;

/// Rewards between failure and success that a threshold made failures; how many there are.
fn graded(analysis: &Analysis, add: &mut Add) -> usize {
    let by_rule = |r: &&Rollout| r.outcome_source.contains(" >");
    let between = |r: &&Rollout| {
        let number = r.outcome_reward.or(r.reward);
        number.is_some_and(|x| x > 0.0 && x < 1.0)
    };
    let rollouts = analysis.group.rollouts.iter();
    let count =
        rollouts.filter(|r| r.outcome == Outcome::Failure).filter(by_rule).filter(between).count();
    let by_outcome = analysis.settings.credit.reward_source == RewardSource::Outcome;
    if count > 0 && by_outcome {
        add(
            "graded",
            format!("{count} graded rewards between 0 and 1 count as failures: R is 1 or 0"),
            "--reward-source logged takes the numbers as they are; --success-at X moves the threshold",
        );
    }
    count
}

/// Observations that show no page. What comes after the last action of a rollout is no state.
fn pages(analysis: &Analysis, add: &mut Add) {
    let (mut seen, mut without) = (0_usize, 0_usize);
    for rollout in &analysis.group.rollouts {
        let followed = rollout.steps.start..rollout.steps.end.saturating_sub(1);
        seen += followed.len();
        let steps = analysis.group.steps.facts.steps.range(followed);
        without += steps.filter(|s| s.page.is_none()).count();
    }
    if 2 * without > seen {
        add(
            "pages-missing",
            format!(
                "{without} of {seen} observations show no page, room or screen; all of them are one state"
            ),
            "the profile's `page` pattern says what a page is: choose another --abstraction, or give a --profile that knows these observations",
        );
    }
}

/// States that the file names, and states that hold nearly everything.
fn states(analysis: &Analysis, add: &mut Add) {
    let steps = analysis.group.len();
    let keyed = analysis.group.steps.state.iter().filter(|s| !s.is_none()).count();
    if analysis.abstraction == Abstraction::Logged && keyed < steps {
        add(
            "state-keys-missing",
            format!(
                "{} of {steps} steps have no state key; each is a state of its own",
                steps - keyed
            ),
            "they are compared with nobody: give every step a `state`, or choose another --abstraction",
        );
    } else if analysis.abstraction != Abstraction::Logged && keyed > 0 {
        add(
            "state-keys-unused",
            format!(
                "{keyed} of {steps} steps have a state key in the file, which is not used: the abstraction is {}",
                analysis.abstraction.id()
            ),
            "--abstraction logged uses them",
        );
    }
    if analysis.abstraction == Abstraction::Page {
        pages(analysis, add);
    }
    let rollouts = analysis.basis.scored_count();
    let most = analysis.graph.state_counts.iter().map(|c| c.visits).max().unwrap_or(0);
    let all: u32 = analysis.graph.state_counts.iter().map(|c| c.visits).sum();
    if rollouts > 1 && steps > 2 * rollouts && f64::from(most) > ONE_STATE * f64::from(all) {
        add(
            "one-state",
            format!(
                "one state holds {most} of the {all} scored steps: the signature hardly tells them apart"
            ),
            "comparisons inside one state are between early and late steps, too: try another --abstraction or a finer --preset",
        );
    }
}

fn shaped_but_uniform(analysis: &Analysis, graded: bool, add: &mut Add) {
    let basis = &analysis.basis;
    let rewards: Vec<f64> = basis
        .scored_rollouts()
        .filter_map(|i| analysis.group.rollouts.get(i).and_then(|r| r.reward))
        .collect();
    let Some(mean) = stats::mean(&rewards) else {
        return;
    };
    let std = stats::variance(&rewards, mean, 0).sqrt();
    if basis.scored_count() > 1 && basis.uniform_outcome() && std > 0.0 {
        add(
            "shaped-uniform",
            format!(
                "uniform outcome, but the logged reward varies (std {std:.6}, ddof 0){}",
                if graded { "" } else { ": shaping only" }
            ),
            if graded {
                "a column on the logged reward is driven by grades that the threshold makes equal"
            } else {
                "a column on the logged reward is driven by shaping alone here"
            },
        );
    }
    // The range that rewards are given in, not the spread of these: no group is smaller than its own.
    let range =
        rewards.iter().copied().fold(1.0, f64::max) - rewards.iter().copied().fold(0.0, f64::min);
    if std > 0.0 && std < NEAR_ZERO * range {
        add(
            "near-zero-variance",
            format!(
                "the deviation of the logged reward is {std:e}, under a thousandth of its range"
            ),
            "dividing by it blows rounding up into advantages",
        );
    }
}

fn repeats(analysis: &Analysis, add: &mut Add) {
    let (k, m) = analysis.repeat_counts();
    if k < 2 {
        return;
    }
    let n_prior = analysis.settings.credit.n_prior;
    let (mut with, mut without) = (0.0, 0.0);
    for (state, counts) in analysis.graph.state_counts.iter().enumerate() {
        if counts.rollouts > 0 {
            let n = f64::from(analysis.values.state(state as u32).n);
            with += n_prior / (n + n_prior);
            without += n_prior / (f64::from(counts.rollouts) + n_prior);
        }
    }
    let matters = without > 0.0 && (without - with).abs() / without > PRIOR_SHIFT;
    add(
        if matters { "repeat-weight" } else { "repeat-note" },
        format!("one rollout counts up to {k} times at {m} state{}", if m == 1 { "" } else { "s" }),
        "with visit = pair a rollout that takes k actions at a state counts k times in N(s) and weakens the prior there; --visit state counts it once",
    );
}

fn scores(analysis: &Analysis, add: &mut Add) {
    let group = &analysis.group;
    let count = |outcome| group.rollouts.iter().filter(|r| r.outcome == outcome).count();
    let all = group.rollouts.len();
    let (truncated, errors, unscored) =
        (count(Outcome::Truncated), count(Outcome::Error), count(Outcome::Unscored));
    if truncated > 0 {
        let how = if analysis.settings.credit.truncated_as_failure {
            "count as failures"
        } else {
            "are left out"
        };
        add(
            "truncated",
            format!("{truncated} of {all} rollouts are truncated; they {how}"),
            "truncation is not failure: --truncated exclude leaves them out",
        );
    }
    if errors > 0 {
        let how = if analysis.settings.credit.errors_as_failure {
            "count as failures"
        } else {
            "are not scored"
        };
        add(
            "errors",
            format!("{errors} of {all} rollouts ended in an infrastructure error; they {how}"),
            "no verdict about the policy: --errors failure counts them as failures",
        );
    }
    if unscored > 0 {
        add(
            "unscored",
            format!("{unscored} of {all} rollouts have no verdict"),
            "they are drawn and never enter a statistic; the load report says why",
        );
    }
    let empty = group.rollouts.iter().filter(|r| r.steps.is_empty()).count();
    if empty > 0 {
        add(
            "empty",
            format!("{empty} of {all} rollouts have no steps"),
            "scored ones count in the group's mean: --empty exclude leaves them out",
        );
    }
    let mut harnesses: Vec<&str> =
        group.rollouts.iter().filter_map(|r| r.harness.as_deref()).collect();
    harnesses.sort_unstable();
    harnesses.dedup();
    if harnesses.len() > 1 {
        add(
            "mixed-harness",
            format!("{} harnesses pooled: {}", harnesses.len(), harnesses.join(", ")),
            "different agent programs around the model share this group: differences of tools are in the tree",
        );
    }
    if analysis.basis.step_reward_source == StepRewardMode::Logged
        && analysis.basis.step_rewards_missing > 0
    {
        add(
            "step-rewards-missing",
            format!(
                "{} of {} steps have no logged step reward; taken as 0",
                analysis.basis.step_rewards_missing,
                group.len()
            ),
            "other steps of the group have one: --step-reward none or computed treats all alike",
        );
    }
    if analysis.projection.collisions > 0 {
        add(
            "collisions",
            format!(
                "{} different edits share a short hash with another edit of their file",
                analysis.projection.collisions
            ),
            "they count as one action: raise --knob edit-hash",
        );
    }
}

/// Test runs whose verdict nobody sees: the exit code does not speak for them, and nothing was printed.
fn tests(analysis: &Analysis, add: &mut Add) {
    let facts = &analysis.group.steps.facts.steps;
    let actions = (0..facts.len()).filter_map(|step| facts.action(step));
    let (mut runs, mut blind) = (0_usize, 0_usize);
    for test in actions.filter(|a| a.category == Category::Test) {
        runs += 1;
        blind += usize::from(test.flags.has(Flags::MASKED) && test.result == StepResult::Unknown);
    }
    if blind > 0 {
        add(
            "masked-tests",
            format!("{blind} of {runs} test runs are masked and print no verdict"),
            "a pipe, `|| true` or a later command hides the exit code: their result is unknown, and states cannot tell passed from failed by them",
        );
    }
}

/// Values against the outcome of their rollout that no comparison makes.
fn flips(analysis: &Analysis, add: &mut Add) {
    let (mut prior, mut discount, mut all) = (0_usize, 0_usize, 0_usize);
    for i in analysis.basis.scored_rollouts() {
        let success = analysis.basis.success.get(i) == Some(&true);
        let steps = analysis.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
        all += steps.len();
        for step in steps {
            let against = analysis.y_column().get(step).is_some_and(|a| (a > 0.0) != success);
            match analysis.why(step).filter(|_| against) {
                Some("prior") => prior += 1,
                Some("discount") => discount += 1,
                _ => {}
            }
        }
    }
    if (prior + discount) as f64 > FLIPPED * all as f64 {
        add(
            "prior-discount-flips",
            format!(
                "{} of {all} values have the sign against their rollout's outcome from prior ({prior}) or discount ({discount}) alone",
                prior + discount
            ),
            "V_prior is not discounted and returns are: `explain --artefacts` tells from where on; --n-prior 0 or --gamma 1 shows what is left without them",
        );
    }
}

fn values(analysis: &Analysis, add: &mut Add) {
    let outweighed = analysis
        .basis
        .scored_rollouts()
        .filter(|&i| analysis.basis.success.get(i) == Some(&false))
        .filter_map(|i| analysis.group.rollouts.get(i))
        .filter(|r| !r.steps.is_empty())
        .filter(|r| {
            analysis.returns.total.get(r.steps.start).is_some_and(|&g| g > analysis.values.v_prior)
        })
        .count();
    if outweighed > 0 && analysis.values.v_prior > 0.0 {
        add(
            "shaping-outweighs-outcome",
            format!(
                "shaping outweighs outcome: G_0 of {outweighed} failed rollout{} exceeds V_prior {:.3}",
                if outweighed == 1 { "" } else { "s" },
                analysis.values.v_prior
            ),
            "step rewards alone make these failures look better than the average rollout: --step-reward none",
        );
    }
    for (spec, column) in &analysis.columns {
        let big = column.values().filter(|a| a.abs() > MAGNITUDE).count();
        if big > 0 {
            add(
                "magnitude",
                format!(
                    "{} of {} {} beyond {MAGNITUDE}",
                    plural(big, "value"),
                    spec.name,
                    if big == 1 { "is" } else { "are" }
                ),
                "look at the deviation it is divided by",
            );
        }
    }
}
