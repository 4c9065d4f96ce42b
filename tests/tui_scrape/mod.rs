//! Reads numbers off a drawn buffer: words by the column where they end, blanked once they are read.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

pub mod beside;
pub mod cells;
pub mod layers;
pub mod listed;
pub mod numerals;
pub mod ranked;
pub mod reading;
pub mod said;
pub mod tree;
pub mod turned;
pub mod why;

use std::path::PathBuf;

use credscope::tui::model::Model;
use credscope::tui::panes;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A file of the corpus, or a loud word that it is missing.
pub fn real(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CREDSCOPE_CORPUS")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is missing; set CREDSCOPE_CORPUS", path.display());
    None
}

pub fn draw(model: &Model) -> Buffer {
    let mut buffer = Buffer::empty(model.area);
    panes::draw(model, model.area, &mut buffer);
    buffer
}

/// The lines of a pane.
pub fn lines(buffer: &Buffer, area: Rect) -> Vec<Line> {
    (area.top()..area.bottom()).map(|y| Line::of(buffer, Rect { y, height: 1, ..area })).collect()
}

/// A number as the screen writes it: `−0.725`, `.50`, `15%`, `·` for a count of nothing.
pub fn number(word: &str) -> Option<f64> {
    if word == "·" {
        return Some(0.0);
    }
    let plain = word.trim_end_matches('%').replace('−', "-");
    let digits = plain.trim_start_matches(['+', '-']);
    let fine = digits.chars().any(|c| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    fine.then(|| plain.parse().ok()).flatten()
}

/// A whole number; NaN where it is none.
pub fn whole(word: &str) -> f64 {
    word.parse::<u64>().map_or(f64::NAN, |n| n as f64)
}

/// Whether a number is a value, rounded to the decimals that are shown.
pub fn near(word: &str, shown: f64, value: f64) -> bool {
    let decimals = word.split_once('.').map_or(0, |(_, d)| d.trim_end_matches('%').len());
    // Half of the last place, and what a sum in another order may differ by.
    let half = 0.5 * 0.1_f64.powf(decimals as f64) + 1e-9;
    (shown - value).abs() <= half
}

/// Whether a label, shortened as a pane does, is that of an action.
pub fn fits(shown: &str, full: &str) -> bool {
    let mut rest = full;
    shown.split(['…', ':', '@', ' ']).filter(|p| !p.is_empty()).all(|piece| {
        let at = rest.find(piece);
        rest = at.map_or("", |at| &rest[at + piece.len()..]);
        at.is_some()
    })
}

/// A line of cells.
#[derive(Clone)]
pub struct Line {
    cells: Vec<char>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self { cells: text.chars().collect() }
    }
}

impl Line {
    pub fn of(buffer: &Buffer, area: Rect) -> Self {
        let cell = |x| buffer[(x, area.y)].symbol().chars().next().unwrap_or(' ');
        Self { cells: (area.left()..area.right()).map(cell).collect() }
    }

    pub fn text(&self) -> String {
        self.cells.iter().collect()
    }

    pub fn part(&self, from: usize, to: usize) -> Self {
        Self { cells: self.cells[from..to.min(self.cells.len())].to_vec() }
    }

    pub fn has_digit(&self) -> bool {
        self.cells.iter().any(char::is_ascii_digit)
    }

    /// Whether the cursor marks the line; blanks the mark.
    pub fn take_mark(&mut self) -> bool {
        let marked = self.cells.first() == Some(&'▸');
        if marked {
            self.cells[0] = ' ';
        }
        marked
    }

    pub fn find(&self, text: &str) -> Option<usize> {
        let wanted: Vec<char> = text.chars().collect();
        (0..self.cells.len()).find(|&x| self.cells[x..].starts_with(&wanted))
    }

