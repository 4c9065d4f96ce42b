//! Rollouts of command lines and tool calls, read into facts. Expectations are written by hand.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::{Arc, LazyLock};

use credscope::facts::Interpreter;
use credscope::profile::Profiles;
use credscope::rollout::RolloutFacts;
use credscope::rollout::facts::{Category, Extent, Fact, Flags, StepResult};
use credscope::rollout::raw::{Ending, RawArgs, RawKind, RawRollout, RawStep};
use proptest::prelude::*;
use serde_json::{Value, json};

static PROFILES: LazyLock<Arc<Profiles>> = LazyLock::new(|| Arc::new(Profiles::builtin()));

fn call(tool: &str, args: &Value, observation: &str) -> RawStep {
    RawStep {
        tool: Some(tool.to_owned()),
        args: RawArgs::Object(args.as_object().unwrap().clone()),
        observation: Some(observation.to_owned()),
        ..RawStep::default()
    }
}

fn line(command: &str, code: i64, observation: &str) -> RawStep {
    RawStep { exit_code: Some(code), ..call("bash", &json!({ "command": command }), observation) }
}

fn text(thought: &str) -> RawStep {
    RawStep { kind: RawKind::Text, thought: thought.to_owned(), ..RawStep::default() }
}

fn read(format: &str, harness: Option<&str>, steps: Vec<RawStep>) -> RolloutFacts {
    let raw = RawRollout { harness: harness.map(str::to_owned), steps, ..RawRollout::default() };
    Interpreter::new(Arc::clone(&PROFILES)).read(format, &raw)
}

fn shape(facts: &RolloutFacts, fact: &Fact) -> String {
    let names: Vec<&str> =
        facts.table.targets_of(fact).iter().map(|&s| facts.symbols.text(s)).collect();
    format!("{} {} {}", fact.category.name(), facts.symbols.text(fact.op), names.join("+"))
}

fn actions(facts: &RolloutFacts) -> Vec<String> {
    facts.table.steps.iter().map(|s| shape(facts, &s.action)).collect()
}

fn effects(facts: &RolloutFacts, step: usize) -> Vec<String> {
    facts.table.effects_of(&facts.table.steps[step]).iter().map(|f| shape(facts, f)).collect()
}

/// Lines that all end with code 0 and print nothing.
fn lines(commands: &[&str]) -> RolloutFacts {
    read("native", None, commands.iter().map(|c| line(c, 0, "")).collect())
}

#[test]
fn what_a_line_does() {
    let rows = [
        ("python -m pip install x", "install pip "),
        ("which pip3 && pip3 install x", "install pip3 "),
        ("apt-get update && apt-get install -y x", "install apt "),
        ("pip show astropy", "execute pip "),
        ("PYTHONPATH=. python x.py", "execute python x.py"),
        ("./run.sh --fast", "execute run.sh run.sh"),
        ("bash -lc 'cd src && pytest -x tests/'", "test pytest src/tests"),
        ("pytest tests/test_a.py::T::test_b", "test pytest tests/test_a.py"),
        ("cat > t.py <<'EOF' && python t.py\nprint(1)\nEOF", "execute python t.py"),
        ("echo '=== a ===' && cat a.py", "view cat a.py"),
        ("cat a.py | grep x", "search grep a.py"),
        ("find src -name '*.py' | xargs grep -l foo", "search grep src"),
        ("find src -type f -exec grep -l foo {} \\;", "search grep src"),
        ("find . -name '*.pyc' -delete", "fileop rm "),
        ("git diff > patch.txt", "execute git "),
        ("git grep foo src", "search grep src"),
        ("git checkout -b fix", "execute git "),
        ("git reset HEAD a.py", "execute git "),
        ("sed 's/a/b/' x.py > y.py", "create write y.py"),
        ("> empty.txt", "create write empty.txt"),
        ("printf 'a' | sudo tee -a notes.md", "modify insert notes.md"),
        ("pytest | tee log.txt", "test pytest "),
        ("git apply <<'EOF'\n--- a/q.py\n+++ b/q.py\nEOF", "modify replace q.py"),
        ("for f in a b; do sed -i 's/x/y/' $f; done", "modify replace "),
        ("make -C build -j4", "execute make "),
        ("cd /testbed", "execute cd "),
        ("export A=1", "execute export "),
        ("python3 -m pip list | grep -i erfa", "execute pip "),
        ("python -m sqlfluff fix x.sql", "execute python "),
    ];
    let facts = lines(&rows.map(|(command, _)| command));
    for ((command, expected), action) in rows.iter().zip(actions(&facts)) {
        assert_eq!(&action, expected, "{command}");
    }
}

