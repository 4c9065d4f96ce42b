//! Documents that are cut into their elements: opened once for all workers, and afterwards put together
//! to one record again, as if the document had been read at once.

use std::ops::Range;
use std::sync::Arc;

use super::parts::{explain, too_large};
use super::sources::{Source, Sources};
use super::work::{Lost, Record};
use crate::ingest::sheet::Sheet;
use crate::ingest::split::Piece;
use crate::ingest::survey::Frame;
use crate::ingest::{
    Context, Document, Parsed, Part, RecordError, RecordErrorKind, digest, holes, read_document,
    read_element,
};
use crate::rollout::SourceId;

/// What an element adds to the digest of its document.
#[derive(Debug, Clone)]
pub struct Element {
    /// Which element, from 0.
    pub index: u32,
    digest: u64,
    task: Option<String>,
}

impl Element {
    /// Keeps what the document's digest is made of; `bytes` is the digest of the element as it stands.
    pub fn note(&mut self, parts: &[Part], bytes: u64) {
        self.digest = parts.iter().find_map(|p| p.digest).unwrap_or(bytes);
        self.task = parts.iter().find_map(|p| p.rollout.as_ref().ok()?.task.clone());
    }
}

/// A document whose elements are being read.
#[derive(Debug)]
pub struct OpenDocument {
    offset: u64,
    number: u64,
    shared: Arc<dyn Document>,
    /// A row stands nowhere by itself: its place is that of the record of columns.
    rows_of: Option<Range<u64>>,
}

impl OpenDocument {
    /// Reads what stands around the elements. The record holds what of that is lost; without a document
    /// everything is.
    pub fn read(
        source: &Source,
        id: SourceId,
        frame: &Frame,
        text: Result<Vec<u8>, u64>,
    ) -> (Option<Self>, Record) {
        let mut record = Record::new(id, frame.bytes.start, frame.number);
        let mut hole = false;
        let opened = match text {
            Ok(text) => {
                record.digest = digest(&text);
                hole = holes::any(&text);
                read_document(source.reader(), &text, frame.several(), frame.closed)
            }
            Err(len) => Err(too_large(len)),
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let lost = Lost::of(None, explain(error, frame.at_end));
                record.parts.push(Err(Lost { uncut: hole, ..lost }));
                return (None, record);
            }
        };
        record.repairs = opened.repairs;
        let whole = opened.lost.is_empty() && frame.lost.is_none();
        let cut = !frame.closed && frame.elements_end() && whole;
        let around = |error| Err(Lost::around(explain(error, frame.at_end)));
        record.parts.extend(opened.lost.into_iter().map(around));
        record.parts.extend(gone(frame).map(|error| Err(Lost::around(error))));
        if cut {
            record.parts.push(around(RecordError {
                kind: RecordErrorKind::Cut,
                field: None,
                reason: "cut after its list of rollouts".to_owned(),
                hint: None,
            }));
        }
        let (offset, number, shared) = (record.offset, record.number, opened.document);
        (Some(Self { offset, number, shared, rows_of: None }), record)
    }

    /// A record of columns; the record that its rows are put together to holds what is odd about it.
    pub fn sheet(id: SourceId, sheet: &Sheet) -> (Self, Record) {
        let (offset, number) = (sheet.bytes.start, sheet.number);
        let lost = sheet.lost.iter().map(|error| Err(Lost::around(error.clone()))).collect();
        let notes = sheet.notes.clone();
        let record = Record { notes, parts: lost, ..Record::new(id, offset, number) };
        let (shared, rows_of) = (Arc::clone(&sheet.document), Some(sheet.bytes.clone()));
        (Self { offset, number, shared, rows_of }, record)
    }

    /// Where in the file an element of it is read again.
    #[must_use]
    pub fn place(&self, piece: &Piece) -> Range<u64> {
        let len = piece.body.as_ref().map_or(0, Vec::len) as u64;
        self.rows_of.clone().unwrap_or(piece.offset..piece.offset + len)
    }

    /// A record for one element.
    #[must_use]
    pub fn record(&self, source: SourceId, piece: &Piece) -> Record {
        let index = piece.number.saturating_sub(1) as u32;
        let element = Some(Element { index, digest: 0, task: None });
        Record { element, ..Record::new(source, self.offset, self.number) }
    }

    /// Reads one element.
    pub fn element(
        &self,
        bytes: &[u8],
        at: u32,
        context: &Context<'_>,
    ) -> Result<Parsed, RecordError> {
        read_element(&*self.shared, bytes, at as usize, context)
    }
}

