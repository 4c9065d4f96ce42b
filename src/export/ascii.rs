//! The glyphs that the program writes, where only ASCII is wanted or can be shown: one table for screen and
//! reports. Text of the data is not replaced: it stays, or is escaped where the locale cannot show it.
//!
//! A line keeps its width. `…`, `≥` and `±` read badly as one letter and have none: they become `..`,
//! `>=` (or `>1` for at least two where there is one blank only) and `+-`, in the room of what stands beside them.

/// The other glyphs with their stand-ins. Each has one of its own but for dashes, which are all `-`.
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
    ("⋎", "Y"),
    ("↪", ";"),
    ("→", "}"),
    ("←", "{"),
    ("↑", "/"),
    ("↓", "\\"),
    ("−", "-"),
    ("–", "-"),
    ("—", "-"),
    ("·", "."),
    ("×", "*"),
    ("⚠", "W"),
    ("Σ", "S"),
    ("µ", "m"),
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

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// What stands for each symbol of a row; nothing where it stays: what is no glyph of the program.
#[must_use]
pub fn replace(row: &[&str]) -> Vec<Option<&'static str>> {
    let mut out: Vec<Option<&'static str>> = vec![None; row.len()];
    let at = |i: Option<usize>| i.and_then(|i| row.get(i)).and_then(|s| s.chars().next());
    let mut open = 0_usize;
    for (i, symbol) in row.iter().enumerate() {
        let (before, after) = (at(i.checked_sub(1)), at(Some(i + 1)));
        match *symbol {
            "(" => open += 1,
            ")" => open = open.saturating_sub(1),
            _ => {}
        }
        if symbol.is_ascii() {
            continue;
        }
        let mut put = |at: usize, stand_in: &'static str| {
            if let Some(slot) = out.get_mut(at) {
                *slot = Some(stand_in);
            }
        };
        match *symbol {
            "·" => put(i, if multiplies(before, after, open > 0) { "*" } else { "." }),
            "…" => {
                put(i, ".");
                let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                // A blank before it, else what is cut beside it, makes room for the second dot; a line
                // between panes does not.
                let line = |c: char| matches!(c, '│' | '├' | '┤' | '┼');
                let back = before == Some(' ')
                    || (!word(after) && before.is_some_and(|before| !line(before)));
                put(if back { i - 1 } else { i + 1 }, ".");
            }
            "≥" => {
                let digit = after.and_then(|c| c.to_digit(10)).filter(|d| *d > 0);
                let longer = at(Some(i + 2)).is_some_and(|c| c.is_ascii_digit() || c == '.');
                let digit = digit.filter(|_| !longer);
                let less = digit.and_then(|d| DIGITS.get(d as usize - 1));
                let blank = |i: usize| at(Some(i)).is_none_or(|c| c == ' ');
                if let Some(digit) = digit.and_then(|d| DIGITS.get(d as usize))
                    && at(Some(i + 2)) == Some(' ')
                    && blank(i + 3)
                {
                    put(i, ">");
                    put(i + 1, "=");
                    put(i + 2, digit);
                } else if let Some(less) = less {
                    put(i, ">");
                    put(i + 1, less);
                } else if before == Some(' ') {
                    put(i - 1, ">");
                    put(i, "=");
                } else {
                    put(i, ">");
                }
            }
            "±" if before == Some(' ') => {
                put(i - 1, "+");
                put(i, "-");
            }
            glyph => {
                if let Some((_, plain)) = STAND_INS.iter().find(|(g, _)| *g == glyph) {
                    put(i, plain);
                }
            }
        }
    }
    out
}

/// A dot that multiplies, as in `(8·0.6 + 2·0.5)` or `γ·x`, must not look like the one of a number. Where
/// digits stand around it outside of brackets, it stands for nothing between two counts.
fn multiplies(before: Option<char>, after: Option<char>, inside: bool) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    let joined = before.is_alphanumeric() || before == ')';
    let joins = after.is_alphanumeric() || matches!(after, '(' | '−');
    let spoken = inside || before.is_alphabetic() || after.is_alphabetic();
    joined && joins && spoken
}

