//! Exports from where one stands: which there are, and writing one into a new file. The menu is part of
//! [`super::update`]; the writing runs in a worker.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::keymap::{self, Action};
use super::message::Effect;
use super::model::{Layer, Model};
use crate::analysis::{Analysis, AnalysisSettings, By, Weight, batch};
use crate::export::output::{Output, OutputError};
use crate::export::{Format, Table, Writing, groups, quadrants, steps, writer};
use crate::rollout::{Corpus, Group};
use crate::settings::stamp::Input;
use crate::settings::{Settings, Stamp, retune};

/// Names that are tried for a new file, at most.
const NAMES: usize = 1000;

/// What can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The steps of the shown group.
    Steps,
    /// The steps of the shown group that pass the filter.
    Filtered,
    /// Its quadrants by outcome.
    Quadrants,
    /// All groups.
    Groups,
    /// All that the numbers depend on as a config file.
    Settings,
}

impl What {
    /// The name in the file's name.
    const fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Filtered => "steps-filtered",
            Self::Quadrants => "quadrants",
            Self::Groups => "groups",
            Self::Settings => "settings",
        }
    }

    /// What it is, for the menu.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Steps => "steps of this group, every column (CSV)",
            Self::Filtered => "steps of this group that pass the filter (CSV)",
            Self::Quadrants => "quadrants of this group by outcome (CSV)",
            Self::Groups => "all groups, one row each (CSV)",
            Self::Settings => "signature, credit and columns as a config file (TOML)",
        }
    }
}

/// Inputs and counts of a load of one task alone.
pub type Narrow =
    Arc<dyn Fn(&str) -> Result<(Vec<Input>, serde_json::Value), String> + Send + Sync>;

/// Where the loaded data came from, for the stamp of an export.
#[derive(Clone, Default)]
pub struct Provenance {
    /// The settings that the screen started with; none leaves the stamp out.
    pub settings: Option<Settings>,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Counts of the load.
    pub load: serde_json::Value,
    /// Inputs and counts of a load of one task alone, as `--only` makes it.
    pub narrow: Option<Narrow>,
    /// Files that were read: none of them is ever written over.
    pub paths: Vec<PathBuf>,
    /// The folder that exports go to; the working directory where it is empty.
    pub folder: PathBuf,
}

/// An export to be written.
#[derive(Debug, Clone)]
pub struct Job {
    /// What.
    pub what: What,
    /// The group.
    pub group: Arc<Group>,
    /// All groups.
    pub groups: Vec<Arc<Group>>,
    /// The settings.
    pub settings: AnalysisSettings,
    /// For [`What::Filtered`]: which steps pass, and what the filter is called.
    pub passes: (Vec<bool>, String),
    /// Only this rollout.
    pub only: Option<String>,
    /// Only groups with successes and failures.
    pub mixed: bool,
}

/// What can be exported now.
#[must_use]
pub fn menu(model: &Model) -> Vec<What> {
    let mut list = vec![What::Steps];
    if !model.filtering.passes.is_empty() {
        list.push(What::Filtered);
    }
    list.extend([What::Quadrants, What::Groups, What::Settings]);
    list
}

/// A key in the menu.
pub(super) fn key(model: &mut Model, at: usize, name: &str, effects: &mut Vec<Effect>) {
    let menu = menu(model);
    let to = match (name, keymap::action(name)) {
        ("Enter" | "Space", _) => {
            model.layers.pop();
            let what = menu.get(at);
            if model.so_far().is_some() && what.is_some_and(|w| *w != What::Settings) {
                model.message = Some(
                    "still loading: an export waits for the whole; X stops and keeps what was read"
                        .to_owned(),
                );
                return;
            }
            if let (Some(&what), Some(snapshot)) = (what, model.snapshot()) {
                // What is wanted, even while it is still being computed; a filter belongs to what
                // is shown.
                let shown = &snapshot.analysis;
                let wanted = model.corpus.groups.get(model.group);
                let (group, settings) = match wanted {
                    Some(wanted) if what != What::Filtered => (wanted, &model.settings),
                    _ => (&shown.group, &shown.settings),
                };
                let job = Job {
                    what,
                    group: Arc::clone(group),
                    groups: model.corpus.groups.clone(),
                    settings: settings.clone(),
                    only: model.filtering.only.clone(),
                    mixed: model.groups.mixed,
                    passes: (model.filtering.passes.clone(), model.filtering.name()),
                };
                model.message = Some("writing …".to_owned());
                effects.push(Effect::Export(Box::new(job)));
            }
            return;
        }
        (_, Some(Action::Close | Action::Export)) => {
            model.layers.pop();
            return;
        }
        (_, Some(Action::Quit)) => {
            effects.push(Effect::Quit(0));
            return;
        }
        (_, Some(Action::Down)) => at + 1,
        (_, Some(Action::Up)) => at.saturating_sub(1),
        _ => at,
    };
    model.layers.pop();
    model.layers.push(Layer::Export { at: to.min(menu.len().saturating_sub(1)) });
}

