//! Every number on the screen is one that the command line prints for the same settings.
//!
//! The panes are read off the drawn buffer by the columns of their headers, row for row, through all
//! groups, rollouts and rows. What is read is blanked; a digit that is left over must be one of a few
//! kinds: part of a name or of an action's label, a key, or the number of a state.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cli_common;
mod common;
mod tui_scrape;
mod tui_support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use credscope::analysis::AnalysisSettings;
use credscope::signature::Granularity;
use credscope::tui::layout::Pane;
use credscope::tui::lens::LensKind;
use credscope::tui::model::Model;
use credscope::tui::update::{Msg, begin, update};
use serde_json::Value;
use tui_scrape::{Line, fits, near, number, whole};
use tui_support::press;

/// What the command line says of a file.
struct Said {
    steps: Vec<Value>,
    /// Where the steps of a task stand, and those of a rollout of it.
    of_task: BTreeMap<String, Vec<usize>>,
    of_rollout: BTreeMap<(String, String), Vec<usize>>,
    groups: Vec<Value>,
    paths: Vec<Value>,
    states: Vec<Value>,
    /// Quadrants by outcome and by evidence of each task, and by outcome of all mixed groups.
    outcome: BTreeMap<String, Vec<Value>>,
    evidence: BTreeMap<String, Vec<Value>>,
    mixed: Vec<Value>,
    skill: Value,
    /// Totals of all groups, with intervals.
    totals: Value,
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
    fn of(path: &Path, settings: &[&str]) -> Self {
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

    fn group(&self, task: &str) -> &Value {
        self.groups.iter().find(|g| g["task"] == task).unwrap()
    }

    fn steps_of(&self, task: &str, rollout: &str) -> Vec<&Value> {
        let found = self.of_rollout.get(&(task.to_owned(), rollout.to_owned()));
        found.map_or_else(Vec::new, |at| at.iter().map(|&i| &self.steps[i]).collect())
    }

    fn steps_in(&self, task: &str) -> impl Iterator<Item = &Value> {
        self.of_task.get(task).into_iter().flatten().map(|&i| &self.steps[i])
    }
}

/// A picture of a model, and what the command line says of it.
struct Reading<'a> {
    model: &'a Model,
    said: &'a Said,
    task: String,
    rollouts: Vec<String>,
}

/// The four buckets, and what is inside or has no value.
const BUCKETS: [&str; 4] = ["both_pos", "rescued", "penalized", "both_neg"];
const INSIDE: [&str; 3] = ["inside_x", "inside_y", "inside_both"];

fn int(row: &Value, name: &str) -> f64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}")) as f64
}

/// Sum of a column over the rows that a key picks.
fn sum(rows: &[Value], keys: &[&str], names: &[&str]) -> f64 {
    rows.iter()
        .filter(|r| keys.is_empty() || keys.contains(&r["key"].as_str().unwrap()))
        .map(|r| names.iter().map(|n| int(r, n)).sum::<f64>())
        .sum()
}

impl<'a> Reading<'a> {
    fn new(model: &'a Model, said: &'a Said) -> Self {
        let group = model.shown_group().unwrap();
        let rollouts = group.rollouts.iter().map(|r| r.id.clone()).collect();
        Self { model, said, task: group.key.task.clone(), rollouts }
    }

    /// Reads everything; gives how many numbers were found and were right.
    fn all(&self) -> usize {
        let plan = self.model.plan();
        let picture = tui_scrape::draw(self.model);
        let mut read = self.title(&mut Line::of(&picture, plan.title));
        if let Some(area) = plan.sum {
            read += self.sum(&mut Line::of(&picture, area));
        }
        if let Some(area) = plan.note {
            read += self.note(&mut Line::of(&picture, area));
        }
        for &(pane, area) in &plan.panes {
            let mut lines = tui_scrape::lines(&picture, area);
            read += match pane {
                Pane::Tree => self.tree(&mut lines),
                Pane::Steps => self.steps(&mut lines),
                Pane::Quadrants => self.quadrants(&mut lines),
                Pane::Rollouts => self.rollouts(&mut lines),
                Pane::Groups => self.groups(&mut lines),
                // The text itself, and arithmetic that has tests of its own.
                _ => 0,
            };
        }
        read
    }

