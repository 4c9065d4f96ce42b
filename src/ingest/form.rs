//! The outermost form of a file, from its beginning: lines, an array, values, or one document.
//!
//! What is whole decides. A first record that is torn must not make a broken document of a file of
//! lines, and a line of something else before the records must not either.

use super::reader::Layout;
use super::scan;
use super::tears::begins::first_key;
use super::tears::fault;

/// As many lines behind the first are looked at.
const LINES: usize = 64;

/// The outermost form of a file that begins with these bytes; `whole` when they are all of it.
///
/// A value over several lines is a document; else records stand on lines.
pub(super) fn layout(bytes: &[u8], whole: bool) -> Layout {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    let alone = first.len() >= bytes.trim_ascii_end().len();
    let line_complete = scan::value_end(first, 0) == Some(first.trim_ascii_end().len());
    match bytes.first() {
        Some(b'[') if line_complete && !alone => listed(first, bytes),
        Some(b'[') => match fault::fault(bytes) {
            Some(_) if lines_behind(first, bytes, true) => Layout::Lines,
            _ => Layout::Elements,
        },
        Some(b'{') if line_complete => Layout::Lines,
        Some(b'{') if alone && scan::value_end(first, 0).is_none() => one_line(first),
        Some(b'{') => object(first, bytes, (whole, alone)),
        _ => Layout::Lines,
    }
}

/// The form of a file whose first line is a whole list: a list with a stray tail, or a line among others.
fn listed(first: &[u8], bytes: &[u8]) -> Layout {
    let objects = first.get(scan::skip_space(first, 1)) == Some(&b'{');
    let mut rest = bytes.split(|&b| b == b'\n').skip(1).map(<[u8]>::trim_ascii);
    let tail = rest.all(|l| !l.starts_with(b"{") && l.iter().find(|&&b| b != b'[') != Some(&b'{'));
    if objects && tail { Layout::Elements } else { Layout::Lines }
}

/// The form of what begins with an object that is not all of the first line.
fn object(first: &[u8], bytes: &[u8], (whole, alone): (bool, bool)) -> Layout {
    if fault::fault(bytes).is_some() {
        if lines_behind(first, bytes, true) {
            return Layout::Lines;
        }
        // A list that lost its first bracket, or values of which one is torn.
        let holds = scan::value_end(bytes, 0).and_then(|end| bytes.get(..end));
        return match holds.filter(|value| fault::is_value(value)) {
            Some(_) => Layout::Values,
            None => torn(first, bytes, alone),
        };
    }
    match scan::value_end(bytes, 0) {
        Some(end) if scan::skip_space(bytes, end) >= bytes.len() => Layout::Document,
        Some(_) => Layout::Values,
        None if lines_behind(first, bytes, false) => Layout::Lines,
        None if whole && second_line_complete(bytes) => Layout::Lines,
        None => Layout::Document,
    }
}

/// The form of one line that holds a torn object: others may follow it without a comma, where an object
/// begins as the line does. In a text its quotes would be escaped.
fn one_line(line: &[u8]) -> Layout {
    let Some(key) = first_key(line) else { return Layout::Lines };
    let follows = memchr::memchr_iter(b'{', line).any(|at| {
        let before = line.get(..at).unwrap_or_default().trim_ascii_end();
        before.ends_with(b"}") && line.get(at..).and_then(first_key) == Some(key)
    });
    if follows { Layout::Values } else { Layout::Lines }
}

/// The form of what begins with a torn object: a first line that only opens a bracket begins a document,
/// or the first of several values.
fn torn(first: &[u8], bytes: &[u8], alone: bool) -> Layout {
    let first = first.trim_ascii_end();
    let second = bytes.get(first.len()..).unwrap_or_default().trim_ascii_start();
    if alone {
        one_line(first)
    } else if second.starts_with(b"{") && !first.ends_with(b"[") {
        Layout::Lines
    } else if memchr::memmem::find(bytes, b"\n{").is_some() && first == b"{" {
        Layout::Values
    } else {
        Layout::Document
    }
}

