//! Every JSON output is what its schema says, on samples, on odd inputs and on each kind's options.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;
mod common;

use cli_common::{Bench, WORKED};
use serde_json::Value;

/// The part of JSON Schema that the shipped schemas use. Returns where a value breaks it.
fn check(schema: &Value, value: &Value, root: &Value, path: &str) -> Result<(), String> {
    const KNOWN: [&str; 16] = [
        "$schema",
        "$id",
        "$defs",
        "$ref",
        "title",
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "minimum",
        "minItems",
        "maxItems",
    ];
    let map = schema.as_object().ok_or_else(|| format!("{path}: the schema is no object"))?;
    let wrong = |what: &str| {
        Err(format!("{path}: {what}: {}", &value.to_string()[..value.to_string().len().min(80)]))
    };
    for word in map.keys() {
        assert!(KNOWN.contains(&word.as_str()), "{word} is not checked here");
    }
    if let Some(name) = map.get("$ref") {
        let name = name.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        return check(&root["$defs"][name], value, root, path);
    }
    if let Some(types) = map.get("type") {
        let is = |name: &str| match name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "array" => value.is_array(),
            _ => value.is_object(),
        };
        let fits = match types {
            Value::String(name) => is(name),
            list => list.as_array().unwrap().iter().any(|t| is(t.as_str().unwrap())),
        };
        if !fits {
            return wrong(&format!("is no {types}"));
        }
    }
    if map.get("const").is_some_and(|c| c != value) {
        return wrong("is not the constant");
    }
    if map.get("enum").is_some_and(|e| !e.as_array().unwrap().contains(value)) {
        return wrong("is none of the words");
    }
    if map.get("minimum").is_some_and(|m| value.as_f64() < m.as_f64()) {
        return wrong("is too small");
    }
    if let Some(any) = map.get("anyOf") {
        let tried: Vec<_> =
            any.as_array().unwrap().iter().map(|s| check(s, value, root, path)).collect();
        if tried.iter().all(Result::is_err) {
            return tried.into_iter().next().unwrap();
        }
    }
    if let Some(object) = value.as_object() {
        for name in map.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !object.contains_key(name.as_str().unwrap()) {
                return wrong(&format!("lacks {name}"));
            }
        }
        for (name, inner) in object {
            let path = format!("{path}.{name}");
            match (map.get("properties").and_then(|p| p.get(name)), map.get("additionalProperties"))
            {
                (Some(schema), _) => check(schema, inner, root, &path)?,
                (None, Some(Value::Bool(false))) => return Err(format!("{path} is not foreseen")),
                (None, Some(schema)) if schema.is_object() => check(schema, inner, root, &path)?,
                _ => {}
            }
        }
    }
    if let Some(list) = value.as_array() {
        let count = |name: &str| map.get(name).and_then(Value::as_u64);
        let n = list.len() as u64;
        if count("minItems").is_some_and(|m| n < m) || count("maxItems").is_some_and(|m| n > m) {
            return wrong("has another length");
        }
        if let Some(schema) = map.get("items") {
            for (at, inner) in list.iter().enumerate() {
                check(schema, inner, root, &format!("{path}[{at}]"))?;
            }
        }
    }
    Ok(())
}

/// Unscored, empty, broken and uniform rollouts, hostile text, tokens and logged numbers.
const ODD: &str = r#"[{"schema":"credscope/1","task":"mixed\u001b[31m","policy":"m","train_step":3,"rollouts":[
{"id":"r1","outcome":"success","reward":0.5,"steps":[{"state":"s0","action":"a","tokens":[3,9],"values":{"critic":0.5}},{"state":"s1","action":"b"}]},
{"id":"r2","outcome":"failure","steps":[{"state":"s0","action":"c","step_reward":0.5},{"state":"s2","action":"b"}]},
{"id":"r3","steps":[{"state":"s0","action":"a"}]},
{"id":"r4","outcome":"error","error":"sandbox_lost","steps":[]},
{"id":"r5","outcome":"truncated","steps":[{"tool":"bash","args":{"command":"pytest -q"},"exit_code":1}]}]},
{"schema":"credscope/1","task":"uniform","rollouts":[
{"id":"u1","outcome":"success","steps":[{"state":"s0","action":"a"}]},
{"id":"u2","outcome":"success","steps":[{"state":"s0","action":"b"}]}]},
{"schema":"credscope/1","task":"nothing","rollouts":[{"id":"n1","steps":[]}]}]"#;