    fn title(&self, line: &mut Line) -> usize {
        let g = self.said.group(&self.task);
        let at = self.said.groups.iter().position(|r| r["task"] == self.task.as_str()).unwrap();
        line.name(&self.task);
        let many = self.said.groups.len();
        let mut read = line.claim_word(|w| {
            let of = w.split_once('/');
            of.is_some_and(|(a, b)| whole(a) == at as f64 + 1.0 && whole(b) == many as f64)
        });
        assert_eq!(read, usize::from(many > 1), "{line:?}");
        read += line.before("of", int(g, "scored")) + line.before("scored", int(g, "rollouts"));
        read += line.after("✓", int(g, "successes")) + line.after("✗", int(g, "failures"));
        read += line.after("⊘", int(g, "truncated"));
        read += line.before("errors", int(g, "errors")) + line.before("error", int(g, "errors"));
        for (word, name) in
            [("steps", "steps"), ("step", "steps"), ("states", "states"), ("state", "states")]
        {
            read += line.before(word, int(g, name));
        }
        let credit = &self.model.settings.credit;
        read += line.after("γ ", credit.gamma) + line.after("n_prior ", credit.n_prior);
        let warnings = g["warnings"].as_str().unwrap_or_default();
        let n = warnings.split(';').filter(|w| !w.is_empty()).count();
        read += line.after("⚠ ", n as f64);
        line.done(&["group of 1"]);
        read
    }

    fn cursor(&self) -> Option<&Value> {
        let steps = self.said.steps_of(&self.task, &self.rollouts[self.model.cursor.rollout]);
        steps.get(self.model.cursor.step).copied()
    }

    fn sum(&self, line: &mut Line) -> usize {
        line.name(&self.rollouts[self.model.cursor.rollout]);
        let Some(step) = self.cursor() else {
            line.done(&[]);
            return 0;
        };
        let of = |names: &[&str]| names.iter().filter_map(|n| step[*n].as_f64()).sum::<f64>();
        let mut read = line.after(" t", self.model.cursor.step as f64);
        for (word, names) in [
            ("comparison ", &["cmp_outcome"][..]),
            ("comp ", &["cmp_outcome"]),
            ("prior ", &["prior_outcome"]),
            ("discount ", &["cmp_discount", "prior_discount"]),
            ("disc ", &["cmp_discount", "prior_discount"]),
            ("shaping ", &["cmp_shaping", "prior_shaping"]),
            ("shape ", &["cmp_shaping", "prior_shaping"]),
        ] {
            read += line.after(word, of(names));
        }
        if let Some(a) = step["rtmc"].as_f64() {
            let found = line.claim_word(|w| number(w).is_some_and(|n| near(w, n, a)));
            assert_eq!(found, 1, "{line:?} {a}");
            read += 1;
        }
        line.done(&[]);
        read
    }

    fn note(&self, line: &mut Line) -> usize {
        let g = self.said.group(&self.task);
        let mut read = line.after("V_prior ", {
            let step = self.said.steps_in(&self.task).next();
            step.and_then(|s| s["v_prior"].as_f64()).unwrap_or(0.0)
        });
        for (glyph, name) in [
            ("✓ success ", "successes"),
            ("✗ failure ", "failures"),
            ("⊘ truncated ", "truncated"),
            ("‼ error ", "errors"),
            ("? unscored ", "unscored"),
        ] {
            read += line.after(glyph, int(g, name));
        }
        let warnings = g["warnings"].as_str().unwrap_or_default();
        let more = warnings.split(';').filter(|w| !w.is_empty()).count().saturating_sub(1);
        read += line.before("more", more as f64);
        // The text of a warning is the command line's own; its numbers are counts of the group.
        let analysis = &self.model.snapshot().unwrap().analysis;
        if let Some(first) = analysis.warnings.first() {
            line.blank_text(&first.text);
        }
        read += line.before("rollouts", int(g, "unscored"));
        read += line.before("rollout", int(g, "unscored"));
        line.done(&[]);
        read
    }

