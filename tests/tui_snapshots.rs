//! The screen on the sample, cell for cell with its styles, at three sizes in five looks; and what a look
//! without colours or without Unicode may not lose.
//!
//! A snapshot is the text of the screen, then one letter per cell for its style, then what the letters
//! mean. `CREDSCOPE_BLESS=1 cargo test --test tui_snapshots` writes them anew: look at each change.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use credscope::analysis::AnalysisSettings;
use credscope::tui::model::{Look, Model};
use credscope::tui::text::{Document, TextSource};
use credscope::tui::theme::Theme;
use credscope::tui::update::{Msg, begin, update};
use credscope::tui::{Depth, ThemeId, panes};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use tui_support::press;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

const LOOKS: [(&str, Look); 5] = [
    ("default", Look { theme: ThemeId::Default, depth: Depth::Ansi16, ascii: false }),
    ("paper", Look { theme: ThemeId::Paper, depth: Depth::Ansi16, ascii: false }),
    ("light", Look { theme: ThemeId::Light, depth: Depth::Ansi16, ascii: false }),
    ("mono", Look { theme: ThemeId::Mono, depth: Depth::None, ascii: false }),
    ("ascii", Look { theme: ThemeId::Default, depth: Depth::Ansi16, ascii: true }),
];

/// The sample, opened, with the text of the selected step read.
fn sample(size: (u16, u16), keys: &[&str]) -> Model {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data/slugify-fix/rollouts.jsonl");
    let (corpus, texts) = tui_support::loaded(&path);
    let settings = AnalysisSettings::default();
    let mut model = Model::new(corpus, Vec::new(), settings, tui_support::PLAIN, None);
    let effects = begin(&mut model);
    tui_support::settle(&mut model, effects);
    let effects = update(&mut model, Msg::Resize(size.0, size.1));
    tui_support::settle(&mut model, effects);
    for key in keys {
        press(&mut model, key);
    }
    if let (Some(of), Some(group)) = (model.reader.of, model.shown_group().map(Arc::clone)) {
        let raw = TextSource::step_text(&*texts, &group, of.1, of.2).unwrap();
        update(&mut model, Msg::Read(of, Ok(Arc::new(Document::new(&raw)))));
    }
    model
}

fn drawn(model: &mut Model, look: Look) -> Buffer {
    model.look = look;
    let mut buffer = Buffer::empty(model.area);
    panes::draw(model, model.area, &mut buffer);
    buffer
}

/// The style of a cell in words; nothing for a plain one.
fn style(cell: &Cell) -> String {
    let mut words = Vec::new();
    for (name, color) in [("", cell.fg), ("on ", cell.bg)] {
        if color != Color::Reset {
            words.push(format!("{name}{color:?}"));
        }
    }
    if !cell.modifier.is_empty() {
        words.push(format!("{:?}", cell.modifier).replace("Modifier(", "").replace(')', ""));
    }
    words.join(" ")
}

/// The text, the styles, the legend.
fn snapshot(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let names: BTreeSet<String> =
        buffer.content.iter().map(style).filter(|s| !s.is_empty()).collect();
    let letters: BTreeMap<&str, char> =
        names.iter().map(String::as_str).zip(('a'..='z').chain('A'..='Z')).collect();
    let (mut text, mut styles) = (String::new(), String::new());
    for line in buffer.content.chunks(width) {
        let symbols: String = line.iter().map(Cell::symbol).collect();
        let marks: String =
            line.iter().map(|c| letters.get(style(c).as_str()).unwrap_or(&'.')).collect();
        // The end is marked: blanks at the end of a line are cells, too.
        let _ = writeln!(text, "{symbols}|");
        let _ = writeln!(styles, "{}", marks.trim_end_matches('.'));
    }
    let mut out = format!("{text}\n{styles}\n");
    for (name, letter) in letters {
        let _ = writeln!(out, "{letter} = {name}");
    }
    out
}

