//! The facts of a group's steps, each of their parts once: agents repeat themselves and each other, and
//! a group of a hundred thousand steps has far fewer distinct actions.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::facts::{Fact, StepFacts};
use super::symbols::Sym;

/// The facts of steps, in order. [`get`](Steps::get) puts a step together again.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// What each step did: an index into `acts`.
    act: Vec<u32>,
    /// What came back: [`StepFacts::seen`].
    seen: Vec<u64>,
    /// [`StepFacts::seen_masked`], of the steps alone where it is another number; by step.
    masked: Masked,
    acts: Distinct<Act>,
    facts: Distinct<Fact>,
    frames: Distinct<Frame>,
}

/// What a step did, apart from what came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Act {
    /// The action: an index into [`Steps::facts`].
    fact: u32,
    frame: u32,
    brief: Sym,
    command: u64,
    call: u64,
}

/// What many different actions have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Frame {
    effects: (u32, u32),
    tool: Sym,
    page: Sym,
    why: Sym,
}

/// Numbers of some of the steps, in two lists, so that no room is lost between them.
#[derive(Debug, Clone, Default)]
struct Masked {
    steps: Vec<u32>,
    hashes: Vec<u64>,
}

impl Masked {
    fn get(&self, step: usize) -> Option<u64> {
        let at = self.steps.binary_search(&(step as u32)).ok()?;
        self.hashes.get(at).copied()
    }

    /// Where the numbers of these steps stand.
    fn places(&self, steps: &Range<usize>) -> Range<usize> {
        let before = |end: usize| self.steps.partition_point(|&s| (s as usize) < end);
        before(steps.start)..before(steps.end)
    }
}

impl Steps {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.act.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.act.is_empty()
    }

    /// The facts of a step.
    #[must_use]
    pub fn get(&self, step: usize) -> Option<StepFacts> {
        let act = self.acts.get(*self.act.get(step)?)?;
        let frame = self.frames.get(act.frame)?;
        let seen = self.seen.get(step).copied().unwrap_or_default();
        Some(StepFacts {
            action: self.facts.get(act.fact).copied()?,
            effects: frame.effects,
            tool: frame.tool,
            command: act.command,
            call: act.call,
            brief: act.brief,
            seen,
            seen_masked: self.masked.get(step).unwrap_or(seen),
            page: frame.page,
            why: frame.why,
        })
    }

    /// What a step did, without the rest of its facts.
    #[must_use]
    pub fn action(&self, step: usize) -> Option<&Fact> {
        self.facts.get(self.acts.get(*self.act.get(step)?)?.fact)
    }

    /// The facts of these steps; of none where they are not all there.
    #[must_use]
    pub fn range(&self, steps: Range<usize>) -> impl DoubleEndedIterator<Item = StepFacts> + '_ {
        let there = if steps.end <= self.len() { steps } else { 0..0 };
        there.filter_map(|step| self.get(step))
    }

    /// The facts of all steps.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = StepFacts> + '_ {
        self.range(0..self.len())
    }

    /// Adds a step.
    pub fn push(&mut self, step: StepFacts) {
        if step.seen_masked != step.seen {
            self.masked.steps.push(self.act.len() as u32);
            self.masked.hashes.push(step.seen_masked);
        }
        self.seen.push(step.seen);
        let act = self.place(&step);
        self.act.push(act);
    }

    fn place(&mut self, step: &StepFacts) -> u32 {
        let StepFacts { tool, page, why, effects, brief, command, call, .. } = *step;
        let frame = self.frames.id(Frame { effects, tool, page, why });
        let fact = self.facts.id(step.action);
        self.acts.id(Act { fact, frame, brief, command, call })
    }

    /// Makes room for this many further steps.
    pub fn reserve(&mut self, steps: usize) {
        self.act.reserve_exact(steps);
        self.seen.reserve_exact(steps);
    }

    /// Takes steps out.
    pub fn remove(&mut self, gone: Range<usize>) {
        let places = self.masked.places(&gone);
        for step in self.masked.steps.iter_mut().skip(places.end) {
            *step -= gone.len() as u32;
        }
        self.masked.steps.drain(places.clone());
        self.masked.hashes.drain(places);
        self.act.drain(gone.clone());
        self.seen.drain(gone);
    }

    /// Bytes that they take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        (self.act.capacity() + self.masked.steps.capacity()) * size_of::<u32>()
            + (self.seen.capacity() + self.masked.hashes.capacity()) * size_of::<u64>()
            + self.acts.bytes()
            + self.facts.bytes()
            + self.frames.bytes()
    }

    /// Gives back what only further steps would need.
    pub fn pack(&mut self) {
        self.act.shrink_to_fit();
        self.seen.shrink_to_fit();
        self.masked.steps.shrink_to_fit();
        self.masked.hashes.shrink_to_fit();
        self.acts.pack();
        self.facts.pack();
        self.frames.pack();
    }
}