    fn quadrants(&self, lines: &mut [Line]) -> usize {
        let tau = self.model.settings.tau.0;
        lines[0].after("|A|>", tau);
        lines[0].title("4 Quadrants");
        lines[0].done(&[]);
        let header = lines[1].clone();
        let (outcome, evidence) = (&self.said.outcome[&self.task], &self.said.evidence[&self.task]);
        let names: [&[&str]; 5] = [
            &["both+", "++"],
            &["rescued", "−+"],
            &["penalized", "penal.", "+−"],
            &["both−", "−−"],
            &["inside", "in"],
        ];
        let mut read = 0;
        for line in &mut lines[2..] {
            let text = line.text();
            let Some(head) = text.trim_start().get(..3) else { continue };
            let (from, keys): (&[Value], &[&str]) = match head.trim() {
                "✓" => (outcome, &["success"]),
                "✗" => (outcome, &["failure", "truncated"]),
                "Σ" => (outcome, &[]),
                "█" => (evidence, &["compared"]),
                "▒" => (evidence, &["shared"]),
                "∷" => (evidence, &["self"]),
                "═" => (evidence, &["single"]),
                other => panic!("a row {other:?} of the quadrants: {text}"),
            };
            let n = sum(from, keys, &["steps"]);
            // The flat table has no header over n: it stands right behind the mark.
            let flat = !header.text().contains(" n ");
            let end = if flat { line.second_word_end() } else { header.edge(&["n"]) };
            read += line.at(end, n);
            for (i, columns) in names.iter().enumerate() {
                let count = match i {
                    4 => sum(from, keys, &INSIDE),
                    i => sum(from, keys, &[BUCKETS[i]]),
                };
                let end = header.edge(columns);
                let share = 100.0 * count / n;
                read += line.count_and_share(end, count, share);
            }
            for class in ["compared", "shared", "self", "single"] {
                // Counts beside the flat table: steps of this outcome in each class.
                if let Some(end) = header.find_edge(&[class]).filter(|_| flat) {
                    let steps = self.said.steps_in(&self.task).filter(|s| {
                        s["evidence"] == class && keys.contains(&s["outcome"].as_str().unwrap())
                    });
                    read += line.at(end, steps.count() as f64);
                }
            }
            line.done(&[]);
        }
        read
    }

    fn rollouts(&self, lines: &mut [Line]) -> usize {
        lines[0].title("6 Rollouts");
        lines[0].done(&[]);
        let header = lines[1].clone();
        lines[1].title("G_0");
        lines[1].done(&[]);
        let top = self.top(lines, self.model.cursor.rollout);
        let mut read = 0;
        for (y, line) in lines[2..].iter_mut().enumerate() {
            let Some(id) = self.rollouts.get(top + y) else { break };
            line.name(id);
            let steps = self.said.steps_of(&self.task, id);
            let total = |name: &str| steps.iter().filter_map(|s| s[name].as_f64()).sum::<f64>();
            let bucket = |name: &str| steps.iter().filter(|s| s["quadrant"] == name).count() as f64;
            read += line.at(header.edge(&["steps"]), steps.len() as f64);
            if let Some(end) = header.find_edge(&["ΣS"]) {
                read += line.at(end, total("step_reward"));
            }
            if let Some(end) = header.find_edge(&["G_0"]) {
                read += match steps.first().and_then(|s| s["ret"].as_f64()) {
                    Some(g) => line.at(end, g),
                    None => line.nothing_at(end),
                };
            }
            if let Some(end) = header.find_edge(&["Σ A"]) {
                read += if steps.iter().any(|s| s["rtmc"].is_f64()) {
                    line.at(end, total("rtmc"))
                } else {
                    line.nothing_at(end)
                };
            }
            read += line.before("rescued", bucket("rescued"));
            read += line.before("penalized", bucket("penalized"));
            line.done(&[]);
        }
        read
    }

    /// The row of a list that is the first in sight. Blanks the mark of the selected one.
    fn top(&self, lines: &mut [Line], selected: usize) -> usize {
        let at = lines[2..].iter_mut().position(Line::take_mark);
        at.map_or(0, |at| selected - at)
    }

    fn steps(&self, lines: &mut [Line]) -> usize {
        let id = &self.rollouts[self.model.cursor.rollout];
        let steps = self.said.steps_of(&self.task, id);
        lines[0].title("2 Steps");
        lines[0].name(id);
        let mut read = lines[0].before("steps", steps.len() as f64);
        read += lines[0].before("step", steps.len() as f64);
        if let Some(first) = steps.first().filter(|s| !s["v_smooth"].is_null()) {
            read += lines[0].after("R=", f64::from(u8::from(first["outcome"] == "success")));
        }
        for (column, title) in [("grpo", "GRPO "), ("grpo-step", "G+Step "), ("rtmc", "RTMC ")] {
            // A column that says one thing of the whole rollout has no bars.
            let values: Vec<f64> = steps.iter().filter_map(|s| s[column].as_f64()).collect();
            let told = values.first().map_or(0, |&first| lines[0].after(title, first));
            assert!(told == 0 || values.iter().all(|v| *v == values[0]), "{column}: {values:?}");
            read += told;
            if told > 0 || !lines[1].text().contains(title.trim()) {
                continue;
            }
            let most = self
                .said
                .steps_in(&self.task)
                .filter_map(|s| s[column].as_f64())
                .fold(0.0, |m: f64, a| m.max(a.abs()));
            read += lines[0].after("±", most);
        }
        lines[0].done(&[]);
        if steps.is_empty() {
            return read;
        }
        let header = lines[1].clone();
        self.top(lines, usize::MAX);
        let mut next = None;
        for line in &mut lines[2..] {
            if line.text().starts_with('╌') {
                // Segments are no rows of the command line's; their first step says its number.
                line.blank_after("segment ");
                line.blank_after("of ");
                line.done(&[]);
                continue;
            }
            let end = header.edge(&["t"]);
            let Some(t) = line.peek(end).map(|t| t as usize) else { break };
            assert!(next.is_none_or(|n| n == t), "step {t} after {next:?}: {line:?}");
            let step = steps[t];
            read += line.at(end, int(step, "step"));
            let end = header.edge(&["A"]);
            read += match step["rtmc"].as_f64() {
                Some(a) => line.at(end, a),
                None => line.nothing_at(end),
            };
            if header.find_edge(&["N"]).is_some() {
                read += line.fraction(int(step, "n_sa"), int(step, "n_s"));
            }
            // Equal steps in a row are one line.
            let equal = |s: &&&Value| ["state", "action"].iter().all(|k| s[*k] == step[*k]);
            let run = steps[t..].iter().take_while(equal).count();
            let folded = line.text().contains(" loop ▸");
            read += line.after("×", run as f64);
            next = Some(t + if folded { run } else { 1 });
            let label = line.label(header.edge(&["t"]) + 2, step["action"].as_str().unwrap());
            assert!(label, "{line:?} is not {}", step["action"]);
            line.done(&[]);
        }
        read
    }

