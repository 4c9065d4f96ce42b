//! The one place where text that came from data is made fit for a terminal or a plain report.
//!
//! Whole escape sequences are taken out; other control characters, bidi controls and zero-width
//! tricks are shown; tabs are expanded; widths are counted by grapheme cluster.

use std::borrow::Cow;
use std::cell::Cell;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::ascii;

/// Distance of tab stops.
const TAB: usize = 8;

/// A text on one line: line breaks are shown as `\n`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| (' '..='~').contains(&c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    scrub(text, &mut out, true);
    Cow::Owned(if ESCAPES.get() { ascii::escaped(&out) } else { out })
}

thread_local! {
    static ESCAPES: Cell<bool> = const { Cell::new(false) };
}

/// From now on [`line()`] gives this thread `\u{6587}` for a character that is neither ASCII nor a glyph of
/// the program's own: for threads that make text for a terminal that cannot show it. Files keep it.
pub fn escape_here(on: bool) {
    ESCAPES.set(on);
}

/// Whether it does.
#[must_use]
pub fn escapes_here() -> bool {
    ESCAPES.get()
}

/// A text on one line with every control character in a visible form: `^[` for escape, `\\x00`, `\\r`.
/// Escape sequences are not taken out.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| (' '..='~').contains(&c)) {
        return Cow::Borrowed(text);
    }
    let shown: String = text
        .chars()
        .map(|c| match c {
            '\u{1b}' => "^[".to_owned(),
            c if c.is_control() && c != '\t' && c != '\n' && c != '\r' => {
                format!("\\x{:02x}", u32::from(c))
            }
            c => c.to_string(),
        })
        .collect();
    // What is left for the other rules: tabs, line ends, bidi controls.
    Cow::Owned(line(&shown).into_owned())
}

/// A text as lines. Of a line that a carriage return overwrites, the last segment is kept.
pub fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('\n').map(|raw| {
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        line(raw.rsplit('\r').find(|part| !part.is_empty()).unwrap_or(""))
    })
}

/// Width in terminal cells.
#[must_use]
pub fn width(text: &str) -> usize {
    let mut count = 0;
    if text.chars().inspect(|_| count += 1).all(is_plain) {
        return count;
    }
    text.graphemes(true).map(cells).sum()
}

/// Characters that are a cluster of one cell each, whatever stands beside them as long as that is plain,
/// too: most of what a screen shows. Finding clusters by the book takes a third of the time of a frame.
const fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~' | '·' | '…' | '−' | '\u{2500}'..='\u{259f}' | '▸' | '▾' | '✓' | '✗')
}

/// The grapheme clusters of a text.
pub fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut by_the_book = (!text.chars().all(is_plain)).then(|| text.graphemes(true));
    let mut rest = text;
    std::iter::from_fn(move || {
        if let Some(clusters) = &mut by_the_book {
            return clusters.next();
        }
        let (first, after) = rest.split_at_checked(rest.chars().next()?.len_utf8())?;
        rest = after;
        Some(first)
    })
}

/// Cells of one grapheme cluster: at most two, whatever it is made of.
fn cells(grapheme: &str) -> usize {
    grapheme.width().min(2)
}

/// The text cut to at most `limit` cells, never inside a grapheme; a cut is marked with `…`.
#[must_use]
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if width(text) <= limit {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        if used + cells(grapheme) + 1 > limit {
            break;
        }
        used += cells(grapheme);
        out.push_str(grapheme);
    }
    if limit > 0 {
        out.push('…');
    }
    Cow::Owned(out)
}

/// The text up to `limit` cells and the rest, never inside a grapheme; the first is never empty.
#[must_use]
pub fn split(text: &str, limit: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += cells(grapheme);
        if used > limit && at > 0 {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The text cut from the left to at most `limit` cells; a cut is marked with `…`.
#[must_use]
pub fn cut_left(text: &str, limit: usize) -> Cow<'_, str> {
    if width(text) <= limit {
        return Cow::Borrowed(text);
    }
    let mut kept = Vec::new();
    let mut used = 0;
    for grapheme in text.graphemes(true).rev() {
        if used + cells(grapheme) + 1 > limit {
            break;
        }
        used += cells(grapheme);
        kept.push(grapheme);
    }
    kept.reverse();
    Cow::Owned(if limit > 0 { format!("…{}", kept.concat()) } else { String::new() })
}

/// The text cut in its middle to at most `limit` cells; a cut is marked with `…`.
#[must_use]
pub fn cut_middle(text: &str, limit: usize) -> Cow<'_, str> {
    if width(text) <= limit {
        return Cow::Borrowed(text);
    }
    let tail = limit / 2;
    let head = cut(text, limit - tail);
    let end = cut_left(text, tail + 1);
    // Uncut, it is a text of one cell in a room of none.
    let end = end.strip_prefix('…').unwrap_or_default();
    Cow::Owned(format!("{head}{end}"))
}

