//! Shapes and texts as SVG elements. Texts from data are cleaned and escaped here, at one place;
//! coordinates have two decimals at most, so that the same numbers give the same bytes.

use std::fmt::Write as _;

use crate::export::text;

/// Size of plain text.
pub(super) const SIZE: f64 = 11.0;

/// How a shape is filled: what the classes of the style sheet mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// Positive.
    Pos,
    /// Positive, resting on one rollout alone.
    PosWeak,
    /// Negative, hatched.
    Neg,
    /// Negative, resting on one rollout alone: hatched and pale.
    NegWeak,
    /// X negative, Y positive: lines rising.
    Rescued,
    /// X positive, Y negative: lines falling.
    Penalized,
    /// Inside a threshold.
    Inside,
    /// No value.
    Missing,
}

impl Fill {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Pos => "pos",
            Self::PosWeak => "posw",
            Self::Neg => "neg",
            Self::NegWeak => "negw",
            Self::Rescued => "resc",
            Self::Penalized => "pena",
            Self::Inside => "insi",
            Self::Missing => "miss",
        }
    }

    /// By sign; `weak` where it rests on one rollout.
    pub(super) const fn signed(x: f64, weak: bool) -> Self {
        match (x >= 0.0, weak) {
            (true, false) => Self::Pos,
            (true, true) => Self::PosWeak,
            (false, false) => Self::Neg,
            (false, true) => Self::NegWeak,
        }
    }
}

/// Where a text begins, counted from its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// What a text is: the class of the style sheet. Numbers of the data are told from those of axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Label,
    /// A word of less weight.
    Dim,
    /// A heading.
    Head,
    /// A number of the data.
    Number,
    /// A number of the data on a dark shape.
    OnDark,
    /// A number of an axis.
    Tick,
}

impl Kind {
    const fn class(self) -> &'static str {
        match self {
            Self::Label => "l",
            Self::Dim => "d",
            Self::Head => "h",
            Self::Number => "n",
            Self::OnDark => "n k",
            Self::Tick => "t",
        }
    }
}

/// What a shape says when it is pointed at, and the number that it draws.
#[derive(Debug, Default)]
pub(super) struct Tip {
    pub words: String,
    pub value: Option<f64>,
}

impl Tip {
    /// A shape that says nothing.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The attribute and the element that carry it.
    fn parts(&self) -> (String, String) {
        let value = self.value.map_or_else(String::new, |x| {
            format!(" data-v=\"{}\"", crate::credit::derivation::number(x))
        });
        let words = if self.words.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escape(&self.words))
        };
        (value, words)
    }
}

/// A place.
pub(super) type At = (f64, f64);

/// A growing drawing.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    width: f64,
    height: f64,
}

