//! Numbers that are equal, written alike: ids that stand in a file as `2` and as `2.0` are one id.
//!
//! Digits are moved, nothing is calculated, so that no digit is lost however long a number is.

use std::borrow::Cow;

/// Numbers with more digits than this on one side of the point keep their exponent.
const LONGEST: usize = 64;

/// The shortest way to write a JSON number without an exponent: `2.0` is `2`, `1e3` is `1000`, `2.50` is
/// `2.5`. What is no number, or would be very long, stays what it is (`true`, `1e400`).
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    let whole = text.strip_prefix('-').unwrap_or(text);
    if whole.bytes().all(|b| b.is_ascii_digit()) && text != "-0" {
        return Cow::Borrowed(text);
    }
    expanded(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn expanded(text: &str) -> Option<String> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if before.is_empty() || !before.bytes().chain(after.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let all = format!("{before}{after}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // Where the point stands within `digits`: behind them or before them counts zeros.
    let point = i64::try_from(before.len()).ok()? - i64::try_from(all.len() - digits.len()).ok()?
        + i64::from(exponent);
    let digits = digits.trim_end_matches('0');
    if usize::try_from(point.unsigned_abs()).ok()? > LONGEST.max(all.len()) {
        return None;
    }
    let number = match usize::try_from(point) {
        Ok(point) if point >= digits.len() => {
            format!("{digits}{}", "0".repeat(point - digits.len()))
        }
        Ok(0) => format!("0.{digits}"),
        Ok(point) => format!("{}.{}", digits.get(..point)?, digits.get(point..)?),
        Err(_) => {
            let zeros = usize::try_from(point.unsigned_abs()).ok()?;
            format!("0.{}{digits}", "0".repeat(zeros))
        }
    };
    Some(format!("{sign}{number}"))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn equal_numbers_are_written_alike() {
        for (given, wanted) in [
            ("2", "2"),
            ("2.0", "2"),
            ("2e0", "2"),
            ("20E-1", "2"),
            ("0.2e+1", "2"),
            ("1e3", "1000"),
            ("1.50e3", "1500"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("-2.0", "-2"),
            ("2.50", "2.5"),
            ("25e-1", "2.5"),
            ("0.5", "0.5"),
            ("5e-3", "0.005"),
            ("0.0050", "0.005"),
            ("9007199254740993", "9007199254740993"),
            ("9007199254740993.0", "9007199254740993"),
            ("9.007199254740993e15", "9007199254740993"),
            ("123456789012345678901234567890.0", "123456789012345678901234567890"),
        ] {
            assert_eq!(plain(given), wanted, "{given}");
        }
    }

    #[test]
    fn what_is_no_number_or_too_long_stays() {
        for same in ["true", "false", "1e400", "1e-400", "1e99999999999", "", "-", "e", "1.x"] {
            assert_eq!(plain(same), same);
        }
    }
}
