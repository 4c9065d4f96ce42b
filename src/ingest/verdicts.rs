//! Verdicts that stand beside the rollouts: SWE-bench reports and summaries, results of Harbor trials.
//!
//! It says what a side file says about which instance of which run; who is meant is found in
//! [`crate::load`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::harbor::TrialResult;
use super::json::{self, Error, Object};
use super::shape::{RecordShape, Shape};

/// What a side file says about one instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The verifier accepted the result, or did not.
    Resolved(bool),
    /// The evaluation itself failed.
    Broken,
    /// It names the instance and leaves the verdict open.
    Open,
}

/// A file of verdicts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideFile {
    /// The folder that the rollouts lie under.
    pub home: String,
    /// Possible names of the run; empty where everything under `home` is meant.
    pub runs: Vec<String>,
    /// What it says, by instance.
    pub given: BTreeMap<String, Given>,
    /// Instances that it contradicts itself about, with what it says.
    pub disputed: BTreeMap<String, String>,
    /// Instances that it lists without a verdict: not run to the end, or only submitted.
    pub listed: BTreeSet<String>,
    /// Verdicts that were read as something else: (field, what was done).
    pub notes: Vec<(String, String)>,
    /// Verdicts that cannot be read, in words.
    pub odd: Vec<String>,
    /// What holds for an instance that it does not name.
    pub rest: Option<Given>,
    /// It is about one instance alone: it outweighs a summary.
    pub single: bool,
    /// The result of a Harbor trial: it is about all rollouts of its folder.
    pub trial: Option<TrialResult>,
}

/// Whether the file may hold verdicts, by its beginning.
#[must_use]
pub fn may_be(shape: &Shape<'_>) -> bool {
    let report =
        |r: &RecordShape<'_>| r.has("resolved") && r.has_any(&["patch_exists", "tests_status"]);
    let summary = |r: &RecordShape<'_>| r.list("resolved_ids");
    let results =
        |r: &RecordShape<'_>| r.list("resolved") && r.has_any(&["no_generation", "no_logs"]);
    let keyed = |r: &RecordShape<'_>| {
        let first = r.keys().next().and_then(|k| r.value(std::str::from_utf8(k).ok()?));
        first.is_some_and(|v| {
            v.starts_with(b"{") && memchr::memmem::find(v, b"\"resolved\"").is_some()
        })
    };
    let trial = |r: &RecordShape<'_>| r.has("trial_name") && r.has("task_name");
    shape.any(|r| report(r) || summary(r) || results(r) || keyed(r) || trial(r))
}

/// Reads a side file; `None` when it is none after all.
#[must_use]
pub fn read(place: &str, bytes: &[u8]) -> Option<SideFile> {
    let text = std::str::from_utf8(bytes).ok()?;
    let object = Object::parse(text.trim_start_matches('\u{feff}')).ok()?;
    if object.get("trial_name").is_some() {
        let trial = TrialResult::parse(text).ok()?;
        let home = up(place, 1);
        return Some(SideFile { home, single: true, trial: Some(trial), ..SideFile::default() });
    }
    let side = if object.some("resolved_ids").is_some() {
        summary(place, &object)
    } else if object.some("resolved").is_some_and(json::is_array) {
        results(place, &object)
    } else {
        report(place, &object)
    };
    side.ok().filter(|s| !s.given.is_empty() || s.rest.is_some())
}

/// Why a report says nothing although it is one.
#[must_use]
pub fn unreadable(place: &str, bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let object = Object::parse(text.trim_start_matches('\u{feff}')).ok()?;
    report(place, &object).ok()?.trouble()
}

impl SideFile {
    /// What of it cannot be read, in words.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let first = self.odd.first()?;
        let more = self.odd.len() - 1;
        Some(if more > 0 {
            format!("{first}, and {more} more of this kind")
        } else {
            first.clone()
        })
    }

    /// Whether the name of the file tells no run: a summary is called `MODEL.RUN.json`.
    #[must_use]
    pub fn tells_no_run(&self) -> bool {
        // The last of the possible names is all of it.
        !self.single && self.runs.last().is_some_and(|name| !name.contains('.'))
    }

    /// Takes what a report says about an instance. What only looks like a report must say it plainly.
    fn take(&mut self, instance: &str, field: &str, value: &RawValue, sure: bool) {
        match Said::of(value) {
            Said::Verdict(verdict, coerced) => {
                self.given.insert(instance.to_owned(), Given::Resolved(verdict));
                self.notes.extend(coerced.map(|why| (field.to_owned(), why)));
            }
            Said::Nothing if sure => {
                self.given.insert(instance.to_owned(), Given::Open);
            }
            Said::Odd if sure => {
                let found = json::short(value.get(), FOUND);
                self.odd.push(format!(
                    "field `{field}`: true or false was expected, `{found}` stands there"
                ));
            }
            Said::Nothing | Said::Odd => {}
        }
    }
}

