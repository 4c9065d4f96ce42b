//! From tool calls and shell commands to facts: once, while the text is in hand.
//!
//! No granularity is baked in here, and no text is kept.

use std::sync::Arc;

use crate::profile::Profiles;
use crate::rollout::raw::RawRollout;
use crate::rollout::{Group, RolloutFacts};

/// Reads rollouts into facts. One per worker: it keeps a shell parser and a memo of commands.
pub struct Interpreter {
    _profiles: Arc<Profiles>,
}

impl Interpreter {
    /// An interpreter that uses these profiles.
    #[must_use]
    pub fn new(profiles: Arc<Profiles>) -> Self {
        Self { _profiles: profiles }
    }

    /// The facts of one rollout. `format` is the reader's id (`r2e-gym`, `nemo-gym`, …): it helps to
    /// choose the profile together with the harness and the tools' names.
    pub fn read(&mut self, _format: &str, _raw: &RawRollout) -> RolloutFacts {
        RolloutFacts::default()
    }
}

/// Makes the paths of a finished group relative to its workspace root, where the profile's list of
/// roots did not already: the common root of the group's targets.
pub fn relate_paths(_group: &mut Group) {}
