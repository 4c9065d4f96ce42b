//! What is kept of a rollout between its reading and its group: the columns of its steps in one block of
//! bytes of the exact size. All rollouts of a load wait here at once, so the block is small: numbers take
//! the bytes they need, what a fact lacks takes none, an effect that is the action again takes two.

mod pack;
mod unpack;

use super::work::StepMeta;
use crate::rollout::RolloutFacts;
use pack::Out;
use unpack::In;

/// The columns of a rollout's steps, unpacked.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// What is kept of its steps, besides the facts.
    pub steps: Vec<StepMeta>,
    /// Further numbers of its steps: (step, name, number), by step.
    pub values: Vec<(u32, String, f64)>,
    /// What its steps did.
    pub facts: RolloutFacts,
}

/// The same in one block of bytes.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    bytes: Box<[u8]>,
    steps: u32,
}

impl Packed {
    /// Packs the columns. `raw_index` of the facts is not kept: the steps have it.
    #[must_use]
    pub fn of(columns: &Columns) -> Self {
        let mut out = Out(Vec::with_capacity(64 + columns.steps.len() * 96));
        out.facts(&columns.facts);
        out.number(columns.steps.len() as u64);
        for step in &columns.steps {
            out.meta(step);
        }
        out.number(columns.values.len() as u64);
        for (step, name, value) in &columns.values {
            out.number(u64::from(*step));
            out.text(name);
            out.word(value.to_bits());
        }
        Self { bytes: out.0.into_boxed_slice(), steps: columns.steps.len() as u32 }
    }

    /// How many steps there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.steps as usize
    }

    /// The columns again.
    #[must_use]
    pub fn unpack(&self) -> Columns {
        let mut input = In(&self.bytes);
        let facts = input.facts();
        let steps = (0..input.number()).map(|_| input.meta()).collect();
        let values = (0..input.number())
            .map(|_| {
                let step = input.small();
                let name = input.text().to_owned();
                (step, name, f64::from_bits(input.word()))
            })
            .collect();
        Columns { steps, values, facts }
    }
}

/// Which parts of a fact or a step are there.
mod mark {
    pub const TARGETS: u8 = 1;
    pub const EDIT: u8 = 1 << 1;
    pub const RUNNER: u8 = 1 << 2;
    pub const FLAGS: u8 = 1 << 3;
    /// Two bits: which kind of extent.
    pub const EXTENT: u32 = 4;
    /// The fact is the action again, but for the place of its targets.
    pub const AGAIN: u8 = 1 << 6;

    pub const COMMAND: u8 = 1;
    pub const CALL: u8 = 1 << 1;
    pub const SEEN: u8 = 1 << 2;
    pub const MASKED: u8 = 1 << 3;
    /// The masked observation has a hash of its own.
    pub const OTHER: u8 = 1 << 4;

    pub const REWARD: u8 = 1;
    pub const LOST: u8 = 1 << 1;
    pub const STATE: u8 = 1 << 2;
    pub const ACTION: u8 = 1 << 3;
    pub const TOKENS: u8 = 1 << 4;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::facts::{Edit, EditId, EditKind, Targets};
    use crate::rollout::{Category, Extent, Fact, Flags, StepFacts, StepResult, Sym};

    /// What a step says, texts and all, wherever they stand in their tables.
    fn told(columns: &Columns, at: usize) -> String {
        let facts = &columns.facts;
        let (table, symbols) = (&facts.table, &facts.symbols);
        let step = &table.steps[at];
        let fact = |f: &Fact| {
            let targets: Vec<&str> = table.targets_of(f).iter().map(|&t| symbols.text(t)).collect();
            let edit = f.edit.and_then(|e| table.edit(e));
            let (op, runner) = (symbols.text(f.op), symbols.text(f.runner));
            format!(
                "{:?} {op:?} {targets:?} {:?} {edit:?} {runner:?} {:?} {:?}",
                f.category, f.extent, f.result, f.flags
            )
        };
        let effects: Vec<String> = table.effects_of(step).iter().map(fact).collect();
        let texts = [step.tool, step.brief, step.page, step.why].map(|s| symbols.text(s));
        let hashes = (step.command, step.call, step.seen, step.seen_masked);
        format!("{} {effects:?} {texts:?} {hashes:?}", fact(&step.action))
    }

