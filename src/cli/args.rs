//! The command line as clap understands it, made from the table of commands and the table of settings.
//! It says what may be given; `parse` reads what was.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueEnum, ValueHint};

use super::kind::Kind;
use crate::analysis::By;
use crate::export::Format;
use crate::export::figure::FigureKind;
use crate::export::groups::GroupsBy;
use crate::export::schema::SCHEMAS;
use crate::settings::{Class, Form, SETTINGS, Spec};

/// The whole command line.
pub fn command() -> Command {
    let root = Command::new("credscope")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Step-level credit assignment for groups of agent rollouts")
        .long_about(
            "Step-level credit assignment for groups of agent rollouts.\n\nWithout a command: the screen; \
             the report when standard output is not a terminal. `-` reads standard input. A file that is \
             called like a command is given as `./name`.",
        )
        .after_help(
            "Exit codes: 0 done, 1 failed, 2 usage, 128+n signal. A path that was named and gave nothing is a \
             failure, told after the rest is done; a record that could not be read is a warning, and with \
             --strict a failure.",
        )
        .arg(paths())
        .args(output_args(&[Format::Text, Format::Markdown, Format::Json]))
        .args(shared())
        .args(super::screen_args::screen_args())
        .arg(print_settings());
    Kind::ALL.into_iter().fold(root, |root, kind| root.subcommand(subcommand(kind)))
}

fn subcommand(kind: Kind) -> Command {
    let mut command =
        Command::new(kind.name()).about(kind.about()).args(output_args(kind.formats()));
    if kind == Kind::Figure {
        let names: Vec<&str> = FigureKind::ALL.iter().map(|f| f.name()).collect();
        command = command
            .override_usage("credscope figure FIGURE PATH… -o FILE.svg|FILE.html [OPTIONS]")
            .after_help(format!(
                "Figures: {}. advantages, matrix and tree show one group (--only TASK); advantages one rollout with --rollout ID.",
                names.join(", ")
            ));
    }
    if kind.reads() {
        command = command
            .arg(paths())
            .args(shared().into_iter().map(|arg| reworded(kind, arg)))
            .arg(print_settings());
    } else {
        command = command.args(shared().into_iter().filter(|a| {
            let id = a.get_id();
            id == "out"
                || id == "force"
                || id == "ascii"
                || (kind == Kind::Simulate && (id == "gamma" || id == "seed"))
        }));
    }
    command.args(own_args(kind))
}

/// Settings that mean a little more for one command.
fn reworded(kind: Kind, arg: Arg) -> Arg {
    match (kind, arg.get_id().as_str()) {
        // `quadrants --only compared` restricts steps; `--only TASK` keeps a task.
        (Kind::Quadrants | Kind::Figure, "only") => arg
            .action(ArgAction::Append)
            .value_name("TASK|compared")
            .help("Keep only this task; `compared`: only steps of that evidence class"),
        (Kind::Sweep, "knob") => arg.value_name("NAME=V1,V2,…").help(
            "A knob with its values, or n-prior, gamma, beta, tau with theirs; one or two of them",
        ),
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }
}
