//! All groups, one row each: what they hold, how much their states are shared, what disagrees.

use crate::export::text;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::model::Model;
use crate::tui::numbers::{brief, count, percent, plural, signed_brief};
use crate::tui::snapshot::Summary;
use crate::tui::theme::Theme;

/// Rows of the histogram and the aggregate below the list.
const AGGREGATE: usize = 11;

struct Columns {
    task: usize,
    success: bool,
    /// Skill, then its null, where there is room.
    skill: usize,
    warnings: usize,
}

/// Draws the pane.
pub fn draw(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let order = model.group_order();
    let done = model.groups.rows.iter().flatten().count();
    let mut extra = Row::new();
    extra.put(plural(order.len() as u64, "group"), theme.text);
    if done < order.len() {
        extra.put(format!("  {done} computed …"), theme.dim);
    }
    if model.groups.mixed {
        let hidden = model.corpus.groups.len() - order.len();
        extra.put(format!("  mixed only, {hidden} left out"), theme.strong);
    }
    let sort = format!("sort {}", model.groups.order.name());
    canvas.rule("a Groups", extra, &[("Enter", "opens"), ("f", "mixed only"), ("S", &sort)], true);
    if order.is_empty() {
        canvas.empty(
            1,
            &[if model.groups.mixed {
                "no group has successes and failures: f shows all groups"
            } else {
                "no group was loaded: q quits, then give a path with rollouts"
            }],
        );
        return;
    }
    let width = canvas.width();
    // n ✓ ✗ steps states shared branch compared rescued penalized inside.
    let numbers = 3 * 5 + 7 + 7 + 7 + 7 + 9 + 8 + 7 + 7;
    let success = width >= 116;
    let skill = match width {
        132.. => 2,
        106.. => 1,
        _ => 0,
    };
    let spare = width.saturating_sub(1 + numbers + usize::from(success) * 12 + skill * 7);
    let longest = order
        .iter()
        .filter_map(|&g| model.corpus.groups.get(g))
        .map(|g| text::width(&text::line(&g.key.task)))
        .max()
        .unwrap_or(4)
        .max(4);
    let task = longest.min(spare.max(8));
    let columns = Columns { task, success, skill, warnings: spare.saturating_sub(task + 2) };
    let mut header = Row::new();
    header.gap(1).left("task", columns.task, theme.dim);
    header.right("n", 5, theme.dim).right("✓", 5, theme.pos).right("✗", 5, theme.neg);
    if columns.success {
        header.right("success", 12, theme.dim);
    }
    header.right("steps", 7, theme.dim).right("states", 7, theme.dim);
    header.right("shared", 7, theme.dim).right("branch", 7, theme.dim);
    header.right("compared", 9, theme.dim).right("rescued", 8, theme.dim);
    header.right("penal.", 7, theme.dim).right("inside", 7, theme.dim);
    for name in ["skill", "null"].iter().take(columns.skill) {
        header.right(name, 7, theme.dim);
    }
    if columns.warnings > 6 {
        header.gap(2).put("warnings", theme.dim);
    }
    canvas.row(1, &header);
    let total = usize::from(done > 1);
    let aggregate = if done > 1 && canvas.height() >= 22 { AGGREGATE } else { 0 };
    let height = canvas.height().saturating_sub(total + aggregate);
    let cursor = order.iter().position(|&g| g == model.groups.at);
    {
        let mut part = canvas.part(0, 0, width, height);
        super::list(&mut part, 2, order.len(), cursor, |at, theme| {
            let group = order.get(at).copied().unwrap_or_default();
            line(model, group, &columns, cursor == Some(at), theme)
        });
    }
    if total == 1 {
        let row = sum(model, &columns, &theme);
        canvas.row((order.len() + 2).min(height), &row);
    }
    if aggregate > 0 {
        let top = canvas.height() - aggregate;
        let mut part = canvas.part(0, top, width, aggregate);
        super::aggregate::draw(model, &mut part);
    }
}

fn line(model: &Model, group: usize, columns: &Columns, selected: bool, theme: &Theme) -> Row {
    let mut row = Row::new();
    row.put(super::mark(selected), theme.text);
    let Some(data) = model.corpus.groups.get(group) else {
        return row;
    };
    let task = text::line(&data.key.task).into_owned();
    let style = if group == model.group { theme.title } else { theme.text };
    row.left(&text::cut_left(&task, columns.task), columns.task, style);
    if let Some(summary) = model.groups.rows.get(group).and_then(Option::as_ref) {
        filled(&mut row, summary, columns, theme);
    } else {
        row.right(&data.rollouts.len().to_string(), 5, theme.text);
        row.put("     …", theme.dim);
    }
    row
}

