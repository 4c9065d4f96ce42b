//! From what was given to a list of files: folders walked without loops, standard input spooled,
//! names that are short, unique, and never absolute paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::LoadError;
use super::report::{FileVerdict, VerdictKind};
use crate::rollout::natural;

/// A part of a file without a name.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The file.
    pub file: Arc<File>,
    /// Where it starts.
    pub start: u64,
    /// Its length.
    pub len: u64,
}

/// Where an input's bytes are.
#[derive(Debug, Clone)]
pub enum Content {
    /// A file that can be read again.
    Path(PathBuf),
    /// A stream or an unpacked file, spooled to a file without a name.
    Spool(Slice),
}

impl Content {
    /// Runs with the file, the place where the content starts in it, and its length.
    pub fn with<T>(&self, run: impl FnOnce(&File, u64, u64) -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Path(path) => {
                let file = File::open(path)?;
                let len = file.metadata()?.len();
                run(&file, 0, len)
            }
            Self::Spool(slice) => run(&slice.file, slice.start, slice.len),
        }
    }
}

/// One thing to read.
#[derive(Debug, Clone)]
pub struct Input {
    /// Name for people and exports.
    pub name: String,
    /// Its bytes.
    pub content: Content,
    /// It was named by the person, not found in a folder.
    pub named: bool,
    /// Folders and name, joined by `/`, for readers and joins; empty for a stream.
    pub place: String,
    /// The file on disk that it is, or that it came out of.
    pub origin: Option<PathBuf>,
    /// What an archive says about all of its members.
    pub header: Option<Arc<str>>,
    /// What was wrong with it on the way.
    pub problem: Option<String>,
}

/// Opens a stream; that of a pipe waits for somebody who writes to it.
pub type OpenStream = Box<dyn FnOnce() -> io::Result<Box<dyn io::Read + Send>> + Send>;

/// Copies a stream to a file.
pub type Keep<'a> = dyn FnMut(OpenStream, &Path) -> io::Result<Slice> + 'a;

struct Found {
    path: PathBuf,
    /// How many trailing components make the name.
    tail: usize,
    named: bool,
    spool: Option<Slice>,
}

/// The inputs behind the given paths, sorted by name; a path that cannot be read costs itself, unless
/// it is the only one. What can be read once only goes through `keep`, with its path.
pub fn inputs(
    paths: &[PathBuf],
    keep: &mut Keep<'_>,
) -> Result<(Vec<Input>, Vec<FileVerdict>), LoadError> {
    if paths.is_empty() {
        return Err(LoadError::NothingGiven);
    }
    let mut found: Vec<Found> = Vec::new();
    let mut seen_dirs = BTreeSet::new();
    let (mut lost, mut passed) = (Vec::new(), Vec::new());
    for path in paths {
        // With several things given, a folder's own name tells its files from the others'.
        let depth = usize::from(paths.len() > 1);
        let mut walk =
            Walk { seen: &mut seen_dirs, found: &mut found, passed: &mut passed, keep: &mut *keep };
        if let Err(error) = walk.look_up(path, depth) {
            lost.push(LoadError::Unreadable { path: path.clone(), error });
        }
    }
    if lost.len() == paths.len() {
        return Err(lost.into_iter().next().unwrap_or(LoadError::NothingGiven));
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
            place: match &f.spool {
                Some(_) => String::new(),
                None => f.path.to_string_lossy().replace('\\', "/"),
            },
            origin: f.spool.is_none().then(|| f.path.clone()),
            content: match f.spool {
                Some(slice) => Content::Spool(slice),
                None => Content::Path(f.path),
            },
            header: None,
            problem: None,
        })
        .collect();
    inputs.sort_by(|a, b| natural(&a.name, &b.name));
    passed.extend(lost.iter().map(verdict));
    Ok((inputs, passed))
}

fn verdict(error: &LoadError) -> FileVerdict {
    let (path, reason) = match error {
        LoadError::Unreadable { path, error } => (path.as_path(), error.to_string()),
        other => (Path::new("-"), other.to_string()),
    };
    // Reports hold no absolute paths.
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    FileVerdict { name, named: true, reason, hint: error.hint(), kind: VerdictKind::Lost }
}

/// Walks through what was given.
struct Walk<'w, 'k> {
    /// Folders that were walked.
    seen: &'w mut BTreeSet<PathBuf>,
    found: &'w mut Vec<Found>,
    /// What lies in a folder and cannot be read.
    passed: &'w mut Vec<FileVerdict>,
    /// What can be read once only goes through it.
    keep: &'w mut Keep<'k>,
}

