//! The one trait that every format implements, the list of formats in order of detection, and the
//! tolerant way from a record's bytes to its rollouts.
//!
//! It must not know any format, and it reads no files.

use std::borrow::Cow;

use super::document::Document;
use super::holes;
use super::json::{self, Object};
use super::repair::Repairs;
use super::shape::Shape;
use super::sheet::Columnar;
use super::{
    alike, atif, claude_code, codex, harbor, inspect, messages, mini_swe_agent, native, nemo_gym,
    openhands, r2e_gym, repair, rllm, roll, segment, sharegpt, skyrl, swe_agent, tau_bench,
    tau2_bench, terminal_bench, tinker, trajectory_rows, verifiers, verifiers_traces, verl,
};
use crate::rollout::raw::{RawNumber, RawRollout};

/// What a reader says about a file's beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sniff {
    /// Another format.
    No,
    /// This format.
    Yes,
    /// This framework wrote it, but it holds no rollouts.
    NotRollouts(NotRollouts),
}

/// Why a file is not a rollout file: what it is, what is missing, what to try.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NotRollouts {
    /// What the file is.
    pub what: String,
    /// What is missing for it to be a rollout file.
    pub missing: String,
    /// What to try.
    pub hint: String,
}

impl std::fmt::Display for NotRollouts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.what, self.missing)
    }
}

/// How a file is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One record per line.
    Lines,
    /// One record per element of the array that the file is.
    Elements,
    /// Values one after the other, each over as many lines as it likes.
    Values,
    /// The whole file is one record.
    Document,
}

impl Layout {
    /// What a record is called in messages.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Lines => "line",
            Self::Elements => "element",
            Self::Values => "value",
            Self::Document => "document",
        }
    }
}

/// What a reader may know about where a record stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The file's name without folder and extension.
    pub stem: &'a str,
    /// The folders and the name of the file, joined by `/`, for formats that name runs and tasks by
    /// folders; empty for a stream. Parts of it may become ids, the whole is never shown.
    pub path: &'a str,
    /// Number of the record in its file, from 1; for formats that write a rollout as several records
    /// whose order only the file tells.
    pub number: u64,
    /// What the archive that the file is in says about all of its members (`header.json`), or the file
    /// that describes the run ([`Reader::described_in`]).
    pub header: Option<&'a str>,
    /// Only this part is wanted: a reader of records with many rollouts may leave the others empty,
    /// as long as the parts keep their numbers.
    pub only: Option<u32>,
}

/// One rollout of a record, or why it could not be read.
#[derive(Debug)]
pub struct Part {
    /// The rollout.
    pub rollout: Result<RawRollout, RecordError>,
    /// Digest of the part's own text, for records that hold several; `None` = the record's.
    pub digest: Option<u64>,
    /// Lines of the record that could not be read, where a rollout is spread over lines.
    pub lost: Vec<LostLine>,
}

/// A line of a rollout that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostLine {
    /// Where it starts, in bytes from the start of the record.
    pub at: usize,
    /// Why.
    pub error: RecordError,
}

impl Default for Part {
    fn default() -> Self {
        Self::whole(RawRollout::default())
    }
}

impl Part {
    /// The only rollout of its record.
    #[must_use]
    pub fn whole(rollout: RawRollout) -> Self {
        Self { rollout: Ok(rollout), digest: None, lost: Vec::new() }
    }

    /// One of several rollouts; `text` is its own JSON.
    #[must_use]
    pub fn of(text: &str, rollout: Result<RawRollout, RecordError>) -> Self {
        let alike = rollout.as_ref().ok().and_then(|raw| alike::digest_of(text, raw));
        let digest = alike.or_else(|| Some(digest64(&digest(text.as_bytes()))));
        Self { rollout, digest, lost: Vec::new() }
    }
}

/// What a record gave.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Its rollouts, in order; [`crate::rollout::RecordRef::part`] counts them from 0.
    pub parts: Vec<Part>,
    /// What had to be repaired before it could be read.
    pub repairs: Repairs,
}

/// Why a record or a rollout in it could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordErrorKind {
    /// It is no JSON.
    Broken,
    /// It is cut at the end of the file.
    Cut,
    /// It is JSON, but not of the expected kind.
    Unexpected,
    /// A needed field is missing.
    Missing,
    /// It is too large.
    TooLarge,
}

/// A record that costs itself and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", field.as_ref().map(|f| format!("field `{f}`: ")).unwrap_or_default())]
pub struct RecordError {
    /// What kind of trouble.
    pub kind: RecordErrorKind,
    /// The field, where one is at fault.
    pub field: Option<String>,
    /// What was expected and what stands there.
    pub reason: String,
    /// What to do.
    pub hint: Option<String>,
}

impl RecordError {
    /// A value of the wrong kind.
    #[must_use]
    pub fn unexpected(field: Option<&str>, reason: impl Into<String>) -> Self {
        Self {
            kind: RecordErrorKind::Unexpected,
            field: field.map(str::to_owned),
            reason: reason.into(),
            hint: None,
        }
    }

