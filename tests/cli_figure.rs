//! Figures: well-formed, the same numbers as the tables, hostile text harmless, the same bytes again.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;
mod common;

use std::collections::BTreeSet;

use cli_common::{Bench, WORKED};
use serde_json::Value;

/// A figure with the command that prints the same analysis.
const FIGURES: [(&[&str], &[&str]); 8] = [
    (&["advantages"], &["steps"]),
    (&["advantages", "--rollout", "FIRST"], &["steps", "--rollout", "FIRST"]),
    (&["matrix"], &["steps"]),
    (&["tree"], &["tree"]),
    (&["quadrants", "--by", "evidence"], &["quadrants", "--by", "evidence"]),
    (&["sweep", "--knob", "n-prior=0,2,8"], &["sweep", "--knob", "n-prior=0,2,8"]),
    (
        &["sweep", "--knob", "think=off,counts", "--knob", "tau=0,0.1"],
        &["sweep", "--knob", "think=off,counts", "--knob", "tau=0,0.1"],
    ),
    (&["panel", "--columns", "grpo,rtmc,gigpo"], &["panel", "--columns", "grpo,rtmc,gigpo"]),
];

fn sample() -> String {
    common::sample("slugify-fix/rollouts.jsonl").to_str().unwrap().to_owned()
}

fn put<'a>(args: &[&'a str], first: &'a str) -> Vec<&'a str> {
    args.iter().map(|a| if *a == "FIRST" { first } else { a }).collect()
}

/// The numbers of a JSON value, and sums of quadrant buckets that a bar puts together.
fn numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(n) => found.push(n.as_f64().unwrap()),
        Value::Array(list) => list.iter().for_each(|v| numbers(v, found)),
        Value::Object(map) => {
            let int = |name: &str| map.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            found.push(int("inside_x") + int("inside_y") + int("inside_both"));
            map.values().for_each(|v| numbers(v, found));
        }
        _ => {}
    }
}

fn figure(bench: &Bench, args: &[&str], input: &str, form: &str) -> String {
    let mut line = vec!["figure", args[0], input];
    line.extend(&args[1..]);
    line.extend(["--format", form]);
    bench.ok(&line)
}

#[test]
fn every_number_of_a_figure_is_one_of_its_table() {
    let bench = Bench::new("{}");
    let input = sample();
    for (args, table) in FIGURES {
        let (args, table) = (put(args, "slugify-fix-run-5"), put(table, "slugify-fix-run-5"));
        let text = figure(&bench, &args, &input, "svg");
        let mut line = vec![table[0], input.as_str()];
        line.extend(&table[1..]);
        line.extend(["--format", "json"]);
        let json = bench.json(&line);
        let mut known = Vec::new();
        numbers(&json["rows"], &mut known);
        // Totals stand in no JSON: a bar of all keys adds up those of the keys.
        for name in ["steps", "both_pos", "rescued", "both_neg", "penalized", "missing"] {
            let rows = json["rows"].as_array().unwrap().iter();
            known.push(rows.filter_map(|r| r[name].as_f64()).sum());
        }
        let inside = |r: &Value| {
            let of = |n: &str| r[n].as_f64().unwrap_or(0.0);
            of("inside_x") + of("inside_y") + of("inside_both")
        };
        known.push(json["rows"].as_array().unwrap().iter().map(inside).sum());
        let printed: BTreeSet<String> = known
            .iter()
            .flat_map(|x| (0..=3).map(|places| credscope::export::plain::short(*x, places)))
            .collect();
        let document = roxmltree::Document::parse(&text).unwrap();
        let (mut values, mut told) = (0, 0);
        for node in document.descendants() {
            if let Some(value) = node.attribute("data-v") {
                let value: f64 = value.parse().unwrap();
                assert!(known.contains(&value), "{args:?}: {value} is drawn, not in {table:?}");
                values += 1;
            }
            let class = node.attribute("class").unwrap_or_default();
            if node.has_tag_name("text") && class.split(' ').any(|c| c == "n") {
                for word in node.text().unwrap().split([' ', ',']).filter(|w| !w.is_empty()) {
                    if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                        assert!(
                            printed.contains(word),
                            "{args:?}: {word} is no number of {table:?}"
                        );
                        told += 1;
                    }
                }
            }
        }
        assert!(values > 3, "{args:?}: {values} values");
        let small = args == ["advantages"] || args[0] == "matrix" || args.len() > 3;
        assert!(told > 3 || small, "{args:?}: {told} numbers printed");
    }
}

#[test]
fn every_step_is_drawn_once() {
    let bench = Bench::new(WORKED);
    let steps = bench.json(&["steps", "input.json", "--format", "json"]);
    let rtmc: Vec<f64> =
        steps["rows"].as_array().unwrap().iter().map(|r| r["rtmc"].as_f64().unwrap()).collect();
    let text = figure(&bench, &["matrix"], "input.json", "svg");
    let document = roxmltree::Document::parse(&text).unwrap();
    let drawn: Vec<f64> = document
        .descendants()
        .filter_map(|n| n.attribute("data-v"))
        .map(|v| v.parse().unwrap())
        .collect();
    assert_eq!(drawn, rtmc);
    // Told apart without colour: negative cells are hatched, whatever the theme.
    for node in document.descendants().filter(|n| n.attribute("data-v").is_some()) {
        let value: f64 = node.attribute("data-v").unwrap().parse().unwrap();
        assert_eq!(node.attribute("class").unwrap(), if value < 0.0 { "neg" } else { "pos" });
    }
    assert!(text.contains(".neg{fill:url(#neg)}"));
    // The bar of t1: two compared steps of one action, then steps that it takes alone.
    let text =
        figure(&bench, &["advantages", "--column", "rtmc", "--rollout", "t1"], "input.json", "svg");
    let document = roxmltree::Document::parse(&text).unwrap();
    let classes: Vec<&str> = document
        .descendants()
        .filter(|n| n.attribute("data-v").is_some())
        .map(|n| n.attribute("class").unwrap())
        .collect();
    assert_eq!(classes.len(), 3);
    assert_eq!(classes[2], "posw", "s2 is a state of t1 alone");
}

