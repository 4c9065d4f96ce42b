//! Simulated rollouts as lines of the native format, and how columns compare with their truth.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::table::{Cell, Table, float, int, text};
use crate::analysis::simulate::measure::Measured;
use crate::analysis::simulate::{SimulatedGroup, Taken, outcome};

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    task: &'a str,
    id: String,
    outcome: &'static str,
    reward: Option<f64>,
    extra: Extra<'a>,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Extra<'a> {
    process: &'a str,
    seed: u64,
    gamma: f64,
}

#[derive(Serialize)]
struct Step<'a> {
    state: &'a str,
    action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    values: Values,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // the names of the columns
struct Values {
    true_q: f64,
    true_v: f64,
    true_advantage: f64,
}

/// Writes the rollouts of a group, one per line, with `true_q`, `true_v` and `true_advantage` as
/// numbers of every step. `process`, `seed` and `gamma` say where they come from.
pub fn lines(
    out: &mut dyn Write,
    group: &SimulatedGroup,
    process: &str,
    seed: u64,
    gamma: f64,
) -> io::Result<()> {
    for (i, walk) in group.walks.iter().enumerate() {
        let steps: Vec<Step> = walk.steps.iter().filter_map(|&taken| step(group, taken)).collect();
        let line = Line {
            schema: "credscope/1",
            task: &group.task,
            id: format!("r{i}"),
            outcome: outcome(walk).name(),
            reward: walk.success.map(|s| f64::from(u8::from(s))),
            extra: Extra { process, seed, gamma },
            steps,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn step(group: &SimulatedGroup, taken: Taken) -> Option<Step<'_>> {
    let (state, action, way) = group.process.taken(taken)?;
    let (q, v) = group.exact.at(taken)?;
    let call = action.call.as_ref();
    Some(Step {
        state: &state.key,
        action: &action.key,
        tool: call.map(|(tool, _)| *tool),
        args: call.and_then(|(_, args)| RawValue::from_string(args.clone()).ok()),
        observation: way.answer.map(|(text, _)| text),
        exit_code: way.answer.map(|(_, code)| code),
        values: Values { true_q: q, true_v: v, true_advantage: q - v },
    })
}

/// One row per column and group size.
#[must_use]
pub fn table(rows: &[Measured]) -> Table {
    let mut table = Table::new(vec![
        text("column").shown("column"),
        int("rollouts").shown("rollouts"),
        int("steps").shown("steps"),
        int("missing").shown("missing"),
        float("bias").shown("bias"),
        float("rmse").shown("RMSE"),
        float("sign_accuracy").shown("sign"),
        float("spearman").shown("Spearman"),
    ]);
    table.rows = rows
        .iter()
        .map(|row| {
            vec![
                Cell::text(row.column.as_str()),
                Cell::int(row.size as u64),
                Cell::int(row.steps as u64),
                Cell::int(row.missing as u64),
                Cell::float(row.bias),
                Cell::float(row.rmse),
                Cell::float(row.sign),
                Cell::float(row.spearman),
            ]
        })
        .collect();
    table
}

/// One number of each column by group size, for people.
#[must_use]
pub fn by_size(rows: &[Measured], number: impl Fn(&Measured) -> Option<f64>) -> Table {
    let mut sizes: Vec<usize> = rows.iter().map(|r| r.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut columns = vec![text("column").shown("rollouts per group").key()];
    columns.extend(sizes.iter().map(|n| float(&format!("n{n}")).shown(n.to_string())));
    let mut table = Table::new(columns);
    for same in rows.chunk_by(|a, b| a.column == b.column) {
        let mut cells: Vec<Cell> =
            same.first().map(|r| Cell::text(r.column.as_str())).into_iter().collect();
        cells.extend(sizes.iter().map(|n| {
            same.iter().find(|r| r.size == *n).map_or(Cell::Missing, |r| Cell::float(number(r)))
        }));
        table.rows.push(cells);
    }
    table
}
