//! The screen stays quick on 64 rollouts of 200 steps, far from what a person notices: `cargo bench --bench screen`
//! measures it. Medians, so that a busy machine does not decide.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;
mod tui_support;

use std::time::{Duration, Instant};

use credscope::tui::panes;
use ratatui::buffer::Buffer;
use tui_support::{opened, press};

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
fn frames_and_keys_of_a_large_group_are_quick() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, common::generate::coding(64, 200)).unwrap();
    let mut model = opened(tui_support::loaded(&path).0, (200, 60));
    let mut buffer = Buffer::empty(model.area);
    let (mut frames, mut keys) = (Vec::new(), Vec::new());
    for name in [
        "1", "j", "j", "]", "2", "j", "n", "d", "6", "j", "=", "j", "7", "l", "1", "x", "j", "t",
        "j", "k", "z",
    ] {
        let start = Instant::now();
        press(&mut model, name);
        let moved = Instant::now();
        panes::draw(&model, model.area, &mut buffer);
        frames.push(moved.elapsed());
        keys.push(start.elapsed());
    }
    let (frame, key) = (median(frames), median(keys));
    println!("a frame {frame:?}, a key to its frame {key:?}");
    // Without optimisation, on a machine that may be busy: a hundred times 3 ms, thirty times 33 ms.
    assert!(frame < Duration::from_millis(300), "{frame:?}");
    assert!(key < Duration::from_millis(1_000), "{key:?}");
}