fn filled(row: &mut Row, summary: &Summary, columns: &Columns, theme: &Theme) {
    let g = &summary.row;
    let (ok, bad) = (summary.successes as u64, (g.scored - summary.successes) as u64);
    row.right(&g.rollouts.to_string(), 5, theme.text);
    row.right(&count(ok), 5, if ok > 0 { theme.pos } else { theme.dim });
    row.right(&count(bad), 5, if bad > 0 { theme.neg } else { theme.dim });
    if columns.success {
        success(row, ok, bad, theme);
    }
    row.right(&g.steps.to_string(), 7, theme.text);
    row.right(&g.states.to_string(), 7, theme.text);
    row.right(&percent(u64::from(g.shared_steps), g.tally.scored), 7, theme.text);
    row.right(&count(g.branching as u64), 7, theme.text);
    let [compared, ..] = g.evidence;
    row.right(&count(u64::from(compared)), 9, theme.text);
    for (n, width) in [(g.tally.rescued, 8), (g.tally.penalized, 7)] {
        row.right(&count(n), width, if n > 0 { theme.strong } else { theme.dim });
    }
    row.right(&count(g.tally.inside()), 7, theme.text);
    let skill = [g.skill.map(|s| s.skill), g.skill.map(|s| s.null)];
    for value in skill.into_iter().take(columns.skill) {
        match value {
            Some(x) => row.right(&signed_brief(x), 7, theme.of_sign(x)),
            None => row.right("n/a", 7, theme.dim),
        };
    }
    if columns.warnings > 6 {
        let codes: Vec<&str> = summary.warnings.iter().map(|w| w.code).collect();
        let told = codes.join(", ");
        row.gap(2).put(text::cut(&told, columns.warnings).into_owned(), theme.warn);
    }
}

fn success(row: &mut Row, ok: u64, bad: u64, theme: &Theme) {
    let all = ok + bad;
    if all == 0 {
        row.right("n/a", 12, theme.dim);
        return;
    }
    let share = ok as f64 / all as f64;
    row.right(&brief(share, 2), 5, theme.text).gap(1);
    // Six cells: how many are full, to the nearest.
    let full = ((ok * 12 + all) / (2 * all)) as usize;
    row.solid("━".repeat(full), theme.pos);
    row.solid("┄".repeat(6 - full.min(6)), theme.dim);
}

/// The sum over the groups that are computed.
fn sum(model: &Model, columns: &Columns, theme: &Theme) -> Row {
    let mut row = Row::new();
    row.gap(1).right("Σ", columns.task, theme.title);
    let listed = |s: &&Summary| s.mixed || !model.groups.mixed;
    let done: Vec<&Summary> =
        model.groups.rows.iter().flatten().map(|s| &**s).filter(listed).collect();
    let total = |of: &dyn Fn(&Summary) -> u64| done.iter().map(|s| of(s)).sum::<u64>();
    // As in `quadrants` and `groups`: uniform groups stay out of these.
    let counted = model.counted();
    let quadrant = |of: &dyn Fn(&Summary) -> u64| counted.iter().map(|s| of(s)).sum::<u64>();
    let ok = total(&|s| s.successes as u64);
    let scored = total(&|s| s.row.scored as u64);
    row.right(&total(&|s| s.row.rollouts as u64).to_string(), 5, theme.text);
    row.right(&count(ok), 5, theme.pos);
    row.right(&count(scored - ok), 5, theme.neg);
    if columns.success {
        success(&mut row, ok, scored - ok, theme);
    }
    row.right(&total(&|s| s.row.steps as u64).to_string(), 7, theme.text);
    row.right(&total(&|s| s.row.states as u64).to_string(), 7, theme.text);
    let shared = total(&|s| u64::from(s.row.shared_steps));
    row.right(&percent(shared, total(&|s| s.row.tally.scored)), 7, theme.text);
    row.right(&count(total(&|s| s.row.branching as u64)), 7, theme.text);
    let compared = |s: &Summary| s.row.evidence.first().map_or(0, |&n| u64::from(n));
    row.right(&count(total(&compared)), 9, theme.text);
    row.right(&count(quadrant(&|s| s.row.tally.rescued)), 8, theme.text);
    row.right(&count(quadrant(&|s| s.row.tally.penalized)), 7, theme.text);
    row.right(&count(quadrant(&|s| s.row.tally.inside())), 7, theme.text);
    let known = model.groups.totals.as_ref().filter(|(key, _)| *key == model.groups.key);
    let skill = known.map(|(_, t)| (t.skill.steps.skill(), t.skill.null));
    for value in skill.map_or([None, None], |(a, b)| [a, b]).into_iter().take(columns.skill) {
        let told = value.map_or_else(|| "n/a".to_owned(), signed_brief);
        row.right(&told, 7, theme.text);
    }
    if columns.warnings > 6 {
        let told = match done.len() - counted.len().min(done.len()) {
            0 => String::new(),
            n => format!("quadrants: {} mixed, {n} left out", counted.len()),
        };
        row.gap(2).put(text::cut(&told, columns.warnings).into_owned(), theme.dim);
    }
    row
}
