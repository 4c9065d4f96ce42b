//! Records of columns are read row by row: the rows are those that were written, whatever the chunks,
//! the white space and the place of a cut; damage costs its row; texts are read again from their cells.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::ops::{ControlFlow, Range};

use credscope::ingest::survey::Found;
use credscope::ingest::{Context, Layout, RecordErrorKind, by_id, columns, read_element};
use credscope::load::{LoadOptions, Loaded, TextError};
use load_common::{load_text, load_with};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A reader that gives a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.len().min(buf.len()).min(self.1);
        let (now, later) = self.0.split_at(n);
        buf[..n].copy_from_slice(now);
        self.0 = later;
        Ok(n)
    }
}

/// What is cut off: `record` and its text (or its length), or the rows of a sheet.
fn cut(layout: Layout, text: &str, limit: usize, chunk: usize) -> Vec<Result<String, u64>> {
    let open = |part: Range<u64>| -> Box<dyn Read + '_> {
        Box::new(Slow(&text.as_bytes()[part.start as usize..part.end as usize], chunk))
    };
    let format = by_id("roll").unwrap().columnar().unwrap();
    let mut all = Vec::new();
    columns::split(layout, format, text.len() as u64, limit, &open, &mut |found| {
        let own = |body: Result<Vec<u8>, u64>| body.map(|b| String::from_utf8(b).unwrap());
        match found {
            Found::Record(piece) => all.push(own(piece.body).map(|text| format!("record {text}"))),
            Found::Element(piece) => all.push(own(piece.body)),
            Found::Sheet(sheet) => assert!(sheet.rows > 1),
            Found::Document(..) => panic!("no document was asked for"),
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    all
}

/// A column and its cells.
type Column = (String, Vec<Value>);

/// Cells as they are in dumps: texts full of escapes, numbers, JSON, nothing.
fn cell() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z\"\\\\\\[\\]{},: é\u{1F600}\n\t]{0,12}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-4000..4000).prop_map(|x| json!(f64::from(x) / 8.0)),
        Just(Value::Null),
        Just(json!({"a": [1, {"]": "}"}], "b": ""})),
        Just(json!([])),
    ]
}

/// Columns in some order: some of the framework's, one that the framework does not write, and how many
/// cells the last of those has.
fn dump() -> impl Strategy<Value = (Vec<Column>, usize)> {
    const NAMES: [&str; 7] =
        ["responses", "scores", "id", "prompt", "tag", "domain", "global_step"];
    (2_usize..9, proptest::sample::subsequence(NAMES[2..].to_vec(), 0..5), 0_usize..10)
        .prop_flat_map(|(rows, some, foreign)| {
            let mut lengths: Vec<(String, usize)> =
                NAMES[..2].iter().chain(&some).map(|name| ((*name).to_owned(), rows)).collect();
            lengths.push(("own \"list\"".to_owned(), foreign));
            let columns: Vec<_> = lengths
                .into_iter()
                .map(|(name, len)| (Just(name), proptest::collection::vec(cell(), len)))
                .collect();
            (columns.prop_shuffle(), Just(rows))
        })
}

/// The dump as text, with white space of these widths in turn between all tokens.
fn written(columns: &[Column], spaces: &[usize]) -> String {
    const SPACE: [&str; 4] = ["", " ", "\t ", " \r\n  "];
    let mut turn = spaces.iter().cycle();
    let mut space = || SPACE[*turn.next().unwrap()];
    let mut text = format!("{{{}", space());
    for (nth, (name, cells)) in columns.iter().enumerate() {
        let comma = if nth == 0 { "" } else { "," };
        write!(text, "{comma}{}{}{}:{}[", space(), json!(name), space(), space()).unwrap();
        for (at, cell) in cells.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(text, "{comma}{}{cell}{}", space(), space()).unwrap();
        }
        write!(text, "{}]{}", space(), space()).unwrap();
    }
    text + "}"
}

