//! The command line as clap understands it, made from the table of commands and the table of settings.
//!
//! Nothing outside this file knows clap.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueEnum, ValueHint};

use super::kind::Kind;
use super::options::Options;
use crate::analysis::simulate::ProcessKind;
use crate::analysis::{By, Weight};
use crate::export::Format;
use crate::export::groups::GroupsBy;
use crate::export::schema::SCHEMAS;
use crate::export::tree::Lens;
use crate::settings::{Class, Form, Given, Origin, SETTINGS, Spec};

/// What was asked for.
#[derive(Debug)]
pub struct Invocation {
    /// The command; `None` for the screen or, without a terminal, the report.
    pub kind: Option<Kind>,
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Settings given as flags.
    pub given: Vec<Given>,
    /// Config file given by name.
    pub config: Option<PathBuf>,
    /// An export whose settings are taken.
    pub settings_from: Option<PathBuf>,
    /// Show the settings instead of running.
    pub print_settings: bool,
    /// The command's own options.
    pub options: Options,
}

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
        .after_help("Exit codes: 0 done, 1 failed, 2 usage, 128+n signal.")
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
        (Kind::Quadrants, "only") => arg
            .action(ArgAction::Append)
            .value_name("TASK|compared")
            .help("Keep only this task; `compared`: only steps of that evidence class"),
        (Kind::Sweep, "knob") => arg.value_name("NAME=V1,V2,…").help(
            "A knob with its values, or n-prior, gamma, beta, tau with theirs; one or two of them",
        ),
        (Kind::Advantages | Kind::Convert, "out") => arg.short('o'),
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
                .required_unless_present_any(["print-settings", "settings-from"])
                .help("The step, split at the last colon; steps count from 0"),
            Arg::new("column")
                .long("column")
                .value_name("COLUMN")
                .help("The column; the Y column by default"),
            Arg::new("artefacts")
                .long("artefacts")
                .action(ArgAction::SetTrue)
                .help("Also where discount and prior alone flip signs"),
        ],
        Kind::Check => vec![
            Arg::new("strict")
                .long("strict")
                .action(ArgAction::SetTrue)
                .help("Fail when any record was skipped"),
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
        Kind::Compare => vec![
            text("rollouts", "A,B,…", "The rollouts, two or more of one group")
                .required_unless_present_any(["print-settings", "settings-from"]),
        ],
        Kind::Advantages => {
            vec![text("column", "COLUMN[,…]", "The columns; the Y column by default")]
        }
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
        | Kind::Sweep
        | Kind::Stability
        | Kind::CompareRuns
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
        .help("Rollout files and folders; `-` is standard input")
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
            "Leave out the line of settings and inputs at the head of CSV, JSONL and text files",
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

/// Reads the command line.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let matches = command().try_get_matches_from(args)?;
    let (kind, own) = match matches.subcommand() {
        Some((name, own)) => (Kind::ALL.into_iter().find(|k| k.name() == name), Some(own)),
        None => (None, None),
    };
    let mut levels: Vec<&ArgMatches> = vec![&matches];
    levels.extend(own);
    let mut invocation = Invocation {
        kind,
        paths: Vec::new(),
        given: Vec::new(),
        config: None,
        settings_from: None,
        print_settings: false,
        options: Options::default(),
    };
    for level in &levels {
        if let Ok(Some(found)) = level.try_get_many::<PathBuf>("paths") {
            invocation.paths.extend(found.cloned());
        }
        if let Ok(Some(file)) = level.try_get_one::<PathBuf>("config") {
            invocation.config = Some(file.clone());
        }
        if let Ok(Some(file)) = level.try_get_one::<PathBuf>("settings-from") {
            invocation.settings_from = Some(file.clone());
        }
        invocation.print_settings |= flag(level, "print-settings");
        invocation.options.no_stamp |= flag(level, "no-stamp");
        invocation.options.raw |= flag(level, "raw");
        given(level, kind, &mut invocation);
    }
    let last = own.unwrap_or(&matches);
    options(last, &mut invocation.options);
    Ok(invocation)
}

fn flag(level: &ArgMatches, name: &str) -> bool {
    matches!(level.try_get_one::<bool>(name), Ok(Some(true)))
}

fn word<'a>(level: &'a ArgMatches, name: &str) -> Option<&'a str> {
    level.try_get_one::<String>(name).ok().flatten().map(String::as_str)
}

