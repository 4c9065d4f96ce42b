//! The knobs with what they changed, and the sweep picture, held against `sweep`, `steps` and `report`.

use std::rc::Rc;

use credscope::tui::turning;
use serde_json::Value;

use super::cells::Change;
use super::reading::Reading;
use super::said::{Said, int};
use super::{Line, number};

/// How a measure of the table is printed.
#[derive(Clone, Copy)]
enum Kind {
    Count,
    Percent,
    Mean,
    Skill,
}

impl Reading<'_> {
    pub fn knobs(&self, lines: &mut [Line]) -> usize {
        let now = credscope::analysis::SignatureSetting::of(&self.model.settings);
        let pin = &self.model.turning.pin;
        lines[0].title("5 Signature");
        // Names of signatures are those of presets, and of knobs with their values.
        lines[0].take_text(&format!("now {}", now.name()));
        lines[0].take_text(&format!("pinned {}", pin.name()));
        let rows = turning::rows();
        let differ = rows.iter().filter(|r| r.value(&now) != r.value(pin)).count();
        let mut read = lines[0].before("differ", differ as f64);
        read += lines[0].after("undo ", self.model.turning.undo.len() as f64);
        lines[0].done(&[]);
        let table = lines[1].find("│");
        let width = table.unwrap_or(lines[0].width());
        let head = lines[1].clone();
        let mut shown = 0;
        let mut helps = false;
        for (y, line) in lines[1..].iter_mut().enumerate() {
            if let Some(second) = table.map(|x| line.part(x + 1, usize::MAX)) {
                let split = head.part(width + 1, usize::MAX).find("│").unwrap();
                for (mut part, head) in [
                    (second.part(0, split), head.part(width + 1, width + 1 + split)),
                    (second.part(split + 1, usize::MAX), head.part(width + split + 2, usize::MAX)),
                ] {
                    if y > 0 && line.cell(width) == '│' {
                        read += self.measure(&mut part, &head);
                        part.done(&[]);
                    }
                }
            }
            let mut list = if line.cell(width) == '│' || table.is_none() {
                line.part(0, width)
            } else {
                line.clone()
            };
            let text = list.text();
            let words: Vec<&str> =
                text.split_whitespace().map(|w| w.trim_matches(['▸', '*'])).collect();
            let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
            if text.contains(" more below")
                || text.contains(" more above")
                || text.contains(" above,")
            {
                let hidden: f64 =
                    list.numerals().iter().map(|(_, _, w)| w.parse::<f64>().unwrap()).sum();
                assert_eq!(hidden, (rows.len() - shown) as f64, "{text}");
                read += list.numerals().len();
                continue;
            }
            // Below the list: what the selected knob means, and the values it takes.
            let help = rows[self.model.turning.at];
            let begins = words.first().is_some_and(|w| *w == "values" || w.ends_with(':'));
            if helps || begins {
                helps = true;
                let values = help.values().join(" ");
                let whole =
                    format!("{}: {};  {values} values {values}", help.name(), help.meaning());
                list.piece_of(0, &whole);
                continue;
            }
            let Some(row) = words.first().and_then(|w| rows.iter().find(|r| r.name() == *w)) else {
                list.done(&[]);
                continue;
            };
            let told = words.iter().rev().find(|w| **w != "◂").unwrap();
            assert_eq!(*told, row.value(&now), "{text}");
            shown += 1;
            read += usize::from(number(told).is_some());
        }
        read
    }

    /// One measure: pinned, now, and how much more.
    fn measure(&self, part: &mut Line, head: &Line) -> usize {
        let text = part.text();
        let name = text.trim();
        let table: [(&str, Kind, &str); 20] = [
            ("states", Kind::Count, "states"),
            ("shared ", Kind::Percent, "sharing"),
            ("branching", Kind::Count, "branching_states"),
            ("mean N(s)", Kind::Mean, "mean_n"),
            ("impure", Kind::Count, "impure_states_count"),
            ("revisits", Kind::Count, "revisit_steps"),
            ("skill", Kind::Skill, "skill"),
            ("null", Kind::Skill, "skill_null"),
            ("ceiling", Kind::Skill, "skill_ceiling"),
            ("coverage", Kind::Skill, "coverage"),
            ("█ compared", Kind::Count, "compared_steps"),
            ("▒ shared", Kind::Count, "shared_only_steps"),
            ("∷ self", Kind::Count, "self_steps"),
            ("═ single", Kind::Count, "single_steps"),
            ("both+", Kind::Count, "both_pos"),
            ("rescued", Kind::Count, "rescued"),
            ("penalized", Kind::Count, "penalized"),
            ("both−", Kind::Count, "both_neg"),
            ("inside", Kind::Count, "inside"),
            ("no value", Kind::Count, "missing"),
        ];
        if name.is_empty() || name.starts_with("counting against") {
            return 0;
        }
        for (title, change) in [("sign flips", Change::Flipped), ("faded to 0", Change::Faded)] {
            if part.take_text(title) {
                let all = self.rollouts.iter().map(|id| self.changes(id));
                let n = all.flatten().filter(|c| *c == change).count();
                return part.at(head.edge(&["now"]), n as f64);
            }
        }
        let found = table.iter().find(|(title, ..)| name.starts_with(title));
        let &(title, kind, key) = found.unwrap_or_else(|| panic!("no measure {name:?}"));
        part.take_text(title);
        let (before, now) =
            (self.measured(self.pin.unwrap_or(self.said), key), self.measured(self.said, key));
        let mut read = 0;
        for (column, value) in [("pin", before), ("now", now)] {
            // Where all three columns have no room, this one gives way.
            let Some(end) = head.find_edge(&[column]) else {
                assert!(column == "pin" && lines_are_narrow(head, part), "{head:?}");
                continue;
            };
            read += match value {
                Some(x) => part.at(end, if matches!(kind, Kind::Percent) { 100.0 * x } else { x }),
                None => part.nothing_at(end),
            };
        }
        let (end, decimals, times) = match kind {
            Kind::Count => (head.edge(&["Δ"]), 0, 1.0),
            Kind::Percent => (head.edge(&["Δ"]), 0, 100.0),
            Kind::Mean => (head.edge(&["Δ"]), 1, 1.0),
            Kind::Skill => (head.edge(&["Δ"]), 2, 1.0),
        };
        let more = before.zip(now).map(|(a, b)| times * (b - a));
        let word = part.word(end);
        match more {
            // A dot is a difference that rounds to nothing with the decimals of its row.
            Some(x) if word == "·" => {
                assert!(x.abs() <= 0.5 * 0.1_f64.powi(decimals) + 1e-9, "{x} in {part:?}");
                part.blank_at(end);
                read += 1;
            }
            Some(x) => read += part.at(end, x),
            None => read += part.nothing_at(end),
        }
        read
    }

    /// A measure of the shown group under some settings.
    fn measured(&self, said: &Said, key: &str) -> Option<f64> {
        let only = ["--only", self.task.as_str()];
        if matches!(key, "impure_states_count" | "revisit_steps") {
            let report = said.ask(&[&["report"], &only[..]].concat());
            return report["rows"][0]["diagnostics"][key].as_f64();
        }
        if matches!(key, "coverage" | "skill" | "skill_null" | "skill_ceiling") {
            // That of `sweep` is over the groups that have a skill.
            return said.group(&self.task)[key].as_f64();
        }
        // What is in force is one of the values of the threshold.
        let knob = format!("tau={}", said.settings.tau.0);
        let rows =
            said.ask(&[&["sweep", "--uniform", "include", "--knob", &knob], &only[..]].concat());
        let row = &rows["rows"][0];
        assert_eq!(row["current"], true, "{row}");
        row[key].as_f64()
    }

    /// The sweep picture.
    pub fn sweep(&self, lines: &mut [Line]) -> usize {
        let picture = self.model.sweeping.picture.as_ref().unwrap();
        let groups = self.said.groups.len();
        let all = lines[0].find("this group").is_none_or(|x| x > 40) && groups > 1;
        assert_eq!(all, self.model.sweeping.all && groups > 1, "{:?}", lines[0]);
        lines[0].title("w Sweep");
        let mut read = lines[0].after("  all ", if all { groups as f64 } else { f64::NAN });
        let axis = picture.points[0].0.at[0].0.clone();
        lines[0].take_text(&axis);
        lines[0].done(&[]);
        let header = lines[1].clone();
        let rows: Vec<Rc<Value>> = picture
            .points
            .iter()
            .map(|(point, _)| self.swept(&point.at[0].0, &point.at[0].1, all))
            .collect();
        let first = &rows[0];
        let in_force = self.in_force(all);
        let top = Self::top(lines, self.model.sweeping.at);
        let from = header.edge(&["states"]) - "states".len();
        let coarsest = header.find_edge(&["knob"]).is_some();
        let mut shown = 0;
        let mut told = lines.len();
        for (y, line) in lines[2..].iter_mut().enumerate() {
            let Some(row) = rows.get(top + y).filter(|_| !line.text().trim().is_empty()) else {
                told = told.min(y + 2);
                continue;
            };
            if line.find("* in force").is_some() || line.cell(1) != ' ' && line.cell(1) != '*' {
                told = told.min(y + 2);
                continue;
            }
            let (knob, value) = &picture.points[top + y].0.at[0];
            let name = if coarsest { format!("{knob}={value}") } else { value.clone() };
            // What is in force has a star.
            let star = line.cell(1) == '*';
            assert_eq!(star, row["current"] == true, "{line:?} {row}");
            let shown_name = line.part(2, from).text();
            let shown_name = shown_name.split_whitespace().next().unwrap();
            assert_eq!(shown_name, name, "{line:?}");
            line.clear(0, from.min(2 + name.len()));
            read += swept_row(line, &header, row, in_force.0);
            line.done(&[]);
            shown += 1;
        }
        assert!(shown > 0 && first["states"].is_u64(), "{lines:?}");
        for line in &mut lines[told.min(header.width())..] {
            read += findings(line, &rows, in_force, coarsest);
            line.done(&[]);
        }
        read
    }

    /// The row of one value of a knob, in the shown group or over all of them.
    fn swept(&self, knob: &str, value: &str, all: bool) -> Rc<Value> {
        let knob = format!("{knob}={value}");
        let mut args = vec!["sweep", "--knob", &knob];
        if !all {
            args.extend(["--uniform", "include", "--only", &self.task]);
        }
        let said = self.said.ask(&args);
        Rc::new(said["rows"][0].clone())
    }

    /// States and pairs of what is in force.
    fn in_force(&self, all: bool) -> (f64, f64) {
        let row = self.swept("tau", &self.said.settings.tau.0.to_string(), all);
        assert_eq!(row["current"], true);
        (int(&row, "states"), int(&row, "pairs"))
    }
}

