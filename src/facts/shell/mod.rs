//! Shell command lines: which acts a line holds, which of them carries the effect, and for which
//! of them its exit code speaks. Read from the text alone; what the rollout knows comes later.

mod classify;
mod edits;
mod git;
mod heredoc;
mod parse;
mod programs;
mod quotes;
mod words;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::facts::act::{Act, ActKind, Speaks};
use crate::facts::edits as hashes;
use crate::profile::Profiles;
use crate::rollout::facts::Flags;

pub use edits::{diff_files, patch_acts};
pub use programs::may_write as marked_by_code;
pub use quotes::unquote;

/// A command line, understood.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// What it does, in order. Never empty.
    pub acts: Vec<Act>,
    /// The act that carries the effect: it names the action.
    pub lead: Act,
    /// The directory that the line ends in, as written, when it changes it.
    pub cwd: Option<String>,
}

/// Lines kept in the memo before it starts anew.
const MEMO: usize = 8_000;
/// Longer lines (whole files in heredocs) hardly ever come twice.
const LONGEST_KEPT: usize = 2_000;

/// Reads command lines, each text once.
pub struct Shell {
    parser: tree_sitter::Parser,
    memo: FxHashMap<Box<str>, Arc<Line>>,
}

impl Default for Shell {
    fn default() -> Self {
        let mut parser = tree_sitter::Parser::new();
        // Fails only for a grammar of another major version; lines then fall back to their words.
        let _unusable = parser.set_language(&tree_sitter_bash::LANGUAGE.into());
        Self { parser, memo: FxHashMap::default() }
    }
}

impl Shell {
    /// Reads a line.
    pub fn read(&mut self, tables: &Profiles, command: &str) -> Arc<Line> {
        if let Some(line) = self.memo.get(command) {
            return Arc::clone(line);
        }
        let line = Arc::new(self.understand(tables, command));
        if command.len() > LONGEST_KEPT {
            return line;
        }
        if self.memo.len() >= MEMO {
            self.memo.clear();
        }
        self.memo.insert(command.into(), Arc::clone(&line));
        line
    }

    fn understand(&mut self, tables: &Profiles, command: &str) -> Line {
        let read = classify::acts(&mut self.parser, tables, command);
        let mut acts = read.acts;
        if acts.is_empty() {
            let name = command.split(['=', ' ', '\n']).next().unwrap_or_default();
            acts.push(Act::new(ActKind::Quiet, name, "nothing that runs"));
        }
        // Lines stay in the memo, and most are one act: a list that grows has room for four.
        acts.shrink_to_fit();
        Line { lead: lead(&acts), acts, cwd: read.cwd }
    }
}

/// The act that carries the effect: the highest rank, the first among equals, joined with all acts
/// of the same kind and operation (`cat a; cat b` is `cat a b`). A line that writes a file and then
/// runs it is the run.
fn lead(acts: &[Act]) -> Act {
    let written: Vec<&String> =
        acts.iter().filter(|a| a.kind.is_edit()).flat_map(|a| &a.paths).collect();
    let runs_written = |act: &Act| {
        act.kind == ActKind::Execute
            && act.flags.has(Flags::RUNS_FILE)
            && act.paths.iter().any(|p| written.iter().any(|w| same_file(w, p)))
    };
    let rank = |act: &Act| {
        if runs_written(act) { 9 } else { act.kind.rank() }
    };
    let mut best: Option<&Act> = None;
    for act in acts {
        if best.is_none_or(|b| rank(act) > rank(b)) {
            best = Some(act);
        }
    }
    let Some(best) = best else {
        return Act::default();
    };
    let mut lead = best.clone();
    if lead.kind == ActKind::Quiet {
        return lead;
    }
    let alike = |act: &&Act| act.kind == best.kind && act.op == best.op && act.to.is_none();
    let mut all_edits = Vec::new();
    for act in acts.iter().filter(alike) {
        for path in &act.paths {
            if !lead.paths.contains(path) {
                lead.paths.push(path.clone());
            }
        }
        all_edits.extend(act.edit);
        if act.extent != lead.extent {
            lead.extent = crate::rollout::facts::Extent::None;
        }
        lead.speaks = together(lead.speaks, act.speaks);
    }
    lead.edit = hashes::join(&all_edits);
    lead
}

/// For what the code of a line speaks when two acts of it are taken as one: for nothing when one of
/// them is out of its reach; along `&&` the code of the last is the code of both.
fn together(a: Speaks, b: Speaks) -> Speaks {
    match (a, b) {
        (Speaks::Never, _) | (_, Speaks::Never) => Speaks::Never,
        (Speaks::Always, _) | (_, Speaks::Always) => Speaks::Always,
        _ => Speaks::OnZero,
    }
}

fn same_file(a: &str, b: &str) -> bool {
    use crate::facts::paths::clean;
    let (a, b) = (clean(a), clean(b));
    a == b || a.ends_with(&format!("/{b}")) || b.ends_with(&format!("/{a}"))
}
