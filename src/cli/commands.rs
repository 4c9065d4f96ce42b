//! The commands: each takes a session, makes tables or pages, and writes them.

use std::io::Write;

use serde_json::{Value, json};

use super::error::Failure;
use super::kind::Kind;
use super::options::Options;
use super::place::locate;
use super::session::Session;
use crate::analysis::Analysis;
use crate::export::json::Json;
use crate::export::markdown::Markdown;
use crate::export::plain::Plain;
use crate::export::writer::writer;
use crate::export::{
    Block, Body, Format, Later, Output, Page, Table, Writing, check, conventions, dot, explain,
    groups, report, steps, tree,
};

/// A command at work.
pub struct Run<'a> {
    /// Its session.
    pub session: &'a Session,
    /// Its options.
    pub options: &'a Options,
}

/// Cells of a line of text.
const WIDE: usize = 80;

pub(super) type Done = Result<(), Failure>;

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
            Kind::Sweep => self.sweep(),
            Kind::Skill => self.skill(),
            Kind::Panel => self.panel(),
            Kind::Stability => self.stability(),
            Kind::Compare => self.compare(),
            Kind::Figure => self.figure(),
            Kind::Advantages => self.advantages(),
            Kind::Convert => self.convert(),
            // These need no session of this kind.
            Kind::CompareRuns
            | Kind::Simulate
            | Kind::Formats
            | Kind::Estimators
            | Kind::Profiles
            | Kind::Themes
            | Kind::Keys
            | Kind::Completions
            | Kind::Man
            | Kind::Schema => Ok(()),
        }
    }

    pub(super) fn output(&self) -> Result<Output, Failure> {
        let view = &self.session.settings.view;
        Ok(Output::open(view.out.as_deref(), view.force, self.session.inputs())?)
    }

    /// Data forms are always stamped; forms for people only where they become a file.
    pub(super) fn writing(&self, kind: Kind, options: &[(&str, Value)], file: bool) -> Writing {
        let for_people = self.options.format.for_people();
        let mut stamped = self.options.stamped(kind);
        // Glyphs are no number, but they are bytes of a text.
        stamped.extend(
            (for_people && self.session.settings.view.ascii).then_some(("ascii", json!(true))),
        );
        stamped.extend(options.iter().cloned());
        let wanted = match self.options.format {
            Format::Json => true,
            _ => !self.options.no_stamp && (file || !for_people),
        };
        Writing {
            stamp: wanted.then(|| self.session.stamp(kind.name(), &stamped)),
            partial: self.session.loaded.report.partial(),
            raw: self.options.raw,
            width: (self.options.format == Format::Text).then_some(WIDE),
            ascii: self.session.settings.view.ascii,
            extra: Vec::new(),
        }
    }

    fn rollout(&self) -> Option<&str> {
        self.session.settings.view.rollout.as_deref()
    }

    /// What the chosen columns were computed with, for people; empty for data, which has its stamp.
    pub(super) fn conventions_line(&self) -> String {
        if !self.options.format.for_people() {
            return String::new();
        }
        let settings = &self.session.settings.analysis;
        let names: Vec<&str> = settings.columns.iter().map(|c| c.name.as_str()).collect();
        conventions::line(settings, &names)
    }

    fn steps(&self) -> Done {
        let mut out = self.output()?;
        let writing = self.writing(Kind::Steps, &[], out.is_file());
        {
            let mut writer = writer(self.options.format, &mut out, writing);
            writer.begin(&steps::columns(&self.session.settings.analysis))?;
            let mut head = self.conventions_line();
            let by_rows = matches!(self.options.format, Format::Csv | Format::Json | Format::Jsonl);
            self.session.each(|analysis| {
                if by_rows {
                    return Ok(steps::in_parts(analysis, self.rollout(), |part| {
                        writer.chunk(part)
                    })?);
                }
                let mut table = steps::table(analysis, self.rollout());
                if self.options.format == Format::Text {
                    steps::divide_segments(&mut table, analysis);
                    steps::fold_loops(&mut table);
                }
                if !head.is_empty() {
                    table.title = format!("{}\n\n{}", std::mem::take(&mut head), table.title);
                }
                Ok(writer.chunk(&table)?)
            })?;
            writer.finish()?;
        }
        Ok(out.commit()?)
    }

    fn tree(&self) -> Done {
        let mut out = self.output()?;
        let lens = self.options.lens;
        if self.options.format == Format::Dot {
            let writing = self.writing(Kind::Tree, &[], out.is_file());
            if let Some(stamp) = &writing.stamp {
                let line = serde_json::to_string(stamp).map_err(std::io::Error::from)?;
                writeln!(out, "// {line}")?;
            }
            let partial = writing.partial.as_deref();
            self.session.each(|analysis| {
                Ok(out.write_all(dot::graph(analysis, lens, partial).as_bytes())?)
            })?;
            return Ok(out.commit()?);
        }
        let writing = self.writing(Kind::Tree, &[], out.is_file());
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

    pub(super) fn write_table(&self, out: &mut Output, table: &Table, writing: Writing) -> Done {
        let mut writer = writer(self.options.format, out, writing);
        writer.begin(&table.columns)?;
        writer.chunk(table)?;
        Ok(writer.finish()?)
    }

    /// Writes pages in the form that was asked for.
    pub(super) fn write_pages(&self, out: &mut Output, pages: &[Page], writing: Writing) -> Done {
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
        let writing = self.writing(Kind::Report, &[], out.is_file());
        let data = self.options.format == Format::Json;
        let page = |analysis: &_| report::page(analysis, self.rollout(), self.options.brief, data);
        if data {
            let mut json = Json::new(&mut out, writing);
            json.open()?;
            self.session.each(|analysis| Ok(json.page(&page(analysis))?))?;
            json.close()?;
            return Ok(out.commit()?);
        }
        let load = &self.session.loaded.report;
        let several = self.session.groups().len() > 1;
        // The list of all groups stands before their pages: these wait as they will be written.
        let (mut told, mut rows) = (Later::default(), Vec::new());
        let make = |analysis: &_| {
            let mut text = Vec::new();
            let row = several.then(|| groups::cells(analysis, &analysis.group_row(false)));
            let done = self.write_further(&mut text, &page(analysis), &writing);
            (row, done.map(|()| text))
        };
        self.session.each_made(make, |(row, text)| {
            rows.extend(row);
            Ok(told.write_all(&text?)?)
        })?;
        let foot = Block::new("load", "", Body::Facts(check::summary(load)));
        let foot = Page { title: "What was read".to_owned(), blocks: vec![foot] };
        self.write_further(&mut told, &foot, &writing)?;
        let mut head = Vec::new();
        if several {
            let title = match rows.len() {
                1 => "1 group".to_owned(),
                n => format!("{n} groups"),
            };
            let blocks = vec![Block::new("groups", "", Body::Table(groups::table(rows)))];
            head.push(Page { title, blocks });
        }
        // A further page begins with an empty line; the first of all does not.
        let first = !several && writing.partial.is_none();
        self.write_pages(&mut out, &head, writing)?;
        told.give(&mut out, first)?;
        Ok(out.commit()?)
    }

    /// Writes a page that is not the first, in a form for people.
    fn write_further(&self, out: &mut dyn Write, page: &Page, writing: &Writing) -> Done {
        let writing = writing.clone();
        match self.options.format {
            Format::Markdown => Markdown::further(out, writing).page(page)?,
            _ => Plain::further(out, writing).page(page)?,
        }
        Ok(())
    }

    fn check(&self) -> Done {
        let mut out = self.output()?;
        let load = &self.session.loaded.report;
        let mut writing = self.writing(Kind::Check, &[], out.is_file());
        if self.options.format == Format::Text {
            let page =
                Page { title: load.partial().unwrap_or_default(), blocks: check::blocks(load) };
            // The page's title is the mark.
            writing.partial = None;
            self.write_pages(&mut out, &[page], writing)?;
        } else {
            let full = serde_json::to_value(load).map_err(std::io::Error::from)?;
            writing.extra.push(("report", full));
            self.write_table(&mut out, &check::table(load), writing)?;
        }
        Ok(out.commit()?)
    }

    /// The artefacts of every group: they need no step.
    fn artefacts(&self) -> Done {
        if self.options.column.is_some() {
            let told = "--column has no effect on artefacts: it needs --at ROLLOUT:STEP";
            return Err(Failure::usage(told, None));
        }
        let mut out = self.output()?;
        let writing = self.writing(Kind::Explain, &[], out.is_file());
        if self.options.format == Format::Json {
            let mut json = Json::new(&mut out, writing);
            json.open()?;
            self.session.each(|analysis| {
                Ok(json.element(&explain::artefacts_json(analysis, self.options.raw))?)
            })?;
            json.close()?;
        } else {
            let mut pages = Vec::new();
            self.session.each(|analysis| {
                pages.push(explain::artefacts_page(analysis));
                Ok(())
            })?;
            self.write_pages(&mut out, &pages, writing)?;
        }
        Ok(out.commit()?)
    }

    fn explain(&self) -> Done {
        if self.options.at.is_none() && self.options.artefacts {
            return self.artefacts();
        }
        let given = self.options.at.as_deref().unwrap_or_default();
        let (index, rollout, step) = locate(self.session.groups(), given)?;
        let found = self.session.groups().get(index);
        let Some((group, owner)) = found.and_then(|g| Some((g, g.rollouts.get(rollout)?))) else {
            return Ok(());
        };
        let (start, id) = (owner.steps.start, owner.id.as_str());
        let column = self.options.column.as_ref().unwrap_or(&self.session.settings.analysis.y);
        let settings = self.with_columns("--column", std::iter::once(column.as_str()))?;
        let analysis = Analysis::new(std::sync::Arc::clone(group), &settings.analysis);
        let explained = analysis
            .explain(start + step, column)
            .ok_or_else(|| Failure::failed(format!("there is no column `{column}`"), None))?;
        let mut out = self.output()?;
        let mut writing = self.writing(Kind::Explain, &[], out.is_file());
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
            self.write_pages(&mut out, &[page], writing)?;
        }
        out.flush()?;
        Ok(out.commit()?)
    }
}
