//! What became of a rollout: one rule for all formats.
//!
//! A verdict of success wins, whatever the ending; else an infrastructure ending is an error; else a
//! limit is a truncation; else it failed; no verdict and a clean end is unscored.

use super::options::SuccessRule;
use crate::rollout::Outcome;
use crate::rollout::raw::{Ending, RawNumber, RawRollout};

/// An outcome and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What became of the rollout.
    pub outcome: Outcome,
    /// A field, a rule, or why there is none.
    pub source: String,
    /// The number that the success rule looked at, where one decided.
    pub number: Option<f64>,
}

impl Decision {
    /// The source without folders: outcomes of one kind count together.
    #[must_use]
    pub fn kind(&self, told: Option<&str>) -> String {
        match told.and_then(|name| Some((name, name.rsplit('/').next()?))) {
            Some((name, base)) => self.source.replacen(name, base, 1),
            None => self.source.clone(),
        }
    }
}

/// Decides. `told` names the side file that the verdict came from, where it did.
#[must_use]
pub fn decide(raw: &RawRollout, told: Option<&str>, rule: SuccessRule) -> Decision {
    let origin = told.map_or_else(|| "field".to_owned(), |name| format!("{name}:"));
    let because = |outcome, source: String| Decision { outcome, source, number: None };
    let field = |fallback: &str| raw.outcome_field.clone().unwrap_or_else(|| fallback.to_owned());
    // A converted file says itself why there is no verdict.
    let said = |outcome| raw.unscored.clone().filter(|_| outcome == Outcome::Unscored);
    if let Some(outcome) = raw.outcome {
        let own = said(outcome).filter(|_| told.is_none());
        let source = own.unwrap_or_else(|| format!("{origin} {}", field("outcome")));
        return because(outcome, source);
    }
    if let Some(why) = &raw.mask {
        return because(Outcome::Unscored, why.clone());
    }
    let (verdict, source, number) = match (raw.verdict, number(raw)) {
        (Some(v), _) => (Ok(v), format!("{origin} {}", field("resolved")), None),
        (None, Number::Given(name, v)) => {
            (Ok(rule.passes(v)), format!("{origin} {name} {rule}"), Some(v))
        }
        (None, Number::Bad(name, why)) => (Err(()), format!("{name} is {why}"), None),
        (None, Number::None) => (Err(()), "no outcome and no reward in the file".to_owned(), None),
    };
    match (verdict, &raw.ending) {
        (Ok(true), _) => Decision { outcome: Outcome::Success, source, number },
        (_, Ending::Infra(word)) => because(Outcome::Error, format!("ending {word}")),
        (_, Ending::Limit(word)) => {
            Decision { outcome: Outcome::Truncated, source: format!("ending {word}"), number }
        }
        (Ok(false), Ending::Clean) => Decision { outcome: Outcome::Failure, source, number },
        (Err(()), Ending::Clean) => {
            because(Outcome::Unscored, said(Outcome::Unscored).unwrap_or(source))
        }
    }
}

/// Notes the reward and the verdict score where they were read as something else, and where they are no
/// numbers and the outcome comes from elsewhere; else the reason for no outcome says what they are.
pub fn note_numbers(raw: &mut RawRollout) {
    let verdict = raw.outcome.is_some() || raw.verdict.is_some();
    let scored = verdict || raw.outcome_reward != RawNumber::Missing;
    let ended = raw.ending != Ending::Clean;
    let from = match (scored, &raw.outcome_field) {
        (false, _) => "its ending".to_owned(),
        (true, Some(field)) => format!("`{field}`"),
        (true, None) => "the verdict".to_owned(),
    };
    let numbers = [
        (raw.reward_field.unwrap_or("reward"), &raw.reward, scored || ended),
        ("outcome_reward", &raw.outcome_reward, verdict || ended),
    ];
    let mut notes = Vec::new();
    for (field, number, decided) in numbers {
        match number {
            RawNumber::Coerced(_, why) => notes.push((field.to_owned(), why.clone())),
            // What was not logged is nothing odd.
            RawNumber::Bad(why) if decided && why != "null" => {
                notes.push((field.to_owned(), format!("{why}: unknown; {from} gives the outcome")));
            }
            _ => {}
        }
    }
    raw.notes.append(&mut notes);
}

