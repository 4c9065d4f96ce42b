//! What a load is told: format, success rule, grouping, threads, progress.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::watch::Watch;

/// When a number counts as a success.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SuccessRule {
    /// At least this.
    AtLeast(f64),
    /// More than this.
    Above(f64),
}

impl SuccessRule {
    /// Whether `value` is a success.
    #[must_use]
    pub fn passes(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::Above(limit) => value > limit,
        }
    }
}

impl Default for SuccessRule {
    fn default() -> Self {
        Self::AtLeast(1.0)
    }
}

impl fmt::Display for SuccessRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(limit) => write!(f, ">={limit}"),
            Self::Above(limit) => write!(f, ">{limit}"),
        }
    }
}

impl FromStr for SuccessRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (rule, number): (fn(f64) -> Self, _) =
            match (text.strip_prefix(">="), text.strip_prefix('>')) {
                (Some(number), _) => (Self::AtLeast, number),
                (None, Some(number)) => (Self::Above, number),
                (None, None) => (Self::AtLeast, text),
            };
        match number.trim().parse::<f64>() {
            Ok(limit) if limit.is_finite() => Ok(rule(limit)),
            _ => Err(format!("`{text}` is no success rule; write a number, `>=0.5` or `>0`")),
        }
    }
}

impl serde::Serialize for SuccessRule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Which parts of the group key are left out, so that groups that differ in them alone merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pool {
    /// Merge policies.
    pub policy: bool,
    /// Merge training steps.
    pub train_step: bool,
}

/// How far a load is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes that were read and understood.
    pub bytes: u64,
    /// Bytes there are; 0 when unknown.
    pub total_bytes: u64,
    /// Records that were read.
    pub records: u64,
    /// Rollouts in them.
    pub rollouts: u64,
    /// Files that have at least one record read.
    pub files: u64,
    /// Files there are.
    pub total_files: u64,
}

impl Progress {
    /// How much was read, in percent; `None` while it is not known how much there is. All is less than
    /// 100 as long as it is progress.
    #[must_use]
    pub fn percent(&self) -> Option<u8> {
        let percent = self.bytes.saturating_mul(100).checked_div(self.total_bytes)?;
        Some(u8::try_from(percent).unwrap_or(99).min(99))
    }
}

/// Where progress is told.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// How to load.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// Read everything with this reader instead of sniffing.
    pub from: Option<String>,
    /// When a number counts as a success.
    pub success_at: SuccessRule,
    /// Group by this field instead of the task id.
    pub group_by: Option<String>,
    /// Parts of the group key to leave out.
    pub pool: Pool,
    /// Number of reading threads; all cores by default.
    pub threads: Option<NonZeroUsize>,
    /// Keep only this task.
    pub only: Option<String>,
    /// Outcome maps (CSV, JSON or JSON lines): rollout or path -> outcome or reward.
    pub outcomes: Vec<PathBuf>,
    /// Sidecars (CSV or JSON lines): rollout, step -> state, action, step reward, further numbers.
    pub sidecars: Vec<PathBuf>,
    /// Called while records come in, from the calling thread.
    pub progress: Option<OnProgress>,
    /// Set to stop the load.
    pub cancel: Option<Arc<AtomicBool>>,
    /// For a person who watches: shows what was read so far, and can be stopped there.
    pub watch: Option<Watch>,
}

impl LoadOptions {
    /// How many threads read.
    #[must_use]
    pub fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(cores, NonZeroUsize::get)
    }

    /// Whether the load was told to stop.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed))
    }

    /// Whether the rest is to be left unread, and not what was read thrown away.
    pub(super) fn leaves(&self) -> bool {
        self.watch.as_ref().is_some_and(|w| w.halt.leaves())
    }

    /// Whether a record of so many bytes is still to be read.
    pub(super) fn affords(&self, bytes: usize) -> bool {
        self.watch.as_ref().is_none_or(|w| w.halt.affords(bytes as u64))
    }
}

impl fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions")
            .field("from", &self.from)
            .field("success_at", &self.success_at)
            .field("group_by", &self.group_by)
            .field("pool", &self.pool)
            .field("threads", &self.threads)
            .field("only", &self.only)
            .field("outcomes", &self.outcomes)
            .field("sidecars", &self.sidecars)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_rules() {
        assert_eq!("0.5".parse(), Ok(SuccessRule::AtLeast(0.5)));
        assert_eq!(">= 0.5".parse(), Ok(SuccessRule::AtLeast(0.5)));
        assert_eq!(">0".parse(), Ok(SuccessRule::Above(0.0)));
        assert!("x".parse::<SuccessRule>().is_err() && "nan".parse::<SuccessRule>().is_err());
        assert!(SuccessRule::default().passes(1.0) && !SuccessRule::Above(0.0).passes(0.0));
        assert_eq!(SuccessRule::Above(0.5).to_string(), ">0.5");
    }
}
