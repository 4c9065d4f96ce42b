//! The pipeline: one thread cuts files into records (and documents into their elements), workers parse
//! them and make facts, the calling thread collects. What is collected is small; texts are dropped
//! where they were read.

use std::io;
use std::ops::{ControlFlow, Range};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::budget::{Budget, Taken};
use super::documents::{self, Element, OpenDocument, name_elements};
use super::error::LoadError;
use super::options::{LoadOptions, Progress};
use super::outcome;
use super::packed::{Columns, Packed};
use super::parts;
use super::sources::{Source, Sources};
use super::torn::torn;
use crate::facts::Interpreter;
use crate::ingest::repair::Repairs;
use crate::ingest::sheet::Sheet;
use crate::ingest::split::{Piece, Reach};
use crate::ingest::survey::{Found, Frame};
use crate::ingest::{Layout, RecordError, digest, holes, json, pointer, tears};
use crate::profile::Profiles;
use crate::rollout::raw::{RawNumber, RawRollout, RawStep};
use crate::rollout::{RecordRef, RolloutFacts, SourceId, Sym};

/// Bytes of records in flight: for each worker, and at most.
const IN_FLIGHT: (usize, usize) = (2 << 20, 8 << 20);

/// A task's text is kept this long, for titles.
const PROMPT: usize = 600;

/// One rollout (or one segment of it) that was read: everything but its text. It is small, since it is
/// moved and sorted; what it points at is of the exact size, since all of a load are there at once.
#[derive(Debug, Clone)]
pub struct Pending {
    /// Where its text is.
    pub record: RecordRef,
    /// Digest of its own content, wherever it stands.
    pub content: u64,
    /// What the record says; its steps are empty here.
    pub raw: Box<RawRollout>,
    /// What is kept of its steps, and what they did.
    pub steps: Packed,
    /// How many raw steps there were.
    pub raw_steps: u32,
    /// The side file that its verdict came from.
    pub told: Option<String>,
    /// The file that its id is unique in; another one than its own where files of a folder are one run.
    pub run_file: SourceId,
}

/// The columns of one real step that are not facts. Symbols are those of the rollout's facts.
#[derive(Debug, Clone)]
pub struct StepMeta {
    /// Index among the raw steps.
    pub raw: u32,
    /// Turn number.
    pub turn: u32,
    /// Reward as logged.
    pub step_reward: Option<f64>,
    /// Something stands in its place that is no number.
    pub reward_lost: bool,
    /// Key of the state.
    pub state: Sym,
    /// Key of the action.
    pub action: Sym,
    /// Span of token ids, or a count.
    pub tokens: Option<(u64, u64)>,
}

/// A record that was read, or not.
#[derive(Debug, Clone)]
pub struct Record {
    /// Which file.
    pub source: SourceId,
    /// Where it starts.
    pub offset: u64,
    /// Line, element or value, from 1.
    pub number: u64,
    /// Digest of its bytes.
    pub digest: [u8; 32],
    /// What had to be repaired.
    pub repairs: Repairs,
    /// Which element of the document that begins at the offset, where it was cut into its elements.
    pub element: Option<Element>,
    /// Its rollouts, or why there are none; part numbers count from 0.
    pub parts: Vec<Result<Pending, Lost>>,
    /// Tasks of rollouts that were left out.
    pub left_out: Vec<String>,
    /// What is odd about it and costs nothing: (field, what).
    pub notes: Vec<(String, String)>,
}

/// A record or a part of it that could not be read.
#[derive(Debug, Clone)]
pub struct Lost {
    /// Which part, where only that one is lost.
    pub part: Option<u32>,
    /// Where that part starts in the file, where it was read by itself.
    pub offset: Option<u64>,
    /// It is a line of the record.
    pub line: bool,
    /// What follows it is lost as well, and cannot be counted.
    pub uncut: bool,
    /// It stands around the rollouts of a document, which are read without it.
    pub around: bool,
    /// Why.
    pub error: RecordError,
}

impl Lost {
    /// A part that is lost, or with `None` all of the record.
    #[must_use]
    pub const fn of(part: Option<u32>, error: RecordError) -> Self {
        Self { part, offset: None, line: false, uncut: false, around: false, error }
    }

