//! RTMC explained: the steps that count at the state, Q, V and V' with their numbers, the six parts,
//! and the other columns beside them.

use super::explain::{Lines, action_line, eval_lines, side, state_line};
use crate::analysis::explain::table;
use crate::analysis::{Bucket, Explanation};
use crate::export::text;
use crate::rollout::{Outcome, plural};
use crate::tui::canvas::{Row, first_in_sight};
use crate::tui::difference::glance;
use crate::tui::glyphs;
use crate::tui::model::{Model, Text};
use crate::tui::numbers::{plain, setting, signed};
use crate::tui::snapshot::Snapshot;
use crate::tui::theme::Theme;

/// `(a + b + … 13 more) / n`, in at most `room` cells.
fn mean_text(values: &[f64], room: usize) -> String {
    let n = values.len();
    // A number takes at least eight cells with its plus sign.
    let most = n.min(room / 8 + 1);
    let numbers: Vec<String> = values.iter().take(most).map(|g| plain(*g, 3)).collect();
    let close = |inside: String| {
        if n == 1 { format!("{inside} / 1") } else { format!("({inside}) / {n}") }
    };
    for shown in (1..=most).rev() {
        let mut inside = numbers.get(..shown).unwrap_or(&[]).join(" + ");
        if shown < n {
            inside = format!("{inside} + … {} more", n - shown);
        }
        let whole = close(inside);
        if text::width(&whole) <= room {
            return whole;
        }
    }
    format!("sum of {n} / {n}")
}

/// The lines of an explanation by members.
pub(super) struct Members<'a> {
    pub model: &'a Model,
    pub snapshot: &'a Snapshot,
    pub explanation: &'a Explanation,
    pub value: f64,
    pub width: usize,
    pub theme: &'a Theme,
}

