//! Time and peak memory of loading, beside Python's `orjson` doing nothing but the parse.
//!
//! `cargo bench --bench load` writes files of a known make into `target/bench-data` (once), loads each
//! in a process of its own, so that the peaks do not mix, and prints one table: files of lines (of 100 KB,
//! and of 3 MB), single arrays, single documents with all rollouts under one key, and dumps of columns on
//! one line. `-- SIZE…` chooses the sizes of the line file in MB (default `100 1000`).
//!
//! `-- dense` measures files in which steps are close together instead, where what is held of a step
//! counts and not its text: short steps in groups of two sizes, and real files, written again and again,
//! where `CREDSCOPE_CORPUS` (default `../shared/data`) has them.

#![allow(clippy::expect_used, clippy::indexing_slicing)]

mod rows;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;
use serde_json::Value;

/// The program's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bytes of one rollout of the line file: 10,000 of them are 1 GB.
const PER_ROLLOUT: usize = 100_000;

/// Bytes of output of each of its steps.
const SEEN: usize = 1650;

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
    if args.iter().any(|a| a == "dense") {
        return dense();
    }
    let sizes: Vec<usize> = args.iter().filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100, 1000] } else { sizes };
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>10} {:>10}",
        "file", "MB", "s", "MB/s", "peak MB", "orjson s"
    );
    for size in sizes {
        row(&data(&format!("r2e-{size}.jsonl"), |out| {
            rows::r2e(out, size * 1_000_000 / PER_ROLLOUT, SEEN);
        }));
    }
    row(&data("r2e-long-200.jsonl", |out| {
        rows::r2e(out, 200_000_000 / (30 * PER_ROLLOUT), 30 * SEEN);
    }));
    row(&data("tau-300.json", |out| rows::tau(out, 300_000_000)));
    row(&data("native-300.json", |out| rows::native(out, 300_000_000)));
    row(&data("tau2-200.json", |out| rows::tau2(out, 200_000_000)));
    row(&data("native-document-200.json", |out| rows::native_document(out, 200_000_000)));
    for size in [200, 400] {
        row(&data(&format!("roll-{size}.jsonl"), |out| rows::roll(out, size * 1_000_000)));
    }
}

/// Bytes of a file of close steps.
const DENSE: usize = 200_000_000;

/// A real file whose steps are short: its name, where it is, whether it is one array, and what makes a
/// copy of one of its rollouts the n-th of another task.
type Real = (&'static str, &'static str, bool, fn(&mut Value, usize));

const REAL: [Real; 4] = [
    ("r2e-gym", "derived/r2e_gym.astropy-12907.k8.jsonl", false, |record, at| {
        record["exp_name"] = format!("run-{at}").into();
        record["ds"]["instance_id"] = format!("task-{}", at / 8).into();
    }),
    ("tau-bench", "tau-bench/gpt-4o-airline.subset-a.json", true, |record, at| {
        record["trial"] = (at % 8).into();
        record["task_id"] = (at / 8).into();
    }),
    ("verl", "derived/verl_rollout_dir.40.jsonl", false, |record, at| {
        let own = |text: &Value, n: usize| {
            let text = text.as_str().unwrap_or_default();
            Value::from(format!("{}\n#{n}", text.rsplit_once("\n#").map_or(text, |(text, _)| text)))
        };
        record["input"] = own(&record["input"], at / 8);
        record["output"] = own(&record["output"], at);
    }),
    ("nemo-gym", "nemo-gym/grl_sokoban.jsonl", false, |record, at| {
        record["_ng_task_index"] = (at / 8).into();
        record["_ng_rollout_index"] = (at % 8).into();
        record["response"]["id"] = format!("r{at}").into();
    }),
];

/// Peak memory by steps.
fn dense() {
    println!(
        "{:<24} {:>6} {:>8} {:>8} {:>10} {:>10}",
        "file", "MB", "steps", "peak MB", "held/step", "peak/step"
    );
    let corpus = std::env::var("CREDSCOPE_CORPUS").unwrap_or_else(|_| "../shared/data".to_owned());
    for (name, file, array, rename) in REAL {
        let Ok(real) = fs::read(Path::new(&corpus).join(file)) else { continue };
        let name = format!("{name}-again.{}", if array { "json" } else { "jsonl" });
        dense_row(&data(&name, |out| rows::again(out, &real, array, DENSE, rename)));
    }
    dense_row(&data("short-steps-8.jsonl", |out| rows::short_steps(out, 8, DENSE)));
    dense_row(&data("short-steps-all.jsonl", |out| rows::short_steps(out, u64::MAX, DENSE)));
}

/// Measures one file in a process of its own. Held is what the groups take once they are there; the peak
/// is that of the process, program and all.
fn dense_row(path: &Path) {
    let bytes = fs::metadata(path).map_or(0, |m| m.len()) as f64 / 1e6;
    let me = std::env::current_exe().expect("this program has a path");
    let out = Command::new(me).arg("--one").arg(path).output().expect("this program runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let [_, peak, steps, held] = numbers[..] else { return println!("{}: failed", path.display()) };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    println!(
        "{name:<24} {bytes:>6.0} {steps:>8.0} {peak:>8.0} {:>10.0} {:>10.0}",
        held / steps,
        peak * 1_048_576.0 / steps
    );
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

/// Loads a file and prints seconds, peak memory in MB (Linux alone tells it), steps, the bytes that the
/// groups hold of them, and what came out.
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
    print!("{seconds} {}", field("VmHWM:") / 1024.0);
    match loaded {
        Ok(loaded) => {
            let totals = loaded.report.totals;
            let held: usize = loaded.corpus.groups.iter().map(|g| g.bytes()).sum();
            println!(" {} {held}", totals.steps);
            eprintln!("{totals:?}");
        }
        Err(error) => eprintln!("{error}"),
    }
}
