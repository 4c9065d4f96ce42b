//! Zstandard streams: frames one after the other, frames that are to be skipped, checksums, and what
//! comes before a tear.
//!
//! A decoder holds back a window of what it has decoded until its frame ends. In a frame that is cut
//! or damaged that is given out all the same: every block before the fault is whole.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::gzip::wrong_checksum;

/// Windows that `zstd --long` needs are allowed up to this.
const WINDOW: u64 = 1 << 31;

/// A block that is the last one of its frame and empty, and a checksum that is not looked at.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Whether a file begins with a frame, one to be skipped included.
#[must_use]
pub fn is_zstd(head: &[u8]) -> bool {
    matches!(head, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// The content of a zstandard stream.
#[must_use]
pub fn unzstd<'r>(from: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW);
    let source = BufReader::with_capacity(1 << 17, from);
    Box::new(Frames { source, decoder, open: false, fault: None, wrong: false })
}

struct Frames<R: Read> {
    source: R,
    decoder: FrameDecoder,
    /// A frame is being decoded.
    open: bool,
    /// What is wrong behind what is given out next.
    fault: Option<io::Error>,
    /// The checksum of a frame did not match.
    wrong: bool,
}

impl<R: BufRead> Frames<R> {
    /// Begins the next frame; `false` at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(told(&error)),
            }
        }
    }

    /// Decodes a block; after a fault the frame is closed, so that all of it can be taken out.
    fn next_block(&mut self) {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.decoder.decode_blocks(&mut self.source, one) else { return };
        let at_end = self.source.fill_buf().is_ok_and(<[u8]>::is_empty);
        self.fault = Some(if at_end { io::ErrorKind::UnexpectedEof.into() } else { told(&error) });
        if !self.decoder.is_finished() {
            // A frame that does not close has nothing more to give.
            self.open = self.decoder.decode_blocks(&END[..], BlockDecodingStrategy::All).is_ok();
        }
    }

    /// Compares the checksum of a frame that was taken out.
    fn check(&mut self) {
        let wanted = self.decoder.get_checksum_from_data();
        if self.fault.is_none()
            && wanted.is_some()
            && wanted != self.decoder.get_calculated_checksum()
        {
            self.wrong = true;
        }
    }
}

/// A fault in words for people; the decoder's own are names of its types.
fn told(error: &FrameDecoderError) -> io::Error {
    use FrameDecoderError as E;
    let why = match error {
        E::WindowSizeTooBig { requested, max } => {
            format!("it needs a window of {requested} bytes, {max} are allowed")
        }
        E::DictNotProvided { .. } | E::DictionaryDecodeError(_) => {
            "it was packed with a dictionary, which is not in the file".to_owned()
        }
        E::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_)) => {
            "what stands behind a frame is no zstd frame".to_owned()
        }
        E::ReadFrameHeaderError(_) | E::FrameHeaderError(_) | E::FailedToInitialize(_) => {
            "the head of a zstd frame is damaged".to_owned()
        }
        _ => "a block of a zstd frame is damaged".to_owned(),
    };
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if buf.is_empty() {
                return Ok(0);
            }
            if self.open && self.decoder.can_collect() > 0 {
                return self.decoder.read(buf);
            }
            if self.open && !self.decoder.is_finished() {
                self.next_block();
                continue;
            }
            if std::mem::take(&mut self.open) {
                self.check();
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            self.open = self.next_frame()?;
            if !self.open {
                return if std::mem::take(&mut self.wrong) { Err(wrong_checksum()) } else { Ok(0) };
            }
        }
    }
}
