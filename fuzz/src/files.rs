//! What needs a file: containers, tables beside rollouts, whole loads. Files lie in memory where the
//! system has such a folder.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use credscope::analysis::Analysis;
use credscope::export::native;
use credscope::load::{LoadError, LoadOptions, Loaded, load};
use credscope::rollout::raw::RawRollout;
use credscope::rollout::{Group, Rollout};
use credscope::settings::{Given, Origin, Settings};

use super::records::profiles;

/// A larger group is not analysed: columns of many steps are slow, and say nothing new.
const STEPS: usize = 120;

fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

fn options() -> LoadOptions {
    LoadOptions { threads: NonZeroUsize::new(1), ..LoadOptions::default() }
}

/// Loads the data as a file of this name.
fn load_bytes(name: &str, data: &[u8]) -> (tempfile::TempDir, Result<Loaded, LoadError>) {
    let dir = folder();
    let path = dir.path().join(name);
    std::fs::write(&path, data).unwrap();
    let loaded = load(&[path], &options(), &profiles());
    (dir, loaded)
}

/// What holds for everything that was loaded.
fn sound(loaded: &Loaded) {
    let totals = &loaded.report.totals;
    let groups = &loaded.corpus.groups;
    let rollouts: usize = groups.iter().map(|g| g.rollouts.len()).sum();
    assert_eq!((totals.groups, totals.rollouts), (groups.len(), rollouts));
    assert_eq!(totals.steps, groups.iter().map(|g| g.len()).sum::<usize>());
    assert_eq!(totals.scored, totals.successes + totals.failures + totals.truncated);
    assert_eq!(totals.rollouts, totals.scored + totals.errors + totals.unscored);
    assert_eq!(totals.skipped > 0, loaded.report.first_skipped().is_some());
    for group in groups {
        let len = group.len();
        assert_eq!(group.steps.facts.steps.len(), len);
        assert!(group.steps.text.is_empty() || group.steps.text.len() == len);
        let mut end = 0;
        for (at, rollout) in group.rollouts.iter().enumerate() {
            assert_eq!(rollout.steps.start, end, "steps of rollout {at} follow the last");
            end = rollout.steps.end;
            let texts = loaded.sources.rollout_text(group, at).expect("the text of a loaded step");
            assert_eq!(texts.len(), rollout.steps.len());
            assert!(rollout.reward.is_none_or(f64::is_finite));
            assert!(group.find(&rollout.id) == Some(at), "ids are unique in their group");
        }
        assert_eq!(end, len);
    }
}

/// Packed files: loaded or refused, with little memory.
pub fn containers(data: &[u8]) {
    match load_bytes("packed.jsonl", data) {
        (_dir, Ok(loaded)) => sound(&loaded),
        (_, Err(error)) => assert!(!error.to_string().is_empty()),
    }
}

