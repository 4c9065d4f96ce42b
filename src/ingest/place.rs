//! What the folders of a file say: which run wrote it, which task it is about.
//!
//! Only names are looked at, no file is opened. A format that names its tasks and runs inside the
//! file does not need this.

/// Folders that frameworks make inside a run; they name no run.
const INSIDE: [&str; 9] =
    ["trajs", "trajectories", "traj", "output", "outputs", "results", "logs", "agent", "sessions"];

/// The file's name, without the given ending.
#[must_use]
pub fn file<'a>(path: &'a str, endings: &[&str]) -> &'a str {
    let name = path.rsplit('/').next().unwrap_or_default();
    endings.iter().find_map(|e| name.strip_suffix(e)).unwrap_or(name)
}

/// The folder that the file is in.
#[must_use]
pub fn folder(path: &str) -> Option<&str> {
    path.rsplit('/').nth(1).filter(|name| !name.is_empty())
}

/// The folder of the run: the nearest one that names neither the task, nor an attempt, nor a part
/// that every run has.
#[must_use]
pub fn run<'a>(path: &'a str, task: &str) -> Option<&'a str> {
    path.rsplit('/').skip(1).find(|name| {
        !name.is_empty() && *name != task && !INSIDE.contains(name) && attempt(name).is_none()
    })
}

/// The number in a folder or file name such as `attempt_2`.
#[must_use]
pub fn attempt(name: &str) -> Option<u64> {
    name.strip_prefix("attempt_")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_stand_above_tasks() {
        let path = "/data/run-1/trajs/a__a-1/attempt_0/a__a-1.traj";
        assert_eq!(file(path, &[".traj.json", ".traj"]), "a__a-1");
        assert_eq!(folder(path), Some("attempt_0"));
        assert_eq!(run(path, "a__a-1"), Some("run-1"));
        assert_eq!(run("x.traj", "x"), None);
        assert_eq!(run("/x.traj", "x"), None);
        assert_eq!(attempt("attempt_2"), Some(2));
    }
}
