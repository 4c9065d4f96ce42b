//! Files of one load that hold the same: a copied file or folder, whose rollouts count again.
//!
//! Nothing is left out for it: rollouts that are sampled anew can come out equal. What is known of each
//! file is in the load report; none is read again.

use std::collections::BTreeMap;

use super::report::FileReport;
use crate::rollout::{SourceId, plural};

/// Files that hold the same as another one.
#[derive(Debug, Default)]
pub struct Copies {
    /// Each file with the first one that holds the same, by place in the report.
    first: BTreeMap<usize, usize>,
    /// How many rollouts would not count without the copies.
    again: usize,
}

impl Copies {
    /// The copies among these files. Of rollouts without a step any two are equal, and copies that give no
    /// rollout were left out before.
    #[must_use]
    pub fn among(files: &[FileReport]) -> Self {
        let mut same: BTreeMap<(u64, &str, &str), Vec<usize>> = BTreeMap::new();
        for (at, file) in files.iter().enumerate() {
            if file.rollouts > 0 && file.steps > 0 {
                let key = (file.bytes, file.digest.as_str(), file.format.as_str());
                same.entry(key).or_default().push(at);
            }
        }
        let mut copies = Self::default();
        for same in same.into_values() {
            let Some((&first, rest)) = same.split_first() else { continue };
            copies.first.extend(rest.iter().map(|&at| (at, first)));
            let rollouts = |at: &usize| files.get(*at).map_or(0, |f| f.rollouts);
            let most = same.iter().map(rollouts).max().unwrap_or(0);
            copies.again += same.iter().map(rollouts).sum::<usize>() - most;
        }
        copies
    }

    /// Whether two files hold the same.
    #[must_use]
    pub fn are_same(&self, a: SourceId, b: SourceId) -> bool {
        let first = |id: SourceId| {
            let at = id.0 as usize;
            self.first.get(&at).copied().unwrap_or(at)
        };
        first(a) == first(b)
    }

    /// Says of each copy what it is one of.
    pub fn mark(&self, files: &mut [FileReport]) {
        for (&at, &first) in &self.first {
            let Some(name) = files.get(first).map(|f| f.name.clone()) else { continue };
            if let Some(file) = files.get_mut(at) {
                file.problems.push(format!("holds the same as `{name}`"));
            }
        }
    }

    /// The copies and how many rollouts count again, in words.
    #[must_use]
    pub fn told(&self, files: &[FileReport]) -> Option<String> {
        let name = |at: &usize| files.get(*at).map_or("", |f| f.name.as_str());
        let pair = |(at, first)| format!("`{}` as `{}`", name(at), name(first));
        let first: Vec<String> = self.first.iter().take(FEW).map(pair).collect();
        if first.is_empty() {
            return None;
        }
        let more = self.first.len() - first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!(
            "{} the same as another file: {}{more}; {} more than once",
            match self.first.len() {
                1 => "1 file holds".to_owned(),
                n => format!("{n} files hold"),
            },
            first.join(", "),
            match self.again {
                1 => "1 rollout counts".to_owned(),
                n => format!("{} count", plural(n, "rollout")),
            },
        ))
    }
}

/// So many pairs are named.
const FEW: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, digest: &str, rollouts: usize) -> FileReport {
        FileReport {
            name: name.to_owned(),
            digest: digest.to_owned(),
            rollouts,
            steps: rollouts,
            ..FileReport::default()
        }
    }

    #[test]
    fn copies_count_what_would_be_gone_without_them() {
        let mut files = vec![
            file("a", "x", 2),
            file("b", "y", 1),
            file("c", "x", 2),
            file("d", "x", 1),
            // Left out as a copy, and without a step.
            file("e", "y", 0),
            FileReport { steps: 0, ..file("f", "y", 1) },
            FileReport { bytes: 9, ..file("g", "y", 1) },
        ];
        let copies = Copies::among(&files);
        assert_eq!(
            copies.told(&files).unwrap(),
            "2 files hold the same as another file: `c` as `a`, `d` as `a`; 3 rollouts count more than once"
        );
        assert!(
            copies.are_same(SourceId(2), SourceId(3)) && !copies.are_same(SourceId(0), SourceId(1))
        );
        copies.mark(&mut files);
        assert_eq!(files[2].problems, ["holds the same as `a`"]);
        assert!(files[0].problems.is_empty() && files[6].problems.is_empty());
        assert_eq!(Copies::among(&files[..2]).told(&files), None);
    }
}
