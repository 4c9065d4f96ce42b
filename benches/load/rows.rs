//! Files of a known make: the same bytes on every run, in the shapes that real dumps have.

#![allow(clippy::format_push_string, clippy::expect_used, clippy::indexing_slicing)]

use std::io::Write;

use serde_json::Value;

/// A small generator of numbers; the files must be equal everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

const WORDS: [&str; 16] = [
    "return",
    "self",
    "value",
    "matrix",
    "index",
    "config",
    "assert",
    "result",
    "raise",
    "import",
    "compound",
    "separable",
    "transform",
    "deserialize",
    "field",
    "None",
];

/// Some lines of what a tool prints, escaped for JSON; `rough` ones are full of escapes.
fn output(dice: &mut Dice, bytes: usize, rough: bool, out: &mut String) {
    let end = out.len() + bytes;
    let mut line = 1;
    while out.len() < end {
        out.push_str(&format!("{line}"));
        out.push_str(if rough { "\\t\\u001b[32m" } else { ":     " });
        for _ in 0..4 + dice.roll(8) {
            let word = WORDS[dice.roll(16) as usize];
            if rough && dice.roll(3) == 0 {
                out.push_str(&format!("\\\"{word}\\\" \\u00e9\\\\n "));
            } else {
                out.push_str(word);
                out.push(' ');
            }
        }
        out.push_str("\\n");
        line += 1;
    }
}

/// One call as R2E-Gym writes it, with the frame of its result.
fn call(dice: &mut Dice, at: u64) -> (String, String) {
    let file = format!("/testbed/src/mod_{}.py", dice.roll(12));
    let n = dice.roll(400);
    let shell = |command: String| {
        (
            format!(
                "<function=execute_bash>\\n  <parameter=cmd>{command}</parameter>\\n</function>"
            ),
            format!(
                "Exit code: {}\\nExecution output of [execute_bash]:\\n",
                if n.is_multiple_of(5) { "Error: Exit code 1" } else { "0" }
            ),
        )
    };
    let editor = |rest: String| {
        (
            format!("<function=file_editor>\\n{rest}</function>"),
            "Execution output of [file_editor]:\\n".to_owned(),
        )
    };
    match at % 6 {
        0 => (
            format!(
                "<function=search>\\n  <parameter=search_term>name_{n}</parameter>\\n  <parameter=path>.</parameter>\\n</function>"
            ),
            "Execution output of [search]:\\n".to_owned(),
        ),
        1 => editor(format!(
            "  <parameter=command>view</parameter>\\n  <parameter=path>{file}</parameter>\\n  <parameter=view_range>[{n}, {}]</parameter>\\n",
            n + 60
        )),
        2 => shell(format!("cd /testbed && grep -rn 'name_{n}' src/ | head -{}", 5 + n % 40)),
        3 => editor(format!(
            "  <parameter=command>str_replace</parameter>\\n  <parameter=path>{file}</parameter>\\n  <parameter=old_str>value = {n}\\n</parameter>\\n  <parameter=new_str>value = {}\\n</parameter>\\n",
            n + 1
        )),
        4 => shell(format!(
            "cd /testbed && python -m pytest tests/test_{n}.py -x -q 2>&1 | tail -20"
        )),
        _ => shell(format!(
            "cat > /tmp/repro_{n}.py << 'EOF'\\nimport mod_{n}\\nprint(mod_{n}.run({n}))\\nEOF\\npython /tmp/repro_{n}.py"
        )),
    }
}

