//! What all commands share: settings from their places, the load with its progress and warnings, and
//! the analysis of one group after another.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;

use super::error::Failure;
use crate::analysis::Analysis;
use crate::credit::RewardSource;
use crate::export::check;
use crate::load::{self, Loaded, Progress};
use crate::profile::{Profiles, Runners};
use crate::rollout::{Group, plural};
use crate::settings::{Given, Input, Settings, Stamp, When, config, stamp, table};

/// Inputs smaller than this show no progress unless it is asked for.
const QUICK: u64 = 16 << 20;

/// A signal that asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Stops when this flag is set.
    #[cfg(feature = "tui")]
    pub fn by(flag: Arc<AtomicBool>) -> Self {
        Self { flag, ..Self::default() }
    }

    /// Listens for the signals that ask a program to end. The first one stops the work at the next
    /// safe place, so that no temporary file stays behind; a second one ends at once.
    pub fn listen() -> Self {
        let stop = Self::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            for signal in [SIGHUP, SIGINT, SIGTERM] {
                let number = usize::try_from(signal).unwrap_or_default();
                // A handler that cannot be set leaves the system's own behaviour, which ends us, too.
                let _ = signal_hook::flag::register_conditional_shutdown(
                    signal,
                    128 + signal,
                    Arc::clone(&stop.flag),
                );
                let _ = signal_hook::flag::register_usize(signal, Arc::clone(&stop.signal), number);
                let _ = signal_hook::flag::register(signal, Arc::clone(&stop.flag));
            }
        }
        stop
    }

    /// An error when a signal came.
    pub fn check(&self) -> Result<(), Failure> {
        if self.flag.load(Ordering::Relaxed) {
            let signal = self.signal.load(Ordering::Relaxed);
            return Err(Failure::Signal(u8::try_from(128 + signal).unwrap_or(u8::MAX)));
        }
        Ok(())
    }
}

/// Settings from flags, environment and config file. Where an export is run again, its stamp stands in
/// for environment and config file: of these, only what no export carries still counts.
pub fn settings(
    flags: Vec<Given>,
    config_file: Option<&Path>,
    earlier: Option<&stamp::Found>,
) -> Result<Settings, Failure> {
    let variables = std::env::vars_os()
        .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
    let mut given = config::from_environment(variables)?;
    let named = config_file
        .map(Path::to_owned)
        .or_else(|| std::env::var_os("CREDSCOPE_CONFIG").map(PathBuf::from));
    let text = match &named {
        Some(path) => Some((
            path.clone(),
            std::fs::read_to_string(path).map_err(|error| {
                Failure::failed(
                    format!("cannot read the config file {}: {error}", path.display()),
                    None,
                )
            })?,
        )),
        None => standard_config().and_then(|p| Some((p.clone(), std::fs::read_to_string(p).ok()?))),
    };
    let mut place = None;
    if let Some((path, text)) = text {
        given.extend(config::from_toml(&text, &path.display().to_string())?);
        place = Some(path);
    }
    given.extend(of_profiles(given.iter().chain(&flags))?);
    if let Some(earlier) = earlier {
        let carried = |name: &str| table::find(name).is_some_and(|s| s.stamped);
        given.retain(|g| !carried(&g.name));
        given.extend(earlier.given.iter().cloned());
    }
    given.extend(flags);
    let mut settings = Settings::resolve(&given)?;
    settings.places.extend(place);
    Ok(settings)
}

/// The settings that come with the profiles that were named anywhere.
fn of_profiles<'a>(given: impl Iterator<Item = &'a Given>) -> Result<Vec<Given>, Failure> {
    let mut found = Vec::new();
    for one in given.filter(|g| g.name == "profile") {
        // A profile that cannot be read is told where it is read as one.
        if let Ok(text) = std::fs::read_to_string(&one.value)
            && text.contains("settings")
        {
            found.extend(config::from_profile(&text, &one.value)?);
        }
    }
    Ok(found)
}

fn standard_config() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(base.join("credscope").join("config.toml"))
}

/// The built-in profiles and runners, and those of the given files, which are looked at first.
fn profiles(settings: &Settings) -> Result<Profiles, Failure> {
    let read = |file: &PathBuf| {
        let name = file.display().to_string();
        std::fs::read_to_string(file)
            .map(|text| (text, name.clone()))
            .map_err(|error| Failure::failed(format!("cannot read {name}: {error}"), None))
    };
    let wrong = |error: &dyn std::fmt::Display, hint: &str| {
        Failure::failed(error.to_string(), Some(hint.to_owned()))
    };
    let mut profiles = Profiles::builtin();
    for (text, name) in settings.runners.iter().map(read).collect::<Result<Vec<_>, _>>()? {
        let more = Runners::read(&text, &name)
            .map_err(|error| wrong(&error, "assets/runners.toml has the built-in ones"))?;
        profiles.runners.prepend(more);
    }
    for (text, name) in settings.profiles.iter().map(read).collect::<Result<Vec<_>, _>>()? {
        profiles.add(&text, &name).map_err(|error| {
            wrong(
                &error,
                "`credscope profiles` lists the built-in ones; assets/profiles/ has their files",
            )
        })?;
    }
    Ok(profiles)
}

