//! Words of a shell without their quotes. Nothing is expanded.

/// The text of a word without its quotes. Expansions stay as they are written.
#[must_use]
pub fn unquote(source: &str) -> String {
    if !source.contains(['\'', '"', '\\']) {
        return source.to_owned();
    }
    let mut text = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    let mut double = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' if !double => text.extend(chars.by_ref().take_while(|&c| c != '\'')),
            '$' if !double && chars.peek() == Some(&'\'') => {
                chars.next();
                ansi_c(&mut chars, &mut text);
            }
            '"' => double = !double,
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(next) if double && !matches!(next, '"' | '\\' | '$' | '`') => {
                    text.push('\\');
                    text.push(next);
                }
                Some(next) => text.push(next),
                None => text.push('\\'),
            },
            _ => text.push(c),
        }
    }
    text
}

/// `$'…'`: the common escapes.
fn ansi_c(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, text: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            '\'' => return,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_go_and_expansions_stay() {
        assert_eq!(unquote("plain"), "plain");
        assert_eq!(unquote(r#"'a b'"c d"e"#), "a bc de");
        assert_eq!(unquote(r#""a\"b\n""#), "a\"b\\n");
        assert_eq!(unquote(r"a\ b"), "a b");
        assert_eq!(unquote(r"$'a\tb'"), "a\tb");
        assert_eq!(unquote(r#""$HOME/x""#), "$HOME/x");
    }
}
