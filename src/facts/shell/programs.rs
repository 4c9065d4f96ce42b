//! How the words of each kind of program are read.

use crate::facts::act::{Act, ActKind};
use crate::facts::edits::edit;
use crate::profile::{Kind, Program, Runner, TargetRule, base_name};
use crate::rollout::facts::{EditKind, Extent, Flags};

use super::classify::{Reader, write};
use super::edits::{
    DiffFiles, awk_extent, cut_head, cut_tail, diff_files, patch_acts, sed, sed_extent,
};
use super::git::git;
use super::parse::{Command, Redirect};
use super::words::{Words, line_count};

impl Reader<'_> {
    /// The test that the words run, if they run one.
    pub(super) fn test(&self, words: &[String]) -> Option<Act> {
        let (runner, used) = self.tables.runners.find(words)?;
        let (start, rest) = words.split_at_checked(used)?;
        Some(test_act(runner, start, rest))
    }

    /// An interpreter: a module, code, standard input or a file.
    pub(super) fn interpreter(
        &mut self,
        words: &[String],
        program: &Program,
        body: Option<&str>,
    ) -> Vec<Act> {
        let act = Act::new(ActKind::Execute, &program.op, &program.why);
        let mut rest = words.get(1..).unwrap_or_default();
        while let Some((word, more)) = rest.split_first() {
            match word.as_str() {
                "-m" if program.op == "python" => return self.module(more, act),
                "-c" | "-e" | "--eval" | "-p" | "--print" | "-pe"
                    if word != "-p" || more.len() == 1 =>
                {
                    let code = more.first().map_or("", String::as_str);
                    return vec![may_write(act, code)];
                }
                "-" => break,
                "--test" => rest = more,
                _ if program.values.contains(word) => rest = more.get(1..).unwrap_or_default(),
                _ if word.starts_with('-') => rest = more,
                _ => return vec![self.script_file(rest, act)],
            }
        }
        match body {
            Some(code) => vec![may_write(act, code)],
            None => vec![act],
        }
    }

    /// `python -m MODULE`: a runner, a package manager, or any other module.
    fn module(&mut self, words: &[String], act: Act) -> Vec<Act> {
        let Some((module, rest)) = words.split_first() else {
            return vec![act];
        };
        if let Some(runner) = self.tables.runners.find_module(module, rest) {
            return vec![test_act(runner, std::slice::from_ref(module), rest)];
        }
        let inner = self.unwrap(words);
        if inner.len() < words.len() {
            return match inner.split_first() {
                Some((module, rest)) => match self.tables.runners.find_module(module, rest) {
                    Some(runner) => vec![test_act(runner, std::slice::from_ref(module), rest)],
                    None => vec![self.script_file(&inner, act)],
                },
                None => vec![act],
            };
        }
        if let Some(install) = self.tables.programs.install(words) {
            return vec![Act::new(ActKind::Install, &install.op, &install.why)];
        }
        if module == "pip" {
            return vec![Act::new(ActKind::Execute, "pip", "the package manager tells something")];
        }
        vec![act]
    }

    /// An interpreter with a file: a test script, an installing script, or a run.
    fn script_file(&self, words: &[String], act: Act) -> Act {
        if let Some(install) = self.tables.programs.install(words) {
            return Act::new(ActKind::Install, &install.op, &install.why);
        }
        if let Some(test) = self.test(words) {
            return test;
        }
        match words.first() {
            Some(file) => act.on(vec![file.clone()]).marked(Flags::RUNS_FILE),
            None => act,
        }
    }
}

fn test_act(runner: &Runner, start: &[String], rest: &[String]) -> Act {
    let mut act = Act::new(ActKind::Test, &runner.name, &runner.why);
    act.runner.clone_from(&runner.name);
    let taken = Words::new(rest, &runner.values);
    let named = taken.positional.iter().filter(|w| !is_pattern_of_flags(w));
    act.paths = match runner.targets {
        TargetRule::None => Vec::new(),
        TargetRule::Script => start.first().cloned().into_iter().collect(),
        TargetRule::Words => named.map(|w| (*w).to_owned()).collect(),
        TargetRule::Paths => named.map(|w| test_path(w)).collect(),
    };
    if runner.targets == TargetRule::Script {
        act.flags = act.flags.with(Flags::RUNS_FILE);
    }
    act
}

