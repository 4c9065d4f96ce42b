//! What there is: formats, columns, settings. Nothing is loaded for these.

use std::path::PathBuf;

use super::error::Failure;
use super::kind::Kind;
use super::options::Options;
use crate::credit::{FRAMEWORKS, registry};
use crate::export::markdown::Markdown;
use crate::export::table::{Cell, Table, int, text, truth};
use crate::export::writer::writer;
use crate::export::{Block, Body, Format, Output, Page, Writing, document::Fact, plain::Plain};
use crate::ingest::readers;
use crate::profile::Profiles;
use crate::settings::{Settings, Stamp};

/// Writes a catalogue.
pub fn write(kind: Kind, settings: &Settings, options: &Options) -> Result<(), Failure> {
    let mut out =
        Output::open(settings.view.out.as_deref(), settings.view.force, settings.files())?;
    let table = match kind {
        Kind::Estimators if matches!(options.format, Format::Text | Format::Markdown) => {
            let writing =
                Writing { width: Some(80), ascii: settings.view.ascii, ..Writing::default() };
            let mut pages = estimator_pages();
            pages.extend(framework_pages());
            if options.format == Format::Markdown {
                let mut markdown = Markdown::new(&mut out, writing);
                pages.iter().try_for_each(|page| markdown.page(page))?;
            } else {
                let mut plain = Plain::new(&mut out, writing);
                pages.iter().try_for_each(|page| plain.page(page))?;
            }
            return Ok(out.commit()?);
        }
        Kind::Estimators => estimators(),
        Kind::Profiles => profiles(),
        Kind::Themes => themes()?,
        Kind::Keys => keys()?,
        _ => formats(),
    };
    put(out, kind.name(), &table, settings, options)
}

/// Writes the settings, each with where it came from.
pub fn print_settings(
    settings: &Settings,
    paths: &[PathBuf],
    options: &Options,
) -> Result<(), Failure> {
    let named = settings.files().chain(paths);
    let out = Output::open(settings.view.out.as_deref(), settings.view.force, named)?;
    let mut table = Table::new(vec![
        text("name").shown("setting").key(),
        text("value").shown("value").at_most(60),
        text("origin").shown("from"),
        text("class").shown("class"),
        text("environment").shown("variable"),
    ]);
    table.rows = settings
        .entries
        .iter()
        .map(|entry| {
            vec![
                Cell::text(entry.spec.name),
                Cell::text(entry.text()),
                Cell::text(entry.origin().name()),
                Cell::text(entry.spec.class.name()),
                Cell::text(entry.spec.env()),
            ]
        })
        .collect();
    put(out, "settings", &table, settings, options)
}

fn put(
    mut out: Output,
    kind: &str,
    table: &Table,
    settings: &Settings,
    options: &Options,
) -> Result<(), Failure> {
    let json = options.format == Format::Json;
    let stamp = Stamp::new(kind, settings, &[], Vec::new(), serde_json::Value::Null);
    let writing = Writing {
        stamp: json.then_some(stamp),
        ascii: settings.view.ascii,
        width: Some(80),
        ..Writing::default()
    };
    {
        let mut writer = writer(options.format, &mut out, writing);
        writer.begin(&table.columns)?;
        writer.chunk(table)?;
        writer.finish()?;
    }
    Ok(out.commit()?)
}

fn formats() -> Table {
    let mut table = Table::new(vec![
        text("id").shown("format").key(),
        text("title").shown("what it is").at_most(200),
        text("source"),
    ]);
    table.rows = readers()
        .iter()
        .map(|r| vec![Cell::text(r.id()), Cell::text(r.title()), Cell::text(r.source())])
        .collect();
    table
}

fn profiles() -> Table {
    let mut table = Table::new(vec![
        text("name").shown("profile").key(),
        text("title").shown("what it is").at_most(60),
        text("formats").shown("formats").at_most(200),
        text("harness").shown("harnesses").at_most(200),
        int("tools").shown("tools"),
        text("tool_names"),
    ]);
    let known = Profiles::builtin();
    table.rows = known
        .iter()
        .map(|p| {
            let names: Vec<&str> = p.tools.keys().map(String::as_str).collect();
            vec![
                Cell::text(p.name.as_str()),
                Cell::text(p.title.as_str()),
                Cell::text(p.formats.join(", ")),
                Cell::text(p.harness.join(", ")),
                Cell::int(names.len()),
                Cell::text(names.join(", ")),
            ]
        })
        .collect();
    table
}

