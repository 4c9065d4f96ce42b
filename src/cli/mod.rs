//! The command line: arguments in, exit code out. It prints what other rooms computed and has no
//! numbers of its own.

mod args;
mod catalog;
mod commands;
mod error;
mod kind;
mod place;
#[cfg(feature = "tui")]
mod screen;
mod session;

use std::io::IsTerminal;
use std::process::ExitCode;

use args::Invocation;
use commands::Run;
use error::{Failure, USAGE};
use kind::Kind;
#[cfg(not(feature = "tui"))]
use kind::Options;
#[cfg(feature = "tui")]
use screen::screen;
use session::{Session, Stop, complain};

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    let invocation = match args::parse(std::env::args_os()) {
        Ok(invocation) => invocation,
        Err(error) => {
            // Help and version come as errors, too. Where nobody reads them, nothing is lost.
            let _ = error.print();
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

fn execute(invocation: Invocation) -> Result<(), Failure> {
    let settings = session::settings(invocation.given, invocation.config.as_deref())?;
    if invocation.print_settings {
        return catalog::print_settings(&settings, &invocation.options);
    }
    let kind = match invocation.kind {
        Some(kind) if !kind.reads() => return catalog::write(kind, &settings, &invocation.options),
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
    let session = Session::open(settings, &invocation.paths, Stop::listen())?;
    if kind != Kind::Check {
        session.warn();
    }
    Run { session: &session, options: &invocation.options }.run(kind)
}

/// The screen needs a terminal that can move its cursor, and nothing to write to a file.
fn wants_screen(settings: &crate::settings::Settings) -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    cfg!(feature = "tui") && std::io::stdout().is_terminal() && !dumb && settings.view.out.is_none()
}

/// Without the screen the report stands in.
#[cfg(not(feature = "tui"))]
fn screen(
    settings: crate::settings::Settings,
    paths: &[std::path::PathBuf],
    options: &Options,
) -> Result<(), Failure> {
    if options.screenshot.is_some() {
        return Err(Failure::usage("this program was built without the screen", None));
    }
    let session = Session::open(settings, paths, Stop::default())?;
    session.warn();
    Run { session: &session, options: &Options::default() }.run(Kind::Report)
}
