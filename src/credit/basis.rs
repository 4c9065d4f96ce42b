//! What all columns of a group share: who is scored, terminal rewards, step rewards, returns.
//!
//! It depends on the settings and on the abstraction (for `auto` step rewards), never on the knobs.

use serde::Serialize;

use super::stats;
use crate::rollout::{Category, Flags, Group, Outcome, Rollout};
use crate::signature::Abstraction;

/// Which number is the terminal reward R.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum RewardSource {
    /// 1 for a success, 0 for a failure.
    Outcome,
    /// The logged number: the terminal reward, or a weighted sum of named ones.
    Logged(Vec<(String, f64)>),
}

/// Where step rewards come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum StepRewardMode {
    /// Logged when any step of the group carries one, else computed for `swe`, else none.
    Auto,
    /// None.
    None,
    /// As logged; missing ones are 0.
    Logged,
    /// The rule of the paper: valid, invalid, and a bonus for validation.
    Computed,
}

impl StepRewardMode {
    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Logged => "logged",
            Self::Computed => "computed",
        }
    }
}

/// What earns the validation bonus. The paper prints its size, not its trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum BonusOn {
    /// A test run.
    Test,
    /// A test run, or an interpreter running a file.
    TestOrRun,
    /// The first test run after an edit.
    FirstAfterEdit,
    /// Nothing.
    Off,
}

impl BonusOn {
    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::TestOrRun => "test+run",
            Self::FirstAfterEdit => "first-after-edit",
            Self::Off => "off",
        }
    }
}

/// The prior of V.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Prior {
    /// The success rate for reward source `outcome`, the mean R for `logged`.
    Auto,
    /// The success rate of the scored rollouts.
    Rate,
    /// The mean terminal reward.
    Mean,
    /// The mean return from the first step.
    Return0,
}

impl Prior {
    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rate => "rate",
            Self::Mean => "mean",
            Self::Return0 => "return0",
        }
    }
}

/// Which visits of a rollout count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Visit {
    /// The first visit of each pair.
    Pair,
    /// N and V from first visits of the state, Q from first visits of the pair.
    State,
    /// All visits.
    Every,
}

impl Visit {
    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::State => "state",
            Self::Every => "every",
        }
    }
}

/// What a discount lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum DiscountPer {
    /// Every two actions.
    Call,
    /// Actions of different turns: calls that one message made side by side are one move.
    Turn,
}

impl DiscountPer {
    /// The word used in options and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Turn => "turn",
        }
    }

    /// The same for people.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Call => "action",
            Self::Turn => "turn",
        }
    }
}

/// The settings that several columns share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CreditSettings {
    /// Terminal reward.
    pub reward_source: RewardSource,
    /// Step rewards.
    pub step_reward: StepRewardMode,
    /// Step reward of a valid action.
    pub step_valid: f64,
    /// Step reward of an invalid action.
    pub step_invalid: f64,
    /// Bonus of a validation action.
    pub beta: f64,
    /// What earns the bonus.
    pub bonus_on: BonusOn,
    /// Discount per action, or per turn.
    pub gamma: f64,
    /// Whether actions of one turn have a discount between them.
    pub discount_per: DiscountPer,
    /// Weight of the prior, in visits.
    pub n_prior: f64,
    /// The prior.
    pub prior: Prior,
    /// Which visits count.
    pub visit: Visit,
    /// Whether truncated rollouts count as failures; else they are left out.
    pub truncated_as_failure: bool,
    /// Whether errors count as failures; else they are left out.
    pub errors_as_failure: bool,
    /// Whether scored rollouts without steps count.
    pub include_empty: bool,
}

impl Default for CreditSettings {
    fn default() -> Self {
        Self {
            reward_source: RewardSource::Outcome,
            step_reward: StepRewardMode::Auto,
            step_valid: 0.005,
            step_invalid: -0.005,
            beta: 0.05,
            bonus_on: BonusOn::Test,
            gamma: 0.99,
            discount_per: DiscountPer::Call,
            n_prior: 2.0,
            prior: Prior::Auto,
            visit: Visit::Pair,
            truncated_as_failure: true,
            errors_as_failure: false,
            include_empty: true,
        }
    }
}

