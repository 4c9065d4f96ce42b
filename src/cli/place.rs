//! `ROLLOUT:STEP`: which group, rollout and step it names.

use std::sync::Arc;

use super::error::Failure;
use super::session::some;
use crate::rollout::Group;
use crate::settings::config::{meant, nearest};

/// Finds a step. The id of the rollout may hold colons; the step is after the last one.
pub fn locate(groups: &[Arc<Group>], given: &str) -> Result<(usize, usize, usize), Failure> {
    let ids = || groups.iter().flat_map(|g| g.rollouts.iter().map(|r| r.id.as_str()));
    let wrong = || {
        let id = given.rsplit_once(':').map_or(given, |(id, _)| id);
        let known = [id, given].into_iter().find(|id| ids().any(|known| known == *id));
        let hint = match known.or_else(|| nearest(id, ids())) {
            Some(id) => format!("the first step of that rollout is `{id}:0`"),
            None => format!("there are the rollouts {}", some(ids())),
        };
        Failure::usage(
            format!("--at cannot be `{given}`: expected ROLLOUT:STEP, steps from 0"),
            Some(hint),
        )
    };
    let (id, step) = given.rsplit_once(':').ok_or_else(wrong)?;
    let step: usize = step.parse().map_err(|_| wrong())?;
    let mut holders: Vec<(usize, &Arc<Group>, usize)> =
        groups.iter().enumerate().filter_map(|(i, g)| Some((i, g, g.find(id)?))).collect();
    if holders.is_empty() {
        // The screen leaves out what all ids share: the end of an id will do where it is one's alone.
        let ends = |g: &Group| {
            let mut found = (0..).zip(&g.rollouts).filter(|(_, r)| r.id.ends_with(id));
            found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
        };
        let all = groups.iter().enumerate();
        holders = all.filter_map(|(i, g)| Some((i, g, ends(g)?))).collect();
    }
    let (index, group, rollout) = match holders.as_slice() {
        [] => {
            return Err(Failure::failed(
                format!("no rollout is called `{id}`{}", meant(id, ids())),
                Some(format!("there are {}", some(ids()))),
            ));
        }
        [one] => *one,
        many => {
            let tasks = many.iter().map(|(_, g, _)| g.key.task.as_str());
            return Err(Failure::failed(
                format!("{} groups have a rollout `{id}`", many.len()),
                Some(format!("choose one with --only TASK: {}", some(tasks))),
            ));
        }
    };
    let steps = group.rollouts.get(rollout).map_or(0, |r| r.steps.len());
    if step >= steps {
        return Err(Failure::failed(
            format!("rollout `{id}` has no step {step}"),
            Some(match steps {
                0 => "it has no steps".to_owned(),
                n => format!("its steps are 0 to {}", n - 1),
            }),
        ));
    }
    Ok((index, rollout, step))
}
