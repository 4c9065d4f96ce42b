//! The one table of keys: it decides what a key does, and makes the help screen, the footer and every
//! printed list of keys.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub use super::action::Action;
use super::layout::Pane;

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Keys, as people write them.
    pub keys: &'static [&'static str],
    /// What each of them does, in the order of `keys`; the last one serves all that follow.
    pub actions: &'static [Action],
    /// How the footer writes the keys and what they do; empty when the footer leaves it out.
    pub short: (&'static str, &'static str),
    /// What it does, in full.
    pub help: &'static str,
    /// Under which heading the help lists it.
    pub section: &'static str,
}

const fn bind(
    section: &'static str,
    keys: &'static [&'static str],
    actions: &'static [Action],
    short: (&'static str, &'static str),
    help: &'static str,
) -> Binding {
    Binding { keys, actions, short, help, section }
}

use Action as A;

/// All keys, in the order of the help screen.
pub const BINDINGS: &[Binding] = &[
    bind(
        "Panes",
        &["Tab", "Shift-Tab"],
        &[A::NextPane, A::PreviousPane],
        ("Tab", "pane"),
        "next and previous pane",
    ),
    bind(
        "Panes",
        &["1", "2", "3", "4", "5", "6", "7"],
        &[
            A::Focus(Pane::Tree),
            A::Focus(Pane::Steps),
            A::Focus(Pane::Explain),
            A::Focus(Pane::Quadrants),
            A::Focus(Pane::Knobs),
            A::Focus(Pane::Rollouts),
            A::Focus(Pane::Matrix),
        ],
        ("", ""),
        "tree, steps, explain, quadrants, signature, rollouts, matrix",
    ),
    bind(
        "Panes",
        &["Enter"],
        &[A::Enter],
        ("Enter", "zoom"),
        "give the pane all the room; in a list: follow or open the row",
    ),
    bind(
        "Panes",
        &["Esc"],
        &[A::Close],
        ("Esc", "back"),
        "close the topmost layer, and only that one",
    ),
    bind(
        "Moving",
        &["j", "k", "Down", "Up"],
        &[A::Down, A::Up, A::Down, A::Up],
        ("jk", "row"),
        "row down and up; a count goes before it: 10j (or with a leading 0: 012j)",
    ),
    bind(
        "Moving",
        &["g", "G", "Home", "End"],
        &[A::Top, A::Bottom, A::Top, A::Bottom],
        ("", ""),
        "first and last row",
    ),
    bind(
        "Moving",
        &["PgDn", "PgUp", "Ctrl-f", "Ctrl-b"],
        &[A::PageDown, A::PageUp, A::PageDown, A::PageUp],
        ("", ""),
        "page down and up",
    ),
    bind(
        "Moving",
        &["[", "]"],
        &[A::PreviousRollout, A::NextRollout],
        ("[ ]", "rollout"),
        "previous and next rollout of the group",
    ),
    bind(
        "Moving",
        &["{", "}"],
        &[A::PreviousGroup, A::NextGroup],
        ("{ }", "group"),
        "previous and next group",
    ),
    bind(
        "Moving",
        &["n", "N"],
        &[A::NextDisagreement, A::PreviousDisagreement],
        ("n N", "≠"),
        "next and previous hit while searching, else step where X and Y disagree",
    ),
    bind(
        "Moving",
        &["d", "D"],
        &[A::NextBranching, A::PreviousBranching],
        ("d D", "branching"),
        "next and previous step at a branching state",
    ),
    bind(
        "Moving",
        &["<", ">", "Ctrl-o"],
        &[A::JumpBack, A::JumpForward, A::JumpBack],
        ("< >", "back"),
        "back to where the cursor was before it jumped, and forward again",
    ),
    bind(
        "Tree",
        &["h", "l", "Left", "Right"],
        &[A::Left, A::Right, A::Left, A::Right],
        ("hl", "fold"),
        "tree: close (or go to the parent), open; matrix: step; compare: rollout; signature: turn",
    ),
    bind(
        "Tree",
        &["Space"],
        &[A::Fold],
        ("", ""),
        "fold or unfold the row; steps: a run of equal ones; rollouts: mark for the comparison",
    ),
    bind("Tree", &["z", "x"], &[A::FoldAll, A::UnfoldAll], ("", ""), "fold and unfold everything"),
    bind(
        "Tree",
        &["Z"],
        &[A::Prune],
        ("Z", "prune"),
        "hide subtrees with fewer than 2, 3, 5 scored rollouts, then none; a count is the number: 04Z",
    ),
    bind(
        "Tree",
        &["t"],
        &[A::Lens],
        ("t", "states"),
        "paths (folded walks) or states (each state once)",
    ),
    bind(
        "Values",
        &["=", "i"],
        &[A::Explain, A::Read],
        ("= i", "why, read"),
        "explain the selected value; read the step itself",
    ),
    bind(
        "Values",
        &["r"],
        &[A::Pivotal],
        ("r", "what to read"),
        "the steps worth reading first, with why; Enter goes to one, Space lists all groups",
    ),
    bind(
        "Values",
        &["m"],
        &[A::NextColumn],
        ("m", "column"),
        "next estimator: the column that is Y and is explained",
    ),
    bind(
        "Values",
        &["c"],
        &[A::Columns],
        ("c", "columns"),
        "choose columns out of all estimators, and X and Y",
    ),
    bind(
        "Values",
        &["s"],
        &[A::Scale],
        ("s", "scale"),
        "bars: each column on its own scale, or all on one",
    ),
    bind(
        "Values",
        &["y"],
        &[A::Copy],
        ("y", "copy"),
        "copy what the cursor names, with all digits, through the terminal (OSC 52; tmux: set -g set-clipboard on)",
    ),
    bind("Values", &["Y"], &[A::CopyView], ("Y", "copy pane"), "copy what the pane shows, as text"),
    bind(
        "Values",
        &["C"],
        &[A::Controls],
        ("C", "controls"),
        "show control characters of texts as ^[ and \\x00, or leave them out",
    ),
    bind(
        "Signature",
        &["v"],
        &[A::Knobs],
        ("v", "knobs"),
        "turn the knobs of the signature with the matrix in view",
    ),
    bind(
        "Signature",
        &["b"],
        &[A::Pin],
        ("b", "pin"),
        "pin the present signature: changes are counted against it",
    ),
    bind(
        "Signature",
        &["w"],
        &[A::Sweep],
        ("w", "sweep"),
        "one row per value of the knob: h l other knobs, Space all groups, Enter takes the value",
    ),
    bind("Signature", &["u"], &[A::Undo], ("u", "undo"), "take the last turn back"),
    bind(
        "Signature",
        &["p", "P"],
        &[A::NextPreset, A::PreviousPreset],
        ("p", "preset"),
        "next and previous preset",
    ),
    bind(
        "Lists",
        &["f"],
        &[A::Filter],
        ("f", "filter"),
        "filter steps by outcome, result, file and more; groups: mixed only; compare: steps only here",
    ),
    bind(
        "Lists",
        &["/"],
        &[A::Search],
        ("/", "find"),
        "search actions, signatures and texts; in the list of groups: tasks; Esc ends the search",
    ),
    bind(
        "Lists",
        &["|"],
        &[A::Compare],
        ("|", "compare"),
        "the selected rollout beside its nearest (or those marked with Space in the rollouts)",
    ),
    bind(
        "Program",
        &["e"],
        &[A::Export],
        ("e", "export"),
        "write steps, quadrants, groups or settings into a new file",
    ),
    bind(
        "Program",
        &["o"],
        &[A::Open],
        ("o", "open"),
        "the text of the step in $PAGER, else $EDITOR, else less",
    ),
    bind("Program", &["R"], &[A::Reload], ("R", "reload"), "load everything again"),
    bind(
        "Program",
        &["X"],
        &[A::StopLoading],
        ("X", "stop loading"),
        "stop the load that runs: what was read is kept, marked as partial",
    ),
    bind("Lists", &["a"], &[A::Groups], ("a", "groups"), "all groups; Enter opens one"),
    bind(
        "Lists",
        &["S"],
        &[A::Sort],
        ("S", "sort"),
        "next order: in the tree of siblings (N, |A|, A, depth, name), in the list of groups by column",
    ),
    bind("Lists", &["W"], &[A::Warnings], ("W", "warnings"), "all warnings, with what they mean"),
    bind(
        "Program",
        &[":"],
        &[A::Palette],
        (":", "palette"),
        "everything that can be done, by name",
    ),
    bind("Program", &["T"], &[A::Theme], ("T", "theme"), "next theme"),
    bind(
        "Program",
        &["M"],
        &[A::Mouse],
        ("M", "mouse"),
        "capture the mouse (wheel and clicks), or leave it to the terminal to select text",
    ),
    bind("Program", &["Ctrl-l"], &[A::Repaint], ("", ""), "paint the screen again"),
    bind("Program", &["Ctrl-z"], &[A::Suspend], ("", ""), "suspend; fg comes back"),
    bind("Program", &["Ctrl-c"], &[A::Interrupt], ("", ""), "leave at once, from anywhere"),
    bind("Program", &["?"], &[A::Help], ("?", "help"), "this list; type to search it"),
    bind("Program", &["q"], &[A::Quit], ("q", "quit"), "leave"),
];

