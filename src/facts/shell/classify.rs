//! Turns the commands of a line into acts: wrappers are looked through, pipes are read as one.

use crate::facts::act::{Act, ActKind, Speaks};
use crate::facts::edits::edit;
use crate::facts::paths::join;
use crate::profile::{Kind, Profiles, Program, is_assignment};
use crate::rollout::facts::{EditKind, Extent, Flags};

use super::edits::{awk_extent, cut_head, cut_tail, sed, sed_extent};
use super::parse::{Command, Link, Redirect, Script, parse};
use super::words::line_count;

/// What a line holds.
#[derive(Debug, Default)]
pub struct Read {
    /// Its acts, in order.
    pub acts: Vec<Act>,
    /// The directory it ends in, when it changes it.
    pub cwd: Option<String>,
}

/// Shells inside shells are read this deep.
const DEEPEST: usize = 3;

/// Reads a line.
pub fn acts(parser: &mut tree_sitter::Parser, tables: &Profiles, command: &str) -> Read {
    let mut reader = Reader {
        parser,
        tables,
        acts: Vec::new(),
        cwd: String::new(),
        depth: 0,
        pipefail: false,
        errexit: false,
    };
    reader.script(command);
    let cwd = (!reader.cwd.is_empty()).then_some(reader.cwd);
    Read { acts: reader.acts, cwd }
}

pub(super) struct Reader<'a> {
    parser: &'a mut tree_sitter::Parser,
    pub(super) tables: &'a Profiles,
    acts: Vec<Act>,
    /// The directory at this point of the line, as written.
    cwd: String,
    depth: usize,
    pipefail: bool,
    errexit: bool,
}

