//! The processes: chain, tree, grid, coding. Each is varied by draws, so that groups differ.

use super::{Action, Draws, Next, Process, State, Way};

/// A kind of process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    /// A chain with detours that come back to it. Deterministic, no loops.
    Chain,
    /// A tree of three actions and three levels, whose leaves are drawn. Deterministic, no loops.
    Tree,
    /// A walk on a grid to a goal, past pits. Deterministic, with loops.
    Grid,
    /// Explore, edit, test, submit: what is known and whether the edit is right stays hidden, so that
    /// states that look the same are not. Stochastic, with loops.
    Coding,
}

impl ProcessKind {
    /// All kinds, in the order of help.
    pub const ALL: [Self; 4] = [Self::Chain, Self::Tree, Self::Grid, Self::Coding];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Tree => "tree",
            Self::Grid => "grid",
            Self::Coding => "coding",
        }
    }

    /// Draws a process of this kind.
    #[must_use]
    pub fn build(self, draws: &mut Draws) -> Process {
        match self {
            Self::Chain => chain(draws),
            Self::Tree => tree(draws),
            Self::Grid => grid(draws),
            Self::Coding => coding(draws),
        }
    }
}

/// A state whose weights, each varied by up to `spread`, become probabilities.
fn state(key: String, mut actions: Vec<Action>, spread: f64, draws: &mut Draws) -> State {
    for action in &mut actions {
        action.chance *= 1.0 + spread * (2.0 * draws.unit() - 1.0);
    }
    let total: f64 = actions.iter().map(|a| a.chance).sum();
    for action in &mut actions {
        action.chance /= total;
    }
    State { key, actions }
}

fn sure(key: &str, weight: f64, next: Next) -> Action {
    Action {
        key: key.to_owned(),
        chance: weight,
        call: None,
        ways: vec![Way { chance: 1.0, next, answer: None }],
    }
}

const LINKS: usize = 5;

/// Links c0 to c4: advance, detour or quit. A detour comes back to the next link or gets lost.
fn chain(draws: &mut Draws) -> Process {
    let after = |i: usize| if i + 1 < LINKS { Next::State(i + 1) } else { Next::End(true) };
    let links = (0..LINKS).map(|i| {
        let detour = sure("detour", 0.25, Next::State(LINKS + i));
        let quit = sure("quit", 0.1, Next::End(false));
        (format!("c{i}"), vec![sure("advance", 0.65, after(i)), detour, quit])
    });
    let detours = (0..LINKS).map(|i| {
        let lost = sure("lost", 0.35, Next::End(false));
        (format!("d{i}"), vec![sure("return", 0.65, after(i)), lost])
    });
    let all: Vec<(String, Vec<Action>)> = links.chain(detours).collect();
    Process { states: all.into_iter().map(|(k, a)| state(k, a, 0.4, draws)).collect() }
}

const BRANCHES: usize = 3;
const LEVELS: u32 = 3;
/// Chance that a leaf is a success.
const LEAF: f64 = 0.4;

/// A state for every sequence of fewer than three actions, numbered level by level.
fn tree(draws: &mut Draws) -> Process {
    let inner = (BRANCHES.pow(LEVELS) - 1) / (BRANCHES - 1);
    let mut keys = vec!["root".to_owned()];
    let mut states = Vec::with_capacity(inner);
    for i in 0..inner {
        let key = keys.get(i).cloned().unwrap_or_default();
        let mut actions = Vec::with_capacity(BRANCHES);
        for (b, name) in ["a", "b", "c"].into_iter().enumerate() {
            let child = BRANCHES * i + 1 + b;
            let next = if child < inner {
                keys.push(format!("{key}.{name}"));
                Next::State(child)
            } else {
                Next::End(draws.unit() < LEAF)
            };
            actions.push(sure(name, 1.0, next));
        }
        states.push(state(key, actions, 0.6, draws));
    }
    Process { states }
}

const SIDE: usize = 4;