/// R2E-Gym lines of forty steps, eight rollouts a task, half of them full of escapes. With 1650 bytes of
/// output a step, a line has 100 KB.
pub fn r2e(out: &mut dyn Write, rollouts: usize, seen: usize) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for at in 0..rollouts {
        let mut line = String::from("{\"trajectory_steps\": [");
        for step in 0..40 {
            let shift = dice.roll(3);
            let (action, frame) = call(&mut dice, step + shift);
            line.push_str(if step == 0 { "" } else { ", " });
            line.push_str(&format!("{{\"step_idx\": {step}, \"thought\": \""));
            output(&mut dice, 200, false, &mut line);
            line.push_str(&format!("\", \"action\": \"{action}\", \"observation\": \"{frame}"));
            output(&mut dice, seen, at % 2 == 1, &mut line);
            line.push_str(&format!("\", \"done\": false, \"info\": {{\"total_time\": 0.5}}, \"token_usage_prompt\": -1, \"token_usage_completion\": 120, \"token_usage_total\": -1, \"llm_exec_time\": 1.0, \"env_exec_time\": 0.5, \"total_step_time\": 1.5, \"total_time_traj\": 1.5, \"step_count\": {}}}", step + 1));
        }
        line.push_str("], \"problem_statement\": \"");
        output(&mut dice, 1500, false, &mut line);
        let task = at / 8;
        line.push_str(&format!("\", \"docker_image\": \"org/datalad_final:{task:040x}\", \"exp_name\": \"exp\", \"env_args\": {{}}, \"agent_args\": {{\"llm_name\": \"model\"}}, \"ds\": null, \"max_steps\": 40, \"exit_reason\": \"agent\", \"output_patch\": \""));
        output(&mut dice, 3000, at % 2 == 1, &mut line);
        line.push_str(&format!("\", \"reward\": {}.0, \"test_output\": \"", dice.roll(2)));
        output(&mut dice, 2000, false, &mut line);
        line.push_str("\", \"custom_test_outputs\": {}, \"regression_test_output\": null}\n");
        out.write_all(line.as_bytes()).expect("there is room for the file");
    }
}

/// One array of tau-bench results.
pub fn tau(out: &mut dyn Write, bytes: usize) {
    let mut dice = Dice(0x0123_4567_89ab_cdef);
    let (mut written, mut at) = (1, 0);
    out.write_all(b"[").expect("there is room for the file");
    while written < bytes {
        let mut item = String::from(if at == 0 { "" } else { ", " });
        item.push_str(&format!("{{\"task_id\": {}, \"reward\": {}.0, \"info\": {{\"source\": \"user\"}}, \"traj\": [{{\"role\": \"system\", \"content\": \"", at / 4, dice.roll(2)));
        output(&mut dice, 6000, false, &mut item);
        item.push_str("\"}, {\"role\": \"user\", \"content\": \"hello\"}");
        for call in 0..12 {
            let n = dice.roll(500);
            item.push_str(&format!(", {{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{{\"id\": \"call_{call}\", \"type\": \"function\", \"function\": {{\"name\": \"get_reservation_details\", \"arguments\": \"{{\\\"reservation_id\\\": \\\"R{n}\\\"}}\"}}}}]}}, {{\"role\": \"tool\", \"tool_call_id\": \"call_{call}\", \"name\": \"get_reservation_details\", \"content\": \"{{\\\"id\\\": \\\"R{n}\\\", "));
            output(&mut dice, 1200, call % 2 == 0, &mut item);
            item.push_str("}\"}");
        }
        item.push_str(&format!("], \"trial\": {}}}", at % 4));
        out.write_all(item.as_bytes()).expect("there is room for the file");
        written += item.len();
        at += 1;
    }
    out.write_all(b"]").expect("there is room for the file");
}

/// One tau2-bench document: settings, 2,000 tasks with their texts (10 MB), then the simulations.
pub fn tau2(out: &mut dyn Write, bytes: usize) {
    let mut dice = Dice(0x1122_3344_5566_7788);
    let mut put = |text: &str| out.write_all(text.as_bytes()).expect("there is room for the file");
    put(
        "{\n \"timestamp\": \"t\",\n \"info\": {\"agent_info\": {\"implementation\": \"llm_agent\", \"llm\": \"m\"}, \"environment_info\": {\"domain_name\": \"airline\"}},\n \"tasks\": [",
    );
    for task in 0..2000 {
        let mut item = String::from(if task == 0 { "" } else { "," });
        item.push_str(&format!("\n  {{\"id\": \"{task}\", \"user_scenario\": {{\"instructions\": {{\"reason_for_call\": \""));
        output(&mut dice, 400, false, &mut item);
        item.push_str("\"}}, \"initial_state\": {\"history\": \"");
        output(&mut dice, 4400, true, &mut item);
        item.push_str("\"}}");
        put(&item);
    }
    put("\n ],\n \"simulations\": [");
    let (mut written, mut at) = (10_000_000, 0);
    while written < bytes {
        let mut item = String::from(if at == 0 { "\n" } else { ",\n" });
        item.push_str(&format!("  {{\n   \"id\": \"s{at}\",\n   \"task_id\": \"{}\",\n   \"trial\": {},\n   \"termination_reason\": \"user_stop\",\n   \"reward_info\": {{\"reward\": {}.0}},\n   \"messages\": [\n", (at / 4) % 2000, at % 4, dice.roll(2)));
        item.push_str("    {\"role\": \"assistant\", \"content\": \"Hi!\", \"tool_calls\": null},\n    {\"role\": \"user\", \"content\": \"hello\", \"tool_calls\": null}");
        for call in 0..16 {
            let n = dice.roll(500);
            item.push_str(&format!(",\n    {{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [\n     {{\"id\": \"c{call}\", \"name\": \"get_reservation_details\", \"arguments\": {{\"reservation_id\": \"R{n}\"}}, \"requestor\": \"assistant\"}}\n    ]}},\n    {{\"role\": \"tool\", \"id\": \"c{call}\", \"requestor\": \"assistant\", \"error\": false, \"content\": \"{{\\\"id\\\": \\\"R{n}\\\", "));
            output(&mut dice, 1500, call % 2 == 0, &mut item);
            item.push_str("}\"}");
        }
        item.push_str("\n   ]\n  }");
        put(&item);
        written += item.len();
        at += 1;
    }
    put("\n ]\n}\n");
}