impl Reader<'_> {
    fn script(&mut self, text: &str) {
        let script = parse(self.parser, text);
        let first = self.acts.len();
        let outer = self.cwd.clone();
        let mut in_subshell = false;
        for command in &script.commands {
            if in_subshell && !command.subshell {
                self.cwd.clone_from(&outer);
            }
            in_subshell = command.subshell;
            let from = self.acts.len();
            self.command(command, from > first);
            for act in self.acts.iter_mut().skip(from) {
                act.pipe = command.pipe;
                act.stage = command.stage;
            }
        }
        if in_subshell {
            self.cwd = outer;
        }
        for act in self.acts.iter_mut().skip(first) {
            act.speaks = speaks(&script, act, self.pipefail, self.errexit);
        }
    }

    fn command(&mut self, command: &Command, follows: bool) {
        let mut words = self.unwrap(&command.words);
        let through_xargs = words.first().is_some_and(|w| w == "xargs" || w == "parallel");
        if through_xargs {
            words = self.unwrap(&xargs(&words));
        }
        let fed = (command.stage > 0 || through_xargs) && follows;
        if self.glue(&words, command) {
            return;
        }
        let from = self.acts.len();
        if fed && self.filter(&words, command, through_xargs) {
            // The filter changed what the act before it shows.
        } else {
            let mut made = self.classify(&words, command, through_xargs);
            for act in &mut made {
                for path in &mut act.paths {
                    *path = join(&self.cwd, path);
                }
                if let Some(to) = &mut act.to {
                    *to = join(&self.cwd, to);
                }
            }
            self.acts.extend(made);
        }
        self.output(command, from);
    }

    /// Drops wrappers from the beginning.
    pub(super) fn unwrap(&self, words: &[String]) -> Vec<String> {
        let mut words = words;
        loop {
            while let Some((first, rest)) = words.split_first()
                && is_assignment(first)
            {
                words = rest;
            }
            match self.tables.programs.wrapper(words).and_then(|n| words.get(n..)) {
                Some(rest) if !rest.is_empty() && rest.len() < words.len() => words = rest,
                _ => return words.to_vec(),
            }
        }
    }

    /// Commands that only prepare others: `cd`, `set -o pipefail`. `true` when nothing is left to
    /// classify.
    fn glue(&mut self, words: &[String], command: &Command) -> bool {
        let Some((program, rest)) = words.split_first() else {
            return !command.redirects.iter().any(|r| r.output().is_some());
        };
        match program.as_str() {
            "cd" | "pushd" => {
                let to = rest.iter().find(|w| !w.starts_with('-'));
                if let Some(to) = to.filter(|to| !to.contains('$')) {
                    self.cwd = join(&self.cwd, to);
                }
            }
            "set" => {
                let text = rest.join(" ");
                self.pipefail |= text.contains("pipefail");
                self.errexit |= rest.iter().any(|w| {
                    w.starts_with('-') && !w.starts_with("--") && w.contains('e') && w.len() <= 6
                });
            }
            _ => {}
        }
        false
    }

    /// A later stage of a pipe that works on what the act before it shows. `true` when it was one.
    fn filter(&mut self, words: &[String], command: &Command, through_xargs: bool) -> bool {
        let Some((name, rest)) = words.split_first() else {
            return false;
        };
        let Some(program) = self.tables.programs.get(name).cloned() else {
            return false;
        };
        let taken = super::words::Words::new(rest, &program.values);
        let recursive = taken.has_short('r') || taken.has_short('R');
        let files = taken.positional.len();
        let Some(last) = self.acts.last_mut() else {
            return false;
        };
        let shows = last.kind == ActKind::View;
        match program.kind {
            Kind::Grep if through_xargs && last.kind == ActKind::Search => {
                // `find … | xargs grep`: the text search carries the effect, in the same places.
                last.op.clone_from(&program.op);
                last.why.clone_from(&program.why);
                last.stage = command.stage;
                true
            }
            Kind::Grep if files <= 1 && !through_xargs && !recursive => {
                if shows {
                    *last = Act::new(ActKind::Search, &program.op, &program.why)
                        .on(std::mem::take(&mut last.paths));
                    last.pipe = command.pipe;
                    last.stage = command.stage;
                }
                true
            }
            Kind::Head if files == 0 => {
                last.extent = cut_head(last.extent, line_count(rest).as_deref());
                true
            }
            Kind::Tail if files == 0 => {
                last.extent = cut_tail(last.extent, line_count(rest).as_deref());
                true
            }
            Kind::Sed => {
                let call = sed(rest, &program);
                if call.in_place || !call.files.is_empty() || through_xargs {
                    return false;
                }
                last.extent = match last.extent {
                    Extent::Full => sed_extent(&call.script, call.quiet),
                    _ => Extent::None,
                };
                true
            }
            Kind::Awk if files <= 1 && !through_xargs => {
                last.extent = match last.extent {
                    Extent::Full => {
                        awk_extent(taken.positional.first().copied().unwrap_or_default())
                    }
                    _ => Extent::None,
                };
                true
            }
            Kind::View if files == 0 && !through_xargs => true,
            Kind::Filter if !through_xargs => {
                last.extent = Extent::None;
                true
            }
            Kind::Tee => {
                let text = match last.kind {
                    ActKind::Quiet | ActKind::View => last.prints.clone(),
                    // A copy of a log, no edit.
                    _ => return true,
                };
                let append = taken.has(&["-a", "--append"]);
                let text = text.or_else(|| command.body.clone()).unwrap_or_else(|| words.join(" "));
                let paths: Vec<String> = taken
                    .positional
                    .iter()
                    .filter(|p| !p.starts_with("/dev/"))
                    .map(|p| join(&self.cwd, p))
                    .collect();
                if !paths.is_empty() {
                    *last = write(paths, append, &text, "tee writes a file");
                    last.pipe = command.pipe;
                    last.stage = command.stage;
                }
                true
            }
            Kind::Quiet | Kind::Produce => true,
            _ => false,
        }
    }

    /// Output that goes to a file: text that is written there is an edit, a reader whose output
    /// goes nowhere is an execute, any other output is a log.
    fn output(&mut self, command: &Command, from: usize) {
        let Some((file, append)) = command.redirects.iter().rev().find_map(Redirect::output) else {
            return;
        };
        let nowhere = file == "/dev/null";
        if (!nowhere && file.starts_with("/dev/")) || file.starts_with('&') {
            return;
        }
        let path = join(&self.cwd, file);
        let words = command.words.join(" ");
        let own = self.acts.len() > from;
        let Some(last) = self.acts.last_mut().filter(|last| own || last.pipe == command.pipe)
        else {
            if !nowhere {
                self.acts.push(write(vec![path], append, &words, "output goes to a file"));
            }
            return;
        };
        match last.kind {
            ActKind::View | ActKind::Search if nowhere => {
                last.kind = ActKind::Execute;
                last.extent = Extent::None;
                last.paths.clear();
            }
            ActKind::View | ActKind::Quiet if !nowhere => {
                let text = last.prints.take().unwrap_or(words);
                let (pipe, stage) = (command.pipe, command.stage);
                *last = write(vec![path], append, &text, "text goes to a file");
                last.pipe = pipe;
                last.stage = stage;
            }
            _ => {}
        }
    }

    /// The acts of one command without its redirections.
    pub(super) fn classify(
        &mut self,
        words: &[String],
        command: &Command,
        through_xargs: bool,
    ) -> Vec<Act> {
        let Some((name, rest)) = words.split_first() else {
            return Vec::new();
        };
        if let Some(install) = self.tables.programs.install(words) {
            return vec![Act::new(ActKind::Install, &install.op, &install.why)];
        }
        if let Some(test) = self.test(words) {
            return vec![test];
        }
        let local = name.contains('/') && !name.contains("bin/");
        let program = if local { None } else { self.tables.programs.get(name).cloned() };
        match program {
            Some(program) => match program.kind {
                Kind::Interpreter => self.interpreter(words, &program, command.body.as_deref()),
                Kind::Shell => self.shell(rest, &program, command),
                kind => super::programs::acts(kind, &program, rest, command, through_xargs),
            },
            None if local => {
                let op = crate::profile::base_name(name);
                let act = Act::new(ActKind::Execute, op, "runs a program of the workspace");
                vec![act.on(vec![name.clone()]).marked(Flags::RUNS_FILE)]
            }
            None => {
                let op = crate::profile::base_name(name);
                vec![Act::new(ActKind::Execute, op, "any other program")]
            }
        }
    }

    /// A shell with a line or a script.
    fn shell(&mut self, rest: &[String], program: &Program, command: &Command) -> Vec<Act> {
        let taken = super::words::Words::new(rest, &program.values);
        if let Some(line) = taken.positional.first()
            && taken.has_short('c')
            && self.depth < DEEPEST
        {
            return acts_inside(self, line);
        }
        let script: Vec<String> = taken.positional.iter().map(|w| (*w).to_owned()).collect();
        if let Some(test) = self.test(&script) {
            return vec![test];
        }
        let act = Act::new(ActKind::Execute, &program.op, &program.why);
        match script.first() {
            Some(file) => vec![act.on(vec![file.clone()]).marked(Flags::RUNS_FILE)],
            None if command.body.is_some() => vec![act.marked(Flags::MAY_WRITE)],
            None => vec![act],
        }
    }
}