#[test]
fn which_lines_of_a_file_a_line_shows() {
    let rows = [
        ("cat a.py", Extent::Full),
        ("cat a.py | head -20", Extent::Lines(1, 20)),
        ("head a.py", Extent::Lines(1, 10)),
        ("head -n 5 a.py", Extent::Lines(1, 5)),
        ("head -c 100 a.py", Extent::None),
        ("tail -n +30 a.py", Extent::From(30)),
        ("tail -20 a.py", Extent::None),
        ("sed -n '5,9p' a.py", Extent::Lines(5, 9)),
        ("cat -n a.py | sed -n '10,20p'", Extent::Lines(10, 20)),
        ("sed -n '1,$p' a.py", Extent::Full),
        ("awk 'NR>=3 && NR<=9' a.py", Extent::Lines(3, 9)),
        ("cat a.py | wc -l", Extent::None),
        ("sed -n '1,5p' a.py; sed -n '50,60p' a.py", Extent::None),
    ];
    let facts = lines(&rows.map(|(command, _)| command));
    for ((command, expected), step) in rows.iter().zip(&facts.table.steps) {
        assert_eq!(step.action.category, Category::View, "{command}");
        assert_eq!(step.action.extent, *expected, "{command}");
    }
}

#[test]
fn exit_codes_speak_only_where_they_can() {
    let rows = [
        ("python x.py", 1, "", StepResult::Error, false),
        ("python x.py 2>&1 | tail -5", 0, "fine", StepResult::Unknown, true),
        ("python x.py | tail", 0, "Traceback (most recent call last):\n", StepResult::Error, true),
        ("set -o pipefail; python x.py | tail", 1, "", StepResult::Error, false),
        ("python x.py; echo done", 0, "done", StepResult::Unknown, true),
        ("python x.py && echo done", 0, "done", StepResult::Ok, false),
        ("python x.py && ls nothing", 2, "", StepResult::Unknown, true),
        ("python x.py || true", 0, "", StepResult::Unknown, true),
        ("python server.py &", 0, "", StepResult::Unknown, true),
        ("grep x a.py", 1, "", StepResult::Ok, false),
        ("grep x a.py", 2, "grep: a.py: No such file or directory", StepResult::Error, false),
        ("find /opt -name x", 1, "", StepResult::Error, false),
        ("pytest", 0, "2 passed in 0.1s", StepResult::Ok, false),
        ("pytest", 0, "1 failed in 0.1s", StepResult::Error, true),
        ("pytest", 1, "", StepResult::Error, false),
        ("timeout 5 python x.py", 124, "", StepResult::Timeout, false),
        ("python x.py", 137, "Killed", StepResult::Killed, false),
    ];
    let steps = rows.iter().map(|(c, code, out, ..)| line(c, *code, out)).collect();
    let facts = read("native", None, steps);
    for ((command, _, out, result, masked), step) in rows.iter().zip(&facts.table.steps) {
        assert_eq!(step.action.result, *result, "{command} {out}");
        assert_eq!(step.action.flags.has(Flags::MASKED), *masked, "{command} {out}");
    }
}

