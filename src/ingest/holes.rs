//! Blocks of NUL bytes: parts of a file that were never written, because a disk was full, a machine
//! stopped, or the file was copied while it was written.
//!
//! JSON holds no raw NUL byte, its writers escape it. A single one may be the slip of a writer; of a block
//! nobody knows what stood there. Line ends and brackets may have been among it, so what is before it and
//! what is behind it may be halves of two records that look like one.

use super::reader::{RecordError, RecordErrorKind};

/// So many NUL bytes in a row are no slip.
const BLOCK: [u8; 2] = [0; 2];

/// Whether a block is among the bytes.
#[must_use]
pub fn any(bytes: &[u8]) -> bool {
    // Most records have no NUL byte, and to search for one byte is the fastest.
    memchr::memchr(0, bytes).is_some_and(|first| {
        let rest = bytes.get(first..).unwrap_or_default();
        memchr::memmem::find(rest, &BLOCK).is_some()
    })
}

/// What is said of bytes that hold a block.
#[must_use]
pub fn told(bytes: &[u8]) -> Option<String> {
    any(bytes).then(|| {
        let count = memchr::memchr_iter(0, bytes).count();
        format!(
            "{count} NUL bytes stand in it (blocks of the file that were never written, or not yet \
             when it was copied)"
        )
    })
}

/// What to do about them.
pub const HINT: &str = "copy or write the file again";

/// What is said of a record with a block in it.
#[must_use]
pub fn error(bytes: &[u8]) -> Option<RecordError> {
    let reason = format!("{}, and how many more records they held is unknown", told(bytes)?);
    let kind = RecordErrorKind::Broken;
    Some(RecordError { kind, ..RecordError::unexpected(None, reason) }.hint(HINT))
}

/// Follows the bytes of a record.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Follow {
    last: Option<u64>,
    /// A block was met.
    pub found: bool,
}

impl Follow {
    /// Moves over a byte of the file.
    pub fn step(&mut self, byte: u8, at: u64) {
        if byte == 0 {
            self.found |= self.last.is_some_and(|last| last + 1 == at);
            self.last = Some(at);
        }
    }

    /// How many of `plain` bytes that change nothing else come before the next NUL byte.
    pub fn plain(rest: &[u8], plain: usize) -> usize {
        memchr::memchr(0, rest.get(..plain).unwrap_or(rest)).unwrap_or(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_more_than_one_in_a_row() {
        for (bytes, block) in [
            (&b""[..], false),
            (b"{}", false),
            (b"\"a\0b\"", false),
            (b"\"a\0b\0c\"", false),
            (b"\"a\0b\0\0c\"", true),
            (b"\0\0", true),
        ] {
            assert_eq!((any(bytes), error(bytes).is_some()), (block, block), "{bytes:?}");
            let mut follow = Follow::default();
            bytes.iter().zip(7..).for_each(|(byte, at)| follow.step(*byte, at));
            assert_eq!(follow.found, block, "{bytes:?}");
        }
        assert!(error(b"\"a\0b\0\0c\"").unwrap().reason.starts_with("3 NUL bytes"));
    }
}
