//! A load that is watched ends as one that is not, shows what it has read so far on the way, and can be
//! stopped there.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod load_common;

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use credscope::load::{
    Halt, LoadError, LoadOptions, Loaded, OnProgress, OnSoFar, Pace, Progress, Watch,
};
use load_common::{corpus, load_with};

/// Lines of rollouts of `tasks` tasks, `each` of every one; their text says which they are.
fn lines(tasks: usize, each: usize) -> String {
    let mut text = String::new();
    for n in 0..tasks * each {
        let (task, id) = (n % tasks, n / tasks);
        let step = |k: usize| {
            serde_json::json!({
                "thought": format!("task {task} rollout {id} step {k}"),
                "tool": "execute_bash",
                "args": {"command": format!("cat file{}.py", (k + id) % 3)},
                "observation": "text",
            })
        };
        let rollout = serde_json::json!({
            "task": format!("t{task}"), "id": format!("r{id}"),
            "reward": f64::from(u8::from(id % 2 == 0)),
            "steps": (0..4).map(step).collect::<Vec<_>>(),
        });
        text.push_str(&rollout.to_string());
        text.push('\n');
    }
    text
}

type Parts = Arc<Mutex<Vec<Loaded>>>;

/// Options that show something after every `n` rollouts, and where it is shown.
fn watched(n: u64, threads: usize) -> (LoadOptions, Parts, Arc<Halt>) {
    let parts = Parts::default();
    let into = Arc::clone(&parts);
    let so_far: OnSoFar = Arc::new(move |loaded| into.lock().unwrap().push(loaded));
    let halt = Arc::new(Halt::keeping());
    let watch = Watch { halt: Arc::clone(&halt), so_far: Some(so_far), pace: Pace::Every(n) };
    let options = LoadOptions {
        watch: Some(watch),
        threads: NonZeroUsize::new(threads),
        cancel: Some(halt.cancelling()),
        ..LoadOptions::default()
    };
    (options, parts, halt)
}

/// All of a load that anything is computed from.
fn whole(loaded: &Loaded) -> String {
    format!("{:?} {:?}", loaded.corpus, loaded.report)
}

fn rollouts(loaded: &Loaded) -> usize {
    loaded.corpus.groups.iter().map(|g| g.rollouts.len()).sum()
}

fn ends_alike(paths: &[PathBuf], every: u64) {
    let plain = load_with(paths, &LoadOptions::default()).unwrap();
    for threads in [1, 8] {
        let (options, parts, _) = watched(every, threads);
        let end = load_with(paths, &options).unwrap();
        assert_eq!(whole(&end), whole(&plain), "{paths:?}, {threads} threads");
        let parts = parts.lock().unwrap();
        assert!(!parts.is_empty(), "{paths:?}: something is shown on the way");
        for part in parts.iter() {
            assert!(rollouts(part) > 0 && rollouts(part) <= rollouts(&plain));
            readable(part);
        }
    }
}

/// The text of every rollout that is shown can be read.
fn readable(part: &Loaded) {
    for group in &part.corpus.groups {
        for at in 0..group.rollouts.len() {
            let steps = part.sources.rollout_text(group, at).unwrap();
            assert_eq!(steps.len(), group.rollouts[at].steps.len());
        }
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data").join(name)
}

#[test]
fn the_end_is_the_same_whatever_was_shown_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made.jsonl");
    std::fs::write(&path, lines(5, 8)).unwrap();
    ends_alike(&[path], 7);
    ends_alike(&[sample("slugify-fix/rollouts.jsonl")], 1);
    // One document, cut into its elements; two files; joined segments and copies.
    ends_alike(&[sample("airline-desk/results.json")], 5);
    ends_alike(
        &[sample("slugify-fix/rollouts.jsonl"), sample("datalad_final_05ea/rollouts.jsonl")],
        3,
    );
    ends_alike(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents")], 3);
    for name in ["tau-bench/gpt-4o-airline.subset-a.json", "derived/r2e_gym.astropy-12907.k8.jsonl"]
    {
        if let Some(path) = corpus(name) {
            ends_alike(&[path], 2);
        }
    }
}

#[test]
fn what_is_shown_grows_and_shares_what_did_not_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made.jsonl");
    // One task after the other: once a task is there, nothing changes it.
    let text: String =
        (0..4).map(|t| lines(1, 5).replace("\"t0\"", &format!("\"t{t}\""))).collect();
    std::fs::write(&path, text).unwrap();
    let (options, parts, _) = watched(5, 1);
    load_with(&[path], &options).unwrap();
    let parts = parts.lock().unwrap();
    let counts: Vec<_> = parts.iter().map(|p| (p.corpus.groups.len(), rollouts(p))).collect();
    assert_eq!(counts, [(1, 5), (2, 10), (3, 15), (4, 20)]);
    for pair in parts.windows(2) {
        for (before, after) in pair[0].corpus.groups.iter().zip(&pair[1].corpus.groups) {
            assert!(Arc::ptr_eq(before, after), "{}", before.key.task);
        }
    }
}

