//! What leaves the screen: exports, texts that are opened outside, pictures; and loading again.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod tui_support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use credscope::load::{LoadOptions, load};
use credscope::profile::Profiles;
use credscope::settings::Settings;
use credscope::tui::Provenance;
use credscope::tui::update::{Effect, Msg, update};
use credscope::tui::worker::{Library, Origin, Reloaded};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use tui_support::{Driver, Made, PLAIN, corpus, key, line, picture, press, started};

fn sample() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-data/slugify-fix/rollouts.jsonl")
}

fn credscope(args: &[&str], paths: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_credscope"))
        .args(args)
        .args(paths)
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("CREDSCOPE_CONFIG")
        .output()
        .unwrap()
}

/// A screen over a file, which writes its exports into a folder.
fn over(path: &Path, folder: &Path) -> Driver {
    let read = {
        let (path, folder) = (path.to_owned(), folder.to_owned());
        move || {
            let profiles = Arc::new(Profiles::builtin());
            let loaded = load(std::slice::from_ref(&path), &LoadOptions::default(), &profiles)
                .map_err(|e| e.to_string())?;
            let report = &loaded.report;
            let inputs = report
                .files
                .iter()
                .map(|f| credscope::settings::Input {
                    name: f.name.clone(),
                    bytes: f.bytes,
                    digest: f.digest.clone(),
                })
                .collect();
            Ok(Reloaded {
                provenance: Provenance {
                    settings: Some(Settings::resolve(&[]).unwrap()),
                    inputs,
                    load: credscope::export::check::counts(report),
                    narrow: None,
                    paths: loaded.sources.paths().cloned().collect(),
                    folder: folder.clone(),
                },
                notices: Vec::new(),
                corpus: loaded.corpus,
                texts: Arc::new(loaded.sources),
            })
        }
    };
    let first: Reloaded = read().map_err(|e: String| e).unwrap();
    let origin = Origin {
        texts: first.texts,
        provenance: Arc::new(first.provenance),
        reload: Some(Arc::new(move |_, _| read())),
    };
    Driver::over(first.corpus, (120, 40), Arc::new(Library), PLAIN, origin)
}

#[test]
fn an_export_is_what_the_command_line_writes_and_nothing_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let driver = over(&sample(), folder.path());
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    for name in ["v", "p", "p", "j", "l"] {
        driver.press(name);
    }
    driver.wait("the numbers", |p| !p.contains("computing") && p.contains("pin  now"));
    let mut written = Vec::new();
    for _ in 0..2 {
        driver.press("e");
        driver.press("Enter");
        let shown = driver.wait("the file", |p| p.contains("wrote "));
        let name = shown.split("wrote ").nth(1).unwrap().split(".csv").next().unwrap();
        written.push(PathBuf::from(format!("{name}.csv")));
        driver.press("Esc");
        driver.wait("the footer", |p| !p.contains("wrote "));
        driver.press("v");
    }
    assert_ne!(written[0], written[1]);
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "no temporary file stays: {names:?}");
    let bodies: Vec<Vec<u8>> =
        names.iter().map(|n| fs::read(folder.path().join(n)).unwrap()).collect();
    assert_eq!(bodies[0], bodies[1]);
    let there = credscope(
        &["steps", "--format", "csv", "--preset", "coarse", "--knob", "view-bucket=500"],
        &[&sample()],
    );
    assert!(there.status.success());
    let (here, there) =
        (String::from_utf8_lossy(&bodies[0]), String::from_utf8_lossy(&there.stdout));
    for (a, b) in here.lines().zip(there.lines()) {
        assert_eq!(a, b);
    }
    assert_eq!(here.len(), there.len());
    driver.quit("q");
}

#[test]
fn every_table_of_the_menu_is_what_the_command_line_writes() {
    let folder = tempfile::tempdir().unwrap();
    let driver = over(&sample(), folder.path());
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    for (down, kind) in ["steps", "quadrants", "groups"].into_iter().enumerate() {
        driver.press("e");
        for _ in 0..down {
            driver.press("j");
        }
        driver.press("Enter");
        let file = format!("credscope-{kind}");
        driver.wait("the file", |p| p.contains("wrote ") && p.contains(&file));
        let there = credscope(&[kind, "--format", "csv"], &[&sample()]);
        let name = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .find(|p| p.file_name().unwrap().to_str().unwrap().starts_with(&file))
            .unwrap();
        let here = fs::read_to_string(name).unwrap();
        let there = String::from_utf8_lossy(&there.stdout);
        for (a, b) in here.lines().zip(there.lines()) {
            assert_eq!(a, b);
        }
        assert_eq!(here.len(), there.len(), "{kind}");
    }
    driver.quit("q");
}

