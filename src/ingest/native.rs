//! The native format `credscope/1`: a group document, an array of them, or one rollout per line.
//!
//! Everything optional may be absent; what is odd is noted, not refused.

use serde_json::value::RawValue;

use super::document::{self, Document};
use super::ending;
use super::json::{self, Error, Object};
use super::messages::{self, first_id};
use super::native_step;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::shape::{RecordShape, Shape};
use crate::rollout::Outcome;
use crate::rollout::raw::{Ending, RawNumber, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct Native;

/// The key of the rollouts.
const ROLLOUTS: &str = "rollouts";

/// Member of `extra` that says that a file was converted from partial data.
pub const PARTIAL: &str = "partial";

/// Names of the task field.
const TASK: [&str; 5] = ["task", "task_id", "problem_id", "instance_id", "group"];

/// What a document says about its rollouts.
const SHARED: [&str; 11] = [
    "schema",
    "task",
    "task_id",
    "problem_id",
    "instance_id",
    "group",
    "namespace",
    "policy",
    "harness",
    "train_step",
    "prompt",
];

/// Names of the id field.
const ID: [&str; 3] = ["id", "rollout_id", "traj_id"];

/// Fields that are read as something else than a possible group key.
const NO_KEYS: [&str; 25] = [
    "reason",
    "forked_from",
    "schema",
    "id",
    "rollout_id",
    "traj_id",
    "outcome",
    "outcome_reward",
    "reward",
    "score",
    "finish_reason",
    "stop",
    "error",
    "attempt",
    "segment_index",
    "segment_id",
    "prompt_is_summary",
    "steps",
    "messages",
    "resolved",
    "extra",
    "prompt",
    "patch",
    "exit_status",
    "generated_patch",
];

impl Reader for Native {
    fn id(&self) -> &'static str {
        "native"
    }

    fn title(&self) -> &'static str {
        "the native format credscope/1 (document, array of documents, or lines)"
    }

    fn source(&self) -> &'static str {
        "credscope schema native"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let rollout = |r: &RecordShape<'_>| {
            r.has_any(&TASK) && r.has_any(&ID) && (r.list("steps") || r.list("messages"))
                // A verdict under these names belongs to data sets of messages, or to tau2-bench.
                && !r.has_any(&["resolved", "target", "reward_info"])
        };
        let document = |r: &RecordShape<'_>| (r.has_any(&TASK) || r.cut()) && r.list("rollouts");
        let named =
            |r: &RecordShape<'_>| r.value("schema").is_some_and(|v| v.starts_with(b"\"credscope/"));
        if shape.any(|r| named(r) || rollout(r) || document(r)) { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(list) = record.get(ROLLOUTS) else {
            of_version_1(&record)?;
            let mut raw = read_rollout(&record, &Group::default())?;
            note_repeated(&record, &mut raw);
            return Ok(vec![Part::whole(raw)]);
        };
        let group = Group::of(&record)?;
        if !json::is_array(list) {
            let reason = "a list of rollouts was expected";
            return Err(RecordError::unexpected(Some(ROLLOUTS), reason));
        }
        document::parts(list, &group, context)
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &SHARED
    }

    fn elements(&self) -> Option<&'static str> {
        Some(ROLLOUTS)
    }

    fn document(&self, text: &str, _: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Group::of(&record_object(text)?)?))
    }
}

/// What a document says for each rollout that does not say otherwise.
#[derive(Debug, Default)]
struct Group {
    task: Option<String>,
    namespace: Option<String>,
    policy: Option<String>,
    harness: Option<String>,
    train_step: Option<String>,
    prompt: Option<String>,
    repeated: Vec<String>,
}

impl Group {
    fn of(record: &Object<'_>) -> Result<Self, RecordError> {
        of_version_1(record)?;
        Ok(Self {
            task: first_id(record, &TASK)?,
            namespace: record.id("namespace")?,
            policy: record.id("policy")?,
            harness: record.id("harness")?,
            train_step: record.id("train_step")?,
            prompt: record.id("prompt")?,
            repeated: record.repeated().into_iter().map(str::to_owned).collect(),
        })
    }
}

