//! Goes on behind a torn element of a list that ends with the file, where no line says where the next one
//! begins: at the first place from which everything up to the end of the file is a list of whole elements.
//!
//! The structure of what follows tells that place, however the torn one begins and whether its last bracket
//! is there or not. Where something in a later element has no structure but can be repaired, the beginnings
//! of elements are tried.

use std::io::{self, Read as _};
use std::ops::{ControlFlow, Range};

use super::begins::first_key;
use super::fault;
use crate::ingest::outline::Open;
use crate::ingest::split::{Fault, Piece, Reach, Sink};
use crate::ingest::{repair, scan};

/// As many beginnings of elements are tried.
const TRIES: usize = 64;

/// What is behind a torn element is held to be looked at, up to this much.
const MOST: u64 = 16 << 20;

/// Whether a piece of a list that ends with a file of `len` bytes is torn, and what follows it may be told
/// apart by looking at all of it: it runs to the end of the file without being only cut, or it begins as
/// an object and ends as a list, or it was given up up to the list's end.
#[must_use]
pub fn is_torn(piece: &Piece, len: u64) -> bool {
    match (&piece.fault, &piece.body) {
        (Some(Fault { reach: Reach::Rest, .. }), _) => true,
        (Some(Fault { reach: Reach::List, .. }), _) => len.saturating_sub(piece.offset) <= MOST,
        (None, Ok(body)) if body.starts_with(b"{") && len.saturating_sub(piece.offset) <= MOST => {
            body.ends_with(b"]") || piece.at_end && fault::fault(body).is_some()
        }
        _ => false,
    }
}

/// Hands over a torn element of a list that ends with the file, and the whole ones behind it. `cut` is what
/// was cut off from the torn one on: it counts where nothing whole can be found.
pub fn elements(cut: Vec<Piece>, len: u64, open: &Open<'_>, sink: &mut Sink<'_>) -> io::Result<()> {
    let Some(Piece { offset, number, .. }) = cut.first() else { return Ok(()) };
    let (offset, number, mut bytes) = (*offset, *number, Vec::new());
    let size = len.saturating_sub(offset);
    if size <= MOST {
        open(offset..len).read_to_end(&mut bytes)?;
    }
    // Of a list that is cut nobody knows which list its last values are in.
    if let Some(lost) = fault::list_behind(&bytes, 0, false) {
        let mut sink = |piece: Piece| sink(Piece { offset: offset + piece.offset, ..piece });
        let _ = behind(&bytes, lost, number, &mut sink);
        return Ok(());
    }
    for piece in cut {
        let go_on = if piece.fault.is_some_and(|fault| fault.reach == Reach::Rest) {
            let from = (piece.offset - offset) as usize;
            repaired(piece, bytes.get(from..).unwrap_or_default(), sink)
        } else {
            sink(piece)
        };
        if go_on.is_break() {
            break;
        }
    }
    Ok(())
}

/// The torn element that the bytes begin with, and the list that goes on behind `lost` bytes.
fn behind(bytes: &[u8], lost: usize, mut number: u64, sink: &mut Sink<'_>) -> ControlFlow<()> {
    let (torn, rest) = (bytes.get(..lost), bytes.get(lost..));
    let own = torn.unwrap_or_default().trim_ascii_end();
    let own = own.strip_suffix(b",").unwrap_or(own).trim_ascii_end();
    let between = places(own, rest.and_then(first_key));
    let reach = if between == 0 { Reach::Next } else { Reach::Later };
    let fault = Some(Fault { bytes: lost as u64, reach });
    sink(Piece { offset: 0, number, body: Ok(own.to_vec()), at_end: false, fault })?;
    number += between;
    let mut at = lost;
    while let Some(end) = scan::value_end(bytes, at) {
        number += 1;
        let body = Ok(bytes.get(at..end).unwrap_or_default().to_vec());
        sink(Piece { offset: at as u64, number, body, at_end: false, fault: None })?;
        at = scan::skip_space(bytes, end);
        if bytes.get(at) != Some(&b',') {
            break;
        }
        at = scan::skip_space(bytes, at + 1);
    }
    ControlFlow::Continue(())
}

