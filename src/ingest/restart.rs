//! Finds the elements of a list behind a torn one by the structure of what follows: the first place from
//! which everything up to the end of the file is a list of whole objects. How the torn one begins does not
//! matter, nor whether its last bracket is there.

use std::io::{self, Read as _};
use std::ops::ControlFlow;

use super::begins::first_key;
use super::outline::Open;
use super::split::{Fault, Piece, Reach, Sink};
use super::{fault, resume, scan};

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
        if piece.fault.is_some_and(|fault| fault.reach == Reach::Rest) {
            resume::elements(piece, len, open, sink)?;
        } else if sink(piece).is_break() {
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
