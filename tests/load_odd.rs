//! What is odd in a conversation is noted in every format: results that name no call, or one that has its
//! result, and content that is neither text nor a list of parts.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use credscope::load::{LoadOptions, LoadReport};
use credscope::rollout::raw::RawStep;
use load_common::load_with;

/// What a load says, and the steps of its only rollout as the file gives them.
struct Read {
    report: LoadReport,
    steps: Vec<RawStep>,
}

fn load(name: &str, text: &str) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    let loaded = load_with(&[path], &LoadOptions::default());
    let loaded = loaded.unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    let record = &loaded.corpus.groups[0].rollouts[0].records[0];
    let steps = loaded.sources.rollout(record).unwrap().steps;
    Read { report: loaded.report, steps }
}

fn notes(read: &Read) -> Vec<(&str, &str)> {
    read.report.notes.iter().map(|n| (n.field.as_str(), n.reason.as_str())).collect()
}

fn observations(read: &Read) -> Vec<Option<&str>> {
    read.steps.iter().map(|s| s.observation.as_deref()).collect()
}

/// A file with calls `1` and `2` of one turn and two results, of which the second names the call `ID2`.
const FORMATS: [(&str, &str, &str); 9] = [
    (
        "messages",
        "m.jsonl",
        r#"{"task":"t","reward":1,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"ID2","content":"B"}]}"#,
    ),
    (
        "tau-bench",
        "tau.json",
        r#"[{"task_id":1,"reward":1.0,"trial":0,"info":{"reward_info":{}},"traj":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"ID2","content":"B"}]}]"#,
    ),
    (
        "tau2-bench",
        "tau2.json",
        r#"{"info":{},"tasks":[],"simulations":[{"id":"s","task_id":"t","termination_reason":"user_stop","reward_info":{"reward":1.0},"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","name":"a","arguments":{}},{"id":"2","name":"b","arguments":{}}]},{"role":"tool","id":"1","content":"A","requestor":"assistant"},{"role":"tool","id":"ID2","content":"B","requestor":"assistant"}]}]}"#,
    ),
    (
        "nemo-gym",
        "nemo.jsonl",
        r#"{"responses_create_params":{"input":"go"},"reward":1,"response":{"model":"m","output":[{"type":"function_call","call_id":"1","name":"a","arguments":"{}"},{"type":"function_call","call_id":"2","name":"b","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"A"},{"type":"function_call_output","call_id":"ID2","output":"B"}]}}"#,
    ),
    (
        "verifiers",
        "results.jsonl",
        r#"{"example_id":1,"prompt":[{"role":"user","content":"go"}],"reward":1.0,"completion":[{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"ID2","content":"B"}]}"#,
    ),
    (
        "verifiers-traces",
        "traces.jsonl",
        r#"{"id":"e","env":"v","traces":[{"version":1,"id":"r","task":"t","rewards":{"x":1.0},"nodes":[{"message":{"role":"user","content":"go"}},{"parent":0,"sampled":true,"message":{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"a","arguments":"{}"},{"id":"2","name":"b","arguments":"{}"}]}},{"parent":1,"message":{"role":"tool","tool_call_id":"1","content":"A"}},{"parent":2,"message":{"role":"tool","tool_call_id":"ID2","content":"B"}}]}]}"#,
    ),
    (
        "inspect",
        "log.json",
        r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"},"samples":[{"id":1,"epoch":1,"input":"go","target":"x","scores":{"s":{"value":1}},"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"1","function":"a","arguments":{}},{"id":"2","function":"b","arguments":{}}]},{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"ID2","content":"B"}]}]}"#,
    ),
    (
        "atif",
        "trajectory.json",
        r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"n","version":"1"},"steps":[{"step_id":1,"source":"user","message":"go"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":{}},{"tool_call_id":"2","function_name":"b","arguments":{}}],"observation":{"results":[{"source_call_id":"1","content":"A"},{"source_call_id":"ID2","content":"B"}]}}]}"#,
    ),
    (
        "mini-swe-agent",
        "t.traj.json",
        r#"{"trajectory_format":"mini-swe-agent-1.1","instance_id":"t","info":{"exit_status":"Submitted"},"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{}"}},{"id":"2","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"A"},{"role":"tool","tool_call_id":"ID2","content":"B"}]}"#,
    ),
];

