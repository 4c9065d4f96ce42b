//! NeMo-Gym rollouts: JSON lines with `responses_create_params` and `response.output`, items of the
//! Responses API.
//!
//! Token ids and log probabilities in the items can be huge; they are skipped unread.

use super::content;
use super::ending;
use super::frames;
use super::json::{self, Error, Object};
use super::native;
use super::reader::{
    Context, NotRollouts, Part, Reader, RecordError, Sniff, digest, digest64, record_object,
    short_digest,
};
use super::role::{self, Role};
use super::shape::Shape;
use super::turns::{Call, Reply, Turns};
use crate::rollout::raw::{Ending, RawRollout};

/// The reader.
#[derive(Debug)]
pub struct NemoGym;

impl Reader for NemoGym {
    fn id(&self) -> &'static str {
        "nemo-gym"
    }

    fn title(&self) -> &'static str {
        "NeMo-Gym rollouts (JSON lines)"
    }

    fn source(&self) -> &'static str {
        "NVIDIA-NeMo/Gym@07d6b0d nemo_gym/rollout_collection.py, openai_utils.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        if shape.any(|r| r.object("response") && r.has("responses_create_params")) {
            return Sniff::Yes;
        }
        // Inputs can be longer than what is looked at; then the response may still come.
        if shape.any(|r| r.has("responses_create_params") && r.cut()) {
            return Sniff::Yes;
        }
        if shape.any(|r| r.has("responses_create_params")) {
            return Sniff::NotRollouts(NotRollouts {
                what: "NeMo-Gym inputs (materialized tasks), not rollouts".into(),
                missing: "there is no `response` and no `reward`".into(),
                hint: "give the rollouts file that `ng_collect_rollouts` wrote beside it \
                       (without `_materialized_inputs` in its name)"
                    .into(),
            });
        }
        let profiled = |r: &super::shape::RecordShape<'_>| {
            let averages = r.keys().any(|k| k.starts_with(b"mean/") || k == b"mean_reward");
            averages && r.has_any(&["_ng_task_index", "agent_ref", "sample", "mean/reward"])
        };
        if shape.any(profiled) || shape.name.ends_with("_reward_profiling.jsonl") {
            return Sniff::NotRollouts(NotRollouts {
                what: "NeMo-Gym reward profile: averages per task".into(),
                missing: "there are no steps".into(),
                hint: "give the rollouts file beside it (without `_reward_profiling` in its name)"
                    .into(),
            });
        }
        Sniff::No
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(response) = record.object("response")? else {
            return Err(RecordError::missing(
                "response",
                "inputs without a response are no rollout",
            ));
        };
        let Some(output) = response.some("output").filter(|o| json::is_array(o)) else {
            return Err(RecordError::missing("response.output", "a list of items was expected"));
        };
        let params = record.object("responses_create_params")?.unwrap_or_default();
        let agent = match record.object("agent_ref")? {
            Some(agent) => agent.id("name")?,
            None => None,
        };
        let mut raw = RawRollout {
            task: task(&record, &params, agent.as_deref(), context)?,
            policy: response.id("model")?,
            attempt: record.whole("_ng_attempt_index")?,
            reward: record.number("reward")?,
            verdict: record.truth("resolved"),
            prompt: prompt(&params)?,
            ..RawRollout::default()
        };
        // An index counts attempts of one harness, so it is an id only together with it.
        raw.id = record
            .id("_ng_rollout_index")?
            .map(|index| format!("{}-{index}", agent.as_deref().unwrap_or(context.stem)));
        for name in ["_ng_task_index", "instance_id", "task_id", "id"] {
            if let Some(id) = record.id(name)? {
                raw.other_keys.push((name.to_owned(), id));
            }
        }
        raw.harness = agent;
        raw.outcome_field =
            Some(if raw.verdict.is_some() { "resolved" } else { "reward" }.to_owned());
        if record.truth("mask_sample") == Some(true) {
            raw.mask = Some("mask_sample is true".to_owned());
        }
        raw.ending = ending_of(&record, &response, raw.verdict)?;
        native::note_repeated(&record, &mut raw);
        let mut turns = Turns::with_harness();
        for (at, item) in json::elements(output)?.into_iter().enumerate() {
            match content::no_entry(item, "item") {
                Some(reason) => content::left_out(&mut raw, format!("output[{at}]"), reason),
                None => read_item(&Object::of(item)?, at, &mut turns, &mut raw)?,
            }
        }
        turns.finish(&mut raw);
        Ok(vec![Part::whole(raw)])
    }
}