#[test]
fn the_sample_looks_as_it_did() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let bless = std::env::var_os("CREDSCOPE_BLESS").is_some();
    let mut changed = Vec::new();
    for size in SIZES {
        let mut model = sample(size, &[]);
        for (name, look) in LOOKS {
            let now = snapshot(&drawn(&mut model, look));
            let path = folder.join(format!("{}x{}-{name}.txt", size.0, size.1));
            if bless {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&path, &now).unwrap();
                continue;
            }
            let was = std::fs::read_to_string(&path).unwrap_or_default();
            if was != now {
                let first = was.lines().zip(now.lines()).position(|(a, b)| a != b);
                let line = first.unwrap_or(0);
                changed.push(format!(
                    "{}: line {}\n  was {}\n  now {}",
                    path.display(),
                    line + 1,
                    was.lines().nth(line).unwrap_or("(nothing)"),
                    now.lines().nth(line).unwrap_or("(nothing)")
                ));
            }
        }
    }
    assert!(changed.is_empty(), "CREDSCOPE_BLESS=1 writes these anew:\n{}", changed.join("\n"));
}

/// Screens that between them show every pane and layer.
const STATES: &[&[&str]] = &[
    &[],
    &["1", "x"],
    &["1", "t"],
    &["6", "Enter"],
    &["="],
    &["i", "Enter"],
    &["7"],
    &["v", "p", "p"],
    &["|"],
    &["a"],
    &["w"],
    &["r"],
    &["?"],
    &["W"],
    &["c"],
    &["f"],
    &[":"],
    &["]", "]", "4"],
];

const COLOURED: Look = Look { theme: ThemeId::Default, depth: Depth::True, ascii: false };
const MONO: Look = LOOKS[3].1;

/// A run of cells of one colour in a row: where, its text, and the glyphs beside it.
struct Run {
    positive: bool,
    text: String,
    place: (usize, usize),
    beside: (String, String),
}

/// Runs of cells in the colours of success and failure, plus and minus.
fn runs(coloured: &Buffer, plain: &Buffer, theme: &Theme) -> Vec<Run> {
    let width = usize::from(coloured.area.width);
    let role = |cell: &Cell| match Some(cell.fg) {
        _ if cell.symbol() == " " => None,
        fg if fg == theme.pos.fg => Some(true),
        fg if fg == theme.neg.fg => Some(false),
        _ => None,
    };
    let mut runs = Vec::new();
    for (y, (line, shown)) in
        coloured.content.chunks(width).zip(plain.content.chunks(width)).enumerate()
    {
        let mut x = 0;
        while x < width {
            let Some(positive) = role(&line[x]) else {
                x += 1;
                continue;
            };
            // Words with one blank between them are one run: a place, then its value.
            let goes_on = |e: usize| {
                let own = |x: usize| line.get(x).is_some_and(|c| role(c) == Some(positive));
                own(e) || line[e].symbol() == " " && own(e - 1) && own(e + 1)
            };
            let end = (x + 1..width).find(|&e| !goes_on(e)).unwrap_or(width);
            let symbol = |x: usize| shown.get(x).map_or("", Cell::symbol).to_owned();
            runs.push(Run {
                positive,
                text: shown[x..end].iter().map(Cell::symbol).collect(),
                place: (x, y),
                beside: (x.checked_sub(1).map_or(String::new(), symbol), symbol(end)),
            });
            x = end;
        }
    }
    runs
}

/// What colour tells of a sign or an outcome, glyphs tell, too: no text stands for both, unless its place
/// beside an axis or in a column tells which.
#[test]
fn no_sign_and_no_outcome_hangs_on_a_colour() {
    let theme = COLOURED.styles();
    let axis = |glyph: &str| matches!(glyph, "│" | "█" | "▒" | "∷" | "═" | "·");
    for size in SIZES {
        for keys in STATES {
            let mut model = sample(size, keys);
            let (coloured, plain) = (drawn(&mut model, COLOURED), drawn(&mut model, MONO));
            let mut told: BTreeMap<String, (bool, (usize, usize))> = BTreeMap::new();
            let runs = runs(&coloured, &plain, &theme);
            for (i, run) in runs.iter().enumerate() {
                let bare = run.text.trim();
                let counts =
                    bare.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '%' | '·'));
                let bar = bare
                    .chars()
                    .all(|c| matches!(c, '█' | '▌' | '▐' | '▒' | '∷' | '═' | '━' | '╸' | '╺'));
                let key = if counts {
                    // Counts and shares: the column tells.
                    format!("{bare} that ends at {}", run.place.0 + run.text.chars().count())
                } else if bar {
                    let (left, right) = (axis(&run.beside.0), axis(&run.beside.1));
                    // The class of a number that follows, which has a sign.
                    let next = runs.get(i + 1).filter(|n| n.place.1 == run.place.1);
                    let sign =
                        next.and_then(|n| n.text.chars().next()).filter(|c| "+−".contains(*c));
                    let sign = sign.filter(|_| !left && !right && bare.chars().count() == 1);
                    format!("bar {bare} axis {left} {right} {sign:?}")
                } else {
                    bare.to_owned()
                };
                let first = *told.entry(key.clone()).or_insert((run.positive, run.place));
                assert_eq!(
                    first.0, run.positive,
                    "{key:?} at {:?} and at {:?} differ by colour alone: {keys:?} at {size:?}",
                    first.1, run.place
                );
            }
        }
    }
}

