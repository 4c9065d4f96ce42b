//! The commands that look across settings, columns, rollouts and loads.

use std::sync::Arc;

use serde_json::json;

use super::commands::{Done, Run};
use super::error::Failure;
use super::kind::Kind;
use super::session::{complain, some};
use crate::analysis::align::Alignment;
use crate::analysis::panel::Panel;
use crate::analysis::skill::{Aggregate, GroupTerms, depths, terms};
use crate::analysis::sweep::SweepRow;
use crate::analysis::{Analysis, AnalysisSettings, stability};
use crate::export::sweep::Point;
use crate::export::writer::writer;
use crate::export::{
    Block, Body, Format, Page, Table, compare as compare_tables, panel, skill,
    stability as stability_tables, sweep,
};
use crate::rollout::Group;
use crate::settings::{Settings, Uniform, config};
use crate::signature::{Abstraction, KNOBS};

/// Settings that a sweep can turn besides the knobs.
const PSEUDO: [&str; 6] = ["n-prior", "gamma", "beta", "tau", "abstraction", "preset"];

impl Run<'_> {
    /// Whether tables for people are asked for.
    fn people(&self) -> bool {
        self.options.format.for_people()
    }

    /// Whether groups of uniform outcome stay out of what is summed up over groups.
    pub(super) fn leaves_uniform_out(&self) -> bool {
        self.session.groups().len() > 1 && self.session.settings.view.uniform == Uniform::Exclude
    }

    /// `sweep`.
    pub(super) fn sweep(&self) -> Done {
        let rows = self.sweep_rows()?;
        let mut out = self.output()?;
        let writing = self.writing(Kind::Sweep, &[], out.is_file());
        let table = sweep::table(&rows, self.people());
        self.write_table(&mut out, &table, writing)?;
        Ok(out.commit()?)
    }

    /// Each value of a sweep is the run with that flag, so the rows are those of separate runs.
    pub(super) fn sweep_rows(&self) -> Result<Vec<(Point, SweepRow)>, Failure> {
        let axes = axes(&self.options.sweep)?;
        let base = &self.session.settings;
        let mut points: Vec<(Point, AnalysisSettings)> = Vec::new();
        for at in product(&axes) {
            let flags: Vec<(String, String)> = at.iter().map(|(n, v)| flag(n, v)).collect();
            let mut settings = base.with_flags(&flags)?.analysis;
            settings.batch = crate::analysis::batch(&self.session.loaded.corpus, &settings);
            let current = settings == base.analysis;
            points.push((Point { at, current }, settings));
        }
        let exclude = self.leaves_uniform_out();
        let mut rows: Vec<(Point, SweepRow)> =
            points.iter().map(|(point, _)| (point.clone(), SweepRow::default())).collect();
        let make = |group: &Arc<Group>| {
            let now = Analysis::new(Arc::clone(group), &base.analysis);
            if base.view.mixed && now.basis.uniform_outcome() {
                return Vec::new();
            }
            let counts = !(exclude && now.basis.uniform_outcome());
            let row = |(_, settings): &(Point, AnalysisSettings)| {
                let mut row = SweepRow::default();
                row.add(&Analysis::new(Arc::clone(group), settings), &now, counts);
                row
            };
            points.iter().map(row).collect::<Vec<_>>()
        };
        self.session.each_with(make, |made| {
            for ((_, row), one) in rows.iter_mut().zip(made) {
                row.merge(one);
            }
            Ok(())
        })?;
        for (_, row) in &mut rows {
            row.finish(base.analysis.seed);
        }
        Ok(rows)
    }

    /// `skill`.
    pub(super) fn skill(&self) -> Done {
        let settings = &self.session.settings.analysis;
        let mut chosen: Vec<Option<Abstraction>> = vec![settings.abstraction];
        if self.options.compare {
            chosen.extend([Abstraction::Tools, Abstraction::History, Abstraction::Index].map(Some));
            chosen.dedup();
        }
        let mut rows = Vec::new();
        let (mut seen, mut facts) = (0_usize, Vec::new());
        for abstraction in chosen {
            let settings = AnalysisSettings { abstraction, ..settings.clone() };
            let make = |group: &Arc<Group>| {
                let analysis = Analysis::new(Arc::clone(group), &settings);
                (analysis.abstraction, terms(&analysis))
            };
            let mut found: Vec<GroupTerms> = Vec::new();
            let mut names: Vec<&str> = Vec::new();
            seen = 0;
            self.session.each_with(make, |(name, one)| {
                seen += 1;
                names.push(name.id());
                found.extend(one);
                Ok(())
            })?;
            names.sort_unstable();
            names.dedup();
            let name = match abstraction {
                Some(given) => given.id().to_owned(),
                None => format!("auto:{}", names.join("+")),
            };
            let aggregate = Aggregate::of(&found, settings.seed);
            facts.push((name.clone(), aggregate.groups));
            let by_depth =
                if self.options.compare { Vec::new() } else { depths(&found, settings.seed) };
            rows.extend(skill::rows(&name, &aggregate, &by_depth));
        }
        for (name, groups) in &facts {
            if *groups < crate::analysis::skill::ENOUGH {
                complain(&format!(
                    "note: {name}: {groups} of {seen} groups have mixed outcomes; under {} a number without a verdict",
                    crate::analysis::skill::ENOUGH
                ));
            }
        }
        let mut out = self.output()?;
        let writing = self.writing(Kind::Skill, &[], out.is_file());
        let mut table = skill::table(rows);
        if self.people() {
            skill::HEAD.clone_into(&mut table.title);
        }
        self.write_table(&mut out, &table, writing)?;
        Ok(out.commit()?)
    }

    /// `panel`.
    pub(super) fn panel(&self) -> Done {
        let against = self.options.against.as_deref();
        let (found, counted, left_out) = self.panel_values(against)?;
        let table = match against {
            Some(truth) => panel::against(&found, truth)
                .unwrap_or_else(|| Table::new(panel::against_columns())),
            None => panel::pairs(&found),
        };
        let mut out = self.output()?;
        let extra = [("groups", json!(counted)), ("uniform_left_out", json!(left_out))];
        let writing = self.writing(Kind::Panel, &extra, out.is_file());
        self.write_table(&mut out, &table, writing)?;
        Ok(out.commit()?)
    }

    /// The values of all columns and of one more, how many groups count, and how many are left out.
    pub(super) fn panel_values(&self, more: Option<&str>) -> Result<(Panel, u64, u64), Failure> {
        let settings = self.with_columns("--against", more.into_iter())?;
        if let Some(name) = more.and_then(|m| m.strip_prefix("logged:")) {
            self.known_number(name)?;
        }
        let exclude = self.leaves_uniform_out();
        let mixed = self.session.settings.view.mixed;
        let make = |group: &Arc<Group>| Analysis::new(Arc::clone(group), &settings.analysis);
        let mut found = Panel::default();
        let (mut counted, mut left_out) = (0_u64, 0_u64);
        self.session.each_with(make, |analysis| {
            if (exclude || mixed) && analysis.basis.uniform_outcome() {
                left_out += 1;
            } else {
                counted += 1;
                found.add(&analysis);
            }
            Ok(())
        })?;
        Self::tell_left_out(left_out, counted);
        Ok((found, counted, left_out))
    }

    /// An error where no step has a logged number of this name.
    fn known_number(&self, name: &str) -> Result<(), Failure> {
        let numbers = self.session.groups().iter().flat_map(|g| &g.steps.values);
        let mut known: Vec<&str> = numbers.map(|(name, _)| name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        if known.contains(&name) {
            return Ok(());
        }
        let hint = if known.is_empty() {
            "no step has a logged number; --sidecar FILE brings some".to_owned()
        } else {
            format!("there are {}", some(known.iter().copied()))
        };
        let near = config::meant(name, known.into_iter());
        let told = format!("no step has a logged number `{name}`{near}");
        Err(Failure::failed(told, Some(hint)))
    }

    /// The settings with further columns, and the batch that these may need.
    pub(super) fn with_columns<'n>(
        &self,
        flag: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Settings, Failure> {
        let mut settings = self.session.settings.clone();
        for name in names {
            settings.add_column(name).map_err(|e| {
                let told = format!("{flag}: {}", config::told_column(&e));
                Failure::usage(told, Some("`credscope estimators` describes the columns".into()))
            })?;
        }
        settings.analysis.batch =
            crate::analysis::batch(&self.session.loaded.corpus, &settings.analysis);
        Ok(settings)
    }

    /// Tells how many groups an aggregate leaves out.
    pub(super) fn tell_left_out(left_out: u64, counted: u64) {
        if left_out > 0 {
            complain(&format!(
                "note: {left_out} of {} groups have a uniform outcome and are left out (--uniform include counts them)",
                left_out + counted
            ));
        }
    }

    /// `stability`.
    pub(super) fn stability(&self) -> Done {
        let mut out = self.output()?;
        let writing = self.writing(Kind::Stability, &[], out.is_file());
        let settings = &self.session.settings.analysis;
        let make = |group: &Arc<Group>| {
            let analysis = Analysis::new(Arc::clone(group), settings);
            let found = stability::stability(&analysis);
            (analysis, found)
        };
        let mut counts = [[0; 4]; 4];
        {
            let mut writer = writer(self.options.format, &mut out, writing);
            writer.begin(&stability_tables::columns())?;
            let rollout = self.session.settings.view.rollout.as_deref();
            self.session.each_with(make, |(analysis, found)| {
                if self.session.leaves_out(&analysis) {
                    return Ok(());
                }
                stability_tables::count(&analysis, &found, &mut counts);
                Ok(writer.chunk(&stability_tables::table(&analysis, &found, rollout))?)
            })?;
            if self.people() {
                let mut summary = stability_tables::summary(&counts);
                "Steps that flip or fade in at least one run without a rollout"
                    .clone_into(&mut summary.title);
                writer.chunk(&summary)?;
            }
            writer.finish()?;
        }
        Ok(out.commit()?)
    }

    /// `compare`.
    pub(super) fn compare(&self) -> Done {
        let given = self.options.rollouts.as_deref().unwrap_or_default();
        let mut ids: Vec<&str> =
            given.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        // A rollout may be called `all`, too.
        if ids == ["all"] && self.session.groups().iter().all(|g| g.find("all").is_none()) {
            let groups = self.session.groups().iter();
            ids = groups.flat_map(|g| g.rollouts.iter().map(|r| r.id.as_str())).collect();
            if self.session.groups().len() > 1 {
                return Err(Failure::failed(
                    format!("there are {} groups", self.session.groups().len()),
                    Some("choose one with --only TASK".to_owned()),
                ));
            }
        }
        if ids.len() < 2 {
            return Err(Failure::usage(
                format!("--rollouts cannot be `{given}`: expected two or more ids between commas"),
                None,
            ));
        }
        let group = self.group_of(&ids)?;
        let rollouts: Vec<usize> = ids.iter().filter_map(|id| group.find(id)).collect();
        let analysis = Analysis::new(Arc::clone(&group), &self.session.settings.analysis);
        let alignment = Alignment::new(&analysis, &rollouts);
        let people = matches!(self.options.format, Format::Text | Format::Markdown);
        let matrix = compare_tables::matrix(&analysis, &rollouts, people);
        let mut out = self.output()?;
        let mut writing = self.writing(Kind::Compare, &[], out.is_file());
        if people {
            let page = Page {
                title: format!("{}  {}", crate::export::table::key_line(&group), ids.join(" | ")),
                blocks: vec![
                    Block::new(
                        "",
                        "Aligned on state signatures (= same action, ≠ other action)",
                        Body::Table(compare_tables::side_by_side(&analysis, &alignment)),
                    ),
                    Block::new(
                        "",
                        "Common beginning of each pair, and what parts it",
                        Body::Table(matrix),
                    ),
                ],
            };
            self.write_pages(&mut out, &[page], writing)?;
        } else {
            let pairs = crate::export::json::rows(&matrix, self.options.raw)
                .map_err(std::io::Error::from)?;
            writing.extra.push(("pairs", pairs));
            self.write_table(&mut out, &compare_tables::table(&analysis, &alignment), writing)?;
        }
        Ok(out.commit()?)
    }

    /// The only group that has all these rollouts.
    fn group_of(&self, ids: &[&str]) -> Result<Arc<Group>, Failure> {
        let groups = self.session.groups();
        let holders: Vec<&Arc<Group>> =
            groups.iter().filter(|g| ids.iter().all(|id| g.find(id).is_some())).collect();
        match holders.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [] => {
                let known = groups.iter().flat_map(|g| g.rollouts.iter().map(|r| r.id.as_str()));
                let missing = ids.iter().find(|id| groups.iter().all(|g| g.find(id).is_none()));
                Err(Failure::failed(
                    match missing {
                        Some(id) => format!("no rollout is called `{id}`"),
                        None => "no group has all of these rollouts".to_owned(),
                    },
                    Some(format!("there are {}", some(known))),
                ))
            }
            many => Err(Failure::failed(
                format!("{} groups have these rollouts", many.len()),
                Some(format!(
                    "choose one with --only TASK: {}",
                    some(many.iter().map(|g| g.key.task.as_str()))
                )),
            )),
        }
    }
}

