//! Where a setting comes from: for every setting of the table, each place outweighs those before it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::float_cmp)]

mod cli_common;

use cli_common::Bench;
use credscope::credit::registry;
use credscope::settings::{Form, Given, Origin, SETTINGS, Settings, Spec};
use credscope::signature::KNOBS;

/// Settings that a value of another one needs.
fn beside(spec: &Spec) -> Vec<(&'static str, &'static str)> {
    if spec.name == "reward" { vec![("reward-source", "logged")] } else { Vec::new() }
}

/// Four values for four places, made from what the table says of the setting and kept where it takes
/// them: neighbours always differ, and the first differs from the default.
fn values(spec: &Spec) -> Vec<String> {
    let mut tried: Vec<String> = spec.value.split('|').map(ToOwned::to_owned).collect();
    tried.extend(registry().iter().map(|e| e.meta().id.to_owned()));
    tried.extend(["0.125", "0.25", "0.375", "0.5", "3", "5", "7", "9"].map(ToOwned::to_owned));
    tried.extend(["true", "false", "one", "two", "three", "four"].map(ToOwned::to_owned));
    for (knob, _) in KNOBS {
        tried.extend(["off", "3", "5", "7"].map(|v| format!("{knob}={v}")));
    }
    for eps in ["1e-3", "1e-4", "1e-5", "1e-7"] {
        tried.push(format!("grpo.eps={eps}"));
    }
    if spec.value == "FILE" {
        tried = (1..=4).map(|i| format!("file-{i}.toml")).collect();
    }
    if spec.name == "out" {
        tried = (1..=4).map(|i| format!("out-{i}")).collect();
    }
    let takes = |value: &String| {
        let mut given = vec![(spec.name, value.as_str())];
        given.extend(beside(spec));
        let given: Vec<Given> = given
            .into_iter()
            .map(|(name, value)| Given {
                name: name.to_owned(),
                value: value.to_owned(),
                origin: Origin::Flag,
                place: "here".to_owned(),
            })
            .collect();
        Settings::resolve(&given).is_ok()
    };
    let mut found: Vec<String> =
        tried.into_iter().filter(|v| v != spec.default && takes(v)).collect();
    found.dedup();
    // A switch has one value besides its default.
    if found.len() == 1 && !spec.default.is_empty() {
        found.push(spec.default.to_owned());
    }
    assert!(found.len() >= 2, "{}: no two values: {found:?}", spec.name);
    found.iter().cycle().take(4).cloned().collect()
}

/// Value and origin of a setting as `--print-settings` tells them.
fn told(bench: &Bench, spec: &Spec, given: &[Option<&str>; 4]) -> (String, String) {
    let line = |value: &str| {
        let value = serde_json::Value::from(value);
        if spec.form == Form::Many {
            format!("{} = [{value}]\n", spec.name)
        } else {
            format!("{} = {value}\n", spec.name)
        }
    };
    let [profile, config, environment, flag] = given;
    bench.write(
        "base.toml",
        &profile.map_or_else(String::new, |v| format!("[settings]\n{}", line(v))),
    );
    bench.write("config.toml", &config.map_or_else(String::new, line));
    let mut args: Vec<String> =
        ["--print-settings", "--format", "json", "--config", "config.toml"].map(Into::into).into();
    if profile.is_some() {
        args.extend(["--profile", "base.toml"].map(Into::into));
    }
    for (name, value) in beside(spec) {
        args.push(format!("--{name}={value}"));
    }
    if let Some(value) = flag {
        args.push(format!("--{}={value}", spec.name));
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = bench.command(&args);
    if let Some(value) = environment {
        command.env(spec.env(), value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let mut text = String::from_utf8(output.stdout).unwrap();
    if spec.name == "out" && text.is_empty() {
        // The output went to where the setting says.
        let name = given.iter().flatten().next_back().unwrap();
        text = std::fs::read_to_string(bench.path(name)).unwrap();
        std::fs::remove_file(bench.path(name)).unwrap();
    }
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let row = rows.iter().find(|r| r["name"] == spec.name).unwrap();
    let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (word("value"), word("origin"))
}

#[test]
fn each_place_outweighs_those_before_it_for_every_setting() {
    let bench = Bench::new("{}");
    for i in 1..=4 {
        bench.write(&format!("file-{i}.toml"), "");
    }
    let origins = ["profile", "config", "environment", "flag"];
    for spec in SETTINGS {
        let values = values(spec);
        // A profile cannot name a profile.
        let first = usize::from(spec.name == "profile");
        let default = told(&bench, spec, &[None; 4]);
        let pinned = beside(spec).iter().any(|(name, _)| *name == spec.name);
        assert!(
            pinned || default == (spec.default.to_owned(), "default".to_owned()),
            "{default:?}"
        );
        // One place alone, then one after the other together.
        for last in first..4 {
            let mut given = [None; 4];
            given[last] = Some(values[last].as_str());
            let alone = told(&bench, spec, &given);
            assert_eq!(alone, (values[last].clone(), origins[last].to_owned()), "{}", spec.name);
            for at in first..last {
                given[at] = Some(values[at].as_str());
            }
            let expected = if spec.form == Form::Many {
                values[first..=last].join(" ")
            } else {
                values[last].clone()
            };
            let found = told(&bench, spec, &given);
            assert_eq!(found, (expected, origins[last].to_owned()), "{}", spec.name);
        }
    }
    println!("{} settings", SETTINGS.len());
}

#[test]
fn a_profile_brings_settings_and_cannot_bring_profiles() {
    let bench = Bench::new(cli_common::WORKED);
    bench.write(
        "p.toml",
        "name = \"mine\"\n[settings]\ngamma = 0.5\n[settings.knob]\nedit-hash = 9\n",
    );
    let with = bench.ok(&["steps", "input.json", "--profile", "p.toml", "--no-stamp"]);
    let set = bench.ok(&["steps", "input.json", "--gamma", "0.5", "--no-stamp"]);
    assert_eq!(with, set);
    bench.write("p.toml", "[settings]\nprofile = \"q.toml\"\n");
    let (code, told) = bench.fails(&["steps", "input.json", "--profile", "p.toml"]);
    assert!(code == 2 && told.contains("cannot name another profile"), "{told}");
    bench.write("p.toml", "[settings]\ngama = 1\n");
    let (code, told) = bench.fails(&["steps", "input.json", "--profile", "p.toml"]);
    assert!(code == 2 && told.contains("did you mean `gamma`?"), "{told}");
}