/// Writes an export; what to tell the person.
pub fn write(job: &Job, from: &Provenance) -> Result<String, String> {
    let fail = |error: &dyn std::fmt::Display| format!("nothing was written: {error}");
    let mut body = Vec::new();
    let rows = fill(job, from, &mut body).map_err(|e| fail(&e))?;
    let extension = if job.what == What::Settings { "toml" } else { "csv" };
    let subject = match job.what {
        What::Groups | What::Settings => String::new(),
        _ => format!("-{}", plain(&job.group.key.task)),
    };
    let stem = format!("credscope-{}{subject}", job.what.name());
    for k in 1..=NAMES {
        let name =
            if k == 1 { format!("{stem}.{extension}") } else { format!("{stem}-{k}.{extension}") };
        let path = from.folder.join(name);
        match put(&path, &body, &from.paths) {
            Ok(()) => {
                let rows = rows.map_or_else(String::new, |n| {
                    format!(", {}", crate::rollout::plural(n as u64, "row"))
                });
                return Ok(format!("wrote {}{rows}", path.display()));
            }
            Err(OutputError::Exists(_) | OutputError::NoFile(_) | OutputError::Input(_)) => {}
            Err(error) => return Err(fail(&error)),
        }
    }
    Err(format!("nothing was written: {NAMES} files are called {stem}"))
}

fn put(path: &Path, body: &[u8], inputs: &[PathBuf]) -> Result<(), OutputError> {
    let mut out = Output::open(Some(path), false, inputs)?;
    out.write_all(body).map_err(OutputError::Writing)?;
    out.commit()
}

/// A name as a part of a file's name: letters, digits and few signs.
fn plain(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .take(60)
        .collect();
    clean.trim_matches('.').to_owned()
}

/// The bytes of an export, and how many rows they have.
fn fill(job: &Job, from: &Provenance, body: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
    let mut settings = job.settings.clone();
    if settings.batch.is_none() {
        settings.batch = batch(&Corpus { groups: job.groups.clone() }, &settings);
    }
    let settings = &settings;
    if job.what == What::Settings {
        let start = from.settings.clone().map_or_else(|| Settings::resolve(&[]), Ok);
        let start = start.map_err(std::io::Error::other)?;
        body.extend_from_slice(retune::to_toml(&start.retuned(settings)).as_bytes());
        return Ok(None);
    }
    let shown = || Analysis::new(Arc::clone(&job.group), settings);
    // The options as the command stamps them.
    let mut options: Vec<(&str, serde_json::Value)> = vec![("format", Format::Csv.name().into())];
    let (kind, table) = match job.what {
        What::Groups => {
            let holds = |g: &&Arc<Group>| job.only.as_deref().is_none_or(|id| g.find(id).is_some());
            let rows = job
                .groups
                .iter()
                .filter(holds)
                .map(|g| Analysis::new(Arc::clone(g), settings))
                .filter(|analysis| !(job.mixed && analysis.basis.uniform_outcome()))
                .map(|analysis| {
                    let terms = crate::analysis::skill::terms(&analysis);
                    groups::row(&analysis, terms.as_ref())
                })
                .collect();
            options.push(("by", "group".into()));
            ("groups", groups::table(rows))
        }
        What::Quadrants => {
            let mut rows = quadrants::Breakdowns::new(By::Outcome, false, Weight::Steps, false);
            rows.add(&shown());
            options.extend([
                ("by", By::Outcome.name().into()),
                ("compared", false.into()),
                ("weight", Weight::Steps.name().into()),
                ("groups", 1.into()),
                ("uniform_left_out", 0.into()),
            ]);
            ("quadrants", rows.table())
        }
        _ => {
            let mut table: Table = if job.what == What::Filtered {
                steps::table(&shown(), None)
            } else {
                steps::table(&shown(), only(job))
            };
            if job.what == What::Filtered {
                let mut passes = job.passes.0.iter();
                table.rows.retain(|_| passes.next() == Some(&true));
                options.push(("filter", job.passes.1.as_str().into()));
            }
            ("steps", table)
        }
    };
    let stamp = stamp(job, from, settings, (kind, &options)).map_err(std::io::Error::other)?;
    let writing = Writing { stamp, ..Writing::default() };
    let mut out = writer::writer(Format::Csv, body, writing);
    out.begin(&table.columns)?;
    out.chunk(&table)?;
    out.finish()?;
    Ok(Some(table.rows.len()))
}

/// The rollout that is shown alone, where the group has it.
fn only(job: &Job) -> Option<&str> {
    job.only.as_deref().filter(|id| job.group.find(id).is_some())
}

/// The stamp that the command line would write for the same rows.
fn stamp(
    job: &Job,
    from: &Provenance,
    settings: &AnalysisSettings,
    (kind, options): (&str, &[(&str, serde_json::Value)]),
) -> Result<Option<Stamp>, String> {
    let Some(start) = &from.settings else {
        return Ok(None);
    };
    let mut now = start.retuned(settings);
    let all = job.what == What::Groups;
    let rollout = if all { job.only.as_deref() } else { only(job) };
    if start.view.rollout.as_deref() != rollout {
        now = rollout.map_or_else(|| now.without("rollout"), |id| now.with_flag("rollout", id));
    }
    if start.view.mixed != (all && job.mixed) {
        now = if start.view.mixed { now.without("mixed") } else { now.with_flag("mixed", "true") };
    }
    let (mut inputs, mut load) = (from.inputs.clone(), from.load.clone());
    if !all && job.groups.len() > 1 {
        let task = &job.group.key.task;
        now = now.with_flag("only", task);
        // What is counted of the load is counted of this task alone.
        if let Some(narrow) = &from.narrow {
            (inputs, load) = narrow(task)?;
        }
    }
    Ok(Some(Stamp::new(kind, &now, options, inputs, load)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tasks_become_names_of_files() {
        assert_eq!(plain("../a b/文.x"), "_a_b__.x");
        assert_eq!(plain("astropy-12907"), "astropy-12907");
    }
}