/// The digits of a row, as they stand together, each with the sign before it. Where a name is cut, ASCII
/// may take one more of its letters: a word that is cut is a name.
fn numbers(row: &[Cell]) -> Vec<String> {
    let signs: Vec<char> = row
        .iter()
        .map(|cell| cell.symbol().chars().next().unwrap_or(' '))
        .map(|c| if c == '−' { '-' } else { c })
        .collect();
    let at = |x: usize| signs.get(x).copied().unwrap_or(' ');
    let before = |x: usize, back: usize| x.checked_sub(back).map_or(' ', at);
    let mut found = Vec::new();
    let mut x = 0;
    while x < signs.len() {
        let end = (x..signs.len()).find(|&e| !at(e).is_ascii_digit()).unwrap_or(signs.len());
        if end == x {
            x += 1;
            continue;
        }
        let from = (0..x).rev().find(|&i| at(i) == ' ').map_or(0, |i| i + 1);
        let to = (end..signs.len()).find(|&i| at(i) == ' ').unwrap_or(signs.len());
        let word: String = signs[from..to].iter().collect();
        let cut = word.contains(['…', '$']) || word.contains("..");
        // A range is written with a sign of its own, or with two.
        let range = (before(x, 2), before(x, 1)) == ('+', '-');
        let sign = Some(before(x, 1)).filter(|s| matches!(s, '+' | '-') && !range);
        if !cut {
            found.push(sign.into_iter().chain(signs[x..end].iter().copied()).collect());
        }
        x = end;
    }
    found
}

/// Whether two looks say the same with a glyph: where there are no colours, evidence has its sign, too.
fn same_mark(coloured: &str, plain: &str) -> bool {
    let signed = match coloured {
        "█" => ["▲", "▼"],
        "▒" => ["△", "▽"],
        "∷" => ["+", "−"],
        "═" => ["'", "."],
        _ => return coloured == plain,
    };
    coloured == plain || signed.contains(&plain)
}

/// Without colours the same cells are drawn, glyph for glyph; in ASCII the same numbers in each row, and
/// as many marks: what differs is how they are drawn.
#[test]
fn the_same_is_told_in_every_look() {
    for size in SIZES {
        for keys in STATES {
            let mut model = sample(size, keys);
            let whole = drawn(&mut model, LOOKS[0].1);
            let width = usize::from(size.0);
            let mut told = 0;
            for (name, look) in &LOOKS[1..] {
                let other = drawn(&mut model, *look);
                let rows = whole.content.chunks(width).zip(other.content.chunks(width));
                for (y, (a, b)) in rows.enumerate() {
                    let text = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>();
                    let place = format!("{keys:?} {name} {size:?} row {y}");
                    if *name != "ascii" {
                        let alike = a.iter().zip(b).all(|(a, b)| same_mark(a.symbol(), b.symbol()));
                        assert!(alike, "{place}:\n{}\n{}", text(a), text(b));
                    }
                    assert_eq!(numbers(a), numbers(b), "{place}:\n{}\n{}", text(a), text(b));
                    told += numbers(a).len();
                    // Nothing that is drawn goes: what is cut, and at least two, may take a
                    // cell more. A rule with ranges has less room for its keys.
                    let marks =
                        |row: &[Cell]| row.iter().filter(|c| !c.symbol().trim().is_empty()).count();
                    let wide = text(a).matches(['…', '≥']).count();
                    let (was, now) = (marks(a), marks(b));
                    let fits = text(a).contains('±') || (was..=was + wide).contains(&now);
                    assert!(fits, "{place}: {was}, {now}\n{}\n{}", text(a), text(b));
                }
            }
            assert!(told > 0 || keys == &["?"] || keys == &[":"], "{keys:?} {size:?}");
        }
    }
}

