//! The pane that explains one number, held against `explain`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::reading::Reading;
use super::said::int;
use super::{Line, number};

impl Reading<'_> {
    pub fn explain(&self, lines: &mut [Line]) -> usize {
        let id = &self.rollouts[self.model.cursor.rollout];
        let steps = self.said.steps_of(&self.task, id);
        lines[0].title("3 Explain");
        let Some(step) = self.cursor() else {
            lines[0].done(&[]);
            assert!(lines.iter().skip(2).all(|l| !l.has_digit()), "{lines:?}");
            return 0;
        };
        let t = self.model.cursor.step;
        let said = self.said.explained(&self.task, id, t, self.y());
        let mut read = self.explain_heading(&mut lines[0], &said, steps.len());
        let text: Vec<String> = lines.iter().map(Line::text).collect();
        let members = said["members"].as_array().unwrap();
        let header = lines.iter().position(|l| {
            l.text().trim_start().starts_with("here") && l.find_edge(&["G_t"]).is_some()
        });
        let mut eval = String::new();
        let mut hidden = None;
        let mut shown = 0;
        let mut top = None;
        for (y, line) in lines.iter_mut().enumerate().skip(1) {
            let words: Vec<&str> = text[y].split_whitespace().collect();
            let first = words.first().copied().unwrap_or("");
            let n = |name: &str| said["step"][name].as_f64().unwrap_or(0.0);
            match first {
                "" | "here" | "outcome" => {}
                // The text of the call itself, to the end of the pane.
                "call" => {
                    lines_clear(&mut lines[y..]);
                    break;
                }
                "A" if header.is_some() => {
                    read += line.expect(&[n("q"), n("v_smooth"), value(&said)]);
                }
                "state" => line.piece_of(8, said["state"].as_str().unwrap()),
                "action" => read += action(line, &said, id),
                "Q(s,a)" | "V(s)" | "V'(s)" if header.is_some() => {
                    read += self.mean(line, &said, step);
                }
                "Q" if header.is_some() => {
                    let prior = self.model.settings.credit.n_prior;
                    let sum = [n("n_s"), n("v"), prior, n("v_prior"), n("n_s"), prior];
                    let whole = line.numerals().len() > 3;
                    let mut all = vec![n("q"), n("v")];
                    all.extend(sum.into_iter().filter(|_| whole));
                    all.push(n("v_smooth"));
                    read += line.expect(&all);
                }
                "comparison" | "prior" | "sum" | "compa…" | "comp…" | "compa"
                    if header.is_some() =>
                {
                    read += parts(line, &said, first);
                }
                "eval" => eval = words[1..].concat(),
                "=" => {
                    let given: f64 = words[1].replace('−', "-").parse().unwrap();
                    assert_eq!(given, value(&said), "{:?}", text[y]);
                    line.clear(0, usize::MAX);
                    read += 1;
                }
                "…" => {
                    let found = line.numerals();
                    hidden = Some(found[0].2.parse::<usize>().unwrap());
                    read += line.expect(&[found[0].2.parse().unwrap()]);
                }
                _ if !eval.is_empty() => eval += &words.concat(),
                _ if header.is_some_and(|h| y > h) => {
                    // The list goes on where the mark is on the selected one.
                    let at = *top.get_or_insert_with(|| {
                        let marked = text[y..].iter().position(|t| t.starts_with('▸'));
                        self.model.member - marked.unwrap_or(0)
                    });
                    let head = Line::from(text[header.unwrap()].as_str());
                    read += member(line, &members[at + shown], &head);
                    shown += 1;
                }
                _ => read += self.node(line, &said, y, &mut shown, &text),
            }
            if first == "eval" || !eval.is_empty() {
                line.clear(0, usize::MAX);
            }
            line.done(&[]);
        }
        let whole = said["expression"].as_str().unwrap_or("").replace(' ', "");
        let shown_of = eval.split('…').next().unwrap();
        assert!(whole.starts_with(shown_of), "{eval} is not {whole}");
        read += usize::from(!eval.is_empty());
        if let Some(hidden) = hidden {
            let all = if header.is_some() { members.len() } else { named(&said["tree"]).len() };
            assert_eq!(hidden + shown, all, "{text:?}");
        }
        read
    }

    fn explain_heading(&self, line: &mut Line, said: &Value, steps: usize) -> usize {
        let id = &self.rollouts[self.model.cursor.rollout];
        let outcome = line.text().chars().position(|c| matches!(c, '✓' | '✗' | '⊘' | '‼' | '?'));
        let outcome = outcome.unwrap();
        line.clear(0, 2);
        let shown: String = line.part(2, outcome).text();
        let bare = shown.trim_matches([' ', '…']);
        assert!(id.contains(bare) && !bare.is_empty(), "{bare:?} is not {id:?}");
        line.clear(0, outcome + 1);
        let mut read = line.after(" t", self.model.cursor.step as f64);
        read += line.after(" of ", steps as f64);
        assert!(read > 0 && line.take_text(self.y()), "{line:?}");
        match said["value"].as_f64() {
            Some(a) => read += line.expect(&[a]),
            None => assert!(line.take_text("no value"), "{line:?}"),
        }
        line.done(&[]);
        read
    }

    /// `Q(s,a) = (1.089 + 0.131 + … 4 more) / 6 = 0.646  N(s,a) 6`, and those of V and V'.
    fn mean(&self, line: &mut Line, said: &Value, step: &Value) -> usize {
        let n = |name: &str| said["step"][name].as_f64().unwrap_or(0.0);
        let text = line.text();
        let members = said["members"].as_array().unwrap();
        let returns = |own: bool| -> Vec<f64> {
            members
                .iter()
                .filter(|m| !own || m["same_action"] == true)
                .map(|m| m["g"].as_f64().unwrap())
                .collect()
        };
        let credit = &self.model.settings.credit;
        let (of, tail) = if text.contains("Q(s,a)") {
            // The mean goes through the rollouts as they come in the group.
            let node = named(&said["tree"]).into_iter().find(|n| n["name"] == "Q(s,a)");
            let parts = node.and_then(|n| n["children"].as_array().cloned()).unwrap_or_default();
            let mut of: Vec<f64> = parts.iter().map(|p| p["value"].as_f64().unwrap()).collect();
            if of.len() != returns(true).len() {
                of = returns(true);
            }
            (of, vec![n("q"), n("n_sa")])
        } else if text.contains(" V(s)") {
            (returns(false), vec![n("v"), n("n_s"), int(step, "rollouts_s")])
        } else {
            let g = self.said.group(&self.task);
            let prior = credit.n_prior;
            let mut all = vec![];
            if prior > 0.0 {
                all.extend([n("n_s"), n("v"), prior, n("v_prior"), n("n_s"), prior]);
            }
            all.push(n("v_smooth"));
            if text.contains('/') && text.split("prior ").last().unwrap().contains('/') {
                all.extend([int(g, "successes"), int(g, "scored")]);
            } else {
                all.push(n("v_prior"));
            }
            all.push(prior);
            return line.expect(&all);
        };
        let found = line.numerals();
        let room = found.len() - tail.len() - 1;
        let mut all: Vec<f64> = if text.contains("sum of") {
            vec![of.len() as f64]
        } else if text.contains(" more)") {
            let mut shown = of[..room - 1].to_vec();
            shown.push((of.len() - shown.len()) as f64);
            shown
        } else {
            of.clone()
        };
        all.push(of.len() as f64);
        all.extend(tail);
        line.expect(&all)
    }

    /// A named number of another column: its name, value and where it comes from.
    fn node(
        &self,
        line: &mut Line,
        said: &Value,
        y: usize,
        shown: &mut usize,
        text: &[String],
    ) -> usize {
        let head = text.iter().position(|t| t.trim_start().starts_with("number "));
        let meta = self.said.ask(&["report"]);
        let columns = meta["rows"][0]["columns"].as_array().unwrap();
        let about = columns.iter().find(|c| c["name"] == self.y());
        if said["value"].is_null() {
            let reason = said["reason"].as_str().unwrap_or("");
            if line.text().contains("has no value here") {
                let from = line.find("here: ").unwrap() + 6;
                line.piece_of(from, reason);
            }
            return 0;
        }
        let Some(head) = head.filter(|&h| y >= h) else {
            // The formula with the value, then the convention.
            if y == 1 {
                let formula = about.unwrap()["formula"].as_str().unwrap();
                // The value stands behind the formula, however it is cut.
                let found = line.numerals();
                let (at, _, word) = found.last().unwrap();
                assert!(
                    number(word).is_some_and(|n| super::near(word, n, value(said)))
                        && line.part(*at - 3, *at).text() == " = ",
                    "{line:?}"
                );
                line.clear(*at - 3, usize::MAX);
                line.piece_of(0, &format!("A = {formula}"));
                return 1;
            }
            line.piece_of(0, about.unwrap()["convention"].as_str().unwrap());
            return 0;
        };
        if y == head {
            return 0;
        }
        let end = Line::from(text[head].as_str()).edge(&["value"]);
        let word = line.word(end);
        let name = line.part(1, end - word.chars().count()).text();
        let name = name.trim().trim_end_matches('…').to_owned();
        let fits = |n: &&Value| {
            let full = n["name"].as_str().unwrap();
            let a = n["value"].as_f64().unwrap();
            full.starts_with(&name)
                && number(&word).is_some_and(|shown| super::near(&word, shown, a))
        };
        let list = named(&said["tree"]);
        let node = list.iter().copied().find(fits);
        let node = node.unwrap_or_else(|| panic!("{name:?} {word} is in no tree: {line:?}"));
        line.blank_at(end);
        line.clear(0, end);
        if !line.text().contains("Enter foll") {
            line.piece_of(end, node["expression"].as_str().unwrap());
        }
        *shown += 1;
        1
    }
}