/// The acts of a line inside a line, with their paths still as written there.
fn acts_inside(outer: &mut Reader<'_>, line: &str) -> Vec<Act> {
    let mut inner = Reader {
        parser: &mut *outer.parser,
        tables: outer.tables,
        acts: Vec::new(),
        cwd: String::new(),
        depth: outer.depth + 1,
        pipefail: false,
        errexit: false,
    };
    inner.script(line);
    inner.acts
}

/// The command that `xargs` runs.
fn xargs(words: &[String]) -> Vec<String> {
    const VALUES: [&str; 9] = ["-n", "-I", "-P", "-L", "-d", "-s", "-E", "-a", "-j"];
    let mut rest = words.get(1..).unwrap_or_default();
    while let Some((word, more)) = rest.split_first()
        && word.starts_with('-')
    {
        rest =
            if VALUES.contains(&word.as_str()) { more.get(1..).unwrap_or_default() } else { more };
    }
    rest.iter().filter(|w| *w != "{}").cloned().collect()
}

/// Writing a text to files.
pub(super) fn write(paths: Vec<String>, append: bool, text: &str, why: &str) -> Act {
    if append {
        Act::new(ActKind::Append, "insert", why).on(paths).editing(edit(EditKind::Insert, "", text))
    } else {
        Act::new(ActKind::Write, "write", why).on(paths).editing(edit(EditKind::Write, "", text))
    }
}

/// For which acts the code of the line speaks: in a pipe for the last stage, after `;` for the last
/// command, after `||` for none, along `&&` for all when it is 0.
fn speaks(script: &Script, act: &Act, pipefail: bool, errexit: bool) -> Speaks {
    let Some(own) = script.pipes.get(act.pipe) else {
        return Speaks::Never;
    };
    if own.detached || own.link == Link::Or || (act.stage + 1 < own.stages && !pipefail) {
        return Speaks::Never;
    }
    let mut speaks = if act.speaks == Speaks::Never { Speaks::Never } else { Speaks::Always };
    for later in script.pipes.iter().skip(act.pipe + 1) {
        speaks = match (later.link, speaks) {
            (_, Speaks::Never) | (Link::Or, _) => Speaks::Never,
            (Link::Then, _) if !errexit => Speaks::Never,
            _ => Speaks::OnZero,
        };
    }
    speaks
}
