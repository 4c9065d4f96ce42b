//! Command lines, and text on its way to the screen.

use credscope::export::text;
use credscope::facts::Interpreter;
use credscope::rollout::raw::{RawArgs, RawRollout, RawStep};
use credscope::rollout::{Fact, RolloutFacts};
use credscope::tui::text::Document;

use super::records::{facts, profiles};

/// Command lines of a rollout between zero bytes, each with its output after a one byte. What an
/// interpreter read before changes nothing.
pub fn shell(data: &[u8]) {
    let steps = data.split(|&b| b == 0).take(8).map(|step| {
        let mut parts = step.splitn(2, |&b| b == 1).map(String::from_utf8_lossy);
        let command = parts.next().unwrap_or_default().into_owned();
        let mut args = serde_json::Map::new();
        args.insert("command".to_owned(), command.into());
        RawStep {
            tool: Some("bash".to_owned()),
            args: RawArgs::Object(args),
            observation: parts.next().map(std::borrow::Cow::into_owned),
            ..RawStep::default()
        }
    });
    let raw = RawRollout {
        harness: Some("mini-swe-agent".to_owned()),
        steps: steps.collect(),
        ..RawRollout::default()
    };
    let used = facts("mini-swe-agent", &raw);
    // A new interpreter is dear.
    if !data.len().is_multiple_of(8) {
        return;
    }
    let fresh = Interpreter::new(profiles()).read("mini-swe-agent", &raw);
    assert_eq!(readable(&used), readable(&fresh));
}

/// The facts with texts in place of symbols.
pub fn readable(facts: &RolloutFacts) -> Vec<String> {
    let table = &facts.table;
    let name = |sym| facts.symbols.text(sym);
    let fact = |f: &Fact| {
        let targets: Vec<&str> = table.targets_of(f).iter().map(|&t| name(t)).collect();
        let edit = f.edit.and_then(|e| table.edit(e));
        format!(
            "{:?} {} {targets:?} {:?} {edit:?} {} {:?} {:?}",
            f.category,
            name(f.op),
            f.extent,
            name(f.runner),
            f.result,
            f.flags
        )
    };
    let steps = table.steps.iter().map(|step| {
        let effects: Vec<String> = table.effects_of(step).iter().map(fact).collect();
        let texts = [step.tool, step.brief, step.page, step.why].map(name);
        let hashes = (step.command, step.call, step.seen, step.seen_masked);
        format!("{} {effects:?} {texts:?} {hashes:?}", fact(&step.action))
    });
    let counts = format!("{} {} {}", facts.profile, facts.coding_calls, facts.calls);
    steps.chain([counts]).collect()
}

/// Text that comes from data: whatever it is, it keeps to its line and its width.
pub fn clean(data: &[u8]) {
    let Some((&limit, rest)) = data.split_first() else { return };
    let limit = usize::from(limit);
    let given = String::from_utf8_lossy(rest);
    let line = text::line(&given);
    printable(&line);
    text::lines(&given).for_each(|line| printable(&line));
    let fits = |cut: &str| assert!(text::width(cut) <= limit, "{cut:?} in {limit}");
    fits(&text::cut(&line, limit));
    fits(&text::cut_left(&line, limit));
    fits(&text::cut_middle(&line, limit));
    assert_eq!(text::width(&text::fit(&line, limit)), limit);
    assert_eq!(text::width(&text::fit_right(&line, limit)), limit);
    let mut parts = given.splitn(3, '\0').map(str::to_owned);
    let mut step = RawStep {
        thought: parts.next().unwrap_or_default(),
        tool: Some("edit".to_owned()),
        observation: parts.next(),
        ..RawStep::default()
    };
    if let Some(args) = parts.next() {
        step.args = serde_json::from_str(&args).map_or(RawArgs::Unparsable(args), RawArgs::Object);
    }
    let document = Document::new(&step);
    printable(&document.call);
    let width = limit.max(8);
    for line in document.wrap(width) {
        printable(&line.text);
        assert!(text::width(&line.text) <= width, "{:?} in {width}", line.text);
    }
    let _ = document.plain();
}

fn printable(line: &str) {
    assert!(!line.chars().any(char::is_control), "{line:?}");
}
