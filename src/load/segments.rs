//! What the segments of a rollout say together: which of them are missing, and whether they
//! contradict each other about how it went. Nothing is decided or mended here.

use super::identity::Draft;
use super::work::Pending;

/// From here on the places are marks that give an order and leave gaps, not numbers of segments.
const NUMBERS: u64 = 1 << 32;

/// Gaps that are listed one by one.
const LISTED: usize = 4;

/// Writes down which segments each rollout of a group lacks; the ids of those that lack some.
pub fn mark_missing(drafts: &mut [Draft]) -> Vec<String> {
    let first = drafts.iter().filter_map(|d| places(d).into_iter().min()).min();
    // Some count from 1: where nobody in the group has a segment 0, none is missing.
    let Some(first) = first.map(|first| first.min(1)) else { return Vec::new() };
    let mut lacking = Vec::new();
    for draft in drafts {
        draft.missing = words(&gaps(first, &places(draft)));
        if !draft.missing.is_empty() {
            lacking.push(draft.id.clone());
        }
    }
    lacking
}

/// The numbers of its segments, ascending; none where they are no numbers.
fn places(draft: &Draft) -> Vec<u64> {
    let places: Option<Vec<u64>> = parts(draft).map(|p| p.raw.segment_index).collect();
    places.filter(|all| all.iter().all(|&n| n < NUMBERS)).unwrap_or_default()
}

fn parts(draft: &Draft) -> impl Iterator<Item = &Pending> {
    draft.earlier.iter().chain([&draft.pending])
}

/// First and last number of each gap.
fn gaps(first: u64, places: &[u64]) -> Vec<(u64, u64)> {
    let mut next = first;
    let mut gaps = Vec::new();
    for &place in places {
        if place > next {
            gaps.push((next, place - 1));
        }
        next = place + 1;
    }
    gaps
}

fn words(gaps: &[(u64, u64)]) -> String {
    let one = |&(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let listed: Vec<String> = gaps.iter().take(LISTED).map(one).collect();
    let word = match gaps {
        [] => return String::new(),
        [(first, last)] if first == last => "segment",
        _ => "segments",
    };
    let more = if gaps.len() > LISTED { ", …" } else { "" };
    format!("{word} {}{more}", listed.join(", "))
}

/// What the segments of a rollout say differently about how it went: (field, what).
pub fn contradictions(draft: &Draft) -> Vec<(&'static str, String)> {
    let told = |name: &'static str, said: &dyn Fn(&Pending) -> Option<String>| {
        let mut all: Vec<String> = Vec::new();
        for text in parts(draft).filter_map(said) {
            if !all.contains(&text) {
                all.push(text);
            }
        }
        let reason = format!("its segments say {}; the last one counts", all.join(" and "));
        (all.len() > 1).then_some((name, reason))
    };
    let number = |n: Option<f64>| n.map(|n| n.to_string());
    [
        told("outcome", &|p| p.raw.outcome.map(|o| o.name().to_owned())),
        told("verdict", &|p| p.raw.verdict.map(|v| v.to_string())),
        told("outcome_reward", &|p| number(p.raw.outcome_reward.value())),
        told("reward", &|p| number(p.raw.reward.value())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_named() {
        assert_eq!(words(&gaps(0, &[0, 1, 2])), "");
        assert_eq!(words(&gaps(0, &[0, 2])), "segment 1");
        assert_eq!(words(&gaps(0, &[1, 5, 9])), "segments 0, 2 to 4, 6 to 8");
        assert_eq!(words(&gaps(1, &[1, 2, 4])), "segment 3");
    }
}
