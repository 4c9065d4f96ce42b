//! Damage at the beginning of a file costs the first record, and does not hide what the file is: lines,
//! lists on one line and indented ones of every format, with the first record cut at any place or
//! without one of its quotes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::fs;
use std::path::Path;

use credscope::load::{LoadError, LoadOptions, Loaded, VerdictKind};
use credscope::rollout::{Group, Rollout};
use load_common::{corpus, load_bytes, load_with, summary, walk};
use serde_json::{Value, json};

fn try_load(name: &str, bytes: &[u8]) -> Result<Loaded, LoadError> {
    load_bytes(name, bytes, &LoadOptions::default())
}

/// A file of lines, by its name and its lines.
struct Lines {
    label: String,
    name: String,
    records: Vec<Vec<u8>>,
}

/// As many lines of a file are used, and of a large one two: enough to have others behind the first.
const MOST: usize = 14;

/// All files of lines among the fixtures and in the corpus that hold several records.
fn files() -> Vec<Lines> {
    let mut paths = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    if let Some(corpus) = corpus("messages") {
        walk(corpus.parent().unwrap(), &mut paths);
    }
    paths.sort();
    let mut all = Vec::new();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "jsonl")) {
        let bytes = fs::read(path).unwrap();
        let lines = bytes.split(|&b| b == b'\n').filter(|l| !l.trim_ascii().is_empty());
        let lines: Vec<Vec<u8>> = lines.take(MOST).map(<[u8]>::to_vec).collect();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let size = |line: &Vec<u8>| line.len();
        let long = lines.iter().map(size).sum::<usize>() > 50_000;
        let lines: Vec<_> = lines.into_iter().take(if long { 2 } else { MOST }).collect();
        // Lines of their size are slow to read so often, and their format has a fixture.
        if lines.len() > 1 && lines[0].len() < 200_000 && try_load(&name, &bytes).is_ok() {
            all.push(Lines { label: path.display().to_string(), name, records: lines });
        }
    }
    assert!(all.len() >= 10, "{}", all.len());
    all
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % n
    }
}

/// Where the quotes are that begin or end a text.
fn quotes(record: &[u8]) -> Vec<usize> {
    let mut escaped = false;
    let mut found = Vec::new();
    for (at, &byte) in record.iter().enumerate() {
        if byte == b'"' && !escaped {
            found.push(at);
        }
        escaped = byte == b'\\' && !escaped;
    }
    found
}

/// The record in the ways it may be damaged, and how.
fn damages(record: &[u8], seed: u64) -> Vec<(String, Vec<u8>)> {
    let mut random = Random(seed);
    let mut all = Vec::new();
    let last = record.trim_ascii_end().len() - 1;
    for at in [1, 2, last].into_iter().chain((0..20).map(|_| 1 + random.below(last))) {
        all.push((format!("cut at {at}"), record[..at].to_vec()));
    }
    let quotes = quotes(record);
    let some = (0..10).map(|_| quotes[random.below(quotes.len())]);
    for at in [quotes[0], quotes[1]].into_iter().chain(some) {
        let mut bytes = record.to_vec();
        bytes.remove(at);
        all.push((format!("without the quote at {at}"), bytes));
    }
    all
}

/// What was read. The digest of a session is that of its file, damage included.
fn sorted(loaded: &Loaded, apart: bool) -> Vec<String> {
    let rollouts = loaded.corpus.groups.iter().flat_map(|g| g.rollouts.iter().map(move |r| (g, r)));
    let plain = |(g, r): (&std::sync::Arc<Group>, &Rollout)| {
        format!("{:?} {} {:?} {}", g.key, r.id, r.outcome, r.steps.len())
    };
    let mut all = if apart { summary(loaded) } else { rollouts.map(plain).collect() };
    all.sort();
    all
}

/// The damaged file against the same without its first record: the first is told, the others are there.
fn compare(name: &str, damaged: &[u8], rest: &Loaded, unit: &str) -> Result<(), String> {
    let loaded = try_load(name, damaged).map_err(|e| format!("refused: {e}"))?;
    let report = &loaded.report;
    let first = report.skipped.iter().any(|s| s.number == 1 || s.line == Some(1));
    if !first || report.partial().is_none() || report.fault().is_none() {
        return Err(format!("{unit} 1 is not told: {:?}", report.skipped));
    }
    let apart = rest.report.files[0].records > 1;
    let (all, rest) = (sorted(&loaded, apart), sorted(rest, apart));
    // A document that is cut behind its list has all its rollouts.
    let more = report.skipped.iter().any(|s| s.reason.contains("cut after its list"));
    if all != rest && !(more && rest.iter().all(|r| all.contains(r))) {
        return Err(format!("{} rollouts, {} wanted: {:?}", all.len(), rest.len(), report.skipped));
    }
    Ok(())
}

