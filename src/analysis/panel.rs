//! Columns against each other over all groups: how often their signs agree, and how well they rank
//! the steps alike.

use super::Analysis;

/// The values of all steps, column by column; rows of the load in canonical order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Threshold of each column: that of its axis, Y's for columns on no axis.
    pub taus: Vec<f64>,
    /// Per column: a value, or none, per step.
    pub values: Vec<Vec<Option<f64>>>,
}

/// Two columns against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Steps where both have a value.
    pub steps: u64,
    /// Of them: steps where both are outside their thresholds (strict).
    pub outside: u64,
    /// Of those: steps of equal sign.
    pub agree: u64,
    /// Spearman's rank correlation over the steps where both have a value; ties get average ranks.
    /// `None` where one of the two is constant.
    pub spearman: Option<f64>,
}

impl Pair {
    /// Share of equal signs among the steps outside both thresholds; `None` where there is no such step.
    #[must_use]
    pub fn agreement(&self) -> Option<f64> {
        (self.outside > 0).then(|| self.agree as f64 / self.outside as f64)
    }
}

/// A column against another that stands for the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Against {
    /// Steps where both have a value.
    pub steps: u64,
    /// Mean of the differences, column minus truth.
    pub bias: Option<f64>,
    /// Root of the mean squared difference.
    pub rmse: Option<f64>,
    /// Steps where the truth is outside its threshold.
    pub outside: u64,
    /// Of them: steps where the column has the truth's sign; 0 has none.
    pub right: u64,
    /// Spearman's rank correlation.
    pub spearman: Option<f64>,
}

impl Panel {
    /// Adds the steps of a group. All groups have the same columns.
    pub fn add(&mut self, analysis: &Analysis) {
        if self.names.is_empty() {
            let settings = &analysis.settings;
            self.names = analysis.columns.iter().map(|(s, _)| s.name.clone()).collect();
            self.taus = self
                .names
                .iter()
                .map(|n| if *n == settings.x { settings.tau.0 } else { settings.tau.1 })
                .collect();
            self.values = vec![Vec::new(); self.names.len()];
        }
        for (list, (_, column)) in self.values.iter_mut().zip(&analysis.columns) {
            list.extend((0..analysis.group.len()).map(|step| column.get(step)));
        }
    }

    fn both(&self, a: usize, b: usize) -> (Vec<f64>, Vec<f64>) {
        match (self.values.get(a), self.values.get(b)) {
            (Some(x), Some(y)) => x.iter().zip(y).filter_map(|(x, y)| x.zip(*y)).unzip(),
            _ => (Vec::new(), Vec::new()),
        }
    }

    fn tau(&self, column: usize) -> f64 {
        self.taus.get(column).copied().unwrap_or(0.0)
    }

    /// Two columns, by position.
    #[must_use]
    pub fn pair(&self, a: usize, b: usize) -> Pair {
        let (x, y) = self.both(a, b);
        let (mut outside, mut agree) = (0, 0);
        for (x, y) in x.iter().zip(&y) {
            if x.abs() > self.tau(a) && y.abs() > self.tau(b) {
                outside += 1;
                agree += u64::from((*x > 0.0) == (*y > 0.0));
            }
        }
        Pair { steps: x.len() as u64, outside, agree, spearman: spearman(&x, &y) }
    }

    /// A column against the truth, both by position.
    #[must_use]
    pub fn against(&self, column: usize, truth: usize) -> Against {
        let (x, y) = self.both(column, truth);
        let differences: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
        let squares: Vec<f64> = differences.iter().map(|d| d * d).collect();
        let mean = crate::credit::stats::mean;
        let (mut outside, mut right) = (0, 0);
        for (x, y) in x.iter().zip(&y) {
            if y.abs() > self.tau(truth) {
                outside += 1;
                right += u64::from(x * y > 0.0);
            }
        }
        Against {
            steps: x.len() as u64,
            bias: mean(&differences),
            rmse: mean(&squares).map(f64::sqrt),
            outside,
            right,
            spearman: spearman(&x, &y),
        }
    }
}

/// Ranks from 1; ties get the mean of the ranks they span.
#[must_use]
pub fn ranks(numbers: &[f64]) -> Vec<f64> {
    let number = |at: u32| numbers.get(at as usize).copied().unwrap_or(f64::NAN);
    let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| number(a).total_cmp(&number(b)).then(a.cmp(&b)));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    // Both zeros are one number, and stand side by side.
    for tie in order.chunk_by(|&a, &b| number(a) == number(b)) {
        let rank = before as f64 + f64::midpoint(tie.len() as f64, 1.0);
        for &at in tie {
            if let Some(slot) = ranks.get_mut(at as usize) {
                *slot = rank;
            }
        }
        before += tie.len();
    }
    ranks
}

/// Spearman's rank correlation: Pearson's of the ranks. `None` for fewer than two numbers or a
/// constant side.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    correlation_of_ranks(&ranks(x), &ranks(y))
}

/// [`spearman`] of numbers whose ranks are there.
#[must_use]
pub fn correlation_of_ranks(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() < 2 || x.len() != y.len() {
        return None;
    }
    let middle = f64::midpoint(x.len() as f64, 1.0);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (a, b) = (x - middle, y - middle);
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks(&[]), [0.0; 0]);
    }

    #[test]
    fn spearman_by_hand() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15) = 0.6.
        let found = spearman(&[1.0, 2.0, 3.0, 4.0], &[2.0, 1.0, 4.0, 3.0]).unwrap();
        assert!((found - 0.6).abs() < 1e-12);
        // Ranks 1.5 1.5 3 against 1 2 3: 1.5 / sqrt(1.5 * 2).
        let tied = spearman(&[0.0, -0.0, 5.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((tied - 1.5 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn against_the_truth_by_hand() {
        let panel = Panel {
            names: vec!["a".into(), "t".into()],
            taus: vec![0.01, 0.01],
            values: vec![
                vec![Some(1.0), Some(-1.0), Some(0.0), None],
                vec![Some(0.5), Some(0.5), Some(-0.5), Some(1.0)],
            ],
        };
        let found = panel.against(0, 1);
        // Differences .5, -1.5, .5: mean -1/6, squares .25, 2.25, .25.
        assert!((found.bias.unwrap() + 1.0 / 6.0).abs() < 1e-12);
        assert!((found.rmse.unwrap() - (2.75_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((found.steps, found.outside, found.right), (3, 3, 1));
        let pair = panel.pair(0, 1);
        assert_eq!((pair.steps, pair.outside, pair.agree), (3, 2, 1));
    }
}
