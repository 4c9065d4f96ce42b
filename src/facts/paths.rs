//! Paths as identities: relative to the workspace root, so that `/testbed/x.py`, `./x.py` and
//! `cd /testbed && cat x.py` are one file.

use std::collections::BTreeSet;

use crate::profile::Profile;
use crate::rollout::{Group, Sym};

/// Beginnings of paths that belong to the system, never to a workspace.
const SYSTEM: [&str; 14] = [
    "/tmp", "/usr", "/opt", "/etc", "/var", "/proc", "/dev", "/bin", "/lib", "/sys", "/run",
    "/sbin", "/mnt", "/private",
];

/// `path` as seen from `base`; an absolute path stays.
#[must_use]
pub fn join(base: &str, path: &str) -> String {
    if base.is_empty() || path.starts_with('/') || path.starts_with('~') {
        path.to_owned()
    } else if path.is_empty() {
        base.to_owned()
    } else {
        format!("{}/{path}", base.trim_end_matches('/'))
    }
}

/// Resolves `.` and `..` by text and drops doubled and trailing slashes; `.` for nothing left.
#[must_use]
pub fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// The path relative to the workspace root, seen from `cwd` (empty for the root itself). `file`
/// says that it names a file: a root that is a pattern then must leave something over.
#[must_use]
pub fn relative(profile: &Profile, cwd: &str, path: &str, file: bool) -> String {
    let path = path.trim().trim_matches(['"', '\'']);
    let path = path.strip_prefix("file://").unwrap_or(path);
    let whole = clean(&join(cwd, path));
    let mut best = 0;
    for root in &profile.roots {
        if let Some(length) = root_length(&whole, root)
            && (length < whole.len() || !file || !root.contains('*'))
        {
            best = best.max(length);
        }
    }
    if best == 0 {
        // A file right below a root of the form `/workspace/*`.
        if file
            && let Some((folder, name)) = whole.rsplit_once('/')
            && profile.roots.iter().any(|r| r.strip_suffix("/*") == Some(folder))
        {
            return name.to_owned();
        }
        return whole;
    }
    match whole.get(best..).map(|rest| rest.trim_start_matches('/')) {
        Some("") | None => ".".to_owned(),
        Some(rest) => rest.to_owned(),
    }
}

/// Length of the beginning of `path` that the root covers.
fn root_length(path: &str, root: &str) -> Option<usize> {
    let mut length = 0;
    let mut rest = path;
    for (n, pattern) in root.split('/').enumerate() {
        if n > 0 {
            rest = rest.strip_prefix('/')?;
            length += 1;
        }
        let part = rest.split('/').next().unwrap_or(rest);
        if !crate::profile::glob(part, pattern) || (part.is_empty() && !pattern.is_empty()) {
            return None;
        }
        length += part.len();
        rest = rest.get(part.len()..)?;
    }
    (rest.is_empty() || rest.starts_with('/')).then_some(length)
}

fn is_system(path: &str) -> bool {
    path.contains("/site-packages")
        || path.contains("/dist-packages")
        || SYSTEM
            .iter()
            .any(|s| path.strip_prefix(s).is_some_and(|r| r.is_empty() || r.starts_with('/')))
}

/// Makes the paths of a finished group relative to its workspace root, where the profile's list of
/// roots did not already: the common root of the group's absolute targets, if they lie in more
/// than one folder. System paths (`/tmp`, `/usr`, site-packages, …) stay as they are.
pub fn relate_paths(group: &mut Group) {
    let facts = &group.steps.facts;
    let absolute: BTreeSet<(Sym, String)> = facts
        .targets
        .iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|&sym| (sym, group.symbols.text(sym).to_owned()))
        .filter(|(_, path)| path.starts_with('/') && path.len() > 1 && !is_system(path))
        .collect();
    let folders: BTreeSet<&str> = absolute.iter().map(|(_, p)| folder_of(p, &absolute)).collect();
    if folders.len() < 2 {
        return;
    }
    let root = folders.iter().copied().reduce(common_folder).unwrap_or_default().to_owned();
    if root.is_empty() {
        return;
    }
    let mut renamed = rustc_hash::FxHashMap::default();
    for (sym, path) in &absolute {
        if let Some(rest) = path.strip_prefix(root.as_str()) {
            let rest = rest.trim_start_matches('/');
            renamed.insert(*sym, group.symbols.intern(if rest.is_empty() { "." } else { rest }));
        }
    }
    for target in &mut group.steps.facts.targets {
        if let Some(&new) = renamed.get(target) {
            *target = new;
        }
    }
}

/// The folder that a target stands in; a target that others lie below is a folder itself.
fn folder_of<'a>(path: &'a str, all: &BTreeSet<(Sym, String)>) -> &'a str {
    let is_folder = all
        .iter()
        .any(|(_, other)| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
    if is_folder { path } else { path.rsplit_once('/').map_or("", |(folder, _)| folder) }
}

/// The longest beginning of whole components that both share.
fn common_folder<'a>(a: &'a str, b: &'a str) -> &'a str {
    let mut end = 0;
    for (x, y) in a.split('/').zip(b.split('/')) {
        if x != y {
            break;
        }
        end += x.len() + 1;
    }
    a.get(..end.saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::profile::Profiles;

    #[test]
    fn one_file_has_one_name() {
        let profiles = Profiles::builtin();
        let profile = profiles.get("generic").unwrap();
        let rows = [
            ("", "/testbed/src/a.py", true, "src/a.py"),
            ("", "./src/a.py", true, "src/a.py"),
            ("/testbed", "src/a.py", true, "src/a.py"),
            ("/testbed/src", "a.py", true, "src/a.py"),
            ("src", "../lib//b.py", true, "lib/b.py"),
            ("", "/testbed", false, "."),
            ("", "/testbed/", false, "."),
            ("", "", false, "."),
            ("", "/workspace/repo__1.0/src/a.c", true, "src/a.c"),
            ("", "/workspace/repo__1.0", false, "."),
            ("", "/workspace/test.c", true, "test.c"),
            ("", "/marshmallow-code__marshmallow/setup.py", true, "setup.py"),
            ("", "/tmp/x.py", true, "/tmp/x.py"),
            ("", "/opt/conda/lib/site-packages/a.py", true, "/opt/conda/lib/site-packages/a.py"),
            ("/testbed", "~/notes.md", true, "notes.md"),
            ("", "/testbeds/a.py", true, "/testbeds/a.py"),
        ];
        for (cwd, path, file, expected) in rows {
            assert_eq!(relative(profile, cwd, path, file), expected, "{cwd} {path}");
        }
    }

    #[test]
    fn the_common_root_of_absolute_targets_goes() {
        let mut group = Group::default();
        let paths =
            ["/home/u/proj/src/a.py", "/home/u/proj/b.py", "/tmp/x", "c.py", "/home/u/proj"];
        let syms = paths.map(|p| group.symbols.intern(p));
        group.steps.facts.targets = syms.to_vec();
        relate_paths(&mut group);
        let after: Vec<&str> =
            group.steps.facts.targets.iter().map(|&s| group.symbols.text(s)).collect();
        assert_eq!(after, ["src/a.py", "b.py", "/tmp/x", "c.py", "."]);
    }

    #[test]
    fn one_folder_alone_is_no_root() {
        let mut group = Group::default();
        let sym = group.symbols.intern("/home/u/proj/a.py");
        group.steps.facts.targets = vec![sym, sym];
        relate_paths(&mut group);
        let target = *group.steps.facts.targets.first().unwrap();
        assert_eq!(group.symbols.text(target), "/home/u/proj/a.py");
    }
}
