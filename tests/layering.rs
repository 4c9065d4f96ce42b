//! Data walks one way: a module imports only from those to its left. Read from the `use` lines and
//! paths of the sources.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

/// Left to right. `cli` and `tui` stand side by side; `cli` starts the screen at one place.
const ORDER: [&str; 13] = [
    "rollout",
    "profile",
    "facts",
    "ingest",
    "load",
    "signature",
    "graph",
    "credit",
    "analysis",
    "settings",
    "export",
    "cli",
    "tui",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every module of the crate that a source names, comments left out.
fn imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap();
        for (at, _) in code.match_indices("crate::") {
            let rest = &code[at + "crate::".len()..];
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => list.split([',', '}']).map(str::trim).collect(),
                None => vec![rest],
            };
            for name in names {
                let word: String =
                    name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if ORDER.contains(&word.as_str()) {
                    found.push((number + 1, word));
                }
            }
        }
    }
    found
}

/// Imports to the right of a room.
fn offences(room: &str, text: &str) -> Vec<String> {
    let place = |name: &str| ORDER.iter().position(|m| *m == name).unwrap();
    imports(text)
        .into_iter()
        .filter(|(_, to)| match (room, to.as_str()) {
            ("cli", "tui") => false,
            ("tui", "cli") => true,
            _ => place(to) > place(room),
        })
        .map(|(line, to)| format!("line {line}: {room} imports {to}"))
        .collect()
}

#[test]
fn modules_import_only_from_their_left() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for room in ORDER {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        assert!(!files.is_empty(), "{room} is gone");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            found.extend(
                offences(room, &text).into_iter().map(|o| format!("{}: {o}", file.display())),
            );
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A deliberate break is found: the test can fail.
#[test]
fn a_break_of_the_order_is_found() {
    assert_eq!(offences("graph", "use crate::credit::Basis;\n"), ["line 1: graph imports credit"]);
    assert_eq!(offences("rollout", "use crate::{graph, facts::Fact};\n").len(), 2);
    assert_eq!(offences("tui", "use crate::cli::Args;\n"), ["line 1: tui imports cli"]);
    assert_eq!(offences("credit", "use crate::graph::StateGraph; // not crate::tui\n"), [""; 0]);
}

/// No terminal type outside the screen, no argument parser outside the command line.
#[test]
fn terminal_and_argument_types_stay_in_their_rooms() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for room in ORDER {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for (word, home) in [("ratatui::", "tui"), ("crossterm::", "tui"), ("clap::", "cli")] {
                assert!(room == home || !text.contains(word), "{} names {word}", file.display());
            }
        }
    }
}
