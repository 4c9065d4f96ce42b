//! Every fixture of every format, changed in the ways that real files are: damage costs its record and
//! is reported, oddities cost nothing.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::fs;
use std::path::{Path, PathBuf};

use credscope::ingest::{Layout, Shape, detect};
use credscope::load::{LoadError, LoadOptions, Loaded};
use credscope::rollout::raw::RawArgs;
use load_common::{load_bytes, load_with, walk};
use serde_json::{Value, json};

fn try_load(path: &Path, bytes: &[u8]) -> Result<Loaded, LoadError> {
    let name = path.file_name().unwrap().to_string_lossy();
    load_bytes(&name, bytes, &LoadOptions::default())
}

/// A fixture with rollouts: its records, and how they are written.
struct Fixture {
    path: PathBuf,
    records: Vec<Value>,
    lines: bool,
    /// A record is a line, and not the whole session.
    apart: bool,
    plain: Loaded,
}

fn fixtures() -> Vec<Fixture> {
    let mut paths = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        // `NaN` is no JSON for the tests' own parser.
        let text = fs::read_to_string(&path).unwrap().replace("NaN", "null");
        let Ok(plain) = try_load(&path, text.as_bytes()) else { continue };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let shape = Shape::of(&name, text.as_bytes(), true);
        let apart = detect(&shape).unwrap().layout(&shape) == Layout::Lines;
        let lines = path.extension().is_some_and(|e| e == "jsonl");
        let records: Vec<Value> = if lines {
            text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
        } else {
            vec![serde_json::from_str(&text).unwrap()]
        };
        all.push(Fixture { path, records, lines, apart: apart && lines, plain });
    }
    assert!(all.len() >= 28, "{}", all.len());
    all
}

impl Fixture {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn text(&self, records: &[Value]) -> String {
        let all: Vec<String> = records.iter().map(Value::to_string).collect();
        all.join("\n") + if self.lines { "\n" } else { "" }
    }

    fn load(&self, text: &str) -> Loaded {
        try_load(&self.path, text.as_bytes()).unwrap_or_else(|e| panic!("{}: {e}", self.name()))
    }

    /// The same rollouts are there, and nothing is skipped that was not.
    fn same(&self, text: &str, what: &str) -> Loaded {
        let loaded = self.load(text);
        let count = |l: &Loaded| (l.report.totals.rollouts, l.report.totals.skipped);
        assert_eq!(count(&loaded), count(&self.plain), "{}: {what}: {text:.2000}", self.name());
        loaded
    }

    /// Every way to change one member with one of these names, the changed one given to `change`.
    fn each(
        &self,
        names: &[&str],
        change: &mut dyn FnMut(&Value) -> Vec<Option<Value>>,
    ) -> Vec<String> {
        let mut texts = Vec::new();
        for nth in 0.. {
            let mut found = false;
            let mut variants = Vec::new();
            let mut left = nth;
            for record in &self.records {
                visit(record, names, &mut left, &mut |old| {
                    found = true;
                    variants = change(old);
                });
            }
            if !found {
                break;
            }
            for with in variants {
                let mut left = nth;
                let mut records = self.records.clone();
                for record in &mut records {
                    replace(record, names, &mut left, with.as_ref());
                }
                texts.push(self.text(&records));
            }
        }
        texts
    }
}

/// Shows the member that is `left` members away.
fn visit(value: &Value, names: &[&str], left: &mut usize, show: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if names.contains(&name.as_str()) {
                    if *left == 0 {
                        show(value);
                    }
                    *left = left.wrapping_sub(1);
                }
                visit(value, names, left, show);
            }
        }
        Value::Array(list) => list.iter().for_each(|v| visit(v, names, left, show)),
        _ => {}
    }
}

