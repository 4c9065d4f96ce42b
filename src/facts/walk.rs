//! What one rollout has done so far, as far as it decides what the next act is: which files were
//! seen, edited, made, put aside, how long they are, where the shell stands.
//!
//! Applying an act turns it into facts of the rollout's table.

use std::collections::{BTreeMap, BTreeSet};

use super::act::{Act, ActKind, Scope};
use super::paths::{clean, join, relative};
use crate::profile::Profile;
use crate::rollout::facts::{
    Category, Edit, EditId, EditKind, Extent, Fact, FactTable, Flags, StepFacts, StepResult,
    Targets,
};
use crate::rollout::{Sym, Symbols};

/// The rollout so far, with the facts made from it.
pub struct Walk<'p> {
    /// How paths are read.
    pub profile: &'p Profile,
    /// The facts.
    pub table: FactTable<Vec<StepFacts>>,
    /// Texts of the facts.
    pub symbols: Symbols,
    /// Directory of the shell where it lasts, as written; empty for the root.
    pub cwd: String,
    /// Directory after the step that is being read.
    pub next_cwd: Option<String>,
    /// The file that an editor with a window shows.
    pub open_file: Option<String>,
    seen: BTreeSet<String>,
    made: BTreeSet<String>,
    edits: BTreeMap<String, u32>,
    stashes: Vec<BTreeMap<String, u32>>,
    lengths: BTreeMap<String, u32>,
}

impl<'p> Walk<'p> {
    /// A rollout that has done nothing.
    #[must_use]
    pub fn new(profile: &'p Profile) -> Self {
        Self {
            profile,
            table: FactTable::default(),
            symbols: Symbols::default(),
            cwd: String::new(),
            next_cwd: None,
            open_file: None,
            seen: BTreeSet::new(),
            made: BTreeSet::new(),
            edits: BTreeMap::new(),
            stashes: Vec::new(),
            lengths: BTreeMap::new(),
        }
    }

    /// Ends a step: the shell stands where its line led.
    pub fn step_done(&mut self) {
        if let Some(next) = self.next_cwd.take() {
            self.cwd = join(&self.cwd, &next);
        }
    }

    /// The symbol of a text; none for an empty one.
    pub fn sym(&mut self, text: &str) -> Sym {
        if text.is_empty() { Sym::NONE } else { self.symbols.intern(text) }
    }

