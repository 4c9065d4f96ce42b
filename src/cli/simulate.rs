//! `credscope simulate`: rollouts with known values, or the columns measured against them.

use std::io::Write;

use serde_json::json;

use super::error::Failure;
use super::kind::Kind;
use super::options::Options;
use super::session::Stop;
use crate::analysis::simulate::measure::{Measured, Plan, candidates, measure};
use crate::analysis::simulate::{ProcessKind, SimulatedGroup};
use crate::export::markdown::Markdown;
use crate::export::plain::Plain;
use crate::export::writer::writer;
use crate::export::{Block, Body, Format, Output, Page, Writing, simulation};
use crate::rollout::plural;
use crate::settings::{Settings, Stamp};

/// Options of the command.
#[derive(Debug, Clone)]
pub struct Simulate {
    /// Process.
    pub process: ProcessKind,
    /// Groups.
    pub groups: usize,
    /// Rollouts per group; with `--measure`, the largest group.
    pub rollouts: usize,
    /// Measure columns instead of writing rollouts.
    pub measure: bool,
}

impl Default for Simulate {
    fn default() -> Self {
        Self { process: ProcessKind::Coding, groups: 4, rollouts: 8, measure: false }
    }
}

/// Runs the command.
pub fn run(settings: &Settings, options: &Options) -> Result<(), Failure> {
    let asked = &options.simulate;
    if !asked.measure && options.explicit.contains(&"format") && options.format != Format::Jsonl {
        return Err(Failure::usage(
            format!("rollouts are not written as {}", options.format.name()),
            Some("leave --format out for JSON lines, or add --measure for a table".to_owned()),
        ));
    }
    let (seed, gamma) = (settings.analysis.seed, settings.analysis.credit.gamma);
    let stop = Stop::listen();
    let mut out =
        Output::open(settings.view.out.as_deref(), settings.view.force, settings.files())?;
    if asked.measure {
        let plan = Plan {
            process: asked.process,
            groups: asked.groups,
            sizes: sizes(asked.rollouts),
            seed,
            gamma,
        };
        let all = candidates(gamma).map_err(|e| Failure::failed(e.to_string(), None))?;
        let Some(rows) = measure(&plan, &all, || stop.check().is_err()) else {
            return stop.check();
        };
        write_measured(&mut out, &rows, settings, options)?;
    } else {
        for index in 0..asked.groups as u64 {
            stop.check()?;
            let group = SimulatedGroup::new(asked.process, seed, index, asked.rollouts, gamma);
            simulation::lines(&mut out, &group, asked.process.name(), seed, gamma)?;
        }
    }
    out.flush()?;
    Ok(out.commit()?)
}

/// Powers of two from 4, then the largest size itself.
fn sizes(largest: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> =
        (2..).map(|k| 1_usize << k).take_while(|&n| n < largest).take(16).collect();
    sizes.push(largest);
    sizes
}

fn write_measured(
    out: &mut Output,
    rows: &[Measured],
    settings: &Settings,
    options: &Options,
) -> Result<(), Failure> {
    let asked = &options.simulate;
    let told = [
        ("process", json!(asked.process.name())),
        ("groups", json!(asked.groups)),
        ("rollouts", json!(asked.rollouts)),
    ];
    let people = matches!(options.format, Format::Text | Format::Markdown);
    let wanted = options.format == Format::Json || (!people && !options.no_stamp);
    let stamp = Stamp::new(Kind::Simulate.name(), settings, &told, Vec::new(), json!(null));
    let writing = Writing {
        stamp: wanted.then_some(stamp),
        width: Some(80),
        ascii: settings.view.ascii,
        ..Writing::default()
    };
    if !people {
        let table = simulation::table(rows);
        let mut writer = writer(options.format, out, writing);
        writer.begin(&table.columns)?;
        writer.chunk(&table)?;
        return Ok(writer.finish()?);
    }
    let page = Page {
        title: format!(
            "{} of process {}, seed {}, gamma {}",
            plural(asked.groups, "group"),
            asked.process.name(),
            settings.analysis.seed,
            settings.analysis.credit.gamma
        ),
        blocks: vec![
            Block::new(
                "rmse",
                "RMSE against the true advantage",
                Body::Table(simulation::by_size(rows, |r| r.rmse)),
            ),
            Block::new(
                "bias",
                "Bias: mean of value minus true advantage",
                Body::Table(simulation::by_size(rows, |r| r.bias)),
            ),
            Block::new(
                "sign",
                "Share of right signs, among steps whose true advantage is beyond 0.01",
                Body::Table(simulation::by_size(rows, |r| r.sign)),
            ),
            Block::new(
                "spearman",
                "Spearman's rank correlation with the true advantage",
                Body::Table(simulation::by_size(rows, |r| r.spearman)),
            ),
        ],
    };
    if options.format == Format::Markdown {
        Markdown::new(out, writing).page(&page)?;
    } else {
        Plain::new(out, writing).page(&page)?;
    }
    Ok(())
}
