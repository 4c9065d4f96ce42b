//! Documents with many rollouts, of every format that has them: cut anywhere, broken in the middle,
//! with their context before or after the list, packed, and read again element by element.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::io::Write;
use std::path::Path;

use credscope::ingest::{Context, RecordErrorKind, by_id, read_record};
use credscope::load::{LoadError, LoadOptions, Loaded, Skipped};
use credscope::rollout::RecordRef;
use load_common::{load_text, load_with};
use serde_json::{Value, json};

/// A format's document: its entries, and the elements of its list.
struct Kind {
    format: &'static str,
    name: &'static str,
    key: &'static str,
    others: Vec<(String, Value)>,
    elements: Vec<Value>,
}

/// A document as text, and where things in it end.
struct Document {
    text: String,
    /// One past the last byte of each element.
    ends: Vec<usize>,
    /// One past the list.
    list_end: usize,
}

impl Kind {
    /// From a fixture; its elements are repeated under other ids until there are six.
    fn of(format: &'static str, fixture: &str, key: &'static str, id: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
        let text = std::fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text)
            .or_else(|_| serde_json::from_str(text.lines().next().unwrap()))
            .unwrap();
        let mut others = document.as_object().unwrap().clone();
        let Value::Array(given) = others.remove(key).unwrap() else { panic!("{fixture}: {key}") };
        // A simulation without messages is refused, which is not what this is about.
        let given: Vec<_> =
            given.iter().filter(|e| e.get("messages") != Some(&Value::Null)).collect();
        let elements = (0..6).map(|at| {
            let mut element = given[at % given.len()].clone();
            element[id] = if element[id].is_u64() { json!(at) } else { json!(format!("x{at}")) };
            element
        });
        let name = if format == "swe-agent" { "toy__toy-1.traj" } else { "document.json" };
        let elements = elements.collect();
        Self { format, name, key, others: others.into_iter().collect(), elements }
    }

    fn all() -> Vec<Self> {
        let rollout = |at: u32| json!({"id": at, "reward": at % 2, "steps": [{"tool": "bash", "args": {"command": format!("ls \"{at}\" \\ é")}, "observation": "a\nb"}]});
        let native = Self {
            format: "native",
            name: "document.json",
            key: "rollouts",
            others: [
                ("schema", "credscope/1"),
                ("task", "t"),
                ("policy", "m"),
                ("prompt", "do [it]"),
            ]
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .into(),
            elements: (0..6).map(rollout).collect(),
        };
        let traces = "trainers/rollouts/step_3/train/all/traces.jsonl";
        let episode = "trainers/episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_0.json";
        let traj = "agents/swe-agent/run-1/toy__toy-1/toy__toy-1.traj";
        vec![
            native,
            Self::of("tau2-bench", "trainers/tau2.json", "simulations", "id"),
            Self::of("inspect", "agents/inspect/log.json", "samples", "epoch"),
            Self::of("swe-agent", traj, "attempts", "nth"),
            Self::of(
                "terminal-bench",
                "agents/terminal-bench/results.json",
                "results",
                "trial_name",
            ),
            Self::of("verifiers-traces", traces, "traces", "id"),
            Self::of("rllm", episode, "trajectories", "name"),
        ]
    }

    /// The document in lines or in one, with `first` of its other entries before the list.
    fn write(&self, pretty: bool, first: usize) -> Document {
        self.write_elements(
            pretty,
            first,
            &self.elements.iter().map(Value::to_string).collect::<Vec<_>>(),
        )
    }

    fn write_elements(&self, pretty: bool, first: usize, elements: &[String]) -> Document {
        let (comma, open) = if pretty { (",\n  ", "{\n  ") } else { (", ", "{") };
        let entry = |(key, value): &(String, Value)| format!("{}: {value}", json!(key));
        let (before, after) = self.others.split_at(first.min(self.others.len()));
        let mut text = String::from(open);
        for other in before {
            text.push_str(&entry(other));
            text.push_str(comma);
        }
        for part in ["\"", self.key, "\": ["] {
            text.push_str(part);
        }
        let mut ends = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            text.push_str(if at > 0 {
                comma
            } else if pretty {
                "\n  "
            } else {
                ""
            });
            text.push_str(element);
            ends.push(text.len());
        }
        text.push_str(if pretty { "\n  ]" } else { "]" });
        let list_end = text.len();
        for other in after {
            text.push_str(comma);
            text.push_str(&entry(other));
        }
        text.push_str(if pretty { "\n}\n" } else { "}" });
        Document { text, ends, list_end }
    }
}

