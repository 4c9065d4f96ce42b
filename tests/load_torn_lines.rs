//! A quote or a bracket is lost, or is too many, somewhere in a document with many rollouts: on one line
//! and on many, in its list and around it, alone and among others. What is read is what the whole
//! document gives, and what is lost is told.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use credscope::load::{LoadOptions, Loaded};
use load_common::{corpus, load_with};
use serde_json::{Value, json};

/// A format's document, and the name of its file.
struct Kind {
    format: &'static str,
    name: &'static str,
    document: Value,
}

fn kind(format: &'static str, fixture: &str, key: &'static str, id: &str) -> Kind {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut document: Value = serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(text.lines().next().unwrap()))
        .unwrap();
    let given: Vec<Value> = document[key].as_array().unwrap().clone();
    let given: Vec<_> = given.iter().filter(|e| e.get("messages") != Some(&Value::Null)).collect();
    let element = |at: usize| {
        let mut element = given[at % given.len()].clone();
        element[id] = if element[id].is_u64() { json!(at) } else { json!(format!("x{at}")) };
        element
    };
    document[key] = (0..6).map(element).collect::<Vec<_>>().into();
    let name = if format == "swe-agent" { "toy__toy-1.traj" } else { "document.json" };
    Kind { format, name, document }
}

fn kinds() -> Vec<Kind> {
    let rollout = |at: usize| {
        json!({"id": at, "reward": at % 2, "steps": [
            {"tool": "bash", "args": {"command": format!("ls \"{at}\" \\ [é]")}, "observation": "{\"a\": 1}\nb"},
            {"tool": "edit", "args": {}, "observation": ""}]})
    };
    let rollouts: Vec<Value> = (0..6).map(rollout).collect();
    let native = json!({"harness": "h", "namespace": "n", "notes": {"a": [1, "two"]}, "policy": "m",
        "rollouts": rollouts, "task": "t", "zeal": "words of no use"});
    let traces = "trainers/rollouts/step_3/train/all/traces.jsonl";
    let episode = "trainers/episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_0.json";
    let traj = "agents/swe-agent/run-1/toy__toy-1/toy__toy-1.traj";
    let results = "agents/terminal-bench/results.json";
    vec![
        Kind { format: "native", name: "document.json", document: native },
        kind("tau2-bench", "trainers/tau2.json", "simulations", "id"),
        kind("inspect", "agents/inspect/log.json", "samples", "epoch"),
        kind("swe-agent", traj, "attempts", "nth"),
        kind("terminal-bench", results, "results", "trial_name"),
        kind("verifiers-traces", traces, "traces", "id"),
        kind("rllm", episode, "trajectories", "name"),
    ]
}

/// Every rollout of a load in full, text on demand included, by its own content.
fn rollouts(loaded: &Loaded) -> Vec<String> {
    let mut all = Vec::new();
    for group in &loaded.corpus.groups {
        for (at, rollout) in group.rollouts.iter().enumerate() {
            let texts = loaded.sources.rollout_text(group, at).unwrap();
            // Equal ids are told apart by what else is there, and attempts of SWE-agent by their place.
            let by_place = group.key.namespace == "swe-agent" || rollout.id.contains('#');
            let id =
                if by_place { rollout.id.split(['.', '#']).next().unwrap() } else { &rollout.id };
            all.push(format!(
                "{:?} {id} {:?} {:?} {:?} {} {texts:?}",
                group.key,
                rollout.outcome,
                rollout.outcome_reward,
                rollout.steps.len(),
                rollout.outcome_source,
            ));
        }
    }
    all
}

/// What a load gives.
struct Load {
    rollouts: Vec<String>,
    skipped: Vec<String>,
    told: bool,
}

fn load(name: &str, bytes: &[u8]) -> Result<Load, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let loaded = load_with(&[path], &LoadOptions::default()).map_err(|e| e.to_string())?;
    let report = &loaded.report;
    // A fault is what fails under `--strict`.
    let told = report.totals.skipped > 0 && report.partial().is_some() && report.fault().is_some();
    let skipped = report.skipped.iter().map(ToString::to_string).collect();
    Ok(Load { rollouts: rollouts(&loaded), skipped, told })
}

/// Numbers that are spread, and the same every time.
fn spread(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    }
}

