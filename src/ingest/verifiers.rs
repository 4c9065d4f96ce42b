//! verifiers results, the first form: lines with `prompt`, `completion`, `reward`.
//!
//! Older files hold each call as the text of a JSON object and results without ids, which then belong
//! to the calls in order. Environments in words have no calls at all.

use serde_json::value::RawValue;

use super::content;
use super::ending;
use super::json::{self, Error, Object};
use super::messages::{self, first_id};
use super::native;
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::repair;
use super::role::{self, Role};
use super::shape::{RecordShape, Shape};
use super::transcript;
use super::turns::Turns;
use crate::rollout::raw::{Ending, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct Verifiers;

/// Numbers beside the reward that are no rewards.
const NO_REWARDS: [&str; 7] =
    ["id", "example_id", "reward", "generation_ms", "scoring_ms", "total_ms", "rollout_number"];

impl Reader for Verifiers {
    fn id(&self) -> &'static str {
        "verifiers"
    }

    fn title(&self) -> &'static str {
        "verifiers evaluations (results.jsonl)"
    }

    fn source(&self) -> &'static str {
        "PrimeIntellect-ai/verifiers@a60a606 verifiers/utils/eval_utils.py, save_utils.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let begins = |r: &RecordShape<'_>, key: &str, with: &[u8]| {
            r.value(key).is_some_and(|v| v.first().is_some_and(|b| with.contains(b)))
        };
        let row = |r: &RecordShape<'_>| {
            begins(r, "prompt", b"[\"")
                && begins(r, "completion", b"[\"")
                && (r.has("reward") || r.cut())
        };
        if shape.any(row) {
            return Sniff::Yes;
        }
        let settings = |r: &RecordShape<'_>| {
            r.has("env_id") && r.has("num_examples") && r.has("rollouts_per_example")
        };
        if shape.any(settings) {
            return Sniff::NotRollouts(NotRollouts {
                what: "the settings of a verifiers evaluation".into(),
                missing: "the rollouts stand in another file".into(),
                hint: "give `results.jsonl` beside it, or the folder".into(),
            });
        }
        Sniff::No
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(completion) = record.some("completion") else {
            return Err(RecordError::missing("completion", "messages or a text were expected"));
        };
        let (namespace, policy) = of_folder(context.path);
        let mut raw = RawRollout {
            task: first_id(&record, &["example_id", "id"])?,
            namespace: record.id("env_id")?.or(namespace),
            policy: record.id("model")?.or(policy),
            reward: record.number("reward")?,
            outcome_field: Some("reward".to_owned()),
            prompt: prompt(record.some("prompt"))?,
            ending: ending_of(&record)?,
            other_keys: native::other_keys(&record)?,
            ..RawRollout::default()
        };
        native::note_repeated(&record, &mut raw);
        // Beside `example_id` an `id` is the rollout's own.
        raw.id = record.id("rollout_id")?.or(record.id("trajectory_id")?);
        if raw.id.is_none() && record.some("example_id").is_some() {
            raw.id = record.id("id")?;
        }
        named_rewards(&record, &mut raw)?;
        let mut turns = Turns::with_harness();
        read_completion(completion, &mut turns, &mut raw)?;
        turns.finish(&mut raw);
        if let Some(list) = record.some("trajectory").filter(|t| json::is_array(t)) {
            trained(list, &mut raw)?;
        }
        Ok(vec![Part::whole(raw)])
    }
}

/// Environment and model, where a folder is named `<environment>--<model>`.
fn of_folder(path: &str) -> (Option<String>, Option<String>) {
    let named = path.rsplit('/').skip(1).take(2).find_map(|folder| folder.split_once("--"));
    named
        .map_or((None, None), |(env, model)| (Some(env.to_owned()), Some(model.replace("--", "/"))))
}

/// Reads what the policy and its environment said: messages, the text of a list of them, or a transcript.
fn read_completion(
    given: &RawValue,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    let read = |list: &RawValue, turns: &mut Turns, raw: &mut RawRollout| {
        for (at, message) in json::elements(list)?.into_iter().enumerate() {
            messages::read_message(message, ("completion", at), turns, raw)?;
        }
        Ok(())
    };
    if json::is_array(given) {
        return read(given, turns, raw);
    }
    let text = json::text(given)?.unwrap_or_default();
    if given.get().starts_with('"') && text.trim_start().starts_with('[') {
        let plain = repair::embedded(&text);
        if let Some(list) = serde_json::from_str::<&RawValue>(&plain).ok().filter(|l| spoken(l)) {
            let reason = "a text, not a list: the messages in its JSON were read".to_owned();
            raw.notes.push(("completion".to_owned(), reason));
            return read(list, turns, raw);
        }
    }
    content::tell(&mut raw.notes, format_args!(""), "completion", given);
    transcript::read_into(&text, turns);
    Ok(())
}

/// Whether a list holds messages: its first element names a role.
fn spoken(list: &RawValue) -> bool {
    let first = json::elements(list).ok().and_then(|all| all.first().copied());
    first.and_then(|one| Object::of(one).ok()).is_some_and(|one| one.get("role").is_some())
}