/// A load whose file is still there.
struct Kept(Loaded, #[allow(dead_code)] tempfile::TempDir);

impl std::ops::Deref for Kept {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.0
    }
}

fn load_as(name: &str, bytes: &[u8]) -> Result<Kept, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Ok(Kept(load_with(&[path], &LoadOptions::default())?, dir))
}

fn load(kind: &Kind, bytes: &[u8]) -> Option<Kept> {
    load_as(kind.name, bytes).ok()
}

/// Records of the rollouts, by element.
fn records(loaded: &Loaded) -> Vec<RecordRef> {
    let rollouts = loaded.corpus.groups.iter().flat_map(|g| &g.rollouts);
    let mut all: Vec<_> = rollouts.flat_map(|r| r.records.clone()).collect();
    all.sort_by_key(|r| r.part);
    all
}

fn parts(loaded: &Loaded) -> Vec<u32> {
    records(loaded).iter().map(|r| r.part).collect()
}

fn cut(skipped: &[Skipped], field: Option<&str>) -> bool {
    let [one] = skipped else { return false };
    one.kind == RecordErrorKind::Cut
        && one.reason.starts_with("cut at the end of the file")
        && one.hint.as_deref() == Some("file may still be being written")
        && field.is_none_or(|field| one.field.as_deref() == Some(field))
}

#[test]
fn a_cut_document_keeps_its_whole_elements() {
    for kind in Kind::all() {
        for pretty in [false, true] {
            let Document { text, ends, list_end } = kind.write(pretty, usize::MAX);
            let list = text.find(&format!("\"{}\": [", kind.key)).unwrap() + kind.key.len() + 5;
            let even = (0..50).map(|nth| text.len() * nth / 50);
            let borders = ends.iter().flat_map(|&end| [end - 1, end, end + 1]);
            for at in even.chain(borders).chain([list, list_end - 1]) {
                let whole = ends.iter().filter(|&&end| end <= at).count();
                let loaded = load(&kind, &text.as_bytes()[..at]);
                let what = format!("{} cut at {at} of {}, {whole} whole", kind.format, text.len());
                let Some(loaded) = loaded else {
                    assert_eq!(whole, 0, "{what}");
                    continue;
                };
                assert_eq!(loaded.report.files[0].format, kind.format, "{what}");
                assert_eq!(parts(&loaded), (0..whole as u32).collect::<Vec<_>>(), "{what}");
                let field = (at < list_end).then(|| format!("{}[{whole}]", kind.key));
                let complete = at > list_end && text[..at].trim_end().ends_with('}');
                assert!(
                    complete || cut(&loaded.report.skipped, field.as_deref()),
                    "{what}: {:?}",
                    loaded.report.skipped
                );
            }
        }
    }
}

#[test]
fn a_broken_element_costs_itself_and_is_named() {
    for kind in Kind::all() {
        for (pretty, broken) in [(false, "{\"id\": }"), (true, "{\"abc\" \"b\", [1]}"), (true, "7")]
        {
            let mut elements: Vec<String> = kind.elements.iter().map(Value::to_string).collect();
            broken.clone_into(&mut elements[3]);
            let document = kind.write_elements(pretty, usize::MAX, &elements);
            let loaded = load(&kind, document.text.as_bytes()).unwrap();
            assert_eq!(parts(&loaded), [0, 1, 2, 4, 5], "{}", kind.format);
            let [skipped] = &loaded.report.skipped[..] else {
                panic!("{:?}", loaded.report.skipped)
            };
            assert_eq!(skipped.field, Some(format!("{}[3]", kind.key)));
            assert_eq!((skipped.number, skipped.part), (1, Some(4)));
            // Where the element begins, and in it what cannot be read.
            let before = &document.text[..document.ends[3] - broken.len()];
            let line = before.matches('\n').count() as u64 + 1;
            assert_eq!(skipped.line, pretty.then_some(line));
            let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 8;
            let stumble = [None, Some((line, column as u64))][usize::from(broken != "7")];
            assert_eq!(skipped.at, stumble, "{}", skipped.reason);
        }
    }
}

