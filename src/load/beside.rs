//! What stands beside a file in its folder: the file that a run is described in, and the same file
//! packed. It must not know what such a file says.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::read_at::Cursor;
use super::report::{FileVerdict, VerdictKind};
use super::sources::Source;
use super::walk::Content;

/// A description is small; what is larger is none.
const SMALL: u64 = 64 << 20;

/// Descriptions of runs, each read once however many files it is about.
#[derive(Debug, Default)]
pub struct Descriptions {
    read: Mutex<BTreeMap<String, Option<Arc<str>>>>,
}

impl Descriptions {
    /// The text of the file at this place, where there is one.
    pub fn get(&self, place: &str) -> Option<Arc<str>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let text = read.entry(place.to_owned()).or_insert_with(|| {
            let path = Path::new(place);
            let small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= SMALL);
            let text = small.then(|| fs::read_to_string(path).ok()).flatten();
            text.map(|text| Arc::from(text.trim_start_matches('\u{feff}')))
        });
        text.clone()
    }
}

/// Takes out files that stand in their folder once more, unpacked: their rollouts would count twice.
pub fn without_twins(sources: Vec<Source>, verdicts: &mut Vec<FileVerdict>) -> Vec<Source> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, source) in sources.iter().enumerate().filter(|(_, s)| !s.place().is_empty()) {
        places.entry(source.place().to_owned()).or_default().push(at);
    }
    let mut twins: BTreeMap<usize, String> = BTreeMap::new();
    for same in places.into_values().filter(|same| same.len() > 1) {
        let plain =
            |at: &&usize| sources.get(**at).is_some_and(|s| matches!(s.bytes(), Content::Path(_)));
        let Some(&kept) = same.iter().find(plain).or(same.first()) else { continue };
        let Some(first) = sources.get(kept) else { continue };
        for at in same.into_iter().filter(|&at| at != kept) {
            let equal = sources.get(at).is_some_and(|s| alike(first, s).unwrap_or(false));
            if equal {
                twins.insert(at, first.name().to_owned());
            }
        }
    }
    let mut rest = Vec::with_capacity(sources.len());
    for (at, source) in sources.into_iter().enumerate() {
        match twins.get(&at) {
            None => rest.push(source),
            Some(twin) => verdicts.push(FileVerdict {
                name: source.name().to_owned(),
                named: source.named(),
                reason: format!("holds the same as `{twin}`, which is read"),
                hint: None,
                kind: VerdictKind::Copy,
            }),
        }
    }
    rest
}

/// Whether two files have the same content.
fn alike(a: &Source, b: &Source) -> io::Result<bool> {
    let digest = |source: &Source| {
        source.content(|file, at, len| {
            let mut hasher = blake3::Hasher::new();
            let mut rest = Cursor { file, at }.take(len);
            let mut buffer = vec![0; 1 << 16];
            loop {
                match rest.read(&mut buffer)? {
                    0 => return Ok(hasher.finalize()),
                    n => hasher.update(buffer.get(..n).unwrap_or_default()),
                };
            }
        })
    };
    let len = |source: &Source| source.content(|_, _, len| Ok(len));
    Ok(len(a)? == len(b)? && digest(a)? == digest(b)?)
}
