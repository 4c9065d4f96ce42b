//! How a run ends when it does not end well: a message, a hint, an exit code.

use std::io;

use crate::export::OutputError;
use crate::load::LoadError;
use crate::settings::SettingError;

/// Exit code for a run that failed.
pub const FAILED: u8 = 1;
/// Exit code for a command line or a setting that makes no sense.
pub const USAGE: u8 = 2;

/// Why a run stops.
#[derive(Debug)]
pub enum Failure {
    /// Something to tell.
    Told {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
        /// Exit code.
        code: u8,
    },
    /// The reader of standard output has gone; nobody is there to be told.
    Pipe,
    /// A signal asked to stop.
    Signal(u8),
}

impl Failure {
    /// A run that failed.
    pub fn failed(message: impl Into<String>, hint: Option<String>) -> Self {
        Self::Told { message: message.into(), hint, code: FAILED }
    }

    /// What it tells, in one line.
    #[cfg(feature = "tui")]
    pub fn told(&self) -> String {
        match self {
            Self::Told { message, .. } => message.clone(),
            Self::Pipe => "the reader has gone".to_owned(),
            Self::Signal(_) => "a signal stopped it".to_owned(),
        }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>, hint: Option<String>) -> Self {
        Self::Told { message: message.into(), hint, code: USAGE }
    }
}

impl From<SettingError> for Failure {
    fn from(error: SettingError) -> Self {
        Self::usage(error.to_string(), Some("`credscope --help` lists all settings".to_owned()))
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error {
            LoadError::NothingGiven | LoadError::UnknownFormat { .. } => Self::usage(message, hint),
            _ => Self::failed(message, hint),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Pipe
        } else {
            Self::failed(format!("cannot write: {error}"), None)
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Io { error, .. } if error.kind() == io::ErrorKind::BrokenPipe => {
                Self::Pipe
            }
            OutputError::Folder { .. } => {
                let hint = "make the folder, or choose another place".to_owned();
                Self::failed(error.to_string(), Some(hint))
            }
            other => Self::failed(other.to_string(), None),
        }
    }
}
