//! Which pane is where, for every size: a pure function of the area and of what the panes need.
//!
//! No pane draws outside its rectangle, and no two rectangles overlap. Nothing is drawn here.

use ratatui::layout::Rect;

use super::arrange;

/// A pane of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pane {
    /// The folded walks, or the states.
    Tree,
    /// The steps of the selected rollout.
    Steps,
    /// The arithmetic of the selected value.
    Explain,
    /// X against Y.
    Quadrants,
    /// All rollouts of the group.
    Rollouts,
    /// The text of the selected step.
    Reader,
    /// All groups.
    Groups,
    /// Rollouts by steps, in one column.
    Matrix,
    /// The knobs of the signature, and what they changed.
    Knobs,
    /// Rollouts side by side.
    Compare,
    /// One row per value of a knob.
    Sweep,
    /// The steps worth reading.
    Pivotal,
}

impl Pane {
    /// The panes that Tab walks through, in order.
    pub const CYCLE: [Self; 8] = [
        Self::Tree,
        Self::Steps,
        Self::Quadrants,
        Self::Rollouts,
        Self::Explain,
        Self::Reader,
        Self::Matrix,
        Self::Knobs,
    ];

    /// The key that opens it and its name.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Tree => "1 Tree",
            Self::Steps => "2 Steps",
            Self::Explain => "3 Explain",
            Self::Quadrants => "4 Quadrants",
            Self::Rollouts => "6 Rollouts",
            Self::Reader => "i Step",
            Self::Groups => "a Groups",
            Self::Matrix => "7 Matrix",
            Self::Knobs => "5 Signature",
            Self::Compare => "| Compare",
            Self::Sweep => "w Sweep",
            Self::Pivotal => "r Worth reading",
        }
    }
}

/// What the layout depends on, besides the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Rows of the tree, without rule and header.
    pub tree: usize,
    /// Rows of the steps, without rule and header.
    pub steps: usize,
    /// Rows of the rollouts, without rule and header.
    pub rollouts: usize,
    /// The pane with the focus.
    pub focus: Pane,
    /// Whether the focused pane takes all.
    pub zoom: bool,
}

/// Where everything is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The area is too small for anything but a message.
    pub message: bool,
    /// The title line.
    pub title: Rect,
    /// The panes.
    pub panes: Vec<(Pane, Rect)>,
    /// Vertical lines between panes: one cell wide.
    pub seams: Vec<Rect>,
    /// The line that takes the selected value apart.
    pub sum: Option<Rect>,
    /// The line of warnings.
    pub note: Option<Rect>,
    /// The keys.
    pub footer: Rect,
}

impl Plan {
    /// The rectangle of a pane, if it is on the screen.
    #[must_use]
    pub fn find(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(p, _)| *p == pane).map(|&(_, area)| area)
    }
}

/// Under this there is a message only.
const LEAST: (u16, u16) = (40, 10);
/// Rows of the quadrants: rule, header, two outcomes.
pub(super) const QUADRANTS: u16 = 4;
/// Rows of the quadrants with the total and the evidence classes.
pub(super) const QUADRANTS_TALL: u16 = 10;

/// Lays out an area.
#[must_use]
pub fn layout(area: Rect, needs: &Needs) -> Plan {
    // An empty list still needs a row to say why.
    let needs = &Needs {
        tree: needs.tree.max(1),
        steps: needs.steps.max(1),
        rollouts: needs.rollouts.max(1),
        ..*needs
    };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return Plan { message: true, ..Plan::default() };
    }
    let mut plan =
        Plan { title: row(area, area.y), footer: row(area, area.bottom() - 1), ..Plan::default() };
    let mut body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let turning = matches!(needs.focus, Pane::Matrix | Pane::Knobs);
    let arranged = match (area.width, area.height) {
        (80.., 20..) if needs.focus == Pane::Pivotal => arrange::reading(&mut plan, body),
        (170.., 40..) if needs.focus == Pane::Compare => arrange::compare(&mut plan, body),
        (170.., 44..) if needs.focus == Pane::Sweep => arrange::sweep_wide(&mut plan, body, needs),
        (80.., 20..) if needs.focus == Pane::Sweep => arrange::sweep(&mut plan, body, needs),
        (80.., 16..) if turning => arrange::turning(&mut plan, body, needs),
        (180.., 40..) => arrange_wide(&mut plan, body, needs),
        (120.., 36..) => arrange_pairs(&mut plan, body),
        (120.., 20..) => arrange_flat(&mut plan, body, needs),
        (80.., 14..) => arrange_stack(&mut plan, body, needs),
        _ => false,
    };
    if !arranged || needs.zoom || plan.find(needs.focus).is_none() {
        plan.panes.clear();
        plan.seams.clear();
        plan.sum = None;
        plan.note = None;
        if matches!(
            needs.focus,
            Pane::Tree
                | Pane::Steps
                | Pane::Quadrants
                | Pane::Rollouts
                | Pane::Matrix
                | Pane::Compare
                | Pane::Pivotal
        ) && body.height > 6
        {
            plan.sum = Some(row(body, body.bottom() - 1));
            body.height -= 1;
        }
        plan.panes.push((needs.focus, body));
    }
    plan
}