    /// A field that is not there.
    #[must_use]
    pub fn missing(field: &str, reason: impl Into<String>) -> Self {
        Self {
            kind: RecordErrorKind::Missing,
            field: Some(field.to_owned()),
            reason: reason.into(),
            hint: None,
        }
    }

    /// The same about the element of a list that it happened in.
    #[must_use]
    pub fn in_list(mut self, list: &str, at: usize) -> Self {
        self.field = Some(match self.field {
            Some(field) if field != list && field != "messages" => format!("{list}[{at}].{field}"),
            _ => format!("{list}[{at}]"),
        });
        self
    }

    /// Whether it is no JSON as it stands.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(self.kind, RecordErrorKind::Broken | RecordErrorKind::Cut)
    }

    /// The same with the advice for what is torn.
    #[must_use]
    pub fn to_mend(self) -> Self {
        self.hint("mend it there, or write one rollout per line")
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<json::Error> for RecordError {
    fn from(error: json::Error) -> Self {
        let told = json::complaint(&error);
        let (kind, reason) = match error.classify() {
            serde_json::error::Category::Data => (RecordErrorKind::Unexpected, told),
            serde_json::error::Category::Eof => {
                (RecordErrorKind::Cut, format!("broken JSON: {told}"))
            }
            _ => (RecordErrorKind::Broken, format!("broken JSON: {told}")),
        };
        Self { kind, field: None, reason, hint: None }
    }
}

/// One format. A reader turns records into rollouts; it never groups and never judges an action.
pub trait Reader: Send + Sync {
    /// The id for `--from`, for profiles, and the namespace where a file names none.
    fn id(&self) -> &'static str;

    /// One line about the format: who writes it.
    fn title(&self) -> &'static str;

    /// Where the facts about the format were read.
    fn source(&self) -> &'static str;

    /// Whether the beginning of a file is this format.
    fn sniff(&self, shape: &Shape<'_>) -> Sniff;

    /// How a file of this format is cut.
    fn layout(&self, shape: &Shape<'_>) -> Layout {
        shape.layout()
    }

    /// Where the file lies that describes the run of a file, for formats that give a rollout a file of its
    /// own; it becomes the [`Context::header`].
    fn described_in(&self, _path: &str) -> Option<String> {
        None
    }

    /// The key under which a document holds a list with a rollout in each element.
    fn elements(&self) -> Option<&'static str> {
        None
    }

    /// The other keys of such a document that its rollouts take something from. Without one of them a
    /// rollout would be half read.
    fn shared_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a document says about all elements of that list, for reading them one by one. In `text`
    /// the list is empty; `several` tells whether there is more than one.
    fn document(&self, _text: &str, _several: bool) -> Result<Box<dyn Document>, RecordError> {
        Err(RecordError::unexpected(None, "a document with a list of rollouts is not read here"))
    }

    /// What the columns of a record are, for formats whose records are objects of columns.
    fn columnar(&self) -> Option<&dyn Columnar> {
        None
    }

    /// The rollouts of one record, given as strict JSON.
    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError>;
}

/// All readers, in order of detection: the first that knows a file reads it.
#[must_use]
pub fn readers() -> &'static [&'static dyn Reader] {
    &[
        &native::Native,
        &r2e_gym::R2eGym,
        &nemo_gym::NemoGym,
        &verifiers_traces::VerifiersTraces,
        &verifiers::Verifiers,
        &verl::Verl,
        &roll::Roll,
        &trajectory_rows::TrajectoryRows,
        &mini_swe_agent::MiniSweAgent,
        &swe_agent::SweAgent,
        &openhands::OpenHands,
        &openhands::OpenHandsSession,
        &inspect::Inspect,
        &atif::Atif,
        &harbor::HarborResult,
        &terminal_bench::TerminalBench,
        &claude_code::ClaudeCode,
        &codex::Codex,
        &tau_bench::TauBench,
        &tau2_bench::Tau2Bench,
        &rllm::Rllm,
        &skyrl::SkyRl,
        &tinker::Tinker,
        &sharegpt::ShareGpt,
        &messages::Messages,
    ]
}

/// The reader with this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static dyn Reader> {
    readers().iter().copied().find(|r| r.id() == id)
}