#[cfg(feature = "tui")]
#[allow(clippy::unnecessary_wraps)] // without the screen there are no themes
fn themes() -> Result<Table, Failure> {
    let mut table = Table::new(vec![
        text("name").shown("theme").key(),
        text("about").shown("what for").at_most(80),
    ]);
    table.rows = crate::tui::ThemeId::ALL
        .iter()
        .map(|theme| vec![Cell::text(theme.name()), Cell::text(theme.about())])
        .collect();
    Ok(table)
}

#[cfg(feature = "tui")]
#[allow(clippy::unnecessary_wraps)] // without the screen there are no keys
fn keys() -> Result<Table, Failure> {
    let mut table = Table::new(vec![
        text("section").shown("where").key(),
        text("keys").shown("keys").key(),
        text("help").shown("what they do").at_most(200),
    ]);
    table.rows = crate::tui::keymap::BINDINGS
        .iter()
        .map(|b| vec![Cell::text(b.section), Cell::text(b.keys.join(" ")), Cell::text(b.help)])
        .collect();
    Ok(table)
}

#[cfg(not(feature = "tui"))]
fn themes() -> Result<Table, Failure> {
    Err(no_screen())
}

#[cfg(not(feature = "tui"))]
fn keys() -> Result<Table, Failure> {
    Err(no_screen())
}

#[cfg(not(feature = "tui"))]
fn no_screen() -> Failure {
    Failure::failed("this program was built without its screen", None)
}

fn estimators() -> Table {
    let mut table = Table::new(vec![
        text("id"),
        text("title"),
        text("formula"),
        text("source"),
        text("reading"),
        truth("uses_states"),
        text("params"),
    ]);
    table.rows = registry()
        .iter()
        .map(|e| {
            let meta = e.meta();
            let params: Vec<String> = meta
                .params
                .iter()
                .map(|p| format!("{}={} ({}): {}", p.name, p.default, p.range, p.meaning))
                .collect();
            vec![
                Cell::text(meta.id),
                Cell::text(meta.title),
                Cell::text(meta.formula),
                Cell::text(meta.source),
                Cell::text(meta.reading),
                Cell::Bool(meta.uses_states),
                Cell::text(params.join("; ")),
            ]
        })
        .collect();
    table
}

/// What `--like` sets, and the further forms that a framework has.
fn framework_pages() -> Vec<Page> {
    let fact = |label: &str, text: &str| Fact::new(label, text, Vec::new());
    FRAMEWORKS
        .iter()
        .map(|framework| {
            let mut facts = vec![fact("source", framework.source), fact("note", framework.note)];
            for (at, set) in framework.sets.iter().enumerate() {
                let first = framework.sets.iter().position(|s| s.column == set.column) == Some(at);
                let options: Vec<String> =
                    set.params.iter().map(|(name, value)| format!("{name} {value}")).collect();
                let options =
                    if options.is_empty() { "defaults".to_owned() } else { options.join(", ") };
                let kind = if first { "" } else { ", by --set alone" };
                facts.push(fact(set.column, &format!("{} ({options}){kind}", set.name)));
            }
            Page {
                title: format!("--like {}", framework.id),
                blocks: vec![Block::new("", "", Body::Facts(facts))],
            }
        })
        .collect()
}

fn estimator_pages() -> Vec<Page> {
    let mut pages: Vec<Page> = registry()
        .iter()
        .map(|e| {
            let meta = e.meta();
            let fact = |label: &str, text: &str| Fact::new(label, text, Vec::new());
            let mut facts = vec![
                fact("formula", meta.formula),
                fact("source", meta.source),
                fact("reading", meta.reading),
                fact(
                    "evidence",
                    if meta.uses_states {
                        "uses states: evidence classes apply"
                    } else {
                        "uses no states"
                    },
                ),
            ];
            facts.extend(meta.params.iter().map(|p| {
                let text = format!("{}; default {}. {}", p.range, p.default, p.meaning);
                fact(&format!("{}.{}", meta.id, p.name), &text)
            }));
            Page {
                title: format!("{}  {}", meta.id, meta.title),
                blocks: vec![Block::new("", "", Body::Facts(facts))],
            }
        })
        .collect();
    pages.push(Page {
        title: "logged:NAME".to_owned(),
        blocks: vec![Block::new(
            "",
            "",
            Body::Facts(vec![Fact::new(
                "formula",
                "any number per step that the file holds under this name",
                Vec::new(),
            )]),
        )],
    });
    pages
}
