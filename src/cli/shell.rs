//! What shells, manual readers and validators ask for.

use std::io::Write as _;

use super::args;
use super::error::Failure;
use super::kind::Kind;
use super::options::Options;
use crate::export::{Output, schema};
use crate::settings::Settings;

/// Writes completions, the manual page or a schema.
pub fn write(kind: Kind, settings: &Settings, options: &Options) -> Result<(), Failure> {
    let mut out =
        Output::open(settings.view.out.as_deref(), settings.view.force, settings.files())?;
    let topic = options.topic.as_deref().unwrap_or_default();
    match kind {
        Kind::Completions => {
            // The generator gives up on a failing writer: it writes into memory first.
            let mut text = Vec::new();
            args::completions(topic, &mut text);
            out.write_all(&text)?;
        }
        Kind::Man => args::manual(&mut out)?,
        _ => {
            let text = schema::find(topic)
                .ok_or_else(|| Failure::usage(format!("there is no output `{topic}`"), None))?;
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(out.commit()?)
}
