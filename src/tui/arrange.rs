//! The arrangements of panes that one of them asks for: turning knobs, reading, sweeping, comparing. Part
//! of [`super::layout`].

use ratatui::layout::Rect;

use super::layout::{Needs, Pane, Plan, QUADRANTS, QUADRANTS_TALL, columns, take, take_bottom};

/// Rows of the knobs: rule, header, nine measures.
const KNOBS: u16 = 11;
/// Rows of the knobs with all of them in sight, and a line that says what the selected one means.
const KNOBS_TALL: u16 = 20;
/// Further lines of that in a narrow pane.
const KNOBS_MORE: u16 = 2;
/// Rows of the sweep picture: rule, header, a row per knob, what it says.
const SWEEP: u16 = 24;
/// Rows of an explanation beside other panes: under that its table of members is of no use.
const EXPLAIN: u16 = 16;
/// Cells of the knobs and the table beside them.
const KNOBS_WIDTH: u16 = 80;

/// The matrix over the knobs; the steps where there is room for them, so that the selected one stays
/// in sight.
pub(super) fn turning(plan: &mut Plan, mut body: Rect, needs: &Needs) -> bool {
    if body.height >= 24 {
        plan.sum = Some(take_bottom(&mut body, 1));
    }
    let beside = body.width >= 140;
    // Rule and table; with room also the line that says what the knob means.
    let narrow = beside || body.width < 118;
    let tall = KNOBS_TALL + if narrow { KNOBS_MORE } else { 0 };
    let knobs = if body.height >= 32 { tall } else { KNOBS.min(body.height / 2) };
    let matrix = (needs.rollouts + 3) as u16;
    let spare = body.height.saturating_sub(matrix + knobs);
    let steps = if spare < 6 { 0 } else { spare };
    let matrix = if steps > 0 { matrix } else { body.height - knobs };
    plan.panes.push((Pane::Matrix, take(&mut body, matrix)));
    if beside {
        let (mut left, seam, mut right) = columns(body, KNOBS_WIDTH);
        plan.seams.push(seam);
        // Rows that the knobs leave show the quadrants they move, then the rollouts.
        let spare = left.height.saturating_sub(knobs + QUADRANTS_TALL);
        if spare >= 5 {
            let height = usize::from(spare).min(needs.rollouts + 2) as u16;
            plan.panes.push((Pane::Rollouts, take_bottom(&mut left, height)));
        }
        let spare = left.height.saturating_sub(knobs);
        if spare >= QUADRANTS {
            let height = spare.min(QUADRANTS_TALL);
            plan.panes.push((Pane::Quadrants, take_bottom(&mut left, height)));
        }
        plan.panes.push((Pane::Knobs, left));
        // Rows that the steps leave take the value apart that the knobs move.
        let spare = usize::from(right.height).saturating_sub(needs.steps + 2) as u16;
        let least = if right.height >= 2 * EXPLAIN { EXPLAIN } else { 0 };
        let explain = spare.max(least).min(right.height.saturating_sub(6));
        if explain >= EXPLAIN {
            plan.panes.push((Pane::Explain, take_bottom(&mut right, explain)));
        }
        plan.panes.push((Pane::Steps, right));
    } else {
        plan.panes.push((Pane::Knobs, take(&mut body, knobs)));
        if steps > 0 {
            plan.panes.push((Pane::Steps, body));
        }
    }
    true
}

/// The list of steps over the text of the selected one, or beside it.
pub(super) fn reading(plan: &mut Plan, mut body: Rect) -> bool {
    plan.sum = Some(take_bottom(&mut body, 1));
    if body.width >= 170 {
        let (left, seam, right) = columns(body, body.width * 11 / 20);
        plan.seams.push(seam);
        plan.panes.push((Pane::Pivotal, left));
        plan.panes.push((Pane::Reader, right));
    } else {
        let list = (body.height / 2).max(10);
        plan.panes.push((Pane::Pivotal, take(&mut body, list)));
        plan.panes.push((Pane::Reader, body));
    }
    true
}

/// The sweep picture over the quadrants of what is in force, and the steps where there is room.
pub(super) fn sweep(plan: &mut Plan, mut body: Rect, needs: &Needs) -> bool {
    let quadrants = take_bottom(&mut body, QUADRANTS);
    plan.panes.push((Pane::Quadrants, quadrants));
    if body.height >= 34 {
        let steps = (needs.steps + 2).clamp(6, usize::from(body.height) - 22) as u16;
        let steps = take_bottom(&mut body, steps);
        plan.panes.push((Pane::Steps, steps));
    }
    plan.panes.push((Pane::Sweep, body));
    true
}

/// The sweep picture over the matrix of what is in force; below them steps, quadrants and rollouts.
pub(super) fn sweep_wide(plan: &mut Plan, mut body: Rect, needs: &Needs) -> bool {
    plan.panes.push((Pane::Sweep, take(&mut body, SWEEP)));
    let matrix = needs.rollouts.saturating_add(3).clamp(5, 13) as u16;
    plan.panes.push((Pane::Matrix, take(&mut body, matrix)));
    let (steps, seam, mut right) = columns(body, body.width - KNOBS_WIDTH - 1);
    plan.seams.push(seam);
    plan.panes.push((Pane::Steps, steps));
    let tall = if right.height >= QUADRANTS_TALL + 3 { QUADRANTS_TALL } else { right.height };
    plan.panes.push((Pane::Quadrants, take(&mut right, tall)));
    if right.height > 0 {
        plan.panes.push((Pane::Rollouts, right));
    }
    true
}

/// Rollouts side by side over the arithmetic and the text of the selected step.
pub(super) fn compare(plan: &mut Plan, mut body: Rect) -> bool {
    plan.sum = Some(take_bottom(&mut body, 1));
    let texts = (body.height * 2 / 5).clamp(EXPLAIN, 24);
    let bottom = take_bottom(&mut body, texts);
    let (one, seam, two) = columns(bottom, bottom.width / 2);
    plan.seams.push(seam);
    plan.panes.push((Pane::Explain, one));
    plan.panes.push((Pane::Reader, two));
    plan.panes.push((Pane::Compare, body));
    true
}
