//! Noise masking: what differs between two runs of the same thing (clock times, dates, durations,
//! process ids, addresses, temporary folders) is replaced by a mark, in one pass over the text.

/// Writes the masked form of `text` to `out`; `false`, with `out` empty, when it is the text itself.
pub fn mask(text: &str, out: &mut Vec<u8>) -> bool {
    out.clear();
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut copied = 0;
    while let Some(rest) = bytes.get(at..)
        && let Some(step) = candidate(rest)
    {
        let here = at + step;
        let before = here.checked_sub(1).and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
        let rest = bytes.get(here..).unwrap_or_default();
        let line_before = bytes.get(..here).unwrap_or_default();
        let found = if rest.first() == Some(&b'/') {
            if before.is_ascii_alphanumeric() { None } else { temporary(rest) }
        } else if before.is_ascii_alphanumeric() || before == b'_' || before == b'.' {
            None
        } else {
            noise(line_before, rest)
        };
        match found {
            Some((length, text)) => {
                out.extend_from_slice(bytes.get(copied..here).unwrap_or_default());
                out.extend_from_slice(&text);
                at = here + length;
                copied = at;
            }
            None if rest.first() == Some(&b'/') => at = here + 1,
            None => at = here + run(rest, u8::is_ascii_digit).max(1),
        }
    }
    if copied > 0 {
        out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    }
    copied > 0
}

/// Where the first digit or slash is.
fn candidate(bytes: &[u8]) -> Option<usize> {
    // `/` stands right before the digits.
    let may = |b: &u8| (b'/'..=b'9').contains(b);
    let mut at = 0;
    // Most texts have few of them: without leaving early, several bytes are looked at at once.
    for part in bytes.chunks(32) {
        if part.iter().fold(false, |any, b| any | may(b)) {
            return part.iter().position(may).map(|step| at + step);
        }
        at += part.len();
    }
    None
}

fn run(bytes: &[u8], test: impl Fn(&u8) -> bool) -> usize {
    bytes.iter().position(|b| !test(b)).unwrap_or(bytes.len())
}

/// What stands for a piece of noise: its length in the text and the mark.
type Mark = (usize, Vec<u8>);

fn mark(length: usize, text: &str) -> Mark {
    (length, text.as_bytes().to_vec())
}

/// A number that is noise, at the beginning of `rest`.
fn noise(before: &[u8], rest: &[u8]) -> Option<Mark> {
    if let Some(hex) = rest.strip_prefix(b"0x") {
        let digits = run(hex, u8::is_ascii_hexdigit);
        return (digits >= 4).then(|| mark(2 + digits, "<addr>"));
    }
    if let Some(length) = date(rest) {
        return Some(mark(length, "<date>"));
    }
    if let Some(length) = clock(rest) {
        return Some(mark(length, "<time>"));
    }
    if follows_pid(before) {
        return Some(mark(run(rest, u8::is_ascii_digit), "<pid>"));
    }
    duration(rest)
}

/// `2031-03-02`, with a clock time after it.
fn date(rest: &[u8]) -> Option<usize> {
    let [y1, y2, y3, y4, separator, m1, m2, again, d1, d2, ..] = rest else {
        return None;
    };
    let digits = [y1, y2, y3, y4, m1, m2, d1, d2].iter().all(|b| b.is_ascii_digit());
    if !digits || separator != again || !matches!(separator, b'-' | b'/') {
        return None;
    }
    let tail = rest.get(10..).unwrap_or_default();
    let time = match tail.first() {
        Some(b'T' | b' ' | b'_') => clock(tail.get(1..).unwrap_or_default()).map(|n| n + 1),
        _ => None,
    };
    Some(10 + time.unwrap_or(0))
}

/// `10:11:12`, `10:11:12.345Z`, `10:11` after a date is left alone: it may be a line and a column.
fn clock(rest: &[u8]) -> Option<usize> {
    let hours = run(rest, u8::is_ascii_digit);
    let tail = rest.get(hours..)?;
    let [b':', m1, m2, b':', s1, s2, more @ ..] = tail else {
        return None;
    };
    if !(1..=2).contains(&hours) || ![m1, m2, s1, s2].iter().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut length = hours + 6;
    let mut more = more;
    if let [b'.' | b',', rest @ ..] = more {
        let digits = run(rest, u8::is_ascii_digit);
        if digits > 0 {
            length += 1 + digits;
            more = rest.get(digits..).unwrap_or_default();
        }
    }
    match more {
        [b'Z', ..] => length += 1,
        [b'+' | b'-', a, b, rest @ ..] if a.is_ascii_digit() && b.is_ascii_digit() => {
            length += 3;
            let rest = match rest {
                [b':', tail @ ..] => {
                    length += 1;
                    tail
                }
                _ => rest,
            };
            length += run(rest, u8::is_ascii_digit).min(2);
        }
        _ => {}
    }
    Some(length)
}