const CLAUDE: &str = r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"1","name":"Read","input":{}},{"type":"tool_use","id":"2","name":"Bash","input":{}}]}}
{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"A"},{"type":"tool_result","tool_use_id":"ID2","content":"B"}]}}
"#;

const CODEX: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"a","arguments":"{}","call_id":"1"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"b","arguments":"{}","call_id":"2"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"A"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"ID2","output":"B"}}
"#;

fn all() -> Vec<(&'static str, &'static str, &'static str)> {
    let lines = [("claude-code", "c.jsonl", CLAUDE), ("codex", "rollout-1.jsonl", CODEX)];
    FORMATS.into_iter().chain(lines).collect()
}

#[test]
fn results_that_name_their_calls_are_nothing_odd() {
    for (format, name, text) in all() {
        let loaded = load(name, &text.replace("ID2", "2"));
        assert_eq!(loaded.report.files[0].format, format);
        assert_eq!(observations(&loaded), [Some("A"), Some("B")], "{format}");
        assert_eq!(notes(&loaded), [], "{format}");
    }
}

#[test]
fn a_result_that_names_no_call_is_noted_in_every_format() {
    let reason = "a result for the call id `x`, which no call has: given to this step by its order";
    for (format, name, text) in all() {
        let loaded = load(name, &text.replace("ID2", "x"));
        assert_eq!(observations(&loaded), [Some("A"), Some("B")], "{format}");
        assert_eq!(notes(&loaded), [("steps[1].observation", reason)], "{format}");
        assert!(loaded.report.warning("coerced").is_some(), "{format}");
        assert_eq!(loaded.report.totals.skipped, 0, "{format}");
    }
}

#[test]
fn two_results_for_one_call_and_none_for_the_other_are_noted_in_every_format() {
    let reason = "another result for the call id `1`, whose call has one: put behind it; \
                  steps[1] has no result";
    for (format, name, text) in all() {
        let loaded = load(name, &text.replace("ID2", "1"));
        assert_eq!(observations(&loaded), [Some("A\nB"), None], "{format}");
        assert_eq!(notes(&loaded), [("steps[0].observation", reason)], "{format}");
    }
}

#[test]
fn an_id_of_a_message_that_is_no_call_is_its_own() {
    let text = FORMATS[0].2.replace(r#""tool_call_id""#, r#""id""#);
    for id in ["2", "msg-7"] {
        let loaded = load("m.jsonl", &text.replace("ID2", id));
        assert_eq!(observations(&loaded), [Some("A"), Some("B")]);
        assert_eq!(notes(&loaded), []);
    }
}

const V0: &str = r#"{"instance_id":"t","test_result":{"report":{"resolved":true}},"metadata":{},"history":[
    {"id":0,"source":"user","action":"message","args":{"content":"go"}},
    {"id":1,"source":"agent","action":"recall","args":{}},
    {"id":2,"cause":1,"source":"environment","observation":"recall","content":"r"},
    {"id":3,"source":"agent","action":"run","args":{"command":"ls","thought":"look"}},
    {"id":4,"cause":3,"source":"agent","observation":"run","content":"A"},
    {"id":5,"cause":CAUSE,"source":"agent","observation":"run","content":"B"}]}"#;

const V1: &str = r#"{"instance_id":"t","test_result":{"report":{"resolved":true}},"history":[
    {"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"go"}]}},
    {"kind":"ActionEvent","id":"e1","source":"agent","thought":[],"tool_name":"terminal","tool_call_id":"a","action":{"kind":"T","command":"ls"}},
    {"kind":"ObservationEvent","source":"environment","tool_call_id":"a","action_id":"e1","observation":{"content":[{"type":"text","text":"A"}]}},
    {"kind":"ObservationEvent","source":"environment","tool_call_id":"CAUSE","observation":{"content":[{"type":"text","text":"B"}]}}]}"#;

