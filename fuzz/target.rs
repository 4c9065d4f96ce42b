//! The one source of all fuzz targets: each binary runs the body of its own name.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    credscope_fuzz::run(env!("CARGO_BIN_NAME"), data);
});