fn given(level: &ArgMatches, kind: Option<Kind>, invocation: &mut Invocation) {
    for spec in SETTINGS {
        let Ok(Some(values)) = level.try_get_many::<String>(spec.name) else {
            continue;
        };
        for value in values {
            if kind == Some(Kind::Quadrants) && spec.name == "only" && value == "compared" {
                invocation.options.compared = true;
                invocation.options.explicit.push("compared");
                continue;
            }
            if kind == Some(Kind::Sweep) && spec.name == "knob" {
                invocation.options.sweep.push(value.clone());
                invocation.options.explicit.push("sweep");
                continue;
            }
            invocation.given.push(Given {
                name: spec.name.to_owned(),
                value: value.clone(),
                origin: Origin::Flag,
                place: format!("--{}", spec.name),
            });
        }
    }
}

/// Options that a stamp may hold: only those on the command line overrule it.
const OWN: [&str; 12] = [
    "format",
    "raw",
    "brief",
    "sort",
    "by",
    "weight",
    "lens",
    "at",
    "column",
    "artefacts",
    "compare",
    "against",
];

fn options(level: &ArgMatches, options: &mut Options) {
    let given = |name: &str| {
        matches!(level.try_contains_id(name), Ok(true))
            && level.value_source(name) == Some(ValueSource::CommandLine)
    };
    options.explicit.extend(OWN.into_iter().chain(["rollouts"]).filter(|name| given(name)));
    let text = |name: &str| word(level, name).map(ToOwned::to_owned);
    let format = word(level, "format");
    options.format =
        Format::ALL.into_iter().find(|f| Some(f.name()) == format).unwrap_or(Format::Text);
    options.sort = text("sort");
    let by = word(level, "by");
    if let Some(by) = By::ALL.into_iter().find(|b| Some(b.name()) == by) {
        options.by = by;
    }
    if let Some(by) = by.and_then(GroupsBy::find) {
        options.groups_by = by;
    }
    if word(level, "weight") == Some("tokens") {
        options.weight = Weight::Tokens;
    }
    if word(level, "lens") == Some("states") {
        options.lens = Lens::States;
    }
    options.at = text("at");
    options.column = text("column");
    options.against = text("against");
    options.rollouts = text("rollouts");
    options.topic = text("topic");
    options.brief = flag(level, "brief");
    options.compare = flag(level, "compare");
    options.artefacts = flag(level, "artefacts");
    options.strict = flag(level, "strict");
    let count = |name: &str| {
        let given = level.try_get_one::<u32>(name).ok().flatten();
        given.and_then(|n| usize::try_from(*n).ok())
    };
    let simulate = &mut options.simulate;
    let process = word(level, "process");
    if let Some(kind) = ProcessKind::ALL.into_iter().find(|p| Some(p.name()) == process) {
        simulate.process = kind;
    }
    simulate.groups = count("groups").unwrap_or(simulate.groups);
    simulate.rollouts = count("rollouts").unwrap_or(simulate.rollouts);
    simulate.measure = flag(level, "measure");
    options.mouse = flag(level, "mouse");
    options.screenshot = level.try_get_one::<PathBuf>("screenshot").ok().flatten().cloned();
    options.size = word(level, "size").map(ToOwned::to_owned);
    options.keys = word(level, "keys").map(ToOwned::to_owned);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn paths_and_flags_of_both_levels_come_together() {
        let line = ["credscope", "--gamma", "0.9", "steps", "a", "b", "--set", "grpo.ddof=0"];
        let found = parse(line.map(OsString::from)).unwrap();
        assert_eq!(found.kind, Some(Kind::Steps));
        assert_eq!(found.paths, [PathBuf::from("a"), PathBuf::from("b")]);
        let given: Vec<(&str, &str)> =
            found.given.iter().map(|g| (g.name.as_str(), g.value.as_str())).collect();
        assert_eq!(given, [("gamma", "0.9"), ("set", "grpo.ddof=0")]);
        let line = ["credscope", "./report", "-"];
        let found = parse(line.map(OsString::from)).unwrap();
        assert_eq!(found.kind, None);
        assert_eq!(found.paths, [PathBuf::from("./report"), PathBuf::from("-")]);
    }

    #[test]
    fn only_means_two_things_for_quadrants() {
        let line = ["credscope", "quadrants", "a", "--only", "compared", "--only", "t1"];
        let found = parse(line.map(OsString::from)).unwrap();
        assert!(found.options.compared);
        assert_eq!(found.given.len(), 1);
    }
}
