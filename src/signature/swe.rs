//! The state of a coding agent: per file a set of operations, then the counters of tests and thoughts.

use std::fmt::Write as _;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::action::{ActionKey, EditKey, Span};
use super::granularity::{
    EditIdentity, ExecuteTrace, Granularity, TestTrace, ThinkTrace, ViewBucket,
};
use super::paths::Scope;
use super::states::{Content, Counters, StateTable};
use super::{Contents, Projection, intern};
use crate::rollout::facts::{EditKind, Fact, StepFacts};
use crate::rollout::{Category, FactTable, Flags, Group, StepResult, Sym};

/// One thing that a state remembers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Element {
    View(Sym, Span),
    Search(Sym),
    Create(Sym, EditKey),
    Modify(Sym, EditKey),
    Insert(Sym, EditKey),
    Delete(Sym),
    Revert(Sym),
    /// Sequences only: the last edit was taken back.
    Undo(Sym),
    /// Sequences only: edits were put aside.
    Stash(Sym),
    /// Sequences only: edits put aside are active again.
    Unstash(Sym),
    /// Program, targets, result, command (0 unless the knob asks for it).
    Execute(Sym, Box<[Sym]>, StepResult, u64),
    /// A failed action: category, operation, target.
    Failed(Category, Sym, Sym),
}

/// What a revert can take back in one rollout, by whole path: the state at a coarser scope of targets
/// is then the image of the state at a finer one, whatever was reverted.
#[derive(Default)]
struct Edits {
    /// Active edits of each file, in order.
    active: FxHashMap<Sym, Vec<u32>>,
    /// Edits put aside.
    stashed: FxHashMap<Sym, Vec<u32>>,
    /// How many active edits stand behind an element of the state.
    count: FxHashMap<u32, u32>,
    /// Files whose revert the state remembers.
    reverted: FxHashMap<Sym, u32>,
}

impl Edits {
    /// An edit becomes active.
    fn add(&mut self, path: Sym, id: u32, content: &mut Content) {
        self.active.entry(path).or_default().push(id);
        *self.count.entry(id).or_default() += 1;
        content.add(id);
    }

    /// An edit is taken back; the set holds its element while an equal one is active.
    fn drop(&mut self, id: u32, content: &mut Content) {
        let left = self.count.entry(id).or_default();
        *left = left.saturating_sub(1);
        if *left == 0 {
            content.remove(id);
        }
    }

    /// The revert of a file is forgotten; the set holds its element while another file's stands behind
    /// it.
    fn forget_revert(&mut self, path: Sym, content: &mut Content) {
        if let Some(id) = self.reverted.remove(&path)
            && !self.reverted.values().any(|&other| other == id)
        {
            content.remove(id);
        }
    }
}

struct Walker<'a> {
    group: &'a Group,
    granularity: &'a Granularity,
    scope: Scope,
    elements: Vec<Element>,
    index: HashTable<u32>,
}

pub(super) fn project(group: &Group, granularity: &Granularity) -> Projection {
    let mut walker = Walker {
        group,
        granularity,
        scope: Scope::default(),
        elements: Vec::new(),
        index: HashTable::new(),
    };
    let mut states = StateTable::with_capacity(group.len());
    let (mut actions, mut action_index) = (Vec::new(), HashTable::new());
    let mut state = Vec::with_capacity(group.len());
    let mut action = Vec::with_capacity(group.len());
    for rollout in &group.rollouts {
        let mut content = Content::new(granularity.sequence);
        let mut edits = Edits::default();
        let mut seen = Seen::default();
        for step in group.steps.facts.steps.range(rollout.steps.clone()) {
            state.push(states.id(content.hash(), content.elements(), seen.counters(granularity)));
            let key = ActionKey::coding(
                &step,
                &group.steps.facts,
                &group.symbols,
                granularity,
                &mut walker.scope,
            );
            action.push(intern(&mut actions, &mut action_index, key));
            walker.move_state(&step, &mut content, &mut edits, &mut seen);
        }
    }
    states.close();
    actions.shrink_to_fit();
    Projection {
        state: state.into(),
        action: action.into(),
        states: states.len() as u32,
        actions: actions.len() as u32,
        collisions: collisions(group, granularity),
        contents: Contents::Swe { states, elements: walker.elements },
        keys: actions,
        scope: walker.scope,
        granularity: granularity.clone(),
        labels: std::sync::OnceLock::new(),
    }
}

