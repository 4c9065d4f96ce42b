//! Finds, in the bytes behind a tear in a document, the place from which everything is whole again: an
//! element of its list, an entry beside it, or the next document.
//!
//! A place counts only where all that follows it is whole up to the end of the document and of what
//! stands around that: a wrong place could be read as something that is not there.

use std::cell::Cell;
use std::ops::Range;

use crate::ingest::{repair, scan};

/// What may stand behind a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum Outer {
    /// Nothing: it is a line, or the whole file.
    Nothing,
    /// Other values.
    Values,
    /// Other elements of an array, and its end.
    Elements,
}

/// How an element begins: its first key, and the second one where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ingest) struct Head(Vec<u8>, Option<Vec<u8>>);

impl Head {
    /// How the object at this place begins; its bracket may be missing.
    pub fn of(bytes: &[u8], at: usize) -> Option<Self> {
        let (first, value) = key(bytes, skip_open(bytes, at).unwrap_or(at))?;
        let second = || {
            let end = scan::value_end(bytes, value)?;
            let comma = scan::skip_space(bytes, end);
            let next =
                (bytes.get(comma) == Some(&b',')).then(|| scan::skip_space(bytes, comma + 1));
            key(bytes, next?).map(|(name, _)| bytes.get(name).unwrap_or_default().to_vec())
        };
        Some(Self(bytes.get(first)?.to_vec(), second()))
    }

    pub fn fits(&self, other: &Self) -> bool {
        self.0 == other.0 && (self.1 == other.1 || self.1.is_none())
    }
}

/// The rest of a document from which on everything is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ingest) struct Tail {
    /// One past the document.
    pub end: usize,
    /// The list of its elements, where it is in it.
    pub list: Option<Range<usize>>,
}

/// Elements behind a tear, up to the end of their list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ingest) struct Behind {
    /// How many places before the first one look like an element.
    pub between: usize,
    pub found: Vec<Range<usize>>,
    /// Where the bracket is that ends the list.
    pub close: usize,
    pub tail: Tail,
}

/// An entry of a document that is torn, and the rest behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ingest) struct Gap {
    /// What is lost; the rest without it is an object again.
    pub bytes: Range<usize>,
    pub key: Option<String>,
    /// Its value ends where brackets and quotes say: it is no JSON, but nothing is torn.
    pub closed: bool,
    pub tail: Tail,
}

/// As many bytes are looked at in the search for a place.
const WORK: u64 = 512 << 20;

/// Bytes of a document from somewhere before its tear up to where its line or the file ends.
pub(in crate::ingest) struct Held<'a> {
    bytes: &'a [u8],
    outer: Outer,
    key: &'a [u8],
    work: Cell<u64>,
}

