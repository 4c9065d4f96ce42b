//! Readers: what is in a file, where its records are, and what a record says.
//!
//! Content is sniffed, never only the name ([`shape`]); a file is cut into records while it streams
//! ([`split`], [`survey`] for documents that hold many rollouts, [`columns`] for records that are columns);
//! one file per format turns a record into rollouts ([`Reader`]), and the same reader parses
//! the record again when a person asks for its text ([`StepText`]).
//!
//! Nothing here groups rollouts, decides outcomes or counts anything: that is [`crate::load`].
//! Which tool is what kind of action is not decided here either: that is [`crate::facts`].

mod alike;
pub mod atif;
mod calls;
pub mod claude_code;
pub mod codex;
pub mod columns;
pub mod content;
pub mod decimal;
pub mod document;
mod elements;
pub mod ending;
mod follow;
mod form;
pub mod frames;
pub mod harbor;
pub mod holes;
pub mod inspect;
pub mod json;
pub mod lines;
pub mod messages;
pub mod mini_swe_agent;
pub mod native;
mod native_step;
pub mod nemo_gym;
pub mod openhands;
mod openhands_calls;
pub mod openhands_events;
mod outline;
mod path;
pub mod place;
pub mod pointer;
pub mod r2e_gym;
pub mod reader;
pub mod repair;
pub mod rllm;
mod role;
pub mod roll;
pub mod scan;
mod segment;
pub mod shape;
pub mod sharegpt;
pub mod sheet;
pub mod skyrl;
pub mod split;
pub mod survey;
pub mod swe_agent;
pub mod tau2_bench;
pub mod tau_bench;
pub mod tears;
pub mod terminal_bench;
pub mod text;
pub mod tinker;
pub mod trajectory_rows;
pub mod transcript;
pub mod turns;
pub mod verdicts;
pub mod verifiers;
pub mod verifiers_traces;
pub mod verl;

pub use document::{Document, read_document, read_element};
pub use reader::{
    Context, Layout, LostLine, NotRollouts, Parsed, Part, Reader, RecordError, RecordErrorKind,
    Sniff, by_id, detect, digest, digest64, read_record, readers, short_digest,
};
pub use shape::{RecordShape, Shape};
pub use text::StepText;
