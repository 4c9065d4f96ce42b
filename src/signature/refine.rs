//! The declared partial order of granularities: where going from one to the other can only merge.

use super::granularity::{EditIdentity, Granularity, TargetScope, TestTrace, ViewBucket};

impl Granularity {
    /// Whether every knob of this one is as fine as the other's in a nested way: then states and
    /// actions of the other are functions of this one's, and N(s,a) and sharing never fall when going
    /// from this one to the other. A declared partial order: values that are only listed from coarse
    /// to fine, but are not nested (`last-result` and `counts`, say), are not ordered.
    #[must_use]
    pub fn refines(&self, coarse: &Self) -> bool {
        let view = match (self.view_bucket, coarse.view_bucket) {
            (a, b) if a == b => true,
            (_, ViewBucket::Off)
            | (ViewBucket::Lines, _)
            | (ViewBucket::Width(_), ViewBucket::File) => true,
            (ViewBucket::Width(fine), ViewBucket::Width(wide)) => wide.is_multiple_of(fine.max(1)),
            _ => false,
        };
        let edits = match (self.edit_identity, coarse.edit_identity) {
            (a, b) if a == b => a < EditIdentity::NewText || self.edit_hash >= coarse.edit_hash,
            // A short hash of old and new text does not tell the new text: never nested.
            (EditIdentity::OldNew, EditIdentity::NewText) => false,
            (a, b) => a > b,
        };
        let test = match (self.test, coarse.test) {
            (a, b) if a == b => true,
            (_, TestTrace::Off)
            | (TestTrace::LastResult, TestTrace::Seen)
            | (TestTrace::Counts, TestTrace::Capped) => true,
            _ => false,
        };
        let target = match (self.target, coarse.target) {
            (a, b) if a == b => true,
            (_, TargetScope::None) => {
                !coarse.tests_as_one || self.tests_as_one || self.whole_paths()
            }
            (TargetScope::Path, _) | (TargetScope::Basename, TargetScope::Extension) => true,
            _ => false,
        };
        // Which files are test files is known from whole paths only.
        let tests = self.tests_as_one == coarse.tests_as_one && self.target == coarse.target
            || !self.tests_as_one && self.whole_paths()
            || !self.tests_as_one && !coarse.tests_as_one;
        // A set forgets the order of a sequence that notes reverts.
        let order =
            self.sequence == coarse.sequence || self.sequence && !coarse.sequence && self.reverts;
        view && (self.view_extent || !coarse.view_extent)
            && edits
            && self.execute >= coarse.execute
            && test
            && self.think >= coarse.think
            && (self.failed || !coarse.failed)
            && (self.search || !coarse.search)
            && (self.reverts || !coarse.reverts)
            && (self.result || !coarse.result)
            && target
            && tests
            && order
            && (!self.mask || coarse.mask)
            && (self.history_text || !coarse.history_text)
            && (self.tools_multiset || !coarse.tools_multiset)
    }

    const fn whole_paths(&self) -> bool {
        matches!(self.target, TargetScope::Path)
    }
}
