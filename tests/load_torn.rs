//! Damage costs its record and nothing else, and is told: archives, packed files, quotes that are
//! missing, words that are no JSON, lines of sessions, files that cannot be opened.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Write};

use credscope::load::{LoadOptions, Loaded, VerdictKind};
use credscope::rollout::Outcome;
use load_common::{load_bytes, load_with};
use serde_json::{Value, json};

fn load(name: &str, bytes: &[u8]) -> Loaded {
    try_load(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn try_load(name: &str, bytes: &[u8]) -> Result<Loaded, String> {
    load_bytes(name, bytes, &LoadOptions::default()).map_err(|e| e.to_string())
}

fn ids(loaded: &Loaded) -> BTreeSet<String> {
    let rollouts = loaded.corpus.groups.iter().flat_map(|g| &g.rollouts);
    rollouts.map(|r| r.id.clone()).collect()
}

fn names(range: std::ops::Range<usize>) -> BTreeSet<String> {
    range.map(|i| format!("r{i}")).collect()
}

fn record(i: usize) -> Value {
    json!({"task": "t", "id": format!("r{i}"), "reward": i % 2,
           "steps": [{"tool": "x", "args": {"k": [i, "v"]}, "observation": format!("saw {i}")}]})
}

/// Lines of which no part repeats, so that packed blocks hold a few each.
fn lines(count: usize) -> String {
    let noise = |i: usize| -> Vec<u64> {
        (0..30_u64).map(|k| (i as u64 * 131 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    };
    let line = |i: usize| {
        let mut record = record(i);
        record["noise"] = noise(i).into();
        format!("{record}\n")
    };
    (0..count).map(line).collect()
}

/// The load is partial in every place that says so.
fn told(loaded: &Loaded, code: &str) {
    let report = &loaded.report;
    assert!(report.partial().is_some() && report.fault().is_some(), "{report:?}");
    assert!(report.warning(code).is_some(), "{:?}", report.warnings);
}

fn zip(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        out.start_file(*name, options).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap().into_inner()
}

/// Where the bytes of a member are, by its local header.
fn body(zip: &[u8], name: &str) -> usize {
    let at = memchr::memmem::find(zip, name.as_bytes()).unwrap();
    at + name.len()
}

#[test]
fn a_damaged_member_is_told_whatever_it_was_to_be() {
    let good = lines(3);
    let notes = b"no rollouts in here, only words".as_slice();
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let all = [("a.jsonl", good.as_bytes()), ("b.jsonl", notes), ("notes", notes)];
        let plain = zip(&all, method);
        for name in ["b.jsonl", "notes"] {
            let mut bytes = plain.clone();
            let at = body(&bytes, name) + 4;
            bytes[at] ^= 0x15;
            let loaded = load("runs.zip", &bytes);
            assert_eq!(ids(&loaded), names(0..3));
            told(&loaded, "damaged-file");
            let verdicts = &loaded.report.not_rollouts;
            let lost = verdicts.iter().find(|v| v.kind == VerdictKind::Damaged).unwrap();
            assert_eq!(lost.name, format!("runs.zip!{name}"));
            assert!(lost.reason.contains("this member is damaged"), "{}", lost.reason);
        }
    }
}

#[test]
fn a_damaged_header_of_an_archive_is_told() {
    let header = br#"{"version":2,"status":"success","eval":{"task":"t","model":"m"}}"#;
    let sample = br#"{"id":"s","epoch":1,"input":"q","target":"a","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"scores":{"match":{"value":"C"}}}"#;
    let all = [
        ("header.json", &header[..]),
        ("samples/s_epoch_1.json", sample),
        ("summaries.json", b"[]"),
    ];
    let mut bytes = zip(&all, zip::CompressionMethod::Stored);
    let whole = load("log.eval", &bytes);
    assert_eq!((whole.report.totals.rollouts, whole.report.partial()), (1, None));
    let at = body(&bytes, "header.json") + 5;
    bytes[at] ^= 0x15;
    match try_load("log.eval", &bytes) {
        Ok(loaded) => {
            told(&loaded, "damaged-file");
            let names: Vec<_> = loaded.report.refused().map(|v| v.name.as_str()).collect();
            assert_eq!(names, ["log.eval!header.json"]);
        }
        Err(error) => assert!(error.contains("header.json: this member is damaged"), "{error}"),
    }
}

#[test]
fn an_archive_without_its_directory_gives_its_whole_members() {
    let (a, b, c) =
        (lines(3), lines(6).split_inclusive('\n').skip(3).collect::<String>(), lines(60));
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let all = [("a.jsonl", a.as_bytes()), ("b.jsonl", b.as_bytes()), ("c.jsonl", c.as_bytes())];
        let bytes = zip(&all, method);
        // Only the directory is torn off.
        let end = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
        let loaded = load("runs.zip", &bytes[..end]);
        assert_eq!(loaded.report.totals.files, 3);
        told(&loaded, "damaged-file");
        assert!(loaded.report.not_rollouts[0].reason.contains("3 whole members"));
        // In the midst of the last member: what is whole of it is read as well.
        let loaded = load("runs.zip", &bytes[..usize::midpoint(body(&bytes, "c.jsonl"), end)]);
        let files: Vec<_> =
            loaded.report.files.iter().map(|f| (f.name.as_str(), f.damaged)).collect();
        let want =
            [("runs.zip!a.jsonl", false), ("runs.zip!b.jsonl", false), ("runs.zip!c.jsonl", true)];
        assert_eq!(files, want);
        assert!(loaded.report.files[2].rollouts > 5 && ids(&loaded).is_superset(&names(0..12)));
        assert!(loaded.report.not_rollouts[0].reason.contains("2 whole members"));
        told(&loaded, "damaged-file");
        // Within the name of the first one: nothing is left.
        let error = try_load("runs.zip", &bytes[..33]).unwrap_err();
        assert!(error.contains("it is no whole zip archive: its directory"), "{error}");
    }
}

#[test]
fn a_torn_zstandard_file_gives_what_is_before_the_tear() {
    let text = lines(3000);
    let pack = |t: &str| {
        ruzstd::encoding::compress_to_vec(t.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
    };
    let bytes = pack(&text);
    let cut = &bytes[..bytes.len() * 3 / 4];
    let loaded = load("a.jsonl.zst", cut);
    let found = loaded.report.totals.rollouts;
    // Blocks of 128 KB: at most one of them is lost beside what is cut off.
    let sure = 3000 * 3 / 4 - (128 << 10) / (text.len() / 3000) - 1;
    assert!((sure..2300).contains(&found), "{found} of {sure}");
    assert_eq!(ids(&loaded), names(0..found));
    told(&loaded, "damaged-file");

    // Frames that are to be skipped, several frames, and what is no frame behind them.
    let skip = b"\x50\x2a\x4d\x18\x03\0\0\0abc".as_slice();
    let (first, second) = text.split_at(text.find("{\"id\":\"r9\"").unwrap());
    let all = [skip, &pack(first), skip, &pack(second)].concat();
    let loaded = load("b.jsonl.zst", &all);
    assert_eq!((loaded.report.totals.rollouts, loaded.report.partial()), (3000, None));
    let loaded = load("c.jsonl.zst", &[&all[..], b"trailing words"].concat());
    assert_eq!(loaded.report.totals.rollouts, 3000);
    told(&loaded, "damaged-file");
}

/// The ways to write elements so that each begins on a line of its own.
fn forms(records: &[Value]) -> Vec<(&'static str, String)> {
    let bare: Vec<Value> = records
        .iter()
        .map(|r| {
            let mut r = r.clone();
            r.as_object_mut().unwrap().remove("task");
            r
        })
        .collect();
    let lines = |list: &[Value]| list.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n");
    let pretty = |v: &Value| serde_json::to_string_pretty(v).unwrap();
    let document = json!({"namespace": "n", "rollouts": bare, "task": "t"});
    vec![
        ("lines.json", format!("[\n{}\n]\n", lines(records))),
        ("pretty.json", pretty(&Value::from(records.to_vec()))),
        ("document.json", pretty(&document)),
        ("list.json", format!("{{\"rollouts\":[\n{}\n],\"task\":\"t\"}}\n", lines(&bare))),
        ("values.json", records.iter().map(pretty).collect::<Vec<_>>().join("\n")),
    ]
}

/// A quote that is missing or too many in one element, anywhere in it, costs that element.
#[test]
fn an_unbalanced_quote_costs_its_element() {
    let records: Vec<Value> = (0..4).map(record).collect();
    for (name, text) in forms(&records) {
        let plain = load(name, text.as_bytes());
        assert_eq!((ids(&plain), plain.report.partial()), (names(0..4), None), "{name}");
        for broken in [0_usize, 2, 3] {
            let id = text.find(&format!("\"r{broken}\"")).unwrap();
            let from = text[..id].rfind("\"id\"").unwrap();
            let next = id + text[id..].find("\"x\"").unwrap() + 3;
            // Keys are sorted: what stands before the id is not touched.
            for at in from + 4..next {
                let missing = text.as_bytes()[at] == b'"';
                if !missing && at % 3 > 0 {
                    continue;
                }
                let mut bytes = text.clone().into_bytes();
                if missing {
                    bytes.remove(at);
                } else {
                    bytes.insert(at, b'"');
                }
                let loaded = match try_load(name, &bytes) {
                    Ok(loaded) => loaded,
                    Err(error) => panic!("{name}, element {broken}, byte {at}: {error}"),
                };
                let place =
                    format!("{name}, element {broken}, byte {at}: {:?}", loaded.report.skipped);
                let mut others = names(0..4);
                others.remove(&format!("r{broken}"));
                assert_eq!(ids(&loaded), others, "{place}");
                assert!(
                    loaded.report.partial().is_some() && loaded.report.totals.skipped > 0,
                    "{place}"
                );
                for rollout in loaded.corpus.groups.iter().flat_map(|g| &g.rollouts) {
                    assert_eq!(rollout.steps.len(), 1, "{place}");
                }
            }
        }
    }
}

/// The text of elements on one line, with one quote lost in some of them.
fn torn_line(count: usize, broken: &[usize]) -> String {
    let one = |i: usize| {
        let text = record(i).to_string();
        if broken.contains(&i) { text.replace("\"saw", "saw") } else { text }
    };
    format!("[{}]", (0..count).map(one).collect::<Vec<_>>().join(","))
}

/// On one line the next element is the first from which all the rest is whole.
#[test]
fn a_torn_element_on_one_line_costs_itself() {
    for broken in [1, 2, 4, 5] {
        let loaded = load("a.json", torn_line(6, &[broken]).as_bytes());
        let mut others = names(0..6);
        others.remove(&format!("r{broken}"));
        assert_eq!(ids(&loaded), others, "{:?}", loaded.report.skipped);
        assert_eq!(loaded.report.partial().as_deref(), Some("partial data: 1 element skipped"));
        assert_eq!(loaded.report.skipped[0].number, broken as u64 + 1);
        told(&loaded, "skipped");
    }
}

/// A bracket too many ends an element early, and what is before it seems whole: it lacks its reward, and
/// is lost.
#[test]
fn an_element_that_a_bracket_ends_early_is_not_read_by_half() {
    for (form, between) in [("one line", ","), ("lines", ",\n"), ("indented", ",\n    ")] {
        for early in 0..5 {
            let one = |at: usize| {
                let more = if at == early { "}" } else { "" };
                let comma = if form == "indented" { ",\n      " } else { "," };
                format!(
                    r#"{{"id":"r{at}"{comma}"task":"t"{comma}"steps":[{{"state":"s","action":"a"}}]{more}{comma}"reward":1{comma}"seed":7}}"#
                )
            };
            let list = (0..5).map(one).collect::<Vec<_>>().join(between);
            let document = if form == "one line" {
                format!(r#"{{"task":"t","rollouts":[{list}],"policy":"p"}}"#)
            } else {
                let indent = between.trim_start_matches(',');
                format!(
                    "{{\n\"task\":\"t\",\n\"rollouts\":[{indent}{list}\n],\n\"policy\":\"p\"\n}}"
                )
            };
            for text in [format!("[{list}]"), document] {
                let loaded = load("a.json", text.as_bytes());
                let mut others = names(0..5);
                others.remove(&format!("r{early}"));
                let skipped = &loaded.report.skipped;
                assert_eq!(ids(&loaded), others, "{form} {early}: {skipped:?}\n{text}");
                assert_eq!(skipped.len(), 1, "{form} {early}: {skipped:?}\n{text}");
                told(&loaded, "skipped");
            }
        }
    }
}

/// Where nothing says where the next element begins, the loss is told with its size, and no number.
#[test]
fn what_cannot_be_cut_is_told_with_its_size() {
    let unknown = "partial data: 1 element skipped, how many more with it is unknown";
    // Behind the second torn one there is a whole one again.
    let loaded = load("a.json", torn_line(6, &[2, 4]).as_bytes());
    assert_eq!(ids(&loaded), ["r0", "r1", "r5"].map(str::to_owned).into());
    assert_eq!(loaded.report.partial().as_deref(), Some(unknown));
    let torn = torn_line(6, &[2]);
    let torn = torn.strip_suffix(']').unwrap();
    let loaded = load("a.json", torn.as_bytes());
    assert_eq!(ids(&loaded), names(0..2));
    let told = loaded.report.skipped[0].to_string();
    let start = torn.find("{\"id\":\"r2\"").unwrap();
    let want = format!(
        "element 3 (line 1): a quote or a bracket is missing in it: {} bytes from it to the end of \
         the file cannot be cut into elements, and how many more they held is unknown",
        torn.len() - start
    );
    assert!(told.contains(&want), "{told}");
    assert_eq!(loaded.report.partial().as_deref(), Some(unknown));
}

/// What stands behind a finished list is told and costs none of its elements.
#[test]
fn garbage_behind_a_list_costs_no_element() {
    let list = Value::from((0..3).map(record).collect::<Vec<_>>());
    let pretty = serde_json::to_string_pretty(&list).unwrap();
    for text in [list.to_string(), pretty] {
        for garbage in [" garbage", " ]]\n", " \"x", "}"] {
            let loaded = load("a.json", format!("{text}{garbage}").as_bytes());
            assert_eq!(ids(&loaded), names(0..3), "{garbage}: {:?}", loaded.report.skipped);
            assert_eq!(loaded.report.totals.skipped, 1, "{garbage}: {:?}", loaded.report.skipped);
            told(&loaded, "skipped");
        }
    }
}

/// Lists within elements that begin like elements do, and JSON in texts, whose quotes are escaped.
#[test]
fn lists_within_a_torn_element_are_none_of_its_siblings() {
    let element = |i: usize| {
        let step = |s: usize| {
            format!(
                "        {{\n          \"id\": \"s{s}\",\n          \"tool\": \"x\",\n          \"args\": {{}},\n          \"observation\": \"{{\\\"a\\\": \\\"b{i}\\\"}}\"\n        }}"
            )
        };
        let steps: Vec<_> = (0..3).map(step).collect();
        format!(
            "    {{\n      \"id\": \"r{i}\",\n      \"reward\": {},\n      \"steps\": [\n{}\n      ]\n    }}",
            i % 2,
            steps.join(",\n")
        )
    };
    let all: Vec<_> = (0..4).map(element).collect();
    let tail = "\n  ],\n  \"others\": [\n    {\n      \"id\": \"r9\"\n    }\n  ]\n}\n";
    let text = format!("{{\n  \"task\": \"t\",\n  \"rollouts\": [\n{}{tail}", all.join(",\n"));
    let plain = load("a.json", text.as_bytes());
    assert_eq!((ids(&plain), plain.report.partial()), (names(0..4), None));
    for broken in [1, 3] {
        let from = text.find(&all[broken]).unwrap();
        let first = from + text[from..].find("\"r").unwrap();
        for at in (first..from + all[broken].len()).filter(|&at| text.as_bytes()[at] == b'"') {
            let torn = format!("{}{}", &text[..at], &text[at + 1..]);
            if serde_json::from_str::<Value>(&torn).is_ok() {
                // `\\b` is an escape as well.
                continue;
            }
            let loaded = load("a.json", torn.as_bytes());
            let mut others = names(0..4);
            others.remove(&format!("r{broken}"));
            let place = format!("byte {at} of {broken}: {:?}", loaded.report.skipped);
            assert_eq!(ids(&loaded), others, "{place}");
            let want = Some("partial data: 1 rollout skipped");
            assert_eq!(loaded.report.partial().as_deref(), want, "{place}");
        }
    }
}

#[test]
fn words_that_frameworks_write_are_told_with_their_field() {
    let good = record(0).to_string();
    for word in ["None", "True", "False", "undefined", "nan", "inf"] {
        let odd = record(1).to_string().replace("[1,\"v\"]", &format!("[1,{word}]"));
        let loaded = load("a.jsonl", format!("{good}\n{odd}\n").as_bytes());
        assert_eq!(ids(&loaded), names(0..2));
        let note = &loaded.report.notes[0];
        let said = (note.number, note.field.as_str(), note.reason.as_str());
        let read = match word {
            "True" => "`true`",
            "False" => "`false`",
            _ => "a text",
        };
        let reason = format!("`{word}` is no JSON; read as {read}");
        assert_eq!(said, (2, "steps[0].args.k[1]", reason.as_str()));
        assert!(loaded.report.warning("coerced").is_some());
    }
}

/// A word that nobody writes is what a lost quote leaves: its line is lost, and told.
#[test]
fn any_other_bare_word_costs_its_record() {
    let [good, plain, last] = [0, 1, 2].map(|i| record(i).to_string());
    let odd = |from: &str, to: &str| {
        assert!(plain.contains(from), "{plain}");
        plain.replacen(from, to, 1)
    };
    for (line, field) in [
        (odd("[1,\"v\"]", "[1,@]"), "steps[0].args.k[1]"),
        (odd("[1,\"v\"]", "[1,tru]"), "steps[0].args.k[1]"),
        (odd("[1,\"v\"]", "[1,1x]"), "steps[0].args.k[1]"),
        (odd("\"tool\"", "tool\""), "steps[0].tool\""),
        (odd("\"r1\"", "r1\""), "id"),
        (odd("\"reward\"", "reward\""), "reward\""),
        (odd("\"reward\"", "None"), "None"),
    ] {
        let loaded = load("a.jsonl", format!("{good}\n{line}\n{last}\n").as_bytes());
        assert_eq!(ids(&loaded), ["r0".to_owned(), "r2".to_owned()].into(), "{line}");
        told(&loaded, "skipped");
        let lost = &loaded.report.skipped[0];
        assert_eq!((loaded.report.totals.skipped, lost.number), (1, 2), "{line}");
        assert_eq!(lost.field.as_deref(), Some(field), "{line}");
        // The place is the word's own.
        let (at, column) = lost.at.unwrap();
        assert!(at == 2 && column > 1 && column < line.len() as u64, "{lost:?}");
    }
}

/// One quote after the other of a line of messages: the line is lost whole, never half of it.
#[test]
fn a_lost_quote_never_costs_half_a_line() {
    let line = |i: usize| {
        let asks = json!({"role": "assistant", "content": "I look", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{\"p\":1}"}}]});
        let messages = json!([{"role": "user", "content": "do it"}, asks,
            {"role": "tool", "tool_call_id": "c", "content": "a b"}]);
        json!({"instance_id": "t", "id": format!("r{i}"), "reward": 1, "messages": messages})
            .to_string()
    };
    let odd = line(1);
    for at in (0..odd.len()).filter(|&at| odd.as_bytes()[at] == b'"') {
        let torn = format!("{}{}", &odd[..at], &odd[at + 1..]);
        let text = format!("{}\n{torn}\n{}\n", line(0), line(2));
        let loaded = load("m.jsonl", text.as_bytes());
        // An escaped quote of a text within a text is no fault of the line.
        let whole = serde_json::from_str::<Value>(&torn).is_ok();
        let want = if whole { names(0..3) } else { ["r0".to_owned(), "r2".to_owned()].into() };
        assert_eq!(ids(&loaded), want, "{torn}");
        assert_eq!(loaded.report.partial().is_some(), !whole, "{torn}");
    }
}

/// The same note for a step reward that is none, whichever framework wrote it.
#[test]
fn step_rewards_that_are_none_are_noted_in_every_format() {
    let verl = r#"{"input":"q","output":"a","score":1,"step":3,"traj_uid":"x","uid":"u","step_rewards":NaN}"#;
    let verifiers = r#"{"example_id":0,"task":"t","prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"}],"reward":1.0,"trajectory":[{"reward":null},{"reward":0.5}]}"#;
    let tinker = r#"{"split":"train","iteration":1,"group_idx":0,"traj_idx":0,"total_reward":1.0,"final_reward":1.0,"steps":[{"step_idx":0,"ob_len":1,"ac_len":1,"reward":"much","episode_done":false,"metrics":{}}]}"#;
    let native =
        r#"{"task":"t","id":"a","reward":1,"steps":[{"tool":"x","args":{},"step_reward":null}]}"#;
    for (name, line) in [
        ("3.jsonl", verl),
        ("verifiers.jsonl", verifiers),
        ("tinker.jsonl", tinker),
        ("n.jsonl", native),
    ] {
        let loaded = load(name, format!("{line}\n").as_bytes());
        let fields: Vec<_> =
            loaded.report.notes.iter().map(|n| (n.number, n.field.as_str())).collect();
        assert_eq!(fields, [(1, "steps[0].step_reward")], "{name}: {:?}", loaded.report.notes);
        let steps = &loaded.corpus.groups[0].steps;
        assert_eq!(steps.step_reward.first().copied().flatten(), None, "{name}");
    }
}

/// A sum without one of its numbers is unknown.
#[test]
fn a_derived_sum_of_rewards_is_unknown_without_one_of_them() {
    let rllm = |rewards: [&str; 2]| {
        let step = |r: &str| {
            format!(r#"{{"observation":"o","action":"a","model_response":"m","reward":{r}}}"#)
        };
        let steps = rewards.map(step).join(",");
        format!(
            r#"{{"episode_id":"a:0","task":"q","trajectories":[{{"name":"p","steps":[{steps}]}}]}}"#
        )
    };
    let tinker = |reward: &str| {
        format!(
            r#"{{"split":"train","iteration":1,"group_idx":0,"traj_idx":0,"final_reward":1.0,"steps":[{{"step_idx":0,"ob_len":1,"ac_len":1,"reward":{reward},"episode_done":false,"metrics":{{}}}}]}}"#
        )
    };
    let fine = load("rllm.jsonl", (rllm(["0.25", "1"]) + "\n").as_bytes());
    assert_eq!(fine.corpus.groups[0].rollouts[0].outcome_reward, Some(1.25));
    let fine = load("tinker.jsonl", (tinker("0.5") + "\n").as_bytes());
    assert_eq!(fine.corpus.groups[0].rollouts[0].outcome_reward, Some(1.5));
    for (name, line) in [("rllm.jsonl", rllm(["NaN", "1"])), ("tinker.jsonl", tinker("NaN"))] {
        let loaded = load(name, (line + "\n").as_bytes());
        let rollout = &loaded.corpus.groups[0].rollouts[0];
        assert_eq!((rollout.outcome_reward, rollout.outcome), (None, Outcome::Unscored), "{name}");
        assert!(
            rollout.outcome_source.contains("unknown: the reward of step 0 is NaN"),
            "{rollout:?}"
        );
        assert!(!loaded.report.notes.is_empty());
    }
}

/// Lines of a session that cannot be read are skipped lines, with their number in the file.
#[test]
fn lost_lines_of_a_session_are_counted() {
    let session = |n: usize, body: &str| {
        format!(
            r#"{{"type":"{body}","sessionId":"s","uuid":"{n}","message":{{"role":"{body}","content":"word {n}"}}}}"#
        )
    };
    let all = [
        session(1, "user"),
        "{\"type\":\"assistant\",\"message\":{\"content\":\"x".to_owned(),
        session(3, "assistant"),
        "7".to_owned(),
        session(5, "assistant"),
    ];
    for (lead, odd) in [("", ""), ("\n\n", ""), ("", "\u{fffd}")] {
        // With bytes that are no UTF-8 as well.
        let mut bytes = format!("{lead}{}\n", all.join("\n"))
            .replace("word 5", &format!("word 5{odd}"))
            .into_bytes();
        if !odd.is_empty() {
            let at = memchr::memmem::find(&bytes, odd.as_bytes()).unwrap();
            bytes.splice(at..at + odd.len(), [0xff]);
        }
        let loaded = load("s.jsonl", &bytes);
        let skipped: Vec<_> = loaded.report.skipped.iter().map(|s| (s.unit, s.number)).collect();
        let before = lead.len() as u64;
        assert_eq!(
            skipped,
            [("line", before + 2), ("line", before + 4)],
            "{:?}",
            loaded.report.skipped
        );
        assert_eq!(loaded.report.totals.rollouts, 1);
        told(&loaded, "skipped");
    }
}

#[test]
fn text_of_two_bytes_a_character_is_named() {
    let text = record(0).to_string() + "\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [[b"\xff\xfe", &wide[..]].concat(), wide] {
        let error = try_load("a.jsonl", &bytes).unwrap_err();
        assert!(error.contains("UTF-16 text"), "{error}");
    }
}

/// A zero byte costs the record that it stands in, if anything.
#[test]
fn zero_bytes_make_no_binary_file() {
    let [a, b, c] = [0, 1, 2].map(|i| record(i).to_string());
    let inside = format!("{a}\n{}\n{c}\n", b.replace("saw 1", "saw\0 1"));
    let loaded = load("a.jsonl", inside.as_bytes());
    assert_eq!(ids(&loaded), names(0..3));
    assert!(
        loaded.report.notes[0].reason.contains("1 raw control bytes"),
        "{:?}",
        loaded.report.notes
    );
    let block = format!("{a}\n\0\0\0\0\0\0\0\0\n{b}\n{c}\n");
    let loaded = load("a.jsonl", block.as_bytes());
    assert_eq!((ids(&loaded), loaded.report.skipped[0].number), (names(0..3), 2));
    told(&loaded, "skipped");
}

#[test]
fn a_torn_tar_gives_what_is_whole() {
    let mut out = tar::Builder::new(Vec::new());
    for (name, from) in [("a.jsonl", 0), ("b.jsonl", 3)] {
        let text: String = lines(from + 3).split_inclusive('\n').skip(from).collect();
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_cksum();
        out.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    let bytes = out.into_inner().unwrap();
    // In the midst of the second header.
    let second = memchr::memmem::find(&bytes, b"b.jsonl").unwrap();
    let loaded = load("runs.tar", &bytes[..second + 200]);
    assert_eq!(ids(&loaded), names(0..3));
    told(&loaded, "damaged-file");
    assert!(loaded.report.unread(&[]).is_empty(), "{:?}", loaded.report.unread(&[]));
    // Between two members nothing is torn, but the end is not there.
    let loaded = load("runs.tar", &bytes[..second]);
    assert_eq!(ids(&loaded), names(0..3));
    told(&loaded, "damaged-file");
    let whole = load("runs.tar", &bytes);
    assert_eq!((ids(&whole).len(), whole.report.fault()), (6, None));
}

#[cfg(unix)]
#[test]
fn what_lies_in_a_folder_and_cannot_be_read_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.jsonl"), lines(2)).unwrap();
    std::os::unix::fs::symlink(at("gone.jsonl"), at("b.jsonl")).unwrap();
    fs::create_dir(at("c.jsonl")).unwrap();
    let loaded = load_with(&[dir.path().into()], &LoadOptions::default()).unwrap();
    let told_of: Vec<_> = loaded.report.refused().map(ToString::to_string).collect();
    assert_eq!(told_of, ["b.jsonl: cannot be read: a link to `gone.jsonl`, which is not there"]);
    told(&loaded, "lost-file");
    let error = load_with(&[at("b.jsonl")], &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("a link to `gone.jsonl`"), "{error}");
}

/// A file that was cut before the keys that tell what it is, and a verdict file that is cut or says
/// neither yes nor no, lie in a folder beside whole files: each is told, and the load is partial.
#[test]
fn what_cannot_be_known_any_more_is_told_beside_whole_files() {
    let rollout =
        r#"{"task":"t","id":"r1","outcome":"success","steps":[{"state":"s","action":"a"}]}"#;
    for (name, text, told) in [
        ("cut.traj.json", r#"{"info": {"config": {"model": "#, "JSON that is cut"),
        ("cut.jsonl", "[{\"a\": 1}, {\"b\"", "JSON that is cut"),
        ("odd.json", r#"{"info": {"config" "model"}}"#, "broken JSON"),
        ("sum.json", r#"{"resolved_ids": ["a__a-1"], "unreso"#, "JSON that is cut"),
        (
            "report.json",
            r#"{"a__a-1": {"patch_exists": true, "resolved": "yes"}}"#,
            "`a__a-1.resolved`",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("whole.jsonl"), rollout).unwrap();
        std::fs::write(dir.path().join(name), text).unwrap();
        let loaded = load_with(&[dir.path().to_owned()], &LoadOptions::default()).unwrap();
        assert_eq!(loaded.report.totals.rollouts, 1, "{name}");
        let verdict = &loaded.report.not_rollouts[0];
        assert_eq!(verdict.kind, VerdictKind::Damaged, "{name}: {verdict:?}");
        assert!(verdict.reason.contains(told), "{name}: {verdict:?}");
        assert!(loaded.report.partial().is_some() && loaded.report.fault().is_some(), "{name}");
    }
    // What is whole, or no JSON at all, is only listed.
    for (name, text) in [
        ("a.json", r#"{"some": "thing"}"#),
        ("notes.md", "[draft] what { is"),
        ("b.toml", "[x]\ny = 1\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("whole.jsonl"), rollout).unwrap();
        std::fs::write(dir.path().join(name), text).unwrap();
        let loaded = load_with(&[dir.path().to_owned()], &LoadOptions::default()).unwrap();
        assert!(loaded.report.fault().is_none(), "{name}: {:?}", loaded.report.not_rollouts);
    }
}

/// Without its last brackets a rollout seems to go on: those behind it would be steps or messages of it.
#[test]
fn a_rollout_that_swallows_those_behind_it_is_lost_and_not_half_read() {
    let good = json!({"id": "z", "outcome": "success", "steps": [{"state": "s0", "action": "x"}]});
    let next = json!({"id": "b", "outcome": "success", "steps": [{"state": "s0", "action": "y"}]});
    let torn =
        r#"{"id":"a","outcome":"failure","steps":[{"state":"s0","action":"x"},{"state":"s1"}"#;
    for end in ["]}", "]}]}]}"] {
        let text =
            format!(r#"{{"schema":"credscope/1","task":"t","rollouts":[{good},{torn},{next}{end}"#);
        let loaded = load("native.json", text.as_bytes());
        assert_eq!(ids(&loaded), BTreeSet::from(["z".to_owned()]), "{text}");
        told(&loaded, "skipped");
        let reasons: Vec<_> = loaded.report.skipped.iter().map(ToString::to_string).collect();
        let all = reasons.join("\n");
        assert!(
            all.contains("a rollout with `steps` of its own stands among those of another one"),
            "{all}"
        );
    }
    let message = |role: &str| json!({"role": role, "content": "words"});
    let inner = json!({"id": "b", "task_id": "2", "trial": 1, "messages": [message("user"), message("assistant")]});
    let list = [message("user"), message("assistant"), inner];
    let record = json!({"task_id": "t", "id": "a", "reward": 1, "messages": list});
    let fine = json!({"task_id": "t", "id": "c", "reward": 1, "messages": [message("user"), message("assistant")]});
    let loaded = load("chats.jsonl", format!("{record}\n{fine}\n").as_bytes());
    assert_eq!(ids(&loaded), BTreeSet::from(["c".to_owned()]));
    told(&loaded, "skipped");
    // A message among calls.
    let called = json!({"role": "assistant", "content": "", "tool_calls": [
        {"id": "k", "function": {"name": "f", "arguments": "{}"}}, {"role": "tool", "content": "r"}]});
    let record =
        json!({"task_id": "t", "id": "a", "reward": 1, "messages": [message("user"), called]});
    let loaded = load("chats.jsonl", format!("{record}\n{fine}\n").as_bytes());
    assert_eq!(ids(&loaded), BTreeSet::from(["c".to_owned()]));
}

/// What all rollouts of a document take something from is not to be missed without a word.
#[test]
fn a_document_without_what_its_rollouts_take_from_it_is_not_read() {
    let text = std::fs::read_to_string("tests/fixtures/trainers/tau2.json").unwrap();
    let whole = load("tau2.json", text.as_bytes());
    let policy = &whole.corpus.groups[0].key.policy;
    assert!(policy.is_some());
    for (from, to) in
        [(r#""agent_info":"#, r#""agent_info""#), (r#""llm": "lib-1b""#, r#""llm": lib"#)]
    {
        assert!(text.contains(from));
        match try_load("tau2.json", text.replace(from, to).as_bytes()) {
            Ok(loaded) => panic!("{:?}", ids(&loaded)),
            Err(error) => {
                assert!(error.contains("every rollout takes something from `info`"), "{error}");
            }
        }
    }
}

/// Of a key that stands twice the last one counts, and that is told wherever it stands.
#[test]
fn keys_that_stand_twice_are_told_in_messages_and_simulations() {
    let text = std::fs::read_to_string("tests/fixtures/trainers/tau2.json").unwrap();
    let doubled = text.replacen(r#""task_id": "2","#, r#""task_id": "2", "task_id": "2","#, 1);
    assert_ne!(doubled, text);
    let fields = |loaded: &Loaded| -> Vec<String> {
        let twice = |n: &&credscope::load::Note| n.reason.contains("more than once");
        loaded.report.notes.iter().filter(twice).map(|n| n.field.clone()).collect()
    };
    assert_eq!(fields(&load("tau2.json", text.as_bytes())), [""; 0]);
    let found = fields(&load("tau2.json", doubled.as_bytes()));
    assert!(found.len() == 1 && found[0].ends_with("task_id"), "{found:?}");
    let line = r#"{"task_id":"t","id":"a","reward":1,"messages":[{"role":"user","content":"q"},{"role":"user","role":"assistant","content":"a"}]}"#;
    let fine = line.replace(r#""role":"user","role":"assistant""#, r#""role":"assistant""#);
    let loaded = load("chats.jsonl", format!("{line}\n{fine}\n").as_bytes());
    assert_eq!(fields(&loaded), ["messages[1].role"]);
}
