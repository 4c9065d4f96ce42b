//! What an export needs to be made again, what trainers read, and the native format there and back.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;
mod common;

use cli_common::{Bench, WORKED, numbers, texts};
use serde_json::Value;

/// Exports of many kinds and forms, with settings from several places.
const EXPORTS: [&[&str]; 16] = [
    &["steps", "--gamma", "0.9", "--set", "grpo.ddof=0"],
    &["steps", "--format", "jsonl", "--columns", "rtmc,rtmc#2", "--set", "rtmc#2.n-prior=0"],
    &["steps", "--format", "json", "--raw"],
    &["groups", "--format", "csv", "--sort", "-states"],
    &["groups", "--by", "policy", "--format", "json"],
    &["quadrants", "--by", "category", "--weight", "tokens", "--format", "csv"],
    &["quadrants", "--only", "compared", "--tau", "0.05", "--format", "tex"],
    &["quadrants", "--format", "md"],
    &["tree", "--lens", "states", "--format", "json"],
    &["tree", "--format", "dot", "--ascii"],
    &["report", "--brief", "--ascii"],
    &["report", "--format", "json", "--preset", "coarse", "--knob", "think=counts"],
    &["explain", "--at", "t1:0", "--artefacts", "--format", "json"],
    &["sweep", "--knob", "n-prior=0,2", "--knob", "tau=0,0.1", "--format", "csv"],
    &["panel", "--against", "dr-grpo", "--format", "csv"],
    &["compare", "--rollouts", "t1,t2", "--format", "json"],
];

