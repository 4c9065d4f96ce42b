//! Statistics over all groups of a load, for columns that need the whole batch.

use super::AnalysisSettings;
use crate::credit::{self, Basis, Batch};
use crate::rollout::Corpus;
use crate::signature::Abstraction;

/// The batch that the settings' columns ask for; `None` where none does. Filters do not shrink it: it
/// runs over every scored step of the load, in canonical order.
#[must_use]
pub fn batch(corpus: &Corpus, settings: &AnalysisSettings) -> Option<Batch> {
    let spec = settings.columns.iter().find(|c| credit::needs_batch(c))?;
    let mut numbers = Vec::new();
    for group in &corpus.groups {
        let abstraction = settings.abstraction.unwrap_or_else(|| Abstraction::choose(group).0);
        let basis = Basis::new(group, &settings.credit, abstraction);
        numbers.extend(credit::batch_numbers(group, &basis, &settings.credit, spec));
    }
    credit::batch_of(&numbers, corpus.groups.len(), spec)
}