    fn tree(&self, lines: &mut [Line]) -> usize {
        let of_task = |r: &&Value| r["task"] == self.task.as_str();
        let paths: Vec<&Value> = self.said.paths.iter().filter(of_task).collect();
        let g = self.said.group(&self.task);
        let (lens, visible) = self.model.tree().unwrap();
        lines[0].title("1 Tree");
        let mut read = match self.model.lens {
            LensKind::Paths => {
                let walking = self.rollouts.iter();
                let walking =
                    walking.filter(|r| !self.said.steps_of(&self.task, r).is_empty()).count();
                lines[0].before("rows", paths.len() as f64)
                    + lines[0].before("row", paths.len() as f64)
                    + lines[0].after("at most ", (2 * walking).max(1) as f64 - 1.0)
            }
            LensKind::States => {
                lines[0].before("rows", lens.rows.len() as f64)
                    + lines[0].before("row", lens.rows.len() as f64)
                    + lines[0].after("for ", int(g, "states"))
            }
        };
        read += lines[0].before("in", visible.len() as f64);
        lines[0].done(&[]);
        let header = lines[1].clone();
        let selected = self.model.step().and_then(|s| lens.position(&visible, s)).unwrap_or(0);
        let top = self.top(lines, selected);
        // An opened path shows its first step, then the others.
        let open = visible.len() > paths.len();
        let expanded: Vec<(&Value, usize)> = paths
            .iter()
            .flat_map(|&r| {
                (0..if open { int(r, "steps") as usize } else { 1 }).map(move |k| (r, k))
            })
            .collect();
        for (y, line) in lines[2..].iter_mut().enumerate().take(visible.len() - top) {
            read += match self.model.lens {
                LensKind::Paths => {
                    let (row, k) = expanded[top + y];
                    self.path(line, &header, row, k)
                }
                LensKind::States => self.transition(line, &header),
            };
        }
        read
    }

    /// A row of the paths: the first step of a segment, or a further one.
    fn path(&self, line: &mut Line, header: &Line, row: &Value, k: usize) -> usize {
        let first = int(row, "first_step") as usize;
        let steps = self.said.steps_of(&self.task, row["first_rollout"].as_str().unwrap());
        let step = steps[first + k];
        let mut read = 0;
        for (title, name) in [("n", "n"), ("✓", "successes"), ("✗", "failures")] {
            read += line.at(header.edge(&[title]), int(row, name));
        }
        let stp = if k == 0 { int(row, "steps") } else { 1.0 };
        read += line.at(header.edge(&["stp"]), stp);
        let own = if k == 0 { row } else { step };
        read += self.pair(line, header, own);
        let depth = int(row, "depth") + f64::from(u8::from(k > 0));
        read += line.after("+", depth - 12.0);
        read += line.after("⋎", int(row, "branching")) + line.after("↺", int(row, "revisits"));
        read += line.after("≡", int(row, "elsewhere") + 1.0);
        let label = step["action"].as_str().unwrap();
        assert!(line.label(0, label), "{line:?} is not {label}");
        line.done(&[]);
        read
    }

