//! `--settings-from`: the stamp of an earlier export, the command that made it, and whether it reads
//! what that one read. It runs nothing.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::Failure;
use super::kind::Kind;
use super::session::{Session, complain, some};
use crate::settings::stamp::{self, Found};

/// The stamp of an earlier export.
pub fn stamp_of(path: &Path) -> Result<Found, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::failed(format!("cannot read {name}: {error}"), None))?;
    stamp::find(&text, &name)
        .map_err(|reason| Failure::failed(format!("{name} cannot be run again: {reason}"), None))
}

/// The command of an export that is run again: named, or the one that made it.
pub fn command(named: Option<Kind>, earlier: &Found) -> Result<Kind, Failure> {
    let made = Kind::ALL.into_iter().find(|k| k.name() == earlier.kind);
    match (named, made) {
        (Some(kind), Some(made)) if kind != made => Err(Failure::usage(
            format!("the export was made by `{}`, not by `{}`", made.name(), kind.name()),
            None,
        )),
        (Some(kind), _) | (None, Some(kind)) => Ok(kind),
        (None, None) => Err(Failure::usage(
            format!("there is no command `{}` that made this export", earlier.kind),
            None,
        )),
    }
}

/// Tells on standard error when other rollouts were read than those of the export. Files count by
/// their digests: a file that was moved is the same file.
pub fn warn(earlier: Option<&Found>, sessions: &[&Session]) {
    // A stamp without inputs, as that of `--print-settings`, says nothing about any.
    let Some(earlier) = earlier.filter(|e| !e.inputs.is_empty()) else { return };
    let files = || sessions.iter().flat_map(|s| &s.loaded.report.files);
    let then: BTreeSet<&str> = earlier.inputs.iter().map(|(_, digest)| digest.as_str()).collect();
    let now: BTreeSet<&str> = files().map(|f| f.digest.as_str()).collect();
    let mut names: BTreeSet<&str> =
        files().filter(|f| !then.contains(f.digest.as_str())).map(|f| f.name.as_str()).collect();
    let gone = earlier.inputs.iter().filter(|(_, digest)| !now.contains(digest.as_str()));
    names.extend(gone.map(|(name, _)| name.as_str()));
    if !names.is_empty() {
        let names = some(names.into_iter());
        complain(&format!(
            "warning: other rollouts were read than those of the export: {names} [inputs-changed] \
             its settings are used, its numbers need not come again"
        ));
    }
}
