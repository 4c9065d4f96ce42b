//! The screen as a person sees it, drawn into memory, at the sizes people have.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::sync::Arc;

use credscope::rollout::Corpus;
use credscope::tui::model::Look;
use credscope::tui::worker::Library;
use credscope::tui::{Depth, ThemeId};
use tui_support::{Driver, PLAIN, R2E, corpus, line, real};

#[test]
fn at_80x24_everything_stands_there_without_a_key() {
    let driver = Driver::start(corpus(), (80, 24));
    let picture = driver.wait("the tree", |p| p.contains("▾search:grep@."));
    // The selection starts at the first disagreement of the first rollout that has one.
    line(&picture, &["2 Steps  r2 ✗ R=0  4 steps"]);
    line(&picture, &["▸ 0  search:grep@.", "━━━│", "−+≠ comparison"]);
    line(&picture, &["paths  9 rows of at most 15"]);
    line(&picture, &[" ✓ 28  28 100%"]);
    line(&picture, &[" ✗ 13        ·  2  15%"]);
    line(
        &picture,
        &["r2 t0 +0.288 = comparison +0.300 prior 0.000 discount −0.023 shaping +0.011"],
    );
    assert!(picture.lines().last().unwrap().trim_end().ends_with("? help  q quit"), "{picture}");
    assert!(!picture.contains("−0.000"));
    assert_eq!(driver.quit("q"), 0);
}

#[test]
fn the_real_file_shows_the_numbers_of_the_mock() {
    let Some((corpus, texts)) = real(R2E) else { return };
    let driver = Driver::reading(corpus, (80, 24), Arc::new(Library), PLAIN, texts);
    let picture = driver.wait("the tree", |p| p.contains("▾search:grep@."));
    line(&picture, &["▾search:grep@.", "5 4 1 5/8  0.822  0.516 +0.307    │█▌    2"]);
    line(&picture, &["▸modify:…:3859@separable.py", "1 · 1 1/5  0.010  0.735 −0.725 ███│      2"]);
    line(
        &picture,
        &["2◆ modify:3859@separable.py", "1/5 ━━━│    ━━━│    ███│    −0.725 −−  comparison"],
    );
    line(&picture, &[" ✓ 28  28 100%", "8       6     9       5"]);
    line(
        &picture,
        &[" ✗ 13        ·  2  15%         · 11  85%      · │        8       1     ·       4"],
    );
    for key in ["j", "j"] {
        driver.press(key);
    }
    driver.wait("the sum", |p| {
        p.contains("t2 −0.725 = comparison −0.800 prior +0.086 discount +0.022 shaping −0.033")
            || p.contains("t2 −0.725 = comp −0.800 prior +0.086 disc +0.022 shape −0.033")
    });
    driver.press("=");
    let picture = driver.wait("the explanation", |p| p.contains("3 Explain"));
    line(&picture, &["A = Q(s,a) − V'(s) = 0.010 − 0.735 = −0.725"]);
    line(&picture, &["state  .:S|separable.py:Vf|(test_fail=0,test_pass=0,think=0)"]);
    line(&picture, &["V'(s)  = (5·0.829 + 2·0.500) / (5 + 2)", "= 0.735  prior 4/8, n 2"]);
    line(&picture, &["comparison    −0.800◂", "+0.031", "−0.050", "−0.819"]);
    line(&picture, &["= -0.7248287522891362"]);
    driver.wait("the call", |p| p.contains("call   file_editor str_replace separable.py"));
    driver.press("i");
    driver.wait("the thought", |p| p.contains("thought The bug is in the `_cstack` function"));
    driver.quit("q");
}

#[test]
fn large_screens_show_all_panes_and_no_text_is_cut_silently() {
    for (size, focus) in [((120, 40), "2 Steps"), ((200, 60), "2 Steps")] {
        let driver = Driver::start(corpus(), size);
        let picture = driver.wait("the text", |p| p.contains("result"));
        for title in ["1 Tree", "2 Steps", "3 Explain", "4 Quadrants", "6 Rollouts", "i Step"] {
            line(&picture, &[title]);
        }
        line(&picture, &["━", focus]);
        line(&picture, &["Σ", "41"]);
        line(&picture, &["█ compared"]);
        line(&picture, &["2 rescued"]);
        line(&picture, &["kB more"]);
        line(&picture, &["comparison", "outcome"].map(|_| "comparison"));
        driver.quit("q");
    }
}

