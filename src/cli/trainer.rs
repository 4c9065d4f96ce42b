//! Back to the trainer and into the native format: files of one rollout per line.

use std::io::Write as _;

use serde_json::{Value, json};

use super::commands::{Done, Run};
use super::error::Failure;
use super::kind::Kind;
use crate::analysis::Analysis;
use crate::export::{advantages, native};
use crate::profile::Profiles;
use crate::rollout::raw::RawRollout;
use crate::rollout::{Group, Rollout, SourceId};

impl Run<'_> {
    /// `advantages`: one rollout per line, with its stamp as the first.
    pub(super) fn advantages(&self) -> Done {
        let y = &self.session.settings.analysis.y;
        let given = self.options.column.as_ref().unwrap_or(y);
        let names: Vec<&str> = given.split(',').map(str::trim).collect();
        let settings = self.with_columns("--column", names.iter().copied())?;
        let mut out = self.output()?;
        let writing = self.writing(Kind::Advantages, &[], out.is_file());
        if let Some(stamp) = &writing.stamp {
            serde_json::to_writer(&mut out, stamp).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        let wanted = self.session.settings.view.rollout.as_deref();
        let make = |group: &std::sync::Arc<Group>| {
            Analysis::new(std::sync::Arc::clone(group), &settings.analysis)
        };
        self.session.each_with(make, |analysis| {
            if self.session.leaves_out(&analysis) {
                return Ok(());
            }
            let columns: Vec<usize> = names
                .iter()
                .filter_map(|n| analysis.columns.iter().position(|(s, _)| s.name == *n))
                .collect();
            for (i, rollout) in analysis.group.rollouts.iter().enumerate() {
                if wanted.is_some_and(|id| id != rollout.id) {
                    continue;
                }
                let calls = self.calls(&analysis.group, rollout)?;
                let line = advantages::line(&analysis, i, &columns, &calls, self.options.raw);
                write_line(&mut out, &line)?;
            }
            Ok(())
        })?;
        Ok(out.commit()?)
    }

    /// `convert`: the native format. Its lines are rollouts, so that no stamp stands among them; a
    /// mark of partial data is kept by the first one.
    pub(super) fn convert(&self) -> Done {
        let mut out = self.output()?;
        let profiles = Profiles::builtin();
        let mut partial = self.session.loaded.report.partial();
        let wanted = self.session.settings.view.rollout.as_deref();
        for group in self.session.groups() {
            for rollout in &group.rollouts {
                if wanted.is_some_and(|id| id != rollout.id) {
                    continue;
                }
                self.session.check()?;
                let records = self.records(rollout)?;
                let source = rollout.records.first().map_or_else(SourceId::default, |r| r.source);
                let format = self.session.loaded.sources.format(source);
                for mut line in native::lines(group, rollout, format, &records, &profiles) {
                    if let (Some(mark), Some(map)) = (partial.take(), line.as_object_mut()) {
                        map.insert("extra".to_owned(), json!({ native::PARTIAL: mark }));
                    }
                    write_line(&mut out, &line)?;
                }
            }
        }
        Ok(out.commit()?)
    }

    fn records(&self, rollout: &Rollout) -> Result<Vec<RawRollout>, Failure> {
        let sources = &self.session.loaded.sources;
        let read = |record| sources.rollout(record);
        rollout
            .records
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::failed(error.to_string(), None))
    }

    /// The ids of a rollout's calls, step by step.
    fn calls(&self, group: &Group, rollout: &Rollout) -> Result<Vec<Option<String>>, Failure> {
        let records = self.records(rollout)?;
        Ok((0..rollout.steps.len())
            .map(|step| {
                let t = group.text_of(rollout, step)?;
                let record = records.get(t.record as usize)?;
                record.steps.get(t.raw as usize)?.call_id.clone()
            })
            .collect())
    }
}

fn write_line(out: &mut crate::export::Output, line: &Value) -> Done {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}