impl Document for Group {
    fn element(&self, text: &str, _: usize, _: &Context<'_>) -> Result<RawRollout, RecordError> {
        let record = record_object(text)?;
        let mut raw = read_rollout(&record, self)?;
        for key in &self.repeated {
            raw.notes.push((key.clone(), REPEATED.to_owned()));
        }
        note_repeated(&record, &mut raw);
        Ok(raw)
    }
}

fn of_version_1(record: &Object<'_>) -> Result<(), RecordError> {
    match record.string("schema")? {
        Some(schema) if !schema.starts_with("credscope/1") => Err(RecordError::unexpected(
            Some("schema"),
            format!("`credscope/1` was expected, `{schema}` stands here"),
        )
        .hint("this file was written by another version, or is an export that holds no rollouts")),
        _ => Ok(()),
    }
}

/// What is said of a key that stands more than once.
pub(super) const REPEATED: &str = "the key stands more than once; the last one counts";

/// Notes keys that stand more than once: the last one counts.
pub(super) fn note_repeated(record: &Object<'_>, raw: &mut RawRollout) {
    for key in record.repeated() {
        raw.notes.push((key.to_owned(), REPEATED.to_owned()));
    }
}

/// How many fields are kept as possible group keys.
const KEYS: usize = 64;

/// Short scalar fields that could serve as a group key.
pub(super) fn other_keys(record: &Object<'_>) -> Result<Vec<(String, String)>, Error> {
    let mut keys: Vec<(String, String)> = Vec::new();
    for (name, _) in record.iter() {
        if keys.len() == KEYS {
            break;
        }
        if NO_KEYS.contains(&name) || keys.iter().any(|(k, _)| k == name) {
            continue;
        }
        // Of a repeated key the last wins.
        let Some(value) = record.get(name).filter(|v| v.get().len() <= 200) else { continue };
        if let Some(id) = json::id(value)? {
            keys.push((name.to_owned(), id));
        }
    }
    Ok(keys)
}

/// The worst ending that the usual fields name: `error` (a text or an object with `kind`), `stop`,
/// `finish_reason`, and any further fields of words.
pub(super) fn ending(record: &Object<'_>, more: &[&str]) -> Result<Ending, Error> {
    let mut end = Ending::Clean;
    if let Some(error) = record.some("error")
        && !matches!(error.get(), "false" | "\"\"" | "{}")
    {
        end = ended(error, ending::of_error)?;
    }
    for name in ["stop", "finish_reason"].iter().chain(more) {
        if let Some(value) = record.some(name) {
            end = ending::worse(end, ended(value, ending::of_word)?);
        }
    }
    Ok(end)
}

/// The ending that a word stands for; an object may say itself what kind of ending its word names, as
/// `convert` writes it where the word alone would be read as another one.
fn ended(value: &RawValue, of_word: fn(&str) -> Ending) -> Result<Ending, Error> {
    let named = if json::is_object(value) { Object::of(value)?.string("ending")? } else { None };
    let word = word(value)?;
    Ok(match named.as_deref() {
        Some("limit") => Ending::Limit(word),
        Some("infra") => Ending::Infra(word),
        _ => of_word(&word),
    })
}

/// The word of an ending: a text, or the `kind` of an object.
fn word(value: &RawValue) -> Result<String, Error> {
    if json::is_object(value) {
        let object = Object::of(value)?;
        for name in ["kind", "type", "error", "message"] {
            if let Some(text) = object.string(name)? {
                return Ok(text.into_owned());
            }
        }
        return Ok("error".to_owned());
    }
    Ok(json::text(value)?.unwrap_or_default().into_owned())
}