/// Words that are no target: redirections that the grammar left behind, `discover`.
fn is_pattern_of_flags(word: &str) -> bool {
    word.is_empty() || word == "discover" || word == "--" || word.starts_with("$(")
}

/// The file of a node id (`tests/a.py::T::test_x`); `./...` is everything.
fn test_path(word: &str) -> String {
    let path = word.split("::").next().unwrap_or(word);
    path.strip_suffix("/...").map_or(path, |p| if p.is_empty() { "." } else { p }).to_owned()
}

/// Marks code that opens files to write, moves or removes them.
#[must_use]
pub fn may_write(act: Act, code: &str) -> Act {
    const SIGNS: [&str; 16] = [
        "'w'",
        "\"w\"",
        "'a'",
        "\"a\"",
        "'wb'",
        "\"wb\"",
        "'r+'",
        "\"r+\"",
        ".write_text(",
        ".write_bytes(",
        "writeFile",
        "shutil.",
        "os.remove",
        "os.rename",
        "os.unlink",
        "fileinput",
    ];
    if SIGNS.iter().any(|sign| code.contains(sign)) { act.marked(Flags::MAY_WRITE) } else { act }
}

/// The acts of a program whose words are read by its kind alone.
pub(super) fn acts(
    kind: Kind,
    program: &Program,
    rest: &[String],
    command: &Command,
    through_xargs: bool,
) -> Vec<Act> {
    let taken = Words::new(rest, &program.values);
    let named = || taken.positional.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let act = |kind: ActKind| Act::new(kind, &program.op, &program.why);
    let whole = || command.words.join(" ");
    match kind {
        Kind::View | Kind::Head | Kind::Tail => {
            vec![view(kind, program, rest, command, through_xargs)]
        }
        Kind::Sed => sed_acts(program, rest, command, through_xargs),
        Kind::Awk => vec![awk(program, rest, command, through_xargs)],
        Kind::Perl => vec![perl(program, rest, command.body.as_deref())],
        Kind::Grep => {
            let given = taken.has(&["-e", "-f", "--regexp", "--file", "--files"]);
            let skip = usize::from(!given);
            let mut paths: Vec<String> = named().into_iter().skip(skip).collect();
            paths.extend(input_file(command));
            vec![act(ActKind::Search).on(or_here(paths))]
        }
        Kind::Find => find(program, rest),
        Kind::List => vec![act(ActKind::Search).on(or_here(named()))],
        Kind::Produce => {
            let mut quiet = act(ActKind::Quiet);
            let words = rest
                .iter()
                .skip_while(|w| matches!(w.as_str(), "-e" | "-n" | "-en" | "-ne" | "-E"));
            quiet.prints = Some(words.cloned().collect::<Vec<_>>().join(" "));
            vec![quiet]
        }
        Kind::Tee => {
            let append = taken.has(&["-a", "--append"]);
            let text = command.body.clone().unwrap_or_else(whole);
            let files: Vec<String> =
                named().into_iter().filter(|p| !p.starts_with("/dev/")).collect();
            vec![write(files, append, &text, "tee writes a file")]
        }
        Kind::Patch => patch(program, rest, command),
        Kind::Git => git_acts(program, rest, command),
        Kind::Remove => vec![act(ActKind::Remove).on(named())],
        Kind::Move => vec![moved(act(ActKind::Move), &taken, &whole())],
        Kind::Copy => vec![moved(act(ActKind::Copy), &taken, &whole())],
        Kind::Touch => vec![act(ActKind::Touch).on(named()).editing(edit(EditKind::Write, "", ""))],
        Kind::FileOp => {
            let skip = usize::from(base_name(&program.op).starts_with("ch"));
            vec![act(ActKind::FileOp).on(named().into_iter().skip(skip).collect())]
        }
        Kind::Quiet => vec![act(ActKind::Quiet)],
        Kind::Filter => {
            let mut files = named();
            files.extend(input_file(command));
            if files.is_empty() {
                vec![act(ActKind::Execute)]
            } else {
                vec![act(ActKind::View).on(files)]
            }
        }
        Kind::Interpreter | Kind::Shell => vec![act(ActKind::Execute)],
    }
}

