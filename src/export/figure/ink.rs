//! The colours of a figure, by theme. Figures stand on white paper, whatever the screen looks like.

/// Colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    /// Name of the theme.
    pub name: &'static str,
    /// Positive values and successes.
    pub pos: &'static str,
    /// Negative values and failures.
    pub neg: &'static str,
}

/// Texts and axes.
pub(super) const TEXT: &str = "#1c1e24";
/// Notes, ticks, what is missing.
pub(super) const DIM: &str = "#5f636b";
/// Grid lines and frames.
pub(super) const RULE: &str = "#c9ccd2";
/// What is inside a threshold.
pub(super) const INSIDE: &str = "#dfe1e5";

impl Ink {
    /// Blue and orange: told apart with any kind of colour vision.
    pub const DEFAULT: Self = Self { name: "default", pos: "#2c6fbb", neg: "#e0801f" };
    const ALL: [Self; 4] = [
        Self::DEFAULT,
        // As in the paper.
        Self { name: "paper", pos: "#2a9148", neg: "#cf352e" },
        Self { name: "light", ..Self::DEFAULT },
        Self { name: "mono", pos: "#3a3a3a", neg: "#8f8f8f" },
    ];

    /// The colours of a theme of the screen.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ink| ink.name == name)
    }

    /// The names of all themes.
    #[must_use]
    pub fn names() -> [&'static str; 4] {
        Self::ALL.map(|ink| ink.name)
    }
}