#[test]
fn what_came_back_from_no_action_of_openhands_is_noted() {
    let line = |text: &str, cause: &str| text.replace("CAUSE", cause).replace('\n', "");
    for (text, cause, want) in [
        (
            V0,
            "77",
            ("history[5]", "it came back from event `77`, which is no action here: left out"),
        ),
        (V1, "x", ("history[3]", "it came back from call `x`, which is no action here: left out")),
    ] {
        let loaded = load("output.jsonl", &line(text, cause));
        assert_eq!(notes(&loaded), [want]);
        assert_eq!(observations(&loaded), [Some("A")]);
    }
    for (text, cause, place) in [(V0, "3", "history[5]"), (V1, "a", "history[3]")] {
        let loaded = load("output.jsonl", &line(text, cause));
        let reason = "another result for steps[0], which has one: put behind it";
        assert_eq!(notes(&loaded), [(place, reason)]);
        assert_eq!(observations(&loaded), [Some("A\nB")]);
    }
    // What a harness does for itself is nothing odd.
    assert_eq!(notes(&load("output.jsonl", &line(V0, "1"))), []);
}

#[test]
fn odd_content_is_noted_in_every_format_that_has_no_messages() {
    let number = "a number, not a text: read as its JSON";
    let object = "an object, not a text: read as its JSON";
    let rllm = r#"{"episode_id":"a:0","task":"q","task_hash":"h","is_correct":true,"trajectories":[{"name":"p","reward":1.0,"steps":[{"observation":"go","action":"x","model_response":"one","reward":0.0},{"observation":ODD,"action":7,"reward":1.0}]}]}"#;
    let swe = r#"{"environment":"t","info":{"exit_status":"submitted"},"history":[],"trajectory":[{"action":"ls","observation":ODD,"response":"r","thought":true}]}"#;
    let openhands = V0.replace("CAUSE", "3").replace(r#""content":"A""#, r#""content":ODD"#);
    // Without the last event, on one line.
    let openhands =
        openhands.replace(",\n    {\"id\":5", "]}\n").lines().take(6).collect::<String>();
    let atif = FORMATS[7].2.replace("ID2", "2").replace(r#""content":"A""#, r#""content":ODD"#);
    let claude = CLAUDE.replace("ID2", "2").replace(r#""content":"A""#, r#""content":ODD"#);
    let codex = CODEX.replace("ID2", "2").replace(r#""output":"A""#, r#""output":ODD"#);
    for (name, text, field) in [
        ("episode.json", rllm, "steps[1].observation"),
        ("t.traj", swe, "trajectory[0].observation"),
        ("output.jsonl", &openhands, "history[4].content"),
        ("trajectory.json", &atif, "steps[1].observation.results[].content"),
        ("c.jsonl", &claude, "line 3: message.content[].content"),
        ("rollout-1.jsonl", &codex, "line 5: output"),
    ] {
        for (odd, reason) in [("42", number), (r#"{"x":1}"#, object)] {
            let loaded = load(name, &text.replace("ODD", odd));
            assert!(notes(&loaded).contains(&(field, reason)), "{name}: {:?}", notes(&loaded));
            assert_eq!(observations(&loaded)[0], Some(odd), "{name}");
        }
    }
    // What stood for nothing is read: an action and a thought that are no texts.
    let loaded = load("episode.json", &rllm.replace("ODD", "\"B\""));
    assert_eq!(notes(&loaded), [("steps[1].action", number)]);
    assert_eq!(loaded.steps[1].thought, "7");
    let truth = "a truth value, not a text: read as its JSON";
    let loaded = load("t.traj", &swe.replace("ODD", "\"B\""));
    assert_eq!(notes(&loaded), [("trajectory[0].thought", truth)]);
}

#[test]
fn messages_of_a_session_that_are_no_text_are_read_and_noted() {
    let text = format!(
        "{CLAUDE}{}\n{}\n{}\n",
        r#"{"type":"assistant","sessionId":"s","message":{"id":"n","role":"assistant","content":42}}"#,
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":["and",7]}}"#,
        r#"{"type":"assistant","sessionId":"s","message":"bare"}"#
    );
    let loaded = load("c.jsonl", &text.replace("ID2", "2"));
    let want = [
        ("line 4: message.content", "a number, not a text: read as its JSON"),
        ("line 5: message.content", "a part that is no text: read as its JSON"),
        ("line 6: message", "no message: an object was expected; left out"),
    ];
    assert_eq!(notes(&loaded), want);
    assert_eq!(loaded.report.totals.dropped, 1);
    assert_eq!(loaded.steps[2].thought, "42");
    assert_eq!(observations(&loaded)[2], Some("and\n7"));
}
