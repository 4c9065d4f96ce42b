//! Means and deviations as the contract wants them: two passes, sums from left to right in the
//! given order, and exactly 0 after centring when all numbers are equal.

/// The sum from left to right, starting with the first number; 0 for none.
#[must_use]
pub fn sum(numbers: &[f64]) -> f64 {
    numbers.iter().copied().reduce(|acc, x| acc + x).unwrap_or(0.0)
}

/// Whether all numbers are the same: then every deviation is exactly 0.
#[must_use]
pub fn uniform(numbers: &[f64]) -> bool {
    numbers.windows(2).all(|pair| matches!(pair, [a, b] if a == b))
}

/// The mean; for equal numbers that number itself, never a rounding residue. `None` for no numbers.
#[must_use]
pub fn mean(numbers: &[f64]) -> Option<f64> {
    let first = *numbers.first()?;
    if uniform(numbers) { Some(first) } else { Some(sum(numbers) / numbers.len() as f64) }
}

/// The two-pass variance with `ddof` taken off the count; exactly 0 for equal numbers.
#[must_use]
pub fn variance(numbers: &[f64], mean: f64, ddof: u32) -> f64 {
    if uniform(numbers) {
        return 0.0;
    }
    let squares: Vec<f64> = numbers.iter().map(|x| (x - mean) * (x - mean)).collect();
    sum(&squares) / (numbers.len() as f64 - f64::from(ddof))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_no_residue() {
        // 0.7 summed eleven times and divided by 11 is 0.7000000000000001 in f64.
        let numbers = [0.7; 11];
        assert_eq!(mean(&numbers), Some(0.7));
        assert_eq!(variance(&numbers, 0.7, 1), 0.0);
    }

    #[test]
    fn variance_by_hand() {
        // Deviations of 1 2 3 6 from 3: -2 -1 0 3; squares 4 1 0 9.
        assert_eq!(variance(&[1.0, 2.0, 3.0, 6.0], 3.0, 0), 3.5);
        assert_eq!(variance(&[1.0, 2.0, 3.0, 6.0], 3.0, 1), 14.0 / 3.0);
    }
}