impl Walk<'_, '_> {
    /// Finds what a path that was given stands for.
    fn look_up(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        if path.as_os_str() == "-" {
            let open: OpenStream = Box::new(|| Ok(Box::new(io::stdin())));
            let spool = (self.keep)(open, Path::new("stdin"))?;
            let path = "stdin".into();
            self.found.push(Found { path, tail: 1, named: true, spool: Some(spool) });
            return Ok(());
        }
        let meta = fs::metadata(path).map_err(|error| dangling(path, error))?;
        if !meta.is_dir() && !meta.is_file() {
            // A pipe (`<(zcat …)`) can be read once only, and its real name leads nowhere.
            let pipe = path.to_path_buf();
            let open: OpenStream = Box::new(move || Ok(Box::new(File::open(pipe)?)));
            let spool = (self.keep)(open, path)?;
            let path = PathBuf::from(path.file_name().unwrap_or(path.as_os_str()));
            self.found.push(Found { path, tail: 1, named: true, spool: Some(spool) });
            return Ok(());
        }
        let real = fs::canonicalize(path)?;
        if meta.is_dir() {
            return self.walk(&real, depth);
        }
        self.found.push(Found { path: real, tail: 1, named: true, spool: None });
        Ok(())
    }

    /// All regular files under `dir`; a folder that is reached twice is walked once.
    fn walk(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        if !self.seen.insert(dir.to_path_buf()) {
            return Ok(());
        }
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(dir)? {
            entries.push(entry?.path());
        }
        entries.sort();
        for entry in entries {
            if entry.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.')) {
                continue;
            }
            if let Err(error) = self.entry(&entry, depth) {
                // What cannot be read does not cost the others.
                let reason = format!("cannot be read: {}", dangling(&entry, error));
                self.pass(&entry, depth, reason, VerdictKind::Lost);
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Path, depth: usize) -> io::Result<()> {
        let real = fs::canonicalize(entry)?;
        let meta = fs::metadata(&real)?;
        if meta.is_dir() {
            if let Err(error) = self.walk(&real, depth + 1) {
                let name = format!("{}/", tail(entry, depth + 1));
                let reason = format!("cannot be listed: {error}");
                let kind = VerdictKind::Lost;
                self.passed.push(FileVerdict { name, named: false, reason, hint: None, kind });
            }
        } else if meta.is_file() {
            self.found.push(Found { path: real, tail: depth + 1, named: false, spool: None });
        } else {
            let reason = "a pipe or a device; it is read where it is named".to_owned();
            self.pass(entry, depth, reason, VerdictKind::Unknown);
        }
        Ok(())
    }

    fn pass(&mut self, entry: &Path, depth: usize, reason: String, kind: VerdictKind) {
        let name = tail(entry, depth + 1);
        self.passed.push(FileVerdict { name, named: false, reason, hint: None, kind });
    }
}

/// An error about a link that leads nowhere says so.
fn dangling(path: &Path, error: io::Error) -> io::Error {
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => {
            let target = target.file_name().unwrap_or(target.as_os_str()).to_string_lossy();
            io::Error::new(error.kind(), format!("a link to `{target}`, which is not there"))
        }
        _ => error,
    }
}

/// Copies a stream to a file that has no name and vanishes with the program.
pub fn spool(from: &mut dyn io::Read) -> io::Result<Slice> {
    let mut file = tempfile::tempfile()?;
    let len = io::copy(from, &mut file)?;
    Ok(Slice { file: Arc::new(file), start: 0, len })
}

/// Trailing components of the paths, more of them where names would be equal.
fn unique_names(found: &mut [Found]) -> Vec<String> {
    loop {
        let names: Vec<String> = found.iter().map(|f| tail(&f.path, f.tail)).collect();
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &names {
            *count.entry(name).or_default() += 1;
        }
        let mut grown = false;
        for (f, name) in found.iter_mut().zip(&names) {
            let twice = count.get(name.as_str()).is_some_and(|&n| n > 1);
            if twice && tail(&f.path, f.tail + 1) != *name {
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
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = names.into_iter().map(|name| {
        let nth = seen.entry(name.clone()).or_default();
        *nth += 1;
        if *nth == 1 { name } else { format!("{name}#{nth}") }
    });
    numbered.collect()
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

    fn given(paths: &[PathBuf]) -> Result<(Vec<Input>, Vec<FileVerdict>), LoadError> {
        inputs(paths, &mut |open, _| spool(&mut *open()?))
    }

    fn names(paths: &[PathBuf]) -> Vec<String> {
        given(paths).unwrap().0.into_iter().map(|i| i.name).collect()
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
        assert!(matches!(given(&[at("none")]), Err(LoadError::Unreadable { .. })));
        let (rest, lost) = given(&[at("none"), at("a/r.jsonl")]).unwrap();
        assert_eq!((rest.len(), lost.len(), lost[0].name.as_str()), (1, 1, "none"));
    }
}