#[test]
fn saved_settings_open_the_same_signature() {
    let folder = tempfile::tempdir().unwrap();
    let driver = over(&sample(), folder.path());
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    for name in ["v", "p", "p", "p", "e", "G", "j", "j", "j", "j"] {
        driver.press(name);
    }
    driver.wait("the menu", |p| p.contains("▸signature, credit and columns"));
    driver.press("Enter");
    driver.wait("the file", |p| p.contains("wrote "));
    driver.quit("q");
    let file = folder.path().join("credscope-settings.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("preset = \"coarser\""), "{text}");
    let shown = credscope(
        &["steps", "--format", "csv", "--no-stamp", "--config", file.to_str().unwrap()],
        &[&sample()],
    );
    let wanted =
        credscope(&["steps", "--format", "csv", "--no-stamp", "--preset", "coarser"], &[&sample()]);
    assert!(shown.status.success());
    assert_eq!(shown.stdout, wanted.stdout);
}

#[test]
fn loading_again_keeps_the_place_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rollouts.jsonl");
    let text = fs::read_to_string(sample()).unwrap();
    fs::write(&file, &text).unwrap();
    let driver = over(&file, folder.path());
    let title = |p: &str| {
        let rest = p.lines().find_map(|l| l.split("2 Steps  ").nth(1))?;
        rest.split(' ').next().map(str::to_owned)
    };
    let first = title(&driver.wait("the tree", |p| p.contains("1 Tree  paths")));
    driver.press("]");
    let place = title(&driver.wait("another rollout", |p| title(p) != first));
    // The first rollout goes: the others move up, and the cursor stays with its own.
    let lines: Vec<&str> = text.lines().collect();
    let keep = lines.iter().skip(1).copied().collect::<Vec<_>>().join("\n");
    fs::write(&file, keep).unwrap();
    driver.press("R");
    let shown =
        driver.wait("the load", |p| p.contains("loaded again") && p.contains("1 Tree  paths"));
    assert_eq!(title(&shown), place, "{shown}");
    fs::remove_file(&file).unwrap();
    driver.press("R");
    driver.wait("the reason", |p| p.contains("rollouts.jsonl") || p.contains("cannot"));
    driver.quit("q");
}

#[test]
fn a_text_is_opened_outside_as_a_whole() {
    let driver = Driver::reading(corpus(), (80, 24), Arc::new(Library), PLAIN, Arc::new(Made));
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    driver.press("o");
    driver.wait("the way back", |p| p.contains("shown outside"));
    let shown = driver.copied.lock().unwrap().pop().unwrap();
    assert!(shown.contains("\n  line 69999\n") && shown.contains("old line\n"));
    driver.quit("q");
}

#[test]
fn the_wheel_moves_rows_and_a_click_focuses() {
    let mut model = started((80, 24));
    let event =
        |kind, row| Msg::Mouse(MouseEvent { kind, column: 5, row, modifiers: KeyModifiers::NONE });
    let at = model.cursor.step;
    update(&mut model, event(MouseEventKind::ScrollDown, 15));
    assert_eq!(model.cursor.step, at + 3);
    update(&mut model, event(MouseEventKind::ScrollUp, 15));
    assert_eq!(model.cursor.step, at);
    update(&mut model, event(MouseEventKind::Down(MouseButton::Left), 3));
    assert_eq!(model.focus, credscope::tui::layout::Pane::Tree);
}

#[test]
fn reload_without_files_says_so() {
    let driver = Driver::start(corpus(), (80, 24));
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    driver.press("R");
    driver.wait("the reason", |p| p.contains("not loaded from files"));
    driver.quit("q");
}