#[test]
fn hostile_text_is_harmless() {
    let hostile = r#"{"schema":"credscope/1","task":"</title><script>alert(1)</script>-->","policy":"]]>&amp;","rollouts":[
{"id":"<b onload='x'>","outcome":"success","steps":[{"state":"s\u001b[31m\u0000","action":"\"><svg onload=1>\uffff"}]},
{"id":"a--b","outcome":"failure","steps":[{"state":"s\u001b[31m\u0000","action":"\u202eevil"},{"state":"-->","action":"x"}]},
{"id":"unscored","steps":[{"state":"z","action":"y"}]}]}"#;
    let bench = Bench::new(hostile);
    let columns = ["--only", "</title><script>alert(1)</script>-->"];
    for name in ["advantages", "matrix", "tree", "quadrants", "panel"] {
        let mut args = vec![name];
        args.extend(columns);
        let text = figure(&bench, &args, "input.json", "svg");
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(document.descendants().all(|n| !n.has_tag_name("script")), "{name}");
        let attributes = document.descendants().flat_map(|n| n.attributes());
        assert!(attributes.into_iter().all(|a| !a.name().starts_with("on")), "{name}");
        assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'), "{name}");
        let page = figure(&bench, &args, "input.json", "html");
        assert!(!page.contains("<script") && !page.contains("onload='") && !page.contains("<b "));
        // The stamp is one comment, in the first line, and reads back.
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!(first.matches("--").count(), 2, "{first}");
        assert!(rest.starts_with("<svg "));
    }
}

#[test]
fn files_bytes_and_usage() {
    let bench = Bench::new(WORKED);
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    for (args, _) in FIGURES {
        let args = put(args, "t2");
        for form in ["svg", "html"] {
            let one = figure(&bench, &args, "input.json", form);
            let mut line = args.clone();
            line.extend(["--threads", "1"]);
            assert_eq!(one, figure(&bench, &line, "input.json", form), "{args:?}");
            assert!(one.starts_with("<!-- {\"schema\":\"credscope.figure/1\""));
        }
        let svg = figure(&bench, &args, "input.json", "svg");
        let page = figure(&bench, &args, "input.json", "html");
        let (_, drawing) = svg.split_once('\n').unwrap();
        assert!(page.contains(drawing), "{args:?}: the page holds the same picture");
        assert!(page.contains("<table>") && page.matches("<tr>").count() > 2);
    }
    bench.ok(&["figure", "tree", "input.json", "-o", "tree.svg"]);
    let (code, told) = bench.fails(&["figure", "tree", "input.json", "-o", "tree.svg"]);
    assert!(code == 1 && told.contains("--force"), "{told}");
    bench.ok(&["figure", "tree", "input.json", "-o", "tree.html", "--theme", "paper"]);
    assert!(read("tree.html").contains("<!DOCTYPE html>") && read("tree.html").contains("#2a9148"));
    assert!(read("tree.svg").contains("#2c6fbb") && !read("tree.svg").contains("#2a9148"));
    // Again from themselves, in a new place, whatever it is called.
    for (name, again) in
        [("tree.svg", "again.svg"), ("tree.html", "again.html"), ("tree.html", "bare")]
    {
        bench.ok(&["figure", "input.json", "--settings-from", name, "-o", again]);
        assert_eq!(read(name), read(again), "{name}");
    }
    for (args, word) in [
        (vec!["figure", "input.json"], "which figure?"),
        (vec!["figure", "pie", "input.json"], "which figure?"),
        (vec!["figure", "tree", "input.json", "-o", "tree.pdf"], "no .pdf file"),
        (vec!["figure", "tree", "input.json", "--theme", "pink"], "--theme cannot be `pink`"),
        (vec!["figure", "matrix", "input.json", "--column", "nope"], "unknown column `nope`"),
        (vec!["figure", "sweep", "input.json"], "no knob was given"),
    ] {
        let (code, told) = bench.fails(&args);
        assert!(code == 2 && told.contains(word), "{args:?}: {told}");
    }
    bench.write("two.json", &format!("[{WORKED},{}]", WORKED.replace("\"worked\"", "\"other\"")));
    let (code, told) = bench.fails(&["figure", "matrix", "two.json"]);
    assert!(code == 1 && told.contains("--only TASK: other, worked"), "{told}");
    bench.ok(&["figure", "matrix", "two.json", "--only", "other"]);
    bench.ok(&["figure", "quadrants", "two.json"]);
}

#[test]
fn partial_data_is_marked_on_the_figure() {
    let bench = Bench::new("{}");
    bench.write(
        "torn.jsonl",
        "{\"task\":\"t\",\"id\":\"a\",\"outcome\":\"success\",\"steps\":[{\"state\":\"s\",\"action\":\"x\"}]}\n{\"task\":\n{\"task\":\"t\",\"id\":\"b\",\"outcome\":\"failure\",\"steps\":[{\"state\":\"s\",\"action\":\"y\"}]}\n",
    );
    for name in ["matrix", "quadrants", "panel"] {
        let text = figure(&bench, &[name], "torn.jsonl", "svg");
        assert!(text.contains("partial data: 1 line skipped"), "{name}");
    }
}
