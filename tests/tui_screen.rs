//! The screen as a person sees it, drawn into memory.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use tui_support::{Driver, corpus};

#[test]
fn at_80x24_everything_stands_there_without_a_key() {
    let driver = Driver::start(corpus(), (80, 24));
    let picture = driver.wait("the tree", |p| p.contains("▾search:grep@."));
    println!("{picture}");
    assert_eq!(driver.quit("q"), 0);
}
