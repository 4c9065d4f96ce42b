//! Where a document is, the array of its elements in it, and what stands around them.

use std::io::{self, Read};
use std::ops::Range;

/// Where a document is, and the array of its elements in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The document's bytes.
    pub bytes: Range<u64>,
    /// Line, element or value, from 1.
    pub number: u64,
    /// Its last bracket is there.
    pub closed: bool,
    /// The file ended with it.
    pub at_end: bool,
    /// Of a repeated key the last array counts.
    pub(super) arrays: Vec<Array>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Array {
    /// Where its opening bracket is.
    pub open: u64,
    /// Where its closing bracket is; `None` when the document is cut before it.
    pub close: Option<u64>,
    pub several: bool,
    /// Something stands behind it that cannot: it may have been closed in the midst of a text.
    pub odd: bool,
}

/// Opens a part of the file.
pub type Open<'a> = dyn Fn(Range<u64>) -> Box<dyn Read + 'a> + 'a;

impl Frame {
    /// Whether the array of elements is closed.
    #[must_use]
    pub fn elements_end(&self) -> bool {
        self.arrays.last().is_some_and(|a| a.close.is_some())
    }

    /// Whether there is more than one element.
    #[must_use]
    pub fn several(&self) -> bool {
        self.arrays.last().is_some_and(|a| a.several)
    }

    /// The document with its array of elements empty, or its length when that is over the limit.
    pub fn text(&self, limit: usize, open: &Open<'_>) -> io::Result<Result<Vec<u8>, u64>> {
        let mut parts = Vec::with_capacity(self.arrays.len() + 1);
        let mut at = self.bytes.start;
        for array in &self.arrays {
            parts.push(at..array.open + 1);
            at = array.close.unwrap_or(self.bytes.end);
        }
        parts.push(at..self.bytes.end);
        let len = parts.iter().map(|p| p.end - p.start).sum();
        if len > limit as u64 {
            return Ok(Err(len));
        }
        let mut text = Vec::with_capacity(len as usize + 1);
        for part in parts {
            open(part).read_to_end(&mut text)?;
        }
        if !self.elements_end() {
            text.push(b']');
        }
        Ok(Ok(text))
    }

    /// Its array of elements, to be cut. A document with one whole element is as well read at once.
    pub(super) fn elements(&self) -> Option<Range<u64>> {
        let array = self.arrays.last()?;
        let end = array.close.map_or(self.bytes.end, |close| close + 1);
        (array.several || !self.closed).then_some(array.open..end)
    }
}
