//! The files of a load, open for reading text again: positioned reads, checked by digest, parsed by
//! the reader that read them first.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::{ControlFlow, Range};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::beside::{self, Descriptions};
use super::error::{LoadError, TextError};
use super::look::{Looked, look_at};
use super::options::LoadOptions;
use super::read_at::{Cancellable, Cursor, read_range};
use super::report::{FileVerdict, VerdictKind};
use super::unpack::{Spool, unpack};
use super::walk::{Content, Input};
use super::watch;
use super::work::{Cut, Frames};
use crate::ingest::survey::{self, Found, Frame, Keyed, Open};
use crate::ingest::verdicts::SideFile;
use crate::ingest::{
    Context, Document, Layout, Reader, StepText, by_id, columns, digest, digest64, read_document,
    read_element, read_record, readers, split, tears,
};
use crate::rollout::raw::{RawRollout, RawStep};
use crate::rollout::{Group, RecordRef, SourceId, natural};

/// A file with rollouts.
#[derive(Clone)]
pub struct Source {
    input: Input,
    stem: String,
    reader: &'static dyn Reader,
    layout: Layout,
    /// Where its documents may hold a list of rollouts.
    key: Option<&'static str>,
    /// Records that were cut into elements, in order.
    frames: Vec<Cut>,
    len: u64,
}

impl Source {
    /// A file that was looked at and not read yet.
    pub(super) const fn new(
        input: Input,
        stem: String,
        reader: &'static dyn Reader,
        layout: Layout,
        key: Option<&'static str>,
        len: u64,
    ) -> Self {
        Self { input, stem, reader, layout, key, frames: Vec::new(), len }
    }

    /// The format's reader.
    pub(super) fn reader(&self) -> &'static dyn Reader {
        self.reader
    }

    /// What a record is called in messages.
    pub(super) fn unit(&self) -> &'static str {
        self.layout.unit()
    }

    /// Its name for people.
    pub(super) fn name(&self) -> &str {
        &self.input.name
    }

    /// Folders and name, joined by `/`.
    pub(super) fn place(&self) -> &str {
        &self.input.place
    }

    /// It was named by the person, not found in a folder.
    pub(super) fn named(&self) -> bool {
        self.input.named
    }

    /// What was wrong with the file as such.
    pub(super) fn problem(&self) -> Option<&str> {
        self.input.problem.as_deref()
    }

    /// What the reader may know about the place.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            stem: &self.stem,
            path: &self.input.place,
            header: self.input.header.as_deref(),
            ..Context::default()
        }
    }

    /// Where its bytes are.
    pub(super) fn bytes(&self) -> &Content {
        &self.input.content
    }

    /// Runs with the file, the place where the content starts in it, and its length.
    pub(super) fn content<T>(
        &self,
        run: impl FnOnce(&File, u64, u64) -> io::Result<T>,
    ) -> io::Result<T> {
        self.input.content.with(run)
    }

    /// Where its documents hold their rollouts.
    pub(super) fn key(&self) -> Option<&'static str> {
        self.key
    }

    /// Cuts the file into records, and documents with a list of rollouts into its elements.
    /// It ends soon after `cancel` is set.
    pub(super) fn split(
        &self,
        cancel: Option<&AtomicBool>,
        sink: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.input.content.with(|file, start, len| {
            // A file that grows meanwhile is read as long as it was when it was looked at.
            let len = len.min(self.len);
            let open = opener(file, start, cancel);
            let columnar = self.reader.columnar().filter(|_| self.layout != Layout::Elements);
            if let Some(format) = columnar {
                return columns::split(self.layout, format, len, split::LIMIT, &*open, sink);
            }
            let Some(key) = self.key else {
                let input = Cancellable { from: Cursor { file, at: start }.take(len), cancel };
                let mut sink = |piece| sink(Found::Record(piece));
                let list = self.layout == Layout::Elements;
                let mut torn = Vec::new();
                split::split(self.layout, input, split::LIMIT, &mut |piece| {
                    if list && (!torn.is_empty() || tears::list::is_torn(&piece, len)) {
                        torn.push(piece);
                        return ControlFlow::Continue(());
                    }
                    sink(piece)
                })?;
                return tears::list::elements(torn, len, &*open, &mut sink);
            };
            let keyed = Keyed { key, shared: self.reader.shared_keys() };
            survey::split(self.layout, keyed, len, split::LIMIT, &*open, sink)
        })
    }

    /// The record that holds this place in one of its elements.
    fn frame(&self, offset: u64) -> Option<&Cut> {
        let after = self.frames.partition_point(|cut| cut.bytes().start <= offset);
        let cut = self.frames.get(after.checked_sub(1)?)?;
        (offset < cut.bytes().end).then_some(cut)
    }
}

/// Opens parts of the content that starts here in the file.
fn opener<'f>(file: &'f File, start: u64, cancel: Option<&'f AtomicBool>) -> Box<Open<'f>> {
    Box::new(move |part: Range<u64>| {
        let len = part.end.saturating_sub(part.start);
        let from = Cursor { file, at: start + part.start }.take(len);
        Box::new(Cancellable { from, cancel })
    })
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.input.name)
            .field("format", &self.reader.id())
            .finish_non_exhaustive()
    }
}