    /// N, Q, V, V' and A of a state and an action.
    fn pair(&self, line: &mut Line, header: &Line, row: &Value) -> usize {
        let mut read = line.fraction(int(row, "n_sa"), int(row, "n_s"));
        let (q, v, smooth) = (row["q"].as_f64(), row["v"].as_f64(), row["v_smooth"].as_f64());
        let scored = int(row, "n_sa") > 0.0;
        let a = q.zip(smooth).map(|(q, v)| q - v);
        for (title, value) in [
            ("Q", q.filter(|_| scored)),
            ("V", v.filter(|_| int(row, "n_s") > 0.0)),
            ("V'", smooth.filter(|_| scored)),
            ("A", a.filter(|_| scored)),
        ] {
            let Some(end) = header.find_edge(&[title]) else { continue };
            read += match value {
                Some(x) => line.at(end, x),
                None => line.nothing_at(end),
            };
        }
        read
    }

    /// A row of the states: a step of the command line's with the same numbers has the same way on.
    fn transition(&self, line: &mut Line, header: &Line) -> usize {
        let mut found = None;
        for row in self.said.states.iter().filter(|r| r["task"] == self.task.as_str()) {
            let mut copy = line.clone();
            copy.blank_depth();
            if copy.is_fraction(int(row, "n_sa"), int(row, "n_s"))
                && copy.label_of(0, header.edge(&["n"]) - 2, row["action"].as_str().unwrap())
                && near_at(&copy, header, "V'", row["v_smooth"].as_f64())
                && near_at(&copy, header, "Q", row["q"].as_f64())
                && near_at(
                    &copy,
                    header,
                    "A",
                    row["q"].as_f64().zip(row["v_smooth"].as_f64()).map(|(q, v)| q - v),
                )
            {
                let ways = self.ways(row);
                let shown: Vec<Option<f64>> =
                    ["n", "✓", "✗", "stp"].iter().map(|t| copy.peek(header.edge(&[t]))).collect();
                if ways.iter().any(|w| w.map(Some).to_vec() == shown) {
                    found = Some(row);
                    break;
                }
            }
        }
        let row = found.unwrap_or_else(|| panic!("no state and action has {line:?}"));
        let mut read = self.pair(line, header, row);
        for title in ["n", "✓", "✗", "stp"] {
            line.blank_at(header.edge(&[title]));
            read += 1;
        }
        line.blank_depth();
        line.blank_state_ids();
        line.label(0, row["action"].as_str().unwrap());
        // Visits of a loop are its steps, which were read.
        line.blank_after("↺");
        line.blank_after("⋎");
        line.done(&[]);
        read
    }

    /// For each state that follows an action: rollouts with a verdict, successes, failures, steps.
    fn ways(&self, row: &Value) -> Vec<[f64; 4]> {
        let mut ways: BTreeMap<Option<&str>, (BTreeMap<&str, bool>, f64)> = BTreeMap::new();
        for id in &self.rollouts {
            let steps = self.said.steps_of(&self.task, id);
            for (t, step) in steps.iter().enumerate() {
                if step["state"] == row["state"] && step["action"] == row["action"] {
                    let next = steps.get(t + 1).map(|s| s["state"].as_str().unwrap());
                    let way = ways.entry(next).or_default();
                    way.1 += 1.0;
                    if !step["v_smooth"].is_null() && int(step, "n_sa") > 0.0 {
                        let outcome = step["outcome"].as_str().unwrap();
                        if matches!(outcome, "success" | "failure" | "truncated") {
                            way.0.insert(id, outcome == "success");
                        }
                    }
                }
            }
        }
        ways.values()
            .map(|(who, steps)| {
                let ok = who.values().filter(|&&ok| ok).count() as f64;
                [who.len() as f64, ok, who.len() as f64 - ok, *steps]
            })
            .collect()
    }

    fn groups(&self, lines: &mut [Line]) -> usize {
        let order = self.model.group_order();
        lines[0].title("a Groups");
        let mut read = lines[0].before("groups", order.len() as f64);
        read += lines[0].before("group", order.len() as f64);
        lines[0].done(&[]);
        let header = lines[1].clone();
        let at = order.iter().position(|&g| g == self.model.groups.at).unwrap();
        let top = self.top(lines, at);
        let mut below = lines.len();
        for (y, line) in lines[2..].iter_mut().enumerate() {
            let total = line.text().trim_start().starts_with('Σ');
            let picked: Vec<&Value> = if total {
                self.said.groups.iter().collect()
            } else {
                let Some(&g) = order.get(top + y) else { break };
                let row = &self.said.groups[g];
                line.name(row["task"].as_str().unwrap());
                vec![row]
            };
            read += group_row(line, &header, &picked, total.then_some(&self.said.totals));
            if total {
                let mixed = picked.iter().filter(|g| is_mixed(g)).count();
                read += line.after("quadrants: ", mixed as f64);
                read += line.before("left", (picked.len() - mixed) as f64);
            }
            line.done(&[]);
            if total {
                below = y + 3;
                break;
            }
        }
        read + if below < lines.len() { self.aggregate(&mut lines[below..]) } else { 0 }
    }

