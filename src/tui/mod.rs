//! The screen: a model, a pure update, a pure view, and a loop that carries out effects.
//!
//! Every number comes from [`crate::analysis`]; no statistics, no file formats and no arguments of the
//! command line live here.

mod action;
mod arrange;
pub mod canvas;
pub mod choosing;
pub mod comparing;
mod copying;
mod difference;
pub mod exporting;
pub mod filtering;
pub mod finding;
pub mod glyphs;
pub mod grouping;
pub mod jumps;
pub mod keymap;
pub mod labels;
mod layers;
pub mod layout;
pub mod lens;
pub mod listing;
pub mod loading;
mod looks;
pub mod message;
pub mod model;
mod navigate;
pub mod numbers;
pub mod ordering;
pub mod origin;
mod outside;
pub mod palette;
pub mod panes;
pub mod pivotal;
mod refresh;
mod reload;
pub mod run;
pub mod snapshot;
pub mod still;
mod svg;
pub mod sweeping;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod turning;
pub mod update;
pub mod worker;

use std::io;
use std::sync::Arc;

pub use exporting::{Narrow, Provenance};
pub use model::{Look, Model, Notice, Showing, Start};
pub use text::TextSource;
pub use theme::{Depth, ThemeId};

use crate::analysis::AnalysisSettings;
use crate::rollout::Corpus;

/// What the screen is opened with.
pub struct ScreenInput {
    /// What was loaded.
    pub corpus: Corpus,
    /// Warnings of the load.
    pub notices: Vec<Notice>,
    /// Texts, the stamp of exports, and the way to load again.
    pub origin: worker::Origin,
    /// Settings of the analysis.
    pub settings: AnalysisSettings,
    /// Theme, colours, glyphs.
    pub look: Look,
    /// Where to start.
    pub start: Option<Start>,
    /// What of it is shown.
    pub showing: Showing,
    /// Whether the mouse is captured; then the terminal's own text selection does not work.
    pub mouse: bool,
    /// The load, where it still runs; then nothing was loaded yet.
    pub loading: Option<loading::Running>,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// Unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Whatever the environment says.
    Always,
    /// Not at all.
    Never,
}

impl Look {
    /// The look that the environment asks for: `NO_COLOR`, `COLORTERM`, `TERM`, and the locale.
    ///
    /// `NO_COLOR` wins over [`ColorChoice::Always`] on the screen: the terminal library would turn
    /// every colour into a reset and the selection would vanish with it.
    #[must_use]
    pub fn from_env(theme: ThemeId, color: ColorChoice, ascii: bool) -> Self {
        let var = |name: &str| std::env::var(name).unwrap_or_default();
        let no_color = !var("NO_COLOR").is_empty() || color == ColorChoice::Never;
        let utf8 = crate::export::ascii::utf8();
        Self {
            theme,
            depth: Depth::detect(no_color, &var("COLORTERM"), &var("TERM")),
            ascii: ascii || !utf8,
        }
    }
}

/// Opens the screen and stays until the person leaves; the exit code: 0, or 128+n after a signal.
pub fn run(input: ScreenInput) -> io::Result<u8> {
    crate::export::text::escape_here(!crate::export::ascii::utf8());
    let (outbox, inbox) = match &input.loading {
        Some(running) => (running.outbox.clone(), running.inbox.clone()),
        None => crossbeam_channel::unbounded(),
    };
    let analyst: Arc<dyn worker::Analyst> = Arc::new(worker::Library);
    let workers = worker::Workers::start(&analyst, &input.origin, &outbox)?;
    if let Some(running) = &input.loading {
        workers.watch(&running.halt);
    }
    terminal::guard_panics();
    terminal::listen_signals(outbox.clone())?;
    let mut screen = terminal::Tty::enter(input.mouse)?;
    terminal::listen_keys(outbox)?;
    let mut model =
        Model::new(input.corpus, input.notices, input.settings, input.look, input.start);
    model.show(input.showing);
    model.mouse = input.mouse;
    if let Some(running) = input.loading {
        model.wait_for(running.progress, running.seeks);
    }
    run::drive(&mut screen, &mut model, &workers, &inbox)
}