#[test]
fn every_export_can_be_made_again_from_itself() {
    let bench = Bench::new(WORKED);
    bench.write("config.toml", "beta = 0.07\ntau-x = 0.02\nuniform = \"include\"\n");
    for (at, args) in EXPORTS.iter().enumerate() {
        let first = format!("export-{at}");
        let mut made = vec![args[0], "input.json", "--config", "config.toml", "--out", &first];
        made.extend(&args[1..]);
        let output = bench
            .command(&made)
            .env("CREDSCOPE_STEP_VALID", "0.004")
            .env("CREDSCOPE_COLUMNS", "grpo,rtmc")
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let again = format!("again-{at}");
        // No config file, and an environment that says otherwise.
        let output = bench
            .command(&[args[0], "input.json", "--settings-from", &first, "--out", &again])
            .env("CREDSCOPE_GAMMA", "0.1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
        assert!(read(&first) == read(&again), "{args:?} differs");
        // Without the name of the command, too.
        let named = format!("named-{at}");
        bench.ok(&["input.json", "--settings-from", &first, "--out", &named]);
        assert!(read(&first) == read(&named), "{args:?} differs without its name");
    }
    let flag = bench.ok(&["steps", "input.json", "--settings-from", "export-0", "--gamma", "1"]);
    assert_eq!(numbers(&flag, "ret")[0], 1.0, "a flag still counts");
}

#[test]
fn what_cannot_be_made_again_says_so() {
    let bench = Bench::new(WORKED);
    bench.write("bare.csv", &bench.ok(&["steps", "input.json", "--no-stamp"]));
    bench.write("steps.csv", &bench.ok(&["steps", "input.json"]));
    let (code, told) = bench.fails(&["steps", "input.json", "--settings-from", "bare.csv"]);
    assert!(code == 1 && told.contains("no stamp"), "{told}");
    let (code, told) = bench.fails(&["groups", "input.json", "--settings-from", "steps.csv"]);
    assert!(code == 2 && told.contains("made by `steps`"), "{told}");
    let (code, _) = bench.fails(&["steps", "input.json", "--settings-from", "nowhere"]);
    assert_eq!(code, 1);
    // The native format has no place for settings.
    bench.write("native.jsonl", &bench.ok(&["convert", "input.json"]));
    bench.write("list.json", &format!("[{WORKED}]"));
    for native in ["native.jsonl", "input.json", "list.json"] {
        let (code, told) = bench.fails(&["convert", "input.json", "--settings-from", native]);
        assert!(code == 1 && told.contains("native files carry no settings"), "{told}");
        assert!(!told.contains("--no-stamp"), "{told}");
    }
}

#[test]
fn other_rollouts_than_those_of_the_export_are_told() {
    let bench = Bench::new(WORKED);
    let told = |args: &[&str]| {
        let output = bench.run(args);
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let changed = |args: &[&str]| told(args).contains("[inputs-changed]");
    bench.write("other.json", &WORKED.replace("\"failure\"", "\"success\""));
    bench.write("moved.json", WORKED);
    bench.ok(&["steps", "input.json", "--out", "one.csv"]);
    bench.ok(&["compare-runs", "input.json", "other.json", "--format", "json", "--out", "two"]);
    bench.ok(&["steps", "input.json", "--print-settings", "--format", "json", "--out", "bare"]);
    let again = |paths: &[&str], export: &str| {
        let rest = ["--settings-from", export, "--no-stamp"];
        changed(&[paths, &rest].concat())
    };
    assert!(!again(&["input.json"], "one.csv"));
    assert!(!again(&["moved.json"], "one.csv"), "the same rollouts by another name");
    assert!(again(&["other.json"], "one.csv"));
    assert!(again(&["input.json", "other.json"], "one.csv"), "one more");
    assert!(!again(&["input.json", "other.json"], "two"));
    assert!(again(&["input.json", "moved.json"], "two"), "one less");
    assert!(!again(&["steps", "other.json"], "bare"), "settings without inputs");
    let names = told(&["other.json", "--settings-from", "one.csv"]);
    assert!(names.contains("input.json, other.json"), "{names}");
}

#[test]
fn the_native_format_gives_the_same_numbers() {
    let bench = Bench::new("{}");
    for sample in ["slugify-fix/rollouts.jsonl", "airline-desk/results.json"] {
        let file = common::sample(sample);
        let file = file.to_str().unwrap();
        bench.ok(&["convert", file, "-o", "native.jsonl", "--force"]);
        for command in ["steps", "groups", "quadrants"] {
            let run = |file: &str| bench.ok(&[command, file, "--format", "csv", "--no-stamp"]);
            assert_eq!(run(file), run("native.jsonl"), "{command} of {sample}");
        }
        let rows = |file: &str| bench.json(&["report", file, "--format", "json"])["rows"].clone();
        let (mut before, mut after) = (rows(file), rows("native.jsonl"));
        for rows in [&mut before, &mut after] {
            for row in rows.as_array_mut().unwrap() {
                row.as_object_mut().unwrap().remove("group");
            }
        }
        assert_eq!(before, after, "report of {sample}");
        // Converting the native format changes nothing any more.
        bench.ok(&["convert", "native.jsonl", "-o", "twice.jsonl", "--force"]);
        let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
        assert_eq!(read("native.jsonl"), read("twice.jsonl"));
    }
    let (code, told) = bench.fails(&["convert", "native.jsonl", "-o", "native.jsonl", "--force"]);
    assert!(code == 1 && told.contains("never written over"), "{told}");
}

/// Files under a folder, in a fixed order.
fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Real files of every format: all columns but the words of where a verdict came from.
#[test]
fn every_shared_format_survives_the_native_one() {
    let Some(corpus) = common::corpus() else { return };
    let bench = Bench::new("{}");
    let mut seen = 0;
    for folder in std::fs::read_dir(corpus).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let mut all = Vec::new();
        files(&folder, &mut all);
        let small = |p: &&std::path::PathBuf| std::fs::metadata(p).unwrap().len() < 1_500_000;
        let mut taken = 0;
        for path in all.iter().filter(small) {
            let file = path.to_str().unwrap();
            if taken == 3 || !bench.run(&["check", file]).status.success() {
                continue;
            }
            taken += 1;
            bench.ok(&["convert", file, "-o", "native.jsonl", "--force"]);
            let run = |file: &str| {
                let (header, mut rows) = cli_common::csv(&bench.ok(&["steps", file]));
                let reason = header.iter().position(|h| h == "reason").unwrap();
                for row in &mut rows {
                    row[reason].clear();
                }
                rows
            };
            assert_eq!(run(file), run("native.jsonl"), "{file}");
            seen += 1;
        }
    }
    println!("{seen} files");
    assert!(seen > 10);
}

#[test]
fn advantages_go_back_to_the_trainer() {
    let bench = Bench::new(
        r#"{"schema":"credscope/1","task":"t","policy":"m","train_step":7,"rollouts":[
{"id":"a","outcome":"success","steps":[{"state":"s","action":"x","call_id":"c1","tokens":[10,20]},{"state":"u","action":"x","call_id":"c2","tokens":5}]},
{"id":"b","outcome":"failure","steps":[{"state":"s","action":"y"}]},
{"id":"c","steps":[{"state":"s","action":"y"}]}]}"#,
    );
    bench.ok(&["advantages", "input.json", "--column", "rtmc,dr-grpo", "-o", "out.jsonl"]);
    let text = std::fs::read_to_string(bench.path("out.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[0]["schema"], "credscope.advantages/1");
    assert_eq!(lines.len(), 4);
    let a = &lines[1];
    assert_eq!((&a["task"], &a["policy"], &a["train_step"]), (&"t".into(), &"m".into(), &7.into()));
    assert_eq!((&a["rollout"], &a["column"]), (&"a".into(), &"rtmc".into()));
    let steps = a["steps"].as_array().unwrap();
    assert_eq!(steps[0]["call_id"], "c1");
    assert_eq!(steps[0]["tokens"], serde_json::json!([10, 20]));
    assert!(steps[1].get("tokens").is_none(), "a count is no place");
    assert_eq!(steps[0]["advantages"]["dr-grpo"], 0.5);
    let csv = bench.ok(&["steps", "input.json", "--columns", "rtmc"]);
    let expected = numbers(&csv, "rtmc");
    let found: Vec<f64> = lines[1..]
        .iter()
        .flat_map(|l| l["steps"].as_array().unwrap())
        .map(|s| s["advantage"].as_f64().unwrap_or(f64::NAN))
        .collect();
    assert_eq!(found[..3], expected[..3]);
    assert!(found[3].is_nan() && texts(&csv, "rtmc")[3].is_empty(), "unscored");
    let plain = bench.ok(&["advantages", "input.json", "--no-stamp"]);
    assert!(plain.lines().next().unwrap().contains("\"rollout\""));
    assert!(!plain.contains("advantages"), "one column needs no names");
}

#[test]
fn shells_readers_of_manuals_and_papers_are_served() {
    let bench = Bench::new(WORKED);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(bench.ok(&["completions", shell]).contains("compare-runs"), "{shell}");
    }
    assert_eq!(bench.fails(&["completions", "tcsh"]).0, 2);
    let manual = bench.ok(&["man"]);
    assert!(manual.contains(".TH credscope") && manual.contains("settings\\-from"), "{manual}");
    assert!(bench.ok(&["profiles"]).contains("swe-agent"));
    let tex = bench.ok(&["quadrants", "input.json", "--format", "tex"]);
    assert!(tex.contains("\\begin{tabular}") && tex.contains("\\bottomrule"));
    for lens in ["paths", "states"] {
        let dot = bench.ok(&["tree", "input.json", "--format", "dot", "--lens", lens]);
        assert!(dot.starts_with("digraph \"worked\" {") && dot.ends_with("}\n"), "{dot}");
        assert_eq!(dot.matches('{').count(), dot.matches('}').count());
        assert_eq!(dot.matches('"').count() % 2, 0);
    }
    let dot = bench.ok(&["tree", "input.json", "--format", "dot", "--lens", "states"]);
    assert!(dot.contains("[label=\"a\\n2x, A "), "{dot}");
}

