//! The report as Markdown, the report as JSON and the screen print the same numbers: outcomes, tree
//! shape, sharing, evidence, sums and means per rollout, quadrants, warnings; every group of every
//! input.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;
mod common;
mod tui_support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cli_common::Bench;
use credscope::export::plain::short;
use credscope::rollout::Corpus;
use credscope::tui::model::Model;
use credscope::tui::numbers;
use serde_json::Value;
use tui_support::{line, picture, press};

/// The files: two samples, and of the corpus a file of coding rollouts and one of many tasks.
fn inputs() -> Vec<PathBuf> {
    let mut found = vec![
        common::sample("slugify-fix/rollouts.jsonl"),
        common::sample("airline-desk/results.json"),
    ];
    if let Some(corpus) = common::corpus() {
        for name in [tui_support::R2E, "tau-bench/gpt-4o-airline.subset-a.json"] {
            found.push(corpus.join(name));
        }
    }
    found
}

/// The pages of a Markdown report by group: heading, then sections by heading.
struct Page {
    facts: Vec<(String, String)>,
    tables: Vec<(String, Vec<Vec<String>>)>,
}

fn plain(text: &str) -> String {
    text.replace('\\', "").replace("&lt;", "<").replace("&amp;", "&")
}

fn pages(text: &str) -> Vec<Page> {
    let mut found: Vec<Page> = Vec::new();
    for part in format!("\n{text}").split("\n## ").skip(1) {
        let mut page = Page { facts: Vec::new(), tables: Vec::new() };
        for line in part.lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                page.tables.push((plain(heading), Vec::new()));
            } else if let Some(row) = line.strip_prefix("| ") {
                let cells = row.trim_end_matches(" |").split(" | ").map(plain).collect();
                if let Some((_, rows)) = page.tables.last_mut() {
                    rows.push(cells);
                }
            } else if let Some((label, words)) =
                line.strip_prefix("- **").and_then(|l| l.split_once("** "))
            {
                page.facts.push((plain(label), plain(words)));
            }
        }
        let has = |label: &str| page.facts.iter().any(|(l, _)| l == label);
        if has("group") && has("evidence") {
            found.push(page);
        }
    }
    found
}

impl Page {
    fn fact(&self, label: &str) -> &str {
        &self.facts.iter().find(|(l, _)| l == label).unwrap_or_else(|| panic!("no {label}")).1
    }

    fn table(&self, beginning: &str) -> &[Vec<String>] {
        self.tables.iter().find(|(t, _)| t.starts_with(beginning)).map_or(&[], |(_, rows)| rows)
    }
}

fn int(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} in {row}"))
}

/// A value as a table for people prints it.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(n) if n.is_u64() => n.to_string(),
        other => short(other.as_f64().unwrap(), 3),
    }
}

/// A count with its noun.
fn words(n: u64, word: &str, more: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { more })
}

