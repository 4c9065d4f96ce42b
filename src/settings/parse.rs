//! Small parsers of setting values. Each says what it expected; none knows where a value came from.

/// A finite number in a closed range.
pub(super) fn number(text: &str, low: f64, high: f64) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x >= low && x <= high => Ok(x),
        _ => Err(match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("expected a number from {low} to {high}"),
            (true, false) => format!("expected a number from {low}"),
            _ => "expected a number".to_owned(),
        }),
    }
}

/// A whole number of at least `low`.
pub(super) fn count(text: &str, low: u64) -> Result<u64, String> {
    match text.trim().parse::<u64>() {
        Ok(n) if n >= low => Ok(n),
        _ => Err(format!("expected a whole number from {low}")),
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| *name == text.trim()).map(|(_, value)| *value).ok_or_else(
        || {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            format!("expected {}", names.join(", "))
        },
    )
}

/// A switch.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.trim() {
        "true" | "on" | "yes" | "1" => Ok(true),
        "false" | "off" | "no" | "0" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// A text that is not empty.
pub(super) fn text(value: &str) -> Result<String, String> {
    if value.trim().is_empty() {
        Err("expected a text that is not empty".to_owned())
    } else {
        Ok(value.to_owned())
    }
}

/// Names between commas.
pub(super) fn list(value: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = value.split(',').map(|n| n.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        Err("expected names between commas".to_owned())
    } else {
        Ok(names)
    }
}

/// `NAME`, or `NAME=WEIGHT` between commas.
pub(super) fn weights(value: &str) -> Result<Vec<(String, f64)>, String> {
    list(value)?
        .into_iter()
        .map(|part| match part.rsplit_once('=') {
            None => Ok((part, 1.0)),
            Some((name, weight)) if !name.is_empty() => {
                let weight = number(weight, f64::NEG_INFINITY, f64::INFINITY)
                    .map_err(|_| "expected NAME or NAME=WEIGHT,… with numbers".to_owned())?;
                Ok((name.to_owned(), weight))
            }
            Some(_) => Err("expected NAME or NAME=WEIGHT,…".to_owned()),
        })
        .collect()
}

/// `COLUMN.PARAM=VALUE`; the column's name may hold dots.
pub(super) fn param(value: &str) -> Result<(String, String, String), String> {
    let wrong = || "expected COLUMN.PARAM=VALUE, as in grpo.ddof=0".to_owned();
    let (left, given) = value.split_once('=').ok_or_else(wrong)?;
    let (column, name) = left.rsplit_once('.').ok_or_else(wrong)?;
    if column.is_empty() || name.is_empty() || given.is_empty() {
        return Err(wrong());
    }
    Ok((column.to_owned(), name.to_owned(), given.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ranges_and_are_finite() {
        assert_eq!(number(".99", 0.0, 1.0), Ok(0.99));
        assert!(number("1.5", 0.0, 1.0).is_err());
        assert!(number("nan", 0.0, f64::INFINITY).is_err());
        assert!(number("inf", 0.0, f64::INFINITY).is_err());
    }

    #[test]
    fn weights_and_params() {
        assert_eq!(
            weights("tests=0.7,style=.3"),
            Ok(vec![("tests".into(), 0.7), ("style".into(), 0.3)])
        );
        assert_eq!(weights("tests"), Ok(vec![("tests".into(), 1.0)]));
        assert!(weights("tests=x").is_err() && weights("=1").is_err());
        assert_eq!(param("grpo.eps-at=var"), Ok(("grpo".into(), "eps-at".into(), "var".into())));
        assert!(param("grpo=1").is_err() && param("grpo.ddof").is_err());
    }
}
