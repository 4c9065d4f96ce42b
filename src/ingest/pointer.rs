//! Git LFS pointers: the three lines that stand in a checkout in place of a file's content, alone or, where
//! files were put together, among the records of others.

use super::reader::{NotRollouts, RecordError, RecordErrorKind};

/// How a pointer begins.
const HEAD: &[u8] = b"version https://git-lfs.github.com/spec/";

/// How the lines after the first begin.
const REST: [&[u8]; 2] = [b"oid sha256:", b"size "];

const WHAT: &str = "Git LFS pointer";
const MISSING: &str = "the content itself is not in this checkout";
const HINT: &str = "run `git lfs pull`, or download the file from where the repository is hosted";

/// Whether a file or a line is the beginning of a pointer.
#[must_use]
pub fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(HEAD)
}

/// What is said of a file that is a pointer.
#[must_use]
pub fn file() -> NotRollouts {
    NotRollouts { what: WHAT.into(), missing: MISSING.into(), hint: HINT.into() }
}

/// What is said of a pointer that stands among records.
#[must_use]
pub fn among_records() -> RecordError {
    RecordError {
        kind: RecordErrorKind::Broken,
        ..RecordError::unexpected(None, format!("{WHAT} in place of records: {MISSING}"))
    }
    .hint(HINT)
}

/// Follows lines: a pointer is one thing that is lost, not three.
#[derive(Debug, Default)]
pub struct Lines {
    /// The line that the pointer may go on with.
    next: Option<u64>,
}

impl Lines {
    /// Whether a line goes on with the pointer that stands before it.
    pub fn goes_on(&mut self, number: u64, line: &[u8]) -> bool {
        let more = self.next == Some(number) && REST.iter().any(|rest| line.starts_with(rest));
        self.next = (more || begins(line)).then_some(number + 1);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_followed_to_its_end() {
        let mut lines = Lines::default();
        let told: Vec<bool> = [
            &b"size 5"[..],
            b"version https://git-lfs.github.com/spec/v1",
            b"oid sha256:00",
            b"size 5",
            b"{}",
            b"oid sha256:00",
        ]
        .iter()
        .zip(1..)
        .map(|(line, number)| lines.goes_on(number, line))
        .collect();
        assert_eq!(told, [false, false, true, true, false, false]);
    }
}