enum Number<'a> {
    Given(&'a str, f64),
    Bad(&'a str, &'a str),
    None,
}

/// The number that a rule may judge: the verdict score, else the reward.
fn number(raw: &RawRollout) -> Number<'_> {
    let named = raw.outcome_field.as_deref();
    for (number, name) in [
        (&raw.outcome_reward, named.unwrap_or("outcome_reward")),
        (&raw.reward, named.unwrap_or("reward")),
    ] {
        match number {
            RawNumber::Missing => {}
            RawNumber::Value(v) | RawNumber::Coerced(v, _) => return Number::Given(name, *v),
            RawNumber::Bad(why) => return Number::Bad(name, why),
        }
    }
    Number::None
}

/// The ending in the file's words; empty for a clean one.
#[must_use]
pub fn ending_word(ending: &Ending) -> &str {
    match ending {
        Ending::Clean => "",
        Ending::Limit(word) | Ending::Infra(word) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(raw: &RawRollout) -> Outcome {
        decide(raw, None, SuccessRule::default()).outcome
    }

    #[test]
    fn precedence() {
        let limit = || Ending::Limit("max_steps".into());
        let infra = || Ending::Infra("sandbox_lost".into());
        let reward =
            |v, ending| RawRollout { reward: RawNumber::Value(v), ending, ..RawRollout::default() };
        assert_eq!(outcome(&reward(1.0, infra())), Outcome::Success);
        assert_eq!(outcome(&reward(0.0, infra())), Outcome::Error);
        assert_eq!(outcome(&reward(0.0, limit())), Outcome::Truncated);
        assert_eq!(outcome(&reward(0.99, Ending::Clean)), Outcome::Failure);
        assert_eq!(outcome(&RawRollout::default()), Outcome::Unscored);
        assert_eq!(
            outcome(&RawRollout { ending: limit(), ..RawRollout::default() }),
            Outcome::Truncated
        );
        let said = RawRollout { outcome: Some(Outcome::Failure), ..reward(1.0, Ending::Clean) };
        assert_eq!(outcome(&said), Outcome::Failure);
        let masked =
            RawRollout { mask: Some("mask_sample is true".into()), ..reward(1.0, Ending::Clean) };
        assert_eq!(outcome(&masked), Outcome::Unscored);
        let shaped =
            RawRollout { outcome_reward: RawNumber::Value(1.0), ..reward(-3.0, Ending::Clean) };
        assert_eq!(outcome(&shaped), Outcome::Success);
    }

    #[test]
    fn the_source_is_said() {
        let raw = RawRollout { reward: RawNumber::Bad("NaN".into()), ..RawRollout::default() };
        assert_eq!(decide(&raw, None, SuccessRule::default()).source, "reward is NaN");
        let converted = RawRollout {
            reward: RawNumber::Bad("null".into()),
            unscored: Some("reward is NaN".into()),
            ..RawRollout::default()
        };
        assert_eq!(decide(&converted, None, SuccessRule::default()).source, "reward is NaN");
        let raw = RawRollout { reward: RawNumber::Value(0.5), ..RawRollout::default() };
        let got = decide(&raw, None, SuccessRule::Above(0.0));
        assert_eq!((got.outcome, &*got.source), (Outcome::Success, "field reward >0"));
    }

    #[test]
    fn a_number_that_is_none_is_noted_where_the_ending_decides() {
        let bad = RawNumber::Bad("a list, not a number".to_owned());
        let limit = Ending::Limit("max_steps".to_owned());
        let mut raw = RawRollout { reward: bad.clone(), ending: limit, ..RawRollout::default() };
        assert_eq!(decide(&raw, None, SuccessRule::default()).outcome, Outcome::Truncated);
        note_numbers(&mut raw);
        let reason = "a list, not a number: unknown; its ending gives the outcome";
        assert_eq!(raw.notes, [("reward".to_owned(), reason.to_owned())]);
        // Without an ending the reason for no outcome says so.
        let mut raw = RawRollout { reward: bad, ..RawRollout::default() };
        note_numbers(&mut raw);
        assert_eq!(raw.notes, []);
    }
}