fn awk(program: &Program, rest: &[String], command: &Command, through_xargs: bool) -> Act {
    let taken = Words::new(rest, &program.values);
    let script = taken.positional.first().copied().unwrap_or_default();
    let mut files: Vec<String> = taken.positional.iter().skip(1).map(|w| (*w).to_owned()).collect();
    files.extend(input_file(command));
    if rest.iter().any(|w| w == "inplace") {
        let edit = edit(EditKind::Replace, "", script);
        return Act::new(ActKind::Replace, "replace", "awk edits in place").on(files).editing(edit);
    }
    if files.is_empty() && !through_xargs {
        return Act::new(ActKind::Execute, &program.op, &program.why);
    }
    let mut view = Act::new(ActKind::View, &program.op, &program.why).on(files);
    view.extent = awk_extent(script);
    view
}

fn patch(program: &Program, rest: &[String], command: &Command) -> Vec<Act> {
    let taken = Words::new(rest, &program.values);
    if taken.has(&["--dry-run"]) {
        return vec![Act::new(ActKind::Execute, &program.op, &program.why)];
    }
    let mut files = command.body.as_deref().map(diff_files).unwrap_or_default();
    if let Some(file) = taken.positional.first() {
        files = DiffFiles { changed: vec![(*file).to_owned()], ..DiffFiles::default() };
    }
    // A diff that stands in a file is known by the command that applies it.
    let diff = command.body.clone().unwrap_or_else(|| {
        let input = input_file(command).unwrap_or_default();
        format!("{} < {input}", command.words.join(" "))
    });
    patch_acts(&diff, files, &program.why)
}

fn git_acts(program: &Program, rest: &[String], command: &Command) -> Vec<Act> {
    let folder = Words::new(rest, &program.values).values(&["-C"]).next();
    let from = rest.len() - after_globals(rest, &program.values);
    let words = rest.get(from..).unwrap_or_default();
    let whole = command.words.join(" ");
    let mut made = git(words, &whole, command.body.as_deref())
        .unwrap_or_else(|| vec![Act::new(ActKind::Execute, &program.op, &program.why)]);
    for act in &mut made {
        if act.kind == ActKind::Search {
            act.paths = or_here(std::mem::take(&mut act.paths));
        }
        if let Some(folder) = folder {
            for path in &mut act.paths {
                *path = crate::facts::paths::join(folder, path);
            }
        }
    }
    made
}

/// Moving or copying: the last word, or the folder behind `-t`, is where to.
fn moved(act: Act, taken: &Words<'_>, whole: &str) -> Act {
    let mut paths: Vec<String> = taken.positional.iter().map(|w| (*w).to_owned()).collect();
    let folder = taken.values(&["-t", "--target-directory"]).next();
    let to = match folder {
        Some(folder) => Some(format!("{folder}/")),
        None if paths.len() > 1 => paths.pop(),
        None => None,
    };
    let mut moved = act.on(paths).editing(edit(EditKind::Write, "", whole));
    moved.to = to;
    moved
}

/// How many words stand from the sub-command on.
fn after_globals(rest: &[String], values: &[String]) -> usize {
    let mut words = rest.iter();
    while let Some(word) = words.as_slice().first() {
        if values.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            break;
        }
        words.next();
    }
    words.len()
}

fn or_here(paths: Vec<String>) -> Vec<String> {
    if paths.is_empty() { vec![".".to_owned()] } else { paths }
}

/// The file that standard input comes from.
fn input_file(command: &Command) -> Option<String> {
    command
        .redirects
        .iter()
        .find(|r: &&Redirect| r.operator == "<" && !r.target.starts_with("/dev/"))
        .map(|r| r.target.clone())
}

fn view(
    kind: Kind,
    program: &Program,
    rest: &[String],
    command: &Command,
    through_xargs: bool,
) -> Act {
    let taken = Words::new(rest, &program.values);
    let mut files: Vec<String> = taken
        .positional
        .iter()
        .filter(|w| **w != "-" && !w.starts_with('+'))
        .map(|w| (*w).to_owned())
        .collect();
    files.extend(input_file(command));
    let extent = match kind {
        Kind::Head => cut_head(Extent::Full, line_count(rest).as_deref()),
        Kind::Tail => cut_tail(Extent::Full, line_count(rest).as_deref()),
        _ => match taken.values(&["-r", "--line-range"]).next().and_then(|r| r.split_once(':')) {
            Some((first, last)) => match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) => Extent::Lines(first, last),
                _ => Extent::None,
            },
            None => Extent::Full,
        },
    };
    if files.is_empty() && !through_xargs {
        // `cat <<EOF`: its text is known, and it may go to a file.
        let mut quiet = Act::new(ActKind::Quiet, &program.op, &program.why);
        quiet.prints.clone_from(&command.body);
        return quiet;
    }
    let mut act = Act::new(ActKind::View, &program.op, &program.why).on(files);
    act.extent = extent;
    act
}