/// A text in which one byte was taken out or put in, near a place, and what was done.
fn torn(text: &str, at: usize, how: usize) -> Option<(Vec<u8>, String)> {
    let mut bytes = text.as_bytes().to_vec();
    let next = |set: &[u8]| (at..bytes.len()).find(|&i| set.contains(&bytes[i]));
    let (place, what) = match how {
        0 | 1 => (next(b"\"")?, "no"),
        2 => (next(b"{[")?, "no"),
        3 => (next(b"]}")?, "no"),
        4 => (at, "\""),
        5 => (next(b"]}")?, "]"),
        6 => (next(b"]}")?, "}"),
        _ => (next(b"\"")?, "\\"),
    };
    if what == "no" {
        let byte = bytes.remove(place);
        return Some((bytes, format!("without {:?} at {place}", char::from(byte))));
    }
    if !text.is_char_boundary(place) {
        return None;
    }
    bytes.splice(place..place, what.bytes());
    Some((bytes, format!("{what:?} more at {place}")))
}

/// What is wrong with the load of a torn text, and how many rollouts it has.
fn dishonest(whole: &[String], name: &str, bytes: &[u8]) -> (usize, Option<String>) {
    let Ok(load) = load(name, bytes) else { return (0, None) };
    let known: BTreeSet<_> = whole.iter().collect();
    let count = load.rollouts.len();
    let odd = load.rollouts.iter().find(|rollout| !known.contains(rollout));
    let wrong = if let Some(rollout) = odd {
        Some(format!("half read: {rollout}"))
    } else if count < whole.len() && !load.told {
        Some(format!("not told: {count} of {}", whole.len()))
    } else {
        // One fault, and no lines of complaints.
        (load.skipped.len() > 3).then(|| format!("{} notices", load.skipped.len()))
    };
    (count, wrong.map(|wrong| format!("{wrong}; {:#?}", load.skipped)))
}

/// Tears a text in so many places; how many of its rollouts stay, in percent.
fn tear(kind: &Kind, form: &str, text: &str, places: usize, wrong: &mut Vec<String>) -> usize {
    let whole = load(kind.name, text.as_bytes()).unwrap();
    assert!(!whole.told && whole.rollouts.len() >= 6, "{} {form}", kind.format);
    let mut any = spread(text.len() as u64);
    let (mut sum, mut tries) = (0, 1);
    for nth in 0..places {
        let (at, how) = (nth * text.len() / places + any(text.len() / places), any(8));
        let Some((bytes, what)) = torn(text, at, how) else { continue };
        let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
        if values.all(|value| value.is_ok()) {
            continue;
        }
        let (count, odd) = dishonest(&whole.rollouts, kind.name, &bytes);
        wrong.extend(odd.map(|odd| format!("{} {form} {what}: {odd}", kind.format)));
        sum += count;
        tries += whole.rollouts.len();
    }
    100 * sum / tries
}

#[test]
fn no_rollout_is_half_read_and_no_loss_is_hidden() {
    // A hundred for each format; more on request.
    let places = std::env::var("CREDSCOPE_TEARS").ok().and_then(|n| n.parse().ok()).unwrap_or(17);
    let (mut kept, mut wrong) = (BTreeMap::new(), Vec::new());
    for kind in kinds() {
        let line = kind.document.to_string();
        let pretty = serde_json::to_string_pretty(&kind.document).unwrap();
        let forms = [
            ("array", format!("[{line}, {line}]")),
            ("line", line.clone()),
            ("lines", format!("{line}\n{line}\n{line}\n")),
            ("values", format!("{line}{line} {line}")),
            ("pretty", pretty.clone()),
            ("pretty values", format!("{pretty}\n{pretty}\n")),
        ];
        for (form, text) in forms {
            let percent = tear(&kind, form, &text, places, &mut wrong);
            kept.insert(format!("{form}: {}", kind.format), percent);
        }
    }
    eprintln!("kept, in percent: {kept:#?}");
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
}