    /// The column after one of these words of a header; the words stand alone.
    pub fn find_edge(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            let wanted: Vec<char> = name.chars().collect();
            let letter =
                |c: Option<&char>| c.is_some_and(|c| !matches!(c, ' ' | '█' | '▒' | '∷' | '═'));
            (0..self.cells.len())
                .find(|&x| {
                    self.cells[x..].starts_with(&wanted)
                        && !letter(x.checked_sub(1).and_then(|x| self.cells.get(x)))
                        && !letter(self.cells.get(x + wanted.len()))
                })
                .map(|x| x + wanted.len())
        })
    }

    pub fn edge(&self, names: &[&str]) -> usize {
        self.find_edge(names).unwrap_or_else(|| panic!("no {names:?} in {self:?}"))
    }

    /// The word that ends at a column.
    pub fn word(&self, end: usize) -> String {
        self.cells[self.start(end)..end.min(self.cells.len())].iter().collect()
    }

    fn start(&self, end: usize) -> usize {
        let end = end.min(self.cells.len());
        let outside = |c: char| matches!(c, ' ' | '✓' | '✗' | '⊘');
        (0..end).rev().find(|&x| outside(self.cells[x])).map_or(0, |x| x + 1)
    }

    /// Where the second word ends.
    pub fn second_word_end(&self) -> usize {
        let blank = |x: &usize| self.cells.get(*x).is_none_or(|&c| c == ' ');
        let end = self.cells.len();
        let first = (0..end).find(|x| !blank(x)).unwrap_or(0);
        // A mark takes one cell or two, and a number may stand right behind it.
        let mark = |x: &usize| self.cells.get(*x) == Some(&'⊘');
        let second = (first + 1..end).find(|x| !blank(x) && !mark(x)).unwrap_or(0);
        (second..end).find(blank).unwrap_or(end)
    }

    pub fn blank_at(&mut self, end: usize) {
        let start = self.start(end);
        self.blank(start, end);
    }

    fn blank(&mut self, from: usize, to: usize) {
        let to = to.min(self.cells.len());
        self.cells[from..to].fill(' ');
    }

    pub fn peek(&self, end: usize) -> Option<f64> {
        number(&self.word(end))
    }

    /// The number that ends at a column is this value. Gives one: a number was read.
    pub fn at(&mut self, end: usize, value: f64) -> usize {
        let word = self.word(end);
        let shown = number(&word);
        assert!(
            shown.is_some_and(|n| near(&word, n, value)),
            "{word:?} at column {end} is not {value}: {self:?}"
        );
        self.blank_at(end);
        1
    }

    /// What ends at a column says that there is no number.
    pub fn nothing_at(&mut self, end: usize) -> usize {
        let word = self.word(end);
        assert!(matches!(word.as_str(), "·" | "n/a" | ""), "{word:?} at column {end}: {self:?}");
        self.blank_at(end);
        usize::from(!word.is_empty())
    }

    /// A count that ends at a column, with or without its share in percent.
    pub fn count_and_share(&mut self, end: usize, count: f64, share: f64) -> usize {
        if self.word(end).ends_with('%') {
            let read = self.at(end, share);
            let end = (0..end).rev().find(|&x| self.cells[x] != ' ').map_or(0, |x| x + 1);
            read + self.at(end, count)
        } else {
            self.at(end, count)
        }
    }

    /// Where a text stands, the number right behind it is this value, if there is one.
    pub fn after(&mut self, text: &str, value: f64) -> usize {
        let Some(at) = self.find(text) else { return 0 };
        let from = at + text.chars().count();
        let inside = |c: char| c.is_ascii_digit() || matches!(c, '.' | '−' | '+' | '·' | '%');
        let to =
            (from..self.cells.len()).find(|&x| !inside(self.cells[x])).unwrap_or(self.cells.len());
        let word: String = self.cells[from..to].iter().collect();
        let Some(shown) = number(&word) else { return 0 };
        assert!(near(&word, shown, value), "{text:?} {word} is not {value}: {self:?}");
        self.blank(at, to);
        1
    }

    /// Whether the number right behind a text is this one.
    pub fn is_after(&self, text: &str, value: f64) -> bool {
        self.find(text).is_some_and(|at| {
            let from = at + text.chars().count();
            let found = self.part(from, self.cells.len()).numerals();
            found.first().is_some_and(|(x, _, word)| *x == 0 && number(word) == Some(value))
        })
    }

    /// Where a word stands alone, the number before it is this value, if there is one.
    pub fn before(&mut self, word: &str, value: f64) -> usize {
        let Some(end) = self.find_edge(&[word]) else { return 0 };
        let start = end - word.chars().count();
        let Some(number_end) = (0..start).rev().find(|&x| self.cells[x] != ' ').map(|x| x + 1)
        else {
            return 0;
        };
        if number(&self.word(number_end)).is_none() {
            return 0;
        }
        self.at(number_end, value)
    }

    /// Blanks the first word that is right; gives how many were.
    pub fn claim_word(&mut self, right: impl Fn(&str) -> bool) -> usize {
        let mut x = 0;
        while x < self.cells.len() {
            if self.cells[x] == ' ' {
                x += 1;
                continue;
            }
            let end =
                (x..self.cells.len()).find(|&e| self.cells[e] == ' ').unwrap_or(self.cells.len());
            let word: String = self.cells[x..end].iter().collect();
            if right(&word) {
                self.blank(x, end);
                return 1;
            }
            x = end;
        }
        0
    }

    pub fn is_fraction(&self, a: f64, b: f64) -> bool {
        self.clone().claim_word(|w| is(w, a, b)) == 1
    }

    /// `N(s,a)/N(s)`.
    pub fn fraction(&mut self, a: f64, b: f64) -> usize {
        let read = self.claim_word(|w| is(w, a, b));
        assert_eq!(read, 1, "no {a}/{b} in {self:?}");
        read
    }

    /// Blanks what is left of a name, whole or without its beginning or its end.
    pub fn name(&mut self, name: &str) {
        let shown = self.claim_longest(|word| {
            let word = word.trim_matches(['…', '▸', '|']);
            word.chars().count() >= 2 && name.contains(word) || name == word
        });
        // Names of several words are drawn with their blanks.
        if shown == 0 {
            self.blank_text(name);
        }
    }

    fn claim_longest(&mut self, right: impl Fn(&str) -> bool) -> usize {
        let words: Vec<String> = self.text().split(' ').map(str::to_owned).collect();
        let longest =
            words.iter().filter(|w| !w.is_empty() && right(w)).max_by_key(|w| w.chars().count());
        let Some(longest) = longest.cloned() else { return 0 };
        self.claim_word(|w| w == longest)
    }

    /// Blanks as much of a text as stands here from its beginning.
    pub fn blank_text(&mut self, text: &str) {
        let wanted: Vec<char> = text.chars().collect();
        for n in (4..=wanted.len()).rev() {
            if let Some(x) =
                (0..self.cells.len()).find(|&x| self.cells[x..].starts_with(&wanted[..n]))
            {
                self.blank(x, x + n);
                return;
            }
        }
    }

    /// A title with a key in it.
    pub fn title(&mut self, title: &str) {
        let at = self.find(title).unwrap_or_else(|| panic!("no {title} in {self:?}"));
        self.blank(at, at + title.chars().count());
    }

    /// Blanks the digits behind a mark.
    pub fn blank_after(&mut self, mark: &str) {
        while let Some(at) = self.find(mark) {
            self.blank(at, at + mark.chars().count());
            let mut x = at + mark.chars().count();
            while self.cells.get(x).is_some_and(char::is_ascii_digit) {
                self.cells[x] = ' ';
                x += 1;
            }
        }
    }

    /// Past the indent that fits, the depth of a row stands before it: `+37`.
    pub fn blank_depth(&mut self) {
        if let Some(x) = self.cells.iter().position(|&c| c != ' ').filter(|&x| self.cells[x] == '+')
        {
            self.cells[x] = ' ';
            let digits = self.cells[x + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
            self.blank(x, x + 1 + digits);
        }
    }

    /// States are numbered on the screen alone: `→s17`.
    pub fn blank_state_ids(&mut self) {
        self.blank_after("→s");
        self.blank_after("↪s");
    }

    /// Whether the label that stands right of a column is this action's; blanks it.
    pub fn label(&mut self, from: usize, full: &str) -> bool {
        self.label_of(from, self.cells.len(), full)
    }

    pub fn label_of(&mut self, from: usize, to: usize, full: &str) -> bool {
        let first = full.chars().next().unwrap_or(' ');
        // Before it there are marks and guides only.
        let start = (from..to).find(|&x| {
            self.cells[x] == first || self.cells[x] == '…' || self.cells[x].is_ascii_alphanumeric()
        });
        let Some(start) = start else { return full.is_empty() };
        let mut end = start;
        while end < to && !is_end(&self.cells, end) {
            end += 1;
        }
        let shown: String = self.cells[start..end].iter().collect();
        let right = fits(shown.trim_end(), full);
        if right {
            self.blank(start, end);
        }
        right
    }

    /// Nothing with a digit is left, but in these texts.
    pub fn done(&self, allowed: &[&str]) {
        let mut text = self.text();
        for one in allowed {
            text = text.replace(one, "");
        }
        // Hints at the end of a rule: keys.
        let left: Vec<&str> =
            text.split_whitespace().filter(|w| w.chars().any(|c| c.is_ascii_digit())).collect();
        assert!(left.is_empty(), "numbers that nothing explains: {left:?} in {text:?}");
    }
}

fn is(word: &str, a: f64, b: f64) -> bool {
    word.split_once('/').is_some_and(|(x, y)| whole(x) == a && whole(y) == b)
}

/// Two blanks, or a mark, end a label.
fn is_end(cells: &[char], x: usize) -> bool {
    let at = |x: usize| cells.get(x).copied().unwrap_or(' ');
    at(x) == ' '
        && matches!(
            at(x + 1),
            ' ' | '⋎'
                | '≡'
                | '↺'
                | '→'
                | '↪'
                | '│'
                | '━'
                | '█'
                | '▒'
                | '∷'
                | '═'
                | '╺'
                | '▐'
        )
}
