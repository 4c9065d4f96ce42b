//! What is kept of a rollout between its reading and its group: the columns of its steps in one block of
//! bytes of the exact size. All rollouts of a load wait here at once, so the block is small: numbers take
//! the bytes they need, what a fact lacks takes none, an effect that is the action again takes two.

use super::work::StepMeta;
use crate::rollout::facts::{Edit, EditId, EditKind, Targets};
use crate::rollout::{
    Category, Extent, Fact, FactTable, Flags, RolloutFacts, StepFacts, StepResult, Sym, Symbols,
};

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

struct Out(Vec<u8>);

impl Out {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits a byte, the lowest first.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn word(&mut self, word: u64) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// The absent symbol is 0.
    fn sym(&mut self, sym: Sym) {
        self.number(u64::from(sym.0.wrapping_add(1)));
    }

    fn facts(&mut self, facts: &RolloutFacts) {
        self.text(&facts.profile);
        self.number(u64::from(facts.coding_calls));
        self.number(u64::from(facts.calls));
        self.number(facts.symbols.len() as u64);
        for (_, text) in facts.symbols.iter() {
            self.text(text);
        }
        let table = &facts.table;
        self.number(table.targets.len() as u64);
        for &target in &table.targets {
            self.sym(target);
        }
        self.number(table.edits.len() as u64);
        for edit in &table.edits {
            self.byte(edit.kind as u8);
            self.0.extend_from_slice(&edit.old_new);
            self.0.extend_from_slice(&edit.new);
        }
        self.number(table.steps.len() as u64);
        for step in &table.steps {
            self.step(step);
            let effects = table.effects_of(step);
            self.number(effects.len() as u64);
            for effect in effects {
                self.fact(effect, Some((&step.action, table)));
            }
        }
    }

    fn step(&mut self, step: &StepFacts) {
        self.fact(&step.action, None);
        let (seen, masked) = (step.seen, step.seen_masked);
        let marks = [
            (step.command != 0, mark::COMMAND),
            (step.call != 0, mark::CALL),
            (seen != 0, mark::SEEN),
            (masked != 0, mark::MASKED),
            (masked != 0 && masked != seen, mark::OTHER),
        ];
        self.marks(&marks);
        for word in [step.command, step.call, seen].into_iter().filter(|w| *w != 0) {
            self.word(word);
        }
        if masked != 0 && masked != seen {
            self.word(masked);
        }
        for sym in [step.tool, step.brief, step.page, step.why] {
            self.sym(sym);
        }
    }

    fn marks(&mut self, marks: &[(bool, u8)]) {
        self.byte(marks.iter().filter(|(is, _)| *is).fold(0, |all, (_, mark)| all | mark));
    }

    /// A fact; `action` is the one that it may be again.
    fn fact(&mut self, fact: &Fact, action: Option<(&Fact, &FactTable)>) {
        if let Some((action, table)) = action
            && table.is_action(fact, action)
        {
            self.byte(mark::AGAIN);
            self.number(u64::from(fact.targets.start));
            return;
        }
        let extent = match fact.extent {
            Extent::None => 0,
            Extent::Full => 1,
            Extent::Lines(..) => 2,
            Extent::From(_) => 3,
        };
        let marks = [
            (fact.targets.len > 0, mark::TARGETS),
            (fact.edit.is_some(), mark::EDIT),
            (!fact.runner.is_none(), mark::RUNNER),
            (fact.flags.0 != 0, mark::FLAGS),
            (true, extent << mark::EXTENT),
        ];
        self.marks(&marks);
        self.byte(fact.category as u8);
        self.byte(fact.result as u8);
        self.sym(fact.op);
        if fact.targets.len > 0 {
            self.number(u64::from(fact.targets.start));
            self.number(u64::from(fact.targets.len));
        }
        if let Some(edit) = fact.edit {
            self.number(edit.index() as u64);
        }
        if !fact.runner.is_none() {
            self.sym(fact.runner);
        }
        if fact.flags.0 != 0 {
            self.number(u64::from(fact.flags.0));
        }
        match fact.extent {
            Extent::None | Extent::Full => {}
            Extent::Lines(a, b) => {
                self.number(u64::from(a));
                self.number(u64::from(b));
            }
            Extent::From(a) => self.number(u64::from(a)),
        }
    }

    fn meta(&mut self, step: &StepMeta) {
        let marks = [
            (step.step_reward.is_some(), mark::REWARD),
            (step.reward_lost, mark::LOST),
            (!step.state.is_none(), mark::STATE),
            (!step.action.is_none(), mark::ACTION),
            (step.tokens.is_some(), mark::TOKENS),
        ];
        self.marks(&marks);
        self.number(u64::from(step.raw));
        self.number(u64::from(step.turn));
        if let Some(reward) = step.step_reward {
            self.word(reward.to_bits());
        }
        for sym in [step.state, step.action].into_iter().filter(|s| !s.is_none()) {
            self.sym(sym);
        }
        if let Some((from, to)) = step.tokens {
            self.number(from);
            self.number(to);
        }
    }
}

