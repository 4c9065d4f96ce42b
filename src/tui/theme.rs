//! Colour roles and the capability layer for colours: themes by depth of the terminal.
//!
//! No meaning hangs on a colour alone, so the monochrome theme loses nothing but comfort. It uses
//! default colours and attributes only: under `NO_COLOR` the terminal library turns any colour into a
//! reset, which would erase reverse and bold with it.

use ratatui::style::{Color, Modifier, Style};

/// How many colours the terminal says it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// No colour at all.
    None,
    /// The 16 colours of every terminal.
    Ansi16,
    /// The 256-colour palette.
    Ansi256,
    /// 24 bits.
    True,
}

impl Depth {
    /// What the environment announces. `no_color` is set when `NO_COLOR` is there and not empty.
    #[must_use]
    pub fn detect(no_color: bool, colorterm: &str, term: &str) -> Self {
        if no_color {
            Self::None
        } else if matches!(colorterm, "truecolor" | "24bit") {
            Self::True
        } else if term.contains("256color") {
            Self::Ansi256
        } else {
            Self::Ansi16
        }
    }
}

/// A theme by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeId {
    /// Blue and orange on dark: told apart with any kind of colour vision.
    Default,
    /// Green and red, as in the paper's figures.
    Paper,
    /// Blue and orange on a light ground.
    Light,
    /// Bold, dim and reverse only.
    Mono,
}

impl ThemeId {
    /// All themes, in the order of the key that turns them.
    pub const ALL: [Self; 4] = [Self::Default, Self::Paper, Self::Light, Self::Mono];

    /// The name used in options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
            Self::Light => "light",
            Self::Mono => "mono",
        }
    }

    /// What it is for.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Default => "blue and orange, for dark grounds",
            Self::Paper => "green and red, as in the paper",
            Self::Light => "dark blue and brown, for light grounds",
            Self::Mono => "no colour: bold, dim and reverse",
        }
    }

    /// The theme with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// The next one.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&t| t == self).unwrap_or(0);
        Self::ALL.get((at + 1) % Self::ALL.len()).copied().unwrap_or(self)
    }
}

/// The styles of all roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Which theme this is.
    pub id: ThemeId,
    /// Plain text.
    pub text: Style,
    /// Positive values, successes, lines put in.
    pub pos: Style,
    /// Negative values, failures, lines taken out.
    pub neg: Style,
    /// Pane titles and what the cursor names.
    pub title: Style,
    /// Disagreements and their labels.
    pub strong: Style,
    /// Rules, axes, and everything that rests on one rollout.
    pub dim: Style,
    /// Keys.
    pub key: Style,
    /// Warnings.
    pub warn: Style,
    /// The heavy rule of the focused pane.
    pub focus: Style,
    /// Laid over the selected row.
    pub select: Style,
}

/// One colour at three depths.
type Triple = (Color, u8, (u8, u8, u8));

struct Palette {
    pos: Triple,
    neg: Triple,
    dim: Triple,
    key: Triple,
    warn: Triple,
    focus: Triple,
    strong: Triple,
    select: (u8, (u8, u8, u8)),
}

const DARK: Palette = Palette {
    pos: (Color::LightBlue, 75, (0x52, 0x96, 0xff)),
    neg: (Color::Yellow, 215, (0xff, 0x9a, 0x3c)),
    dim: (Color::DarkGray, 245, (0x82, 0x86, 0x90)),
    key: (Color::Cyan, 73, (0x62, 0xb4, 0xae)),
    warn: (Color::LightMagenta, 176, (0xd8, 0x72, 0xd0)),
    focus: (Color::LightBlue, 111, (0x8a, 0xb8, 0xff)),
    strong: (Color::White, 231, (0xff, 0xff, 0xff)),
    select: (237, (0x38, 0x3e, 0x50)),
};

const PAPER: Palette = Palette {
    pos: (Color::Green, 77, (0x4c, 0xb8, 0x5c)),
    neg: (Color::Red, 203, (0xf2, 0x5c, 0x54)),
    ..DARK
};

