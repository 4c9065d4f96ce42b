//! The values of each knob from coarse to fine, what each knob means, and one turn of it.

use super::granularity::{Granularity, KNOBS};

/// A knob as a person turns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// Name, as in `--knob NAME=VALUE`.
    pub knob: &'static str,
    /// Values from coarse to fine. A width in between is allowed, too; turning leaves it.
    pub values: &'static [&'static str],
    /// What it decides.
    pub meaning: &'static str,
}

const SWITCH: &[&str] = &["off", "on"];

const fn ladder(
    knob: &'static str,
    values: &'static [&'static str],
    meaning: &'static str,
) -> Ladder {
    Ladder { knob, values, meaning }
}

/// All knobs, in the order of [`KNOBS`].
pub const LADDERS: [Ladder; KNOBS.len()] = [
    ladder(
        "view-bucket",
        &["off", "file", "500", "100", "50", "10", "lines"],
        "which lines of a file were seen, in buckets of so many",
    ),
    ladder("view-extent", SWITCH, "whether a full view differs from a partial one"),
    ladder(
        "edit-identity",
        &["none", "file", "kind", "new-text", "old+new"],
        "what makes two edits of one file the same",
    ),
    ladder(
        "edit-hash",
        &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"],
        "digits of an edit's short hash",
    ),
    ladder(
        "execute",
        &["off", "program", "program+target", "+result", "command"],
        "how much of an execution the state remembers",
    ),
    ladder(
        "test",
        &["off", "seen", "last-result", "capped", "counts"],
        "how much of the tests the state remembers",
    ),
    ladder("think", &["off", "seen", "counts"], "how much of the thoughts the state remembers"),
    ladder("failed", SWITCH, "whether failed views, searches and edits leave a trace"),
    ladder("search", SWITCH, "whether searches leave a trace"),
    ladder("reverts", SWITCH, "whether a revert leaves a trace of its own"),
    ladder("result", SWITCH, "whether actions carry their result"),
    ladder(
        "target",
        &["none", "extension", "folder-1", "folder-2", "folder-3", "basename", "path"],
        "how much of a path names a target",
    ),
    ladder("test-files", &["one", "files"], "whether all test files count as one"),
    ladder("order", &["set", "sequence"], "whether the order of operations matters"),
    ladder("mask", &["on", "off"], "observation: whether times, pids and paths are masked"),
    ladder("history-text", SWITCH, "history: whether text turns count"),
    ladder("tools-multiset", SWITCH, "tools: whether repeated calls count"),
];

impl Ladder {
    /// The ladder of a knob.
    #[must_use]
    pub fn of(knob: &str) -> Option<&'static Self> {
        LADDERS.iter().find(|l| l.knob == knob)
    }

    /// The value `steps` finer (or coarser, where negative) than `value`; it stops at both ends. A
    /// width that is not on the list lies between its neighbours.
    #[must_use]
    pub fn turned(&self, value: &str, steps: isize) -> &'static str {
        let last = self.values.len().saturating_sub(1);
        let at = self.values.iter().position(|v| *v == value).map_or_else(
            || {
                // Wider is coarser: the first one that is narrower is the next finer one.
                let width: u32 = value.parse().unwrap_or(0);
                let finer = self
                    .values
                    .iter()
                    .position(|v| v.parse().is_ok_and(|w: u32| w < width))
                    .unwrap_or(last);
                if steps > 0 { finer.saturating_sub(1) } else { finer }
            },
            |at| at,
        );
        let to = at.saturating_add_signed(steps).min(last);
        self.values.get(to).copied().unwrap_or("")
    }
}

impl Granularity {
    /// The granularity with one knob turned so many values finer (coarser, where negative).
    #[must_use]
    pub fn turned(&self, knob: &str, steps: isize) -> Self {
        let mut next = self.clone();
        if let Some(ladder) = Ladder::of(knob) {
            // Every value of the ladder is one that the knob takes: see the tests.
            let _ = next.set(knob, ladder.turned(&self.get(knob), steps));
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladders_follow_the_table_of_knobs_and_every_value_fits() {
        for (ladder, (knob, _)) in LADDERS.iter().zip(KNOBS) {
            assert_eq!(ladder.knob, knob);
            for value in ladder.values {
                let mut g = Granularity::paper();
                g.set(knob, value).unwrap();
                assert_eq!(g.get(knob), *value);
            }
        }
    }

    #[test]
    fn turning_stops_at_both_ends_and_leaves_a_width_in_between() {
        let ladder = Ladder::of("view-bucket").unwrap();
        assert_eq!(ladder.turned("100", 1), "50");
        assert_eq!(ladder.turned("off", -1), "off");
        assert_eq!(ladder.turned("lines", 3), "lines");
        assert_eq!(ladder.turned("75", 1), "50");
        assert_eq!(ladder.turned("75", -1), "100");
        let coarse = Granularity::paper().turned("view-bucket", -2);
        assert_eq!(coarse.get("view-bucket"), "file");
    }

    #[test]
    fn turning_where_values_are_nested_refines() {
        for knob in ["view-extent", "execute", "think", "failed", "search", "result"] {
            let mut coarse = Granularity::paper();
            let ladder = Ladder::of(knob).unwrap();
            coarse.set(knob, ladder.values[0]).unwrap();
            for _ in 1..ladder.values.len() {
                let fine = coarse.turned(knob, 1);
                assert!(fine.refines(&coarse), "{knob}");
                coarse = fine;
            }
        }
    }
}