#[test]
fn removing_moving_and_taking_back() {
    let facts = lines(&[
        "echo 1 > new.py",
        "sed -i 's/a/b/' old.py",
        "rm new.py",
        "rm other.py",
        "cp old.py copy.py",
        "mv copy.py sub/",
        "git checkout untouched.py",
        "git checkout .",
        "git stash pop",
        "mkdir x",
        "echo 2 > new.py",
    ]);
    assert_eq!(effects(&facts, 2), ["modify revert new.py"]);
    assert_eq!(actions(&facts)[2], "fileop rm new.py");
    assert_eq!(effects(&facts, 3), ["fileop rm other.py"]);
    let removed = &facts.table.effects_of(&facts.table.steps[3])[0];
    assert!(removed.flags.has(Flags::DELETE));
    assert_eq!(effects(&facts, 4), ["create write copy.py"]);
    assert_eq!(effects(&facts, 5), ["fileop mv copy.py", "create write sub/copy.py"]);
    let flags: Vec<Flags> = facts.table.steps.iter().map(|s| s.action.flags).collect();
    assert!(flags[6].has(Flags::REVERT.with(Flags::NO_OP)));
    // What was made here is not git's to take back.
    assert_eq!(actions(&facts)[7], "modify revert old.py");
    assert!(!flags[7].has(Flags::NO_OP));
    assert!(flags[8].has(Flags::UNSTASH.with(Flags::NO_OP)));
    assert!(effects(&facts, 9).is_empty());
    assert_eq!(actions(&facts)[10], "create write new.py", "a removed file is made anew");
}

#[test]
fn undo_takes_one_edit_back() {
    let edit = |old: &str, new: &str| {
        let args = json!({"command": "str_replace", "path": "/testbed/a.py", "old_str": old, "new_str": new});
        call("str_replace_editor", &args, "The file /testbed/a.py has been edited.")
    };
    let undo = || {
        let args = json!({"command": "undo_edit", "path": "/testbed/a.py"});
        call("str_replace_editor", &args, "Last edit undone.")
    };
    let facts = read("native", None, vec![edit("a", "b"), edit("c", "d"), undo(), undo(), undo()]);
    let flags: Vec<Flags> = facts.table.steps.iter().map(|s| s.action.flags).collect();
    assert_eq!(actions(&facts)[2], "modify revert a.py");
    assert!(flags[2].has(Flags::REVERT.with(Flags::UNDO)) && !flags[3].has(Flags::NO_OP));
    assert!(flags[4].has(Flags::NO_OP));
}

#[test]
fn a_range_that_covers_the_known_length_is_the_whole_file() {
    let view = |range: Value, shown: &str| {
        let args = json!({"command": "view", "path": "/testbed/a.py", "view_range": range});
        call("str_replace_editor", &args, shown)
    };
    let edit =
        json!({"command": "str_replace", "path": "/testbed/a.py", "old_str": "x", "new_str": "y"});
    let facts = read(
        "native",
        None,
        vec![
            view(json!([1, 3]), "     1\tx\n     2\ty\n     3\tz\n"),
            view(Value::Null, "     1\tx\n     2\ty\n     3\tz\n"),
            view(json!([1, 3]), "     1\tx\n"),
            view(json!([1, 2]), "     1\tx\n"),
            call("str_replace_editor", &edit, "edited"),
            view(json!([1, 3]), "     1\tx\n"),
        ],
    );
    let extents: Vec<Extent> = facts.table.steps.iter().map(|s| s.action.extent).collect();
    assert_eq!(extents[0], Extent::Lines(1, 3), "the length is not known yet");
    assert_eq!(extents[1..4], [Extent::Full, Extent::Full, Extent::Lines(1, 2)]);
    assert_eq!(extents[5], Extent::Lines(1, 3), "the edit may have changed the length");
}