#[cfg(feature = "tui")]
#[test]
fn keys_and_themes_are_those_of_the_screen() {
    let bench = Bench::new("{}");
    let keys = bench.json(&["keys", "--format", "json"]);
    assert_eq!(keys["rows"].as_array().unwrap().len(), credscope::tui::keymap::BINDINGS.len());
    let themes = credscope::tui::ThemeId::ALL.map(credscope::tui::ThemeId::name);
    assert_eq!(themes, credscope::settings::THEMES);
    assert_eq!(themes, credscope::export::figure::Ink::names());
    let shown = bench.json(&["themes", "--format", "json"]);
    let shown: Vec<&Value> = shown["rows"].as_array().unwrap().iter().map(|r| &r["name"]).collect();
    assert_eq!(shown, themes);
}

/// Commands that write exports, with what they need; `None` in place of the input.
const KINDS: [(&str, &[Option<&str>]); 15] = [
    ("report", &[None]),
    ("groups", &[None]),
    ("steps", &[None]),
    ("quadrants", &[None]),
    ("tree", &[None]),
    ("explain", &[None, Some("--only"), Some("3"), Some("--at"), Some("t1:0")]),
    ("sweep", &[None, Some("--knob"), Some("n-prior=0,2")]),
    ("skill", &[None]),
    ("panel", &[None]),
    ("stability", &[None]),
    ("compare", &[None, Some("--only"), Some("3"), Some("--rollouts"), Some("t1,t2")]),
    ("compare-runs", &[None, Some("other.json")]),
    ("figure", &[Some("matrix"), None, Some("--only"), Some("3")]),
    ("advantages", &[None]),
    ("check", &[None]),
];

