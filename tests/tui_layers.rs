//! What opens over the panes: columns, filter, search, palette; and the way back from a jump.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::sync::Arc;

use credscope::credit::registry;
use credscope::rollout::Outcome;
use credscope::tui::keymap::BINDINGS;
use credscope::tui::layout::Pane;
use credscope::tui::model::{Layer, Model};
use credscope::tui::palette;
use credscope::tui::update::{Effect, Msg, update};
use credscope::tui::worker::Library;
use tui_support::{Driver, PLAIN, R2E, corpus, key, line, picture, press, real, started};

/// Types a text, letter by letter.
fn type_in(model: &mut Model, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "Space".to_owned() } else { c.to_string() };
        press(model, &name);
    }
}

#[test]
fn any_registered_column_can_be_shown_and_become_an_axis() {
    let mut model = started((120, 40));
    press(&mut model, "c");
    press(&mut model, "g");
    for estimator in registry() {
        let id = estimator.meta().id;
        let shown = picture(&model);
        line(&shown, &["▸[", id]);
        line(&shown, &["source", estimator.meta().source.split(' ').next().unwrap()]);
        press(&mut model, "y");
        let analysis = &model.snapshot().unwrap().analysis;
        assert_eq!(analysis.settings.y, id);
        assert_eq!(analysis.y_column().cells.len(), analysis.group.len());
        press(&mut model, "j");
    }
    // A column that is an axis stays; another one goes.
    press(&mut model, "Space");
    assert!(model.message.as_ref().unwrap().contains("is Y and stays"));
    let n = model.settings.columns.len();
    press(&mut model, "k");
    press(&mut model, "Space");
    assert_eq!(model.settings.columns.len(), n - 1);
    press(&mut model, "x");
    assert_eq!(model.settings.columns.len(), n);
    press(&mut model, "Esc");
    assert!(model.layers.is_empty());
    line(&picture(&model), &["4 Quadrants  X "]);
}

#[test]
fn a_column_over_the_whole_load_gets_the_whole_load() {
    let mut model = started((120, 40));
    model.settings.y = "reinforce++".to_owned();
    let effects = update(&mut model, Msg::Key(key("c")));
    tui_support::settle(&mut model, effects);
    press(&mut model, "Space");
    press(&mut model, "y");
    let settings = &model.snapshot().unwrap().analysis.settings;
    let mut wanted = settings.clone();
    wanted.batch = None;
    assert_eq!(settings.batch, credscope::analysis::batch(&corpus(), &wanted));
    assert!(settings.batch.is_none() || settings.columns.iter().any(|c| c.name == "reinforce++"));
}

#[test]
fn the_palette_ranks_names_before_descriptions() {
    use credscope::tui::keymap::Action;
    let first = |query: &str| palette::entries(query)[0].2;
    assert_eq!(first("quadrants"), Action::Focus(Pane::Quadrants));
    assert_eq!(first("steps"), Action::Focus(Pane::Steps));
    assert_eq!(first("group"), Action::Groups);
    assert_eq!(first("exp"), Action::Explain);
    assert_eq!(palette::entries("exp")[1].2, Action::Export);
    assert_eq!(first("down"), Action::Down);
    // Without a query the order is that of the keys.
    assert_eq!(first(""), Action::NextPane);
}

#[test]
fn a_hit_is_shown_in_the_text_and_its_count_is_never_cut() {
    let Some((corpus, sources)) = real(R2E) else { return };
    let driver = Driver::reading(corpus, (80, 24), Arc::new(Library), PLAIN, sources);
    driver.wait("the steps", |p| p.contains("2 Steps"));
    driver.press("/");
    for c in "_calculate_separability_matrix".chars() {
        driver.press(&c.to_string());
    }
    driver.press("Enter");
    driver.wait("the count", |p| {
        p.contains(" hits  ") && !p.contains(" 0 hits") && p.contains("/_calculate")
    });
    driver.press("n");
    driver.press("i");
    let shown = driver.wait("the text", |p| p.contains("/ on ") && p.contains("i Step"));
    // The name is in sight, marked at the left.
    assert!(
        shown.lines().any(|l| l.starts_with('/') && l.contains("_calculate_separability_matrix")),
        "{shown}"
    );
    driver.quit("q");
}

#[test]
fn the_help_has_every_heading_once_and_cuts_nothing() {
    let mut model = started((80, 24));
    press(&mut model, "?");
    let mut all = String::new();
    for _ in 0..200 {
        all.push_str(&picture(&model));
        press(&mut model, "Down");
    }
    assert!(!all.contains('…'), "{}", all.lines().find(|l| l.contains('…')).unwrap());
    line(&all, &["PgDn PgUp Ctrl-f", "page down and up"]);
    for head in ["Panes", "Moving", "Tree", "Values", "Signature", "Lists", "Program"] {
        let heads = credscope::tui::panes::help::lines("");
        let is = |l: &&credscope::tui::panes::help::Line| {
            **l == credscope::tui::panes::help::Line::Head(head.to_owned())
        };
        assert_eq!(heads.iter().filter(is).count(), 1, "{head}");
    }
    // What the dense matrix draws is found.
    for glyph in ["▲", "△", "▽"] {
        assert!(credscope::tui::panes::help::lines(glyph).len() > 1, "{glyph}");
    }
}

