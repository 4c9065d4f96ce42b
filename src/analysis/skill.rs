//! Held-out skill: whether a state signature says anything about the outcome of a rollout that was
//! left out.
//!
//! p = (sum R + `n_p` p0) / (n + `n_p`) over the other rollouts at the state, p0 their success rate over
//! the group; skill = 1 - Brier(p) / Brier(p0), per step.
//!
//! Over several groups the Brier terms are added up before the ratio is taken: a group weighs by its
//! steps and by how uncertain its outcomes were, and no small group can pull the mean with a ratio of
//! its own. Null, ceiling and bootstrap aggregate the same sums.

use super::Analysis;
use super::resample::{Interval, SplitMix, interval};

/// Permutations of the null.
const PERMUTATIONS: usize = 200;

/// Groups under which skill is a number without a verdict.
pub const ENOUGH: usize = 5;

/// Skill of one group, with its guards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skill {
    /// 1 - Brier / Brier of the base rate.
    pub skill: f64,
    /// Mean of the same after permuting the outcomes inside the group.
    pub null: f64,
    /// What a signature could reach that tells every outcome apart after the first step, for this
    /// n and k.
    pub ceiling: f64,
}

/// Sums of squared misses, and how many steps they are from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Terms {
    /// Of the prediction from the state.
    pub brier: f64,
    /// Of the base rate.
    pub base: f64,
    /// Steps.
    pub steps: u64,
    /// Of them: steps whose state another scored rollout visited.
    pub covered: u64,
}

impl Terms {
    /// Adds one step.
    fn add(&mut self, miss: Miss, weight: f64) {
        self.brier += weight * miss.state;
        self.base += weight * miss.base;
        self.steps += 1;
        self.covered += u64::from(miss.covered);
    }

    /// Adds the terms of another group.
    pub fn merge(&mut self, other: &Self) {
        self.brier += other.brier;
        self.base += other.base;
        self.steps += other.steps;
        self.covered += other.covered;
    }

    /// 1 - Brier / Brier of the base rate; `None` where the base rate never misses.
    #[must_use]
    pub fn skill(&self) -> Option<f64> {
        (self.base > 0.0).then(|| 1.0 - self.brier / self.base)
    }

    /// Share of steps whose state another scored rollout visited.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.covered as f64 / self.steps as f64)
    }
}

/// Everything that skill is summed up from, of one group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupTerms {
    /// Each step weighs 1.
    pub steps: Terms,
    /// Each rollout weighs 1, shared by its steps.
    pub rollouts: Terms,
    /// By step number.
    pub depths: Vec<Terms>,
    /// One entry per permutation of the outcomes inside the group.
    pub null: Vec<Terms>,
    /// Of the signature that tells every outcome apart after the first step.
    pub ceiling: Terms,
    /// Scored rollouts.
    pub scored: usize,
}

/// One step's squared misses.
#[derive(Debug, Clone, Copy)]
struct Miss {
    state: f64,
    base: f64,
    covered: bool,
}

/// The terms of a group; `None` where it says nothing (uniform, fewer than two scored rollouts, no
/// steps).
#[must_use]
pub fn terms(analysis: &Analysis) -> Option<GroupTerms> {
    let outcomes = &analysis.basis.success;
    let scored: Vec<usize> = analysis.basis.scored_rollouts().collect();
    if analysis.basis.uniform_outcome() || scored.len() < 2 {
        return None;
    }
    let n_prior = analysis.settings.credit.n_prior;
    let visitors = visitors(analysis);
    let walks: Vec<(usize, Vec<u32>)> = scored
        .iter()
        .filter_map(|&i| analysis.group.rollouts.get(i).map(|r| (i, r.steps.clone())))
        .map(|(i, range)| (i, range.map(|s| analysis.graph.state_of(s)).collect()))
        .collect();
    if walks.iter().all(|(_, states)| states.is_empty()) {
        return None;
    }
    let mut found = GroupTerms { scored: scored.len(), ..GroupTerms::default() };
    let mut each = |t: usize, length: usize, miss: Miss| {
        found.steps.add(miss, 1.0);
        found.rollouts.add(miss, 1.0 / length as f64);
        if found.depths.len() <= t {
            found.depths.resize(t + 1, Terms::default());
        }
        if let Some(depth) = found.depths.get_mut(t) {
            depth.add(miss, 1.0);
        }
    };
    misses(&walks, &visitors, outcomes, n_prior, &mut each);
    let mut random = SplitMix(analysis.settings.seed);
    let mut shuffled = outcomes.clone();
    for _ in 0..PERMUTATIONS {
        for k in (1..scored.len()).rev() {
            let j = random.below(k + 1);
            if let (Some(&a), Some(&b)) = (scored.get(k), scored.get(j)) {
                shuffled.swap(a, b);
            }
        }
        let mut sum = Terms::default();
        misses(&walks, &visitors, &shuffled, n_prior, &mut |_, _, miss| sum.add(miss, 1.0));
        found.null.push(sum);
    }
    found.ceiling = ceiling(&walks, outcomes, n_prior);
    Some(found)
}