fn read_rollout(record: &Object<'_>, group: &Group) -> Result<RawRollout, RecordError> {
    let or = |own: &str, inherited: &Option<String>| -> Result<Option<String>, Error> {
        Ok(record.id(own)?.or_else(|| inherited.clone()))
    };
    let count = |key: &str| -> Result<u32, Error> {
        Ok(record.whole(key)?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0))
    };
    let mut raw = RawRollout {
        id: first_id(record, &ID)?,
        task: first_id(record, &TASK)?.or_else(|| group.task.clone()),
        namespace: or("namespace", &group.namespace)?,
        policy: or("policy", &group.policy)?,
        harness: or("harness", &group.harness)?,
        train_step: or("train_step", &group.train_step)?.and_then(|t| t.parse().ok()),
        attempt: record.whole("attempt")?,
        segment_index: record.whole("segment_index")?,
        prompt_is_summary: record.truth("prompt_is_summary").unwrap_or(false),
        excluded_calls: count("excluded_calls")?,
        excluded_messages: count("excluded_messages")?,
        other_keys: other_keys(record)?,
        reward: record.number("reward")?,
        outcome_reward: record.number("outcome_reward")?,
        unscored: record.string("reason")?.map(String::from).filter(|why| !why.is_empty()),
        ending: ending(record, &[])?,
        prompt: or("prompt", &group.prompt)?,
        forked_from: forked_from(record)?,
        ..RawRollout::default()
    };
    if raw.outcome_reward == RawNumber::Bad("null".to_owned()) {
        // `convert` writes null for what is absent.
        raw.outcome_reward = RawNumber::Missing;
    }
    raw.outcome_field = match (&raw.outcome_reward, &raw.reward) {
        (RawNumber::Missing, RawNumber::Missing) => None,
        (RawNumber::Missing, _) => Some("reward".to_owned()),
        _ => Some("outcome_reward".to_owned()),
    };
    if let Some(mark) = record.object("extra")?.map(|e| e.string(PARTIAL)).transpose()?.flatten() {
        raw.notes.push(("extra".to_owned(), format!("the file was converted from {mark}")));
    }
    read_outcome(record, &mut raw)?;
    read_named_rewards(record, &mut raw)?;
    if let Some(steps) = record.some("steps") {
        native_step::read_steps(steps, &mut raw)?;
    } else if let Some(list) = record.some("messages") {
        messages::read_into(&mut raw, list)?;
    } else if record.get("messages").is_some() {
        raw = messages::never_began(raw, "messages");
    } else if record.get("steps").is_some() {
        raw.notes.push(("steps".to_owned(), messages::NOTHING.to_owned()));
    } else {
        return Err(RecordError::missing("steps", "a list of steps, or `messages`, was expected"));
    }
    Ok(raw)
}

/// The rollout that this one branched off: `{"rollout": …, "step": …}`, or its id alone.
fn forked_from(record: &Object<'_>) -> Result<Option<String>, Error> {
    match record.object("forked_from")? {
        Some(from) => from.id("rollout"),
        None => record.id("forked_from"),
    }
}

fn read_outcome(record: &Object<'_>, raw: &mut RawRollout) -> Result<(), RecordError> {
    let Some(value) = record.some("outcome") else { return Ok(()) };
    let given = json::text(value)?.unwrap_or_default();
    raw.outcome = Outcome::ALL.into_iter().find(|o| o.name() == given.trim().to_ascii_lowercase());
    match (raw.outcome, &*given) {
        (Some(_), _) => raw.outcome_field = Some("outcome".to_owned()),
        (None, "true" | "false") => {
            raw.verdict = Some(&*given == "true");
            raw.outcome_field = Some("outcome".to_owned());
        }
        (None, other) => {
            let words = Outcome::ALL.map(Outcome::name).join(", ");
            let reason =
                format!("`{}` is no outcome ({words}); the rewards decide", json::short(other, 40));
            raw.notes.push(("outcome".to_owned(), reason));
        }
    }
    Ok(())
}

