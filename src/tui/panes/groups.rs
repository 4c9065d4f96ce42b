//! All groups, one row each: what they hold, how much their states are shared, what disagrees.

use crate::export::text;
use crate::rollout::plural;
use crate::tui::canvas::{Canvas, Row};
use crate::tui::grouping::GroupOrder;
use crate::tui::model::Model;
use crate::tui::numbers::{brief, count, percent, signed_brief};
use crate::tui::snapshot::{Summary, failed};
use crate::tui::theme::Theme;

/// Numbers of a row with the cells they take.
const NUMBERS: [(&str, usize); 11] = [
    ("n", 5),
    ("✓", 5),
    ("✗", 5),
    ("steps", 7),
    ("states", 7),
    ("shared", 7),
    ("branch", 7),
    ("compared", 9),
    ("rescued", 8),
    ("penal.", 7),
    ("inside", 7),
];
/// Numbers that go where the width is short, the first of them first.
const FIRST_TO_GO: [&str; 6] = ["branch", "states", "compared", "steps", "shared", "n"];

struct Columns {
    task: usize,
    /// Which numbers there is room for.
    numbers: Vec<(&'static str, usize)>,
    success: bool,
    /// Skill, then its null, where there is room.
    skill: usize,
    warnings: usize,
}

/// Whether a list of this width shows what an order goes by.
#[must_use]
pub fn shows(order: GroupOrder, width: usize) -> bool {
    // The task takes what the numbers leave: its length decides nothing here.
    let columns = Columns::new(width, 14);
    let there = |name: &str| columns.numbers.iter().any(|(n, _)| *n == name);
    match order {
        GroupOrder::Name | GroupOrder::Success => true,
        GroupOrder::Disagreeing | GroupOrder::Rescued => there("rescued"),
        GroupOrder::Penalized => there("penal."),
        GroupOrder::Rollouts => there("n"),
        GroupOrder::Branching => there("branch"),
        GroupOrder::Warnings => columns.warnings > 6,
        GroupOrder::Skill => columns.skill > 0,
        GroupOrder::Steps => there("steps"),
        GroupOrder::Shared => there("shared"),
    }
}

impl Columns {
    /// The longest task decides how much room tasks get, as far as the numbers leave it.
    fn new(width: usize, longest: usize) -> Self {
        let least = if width < 80 { 7 } else { longest.clamp(8, 14) };
        let mut numbers = NUMBERS.to_vec();
        let taken = |numbers: &[(&str, usize)]| numbers.iter().map(|(_, w)| w).sum::<usize>();
        for name in FIRST_TO_GO {
            if 1 + taken(&numbers) + least <= width {
                break;
            }
            numbers.retain(|(n, _)| *n != name);
        }
        let success = width >= 116;
        let skill = match width {
            132.. => 2,
            106.. => 1,
            _ => 0,
        };
        let rest = 1 + taken(&numbers) + usize::from(success) * 12 + skill * 7;
        let spare = width.saturating_sub(rest);
        let task = longest.min(spare);
        Self { task, numbers, success, skill, warnings: spare.saturating_sub(task + 2) }
    }
}

/// Draws the pane.
pub fn draw(model: &Model, canvas: &mut Canvas) {
    let theme = *canvas.theme;
    let order = model.group_order();
    let done = model.groups.rows.iter().flatten().count();
    let mut extra = Row::new();
    let all = model.corpus.groups.len();
    if let Some(sought) = &model.groups.sought {
        let pattern = text::line(sought.as_str()).into_owned();
        extra.put(format!("{} of {all} groups", order.len()), theme.text);
        extra.put(format!("  /{}", text::cut(&pattern, 20)), theme.title);
    } else {
        extra.put(plural(order.len() as u64, "group"), theme.text);
    }
    if done < all {
        extra.put(format!("  {done} computed …"), theme.dim);
    }
    if model.groups.mixed {
        let out = match model.groups.sought {
            Some(_) => String::new(),
            None => format!(", {} left out", all - order.len()),
        };
        extra.put(format!("  mixed only{out}"), theme.strong);
    }
    let sort = format!("sort {}", model.groups.order.name());
    let find = if model.groups.sought.is_some() { ("Esc", "all") } else { ("/", "task") };
    let hints = [("Enter", "opens"), find, ("f", "mixed only"), ("S", &*sort)];
    canvas.rule("a Groups", extra, &hints, true);
    if order.is_empty() {
        canvas.empty(
            1,
            &[if model.groups.sought.is_some() {
                "no task that is listed has it: Esc ends the search"
            } else if model.groups.mixed {
                "no group has successes and failures: f shows all groups"
            } else {
                "no group was loaded: q quits, then give a path with rollouts"
            }],
        );
        return;
    }
    let width = canvas.width();
    let longest = order
        .iter()
        .filter_map(|&g| model.corpus.groups.get(g))
        .map(|g| text::width(&text::line(&g.label())))
        .max()
        .unwrap_or(4)
        .max("Σ listed".chars().count());
    let columns = Columns::new(width, longest);
    let mut header = Row::new();
    header.gap(1).left("task", columns.task, theme.dim);
    for &(name, cells) in &columns.numbers {
        let style = match name {
            "✓" => theme.pos,
            "✗" => theme.neg,
            _ => theme.dim,
        };
        let cross = failed(model.groups.rows.iter().flatten().map(|s| s.truncated).sum());
        header.right(if name == "✗" { cross } else { name }, cells, style);
        if name == "✗" && columns.success {
            header.right("success", 12, theme.dim);
        }
    }
    for name in ["skill", "null"].iter().take(columns.skill) {
        header.right(name, 7, theme.dim);
    }
    if columns.warnings > 6 {
        header.gap(2).put("warnings", theme.dim);
    }
    canvas.row(1, &header);
    let sums = if done > 1 { sums(model) } else { Vec::new() };
    let total = sums.len();
    let aggregate = if done > 1 && canvas.height() >= 22 { super::aggregate::ROWS } else { 0 };
    let height = canvas.height().saturating_sub(total + aggregate);
    let cursor = order.iter().position(|&g| g == model.groups.at);
    {
        let mut part = canvas.part(0, 0, width, height);
        super::list(&mut part, 2, order.len(), cursor, |at, theme| {
            let group = order.get(at).copied().unwrap_or_default();
            line(model, group, &columns, cursor == Some(at), theme)
        });
    }
    for (y, (name, of)) in sums.iter().enumerate() {
        let row = sum(model, name, of, y + 1 == total, &columns, &theme);
        canvas.row((order.len() + 2).min(height) + y, &row);
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
    let task = text::line(&data.label()).into_owned();
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
    numbers(row, &[summary], columns, theme);
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

/// The numbers of one group, or their sums over several.
fn numbers(row: &mut Row, of: &[&Summary], columns: &Columns, theme: &Theme) {
    let total = |pick: &dyn Fn(&Summary) -> u64| of.iter().map(|s| pick(s)).sum::<u64>();
    let ok = total(&|s| s.successes as u64);
    let bad = total(&|s| s.row.scored as u64) - ok;
    let compared = |s: &Summary| s.row.evidence.first().map_or(0, |&n| u64::from(n));
    let or_dim = |n: u64, style| if n > 0 { style } else { theme.dim };
    for &(name, cells) in &columns.numbers {
        let (text, style) = match name {
            "n" => (total(&|s| s.row.rollouts as u64).to_string(), theme.text),
            "✓" => (count(ok), or_dim(ok, theme.pos)),
            "✗" => (count(bad), or_dim(bad, theme.neg)),
            "steps" => (total(&|s| s.row.steps as u64).to_string(), theme.text),
            "states" => (total(&|s| s.row.states as u64).to_string(), theme.text),
            "shared" => {
                let shared = total(&|s| u64::from(s.row.shared_steps));
                (percent(shared, total(&|s| s.row.tally.scored)), theme.text)
            }
            "branch" => (count(total(&|s| s.row.branching as u64)), theme.text),
            "compared" => (count(total(&compared)), theme.text),
            "rescued" | "penal." => {
                let n = total(&|s| {
                    if name == "rescued" { s.row.tally.rescued } else { s.row.tally.penalized }
                });
                (count(n), or_dim(n, theme.strong))
            }
            _ => (count(total(&|s| s.row.tally.inside())), theme.text),
        };
        row.right(&text, cells, style);
        if name == "✗" && columns.success {
            success(row, ok, bad, theme);
        }
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

/// The sums over the groups that are computed: all that are listed, then those that count in what is
/// summed up over groups, where these are fewer. A row is of one population.
fn sums(model: &Model) -> Vec<(&'static str, Vec<&Summary>)> {
    if model.groups.sought.is_some() {
        let order = model.group_order();
        let rows = order.iter().filter_map(|&g| model.groups.rows.get(g)?.as_deref());
        return vec![("Σ listed", rows.collect())];
    }
    let listed = |s: &&Summary| s.mixed || !model.groups.mixed;
    let all: Vec<&Summary> =
        model.groups.rows.iter().flatten().map(|s| &**s).filter(listed).collect();
    let counted = model.counted();
    if counted.len() >= all.len() {
        return vec![("Σ", all)];
    }
    vec![("Σ all", all), ("Σ mixed", counted)]
}

fn sum(
    model: &Model,
    name: &str,
    of: &[&Summary],
    last: bool,
    columns: &Columns,
    theme: &Theme,
) -> Row {
    let mut row = Row::new();
    row.gap(1).right(name, columns.task, theme.title);
    numbers(&mut row, of, columns, theme);
    if !last || model.groups.sought.is_some() {
        // Skill is of the groups that have successes and failures.
        for _ in 0..columns.skill {
            row.right("·", 7, theme.dim);
        }
        return row;
    }
    let known = model.groups.totals.as_ref().filter(|(key, _)| *key == model.groups.key);
    let skill = known.map(|(_, t)| (t.skill.steps.skill(), t.skill.null));
    for value in skill.map_or([None, None], |(a, b)| [a, b]).into_iter().take(columns.skill) {
        let told = value.map_or_else(|| "n/a".to_owned(), signed_brief);
        row.right(&told, 7, theme.text);
    }
    let out = model.groups.rows.iter().flatten().count() - of.len();
    if columns.warnings > 6 && out > 0 {
        let long = format!("{} mixed, {out} left out", of.len());
        let short = format!("{out} left out");
        let told = if text::width(&long) <= columns.warnings { long } else { short };
        row.gap(2).put(text::cut(&told, columns.warnings).into_owned(), theme.dim);
    }
    row
}
