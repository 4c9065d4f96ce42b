//! Every number on the screen is one that the command line prints for the same settings.
//!
//! The panes are read off the drawn buffer by the columns of their headers, row for row, through all
//! groups, rollouts and rows. What is read is blanked; a digit that is left over must be one of a few
//! kinds: part of a name or of an action's label, a key, or the number of a state.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;
mod common;
mod tui_scrape;
mod tui_support;

use std::path::{Path, PathBuf};

use credscope::analysis::AnalysisSettings;
use credscope::signature::Granularity;
use credscope::tui::layout::Pane;
use credscope::tui::model::Model;
use credscope::tui::update::{Msg, begin, update};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tui_scrape::reading::Reading;
use tui_scrape::said::Said;
use tui_scrape::{Line, fits};
use tui_support::press;

/// Goes through all groups, rollouts and rows at a size.
fn walk(path: &Path, settings: &AnalysisSettings, said: &Said, size: (u16, u16)) -> usize {
    let (corpus, _) = tui_support::loaded(path);
    let groups = corpus.groups.len();
    let mut model = Model::new(corpus, Vec::new(), settings.clone(), tui_support::PLAIN, None);
    let effects = begin(&mut model);
    tui_support::settle(&mut model, effects);
    let effects = update(&mut model, Msg::Resize(size.0, size.1));
    tui_support::settle(&mut model, effects);
    let mut read = 0;
    for _ in 0..groups {
        press(&mut model, "1");
        for lens in ["paths", "opened paths", "states"] {
            match lens {
                "paths" => {}
                "opened paths" => drop(press(&mut model, "x")),
                _ => drop(press(&mut model, "t")),
            }
            press(&mut model, "g");
            loop {
                read += Reading::new(&model, said).all();
                let before = model.cursor;
                press(&mut model, "PgDn");
                if model.cursor == before {
                    break;
                }
            }
        }
        press(&mut model, "t");
        press(&mut model, "2");
        let rollouts = model.shown_group().unwrap().rollouts.len();
        for _ in 0..rollouts {
            press(&mut model, "[");
        }
        for i in 0..rollouts {
            // Of many groups every third rollout has to do at the larger sizes: 80x24 has them all.
            if groups > 1 && size.0 > 80 && i % 3 != 0 {
                press(&mut model, "]");
                continue;
            }
            press(&mut model, "g");
            loop {
                read += Reading::new(&model, said).all();
                let before = model.cursor;
                press(&mut model, "PgDn");
                if model.cursor == before {
                    break;
                }
            }
            press(&mut model, "]");
        }
        press(&mut model, "4");
        read += Reading::new(&model, said).all();
        press(&mut model, "}");
    }
    press(&mut model, "a");
    press(&mut model, "g");
    for _ in 0..=groups {
        read += Reading::new(&model, said).all();
        press(&mut model, "j");
    }
    read
}

/// A group so large that counts need their room: what stands there without a key, the tree, the list.
#[test]
fn numbers_of_a_large_group() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, common::generate::coding(64, 160)).unwrap();
    let said = Said::of(&path, &[], &AnalysisSettings::default());
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut model = tui_support::opened(tui_support::loaded(&path).0, size);
        let mut read = 0;
        for keys in [&["1", "g"][..], &["PgDn"], &["G"], &["4"], &["2", "G"], &["a"]] {
            for name in keys {
                press(&mut model, name);
            }
            read += Reading::new(&model, &said).all();
        }
        println!("{read} numbers at {size:?}");
        assert!(read > 100, "{read}");
    }
}

fn compare(path: &Path) {
    let said = Said::of(path, &[], &AnalysisSettings::default());
    for size in [(80, 24), (120, 40), (200, 60)] {
        let read = walk(path, &AnalysisSettings::default(), &said, size);
        println!("{}: {read} numbers at {size:?}", path.display());
        assert!(read > 1_000, "{read}");
    }
}

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data").join(name)
}

#[test]
fn numbers_of_the_scripted_agents() {
    compare(&shipped("slugify-fix/rollouts.jsonl"));
}

#[test]
fn numbers_of_the_desk() {
    compare(&shipped("airline-desk/results.json"));
}

#[test]
fn numbers_of_a_real_group() {
    if let Some(path) = tui_scrape::real(tui_support::R2E) {
        compare(&path);
    }
}

#[test]
fn numbers_of_real_groups() {
    if let Some(path) = tui_scrape::real("tau-bench/gpt-4o-airline.subset-a.json") {
        compare(&path);
    }
}