/// Emphasis, weakness and the selection are attributes where there are no colours.
#[test]
fn emphasis_and_selection_survive_without_colours() {
    let theme = COLOURED.styles();
    for size in SIZES {
        for keys in STATES {
            let mut model = sample(size, keys);
            let (coloured, plain) = (drawn(&mut model, COLOURED), drawn(&mut model, MONO));
            let mut selected = 0;
            for (at, (a, b)) in coloured.content.iter().zip(&plain.content).enumerate() {
                let place = (at % usize::from(size.0), at / usize::from(size.0));
                assert_eq!((b.fg, b.bg), (Color::Reset, Color::Reset));
                if a.bg != Color::Reset {
                    selected += 1;
                    // A bar keeps its own look; the blanks around it are reversed with the row.
                    let bar = "█▌▐▒∷═━╸╺┄▲▼△▽+−'.·".contains(a.symbol());
                    assert!(
                        bar || b.modifier.contains(Modifier::REVERSED),
                        "{place:?} {a:?} {keys:?}"
                    );
                }
                if a.symbol() == " " {
                    continue;
                }
                let fg = Some(a.fg);
                if fg == theme.dim.fg {
                    assert!(b.modifier.contains(Modifier::DIM), "{place:?} {a:?} {b:?} {keys:?}");
                }
                if [theme.key.fg, theme.warn.fg, theme.focus.fg, theme.strong.fg].contains(&fg) {
                    assert!(b.modifier.contains(Modifier::BOLD), "{place:?} {a:?} {b:?} {keys:?}");
                }
            }
            let lists = matches!(keys, [] | ["1" | "6", _] | ["v", ..] | ["a" | "c" | "f"]);
            assert!(!lists || selected > 0, "something is selected: {keys:?}");
        }
    }
}

/// ASCII draws the same cells in the same styles, each glyph as one letter of its own; what is cut,
/// ranges and `at least` have two.
#[test]
fn ascii_keeps_every_glyph_apart() {
    let mut stand_ins: BTreeMap<String, String> = BTreeMap::new();
    for size in SIZES {
        for keys in STATES {
            let mut model = sample(size, keys);
            let unicode = drawn(&mut model, COLOURED);
            let ascii = drawn(&mut model, Look { ascii: true, ..COLOURED });
            let width = usize::from(size.0);
            let text = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>();
            let rows = unicode.content.chunks(width).zip(ascii.content.chunks(width));
            // A range has one sign more, so its line is another one.
            let (ranges, rows): (Vec<_>, Vec<_>) = rows.partition(|(a, _)| text(a).contains('±'));
            for (a, b) in ranges {
                assert_eq!(text(a).matches('±').count(), text(b).matches("+-").count());
            }
            let cells = rows.into_iter().flat_map(|(a, b)| {
                a.iter().zip(b).enumerate().map(move |(at, cells)| (a, at, cells))
            });
            for (row, at, (a, b)) in cells {
                assert_eq!((a.fg, a.bg, a.modifier), (b.fg, b.bg, b.modifier), "{a:?} {b:?}");
                assert!(b.symbol().is_ascii(), "{b:?}");
                // Where vertical lines meet rules there is nothing to tell.
                if a.symbol().is_ascii() || matches!(a.symbol(), "┬" | "┴" | "┼" | "┤" | "├")
                {
                    continue;
                }
                // A sign that multiplies is no dot of a number.
                if a.symbol() == "·" && b.symbol() == "*" {
                    continue;
                }
                // What is cut takes a cell beside it for its second dot; so does `>=`.
                let cut = [at.checked_sub(1), Some(at + 1)];
                let cut =
                    cut.iter().flatten().any(|&i| row.get(i).is_some_and(|c| c.symbol() == "…"));
                if a.symbol() == "…" || cut && b.symbol() == "." {
                    assert_eq!(b.symbol(), ".");
                    continue;
                }
                if a.symbol() == "≥" {
                    assert_eq!(b.symbol(), ">");
                    continue;
                }
                let known =
                    stand_ins.entry(a.symbol().to_owned()).or_insert_with(|| b.symbol().to_owned());
                assert_eq!(known, b.symbol(), "{} has two stand-ins", a.symbol());
                assert_ne!(known, "?", "{} has no stand-in", a.symbol());
            }
        }
    }
    let distinct: BTreeSet<&String> = stand_ins.values().collect();
    assert_eq!(distinct.len(), stand_ins.len(), "{stand_ins:?}");
    assert!(stand_ins.len() > 25, "the states show most glyphs: {stand_ins:?}");
}
