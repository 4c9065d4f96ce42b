//! The arguments that only the screen takes.

use std::path::PathBuf;

use clap::{Arg, ArgAction};

/// Arguments of the screen.
pub fn screen_args() -> Vec<Arg> {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .help_heading("Output and screen")
            .hide_short_help(name != "at")
            .help(help)
    };
    vec![
        text("at", "ROLLOUT:STEP", "Open the screen at a step, split at the last colon"),
        Arg::new("mouse")
            .long("mouse")
            .action(ArgAction::SetTrue)
            .help_heading("Output and screen")
            .hide_short_help(true)
            .help("Capture the mouse: the wheel scrolls, but the terminal selects no text"),
        text("screenshot", "FILE.svg", "Write the screen as a picture instead of opening it")
            .value_parser(clap::value_parser!(PathBuf)),
        text("size", "WxH", "Size of the picture in cells [default: 120x40]")
            .requires("screenshot"),
        text("keys", "KEYS", "Keys to press before the picture, between blanks: `v l l Enter`")
            .requires("screenshot"),
    ]
}
