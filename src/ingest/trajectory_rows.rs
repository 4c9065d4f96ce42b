//! Data sets of SWE-agent runs as rows: `trajectory` is a list of `role` and `text`, the action stands
//! in the last fenced block of what the agent says.

use super::content;
use super::json::{self, Object};
use super::messages::first_id;
use super::native;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::role::{self, Role};
use super::scan;
use super::shape::Shape;
use super::turns::{Call, Turns};
use crate::rollout::raw::{RawArgs, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct TrajectoryRows;

impl Reader for TrajectoryRows {
    fn id(&self) -> &'static str {
        "nebius"
    }

    fn title(&self) -> &'static str {
        "SWE-agent trajectories as data set rows (nebius), one per line"
    }

    fn source(&self) -> &'static str {
        "huggingface nebius/SWE-agent-trajectories (trajectory, target, exit_status)"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.has("instance_id")
                && r.value("trajectory").is_some_and(|v| {
                    let first = v.strip_prefix(b"[").map(scan::entries).unwrap_or_default();
                    let has = |key: &[u8]| first.iter().any(|e| e.key == key);
                    has(b"role") && (has(b"text") || has(b"content"))
                })
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let mut raw = RawRollout {
            id: first_id(&record, &["traj_id", "trajectory_id", "rollout_id"])?,
            policy: first_id(&record, &["model_name", "model"])?,
            ending: native::ending(&record, &["exit_status"])?,
            reward: record.number("reward")?,
            other_keys: native::other_keys(&record)?,
            ..RawRollout::default()
        };
        native::note_repeated(&record, &mut raw);
        if let Some(instance) = record.id("instance_id")? {
            match sampled(&instance) {
                Some((task, attempt)) => {
                    (raw.task, raw.attempt) = (Some(task.to_owned()), Some(attempt));
                    raw.id = raw.id.or(Some(instance.clone()));
                }
                None => raw.task = Some(instance),
            }
        }
        for name in ["target", "resolved"] {
            if let (None, Some(verdict)) = (raw.verdict, record.truth(name)) {
                raw.verdict = Some(verdict);
                raw.outcome_field = Some(name.to_owned());
            }
        }
        let Some(list) = record.some("trajectory").filter(|t| json::is_array(t)) else {
            return Err(RecordError::missing("trajectory", "a list of messages was expected"));
        };
        let mut turns = Turns::with_harness();
        for (at, message) in json::elements(list)?.into_iter().enumerate() {
            if !json::is_object(message) {
                let reason = "each message must be an object";
                return Err(RecordError::unexpected(None, reason).in_list("trajectory", at));
            }
            let message = Object::of(message)?;
            let Some(role) = role::of(&message, ("trajectory", at), &mut raw)? else { continue };
            content::note(&mut raw, ("trajectory", at), &message, &["text", "content"])?;
            let content = message.first(&["text", "content"]).map(|(_, v)| v);
            let text = content.map(json::content).transpose()?.flatten().unwrap_or_default();
            match role {
                Role::Assistant => says(&text, &mut turns),
                Role::User | Role::Tool => turns.hears(&text),
                Role::System | Role::Exit => {}
            }
        }
        raw.prompt = turns.finish(&mut raw);
        Ok(vec![Part::whole(raw)])
    }
}

/// The task and the attempt of a sampled instance: `owner__repo-12_3` is attempt 3 at
/// `owner__repo-12`. Other ids are whole.
pub(super) fn sampled(instance: &str) -> Option<(&str, u64)> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (task, attempt) = instance.rsplit_once('_')?;
    let (repository, number) = task.rsplit_once('-')?;
    (digits(number) && digits(attempt) && repository.contains("__"))
        .then(|| attempt.parse().ok())
        .flatten()
        .map(|attempt| (task, attempt))
}

fn says(text: &str, turns: &mut Turns) {
    let Some((before, action, after)) = fenced(text) else {
        turns.says(text);
        return;
    };
    for said in [before, after] {
        if !said.trim().is_empty() {
            turns.says(said.trim());
        }
    }
    let command = serde_json::Value::String(action.trim().to_owned());
    let args = RawArgs::Object(serde_json::Map::from_iter([("command".to_owned(), command)]));
    turns.calls(Call { tool: Some("bash".to_owned()), args, id: None });
}

/// What stands before, in and after the last fenced block.
fn fenced(text: &str) -> Option<(&str, &str, &str)> {
    let mut blocks = Vec::new();
    let (mut at, mut open) = (0, None);
    for line in text.split_inclusive('\n') {
        let (begin, end) = (at, at + line.len());
        at = end;
        if !line.starts_with("```") {
            continue;
        }
        match open.take() {
            None => open = Some((begin, end)),
            Some((start, inner)) => blocks.push((start, inner, begin, end)),
        }
    }
    let (start, inner, stop, end) = blocks.pop()?;
    Some((text.get(..start)?, text.get(inner..stop)?, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::raw::RawKind;

    #[test]
    fn fenced_actions_and_sampled_instances() {
        let text = r#"{"instance_id":"o__r-12_3","model_name":"m","target":false,"exit_status":"exit_context","trajectory":[
          {"role":"system","system_prompt":"x","text":null},{"role":"user","text":"issue"},
          {"role":"ai","text":"see\n```\nold\n```\nthen\n```\nopen a.py\n```"},{"role":"user","text":"shown"},
          {"role":"ai","text":"no block"}]}"#;
        let raw =
            TrajectoryRows.parse(text, &Context::default()).unwrap().remove(0).rollout.unwrap();
        assert_eq!((raw.task.as_deref(), raw.attempt), (Some("o__r-12"), Some(3)));
        assert_eq!((raw.id.as_deref(), raw.verdict), (Some("o__r-12_3"), Some(false)));
        let [open, talk] = &raw.steps[..] else { panic!("two steps") };
        assert_eq!(open.args, json::args_text(r#"{"command":"open a.py"}"#));
        assert_eq!(open.thought, "see\n```\nold\n```\nthen");
        assert_eq!((open.observation.as_deref(), talk.kind), (Some("shown"), RawKind::Text));
        assert_eq!(sampled("django__django-11099"), None);
        assert_eq!(sampled("pandas-dev__pandas.95280573.pr_53652"), None);
    }
}
