//! The tree of rollouts, row for row, held against `tree` and `steps`.

use std::collections::BTreeMap;

use credscope::tui::lens::LensKind;
use serde_json::Value;

use super::reading::{Reading, index};
use super::said::int;
use super::{Line, near, number};

impl Reading<'_> {
    pub fn tree(&self, lines: &mut [Line]) -> usize {
        let of_task = |r: &&Value| r["task"] == self.task.as_str();
        let paths: Vec<&Value> = self.said.paths.iter().filter(of_task).collect();
        let g = self.said.group(&self.task);
        let (lens, sight) = self.model.tree().unwrap();
        let visible = &sight.rows;
        lines[0].title("1 Tree");
        let least = self.model.arrangement.least as f64;
        if sight.pruned_rows > 0 {
            // In the states lens a row with fewer stands where one below it has more.
            let small = paths.iter().filter(|r| int(r, "n") < least).count();
            if self.model.lens == LensKind::Paths {
                assert_eq!(sight.pruned_rows, small);
            }
            lines[0].after("− ", sight.pruned_rows as f64);
            lines[0].before("rollouts", sight.pruned_rollouts as f64);
            lines[0].before("rollout", sight.pruned_rollouts as f64);
        }
        if least > 0.0 {
            lines[0].after("below ", least);
        }
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
        let selected = self.model.step().and_then(|s| sight.position(lens, s)).unwrap_or(0);
        let top = Self::top(lines, selected);
        // Each path has a row for each of its steps: the first, then those that show where it is opened.
        let expanded: Vec<(&Value, usize)> =
            paths.iter().flat_map(|&r| (0..index(int(r, "steps"))).map(move |k| (r, k))).collect();
        for (y, line) in lines[2..].iter_mut().enumerate().take(visible.len() - top) {
            read += match self.model.lens {
                LensKind::Paths => {
                    let at = visible[top + y];
                    let (row, k) = expanded[at];
                    hidden(line, sight.pruned_below[at]) + self.path(line, &header, row, k)
                }
                LensKind::States => {
                    let below = sight.pruned_below[visible[top + y]];
                    hidden(line, below) + self.transition(line, &header)
                }
            };
        }
        read
    }

    /// A row of the paths: the first step of a segment, or a further one.
    fn path(&self, line: &mut Line, header: &Line, row: &Value, k: usize) -> usize {
        let first = index(int(row, "first_step"));
        let steps = self.said.steps_of(&self.task, row["first_rollout"].as_str().unwrap());
        let step = steps[first + k];
        let mut read = 0;
        for (title, name) in [("n", "n"), ("✓", "successes"), ("✗", "failures")] {
            read += line.at(header.edge(&[title]), int(row, name));
        }
        let stp = if k == 0 { int(row, "steps") } else { 1.0 };
        read += line.at(header.edge(&["stp"]), stp);
        let own = if k == 0 { row } else { step };
        read += Self::pair(line, header, own);
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
    fn pair(line: &mut Line, header: &Line, row: &Value) -> usize {
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
                let shown: Vec<Option<f64>> =
                    ["n", "✓", "✗", "stp"].iter().map(|t| copy.peek(header.edge(&[t]))).collect();
                // Where it leads to: another state, the end, or back, as often as it has steps.
                let leads = |to: Option<f64>, steps: f64| {
                    let mut copy = copy.clone();
                    let state = to.unwrap_or(f64::NAN);
                    match to {
                        None => copy.take_text("→end"),
                        Some(_) if copy.find("→s").is_some() => copy.is_after("→s", state),
                        Some(_) if copy.find("↪s").is_some() => copy.is_after("↪s", state),
                        Some(_) => state == self.said.number(row) && copy.is_after("↺", steps),
                    }
                };
                let fits = |(to, counts): &(Option<f64>, [f64; 4])| {
                    counts.map(Some).to_vec() == shown && leads(*to, counts[3])
                };
                if self.ways(row).iter().any(fits) {
                    found = Some(row);
                    break;
                }
            }
        }
        let row = found.unwrap_or_else(|| panic!("no state and action has {line:?}"));
        let mut read = Self::pair(line, header, row);
        for title in ["n", "✓", "✗", "stp"] {
            line.blank_at(header.edge(&[title]));
            read += 1;
        }
        line.blank_depth();
        line.blank_state_ids();
        line.label(0, row["action"].as_str().unwrap());
        line.blank_after("↺");
        line.blank_after("⋎");
        line.done(&[]);
        read
    }

    /// For each state that follows an action, its number, and those
    /// with a verdict, successes, failures, steps.
    fn ways(&self, row: &Value) -> Vec<(Option<f64>, [f64; 4])> {
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
        let numbers = &self.said.numbers[&self.task];
        ways.iter()
            .map(|(next, (who, steps))| {
                let ok = who.values().filter(|&&ok| ok).count() as f64;
                let counts = [who.len() as f64, ok, who.len() as f64 - ok, *steps];
                (next.map(|state| numbers[state] as f64), counts)
            })
            .collect()
    }
}

/// How many rollouts go on in rows that are hidden; a row without such has no mark.
fn hidden(line: &mut Line, below: u32) -> usize {
    if below == 0 { 0 } else { line.after("−", f64::from(below)) }
}

fn near_at(line: &Line, header: &Line, title: &str, value: Option<f64>) -> bool {
    let Some(end) = header.find_edge(&[title]) else { return true };
    let word = line.word(end);
    match (number(&word), value) {
        (Some(n), Some(v)) => near(&word, n, v),
        _ => word == "·",
    }
}
