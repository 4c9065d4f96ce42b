//! Opens what is packed: `.gz` and `.zst` become their content, a zip (an Inspect `.eval` is one)
//! and a tar become their members. The content goes to unlinked temporary files that live as long as
//! the load, so that texts can be read again; nothing is held in memory, and an archive that is made
//! to fill a disk is refused.
//!
//! It knows containers by their first bytes and no rollout format.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::read_at::{Cursor, read_range, write_all_at};
use super::report::{FileVerdict, VerdictKind};
use super::walk::{Content, Input, Slice};

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
    fn add(&mut self, from: &mut dyn Read) -> io::Result<(Slice, Option<io::Error>)> {
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
    let packed = matches!(
        head.as_slice(),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [b'P', b'K', 3, 4, ..]
    );
    let tar = head.get(TAR) == Some(b"ustar");
    if (packed || tar) && depth == 0 {
        let hint = "unpack it and give what is in it".to_owned();
        let reason = format!("is packed more than {DEPTH} times over");
        return vec![Err(refused(&input, &reason, Some(hint)))];
    }
    let done = match head.as_slice() {
        [0x1f, 0x8b, ..] => stream(&input, spool, &[".gz", ".gzip", ".tgz"], gunzip, depth - 1),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            stream(&input, spool, &[".zst", ".zstd"], unzstd, depth - 1)
        }
        [b'P', b'K', 3, 4, ..] => members(&input, spool, depth - 1),
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

fn gunzip<'r>(from: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
    Box::new(flate2::read::MultiGzDecoder::new(from))
}

fn unzstd<'r>(from: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
    Box::new(Frames { source: Some(BufReader::with_capacity(1 << 17, from)), open: None })
}

type Zstd<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// The frames of a zstandard stream, one after the other.
struct Frames<R: Read> {
    source: Option<R>,
    open: Option<Zstd<R>>,
}

/// Windows that `zstd --long` needs are allowed up to this.
const WINDOW: u64 = 1 << 31;

impl<R: io::BufRead> Read for Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(mut frame) = self.open.take() {
                let n = frame.read(buf)?;
                if n > 0 || buf.is_empty() {
                    self.open = Some(frame);
                    return Ok(n);
                }
                self.source = Some(frame.into_inner());
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.open =
                Some(Zstd::new_with_max_window_size(source, WINDOW).map_err(io::Error::other)?);
        }
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
        problem: trouble.map(|_| CUT.to_owned()).or_else(|| input.problem.clone()),
        ..input.clone()
    };
    // A name stays what was given; `run.jsonl.gz` and `run.jsonl` may stand side by side.
    Ok(open(inner, spool, depth))
}

/// The members of a zip, each a source of its own named `archive.zip!member`.
fn members(input: &Input, spool: &mut Spool, depth: u32) -> io::Result<Unpacked> {
    input.content.with(|file, start, len| {
        let window = Window { file, start, len, at: 0 };
        let mut zip = zip::ZipArchive::new(BufReader::new(window)).map_err(io::Error::other)?;
        let mut names: Vec<(usize, String)> = Vec::with_capacity(zip.len());
        for at in 0..zip.len() {
            let name = zip.name_for_index(at).and_then(Result::ok);
            names.extend(name.map(|name| (at, name.replace('\\', "/"))));
        }
        let header = ["header.json", "_journal/start.json"].into_iter().find_map(|wanted| {
            let &(at, _) = names.iter().find(|(_, name)| name == wanted)?;
            text_of(&mut zip, at)
        });
        let header = header.map(Arc::<str>::from);
        // With a header the samples are the rollouts; the rest sums them up.
        let wanted = |name: &str| {
            !name.ends_with('/')
                && !name.split('/').any(hidden)
                && (header.is_none() || name.starts_with("samples/"))
        };
        let place = input.place.strip_suffix(".zip").unwrap_or(&input.place);
        let mut out = Vec::new();
        for (at, name) in names.into_iter().filter(|(_, name)| wanted(name)) {
            let inner = Input {
                name: format!("{}!{name}", input.name),
                place: format!("{place}/{name}"),
                header: header.clone(),
                named: false,
                ..input.clone()
            };
            match spool_member(&mut zip, at, spool) {
                Ok((slice, trouble)) => out.extend(open(
                    Input {
                        content: Content::Spool(slice),
                        problem: trouble.map(|e| format!("this member is damaged: {e}")),
                        ..inner
                    },
                    spool,
                    depth,
                )),
                Err(error) => {
                    out.push(Err(refused(&inner, &format!("cannot be unpacked: {error}"), None)));
                }
            }
        }
        if out.is_empty() {
            out.push(Err(refused(input, "zip archive; it holds no files", None)));
        }
        Ok(out)
    })
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
        for entry in archive.entries_with_seek()? {
            // A tar that is cut holds its members up to there.
            let Ok(entry) = entry else {
                out.push(Err(refused(input, CUT, None)));
                break;
            };
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
        Ok(())
    })?;
    if out.is_empty() {
        out.push(Err(refused(input, "tar archive; it holds no files", None)));
    }
    Ok(out)
}

type Zip<'f> = zip::ZipArchive<BufReader<Window<'f>>>;

fn spool_member(
    zip: &mut Zip<'_>,
    at: usize,
    spool: &mut Spool,
) -> io::Result<(Slice, Option<io::Error>)> {
    let raw = zip.by_index_raw(at).map_err(io::Error::other)?;
    if raw.compression() == zip::CompressionMethod::ZSTD {
        return spool.add(&mut *unzstd(Box::new(raw)));
    }
    drop(raw);
    spool.add(&mut zip.by_index(at).map_err(io::Error::other)?)
}

/// A small member as text.
fn text_of(zip: &mut Zip<'_>, at: usize) -> Option<String> {
    const SMALL: u64 = 64 << 20;
    let mut text = String::new();
    let raw = zip.by_index_raw(at).ok()?;
    if raw.compression() == zip::CompressionMethod::ZSTD {
        unzstd(Box::new(raw)).take(SMALL).read_to_string(&mut text).ok()?;
    } else {
        drop(raw);
        zip.by_index(at).ok()?.take(SMALL).read_to_string(&mut text).ok()?;
    }
    Some(text)
}

/// A part of a file that can be sought in.
struct Window<'f> {
    file: &'f File,
    start: u64,
    len: u64,
    at: u64,
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