    /// Paths of an act as identities. A word that the shell would have to expand names no file that
    /// could be known.
    #[must_use]
    pub fn resolve(&self, act: &Act) -> Vec<String> {
        let file = !matches!(act.kind, ActKind::Search | ActKind::FileOp | ActKind::Copy);
        let mut paths: Vec<String> = Vec::new();
        for path in act.paths.iter().filter(|p| !p.contains(['$', '`'])) {
            let path = relative(self.profile, &self.cwd, path, file);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    fn targets(&mut self, paths: &[String]) -> Targets {
        let start = self.table.targets.len() as u32;
        for path in paths {
            let sym = self.sym(path);
            self.table.targets.push(sym);
        }
        Targets { start, len: paths.len() as u32 }
    }

    fn edit(&mut self, edit: Option<Edit>) -> Option<EditId> {
        let edit = edit?;
        let at = self.table.edits.iter().position(|e| *e == edit).unwrap_or_else(|| {
            self.table.edits.push(edit);
            self.table.edits.len() - 1
        });
        Some(EditId::new(at as u32))
    }

    /// A fact of an act about these paths, as it stands.
    pub fn fact(&mut self, act: &Act, paths: &[String], result: StepResult, flags: Flags) -> Fact {
        Fact {
            category: act.kind.category(),
            op: self.sym(&act.op),
            targets: self.targets(paths),
            extent: act.extent,
            edit: self.edit(act.edit),
            runner: self.sym(&act.runner),
            result,
            flags: act.flags.with(flags),
        }
    }

    /// The fact that names the action of a step, without any effect on the rollout.
    pub fn name(&mut self, act: &Act, result: StepResult, flags: Flags) -> Fact {
        let mut paths = self.resolve(act);
        let mut flags = flags;
        match act.kind {
            ActKind::Revert(scope) | ActKind::Stash(scope) => {
                let touched = self.touched(scope, &paths);
                if touched.is_empty() {
                    flags = flags.with(Flags::NO_OP);
                } else if scope != Scope::Named {
                    paths = touched;
                }
                if scope != Scope::Named && flags.has(Flags::NO_OP) {
                    paths.clear();
                }
                flags = flags.with(revert_flags(act.kind));
            }
            ActKind::Undo => {
                let edited = paths.iter().any(|p| self.edits.contains_key(p));
                flags = flags.with(revert_flags(act.kind));
                flags = if edited { flags } else { flags.with(Flags::NO_OP) };
            }
            ActKind::Unstash => {
                paths =
                    self.stashes.last().map(|s| s.keys().cloned().collect()).unwrap_or_default();
                let none = paths.is_empty();
                flags = flags.with(Flags::UNSTASH);
                flags = if none { flags.with(Flags::NO_OP) } else { flags };
            }
            _ => {}
        }
        let extent = self.extent(act, &paths);
        let mut fact = self.fact(act, &paths, result, flags);
        fact.extent = extent;
        if act.kind == ActKind::Write && paths.iter().any(|p| !self.seen.contains(p)) {
            fact.category = Category::Create;
        }
        fact
    }

    /// The effects of an act: facts that move the state, and what the rollout knows afterwards.
    pub fn apply(&mut self, act: &Act, result: StepResult, flags: Flags) {
        let paths = self.resolve(act);
        let done = !result.failed() && !flags.has(Flags::NO_OP);
        match act.kind {
            ActKind::View => {
                let fact = self.name(act, result, flags);
                self.table.effects.push(fact);
                if done {
                    self.seen.extend(paths);
                }
            }
            ActKind::Search | ActKind::Execute | ActKind::Test | ActKind::Think => {
                let fact = self.fact(act, &paths, result, flags);
                self.table.effects.push(fact);
            }
            ActKind::Write | ActKind::Append | ActKind::Replace | ActKind::Insert => {
                let new: Vec<String> =
                    paths.iter().filter(|p| !self.seen.contains(*p)).cloned().collect();
                let (made, changed): (Vec<_>, Vec<_>) =
                    paths.into_iter().partition(|p| act.kind == ActKind::Write && new.contains(p));
                self.write(act, made, true, (result, flags));
                if !changed.is_empty() || act.paths.is_empty() {
                    self.write(act, changed, false, (result, flags));
                }
            }
            ActKind::Touch => {
                let new: Vec<String> =
                    paths.into_iter().filter(|p| !self.seen.contains(p)).collect();
                self.write(act, new, true, (result, flags));
            }
            ActKind::Revert(_) | ActKind::Stash(_) | ActKind::Undo | ActKind::Unstash => {
                self.take_back(act, result, flags);
            }
            ActKind::Remove => self.remove(act, &paths, result, flags),
            ActKind::Move => {
                let gone = Fact {
                    flags: act.flags.with(flags).with(Flags::DELETE),
                    ..self.fact(act, &paths, result, flags)
                };
                self.table.effects.push(gone);
                let to = self.destination(act, &paths);
                if done {
                    for path in &paths {
                        self.forget(path);
                    }
                }
                self.write(act, to, true, (result, flags));
            }
            ActKind::Copy => {
                let to = self.destination(act, &paths);
                let (old, new): (Vec<_>, Vec<_>) =
                    to.into_iter().partition(|p| self.seen.contains(p));
                self.write(act, new, true, (result, flags));
                self.write(act, old, false, (result, flags));
            }
            ActKind::FileOp
            | ActKind::Quiet
            | ActKind::Install
            | ActKind::Respond
            | ActKind::Finish
            | ActKind::Other
            | ActKind::Invalid => {}
        }
    }

    /// Writes files: an effect of category create or modify.
    fn write(&mut self, act: &Act, paths: Vec<String>, made: bool, came: (StepResult, Flags)) {
        if paths.is_empty() && (made || !act.kind.is_edit()) {
            return;
        }
        let (result, flags) = came;
        let op = if act.kind.is_edit() { act.op.as_str() } else { "write" };
        let edit = act.edit.map(|edit| match act.kind {
            ActKind::Move | ActKind::Copy | ActKind::Touch => {
                Edit { kind: EditKind::Write, ..edit }
            }
            _ => edit,
        });
        let fact = Fact {
            category: if made { Category::Create } else { Category::Modify },
            op: self.sym(op),
            targets: self.targets(&paths),
            edit: self.edit(edit),
            result,
            flags: act.flags.with(flags),
            ..Fact::default()
        };
        self.table.effects.push(fact);
        if result.failed() || flags.has(Flags::NO_OP) {
            return;
        }
        for path in paths {
            *self.edits.entry(path.clone()).or_default() += 1;
            self.lengths.remove(&path);
            if made {
                self.made.insert(path.clone());
            }
            self.seen.insert(path);
        }
    }

    fn take_back(&mut self, act: &Act, result: StepResult, flags: Flags) {
        let fact = self.name(act, result, flags);
        let targets: Vec<String> = self
            .table
            .targets_of(&fact)
            .iter()
            .map(|&sym| self.symbols.text(sym).to_owned())
            .collect();
        self.table.effects.push(fact);
        if result.failed() || fact.flags.has(Flags::NO_OP) {
            return;
        }
        match act.kind {
            ActKind::Unstash => {
                for (path, count) in self.stashes.pop().unwrap_or_default() {
                    *self.edits.entry(path).or_default() += count;
                }
            }
            ActKind::Undo => {
                for path in &targets {
                    if let Some(count) = self.edits.get_mut(path) {
                        *count -= 1;
                        if *count == 0 {
                            self.edits.remove(path);
                        }
                    }
                    self.lengths.remove(path);
                }
            }
            ActKind::Revert(scope) | ActKind::Stash(scope) => {
                let mut aside = BTreeMap::new();
                for path in self.touched(scope, &targets) {
                    if let Some(count) = self.edits.remove(&path) {
                        aside.insert(path.clone(), count);
                    }
                    self.lengths.remove(&path);
                    if scope == Scope::Made {
                        self.forget(&path);
                    }
                }
                if matches!(act.kind, ActKind::Stash(_)) {
                    self.stashes.push(aside);
                }
            }
            _ => {}
        }
    }

    /// Removing a file that was made here takes its making back; another file is gone.
    fn remove(&mut self, act: &Act, paths: &[String], result: StepResult, flags: Flags) {
        let mut own = Vec::new();
        let mut foreign = Vec::new();
        for path in paths {
            let inside: Vec<String> =
                self.made.iter().filter(|m| is_inside(m, path)).cloned().collect();
            if inside.is_empty() {
                foreign.push(path.clone());
            } else {
                own.extend(inside);
            }
        }
        if !own.is_empty() {
            let fact = Fact {
                category: Category::Modify,
                op: self.sym("revert"),
                flags: act.flags.with(flags).with(Flags::REVERT),
                ..self.fact(act, &own, result, flags)
            };
            self.table.effects.push(fact);
        }
        if !foreign.is_empty() {
            let fact = Fact {
                flags: act.flags.with(flags).with(Flags::DELETE),
                ..self.fact(act, &foreign, result, flags)
            };
            self.table.effects.push(fact);
        }
        if !result.failed() {
            for path in own.iter().chain(&foreign) {
                self.forget(path);
            }
        }
    }

    fn forget(&mut self, path: &str) {
        self.edits.remove(path);
        self.made.remove(path);
        self.seen.remove(path);
        self.lengths.remove(path);
    }

    /// The edited files that a revert is about. Files made here are no business of git's: they are
    /// not tracked, and stay when everything is taken back; named, they are taken as they are.
    fn touched(&self, scope: Scope, paths: &[String]) -> Vec<String> {
        match scope {
            Scope::All => self
                .edits
                .keys()
                .filter(|p| !self.made.contains(*p) && !p.starts_with('/'))
                .cloned()
                .collect(),
            Scope::Made => self.made.iter().cloned().collect(),
            Scope::Named => self
                .edits
                .keys()
                .filter(|edited| paths.iter().any(|p| is_inside(edited, p)))
                .cloned()
                .collect(),
        }
    }

    /// Where files are moved or copied to: into a folder under their own names, else to the name.
    fn destination(&self, act: &Act, sources: &[String]) -> Vec<String> {
        let Some(to) = &act.to else { return Vec::new() };
        let path = relative(self.profile, &self.cwd, to, !to.ends_with('/'));
        let known_folder = self.seen.iter().any(|s| s != &path && is_inside(s, &path));
        if to.ends_with('/') || to == "." || to == ".." || sources.len() > 1 || known_folder {
            sources
                .iter()
                .map(|s| clean(&format!("{path}/{}", crate::profile::base_name(s))))
                .collect()
        } else {
            vec![path]
        }
    }

    /// A range that covers the whole file, as far as its length is known, is the whole file.
    fn extent(&self, act: &Act, paths: &[String]) -> Extent {
        let length = match paths {
            [path] => self.lengths.get(path).copied(),
            _ => None,
        };
        match (act.extent, length) {
            (Extent::From(0 | 1), _) => Extent::Full,
            (Extent::Lines(1, last), Some(length)) if last >= length => Extent::Full,
            (extent, _) => extent,
        }
    }

    /// Remembers how long a file is, from what a view of all of it showed.
    pub fn learn_length(&mut self, path: &str, length: u32) {
        if length > 0 {
            self.lengths.insert(path.to_owned(), length);
        }
    }
}

/// Whether `path` is `folder` or lies in it.
fn is_inside(path: &str, folder: &str) -> bool {
    folder == "."
        || path == folder
        || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

const fn revert_flags(kind: ActKind) -> Flags {
    match kind {
        ActKind::Stash(_) => Flags::REVERT.with(Flags::STASH),
        ActKind::Undo => Flags::REVERT.with(Flags::UNDO),
        _ => Flags::REVERT,
    }
}
