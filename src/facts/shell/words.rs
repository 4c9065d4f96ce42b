//! Flags and positional words of one command.

/// Words of a command after the program, taken apart.
#[derive(Debug, Default)]
pub struct Words<'a> {
    /// Words that are no flags and no values of flags.
    pub positional: Vec<&'a str>,
    /// Flags with their values, in order.
    pub flags: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Words<'a> {
    /// Takes words apart; `values` lists the flags that take the next word.
    #[must_use]
    pub fn new(words: &'a [String], values: &[String]) -> Self {
        let mut taken = Self::default();
        let mut words = words.iter().map(String::as_str);
        let mut open = true;
        while let Some(word) = words.next() {
            if !open || !word.starts_with('-') || word == "-" {
                taken.positional.push(word);
            } else if word == "--" {
                open = false;
            } else if let Some((flag, value)) = word.split_once('=').filter(|(f, _)| f.len() > 2) {
                taken.flags.push((flag, Some(value)));
            } else if values.iter().any(|v| v == word) {
                taken.flags.push((word, words.next()));
            } else {
                taken.flags.push((word, None));
            }
        }
        taken
    }

    /// Whether one of these flags is there.
    #[must_use]
    pub fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(flag, _)| names.contains(flag))
    }

    /// Whether a short flag is there, alone or in a bundle (`-rn` holds `n`).
    #[must_use]
    pub fn has_short(&self, letter: char) -> bool {
        self.flags.iter().any(|(flag, _)| {
            flag.strip_prefix('-').is_some_and(|f| {
                !f.starts_with('-')
                    && f.chars().all(|c| c.is_ascii_alphabetic())
                    && f.contains(letter)
            })
        })
    }

    /// The values of these flags.
    pub fn values(&self, names: &[&str]) -> impl Iterator<Item = &'a str> {
        self.flags
            .iter()
            .filter(move |(flag, _)| names.contains(flag))
            .filter_map(|(_, value)| *value)
    }
}

/// Number of lines that `head`/`tail` show: `-n 5`, `-n5`, `-5`, `--lines=5`; text such as `+3`
/// or `-3` stays as it is. `None` for bytes or what is no number.
#[must_use]
pub fn line_count(words: &[String]) -> Option<String> {
    let mut count = Some("10".to_owned());
    let mut at = words.iter().peekable();
    while let Some(word) = at.next() {
        let value = if word == "-n" || word == "--lines" {
            at.next().cloned()
        } else if let Some(value) = word.strip_prefix("--lines=") {
            Some(value.to_owned())
        } else if word == "-c" || word.starts_with("--bytes") || word.starts_with("-c") {
            return None;
        } else if let Some(rest) = word.strip_prefix('-') {
            let rest = rest.strip_prefix('n').unwrap_or(rest);
            rest.starts_with(|c: char| c.is_ascii_digit() || c == '+').then(|| rest.to_owned())
        } else {
            word.strip_prefix('+')
                .filter(|rest| rest.chars().all(|c| c.is_ascii_digit()) && !rest.is_empty())
                .map(|rest| format!("+{rest}"))
        };
        if let Some(value) = value {
            count = Some(value);
        }
    }
    count
}
