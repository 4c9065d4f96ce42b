//! Numbers as the screen writes them: U+2212 for minus, never a negative zero, fixed decimals.
//!
//! Formatting only; no number is computed here.

/// The minus sign of the screen.
pub const MINUS: char = '\u{2212}';

/// A number with its sign: `+0.307`, `−0.725`, `0.000` where it rounds to nothing.
#[must_use]
pub fn signed(x: f64, decimals: usize) -> String {
    let digits = format!("{:.*}", decimals, x.abs());
    if !x.is_finite() {
        "n/a".to_owned()
    } else if rounds_to_zero(&digits) {
        digits
    } else if x > 0.0 {
        format!("+{digits}")
    } else {
        format!("{MINUS}{digits}")
    }
}

/// A number without a plus sign: `0.822`, `−0.050`.
#[must_use]
pub fn plain(x: f64, decimals: usize) -> String {
    let text = signed(x, decimals);
    text.strip_prefix('+').map(str::to_owned).unwrap_or(text)
}

/// A number without its leading zero: `.50`, `1.00`.
#[must_use]
pub fn brief(x: f64, decimals: usize) -> String {
    let text = plain(x, decimals);
    text.strip_prefix("0.").map(|rest| format!(".{rest}")).unwrap_or(text)
}

/// A number with its sign and without its leading zero: `+.14`, `−.02`, `.00`.
#[must_use]
pub fn signed_brief(x: f64) -> String {
    let text = signed(x, 2);
    match text.strip_prefix(['+', MINUS]).and_then(|rest| rest.strip_prefix("0.")) {
        Some(rest) => format!("{}.{rest}", text.chars().next().unwrap_or('+')),
        None => text.strip_prefix("0.").map_or(text.clone(), |rest| format!(".{rest}")),
    }
}

/// A setting as it was given: `.99`, `2`.
#[must_use]
pub fn setting(x: f64) -> String {
    let text = x.to_string().replace('-', &MINUS.to_string());
    text.strip_prefix("0.").map(|rest| format!(".{rest}")).unwrap_or(text)
}

/// A count; a dot for none.
#[must_use]
pub fn count(n: u64) -> String {
    if n == 0 { "·".to_owned() } else { n.to_string() }
}

/// A whole percent; empty when there is nothing to divide by.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.0}%", 100.0 * part as f64 / whole as f64) }
}

/// An amount of text: `738 B`, `12.4 kB`.
#[must_use]
pub fn bytes(n: usize) -> String {
    if n < 1000 {
        format!("{n} B")
    } else if n < 1_000_000 {
        format!("{:.1} kB", n as f64 / 1e3)
    } else {
        format!("{:.1} MB", n as f64 / 1e6)
    }
}

/// The sign alone: `+`, `−`, or `·` inside the threshold, `?` without a value.
#[must_use]
pub fn sign(value: Option<f64>, tau: f64) -> char {
    match value {
        None => '?',
        Some(x) if x.abs() <= tau => '·',
        Some(x) if x > 0.0 => '+',
        Some(_) => MINUS,
    }
}

/// How many digits a count takes.
#[must_use]
pub fn digits(n: u64) -> usize {
    n.to_string().len()
}

fn rounds_to_zero(digits: &str) -> bool {
    digits.chars().all(|c| matches!(c, '0' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_negative_zero_and_a_real_minus() {
        assert_eq!(signed(-0.0001, 3), "0.000");
        assert_eq!(signed(-0.725, 3), "−0.725");
        assert_eq!(signed(0.307, 3), "+0.307");
        assert_eq!(plain(0.01, 3), "0.010");
        assert_eq!(brief(0.5, 2), ".50");
        assert_eq!(setting(0.99), ".99");
        assert_eq!(setting(2.0), "2");
        assert_eq!(percent(2, 13), "15%");
        assert_eq!(bytes(12_400), "12.4 kB");
        assert_eq!(sign(Some(0.01), 0.01), '·');
    }
}
