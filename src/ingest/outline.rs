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
    /// What of it is lost beside its elements.
    pub lost: Option<Lost>,
    /// Of a repeated key the last array counts.
    pub(super) arrays: Vec<Array>,
    /// Where something stands that can stand there only if a quote or a bracket is missing before.
    pub(super) odd: Option<u64>,
    /// How many brackets are open at its end, and texts.
    pub(super) left: usize,
    /// A block of NUL bytes is in it.
    pub(super) hole: bool,
}

/// An entry of a document that is torn: the rest without it is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its bytes.
    pub bytes: Range<u64>,
    /// Its key, where that can be read.
    pub key: Option<String>,
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
    /// Its closing bracket is missing: `close` is where it should be.
    pub bare: bool,
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
        let mut gaps: Vec<(Range<u64>, bool)> = Vec::with_capacity(self.arrays.len() + 1);
        for array in &self.arrays {
            let close = array.close.unwrap_or(self.bytes.end);
            gaps.push((array.open + 1..close, array.bare));
        }
        gaps.extend(self.lost.as_ref().map(|lost| (lost.bytes.clone(), false)));
        gaps.sort_by_key(|(gap, _)| gap.start);
        let mut parts = Vec::with_capacity(gaps.len() + 1);
        let mut at = self.bytes.start;
        for (gap, bare) in gaps {
            // A torn document may end before what seemed to be its list.
            let (start, end) = (gap.start.min(self.bytes.end), gap.end.min(self.bytes.end));
            parts.push((at..start.max(at), bare));
            at = end.max(at);
        }
        parts.push((at..self.bytes.end.max(at), false));
        let len = parts.iter().map(|(p, _)| p.end - p.start).sum();
        if len > limit as u64 {
            return Ok(Err(len));
        }
        let mut text = Vec::with_capacity(len as usize + 1);
        for (part, bare) in parts {
            open(part).read_to_end(&mut text)?;
            text.extend(bare.then_some(b']'));
        }
        if !self.elements_end() {
            text.push(b']');
        }
        Ok(Ok(text))
    }

    /// The bracket that ends its list is missing.
    #[must_use]
    pub fn bare(&self) -> bool {
        self.arrays.last().is_some_and(|a| a.bare)
    }

    /// It can be read only without a part of it, or with a bracket that is missing.
    fn mended(&self) -> bool {
        self.lost.is_some() || self.bare()
    }

    /// Its array of elements, to be cut. A document with one whole element is as well read at once.
    pub(super) fn elements(&self) -> Option<Range<u64>> {
        let array = self.arrays.last()?;
        // Where its closing bracket is missing, nothing may stand there.
        let end = array.close.map_or(self.bytes.end, |close| (close + 1).min(self.bytes.end));
        let cut = array.several || !self.closed || self.mended();
        cut.then_some(array.open.min(end)..end)
    }
}
