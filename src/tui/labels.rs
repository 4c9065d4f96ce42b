//! Action labels at the width of a pane: `modify:replace:3859@pkg/separable.py`.
//!
//! Elision goes by pane, not by row: the operation becomes `…`, then goes, then paths are cut from
//! the left. Category, hash and result always stay. Labels come from data and are cleaned first.

use crate::export::text;

/// How much of the labels of a pane is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elision {
    /// Nothing.
    None,
    /// `modify:…:3859@separable.py`
    Operation,
    /// `modify:3859@separable.py`, paths cut where they must be.
    Path,
}

/// The least elision under which each label fits its width.
#[must_use]
pub fn elision<'a>(labels: &(impl Iterator<Item = (&'a str, usize)> + Clone)) -> Elision {
    [Elision::None, Elision::Operation]
        .into_iter()
        .find(|&level| {
            labels.clone().all(|(label, width)| text::width(&shorten(label, level)) <= width)
        })
        .unwrap_or(Elision::Path)
}

/// The label at an elision, in at most `width` cells.
#[must_use]
pub fn label(label: &str, level: Elision, width: usize) -> String {
    let short = shorten(label, level);
    if text::width(&short) <= width {
        return short;
    }
    // Of a call with its arguments the name stays whole, as long as it fits.
    if let Some((name, _)) = short.split_once('(')
        && text::width(name) + 2 > width
    {
        return if text::width(name) < width {
            format!("{name}…")
        } else {
            text::cut_middle(name, width).into_owned()
        };
    }
    let Some((head, tail)) = short.split_once('@') else {
        return text::cut(&short, width).into_owned();
    };
    let (path, result) = match tail.rsplit_once(':') {
        Some((path, result)) if !result.contains('/') => (path, format!(":{result}")),
        _ => (tail, String::new()),
    };
    let kept = text::width(head) + 1 + text::width(&result);
    if width <= kept {
        return text::cut(&short, width).into_owned();
    }
    format!("{head}@{}{result}", text::cut_left(path, width - kept))
}

/// Cells of a call's name and a sign for its arguments; `None` for labels that are no call.
#[must_use]
pub fn call_width(label: &str) -> Option<usize> {
    let clean = text::line(label);
    clean.split_once('(').map(|(name, _)| text::width(name) + 2)
}

/// Ids as the panes write them: clean, without the beginning that all of them share, up to a separator.
/// `run-7/opencode-1` and `run-7/claude-2` become `opencode-1` and `claude-2`.
#[must_use]
pub fn names<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    let clean: Vec<String> = ids.map(|id| text::line(id).into_owned()).collect();
    let mut shared = clean.first().cloned().unwrap_or_default();
    for name in &clean {
        let same = shared.chars().zip(name.chars()).take_while(|(a, b)| a == b);
        shared = same.map(|(a, _)| a).collect();
    }
    let cut = shared
        .char_indices()
        .filter(|(_, c)| matches!(c, '-' | '_' | '/' | ':' | '.'))
        .map(|(i, c)| i + c.len_utf8())
        .next_back()
        .unwrap_or(0);
    if clean.len() < 2 {
        return clean;
    }
    // A bare number says too little: then the word before it stays.
    let bare = clean.iter().any(|n| {
        n.get(cut..).is_none_or(|rest| rest.is_empty() || rest.chars().all(|c| c.is_ascii_digit()))
    });
    let before = clean.first().and_then(|n| n.get(..cut.saturating_sub(1))).unwrap_or_default();
    let cut = if bare { before.rfind(['-', '_', '/', ':', '.']).map_or(0, |i| i + 1) } else { cut };
    clean.iter().map(|n| n.get(cut..).unwrap_or(n).to_owned()).collect()
}

fn shorten(label: &str, level: Elision) -> String {
    let clean = text::line(label);
    if level == Elision::None {
        return clean.into_owned();
    }
    let (head, tail) = match clean.split_once('@') {
        Some((head, tail)) => (head, Some(tail)),
        None => (&*clean, None),
    };
    let parts: Vec<&str> = head.split(':').collect();
    let [category, _, rest @ ..] = parts.as_slice() else {
        return clean.into_owned();
    };
    if rest.is_empty() || tail.is_none() {
        return clean.into_owned();
    }
    let middle = if level == Elision::Operation { ":…" } else { "" };
    format!("{category}{middle}:{}@{}", rest.join(":"), tail.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn category_hash_and_result_stay() {
        let full = "modify:replace:3859@separable.py";
        assert_eq!(label(full, Elision::Operation, 40), "modify:…:3859@separable.py");
        assert_eq!(label(full, Elision::Path, 24), "modify:3859@separable.py");
        assert_eq!(label(full, Elision::Path, 20), "modify:3859@…able.py");
        assert_eq!(
            label("execute:python@run.py:error", Elision::Path, 25),
            "execute:python@….py:error"
        );
        assert_eq!(
            label("execute:python@run.py:error", Elision::Path, 22),
            "execute:python@…:error"
        );
        assert_eq!(label("search:grep@.", Elision::Path, 24), "search:grep@.");
    }

    #[test]
    fn the_name_of_a_call_stays() {
        let call = "get_user_details(user_id=\"mia\")";
        assert_eq!(label(call, Elision::Path, 22), "get_user_details(user…");
        assert_eq!(label(call, Elision::Path, 18), "get_user_details(…");
        assert_eq!(label(call, Elision::Path, 17), "get_user_details…");
        assert_eq!(label(call, Elision::Path, 12), "get_u…etails");
        assert_eq!(call_width(call), Some(18));
    }

    #[test]
    fn names_lose_what_all_of_them_share() {
        let names = |ids: &[&str]| super::names(ids.iter().copied());
        assert_eq!(names(&["derived-opencode-1", "derived-claude-2"]), ["opencode-1", "claude-2"]);
        assert_eq!(names(&["run-7/try-1", "run-7/try-2"]), ["try-1", "try-2"]);
        assert_eq!(names(&["r1", "r2"]), ["r1", "r2"]);
        assert_eq!(names(&["one-long-id"]), ["one-long-id"]);
    }

    #[test]
    fn one_long_label_shortens_the_whole_pane() {
        let labels = [("modify:replace:3859@separable.py", 26), ("finish", 26)];
        assert_eq!(elision(&labels.into_iter()), Elision::Operation);
    }
}