fn sed_acts(
    program: &Program,
    rest: &[String],
    command: &Command,
    through_xargs: bool,
) -> Vec<Act> {
    let call = sed(rest, program);
    let mut files: Vec<String> = call.files.iter().map(|f| (*f).to_owned()).collect();
    files.extend(input_file(command));
    if call.in_place {
        let edit = edit(EditKind::Replace, "", &call.script);
        return vec![
            Act::new(ActKind::Replace, "replace", "sed edits in place").on(files).editing(edit),
        ];
    }
    if files.is_empty() && !through_xargs {
        return vec![Act::new(ActKind::Execute, &program.op, &program.why)];
    }
    let mut act = Act::new(ActKind::View, &program.op, "sed shows lines").on(files);
    act.extent = sed_extent(&call.script, call.quiet);
    vec![act]
}

/// `perl -pi -e SCRIPT FILES` is an edit, everything else runs code.
fn perl(program: &Program, rest: &[String], body: Option<&str>) -> Act {
    let mut in_place = false;
    let mut scripts: Vec<&str> = Vec::new();
    let mut files: Vec<String> = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if let Some(flags) = word.strip_prefix('-').filter(|f| !f.is_empty()) {
            let letters = flags.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(flags);
            in_place |= letters.contains('i') && !flags.starts_with('M') && !flags.starts_with('I');
            if letters.ends_with(['e', 'E']) {
                scripts.extend(words.next().map(String::as_str));
            }
        } else {
            files.push(word.clone());
        }
    }
    if in_place && !scripts.is_empty() {
        let edit = edit(EditKind::Replace, "", &scripts.join("\n"));
        return Act::new(ActKind::Replace, "replace", &program.why).on(files).editing(edit);
    }
    let act = Act::new(ActKind::Execute, &program.op, "runs code");
    if scripts.is_empty() && !files.is_empty() {
        files.truncate(1);
        return act.on(files).marked(Flags::RUNS_FILE);
    }
    may_write(act, body.unwrap_or(&scripts.join("\n")))
}

/// `find`: where it searches, and what it does with what it finds.
fn find(program: &Program, rest: &[String]) -> Vec<Act> {
    let ends = |w: &&String| w.starts_with('-') || matches!(w.as_str(), "(" | "!" | "\\(");
    let paths: Vec<String> = rest
        .iter()
        .skip_while(|w| matches!(w.as_str(), "-L" | "-H" | "-P"))
        .take_while(|w| !ends(w))
        .cloned()
        .collect();
    let search = Act::new(ActKind::Search, &program.op, &program.why).on(or_here(paths));
    if rest.iter().any(|w| w == "-delete") {
        return vec![search, Act::new(ActKind::Remove, "rm", "find removes files")];
    }
    let Some(at) = rest.iter().position(|w| matches!(w.as_str(), "-exec" | "-execdir" | "-ok"))
    else {
        return vec![search];
    };
    let inner: Vec<String> = rest
        .iter()
        .skip(at + 1)
        .take_while(|w| !matches!(w.as_str(), ";" | "+"))
        .filter(|w| *w != "{}")
        .cloned()
        .collect();
    match inner.first().map(|w| base_name(w)) {
        Some("grep" | "egrep" | "rg") => {
            vec![Act { op: "grep".to_owned(), why: "grep looks for text".to_owned(), ..search }]
        }
        Some("rm") => vec![search, Act::new(ActKind::Remove, "rm", "find removes files")],
        Some("sed" | "perl")
            if inner.iter().any(|w| w.starts_with("-i") || w.starts_with("-pi")) =>
        {
            let edit = edit(EditKind::Replace, "", &inner.join(" "));
            vec![
                search,
                Act::new(ActKind::Replace, "replace", "edits what find finds").editing(edit),
            ]
        }
        _ => vec![search],
    }
}