/// Who is scored, and with which numbers.
#[derive(Debug, Clone)]
pub struct Basis {
    /// Per rollout: whether it enters the statistics.
    pub scored: Vec<bool>,
    /// Per rollout: why it does not.
    pub unscored_reason: Vec<Option<&'static str>>,
    /// Per rollout: terminal reward R (0 where not scored).
    pub terminal: Vec<f64>,
    /// Per rollout: whether it is a success.
    pub success: Vec<bool>,
    /// Per step: step reward (shaping), without the terminal reward.
    pub step_reward: Vec<f64>,
    /// Where the step rewards came from; never [`StepRewardMode::Auto`].
    pub step_reward_source: StepRewardMode,
    /// How many steps lack a logged reward where others have one.
    pub step_rewards_missing: u32,
    /// Per step: actions left after this one in its rollout.
    pub steps_left: Vec<u32>,
    /// Per step: whether the next one of its rollout is a call of the same move, with no discount between.
    same_move: Vec<bool>,
}

impl Basis {
    /// Works out the basis of a group.
    #[must_use]
    pub fn new(group: &Group, settings: &CreditSettings, abstraction: Abstraction) -> Self {
        let verdicts: Vec<Result<f64, &'static str>> =
            group.rollouts.iter().map(|r| verdict(r, settings)).collect();
        let (step_reward_source, step_reward, step_rewards_missing) =
            step_rewards(group, settings, abstraction);
        let mut steps_left = vec![0; group.len()];
        for rollout in &group.rollouts {
            if let Some(slots) = steps_left.get_mut(rollout.steps.clone()) {
                for (left, slot) in slots.iter_mut().rev().enumerate() {
                    *slot = left as u32;
                }
            }
        }
        Self {
            scored: verdicts.iter().map(Result::is_ok).collect(),
            unscored_reason: verdicts.iter().map(|v| v.err()).collect(),
            terminal: verdicts.iter().map(|v| v.unwrap_or(0.0)).collect(),
            success: group.rollouts.iter().map(|r| r.outcome == Outcome::Success).collect(),
            step_reward,
            step_reward_source,
            step_rewards_missing,
            steps_left,
            same_move: same_moves(group, settings.discount_per),
        }
    }

    /// The step reward of a step; `None` where it is taken from the file and the file has none.
    #[must_use]
    pub fn step_reward_of(&self, group: &Group, step: usize) -> Option<f64> {
        match self.step_reward_source {
            StepRewardMode::Logged => group.steps.step_reward.get(step).copied().flatten(),
            StepRewardMode::None if group.steps.reward_lost.get(step) == Some(&true) => None,
            _ => self.step_reward.get(step).copied(),
        }
    }

    /// How many rollouts are scored.
    #[must_use]
    pub fn scored_count(&self) -> usize {
        self.scored.iter().filter(|&&s| s).count()
    }

    /// How many scored rollouts are successes.
    #[must_use]
    pub fn successes(&self) -> usize {
        self.scored.iter().zip(&self.success).filter(|&(&s, &ok)| s && ok).count()
    }