/// Equal deeds of four harnesses are equal facts, the name of the program apart.
#[test]
fn harnesses_meet() {
    let file = "/testbed/astropy/modeling/separable.py";
    let claude = read(
        "nemo-gym",
        Some("anyswe_claude_code"),
        vec![
            call("Read", &json!({"file_path": file}), "1\ta\n2\tb"),
            call(
                "Edit",
                &json!({"file_path": file, "old_string": "a", "new_string": "b"}),
                "updated",
            ),
            call(
                "Bash",
                &json!({"command": "cd /testbed && pytest x.py"}),
                "Exit code 1\n1 failed",
            ),
            call("Bash", &json!({"command": "git status"}), "clean"),
        ],
    );
    let opencode = read(
        "nemo-gym",
        Some("anyswe_opencode"),
        vec![
            call(
                "read",
                &json!({"filePath": file}),
                "<path>x</path>\n<type>file</type>\n<content>\n1: a",
            ),
            call(
                "edit",
                &json!({"filePath": file, "oldString": "a", "newString": "b"}),
                "Edit applied successfully.",
            ),
            call("bash", &json!({"command": "pytest x.py"}), "1 failed"),
        ],
    );
    let hermes = read(
        "nemo-gym",
        Some("anyswe_hermes"),
        vec![
            call(
                "terminal",
                &json!({"command": format!("cat {file}")}),
                r#"{"output": "a", "exit_code": 0, "error": null}"#,
            ),
            call(
                "patch",
                &json!({"mode": "replace", "path": file, "old_string": "a", "new_string": "b"}),
                r#"{"success": true}"#,
            ),
            call(
                "terminal",
                &json!({"command": "python -m pytest ./x.py"}),
                r#"{"output": "x\n1 failed", "exit_code": 1, "error": null}"#,
            ),
        ],
    );
    let r2e = read(
        "r2e-gym",
        None,
        vec![
            call(
                "file_editor",
                &json!({"command": "view", "path": file, "view_range": "[1, -1]"}),
                "Execution output of [file_editor]:\n1\ta",
            ),
            call(
                "file_editor",
                &json!({"command": "str_replace", "path": file, "old_str": "a", "new_str": "b"}),
                "Execution output of [file_editor]:\nThe file has been edited.",
            ),
            call(
                "execute_bash",
                &json!({"cmd": "pytest x.py"}),
                "Exit code: Error: Exit code 1\nExecution output of [execute_bash]:\n1 failed",
            ),
        ],
    );
    for facts in [&claude, &opencode, &hermes, &r2e] {
        for step in 0..3 {
            let (a, b) = (&claude.table.steps[step].action, &facts.table.steps[step].action);
            assert_eq!((a.category, a.extent, a.result), (b.category, b.extent, b.result));
            assert_eq!(a.edit.map(|e| claude.table.edit(e)), b.edit.map(|e| facts.table.edit(e)));
            let names = |f: &RolloutFacts, fact: &Fact| {
                f.table
                    .targets_of(fact)
                    .iter()
                    .map(|&s| f.symbols.text(s).to_owned())
                    .collect::<Vec<_>>()
            };
            assert_eq!(names(&claude, a), names(facts, b));
        }
        assert_eq!(facts.table.steps[2].action.result, StepResult::Error);
    }
    // Claude Code prints a code only when a command fails.
    assert_eq!(claude.table.steps[3].action.result, StepResult::Ok);
}

#[test]
fn offsets_and_limits_are_ranges() {
    let view = |args: Value| call("Read", &args, "1\ta");
    let facts = read(
        "messages",
        None,
        vec![
            view(json!({"file_path": "a", "offset": 100, "limit": 50})),
            view(json!({"file_path": "a", "limit": 50})),
            view(json!({"file_path": "a", "offset": 20})),
        ],
    );
    let extents: Vec<Extent> = facts.table.steps.iter().map(|s| s.action.extent).collect();
    assert_eq!(extents, [Extent::Lines(100, 149), Extent::Lines(1, 50), Extent::From(20)]);
}

#[test]
fn a_persistent_shell_stays_where_it_is() {
    let steps = || vec![line("cd /testbed/src && ls", 0, "a"), line("cat a.py", 0, "x")];
    assert_eq!(actions(&read("swe-agent", None, steps()))[1], "view cat src/a.py");
    assert_eq!(actions(&read("mini-swe-agent", None, steps()))[1], "view cat a.py");
    let failing = vec![line("cd src && pytest", 1, "1 failed"), line("cat a.py", 0, "x")];
    assert_eq!(actions(&read("swe-agent", None, failing))[1], "view cat src/a.py");
    let nowhere = vec![line("cd src", 1, "bash: cd: src: No such file"), line("cat a.py", 0, "x")];
    assert_eq!(actions(&read("swe-agent", None, nowhere))[1], "view cat a.py");
    let said = read("swe-agent", None, vec![line("echo a; echo b", 0, "a\nb")]);
    assert_eq!(effects(&said, 0), ["execute echo "]);
}

