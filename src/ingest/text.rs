//! The text of one step, for a person who asks for it.

use crate::rollout::raw::{RawArgs, RawStep};

/// What a step said and did, as its record gives it. It is read from the file on demand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepText {
    /// Text of the turn before the call; for a turn without a call the whole text.
    pub thought: String,
    /// Tool name as logged.
    pub tool: Option<String>,
    /// Arguments as one text: pretty JSON, or the text that could not be parsed.
    pub args_text: String,
    /// Arguments.
    pub args: RawArgs,
    /// Everything that came back; `None` when the file has no result.
    pub observation: Option<String>,
    /// The step as the reader understood it, with the remaining fields.
    pub raw: RawStep,
}

impl From<RawStep> for StepText {
    fn from(raw: RawStep) -> Self {
        let args_text = match &raw.args {
            RawArgs::Object(map) if map.is_empty() => String::new(),
            // Writing a map of plain values cannot fail; an empty text would only be less to read.
            RawArgs::Object(map) => serde_json::to_string_pretty(map).unwrap_or_default(),
            RawArgs::Unparsable(text) => text.clone(),
        };
        Self {
            thought: raw.thought.clone(),
            tool: raw.tool.clone(),
            args_text,
            args: raw.args.clone(),
            observation: raw.observation.clone(),
            raw,
        }
    }
}
