//! Every file of the corpus is in a table of the independent scripts or refused for a named reason;
//! texts of formats without a corpus file, of members of archives, and out of packed files equal what
//! the scripts read; what a text on demand takes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use credscope::load::{LoadOptions, Loaded};
use credscope::rollout::raw::RawArgs;
use load_common::{corpus, load_with, with_all_steps};
use serde_json::Value;

/// What one of the scripts prints about a folder; `None`, said loudly, without Python.
fn script(name: &str, folder: &Path, more: &[&str]) -> Option<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name);
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(script).arg(folder).args(more);
    let Ok(done) = command.output() else {
        eprintln!("SKIPPED: python3 is not here; set PYTHON");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    Some(text.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn walk(dir: &Path, root: &Path, out: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, root, out);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            out.insert(name);
        }
    }
}

/// Files that hold no rollouts, and what is said about them. A file of verdicts says that it wants
/// trajectories beside it.
const REFUSED: [(&str, &str); 12] = [
    ("PROVENANCE.md", "no JSON; no known rollout format has this form"),
    ("derived/README.md", "no JSON; no known rollout format has this form"),
    (
        "nemo-gym/circle_click_inputs_only.jsonl",
        "NeMo-Gym inputs (materialized tasks), not rollouts",
    ),
    ("mini-swe-agent/deepseek-dev/deepseek__deepseek-chat.deepseek_chat_dev.json", VERDICTS),
    ("mini-swe-agent/deepseek-dev/deepseek__deepseek-chat.deepseek_chat_dev_rerun.json", VERDICTS),
    (
        "mini-swe-agent/deepseek-dev/deepseek__deepseek-chat.deepseek_lite_dev_noparallel.json",
        VERDICTS,
    ),
    (
        "mini-swe-agent/deepseek-dev/logs/run_evaluation/deepseek_lite_dev/deepseek__deepseek-chat/sqlfluff__sqlfluff-1733/report.json",
        VERDICTS,
    ),
    (
        "mini-swe-agent/deepseek-dev/logs/run_evaluation/deepseek_lite_dev/deepseek__deepseek-chat/sqlfluff__sqlfluff-2419/report.json",
        VERDICTS,
    ),
    ("mini-swe-agent/gemini-3-pro-v1/logs/astropy__astropy-12907/report.json", VERDICTS),
    ("mini-swe-agent/gemini-3-pro-v1/logs/django__django-11099/report.json", VERDICTS),
    ("swe-agent/swe-smith/pandas-dev__pandas.95280573.pr_53856.report.json", VERDICTS),
    // A later copy of the corpus may have been checked out without this folder's notes.
    ("README.md", "no JSON"),
];
const VERDICTS: &str = "verdict files alone";

#[test]
fn every_file_of_the_corpus_is_in_a_table_or_refused() {
    let Some(root) = corpus("") else { return };
    let Some(agents) = script("agents_table.py", &root, &[]) else { return };
    let Some(trainers) = script("trainers_table.py", &root, &[]) else { return };
    let name = |row: &Value| row["file"].as_str().unwrap().to_owned();
    let mut tables: BTreeMap<String, usize> = BTreeMap::new();
    for row in agents.iter().chain(&trainers) {
        assert!(row["rollouts"].as_u64().unwrap() > 0, "{row}");
        *tables.entry(name(row)).or_default() += 1;
    }
    assert!(tables.values().all(|n| *n == 1), "{tables:?}");
    let refused = BTreeMap::from(REFUSED);
    let mut files = BTreeSet::new();
    walk(&root, &root, &mut files);
    for file in files {
        let loaded = load_with(&[root.join(&file)], &LoadOptions::default());
        match (refused.get(file.as_str()), loaded) {
            (Some(reason), Err(error)) => {
                assert!(error.to_string().contains(reason), "{file}: {error}");
            }
            (None, Ok(_)) => assert!(tables.contains_key(&file), "{file} is in no table"),
            (_, loaded) => panic!("{file}: {:?}", loaded.map(|l| l.report.totals)),
        }
    }
}

/// Group and rollout of each rollout, in the order of the file.
fn in_file_order(loaded: &Loaded) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (g, group) in loaded.corpus.groups.iter().enumerate() {
        for (r, rollout) in group.rollouts.iter().enumerate() {
            let first = &rollout.records[0];
            let names = rollout.records.len() > 1;
            let id = if names { rollout.id.clone() } else { String::new() };
            all.push((id, first.source, first.bytes.start, first.part, g, r));
        }
    }
    all.sort();
    all.into_iter().map(|(.., g, r)| (g, r)).collect()
}

