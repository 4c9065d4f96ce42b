//! Zip archives (an Inspect `.eval` is one): by their directory, and where that is torn off by the
//! headers before each member. A member is whole when it has the length and the checksum that the
//! archive says; what is not whole is read as far as it goes, and told.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use super::gzip::wrong_checksum;
use super::read_at::{Cursor, read_range};
use super::unpack::{Spool, Window};
use super::walk::Slice;
use super::zstd::unzstd;

/// How a member begins.
pub const MEMBER: [u8; 4] = *b"PK\x03\x04";
/// How the directory at the end begins.
const DIRECTORY: [u8; 4] = *b"PK\x01\x02";
/// How the entry after a member begins that tells what its header could not.
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";

/// A small member that is read as text.
const SMALL: u64 = 64 << 20;

type Zip<'f> = zip::ZipArchive<BufReader<Window<'f>>>;

/// What a member gave, and what is wrong with it.
pub type Spooled = io::Result<(Slice, Option<io::Error>)>;

/// An archive whose members can be taken out.
pub enum Archive<'f> {
    /// By its directory.
    Listed(Zip<'f>),
    /// Without one: its members are taken out already.
    Torn(Vec<Spooled>),
}

impl<'f> Archive<'f> {
    /// Opens the archive in a part of a file; the names of its members in order.
    pub fn open(
        file: &'f File,
        start: u64,
        len: u64,
        spool: &mut Spool,
    ) -> io::Result<(Self, Vec<String>)> {
        let window = Window { file, start, len, at: 0 };
        let error = match zip::ZipArchive::new(BufReader::new(window)) {
            Ok(zip) => {
                let name = |at: usize| zip.name_for_index(at)?.ok().map(String::from);
                let names = (0..zip.len())
                    .map(|at| name(at).unwrap_or_else(|| format!("member {}", at + 1)))
                    .collect();
                return Ok((Self::Listed(zip), names));
            }
            Err(zip::result::ZipError::InvalidArchive(why)) => io::Error::other(format!(
                "it is no whole zip archive: its directory, which stands at the end, is not there or broken (is \
                 it cut?), and no member can be found ({why})"
            )),
            Err(error) => io::Error::other(error),
        };
        let (names, members): (Vec<_>, Vec<_>) = walk(file, start, len, spool)?.into_iter().unzip();
        if names.is_empty() { Err(error) } else { Ok((Self::Torn(members), names)) }
    }

    /// Its directory is not there.
    pub const fn is_torn(&self) -> bool {
        matches!(self, Self::Torn(_))
    }

    /// Takes a member out.
    pub fn member(&mut self, at: usize, spool: &mut Spool) -> Spooled {
        match self {
            Self::Listed(zip) => listed(zip, at, spool),
            Self::Torn(members) => members
                .get_mut(at)
                .map_or_else(|| Err(gone()), |member| std::mem::replace(member, Err(gone()))),
        }
    }

    /// A small member as text, and what is wrong with it.
    pub fn text(&mut self, at: usize) -> (Option<String>, Option<io::Error>) {
        let mut bytes = Vec::new();
        let read = match self {
            Self::Listed(zip) => {
                read_listed(zip, at, |from| from.take(SMALL).read_to_end(&mut bytes))
            }
            Self::Torn(members) => match members.get(at) {
                Some(Ok((slice, trouble))) => {
                    let len = slice.len.min(SMALL) as usize;
                    let read = read_range(&slice.file, slice.start, len);
                    match (read, trouble) {
                        (Ok(all), None) => {
                            bytes = all;
                            Ok(0)
                        }
                        (_, Some(error)) => Err(io::Error::other(error.to_string())),
                        (Err(error), None) => Err(error),
                    }
                }
                _ => Err(gone()),
            },
        };
        let text = read.and_then(|_| String::from_utf8(bytes).map_err(io::Error::other));
        match text {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error)),
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("there is no such member")
}

fn listed(zip: &mut Zip<'_>, at: usize, spool: &mut Spool) -> Spooled {
    read_listed(zip, at, |from| spool.add(from))
}

