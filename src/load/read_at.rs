//! Positioned reads, the same on every platform, and a [`Read`] that starts anywhere.

use std::fs::File;
use std::io::{self, Read};

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
