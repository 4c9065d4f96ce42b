//! Rollouts by steps in one column: evidence, sign and size of every value at once, and what the last
//! turns of the signature flipped.

use ratatui::style::Style;

use crate::analysis::Change;
use crate::export::text;
use crate::graph::Evidence;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs;
use crate::tui::model::Model;
use crate::tui::numbers::{MINUS, count, digits, plain, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// How a cell is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    /// Evidence, sign, two decimals, flip: six cells.
    Number,
    /// Evidence and sign, or sign and size: three cells.
    Sign,
    /// One glyph.
    Glyph,
}

impl Size {
    const fn cells(self) -> usize {
        match self {
            Self::Number => 6,
            Self::Sign => 3,
            Self::Glyph => 1,
        }
    }
}

/// What the rows have in common.
struct Frame<'a> {
    model: &'a Model,
    snapshot: &'a Snapshot,
    size: Size,
    /// Cells before the first step.
    head: usize,
    /// First step in sight, and how many.
    first: usize,
    steps: usize,
    /// Cells of the count of flips.
    tail: usize,
    /// Whether the column looks at states.
    states: bool,
    scale: f64,
}

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let group = &snapshot.analysis.group;
    let longest = group.rollouts.iter().map(|r| r.steps.len()).max().unwrap_or(0);
    let id = snapshot.widths.id.clamp(2, (canvas.width() / 5).max(4));
    // Mark, id, outcome, a bracket.
    let head = 1 + id + 2 + 1;
    let flips = model.contrast().is_some();
    let tail = if flips { digits(longest as u64).max(5) + 1 } else { 0 };
    let room = canvas.width().saturating_sub(head + tail);
    let size = [Size::Number, Size::Sign, Size::Glyph]
        .into_iter()
        .find(|s| longest * s.cells() <= room)
        .unwrap_or(Size::Glyph);
    let fit = (room / size.cells()).max(1);
    let first = first_in_sight(model.cursor.step, longest, fit);
    let y = snapshot.y();
    let meta = snapshot.analysis.columns.get(y).map(|(spec, _)| spec.meta());
    let frame = Frame {
        model,
        snapshot,
        size,
        head,
        first,
        steps: longest.saturating_sub(first).min(fit),
        tail,
        states: meta.is_some_and(|m| m.uses_states),
        scale: snapshot.scale(y, false),
    };
    let mut extra = Row::new();
    extra.put(text::line(&snapshot.analysis.settings.y).into_owned(), theme.title);
    let scale = glyphs::around(&plain(frame.scale, 2), model.look.ascii);
    extra.put(format!("  {scale}"), theme.text);
    // Where one glyph is all, the room is for what it means.
    if size != Size::Glyph || canvas.width() >= 100 {
        extra.put("  rollout × step", theme.dim);
    }
    if frame.steps < longest {
        extra.put(format!("  steps {first}-{} of {longest}", first + frame.steps - 1), theme.dim);
    }
    let legend = match (size, frame.states) {
        (Size::Number, _) => "! sign flipped against pin",
        (Size::Sign, true) => "evidence and sign",
        (Size::Sign, false) => "sign and size 0..9",
        (Size::Glyph, true) => {
            let long = "▲▼ compared △▽ shared +− self '. single";
            let fits = 16 + extra.width() + text::width(long) <= canvas.width();
            if fits { long } else { "▲compared △shared +self 'single" }
        }
        (Size::Glyph, false) => "▲▼ sign",
    };
    // What the glyphs mean is wanted most: it goes last.
    canvas.rule("7 Matrix", extra, &[("m", "column"), ("", legend)], focus);
    if longest == 0 {
        let key = super::to_steps_of_a_group(model);
        canvas.empty(1, &[&format!("no rollout of this group has steps: {key}")]);
        return;
    }
    canvas.row(1, &frame.header(&theme));
    let height = canvas.height().saturating_sub(1);
    {
        let mut part = canvas.part(0, 0, canvas.width(), height);
        let cursor = Some(model.cursor.rollout);
        let rows = group.rollouts.len();
        let lines = part.height().saturating_sub(2);
        let top = first_in_sight(model.cursor.rollout, rows, lines);
        for (y, at) in (top..rows).take(lines).enumerate() {
            part.row(2 + y, &frame.line(at, cursor == Some(at), id, &theme));
        }
    }
    let at = (2 + group.rollouts.len()).min(height);
    canvas.row(at, &frame.shared(&theme));
}