fn row(area: Rect, y: u16) -> Rect {
    Rect { y, height: 1, ..area }
}

/// Cuts `height` rows off the top.
pub(super) fn take(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    let top = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    top
}

/// Cuts `height` rows off the bottom.
pub(super) fn take_bottom(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    area.height -= height;
    Rect { y: area.bottom(), height, ..*area }
}

/// Shares `height` rows between two lists: each gets what it needs up to half, and what the other
/// leaves.
fn share(height: u16, first: usize, second: usize) -> u16 {
    let whole = usize::from(height);
    let half = whole / 2;
    let top = if first + second <= whole {
        // Spare rows go to the first.
        whole - second
    } else if first <= half {
        first
    } else if second <= whole - half {
        whole - second
    } else {
        half
    };
    top as u16
}

/// Columns with a seam between them: the left one is `left` wide.
pub(super) fn columns(area: Rect, left: u16) -> (Rect, Rect, Rect) {
    (
        Rect { width: left, ..area },
        Rect { x: area.x + left, width: 1, ..area },
        Rect { x: area.x + left + 1, width: area.width - left - 1, ..area },
    )
}

/// One column: tree, steps, quadrants, the sum line; the explanation below where there is room.
fn arrange_stack(plan: &mut Plan, mut body: Rect, needs: &Needs) -> bool {
    if body.height >= 17 {
        plan.sum = Some(take_bottom(&mut body, 1));
    }
    if body.height >= 44 {
        plan.panes.push((Pane::Explain, take_bottom(&mut body, 22)));
    }
    let quadrants = take_bottom(&mut body, QUADRANTS);
    let (tree, steps) = (needs.tree + 2, needs.steps + 2);
    // Rows that neither list needs show the rollouts.
    let spare = usize::from(body.height).saturating_sub(tree + steps);
    let wanted = needs.rollouts + 2;
    if body.height >= 20 && spare >= wanted.min(6) {
        let rollouts = take_bottom(&mut body, spare.min(wanted) as u16);
        plan.panes.push((Pane::Rollouts, rollouts));
    }
    let tree = share(body.height, tree, steps);
    plan.panes.push((Pane::Tree, take(&mut body, tree)));
    plan.panes.push((Pane::Steps, body));
    plan.panes.push((Pane::Quadrants, quadrants));
    true
}

/// Two columns without room for texts: tree over quadrants, steps over rollouts.
fn arrange_flat(plan: &mut Plan, mut body: Rect, needs: &Needs) -> bool {
    plan.sum = Some(take_bottom(&mut body, 1));
    let (mut left, seam, mut right) = columns(body, left_of_two(body.width));
    plan.seams.push(seam);
    let tall = usize::from(body.height) >= needs.tree + 2 + usize::from(QUADRANTS_TALL);
    let quadrants = take_bottom(&mut left, if tall { QUADRANTS_TALL } else { QUADRANTS });
    let steps = share(right.height, needs.steps + 2, needs.rollouts + 2);
    plan.panes.push((Pane::Tree, left));
    plan.panes.push((Pane::Steps, take(&mut right, steps)));
    plan.panes.push((Pane::Quadrants, quadrants));
    plan.panes.push((Pane::Rollouts, right));
    true
}

/// Two columns, three bands: tree | steps, quadrants | rollouts, explain | reader.
fn arrange_pairs(plan: &mut Plan, mut body: Rect) -> bool {
    plan.note = Some(take_bottom(&mut body, 1));
    if body.height >= 38 {
        plan.sum = Some(take_bottom(&mut body, 1));
    }
    let texts = (body.height * 2 / 5).clamp(14, 22);
    let bottom = take_bottom(&mut body, texts);
    let middle = take_bottom(&mut body, QUADRANTS_TALL);
    let left = left_of_two(body.width);
    for (band, first, second) in [
        (body, Pane::Tree, Pane::Steps),
        (middle, Pane::Quadrants, Pane::Rollouts),
        (bottom, Pane::Explain, Pane::Reader),
    ] {
        let (one, seam, two) = columns(band, left);
        plan.panes.push((first, one));
        plan.panes.push((second, two));
        plan.seams.push(seam);
    }
    true
}