/// Each character that is neither ASCII nor a glyph of the program as `\u{6587}`, so that two names stay
/// apart.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() || is_own(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// Whether the program draws with it.
fn is_own(c: char) -> bool {
    matches!(c, '…' | '≥' | '\u{2500}'..='\u{259f}')
        || STAND_INS.iter().any(|(glyph, _)| glyph.chars().eq([c]))
}

/// Whether the locale of the environment says UTF-8.
#[must_use]
pub fn utf8() -> bool {
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    locale_is_utf8(&var("LC_ALL"), &var("LC_CTYPE"), &var("LANG"))
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

/// A line with the program's own glyphs in ASCII.
#[must_use]
pub fn line(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
    let symbols: Vec<&str> = ends.filter_map(|(from, to)| text.get(from..to)).collect();
    let stand_ins = replace(&symbols);
    symbols.iter().zip(stand_ins).map(|(symbol, plain)| plain.unwrap_or(symbol)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_ascii_and_distinct() {
        let dash = |glyph: &str| matches!(glyph, "–" | "—");
        let table: Vec<_> = STAND_INS.iter().filter(|(g, _)| !dash(g)).collect();
        assert!(table.iter().all(|(_, plain)| plain.is_ascii() && plain.len() == 1));
        let distinct = |pick: fn(&&(&'static str, &'static str)) -> &'static str| {
            table.iter().map(pick).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(|s| s.0), table.len());
        assert_eq!(distinct(|s| s.1), table.len(), "each glyph has a stand-in of its own");
        assert!(table.iter().all(|(_, plain)| *plain != "?"), "? is an unknown glyph");
    }

    #[test]
    fn arithmetic_stays_arithmetic() {
        assert_eq!(line("(8·0.638 + 2·0.500)"), "(8*0.638 + 2*0.500)");
        assert_eq!(line("γ·(1 − V)·n"), "g*(1 - V)*n");
        assert_eq!(line("✓1 ⊘1 ↺3"), "y1 T1 R3");
        // A dot that stands for nothing stays a dot.
        assert_eq!(line("✗133   ·  4  3·4··"), "x133   .  4  3.4..");
    }

    #[test]
    fn text_of_the_data_stays_or_is_escaped_and_two_names_stay_apart() {
        assert_eq!(line("✓ 文件 名.py │ étude-03"), "y 文件 名.py | étude-03");
        assert_eq!(escaped("✓ 文件 a"), "✓ \\u{6587}\\u{4ef6} a");
        assert_eq!(line(&escaped("→ é-03 …")), "} \\u{e9}-03..");
        assert_ne!(escaped("無題-1"), escaped("解析-1"));
    }

    #[test]
    fn two_signs_take_the_room_of_their_neighbour() {
        assert_eq!(line("N≥2  8"), "N>=2 8");
        assert_eq!(line("N≥2 8"), "N>1 8");
        assert_eq!(line("n ≥10"), "n>=10");
        assert_eq!(line("A   ±"), "A  +-");
        // What is cut: before it, behind it, in the middle, a word of its own.
        assert_eq!(line("search:grep…"), "search:gre..");
        assert_eq!(line("…able.py"), "..ble.py");
        assert_eq!(line("view:full@…able.py"), "view:full@..ble.py");
        assert_eq!(line("modify:…:33a6"), "modify..:33a6");
        assert_eq!(line("═══… 1 penalized"), "==.. 1 penalized");
        assert_eq!(line(" … 3 more"), ".. 3 more");
        assert_eq!(line("0.020 + … 3 more"), "0.020 +.. 3 more");
        for text in ["…", "±", "≥", "…………", "文…"] {
            assert_eq!(line(text).chars().count(), text.chars().count(), "{text}");
            assert!(line(text).chars().all(|c| c.is_ascii() || matches!(c, '文' | '±')));
        }
    }
}
