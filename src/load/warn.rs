//! Warnings of a load: codes that stay, one sentence each, and what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::group::task_of;
use super::identity::Seen;
use super::options::{LoadOptions, SuccessRule};
use super::report::{LoadReport, Warning};
use super::work::Pending;
use crate::rollout::Group;

/// What the possible group keys of a load would make of it.
#[derive(Debug, Default)]
pub struct Keys {
    /// Name of the field that the task came from.
    task_field: String,
    /// Groups and rollouts by task.
    tasks: BTreeMap<String, usize>,
    /// Per field: rollouts per value.
    fields: BTreeMap<String, BTreeMap<String, usize>>,
    given: bool,
    rollouts: usize,
    without_field: usize,
}

impl Keys {
    /// Counts.
    #[must_use]
    pub fn of(pendings: &[Pending], options: &LoadOptions) -> Self {
        let mut keys = Self { given: options.group_by.is_some(), ..Self::default() };
        let mut once = BTreeSet::new();
        for pending in pendings {
            let raw = &pending.raw;
            // Segments and copies of one rollout are one rollout here.
            let identity = raw.id.clone().unwrap_or_else(|| format!("{:016x}", pending.content));
            let Some(task) = task_of(raw, options) else { continue };
            if !once.insert((pending.record.source, task.clone(), identity, raw.attempt)) {
                continue;
            }
            keys.rollouts += 1;
            if let Some(field) = &options.group_by
                && super::group::key_of(raw, field).is_none()
            {
                keys.without_field += 1;
            }
            if keys.task_field.is_empty() {
                let named = raw.other_keys.iter().find(|(_, value)| Some(value) == raw.task.as_ref());
                keys.task_field = options
                    .group_by
                    .clone()
                    .or_else(|| named.map(|(name, _)| name.clone()))
                    .unwrap_or_else(|| "task".to_owned());
            }
            *keys.tasks.entry(task).or_default() += 1;
            for (name, value) in &raw.other_keys {
                *keys.fields.entry(name.clone()).or_default().entry(value.clone()).or_default() += 1;
            }
        }
        keys
    }

    /// The field that rollouts were grouped by.
    #[must_use]
    pub fn grouped_by(&self) -> String {
        self.task_field.clone()
    }

    /// All fields that could be grouped by.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.fields.keys().cloned().collect()
    }

    /// A key that makes only singletons while another makes groups.
    fn singletons(&self) -> Option<Warning> {
        let largest = |values: &BTreeMap<String, usize>| values.values().copied().max().unwrap_or(0);
        let all = |values: &BTreeMap<String, usize>| values.values().sum::<usize>() == self.rollouts;
        if self.rollouts < 2 {
            return None;
        }
        let task = &self.task_field;
        if largest(&self.tasks) >= 2 {
            let looks_like_a_key = |name: &str| name.contains("group") || name == "uid" || name == "prompt_id";
            let (name, values) = self.fields.iter().find(|(name, values)| {
                *name != task && looks_like_a_key(name) && all(values) && largest(values) == 1
            })?;
            return Some(Warning {
                code: "singleton-keys",
                text: format!(
                    "`{name}` is different for each of {} rollouts, so it would make {} groups of one; grouped by `{task}`: {} of up to {}",
                    self.rollouts, values.len(), plural(self.tasks.len(), "group"), largest(&self.tasks)
                ),
                hint: Some(format!("`--group-by {name}` overrides")),
                tasks: Vec::new(),
            });
        }
        // All alone: a field with repeated values, but not one and the same for everything unless it
        // is named like a task.
        let candidate = |name: &str, values: &BTreeMap<String, usize>| {
            let like_a_task = ["task", "group", "problem", "prompt", "instance", "example", "docker_image"]
                .iter()
                .any(|word| name.contains(word));
            name != task && like_a_task && all(values) && largest(values) >= 2
        };
        let (name, values) = self.fields.iter().find(|(name, values)| candidate(name, values))?;
        Some(Warning {
            code: "singleton-keys",
            text: format!(
                "grouped by `{task}` each of {} rollouts is alone; `{name}` would make {} of up to {}",
                self.rollouts, plural(values.len(), "group"), largest(values)
            ),
            hint: Some(format!("try `--group-by {name}`")),
            tasks: Vec::new(),
        })
    }
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The first few names.
fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(3);
    let first = names.iter().take(3).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// Adds all warnings.