#[test]
fn a_stop_keeps_what_was_read_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made.jsonl");
    std::fs::write(&path, lines(4, 4_000)).unwrap();
    let all = load_with(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
    assert_eq!((rollouts(&all), all.report.partial()), (16_000, None));
    let (mut options, _, halt) = watched(10, 2);
    if let Some(watch) = &mut options.watch {
        let halt = Arc::clone(&halt);
        watch.so_far = Some(Arc::new(move |_| halt.stop()));
    }
    let some = load_with(&[path], &options).unwrap();
    let n = rollouts(&some);
    assert!((10..16_000).contains(&n), "{n} rollouts");
    let partial = some.report.partial().unwrap();
    let percent: u8 = partial
        .strip_prefix("partial data: stopped at ")
        .unwrap()
        .strip_suffix(" %")
        .unwrap()
        .parse()
        .unwrap();
    assert!(usize::from(percent).abs_diff(n * 100 / 16_000) <= 2, "{partial}, {n} rollouts");
    let counts = credscope::export::check::counts(&some.report);
    assert_eq!(counts["partial"], partial.as_str());
    // What was read is what it is in the whole load.
    let of = |loaded: &Loaded, task: usize| {
        let group = &loaded.corpus.groups[task];
        group.rollouts.iter().map(|r| (r.id.clone(), r.outcome)).collect::<Vec<_>>()
    };
    for task in 0..some.corpus.groups.len() {
        let there = of(&all, task);
        assert!(of(&some, task).iter().all(|r| there.contains(r)));
    }
    readable(&some);
}

#[test]
fn a_load_that_is_cancelled_or_stopped_too_early_gives_nothing() {
    let path = sample("slugify-fix/rollouts.jsonl");
    let (options, parts, halt) = watched(1, 2);
    halt.stop();
    assert!(matches!(load_with(std::slice::from_ref(&path), &options), Err(LoadError::Cancelled)));
    assert!(parts.lock().unwrap().is_empty());
    let (mut options, _, halt) = watched(1, 2);
    if let Some(watch) = &mut options.watch {
        watch.so_far = Some(Arc::new(move |_| halt.cancel()));
    }
    assert!(matches!(load_with(&[path], &options), Err(LoadError::Cancelled)));
}

#[test]
fn a_table_that_can_be_read_once_only_is_left_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let (path, map) = (dir.path().join("made.jsonl"), dir.path().join("map.csv"));
    std::fs::write(&path, lines(2, 4)).unwrap();
    std::fs::write(&map, "rollout,task,outcome\nr1,t0,success\nr1,t1,success\n").unwrap();
    let (options, parts, _) = watched(1, 1);
    let options = LoadOptions { outcomes: vec![map], ..options };
    load_with(std::slice::from_ref(&path), &options).unwrap();
    assert!(!parts.lock().unwrap().is_empty(), "a file can be read again");
    let (options, parts, _) = watched(1, 1);
    let options = LoadOptions { outcomes: vec![dir.path().join("none.csv")], ..options };
    assert!(load_with(&[path], &options).is_err());
    assert!(parts.lock().unwrap().is_empty());
}

/// A pipe: what came of it is shown while the rest is waited for.
#[cfg(unix)]
#[test]
fn a_stream_is_shown_before_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = lines(2, 6);
    let half = text.lines().take(5).map(|l| l.len() + 1).sum::<usize>();
    let (options, parts, _) = watched(1, 2);
    let (seen, told) = crossbeam_channel::unbounded::<Progress>();
    let progress: OnProgress = Arc::new(move |p| {
        let _ = seen.send(p);
    });
    let mut options = LoadOptions { progress: Some(progress), ..options };
    let (shown, wait) = crossbeam_channel::unbounded();
    if let Some(watch) = &mut options.watch {
        let keep = watch.so_far.take().unwrap();
        watch.so_far = Some(Arc::new(move |loaded: Loaded| {
            let n = rollouts(&loaded);
            keep(loaded);
            let _ = shown.send(n);
        }));
    }
    let (to, body) = (pipe.clone(), text.clone());
    let writer = std::thread::spawn(move || {
        let mut out = std::fs::File::create(to).unwrap();
        // The sixth line is cut in the middle: it is not among what is shown.
        out.write_all(&body.as_bytes()[..half + 20]).unwrap();
        while wait.recv().unwrap() < 5 {}
        out.write_all(&body.as_bytes()[half + 20..]).unwrap();
        wait
    });
    let end = load_with(&[pipe], &options).unwrap();
    drop(writer.join().unwrap());
    assert_eq!(rollouts(&end), 12);
    assert!(end.report.partial().is_none());
    let parts = parts.lock().unwrap();
    let first = parts.iter().find(|p| rollouts(p) == 5).unwrap();
    assert!(first.report.partial().is_none(), "{:?}", first.report.partial());
    readable(first);
    // Nothing that was there goes away again.
    assert!(parts.windows(2).all(|p| rollouts(&p[0]) <= rollouts(&p[1])));
    let told: Vec<Progress> = told.try_iter().collect();
    assert!(told.iter().any(|p| p.bytes > 0 && p.total_bytes == 0));
    assert_eq!(told.last().map(|p| p.bytes), Some(text.len() as u64));
    let file = dir.path().join("pipe2").join("pipe.jsonl");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    let plain = load_with(&[file], &LoadOptions::default()).unwrap();
    assert_eq!(format!("{:?}", plain.report), format!("{:?}", end.report));
}

