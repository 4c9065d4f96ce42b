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
        assert_eq!(analysis.y_column().cells().count(), analysis.group.len());
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
            model.filtering.filter.toggle(facet.clone());
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
    let facet = failure.0.clone();
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

/// By hand: two steps of `a.py` fail, one works and one was stopped; one names no file at all.
fn with_results() -> credscope::rollout::Corpus {
    use credscope::rollout::{Corpus, StepFacts, StepResult};
    let walk = |n: usize| (0..n).map(|t| (format!("s{t}"), format!("act{t}"))).collect();
    let group = tui_support::group(
        "results",
        &[("r1", Outcome::Success, walk(3)), ("r2", Outcome::Failure, walk(2))],
    );
    let mut group = Arc::try_unwrap(group).unwrap();
    let (a, b) = (group.symbols.intern("pkg/a.py"), group.symbols.intern("pkg/b.py"));
    group.steps.facts.targets = vec![a, a, b, a, a];
    // The second action names both files, the fourth the same one twice.
    let made = [
        (StepResult::Error, 0, 1),
        (StepResult::Error, 1, 2),
        (StepResult::Ok, 0, 0),
        (StepResult::Timeout, 3, 2),
        (StepResult::Unknown, 0, 0),
    ];
    let with = |(mut step, (result, start, len)): (StepFacts, (StepResult, u32, u32))| {
        step.action.result = result;
        (step.action.targets.start, step.action.targets.len) = (start, len);
        step
    };
    let facts = &mut group.steps.facts;
    facts.steps = facts.steps.iter().zip(made).map(with).collect();
    Corpus { groups: vec![Arc::new(group)] }
}

#[test]
fn steps_are_chosen_by_their_result_and_their_file() {
    let mut model = tui_support::opened(with_results(), (80, 24));
    press(&mut model, "f");
    let of = |model: &Model, kind: &str| -> Vec<(String, usize)> {
        let facets = model.filtering.facets.iter().filter(|(f, _)| f.kind() == kind);
        facets.map(|(f, n)| (f.name(), *n)).collect()
    };
    let named = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
        list.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
    };
    let results = [("ok", 1), ("error", 2), ("unknown", 1), ("timeout", 1)];
    assert_eq!(of(&model, "result"), named(&results));
    assert_eq!(of(&model, "file"), named(&[("pkg/a.py", 3), ("pkg/b.py", 1)]));
    line(&picture(&model), &["file", "[ ] pkg/a.py", " 3"]);
    // Errors alone: of these two steps both work on a.py, one on b.py too.
    let error = model.filtering.facets.iter().position(|(f, _)| f.name() == "error").unwrap();
    for _ in 0..error {
        press(&mut model, "j");
    }
    press(&mut model, "Space");
    assert_eq!(of(&model, "file"), named(&[("pkg/a.py", 2), ("pkg/b.py", 1)]));
    // Another result widens: its count stays what it was.
    assert_eq!(of(&model, "result"), named(&results));
    press(&mut model, "G");
    press(&mut model, "Space");
    line(&picture(&model), &["1 of 5 steps  error, pkg/b.py"]);
    let passing: Vec<usize> = (0..5).filter(|&s| model.passes(s)).collect();
    assert_eq!(passing, [1]);
}

#[test]
fn the_files_of_most_steps_are_listed_and_the_rest_is_counted() {
    use credscope::rollout::{Corpus, StepFacts};
    // File k is named by k + 1 steps.
    let walk = |n: usize| (0..n).map(|t| (format!("s{t}"), format!("act{t}"))).collect();
    let group = tui_support::group("files", &[("r1", Outcome::Success, walk(15 * 16 / 2))]);
    let mut group = Arc::try_unwrap(group).unwrap();
    let files: Vec<_> = (0..15).map(|k| group.symbols.intern(&format!("f{k:02}.py"))).collect();
    group.steps.facts.targets = files;
    let which = (0..15_u32).flat_map(|k| std::iter::repeat_n(k, k as usize + 1));
    let with = |(mut step, start): (StepFacts, u32)| {
        (step.action.targets.start, step.action.targets.len) = (start, 1);
        step
    };
    let facts = &mut group.steps.facts;
    facts.steps = facts.steps.iter().zip(which).map(with).collect();
    let mut model = tui_support::opened(Corpus { groups: vec![Arc::new(group)] }, (80, 24));
    press(&mut model, "f");
    let shown = picture(&model);
    line(&shown, &["file", "[ ] f14.py", " 15"]);
    line(&shown, &["… 3 more: Space"]);
    assert!(shown.contains("f03.py") && !shown.contains("f02.py"), "{shown}");
    press(&mut model, "G");
    press(&mut model, "Space");
    let shown = picture(&model);
    assert!(shown.contains("f02.py") && shown.contains("f00.py"), "{shown}");
    assert!(!shown.contains(" more"), "{shown}");
}

