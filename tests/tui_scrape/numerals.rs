//! All numbers of a line at once, and names and texts that are no numbers.

use super::{Line, near, number};

impl Line {
    /// The numbers that stand here: first column, column after it, the word.
    pub fn numerals(&self) -> Vec<(usize, usize, String)> {
        let at = |x: usize| self.cells.get(x).copied().unwrap_or(' ');
        let point = |x: usize| at(x) == '.' && at(x + 1).is_ascii_digit();
        let mut found = Vec::new();
        let mut x = 0;
        while x < self.cells.len() {
            if !at(x).is_ascii_digit() && !point(x) {
                x += 1;
                continue;
            }
            let signed = x > 0 && matches!(at(x - 1), '+' | '−');
            let from = x - usize::from(signed);
            while at(x).is_ascii_digit() || point(x) {
                x += 1;
            }
            x += usize::from(at(x) == '%');
            found.push((from, x, self.cells[from..x].iter().collect()));
        }
        found
    }

    /// All numbers that stand here are these, in this order.
    pub fn expect(&mut self, values: &[f64]) -> usize {
        let found = self.numerals();
        let words: Vec<&str> = found.iter().map(|(_, _, word)| word.as_str()).collect();
        let right = |(word, value): (&&str, &f64)| near(word, number(word).unwrap(), *value);
        assert!(
            words.len() == values.len() && words.iter().zip(values).all(right),
            "{words:?} are not {values:?}: {self:?}"
        );
        for (from, to, _) in &found {
            self.blank(*from, *to);
        }
        found.len()
    }

    /// The name that stands at the left, before the mark of an outcome, is part of this one.
    pub fn name_before_outcome(&mut self, name: &str) {
        let mark = |x: &usize| {
            matches!(self.cells[*x], '✓' | '✗' | '⊘' | '‼' | '?') && self.cells[x - 1] == ' '
        };
        let end = (1..self.cells.len()).find(mark);
        let end = end.unwrap_or_else(|| panic!("no outcome in {self:?}"));
        let shown: String = self.cells[..end].iter().collect();
        let bare = shown.trim_matches(['▸', ' ', '…', '[']);
        assert!(!bare.is_empty() && name.contains(bare), "{bare:?} is not {name:?}: {self:?}");
        self.blank(0, end);
    }

    /// Blanks all of a text wherever it stands; whether it does.
    pub fn take_text(&mut self, text: &str) -> bool {
        let at = self.find(text);
        if let Some(at) = at {
            self.blank(at, at + text.chars().count());
        }
        at.is_some()
    }

    /// The words from a column on are a piece of this text, but for how it is cut and spaced.
    pub fn piece_of(&mut self, from: usize, text: &str) {
        let bare = |t: &str| t.chars().filter(|c| !matches!(c, ' ' | '…')).collect::<String>();
        let shown: String = self.cells[from..].iter().collect();
        assert!(bare(text).contains(&bare(&shown)), "{shown:?} is no piece of {text:?}");
        self.blank(from, self.cells.len());
    }

    pub fn cell(&self, x: usize) -> char {
        self.cells.get(x).copied().unwrap_or(' ')
    }

    pub fn width(&self) -> usize {
        self.cells.len()
    }

    pub fn clear(&mut self, from: usize, to: usize) {
        self.blank(from.min(self.cells.len()), to);
    }
}