/// The rows of the dump: what stands at the same place of each column that counts.
fn rows(columns: &[Column], rows: usize) -> Vec<BTreeMap<String, Value>> {
    let counts = |(name, cells): &&Column| cells.len() == rows || !name.starts_with("own");
    let row = |at: usize| {
        let cells = columns.iter().filter(counts);
        cells.map(|(name, cells)| (name.clone(), cells[at].clone())).collect()
    };
    (0..rows).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_are_what_stands_at_one_place_of_each_column(
        (columns, count) in dump(),
        spaces in proptest::collection::vec(0_usize..4, 1..7),
        chunk in 1_usize..40,
    ) {
        let text = written(&columns, &spaces);
        let want = rows(&columns, count);
        for layout in [Layout::Document, Layout::Values, Layout::Lines] {
            if layout == Layout::Lines && text.contains('\n') {
                continue;
            }
            let found = cut(layout, &text, 1 << 20, chunk);
            let read = |row: &Result<String, u64>| {
                serde_json::from_str::<BTreeMap<String, Value>>(row.as_ref().unwrap()).unwrap()
            };
            prop_assert_eq!(found.iter().map(read).collect::<Vec<_>>(), want.clone());
        }
        // The record as a whole gives the same rollouts.
        let reader = by_id("roll").unwrap();
        let parts = reader.parse(&text, &Context::default()).unwrap();
        prop_assert_eq!(parts.len(), count);
        let open = |part: Range<u64>| -> Box<dyn Read + '_> {
            Box::new(Slow(&text.as_bytes()[part.start as usize..part.end as usize], chunk))
        };
        let (mut document, mut at) = (None, 0);
        columns::split(Layout::Document, reader.columnar().unwrap(), text.len() as u64, 1 << 20, &open, &mut |found| {
            match found {
                Found::Sheet(sheet) => document = Some(sheet.document.clone()),
                Found::Element(row) => {
                    let alone = read_element(&**document.as_ref().unwrap(), &row.body.unwrap(), at, &Context::default()).unwrap();
                    assert_eq!((&alone.parts[0].rollout, alone.parts[0].digest), (&parts[at].rollout, parts[at].digest));
                    at += 1;
                }
                _ => panic!("one record of columns was written"),
            }
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(at, count);
    }
}

/// Scores of the rollouts by their ids, in order.
fn scores(loaded: &Loaded) -> Vec<(String, Option<f64>)> {
    let groups = loaded.corpus.groups.iter();
    let of = |r: &credscope::rollout::Rollout| r.reward;
    let mut all: Vec<_> =
        groups.flat_map(|g| g.rollouts.iter().map(|r| (g.key.task.clone(), of(r)))).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

/// Tasks `t0`, `t1`, …, each with its number as its score.
fn tasks(which: &[usize]) -> Vec<(String, Option<f64>)> {
    which.iter().map(|&n| (format!("t{n}"), Some(n as f64))).collect()
}

fn answers(count: usize) -> Value {
    let of = |make: &dyn Fn(usize) -> Value| (0..count).map(make).collect::<Vec<_>>();
    json!({"id": of(&|n| json!(format!("t{n}"))), "prompt": of(&|_| json!("q")),
           "responses": of(&|n| json!(format!("answer \"{n}\" [{{"))), "scores": of(&|n| json!(n as f64)),
           "tag": of(&|_| json!("g"))})
}

/// Loads a text that stays where it is.
fn kept(text: &str) -> (tempfile::TempDir, Loaded) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dump.jsonl");
    std::fs::write(&path, text).unwrap();
    let loaded = load_with(&[path], &LoadOptions::default()).unwrap();
    (dir, loaded)
}

/// The text of the only step of each task.
fn texts(loaded: &Loaded) -> BTreeMap<String, String> {
    let text = |g: &credscope::rollout::Group| {
        assert_eq!(g.rollouts.len(), 1);
        let step = loaded.sources.rollout(&g.rollouts[0].records[0]).unwrap().steps.remove(0);
        (g.key.task.clone(), step.thought)
    };
    loaded.corpus.groups.iter().map(|g| text(g)).collect()
}

#[test]
fn a_cut_at_any_byte_keeps_the_rows_that_are_whole() {
    // In this order of columns, so that the needed ones are there early; a list of its own in between.
    let text = concat!(
        r#"{"id":["t0","t1","t2"],"responses":["a\"]","b","c"],"#,
        r#""scores":[0.0, 1.0, 2.0 ],"own":[7,8],"tag":["x" ,"y","z"],"meta":{"a":[1]}}"#
    );
    // Where what follows a cell, or a list, begins: a cell is whole with the byte behind it.
    let ends = |list: &str, cells: [&str; 3]| -> Vec<usize> {
        let start = text.find(list).unwrap();
        cells.iter().map(|cell| start + text[start..].find(cell).unwrap() + cell.len()).collect()
    };
    let score = ends("\"scores\"", ["0.0,", "1.0,", "2.0 ]"]);
    let tag = ends("\"tag\"", ["\"x\" ,", "\"y\",", "\"z\"]"]);
    let tag_begins = text.find("\"tag\":[").unwrap() + 7;
    for end in score[0]..text.len() {
        let text = &text[..end];
        let whole = |ends: &[usize]| ends.iter().filter(|&&e| e <= end).count();
        let want = if end < tag_begins { whole(&score) } else { whole(&tag) };
        match load_text("dump.jsonl", text, &LoadOptions::default()) {
            Ok(loaded) => {
                assert_eq!(scores(&loaded), tasks(&(0..want).collect::<Vec<_>>()), "{text}");
                let skipped = &loaded.report.skipped;
                let told = (skipped.len(), skipped[0].kind, skipped[0].part);
                // The first column tells that there were three. Behind them no rollout is lost.
                let (lost, part) =
                    if want == 3 { (1, None) } else { (3 - want, Some(want as u32 + 1)) };
                assert_eq!(told, (lost, RecordErrorKind::Cut, part), "{text}");
                let unit = if want == 3 { "document part" } else { "rollout" };
                assert!(skipped.iter().all(|s| s.counted() == unit), "{text}");
            }
            Err(error) => {
                assert_eq!(want, 0, "{text}: {error}");
                assert!(error.to_string().contains("cut at the end of the file"), "{error}");
            }
        }
    }
}

#[test]
fn damage_in_a_cell_costs_its_row() {
    let whole = answers(5).to_string();
    let told = |text: &str| {
        let (dir, loaded) = kept(text);
        let skipped = loaded.report.skipped.iter();
        let told: Vec<_> =
            skipped.map(|s| (s.part, s.field.clone().unwrap_or_default(), s.kind)).collect();
        (scores(&loaded), told, loaded, dir)
    };
    // A bare word, an object that is none.
    for bad in ["tru", "{\"a\" 1}", "[1 2]"] {
        let (scores, lost, ..) = told(&whole.replace("2.0", bad));
        assert_eq!(scores, tasks(&[0, 1, 3, 4]), "{bad}");
        assert_eq!(lost, [(Some(3), "scores".to_owned(), RecordErrorKind::Broken)], "{bad}");
    }
    // What Python writes is mended, and a word is told with its cell.
    let (scores, lost, loaded, _dir) = told(&whole.replace("2.0", "None").replace("3.0", "NaN"));
    assert_eq!(scores.iter().filter(|(_, s)| s.is_none()).count(), 2);
    assert_eq!((scores.len(), lost.len()), (5, 0));
    let words: Vec<_> =
        loaded.report.notes.iter().filter(|n| n.reason.contains("`None`")).collect();
    assert_eq!(words.iter().map(|n| n.field.as_str()).collect::<Vec<_>>(), ["scores[2]"]);
    // Half of a surrogate pair.
    let (scores, lost, loaded, _dir) = told(&whole.replace("answer \\\"2", "answer \\ud800 2"));
    assert_eq!((scores, lost.len()), (tasks(&[0, 1, 2, 3, 4]), 0));
    assert_eq!(texts(&loaded)["t2"], "answer \u{fffd} 2\\\" [{".replace('\\', ""));
    assert!(loaded.report.notes.iter().any(|n| n.reason.contains("1 lone surrogates replaced")));
}

#[test]
fn a_quote_or_a_bracket_that_is_missing_costs_the_dump_and_not_the_next() {
    let good = answers(3).to_string();
    let places: Vec<usize> =
        good.char_indices().filter(|(_, c)| "\"[]{}".contains(*c)).map(|(at, _)| at).collect();
    for at in places {
        let mut torn = good.clone();
        torn.remove(at);
        let other = |n: &str| answers(2).to_string().replace("\"t", &format!("\"t{n}"));
        let text = format!("{}\n{torn}\n{}\n", other("8"), other("9"));
        let loaded = load_text("dumps.jsonl", &text, &LoadOptions::default()).unwrap();
        let got = scores(&loaded);
        // The others are read; of the torn one only rows that were written.
        let (others, own): (Vec<_>, Vec<_>) =
            got.into_iter().partition(|(t, _)| t.starts_with("t8") || t.starts_with("t9"));
        assert_eq!(others.len(), 4, "{torn}");
        // A bracket within a text is no damage.
        let strict = serde_json::from_str::<Value>(&torn).is_ok();
        assert!(strict || loaded.report.totals.skipped > 0, "{torn}");
        assert!(strict || own.iter().all(|row| tasks(&[0, 1, 2]).contains(row)), "{torn}: {own:?}");
    }
}

#[test]
fn dumps_stand_one_after_the_other_in_any_form() {
    let (a, b) = (answers(3), answers(4).to_string().replace("\"t", "\"t1"));
    let b: Value = serde_json::from_str(&b).unwrap();
    let want = {
        let mut all = tasks(&[0, 1, 2]);
        all.extend((0..4).map(|n| (format!("t1{n}"), Some(f64::from(n)))));
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let pretty = |v: &Value| serde_json::to_string_pretty(v).unwrap();
    for text in [
        format!("{a}\n\n{b}\n"),
        format!("\u{feff}{a}\r\n{b}"),
        format!("{}\n{}\n", pretty(&a), pretty(&b)),
        format!("{}{}", pretty(&a), b),
    ] {
        let (_dir, loaded) = kept(&text);
        assert_eq!(scores(&loaded), want, "{text}");
        assert_eq!((loaded.report.totals.records, loaded.report.totals.skipped), (2, 0));
        for (task, text) in texts(&loaded) {
            assert_eq!(text, format!("answer \"{}\" [{{", &task[task.len() - 1..]));
        }
    }
}

#[test]
fn packed_dumps_are_read_and_a_changed_cell_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dump.jsonl");
    let whole = answers(6).to_string();
    std::fs::write(&path, &whole).unwrap();
    let loaded = load_with(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
    let packed = dir.path().join("packed.jsonl.gz");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(whole.as_bytes()).unwrap();
    std::fs::write(&packed, gz.finish().unwrap()).unwrap();
    let again = load_with(&[packed], &LoadOptions::default()).unwrap();
    assert_eq!(scores(&again), tasks(&[0, 1, 2, 3, 4, 5]));
    assert_eq!(texts(&again), texts(&loaded));
    std::fs::write(&path, whole.replace("answer \\\"4", "ANSWER \\\"4")).unwrap();
    for group in &loaded.corpus.groups {
        let read = loaded.sources.rollout(&group.rollouts[0].records[0]);
        match &*group.key.task {
            "t4" => assert!(matches!(read, Err(TextError::Changed { .. }))),
            _ => assert_eq!(read.unwrap().steps.len(), 1),
        }
    }
}

#[test]
fn a_column_that_is_empty_is_noted_and_one_of_another_length_told() {
    let mut dump = answers(4);
    dump["domain"] = json!([]);
    dump["own"] = json!([]);
    let loaded = load_text("dump.jsonl", &dump.to_string(), &LoadOptions::default()).unwrap();
    assert_eq!((scores(&loaded), loaded.report.totals.skipped), (tasks(&[0, 1, 2, 3]), 0));
    assert_eq!(loaded.report.partial(), None);
    let notes = loaded.report.notes.iter().map(|n| (n.rollout.clone(), &*n.field, &*n.reason));
    let want = "no values here, 4 values in `responses`: the rows are read without it";
    assert_eq!(notes.collect::<Vec<_>>(), [(None, "domain", want)]);
    dump["domain"] = json!(["d", "d", "d"]);
    let loaded = load_text("dump.jsonl", &dump.to_string(), &LoadOptions::default()).unwrap();
    assert_eq!(loaded.report.totals.rollouts, 3);
    let lost = &loaded.report.skipped[0];
    assert_eq!((lost.part, lost.field.as_deref()), (Some(4), Some("domain")));
    assert_eq!(lost.reason, "3 values here, 4 in `responses`: the last row lacks one");
}

#[test]
fn a_dump_over_the_limit_is_read_and_a_row_over_it_told() {
    let mut dump = answers(40);
    dump["responses"][7] = json!("x".repeat(400));
    let text = dump.to_string();
    for chunk in [1, 7, 4096] {
        let found = cut(Layout::Lines, &text, 300, chunk);
        assert!(text.len() > 300 && found.len() == 40);
        for (at, row) in found.iter().enumerate() {
            match row {
                Ok(row) => {
                    let row: Value = serde_json::from_str(row).unwrap();
                    assert_eq!(row["id"], json!(format!("t{at}")));
                }
                Err(len) => assert!(at == 7 && *len > 400, "row {at} of {len}"),
            }
        }
        assert!(found[7].is_err());
    }
    // Without its order it is one record, and over the limit given up.
    let torn = text.replacen("\"t3\"", "\"t3", 1);
    assert_eq!(cut(Layout::Lines, &torn, 300, 64), [Err(torn.len() as u64)]);
    let all = cut(Layout::Lines, &torn, 1 << 20, 64);
    assert_eq!(all, [Ok(format!("record {torn}"))]);
}
