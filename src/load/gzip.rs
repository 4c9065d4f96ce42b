//! Gzip streams: members one after the other. One whose checksum does not match is given out all the same,
//! with those behind it; the error comes at the end, when all is there.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

/// All of a stream was unpacked, and a checksum in it does not match.
#[derive(Debug, thiserror::Error)]
#[error("all of it was unpacked, but its checksum does not match: some of it is wrong")]
pub struct WrongChecksum;

/// The error that a reader gives at the end of such a stream.
pub fn wrong_checksum() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, WrongChecksum)
}

/// Whether an error says so.
#[must_use]
pub fn is_wrong_checksum(error: &io::Error) -> bool {
    let Some(inner) = error.get_ref() else { return false };
    inner.is::<WrongChecksum>()
}

/// The content of a gzip stream.
#[must_use]
pub fn gunzip<'r>(from: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
    let source = BufReader::with_capacity(1 << 17, from);
    Box::new(Members { member: Some(GzDecoder::new(source)), wrong: false })
}

struct Members<R: BufRead> {
    /// The one that is being unpacked; `None` at the end.
    member: Option<GzDecoder<R>>,
    /// A checksum did not match.
    wrong: bool,
}

impl<R: BufRead> Members<R> {
    /// Begins the next member, where there is one.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut source = member.into_inner();
        if !source.fill_buf()?.is_empty() {
            self.member = Some(GzDecoder::new(source));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(member) = &mut self.member else {
                return if std::mem::take(&mut self.wrong) { Err(wrong_checksum()) } else { Ok(0) };
            };
            match member.read(buf) {
                Ok(0) => {}
                // The decoder has no other mark for it; it stands behind the checksum then.
                Err(error) if error.to_string().contains("matching checksum") => self.wrong = true,
                done => return done,
            }
            self.next_member()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> (String, Option<io::Error>) {
        let (mut text, mut from) = (Vec::new(), gunzip(Box::new(bytes)));
        let error = from.read_to_end(&mut text).err();
        (String::from_utf8(text).unwrap(), error)
    }

    #[test]
    fn a_wrong_checksum_costs_nothing_and_is_said_at_the_end() {
        let (first, second) = (packed("one\n"), packed("two\n"));
        let (text, error) = unpacked(&[&first[..], &second[..]].concat());
        assert_eq!((text.as_str(), error.is_none()), ("one\ntwo\n", true));
        let mut wrong = first.clone();
        let at = wrong.len() - 8;
        wrong[at] ^= 1;
        let (text, error) = unpacked(&[&wrong[..], &second[..]].concat());
        assert_eq!(text, "one\ntwo\n");
        assert!(is_wrong_checksum(&error.unwrap()));
        // A cut is a cut, whatever was wrong before.
        let (text, error) = unpacked(&[&wrong[..], &second[..second.len() - 3]].concat());
        assert_eq!(
            (text.as_str(), error.unwrap().kind()),
            ("one\ntwo\n", io::ErrorKind::UnexpectedEof)
        );
        let (text, error) = unpacked(&[&first[..], b"trailing words"].concat());
        assert_eq!(text, "one\n");
        assert!(!is_wrong_checksum(&error.unwrap()));
    }
}
