//! The screen on a load that still runs: what has come so far is browsed, and nothing that a person does
//! is disturbed by what comes next. A fake loader says when.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::sync::Arc;

use credscope::analysis::AnalysisSettings;
use credscope::load::Progress;
use credscope::rollout::{Corpus, Group, Outcome};
use credscope::tui::exporting::Provenance;
use credscope::tui::layout::Pane;
use credscope::tui::loading::{Arrival, LOADING};
use credscope::tui::model::{Layer, Model, Notice, Start, Text};
use credscope::tui::snapshot::Snapshot;
use credscope::tui::update::{Effect, Msg, begin, update};
use credscope::tui::worker::Reloaded;
use tui_support::{Made, PLAIN, group, key, line, picture, press, settle};

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];

/// A group of these rollouts: even ones succeed; each goes its own way after the first step.
fn made(task: &str, ids: &[usize]) -> Arc<Group> {
    let names: Vec<String> = ids.iter().map(|n| format!("r{n}")).collect();
    let walks: Vec<_> = ids
        .iter()
        .zip(&names)
        .map(|(n, name)| {
            let outcome = if n % 2 == 0 { Outcome::Success } else { Outcome::Failure };
            let step = |t: usize| (format!("s{}", t * (n % 3)), format!("view:full@f{t}.py"));
            (name.as_str(), outcome, (0..4).map(step).collect())
        })
        .collect();
    group(task, &walks)
}

fn arrival(groups: Vec<Arc<Group>>, notices: &[&str], start: Option<Start>) -> Box<Arrival> {
    let notice = |code: &&str| Notice {
        code: (*code).to_owned(),
        text: format!("the notice {code}"),
        help: String::new(),
    };
    Box::new(Arrival {
        loaded: Reloaded {
            corpus: Corpus { groups },
            notices: notices.iter().map(notice).collect(),
            texts: Arc::new(Made),
            provenance: Provenance::default(),
        },
        start,
        stopped: None,
        again: true,
    })
}

fn send(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let effects = update(model, msg);
    settle(model, effects.clone());
    effects
}

fn so_far(model: &mut Model, groups: &[&Arc<Group>]) -> Vec<Effect> {
    let groups = groups.iter().map(|g| Arc::clone(g)).collect();
    send(model, Msg::SoFar(arrival(groups, &[LOADING], None)))
}

/// A screen on a load of which nothing has come yet.
fn waiting(size: (u16, u16), seeks: bool) -> Model {
    let settings = AnalysisSettings::default();
    let mut model = Model::new(Corpus::default(), Vec::new(), settings, PLAIN, None);
    model.wait_for(Progress::default(), seeks);
    assert!(begin(&mut model).is_empty());
    send(&mut model, Msg::Resize(size.0, size.1));
    model
}

fn read(bytes: u64) -> Msg {
    Msg::Progress(Progress {
        bytes,
        total_bytes: 1_000_000_000,
        records: bytes / 100_000,
        rollouts: bytes / 100_000,
        files: 1,
        total_files: 2,
    })
}

/// The place of the cursor by name: task, rollout, step.
fn place(model: &Model) -> (String, String, usize) {
    let group = model.shown_group().unwrap();
    let rollout = &group.rollouts[model.cursor.rollout];
    (group.key.task.clone(), rollout.id.clone(), model.cursor.step)
}

fn at(task: &str, rollout: &str, step: usize) -> (String, String, usize) {
    (task.to_owned(), rollout.to_owned(), step)
}

fn title(model: &Model) -> String {
    picture(model).lines().next().unwrap().to_owned()
}

#[test]
fn before_anything_came_the_screen_says_what_it_waits_for() {
    for size in SIZES {
        let mut model = waiting(size, false);
        line(&picture(&model), &["loading", "0 groups so far"]);
        line(&picture(&model), &["looking at the files", "X stop loading", "q quit"]);
        line(&picture(&model), &["this fills as soon as a rollout was read"]);
        send(&mut model, read(340_000_000));
        assert!(title(&model).contains("loading 34 %"), "{}", title(&model));
        line(&picture(&model), &["340 MB of 1.0 GB, 3400 rollouts", "X stop loading", "q quit"]);
        for key in ["a", "j", "Enter", "=", "i", "/", "x", "Enter", "v", "w", "r", "e", "}", "["] {
            press(&mut model, key);
            picture(&model);
        }
        assert!(model.snapshot().is_none());
    }
}