const LIGHT: Palette = Palette {
    pos: (Color::Blue, 25, (0x0b, 0x4f, 0xb3)),
    neg: (Color::Red, 130, (0xa8, 0x50, 0x00)),
    dim: (Color::DarkGray, 243, (0x6a, 0x6e, 0x78)),
    key: (Color::Cyan, 30, (0x00, 0x70, 0x78)),
    warn: (Color::Magenta, 127, (0x9a, 0x1e, 0x92)),
    focus: (Color::Blue, 25, (0x0b, 0x4f, 0xb3)),
    strong: (Color::Black, 16, (0x00, 0x00, 0x00)),
    select: (254, (0xdc, 0xe4, 0xf4)),
};

impl Theme {
    /// A theme at a depth. At [`Depth::None`] every theme is the monochrome one.
    #[must_use]
    pub fn new(id: ThemeId, depth: Depth) -> Self {
        if depth == Depth::None || id == ThemeId::Mono {
            return Self::mono(id);
        }
        let palette = match id {
            ThemeId::Paper => &PAPER,
            ThemeId::Light => &LIGHT,
            ThemeId::Default | ThemeId::Mono => &DARK,
        };
        let color = |(ansi, indexed, (r, g, b)): Triple| match depth {
            Depth::True => Color::Rgb(r, g, b),
            Depth::Ansi256 => Color::Indexed(indexed),
            Depth::None | Depth::Ansi16 => ansi,
        };
        let style = |triple| Style::new().fg(color(triple));
        let (indexed, (r, g, b)) = palette.select;
        Self {
            id,
            text: Style::new(),
            pos: style(palette.pos),
            neg: style(palette.neg),
            title: style(palette.strong).add_modifier(Modifier::BOLD),
            strong: style(palette.strong).add_modifier(Modifier::BOLD),
            dim: style(palette.dim),
            key: style(palette.key),
            warn: style(palette.warn),
            focus: style(palette.focus),
            select: match depth {
                Depth::True => Style::new().bg(Color::Rgb(r, g, b)),
                Depth::Ansi256 => Style::new().bg(Color::Indexed(indexed)),
                Depth::None | Depth::Ansi16 => Style::new().add_modifier(Modifier::REVERSED),
            },
        }
    }

    fn mono(id: ThemeId) -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        Self {
            id,
            text: plain,
            pos: plain,
            neg: plain,
            title: bold,
            strong: bold,
            dim: plain.add_modifier(Modifier::DIM),
            key: bold,
            warn: bold,
            focus: bold,
            select: plain.add_modifier(Modifier::REVERSED),
        }
    }

    /// The style of a value by its sign; dim where it is nothing.
    #[must_use]
    pub fn of_sign(&self, value: f64) -> Style {
        if value > 0.0 {
            self.pos
        } else if value < 0.0 {
            self.neg
        } else {
            self.dim
        }
    }

    /// Whether the selection is drawn by swapping the colours.
    #[must_use]
    pub fn reverses(&self) -> bool {
        self.select.add_modifier.contains(Modifier::REVERSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monochrome_sets_no_colour_and_keeps_the_selection() {
        for id in ThemeId::ALL {
            let theme = Theme::new(id, Depth::None);
            for style in [
                theme.text,
                theme.pos,
                theme.neg,
                theme.title,
                theme.strong,
                theme.dim,
                theme.key,
                theme.warn,
                theme.focus,
                theme.select,
            ] {
                assert_eq!((style.fg, style.bg), (None, None));
            }
            assert!(theme.reverses());
        }
    }

    #[test]
    fn depth_is_what_is_announced() {
        assert_eq!(Depth::detect(true, "truecolor", "xterm-256color"), Depth::None);
        assert_eq!(Depth::detect(false, "truecolor", "xterm"), Depth::True);
        assert_eq!(Depth::detect(false, "", "xterm-256color"), Depth::Ansi256);
        assert_eq!(Depth::detect(false, "", "xterm"), Depth::Ansi16);
    }

    #[test]
    fn turning_comes_back_to_the_first() {
        let mut id = ThemeId::Default;
        for _ in ThemeId::ALL {
            id = id.next();
        }
        assert_eq!(id, ThemeId::Default);
        assert_eq!(ThemeId::find("paper"), Some(ThemeId::Paper));
    }
}
