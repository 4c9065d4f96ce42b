//! What the load tests share.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use credscope::load::{LoadError, LoadOptions, Loaded, load};
use credscope::profile::Profiles;
use credscope::rollout::{Group, Outcome, TextRef};

fn data(variable: &str, default: &str, name: &str) -> Option<PathBuf> {
    let root = std::env::var_os(variable)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(default), PathBuf::from);
    let path = root.join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is not here; set {variable}", path.display());
        return None;
    }
    Some(path)
}

/// A file of the corpus; `None`, said loudly, where the corpus is not there.
pub fn corpus(name: &str) -> Option<PathBuf> {
    data("CREDSCOPE_CORPUS", "../shared/data", name)
}

/// The input of a replayable case.
pub fn case(name: &str) -> Option<PathBuf> {
    data("CREDSCOPE_CASES", "../shared/cases", name)
}

/// Loads with the built-in profiles.
pub fn load_with(paths: &[PathBuf], options: &LoadOptions) -> Result<Loaded, LoadError> {
    load(paths, options, &Arc::new(Profiles::builtin()))
}

/// Loads a text as a file of that name.
pub fn load_text(name: &str, text: &str, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_bytes(name, text.as_bytes(), options)
}

/// Loads bytes as a file of that name.
pub fn load_bytes(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Loaded, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    load_with(&[path], options)
}

/// Loads a folder of mini-SWE-agent with a rollout at each of these places, `…/INSTANCE`, and with these
/// side files.
pub fn evaluated(rollouts: &[&str], files: &[(&str, &str)]) -> Loaded {
    let dir = tempfile::tempdir().unwrap();
    for place in rollouts {
        let instance = place.rsplit('/').next().unwrap();
        let folder = dir.path().join(place);
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!(
            r#"{{"info":{{"exit_status":"Submitted","submission":"{place}","model_stats":{{}},"config":{{"model":{{"model_name":"m"}}}}}},
            "messages":[{{"role":"system","content":"s"}},{{"role":"user","content":"fix"}},
            {{"role":"assistant","content":"look\n```bash\nls\n```"}},{{"role":"user","content":"<returncode>0</returncode>\n<output>\na\n</output>"}}],
            "trajectory_format":"mini-swe-agent-1","instance_id":"{instance}"}}"#
        );
        std::fs::write(folder.join(format!("{instance}.traj.json")), text).unwrap();
    }
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    load_with(&[dir.path().into()], &LoadOptions::default()).unwrap()
}

/// All files in a folder and in those within it.
pub fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            walk(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

/// The outcomes of a group with counts, those that occur.
pub fn outcomes(group: &Group) -> Vec<(&'static str, usize)> {
    Outcome::ALL
        .into_iter()
        .map(|o| (o.name(), group.rollouts.iter().filter(|r| r.outcome == o).count()))
        .filter(|(_, n)| *n > 0)
        .collect()
}

/// Raw steps of a group, read again from the file.
pub fn raw_steps(loaded: &Loaded, group: &Group) -> usize {
    let records = group.rollouts.iter().flat_map(|r| &r.records);
    records.map(|r| loaded.sources.rollout(r).unwrap().steps.len()).sum()
}

/// Ids of a group's rollouts.
pub fn ids(group: &Group) -> Vec<&str> {
    group.rollouts.iter().map(|r| r.id.as_str()).collect()
}

/// The group with every raw step as a step: what the text functions need, whatever the facts say.
pub fn with_all_steps(loaded: &Loaded, at: usize) -> Group {
    let mut group = Group::clone(&loaded.corpus.groups[at]);
    group.steps.text.clear();
    for rollout in &mut group.rollouts {
        let start = group.steps.text.len();
        for (record, place) in rollout.records.iter().enumerate() {
            let raw = loaded.sources.rollout(place).unwrap();
            group.steps.text.extend(
                (0..raw.steps.len() as u32).map(|raw| TextRef { record: record as u32, raw }),
            );
        }
        rollout.steps = start..group.steps.text.len();
    }
    group
}

/// What must not depend on the order of lines or on threads: everything but places in the file.
pub fn summary(loaded: &Loaded) -> Vec<String> {
    loaded
        .corpus
        .groups
        .iter()
        .flat_map(|g| {
            g.rollouts.iter().map(move |r| {
                let digests: Vec<_> = r.records.iter().map(|r| r.digest).collect();
                format!(
                    "{:?} {} {:?} {:?} {digests:?} {:?}",
                    g.key, r.id, r.outcome, r.steps, r.segment_starts
                )
            })
        })
        .collect()
}
