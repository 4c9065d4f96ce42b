//! The panes of one group, read row for row and held against the command line.

use credscope::tui::layout::Pane;
use credscope::tui::model::{Layer, Model};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

use super::said::{BUCKETS, INSIDE, Said, int, sum};
use super::{Line, near, number, whole};

/// A picture of a model, and what the command line says of it.
pub struct Reading<'a> {
    pub model: &'a Model,
    pub said: &'a Said,
    /// The same under the pinned signature, where it is another one.
    pub pin: Option<&'a Said>,
    /// Only what is drawn at this place.
    pub place: Option<Position>,
    pub task: String,
    pub rollouts: Vec<String>,
}

impl<'a> Reading<'a> {
    pub fn new(model: &'a Model, said: &'a Said) -> Self {
        let group = model.shown_group().unwrap();
        let rollouts = group.rollouts.iter().map(|r| r.id.clone()).collect();
        Self { model, said, pin: None, place: None, task: group.key.task.clone(), rollouts }
    }

    /// The Y column.
    pub fn y(&self) -> &'a str {
        self.model.settings.y.as_str()
    }

    /// The largest size of a column in the group.
    pub fn scale(&self, column: &str) -> f64 {
        let of_group = self.said.steps_in(&self.task).filter_map(|s| s[column].as_f64());
        of_group.fold(0.0, |m: f64, a| m.max(a.abs()))
    }

    /// Whether the Y column looks at states.
    pub fn uses_states(&self) -> bool {
        let report = self.said.ask(&["report"]);
        let columns = report["rows"][0]["columns"].as_array().unwrap();
        columns.iter().any(|c| c["name"] == self.y() && c["uses_states"] == true)
    }

    /// Reads everything; gives how many numbers were found and were right.
    pub fn all(&self) -> usize {
        self.every(&super::draw(self.model))
    }

    /// The same of a picture.
    pub fn every(&self, picture: &Buffer) -> usize {
        let plan = self.model.plan();
        let wanted = |area: &Rect| self.place.is_none_or(|place| area.contains(place));
        let mut read = 0;
        if wanted(&plan.title) {
            read += self.title(&mut Line::of(picture, plan.title));
        }
        if wanted(&plan.footer) {
            read += self.footer(&mut Line::of(picture, plan.footer));
        }
        if let Some(layer) = self.model.layers.last().filter(|l| !matches!(l, Layer::Search { .. }))
        {
            let body = Rect { y: 1, height: self.model.area.height - 2, ..self.model.area };
            return read + self.layer(layer, &mut super::lines(picture, body));
        }
        if let Some(area) = plan.sum.filter(wanted) {
            read += self.sum(&mut Line::of(picture, area));
        }
        if let Some(area) = plan.note.filter(wanted) {
            read += self.note(&mut Line::of(picture, area));
        }
        for &(pane, area) in plan.panes.iter().filter(|(_, area)| wanted(area)) {
            let mut lines = super::lines(picture, area);
            read += match pane {
                Pane::Tree => self.tree(&mut lines),
                Pane::Steps => self.steps(&mut lines),
                Pane::Quadrants => self.quadrants(&mut lines),
                Pane::Rollouts => self.rollouts(&mut lines),
                Pane::Groups => self.groups(&mut lines),
                Pane::Explain => self.explain(&mut lines),
                Pane::Matrix => self.matrix(&mut lines),
                Pane::Knobs => self.knobs(&mut lines),
                Pane::Compare => self.compare(&mut lines),
                Pane::Sweep => self.sweep(&mut lines),
                Pane::Pivotal => self.ranked(&mut lines),
                // The head alone: below it stands the text of the file.
                Pane::Reader => self.reader(&mut lines[0]),
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

    pub fn cursor(&self) -> Option<&Value> {
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
        if line.find("Enter opens that group").is_some() {
            line.done(&[]);
            return 0;
        }
        if let Some(a) = step[self.y()].as_f64() {
            let found = line.claim_word(|w| number(w).is_some_and(|n| near(w, n, a)));
            assert_eq!(found, 1, "{line:?} {a}");
            read += 1;
        }
        // Other columns than RTMC stand with their arithmetic.
        if let Some(at) = line.find(" = ").filter(|_| self.y() != "rtmc") {
            let id = &self.rollouts[self.model.cursor.rollout];
            let said = self.said.explained(&self.task, id, self.model.cursor.step, self.y());
            line.piece_of(at + 3, said["expression"].as_str().unwrap());
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
        // The text of a warning is that of the report.
        if let Some(first) = self.reported().first() {
            line.blank_text(first["text"].as_str().unwrap());
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
        lines[0].done(&["group of 1"]);
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
            let mark = |c: &char| matches!(c, '✓' | '✗' | '⊘' | 'Σ' | '█' | '▒' | '∷' | '═');
            let head: String = text.trim_start().chars().take_while(mark).collect();
            if text.trim().is_empty() {
                continue;
            }
            let (from, keys): (&[Value], &[&str]) = match head.as_str() {
                "✓" => (outcome, &["success"]),
                "✗" => (outcome, &["failure"]),
                "✗⊘" => (outcome, &["failure", "truncated"]),
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
        let top = Self::top(lines, self.model.cursor.rollout);
        let mut read = 0;
        for (y, line) in lines[2..].iter_mut().enumerate() {
            let Some(id) = self.rollouts.get(top + y) else { break };
            line.name(id);
            let steps = self.said.steps_of(&self.task, id);
            let y = self.y();
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
                read += if steps.iter().any(|s| s[y].is_f64()) {
                    line.at(end, total(y))
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
    pub fn top(lines: &mut [Line], selected: usize) -> usize {
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
        let mut bars = Vec::new();
        for spec in &self.model.settings.columns {
            let column = spec.name.as_str();
            let title = match column {
                "grpo" => "GRPO ",
                "grpo-step" => "G+Step ",
                "rtmc" => "RTMC ",
                "dr-grpo" => "DrGRPO ",
                other => &format!("{other} "),
            };
            // A column that says one thing of the whole rollout may say it here instead of in bars.
            let values: Vec<f64> = steps.iter().filter_map(|s| s[column].as_f64()).collect();
            let told = values.first().map_or(0, |&first| lines[0].after(title, first));
            assert!(told == 0 || values.iter().all(|v| *v == values[0]), "{column}: {values:?}");
            read += told;
            if told == 0 {
                bars.push(column);
            }
        }
        // Of the others all have bars, or Y alone; a rollout without values tells none of them.
        let scales = lines[0].text().matches('±').count();
        for column in bars.iter().rev().take(scales).rev() {
            read += lines[0].after("±", self.scale(column));
        }
        lines[0].done(&[]);
        if steps.is_empty() {
            return read;
        }
        let header = lines[1].clone();
        Self::top(lines, usize::MAX);
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
            let Some(t) = line.peek(end).map(index) else { break };
            assert!(next.is_none_or(|n| n == t), "step {t} after {next:?}: {line:?}");
            let step = steps[t];
            read += line.at(end, int(step, "step"));
            // Without RTMC the number has the title of its column, behind that of the bars.
            let end = header.find_edge(&["A"]).unwrap_or_else(|| header.edge(&["XY"]) - 3);
            read += match step[self.y()].as_f64() {
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
}

/// A count as an index.
#[allow(clippy::cast_sign_loss, reason = "counts are not negative")]
pub fn index(n: f64) -> usize {
    n as usize
}