/// Paths in at most `limit` cells each, where they can be told apart in that: the end of a path, and
/// where ends are equal the folder that differs before it.
#[must_use]
pub fn short_paths(paths: &[&str], limit: usize) -> Vec<String> {
    let mut short: Vec<String> = paths.iter().map(|p| cut_left(p, limit).into_owned()).collect();
    let mut alike: std::collections::BTreeMap<String, Vec<usize>> =
        std::collections::BTreeMap::new();
    for (at, name) in short.iter().enumerate() {
        alike.entry(name.clone()).or_default().push(at);
    }
    for same in alike.into_values().filter(|same| same.len() > 1) {
        let parts: Vec<Vec<&str>> = same
            .iter()
            .map(|&at| paths.get(at).map_or_else(Vec::new, |p| p.split('/').collect()))
            .collect();
        let Some(first) = parts.first() else { continue };
        let differs = |i: &usize| parts.iter().any(|p| p.get(*i) != first.get(*i));
        let Some(folder) = (0..first.len()).find(differs) else { continue };
        for (&at, parts) in same.iter().zip(&parts) {
            let word = cut_middle(parts.get(folder).copied().unwrap_or_default(), limit * 3 / 4);
            let head = format!("{}{word}/", if folder > 0 { "…/" } else { "" });
            let rest = parts.get(folder + 1..).unwrap_or_default().join("/");
            let tail = cut_left(&rest, limit.saturating_sub(width(&head)));
            if let Some(name) = short.get_mut(at) {
                *name = format!("{head}{tail}");
            }
        }
    }
    short
}

/// What ids share at their beginning, up to a separator; nothing for fewer than two different ids.
#[must_use]
pub fn common_prefix<'a>(ids: &[&'a str]) -> &'a str {
    let Some((first, rest)) = ids.split_first() else {
        return "";
    };
    if rest.iter().all(|id| id == first) {
        return "";
    }
    let shared = rest.iter().fold(first.len(), |n, id| {
        first.bytes().zip(id.bytes()).take(n).take_while(|(a, b)| a == b).count()
    });
    let ends = |(at, c): (usize, char)| {
        matches!(c, '-' | '_' | '/' | '.' | ':' | ' ').then_some(at + c.len_utf8())
    };
    let cut = first.char_indices().filter_map(ends).take_while(|&at| at <= shared).last();
    first.get(..cut.unwrap_or(0)).unwrap_or_default()
}

/// The text in exactly `limit` cells: cut or padded at the right.
#[must_use]
pub fn fit(text: &str, limit: usize) -> String {
    let mut out = cut(text, limit).into_owned();
    let missing = limit.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// The text in exactly `limit` cells: cut or padded at the left.
#[must_use]
pub fn fit_right(text: &str, limit: usize) -> String {
    let mut out = cut(text, limit).into_owned();
    // A text may begin with a sign that joins the space before it, and takes no cell of its own then.
    for _ in 0..2 {
        out.insert_str(0, &" ".repeat(limit.saturating_sub(width(&out))));
    }
    out
}

fn scrub(text: &str, out: &mut String, show_breaks: bool) {
    let mut chars = text.chars().peekable();
    let mut previous = '\0';
    let mut column = 0;
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\t' => {
                let stop = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', stop));
                column += stop;
            }
            '\n' if show_breaks => {
                out.push_str("\\n");
                column += 2;
            }
            '\r' if show_breaks => {
                out.push_str("\\r");
                column += 2;
            }
            c if c.is_control() => {
                let shown = format!("\\x{:02x}", u32::from(c));
                column += shown.len();
                out.push_str(&shown);
            }
            // A joiner between non-ASCII characters builds one glyph (emoji, Indic scripts).
            '\u{200d}' if !previous.is_ascii() && chars.peek().is_some_and(|n| !n.is_ascii()) => {
                out.push(c);
            }
            c if is_trick(c) => {
                let shown = format!("<U+{:04X}>", u32::from(c));
                column += shown.len();
                out.push_str(&shown);
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
        previous = c;
    }
}

/// Bidi controls, zero-width characters, other invisible format characters.
const fn is_trick(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        _ => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
    }
}

/// Parameters and intermediates, then one final character.
fn skip_csi(chars: &mut Chars) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    chars.next_if(|c| ('@'..='~').contains(c));
}

