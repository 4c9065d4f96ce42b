//! Lists of patterns, compiled when first needed: most profiles and runners of the tables are never
//! used in a run, and compiling all of them would be the longest part of a start.

use std::sync::{Arc, OnceLock};

use aho_corasick::packed::Searcher;
use regex::{Regex, RegexBuilder};

use super::{ProfileError, literals};

/// Texts up to this length are given to the automaton at once.
const SHORT: usize = 128;

/// Whether texts are tried at once. The built-in ones are tried by a test, a user's when read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Compile and complain.
    Now,
    /// A text that cannot be compiled matches nothing.
    Never,
}

/// A list of patterns. `^` and `$` stand at lines, `\A` and `\z` at the text's ends.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    list: Vec<Pattern>,
    any: Arc<OnceLock<Any>>,
}

/// All patterns of a list as one, and the texts without which none of them matches.
#[derive(Debug)]
struct Any {
    regex: Option<Regex>,
    needed: Option<Searcher>,
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.text).ok()).as_ref()
    }
}

fn compile(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&ascii_borders(text)).multi_line(true).build()
}

/// The pattern with `\b` and `\B` at borders of ASCII words: those of Unicode words cost a text with
/// a single accent the fast engine (a tenth of the speed), and no tool's message needs them.
fn ascii_borders(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some(border @ ('b' | 'B'))) if !chars.as_str().starts_with('{') => {
                out.extend(["(?-u:\\", if border == 'b' { "b" } else { "B" }, ")"]);
            }
            (c, next) => out.extend([c].into_iter().chain(next)),
        }
    }
    out
}

impl Patterns {
    /// Patterns from their texts; `origin` and `field` name them in messages.
    pub(super) fn read(
        origin: &str,
        field: &str,
        texts: &[String],
        check: Check,
    ) -> Result<Self, ProfileError> {
        if check == Check::Now {
            for text in texts {
                compile(text).map_err(|source| ProfileError::Pattern {
                    origin: origin.to_owned(),
                    field: field.to_owned(),
                    source: Box::new(source),
                })?;
            }
        }
        let list = texts
            .iter()
            .map(|text| Pattern { text: text.clone(), compiled: Arc::default() })
            .collect();
        Ok(Self { list, any: Arc::default() })
    }

    /// Adds those of another list that are not there.
    pub(super) fn extend(&mut self, more: &Self) {
        for pattern in &more.list {
            if !self.list.iter().any(|own| own.text == pattern.text) {
                self.list.push(pattern.clone());
            }
        }
        self.any = Arc::default();
    }

    /// Whether one of them matches.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let any = self.any.get_or_init(|| {
            let texts: Vec<String> = self.list.iter().map(|p| p.text.clone()).collect();
            let parts: Vec<String> = texts.iter().map(|t| format!("(?:{t})")).collect();
            let needed = literals::needed(&texts).and_then(Searcher::new);
            Any { regex: compile(&parts.join("|")).ok(), needed }
        });
        // A short text is read faster than twice.
        if let Some(needed) = any.needed.as_ref().filter(|_| text.len() >= SHORT)
            && needed.find(text).is_none()
        {
            return false;
        }
        match &any.regex {
            Some(regex) => regex.is_match(text),
            None => self.list.iter().filter_map(Pattern::regex).any(|p| p.is_match(text)),
        }
    }

    /// The first group of the first pattern that matches, at its first place.
    #[must_use]
    pub fn group<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.list
            .iter()
            .filter_map(Pattern::regex)
            .find_map(|p| Some(p.captures(text)?.get(1)?.as_str()))
    }

    /// The same at its last place.
    #[must_use]
    pub fn last_group<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.list
            .iter()
            .filter_map(Pattern::regex)
            .find_map(|p| Some(p.captures_iter(text).last()?.get(1)?.as_str()))
    }

    /// Where the first pattern that matches ends.
    #[must_use]
    pub fn end(&self, text: &str) -> Option<usize> {
        self.list.iter().filter_map(Pattern::regex).find_map(|p| Some(p.find(text)?.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_those_of_ascii_words() {
        assert_eq!(ascii_borders(r"\bok\b\\b\B[^\n]"), r"(?-u:\b)ok(?-u:\b)\\b(?-u:\B)[^\n]");
        assert!(compile(r"\A\s*(ERROR|Error)\b").unwrap().is_match("Error: é"));
        assert!(compile(r"\Bx").is_ok());
    }
}