/// The forms of a command, from its help.
fn forms(bench: &Bench, command: &str) -> Vec<String> {
    let help = bench.ok(&[command, "--help"]);
    let (_, rest) = help.split_once("--format").unwrap();
    let (_, rest) = rest.split_once("[possible values: ").unwrap();
    let (list, _) = rest.split_once(']').unwrap();
    list.split(',').map(|f| f.trim().to_owned()).collect()
}

#[test]
fn every_kind_in_every_form_is_made_again_and_threads_change_nothing() {
    // Five groups of the worked example, the last of them of one outcome.
    let group = |task: &str| WORKED.replace("\"worked\"", &format!("\"{task}\""));
    let mut groups: Vec<String> = ["1", "2", "3", "4"].map(group).into();
    groups.push(group("5").replace("failure", "success"));
    let bench = Bench::new(&format!("[{}]", groups.join(",")));
    bench.write("other.json", &groups[1]);
    let input = "input.json";
    let mut made = 0;
    for (command, args) in KINDS {
        for form in forms(&bench, command) {
            let what = format!("{command} --format {form}");
            let paths: Vec<&str> = match command {
                "compare-runs" => vec![input, "other.json"],
                _ => vec![input],
            };
            let file = |name: &str| format!("{command}-{form}-{name}");
            let run = |name: &str, threads: &str| {
                let name = file(name);
                let mut line = vec![command];
                line.extend(args.iter().map(|a| a.unwrap_or(input)));
                line.extend(["--gamma", "0.9", "--knob", "edit-hash=7", "--tau-x", "0.02"]);
                line.extend(["--format", &form, "--threads", threads, "--out", &name]);
                if command == "sweep" {
                    // There `--knob` is what is swept.
                    line.retain(|a| *a != "edit-hash=7");
                    let at = line.iter().rposition(|a| *a == "--knob").unwrap();
                    line.remove(at);
                }
                bench.ok(&line);
                std::fs::read(bench.path(&name)).unwrap()
            };
            let (one, eight) = (run("one", "1"), run("eight", "8"));
            assert!(one == eight, "{what}: threads change it");
            let (from, again) = (file("one"), file("again"));
            let mut line = paths;
            line.extend(["--settings-from", &from, "--out", &again]);
            bench.ok(&line);
            let found = std::fs::read(bench.path(&again)).unwrap();
            assert!(one == found, "{what}: made again it is different");
            made += 1;
        }
    }
    println!("{made} exports");
    assert!(made > 45);
}
