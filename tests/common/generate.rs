//! Makes big inputs: files in the R2E-Gym format, documents of tau2-bench, groups in the native one.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// Writes rollouts of 8 steps, 8 to a task, until the file has `bytes`; half of the observations are
/// full of escapes. Returns the number of rollouts.
pub fn r2e(path: &Path, bytes: u64) -> u64 {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let (mut written, mut rollouts) = (0, 0_u64);
    while written < bytes {
        let mut steps = Vec::new();
        for t in 0..8 {
            let line = if (rollouts + t) % 2 == 0 {
                "def f(x):\\n    return \\\"a\\\" + \\u00e9\\n\\t"
            } else {
                "a plain line of output without anything to escape in it, "
            };
            let action = match t % 4 {
                0 => format!("<function=execute_bash>\\n  <parameter=cmd>grep -rn name{} src</parameter>\\n</function>", rollouts % 5),
                1 => format!("<function=file_editor>\\n  <parameter=command>view</parameter>\\n  <parameter=path>/testbed/src/m{}.py</parameter>\\n</function>", rollouts % 7),
                2 => format!("<function=file_editor>\\n  <parameter=command>str_replace</parameter>\\n  <parameter=path>/testbed/src/m{}.py</parameter>\\n  <parameter=old_str>a</parameter>\\n  <parameter=new_str>b{}</parameter>\\n</function>", rollouts % 7, rollouts % 11),
                _ => "<function=execute_bash>\\n  <parameter=cmd>python -m pytest -q tests</parameter>\\n</function>".to_owned(),
            };
            steps.push(format!(
                r#"{{"step_idx":{t},"thought":"I look at it.","action":"{action}","observation":"Exit code: 0\nExecution output of [execute_bash]:\n{}","done":false,"info":{{"total_time":0.1}}}}"#,
                line.repeat(200)
            ));
        }
        let record = format!(
            r#"{{"trajectory_steps":[{}],"problem_statement":"p","docker_image":"img:{task}","exp_name":"run-{rollouts}","env_args":{{}},"agent_args":{{"llm_name":"m"}},"ds":{{"instance_id":"task-{task}"}},"max_steps":40,"exit_reason":"agent","output_patch":"","reward":{}}}"#,
            steps.join(","),
            if rollouts % 3 == 0 { "1.0" } else { "0.0" },
            task = rollouts / 8,
        );
        writeln!(out, "{record}").unwrap();
        written += record.len() as u64 + 1;
        rollouts += 1;
    }
    out.flush().unwrap();
    rollouts
}