#[test]
fn three_parts_and_the_end_leave_cursor_filter_layers_and_jumps_alone() {
    for size in SIZES {
        let mut model = waiting(size, false);
        send(&mut model, read(100_000_000));
        let (a, b, c) = (made("a", &[1, 2, 3]), made("b", &[2, 4]), made("c", &[1, 2, 3, 4]));
        so_far(&mut model, &[&b]);
        assert_eq!(place(&model).0, "b");
        assert!(title(&model).contains("loading 10 %"), "{}", title(&model));
        line(&picture(&model), &["100 MB of 1.0 GB", "X stop loading"]);
        assert!(model.warnings().iter().any(|w| w.code == LOADING));
        press(&mut model, "2");
        press(&mut model, "]");
        press(&mut model, "j");
        assert_eq!(place(&model), at("b", "r4", 1));

        // The second part: a group before it, and rollouts before the selected one. Help is open.
        press(&mut model, "?");
        press(&mut model, "s");
        press(&mut model, "c");
        let help = model.layers.clone();
        let grown = made("b", &[1, 2, 3, 4]);
        so_far(&mut model, &[&a, &grown]);
        assert_eq!(model.layers, help);
        assert_eq!(place(&model), at("b", "r4", 1));
        assert_eq!((model.group, model.groups.at, model.focus), (1, 1, Pane::Steps));
        assert!(Arc::ptr_eq(model.shown_group().unwrap(), &grown));
        assert!(title(&model).contains("loading 10 %"), "over a layer, too: {}", title(&model));
        press(&mut model, "Esc");

        // A filter, a search that is being typed, and a jump to another group.
        press(&mut model, "f");
        press(&mut model, "Space");
        press(&mut model, "Esc");
        let filter = model.filtering.filter.clone();
        assert!(!filter.is_empty());
        let here = place(&model);
        press(&mut model, "{");
        assert_eq!(place(&model).0, "a");
        let there = place(&model);
        press(&mut model, "/");
        press(&mut model, "v");
        press(&mut model, "i");
        send(&mut model, read(560_000_000));
        let first = made("0", &[7]);
        so_far(&mut model, &[&first, &a, &grown]);
        assert_eq!(model.layers, [Layer::Search { text: "vi".to_owned() }]);
        assert_eq!((place(&model), model.group), (there, 1));
        assert_eq!(model.filtering.filter, filter);
        assert!(title(&model).contains("loading 56 %"), "{}", title(&model));
        press(&mut model, "Esc");
        press(&mut model, "<");
        assert_eq!(place(&model), here, "a place among the jumps is found again");

        // The end, with the palette open.
        press(&mut model, ":");
        press(&mut model, "t");
        let palette = model.layers.clone();
        let all = vec![first, a, Arc::clone(&grown), c];
        let effects = send(&mut model, Msg::Loaded(arrival(all, &["partial"], None)));
        assert!(effects.iter().any(|e| matches!(e, Effect::Source(_))));
        assert!(effects.iter().any(|e| matches!(e, Effect::Discard(old) if old.groups.len() == 3)));
        assert_eq!((model.layers.clone(), place(&model)), (palette, here));
        assert_eq!(
            model.message.as_deref(),
            Some("loaded with losses: 4 groups, 12 rollouts; the notice partial")
        );
        press(&mut model, "Esc");
        assert!(model.loading.is_none());
        let codes: Vec<String> = model.notices.iter().map(|n| n.code.clone()).collect();
        assert_eq!(codes, ["partial"], "what the parts said is gone");
        let shown = picture(&model);
        assert!(!shown.contains("loading") && !shown.contains("so far"), "{shown}");
        // A part that was under way when the load ended says nothing any more.
        let before = model.corpus.groups.len();
        assert!(so_far(&mut model, &[&grown]).is_empty());
        assert_eq!((model.corpus.groups.len(), model.loading.is_none()), (before, true));
    }
}

/// The requests for analyses, and their answers.
fn requests(effects: &[Effect]) -> Vec<(u64, usize, Arc<Group>)> {
    let of = |e: &Effect| match e {
        Effect::Analyse { key, index, group, .. } => Some((*key, *index, Arc::clone(group))),
        _ => None,
    };
    effects.iter().filter_map(of).collect()
}

