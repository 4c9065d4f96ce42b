//! Opens what is packed: `.gz` and `.zst` become their content, a zip (an Inspect `.eval` is one)
//! and a tar become their members. The content goes to unlinked temporary files that live as long as
//! the load, so that texts can be read again; nothing is held in memory, and an archive that is made
//! to fill a disk is refused.
//!
//! It knows containers by their first bytes and no rollout format.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::gzip::{WrongChecksum, gunzip, is_wrong_checksum};
use super::read_at::{Cursor, read_range, write_all_at};
use super::report::{FileVerdict, VerdictKind};
use super::walk::{Content, Input, Slice};
use super::zipped::{self, Archive};
use super::zstd::{is_zstd, unzstd};
use crate::rollout::plural;

/// What is said of a tar that stops between two members.
const UNENDED: &str = "the archive has no end mark: members after the last one may be missing";

/// The end of a packed file that is cut can be read as far as it goes; this says so.
const CUT: &str = "the packed file is cut; read as far as it goes";

/// A temporary file that unpacked content is appended to. One per thread.
#[derive(Debug, Default)]
pub struct Spool {
    file: Option<Arc<File>>,
    len: u64,
    /// As long as the file may become with the input at hand.
    allowed: u64,
    cancel: Option<Arc<AtomicBool>>,
}

/// What one input may unpack to in any case, and beyond that as a multiple of its size: rollouts that
/// repeat themselves at every step stay below a hundred.
const FREE: u64 = 256 << 20;
const RATIO: u64 = 300;

/// Packed files in packed files are opened this deep.
const DEPTH: u32 = 4;

impl Spool {
    /// An empty one; unpacking stops soon after `cancel` is set.
    pub fn new(cancel: Option<Arc<AtomicBool>>) -> Self {
        Self { cancel, ..Self::default() }
    }

    /// What is unpacked from now on comes out of an input of this size.
    fn allow(&mut self, packed: u64) {
        self.allowed = self.len + packed.saturating_mul(RATIO).max(FREE);
    }

    /// Copies a stream; what comes before an error stays, with the error.
    pub fn add(&mut self, from: &mut dyn Read) -> io::Result<(Slice, Option<io::Error>)> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::clone(self.file.insert(Arc::new(tempfile::tempfile()?))),
        };
        let start = self.len;
        let mut buffer = vec![0; 1 << 17];
        let mut trouble = None;
        loop {
            if self.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed)) {
                return Err(io::Error::other("cancelled"));
            }
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) if self.len + n as u64 > self.allowed => {
                    // Nothing more of this input: its other members would go the same way.
                    (self.len, self.allowed) = (start, 0);
                    file.set_len(start)?;
                    return Err(io::Error::other(format!(
                        "it unpacks to more than {} MB and {RATIO} times its size, as only archives do that \
                         are made to fill a disk",
                        FREE >> 20
                    )));
                }
                Ok(n) => {
                    write_all_at(&file, buffer.get(..n).unwrap_or_default(), self.len)?;
                    self.len += n as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    trouble = Some(error);
                    break;
                }
            }
        }
        Ok((Slice { file, start, len: self.len - start }, trouble))
    }
}

/// What an input became: itself, its content, its members, or the reason why it cannot be opened.
pub type Unpacked = Vec<Result<Input, FileVerdict>>;

/// Opens an input where it is packed; a packed file in a packed one is opened as well.
pub fn unpack(input: Input, spool: &mut Spool) -> Unpacked {
    spool.allow(input.content.with(|_, _, len| Ok(len)).unwrap_or_default());
    open(input, spool, DEPTH)
}

/// Where a tar says that it is one.
const TAR: std::ops::Range<usize> = 257..262;

fn open(input: Input, spool: &mut Spool, depth: u32) -> Unpacked {
    let head = match input.content.with(|file, start, _| read_range(file, start, TAR.end)) {
        Ok(head) => head,
        Err(error) => return vec![Err(refused(&input, &format!("cannot be read: {error}"), None))],
    };
    let packed = matches!(head.as_slice(), [0x1f, 0x8b, ..]) || is_zstd(&head) || is_zip(&head);
    let tar = head.get(TAR) == Some(b"ustar");
    if (packed || tar) && depth == 0 {
        let hint = "unpack it and give what is in it".to_owned();
        let reason = format!("is packed more than {DEPTH} times over");
        return vec![Err(refused(&input, &reason, Some(hint)))];
    }
    let done = match head.as_slice() {
        [0x1f, 0x8b, ..] => stream(&input, spool, &[".gz", ".gzip", ".tgz"], gunzip, depth - 1),
        head if is_zstd(head) => stream(&input, spool, &[".zst", ".zstd"], unzstd, depth - 1),
        head if is_zip(head) => members(&input, spool, depth - 1),
        _ if tar => tar_members(&input, spool, depth - 1),
        _ => return vec![Ok(input)],
    };
    done.unwrap_or_else(|error| {
        let hint = "check the file, or unpack it and give what is in it".to_owned();
        vec![Err(refused(&input, &format!("cannot be unpacked: {error}"), Some(hint)))]
    })
}

