//! What the command line says of a file, as JSON rows.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use credscope::analysis::align::Alignment;
use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::export;
use credscope::rollout::Corpus;
use serde_json::Value;

use crate::{cli_common, tui_support};

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
    /// Which state of a task is which on the screen: numbered as they come in the steps.
    pub numbers: BTreeMap<String, HashMap<String, usize>>,
    pub settings: AnalysisSettings,
    path: PathBuf,
    flags: Vec<String>,
    corpus: Corpus,
    /// What was asked once is not asked again.
    asked: RefCell<HashMap<Vec<String>, Rc<Value>>>,
    analyses: RefCell<HashMap<String, Rc<Analysis>>>,
}

fn rows(path: &Path, args: &[&str]) -> Vec<Value> {
    document(path, args)["rows"].as_array().unwrap().clone()
}

fn document(path: &Path, args: &[&str]) -> Value {
    let path = path.to_str().unwrap();
    printed(&[args, &["--format", "json", path]].concat())
}

fn printed(args: &[&str]) -> Value {
    // What `sweep` turns has the name of an option: in force it is by its variable.
    let (variables, args): (Vec<&str>, Vec<&str>) =
        args.iter().partition(|a| a.starts_with("CREDSCOPE_"));
    let variables = variables.iter().filter_map(|v| v.split_once('='));
    let out = cli_common::program().args(&args).envs(variables).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

impl Said {
    /// A group as it was loaded.
    pub fn group_of(&self, task: &str) -> &credscope::rollout::Group {
        self.corpus.groups.iter().find(|g| g.key.task == task).unwrap()
    }

    /// `flags` are the settings as options.
    pub fn of(path: &Path, flags: &[&str], settings: &AnalysisSettings) -> Self {
        let (corpus, _) = tui_support::loaded(path);
        let ask = |args: &[&str]| rows(path, &[args, flags].concat());
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
        let mut numbers: BTreeMap<String, HashMap<String, usize>> = BTreeMap::new();
        for (i, step) in steps.iter().enumerate() {
            let name = |key: &str| step[key].as_str().unwrap().to_owned();
            of_task.entry(name("task")).or_default().push(i);
            of_rollout.entry((name("task"), name("rollout"))).or_default().push(i);
            let known = numbers.entry(name("task")).or_default();
            let next = known.len();
            known.entry(name("state")).or_insert(next);
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
            totals: document(path, &[&["groups"], flags].concat())["totals"][0].clone(),
            groups,
            numbers,
            settings: settings.clone(),
            path: path.to_owned(),
            flags: flags.iter().map(|&f| f.to_owned()).collect(),
            corpus,
            asked: RefCell::default(),
            analyses: RefCell::default(),
        }
    }

    /// A document of the command line for these settings and some more.
    pub fn ask(&self, args: &[&str]) -> Rc<Value> {
        let key: Vec<String> = args.iter().map(|&a| a.to_owned()).collect();
        if let Some(known) = self.asked.borrow().get(&key) {
            return Rc::clone(known);
        }
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let said = Rc::new(document(&self.path, &[args, &flags].concat()));
        self.asked.borrow_mut().insert(key, Rc::clone(&said));
        said
    }

    /// What `estimators` says of every column.
    pub fn estimators(&self) -> Vec<Value> {
        let args = ["estimators".to_owned()];
        let mut asked = self.asked.borrow_mut();
        let said = asked
            .entry(args.to_vec())
            .or_insert_with(|| Rc::new(printed(&["estimators", "--format", "json"])));
        said["rows"].as_array().unwrap().clone()
    }

    fn analysis(&self, task: &str) -> Rc<Analysis> {
        let mut known = self.analyses.borrow_mut();
        let make = || {
            let group = self.corpus.groups.iter().find(|g| g.key.task == task).unwrap();
            Rc::new(Analysis::new(Arc::clone(group), &self.settings))
        };
        Rc::clone(known.entry(task.to_owned()).or_insert_with(make))
    }

    /// The document of `explain`, written by the library: one process a step would take minutes.
    pub fn explained(&self, task: &str, rollout: &str, step: usize, column: &str) -> Value {
        let analysis = self.analysis(task);
        let at = analysis.group.find(rollout).unwrap();
        let index = analysis.group.rollouts[at].steps.start + step;
        let explained = analysis.explain(index, column).unwrap();
        let members = export::explain::json(&analysis, &explained, false, true);
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The rows of `compare` for these rollouts, and those of its pairs.
    pub fn compared(&self, task: &str, rollouts: &[&str]) -> (Vec<Value>, Vec<Value>) {
        let analysis = self.analysis(task);
        let at: Vec<usize> = rollouts.iter().map(|r| analysis.group.find(r).unwrap()).collect();
        let alignment = Alignment::new(&analysis, &at);
        let rows = |table| export::json::rows(&table, true).unwrap().as_array().unwrap().clone();
        let aligned = rows(export::compare::table(&analysis, &alignment));
        (aligned, rows(export::compare::matrix(&analysis, &at, false)))
    }

    /// The number of a state on the screen.
    pub fn number(&self, step: &Value) -> f64 {
        self.numbers[step["task"].as_str().unwrap()][step["state"].as_str().unwrap()] as f64
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
