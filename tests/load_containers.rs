//! Packed files: gzip, zstandard, zip and Inspect archives, whole and cut.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod load_common;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use credscope::load::{LoadOptions, Loaded, TextError};
use load_common::{corpus, load_with};

const LINES: &str = r#"{"task":"t","id":"a","reward":1,"steps":[{"tool":"x","args":{"k":"v"},"observation":"seen"}]}
{"task":"t","id":"b","reward":0,"steps":[{"tool":"x","args":{}}]}
"#;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn zip(path: &Path, members: &[(&str, &[u8])]) {
    let mut out = zip::ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in members {
        out.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap();
}

fn loaded(path: PathBuf) -> Loaded {
    load_with(&[path], &LoadOptions::default()).unwrap()
}

/// The text of the first step comes back out of the spool.
fn text_comes_back(loaded: &Loaded) {
    let text = loaded.sources.step_text(&loaded.corpus.groups[0], 0, 0).unwrap();
    assert_eq!(text.observation.as_deref(), Some("seen"));
    assert_eq!(loaded.sources.paths().count(), loaded.sources.len());
}

#[test]
fn streams_of_one_and_of_several_frames() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = LINES.split_at(LINES.find('\n').unwrap() + 1);
    let two =
        |pack: fn(&[u8]) -> Vec<u8>| [pack(first.as_bytes()), pack(second.as_bytes())].concat();
    for (name, bytes) in [
        ("a.jsonl.gz", gz(LINES.as_bytes())),
        ("b.jsonl.gz", two(gz)),
        ("c.jsonl.zst", zst(LINES.as_bytes())),
        ("d.jsonl.zst", two(zst)),
        // The ending is only a hint; content decides.
        ("e.jsonl", gz(&zst(LINES.as_bytes()))),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let loaded = loaded(path);
        assert_eq!(loaded.report.totals.rollouts, 2, "{name}");
        assert_eq!(loaded.report.files[0].name, name);
        text_comes_back(&loaded);
    }
    let all = load_with(&[dir.path().into()], &LoadOptions::default()).unwrap();
    // Five copies of one run in one folder, told by the ids in them.
    assert_eq!((all.report.totals.files, all.report.totals.rollouts), (5, 2));
    assert_eq!(all.report.totals.duplicates, 8);
}

/// Nothing is missing of a stream with a wrong checksum, and that is what is said.
#[test]
fn a_wrong_checksum_is_told_as_one() {
    let mut bytes = gz(LINES.as_bytes());
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    let loaded = load_common::load_bytes("a.jsonl.gz", &bytes, &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.totals.rollouts, LINES.lines().count());
    let want = "the packed file is damaged: all of it was unpacked, but its checksum does not match: some of \
                it is wrong";
    assert_eq!(loaded.report.files[0].problems, [want]);
    let warning = loaded.report.warning("damaged-file").unwrap();
    assert_eq!(warning.text, format!("1 file damaged or cut: `a.jsonl.gz`: {want}"));
    assert_eq!(warning.hint.as_deref(), Some("pack or download it again"));
}

#[test]
fn a_cut_stream_gives_what_is_whole_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut many = String::new();
    for i in 0..2000 {
        let line = LINES.lines().next().unwrap().replace("\"a\"", &i.to_string());
        many += &line.replace("\"v\"", &(i * 7919).to_string());
        many.push('\n');
    }
    for (name, bytes) in
        [("a.jsonl.gz", gz(many.as_bytes())), ("b.jsonl.zst", zst(many.as_bytes()))]
    {
        let path = dir.path().join(name);
        fs::write(&path, &bytes[..bytes.len() - bytes.len() / 4]).unwrap();
        match load_with(&[path], &LoadOptions::default()) {
            Ok(loaded) => {
                let rollouts = loaded.report.totals.rollouts;
                assert!(rollouts > 0 && rollouts < 2000, "{name}: {rollouts}");
                assert!(loaded.report.files[0].problems.iter().any(|p| p.contains("cut")));
                assert!(loaded.report.warning("damaged-file").is_some());
            }
            // A single frame may give nothing before its end.
            Err(error) => assert!(error.to_string().contains("cannot be unpacked"), "{error}"),
        }
    }
}

