//! The list of groups and what stands below it, held against the command line.

use serde_json::Value;

use super::reading::Reading;
use super::said::{BUCKETS, INSIDE, int, sum};
use super::{Line, whole};

impl Reading<'_> {
    pub fn groups(&self, lines: &mut [Line]) -> usize {
        let order = self.model.group_order();
        lines[0].title("a Groups");
        let mut read = lines[0].before("groups", order.len() as f64);
        read += lines[0].before("group", order.len() as f64);
        lines[0].done(&[]);
        let header = lines[1].clone();
        let at = order.iter().position(|&g| g == self.model.groups.at).unwrap();
        let top = Self::top(lines, at);
        let mut below = lines.len();
        for (y, line) in lines[2..].iter_mut().enumerate() {
            let total = line.text().trim_start().starts_with('Σ');
            // The row of the mixed groups, where others are listed, too, is the last.
            let text = line.text();
            let all = text.trim_start().starts_with("Σ all");
            let some = text.trim_start().starts_with("Σ mixed");
            let picked: Vec<&Value> = if total {
                self.said.groups.iter().filter(|g| !some || is_mixed(g)).collect()
            } else {
                let Some(&g) = order.get(top + y) else { break };
                let row = &self.said.groups[g];
                line.name(row["task"].as_str().unwrap());
                vec![row]
            };
            let none = Value::Null;
            let totals = if all { &none } else { &self.said.totals };
            let mut sums = totals.clone();
            // The null of all groups is told by `skill` alone.
            sums["skill_null"] =
                if all { Value::Null } else { self.said.skill["skill_null"].clone() };
            read += group_row(line, &header, &picked, total.then_some(&sums));
            if total {
                let uneven = self.said.groups.iter().any(|g| !is_mixed(g));
                assert_eq!(all || some, uneven, "{text}");
                read += line.before("mixed,", picked.len() as f64);
                read += line.before("left", (self.said.groups.len() - picked.len()) as f64);
            }
            line.done(&[]);
            if total && !all {
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
            "✗" => &["failure"],
            "✗⊘" => &["failure", "truncated"],
            "Σ" => &[],
            "█" | "▒" | "∷" | "═" => {
                let class = match head {
                    "█" => "compared",
                    "▒" => "shared",
                    "∷" => "self",
                    _ => "single",
                };
                let mine: Vec<&&Value> = steps.iter().filter(|s| s["evidence"] == class).collect();
                let count = |buckets: &[&str]| {
                    let within =
                        |s: &&&&Value| s["quadrant"].as_str().is_some_and(|q| buckets.contains(&q));
                    mine.iter().filter(within).count() as f64
                };
                let n = mine.len() as f64;
                let edge = |names: &[&str]| header.edge(names) - 1;
                let mut read = line.at(edge(&["n"]), n);
                for (i, names) in COLUMNS.iter().enumerate() {
                    let count = if i == 4 { count(&INSIDE) } else { count(&[BUCKETS[i]]) };
                    read += line.count_and_share(edge(names), count, 100.0 * count / n);
                }
                return read;
            }
            "rescued" | "penalized" => {
                let why = |label: &str| {
                    let mine = |s: &&&Value| s["quadrant"] == head && s["label"] == label;
                    steps.iter().filter(mine).count() as f64
                };
                let mut read = 0;
                for (names, label) in [
                    (["comparison ", "comp "], "comparison"),
                    (["prior ", "prior "], "prior"),
                    (["discount ", "disc "], "discount"),
                    (["shaping ", "shape "], "shaping"),
                ] {
                    let name = names.into_iter().find(|n| text.contains(n));
                    let Some(name) = name else {
                        assert_eq!(why(label), 0.0, "{text}");
                        continue;
                    };
                    read += line.after(name, why(label));
                }
                return read;
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
                    let Some(ends) = word.strip_suffix('%') else { continue };
                    let (low, high) = ends.split_once("..").or(ends.split_once('-')).unwrap();
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
        for (i, names) in COLUMNS.iter().enumerate() {
            let count = match i {
                4 => sum(from, keys, &INSIDE),
                i => sum(from, keys, &[BUCKETS[i]]),
            };
            read += line.count_and_share(edge(names), count, 100.0 * count / n);
        }
        read
    }
}

/// What stands over the buckets, wide or narrow.
const COLUMNS: [&[&str]; 5] = [
    &["both+", "++"],
    &["rescued", "−+"],
    &["penalized", "+−"],
    &["both−", "−−"],
    &["inside", "in"],
];

fn is_mixed(g: &Value) -> bool {
    int(g, "successes") > 0.0 && int(g, "failures") + int(g, "truncated") > 0.0
}

/// One row of the list of groups, or the sum of all.
fn group_row(line: &mut Line, header: &Line, picked: &[&Value], totals: Option<&Value>) -> usize {
    let of = |names: &[&str]| {
        picked.iter().map(|g| names.iter().map(|n| int(g, n)).sum::<f64>()).sum::<f64>()
    };
    let scored = of(&BUCKETS) + of(&["inside", "missing"]);
    // A column says what it counts: its mark is both where truncated ones are among them.
    let cross = if header.find_edge(&["✗⊘"]).is_some() { "✗⊘" } else { "✗" };
    let bad = of(if cross == "✗" { &["failures"] } else { &["failures", "truncated"] });
    let mut read = 0;
    for (title, value) in [
        ("n", of(&["rollouts"])),
        ("✓", of(&["successes"])),
        (cross, bad),
        ("steps", of(&["steps"])),
        ("states", of(&["states"])),
        ("shared", 100.0 * of(&["shared_steps"]) / scored),
        ("branch", of(&["branching_states"])),
        ("compared", of(&["compared_steps"])),
        ("rescued", of(&["rescued"])),
        ("penal.", of(&["penalized"])),
        ("inside", of(&["inside"])),
    ] {
        // At 80 columns not all have room; these always have.
        let Some(end) = header.find_edge(&[title]) else {
            assert!(
                !["n", "✓", "✗", "✗⊘", "rescued", "penal.", "inside"].contains(&title),
                "{header:?}"
            );
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
