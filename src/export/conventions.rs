//! What columns were computed with, in one line for people: data forms have all of it in their stamp.

use std::fmt::Write as _;

use crate::analysis::AnalysisSettings;
use crate::credit::{ColumnSpec, CreditSettings};

/// The numbers among the parameters of these columns, and words that are not the usual ones; what they
/// take from the shared settings comes last.
#[must_use]
pub fn line(settings: &AnalysisSettings, names: &[&str]) -> String {
    let mut parts = Vec::new();
    for name in names {
        let Some(spec) = settings.columns.iter().find(|c| c.name == *name) else { continue };
        let usual =
            ColumnSpec { params: crate::credit::Params::default(), ..spec.clone() }.resolved();
        let own: Vec<String> = spec
            .resolved()
            .into_iter()
            .filter(|(_, value)| value != "inherit")
            .filter(|pair| pair.1.parse::<f64>().is_ok() || !usual.contains(pair))
            .map(|(param, value)| format!("{param} {value}"))
            .collect();
        parts.push(if own.is_empty() {
            (*name).to_owned()
        } else {
            format!("{name} ({})", own.join(", "))
        });
    }
    let (credit, usual) = (&settings.credit, CreditSettings::default());
    let mut line = format!("Columns: {}", parts.join("; "));
    let _ = write!(line, "; gamma {}", credit.gamma);
    if credit.discount_per != usual.discount_per {
        let _ = write!(line, " per {}", credit.discount_per.unit());
    }
    let _ = write!(line, ", n-prior {}", credit.n_prior);
    for (name, value, usual) in [
        ("prior", credit.prior.name(), usual.prior.name()),
        ("visit", credit.visit.name(), usual.visit.name()),
        ("step reward", credit.step_reward.name(), usual.step_reward.name()),
    ] {
        if value != usual {
            let _ = write!(line, ", {name} {value}");
        }
    }
    line
}