    /// Below the list: sizes of groups beside the quadrants of all mixed groups.
    fn aggregate(&self, lines: &mut [Line]) -> usize {
        let Some(rule) = lines.iter().position(|l| l.text().contains("Aggregate quadrants")) else {
            assert!(lines.iter().all(|l| !l.has_digit()), "{lines:?}");
            return 0;
        };
        let mixed: Vec<&Value> = self.said.groups.iter().filter(|g| is_mixed(g)).collect();
        let mut read = lines[rule].after("Aggregate quadrants  ", mixed.len() as f64);
        read += lines[rule].before("uniform", (self.said.groups.len() - mixed.len()) as f64);
        lines[rule].done(&[]);
        let seam = lines[rule].text().chars().position(|c| c == '┬').unwrap();
        let tasks: Vec<&str> = mixed.iter().map(|g| g["task"].as_str().unwrap()).collect();
        let steps: Vec<&Value> = self
            .said
            .steps
            .iter()
            .filter(|s| tasks.contains(&s["task"].as_str().unwrap()) && !s["v_smooth"].is_null())
            .collect();
        let (head, body) = lines[rule + 1..].split_first_mut().unwrap();
        let (sizes, quadrants) = (head.part(0, seam), head.part(seam, usize::MAX));
        for line in body {
            let (mut left, mut right) = (line.part(0, seam), line.part(seam + 1, usize::MAX));
            read += size_row(&mut left, &sizes, &steps);
            left.done(&[]);
            read += self.aggregate_row(&mut right, &quadrants, seam + 1, &steps);
            right.done(&[]);
        }
        read
    }

    fn aggregate_row(
        &self,
        line: &mut Line,
        header: &Line,
        shift: usize,
        steps: &[&Value],
    ) -> usize {
        let text = line.text();
        let Some(head) = text.split_whitespace().next() else { return 0 };
        let keys: &[&str] = match head {
            "✓" => &["success"],
            "✗" => &["failure", "truncated"],
            "Σ" => &[],
            "█" => {
                let count = |class: &str| steps.iter().filter(|s| s["evidence"] == class).count();
                return ["compared", "shared", "self", "single"]
                    .iter()
                    .map(|c| line.after(&format!("{c} "), count(c) as f64))
                    .sum();
            }
            "95%" => {
                line.title("95%");
                let edge = |names: &[&str]| header.edge(names) - 1;
                let mut read = 0;
                for (bucket, names) in [
                    ("both_pos", &["both+", "++"][..]),
                    ("rescued", &["rescued", "−+"]),
                    ("penalized", &["penalized", "+−"]),
                    ("both_neg", &["both−", "−−"]),
                ] {
                    let word = line.word(edge(names));
                    let Some((low, high)) = word.split_once("..") else { continue };
                    for (shown, end) in [(low, "low"), (high, "high")] {
                        let value = self.said.totals[format!("share_{bucket}_{end}")].as_f64();
                        let shown = whole(shown);
                        assert!(
                            value.is_some_and(|v| (100.0 * v - shown).abs() <= 0.5),
                            "{word} {value:?}"
                        );
                        read += 1;
                    }
                    line.blank_at(edge(names));
                }
                return read;
            }
            _ => {
                let skill = &self.said.skill;
                let value = |name: &str| skill[name].as_f64().unwrap_or(0.0);
                return line.after("skill ", value("skill"))
                    + line.after("[", value("skill_low"))
                    + line.after(", ", value("skill_high"))
                    + line.after("null ", value("skill_null"))
                    + line.after("ceiling ", value("skill_ceiling"))
                    + line.before("groups", value("groups").max(int(skill, "groups")));
            }
        };
        let from = &self.said.mixed;
        let n = sum(from, keys, &["steps"]);
        // The header begins at the seam, the row one cell after it.
        let edge = |names: &[&str]| header.edge(names) - 1;
        let _ = shift;
        let mut read = line.at(edge(&["n"]), n);
        for (i, names) in [
            &["both+", "++"][..],
            &["rescued", "−+"],
            &["penalized", "+−"],
            &["both−", "−−"],
            &["inside", "in"],
        ]
        .iter()
        .enumerate()
        {
            let count = match i {
                4 => sum(from, keys, &INSIDE),
                i => sum(from, keys, &[BUCKETS[i]]),
            };
            read += line.count_and_share(edge(names), count, 100.0 * count / n);
        }
        read
    }
}

