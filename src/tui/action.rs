//! What a key can do. Which key does it is in [`super::keymap`]; how it is done, in [`super::update`].

use super::layout::Pane;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The next pane on the screen.
    NextPane,
    /// The previous pane on the screen.
    PreviousPane,
    /// A pane by its key.
    Focus(Pane),
    /// A row down.
    Down,
    /// A row up.
    Up,
    /// The first row.
    Top,
    /// The last row.
    Bottom,
    /// A page down.
    PageDown,
    /// A page up.
    PageUp,
    /// Close what is open, or go to the parent.
    Left,
    /// Open what is closed.
    Right,
    /// Follow, open, or give the pane all the room.
    Enter,
    /// Fold or unfold.
    Fold,
    /// Fold everything.
    FoldAll,
    /// Unfold everything.
    UnfoldAll,
    /// Leave small subtrees of the tree out.
    Prune,
    /// The next rollout.
    NextRollout,
    /// The previous rollout.
    PreviousRollout,
    /// The next group.
    NextGroup,
    /// The previous group.
    PreviousGroup,
    /// Paths or states.
    Lens,
    /// The next column becomes Y.
    NextColumn,
    /// Bars on their own scale or on a shared one.
    Scale,
    /// The next step where X and Y disagree.
    NextDisagreement,
    /// The previous step where X and Y disagree.
    PreviousDisagreement,
    /// The next step at a branching state.
    NextBranching,
    /// The previous step at a branching state.
    PreviousBranching,
    /// The arithmetic of the selected value.
    Explain,
    /// The text of the selected step.
    Read,
    /// The steps worth reading.
    Pivotal,
    /// Copy the value under the cursor.
    Copy,
    /// Copy what the pane shows.
    CopyView,
    /// Show control characters in visible forms, or leave them out.
    Controls,
    /// The list of groups.
    Groups,
    /// The next order of the tree or of the list of groups, whichever has the focus.
    Sort,
    /// The menu of exports.
    Export,
    /// The text of the step in the pager or the editor.
    Open,
    /// Load everything again.
    Reload,
    /// Stop the load that runs.
    StopLoading,
    /// Rollouts side by side.
    Compare,
    /// The chooser of columns.
    Columns,
    /// The filter of steps.
    Filter,
    /// Search.
    Search,
    /// Everything that can be done.
    Palette,
    /// Where the cursor was before it jumped.
    JumpBack,
    /// Where it was before it went back.
    JumpForward,
    /// The knobs of the signature.
    Knobs,
    /// Make the present signature the one to compare with.
    Pin,
    /// One row per value of a knob.
    Sweep,
    /// Take the last turn of a knob back.
    Undo,
    /// The next preset.
    NextPreset,
    /// The previous preset.
    PreviousPreset,
    /// The warnings.
    Warnings,
    /// The next theme.
    Theme,
    /// Capture the mouse, or give it back to the terminal.
    Mouse,
    /// The keys.
    Help,
    /// Close the topmost layer.
    Close,
    /// Leave.
    Quit,
    /// Leave at once.
    Interrupt,
    /// Paint the screen again.
    Repaint,
    /// Give the terminal back to the shell for a while.
    Suspend,
}