/// Sentences of the page, made from the JSON alone.
fn facts(page: &Page, group: &Value) {
    let n = |name: &str| int(group, name);
    let rollouts = page.fact("rollouts");
    let words =
        |n: u64, word: &str, more: &str| format!("{n} {word}{}", if n == 1 { "" } else { more });
    let (all, scored) = (words(n("rollouts"), "rollout", "s"), n("scored"));
    assert!(rollouts.starts_with(&format!("{all}, {scored} scored")), "{rollouts}");
    for told in [words(n("successes"), "success", "es"), words(n("failures"), "failure", "s")] {
        assert!(rollouts.contains(&told), "{told} in {rollouts}");
    }
    for (name, word) in [("truncated", "truncated"), ("errors", "error"), ("unscored", "unscored")]
    {
        let told = format!(" {} {word}", n(name));
        assert_eq!(rollouts.contains(&told), n(name) > 0, "{told} in {rollouts}");
    }
    let rate = format!("success rate {}/{}", n("successes"), n("scored"));
    assert!(rollouts.contains(&rate), "{rollouts}");
    assert_eq!(
        page.fact("steps"),
        format!(
            "{}, {}, {} of state and action, {}",
            counted(n("steps"), "step"),
            counted(n("states"), "state"),
            counted(n("pairs"), "pair"),
            counted(n("branching_states"), "branching state")
        )
    );
    assert_eq!(
        page.fact("tree"),
        format!(
            "{} from {}, {} of them {}, longest walk {}",
            counted(n("tree_rows"), "row"),
            counted(n("tree_first_actions"), "first action"),
            n("tree_forks"),
            if n("tree_forks") == 1 { "forks" } else { "fork" },
            counted(n("max_depth"), "step")
        )
    );
    let classes = ["compared_steps", "shared_only_steps", "self_steps", "single_steps"].map(n);
    let all: u64 = classes.iter().sum();
    let [compared, shared, own, single] = classes;
    assert_eq!(
        page.fact("evidence"),
        format!(
            "█ compared {compared}  ▒ shared {shared}  ∷ self {own}  ═ single {single}  = {}",
            counted(all, "scored step")
        )
    );
    let sharing = page.fact("sharing");
    assert!(sharing.starts_with(&format!("{} of {all} scored steps", n("shared_steps"))));
    assert_eq!(n("shared_steps"), compared + shared, "shared steps are compared or shared");
    let prior = short(group["v_prior"].as_f64().unwrap(), 4);
    assert!(page.fact("V_prior").starts_with(&prior), "{}", page.fact("V_prior"));
}

/// A count and its noun.
fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A Markdown table against JSON rows: head and name of each column, in order.
fn table(page: &Page, beginning: &str, rows: &Value, columns: &[(&str, String)]) {
    let found = page.table(beginning);
    let rows = rows.as_array().unwrap();
    if rows.is_empty() {
        assert!(found.is_empty(), "{beginning}");
        return;
    }
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    assert_eq!(found[0], heads, "{beginning}");
    let body: Vec<&Vec<String>> = found[1..].iter().filter(|r| !r[0].starts_with("---")).collect();
    let shown = body.iter().filter(|r| r[0] != "all").count();
    assert_eq!(shown, rows.len(), "{beginning}");
    for (cells, row) in body.iter().zip(rows) {
        for (cell, (_, name)) in cells.iter().zip(columns) {
            let expected = printed(&row[name]);
            let cut = cell.contains('…') && name != "outcome";
            assert!(*cell == expected || cut, "{beginning}: {name}: {cell} is not {expected}");
        }
    }
}