/// The reader for a file that begins like this, or what the file is instead.
///
/// What is whole says it. Where whole records say nothing, torn ones may tell what the file was.
pub fn detect(shape: &Shape<'_>) -> Result<&'static dyn Reader, NotRollouts> {
    if let Some(not) = shape.obstacle() {
        return Err(not);
    }
    let sure = shape.sure().and_then(|sure| known(&sure));
    sure.or_else(|| known(shape)).unwrap_or_else(|| Err(shape.unknown()))
}

/// What the first reader says that knows a file; `None` where none does.
fn known(shape: &Shape<'_>) -> Option<Result<&'static dyn Reader, NotRollouts>> {
    let mut reason = None;
    for reader in readers() {
        match reader.sniff(shape) {
            Sniff::Yes => return Some(Ok(*reader)),
            Sniff::NotRollouts(not) => reason = reason.or(Some(not)),
            Sniff::No => {}
        }
    }
    reason.map(Err)
}

/// The blake3 digest of a record.
#[must_use]
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// The first 64 bits of a digest.
#[must_use]
pub fn digest64(digest: &[u8; 32]) -> u64 {
    digest.iter().take(8).rev().fold(0, |all, &b| (all << 8) | u64::from(b))
}

/// The short form of a digest that stands in for a missing id: the first eight hex digits of blake3.
#[must_use]
pub fn short_digest(digest64: u64) -> String {
    format!("~{:08x}", digest64.swap_bytes() >> 32)
}

/// Reads a record: strictly, and when that fails once more after a repair.
pub fn read_record(
    reader: &dyn Reader,
    bytes: &[u8],
    context: &Context<'_>,
) -> Result<Parsed, RecordError> {
    let parse = |text: &str| {
        let mut parts = reader.parse(text, context)?;
        segment::mark(text, &mut parts)?;
        if let [Part { rollout: Ok(raw), digest: own @ None, .. }] = &mut parts[..] {
            *own = alike::digest_of(text, raw);
        }
        Ok(parts)
    };
    tolerantly(bytes, parse)
}

/// What `parse` makes of a text: strictly, and where JSON is broken once more after a repair.
pub(super) fn tolerantly(
    bytes: &[u8],
    parse: impl Fn(&str) -> Result<Vec<Part>, RecordError>,
) -> Result<Parsed, RecordError> {
    let (mut parts, repairs) = repaired(bytes, parse)?;
    for raw in parts.iter_mut().filter_map(|part| part.rollout.as_mut().ok()) {
        note_lost_rewards(raw);
    }
    Ok(Parsed { parts, repairs })
}

/// Rewards of steps that are no numbers are told one by one up to this many in a rollout.
const TOLD: usize = 8;

/// Tells of rewards of steps that are no numbers, whichever reader found them.
fn note_lost_rewards(raw: &mut RawRollout) {
    let odd = raw.steps.iter().enumerate().filter_map(|(at, step)| match &step.step_reward {
        RawNumber::Bad(why) | RawNumber::Coerced(_, why) => Some((at, why)),
        RawNumber::Missing | RawNumber::Value(_) => None,
    });
    let mut odd = odd.peekable();
    let told: Vec<_> = odd
        .by_ref()
        .take(TOLD)
        .map(|(at, why)| (format!("steps[{at}].step_reward"), why.clone()))
        .collect();
    let next = odd.peek().map(|(at, _)| *at);
    let more = odd.count();
    raw.notes.extend(told);
    raw.notes.extend(next.map(|at| {
        (
            format!("steps[{at}..].step_reward"),
            format!("{more} further ones are no numbers or texts"),
        )
    }));
}

fn repaired(
    bytes: &[u8],
    parse: impl Fn(&str) -> Result<Vec<Part>, RecordError>,
) -> Result<(Vec<Part>, Repairs), RecordError> {
    let strict = match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => Err(RecordError {
            kind: RecordErrorKind::Broken,
            field: None,
            reason: format!("no UTF-8 at byte {}", error.valid_up_to()),
            hint: None,
        }),
    };
    let fine = match &strict {
        Ok(parts) => !parts.iter().any(|p| p.rollout.as_ref().is_err_and(RecordError::is_broken)),
        Err(error) => !error.is_broken(),
    };
    if fine {
        return strict.map(|parts| (parts, Repairs::default()));
    }
    // A format of lines mends each line by itself: a text that one of them leaves open ends there.
    if let Cow::Owned(text) = String::from_utf8_lossy(bytes)
        && let Ok(parts) = parse(&text)
        && !parts.iter().any(|p| p.rollout.is_err())
    {
        return Ok((parts, Repairs { bytes: true, ..Repairs::default() }));
    }
    // What stands before a block and what stands behind it may be halves of two records.
    if let Some(error) = holes::error(bytes) {
        return Err(error);
    }
    let (text, repairs) = repair::repair(bytes);
    if !repairs.any() {
        return match strict {
            Ok(parts) => Ok((parts, Repairs::default())),
            Err(first) => Err(repairs.blame(first)),
        };
    }
    match (parse(&text), strict) {
        (Ok(parts), _) => Ok((parts, repairs)),
        // The first complaint is about the file as it is.
        (Err(_), Err(first)) => Err(repairs.blame(first)),
        (Err(_), Ok(parts)) => Ok((parts, Repairs::default())),
    }
}

/// The object that a record should be.
pub fn record_object(text: &str) -> Result<Object<'_>, RecordError> {
    let kind: Cow<'_, str> = match text.trim_start().as_bytes().first() {
        Some(b'{') => return Ok(Object::parse(text)?),
        Some(b'[') => "a list".into(),
        Some(b'"') => "a text".into(),
        Some(b'0'..=b'9' | b'-') => "a number".into(),
        _ => match text.trim() {
            word @ ("true" | "false" | "null") => format!("`{word}`").into(),
            _ => return Ok(Object::parse(text)?),
        },
    };
    Err(RecordError::unexpected(None, format!("not an object: {kind} stands here")))
}