/// As much of a value is told that is no verdict.
const FOUND: usize = 60;

/// What stands in `resolved`.
enum Said {
    /// Yes or no, and how it was read where it is not written so.
    Verdict(bool, Option<String>),
    Nothing,
    Odd,
}

impl Said {
    fn of(value: &RawValue) -> Self {
        let text = json::text(value).ok().flatten();
        let number = || value.get().parse::<f64>().ok();
        match value.get() {
            "true" => Self::Verdict(true, None),
            "false" => Self::Verdict(false, None),
            "null" => Self::Nothing,
            plain if plain.starts_with('"') => {
                let text = text.unwrap_or_default();
                let verdict = match text.trim().to_ascii_lowercase().as_str() {
                    "true" => true,
                    "false" => false,
                    _ => return Self::Odd,
                };
                Self::Verdict(verdict, Some(format!("the text {text:?} was read as {verdict}")))
            }
            plain => match number() {
                Some(1.0) => Self::Verdict(true, Some(format!("{plain} was read as true"))),
                Some(0.0) => Self::Verdict(false, Some(format!("{plain} was read as false"))),
                _ => Self::Odd,
            },
        }
    }
}

/// The instances of a run summary with its verdict in a word, where the object is one.
#[must_use]
pub fn summary_rows(object: &Object<'_>) -> Option<Vec<(String, &'static str)>> {
    object.some("resolved_ids").filter(|v| json::is_array(v))?;
    let mut rows = Vec::new();
    for (key, verdict) in SUMMARY {
        let word = match verdict {
            Given::Resolved(true) => "resolved",
            Given::Resolved(false) => "unresolved",
            Given::Broken => "error",
            Given::Open => continue,
        };
        rows.extend(ids(object, key).ok()?.into_iter().map(|id| (id, word)));
    }
    Some(rows)
}

/// The lists of a run summary that give verdicts.
const SUMMARY: [(&str, Given); 4] = [
    ("error_ids", Given::Broken),
    ("unresolved_ids", Given::Resolved(false)),
    ("empty_patch_ids", Given::Resolved(false)),
    ("resolved_ids", Given::Resolved(true)),
];

/// Its lists that give none.
const LISTED: [&str; 3] = ["submitted_ids", "completed_ids", "incomplete_ids"];

/// The folder `levels` above a file.
fn up(place: &str, levels: usize) -> String {
    let mut rest = place;
    for _ in 0..levels {
        rest = rest.rsplit_once('/').map_or("", |(folder, _)| folder);
    }
    rest.to_owned()
}

fn ids(object: &Object<'_>, key: &str) -> Result<Vec<String>, Error> {
    let Some(list) = object.some(key).filter(|v| json::is_array(v)) else { return Ok(Vec::new()) };
    let all = json::elements(list)?.into_iter().map(json::id);
    all.filter_map(Result::transpose).collect()
}

/// Lists of ids, one per verdict. An id that stands in lists of different verdicts is disputed.
fn lists(object: &Object<'_>, all: &[(&str, Given)]) -> Result<SideFile, Error> {
    let mut side = SideFile::default();
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for &(key, verdict) in all {
        for id in ids(object, key)? {
            let before = side.given.insert(id.clone(), verdict);
            let keys = found.entry(id.clone()).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
            if before.is_some_and(|b| b != verdict) || side.disputed.contains_key(&id) {
                let keys: Vec<String> = keys.iter().map(|k| format!("`{k}`")).collect();
                side.disputed.insert(id, format!("it stands in {}", keys.join(" and ")));
            }
        }
    }
    Ok(side)
}

/// `<model>.<run>.json`, one list of ids per verdict.
fn summary(place: &str, object: &Object<'_>) -> Result<SideFile, Error> {
    let name = place.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".json").unwrap_or(name);
    // Models have dots in their names too: the run is what follows any of them. sb-cli writes
    // `DATA__SPLIT__RUN.json`.
    let after = |mark: &'static str| {
        name.match_indices(mark).filter_map(move |(at, _)| name.get(at + mark.len()..))
    };
    let mut runs: Vec<String> = after(".").chain(after("__")).map(str::to_owned).collect();
    runs.push(name.to_owned());
    let mut listed = BTreeSet::new();
    for key in LISTED {
        listed.extend(ids(object, key)?);
    }
    Ok(SideFile { home: up(place, 1), runs, listed, ..lists(object, &SUMMARY)? })
}

/// `results/results.json` of a submission: what is not among the resolved ones is not resolved.
fn results(place: &str, object: &Object<'_>) -> Result<SideFile, Error> {
    let all = [
        ("no_generation", Given::Resolved(false)),
        ("no_logs", Given::Resolved(false)),
        ("resolved", Given::Resolved(true)),
    ];
    let folder = up(place, 1);
    let home = if folder.ends_with("/results") { up(place, 2) } else { folder };
    Ok(SideFile { home, rest: Some(Given::Resolved(false)), ..lists(object, &all)? })
}