    /// Indices of the scored rollouts.
    pub fn scored_rollouts(&self) -> impl Iterator<Item = usize> + '_ {
        self.scored.iter().enumerate().filter(|&(_, &s)| s).map(|(i, _)| i)
    }

    /// Whether all scored rollouts have the same outcome (one alone is uniform, too).
    #[must_use]
    pub fn uniform_outcome(&self) -> bool {
        let (n, k) = (self.scored_count(), self.successes());
        k == 0 || k == n
    }

    /// Score of a rollout: R, or R and all its step rewards.
    #[must_use]
    pub fn score(&self, group: &Group, rollout: usize, total: bool) -> f64 {
        let r = self.terminal.get(rollout).copied().unwrap_or(0.0);
        if !total {
            return r;
        }
        let steps = group.rollouts.get(rollout).map_or(0..0, |r| r.steps.clone());
        r + stats::sum(self.step_reward.get(steps).unwrap_or(&[]))
    }

    /// What lies between a step and the next one of its rollout: the discount, or 1 inside a turn where
    /// the discount is per turn.
    #[must_use]
    pub fn discount(&self, step: usize, gamma: f64) -> f64 {
        if self.same_move.get(step) == Some(&true) { 1.0 } else { gamma }
    }

    /// Returns of every step at a discount: G and its three parts (outcome, discount, shaping).
    #[must_use]
    pub fn returns(&self, group: &Group, gamma: f64) -> Returns {
        let n = group.len();
        let mut returns = Returns {
            total: vec![0.0; n],
            outcome: vec![0.0; n],
            discount: vec![0.0; n],
            shaping: vec![0.0; n],
        };
        for (i, rollout) in group.rollouts.iter().enumerate() {
            let r = self.terminal.get(i).copied().unwrap_or(0.0);
            let (mut g, mut s, mut weight) = (0.0, 0.0, 1.0);
            for (back, at) in rollout.steps.clone().rev().enumerate() {
                let own = self.step_reward.get(at).copied().unwrap_or(0.0);
                if back == 0 {
                    g = own + r;
                    s = own;
                } else {
                    let between = self.discount(at, gamma);
                    g = own + between * g;
                    s = own + between * s;
                    weight *= between;
                }
                put(&mut returns.total, at, g);
                put(&mut returns.outcome, at, r);
                // No negative zero where R is 0.
                put(&mut returns.discount, at, (weight - 1.0) * r + 0.0);
                put(&mut returns.shaping, at, s);
            }
        }
        returns
    }

    /// The prior of V, with the numbers it is the mean of (one per scored rollout) and their rollouts.
    #[must_use]
    pub fn prior(
        &self,
        group: &Group,
        prior: Prior,
        source: &RewardSource,
        returns: &Returns,
    ) -> (Vec<usize>, Vec<f64>) {
        let rollouts: Vec<usize> = self.scored_rollouts().collect();
        let rate = prior == Prior::Rate
            || (prior == Prior::Auto && matches!(source, RewardSource::Outcome));
        let numbers = rollouts
            .iter()
            .map(|&i| {
                let r = self.terminal.get(i).copied().unwrap_or(0.0);
                if rate {
                    f64::from(u8::from(self.success.get(i).copied().unwrap_or(false)))
                } else if prior == Prior::Return0 {
                    group
                        .rollouts
                        .get(i)
                        .filter(|rollout| !rollout.steps.is_empty())
                        .and_then(|rollout| returns.total.get(rollout.steps.start).copied())
                        .unwrap_or(r)
                } else {
                    r
                }
            })
            .collect();
        (rollouts, numbers)
    }
}

/// Per step: the return and its three parts, which add up to it.
#[derive(Debug, Clone, Default)]
pub struct Returns {
    /// G: the discounted sum of the rewards from this step on.
    pub total: Vec<f64>,
    /// R, undiscounted.
    pub outcome: Vec<f64>,
    /// (gamma^k - 1) R, k = discounts from this step to the last: steps left, or turns left.
    pub discount: Vec<f64>,
    /// Discounted step rewards.
    pub shaping: Vec<f64>,
}

fn put(list: &mut [f64], at: usize, value: f64) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

/// Per step: whether the next step of the rollout belongs to the same turn, and that matters.
fn same_moves(group: &Group, per: DiscountPer) -> Vec<bool> {
    let mut same = vec![false; group.len()];
    if per == DiscountPer::Turn {
        for rollout in &group.rollouts {
            let turns = group.steps.turn.get(rollout.steps.clone()).unwrap_or(&[]);
            for (at, pair) in rollout.steps.clone().zip(turns.windows(2)) {
                if let ([a, b], Some(slot)) = (pair, same.get_mut(at)) {
                    *slot = a == b;
                }
            }
        }
    }
    same
}

