//! What the possible group keys of a load would make of it: a key that makes only singletons while
//! another makes groups is the most silent of mistakes.

use std::collections::{BTreeMap, BTreeSet};

use super::group::{key_of, task_of};
use super::identity::Home;
use super::options::LoadOptions;
use super::report::Warning;
use super::work::Pending;
use crate::rollout::{Sym, Symbols};

/// The possible keys, counted over rollouts (segments and copies are one rollout).
#[derive(Debug, Default)]
pub struct Keys {
    texts: Symbols,
    /// Name of the field that the task came from.
    task_field: String,
    /// The task of each rollout.
    tasks: Vec<Sym>,
    /// Per field: its value and the task, for each rollout that has it.
    fields: BTreeMap<String, Vec<(Sym, Sym)>>,
    /// Rollouts without the field that was asked for.
    without_field: usize,
}

impl Keys {
    /// Counts.
    #[must_use]
    pub fn of(pendings: &[Pending], options: &LoadOptions) -> Self {
        let mut keys = Self::default();
        let mut once = BTreeSet::new();
        let mut named: Option<Vec<String>> = None;
        for pending in pendings {
            let raw = &pending.raw;
            let Some(task) = task_of(raw, options) else { continue };
            let task = keys.texts.intern(&task);
            // Segments, copies and retries of a rollout count once.
            let identity = match &raw.id {
                Some(id) => Ok(keys.texts.intern(id)),
                None => Err((pending.content, raw.attempt)),
            };
            if !once.insert((Home::of(pending), task, identity)) {
                continue;
            }
            if let Some(field) = &options.group_by
                && key_of(raw, field).is_none()
            {
                keys.without_field += 1;
            }
            let is_task = |name: &String| {
                let same = |(n, v): &(String, String)| n == name && Some(v) == raw.task.as_ref();
                raw.other_keys.iter().any(same)
            };
            match &mut named {
                None => {
                    let names = raw.other_keys.iter().map(|(name, _)| name.clone());
                    named = Some(names.filter(is_task).collect());
                }
                // A field that is the task's only here and there is not where it comes from.
                Some(names) => names.retain(is_task),
            }
            keys.tasks.push(task);
            for (name, value) in &raw.other_keys {
                let value = keys.texts.intern(value);
                keys.fields.entry(name.clone()).or_default().push((value, task));
            }
        }
        let first = named.unwrap_or_default().into_iter().next();
        keys.task_field = options.group_by.clone().or(first).unwrap_or_else(|| "task".to_owned());
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

    /// Rollouts without the field to group by, of all; none when no field was asked for.
    #[must_use]
    pub fn without_field(&self) -> Option<(usize, usize)> {
        (self.without_field > 0).then_some((self.without_field, self.tasks.len()))
    }

    /// The warning about singletons, where one is due.
    #[must_use]
    pub fn singletons(&self) -> Option<Warning> {
        let (_, largest) = sizes(self.tasks.iter().copied());
        if largest >= 2 { self.unique_field() } else { self.better_field() }
    }

    /// A field that looks like a group key but is different for each rollout.
    fn unique_field(&self) -> Option<Warning> {
        let like_a_key =
            |name: &str| name.contains("group") || name == "uid" || name == "prompt_id";
        let task = &self.task_field;
        self.fields.iter().filter(|(name, _)| *name != task && like_a_key(name)).find_map(
            |(name, rows)| {
                let (values, repeated) = sizes(rows.iter().map(|r| r.0));
                let (groups, largest) = sizes(rows.iter().map(|r| r.1));
                (repeated == 1 && largest >= 2).then(|| Warning {
                    code: "singleton-keys",
                    text: format!(
                        "`{name}` is different for each of {} rollouts and would make {values} groups of one; \
                         grouped by `{task}` instead: {} of up to {largest}",
                        rows.len(),
                        crate::rollout::plural(groups, "group"),
                    ),
                    hint: Some(format!("`--group-by {name}` overrides")),
                    tasks: Vec::new(),
                })
            },
        )
    }

    /// Each rollout is alone in its group: a field that would bring some together.
    fn better_field(&self) -> Option<Warning> {
        let words = ["task", "group", "problem", "prompt", "instance", "example", "docker_image"];
        let like_a_task = |name: &str| words.iter().any(|word| name.contains(word));
        let (task, all) = (&self.task_field, self.tasks.len());
        self.fields
            .iter()
            .filter(|(name, rows)| *name != task && like_a_task(name) && rows.len() == all)
            .find_map(|(name, rows)| {
                let (groups, largest) = sizes(rows.iter().map(|r| r.0));
                (largest >= 2).then(|| Warning {
                    code: "singleton-keys",
                    text: format!(
                        "grouped by `{task}` each of {all} rollouts is alone; `{name}` would make {} of up to {largest}",
                        crate::rollout::plural(groups, "group"),
                    ),
                    hint: Some(format!("try `--group-by {name}`")),
                    tasks: Vec::new(),
                })
            })
    }
}

/// How many distinct values there are, and how often the most frequent one occurs.
fn sizes(values: impl Iterator<Item = Sym>) -> (usize, usize) {
    let mut all: Vec<Sym> = values.collect();
    all.sort_unstable();
    let runs = all.chunk_by(PartialEq::eq).map(<[Sym]>::len);
    (runs.clone().count(), runs.max().unwrap_or(0))
}
