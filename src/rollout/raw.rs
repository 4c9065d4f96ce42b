//! A rollout with its text in hand, as a reader understood it: lives only while a record is being
//! read (once for the facts, again when a person asks for the text).

/// A number as a file gives it. What is not a finite number is never turned into 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RawNumber {
    /// The field is absent.
    #[default]
    Missing,
    /// A finite number.
    Value(f64),
    /// A finite number that stood there as text or as a truth value; the reason says which.
    Coerced(f64, String),
    /// Something that is no finite number (`NaN`, `null`, text); the reason says what.
    Bad(String),
}

impl RawNumber {
    /// The number, if there is a finite one.
    #[must_use]
    pub const fn value(&self) -> Option<f64> {
        match self {
            Self::Value(v) | Self::Coerced(v, _) => Some(*v),
            Self::Missing | Self::Bad(_) => None,
        }
    }
}

/// How a rollout ended, apart from whether it succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ending {
    /// It ended by itself, or nothing is said.
    #[default]
    Clean,
    /// A limit stopped it (steps, tokens, context, time).
    Limit(String),
    /// The infrastructure failed (exception, sandbox lost, verifier crash).
    Infra(String),
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum RawArgs {
    /// A parsed object, keys in file order as logged. Absent, null and empty arguments are an empty map.
    Object(serde_json::Map<String, serde_json::Value>),
    /// Text that is no object; kept as it is.
    Unparsable(String),
}

impl Default for RawArgs {
    fn default() -> Self {
        Self::Object(serde_json::Map::new())
    }
}

/// What stands at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RawKind {
    /// A tool call (`tool` may still be missing in a broken one).
    #[default]
    Call,
    /// A turn of text without a call; the profile says what it is.
    Text,
    /// A ready-made opaque step (`state` and `action`), no call.
    Opaque,
}

/// One action with its text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawStep {
    /// What stands here.
    pub kind: RawKind,
    /// Text of the turn before the call; for [`RawKind::Text`] the whole text.
    pub thought: String,
    /// Tool name as logged.
    pub tool: Option<String>,
    /// Arguments.
    pub args: RawArgs,
    /// Everything that came back until the next turn; `None` when the file has no result.
    pub observation: Option<String>,
    /// Exit code as logged in a field of its own, or in the frame the format writes around the output.
    pub exit_code: Option<i64>,
    /// The format's own failure mark.
    pub is_error: Option<bool>,
    /// The run ended by a time limit, an interrupt or a kill, where the format says so.
    pub stopped: Option<super::facts::StepResult>,
    /// Reward of this step, as logged. The terminal reward is never in here.
    pub step_reward: RawNumber,
    /// Id of the call.
    pub call_id: Option<String>,
    /// Number of the turn, from 0; parallel calls share it.
    pub turn: u32,
    /// Span of token ids, or a count as `(0, n)`.
    pub tokens: Option<(u64, u64)>,
    /// Key for the `logged` abstraction.
    pub state: Option<String>,
    /// Action key for the `logged` abstraction.
    pub action: Option<String>,
    /// Further numbers per step, for `logged:NAME` columns.
    pub values: Vec<(String, f64)>,
    /// The harness answered this text turn with a demand to continue.
    pub told_to_continue: bool,
}

/// One rollout as its record gives it. Ids are texts; what is absent is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawRollout {
    /// Rollout id; `None` lets the loader make a short content hash.
    pub id: Option<String>,
    /// Name of the run that wrote the record: the loader takes it as the id of a rollout without one
    /// where it is the only rollout of that run in its group.
    pub run: Option<String>,
    /// Folder in which the id (or the run's name) is one rollout, whichever of its files a record stands
    /// in; `None` for the many formats where that is the file.
    pub home: Option<String>,
    /// Name of the file that the rollout goes on in.
    pub continues_in: Option<String>,
    /// Task id; `None` costs the record (a rollout without a task cannot be grouped), unless the
    /// loader finds one in the file's name.
    pub task: Option<String>,
    /// Benchmark or environment that the task id belongs to.
    pub namespace: Option<String>,
    /// Model or checkpoint.
    pub policy: Option<String>,
    /// Agent program around the model.
    pub harness: Option<String>,
    /// Training step.
    pub train_step: Option<u64>,
    /// Attempt number.
    pub attempt: Option<u64>,
    /// Position of this record among the records of one rollout.
    pub segment_index: Option<u64>,
    /// The record starts with a summary prompt: a divider, not an action.
    pub prompt_is_summary: bool,
    /// Other fields that could serve as a group key (`group_id`, …), for `--group-by`.
    pub other_keys: Vec<(String, String)>,
    /// Outcome as given in so many words.
    pub outcome: Option<super::Outcome>,
    /// Verdict of the verifier as a truth value (`resolved`).
    pub verdict: Option<bool>,
    /// Terminal reward, as logged.
    pub reward: RawNumber,
    /// Name of the field that `reward` came from, where it is another one, for notes.
    pub reward_field: Option<&'static str>,
    /// Verdict score where `reward` is shaped.
    pub outcome_reward: RawNumber,
    /// Further named rewards.
    pub named_rewards: Vec<(String, f64)>,
    /// Name of the field that the verdict or reward came from, for the load report.
    pub outcome_field: Option<String>,
    /// Steps, messages or events that could not be read and were left out.
    pub dropped: u32,
    /// Why there is no verdict, where the file says that itself.
    pub unscored: Option<String>,
    /// The format says that this rollout has no verdict although a number stands there.
    pub mask: Option<String>,
    /// How it ended.
    pub ending: Ending,
    /// Steps.
    pub steps: Vec<RawStep>,
    /// The rollout that this one branched off.
    pub forked_from: Option<String>,
    /// Calls that are no steps of the policy (user simulator, sub-agent).
    pub excluded_calls: u32,
    /// Messages of the policy that are no steps: a greeting before anybody asked.
    pub excluded_messages: u32,
    /// What was coerced or odd, for the load report: (field, reason).
    pub notes: Vec<(String, String)>,
    /// The task's text, for the screen's title.
    pub prompt: Option<String>,
}
