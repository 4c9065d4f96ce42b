//! Text from data that wants to do more than be read: escapes, controls, wide and combining glyphs. On
//! the screen, in the raw stream of a terminal, in reports and in exports.
#![cfg(all(feature = "tui", unix))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;
mod tui_support;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use credscope::export::text;
use credscope::tui::model::{Look, Model};
use credscope::tui::text::{Document, TextSource};
use credscope::tui::update::{Effect, Msg, update};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Value;
use tui_support::{key, opened, press};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

fn input(number: &str) -> Option<PathBuf> {
    cli_common::case(number).map(|c| c.join("input.json"))
}

fn buffer(model: &Model) -> Buffer {
    let mut buffer = Buffer::empty(model.area);
    credscope::tui::panes::draw(model, model.area, &mut buffer);
    buffer
}

/// A row of the buffer as it is seen: the second cell of a wide glyph is none of its own.
fn row(buffer: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let symbol = buffer[(x, y)].symbol();
        out.push_str(symbol);
        x += (text::width(symbol) as u16).max(1);
    }
    out
}

fn rows(buffer: &Buffer) -> Vec<String> {
    (0..buffer.area.height).map(|y| row(buffer, y)).collect()
}

/// Nothing in a text makes a terminal do anything.
fn assert_clean(what: &str, text: &str) {
    for c in text.chars() {
        let tricks = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!tricks && (!c.is_control() || c == '\n'), "{what} has {c:?}");
    }
}

/// Opens the reader with the real text.
fn read(model: &mut Model, source: &dyn TextSource) {
    let mut effects = update(model, Msg::Key(key("i")));
    effects.extend(update(model, Msg::Key(key("Enter"))));
    for effect in effects {
        if let Effect::Read { of, group, controls } = effect {
            let raw = source.step_text(&group, of.1, of.2).unwrap();
            update(model, Msg::Read(of, Ok(Arc::new(Document::with(&raw, controls)))));
        }
    }
}

const PANES: [&str; 14] = ["1", "2", "4", "6", "=", "7", "v", "w", "r", "a", "|", "W", "?", "i"];

/// Whether a row has one of the program's own glyphs; `±` is in the name of a rollout, too.
fn draws(row: &str) -> bool {
    let own = |c: char| {
        matches!(c, '\u{2500}'..='\u{259f}' | '…' | '≥')
            || credscope::tui::glyphs::STAND_INS.iter().any(|(glyph, _)| glyph.contains(c))
    };
    row.chars().any(own)
}