/// A load with its settings.
#[derive(Debug)]
pub struct Session {
    /// Settings.
    pub settings: Settings,
    /// What was loaded.
    pub loaded: Loaded,
    /// The paths as they were typed.
    paths: Vec<PathBuf>,
    stop: Stop,
}

impl Session {
    /// Loads what was given; with `--strict`, all of it or nothing.
    pub fn open(settings: Settings, paths: &[PathBuf], stop: Stop) -> Result<Self, Failure> {
        let session = Self::read(settings, paths, stop)?;
        session.strict()?;
        Ok(session)
    }

    /// Loads what can be read of what was given.
    pub fn read(mut settings: Settings, paths: &[PathBuf], stop: Stop) -> Result<Self, Failure> {
        if paths.is_empty() {
            return Err(load::LoadError::NothingGiven.into());
        }
        mistyped(paths)?;
        // A screen that watches the load shows itself how far it is.
        let watched = settings.load.watch.is_some();
        if !watched {
            settings.load.progress = told_progress(&settings);
        }
        settings.load.cancel = Some(Arc::clone(&stop.flag));
        let shows = !watched && settings.load.progress.is_some();
        let profiles = Arc::new(profiles(&settings)?);
        let loaded = load::load(paths, &settings.load, &profiles);
        if shows {
            eprint!("\r\x1b[K");
        }
        (settings.load.progress, settings.load.watch) = (None, None);
        stop.check()?;
        let loaded = loaded?;
        if !watched {
            settings.analysis.batch = crate::analysis::batch(&loaded.corpus, &settings.analysis);
        }
        let session = Self { settings, loaded, paths: paths.to_vec(), stop };
        // What was left unread may have the names that are asked for.
        if session.loaded.report.stopped.is_none() {
            session.known_rollout()?;
            session.known_rewards()?;
        }
        Ok(session)
    }

    /// A reward that is asked for by name must be there.
    fn known_rewards(&self) -> Result<(), Failure> {
        let RewardSource::Logged(weights) = &self.settings.analysis.credit.reward_source else {
            return Ok(());
        };
        let rollouts = self.groups().iter().flat_map(|g| &g.rollouts);
        let named = rollouts.flat_map(|r| r.named_rewards.iter().map(|(name, _)| name.as_str()));
        let known: std::collections::BTreeSet<&str> = named.collect();
        let Some((name, _)) = weights.iter().find(|(name, _)| !known.contains(name.as_str()))
        else {
            return Ok(());
        };
        let hint = if known.is_empty() {
            "no rollout has named rewards; without --reward the logged reward is taken".to_owned()
        } else {
            format!("there are {}", some(known.into_iter()))
        };
        Err(Failure::failed(format!("no rollout has a reward called `{name}`"), Some(hint)))
    }

    fn known_rollout(&self) -> Result<(), Failure> {
        let Some(id) = &self.settings.view.rollout else {
            return Ok(());
        };
        if self.groups().iter().any(|g| g.find(id).is_some()) {
            return Ok(());
        }
        let known = self.groups().iter().flat_map(|g| g.rollouts.iter().map(|r| r.id.as_str()));
        Err(Failure::failed(
            format!("no rollout is called `{id}`"),
            Some(format!("there are {}", some(known))),
        ))
    }

    /// An error when a signal came.
    pub fn check(&self) -> Result<(), Failure> {
        self.stop.check()
    }

    /// The groups.
    pub fn groups(&self) -> &[Arc<Group>] {
        &self.loaded.corpus.groups
    }

    /// With `--strict` an error when anything was skipped or could not be read.
    pub fn strict(&self) -> Result<(), Failure> {
        match self.loaded.report.fault() {
            Some(fault) if self.settings.view.strict => Err(Failure::failed(fault, None)),
            _ => Ok(()),
        }
    }

    /// An error when a path that was named gave nothing; for the end, when the rest is done.
    pub fn all_read(&self) -> Result<(), Failure> {
        match self.loaded.report.unread(&self.paths) {
            lost if lost.is_empty() => Ok(()),
            lost => Err(Failure::failed(format!("could not be read: {}", lost.join("\n")), None)),
        }
    }

    /// Tells on standard error what a person must not miss. What makes the run fail in the end is told
    /// then.
    pub fn warn(&self) {
        let told_later = |w: &load::Warning| w.code == "unread";
        for warning in self.loaded.report.warnings.iter().filter(|w| !told_later(w)) {
            let hint = warning.hint.as_deref().unwrap_or_default();
            complain(&format!("warning: {} [{}] {hint}", warning.text, warning.code));
        }
    }

    /// The stamp of an export.
    pub fn stamp(&self, kind: &str, options: &[(&str, Value)]) -> Stamp {
        let report = &self.loaded.report;
        Stamp::new(kind, &self.settings, options, inputs(report), check::counts(report))
    }

