//! The title line, the line that takes the selected value apart, and the line of warnings.

use crate::analysis::explain::kinds;
use crate::credit::DiscountPer;
use crate::export::text;
use crate::rollout::{Outcome, plural};
use crate::tui::canvas::{Canvas, Row};
use crate::tui::glyphs;
use crate::tui::model::{Model, PARTIAL};
use crate::tui::numbers::{plain, setting, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// What was loaded, how many are scored, warnings.
pub fn draw(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let width = canvas.width();
    let mut right = Row::new();
    if model.waiting() && model.snapshot().is_some() {
        right.put("computing …  ", theme.dim);
    }
    let warnings = model.warnings().len();
    if warnings > 0 {
        right.put(format!("⚠ {warnings}"), theme.warn);
        if width >= 100 {
            right.put(if warnings == 1 { " warning" } else { " warnings" }, theme.warn);
        }
    }
    right.gap(1);
    let Some(snapshot) = model.snapshot() else {
        let groups = model.corpus.groups.len();
        let mut row = Row::new();
        row.put(name_for(width), theme.title);
        if let Some(loading) = &model.loading {
            row.put(loading.badge(), theme.warn);
            row.put("  ", theme.text);
        }
        row.put(plural(groups as u64, "group"), theme.text);
        if model.so_far().is_some() {
            row.put(" so far", theme.text);
        }
        canvas.row(0, &row);
        return;
    };
    let analysis = &snapshot.analysis;
    let counts = counts(model, snapshot, &theme);
    // What speaks against the numbers stays: the program's name goes first, then its own long form.
    let badges = badges(model, snapshot);
    let wide = |pick: fn(&(String, String)) -> &String| {
        badges.iter().map(|b| 2 + text::width(pick(b))).sum::<usize>()
    };
    let task = text::line(&analysis.group.label()).into_owned();
    let asked = text::width(&task).min((width / 3).max(12));
    let fixed = counts.width() + 1 + right.width();
    let room = |name: &str, badges: usize| width.saturating_sub(name.len() + fixed + badges);
    let (long, short) = (wide(|b| &b.0), wide(|b| &b.1));
    let name = name_for(width);
    let (name, whole) = [(name, true), (" ", true)]
        .into_iter()
        .find(|(name, _)| badges.is_empty() || room(name, long) >= asked.min(16))
        .unwrap_or((if room(name, short) >= asked.min(16) { name } else { " " }, false));
    let task_room =
        if badges.is_empty() { asked } else { room(name, if whole { long } else { short }) };
    let mut row = Row::new();
    row.put(name, theme.title);
    row.put(text::cut(&task, asked.min(task_room.max(6))).into_owned(), theme.title);
    row.append(counts);
    let mut extras: Vec<(String, bool)> =
        badges.into_iter().map(|(long, short)| (if whole { long } else { short }, true)).collect();
    extras.push((plural(snapshot.row.steps as u64, "step"), false));
    extras.push((plural(snapshot.row.states as u64, "state"), false));
    let preset = analysis.settings.granularity.name();
    let abstraction = analysis.abstraction.id();
    extras.push(if abstraction == "swe" {
        (preset, false)
    } else {
        (abstraction.to_owned(), false)
    });
    let credit = &analysis.settings.credit;
    let per = if credit.discount_per == DiscountPer::Turn { " per turn" } else { "" };
    extras.push((format!("γ {}{per}", setting(credit.gamma)), false));
    extras.push((format!("n_prior {}", setting(credit.n_prior)), false));
    extras.push((format!("X {}  Y {}", analysis.settings.x, analysis.settings.y), false));
    for (extra, loud) in extras {
        let extra = text::line(&extra).into_owned();
        if row.width() + 2 + text::width(&extra) + 1 + right.width() > width {
            break;
        }
        row.put("  ", theme.text);
        row.put(extra, if loud { theme.warn } else { theme.text });
    }
    canvas.row(0, &row);
    let mut placed = Row::new();
    placed.append(row);
    // The warnings keep apart from what a narrow line has before them.
    let at = (placed.width() + 1).max(width.saturating_sub(right.width()));
    placed.to(at);
    placed.append(right);
    canvas.row(0, &placed);
}

/// The program's name, where there is room for it.
const fn name_for(width: usize) -> &'static str {
    if width < 60 { " " } else { " credscope  " }
}

/// Which of the groups it is, how many rollouts are scored, and how they ended.
fn counts(model: &Model, snapshot: &Snapshot, theme: &Theme) -> Row {
    let mut row = Row::new();
    let groups = model.corpus.groups.len();
    if groups > 1 {
        let at = model.shown.as_ref().map_or(0, |(g, _)| g + 1);
        row.put(format!(" {at}/{groups}"), theme.dim);
    }
    let ok = snapshot.analysis.basis.successes();
    let scored = snapshot.row.scored;
    row.put(format!("  {scored} of {} scored ", snapshot.row.rollouts), theme.text);
    row.put(format!("✓{ok} "), theme.pos);
    // Truncated rollouts are told apart here; the rows `✗⊘` of the tables have both.
    let truncated = snapshot.truncated();
    row.put(format!("✗{}", scored - ok - truncated), theme.neg);
    if truncated > 0 {
        row.put(format!(" ⊘{truncated}"), theme.neg);
    }
    row
}