impl Frame<'_> {
    /// Step numbers: all of them where they fit, else every fifth.
    fn header(&self, theme: &Theme) -> Row {
        let mut row = Row::new();
        row.gap(self.head);
        let every = if self.size == Size::Number { 1 } else { 5 };
        for t in self.first..self.first + self.steps {
            let at = self.head + (t - self.first) * self.size.cells();
            let number = t.to_string();
            // Above the digit of the number, or of the sign.
            let lead = if self.size == Size::Number { 2 } else { 0 };
            if t % every == 0 && row.width() <= at + lead {
                let style = if t == self.model.cursor.step { theme.title } else { theme.dim };
                row.to(at + lead).put(number, style);
            }
        }
        if self.tail > 0 {
            let end = self.head + self.steps * self.size.cells();
            row.to(end).right("flips", self.tail, theme.dim);
        }
        row
    }

    fn line(&self, at: usize, selected: bool, id: usize, theme: &Theme) -> Row {
        let analysis = &self.snapshot.analysis;
        let mut row = Row::new();
        let Some(rollout) = analysis.group.rollouts.get(at) else {
            return row;
        };
        let name = if selected { theme.title } else { theme.text };
        row.put(super::mark(selected), theme.text);
        row.left(&self.snapshot.name(at, id), id, name);
        let good = rollout.outcome == crate::rollout::Outcome::Success;
        let outcome = format!(" {}", glyphs::outcome(rollout.outcome));
        row.put(outcome, if good { theme.pos } else { theme.neg });
        // The cell before a step holds its opening bracket.
        let mut cells: Vec<(char, Style)> = vec![(' ', Style::new())];
        let mut flips = 0_u64;
        // Whether it is the present pin's is asked once: a row may have thousands of steps.
        let contrast = self.model.contrast();
        for (t, step) in rollout.steps.clone().enumerate() {
            let change = contrast.map_or(Change::None, |c| c.change(step));
            flips += u64::from(change == Change::Flipped);
            if (self.first..self.first + self.steps).contains(&t) {
                let here = selected && t == self.model.cursor.step;
                self.cell(&mut cells, step, change, here, theme);
            }
        }
        for run in cells.chunk_by(|a, b| a.1 == b.1) {
            let style = run.first().map_or_else(Style::new, |&(_, style)| style);
            row.put(run.iter().map(|&(glyph, _)| glyph).collect::<String>(), style);
        }
        if self.tail > 0 {
            row.to(self.head + self.steps * self.size.cells());
            let style = if flips > 0 { theme.warn } else { theme.dim };
            row.right(&count(flips), self.tail, style);
        }
        row
    }

    fn cell(
        &self,
        cells: &mut Vec<(char, Style)>,
        step: usize,
        change: Change,
        here: bool,
        theme: &Theme,
    ) {
        let analysis = &self.snapshot.analysis;
        let value = analysis.y_column().get(step);
        let class = analysis.graph.evidence.get(step).copied().flatten();
        let weak = self.states && !matches!(class, Some(Evidence::Compared | Evidence::Shared));
        let mut style = value.map_or(theme.dim, |a| theme.of_sign(a));
        if weak && theme.id == crate::tui::ThemeId::Mono {
            style = style.patch(theme.dim);
        }
        // What does not pass the filter steps back.
        if !self.model.passes(step) {
            style = theme.dim;
        }
        let flipped = change == Change::Flipped;
        match self.size {
            Size::Number => {
                let fill = if self.states { glyphs::evidence(class) } else { ' ' };
                cells.push((fill, style));
                for glyph in short(value).chars() {
                    cells.push((glyph, style));
                }
                cells.push(if flipped { ('!', theme.warn) } else { (' ', Style::new()) });
                if here {
                    bracket(cells, 6, flipped, theme);
                }
            }
            Size::Sign => {
                let sign = sign_of(value);
                if self.states {
                    cells.push((glyphs::evidence(class), style));
                    cells.push((sign, style));
                } else {
                    cells.push((sign, style));
                    cells.push((self.digit(value), style));
                }
                cells.push(if flipped { ('!', theme.warn) } else { (' ', Style::new()) });
                if here {
                    bracket(cells, 3, flipped, theme);
                }
            }
            Size::Glyph => {
                let glyph = self.glyph(value, class);
                let style = if flipped { theme.warn } else { style };
                let style = if here { style.patch(theme.select) } else { style };
                cells.push((glyph, style));
            }
        }
    }

    /// The size in ten parts of the scale.
    #[allow(clippy::cast_sign_loss, reason = "a magnitude")]
    fn digit(&self, value: Option<f64>) -> char {
        let Some(a) = value.filter(|_| self.scale > 0.0) else {
            return ' ';
        };
        let part = (a.abs() / self.scale * 10.0).floor().min(9.0) as u32;
        char::from_digit(part, 10).unwrap_or(' ')
    }

    fn glyph(&self, value: Option<f64>, class: Option<Evidence>) -> char {
        let up = match sign_of(value) {
            '+' => true,
            MINUS => false,
            other => return other,
        };
        glyphs::signed_evidence(class.filter(|_| self.states), up)
    }

    /// How many rollouts were at a step in a state that two or more rollouts visited.
    fn shared(&self, theme: &Theme) -> Row {
        let analysis = &self.snapshot.analysis;
        let mut row = Row::new();
        row.gap(1).left("N≥2", self.head - 2, theme.dim).gap(1);
        let numbers = analysis.shared_at_steps();
        for t in self.first..self.first + self.steps {
            let n = numbers.get(t).copied().unwrap_or(0);
            match self.size {
                Size::Number => row.right(&count(u64::from(n)), 3, theme.dim).gap(3),
                Size::Sign => row.right(&count(u64::from(n)), 2, theme.dim).gap(1),
                Size::Glyph => row.put(one_digit(n), theme.dim),
            };
        }
        row
    }
}

