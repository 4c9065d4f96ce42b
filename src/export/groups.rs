//! One row per group.

use std::collections::BTreeMap;

use super::table::{Cell, Column, Table, float, int, key_cells, text, truth};
use crate::analysis::skill::{GroupTerms, skill_of};
use crate::analysis::{Analysis, GroupRow};
use crate::rollout::GroupKey;

/// What a row of `groups` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupsBy {
    /// A group.
    Group,
    /// All groups of a training step.
    TrainStep,
    /// All groups of a policy.
    Policy,
}

impl GroupsBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Group, Self::TrainStep, Self::Policy];

    /// The word used in options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::TrainStep => "train_step",
            Self::Policy => "policy",
        }
    }

    /// What of a group's key a row is about.
    #[must_use]
    pub fn key(self, key: &GroupKey) -> GroupKey {
        match self {
            Self::Group => key.clone(),
            Self::TrainStep => GroupKey { train_step: key.train_step, ..GroupKey::default() },
            Self::Policy => GroupKey { policy: key.policy.clone(), ..GroupKey::default() },
        }
    }

    /// The same as a cell.
    #[must_use]
    pub fn cell(self, key: &GroupKey) -> Cell {
        match self {
            Self::Group => Cell::text(key.task.as_str()),
            Self::TrainStep => {
                key.train_step.map_or(Cell::Missing, |step| Cell::text(step.to_string()))
            }
            Self::Policy => key.policy.as_deref().map_or(Cell::Missing, Cell::text),
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|b| b.name() == name)
    }
}

/// The columns.
#[must_use]
pub fn columns() -> Vec<Column> {
    vec![
        text("namespace"),
        text("task").shown("task").at_most(28).key(),
        text("policy").shown("policy").at_most(16),
        int("train_step"),
        int("rollouts").shown("n"),
        int("scored").shown("scored"),
        int("successes").shown("✓"),
        int("failures").shown("✗"),
        int("truncated").shown("⊘"),
        int("errors").shown("err"),
        int("unscored"),
        int("steps").shown("steps"),
        int("states").shown("states"),
        int("pairs"),
        int("shared_steps").shown("shared"),
        int("compared_steps").shown("comp"),
        int("shared_only_steps"),
        int("self_steps"),
        int("single_steps"),
        int("branching_states").shown("branch"),
        int("both_pos"),
        int("rescued").shown("resc"),
        int("both_neg"),
        int("penalized").shown("pen"),
        int("inside"),
        int("missing"),
        truth("uniform").shown("uniform"),
        float("skill").shown("skill"),
        float("skill_null"),
        float("skill_ceiling"),
        float("coverage"),
        text("warnings").shown("warnings").at_most(50),
    ]
}

/// The row of a group, with its held-out skill from terms that are there already.
#[must_use]
pub fn row(analysis: &Analysis, terms: Option<&GroupTerms>) -> Vec<Cell> {
    let skill = terms.and_then(skill_of);
    cells(analysis, &GroupRow { skill, ..analysis.group_row(false) })
}

/// The same from a row that is there already.
#[must_use]
pub fn cells(analysis: &Analysis, row: &GroupRow) -> Vec<Cell> {
    let mut cells = key_cells(&analysis.group.key);
    let [successes, failures, truncated, errors, unscored] = row.outcomes;
    let [compared, shared, own, single] = row.evidence;
    let mut codes: Vec<&str> = analysis.warnings.iter().map(|w| w.code).collect();
    codes.dedup();
    let skill = row.skill;
    cells.extend([
        Cell::int(row.rollouts),
        Cell::int(row.scored),
        Cell::int(successes),
        Cell::int(failures),
        Cell::int(truncated),
        Cell::int(errors),
        Cell::int(unscored),
        Cell::int(row.steps),
        Cell::int(row.states),
        Cell::int(row.pairs),
        Cell::int(row.shared_steps),
        Cell::int(compared),
        Cell::int(shared),
        Cell::int(own),
        Cell::int(single),
        Cell::int(row.branching),
        Cell::int(row.tally.both_pos),
        Cell::int(row.tally.rescued),
        Cell::int(row.tally.both_neg),
        Cell::int(row.tally.penalized),
        Cell::int(row.tally.inside()),
        Cell::int(row.tally.missing),
        Cell::Bool(row.uniform),
        Cell::float(skill.map(|s| s.skill)),
        Cell::float(skill.map(|s| s.null)),
        Cell::float(skill.map(|s| s.ceiling)),
        Cell::float(row.coverage()),
        Cell::text(codes.join(";")),
    ]);
    cells
}

/// A table of these rows. Of the key, text shows task and policy, and what else it takes to tell the rows
/// apart.
#[must_use]
pub fn table(rows: Vec<Vec<Cell>>) -> Table {
    let mut table = Table { rows, ..Table::new(columns()) };
    let mut shown = vec!["task", "policy"];
    for (name, head) in [("train_step", "step"), ("namespace", "namespace")] {
        let at = |name: &&str| table.position(name);
        let (known, more): (Vec<usize>, _) = (shown.iter().filter_map(at).collect(), at(&name));
        if let Some(more) = more
            && differ(&table.rows, &known, more)
        {
            shown.push(name);
            if let Some(column) = table.columns.get_mut(more) {
                *column = column.clone().shown(head).key();
            }
        }
    }
    table
}

/// Whether rows that are alike in the `known` columns differ in another one.
fn differ(rows: &[Vec<Cell>], known: &[usize], more: usize) -> bool {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    rows.iter().any(|row| {
        let cells: Vec<_> = known.iter().map(|&at| row.get(at)).collect();
        let cell = format!("{:?}", row.get(more));
        let before = first.entry(format!("{cells:?}")).or_insert_with(|| cell.clone());
        *before != cell
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_shows_what_tells_rows_apart_and_no_more() {
        let key = |namespace: &str, task: &str, train_step| GroupKey {
            namespace: namespace.to_owned(),
            task: task.to_owned(),
            train_step,
            ..GroupKey::default()
        };
        let shown = |keys: &[GroupKey]| {
            let table = table(keys.iter().map(key_cells).collect());
            let of_key = table.columns.iter().take(4).filter(|c| c.head.is_some());
            of_key.map(|c| c.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[key("a", "1", None), key("b", "2", None)]), ["task", "policy"]);
        assert_eq!(
            shown(&[key("a", "2", None), key("b", "2", None)]),
            ["namespace", "task", "policy"]
        );
        // Where the steps tell them apart, the namespaces need not.
        assert_eq!(
            shown(&[key("a", "2", Some(1)), key("b", "2", Some(2))]),
            ["task", "policy", "train_step"]
        );
        assert_eq!(
            shown(&[key("a", "2", Some(1)), key("b", "2", Some(1)), key("a", "2", Some(2))]),
            ["namespace", "task", "policy", "train_step"]
        );
    }
}
