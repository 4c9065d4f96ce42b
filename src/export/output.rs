//! Where an export goes: standard output, or a file that appears only when it is complete.
//!
//! A file is written under a temporary name beside its place and renamed; it never replaces an
//! input, and an existing file only by force.

use std::fs;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::{SpooledTempFile, TempPath};

/// An output that cannot be opened or finished.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file is there already.
    #[error("{} exists; --force writes over it", .0.display())]
    Exists(PathBuf),
    /// The file is one of the inputs.
    #[error("{} is an input; it is never written over", .0.display())]
    Input(PathBuf),
    /// There is something that is no file.
    #[error("{} is not a file", .0.display())]
    NoFile(PathBuf),
    /// No file can be made in its folder.
    #[error("cannot write {}: the folder {} {reason}", path.display(), folder.display())]
    Folder {
        /// Where.
        path: PathBuf,
        /// The folder of it.
        folder: PathBuf,
        /// What is wrong with the folder.
        reason: String,
    },
    /// Writing failed; the error names the file.
    #[error("cannot write {0}")]
    Writing(io::Error),
    /// It cannot be finished.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

enum Target {
    Stdout(BufWriter<io::Stdout>),
    File {
        /// Without its temporary name, which is nothing to a person who reads an error.
        temp: BufWriter<fs::File>,
        place: TempPath,
        path: PathBuf,
        force: bool,
    },
}

/// An open output.
pub struct Output(Target);

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Output").finish_non_exhaustive()
    }
}

impl Output {
    /// Opens standard output, or a file. `inputs` are never written over.
    pub fn open<'a>(
        path: Option<&Path>,
        force: bool,
        inputs: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Self, OutputError> {
        let Some(path) = path.filter(|p| p.as_os_str() != "-") else {
            return Ok(Self(Target::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))));
        };
        let fail = |error| OutputError::Io { path: path.to_owned(), error };
        if let Ok(real) = fs::canonicalize(path) {
            let is_input = |input: &&PathBuf| fs::canonicalize(input).is_ok_and(|i| i == real);
            if inputs.into_iter().any(|i| is_input(&i)) {
                return Err(OutputError::Input(path.to_owned()));
            }
            if !fs::metadata(&real).map_err(fail)?.is_file() {
                return Err(OutputError::NoFile(path.to_owned()));
            }
            if !force {
                return Err(OutputError::Exists(path.to_owned()));
            }
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".credscope-");
        // As any new file: readable by whom the user's mask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temp = builder.tempfile_in(folder).map_err(|error| {
            let reason = match error.kind() {
                io::ErrorKind::NotFound => "does not exist".to_owned(),
                io::ErrorKind::NotADirectory => "is not a folder".to_owned(),
                _ => format!("takes no new file: {}", io::Error::from(error.kind())),
            };
            OutputError::Folder { path: path.to_owned(), folder: folder.to_owned(), reason }
        })?;
        let (temp, place) = temp.into_parts();
        Ok(Self(Target::File {
            temp: BufWriter::with_capacity(1 << 16, temp),
            place,
            path: path.to_owned(),
            force,
        }))
    }

    /// Whether this is a file.
    #[must_use]
    pub const fn is_file(&self) -> bool {
        matches!(self.0, Target::File { .. })
    }

    /// Makes the file appear, complete.
    pub fn commit(self) -> Result<(), OutputError> {
        match self.0 {
            Target::Stdout(mut out) => out
                .flush()
                .map_err(|error| OutputError::Io { path: "standard output".into(), error }),
            Target::File { temp, place, path, force } => {
                let fail = |error| OutputError::Io { path: path.clone(), error };
                drop(temp.into_inner().map_err(|e| fail(e.into_error()))?);
                if force {
                    place.persist(&path).map_err(|e| fail(e.error))?;
                } else {
                    place.persist_noclobber(&path).map_err(|e| {
                        if e.error.kind() == io::ErrorKind::AlreadyExists {
                            OutputError::Exists(path.clone())
                        } else {
                            fail(e.error)
                        }
                    })?;
                }
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Target::Stdout(out) => out.write(bytes),
            Target::File { temp, path, .. } => temp.write(bytes).map_err(|e| of_file(path, &e)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Stdout(out) => out.flush(),
            Target::File { temp, path, .. } => temp.flush().map_err(|e| of_file(path, &e)),
        }
    }
}

/// An error about a file with the name that it is to have.
fn of_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Bytes that [`Later`] keeps in memory.
const IN_MEMORY: usize = 1 << 20;

/// What is written now and goes out later, since something else stands before it: in memory where it is
/// short, else in an unlinked temporary file.
#[derive(Debug)]
pub struct Later(BufWriter<SpooledTempFile>);

impl Default for Later {
    fn default() -> Self {
        Self(BufWriter::new(SpooledTempFile::new(IN_MEMORY)))
    }
}

impl Later {
    /// Writes out all of it, but for one line end that it begins with where `trimmed`.
    pub fn give(self, out: &mut dyn Write, trimmed: bool) -> io::Result<()> {
        let mut all = self.0.into_inner().map_err(|e| of_temporary(&e.into_error()))?;
        all.rewind()?;
        let mut first = [0];
        if all.read(&mut first)? == 1 && !(trimmed && first == *b"\n") {
            out.write_all(&first)?;
        }
        io::copy(&mut all, out)?;
        Ok(())
    }
}

impl Write for Later {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|e| of_temporary(&e))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|e| of_temporary(&e))
    }
}

