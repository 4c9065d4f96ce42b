//! What to read: the ranked list, segments, loops, texts with control characters, labels in little room.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::path::PathBuf;

use credscope::rollout::raw::{RawArgs, RawStep};
use credscope::rollout::{Corpus, Outcome};
use credscope::tui::layout::Pane;
use credscope::tui::listing::StepLine;
use credscope::tui::model::Model;
use credscope::tui::pivotal::Kind;
use credscope::tui::text::Document;
use credscope::tui::update::{Effect, Msg, update};
use tui_support::{R2E, eight, group, line, opened, picture, press, real, started};

/// A case of the corpus, opened, or a loud word that it is missing.
fn case(name: &str, size: (u16, u16)) -> Option<Model> {
    let root = std::env::var_os("CREDSCOPE_CASES")
        .map_or_else(|| PathBuf::from("../shared/cases"), PathBuf::from);
    let path = root.join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set CREDSCOPE_CASES", path.display());
        return None;
    }
    Some(opened(tui_support::loaded(&path).0, size))
}

#[test]
fn the_steps_worth_reading_are_ranked_with_why_and_followed() {
    let Some((corpus, _)) = real(R2E) else { return };
    let mut model = opened(corpus, (80, 24));
    press(&mut model, "r");
    assert_eq!(model.focus, Pane::Pivotal);
    // By hand: eight rollouts, 4 of them successes. At s2 five were, 4 successes: the failure's way has
    // 0/1 - 4/5 = -.8. At s0 eight were: 0/3 - 4/8 = -.5 for the view, 4/5 - 4/8 = +.3 for the search.
    let shown = picture(&model);
    line(&shown, &["▸ 1 opencode-1", "✗", "t2 modify:3859@", "−0.800", "0/1", "4/4  worse way"]);
    line(&shown, &["2 claude_code-", "✗", "t0 view:full@", "−0.500", "0/3", "4/5  worse way"]);
    line(&shown, &["3 opencode-", "t0 search:grep@.", "+0.300", "4/5", "0/3  better way"]);
    line(&shown, &["5 of 8 rollouts were in this state and left it in 4 ways: the one that"]);
    // The one cursor is there already, and its text below.
    assert_eq!(model.cursor.step, 2);
    line(&shown, &["i Step", "t2"]);
    press(&mut model, "j");
    assert_eq!(model.cursor.step, 0);
    press(&mut model, "Enter");
    assert_eq!((model.focus, model.cursor.step), (Pane::Steps, 0));
    let name = model.snapshot().unwrap().name(model.cursor.rollout, 40);
    assert!(name.starts_with("claude_code"), "{name}");
    // Back to where one was before the list was opened.
    press(&mut model, "<");
    assert!(picture(&model).contains("▸ 0  search:grep@."));
}

#[test]
fn the_rank_is_that_of_the_diagnostics_and_disagreements_follow() {
    let model = started((120, 40));
    let snapshot = model.snapshot().unwrap();
    let found = credscope::analysis::diagnostics::diagnostics(&snapshot.analysis);
    let parts: Vec<(usize, u64)> = snapshot
        .picks
        .iter()
        .filter(|p| p.kind == Kind::Parts)
        .map(|p| (p.step, p.value.to_bits()))
        .collect();
    let wanted: Vec<(usize, u64)> =
        found.pivotal.iter().take(12).map(|p| (p.step, p.value.to_bits())).collect();
    assert_eq!(parts, wanted);
    let disagree = snapshot.picks.iter().filter(|p| p.kind == Kind::Disagrees).count() as u64;
    let tally = &snapshot.row.tally;
    assert_eq!(disagree, tally.rescued + tally.penalized);
    let falls: Vec<f64> =
        snapshot.picks.iter().filter(|p| p.kind == Kind::Falls).map(|p| p.value).collect();
    assert!(falls.windows(2).all(|w| w[0] <= w[1]) && falls.iter().all(|v| *v < -0.01));
}

#[test]
fn all_groups_share_one_list_and_enter_opens_the_group() {
    let walk = |action: &str| vec![("s".to_owned(), action.to_owned())];
    let (ok, bad) = (Outcome::Success, Outcome::Failure);
    // One state, two ways, 1 of 1 against 0 of 3: comparisons 1 - 1/4 = .75 and 0 - 1/4 = -.25.
    let other = group(
        "other",
        &[
            ("a", bad, walk("x")),
            ("b", bad, walk("x")),
            ("c", bad, walk("x")),
            ("d", ok, walk("y")),
        ],
    );
    let mut model = opened(Corpus { groups: vec![eight(), other] }, (100, 30));
    press(&mut model, "r");
    press(&mut model, "Space");
    let shown = picture(&model);
    line(&shown, &["r Worth reading  all 2 groups"]);
    line(&shown, &["▸ 1 astr", "−0.800"]);
    line(&shown, &["2 other", "d", "t0 y", "+0.750", "1/1", "0/3"]);
    press(&mut model, "j");
    line(&picture(&model), &["Enter opens the group of this step"]);
    press(&mut model, "Enter");
    assert_eq!((model.group, model.focus), (1, Pane::Steps));
    assert_eq!(model.shown_group().unwrap().rollouts[model.cursor.rollout].id, "d");
}