#[test]
fn every_size_is_drawn_and_tiny_ones_say_what_they_need() {
    for (size, word) in [
        ((1, 1), "c"),
        ((12, 3), "credscope"),
        ((39, 24), "needs 40x10"),
        ((80, 9), "needs 40x10"),
        ((40, 10), "2 Steps"),
        ((79, 24), "2 Steps"),
        ((80, 14), "1 Tree"),
        ((100, 60), "3 Explain"),
        ((150, 30), "6 Rollouts"),
        ((300, 100), "i Step"),
    ] {
        let driver = Driver::start(corpus(), size);
        let picture = driver.wait(word, |p| p.contains(word));
        assert_eq!(picture.lines().count(), usize::from(size.1));
        driver.quit("q");
    }
}

#[test]
fn every_pane_says_something_and_names_a_key_when_it_is_empty() {
    let driver = Driver::start(corpus(), (80, 24));
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("}");
    driver.wait("the other group", |p| p.contains("odd"));
    driver.press("[");
    driver.press("[");
    driver.press("[");
    driver.press("2");
    driver.wait("steps", |p| p.contains("this rollout has no steps: ] goes to the next rollout"));
    driver.press("=");
    driver.wait("explain", |p| p.contains("no step is selected: ] goes to the next rollout"));
    driver.press("i");
    driver.wait("reader", |p| p.contains("i Step") && p.contains("no step is selected"));
    driver.press("]");
    let picture = driver.wait("text", |p| p.contains("thought"));
    assert!(!picture.contains('\u{1b}') && !picture.contains('\u{202e}'), "{picture}");
    driver.press("=");
    driver.wait("why there is no value", |p| p.contains("rtmc has no value here"));
    driver.quit("q");
}

#[test]
fn a_text_that_cannot_be_read_says_why() {
    let driver = Driver::start(corpus(), (80, 24));
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("]");
    driver.press("]");
    driver.press("i");
    driver.wait("the reason", |p| p.contains("trace.jsonl changed since it was loaded"));
    driver.quit("q");
}

#[test]
fn the_reader_scrolls_to_the_end_of_a_long_text() {
    let driver = Driver::start(corpus(), (80, 24));
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("i");
    driver.wait("the text", |p| p.contains("thought I think about step 0"));
    driver.press("G");
    let picture = driver.wait("the end", |p| p.contains("line 69999"));
    line(&picture, &["result", "line 69979"]);
    driver.press("y");
    driver.wait("the word", |p| p.contains("copied"));
    assert_eq!(driver.copied.lock().unwrap()[0].matches("line ").count(), 70_000);
    driver.quit("q");
}

#[test]
fn groups_are_listed_sorted_and_opened() {
    let driver = Driver::start(corpus(), (120, 40));
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("a");
    let picture = driver.wait("both rows", |p| p.contains("Σ") && p.contains("a Groups"));
    line(&picture, &["▸astropy-12907", ".50"]);
    driver.press("j");
    driver.press("Enter");
    driver.wait("the other group", |p| p.contains("2 Steps") && p.contains("3 of 4 scored"));
    driver.press("W");
    let picture = driver.wait("warnings", |p| p.contains("W Warnings"));
    line(&picture, &["1 of 4 rollouts have no verdict"]);
    driver.press("Esc");
    driver.wait("the panes", |p| p.contains("2 Steps"));
    driver.quit("q");
}

#[test]
fn both_lenses_hold_every_step_and_unfold() {
    let driver = Driver::start(corpus(), (80, 50));
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("1");
    driver.press("Space");
    driver.wait("folded", |p| p.contains("▸search:grep@."));
    driver.press("l");
    driver.wait("unfolded", |p| p.contains("▾search:grep@.") && p.contains("├▸modify"));
    driver.press("l");
    driver.wait("its steps", |p| p.contains("·view:full@separable.py"));
    driver.press("2");
    driver.press("h");
    driver.wait("where it folds", |p| p.contains("rows fold in the tree: 1 goes there"));
    driver.press("t");
    let picture = driver.wait("states", |p| p.contains("states, each once"));
    line(&picture, &["→end"]);
    driver.quit("q");
}

