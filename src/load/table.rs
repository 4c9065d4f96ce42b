//! Small tables that a person gives beside the rollouts: CSV, JSON lines, a JSON list of objects, one JSON
//! object of `key: value`, or the summary of a SWE-bench run. Cells are texts; what they mean is decided by who asked.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::error::LoadError;
use super::report::Skipped;
use crate::ingest::RecordErrorKind;
use crate::ingest::decimal::plain;
use crate::ingest::json::{self, Object};
use crate::ingest::verdicts;
use crate::rollout::plural;

/// A table, read whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Name of the file, without its folder.
    pub name: String,
    /// Its path as given.
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<Line>,
    /// Its rows are elements of a list, not lines.
    elements: bool,
    /// Rows that could not be read, and why.
    broken: Vec<(u64, String)>,
    /// The forms that are expected.
    forms: &'static str,
}

/// Where a row stands, from 1, and its cells.
type Line = (u64, Vec<Option<String>>);

/// The columns of a `key: value` object.
const PAIR: [&str; 2] = ["key", "value"];

/// Those of a run summary.
const SUMMARY: [&str; 2] = ["instance_id", "resolved"];

impl Table {
    /// Reads a file; `forms` says what is expected of it.
    pub fn read(path: &Path, forms: &'static str) -> Result<Self, LoadError> {
        let bytes = fs::read(path)
            .map_err(|error| LoadError::Unreadable { path: path.to_owned(), error })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match Self::parse(&name, &bytes) {
            Ok(table) => Ok(Self { forms, path: path.to_owned(), ..table }),
            Err(reason) => {
                Err(LoadError::BadTable { file: path.display().to_string(), reason, forms })
            }
        }
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|e| format!("no UTF-8: {e}"))?;
        let text = text.trim_start_matches('\u{feff}');
        let first = 1 + newlines(text, text.len() - text.trim_start().len());
        let text = text.trim();
        let mut table = Self { name: name.to_owned(), ..Self::default() };
        match text.as_bytes().first() {
            None => return Err("it is empty".to_owned()),
            Some(b'[') => {
                let list: Vec<&RawValue> =
                    serde_json::from_str(text).map_err(|e| broken(&e, first))?;
                table.elements = true;
                for (at, row) in (1..).zip(list) {
                    if let Err(why) = table.object(at, row.get()) {
                        table.broken.push((at, why));
                    }
                }
            }
            Some(b'{') => table.objects(text, first)?,
            Some(_) => table.csv(text, first)?,
        }
        Ok(table)
    }

    fn objects(&mut self, text: &str, first: u64) -> Result<(), String> {
        let whole = Object::parse(text);
        match &whole {
            // One object alone is a summary or a map, unless it has the columns of a row.
            Ok(map) if map.get("rollout").is_none() => return self.map(map, first),
            Ok(_) => {
                return self.object(first, text);
            }
            Err(_) => {}
        }
        for (at, line) in (first..).zip(text.lines()).filter(|(_, l)| !l.trim().is_empty()) {
            if let Err(why) = self.object(at, line) {
                self.broken.push((at, why));
            }
        }
        // Without a line that is an object it was to be one object.
        match whole {
            Err(error) if self.rows.is_empty() => Err(broken(&error, first)),
            _ => Ok(()),
        }
    }

    /// The entries of one object; all of them stand where it begins.
    fn map(&mut self, map: &Object<'_>, first: u64) -> Result<(), String> {
        if let Some(rows) = verdicts::summary_rows(map) {
            self.columns = SUMMARY.map(str::to_owned).to_vec();
            let row = |(id, word): (String, &str)| (first, vec![Some(id), Some(word.to_owned())]);
            self.rows.extend(rows.into_iter().map(row));
            return Ok(());
        }
        self.columns = PAIR.map(str::to_owned).to_vec();
        // A repeated key is two entries: whether they agree is for who asks.
        for (key, value) in map.all() {
            let value = cell(value)?;
            self.rows.push((first, vec![Some(key.to_owned()), value]));
        }
        Ok(())
    }

    fn object(&mut self, at: u64, text: &str) -> Result<(), String> {
        let object = Object::parse(text).map_err(|e| {
            let column = e.column();
            format!("an object was expected: {}, at column {column}", json::complaint(&e))
        })?;
        let mut row = vec![None; self.columns.len()];
        for (name, value) in object.iter() {
            let column = self.columns.iter().position(|c| c == name).unwrap_or_else(|| {
                self.columns.push(name.to_owned());
                self.columns.len() - 1
            });
            row.resize(self.columns.len(), None);
            let value = cell(value)?;
            if let Some(cell) = row.get_mut(column) {
                *cell = value;
            }
        }
        self.rows.push((at, row));
        Ok(())
    }

    fn csv(&mut self, text: &str, first: u64) -> Result<(), String> {
        // The program's own exports begin with a stamp.
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|e| e.to_string())?;
        self.columns = header.iter().map(str::to_owned).collect();
        let (mut seen, mut line) = (0, first);
        for row in reader.records() {
            let row = row.map_err(|e| e.to_string())?;
            let start = row.position().map_or(seen, |p| usize::try_from(p.byte()).unwrap_or(seen));
            let rest = text.get(start..).unwrap_or_default();
            let idle = |l: &&str| l.trim().is_empty() || l.starts_with('#');
            // The parser counts empty lines and comments before a row as its own.
            let skipped: usize = rest.split_inclusive('\n').take_while(idle).map(str::len).sum();
            line += newlines(text.get(seen..).unwrap_or_default(), start + skipped - seen);
            seen = start + skipped;
            let cell = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
            if row.len() != self.columns.len() {
                let why = format!("{} expected, not {}", cells(self.columns.len()), row.len());
                self.broken.push((line, why));
                continue;
            }
            self.rows.push((line, row.iter().map(cell).collect()));
        }
        Ok(())
    }

    /// What its rows are to a reader.
    pub const fn unit(&self) -> &'static str {
        if self.elements { "element" } else { "line" }
    }

    /// Where a row stands, in words.
    pub fn place(&self, number: u64) -> String {
        format!("{} {number}", self.unit())
    }

    /// The first of these columns that is there.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|n| self.columns.iter().position(|c| c.eq_ignore_ascii_case(n)))
    }

    /// All columns, by name.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, in file order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(number, cells)| Row { number: *number, cells })
    }

    /// What is said of a row that cannot be used.
    pub fn skip(&self, number: u64, field: Option<&str>, reason: String) -> Skipped {
        Skipped {
            file: self.name.clone(),
            unit: self.unit(),
            number,
            line: None,
            at: None,
            part: None,
            kind: RecordErrorKind::Unexpected,
            field: field.map(str::to_owned),
            reason,
            hint: None,
            around: false,
        }
    }

    /// The rows that could not be read.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.broken.iter().map(|(number, why)| self.skip(*number, None, why.clone())).collect()
    }

    /// An error about this table.
    pub fn error(&self, reason: impl Into<String>) -> LoadError {
        let file = self.path.display().to_string();
        LoadError::BadTable { file, reason: reason.into(), forms: self.forms }
    }
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'t> {
    /// Its line, or its place in the list, from 1.
    pub number: u64,
    cells: &'t [Option<String>],
}

