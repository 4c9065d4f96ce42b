//! The words that frameworks write about how a rollout ended.
//!
//! Only words: whether a rollout succeeded is decided in [`crate::load`].

use crate::rollout::raw::Ending;

/// Words for a limit: steps, tokens, context, time.
const LIMITS: [&str; 12] = [
    "length",
    "max_steps",
    "max_turns",
    "max_tokens",
    "max_output_tokens",
    "max_iterations",
    "context",
    "context_length",
    "context_window_exceeded",
    "timeout",
    "timed_out",
    "time_limit",
];

/// Words for a failure of the infrastructure.
const INFRA: [&str; 9] = [
    "error",
    "exception",
    "sandbox_lost",
    "sandbox_error",
    "verifier_error",
    "verifier_crash",
    "infrastructure_error",
    "llm_query_error",
    "crash",
];

/// What a word of a `finish_reason` or `stop` field means. Unknown words are a clean end.
#[must_use]
pub fn of_word(word: &str) -> Ending {
    let plain = word.trim().to_ascii_lowercase();
    if LIMITS.contains(&plain.as_str()) || plain.ends_with("_limit") || plain.ends_with("_exceeded")
    {
        Ending::Limit(word.trim().to_owned())
    } else if INFRA.contains(&plain.as_str())
        || plain.ends_with("_error")
        || plain.ends_with("_crash")
    {
        Ending::Infra(word.trim().to_owned())
    } else {
        Ending::Clean
    }
}

/// What a word of an `error` field means: a limit where it names one, else an infrastructure failure.
#[must_use]
pub fn of_error(word: &str) -> Ending {
    match of_word(word) {
        Ending::Clean => {
            Ending::Infra(if word.trim().is_empty() { "error" } else { word.trim() }.to_owned())
        }
        known => known,
    }
}

/// The worse of two endings: a failure of the infrastructure over a limit over a clean end.
#[must_use]
pub fn worse(a: Ending, b: Ending) -> Ending {
    match (&a, &b) {
        (Ending::Infra(_), _) | (_, Ending::Clean) | (Ending::Limit(_), Ending::Limit(_)) => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(of_word("stop"), Ending::Clean);
        assert_eq!(of_word("max_steps"), Ending::Limit("max_steps".into()));
        assert_eq!(of_word("abs_step_limit"), Ending::Limit("abs_step_limit".into()));
        assert_eq!(of_word("llm_query_error"), Ending::Infra("llm_query_error".into()));
        assert_eq!(of_error("out of disk"), Ending::Infra("out of disk".into()));
        assert_eq!(of_error("timeout"), Ending::Limit("timeout".into()));
        let (limit, infra) = (of_word("length"), of_word("error"));
        assert_eq!(worse(limit.clone(), infra.clone()), infra);
        assert_eq!(worse(Ending::Clean, limit.clone()), limit);
    }
}
