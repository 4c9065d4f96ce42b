//! Small tables that a person gives beside the rollouts: CSV, JSON lines, a JSON list of objects, or
//! one JSON object of `key: value`. Cells are texts; what they mean is decided by who asked.

use std::fs;
use std::path::Path;

use serde_json::value::RawValue;

use super::error::LoadError;
use crate::ingest::json::{self, Object};

/// A table, read whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Name of the file, without its folder.
    pub name: String,
    columns: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
}

/// The columns of a `key: value` object.
const PAIR: [&str; 2] = ["key", "value"];

impl Table {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let bytes = fs::read(path)
            .map_err(|error| LoadError::Unreadable { path: path.to_owned(), error })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self::parse(&name, &bytes).map_err(|reason| LoadError::BadTable { file: name, reason })
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|e| format!("no UTF-8: {e}"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        let mut table = Self { name: name.to_owned(), ..Self::default() };
        match text.as_bytes().first() {
            None => return Err("it is empty".to_owned()),
            Some(b'[') => {
                let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| e.to_string())?;
                for (at, row) in list.into_iter().enumerate() {
                    table.object(row.get()).map_err(|e| format!("element {}: {e}", at + 1))?;
                }
            }
            Some(b'{') => table.objects(text)?,
            Some(_) => table.csv(text)?,
        }
        Ok(table)
    }

    fn objects(&mut self, text: &str) -> Result<(), String> {
        // One object alone is a map, unless it has the columns of a row.
        if let Ok(map) = Object::parse(text)
            && map.get("rollout").is_none()
        {
            self.columns = PAIR.map(str::to_owned).to_vec();
            for (key, value) in map.iter() {
                let value = json::text(value).map_err(|e| e.to_string())?.map(String::from);
                self.rows.push(vec![Some(key.to_owned()), value]);
            }
            return Ok(());
        }
        for (at, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            self.object(line).map_err(|e| format!("line {}: {e}", at + 1))?;
        }
        Ok(())
    }

    fn object(&mut self, text: &str) -> Result<(), String> {
        let object = Object::parse(text).map_err(|e| format!("an object was expected: {e}"))?;
        let mut row = vec![None; self.columns.len()];
        for (name, value) in object.iter() {
            let at = self.columns.iter().position(|c| c == name).unwrap_or_else(|| {
                self.columns.push(name.to_owned());
                self.columns.len() - 1
            });
            row.resize(self.columns.len(), None);
            let value = json::text(value).map_err(|e| e.to_string())?.map(String::from);
            if let Some(cell) = row.get_mut(at) {
                *cell = value;
            }
        }
        self.rows.push(row);
        Ok(())
    }

    fn csv(&mut self, text: &str) -> Result<(), String> {
        // The program's own exports begin with a stamp.
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|e| e.to_string())?;
        self.columns = header.iter().map(str::to_owned).collect();
        for row in reader.records() {
            let row = row.map_err(|e| e.to_string())?;
            let cell = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
            self.rows.push(row.iter().map(cell).collect());
        }
        Ok(())
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
        self.rows.iter().map(|cells| Row(cells))
    }

    /// An error about this table.
    pub fn error(&self, reason: impl Into<String>) -> LoadError {
        LoadError::BadTable { file: self.name.clone(), reason: reason.into() }
    }
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'t>(&'t [Option<String>]);

impl<'t> Row<'t> {
    /// The text in a column.
    pub fn cell(self, column: Option<usize>) -> Option<&'t str> {
        self.0.get(column?)?.as_deref()
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
        let map = Table::parse("t", b"{\"r1\": 1, \"r2\": \"failure\"}").unwrap();
        assert_eq!((map.columns().len(), map.rows().count()), (2, 2));
        assert!(Table::parse("t", b"").is_err());
    }
}
