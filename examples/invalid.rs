use credscope::{analysis::*, load::*, profile::Profiles};
use std::sync::Arc;
fn main() {
    let settings = AnalysisSettings::default();
    let paths: Vec<std::path::PathBuf> = std::env::args().skip(1).map(Into::into).collect();
    let loaded = load(&paths, &LoadOptions::default(), &Arc::new(Profiles::builtin())).unwrap();
    for g in &loaded.corpus.groups {
        let a = Analysis::new(g.clone(), &settings);
        for i in 0..g.len() {
            let s = a.step_row(i);
            if !s.valid {
                let t = loaded.sources.step_text(g, s.rollout, s.step).unwrap();
                println!(
                    "{}:{} {} flags {:b} | {} | {}",
                    g.rollouts[s.rollout].id,
                    s.step,
                    a.action_label(i),
                    g.steps.facts.steps[i].action.flags.0,
                    t.args_text.chars().take(200).collect::<String>().replace('\n', " "),
                    t.observation
                        .unwrap_or_default()
                        .chars()
                        .take(200)
                        .collect::<String>()
                        .replace('\n', " ")
                );
            }
        }
    }
}
