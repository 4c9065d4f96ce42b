//! The steps worth reading, held against `report` and `steps`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Line;
use super::reading::{Reading, index};
use super::said::int;

/// A row that has to be there: its group, step, and what it is ranked by.
struct Wanted<'a> {
    step: &'a Value,
    next: Option<&'a Value>,
    value: f64,
}

/// Rows of each kind, and of each group in the list over all of them, at most.
const MOST: usize = 12;
const OF_A_GROUP: usize = 3;

impl Reading<'_> {
    pub fn ranked(&self, lines: &mut [Line]) -> usize {
        lines[0].title("r Worth reading");
        let all = self.model.reading.all;
        let wanted = if all { self.of_all() } else { self.of_one(&self.task, true) };
        let mut read = if all {
            lines[0].after("all ", self.said.groups.len() as f64)
        } else {
            lines[0].before("steps", wanted.len() as f64)
                + lines[0].before("step", wanted.len() as f64)
        };
        lines[0].done(&[]);
        if wanted.is_empty() {
            assert!(lines.iter().skip(2).all(|l| !l.has_digit()), "{lines:?}");
            return read;
        }
        assert_eq!(read, 1, "{lines:?}");
        let header = lines[1].clone();
        let told = lines.iter().position(|l| l.text().starts_with(" → ")).unwrap_or(lines.len());
        let (list, below) = lines.split_at_mut(told);
        // Where the values end: under the name of the quantity, in the heading of each section, or in the
        // header where that is out of sight.
        let mut value = header.find_edge(&["cmp", "ΔV", "A"]);
        for line in &mut list[2..] {
            line.take_mark();
            let rank = line.part(0, 4).numerals();
            let Some((_, end, word)) = rank.first() else {
                // A heading, a caution.
                line.done(&["group of 1"]);
                let text = line.text();
                let last = text.split_whitespace().next_back().unwrap_or_default();
                let quantity = match last {
                    "cmp" => text.contains("different ways"),
                    "A" => text.contains("X and Y disagree"),
                    "ΔV" => text.contains("V of the next state is lower"),
                    _ => false,
                };
                if quantity {
                    value = Some(text.trim_end().chars().count());
                }
                continue;
            };
            let wanted = &wanted[index(super::whole(word)) - 1];
            line.clear(0, *end);
            read += 1 + self.ranked_row(line, &header, value.unwrap(), wanted);
            line.done(&[]);
        }
        read + self.sentence(below, &wanted[self.model.reading.at])
    }

    fn of_one(&self, task: &str, whole: bool) -> Vec<Wanted<'_>> {
        let report = self.said.ask(&["report"]);
        let page = report["rows"].as_array().unwrap().iter().find(|r| r["group"]["task"] == task);
        let page = page.unwrap();
        let find = |rollout: &str, t: usize, value: f64| {
            let steps = self.said.steps_of(task, rollout);
            Wanted { step: steps[t], next: steps.get(t + 1).copied(), value }
        };
        let of = |list: &str, name: &str| -> Vec<Wanted<'_>> {
            let rows = page[list].as_array().into_iter().flatten();
            rows.map(|r| {
                let rollout = r["rollout"].as_str().unwrap();
                find(rollout, index(int(r, "step")), r[name].as_f64().unwrap())
            })
            .collect()
        };
        let mut rows = of("pivotal", "comparison");
        rows.truncate(if whole { MOST } else { OF_A_GROUP });
        if !whole {
            return rows;
        }
        let y = self.y();
        let mut disagree: Vec<&Value> = self
            .said
            .steps_in(task)
            .filter(|s| matches!(s["quadrant"].as_str(), Some("rescued" | "penalized")))
            .collect();
        let size = |s: &Value| s[y].as_f64().unwrap().abs();
        disagree.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let disagree = disagree.into_iter().take(MOST);
        rows.extend(disagree.map(|step| Wanted {
            step,
            next: None,
            value: step[y].as_f64().unwrap(),
        }));
        let tau = self.model.settings.tau.1;
        let deep = |w: &Wanted| w.value.abs() > tau;
        rows.extend(of("drops", "change").into_iter().filter(deep).take(MOST));
        rows
    }

    fn of_all(&self) -> Vec<Wanted<'_>> {
        let groups = self.said.groups.iter();
        let mut rows: Vec<Wanted<'_>> =
            groups.flat_map(|g| self.of_one(g["task"].as_str().unwrap(), false)).collect();
        // Of equal ones the earlier group and step come first, as they stand here.
        rows.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        rows
    }

    fn ranked_row(&self, line: &mut Line, header: &Line, value: usize, wanted: &Wanted) -> usize {
        let step = wanted.step;
        let outcome = (0..line.width())
            .find(|&x| matches!(line.cell(x), '✓' | '✗' | '⊘' | '‼' | '?'))
            .unwrap();
        let names = line.part(0, outcome).text();
        let names: Vec<&str> = names.split_whitespace().collect();
        let owners = if self.model.reading.all { &["task", "rollout"][..] } else { &["rollout"] };
        if names.len() == owners.len() {
            for (name, owner) in names.iter().zip(owners) {
                let full = step[*owner].as_str().unwrap();
                assert!(full.contains(name.trim_matches('…')), "{name} is not {full}: {line:?}");
            }
        }
        line.clear(0, outcome + 1);
        let mut read = line.after(" t", int(step, "step"));
        read += line.at(value, wanted.value);
        for (title, (ok, n)) in
            [("✓ this", self.ends(step, true)), ("others", self.ends(step, false))]
        {
            let end = header.edge(&[title]);
            let mut word = line.part(0, end);
            read += if n == 0.0 { word.nothing_at(end) } else { word.fraction(ok, n) };
            line.blank_at(end);
        }
        let v = |s: Option<&Value>| s.and_then(|s| s["v"].as_f64()).unwrap_or(f64::NAN);
        read += line.after("  V ", v(Some(step))) + line.after("to ", v(wanted.next));
        let from = header.edge(&["action"]) - "action".len();
        let full = step["action"].as_str().unwrap();
        assert!(line.label_of(from, value - 6, full), "{line:?} is not {full}");
        read
    }

    /// Of the scored rollouts that took this way out of the state, or another: successes, and all.
    fn ends(&self, step: &Value, this: bool) -> (f64, f64) {
        let who = self.who(step, this);
        let ok = who.iter().filter(|(_, ok)| *ok).count();
        (ok as f64, who.len() as f64)
    }

    fn who<'a>(&'a self, step: &Value, this: bool) -> BTreeSet<(&'a str, bool)> {
        self.said
            .steps_in(step["task"].as_str().unwrap())
            .filter(|s| {
                super::cells::is_scored(s)
                    && s["state"] == step["state"]
                    && (s["action"] == step["action"]) == this
            })
            .map(|s| (s["rollout"].as_str().unwrap(), s["outcome"] == "success"))
            .collect()
    }

    /// The sentence below the list, as much of it as is there.
    fn sentence(&self, lines: &mut [Line], wanted: &Wanted) -> usize {
        let text: Vec<String> = lines.iter().map(Line::text).collect();
        let mut line = Line::from(text.join(" ").as_str());
        let step = wanted.step;
        let task = step["task"].as_str().unwrap();
        let n = |name: &str| step[name].as_f64().unwrap();
        let all = if line.find("were in this state").is_some() {
            let ways: BTreeSet<&str> = self
                .said
                .steps_in(task)
                .filter(|s| super::cells::is_scored(s) && s["state"] == step["state"])
                .map(|s| s["action"].as_str().unwrap())
                .collect();
            let scored = int(self.said.group(task), "scored");
            let mut all = vec![n("rollouts_s"), scored, ways.len() as f64];
            for this in [true, false] {
                let (ok, of) = self.ends(step, this);
                all.extend([ok, of].into_iter().filter(|_| of != 1.0));
            }
            let (mine, others) = (self.who(step, true), self.who(step, false));
            let both = mine.intersection(&others).count();
            all.extend((both > 1).then_some(both as f64));
            all
        } else if line.find("Before it V is").is_some() {
            let next = wanted.next.unwrap();
            vec![n("v"), n("n_s"), next["v"].as_f64().unwrap(), next["n_s"].as_f64().unwrap()]
        } else if line.find(" says ").is_some() {
            let x = self.model.settings.x.as_str();
            step[x].as_f64().into_iter().chain([n(self.y())]).collect()
        } else {
            Vec::new()
        };
        let shown = line.numerals().len().min(all.len());
        let read = line.expect(&all[..shown]);
        line.done(&[]);
        read
    }
}