fn near_at(line: &Line, header: &Line, title: &str, value: Option<f64>) -> bool {
    let Some(end) = header.find_edge(&[title]) else { return true };
    let word = line.word(end);
    match (number(&word), value) {
        (Some(n), Some(v)) => near(&word, n, v),
        (_, None) => word == "·",
        (None, Some(_)) => word == "·",
    }
}

fn is_mixed(g: &Value) -> bool {
    int(g, "successes") > 0.0 && int(g, "failures") + int(g, "truncated") > 0.0
}

/// One row of the list of groups, or the sum of all.
fn group_row(line: &mut Line, header: &Line, picked: &[&Value], totals: Option<&Value>) -> usize {
    // The sum has the quadrants of the groups that `quadrants` counts.
    let counted: Vec<&&Value> = picked.iter().filter(|g| totals.is_none() || is_mixed(g)).collect();
    let quadrant = |name: &str| counted.iter().map(|g| int(g, name)).sum::<f64>();
    let of = |names: &[&str]| {
        picked.iter().map(|g| names.iter().map(|n| int(g, n)).sum::<f64>()).sum::<f64>()
    };
    let scored = of(&BUCKETS) + of(&["inside", "missing"]);
    let bad = of(&["failures", "truncated"]);
    let mut read = 0;
    for (title, value) in [
        ("n", of(&["rollouts"])),
        ("✓", of(&["successes"])),
        ("✗", bad),
        ("steps", of(&["steps"])),
        ("states", of(&["states"])),
        ("shared", 100.0 * of(&["shared_steps"]) / scored),
        ("branch", of(&["branching_states"])),
        ("compared", of(&["compared_steps"])),
        ("rescued", quadrant("rescued")),
        ("penal.", quadrant("penalized")),
        ("inside", quadrant("inside")),
    ] {
        // At 80 columns not all have room; these always have.
        let Some(end) = header.find_edge(&[title]) else {
            assert!(!["n", "✓", "✗", "rescued", "penal.", "inside"].contains(&title), "{header:?}");
            continue;
        };
        read += if title == "shared" && scored == 0.0 {
            line.nothing_at(end)
        } else {
            line.at(end, value)
        };
    }
    for (title, name) in [("skill", "skill"), ("null", "skill_null")] {
        let Some(end) = header.find_edge(&[title]) else { continue };
        if totals.is_some() && name == "skill_null" {
            // Totals have no null; the command `skill` has.
            line.blank_at(end);
            continue;
        }
        read += match totals.unwrap_or(picked[0])[name].as_f64() {
            Some(x) => line.at(end, x),
            None => line.nothing_at(end),
        };
    }
    if let Some(end) = header.find_edge(&["success"]) {
        // The number stands left of its bar of six cells.
        read += match of(&["successes"]) + bad {
            0.0 => line.nothing_at(end),
            all => line.at(end - 7, of(&["successes"]) / all),
        };
    }
    if totals.is_none() {
        let codes = picked[0]["warnings"].as_str().unwrap_or_default().replace(';', ", ");
        line.blank_text(&codes);
    }
    read
}

/// A row of the histogram: at how many states so many rollouts meet, and how many steps stand there.
fn size_row(line: &mut Line, header: &Line, steps: &[&Value]) -> usize {
    let Some(name) = header.find_edge(&["rollouts"]).map(|end| line.word(end)) else { return 0 };
    if name.is_empty() {
        return 0;
    }
    let least = whole(name.trim_end_matches('+'));
    let open = name.ends_with('+');
    let inside: Vec<&&Value> = steps
        .iter()
        .filter(|s| {
            let n = int(s, "rollouts_s");
            if open { n >= least } else { n == least }
        })
        .collect();
    let states: std::collections::BTreeSet<(&str, &str)> = inside
        .iter()
        .map(|s| (s["task"].as_str().unwrap(), s["state"].as_str().unwrap()))
        .collect();
    line.blank_at(header.edge(&["rollouts"]));
    let mut read = 1 + line.at(header.edge(&["states"]), states.len() as f64);
    let end = header.edge(&["steps"]);
    read += line.at(end, inside.len() as f64);
    read + line.at(end + 5, 100.0 * inside.len() as f64 / steps.len() as f64)
}