/// What the user said last before the policy began.
fn prompt(given: Option<&RawValue>) -> Result<Option<String>, Error> {
    let Some(given) = given else { return Ok(None) };
    if !json::is_array(given) {
        return Ok(json::text(given)?.map(Into::into));
    }
    let mut last = None;
    for message in json::elements(given)?.into_iter().filter(|m| json::is_object(m)) {
        let message = Object::of(message)?;
        if role::plain(&message)? == Some(Role::User)
            && let Some(content) = message.some("content")
        {
            last = json::content(content)?.map(String::from);
        }
    }
    Ok(last)
}

/// The ending of a row, in the words that this framework uses.
pub(super) fn ending_of(record: &Object<'_>) -> Result<Ending, Error> {
    let mut end = native::ending(record, &[])?;
    if let Some(word) = record.string("stop_condition")? {
        let told = if word.starts_with("max_") || word.ends_with("_too_long") {
            Ending::Limit(word.into_owned())
        } else {
            ending::of_word(&word)
        };
        end = ending::worse(end, told);
    }
    if record.truth("is_truncated") == Some(true) {
        end = ending::worse(end, Ending::Limit("is_truncated".to_owned()));
    }
    Ok(end)
}

fn named_rewards(record: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    let metrics = record.object("metrics")?;
    let all = metrics.as_ref().unwrap_or(record);
    for (name, value) in all.iter() {
        // Of what is no number, nothing is read as one here.
        let number = value.get().starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if number && !NO_REWARDS.contains(&name) {
            raw.named_rewards.extend(json::finite_number(value)?.map(|v| (name.to_owned(), v)));
        }
    }
    Ok(())
}

/// Rewards and advantages per turn, where the run logged what it trained on.
fn trained(list: &RawValue, raw: &mut RawRollout) -> Result<(), RecordError> {
    let elements = json::elements(list)?;
    let turns = elements.into_iter().enumerate().filter(|(_, e)| json::is_object(e));
    let turns: Vec<(usize, Object<'_>)> =
        turns.map(|(turn, e)| Ok((turn, Object::of(e)?))).collect::<Result<_, Error>>()?;
    // Where no turn has one, none was logged; else `null` is one that is lost.
    let logged = turns.iter().any(|(_, turn)| turn.some("reward").is_some());
    for (turn, element) in turns {
        let reward = element.get("reward").filter(|_| logged);
        let advantage = element.some("advantage");
        let mut of_turn: Vec<_> =
            raw.steps.iter_mut().filter(|s| s.turn as usize == turn).collect();
        if let (Some(value), Some(last)) = (reward, of_turn.last_mut()) {
            last.step_reward = json::number(value)?;
        }
        let advantage = advantage.map(json::finite_number).transpose()?.flatten();
        for step in of_turn {
            step.values.extend(advantage.map(|v| ("trained".to_owned(), v)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawNumber;

    fn read(text: &str) -> RawRollout {
        let path = "outputs/evals/wiki--org--m/ab12/results.jsonl";
        let context = Context { path, ..Context::default() };
        Verifiers.parse(text, &context).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn a_row_with_what_it_was_trained_on() {
        let raw = read(
            r#"{"example_id":3,"id":"r","prompt":[{"role":"user","content":"go"}],"completion":[
            {"role":"assistant","content":"","tool_calls":["{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"]},
            {"role":"tool","content":"x","tool_calls":null},{"role":"assistant","content":"done"}],
            "reward":0.5,"metrics":{"format":1.0},"stop_condition":"max_turns_reached","is_truncated":false,
            "trajectory":[{"reward":null,"advantage":0.25},{"reward":0.1,"advantage":-0.25}]}"#,
        );
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("3"), Some("r")));
        assert_eq!(
            (raw.namespace.as_deref(), raw.policy.as_deref()),
            (Some("wiki"), Some("org/m"))
        );
        assert_eq!(raw.ending, Ending::Limit("max_turns_reached".into()));
        assert_eq!(raw.named_rewards, [("format".to_owned(), 1.0)]);
        assert_eq!(raw.steps[0].values, [("trained".to_owned(), 0.25)]);
        assert_eq!(raw.steps[0].step_reward, RawNumber::Bad("null".into()));
        assert_eq!(raw.steps[1].step_reward, RawNumber::Value(0.1));
    }

    #[test]
    fn older_rows_have_metrics_beside_the_reward_and_texts_as_completions() {
        let raw = read(
            r#"{"id":0,"prompt":"q","completion":"a","reward":1.24,"efficiency":0.2,"task":"default"}"#,
        );
        assert_eq!((raw.task.as_deref(), raw.id), (Some("0"), None));
        assert_eq!(raw.named_rewards, [("efficiency".to_owned(), 0.2)]);
        assert_eq!((raw.steps.len(), raw.prompt.as_deref()), (1, Some("q")));
    }
}
