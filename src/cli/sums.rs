//! The commands that sum up over groups, with intervals over them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::commands::{Done, Run};
use super::error::Failure;
use super::kind::Kind;
use super::session::complain;
use crate::analysis::aggregate::{Part, Totals};
use crate::export::document::Fact;
use crate::export::groups::GroupsBy;
use crate::export::table::Cell;
use crate::export::writer::writer;
use crate::export::{
    Block, Body, Format, Output, Page, Table, Writing, groups, quadrants, report, totals,
};
use crate::rollout::GroupKey;

/// Quadrants of many groups, and what to say about them.
pub(super) struct Broken {
    /// The rows.
    pub rows: quadrants::Breakdowns,
    /// Groups that count.
    pub counted: u64,
    /// Groups of uniform outcome that do not.
    pub left_out: u64,
    /// X against Y.
    pub title: String,
    /// What is counted, over which groups.
    pub about: String,
}

impl Run<'_> {
    /// `groups`.
    pub(super) fn groups(&self) -> Done {
        let mut out = self.output()?;
        let by = self.options.groups_by;
        let columns = if by == GroupsBy::Group { groups::columns() } else { totals::columns() };
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
        let seed = self.session.settings.analysis.seed;
        let exclude = self.leaves_uniform_out();
        let mut rows = Vec::new();
        let mut parts: BTreeMap<GroupKey, Vec<Part>> = BTreeMap::new();
        let mut all = Vec::new();
        self.session.each(|analysis| {
            let part = Part::of(analysis, !(exclude && analysis.basis.uniform_outcome()));
            if by == GroupsBy::Group {
                rows.push(groups::row(analysis, part.terms.as_ref()));
                all.push(part);
            } else {
                parts.entry(by.key(&analysis.group.key)).or_default().push(part);
            }
            Ok(())
        })?;
        let mut table = if by == GroupsBy::Group {
            groups::table(rows)
        } else {
            let row = |(key, parts): (&GroupKey, &Vec<Part>)| {
                totals::cells(by.name(), by.cell(key), &Totals::of(parts, seed))
            };
            totals::table(parts.iter().map(row).collect())
        };
        if let Some((at, descending)) = sort {
            table.sort(at, descending);
        }
        table.title = self.conventions_line();
        let mut writing = self.writing(Kind::Groups, &[], out.is_file());
        if all.len() > 1 {
            let sums = totals::table(vec![totals::cells(
                "all",
                Cell::text("all"),
                &Totals::of(&all, seed),
            )]);
            if self.options.format.for_people() {
                return self.groups_with_totals(out, &table, sums, writing);
            }
            let sums =
                crate::export::json::rows(&sums, self.options.raw).map_err(std::io::Error::from)?;
            writing.extra.push(("totals", sums));
        }
        self.write_table(&mut out, &table, writing)?;
        Ok(out.commit()?)
    }

    fn groups_with_totals(
        &self,
        mut out: Output,
        table: &Table,
        mut sums: Table,
        writing: Writing,
    ) -> Done {
        "All groups, with 95 % bootstrap intervals over them; groups of uniform outcome are left out of the quadrants unless --uniform include"
            .clone_into(&mut sums.title);
        {
            let mut writer = writer(self.options.format, &mut out, writing);
            writer.begin(&table.columns)?;
            writer.chunk(table)?;
            writer.chunk(&sums)?;
            writer.finish()?;
        }
        Ok(out.commit()?)
    }

    /// The quadrants of all groups that count.
    pub(super) fn breakdown(&self) -> Result<Broken, Failure> {
        let o = self.options;
        let several = self.session.groups().len() > 1;
        let exclude = self.leaves_uniform_out();
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
        Self::tell_left_out(left_out, counted);
        let mut about = format!("{counted} group{}", if counted == 1 { "" } else { "s" });
        if left_out > 0 {
            let _ = write!(about, ", {left_out} of uniform outcome left out");
        }
        if o.compared {
            about.push_str(", only steps of evidence class compared");
        }
        let (weighed, unweighed) = breakdown.weighed();
        if unweighed > 0 {
            let _ =
                write!(about, "; {unweighed} of {} steps have no token count", weighed + unweighed);
            complain(&format!(
                "note: {unweighed} of {} steps have no token count and count nothing with --weight tokens",
                weighed + unweighed
            ));
        }
        let about = format!("{} by {}, {about}", report::capital(o.weight.name()), o.by.name());
        Ok(Broken { rows: breakdown, counted, left_out, title, about })
    }

    /// `quadrants`.
    pub(super) fn quadrants(&self) -> Done {
        let mut out = self.output()?;
        let o = self.options;
        let Broken { rows: breakdown, counted, left_out, title, about } = self.breakdown()?;
        let options = [("groups", json!(counted)), ("uniform_left_out", json!(left_out))];
        let mut writing = self.writing(Kind::Quadrants, &options, out.is_file());
        let seed = self.session.settings.analysis.seed;
        // One group has no spread over groups: no table for people, and nulls for none.
        let intervals = if counted > 1 { breakdown.intervals(seed) } else { Table::default() };
        if matches!(o.format, Format::Text | Format::Markdown) {
            let page = Page {
                title,
                blocks: vec![
                    Block::new(
                        "",
                        "",
                        Body::Facts(vec![Fact::new("", self.conventions_line(), Vec::new())]),
                    ),
                    Block::new("quadrants", about, Body::Table(breakdown.table())),
                    Block::new("", quadrants::SHARES, Body::Table(breakdown.beside())),
                    Block::new("", "Evidence behind the steps", Body::Table(breakdown.evidence())),
                    Block::new(
                        "",
                        "Shares of all scored steps, 95 % bootstrap over groups",
                        Body::Table(intervals),
                    ),
                ],
            };
            self.write_pages(&mut out, &[page], writing)?;
        } else {
            let rows =
                crate::export::json::rows(&intervals, o.raw).map_err(std::io::Error::from)?;
            writing.extra.push(("intervals", rows));
            let sums = crate::export::json::rows(&breakdown.totals(), o.raw)
                .map_err(std::io::Error::from)?;
            writing.extra.push(("totals", sums));
            self.write_table(&mut out, &breakdown.table(), writing)?;
        }
        Ok(out.commit()?)
    }
}