/// A table beside the rollouts: its first byte says which kind.
pub fn tables(data: &[u8]) {
    static ROLLOUTS: &str = concat!(
        r#"{"task":"t","id":"a","steps":[{"state":"s","action":"x"},{"state":"u","action":"y"}]}"#,
        "\n",
        r#"{"task":"t","id":"b","reward":1,"steps":[{"state":"s","action":"y"}]}"#,
        "\n",
    );
    let Some((&how, table)) = data.split_first() else { return };
    let dir = folder();
    let (file, beside) = (dir.path().join("rollouts.jsonl"), dir.path().join("table"));
    std::fs::write(&file, ROLLOUTS).unwrap();
    std::fs::write(&beside, table).unwrap();
    let mut options = options();
    if how & 1 == 0 { &mut options.outcomes } else { &mut options.sidecars }.push(beside);
    match load(&[file], &options, &profiles()) {
        Ok(loaded) => {
            assert_eq!(loaded.report.totals.rollouts, 2);
            sound(&loaded);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A file in any format, written in the native one and read again, gives the same groups; written
/// once more, the same bytes.
pub fn round_trip(data: &[u8]) {
    let (_dir, Ok(first)) = load_bytes("rollouts.jsonl", data) else { return };
    sound(&first);
    let text = converted(&first);
    let (_dir, second) = load_bytes("native.jsonl", text.as_bytes());
    let second = second.unwrap_or_else(|e| panic!("{e}\n{text}"));
    sound(&second);
    assert_eq!(second.report.totals.skipped, 0, "{:?}", second.report.first_skipped());
    let (before, after) = (groups(&first), groups(&second));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after, "{text}");
    }
    assert_eq!(before.len(), after.len());
    assert_eq!(text, converted(&second));
}

fn converted(loaded: &Loaded) -> String {
    let mut text = String::new();
    for group in &loaded.corpus.groups {
        for rollout in &group.rollouts {
            let read = |record| loaded.sources.rollout(record).expect("a loaded record");
            let records: Vec<RawRollout> = rollout.records.iter().map(read).collect();
            let format = loaded.sources.format(rollout.records[0].source);
            for line in native::lines(group, rollout, format, &records, &profiles()) {
                text.push_str(&line.to_string());
                text.push('\n');
            }
        }
    }
    text
}

/// What must outlive a round trip, as texts.
fn groups(loaded: &Loaded) -> Vec<String> {
    let mut all = Vec::new();
    for group in &loaded.corpus.groups {
        all.push(format!("{:?} {}", group.key, group.len()));
        for rollout in &group.rollouts {
            all.push(head(rollout));
            all.extend(rollout.steps.clone().map(|step| row(group, step)));
        }
    }
    all
}

fn head(r: &Rollout) -> String {
    let mut named = r.named_rewards.clone();
    // The order of names in an object says nothing.
    named.sort_by(|a, b| a.0.cmp(&b.0));
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {:?}",
        r.id,
        r.outcome,
        r.ending,
        r.reward,
        r.outcome_reward,
        named,
        r.policy,
        r.attempt,
        r.steps,
        r.segment_starts,
        r.excluded_calls,
        r.forked_from
    )
}

fn row(group: &Group, step: usize) -> String {
    let (steps, text) = (&group.steps, |sym| group.symbols.text(sym));
    let facts = steps.facts.steps.get(step).unwrap();
    let targets: Vec<&str> =
        steps.facts.targets_of(&facts.action).iter().map(|&t| text(t)).collect();
    let values: Vec<_> = steps.values.iter().map(|(name, v)| (name, v[step])).collect();
    format!(
        "{:?} {} {targets:?} {:?} {} {} {:?} {:?} {} {} {:?} {values:?}",
        facts.action.category,
        text(facts.action.op),
        facts.action.result,
        text(facts.tool),
        facts.seen,
        steps.turn[step],
        steps.step_reward.get(step).copied().flatten(),
        text(steps.state.get(step).copied().unwrap_or_default()),
        text(steps.action.get(step).copied().unwrap_or_default()),
        steps.tokens.get(step).copied().flatten(),
    )
}

/// A whole load, its groups under all columns: every value is finite or has a reason, and every
/// derivation gives its value bit for bit.
pub fn whole(data: &[u8]) {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    let settings = SETTINGS.get_or_init(|| {
        let all = Given {
            name: "columns".to_owned(),
            value: "all".to_owned(),
            origin: Origin::Flag,
            place: "--columns".to_owned(),
        };
        Settings::resolve(&[all]).unwrap()
    });
    let (_dir, Ok(loaded)) = load_bytes("rollouts.jsonl", data) else { return };
    sound(&loaded);
    let small = loaded.corpus.groups.iter().filter(|g| g.len() <= STEPS).take(4);
    for group in small {
        analysed(&Analysis::new(Arc::clone(group), &settings.analysis));
    }
}

fn analysed(analysis: &Analysis) {
    let context = analysis.context();
    for (spec, column) in &analysis.columns {
        assert_eq!(column.cells().count(), analysis.group.len(), "{}", spec.name);
        for (step, cell) in column.cells().enumerate() {
            let derived = spec.derive(&context, step).map(|node| node.eval());
            match cell {
                Ok(value) => {
                    assert!(value.is_finite(), "{} of step {step}: {value}", spec.name);
                    let derived = derived.map(f64::to_bits);
                    assert_eq!(derived, Some(value.to_bits()), "{} of step {step}", spec.name);
                }
                Err(reason) => {
                    assert!(!reason.is_empty(), "{} of step {step}: no reason", spec.name);
                    assert_eq!(derived, None, "{} of step {step}", spec.name);
                }
            }
        }
    }
}
