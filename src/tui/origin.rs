//! What comes from the files: groups, texts, the stamp of exports, and the way to load again.

use std::fmt;
use std::sync::Arc;

use super::exporting::Provenance;
use super::model::Notice;
use super::text::{NoText, TextSource};
use crate::load::{Halt, OnProgress};
use crate::rollout::Corpus;
use crate::settings::Settings;

/// Everything loaded again.
pub struct Reloaded {
    /// The groups.
    pub corpus: Corpus,
    /// Warnings of the load.
    pub notices: Vec<Notice>,
    /// Where texts come from now.
    pub texts: Arc<dyn TextSource>,
    /// Where the data came from.
    pub provenance: Provenance,
}

impl Reloaded {
    /// What there is before anything was loaded.
    #[must_use]
    pub fn nothing(settings: Option<Settings>) -> Self {
        Self {
            corpus: Corpus::default(),
            notices: Vec::new(),
            texts: Arc::new(NoText),
            provenance: Provenance { settings, ..Provenance::default() },
        }
    }
}

impl fmt::Debug for Reloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloaded")
            .field("groups", &self.corpus.groups.len())
            .field("notices", &self.notices)
            .finish_non_exhaustive()
    }
}

/// Loads everything again; a message for a person where that fails. It can be stopped, and tells how far
/// it is.
pub type Reload = Arc<dyn Fn(&Arc<Halt>, OnProgress) -> Result<Reloaded, String> + Send + Sync>;

/// Where texts and the stamp of exports come from.
#[derive(Clone)]
pub struct Source {
    pub(super) texts: Arc<dyn TextSource>,
    pub(super) provenance: Arc<Provenance>,
}

impl Source {
    /// These.
    #[must_use]
    pub fn new(texts: Arc<dyn TextSource>, provenance: Provenance) -> Self {
        Self { texts, provenance: Arc::new(provenance) }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

/// What comes from the files: replaced as a whole when they are loaded again.
#[derive(Clone)]
pub struct Origin {
    /// Where texts come from.
    pub texts: Arc<dyn TextSource>,
    /// Where the data came from.
    pub provenance: Arc<Provenance>,
    /// Loads everything again, where that can be done.
    pub reload: Option<Reload>,
}

impl Origin {
    /// Texts alone: exports have no stamp, and nothing can be loaded again.
    #[must_use]
    pub fn new(texts: Arc<dyn TextSource>) -> Self {
        Self { texts, provenance: Arc::default(), reload: None }
    }
}