/// Other settings give other numbers, on both sides.
#[test]
fn numbers_under_other_settings() {
    let path = shipped("slugify-fix/rollouts.jsonl");
    let mut settings = AnalysisSettings {
        granularity: Granularity::preset("coarse").unwrap(),
        tau: (0.05, 0.05),
        ..AnalysisSettings::default()
    };
    settings.credit.gamma = 0.9;
    settings.credit.n_prior = 0.5;
    let flags = ["--preset", "coarse", "--tau", "0.05", "--gamma", "0.9", "--n-prior", "0.5"];
    let said = Said::of(&path, &flags, &settings);
    assert!(walk(&path, &settings, &said, (120, 40)) > 1_000);
}

/// Presses keys one after another and reads the screen after each of them.
fn follow(model: &mut Model, said: &Said, keys: &str) -> usize {
    let mut read = 0;
    for key in keys.split_whitespace() {
        press(model, key);
        let reading = Reading::new(model, said);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading.all()));
        let Ok(n) = result else {
            panic!("{key} of {keys:?} at {:?}:\n{}", model.area, tui_support::picture(model));
        };
        read += n;
    }
    read
}

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn settled(path: &Path, said: &Said, size: (u16, u16)) -> Model {
    tui_support::opened_with(tui_support::loaded(path).0, said.settings.clone(), size)
}

const EXPLAIN: &str = "= j j ] j ] = j ] ] ]";
const MATRIX: &str = "7 l l j l G h j";
const COMPARE: &str = "| j j l j d d j l j f j";
const RANKED: &str = "r j j j PgDn PgDn PgDn";
const SWEEP: &str = "w j j G l j l l l";
const CHOOSERS: &str = "f Space j c PgDn PgDn Esc c j j j j j j j PgDn Esc W j j";

const TREE: &str = "1 Enter S S Z Z S Z S S Z S t Z S j j";

fn views(path: &Path) {
    let said = Said::of(path, &[], &AnalysisSettings::default());
    let many = said.groups.len() > 1;
    for size in SIZES {
        let mut total = 0;
        for keys in [EXPLAIN, MATRIX, COMPARE, RANKED, SWEEP, CHOOSERS, TREE] {
            let mut model = settled(path, &said, size);
            let mut read = follow(&mut model, &said, keys);
            if many && size == SIZES[1] {
                read += follow(&mut model, &said, "Esc Esc }");
                read += follow(&mut model, &said, keys);
            }
            println!("{keys}: {read} numbers at {size:?}");
            total += read;
        }
        assert!(total > 1_000, "{total}");
    }
}

#[test]
fn views_of_the_scripted_agents() {
    views(&shipped("slugify-fix/rollouts.jsonl"));
}

#[test]
fn views_of_the_desk() {
    views(&shipped("airline-desk/results.json"));
}

#[test]
fn views_of_a_real_group() {
    if let Some(path) = tui_scrape::real(tui_support::R2E) {
        views(&path);
    }
}

#[test]
fn views_of_real_groups() {
    if let Some(path) = tui_scrape::real("tau-bench/gpt-4o-airline.subset-a.json") {
        views(&path);
    }
}

/// Lists over all groups, and searches.
#[test]
fn views_over_all_groups() {
    let path = shipped("airline-desk/results.json");
    let said = Said::of(&path, &[], &AnalysisSettings::default());
    for size in SIZES {
        let mut model = settled(&path, &said, size);
        let mut read = follow(&mut model, &said, "r Space j j PgDn PgDn PgDn Enter Esc");
        read += follow(&mut model, &said, "w l Space j l l");
        let mut model = settled(&path, &said, size);
        follow(&mut model, &said, "/");
        for key in "respond".chars() {
            press(&mut model, &key.to_string());
        }
        read += follow(&mut model, &said, "Enter n n N");
        println!("{read} numbers at {size:?}");
        assert!(read > 500, "{read}");
    }
}

/// Other columns explain themselves by other sums; the matrix has no evidence for some.
#[test]
fn views_of_other_columns() {
    let path = shipped("slugify-fix/rollouts.jsonl");
    for y in ["grpo", "grpo-step", "gigpo"] {
        let columns = ["grpo", "grpo-step", "rtmc", "gigpo", "dr-grpo"];
        let spec = |name: &&str| credscope::credit::ColumnSpec::new(name).unwrap();
        let settings = AnalysisSettings {
            columns: columns.iter().map(spec).collect(),
            y: y.to_owned(),
            ..AnalysisSettings::default()
        };
        let said = Said::of(&path, &["--y", y, "--columns", &columns.join(",")], &settings);
        for size in SIZES {
            let mut read = 0;
            for keys in ["= j ] = j", "7 l j", "| d l", "r j PgDn", "w l", "c"] {
                read += follow(&mut settled(&path, &said, size), &said, keys);
            }
            println!("{y}: {read} numbers at {size:?}");
            assert!(read > 1_000, "{read}");
        }
    }
}