fn answer(model: &mut Model, (key, index, group): &(u64, usize, Arc<Group>)) {
    let snapshot = Snapshot::new(group, &model.settings);
    let effects = update(model, Msg::Analysed(*key, *index, Arc::new(snapshot)));
    settle(model, effects);
}

#[test]
fn an_analysis_that_takes_longer_than_parts_come_is_shown_all_the_same() {
    let mut model = waiting((80, 24), false);
    let part = |groups: Vec<Arc<Group>>| Msg::SoFar(arrival(groups, &[], None));
    let asked = |model: &mut Model, msg| requests(&update(model, msg)).remove(0);
    let (one, two, three) = (made("b", &[1]), made("b", &[1, 2]), made("b", &[1, 2, 3]));
    let first = asked(&mut model, part(vec![one]));
    let second = asked(&mut model, part(vec![made("a", &[1]), two]));
    answer(&mut model, &first);
    assert_eq!(
        model.shown.as_ref().map(|(g, s)| (*g, s.analysis.group.rollouts.len())),
        Some((1, 1))
    );
    assert!(model.waiting());
    let third = asked(&mut model, part(vec![made("a", &[1]), three]));
    answer(&mut model, &second);
    assert_eq!(model.shown_group().unwrap().rollouts.len(), 2);
    // Another group is wanted: what was asked for before is of no use any more.
    let other = requests(&update(&mut model, Msg::Key(key("{")))).remove(0);
    answer(&mut model, &third);
    assert_eq!(place(&model).0, "b");
    assert_eq!(model.shown_group().unwrap().rollouts.len(), 2);
    answer(&mut model, &other);
    assert_eq!(place(&model).0, "a");
    assert!(!model.waiting());
    // A group that did not change is not analysed again.
    let same = model.corpus.groups.clone();
    assert!(requests(&update(&mut model, part(same))).is_empty());
    assert!(!model.waiting());
}