fn markdown(page: &Page, row: &Value) {
    facts(page, &row["group"]);
    let mut columns: Vec<(&str, String)> = ["rollout", "outcome"].map(|n| (n, n.to_owned())).into();
    columns.push(("G_0", "g0".to_owned()));
    let heads = ["Σ grpo", "Σ grpo-step", "Σ rtmc"];
    for head in heads {
        let name = head.trim_start_matches("Σ ");
        columns.push((head, format!("{name}_sum")));
        columns.push(("µ", format!("{name}_mean")));
    }
    for (head, name) in [
        ("steps", "steps"),
        ("compared", "compared_steps"),
        ("shared", "shared_only_steps"),
        ("self", "self_steps"),
        ("single", "single_steps"),
        ("revisits", "revisits"),
        ("rescued", "rescued"),
        ("penalized", "penalized"),
    ] {
        columns.push((head, name.to_owned()));
    }
    table(page, "Rollouts: sum", &row["rollouts"], &columns);
    let quadrants = [
        ("outcome", "key"),
        ("steps", "steps"),
        ("both+", "both_pos"),
        ("resc.", "rescued"),
        ("both-", "both_neg"),
        ("penal.", "penalized"),
        ("in x", "inside_x"),
        ("in y", "inside_y"),
        ("in xy", "inside_both"),
        ("miss.", "missing"),
    ]
    .map(|(head, name)| (head, name.to_owned()));
    table(page, "Quadrants: X", &row["quadrants"], &quadrants);
    let told: BTreeSet<&str> = page
        .facts
        .iter()
        .filter(|(label, _)| label == "⚠")
        .map(|(_, words)| words[1..].split(']').next().unwrap())
        .collect();
    let codes: BTreeSet<&str> =
        row["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect();
    assert_eq!(told, codes);
    for warning in row["warnings"].as_array().unwrap() {
        let text = warning["text"].as_str().unwrap();
        let tail: String = text.chars().skip(1).collect();
        assert!(page.facts.iter().any(|(l, words)| l == "⚠" && words.contains(&tail)), "{text}");
    }
}

/// Steps in each bucket of the rows of these outcomes: scored steps, then as the screen lists them.
fn sums(row: &Value, outcomes: &[&str]) -> [u64; 6] {
    let mut sums = [0; 6];
    for q in row["quadrants"].as_array().unwrap() {
        if outcomes.contains(&q["key"].as_str().unwrap()) {
            let n = |name: &str| int(q, name);
            let inside = n("inside_x") + n("inside_y") + n("inside_both");
            let more =
                [n("steps"), n("both_pos"), n("rescued"), n("penalized"), n("both_neg"), inside];
            sums.iter_mut().zip(more).for_each(|(s, m)| *s += m);
        }
    }
    sums
}

/// The counts of a line of the quadrants' pane; shares in percent are left out.
fn counts(row: &str, mark: &str) -> Vec<u64> {
    let words = row.split(mark).nth(1).unwrap().split_whitespace();
    let words = words.filter(|w| !w.ends_with('%') && *w != "│");
    words
        .map(|w| if w == "·" { 0 } else { w.parse().unwrap_or_else(|_| panic!("{row}")) })
        .collect()
}

/// The pane of one key, alone on the screen.
fn zoomed(model: &mut Model, pane: &str) -> String {
    press(model, pane);
    press(model, "Enter");
    let shown = picture(model);
    press(model, "Esc");
    shown
}

fn screen(model: &mut Model, row: &Value) {
    let group = &row["group"];
    let n = |name: &str| int(group, name);
    let shown = picture(model);
    let title = shown.lines().next().unwrap();
    let scored = format!("{} of {} scored ✓{} ", n("scored"), n("rollouts"), n("successes"));
    assert!(title.contains(&scored), "{scored} in {title}");
    for told in [words(n("steps"), "step", "s"), words(n("states"), "state", "s")] {
        assert!(title.contains(&format!("  {told}  ")), "{told} in {title}");
    }
    let prior = numbers::plain(group["v_prior"].as_f64().unwrap(), 3);
    let note = line(&shown, &["V_prior "]);
    assert!(note.contains(&format!("V_prior {prior}")), "{note}");
    for (name, word) in [
        ("successes", "success"),
        ("failures", "failure"),
        ("truncated", "truncated"),
        ("errors", "error"),
        ("unscored", "unscored"),
    ] {
        let told = format!(" {word} {}", n(name));
        assert_eq!(note.contains(&told), n(name) > 0, "{told} in {note}");
    }
    let tree = zoomed(model, "1");
    line(&tree, &[&format!("paths  {} of at most ", words(n("tree_rows"), "row", "s"))]);
    quadrants(model, row);
    rollouts(model, row);
    press(model, "W");
    let layer = picture(model);
    press(model, "Esc");
    let warnings = row["warnings"].as_array().unwrap();
    line(&layer, &[&format!("{} of this group", warnings.len())]);
    let blanks = |text: &str| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    let all = blanks(&layer).join(" ");
    for warning in warnings {
        let text = blanks(warning["text"].as_str().unwrap()).join(" ");
        assert!(all.contains(&text) || layer.contains('…'), "{text} in {layer}");
        assert!(all.contains(&format!("({})", warning["code"].as_str().unwrap())), "{layer}");
    }
}

fn quadrants(model: &mut Model, row: &Value) {
    let pane = zoomed(model, "4");
    let (won, lost) = (["success"], ["failure", "truncated"]);
    // The mark of the second row says whether truncated rollouts are among them.
    let both = pane.lines().any(|l| l.starts_with(" ✗⊘ "));
    let cross = if both { (" ✗⊘ ", &lost[..]) } else { (" ✗ ", &lost[..1]) };
    for (mark, outcomes) in [(" ✓ ", &won[..]), cross] {
        let told =
            pane.lines().skip(1).find(|l| l.starts_with(mark)).unwrap_or_else(|| panic!("{pane}"));
        assert_eq!(counts(told, mark)[..6], sums(row, outcomes), "{told}");
    }
    let told = pane.lines().find(|l| l.starts_with(" Σ ")).unwrap();
    let [a, b] = [sums(row, &won), sums(row, &lost)];
    let both: Vec<u64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
    assert_eq!(counts(told, " Σ ")[..6], both);
    for (name, class) in [
        ("compared_steps", "compared"),
        ("shared_only_steps", "shared"),
        ("self_steps", "self"),
        ("single_steps", "single"),
    ] {
        let told = pane.lines().find(|l| l.contains(&format!(" {class} "))).unwrap();
        assert_eq!(counts(told, class)[0], int(&row["group"], name), "{told}");
    }
}

fn rollouts(model: &mut Model, row: &Value) {
    let pane = zoomed(model, "6");
    let y = &model.settings.y.clone();
    let rows = row["rollouts"].as_array().unwrap();
    for (at, told) in rows.iter().zip(pane.lines().skip(3)) {
        let words: Vec<&str> = told.trim_start_matches(['▸', ' ']).split_whitespace().collect();
        let sum = at[format!("{y}_sum")].as_f64();
        let sum = sum.map_or_else(|| "·".to_owned(), |s| numbers::signed(s, 2));
        let g0 = at["g0"].as_f64().map_or_else(|| "·".to_owned(), |g| numbers::plain(g, 3));
        let steps = at["steps"].to_string();
        // Name, outcome, steps, sum of step rewards, G_0, sum of Y.
        assert_eq!([words[2], words[4], words[5]], [&steps, &g0, &sum], "{told}");
        for name in ["rescued", "penalized"] {
            let told_n = int(at, name);
            let here = told.contains(&format!(" {told_n} {name}"));
            assert_eq!(here, told_n > 0, "{name} {told_n} in {told}");
        }
    }
}

/// A model of the screen whose Y is this column.
fn opened(corpus: &Corpus, y: &str) -> Model {
    let mut settings = credscope::analysis::AnalysisSettings::default();
    y.clone_into(&mut settings.y);
    tui_support::opened_with(corpus.clone(), settings, (200, 60))
}

#[test]
fn report_in_both_forms_and_the_screen_print_the_same_numbers() {
    let bench = Bench::new("{}");
    let (mut groups, mut screens) = (0, 0);
    for input in inputs() {
        let file = input.to_str().unwrap();
        // The sums on the screen are of Y: each of the three columns in turn.
        for y in ["rtmc", "grpo-step", "grpo"] {
            let json = bench.json(&["report", file, "--y", y, "--format", "json"]);
            let rows = json["rows"].as_array().unwrap();
            let text = bench.ok(&["report", file, "--y", y, "--format", "md"]);
            let pages = pages(&text);
            assert_eq!(pages.len(), rows.len(), "{file}");
            for (page, row) in pages.iter().zip(rows) {
                markdown(page, row);
                groups += 1;
            }
            let (corpus, _) = tui_support::loaded(Path::new(file));
            let mut model = opened(&corpus, y);
            let mut seen = BTreeSet::new();
            for _ in 0..2 * rows.len() {
                let at = model.shown.as_ref().unwrap().0;
                if seen.insert(at) {
                    screen(&mut model, &rows[at]);
                    screens += 1;
                }
                press(&mut model, "}");
            }
            assert_eq!(seen.len(), rows.len(), "every group of {file} was on the screen");
        }
    }
    println!("{groups} groups in Markdown, {screens} on the screen");
}