const RUNS: [&[&str]; 33] = [
    &["report"],
    &["report", "--brief"],
    &["report", "--reward-source", "logged"],
    &["report", "--n-prior", "0", "--step-reward", "none"],
    &["report", "--columns", "crbc,logged:critic,rtmc#2"],
    &["groups"],
    &["groups", "--by", "policy"],
    &["groups", "--by", "train_step"],
    &["steps"],
    &["steps", "--raw"],
    &["steps", "--columns", "gigpo,logged:critic,rtmc#2"],
    &["quadrants"],
    &["quadrants", "--by", "rollout", "--uniform", "include"],
    &["quadrants", "--by", "depth", "--weight", "tokens"],
    &["quadrants", "--by", "evidence", "--only", "compared"],
    &["tree"],
    &["tree", "--lens", "states"],
    &["sweep", "--knob", "view-bucket=off,50"],
    &["sweep", "--knob", "n-prior=0,2", "--knob", "think=off,counts"],
    &["skill"],
    &["skill", "--compare"],
    &["panel"],
    &["panel", "--against", "rtmc", "--columns", "grpo,logged:critic"],
    &["stability"],
    &["stability", "--y", "gigpo"],
    &["check"],
    &["formats"],
    &["estimators"],
    &["profiles"],
    &["themes"],
    &["keys"],
    &["steps", "--mixed"],
    &["steps", "--print-settings"],
];

fn schema(bench: &Bench, kind: &str) -> Value {
    let text = bench.ok(&["schema", kind]);
    assert!(text.ends_with("}\n"));
    serde_json::from_str(&text).unwrap()
}

fn holds(bench: &Bench, kind: &str, output: &Value, what: &str) {
    let schema = schema(bench, kind);
    // A document must be a document, not merely a line of the same kind.
    let part = if output.get("rows").is_some() { &schema["$defs"]["document"] } else { &schema };
    let part = if part.is_object() { part } else { &schema };
    if let Err(why) = check(part, output, &schema, "$") {
        panic!("{what} is not what `schema {kind}` says: {why}");
    }
}

#[test]
fn every_json_output_is_what_its_schema_says() {
    let bench = Bench::new(WORKED);
    bench.write("odd.json", ODD);
    let samples = ["slugify-fix/rollouts.jsonl", "airline-desk/results.json"].map(common::sample);
    let mut inputs: Vec<&str> = vec!["input.json", "odd.json"];
    inputs.extend(samples.iter().map(|p| p.to_str().unwrap()));
    let mut kinds = std::collections::BTreeSet::new();
    for args in RUNS {
        let reads = !matches!(args[0], "formats" | "estimators" | "profiles" | "themes" | "keys");
        if !reads && !cfg!(feature = "tui") && matches!(args[0], "themes" | "keys") {
            continue;
        }
        for input in inputs.iter().take(if reads { 4 } else { 1 }) {
            let mut line = vec![args[0]];
            line.extend(reads.then_some(*input));
            line.extend(&args[1..]);
            line.extend(["--format", "json"]);
            let output = bench.json(&line);
            let kind = if args.contains(&"--print-settings") { "settings" } else { args[0] };
            assert_eq!(output["schema"], format!("credscope.{kind}/1"));
            holds(&bench, kind, &output, &format!("{line:?}"));
            kinds.insert(kind.to_owned());
        }
    }
    let measured = ["simulate", "--measure", "--groups", "1", "--format", "json"];
    holds(&bench, "simulate", &bench.json(&measured), "simulate --measure");
    kinds.insert("simulate".to_owned());
    for (args, kind) in [
        (vec!["explain", "input.json", "--at", "t4:1"], "explain"),
        (vec!["explain", "input.json", "--at", "t1:0", "--artefacts"], "explain"),
        (vec!["explain", "input.json", "--artefacts"], "explain"),
        (vec!["explain", "input.json", "--artefacts", "--discount-per", "turn"], "explain"),
        (vec!["explain", "odd.json", "--artefacts"], "explain"),
        (
            vec!["explain", "input.json", "--at", "t1:0", "--artefacts", "--discount-per", "turn"],
            "explain",
        ),
        (vec!["explain", "input.json", "--at", "t1:0", "--column", "crbc"], "explain"),
        (vec!["explain", "odd.json", "--at", "r3:0"], "explain"),
        (vec!["compare", "input.json", "--rollouts", "t1,t2,t4"], "compare"),
        (vec!["compare-runs", "input.json", "odd.json"], "compare-runs"),
        (vec!["explain", inputs[2], "--at", "slugify-fix-run-5:6"], "explain"),
        (vec!["explain", inputs[3], "--only", "3", "--at", "1:0", "--artefacts"], "explain"),
        (
            vec!["compare", inputs[2], "--rollouts", "slugify-fix-run-1,slugify-fix-run-5"],
            "compare",
        ),
        (vec!["compare", inputs[3], "--only", "3", "--rollouts", "0,1,2"], "compare"),
        (vec!["compare-runs", inputs[2], inputs[3]], "compare-runs"),
        (vec!["compare-runs", "odd.json", "odd.json"], "compare-runs"),
    ] {
        let mut line = args.clone();
        line.extend(["--format", "json"]);
        holds(&bench, kind, &bench.json(&line), &format!("{args:?}"));
        kinds.insert(kind.to_owned());
    }
    // Lines: advantages and the native format.
    for input in &inputs {
        let text = bench.ok(&["advantages", input, "--column", "rtmc,grpo", "--no-stamp"]);
        for line in text.lines() {
            holds(&bench, "advantages", &serde_json::from_str(line).unwrap(), input);
        }
        let text = bench.ok(&["convert", input]);
        for line in text.lines() {
            holds(&bench, "native", &serde_json::from_str(line).unwrap(), input);
        }
    }
    for document in [WORKED, ODD] {
        holds(&bench, "native", &serde_json::from_str(document).unwrap(), "a document");
    }
    kinds.extend(["advantages".to_owned(), "native".to_owned()]);
    let shipped: std::collections::BTreeSet<String> =
        credscope::export::schema::SCHEMAS.iter().map(|(name, _)| (*name).to_owned()).collect();
    if cfg!(feature = "tui") {
        assert_eq!(kinds, shipped, "every schema is tried");
    }
}

