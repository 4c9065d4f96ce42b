//! What the command line says of a file, as JSON rows.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::cli_common;

/// What the command line says of a file.
pub struct Said {
    pub steps: Vec<Value>,
    /// Where the steps of a task stand, and those of a rollout of it.
    pub of_task: BTreeMap<String, Vec<usize>>,
    pub of_rollout: BTreeMap<(String, String), Vec<usize>>,
    pub groups: Vec<Value>,
    pub paths: Vec<Value>,
    pub states: Vec<Value>,
    /// Quadrants by outcome and by evidence of each task, and by outcome of all mixed groups.
    pub outcome: BTreeMap<String, Vec<Value>>,
    pub evidence: BTreeMap<String, Vec<Value>>,
    pub mixed: Vec<Value>,
    pub skill: Value,
    /// Totals of all groups, with intervals.
    pub totals: Value,
}

fn rows(path: &Path, args: &[&str]) -> Vec<Value> {
    document(path, args)["rows"].as_array().unwrap().clone()
}

fn document(path: &Path, args: &[&str]) -> Value {
    let out =
        cli_common::program().args(args).args(["--format", "json"]).arg(path).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

impl Said {
    pub fn of(path: &Path, settings: &[&str]) -> Self {
        let ask = |args: &[&str]| rows(path, &[args, settings].concat());
        let groups = ask(&["groups"]);
        let by = |key: &str| {
            let one = |g: &Value| {
                let task = g["task"].as_str().unwrap().to_owned();
                let args = ["quadrants", "--by", key, "--uniform", "include", "--only", &task];
                let said = ask(&args);
                (task, said)
            };
            groups.iter().map(one).collect()
        };
        let many = groups.len() > 1;
        let steps = ask(&["steps"]);
        let mut of_task: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut of_rollout: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for (i, step) in steps.iter().enumerate() {
            let name = |key: &str| step[key].as_str().unwrap().to_owned();
            of_task.entry(name("task")).or_default().push(i);
            of_rollout.entry((name("task"), name("rollout"))).or_default().push(i);
        }
        Self {
            steps,
            of_task,
            of_rollout,
            paths: ask(&["tree", "--lens", "paths"]),
            states: ask(&["tree", "--lens", "states"]),
            outcome: by("outcome"),
            evidence: by("evidence"),
            mixed: if many { ask(&["quadrants"]) } else { Vec::new() },
            skill: if many { ask(&["skill"])[0].clone() } else { Value::Null },
            totals: document(path, &[&["groups"], settings].concat())["totals"][0].clone(),
            groups,
        }
    }

    pub fn group(&self, task: &str) -> &Value {
        self.groups.iter().find(|g| g["task"] == task).unwrap()
    }

    pub fn steps_of(&self, task: &str, rollout: &str) -> Vec<&Value> {
        let found = self.of_rollout.get(&(task.to_owned(), rollout.to_owned()));
        found.map_or_else(Vec::new, |at| at.iter().map(|&i| &self.steps[i]).collect())
    }

    pub fn steps_in(&self, task: &str) -> impl Iterator<Item = &Value> {
        self.of_task.get(task).into_iter().flatten().map(|&i| &self.steps[i])
    }
}

/// The four buckets, and what is inside or has no value.
pub const BUCKETS: [&str; 4] = ["both_pos", "rescued", "penalized", "both_neg"];
pub const INSIDE: [&str; 3] = ["inside_x", "inside_y", "inside_both"];

pub fn int(row: &Value, name: &str) -> f64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}")) as f64
}

/// Sum of a column over the rows that a key picks.
pub fn sum(rows: &[Value], keys: &[&str], names: &[&str]) -> f64 {
    rows.iter()
        .filter(|r| keys.is_empty() || keys.contains(&r["key"].as_str().unwrap()))
        .map(|r| names.iter().map(|n| int(r, n)).sum::<f64>())
        .sum()
}
