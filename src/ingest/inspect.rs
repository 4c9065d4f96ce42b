//! Inspect logs: the JSON form with its `samples`, and the samples that stand one by one in the
//! members of an `.eval` archive ([`sample`]).
//!
//! A sample of a task is the group, its epochs are the rollouts. Long texts are kept apart as
//! attachments and put back here.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::document::{self, Document};
use super::json::{self, Error, Object};
use super::messages;
use super::native;
use super::reader::{Context, NotRollouts, Part, Reader, RecordError, Sniff, record_object};
use super::role::{self, Role};
use super::shape::{RecordShape, Shape};
use super::turns::{Reply, Turns};
use super::{content, ending, frames};
use crate::rollout::StepResult;
use crate::rollout::raw::{Ending, RawNumber, RawRollout};

/// The reader of the JSON form.
#[derive(Debug)]
pub struct Inspect;

/// Where a text of its own begins.
const ATTACHMENT: &str = "\"attachment://";

/// What a log says about all of its samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// The task: benchmark that the ids of samples belong to.
    pub task: Option<String>,
    /// The model that was evaluated.
    pub model: Option<String>,
}

impl Header {
    /// Reads `header.json` or `_journal/start.json` of an archive, or a log in the JSON form.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        Ok(Self::of(&record_object(text)?)?)
    }

    fn of(log: &Object<'_>) -> Result<Self, Error> {
        let eval = log.object("eval")?.unwrap_or_default();
        Ok(Self { task: eval.id("task")?, model: eval.id("model")? })
    }
}

impl Reader for Inspect {
    fn id(&self) -> &'static str {
        "inspect"
    }

    fn title(&self) -> &'static str {
        "Inspect logs (JSON form, and samples of .eval archives)"
    }

    fn source(&self) -> &'static str {
        "UKGovernmentBEIS/inspect_ai@499e615 src/inspect_ai/log/_log.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let log =
            |r: &RecordShape<'_>| r.object("eval") && r.has_any(&["status", "version", "plan"]);
        if shape.any(|r| log(r) && (r.list("samples") || r.cut()) || is_sample(r)) {
            return Sniff::Yes;
        }
        if shape.any(log) {
            return Sniff::NotRollouts(NotRollouts {
                what: "Inspect log without samples".into(),
                missing: "there is only its header".into(),
                hint:
                    "give the whole .eval file, or convert it with `inspect log convert --to json`"
                        .into(),
            });
        }
        Sniff::No
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let log = record_object(text)?;
        let Some(list) = log.get("samples") else {
            if log.get("epoch").is_some() {
                let header = context.header.map(Header::parse).transpose()?.unwrap_or_default();
                return Ok(vec![Part::whole(read(&log, &header)?)]);
            }
            return Err(RecordError::missing("samples", "a list of samples was expected"));
        };
        if !json::is_array(list) {
            return Err(RecordError::unexpected(Some("samples"), "a list of samples was expected"));
        }
        document::parts(list, &Header::of(&log)?, context)
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &["eval"]
    }

    fn elements(&self) -> Option<&'static str> {
        Some("samples")
    }

    fn document(&self, text: &str, _: bool) -> Result<Box<dyn Document>, RecordError> {
        Ok(Box::new(Header::parse(text)?))
    }
}

impl Document for Header {
    fn element(&self, text: &str, _: usize, _: &Context<'_>) -> Result<RawRollout, RecordError> {
        sample(text, self)
    }
}

fn is_sample(r: &RecordShape<'_>) -> bool {
    r.has("epoch") && r.list("messages") && r.has("target") && r.has_any(&["scores", "output"])
}

/// One sample: an element of `samples`, or a member `samples/<id>_epoch_<n>.json` of an archive.
pub fn sample(text: &str, header: &Header) -> Result<RawRollout, RecordError> {
    read(&record_object(text)?, header)
}

fn read(sample: &Object<'_>, header: &Header) -> Result<RawRollout, RecordError> {
    let mut raw = RawRollout {
        task: sample.id("id")?,
        id: sample.id("epoch")?,
        namespace: header.task.clone(),
        policy: header.model.clone(),
        ..RawRollout::default()
    };
    if raw.policy.is_none() {
        raw.policy = sample.object("output")?.unwrap_or_default().id("model")?;
    }
    raw.ending = ending_of(sample)?;
    scores(sample, &mut raw)?;
    native::note_repeated(sample, &mut raw);
    let Some(list) = sample.some("messages") else {
        let found = if sample.get("messages").is_some() {
            messages::NOTHING
        } else {
            "missing: the rollout has no steps"
        };
        raw.notes.push(("messages".to_owned(), found.to_owned()));
        return Ok(raw);
    };
    if !json::is_array(list) {
        let reason = "a list of messages was expected";
        return Err(RecordError::unexpected(Some("messages"), reason));
    }
    let attachments = sample.object("attachments")?.unwrap_or_default();
    let whole = attached(list.get(), &attachments);
    let list = serde_json::from_str::<&RawValue>(&whole)?;
    let mut turns = Turns::with_harness();
    for (at, message) in json::elements(list)?.into_iter().enumerate() {
        match content::no_entry(message, "message") {
            Some(reason) => content::left_out(&mut raw, format!("messages[{at}]"), reason),
            None => read_message(&Object::of(message)?, at, &mut turns, &mut raw)
                .map_err(|error| error.in_list("messages", at))?,
        }
    }
    raw.prompt = turns.finish(&mut raw);
    Ok(raw)
}

