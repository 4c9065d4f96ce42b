//! The matrix of rollouts by steps, held against the steps of the command line.

use serde_json::Value;

use super::reading::{Reading, index};
use super::said::int;
use super::{Line, near, number};

/// Where the steps stand: the first one in sight, its first cell, cells of each.
struct Grid {
    first: usize,
    at: usize,
    cells: usize,
}

impl Reading<'_> {
    pub fn matrix(&self, lines: &mut [Line]) -> usize {
        let y = self.y();
        let scale = self.scale(y);
        let longest =
            self.rollouts.iter().map(|r| self.said.steps_of(&self.task, r).len()).max().unwrap();
        lines[0].title("7 Matrix");
        let cells = match &lines[0].text() {
            t if t.contains("! sign flipped") => 6,
            t if t.contains("evidence and sign") || t.contains("sign and size") => 3,
            _ => 1,
        };
        lines[0].take_text("sign and size 0..9");
        lines[0].take_text(y);
        let mut read = lines[0].after("±", scale);
        let mut first = 0;
        if lines[0].take_text("  steps ") {
            let found = lines[0].numerals();
            first = found[0].2.parse().unwrap();
            let last: f64 = found[1].2.parse().unwrap();
            // Above the table there are as many numbers as steps in sight.
            read += lines[0].expect(&[first as f64, last, longest as f64]);
        }
        lines[0].done(&[]);
        if longest == 0 {
            return read;
        }
        let header = lines[1].clone();
        let shown = header.numerals();
        for (_, _, word) in &shown {
            assert!(whole_step(word) < longest, "{word} in {header:?}");
        }
        let (x, _, t) = &shown[0];
        let lead = if cells == 6 { 2 } else { 0 };
        let grid = Grid { first, at: x - lead - (whole_step(t) - first) * cells, cells };
        for (x, _, t) in &shown {
            assert_eq!(grid.start(whole_step(t)) + lead, *x, "{t} in {header:?}");
        }
        read += shown.len();
        let top = Self::top(lines, self.model.cursor.rollout);
        for (i, line) in lines[2..].iter_mut().enumerate() {
            let text = line.text();
            if text.trim_start().starts_with("N≥2") {
                read += self.shared_row(line, &grid);
                line.done(&[]);
                break;
            }
            let Some(id) = self.rollouts.get(top + i) else { break };
            // The bracket around the selected step stands before it and behind it.
            line.name_before_outcome(id);
            read += self.matrix_row(line, id, &header, &grid, scale);
            line.done(&[]);
        }
        read
    }

    fn matrix_row(
        &self,
        line: &mut Line,
        id: &str,
        header: &Line,
        grid: &Grid,
        scale: f64,
    ) -> usize {
        let steps = self.said.steps_of(&self.task, id);
        let flips: Vec<bool> = self.changes(id).iter().map(|c| *c == Change::Flipped).collect();
        let states = self.uses_states();
        let mut read = 0;
        let tail = header.find_edge(&["flips"]);
        if let Some(end) = tail {
            read += line.at(end, flips.iter().filter(|f| **f).count() as f64);
        }
        let end = tail.map_or(line.width(), |end| end - "flips".len());
        for (t, step) in steps.iter().enumerate().skip(grid.first) {
            let x = grid.start(t);
            if x + grid.cells > end {
                break;
            }
            let value = step[self.y()].as_f64();
            let told: String = (x..x + grid.cells).map(|x| line.cell(x)).collect();
            let right = match grid.cells {
                6 => number_cell(&told, value),
                3 if states => sign(value, told.chars().nth(1)),
                3 => {
                    sign(value, told.chars().next())
                        && (value.is_none() || size(value, told.chars().nth(1), scale))
                }
                _ => glyph(value, told.chars().next()),
            };
            assert!(right, "{told:?} at step {t} of {id} is not {value:?}: {line:?}");
            if grid.cells > 1 {
                let mark = told.chars().last();
                let is_flip = mark == Some('!');
                assert!(mark == Some(']') || is_flip == flips[t], "flip at {t} of {id}: {line:?}");
            }
            read += 1;
            line.clear(x, x + grid.cells);
        }
        read
    }

    /// How many scored rollouts are at a step in a state that two or more visited.
    fn shared_row(&self, line: &mut Line, grid: &Grid) -> usize {
        line.take_text("N≥2");
        let mut read = 0;
        for t in grid.first.. {
            let x = grid.start(t);
            let room: String = (x..x + grid.cells).map(|x| line.cell(x)).collect();
            let word = room.trim();
            if word.is_empty() {
                break;
            }
            let at_step = self.said.steps_in(&self.task).filter(|s| {
                int(s, "step") == t as f64 && is_scored(s) && int(s, "rollouts_s") >= 2.0
            });
            let n = at_step.count();
            let right = if word == "*" { n > 9 } else { number(word) == Some(n as f64) };
            assert!(right, "{word:?} at step {t} is not {n}: {line:?}");
            line.clear(x, x + grid.cells);
            read += 1;
        }
        read
    }
}

