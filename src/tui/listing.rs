//! The lines of the steps: which steps are listed, where a segment starts, which steps stand for a run
//! of equal ones. Folding a run is part of [`super::update`]; nothing is drawn here.

use super::keymap::Action;
use super::model::Model;

/// So many equal steps in a row are a loop.
const LOOP: usize = 3;

/// A line of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepLine {
    /// A further segment starts: its number, from 2, and how many there are.
    Segment(usize, usize),
    /// A step.
    Step {
        /// Its number in the rollout.
        t: usize,
        /// Steps of the run that it is the first of; 0 where it is none.
        run: usize,
        /// Whether the rest of the run is folded into this line.
        folded: bool,
    },
}

impl StepLine {
    /// The step of the line.
    #[must_use]
    pub const fn step(self) -> Option<usize> {
        match self {
            Self::Segment(..) => None,
            Self::Step { t, .. } => Some(t),
        }
    }
}

impl Model {
    /// The lines of a rollout: its listed steps, with a divider before each segment but the first. Equal
    /// steps in a row (one state, one action) are one line, unless the run was opened or the cursor
    /// stands inside of it.
    #[must_use]
    pub fn step_lines(&self, rollout: usize) -> Vec<StepLine> {
        let Some(snapshot) = self.snapshot() else {
            return Vec::new();
        };
        let graph = &snapshot.analysis.graph;
        let Some(data) = snapshot.analysis.group.rollouts.get(rollout) else {
            return Vec::new();
        };
        let (start, segments) = (data.steps.start, &data.segment_starts);
        let listed = self.listed(rollout);
        let starts_at = |t: usize| segments.contains(&(t as u32));
        let mut lines = Vec::with_capacity(listed.len());
        let mut told = 0;
        let mut at = 0;
        while let Some(&t) = listed.get(at) {
            let segment = segments.partition_point(|&s| s as usize <= t);
            if segment > told {
                lines.push(StepLine::Segment(segment + 1, segments.len() + 1));
                told = segment;
            }
            let pair = graph.pair_of(start + t);
            let rest = listed.get(at + 1..).unwrap_or(&[]);
            let more = (t + 1..)
                .zip(rest)
                .take_while(|&(wanted, &next)| {
                    next == wanted && graph.pair_of(start + next) == pair && !starts_at(next)
                })
                .count();
            let run = if more + 1 >= LOOP { more + 1 } else { 0 };
            let inside = self.cursor.rollout == rollout
                && (t + 1..t + run.max(1)).contains(&self.cursor.step);
            let folded = run > 0 && !inside && !self.opened_runs.contains(&(start + t));
            lines.push(StepLine::Step { t, run, folded });
            at += 1;
            if run > 0 && !folded {
                let inner = |t| StepLine::Step { t, run: 0, folded: false };
                lines.extend((t + 1..t + run).map(inner));
            }
            if run > 0 {
                at += run - 1;
            }
        }
        lines
    }

    /// The number of the line that the cursor is on.
    #[must_use]
    pub fn step_line(&self, lines: &[StepLine]) -> Option<usize> {
        lines.iter().position(|l| l.step() == Some(self.cursor.step))
    }
}

/// Opens or closes the run of equal steps under the cursor.
pub(super) fn fold(model: &mut Model, action: Action) {
    let rollout = model.cursor.rollout;
    let at = model.cursor.step;
    let run = model.step_lines(rollout).into_iter().find_map(|line| match line {
        StepLine::Step { t, run, folded } if run > 0 && (t..t + run).contains(&at) => {
            Some((t, run, folded))
        }
        _ => None,
    });
    let Some((t, run, folded)) = run else {
        model.message =
            Some("no loop to fold here; rows fold in the tree: 1 goes there".to_owned());
        return;
    };
    let first = model.steps_of(rollout).start + t;
    if folded && action != Action::Left {
        model.opened_runs.insert(first);
        model.message = Some(format!("{run} equal steps: h folds them again"));
    } else if !folded && action != Action::Right {
        model.opened_runs.remove(&first);
        model.cursor.step = t;
    }
}
