//! A drawn buffer as an SVG document: cells on a grid, colours as they are, texts escaped.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::theme::ThemeId;
use crate::export::text::width;

/// Width of a cell, in tenths of a unit.
const CELL: usize = 84;
/// Height of a cell, in units.
const LINE: usize = 18;
/// Room around the cells.
const PAD: usize = 8;

/// The look of a run of cells.
#[derive(Clone, PartialEq)]
struct Look {
    ink: String,
    ground: Option<String>,
    bold: bool,
    dim: bool,
    underlined: bool,
}

/// Writes a buffer.
#[must_use]
pub fn write(buffer: &Buffer, theme: ThemeId) -> String {
    let (ink, ground) =
        if theme == ThemeId::Light { ("#1c1e24", "#ffffff") } else { ("#d6d9e0", "#14161c") };
    let (columns, rows) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (w, h) = (columns * CELL / 10 + 2 * PAD, rows * LINE + 2 * PAD);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace\" font-size=\"14\">\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"{ground}\"/>\n"
    );
    for (y, cells) in buffer.content.chunks(columns.max(1)).enumerate() {
        let mut x = 0;
        while let Some(first) = cells.get(x) {
            let look = look(first, ink, ground);
            let (start, mut text) = (x, String::new());
            while let Some(cell) = cells.get(x).filter(|c| self::look(c, ink, ground) == look) {
                text.push_str(cell.symbol());
                x += width(cell.symbol()).max(1);
            }
            run(&mut out, &text, (start, x.min(columns), y), &look);
        }
    }
    out.push_str("</svg>\n");
    out
}

fn run(out: &mut String, text: &str, (from, to, y): (usize, usize, usize), look: &Look) {
    let left = PAD * 10 + from * CELL;
    let long = (to - from) * CELL;
    let tenths = |n: usize| format!("{}.{}", n / 10, n % 10);
    let (x, length) = (tenths(left), tenths(long));
    // Writing into a String cannot fail.
    if let Some(ground) = &look.ground {
        let top = PAD + y * LINE;
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{top}\" width=\"{length}\" height=\"{LINE}\" fill=\"{ground}\"/>"
        );
    }
    if text.chars().all(|c| c == ' ') {
        return;
    }
    let base = PAD + y * LINE + 14;
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{base}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\" fill=\"{}\"",
        look.ink
    );
    for (on, attribute) in [
        (look.bold, " font-weight=\"bold\""),
        (look.dim, " opacity=\"0.6\""),
        (look.underlined, " text-decoration=\"underline\""),
    ] {
        if on {
            out.push_str(attribute);
        }
    }
    out.push('>');
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no place for control characters; the screen has cleaned them away already.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push_str("</text>\n");
}

fn look(cell: &Cell, ink: &str, ground: &str) -> Look {
    let has = |m| cell.modifier.contains(m);
    let (mut fg, mut bg) = (color(cell.fg), color(cell.bg));
    if has(Modifier::REVERSED) {
        let back = fg.take().unwrap_or_else(|| ink.to_owned());
        fg = Some(bg.take().unwrap_or_else(|| ground.to_owned()));
        bg = Some(back);
    }
    Look {
        ink: fg.unwrap_or_else(|| ink.to_owned()),
        ground: bg,
        bold: has(Modifier::BOLD),
        dim: has(Modifier::DIM),
        underlined: has(Modifier::UNDERLINED),
    }
}

/// A colour as six digits; `None` for the terminal's own.
fn color(color: Color) -> Option<String> {
    let (r, g, b) = match color {
        Color::Reset => return None,
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(n) => indexed(n),
        Color::Black => indexed(0),
        Color::Red => indexed(1),
        Color::Green => indexed(2),
        Color::Yellow => indexed(3),
        Color::Blue => indexed(4),
        Color::Magenta => indexed(5),
        Color::Cyan => indexed(6),
        Color::Gray => indexed(7),
        Color::DarkGray => indexed(8),
        Color::LightRed => indexed(9),
        Color::LightGreen => indexed(10),
        Color::LightYellow => indexed(11),
        Color::LightBlue => indexed(12),
        Color::LightMagenta => indexed(13),
        Color::LightCyan => indexed(14),
        Color::White => indexed(15),
    };
    Some(format!("#{r:02x}{g:02x}{b:02x}"))
}

/// The palette of 256 colours as xterm has it.
fn indexed(n: u8) -> (u8, u8, u8) {
    const FIRST: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let step = |k: u8| if k == 0 { 0 } else { 55 + 40 * k };
    match n {
        0..=15 => FIRST.get(usize::from(n)).copied().unwrap_or_default(),
        16..=231 => {
            let n = n - 16;
            (step(n / 36), step(n / 6 % 6), step(n % 6))
        }
        232.. => {
            let grey = 8 + 10 * (n - 232);
            (grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn texts_are_escaped_and_colours_kept() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
        buffer.set_string(0, 0, "<a&\"文", Style::new().fg(Color::Rgb(1, 2, 3)));
        let svg = write(&buffer, ThemeId::Default);
        assert!(svg.contains("fill=\"#010203\">&lt;a&amp;&quot;文</text>"), "{svg}");
        assert!(svg.contains("textLength=\"50.4\""), "six cells: {svg}");
    }

    #[test]
    fn reversed_cells_swap_their_colours() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
        buffer.set_string(0, 0, "x", Style::new().add_modifier(Modifier::REVERSED));
        let svg = write(&buffer, ThemeId::Default);
        assert!(svg.contains("fill=\"#d6d9e0\"/>") && svg.contains("fill=\"#14161c\">x<"), "{svg}");
        assert_eq!(indexed(231), (255, 255, 255));
        assert_eq!(indexed(232), (8, 8, 8));
    }
}
