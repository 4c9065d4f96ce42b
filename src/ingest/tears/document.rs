//! What of a document can be read in which a quote or a bracket is missing or too many, where no line
//! says where the next element begins.
//!
//! The whole elements before the tear stay, and so do those behind it where the rest is whole again. No
//! element is read without what its document says about it: where that is torn, the document is lost.

use std::io::{self, Read as _};
use std::ops::{ControlFlow, Range};

use super::held::{Behind, Gap, Head, Held, Outer};
use crate::ingest::outline::{Array, Frame, Lost, Open};
use crate::ingest::split::{Fault, Piece, Reach};
use crate::ingest::{elements, holes, repair};

/// What is behind a tear is held to be searched, up to this much.
const MOST: u64 = 16 << 20;

/// So much of a document is read for how it begins.
const BEGINNING: u64 = 64 << 10;

/// As many ways in which elements begin are kept.
const HEADS: usize = 8;

/// What a document says about its rollouts, and where they are.
#[derive(Debug, Clone, Copy)]
pub struct Keyed {
    /// The key of the list with an element for each rollout.
    pub key: &'static str,
    /// The other keys that a rollout takes something from.
    pub shared: &'static [&'static str],
}

impl From<&'static str> for Keyed {
    fn from(key: &'static str) -> Self {
        Self { key, shared: &[] }
    }
}

/// What can be read.
pub(in crate::ingest) enum Reading {
    /// All, as it seems: nothing is torn, or nothing can be said.
    Plain(Frame),
    /// The document, and in its list perhaps a tear.
    Document(Frame, Option<Tear>),
    /// Nothing of it, up to the end of the fault.
    Lost(Piece),
}

/// A torn element, and the whole ones behind it.
pub(in crate::ingest) struct Tear {
    pub piece: Piece,
    /// Number of the first one behind it.
    pub number: u64,
    pub found: Vec<Range<u64>>,
}

/// A document that may be torn.
pub(in crate::ingest) struct Torn<'a, 'o> {
    pub keyed: Keyed,
    pub outer: Outer,
    /// Where its line or the file ends.
    pub end: u64,
    pub limit: usize,
    pub open: &'a Open<'o>,
}

/// The elements of a list as they are cut, up to the first that is torn.
struct Seen {
    /// How the whole ones begin.
    heads: Vec<Head>,
    /// Where the last one ends that is no tear.
    good: u64,
    number: u64,
    torn: Option<Piece>,
}

impl Torn<'_, '_> {
    /// What of this document can be read.
    pub fn read(&self, frame: Frame) -> io::Result<Reading> {
        // One bracket that is missing leaves one open; where the file is cut within an element, more are.
        if frame.odd.is_none() && frame.left != 1 {
            return Ok(Reading::Plain(frame));
        }
        let before = |a: &&Array| frame.odd.is_none_or(|odd| a.open < odd);
        let Some(&array) = frame.arrays.iter().rev().find(before) else {
            return self.without_list(frame);
        };
        let seen = self.look(&frame, array)?;
        let Some(bytes) = self.hold(seen.good)? else {
            return Ok(self.give_up(frame, array, seen, None));
        };
        let held = self.held(&bytes);
        let at = held.skip(0);
        if let Some(tail) = held.tail(0) {
            let end = seen.good + tail.end as u64;
            let close = Some(seen.good);
            let array = Array { close, bare: true, several: true, odd: false, ..array };
            return Ok(Reading::Document(Self::mended(frame, array, end, None), None));
        }
        // What stands behind the list is the rest of the document, or torn.
        let after = |piece: &Piece| piece.fault.is_some_and(|f| f.reach == Reach::After);
        let ended = seen.torn.as_ref().is_none_or(|t| after(t) && held.tail(at + 1).is_some());
        if held.byte(at) == Some(b']') && ended {
            return self.behind_list(frame, array, seen, &held);
        }
        self.within_list(frame, array, seen, &held)
    }

