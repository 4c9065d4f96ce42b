//! Where panes stand: a pure function of the area and the needs, checked at every size there is.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use credscope::tui::layout::{Needs, Pane, Plan, layout};
use ratatui::layout::Rect;

/// Every pane that can have the focus.
fn foci() -> Vec<Pane> {
    Pane::CYCLE
        .into_iter()
        .chain([Pane::Groups, Pane::Compare, Pane::Sweep, Pane::Pivotal])
        .collect()
}

/// Rows that lists may need: nothing, a small group, a large one, absurdly many.
const NEEDS: [(usize, usize, usize); 4] = [(0, 0, 0), (9, 4, 8), (127, 200, 64), (1, 70_000, 1)];

fn rects(plan: &Plan) -> Vec<Rect> {
    plan.panes
        .iter()
        .map(|&(_, r)| r)
        .chain(plan.seams.iter().copied())
        .chain(plan.sum)
        .chain(plan.note)
        .chain([plan.title, plan.footer])
        .collect()
}

/// Inside the area, apart from each other, and nothing left over.
fn check(area: Rect, needs: &Needs) {
    let plan = layout(area, needs);
    let small = area.width < 40 || area.height < 10;
    assert_eq!(plan.message, small, "{area:?}");
    if small {
        return;
    }
    let rects = rects(&plan);
    let mut cells = 0;
    for (i, rect) in rects.iter().enumerate() {
        assert_eq!(rect.intersection(area), *rect, "{rect:?} leaves {area:?}: {plan:?}");
        for other in &rects[i + 1..] {
            assert!(rect.intersection(*other).is_empty(), "{rect:?} {other:?}: {plan:?}");
        }
        cells += rect.area();
    }
    assert_eq!(cells, area.area(), "cells of {area:?} that belong to nothing: {plan:?} {needs:?}");
    assert!(plan.find(needs.focus).is_some(), "the focus is on the screen: {needs:?} in {area:?}");
    for (i, (pane, rect)) in plan.panes.iter().enumerate() {
        assert!(rect.height >= 3 && rect.width >= 40, "{pane:?} is {rect:?} in {area:?}");
        assert!(plan.panes[i + 1..].iter().all(|(p, _)| p != pane), "{pane:?} twice in {area:?}");
    }
    if area.width < 80 || needs.zoom {
        assert_eq!(plan.panes.len(), 1, "one pane at a time in {area:?}");
    }
}

#[test]
fn every_size_from_1x1_to_500x200_is_covered_without_overlap() {
    let foci = foci();
    for width in 1..=500_u16 {
        for height in 1..=200_u16 {
            // Every size with one choice of needs; neighbours have others.
            let at = usize::from(width) * 7 + usize::from(height) * 3;
            let (tree, steps, rollouts) = NEEDS[at % NEEDS.len()];
            let (focus, zoom) = (foci[at % foci.len()], at % 9 == 0);
            let needs = Needs { tree, steps, rollouts, focus, zoom };
            check(Rect::new(0, 0, width, height), &needs);
        }
    }
}

#[test]
fn every_focus_with_every_need_where_the_arrangement_changes() {
    for width in [39, 40, 79, 80, 99, 119, 120, 139, 140, 179, 180, 200, 500] {
        for height in (9..=64).chain([100, 200]) {
            for focus in foci() {
                for (tree, steps, rollouts) in NEEDS {
                    for zoom in [false, true] {
                        let needs = Needs { tree, steps, rollouts, focus, zoom };
                        check(Rect::new(0, 0, width, height), &needs);
                    }
                }
            }
        }
    }
}

/// The same again gives the same, and where the area lies changes nothing but where the panes lie.
#[test]
fn the_plan_depends_on_the_size_and_the_needs_alone() {
    let moved = |r: Rect| Rect { x: r.x + 17, y: r.y + 5, ..r };
    for (width, height) in
        [(40, 10), (79, 24), (80, 24), (120, 40), (150, 45), (200, 60), (500, 200)]
    {
        for focus in foci() {
            for (tree, steps, rollouts) in NEEDS {
                let needs = Needs { tree, steps, rollouts, focus, zoom: false };
                let area = Rect::new(0, 0, width, height);
                let plan = layout(area, &needs);
                assert_eq!(plan, layout(area, &needs));
                let there = layout(moved(area), &needs);
                let expected: Vec<Rect> = rects(&plan).into_iter().map(moved).collect();
                assert_eq!(rects(&there), expected, "{focus:?} at {width}x{height}");
            }
        }
    }
}
