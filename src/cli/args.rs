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
        .term_width(80)
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
    if kind == Kind::CompareRuns {
        command = command.after_help(
            "Two paths, each a file or folder: `compare-runs A B`. Or two sides of one load: \
             `compare-runs PATH… --policies X,Y`, `compare-runs PATH… --train-steps 1,2`.",
        );
    }
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
            "A knob with its values, or n-prior, gamma, beta, tau, abstraction, preset with theirs; one or two of them",
        ),
        (Kind::Figure, "knob") => arg.value_name("NAME=VALUE|NAME=V1,V2,…").help(
            "A knob of the granularity; `sweep`: a knob or n-prior, gamma, beta, tau, abstraction, preset with its values",
        ),
        (Kind::Figure, "theme") => {
            arg.help("Colours: default and light (blue, orange), paper (green, red), mono")
        }
        (Kind::Advantages | Kind::Convert | Kind::Figure, "out") => arg.short('o'),
        (Kind::Check, "strict") => {
            arg.help("Fail when a record was skipped or a file could not be read")
        }
        _ => arg,
    }
}

#[allow(clippy::too_many_lines, reason = "one arm per command, in the order of help")]
fn own_args(kind: Kind) -> Vec<Arg> {
    let word = |name: &'static str, words: Vec<&'static str>, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_parser(PossibleValuesParser::new(words.clone()))
            .default_value(words.first().copied().unwrap_or_default())
            .help(help)
    };
    match kind {
        Kind::Report => vec![
            Arg::new("brief")
                .long("brief")
                .action(ArgAction::SetTrue)
                .help("Leave the diagnostics out of the page"),
        ],
        Kind::Groups => vec![
            word("by", GroupsBy::ALL.map(GroupsBy::name).to_vec(), "Rows by"),
            Arg::new("sort")
                .long("sort")
                .value_name("NAME|-NAME")
                .allow_hyphen_values(true)
                .help("Sort by a column; `-NAME` descending"),
        ],
        Kind::Quadrants => vec![
            word("by", By::ALL.map(By::name).to_vec(), "Rows by"),
            word("weight", vec!["steps", "tokens"], "What counts"),
        ],
        Kind::Tree => {
            vec![word("lens", vec!["paths", "states"], "Folded paths, or each state once")]
        }
        Kind::Explain => vec![
            Arg::new("at")
                .long("at")
                .value_name("ROLLOUT:STEP")
                .required_unless_present_any(["print-settings", "settings-from", "artefacts"])
                .help("The step, split at the last colon; steps count from 0"),
            Arg::new("column")
                .long("column")
                .value_name("COLUMN")
                .help("The column; the Y column by default"),
            Arg::new("artefacts")
                .long("artefacts")
                .action(ArgAction::SetTrue)
                .help("Also where discount and prior alone flip signs; without --at that alone, per group"),
        ],
        Kind::Simulate => {
            let count = |name: &'static str, default: &'static str, help: &'static str| {
                Arg::new(name)
                    .long(name)
                    .value_name("N")
                    .value_parser(clap::value_parser!(u32).range(1..=1_000_000))
                    .default_value(default)
                    .help(help)
            };
            vec![
                word(
                    "process",
                    ["coding", "chain", "tree", "grid"].to_vec(),
                    "Decision process; coding has states that look alike and are not",
                ),
                count("groups", "4", "How many groups, each a varied process of its own"),
                count("rollouts", "8", "Rollouts per group; with --measure, of the largest one"),
                Arg::new("measure")
                    .long("measure")
                    .action(ArgAction::SetTrue)
                    .help("Measure every column against the true advantage, in --format, instead of writing rollouts"),
            ]
        }
        Kind::Skill => vec![
            Arg::new("compare")
                .long("compare")
                .action(ArgAction::SetTrue)
                .help("The chosen abstraction beside tools, history and index"),
        ],
        Kind::Panel => vec![text(
            "against",
            "COLUMN",
            "Bias, error, sign accuracy and rank correlation of every column against this one",
        )],
        Kind::CompareRuns => vec![
            text("policies", "A,B", "Two policies of what was given instead of two paths"),
            text("train-steps", "A,B", "Two training steps of what was given instead of two paths"),
        ],
        Kind::Compare => vec![
            text(
                "rollouts",
                "A,B,…",
                "The rollouts, two or more of one group; `all`: all of the only one",
            )
            .required_unless_present_any(["print-settings", "settings-from"]),
        ],
        Kind::Advantages => {
            vec![text("column", "COLUMN[,…]", "The columns; the Y column by default")]
        }
        Kind::Figure => vec![
            text("column", "COLUMN[,…]", "advantages, matrix: the columns; the chosen ones, or Y"),
            word("by", By::ALL.map(By::name).to_vec(), "quadrants: bars by"),
            word("weight", vec!["steps", "tokens"], "quadrants: what counts"),
        ],
        Kind::Schema => vec![topic("KIND", SCHEMAS.map(|(name, _)| name).to_vec(), "The output")],
        Kind::Completions => {
            let shells = clap_complete::Shell::value_variants();
            let names = shells.iter().map(|s| match s {
                clap_complete::Shell::Bash => "bash",
                clap_complete::Shell::Elvish => "elvish",
                clap_complete::Shell::Fish => "fish",
                clap_complete::Shell::PowerShell => "powershell",
                _ => "zsh",
            });
            vec![topic("SHELL", names.collect(), "The shell")]
        }
        Kind::Steps
        | Kind::Check
        | Kind::Sweep
        | Kind::Stability
        | Kind::Convert
        | Kind::Formats
        | Kind::Estimators
        | Kind::Profiles
        | Kind::Themes
        | Kind::Keys
        | Kind::Man => Vec::new(),
    }
}

fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn topic(value: &'static str, words: Vec<&'static str>, help: &'static str) -> Arg {
    Arg::new("topic")
        .value_name(value)
        .required(true)
        .value_parser(PossibleValuesParser::new(words))
        .help(help)
}

/// Writes the completions of a shell.
pub fn completions(shell: &str, out: &mut dyn std::io::Write) {
    if let Ok(shell) = clap_complete::Shell::from_str(shell, true) {
        clap_complete::generate(shell, &mut command(), "credscope", &mut { out });
    }
}

/// Writes the manual page: the program, then every command.
pub fn manual(out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let mut root = command();
    root.build();
    clap_mangen::Man::new(root.clone()).render(&mut { &mut *out })?;
    for sub in root.get_subcommands().filter(|s| s.get_name() != "help") {
        let name = format!("credscope-{}", sub.get_name());
        let page = clap_mangen::Man::new(sub.clone()).title(name);
        page.render(&mut { &mut *out })?;
    }
    Ok(())
}

fn paths() -> Arg {
    Arg::new("paths")
        .value_name("PATH")
        .num_args(0..)
        .value_parser(clap::value_parser!(PathBuf))
        .value_hint(ValueHint::AnyPath)
        .help("Rollout files and folders; `-`, or none with a pipe, is standard input")
}

fn print_settings() -> Arg {
    Arg::new("print-settings")
        .long("print-settings")
        .action(ArgAction::SetTrue)
        .help("Show every setting with where it came from, and stop")
}

fn output_args(formats: &[Format]) -> Vec<Arg> {
    let names: Vec<&'static str> = formats.iter().map(|f| f.name()).collect();
    vec![
        Arg::new("format")
            .long("format")
            .value_parser(PossibleValuesParser::new(names.clone()))
            .default_value(names.first().copied().unwrap_or("text"))
            .help("Form of the output"),
        Arg::new("no-stamp").long("no-stamp").action(ArgAction::SetTrue).help(
            "Leave out the line of settings and inputs at the head of CSV, JSONL and text files; in CSV and JSONL the mark of partial data goes with it, then only standard error tells",
        ),
        Arg::new("raw")
            .long("raw")
            .action(ArgAction::SetTrue)
            .help("JSON: texts as they are in the data instead of cleaned"),
    ]
}

/// Arguments of all settings, and of the config file.
fn shared() -> Vec<Arg> {
    let mut args: Vec<Arg> = SETTINGS.iter().map(setting).collect();
    args.push(
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading("Output and screen")
            .hide_short_help(true)
            .help("Config file (TOML) instead of $XDG_CONFIG_HOME/credscope/config.toml"),
    );
    args.push(
        Arg::new("settings-from")
            .long("settings-from")
            .value_name("EXPORT")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading("Output and screen")
            .hide_short_help(true)
            .help(
                "Settings and options of an earlier export: the same command gives the same bytes",
            ),
    );
    args
}

/// Settings that `-h` shows; `--help` shows all.
const COMMON: [&str; 9] =
    ["only", "abstraction", "preset", "knob", "columns", "gamma", "n-prior", "step-reward", "out"];

fn setting(spec: &'static Spec) -> Arg {
    let heading = match spec.class {
        Class::Load => "Reading",
        Class::Facts | Class::Projection => "Signatures",
        Class::Credit => "Credit",
        Class::View => "Output and screen",
    };
    let default = if spec.default.is_empty() || spec.form == Form::Switch {
        String::new()
    } else {
        format!(" [default: {}]", spec.default)
    };
    let mut help = format!("{}{default}", spec.help);
    if let Some(first) = help.get(..1).map(str::to_uppercase) {
        help.replace_range(..1, &first);
    }
    let arg = Arg::new(spec.name)
        .long(spec.name)
        .help_heading(heading)
        .hide_short_help(!COMMON.contains(&spec.name))
        .help(help);
    match spec.form {
        Form::Switch => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL"),
        Form::Number => arg.value_name(spec.value).allow_negative_numbers(true),
        Form::Text | Form::List => arg.value_name(spec.value),
        Form::Many => arg.value_name(spec.value).action(ArgAction::Append),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }
}
