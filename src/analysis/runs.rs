//! Two loads on the same tasks: what one policy or training step gained and lost against another.

use std::collections::BTreeMap;

use super::{Analysis, GroupRow};

/// What became of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// No rollout of A succeeded, one of B does.
    Gained,
    /// A rollout of A succeeded, none of B does.
    Lost,
    /// Both have a success.
    Kept,
    /// Neither has one.
    Unsolved,
    /// One side has no scored rollout of it.
    OneSided,
}

impl Fate {
    /// All fates, in display order.
    pub const ALL: [Self; 5] =
        [Self::Gained, Self::Lost, Self::Kept, Self::Unsolved, Self::OneSided];

    /// The word used in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gained => "gained",
            Self::Lost => "lost",
            Self::Kept => "kept",
            Self::Unsolved => "unsolved",
            Self::OneSided => "one_sided",
        }
    }
}

/// One side of a task: all its groups (policies, training steps) together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Side {
    /// Groups of the task.
    pub groups: usize,
    /// Scored rollouts.
    pub scored: u64,
    /// Successes among them.
    pub successes: u64,
    /// Steps of scored rollouts.
    pub steps: u64,
    /// Of them: steps whose state two or more scored rollouts visited.
    pub shared: u64,
    /// Of them: steps of evidence class `compared`.
    pub compared: u64,
    /// Quadrants: both positive, rescued, both negative, penalized.
    pub quadrants: [u64; 4],
}

impl Side {
    /// A group alone.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let mut side = Self::default();
        side.add(analysis, &analysis.group_row(false));
        side
    }

    fn add(&mut self, analysis: &Analysis, row: &GroupRow) {
        self.groups += 1;
        self.scored += row.scored as u64;
        self.successes += analysis.basis.successes() as u64;
        self.steps += row.evidence.iter().map(|&n| u64::from(n)).sum::<u64>();
        self.shared += u64::from(row.shared_steps);
        self.compared += u64::from(row.evidence.first().copied().unwrap_or(0));
        for (mine, theirs) in self.quadrants.iter_mut().zip(row.tally.quadrants()) {
            *mine += theirs;
        }
    }

    /// Adds another side.
    pub fn merge(&mut self, other: &Self) {
        self.groups += other.groups;
        self.scored += other.scored;
        self.successes += other.successes;
        self.steps += other.steps;
        self.shared += other.shared;
        self.compared += other.compared;
        for (mine, theirs) in self.quadrants.iter_mut().zip(other.quadrants) {
            *mine += theirs;
        }
    }

    /// Success rate of the scored rollouts.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.successes as f64 / self.scored as f64)
    }
}

/// Tasks in natural order, with both sides.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    tasks: BTreeMap<Task, (Side, Side)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Task(String, String);

impl Ord for Task {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        use crate::rollout::natural;
        natural(&self.0, &other.0).then_with(|| natural(&self.1, &other.1))
    }
}

impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Runs {
    /// Adds a group of side B (or A).
    pub fn add(&mut self, analysis: &Analysis, b: bool) {
        let key = &analysis.group.key;
        let entry = self.tasks.entry(Task(key.namespace.clone(), key.task.clone())).or_default();
        let side = if b { &mut entry.1 } else { &mut entry.0 };
        side.add(analysis, &analysis.group_row(false));
    }

    /// Namespace, task, A, B and what became of it.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, &Side, &Side, Fate)> {
        self.tasks.iter().map(|(Task(namespace, task), (a, b))| {
            let fate = match (a.scored, b.scored) {
                (0, _) | (_, 0) => Fate::OneSided,
                _ => match (a.successes > 0, b.successes > 0) {
                    (false, true) => Fate::Gained,
                    (true, false) => Fate::Lost,
                    (true, true) => Fate::Kept,
                    (false, false) => Fate::Unsolved,
                },
            };
            (namespace.as_str(), task.as_str(), a, b, fate)
        })
    }

    /// Sums over the tasks that both sides have scored rollouts of.
    #[must_use]
    pub fn totals(&self) -> (Side, Side) {
        let mut totals = (Side::default(), Side::default());
        for (_, _, a, b, _) in self.rows().filter(|r| r.4 != Fate::OneSided) {
            totals.0.merge(a);
            totals.1.merge(b);
        }
        totals
    }

    /// How many tasks met each fate, in the order of [`Fate::ALL`].
    #[must_use]
    pub fn fates(&self) -> [usize; 5] {
        Fate::ALL.map(|fate| self.rows().filter(|r| r.4 == fate).count())
    }
}
