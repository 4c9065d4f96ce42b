//! The command line: arguments in, exit code out. It prints what other rooms computed and has no
//! numbers of its own.

mod again;
mod analyses;
mod args;
mod catalog;
mod commands;
mod error;
mod figure;
mod kind;
#[cfg(feature = "tui")]
mod loading;
mod options;
mod parse;
mod place;
mod runs;
#[cfg(feature = "tui")]
mod screen;
mod screen_args;
mod session;
mod shell;
mod simulate;
mod sums;
mod trainer;

use std::io::IsTerminal;
use std::process::ExitCode;

use crate::settings::{Origin, Settings};
use commands::Run;
use error::{Failure, USAGE};
use kind::Kind;
use options::Options;
use parse::Invocation;
#[cfg(feature = "tui")]
use screen::screen;
use session::{Session, Stop, complain};

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    let invocation = match parse::parse(std::env::args_os()) {
        Ok(invocation) => invocation,
        Err(error) => {
            // Help and version come as errors, too. Where nobody reads them, nothing is lost.
            let _ = error.print();
            if error.kind() == clap::error::ErrorKind::UnknownArgument
                && let Some(near) = session::near_command(std::env::args_os().nth(1))
            {
                complain(&format!("hint: did you mean the command `{near}`?"));
            }
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    match execute(invocation) {
        Ok(()) | Err(Failure::Pipe) => ExitCode::SUCCESS,
        Err(Failure::Signal(code)) => ExitCode::from(code),
        Err(Failure::Told { message, hint, code }) => {
            for (i, line) in message.lines().enumerate() {
                complain(&format!("{}{line}", if i == 0 { "error: " } else { "" }));
            }
            if let Some(hint) = hint {
                complain(&format!("hint: {hint}"));
            }
            ExitCode::from(code)
        }
    }
}

fn execute(mut invocation: Invocation) -> Result<(), Failure> {
    let earlier = invocation.settings_from.as_deref().map(again::stamp_of).transpose()?;
    if let Some(earlier) = &earlier {
        let kind = again::command(invocation.kind, earlier)?;
        invocation.kind = Some(kind);
        for (name, value) in &earlier.options {
            invocation.options.restore(kind, name, value);
        }
    }
    let config = invocation.config.as_deref();
    let mut settings = session::settings(invocation.given, config, earlier.as_ref())?;
    settings.places.extend(invocation.settings_from.clone());
    for (name, value) in earlier.iter().flat_map(|e| &e.options) {
        settings.view.ascii |= name == "ascii";
        let flag = settings.entry("theme").is_some_and(|e| e.origin() == Origin::Flag);
        if name == "theme" && !flag {
            settings.view.theme = value.as_str().map(ToOwned::to_owned);
        }
    }
    if invocation.print_settings {
        return catalog::print_settings(&settings, &invocation.paths, &invocation.options);
    }
    let reads = invocation.kind.is_none_or(|kind| kind.reads() && kind != Kind::CompareRuns);
    if reads && invocation.paths.is_empty() && piped() {
        invocation.paths.push("-".into());
    }
    let kind = match invocation.kind {
        Some(Kind::Simulate) => return simulate::run(&settings, &invocation.options),
        Some(kind) if !kind.reads() => {
            return match kind {
                Kind::Schema | Kind::Completions | Kind::Man => {
                    shell::write(kind, &settings, &invocation.options)
                }
                _ => catalog::write(kind, &settings, &invocation.options),
            };
        }
        Some(Kind::CompareRuns) => {
            let earlier = earlier.as_ref();
            return runs::compare_runs(&settings, &invocation.paths, &invocation.options, earlier);
        }
        Some(Kind::Figure) => {
            figure::prepare(&settings, &mut invocation.options)?;
            Kind::Figure
        }
        Some(kind) => kind,
        None if invocation.paths.is_empty() => {
            return Err(Failure::usage(
                "no file, folder or `-` was given",
                Some(
                    "`credscope PATH` opens rollouts; `credscope --help` lists the commands".into(),
                ),
            ));
        }
        None => {
            if invocation.options.screenshot.is_some() || wants_screen(&settings) {
                return screen(settings, &invocation.paths, &invocation.options);
            }
            Kind::Report
        }
    };
    used(&settings, &invocation.options)?;
    let stop = Stop::listen();
    let session = match kind {
        // It tells what is wrong before it fails on it.
        Kind::Check => Session::read(settings, &invocation.paths, stop)?,
        _ => Session::open(settings, &invocation.paths, stop)?,
    };
    if kind != Kind::Check {
        session.warn();
    }
    again::warn(earlier.as_ref(), &[&session]);
    Run { session: &session, options: &invocation.options }.run(kind)?;
    session.strict()?;
    session.all_read()
}

/// A parameter of a column that nothing computes is a mistake of the command line.
fn used(settings: &Settings, options: &Options) -> Result<(), Failure> {
    let named = [&options.column, &options.against].into_iter().flatten();
    let mut all = settings.clone();
    for name in named.flat_map(|list| list.split(',')) {
        // What is no column is told by the command that needs it.
        let _ = all.add_column(name.trim());
    }
    match all.idle_parameter() {
        Some((column, value)) => Err(Failure::usage(
            format!("--set {value} has no effect: the column `{column}` is not computed"),
            Some(format!("add it to --columns, as in --columns rtmc,{column}")),
        )),
        None => Ok(()),
    }
}

/// Whether something is piped or redirected into the program: then no path means standard input. A
/// terminal is none, nor is `/dev/null`.
#[cfg(unix)]
fn piped() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    let kind = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .and_then(|fd| std::fs::File::from(fd).metadata())
        .map(|data| data.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_file())
}

/// Whether something is piped or redirected into the program: then no path means standard input.
#[cfg(not(unix))]
fn piped() -> bool {
    !std::io::stdin().is_terminal()
}

/// The screen needs a terminal that can move its cursor, and nothing to write to a file.
fn wants_screen(settings: &Settings) -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    cfg!(feature = "tui") && std::io::stdout().is_terminal() && !dumb && settings.view.out.is_none()
}

/// Without the screen the report stands in.
#[cfg(not(feature = "tui"))]
fn screen(
    settings: Settings,
    paths: &[std::path::PathBuf],
    options: &Options,
) -> Result<(), Failure> {
    if options.screenshot.is_some() {
        return Err(Failure::usage("this program was built without the screen", None));
    }
    let session = Session::open(settings, paths, Stop::default())?;
    session.warn();
    Run { session: &session, options: &Options::default() }.run(Kind::Report)?;
    session.all_read()
}