/// `report.json` of one instance, with or without the instance as its only key.
fn report(place: &str, object: &Object<'_>) -> Result<SideFile, Error> {
    let parts: Vec<&str> = place.split('/').collect();
    let file = parts.last().copied().unwrap_or_default();
    let named = [".report.json", "_report.json"].into_iter().find_map(|e| file.strip_suffix(e));
    let folder = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied();
    let mut side = SideFile { single: true, home: up(place, 1), ..SideFile::default() };
    if named.is_none() {
        side.home = up(place, 2);
        let above = side.home.rsplit('/').next().unwrap_or_default();
        if matches!(above, "logs" | "evaluation" | "eval" | "reports") {
            side.home = up(place, 3);
        }
    }
    if let Some(at) = parts.iter().rposition(|p| *p == "run_evaluation") {
        // logs/run_evaluation/<run>/<model>/<instance>/report.json
        side.runs.extend(parts.get(at + 1).map(|run| (*run).to_owned()));
        let logs = usize::from(at > 0 && parts.get(at - 1) == Some(&"logs"));
        side.home = up(place, parts.len() - at + logs);
    }
    let sure = |object: &Object<'_>| {
        file.ends_with("report.json")
            || ["patch_exists", "tests_status"].iter().any(|k| object.get(k).is_some())
    };
    let says = |value: &&RawValue| !json::is_object(value) && !json::is_array(value);
    if let Some(value) = object.get("resolved").filter(says) {
        if let Some(instance) = named.or(folder) {
            side.take(instance, "resolved", value, sure(object));
        }
        return Ok(side);
    }
    for (instance, value) in object.iter().filter(|(_, v)| json::is_object(v)) {
        let inner = Object::of(value)?;
        if let Some(value) = inner.get("resolved").filter(|v| !json::is_array(v)) {
            side.take(instance, &format!("{instance}.resolved"), value, sure(&inner));
        }
    }
    Ok(side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(place: &str, text: &str) -> SideFile {
        read(place, text.as_bytes()).unwrap()
    }

    #[test]
    fn reports_in_three_shapes() {
        let keyed = side(
            "/d/logs/run_evaluation/run_1/m__x/a__a-1/report.json",
            r#"{"a__a-1":{"resolved":true}}"#,
        );
        assert_eq!((keyed.home.as_str(), keyed.runs), ("/d", vec!["run_1".to_owned()]));
        assert_eq!(keyed.given.get("a__a-1"), Some(&Given::Resolved(true)));
        let flat =
            side("/d/sub/logs/a__a-1/report.json", r#"{"resolved":false,"patch_exists":true}"#);
        assert_eq!((flat.home.as_str(), flat.runs.len()), ("/d/sub", 0));
        assert_eq!(flat.given.get("a__a-1"), Some(&Given::Resolved(false)));
        let beside = side("/d/p.95.pr_5.report.json", r#"{"resolved":false,"patch_exists":true}"#);
        assert_eq!((beside.home.as_str(), beside.given.len()), ("/d", 1));
        assert!(beside.given.contains_key("p.95.pr_5"));
    }

    #[test]
    fn summaries_name_the_run_after_a_dot() {
        let s = side(
            "/d/m__gpt-4.1.run_2.json",
            r#"{"resolved_ids":["a"],"unresolved_ids":["b"],"error_ids":["c"],"schema_version":2}"#,
        );
        assert!(s.runs.contains(&"run_2".to_owned()));
        assert_eq!(s.given.get("c"), Some(&Given::Broken));
        let s = side("/d/results/results.json", r#"{"resolved":["a"],"no_generation":[]}"#);
        assert_eq!((s.home.as_str(), s.rest), ("/d", Some(Given::Resolved(false))));
        assert_eq!(read("/d/x.json", br#"{"resolved_ids":[]}"#), None);
    }

    #[test]
    fn an_instance_in_lists_of_different_verdicts_is_disputed() {
        let s = side(
            "/d/m.run.json",
            r#"{"resolved_ids":["a","b",3,"a"],"unresolved_ids":["a","c"],"empty_patch_ids":["c","3"],"error_ids":["a"]}"#,
        );
        let told: Vec<_> = s.disputed.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            told,
            [
                ("3", "it stands in `empty_patch_ids` and `resolved_ids`"),
                ("a", "it stands in `error_ids` and `unresolved_ids` and `resolved_ids`"),
            ]
        );
        // Two lists of one verdict do not contradict each other.
        assert_eq!(s.given.get("c"), Some(&Given::Resolved(false)));
        let s = side("/d/results.json", r#"{"resolved":["a"],"no_generation":["a","b"]}"#);
        assert_eq!(s.disputed.keys().collect::<Vec<_>>(), ["a"]);
    }
}
