//! Reads a command line: what was asked for, settings as they were given, options of the command. No
//! setting is resolved here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::args::command;
use super::kind::Kind;
use super::options::Options;
use crate::analysis::simulate::ProcessKind;
use crate::analysis::{By, Weight};
use crate::export::Format;
use crate::export::figure::FigureKind;
use crate::export::groups::GroupsBy;
use crate::export::tree::Lens;
use crate::settings::{Given, Origin, SETTINGS};

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

/// Reads the command line.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let matches = command().try_get_matches_from(args)?;
    let (kind, own) = match matches.subcommand() {
        Some((name, own)) => (Kind::ALL.into_iter().find(|k| k.name() == name), Some(own)),
        None => (None, None),
    };
    let mut levels: Vec<&ArgMatches> = vec![&matches];
    levels.extend(own);
    // The first path of `figure` names the figure.
    let figure = own.filter(|_| kind == Some(Kind::Figure)).and_then(|own| {
        let first = own.try_get_many::<PathBuf>("paths").ok().flatten()?.next()?;
        FigureKind::find(first.to_str()?)
    });
    let mut invocation = Invocation {
        kind,
        paths: Vec::new(),
        given: Vec::new(),
        config: None,
        settings_from: None,
        print_settings: false,
        options: Options { figure, ..Options::default() },
    };
    invocation.options.explicit.extend(figure.map(|_| "figure"));
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
    if figure.is_some() {
        invocation.paths.remove(0);
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
            let figure = invocation.options.figure;
            let quadrants = kind == Some(Kind::Quadrants) || figure == Some(FigureKind::Quadrants);
            let sweep = kind == Some(Kind::Sweep) || figure == Some(FigureKind::Sweep);
            if quadrants && spec.name == "only" && value == "compared" {
                invocation.options.compared = true;
                invocation.options.explicit.push("compared");
                continue;
            }
            if sweep && spec.name == "knob" {
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
    options.explicit.extend(
        OWN.into_iter().chain(["rollouts", "policies", "train-steps"]).filter(|name| given(name)),
    );
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
    options.policies = text("policies");
    options.train_steps = text("train-steps");
    options.topic = text("topic");
    options.brief = flag(level, "brief");
    options.compare = flag(level, "compare");
    options.artefacts = flag(level, "artefacts");
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
