//! Interned text: every name, path and label that steps refer to is stored once.
//!
//! A worker interns into a table of its own; [`Symbols::absorb`] merges it into the group's.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// An index into a [`Symbols`] table. [`Sym::NONE`] (the default) means "no text".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

impl Sym {
    /// The absent symbol; resolves to the empty text.
    pub const NONE: Self = Self(u32::MAX);

    /// Whether this is [`Sym::NONE`].
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }
}

impl Default for Sym {
    fn default() -> Self {
        Self::NONE
    }
}

/// An append-only table of distinct texts: one buffer, so that a group of a thousand paths is two
/// blocks of memory and not two thousand.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// All texts, one after the other.
    buffer: String,
    /// Where each of them ends: the texts of a group stay far below 4 GB.
    ends: Vec<u32>,
    /// By hash; made again when a [packed](Symbols::pack) table grows.
    index: HashTable<Sym>,
}

impl Symbols {
    /// The symbol of `text`, added when new.
    pub fn intern(&mut self, text: &str) -> Sym {
        if self.index.len() < self.ends.len() {
            self.make_index();
        }
        if let Some(sym) = self.find(text) {
            return sym;
        }
        let sym = self.add(text);
        let (buffer, ends) = (&self.buffer, &self.ends);
        self.index.insert_unique(hash(text), sym, |&s| hash(slice(buffer, ends, s)));
        sym
    }

    /// Adds a text that is known to be new: one of another table, in its order.
    pub(crate) fn add(&mut self, text: &str) -> Sym {
        self.buffer.push_str(text);
        self.ends.push(self.buffer.len() as u32);
        Sym(self.ends.len() as u32 - 1)
    }

    fn make_index(&mut self) {
        let (buffer, ends) = (&self.buffer, &self.ends);
        let rehash = |&s: &Sym| hash(slice(buffer, ends, s));
        self.index.clear();
        self.index.reserve(ends.len(), rehash);
        for sym in (0..ends.len() as u32).map(Sym) {
            self.index.insert_unique(rehash(&sym), sym, rehash);
        }
    }

    /// Gives back the memory that only further texts would need.
    pub fn pack(&mut self) {
        self.index = HashTable::new();
        self.buffer.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Bytes that it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.capacity()
            + self.ends.capacity() * size_of::<u32>()
            + self.index.allocation_size()
    }

    /// The text behind `sym`; empty for [`Sym::NONE`] and for foreign symbols.
    #[must_use]
    pub fn text(&self, sym: Sym) -> &str {
        slice(&self.buffer, &self.ends, sym)
    }

    /// The symbol of `text` if it is known.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Sym> {
        if self.index.len() < self.ends.len() {
            return self.iter().find(|(_, t)| *t == text).map(|(sym, _)| sym);
        }
        self.index.find(hash(text), |&s| self.text(s) == text).copied()
    }

    /// How many distinct texts are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All symbols with their texts, in order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (Sym, &str)> {
        (0..self.ends.len() as u32).map(|i| (Sym(i), self.text(Sym(i))))
    }

    /// Adds every text of `other`; the result maps `other`'s symbols to this table's.
    pub fn absorb(&mut self, other: &Self) -> SymMap {
        SymMap(other.iter().map(|(_, t)| self.intern(t)).collect())
    }
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

fn slice<'t>(buffer: &'t str, ends: &[u32], sym: Sym) -> &'t str {
    let at = sym.0 as usize;
    let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(at).and_then(|&end| buffer.get(start as usize..end as usize)).unwrap_or_default()
}

/// Maps the symbols of one table to those of another.
#[derive(Debug, Clone, Default)]
pub struct SymMap(Vec<Sym>);

impl SymMap {
    /// The symbol in the target table.
    #[must_use]
    pub fn map(&self, sym: Sym) -> Sym {
        self.0.get(sym.0 as usize).copied().unwrap_or(Sym::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_table_still_knows_its_texts_and_grows() {
        let mut symbols = Symbols::default();
        let (a, empty) = (symbols.intern("a"), symbols.intern(""));
        symbols.pack();
        assert_eq!((symbols.find("a"), symbols.text(empty)), (Some(a), ""));
        assert_eq!(symbols.intern("a"), a);
        let b = symbols.intern("bé");
        assert_eq!((symbols.text(b), symbols.find("bé"), symbols.len()), ("bé", Some(b), 3));
        assert_eq!(symbols.text(Sym::NONE), "");
    }
}
