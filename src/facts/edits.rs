//! The identity of edits: full blake3 hashes over normalised texts (signatures.md, section 3).

use std::borrow::Cow;

use crate::rollout::facts::{Edit, EditKind};

/// Line ends as `\n`, trailing newlines dropped: what a tool adds or leaves out at the end of a
/// text makes no other edit.
#[must_use]
pub fn normalise(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_end_matches(['\n', '\r']);
    if trimmed.contains('\r') {
        Cow::Owned(trimmed.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(trimmed)
    }
}

/// An edit that puts `new` in the place of `old`; `old` is empty for inserts and whole files.
#[must_use]
pub fn edit(kind: EditKind, old: &str, new: &str) -> Edit {
    let (old, new) = (normalise(old), normalise(new));
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(old.len() as u64).to_le_bytes());
    hasher.update(old.as_bytes());
    hasher.update(new.as_bytes());
    Edit { kind, old_new: hasher.finalize().into(), new: blake3::hash(new.as_bytes()).into() }
}

/// Several edits as one: the hash over their hashes, in order. One alone stays as it is.
#[must_use]
pub fn join(edits: &[Edit]) -> Option<Edit> {
    let (first, more) = edits.split_first()?;
    if more.is_empty() {
        return Some(*first);
    }
    let mut old_new = blake3::Hasher::new();
    let mut new = blake3::Hasher::new();
    for edit in edits {
        old_new.update(&edit.old_new);
        new.update(&edit.new);
    }
    Some(Edit { kind: first.kind, old_new: old_new.finalize().into(), new: new.finalize().into() })
}

/// The first 64 bits of the blake3 hash of a text, never 0: 0 stands for "no text".
#[must_use]
pub fn short_hash(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let head = hash.as_bytes().first_chunk::<8>().copied().unwrap_or_default();
    u64::from_le_bytes(head).max(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_blake3_over_length_old_new() {
        // `x = 1` is 5 bytes long.
        let bytes = b"\x05\0\0\0\0\0\0\0x = 1x = 2";
        let made = edit(EditKind::Replace, "x = 1", "x = 2");
        assert_eq!(made.old_new, *blake3::hash(bytes).as_bytes());
        assert_eq!(made.new, *blake3::hash(b"x = 2").as_bytes());
        assert_eq!(edit(EditKind::Replace, "x = 1\r\n", "x = 2\n\n"), made);
    }

    #[test]
    fn the_length_keeps_old_and_new_apart() {
        let a = edit(EditKind::Replace, "ab", "c");
        let b = edit(EditKind::Replace, "a", "bc");
        assert_ne!(a.old_new, b.old_new);
        // Replacing a by b and c by b share the new text only.
        let c = edit(EditKind::Replace, "a", "b");
        let d = edit(EditKind::Replace, "c", "b");
        assert_ne!(c.old_new, d.old_new);
        assert_eq!(c.new, d.new);
    }

    #[test]
    fn several_edits_are_joined_by_their_hashes() {
        let one = edit(EditKind::Replace, "a", "b");
        let two = edit(EditKind::Replace, "c", "d");
        let both = [one.old_new, two.old_new].concat();
        assert_eq!(join(&[one, two]).unwrap().old_new, *blake3::hash(&both).as_bytes());
        assert_eq!(join(&[one]), Some(one));
        assert_eq!(join(&[]), None);
    }
}
