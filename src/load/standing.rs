//! How a file of verdicts stands to the rollouts of a load: whose run it is about, or why it is about
//! none of them.
//!
//! A summary whose name tells no run is about the run in its folder only where there can be no doubt:
//! the rollouts there are of one run, each of an instance of its own, and it lists all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::join::Unjoined;
use super::sources::Side;
use super::verdict_files::{instances, of_run, under};
use super::work::Pending;
use crate::ingest::verdicts::SideFile;
use crate::rollout::plural;

/// What a file of verdicts is about. Counts are instances that it names and that have rollouts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Rollouts of its run, or in its folder.
    Here,
    /// The run in its folder, though its name tells no run.
    Folder,
    /// Instances of which there is no rollout.
    Stranger,
    /// Another run than those that are here.
    OtherRun(usize),
    /// Its name tells no run, and its folder holds several.
    Several(usize),
    /// Its name tells no run, and it does not list so many rollouts of its folder.
    Unlisted(usize, usize),
    /// Rollouts that do not lie in its folder.
    Elsewhere(usize),
}

/// The rollouts of a load, found by the names that verdict files know them by.
pub struct Rollouts<'p> {
    all: Vec<One<'p>>,
    by_name: BTreeMap<String, Vec<usize>>,
}

struct One<'p> {
    pending: &'p Pending,
    place: String,
}

impl<'p> Rollouts<'p> {
    /// Those of these records.
    pub fn of(pendings: &'p [Pending], place: impl Fn(&Pending) -> String) -> Self {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut all = Vec::with_capacity(pendings.len());
        for (at, pending) in pendings.iter().enumerate() {
            let place = place(pending);
            for name in instances(&pending.raw, &place) {
                by_name.entry(name).or_default().push(at);
            }
            all.push(One { pending, place });
        }
        Self { all, by_name }
    }

    /// How each of the files stands to them.
    pub fn standings(&self, sides: &[Side]) -> Vec<Standing> {
        sides.iter().map(|side| self.standing(&side.content)).collect()
    }

    fn standing(&self, side: &SideFile) -> Standing {
        let beside = |one: &&One<'_>| under(&side.home, &one.place);
        if side.rest.is_some() || side.trial.is_some() {
            let any = self.all.iter().any(|one| beside(&one));
            return if any { Standing::Here } else { Standing::Elsewhere(side.given.len()) };
        }
        let by_instance: Vec<BTreeSet<usize>> =
            side.given.keys().filter_map(|name| self.named(name)).collect();
        let (known, count) = (by_instance.iter().flatten(), by_instance.len());
        let mut known = known.filter_map(|&at| self.all.get(at));
        if count == 0 {
            return Standing::Stranger;
        }
        let own = |one: &One<'_>| of_run(side, one.pending.raw.run.as_deref(), &one.place);
        if side.runs.is_empty() {
            let any = known.any(|one| beside(&one));
            return if any { Standing::Here } else { Standing::Elsewhere(count) };
        }
        if known.any(own) {
            return Standing::Here;
        }
        if !side.tells_no_run() {
            return Standing::OtherRun(count);
        }
        let here: Vec<&One<'_>> = self.all.iter().filter(beside).collect();
        if here.is_empty() {
            return Standing::Elsewhere(count);
        }
        let runs: BTreeSet<_> =
            here.iter().map(|one| (&one.pending.raw.run, &one.pending.raw.policy)).collect();
        let lies_here = |at: &&usize| self.all.get(**at).is_some_and(|one| beside(&one));
        let twice = by_instance.iter().any(|all| all.iter().filter(lies_here).count() > 1);
        if runs.len() > 1 || twice {
            return Standing::Several(count);
        }
        let lists = |one: &&&One<'_>| {
            let names = instances(&one.pending.raw, &one.place);
            names.iter().any(|n| side.given.contains_key(n) || side.listed.contains(n))
        };
        match here.len() - here.iter().filter(lists).count() {
            0 => Standing::Folder,
            unlisted => Standing::Unlisted(count, unlisted),
        }
    }

    /// The rollouts of an instance, where there are any.
    fn named(&self, instance: &str) -> Option<BTreeSet<usize>> {
        Some(self.by_name.get(instance)?.iter().copied().collect())
    }
}

impl Standing {
    /// Why a file was joined to no rollout, and what to do.
    pub fn told(&self, side: &SideFile) -> Option<Unjoined> {
        let all = plural(side.given.len(), "instance");
        let some = |known: &usize| {
            let have = if *known == 1 { "has" } else { "have" };
            format!("{known} of its {all} {have} rollouts here")
        };
        let reason = match self {
            Self::Here | Self::Folder => return None,
            Self::Stranger => {
                format!("none of the {all} that it names is the task, file or folder of a rollout")
            }
            Self::OtherRun(known) => {
                let runs: Vec<String> =
                    side.runs.iter().take(3).map(|run| format!("`{run}`")).collect();
                let runs = runs.join(" or ");
                format!("{}, but none in a folder or run called {runs}", some(known))
            }
            Self::Several(known) => format!(
                "{}, but its name tells no run, and the rollouts in its folder are of several runs or \
                 repeat an instance",
                some(known)
            ),
            Self::Unlisted(known, unlisted) => format!(
                "{}, but its name tells no run, and it does not list {} of its folder",
                some(known),
                plural(*unlisted, "rollout")
            ),
            Self::Elsewhere(known) => format!("{}, but none in its folder", some(known)),
        };
        let hint = if matches!(self, Self::Stranger) {
            "check that it belongs to these rollouts"
        } else if side.single {
            "if it is about these rollouts, say so with `--outcomes FILE`"
        } else {
            "if it is about these rollouts, give it with `--outcomes FILE`, or call it `MODEL.RUN.json` \
             after the folder of its run"
        };
        Some(Unjoined { reason, hint })
    }
}
