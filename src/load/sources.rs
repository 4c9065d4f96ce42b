//! The files of a load, open for reading text again: positioned reads, checked by digest, parsed by
//! the reader that read them first.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::error::{LoadError, TextError};
use super::read_at::{Cursor, read_range};
use super::report::FileVerdict;
use super::walk::{Content, Input};
use crate::ingest::split::{self, Piece};
use crate::ingest::{
    Context, Layout, Reader, Shape, StepText, by_id, detect, digest, digest64, read_record,
    readers, shape,
};
use crate::rollout::raw::{RawRollout, RawStep};
use crate::rollout::{Group, RecordRef, SourceId};

/// A file with rollouts.
pub struct Source {
    name: String,
    stem: String,
    /// Folders and name, for the reader.
    place: String,
    content: Content,
    reader: &'static dyn Reader,
    layout: Layout,
    len: u64,
}

impl Source {
    /// The format's reader.
    pub(super) fn reader(&self) -> &'static dyn Reader {
        self.reader
    }

    /// What a record is called in messages.
    pub(super) fn unit(&self) -> &'static str {
        self.layout.unit()
    }

    /// What the reader may know about the place.
    pub(super) fn context(&self) -> Context<'_> {
        Context { stem: &self.stem, path: &self.place, ..Context::default() }
    }

    /// Cuts the file into records.
    pub(super) fn split(&self, sink: &mut dyn FnMut(Piece) -> ControlFlow<()>) -> io::Result<()> {
        self.with_file(|file| split::split(self.layout, Cursor { file, at: 0 }, split::LIMIT, sink))
    }

    fn with_file<T>(&self, run: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        match &self.content {
            Content::Path(path) => run(&File::open(path)?),
            Content::Spool(file) => run(file),
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("format", &self.reader.id())
            .finish_non_exhaustive()
    }
}

/// The files of a load. A [`SourceId`] is an index into it.
#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Looks at each input; those without rollouts come back with their reasons.
    pub(super) fn open(
        inputs: Vec<Input>,
        from: Option<&str>,
    ) -> Result<(Self, Vec<FileVerdict>), LoadError> {
        let forced = match from {
            None => None,
            Some(id) => Some(by_id(id).ok_or_else(|| LoadError::UnknownFormat {
                given: id.to_owned(),
                known: readers().iter().map(|r| r.id()).collect(),
            })?),
        };
        let (mut list, mut verdicts) = (Vec::new(), Vec::new());
        for input in inputs {
            let (name, named) = (input.name.clone(), input.named);
            let refuse =
                |reason: String, hint: Option<String>| FileVerdict { name, named, reason, hint };
            match look(input, forced) {
                Ok(Ok(source)) => list.push(source),
                Ok(Err(not)) => verdicts.push(refuse(not.to_string(), Some(not.hint))),
                Err(error) => verdicts.push(refuse(format!("cannot be read: {error}"), None)),
            }
        }
        Ok((Self { list }, verdicts))
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
        self.get(id).map_or("", |s| &s.name)
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

    /// The path of a file, for messages to the person at the screen; `None` for standard input.
    #[must_use]
    pub fn path(&self, id: SourceId) -> Option<&Path> {
        match &self.get(id)?.content {
            Content::Path(path) => Some(path),
            Content::Spool(_) => None,
        }
    }

    /// All paths that are read from, so that no export writes over one.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.list.iter().filter_map(|s| match &s.content {
            Content::Path(path) => Some(path),
            Content::Spool(_) => None,
        })
    }

    pub(super) fn get(&self, id: SourceId) -> Option<&Source> {
        self.list.get(id.0 as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.list.iter().enumerate().map(|(at, s)| (SourceId(at as u32), s))
    }

    /// The text of one step.
    pub fn step_text(
        &self,
        group: &Group,
        rollout: usize,
        step: usize,
    ) -> Result<StepText, TextError> {
        let owner = group.rollouts.get(rollout).ok_or(TextError::NoSuchStep)?;
        let at = owner.steps.start + step;
        let text = group
            .steps
            .text
            .get(at)
            .filter(|_| at < owner.steps.end)
            .ok_or(TextError::NoSuchStep)?;
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
        let texts = group.steps.text.get(owner.steps.clone()).ok_or(TextError::NoSuchStep)?;
        texts
            .iter()
            .map(|t| {
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
        let parsed = read_record(source.reader, &bytes, &context)
            .map_err(|_| self.changed(record.source))?;
        let part = parsed.parts.into_iter().nth(record.part as usize);
        part.and_then(|p| p.rollout.ok()).ok_or_else(|| self.changed(record.source))
    }

    /// The bytes of a record as they stand in the file.
    pub fn record(&self, record: &RecordRef) -> Result<Vec<u8>, TextError> {
        let source = self.get(record.source).ok_or(TextError::NoSuchStep)?;
        let len = record.bytes.end.saturating_sub(record.bytes.start) as usize;
        let bytes = source
            .with_file(|file| read_range(file, record.bytes.start, len))
            .map_err(|error| TextError::Io { file: source.name.clone(), error })?;
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

type Looked = Result<Source, crate::ingest::NotRollouts>;

fn look(input: Input, forced: Option<&'static dyn Reader>) -> io::Result<Looked> {
    let run = |file: &File| -> io::Result<(u64, Vec<u8>)> {
        Ok((file.metadata()?.len(), read_range(file, 0, shape::HEAD)?))
    };
    let (len, head) = match &input.content {
        Content::Path(path) => run(&File::open(path)?)?,
        Content::Spool(file) => run(file)?,
    };
    let base = input.name.rsplit('/').next().unwrap_or_default().to_owned();
    let shape = Shape::of(&base, &head, head.len() as u64 >= len);
    let reader = match (forced, shape.obstacle()) {
        (Some(_), Some(not)) => return Ok(Err(not)),
        (Some(reader), None) => reader,
        (None, _) => match detect(&shape) {
            Ok(reader) => reader,
            Err(not) => return Ok(Err(not)),
        },
    };
    let layout = reader.layout(&shape);
    let stem = base.split('.').next().unwrap_or_default().to_owned();
    let place = match &input.content {
        Content::Path(path) => path.to_string_lossy().replace('\\', "/"),
        Content::Spool(_) => String::new(),
    };
    Ok(Ok(Source { name: input.name, stem, place, content: input.content, reader, layout, len }))
}
