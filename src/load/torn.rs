//! What is said of a record that cannot be told apart from what follows it.

use serde::de::IgnoredAny;

use crate::ingest::split::{Fault, Reach};
use crate::ingest::{RecordError, RecordErrorKind, holes, json};

/// What is said of a record in which a quote or a bracket is missing.
#[must_use]
pub fn torn(body: &[u8], fault: Fault, unit: &str) -> RecordError {
    let strict = serde_json::from_slice::<IgnoredAny>(body).err();
    let told = strict
        .filter(|_| !body.is_empty())
        .map(|error| format!("; broken JSON: {}", json::complaint(&error)));
    let bytes = fault.bytes;
    let hole = holes::told(body);
    let told = told.filter(|_| hole.is_none()).unwrap_or_default();
    let reason = match fault.reach {
        Reach::Next => format!(
            "a quote or a bracket is missing in it: {bytes} bytes up to the next {unit} are lost{told}"
        ),
        Reach::Later => format!(
            "a quote or a bracket is missing in it: {bytes} bytes up to the next {unit} that can be cut \
             are lost, and how many more they held is unknown{told}"
        ),
        Reach::List => format!(
            "a quote or a bracket is missing in it: {bytes} bytes up to the end of the list are lost{told}"
        ),
        Reach::Rest => format!(
            "a quote or a bracket is missing in it: {bytes} bytes from it to the end of the file \
             cannot be cut into {unit}s, and how many more they held is unknown{told}"
        ),
        Reach::Document => format!(
            "a quote or a bracket is missing in it: {bytes} bytes from it to the end of the document \
             cannot be read, and how many more rollouts they held is unknown{told}"
        ),
        Reach::After => format!(
            "no {unit}: {bytes} bytes stand behind the end of the list, where nothing can{told}"
        ),
    };
    let error = |reason| RecordError {
        kind: RecordErrorKind::Broken,
        ..RecordError::unexpected(None, reason)
    };
    match hole {
        Some(hole) => {
            let lost =
                format!("{bytes} bytes from it on are lost, and how many more {unit}s they held");
            error(format!("{hole}: {lost} is unknown")).hint(holes::HINT)
        }
        None => error(reason).to_mend(),
    }
}
