//! Reads a profile file: TOML into a [`Profile`], with the included profiles merged in.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::patterns::{Check, Patterns};
use super::{Deed, LineTool, NoTool, Profile, ProfileError, Profiles, Tool, Verb};

/// A profile as written. Every list of a profile comes before those of the profiles it includes.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ProfileFile {
    name: String,
    title: String,
    include: Vec<String>,
    formats: Vec<String>,
    harness: Vec<String>,
    marks: Vec<String>,
    only_included: bool,
    when_no_calls: bool,
    no_tool: Option<String>,
    strict: bool,
    state_tools: Vec<String>,
    roots: Vec<String>,
    shell: Option<String>,
    exit_code_when_absent: Option<i64>,
    page: Option<String>,
    tool_errors: Vec<String>,
    refusals: Vec<String>,
    frames: Vec<String>,
    exit_codes: Vec<String>,
    timeouts: Vec<String>,
    lengths: Vec<String>,
    folders: Vec<String>,
    finish_words: Vec<String>,
    text_actions: Vec<String>,
    args: BTreeMap<String, Vec<String>>,
    tool: Vec<ToolFile>,
    line_tool: Vec<LineToolFile>,
    /// Settings that come with the profile: another room reads them.
    #[serde(rename = "settings")]
    _settings: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    names: Vec<String>,
    does: Option<String>,
    by: Option<String>,
    #[serde(default)]
    sub: BTreeMap<String, String>,
    #[serde(default)]
    args: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    opens: bool,
    #[serde(default)]
    windowed: bool,
    #[serde(default)]
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineToolFile {
    word: String,
    tool: Option<String>,
    #[serde(default)]
    positional: Vec<String>,
    block_end: Option<String>,
}

/// Reads one profile; what it includes is taken from `known`.
pub(super) fn read(
    text: &str,
    origin: &str,
    known: &Profiles,
    check: Check,
) -> Result<Profile, ProfileError> {
    let file: ProfileFile = toml::from_str(text).map_err(|source| ProfileError::Toml {
        origin: origin.to_owned(),
        source: Box::new(source),
    })?;
    let patterns = |field: &str, texts: &[String]| Patterns::read(origin, field, texts, check);
    let mut profile = Profile {
        title: if file.title.is_empty() { file.name.clone() } else { file.title },
        name: file.name,
        formats: file.formats,
        harness: file.harness,
        marks: file.marks,
        only_included: file.only_included,
        when_no_calls: file.when_no_calls,
        tools: BTreeMap::new(),
        line_tools: BTreeMap::new(),
        args: file.args,
        no_tool: no_tool(origin, file.no_tool.as_deref())?,
        strict: file.strict,
        state_tools: file.state_tools,
        roots: file.roots,
        persistent_shell: persistent(origin, file.shell.as_deref())?,
        exit_code_when_absent: file.exit_code_when_absent,
        page: patterns("page", file.page.as_slice())?,
        tool_errors: file.tool_errors,
        refusals: patterns("refusals", &file.refusals)?,
        frames: patterns("frames", &file.frames)?,
        exit_codes: patterns("exit_codes", &file.exit_codes)?,
        timeouts: patterns("timeouts", &file.timeouts)?,
        lengths: patterns("lengths", &file.lengths)?,
        folders: patterns("folders", &file.folders)?,
        finish_words: file.finish_words,
        text_actions: patterns("text_actions", &file.text_actions)?,
    };
    for tool in file.tool {
        for name in &tool.names {
            profile.tools.insert(name.clone(), read_tool(origin, name, &tool)?);
        }
    }
    for line in file.line_tool {
        profile.line_tools.insert(
            line.word.clone(),
            LineTool {
                tool: line.tool.unwrap_or_else(|| line.word.clone()),
                word: line.word,
                positional: line.positional,
                block_end: line.block_end,
            },
        );
    }
    for name in &file.include {
        let Some(included) = known.get(name) else {
            return Err(ProfileError::Include { origin: origin.to_owned(), name: name.clone() });
        };
        merge(&mut profile, included);
    }
    Ok(profile)
}

/// Adds what `included` knows about tools and texts. Its hints, its state tools and its reading of
/// text turns and missing codes stay its own.
fn merge(profile: &mut Profile, included: &Profile) {
    for (name, tool) in &included.tools {
        profile.tools.entry(name.clone()).or_insert_with(|| tool.clone());
    }
    for (word, line) in &included.line_tools {
        profile.line_tools.entry(word.clone()).or_insert_with(|| line.clone());
    }
    for (role, names) in &included.args {
        extend(profile.args.entry(role.clone()).or_default(), names);
    }
    extend(&mut profile.roots, &included.roots);
    extend(&mut profile.tool_errors, &included.tool_errors);
    extend(&mut profile.finish_words, &included.finish_words);
    profile.refusals.extend(&included.refusals);
    profile.frames.extend(&included.frames);
    profile.exit_codes.extend(&included.exit_codes);
    profile.timeouts.extend(&included.timeouts);
    profile.lengths.extend(&included.lengths);
    profile.folders.extend(&included.folders);
}

fn extend(own: &mut Vec<String>, more: &[String]) {
    for text in more {
        if !own.contains(text) {
            own.push(text.clone());
        }
    }
}

fn read_tool(origin: &str, name: &str, file: &ToolFile) -> Result<Tool, ProfileError> {
    let field = format!("tool {name}");
    let sub = file
        .sub
        .iter()
        .map(|(word, does)| Ok((word.clone(), verb(origin, &field, does)?)))
        .collect::<Result<_, ProfileError>>()?;
    Ok(Tool {
        name: name.to_owned(),
        verb: file.does.as_deref().map(|does| verb(origin, &field, does)).transpose()?,
        by: file.by.clone(),
        sub,
        args: file.args.clone(),
        opens: file.opens,
        windowed: file.windowed,
        why: file.why.clone(),
    })
}

/// `deed` or `deed:op`.
fn verb(origin: &str, field: &str, text: &str) -> Result<Verb, ProfileError> {
    let (word, op) = text.split_once(':').unwrap_or((text, ""));
    match Deed::WORDS.iter().find(|(w, _)| *w == word) {
        Some(&(_, deed)) => Ok(Verb { deed, op: op.to_owned() }),
        None => Err(ProfileError::Word {
            origin: origin.to_owned(),
            field: field.to_owned(),
            word: word.to_owned(),
            expected: Deed::WORDS.map(|(w, _)| w).join(", "),
        }),
    }
}

fn no_tool(origin: &str, word: Option<&str>) -> Result<NoTool, ProfileError> {
    match word {
        None | Some("invalid") => Ok(NoTool::Invalid),
        Some("think") => Ok(NoTool::Think),
        Some("respond") => Ok(NoTool::Respond),
        Some(other) => Err(ProfileError::Word {
            origin: origin.to_owned(),
            field: "no_tool".to_owned(),
            word: other.to_owned(),
            expected: "invalid, think, respond".to_owned(),
        }),
    }
}

fn persistent(origin: &str, word: Option<&str>) -> Result<bool, ProfileError> {
    match word {
        None | Some("fresh") => Ok(false),
        Some("persistent") => Ok(true),
        Some(other) => Err(ProfileError::Word {
            origin: origin.to_owned(),
            field: "shell".to_owned(),
            word: other.to_owned(),
            expected: "fresh, persistent".to_owned(),
        }),
    }
}