#[test]
fn members_of_a_zip_are_sources() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.zip");
    zip(
        &path,
        &[
            ("r2/x.jsonl", LINES.as_bytes()),
            ("r10/x.jsonl.gz", &gz(LINES.as_bytes())),
            ("__MACOSX/._x", b"junk"),
            ("notes.txt", b"no rollouts"),
        ],
    );
    let loaded = loaded(path.clone());
    let names: Vec<_> = loaded.report.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["runs.zip!r2/x.jsonl", "runs.zip!r10/x.jsonl.gz"]);
    assert_eq!(loaded.report.not_rollouts.len(), 1);
    text_comes_back(&loaded);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..20]).unwrap();
    let error = load_with(&[path], &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("runs.zip") && error.hint().is_some(), "{error}");
}

#[test]
fn samples_of_an_inspect_archive_know_its_header() {
    let Some(file) = corpus("inspect/log_streaming.eval") else { return };
    let loaded = loaded(file);
    assert_eq!(loaded.report.totals.rollouts, 4);
    assert_eq!(loaded.corpus.groups.len(), 2);
    for group in &loaded.corpus.groups {
        assert_eq!(group.rollouts.len(), 2);
        assert!(group.key.policy.is_some() && group.key.namespace != "inspect");
    }
    assert!(loaded.report.files[0].name.starts_with("log_streaming.eval!samples/"));
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        out.append_data(&mut header, name, *bytes).unwrap();
    }
    out.into_inner().unwrap()
}

#[test]
fn members_of_a_tar_are_sources_packed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let plain = tar(&[
        ("run/r2/x.jsonl", LINES.as_bytes()),
        ("run/r10/x.jsonl.gz", &gz(LINES.as_bytes())),
        ("run/.hidden/x.jsonl", LINES.as_bytes()),
        ("run/notes.txt", b"no rollouts"),
    ]);
    for (name, bytes) in [
        ("a.tar", plain.clone()),
        ("a.tar.gz", gz(&plain)),
        ("a.tgz", gz(&plain)),
        ("a.tar.zst", zst(&plain)),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let loaded = loaded(path);
        let names: Vec<_> = loaded.report.files.iter().map(|f| f.name.clone()).collect();
        assert_eq!(names, ["r2/x.jsonl", "r10/x.jsonl.gz"].map(|m| format!("{name}!run/{m}")));
        assert_eq!(loaded.report.not_rollouts.len(), 1, "{name}");
        assert_eq!(loaded.report.totals.rollouts, 4, "{name}");
        text_comes_back(&loaded);
    }
    // Cut in the second member: the first one loads, and the cut is told.
    let path = dir.path().join("cut.tar");
    fs::write(&path, &plain[..1200]).unwrap();
    let loaded = loaded(path);
    assert_eq!(loaded.report.totals.rollouts, 2);
    assert!(loaded.report.fault().unwrap().contains("cut"), "{:?}", loaded.report);
}

