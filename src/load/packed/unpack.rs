//! Bytes to columns.

use super::mark;
use crate::load::work::StepMeta;
use crate::rollout::facts::{Edit, EditId, EditKind, Targets};
use crate::rollout::{
    Category, Extent, Fact, FactTable, Flags, RolloutFacts, StepFacts, StepResult, Sym, Symbols,
};

/// Reads what [`Out`](super::pack::Out) wrote. Past the end everything is 0 and empty.
pub struct In<'a>(pub &'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at_checked(len).unwrap_or((self.0, &[]));
        self.0 = rest;
        head
    }

    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    pub fn number(&mut self) -> u64 {
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

    pub fn small(&mut self) -> u32 {
        self.number() as u32
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap_or([0; N])
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    fn word_if(&mut self, marks: u8, mark: u8) -> u64 {
        if marks & mark == 0 { 0 } else { self.word() }
    }

    pub fn text(&mut self) -> &'a str {
        let len = self.number() as usize;
        std::str::from_utf8(self.take(len)).unwrap_or_default()
    }

    fn sym(&mut self) -> Sym {
        Sym(self.small().wrapping_sub(1))
    }

    pub fn facts(&mut self) -> RolloutFacts {
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
        let mut table = FactTable { steps: Vec::new(), effects: Vec::new(), targets, edits };
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
        let category = Category::ALL.get(usize::from(self.byte())).copied().unwrap_or_default();
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

    pub fn meta(&mut self) -> StepMeta {
        let marks = self.byte();
        let (raw, turn) = (self.small(), self.small());
        let step_reward = (marks & mark::REWARD != 0).then(|| f64::from_bits(self.word()));
        let mut key = |mark: u8| if marks & mark == 0 { Sym::NONE } else { self.sym() };
        let (state, action) = (key(mark::STATE), key(mark::ACTION));
        let tokens = (marks & mark::TOKENS != 0).then(|| (self.number(), self.number()));
        let reward_lost = marks & mark::LOST != 0;
        StepMeta { raw, turn, step_reward, reward_lost, state, action, tokens }
    }
}