/// A document by its file and its place there.
type LastOpened = (SourceId, u64, Arc<dyn Document>);

/// The files of a load. A [`SourceId`] is an index into it.
#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    /// The document that text was last read out of: opening one may take longer than its element.
    last: Mutex<Option<LastOpened>>,
}

/// What the inputs are.
#[derive(Debug, Default)]
pub struct Opened {
    /// Those with rollouts.
    pub sources: Sources,
    /// Those with verdicts on rollouts of other files.
    pub sides: Vec<Side>,
    /// The others, with reasons.
    pub verdicts: Vec<FileVerdict>,
}

/// A file with verdicts on rollouts of other files.
#[derive(Debug)]
pub struct Side {
    /// Its name for people.
    pub name: String,
    /// What it says.
    pub content: SideFile,
    /// What was wrong with the file as such.
    pub problem: Option<String>,
}

impl Side {
    /// What is told about it where it is damaged: its verdicts are used as far as they go.
    fn damage(&self) -> Option<FileVerdict> {
        let reason = format!("verdicts, used as far as they go: {}", self.problem.as_ref()?);
        let (name, kind) = (self.name.clone(), VerdictKind::Damaged);
        let packed = self.content.odd.is_empty();
        let hint = if packed { "pack or download it again" } else { MEND_VERDICT };
        Some(FileVerdict { name, named: false, reason, hint: Some(hint.to_owned()), kind })
    }
}

/// What to do about a verdict that cannot be read.
pub(super) const MEND_VERDICT: &str =
    "write true or false there, or give the verdict with `--outcomes FILE`";

