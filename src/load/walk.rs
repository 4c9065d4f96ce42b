//! From what was given to a list of files: folders walked without loops, standard input spooled,
//! names that are short, unique, and never absolute paths.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::error::LoadError;
use crate::rollout::natural;

/// Where an input's bytes are.
#[derive(Debug)]
pub enum Content {
    /// A file that can be read again.
    Path(PathBuf),
    /// A stream, spooled to a file without a name.
    Spool(File),
}

/// One thing to read.
#[derive(Debug)]
pub struct Input {
    /// Name for people and exports.
    pub name: String,
    /// Its bytes.
    pub content: Content,
    /// It was named by the person, not found in a folder.
    pub named: bool,
}

struct Found {
    path: PathBuf,
    /// How many trailing components make the name.
    tail: usize,
    named: bool,
    spool: Option<File>,
}

/// The inputs behind the given paths, sorted by name.
pub fn inputs(paths: &[PathBuf]) -> Result<Vec<Input>, LoadError> {
    if paths.is_empty() {
        return Err(LoadError::NothingGiven);
    }
    let mut found: Vec<Found> = Vec::new();
    let mut seen_dirs = BTreeSet::new();
    for path in paths {
        let unreadable = |error| LoadError::Unreadable { path: path.clone(), error };
        if path.as_os_str() == "-" {
            let spool = spool(&mut io::stdin().lock()).map_err(unreadable)?;
            found.push(Found { path: "stdin".into(), tail: 1, named: true, spool: Some(spool) });
            continue;
        }
        let meta = fs::metadata(path).map_err(unreadable)?;
        if !meta.is_dir() && !meta.is_file() {
            // A pipe (`<(zcat …)`) can be read once only, and its real name leads nowhere.
            let spool = File::open(path).and_then(|mut f| spool(&mut f)).map_err(unreadable)?;
            let path = PathBuf::from(path.file_name().unwrap_or(path.as_os_str()));
            found.push(Found { path, tail: 1, named: true, spool: Some(spool) });
            continue;
        }
        let real = fs::canonicalize(path).map_err(unreadable)?;
        if meta.is_dir() {
            // With several things given, a folder's own name tells its files from the others'.
            let depth = usize::from(paths.len() > 1);
            walk(&real, depth, &mut seen_dirs, &mut found).map_err(unreadable)?;
        } else {
            found.push(Found { path: real, tail: 1, named: true, spool: None });
        }
    }
    // A file that was given twice is one file.
    let mut once = BTreeSet::new();
    found.retain(|f| f.spool.is_some() || once.insert(f.path.clone()));
    let names = unique_names(&mut found);
    let mut inputs: Vec<Input> = found
        .into_iter()
        .zip(names)
        .map(|(f, name)| Input {
            name,
            named: f.named,
            content: match f.spool {
                Some(file) => Content::Spool(file),
                None => Content::Path(f.path),
            },
        })
        .collect();
    inputs.sort_by(|a, b| natural(&a.name, &b.name));
    Ok(inputs)
}

/// Copies a stream to a file that has no name and vanishes with the program.
fn spool(from: &mut dyn io::Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(from, &mut file)?;
    Ok(file)
}

/// All regular files under `dir`; a folder that is reached twice is walked once.
fn walk(
    dir: &Path,
    depth: usize,
    seen: &mut BTreeSet<PathBuf>,
    found: &mut Vec<Found>,
) -> io::Result<()> {
    if !seen.insert(dir.to_path_buf()) {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(dir)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        // What cannot be resolved (a dangling link) is no file.
        let (false, Ok(real)) = (hidden, fs::canonicalize(&entry)) else { continue };
        let Ok(meta) = fs::metadata(&real) else { continue };
        if meta.is_dir() {
            // A folder in a folder that cannot be listed does not cost the others.
            let _ = walk(&real, depth + 1, seen, found);
        } else if meta.is_file() {
            found.push(Found { path: real, tail: depth + 1, named: false, spool: None });
        }
    }
    Ok(())
}

/// Trailing components of the paths, more of them where names would be equal.
fn unique_names(found: &mut [Found]) -> Vec<String> {
    loop {
        let names: Vec<String> = found.iter().map(|f| tail(&f.path, f.tail)).collect();
        let mut grown = false;
        for (at, name) in names.iter().enumerate() {
            let twice = names.iter().enumerate().any(|(other, n)| other != at && n == name);
            if let Some(f) = found.get_mut(at).filter(|_| twice)
                && tail(&f.path, f.tail + 1) != *name
            {
                f.tail += 1;
                grown = true;
            }
        }
        if !grown {
            return number_equal(names);
        }
    }
}

fn number_equal(names: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let before =
            out.iter().filter(|n| **n == name || n.starts_with(&format!("{name}#"))).count();
        out.push(if before == 0 { name } else { format!("{name}#{}", before + 1) });
    }
    out
}

fn tail(path: &Path, count: usize) -> String {
    let parts: Vec<String> = path
        .components()
        .filter_map(|c| match c {
            std::path::Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    let skip = parts.len().saturating_sub(count);
    parts.get(skip..).unwrap_or_default().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[PathBuf]) -> Vec<String> {
        inputs(paths).unwrap().into_iter().map(|i| i.name).collect()
    }

    #[test]
    fn folders_are_walked_once_and_names_stay_short() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p);
        for sub in ["a", "b", ".hidden"] {
            fs::create_dir(at(sub)).unwrap();
            fs::write(at(sub).join("r.jsonl"), "{}").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), at("a/loop")).unwrap();
        assert_eq!(names(&[dir.path().into()]), ["a/r.jsonl", "b/r.jsonl"]);
        assert_eq!(names(&[at("a/r.jsonl")]), ["r.jsonl"]);
        assert_eq!(
            names(&[at("b/r.jsonl"), at("a/r.jsonl"), at("a/r.jsonl")]),
            ["a/r.jsonl", "b/r.jsonl"]
        );
        assert!(matches!(inputs(&[at("none")]), Err(LoadError::Unreadable { .. })));
    }
}
