//! Dense linear systems, for state values of small components.

/// Solves `A x = b` by Gaussian elimination with partial pivoting.
///
/// `matrix` holds n rows of n + 1 numbers: a row of A and its entry of b. A singular system gives
/// numbers that are not finite.
#[must_use]
pub fn solve(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let n = matrix.len();
    let at = |line: &[f64], j: usize| line.get(j).copied().unwrap_or(f64::NAN);
    for col in 0..n {
        let size = |r: &Vec<f64>| at(r, col).abs();
        let best = (col..n).max_by(|&a, &b| {
            let (a, b) = (matrix.get(a).map_or(0.0, size), matrix.get(b).map_or(0.0, size));
            a.total_cmp(&b)
        });
        if let Some(best) = best {
            matrix.swap(col, best);
        }
        let (above, below) = matrix.split_at_mut(col + 1);
        let Some(pivot) = above.last() else { break };
        let head = at(pivot, col);
        for line in below {
            let factor = at(line, col) / head;
            if factor != 0.0 {
                let (left, above) = (line.get_mut(col..), pivot.get(col..));
                for (x, p) in left.unwrap_or_default().iter_mut().zip(above.unwrap_or_default()) {
                    *x -= factor * p;
                }
            }
        }
    }
    let mut solution = vec![0.0; n];
    for i in (0..n).rev() {
        let Some(line) = matrix.get(i) else { continue };
        let known: f64 = line.iter().zip(&solution).skip(i + 1).map(|(a, x)| a * x).sum();
        if let Some(slot) = solution.get_mut(i) {
            *slot = (at(line, n) - known) / at(line, i);
        }
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_needs_a_swap() {
        // 2y + z = 7, x + y = 3, x + z = 4 has x 1, y 2, z 3.
        let matrix =
            vec![vec![0.0, 2.0, 1.0, 7.0], vec![1.0, 1.0, 0.0, 3.0], vec![1.0, 0.0, 1.0, 4.0]];
        assert_eq!(solve(matrix), [1.0, 2.0, 3.0]);
        assert!(solve(vec![vec![0.0, 1.0]]).iter().all(|x| !x.is_finite()));
    }
}