    /// A list that is closed at the beginning of the bytes, behind which something is torn.
    fn behind_list(
        &self,
        frame: Frame,
        array: Array,
        seen: Seen,
        held: &Held<'_>,
    ) -> io::Result<Reading> {
        let at = held.skip(0);
        let close = Some(seen.good + at as u64);
        if let Some(tail) = held.tail(at + 1) {
            if array.close == close {
                return Ok(Reading::Plain(frame));
            }
            // Its elements go on behind a torn one, and the brackets are those of that.
            let array = Array { close, several: true, odd: false, ..array };
            let end = seen.good + tail.end as u64;
            return Ok(Reading::Document(Self::mended(frame, array, end, None), None));
        }
        let comma = held.skip(at + 1);
        let entry = held.byte(comma) == Some(b',') && held.byte(held.skip(comma + 1)) == Some(b'"');
        let document = self.head(&frame, array)?;
        let own =
            |b: &Behind| b.found.first().is_some_and(|f| held.alike(0..f.start, &document) == 0);
        let behind = || held.behind(0, &seen.heads).filter(own);
        if let Some(behind) = (!entry).then(behind).flatten() {
            return Ok(Self::go_on(frame, array, &seen, held.bytes(), behind));
        }
        let array = Array { close, ..array };
        Ok(match held.gap(at + 1, false) {
            Some((gap, _)) => self.with_gap(frame, array, held, (seen.good, gap)),
            None => self.give_up(frame, array, seen, Some(held)),
        })
    }

    /// A list within which something is torn.
    fn within_list(
        &self,
        frame: Frame,
        array: Array,
        seen: Seen,
        held: &Held<'_>,
    ) -> io::Result<Reading> {
        let torn = seen.torn.as_ref().map(|t| (t.offset - seen.good) as usize);
        let own: Vec<Head> = torn.and_then(|at| Head::of(held.bytes(), at)).into_iter().collect();
        let kin = if seen.heads.is_empty() { &own } else { &seen.heads };
        let from = torn.map_or(0, |at| at + 1);
        let document = self.head(&frame, array)?;
        // What stands in another document is none of this one's, however it begins.
        let own = |first: usize| held.alike(from..first, &document) == 0;
        let behind =
            held.behind(from, kin).filter(|b| b.found.first().is_some_and(|f| own(f.start)));
        let close = held.close(torn.unwrap_or_default()).filter(|&(close, _)| own(close));
        let first =
            behind.as_ref().and_then(|behind| behind.found.first()).map(|first| first.start);
        let sooner = close.filter(|(close, _)| first.is_none_or(|first| *close < first));
        let behind = match sooner {
            Some((close, tail)) => {
                let between = held.alike(from..close, kin);
                Some(Behind { between, found: Vec::new(), close, tail })
            }
            None => behind,
        };
        if let Some(behind) = behind {
            return Ok(Self::go_on(frame, array, &seen, held.bytes(), behind));
        }
        Ok(self.give_up(frame, array, seen, Some(held)))
    }

    /// How the document begins.
    fn head(&self, frame: &Frame, array: Array) -> io::Result<Vec<Head>> {
        let start = frame.bytes.start;
        let mut bytes = Vec::new();
        let end = array.open.min(start + BEGINNING);
        (self.open)(start..end).read_to_end(&mut bytes)?;
        Ok(Head::of(&bytes, 0).into_iter().collect())
    }

