//! What keys do: the cursor stays on something that exists, the screen never waits for a computation.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use credscope::analysis::AnalysisSettings;
use credscope::tui::keymap::BINDINGS;
use credscope::tui::layout::Pane;
use credscope::tui::model::Model;
use credscope::tui::panes;
use credscope::tui::snapshot::Snapshot;
use credscope::tui::update::{Effect, Msg, begin, update};
use crossterm::event::{KeyEventKind, KeyEventState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_support::{Driver, HeldBack, PLAIN, corpus, key, press, settle, started};

#[test]
fn ten_thousand_random_keys_and_resizes_keep_the_cursor_on_a_step() {
    let mut keys: Vec<&str> = BINDINGS.iter().flat_map(|b| b.keys).copied().collect();
    keys.extend(["0", "9", "5", "Backspace"]);
    let mut model = started((80, 24));
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    for i in 0..10_000 {
        if random(20) == 0 {
            let size = (1 + random(230) as u16, 1 + random(70) as u16);
            let effects = update(&mut model, Msg::Resize(size.0, size.1));
            settle(&mut model, effects);
        } else {
            press(&mut model, keys[random(keys.len())]);
        }
        let rollouts = model.shown_group().unwrap().rollouts.len();
        assert!(model.cursor.rollout < rollouts);
        assert!(
            model.step().is_some() || model.steps_of(model.cursor.rollout).is_empty(),
            "key {i}: {:?}",
            model.cursor
        );
        if i % 20 == 0 {
            let mut buffer = Buffer::empty(model.area);
            panes::draw(&model, model.area, &mut buffer);
        }
    }
}

#[test]
fn every_size_can_be_drawn_in_every_pane() {
    let mut model = started((80, 24));
    for pane in ["1", "2", "3", "4", "6", "i", "a", "?", "Esc", "W"] {
        press(&mut model, pane);
        for width in (1..=220).step_by(13) {
            for height in (1..=80).step_by(6) {
                let effects = update(&mut model, Msg::Resize(width, height));
                settle(&mut model, effects);
                let area = Rect::new(0, 0, width, height);
                let mut buffer = Buffer::empty(area);
                panes::draw(&model, area, &mut buffer);
                let blank = buffer.content.iter().all(|c| c.symbol() == " ");
                assert!(!blank, "{pane} at {width}x{height}");
            }
        }
    }
}

#[test]
fn keys_move_the_cursor_while_the_next_analysis_is_held_back() {
    let analyst = Arc::new(HeldBack::default());
    let driver = Driver::with(corpus(), (80, 24), analyst.clone(), PLAIN);
    driver.wait("the promise", |p| p.contains("analysing"));
    analyst.allow(1);
    driver.wait("the tree", |p| p.contains("▸ 0  search:grep@."));
    // Four turns of the column: the worker takes the first; of the others only the last is kept.
    for _ in 0..4 {
        driver.press("m");
    }
    driver.wait("that it computes", |p| p.contains("computing"));
    driver.press("j");
    driver.wait("a moved cursor", |p| p.contains("▸ 1  view:full"));
    driver.press("j");
    driver.wait("a moved cursor", |p| p.contains("▸ 2◆ modify:3859"));
    analyst.allow(10);
    let picture =
        driver.wait("the new analysis", |p| !p.contains("computing") && p.contains("Y grpo "));
    assert!(picture.contains("▸ 2"), "the cursor stays on its step:\n{picture}");
    assert!(analyst.done.load(Ordering::SeqCst) <= 3, "requests in between are never computed");
    assert_eq!(driver.quit("q"), 0);
}

#[test]
fn an_old_result_is_dropped() {
    let mut model = started((80, 24));
    let effects = update(&mut model, Msg::Key(key("m")));
    let Some(Effect::Analyse { key: old, index, group, settings, .. }) = effects.into_iter().next()
    else {
        panic!("m asks for an analysis");
    };
    let newer = update(&mut model, Msg::Key(key("m")));
    let before = model.shown_key;
    update(&mut model, Msg::Analysed(old, index, Arc::new(Snapshot::new(&group, &settings))));
    assert_eq!(model.shown_key, before);
    settle(&mut model, newer);
    assert!(!model.waiting());
}

#[test]
fn a_release_does_nothing_and_a_repeat_does() {
    let mut model = started((80, 24));
    let at = model.cursor;
    let mut event = key("j");
    event.kind = KeyEventKind::Release;
    event.state = KeyEventState::NONE;
    update(&mut model, Msg::Key(event));
    assert_eq!(model.cursor, at);
    event.kind = KeyEventKind::Repeat;
    update(&mut model, Msg::Key(event));
    assert_eq!(model.cursor.step, at.step + 1);
}

#[test]
fn digits_are_panes_or_counts() {
    let mut model = started((80, 24));
    press(&mut model, "]");
    press(&mut model, "2");
    for name in ["g", "1", "0", "j"] {
        press(&mut model, name);
    }
    assert_eq!((model.focus, model.cursor.step), (Pane::Steps, 10));
    for name in ["0", "3", "k"] {
        press(&mut model, name);
    }
    assert_eq!(model.cursor.step, 7);
    press(&mut model, "1");
    assert_eq!(model.focus, Pane::Tree);
    press(&mut model, "j");
    assert_eq!(model.focus, Pane::Tree);
}

#[test]
fn escape_closes_the_top_layer_only_and_control_c_always_leaves() {
    let mut model = started((80, 24));
    press(&mut model, "=");
    press(&mut model, "W");
    press(&mut model, "?");
    assert_eq!(model.layers.len(), 2);
    press(&mut model, "Esc");
    assert_eq!((model.layers.len(), model.focus), (1, Pane::Explain));
    press(&mut model, "Esc");
    assert_eq!((model.layers.len(), model.focus), (0, Pane::Explain));
    press(&mut model, "Esc");
    assert_eq!(model.focus, Pane::Steps);
    press(&mut model, "?");
    press(&mut model, "z");
    let quits = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::Quit(130)));
    assert!(quits(&press(&mut model, "Ctrl-c")));
    // In the search of the help q is a letter.
    assert!(press(&mut model, "q").is_empty());
}