fn refused(input: &Input, reason: &str, hint: Option<String>) -> FileVerdict {
    FileVerdict {
        name: input.name.clone(),
        named: input.named,
        reason: reason.to_owned(),
        hint,
        kind: VerdictKind::Lost,
    }
}

fn is_zip(head: &[u8]) -> bool {
    head.starts_with(&zipped::MEMBER)
}

/// What is wrong with a stream that ends before its end.
fn cut_or_damaged(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CUT.to_owned(),
        _ if is_wrong_checksum(error) => format!("the packed file is damaged: {error}"),
        _ => format!("the packed file is damaged ({error}); read as far as it goes"),
    }
}

type Decode = for<'r> fn(Box<dyn Read + 'r>) -> Box<dyn Read + 'r>;

/// A file with one stream in it: it keeps its name, its place loses the packer's ending.
fn stream(
    input: &Input,
    spool: &mut Spool,
    endings: &[&str],
    decode: Decode,
    depth: u32,
) -> io::Result<Unpacked> {
    let (slice, trouble) = input
        .content
        .with(|file, at, len| spool.add(&mut *decode(Box::new(Cursor { file, at }.take(len)))))?;
    if let Some(error) = trouble.as_ref().filter(|_| slice.len == 0) {
        return Err(io::Error::other(error.to_string()));
    }
    let bare =
        |name: &str| endings.iter().find_map(|e| name.strip_suffix(e)).unwrap_or(name).to_owned();
    let inner = Input {
        place: bare(&input.place),
        content: Content::Spool(slice),
        problem: trouble.map(|e| cut_or_damaged(&e)).or_else(|| input.problem.clone()),
        ..input.clone()
    };
    // A name stays what was given; `run.jsonl.gz` and `run.jsonl` may stand side by side.
    Ok(open(inner, spool, depth))
}

/// The members of a zip, each a source of its own named `archive.zip!member`.
fn members(input: &Input, spool: &mut Spool, depth: u32) -> io::Result<Unpacked> {
    input.content.with(|file, start, len| {
        let (mut zip, names) = Archive::open(file, start, len, spool)?;
        let names: Vec<(usize, String)> =
            names.into_iter().map(|name| name.replace('\\', "/")).enumerate().collect();
        let (mut out, mut header) = (Vec::new(), None);
        for wanted in ["header.json", "_journal/start.json"] {
            let Some(&(at, _)) = names.iter().find(|(_, name)| name == wanted) else { continue };
            let (text, trouble) = zip.text(at);
            if let Some(error) = trouble {
                let name = format!("{}!{wanted}", input.name);
                out.push(Err(damaged(name, &format!("this member is damaged: {error}"))));
            }
            header = text.map(Arc::<str>::from);
            if header.is_some() {
                break;
            }
        }
        // With a header the samples are the rollouts; the rest sums them up.
        let samples = header.is_some() || names.iter().any(|(_, n)| n == "header.json");
        let wanted = |name: &str| {
            !name.ends_with('/')
                && !name.split('/').any(hidden)
                && (!samples || name.starts_with("samples/"))
        };
        let place = input.place.strip_suffix(".zip").unwrap_or(&input.place);
        let (mut whole, mut torn) = (0, 0);
        for (at, name) in names.into_iter().filter(|(_, name)| wanted(name)) {
            let inner = Input {
                name: format!("{}!{name}", input.name),
                place: format!("{place}/{name}"),
                header: header.clone(),
                named: false,
                ..input.clone()
            };
            match zip.member(at, spool) {
                Ok((slice, trouble)) => {
                    (whole, torn) = (
                        whole + usize::from(trouble.is_none()),
                        torn + usize::from(trouble.is_some()),
                    );
                    let problem = trouble.map(|e| format!("this member is damaged: {}", told(&e)));
                    let problem = problem.or_else(|| input.problem.clone());
                    out.extend(open(
                        Input { content: Content::Spool(slice), problem, ..inner },
                        spool,
                        depth,
                    ));
                }
                Err(error) => {
                    torn += 1;
                    out.push(Err(damaged(inner.name, &format!("cannot be unpacked: {error}"))));
                }
            }
        }
        if out.is_empty() {
            out.push(Err(refused(input, "zip archive; it holds no files", None)));
        } else if zip.is_torn() {
            let torn = if torn > 0 { format!(", {torn} damaged") } else { String::new() };
            let reason = format!(
                "zip archive without its end: {} found by their headers{torn}; what stood behind \
                 them is lost",
                plural(whole, "whole member")
            );
            out.push(Err(damaged(input.name.clone(), &reason)));
        }
        Ok(out)
    })
}