fn task(
    record: &Object<'_>,
    params: &Object<'_>,
    agent: Option<&str>,
    context: &Context<'_>,
) -> Result<Option<String>, Error> {
    for holder in [params.object("metadata")?, record.object("metadata")?].into_iter().flatten() {
        if let Some(id) = holder.id("instance_id")? {
            return Ok(Some(id));
        }
    }
    if let Some(id) = record.id("instance_id")? {
        return Ok(Some(id));
    }
    let place = agent.unwrap_or(context.stem);
    if let Some(index) = record.id("_ng_task_index")? {
        return Ok(Some(format!("{place}/{index}")));
    }
    // Older files number nothing: equal inputs are attempts at one task, however a writer spaced them.
    Ok(params.some("input").map(|input| {
        let text =
            serde_json::from_str::<serde_json::Value>(input.get()).map(|value| value.to_string());
        let text = text.unwrap_or_else(|_| input.get().to_owned());
        format!("{place}/input{}", short_digest(digest64(&digest(text.as_bytes()))))
    }))
}

/// What the agent was told last before it began.
fn prompt(params: &Object<'_>) -> Result<Option<String>, Error> {
    if let Some(metadata) = params.object("metadata")?
        && let Some(text) = metadata.string("problem_statement")?
    {
        return Ok(Some(text.into_owned()));
    }
    let Some(input) = params.some("input") else { return Ok(None) };
    if !json::is_array(input) {
        return Ok(json::text(input)?.map(Into::into));
    }
    let mut last = None;
    for item in json::elements(input)? {
        if !json::is_object(item) {
            continue;
        }
        let item = Object::of(item)?;
        if role::plain(&item)? == Some(Role::User)
            && let Some(content) = item.some("content")
        {
            last = json::content(content)?.map(String::from);
        }
    }
    Ok(last)
}

fn ending_of(
    record: &Object<'_>,
    response: &Object<'_>,
    verdict: Option<bool>,
) -> Result<Ending, Error> {
    let mut end = Ending::Clean;
    for name in ["agent_timed_out", "eval_timed_out", "truncated"] {
        // A success stands, however long it took.
        if record.truth(name) == Some(true) && verdict != Some(true) {
            end = ending::worse(end, Ending::Limit(name.to_owned()));
        }
    }
    if let Some(details) = response.object("incomplete_details")?
        && let Some(reason) = details.string("reason")?
    {
        end = ending::worse(end, ending::of_word(&reason));
    }
    for name in ["agent_error_kind", "error_kind"] {
        // `other` is written for runs that ended well.
        if let Some(kind) = record.string(name)?
            && !matches!(&*kind, "other" | "none" | "")
        {
            end = ending::worse(end, ending::of_error(&kind));
        }
    }
    Ok(end)
}