#[test]
fn an_editor_with_a_window() {
    let facts = read(
        "swe-agent",
        None,
        vec![
            line(
                "open src/f.py 3",
                0,
                "[File: /testbed/src/f.py (9 lines total)]\n(1 more lines above)\n2:a\n3:b\n(6 more lines below)",
            ),
            call(
                "bash",
                &json!({"command": "edit 3:3\nx\nend_of_edit"}),
                "Your proposed edit has introduced new syntax error(s).",
            ),
            call(
                "bash",
                &json!({"command": "edit 3:3\n  x\nend_of_edit\n"}),
                "[File: /testbed/src/f.py (9 lines total)]",
            ),
            call("bash", &json!({"command": "submit"}), "diff --git"),
        ],
    );
    assert_eq!(
        actions(&facts),
        ["view open src/f.py", "modify replace src/f.py", "modify replace src/f.py", "finish  "]
    );
    assert_eq!(facts.table.steps[0].action.extent, Extent::Lines(2, 3));
    assert_eq!(facts.table.steps[1].action.result, StepResult::Error);
    assert!(facts.table.steps[1].action.flags.has(Flags::INVALID));
}

#[test]
fn text_turns() {
    let view = || call("view", &json!({"path": "a"}), "x");
    let categories = |facts: &RolloutFacts| {
        facts.table.steps.iter().map(|s| s.action.category).collect::<Vec<_>>()
    };
    let closing = read("native", None, vec![view(), text("done")]);
    assert_eq!(categories(&closing), [Category::View, Category::Finish]);
    assert!(closing.table.steps[1].action.flags.has(Flags::IMPLICIT_FINISH));
    let empty = read("native", None, vec![view(), text("  ")]);
    assert_eq!((categories(&empty), empty.raw_index), (vec![Category::View], vec![0]));
    let raw = RawRollout {
        steps: vec![view(), text("go")],
        ending: Ending::Limit("max_steps".to_owned()),
        ..RawRollout::default()
    };
    let cut = Interpreter::new(Arc::clone(&PROFILES)).read("native", &raw);
    assert_eq!(categories(&cut), [Category::View, Category::Invalid]);
    let claude =
        read("claude-code", None, vec![text("hm"), call("Bash", &json!({"command": "ls"}), "a")]);
    assert_eq!(categories(&claude)[0], Category::Think);
    let told = RawStep { told_to_continue: true, ..text("hm") };
    let told = read("claude-code", None, vec![told, call("Bash", &json!({"command": "ls"}), "a")]);
    assert_eq!(categories(&told)[0], Category::Invalid);
    let tau = read("tau-bench", None, vec![text("Hello"), text("Bye")]);
    assert_eq!(categories(&tau), [Category::Respond, Category::Respond]);
}

#[test]
fn tau_calls() {
    let book = json!({"user_id": "mia_li", "total": 3.0});
    let facts = read(
        "tau-bench",
        None,
        vec![
            call("book_reservation", &book, "Error: payment amount does not add up"),
            call("get_user_details", &json!({"user_id": "mia_li"}), "{}"),
            call("transfer_to_human_agents", &json!({"summary": "x"}), "Transfer successful"),
        ],
    );
    let steps = &facts.table.steps;
    let state: Vec<bool> = steps.iter().map(|s| s.action.flags.has(Flags::STATE_TOOL)).collect();
    assert_eq!(state, [true, false, false]);
    assert!(steps[0].action.flags.has(Flags::TOOL_ERROR));
    assert_eq!(steps[0].action.result, StepResult::Error);
    assert_eq!(facts.symbols.text(steps[0].brief), "total=3, user_id=mia_li");
    assert_eq!(facts.symbols.text(steps[1].tool), "get_user_details");
    assert_eq!((facts.coding_calls, facts.calls), (0, 3));
    let same = read(
        "tau-bench",
        None,
        vec![call("book_reservation", &json!({"total": 3, "user_id": "mia_li"}), "")],
    );
    assert_eq!(same.table.steps[0].call, steps[0].call);
}

