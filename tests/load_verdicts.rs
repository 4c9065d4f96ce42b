//! Verdicts that are written unlike they should be: reports, summaries under other names, broken maps.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::fs;

use credscope::load::{LoadError, LoadOptions, Loaded, VerdictKind};
use credscope::rollout::Outcome;
use load_common::{evaluated, load_with};

const RUN: [&str; 2] = ["run_1/a__a-1", "run_1/b__b-2"];

fn verdict(loaded: &Loaded, task: &str) -> (Outcome, String) {
    let group = loaded.corpus.groups.iter().find(|g| g.key.task == task).unwrap();
    (group.rollouts[0].outcome, group.rollouts[0].outcome_source.clone())
}

fn warning(loaded: &Loaded, code: &str) -> (String, String) {
    let warning = loaded.report.warning(code);
    let warning = warning.unwrap_or_else(|| panic!("{code}: {:?}", loaded.report.warnings));
    (warning.text.clone(), warning.hint.clone().unwrap_or_default())
}

#[test]
fn a_verdict_as_text_or_number_is_taken_and_noted() {
    for (given, outcome, why) in [
        (r#""true""#, Outcome::Success, r#"the text "true" was read as true"#),
        (r#""False""#, Outcome::Failure, r#"the text "False" was read as false"#),
        ("1", Outcome::Success, "1 was read as true"),
        ("0.0", Outcome::Failure, "0.0 was read as false"),
    ] {
        for (text, field) in [
            (format!(r#"{{"a__a-1":{{"resolved":{given}}}}}"#), "a__a-1.resolved"),
            (format!(r#"{{"resolved":{given},"patch_exists":true}}"#), "resolved"),
        ] {
            let place = "logs/a__a-1/report.json";
            let loaded = evaluated(&RUN, &[(place, &text)]);
            let want = (outcome, format!("{place}: resolved"));
            assert_eq!(verdict(&loaded, "a__a-1"), want, "{text}");
            let notes: Vec<_> =
                loaded.report.notes.iter().map(|n| (&*n.file, &*n.field, &*n.reason)).collect();
            assert_eq!(notes, [(place, field, why)], "{text}");
            assert_eq!(
                warning(&loaded, "coerced").0.split("first: ").nth(1).unwrap(),
                format!("{place}, document 1, `{field}`: {why}")
            );
            assert_eq!(loaded.report.partial(), None);
        }
    }
}

#[test]
fn a_verdict_that_is_left_open_gives_none_and_says_why() {
    let report = r#"{"a__a-1":{"patch_exists":true,"resolved":null}}"#;
    let place = "logs/a__a-1/report.json";
    let loaded = evaluated(&RUN, &[(place, report)]);
    let want = (Outcome::Unscored, format!("{place}: `resolved` is null"));
    assert_eq!(verdict(&loaded, "a__a-1"), want);
    assert_eq!(loaded.report.partial(), None);
    // Another file that knows it counts, and is not contradicted.
    let summary = r#"{"resolved_ids":["a__a-1"],"unresolved_ids":["b__b-2"]}"#;
    let loaded = evaluated(&RUN, &[(place, report), ("m.run_1.json", summary)]);
    assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Success);
    assert!(loaded.report.warning("verdicts-disagree").is_none());
}

#[test]
fn a_verdict_that_is_none_is_told_with_file_and_field() {
    let told = "field `a__a-1.resolved`: true or false was expected, `\"maybe\"` stands there";
    let hint = "write true or false there, or give the verdict with `--outcomes FILE`";
    let place = "logs/a__a-1/report.json";
    let report = r#"{"a__a-1":{"patch_exists":true,"resolved":"maybe"}}"#;
    let loaded = evaluated(&RUN, &[(place, report)]);
    let lost = &loaded.report.not_rollouts[0];
    let want = format!("a report of an evaluation whose verdict cannot be read: {told}");
    assert_eq!((&*lost.name, lost.kind, &*lost.reason), (place, VerdictKind::Damaged, &*want));
    let (text, says) = warning(&loaded, "damaged-file");
    assert_eq!(text, format!("1 file damaged or cut: `{place}`: {want}"));
    assert_eq!(says, hint);
    assert!(loaded.report.fault().is_some());
    // One of several costs itself.
    let report =
        r#"{"a__a-1":{"patch_exists":true,"resolved":"maybe"},"b__b-2":{"resolved":true}}"#;
    let loaded = evaluated(&RUN, &[("run_1/all.report.json", report)]);
    assert_eq!(verdict(&loaded, "b__b-2").0, Outcome::Success);
    assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Unscored);
    assert!(warning(&loaded, "damaged-file").0.ends_with(&format!("as far as they go: {told}")));
}

const SUMMARY: &str =
    r#"{"resolved_ids":["a__a-1"],"unresolved_ids":["b__b-2"],"schema_version":2}"#;

#[test]
fn a_summary_whose_name_tells_no_run_is_joined_where_its_folder_holds_one_run() {
    for name in ["final.json", "run_1/evaluation-summary.json"] {
        let loaded = evaluated(&RUN, &[(name, SUMMARY)]);
        let want = (Outcome::Success, format!("{name}: resolved"));
        assert_eq!(verdict(&loaded, "a__a-1"), want);
        assert_eq!(verdict(&loaded, "b__b-2").0, Outcome::Failure);
        assert!(loaded.report.warning("join-nothing").is_none());
    }
    // One that tells the run counts before it, and one of another service tells it in its own way.
    let other = r#"{"resolved_ids":["a__a-1","b__b-2"]}"#;
    for name in ["m.run_1.json", "sb-cli-reports/swe-bench_lite__test__run_1.json"] {
        let loaded = evaluated(&RUN, &[("final.json", SUMMARY), (name, other)]);
        assert_eq!(verdict(&loaded, "b__b-2"), (Outcome::Success, format!("{name}: resolved")));
    }
}

#[test]
fn a_summary_that_is_not_joined_says_what_was_seen_and_what_to_do() {
    let two = [RUN[0], RUN[1], "run_2/a__a-1"];
    let three = [RUN[0], RUN[1], "run_1/c__c-3"];
    let give = "if it is about these rollouts, give it with `--outcomes FILE`, or call it \
                `MODEL.RUN.json` after the folder of its run";
    let check = "check that it belongs to these rollouts";
    let strange = r#"{"resolved_ids":["x__x-1"],"unresolved_ids":[]}"#;
    for (rollouts, name, text, told, hint) in [
        (
            &RUN[..],
            "m.run_9.json",
            SUMMARY,
            "2 of its 2 instances have rollouts here, but none in a folder or run called `run_9` or `m.run_9`",
            give,
        ),
        (
            &two[..],
            "final.json",
            SUMMARY,
            "2 of its 2 instances have rollouts here, but its name tells no run, and the rollouts in its \
             folder are of several runs or repeat an instance",
            give,
        ),
        (
            &three[..],
            "final.json",
            SUMMARY,
            "2 of its 2 instances have rollouts here, but its name tells no run, and it does not list 1 \
             rollout of its folder",
            give,
        ),
        (
            &RUN[..],
            "evals/final.json",
            SUMMARY,
            "2 of its 2 instances have rollouts here, but none in its folder",
            give,
        ),
        (
            &RUN[..],
            "m.run_1.json",
            strange,
            "none of the 1 instance that it names is the task, file or folder of a rollout",
            check,
        ),
    ] {
        let loaded = evaluated(rollouts, &[(name, text)]);
        assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Unscored, "{told}");
        let want = (format!("{name}: verdicts, joined to no rollout: {told}"), hint.to_owned());
        assert_eq!(warning(&loaded, "join-nothing"), want);
    }
    // What it lists without a verdict is of its run, too.
    let listed = SUMMARY.replace("\"schema_version\":2", "\"incomplete_ids\":[\"c__c-3\"]");
    let loaded = evaluated(&three, &[("final.json", &listed)]);
    assert_eq!(verdict(&loaded, "a__a-1").0, Outcome::Success);
    assert_eq!(verdict(&loaded, "c__c-3").0, Outcome::Unscored);
}

const LINES: &str = r#"{"task":"t","id":"a","steps":[{"tool":"x","args":{}}]}
{"task":"u","id":"b","steps":[{"tool":"x","args":{}}]}
{"task":"v","id":"c","reward":1,"steps":[{"tool":"x","args":{}}]}
"#;

fn with_map(name: &str, map: &str) -> Result<Loaded, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let (rollouts, path) = (dir.path().join("r.jsonl"), dir.path().join(name));
    fs::write(&rollouts, LINES).unwrap();
    fs::write(&path, map).unwrap();
    load_with(&[rollouts], &LoadOptions { outcomes: vec![path], ..LoadOptions::default() })
}

#[test]
fn a_summary_is_an_outcome_map() {
    let summary =
        r#"{"total_instances":3,"resolved_ids":["t"],"unresolved_ids":["u"],"error_ids":["v"]}"#;
    let loaded = with_map("any.json", summary).unwrap();
    assert_eq!(verdict(&loaded, "t"), (Outcome::Success, "any.json: resolved".to_owned()));
    assert_eq!(verdict(&loaded, "u").0, Outcome::Failure);
    assert_eq!(verdict(&loaded, "v").0, Outcome::Error);
    assert_eq!((loaded.report.joins[0].matched, loaded.report.joins[0].extra), (3, 0));
}

#[test]
fn a_broken_outcome_map_is_told_with_its_line_and_the_forms_there_are() {
    for (name, map, told) in [
        (
            "map.json",
            "\n{\n  \"a\": \"success\",\n  \"b\": fail\n}\n",
            // `fa` could still be `false`; `fai` cannot.
            "map.json: line 4, column 10: broken JSON: a word stands there that is none of true, false and null \
             (a text wants quotes)",
        ),
        (
            "map.json",
            "{\"a\": 1,",
            "map.json: line 1, column 8: broken JSON: it ends within a value",
        ),
        (
            "list.json",
            "[\n{\"rollout\":\"a\",\"outcome\":1}\n{\"rollout\":\"b\",\"outcome\":0}]",
            "list.json: line 3, column 1: broken JSON: expected `,` or `]`",
        ),
    ] {
        let error = with_map(name, map).unwrap_err();
        // Behind its folder, as it was typed.
        assert!(error.to_string().ends_with(&format!("/{told}")), "{error}");
        let hint = error.hint().unwrap();
        for form in [
            "`r1,success`",
            r#"`{"rollout":"r1","outcome":"success"}`"#,
            r#"`{"r1":"success","r2":0.5}`"#,
            r#"`{"resolved_ids":["i1"],"unresolved_ids":["i2"]}`"#,
        ] {
            assert!(hint.contains(form), "{hint}");
        }
    }
    // Of lines the broken one costs itself.
    let lines = "{\"rollout\":\"a\",\"outcome\":1}\n{\"rollout\":\"b\",\"outcome\":}\n";
    let loaded = with_map("map.jsonl", lines).unwrap();
    assert_eq!(verdict(&loaded, "t").0, Outcome::Success);
    assert_eq!(
        loaded.report.skipped[0].to_string(),
        "map.jsonl: line 2: an object was expected: expected value, at column 26"
    );
}

/// A map decides where files beside the rollouts disagree; where it disagrees with itself it has to be mended.
#[test]
fn what_to_do_about_verdicts_that_disagree_depends_on_who_says_them() {
    let disputed = r#"{"resolved_ids":["a__a-1"],"unresolved_ids":["a__a-1","b__b-2"]}"#;
    let loaded = evaluated(&RUN, &[("m.run_1.json", disputed)]);
    let (_, hint) = warning(&loaded, "verdicts-disagree");
    assert_eq!(
        hint,
        "of files beside the rollouts: `--outcomes FILE` decides where the record does not"
    );
    let loaded = with_map("map.json", r#"{"a":1,"a":0}"#).unwrap();
    let (_, hint) = warning(&loaded, "verdicts-disagree");
    assert_eq!(
        hint,
        "of an outcome map: keep one entry per rollout; of two maps the later one counts"
    );
}