    /// A line that is lost out of a rollout that is spread over lines.
    #[must_use]
    pub fn line(offset: u64, error: RecordError) -> Self {
        Self { offset: Some(offset), line: true, ..Self::of(None, error) }
    }

    /// What is lost of a document around its rollouts.
    #[must_use]
    pub fn around(error: RecordError) -> Self {
        Self { around: true, ..Self::of(None, error) }
    }
}

impl Record {
    /// A record that nothing has been read of.
    #[must_use]
    pub fn new(source: SourceId, offset: u64, number: u64) -> Self {
        Self {
            source,
            offset,
            number,
            digest: [0; 32],
            repairs: Repairs::default(),
            element: None,
            parts: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
        }
    }
}

struct Job<'a> {
    source: SourceId,
    piece: Piece,
    /// The document that the piece is an element of.
    document: Option<Arc<OpenDocument>>,
    _taken: Taken<'a>,
}

enum Message {
    Record(Box<Record>, usize),
    Failed(SourceId, io::Error),
}

/// A record that was cut.
#[derive(Debug, Clone)]
pub enum Cut {
    /// A document, into its elements.
    Document(Frame),
    /// Columns, into their rows.
    Sheet(Arc<Sheet>),
}

impl Cut {
    /// The record's bytes.
    #[must_use]
    pub fn bytes(&self) -> &Range<u64> {
        match self {
            Self::Document(frame) => &frame.bytes,
            Self::Sheet(sheet) => &sheet.bytes,
        }
    }
}

/// Records that were cut into elements, by file and place.
pub type Frames = Vec<(SourceId, Cut)>;

/// Looks at the records, documents and rollouts that have been read so far.
pub type Show<'a> = dyn FnMut(&[Record], &Mutex<Frames>, u64) + 'a;

/// Reads all files; the records come back in canonical order. `show` is called after each of them.
pub fn read_all(
    sources: &Sources,
    options: &LoadOptions,
    profiles: &Arc<Profiles>,
    show: &mut Show<'_>,
) -> Result<(Vec<Record>, Frames, Progress), LoadError> {
    let workers = options.workers();
    let frames = Mutex::new(Frames::new());
    let budget = Budget::new((IN_FLIGHT.0 * workers.max(1)).min(IN_FLIGHT.1));
    let (jobs, todo) = unbounded::<Job<'_>>();
    let (back, spent) = unbounded::<Vec<u8>>();
    let (results, done) = unbounded::<Message>();
    let (records, read) = thread::scope(|scope| {
        let cutter = results.clone();
        let (budget, frames) = (&budget, &frames);
        let cutter = scope.spawn(move || {
            cut(sources, options, (budget, &spent), (&jobs, &cutter), frames);
        });
        for _ in 0..workers.max(1) {
            let (todo, results, profiles) = (todo.clone(), results.clone(), Arc::clone(profiles));
            let back = back.clone();
            scope.spawn(move || work(sources, options, profiles, (&todo, &back), &results));
        }
        drop((todo, back, results));
        let read = collect(sources, options, &done, &mut |records, n| show(records, frames, n));
        if options.cancelled() {
            return Err(LoadError::Cancelled);
        }
        if let Err(panic) = cutter.join() {
            resume_unwind(panic);
        }
        read
    })?;
    if options.cancelled() {
        return Err(LoadError::Cancelled);
    }
    Ok((in_order(records), frames.into_inner().unwrap_or_else(PoisonError::into_inner), read))
}

/// Records in canonical order, documents put together.
pub fn in_order(mut records: Vec<Record>) -> Vec<Record> {
    records.sort_by_key(|r| (r.source, r.offset, r.element.as_ref().map(|e| e.index)));
    documents::join(records)
}

