//! Verdicts that stand in other files, joined to rollouts: side files that were found beside the rollouts
//! ([`super::verdict_files`]), and the outcome maps that a person gives ([`super::outcome_map`]).
//!
//! A verdict of the record itself is kept; the person's map outweighs everything.

use super::error::LoadError;
use super::options::LoadOptions;
use super::outcome_map;
use super::report::{Join, Skipped};
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