pub fn warn(report: &mut LoadReport, groups: &[Arc<Group>], keys: &Keys, seen: &Seen) {
    let mut add = |code, text: String, hint: &str, tasks: Vec<String>| {
        let hint = Some(hint.to_owned()).filter(|h| !h.is_empty());
        report.warnings.push(Warning { code, text, hint, tasks });
    };
    if let Some(partial) = partial(report.totals.skipped, report.skipped.first().map_or("record", |s| s.unit)) {
        let first = report.skipped.first().map(ToString::to_string).unwrap_or_default();
        add("skipped", format!("{partial}; first: {first}"), "`credscope check` lists them; `--strict` fails on them", Vec::new());
    }
    for file in report.not_rollouts.iter().filter(|f| f.named) {
        let hint = file.hint.clone().unwrap_or_default();
        add("no-rollouts", format!("{}: not a rollout file: {}", file.name, file.reason), &hint, Vec::new());
    }
    if let Some(warning) = keys.singletons() {
        let Warning { code, text, hint, tasks } = warning;
        add(code, text, &hint.unwrap_or_default(), tasks);
    }
    if keys.given && keys.without_field > 0 {
        let text = format!(
            "{} of {} rollouts have no `{}`; their task id was used",
            keys.without_field, keys.rollouts, keys.task_field
        );
        add("group-by-missing", text, "", Vec::new());
    }
    mixed_harness(groups, &mut add);
    if !seen.duplicates.is_empty() {
        let text = format!("{} left out: equal content under the same id in the same file", plural(seen.duplicates.len(), "copy").replace("copys", "copies"));
        add("duplicate", text, "", Vec::new());
    }
    if !seen.same_content.is_empty() {
        let text = format!("the same rollouts stand in several files: {}; all of them count", some(&seen.same_content));
        add("same-content", text, "leave the copy of the run out", Vec::new());
    }
    if !seen.suffixed.is_empty() {
        let text = format!(
            "{} with an id that another rollout of the group has: {}",
            plural(seen.suffixed.len(), "rollout"),
            some(&seen.suffixed)
        );
        add("id-suffix", text, "the number after `#` tells them apart", Vec::new());
    }
    if let Some(first) = report.notes.first() {
        let place = format!("{}, {} {}", first.file, first.unit, first.number);
        let field = if first.field.is_empty() { String::new() } else { format!(", `{}`", first.field) };
        let text = format!("{} coerced or odd; first: {place}{field}: {}", plural(report.totals.notes, "value"), first.reason);
        add("coerced", text, "`credscope check` lists them", Vec::new());
    }
}

fn partial(skipped: usize, unit: &str) -> Option<String> {
    (skipped > 0).then(|| format!("partial data: {} skipped", plural(skipped, unit)))
}

fn mixed_harness(groups: &[Arc<Group>], add: &mut impl FnMut(&'static str, String, &str, Vec<String>)) {
    let (mut tasks, mut names) = (Vec::new(), BTreeSet::new());
    for group in groups {
        let harnesses: BTreeSet<&str> = group.rollouts.iter().filter_map(|r| r.harness.as_deref()).collect();
        if harnesses.len() > 1 {
            tasks.push(group.key.task.clone());
            names.extend(harnesses);
        }
    }
    if !tasks.is_empty() {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let text = format!("{} mix harnesses ({}): {}", plural(tasks.len(), "group"), some(&names), some(&tasks));
        add("mixed-harness", text, "compare within one harness, or group by `harness`", tasks);
    }
}

/// Warns about rewards that the default rule hardly fits.
pub fn reward_range(report: &mut LoadReport, count: usize) {
    if report.success_at == SuccessRule::default() {
        report.warnings.push(Warning {
            code: "reward-range",
            text: format!(
                "{} outside 0..1, judged by the default rule (success {})",
                plural(count, "reward"),
                report.success_at
            ),
            hint: Some("`--success-at X` sets the rule".to_owned()),
            tasks: Vec::new(),
        });
    }
}