fn cut<'a>(
    sources: &Sources,
    options: &LoadOptions,
    (budget, spent): (&'a Budget, &Receiver<Vec<u8>>),
    (jobs, results): (&Sender<Job<'a>>, &Sender<Message>),
    frames: &Mutex<Frames>,
) {
    for (id, source) in sources.iter() {
        let mut open: Option<Arc<OpenDocument>> = None;
        let mut pointers = pointer::Lines::default();
        let lines = source.unit() == Layout::Lines.unit();
        let opens = |document: Option<OpenDocument>, record, cut, open: &mut Option<_>| {
            *open = document.map(Arc::new);
            if open.is_some() {
                frames.lock().unwrap_or_else(PoisonError::into_inner).push((id, cut));
            }
            let sent = results.send(Message::Record(Box::new(record), 0));
            if sent.is_ok() { ControlFlow::Continue(()) } else { STOP }
        };
        let cut = source.split(options.cancel.as_deref(), &mut |found| {
            if options.cancelled() || options.leaves() {
                return ControlFlow::Break(());
            }
            let (piece, document) = match found {
                Found::Record(Piece { number, body: Ok(body), .. })
                    if lines && pointers.goes_on(number, &body) =>
                {
                    return ControlFlow::Continue(());
                }
                Found::Record(piece) => (piece, None),
                // The elements of a document that cannot be read are lost with it.
                Found::Element(_) if open.is_none() => return ControlFlow::Continue(()),
                Found::Element(piece) => (piece, open.clone()),
                Found::Document(frame, text) => {
                    let (document, record) = OpenDocument::read(source, id, &frame, text);
                    return opens(document, record, Cut::Document(frame), &mut open);
                }
                Found::Sheet(sheet) => {
                    let (document, record) = OpenDocument::sheet(id, &sheet);
                    return opens(Some(document), record, Cut::Sheet(sheet), &mut open);
                }
            };
            let bytes = piece.body.as_ref().map_or(0, Vec::len);
            if !options.affords(bytes) {
                return STOP;
            }
            let taken = budget.take(bytes);
            // Long blocks that another thread frees are not used again for long by the allocator, and
            // a file of long records would be held as a whole.
            spent.try_iter().for_each(drop);
            // Without workers nobody listens: then there is nothing left to do.
            match jobs.send(Job { source: id, piece, document, _taken: taken }) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => STOP,
            }
        });
        if let Err(error) = cut
            && results.send(Message::Failed(id, error)).is_err()
        {
            break;
        }
    }
}

const STOP: ControlFlow<()> = ControlFlow::Break(());