impl Grid {
    fn start(&self, t: usize) -> usize {
        self.at + (t - self.first) * self.cells
    }
}

/// What became of a value from one setting to another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Kept,
    Flipped,
    Faded,
}

impl Reading<'_> {
    /// Each step of a rollout, pinned and now: beyond the threshold with another sign, or inside it.
    pub fn changes(&self, id: &str) -> Vec<Change> {
        let pin = self.pin.unwrap_or(self.said);
        let values = |said: &super::said::Said| -> Vec<Option<f64>> {
            said.steps_of(&self.task, id).iter().map(|s| s[self.y()].as_f64()).collect()
        };
        let tau = self.model.settings.tau.1;
        let change =
            |(before, now): (Option<f64>, Option<f64>)| match (before, now) {
                (Some(b), Some(n)) if b.abs() > tau && n.abs() > tau => {
                    if b.signum() == n.signum() { Change::Kept } else { Change::Flipped }
                }
                (Some(b), Some(_)) if b.abs() > tau => Change::Faded,
                _ => Change::Kept,
            };
        values(pin).into_iter().zip(values(self.said)).map(change).collect()
    }
}

/// A rollout without an outcome that counts has no values of states.
pub fn is_scored(step: &Value) -> bool {
    matches!(step["outcome"].as_str(), Some("success" | "failure" | "truncated"))
        && !step["v_smooth"].is_null()
}

fn whole_step(word: &str) -> usize {
    index(super::whole(word))
}

/// `█+.04 `, `█ .00!`, `═+1.2]`, `   · `.
fn number_cell(told: &str, value: Option<f64>) -> bool {
    let word: String = told.chars().skip(1).take(4).filter(|c| *c != ' ').collect();
    match value {
        None => word == "·",
        Some(a) if word.ends_with(">1k") => a.abs() >= 999.5,
        Some(a) => number(&word).is_some_and(|n| word != "·" && near(&word, n, a)),
    }
}

/// A sign where two decimals leave one, a nought where they do not.
fn sign(value: Option<f64>, told: Option<char>) -> bool {
    match (value, told) {
        (None, told) => told == Some('·'),
        (Some(a), Some('0')) => a.abs() <= 0.005 + 1e-9,
        (Some(a), Some('+')) => a >= 0.005 - 1e-9,
        (Some(a), Some('−')) => a <= -0.005 + 1e-9,
        _ => false,
    }
}

/// Tenths of the scale.
fn size(value: Option<f64>, told: Option<char>, scale: f64) -> bool {
    let (Some(a), Some(digit)) = (value, told.and_then(|c| c.to_digit(10))) else { return false };
    let part = 10.0 * a.abs() / scale;
    let digit = f64::from(digit);
    (digit - 1e-9..=digit + 1.0 + 1e-9).contains(&part)
}

fn glyph(value: Option<f64>, told: Option<char>) -> bool {
    let told = match told {
        Some('▲' | '△' | '\'') => Some('+'),
        Some('▼' | '▽' | '.') => Some('−'),
        other => other,
    };
    sign(value, told)
}