/// Counts of tests and thoughts so far, before the knobs cut them.
#[derive(Default)]
struct Seen {
    failed: u32,
    passed: u32,
    unknown: u32,
    last: u32,
    thoughts: u32,
}

impl Seen {
    fn test(&mut self, result: StepResult) {
        match result {
            StepResult::Ok => {
                self.passed += 1;
                self.last = 1;
            }
            StepResult::Unknown => {
                self.unknown += 1;
                self.last = 2;
            }
            _ => {
                self.failed += 1;
                self.last = 3;
            }
        }
    }

    fn counters(&self, granularity: &Granularity) -> Counters {
        let (fail, pass) = match granularity.test {
            TestTrace::Off => (0, 0),
            TestTrace::Seen => (0, u32::from(self.failed + self.passed + self.unknown > 0)),
            TestTrace::LastResult => (0, self.last),
            TestTrace::Capped => (self.failed.min(3), self.passed.min(3)),
            TestTrace::Counts => (self.failed, self.passed),
        };
        let think = match granularity.think {
            ThinkTrace::Off => 0,
            ThinkTrace::Seen => self.thoughts.min(1),
            ThinkTrace::Counts => self.thoughts,
        };
        Counters { fail, pass, think }
    }
}

impl Walker<'_> {
    fn id(&mut self, element: Element) -> u32 {
        intern(&mut self.elements, &mut self.index, element)
    }

    fn move_state(
        &mut self,
        step: &StepFacts,
        content: &mut Content,
        edits: &mut Edits,
        seen: &mut Seen,
    ) {
        let table = &self.group.steps.facts;
        for fact in table.effects_of(step) {
            match fact.category {
                Category::Test => seen.test(fact.result),
                Category::Think => seen.thoughts += 1,
                Category::View | Category::Search | Category::Modify | Category::Create
                    if fact.result.failed() || fact.flags.has(Flags::INVALID) =>
                {
                    self.failed(fact, table, content);
                }
                Category::Execute => self.executed(fact, step, table, content),
                Category::View | Category::Search => self.looked(fact, table, content),
                _ if fact.flags.has(Flags::NO_OP) => {}
                _ if fact.flags.has(Flags::UNSTASH) => self.unstashed(fact, table, content, edits),
                _ if fact.flags.has(Flags::REVERT) => self.reverted(fact, table, content, edits),
                _ if fact.flags.has(Flags::DELETE) => self.deleted(fact, table, content, edits),
                Category::Modify | Category::Create => self.edited(fact, table, content, edits),
                _ => {}
            }
        }
    }

    /// Targets: the whole path, and what the scope leaves of it.
    fn paths(&mut self, fact: &Fact, table: &FactTable) -> Vec<(Sym, Sym)> {
        table
            .targets_of(fact)
            .iter()
            .map(|&path| (path, self.scope.of(path, &self.group.symbols, self.granularity)))
            .collect()
    }

    fn targets(&mut self, fact: &Fact, table: &FactTable) -> Vec<Sym> {
        table
            .targets_of(fact)
            .iter()
            .map(|&path| self.scope.of(path, &self.group.symbols, self.granularity))
            .collect()
    }

    fn failed(&mut self, fact: &Fact, table: &FactTable, content: &mut Content) {
        if self.granularity.failed {
            for path in self.targets(fact, table) {
                let id = self.id(Element::Failed(fact.category, fact.op, path));
                content.add(id);
            }
        }
    }

    fn executed(
        &mut self,
        fact: &Fact,
        step: &StepFacts,
        table: &FactTable,
        content: &mut Content,
    ) {
        let level = self.granularity.execute;
        if level == ExecuteTrace::Off {
            return;
        }
        let targets =
            if level >= ExecuteTrace::Target { self.targets(fact, table) } else { Vec::new() };
        let result = if level >= ExecuteTrace::Result { fact.result } else { StepResult::Unknown };
        let command = if level == ExecuteTrace::Command { step.command } else { 0 };
        let id = self.id(Element::Execute(fact.op, targets.into(), result, command));
        content.add(id);
    }

    fn looked(&mut self, fact: &Fact, table: &FactTable, content: &mut Content) {
        let view = fact.category == Category::View;
        if (view && self.granularity.view_bucket == ViewBucket::Off)
            || (!view && !self.granularity.search)
        {
            return;
        }
        let span = Span::of(fact.extent, self.granularity);
        for path in self.targets(fact, table) {
            let id = self.id(if view { Element::View(path, span) } else { Element::Search(path) });
            content.add(id);
        }
    }

    fn edited(&mut self, fact: &Fact, table: &FactTable, content: &mut Content, edits: &mut Edits) {
        if self.granularity.edit_identity == EditIdentity::None {
            return;
        }
        let key = EditKey::of(fact, table, self.granularity);
        let kind = fact.edit.and_then(|id| table.edit(id)).map(|edit| edit.kind);
        for (path, scoped) in self.paths(fact, table) {
            let id = self.id(match (fact.category, kind) {
                (Category::Create, _) => Element::Create(scoped, key),
                (_, Some(EditKind::Insert))
                    if self.granularity.edit_identity > EditIdentity::File =>
                {
                    Element::Insert(scoped, key)
                }
                _ => Element::Modify(scoped, key),
            });
            edits.add(path, id, content);
        }
    }

    fn deleted(
        &mut self,
        fact: &Fact,
        table: &FactTable,
        content: &mut Content,
        edits: &mut Edits,
    ) {
        for (path, scoped) in self.paths(fact, table) {
            for id in edits.active.remove(&path).unwrap_or_default() {
                edits.drop(id, content);
            }
            let id = self.id(Element::Delete(scoped));
            content.add(id);
        }
    }

    fn reverted(
        &mut self,
        fact: &Fact,
        table: &FactTable,
        content: &mut Content,
        edits: &mut Edits,
    ) {
        let (undo, stash) = (fact.flags.has(Flags::UNDO), fact.flags.has(Flags::STASH));
        for (path, scoped) in self.paths(fact, table) {
            let taken: Vec<u32> = if undo {
                edits.active.entry(path).or_default().pop().into_iter().collect()
            } else {
                edits.active.remove(&path).unwrap_or_default()
            };
            for &id in &taken {
                edits.drop(id, content);
            }
            if stash {
                edits.stashed.entry(path).or_default().extend(taken);
            }
            if self.granularity.reverts {
                let id = self.id(match (self.granularity.sequence, undo, stash) {
                    (true, true, _) => Element::Undo(scoped),
                    (true, _, true) => Element::Stash(scoped),
                    _ => Element::Revert(scoped),
                });
                edits.reverted.insert(path, id);
                content.add(id);
            }
        }
    }

    fn unstashed(
        &mut self,
        fact: &Fact,
        table: &FactTable,
        content: &mut Content,
        edits: &mut Edits,
    ) {
        for (path, scoped) in self.paths(fact, table) {
            let Some(back) = edits.stashed.remove(&path) else { continue };
            if self.granularity.sequence {
                // A sequence keeps its past: it notes the act, not the edits a second time.
                if self.granularity.reverts {
                    let id = self.id(Element::Unstash(scoped));
                    content.add(id);
                }
                for &id in &back {
                    *edits.count.entry(id).or_default() += 1;
                }
                edits.active.entry(path).or_default().extend(back);
                continue;
            }
            for id in back {
                edits.add(path, id, content);
            }
            edits.forget_revert(path, content);
        }
    }
}