impl Extend<StepFacts> for Steps {
    fn extend<I: IntoIterator<Item = StepFacts>>(&mut self, steps: I) {
        for step in steps {
            self.push(step);
        }
    }
}

impl FromIterator<StepFacts> for Steps {
    fn from_iter<I: IntoIterator<Item = StepFacts>>(steps: I) -> Self {
        let mut all = Self::default();
        all.extend(steps);
        all
    }
}

/// A list of distinct things, with an index by hash while it grows.
#[derive(Debug, Clone)]
struct Distinct<T> {
    list: Vec<T>,
    /// Made again when a [packed](Distinct::pack) list grows.
    index: HashTable<u32>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { list: Vec::new(), index: HashTable::new() }
    }
}

impl<T: Copy + Eq + Hash> Distinct<T> {
    /// Where it stands; added where it is new.
    fn id(&mut self, item: T) -> u32 {
        let Self { list, index } = self;
        let hash = |&id: &u32| list.get(id as usize).map_or(0, |item| FxBuildHasher.hash_one(item));
        if index.len() < list.len() {
            index.clear();
            index.reserve(list.len(), hash);
            for id in 0..list.len() as u32 {
                index.insert_unique(hash(&id), id, hash);
            }
        }
        let own = FxBuildHasher.hash_one(item);
        if let Some(&id) = index.find(own, |&id| list.get(id as usize) == Some(&item)) {
            return id;
        }
        let id = list.len() as u32;
        index.insert_unique(own, id, hash);
        list.push(item);
        id
    }

    fn get(&self, id: u32) -> Option<&T> {
        self.list.get(id as usize)
    }

    fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<T>() + self.index.allocation_size()
    }

    fn pack(&mut self) {
        self.index = HashTable::new();
        self.list.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::{Category, StepResult};

    /// Six steps of two actions, of which every third saw something that masking changes.
    fn made() -> Vec<StepFacts> {
        let of = |n: u64| StepFacts {
            action: Fact { category: Category::Test, result: StepResult::Ok, ..Fact::default() },
            call: n % 2,
            seen: 10 * n,
            seen_masked: if n % 3 == 1 { 7 } else { 10 * n },
            tool: Sym(4),
            ..StepFacts::default()
        };
        (0..6).map(of).collect()
    }

    #[test]
    fn steps_come_back_as_they_were_and_their_parts_are_there_once() {
        let before = made();
        let mut steps: Steps = before.iter().copied().collect();
        let parts = |s: &Steps| (s.acts.list.len(), s.facts.list.len(), s.frames.list.len());
        assert_eq!((steps.len(), parts(&steps)), (6, (2, 1, 1)));
        assert_eq!(steps.masked.steps, [1, 4]);
        assert_eq!(steps.iter().collect::<Vec<_>>(), before);
        assert_eq!(steps.range(2..4).collect::<Vec<_>>(), before[2..4]);
        assert_eq!((steps.range(4..7).count(), steps.get(6)), (0, None));
        assert_eq!(steps.action(5), Some(&before[5].action));
        // Packed, and then added to: nothing is there twice.
        steps.pack();
        steps.push(before[1]);
        assert_eq!((steps.get(6), parts(&steps)), (Some(before[1]), (2, 1, 1)));
    }

    #[test]
    fn steps_are_taken_out() {
        let mut before = made();
        let mut steps: Steps = before.iter().copied().collect();
        before.drain(1..3);
        steps.remove(1..3);
        assert_eq!(steps.iter().collect::<Vec<_>>(), before);
    }
}