#[test]
fn a_group_that_ended_alike_says_why_there_is_nothing_to_read() {
    let walk = || vec![("s".to_owned(), "x".to_owned())];
    let alike = group("alike", &[("a", Outcome::Success, walk()), ("b", Outcome::Success, walk())]);
    let mut model = opened(Corpus { groups: vec![alike] }, (80, 24));
    press(&mut model, "r");
    line(&picture(&model), &["every scored rollout of this group ended alike"]);
}

#[test]
fn a_segment_is_divided_from_the_one_before() {
    let Some(mut model) = case("07-segments-of-one-rollout/input.jsonl", (80, 24)) else { return };
    let r0 = model.shown_group().unwrap().find("r0").unwrap();
    assert_eq!(
        model.step_lines(r0),
        [
            StepLine::Step { t: 0, run: 0, folded: false },
            StepLine::Step { t: 1, run: 0, folded: false },
            StepLine::Segment(2, 3),
            StepLine::Step { t: 2, run: 0, folded: false },
            StepLine::Segment(3, 3),
            StepLine::Step { t: 3, run: 0, folded: false },
        ]
    );
    while model.cursor.rollout != r0 {
        press(&mut model, "]");
    }
    press(&mut model, "2");
    press(&mut model, "g");
    let shown = picture(&model);
    let rows: Vec<&str> = shown.lines().collect();
    let at = |text: &str| rows.iter().position(|l| l.contains(text)).unwrap();
    assert!(
        at("1◆ view io.py") < at("╌╌ segment 2 of 3") && at("╌╌ segment 2 of 3") < at("2  edit")
    );
    assert!(at("2  edit") < at("╌╌ segment 3 of 3") && at("╌╌ segment 3 of 3") < at("3  pytest"));
    // A divider is no step: the cursor goes over it.
    press(&mut model, "j");
    press(&mut model, "j");
    assert_eq!(model.cursor.step, 2);
}

#[test]
fn a_run_of_equal_steps_is_one_line_that_opens() {
    let Some(mut model) = case("10-truncated-tail/input.json", (80, 24)) else { return };
    let r2 = model.shown_group().unwrap().find("r2").unwrap();
    while model.cursor.rollout != r2 {
        press(&mut model, "]");
    }
    press(&mut model, "2");
    press(&mut model, "g");
    line(&picture(&model), &["1◆ invalid ×6 loop ▸"]);
    press(&mut model, "j");
    press(&mut model, "j");
    assert_eq!(model.cursor.step, 1, "the run is the last line");
    press(&mut model, "l");
    for step in 2..=6 {
        press(&mut model, "j");
        assert_eq!(model.cursor.step, step, "each step of the run is reached");
    }
    let shown = picture(&model);
    line(&shown, &["×6 loop ▾"]);
    line(&shown, &["▸ 6↺ invalid"]);
    press(&mut model, "h");
    assert_eq!(model.cursor.step, 1);
    assert!(!picture(&model).contains("6↺ invalid"));
    // A jump into a folded run opens it where it lands.
    model.cursor.step = 4;
    assert!(picture(&model).contains("▸ 4↺ invalid"));
}

#[test]
fn control_characters_are_left_out_or_shown() {
    let step = RawStep {
        tool: Some("execute_bash".to_owned()),
        args: RawArgs::Object(serde_json::Map::new()),
        observation: Some("\u{1b}[31mred\u{1b}[0m\nprog 10%\rprog 100%\nnul\u{0}\ta".to_owned()),
        ..RawStep::default()
    };
    let lines = |controls| {
        let document = Document::with(&step, controls);
        let result = document.sections.iter().find(|s| s.name == "result").unwrap().lines.clone();
        result.into_iter().map(|(_, l)| l).collect::<Vec<_>>()
    };
    assert_eq!(lines(false), ["red", "prog 100%", "nul\\x00 a"]);
    assert_eq!(lines(true), ["^[[31mred^[[0m", "prog 10%\\rprog 100%", "nul\\x00 a"]);
}

