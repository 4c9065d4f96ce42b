use super::Roll;
use crate::ingest::reader::{Context, Reader as _, RecordError, read_record};
use crate::rollout::raw::{Ending, RawNumber, RawRollout, RawStep};

fn read(text: &str) -> Vec<Result<RawRollout, RecordError>> {
    let parts = Roll.parse(text, &Context::default()).unwrap();
    parts.into_iter().map(|p| p.rollout).collect()
}

fn dump(rewards: &str, messages: &str) -> String {
    let data = format!(
        r#"{{"current_step":4,"env_info":{{"env_id":3,"group_id":7,"tag":"SWE","seed":1,"episode_id":0}},"reward_info":{rewards},"length_info":{{"truncated":false}},"failure_info":{{"stop_reason":"FINISH"}}}}"#
    );
    serde_json::json!({"trajectory_data":[data, null],"messages":[messages, null],"tools":["[]", "[]"],"exp_name":["e", "e"],"global_step":[4, 4]}).to_string()
}

const TALK: &str = r#"[[{"role":"user","content":"go"},{"role":"assistant","content":"<function=a>\n</function>"},{"role":"user","content":"A"},{"role":"assistant","content":"done"}]]"#;

fn step_rewards(steps: &[RawStep]) -> Vec<Option<f64>> {
    steps.iter().map(|s| s.step_reward.value()).collect()
}

#[test]
fn the_final_reward_is_taken_out_of_the_last_step() {
    let all = read(&dump(
        r#"{"episode_reward":1.055,"step_rewards":[0.055,1.0],"final_reward":1.0}"#,
        TALK,
    ));
    let raw = all[0].as_ref().unwrap();
    assert_eq!((raw.task.as_deref(), raw.id.as_deref()), (Some("SWE/7/0/1"), Some("3")));
    assert_eq!((raw.train_step, &raw.ending), (Some(4), &Ending::Clean));
    assert_eq!(raw.reward, RawNumber::Value(1.0));
    assert_eq!(step_rewards(&raw.steps), [Some(0.055), Some(0.0)]);
    // A row without data costs itself.
    assert_eq!(all[1].as_ref().unwrap_err().field.as_deref(), Some("trajectory_data"));
}

#[test]
fn a_final_reward_that_stands_apart_stays() {
    let info = r#"{"episode_reward":1.1,"step_rewards":[0.05,0.05],"final_reward":1.0}"#;
    let all = read(&dump(info, TALK));
    assert_eq!(step_rewards(&all[0].as_ref().unwrap().steps), [Some(0.05), Some(0.05)]);
    let all = read(&dump(r#"{"episode_reward":1,"step_rewards":[1],"final_reward":1}"#, TALK));
    assert_eq!(all[0].as_ref().unwrap().notes[0].1, "1 reward for 2 turns");
}

#[test]
fn segments_go_on_slide_or_begin_with_a_summary() {
    let m = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let list = |all: &[String]| format!("[{}]", all.join(","));
    let (u, a1, o1, a2, o2, a3) = (
        m("user", "go"),
        m("assistant", "one"),
        m("user", "1"),
        m("assistant", "two"),
        m("user", "2"),
        m("assistant", "three"),
    );
    let start = list(&[u.clone(), a1, o1, a2.clone(), o2.clone()]);
    for next in [
        start.replace(']', &format!(",{a3}]")),
        list(&[u.clone(), a2, o2, a3.clone()]),
        list(&[u, m("user", "a summary"), a3]),
    ] {
        let all = read(&dump("{}", &format!("[{start},{next}]")));
        let steps = &all[0].as_ref().unwrap().steps;
        let thoughts: Vec<_> = steps.iter().map(|s| s.thought.as_str()).collect();
        assert_eq!(thoughts, ["one", "two", "three"], "{next}");
        assert_eq!(steps[1].observation.as_deref(), Some("2"), "{next}");
    }
}

#[test]
fn answers_and_columns_of_unequal_length() {
    let all = read(
        r#"{"id":["p","p"],"prompt":["q","q"],"responses":["a","b"],"scores":[1.0,0.0],"global_step":[3,3],"domain":["math","math"]}"#,
    );
    let raw = all[1].as_ref().unwrap();
    assert_eq!((raw.task.as_deref(), raw.namespace.as_deref()), (Some("p"), Some("math")));
    assert_eq!((raw.steps.len(), raw.reward.value(), raw.train_step), (1, Some(0.0), Some(3)));
    let all = read(r#"{"responses":["a","b","c"],"scores":[0.5],"id":["p","p","p"],"tag":[]}"#);
    assert_eq!(all[0].as_ref().unwrap().reward.value(), Some(0.5));
    for row in &all[1..] {
        let error = row.as_ref().unwrap_err();
        assert_eq!(error.field.as_deref(), Some("scores"));
        assert_eq!(error.reason, "1 value here, 3 in `responses`: the last 2 rows lack one");
    }
    assert_eq!(all.len(), 3);
}

#[test]
fn a_dump_that_names_no_step_is_named_after_it() {
    let answers = r#"{"id":["p"],"prompt":["q"],"responses":["a"],"scores":[1.0]}"#;
    let agentic = dump("{}", TALK).replace("\\\"current_step\\\":4,", "");
    let agentic = agentic.replace(r#""global_step":[4,4]"#, r#""global_step":[null,null]"#);
    for text in [answers, &agentic] {
        assert!(!text.contains("_step\\\":") && !text.contains("step\":[4"), "{text}");
        let path = "dumps/rollout_dump_data.step_40.jsonl";
        let parts = Roll.parse(text, &Context { path, ..Context::default() }).unwrap();
        assert_eq!(parts[0].rollout.as_ref().unwrap().train_step, Some(40));
    }
    // What a row says itself counts.
    let own = dump("{}", TALK);
    let context = Context { path: "step_40.jsonl", ..Context::default() };
    let parts = Roll.parse(&own, &context).unwrap();
    assert_eq!(parts[0].rollout.as_ref().unwrap().train_step, Some(4));
}

#[test]
fn truth_values_of_python_are_scores() {
    let text = r#"{"id":["p","p"],"responses":["a","b"],"scores":[True,False]}"#;
    let parsed = read_record(&Roll, text.as_bytes(), &Context::default()).unwrap();
    let scores: Vec<_> =
        parsed.parts.iter().map(|p| p.rollout.as_ref().unwrap().reward.value()).collect();
    assert_eq!(scores, [Some(1.0), Some(0.0)]);
    let told: Vec<_> = parsed.repairs.notes().into_iter().map(|(_, note)| note).collect();
    assert_eq!(told[0], "`True` is no JSON; read as `true`");
}
