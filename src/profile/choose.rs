//! The automatic choice of a profile: by format, harness, and how many calls it knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Profile, Profiles};

/// How often each tool is called in a rollout.
#[derive(Debug, Clone, Default)]
pub struct CallCounts {
    by_tool: BTreeMap<String, u32>,
    total: u32,
    /// Turns of text without a call.
    pub texts: u32,
}

impl CallCounts {
    /// Counts one call.
    pub fn count(&mut self, tool: &str) {
        match self.by_tool.get_mut(tool) {
            Some(n) => *n += 1,
            None => {
                self.by_tool.insert(tool.to_owned(), 1);
            }
        }
        self.total += 1;
    }

    /// Share of the calls whose tool the profile lists, in thousandths; 0 without calls.
    #[must_use]
    pub fn coverage(&self, profile: &Profile) -> u32 {
        let known: u32 = self
            .by_tool
            .iter()
            .filter(|(tool, _)| profile.tools.contains_key(*tool))
            .map(|(_, n)| n)
            .sum();
        (1000 * known).checked_div(self.total).unwrap_or(0)
    }
}

/// The profile that includes the common names of all others.
const GENERIC: &str = "generic";

impl Profiles {
    /// The profile that fits best. A hint (harness, format, a tool that only one framework has)
    /// decides among the profiles that know at least half of the calls; without a hint the one
    /// that knows most calls, the generic one first. `None` only when no profile is known at all.
    #[must_use]
    pub fn choose(
        &self,
        format: &str,
        harness: Option<&str>,
        calls: &CallCounts,
    ) -> Option<&Arc<Profile>> {
        let harness = squeeze(harness.unwrap_or_default());
        let mut best: Option<(Rank, &Arc<Profile>)> = None;
        for profile in self.iter().filter(|p| !p.only_included) {
            let rank = rank(profile, format, &harness, calls);
            if best.is_none_or(|(b, _)| rank > b) {
                best = Some((rank, profile));
            }
        }
        best.map(|(_, profile)| profile)
    }
}

/// Knows half of the calls; strength of the hints; share of the calls, in thousandths; generic.
type Rank = (bool, usize, u32, bool);

fn rank(profile: &Profile, format: &str, harness: &str, calls: &CallCounts) -> Rank {
    let coverage = calls.coverage(profile);
    // A longer part of the harness name is the better hint: `minisweagent` holds `sweagent`.
    let named = profile
        .harness
        .iter()
        .filter(|part| !harness.is_empty() && harness.contains(part.as_str()))
        .map(|part| 10 * part.len())
        .max()
        .unwrap_or(0);
    let format = 5 * usize::from(profile.formats.iter().any(|f| f == format));
    let marked = usize::from(profile.marks.iter().any(|m| calls.by_tool.contains_key(m)));
    let silent = usize::from(profile.when_no_calls && calls.total == 0 && calls.texts > 0);
    let covers = calls.total == 0 || coverage >= 500;
    (covers, named + format + marked + silent, coverage, profile.name == GENERIC)
}

/// Letters and digits only, lower case, so that `claude-code` and `claude_code` are one.
fn squeeze(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn chosen(format: &str, harness: Option<&str>, tools: &[&str]) -> String {
        let mut calls = CallCounts::default();
        for tool in tools {
            calls.count(tool);
        }
        Profiles::builtin().choose(format, harness, &calls).unwrap().name.clone()
    }

    #[test]
    fn harness_format_and_tools_decide() {
        let rows: [(&str, Option<&str>, &[&str], &str); 14] = [
            ("nemo-gym", Some("anyswe_hermes"), &["terminal", "read_file", "patch"], "hermes"),
            ("nemo-gym", Some("anyswe_opencode"), &["glob", "read", "edit", "bash"], "opencode"),
            ("nemo-gym", Some("anyswe_claude_code"), &["Read", "Edit"], "claude-code"),
            ("nemo-gym", Some("mini_swe_agent_2"), &["bash"], "mini-swe-agent"),
            ("nemo-gym", None, &["email_delete_email"], "generic"),
            ("nemo-gym", Some("blackjack_gymnasium_agent"), &[], "text"),
            ("r2e-gym", None, &["file_editor", "execute_bash", "finish"], "r2e-gym"),
            ("swe-agent", None, &["bash"], "swe-agent"),
            ("tau-bench", None, &["get_user_details", "think"], "tau"),
            ("tau-bench", None, &[], "tau"),
            ("verifiers", None, &["get_user_details", "calculate"], "tau"),
            ("native", None, &["str_replace_editor", "finish"], "generic"),
            ("native", None, &["view", "finish"], "generic"),
            ("messages", None, &["Read", "Bash"], "claude-code"),
        ];
        for (format, harness, tools, expected) in rows {
            assert_eq!(chosen(format, harness, tools), expected, "{format} {harness:?} {tools:?}");
        }
    }
}