    /// Looks at the elements before the tear.
    fn look(&self, frame: &Frame, array: Array) -> io::Result<Seen> {
        let end = array.close.map_or(self.end, |close| close + 1);
        let (mut heads, mut good, mut number) = (Vec::<Head>::new(), array.open + 1, 0);
        let mut torn: Option<Piece> = None;
        let input = io::BufReader::with_capacity(1 << 20, (self.open)(array.open..end));
        // A torn one may seem to go on for long: no more of it is held than could be searched.
        let limit = self.limit.min(MOST as usize);
        elements::values(input, array.open, 1, limit, &mut |piece| {
            if let Some(doubtful) = &torn {
                let head = piece.body.as_ref().ok().and_then(|body| Head::of(body, 0));
                let known =
                    heads.is_empty() || head.is_some_and(|h| heads.iter().any(|k| k.fits(&h)));
                if !(known && matches!(&piece.body, Ok(body) if body.starts_with(b"{"))) {
                    return ControlFlow::Break(());
                }
                // It is no JSON, and the next one follows it.
                good = doubtful.offset + len(doubtful);
                torn = None;
            }
            let piece_end = piece.offset + len(&piece);
            number = piece.number;
            match piece.fault {
                Some(fault) if matches!(fault.reach, Reach::Next | Reach::Later) => {
                    good = piece.offset + fault.bytes;
                    return ControlFlow::Continue(());
                }
                Some(_) => {
                    torn = Some(piece);
                    return ControlFlow::Break(());
                }
                None => {}
            }
            // Of one that is too long to be read, only its end tells.
            if repair::whole(&piece.body) && !(piece.at_end && piece.body.is_err()) {
                good = piece_end;
                let head = piece.body.as_ref().ok().and_then(|body| Head::of(body, 0));
                heads.extend(head.filter(|h| heads.len() < HEADS && !heads.contains(h)));
                return ControlFlow::Continue(());
            }
            let here = frame.odd.is_some_and(|odd| piece_end >= odd);
            torn = Some(piece);
            if here { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let (None, Some(close)) = (&torn, array.close) {
            good = close;
        }
        Ok(Seen { heads, good, number, torn })
    }

    fn held<'b>(&'b self, bytes: &'b [u8]) -> Held<'b> {
        Held::new(bytes, self.outer, self.keyed.key.as_bytes())
    }

    /// The bytes from here to the end, where they are not too many.
    fn hold(&self, from: u64) -> io::Result<Option<Vec<u8>>> {
        let size = self.end.saturating_sub(from);
        if size > MOST {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(size as usize);
        (self.open)(from..self.end).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// A document in which no list was found before the tear.
    fn without_list(&self, frame: Frame) -> io::Result<Reading> {
        let start = frame.bytes.start;
        let Some(bytes) = self.hold(start)? else {
            return Ok(self.lost(frame, None));
        };
        let held = self.held(&bytes);
        if held.byte(0) != Some(b'{') {
            return Ok(self.lost(frame, None));
        }
        let Some((gap, before)) = held.gap(1, true) else {
            let next = held.next(0).map(|next| start + next as u64);
            return Ok(self.lost(frame, next));
        };
        let Some(list) = gap.tail.list.clone().or(before) else {
            if gap.closed {
                return Ok(Reading::Plain(frame));
            }
            return Ok(self.lost(frame, Some(start + gap.tail.end as u64)));
        };
        let array = Array {
            open: start + list.start as u64,
            close: Some(start + list.end as u64 - 1),
            several: held.several(&list),
            odd: false,
            bare: false,
        };
        Ok(self.with_gap(frame, array, &held, (start, gap)))
    }

    /// The document without an entry that is torn, where no rollout takes anything from that.
    fn with_gap(&self, frame: Frame, array: Array, held: &Held<'_>, gap: (u64, Gap)) -> Reading {
        let (base, Gap { bytes, key, closed, tail }) = gap;
        let end = base + tail.end as u64;
        if closed {
            return Reading::Plain(frame);
        }
        let hidden = held.bytes().get(bytes.clone()).is_some_and(holes::any);
        if key.is_none() || hidden || held.names(&bytes, self.keyed.shared) {
            return self.lost(frame, Some(end));
        }
        let bytes = base + bytes.start as u64..base + bytes.end as u64;
        Reading::Document(Self::mended(frame, array, end, Some(Lost { bytes, key })), None)
    }

    fn mended(frame: Frame, array: Array, end: u64, lost: Option<Lost>) -> Frame {
        let mut arrays: Vec<Array> =
            frame.arrays.into_iter().filter(|a| a.open < array.open).collect();
        arrays.push(array);
        let bytes = frame.bytes.start..end;
        Frame { bytes, closed: true, at_end: false, arrays, odd: None, lost, ..frame }
    }

    /// Goes on behind a tear in the list.
    fn go_on(
        frame: Frame,
        array: Array,
        seen: &Seen,
        bytes: &[u8],
        Behind { between, found, close, tail }: Behind,
    ) -> Reading {
        let base = seen.good;
        let (close, end) = (base + close as u64, base + tail.end as u64);
        let found: Vec<Range<u64>> =
            found.into_iter().map(|r| base + r.start as u64..base + r.end as u64).collect();
        let first = found.first().map_or(close, |first| first.start);
        // Between two elements there may be a bracket too many, and no element.
        let offset = seen.torn.as_ref().map_or(base, |torn| torn.offset);
        let part = bytes.get((offset - base) as usize..(first - base) as usize).unwrap_or_default();
        let own = seen.torn.is_some() || part.contains(&b'{');
        let number = seen.torn.as_ref().map_or(seen.number + 1, |torn| torn.number);
        let reach = match (between, found.is_empty()) {
            (0, false) => Reach::Next,
            (0, true) => Reach::List,
            _ => Reach::Later,
        };
        let fault = Some(Fault { bytes: first - offset, reach });
        let piece = Piece { offset, number, body: Ok(part.to_vec()), at_end: false, fault };
        let array = Array { close: Some(close), several: true, odd: false, ..array };
        let frame = Self::mended(frame, array, end, None);
        let number = number + between as u64 + u64::from(own);
        Reading::Document(frame, Some(Tear { piece, number, found }))
    }

    /// The rest of the document is lost. Without a sign of a tear it was only cut.
    fn give_up(&self, frame: Frame, array: Array, seen: Seen, held: Option<&Held<'_>>) -> Reading {
        if frame.odd.is_none() {
            return Reading::Plain(frame);
        }
        let reach = self.rest();
        let Some(torn) = seen.torn else {
            // The list is whole, and behind it nothing is.
            let all = 0..(self.end - seen.good) as usize;
            if frame.hole || held.is_none_or(|held| held.names(&all, self.keyed.shared)) {
                return self.lost(frame, None);
            }
            let lost = Some(Lost { bytes: seen.good + 1..self.end, key: None });
            let frame = Self::mended(frame, array, self.end, lost);
            return Reading::Document(Frame { closed: false, ..frame }, None);
        };
        let fault = Some(Fault { bytes: self.end - torn.offset, reach });
        let array = Array { close: None, several: true, odd: false, ..array };
        let frame = Self::mended(frame, array, self.end, None);
        let number = torn.number + 1;
        let tear = Tear { piece: Piece { fault, ..torn }, number, found: Vec::new() };
        Reading::Document(Frame { closed: false, ..frame }, Some(tear))
    }

    const fn rest(&self) -> Reach {
        match self.outer {
            Outer::Nothing => Reach::Document,
            Outer::Values | Outer::Elements => Reach::Rest,
        }
    }

    /// The document is lost, up to its end where that is known.
    fn lost(&self, frame: Frame, end: Option<u64>) -> Reading {
        if frame.odd.is_none() && end.is_none() {
            return Reading::Plain(frame);
        }
        let (offset, number) = (frame.bytes.start, frame.number);
        let reach = if end.is_some() { Reach::Document } else { self.rest() };
        let fault = Some(Fault { bytes: end.unwrap_or(self.end) - offset, reach });
        Reading::Lost(Piece { offset, number, body: Ok(Vec::new()), at_end: false, fault })
    }
}

fn len(piece: &Piece) -> u64 {
    piece.body.as_ref().map_or_else(|len| *len, |body| body.len() as u64)
}