#[test]
fn the_case_of_control_characters_stays_clean_on_screen_either_way() {
    let Some(mut model) = case("24-control-chars-and-ansi/input.json", (80, 24)) else { return };
    for name in ["i", "C", "Esc", "6", "a", "r", "|"] {
        press(&mut model, name);
        let shown = picture(&model);
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!shown.chars().any(bad), "{name}: {shown:?}");
    }
    // The key asks for the text again, and an answer of the other kind is not taken.
    let mut model = started((80, 24));
    press(&mut model, "i");
    let effects = update(&mut model, Msg::Key(tui_support::key("C")));
    let [Effect::Read { of, controls: true, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let late = std::sync::Arc::new(Document::default());
    update(&mut model, Msg::Read(*of, Ok(late)));
    assert!(picture(&model).contains("reading the file"));
}

#[test]
fn wide_glyphs_move_no_column() {
    let Some(mut model) = case("25-wide-glyph-columns/input.json", (60, 24)) else { return };
    press(&mut model, "6");
    let shown = picture(&model);
    let width = credscope::export::text::width;
    // The place of the outcome, which stands left of all numbers, in cells.
    let places: Vec<usize> = shown
        .lines()
        .skip(2)
        .filter_map(|l| l.find(['✓', '✗']).and_then(|at| l.get(..at)).map(width))
        .collect();
    assert!(places.len() >= 8, "{shown}");
    assert!(places.iter().take(8).all(|p| *p == places[0]), "{places:?}\n{shown}");
    assert!(!shown.contains('\u{202e}') && shown.lines().all(|l| width(l) == 60), "{shown}");
    press(&mut model, "2");
    let mut visits = Vec::new();
    for _ in 0..8 {
        let shown = picture(&model);
        let row = shown.lines().find(|l| l.starts_with('▸')).unwrap();
        // The visits stand in one column, whatever the label is made of.
        let at = row.find("8/8").and_then(|at| row.get(..at)).map(width);
        visits.push(at.unwrap_or_else(|| panic!("{shown}")));
        assert!(shown.lines().all(|l| width(l) == 60), "{shown}");
        press(&mut model, "]");
    }
    assert!(visits.iter().all(|v| *v == visits[0]), "{visits:?}");
    assert!(model.snapshot().unwrap().analysis.action_label(0).contains("文件 名.py"));
}

#[test]
fn names_of_calls_get_the_room_of_a_constant_column() {
    let walk = |first: &str, second: &str| {
        vec![("s".to_owned(), first.to_owned()), ("t".to_owned(), second.to_owned())]
    };
    let (ok, bad) = (Outcome::Success, Outcome::Failure);
    let calls = group(
        "calls",
        &[
            ("a", ok, walk("search_direct_flights(day=\"2024-05-01\")", "respond")),
            ("b", bad, walk("update_reservation_flights(id=1)", "respond")),
        ],
    );
    let mut model = opened(Corpus { groups: vec![calls] }, (120, 40));
    let shown = picture(&model);
    // Two rollouts with R 1 and 0: mean .5, deviation .7071, so +.71 and -.71 (less the epsilon).
    line(&shown, &["2 Steps  a", "GRPO +0.71"]);
    line(&shown, &["search_direct_flights(", "1 1 ·", "▸ 0◆ search_direct_flights", "1/2"]);
    press(&mut model, "]");
    let shown = picture(&model);
    line(&shown, &["2 Steps  b", "GRPO −0.71"]);
    line(&shown, &["update_reservation_flights(", "· 1", "1/2"]);
    line(&shown, &["▸ 0  update_reservation_flights", "1/2"]);
}

#[test]
fn a_value_of_nothing_still_shows_its_evidence() {
    let walk = |action: &str| vec![("s".to_owned(), action.to_owned())];
    let bad = Outcome::Failure;
    let none = group("none", &[("a", bad, walk("x")), ("b", bad, walk("y"))]);
    let mut none = std::sync::Arc::unwrap_or_clone(none);
    none.steps.step_reward = vec![Some(0.0); 2];
    let model = opened(Corpus { groups: vec![std::sync::Arc::new(none)] }, (80, 24));
    // Both failed: every value is 0, and the state was left in two ways.
    line(&picture(&model), &["▸ 0", "1/2", "█", "0.000 ··"]);
}

#[test]
fn plain_text_divides_segments_too_and_data_does_not() {
    let root = std::env::var_os("CREDSCOPE_CASES")
        .map_or_else(|| PathBuf::from("../shared/cases"), PathBuf::from);
    let path = root.join("07-segments-of-one-rollout/input.jsonl");
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set CREDSCOPE_CASES", path.display());
        return;
    }
    let made = |format: &str| {
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_credscope"))
            .args(["steps", "--no-stamp", "--format", format])
            .arg(&path)
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .output()
            .unwrap();
        String::from_utf8(made.stdout).unwrap()
    };
    let text = made("text");
    // The first panel: a narrow page repeats the rows with further columns.
    let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("r0")).take(6).collect();
    let starts = |at: usize| rows[at].contains("-- segment");
    assert_eq!(
        (0..rows.len()).map(starts).collect::<Vec<_>>(),
        [false, false, true, false, true, false]
    );
    assert!(!made("csv").contains("segment 2"));
}
