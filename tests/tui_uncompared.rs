//! What speaks against the numbers stays in sight where there is little room.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use credscope::rollout::{Corpus, Outcome};
use credscope::tui::finding::Finding;
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

#[test]
fn a_count_of_hits_says_what_was_not_read() {
    let mut finding = Finding { pattern: "x".to_owned(), read: (3, 3), ..Finding::default() };
    assert_eq!(finding.status(), "/x  0 hits");
    finding.failed = 1;
    assert_eq!(finding.status(), "/x  1 of 3 unreadable, 0 hits in the rest");
    finding.failed = 3;
    assert_eq!(finding.status(), "/x  texts unreadable, 0 in labels");
}

/// `a` leaves `s0` by `go`, comes back and leaves it by `stay`; `b` goes, `c` stays.
#[test]
fn a_rollout_that_went_both_ways_is_told() {
    let walk = |steps: &[(&str, &str)]| -> Vec<(String, String)> {
        steps.iter().map(|(s, a)| ((*s).to_owned(), (*a).to_owned())).collect()
    };
    let walks = [
        ("a", Outcome::Failure, walk(&[("s0", "go"), ("s1", "back"), ("s0", "stay")])),
        ("b", Outcome::Success, walk(&[("s0", "go"), ("s1", "finish")])),
        ("c", Outcome::Failure, walk(&[("s0", "stay"), ("s2", "finish")])),
    ];
    let model = opened(one(&walks), (80, 24));
    let picks = model.picks();
    let (_, pick) = picks.iter().find(|(_, p)| p.ways == 2 && p.this.1 == 2).unwrap();
    assert_eq!((pick.this.1, pick.others.1, pick.both), (2, 2, 1));
    assert!(pick.told.starts_with("3 of 3 rollouts were in this state"), "{}", pick.told);
    assert!(
        pick.told.ends_with(" One of them came back here, went both ways, and is counted in both."),
        "{}",
        pick.told
    );
}

#[test]
fn what_the_group_says_the_load_does_not_say_again() {
    let mut model = opened(one(&[walk("only", Outcome::Failure)]), (80, 24));
    let code = model.warnings()[0].code.clone();
    let notice = |code: &str| Notice {
        code: code.to_owned(),
        text: "of the load".to_owned(),
        help: String::new(),
    };
    let before = model.warnings().len();
    model.notices = vec![notice(&code), notice("coerced")];
    assert_eq!(model.warnings().len(), before + 1);
    press(&mut model, "W");
    line(&picture(&model), &["W Warnings", &format!("{before} of this group, 1 of the load")]);
}

#[test]
fn partial_data_is_listed_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.jsonl");
    let good = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("sample-data/slugify-fix/rollouts.jsonl"),
    )
    .unwrap();
    std::fs::write(&path, good + "{\"rollout\": \n").unwrap();
    let profiles = std::sync::Arc::new(credscope::profile::Profiles::builtin());
    let options = credscope::load::LoadOptions::default();
    let loaded = credscope::load::load(&[path], &options, &profiles).unwrap();
    let notices = Notice::of_load(&loaded.report);
    assert_eq!(notices.iter().filter(|n| n.text.starts_with("partial data")).count(), 1);
}