/// A stream that stays quiet is left where it is.
#[cfg(unix)]
#[test]
fn a_stop_ends_a_stream_and_keeps_what_came() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (mut options, _, halt) = watched(1, 2);
    if let Some(watch) = &mut options.watch {
        let halt = Arc::clone(&halt);
        watch.so_far = Some(Arc::new(move |loaded: Loaded| {
            if rollouts(&loaded) == 8 {
                halt.stop();
            }
        }));
    }
    let (done, end) = crossbeam_channel::bounded::<()>(0);
    let to = pipe.clone();
    let writer = std::thread::spawn(move || {
        let mut out = std::fs::File::create(to).unwrap();
        out.write_all(lines(2, 4).as_bytes()).unwrap();
        // Open until the load is over.
        let _ = end.recv();
    });
    let some = load_with(&[pipe], &options).unwrap();
    drop(done);
    writer.join().unwrap();
    assert_eq!(rollouts(&some), 8);
    let partial = some.report.partial().unwrap();
    assert_eq!(partial, "partial data: stopped mid-stream");
}

/// A pipe, and a writer that writes the second text after the first was shown, and then says so; it stays
/// open or not. The load is stopped while the first text is shown.
#[cfg(unix)]
fn stopped_in_a_showing(first: &str, second: &str, open: bool) -> Loaded {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (mut options, _, halt) = watched(1, 2);
    let (shown, wait) = crossbeam_channel::unbounded::<()>();
    let (wrote, written) = crossbeam_channel::unbounded::<()>();
    let all = first.lines().count();
    if let Some(watch) = &mut options.watch {
        let halt = Arc::clone(&halt);
        watch.so_far = Some(Arc::new(move |loaded: Loaded| {
            if rollouts(&loaded) == all && !halt.stopped() {
                shown.send(()).unwrap();
                written.recv().unwrap();
                halt.stop();
            }
        }));
    }
    let (done, end) = crossbeam_channel::bounded::<()>(0);
    let (to, first, second) = (pipe.clone(), first.to_owned(), second.to_owned());
    let writer = std::thread::spawn(move || {
        let mut out = std::fs::File::create(to).unwrap();
        out.write_all(first.as_bytes()).unwrap();
        wait.recv().unwrap();
        out.write_all(second.as_bytes()).unwrap();
        let out = open.then_some(out);
        wrote.send(()).unwrap();
        let _ = end.recv();
        drop(out);
    });
    let some = load_with(&[pipe], &options).unwrap();
    drop(done);
    writer.join().unwrap();
    some
}

/// The stop falls into a showing, and the end of the stream, too: what was shown is there, and where
/// something is missing the mark is.
#[cfg(unix)]
#[test]
fn a_stop_while_a_stream_ends_keeps_what_was_shown_and_marks_what_is_missing() {
    for second in ["", &lines(2, 20).replace("\"t0\"", "\"u0\"").replace("\"t1\"", "\"u1\"")] {
        let some = stopped_in_a_showing(&lines(2, 4), second, false);
        let n = rollouts(&some);
        assert!(n >= 8, "{n} rollouts");
        let all = 8 + second.lines().count();
        match some.report.partial() {
            Some(partial) => assert_eq!(partial, "partial data: stopped mid-stream"),
            None => assert_eq!(n, all),
        }
        readable(&some);
    }
}

/// Much came and was not shown yet: it is not read for as long as that takes.
#[cfg(unix)]
#[test]
fn a_stop_does_not_read_all_that_came_of_a_stream() {
    let long = "x".repeat(1 << 18);
    let second: String =
        lines(1, 20).replace("\"text\"", &format!("\"{long}\"")).replace("t0", "t9");
    for open in [true, false] {
        let some = stopped_in_a_showing(&lines(2, 4), &second, open);
        assert_eq!((rollouts(&some), some.corpus.groups.len()), (8, 2), "as it was shown");
        let partial = some.report.partial().unwrap();
        assert_eq!(partial, "partial data: stopped mid-stream");
        assert_eq!(credscope::export::check::counts(&some.report)["partial"], partial.as_str());
        readable(&some);
    }
}