/// What the parser calls an identifier, in words for people.
const WORD: &str = "a word stands there that is none of true, false and null (a text wants quotes)";

/// What is wrong with JSON that begins on this line.
fn broken(error: &json::Error, first: u64) -> String {
    let line = first + (error.line() as u64).saturating_sub(1);
    let why = json::complaint(error).replace("expected ident", WORD);
    format!("line {line}, column {}: broken JSON: {why}", error.column())
}

/// So many cells were.
fn cells(n: usize) -> String {
    format!("{} {}", plural(n, "cell"), if n == 1 { "was" } else { "were" })
}

/// A cell as text; a number as ids are written, so that `2.0` finds rollout `2`.
fn cell(value: &RawValue) -> Result<Option<String>, String> {
    if value.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return Ok(Some(plain(value.get()).into_owned()));
    }
    Ok(json::text(value).map_err(|e| e.to_string())?.map(String::from))
}

/// Line ends in the first `until` bytes.
fn newlines(text: &str, until: usize) -> u64 {
    text.bytes().take(until).map(|b| u64::from(b == b'\n')).sum()
}

impl<'t> Row<'t> {
    /// Whether two rows say the same.
    pub fn says_as(self, other: Self) -> bool {
        self.cells == other.cells
    }

    /// The text in a column.
    pub fn cell(self, column: Option<usize>) -> Option<&'t str> {
        self.cells.get(column?)?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_ways_to_write_a_table() {
        for text in [
            "rollout,step,state\n7,0,S\n",
            "{\"rollout\":7,\"step\":0,\"state\":\"S\"}\n",
            "[{\"rollout\":\"7\",\"step\":\"0\",\"state\":\"S\"}]",
        ] {
            let table = Table::parse("t", text.as_bytes()).unwrap();
            let row = table.rows().next().unwrap();
            let cell = |name| row.cell(table.column(&[name]));
            assert_eq!((cell("rollout"), cell("step")), (Some("7"), Some("0")), "{text}");
            assert_eq!(cell("state"), Some("S"));
        }
        let text = "\n# stamp\nrollout,step,p\n\n7,0,\"a\nb\"\n# x\n7,1,2\n";
        let table = Table::parse("t", text.as_bytes()).unwrap();
        assert_eq!(table.rows().map(|r| r.number).collect::<Vec<_>>(), [5, 8]);
        let map = Table::parse("t", b"{\"r1\": 1, \"r2\": \"failure\"}").unwrap();
        assert_eq!((map.columns().len(), map.rows().count()), (2, 2));
        let list = Table::parse("t", br#"[{"rollout":2.0,"outcome":1e0,"note":"2.0"}]"#).unwrap();
        let row = list.rows().next().unwrap();
        let cells: Vec<_> = (0..3).map(|at| row.cell(Some(at))).collect();
        assert_eq!(cells, [Some("2"), Some("1"), Some("2.0")]);
        let summary =
            br#"{"resolved_ids":["a",2],"unresolved_ids":["b"],"error_ids":["c"],"total":4}"#;
        let table = Table::parse("t", summary).unwrap();
        let rows: Vec<_> = table.rows().map(|r| (r.cell(Some(0)), r.cell(Some(1)))).collect();
        let told = |id, word| (Some(id), Some(word));
        assert_eq!(
            rows,
            [
                told("c", "error"),
                told("b", "unresolved"),
                told("a", "resolved"),
                told("2", "resolved")
            ]
        );
        let one = Table::parse("t", b"{\n \"rollout\": \"a\",\n \"outcome\": 1\n}").unwrap();
        assert_eq!(one.rows().next().unwrap().cell(one.column(&["outcome"])), Some("1"));
        assert!(Table::parse("t", b"").is_err());
    }
}
