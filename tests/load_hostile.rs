//! Hostile input over every reader: whatever is cut, odd or huge costs its record and is reported.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use credscope::ingest::readers;
use credscope::load::{LoadError, LoadOptions, Loaded};
use load_common::load_with;

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path
            .extension()
            .is_some_and(|e| ["json", "jsonl", "traj"].iter().any(|w| e == *w))
        {
            out.push(path);
        }
    }
}

/// Fixtures of the repository, and one small file per format of the corpus where that is there.
fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for dir in ["tests/fixtures", "sample-data", "../shared/data"] {
        files(&root.join(dir), &mut all);
    }
    all.retain(|p| fs::metadata(p).is_ok_and(|m| m.len() < 400_000));
    all.sort();
    all
}

/// Loads bytes under a name; nothing may panic, and what is lost must be said.
fn load_bytes(name: &str, bytes: &[u8]) -> Result<Loaded, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    load_with(&[path], &LoadOptions::default())
}

fn said(name: &str, result: &Result<Loaded, LoadError>) {
    match result {
        Ok(loaded) => {
            let totals = loaded.report.totals;
            assert_eq!(totals.skipped > 0, loaded.report.first_skipped().is_some(), "{name}");
            assert!(totals.rollouts > 0, "{name}");
        }
        Err(LoadError::NoRollouts { files, .. }) => {
            assert!(files.iter().all(|f| !f.reason.is_empty()), "{name}");
        }
        Err(other) => panic!("{name}: {other}"),
    }
}

#[test]
fn cut_anywhere() {
    for path in fixtures() {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Large files at fewer places: what differs is where in a record the cut is.
        let places = if bytes.len() > 60_000 { 10 } else { 50 };
        for nth in 0..places {
            let at = bytes.len() * nth / places + nth % 7;
            said(&name, &load_bytes(&name, &bytes[..at.min(bytes.len())]));
        }
    }
}

#[test]
fn ends_of_lines_marks_and_blank_lines_change_nothing() {
    for path in fixtures() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let Ok(plain) = load_bytes(&name, text.as_bytes()) else { continue };
        let mut changed = vec![format!("\u{feff}{text}"), text.replace('\n', "\r\n")];
        if path.extension().is_some_and(|e| e == "jsonl") {
            changed.push(format!("\n\n{}\n", text.replace('\n', "\n\n")));
        }
        for text in changed {
            let other = load_bytes(&name, text.as_bytes()).unwrap();
            let (a, b) = (plain.report.totals, other.report.totals);
            assert_eq!(
                (a.rollouts, a.steps, a.scored, a.skipped),
                (b.rollouts, b.steps, b.scored, b.skipped),
                "{name}"
            );
        }
    }
}

/// Every reader, forced on every fixture and on odd values: it may refuse, never panic.
#[test]
fn every_reader_survives_every_file() {
    let deep = format!("{{\"a\":{}1{}}}\n", "[".repeat(200), "]".repeat(200));
    let lone = "{\"task\":\"t\",\"id\":\"\\ud800\",\"messages\":[{\"role\":\"assistant\",\"content\":\"\\udc00\"}]}\n";
    let odd: Vec<(String, Vec<u8>)> = [
        ("deep.jsonl", deep.as_str()),
        ("lone.jsonl", lone),
        ("null.jsonl", "null\n{}\n[]\n\"x\"\n7\n"),
        ("content.jsonl", "{\"messages\":[null,7,{\"role\":null,\"content\":{}},{\"role\":\"assistant\"},{\"role\":\"assistant\",\"content\":[null,{}],\"tool_calls\":[null,{\"function\":null}]}],\"trajectory\":[{}],\"steps\":[{}],\"history\":[[]],\"traj\":[null]}\n"),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
    .collect();
    let small = fixtures().into_iter().filter(|p| fs::metadata(p).is_ok_and(|m| m.len() < 60_000));
    let given = small
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), fs::read(p).unwrap()));
    for (name, bytes) in odd.into_iter().chain(given) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(&name);
        fs::write(&path, &bytes).unwrap();
        for reader in readers() {
            let options =
                LoadOptions { from: Some(reader.id().to_owned()), ..LoadOptions::default() };
            said(&name, &load_with(std::slice::from_ref(&path), &options));
        }
    }
}

#[test]
fn large_values_and_odd_files() {
    let big = "x\\n\\u00e9".repeat(600_000);
    let image = format!("data:image/png;base64,{}", "iVBORw0KGgo".repeat(50_000));
    let line = |content: &str, id: &str| {
        format!(
            "{{\"task\":9007199254740993,\"id\":{id},\"reward\":1,\"messages\":[{{\"role\":\"user\",\"content\":\"go\"}},{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}},{{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":{content}}}]}}\n"
        )
    };
    let text = [
        line(&format!("\"{big}\""), "9007199254740993"),
        line(
            &format!("[{{\"type\":\"image_url\",\"image_url\":{{\"url\":\"{image}\"}}}}]"),
            "9007199254740992",
        ),
        line("null", "3"),
    ]
    .concat();
    let loaded = load_bytes("big.jsonl", text.as_bytes()).unwrap();
    assert_eq!((loaded.report.totals.rollouts, loaded.report.totals.skipped), (3, 0));
    assert_eq!(loaded.corpus.groups[0].key.task, "9007199254740993");
    assert_eq!(
        load_common::ids(&loaded.corpus.groups[0])[1..],
        ["9007199254740992", "9007199254740993"]
    );
    for (bytes, word) in [
        (&b""[..], "empty file"),
        (b" \n\n", "empty file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
    ] {
        let error = load_bytes("x.jsonl", bytes).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_load_stops_soon_after_it_is_told_to() {
    let line = format!(
        "{{\"task\":\"t\",\"id\":1,\"steps\":[{}]}}\n",
        vec![
            r#"{"tool":"bash","args":{"command":"ls -la src | grep x"},"observation":"a\nb\nc"}"#;
            200
        ]
        .join(",")
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("many.jsonl");
    fs::write(&path, line.repeat(2000)).unwrap();
    let cancel = Arc::new(AtomicBool::new(false));
    let told = Arc::new(std::sync::Mutex::new(None));
    let (stop, when) = (Arc::clone(&cancel), Arc::clone(&told));
    let options = LoadOptions {
        cancel: Some(Arc::clone(&cancel)),
        progress: Some(Arc::new(move |_| {
            stop.store(true, Ordering::Relaxed);
            when.lock().unwrap().get_or_insert_with(Instant::now);
        })),
        ..LoadOptions::default()
    };
    assert!(matches!(load_with(&[path], &options), Err(LoadError::Cancelled)));
    let since = told.lock().unwrap().unwrap().elapsed();
    eprintln!("stopped after {since:?}");
    // Generous: the machine may be loaded and the build slow.
    assert!(since < Duration::from_secs(2), "{since:?}");
}