fn read_message(
    object: &Object<'_>,
    at: usize,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    let place = ("messages", at);
    let Some(role) = role::of(object, place, raw)? else { return Ok(()) };
    match role {
        Role::Tool => {
            content::note(raw, place, object, &["content"])?;
            let content = object.some("content").map(json::content).transpose()?.flatten();
            let mut reply: Reply = frames::framed(content.unwrap_or_default().into_owned());
            if let Some(error) = object.object("error")? {
                reply.is_error = Some(true);
                if error.string("type")?.as_deref() == Some("timeout") {
                    reply.stopped = Some(StepResult::Timeout);
                }
                if reply.text.is_empty() {
                    reply.text = error.string("message")?.unwrap_or_default().into_owned();
                }
            }
            turns.gets(object.id("tool_call_id")?.as_deref(), reply);
        }
        // Each answer is a message, so that one without a result still ends its turn.
        Role::Assistant => {
            turns.answer(None);
            messages::read_as(role, object, place, turns, raw)?;
        }
        _ => {
            messages::read_as(role, object, place, turns, raw)?;
        }
    }
    Ok(())
}

/// JSON with the texts that were kept apart put back.
fn attached<'a>(text: &'a str, attachments: &Object<'_>) -> Cow<'a, str> {
    if !text.contains(ATTACHMENT) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(at) = rest.find(ATTACHMENT) {
        let (before, found) = rest.split_at(at);
        all.push_str(before);
        let name = found.get(ATTACHMENT.len()..).unwrap_or_default();
        let end = name.find('"').unwrap_or(name.len());
        // A quoted mark inside a text is no reference.
        let kept = name.get(..end).filter(|_| !before.ends_with('\\'));
        match kept.and_then(|key| attachments.some(key)) {
            Some(value) if value.get().starts_with('"') => {
                all.push_str(value.get());
                rest = name.get(end + 1..).unwrap_or_default();
            }
            _ => {
                all.push_str(ATTACHMENT);
                rest = name;
            }
        }
    }
    all.push_str(rest);
    Cow::Owned(all)
}

fn ending_of(sample: &Object<'_>) -> Result<Ending, Error> {
    if let Some(error) = sample.some("error") {
        let message = match sample.object("error")? {
            Some(error) => error.string("message")?.unwrap_or_default().into_owned(),
            None => json::text(error)?.unwrap_or_default().into_owned(),
        };
        let line = message.trim().lines().next().unwrap_or_default();
        let word = if line.is_empty() { "error" } else { line };
        return Ok(Ending::Infra(json::short(word, 80).into_owned()));
    }
    if let Some(limit) = sample.some("limit") {
        let kind = match sample.object("limit")? {
            Some(limit) => limit.id("type")?,
            None => json::id(limit)?,
        };
        return Ok(Ending::Limit(kind.unwrap_or_else(|| "limit".to_owned())));
    }
    let output = sample.object("output")?.unwrap_or_default();
    let Some(choices) = output.some("choices").filter(|c| json::is_array(c)) else {
        return Ok(Ending::Clean);
    };
    // Why the model's last answer ended.
    match json::elements(choices)?.first().filter(|c| json::is_object(c)) {
        Some(choice) => {
            let reason = Object::of(choice)?.string("stop_reason")?;
            Ok(match reason.as_deref() {
                Some("max_tokens" | "model_length") => ending::of_word("max_tokens"),
                _ => Ending::Clean,
            })
        }
        None => Ok(Ending::Clean),
    }
}

/// The scores: the first scorer's value decides, all of several are kept by name.
fn scores(sample: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    let mut all: Vec<(String, RawNumber)> = Vec::new();
    if let Some(scores) = sample.object("scores")? {
        for (name, score) in scores.iter() {
            if json::is_object(score) {
                score_of(&format!("scores.{name}"), &Object::of(score)?, &mut all)?;
            }
        }
    } else if let Some(score) = sample.object("score")? {
        score_of("score", &score, &mut all)?;
    }
    let Some((field, first)) = all.first() else { return Ok(()) };
    (raw.outcome_field, raw.reward) = (Some(field.clone()), first.clone());
    if all.len() > 1 {
        raw.named_rewards = all
            .iter()
            .filter_map(|(name, n)| {
                Some((name.trim_start_matches("scores.").to_owned(), n.value()?))
            })
            .collect();
    }
    Ok(())
}

