//! Rollouts side by side, the ways out of a state and where each pair parts, held against `compare`,
//! `steps` and `tree`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::Line;
use super::reading::{Reading, index};
use super::said::int;

impl Reading<'_> {
    pub fn compare(&self, lines: &mut [Line]) -> usize {
        let n = lines.len();
        let rule = |title: &str| {
            (1..n).find(|&y| lines[y].text().trim_start_matches(['─', '━', ' ']).starts_with(title))
        };
        let (ways, pairs) = (rule("Ways at s"), rule("First divergence"));
        let end = ways.or(pairs).unwrap_or(n);
        let mut read = self.aligned(&mut lines[..end]);
        if let Some(at) = ways {
            read += self.ways_out(&mut lines[at..pairs.unwrap_or(n)]);
        }
        read + pairs.map_or(0, |at| self.pairs(&mut lines[at..]))
    }

    fn aligned(&self, lines: &mut [Line]) -> usize {
        let rollouts = &self.model.comparing.alignment.rollouts;
        let ids: Vec<&str> = rollouts.iter().map(|&r| self.rollouts[r].as_str()).collect();
        lines[0].title("| Compare");
        // Names of what is compared, and words.
        let words = lines[0].text().find("aligned on").or(lines[0].text().find("steps only here"));
        let names = lines[0].text()[..words.unwrap_or(0)].to_owned();
        for (name, id) in names.trim_matches(['━', '─', ' ']).split_whitespace().zip(&ids) {
            assert!(id.contains(name.trim_matches('…')), "{name} is not {id}");
            lines[0].claim_word(|w| w == name);
        }
        lines[0].done(&[]);
        if ids.len() < 2 {
            return 0;
        }
        let header = lines[1].clone();
        let (places, mut read) = self.heads(&mut lines[1], &ids);
        lines[1].done(&[]);
        let (rows, _) = self.said.compared(&self.task, &ids);
        let place = |r: &Value| (r["rollout"].as_str().unwrap().to_owned(), index(int(r, "step")));
        let known: HashMap<(String, usize), &Value> = rows.iter().map(|r| (place(r), r)).collect();
        let mut before = None;
        for line in &mut lines[2..] {
            let text = line.text();
            if text.trim_start().starts_with('⋎') {
                read += self.parting(line, &rows, before);
                line.done(&[]);
                continue;
            }
            let state = line.part(0, places[0].1);
            let mut row = None;
            for (k, &(which, from)) in places.iter().enumerate() {
                let to = places.get(k + 1).map_or(header.width(), |p| p.1);
                let mut cell = line.part(from, to);
                let Some(t) = cell.numerals().first().map(|n| index(super::whole(&n.2))) else {
                    continue;
                };
                let step = self.said.steps_of(&self.task, ids[which])[t];
                let aligned = known[&(ids[which].to_owned(), t)];
                // All that stands in a row is one row of the command line, too.
                let number = int(aligned, "row");
                assert!(row.is_none_or(|n| n == number), "{line:?}");
                assert!(before.is_none_or(|n| n <= number), "{line:?}");
                row = Some(number);
                read += self.cell(&mut cell, step, t);
                cell.done(&[]);
                let mut state = state.clone();
                if aligned["aligned"] == true {
                    read += state.after("s", self.said.number(step));
                    state.done(&[]);
                }
            }
            before = row.or(before);
            line.clear(places[0].1, usize::MAX);
            // A step that stands alone has its state where it is listed alone.
            line.clear(0, usize::from(row.is_some()) * places[0].1);
            line.done(&[]);
        }
        read
    }

    /// The heads of the columns: which rollout of those compared, and the cell where it begins.
    fn heads(&self, line: &mut Line, ids: &[&str]) -> (Vec<(usize, usize)>, usize) {
        let mut places = Vec::new();
        let mark = |c: char| matches!(c, '✓' | '✗' | '⊘' | '‼' | '?');
        let ends: Vec<usize> =
            (0..line.width()).filter(|&x| mark(line.cell(x)) && line.cell(x - 1) == ' ').collect();
        let mut read = 0;
        let mut starts = Vec::new();
        for &end in &ends {
            let from = (0..end - 1).rev().find(|&x| matches!(line.cell(x), ' ' | '▸'));
            starts.push(from.unwrap());
        }
        for (i, (&from, &end)) in starts.iter().zip(&ends).enumerate() {
            let name = line.part(from + 1, end - 1).text();
            let which = (0..ids.len())
                .find(|&k| {
                    ids[k].contains(name.trim_matches('…'))
                        && places.iter().all(|&(p, _)| p < k)
                        && (k == 0 || i > 0 || self.model.comparing.column >= k)
                })
                .unwrap_or_else(|| panic!("{name} is none of {ids:?}"));
            places.push((which, from));
            let steps = self.said.steps_of(&self.task, ids[which]);
            let to = starts.get(i + 1).copied().unwrap_or(line.width());
            let mut about = line.part(end, to);
            read += about.before("steps", steps.len() as f64);
            read += about.before("step", steps.len() as f64);
            let g0 = steps.first().and_then(|s| s["ret"].as_f64());
            if let Some(g0) = g0 {
                read += about.after("G_0 ", g0);
            }
            about.take_text("G_0");
            about.done(&[]);
        }
        line.clear(0, usize::MAX);
        (places, read)
    }

    /// `4 ▒ modify:fa5… +0.101`
    fn cell(&self, cell: &mut Line, step: &Value, t: usize) -> usize {
        let end = cell.numerals()[0].1;
        let mut read = cell.at(end, t as f64);
        let last = (0..cell.width()).rev().find(|&x| cell.cell(x) != ' ').map_or(0, |x| x + 1);
        read += match step[self.y()].as_f64() {
            Some(a) => cell.at(last, a),
            None => cell.nothing_at(last),
        };
        let class = match step["evidence"].as_str() {
            Some("compared") => '█',
            Some("shared") => '▒',
            Some("self") => '∷',
            Some("single") => '═',
            _ => cell.cell(end + 1),
        };
        assert_eq!(cell.cell(end + 1), class, "{cell:?} {step}");
        let full = step["action"].as_str().unwrap();
        assert!(cell.label(end + 3, full), "{cell:?} is not {full}");
        read
    }

    /// `3 ways at s6, 3 of 8 rollouts were here, V 0.708`, below the row that it speaks of.
    fn parting(&self, line: &mut Line, rows: &[Value], row: Option<f64>) -> usize {
        let Some(row) = row else {
            // The row is out of sight, above: the state tells which one it is.
            let n = line.numerals();
            let state = super::whole(&n[1].2);
            let found = rows
                .iter()
                .find(|r| r["aligned"] == true && self.said.number(r) == state && split(rows, r).1);
            let found = found.unwrap_or_else(|| panic!("no rollouts part at {line:?}"));
            return self.parting_at(line, rows, found);
        };
        let found = rows.iter().find(|r| int(r, "row") == row && r["aligned"] == true).unwrap();
        self.parting_at(line, rows, found)
    }

    fn parting_at(&self, line: &mut Line, rows: &[Value], row: &Value) -> usize {
        let (ways, parts) = split(rows, row);
        assert!(parts, "{line:?} {row}");
        let step = self.said.steps_in(&self.task).find(|s| s["state"] == row["state"]).unwrap();
        let mut all = vec![ways, self.said.number(step), int(step, "rollouts_s")];
        all.push(int(self.said.group(&self.task), "scored"));
        all.extend(step["v"].as_f64().filter(|_| int(step, "n_s") > 0.0));
        line.expect(&all)
    }

    /// The ways that scored rollouts leave a state.
    fn ways_out(&self, lines: &mut [Line]) -> usize {
        let shown = lines[0].numerals();
        let number = super::whole(&shown[0].2);
        let step = self.said.steps_in(&self.task).find(|s| self.said.number(s) == number).unwrap();
        let state = step["state"].as_str().unwrap();
        let here = lines[0].find("were here").unwrap() + "were here".len();
        let scored = int(self.said.group(&self.task), "scored");
        let mut head = lines[0].part(0, here);
        let mut read = head.expect(&[number, int(step, "rollouts_s"), scored]);
        let label = lines[0].part(here, usize::MAX).text();
        let label = label.trim_matches([' ', '─', '━', '…']);
        assert!(state.contains(label.trim()), "{label} is not {state}");
        lines[0].clear(0, usize::MAX);
        if lines.len() < 2 {
            return read;
        }
        let header = lines[1].clone();
        let (n, taken) = (header.edge(&["N"]), header.edge(&["taken by"]) - "taken by".len());
        let mut of_state: Vec<&Value> = self
            .said
            .states
            .iter()
            .filter(|r| r["task"] == self.task.as_str() && r["state"] == state)
            .collect();
        for line in &mut lines[2..] {
            line.take_mark();
            // Labels that are cut may be alike: then the numbers tell which one it is, each once.
            let is = |line: &Line, title: &str, value: Option<f64>| {
                let word = line.word(header.edge(&[title]));
                let shown = super::number(&word).filter(|_| word != "·");
                shown
                    .zip(value)
                    .map_or(shown.is_none() && value.is_none(), |(n, a)| super::near(&word, n, a))
            };
            let at = of_state.iter().position(|r| {
                let mut copy = line.clone();
                copy.label_of(0, taken, r["action"].as_str().unwrap())
                    && copy.is_fraction(int(r, "n_sa"), int(r, "n_s"))
                    && is(&copy, "Q", r["q"].as_f64())
                    && is(&copy, "A", self.value_of(r))
            });
            let row = at.map(|at| of_state.remove(at));
            let row = row.unwrap_or_else(|| panic!("no way out of {state} is {line:?}"));
            line.label_of(0, taken, row["action"].as_str().unwrap());
            read += line.fraction(int(row, "n_sa"), int(row, "n_s"));
            for (title, value) in [("Q", row["q"].as_f64()), ("A", self.value_of(row))] {
                read += match value {
                    Some(x) => line.at(header.edge(&[title]), x),
                    None => line.nothing_at(header.edge(&[title])),
                };
            }
            // Who went this way: names, or how many.
            let mut who: BTreeSet<&str> = self.takers(row).collect();
            if line.find(" rollouts").is_some() {
                read += line.before("rollouts", who.len() as f64);
            } else {
                let told = line.part(taken, n).text();
                let names: Vec<&str> =
                    told.split_whitespace().filter(|w| w.len() > 1 && !w.contains('/')).collect();
                assert_eq!(names.len(), who.len(), "{told} {who:?}");
                for name in names {
                    let bare = name.trim_matches(['✓', '✗', '⊘', '‼', '?', '…']);
                    let one = who.iter().copied().find(|w| w.ends_with(bare));
                    assert!(one.is_some_and(|w| who.remove(w)), "{name} is none of {who:?}");
                }
                line.clear(taken, header.edge(&["N"]));
            }
            line.done(&[]);
        }
        read
    }

    /// Scored rollouts that take an action in a state.
    pub fn takers(&self, pair: &Value) -> impl Iterator<Item = &str> {
        let (state, action) = (pair["state"].clone(), pair["action"].clone());
        self.said
            .steps_in(&self.task)
            .filter(move |s| {
                super::cells::is_scored(s) && s["state"] == state && s["action"] == action
            })
            .map(|s| s["rollout"].as_str().unwrap())
    }

    /// The Y value of a way out of a state: that of its first step.
    fn value_of(&self, pair: &Value) -> Option<f64> {
        let step = self.said.steps_in(&self.task).find(|s| {
            super::cells::is_scored(s)
                && s["state"] == pair["state"]
                && s["action"] == pair["action"]
        });
        step.and_then(|s| s[self.y()].as_f64())
    }

    /// Where each rollout first leaves each other one: its first step in a state where the other was
    /// and took other actions only.
    fn pairs(&self, lines: &mut [Line]) -> usize {
        let all = self.rollouts.len();
        let mut read = 0;
        if lines[0].find("more not shown").is_some() {
            let shown = self.model.comparing.pairs.rollouts.len();
            read += lines[0].expect(&[(all - shown) as f64]);
        }
        lines[0].done(&[]);
        let others = &self.model.comparing.pairs.rollouts;
        let ids: Vec<&str> = others.iter().map(|&r| self.rollouts[r].as_str()).collect();
        let (_, said) = self.said.compared(&self.task, &ids);
        // The columns end where their names do.
        let head: Vec<(usize, String)> = words(&lines[1]);
        let first = head.first().map_or(0, |(_, name)| {
            ids.iter().position(|id| id.contains(name.trim_matches('…'))).unwrap()
        });
        let columns: Vec<(usize, &str)> =
            head.iter().enumerate().map(|(k, (end, _))| (*end, ids[first + k])).collect();
        for ((_, name), (_, id)) in head.iter().zip(&columns) {
            assert!(id.contains(name.trim_matches('…')), "{name} is not {id}");
        }
        let mut next = None;
        for line in &mut lines[2..] {
            if line.text().trim().is_empty() {
                continue;
            }
            let outcome = (0..line.width())
                .find(|&x| matches!(line.cell(x), '✓' | '✗' | '⊘' | '‼' | '?'))
                .unwrap();
            let name = line.part(1, outcome).text();
            let name = name.trim().trim_matches('…');
            let at = next.unwrap_or_else(|| ids.iter().position(|id| id.contains(name)).unwrap());
            next = Some(at + 1);
            let id = ids[at];
            line.name_before_outcome(id);
            let mut from = outcome + 1;
            for &(end, other) in &columns {
                let mut cell = line.part(from, end);
                from = end;
                read += self.first_parting(&mut cell, &said, id, other);
                cell.done(&[]);
                line.clear(from - cell.width(), from);
            }
            line.done(&[]);
        }
        read
    }

    /// By hand from the steps; `compare` says the same step.
    fn first_parting(&self, cell: &mut Line, said: &[Value], id: &str, other: &str) -> usize {
        let mut taken: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let text = |s: &'_ Value, k: &str| s[k].as_str().unwrap().to_owned();
        let other_steps = self.said.steps_of(&self.task, other);
        for s in &other_steps {
            let at = taken.entry(s["state"].as_str().unwrap()).or_default();
            at.insert(s["action"].as_str().unwrap());
        }
        let steps = self.said.steps_of(&self.task, id);
        let found = steps.iter().find(|s| {
            taken
                .get(text(s, "state").as_str())
                .is_some_and(|at| !at.contains(text(s, "action").as_str()))
        });
        let told = said.iter().find_map(|r| match (r["a"] == id, r["b"] == other) {
            (true, true) => Some(&r["a_leaves"]),
            _ if r["a"] == other && r["b"] == id => Some(&r["b_leaves"]),
            _ => None,
        });
        let step = found.map_or(&Value::Null, |s| &s["step"]);
        assert_eq!(told, Some(step).filter(|_| id != other), "{id} {other}");
        match found {
            _ if id == other => assert!(cell.take_text("·"), "{cell:?}"),
            None => assert!(cell.take_text("none"), "{cell:?}"),
            Some(s) => {
                let mut all = vec![self.said.number(s), int(s, "step")];
                all.extend(s[self.y()].as_f64());
                return cell.expect(&all);
            }
        }
        1
    }
}

/// The words of a line, with the column after each.
fn words(line: &Line) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for x in 0..line.width() {
        let c = line.cell(x);
        if c == ' ' {
            continue;
        }
        match found.last_mut() {
            Some((end, word)) if *end == x => {
                word.push(c);
                *end = x + 1;
            }
            _ => found.push((x + 1, c.to_string())),
        }
    }
    found
}

/// In how many ways the rollouts of a row go on, and whether that is more than one.
fn split(rows: &[Value], row: &Value) -> (f64, bool) {
    let actions: BTreeSet<&str> = rows
        .iter()
        .filter(|r| r["row"] == row["row"])
        .map(|r| r["action"].as_str().unwrap())
        .collect();
    (actions.len() as f64, actions.len() > 1)
}
