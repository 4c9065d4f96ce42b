//! The screen without a terminal: keys in, one picture out. The same model, update and view; effects are
//! carried out at once.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::exporting::{self};
use super::finding;
use super::keymap::BINDINGS;
use super::message::{Effect, Msg};
use super::model::Model;
use super::snapshot::{Snapshot, Summary, totals};
use super::text::Document;
use super::update::{begin, update};
use super::worker::Origin;
use super::{ScreenInput, panes, svg, sweeping};
use crate::analysis::{Contrast, batch};
use crate::rollout::Corpus;

/// Cells of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

impl Size {
    /// `120x40`; at most 1000 each.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (width, height) = text.split_once(['x', 'X'])?;
        let number = |t: &str| t.trim().parse().ok().filter(|n| (1..=1000).contains(n));
        Some(Self { width: number(width)?, height: number(height)? })
    }
}

/// Reads keys between blanks, by the names of the table; a word that is no name is typed letter by
/// letter. A name in capitals and lower case of several letters that is neither is given back.
pub fn keys(text: &str) -> Result<Vec<KeyEvent>, String> {
    let mut list = Vec::new();
    for word in text.split_whitespace() {
        if let Some(key) = named(word) {
            list.push(key);
        } else if word.starts_with("Ctrl-") || word.starts_with("Alt-") {
            return Err(word.to_owned());
        } else {
            let letter = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            list.extend(word.chars().map(letter));
        }
    }
    Ok(list)
}

/// A key by its name.
fn named(name: &str) -> Option<KeyEvent> {
    let known = BINDINGS.iter().any(|b| b.keys.contains(&name)) || name == "Backspace";
    let code = match name {
        "Tab" => KeyCode::Tab,
        "Shift-Tab" => KeyCode::BackTab,
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Down" => KeyCode::Down,
        "Up" => KeyCode::Up,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgDn" => KeyCode::PageDown,
        "PgUp" => KeyCode::PageUp,
        "Space" => KeyCode::Char(' '),
        "Backspace" => KeyCode::Backspace,
        other => {
            let control = other.strip_prefix("Ctrl-").filter(|_| known);
            let mut letters = control.unwrap_or(other).chars();
            let (Some(c), None) = (letters.next(), letters.next()) else {
                return None;
            };
            let modifiers =
                if control.is_some() { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            return Some(KeyEvent::new(KeyCode::Char(c), modifiers));
        }
    };
    Some(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Draws the screen after these keys, as an SVG document.
#[must_use]
pub fn picture(input: ScreenInput, size: Size, keys: &[KeyEvent]) -> String {
    let ScreenInput { corpus, notices, origin, settings, look, start, showing, .. } = input;
    let mut model = Model::new(corpus, notices, settings, look, start);
    model.show(showing);
    let area = Rect::new(0, 0, size.width, size.height);
    let mut effects = begin(&mut model);
    settle(&mut model, &origin, effects);
    effects = update(&mut model, Msg::Resize(size.width, size.height));
    settle(&mut model, &origin, effects);
    for key in keys {
        let effects = update(&mut model, Msg::Key(*key));
        let leaves = effects.iter().any(|e| matches!(e, Effect::Quit(_)));
        settle(&mut model, &origin, effects);
        if leaves {
            break;
        }
    }
    let mut buffer = Buffer::empty(area);
    panes::draw(&model, area, &mut buffer);
    svg::write(&buffer, look.theme)
}

/// Carries out effects until there are none. What needs a terminal or leaves is not done.
fn settle(model: &mut Model, origin: &Origin, effects: Vec<Effect>) {
    let mut pending: std::collections::VecDeque<Effect> = effects.into();
    while let Some(effect) = pending.pop_front() {
        let mut messages = Vec::new();
        match effect {
            Effect::Analyse { key, index, group, mut settings, load } => {
                if let Some(groups) = load {
                    settings.batch = batch(&Corpus { groups }, &settings);
                }
                let snapshot = Snapshot::new(&group, &settings);
                messages.push(Msg::Analysed(key, index, Arc::new(snapshot)));
            }
            Effect::Contrast { key, now, pin, earlier } => {
                let contrast = Contrast::new(&now.analysis, &pin, earlier.as_deref());
                messages.push(Msg::Contrasted(key, Arc::new(contrast)));
            }
            Effect::Summarise { key, groups, settings, uniform_counts, .. } => {
                let rows: Vec<Arc<Summary>> =
                    groups.iter().map(|g| Arc::new(Summary::new(g, &settings))).collect();
                let sums = totals(rows.iter().map(|r| &**r), uniform_counts, settings.seed);
                for (i, row) in rows.into_iter().enumerate() {
                    messages.push(Msg::Summarised(key, i, row));
                }
                messages.push(Msg::Totalled(key, Arc::new(sums)));
            }
            Effect::Read { of, group, controls } => {
                let text = origin.texts.step_text(&group, of.1, of.2);
                let read = text.map(|raw| Arc::new(Document::with(&raw, controls)));
                messages.push(Msg::Read(of, read));
            }
            Effect::Find { key, snapshot, pattern } => {
                finding::run(&snapshot, &pattern, &*origin.texts, &|| true, |part| {
                    messages.push(Msg::Found(key, part));
                    true
                });
            }
            Effect::Sweep(job) => sweeping::run(&job, |part| {
                messages.push(Msg::Swept(job.key, part));
                true
            }),
            Effect::Export(job) => {
                let said = exporting::write(&job, &origin.provenance).unwrap_or_else(|e| e);
                messages.push(Msg::Say(said));
            }
            Effect::Open { .. }
            | Effect::Show(_)
            | Effect::Copy(..)
            | Effect::Reload
            | Effect::StopLoading
            | Effect::Partial(_)
            | Effect::Source(_)
            | Effect::Discard(_)
            | Effect::StopFinding(_)
            | Effect::StopSweep(_)
            | Effect::Mouse(_)
            | Effect::Suspend
            | Effect::Repaint
            | Effect::Quit(_) => {}
        }
        for message in messages {
            pending.extend(update(model, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names_or_letters() {
        let codes = |text| keys(text).unwrap().iter().map(|k| k.code).collect::<Vec<_>>();
        let letter = KeyCode::Char;
        assert_eq!(codes("v Enter"), [letter('v'), KeyCode::Enter]);
        assert_eq!(codes("/ ab Space"), [letter('/'), letter('a'), letter('b'), letter(' ')]);
        assert_eq!(keys("Ctrl-o").unwrap().len(), 1);
        assert_eq!(keys("Ctrl-q"), Err("Ctrl-q".to_owned()));
        assert_eq!(Size::parse("80x24"), Some(Size { width: 80, height: 24 }));
        assert_eq!(Size::parse("0x24"), None);
        assert_eq!(Size::parse("80"), None);
    }
}