#[test]
fn the_list_of_groups_is_sorted_by_what_it_shows() {
    // At 80 columns there is no column of skill; at 120 there is.
    for (width, skill) in [(80, false), (120, true)] {
        let mut model = started((width, 24));
        press(&mut model, "a");
        let mut orders = Vec::new();
        for _ in 0..12 {
            press(&mut model, "S");
            let name = model.groups.order.name();
            line(&picture(&model), &[&format!("sort {name}")]);
            orders.push(name);
        }
        assert_eq!(orders.contains(&"skill↓"), skill, "{orders:?}");
        assert!(orders.contains(&"task↑") && orders.contains(&"disagreeing↓"), "{orders:?}");
    }
}

#[test]
fn the_dense_matrix_says_what_its_glyphs_mean() {
    // One glyph a step; 150 steps do not even fit into the row: then the short form.
    let legends =
        [(60, "▲▼ compared △▽ shared +− self '. single"), (150, "▲compared △shared +self 'single")];
    for (steps, legend) in legends {
        let walk = |name: &str| {
            (0..steps).map(|i| (format!("{name}{i}"), format!("a{i}"))).collect::<Vec<_>>()
        };
        let group = tui_support::group(
            "long",
            &[("r1", Outcome::Success, walk("x")), ("r2", Outcome::Failure, walk("y"))],
        );
        let corpus = credscope::rollout::Corpus { groups: vec![group] };
        let mut model = tui_support::opened(corpus, (80, 24));
        press(&mut model, "v");
        line(&picture(&model), &["7 Matrix", legend]);
    }
}

#[test]
fn the_filter_keeps_to_the_steps_that_pass() {
    let mut model = started((80, 24));
    press(&mut model, "f");
    let rescued = model.filtering.facets.iter().position(|(f, _)| f.name() == "rescued").unwrap();
    let n = model.filtering.facets[rescued].1;
    assert_eq!(n, model.snapshot().unwrap().row.tally.rescued as usize);
    for _ in 0..rescued {
        press(&mut model, "j");
    }
    press(&mut model, "Space");
    line(&picture(&model), &[&format!("{n} of 41 steps  rescued")]);
    press(&mut model, "Esc");
    // The cursor stands on a step that passes, and every key keeps it among them.
    for name in ["j", "k", "G", "]", "[", "n", "d", "n"] {
        press(&mut model, name);
        assert!(model.passes(model.step().unwrap()), "{name}");
    }
    line(&picture(&model), &["2 Steps", "listed: rescued"]);
    press(&mut model, "f");
    press(&mut model, "c");
    press(&mut model, "Esc");
    assert!(!picture(&model).contains("listed"));
}

#[test]
fn kinds_of_the_filter_narrow_and_one_kind_widens() {
    let mut model = started((80, 24));
    press(&mut model, "f");
    let facets = model.filtering.facets.clone();
    for (facet, _) in &facets {
        if matches!(facet.name().as_str(), "success" | "both_pos" | "N≥2") {
            model.filtering.filter.toggle(*facet);
        }
    }
    press(&mut model, "g");
    let snapshot = Arc::clone(model.snapshot().unwrap());
    let analysis = &snapshot.analysis;
    for step in 0..analysis.group.len() {
        let rollout = &analysis.group.rollouts[analysis.graph.rollout_of(step)];
        let passes = rollout.outcome == Outcome::Success
            && analysis.bucket(step).name() == "both_pos"
            && analysis.step_row(step).state.rollouts >= 2;
        assert_eq!(model.passes(step), passes, "{step}");
    }
    assert_eq!(model.filtering.filter.name(), "success, both_pos, N≥2");
    // A second outcome widens: the counts say by how much.
    let failure = model.filtering.facets.iter().find(|(f, _)| f.name() == "failure").unwrap();
    let before = model.filtering.passes.iter().filter(|&&p| p).count();
    let more = failure.1;
    let facet = failure.0;
    model.filtering.filter.toggle(facet);
    press(&mut model, "g");
    let after = model.filtering.passes.iter().filter(|&&p| p).count();
    assert_eq!(after, before + more);
}

