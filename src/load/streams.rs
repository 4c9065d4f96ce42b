//! Streams that can be read once only: copied to a file without a name. Where a person watches, they are
//! told how much came, and what came so far is read and shown while the rest is waited for.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, unbounded};

use super::Loaded;
use super::assemble::assemble;
use super::options::{LoadOptions, Progress};
use super::read_at::write_all_at;
use super::sources::{Opened, Sources};
use super::walk::{Content, Input, Slice, spool};
use super::watch::{Shown, Watch, stream_name};
use super::work;
use crate::profile::Profiles;

/// How long a quiet stream is waited for before the person's wish to stop is looked at.
const QUIET: Duration = Duration::from_millis(40);

/// What came of a stream.
enum Came {
    /// So many bytes in all, and how many of them are whole lines.
    Bytes(u64, u64),
    End(io::Result<()>),
}

/// Copies a stream to a file that vanishes with the program.
pub fn keep(
    mut stream: Box<dyn Read + Send>,
    path: &Path,
    shown: &mut Shown,
    (options, profiles): (&LoadOptions, &Arc<Profiles>),
) -> io::Result<Slice> {
    let Some(Watch { halt, .. }) = &options.watch else {
        return spool(&mut stream);
    };
    // A stop keeps what came.
    halt.reads();
    let file = Arc::new(tempfile::tempfile()?);
    let (outbox, inbox) = unbounded();
    let into = Arc::clone(&file);
    // A stream that says nothing cannot be interrupted: then this thread stays with it.
    std::thread::Builder::new()
        .name("credscope-stream".to_owned())
        .spawn(move || copy(&mut *stream, &into, &outbox))?;
    let (mut len, mut lines, mut looked) = (0, 0, 0);
    loop {
        match inbox.recv_timeout(QUIET) {
            Ok(Came::Bytes(bytes, whole)) => {
                (len, lines) = (bytes, whole);
                if !inbox.is_empty() {
                    continue;
                }
                if let Some(tell) = &options.progress {
                    tell(Progress { bytes: len, ..Progress::default() });
                }
            }
            Ok(Came::End(done)) => {
                done?;
                return Ok(Slice { file, start: 0, len });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the copy of the stream broke off"));
            }
        }
        if options.cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        if halt.ends_stream() {
            return Ok(Slice { file, start: 0, len });
        }
        // A document has no lines that mean something: then all of it is looked at.
        let so_far = if lines > 0 { lines } else { len };
        if so_far > looked && shown.due(so_far) {
            looked = so_far;
            let slice = Slice { file: Arc::clone(&file), start: 0, len: so_far };
            shown.show(so_far, || look(slice, path, options, profiles));
        }
    }
}

fn copy(stream: &mut dyn Read, into: &File, outbox: &Sender<Came>) {
    let (mut len, mut lines) = (0_u64, 0);
    let mut buffer = vec![0; 1 << 17];
    let end = loop {
        match stream.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(n) => {
                let bytes = buffer.get(..n).unwrap_or_default();
                if let Err(error) = write_all_at(into, bytes, len) {
                    break Err(error);
                }
                if let Some(last) = memchr::memrchr(b'\n', bytes) {
                    lines = len + last as u64 + 1;
                }
                len += n as u64;
                if outbox.send(Came::Bytes(len, lines)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    let _ = outbox.send(Came::End(end));
}

/// Loads what came of a stream, and says how many rollouts that were.
fn look(
    slice: Slice,
    path: &Path,
    options: &LoadOptions,
    profiles: &Arc<Profiles>,
) -> Option<(Loaded, u64)> {
    let input = Input {
        name: stream_name(path),
        content: Content::Spool(slice),
        named: true,
        place: String::new(),
        origin: None,
        header: None,
        problem: None,
    };
    let options = LoadOptions { watch: None, progress: None, ..options.clone() };
    let Opened { mut sources, sides, verdicts } = Sources::open(vec![input], &options).ok()?;
    let (records, frames, progress) =
        work::read_all(&sources, &options, profiles, &mut |_, _, _| {}).ok()?;
    sources.remember(frames);
    let loaded = assemble(records, sources, &sides, verdicts, &options, profiles).ok()?;
    Some((loaded, progress.rollouts))
}