/// What a turned signature changes against the pinned one.
#[test]
fn views_against_a_pin() {
    let path = shipped("slugify-fix/rollouts.jsonl");
    let pin = Said::of(&path, &[], &AnalysisSettings::default());
    for (keys, knobs) in
        [("v j h", "view-bucket"), ("v j j j h h", "edit-identity"), ("v j j j j j j h h", "test")]
    {
        let mut model = settled(&path, &pin, (80, 24));
        for key in keys.split_whitespace() {
            press(&mut model, key);
        }
        let settings = model.settings.clone();
        let turned = format!("CREDSCOPE_KNOB={knobs}={}", settings.granularity.get(knobs));
        let said = Said::of(&path, &[&turned], &settings);
        for size in SIZES {
            let mut model = settled(&path, &pin, size);
            for key in keys.split_whitespace() {
                press(&mut model, key);
            }
            let mut read = 0;
            for key in ["7", "j", "v", "w", "=", "r", "|"] {
                press(&mut model, key);
                read += Reading { pin: Some(&pin), ..Reading::new(&model, &said) }.all();
            }
            println!("{turned}: {read} numbers at {size:?}");
            assert!(read > 500, "{read}");
            // Pinned where it stands, nothing differs.
            press(&mut model, "v");
            press(&mut model, "b");
            read += Reading::new(&model, &said).all();
            assert!(read > 500, "{read}");
        }
    }
}

thread_local! {
    /// A failure that is looked for says nothing.
    static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether a reading fails.
fn fails(reading: &Reading, picture: &Buffer) -> bool {
    QUIET.set(true);
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading.every(picture)));
    QUIET.set(false);
    read.is_err()
}

/// Where the text of the file itself stands: in the reader below its head, and the call below the sums.
fn texts(model: &Model, picture: &Buffer) -> Vec<Rect> {
    let find = |pane| model.plan().find(pane).filter(|_| model.layers.is_empty());
    let below = |area: Rect, y: u16| Rect { y, height: area.bottom() - y, ..area };
    let reader = find(Pane::Reader).map(|area| below(area, area.y + 1));
    let call = find(Pane::Explain).and_then(|area| {
        let lines = tui_scrape::lines(picture, area);
        let at = lines.iter().position(|l| l.text().starts_with(" call "))?;
        Some(below(area, area.y + at as u16))
    });
    reader.into_iter().chain(call).collect()
}

/// Of every number on the screen one digit is another one: the reading of its pane fails.
#[test]
fn a_wrong_digit_is_noticed_in_every_pane() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !QUIET.get() {
            before(info);
        }
    }));
    let path = shipped("slugify-fix/rollouts.jsonl");
    let said = Said::of(&path, &[], &AnalysisSettings::default());
    let mut unnoticed = Vec::new();
    for (size, every) in [(SIZES[0], 2), (SIZES[1], 5), (SIZES[2], 9)] {
        for keys in
            ["", "= j", "7 l", "v j", "|", "r j", "w", "a", "f", "c", "W", "t", "/ f i n Enter n"]
        {
            let mut model = settled(&path, &said, size);
            for key in keys.split_whitespace() {
                press(&mut model, key);
            }
            let picture = tui_scrape::draw(&model);
            let text = texts(&model, &picture);
            let (mut tried, mut seen) = (0, 0);
            for y in 0..size.1 {
                let area = Rect { x: 0, y, width: size.0, height: 1 };
                let line = Line::of(&picture, area);
                for (_, end, word) in line.numerals() {
                    let x = end as u16 - 1 - u16::from(word.ends_with('%'));
                    let place = Position::new(x, y);
                    seen += 1;
                    if seen % every != 0 || text.iter().any(|area| area.contains(place)) {
                        continue;
                    }
                    let digit: u32 = picture[(x, y)].symbol().parse().unwrap();
                    let mut wrong = picture.clone();
                    wrong[(x, y)].set_symbol(&((digit + 5) % 10).to_string());
                    tried += 1;
                    if !fails(
                        &Reading { place: Some(place), ..Reading::new(&model, &said) },
                        &wrong,
                    ) {
                        unnoticed.push(format!("{keys} {size:?} {x},{y} {word}: {line:?}"));
                    }
                }
            }
            assert!(tried > 0, "{keys}: {tried}");
        }
    }
    assert!(unnoticed.is_empty(), "{}\n{}", unnoticed.len(), unnoticed.join("\n"));
}

#[test]
fn a_wrong_number_is_noticed() {
    let row = Line::from("   12  +0.307  15%");
    assert_eq!(row.clone().at(5, 12.0), 1);
    assert_eq!(row.clone().at(13, 0.3072), 1);
    assert!(std::panic::catch_unwind(|| row.clone().at(13, 0.3079)).is_err());
    assert!(std::panic::catch_unwind(|| row.clone().done(&[])).is_err());
    assert!(fits("modify:3859@…able.py", "modify:replace:3859@separable.py"));
    assert!(!fits("modify:3858@…able.py", "modify:replace:3859@separable.py"));
}
