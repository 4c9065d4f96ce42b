//! Who passed each state, and how mixed their outcomes are. The one place that counts this; what it
//! means for a signature is told elsewhere.

use super::Analysis;

impl Analysis {
    /// Impurity of each state, 1 - |2p - 1| over the outcomes of its scored rollouts; `None` where
    /// fewer than two passed.
    #[must_use]
    pub fn impurities(&self) -> Vec<Option<f64>> {
        self.purity()
            .into_iter()
            .map(|(k, n)| (n >= 2).then(|| 1.0 - (2.0 * (k as f64 / n as f64) - 1.0).abs()))
            .collect()
    }

    /// Per state: how many of its scored rollouts succeeded, and how many there are.
    #[must_use]
    pub fn purity(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0, 0); self.graph.state_counts.len()];
        for i in self.basis.scored_rollouts() {
            let success = self.basis.success.get(i) == Some(&true);
            let steps = self.group.rollouts.get(i).map_or(0..0, |r| r.steps.clone());
            for step in steps.filter(|&s| self.graph.revisit.get(s) == Some(&false)) {
                if let Some((k, n)) = counts.get_mut(self.graph.state_of(step) as usize) {
                    *n += 1;
                    *k += u64::from(success);
                }
            }
        }
        counts
    }
}