#[test]
fn the_list_of_groups_keeps_the_rows_of_groups_that_did_not_change() {
    let mut model = waiting((80, 24), false);
    let (a, b, c) = (made("a", &[1, 2]), made("b", &[1, 2]), made("c", &[1, 2]));
    so_far(&mut model, &[&b, &c]);
    press(&mut model, "a");
    press(&mut model, "j");
    assert!(model.groups.rows.iter().all(Option::is_some));
    let grown = made("c", &[1, 2, 3]);
    let effects = so_far(&mut model, &[&a, &b, &grown]);
    let rows = effects.iter().find_map(|e| match e {
        Effect::Summarise { rows, .. } => {
            Some(rows.iter().map(Option::is_some).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(rows, Some(vec![false, true, false]));
    assert!(model.groups.rows.iter().all(Option::is_some));
    assert_eq!((model.groups.at, model.focus), (2, Pane::Groups), "the selected row is still c");
    line(&picture(&model), &["▸", "c", "3"]);
}

#[test]
fn a_text_that_was_read_stays_while_its_rollout_does() {
    let mut model = waiting((200, 60), false);
    so_far(&mut model, &[&made("b", &[2, 4])]);
    press(&mut model, "]");
    press(&mut model, "i");
    assert!(matches!(model.reader.text, Text::Ready(_)));
    let effects = so_far(&mut model, &[&made("a", &[1]), &made("b", &[1, 2, 3, 4])]);
    assert!(!effects.iter().any(|e| matches!(e, Effect::Read { .. })));
    assert!(matches!(model.reader.text, Text::Ready(_)));
    assert_eq!(model.reader.of, Some((1, 3, 0)));
    assert_eq!(place(&model), at("b", "r4", 0));
}

#[test]
fn the_screen_goes_to_the_named_place_as_soon_as_it_is_there() {
    let mut model = waiting((80, 24), true);
    let b = made("b", &[1, 2, 3]);
    so_far(&mut model, &[&b]);
    press(&mut model, "]");
    assert_eq!(place(&model), at("b", "r2", 0));
    let c = made("c", &[5, 6]);
    let start = Start { group: 1, rollout: 1, step: 2 };
    let groups = vec![Arc::clone(&b), Arc::clone(&c)];
    send(&mut model, Msg::SoFar(arrival(groups, &[], Some(start))));
    assert_eq!(place(&model), at("c", "r6", 2));
    press(&mut model, "<");
    assert_eq!(place(&model), at("b", "r2", 0), "the way back is there");
    // Once: later parts and the end leave the cursor where it is.
    let groups = vec![made("a", &[1]), b, c];
    let start = Start { group: 2, rollout: 1, step: 2 };
    send(&mut model, Msg::SoFar(arrival(groups.clone(), &[], Some(start))));
    assert_eq!(place(&model), at("b", "r2", 0));
    send(&mut model, Msg::Loaded(arrival(groups, &[], Some(start))));
    assert_eq!(place(&model), at("b", "r2", 0));
}

#[test]
fn a_place_that_comes_with_the_end_is_gone_to_then() {
    let mut model = waiting((80, 24), true);
    so_far(&mut model, &[&made("b", &[1, 2])]);
    let start = Start { group: 0, rollout: 2, step: 1 };
    let end = arrival(vec![made("b", &[1, 2, 3])], &[], Some(start));
    send(&mut model, Msg::Loaded(end));
    assert_eq!(place(&model), at("b", "r3", 1));
}

#[test]
fn an_export_waits_for_the_whole_load_but_settings_do_not() {
    let mut model = waiting((80, 24), false);
    let b = made("b", &[1, 2]);
    so_far(&mut model, &[&b]);
    let exports = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::Export(_)));
    for _ in 0..3 {
        press(&mut model, "e");
        assert!(!exports(&press(&mut model, "Enter")));
        let told = model.message.clone().unwrap();
        assert!(told.starts_with("still loading: an export waits") && told.len() < 79, "{told}");
    }
    press(&mut model, "e");
    for _ in 0..3 {
        press(&mut model, "j");
    }
    assert!(exports(&press(&mut model, "Enter")), "settings do not depend on the data");
    send(&mut model, Msg::Loaded(arrival(vec![b], &[], None)));
    press(&mut model, "e");
    assert!(exports(&press(&mut model, "Enter")));
}

#[test]
fn a_load_is_stopped_by_its_key_and_says_what_was_kept() {
    for size in SIZES {
        let mut model = waiting(size, false);
        so_far(&mut model, &[&made("b", &[1, 2])]);
        send(&mut model, read(340_000_000));
        press(&mut model, "R");
        assert_eq!(model.message.as_deref(), Some("loading 34 % already: X stops it"));
        let effects = press(&mut model, "X");
        assert!(matches!(effects[..], [Effect::StopLoading]));
        assert_eq!(model.message.as_deref(), Some("stopping: what was read is kept"));
        assert!(title(&model).contains("stopping 34 %"), "{}", title(&model));
        // Loading again waits for the end of it.
        assert!(press(&mut model, "R").is_empty());
        let told = "still stopping: R loads again once that is done";
        assert_eq!(model.message.as_deref(), Some(told));
        assert!(title(&model).contains("stopping 34 %"), "{}", title(&model));
        let mut end = arrival(vec![made("b", &[1, 2, 3])], &["partial"], None);
        end.stopped = Some("stopped at 34 %".to_owned());
        send(&mut model, Msg::Loaded(end));
        let told = "stopped at 34 %: 1 group, 3 rollouts; R loads all";
        assert_eq!(model.message.as_deref(), Some(told));
        assert!(
            title(&model).contains("the notice partial") || title(&model).contains("partial data")
        );
        // Loading again: what is there stays, and says how far the new load is.
        let effects = press(&mut model, "R");
        assert!(matches!(effects[..], [Effect::Reload]));
        send(&mut model, read(500_000_000));
        assert!(title(&model).contains("loading again 50 %"), "{}", title(&model));
        assert!(model.so_far().is_none(), "what is shown is no part of it");
        press(&mut model, "X");
        assert_eq!(model.message.as_deref(), Some("stopping: what is shown stays"));
        send(&mut model, Msg::Reloaded(Err("stopped".to_owned())));
        assert!(!title(&model).contains("loading"));
        assert_eq!(place(&model).0, "b");
        assert!(press(&mut model, "X").is_empty());
        assert_eq!(model.message.as_deref(), Some("nothing is being loaded: R loads again"));
    }
}

#[test]
fn what_was_shown_of_a_load_that_ends_without_a_result_is_marked_as_a_part() {
    for size in SIZES {
        let mut model = waiting(size, false);
        so_far(&mut model, &[&made("b", &[1, 2])]);
        press(&mut model, "X");
        let effects = send(&mut model, Msg::NothingLoaded("stopped before anything".to_owned()));
        let mark = "partial data: stopped, and the rest could not be read";
        assert!(matches!(&effects[..], [Effect::Partial(told)] if told == mark), "{effects:?}");
        let said = "stopped, the rest could not be read: 1 group, 2 rollouts";
        assert_eq!(model.message.as_deref(), Some(said));
        assert!(title(&model).contains("partial data"), "{}", title(&model));
        press(&mut model, "W");
        line(&picture(&model), &["⚠", mark]);
        assert!(!picture(&model).contains(&format!("the notice {LOADING}")));
    }
}

#[test]
fn a_stream_that_was_stopped_names_no_key_that_does_nothing() {
    let mut model = waiting((80, 24), false);
    line(&picture(&model), &["X stops loading, q quits"]);
    press(&mut model, "X");
    assert!(!picture(&model).contains("X stop"), "{}", picture(&model));
    line(&picture(&model), &["stopping: nothing was read so far"]);
    let mut end = arrival(vec![made("b", &[1, 2])], &["partial"], None);
    (end.stopped, end.again) = (Some("stopped mid-stream".to_owned()), false);
    send(&mut model, Msg::Loaded(end));
    let told = "stopped mid-stream: 1 group, 2 rollouts; a stream is read once only";
    assert_eq!(model.message.as_deref(), Some(told));
}

#[test]
fn the_keys_that_warnings_name_work_among_them() {
    let mut model = waiting((80, 24), false);
    so_far(&mut model, &[&made("b", &[1, 2])]);
    press(&mut model, "W");
    assert!(matches!(press(&mut model, "X")[..], [Effect::StopLoading]));
    assert!(matches!(model.layers[..], [Layer::Warnings { .. }]));
    let mut end = arrival(vec![made("b", &[1, 2])], &["partial"], None);
    end.stopped = Some("stopped at 70 %".to_owned());
    send(&mut model, Msg::Loaded(end));
    assert!(matches!(press(&mut model, "R")[..], [Effect::Reload]));
    assert!(model.layers.is_empty());
    assert!(title(&model).contains("loading again"), "{}", title(&model));
}

#[test]
fn without_a_key_the_end_opens_where_a_whole_load_does() {
    // Tasks in the order m, n, a; the rollouts of a come in another order than that of their names.
    let (m, n) = (made("m", &[1, 2]), made("n", &[2, 3]));
    let whole = || vec![made("a", &[1, 2, 3, 4]), made("m", &[1, 2, 5]), Arc::clone(&n)];
    let settings = AnalysisSettings::default();
    let mut plain = Model::new(Corpus { groups: whole() }, Vec::new(), settings, PLAIN, None);
    let effects = begin(&mut plain);
    settle(&mut plain, effects);
    for parts in [vec![&m], vec![&m, &n], vec![&made("a", &[3, 4]), &m]] {
        let mut model = waiting((80, 24), false);
        so_far(&mut model, &parts);
        send(&mut model, Msg::Loaded(arrival(whole(), &[], None)));
        assert_eq!((place(&model), model.groups.at), (place(&plain), 0));
        // One key is enough, and the place is the person's.
        let mut model = waiting((80, 24), false);
        so_far(&mut model, &parts);
        press(&mut model, "j");
        let there = place(&model);
        send(&mut model, Msg::Loaded(arrival(whole(), &[], None)));
        assert_eq!(place(&model), there);
    }
}

#[test]
fn a_load_that_fails_ends_the_screen_and_one_without_anything_says_so() {
    let mut model = waiting((80, 24), false);
    assert!(matches!(update(&mut model, Msg::LoadFailed)[..], [Effect::Quit(1)]));
    let mut model = waiting((80, 24), false);
    send(&mut model, Msg::NothingLoaded("stopped before anything was read".to_owned()));
    line(&picture(&model), &["stopped before anything was read"]);
    assert!(!title(&model).contains("loading"));
    press(&mut model, "R");
    assert!(title(&model).contains("loading again"));
    let groups = vec![made("b", &[1, 2])];
    send(&mut model, Msg::Reloaded(Ok((Corpus { groups }, Vec::new()))));
    assert_eq!(place(&model).0, "b");
}
