//! Verdicts that stand in other files, joined to rollouts: side files that were found beside the rollouts
//! ([`super::verdict_files`]), and the outcome maps that a person gives ([`super::outcome_map`]).
//!
//! A verdict of the record itself is kept; the person's map outweighs everything. What each file brought is a
//! [`Join`], sidecars included.

use serde::Serialize;

use super::error::LoadError;
use super::options::LoadOptions;
use super::outcome_map;
use super::report::Skipped;
use super::sources::{Side, Sources};
use super::table::Table;
use super::verdict_files;
use super::work::Pending;

/// Joins all verdicts; says for each file how many of its entries found a rollout.
pub fn join(
    pendings: &mut [Pending],
    sources: &Sources,
    sides: &[Side],
    options: &LoadOptions,
) -> Result<(Vec<Join>, Vec<Skipped>), LoadError> {
    let (mut joins, mut skipped) = (Vec::new(), Vec::new());
    if !sides.is_empty() {
        joins.extend(verdict_files::join(pendings, sources, sides));
    }
    let mut earlier = outcome_map::Earlier::new();
    for path in &options.outcomes {
        let table = Table::read(path, outcome_map::FORMS)?;
        joins.push(outcome_map::join(pendings, sources, &table, &mut earlier, &mut skipped)?);
    }
    Ok((joins, skipped))
}

/// A file that was joined to the rollouts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Join {
    /// Name; reports of single instances are counted together under the name of one.
    pub file: String,
    /// `verdicts`, `outcomes` or `sidecar`.
    pub kind: &'static str,
    /// Entries that found their rollout (or step).
    pub matched: usize,
    /// Rollouts (steps, for a sidecar) that nothing was found for.
    pub missing: usize,
    /// Entries without a rollout (or step).
    pub extra: usize,
    /// Entries whose id several tasks have, without a task.
    pub ambiguous: usize,
    /// The first twenty of the entries that found nothing, by the names that they give.
    pub left_over: Vec<String>,
    /// Columns of a sidecar that hold numbers: `logged:NAME`.
    pub numbers: Vec<String>,
    /// Columns of a sidecar in which no number stands; they are no logged columns.
    pub texts: Vec<String>,
    /// Rollouts about which it is contradicted by itself, by another file or by the record, with what
    /// each says.
    #[serde(skip)]
    pub disputes: Vec<String>,
    /// Why a file of verdicts is about none of the rollouts.
    #[serde(skip)]
    pub unjoined: Option<Unjoined>,
}

/// So many entries that found nothing are named.
pub const NAMED: usize = 20;

/// So many of them in a sentence.
const FEW: usize = 3;

impl Join {
    /// The first of the entries that found nothing, in words; nothing where there are none. A summary of a
    /// run is about a whole benchmark, and most of it is left over where a part of that is looked at.
    #[must_use]
    pub fn told_left_over(&self) -> Option<String> {
        if self.kind == "verdicts" {
            return None;
        }
        let first: Vec<String> =
            self.left_over.iter().take(FEW).map(|name| format!("`{name}`")).collect();
        let more = (self.extra + self.ambiguous).saturating_sub(first.len());
        let first = first.join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!first.is_empty()).then(|| format!("{first}{more}"))
    }
}

/// Why a file was joined to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjoined {
    /// What was seen, and what was missing.
    pub reason: String,
    /// What to do.
    pub hint: &'static str,
}
