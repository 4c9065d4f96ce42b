//! The paths lens: never more rows than 2N-1, nothing lost on the way down, numbers in fixed columns.
#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;
mod tui_support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use credscope::analysis::{Analysis, AnalysisSettings};
use credscope::rollout::{Corpus, Group, Outcome};
use credscope::tui::lens::{Folds, Lens, LensKind, RowKind};
use credscope::tui::model::Model;
use credscope::tui::ordering::{Sight, TreeOrder};
use credscope::tui::snapshot::Snapshot;
use tui_support::{opened, picture, press};

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// A walk as pairs of state and action.
type Pairs = Vec<(u32, u32)>;
/// A rollout to be made: id, outcome, states and actions.
type Made = (String, Outcome, Vec<(String, String)>);

/// Rows of the folded tree, counted without it: every walk is put into a plain trie, and a node starts a
/// row unless it is the only way on from a node where no rollout ends.
fn rows_of_a_trie(walks: &[Pairs]) -> BTreeMap<Pairs, BTreeSet<u32>> {
    let mut through: BTreeMap<&[(u32, u32)], BTreeSet<u32>> = BTreeMap::new();
    let mut ends: BTreeSet<&[(u32, u32)]> = BTreeSet::new();
    let mut next: BTreeMap<&[(u32, u32)], BTreeSet<_>> = BTreeMap::new();
    for (i, walk) in walks.iter().enumerate().filter(|(_, w)| !w.is_empty()) {
        ends.insert(walk);
        for t in 0..walk.len() {
            through.entry(&walk[..=t]).or_default().insert(i as u32);
            next.entry(&walk[..t]).or_default().insert(walk[t]);
        }
    }
    through
        .into_iter()
        .filter(|(prefix, _)| {
            let above = &prefix[..prefix.len() - 1];
            above.is_empty() || ends.contains(above) || next[above].len() > 1
        })
        .map(|(prefix, members)| (prefix.to_vec(), members))
        .collect()
}

/// Everything that the lens promises, for one group.
fn check(group: &Arc<Group>, settings: &AnalysisSettings) -> usize {
    let name = &group.key.task;
    let analysis = Analysis::new(Arc::clone(group), settings);
    let walks: Vec<Vec<(u32, u32)>> = group
        .rollouts
        .iter()
        .map(|r| {
            let pair = |s: usize| analysis.graph.pair(analysis.graph.pair_of(s));
            r.steps.clone().map(|s| (pair(s).state, pair(s).action)).collect()
        })
        .collect();
    let walking = walks.iter().filter(|w| !w.is_empty()).count();
    let expected = rows_of_a_trie(&walks);
    let lens = Lens::new(&analysis, LensKind::Paths);
    let segments: Vec<usize> =
        (0..lens.rows.len()).filter(|&i| lens.rows[i].kind == RowKind::Segment).collect();
    assert!(segments.len() < (2 * walking).max(1), "{name}: {} rows, {walking}", segments.len());
    assert_eq!(segments.len(), analysis.paths.rows.len(), "{name}");
    assert_eq!(segments.len(), expected.len(), "{name}");
    // Before a segment is opened these are all the rows in sight.
    let all: Vec<usize> = (0..lens.rows.len()).collect();
    assert_eq!(Sight::new(&lens, &Folds::default(), &all, 0).rows, segments, "{name}");
    let mut walked: BTreeMap<usize, usize> = BTreeMap::new();
    for (&at, path) in segments.iter().zip(&analysis.paths.rows) {
        let row = &lens.rows[at];
        let members: BTreeSet<u32> = row.members.iter().copied().collect();
        assert_eq!(members.len(), row.members.len(), "{name}: no rollout passes a row twice");
        // The walk up to the row is the way there, and these are the rollouts that go it.
        let before = row.parent.map_or(0, |p| walked[&p]);
        let lead = &walks[row.members[0] as usize];
        assert_eq!(expected.get(&lead[..=before]), Some(&members), "{name}: row {at}");
        let after = before + row.steps as usize;
        walked.insert(at, after);
        // Whoever passes either ends here or passes one of the rows below, and only one.
        let mut below: Vec<u32> = segments
            .iter()
            .filter(|&&c| lens.rows[c].parent == Some(at))
            .flat_map(|&c| lens.rows[c].members.iter().copied())
            .collect();
        let ending: Vec<u32> =
            members.iter().copied().filter(|&m| walks[m as usize].len() == after).collect();
        assert_eq!(ending, path.ending, "{name}: row {at}");
        below.extend(&ending);
        below.sort_unstable();
        assert_eq!(below, members.iter().copied().collect::<Vec<_>>(), "{name}: row {at}");
        // Counts are those of the rollouts' own outcomes.
        let of = |wanted: fn(Outcome) -> bool| {
            row.members.iter().filter(|&&m| wanted(group.rollouts[m as usize].outcome)).count()
        };
        let ok = of(|o| o == Outcome::Success) as u32;
        let bad = of(|o| matches!(o, Outcome::Failure | Outcome::Truncated)) as u32;
        assert_eq!(row.counts, (ok + bad, ok, bad), "{name}: row {at}");
    }
    let roots: usize = segments
        .iter()
        .filter(|&&i| lens.rows[i].parent.is_none())
        .map(|&i| lens.rows[i].members.len())
        .sum();
    assert_eq!(roots, walking, "{name}: every rollout with steps starts in one row");
    assert!(lens.step_row.iter().all(|&r| (r as usize) < lens.rows.len()), "{name}: every step");
    segments.len()
}

