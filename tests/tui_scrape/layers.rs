//! Layers over the panes, and the last line of the screen, held against `steps`, `tree` and `estimators`.

use credscope::tui::model::Layer;
use regex::Regex;
use serde_json::Value;

use super::reading::Reading;
use super::said::int;
use super::{Line, number};

impl Reading<'_> {
    /// The layer that is drawn instead of the panes.
    pub fn layer(&self, layer: &Layer, lines: &mut [Line]) -> usize {
        match layer {
            Layer::Filter { .. } => self.filter(lines),
            Layer::Columns { at } => self.columns(*at, lines),
            Layer::Warnings { .. } => self.warnings(lines),
            // Texts of help and names of files: no numbers of the data.
            _ => 0,
        }
    }

    /// The warnings of the group are the sentences of the report.
    fn warnings(&self, lines: &mut [Line]) -> usize {
        let said = self.reported();
        let of_load = self.model.warnings().len() - said.len();
        lines[0].title("W Warnings");
        let mut read = lines[0].expect(&[said.len() as f64, of_load as f64]);
        let told = |w: &Value| ["text", "help", "code"].map(|k| w[k].as_str().unwrap().to_owned());
        let all: Vec<String> = said
            .iter()
            .map(told)
            .map(|[text, help, code]| format!("{text} {help} ({code})"))
            .collect();
        for line in lines[1..].iter_mut().filter(|l| l.has_digit()) {
            read += line.numerals().len();
            line.piece_of(3, &all.join(" "));
        }
        read
    }

    /// The warnings of the shown group in the report.
    pub fn reported(&self) -> Vec<Value> {
        let report = self.said.ask(&["report"]);
        let pages = report["rows"].as_array().unwrap();
        let page = pages.iter().find(|r| r["group"]["task"] == self.task.as_str()).unwrap();
        page["warnings"].as_array().cloned().unwrap_or_default()
    }

    fn filter(&self, lines: &mut [Line]) -> usize {
        let steps: Vec<&Value> = self.said.steps_in(&self.task).collect();
        // What is chosen, as it stands on the screen.
        let mut facets = facets(lines);
        self.whole_names(&mut facets);
        let chosen: Vec<&Facet> = facets.iter().filter(|f| f.chosen).collect();
        let passing = steps.iter().filter(|s| self.passes(s, &chosen)).count();
        lines[0].title("f Filter");
        let thresholds: Vec<f64> = chosen
            .iter()
            .filter_map(|f| f.name.strip_prefix("> "))
            .map(|n| n.parse().unwrap())
            .collect();
        let shared = chosen.iter().filter(|f| f.name == "N≥2").map(|_| 2.0);
        let mut all = vec![passing as f64, steps.len() as f64];
        all.extend(thresholds);
        all.extend(shared);
        let mut read = lines[0].expect(&all);
        lines[0].done(&[]);
        for facet in &facets {
            // Of one kind any is enough: those chosen of the same kind leave it as it is.
            let rest: Vec<&Facet> = chosen
                .iter()
                .copied()
                .filter(|f| (f.kind != facet.kind || f.kind == "state") && f.name != facet.name)
                .collect();
            let n = steps.iter().filter(|s| self.holds(s, facet) && self.passes(s, &rest)).count();
            let shown = number(&facet.count);
            assert_eq!(shown, Some(n as f64), "{} {}", facet.kind, facet.name);
            read += 1;
        }
        read
    }

    /// Files stand with the end of their path: they are listed in the order of the model.
    fn whole_names(&self, facets: &mut [Facet]) {
        let listed = self.model.filtering.facets.iter().map(|(f, _)| f);
        let mut names = listed.filter(|f| f.kind() == "file").map(credscope::analysis::Facet::name);
        for facet in facets.iter_mut().filter(|f| f.kind == "file") {
            let end = facet.name.trim_start_matches('…').to_owned();
            facet.name = names.find(|n| n.ends_with(&end)).unwrap_or_else(|| panic!("no {end}"));
        }
    }

    /// Whether the action of a step has the file among its targets, as it was loaded.
    fn works_on(&self, step: &Value, file: &str) -> bool {
        let group = self.said.group_of(&self.task);
        let rollout = group.find(step["rollout"].as_str().unwrap()).unwrap();
        let at = group.rollouts[rollout].steps.start + super::reading::index(int(step, "step"));
        let facts = &group.steps.facts;
        let targets = facts.targets_of(facts.steps.action(at).unwrap());
        targets.iter().any(|&t| group.symbols.text(t) == file)
    }

    fn passes(&self, step: &Value, chosen: &[&Facet]) -> bool {
        chosen.iter().all(|f| {
            chosen.iter().any(|g| {
                (g.name == f.name || g.kind == f.kind && f.kind != "state") && self.holds(step, g)
            })
        })
    }

    fn holds(&self, step: &Value, facet: &Facet) -> bool {
        let is = |key: &str, name: &str| step[key] == name;
        match (facet.kind.as_str(), facet.name.as_str()) {
            ("outcome", name) => is("outcome", name),
            ("result", name) => is("result", name),
            ("file", name) => self.works_on(step, name),
            ("quadrant", name) => is("quadrant", name),
            ("evidence", name) => is("evidence", name),
            ("category", name) => is("category", name),
            ("|A|", name) => {
                let least: f64 = name.trim_start_matches("> ").parse().unwrap();
                step[self.y()].as_f64().is_some_and(|a| a.abs() > least)
            }
            (_, "N≥2") => int(step, "rollouts_s") >= 2.0,
            (_, "branching") => self.branches(step),
            (_, name) => step[name] == true,
        }
    }

    /// The chooser: what each column is, in the words of `estimators`.
    fn columns(&self, at: usize, lines: &mut [Line]) -> usize {
        let settings = &self.model.settings;
        let known = self.said.estimators();
        let find = |name: &str| known.iter().find(|r| r["id"] == name);
        lines[0].title("c Columns");
        let mut read = lines[0].before("in", settings.columns.len() as f64);
        lines[0].done(&[]);
        let names = credscope::tui::choosing::names(self.model);
        let about = find(&names[at]).unwrap();
        let about = ["formula", "source", "reading", "params"].map(|k| about[k].as_str());
        let about: String = about.into_iter().flatten().collect::<Vec<_>>().join(" ");
        // A parameter stands with its value and range in columns of their own.
        let about = about.replace([':', '='], "");
        let mut below = false;
        for line in &mut lines[1..] {
            if line.cell(0) == '─' {
                below = true;
                continue;
            }
            if !line.has_digit() {
                continue;
            }
            if below {
                read += line.numerals().len();
                let text = line.part(11, usize::MAX).text().replace([':', '='], "");
                Line::from(text.as_str()).piece_of(0, &about);
                continue;
            }
            let text = line.text();
            let name = text[text.find(']').unwrap() + 1..].split_whitespace();
            let name = name.filter(|w| !matches!(*w, "X" | "Y" | "XY")).collect::<Vec<_>>()[0];
            let formula = find(name).unwrap_or_else(|| panic!("no {name}"))["formula"].clone();
            let from = line.find(&format!(" {name} ")).unwrap() + name.chars().count() + 2;
            line.clear(0, from);
            read += line.numerals().len();
            line.piece_of(from, formula.as_str().unwrap());
            line.done(&[]);
        }
        read
    }

    /// The last line: keys, a message, the state of a search.
    pub fn footer(&self, line: &mut Line) -> usize {
        let mut read = line.after("fewer than ", self.model.arrangement.least as f64);
        if self.model.finding.active()
            && line.find(&format!(" /{}", self.model.finding.pattern)).is_some()
        {
            line.take_text(&format!(" /{}", self.model.finding.pattern));
            let hits = self.said.steps_in(&self.task).filter(|s| self.is_hit(s)).count();
            let found = line.before("hits", hits as f64) + line.before("hit", hits as f64);
            assert_eq!(found, 1, "{line:?}");
            read += found;
        }
        if line.find(" divergence ").is_some() && line.has_digit() {
            let ids: Vec<&str> = self
                .model
                .comparing
                .alignment
                .rollouts
                .iter()
                .map(|&r| self.rollouts[r].as_str())
                .collect();
            let (rows, _) = self.said.compared(&self.task, &ids);
            let mut parting: Vec<(u64, Vec<&str>)> = Vec::new();
            for row in rows.iter().filter(|r| r["aligned"] == true) {
                let at = row["row"].as_u64().unwrap();
                if parting.last().is_none_or(|(n, _)| *n != at) {
                    parting.push((at, Vec::new()));
                }
                parting.last_mut().unwrap().1.push(row["action"].as_str().unwrap());
            }
            parting.retain(|(_, actions)| actions.iter().any(|a| a != &actions[0]));
            let here = parting.iter().position(|(at, _)| *at == self.model.comparing.at as u64);
            read += line.expect(&[here.unwrap() as f64 + 1.0, parting.len() as f64]);
        }
        if let Some(at) = line.find(" of ").filter(|_| line.has_digit()) {
            // `12 of 18, around the end`: which hit, or disagreement, or branching it is.
            let last: usize = line.part(at, usize::MAX).numerals()[0].2.parse().unwrap();
            let steps: Vec<&Value> = self.said.steps_in(&self.task).collect();
            let here = self.cursor().unwrap();
            let at = |fits: &dyn Fn(&Value) -> bool| {
                let list: Vec<&&Value> = steps.iter().filter(|s| fits(s)).collect();
                let same = |s: &&&Value| ["rollout", "step"].iter().all(|k| s[*k] == here[*k]);
                list.iter().position(same).filter(|_| list.len() == last)
            };
            let found = at(&|s| self.is_hit(s))
                .or_else(|| {
                    at(&|s| matches!(s["quadrant"].as_str(), Some("rescued" | "penalized")))
                })
                .or_else(|| at(&|s| self.branches(s)));
            let found = found.unwrap_or_else(|| panic!("nothing is so often here: {line:?}"));
            read += line.expect(&[found as f64 + 1.0, last as f64]);
        }
        line.done(&["1-7"]);
        read
    }

    /// Whether an action or a signature has what is searched.
    fn is_hit(&self, step: &Value) -> bool {
        let pattern = &self.model.finding.pattern;
        let pattern = Regex::new(&format!("(?i){pattern}")).unwrap();
        self.model.finding.active()
            && ["state", "action"].iter().any(|k| pattern.is_match(step[*k].as_str().unwrap()))
    }

    fn branches(&self, step: &Value) -> bool {
        self.said.states.iter().any(|r| {
            r["task"] == step["task"] && r["state"] == step["state"] && r["branching"] == true
        })
    }

    /// What was loaded of the step: only the head is read, the text below it is the file's own.
    pub fn reader(&self, line: &mut Line) -> usize {
        let Some(step) = self.cursor().filter(|_| !self.model.picks_elsewhere()) else {
            line.done(&["i Step"]);
            return 0;
        };
        line.title("i Step");
        line.name(step["rollout"].as_str().unwrap());
        let mut read = line.after(" t", int(step, "step"));
        read += line.after("turn ", int(step, "turn"));
        line.take_text(step["category"].as_str().unwrap());
        // Lines of the text in sight.
        if let Some(at) = line.find("  line ").or(line.find("  lines ")) {
            line.clear(at, usize::MAX);
        }
        line.done(&[]);
        read
    }
}

