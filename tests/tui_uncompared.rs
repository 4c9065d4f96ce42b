//! What speaks against the numbers stays in sight where there is little room.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use credscope::rollout::{Corpus, Outcome};
use credscope::tui::model::{Model, Notice, PARTIAL};
use credscope::tui::update::{Msg, begin, update};
use tui_support::{Walk, group, line, opened, picture, press};

/// Six steps in states of their own: RTMC moves them, GRPO says 0.
fn walk(id: &str, outcome: Outcome) -> Walk<'_> {
    (id, outcome, (0..6).map(|t| (format!("s{t}"), format!("search:grep@{t}"))).collect())
}

fn one(walks: &[Walk]) -> Corpus {
    Corpus { groups: vec![group("a-task-with-a-name-that-is-much-longer-than-a-title", walks)] }
}

#[test]
fn a_group_of_one_says_so_at_80_columns() {
    let mut model = opened(one(&[walk("only", Outcome::Failure)]), (80, 24));
    let shown = picture(&model);
    assert!(shown.lines().next().unwrap().contains("group of 1: no baseline"), "{shown}");
    line(&shown, &["4 Quadrants", "group of 1"]);
    press(&mut model, "r");
    let shown = picture(&model);
    line(&shown, &["group of 1: nothing here compares outcomes"]);
}

#[test]
fn a_uniform_group_says_so_where_its_steps_are_listed() {
    let walks = [walk("a", Outcome::Success), walk("b", Outcome::Success)];
    let mut model = opened(one(&walks), (80, 24));
    let shown = picture(&model);
    assert!(shown.lines().next().unwrap().contains("uniform: all succeeded"), "{shown}");
    line(&shown, &["4 Quadrants", "uniform"]);
    press(&mut model, "r");
    line(&picture(&model), &["every scored rollout of this group ended alike"]);
}

#[test]
fn partial_data_is_said_in_the_title_at_any_width() {
    for width in [80, 60] {
        let notice = Notice {
            code: PARTIAL.to_owned(),
            text: "partial data: 12 of 345 records of rollouts.jsonl were skipped".to_owned(),
            help: "first: line 7".to_owned(),
        };
        let walks = [walk("a", Outcome::Success), walk("b", Outcome::Failure)];
        let mut model = Model::new(
            one(&walks),
            vec![notice],
            credscope::analysis::AnalysisSettings::default(),
            tui_support::PLAIN,
            None,
        );
        let effects = begin(&mut model);
        tui_support::settle(&mut model, effects);
        let effects = update(&mut model, Msg::Resize(width, 24));
        tui_support::settle(&mut model, effects);
        let shown = picture(&model);
        assert!(shown.lines().next().unwrap().contains("partial data"), "{shown}");
    }
}
