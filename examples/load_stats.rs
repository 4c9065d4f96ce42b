//! Loads what it is given and prints how long it took and how much memory it needed at most.
//! Used to watch the reading budget: `cargo run --release --example load_stats -- FILE…`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let start = Instant::now();
    match load(&paths, &LoadOptions::default(), &Arc::new(Profiles::builtin())) {
        Ok(loaded) => {
            let totals = loaded.report.totals;
            println!("{totals:?}");
            for warning in &loaded.report.warnings {
                println!("{}: {}", warning.code, warning.text);
            }
        }
        Err(error) => println!("{error}\n{}", error.hint().unwrap_or_default()),
    }
    println!("{:.2} s", start.elapsed().as_secs_f64());
    // Linux alone says how much memory was used at most; elsewhere this prints nothing.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|l| l.starts_with("VmHWM")) {
        println!("{line}");
    }
}
