//! Runs the program as a person does, away from the machine's own settings.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The worked example: terminal rewards alone, states and actions as they are.
pub const WORKED: &str = r#"{"schema":"credscope/1","task":"worked","rollouts":[
{"id":"t1","outcome":"success","steps":[{"state":"s0","action":"a"},{"state":"s1","action":"c"},{"state":"s2","action":"e"}]},
{"id":"t2","outcome":"failure","steps":[{"state":"s0","action":"a"},{"state":"s1","action":"d"},{"state":"s3","action":"f"}]},
{"id":"t3","outcome":"failure","steps":[{"state":"s0","action":"b"},{"state":"s3","action":"f"}]},
{"id":"t4","outcome":"success","steps":[{"state":"s0","action":"b"},{"state":"s3","action":"g"},{"state":"s4","action":"h"},{"state":"s5","action":"e"}]}
]}"#;

/// A folder with one input, and the program to run on it.
pub struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    /// A folder with `input.json`.
    pub fn new(input: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("input.json"), input).unwrap();
        Self { dir }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a further file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The program, in the folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program();
        command.current_dir(self.dir.path()).env("XDG_CONFIG_HOME", self.dir.path()).args(args);
        command
    }

    /// Runs it.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Standard output of a run that must succeed.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Exit code and standard error.
    pub fn fails(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        let told = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), told)
    }

    /// The JSON of a run.
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }
}

/// The program without the caller's settings.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_credscope"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CREDSCOPE_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("TERM", "dumb").stdin(Stdio::null());
    command
}

/// A table from CSV without its stamp: header, rows.
pub fn csv(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().unwrap().iter().map(ToOwned::to_owned).collect();
    let rows =
        reader.records().map(|r| r.unwrap().iter().map(ToOwned::to_owned).collect()).collect();
    (header, rows)
}

/// One column of CSV as numbers; empty cells are NaN.
pub fn numbers(text: &str, column: &str) -> Vec<f64> {
    let (header, rows) = csv(text);
    let at = header.iter().position(|h| h == column).unwrap();
    rows.iter().map(|r| r[at].parse().unwrap_or(f64::NAN)).collect()
}

/// One column of CSV as texts.
pub fn texts(text: &str, column: &str) -> Vec<String> {
    let (header, rows) = csv(text);
    let at = header.iter().position(|h| h == column).unwrap();
    rows.iter().map(|r| r[at].clone()).collect()
}

/// Whether two lists of numbers agree.
pub fn close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (at, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= within, "{at}: {f} is not {e}");
    }
}

/// A shared case; none, loudly, where the cases are not there.
pub fn case(number: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CREDSCOPE_CASES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases"),
        PathBuf::from,
    );
    let found = std::fs::read_dir(&root).ok().and_then(|entries| {
        entries
            .filter_map(Result::ok)
            .map(|e| e.path())
            .find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(number)))
    });
    if found.is_none() {
        eprintln!("SKIPPED: case {number} is not in {}", root.display());
    }
    found
}
