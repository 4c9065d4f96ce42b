//! ROLL rollout dumps: one object of columns per training step, each index one rollout.
//!
//! Agentic columns hold JSON as text: what the environment logged, and the conversation as one list
//! of messages per context segment. Columns of plain answers hold texts.

mod rewards;
mod rows;
mod segments;
mod table;
#[cfg(test)]
mod tests;

use super::columns;
use super::reader::{Context, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use super::sheet::{Columnar, Length, Sheet, Table};

/// The reader.
#[derive(Debug)]
pub struct Roll;

impl Columnar for Roll {
    fn table(&self, columns: &[Length<'_>], closed: bool) -> Result<Table, RecordError> {
        table::table(columns, closed)
    }
}

impl Reader for Roll {
    fn id(&self) -> &'static str {
        "roll"
    }

    fn title(&self) -> &'static str {
        "ROLL rollout dumps (rollout_dump_data.step_<N>.jsonl), columns"
    }

    fn source(&self) -> &'static str {
        "alibaba/ROLL@8eb27cc roll/utils/functionals.py, pipeline/agentic/env_manager/agent_native_env_manager.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.list("trajectory_data") && (r.list("messages") || r.list("exp_name") || r.cut())
                || r.list("responses") && r.list("scores")
                || r.cut() && r.list("prompt") && r.list("global_step")
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn columnar(&self) -> Option<&dyn Columnar> {
        Some(self)
    }

    fn parse(&self, text: &str, context: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        match columns::sheet(text, self) {
            Some(sheet) => Ok(read_rows(text, &sheet?, context)),
            None => Err(record_object(text).err().unwrap_or_else(|| {
                RecordError::unexpected(None, "more columns than a dump can have stand here")
            })),
        }
    }
}

/// The rows of a dump that is at hand as a whole.
fn read_rows(text: &str, sheet: &Sheet, context: &Context<'_>) -> Vec<Part> {
    let read = |at: usize| {
        if context.only.is_some_and(|only| only as usize != at) {
            return Part::default();
        }
        let row = sheet.row_of(text.as_bytes(), at);
        let mut part = sheet.document.part(&String::from_utf8_lossy(&row), at, context);
        if at == 0
            && let Ok(first) = &mut part.rollout
        {
            first.notes.extend(sheet.notes.iter().cloned());
        }
        part
    };
    (0..sheet.rows).map(read).collect()
}