/// Writes rollouts of 400 steps with 7.5 KB of observation each, all of one group, a line of 3 MB each,
/// until the file has `bytes`. Returns the number of rollouts.
pub fn native_long(path: &Path, bytes: u64) -> u64 {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let (mut written, mut rollouts) = (0, 0_u64);
    let seen = "a line of what was seen \\n".repeat(300);
    while written < bytes {
        let step = |t: u64| {
            let command = format!("cat src/m{}.py", (rollouts + t) % 40);
            format!(r#"{{"tool":"bash","args":{{"command":"{command}"}},"observation":"{seen}"}}"#)
        };
        let steps = (0..400).map(step).collect::<Vec<_>>().join(",");
        let reward = rollouts % 2;
        let record = format!(
            r#"{{"schema":"credscope/1","task":"t","id":"r{rollouts}","reward":{reward},"steps":[{steps}]}}"#
        );
        writeln!(out, "{record}").unwrap();
        written += record.len() as u64 + 1;
        rollouts += 1;
    }
    out.flush().unwrap();
    rollouts
}

/// A group of coding rollouts in the native format, seeded: agents that view, search, edit, test and run
/// on forty files, alike in their first steps.
pub fn coding(rollouts: usize, steps: usize) -> String {
    let mut seed = 7_u64;
    let mut random = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let mut list = Vec::new();
    for i in 0..rollouts {
        let mut made = Vec::new();
        for t in 0..steps {
            // Early steps are alike across rollouts, as they are in real groups.
            let file = if t < 4 { random(3) } else { random(40) };
            let args = match random(6) {
                0 | 1 => format!(
                    r#""tool":"str_replace_editor","args":{{"command":"view","path":"/testbed/src/m{file}.py","view_range":[{},{}]}},"observation":"1 x""#,
                    1 + 100 * random(5),
                    100 + 100 * random(6)
                ),
                2 => format!(
                    r#""tool":"str_replace_editor","args":{{"command":"str_replace","path":"/testbed/src/m{file}.py","old_str":"a{}","new_str":"b{}"}},"observation":"The file has been edited.""#,
                    random(9),
                    random(9)
                ),
                3 => format!(
                    r#""tool":"execute_bash","args":{{"command":"grep -rn name{} src"}},"observation":"src/m1.py:1:x","exit_code":0"#,
                    random(9)
                ),
                4 => format!(
                    r#""tool":"execute_bash","args":{{"command":"python -m pytest -q tests/test_m{file}.py"}},"observation":"{}","exit_code":{}"#,
                    if random(2) == 0 { "3 passed" } else { "1 failed" },
                    random(2)
                ),
                _ => format!(
                    r#""tool":"execute_bash","args":{{"command":"python repro{}.py"}},"observation":"ok","exit_code":0"#,
                    random(5)
                ),
            };
            made.push(format!("{{{args}}}"));
        }
        let mut rollout = String::new();
        let outcome = if random(2) == 0 { "success" } else { "failure" };
        let _ = write!(
            rollout,
            r#"{{"id":"r{i}","outcome":"{outcome}","steps":[{}]}}"#,
            made.join(",")
        );
        list.push(rollout);
    }
    format!(r#"{{"schema":"credscope/1","task":"bench","rollouts":[{}]}}"#, list.join(","))
}

/// Writes one document with simulations of 8 calls, 8 to a task, until the file has `bytes`; what holds
/// for all of them stands after them. Returns the number of rollouts.
pub fn tau2(path: &Path, bytes: u64) -> u64 {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let (mut written, mut rollouts) = (0, 0_u64);
    write!(out, "{{\n \"timestamp\": \"t\",\n \"simulations\": [").unwrap();
    while written < bytes {
        let mut messages =
            vec![r#"{"role":"user","content":"hello","tool_calls":null}"#.to_owned()];
        for t in 0..8 {
            let line = if (rollouts + t) % 2 == 0 {
                "{\\\"id\\\": \\\"\\u00e9\\\", \\n\\t[}"
            } else {
                "a plain line of output without anything to escape in it, "
            };
            messages.push(format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{t}","name":"get_order","arguments":{{"order":"R{}"}},"requestor":"assistant"}}]}}"#,
                (rollouts + t) % 5
            ));
            messages.push(format!(
                r#"{{"role":"tool","id":"c{t}","requestor":"assistant","error":false,"content":"{}"}}"#,
                line.repeat(100)
            ));
        }
        let simulation = format!(
            "{}\n  {{\"id\":\"s{rollouts}\",\"task_id\":\"{}\",\"termination_reason\":\"user_stop\",\"reward_info\":{{\"reward\":{}}},\"messages\":[\n{}]}}",
            if rollouts == 0 { "" } else { "," },
            rollouts / 8,
            if rollouts % 3 == 0 { "1.0" } else { "0.0" },
            messages.join(",\n"),
        );
        write!(out, "{simulation}").unwrap();
        written += simulation.len() as u64;
        rollouts += 1;
    }
    write!(
        out,
        "\n ],\n \"info\": {{\"environment_info\": {{\"domain_name\": \"retail\"}}}},\n \"tasks\": []\n}}\n"
    )
    .unwrap();
    out.flush().unwrap();
    rollouts
}
