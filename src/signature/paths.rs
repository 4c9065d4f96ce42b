//! Targets at a chosen scope, and their shortest unambiguous labels.

use rustc_hash::FxHashMap;

use super::granularity::{Granularity, TargetScope};
use crate::rollout::{Sym, Symbols};

/// The name that all test files share when they count as one.
const TESTS: &str = "<tests>";

/// Maps the targets of a group to what a granularity leaves of them. Memoised per path.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    memo: FxHashMap<Sym, Sym>,
    names: Symbols,
}

impl Scope {
    /// What is left of a path; [`Sym::NONE`] when nothing is.
    pub(super) fn of(&mut self, path: Sym, symbols: &Symbols, granularity: &Granularity) -> Sym {
        if let Some(&known) = self.memo.get(&path) {
            return known;
        }
        let text = symbols.text(path);
        let scoped = if granularity.tests_as_one && is_test_file(text) {
            TESTS.to_owned()
        } else {
            cut(text, granularity.target)
        };
        let name = if scoped.is_empty() { Sym::NONE } else { self.names.intern(&scoped) };
        self.memo.insert(path, name);
        name
    }

    /// The scoped names.
    pub(super) const fn names(&self) -> &Symbols {
        &self.names
    }
}

fn basename(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

fn cut(path: &str, scope: TargetScope) -> String {
    match scope {
        TargetScope::None => String::new(),
        TargetScope::Extension => {
            let name = basename(path);
            match name.rfind('.') {
                Some(dot) if dot > 0 => format!("*{}", name.get(dot..).unwrap_or_default()),
                _ => "*".to_owned(),
            }
        }
        TargetScope::Basename => basename(path).to_owned(),
        TargetScope::Folder(k) => {
            let parts: Vec<&str> = path.split('/').collect();
            let folders = parts.len().saturating_sub(1).min(k as usize);
            let head: Vec<&str> = parts.into_iter().take(folders).collect();
            if head.is_empty() { "./".to_owned() } else { format!("{}/", head.join("/")) }
        }
        TargetScope::Path => path.to_owned(),
    }
}

/// Whether a path is a test file by the usual conventions (pytest, Go, JavaScript, a tests folder).
#[must_use]
pub fn is_test_file(path: &str) -> bool {
    let name = basename(path);
    let stem = name.split('.').next().unwrap_or(name);
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem == "conftest"
        || name.contains(".test.")
        || name.contains(".spec.")
        || path.split('/').any(|part| matches!(part, "tests" | "test" | "__tests__"))
}

/// Shortest suffixes, by whole path components, that tell the given paths apart.
pub(super) fn suffix_labels(names: &Symbols) -> Vec<String> {
    let all: Vec<Vec<&str>> =
        names.iter().map(|(_, text)| text.split('/').filter(|p| !p.is_empty()).collect()).collect();
    let mut count: FxHashMap<&[&str], u32> = FxHashMap::default();
    for parts in &all {
        for start in 0..parts.len() {
            if let Some(suffix) = parts.get(start..) {
                *count.entry(suffix).or_default() += 1;
            }
        }
    }
    names
        .iter()
        .zip(&all)
        .map(|((_, text), parts)| {
            (0..parts.len())
                .rev()
                .filter_map(|start| parts.get(start..))
                .find(|suffix| count.get(suffix) == Some(&1))
                .map_or_else(|| text.to_owned(), |suffix| suffix.join("/"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_the_shortest_suffix_that_is_unique() {
        let mut names = Symbols::default();
        for path in ["src/a/core.py", "src/b/core.py", "lib.py", ".", "core.py"] {
            names.intern(path);
        }
        assert_eq!(suffix_labels(&names), ["a/core.py", "b/core.py", "lib.py", ".", "core.py"]);
    }

    #[test]
    fn scopes_cut_paths() {
        assert_eq!(cut("src/a/core.py", TargetScope::Basename), "core.py");
        assert_eq!(cut("src/a/core.py", TargetScope::Extension), "*.py");
        assert_eq!(cut("src/a/core.py", TargetScope::Folder(1)), "src/");
        assert_eq!(cut("core.py", TargetScope::Folder(2)), "./");
    }

    #[test]
    fn test_files_are_known_by_name_or_folder() {
        assert!(is_test_file("tests/helper.py"));
        assert!(is_test_file("pkg/test_io.py"));
        assert!(is_test_file("web/button.test.tsx"));
        assert!(!is_test_file("contest.py"));
    }
}