#[test]
fn every_group_of_the_samples_and_of_the_corpus_folds_into_few_rows() {
    let samples = [
        "slugify-fix/rollouts.jsonl",
        "airline-desk/results.json",
        "datalad_final_05ea/rollouts.jsonl",
    ];
    let mut groups: Vec<Arc<Group>> =
        samples.iter().flat_map(|s| common::load(&[common::sample(s)]).corpus.groups).collect();
    if let Some(corpus) = common::corpus() {
        let found = common::load(&[corpus]).corpus.groups;
        assert!(found.len() > 100);
        groups.extend(found);
    }
    let settings = AnalysisSettings::default();
    let rows: usize = groups.iter().map(|g| check(g, &settings)).sum();
    println!("{} groups, {rows} rows", groups.len());
}

/// Small alphabets, so that walks meet; some without steps, some equal, some the beginning of others.
fn random_group(random: &mut Random) -> Arc<Group> {
    let n = 1 + random.below(24);
    let (states, actions, longest) =
        (1 + random.below(4), 1 + random.below(4), 1 + random.below(14));
    let mut walks: Vec<Made> = Vec::new();
    for i in 0..n {
        let outcome = Outcome::ALL[random.below(Outcome::ALL.len())];
        let mut walk: Vec<(String, String)> = match random.below(6) {
            0 if i > 0 => walks[random.below(i)].2.clone(),
            1 if i > 0 => {
                let whole = &walks[random.below(i)].2;
                whole[..random.below(whole.len() + 1)].to_vec()
            }
            _ => Vec::new(),
        };
        if walk.is_empty() || random.below(2) == 0 {
            for _ in 0..random.below(longest + 1) {
                let (s, a) = (random.below(states), random.below(actions));
                walk.push((format!("s{s}"), format!("a{a}")));
            }
        }
        walks.push((format!("r{i}"), outcome, walk));
    }
    let walks: Vec<_> = walks.iter().map(|(id, o, w)| (id.as_str(), *o, w.clone())).collect();
    tui_support::group("random", &walks)
}

#[test]
fn a_thousand_random_groups_fold_into_few_rows() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let settings = AnalysisSettings::default();
    let (mut rows, mut most) = (0, 0);
    for _ in 0..1_000 {
        let group = random_group(&mut random);
        let n = check(&group, &settings);
        rows += n;
        most = most.max(n);
    }
    println!("1000 groups, {rows} rows, at most {most}");
    assert!(most > 24, "the generator makes groups that branch");
}

/// Where the numbers of the tree stand, by its header: the right edge of each.
fn edges(header: &str) -> BTreeMap<&'static str, usize> {
    let cells: Vec<char> = header.chars().collect();
    let mut found = BTreeMap::new();
    for name in ["n", "✓", "✗", "Q", "V'", "A", "stp"] {
        let name_cells: Vec<char> = name.chars().collect();
        let at = (13..cells.len().saturating_sub(name_cells.len() - 1))
            .find(|&x| {
                cells[x..].starts_with(&name_cells)
                    && cells[x - 1] == ' '
                    && cells.get(x + name_cells.len()).is_none_or(|&c| c == ' ')
            })
            .unwrap_or_else(|| panic!("no {name} in {header}"));
        found.insert(name, at + name_cells.len());
    }
    found
}