/// `pid=4121`, `PID: 77`, `process 12`.
fn follows_pid(before: &[u8]) -> bool {
    let word = before.trim_ascii_end();
    let word = word.strip_suffix(b"=").or_else(|| word.strip_suffix(b":")).unwrap_or(word);
    let word = word.strip_suffix(b"[").unwrap_or(word).trim_ascii_end();
    let start = word.iter().rposition(|b| !b.is_ascii_alphabetic()).map_or(0, |i| i + 1);
    let word = word.get(start..).unwrap_or_default();
    [&b"pid"[..], b"ppid", b"process", b"pgid"].iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// `0.31s`, `12 ms`, `3 seconds`, `1.2 sec`.
fn duration(rest: &[u8]) -> Option<Mark> {
    let whole = run(rest, u8::is_ascii_digit);
    let mut length = whole;
    if let Some([b'.', tail @ ..]) = rest.get(whole..) {
        let digits = run(tail, u8::is_ascii_digit);
        if digits > 0 {
            length += 1 + digits;
        }
    }
    let tail = rest.get(length..).unwrap_or_default();
    let blank = usize::from(tail.first() == Some(&b' '));
    let word = tail.get(blank..).unwrap_or_default();
    let letters = run(word, |b| b.is_ascii_alphabetic() || *b == 0xc2 || *b == 0xb5);
    let unit = word.get(..letters).unwrap_or_default();
    let is_unit = match unit {
        b"s" | b"ms" | b"us" | b"ns" | b"sec" | b"secs" | b"second" | b"seconds" | b"min"
        | b"mins" | b"minutes" | b"msec" | b"millis" | b"milliseconds" => true,
        other => other == "µs".as_bytes(),
    };
    // `3 s` in prose is rarer than `in 3 s`, but a bare `2 min` may be a word; both are times.
    let ends = word.get(letters).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    (is_unit && ends).then(|| mark(length, "<duration>"))
}

/// A path below a temporary folder: parts that hold a digit or a made-up name are noise.
fn temporary(rest: &[u8]) -> Option<Mark> {
    const FOLDERS: [&[u8]; 4] = [b"/tmp/", b"/var/folders/", b"/private/tmp/", b"/dev/shm/"];
    let folder = FOLDERS.iter().find(|f| rest.starts_with(f))?;
    let length = run(rest, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'.' | b'+' | b'~')
    });
    let path = rest.get(folder.len()..length)?;
    let mut text = folder.to_vec();
    for (n, part) in path.split(|b| *b == b'/').enumerate() {
        if n > 0 {
            text.push(b'/');
        }
        let made_up = part.starts_with(b"tmp") && part.len() > 3;
        if made_up || part.iter().any(u8::is_ascii_digit) {
            text.extend_from_slice(b"<tmp>");
        } else {
            text.extend_from_slice(part);
        }
    }
    Some((length, text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::mask;

    fn masked(text: &str) -> String {
        let mut out = Vec::new();
        let changed = mask(text, &mut out);
        if changed { String::from_utf8(out).unwrap() } else { text.to_owned() }
    }

    #[test]
    fn noise_goes() {
        let rows = [
            ("[2031-03-02T10:11:12Z] worker pid=4121 up", "[<date>] worker pid=<pid> up"),
            ("at 10:11:12.123, PID: 7", "at <time>, PID: <pid>"),
            ("<object at 0x7f3a1c>", "<object at <addr>>"),
            ("1 failed, 2 passed in 12.90s\n", "1 failed, 2 passed in <duration>s\n"),
            ("took 12 ms", "took <duration> ms"),
            ("/tmp/pytest-of-root/pytest-31/a.py", "/tmp/pytest-of-root/<tmp>/a.py"),
            ("in /tmp/tmpab_c/x", "in /tmp/<tmp>/x"),
        ];
        for (text, expected) in rows {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn what_tells_states_apart_stays() {
        for text in [
            "a.py:12:5: E501",
            "line 40",
            "3 passed",
            "x = 0x1",
            "v1.2.3",
            "src/a1.py",
            "",
            "é 5 ü",
            "error 404 not found",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
