//! What is odd in a conversation is noted in every format: results that name no call, or one that has its
//! result, and content that is neither text nor a list of parts.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use credscope::ingest::json;
use credscope::load::{LoadOptions, LoadReport};
use credscope::rollout::raw::{RawArgs, RawKind, RawStep};
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

/// Formats whose messages name who speaks, each with the list of its messages.
const CONVERSATIONS: [(usize, &str); 6] = [
    (0, "messages"),
    (1, "traj"),
    (2, "messages"),
    (4, "completion"),
    (6, "messages"),
    (8, "messages"),
];

/// A file of such a format, where the message of the policy is the `at`th of its list.
fn conversation(nth: usize) -> (&'static str, &'static str, String, usize) {
    let (format, name, text) = FORMATS[nth];
    (format, name, text.replace("ID2", "2"), usize::from(format != "verifiers"))
}

const ASSISTANT: &str = r#""role":"assistant""#;

#[test]
fn a_role_in_other_words_is_read_and_noted_in_every_format() {
    for (nth, list) in CONVERSATIONS {
        let (format, name, text, at) = conversation(nth);
        for word in ["Assistant", "agent", "BOT"] {
            let loaded = load(name, &text.replace(ASSISTANT, &format!(r#""role":"{word}""#)));
            assert_eq!(observations(&loaded), [Some("A"), Some("B")], "{format}");
            let (field, reason) =
                (format!("{list}[{at}].role"), format!("`{word}` was read as `assistant`"));
            assert_eq!(notes(&loaded), [(&*field, &*reason)], "{format}");
            assert_eq!(loaded.report.totals.dropped, 0, "{format}");
        }
        // Formats write these themselves.
        let loaded = load(name, &text.replace(ASSISTANT, r#""role":"model""#));
        assert_eq!(notes(&loaded), [], "{format}");
        assert_eq!(loaded.steps.len(), 2, "{format}");
    }
}

#[test]
fn calls_without_a_role_are_the_policys_in_every_format() {
    for (nth, list) in CONVERSATIONS {
        let (format, name, text, at) = conversation(nth);
        for (role, found) in [(r#""x":1"#, "missing"), (r#""role":null"#, "`null`")] {
            let loaded = load(name, &text.replace(ASSISTANT, role));
            // Where the first message is what tells a format, this is one of chat messages.
            assert_eq!(observations(&loaded), [Some("A"), Some("B")], "{format}");
            let reason = format!("{found}; read as `assistant`, since `tool_calls` stands there");
            assert_eq!(notes(&loaded), [(&*format!("{list}[{at}].role"), &*reason)], "{format}");
        }
    }
}

#[test]
fn messages_of_nobody_are_left_out_and_counted_in_every_format() {
    let known = "`assistant`, `user`, `tool` or `system` was expected: the message was left out";
    for (nth, list) in CONVERSATIONS {
        let (format, name, text, _) = conversation(nth);
        for (message, field, found) in [
            (r#"{"role":"critic","content":"x"}"#, ".role", "`critic` is no known role; "),
            (r#"{"role":null,"content":"x"}"#, ".role", "`null`; "),
            (r#"{"content":"x"}"#, ".role", "missing; "),
            ("{}", "", "no message: an empty object; left out"),
        ] {
            // Behind the last result.
            let (before, end) = text.rsplit_once(r#""content":"B""#).unwrap();
            let (rest, end) = end.split_once('}').unwrap();
            let with = format!(r#"{before}"content":"B"{rest}}},{message}{end}"#);
            let loaded = load(name, &with);
            let at = text.matches(r#""role":"#).count() - usize::from(format == "verifiers");
            let reason = if field.is_empty() { found.into() } else { format!("{found}{known}") };
            let want = (format!("{list}[{at}]{field}"), reason);
            assert_eq!(notes(&loaded), [(&*want.0, &*want.1)], "{format}");
            assert_eq!(observations(&loaded), [Some("A"), Some("B")], "{format}");
            assert_eq!(loaded.report.totals.dropped, 1, "{format}");
            assert!(loaded.report.warning("dropped-steps").is_some(), "{format}");
        }
    }
}

/// The calls of a file as one object, as a text, and as a number.
fn with_calls(text: &str, given: impl Fn(&str) -> String) -> String {
    let (before, rest) = text.split_once(r#""tool_calls":"#).unwrap();
    let end = rest.find(']').unwrap() + 1;
    format!(r#"{before}"tool_calls":{}{}"#, given(&rest[..end]), &rest[end..])
}

#[test]
fn calls_that_are_no_list_are_read_or_kept_and_noted_in_every_format() {
    for (nth, list) in CONVERSATIONS.into_iter().chain([(7, "steps")]) {
        let (format, name, text, at) = conversation(nth);
        let field = format!("{list}[{at}].tool_calls");
        let encoded = with_calls(&text, |list| serde_json::to_string(list).unwrap());
        let loaded = load(name, &encoded);
        assert_eq!(observations(&loaded), [Some("A"), Some("B")], "{format}");
        let reason = "a text, not a list: its JSON was read";
        assert_eq!(notes(&loaded), [(&*field, reason)], "{format}");

        let alone = with_calls(&text, |list| {
            let calls: Vec<serde_json::Value> = serde_json::from_str(list).unwrap();
            calls[0].to_string()
        });
        let loaded = load(name, &alone);
        assert_eq!(loaded.steps.len(), 1, "{format}");
        assert_eq!(loaded.steps[0].call_id.as_deref(), Some("1"), "{format}");
        let reason = "an object, not a list: read as the only call";
        assert_eq!(notes(&loaded)[0], (&*field, reason), "{format}");

        let loaded = load(name, &with_calls(&text, |_| "5".to_owned()));
        assert_eq!(loaded.steps.len(), 1, "{format}");
        let unread = RawArgs::Unparsable("5".to_owned());
        assert_eq!((loaded.steps[0].kind, &loaded.steps[0].args), (RawKind::Call, &unread));
        let reason = "5, no list of calls: kept as a call that cannot be read";
        assert_eq!(notes(&loaded)[0], (&*field, reason), "{format}");
    }
}

#[test]
fn flat_calls_of_mini_swe_agent_are_read_as_those_of_messages() {
    let (_, name, text, _) = conversation(8);
    let flat = r#"[{"id":"1","name":"bash","arguments":"{\"command\":\"ls\"}"},{"id":"2","name":"bash","arguments":{}}]"#;
    let loaded = load(name, &with_calls(&text, |_| flat.to_owned()));
    let tools: Vec<_> = loaded.steps.iter().map(|s| s.tool.as_deref()).collect();
    assert_eq!(tools, [Some("bash"), Some("bash")]);
    assert_eq!(loaded.steps[0].args, json::args_text(r#"{"command":"ls"}"#));
    assert_eq!(observations(&loaded), [Some("A"), Some("B")]);
    assert_eq!(notes(&loaded), []);
    // What was run tells more than calls that cannot be read.
    let run = r#"5,"extra":{"actions":[{"command":"ls","tool_call_id":"1"},{"command":"pwd","tool_call_id":"2"}]}"#;
    let loaded = load(name, &with_calls(&text, |_| run.to_owned()));
    assert_eq!(loaded.steps[1].args, json::args_text(r#"{"command":"pwd"}"#));
    assert_eq!(notes(&loaded).len(), 1);
}

#[test]
fn entries_that_are_nothing_are_left_out_and_counted() {
    let swe = r#"{"environment":"t","info":{"exit_status":"submitted"},"history":[],"trajectory":[{"action":"ls","observation":"A","response":"r","thought":"t"},ODD]}"#;
    let nebius = r#"{"instance_id":"o__r-1","model_name":"m","target":true,"trajectory":[{"role":"user","text":"go"},{"role":"ai","text":"```\nls\n```"},{"role":"user","text":"A"},ODD]}"#;
    let nemo = FORMATS[3].2.replace("ID2", "2").replace("\"B\"}", "\"B\"},ODD");
    let atif = FORMATS[7].2.replace("ID2", "2").replace("}]}}]}", "}]}},ODD]}");
    let events = V0.replace('\n', "").replace("CAUSE", "3").replace("\"B\"}", "\"B\"},ODD");
    for (name, text, field, what) in [
        ("t.traj", swe, "trajectory[1]", "step"),
        ("rows.jsonl", nebius, "trajectory[3]", "message"),
        ("nemo.jsonl", &nemo, "output[4]", "item"),
        ("trajectory.json", &atif, "steps[2]", "step"),
        ("output.jsonl", &events, "history[6]", "event"),
    ] {
        for (odd, found) in [("{}", "an empty object"), ("7", "an object was expected")] {
            if (name, odd) == ("rows.jsonl", "7") {
                continue;
            }
            let loaded = load(name, &text.replace("ODD", odd));
            let reason = format!("no {what}: {found}; left out");
            assert!(notes(&loaded).contains(&(field, &reason)), "{name}: {:?}", notes(&loaded));
            assert_eq!(loaded.report.totals.dropped, 1, "{name}");
            assert!(observations(&loaded)[0].is_some_and(|o| o.starts_with('A')), "{name}");
        }
    }
    // Others whose kind nobody knows.
    let item = r#"{"type":"web_search_call","id":"w"}"#;
    let loaded = load("nemo.jsonl", &nemo.replace("ODD", item));
    let reason = "items of type `web_search_call` are not read: left out";
    assert_eq!(notes(&loaded), [("output[4].type", reason)]);
    let loaded = load("trajectory.json", &atif.replace("ODD", r#"{"step_id":3,"message":"x"}"#));
    let reason = "missing; `agent`, `user` or `system` was expected: left out";
    assert_eq!(notes(&loaded), [("steps[2].source", reason)]);
    assert_eq!(loaded.report.totals.dropped, 1);
}

#[test]
fn a_completion_that_is_no_list_is_read_and_noted() {
    let (_, name, text, _) = conversation(4);
    let (before, list) = text.split_once(r#""completion":"#).unwrap();
    let list = list.strip_suffix('}').unwrap();
    let with = |given: &str| load(name, &format!(r#"{before}"completion":{given}}}"#));
    let loaded = with(&serde_json::to_string(list).unwrap());
    assert_eq!(observations(&loaded), [Some("A"), Some("B")]);
    let reason = "a text, not a list: the messages in its JSON were read";
    assert_eq!(notes(&loaded), [("completion", reason)]);
    let loaded = with(r#""[1] is the answer""#);
    assert_eq!((notes(&loaded), loaded.steps.len()), (vec![], 1));
    // Such a line is known by the one before it.
    let two = |given: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        let other = format!(r#"{before}"completion":{given}}}"#).replace(":1,", ":2,");
        std::fs::write(&path, format!("{text}\n{other}\n")).unwrap();
        load_with(&[path], &LoadOptions::default()).unwrap().report
    };
    for (given, reason) in [
        ("5", "a number, not a text: read as its JSON"),
        (r#"{"0":{"role":"user"}}"#, "an object, not a text: read as its JSON"),
    ] {
        let report = two(given);
        assert_eq!(report.totals.rollouts, 2);
        let notes: Vec<_> = report.notes.iter().map(|n| (&*n.field, &*n.reason)).collect();
        assert_eq!(notes, [("completion", reason)]);
    }
}

#[test]
fn a_reward_that_is_no_number_beside_a_verdict_is_noted() {
    let native = r#"{"task":"t","id":"a","outcome":"failure","reward":ODD,"steps":[{"tool":"a"}]}"#;
    let nemo = FORMATS[3]
        .2
        .replace("ID2", "2")
        .replace(r#""reward":1"#, r#""resolved":true,"reward":ODD"#);
    let verl =
        r#"{"input":"user\ngo\nassistant\n","output":"done","score":ODD,"step":7,"acc":0.0}"#;
    let scored = r#"{"task":"t","id":"a","outcome_reward":1,"reward":ODD,"steps":[{"tool":"a"}]}"#;
    let list = "a list, not a number";
    for (name, text, field, from) in [
        ("n.jsonl", native, "reward", "outcome"),
        ("nemo.jsonl", &nemo, "reward", "resolved"),
        ("7.jsonl", verl, "score", "acc"),
        ("s.jsonl", scored, "reward", "outcome_reward"),
    ] {
        for (odd, why) in [("[1.0]", list), (r#""high""#, "the text \"high\", not a number")] {
            let loaded = load(name, &text.replace("ODD", odd));
            let reason = format!("{why}: unknown; `{from}` gives the outcome");
            assert_eq!(notes(&loaded), [(field, &*reason)], "{name}");
            let totals = &loaded.report.totals;
            assert_eq!((totals.unscored, totals.successes + totals.failures), (0, 1), "{name}");
        }
        // What was not logged is nothing odd.
        assert_eq!(notes(&load(name, &text.replace("ODD", "null"))), [], "{name}");
    }
    // Without a verdict it is why there is no outcome.
    let loaded =
        load("n.jsonl", &native.replace(r#""outcome":"failure","#, "").replace("ODD", "[1]"));
    assert_eq!((notes(&loaded), loaded.report.totals.unscored), (vec![], 1));
}

#[test]
fn a_rollout_without_steps_says_so() {
    let nothing = "`null`: the rollout has no steps";
    let native = r#"{"task":"t","id":"a","reward":1,"KEY":null}"#;
    let good = r#"{"task":"t","id":"b","reward":1,"steps":[]}"#;
    for key in ["steps", "messages"] {
        let text = format!("{good}\n{}\n", native.replace("KEY", key));
        assert_eq!(notes(&load("n.jsonl", &text)), [(key, nothing)]);
    }
    let inspect = FORMATS[6].2;
    let (before, _) = inspect.split_once(r#","messages":"#).unwrap();
    let missing = "missing: the rollout has no steps";
    for (with, reason) in [("}]}", missing), (r#","messages":null}]}"#, nothing)] {
        assert_eq!(notes(&load("log.json", &format!("{before}{with}"))), [("messages", reason)]);
    }
}

#[test]
fn repeated_keys_are_noted_in_tables_of_results() {
    let again = "the key stands more than once; the last one counts";
    let tau = FORMATS[1].2.replace("ID2", "2").replace(r#""trial":0"#, r#""trial":0,"reward":0.0"#);
    let loaded = load("tau.json", &tau);
    assert_eq!(notes(&loaded), [("reward", again)]);
    assert_eq!(loaded.report.totals.failures, 1);
    let terminal = r#"{"id":"r","results":[{"trial_name":"h.1-of-1.r","task_id":"h","is_resolved":true,"is_resolved":false,"failure_mode":"unset"}]}"#;
    let loaded = load("results.json", terminal);
    assert_eq!(notes(&loaded), [("is_resolved", again)]);
    assert_eq!(loaded.report.totals.failures, 1);
}

#[test]
fn a_step_of_r2e_gym_that_is_no_object_is_named() {
    let text = r#"{"trajectory_steps":[{"action":"","thought":"t","observation":"A"},7],"exit_reason":"agent","docker_image":"i","reward":1.0}"#;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    std::fs::write(&path, format!("{text}\n{}\n", text.replace(",7", ""))).unwrap();
    let report = load_with(&[path], &LoadOptions::default()).unwrap().report;
    assert_eq!(report.skipped.len(), 1);
    assert_eq!(report.skipped[0].field.as_deref(), Some("trajectory_steps[1]"));
    assert_eq!(report.skipped[0].reason, "each step must be an object");
}