/// Skill of a group; `None` where it says nothing.
#[must_use]
pub fn skill(analysis: &Analysis) -> Option<Skill> {
    skill_of(&terms(analysis)?)
}

/// The same from terms that are there already.
#[must_use]
pub fn skill_of(terms: &GroupTerms) -> Option<Skill> {
    let aggregate = Aggregate::of(std::slice::from_ref(terms), 0);
    Some(Skill {
        skill: aggregate.steps.skill()?,
        null: aggregate.null?,
        ceiling: aggregate.ceiling?,
    })
}

/// What the intervals allow to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Fewer than five groups.
    TooFewGroups,
    /// The whole interval is above 0.
    Informative,
    /// The whole interval is below 0: worse than the base rate.
    Misleading,
    /// The interval holds 0.
    Undecided,
}

impl Verdict {
    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooFewGroups => "too_few_groups",
            Self::Informative => "informative",
            Self::Misleading => "misleading",
            Self::Undecided => "undecided",
        }
    }
}

/// Skill over several groups.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aggregate {
    /// Groups that count.
    pub groups: usize,
    /// Their scored rollouts.
    pub scored: usize,
    /// Each step weighs 1.
    pub steps: Terms,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Each rollout weighs 1.
    pub rollouts: Terms,
    /// Its interval.
    pub rollouts_interval: Option<Interval>,
    /// Mean skill over the permutations; each permutes every group.
    pub null: Option<f64>,
    /// Skill of the signature that tells every outcome apart after the first step.
    pub ceiling: Option<f64>,
}

impl Aggregate {
    /// Sums up groups in the given order.
    #[must_use]
    pub fn of(groups: &[GroupTerms], seed: u64) -> Self {
        let sum = |pick: &dyn Fn(&GroupTerms) -> Option<Terms>| sum_of(groups, pick);
        let spread = |pick: &dyn Fn(&GroupTerms) -> Option<Terms>| spread_of(groups, seed, pick);
        let nulls: Vec<f64> =
            (0..PERMUTATIONS).filter_map(|p| sum(&|g| g.null.get(p).copied()).skill()).collect();
        Self {
            groups: groups.len(),
            scored: groups.iter().map(|g| g.scored).sum(),
            steps: sum(&|g| Some(g.steps)),
            interval: spread(&|g| Some(g.steps)),
            rollouts: sum(&|g| Some(g.rollouts)),
            rollouts_interval: spread(&|g| Some(g.rollouts)),
            null: (!nulls.is_empty())
                .then(|| nulls.iter().fold(0.0, |a, x| a + x) / nulls.len() as f64),
            ceiling: sum(&|g| Some(g.ceiling)).skill(),
        }
    }

    /// What may be said of an interval over this many groups.
    #[must_use]
    pub fn verdict(groups: usize, interval: Option<Interval>) -> Verdict {
        match interval {
            Some(_) | None if groups < ENOUGH => Verdict::TooFewGroups,
            Some(i) if i.low > 0.0 => Verdict::Informative,
            Some(i) if i.high < 0.0 => Verdict::Misleading,
            _ => Verdict::Undecided,
        }
    }
}

/// Skill at one step number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth {
    /// Sums over the groups that reach it.
    pub terms: Terms,
    /// How many groups reach it.
    pub groups: usize,
    /// The interval of the skill.
    pub interval: Option<Interval>,
}