/// Puts another value in the place of the member that is `left` members away; `None` takes it out.
fn replace(value: &mut Value, names: &[&str], left: &mut usize, with: Option<&Value>) {
    match value {
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().cloned().collect();
            for name in keys {
                let mut here = false;
                if names.contains(&name.as_str()) {
                    here = *left == 0;
                    *left = left.wrapping_sub(1);
                }
                match (here, with) {
                    // The walk goes on in what stood there, so that numbers stay those of `visit`.
                    (true, with) => {
                        let mut old = map.remove(&name).unwrap();
                        replace(&mut old, names, left, None);
                        if let Some(with) = with {
                            map.insert(name, with.clone());
                        }
                    }
                    (false, _) => replace(map.get_mut(&name).unwrap(), names, left, with),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|v| replace(v, names, left, with)),
        _ => {}
    }
}

#[test]
fn a_broken_line_costs_itself_and_is_named() {
    for fixture in fixtures().iter().filter(|f| f.lines) {
        let lines: Vec<String> = fixture.records.iter().map(Value::to_string).collect();
        for at in 0..lines.len() {
            let half = &lines[at]
                [..lines[at].char_indices().nth(lines[at].chars().count() / 2).unwrap().0];
            let mut torn = lines.clone();
            half.clone_into(&mut torn[at]);
            let number = at + 1;
            match try_load(&fixture.path, (torn.join("\n") + "\n").as_bytes()) {
                Err(error) => {
                    // The only record.
                    assert!(lines.len() == 1 || !fixture.apart, "{}: {error}", fixture.name());
                    assert!(matches!(error, LoadError::NoRollouts { .. }), "{error}");
                }
                Ok(loaded) if fixture.apart => {
                    let (before, after) = (fixture.plain.report.totals, loaded.report.totals);
                    assert_eq!(after.skipped, before.skipped + 1, "{}", fixture.name());
                    assert_eq!(loaded.report.skipped[0].number, number as u64);
                    assert!(
                        after.rollouts < before.rollouts
                            || loaded.corpus.groups[0].rollouts[0].records.len() > 1
                            || before.joined_segments > 0,
                        "{}",
                        fixture.name()
                    );
                    assert!(
                        before.rollouts - after.rollouts <= 1
                            || after.records + 1 == before.records,
                        "{}",
                        fixture.name()
                    );
                }
                // A session of many lines goes on without one of them.
                Ok(loaded) => {
                    let skipped: Vec<_> =
                        loaded.report.skipped.iter().map(|s| (s.unit, s.number)).collect();
                    assert!(
                        skipped.contains(&("line", number as u64)),
                        "{}: {skipped:?}",
                        fixture.name()
                    );
                    assert!(loaded.report.partial().is_some() && loaded.report.fault().is_some());
                }
            }
        }
        // The tail of a file that is still being written.
        let text = fixture.text(&fixture.records);
        let torn = format!("{text}{}", &lines[0][..lines[0].len().min(12)]);
        let loaded = fixture.load(&torn);
        assert_eq!(loaded.report.totals.rollouts, fixture.plain.report.totals.rollouts);
        assert_eq!(loaded.report.totals.skipped, fixture.plain.report.totals.skipped + 1);
        let last = loaded.report.skipped.last().unwrap().to_string();
        assert!(last.ends_with("(file may still be being written)"), "{last}");
    }
}

const TEXTS: [&str; 9] = [
    "content",
    "observation",
    "thought",
    "text",
    "message",
    "response",
    "output",
    "value",
    "model_response",
];

#[test]
fn half_a_surrogate_pair_is_mended_and_told() {
    let (mut told, mut all) = (0, 0);
    for fixture in fixtures() {
        let odd = |old: &Value| match old {
            Value::String(text) => vec![Some(json!(format!("{text}\u{e000}")))],
            _ => Vec::new(),
        };
        for text in fixture.each(&TEXTS, &mut { odd }) {
            let loaded = fixture.same(&text.replace('\u{e000}', "\\ud800"), "surrogate");
            told += usize::from(loaded.report.notes.iter().any(|n| n.reason.contains("surrogate")));
            all += 1;
        }
    }
    // A text that nobody reads needs no mending.
    assert!(all > 150 && told * 10 > all * 8, "{told} of {all}");
}

#[test]
fn content_that_is_null_missing_or_a_list_costs_nothing() {
    for fixture in fixtures() {
        let image = "data:image/png;base64,".to_owned() + &"iVBORw0KGgo".repeat(2000);
        let variants = |old: &Value| match old {
            Value::String(text) => vec![
                Some(Value::Null),
                None,
                Some(json!("")),
                Some(json!([{"type": "text", "text": text}])),
                Some(
                    json!([{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": image}}]),
                ),
                Some(json!([])),
            ],
            _ => Vec::new(),
        };
        for text in fixture.each(&["content"], &mut { variants }) {
            // A prompt that is gone can name no task: then the record says so.
            match try_load(&fixture.path, text.as_bytes()) {
                Ok(loaded) => {
                    let fine = fixture.plain.report.totals;
                    let lost = loaded.report.totals.skipped - fine.skipped;
                    let named =
                        |s: &credscope::load::Skipped| s.field.is_some() && s.reason.len() > 8;
                    assert!(loaded.report.skipped.iter().skip(fine.skipped).all(named));
                    assert!(
                        loaded.report.totals.rollouts + lost >= fine.rollouts,
                        "{}",
                        fixture.name()
                    );
                }
                Err(LoadError::NoRollouts { files, .. }) => {
                    // A list of messages without any content is no known format.
                    let told = ["field", "keys"].iter().any(|w| files[0].reason.contains(w));
                    assert!(told, "{}: {}", fixture.name(), files[0]);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// The arguments of all steps, in order.
fn arguments(loaded: &Loaded) -> Vec<String> {
    let groups = loaded.corpus.groups.iter();
    let all = groups.flat_map(|g| (0..g.rollouts.len()).map(move |r| (g, r)));
    all.flat_map(|(group, r)| {
        group.rollouts[r]
            .records
            .iter()
            .flat_map(|record| loaded.sources.rollout(record).unwrap().steps)
    })
    .map(|step| match step.args {
        RawArgs::Object(map) => Value::Object(map).to_string(),
        RawArgs::Unparsable(text) => format!("unparsable {text}"),
    })
    .collect()
}

/// A load whose file stays for as long as it is looked at.
fn arguments_of(path: &Path, text: &str) -> (usize, usize, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(path.file_name().unwrap());
    fs::write(&path, text).unwrap();
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    let totals = loaded.report.totals;
    (totals.rollouts, totals.skipped, arguments(&loaded))
}

#[test]
fn arguments_come_in_every_form() {
    let (mut seen, mut raw) = (0, 0);
    for fixture in fixtures() {
        let parsed = |old: &Value| match old {
            Value::String(text) => {
                serde_json::from_str::<Value>(text).ok().filter(Value::is_object)
            }
            Value::Object(_) => Some(old.clone()),
            _ => None,
        };
        let plain = arguments_of(&fixture.path, &fixture.text(&fixture.records));
        let forms = |old: &Value| {
            let Some(object) = parsed(old) else { return Vec::new() };
            let text = object.to_string();
            vec![Some(object), Some(json!(text)), Some(json!(json!(text).to_string()))]
        };
        for text in fixture.each(&["arguments"], &mut { forms }) {
            assert_eq!(
                arguments_of(&fixture.path, &text),
                plain,
                "{}: {text:.1500}",
                fixture.name()
            );
            seen += 1;
        }
        let empty = |old: &Value| {
            let none =
                parsed(old).map(|_| [Some(json!("")), Some(Value::Null), None, Some(json!({}))]);
            none.map_or_else(Vec::new, Vec::from)
        };
        for text in fixture.each(&["arguments"], &mut { empty }) {
            let got = arguments_of(&fixture.path, &text);
            assert_eq!(
                (got.0, got.1, got.2.len()),
                (plain.0, plain.1, plain.2.len()),
                "{}",
                fixture.name()
            );
            assert!(
                !got.2.iter().any(|a| a.starts_with("unparsable")),
                "{}: {:?}",
                fixture.name(),
                got.2
            );
        }
        let broken = |old: &Value| {
            parsed(old).map(|_| Some(json!("{\"command\": \"ls"))).into_iter().collect()
        };
        for text in fixture.each(&["arguments"], &mut { broken }) {
            let got = arguments_of(&fixture.path, &text);
            assert_eq!((got.0, got.1), (plain.0, plain.1), "{}", fixture.name());
            let odd = got.2.iter().filter(|a| *a == "unparsable {\"command\": \"ls");
            // A log can hold a call a second time where nobody reads it.
            let odd = odd.count();
            assert!(odd <= 1, "{}: {:?}", fixture.name(), got.2);
            raw += odd;
        }
    }
    assert!(seen > 60 && raw > 20, "{seen} {raw}");
}

#[test]
fn long_deep_and_unknown_members_cost_nothing() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let long = format!("\"{}\"", "x".repeat(5_000_000));
    for fixture in fixtures() {
        let object = fixture.records[0].is_object();
        for (what, value) in [("deep", &deep), ("long", &long)].into_iter().filter(|_| object) {
            let text = fixture.text(&fixture.records);
            let text = text.replacen('{', &format!("{{\"zz_unknown\":{value},"), 1);
            fixture.same(&text, what);
        }
    }
}

#[test]
fn ids_keep_all_their_digits() {
    const IDS: [&str; 9] = [
        "task_id",
        "instance_id",
        "example_id",
        "id",
        "rollout_id",
        "traj_uid",
        "uid",
        "session_id",
        "sessionId",
    ];
    let mut kept = 0;
    for fixture in fixtures() {
        let large = |old: &Value| match old {
            Value::String(_) | Value::Number(_) => {
                vec![Some(json!(9_007_199_254_740_993_u64)), Some(json!("9007199254740993"))]
            }
            _ => Vec::new(),
        };
        let texts = fixture.each(&IDS, &mut { large });
        for pair in texts.chunks(2) {
            // A number and its text are one id.
            let both: Vec<Vec<String>> = pair
                .iter()
                .map(|text| {
                    let loaded = fixture.load(text);
                    let groups = loaded.corpus.groups.iter();
                    let mut names: Vec<String> = groups
                        .flat_map(|g| {
                            let own = g.rollouts.iter().map(|r| r.id.clone());
                            std::iter::once(g.key.task.clone()).chain(own).collect::<Vec<_>>()
                        })
                        // Digests stand for what has no id; they differ as the bytes do.
                        .filter(|name| !name.contains('~'))
                        .collect();
                    names.sort();
                    names
                })
                .collect();
            assert_eq!(both[0], both[1], "{}", fixture.name());
            kept += both[0].iter().filter(|n| n.contains("9007199254740993")).count();
            assert!(both[0].iter().all(|n| !n.contains("9007199254740992")), "{}", fixture.name());
        }
    }
    assert!(kept > 20, "{kept}");
}