fn lines_clear(lines: &mut [Line]) {
    for line in lines {
        line.clear(0, usize::MAX);
    }
}

fn value(said: &Value) -> f64 {
    said["value"].as_f64().unwrap()
}

/// The action, and the visit that counts where the state is visited again.
fn action(line: &mut Line, said: &Value, id: &str) -> usize {
    let full = said["action"].as_str().unwrap();
    let mut read = 0;
    if let Some(at) = line.find("↺ t") {
        let counted: Vec<f64> = said["members"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|m| m["rollout"] == id && m["same_action"] == true)
            .map(|m| int(m, "step"))
            .collect();
        let found: f64 = line.part(at, usize::MAX).numerals()[0].2.parse().unwrap();
        assert!(counted.contains(&found), "{found} is none of {counted:?}: {line:?}");
        read += line.after("↺ t", found);
    }
    assert!(line.label(8, full), "{line:?} is not {full}");
    read
}

/// The named numbers below a node, each once.
fn named(tree: &Value) -> Vec<&Value> {
    fn walk<'a>(node: &'a Value, known: &mut BTreeSet<String>, out: &mut Vec<&'a Value>) {
        for child in node["children"].as_array().into_iter().flatten() {
            if known.insert(format!("{} {}", child["name"], child["expression"])) {
                out.push(child);
            }
            walk(child, known, out);
        }
    }
    let mut out = Vec::new();
    walk(tree, &mut BTreeSet::new(), &mut out);
    out
}

