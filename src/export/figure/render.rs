//! The document around a drawing: style, patterns, title, notes, stamp; as a graphic, or as a page
//! with the table of the same numbers beneath.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::canvas::{Canvas, SIZE, coordinate, escape, wide};
use super::ink::{DIM, INSIDE, Ink, RULE, TEXT};
use super::{Anchor, Figure, Kind};
use crate::export::plain;
use crate::export::table::Type;
use crate::export::writer::{Writing, comment};

/// Room around the drawing.
const PAD: f64 = 14.0;
/// Size of the title.
const TITLE: f64 = 14.0;

/// Writes a figure as SVG; the stamp is a comment before it.
pub fn svg(out: &mut dyn Write, figure: &Figure, ink: Ink, writing: &Writing) -> io::Result<()> {
    comment(out, writing.stamp.as_ref())?;
    out.write_all(document(figure, ink).as_bytes())
}

/// Writes a figure as a page, with the table of its numbers.
pub fn html(out: &mut dyn Write, figure: &Figure, ink: Ink, writing: &Writing) -> io::Result<()> {
    comment(out, writing.stamp.as_ref())?;
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{}</title>\n\
         <style>body{{font:14px/1.45 Helvetica,Arial,'DejaVu Sans',sans-serif;color:{TEXT};margin:24px}}\
         svg{{max-width:100%;height:auto}}table{{border-collapse:collapse;font-size:12px;margin-top:18px}}\
         th,td{{padding:2px 8px;border-bottom:1px solid {RULE};text-align:left;white-space:nowrap}}\
         .r{{text-align:right;font-variant-numeric:tabular-nums}}</style>\n</head>\n<body>\n",
        escape(&figure.title)
    );
    page.push_str(&document(figure, ink));
    table(&mut page, figure);
    page.push_str("</body>\n</html>\n");
    out.write_all(page.as_bytes())
}

fn table(page: &mut String, figure: &Figure) {
    let table = &figure.table;
    let shown: Vec<_> =
        table.columns.iter().enumerate().filter(|(_, c)| c.head.is_some()).collect();
    page.push_str("<table>\n<thead><tr>");
    for (_, column) in &shown {
        let _ = write!(page, "<th>{}</th>", escape(column.head.as_deref().unwrap_or_default()));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in table.rows.iter().chain(&table.totals) {
        page.push_str("<tr>");
        for (at, column) in &shown {
            let value = row.get(*at).map_or_else(String::new, |c| plain::cell(c, column.places));
            let class =
                if matches!(column.holds, Type::Int | Type::Float) { " class=\"r\"" } else { "" };
            let _ = write!(page, "<td{class}>{}</td>", escape(&value));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n");
}

/// Words in lines of a width.
fn wrap(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if wide(line, SIZE) + wide(word, SIZE) + SIZE < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn document(figure: &Figure, ink: Ink) -> String {
    let (drawn, high) = figure.canvas.extent();
    let width = drawn.max(wide(&figure.title, TITLE)).max(420.0);
    let mut head = Canvas::default();
    let mut y = TITLE;
    head.text((0.0, y), Anchor::Start, Kind::Head, &figure.title);
    for line in figure.notes.iter().flat_map(|note| wrap(note, width)) {
        y += 16.0;
        head.text((0.0, y), Anchor::Start, Kind::Dim, &line);
    }
    let top = y + 18.0;
    let (w, h) = (coordinate(width + 2.0 * PAD), coordinate(top + high + 2.0 * PAD));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         role=\"img\" font-family=\"Helvetica,Arial,'DejaVu Sans',sans-serif\" font-size=\"{SIZE}\">\n\
         <title>{}</title>\n",
        escape(&figure.title)
    );
    out.push_str(&style(ink));
    let _ = writeln!(
        out,
        "<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n<g transform=\"translate({PAD} {PAD})\">\n{}</g>\n\
         <g transform=\"translate({PAD} {})\">\n{}</g>\n</svg>",
        head.body(),
        coordinate(PAD + top),
        figure.canvas.body()
    );
    out
}

/// Classes and hatchings.
fn style(ink: Ink) -> String {
    let Ink { pos, neg, .. } = ink;
    let hatch = |id: &str, ground: &str, lines: &str, path: &str| {
        format!(
            "<pattern id=\"{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
             <rect width=\"6\" height=\"6\" fill=\"{ground}\"/>\
             <path d=\"{path}\" stroke=\"{lines}\" stroke-width=\"1.2\" fill=\"none\"/></pattern>\n"
        )
    };
    let rising = "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2";
    let falling = "M-1,5 l2,2 M0,0 l6,6 M5,-1 l2,2";
    let mut out = String::from("<defs>\n");
    out.push_str(&hatch("neg", neg, "#ffffff", falling));
    out.push_str(&hatch("negw", "#ffffff", neg, falling));
    out.push_str(&hatch("resc", "#ffffff", pos, rising));
    out.push_str(&hatch("pena", "#ffffff", neg, "M0,3 h6 M3,0 v6"));
    let _ = write!(
        out,
        "</defs>\n<style>text{{fill:{TEXT}}}.d,.t{{fill:{DIM}}}.h{{font-size:{TITLE}px;font-weight:bold}}\
         .t{{font-size:10px}}.n{{font-size:10px}}.k{{font-weight:bold;stroke:#ffffff;stroke-width:2.6;paint-order:stroke;stroke-linejoin:round}}\
         .axis{{stroke:{TEXT};stroke-width:1}}.grid{{stroke:{RULE};stroke-width:0.6}}\
         .pos{{fill:{pos}}}.posw{{fill:#ffffff;stroke:{pos};stroke-width:1}}\
         .neg{{fill:url(#neg)}}.negw{{fill:url(#negw);stroke:{neg};stroke-width:0.6}}\
         .resc{{fill:url(#resc);stroke:{pos};stroke-width:0.8}}\
         .pena{{fill:url(#pena);stroke:{neg};stroke-width:0.8}}\
         .insi{{fill:{INSIDE}}}.miss{{fill:#ffffff;stroke:{DIM};stroke-width:0.8;stroke-dasharray:2 2}}\
         .m{{fill:{TEXT}}}.mh{{fill:#ffffff;stroke:{TEXT};stroke-width:1.3}}\
         .won{{fill:{pos}}}.fail{{stroke:{neg};stroke-width:2}}\
         .s0,.s1,.s2,.s3{{fill:none;stroke:{pos};stroke-width:1.6}}.s1{{stroke:{neg};stroke-dasharray:6 3}}\
         .s2{{stroke:{DIM};stroke-dasharray:2 2}}.s3{{stroke:{TEXT};stroke-dasharray:8 3 2 3}}</style>\n"
    );
    out
}