/// Commands that write JSON lines, with what they need.
const LINES: [(&str, &[&str]); 12] = [
    ("groups", &["groups", "odd.json"]),
    ("groups", &["groups", "odd.json", "--by", "policy"]),
    ("steps", &["steps", "odd.json"]),
    ("quadrants", &["quadrants", "odd.json", "--by", "depth"]),
    ("sweep", &["sweep", "odd.json", "--knob", "n-prior=0,2"]),
    ("skill", &["skill", "odd.json"]),
    ("panel", &["panel", "odd.json"]),
    ("stability", &["stability", "odd.json"]),
    ("compare", &["compare", "input.json", "--rollouts", "t1,t2"]),
    ("compare-runs", &["compare-runs", "input.json", "odd.json"]),
    ("simulate", &["simulate", "--measure", "--groups", "1", "--rollouts", "4"]),
    ("advantages", &["advantages", "odd.json", "--column", "rtmc,grpo"]),
];

#[test]
fn every_line_of_json_lines_is_what_its_schema_says() {
    let bench = Bench::new(WORKED);
    bench.write("odd.json", ODD);
    let fits = |schema: &Value, part: &str, line: &Value| {
        check(&schema["$defs"][part], line, schema, "$").is_ok()
    };
    for (kind, args) in LINES {
        let schema = schema(&bench, kind);
        let text = bench.ok(&[args, &["--format", "jsonl"]].concat());
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert!(lines.len() > 1, "{args:?}");
        let row = if kind == "advantages" { "rollout" } else { "row" };
        for (at, line) in lines.iter().enumerate() {
            holds(&bench, kind, line, &format!("line {at} of {args:?}"));
            assert_eq!(fits(&schema, "stamp", line), at == 0, "line {at} of {args:?}");
            assert_eq!(fits(&schema, row, line), at > 0, "line {at} of {args:?}");
            let mut more = line.clone();
            more["nobody foresaw"] = "this".into();
            assert!(check(&schema, &more, &schema, "$").is_err(), "line {at} of {args:?}");
        }
    }
    // The native format has no stamp.
    for args in [&["convert", "odd.json"][..], &["simulate", "--groups", "1"]] {
        for line in bench.ok(args).lines() {
            holds(&bench, "native", &serde_json::from_str(line).unwrap(), &format!("{args:?}"));
        }
    }
    // Every command with this form is here.
    let told = |kind: &str| bench.ok(&[kind, "--help"]);
    for (kind, _) in credscope::export::schema::SCHEMAS {
        if !matches!(kind, "native" | "settings") {
            let has =
                told(kind).lines().any(|l| l.contains("possible values:") && l.contains("jsonl"));
            assert_eq!(has, LINES.iter().any(|(k, _)| *k == kind), "{kind}");
        }
    }
}

