//! Glyphs and the capability layer for them: evidence, bars, marks, and the ASCII stand-ins.
//!
//! Panes draw in Unicode; [`to_ascii`] goes over the finished buffer where the terminal cannot show
//! it. So no pane has to know about ASCII, and nothing else can slip through.

use ratatui::buffer::{Buffer, Cell};

pub use crate::export::ascii::{STAND_INS, locale_is_utf8};

use crate::export::{ascii, text};
use crate::graph::Evidence;
use crate::rollout::Outcome;

/// The glyph of an evidence class.
#[must_use]
pub const fn evidence(class: Option<Evidence>) -> char {
    match class {
        Some(Evidence::Compared) => '█',
        Some(Evidence::Shared) => '▒',
        Some(Evidence::Own) => '∷',
        Some(Evidence::Single) => '═',
        None => '·',
    }
}

/// Evidence and sign in one cell that needs no colour.
#[must_use]
pub const fn signed_evidence(class: Option<Evidence>, positive: bool) -> char {
    match (class, positive) {
        (Some(Evidence::Compared) | None, true) => '▲',
        (Some(Evidence::Compared) | None, false) => '▼',
        (Some(Evidence::Shared), true) => '△',
        (Some(Evidence::Shared), false) => '▽',
        (Some(Evidence::Own), true) => '+',
        (Some(Evidence::Own), false) => super::numbers::MINUS,
        (Some(Evidence::Single), true) => '\'',
        (Some(Evidence::Single), false) => '.',
    }
}

/// The mark of an outcome.
#[must_use]
pub const fn outcome(outcome: Outcome) -> char {
    match outcome {
        Outcome::Success => '✓',
        Outcome::Failure => '✗',
        Outcome::Truncated => '⊘',
        Outcome::Error => '‼',
        Outcome::Unscored => '?',
    }
}

/// What fills a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// A column that looks at no states: evidence does not apply.
    Slim,
    /// By evidence class.
    Class(Evidence),
}

/// A diverging bar: the texts left and right of its axis, `half` cells each.
///
/// Only `compared` and slim bars have half cells: weak evidence is drawn coarser, too. A value that is
/// not nothing is never drawn as nothing.
#[must_use]
pub fn bar(value: f64, scale: f64, half: usize, fill: Fill) -> (String, String) {
    let blank = " ".repeat(half);
    if value == 0.0 || !value.is_finite() || scale <= 0.0 || half == 0 {
        return (blank.clone(), blank);
    }
    let share = (value.abs() / scale).min(1.0) * half as f64;
    let (full, part_left, part_right) = match fill {
        Fill::Slim => ('━', '╺', '╸'),
        Fill::Class(Evidence::Compared) => ('█', '▐', '▌'),
        Fill::Class(class) => {
            let glyph = evidence(Some(class));
            (glyph, glyph, glyph)
        }
    };
    let halves = match fill {
        Fill::Slim | Fill::Class(Evidence::Compared) => cells_of(share * 2.0),
        Fill::Class(_) => cells_of(share) * 2,
    }
    .min(half * 2);
    let (cells, part) = (halves / 2, halves % 2);
    let empty = " ".repeat(half - cells - part);
    let solid = full.to_string().repeat(cells);
    if value < 0.0 {
        let edge = if part == 1 { part_left.to_string() } else { String::new() };
        (format!("{empty}{edge}{solid}"), blank)
    } else {
        let edge = if part == 1 { part_right.to_string() } else { String::new() };
        (blank, format!("{solid}{edge}{empty}"))
    }
}

/// A length in whole cells, at least one.
#[allow(clippy::cast_sign_loss, reason = "at least one")]
fn cells_of(length: f64) -> usize {
    length.round().max(1.0) as usize
}

/// Replaces the program's own glyphs in the buffer; see [`ascii`]. Text of the data stays where the terminal
/// can show it; where it cannot, it was escaped before, and `?` stands for what was not. Where vertical lines
/// meet rules there are no further glyphs: [`super::panes`] draws them plain in ASCII.
pub fn to_ascii(buffer: &mut Buffer) {
    let strict = text::escapes_here();
    for row in buffer.content.chunks_mut(usize::from(buffer.area.width).max(1)) {
        let symbols: Vec<&str> = row.iter().map(Cell::symbol).collect();
        let stand_ins = ascii::replace(&symbols);
        for (cell, plain) in row.iter_mut().zip(stand_ins) {
            if let Some(plain) = plain {
                cell.set_symbol(plain);
            } else if strict && !cell.symbol().is_ascii() {
                cell.set_symbol("?");
            }
        }
    }
}

/// A range around nothing: `±0.94`. Drawn with two signs where only ASCII can be shown.
#[must_use]
pub fn around(scale: &str, ascii: bool) -> String {
    format!("{}{scale}", if ascii { "+-" } else { "±" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_as_coarse_as_their_evidence() {
        let compared = Fill::Class(Evidence::Compared);
        assert_eq!(bar(0.307, 0.725, 3, compared), ("   ".into(), "█▌ ".into()));
        assert_eq!(bar(-0.501, 0.725, 3, compared), (" ██".into(), "   ".into()));
        assert_eq!(bar(0.093, 0.725, 3, Fill::Class(Evidence::Shared)).1, "▒  ");
        assert_eq!(bar(-0.330, 0.725, 3, Fill::Class(Evidence::Single)).0, "  ═");
        assert_eq!(bar(-0.5, 1.0, 3, Fill::Slim).0, " ╺━");
        assert_eq!(bar(0.0, 1.0, 3, compared), ("   ".into(), "   ".into()));
    }

    #[test]
    fn a_range_has_two_signs_in_ascii() {
        assert_eq!(around("0.94", true), "+-0.94");
        let mut buffer = Buffer::with_lines([format!("  {}", around("0.94", true))]);
        to_ascii(&mut buffer);
        assert_eq!(buffer.content.iter().map(Cell::symbol).collect::<String>(), "  +-0.94");
    }

    #[test]
    fn the_first_locale_that_is_set_decides() {
        assert!(locale_is_utf8("", "", "de_DE.UTF-8"));
        assert!(!locale_is_utf8("C", "", "de_DE.UTF-8"));
        assert!(!locale_is_utf8("", "", ""));
    }
}