/// Runs with the content of a member. Zstandard is decoded here, so its checksum is compared here.
fn read_listed<T>(
    zip: &mut Zip<'_>,
    at: usize,
    run: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<T> {
    let raw = zip.by_index_raw(at).map_err(io::Error::other)?;
    if raw.compression() == zip::CompressionMethod::ZSTD {
        let (crc, size) = (raw.crc32(), raw.size());
        return run(&mut Checked::new(unzstd(Box::new(raw)), Some((crc, size))));
    }
    drop(raw);
    run(&mut zip.by_index(at).map_err(io::Error::other)?)
}

/// Compares checksum and length at the end.
struct Checked<R> {
    from: R,
    crc: flate2::Crc,
    len: u64,
    wanted: Option<(u32, u64)>,
}

impl<R: Read> Checked<R> {
    fn new(from: R, wanted: Option<(u32, u64)>) -> Self {
        Self { from, crc: flate2::Crc::new(), len: 0, wanted }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        if n > 0 || buf.is_empty() {
            self.crc.update(buf.get(..n).unwrap_or_default());
            self.len += n as u64;
            return Ok(n);
        }
        match self.wanted.take() {
            Some((_, len)) if len > self.len => Err(io::ErrorKind::UnexpectedEof.into()),
            Some((crc, len)) if (crc, len) != (self.crc.sum(), self.len) => Err(wrong_checksum()),
            _ => Ok(0),
        }
    }
}

/// What stands before a member.
struct Header {
    name: String,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    /// Checksum and lengths come after the member.
    later: bool,
    /// Where the member starts.
    body: u64,
}

/// The members of an archive without a directory, by the headers before them.
fn walk(
    file: &File,
    start: u64,
    len: u64,
    spool: &mut Spool,
) -> io::Result<Vec<(String, Spooled)>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = seek(file, start, at, len, MEMBER)? {
        let Some(header) = header(file, start, next, len)? else {
            at = next + 4;
            continue;
        };
        let rest = len.saturating_sub(header.body);
        let from = Cursor { file, at: start + header.body };
        let wanted = Some((header.crc, header.size)).filter(|_| !header.later);
        let known = if header.later { rest } else { header.packed.min(rest) };
        let mut end = header.body + known;
        let spooled = match header.method {
            0 if header.later => {
                let after = seek(file, start, header.body, len, DESCRIPTOR)?;
                end = after.unwrap_or(len);
                spool.add(&mut from.take(end - header.body)).map(|(slice, trouble)| {
                    let cut = after.is_none().then(|| io::ErrorKind::UnexpectedEof.into());
                    (slice, trouble.or(cut))
                })
            }
            0 => spool.add(&mut Checked::new(from.take(known), wanted)),
            8 => {
                let from = BufReader::with_capacity(1 << 16, from.take(known));
                let mut decoder = flate2::bufread::DeflateDecoder::new(from);
                let spooled = spool.add(&mut Checked::new(&mut decoder, wanted));
                if header.later {
                    end = header.body + decoder.total_in();
                }
                spooled
            }
            93 if !header.later => {
                spool.add(&mut Checked::new(unzstd(Box::new(from.take(known))), wanted))
            }
            other => Err(io::Error::other(format!("it is packed by method {other}"))),
        };
        // A length that is wrong must not hide the members behind it; one that leads to another
        // member, or out of the file, is right.
        let torn = !matches!(&spooled, Ok((_, None)));
        let led = end >= len || read_range(file, start + end, 2)?.starts_with(b"PK");
        at = if torn && !led { header.body } else { end.max(header.body) };
        if !header.name.ends_with('/') {
            found.push((header.name, spooled));
        }
    }
    Ok(found)
}

/// Reads the header at this place; `None` where it is cut or none.
fn header(file: &File, start: u64, at: u64, len: u64) -> io::Result<Option<Header>> {
    const FIXED: usize = 30;
    let fixed = read_range(file, start + at, FIXED.min(len.saturating_sub(at) as usize))?;
    let two = |from: usize| {
        let bytes = fixed.get(from..from + 2)?;
        Some(bytes.iter().rev().fold(0_u16, |all, &b| (all << 8) | u16::from(b)))
    };
    let four = |from: usize| Some(u64::from(two(from)?) | (u64::from(two(from + 2)?) << 16));
    let fields =
        (|| Some((two(6)?, two(8)?, four(14)?, four(18)?, four(22)?, two(26)?, two(28)?)))();
    let Some((flags, method, crc, mut packed, mut size, name_len, extra_len)) = fields else {
        return Ok(None);
    };
    let (name_len, extra_len) = (usize::from(name_len), usize::from(extra_len));
    let body = at + (FIXED + name_len + extra_len) as u64;
    // An encrypted member cannot be read, and what has no name is none.
    if body > len || name_len == 0 || flags & 1 != 0 {
        return Ok(None);
    }
    let rest = read_range(file, start + at + FIXED as u64, name_len + extra_len)?;
    let (name, extra) = rest.split_at(name_len.min(rest.len()));
    long_sizes(extra, &mut packed, &mut size);
    Ok(Some(Header {
        name: String::from_utf8_lossy(name).into_owned(),
        method,
        crc: crc as u32,
        packed,
        size,
        later: flags & 8 != 0,
        body,
    }))
}

/// Takes lengths that need more than four bytes out of the extra field of a header.
fn long_sizes(mut extra: &[u8], packed: &mut u64, size: &mut u64) {
    const LONG: u64 = u32::MAX as u64;
    while let Some((&[id, high, len, len_high], rest)) = extra.split_first_chunk::<4>() {
        let len = usize::from(len) | (usize::from(len_high) << 8);
        let (field, after) = rest.split_at(len.min(rest.len()));
        if (id, high) == (1, 0) {
            let mut numbers = field.chunks_exact(8);
            for number in [size, packed] {
                if *number == LONG
                    && let Some(bytes) = numbers.next()
                {
                    *number = bytes.iter().rev().fold(0, |all, &b| (all << 8) | u64::from(b));
                }
            }
            return;
        }
        extra = after;
    }
}

/// The next place of a signature at or after `at`; the directory ends the search for members.
fn seek(file: &File, start: u64, at: u64, len: u64, sign: [u8; 4]) -> io::Result<Option<u64>> {
    let mut input =
        BufReader::with_capacity(1 << 16, Cursor { file, at: start + at }.take(len - at.min(len)));
    let (mut place, mut last) = (at, [0_u8; 4]);
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(None);
        }
        for &byte in chunk {
            last.rotate_left(1);
            if let Some(end) = last.last_mut() {
                *end = byte;
            }
            place += 1;
            if last == sign && place >= at + 4 {
                return Ok(Some(place - 4));
            }
            if last == DIRECTORY && sign == MEMBER && place >= at + 4 {
                return Ok(None);
            }
        }
        let used = chunk.len();
        input.consume(used);
    }
}