/// What stands before the list, after it, in other line ends, behind a mark or packed: all the same.
#[test]
fn forms_of_a_document_give_the_same() {
    for kind in Kind::all() {
        let plain = kind.write(false, usize::MAX).text;
        let pretty = kind.write(true, usize::MAX).text;
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(plain.as_bytes()).unwrap();
        let mut forms = vec![
            gz.finish().unwrap(),
            pretty.replace('\n', "\r\n").into_bytes(),
            format!("\u{feff}{pretty}").into_bytes(),
            format!("\u{feff}{plain}\n").into_bytes(),
            // As the only line of many would be, and as the only element of an array.
            format!("\n\n{plain}\r\n\n").into_bytes(),
            format!("[{pretty}]").into_bytes(),
        ];
        forms.extend(
            (0..kind.others.len()).map(|first| kind.write(first % 2 == 0, first).text.into()),
        );
        let told = |loaded: &Loaded| {
            let rollout = |r: &RecordRef| format!("{:?}", loaded.sources.rollout(r).unwrap());
            let texts: Vec<String> = records(loaded).iter().map(rollout).collect();
            (loaded.report.files[0].digest.clone(), loaded.report.totals, texts)
        };
        let want = told(&load(&kind, plain.as_bytes()).unwrap());
        assert_eq!((want.1.records, want.1.rollouts, want.1.skipped), (1, 6, 0), "{}", kind.format);
        for form in forms {
            let text = String::from_utf8_lossy(&form).chars().take(60).collect::<String>();
            let got = load(&kind, &form).unwrap_or_else(|| panic!("{}: {text}", kind.format));
            assert!(told(&got) == want, "{}: {text}", kind.format);
        }
    }
}