/// Everything up to BEL or the string terminator. One that never ends takes the rest of its line only.
fn skip_string(chars: &mut Chars) {
    while let Some(&c) = chars.peek() {
        if c == '\n' {
            return;
        }
        chars.next();
        if c == '\u{7}' || c == '\u{9c}' {
            return;
        }
        if c == '\u{1b}' {
            chars.next_if(|&n| n == '\\');
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_that_joins_the_space_before_it_takes_no_cell_away() {
        for text in ["\u{17c0}\u{17c0}+i", "\u{301}a", "plain"] {
            assert_eq!(width(&fit_right(text, 9)), 9, "{text:?}");
        }
        assert_eq!(fit_right("plain", 7), "  plain");
    }

    /// Every two plain characters side by side, and a mark that joins them to something else.
    #[test]
    fn plain_characters_are_clusters_of_one_cell() {
        let plain: Vec<char> = ('\0'..='\u{ffff}').filter(|&c| is_plain(c)).collect();
        assert!(plain.len() > 200);
        for a in &plain {
            for b in &plain {
                let text = format!("{a}{b}");
                assert_eq!(text.graphemes(true).count(), 2, "{text}");
                assert!(clusters(&text).eq(text.graphemes(true)));
                assert_eq!(width(&text), text.graphemes(true).map(cells).sum::<usize>(), "{text}");
            }
            let accented = format!("{a}\u{301}é");
            assert!(clusters(&accented).eq(accented.graphemes(true)));
            assert_eq!(width(&accented), 2, "{accented}");
        }
    }

    #[test]
    fn paths_stay_apart() {
        let paths = [
            "runs/first/some-long-task/some-long-task.traj.json",
            "runs/second/some-long-task/some-long-task.traj.json",
            "short.json",
        ];
        assert_eq!(
            short_paths(&paths, 24),
            ["…/first/…-task.traj.json", "…/second/…task.traj.json", "short.json"]
        );
    }

    #[test]
    fn whole_sequences_go_and_controls_are_shown() {
        assert_eq!(line("a\u{1b}[31mred\u{1b}[0m"), "ared");
        assert_eq!(line("\u{1b}]0;title\u{7}x"), "x");
        assert_eq!(line("\u{1b}]0;title\u{1b}\\x"), "x");
        assert_eq!(line("\u{1b}Pq#0\u{1b}\\y"), "y");
        assert_eq!(line("\u{9b}2Jz"), "z");
        assert_eq!(line("r0\nx\u{0}\u{85}"), "r0\\nx\\x00\\x85");
        assert_eq!(line("a\tb"), "a       b");
        assert_eq!(line("a\u{202e}b"), "a<U+202E>b");
    }

    #[test]
    fn control_characters_can_be_shown() {
        assert_eq!(visible("a\u{1b}[31mred\u{0}\r\u{9b}2J"), "a^[[31mred\\x00\\r\\x9b2J");
        assert_eq!(visible("a\tb\u{202e}"), "a       b<U+202E>");
    }

    #[test]
    fn a_progress_line_keeps_its_last_segment() {
        assert_eq!(lines("10%\r50%\r100%\r\nnext").collect::<Vec<_>>(), ["100%", "next"]);
    }

    #[test]
    fn middles_and_common_beginnings() {
        assert_eq!(cut_middle("abcdefghij", 7), "abc…hij");
        assert_eq!(cut_middle("abc", 7), "abc");
        assert_eq!(width(&cut_middle("modify:replace:9e51@core.py", 22)), 22);
        assert_eq!(common_prefix(&["fix-run-1", "fix-run-12"]), "fix-run-");
        assert_eq!(common_prefix(&["run1", "run2"]), "");
        assert_eq!(common_prefix(&["a-b-1", "a-c-1"]), "a-");
        assert_eq!(common_prefix(&["a-1", "a-1"]), "");
    }

    #[test]
    fn cutting_never_splits_a_grapheme() {
        assert_eq!(width("文件"), 4);
        assert_eq!(fit("文件名.py", 6), "文件… ");
        assert_eq!(fit("文件名.py", 6).chars().count(), 4);
        assert_eq!(width(&fit("文件名.py", 6)), 6);
        assert_eq!(width("👩\u{200d}👩\u{200d}👧"), 2);
        assert_eq!(cut("👩\u{200d}👩\u{200d}👧ab", 3), "👩\u{200d}👩\u{200d}👧…");
        assert_eq!(cut_left("a/b/core.py", 8), "…core.py");
    }
}
