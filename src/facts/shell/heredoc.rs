//! Cuts heredoc bodies out of a command line: they are data, never commands, and they may be long.

/// A command line without its heredoc bodies; `<<WORD` is replaced by `< ` and a place holder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The line that is left.
    pub text: String,
    /// The bodies, by number.
    pub bodies: Vec<String>,
}

/// Beginning of the word that stands for a body.
const PLACE: &str = "__heredoc_";

/// The word that stands for body `n`.
fn place(n: usize) -> String {
    format!("{PLACE}{n}__")
}

/// The number of the body that a word stands for.
#[must_use]
pub fn body_number(word: &str) -> Option<usize> {
    word.strip_prefix(PLACE)?.strip_suffix("__")?.parse().ok()
}

/// Where the scanner is.
#[derive(Clone, Copy, PartialEq)]
enum Quote {
    None,
    Single,
    Double,
}

struct Waiting {
    end: String,
    strip_tabs: bool,
}

/// Cuts the bodies.
#[must_use]
pub fn cut(command: &str) -> Cut {
    if !command.contains("<<") {
        return Cut { text: command.to_owned(), bodies: Vec::new() };
    }
    let mut cut = Cut::default();
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut quote = Quote::None;
    let mut rest = command;
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        scan_line(line, &mut quote, &mut cut, &mut waiting);
        rest = after;
        for heredoc in waiting.drain(..) {
            let mut body = String::new();
            while !rest.is_empty() {
                let (line, after) = split_line(rest);
                rest = after;
                let plain = line.trim_end_matches(['\n', '\r']);
                let plain = if heredoc.strip_tabs { plain.trim_start_matches('\t') } else { plain };
                // A closing word followed by blanks ends the body in no shell, but models write it.
                if plain.trim_end() == heredoc.end {
                    break;
                }
                body.push_str(line);
            }
            cut.bodies.push(body);
        }
    }
    cut
}

fn split_line(text: &str) -> (&str, &str) {
    let end = text.find('\n').map_or(text.len(), |i| i + 1);
    text.split_at(end)
}

/// Copies one line, with quotes followed and heredoc operators replaced.
fn scan_line(line: &str, quote: &mut Quote, cut: &mut Cut, waiting: &mut Vec<Waiting>) {
    let mut chars = line.char_indices().peekable();
    let mut word_start = true;
    while let Some((at, c)) = chars.next() {
        match (*quote, c) {
            (Quote::None, '#') if word_start => {
                cut.text.push_str(line.get(at..).unwrap_or_default());
                return;
            }
            (Quote::None | Quote::Double, '\\') => {
                cut.text.push(c);
                if let Some((_, next)) = chars.next() {
                    cut.text.push(next);
                }
                word_start = false;
                continue;
            }
            (Quote::None, '\'') => *quote = Quote::Single,
            (Quote::None, '"') => *quote = Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => *quote = Quote::None,
            (Quote::None, '<') => {
                let tail = line.get(at..).unwrap_or_default();
                if let Some((heredoc, length)) = operator(tail) {
                    let n = cut.bodies.len() + waiting.len();
                    cut.text.push_str("< ");
                    cut.text.push_str(&place(n));
                    waiting.push(heredoc);
                    while chars.next_if(|(i, _)| *i < at + length).is_some() {}
                    word_start = false;
                    continue;
                }
                if tail.starts_with("<<<") {
                    cut.text.push_str("<<<");
                    chars.next();
                    chars.next();
                    continue;
                }
            }
            _ => {}
        }
        cut.text.push(c);
        word_start = c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(');
    }
}

/// The heredoc operator at the beginning of `text`, with its length in bytes.
fn operator(text: &str) -> Option<(Waiting, usize)> {
    let rest = text.strip_prefix("<<")?;
    if rest.starts_with('<') || rest.starts_with('=') {
        return None;
    }
    let (rest, strip_tabs) = match rest.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let word = rest.trim_start_matches([' ', '\t']);
    let mut length = text.len() - word.len();
    let first = word.chars().next()?;
    let end = if first == '\'' || first == '"' {
        let inner = word.get(1..)?;
        let close = inner.find(first)?;
        length += close + 2;
        inner.get(..close)?.to_owned()
    } else {
        let close = word
            .find(|c: char| {
                c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | ')' | '(')
            })
            .unwrap_or(word.len());
        length += close;
        word.get(..close)?.replace('\\', "")
    };
    // A shift such as `1<<2` is no heredoc.
    let is_word = end.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_word.then_some((Waiting { end, strip_tabs }, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_cut() {
        let cut = cut("cat <<'EOF' > a.py && python a.py\nimport x # it's\nEOF\necho done\n");
        assert_eq!(cut.text, "cat < __heredoc_0__ > a.py && python a.py\necho done\n");
        assert_eq!(cut.bodies, ["import x # it's\n"]);
        assert_eq!(body_number("__heredoc_0__"), Some(0));
    }

    #[test]
    fn quoted_operators_and_shifts_stay() {
        for text in
            ["python -c \"print(1 << two)\"", "echo '<<EOF'\n", "cat <<< EOF", "# <<EOF\nls"]
        {
            assert_eq!(cut(text).text, text);
        }
    }

    #[test]
    fn an_open_body_ends_with_the_text() {
        let cut = cut("cat > a <<-X\n\tb\n\tX\ncat > c <<Y\nd");
        assert_eq!(cut.bodies, ["\tb\n", "d"]);
    }
}
