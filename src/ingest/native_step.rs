//! The steps of the native format.

use serde_json::value::RawValue;

use super::content;
use super::json::{self, Object};
use super::native::REPEATED;
use super::reader::RecordError;
use super::turns::demands;
use crate::rollout::StepResult;
use crate::rollout::raw::{RawKind, RawNumber, RawRollout, RawStep};

/// Reads a list of native steps into the rollout.
pub(super) fn read_steps(list: &RawValue, raw: &mut RawRollout) -> Result<(), RecordError> {
    if !json::is_array(list) {
        return Err(RecordError::unexpected(Some("steps"), "a list of steps was expected"));
    }
    let mut next_turn = 0;
    for (at, step) in json::elements(list)?.into_iter().enumerate() {
        if !json::is_object(step) {
            let reason = "each step must be an object";
            return Err(RecordError::unexpected(Some("steps"), reason).in_list("steps", at));
        }
        let step = Object::of(step)?;
        content::no_rollout(&step).map_err(|error| error.in_list("steps", at))?;
        // A call made on behalf of another one is a sub-agent's, not the policy's.
        if step.some("parent_call_id").is_some() {
            raw.excluded_calls += 1;
            continue;
        }
        let read = read_step(&step, next_turn, at, &mut raw.notes)?;
        next_turn = read.turn + 1;
        raw.steps.push(read);
    }
    Ok(())
}

fn read_step(
    step: &Object<'_>,
    turn: u32,
    at: usize,
    notes: &mut Vec<(String, String)>,
) -> Result<RawStep, RecordError> {
    let mut note = |field: &str, why: String| notes.push((format!("steps[{at}].{field}"), why));
    let text = |names: &[&str]| -> Result<Option<String>, RecordError> {
        match step.first(names) {
            Some((_, value)) => Ok(json::text(value)?.map(String::from)),
            None => Ok(None),
        }
    };
    for key in step.repeated() {
        note(key, REPEATED.to_owned());
    }
    let thought = text(&["thought", "text"])?.unwrap_or_default();
    let (state, action) = (text(&["state"])?, text(&["action"])?);
    let kind = if step.get("tool").is_some() || step.get("args").is_some() {
        RawKind::Call
    } else if state.is_some() || action.is_some() {
        RawKind::Opaque
    } else if step.first(&["thought", "text"]).is_none() {
        RawKind::Call
    } else {
        RawKind::Text
    };
    let step_reward = match (step.number("step_reward")?, step.string("reason")?) {
        // `convert` writes null for what is no number, and beside it what stood there.
        (RawNumber::Bad(null), Some(why)) if null == "null" && !why.is_empty() => {
            RawNumber::Bad(why.into_owned())
        }
        (number, _) => number,
    };
    let mut values = Vec::new();
    if let Some(given) = step.object("values")? {
        for (name, value) in given.iter() {
            match json::finite_number(value)? {
                Some(v) => values.push((name.to_owned(), v)),
                None => note(
                    &format!("values.{name}"),
                    format!("{} is no number", json::short(value.get(), 40)),
                ),
            }
        }
    }
    let exit_code = match step.number("exit_code")?.value() {
        // Codes are small whole numbers; anything else is no exit code.
        Some(code) if code.fract() == 0.0 && code.abs() < 4e9 => Some(code as i64),
        _ => None,
    };
    let observation = text(&["observation"])?;
    let demanded = kind == RawKind::Text && observation.as_deref().is_some_and(demands);
    // A name is a name even when it is empty: the call is there.
    let tool = step.string("tool")?.map(String::from);
    Ok(RawStep {
        kind,
        thought,
        tool: tool.or(step.id("tool")?),
        args: json::args(step.get("args"))?,
        observation,
        exit_code,
        is_error: step.truth("is_error"),
        stopped: text(&["stopped"])?.and_then(|word| {
            use StepResult::{Interrupted, Killed, Timeout};
            [Timeout, Interrupted, Killed].into_iter().find(|r| r.name() == word)
        }),
        step_reward,
        call_id: step.id("call_id")?,
        turn: step.whole("turn")?.and_then(|t| u32::try_from(t).ok()).unwrap_or(turn),
        tokens: tokens(step)?,
        state,
        action,
        values,
        told_to_continue: step.truth("told_to_continue").unwrap_or(demanded),
    })
}

/// A span of token ids, or a count.
fn tokens(step: &Object<'_>) -> Result<Option<(u64, u64)>, RecordError> {
    let Some(value) = step.some("tokens") else { return Ok(None) };
    if json::is_array(value) {
        let ends: Vec<u64> =
            json::elements(value)?.into_iter().filter_map(|v| v.get().parse().ok()).collect();
        return Ok(match ends.as_slice() {
            &[from, to] if from <= to => Some((from, to)),
            _ => None,
        });
    }
    Ok(step.whole("tokens")?.map(|n| (0, n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> RawRollout {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let mut rollout = RawRollout::default();
        read_steps(raw, &mut rollout).unwrap();
        rollout
    }

    #[test]
    fn kinds() {
        let raw = steps(
            r#"[{"state":"S","action":"A"},{"tool":null},{"tool":"x","state":"S"},{"text":"hi"},{"tool":"y","parent_call_id":"c"}]"#,
        );
        let kinds: Vec<_> = raw.steps.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [RawKind::Opaque, RawKind::Call, RawKind::Call, RawKind::Text]);
        assert_eq!(raw.steps[1].tool, None);
        assert_eq!(raw.steps[2].state.as_deref(), Some("S"));
        assert_eq!(raw.excluded_calls, 1);
    }

    #[test]
    fn numbers_and_spans() {
        let raw = steps(
            r#"[{"tool":"a","step_reward":null,"exit_code":0,"tokens":12,"turn":4},{"tool":"b","step_reward":0.0,"tokens":[3,9],"values":{"critic":0.4}}]"#,
        );
        assert_eq!(raw.steps[0].step_reward, RawNumber::Bad("null".into()));
        assert_eq!(raw.steps[1].step_reward, RawNumber::Value(0.0));
        assert_eq!((raw.steps[0].tokens, raw.steps[1].tokens), (Some((0, 12)), Some((3, 9))));
        assert_eq!((raw.steps[0].turn, raw.steps[1].turn), (4, 5));
        assert_eq!(raw.steps[1].values, [("critic".to_owned(), 0.4)]);
        assert_eq!(raw.steps[0].exit_code, Some(0));
    }
}
