//! What may happen to the screen, and what the run loop may be asked to do.

use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseEvent};

use super::exporting::Job;
use super::finding::Found;
use super::loading::Arrival;
use super::model::Notice;
use super::snapshot::{Snapshot, Summary};
use super::sweeping;
use super::text::Document;
use super::worker::Source;
use crate::analysis::aggregate::Totals;
use crate::analysis::{AnalysisSettings, Contrast, SignatureSetting};
use crate::load::Progress;
use crate::rollout::{Corpus, Group};

/// What happened.
#[derive(Debug)]
pub enum Msg {
    /// A key.
    Key(KeyEvent),
    /// The terminal has a new size.
    Resize(u16, u16),
    /// The terminal may show something else by now: paint all of it again.
    Repaint,
    /// An analysis is done: its request's number, its group.
    Analysed(u64, usize, Arc<Snapshot>),
    /// What a turn of the signature changed: its request's number.
    Contrasted(u64, Arc<Contrast>),
    /// A part of a sweep picture: its request's number.
    Swept(u64, sweeping::Part),
    /// A part of the answer to a search: its number.
    Found(u64, Found),
    /// A text that is to be opened outside, or why there is none.
    Opened(Result<String, String>),
    /// Everything was loaded again, or could not be.
    Reloaded(Result<(Corpus, Vec<Notice>), String>),
    /// How far a load is.
    Progress(Progress),
    /// What the first load has read so far.
    SoFar(Box<Arrival>),
    /// What the first load has read in the end.
    Loaded(Box<Arrival>),
    /// The first load ended without anything; why.
    NothingLoaded(String),
    /// The first load failed: the program ends with its error.
    LoadFailed,
    /// The wheel, with its direction, or a click, at a place.
    Mouse(MouseEvent),
    /// Text that was pasted.
    Paste(String),
    /// A row of the list of groups is done: its settings' number, its group.
    Summarised(u64, usize, Arc<Summary>),
    /// All rows are done, and what they sum up to: their settings' number.
    Totalled(u64, Arc<Totals>),
    /// A text was read, or could not be.
    Read((usize, usize, usize), Result<Arc<Document>, String>),
    /// A worker failed; what it says.
    Failed(String),
    /// A message for the person.
    Say(String),
    /// A signal that ends the program.
    Signal(i32),
    /// The shell's stop signal.
    Stop,
    /// The keyboard is gone.
    InputClosed,
}

/// What the run loop is asked to do.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Analyse a group; newer requests replace older ones.
    Analyse {
        /// Number of the request.
        key: u64,
        /// Index of the group.
        index: usize,
        /// The group.
        group: Arc<Group>,
        /// Under these settings.
        settings: AnalysisSettings,
        /// All groups, where a column needs statistics over the whole load that are not there yet.
        load: Option<Vec<Arc<Group>>>,
    },
    /// Search the shown group; newer searches replace older ones.
    Find {
        /// Number of the search.
        key: u64,
        /// What is shown.
        snapshot: Arc<Snapshot>,
        /// The pattern.
        pattern: String,
    },
    /// No search before this number is wanted any more.
    StopFinding(u64),
    /// Compare what is shown with the pinned signature; newer requests replace older ones.
    Contrast {
        /// Number of the request.
        key: u64,
        /// What is shown.
        now: Arc<Snapshot>,
        /// The pinned signature.
        pin: SignatureSetting,
        /// The contrast before, whose numbers of the pin may still hold.
        earlier: Option<Arc<Contrast>>,
    },
    /// Make a sweep picture; newer requests replace older ones.
    Sweep(Box<sweeping::Job>),
    /// No sweep before this number is wanted any more.
    StopSweep(u64),
    /// Make the rows of the list of groups, one after the other.
    Summarise {
        /// Number of the settings.
        key: u64,
        /// The groups.
        groups: Vec<Arc<Group>>,
        /// The rows that are there already.
        rows: Vec<Option<Arc<Summary>>>,
        /// Under these settings.
        settings: AnalysisSettings,
        /// Whether groups of uniform outcome count in the quadrants of all groups.
        uniform_counts: bool,
    },
    /// Read the text of a step; newer requests replace older ones.
    Read {
        /// Group, rollout, step.
        of: (usize, usize, usize),
        /// The group.
        group: Arc<Group>,
        /// Whether control characters are shown.
        controls: bool,
    },
    /// Write an export into a new file.
    Export(Box<Job>),
    /// Read the text of a step and open it outside.
    Open {
        /// Group, rollout, step.
        of: (usize, usize, usize),
        /// The group.
        group: Arc<Group>,
    },
    /// Show a text in the person's pager or editor.
    Show(String),
    /// Load everything again.
    Reload,
    /// Stop the load that runs.
    StopLoading,
    /// Exports carry this mark from now on: what is shown is a part.
    Partial(String),
    /// From now on texts and stamps come from here.
    Source(Source),
    /// Nothing needs these any more: letting go of them takes a while.
    Discard(Corpus),
    /// Put a text on the clipboard, and say what it is in these words.
    Copy(String, String),
    /// Capture the mouse, or let it go.
    Mouse(bool),
    /// Hand the terminal back to the shell until it is continued.
    Suspend,
    /// Paint everything again, whatever the terminal shows now.
    Repaint,
    /// Leave with this exit code.
    Quit(u8),
}