/// One of the rollouts that were in the state.
fn member(line: &mut Line, member: &Value, header: &Line) -> usize {
    line.name_before_outcome(member["rollout"].as_str().unwrap());
    let mut read = line.after(" t", int(member, "step"));
    assert_eq!(read, 1, "{line:?}");
    for (title, name) in [("G_t", "g"), ("outcome", "outcome_part"), ("shaping", "shaping")] {
        if let Some(end) = header.find_edge(&[title]) {
            read += line.at(end, member[name].as_f64().unwrap());
        }
    }
    let full = member["action"].as_str().unwrap();
    let from = header.edge(&["action"]) - "action".len();
    assert!(line.label(from, full), "{line:?} is not {full}");
    read
}

/// A row of the parts, and what stands beside it.
fn parts(line: &mut Line, said: &Value, row: &str) -> usize {
    let part = |name: &str| {
        let of = &said["split"][name];
        ["outcome", "discount", "shaping"].map(|k| of[k].as_f64().unwrap())
    };
    let (cmp, prior) = (part("comparison"), part("prior"));
    let cells = match row {
        "prior" => prior,
        "sum" => [0, 1, 2].map(|i| cmp[i] + prior[i]),
        _ => cmp,
    };
    let mut all = cells.to_vec();
    all.push(cells.iter().sum());
    // Beside it: another column, its convention, whether X and Y disagree.
    for other in said["others"].as_array().unwrap() {
        let name = other["column"].as_str().unwrap();
        let Some(at) = line.find_edge(&[name]).filter(|&end| end > 40) else { continue };
        let numbers = line.numerals();
        if let Some(a) = other["value"].as_f64() {
            all.push(a);
            let end = numbers[4].1;
            line.piece_of(end, other["convention"].as_str().unwrap());
        } else {
            line.piece_of(at + 8, &format!("· {}", other["convention"].as_str().unwrap()));
        }
    }
    line.expect(&all)
}