/// Skill by step number, from 0.
#[must_use]
pub fn depths(groups: &[GroupTerms], seed: u64) -> Vec<Depth> {
    let deepest = groups.iter().map(|g| g.depths.len()).max().unwrap_or(0);
    (0..deepest)
        .map(|t| {
            let pick = |g: &GroupTerms| g.depths.get(t).copied();
            Depth {
                terms: sum_of(groups, &pick),
                groups: groups.iter().filter(|g| g.depths.len() > t).count(),
                interval: spread_of(groups, seed, &pick),
            }
        })
        .collect()
}

fn sum_of(groups: &[GroupTerms], pick: &dyn Fn(&GroupTerms) -> Option<Terms>) -> Terms {
    groups.iter().filter_map(pick).fold(Terms::default(), |mut sum, t| {
        sum.merge(&t);
        sum
    })
}

fn spread_of(
    groups: &[GroupTerms],
    seed: u64,
    pick: &dyn Fn(&GroupTerms) -> Option<Terms>,
) -> Option<Interval> {
    let terms: Vec<Terms> = groups.iter().filter_map(pick).collect();
    interval(&terms, seed, |draw| {
        let mut sum = Terms::default();
        for terms in draw {
            sum.merge(terms);
        }
        sum.skill()
    })
}

/// Scored rollouts at each state, in canonical order.
fn visitors(analysis: &Analysis) -> Vec<Vec<usize>> {
    let mut visitors: Vec<Vec<usize>> = vec![Vec::new(); analysis.graph.state_counts.len()];
    for i in analysis.basis.scored_rollouts() {
        let Some(rollout) = analysis.group.rollouts.get(i) else {
            continue;
        };
        for step in rollout.steps.clone() {
            let state = analysis.graph.state_of(step) as usize;
            if analysis.graph.revisit.get(step) == Some(&false)
                && let Some(list) = visitors.get_mut(state)
            {
                list.push(i);
            }
        }
    }
    visitors
}

fn is(outcomes: &[bool], i: usize) -> f64 {
    f64::from(u8::from(outcomes.get(i) == Some(&true)))
}

/// Hands every step's squared misses over, rollout after rollout: step, length of its rollout, misses.
fn misses(
    walks: &[(usize, Vec<u32>)],
    visitors: &[Vec<usize>],
    outcomes: &[bool],
    n_prior: f64,
    each: &mut dyn FnMut(usize, usize, Miss),
) {
    let successes = walks.iter().fold(0.0, |sum, &(i, _)| sum + is(outcomes, i));
    for (i, states) in walks {
        let own = is(outcomes, *i);
        let p0 = (successes - own) / (walks.len() as f64 - 1.0);
        for (t, &state) in states.iter().enumerate() {
            let (mut n, mut sum) = (0.0, 0.0);
            for &j in visitors.get(state as usize).map_or(&[][..], |v| v) {
                if j != *i {
                    n += 1.0;
                    sum += is(outcomes, j);
                }
            }
            let p = if n + n_prior == 0.0 { p0 } else { (sum + n_prior * p0) / (n + n_prior) };
            let miss = Miss {
                state: (p - own) * (p - own),
                base: (p0 - own) * (p0 - own),
                covered: n > 0.0,
            };
            each(t, states.len(), miss);
        }
    }
}

/// The terms of a signature that merges all rollouts at their first step and after it exactly those
/// of equal outcome.
fn ceiling(walks: &[(usize, Vec<u32>)], outcomes: &[bool], n_prior: f64) -> Terms {
    let n = walks.len() as f64;
    let k = walks.iter().fold(0.0, |sum, &(i, _)| sum + is(outcomes, i));
    let mut terms = Terms::default();
    for (i, states) in walks {
        let steps = states.len() as f64;
        if steps == 0.0 {
            continue;
        }
        let own = is(outcomes, *i);
        let p0 = (k - own) / (n - 1.0);
        let alike = if own > 0.5 { k - 1.0 } else { n - k - 1.0 };
        let weight = alike + n_prior;
        let p = if weight == 0.0 { p0 } else { (alike * own + n_prior * p0) / weight };
        let miss = (p0 - own) * (p0 - own);
        terms.brier += miss + (steps - 1.0) * (p - own) * (p - own);
        terms.base += steps * miss;
        terms.steps += states.len() as u64;
        terms.covered += states.len() as u64;
    }
    terms
}