#[test]
fn an_element_read_alone_is_what_it_is_in_the_whole() {
    for kind in Kind::all() {
        let text = kind.write(true, 1).text;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(kind.name);
        std::fs::write(&path, &text).unwrap();
        let loaded = load_with(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
        let place = path.to_string_lossy().into_owned();
        let context = Context { path: &place, stem: "document", ..Context::default() };
        let reader = by_id(kind.format).unwrap();
        let whole = read_record(reader, text.trim().as_bytes(), &context).unwrap();
        assert_eq!(whole.parts.len(), 6);
        for record in records(&loaded) {
            let alone = loaded.sources.rollout(&record).unwrap();
            let part = whole.parts[record.part as usize].rollout.as_ref().unwrap();
            assert_eq!(alone.steps, part.steps, "{}", kind.format);
            assert_eq!((&alone.task, &alone.prompt), (&part.task, &part.prompt), "{}", kind.format);
            let bytes = loaded.sources.record(&record).unwrap();
            let element: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(element, kind.elements[record.part as usize], "{}", kind.format);
        }
    }
}

#[test]
fn a_document_cut_in_what_follows_its_elements() {
    let kind = &Kind::all()[0];
    let loaded = |after: &str| {
        let list = r#"{"schema":"credscope/1","task":"t","rollouts":[{"id":1,"steps":[]},{"id":2,"steps":[]}]"#;
        load(kind, format!("{list}{after}").as_bytes()).unwrap()
    };
    for (after, field, policy, step) in [
        ("", None, None, None),
        (",", None, None, None),
        (", \"pol", None, None, None),
        (", \"policy\": \"m", Some("policy"), None, None),
        (", \"policy\": \"m\"", None, Some("m"), None),
        (", \"policy\": \"m\", \"train_step\": 12", Some("train_step"), Some("m"), None),
        (", \"policy\": \"m\", \"train_step\": 12,", None, Some("m"), Some(12)),
    ] {
        let loaded = loaded(after);
        assert_eq!(parts(&loaded), [0, 1], "{after}");
        assert!(cut(&loaded.report.skipped, field), "{after}: {:?}", loaded.report.skipped);
        assert_eq!(loaded.report.skipped[0].field.as_deref(), field, "{after}");
        let key = &loaded.corpus.groups[0].key;
        assert_eq!((key.policy.as_deref(), key.train_step), (policy, step), "{after}");
    }
    // Broken, not cut: the entry is named and the rest stands.
    let broken = loaded(", \"note\": {\"a\" 1}, \"train_step\": 3}");
    assert_eq!(broken.report.skipped[0].field.as_deref(), Some("note"));
    assert_eq!(broken.corpus.groups[0].key.train_step, Some(3));
    assert_eq!(parts(&broken), [0, 1]);
    // Unless the rollouts take something from it: they would be those of another policy.
    let text = r#"{"schema":"credscope/1","task":"t","rollouts":[{"id":1,"steps":[]},{"id":2,"steps":[]}],"policy":{"a" 1}}"#;
    let refused =
        load_as(kind.name, text.as_bytes()).map(|loaded| parts(&loaded)).map_err(|e| e.to_string());
    let told = refused.unwrap_err();
    assert!(told.contains("every rollout takes something from `policy`"), "{told}");
}

#[test]
fn documents_beside_others_keep_to_themselves() {
    let rollouts = r#""rollouts":[{"id":1,"steps":[]},{"id":2,"steps":[]}"#;
    let text = format!(
        "{{\"schema\":\"credscope/1\",\"task\":\"a\",{rollouts}]}}\n\
         {{\"schema\":\"credscope/1\",\"task\":\"torn\",{rollouts},{{\"id\":3,\"st\n\
         {{\"task\":\"c\",\"id\":7,\"steps\":[]}}\n\
         {{{rollouts}],\"schema\":\"credscope/1\",\"rollouts\":[{{\"id\":8,\"steps\":[]}},{{\"id\":9,\"steps\":[]}}],\"task\":\"d\"}}\n\
         {{\"schema\":\"credscope/9\",\"task\":\"e\",{rollouts}]}}"
    );
    let loaded = load_text("r.jsonl", &text, &LoadOptions::default()).unwrap();
    let groups: Vec<_> =
        loaded.corpus.groups.iter().map(|g| (&*g.key.task, load_common::ids(g))).collect();
    assert_eq!(
        groups,
        [("a", vec!["1", "2"]), ("c", vec!["7"]), ("d", vec!["8", "9"]), ("torn", vec!["1", "2"])]
    );
    let skipped: Vec<_> = loaded
        .report
        .skipped
        .iter()
        .map(|s| (s.number, s.field.as_deref().unwrap(), s.kind))
        .collect();
    // A line that is cut before the file's end is broken: nobody is writing it any more.
    assert_eq!(
        skipped,
        [(2, "rollouts[2]", RecordErrorKind::Broken), (5, "schema", RecordErrorKind::Unexpected)]
    );
    // Of a repeated key the last one counts, and it is said.
    assert!(loaded.report.notes.iter().any(|n| n.number == 4 && n.field == "rollouts"));
}

#[test]
fn an_array_cut_between_its_elements_is_not_whole() {
    let row = |id: u32| {
        format!("{{\"task_id\":1,\"reward\":1.0,\"trial\":{id},\"info\":{{}},\"traj\":[]}}")
    };
    for end in ["", ",", ",\n "] {
        let text = format!("[{},{}{end}", row(0), row(1));
        let loaded = load_text("tau.json", &text, &LoadOptions::default()).unwrap();
        assert_eq!(loaded.report.totals.rollouts, 2);
        assert!(cut(&loaded.report.skipped, None), "{:?}", loaded.report.skipped);
        assert_eq!(loaded.report.skipped[0].number, 3);
    }
}

#[test]
fn columns_keep_the_rows_before_the_cut() {
    let texts = r#""prompt":["q","q","q"],"responses":["a","b \"[","c"],"scores":[1.0,0.0,0.5]"#;
    let whole = format!("{{\"id\":[\"p\",\"p\",\"p\"],\"global_step\":[3,3,3],{texts}}}");
    let load = |text: &str| load_as("dump.jsonl", text.as_bytes());
    let at = |mark: &str| whole.find(mark).unwrap();
    assert_eq!(load(&whole).unwrap().report.totals.rollouts, 3);
    for (end, rows) in [
        (at("0.5"), 2),
        (at(",0.5") - 1, 1),
        (at(",0.5"), 1),
        (at(",0.0"), 0),
        (whole.len() - 2, 2),
    ] {
        let loaded = load(&whole[..end]);
        let Ok(loaded) = loaded else {
            assert_eq!(rows, 0);
            continue;
        };
        assert_eq!(loaded.report.totals.rollouts, rows, "{}", &whole[..end]);
        let skipped = &loaded.report.skipped;
        assert!(cut(&skipped[..1], Some(&format!("scores[{rows}]"))), "{skipped:?}");
        // Each of the three rows that is not there is counted.
        assert_eq!(skipped.len(), 3 - rows, "{skipped:?}");
        for record in records(&loaded) {
            assert_eq!(loaded.sources.rollout(&record).unwrap().steps.len(), 1);
        }
    }
    let roll = LoadOptions { from: Some("roll".to_owned()), ..LoadOptions::default() };
    let error = load_text("dump.jsonl", &whole[..at("\"b ")], &roll).unwrap_err().to_string();
    assert!(error.contains("cut in this column and before `scores`"), "{error}");
}