/// The steps carry more columns than the tree, so they get more than half.
fn left_of_two(width: u16) -> u16 {
    (width * 9 / 20).max(54)
}

/// Three columns: tree over explain, steps over reader, quadrants over rollouts.
fn arrange_wide(plan: &mut Plan, mut body: Rect, needs: &Needs) -> bool {
    plan.note = Some(take_bottom(&mut body, 1));
    plan.sum = Some(take_bottom(&mut body, 1));
    let side = (body.width * 27 / 100).clamp(46, 64);
    let (mut main, seam, mut right) = columns(body, body.width - side - 1);
    plan.seams.push(seam);
    let wanted = (needs.tree.max(needs.steps) + 2).max(8) as u16;
    let height = wanted.clamp(main.height / 3, main.height * 11 / 20);
    let top = take(&mut main, height);
    let left = main.width / 2;
    for (band, first, second) in
        [(top, Pane::Tree, Pane::Steps), (main, Pane::Explain, Pane::Reader)]
    {
        let (one, seam, two) = columns(band, left);
        plan.panes.push((first, one));
        plan.panes.push((second, two));
        plan.seams.push(seam);
    }
    plan.panes.push((Pane::Quadrants, take(&mut right, QUADRANTS_TALL)));
    plan.panes.push((Pane::Rollouts, right));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOCI: [Pane; 12] = [
        Pane::Tree,
        Pane::Steps,
        Pane::Explain,
        Pane::Quadrants,
        Pane::Rollouts,
        Pane::Reader,
        Pane::Groups,
        Pane::Matrix,
        Pane::Knobs,
        Pane::Compare,
        Pane::Sweep,
        Pane::Pivotal,
    ];

    fn check(area: Rect, needs: &Needs) {
        let plan = layout(area, needs);
        if plan.message {
            assert!(area.width < 40 || area.height < 10);
            return;
        }
        let mut taken = vec![false; area.area() as usize];
        let rects = plan
            .panes
            .iter()
            .map(|&(_, r)| r)
            .chain(plan.seams.iter().copied())
            .chain(plan.sum)
            .chain(plan.note)
            .chain([plan.title, plan.footer]);
        for rect in rects {
            assert_eq!(rect.intersection(area), rect, "{rect:?} leaves {area:?}");
            for position in rect.positions() {
                let at =
                    usize::from(position.y) * usize::from(area.width) + usize::from(position.x);
                assert!(!taken[at], "{position:?} of {area:?} is drawn twice: {plan:?}");
                taken[at] = true;
            }
        }
        assert!(plan.find(needs.focus).is_some(), "the focus is always on the screen");
        for (pane, rect) in &plan.panes {
            assert!(rect.height >= 3 && rect.width >= 40, "{pane:?} is {rect:?} in {area:?}");
        }
        if area.width < 80 {
            assert_eq!(plan.panes.len(), 1, "one pane at a time");
        }
    }

    #[test]
    fn panes_stay_inside_and_apart_at_every_size() {
        let sizes = [(0, 0, 0), (9, 4, 8), (127, 200, 64), (1, 70_000, 1)];
        for width in 1..=220 {
            for height in 1..=80 {
                let (tree, steps, rollouts) = sizes[usize::from(width + height) % 4];
                let focus = FOCI[usize::from(width * 3 + height) % 12];
                let zoom = (width + height) % 5 == 0;
                let needs = Needs { tree, steps, rollouts, focus, zoom };
                check(Rect::new(0, 0, width, height), &needs);
            }
        }
    }

    #[test]
    fn every_focus_and_need_at_the_sizes_people_have() {
        for (width, height) in
            [(80, 24), (80, 50), (100, 30), (120, 40), (160, 45), (200, 60), (500, 200)]
        {
            for focus in FOCI {
                for (tree, steps, rollouts) in [(0, 0, 0), (9, 4, 8), (127, 200, 64)] {
                    for zoom in [false, true] {
                        let needs = Needs { tree, steps, rollouts, focus, zoom };
                        check(Rect::new(0, 0, width, height), &needs);
                    }
                }
            }
        }
    }

    #[test]
    fn at_80x24_the_main_panes_stand_together() {
        let needs = Needs { tree: 9, steps: 4, rollouts: 8, focus: Pane::Steps, zoom: false };
        let plan = layout(Rect::new(0, 0, 80, 24), &needs);
        assert_eq!(plan.find(Pane::Tree), Some(Rect::new(0, 1, 80, 11)));
        assert_eq!(plan.find(Pane::Steps), Some(Rect::new(0, 12, 80, 6)));
        assert_eq!(plan.find(Pane::Quadrants), Some(Rect::new(0, 18, 80, 4)));
        assert_eq!(plan.sum, Some(Rect::new(0, 22, 80, 1)));
    }
}
