//! From tool calls and shell commands to facts: once, while the text is in hand.
//!
//! No granularity is baked in here, and no text is kept. A call becomes one or more acts by its
//! text alone (`editor`, `shell`, `text_turns`); `results` says what came of them; `walk`
//! applies them to the rollout and writes the facts.

mod act;
mod args;
mod editor;
mod edits;
mod line_tools;
mod mask;
mod paths;
mod reading;
mod results;
mod shell;
mod text_turns;
mod walk;

use std::sync::Arc;

use crate::profile::{CallCounts, Profile, Profiles};
use crate::rollout::RolloutFacts;
use crate::rollout::raw::{RawKind, RawRollout};

use reading::Reading;
use shell::Shell;

pub use edits::edit;
pub use paths::relate_paths;
pub use results::framed_exit_code;

/// Reads rollouts into facts. One per worker: it keeps a shell parser and a memo of commands.
pub struct Interpreter {
    profiles: Arc<Profiles>,
    shell: Shell,
    masked: Vec<u8>,
}

impl Interpreter {
    /// An interpreter that uses these profiles.
    #[must_use]
    pub fn new(profiles: Arc<Profiles>) -> Self {
        Self { profiles, shell: Shell::default(), masked: Vec::new() }
    }

    /// The facts of one rollout. `format` is the reader's id (`r2e-gym`, `nemo-gym`, …): it helps to
    /// choose the profile together with the harness and the tools' names.
    pub fn read(&mut self, format: &str, raw: &RawRollout) -> RolloutFacts {
        let profiles = Arc::clone(&self.profiles);
        let Some(profile) = profile_of(&profiles, format, raw).map(Arc::clone) else {
            return RolloutFacts::default();
        };
        self.read_as(&profile, raw)
    }

    /// The facts of one rollout, read by this profile.
    pub fn read_as(&mut self, profile: &Profile, raw: &RawRollout) -> RolloutFacts {
        let profiles = Arc::clone(&self.profiles);
        let mut reading = Reading::new(profiles, profile, &mut self.shell, &mut self.masked);
        let mut raw_index = Vec::with_capacity(raw.steps.len());
        for (at, step) in raw.steps.iter().enumerate() {
            if reading.step(raw, at, step) {
                raw_index.push(at as u32);
            }
        }
        reading.finish(raw_index)
    }
}

/// The profile that a rollout of this format is read with.
#[must_use]
pub fn profile_of<'p>(
    profiles: &'p Profiles,
    format: &str,
    raw: &RawRollout,
) -> Option<&'p Arc<Profile>> {
    profiles.choose(format, raw.harness.as_deref(), &count_calls(raw))
}

/// How often each tool is called; a line tool of a shell counts as the shell.
fn count_calls(raw: &RawRollout) -> CallCounts {
    let mut calls = CallCounts::default();
    for step in &raw.steps {
        match (step.kind, &step.tool) {
            (RawKind::Call, Some(tool)) => calls.count(tool),
            (RawKind::Text, _) => calls.texts += 1,
            _ => {}
        }
    }
    calls
}