fn read_named_rewards(record: &Object<'_>, raw: &mut RawRollout) -> Result<(), RecordError> {
    let Some(rewards) = record.object("rewards")? else { return Ok(()) };
    for (name, value) in rewards.iter() {
        match json::number(value)? {
            RawNumber::Value(v) => raw.named_rewards.push((name.to_owned(), v)),
            RawNumber::Coerced(v, why) => {
                raw.named_rewards.push((name.to_owned(), v));
                raw.notes.push((format!("rewards.{name}"), why));
            }
            RawNumber::Bad(why) => raw.notes.push((format!("rewards.{name}"), why)),
            RawNumber::Missing => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_record;

    fn read(text: &str) -> Vec<RawRollout> {
        let parsed = read_record(&Native, text.as_bytes(), &Context::default()).unwrap();
        parsed.parts.into_iter().map(|p| p.rollout.unwrap()).collect()
    }

    #[test]
    fn a_document_lends_its_task_and_parts_have_their_own_digest() {
        let text = r#"{"schema":"credscope/1","task":7,"policy":"m","rollouts":[
            {"id":1,"steps":[]},{"id":"2","policy":"n","steps":[]}]}"#;
        let parsed = read_record(&Native, text.as_bytes(), &Context::default()).unwrap();
        let digests: Vec<_> = parsed.parts.iter().map(|p| p.digest).collect();
        assert!(digests[0].is_some() && digests[0] != digests[1]);
        let all = read(text);
        assert_eq!(all[0].task.as_deref(), Some("7"));
        assert_eq!((all[0].policy.as_deref(), all[1].policy.as_deref()), (Some("m"), Some("n")));
        assert_eq!(all[0].id.as_deref(), Some("1"));
    }

    #[test]
    fn endings_and_outcomes_in_words() {
        let all = read(
            r#"{"schema":"credscope/1","task":"t","rollouts":[
            {"outcome":null,"finish_reason":"length","stop":"max_steps","steps":[]},
            {"outcome":"error","error":{"kind":"sandbox_lost","elapsed_s":303},"steps":[]},
            {"outcome":"solved","finish_reason":"stop","steps":[]}]}"#,
        );
        assert_eq!(all[0].ending, Ending::Limit("max_steps".into()));
        assert_eq!(all[1].ending, Ending::Infra("sandbox_lost".into()));
        assert_eq!(all[1].outcome, Some(Outcome::Error));
        assert_eq!((all[2].outcome, &all[2].ending), (None, &Ending::Clean));
        assert_eq!(all[2].notes.len(), 1);
    }

    #[test]
    fn one_bad_rollout_costs_itself() {
        let text = r#"{"schema":"credscope/1","task":"t","rollouts":[{"id":"a","steps":[]},3,{"id":"b","steps":{}}]}"#;
        let parsed = read_record(&Native, text.as_bytes(), &Context::default()).unwrap();
        let fine: Vec<_> = parsed.parts.iter().map(|p| p.rollout.is_ok()).collect();
        assert_eq!(fine, [true, false, false]);
    }

    #[test]
    fn forks_name_their_parent() {
        let all = read(
            r#"{"schema":"credscope/1","task":"t","rollouts":[{"id":1,"steps":[]},
            {"id":2,"forked_from":{"rollout":1,"step":3},"steps":[]},{"id":3,"forked_from":"2","steps":[]}]}"#,
        );
        let from: Vec<_> = all.iter().map(|r| r.forked_from.as_deref()).collect();
        assert_eq!(from, [None, Some("1"), Some("2")]);
    }

    #[test]
    fn repeated_keys_are_noted() {
        let all = read(r#"{"task":"t","id":"a","reward":0,"reward":1,"steps":[]}"#);
        assert_eq!(all[0].reward, RawNumber::Value(1.0));
        assert_eq!(all[0].notes[0].0, "reward");
    }
}