/// The numbers in one score: its value, or the values in it.
fn score_of(
    name: &str,
    score: &Object<'_>,
    all: &mut Vec<(String, RawNumber)>,
) -> Result<(), Error> {
    let Some(value) = score.some("value") else {
        all.push((name.to_owned(), RawNumber::Bad("null".to_owned())));
        return Ok(());
    };
    if let Some(inner) = score.object("value")? {
        for (key, value) in inner.iter() {
            all.push((format!("{name}.{key}"), number(value)?));
        }
    } else if json::is_array(value) {
        for (at, value) in json::elements(value)?.into_iter().enumerate() {
            all.push((format!("{name}.{at}"), number(value)?));
        }
    } else {
        all.push((name.to_owned(), number(value)?));
    }
    Ok(())
}

/// A value as a number: the letters of Inspect, words of truth, else a number.
fn number(value: &RawValue) -> Result<RawNumber, Error> {
    if value.get().starts_with('"') {
        let word = json::string(value)?;
        let known = match word.trim() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            word if word.eq_ignore_ascii_case("yes") || word.eq_ignore_ascii_case("true") => {
                Some(1.0)
            }
            word if word.eq_ignore_ascii_case("no") || word.eq_ignore_ascii_case("false") => {
                Some(0.0)
            }
            _ => None,
        };
        if let Some(known) = known {
            return Ok(RawNumber::Value(known));
        }
    }
    // A truth value is a usual score here, nothing that had to be coerced.
    Ok(match value.get() {
        "true" => RawNumber::Value(1.0),
        "false" => RawNumber::Value(0.0),
        _ => json::number(value)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> RawRollout {
        let header = Header { task: Some("bench".into()), model: Some("m".into()) };
        sample(text, &header).unwrap()
    }

    #[test]
    fn a_sample_with_attachments_and_errors() {
        let raw = one(r#"{"id":7,"epoch":2,"input":"attachment://aa","target":"x","messages":[
            {"role":"user","content":"attachment://aa"},
            {"role":"assistant","content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"look"}],"tool_calls":[{"id":"c","function":"bash","arguments":{"cmd":"attachment://bb"},"type":"function"}]},
            {"role":"tool","tool_call_id":"c","function":"bash","content":"","error":{"type":"timeout","message":"Command timed out"}},
            {"role":"assistant","content":"he said \"attachment://aa\""}, null],
            "scores":{"match":{"value":"P"},"parts":{"value":{"a":1,"b":false}}},"attachments":{"aa":"the\ntask","bb":"ls"},
            "limit":{"type":"message","limit":4},"error":null}"#);
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("7"), Some("2")));
        assert_eq!((raw.namespace.as_deref(), raw.policy.as_deref()), (Some("bench"), Some("m")));
        assert_eq!(raw.prompt.as_deref(), Some("the\ntask"));
        assert_eq!(raw.ending, Ending::Limit("message".into()));
        assert_eq!(
            (raw.reward, raw.outcome_field.as_deref()),
            (RawNumber::Value(0.5), Some("scores.match"))
        );
        let named: Vec<_> = raw.named_rewards.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        assert_eq!(named, [("match", 0.5), ("parts.a", 1.0), ("parts.b", 0.0)]);
        let [call, said] = &raw.steps[..] else { panic!("two steps") };
        assert_eq!((&*call.thought, call.stopped), ("hm\nlook", Some(StepResult::Timeout)));
        assert_eq!(call.args, json::args_text(r#"{"cmd":"ls"}"#));
        assert_eq!(
            (call.is_error, call.observation.as_deref()),
            (Some(true), Some("Command timed out"))
        );
        assert_eq!(said.thought, "he said \"attachment://aa\"");
    }

    #[test]
    fn values_of_scores() {
        let value = |v: &str| {
            one(&format!(r#"{{"id":1,"epoch":1,"messages":[],"scores":{{"s":{{"value":{v}}}}}}}"#))
                .reward
        };
        for (text, number) in [
            ("\"C\"", 1.0),
            ("\"I\"", 0.0),
            ("\"N\"", 0.0),
            ("\"no\"", 0.0),
            ("true", 1.0),
            ("0.25", 0.25),
        ] {
            assert_eq!(value(text), RawNumber::Value(number), "{text}");
        }
        assert!(matches!(value("\"odd\""), RawNumber::Bad(_)));
        assert_eq!(value("null"), RawNumber::Bad("null".into()));
        assert_eq!(
            one(r#"{"id":1,"epoch":1,"messages":[],"scores":null}"#).reward,
            RawNumber::Missing
        );
    }

    #[test]
    fn a_log_is_many_parts_and_one_bad_sample_costs_itself() {
        let text = r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"},"samples":[{"id":1,"epoch":1,"messages":[]},5]}"#;
        let parts = Inspect.parse(text, &Context::default()).unwrap();
        let fine: Vec<_> = parts.iter().map(|p| p.rollout.is_ok()).collect();
        assert_eq!(fine, [true, false]);
        let header =
            r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"},"plan":{}}"#;
        let sniff = |text: &str| Inspect.sniff(&Shape::of("x", text.as_bytes(), true));
        assert_eq!(sniff(text), Sniff::Yes);
        assert!(matches!(sniff(header), Sniff::NotRollouts(_)));
        assert_eq!(Header::parse(header).unwrap().task.as_deref(), Some("t"));
    }
}