/// How many distinct edits share a short hash with another edit of the same file.
fn collisions(group: &Group, granularity: &Granularity) -> u32 {
    let new_text = match granularity.edit_identity {
        _ if granularity.edit_hash == 0 => return 0,
        EditIdentity::OldNew => false,
        EditIdentity::NewText => true,
        _ => return 0,
    };
    let table = &group.steps.facts;
    let mut known: FxHashMap<(&[Sym], u64), Vec<[u8; 32]>> = FxHashMap::default();
    for step in table.steps.iter() {
        for fact in table.effects_of(&step) {
            let Some(edit) = fact.edit.and_then(|id| table.edit(id)) else {
                continue;
            };
            let full = if new_text { edit.new } else { edit.old_new };
            let short = super::action::short_hash(&full, granularity.edit_hash);
            let fulls = known.entry((table.targets_of(fact), short)).or_default();
            if !fulls.contains(&full) {
                fulls.push(full);
            }
        }
    }
    known.values().map(|fulls| fulls.len().saturating_sub(1) as u32).sum()
}

/// The text of a state: files with their operations, then the flags.
pub(super) fn label(
    content: &(Vec<u32>, Counters),
    elements: &[Element],
    projection: &Projection,
    group: &Group,
) -> String {
    let granularity = &projection.granularity;
    let digits = granularity.edit_hash;
    let name = |path: Sym| projection.path_label(path);
    let mut files: std::collections::BTreeMap<String, Vec<String>> =
        std::collections::BTreeMap::new();
    let mut programs: Vec<String> = Vec::new();
    let hashed = |code: &str, key: &EditKey| match key.label(digits) {
        empty if empty.is_empty() => code.to_owned(),
        hash => format!("{code}:{hash}"),
    };
    for element in content.0.iter().filter_map(|&id| elements.get(id as usize)) {
        let (path, code) = match element {
            Element::View(path, span) => (
                path,
                match span {
                    Span::Any => "V".to_owned(),
                    Span::Full => "Vf".to_owned(),
                    Span::Part => "Vp".to_owned(),
                    Span::Buckets(a, b) if a == b => format!("V[{a}]"),
                    Span::Buckets(..) | Span::From(_) => format!("V{}", span.label()),
                },
            ),
            Element::Search(path) => (path, "S".to_owned()),
            Element::Create(path, key) => (path, hashed("C", key)),
            Element::Modify(path, key) => (path, hashed("M", key)),
            Element::Insert(path, key) => (path, hashed("I", key)),
            Element::Delete(path) => (path, "D".to_owned()),
            Element::Revert(path) => (path, "R".to_owned()),
            Element::Undo(path) => (path, "U".to_owned()),
            Element::Stash(path) => (path, "P".to_owned()),
            Element::Unstash(path) => (path, "Q".to_owned()),
            Element::Failed(category, op, path) => {
                (path, format!("!{}:{}", category.name(), group.symbols.text(*op)))
            }
            Element::Execute(program, targets, result, command) => {
                let mut text = format!("X:{}", group.symbols.text(*program));
                if granularity.execute >= ExecuteTrace::Target {
                    let names: Vec<String> = targets.iter().map(|&t| name(t)).collect();
                    text.push(':');
                    text.push_str(&names.join("+"));
                }
                if granularity.execute >= ExecuteTrace::Result {
                    text.push(':');
                    text.push_str(result.name());
                }
                if *command != 0 {
                    let _ = write!(text, ":{:04x}", command >> 48);
                }
                programs.push(text);
                continue;
            }
        };
        files.entry(name(*path)).or_default().push(code);
    }
    let mut parts: Vec<String> = files
        .into_iter()
        .map(|(file, mut codes)| {
            if !granularity.sequence {
                codes.sort();
            }
            format!("{file}:{}", codes.join(","))
        })
        .collect();
    programs.sort();
    parts.extend(programs);
    parts.push(flags(content.1, granularity));
    parts.join("|")
}

fn flags(counters: Counters, granularity: &Granularity) -> String {
    let Counters { fail, pass, think } = counters;
    let mut parts = Vec::new();
    match granularity.test {
        TestTrace::Off => {}
        TestTrace::Seen => parts.push(format!("tested={pass}")),
        TestTrace::LastResult => parts.push(format!(
            "last_test={}",
            match pass {
                0 => "none",
                1 => "ok",
                2 => "unknown",
                _ => "error",
            }
        )),
        TestTrace::Capped | TestTrace::Counts => {
            parts.push(format!("test_fail={fail},test_pass={pass}"));
        }
    }
    if granularity.think != ThinkTrace::Off {
        parts.push(format!("think={think}"));
    }
    format!("({})", parts.join(","))
}
