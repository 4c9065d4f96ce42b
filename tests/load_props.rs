//! Properties of the cutter, the repair and the readers: nothing is lost, nothing panics.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::ops::ControlFlow;

use credscope::ingest::repair::repair;
use credscope::ingest::split::{LIMIT, Piece, split};
use credscope::ingest::survey::{self, Found};
use credscope::ingest::{Context, Layout, Shape, detect, read_record, readers};
use credscope::load::LoadOptions;
use load_common::{corpus, load_text, summary};
use proptest::prelude::*;
use serde_json::Value;

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        "[ -~\u{a0}-\u{ff}\n\"\\\\\\[\\]{},:]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\]{0,4}", inner, 0..5)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn cut(layout: Layout, text: &str) -> Vec<Value> {
    let mut all = Vec::new();
    split(layout, text.as_bytes(), LIMIT, &mut |p: Piece| {
        let body = p.body.unwrap();
        let at = p.offset as usize;
        assert_eq!(&text.as_bytes()[at..at + body.len()], &body[..]);
        all.push(serde_json::from_slice(&body).unwrap());
        ControlFlow::Continue(())
    })
    .unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands in them and around them: elements come out as they are, and what is left is the
    /// document with its list empty.
    #[test]
    fn documents_come_apart_into_elements(
        values in prop::collection::vec(json(), 2..6),
        others in prop::collection::btree_map("[a-z\"\\\\]{0,4}", json(), 0..5),
        pretty: bool,
    ) {
        let document = |list: &[Value]| {
            let mut all: serde_json::Map<_, _> = others.clone().into_iter().collect();
            // Between the others: it is no key that they can have, and sorts among them.
            all.insert("k!".to_owned(), Value::from(list.to_vec()));
            Value::Object(all)
        };
        let whole = document(&values);
        let text =
            if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) }.unwrap();
        let open = |part: std::ops::Range<u64>| -> Box<dyn std::io::Read + '_> {
            Box::new(&text.as_bytes()[part.start as usize..part.end as usize])
        };
        let (mut frames, mut elements) = (Vec::new(), Vec::new());
        survey::split(Layout::Document, "k!", text.len() as u64, LIMIT, &open, &mut |found| {
            let parsed = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).unwrap();
            match found {
                Found::Document(_, body) => frames.push(parsed(body.unwrap())),
                Found::Element(piece) => elements.push(parsed(piece.body.unwrap())),
                Found::Record(_) | Found::Sheet(_) => panic!("{found:?}"),
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        prop_assert_eq!(frames, [document(&[])]);
        prop_assert_eq!(elements, values);
    }

    #[test]
    fn every_layout_gives_the_same_records(values in prop::collection::vec(json(), 1..6), pretty: bool) {
        let write = |v: &Value| if pretty { serde_json::to_string_pretty(v) } else { serde_json::to_string(v) }.unwrap();
        let texts: Vec<String> = values.iter().map(write).collect();
        prop_assert_eq!(&cut(Layout::Elements, &format!("[{}]", texts.join(" ,\n"))), &values);
        prop_assert_eq!(&cut(Layout::Values, &texts.join("\n")), &values);
        let lines: Vec<String> = values.iter().map(|v| serde_json::to_string(v).unwrap()).collect();
        prop_assert_eq!(&cut(Layout::Lines, &lines.join("\r\n")), &values);
    }

    #[test]
    fn a_repair_leaves_json_as_it_is(value in json()) {
        let text = serde_json::to_string(&value).unwrap();
        let (repaired, done) = repair(text.as_bytes());
        prop_assert!(!done.any());
        prop_assert_eq!(repaired, text);
    }

    #[test]
    fn what_was_repaired_needs_no_second_repair(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let (once, _) = repair(&bytes);
        let (twice, done) = repair(once.as_bytes());
        prop_assert_eq!((once, false), (twice, done.any()));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in "[\\[\\]{}:,\" a-z0-9\\\\.eE+-]{0,60}") {
        let shape = Shape::of("x", bytes.as_bytes(), true);
        let _ = detect(&shape);
        for reader in readers() {
            let _ = read_record(*reader, bytes.as_bytes(), &Context::default());
        }
    }
}

/// Real records, cut anywhere and with bytes changed, cost at most themselves.
#[test]
fn damaged_records_never_panic() {
    let names = [
        "derived/r2e_gym.astropy-12907.k8.jsonl",
        "nemo-gym/blackjack.jsonl",
        "nemo-gym/anyswe_astropy-12907_claude_code.jsonl",
        "messages/swe-smith_xml_messages.jsonl",
    ];
    for name in names {
        let Some(path) = corpus(name) else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let line = text.lines().next().unwrap().as_bytes();
        let reader = detect(&Shape::of(name, text.as_bytes(), true)).unwrap();
        for nth in 0..60 {
            let at = line.len() * nth / 60;
            let _ = read_record(reader, &line[..at], &Context::default());
            let mut changed = line.to_vec();
            changed[at] = [b'"', b'{', b'\\', 0xff][nth % 4];
            let _ = read_record(reader, &changed, &Context::default());
        }
    }
}

/// Order of lines, line ends and threads change nothing, whatever ids the lines have.
#[test]
fn shuffled_lines_give_equal_groups() {
    let line = |n: usize| {
        let id = ["\"a\"", "\"b\"", "null", "7", "\"7\""][n % 5];
        let task = ["t", "u"][n % 2];
        let steps = r#"{"state":"s","action":"x"},"#.repeat(n % 3);
        let steps = steps.trim_end_matches(',');
        format!(r#"{{"task":"{task}","id":{id},"reward":{},"steps":[{steps}]}}"#, n % 2)
    };
    let lines: Vec<String> = (0..30).map(line).collect();
    let load = |lines: &[String]| {
        load_text("r.jsonl", &lines.join("\n"), &LoadOptions::default()).unwrap()
    };
    let plain = load(&lines);
    for stride in [7, 11, 13, 29] {
        let shuffled: Vec<String> = (0..30).map(|n| lines[n * stride % 30].clone()).collect();
        let shuffled = load(&shuffled);
        assert_eq!(summary(&plain), summary(&shuffled));
        assert_eq!(plain.report.files[0].digest, shuffled.report.files[0].digest);
    }
}