/// Four by four cells: from the first corner to the last, with two pits. Steps into a wall stay.
fn grid(draws: &mut Draws) -> Process {
    let goal = SIDE * SIDE - 1;
    let mut pits: Vec<usize> = Vec::new();
    while pits.len() < 2 {
        let cell = 1 + draws.pick(std::iter::repeat_n(1.0 / (goal - 1) as f64, goal - 1));
        if !pits.contains(&cell) {
            pits.push(cell);
        }
    }
    let enter = |cell: usize| match cell {
        _ if cell == goal => Next::End(true),
        _ if pits.contains(&cell) => Next::End(false),
        _ => Next::State(cell),
    };
    let states = (0..=goal)
        .map(|cell| {
            let (row, column) = (cell / SIDE, cell % SIDE);
            let to = |moves: bool, next: usize| enter(if moves { next } else { cell });
            let actions = vec![
                sure("down", 0.35, to(row + 1 < SIDE, cell + SIDE)),
                sure("right", 0.35, to(column + 1 < SIDE, cell + 1)),
                sure("up", 0.15, to(row > 0, cell.saturating_sub(SIDE))),
                sure("left", 0.15, to(column > 0, cell.saturating_sub(1))),
            ];
            state(format!("{row},{column}"), actions, 0.4, draws)
        })
        .collect();
    Process { states }
}

/// What is true of the coding process, the hidden part included.
#[derive(Clone, Copy, PartialEq)]
struct Work {
    /// Looks at the code so far, at most 2.
    looks: usize,
    /// Hidden: whether the fault was found.
    found: bool,
    /// Hidden beyond whether there is one: no edit, a wrong one, a right one.
    edit: Edit,
    /// The last test since the last edit.
    test: Test,
}

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    None,
    Wrong,
    Right,
}

#[derive(Clone, Copy, PartialEq)]
enum Test {
    None,
    Failed,
    Passed,
}

impl Work {
    /// Number of the state.
    fn index(self) -> usize {
        let (edit, test) = (self.edit as usize, self.test as usize);
        ((self.looks * 2 + usize::from(self.found)) * 3 + edit) * 3 + test
    }

    fn of(index: usize) -> Self {
        let edit = match index / 3 % 3 {
            0 => Edit::None,
            1 => Edit::Wrong,
            _ => Edit::Right,
        };
        let test = match index % 3 {
            0 => Test::None,
            1 => Test::Failed,
            _ => Test::Passed,
        };
        Self { looks: index / 18, found: index / 9 % 2 == 1, edit, test }
    }

    /// What an agent sees: looks, whether it edited, the last test.
    fn key(self) -> String {
        let edited = if self.edit == Edit::None { "unchanged" } else { "edited" };
        let test = match self.test {
            Test::None => "untested",
            Test::Failed => "failed",
            Test::Passed => "passed",
        };
        format!("looks:{} {edited} {test}", self.looks)
    }

    /// Weights of explore, edit, test, submit: by what is seen alone.
    const fn weights(self) -> [f64; 4] {
        match (self.edit, self.test, self.looks) {
            (Edit::None, _, 0) => [0.7, 0.2, 0.07, 0.03],
            (Edit::None, ..) => [0.3, 0.55, 0.08, 0.07],
            (_, Test::None, _) => [0.1, 0.15, 0.5, 0.25],
            (_, Test::Failed, _) => [0.25, 0.55, 0.05, 0.15],
            (_, Test::Passed, _) => [0.03, 0.05, 0.07, 0.85],
        }
    }