/// Whether the numbers of a table leave no room for a further column.
fn lines_are_narrow(head: &Line, part: &Line) -> bool {
    head.width().min(part.width()) < 30
}

fn swept_row(line: &mut Line, header: &Line, row: &Value, in_force: f64) -> usize {
    let n = |name: &str| row[name].as_f64();
    let share = |name: &str| match int(row, "scored_steps") {
        0.0 => None,
        all => Some(100.0 * int(row, name) / all),
    };
    let mut read = 0;
    for (titles, value, always) in [
        (&["states"][..], n("states"), true),
        (&["merged"], Some(in_force - int(row, "states")), false),
        (&["branch", "branching"], n("branching_states"), false),
        (&["share", "shared"], share("shared_steps"), true),
        (&["comp.", "compared"], share("compared_steps"), true),
        (&["flips"], n("flips"), true),
        (&["faded"], n("faded"), true),
        (&["rescued"], n("rescued"), true),
        (&["penal.", "penalized"], n("penalized"), true),
        (&["skill"], n("skill"), false),
        (&["null"], n("skill_null"), false),
        (&["ceiling"], n("skill_ceiling"), false),
        (&["coverage"], n("coverage"), false),
        (&["inside"], n("inside"), false),
        (&["N(s)"], n("mean_n"), false),
        (&["both+"], n("both_pos"), false),
        (&["both−"], n("both_neg"), false),
        (&["shared only"], n("shared_only_steps"), false),
        (&["self"], n("self_steps"), false),
        (&["single"], n("single_steps"), false),
        (&["impurity"], n("impurity"), false),
    ] {
        let Some(end) = header.find_edge(titles) else {
            assert!(!always, "no {titles:?} in {header:?}");
            continue;
        };
        read += match value {
            Some(x) => line.at(end, x),
            None => line.nothing_at(end),
        };
    }
    read
}

/// `edit-identity=none merges the most: 40 states for 58; 5 others change nothing`
fn findings(
    line: &mut Line,
    rows: &[Rc<Value>],
    (states, pairs): (f64, f64),
    coarsest: bool,
) -> usize {
    let idle = |r: &&Rc<Value>| {
        int(r, "states") == states
            && int(r, "pairs") == pairs
            && int(r, "flips") == 0.0
            && int(r, "faded") == 0.0
    };
    let others = rows.iter().filter(idle).filter(|r| r["current"] != true).count();
    let mut read = line.before("others", others as f64) + line.before("other", others as f64);
    if line.find(" merges the most").is_some() {
        let least = rows.iter().min_by_key(|r| r["states"].as_u64()).unwrap();
        let (knob, value) = (least["knob"].as_str().unwrap(), least["value"].as_str().unwrap());
        let name = if coarsest { format!("{knob}={value}") } else { value.to_owned() };
        assert!(line.take_text(&format!(" {name} merges the most")), "{name}: {line:?}");
        read += line.expect(&[int(least, "states"), states]);
    }
    read
}
