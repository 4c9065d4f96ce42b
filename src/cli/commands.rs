//! The commands: each takes a session, makes tables or pages, and writes them.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Value, json};

use super::error::Failure;
use super::kind::{Kind, Options};
use super::place::locate;
use super::session::{Session, complain};
use crate::analysis::Analysis;
use crate::export::json::Json;
use crate::export::markdown::Markdown;
use crate::export::plain::Plain;
use crate::export::tree::Lens;
use crate::export::writer::writer;
use crate::export::{
    Block, Body, Format, Output, Page, Table, Writing, check, explain, groups, quadrants, report,
    steps, tree,
};
use crate::settings::Uniform;

/// A command at work.
pub struct Run<'a> {
    /// Its session.
    pub session: &'a Session,
    /// Its options.
    pub options: &'a Options,
}

type Done = Result<(), Failure>;

impl Run<'_> {
    /// Runs a command.
    pub fn run(&self, kind: Kind) -> Done {
        match kind {
            Kind::Report => self.report(),
            Kind::Groups => self.groups(),
            Kind::Steps => self.steps(),
            Kind::Quadrants => self.quadrants(),
            Kind::Tree => self.tree(),
            Kind::Explain => self.explain(),
            Kind::Check => self.check(),
            Kind::Formats | Kind::Estimators => Ok(()),
        }
    }

    fn output(&self) -> Result<Output, Failure> {
        let view = &self.session.settings.view;
        Ok(Output::open(view.out.as_deref(), view.force, self.session.inputs())?)
    }

    /// Data forms are always stamped; forms for people only where they become a file.
    fn writing(&self, kind: Kind, options: &[(&str, Value)], file: bool) -> Writing {
        let for_people = matches!(self.options.format, Format::Text | Format::Markdown);
        let wanted = match self.options.format {
            Format::Json => true,
            _ => !self.options.no_stamp && (file || !for_people),
        };
        Writing {
            stamp: wanted.then(|| self.session.stamp(kind.name(), options)),
            raw: self.options.raw,
            width: None,
            ascii: self.session.settings.view.ascii,
            extra: Vec::new(),
        }
    }

    fn rollout(&self) -> Option<&str> {
        self.session.settings.view.rollout.as_deref()
    }

    fn steps(&self) -> Done {
        let mut out = self.output()?;
        let writing = self.writing(Kind::Steps, &[], out.is_file());
        {
            let mut writer = writer(self.options.format, &mut out, writing);
            writer.begin(&steps::columns(&self.session.settings.analysis))?;
            self.session
                .each(|analysis| Ok(writer.chunk(&steps::table(analysis, self.rollout()))?))?;
            writer.finish()?;
        }
        Ok(out.commit()?)
    }

    fn tree(&self) -> Done {
        let mut out = self.output()?;
        let lens = self.options.lens;
        let name = if lens == Lens::Paths { "paths" } else { "states" };
        let writing = self.writing(Kind::Tree, &[("lens", json!(name))], out.is_file());
        let people = self.options.format == Format::Text;
        {
            let mut writer = writer(self.options.format, &mut out, writing);
            // The indented label is for people; it is the last column of the paths.
            let cut = |mut table: Table| {
                if !people && let Some(at) = table.position("drawn") {
                    table.columns.truncate(at);
                    table.rows.iter_mut().for_each(|row| row.truncate(at));
                }
                table
            };
            writer.begin(&cut(Table::new(tree::columns(lens))).columns)?;
            self.session.each(|analysis| Ok(writer.chunk(&cut(tree::table(analysis, lens)))?))?;
            writer.finish()?;
        }
        Ok(out.commit()?)
    }

    fn groups(&self) -> Done {
        let mut out = self.output()?;
        let columns = groups::columns();
        let sort = match &self.options.sort {
            None => None,
            Some(given) => {
                let name = given.strip_prefix('-').unwrap_or(given);
                let at = columns.iter().position(|c| c.name == name);
                Some((
                    at.ok_or_else(|| {
                        Failure::usage(
                            format!("groups cannot be sorted by `{name}`"),
                            Some(format!(
                                "columns: {}",
                                columns
                                    .iter()
                                    .map(|c| c.name.as_str())
                                    .collect::<Vec<_>>()
                                    .join(", ")
                            )),
                        )
                    })?,
                    given.starts_with('-'),
                ))
            }
        };
        let mut rows = Vec::new();
        self.session.each(|analysis| {
            rows.push(groups::row(analysis));
            Ok(())
        })?;
        let mut table = groups::table(rows);
        if let Some((at, descending)) = sort {
            table.sort(at, descending);
        }
        let options: Vec<(&str, Value)> =
            self.options.sort.iter().map(|s| ("sort", json!(s))).collect();
        let writing = self.writing(Kind::Groups, &options, out.is_file());
        self.write_table(&mut out, &table, writing)?;
        Ok(out.commit()?)
    }

    fn write_table(&self, out: &mut Output, table: &Table, writing: Writing) -> Done {
        let mut writer = writer(self.options.format, out, writing);
        writer.begin(&table.columns)?;
        writer.chunk(table)?;
        Ok(writer.finish()?)
    }

    fn quadrants(&self) -> Done {
        let mut out = self.output()?;
        let o = self.options;
        let several = self.session.groups().len() > 1;
        let exclude = several && self.session.settings.view.uniform == Uniform::Exclude;
        let mut breakdown = quadrants::Breakdowns::new(o.by, o.compared, o.weight, several);
        let (mut counted, mut left_out) = (0_u64, 0_u64);
        let mut title = String::new();
        self.session.each(|analysis| {
            if exclude && analysis.basis.uniform_outcome() {
                left_out += 1;
            } else {
                counted += 1;
                breakdown.add(analysis);
            }
            if title.is_empty() {
                title = report::axes(analysis);
            }
            Ok(())
        })?;
        if left_out > 0 {
            complain(&format!(
                "note: {left_out} of {} groups have a uniform outcome and are left out (--uniform include counts them)",
                left_out + counted
            ));
        }
        let options = [
            ("by", json!(o.by.name())),
            ("compared", json!(o.compared)),
            ("weight", json!(o.weight.name())),
            ("groups", json!(counted)),
            ("uniform_left_out", json!(left_out)),
        ];
        let mut writing = self.writing(Kind::Quadrants, &options, out.is_file());
        if matches!(o.format, Format::Text | Format::Markdown) {
            let mut about = format!("{counted} group{}", if counted == 1 { "" } else { "s" });
            if left_out > 0 {
                let _ = write!(about, ", {left_out} of uniform outcome left out");
            }
            if o.compared {
                about.push_str(", only steps of evidence class compared");
            }
            let page = Page {
                title,
                blocks: vec![
                    Block::new(
                        "quadrants",
                        format!("{} by {}, {about}", report::capital(o.weight.name()), o.by.name()),
                        Body::Table(breakdown.table()),
                    ),
                    Block::new("", quadrants::SHARES, Body::Table(breakdown.beside())),
                    Block::new("", "Evidence behind the steps", Body::Table(breakdown.evidence())),
                ],
            };
            writing.width = Some(80);
            self.write_pages(&mut out, &[page], writing)?;
        } else {
            self.write_table(&mut out, &breakdown.table(), writing)?;
        }
        Ok(out.commit()?)
    }

    /// Writes pages in the form that was asked for.
    fn write_pages(&self, out: &mut Output, pages: &[Page], writing: Writing) -> Done {
        match self.options.format {
            Format::Json => {
                let mut json = Json::new(out, writing);
                json.open()?;
                for page in pages {
                    json.page(page)?;
                }
                json.close()?;
            }
            Format::Markdown => {
                let mut markdown = Markdown::new(out, writing);
                markdown.stamp()?;
                for page in pages {
                    markdown.page(page)?;
                }
            }
            _ => {
                let mut plain = Plain::new(out, writing);
                plain.stamp()?;
                for page in pages {
                    plain.page(page)?;
                }
            }
        }
        Ok(())
    }

    fn report(&self) -> Done {
        let mut out = self.output()?;
        let mut pages = Vec::new();
        let mut rows = Vec::new();
        let several = self.session.groups().len() > 1;
        self.session.each(|analysis| {
            if several {
                rows.push(groups::cells(analysis, &analysis.group_row(false)));
            }
            pages.push(report::page(analysis, self.rollout()));
            Ok(())
        })?;
        let load = &self.session.loaded.report;
        let mut writing = self.writing(Kind::Report, &[], out.is_file());
        if self.options.format != Format::Json {
            writing.width = Some(80);
            let foot = Block::new("load", "", Body::Facts(check::summary(load)));
            if several {
                let title = match rows.len() {
                    1 => "1 group".to_owned(),
                    n => format!("{n} groups"),
                };
                pages.insert(
                    0,
                    Page {
                        title,
                        blocks: vec![Block::new("groups", "", Body::Table(groups::table(rows)))],
                    },
                );
            }
            pages.push(Page { title: "What was read".to_owned(), blocks: vec![foot] });
        }
        self.write_pages(&mut out, &pages, writing)?;
        Ok(out.commit()?)
    }

    fn check(&self) -> Done {
        let mut out = self.output()?;
        let load = &self.session.loaded.report;
        let mut writing = self.writing(Kind::Check, &[], out.is_file());
        if self.options.format == Format::Text {
            let page =
                Page { title: load.partial().unwrap_or_default(), blocks: check::blocks(load) };
            writing.width = Some(100);
            self.write_pages(&mut out, &[page], writing)?;
        } else {
            let full = serde_json::to_value(load).map_err(std::io::Error::from)?;
            writing.extra.push(("report", full));
            self.write_table(&mut out, &check::table(load), writing)?;
        }
        out.commit()?;
        match load.first_skipped() {
            Some(first) if self.options.strict => Err(Failure::failed(
                format!("{} skipped; first: {first}", crate::export::check::skipped(load)),
                None,
            )),
            _ => Ok(()),
        }
    }

    fn explain(&self) -> Done {
        let given = self.options.at.as_deref().unwrap_or_default();
        let (index, rollout, step) = locate(self.session.groups(), given)?;
        let found = self.session.groups().get(index);
        let Some((group, owner)) = found.and_then(|g| Some((g, g.rollouts.get(rollout)?))) else {
            return Ok(());
        };
        let (start, id) = (owner.steps.start, owner.id.as_str());
        let mut settings = self.session.settings.clone();
        let column = match &self.options.column {
            Some(column) => {
                settings
                    .add_column(column)
                    .map_err(|e| Failure::usage(format!("--column: {e}"), None))?;
                column.clone()
            }
            None => settings.analysis.y.clone(),
        };
        let analysis = Analysis::new(std::sync::Arc::clone(group), &settings.analysis);
        let explained = analysis
            .explain(start + step, &column)
            .ok_or_else(|| Failure::failed(format!("there is no column `{column}`"), None))?;
        let mut out = self.output()?;
        let options = [("at", json!(given)), ("column", json!(column))];
        let mut writing = self.writing(Kind::Explain, &options, out.is_file());
        let artefacts = self.options.artefacts;
        if self.options.format == Format::Json {
            writing.extra = explain::json(&analysis, &explained, artefacts, self.options.raw);
            let mut json = Json::new(&mut out, writing);
            json.open()?;
            json.element(&json!({
                "task": crate::export::text::line(&group.key.task),
                "rollout": crate::export::text::line(id),
                "step": step,
                "column": column,
                "value": explained.value.as_ref().ok(),
                "reason": explained.value.as_ref().err(),
            }))?;
            json.close()?;
        } else {
            let page = explain::page(&analysis, &explained, artefacts);
            writing.width = Some(80);
            self.write_pages(&mut out, &[page], writing)?;
        }
        out.flush()?;
        Ok(out.commit()?)
    }
}
