//! `figure`: pictures for papers, of the same numbers that other commands print.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::commands::{Done, Run};
use super::error::Failure;
use super::kind::Kind;
use super::options::Options;
use super::session::some;
use super::sums::Broken;
use crate::analysis::Analysis;
use crate::export::Format;
use crate::export::figure::{self, Figure, FigureKind, Ink};
use crate::rollout::Group;
use crate::settings::Settings;

impl Run<'_> {
    /// `figure`.
    pub(super) fn figure(&self) -> Done {
        let Some(kind) = self.options.figure else { return Err(which()) };
        let ink = ink(&self.session.settings)?;
        let mut figure = match kind {
            FigureKind::Advantages | FigureKind::Matrix | FigureKind::Tree => {
                self.group_figure(kind)?
            }
            FigureKind::Quadrants => {
                let Broken { rows, title, about, .. } = self.breakdown()?;
                let notes = vec![title, about];
                figure::quadrants(&rows, "Where two columns agree".to_owned(), notes)
            }
            FigureKind::Sweep => figure::sweep(&self.sweep_rows()?, vec![self.axis()]),
            FigureKind::Panel => {
                let (panel, counted, left_out) = self.panel_values(None)?;
                let mut about = counted_groups(counted);
                if left_out > 0 {
                    let _ = write!(about, ", {left_out} of uniform outcome left out");
                }
                figure::panel(&panel, vec![about])
            }
        };
        figure.notes.extend(self.session.loaded.report.partial());
        let mut out = self.output()?;
        let writing = self.writing(Kind::Figure, &[("theme", json!(ink.name))], out.is_file());
        match self.options.format {
            Format::Html => figure::html(&mut out, &figure, ink, &writing)?,
            _ => figure::svg(&mut out, &figure, ink, &writing)?,
        }
        Ok(out.commit()?)
    }

    /// X, Y and their thresholds.
    fn axis(&self) -> String {
        let settings = &self.session.settings.analysis;
        format!(
            "{}; flips and faded values by Y = {}, threshold {}",
            counted_groups(self.session.groups().len() as u64),
            settings.y,
            settings.tau.1
        )
    }

    fn group_figure(&self, kind: FigureKind) -> Result<Figure, Failure> {
        let group = self.one_group(kind)?;
        let chosen = &self.session.settings.analysis;
        let names: Vec<String> = match (&self.options.column, kind) {
            (Some(given), _) => given.split(',').map(|n| n.trim().to_owned()).collect(),
            (None, FigureKind::Advantages) => {
                chosen.columns.iter().map(|c| c.name.clone()).collect()
            }
            (None, _) => vec![chosen.y.clone()],
        };
        let settings = self.with_columns("--column", names.iter().map(String::as_str))?;
        let analysis = Analysis::new(group, &settings.analysis);
        let columns: Vec<usize> = names
            .iter()
            .filter_map(|name| analysis.columns.iter().position(|(spec, _)| spec.name == *name))
            .collect();
        Ok(match kind {
            FigureKind::Tree => figure::tree(&analysis),
            FigureKind::Matrix => {
                figure::matrix(&analysis, columns.first().copied().unwrap_or_default())
            }
            _ => {
                let rollout = self.session.settings.view.rollout.as_deref();
                figure::advantages(&analysis, &columns, rollout)
            }
        })
    }

    /// The only group that is left, after `--only` and `--rollout`.
    fn one_group(&self, kind: FigureKind) -> Result<Arc<Group>, Failure> {
        let id = self.session.settings.view.rollout.as_deref();
        let groups: Vec<&Arc<Group>> = self
            .session
            .groups()
            .iter()
            .filter(|g| id.is_none_or(|id| g.find(id).is_some()))
            .collect();
        match groups.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [] => Err(Failure::failed("there is no group to draw", None)),
            many => Err(Failure::failed(
                format!("`{}` draws one group, there are {}", kind.name(), many.len()),
                Some(format!(
                    "choose one with --only TASK: {}",
                    some(many.iter().map(|g| g.key.task.as_str()))
                )),
            )),
        }
    }
}

fn counted_groups(n: u64) -> String {
    format!("{n} group{}", if n == 1 { "" } else { "s" })
}

fn ink(settings: &Settings) -> Result<Ink, Failure> {
    let Some(name) = &settings.view.theme else { return Ok(Ink::DEFAULT) };
    Ink::find(name).ok_or_else(|| {
        Failure::usage(
            format!("there is no theme `{name}`"),
            Some(format!("one of {}", Ink::names().join(", "))),
        )
    })
}

/// What is wrong before anything is read, and the form: that of `--format`, else what the file is
/// called.
pub fn prepare(settings: &Settings, options: &mut Options) -> Result<(), Failure> {
    if options.figure.is_none() {
        return Err(which());
    }
    ink(settings)?;
    if options.explicit.contains(&"format") {
        return Ok(());
    }
    let out = settings.view.out.as_deref();
    options.format = match out.and_then(Path::extension).and_then(|e| e.to_str()) {
        None => options.format,
        Some("svg") => Format::Svg,
        Some("html" | "htm") => Format::Html,
        Some(other) => {
            return Err(Failure::usage(
                format!("a figure is no .{other} file"),
                Some("-o FILE.svg or FILE.html; --format svg or html for other names".to_owned()),
            ));
        }
    };
    Ok(())
}

/// What to say when no figure is named.
fn which() -> Failure {
    let names: Vec<&str> = FigureKind::ALL.iter().map(|f| f.name()).collect();
    Failure::usage(
        "which figure? `credscope figure FIGURE PATH… -o FILE.svg`".to_owned(),
        Some(format!("one of {}", names.join(", "))),
    )
}