/// One rollout of the native format.
fn native_rollout(dice: &mut Dice, at: u64, item: &mut String) {
    item.push_str(&format!("{{\"id\": \"r{at}\", \"reward\": {}, \"steps\": [", dice.roll(2)));
    for step in 0..30 {
        let n = dice.roll(300);
        item.push_str(if step == 0 { "" } else { ", " });
        item.push_str(&format!("{{\"thought\": \"look\", \"tool\": \"execute_bash\", \"args\": {{\"command\": \"sed -n {n},{}p src/a_{}.py\"}}, \"exit_code\": 0, \"observation\": \"", n + 40, n % 9));
        output(dice, 1500, at % 2 == 1, item);
        item.push_str("\"}");
    }
    item.push_str("]}");
}

/// One native document on one line, all rollouts of one task.
pub fn native_document(out: &mut dyn Write, bytes: usize) {
    let mut dice = Dice(0x0fed_cba9_8765_4321);
    let mut item = String::from("{\"schema\": \"credscope/1\", \"rollouts\": [");
    let (mut written, mut at) = (0, 0);
    while written < bytes {
        native_rollout(&mut dice, at, &mut item);
        written += item.len();
        at += 1;
        item.push_str(if written < bytes { ", " } else { "], \"task\": \"t\"}\n" });
        out.write_all(item.as_bytes()).expect("there is room for the file");
        item.clear();
    }
}

/// One array of native documents, eight rollouts each.
pub fn native(out: &mut dyn Write, bytes: usize) {
    let mut dice = Dice(0x0f0f_1234_5678_9abc);
    let (mut written, mut task) = (1, 0);
    out.write_all(b"[").expect("there is room for the file");
    while written < bytes {
        let mut item = String::from(if task == 0 { "" } else { ",\n" });
        item.push_str(&format!(
            "{{\"schema\": \"credscope/1\", \"task\": \"t{task}\", \"rollouts\": ["
        ));
        for rollout in 0..8 {
            item.push_str(if rollout == 0 { "" } else { ", " });
            native_rollout(&mut dice, rollout, &mut item);
        }
        item.push_str("]}");
        out.write_all(item.as_bytes()).expect("there is room for the file");
        written += item.len();
        task += 1;
    }
    out.write_all(b"]\n").expect("there is room for the file");
}

/// A real file again and again, its lines or the elements of its array, each with a task and an id of
/// its own: copies would be left out. Eight rollouts are a task.
pub fn again(
    out: &mut dyn Write,
    real: &[u8],
    array: bool,
    bytes: usize,
    rename: fn(&mut Value, usize),
) {
    let mut records: Vec<Value> = if array {
        serde_json::from_slice(real).expect("the file is an array")
    } else {
        let lines = serde_json::Deserializer::from_slice(real).into_iter();
        lines.map(|line| line.expect("each line is JSON")).collect()
    };
    let between: &[u8] = if array { b"," } else { b"\n" };
    let mut put = |text: &[u8]| out.write_all(text).expect("there is room for the file");
    put(if array { b"[" } else { b"" });
    let (mut written, mut at) = (0, 0);
    while written < bytes {
        let of = at % records.len();
        rename(&mut records[of], at);
        let text = serde_json::to_vec(&records[of]).expect("it was JSON");
        put(if at == 0 { b"" } else { between });
        put(&text);
        (written, at) = (written + text.len() + 1, at + 1);
    }
    put(if array { b"]\n" } else { b"\n" });
}

