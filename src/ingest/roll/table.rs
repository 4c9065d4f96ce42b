//! What the columns of a ROLL dump are together: which rows are whole, and what the others lack.

use super::rows::{Row, read_agentic, read_answer};
use crate::ingest::document::Document;
use crate::ingest::reader::{Context, Part, RecordError, RecordErrorKind};
use crate::ingest::sheet::{Length, Table};
use crate::rollout::raw::RawRollout;

/// The columns that the framework writes.
const COLUMNS: [&str; 18] = [
    "trajectory_data",
    "messages",
    "tools",
    "exp_name",
    "global_step",
    "id",
    "source",
    "difficulty",
    "prompt",
    "ground_truth",
    "case_type",
    "test_case_function",
    "test_cases",
    "tag",
    "domain",
    "responses",
    "scores",
    "sampling_params",
];

/// Reads a row of the dump at this path.
type ReadRow = fn(&Row<'_>, &str) -> Result<RawRollout, RecordError>;

/// What a dump holds, by its first column.
struct Form {
    /// Columns that a rollout needs; the first tells how many rows there are.
    needs: [&'static str; 2],
    read: ReadRow,
}

const AGENTIC: Form = Form { needs: ["trajectory_data", "messages"], read: read_agentic };
const ANSWERS: Form = Form { needs: ["responses", "scores"], read: read_answer };

/// The rows of a dump.
#[derive(Debug)]
struct Dump {
    read: ReadRow,
    needs: [&'static str; 2],
    /// Columns that every row has a cell of, by name.
    full: Vec<(String, usize)>,
    /// Of a dump whose end is not there: how many rows are whole, and what is said of the others.
    cut: Option<(usize, RecordError)>,
}

/// The table of a dump with these columns.
pub(super) fn table(columns: &[Length<'_>], closed: bool) -> Result<Table, RecordError> {
    let find = |name: &str| columns.iter().find(|c| c.name == name);
    let form = if find("trajectory_data").is_some() { AGENTIC } else { ANSWERS };
    let open = columns.last().filter(|c| !c.closed);
    let lacks = form.needs.into_iter().find(|name| find(name).is_none());
    let lead = match (find(form.needs[0]), lacks) {
        (Some(lead), None) => lead.cells,
        (Some(lead), Some(_)) if closed => lead.cells,
        (None, _) if closed => return Err(no_lead()),
        (_, missing) => return Err(cut_before(open, missing.unwrap_or_default())),
    };
    // A column that is cut has whole rows as far as it goes, unless nothing asks for it.
    let limit = open.filter(|c| COLUMNS.contains(&c.name)).map(|c| c.cells);
    let whole = limit.map_or(lead, |limit| limit.min(lead));
    let kept = |c: &Length<'_>| {
        // A list that the framework does not write is no column of it, and what a rollout can do
        // without may be left empty.
        (!closed || c.cells == lead || COLUMNS.contains(&c.name))
            && (c.cells > 0 || form.needs.contains(&c.name))
    };
    let full = columns.iter().filter(|c| kept(c) && c.closed);
    let full = full.filter(|c| closed || COLUMNS.contains(&c.name));
    let mut full: Vec<_> = full.map(|c| (c.name.to_owned(), c.cells)).collect();
    full.sort_unstable();
    // Rows beyond the end of a column are lost, those before it are whole.
    let longest = full.iter().map(|(_, cells)| *cells).max().unwrap_or(0);
    let cut = (!closed).then(|| (whole, cut_at(open)));
    // Of rows that are lost the first column tells how many they are, where its end is there.
    let known = columns.iter().find(|c| c.name == form.needs[0] && c.closed).map_or(0, |c| c.cells);
    let behind = !closed && whole > 0 && whole == known;
    let rows = match (closed, behind) {
        (true, _) => longest,
        (_, true) => whole,
        (_, false) => known.max(whole + 1),
    };
    let lost = behind.then(cut_behind);
    let empty = |c: &&Length<'_>| c.closed && c.cells == 0 && COLUMNS.contains(&c.name) && !kept(c);
    let notes = columns.iter().filter(empty).filter(|_| lead > 0);
    let notes = notes.map(|c| (c.name.to_owned(), beside(lead, form.needs[0]))).collect();
    let kept = columns.iter().enumerate().filter(|(_, c)| kept(c)).map(|(at, _)| at).collect();
    let dump = Dump { read: form.read, needs: form.needs, full, cut };
    Ok(Table { document: std::sync::Arc::new(dump), kept, rows, notes, lost })
}

fn no_lead() -> RecordError {
    RecordError::missing(
        "trajectory_data",
        "a column `trajectory_data` (or `responses` and `scores`) was expected",
    )
}

fn beside(rows: usize, lead: &str) -> String {
    let word = if rows == 1 { "value" } else { "values" };
    format!("no values here, {rows} {word} in `{lead}`: the rows are read without it")
}

fn cut(field: Option<String>, reason: String) -> RecordError {
    let hint = Some("file may still be being written".to_owned());
    RecordError { kind: RecordErrorKind::Cut, field, reason, hint }
}

fn cut_before(open: Option<&Length<'_>>, missing: &str) -> RecordError {
    let place = if open.is_some() { "in this column and before" } else { "before" };
    let reason = format!("cut {place} `{missing}`: no row is whole");
    cut(open.map(|c| c.name.to_owned()), reason)
}

fn cut_at(open: Option<&Length<'_>>) -> RecordError {
    let reason = "cut at the end of the file: the rows before it are whole".to_owned();
    cut(open.map(|c| format!("{}[{}]", c.name, c.cells)), reason)
}

fn cut_behind() -> RecordError {
    let reason = "cut at the end of the file, behind its rows: columns may be missing".to_owned();
    cut(None, reason)
}

impl Dump {
    /// What is said of a row that a column lacks.
    fn lacking(&self, at: usize) -> Option<RecordError> {
        let (name, have) = self.full.iter().find(|(_, cells)| *cells <= at)?;
        let all = self.full.iter().map(|(_, cells)| *cells).max().unwrap_or(0);
        let full = |name: &str| self.full.iter().any(|(n, cells)| n == name && *cells == all);
        let other = || self.full.iter().map(|(name, _)| &**name).find(|name| full(name));
        let full = self.needs.into_iter().find(|name| full(name)).or_else(other);
        let rows = match all - have {
            1 => "the last row lacks one".to_owned(),
            n => format!("the last {n} rows lack one"),
        };
        let (values, full) =
            (if *have == 1 { "value" } else { "values" }, full.unwrap_or_default());
        let reason = format!("{have} {values} here, {all} in `{full}`: {rows}");
        Some(RecordError::unexpected(Some(name), reason))
    }

    fn read(&self, row: &Row<'_>, at: usize, path: &str) -> Result<RawRollout, RecordError> {
        self.lacking(at).map_or_else(|| (self.read)(row, path), Err)
    }
}

impl Document for Dump {
    fn element(
        &self,
        text: &str,
        at: usize,
        context: &Context<'_>,
    ) -> Result<RawRollout, RecordError> {
        self.part(text, at, context).rollout
    }

    fn part(&self, text: &str, at: usize, context: &Context<'_>) -> Part {
        match &self.cut {
            Some((whole, error)) if at >= *whole => {
                Part { rollout: Err(error.clone()), digest: Some(0), lost: Vec::new() }
            }
            _ => match Row::parse(text) {
                Ok(row) => Part::of(&row.text(), self.read(&row, at, context.path)),
                Err(error) => Part::of(text, Err(error)),
            },
        }
    }
}