/// Reads what [`Out`] wrote. Past the end everything is 0 and empty.
struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at_checked(len).unwrap_or((self.0, &[]));
        self.0 = rest;
        head
    }

    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn small(&mut self) -> u32 {
        self.number() as u32
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap_or([0; N])
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    fn word_if(&mut self, marks: u8, mark: u8) -> u64 {
        if marks & mark == 0 { 0 } else { self.word() }
    }

    fn text(&mut self) -> &'a str {
        let len = self.number() as usize;
        std::str::from_utf8(self.take(len)).unwrap_or_default()
    }

    fn sym(&mut self) -> Sym {
        Sym(self.small().wrapping_sub(1))
    }

    fn facts(&mut self) -> RolloutFacts {
        let profile = self.text().to_owned();
        let (coding_calls, calls) = (self.small(), self.small());
        let mut symbols = Symbols::default();
        for _ in 0..self.number() {
            symbols.add(self.text());
        }
        let targets = (0..self.number()).map(|_| self.sym()).collect();
        let edits = (0..self.number())
            .map(|_| Edit {
                kind: match self.byte() {
                    0 => EditKind::Replace,
                    1 => EditKind::Insert,
                    _ => EditKind::Write,
                },
                old_new: self.array(),
                new: self.array(),
            })
            .collect();
        let mut table = FactTable { targets, edits, ..FactTable::default() };
        for _ in 0..self.number() {
            let mut step = self.step();
            let start = table.effects.len() as u32;
            for _ in 0..self.number() {
                let fact = self.fact(Some(&step.action));
                table.effects.push(fact);
            }
            step.effects = (start, table.effects.len() as u32);
            table.steps.push(step);
        }
        RolloutFacts { table, symbols, raw_index: Vec::new(), profile, coding_calls, calls }
    }

    fn step(&mut self) -> StepFacts {
        let action = self.fact(None);
        let marks = self.byte();
        let command = self.word_if(marks, mark::COMMAND);
        let call = self.word_if(marks, mark::CALL);
        let seen = self.word_if(marks, mark::SEEN);
        let seen_masked = match (marks & mark::MASKED, marks & mark::OTHER) {
            (0, _) => 0,
            (_, 0) => seen,
            _ => self.word(),
        };
        let (tool, brief, page, why) = (self.sym(), self.sym(), self.sym(), self.sym());
        StepFacts {
            action,
            effects: (0, 0),
            tool,
            command,
            call,
            brief,
            seen,
            seen_masked,
            page,
            why,
        }
    }

    fn fact(&mut self, action: Option<&Fact>) -> Fact {
        let marks = self.byte();
        if let Some(action) = action.filter(|_| marks == mark::AGAIN) {
            let start = self.small();
            let flags = Flags(action.flags.0 & !Flags::STATE_TOOL.0);
            return Fact { targets: Targets { start, len: action.targets.len }, flags, ..*action };
        }
        let category =
            Category::ALL.get(usize::from(self.byte())).copied().unwrap_or_default();
        let result = StepResult::ALL.get(usize::from(self.byte())).copied().unwrap_or_default();
        let op = self.sym();
        let targets = if marks & mark::TARGETS == 0 {
            Targets::default()
        } else {
            Targets { start: self.small(), len: self.small() }
        };
        let edit = (marks & mark::EDIT != 0).then(|| EditId::new(self.small()));
        let runner = if marks & mark::RUNNER == 0 { Sym::NONE } else { self.sym() };
        let flags = Flags(if marks & mark::FLAGS == 0 { 0 } else { self.small() });
        let extent = match marks >> mark::EXTENT & 3 {
            0 => Extent::None,
            1 => Extent::Full,
            2 => Extent::Lines(self.small(), self.small()),
            _ => Extent::From(self.small()),
        };
        Fact { category, op, targets, extent, edit, runner, result, flags }
    }

    fn meta(&mut self) -> StepMeta {
        let marks = self.byte();
        let (raw, turn) = (self.small(), self.small());
        let step_reward =
            (marks & mark::REWARD != 0).then(|| f64::from_bits(self.word()));
        let mut key = |mark: u8| if marks & mark == 0 { Sym::NONE } else { self.sym() };
        let (state, action) = (key(mark::STATE), key(mark::ACTION));
        let tokens = (marks & mark::TOKENS != 0).then(|| (self.number(), self.number()));
        let reward_lost = marks & mark::LOST != 0;
        StepMeta { raw, turn, step_reward, reward_lost, state, action, tokens }
    }
}