#[test]
fn no_pane_draws_a_control_character() {
    for number in ["24", "25"] {
        let Some(path) = input(number) else { return };
        for size in [(80, 24), (120, 40), (200, 60), (60, 20), (40, 10)] {
            for ascii in [false, true] {
                let mut model = opened(tui_support::loaded(&path).0, size);
                model.look = Look { ascii, ..tui_support::PLAIN };
                for pane in PANES {
                    press(&mut model, "Esc");
                    press(&mut model, pane);
                    let buffer = buffer(&model);
                    for (y, line) in rows(&buffer).iter().enumerate() {
                        assert_clean(&format!("case {number}, {pane} at {size:?}, row {y}"), line);
                        // Borders stay whole: every row is as wide as the screen.
                        assert_eq!(
                            text::width(line),
                            usize::from(size.0),
                            "{pane} {size:?}: {line:?}"
                        );
                        assert!(!ascii || !draws(line), "{pane}: {line}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_reader_strips_what_is_no_text_and_a_key_shows_it() {
    let Some(path) = input("24") else { return };
    let (corpus, source) = tui_support::loaded(&path);
    let mut model = opened(corpus, (80, 40));
    read(&mut model, &*source);
    let shown = rows(&buffer(&model)).join("\n");
    for part in ["cleared", "red plain", "prog 100%", "nul"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    for part in ["prog 10%", "prog 55%", "[2J", "[31m", "pwned", "1049"] {
        assert!(!shown.contains(part), "{part}:\n{shown}");
    }
    // Tabs go to stops of eight, counted from the beginning of the text.
    let line = shown.lines().find(|l| l.contains("here") && l.contains("tab")).unwrap();
    let text = &line[line.find("nul").unwrap()..];
    let (before, after) = (text.find("here").unwrap() + 4, text.find("tab").unwrap());
    assert!(after > before && after % 8 == 0, "{text:?}");
    // The key that shows control characters in visible forms.
    let effects = update(&mut model, Msg::Key(key("C")));
    for effect in effects {
        if let Effect::Read { of, group, controls } = effect {
            let raw = TextSource::step_text(&*source, &group, of.1, of.2).unwrap();
            update(&mut model, Msg::Read(of, Ok(Arc::new(Document::with(&raw, controls)))));
        }
    }
    let shown = rows(&buffer(&model)).join("\n");
    assert_clean("visible forms", &shown);
    for part in ["^[[2J", "^[]0;pwned title", "\\x00", "prog 10%", "prog 55%", "^[[31mred"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
}

#[test]
fn ids_are_one_clean_line_in_lists_and_titles() {
    let Some(path) = input("24") else { return };
    for (pane, size) in [("2", (80, 24)), ("6", (120, 40)), ("|", (120, 40)), ("i", (200, 60))] {
        let mut model = opened(tui_support::loaded(&path).0, size);
        press(&mut model, pane);
        let shown = rows(&buffer(&model)).join("\n");
        assert!(shown.contains("r0\\nx"), "{pane}:\n{shown}");
        assert!(!shown.contains("[41m"), "{pane}:\n{shown}");
    }
}

/// Escapes that a terminal program of this kind writes by itself; whatever else stands in the stream came
/// from the data.
fn foreign(raw: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = raw;
    while let Some(at) = rest.find(|c: char| c.is_control()) {
        let c = rest[at..].chars().next().unwrap();
        rest = &rest[at + c.len_utf8()..];
        let allowed = match c {
            '\r' | '\n' => true,
            '\u{1b}' if rest.starts_with('[') => {
                let end = rest[1..]
                    .find(|c: char| ('@'..='~').contains(&c))
                    .map_or(rest.len(), |e| e + 2);
                let sequence = &rest[1..end];
                rest = &rest[end..];
                match sequence.chars().last() {
                    Some('m' | 'H' | 'J' | 'K') => true,
                    // Modes of the mouse are switched off on the way out, whether they were on or not.
                    Some('l') if sequence.starts_with("?10") && sequence != "?1049l" => true,
                    Some('h' | 'l') => ["?1049", "?25", "?2004", "?2026", "?7"]
                        .iter()
                        .any(|mode| &sequence[..sequence.len() - 1] == *mode),
                    _ => false,
                }
            }
            _ => false,
        };
        if !allowed {
            found.push(format!("{c:?} before {:?}", rest.chars().take(12).collect::<String>()));
        }
    }
    found
}

/// The raw stream of the program in a pseudo-terminal, through these keys.
fn stream(path: &Path, keys: &[(&str, &str)]) -> String {
    use portable_pty::{CommandBuilder, PtySize, native_pty_system};
    let size = PtySize { cols: 100, rows: 30, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_credscope"));
    command.arg(path);
    command.env_clear();
    for (name, value) in
        [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("PATH", "/usr/bin:/bin")]
    {
        command.env(name, value);
    }
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let (mut out, mut input) =
        (pair.master.try_clone_reader().unwrap(), pair.master.take_writer().unwrap());
    let mut parser = vt100::Parser::new(30, 100, 0);
    let (mut raw, mut chunk) = (Vec::new(), [0; 4096]);
    let mut todo = keys.iter();
    let mut next = todo.next();
    loop {
        let n = out.read(&mut chunk).unwrap_or(0);
        if n == 0 {
            break;
        }
        raw.extend_from_slice(&chunk[..n]);
        parser.process(&chunk[..n]);
        while let Some((shows, press)) =
            next.filter(|(shows, _)| parser.screen().contents().contains(shows))
        {
            let _ = shows;
            input.write_all(press.as_bytes()).unwrap();
            input.flush().unwrap();
            next = todo.next();
        }
    }
    assert!(next.is_none(), "it never showed {next:?}:\n{}", parser.screen().contents());
    assert!(child.wait().unwrap().success());
    String::from_utf8(raw).unwrap()
}

#[test]
fn the_stream_of_a_terminal_has_no_escape_of_the_data() {
    let Some(path) = input("24") else { return };
    let keys = [("2 Steps", "i"), ("prog 100%", "C"), ("^[[2J", "6"), ("6 Rollouts", "q")];
    let raw = stream(&path, &keys);
    assert_eq!(foreign(&raw), Vec::<String>::new());
    // The alternate screen is left after the last picture, and not before.
    assert_eq!(raw.matches("?1049h").count(), 1);
    let before = raw.find("\u{1b}[?1049l").unwrap();
    let mut parser = vt100::Parser::new(30, 100, 0);
    parser.process(&raw.as_bytes()[..before]);
    assert!(parser.screen().contents().contains("6 Rollouts"), "{}", parser.screen().contents());
    assert!(!raw.contains("\u{1b}]") && !raw.contains('\u{7}') && !raw.contains("\u{1b}[41m"));
}

#[test]
fn a_foreign_escape_in_a_stream_is_noticed() {
    for bad in ["a\u{1b}]0;t\u{7}", "\u{1b}Pq", "\u{9b}31m", "\u{0}", "\u{1b}[?1000h", "\u{1b}[3g"]
    {
        assert!(!foreign(bad).is_empty(), "{bad:?}");
    }
    assert!(foreign("\u{1b}[?1049h\u{1b}[38;5;2mx\u{1b}[1;1H\r\n").is_empty());
}

#[test]
fn reports_and_exports_are_clean_and_json_keeps_the_data() {
    for number in ["24", "25"] {
        let Some(path) = input(number) else { return };
        let path = path.to_str().unwrap();
        let run = |args: &[&str]| {
            let out = cli_common::program().args(args).arg(path).output().unwrap();
            assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap()
        };
        for args in [
            &["report"][..],
            &["report", "--format", "md"],
            &["report", "--format", "json"],
            &["steps", "--format", "csv"],
            &["steps", "--format", "text"],
            &["steps", "--format", "json"],
            &["groups", "--format", "text"],
            &["groups", "--format", "csv"],
            &["tree"],
            &["tree", "--format", "dot"],
            &["tree", "--lens", "states"],
            &["quadrants", "--by", "rollout"],
            &["quadrants", "--format", "tex"],
            &["check"],
            &[],
        ] {
            assert_clean(&format!("case {number}: {args:?}"), &run(args));
        }
        // The data itself, where it is asked for: escaped by JSON, byte for byte.
        let raw = run(&["steps", "--format", "json", "--raw"]);
        let said: Value = serde_json::from_str(&raw).unwrap();
        let given: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(!raw.chars().any(|c| c.is_control() && c != '\n'));
        for rollout in given["rollouts"].as_array().unwrap() {
            let rows = said["rows"].as_array().unwrap();
            assert!(rows.iter().any(|r| r["rollout"] == rollout["id"]), "{}", rollout["id"]);
        }
    }
}

/// Names of files come from the task: nothing of it can leave the folder or trouble a shell's listing.
#[test]
fn names_of_exported_files_are_plain() {
    use credscope::tui::exporting::{Provenance, write};
    let mut model =
        opened(credscope::rollout::Corpus { groups: vec![tui_support::odd()] }, (80, 24));
    press(&mut model, "e");
    let job = loop {
        let effects = update(&mut model, Msg::Key(key("Enter")));
        if let Some(Effect::Export(job)) =
            effects.into_iter().find(|e| matches!(e, Effect::Export(_)))
        {
            break job;
        }
        press(&mut model, "j");
    };
    let dir = tempfile::tempdir().unwrap();
    let from = Provenance { folder: dir.path().to_owned(), ..Provenance::default() };
    let said = write(&job, &from).unwrap();
    assert_clean("what is said of it", &said);
    let names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    assert_clean("the name", name);
    assert!(!name.contains(['/', ' ', '\\', '\n']), "{name:?}");
}

/// Rows of the eight rollouts of the wide case, in the pane at 60 columns.
#[test]
fn reward_columns_of_wide_ids_start_at_the_same_cell() {
    let Some(path) = input("25") else { return };
    let mut model = opened(tui_support::loaded(&path).0, (60, 24));
    press(&mut model, "6");
    let buffer = buffer(&model);
    let header = (0..24).find(|&y| row(&buffer, y).contains("Σ A")).unwrap();
    let cell = |x: u16, y: u16| buffer[(x, y)].symbol();
    let edges: Vec<u16> =
        (1..60).filter(|&x| cell(x, header) == " " && cell(x - 1, header) != " ").collect();
    let marks: Vec<Vec<u16>> = (header + 1..header + 9)
        .map(|y| (0..60).filter(|&x| matches!(cell(x, y), "✓" | "✗")).collect())
        .collect();
    assert!(marks.iter().all(|m| m.len() == 1 && *m == marks[0]), "{marks:?}");
    // Each number ends where its title ends: steps, shaping, return, sum.
    let numeric = |x: u16, y: u16| cell(x, y).chars().all(|c| c.is_ascii_digit());
    let columns = |y: u16| -> Vec<u16> {
        (marks[0][0] + 1..59).filter(|&x| numeric(x, y) && cell(x + 1, y) == " ").collect()
    };
    let first = columns(header + 1);
    assert!(
        first.len() >= 3 && first.iter().all(|x| edges.contains(&(x + 1))),
        "{first:?} {edges:?}"
    );
    for y in header + 2..header + 9 {
        assert_eq!(columns(y), first, "{}", row(&buffer, y));
        // Measured on what a terminal gets: the text before the mark is as wide in every row.
        let line = row(&buffer, y);
        let before: String = line.chars().take_while(|c| !matches!(c, '✓' | '✗')).collect();
        assert_eq!(
            before.graphemes(true).map(|g| g.width().min(2)).sum::<usize>(),
            usize::from(marks[0][0]),
            "{line}"
        );
    }
}

/// The same in the plain report: what stands before the outcome is as wide in every row.
#[test]
fn reward_columns_of_the_report_are_straight() {
    let Some(path) = input("25") else { return };
    let out = cli_common::program().arg("report").arg(&path).output().unwrap();
    let report = String::from_utf8(out.stdout).unwrap();
    let given: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let mut places = Vec::new();
    for rollout in given["rollouts"].as_array().unwrap() {
        // The last letters of an id are plain in all of them.
        let tail: String = rollout["id"].as_str().unwrap().chars().rev().take(3).collect();
        let tail: String = tail.chars().rev().collect();
        let outcome = rollout["outcome"].as_str().unwrap();
        let line = report
            .lines()
            .find(|l| l.contains(&tail) && l.contains(outcome))
            .unwrap_or_else(|| panic!("no row for {tail}:\n{report}"));
        let before = &line[..line.find(outcome).unwrap()];
        places.push(text::width(before));
    }
    assert!(places.len() == 8 && places.iter().all(|p| *p == places[0]), "{places:?}\n{report}");
}

#[test]
fn cutting_never_splits_a_grapheme_and_fills_to_the_cell() {
    let Some(path) = input("25") else { return };
    let given: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let ids =
        given["rollouts"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned());
    let more =
        ["文件名字很长.py", "👩‍👩‍👧‍👦👨‍💻x", "e\u{301}e\u{301}e\u{301}", "ﷺﷺ", "🇩🇪🇫🇷a"].map(str::to_owned);
    for id in ids.chain(more) {
        let clean = text::line(&id).into_owned();
        let whole: Vec<&str> = clean.graphemes(true).collect();
        for limit in 0..=text::width(&clean) + 3 {
            for (way, cut) in [
                ("end", text::cut(&clean, limit)),
                ("beginning", text::cut_left(&clean, limit)),
                ("middle", text::cut_middle(&clean, limit)),
            ] {
                assert!(text::width(&cut) <= limit, "{way} of {clean:?} at {limit}: {cut:?}");
                let kept: Vec<&str> = cut.graphemes(true).filter(|g| *g != "…").collect();
                assert!(
                    kept.iter().all(|g| whole.contains(g)),
                    "{way} of {clean:?} at {limit}: {cut:?}"
                );
            }
            for fitted in [text::fit(&clean, limit), text::fit_right(&clean, limit)] {
                assert_eq!(text::width(&fitted), limit, "{clean:?} in {limit}: {fitted:?}");
            }
        }
    }
}

#[test]
fn bidi_controls_are_shown_and_targets_with_blanks_survive() {
    let Some(path) = input("25") else { return };
    let mut model = opened(tui_support::loaded(&path).0, (120, 40));
    press(&mut model, "6");
    let shown = rows(&buffer(&model)).join("\n");
    assert!(!shown.contains('\u{202e}') && shown.contains("<U+202E>"), "{shown}");
    // The target of the view in the signature, in the search and in the export.
    press(&mut model, "2");
    assert!(rows(&buffer(&model)).join("\n").contains("文件 名.py"), "the list of steps");
    press(&mut model, "/");
    update(&mut model, Msg::Paste("文件 名".to_owned()));
    press(&mut model, "Enter");
    assert_eq!(model.finding.hits.len(), 8, "every rollout views the file");
    let out = cli_common::program().args(["steps", "--format", "csv"]).arg(&path).output().unwrap();
    let csv = String::from_utf8(out.stdout).unwrap();
    assert!(csv.matches("文件 名.py").count() >= 8, "{csv}");
}

#[test]
fn ascii_draws_borders_and_marks_in_ascii_and_leaves_names_alone() {
    let Some(path) = input("25") else { return };
    for size in [(60, 24), (80, 24), (200, 60)] {
        let mut model = opened(tui_support::loaded(&path).0, size);
        model.look = Look { ascii: true, ..tui_support::PLAIN };
        for pane in PANES {
            press(&mut model, "Esc");
            press(&mut model, pane);
            let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            credscope::tui::panes::draw(&model, model.area, &mut buffer);
            let rows = rows(&buffer);
            assert!(!rows.iter().any(|row| draws(row)), "{pane} at {size:?}");
            let named = rows.iter().any(|row| row.contains("文件 名.py"));
            assert!(named || pane != "2" || size.0 < 80, "{pane} at {size:?}: {rows:?}");
        }
    }
}