    fn ways(self, action: usize) -> Vec<Way> {
        let to = |chance: f64, work: Self, answer| Way {
            chance,
            next: Next::State(work.index()),
            answer: Some(answer),
        };
        let shown = ("def parse(text):\n    return text", 0);
        let edited = ("The file /testbed/src/parse.py has been edited.", 0);
        let (passed, failed) = (("3 passed", 0), ("1 failed, 2 passed", 1));
        match action {
            0 => {
                let look = Self { looks: (self.looks + 1).min(2), ..self };
                if self.found {
                    vec![to(1.0, look, shown)]
                } else {
                    vec![to(0.5, Self { found: true, ..look }, shown), to(0.5, look, shown)]
                }
            }
            1 => {
                let right = if self.found { 0.75 } else { 0.15 };
                let with = |edit| Self { edit, test: Test::None, ..self };
                vec![
                    to(right, with(Edit::Right), edited),
                    to(1.0 - right, with(Edit::Wrong), edited),
                ]
            }
            2 => {
                let (pass, fail) =
                    (Self { test: Test::Passed, ..self }, Self { test: Test::Failed, ..self });
                match self.edit {
                    Edit::None => vec![to(1.0, fail, failed)],
                    Edit::Right => vec![to(1.0, pass, passed)],
                    // Weak tests: some wrong edits pass.
                    Edit::Wrong => vec![to(0.15, pass, passed), to(0.85, fail, failed)],
                }
            }
            _ => {
                let next = Next::End(self.edit == Edit::Right);
                vec![Way { chance: 1.0, next, answer: Some(("", 0)) }]
            }
        }
    }
}

/// The call that stands for an action of the coding process.
fn call(action: usize, looks: usize) -> (&'static str, String) {
    const FILES: [&str; 3] = ["parse", "lex", "main"];
    let file = FILES.get(looks).copied().unwrap_or("parse");
    match action {
        0 => (
            "str_replace_editor",
            format!(r#"{{"command":"view","path":"/testbed/src/{file}.py"}}"#),
        ),
        1 => (
            "str_replace_editor",
            r#"{"command":"str_replace","path":"/testbed/src/parse.py","old_str":"return text","new_str":"return text.strip()"}"#
                .to_owned(),
        ),
        2 => ("execute_bash", r#"{"command":"python -m pytest -q tests"}"#.to_owned()),
        _ => ("submit", "{}".to_owned()),
    }
}

/// Explore, edit, test, submit.
fn coding(draws: &mut Draws) -> Process {
    // The policy depends on what is seen alone: states of one key share their varied weights.
    let mut seen: Vec<(String, [f64; 4])> = Vec::new();
    let states = (0..54)
        .map(|index| {
            let work = Work::of(index);
            let key = work.key();
            let known = seen.iter().find(|(k, _)| *k == key).map(|(_, chances)| *chances);
            let chances = known.unwrap_or_else(|| {
                let varied = work.weights().map(|w| w * (0.7 + 0.6 * draws.unit()));
                let total: f64 = varied.iter().sum();
                let chances = varied.map(|w| w / total);
                seen.push((key.clone(), chances));
                chances
            });
            let actions = ["explore", "edit", "test", "submit"]
                .into_iter()
                .zip(chances)
                .enumerate()
                .map(|(a, (name, chance))| Action {
                    key: name.to_owned(),
                    chance,
                    call: Some(call(a, work.looks)),
                    ways: work.ways(a),
                })
                .collect();
            State { key, actions }
        })
        .collect();
    Process { states }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_and_ways_lead_somewhere() {
        for kind in ProcessKind::ALL {
            let process = kind.build(&mut Draws::new(3, 0));
            assert_eq!(process.is_deterministic(), kind != ProcessKind::Coding);
            for state in &process.states {
                let total: f64 = state.actions.iter().map(|a| a.chance).sum();
                assert!((total - 1.0).abs() < 1e-12);
                for action in &state.actions {
                    let total: f64 = action.ways.iter().map(|w| w.chance).sum();
                    assert!((total - 1.0).abs() < 1e-12);
                    for way in &action.ways {
                        assert!(
                            !matches!(way.next, Next::State(x) if x >= process.states.len()),
                            "{way:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn hidden_states_look_alike() {
        let process = coding(&mut Draws::new(0, 0));
        for index in 0..54 {
            assert_eq!(Work::of(index).index(), index);
        }
        let exact = process.solve(0.99);
        let of = |found, edit| Work { looks: 1, found, edit, test: Test::None }.index();
        let (a, b) = (of(true, Edit::Right), of(true, Edit::Wrong));
        assert_eq!(process.states[a].key, process.states[b].key);
        assert!(exact.v[a] > exact.v[b] + 0.1);
    }
}
