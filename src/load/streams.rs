//! Streams that can be read once only: copied to a file without a name. Where a person watches, they are
//! told how much came, and what came so far is read and shown while the rest is waited for.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, unbounded};

use super::Loaded;
use super::assemble::assemble;
use super::options::{LoadOptions, Progress};
use super::read_at::write_all_at;
use super::sources::{Opened, Sources};
use super::walk::{Content, Input, OpenStream, Slice, spool};
use super::watch::{Halt, Shown, Watch, stream_name};
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
    open: OpenStream,
    path: &Path,
    shown: &mut Shown,
    (options, profiles): (&LoadOptions, &Arc<Profiles>),
) -> io::Result<Slice> {
    let Some(Watch { halt, .. }) = &options.watch else {
        return spool(&mut *open()?);
    };
    // A stop keeps what came.
    halt.reads();
    let file = Arc::new(tempfile::tempfile()?);
    if halt.stopped() {
        // Told to stop in a stream before this one.
        halt.leave_stream(false);
        return Ok(Slice { file, start: 0, len: 0 });
    }
    let (outbox, inbox) = unbounded();
    let into = Arc::clone(&file);
    // A stream that says nothing, or that nobody writes to, cannot be interrupted: then this thread
    // stays with it.
    std::thread::Builder::new()
        .name("credscope-stream".to_owned())
        .spawn(move || copy(open, &into, &outbox))?;
    let (mut len, mut lines, mut looked) = (0, 0, 0);
    loop {
        if options.cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        if halt.stopped() {
            // All that came meanwhile is there, and maybe the end.
            let mut ended = false;
            for came in inbox.try_iter() {
                match came {
                    Came::Bytes(bytes, _) => len = bytes,
                    Came::End(done) => ended = done.is_ok(),
                }
            }
            halt.leave_stream(ended);
            shown.came(len);
            return Ok(Slice { file, start: 0, len });
        }
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
                shown.came(len);
                return Ok(Slice { file, start: 0, len });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the copy of the stream broke off"));
            }
        }
        // A document has no lines that mean something: then all of it is looked at.
        let so_far = if lines > 0 { lines } else { len };
        if so_far > looked && shown.due(so_far) {
            looked = so_far;
            let slice = Slice { file: Arc::clone(&file), start: 0, len: so_far };
            shown.show_stream(so_far, || look(slice, path, options, halt, profiles));
        }
    }
}

fn copy(open: OpenStream, into: &File, outbox: &Sender<Came>) {
    let mut stream = match open() {
        Ok(stream) => stream,
        Err(error) => {
            let _ = outbox.send(Came::End(Err(error)));
            return;
        }
    };
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

/// Loads what came of a stream, and says how many rollouts that were. A stop ends it with what it has
/// read by then.
fn look(
    slice: Slice,
    path: &Path,
    options: &LoadOptions,
    halt: &Arc<Halt>,
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
    let watch = Watch { halt: Arc::clone(halt), ..Watch::default() };
    let options = LoadOptions { watch: Some(watch), progress: None, ..options.clone() };
    // What is unpacked by halves is of no use.
    let opening = LoadOptions { cancel: Some(halt.stopping()), ..options.clone() };
    let Opened { mut sources, sides, verdicts } = Sources::open(vec![input], &opening).ok()?;
    let (records, frames, progress) =
        work::read_all(&sources, &options, profiles, &mut |_, _, _| {}).ok()?;
    sources.remember(frames);
    let loaded = assemble(records, sources, &sides, verdicts, &options, profiles).ok()?;
    Some((loaded, progress.rollouts))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::num::NonZeroUsize;

    use crossbeam_channel::{Receiver, bounded};

    use super::*;
    use crate::load::{OnSoFar, Pace};

    const LINE: &str = r#"{"task":"t","id":"r1","reward":1,"steps":[{"state":"s0","action":"a"}]}"#;

    fn options(halt: &Arc<Halt>, so_far: Option<OnSoFar>) -> LoadOptions {
        let watch = Watch { halt: Arc::clone(halt), so_far, pace: Pace::Every(1) };
        LoadOptions {
            watch: Some(watch),
            cancel: Some(halt.cancelling()),
            threads: NonZeroUsize::new(1),
            ..LoadOptions::default()
        }
    }

    fn kept(open: OpenStream, options: &LoadOptions) -> (Slice, Shown) {
        let mut shown = Shown::new(options);
        let profiles = Arc::new(Profiles::builtin());
        let path = Path::new("pipe.jsonl");
        (keep(open, path, &mut shown, (options, &profiles)).unwrap(), shown)
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_left_behind() {
        let halt = Arc::new(Halt::keeping());
        let options = options(&halt, None);
        let (opens, opened) = bounded::<()>(0);
        let (writes, writer) = bounded::<()>(0);
        let open: OpenStream = Box::new(move || {
            opens.send(()).unwrap();
            let _ = writer.recv();
            Ok(Box::new(io::empty()))
        });
        let stop = Arc::clone(&halt);
        let person = std::thread::spawn(move || {
            opened.recv().unwrap();
            stop.stop();
        });
        assert_eq!(kept(open, &options).0.len, 0);
        person.join().unwrap();
        drop(writes);
    }

    /// Ends when it is told to, and says when the copy of it is over.
    struct Ends {
        text: io::Cursor<Vec<u8>>,
        end: Receiver<()>,
        over: Sender<()>,
    }

    impl Read for Ends {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = self.text.read(into)?;
            if read == 0 {
                let _ = self.end.recv();
            }
            Ok(read)
        }
    }

    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.over.send(());
        }
    }

    #[test]
    fn a_stop_at_the_end_of_a_stream_reads_what_came_and_misses_nothing() {
        let halt = Arc::new(Halt::keeping());
        let ((over, ended), (ends, end)) = (unbounded(), unbounded());
        let stop = Arc::clone(&halt);
        // The stream ends while its beginning is shown, and then the person stops.
        let so_far: OnSoFar = Arc::new(move |_| {
            ends.send(()).unwrap();
            ended.recv().unwrap();
            stop.stop();
        });
        let options = options(&halt, Some(so_far));
        let text = format!("{LINE}\n");
        let len = text.len() as u64;
        let text = io::Cursor::new(text.into_bytes());
        let stream = Ends { text, end, over };
        let open: OpenStream = Box::new(move || Ok(Box::new(stream)));
        let (slice, mut shown) = kept(open, &options);
        assert_eq!(slice.len, len);
        assert!(halt.stopped() && options.affords(LINE.len()), "a little is read all the same");
        assert!(halt.reason(&Progress::default()).is_none(), "all is there");
        assert!(shown.at_once(&halt).is_none());
        // A second wish is followed at once, and then what was shown is the end of it.
        halt.stop();
        assert!(options.leaves());
        let loaded = shown.instead(&halt, &Progress::default()).unwrap();
        assert_eq!(loaded.report.partial().as_deref(), Some("partial data: stopped mid-stream"));
        assert_eq!(loaded.corpus.groups.len(), 1);
    }
}
