//! A structural scanner over JSON bytes that may be cut or hold illegal tokens.
//!
//! It knows strings, brackets and nothing else: it says where values end and which keys an object
//! has, for sniffing. It must not interpret a value.

use memchr::memchr2;

/// The first position at or after `at` that is no white space.
#[must_use]
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// One past the closing quote of the string whose opening quote is at `at`; `None` when cut.
#[must_use]
pub fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        let hit = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(hit) == Some(&b'"') {
            return Some(hit + 1);
        }
        at = hit + 2;
    }
}

/// One past the end of the value that starts at `at`; `None` when it is cut.
///
/// A bare token ends at white space, a comma or a closing bracket; a token that touches the end of
/// the bytes counts as complete.
#[must_use]
pub fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => {
            let (mut at, mut depth) = (at, 0_usize);
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        at = string_end(bytes, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        _ => {
            let rest = bytes.get(at..)?;
            let len = rest.iter().position(|b| b" \t\r\n,]}:".contains(b)).unwrap_or(rest.len());
            (len > 0).then_some(at + len)
        }
    }
}

/// One entry of an object: its key as written (without quotes) and the bytes of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key, escapes untouched.
    pub key: &'a [u8],
    /// The value; it runs to the end of the bytes when it is cut.
    pub value: &'a [u8],
}

/// The entries of the object that starts at the first byte of `bytes`, as far as they can be seen.
#[must_use]
pub fn entries(bytes: &[u8]) -> Vec<Entry<'_>> {
    let at = skip_space(bytes, 0);
    if bytes.get(at) == Some(&b'{') { fields(bytes, at + 1) } else { Vec::new() }
}

/// Whether this key may stand in bytes of which some are missing: its name beside a quote at least.
#[must_use]
pub fn may_name(bytes: &[u8], key: &str) -> bool {
    let word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memchr::memmem::find_iter(bytes, key).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + key.len());
        (before == Some(&b'"') || after == Some(&b'"')) && !word(before) && !word(after)
    })
}

/// The entries of an object from `at` on, as far as they can be seen.
#[must_use]
pub fn fields(bytes: &[u8], mut at: usize) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    loop {
        at = skip_space(bytes, at);
        if bytes.get(at) == Some(&b',') {
            at = skip_space(bytes, at + 1);
        }
        if bytes.get(at) != Some(&b'"') {
            return found;
        }
        let Some(key_end) = string_end(bytes, at) else { return found };
        let key = bytes.get(at + 1..key_end - 1).unwrap_or_default();
        at = skip_space(bytes, key_end);
        if bytes.get(at) != Some(&b':') {
            return found;
        }
        at = skip_space(bytes, at + 1);
        let end = value_end(bytes, at);
        let value = bytes.get(at..end.unwrap_or(bytes.len())).unwrap_or_default();
        if !value.is_empty() {
            found.push(Entry { key, value });
        }
        match end {
            Some(end) => at = end,
            None => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_end() {
        assert_eq!(value_end(br#"{"a":"}\"","b":[1]} x"#, 0), Some(19));
        assert_eq!(value_end(b"NaN,", 0), Some(3));
        assert_eq!(value_end(br#"{"a":"#, 0), None);
        assert_eq!(value_end(br#""a\"#, 0), None);
    }

    #[test]
    fn keys_of_a_cut_object_are_seen_as_far_as_possible() {
        let seen = entries(br#"{"a": 1, "b" : [2, {"z": 3}], "c": "cut he"#);
        let keys: Vec<_> = seen.iter().map(|e| e.key).collect();
        assert_eq!(keys, [b"a", b"b", b"c"]);
        assert!(entries(b"[1]").is_empty());
    }
}
