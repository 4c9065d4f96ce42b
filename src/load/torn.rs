//! What is said of a record that cannot be told apart from what follows it.

use serde::de::IgnoredAny;

use crate::ingest::split::Fault;
use crate::ingest::{RecordError, RecordErrorKind, json};

/// What is said of a record in which a quote or a bracket is missing.
#[must_use]
pub fn torn(body: &[u8], fault: Fault, unit: &str) -> RecordError {
    let strict = serde_json::from_slice::<IgnoredAny>(body).err();
    let told = strict.map(|error| format!("; broken JSON: {}", json::complaint(&error)));
    let bytes = fault.bytes;
    let reach = if fault.rest {
        format!("{bytes} bytes from it to the end of the file cannot be cut into {unit}s")
    } else {
        format!("{bytes} bytes up to the next {unit} are lost")
    };
    RecordError {
        kind: RecordErrorKind::Broken,
        field: None,
        reason: format!(
            "a quote or a bracket is missing in it: {reach}{}",
            told.unwrap_or_default()
        ),
        hint: Some("mend it there, or write one rollout per line".to_owned()),
    }
}
