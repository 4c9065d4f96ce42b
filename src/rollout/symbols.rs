//! Interned text: every name, path and label that steps refer to is stored once.
//!
//! A worker interns into a table of its own; [`Symbols::absorb`] merges it into the group's.

use rustc_hash::FxHashMap;

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

/// An append-only table of distinct texts.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    texts: Vec<Box<str>>,
    index: FxHashMap<Box<str>, Sym>,
}

impl Symbols {
    /// The symbol of `text`, added when new.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.index.get(text) {
            return sym;
        }
        let sym = Sym(self.texts.len() as u32);
        self.texts.push(text.into());
        self.index.insert(text.into(), sym);
        sym
    }

    /// The text behind `sym`; empty for [`Sym::NONE`] and for foreign symbols.
    #[must_use]
    pub fn text(&self, sym: Sym) -> &str {
        self.texts.get(sym.0 as usize).map_or("", |t| t)
    }

    /// The symbol of `text` if it is known.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Sym> {
        self.index.get(text).copied()
    }

    /// How many distinct texts are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All symbols with their texts, in order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (Sym, &str)> {
        self.texts.iter().enumerate().map(|(i, t)| (Sym(i as u32), &**t))
    }

    /// Adds every text of `other`; the result maps `other`'s symbols to this table's.
    pub fn absorb(&mut self, other: &Self) -> SymMap {
        SymMap(other.texts.iter().map(|t| self.intern(t)).collect())
    }
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
