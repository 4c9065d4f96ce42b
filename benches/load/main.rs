//! Time and peak memory of loading, beside Python's `orjson` doing nothing but the parse.
//!
//! `cargo bench --bench load` writes files of a known make into `target/bench-data` (once), loads each
//! in a process of its own, so that the peaks do not mix, and prints one table: files of lines, single
//! arrays, and single documents with all rollouts under one key. `-- SIZE…` chooses the sizes of the
//! line file in MB (default `100 1000`).

#![allow(clippy::expect_used)]

mod rows;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;

/// Bytes of one rollout of the line file: 10,000 of them are 1 GB.
const PER_ROLLOUT: usize = 100_000;

/// Parses and does nothing else: what any loader in Python pays before it starts.
const ORJSON: &str = "
import sys, time, resource
try:
    import orjson
except ImportError:
    print('missing'); sys.exit()
start = time.perf_counter()
with open(sys.argv[1], 'rb') as f:
    if sys.argv[1].endswith('.jsonl'):
        for line in f:
            orjson.loads(line)
    else:
        orjson.loads(f.read())
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [word, path] = args.as_slice()
        && word == "--one"
    {
        return one(Path::new(path));
    }
    let sizes: Vec<usize> = args.iter().filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100, 1000] } else { sizes };
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>10} {:>10}",
        "file", "MB", "s", "MB/s", "peak MB", "orjson s"
    );
    for size in sizes {
        row(&data(&format!("r2e-{size}.jsonl"), |out| {
            rows::r2e(out, size * 1_000_000 / PER_ROLLOUT);
        }));
    }
    row(&data("tau-300.json", |out| rows::tau(out, 300_000_000)));
    row(&data("native-300.json", |out| rows::native(out, 300_000_000)));
    row(&data("tau2-200.json", |out| rows::tau2(out, 200_000_000)));
    row(&data("native-document-200.json", |out| rows::native_document(out, 200_000_000)));
}

/// A file of `target/bench-data`, written when it is not there.
fn data(name: &str, write: impl FnOnce(&mut dyn Write)) -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-data");
    fs::create_dir_all(&dir).expect("target can be written to");
    let path = dir.join(name);
    if !path.exists() {
        let part = dir.join(format!("{name}.part"));
        let mut out = BufWriter::new(File::create(&part).expect("target can be written to"));
        write(&mut out);
        out.flush().expect("there is room for the file");
        fs::rename(&part, &path).expect("target can be written to");
    }
    path
}

/// Measures one file in a process of its own, and orjson on the same file.
fn row(path: &Path) {
    let bytes = fs::metadata(path).map_or(0, |m| m.len()) as f64 / 1e6;
    let me = std::env::current_exe().expect("this program has a path");
    let ours = numbers(Command::new(me).arg("--one").arg(path));
    let theirs = numbers(Command::new("python3").args(["-c", ORJSON]).arg(path));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let [seconds, peak] = ours.unwrap_or([f64::NAN; 2]);
    let beside = theirs.map_or("missing (pip install orjson)".to_owned(), |[s, mb]| {
        format!("{s:>8.2} s, {mb:.0} MB: time x{:.2}, memory x{:.2}", seconds / s, peak / mb)
    });
    println!(
        "{name:<24} {bytes:>8.0} {seconds:>8.2} {:>8.0} {peak:>10.0}   {beside}",
        bytes / seconds
    );
}

fn numbers(command: &mut Command) -> Option<[f64; 2]> {
    let out = command.output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut words = text.split_whitespace().map(str::parse);
    Some([words.next()?.ok()?, words.next()?.ok()?])
}

/// Loads a file and prints seconds, peak memory in MB (Linux alone tells it), and what came out.
fn one(path: &Path) {
    let start = Instant::now();
    let loaded =
        load(&[path.to_path_buf()], &LoadOptions::default(), &Arc::new(Profiles::builtin()));
    let seconds = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| -> f64 {
        let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(f64::NAN)
    };
    println!("{seconds} {}", field("VmHWM:") / 1024.0);
    match loaded {
        Ok(loaded) => {
            let totals = loaded.report.totals;
            let per_step = (field("VmRSS:") * 1024.0) / totals.steps.max(1) as f64;
            eprintln!("{totals:?}, {per_step:.0} bytes resident per step");
        }
        Err(error) => eprintln!("{error}"),
    }
}
