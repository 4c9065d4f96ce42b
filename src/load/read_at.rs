//! Positioned reads, the same on every platform, and a [`Read`] that starts anywhere.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads up to `buf.len()` bytes at `offset`, without moving the file's own position.
pub fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::read_at(file, buf, offset)
    }
    #[cfg(windows)]
    {
        std::os::windows::fs::FileExt::seek_read(file, buf, offset)
    }
}

/// Reads `len` bytes at `offset`, or fewer where the file ends.
pub fn read_range(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    Cursor { file, at: offset }.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file from a position on, without moving the file's own position.
#[derive(Debug)]
pub struct Cursor<'a> {
    /// The file.
    pub file: &'a File,
    /// Where the next read starts.
    pub at: u64,
}

impl Read for Cursor<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = read_at(self.file, buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// A [`Read`] that fails soon after a flag is set.
#[derive(Debug)]
pub struct Cancellable<'c, R> {
    /// Where the bytes come from.
    pub from: R,
    /// The flag.
    pub cancel: Option<&'c AtomicBool>,
}

/// As many bytes are read before the flag is looked at again.
const AT_ONCE: usize = 1 << 20;

impl<R: Read> Read for Cancellable<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(io::Error::other("cancelled"));
        }
        let some = buf.len().min(AT_ONCE);
        self.from.read(buf.get_mut(..some).unwrap_or_default())
    }
}

/// Writes all of `bytes` at `offset`, without relying on the file's own position.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
    }
    #[cfg(windows)]
    {
        let (mut rest, mut at) = (bytes, offset);
        while !rest.is_empty() {
            let n = std::os::windows::fs::FileExt::seek_write(file, rest, at)?;
            rest = rest.get(n..).unwrap_or_default();
            at += n as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Layout, split, survey};
    use std::ops::ControlFlow;

    /// Sets the flag when this many bytes were read, and counts on.
    struct Endless<'c> {
        flag: &'c AtomicBool,
        read: &'c std::cell::Cell<u64>,
        until: u64,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            // One document that does not end, and one record that does not end.
            buf.fill(b'x');
            if self.read.get() == 0 {
                buf[0] = b'"';
            }
            self.read.set(self.read.get() + buf.len() as u64);
            self.flag.fetch_or(self.read.get() >= self.until, Ordering::Relaxed);
            Ok(buf.len())
        }
    }

    #[test]
    fn a_scan_ends_within_a_few_megabytes_of_the_flag() {
        const UNTIL: u64 = 5 << 20;
        let layouts = [Layout::Lines, Layout::Document, Layout::Elements, Layout::Values];
        for (layout, surveyed) in layouts.into_iter().flat_map(|l| [(l, false), (l, true)]) {
            let (flag, read) = (AtomicBool::new(false), std::cell::Cell::new(0));
            let open = || Cancellable {
                from: Endless { flag: &flag, read: &read, until: UNTIL },
                cancel: Some(&flag),
            };
            let error = if surveyed {
                let open = |_| -> Box<dyn Read + '_> { Box::new(open()) };
                let sink = &mut |_| ControlFlow::Continue(());
                survey::split(layout, "k", u64::MAX, split::LIMIT, &open, sink).unwrap_err()
            } else {
                let sink = &mut |_| ControlFlow::Continue(());
                split::split(layout, open(), split::LIMIT, sink).unwrap_err()
            };
            assert_eq!(error.to_string(), "cancelled");
            assert!(read.get() <= UNTIL + (2 << 20), "{layout:?}: {}", read.get());
        }
    }
}