fn work(
    sources: &Sources,
    options: &LoadOptions,
    profiles: Arc<Profiles>,
    (todo, back): (&Receiver<Job<'_>>, &Sender<Vec<u8>>),
    results: &Sender<Message>,
) {
    let mut interpreter = Interpreter::new(profiles);
    for job in todo {
        if options.cancelled() || options.leaves() {
            continue;
        }
        let bytes = job.piece.body.as_ref().map_or(0, Vec::len);
        let record = read(sources, &job, options, &mut interpreter);
        // A cutter that is through has no use for it.
        let _ = job.piece.body.map(|body| back.send(body));
        if results.send(Message::Record(Box::new(record), bytes)).is_err() {
            return;
        }
    }
}

fn collect(
    sources: &Sources,
    options: &LoadOptions,
    done: &Receiver<Message>,
    show: &mut dyn FnMut(&[Record], u64),
) -> Result<(Vec<Record>, Progress), LoadError> {
    let total_bytes = sources.iter().map(|(id, _)| sources.bytes(id)).sum();
    let total_files = sources.len() as u64;
    let mut progress = Progress { total_bytes, total_files, ..Progress::default() };
    let mut begun = vec![false; sources.len()];
    let (mut records, mut failed, mut told) = (Vec::new(), None, 0);
    for message in done {
        match message {
            Message::Record(mut record, bytes) => {
                // A copy of the exact size, in this thread's memory: what a worker let grow goes
                // back to that worker, and what is kept here is free for the groups later on.
                for part in record.parts.iter_mut().flatten() {
                    *part = part.clone();
                    progress.rollouts += 1;
                }
                if let Some(begun) = begun.get_mut(record.source.0 as usize) {
                    progress.files += u64::from(!std::mem::replace(begun, true));
                }
                record.parts.shrink_to_fit();
                records.push(*record);
                progress.records += 1;
                progress.bytes += bytes as u64;
            }
            Message::Failed(id, error) => {
                failed =
                    failed.or(Some(LoadError::Io { file: sources.name(id).to_owned(), error }));
            }
        }
        // Two hundred calls are enough for any bar.
        if let Some(tell) = &options.progress
            && (progress.bytes - told) * 200 >= total_bytes
        {
            told = progress.bytes;
            tell(progress);
        }
        show(&records, progress.rollouts);
    }
    let whole = !options.cancelled() && !options.watch.as_ref().is_some_and(|w| w.halt.stopped());
    if let Some(tell) = options.progress.as_ref().filter(|_| whole) {
        // White space between records was read too.
        tell(Progress { bytes: total_bytes, ..progress });
    }
    failed.map_or(Ok((records, progress)), Err)
}

fn read(
    sources: &Sources,
    job: &Job<'_>,
    options: &LoadOptions,
    interpreter: &mut Interpreter,
) -> Record {
    let (piece, id) = (&job.piece, job.source);
    let mut record = match &job.document {
        Some(document) => document.record(id, piece),
        None => Record::new(id, piece.offset, piece.number),
    };
    let element = record.element.as_ref().map(|e| e.index);
    if let Some(fault) = piece.fault {
        let unit = if element.is_some() {
            "element"
        } else {
            sources.get(id).map_or("record", Source::unit)
        };
        let body = piece.body.as_deref().unwrap_or_default();
        record.digest = digest(body);
        let lost = Lost::of(element, torn(body, fault, unit));
        let uncut =
            matches!(fault.reach, Reach::Rest | Reach::Later | Reach::Document) || holes::any(body);
        record.parts.push(Err(Lost { uncut, ..lost }));
        name_elements(sources, piece.offset, &mut record);
        return record;
    }
    match (sources.get(id), &piece.body) {
        (Some(source), Ok(bytes)) => {
            let document = job.document.as_deref();
            let filled =
                parts::fill(&mut record, source, bytes, piece, document, options, interpreter);
            let lines = element.is_none() && source.unit() == Layout::Lines.unit();
            if lines && pointer::begins(bytes) {
                // It stands for a file, and nobody knows how many records that holds.
                let lost = Lost::of(None, pointer::among_records());
                record.parts.push(Err(Lost { uncut: true, ..lost }));
            } else if let Err(error) = filled {
                // A line of a file whose lines are documents may have held many rollouts.
                let several =
                    if lines { source.key().is_some() } else { tears::list::may_be_several(bytes) };
                let hole = holes::any(bytes);
                let uncut = error.is_broken() && (several || hole);
                let mut error = parts::explain(error, piece.at_end);
                if uncut && !hole {
                    let bytes = bytes.len();
                    error.reason =
                        format!("{bytes} bytes that may hold more than one: {}", error.reason);
                }
                record.parts.push(Err(Lost { uncut, ..Lost::of(element, error) }));
            }
        }
        (_, Err(len)) => record.parts.push(Err(Lost::of(element, parts::too_large(*len)))),
        (None, Ok(_)) => {}
    }
    name_elements(sources, piece.offset, &mut record);
    record
}

impl Pending {
    /// Keeps of a rollout what is not text.
    #[must_use]
    pub fn new(
        record: RecordRef,
        content: u64,
        mut raw: RawRollout,
        mut facts: RolloutFacts,
    ) -> Self {
        let all = std::mem::take(&mut raw.steps);
        let mut steps = Vec::with_capacity(facts.raw_index.len());
        let mut values = Vec::new();
        for at in std::mem::take(&mut facts.raw_index) {
            let Some(step) = all.get(at as usize) else { continue };
            let nth = steps.len() as u32;
            values.extend(step.values.iter().map(|(name, value)| (nth, name.clone(), *value)));
            steps.push(meta(at, step, &mut facts));
        }
        if let Some(prompt) = &mut raw.prompt {
            *prompt = json::short(prompt, PROMPT).into_owned();
        }
        outcome::note_numbers(&mut raw);
        Self {
            run_file: record.source,
            record,
            content,
            raw: Box::new(raw),
            steps: Packed::of(&Columns { steps, values, facts }),
            raw_steps: all.len() as u32,
            told: None,
        }
    }
}

fn meta(at: u32, step: &RawStep, facts: &mut RolloutFacts) -> StepMeta {
    let mut key =
        |text: &Option<String>| text.as_ref().map_or(Sym::NONE, |t| facts.symbols.intern(t));
    StepMeta {
        raw: at,
        turn: step.turn,
        step_reward: step.step_reward.value(),
        reward_lost: matches!(step.step_reward, RawNumber::Bad(_)),
        state: key(&step.state),
        action: key(&step.action),
        tokens: step.tokens,
    }
}