fn read_item(
    item: &Object<'_>,
    at: usize,
    turns: &mut Turns,
    raw: &mut RawRollout,
) -> Result<(), RecordError> {
    let place = ("output", at);
    let kind = item.string("type")?.unwrap_or_default();
    match &*kind {
        "message" | "" => {
            let Some(role) = role::of(item, place, raw)? else { return Ok(()) };
            content::note(raw, place, item, &["content"])?;
            let content = item.some("content").map(json::content).transpose()?.flatten();
            let text = content.unwrap_or_default();
            match role {
                Role::Assistant => turns.says(&text),
                Role::User => turns.hears(&text),
                Role::Tool => turns.gets(None, frames::framed(text.into_owned())),
                Role::System | Role::Exit => {}
            }
            return Ok(());
        }
        "reasoning" => {
            let mut said = String::new();
            for name in ["summary", "content"] {
                if let Some(part) = item.some(name) {
                    said.push_str(&json::content(part)?.unwrap_or_default());
                }
            }
            if !said.is_empty() {
                turns.says(&said);
            }
        }
        "function_call" => turns.calls(Call {
            tool: item.string("name")?.map(String::from).filter(|n| !n.is_empty()),
            args: json::args(item.get("arguments"))?,
            id: item.id("call_id")?.or(item.id("id")?),
        }),
        "function_call_output" => {
            let text =
                item.some("output").map(json::content).transpose()?.flatten().unwrap_or_default();
            let reply: Reply = frames::framed(text.into_owned());
            turns.gets(item.id("call_id")?.as_deref(), reply);
        }
        other => {
            let reason =
                format!("items of type `{}` are not read: left out", json::short(other, 40));
            content::left_out(raw, format!("output[{at}].type"), reason);
            return Ok(());
        }
    }
    content::note(raw, place, item, &["content", "output"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RawRollout {
        let context = Context { stem: "file", ..Context::default() };
        NemoGym.parse(text, &context).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn a_record_with_parallel_calls() {
        let raw = read(
            r#"{"responses_create_params":{"input":[{"role":"user","content":"fix"}],"metadata":null},
            "response":{"model":"m","output":[
              {"type":"reasoning","summary":[{"text":"hm"}]},
              {"type":"message","role":"assistant","content":[{"type":"output_text","text":"look"}],"prompt_token_ids":[1,2]},
              {"type":"function_call","call_id":"a","name":"bash","arguments":"{\"command\":\"ls\"}"},
              {"type":"function_call","call_id":"b","name":"bash","arguments":"{\"command\":\"pwd\"}"},
              {"type":"function_call_output","call_id":"b","output":"{\"output\": \"/\", \"exit_code\": 3, \"error\": null}"},
              {"type":"function_call_output","call_id":"a","output":"<returncode>0</returncode>"},
              {"type":"message","role":"user","content":"go on"}]},
            "reward":0.5,"agent_error_kind":"other","agent_timed_out":true,"_ng_task_index":4,"_ng_rollout_index":1,"agent_ref":{"name":"h"}}"#,
        );
        assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("h/4"), Some("h-1")));
        assert_eq!((raw.policy.as_deref(), raw.harness.as_deref()), (Some("m"), Some("h")));
        assert_eq!(raw.ending, Ending::Limit("agent_timed_out".into()));
        assert_eq!(raw.prompt.as_deref(), Some("fix"));
        let [a, b] = &raw.steps[..] else { panic!("two steps") };
        assert_eq!((&*a.thought, a.exit_code, a.turn), ("hm\nlook", Some(0), 0));
        assert_eq!((b.exit_code, b.turn), (Some(3), 0));
        assert!(b.observation.as_deref().unwrap().ends_with("go on"));
    }

    #[test]
    fn rows_without_an_index_group_by_input() {
        let row = |input: &str| {
            let text = format!(
                r#"{{"responses_create_params":{{"input":{input}}},"response":{{"output":[]}},"reward":0}}"#
            );
            read(&text).task.unwrap()
        };
        let said = row(r#"[{"role":"user","content":"é 1"}]"#);
        assert_eq!(said, row(r#"[{"role": "user", "content": "\u00e9 1"}]"#));
        assert_ne!(said, row(r#"[{"role":"user","content":"é  1"}]"#));
        assert!(row(r#""a""#).starts_with("file/input~"));
    }

    #[test]
    fn a_success_stands_and_a_mask_is_kept() {
        let raw = read(
            r#"{"responses_create_params":{},"response":{"output":[]},"resolved":true,"reward":1,"agent_timed_out":true,"mask_sample":true}"#,
        );
        assert_eq!((raw.verdict, &raw.ending), (Some(true), &Ending::Clean));
        assert_eq!(raw.outcome_field.as_deref(), Some("resolved"));
        assert!(raw.mask.is_some());
    }
}
