//! git's sub-commands: what takes edits back, puts them aside, applies diffs, moves and searches.
//! Everything else (`status`, `diff`, `log`, `commit`, a switch of branches) is a plain execute.

use crate::facts::act::{Act, ActKind, Scope};

use super::edits::{diff_files, patch_acts};
use super::words::Words;

/// Reads the words after `git` (global flags dropped). `None` for what is a plain execute.
#[must_use]
pub fn git(words: &[String], whole: &str, body: Option<&str>) -> Option<Vec<Act>> {
    let (command, rest) = words.split_first()?;
    let taken = Words::new(rest, &git_values(command));
    let named = || taken.positional.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
    let positional_from = |n: usize| named().split_off(n.min(taken.positional.len()));
    match command.as_str() {
        "checkout" => {
            let paths = checkout_paths(rest)?;
            let scope = scope_of(&paths);
            revert(ActKind::Revert(scope), paths, "git checkout takes edits back")
        }
        "restore" => {
            if taken.has(&["--staged", "-S"]) && !taken.has(&["--worktree", "-W"]) {
                return None;
            }
            let paths = named();
            revert(ActKind::Revert(scope_of(&paths)), paths, "git restore takes edits back")
        }
        "reset" if taken.has(&["--hard", "--merge"]) => {
            revert(ActKind::Revert(Scope::All), Vec::new(), "git reset --hard takes edits back")
        }
        "revert" if !taken.has(&["--abort", "--continue", "--quit", "--skip"]) => {
            revert(ActKind::Revert(Scope::All), Vec::new(), "git revert takes edits back")
        }
        "clean" if taken.has_short('f') && !taken.has_short('n') => {
            revert(ActKind::Revert(Scope::Made), named(), "git clean removes new files")
        }
        "stash" => stash(rest, &taken),
        "apply" | "am" => {
            if taken.has(&["--check", "--stat", "--numstat", "--summary", "--abort"]) {
                return None;
            }
            let files = body.map(diff_files).unwrap_or_default();
            Some(patch_acts(body.unwrap_or(whole), files, "git apply applies a diff"))
        }
        "rm" if !taken.has(&["--cached"]) => {
            Some(vec![Act::new(ActKind::Remove, "rm", "git rm removes files").on(named())])
        }
        "mv" => {
            let mut paths = named();
            let to = paths.pop();
            let mut act = Act::new(ActKind::Move, "mv", "git mv moves files").on(paths);
            act.to = to;
            Some(vec![act])
        }
        "grep" => {
            let paths = positional_from(1);
            Some(vec![Act::new(ActKind::Search, "grep", "git grep looks for text").on(paths)])
        }
        "ls-files" | "ls-tree" => {
            let skip = usize::from(command == "ls-tree");
            let paths = positional_from(skip);
            Some(vec![Act::new(ActKind::Search, "ls", "git lists files").on(paths)])
        }
        _ => None,
    }
}

/// An act that takes edits back, or in again.
#[allow(clippy::unnecessary_wraps)]
fn revert(kind: ActKind, paths: Vec<String>, why: &str) -> Option<Vec<Act>> {
    let op = if kind == ActKind::Unstash { "unstash" } else { "revert" };
    Some(vec![Act::new(kind, op, why).on(paths)])
}

fn stash(rest: &[String], taken: &Words<'_>) -> Option<Vec<Act>> {
    match taken.positional.first().copied() {
        None | Some("push" | "save") => {
            // `git stash save` takes a message, no paths.
            let named = taken.positional.first() == Some(&"push") && rest.len() > 1;
            let paths: Vec<String> = if named {
                taken.positional.iter().skip(1).map(|p| (*p).to_owned()).collect()
            } else {
                Vec::new()
            };
            let scope = scope_of(&paths);
            revert(ActKind::Stash(scope), paths, "git stash puts edits aside")
        }
        Some("pop" | "apply") => {
            revert(ActKind::Unstash, Vec::new(), "git stash pop takes edits back in")
        }
        Some(_) => None,
    }
}

fn git_values(command: &str) -> Vec<String> {
    let flags: &[&str] = match command {
        "restore" => &["-s", "--source"],
        "stash" => &["-m", "--message"],
        "grep" => &["-e", "-f", "-A", "-B", "-C", "-m"],
        "apply" => &["-p", "--directory", "--include", "--exclude"],
        "clean" => &["-e"],
        _ => &[],
    };
    flags.iter().map(|f| (*f).to_owned()).collect()
}

fn scope_of(paths: &[String]) -> Scope {
    if paths.is_empty() || paths.iter().all(|p| matches!(p.as_str(), "." | "./" | ":/" | "*")) {
        Scope::All
    } else {
        Scope::Named
    }
}

/// The paths of a `git checkout` that takes edits back; `None` when it switches branches. Without
/// `--` a word is taken for a path when it looks like one.
fn checkout_paths(rest: &[String]) -> Option<Vec<String>> {
    if let Some(at) = rest.iter().position(|w| w == "--") {
        let paths = rest.get(at + 1..)?.to_vec();
        return (!paths.is_empty()).then_some(paths);
    }
    if rest
        .iter()
        .any(|w| matches!(w.as_str(), "-b" | "-B" | "--orphan" | "-t" | "--track" | "--detach"))
    {
        return None;
    }
    if rest.iter().any(|w| w == "-f" || w == "--force") && rest.len() == 1 {
        return Some(Vec::new());
    }
    let paths: Vec<String> =
        rest.iter().filter(|w| !w.starts_with('-') && looks_like_path(w)).cloned().collect();
    // `git checkout v1.2` is a switch; `git checkout v1.2 a.py` is about a.py.
    (!paths.is_empty()).then_some(paths)
}

fn looks_like_path(word: &str) -> bool {
    matches!(word, "." | "./" | ":/") || word.ends_with('/') || has_extension(word)
}

/// `name.ext` with letters in the extension: `v1.2` and `HEAD~1` are none, `origin/main` neither.
fn has_extension(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty()
            && !ext.is_empty()
            && ext.len() <= 6
            && ext.starts_with(|c: char| c.is_ascii_alphabetic())
            && ext.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn git_reverts_and_what_only_looks_like_one() {
        let kinds =
            |text: &str| git(&words(text), text, None).map(|acts| acts.first().unwrap().kind);
        for (text, scope) in [
            ("checkout -- core.py", Scope::Named),
            ("checkout core.py", Scope::Named),
            ("checkout HEAD -- src/core.py", Scope::Named),
            ("checkout HEAD src/core.py", Scope::Named),
            ("checkout .", Scope::All),
            ("restore src/core.py", Scope::Named),
            ("restore .", Scope::All),
            ("reset --hard HEAD~1", Scope::All),
            ("revert HEAD", Scope::All),
            ("clean -fd", Scope::Made),
        ] {
            assert_eq!(kinds(text), Some(ActKind::Revert(scope)), "{text}");
        }
        assert_eq!(kinds("stash"), Some(ActKind::Stash(Scope::All)));
        assert_eq!(kinds("stash push -m wip a.py"), Some(ActKind::Stash(Scope::Named)));
        assert_eq!(kinds("stash pop"), Some(ActKind::Unstash));
        for text in [
            "checkout main",
            "checkout -b fix",
            "checkout v1.2",
            "reset HEAD a.py",
            "restore --staged a.py",
            "stash list",
            "status",
            "diff",
            "apply --check x.patch",
        ] {
            assert_eq!(kinds(text), None, "{text}");
        }
    }
}