/// Two sides of one load have one load report, those of two loads two.
#[test]
fn sides_of_one_load_are_what_the_schema_says() {
    let bench = Bench::new("{}");
    let line = |policy: &str, step: u64, outcome: &str| {
        format!(
            "{{\"policy\":\"{policy}\",\"train_step\":{step},\"task\":\"t\",\"id\":\"1\",\"outcome\":\"{outcome}\",\"steps\":[{{\"state\":\"s\",\"action\":\"a\"}}]}}\n"
        )
    };
    bench.write("all.jsonl", &[line("x", 1, "failure"), line("y", 2, "success")].concat());
    for (flag, sides) in [("--policies", "x,y"), ("--train-steps", "1,2")] {
        let args = ["compare-runs", "all.jsonl", flag, sides, "--format", "json"];
        let output = bench.json(&args);
        assert!(output["load"].is_object(), "{flag}");
        holds(&bench, "compare-runs", &output, flag);
    }
    let two = bench.json(&["compare-runs", "all.jsonl", "all.jsonl", "--format", "json"]);
    assert_eq!(two["load"].as_array().unwrap().len(), 2);
    holds(&bench, "compare-runs", &two, "two loads");
    let mut one = two;
    one["load"].as_array_mut().unwrap().pop();
    let schema = schema(&bench, "compare-runs");
    assert!(check(&schema, &one, &schema, "$").is_err(), "a list is one of two");
}

/// Where a schema says what JSON Schema does not allow, or asks for what it does not know.
fn unsound(schema: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(list) = schema.as_array() {
        list.iter()
            .enumerate()
            .for_each(|(at, s)| unsound(s, root, &format!("{path}[{at}]"), found));
    }
    let Some(map) = schema.as_object() else { return };
    for word in ["required", "enum", "type"] {
        let list = map.get(word).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if list.iter().enumerate().any(|(at, one)| list[..at].contains(one)) {
            found.push(format!("{path}.{word} says something twice"));
        }
    }
    let alternative = path.ends_with(']') && path.contains(".anyOf[");
    for name in map.get("required").and_then(Value::as_array).into_iter().flatten() {
        // An alternative may ask for what the schema around it knows.
        let known = |from: Option<&Value>| from.and_then(|p| p.get(name.as_str()?)).is_some();
        if !(alternative || known(map.get("properties"))) {
            found.push(format!("{path} requires {name}, which is no property"));
        }
    }
    if let Some(name) = map.get("$ref").and_then(Value::as_str)
        && root.pointer(name.trim_start_matches('#')).is_none()
    {
        found.push(format!("{path} refers to {name}, which is not there"));
    }
    for (word, inner) in map {
        let path = format!("{path}.{word}");
        match word.as_str() {
            "properties" | "$defs" => {
                for (name, inner) in inner.as_object().unwrap() {
                    unsound(inner, root, &format!("{path}.{name}"), found);
                }
            }
            "items" | "anyOf" | "additionalProperties" => unsound(inner, root, &path, found),
            _ => {}
        }
    }
}

#[test]
fn every_schema_is_a_schema() {
    let mut found = Vec::new();
    for (kind, text) in credscope::export::schema::SCHEMAS {
        let schema: Value = serde_json::from_str(text).unwrap();
        unsound(&schema, &schema, kind, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
    let twice = serde_json::json!({"properties": {"a": {}}, "required": ["a", "a", "b"]});
    unsound(&twice, &twice, "$", &mut found);
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let bench = Bench::new(WORKED);
    let schema = schema(&bench, "groups");
    let good = bench.json(&["groups", "input.json", "--format", "json"]);
    let broken = |change: fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        check(&schema, &value, &schema, "$").is_err()
    };
    assert!(!broken(|_| {}));
    assert!(broken(|v| v["rows"][0]["states"] = "6".into()));
    assert!(broken(|v| v["rows"][0]["states"] = 6.5.into()));
    assert!(broken(|v| v["rows"][0]["more"] = 1.into()));
    assert!(broken(|v| v["schema"] = "credscope.steps/1".into()));
    assert!(broken(|v| v["settings"]["gamma"]["origin"] = "magic".into()));
    assert!(broken(|v| {
        v["rows"][0].as_object_mut().unwrap().remove("task");
    }));
}
