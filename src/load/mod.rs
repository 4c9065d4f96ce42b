//! The driver: walks what was given, cuts files into records, reads them in workers, joins them into
//! groups in canonical order, and reports all that happened.
//!
//! The outcome depends neither on the number of threads nor on the order of lines. No text is kept:
//! [`Sources`] reads it again on demand. No format knowledge lives here, and no statistics.

mod assemble;
mod beside;
mod budget;
mod documents;
mod error;
mod folder;
mod group;
mod identity;
mod join;
mod keys;
mod locate;
mod options;
mod outcome;
mod packed;
mod parts;
mod read_at;
mod report;
mod segments;
mod sidecar;
mod sources;
mod table;
mod tally;
mod unpack;
mod walk;
mod warn;
mod work;
mod zipped;
mod zstd;

use std::path::PathBuf;
use std::sync::Arc;

pub use error::{LoadError, TextError};
pub use options::{LoadOptions, OnProgress, Pool, Progress, SuccessRule};
pub use report::{
    Collapsed, FileReport, FileVerdict, Join, LoadReport, Note, OutcomeOrigin, Skipped, Totals,
    Unscored, VerdictKind, Warning,
};
use sources::Opened;
pub use sources::Sources;

use crate::profile::Profiles;
use crate::rollout::Corpus;

/// What a load gives.
#[derive(Debug)]
pub struct Loaded {
    /// The groups, sorted by key.
    pub corpus: Corpus,
    /// What was read, skipped, coerced and decided.
    pub report: LoadReport,
    /// The way back to the text.
    pub sources: Sources,
}

/// Loads files, folders and standard input (`-`).
///
/// A file that holds no rollouts is listed in the report with its reason; when nothing at all holds
/// rollouts, that is [`LoadError::NoRollouts`].
pub fn load(
    paths: &[PathBuf],
    options: &LoadOptions,
    profiles: &Arc<Profiles>,
) -> Result<Loaded, LoadError> {
    let (inputs, lost) = walk::inputs(paths)?;
    let Opened { mut sources, sides, mut verdicts } = Sources::open(inputs, options)?;
    verdicts.extend(lost);
    if sources.is_empty() {
        return Err(LoadError::NoRollouts { files: verdicts });
    }
    let (harvest, frames) = work::read_all(&sources, options, profiles)?;
    sources.remember(frames);
    assemble::assemble(harvest, sources, &sides, verdicts, options, profiles)
}