#[test]
fn actions_of_text_environments_stand_in_the_text() {
    let turn = |thought: &str, shown: &str| RawStep {
        observation: Some(shown.to_owned()),
        ..text(thought)
    };
    let facts = read(
        "verifiers",
        None,
        vec![
            turn("maybe <link>3</link>, no: <link>15</link>", "Current article: Plant\nStep: 1"),
            turn("<link>15</link>", ""),
        ],
    );
    assert_eq!(facts.profile, "text");
    let [first, second] = facts.table.steps.as_slice() else { panic!() };
    assert_eq!(facts.symbols.text(first.tool), "15");
    assert_eq!(first.call, second.call);
    assert_eq!(facts.symbols.text(first.page), "Plant");
}

#[test]
fn codex_patches() {
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** Delete File: c.py\n*** End Patch";
    let facts = read(
        "codex",
        None,
        vec![call(
            "apply_patch",
            &json!({"input": patch}),
            "Success. Updated the following files:",
        )],
    );
    assert_eq!(effects(&facts, 0), ["modify replace a.py", "create write b.py", "fileop rm c.py"]);
    let words = json!({"command": ["bash", "-lc", "sed -n '1,5p' a.py"]});
    let facts = read(
        "codex",
        None,
        vec![call("shell", &words, r#"{"output": "x", "metadata": {"exit_code": 0}}"#)],
    );
    assert_eq!(actions(&facts), ["view sed a.py"]);
    assert_eq!(facts.table.steps[0].action.result, StepResult::Ok);
}

#[test]
fn exit_codes_in_frames_are_found() {
    let profiles = Arc::clone(&PROFILES);
    let rows = [
        ("r2e-gym", "Exit code: 0\nExecution output of [execute_bash]:\n", Some(0)),
        ("r2e-gym", "Exit code: Error: Exit code 2\nExecution output", Some(2)),
        ("r2e-gym", "Exit code: -1\n", Some(-1)),
        ("mini-swe-agent", "<returncode>127</returncode>\n<output>\n", Some(127)),
        ("hermes", r#"{"output": "x", "exit_code": 126, "error": null}"#, Some(126)),
        ("claude-code", "Exit code 1\nTraceback", Some(1)),
        ("openhands", "x\n[The command completed with exit code 3.]", Some(3)),
        ("opencode", "nothing said", None),
    ];
    for (profile, observation, expected) in rows {
        let profile = profiles.get(profile).unwrap();
        assert_eq!(
            credscope::facts::framed_exit_code(profile, observation),
            expected,
            "{observation}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// No text makes the reading fail, and all references hold.
    #[test]
    fn any_text_is_read(
        commands in proptest::collection::vec("[ -~\n]{0,60}|(cat|sed -i|git|<<EOF|>|\\||&&|'|\"|;|\\$\\(|a\\.py| |\n|EOF|rm|echo|bash -c|\\(|\\)|\\{|-n){0,14}|\\PC{0,20}", 1..6),
        observation in "\\PC{0,80}",
    ) {
        let steps: Vec<RawStep> = commands.iter().map(|c| line(c, 1, &observation)).collect();
        let count = steps.len();
        let facts = read("swe-agent", None, steps.clone());
        prop_assert_eq!(facts.table.steps.len(), count);
        for step in &facts.table.steps {
            prop_assert!(step.effects.0 <= step.effects.1);
            prop_assert!(step.effects.1 as usize <= facts.table.effects.len());
            for fact in facts.table.effects_of(step).iter().chain([&step.action]) {
                prop_assert_eq!(facts.table.targets_of(fact).len(), fact.targets.len as usize);
                prop_assert!(fact.edit.is_none_or(|e| facts.table.edit(e).is_some()));
            }
        }
        let again = read("swe-agent", None, steps);
        prop_assert_eq!(again.table.steps, facts.table.steps);
    }
}