    /// All files that were read: they must not be written over.
    pub fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.loaded.sources.paths().chain(self.settings.files())
    }

    /// Analyses group after group, several at a time, and hands them over in canonical order; each is
    /// dropped before the next few are made.
    pub fn each(
        &self,
        mut then: impl FnMut(&Analysis) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let make = |group: &Arc<Group>| Analysis::new(Arc::clone(group), &self.settings.analysis);
        self.each_with(make, |analysis| {
            if self.leaves_out(&analysis) {
                return Ok(());
            }
            then(&analysis)
        })
    }

    /// Whether only groups of mixed outcomes are wanted, and this is none.
    pub fn leaves_out(&self, analysis: &Analysis) -> bool {
        self.settings.view.mixed && analysis.basis.uniform_outcome()
    }

    /// Makes something of the analysis of each of these groups, several at a time, and hands it over in
    /// canonical order.
    pub fn each_made<T: Send>(
        &self,
        make: impl Fn(&Analysis) -> T + Sync,
        mut then: impl FnMut(T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let one = |group: &Arc<Group>| {
            let analysis = Analysis::new(Arc::clone(group), &self.settings.analysis);
            (!self.leaves_out(&analysis)).then(|| make(&analysis))
        };
        self.each_with(one, |made| made.map_or(Ok(()), &mut then))
    }

    /// Makes something of group after group, several at a time, and hands it over in canonical order.
    pub fn each_with<T: Send>(
        &self,
        make: impl Fn(&Arc<Group>) -> T + Sync,
        mut then: impl FnMut(T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let threads = self
            .settings
            .load
            .threads
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, usize::from);
        let make = &make;
        let wanted: Vec<&Arc<Group>> = self
            .groups()
            .iter()
            .filter(|g| {
                let id = self.settings.view.rollout.as_deref();
                id.is_none_or(|id| g.find(id).is_some())
            })
            .collect();
        let broke_off = || Failure::failed("the analysis of a group broke off", None);
        for some in wanted.chunks(threads) {
            self.stop.check()?;
            // This thread does the first itself: what the load gave back is free in its memory.
            let Some((first, others)) = some.split_first() else { continue };
            let made: Vec<T> = std::thread::scope(|scope| {
                let running: Vec<_> =
                    others.iter().map(|group| scope.spawn(move || make(group))).collect();
                let first = catch_unwind(AssertUnwindSafe(|| make(first)));
                std::iter::once(first)
                    .chain(running.into_iter().map(std::thread::ScopedJoinHandle::join))
                    .collect::<Result<_, _>>()
            })
            .map_err(|_| broke_off())?;
            for one in made {
                then(one)?;
            }
        }
        Ok(())
    }
}

/// The inputs of a load, for a stamp.
pub fn inputs(report: &load::LoadReport) -> Vec<Input> {
    let input = |f: &load::FileReport| Input {
        name: f.name.clone(),
        bytes: f.bytes,
        digest: f.digest.clone(),
    };
    report.files.iter().map(input).collect()
}

/// A few names, and how many more there are.
pub fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let mut text = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 8 {
        let _ = write!(text, " and {} more", names.len() - 8);
    }
    crate::export::text::line(&text).into_owned()
}

/// A line on standard error; a reader that has gone is no reason to fail.
pub fn complain(line: &str) {
    let line = crate::export::text::line(line);
    let _ = writeln!(std::io::stderr(), "{}", line.trim_end());
}

/// A missing file that is called nearly like a command is probably a command.
fn mistyped(paths: &[PathBuf]) -> Result<(), Failure> {
    match paths.first().and_then(|path| Some((path, near_command(Some(path))?))) {
        Some((name, near)) => Err(Failure::failed(
            format!("cannot read {}: there is no such file", name.display()),
            Some(format!("did you mean the command `{near}`?")),
        )),
        None => Ok(()),
    }
}

/// The command that a word was probably meant to be: its name is near, and no file is called so.
pub fn near_command(word: Option<impl AsRef<Path>>) -> Option<&'static str> {
    let word = word?;
    let path = word.as_ref();
    let name = path.to_str().filter(|w| *w != "-" && path.symlink_metadata().is_err())?;
    let names = || super::kind::Kind::ALL.iter().map(|k| k.name());
    config::nearest(name, names()).filter(|_| names().all(|known| known != name))
}

fn told_progress(settings: &Settings) -> Option<load::OnProgress> {
    let always = settings.view.progress == When::Always;
    let terminal = std::io::stderr().is_terminal();
    if settings.view.progress == When::Never || !(always || terminal) {
        return None;
    }
    let last = AtomicUsize::new(usize::MAX);
    Some(Arc::new(move |progress: Progress| {
        if progress.total_bytes < QUICK && !always {
            return;
        }
        let percent =
            progress.bytes.saturating_mul(100).checked_div(progress.total_bytes).unwrap_or(0);
        let percent = usize::try_from(percent).unwrap_or(100).min(100);
        if last.swap(percent, Ordering::Relaxed) != percent {
            let _ = write!(
                std::io::stderr(),
                "\rreading {percent}%, {}\x1b[K",
                plural(progress.records, "record")
            );
        }
    }))
}