impl Sources {
    /// Unpacks each input where need be and looks at it, several at once; the order is that of the
    /// inputs all the same.
    pub(super) fn open(inputs: Vec<Input>, options: &LoadOptions) -> Result<Opened, LoadError> {
        let forced = match options.from.as_deref() {
            None => None,
            Some(id) => Some(by_id(id).ok_or_else(|| LoadError::UnknownFormat {
                given: id.to_owned(),
                known: readers().iter().map(|r| r.id()).collect(),
            })?),
        };
        let todo: Vec<Mutex<Option<Input>>> =
            inputs.into_iter().map(|i| Mutex::new(Some(i))).collect();
        let next = AtomicUsize::new(0);
        let runs = Descriptions::default();
        let look_at_some = || {
            let (mut found, mut spool) = (Vec::new(), Spool::new(options.cancel.clone()));
            while !options.cancelled() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(slot) = todo.get(at) else { break };
                watch::looked_at(options, at + 1, todo.len());
                let input = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                let Some(input) = input else { continue };
                let looked: Vec<Looked> = unpack(input, &mut spool)
                    .into_iter()
                    .map(|i| look_at(i, forced, &runs))
                    .collect();
                found.push((at, looked));
            }
            found
        };
        let mut found: Vec<(usize, Vec<Looked>)> = thread::scope(|scope| {
            let count = options.workers().min(todo.len());
            let all: Vec<_> = (0..count).map(|_| scope.spawn(look_at_some)).collect();
            // What a thread was to open must not be missing without a word.
            let all =
                all.into_iter().map(|t| t.join().unwrap_or_else(|panic| resume_unwind(panic)));
            all.flatten().collect()
        });
        if options.cancelled() {
            return Err(LoadError::Cancelled);
        }
        found.sort_by_key(|(at, _)| *at);
        let mut opened = Opened::default();
        for looked in found.into_iter().flat_map(|(_, looked)| looked) {
            match looked {
                Looked::Rollouts(source) => opened.sources.list.push(*source),
                Looked::Side(side) => {
                    opened.verdicts.extend(side.damage());
                    opened.sides.push(*side);
                }
                Looked::Neither(verdict) => opened.verdicts.push(verdict),
            }
        }
        opened.sources.list =
            beside::without_twins(std::mem::take(&mut opened.sources.list), &mut opened.verdicts);
        // The members of an archive come in its own order; names sort them like files of a folder.
        opened.sources.list.sort_by(|a, b| natural(a.name(), b.name()));
        Ok(opened)
    }

    /// Whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// A file's name: relative to what was given, never absolute.
    #[must_use]
    pub fn name(&self, id: SourceId) -> &str {
        self.get(id).map_or("", Source::name)
    }

    /// The id of a file's format.
    #[must_use]
    pub fn format(&self, id: SourceId) -> &'static str {
        self.get(id).map_or("", |s| s.reader.id())
    }

    /// A file's length in bytes.
    #[must_use]
    pub fn bytes(&self, id: SourceId) -> u64 {
        self.get(id).map_or(0, |s| s.len)
    }

    /// The path of a file (of its archive, for a member), for messages to the person at the screen;
    /// `None` for standard input.
    #[must_use]
    pub fn path(&self, id: SourceId) -> Option<&Path> {
        self.get(id)?.input.origin.as_deref()
    }

    /// All paths that are read from, so that no export writes over one.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.list.iter().filter_map(|s| s.input.origin.as_ref())
    }

    pub(super) fn get(&self, id: SourceId) -> Option<&Source> {
        self.list.get(id.0 as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.list.iter().enumerate().map(|(at, s)| (SourceId(at as u32), s))
    }

    /// Keeps where documents were cut, so that their elements can be read again.
    pub(super) fn remember(&mut self, frames: Frames) {
        for (id, frame) in frames {
            if let Some(source) = self.list.get_mut(id.0 as usize) {
                source.frames.push(frame);
            }
        }
    }

    /// The same files with these documents cut: as far as they have been read.
    pub(super) fn with(&self, frames: Frames) -> Self {
        let mut some = Self { list: self.list.clone(), last: Mutex::default() };
        some.remember(frames);
        some
    }

    /// The text of one step.
    pub fn step_text(
        &self,
        group: &Group,
        rollout: usize,
        step: usize,
    ) -> Result<StepText, TextError> {
        let owner = group.rollouts.get(rollout).ok_or(TextError::NoSuchStep)?;
        let text = group.text_of(owner, step).ok_or(TextError::NoSuchStep)?;
        let record = owner.records.get(text.record as usize).ok_or(TextError::NoSuchStep)?;
        let raw = self.rollout(record)?;
        let step = raw.steps.into_iter().nth(text.raw as usize);
        step.map(StepText::from).ok_or_else(|| self.changed(record.source))
    }

    /// The texts of all steps of a rollout, each record read once.
    pub fn rollout_text(&self, group: &Group, rollout: usize) -> Result<Vec<StepText>, TextError> {
        let owner = group.rollouts.get(rollout).ok_or(TextError::NoSuchStep)?;
        let mut raws: Vec<Vec<RawStep>> = Vec::with_capacity(owner.records.len());
        for record in &owner.records {
            raws.push(self.rollout(record)?.steps);
        }
        (0..owner.steps.len())
            .map(|step| {
                let t = group.text_of(owner, step).ok_or(TextError::NoSuchStep)?;
                let step = raws.get_mut(t.record as usize).and_then(|r| r.get_mut(t.raw as usize));
                step.map(|s| StepText::from(std::mem::take(s))).ok_or(TextError::NoSuchStep)
            })
            .collect()
    }

    /// The rollout (or segment) behind a record, parsed again with all its text.
    pub fn rollout(&self, record: &RecordRef) -> Result<RawRollout, TextError> {
        let source = self.get(record.source).ok_or(TextError::NoSuchStep)?;
        let bytes = self.record(record)?;
        let context = Context { number: record.line, only: Some(record.part), ..source.context() };
        let (parsed, nth) = match source.frame(record.bytes.start) {
            Some(cut) => {
                let document = match cut {
                    Cut::Document(frame) => self.document(record.source, source, frame)?,
                    Cut::Sheet(sheet) => Arc::clone(&sheet.document),
                };
                (read_element(&*document, &bytes, record.part as usize, &context), 0)
            }
            None => (read_record(source.reader, &bytes, &context), record.part as usize),
        };
        let parsed = parsed.map_err(|_| self.changed(record.source))?;
        let part = parsed.parts.into_iter().nth(nth);
        part.and_then(|p| p.rollout.ok()).ok_or_else(|| self.changed(record.source))
    }

    /// A document around its elements, opened again.
    fn document(
        &self,
        id: SourceId,
        source: &Source,
        frame: &Frame,
    ) -> Result<Arc<dyn Document>, TextError> {
        let place = (id, frame.bytes.start);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((id, start, document)) = &*last
            && (*id, *start) == place
        {
            return Ok(Arc::clone(document));
        }
        let text = source
            .input
            .content
            .with(|file, start, _| frame.text(split::LIMIT, &*opener(file, start, None)))
            .map_err(|error| TextError::Io { file: source.name().to_owned(), error })?
            .map_err(|_| self.changed(id))?;
        let opened = read_document(source.reader, &text, frame.several(), frame.closed)
            .map_err(|_| self.changed(id))?;
        *last = Some((place.0, place.1, Arc::clone(&opened.document)));
        Ok(opened.document)
    }

    /// The bytes of a record as they stand in the file; of one of columns, the row as an object.
    pub fn record(&self, record: &RecordRef) -> Result<Vec<u8>, TextError> {
        let source = self.get(record.source).ok_or(TextError::NoSuchStep)?;
        let len = record.bytes.end.saturating_sub(record.bytes.start) as usize;
        let bytes = source
            .input
            .content
            .with(|file, start, _| match source.frame(record.bytes.start) {
                Some(Cut::Sheet(sheet)) => {
                    let open = opener(file, start, None);
                    Ok(sheet.row(record.part as usize, split::LIMIT, &*open)?.unwrap_or_default())
                }
                _ => read_range(file, start + record.bytes.start, len),
            })
            .map_err(|error| TextError::Io { file: source.name().to_owned(), error })?;
        if digest64(&digest(&bytes)) == record.digest {
            Ok(bytes)
        } else {
            Err(self.changed(record.source))
        }
    }

    fn changed(&self, id: SourceId) -> TextError {
        TextError::Changed { file: self.name(id).to_owned() }
    }
}