#[test]
fn the_menu_offers_filtered_steps_with_a_filter_only() {
    let mut model = started((80, 24));
    press(&mut model, "e");
    assert!(!picture(&model).contains("pass the filter"));
    press(&mut model, "Esc");
    press(&mut model, "f");
    press(&mut model, "Space");
    press(&mut model, "Esc");
    press(&mut model, "e");
    press(&mut model, "j");
    line(&picture(&model), &["▸steps of this group that pass the filter"]);
    let effects = update(&mut model, Msg::Key(key("Enter")));
    let [Effect::Export(job)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(job.passes.0.iter().any(|&p| p) && !job.passes.1.is_empty());
}

#[test]
fn a_picture_shows_what_the_screen_shows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shot.svg");
    let shot = file.to_str().unwrap();
    let args = ["--screenshot", shot, "--size", "80x24", "--keys", "v p p"];
    let made = credscope(&args, &[&sample()]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("5 Signature") && svg.contains("coarse"));
    // The same again is refused, and with --force the same bytes.
    assert_eq!(credscope(&args, &[&sample()]).status.code(), Some(1));
    assert!(credscope(&[&args[..], &["--force"]].concat(), &[&sample()]).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), svg);
    for wrong in [["--size", "9"], ["--keys", "Ctrl-q"]] {
        let args = [&["--screenshot", "never.svg"][..], &wrong[..]].concat();
        assert_eq!(credscope(&args, &[&sample()]).status.code(), Some(2));
    }
}

#[test]
fn a_picture_can_start_at_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shot.svg");
    let group = tui_support::loaded(&sample()).0.groups[0].clone();
    let rollout = group.rollouts.iter().find(|r| r.steps.len() > 2).unwrap();
    let at = format!("{}:2", rollout.id);
    let args = ["--screenshot", file.to_str().unwrap(), "--size", "80x24", "--at", &at];
    let made = credscope(&args, &[&sample()]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.contains(&format!("{} t2<", rollout.id)) || svg.contains(" t2<"), "{svg}");
    let nowhere = format!("{}:9999", rollout.id);
    let args = ["--screenshot", "never.svg", "--at", &nowhere];
    let refused = credscope(&args, &[&sample()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has no step 9999"));
}

/// The files of a load, for a stamp.
fn inputs(loaded: &credscope::load::Loaded) -> Vec<credscope::settings::Input> {
    let input = |f: &credscope::load::FileReport| credscope::settings::Input {
        name: f.name.clone(),
        bytes: f.bytes,
        digest: f.digest.clone(),
    };
    loaded.report.files.iter().map(input).collect()
}

/// A screen over a file as the command opens it, with one task's counts for the stamp of its export.
fn opened_as_the_command(path: &Path, folder: &Path, flags: &[(&str, &str)]) -> Driver {
    let given: Vec<credscope::settings::Given> = flags
        .iter()
        .map(|(name, value)| credscope::settings::Given {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            origin: credscope::settings::Origin::Flag,
            place: String::new(),
        })
        .collect();
    let settings = Settings::resolve(&given).unwrap();
    let of = |only: Option<&str>| {
        let mut options = settings.load.clone();
        options.only = only.map(str::to_owned);
        let profiles = Arc::new(Profiles::builtin());
        load(&[path.to_owned()], &options, &profiles).unwrap()
    };
    let loaded = of(None);
    let (all, load) = (inputs(&loaded), credscope::export::check::counts(&loaded.report));
    let narrow = {
        let (settings, path) = (settings.clone(), path.to_owned());
        move |task: &str| {
            let mut options = settings.load.clone();
            options.only = Some(task.to_owned());
            let profiles = Arc::new(Profiles::builtin());
            let loaded = credscope::load::load(std::slice::from_ref(&path), &options, &profiles)
                .map_err(|e| e.to_string())?;
            let counts = credscope::export::check::counts(&loaded.report);
            Ok((inputs(&loaded), counts))
        }
    };
    let origin = Origin {
        texts: Arc::new(loaded.sources),
        provenance: Arc::new(Provenance {
            settings: Some(settings.clone()),
            inputs: all,
            load,
            narrow: Some(Arc::new(narrow)),
            paths: vec![path.to_owned()],
            folder: folder.to_owned(),
        }),
        reload: None,
    };
    Driver::over(loaded.corpus, (120, 40), Arc::new(Library), PLAIN, origin)
}

#[test]
fn exports_of_one_group_of_many_are_what_only_writes() {
    let root = std::env::var_os("CREDSCOPE_CORPUS")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let path = root.join("tau-bench/gpt-4o-airline.subset-a.json");
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set CREDSCOPE_CORPUS", path.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let driver = opened_as_the_command(&path, folder.path(), &[]);
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    driver.press("}");
    driver.wait("the second group", |p| p.contains(" 1 2/14"));
    // A number of the credit is turned, too: n-prior to 0.
    for name in ["w", "h", "h", "h"] {
        driver.press(name);
    }
    for name in ["g", "Enter"] {
        driver.wait("the sweep", |p| p.contains("w Sweep  gamma") && !p.contains("analyses"));
        driver.press(name);
    }
    driver.wait("the new numbers", |p| p.contains("γ .9 ") && !p.contains("computing"));
    driver.press("Esc");
    for (down, kind) in ["steps", "quadrants", "groups"].into_iter().enumerate() {
        driver.press("e");
        for _ in 0..down {
            driver.press("j");
        }
        driver.press("Enter");
        let file = format!("credscope-{kind}");
        driver.wait("the file", |p| p.contains("wrote ") && p.contains(&file));
        let only: &[&str] = if kind == "groups" { &[] } else { &["--only", "1"] };
        let args = [&[kind, "--format", "csv", "--gamma", "0.9"], only].concat();
        let there = credscope(&args, &[&path]);
        let name = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .find(|p| p.file_name().unwrap().to_str().unwrap().starts_with(&file))
            .unwrap();
        let here = fs::read_to_string(name).unwrap();
        let there = String::from_utf8_lossy(&there.stdout);
        for (a, b) in here.lines().zip(there.lines()) {
            assert_eq!(a, b, "{kind}");
        }
        assert_eq!(here.len(), there.len(), "{kind}");
    }
    driver.quit("q");
}

#[test]
fn saved_settings_hold_everything_that_the_numbers_depend_on() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        ("gamma", "0.9"),
        ("n-prior", "4"),
        ("step-reward", "none"),
        ("visit", "every"),
        ("tau", "0.2"),
        ("truncated", "exclude"),
        ("set", "grpo.ddof=0"),
    ];
    let driver = opened_as_the_command(&sample(), folder.path(), &flags);
    driver.wait("the tree", |p| p.contains("1 Tree  paths"));
    for name in ["e", "G", "j", "j", "j", "j"] {
        driver.press(name);
    }
    driver.wait("the menu", |p| p.contains("▸signature, credit and columns"));
    driver.press("Enter");
    driver.wait("the file", |p| p.contains("wrote "));
    driver.quit("q");
    let file = folder.path().join("credscope-settings.toml");
    let saved = credscope(
        &["steps", "--format", "csv", "--no-stamp", "--config", file.to_str().unwrap()],
        &[&sample()],
    );
    let mut args = vec!["steps".to_owned(), "--format".into(), "csv".into(), "--no-stamp".into()];
    for (name, value) in flags {
        args.extend([format!("--{name}"), value.to_owned()]);
    }

    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let wanted = credscope(&args, &[&sample()]);
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let text = fs::read_to_string(&file).unwrap();
    for word in
        ["step-reward = \"none\"", "visit = \"every\"", "truncated = \"exclude\"", "grpo.ddof=0"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(saved.stdout, wanted.stdout);
}

