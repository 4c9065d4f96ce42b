//! The written pages say what the program does today: every command in a `console` block of README.md
//! and docs/ is run again and must print what stands beneath it, every picture a command writes must
//! be the one in docs/images, and in a case study every figure of the prose must stand in an output
//! printed in the same section.
//!
//! A block marked ```` ```console corpus ```` runs in the folder of real files (`CREDSCOPE_CORPUS`),
//! any other one at the top of the repository. `CREDSCOPE_BLESS=1 cargo test --test documents` writes
//! outputs and pictures anew: read the difference before you commit it.

#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;
mod common;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use cli_common::program;

const IMAGES: &str = "docs/images/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn blessing() -> bool {
    std::env::var_os("CREDSCOPE_BLESS").is_some()
}

/// Every page, in the order of their names.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// One command and the lines beneath it.
struct Shown {
    command: String,
    output: String,
}

/// A `console` block: line numbers of its body, where it runs, what it shows.
struct Block {
    body: std::ops::Range<usize>,
    corpus: bool,
    shown: Vec<Shown>,
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(info) = lines[at].strip_prefix("```") else {
            at += 1;
            continue;
        };
        let end = (at + 1..lines.len()).find(|&i| lines[i] == "```").expect("an open fence");
        if info.starts_with("console") {
            out.push(Block {
                body: at + 1..end,
                corpus: info.contains("corpus"),
                shown: shown(&lines[at + 1..end]),
            });
        }
        at = end + 1;
    }
    out
}

fn shown(lines: &[&str]) -> Vec<Shown> {
    let mut out: Vec<Shown> = Vec::new();
    let mut open = false;
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            out.push(Shown { command: command.to_owned(), output: String::new() });
        } else if open {
            let last = out.last_mut().unwrap();
            last.command.push('\n');
            last.command.push_str(line);
        } else {
            let last = out.last_mut().expect("a console block starts with a command");
            last.output.push_str(line);
            last.output.push('\n');
            continue;
        }
        open = line.ends_with('\\');
    }
    out
}

/// Runs a command of a page in a shell and compares (or takes over) the pictures it wrote.
fn run(command: &str, folder: &Path) -> String {
    let pictures = tempfile::tempdir().unwrap();
    let place = format!("{}/", pictures.path().display());
    let quiet = program();
    let binary = Path::new(quiet.get_program());
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut shell = Command::new("sh");
    for (name, value) in quiet.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.arg("-c").arg(command.replace(IMAGES, &place)).current_dir(folder).env("PATH", path);
    shell.env("XDG_CONFIG_HOME", pictures.path().join("none")).env("LC_ALL", "C.UTF-8");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
    for entry in std::fs::read_dir(pictures.path()).unwrap() {
        let entry = entry.unwrap();
        let kept = root().join(IMAGES).join(entry.file_name());
        let new = std::fs::read(entry.path()).unwrap();
        if blessing() {
            std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
            std::fs::write(&kept, new).unwrap();
        } else {
            let old = std::fs::read(&kept).unwrap_or_default();
            assert!(new == old, "{} is not what its command writes: {command}", kept.display());
        }
    }
    String::from_utf8(output.stdout).unwrap().replace(&place, IMAGES)
}

#[test]
fn every_command_prints_what_its_page_shows() {
    let corpus = common::corpus();
    let mut commands = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut new: Vec<String> = Vec::new();
        let mut copied = 0;
        for block in blocks(&lines) {
            let folder = if block.corpus { corpus.clone() } else { Some(root().to_owned()) };
            let Some(folder) = folder else {
                println!("SKIPPED: {}: no folder of real files", page.display());
                continue;
            };
            new.extend(lines[copied..block.body.start].iter().map(|&l| l.to_owned()));
            for shown in &block.shown {
                let output = run(&shown.command, &folder);
                commands += 1;
                if !blessing() {
                    assert_eq!(output, shown.output, "{}: $ {}", page.display(), shown.command);
                }
                new.push(format!("$ {}", shown.command));
                new.extend(output.lines().map(str::to_owned));
            }
            copied = block.body.end;
        }
        new.extend(lines[copied..].iter().map(|&l| l.to_owned()));
        if blessing() && copied > 0 {
            std::fs::write(&page, new.join("\n") + "\n").unwrap();
        }
    }
    assert!(commands >= 3, "{commands} commands");
}

/// Numbers as they stand in a text: sign, digits, fraction. `1,000` counts as one.
fn numbers(text: &str) -> Vec<String> {
    let number = regex::Regex::new(r"[-−+]?\d+(?:,\d{3})*(?:\.\d+)?").unwrap();
    number
        .find_iter(text)
        .map(|m| m.as_str().replace(',', "").replace('−', "-").replace('+', ""))
        .collect()
}

/// Prose without code, code blocks and addresses of links, cut at `## `; and the outputs of each part.
fn parts(text: &str) -> Vec<(String, String)> {
    let mut out = vec![(String::new(), String::new())];
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced && line.starts_with("## ") {
            out.push((String::new(), String::new()));
        }
        let (prose, shown) = out.last_mut().unwrap();
        let into = if fenced { shown } else { prose };
        into.push_str(line);
        into.push('\n');
    }
    let aside = regex::Regex::new(r"\]\([^)]*\)|`[^`]*`").unwrap();
    out.into_iter()
        .map(|(prose, shown)| (aside.replace_all(&prose, "").into_owned(), shown))
        .collect()
}

#[test]
fn every_figure_of_a_case_study_stands_in_an_output_beside_it() {
    let mut checked = 0;
    for page in pages().into_iter().filter(|p| p.parent().unwrap().ends_with("case-studies")) {
        let text = std::fs::read_to_string(&page).unwrap();
        for (prose, shown) in parts(&text).into_iter().skip(1) {
            let title = prose.lines().next().unwrap_or_default().to_owned();
            let known: HashSet<String> = numbers(&shown)
                .into_iter()
                .flat_map(|n| [n.trim_start_matches('-').to_owned(), n])
                .collect();
            for number in numbers(&prose) {
                assert!(
                    known.contains(&number),
                    "{}, {title}: {number} stands in no output of the section",
                    page.display()
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "no case study");
}