/// How many places in a torn element look like the beginning of another one.
fn places(bytes: &[u8], key: Option<&[u8]>) -> u64 {
    let commas = memchr::memchr_iter(b',', bytes).map(|at| scan::skip_space(bytes, at + 1));
    commas.filter(|&at| key.is_some() && bytes.get(at..).and_then(first_key) == key).count() as u64
}

/// The torn element that the bytes begin with, and those behind it that are whole or can be repaired.
fn repaired(torn: Piece, bytes: &[u8], sink: &mut Sink<'_>) -> ControlFlow<()> {
    let Some((between, found)) = first_whole(bytes) else {
        // Without another place that looks like an element it was the last one.
        let ends = bytes.trim_ascii_end().ends_with(b"]") && !may_be_several(bytes);
        let reach = |f: Fault| Fault { reach: if ends { Reach::List } else { f.reach }, ..f };
        return sink(Piece { fault: torn.fault.map(reach), ..torn });
    };
    let lost = found.first().map_or(0, |first| first.start);
    let (offset, mut number) = (torn.offset, torn.number + between as u64);
    let body = torn.body.map(|mut own| {
        own.truncate(lost);
        own
    });
    let reach = if between == 0 { Reach::Next } else { Reach::Later };
    let fault = Some(Fault { bytes: lost as u64, reach });
    sink(Piece { body, at_end: false, fault, ..torn })?;
    for place in found {
        number += 1;
        let start = offset + place.start as u64;
        let body = Ok(bytes.get(place).unwrap_or_default().to_vec());
        sink(Piece { offset: start, number, body, at_end: false, fault: None })?;
    }
    ControlFlow::Continue(())
}

/// Where the elements behind the torn one are that the bytes begin with, and how many places before them
/// look like an element.
fn first_whole(bytes: &[u8]) -> Option<(usize, Vec<Range<usize>>)> {
    let key = first_key(bytes)?;
    memchr::memmem::find_iter(bytes, b"},")
        .map(|at| scan::skip_space(bytes, at + 2))
        .filter(|&at| bytes.get(at..).and_then(first_key) == Some(key))
        .take(TRIES)
        .enumerate()
        .find_map(|(before, at)| Some((before, whole_list(bytes, at)?)))
}

/// Whether more than one element may be in what was cut off as one and is none.
#[must_use]
pub fn may_be_several(bytes: &[u8]) -> bool {
    let Some(key) = first_key(bytes) else { return false };
    // What is gone of the first one may have stood before the comma or the line end between the two.
    let places = memchr::memchr_iter(b'{', bytes).skip(1);
    places.filter(|&at| bytes.get(at..).and_then(first_key) == Some(key)).any(|at| {
        let before = bytes.get(..at).unwrap_or_default();
        let own = before.trim_ascii_end();
        let line = before.get(own.len()..).is_some_and(|space| space.contains(&b'\n'));
        line || own.strip_suffix(b",").unwrap_or(own).trim_ascii_end().ends_with(b"}")
    })
}

/// The elements from here on, where they are whole and nothing but the end of their list follows.
fn whole_list(bytes: &[u8], mut at: usize) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    loop {
        let end = scan::value_end(bytes, at)?;
        if bytes.get(at) != Some(&b'{') || !repair::is_whole(bytes.get(at..end)?) {
            return None;
        }
        found.push(at..end);
        at = scan::skip_space(bytes, end);
        match bytes.get(at)? {
            b',' => at = scan::skip_space(bytes, at + 1),
            b']' => break,
            _ => return None,
        }
    }
    (scan::skip_space(bytes, at + 1) == bytes.len()).then_some(found)
}
