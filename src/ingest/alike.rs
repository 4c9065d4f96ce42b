//! The digest of a record by which copies are told: an id that stands there as a number or as text is
//! the same id, and records that differ in nothing else are copies.

use super::reader::{digest, digest64};
use super::scan;
use crate::rollout::raw::RawRollout;

/// Fields that hold ids of rollouts and tasks.
const IDS: [&[u8]; 12] = [
    b"id",
    b"rollout_id",
    b"traj_id",
    b"trajectory_id",
    b"uuid",
    b"task",
    b"task_id",
    b"problem_id",
    b"instance_id",
    b"example_id",
    b"prompt_id",
    b"group",
];

/// The digest of a rollout's text with its ids as text; `None` where it is that of the text itself, or
/// the rollout has no id.
pub(super) fn digest_of(text: &str, raw: &RawRollout) -> Option<u64> {
    raw.id.as_ref()?;
    // Only these can have stood there as numbers; other records are not looked at again.
    let number = |id: &Option<String>| id.as_ref().is_some_and(|id| is_number(id.as_bytes()));
    if !number(&raw.id) && !number(&raw.task) {
        return None;
    }
    let text = text.trim_start();
    let mut told = Vec::with_capacity(text.len() + 4);
    let mut done = 0;
    for entry in scan::entries(text.as_bytes()) {
        if !IDS.contains(&entry.key) || !is_number(entry.value) {
            continue;
        }
        let start = (entry.value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        told.extend_from_slice(text.as_bytes().get(done..start)?);
        told.push(b'"');
        told.extend_from_slice(entry.value);
        told.push(b'"');
        done = start + entry.value.len();
    }
    if done == 0 {
        return None;
    }
    told.extend_from_slice(text.as_bytes().get(done..)?);
    Some(digest64(&digest(&told)))
}

fn is_number(id: &[u8]) -> bool {
    let digits = id.strip_prefix(b"-").unwrap_or(id);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_alike() {
        let raw = RawRollout { id: Some("2".into()), ..RawRollout::default() };
        let plain = |text: &str| digest64(&digest(text.as_bytes()));
        let text = r#"{"task": "7", "id": "2", "n": 2}"#;
        for other in [r#"{"task": "7", "id": 2, "n": 2}"#, r#"{"task": 7, "id": 2, "n": 2}"#] {
            assert_eq!(digest_of(other, &raw), Some(plain(text)));
        }
        assert_eq!(digest_of(text, &raw), None);
        let without = RawRollout { id: None, ..raw };
        assert_eq!(digest_of(r#"{"task":2}"#, &without), None);
    }
}