#[test]
fn jumps_find_disagreements_and_branches_and_come_around() {
    let mut model = started((80, 24));
    let start = model.cursor;
    press(&mut model, "n");
    assert_eq!((model.cursor.rollout, model.cursor.step), (start.rollout, start.step + 1));
    press(&mut model, "n");
    assert_eq!(model.cursor, start, "two disagreements: the second jump comes around");
    press(&mut model, "N");
    assert_eq!(model.cursor.step, start.step + 1);
    press(&mut model, "d");
    assert_eq!(model.cursor.step, 2);
}

#[test]
fn following_a_member_goes_to_its_step() {
    let mut model = started((80, 24));
    press(&mut model, "=");
    assert_eq!(model.explanation.as_ref().unwrap().members.len(), 8);
    let own = model.cursor.rollout;
    press(&mut model, "j");
    press(&mut model, "Enter");
    assert_ne!(model.cursor.rollout, own);
    assert_eq!(model.focus, Pane::Explain);
    let value = press(&mut model, "y");
    let Some(Effect::Copy(text, _)) = value.first() else { panic!("{value:?}") };
    assert!(text.contains(" = "), "{text}");
}

#[test]
fn the_cursor_of_a_group_is_remembered() {
    let mut model = started((80, 24));
    press(&mut model, "]");
    press(&mut model, "j");
    let at = model.cursor;
    press(&mut model, "}");
    assert_ne!(model.shown.as_ref().unwrap().0, 0);
    press(&mut model, "{");
    assert_eq!(model.cursor, at);
}

#[test]
fn a_large_group_moves_smoothly() {
    // 64 rollouts of 200 steps: a move and its drawing stay far from what a person would notice, even
    // without optimisation.
    let walk = |r: usize| {
        (0..200)
            .map(|t| {
                let branch = if t < 40 { r % 7 } else { r };
                (format!("s{t}.{branch}"), format!("modify:replace:{t:04x}@src/file{}.py", r % 5))
            })
            .collect::<Vec<_>>()
    };
    let walks: Vec<_> = (0..64)
        .map(|r| {
            let outcome = if r % 3 == 0 {
                credscope::rollout::Outcome::Success
            } else {
                credscope::rollout::Outcome::Failure
            };
            (format!("r{r}"), outcome, walk(r))
        })
        .collect();
    let walks: Vec<_> = walks.iter().map(|(id, o, w)| (id.as_str(), *o, w.clone())).collect();
    let large = tui_support::group("large", &walks);
    let corpus = credscope::rollout::Corpus { groups: vec![large] };
    let mut model = Model::new(corpus, Vec::new(), AnalysisSettings::default(), PLAIN, None);
    let effects = begin(&mut model);
    settle(&mut model, effects);
    let effects = update(&mut model, Msg::Resize(200, 60));
    settle(&mut model, effects);
    press(&mut model, "1");
    for lens in ["paths", "states"] {
        press(&mut model, "x");
        let start = std::time::Instant::now();
        for _ in 0..40 {
            press(&mut model, "j");
            let mut buffer = Buffer::empty(model.area);
            panes::draw(&model, model.area, &mut buffer);
        }
        let each = start.elapsed() / 40;
        println!("{lens}: {each:?} for a move and its picture");
        assert!(each < std::time::Duration::from_millis(500), "{lens}: {each:?}");
        press(&mut model, "t");
    }
}

#[test]
fn another_column_is_explained_by_its_own_numbers() {
    let mut model = started((120, 40));
    press(&mut model, "m");
    press(&mut model, "=");
    let explanation = model.explanation.as_ref().unwrap();
    assert_eq!(explanation.column, "grpo");
    let value = explanation.value.clone().unwrap();
    assert_eq!(explanation.node.as_ref().unwrap().eval().to_bits(), value.to_bits());
    let mut buffer = Buffer::empty(model.area);
    panes::draw(&model, model.area, &mut buffer);
    // From the second row on: the mean, the deviation, then the rewards, which can be followed.
    for _ in 0..3 {
        press(&mut model, "j");
    }
    press(&mut model, "Enter");
    assert_eq!(model.cursor.rollout, 0, "the first reward is that of the first rollout");
}
