//! Seeded resampling: the generator behind every null and interval, and the bootstrap over groups.

/// Resamples of an interval.
pub const RESAMPLES: u32 = 1000;

/// A small seeded generator (splitmix64, Steele et al. 2014): what is resampled needs to be
/// repeatable, not unpredictable.
#[derive(Debug, Clone)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n` (the next 64 bits modulo `n`); 0 for `n` = 0.
    pub const fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }
}

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// 2.5th percentile.
    pub low: f64,
    /// 97.5th percentile.
    pub high: f64,
}

/// Percentile bootstrap over groups: the items are drawn with replacement 1,000 times, the statistic
/// is taken of each draw, and the 2.5th and 97.5th percentiles of the results are the interval.
/// Draws without a statistic are left out. `None` for fewer than two items: one group says nothing
/// about the spread over groups.
#[must_use]
pub fn interval<T>(
    items: &[T],
    seed: u64,
    statistic: impl Fn(&[&T]) -> Option<f64>,
) -> Option<Interval> {
    if items.len() < 2 {
        return None;
    }
    let mut random = SplitMix(seed);
    let mut draw: Vec<&T> = Vec::with_capacity(items.len());
    let mut found: Vec<f64> = Vec::with_capacity(RESAMPLES as usize);
    for _ in 0..RESAMPLES {
        draw.clear();
        for _ in 0..items.len() {
            draw.extend(items.get(random.below(items.len())));
        }
        found.extend(statistic(&draw).filter(|x| x.is_finite()));
    }
    found.sort_by(f64::total_cmp);
    Some(Interval { low: percentile(&found, 0.025)?, high: percentile(&found, 0.975)? })
}

/// A percentile of sorted numbers, linear between neighbours (Hyndman and Fan 1996, definition 7).
#[must_use]
#[allow(clippy::cast_sign_loss)] // a place in a list is not negative
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let at = share * (sorted.len().checked_sub(1)?) as f64;
    let below = *sorted.get(at.floor() as usize)?;
    let above = sorted.get(at.ceil() as usize).copied().unwrap_or(below);
    Some(if above == below { below } else { below + (at - at.floor()) * (above - below) })
}

/// Wilson's 95 % interval of a share of `k` in `n` (Wilson 1927); `None` for `n` = 0.
#[must_use]
pub fn wilson(k: u64, n: u64) -> Option<Interval> {
    const Z: f64 = 1.959_963_984_540_054;
    if n == 0 {
        return None;
    }
    let (n, p) = (n as f64, k as f64 / n as f64);
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_hand() {
        let numbers = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(percentile(&numbers, 0.0), Some(1.0));
        assert_eq!(percentile(&numbers, 0.5), Some(3.0));
        assert_eq!(percentile(&numbers, 1.0), Some(8.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn wilson_by_hand() {
        // The textbook case: 0 of 10 reaches up to z^2 / (n + z^2) = 3.8415 / 13.8415.
        let none = wilson(0, 10).unwrap();
        assert!(none.low.abs() < 1e-12 && (none.high - 0.277_532_8).abs() < 1e-6, "{none:?}");
        let half = wilson(5, 10).unwrap();
        assert!((half.low + half.high - 1.0).abs() < 1e-12);
        assert!((half.low - 0.236_593_1).abs() < 1e-6, "{half:?}");
    }

    #[test]
    fn the_interval_of_equal_items_is_a_point_and_one_item_has_none() {
        let mean = |d: &[&f64]| Some(d.iter().copied().sum::<f64>() / d.len() as f64);
        assert_eq!(interval(&[2.0, 2.0], 0, mean), Some(Interval { low: 2.0, high: 2.0 }));
        assert_eq!(interval(&[2.0], 0, mean), None);
    }
}
