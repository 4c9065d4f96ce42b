//! Where the cursor was before it jumped, and the way back. Part of [`super::update`].

use super::message::Effect;
use super::model::Model;
use super::update::switch_group;

/// Places that are kept, at most.
const KEPT: usize = 200;

/// A place: group, rollout id, step.
pub type Place = (usize, String, usize);

/// Places before and after the present one.
#[derive(Debug, Default)]
pub struct Jumps {
    /// Where the cursor was, the latest last.
    pub past: Vec<Place>,
    /// Where it was before it went back, the nearest last.
    pub future: Vec<Place>,
}

/// Where the cursor is.
fn here(model: &Model) -> Option<Place> {
    let (group, snapshot) = model.shown.as_ref()?;
    let rollout = snapshot.analysis.group.rollouts.get(model.cursor.rollout)?;
    Some((*group, rollout.id.clone(), model.cursor.step))
}

/// Notes the present place before a jump.
pub(super) fn note(model: &mut Model) {
    let Some(place) = here(model) else {
        return;
    };
    let jumps = &mut model.jumps;
    if jumps.past.last() != Some(&place) {
        jumps.past.push(place);
    }
    if jumps.past.len() > KEPT {
        jumps.past.remove(0);
    }
    jumps.future.clear();
}

/// Goes back, or forward again.
pub(super) fn go(model: &mut Model, back: bool, count: usize, effects: &mut Vec<Effect>) {
    for _ in 0..count.min(KEPT) {
        let Some(place) = here(model) else {
            return;
        };
        let jumps = &mut model.jumps;
        let (from, to) = if back {
            (&mut jumps.past, &mut jumps.future)
        } else {
            (&mut jumps.future, &mut jumps.past)
        };
        let Some(target) = from.pop() else {
            let end = if back { "first" } else { "last" };
            model.message = Some(format!("this is the {end} place of the jumps"));
            return;
        };
        to.push(place.clone());
        let (group, id, step) = target;
        if group == place.0 {
            let found = model.shown_group().and_then(|g| g.find(&id));
            if let Some(rollout) = found {
                model.cursor = super::model::Cursor { rollout, step };
                super::navigate::clamp(model);
            }
        } else {
            switch_group(model, group, effects);
            model.visited.insert(group, (id, step));
            return;
        }
    }
}