/// Whether whole objects stand on lines of their own behind the first line, and more of them than objects
/// with a comma behind, as a list has them. One alone counts where it begins like the first line, or the
/// first line has a `fault` and begins like nothing.
fn lines_behind(first: &[u8], bytes: &[u8], fault: bool) -> bool {
    let lines = bytes.split(|&b| b == b'\n').skip(1).map(<[u8]>::trim_ascii_end);
    let mut lines = lines.filter(|line| !line.is_empty()).peekable();
    let (mut whole, mut listed, mut alike) = (0, 0, false);
    for _ in 0..LINES {
        let Some(line) = lines.next() else { break };
        let end = scan::value_end(line, 0).filter(|_| line.starts_with(b"{") && line != b"{}");
        let rest = end.and_then(|end| line.get(end..));
        let closes = lines.peek().is_some_and(|next| next.trim_ascii_start().starts_with(b"]"));
        match rest.map(<[u8]>::trim_ascii_start) {
            Some([]) if !closes && fault::is_value(line) => {
                whole += 1;
                let key = first_key(first);
                alike |= key == first_key(line) || key.is_none() && fault;
            }
            Some([] | [b',', ..]) => listed += 1,
            _ => {}
        }
    }
    whole > listed && (whole > 1 || alike)
}

fn second_line_complete(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    // A line that ends by opening a list is the beginning of a document with an element per line.
    lines.next().is_some_and(|l| !l.ends_with(b"["))
        && lines
            .next()
            .is_some_and(|l| l.starts_with(b"{") && scan::value_end(l, 0) == Some(l.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout_of(text: &str) -> Layout {
        layout(text.as_bytes(), true)
    }

    #[test]
    fn outermost_forms() {
        for (text, form) in [
            ("{\"a\":1}\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":1}", Layout::Lines),
            ("{\n \"a\":1\n}\n", Layout::Document),
            ("{\"r\":[\n{\"a\":1},\n{\"a\":NaN}\n]}\n", Layout::Document),
            ("{\n\"a\":1\n}\n{\n\"a\":2\n}\n", Layout::Values),
            ("{\"a\":1}{\"a\":2}\n{\"a\":3}\n", Layout::Values),
            ("[{\"a\":1},\n{\"a\":2}]", Layout::Elements),
            ("[1,2]\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":1}\r\n{\"a\":2}\r\n", Layout::Lines),
        ] {
            assert_eq!(layout_of(text), form, "{text}");
        }
    }

    #[test]
    fn a_torn_beginning_does_not_hide_the_form() {
        for (text, form) in [
            // Lines.
            ("{\"a\":\"cut\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":1,\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":[\n{\"a\":[2]}\n", Layout::Lines),
            ("{\"a\":[\n{\"b\":[2]}\n{\"b\":[2]}\n", Layout::Lines),
            ("{\"a\":1,2],\"b\":3}\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":{\"b\":1}\n{\"a\":2}\n", Layout::Lines),
            ("{\"b\":1},{\"b\":2}],\"c\":1}\n{\"a\":2}\n{\"a\":3}\n", Layout::Lines),
            ("[1,2],\"b\":3}\n{\"a\":2}\n{\"a\":3}\n", Layout::Lines),
            // Something else before the lines.
            ("[2024-05-06 07:08] INFO begins\n{\"a\":2}\n{\"a\":3}\n", Layout::Lines),
            ("# runs\n{\"a\":2}\n", Layout::Lines),
            ("null\n{\"a\":2}\n", Layout::Lines),
            ("{}\n{\"a\":2}\n", Layout::Lines),
            // Documents, and values one after the other.
            ("{\"r\":[\n{\"a\":2}\n", Layout::Document),
            ("{\"r\":[\n{\"a\":\"x},\n{\"a\":2}\n]}", Layout::Document),
            ("{\"i\":1,\n\"r\":[\n{\"a\":\"x},\n{\"a\":2}\n]}", Layout::Document),
            ("{\n\"a\":\"x,\n\"b\":1}\n{\n\"a\":2}\n", Layout::Values),
            // Lists.
            ("[{\"a\":\"x},\n{\"a\":2},\n{\"a\":3}\n]", Layout::Elements),
            ("[\n{\"a\":\"x\"}\n{\"a\":2},\n{\"a\":3}\n]", Layout::Elements),
            ("[{\"a\":1},{\"a\":2}]\n]]\n", Layout::Elements),
            ("[{\"a\":1}]\n[{\"a\":2}]\n", Layout::Lines),
        ] {
            assert_eq!(layout_of(text), form, "{text}");
        }
    }
}
