//! Which files of a load are damaged, and what to do about each.

use super::report::{LoadReport, VerdictKind};

/// A file that is damaged or cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage<'r> {
    /// Its name.
    pub name: &'r str,
    /// What is wrong with it.
    pub reason: &'r str,
    /// What to do.
    pub hint: Option<&'r str>,
}

impl LoadReport {
    /// Files and members that are damaged or cut, whether something of them was read or not.
    #[must_use]
    pub fn damaged(&self) -> Vec<Damage<'_>> {
        let read = self.files.iter().filter(|f| f.damaged).map(|f| Damage {
            name: &f.name,
            // What is wrong with the file as such comes before what was found in it.
            reason: f.problems.iter().find(|p| !p.ends_with(" skipped")).map_or("", String::as_str),
            hint: Some("pack or download it again"),
        });
        let rest = self.not_rollouts.iter().filter(|f| f.kind == VerdictKind::Damaged);
        let rest =
            rest.map(|f| Damage { name: &f.name, reason: &f.reason, hint: f.hint.as_deref() });
        read.chain(rest).collect()
    }
}
