//! The driver: walks what was given, cuts files into records, reads them in workers, joins them into
//! groups in canonical order, and reports all that happened.
//!
//! The outcome depends neither on the number of threads nor on the order of lines. No text is kept:
//! [`Sources`] reads it again on demand. No format knowledge lives here, and no statistics.

mod assemble;
mod beside;
mod budget;
mod copies;
mod damage;
mod documents;
mod error;
mod folder;
mod group;
mod gzip;
mod identity;
mod join;
mod keys;
mod locate;
mod look;
mod options;
mod outcome;
mod outcome_map;
mod packed;
mod parts;
mod read_at;
mod report;
mod segments;
mod sidecar;
mod sources;
mod standing;
mod streams;
mod table;
mod tally;
mod torn;
mod unpack;
mod verdict_files;
mod walk;
mod warn;
mod watch;
mod work;
mod zipped;
mod zstd;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use damage::Damage;
pub use error::{LoadError, TextError};
pub use join::{Join, Unjoined};
pub use options::{LoadOptions, OnProgress, Pool, Progress, SuccessRule};
pub use report::{
    Collapsed, FileReport, FileVerdict, LoadReport, Note, OutcomeOrigin, Skipped, Totals, Unscored,
    VerdictKind, Warning,
};
use sources::Opened;
pub use sources::Sources;
pub use watch::{Halt, OnSoFar, Pace, Watch};

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
    read(paths, options, profiles).map_err(|error| error.about(paths))
}

fn read(
    paths: &[PathBuf],
    options: &LoadOptions,
    profiles: &Arc<Profiles>,
) -> Result<Loaded, LoadError> {
    let mut shown = watch::Shown::new(options);
    let mut keep =
        |stream, path: &Path| streams::keep(stream, path, &mut shown, (options, profiles));
    let (inputs, lost) = walk::inputs(paths, &mut keep)?;
    let halt = options.watch.as_ref().map(|w| &w.halt);
    if let Some(loaded) = halt.and_then(|halt| shown.at_once(halt)) {
        return Ok(loaded);
    }
    let Opened { mut sources, sides, mut verdicts } = Sources::open(inputs, options)?;
    verdicts.extend(lost);
    if sources.is_empty() {
        return Err(LoadError::no_rollouts(verdicts));
    }
    shown.start_over();
    if let Some(halt) = halt {
        halt.reads();
    }
    let rest =
        watch::Rest { sources: &sources, sides: &sides, verdicts: &verdicts, options, profiles };
    let mut show = |records: &[_], frames: &_, rollouts| {
        rest.show(&mut shown, (records, frames), rollouts);
    };
    let (harvest, frames, read) = work::read_all(&sources, options, profiles, &mut show)?;
    sources.remember(frames);
    let stopped = halt.and_then(|halt| halt.reason(&read));
    if stopped.is_some()
        && let Some(loaded) = halt.and_then(|halt| shown.instead(halt, &read))
    {
        return Ok(loaded);
    }
    let made = assemble::assemble(harvest, sources, &sides, verdicts, options, profiles);
    match (made, stopped) {
        (Ok(mut loaded), Some(reason)) => {
            loaded.report.stopped = Some(reason);
            Ok(loaded)
        }
        // Nothing was found so far, and that says nothing.
        (Err(LoadError::NoRollouts { .. }), Some(_)) => Err(LoadError::Cancelled),
        (made, _) => made,
    }
}