/// Goes through all groups, rollouts and rows at a size.
fn walk(path: &Path, settings: &AnalysisSettings, said: &Said, size: (u16, u16)) -> usize {
    let (corpus, _) = tui_support::loaded(path);
    let groups = corpus.groups.len();
    let mut model = Model::new(corpus, Vec::new(), settings.clone(), tui_support::PLAIN, None);
    let effects = begin(&mut model);
    tui_support::settle(&mut model, effects);
    let effects = update(&mut model, Msg::Resize(size.0, size.1));
    tui_support::settle(&mut model, effects);
    let mut read = 0;
    for _ in 0..groups {
        press(&mut model, "1");
        for lens in ["paths", "opened paths", "states"] {
            match lens {
                "paths" => {}
                "opened paths" => drop(press(&mut model, "x")),
                _ => drop(press(&mut model, "t")),
            }
            press(&mut model, "g");
            loop {
                read += Reading::new(&model, said).all();
                let before = model.cursor;
                press(&mut model, "PgDn");
                if model.cursor == before {
                    break;
                }
            }
        }
        press(&mut model, "t");
        press(&mut model, "2");
        let rollouts = model.shown_group().unwrap().rollouts.len();
        for _ in 0..rollouts {
            press(&mut model, "[");
        }
        for i in 0..rollouts {
            // Of many groups every third rollout has to do at the larger sizes: 80x24 has them all.
            if groups > 1 && size.0 > 80 && i % 3 != 0 {
                press(&mut model, "]");
                continue;
            }
            press(&mut model, "g");
            loop {
                read += Reading::new(&model, said).all();
                let before = model.cursor;
                press(&mut model, "PgDn");
                if model.cursor == before {
                    break;
                }
            }
            press(&mut model, "]");
        }
        press(&mut model, "4");
        read += Reading::new(&model, said).all();
        press(&mut model, "}");
    }
    press(&mut model, "a");
    press(&mut model, "g");
    for _ in 0..=groups {
        read += Reading::new(&model, said).all();
        press(&mut model, "j");
    }
    read
}

/// A group so large that counts need their room: what stands there without a key, the tree, the list.
#[test]
fn numbers_of_a_large_group() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, common::generate::coding(64, 200)).unwrap();
    let said = Said::of(&path, &[]);
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut model = tui_support::opened(tui_support::loaded(&path).0, size);
        let mut read = 0;
        for keys in [&["1", "g"][..], &["PgDn"], &["G"], &["4"], &["2", "G"], &["a"]] {
            for name in keys {
                press(&mut model, name);
            }
            read += Reading::new(&model, &said).all();
        }
        println!("{read} numbers at {size:?}");
        assert!(read > 100, "{read}");
    }
}

fn compare(path: &Path) {
    let said = Said::of(path, &[]);
    for size in [(80, 24), (120, 40), (200, 60)] {
        let read = walk(path, &AnalysisSettings::default(), &said, size);
        println!("{}: {read} numbers at {size:?}", path.display());
        assert!(read > 1_000, "{read}");
    }
}

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data").join(name)
}

#[test]
fn numbers_of_the_scripted_agents() {
    compare(&shipped("slugify-fix/rollouts.jsonl"));
}

#[test]
fn numbers_of_the_desk() {
    compare(&shipped("airline-desk/results.json"));
}

#[test]
fn numbers_of_a_real_group() {
    if let Some(path) = tui_scrape::real(tui_support::R2E) {
        compare(&path);
    }
}

#[test]
fn numbers_of_real_groups() {
    if let Some(path) = tui_scrape::real("tau-bench/gpt-4o-airline.subset-a.json") {
        compare(&path);
    }
}

/// Other settings give other numbers, on both sides.
#[test]
fn numbers_under_other_settings() {
    let path = shipped("slugify-fix/rollouts.jsonl");
    let mut settings = AnalysisSettings {
        granularity: Granularity::preset("coarse").unwrap(),
        tau: (0.05, 0.05),
        ..AnalysisSettings::default()
    };
    settings.credit.gamma = 0.9;
    settings.credit.n_prior = 0.5;
    let flags = ["--preset", "coarse", "--tau", "0.05", "--gamma", "0.9", "--n-prior", "0.5"];
    let said = Said::of(&path, &flags);
    assert!(walk(&path, &settings, &said, (120, 40)) > 1_000);
}

#[test]
fn a_wrong_number_is_noticed() {
    let row = Line::from("   12  +0.307  15%");
    assert_eq!(row.clone().at(5, 12.0), 1);
    assert_eq!(row.clone().at(13, 0.3072), 1);
    assert!(std::panic::catch_unwind(|| row.clone().at(13, 0.3079)).is_err());
    assert!(std::panic::catch_unwind(|| row.clone().done(&[])).is_err());
    assert!(fits("modify:3859@…able.py", "modify:replace:3859@separable.py"));
    assert!(!fits("modify:3858@…able.py", "modify:replace:3859@separable.py"));
}
