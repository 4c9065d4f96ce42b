//! The knobs of the signature with their values, and a table of what they changed against the pin.

use crate::analysis::{Contrast, Measures, SignatureSetting};
use crate::graph::Evidence;
use crate::tui::canvas::{Canvas, Row, first_in_sight};
use crate::tui::glyphs;
use crate::tui::model::Model;
use crate::tui::numbers::{count, plain, signed, signed_brief};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;
use crate::tui::turning::rows;

/// Cells of the list of knobs, beside the table.
const LIST: usize = 31;
/// Cells of the names of the measures.
const NAME: usize = 10;

/// Draws the pane.
pub fn draw(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas, focus: bool) {
    let theme = *canvas.theme;
    let now = SignatureSetting::of(&model.settings);
    let mut extra = Row::new();
    extra.put("now ", theme.dim).put(now.name(), theme.title);
    extra.put("  pinned ", theme.dim).put(model.turning.pin.name(), theme.text);
    let differ = rows().iter().filter(|r| r.value(&now) != r.value(&model.turning.pin)).count();
    if differ > 0 {
        extra.put(format!("  {differ} differ"), theme.dim);
    }
    if model.waiting() {
        extra.put("  computing …", theme.dim);
    }
    let undo = format!("undo {}", model.turning.undo.len());
    canvas.rule(
        "5 Signature",
        extra,
        &[("p", "preset"), ("b", "pin"), ("u", &undo), ("hl", "turn")],
        focus,
    );
    let table = canvas.width() >= 72;
    let tall = canvas.height() >= 13;
    let about = if tall { meaning(model, &now, canvas.width(), &theme) } else { Vec::new() };
    let height = canvas.height().saturating_sub(1 + about.len());
    let list = if table { LIST } else { canvas.width() };
    knobs(model, snapshot, canvas, &now, list, height);
    if table {
        for y in 1..=height {
            canvas.text(LIST, y, "│", theme.dim);
        }
        let mut part = canvas.part(LIST + 1, 1, canvas.width() - LIST - 1, height);
        match model.contrast() {
            Some(contrast) => measures(contrast, &mut part),
            None => part.empty(0, &["counting against the pin …"]),
        }
    }
    for (y, line) in about.iter().enumerate() {
        canvas.row(height + 1 + y, line);
    }
}

/// What the selected knob means, and its values with the present one standing out, in as many lines as
/// it takes.
fn meaning(model: &Model, now: &SignatureSetting, width: usize, theme: &Theme) -> Vec<Row> {
    let list = rows();
    let Some(row) = list.get(model.turning.at) else {
        return Vec::new();
    };
    let value = row.value(now);
    let told = format!("{};", row.meaning());
    let mut words = vec![(format!("{}:", row.name()), theme.title)];
    words.extend(told.split(' ').map(|word| (word.to_owned(), theme.dim)));
    words.extend(row.values().into_iter().map(|v| {
        let style = if v == value { theme.title } else { theme.dim };
        (v.to_owned(), style)
    }));
    let mut lines: Vec<Row> = Vec::new();
    for (word, style) in words {
        let fits = |line: &Row| line.width() + 1 + crate::export::text::width(&word) <= width;
        if !lines.last().is_some_and(fits) {
            lines.push(Row::new());
        }
        if let Some(line) = lines.last_mut() {
            line.gap(1).put(word, style);
        }
    }
    lines
}

fn knobs(
    model: &Model,
    snapshot: &Snapshot,
    canvas: &mut Canvas,
    now: &SignatureSetting,
    width: usize,
    height: usize,
) {
    let theme = *canvas.theme;
    let rows = rows();
    // The last line says what is below where not everything is in sight.
    let shown = if rows.len() > height { height.saturating_sub(1) } else { height };
    let first = first_in_sight(model.turning.at, rows.len(), shown);
    let mut part = canvas.part(0, 1, width, height);
    for (y, (at, row)) in rows.iter().enumerate().skip(first).take(shown).enumerate() {
        let selected = at == model.turning.at;
        let value = row.value(now);
        let differs = value != row.value(&model.turning.pin);
        let idle = !row.matters(snapshot.analysis.abstraction);
        let mut line = Row::new();
        let mark = if selected {
            "▸"
        } else if differs {
            "*"
        } else {
            " "
        };
        line.put(mark, if differs { theme.strong } else { theme.text });
        line.put(if selected && differs { "*" } else { " " }, theme.strong);
        line.put(row.name(), if idle { theme.dim } else { theme.text });
        let text = if selected { format!("◂ {value} ▸") } else { value };
        let style = if differs {
            theme.title
        } else if idle {
            theme.dim
        } else {
            theme.text
        };
        line.right(&text, width.saturating_sub(line.width() + 1), style);
        part.draw(y, &line, selected);
    }
    if rows.len() > shown {
        let below = rows.len().saturating_sub(first + shown);
        let mut line = Row::new();
        line.gap(2);
        match (first, below) {
            (0, n) => line.put(format!("{n} more below"), theme.dim),
            (n, 0) => line.put(format!("{n} more above"), theme.dim),
            (a, b) => line.put(format!("{a} above, {b} below"), theme.dim),
        };
        line.put("  * differs", theme.dim);
        part.row(shown, &line);
    }
}

/// Name, pin, now, and how much more; an empty difference is a dot.
type Line = (String, String, String, String);

fn whole(name: &str, before: u64, after: u64) -> Line {
    let more = signed(after as f64 - before as f64, 0);
    (name.to_owned(), count(before), count(after), if before == after { "·".into() } else { more })
}

