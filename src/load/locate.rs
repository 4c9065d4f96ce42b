//! Where in its file a record stands that could not be read: its line, and the place of what the
//! parser stumbled over. Only what is told is looked up, each file in one pass.

use std::io::{self, BufRead as _, BufReader, Read as _};

use serde::de::IgnoredAny;

use super::read_at::Cursor;
use super::report::Skipped;
use super::sources::Source;
use crate::ingest::{RecordErrorKind, json};
use crate::rollout::SourceId;

/// A parser that has read this much of a record without a complaint is not asked any more.
const FAR: u64 = 64 << 20;

/// Lines that are known already.
#[derive(Debug, Default)]
pub struct Locator {
    file: SourceId,
    offset: u64,
    newlines: u64,
    /// Where the line that `offset` is on begins.
    line_start: u64,
}

impl Locator {
    /// Fills in the places of a skipped record, or of an element of one, that starts at `offset`.
    /// Records come in file order; a file that cannot be read any more just has no places.
    pub fn locate(&mut self, skipped: &mut Skipped, file: SourceId, source: &Source, offset: u64) {
        let lines = skipped.unit == "line";
        let (line, before) = if lines && skipped.part.is_none() && skipped.number > 0 {
            (skipped.number, 0)
        } else {
            let Ok(newlines) = self.newlines(file, source, offset) else { return };
            skipped.line = (!lines).then_some(newlines + 1);
            if lines && skipped.part.is_none() {
                skipped.number = newlines + 1;
            }
            (newlines + 1, offset - self.line_start)
        };
        if skipped.kind == RecordErrorKind::Broken {
            let stumble = stumble(source, offset, lines, &skipped.reason).ok().flatten();
            skipped.at = stumble.map(|(further, column)| {
                (line + further, if further == 0 { before + column } else { column })
            });
        }
    }

    /// Line ends before `offset`.
    fn newlines(&mut self, file: SourceId, source: &Source, offset: u64) -> io::Result<u64> {
        if self.file != file || self.offset > offset {
            *self = Self { file, ..Self::default() };
        }
        let (from, mut found) = (self.offset, 0_u64);
        let (mut at, mut line_start) = (from, self.line_start);
        source.content(|file, start, _| {
            let mut rest = BufReader::new(Cursor { file, at: start + from }.take(offset - from));
            loop {
                let chunk = rest.fill_buf()?;
                if chunk.is_empty() {
                    return Ok(());
                }
                found += memchr::memchr_iter(b'\n', chunk).count() as u64;
                let len = chunk.len();
                if let Some(last) = memchr::memrchr(b'\n', chunk) {
                    line_start = at + last as u64 + 1;
                }
                at += len as u64;
                rest.consume(len);
            }
        })?;
        self.offset = offset;
        self.line_start = line_start;
        self.newlines += found;
        Ok(self.newlines)
    }
}

/// Lines below the record's start and the column of what is no JSON. `None` when the parser has another
/// complaint than the one that is told: then the record was repaired as far as that went.
fn stumble(source: &Source, offset: u64, line: bool, told: &str) -> io::Result<Option<(u64, u64)>> {
    source.content(|file, start, len| {
        let left = len.saturating_sub(offset).min(FAR);
        let mut rest = BufReader::new(Cursor { file, at: start + offset }.take(left));
        let mut own = Vec::new();
        let error = if line {
            rest.read_until(b'\n', &mut own)?;
            serde_json::from_slice::<IgnoredAny>(own.trim_ascii_end()).err()
        } else {
            let mut values = serde_json::Deserializer::from_reader(rest).into_iter::<IgnoredAny>();
            values.next().and_then(Result::err)
        };
        Ok(error.filter(|e| told.ends_with(&json::complaint(e))).map(|error| {
            let bom = u64::from(offset == 0 && own.starts_with(b"\xef\xbb\xbf")) * 3;
            (error.line().saturating_sub(1) as u64, (error.column() as u64).saturating_sub(bom))
        }))
    })
}
