//! The calls in events of `OpenHands`: what the model called, and with which arguments.

use super::json::{self, Error, Object};
use super::openhands_events::Events;
use crate::rollout::raw::RawArgs;

/// Arguments of V0 actions that the harness adds.
const ADDED: [&str; 7] =
    ["thought", "blocking", "is_static", "cwd", "hidden", "confirmation_state", "impl_source"];

/// A call of V0 with everything that belongs to it.
pub(super) struct Call {
    pub tool: Option<String>,
    pub args: RawArgs,
    pub id: Option<String>,
    pub answer: Option<String>,
    pub thought: String,
}

impl Call {
    /// The call as the model made it, where that is kept; else as the action gives it.
    pub fn of(
        event: &Object<'_>,
        name: &str,
        args: &Object<'_>,
        events: &mut Events,
    ) -> Result<Self, Error> {
        let metadata = event.object("tool_call_metadata")?.unwrap_or_default();
        let id = metadata.id("tool_call_id")?;
        let response = metadata.object("model_response")?.unwrap_or_default();
        let mut call = Self {
            tool: metadata.id("function_name")?.or_else(|| Some(name.to_owned())),
            args: RawArgs::default(),
            answer: response.id("id")?,
            thought: String::new(),
            id,
        };
        let own = if name == "think" { String::new() } else { events.text(args, "thought")? };
        if let Some(message) = message(&response)? {
            call.thought = events.text(&message, "content")?;
            if let Some(given) = arguments(&message, call.id.as_deref())? {
                if call.thought.is_empty() {
                    call.thought = own;
                }
                call.args = given;
                return Ok(call);
            }
        }
        if call.thought.is_empty() {
            call.thought = own;
        }
        let mut map = serde_json::Map::new();
        for (key, value) in args.iter() {
            let added = ADDED.contains(&key) && !(name == "think" && key == "thought");
            if !added && !json::is_null(value) {
                map.insert(key.to_owned(), serde_json::from_str(value.get())?);
            }
        }
        call.args = RawArgs::Object(map);
        Ok(call)
    }
}

/// The first message of an answer.
fn message<'a>(response: &Object<'a>) -> Result<Option<Object<'a>>, Error> {
    let Some(choices) = response.some("choices").filter(|c| json::is_array(c)) else {
        return Ok(None);
    };
    match json::elements(choices)?.first().filter(|c| json::is_object(c)) {
        Some(choice) => Object::of(choice)?.object("message"),
        None => Ok(None),
    }
}

/// The arguments of the call with this id.
fn arguments(message: &Object<'_>, id: Option<&str>) -> Result<Option<RawArgs>, Error> {
    let Some(list) = message.some("tool_calls").filter(|l| json::is_array(l)) else {
        return Ok(None);
    };
    for call in json::elements(list)?.into_iter().filter(|c| json::is_object(c)) {
        let call = Object::of(call)?;
        if call.id("id")?.as_deref() == id
            && let Some(function) = call.object("function")?
        {
            return json::args(function.get("arguments")).map(Some);
        }
    }
    Ok(None)
}

/// The arguments of a V1 call: as the model wrote them, else the fields of the action.
pub(super) fn sdk_args(event: &Object<'_>) -> Result<RawArgs, Error> {
    if let Some(call) = event.object("tool_call")? {
        let function = call.object("function")?;
        let holder = function.as_ref().unwrap_or(&call);
        if let Some(given) = holder.some("arguments") {
            return json::args(Some(given));
        }
    }
    let mut args = json::args(event.get("action"))?;
    if let RawArgs::Object(map) = &mut args {
        map.remove("kind");
    }
    Ok(args)
}