/// One simulation of a real run is torn: it is lost, and nothing else.
#[test]
fn a_torn_simulation_on_one_line_costs_itself() {
    let Some(path) = corpus("tau2-bench/azure-gpt-4o-2024-11-20_airline_full.json") else { return };
    let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let text = document.to_string();
    let whole = load("run.json", text.as_bytes()).unwrap();
    assert_eq!((whole.rollouts.len(), whole.told), (10, false));
    for (nth, simulation) in document["simulations"].as_array().unwrap().iter().enumerate() {
        let own = simulation.to_string();
        let from = text.find(&own).unwrap();
        let quote = own.match_indices("\"content\":\"").nth(1).unwrap().0 + "\"content\":".len();
        for at in [quote, own.find('{').unwrap(), own.len() - 1, own.find('[').unwrap()] {
            let mut bytes = text.clone().into_bytes();
            bytes.remove(from + at);
            let load = load("run.json", &bytes).unwrap();
            let (have, all): (BTreeSet<_>, BTreeSet<_>) =
                (load.rollouts.iter().collect(), whole.rollouts.iter().collect());
            let id = simulation["id"].as_str().unwrap();
            let lost: Vec<_> = all.difference(&have).collect();
            assert!(have.is_subset(&all), "{nth} {at}: {:?}", load.skipped);
            assert!(lost.len() == 1 && lost[0].contains(id), "{nth} {at}: {:?}", load.skipped);
            assert!(load.told && load.skipped.len() == 1, "{nth} {at}: {:?}", load.skipped);
            let field = format!("field `simulations[{nth}]`");
            assert!(load.skipped[0].contains(&field), "{nth} {at}: {:?}", load.skipped);
            assert!(!load.skipped[0].contains("unknown"), "{nth} {at}: {:?}", load.skipped);
        }
    }
}

/// A document of three rollouts of a policy, on one line; `id` tells its rollouts apart.
fn document(policy: &str, id: char) -> String {
    let one = |n: usize| {
        format!(
            r#"{{"id":"{id}{n}","reward":1,"steps":[{{"tool":"x","args":{{}},"observation":"saw"}}]}}"#
        )
    };
    let all = (0..3).map(one).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"task":"t","policy":"{policy}","notes":"no use","rollouts":[{all}],"zeal":["a","b"]}}"#
    )
}

/// Ids with the policy that their document names, and how often something is told.
fn read(bytes: &str) -> (Vec<String>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.json");
    std::fs::write(&path, bytes).unwrap();
    let Ok(loaded) = load_with(&[path], &LoadOptions::default()) else { return Default::default() };
    let mut ids: Vec<String> = Vec::new();
    for group in &loaded.corpus.groups {
        let policy = group.key.policy.as_deref().unwrap_or("none");
        ids.extend(group.rollouts.iter().map(|r| format!("{} {policy}", r.id)));
    }
    ids.sort();
    (ids, loaded.report.skipped.iter().map(ToString::to_string).collect())
}

/// What is torn in one of two documents costs nothing of the other, and nothing moves between them.
#[test]
fn what_is_torn_in_one_document_is_none_of_the_next() {
    let (one, two) = (document("m", 'a'), document("n", 'b'));
    let second = ["b0 n", "b1 n", "b2 n"];
    for (form, ends) in
        [("values", ["", " ", ""]), ("lines", ["", "\n", "\n"]), ("array", ["[", ", ", "]"])]
    {
        let [before, between, after] = ends;
        for (lost, rest) in [
            ("\"a0\"", vec!["a1 m", "a2 m"]),
            ("\"a1\"", vec!["a0 m", "a2 m"]),
            ("\"a2\"", vec!["a0 m", "a1 m"]),
            // Nothing is read without what its document says, and of what it says besides nothing is taken.
            ("\"m\"", vec![]),
            ("\"no use\"", vec!["a0 m", "a1 m", "a2 m"]),
            ("\"b\"]}", vec!["a0 m", "a1 m", "a2 m"]),
        ] {
            let torn = one.replacen(lost, &lost[1..], 1);
            // A tear before the list of the first document may hide what the file is.
            let frame = matches!(lost, "\"m\"" | "\"no use\"");
            let [first, next] = if frame { [&two, &torn] } else { [&torn, &two] };
            let (ids, told) = read(&format!("{before}{first}{between}{next}{after}"));
            let want: Vec<&str> = rest.iter().copied().chain(second).collect();
            assert_eq!(ids, want, "{form} {lost}: {told:?}");
            assert_eq!(told.len(), 1, "{form} {lost}: {told:?}");
        }
    }
}

/// More than is held to be searched is given up, with its size.
#[test]
fn a_long_rest_is_given_up() {
    let one = document("m", 'a');
    let long = one.replace("\"zeal\":[\"a\"", &format!("\"zeal\":[\"{}\"", "a".repeat(17 << 20)));
    let torn = long.replacen("\"a1\"", "a1\"", 1);
    let (ids, told) = read(&torn);
    assert_eq!((ids, told.len()), (vec!["a0 m".to_owned()], 1));
    let bytes = torn.len() - torn.find("{\"id\":a1").unwrap();
    let want = format!("{bytes} bytes from it to the end of the document");
    assert!(told[0].contains(&want) && told[0].contains("unknown"), "{told:?}");
}
