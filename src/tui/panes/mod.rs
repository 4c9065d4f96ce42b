//! The picture of a model: one file per pane. Pure: nothing is computed, read or kept here.

mod aggregate;
mod columns;
mod compare;
pub mod explain;
mod export;
mod filter;
mod footer;
pub(super) mod groups;
pub mod help;
mod knobs;
mod matrix;
mod members;
mod pairs;
mod palette;
mod pivotal;
mod quadrants;
pub mod reader;
mod rollouts;
mod steps;
mod sweep;
mod title;
mod tree;
mod warnings;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::canvas::{Canvas, Row};
use super::glyphs;
use super::layout::{Pane, Plan, layout};
use super::model::{Layer, Model};
use super::theme::Theme;
use crate::rollout::Group;

/// Draws the model.
pub fn view(model: &Model, frame: &mut Frame) {
    let area = frame.area();
    draw(model, area, frame.buffer_mut());
}

/// Draws the model into a buffer.
pub fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let theme = model.look.styles();
    let plan = layout(area, &model.needs());
    if plan.message {
        too_small(area, buffer, &theme);
    } else {
        title::draw(model, &mut Canvas::new(buffer, plan.title, &theme));
        match model.layers.last() {
            None | Some(Layer::Search { .. }) => panes(model, &plan, buffer, &theme),
            Some(layer) => {
                let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
                let mut canvas = Canvas::new(buffer, body, &theme);
                match layer {
                    Layer::Help { query, scroll } => help::draw(query, *scroll, &mut canvas),
                    Layer::Warnings { at } => warnings::draw(model, *at, &mut canvas),
                    Layer::Export { at } => export::draw(model, *at, &mut canvas),
                    Layer::Columns { at } => columns::draw(model, *at, &mut canvas),
                    Layer::Filter { at } => filter::draw(model, *at, &mut canvas),
                    Layer::Palette { query, at } => palette::draw(query, *at, &mut canvas),
                    Layer::Search { .. } => {}
                }
            }
        }
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
        footer::above(model, &mut Canvas::new(buffer, body, &theme));
        footer::draw(model, &plan, &mut Canvas::new(buffer, plan.footer, &theme));
    }
    if model.look.ascii {
        glyphs::to_ascii(buffer);
    }
}

fn panes(model: &Model, plan: &Plan, buffer: &mut Buffer, theme: &Theme) {
    for &(pane, area) in &plan.panes {
        let mut canvas = Canvas::new(buffer, area, theme);
        let focus = model.focus == pane;
        let alone = plan.panes.len() == 1;
        if pane == Pane::Groups && !(model.corpus.groups.is_empty() && model.loading.is_some()) {
            groups::draw(model, &mut canvas);
            continue;
        }
        let Some(snapshot) = model.snapshot() else {
            nothing_yet(model, pane, &mut canvas, focus);
            continue;
        };
        match pane {
            Pane::Tree => tree::draw(model, snapshot, &mut canvas, focus),
            Pane::Steps => steps::draw(model, snapshot, &mut canvas, focus),
            Pane::Explain => explain::draw(model, snapshot, &mut canvas, focus),
            Pane::Quadrants => quadrants::draw(snapshot, &mut canvas, focus),
            Pane::Rollouts => rollouts::draw(model, snapshot, &mut canvas, focus),
            Pane::Reader => reader::draw(model, snapshot, &mut canvas, focus, alone),
            Pane::Matrix => matrix::draw(model, snapshot, &mut canvas, focus),
            Pane::Compare => compare::draw(model, snapshot, &mut canvas, focus),
            Pane::Sweep => sweep::draw(model, &mut canvas, focus),
            Pane::Pivotal => pivotal::draw(model, &mut canvas, focus),
            Pane::Knobs => knobs::draw(model, snapshot, &mut canvas, focus),
            Pane::Groups => {}
        }
    }
    if let Some(area) = plan.sum {
        title::sum(model, &mut Canvas::new(buffer, area, theme));
    }
    if let Some(area) = plan.note {
        title::note(model, &mut Canvas::new(buffer, area, theme));
    }
    seams(plan, buffer, theme, model.look.ascii);
}