/// The word that ends at a column.
fn word_at(cells: &[char], end: usize) -> String {
    let start = (0..end).rev().find(|&x| cells[x] == ' ').map_or(0, |x| x + 1);
    assert!(cells.get(end).is_none_or(|&c| c == ' '), "a number runs over its column");
    cells[start..end].iter().collect()
}

fn is_decimal(word: &str, signed: bool) -> bool {
    let digits = word.trim_start_matches(['+', '−']);
    let rest = digits.split_once('.');
    let number = rest.is_some_and(|(a, b)| {
        !a.is_empty()
            && b.len() == 3
            && [a, b].iter().all(|p| p.chars().all(|c| c.is_ascii_digit()))
    });
    word == "·" || number && (!signed || word.starts_with(['+', '−']) || digits == "0.000")
}

/// Walks the zoomed tree from top to bottom at 80x24; every row has all its numbers in their columns.
/// Gives the rows that were seen.
fn read_all(model: &mut Model) -> usize {
    press(model, "1");
    press(model, "Enter");
    press(model, "g");
    let rows = model.tree().unwrap().1.rows.len();
    let mut seen = 0;
    for at in 0..rows {
        let shown = picture(model);
        let header = shown.lines().find(|l| l.contains("first action")).unwrap();
        let edges = edges(header);
        let line = shown.lines().find(|l| l.starts_with('▸')).unwrap_or_else(|| panic!("{shown}"));
        let cells: Vec<char> = line.chars().collect();
        assert_eq!(cells.len(), 80, "{line}");
        for name in ["n", "✓", "✗", "stp"] {
            let word = word_at(&cells, edges[name]);
            assert!(word == "·" || word.parse::<usize>().is_ok(), "{name} of {line}");
        }
        for (name, signed) in [("Q", false), ("V'", false), ("A", true)] {
            let word = word_at(&cells, edges[name]);
            assert!(is_decimal(&word, signed), "{name} is {word:?} in {line}");
        }
        let visits: String = cells[edges["✗"]..edges["Q"] - 6].iter().collect();
        let (sa, s) = visits.trim().split_once('/').unwrap_or_else(|| panic!("{line}"));
        assert!(sa.parse::<usize>().unwrap() <= s.parse::<usize>().unwrap(), "{line}");
        // However deep the row, enough of its action is left to be recognised.
        let label: String = cells[1..edges["n"] - 2].iter().collect();
        let letters = label.chars().filter(char::is_ascii_alphanumeric).count();
        assert!(letters >= 4, "row {at} has no label: {line}");
        seen += 1;
        press(model, "j");
    }
    assert_eq!(seen, rows);
    press(model, "Esc");
    rows
}

#[test]
fn sixty_four_rollouts_of_two_hundred_steps_are_readable_at_80x24() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("group.json");
    std::fs::write(&path, common::generate::coding(64, 200)).unwrap();
    let (corpus, _) = tui_support::loaded(&path);
    assert_eq!(corpus.groups[0].rollouts.len(), 64);
    assert_eq!(corpus.groups[0].len(), 64 * 200);
    let mut model = opened(corpus, (80, 24));
    let rows = read_all(&mut model);
    assert!((64..128).contains(&rows), "{rows} rows");
}

/// Every rollout leaves the common way one step later than the one before: as deep as it can get.
#[test]
fn a_tree_of_sixty_three_levels_keeps_its_columns() {
    // One step is common to all.
    let way = |i: usize| {
        let mut walk: Vec<(String, String)> =
            (0..=i).map(|t| (format!("s{t}"), format!("view:full@file{t}.py"))).collect();
        walk.extend(
            (i + 1..200).map(|t| (format!("s{t}.{i}"), format!("modify:replace:{t:04x}@m{i}.py"))),
        );
        walk
    };
    let walks: Vec<(String, Outcome, _)> = (0..64)
        .map(|i| {
            (format!("r{i}"), if i % 3 == 0 { Outcome::Success } else { Outcome::Failure }, way(i))
        })
        .collect();
    let walks: Vec<_> = walks.iter().map(|(id, o, w)| (id.as_str(), *o, w.clone())).collect();
    let group = tui_support::group("comb", &walks);
    let mut model = opened(Corpus { groups: vec![group] }, (80, 24));
    let rows = read_all(&mut model);
    assert_eq!(rows, 127, "2N-1: the most there can be");
    let depth = model.snapshot().unwrap().paths.rows.iter().map(|r| r.depth).max();
    assert!(depth >= Some(62), "{depth:?}");
}

