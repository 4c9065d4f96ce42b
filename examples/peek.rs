use credscope::{analysis::*, load::*, profile::Profiles};
use std::sync::Arc;
fn main() {
    let mut settings = AnalysisSettings::default();
    let mut paths = vec![];
    for a in std::env::args().skip(1) {
        if let Some(x) = a.strip_prefix("--abs=") {
            settings.abstraction = credscope::signature::Abstraction::find(x);
        } else if a == "--nostep" {
            settings.credit.step_reward = credscope::credit::StepRewardMode::None;
        } else {
            paths.push(a.into());
        }
    }
    let loaded = load(&paths, &LoadOptions::default(), &Arc::new(Profiles::builtin())).unwrap();
    for g in &loaded.corpus.groups {
        let a = Analysis::new(g.clone(), &settings);
        let r = a.group_row(true);
        println!(
            "== {:?} {} ({}) profile {}\n  rollouts {} outcomes {:?} steps {} states {} pairs {} shared {} ev {:?} branch {} tally {:?} skill {:?} repeats {:?}",
            g.key,
            a.abstraction.id(),
            a.abstraction_reason,
            g.profile,
            r.rollouts,
            r.outcomes,
            r.steps,
            r.states,
            r.pairs,
            r.shared_steps,
            r.evidence,
            r.branching,
            r.tally,
            r.skill,
            a.repeat_counts()
        );
        for w in &a.warnings {
            println!("  ! {} {}", w.code, w.text);
        }
        if std::env::var("ROWS").is_ok() {
            for row in &a.paths.rows {
                let s = a.step_row(row.first_step);
                println!(
                    "  {}{} n={} ✓{} N {}/{} Q {:.3} V' {:.3} A {:?} stp {} br {} els {} rev {}",
                    "  ".repeat(row.depth as usize),
                    a.action_label(row.first_step),
                    row.members.len(),
                    row.members.iter().filter(|&&i| a.basis.success[i as usize]).count(),
                    s.n_sa,
                    s.n_s,
                    s.q.unwrap_or(f64::NAN),
                    s.v_smooth.unwrap_or(f64::NAN),
                    s.values.last(),
                    row.steps,
                    row.branching,
                    row.elsewhere,
                    row.revisits
                );
            }
        }
        if std::env::var("STEPS").is_ok() {
            for i in 0..g.len() {
                let s = a.step_row(i);
                println!(
                    "  {}:{} {} | {} | {:?}",
                    g.rollouts[s.rollout].id,
                    s.step,
                    a.action_label(i),
                    a.state_label(i),
                    s.values
                );
            }
        }
    }
}