/// Fails with all that went wrong, the first of them in full.
fn all_well(wrong: &[String], tried: usize) {
    assert!(
        wrong.is_empty(),
        "{} of {tried} went wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(400)].join("\n")
    );
    assert!(tried > 200, "{tried}");
}

#[test]
fn a_torn_first_line_costs_itself() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for file in files() {
        let rest = file.records[1..].join(&b'\n');
        // What is left of a session may say nothing by itself.
        let Ok(rest_alone) = try_load(&file.name, &rest) else { continue };
        for (how, first) in damages(&file.records[0], 7) {
            let bytes = [first, rest.clone()].join(&b'\n');
            tried += 1;
            if let Err(why) = compare(&file.name, &bytes, &rest_alone, "line") {
                wrong.push(format!("{} {how}: {why}", file.label));
            }
        }
    }
    all_well(&wrong, tried);
}

/// The elements of a list on one line, as they are; of one indented by two, their keys in another order.
fn list(records: &[Vec<u8>], indented: bool) -> Option<Vec<Vec<u8>>> {
    if !indented {
        return Some(records.to_vec());
    }
    let pretty = |line: &Vec<u8>| {
        let value: Value = serde_json::from_slice(line).ok()?;
        let text = serde_json::to_string_pretty(&value).unwrap();
        Some(text.replace('\n', "\n  ").into_bytes())
    };
    records.iter().map(pretty).collect()
}

fn a_torn_first_element_costs_itself(indented: bool) {
    let (mut wrong, mut tried, mut unsure) = (Vec::new(), 0, 0);
    for file in files() {
        // A list of documents with lists of their own is cut in another way.
        if file.name == "traces.jsonl" {
            continue;
        }
        let Some(elements) = list(&file.records, indented) else { continue };
        let (open, comma): (&[u8], &[u8]) =
            if indented { (b"[\n  ", b",\n  ") } else { (b"[", b", ") };
        let close: &[u8] = if indented { b"\n]\n" } else { b"]\n" };
        let name = file.name.replace(".jsonl", ".json");
        let whole = [open, &elements.join(comma), close].concat();
        let rest = [open, &elements[1..].join(comma), close].concat();
        // Formats that spread a rollout over lines have no lists of them.
        let (Ok(whole), Ok(rest)) = (try_load(&name, &whole), try_load(&name, &rest)) else {
            continue;
        };
        if whole.report.files[0].records != elements.len() {
            continue;
        }
        for (how, first) in damages(&elements[0], 11) {
            let mut all = elements.clone();
            all[0] = first;
            let bytes = [open, &all.join(comma), close].concat();
            tried += 1;
            let Err(why) = compare(&name, &bytes, &rest, "element") else { continue };
            // Cut in a list of its own, what follows is as well in that list: that is told.
            if why.contains("may hold more than one") {
                unsure += 1;
            } else {
                wrong.push(format!("{} {how}: {why}", file.label));
            }
        }
    }
    assert!(unsure * 50 < tried, "{unsure} of {tried}");
    all_well(&wrong, tried);
}

#[test]
fn a_torn_first_element_of_a_list_on_one_line_costs_itself() {
    a_torn_first_element_costs_itself(false);
}

#[test]
fn a_torn_first_element_of_an_indented_list_costs_itself() {
    a_torn_first_element_costs_itself(true);
}

fn record(i: usize) -> Value {
    json!({"task": "t", "id": format!("r{i}"), "reward": i % 2,
           "steps": [{"tool": "x", "args": {"k": [i, "v"]}, "observation": format!("saw {i}")}]})
}

