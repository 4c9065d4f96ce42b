//! Finds the elements behind a torn one where no line says where they begin: the first place that looks
//! like an element and from which everything up to the end of the file is a list of whole ones.

use std::io::{self, Read as _};
use std::ops::Range;

use super::begins::first_key;
use super::outline::Open;
use super::split::{Fault, Piece, Reach, Sink};
use super::{repair, scan};

/// As many places are tried.
const TRIES: usize = 64;

/// What is behind a torn element is held to be tried, up to this much.
const MOST: u64 = 16 << 20;

/// Hands over the torn element of an array that ends with the file, and the whole ones behind it.
pub fn elements(torn: Piece, len: u64, open: &Open<'_>, sink: &mut Sink<'_>) -> io::Result<()> {
    let size = len.saturating_sub(torn.offset);
    let mut bytes = Vec::new();
    if size <= MOST {
        open(torn.offset..len).read_to_end(&mut bytes)?;
    }
    let Some((between, found)) = behind(&bytes) else {
        // Without another place that looks like an element it was the last one.
        let ends = bytes.trim_ascii_end().ends_with(b"]") && !may_be_several(&bytes);
        let reach = |f: Fault| Fault { reach: if ends { Reach::List } else { f.reach }, ..f };
        let _ = sink(Piece { fault: torn.fault.map(reach), ..torn });
        return Ok(());
    };
    let lost = found.first().map_or(0, |first| first.start);
    let (offset, mut number) = (torn.offset, torn.number + between as u64);
    let body = torn.body.map(|mut own| {
        own.truncate(lost);
        own
    });
    let reach = if between == 0 { Reach::Next } else { Reach::Later };
    let fault = Some(Fault { bytes: lost as u64, reach });
    if sink(Piece { body, at_end: false, fault, ..torn }).is_break() {
        return Ok(());
    }
    for place in found {
        number += 1;
        let start = offset + place.start as u64;
        let body = Ok(bytes.get(place).unwrap_or_default().to_vec());
        if sink(Piece { offset: start, number, body, at_end: false, fault: None }).is_break() {
            break;
        }
    }
    Ok(())
}

/// Where the elements behind the torn one are that the bytes begin with, and how many places before them
/// look like an element.
fn behind(bytes: &[u8]) -> Option<(usize, Vec<Range<usize>>)> {
    let key = first_key(bytes)?;
    memchr::memmem::find_iter(bytes, b"},")
        .map(|at| scan::skip_space(bytes, at + 2))
        .filter(|&at| bytes.get(at..).and_then(first_key) == Some(key))
        .take(TRIES)
        .enumerate()
        .find_map(|(before, at)| Some((before, list(bytes, at)?)))
}

/// Whether more than one element may be in what was cut off as one and is none.
#[must_use]
pub fn may_be_several(bytes: &[u8]) -> bool {
    let Some(key) = first_key(bytes) else { return false };
    let places = memchr::memmem::find_iter(bytes, b"},");
    places.filter_map(|at| bytes.get(at + 2..)).any(|rest| {
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        first_key(rest) == Some(key)
    })
}

/// The elements from here on, where they are whole and nothing but the end of their list follows.
fn list(bytes: &[u8], mut at: usize) -> Option<Vec<Range<usize>>> {
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
