//! Records that are one part of a rollout: the fields that say so are the same whichever format the
//! rest of the record has, so they are read here for all readers that do not know better.
//!
//! What is joined to what is decided where rollouts are told apart, not here.

use super::json::{Error, Object};
use super::messages::first_id;
use super::reader::Part;
use crate::rollout::raw::RawRollout;

/// Fields that give a record's place among the parts of its rollout.
pub(super) const PLACE: [&str; 2] = ["segment_index", "segment_id"];

/// What both names begin with: most records have neither and are not looked at again.
const BEGINNING: &[u8] = b"\"segment_i";

/// Fields that name the rollout where its format has no id.
const ID: [&str; 5] = ["rollout_id", "traj_id", "trajectory_id", "id", "uuid"];

/// Reads the place of a record that is a single rollout.
pub(super) fn mark(text: &str, parts: &mut [Part]) -> Result<(), Error> {
    let [Part { rollout: Ok(raw), .. }] = parts else { return Ok(()) };
    if raw.segment_index.is_some() || memchr::memmem::find(text.as_bytes(), BEGINNING).is_none() {
        return Ok(());
    }
    // The mark may stand deep in a text, in a record that is no object.
    let Ok(record) = Object::parse(text) else { return Ok(()) };
    read(&record, raw)
}

fn read(record: &Object<'_>, raw: &mut RawRollout) -> Result<(), Error> {
    let Some((name, _)) = record.first(&PLACE) else { return Ok(()) };
    let name = name.to_owned();
    raw.segment_index = record.whole(&name)?;
    if raw.segment_index.is_none() {
        let reason = "no whole number: the record is a rollout of its own";
        raw.notes.push((name, reason.to_owned()));
        return Ok(());
    }
    if raw.id.is_none() {
        raw.id = first_id(record, &ID)?;
    }
    raw.attempt = raw.attempt.or(record.whole("attempt")?);
    raw.prompt_is_summary |= record.truth("prompt_is_summary").unwrap_or(false);
    Ok(())
}
