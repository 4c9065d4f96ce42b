//! How things look and what leaves through the clipboard: theme, scale, order, mouse, control characters,
//! copies. Part of [`super::update`].

use super::copying;
use super::keymap::Action;
use super::layout::Pane;
use super::message::Effect;
use super::model::{Model, Reader};

/// Does what the key asks for.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::Theme => {
            model.look.theme = model.look.theme.next();
            let kept = model.look.styles();
            model.message = Some(if model.look.depth == super::theme::Depth::None {
                "NO_COLOR is set: every theme is drawn without colour".to_owned()
            } else {
                format!("theme {}: {}", kept.id.name(), kept.id.about())
            });
        }
        Action::Mouse => {
            model.mouse = !model.mouse;
            model.message = Some(if model.mouse {
                "the mouse is captured: wheel and clicks; M gives it back".to_owned()
            } else {
                "the mouse is the terminal's: it selects text; M captures it".to_owned()
            });
            effects.push(Effect::Mouse(model.mouse));
        }
        Action::Controls => {
            model.controls = !model.controls;
            model.reader = Reader::default();
            let shown = if model.controls { "shown, as ^[ and \\x00" } else { "left out" };
            model.message = Some(format!("control characters of texts are {shown}; C turns that"));
        }
        Action::CopyView => match copying::view(model) {
            Some(text) => {
                let told = copying::of_view(model, &text);
                effects.push(Effect::Copy(text, told));
            }
            None => model.message = Some("nothing here to copy".to_owned()),
        },
        Action::Scale => model.shared_scale = !model.shared_scale,
        Action::Sort if model.focus == Pane::Tree => super::ordering::act(model, action, 1),
        Action::Sort if model.focus == Pane::Groups => {
            let all = super::model::GroupOrder::ALL;
            let at = all.iter().position(|&o| o == model.groups.order).unwrap_or(0);
            // An order by a column that has no room would look like none.
            let width = usize::from(model.area.width);
            let mut later = all.iter().cycle().skip(at + 1).take(all.len());
            let next = later.find(|&&o| super::panes::groups::shows(o, width));
            model.groups.order = next.copied().unwrap_or_default();
        }
        Action::Sort => {
            model.message =
                Some("S sorts the tree (1) and the list of groups (a): go there first".to_owned());
        }
        Action::Copy => match copying::value(model) {
            Some(text) => {
                let told = copying::of_value(&text);
                effects.push(Effect::Copy(text, told));
            }
            None => model.message = Some("no value here to copy".to_owned()),
        },
        _ => {}
    }
}