fn share(name: &str, before: &Measures, after: &Measures) -> Line {
    let percent = |m: &Measures| {
        (m.scored_steps > 0).then(|| 100.0 * m.shared_steps as f64 / m.scored_steps as f64)
    };
    let text = |x: Option<f64>| x.map_or_else(|| "n/a".to_owned(), |x| format!("{x:.0}%"));
    let (a, b) = (percent(before), percent(after));
    (name.to_owned(), text(a), text(b), difference(a, b, 0))
}

/// The difference as it is to be read: a dot where it rounds to nothing.
fn difference(before: Option<f64>, after: Option<f64>, decimals: usize) -> String {
    let (Some(a), Some(b)) = (before, after) else {
        return String::new();
    };
    let text = signed(b - a, decimals);
    let text = if decimals > 0 { text.replacen("0.", ".", 1) } else { text };
    if text.chars().all(|c| matches!(c, '0' | '.')) { "·".to_owned() } else { text }
}

fn number(name: &str, a: Option<f64>, b: Option<f64>) -> Line {
    let text = |x: Option<f64>| x.map_or_else(|| "n/a".to_owned(), |x| plain(x, 2));
    (name.to_owned(), text(a), text(b), difference(a, b, 1))
}

fn skill(name: &str, a: Option<f64>, b: Option<f64>) -> Line {
    let text = |x: Option<f64>| x.map_or_else(|| "n/a".to_owned(), signed_brief);
    (name.to_owned(), text(a), text(b), difference(a, b, 2))
}

fn measures(contrast: &Contrast, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let (old, new) = (&contrast.before, &contrast.after);
    let (flips, faded) = contrast.counts();
    let of = |m: &Measures, pick: fn(&crate::analysis::Skill) -> f64| m.skill.as_ref().map(pick);
    let left: Vec<Line> = vec![
        whole("states", old.states as u64, new.states as u64),
        share("shared", old, new),
        whole("branching", old.branching as u64, new.branching as u64),
        number("mean N(s)", old.mean_visits, new.mean_visits),
        whole("impure", old.impure as u64, new.impure as u64),
        whole("revisits", old.revisits as u64, new.revisits as u64),
        ("sign flips".to_owned(), String::new(), count(flips as u64), String::new()),
        skill("skill", of(old, |s| s.skill), of(new, |s| s.skill)),
        skill("  null", of(old, |s| s.null), of(new, |s| s.null)),
        ("faded to 0".to_owned(), String::new(), count(faded as u64), String::new()),
        skill("ceiling", of(old, |s| s.ceiling), of(new, |s| s.ceiling)),
        skill("coverage", old.coverage, new.coverage),
    ];
    let mut right: Vec<Line> = Evidence::ALL
        .into_iter()
        .zip(old.evidence.iter().zip(&new.evidence))
        .map(|(class, (&a, &b))| {
            let name = format!("{} {}", glyphs::evidence(Some(class)), class.name());
            whole(&name, u64::from(a), u64::from(b))
        })
        .collect();
    let (a, b) = (&old.tally, &new.tally);
    right.extend([
        whole("both+", a.both_pos, b.both_pos),
        whole("rescued", a.rescued, b.rescued),
        whole("penalized", a.penalized, b.penalized),
        whole("both−", a.both_neg, b.both_neg),
        whole("inside", a.inside(), b.inside()),
        whole("no value", a.missing, b.missing),
    ]);
    let widest = |lines: &[Line], pick: fn(&Line) -> &String, least: usize| {
        lines.iter().map(|l| crate::export::text::width(pick(l))).max().unwrap_or(0).max(least)
    };
    let sizes = |lines: &[Line], least: usize| {
        [
            widest(lines, |l| &l.1, least) + 1,
            widest(lines, |l| &l.2, least) + 1,
            widest(lines, |l| &l.3, 3) + 1,
        ]
    };
    let (mut left_sizes, mut right_sizes) = (sizes(&left, 4), sizes(&right, 3));
    let sum = |a: [usize; 3], b: [usize; 3]| 2 * NAME + 1 + a.into_iter().chain(b).sum::<usize>();
    let over = sum(left_sizes, right_sizes).saturating_sub(canvas.width());
    // The longest names at the left have nothing under `pin` and may go on there.
    let name = if over == 1 { NAME - 1 } else { NAME };
    if over > 1 {
        // Numbers too wide for all columns: what was pinned is now less the difference.
        left_sizes[0] = 0;
        right_sizes[0] = 0;
    }
    let mut header = Row::new();
    head(&mut header, name, left_sizes, &theme);
    header.put("│", theme.dim);
    head(&mut header, NAME, right_sizes, &theme);
    canvas.row(0, &header);
    for y in 0..left.len().max(right.len()) {
        let mut row = Row::new();
        match left.get(y) {
            Some(line) => cells(&mut row, line, name, left_sizes, &theme),
            None => {
                row.gap(name + left_sizes.iter().sum::<usize>());
            }
        }
        row.put("│", theme.dim);
        if let Some(line) = right.get(y) {
            cells(&mut row, line, NAME, right_sizes, &theme);
        }
        canvas.row(y + 1, &row);
    }
}

fn head(row: &mut Row, name: usize, [a, b, c]: [usize; 3], theme: &Theme) {
    row.gap(name);
    if a > 0 {
        row.right("pin", a, theme.dim);
    }
    row.right("now", b, theme.dim).right("Δ", c, theme.dim);
}

fn cells(row: &mut Row, line: &Line, width: usize, [a, b, c]: [usize; 3], theme: &Theme) {
    let (name, before, after, more) = line;
    let changed = !more.is_empty() && more != "·";
    if before.is_empty() || a == 0 {
        row.left(name, width + a, theme.dim);
    } else {
        row.left(name, width, theme.dim).right(before, a, theme.dim);
    }
    row.right(after, b, theme.text);
    row.right(more, c, if changed { theme.title } else { theme.dim });
}
