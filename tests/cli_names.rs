//! Groups, files and paths are called what tells them apart, and as they were typed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod cli_common;

use cli_common::{Bench, texts};

fn row(namespace: &str, task: &str, id: &str) -> String {
    format!(
        r#"{{"namespace":"{namespace}","task":"{task}","id":"{id}","reward":1,"steps":[{{"state":"s","action":"a"}}]}}"#
    )
}

/// The heads of the pages of a report.
fn heads(page: &str) -> Vec<&str> {
    let heads = page.lines().filter(|l| l.contains("rollout, 1 scored  ✓"));
    heads.map(|l| l.split("  ").next().unwrap()).collect()
}

#[test]
fn tasks_of_one_name_are_told_apart_by_their_namespace() {
    let two = [row("tau-bench", "2", "a"), row("swe", "2", "b"), row("swe", "3", "c")];
    let bench = Bench::new(&two.join("\n"));
    let page = bench.ok(&["report", "input.json"]);
    assert_eq!(heads(&page), ["swe/2", "3", "tau-bench/2"]);
    let text = bench.ok(&["groups", "input.json"]);
    let row = text.lines().find(|l| l.starts_with("tau-bench")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[..2], ["tau-bench", "2"]);
    // Data have a column for it anyway.
    let csv = bench.ok(&["groups", "input.json", "--format", "csv"]);
    assert_eq!(texts(&csv, "task"), ["2", "3", "2"]);
    assert_eq!(texts(&csv, "namespace"), ["swe", "swe", "tau-bench"]);
    // One namespace alone is said nowhere but in the page.
    let page = bench.ok(&["report", "input.json", "--only", "3"]);
    assert_eq!(heads(&page), ["3"]);
    let text = bench.ok(&["groups", "input.json", "--only", "3"]);
    assert!(!text.contains("namespace") && !text.contains("swe"), "{text}");
}

#[test]
fn what_holds_no_rollouts_is_named_as_it_was_typed() {
    let bench = Bench::new(cli_common::WORKED);
    for folder in ["empty", "lost"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let (code, told) = bench.fails(&["groups", "./empty"]);
    assert_eq!(code, 1);
    assert!(told.starts_with("error: there are no rollouts in `./empty`: an empty"), "{told}");
    bench.write("lost/empty.jsonl", "");
    let oid = "0".repeat(64);
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 9\n");
    bench.write("lost/pointer.jsonl", &pointer);
    let (_, told) = bench.fails(&["groups", "./lost/pointer.jsonl"]);
    assert!(told.starts_with("error: ./lost/pointer.jsonl holds no rollouts: Git LFS"), "{told}");
    assert_eq!(told.matches("hint: ").count(), 1, "{told}");
    // Each has its own hint.
    let (_, told) = bench.fails(&["groups", "./lost"]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "error: none of 2 files in `./lost` holds rollouts");
    assert!(lines[1].starts_with("  empty.jsonl: ") && lines[1].contains("(check that the run"));
    assert!(lines[2].starts_with("  pointer.jsonl: ") && lines[2].contains("(run `git lfs pull`"));
    assert_eq!(lines.len(), 3, "{told}");
    // Beside a file that is read as well.
    let (code, told) = bench.fails(&["groups", "input.json", "./lost/empty.jsonl"]);
    assert_eq!(code, 1);
    assert!(told.contains("could not be read: ./lost/empty.jsonl: empty file"), "{told}");
    let (_, told) = bench.fails(&["groups", "input.json", "--outcomes", "./lost/empty.jsonl"]);
    assert!(told.starts_with("error: ./lost/empty.jsonl: it is empty\nhint: "), "{told}");
}

#[test]
fn an_output_without_its_folder_is_told_without_a_temporary_name() {
    let bench = Bench::new(cli_common::WORKED);
    for command in ["convert", "groups"] {
        let (code, told) = bench.fails(&[command, "input.json", "--out", "none/x.jsonl"]);
        assert_eq!(code, 1);
        assert_eq!(
            told,
            "error: cannot write none/x.jsonl: the folder none does not exist\n\
             hint: make the folder, or choose another place\n"
        );
    }
}