    /// Three steps: a view of a state tool that is its own effect, an edit with two other effects, a
    /// failed test that says nothing but has a reward.
    fn columns() -> Columns {
        let mut facts = RolloutFacts { calls: 300, coding_calls: 2, ..RolloutFacts::default() };
        facts.profile = "generic".to_owned();
        let mut sym = |text: &str| facts.symbols.intern(text);
        let (a, b, view, replace, empty) =
            (sym("src/a.py"), sym("b/é.py"), sym("cat"), sym("replace"), sym(""));
        let (tool, pytest) = (sym("bash"), sym("pytest"));
        let table = &mut facts.table;
        table.targets = vec![a, a, a, b, b];
        table.edits = vec![Edit {
            kind: EditKind::Insert,
            old_new: [7; 32],
            new: std::array::from_fn(|i| i as u8),
        }];
        let targets = |start: u32, len: u32| Targets { start, len };
        let seen = Fact {
            category: Category::View,
            op: view,
            targets: targets(1, 1),
            extent: Extent::Lines(3, 70_000),
            result: StepResult::Ok,
            ..Fact::default()
        };
        let edit = Fact {
            category: Category::Modify,
            op: replace,
            targets: targets(2, 2),
            edit: Some(EditId::new(0)),
            result: StepResult::Killed,
            flags: Flags::STASH.with(Flags::EMPTY_COMMAND),
            ..Fact::default()
        };
        let gone = Fact { targets: targets(4, 1), flags: Flags::DELETE, ..edit };
        table.effects = vec![seen, Fact { extent: Extent::From(9), ..seen }, gone];
        let action = Fact { targets: targets(0, 1), flags: Flags::STATE_TOOL, ..seen };
        let step = StepFacts {
            action,
            effects: (0, 1),
            tool,
            command: u64::MAX,
            call: 1,
            brief: empty,
            seen: 5,
            seen_masked: 5,
            ..StepFacts::default()
        };
        let other = StepFacts {
            action: edit,
            effects: (1, 3),
            seen: 8,
            seen_masked: 9,
            page: b,
            why: view,
            ..StepFacts::default()
        };
        let test = Fact { category: Category::Test, runner: pytest, ..Fact::default() };
        let last = StepFacts { action: test, effects: (3, 3), seen: 4, ..StepFacts::default() };
        table.steps = vec![step, other, last];
        let meta = |raw: u32| StepMeta {
            raw,
            turn: raw / 2,
            step_reward: None,
            reward_lost: raw == 1,
            state: Sym::NONE,
            action: Sym::NONE,
            tokens: None,
        };
        let rewarded = StepMeta {
            step_reward: Some(-0.0),
            state: a,
            action: empty,
            tokens: Some((0, 1 << 40)),
            ..meta(200)
        };
        let values = vec![(0, "critic".to_owned(), f64::MIN_POSITIVE), (2, "é".to_owned(), -1.5)];
        Columns { steps: vec![meta(0), meta(1), rewarded], values, facts }
    }

    #[test]
    fn what_is_packed_comes_back() {
        let before = columns();
        let packed = Packed::of(&before);
        let after = packed.unpack();
        assert_eq!(packed.len(), 3);
        for at in 0..3 {
            assert_eq!(told(&before, at), told(&after, at));
        }
        assert_eq!(after.facts.table.steps.len(), 3);
        assert_eq!(after.facts.table.edits, before.facts.table.edits);
        assert_eq!(after.facts.table.targets, before.facts.table.targets);
        let facts = &after.facts;
        assert_eq!((facts.profile.as_str(), facts.calls, facts.coding_calls), ("generic", 300, 2));
        assert_eq!(format!("{:?}", after.steps), format!("{:?}", before.steps));
        assert_eq!(after.values, before.values);
        // Packed again, the same bytes; cut short, no panic.
        assert_eq!(Packed::of(&after).bytes, packed.bytes);
        for end in 0..packed.bytes.len() {
            let bytes = packed.bytes[..end].into();
            let _ = Packed { bytes, steps: 3 }.unpack();
        }
    }
}