#[test]
fn texts_of_formats_without_a_corpus_file() {
    let Some(rows) = script("fixtures_table.py", &fixtures(), &[]) else { return };
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows {
        files.entry(row["file"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    assert_eq!(files.len(), 14);
    let mut steps = 0;
    for (name, rows) in files {
        let loaded = load_with(&[fixtures().join(&name)], &LoadOptions::default()).unwrap();
        assert_eq!(loaded.report.files[0].format, rows[0]["format"], "{name}");
        let groups: Vec<_> =
            (0..loaded.corpus.groups.len()).map(|g| with_all_steps(&loaded, g)).collect();
        let order = in_file_order(&loaded);
        assert_eq!(order.len(), rows.len(), "{name}");
        for ((g, r), row) in order.into_iter().zip(rows) {
            let want = row["steps"].as_array().unwrap();
            assert_eq!(groups[g].rollouts[r].steps.len(), want.len(), "{name}: {want:?}");
            for (at, step) in want.iter().enumerate() {
                let text = loaded.sources.step_text(&groups[g], r, at).unwrap();
                let place = format!("{name}: rollout {r}, step {at}: {text:?}");
                let step = step.as_array().unwrap();
                assert_eq!(text.thought, step[0].as_str().unwrap(), "{place}");
                assert_eq!(text.tool.as_deref(), step[1].as_str(), "{place}");
                match (&text.args, &step[2]) {
                    (RawArgs::Object(map), Value::Null) => assert!(map.is_empty(), "{place}"),
                    (RawArgs::Object(map), args) => {
                        assert_eq!(&Value::Object(map.clone()), args, "{place}");
                    }
                    (RawArgs::Unparsable(_), _) => panic!("{place}"),
                }
                assert_eq!(text.observation.as_deref(), step[3].as_str(), "{place}");
                let opaque = |at: usize| step.get(at).and_then(Value::as_str);
                assert_eq!(text.raw.state.as_deref(), opaque(4), "{place}");
                assert_eq!(text.raw.action.as_deref(), opaque(5), "{place}");
                steps += 1;
            }
        }
    }
    assert_eq!(steps, 38);
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn zip(bytes: &[u8], name: &str) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    out.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap().into_inner()
}

/// All texts of a load, in file order.
fn texts(loaded: &Loaded) -> Vec<Vec<String>> {
    let order = in_file_order(loaded);
    let of = |(g, r): (usize, usize)| {
        let all = loaded.sources.rollout_text(&loaded.corpus.groups[g], r).unwrap();
        all.iter().map(|t| format!("{t:?}")).collect()
    };
    order.into_iter().map(of).collect()
}

#[test]
fn texts_come_out_of_packed_files_as_out_of_plain_ones() {
    let dir = tempfile::tempdir().unwrap();
    let mut all: Vec<PathBuf> = [
        "trainers/tau2.json",
        "trainers/swe_gym.jsonl",
        "agents/claude-code/session.jsonl",
        "agents/inspect/log.json",
    ]
    .iter()
    .map(|name| fixtures().join(name))
    .collect();
    all.extend(corpus("nemo-gym/anyswe_astropy-12907_claude_code.jsonl"));
    all.extend(corpus("tau-bench/gpt-4o-airline.subset-a.json"));
    for plain in all {
        let name = plain.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&plain).unwrap();
        let want = texts(&load_with(&[plain], &LoadOptions::default()).unwrap());
        assert!(!want.is_empty());
        for (ending, packed) in
            [("gz", gz(&bytes)), ("zst", zst(&bytes)), ("zip", zip(&bytes, &name))]
        {
            let path = dir.path().join(format!("{name}.{ending}"));
            std::fs::write(&path, packed).unwrap();
            let loaded = load_with(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
            assert_eq!(texts(&loaded), want, "{}", path.display());
        }
    }
}

/// The time that texts on demand take, by format: the corpus, and the fixtures of what it lacks. The
/// goal is 50 ms for an optimized program; a test of a slow build on a busy machine allows ten times
/// that.
#[test]
fn texts_come_back_quickly() {
    let mut taken: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    let roots = [corpus(""), Some(fixtures())];
    for root in roots.into_iter().flatten() {
        let loaded = load_with(&[root], &LoadOptions::default()).unwrap();
        let mut seed = 11_u64;
        let mut steps: BTreeMap<String, Vec<(usize, usize, usize)>> = BTreeMap::new();
        for (g, group) in loaded.corpus.groups.iter().enumerate() {
            for (r, rollout) in group.rollouts.iter().enumerate() {
                let format = loaded.sources.format(rollout.records[0].source).to_owned();
                let all = steps.entry(format).or_default();
                all.extend((0..rollout.steps.len()).map(|s| (g, r, s)));
            }
        }
        for (format, all) in steps {
            for _ in 0..all.len().min(60) {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (g, r, s) = all[(seed >> 33) as usize % all.len()];
                let begun = Instant::now();
                loaded.sources.step_text(&loaded.corpus.groups[g], r, s).unwrap();
                taken.entry(format.clone()).or_default().push(begun.elapsed());
            }
        }
    }
    for (format, mut all) in taken {
        all.sort();
        let p99 = all[(all.len() * 99).div_ceil(100) - 1];
        eprintln!("{format}: {} texts, p99 {p99:?}", all.len());
        assert!(p99 < Duration::from_millis(500), "{format}: {p99:?}");
    }
}
