//! Names for what a file does not name itself: its folders say which run wrote it and which task it
//! is about, its prompt stands for a task that has no other name.
//!
//! No file is opened here.

use super::reader::{digest, digest64, short_digest};

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

/// All folders above a file.
#[must_use]
pub fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// The folder of the run: the nearest one that names neither the task, nor an attempt, nor a part
/// that every run has.
#[must_use]
pub fn run<'a>(path: &'a str, task: &str) -> Option<&'a str> {
    path.rsplit('/').skip(1).find(|name| {
        let plain = !name.is_empty() && !name.starts_with('.');
        plain && *name != task && !INSIDE.contains(name) && attempt(name).is_none()
    })
}

/// The number in a folder or file name such as `attempt_2`.
#[must_use]
pub fn attempt(name: &str) -> Option<u64> {
    name.strip_prefix("attempt_")?.parse().ok()
}

/// The training step that a file is named after: `40.jsonl`, `step_40.jsonl`,
/// `rollout_dump_data.step_40.jsonl`.
#[must_use]
pub fn train_step(path: &str) -> Option<u64> {
    let name = file(path, &[]);
    let number = |digits: &str| {
        let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if whole { digits.parse().ok() } else { None }
    };
    let of_word = |word: &str| {
        let (before, digits) = word.rsplit_once("step_")?;
        let apart = before.is_empty() || before.ends_with(['_', '-']);
        number(digits).filter(|_| apart)
    };
    name.split('.').next().and_then(number).or_else(|| name.split('.').find_map(of_word))
}

/// Task and trial by the folder of a Harbor trial, `<task>__<seven letters or digits>`, with
/// `agent/` in it.
#[must_use]
pub fn trial(path: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.iter().rposition(|p| *p == "agent")?;
    let trial = parts.get(at.checked_sub(1)?)?;
    let (task, tail) = trial.rsplit_once("__")?;
    let random = tail.len() == 7 && tail.bytes().all(|b| b.is_ascii_alphanumeric());
    (random && !task.is_empty()).then_some((task, *trial))
}

/// A task named by its prompt: what starts alike is an attempt at one task.
#[must_use]
pub fn task_of_prompt(prompt: &str) -> String {
    format!("prompt{}", short_digest(digest64(&digest(prompt.as_bytes()))))
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
        for name in
            ["40.jsonl", "step_40.jsonl.gz", "global_step_40", "rollout_dump_data.step_40.jsonl"]
        {
            assert_eq!(train_step(&format!("runs/step_7/{name}")), Some(40), "{name}");
        }
        for name in
            ["", "step_.jsonl", "a40", "+40.jsonl", "misstep_40", "step_40_eval", "x.40.jsonl"]
        {
            assert_eq!(train_step(name), None, "{name}");
        }
        let path = "jobs/j/hello__world__aB3dE6g/agent/trajectory.json";
        assert_eq!(trial(path), Some(("hello__world", "hello__world__aB3dE6g")));
        assert_eq!(trial("jobs/hello/agent/trajectory.json"), None);
    }
}