impl Members<'_> {
    /// The lines at a height: the table of members takes what the arithmetic leaves.
    pub fn lines(&self, height: usize) -> Lines {
        let (theme, width) = (self.theme, self.width);
        let tall = height >= 19;
        let mut top: Lines = Vec::new();
        if tall {
            top.push((self.definition(), false));
        }
        top.push((state_line(self.explanation, theme, width), false));
        top.push((action_line(self.explanation, theme, width), false));
        let mut bottom: Lines = Vec::new();
        if tall {
            bottom.extend(self.values());
        } else {
            bottom.push((self.values_short(), false));
        }
        bottom.extend(self.parts());
        if tall || top.len() + bottom.len() + 8 <= height {
            bottom.extend(eval_lines(self.explanation, theme, width, 3));
        }
        let members = self.explanation.members.len();
        let mut room = height.saturating_sub(top.len() + bottom.len() + 1);
        if tall && room > members {
            top.push((Row::new(), false));
            room -= 1;
        }
        let mut lines = top;
        lines.extend(self.members(room));
        lines.extend(bottom);
        if lines.len() < height {
            lines.extend(self.call(height - lines.len()));
        }
        lines
    }

    fn definition(&self) -> Row {
        let theme = self.theme;
        let mut row = Row::new();
        let data = self.snapshot.analysis.step_row(self.explanation.index);
        let (q, v) = (data.q.unwrap_or(0.0), data.v_smooth.unwrap_or(0.0));
        row.gap(1)
            .put(format!("A = Q(s,a) − V'(s) = {} − {} = ", plain(q, 3), plain(v, 3)), theme.text);
        row.put(signed(self.value, 3), theme.of_sign(self.value).patch(theme.title));
        for note in ["   rounded; eval has all digits", "   rounded"] {
            if row.width() + text::width(note) <= self.width {
                row.put(note, theme.dim);
                break;
            }
        }
        row
    }

    fn members(&self, room: usize) -> Lines {
        let theme = self.theme;
        let list = &self.explanation.members;
        let wide = self.width >= 68;
        let id = self.snapshot.widths.id.clamp(2, (self.width / 4).max(4));
        let t = self.snapshot.widths.t + 1;
        let numbers = if wide { 9 * 3 } else { 9 };
        let label = self.width.saturating_sub(1 + id + 2 + t + 2 + numbers + 1).max(1);
        let mut header = Row::new();
        header.gap(1).left("here were", id + 2 + t + 2, theme.dim);
        if id + 2 + t + 2 < 10 {
            header = Row::new();
            header.gap(1).left("here", id + 2 + t + 2, theme.dim);
        }
        header.left("action", label, theme.dim).right("G_t", 9, theme.dim);
        if wide {
            header.right("outcome", 9, theme.dim).right("shaping", 9, theme.dim);
        }
        let mut lines = vec![(header, false)];
        let cut = list.len() > room;
        let shown = if cut { room.saturating_sub(1) } else { room };
        let first = first_in_sight(self.model.member, list.len(), shown);
        let sight = list.iter().skip(first).take(shown);
        let level = crate::tui::labels::elision(&sight.map(|m| (m.action.as_str(), label)));
        for (i, member) in list.iter().enumerate().skip(first).take(shown) {
            let selected = i == self.model.member;
            let mut row = Row::new();
            row.put(super::mark(selected), theme.text);
            let rollout = self.snapshot.analysis.group.rollouts.get(member.rollout);
            row.left(&self.snapshot.name(member.rollout, id), id, theme.text);
            let outcome = rollout.map_or(Outcome::Unscored, |r| r.outcome);
            row.put(format!(" {}", glyphs::outcome(outcome)), side(outcome, theme));
            row.gap(1).left(&format!("t{}", member.step), t, theme.dim).gap(1);
            let style = if member.same_action { theme.text } else { theme.dim };
            row.left(&crate::tui::labels::label(&member.action, level, label), label, style);
            row.right(&plain(member.g, 3), 9, style);
            if wide {
                row.right(&plain(member.outcome, 3), 9, style);
                row.right(&plain(member.shaping, 3), 9, style);
            }
            lines.push((row, selected));
        }
        if cut {
            let mut row = Row::new();
            row.gap(1).put(format!("… {} more members, j goes on", list.len() - shown), theme.dim);
            lines.push((row, false));
        }
        lines
    }

    /// Q, V and V' with their numbers.
    fn values(&self) -> Lines {
        let theme = self.theme;
        let analysis = &self.snapshot.analysis;
        let data = analysis.step_row(self.explanation.index);
        let pair = analysis.graph.pair_of(self.explanation.index);
        let state = analysis.graph.pair(pair).state;
        let returns = |steps: &[u32]| -> Vec<f64> {
            let of = |&s: &u32| analysis.returns.total.get(s as usize).copied();
            steps.iter().filter_map(of).collect()
        };
        let room = self.width.saturating_sub(9 + 8 + 19);
        let q = returns(analysis.values.pair_members(pair));
        let v: Vec<f64> = self.explanation.members.iter().map(|m| m.g).collect();
        let n_prior = analysis.values.n_prior;
        let smooth = if n_prior == 0.0 {
            "V(s), no prior".to_owned()
        } else {
            format!(
                "({}·{} + {}·{}) / ({} + {})",
                data.n_s,
                plain(data.v.unwrap_or(0.0), 3),
                setting(n_prior),
                plain(data.v_prior, 3),
                data.n_s,
                setting(n_prior)
            )
        };
        let rollouts = analysis.graph.state_count(state).rollouts;
        let lines = [
            ("Q(s,a)", mean_text(&q, room), data.q, format!("N(s,a) {}", data.n_sa)),
            ("V(s)", mean_text(&v, room), data.v, format!("N(s) {}, {rollouts} roll.", data.n_s)),
            (
                "V'(s)",
                smooth,
                data.v_smooth,
                format!("prior {}, n {}", self.prior(), setting(n_prior)),
            ),
        ];
        lines
            .into_iter()
            .map(|(name, sum, value, note)| {
                let mut row = Row::new();
                row.gap(1).left(name, 6, theme.title).put(" = ", theme.dim);
                row.left(&sum, room, theme.text).put(" = ", theme.dim);
                row.put(plain(value.unwrap_or(0.0), 3), theme.text);
                row.gap(2).put(note, theme.dim);
                (row, false)
            })
            .collect()
    }

    /// The prior: as a rate of successes where it is one.
    fn prior(&self) -> String {
        let analysis = &self.snapshot.analysis;
        let (ok, n) = (analysis.basis.successes(), analysis.basis.scored_count());
        if n > 0 && ok as f64 / n as f64 == analysis.values.v_prior {
            format!("{ok}/{n}")
        } else {
            plain(analysis.values.v_prior, 3)
        }
    }

    fn values_short(&self) -> Row {
        let theme = self.theme;
        let data = self.snapshot.analysis.step_row(self.explanation.index);
        let n_prior = self.snapshot.analysis.values.n_prior;
        let mut row = Row::new();
        row.gap(1).put("Q ", theme.title);
        row.put(plain(data.q.unwrap_or(0.0), 3), theme.text);
        let v = plain(data.v.unwrap_or(0.0), 3);
        row.put("  V ", theme.title).put(v.clone(), theme.text);
        row.put("  V' ", theme.title);
        if n_prior > 0.0 {
            let (n, k) = (data.n_s, setting(n_prior));
            let prior = plain(data.v_prior, 3);
            let long = format!("({n}·{v} + {k}·{prior})/({n}+{k}) = ");
            let short = format!("({n}·{v}+{k}·{prior})/({n}+{k})=");
            // Without room for the sum its result still stands there.
            let fits = |t: &String| row.width() + text::width(t) + 6 <= self.width;
            let sum = [long, short].into_iter().find(fits).unwrap_or_default();
            row.put(sum, theme.text);
        }
        row.put(plain(data.v_smooth.unwrap_or(0.0), 3), theme.text);
        row
    }

    /// The six parts, their sums, and the other columns beside them where there is room.
    fn parts(&self) -> Lines {
        let theme = self.theme;
        let Some(split) = &self.explanation.split else {
            return Vec::new();
        };
        // In a narrow pane the names give way, never the numbers.
        let label = if self.width >= 50 { 12 } else { 6 };
        let cell = if self.width >= label + 1 + 4 * 9 { 9 } else { 8 };
        let mut header = Row::new();
        header.gap(label + 1);
        let discount = if cell < 9 { "disc." } else { "discount" };
        for name in ["outcome", discount, "shaping", "sum"] {
            header.right(name, cell - 1, theme.dim).gap(1);
        }
        let beside = self.width >= 72;
        if beside {
            header.gap(2).put("other columns", theme.dim);
        }
        let winner = self.explanation.why;
        let mut lines = vec![(header, false)];
        let others = self.others();
        for (i, (name, cells)) in table(split).into_iter().enumerate() {
            let mut row = Row::new();
            let loud = winner == Some(name);
            row.gap(1).left(name, label - 1, if loud { theme.title } else { theme.text });
            for (k, x) in cells.into_iter().enumerate() {
                row.right(&signed(x, 3), cell - usize::from(cell < 9), theme.of_sign(x));
                let won = match winner {
                    Some("discount") => name == "sum" && k == 1,
                    Some("shaping") => name == "sum" && k == 2,
                    Some(part) => part == name && k == 0,
                    None => false,
                };
                if k < 3 || won {
                    row.put(if won { "◂" } else { "" }, theme.strong);
                }
                row.to(label + 1 + cell * (k + 1));
            }
            if beside && let Some(other) = others.get(i) {
                row.gap(2).append(other.clone());
            }
            lines.push((row, false));
        }
        lines
    }

    fn others(&self) -> Vec<Row> {
        let theme = self.theme;
        let mut rows = Vec::new();
        for (name, value, convention) in &self.explanation.others {
            if *name == self.explanation.column || rows.len() == 2 {
                continue;
            }
            let mut row = Row::new();
            let name = text::line(name).into_owned();
            row.left(&name, 9, theme.text).gap(1);
            match value {
                Some(x) => row.right(&signed(*x, 3), 6, theme.of_sign(*x)),
                None => row.right("·", 6, theme.dim),
            };
            let room = self.width.saturating_sub(51 + row.width() + 2);
            // A few letters of a convention say nothing.
            if room >= 10 {
                row.gap(1);
                row.put(text::cut(&text::line(convention), room).into_owned(), theme.dim);
            }
            rows.push(row);
        }
        while rows.len() < 2 {
            rows.push(Row::new());
        }
        let mut row = Row::new();
        let bucket = self.snapshot.analysis.bucket(self.explanation.index);
        let (word, style) = match bucket {
            Bucket::Rescued => ("−+ rescued", theme.strong),
            Bucket::Penalized => ("+− penalized", theme.strong),
            Bucket::BothPos => ("no: both +", theme.dim),
            Bucket::BothNeg => ("no: both −", theme.dim),
            Bucket::InsideX => ("no: X inside τ", theme.dim),
            Bucket::InsideY => ("no: Y inside τ", theme.dim),
            Bucket::InsideBoth => ("no: both inside τ", theme.dim),
            Bucket::Missing => ("no value in X or Y", theme.dim),
        };
        if self.width >= 76 || !bucket.disagrees() {
            row.put("disagree  ", theme.text);
        }
        row.put(word, style);
        rows.push(row);
        rows
    }

    /// What was called, as far as there is room.
    fn call(&self, room: usize) -> Lines {
        let theme = self.theme;
        let Text::Ready(document) = &self.model.reader.text else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let mut first = Row::new();
        first.gap(1).put("call   ", theme.dim);
        let note = document.edit.map_or_else(
            || "i reads all".to_owned(),
            |(old, new)| format!("−{old} +{}, i reads all", plural(new, "line")),
        );
        let left = self.width.saturating_sub(8 + text::width(&note) + 2);
        first.left(&document.call, left, theme.text).gap(1);
        first.put(note, theme.dim);
        lines.push((first, false));
        let section = document.sections.iter().find(|s| s.name == "call");
        let body: Vec<_> = section.map_or_else(Vec::new, |s| s.shown().skip(1).collect());
        let kinds: Vec<_> = body.iter().map(|(kind, _)| *kind).collect();
        for at in glance(&kinds, room.saturating_sub(1)) {
            let Some((kind, line)) = body.get(at) else { continue };
            let mut row = Row::new();
            let style = super::reader::style(*kind, theme);
            row.gap(8).put(text::cut(line, self.width.saturating_sub(9)).into_owned(), style);
            lines.push((row, false));
        }
        lines
    }
}
