//! Turning the signature with the matrix in view.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::export::{Format, Writing, steps, writer};
use credscope::signature::{Granularity, LADDERS};
use credscope::tui::update::{Effect, Msg, update};
use tui_support::{Driver, HeldBack, PLAIN, R2E, key, line, opened, picture, press, real, started};

fn sample() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data/slugify-fix/rollouts.jsonl")
}

/// The steps of an analysis as the command line writes them.
fn rows(analysis: &Analysis) -> String {
    let mut out = Vec::new();
    let mut writer = writer::writer(Format::Csv, &mut out, Writing::default());
    writer.begin(&steps::columns(&analysis.settings)).unwrap();
    writer.chunk(&steps::table(analysis, None)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    String::from_utf8(out).unwrap()
}

#[test]
fn thirty_fast_turns_leave_one_analysis_equal_to_the_command_lines() {
    let (corpus, texts) = tui_support::loaded(&sample());
    let analyst = Arc::new(HeldBack::default());
    let driver = Driver::reading(corpus, (120, 40), analyst.clone(), PLAIN, texts);
    analyst.allow(1);
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    driver.press("v");
    // To the knob of edits, then thirty turns that end two values coarser, while nothing is computed.
    for _ in 0..3 {
        driver.press("j");
    }
    for _ in 0..14 {
        driver.press("h");
        driver.press("l");
    }
    driver.press("h");
    driver.press("h");
    driver.wait("the knob", |p| p.contains("◂ kind ▸") && p.contains("computing"));
    analyst.allow(50);
    let shown = driver.wait("the numbers", |p| !p.contains("computing") && p.contains("pin  now"));
    assert!(shown.contains("▸*edit-identity"), "{shown}");
    // The first of them was taken at once; of the others only the last is made.
    assert!(analyst.done.load(Ordering::SeqCst) <= 3);
    driver.quit("q");

    let mut granularity = Granularity::paper();
    granularity.set("edit-identity", "kind").unwrap();
    let group = tui_support::loaded(&sample()).0.groups[0].clone();
    let settings = AnalysisSettings { granularity, ..AnalysisSettings::default() };
    let here = rows(&Analysis::new(group, &settings));
    let there = Command::new(env!("CARGO_BIN_EXE_credscope"))
        .args(["steps", "--format", "csv", "--no-stamp", "--knob", "edit-identity=kind"])
        .arg(sample())
        .env_remove("CREDSCOPE_CONFIG")
        .output()
        .unwrap();
    assert!(there.status.success());
    assert_eq!(here, String::from_utf8(there.stdout).unwrap());
}

#[test]
fn every_turn_of_every_knob_keeps_the_step_and_undo_comes_back() {
    let (corpus, _) = tui_support::loaded(&sample());
    let mut model = opened(corpus, (120, 40));
    press(&mut model, "j");
    let (place, before) = (model.cursor, model.settings.clone());
    press(&mut model, "v");
    let mut turns = 0;
    for ladder in LADDERS {
        press(&mut model, "j");
        for name in std::iter::repeat_n("h", ladder.values.len())
            .chain(std::iter::repeat_n("l", ladder.values.len()))
        {
            let settings = model.settings.clone();
            press(&mut model, name);
            turns += usize::from(settings != model.settings);
            assert_eq!(model.cursor, place, "{}", ladder.knob);
            let shown = &model.snapshot().unwrap().analysis;
            assert_eq!(shown.settings, model.settings);
        }
    }
    assert_eq!(model.turning.undo.len(), turns.min(200));
    for _ in 0..turns {
        press(&mut model, "u");
    }
    assert_eq!(model.settings.granularity, before.granularity);
    press(&mut model, "u");
    assert!(picture(&model).contains("nothing was turned yet"));
}

#[test]
fn the_pin_is_what_changes_count_against() {
    let mut model = started((80, 24));
    press(&mut model, "v");
    let contrast = model.contrast().unwrap();
    assert_eq!(contrast.counts(), (0, 0));
    assert_eq!(contrast.before, contrast.after);
    // An abstraction by step number: everything meets.
    press(&mut model, "l");
    press(&mut model, "G");
    press(&mut model, "g");
    assert!(model.settings.abstraction.is_some());
    assert!(picture(&model).contains("▸*abstraction"));
    press(&mut model, "b");
    assert!(!picture(&model).contains("▸*abstraction"));
    assert_eq!(model.contrast().unwrap().counts(), (0, 0));
}

#[test]
fn an_old_comparison_is_dropped() {
    let mut model = started((80, 24));
    let effects = update(&mut model, Msg::Key(key("v")));
    let [Effect::Contrast { key: old, now, pin, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let late = Arc::new(credscope::analysis::Contrast::new(&now.analysis, pin, None));
    let newer = update(&mut model, Msg::Key(key("p")));
    tui_support::settle(&mut model, newer);
    let shown = model.turning.contrast.as_ref().unwrap().0;
    update(&mut model, Msg::Contrasted(*old, late));
    assert_eq!(model.turning.contrast.as_ref().unwrap().0, shown);
    assert!(model.contrast().is_some());
}

#[test]
fn the_real_file_shows_the_numbers_of_the_mock() {
    let Some((corpus, _)) = real(R2E) else { return };
    let mut model = opened(corpus, (120, 40));
    for name in ["v", "p", "p"] {
        press(&mut model, name);
    }
    let shown = picture(&model);
    line(&shown, &["now coarse  pinned paper"]);
    line(&shown, &["states       18    6  −12"]);
    line(&shown, &["shared      56%  71%  +15"]);
    line(&shown, &["branching     3    2   −1"]);
    line(&shown, &["mean N(s)  2.22 6.00 +3.8"]);
    line(&shown, &["impure        3    3    ·"]);
    line(&shown, &["revisits      5   14   +9"]);
    line(&shown, &["sign flips         7"]);
    line(&shown, &["skill      +.14  .00 −.14"]);
    line(&shown, &["  null     −.02  .00 +.02"]);
    line(&shown, &["faded to 0         8"]);
    line(&shown, &["both+       28  18 −10"]);
    line(&shown, &["inside       ·   8  +8"]);
    // Every flip is marked, and the row "N≥2" counts rollouts.
    line(&shown, &["opencode-3    ✓ █+.20 █−.10!▒ .00 █+.46 ∷+.19"]);
    line(&shown, &["opencode-0    ✓ █+.20 █−.10!▒ .00 █−.18!", "2"]);
    line(&shown, &["N≥2               8     8     8     5     ·"]);
    assert!(!shown.contains("−.00"));
}

#[test]
fn the_matrix_shrinks_its_cells_and_follows_the_cursor() {
    let Some((corpus, _)) = real(R2E) else { return };
    let mut model = opened(corpus, (80, 24));
    press(&mut model, "7");
    line(&picture(&model), &["▸opencode-1    ✗[█+]▒+ █− ═−"]);
    press(&mut model, "l");
    press(&mut model, "l");
    line(&picture(&model), &["▸opencode-1    ✗ █+ ▒+[█−]═−"]);
    press(&mut model, "j");
    assert_eq!(model.cursor.step, 2);
    press(&mut model, "m");
    // A column that looks at no states shows the size instead of the evidence.
    let shown = picture(&model);
    line(&shown, &["sign and size 0..9"]);
    line(&shown, &["▸opencode-2    ✓ +9 +9[+9]+9"]);
}

/// The rows of `credscope sweep` as texts, by the names of its columns.
fn swept(paths: &[&std::path::Path], args: &[&str]) -> Vec<serde_json::Value> {
    let made = Command::new(env!("CARGO_BIN_EXE_credscope"))
        .args(["sweep", "--format", "jsonl", "--no-stamp", "--raw"])
        .args(args)
        .args(paths)
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("CREDSCOPE_CONFIG")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = String::from_utf8(made.stdout).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn a_sweep_shows_the_numbers_of_the_command() {
    let path = sample();
    let (corpus, _) = tui_support::loaded(&path);
    let several = corpus.groups.len() > 1;
    let mut model = opened(corpus, (200, 60));
    press(&mut model, "v");
    press(&mut model, "w");
    press(&mut model, "Space");
    let n = credscope::tui::sweeping::axes().len();
    for _ in 0..n {
        let axis = credscope::tui::sweeping::axes()[model.sweeping.axis];
        let made = model.sweeping.picture.clone().unwrap();
        assert_eq!(made.progress.0, made.progress.1);
        let points: Vec<(String, String)> =
            made.points.iter().map(|(p, _)| p.at[0].clone()).collect();
        let there = if axis == credscope::tui::sweeping::Axis::Coarsest {
            let one = |(knob, value): &(String, String)| {
                swept(&[&path], &["--knob", &format!("{knob}={value}")]).remove(0)
            };
            points.iter().map(one).collect()
        } else if axis == credscope::tui::sweeping::Axis::Abstraction {
            // The command takes it as an option: rows of separate runs, each the one in force.
            let think = model.settings.granularity.get("think");
            let knob = format!("think={think}");
            let one = |(_, kind): &(String, String)| {
                swept(&[&path], &["--abstraction", kind, "--knob", &knob]).remove(0)
            };
            points.iter().map(one).collect()
        } else {
            let values: Vec<&str> = points.iter().map(|(_, v)| v.as_str()).collect();
            let knob = format!("{}={}", axis.name(), values.join(","));
            swept(&[&path], &["--knob", &knob])
        };
        assert_eq!(there.len(), made.rows.len(), "{axis:?}");
        for ((there, row), (point, _)) in there.iter().zip(&made.rows).zip(&made.points) {
            let row = row.as_ref().unwrap();
            let whole = |name: &str| there[name].as_u64().unwrap();
            let apart = axis == credscope::tui::sweeping::Axis::Abstraction;
            if !apart {
                assert_eq!(there["current"], point.current, "{point:?}");
                assert_eq!(whole("flips"), row.flips, "{point:?}");
                assert_eq!(whole("faded"), row.faded, "{point:?}");
            }
            assert_eq!(whole("states"), row.states as u64, "{point:?}");
            assert_eq!(whole("shared_steps"), row.shared_steps, "{point:?}");
            assert_eq!(whole("compared_steps"), row.evidence[0], "{point:?}");
            assert_eq!(whole("branching_states"), row.branching as u64, "{point:?}");
            assert_eq!(whole("rescued"), row.tally.rescued, "{point:?}");
            assert_eq!(whole("penalized"), row.tally.penalized, "{point:?}");
            assert_eq!(there["skill"].as_f64(), row.skill.steps.skill(), "{point:?}");
        }
        press(&mut model, "l");
    }
    assert_eq!(model.sweeping.all, several || model.sweeping.all);
}

#[test]
fn a_row_of_the_sweep_is_what_is_drawn_and_enter_takes_it() {
    let Some((corpus, _)) = real(R2E) else { return };
    let mut model = opened(corpus, (120, 40));
    let place = model.cursor;
    for name in ["v", "j", "w"] {
        press(&mut model, name);
    }
    let shown = picture(&model);
    line(&shown, &["w Sweep  view-bucket  this group"]);
    // 23 of the 41 steps stand at shared states: 56 %; 16 are compared: 39 %.
    line(&shown, &["▸*100", "18", "3", "56%", "39%", "2"]);
    press(&mut model, "g");
    press(&mut model, "Enter");
    assert_eq!(model.settings.granularity.get("view-bucket"), "off");
    assert_eq!(model.cursor, place, "turning keeps the step");
    line(&picture(&model), &["▸*off", "16", "2"]);
    // A number is turned, told, and taken back like a knob.
    while model.sweeping.axis + 3 < credscope::tui::sweeping::axes().len() {
        press(&mut model, "l");
    }
    line(&picture(&model), &["w Sweep  gamma"]);
    press(&mut model, "G");
    press(&mut model, "Enter");
    assert!((model.settings.credit.gamma - 1.0).abs() < 1e-12);
    press(&mut model, "u");
    assert!((model.settings.credit.gamma - 0.99).abs() < 1e-12);
    press(&mut model, "u");
    assert_eq!(model.settings.granularity, Granularity::paper());
}

#[test]
fn a_turn_that_changes_nothing_says_so_and_an_undo_names_the_knob() {
    let Some((corpus, _)) = real("tau-bench/gpt-4o-airline.subset-a.json") else { return };
    let mut model = opened(corpus, (80, 24));
    for name in ["v", "j", "h"] {
        press(&mut model, name);
    }
    // Calls of tools have no views of files.
    let told = model.message.clone().unwrap_or_default();
    assert_eq!(told, "view-bucket 500 changes nothing here: tools states stay");
    press(&mut model, "u");
    let told = model.message.clone().unwrap_or_default();
    assert!(told.starts_with("back to view-bucket 100"), "{told}");
    press(&mut model, "w");
    line(&picture(&model), &["none of these changes a state or an action here"]);
}

/// The file of the sample under the paper's granularity has 18 states.
#[test]
fn the_knob_that_merges_the_most_stands_first_and_is_named() {
    let Some((corpus, _)) = real(R2E) else { return };
    let mut model = opened(corpus, (80, 24));
    press(&mut model, "w");
    let made = model.sweeping.picture.clone().unwrap();
    let states: Vec<usize> = made.rows.iter().map(|r| r.as_ref().unwrap().states).collect();
    assert!(states.is_sorted(), "{states:?}");
    assert_eq!(model.sweeping.at, 0);
    let top = made.points[0].0.at[0].clone();
    let shown = picture(&model);
    let first = format!("{}={}", top.0, top.1);
    let merged = 18 - states[0];
    line(&shown, &["knob", "states", "merged"]);
    line(&shown, &[&format!("▸ {first}"), &states[0].to_string(), &merged.to_string()]);
    line(&shown, &[&format!("{first} merges the most: {} states for 18", states[0])]);
    line(&shown, &["6 others change nothing"]);
    // What a state is made of has a picture of its own, next to it; its rows keep their order.
    press(&mut model, "l");
    line(&picture(&model), &["w Sweep  abstraction"]);
    let kinds: Vec<String> = {
        let made = model.sweeping.picture.as_ref().unwrap();
        made.points.iter().map(|(p, _)| p.at[0].1.clone()).collect()
    };
    assert_eq!(kinds[..2], ["auto", "swe"]);
    let history = kinds.iter().position(|k| k == "history").unwrap();
    for _ in 0..history {
        press(&mut model, "j");
    }
    press(&mut model, "Enter");
    assert_eq!(model.settings.abstraction, Some(credscope::signature::Abstraction::History));
    press(&mut model, "u");
    assert_eq!(model.settings.abstraction, None);
}

#[test]
fn a_sweep_nobody_looks_at_is_given_up_and_an_old_one_is_dropped() {
    let mut model = started((120, 40));
    let effects = update(&mut model, Msg::Key(key("w")));
    let [.., Effect::Sweep(job)] = effects.as_slice() else { panic!("{effects:?}") };
    let effects = update(&mut model, Msg::Key(key("Esc")));
    assert!(
        effects.iter().any(|e| matches!(e, Effect::StopSweep(k) if *k > job.key)),
        "{effects:?}"
    );
    let late = credscope::tui::sweeping::Part { done: 1, row: None };
    update(&mut model, Msg::Swept(job.key, late));
    assert!(model.sweeping.picture.is_none());
    // Between two analyses it stops when it is told to.
    let mut told = 0;
    credscope::tui::sweeping::run(job, |_| {
        told += 1;
        false
    });
    assert_eq!(told, 1);
}