impl<'a> Held<'a> {
    pub fn new(bytes: &'a [u8], outer: Outer, key: &'a [u8]) -> Self {
        Self { bytes, outer, key, work: Cell::new(0) }
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    pub fn skip(&self, at: usize) -> usize {
        scan::skip_space(self.bytes, at)
    }

    /// Counts what is looked at; `None` when it is enough.
    fn spend(&self, bytes: usize) -> Option<()> {
        self.work.set(self.work.get() + bytes as u64 + 1);
        (self.work.get() < WORK).then_some(())
    }

    fn value(&self, at: usize) -> Option<usize> {
        let end = scan::value_end(self.bytes, at);
        self.spend(end.unwrap_or(self.bytes.len()).saturating_sub(at))?;
        end
    }

    /// One past the value at this place, where it is whole.
    fn whole(&self, at: usize) -> Option<usize> {
        let end = self.value(at)?;
        repair::is_whole(self.bytes.get(at..end)?).then_some(end)
    }

    /// An entry: where its value begins and ends, where it is whole, and whether it is the list.
    fn entry(&self, at: usize) -> Option<(Range<usize>, bool)> {
        let (name, value) = key(self.bytes, at)?;
        let end = self.whole(value)?;
        let list = self.bytes.get(name) == Some(self.key) && self.byte(value) == Some(b'[');
        Some((value..end, list))
    }

    /// The rest of a document behind one of its values.
    pub fn tail(&self, mut at: usize) -> Option<Tail> {
        let mut list = None;
        loop {
            at = self.skip(at);
            match self.byte(at)? {
                b'}' => return self.outer(at + 1).then_some(Tail { end: at + 1, list }),
                b',' => {
                    let (value, is_list) = self.entry(self.skip(at + 1))?;
                    at = value.end;
                    list = if is_list { Some(value) } else { list };
                }
                _ => return None,
            }
        }
    }

    /// Whether what stands behind a document is whole.
    fn outer(&self, mut at: usize) -> bool {
        loop {
            at = self.skip(at);
            let next = match (self.outer, self.byte(at)) {
                (Outer::Nothing | Outer::Values, None) => return true,
                (Outer::Elements, Some(b']')) => return self.skip(at + 1) == self.bytes.len(),
                (Outer::Elements, Some(b',')) => self.skip(at + 1),
                (Outer::Values, Some(b'{')) => at,
                _ => return false,
            };
            match self.whole(next) {
                Some(end) => at = end,
                None => return false,
            }
        }
    }

    /// The elements behind a tear: from the first place that begins like one of `kin` and from which all
    /// is a list of such up to its end, with a whole rest of the document.
    pub fn behind(&self, from: usize, kin: &[Head]) -> Option<Behind> {
        let (mut between, mut at) = (0, from);
        loop {
            at += memchr::memchr(b'{', self.bytes.get(at..)?)?;
            if self.begins(at, b",") && self.is_kin(at, kin) {
                match self.list(at, kin) {
                    List::Whole(found, close, tail) => {
                        return Some(Behind { between, found, close, tail });
                    }
                    // What stood in this list stands in none that ends with the document.
                    List::Within(end) => at = end,
                    List::Torn(first) => {
                        between += 1 + first.0;
                        at = first.1;
                    }
                }
            }
            self.spend(0)?;
            at += 1;
        }
    }

    /// Whether the last byte before this place that is no white space is one of these.
    fn begins(&self, at: usize, behind: &[u8]) -> bool {
        let before = self.bytes.get(..at).unwrap_or_default().trim_ascii_end();
        before.last().is_some_and(|last| behind.contains(last))
    }

    fn is_kin(&self, at: usize, kin: &[Head]) -> bool {
        let first = skip_open(self.bytes, at).and_then(|at| key(self.bytes, at));
        let Some(first) = first.and_then(|(name, _)| self.bytes.get(name)) else { return false };
        kin.iter().any(|k| k.0 == first)
            && Head::of(self.bytes, at).is_some_and(|head| kin.iter().any(|k| k.fits(&head)))
    }

    /// The elements from here on. One that is no JSON is an element nevertheless where brackets and
    /// quotes say that the next one follows it: it is for its reader to refuse it.
    fn list(&self, mut at: usize, kin: &[Head]) -> List {
        let mut found: Vec<Range<usize>> = Vec::new();
        loop {
            let torn = List::Torn((found.len(), at));
            let Some(end) = self.value(at).filter(|_| self.byte(at) == Some(b'{')) else {
                return torn;
            };
            let whole = self.bytes.get(at..end).is_some_and(repair::is_whole);
            let next = self.skip(end);
            match self.byte(next) {
                Some(b',') => {
                    found.push(at..end);
                    let next = self.skip(next + 1);
                    if !whole && !self.is_kin(next, kin) {
                        return torn;
                    }
                    at = next;
                }
                Some(b']') if whole => {
                    found.push(at..end);
                    return match self.tail(next + 1) {
                        Some(tail) => List::Whole(found, next, tail),
                        None => List::Within(next),
                    };
                }
                _ => return torn,
            }
        }
    }

    /// The first bracket that may end the list, since a whole rest of the document follows.
    pub fn close(&self, from: usize) -> Option<(usize, Tail)> {
        let rest = self.bytes.get(from..)?;
        memchr::memchr_iter(b']', rest)
            .map(|at| from + at)
            .find_map(|at| Some((at, self.tail(at + 1)?)))
    }

    /// The first torn entry behind a value of the document (or, with `first`, behind its opening bracket),
    /// and the list where it stands before that entry.
    pub fn gap(&self, mut at: usize, first: bool) -> Option<(Gap, Option<Range<usize>>)> {
        let (mut list, mut opening) = (None, first);
        loop {
            let start = at;
            at = self.skip(at);
            let entry = match (opening, self.byte(at)) {
                (true, Some(_)) => at,
                (false, Some(b',')) => self.skip(at + 1),
                _ => return Some((self.gap_at(start, start, opening)?, list)),
            };
            let Some((value, is_list)) = self.entry(entry) else {
                return Some((self.gap_at(start, entry, opening)?, list));
            };
            list = if is_list { Some(value.clone()) } else { list };
            (at, opening) = (value.end, false);
        }
    }

    /// The torn entry that begins at `entry`, with what parts it from the others from `start` on.
    fn gap_at(&self, start: usize, entry: usize, opening: bool) -> Option<Gap> {
        let (name, value) =
            key(self.bytes, entry).map_or((None, None), |(n, v)| (Some(n), Some(v)));
        let rest = self.bytes.get(entry..)?;
        let (end, tail) = memchr::memchr2_iter(b',', b'}', rest)
            .map(|at| entry + at)
            .find_map(|at| Some((at, self.tail(at)?)))?;
        let closed = value.is_some_and(|value| self.closed(value, end));
        let name = name.and_then(|name| self.bytes.get(name));
        let key = name.map(|name| String::from_utf8_lossy(name).into_owned());
        let comma = usize::from(opening && self.byte(end) == Some(b','));
        Some(Gap { bytes: start..end + comma, key, closed, tail })
    }

    /// Whether the value at this place ends there, and is no text that lacks its first quote.
    fn closed(&self, value: usize, end: usize) -> bool {
        let own = self.bytes.get(value..end).unwrap_or_default();
        let word = !matches!(own.first(), Some(b'"' | b'{' | b'['));
        scan::value_end(self.bytes, value).is_some_and(|at| self.skip(at) == end)
            && !(word && own.contains(&b'"'))
            && !escapes(own)
    }

    /// How many places in this part begin as elements do, or as documents.
    pub fn alike(&self, part: Range<usize>, kin: &[Head]) -> usize {
        let own = self.bytes.get(part.clone()).unwrap_or_default();
        let places = memchr::memchr_iter(b'{', own).map(|at| part.start + at);
        places.filter(|&at| self.begins(at, b",}") && self.is_kin(at, kin)).count()
    }

    /// The next document that begins as the one at `from` does and from which all is whole.
    pub fn next(&self, from: usize) -> Option<usize> {
        let head = Head::of(self.bytes, from)?;
        let behind: &[u8] = match self.outer {
            Outer::Nothing => return None,
            Outer::Values => b"}",
            Outer::Elements => b",",
        };
        let rest = self.bytes.get(from + 1..)?;
        memchr::memchr_iter(b'{', rest).map(|at| from + 1 + at).find(|&at| {
            self.begins(at, behind)
                && Head::of(self.bytes, at).is_some_and(|other| head.0 == other.0)
                && self.whole(at).is_some_and(|end| self.outer(end))
        })
    }

    /// Whether a whole list has more than one element.
    pub fn several(&self, list: &Range<usize>) -> bool {
        let first = scan::value_end(self.bytes, self.skip(list.start + 1));
        first.is_some_and(|end| self.byte(self.skip(end)) == Some(b','))
    }

    /// Whether one of these keys may stand in a part of the document.
    pub fn names(&self, part: &Range<usize>, keys: &[&str]) -> bool {
        let part = self.bytes.get(part.clone()).unwrap_or_default();
        keys.iter().any(|key| scan::may_name(part, key))
    }
}

/// What stands from a place on that looks like an element.
enum List {
    /// The elements, the end of their list, and the rest of the document.
    Whole(Vec<Range<usize>>, usize, Tail),
    /// A list that ends here within something else.
    Within(usize),
    /// After that many elements, one is torn that begins there.
    Torn((usize, usize)),
}

/// Whether an escape stands outside of texts.
fn escapes(value: &[u8]) -> bool {
    let mut at = 0;
    while let Some(next) = value.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if value.get(at) == Some(&b'\\') {
            return true;
        }
        at = scan::string_end(value, at).unwrap_or(value.len());
    }
    false
}

fn skip_open(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes.get(at) == Some(&b'{')).then(|| scan::skip_space(bytes, at + 1))
}

/// The key at this place, without its quotes, and where its value begins.
fn key(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let end = scan::string_end(bytes, at)?;
    let colon = scan::skip_space(bytes, end);
    let value = (bytes.get(colon) == Some(&b':')).then(|| scan::skip_space(bytes, colon + 1))?;
    Some((at + 1..end - 1, value))
}