/// Knobs with their values, those of one knob together.
type Axes = Vec<(String, Vec<String>)>;

/// Reads `NAME=V1,V2,…`, once or twice.
fn axes(given: &[String]) -> Result<Axes, Failure> {
    let mut axes: Axes = Vec::new();
    let names = || KNOBS.iter().map(|(name, _)| *name).chain(PSEUDO);
    let known = || Some(format!("one of {}", names().collect::<Vec<_>>().join(", ")));
    for text in given {
        let (name, values) = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--knob cannot be `{text}`: expected NAME=V1,V2,…"), None)
        })?;
        let name = name.trim();
        if !PSEUDO.contains(&name) && KNOBS.iter().all(|(knob, _)| *knob != name) {
            let near = config::meant(name, names());
            return Err(Failure::usage(
                format!("there is no knob `{name}` to sweep{near}"),
                known(),
            ));
        }
        let values = values.split(',').map(|v| v.trim().to_owned());
        match axes.iter_mut().find(|(n, _)| n == name) {
            Some((_, list)) => list.extend(values),
            None => axes.push((name.to_owned(), values.collect())),
        }
    }
    match axes.len() {
        1 | 2 => Ok(axes),
        0 => Err(Failure::usage("no knob was given to sweep: --knob NAME=V1,V2,…", known())),
        n => Err(Failure::usage(format!("one or two knobs can be swept, {n} were given"), None)),
    }
}

/// Every combination, the first knob turning slowest.
fn product(axes: &Axes) -> Vec<Vec<(String, String)>> {
    let mut points: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (name, values) in axes {
        points = points
            .iter()
            .flat_map(|point| {
                values.iter().map(move |value| {
                    let mut point = point.clone();
                    point.push((name.clone(), value.clone()));
                    point
                })
            })
            .collect();
    }
    points
}

/// The flag that turns a knob or a pseudo-knob.
fn flag(name: &str, value: &str) -> (String, String) {
    if PSEUDO.contains(&name) {
        (name.to_owned(), value.to_owned())
    } else {
        ("knob".to_owned(), format!("{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_knobs_make_a_grid() {
        let given = ["edit-hash=0,4".to_owned(), "gamma=.9,1".to_owned()];
        let points = product(&axes(&given).unwrap());
        let values: Vec<String> = points
            .iter()
            .map(|p| p.iter().map(|(_, v)| v.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(values, ["0 .9", "0 1", "4 .9", "4 1"]);
        assert!(axes(&["nope=1".to_owned()]).is_err() && axes(&[]).is_err());
    }
}