#[test]
fn a_search_finds_actions_and_its_hits_are_walked() {
    let mut model = started((80, 24));
    press(&mut model, "/");
    type_in(&mut model, "4A62|FINISH");
    press(&mut model, "Enter");
    // Capitals matter: nothing is found.
    assert_eq!(model.finding.hits.len(), 0);
    press(&mut model, "/");
    type_in(&mut model, "4a62@|finish");
    line(&picture(&model), &["/4a62@|finish"]);
    press(&mut model, "Enter");
    assert_eq!(model.finding.hits.len(), 8 + 1, "every finish, and one edit");
    line(&picture(&model), &["/4a62@|finish  9 hits"]);
    let start = model.cursor;
    for _ in 0..9 {
        press(&mut model, "n");
        assert!(model.finding.hits.contains(&model.step().unwrap()));
    }
    assert_eq!(model.cursor, start, "nine hits: back where it began");
    press(&mut model, "Esc");
    assert!(!model.finding.active());
    assert_eq!(model.focus, Pane::Steps, "only the search was closed");
}

#[test]
fn a_wrong_pattern_says_so_and_stays_to_be_mended() {
    let mut model = started((80, 24));
    press(&mut model, "/");
    type_in(&mut model, "a(");
    press(&mut model, "Enter");
    assert!(model.message.as_ref().unwrap().contains("not a pattern"));
    assert_eq!(model.layers.last(), Some(&Layer::Search { text: "a(".to_owned() }));
    press(&mut model, "Backspace");
    press(&mut model, "Enter");
    assert_eq!(model.finding.pattern, "a");
}

#[test]
fn texts_are_searched_while_the_screen_stays_live_and_unreadable_ones_are_counted() {
    let driver = Driver::with(corpus(), (120, 40), Arc::new(Library), PLAIN);
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("/");
    driver.keys.send(Msg::Paste("line 69999".to_owned())).unwrap();
    driver.wait("what was pasted", |p| p.contains("/line 69999"));
    driver.press("Enter");
    // All 41 steps but the three of the rollout that cannot be read.
    let shown = driver.wait("all hits", |p| p.contains("38 hits") && !p.contains("reading"));
    line(&shown, &["/line 69999  38 hits  1 rollout without text"]);
    driver.quit("q");
}

#[test]
fn a_newer_search_silences_the_older_one() {
    let mut model = started((80, 24));
    press(&mut model, "/");
    type_in(&mut model, "view");
    let effects = update(&mut model, Msg::Key(key("Enter")));
    let [Effect::Find { key: old, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    press(&mut model, "/");
    type_in(&mut model, "zzz");
    press(&mut model, "Enter");
    let late = credscope::tui::finding::Found { hits: vec![1, 2], read: 1, failed: false };
    update(&mut model, Msg::Found(*old, late));
    assert!(model.finding.hits.is_empty());
}

#[test]
fn real_texts_are_found() {
    let Some((corpus, texts)) = real(R2E) else { return };
    let driver = Driver::reading(corpus, (120, 40), Arc::new(Library), PLAIN, texts);
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("/");
    driver.keys.send(Msg::Paste("_cstack".to_owned())).unwrap();
    driver.press("Enter");
    let shown = driver.wait("all texts", |p| p.contains("hits") && !p.contains("reading"));
    assert!(!shown.contains("  0 hits"), "{shown}");
    driver.quit("q");
}

#[test]
fn jumps_are_walked_back_and_forward_over_groups() {
    let mut model = started((80, 24));
    let first = model.cursor;
    press(&mut model, "d");
    let second = model.cursor;
    press(&mut model, "}");
    assert_eq!(model.group, 1);
    press(&mut model, "<");
    assert_eq!((model.group, model.cursor), (0, second));
    press(&mut model, "Ctrl-o");
    assert_eq!(model.cursor, first);
    press(&mut model, "<");
    assert!(model.message.as_ref().unwrap().contains("first place"));
    press(&mut model, ">");
    assert_eq!(model.cursor, second);
    press(&mut model, ">");
    assert_eq!(model.group, 1);
}

#[test]
fn the_palette_finds_and_does() {
    let mut model = started((80, 24));
    press(&mut model, ":");
    type_in(&mut model, "theme");
    line(&picture(&model), &["▸T", "theme"]);
    let before = model.look.theme;
    press(&mut model, "Enter");
    assert_ne!(model.look.theme, before);
    assert!(model.layers.is_empty());
    // Every key of the table is in it, but its own.
    let listed: usize = palette::entries("").iter().map(|(k, ..)| k.split(' ').count()).sum();
    let keys: usize = BINDINGS.iter().map(|b| b.keys.len()).sum();
    assert_eq!(listed, keys - 1);
}

#[test]
fn pasted_text_fires_no_key() {
    let mut model = started((80, 24));
    let effects = update(&mut model, Msg::Paste("qqq\n".to_owned()));
    assert!(effects.is_empty() && model.layers.is_empty());
}
