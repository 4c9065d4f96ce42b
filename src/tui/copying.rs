//! What leaves the screen through the clipboard: a value, or what a pane shows. Part of
//! [`super::update`].

use ratatui::buffer::Buffer;

use super::layout::Pane;
use super::model::{Model, Text};
use crate::analysis::SignatureSetting;
use crate::export::text;
use crate::rollout::plural;
use crate::signature::KNOBS;

/// What `y` copies: what the cursor names; a value with all its digits; in the reader the whole text.
pub(super) fn value(model: &Model) -> Option<String> {
    if model.focus == Pane::Reader
        && let Text::Ready(document) = &model.reader.text
    {
        let mut text = String::new();
        for section in &document.sections {
            for (_, line) in &section.lines {
                text.push_str(line);
                text.push('\n');
            }
        }
        return Some(text);
    }
    if model.focus == Pane::Explain {
        let node = model.explanation.as_ref()?.node.as_ref()?;
        return Some(format!(
            "{} = {}",
            node.expression(),
            crate::credit::derivation::number(node.value)
        ));
    }
    let named = match model.focus {
        Pane::Groups => model.corpus.groups.get(model.groups.at).map(|g| g.key.task.clone()),
        Pane::Rollouts => {
            model.shown_group()?.rollouts.get(model.cursor.rollout).map(|r| r.id.clone())
        }
        Pane::Knobs => {
            let row = *super::turning::rows().get(model.turning.at)?;
            let value = row.value(&SignatureSetting::of(&model.settings));
            Some(option(row.name(), &value))
        }
        Pane::Sweep => {
            let (point, _) = model.sweeping.picture.as_ref()?.points.get(model.sweeping.at)?;
            point.at.first().map(|(name, value)| option(name, value))
        }
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    let snapshot = model.snapshot()?;
    let value = snapshot.analysis.y_column().get(model.step()?)?;
    Some(crate::credit::derivation::number(value))
}

/// A knob or a number as the option that sets it.
fn option(name: &str, value: &str) -> String {
    if KNOBS.iter().any(|(knob, _)| *knob == name) {
        format!("--knob {name}={value}")
    } else {
        format!("--{name} {value}")
    }
}

/// What was copied with `y`, in a line.
pub(super) fn of_value(value: &str) -> String {
    text::cut(value.lines().next().unwrap_or_default(), 48).into_owned()
}

/// What was copied with `Y`: which pane, by its key.
pub(super) fn of_view(model: &Model, view: &str) -> String {
    let key = model.focus.title().split(' ').next().unwrap_or_default();
    format!("pane {key}, {}", plural(view.lines().count() as u64, "line"))
}

/// What `Y` copies: the focused pane as it is drawn, line by line.
pub(super) fn view(model: &Model) -> Option<String> {
    let area = model.plan().find(model.focus)?;
    let mut buffer = Buffer::empty(model.area);
    super::panes::draw(model, model.area, &mut buffer);
    let mut out = String::new();
    for y in area.top()..area.bottom() {
        let mut line = String::new();
        let mut covered = 0;
        for x in area.left()..area.right() {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            let symbol = buffer.cell((x, y)).map_or(" ", |c| c.symbol());
            covered = text::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    Some(out)
}