/// What the rule of the pane promises holds with rollouts that have no verdict or no steps, too.
#[test]
fn the_rule_counts_the_rollouts_that_have_rows() {
    let walk = |a: &str| vec![("s".to_owned(), a.to_owned())];
    let group = tui_support::group(
        "few verdicts",
        &[
            ("r1", Outcome::Success, walk("view:full@a.py")),
            ("r2", Outcome::Unscored, walk("view:full@b.py")),
            ("r3", Outcome::Unscored, walk("view:full@c.py")),
            ("r4", Outcome::Failure, vec![]),
        ],
    );
    let model = opened(Corpus { groups: vec![group] }, (80, 24));
    let shown = picture(&model);
    tui_support::line(&shown, &["1 Tree", "3 rows of at most 5"]);
}

/// Seven rollouts: three view, two search, one creates a file four times over, and one without a verdict
/// executes something. Rows of the paths, as they stand canonically; N counts rollouts:
///
/// ```text
/// view    r1 ✓ r2 ✓ r3 ✗   N 3   Q 2/3   3 steps down
///   test    r1 ✓ r2 ✓      N 2   Q 1
///   modify  r3 ✗           N 3   Q 1/3   2 steps; r4 and r5 come to this state by another way
/// search  r4 ✗ r5 ✓        N 2   Q 1/2   2 steps, the second is the same `modify`
/// create  r6 ✓             N 1   Q 1     4 steps
/// execute r7 ?             N 0           5 steps
/// ```
///
/// V is 4/6 at the top and 3/5 after it, and the rate of the group is 4/6: |A| is about 0.33 for create,
/// 0.17 for search, nothing for view; more than 0.33 for test, less for modify.
fn bushy() -> Arc<Group> {
    let walk = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(s, a)| ((*s).to_owned(), (*a).to_owned())).collect()
    };
    let (view, search) = (("s0", "view:full@b.py"), ("s0", "search:grep@."));
    let (create, execute) = (("s0", "create:file@z.py"), ("s9", "execute:python@run.py"));
    let modify = ("s1", "modify:replace:1@c.py");
    let tested = walk(&[view, ("s1", "test:run@t.py")]);
    tui_support::group(
        "bushy",
        &[
            ("r1", Outcome::Success, tested.clone()),
            ("r2", Outcome::Success, tested),
            ("r3", Outcome::Failure, walk(&[view, modify, ("s2", "finish")])),
            ("r4", Outcome::Failure, walk(&[search, modify])),
            ("r5", Outcome::Success, walk(&[search, modify])),
            ("r6", Outcome::Success, walk(&[create; 4])),
            ("r7", Outcome::Unscored, walk(&[execute; 5])),
        ],
    )
}

/// The rows of the zoomed tree: the first word of each action, with its indent.
fn shape(model: &Model) -> Vec<String> {
    let shown = picture(model);
    let lines = shown.lines().skip_while(|l| !l.contains("first action")).skip(1);
    lines
        .take_while(|l| l.contains(':'))
        .map(|l| {
            let chars: String = l.chars().skip(1).take(12).collect();
            let head = chars.split(':').next().unwrap().to_owned();
            head.replace(['▾', '▸', '─'], "").trim().to_owned()
        })
        .collect()
}

#[test]
fn siblings_stand_in_the_order_that_is_asked_for() {
    let mut model = opened(Corpus { groups: vec![bushy()] }, (100, 30));
    press(&mut model, "1");
    press(&mut model, "Enter");
    let canonical = ["view", "│├test", "│└modify", "search", "create", "execute"];
    assert_eq!(shape(&model), canonical);
    let expected: [(&str, [&str; 6]); 5] = [
        ("N↓", ["view", "│├modify", "│└test", "search", "create", "execute"]),
        ("|A|↓", ["create", "search", "view", "│├test", "│└modify", "execute"]),
        ("A↓", ["create", "view", "│├test", "│└modify", "search", "execute"]),
        ("depth↓", ["execute", "create", "view", "│├modify", "│└test", "search"]),
        ("name↑", ["create", "execute", "search", "view", "├modify", "└test"]),
    ];
    let cursor = model.cursor;
    for (name, rows) in expected {
        press(&mut model, "S");
        tui_support::line(&picture(&model), &["1 Tree", &format!("sort {name}")]);
        assert_eq!(shape(&model), rows, "{name}");
        assert_eq!(model.cursor, cursor, "{name}: sorting moves no cursor");
    }
    // Down goes to the row below as it is drawn.
    press(&mut model, "g");
    press(&mut model, "j");
    let shown = picture(&model);
    assert!(shown.lines().any(|l| l.starts_with('▸') && l.contains("execute:")), "{shown}");
    press(&mut model, "S");
    assert!(!picture(&model).contains("sort "));
    assert_eq!(shape(&model), canonical);
}

