//! Texts that a match of a pattern must contain. Looking for a few texts runs ten times as fast as
//! any automaton, and most outputs hold none of them.

use regex_syntax::Parser;
use regex_syntax::hir::{Hir, HirKind};

/// Shorter texts are found nearly everywhere.
const SHORTEST: usize = 3;

/// More texts than this are no faster to look for than the pattern itself.
const MOST: usize = 48;

/// Texts of which every match of one of these patterns holds at least one; `None` where there are
/// no such texts, or none that would help.
#[must_use]
pub fn needed(patterns: &[String]) -> Option<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for pattern in patterns {
        let hir = Parser::new().parse(pattern).ok()?;
        all.extend(of(&hir)?);
    }
    all.sort_unstable();
    all.dedup();
    (!all.is_empty() && all.len() <= MOST && shortest(&all) >= SHORTEST).then_some(all)
}

fn shortest(texts: &[Vec<u8>]) -> usize {
    texts.iter().map(Vec::len).min().unwrap_or(0)
}

fn of(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Literal(text) => Some(vec![text.0.to_vec()]),
        HirKind::Capture(group) => of(&group.sub),
        HirKind::Repetition(again) if again.min > 0 => of(&again.sub),
        HirKind::Alternation(ways) => {
            let all: Option<Vec<_>> = ways.iter().map(of).collect();
            Some(all?.concat())
        }
        // All parts must be there: the one whose shortest text is longest says most.
        HirKind::Concat(parts) => parts.iter().filter_map(of).max_by_key(|set| shortest(set)),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(patterns: &[&str]) -> Option<Vec<String>> {
        let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
        let found = needed(&patterns)?;
        Some(found.into_iter().map(|t| String::from_utf8(t).unwrap()).collect())
    }

    #[test]
    fn what_a_match_must_hold() {
        let got = texts(&[r"^(=+ )?(\d+ [a-z]+, )*[1-9]\d* (failed|errors?)\b", "^OK, done"]);
        assert_eq!(got.unwrap(), ["OK, done", "error", "failed"]);
        assert_eq!(texts(&["(no such file)?x"]), None);
        assert_eq!(texts(&["^OK$"]), None);
        assert_eq!(texts(&["(?i)error"]), None);
    }
}
