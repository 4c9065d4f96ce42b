//! Files that are no rollouts: what a file is, verdicts beside rollouts, settings, profiles.

use credscope::ingest::{Shape, Sniff, detect, verdicts};
use credscope::profile::Profiles;
use credscope::settings::Settings;
use credscope::settings::config::from_toml;
use credscope::settings::stamp;

/// What a file is: its first byte says its name and whether more of it follows.
pub fn sniff(data: &[u8]) {
    let Some((&how, bytes)) = data.split_first() else { return };
    let names = ["x.jsonl", "results.json", "toy__toy-1.traj", "trajectory.json"];
    let shape = Shape::of(names[usize::from(how >> 1) % names.len()], bytes, how & 1 == 0);
    let torn = shape.records().iter().filter(|r| r.torn()).count();
    assert!(torn <= 8 && shape.records().len() - torn <= 8);
    match detect(&shape) {
        Ok(reader) => {
            // What is whole decides; else what is torn counts as well.
            let sure = shape.sure().is_some_and(|sure| reader.sniff(&sure) == Sniff::Yes);
            assert!(sure || reader.sniff(&shape) == Sniff::Yes);
            let _ = reader.layout(&shape);
        }
        Err(not) => {
            for text in [&not.what, &not.missing, &not.hint] {
                assert!(!text.trim().is_empty(), "{not:?}");
            }
        }
    }
}

/// Verdicts beside rollouts.
pub fn side_files(data: &[u8]) {
    let place = "logs/run-a/toy__toy-1/report.json";
    let _ = verdicts::may_be(&Shape::of("report.json", data, true));
    if let Some(side) = verdicts::read(place, data) {
        assert_eq!(Some(side), verdicts::read(place, data));
    }
}

/// A config file, or an export with a stamp: settings that hold give themselves again.
pub fn settings(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = stamp::find(text, "export");
    let Ok(given) = from_toml(text, "credscope.toml") else { return };
    let Ok(settings) = Settings::resolve(&given) else { return };
    let again = Settings::resolve(&settings.given()).expect("settings in force can be given");
    assert_eq!(settings.analysis, again.analysis);
}

/// A profile file.
pub fn profile(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut profiles = Profiles::clone(&super::records::profiles());
    if let Ok(name) = profiles.add(text, "profile.toml") {
        assert!(profiles.get(&name).is_some());
    }
}