#[test]
fn small_subtrees_are_left_out_and_counted() {
    let mut model = opened(Corpus { groups: vec![bushy()] }, (100, 30));
    for name in ["1", "Enter", "g"] {
        press(&mut model, name);
    }
    // The cursor on `modify`, which is left out first: `view` stands for it.
    press(&mut model, "j");
    press(&mut model, "j");
    let cursor = model.cursor;
    press(&mut model, "Z");
    let shown = picture(&model);
    tui_support::line(&shown, &["1 Tree", "6 rows", "− 3 rows, 3 rollouts hidden"]);
    assert_eq!(shape(&model), ["view", "│└test", "search"]);
    let marked = shown.lines().find(|l| l.starts_with('▸')).unwrap();
    assert!(marked.contains("view:full@b.py") && marked.contains(" −1 "), "{marked}");
    assert_eq!(model.cursor, cursor, "the step stays selected");
    // What is drawn, what is hidden right below and what ends in a row is what passes it.
    let (lens, sight) = model.tree().unwrap();
    for &at in &sight.rows {
        let row = &lens.rows[at];
        let drawn: usize = sight
            .rows
            .iter()
            .filter(|&&c| lens.rows[c].parent == Some(at))
            .map(|&c| lens.rows[c].members.len())
            .sum();
        // `test` and `search` end both of theirs, `view` none.
        let ending = if row.members.len() == 2 { 2 } else { 0 };
        assert_eq!(drawn + sight.pruned_below[at] as usize + ending, row.members.len());
    }
    press(&mut model, "Z");
    tui_support::line(&picture(&model), &["− 5 rows, 7 rollouts hidden"]);
    assert_eq!(shape(&model), ["view"]);
    // Nobody has five: the pane says so, and which key helps.
    press(&mut model, "Z");
    tui_support::line(&picture(&model), &["− 6 rows, 7 rollouts hidden", "the cursor's too"]);
    tui_support::line(&picture(&model), &["no row has 5 scored rollouts: Z shows"]);
    press(&mut model, "Z");
    assert_eq!(shape(&model).len(), 6);
    assert!(!picture(&model).contains("hidden"));
    // A count is the number itself, and both lenses leave out.
    for name in ["0", "3", "Z", "t"] {
        press(&mut model, name);
    }
    let shown = picture(&model);
    tui_support::line(&shown, &["1 Tree", "states", "hidden"]);
    assert_eq!(model.arrangement.least, 3);
    assert_eq!(shape(&model), ["view"]);
    press(&mut model, "Z");
    assert_eq!(model.arrangement.least, 5);
}

/// In any order and with anything left out: a parent stands before its rows, nothing twice, and all that
/// is not in sight is counted.
#[test]
fn random_groups_keep_every_row_in_every_order() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let settings = AnalysisSettings::default();
    for _ in 0..200 {
        let group = random_group(&mut random);
        let snapshot = Snapshot::new(&group, &settings);
        for (kind, order) in
            [LensKind::Paths, LensKind::States].iter().flat_map(|&k| TreeOrder::ALL.map(|o| (k, o)))
        {
            let lens = snapshot.lens(kind);
            let drawn = snapshot.drawn(kind, order);
            let mut all = drawn.to_vec();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..lens.rows.len()), "{order:?}");
            for least in [0, 2, 5] {
                let sight = Sight::new(lens, &Folds::default(), drawn, least);
                let rows = lens.rows.iter().filter(|r| r.kind != RowKind::Inner).count();
                assert_eq!(sight.rows.len() + sight.pruned_rows, rows, "{order:?} {least}");
                for (at, &i) in sight.rows.iter().enumerate() {
                    let parent = lens.rows[i].parent;
                    assert!(parent.is_none_or(|p| sight.rows[..at].contains(&p)));
                }
                for (i, row) in lens.rows.iter().enumerate() {
                    if !sight.rows.contains(&i) && row.kind != RowKind::Inner {
                        assert!((row.counts.0 as usize) < least);
                    }
                }
            }
        }
    }
}
