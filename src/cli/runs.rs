//! `compare-runs`: two policies or training steps on the same tasks, from two loads or from one.

use std::path::PathBuf;

use serde_json::json;

use super::again;
use super::commands::{Done, Run};
use super::error::Failure;
use super::kind::Kind;
use super::options::Options;
use super::session::{Session, Stop, some};
use crate::analysis::runs::Runs;
use crate::export::{Output, runs};
use crate::rollout::GroupKey;
use crate::settings::Settings;
use crate::settings::stamp::Found;

/// What the two sides are.
enum Sides {
    /// Two paths.
    Paths,
    /// Two values of a part of the groups' keys, as given.
    Values(Values),
}

/// Two values of a part of the groups' keys.
struct Values {
    what: &'static str,
    of: fn(&GroupKey) -> Option<String>,
    /// Every way to take what was given as two names: a name may have commas of its own.
    ways: Vec<[String; 2]>,
}

/// Every way to cut a text at one of its commas into two different names.
fn ways(given: &str) -> Vec<[String; 2]> {
    let cut = |(at, _): (usize, &str)| {
        let (a, b) = given.split_at_checked(at)?;
        let (a, b) = (a.trim(), b.get(1..)?.trim());
        (!a.is_empty() && !b.is_empty() && a != b).then(|| [a.to_owned(), b.to_owned()])
    };
    given.match_indices(',').filter_map(cut).collect()
}

impl Sides {
    fn of(options: &Options) -> Result<Self, Failure> {
        let (what, flag, given, of): (_, _, _, fn(&GroupKey) -> Option<String>) =
            match (&options.policies, &options.train_steps) {
                (None, None) => return Ok(Self::Paths),
                (Some(given), None) => ("policy", "--policies", given, |key| key.policy.clone()),
                (None, Some(given)) => ("training step", "--train-steps", given, |key| {
                    key.train_step.map(|step| step.to_string())
                }),
                (Some(_), Some(_)) => {
                    return Err(Failure::usage(
                        "--policies and --train-steps do not go together",
                        Some("keep one policy or training step with --only or a path".to_owned()),
                    ));
                }
            };
        let ways = ways(given);
        if ways.is_empty() {
            return Err(Failure::usage(
                format!("{flag} cannot be `{given}`: expected two different names with a comma"),
                None,
            ));
        }
        Ok(Self::Values(Values { what, of, ways }))
    }
}

/// Runs the command.
pub fn compare_runs(
    settings: &Settings,
    paths: &[PathBuf],
    options: &Options,
    earlier: Option<&Found>,
) -> Done {
    let sides = Sides::of(options)?;
    let stop = Stop::listen();
    let mut found = Runs::default();
    match sides {
        Sides::Paths => {
            let [a, b] = paths else {
                return Err(Failure::usage(
                    format!("two paths are compared, {} were given", paths.len()),
                    Some(
                        "`credscope compare-runs A B`; a folder counts as one path. Two policies of \
                         one load: --policies X,Y"
                            .to_owned(),
                    ),
                ));
            };
            let a = Session::open(settings.clone(), std::slice::from_ref(a), stop.clone())?;
            let b = Session::open(settings.clone(), std::slice::from_ref(b), stop)?;
            again::warn(earlier, &[&a, &b]);
            for (session, is_b) in [(&a, false), (&b, true)] {
                session.warn();
                session.each(|analysis| {
                    found.add(analysis, is_b);
                    Ok(())
                })?;
            }
            write(&[("A: ", &a), ("B: ", &b)], options, (&found, String::new()))
        }
        Sides::Values(values) => {
            let session = Session::open(settings.clone(), paths, stop)?;
            session.warn();
            again::warn(earlier, &[&session]);
            let of = values.of;
            let [a, b] = values.known(&session)?;
            session.each(|analysis| {
                let side = of(&analysis.group.key);
                if side.as_deref() == Some(&a) {
                    found.add(analysis, false);
                } else if side.as_deref() == Some(&b) {
                    found.add(analysis, true);
                }
                Ok(())
            })?;
            write(&[("", &session)], options, (&found, format!("; A = {a}, B = {b}")))
        }
    }
}

impl Values {
    /// The two names, which must be there.
    fn known(self, session: &Session) -> Result<[String; 2], Failure> {
        let groups = session.groups().iter();
        let mut known: Vec<String> = groups.filter_map(|g| (self.of)(&g.key)).collect();
        known.sort_by(|a, b| crate::rollout::natural(a, b));
        known.dedup();
        let strange = |pair: &[String; 2]| pair.iter().find(|side| !known.contains(side)).cloned();
        let (there, not): (Vec<_>, Vec<_>) =
            self.ways.into_iter().partition(|pair| strange(pair).is_none());
        let what = self.what;
        match (there.as_slice(), not.first().and_then(strange)) {
            ([pair], _) => Ok(pair.clone()),
            ([first, second, ..], _) => {
                let told = |[a, b]: &[String; 2]| format!("`{a}` and `{b}`");
                Err(Failure::usage(
                    format!("either {} or {} is meant", told(first), told(second)),
                    Some("load one of them with its own path".to_owned()),
                ))
            }
            ([], side) => {
                let hint = if known.is_empty() {
                    format!("no group has a {what} (--pool merges over it)")
                } else {
                    format!("there are {}", some(known.iter().map(String::as_str)))
                };
                let side = side.unwrap_or_default();
                Err(Failure::failed(format!("there is no {what} `{side}`"), Some(hint)))
            }
        }
    }
}

/// Writes the tasks side by side; `loads` are what was read, with a name where there are two.
fn write(loads: &[(&str, &Session)], options: &Options, (found, about): (&Runs, String)) -> Done {
    let Some(&(_, session)) = loads.first() else { return Ok(()) };
    let mut table = runs::table(found);
    let fates = runs::fates(found);
    let told: Vec<String> = fates.iter().map(|(name, n)| format!("{n} {name}")).collect();
    table.title = format!("Tasks: {}{about}", told.join(", "));
    let view = &session.settings.view;
    let inputs = loads.iter().flat_map(|(_, session)| session.inputs());
    let mut out = Output::open(view.out.as_deref(), view.force, inputs)?;
    let fates = fates.iter().map(|(name, n)| ((*name).to_owned(), json!(n))).collect();
    let extra = [("tasks", serde_json::Value::Object(fates))];
    let run = Run { session, options };
    let mut writing = run.writing(Kind::CompareRuns, &extra, out.is_file());
    if let Some(stamp) = &mut writing.stamp {
        for (_, other) in loads.iter().skip(1) {
            stamp.join(&other.stamp(Kind::CompareRuns.name(), &[]));
        }
    }
    let marks: Vec<String> = loads
        .iter()
        .filter_map(|(name, s)| Some(format!("{name}{}", s.loaded.report.partial()?)))
        .collect();
    writing.partial = (!marks.is_empty()).then(|| marks.join("; "));
    run.write_table(&mut out, &table, writing)?;
    out.commit()?;
    for (_, session) in loads {
        session.strict()?;
        session.all_read()?;
    }
    Ok(())
}