/// The name of a key as the table writes it; `None` for keys that no table entry can name.
#[must_use]
pub fn name(key: &KeyEvent) -> Option<String> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER | KeyModifiers::META) {
        return None;
    }
    let plain = match key.code {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(c) if control => return Some(format!("Ctrl-{}", c.to_ascii_lowercase())),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => "Shift-Tab".to_owned(),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        KeyCode::Tab => "Tab".to_owned(),
        KeyCode::Enter => "Enter".to_owned(),
        KeyCode::Esc => "Esc".to_owned(),
        KeyCode::Down => "Down".to_owned(),
        KeyCode::Up => "Up".to_owned(),
        KeyCode::Left => "Left".to_owned(),
        KeyCode::Right => "Right".to_owned(),
        KeyCode::Home => "Home".to_owned(),
        KeyCode::End => "End".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::Backspace => "Backspace".to_owned(),
        _ => return None,
    };
    (!control || matches!(key.code, KeyCode::Char(_))).then_some(plain)
}

/// What a key does.
#[must_use]
pub fn action(name: &str) -> Option<Action> {
    BINDINGS.iter().find_map(|binding| {
        let at = binding.keys.iter().position(|k| *k == name)?;
        binding.actions.get(at).or(binding.actions.last()).copied()
    })
}

/// The binding of an action, for the footer.
#[must_use]
pub fn binding(action: Action) -> Option<&'static Binding> {
    BINDINGS.iter().find(|b| b.actions.contains(&action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_bound_twice_and_every_key_has_its_action() {
        let mut keys: Vec<&str> = BINDINGS.iter().flat_map(|b| b.keys).copied().collect();
        assert!(BINDINGS.iter().all(|b| b.keys.len() == b.actions.len()));
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
        assert_eq!(action("G"), Some(Action::Bottom));
        assert_eq!(action("Ctrl-c"), Some(Action::Interrupt));
    }

    #[test]
    fn keys_have_the_names_of_the_table() {
        let key = |code, modifiers| name(&KeyEvent::new(code, modifiers));
        assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT).as_deref(), Some("G"));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL).as_deref(), Some("Ctrl-c"));
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT).as_deref(), Some("Shift-Tab"));
        assert_eq!(key(KeyCode::Char('j'), KeyModifiers::ALT), None);
    }
}