#[test]
fn the_list_of_groups_is_searched_by_task() {
    let walk = |n: usize| (0..n).map(|t| (format!("s{t}"), format!("act{t}"))).collect();
    let one = |task: &str, n: usize| {
        let made = [("r1", Outcome::Success, walk(n)), ("r2", Outcome::Failure, walk(1))];
        tui_support::group(task, &made)
    };
    let groups = vec![one("edit-1", 5), one("fix-2", 6), one("Edit-3", 7), one("re-edit", 8)];
    let corpus = credscope::rollout::Corpus { groups };
    let mut model = tui_support::opened(corpus, (80, 24));
    press(&mut model, "}");
    press(&mut model, "a");
    let search = |model: &mut Model, text: &str| {
        press(model, "/");
        type_in(model, text);
        press(model, "Enter");
    };
    // Letter case counts only where the pattern has a capital letter.
    search(&mut model, "^X");
    line(&picture(&model), &["a Groups  0 of 4 groups  /^X"]);
    line(&picture(&model), &["no task that is listed has it: Esc ends the search"]);
    press(&mut model, "Esc");
    assert_eq!(model.group_order(), [0, 1, 2, 3]);
    assert_eq!(model.focus, Pane::Groups, "Esc ended the search and closed nothing");
    search(&mut model, "^edit");
    assert_eq!(model.group_order(), [0, 2]);
    assert_eq!(model.groups.at, 0, "the selected row is one of those listed");
    line(&picture(&model), &["2 of 4 groups  /^edit"]);
    // 5 + 1 and 7 + 1 steps.
    line(&picture(&model), &["Σ listed", " 14 "]);
    search(&mut model, "Edit");
    assert_eq!(model.group_order(), [2]);
    search(&mut model, "[");
    assert!(model.message.as_ref().unwrap().contains("not a pattern"));
    press(&mut model, "Esc");
    press(&mut model, "Esc");
    assert_eq!(model.group_order(), [0, 1, 2, 3]);
    press(&mut model, "Esc");
    assert_ne!(model.focus, Pane::Groups);
}

#[test]
fn an_empty_pane_names_only_a_way_that_leads_somewhere() {
    let walk = |n: usize| (0..n).map(|t| (format!("s{t}"), format!("act{t}"))).collect();
    let one = |task: &str, n: usize| tui_support::group(task, &[("r1", Outcome::Success, walk(n))]);
    let corpus = |groups| credscope::rollout::Corpus { groups };
    let of = |groups, keys: &[&str]| {
        let mut model = tui_support::opened(corpus(groups), (80, 24));
        for name in keys {
            press(&mut model, name);
        }
        picture(&model)
    };
    // A group alone: nothing is left to go to.
    line(&of(vec![one("a", 2)], &["|"]), &["this group has one rollout: | goes back"]);
    let shown = of(vec![one("a", 0)], &["7"]);
    line(&shown, &["no rollout of this group has steps: W lists what the load says"]);
    let shown = of(vec![one("a", 0)], &["2", "Enter"]);
    line(&shown, &["this rollout has no steps: W lists"]);
    // With steps in the next group, or in the one before.
    let shown = of(vec![one("a", 0), one("b", 1)], &["7"]);
    line(&shown, &["has steps: } goes to the next group"]);
    let shown = of(vec![one("a", 1), one("b", 0)], &["}", "7"]);
    line(&shown, &["has steps: { goes to the previous group"]);
    let two = tui_support::group(
        "two",
        &[("r1", Outcome::Failure, walk(0)), ("r2", Outcome::Success, walk(1))],
    );
    let shown = of(vec![Arc::clone(&two)], &["2", "Enter", "[", "["]);
    line(&shown, &["this rollout has no steps: ] goes to the next rollout"]);
}