/// A choice on the screen.
struct Facet {
    kind: String,
    name: String,
    count: String,
    chosen: bool,
}

/// What the cells of the filter say: `outcome  [x] success  60`.
fn facets(lines: &[Line]) -> Vec<Facet> {
    let boxes = |line: &Line| -> Vec<usize> {
        (0..line.width())
            .filter(|&x| line.cell(x) == '[' && line.cell(x + 2) == ']' && line.cell(x + 3) == ' ')
            .collect()
    };
    let columns = lines.iter().map(|l| boxes(l).len()).max().unwrap_or(0);
    let mut found = Vec::new();
    for k in 0..columns {
        let mut kind = String::new();
        for line in &lines[1..] {
            let at = boxes(line);
            let Some(&x) = at.get(k) else { continue };
            let from = x - 10;
            let head = line.part(from, x).text();
            let head = head.trim_matches(['▸', ' ']);
            if !head.is_empty() {
                head.clone_into(&mut kind);
            }
            let end = at.get(k + 1).map_or(line.width(), |next| next - 10);
            let cell = line.part(x + 4, end).text();
            let (name, count) = cell.trim_end().rsplit_once(' ').unwrap();
            found.push(Facet {
                kind: kind.clone(),
                name: name.trim().to_owned(),
                count: count.to_owned(),
                chosen: line.cell(x + 1) == 'x',
            });
        }
    }
    assert!(!found.is_empty(), "{lines:?}");
    found
}
