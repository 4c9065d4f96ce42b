//! What each fuzz target does with its bytes, and what must hold afterwards.
//!
//! The targets of cargo-fuzz and the test `fuzz_corpus` of the main package run these very functions:
//! whatever a fuzz run found is replayed on the stable toolchain. Nothing here is part of the product.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod files;
mod inputs;
mod keyed;
mod records;
mod sheets;
mod splitters;
mod texts;

/// What a target does with its bytes.
type Body = fn(&[u8]);

/// Targets that are no reader.
const TARGETS: &[(&str, Body)] = &[
    ("split-lines", splitters::lines),
    ("split-elements", splitters::elements),
    ("split-values", splitters::values),
    ("split-document", splitters::document),
    ("split-keyed", keyed::target),
    ("split-columns", sheets::target),
    ("sniff", inputs::sniff),
    ("side-files", inputs::side_files),
    ("settings", inputs::settings),
    ("profile", inputs::profile),
    ("shell", texts::shell),
    ("clean", texts::clean),
    ("containers", files::containers),
    ("tables", files::tables),
    ("round-trip", files::round_trip),
    ("whole", files::whole),
];

/// What a reader's target begins with; its format's id follows.
const READER: &str = "read-";

/// The names of all targets.
pub fn targets() -> Vec<String> {
    let others = TARGETS.iter().map(|(name, _)| (*name).to_owned());
    let readers = credscope::ingest::readers().iter().map(|r| format!("{READER}{}", r.id()));
    others.chain(readers).collect()
}

/// Runs a target; panics where something does not hold.
pub fn run(target: &str, data: &[u8]) {
    match TARGETS.iter().find(|(name, _)| *name == target) {
        Some((_, body)) => body(data),
        None => records::reader(target.strip_prefix(READER).expect("no such target"), data),
    }
}
