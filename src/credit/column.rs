//! What an estimator gives: a value for each step, or the reason why there is none.

/// Why a column has no value.
pub type Missing = &'static str;

/// Why there is no value where the numbers are too large or too close together for f64.
const OUT_OF_RANGE: Missing = "numbers out of range";

/// The values of a column, one per step of the group.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// A finite value; NaN where there is none.
    values: Vec<f64>,
    /// Why there is none: neighbours often have one reason, since it is their rollout's.
    gaps: Vec<Gap>,
    /// The convention that was used, for headers: `ddof 1, eps 1e-6`.
    pub convention: String,
}

/// Steps one after the other that have no value for the same reason.
#[derive(Debug, Clone, Copy)]
struct Gap {
    start: u32,
    end: u32,
    reason: Missing,
}

impl Column {
    /// A column without steps.
    pub const EMPTY: Self =
        Self { values: Vec::new(), gaps: Vec::new(), convention: String::new() };

    /// A column of these values. What is not finite is none.
    #[must_use]
    pub fn new(
        cells: impl ExactSizeIterator<Item = Result<f64, Missing>>,
        convention: String,
    ) -> Self {
        let mut column =
            Self { values: Vec::with_capacity(cells.len()), convention, ..Self::EMPTY };
        for cell in cells {
            let step = column.values.len() as u32;
            match cell.and_then(|x| if x.is_finite() { Ok(x) } else { Err(OUT_OF_RANGE) }) {
                Ok(value) => column.values.push(value),
                Err(reason) => {
                    column.values.push(f64::NAN);
                    match column.gaps.last_mut().filter(|g| g.end == step && g.reason == reason) {
                        Some(gap) => gap.end += 1,
                        None => column.gaps.push(Gap { start: step, end: step + 1, reason }),
                    }
                }
            }
        }
        column.gaps.shrink_to_fit();
        column
    }

    /// The value of a step.
    #[must_use]
    pub fn get(&self, step: usize) -> Option<f64> {
        self.values.get(step).copied().filter(|x| !x.is_nan())
    }

    /// Why a step has no value.
    #[must_use]
    pub fn reason(&self, step: usize) -> Option<Missing> {
        let after = self.gaps.partition_point(|g| g.start as usize <= step);
        let gap = self.gaps.get(after.checked_sub(1)?)?;
        (step < gap.end as usize).then_some(gap.reason)
    }

    /// The value of a step, or the reason why there is none; nothing for a step of another group.
    #[must_use]
    pub fn cell(&self, step: usize) -> Option<Result<f64, Missing>> {
        let value = self.get(step).map(Ok);
        value.or_else(|| self.reason(step).map(Err))
    }

    /// The cells of all steps, in order.
    pub fn cells(&self) -> impl Iterator<Item = Result<f64, Missing>> + '_ {
        (0..self.values.len()).filter_map(|step| self.cell(step))
    }

    /// The values of those steps that have one, in order.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().copied().filter(|x| !x.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_reasons_come_back_and_neighbours_share_a_reason() {
        let cells = [Err("a"), Ok(1.5), Err("a"), Err("a"), Err("b"), Ok(-0.0), Ok(f64::INFINITY)];
        let column = Column::new(cells.into_iter(), "c".to_owned());
        let mut expected = cells.to_vec();
        expected[6] = Err(OUT_OF_RANGE);
        assert_eq!(column.cells().collect::<Vec<_>>(), expected);
        assert_eq!(
            column.values().map(f64::to_bits).collect::<Vec<_>>(),
            [1.5_f64, -0.0].map(f64::to_bits)
        );
        let gaps: Vec<_> = column.gaps.iter().map(|g| (g.start, g.end)).collect();
        assert_eq!(gaps, [(0, 1), (2, 4), (4, 5), (6, 7)]);
        assert_eq!((column.cell(7), column.reason(1), column.get(0)), (None, None, None));
        assert_eq!((column.reason(3), column.reason(4)), (Some("a"), Some("b")));
    }
}