/// What of an archive that was opened is not there.
fn damaged(name: String, reason: &str) -> FileVerdict {
    let hint = Some("pack or download it again".to_owned());
    let (named, kind) = (false, VerdictKind::Damaged);
    FileVerdict { name, named, reason: reason.to_owned(), hint, kind }
}

/// An error in the words of a person who has a file that ends too early.
fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut".to_owned(),
        // What the zip library says when all is unpacked.
        _ if error.to_string() == "Invalid checksum" => WrongChecksum.to_string(),
        _ => error.to_string(),
    }
}

/// Names that a walk through a folder leaves out as well.
fn hidden(part: &str) -> bool {
    part.starts_with('.') || part == "__MACOSX"
}

/// The members of a tar: parts of it, read where they stand.
fn tar_members(input: &Input, spool: &mut Spool, depth: u32) -> io::Result<Unpacked> {
    let whole = match &input.content {
        Content::Path(path) => Arc::new(File::open(path)?),
        Content::Spool(slice) => Arc::clone(&slice.file),
    };
    let place = input.place.strip_suffix(".tar").unwrap_or(&input.place);
    let mut out = Vec::new();
    input.content.with(|file, start, len| {
        let window = Window { file, start, len, at: 0 };
        let mut archive = tar::Archive::new(window);
        let (mut end, mut torn) = (0, false);
        for entry in archive.entries_with_seek()? {
            // A tar that is cut holds its members up to there.
            let Ok(entry) = entry else {
                let read = !out.is_empty();
                let verdict = damaged(input.name.clone(), CUT);
                out.push(Err(FileVerdict { named: input.named && !read, ..verdict }));
                torn = true;
                break;
            };
            let stored = entry.header().entry_size().unwrap_or_else(|_| entry.size());
            end = (entry.raw_file_position() + stored).next_multiple_of(512);
            let name = String::from_utf8_lossy(&entry.path_bytes()).replace('\\', "/");
            let name = name.trim_start_matches("./");
            if !entry.header().entry_type().is_file() || name.split('/').any(hidden) {
                continue;
            }
            let (at, size) = (entry.raw_file_position(), entry.size());
            let there = size.min(len.saturating_sub(at));
            let slice = Slice { file: Arc::clone(&whole), start: start + at, len: there };
            let inner = Input {
                name: format!("{}!{name}", input.name),
                place: format!("{place}/{name}"),
                content: Content::Spool(slice),
                problem: (there < size).then(|| CUT.to_owned()).or_else(|| input.problem.clone()),
                named: false,
                ..input.clone()
            };
            out.extend(open(inner, spool, depth));
        }
        // A block of zeros ends a tar: without it, it may be cut between two members.
        let block = read_range(file, start + end, 512.min(len.saturating_sub(end)) as usize)?;
        if !torn && end <= len && (block.len() < 512 || block.iter().any(|&b| b != 0)) {
            let verdict = damaged(input.name.clone(), UNENDED);
            out.push(Err(FileVerdict { named: input.named && out.is_empty(), ..verdict }));
        }
        Ok(())
    })?;
    if out.is_empty() {
        out.push(Err(refused(input, "tar archive; it holds no files", None)));
    }
    Ok(out)
}

/// A part of a file that can be sought in.
#[derive(Debug)]
pub struct Window<'f> {
    /// The file.
    pub file: &'f File,
    /// Where the part starts.
    pub start: u64,
    /// Its length.
    pub len: u64,
    /// Where the next read starts, from the part's start.
    pub at: u64,
}

impl Read for Window<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(self.at);
        let cursor = Cursor { file: self.file, at: self.start + self.at };
        let n = cursor.take(left).read(buf)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Window<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or_else(|| io::Error::other("a position before the beginning"))?;
        Ok(self.at)
    }
}
