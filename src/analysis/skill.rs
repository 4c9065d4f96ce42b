//! Held-out skill: whether a state signature says anything about the outcome of a rollout that was
//! left out.
//!
//! p = (sum R + `n_p` p0) / (n + `n_p`) over the other rollouts at the state, p0 their success rate over
//! the group; skill = 1 - Brier(p) / Brier(p0), per step.

use super::Analysis;

/// Resamples of the null.
const PERMUTATIONS: u32 = 200;

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
    /// Share of steps whose state another scored rollout visited.
    pub coverage: f64,
}

/// Skill of a group; `None` where it says nothing (uniform, fewer than two scored rollouts).
#[must_use]
pub fn skill(analysis: &Analysis) -> Option<Skill> {
    let outcomes: Vec<bool> = analysis.basis.success.clone();
    let scored: Vec<usize> = analysis.basis.scored_rollouts().collect();
    if analysis.basis.uniform_outcome() || scored.len() < 2 {
        return None;
    }
    let n_prior = analysis.settings.credit.n_prior;
    let visitors = visitors(analysis);
    let steps: Vec<(usize, u32)> = scored
        .iter()
        .filter_map(|&i| analysis.group.rollouts.get(i).map(|r| (i, r.steps.clone())))
        .flat_map(|(i, range)| range.map(move |s| (i, s)))
        .map(|(i, s)| (i, analysis.graph.state_of(s)))
        .collect();
    if steps.is_empty() {
        return None;
    }
    let covered = steps
        .iter()
        .filter(|&&(i, state)| {
            visitors.get(state as usize).is_some_and(|v| v.iter().any(|&j| j != i))
        })
        .count();
    let measure = |outcomes: &[bool]| brier_skill(&steps, &visitors, &scored, outcomes, n_prior);
    let observed = measure(&outcomes)?;
    let mut random = SplitMix(analysis.settings.seed);
    let (mut total, mut count) = (0.0, 0_u32);
    let mut shuffled = outcomes.clone();
    for _ in 0..PERMUTATIONS {
        for k in (1..scored.len()).rev() {
            let j = (random.next() % (k as u64 + 1)) as usize;
            if let (Some(&a), Some(&b)) = (scored.get(k), scored.get(j)) {
                shuffled.swap(a, b);
            }
        }
        if let Some(value) = measure(&shuffled) {
            total += value;
            count += 1;
        }
    }
    Some(Skill {
        skill: observed,
        null: total / f64::from(count.max(1)),
        ceiling: ceiling(analysis, &scored, n_prior)?,
        coverage: covered as f64 / steps.len() as f64,
    })
}

/// The mean over groups of each number; `None` without a group.
#[must_use]
pub fn mean(skills: &[Skill]) -> Option<Skill> {
    let of = |pick: fn(&Skill) -> f64| {
        crate::credit::stats::mean(&skills.iter().map(pick).collect::<Vec<_>>())
    };
    Some(Skill {
        skill: of(|s| s.skill)?,
        null: of(|s| s.null)?,
        ceiling: of(|s| s.ceiling)?,
        coverage: of(|s| s.coverage)?,
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

fn brier_skill(
    steps: &[(usize, u32)],
    visitors: &[Vec<usize>],
    scored: &[usize],
    outcomes: &[bool],
    n_prior: f64,
) -> Option<f64> {
    let is = |i: usize| f64::from(u8::from(outcomes.get(i) == Some(&true)));
    let successes: f64 = scored.iter().map(|&i| is(i)).sum();
    let (mut brier, mut base) = (0.0, 0.0);
    for &(i, state) in steps {
        let own = is(i);
        let p0 = (successes - own) / (scored.len() as f64 - 1.0);
        let (mut n, mut sum) = (0.0, 0.0);
        for &j in visitors.get(state as usize).map_or(&[][..], |v| v) {
            if j != i {
                n += 1.0;
                sum += is(j);
            }
        }
        let p = if n + n_prior == 0.0 { p0 } else { (sum + n_prior * p0) / (n + n_prior) };
        brier += (p - own) * (p - own);
        base += (p0 - own) * (p0 - own);
    }
    (base > 0.0).then(|| 1.0 - brier / base)
}

/// The skill of a signature that merges all rollouts at their first step and after it exactly those
/// of equal outcome.
fn ceiling(analysis: &Analysis, scored: &[usize], n_prior: f64) -> Option<f64> {
    let outcomes = &analysis.basis.success;
    let is = |i: usize| f64::from(u8::from(outcomes.get(i) == Some(&true)));
    let n = scored.len() as f64;
    let k: f64 = scored.iter().map(|&i| is(i)).sum();
    let (mut brier, mut base) = (0.0, 0.0);
    for &i in scored {
        let steps = analysis.group.rollouts.get(i).map_or(0, |r| r.steps.len()) as f64;
        if steps == 0.0 {
            continue;
        }
        let own = is(i);
        let p0 = (k - own) / (n - 1.0);
        let alike = if own > 0.5 { k - 1.0 } else { n - k - 1.0 };
        let weight = alike + n_prior;
        let p = if weight == 0.0 { p0 } else { (alike * own + n_prior * p0) / weight };
        let miss = (p0 - own) * (p0 - own);
        brier += miss + (steps - 1.0) * (p - own) * (p - own);
        base += steps * miss;
    }
    (base > 0.0).then(|| 1.0 - brier / base)
}

/// A small seeded generator (splitmix64): the null needs to be repeatable, not unpredictable.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