fn one_digit(n: u32) -> String {
    match n {
        0 => "·".to_owned(),
        1..=9 => n.to_string(),
        _ => "*".to_owned(),
    }
}

fn sign_of(value: Option<f64>) -> char {
    match value {
        None => '·',
        Some(a) => match signed(a, 2).chars().next() {
            Some('+') => '+',
            Some(MINUS) => MINUS,
            _ => '0',
        },
    }
}

/// `+.31`, ` .00`, `+1.2`, `−12`: four cells; a dot without a value.
fn short(value: Option<f64>) -> String {
    let Some(a) = value else {
        return "   ·".to_owned();
    };
    let two = signed(a, 2);
    let sign = two.chars().next().filter(|c| matches!(c, '+' | &MINUS)).unwrap_or(' ');
    let magnitude = plain(a.abs(), 2);
    let body = match magnitude.strip_prefix('0') {
        Some(rest) => rest.to_owned(),
        None if a.abs() < 9.95 => plain(a.abs(), 1),
        None => plain(a.abs(), 0),
    };
    if text::width(&body) > 3 {
        return format!("{sign}>1k");
    }
    format!("{sign}{body:>3}")
}

/// Puts brackets around the last cell of so many places.
fn bracket(cells: &mut [(char, Style)], places: usize, flipped: bool, theme: &Theme) {
    let last = cells.len().saturating_sub(1);
    let style = if flipped { theme.warn } else { theme.title };
    if let Some(slot) = cells.get_mut(last) {
        *slot = (']', style);
    }
    if let Some(slot) = last.checked_sub(places).and_then(|at| cells.get_mut(at)) {
        *slot = ('[', style);
    }
}