/// What is said of a document that is read without a part that is torn.
fn gone(frame: &Frame) -> Option<RecordError> {
    let reason = match &frame.lost {
        Some(lost) => format!(
            "a quote or a bracket is missing in it: {} bytes are lost, of which no rollout takes anything",
            lost.bytes.end - lost.bytes.start
        ),
        None if frame.bare() => {
            "the bracket that ends its list of rollouts is missing; all that is in it is read"
                .to_owned()
        }
        None => return None,
    };
    let field = frame.lost.as_ref().and_then(|lost| lost.key.clone());
    Some(RecordError { kind: RecordErrorKind::Broken, field, reason, hint: None })
}

/// Says which element of the document the complaints about rollouts are about, and where in the file
/// one that was read by itself begins.
pub fn name_elements(sources: &Sources, offset: u64, record: &mut Record) {
    let Some(key) = sources.get(record.source).and_then(Source::key) else {
        return name_cells(record);
    };
    if let Some(element) = &record.element {
        for (field, _) in &mut record.repairs.said {
            *field = format!("{key}[{}].{field}", element.index);
        }
    }
    for lost in record.parts.iter_mut().filter_map(|part| part.as_mut().err()) {
        let Some(at) = lost.part else { continue };
        let error = &mut lost.error;
        error.field = Some(match error.field.take() {
            Some(field) => format!("{key}[{at}].{field}"),
            None => format!("{key}[{at}]"),
        });
        lost.offset = record.element.is_some().then_some(offset);
    }
}

/// Says which cell of its column a complaint about a row is about.
fn name_cells(record: &mut Record) {
    let Some(element) = &record.element else { return };
    for (field, _) in &mut record.repairs.said {
        let end = field.find(['.', '[']).unwrap_or(field.len());
        field.insert_str(end, &format!("[{}]", element.index));
    }
}

/// The digest of a document by its rollouts, whatever their order in it: the digest of each and the task
/// of the first that has one. `None` where a part has no digest of its own.
#[must_use]
pub fn of_parts(own: impl Iterator<Item = Option<u64>>, task: Option<&str>) -> Option<[u8; 32]> {
    Some(of_digests(own.collect::<Option<_>>()?, task.unwrap_or_default()))
}

fn of_digests(mut own: Vec<u64>, task: &str) -> [u8; 32] {
    own.sort_unstable();
    let mut bytes: Vec<u8> = own.into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.extend(task.as_bytes());
    digest(&bytes)
}

/// Puts the elements of each document together. The records are sorted: a document stands before its
/// elements.
#[must_use]
pub fn join(records: Vec<Record>) -> Vec<Record> {
    let (mut joined, mut elements) = (Vec::<Record>::with_capacity(records.len()), Vec::new());
    for mut record in records {
        match (record.element.take(), joined.last_mut()) {
            (Some(element), Some(document)) => {
                elements.push(element);
                document.repairs = std::mem::take(&mut document.repairs).and(record.repairs);
                document.parts.append(&mut record.parts);
                document.left_out.append(&mut record.left_out);
            }
            (_, before) => {
                sign(before, &mut elements);
                joined.push(record);
            }
        }
    }
    sign(joined.last_mut(), &mut elements);
    joined
}

/// Gives a document the digest of its elements.
fn sign(document: Option<&mut Record>, elements: &mut Vec<Element>) {
    let task = elements.iter().find_map(|e| e.task.clone()).unwrap_or_default();
    let own: Vec<u64> = elements.drain(..).map(|e| e.digest).collect();
    if let Some(document) = document.filter(|_| !own.is_empty()) {
        document.digest = of_digests(own, &task);
    }
}
