//! States as sets (or sequences) of elements, told apart exactly: an incremental hash finds the
//! candidates, the content decides.

use hashbrown::HashTable;

/// An id of a distinct state of one projection. The first one met is the root of the first rollout.
pub type StateId = u32;

/// A state's flags: counters, already at the granularity of the knobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Counters {
    pub fail: u32,
    pub pass: u32,
    pub think: u32,
}

/// All distinct states, contents in one arena.
#[derive(Debug, Clone, Default)]
pub(super) struct StateTable {
    /// Each element as its difference from the one before: in a set they are small.
    arena: Vec<u8>,
    /// Where each content ends, and its flags.
    states: Vec<(u32, Counters)>,
    /// States by the lower half of their hash, which stands beside them.
    index: HashTable<(u32, StateId)>,
}

impl StateTable {
    pub(super) fn with_capacity(steps: usize) -> Self {
        Self {
            arena: Vec::with_capacity(steps * 24),
            states: Vec::with_capacity(steps),
            index: HashTable::with_capacity(steps),
        }
    }

    /// The id of this content, new or known. `hash` must be a function of the content.
    pub(super) fn id(&mut self, hash: u64, content: &[u32], counters: Counters) -> StateId {
        let key = mix(hash
            ^ mix(u64::from(counters.fail) << 40 | u64::from(counters.pass) << 20)
            ^ mix(u64::from(counters.think)));
        let tag = key as u32;
        let same = |&(known, id): &(u32, StateId)| {
            known == tag
                && self.states.get(id as usize).is_some_and(|&(_, flags)| flags == counters)
                && decoded(self.packed(id)).eq(content.iter().copied())
        };
        if let Some(&(_, id)) = self.index.find(spread(tag), same) {
            return id;
        }
        let id = self.states.len() as StateId;
        encode(content, &mut self.arena);
        self.states.push((self.arena.len() as u32, counters));
        self.index.insert_unique(spread(tag), (tag, id), |&(tag, _)| spread(tag));
        id
    }

    /// Gives back what only further states would need.
    pub(super) fn close(&mut self) {
        self.index = HashTable::new();
        self.arena.shrink_to_fit();
        self.states.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn content(&self, id: StateId) -> (Vec<u32>, Counters) {
        let counters = self.states.get(id as usize).map(|&(_, counters)| counters);
        (decoded(self.packed(id)).collect(), counters.unwrap_or_default())
    }

    fn packed(&self, id: StateId) -> &[u8] {
        let end = |at: usize| self.states.get(at).map(|&(end, _)| end as usize);
        let start = (id as usize).checked_sub(1).and_then(end).unwrap_or(0);
        end(id as usize).and_then(|end| self.arena.get(start..end)).unwrap_or_default()
    }
}

/// Writes elements as differences, signed ones for sequences, seven bits a byte.
fn encode(elements: &[u32], out: &mut Vec<u8>) {
    let mut before = 0;
    for &element in elements {
        let step = element.wrapping_sub(before).cast_signed();
        let mut rest = (step << 1 ^ step >> 31).cast_unsigned();
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
        before = element;
    }
}

/// Reads them again.
fn decoded(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (mut bytes, mut before) = (bytes.iter(), 0_u32);
    std::iter::from_fn(move || {
        let (mut number, mut shift) = (0_u32, 0);
        loop {
            let byte = *bytes.next()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            shift += 7;
        }
        before = before.wrapping_add(number >> 1 ^ 0_u32.wrapping_sub(number & 1));
        Some(before)
    })
}

/// A set or sequence of elements that grows and shrinks along one rollout, with its hash.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    elements: Vec<u32>,
    hash: u64,
    sequence: bool,
}

impl Content {
    pub(super) fn new(sequence: bool) -> Self {
        Self { sequence, ..Self::default() }
    }

    /// Adds an element: into the set (no effect when it is there), or at the end of the sequence.
    pub(super) fn add(&mut self, element: u32) {
        if self.sequence {
            self.elements.push(element);
            self.hash = mix(self.hash.rotate_left(5) ^ u64::from(element));
        } else if let Err(at) = self.elements.binary_search(&element) {
            self.elements.insert(at, element);
            self.hash = self.hash.wrapping_add(mix(u64::from(element)));
        }
    }

    /// Adds an element to a multiset: repeats count.
    pub(super) fn add_again(&mut self, element: u32) {
        if self.sequence {
            self.add(element);
            return;
        }
        let at = self.elements.partition_point(|&e| e < element);
        self.elements.insert(at, element);
        self.hash = self.hash.wrapping_add(mix(u64::from(element)));
    }

    /// Takes an element out of the set. A sequence keeps its past.
    pub(super) fn remove(&mut self, element: u32) {
        if !self.sequence
            && let Ok(at) = self.elements.binary_search(&element)
        {
            self.elements.remove(at);
            self.hash = self.hash.wrapping_sub(mix(u64::from(element)));
        }
    }

    pub(super) const fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn elements(&self) -> &[u32] {
        &self.elements
    }
}

/// A hash for tables out of half a hash: they look at the highest bits, too.
const fn spread(tag: u32) -> u64 {
    (tag as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The finaliser of splitmix64: spreads small ids over 64 bits.
pub(super) const fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_forget_order_and_repeats_and_sequences_do_not() {
        let mut table = StateTable::default();
        let mut id = |sequence: bool, elements: &[u32]| {
            let mut content = Content::new(sequence);
            for &e in elements {
                content.add(e);
            }
            table.id(content.hash(), content.elements(), Counters::default())
        };
        assert_eq!(id(false, &[3, 1, 3]), id(false, &[1, 3]));
        assert_ne!(id(true, &[3, 1]), id(true, &[1, 3]));
    }

    #[test]
    fn contents_come_back() {
        let mut table = StateTable::default();
        let contents: [&[u32]; 5] =
            [&[], &[5, 0, 5, 70_000, 3], &[u32::MAX, 0, u32::MAX], &[], &[1, 2, 66]];
        for (at, content) in contents.into_iter().enumerate() {
            let flags = Counters { think: at as u32, ..Counters::default() };
            assert_eq!(table.id(at as u64, content, flags), at as u32);
        }
        for (at, content) in contents.into_iter().enumerate() {
            let flags = Counters { think: at as u32, ..Counters::default() };
            assert_eq!(table.content(at as u32), (content.to_vec(), flags));
        }
        // A byte each up to a difference of 63, around the end of the numbers as well.
        assert_eq!(table.arena.len(), (1 + 1 + 1 + 3 + 3) + (1 + 1 + 1) + (1 + 1 + 2));
        assert_eq!(table.content(9), (Vec::new(), Counters::default()));
    }

    #[test]
    fn equal_hashes_with_other_content_stay_apart() {
        let mut table = StateTable::default();
        let a = table.id(7, &[1], Counters::default());
        let b = table.id(7, &[2], Counters::default());
        assert_ne!(a, b);
        assert_eq!(a, table.id(7, &[1], Counters::default()));
    }

    #[test]
    fn taking_out_restores_the_hash() {
        let mut content = Content::new(false);
        content.add(4);
        let before = content.hash();
        content.add(9);
        content.remove(9);
        assert_eq!(content.hash(), before);
    }
}