/// A coordinate: two decimals at most, no trailing zeros.
pub(super) fn coordinate(x: f64) -> String {
    let mut text = format!("{x:.2}");
    while text.contains('.') && text.ends_with(['0', '.']) {
        let dot = text.ends_with('.');
        text.pop();
        if dot {
            break;
        }
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// Text that stays text in XML: cleaned as on the screen, escaped, without characters XML forbids.
pub(super) fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in text::line(value).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// About how wide a text of this size is.
pub(super) fn wide(value: &str, size: f64) -> f64 {
    text::width(value) as f64 * size * 0.6
}

impl Canvas {
    /// How far the drawing reaches.
    pub(super) fn extent(&self) -> At {
        (self.width, self.height)
    }

    /// The elements.
    pub(super) fn body(&self) -> &str {
        &self.body
    }

    fn reach(&mut self, (x, y): At) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// A rectangle with what it says when it is pointed at; empty for nothing.
    pub(super) fn rect(&mut self, (x, y): At, (w, h): At, fill: Fill, tip: &Tip) {
        self.shade((x, y), (w, h), (fill, 1.0), tip);
    }

    /// The same, paler by `strength` from 0 to 1.
    pub(super) fn shade(
        &mut self,
        (x, y): At,
        (w, h): At,
        (fill, strength): (Fill, f64),
        tip: &Tip,
    ) {
        let pale = if strength < 1.0 {
            format!(" fill-opacity=\"{}\"", coordinate(strength))
        } else {
            String::new()
        };
        let [left, top, wide, high] = [x, y, w, h].map(coordinate);
        let (value, words) = tip.parts();
        self.put(format_args!(
            "<rect class=\"{}\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"{pale}{value}>{words}</rect>",
            fill.class()
        ));
        self.reach((x + w, y + h));
    }

    /// A line: of an axis, or of the grid.
    pub(super) fn line(&mut self, (x, y): At, (to_x, to_y): At, axis: bool) {
        let [x1, y1, x2, y2] = [x, y, to_x, to_y].map(coordinate);
        let class = if axis { "axis" } else { "grid" };
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
        self.reach((x.max(to_x), y.max(to_y)));
    }

    /// A line through points; `series` chooses its dashes.
    pub(super) fn path(&mut self, points: &[At], series: usize) {
        let list: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", coordinate(*x), coordinate(*y))).collect();
        self.put(format_args!(
            "<polyline class=\"s{}\" points=\"{}\"/>",
            series % 4,
            list.join(" ")
        ));
    }

    /// A mark of a series: circle, square, triangle, diamond.
    pub(super) fn mark(&mut self, (x, y): At, r: f64, (series, hollow): (usize, bool), tip: &Tip) {
        let class = if hollow { "mh" } else { "m" };
        let (value, title) = tip.parts();
        let points = |list: &[At]| {
            let list: Vec<String> = list
                .iter()
                .map(|(dx, dy)| format!("{},{}", coordinate(x + dx * r), coordinate(y + dy * r)))
                .collect();
            list.join(" ")
        };
        let shape = match series % 4 {
            0 => {
                let [x, y, r] = [x, y, r].map(coordinate);
                self.put(format_args!(
                    "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{value}>{title}</circle>"
                ));
                return;
            }
            1 => points(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => points(&[(0.0, -1.1), (1.1, 0.9), (-1.1, 0.9)]),
            _ => points(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
        };
        self.put(format_args!(
            "<polygon class=\"{class}\" points=\"{shape}\"{value}>{title}</polygon>"
        ));
    }

    /// A text.
    pub(super) fn text(&mut self, at: At, anchor: Anchor, kind: Kind, value: &str) {
        self.turned(at, anchor, kind, (value, 0.0));
    }

    /// A text turned by some degrees around its place.
    pub(super) fn turned(
        &mut self,
        (x, y): At,
        anchor: Anchor,
        kind: Kind,
        (value, degrees): (&str, f64),
    ) {
        let [left, base] = [x, y].map(coordinate);
        let anchor_word = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let turn = if degrees == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({} {left} {base})\"", coordinate(degrees))
        };
        self.put(format_args!(
            "<text class=\"{}\" x=\"{left}\" y=\"{base}\"{anchor_word}{turn}>{}</text>",
            kind.class(),
            escape(value)
        ));
        let long = wide(value, SIZE);
        let right = match anchor {
            Anchor::Start => x + long,
            Anchor::Middle => x + long / 2.0,
            Anchor::End => x,
        };
        if degrees == 0.0 {
            self.reach((right, y + 3.0));
        }
    }

    /// The mark of an outcome: a disc for a success, a cross for a failure, a barred ring for a
    /// truncated one, a ring for what has no verdict.
    pub(super) fn outcome(&mut self, (x, y): At, outcome: crate::rollout::Outcome) {
        use crate::rollout::Outcome;
        let [cx, cy] = [x, y].map(coordinate);
        let cross = |canvas: &mut Self, both: bool| {
            let [left, right, top, low] = [x - 3.5, x + 3.5, y - 3.5, y + 3.5].map(coordinate);
            canvas.put(format_args!(
                "<line class=\"fail\" x1=\"{left}\" y1=\"{low}\" x2=\"{right}\" y2=\"{top}\"/>"
            ));
            if both {
                canvas.put(format_args!(
                    "<line class=\"fail\" x1=\"{left}\" y1=\"{top}\" x2=\"{right}\" y2=\"{low}\"/>"
                ));
            }
        };
        match outcome {
            Outcome::Success => {
                self.put(format_args!("<circle class=\"won\" cx=\"{cx}\" cy=\"{cy}\" r=\"4\"/>"));
            }
            Outcome::Failure => cross(self, true),
            Outcome::Truncated => {
                self.put(format_args!("<circle class=\"mh\" cx=\"{cx}\" cy=\"{cy}\" r=\"4\"/>"));
                cross(self, false);
            }
            Outcome::Error | Outcome::Unscored => {
                self.put(format_args!("<circle class=\"mh\" cx=\"{cx}\" cy=\"{cy}\" r=\"4\"/>"));
            }
        }
        self.reach((x + 4.0, y + 4.0));
    }

    /// Room at the right or below.
    pub(super) fn room(&mut self, x: f64, y: f64) {
        self.reach((x, y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(10.0), "10");
        assert_eq!(coordinate(10.504), "10.5");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(100.25), "100.25");
    }

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(escape("a\u{1b}[31mb\u{0}\u{ffff}"), "ab\\x00\u{fffd}");
    }
}
