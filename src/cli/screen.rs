//! The one place where the command line hands over to the screen, or to a picture of it.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::Failure;
use super::loading::{Given, Opening, failure, open};
use super::options::Options;
use super::session::{Session, Stop};
use crate::export::Output;
use crate::settings::{Settings, Uniform, When};
use crate::tui::loading::Arrival;
use crate::tui::still::{self, Size};
use crate::tui::worker::{Origin, Reloaded};
use crate::tui::{ColorChoice, Depth, Look, Narrow, ScreenInput, Showing, ThemeId};

/// Size of a picture, where none is given.
const SIZE: Size = Size { width: 120, height: 40 };

/// Opens the screen, at once where the load takes longer, or draws it into a file. No signal is listened
/// to here: the screen has to restore the terminal, and a load leaves nothing behind when it is ended.
pub fn screen(settings: Settings, paths: &[PathBuf], options: &Options) -> Result<(), Failure> {
    let size = match &options.size {
        None => SIZE,
        Some(text) => Size::parse(text).ok_or_else(|| {
            Failure::usage(
                format!("--size cannot be `{text}`: expected WxH, up to 1000x1000"),
                None,
            )
        })?,
    };
    let keys = still::keys(options.keys.as_deref().unwrap_or_default()).map_err(|name| {
        Failure::usage(
            format!("--keys has no key `{name}`"),
            Some("names are those of `credscope keys`, between blanks".to_owned()),
        )
    })?;
    let theme = match settings.view.theme.as_deref() {
        None => ThemeId::Default,
        Some(name) => ThemeId::find(name).ok_or_else(|| {
            let known = ThemeId::ALL.map(ThemeId::name).join(", ");
            Failure::usage(format!("unknown theme `{name}`; expected {known}"), None)
        })?,
    };
    let ascii = settings.view.ascii;
    let mut given = Given {
        narrow: narrow(&settings, paths),
        settings,
        paths: paths.to_vec(),
        at: options.at.clone(),
    };
    let look = Look { theme, depth: Depth::True, ascii };
    if let Some(path) = &options.screenshot {
        let session = Session::open(given.settings.clone(), paths, Stop::default())?;
        let (force, inputs) = (session.settings.view.force, session.inputs());
        let mut out = Output::open(Some(path), force, inputs)?;
        // With the statistics over the load that the session has made.
        given.settings = session.settings.clone();
        let arrival = given.arrived(session)?;
        let svg = still::picture(input(&given, Some(arrival), look, options), size, &keys);
        std::io::Write::write_all(&mut out, svg.as_bytes())?;
        return Ok(out.commit()?);
    }
    let color = match given.settings.view.color {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    };
    let look = Look::from_env(theme, color, ascii);
    let (input, failed) = match open(&given)? {
        Opening::Whole(arrival) => (input(&given, Some(*arrival), look, options), None),
        Opening::While(running, failed) => {
            let input = input(&given, None, look, options);
            (ScreenInput { loading: Some(running), ..input }, Some(failed))
        }
    };
    let code = crate::tui::run(input)
        .map_err(|error| Failure::failed(format!("the terminal failed: {error}"), None))?;
    match (code, failed.as_ref().and_then(failure)) {
        (1, Some(why)) => Err(why),
        (0, _) => Ok(()),
        (code, _) => Err(Failure::Signal(code)),
    }
}

/// What the screen opens with: what was loaded, or nothing yet.
fn input(given: &Given, arrival: Option<Arrival>, look: Look, options: &Options) -> ScreenInput {
    let settings = &given.settings;
    let showing = Showing {
        start: Some(settings.clone()),
        rollout: settings.view.rollout.clone(),
        mixed: settings.view.mixed,
        uniform_counts: settings.view.uniform == Uniform::Include,
    };
    let (loaded, start) = arrival.map_or_else(
        || (Reloaded::nothing(Some(settings.clone())), None),
        |arrival| (arrival.loaded, arrival.start),
    );
    let again = given.clone();
    ScreenInput {
        notices: loaded.notices,
        corpus: loaded.corpus,
        origin: Origin {
            texts: loaded.texts,
            provenance: Arc::new(loaded.provenance),
            reload: Some(Arc::new(move |halt, progress| again.again(halt, progress))),
        },
        settings: settings.analysis.clone(),
        look,
        start,
        showing,
        mouse: options.mouse,
        loading: None,
    }
}

/// Loads one task alone, for the stamp of its export; nothing for standard input, which cannot be read
/// again.
fn narrow(settings: &Settings, paths: &[PathBuf]) -> Option<Narrow> {
    if paths.iter().any(|p| p.as_os_str() == "-") {
        return None;
    }
    let (settings, paths) = (settings.clone(), paths.to_vec());
    Some(Arc::new(move |task: &str| {
        let told = |failure: Failure| failure.told();
        let flags = [("only".to_owned(), task.to_owned())];
        let mut settings = settings.with_flags(&flags).map_err(|e| told(e.into()))?;
        settings.view.progress = When::Never;
        let session = Session::open(settings, &paths, Stop::default()).map_err(told)?;
        let stamp = session.stamp("steps", &[]);
        Ok((stamp.inputs, stamp.load))
    }))
}