#[test]
fn the_mouse_is_captured_and_given_back_by_a_key() {
    let mut model = started((80, 24));
    for on in [true, false] {
        let effects = update(&mut model, Msg::Key(key("M")));
        assert!(matches!(effects.as_slice(), [Effect::Mouse(now)] if *now == on), "{effects:?}");
    }
}

#[test]
fn what_is_copied_is_what_the_cursor_names_or_the_pane_shows() {
    let mut model = started((80, 24));
    let copied = |model: &mut credscope::tui::Model, name: &str| {
        let effects = update(model, Msg::Key(key(name)));
        let [Effect::Copy(text, _)] = effects.as_slice() else { panic!("{effects:?}") };
        text.clone()
    };
    let pane = copied(&mut model, "Y");
    assert!(pane.starts_with("━ 2 Steps  r2"), "{pane}");
    let shown = picture(&model);
    assert!(pane.lines().all(|l| shown.contains(l)), "{pane}");
    press(&mut model, "6");
    assert_eq!(copied(&mut model, "y"), "r2");
    press(&mut model, "v");
    press(&mut model, "j");
    assert_eq!(copied(&mut model, "y"), "--knob view-bucket=100");
    press(&mut model, "a");
    assert_eq!(copied(&mut model, "y"), "astropy-12907");
}
