//! Columns to bytes.

use super::mark;
use crate::load::work::StepMeta;
use crate::rollout::{Extent, Fact, FactTable, RolloutFacts, StepFacts, Sym};

/// Bytes that are being written.
pub struct Out(pub Vec<u8>);

impl Out {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits a byte, the lowest first.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    pub fn word(&mut self, word: u64) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// The absent symbol is 0.
    fn sym(&mut self, sym: Sym) {
        self.number(u64::from(sym.0.wrapping_add(1)));
    }

    pub fn facts(&mut self, facts: &RolloutFacts) {
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
    fn fact(&mut self, fact: &Fact, action: Option<(&Fact, &FactTable<Vec<StepFacts>>)>) {
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

    pub fn meta(&mut self, step: &StepMeta) {
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