/// Content that only an archive made for it has: one byte, many times, many times over.
#[test]
fn archives_that_are_made_to_fill_a_disk_are_refused() {
    struct Zeros(u64);
    impl std::io::Read for Zeros {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            let n = buf.len().min(usize::try_from(self.0).unwrap_or(usize::MAX));
            buf[..n].fill(b'0');
            self.0 -= n as u64;
            Ok(n)
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut Zeros(300 << 20), &mut packed).unwrap();
    let bomb = packed.finish().unwrap();
    assert!(bomb.len() < 800_000, "{}", bomb.len());
    let good = dir.path().join("good.jsonl");
    fs::write(&good, LINES).unwrap();
    let path = dir.path().join("bomb.jsonl.gz");
    fs::write(&path, &bomb).unwrap();
    let (many, nested) = (dir.path().join("many.zip"), dir.path().join("nested.gz"));
    zip(&many, &[("a.jsonl.gz", &bomb), ("b.jsonl.gz", &bomb), ("c.jsonl", LINES.as_bytes())]);
    let mut deep = LINES.as_bytes().to_vec();
    for _ in 0..5 {
        deep = gz(&deep);
    }
    fs::write(&nested, deep).unwrap();
    for (path, word) in
        [(path, "made to fill a disk"), (many, "made to fill a disk"), (nested, "4 times over")]
    {
        let loaded = load_with(&[path.clone(), good.clone()], &LoadOptions::default()).unwrap();
        assert_eq!(loaded.report.totals.rollouts, 2, "{}", path.display());
        let told = &loaded.report.not_rollouts[0];
        assert!(told.reason.contains(word) && told.hint.is_some(), "{told}");
    }
}

#[test]
fn damage_in_a_zstandard_file_is_told_in_words() {
    let line = |i: usize| {
        let reward = i * 7919 % 13;
        format!("{{\"task\":\"t\",\"id\":\"r{i}\",\"reward\":{reward},\"steps\":[]}}\n")
    };
    let text = (0..4000).map(line).collect::<Vec<_>>().concat();
    let whole = zst(text.as_bytes());
    let mut told = Vec::new();
    for at in (4..whole.len()).step_by(whole.len() / 60 + 1) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5a;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl.zst");
        std::fs::write(&path, bytes).unwrap();
        match load_with(&[path], &LoadOptions::default()) {
            Ok(loaded) => {
                told.extend(loaded.report.files.iter().flat_map(|f| f.problems.clone()));
                told.extend(loaded.report.not_rollouts.iter().map(ToString::to_string));
            }
            // The path is the person's own.
            Err(error) => {
                told.push(error.to_string().replace(&dir.path().display().to_string(), ""));
            }
        }
    }
    assert!(told.len() > 20, "{told:?}");
    for text in told {
        // Names of types and their fields are no words.
        let inner = text.as_bytes().windows(2);
        let camel =
            inner.filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count();
        assert!(camel == 0 && !text.contains('{') && !text.contains("Error"), "{text}");
    }
}

/// Bytes of a file, each changed, the length kept.
fn change(path: &Path) {
    let bytes: Vec<u8> = fs::read(path).unwrap().iter().map(|b| b ^ 1).collect();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_text_is_of_what_was_loaded_or_the_change_of_its_file_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.jsonl.gz"), gz(LINES.as_bytes())).unwrap();
    fs::write(at("b.jsonl.zst"), zst(LINES.as_bytes())).unwrap();
    zip(&at("c.zip"), &[("r.jsonl", LINES.as_bytes())]);
    let mut out = zip::ZipWriter::new(File::create(at("d.zip")).unwrap());
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    out.start_file("r.jsonl", stored).unwrap();
    out.write_all(LINES.as_bytes()).unwrap();
    out.finish().unwrap();
    // What is packed was unpacked into a copy of the program's own: the text stays that of the numbers.
    for name in ["a.jsonl.gz", "b.jsonl.zst", "c.zip", "d.zip"] {
        let loaded = loaded(at(name));
        change(&at(name));
        text_comes_back(&loaded);
    }
    // What stands in a file as it is is read from there.
    fs::write(at("e.tar"), tar(&[("r.jsonl", LINES.as_bytes())])).unwrap();
    let loaded = loaded(at("e.tar"));
    text_comes_back(&loaded);
    change(&at("e.tar"));
    let error = loaded.sources.step_text(&loaded.corpus.groups[0], 0, 0).unwrap_err();
    assert!(matches!(&error, TextError::Changed { file } if file == "e.tar!r.jsonl"), "{error}");
}