/// What speaks against the numbers, in full and in short.
fn badges(model: &Model, snapshot: &Snapshot) -> Vec<(String, String)> {
    let mut list = Vec::new();
    if let Some(loading) = &model.loading {
        list.push((loading.badge(), loading.badge()));
    }
    if let Some((long, short)) = snapshot.no_contrast() {
        list.push((long.to_owned(), short.to_owned()));
    }
    let errors = snapshot.row.outcomes.get(3).copied().unwrap_or(0);
    if errors > 0 {
        let told = plural(errors as u64, "error");
        list.push((told.clone(), told));
    }
    if let Some(partial) = model.notices.iter().find(|n| n.code == PARTIAL) {
        list.push((text::line(&partial.text).into_owned(), "partial data".to_owned()));
    }
    list
}

/// `r2 t2 −0.725 = comparison −0.800 prior +0.086 discount +0.022 shaping −0.033`
pub fn sum(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut row = Row::new();
    row.gap(1);
    let Some(snapshot) = model.snapshot() else {
        return;
    };
    if model.picks_elsewhere() {
        row.put("a step of another group: Enter opens that group at the step", theme.dim);
        canvas.row(0, &row);
        return;
    }
    let analysis = &snapshot.analysis;
    let group = &analysis.group;
    if group.rollouts.get(model.cursor.rollout).is_none() {
        return;
    }
    row.put(snapshot.name(model.cursor.rollout, 16), theme.title);
    let Some(step) = model.step() else {
        row.put(format!("  has no steps: {}", super::to_steps(model)), theme.dim);
        canvas.row(0, &row);
        return;
    };
    row.put(format!(" t{}", model.cursor.step), theme.title);
    let column = analysis.y_column();
    let Some(value) = column.get(step) else {
        let reason = column.reason(step).unwrap_or("no value");
        row.put(format!("  no {}: {reason}", analysis.settings.y), theme.dim);
        canvas.row(0, &row);
        return;
    };
    row.put(" ", theme.text);
    row.put(signed(value, 3), theme.of_sign(value).patch(bold()));
    let shared = analysis.column("rtmc").is_some_and(|(spec, _)| spec.params.entries().is_empty());
    let split = analysis.step_row(step).split.filter(|_| analysis.settings.y == "rtmc" && shared);
    if let Some(split) = split {
        let winner = analysis.why(step);
        let room = canvas.width().saturating_sub(row.width());
        // Whole parts only: what does not fit is not shown at all, and a dot row says so.
        let parts = |names: [&str; 4], room: usize| {
            let mut tail = Row::new();
            tail.put(" =", theme.text);
            let mut whole = true;
            for ((name, part), word) in kinds(&split).into_iter().zip(names) {
                let loud = winner == Some(name);
                let number = signed(part, 3);
                if tail.width() + word.len() + text::width(&number) + 2 > room {
                    tail.put(" …", theme.dim);
                    whole = false;
                    break;
                }
                tail.put(format!(" {word} "), if loud { theme.strong } else { theme.text });
                let style = theme.of_sign(part);
                tail.put(number, if loud { style.patch(bold()) } else { style });
            }
            (tail, whole)
        };
        let (long, fits) = parts(["comparison", "prior", "discount", "shaping"], room);
        let (short, _) = parts(["comp", "prior", "disc", "shape"], room);
        row.append(if fits { long } else { short });
    } else if let Some(node) = model.explanation.as_ref().and_then(|e| e.node.as_ref()) {
        row.put(format!(" = {}", node.expression()), theme.dim);
    }
    canvas.row(0, &row);
}

/// The first warning, and what else is there.
pub fn note(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let mut row = Row::new();
    row.gap(1);
    let warnings = model.warnings();
    if let Some(first) = warnings.first() {
        let mut tail = Row::new();
        if warnings.len() > 1 {
            tail.put(format!("  and {} more", warnings.len() - 1), theme.dim);
        }
        tail.put("  W ", theme.key).put("what they mean", theme.dim);
        row.put("⚠ ", theme.warn);
        let room = canvas.width().saturating_sub(row.width() + tail.width());
        row.put(text::cut(&text::line(&first.text), room).into_owned(), theme.text);
        row.append(tail);
    } else if let Some(snapshot) = model.snapshot() {
        let unscored = snapshot.row.rollouts - snapshot.row.scored;
        let unscored = plural(unscored as u64, "rollout");
        row.put(format!("no warnings, {unscored} without a score"), theme.dim);
    }
    if let Some(snapshot) = model.snapshot() {
        let mut tail = Row::new();
        let outcomes = Outcome::ALL.iter().zip(snapshot.row.outcomes);
        for (outcome, n) in outcomes.filter(|(_, n)| *n > 0) {
            tail.put(format!("{} {} {n}  ", glyphs::outcome(*outcome), outcome.name()), theme.dim);
        }
        tail.put(format!("V_prior {}", plain(snapshot.analysis.values.v_prior, 3)), theme.dim);
        tail.gap(1);
        if row.width() + tail.width() + 2 <= canvas.width() {
            row.to(canvas.width() - tail.width());
            row.append(tail);
        }
    }
    canvas.row(0, &row);
}

fn bold() -> ratatui::style::Style {
    ratatui::style::Style::new().add_modifier(ratatui::style::Modifier::BOLD)
}
