//! The one place where the command line hands over to the screen, or to a picture of it.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::Failure;
use super::options::Options;
use super::place::locate;
use super::session::{Session, Stop};
use crate::export::Output;
use crate::settings::{Settings, Uniform, When};
use crate::tui::still::{self, Size};
use crate::tui::worker::{Origin, Reloaded};
use crate::tui::{
    ColorChoice, Depth, Look, Narrow, Notice, Provenance, ScreenInput, Showing, Start, ThemeId,
};

/// Size of a picture, where none is given.
const SIZE: Size = Size { width: 120, height: 40 };

/// Opens the screen, or draws it into a file. No signal is listened to here: the screen has to restore
/// the terminal, and a load leaves nothing behind when it is ended.
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
    let (color, ascii) = (settings.view.color, settings.view.ascii);
    let again = settings.clone();
    let session = Session::open(settings, paths, Stop::default())?;
    let start = match &options.at {
        None => None,
        Some(at) => {
            let (group, rollout, step) = locate(session.groups(), at)?;
            Some(Start { group, rollout, step })
        }
    };
    let picture = match &options.screenshot {
        None => None,
        Some(path) => {
            Some(Output::open(Some(path), session.settings.view.force, session.inputs())?)
        }
    };
    let narrow = narrow(&again, paths);
    let provenance = Provenance { narrow: narrow.clone(), ..provenance(&session) };
    let showing = Showing {
        start: Some(session.settings.clone()),
        rollout: session.settings.view.rollout.clone(),
        mixed: session.settings.view.mixed,
        uniform_counts: session.settings.view.uniform == Uniform::Include,
    };
    let analysis = session.settings.analysis.clone();
    let paths = paths.to_vec();
    let reload = move || {
        if paths.iter().any(|p| p.as_os_str() == "-") {
            return Err("standard input cannot be read again".to_owned());
        }
        let mut settings = again.clone();
        settings.view.progress = When::Never;
        let session =
            Session::open(settings, &paths, Stop::default()).map_err(|failure| failure.told())?;
        Ok(Reloaded {
            provenance: Provenance { narrow: narrow.clone(), ..self::provenance(&session) },
            notices: Notice::of_load(&session.loaded.report),
            corpus: session.loaded.corpus,
            texts: Arc::new(session.loaded.sources),
        })
    };
    let loaded = session.loaded;
    let mut input = ScreenInput {
        notices: Notice::of_load(&loaded.report),
        corpus: loaded.corpus,
        origin: Origin {
            texts: Arc::new(loaded.sources),
            provenance: Arc::new(provenance),
            reload: Some(Arc::new(reload)),
        },
        settings: analysis,
        look: Look { theme, depth: Depth::True, ascii },
        start,
        showing,
        mouse: options.mouse,
    };
    if let Some(mut out) = picture {
        let svg = still::picture(input, size, &keys);
        std::io::Write::write_all(&mut out, svg.as_bytes())?;
        return Ok(out.commit()?);
    }
    let color = match color {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    };
    input.look = Look::from_env(theme, color, ascii);
    let code = crate::tui::run(input)
        .map_err(|error| Failure::failed(format!("the terminal failed: {error}"), None))?;
    if code == 0 { Ok(()) } else { Err(Failure::Signal(code)) }
}

/// What the stamp of an export from the screen says.
fn provenance(session: &Session) -> Provenance {
    let stamp = session.stamp("steps", &[]);
    Provenance {
        settings: Some(session.settings.clone()),
        inputs: stamp.inputs,
        load: stamp.load,
        paths: session.inputs().cloned().collect(),
        folder: PathBuf::new(),
        narrow: None,
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