#[test]
fn a_damaged_file_that_nobody_knows_is_told_as_damaged() {
    for (name, text) in [
        ("a.jsonl", "aluation\": 1, \"steps\": []}\n"),
        ("a.json", "{\"settings\": {\"x\": 1, \"y: 2}}\n"),
        ("a.log", "{\"settings\": {\"x\": 1, \"y: 2}}\n"),
        (
            "inputs",
            "{\"responses_create_params\": {\"input\": []}}\n{\"responses_create_params\": {\"inp: []}}\n",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("whole.jsonl"), record(1).to_string()).unwrap();
        fs::write(dir.path().join(name), text).unwrap();
        let loaded = load_with(&[dir.path().to_owned()], &LoadOptions::default()).unwrap();
        let verdict = &loaded.report.not_rollouts[0];
        assert_eq!(verdict.kind, VerdictKind::Damaged, "{name}: {verdict:?}");
        assert!(loaded.report.partial().is_some() && loaded.report.fault().is_some(), "{name}");
    }
}

fn ids(loaded: &Loaded) -> Vec<String> {
    let rollouts = loaded.corpus.groups.iter().flat_map(|g| &g.rollouts);
    let mut all: Vec<_> = rollouts.map(|r| r.id.clone()).collect();
    all.sort();
    all
}

#[test]
fn a_first_line_of_something_else_is_told_and_hides_nothing() {
    let lines = format!("{}\n{}\n", record(1), record(2));
    for first in [
        "# runs of monday",
        "[2024-05-06 07:08:09] INFO begins",
        "2024-05-06 INFO {\"x\": 1}",
        "null",
        "{}",
        "[]",
        "{\"run\": \"a\", \"config\": {\"lr\": 0.1}}",
        "te\": 1}], \"reward\": 0}",
        "{\"role\": \"x\"}, {\"role\": \"y\"}], \"reward\": 0}",
        "\"id\": 1}], [{\"reward\": 0}]}",
    ] {
        let loaded = try_load("a.jsonl", format!("{first}\n{lines}").as_bytes());
        let loaded = loaded.unwrap_or_else(|error| panic!("{first}: {error}"));
        assert_eq!(ids(&loaded), ["r1", "r2"], "{first}");
        let skipped: Vec<_> = loaded.report.skipped.iter().map(|s| s.number).collect();
        assert_eq!(skipped, [1], "{first}: {:?}", loaded.report.skipped);
    }
}

#[test]
fn what_stands_behind_a_list_costs_none_of_its_elements() {
    for tail in ["\n]]", "]", "\n]\n", ",", "\ngarbage", "\n}"] {
        for (open, comma, close) in
            [("[", ",", "]"), ("[\n", ",\n", "\n]"), ("[\n  ", ",\n  ", "\n]")]
        {
            let text = format!("{open}{}{comma}{}{close}{tail}", record(1), record(2));
            let loaded = try_load("a.json", text.as_bytes());
            let loaded = loaded.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(ids(&loaded), ["r1", "r2"], "{text}");
            assert!(loaded.report.fault().is_some() || tail == ",", "{text}");
        }
    }
}

#[test]
fn a_torn_first_record_longer_than_what_is_looked_at_first_hides_nothing() {
    let mut long = record(0);
    long["steps"][0]["observation"] = "x".repeat(5 << 20).into();
    let text = long.to_string();
    let (head, tail) = (&text[..text.len() / 2], text.replacen("\"args\"", "args\"", 1));
    for first in [head, &tail] {
        let lines = format!("{first}\n{}\n{}\n", record(1), record(2));
        let list = format!("[{first}, {}, {}]", record(1), record(2));
        for (name, text) in [("a.jsonl", lines), ("a.json", list)] {
            let loaded = try_load(name, text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(ids(&loaded), ["r1", "r2"], "{name}");
            assert_eq!(loaded.report.skipped.len(), 1, "{name}");
        }
    }
}

#[test]
fn a_document_is_known_by_the_keys_behind_a_tear() {
    let text = fs::read_to_string("tests/fixtures/trainers/tau2.json").unwrap();
    let compact = serde_json::from_str::<Value>(&text).unwrap().to_string();
    for text in [text, compact] {
        // The last quote of a key within the first key's value.
        let quote = text.find("git_commit").unwrap() - 1;
        let torn = [&text[..quote], &text[quote + 1..]].concat();
        let name = "a.json";
        match try_load(name, torn.as_bytes()) {
            Ok(loaded) => assert!(loaded.report.fault().is_some()),
            Err(error) => assert!(error.to_string().contains("read as tau2-bench"), "{error}"),
        }
    }
}