#[test]
fn ascii_mode_draws_nothing_else() {
    let look = Look { ascii: true, depth: Depth::None, theme: ThemeId::Mono };
    for size in [(80, 24), (120, 40)] {
        let driver = Driver::with(corpus(), size, Arc::new(Library), look);
        let picture = driver.wait("the tree", |p| p.contains("vsearch:grep@."));
        assert!(picture.is_ascii(), "{picture}");
        driver.press("?");
        assert!(driver.wait("keys", |p| p.contains("? Keys")).is_ascii());
        driver.press("Esc");
        driver.quit("q");
    }
}

#[test]
fn an_empty_corpus_says_so() {
    let driver = Driver::start(Corpus::default(), (80, 24));
    driver.wait("the reason", |p| p.contains("no group was loaded"));
    assert_eq!(driver.quit("q"), 0);
}

#[test]
fn every_glyph_of_every_pane_has_a_stand_in_and_the_rest_stays() {
    use credscope::tui::glyphs::STAND_INS;
    use tui_support::{opened, picture, press};
    let one = Corpus { groups: vec![tui_support::eight()] };
    let mut model = opened(one, (120, 40));
    let seams = ["┬", "┼", "┤", "├", "│", "┴"];
    for name in [
        "1", "2", "3", "4", "v", "6", "7", "i", "a", "r", "w", "|", "?", "Esc", "W", "Esc", ":",
        "Esc", "c",
    ] {
        press(&mut model, name);
        for _ in 0..2 {
            model.look.ascii = false;
            let unicode = picture(&model);
            model.look.ascii = true;
            let ascii = picture(&model);
            model.look.ascii = false;
            assert!(ascii.is_ascii());
            let (us, letters): (Vec<char>, Vec<char>) =
                (unicode.chars().collect(), ascii.chars().collect());
            // A range has two signs, so its line is another one.
            let line = |at: usize| us[..at].iter().filter(|c| **c == '\n').count();
            let ranges: Vec<bool> = unicode.lines().map(|l| l.contains('±')).collect();
            assert_eq!(unicode.matches('±').count(), ascii.matches("+-").count(), "{name}");
            for (at, (&u, &a)) in us.iter().zip(&letters).enumerate() {
                if ranges.get(line(at)) == Some(&true) {
                    continue;
                }
                // What is cut has two dots, and `>=` the room of a blank where there are two.
                let beside = [at.checked_sub(1), Some(at + 1)];
                let beside = |c: char| beside.iter().flatten().any(|&i| us.get(i) == Some(&c));
                if u == '…' || a == '.' && beside('…') {
                    assert_eq!(a, '.', "{name}");
                    continue;
                }
                let back = |n: usize| at.checked_sub(n).and_then(|i| us.get(i)) == Some(&'≥');
                if u == '≥' || back(1) || back(2) {
                    let letters: String = letters
                        [at - usize::from(back(1)) - 2 * usize::from(back(2))..]
                        .iter()
                        .take(3)
                        .collect();
                    assert!(letters == ">=2" || letters.starts_with(">1"), "{name}: {letters}");
                    continue;
                }
                if u.is_ascii() {
                    assert_eq!(u, a, "{name}");
                    continue;
                }
                let u = u.to_string();
                let plain = STAND_INS.iter().find(|(g, _)| *g == u).map(|(_, p)| *p);
                // A sign that multiplies is no dot of a number.
                if u == "·" && a == '*' {
                    continue;
                }
                let seam = seams.contains(&u.as_str()) && a == '|';
                assert!(seam || plain == Some(&a.to_string()), "{name}: {u} is drawn as {a}");
            }
            press(&mut model, "t");
        }
    }
}

#[test]
fn letters_are_typed_into_the_search_of_the_help() {
    let driver = Driver::start(corpus(), (80, 24));
    driver.wait("the tree", |p| p.contains("▾search:grep@."));
    driver.press("?");
    for key in ["q", "u", "i", "t"] {
        driver.press(key);
    }
    let shown = driver.wait("the search", |p| p.contains("search: quit"));
    line(&shown, &["q", "leave"]);
    for _ in 0..4 {
        driver.press("Backspace");
    }
    for key in ["k", "n", "o", "b"] {
        driver.press(key);
    }
    driver.wait("the other search", |p| p.contains("search: knob"));
    driver.press("Esc");
    driver.wait("the panes", |p| p.contains("2 Steps"));
    assert_eq!(driver.quit("q"), 0);
}
