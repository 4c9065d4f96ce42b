//! Glyphs and the capability layer for them: evidence, bars, marks, and the ASCII stand-ins.
//!
//! Panes draw in Unicode; [`to_ascii`] goes over the finished buffer where the terminal cannot show
//! it. So no pane has to know about ASCII, and nothing else can slip through.

use ratatui::buffer::{Buffer, Cell};

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

/// Glyphs of the screen with their stand-ins, each with one of its own; but `±` shares `~` with a rule, and
/// is told from it by its place: a digit follows. Where vertical lines meet rules there are no further glyphs: [`super::panes`] draws them plain in ASCII.
pub const STAND_INS: &[(&str, &str)] = &[
    ("█", "#"),
    ("▌", "["),
    ("▐", "]"),
    ("▒", "%"),
    ("∷", ":"),
    ("═", "="),
    ("━", "~"),
    ("╸", ")"),
    ("╺", "("),
    ("─", "_"),
    ("┄", ","),
    ("╌", "\""),
    ("│", "|"),
    ("├", "+"),
    ("└", "`"),
    ("✓", "y"),
    ("✗", "x"),
    ("⊘", "T"),
    ("‼", "E"),
    ("▸", ">"),
    ("▾", "v"),
    ("◂", "<"),
    ("◆", "P"),
    ("↺", "R"),
    ("≠", "!"),
    ("≡", "&"),
    // No `>`: at least two is not more than two.
    ("≥", "'"),
    ("⋎", "Y"),
    ("↪", ";"),
    ("→", "}"),
    ("←", "{"),
    ("↑", "/"),
    ("↓", "\\"),
    ("−", "-"),
    ("±", "~"),
    ("·", "."),
    ("…", "$"),
    ("×", "*"),
    ("⚠", "W"),
    ("Σ", "S"),
    ("γ", "g"),
    ("τ", "t"),
    ("β", "b"),
    ("Δ", "d"),
    ("▲", "A"),
    ("▼", "U"),
    ("△", "a"),
    ("▽", "u"),
    ("▏", "I"),
];

/// Replaces everything in the buffer that is not ASCII.
pub fn to_ascii(buffer: &mut Buffer) {
    for row in buffer.content.chunks_mut(usize::from(buffer.area.width).max(1)) {
        products(row);
    }
    for cell in &mut buffer.content {
        if cell.symbol().is_ascii() {
            continue;
        }
        let stand_in = STAND_INS
            .iter()
            .find(|(glyph, _)| *glyph == cell.symbol())
            .map_or("?", |(_, plain)| plain);
        cell.set_symbol(stand_in);
    }
}

/// A dot that multiplies, as in `(8·0.6 + 2·0.5)` or `γ·x`, must not look like the one of a number. Where
/// digits stand around it outside of brackets, it stands for nothing between two counts.
fn products(row: &mut [Cell]) {
    let signs: Vec<char> = row.iter().map(|c| c.symbol().chars().next().unwrap_or(' ')).collect();
    let mut open = 0_usize;
    for (cell, around) in row.iter_mut().skip(1).zip(signs.windows(3)) {
        let &[before, dot, after] = around else {
            return;
        };
        match before {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        let joined = before.is_alphanumeric() || before == ')';
        let joins = after.is_alphanumeric() || matches!(after, '(' | '−');
        let spoken = open > 0 || before.is_alphabetic() || after.is_alphabetic();
        if dot == '·' && joined && joins && spoken {
            cell.set_symbol("*");
        }
    }
}

/// Whether the locale says UTF-8: the first of `LC_ALL`, `LC_CTYPE`, `LANG` that is set decides.
#[must_use]
pub fn locale_is_utf8(lc_all: &str, lc_ctype: &str, lang: &str) -> bool {
    let locale = [lc_all, lc_ctype, lang]
        .into_iter()
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
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
    fn stand_ins_are_ascii_and_distinct() {
        assert!(STAND_INS.iter().all(|(_, plain)| plain.is_ascii() && plain.len() == 1));
        let distinct = |pick: fn(&(&'static str, &'static str)) -> &'static str| {
            STAND_INS.iter().map(pick).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(|s| s.0), STAND_INS.len());
        // `±` shares its own with `━`.
        assert_eq!(distinct(|s| s.1), STAND_INS.len() - 1, "each glyph has a stand-in of its own");
        assert!(STAND_INS.iter().all(|(_, plain)| *plain != "?"), "? is an unknown glyph");
    }

    #[test]
    fn arithmetic_stays_arithmetic_in_ascii() {
        let ascii = |text: &str| {
            let mut buffer = Buffer::with_lines([text]);
            to_ascii(&mut buffer);
            buffer.content.iter().map(Cell::symbol).collect::<String>()
        };
        assert_eq!(ascii("(8·0.638 + 2·0.500)"), "(8*0.638 + 2*0.500)");
        assert_eq!(ascii("γ·(1 − V)·n"), "g*(1 - V)*n");
        assert_eq!(ascii("N≥2 ±0.94"), "N'2 ~0.94");
        assert_eq!(ascii("✓1 ⊘1 ↺3"), "y1 T1 R3");
        // A dot that stands for nothing stays a dot.
        assert_eq!(ascii("✗133   ·  4  3·4··"), "x133   .  4  3.4..");
    }

    #[test]
    fn the_first_locale_that_is_set_decides() {
        assert!(locale_is_utf8("", "", "de_DE.UTF-8"));
        assert!(!locale_is_utf8("C", "", "de_DE.UTF-8"));
        assert!(!locale_is_utf8("", "", ""));
    }
}