/// Vertical lines between panes, joined with the rules they meet.
fn seams(plan: &Plan, buffer: &mut Buffer, theme: &Theme, ascii: bool) {
    let rule_at =
        |x: u16, y: u16| plan.panes.iter().any(|(_, r)| r.y == y && r.x <= x && x < r.right());
    let seam_at = |x: u16, y: u16| plan.seams.iter().any(|s| s.contains(Position::new(x, y)));
    for seam in &plan.seams {
        for y in seam.top()..seam.bottom() {
            let left = seam.x > 0 && rule_at(seam.x - 1, y);
            let right = rule_at(seam.x + 1, y);
            let up = y > 0 && seam_at(seam.x, y - 1);
            let glyph = match (left, right, up) {
                _ if ascii => "│",
                (true, true, true) => "┼",
                (true, true, false) => "┬",
                (true, false, _) => "┤",
                (false, true, _) => "├",
                (false, false, _) => "│",
            };
            if let Some(cell) = buffer.cell_mut(Position::new(seam.x, y)) {
                cell.set_symbol(glyph).set_style(theme.dim);
            }
        }
    }
}

fn too_small(area: Rect, buffer: &mut Buffer, theme: &Theme) {
    let mut canvas = Canvas::new(buffer, area, theme);
    let size = format!("{}x{}", area.width, area.height);
    for (y, line) in ["credscope", &size, "needs 40x10", "q quits"].iter().enumerate() {
        canvas.text(0, y, line, Style::new());
    }
}

fn nothing_yet(model: &Model, pane: Pane, canvas: &mut Canvas, focus: bool) {
    canvas.rule(pane.title(), Row::new(), &[], focus);
    if let (true, Some(loading)) = (model.corpus.groups.is_empty(), &model.loading) {
        let told = if loading.stopping {
            ["stopping: nothing was read so far", "q quits"]
        } else {
            ["loading: this fills as soon as a rollout was read", "X stops loading, q quits"]
        };
        canvas.empty(1, &told);
    } else if model.corpus.groups.is_empty() {
        canvas.empty(1, &["no group was loaded: q quits, then give a path with rollouts"]);
    } else if model.waiting() {
        canvas.empty(1, &["analysing …  { } goes to another group, q quits"]);
    } else {
        canvas.empty(1, &["the analysis failed: { } goes to another group, W lists warnings"]);
    }
}

/// Draws the `rows` of a list below a header, the selected one in sight.
fn list(
    canvas: &mut Canvas,
    from: usize,
    rows: usize,
    cursor: Option<usize>,
    mut make: impl FnMut(usize, &Theme) -> Row,
) {
    let height = canvas.height().saturating_sub(from);
    let first = super::canvas::first_in_sight(cursor.unwrap_or(0), rows, height);
    let theme = *canvas.theme;
    for (y, at) in (first..rows).take(height).enumerate() {
        let row = make(at, &theme);
        canvas.draw(from + y, &row, cursor == Some(at));
    }
}

/// The mark at the left of a row: the cursor.
const fn mark(selected: bool) -> &'static str {
    if selected { "▸" } else { " " }
}

/// The short title of a column.
fn column_title(name: &str) -> String {
    match name {
        "grpo" => "GRPO".to_owned(),
        "grpo-step" => "G+Step".to_owned(),
        "rtmc" => "RTMC".to_owned(),
        "dr-grpo" => "DrGRPO".to_owned(),
        other => {
            let name = other.strip_prefix("logged:").unwrap_or(other);
            crate::export::text::line(name).into_owned()
        }
    }
}

/// Which key leads to another group that has something to show; `W` where there is none.
fn to_a_group(model: &Model, has: impl Fn(&Group) -> bool) -> &'static str {
    let groups = &model.corpus.groups;
    if groups.iter().skip(model.group + 1).any(|g| has(g)) {
        "} goes to the next group"
    } else if groups.iter().take(model.group).any(|g| has(g)) {
        "{ goes to the previous group"
    } else {
        "W lists what the load says"
    }
}

/// Which key leads to another group with steps.
fn to_steps_of_a_group(model: &Model) -> &'static str {
    to_a_group(model, |g| !g.is_empty())
}

/// Which key leads to another rollout with steps, else to another group with some.
fn to_steps(model: &Model) -> &'static str {
    let rollouts = model.shown_group().map_or(&[][..], |g| &g.rollouts);
    let at = model.cursor.rollout;
    let has = |r: &crate::rollout::Rollout| !r.steps.is_empty();
    if rollouts.iter().skip(at + 1).any(has) {
        "] goes to the next rollout"
    } else if rollouts.iter().take(at).any(has) {
        "[ goes to the previous rollout"
    } else {
        to_steps_of_a_group(model)
    }
}

/// What divides two segments of a rollout.
pub(super) fn segment(number: usize, of: usize) -> String {
    format!(
        "segment {number} of {of}: its prompt stands for what came before, no action of the agent"
    )
}