/// Native lines of 40 steps of 700 bytes, so many rollouts to a task.
pub fn short_steps(out: &mut dyn Write, rollouts: u64, bytes: usize) {
    let mut dice = Dice(0x1357_9bdf_0246_8ace);
    let (mut written, mut at) = (0, 0);
    while written < bytes {
        let mut line = format!(
            "{{\"schema\": \"credscope/1\", \"task\": \"t{}\", \"id\": \"r{at}\", \"reward\": {}, \"steps\": [",
            at / rollouts,
            dice.roll(2)
        );
        for step in 0..40 {
            let (n, file) = (dice.roll(400), dice.roll(12));
            let (tool, args) = match step % 5 {
                0 => ("execute_bash", format!("\"command\": \"grep -rn name_{n} src/\"")),
                1 => (
                    "execute_bash",
                    format!("\"command\": \"sed -n {n},{}p src/mod_{file}.py\"", n + 40),
                ),
                2 => (
                    "execute_bash",
                    format!("\"command\": \"python -m pytest tests/test_{n}.py -x -q\""),
                ),
                3 => (
                    "str_replace_editor",
                    format!(
                        "\"command\": \"str_replace\", \"path\": \"src/mod_{file}.py\", \"old_str\": \"value = {n}\", \"new_str\": \"value = {}\"",
                        n + 1
                    ),
                ),
                _ => ("execute_bash", format!("\"command\": \"cat src/mod_{file}.py\"")),
            };
            line.push_str(if step == 0 { "" } else { ", " });
            line.push_str(&format!("{{\"thought\": \"look\", \"tool\": \"{tool}\", \"args\": {{{args}}}, \"exit_code\": {}, \"observation\": \"", u8::from(n % 5 == 0)));
            output(&mut dice, 500, false, &mut line);
            line.push_str("\"}");
        }
        line.push_str("]}\n");
        out.write_all(line.as_bytes()).expect("there is room for the file");
        written += line.len();
        at += 1;
    }
}

/// One ROLL dump on one line: five columns, of which two hold JSON as text; eight rollouts to a task.
pub fn roll(out: &mut dyn Write, bytes: usize) {
    const ROW: usize = 32_000;
    let mut dice = Dice(0x2468_ace0_1357_9bdf);
    let rows = bytes / ROW;
    let mut column = |name: &str, cell: &mut dyn FnMut(usize) -> String| {
        let begin = if name == "trajectory_data" { "{" } else { ", " };
        write!(out, "{begin}\"{name}\": [").expect("there is room for the file");
        for at in 0..rows {
            let comma = if at == 0 { "" } else { ", " };
            write!(out, "{comma}{}", cell(at)).expect("there is room for the file");
        }
        out.write_all(b"]").expect("there is room for the file");
    };
    column("trajectory_data", &mut |at| {
        let (group, reward) = (at / 8, at % 3 % 2);
        let data = format!(
            "{{\"trajectory_id\": \"SWE_{at}\", \"current_step\": 7, \"env_info\": {{\"env_id\": {at}, \"group_id\": {group}, \"tag\": \"SWE\", \"seed\": 1, \"episode_id\": 0}}, \"reward_info\": {{\"episode_reward\": {reward}.0, \"step_rewards\": [{}{reward}.0], \"final_reward\": {reward}.0}}, \"failure_info\": {{\"stop_reason\": \"FINISH\"}}, \"length_info\": {{\"truncated\": false}}}}",
            "0.0, ".repeat(15)
        );
        Value::from(data).to_string()
    });
    column("messages", &mut |at| {
        let mut list = String::from("[[{\"role\": \"user\", \"content\": \"");
        output(&mut dice, 1500, false, &mut list);
        list.push_str("\"}");
        for step in 0..16 {
            let (action, frame) = call(&mut dice, step);
            list.push_str(&format!(
                ", {{\"role\": \"assistant\", \"content\": \"look {action}\"}}, {{\"role\": \"user\", \"content\": \"{frame}"
            ));
            output(&mut dice, 1500, at % 2 == 1, &mut list);
            list.push_str("\"}");
        }
        list.push_str("]]");
        Value::from(list).to_string()
    });
    column("tools", &mut |_| "\"[]\"".to_owned());
    column("exp_name", &mut |_| "\"exp\"".to_owned());
    column("global_step", &mut |_| "7".to_owned());
    out.write_all(b"}\n").expect("there is room for the file");
}