fn verdict(rollout: &Rollout, settings: &CreditSettings) -> Result<f64, &'static str> {
    let counted = match rollout.outcome {
        Outcome::Success | Outcome::Failure => true,
        Outcome::Truncated => settings.truncated_as_failure,
        Outcome::Error => settings.errors_as_failure,
        Outcome::Unscored => return Err("unscored"),
    };
    if !counted {
        return Err(if rollout.outcome == Outcome::Error {
            "error"
        } else {
            "truncated, excluded"
        });
    }
    if rollout.steps.is_empty() && !settings.include_empty {
        return Err("no steps, excluded");
    }
    match &settings.reward_source {
        RewardSource::Outcome => Ok(f64::from(u8::from(rollout.outcome == Outcome::Success))),
        RewardSource::Logged(weights) if weights.is_empty() => {
            rollout.reward.or(rollout.outcome_reward).ok_or("no logged reward")
        }
        RewardSource::Logged(weights) => {
            let parts: Option<Vec<f64>> = weights
                .iter()
                .map(|(name, weight)| {
                    let named = rollout.named_rewards.iter().find(|(n, _)| n == name);
                    named.map(|(_, value)| weight * value)
                })
                .collect();
            parts.map(|p| stats::sum(&p)).ok_or("no logged reward of that name")
        }
    }
}

fn step_rewards(
    group: &Group,
    settings: &CreditSettings,
    abstraction: Abstraction,
) -> (StepRewardMode, Vec<f64>, u32) {
    let logged = |at: usize| group.steps.step_reward.get(at).copied().flatten();
    let steps = 0..group.len();
    let any = group.steps.step_reward.iter().any(Option::is_some);
    let mode = match settings.step_reward {
        StepRewardMode::Auto if any => StepRewardMode::Logged,
        StepRewardMode::Auto if abstraction == Abstraction::Swe => StepRewardMode::Computed,
        StepRewardMode::Auto => StepRewardMode::None,
        given => given,
    };
    match mode {
        StepRewardMode::Logged => {
            let missing =
                if any { steps.clone().filter(|&at| logged(at).is_none()).count() } else { 0 };
            (mode, steps.map(|at| logged(at).unwrap_or(0.0)).collect(), missing as u32)
        }
        StepRewardMode::Computed => (mode, computed(group, settings), 0),
        StepRewardMode::Auto | StepRewardMode::None => {
            (StepRewardMode::None, vec![0.0; group.len()], 0)
        }
    }
}

/// The paper's step reward: valid or invalid, plus the bonus of a validation action.
fn computed(group: &Group, settings: &CreditSettings) -> Vec<f64> {
    let mut rewards = Vec::with_capacity(group.len());
    for rollout in &group.rollouts {
        let mut edited = false;
        for fact in rollout.steps.clone().filter_map(|step| group.steps.facts.steps.action(step)) {
            let invalid = fact.category == Category::Invalid || fact.flags.has(Flags::INVALID);
            let base = if invalid { settings.step_invalid } else { settings.step_valid };
            let test = fact.category == Category::Test;
            let bonus = match settings.bonus_on {
                BonusOn::Test => test,
                BonusOn::TestOrRun => test || fact.flags.has(Flags::RUNS_FILE),
                BonusOn::FirstAfterEdit => test && edited,
                BonusOn::Off => false,
            };
            rewards.push(if bonus { base + settings.beta } else { base });
            if test {
                edited = false;
            }
            let edits = matches!(fact.category, Category::Modify | Category::Create);
            edited |= edits && !fact.result.failed() && !fact.flags.has(Flags::NO_OP);
        }
    }
    rewards
}
