//! What the screen says where a key does nothing here, where a load lost something, and where counts are
//! one; and a search that stops when it is told to.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use credscope::rollout::raw::RawStep;
use credscope::rollout::{Corpus, Group, Outcome};
use credscope::tui::finding::run;
use credscope::tui::layout::Pane;
use credscope::tui::loading::Arrival;
use credscope::tui::model::{Model, Notice};
use credscope::tui::text::TextSource;
use credscope::tui::update::{Effect, Msg, update};
use credscope::tui::worker::Reloaded;
use tui_support::{Made, group, key, opened, picture, press, settle, started};

/// Texts that count how often a rollout was read.
struct Counting(AtomicUsize);

impl TextSource for Counting {
    fn step_text(&self, _: &Group, _: usize, step: usize) -> Result<RawStep, String> {
        Ok(RawStep { thought: format!("text of {step}"), ..RawStep::default() })
    }

    fn rollout_text(&self, group: &Group, rollout: usize) -> Result<Vec<RawStep>, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        (0..group.rollouts[rollout].steps.len())
            .map(|s| self.step_text(group, rollout, s))
            .collect()
    }
}

#[test]
fn a_search_reads_one_rollout_after_the_other_and_stops_where_it_is_told() {
    let model = started((120, 40));
    let snapshot = Arc::clone(model.snapshot().unwrap());
    let rollouts = snapshot.analysis.group.rollouts.len();
    // Answer 0 is about the labels; answer n tells rollout n, and nothing was read beyond it.
    for stop_at in [0, 1, 3, rollouts + 1] {
        let texts = Counting(AtomicUsize::new(0));
        let mut answers = 0;
        run(&snapshot, "text of", &texts, &|| true, |found| {
            assert_eq!(texts.0.load(Ordering::SeqCst), found.read, "told as soon as it is read");
            let goes_on = answers < stop_at;
            answers += 1;
            goes_on
        });
        assert_eq!(texts.0.load(Ordering::SeqCst), stop_at.min(rollouts));
        assert_eq!(answers, stop_at.min(rollouts) + 1);
    }
}

/// It is asked before each step, and an end within a rollout tells nothing of it: half of its hits would
/// look like all of them.
#[test]
fn a_search_ends_between_two_steps() {
    let model = started((120, 40));
    let snapshot = Arc::clone(model.snapshot().unwrap());
    let group = &snapshot.analysis.group;
    let (labels, first) = (group.len(), group.rollouts[0].steps.len());
    assert!(first > 1, "there is something between two steps");
    // Each step's label is asked for, and the answer; then the second step of the first rollout.
    for (asked_before_end, told, read) in
        [(1, 0, 0), (labels + 2, 1, 1), (labels + first + 2, 2, 2)]
    {
        let texts = Counting(AtomicUsize::new(0));
        let (asked, mut answers) = (AtomicUsize::new(0), 0);
        let goes_on = || asked.fetch_add(1, Ordering::SeqCst) < asked_before_end;
        run(&snapshot, "text of", &texts, &goes_on, |_| {
            answers += 1;
            true
        });
        let got = (answers, texts.0.load(Ordering::SeqCst));
        assert_eq!(got, (told, read), "ends when asked {asked_before_end} times");
    }
}

#[test]
fn closing_a_search_that_reads_stops_it() {
    let mut model = started((120, 40));
    for text in ["/", "v", "i"] {
        press(&mut model, text);
    }
    let effects = update(&mut model, Msg::Key(key("Enter")));
    let [Effect::Find { key: running, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let effects = update(&mut model, Msg::Key(key("Esc")));
    // The worker goes on only while the number it was given is the newest.
    let newest = effects.iter().find_map(|e| match e {
        Effect::StopFinding(key) => Some(*key),
        _ => None,
    });
    assert!(newest.is_some_and(|newest| newest > *running), "{effects:?}");
}

fn message(model: &Model) -> String {
    model.message.clone().unwrap_or_default()
}

#[test]
fn sorting_where_there_is_nothing_to_sort_says_where_there_is() {
    let mut model = started((120, 40));
    for pane in ["2", "3", "4", "5"] {
        press(&mut model, pane);
        let (focus, order) = (model.focus, model.groups.order);
        model.message = None;
        press(&mut model, "S");
        let told = message(&model);
        assert!(told.contains("sorts the tree (1) and the list of groups (a)"), "{focus:?}");
        assert!(picture(&model).contains(&told), "{focus:?}: {told:?}");
        assert_eq!((model.focus, model.groups.order), (focus, order), "nothing is sorted unseen");
    }
    press(&mut model, "1");
    press(&mut model, "S");
    assert!(message(&model).contains("siblings sorted"), "{}", message(&model));
    press(&mut model, "a");
    let order = model.groups.order;
    press(&mut model, "S");
    assert!(model.focus == Pane::Groups && model.groups.order != order);
}

#[test]
fn a_load_with_losses_does_not_end_as_if_nothing_were_lost() {
    for (notices, told) in [
        (vec![], "loaded: 1 group, 2 rollouts"),
        (vec![("coerced", "1 value coerced")], "loaded: 1 group, 2 rollouts"),
        (
            vec![("partial", "partial data: 1 record skipped")],
            "loaded with losses: 1 group, 2 rollouts; partial data: 1 record skipped",
        ),
    ] {
        let notice = |(code, text): &(&str, &str)| Notice {
            code: (*code).to_owned(),
            text: (*text).to_owned(),
            help: String::new(),
        };
        let notices: Vec<Notice> = notices.iter().map(notice).collect();
        let mut model = started((120, 40));
        model.wait_for(credscope::load::Progress::default(), false);
        let arrival = Arrival {
            loaded: Reloaded {
                corpus: Corpus { groups: vec![two()] },
                notices: notices.clone(),
                texts: Arc::new(Made),
                provenance: credscope::tui::exporting::Provenance::default(),
            },
            start: None,
            stopped: None,
            again: true,
        };
        let effects = update(&mut model, Msg::Loaded(Box::new(arrival)));
        settle(&mut model, effects);
        assert_eq!(message(&model), told);
        let again = Msg::Reloaded(Ok((Corpus { groups: vec![two()] }, notices)));
        let effects = update(&mut model, again);
        settle(&mut model, effects);
        let told = told.replacen("loaded", "loaded again", 1);
        let told = told.replacen("2 rollouts", "2 rollouts, as before", 1);
        assert_eq!(message(&model), told);
    }
}

fn two() -> Arc<Group> {
    let step = || vec![("s".to_owned(), "view:full@a.py".to_owned())];
    group("t", &[("a", Outcome::Success, step()), ("b", Outcome::Truncated, step())])
}

#[test]
fn the_title_keeps_warnings_apart_from_counts() {
    let odd = tui_support::odd();
    for width in 40..80 {
        let model = opened(Corpus { groups: vec![two(), Arc::clone(&odd)] }, (width, 10));
        let shown = picture(&model);
        let title = shown.lines().next().unwrap();
        let (before, after) = title.split_once('⚠').unwrap_or_else(|| panic!("{width}: {title:?}"));
        assert!(before.ends_with(' ') && before.contains("⊘1"), "{width}: {title:?}");
        assert!(after.trim().parse::<usize>().is_ok(), "{width}: {title:?}");
    }
}