/// The place of the trouble, which the output's own errors do not have.
fn of_temporary(error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("a temporary file in {}: {error}", std::env::temp_dir().display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_takes_no_file_is_told_with_the_path_as_typed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        for (folder, reason) in [("none", "does not exist"), ("file", "is not a folder")] {
            let folder = dir.path().join(folder);
            let path = folder.join("out.jsonl");
            let told = Output::open(Some(&path), false, []).unwrap_err().to_string();
            let (path, folder) = (path.display(), folder.display());
            assert_eq!(told, format!("cannot write {path}: the folder {folder} {reason}"));
        }
    }

    #[test]
    fn no_error_of_a_file_has_its_temporary_name() {
        let dir = tempfile::tempdir().unwrap();
        let (place, path) = (dir.path().join("temporary"), dir.path().join("out.csv"));
        fs::write(&place, "").unwrap();
        // It can be read only: what is written to it does not arrive.
        let temp = BufWriter::new(fs::File::open(&place).unwrap());
        let place = TempPath::try_from_path(&place).unwrap();
        let mut out = Output(Target::File { temp, place, path: path.clone(), force: false });
        out.write_all(b"a line\n").unwrap();
        let told = out.flush().unwrap_err().to_string();
        assert!(told.starts_with(&format!("{}: ", path.display())), "{told}");
        assert!(!told.contains("temporary"), "{told}");
        let told = out.commit().unwrap_err().to_string();
        assert!(told.starts_with(&format!("cannot write {}: ", path.display())), "{told}");
        assert!(!path.exists() && !dir.path().join("temporary").exists());
    }

    #[test]
    fn what_waits_comes_out_whole_however_long_it_is() {
        for (text, trimmed, expected) in [
            (String::new(), true, String::new()),
            ("\n\na\n".to_owned(), true, "\na\n".to_owned()),
            ("\na".to_owned(), false, "\na".to_owned()),
            ("a\n".to_owned(), true, "a\n".to_owned()),
            ("xy\n".repeat(IN_MEMORY), false, "xy\n".repeat(IN_MEMORY)),
        ] {
            let mut later = Later::default();
            later.write_all(text.as_bytes()).unwrap();
            let mut out = Vec::new();
            later.give(&mut out, trimmed).unwrap();
            assert!(out == expected.as_bytes(), "{} bytes", text.len());
        }
    }
}
