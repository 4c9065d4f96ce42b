//! From messages to steps: which text belongs to which call, which result to which call, where a
//! turn ends.
//!
//! What comes back belongs to the calls before it: a result to its call, and what a user or a harness says
//! after the results to the last action of the turn, on a line of its own. The policy saw both before it
//! acted again, and there is no other action that the words could belong to.
//!
//! A result that names a call that is not there, or one that has its result already, is kept all the same,
//! and noted: steps that follow it may have been read against another observation than the policy saw.
//!
//! The rules are those of signatures.md section 2; which tool is what, and whether a text turn is a
//! reply, a thought or a mistake, is not decided here.

use std::collections::BTreeSet;

use super::json;
use crate::rollout::raw::{RawArgs, RawKind, RawRollout, RawStep};
use crate::rollout::{StepResult, plural};

/// A call as a message makes it.
#[derive(Debug, Default)]
pub struct Call {
    /// Tool name.
    pub tool: Option<String>,
    /// Arguments.
    pub args: RawArgs,
    /// Id that a result refers to.
    pub id: Option<String>,
}

/// What came back from a call.
#[derive(Debug, Default)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// Exit code, where the format frames one.
    pub exit_code: Option<i64>,
    /// The format's own failure mark.
    pub is_error: Option<bool>,
    /// How the run was stopped, where the format says so.
    pub stopped: Option<StepResult>,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Builds steps from messages in order.
#[derive(Debug, Default)]
pub struct Turns {
    steps: Vec<RawStep>,
    prompt: Option<String>,
    turn: u32,
    /// Index of the first step of the open turn.
    first: usize,
    /// Something came back, so the next text or call opens a new turn.
    ended: bool,
    /// Text that waits for its call.
    text: Option<String>,
    /// Results that no call was found for wait for the end of the turn, with the id that they name.
    loose: Vec<(Option<String>, Reply)>,
    /// Steps that have the result that names them.
    answered: BTreeSet<usize>,
    /// Results that were not where they should be.
    odd: Vec<Odd>,
    /// Results before the first step.
    early: usize,
    /// A demand to continue is looked for in what the harness answers to a text turn.
    demands: bool,
    /// Id of the model's answer that the open turn belongs to.
    answer: Option<String>,
}

/// A result that does not fit the calls.
#[derive(Debug)]
struct Odd {
    /// The step that it was given to.
    step: usize,
    /// The id that it names.
    id: String,
    /// The call with this id has a result already; else no call has it.
    again: bool,
}

/// Results that do not fit are told one by one up to this many in a rollout.
const TOLD: usize = 8;

/// What harnesses say to a turn that called no tool although it had to.
const DEMANDS: [&str; 9] = [
    "please continue working",
    "forgot to use a function call",
    "must use a function call",
    "must use a tool",
    "must call a tool",
    "did not call a tool",
    "no tool call",
    "no function call",
    "exactly one action",
];

impl Turns {
    /// For conversations with a harness, which may demand to continue.
    #[must_use]
    pub fn with_harness() -> Self {
        Self { demands: true, ..Self::default() }
    }

    /// For conversations with a user: what a user says is never the harness's demand.
    #[must_use]
    pub fn with_user() -> Self {
        Self::default()
    }

    /// Text of the agent.
    pub fn says(&mut self, text: &str) {
        self.open();
        match &mut self.text {
            Some(all) => join(all, text),
            None => self.text = Some(text.to_owned()),
        }
    }

    /// A call of the agent.
    pub fn calls(&mut self, call: Call) {
        self.open();
        self.steps.push(RawStep {
            kind: RawKind::Call,
            thought: self.text.take().unwrap_or_default(),
            tool: call.tool,
            args: call.args,
            call_id: call.id,
            turn: self.turn,
            ..RawStep::default()
        });
    }

    /// A result. It goes to the call with its id, else to the calls of the turn in order.
    pub fn gets(&mut self, id: Option<&str>, reply: Reply) {
        self.settle_text();
        if self.steps.is_empty() {
            self.early += usize::from(!reply.text.is_empty());
            return;
        }
        self.ended = true;
        // Ids may repeat over a rollout: the first call of this turn that still waits is meant, else the
        // latest of those before.
        let of = |s: &RawStep| id.is_some() && s.call_id.as_deref() == id;
        let waits = |s: &RawStep| of(s) && s.observation.is_none();
        let turn = self.steps.get(self.first..).unwrap_or_default();
        let open = turn.iter().position(waits).map(|at| self.first + at);
        let open = open.or_else(|| self.steps.iter().rposition(waits));
        let Some(at) = open.or_else(|| self.steps.iter().rposition(of)) else {
            self.loose.push((id.map(str::to_owned), reply));
            return;
        };
        if !self.answered.insert(at) {
            let id = id.unwrap_or_default().to_owned();
            self.odd.push(Odd { step: at, id, again: true });
        }
        self.give(at, reply);
    }

    /// Whether a call has this id, for formats in which a result's id may be its own.
    #[must_use]
    pub fn called(&self, id: &str) -> bool {
        self.steps.iter().any(|s| s.call_id.as_deref() == Some(id))
    }

    /// A message of the user or of the environment that is no result of a call.
    pub fn hears(&mut self, text: &str) {
        self.settle();
        let Some(last) = self.steps.last_mut() else {
            if self.prompt.is_none() && !text.is_empty() {
                self.prompt = Some(text.to_owned());
            }
            return;
        };
        self.ended = true;
        if self.demands && last.kind == RawKind::Text && last.observation.is_none() {
            last.told_to_continue = demands(text);
        }
        let at = self.steps.len() - 1;
        self.give(at, Reply::from(text.to_owned()));
    }

    /// Ends the open turn, for formats that keep a turn in a record of its own: what comes next
    /// belongs to another one, whether or not something came back.
    pub fn ends(&mut self) {
        self.settle();
        self.ended = self.first < self.steps.len();
    }

    /// What comes next belongs to the answer of the model with this id: texts and calls of one answer
    /// share a turn, even where results stand between them.
    pub fn answer(&mut self, id: Option<&str>) {
        if id.is_some() && self.answer.as_deref() == id {
            self.ended = false;
            return;
        }
        self.ends();
        self.answer = id.map(str::to_owned);
    }

    /// The harness refuses an answer and demands another one. Where the answer itself is not among
    /// the messages, the refusal stands for its turn, with `answer` as far as it is known.
    pub fn refuses(&mut self, answer: &str, text: &str) {
        self.settle_results();
        let waits = self.text.is_some()
            || self.steps.last().is_some_and(|s| !self.ended && s.observation.is_none());
        if !waits {
            self.says(answer);
        }
        self.hears(text);
        if let Some(last) = self.steps.last_mut().filter(|s| s.kind == RawKind::Text) {
            last.told_to_continue = true;
        }
    }

    /// Puts the steps into the rollout, with notes about what was odd; the result is the first thing the
    /// agent was told.
    pub fn finish(mut self, raw: &mut RawRollout) -> Option<String> {
        self.settle();
        if self.early > 0 {
            let (results, stand) =
                (plural(self.early, "result"), if self.early == 1 { "stands" } else { "stand" });
            let reason = format!("{results} {stand} before the first call or answer: left out");
            raw.notes.push(("steps".to_owned(), reason));
        }
        raw.notes.extend(self.odd.iter().take(TOLD).map(|odd| self.told(odd)));
        if let Some(next) = self.odd.get(TOLD) {
            let further = plural(self.odd.len() - TOLD, "further result");
            let field = format!("steps[{}..].observation", next.step);
            raw.notes
                .push((field, format!("{further} whose call id is not that of a call that waits")));
        }
        raw.steps = self.steps;
        self.prompt
    }

    /// What is said of an odd result, and which call beside it has none.
    fn told(&self, odd: &Odd) -> (String, String) {
        let id = json::short(&odd.id, 40);
        let mut reason = if odd.again {
            format!("another result for the call id `{id}`, whose call has one: put behind it")
        } else {
            format!(
                "a result for the call id `{id}`, which no call has: given to this step by its order"
            )
        };
        let turn = self.steps.get(odd.step).map(|s| s.turn);
        let lacks = |s: &RawStep| {
            s.kind == RawKind::Call && s.observation.is_none() && Some(s.turn) == turn
        };
        if let Some(at) = self.steps.iter().position(lacks) {
            reason = format!("{reason}; steps[{at}] has no result");
        }
        (format!("steps[{}].observation", odd.step), reason)
    }

    fn open(&mut self) {
        if self.ended {
            self.settle();
            self.ended = false;
            self.turn += 1;
            self.first = self.steps.len();
        }
    }

    fn settle(&mut self) {
        self.settle_text();
        self.settle_results();
    }

    /// Text that found no call: the thought of the turn's last call, or a turn of its own.
    fn settle_text(&mut self) {
        let Some(text) = self.text.take() else { return };
        if self.first < self.steps.len() {
            if let Some(last) = self.steps.last_mut() {
                join(&mut last.thought, &text);
            }
            return;
        }
        self.steps.push(RawStep {
            kind: RawKind::Text,
            thought: text,
            turn: self.turn,
            ..RawStep::default()
        });
    }

    /// Results that no call was found for: in order; one result for many calls is what the last of them
    /// left.
    fn settle_results(&mut self) {
        let loose = std::mem::take(&mut self.loose);
        let waiting: Vec<usize> = (self.first..self.steps.len())
            .filter(|&at| self.steps.get(at).is_some_and(|s| s.observation.is_none()))
            .collect();
        let last = self.steps.len().saturating_sub(1);
        let one_for_many = loose.len() == 1 && waiting.len() > 1;
        for (nth, (id, reply)) in loose.into_iter().enumerate() {
            let at = if one_for_many { waiting.last() } else { waiting.get(nth) };
            let step = at.copied().unwrap_or(last);
            self.odd.extend(id.map(|id| Odd { step, id, again: false }));
            self.give(step, reply);
        }
    }

    fn give(&mut self, at: usize, reply: Reply) {
        let Some(step) = self.steps.get_mut(at) else { return };
        match &mut step.observation {
            Some(all) => join(all, &reply.text),
            None => step.observation = Some(reply.text),
        }
        step.exit_code = step.exit_code.or(reply.exit_code);
        step.is_error = step.is_error.or(reply.is_error);
        step.stopped = step.stopped.or(reply.stopped);
    }
}

/// Whether this is a harness that demands to continue with a call.
#[must_use]
pub fn demands(text: &str) -> bool {
    let plain = text.to_ascii_lowercase();
    DEMANDS.iter().any(|d| plain.contains(d))
}

fn join(all: &mut String, more: &str) {
    if !all.is_empty() && !more.is_empty() {
        all.push('\n');
    }
    all.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, id: Option<&str>) -> Call {
        Call { tool: Some(tool.into()), id: id.map(Into::into), ..Call::default() }
    }

    fn told(text: &str) -> Reply {
        Reply::from(text.to_owned())
    }

    fn finish(turns: Turns) -> (Vec<RawStep>, Option<String>) {
        let mut raw = RawRollout::default();
        let prompt = turns.finish(&mut raw);
        assert_eq!(raw.notes, []);
        (raw.steps, prompt)
    }

    fn seen(steps: &[RawStep]) -> Vec<(u32, &str, &str, Option<&str>)> {
        steps
            .iter()
            .map(|s| {
                (s.turn, s.tool.as_deref().unwrap_or("-"), &*s.thought, s.observation.as_deref())
            })
            .collect()
    }

    #[test]
    fn parallel_calls_share_a_turn_and_join_by_id() {
        let mut t = Turns::with_harness();
        t.hears("go");
        t.says("look");
        t.calls(call("a", Some("1")));
        t.calls(call("b", Some("2")));
        t.gets(Some("2"), told("B"));
        t.gets(Some("1"), told("A"));
        t.calls(call("c", Some("1")));
        t.gets(Some("1"), told("C"));
        let (steps, prompt) = finish(t);
        assert_eq!(prompt.as_deref(), Some("go"));
        assert_eq!(
            seen(&steps),
            [(0, "a", "look", Some("A")), (0, "b", "", Some("B")), (1, "c", "", Some("C"))]
        );
    }

    #[test]
    fn results_without_ids() {
        let mut t = Turns::with_harness();
        t.calls(call("a", None));
        t.calls(call("b", None));
        t.gets(None, told("A"));
        t.gets(None, told("B"));
        t.calls(call("c", None));
        t.calls(call("d", None));
        t.gets(None, told("both"));
        t.calls(call("e", None));
        let (steps, _) = finish(t);
        let got: Vec<_> = seen(&steps).into_iter().map(|s| s.3).collect();
        assert_eq!(got, [Some("A"), Some("B"), None, Some("both"), None]);
    }

    #[test]
    fn texts_merge_and_trailing_messages_stay_with_the_last_action() {
        let mut t = Turns::with_harness();
        t.says("one");
        t.says("two");
        t.hears("You forgot to use a function call in your response.");
        t.calls(call("finish", Some("x")));
        t.gets(Some("x"), told("submitted"));
        t.hears("[environment] closed");
        let (steps, _) = finish(t);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].kind, &*steps[0].thought), (RawKind::Text, "one\ntwo"));
        assert!(steps[0].told_to_continue);
        assert_eq!(steps[1].observation.as_deref(), Some("submitted\n[environment] closed"));
        assert_eq!((steps[0].turn, steps[1].turn), (0, 1));
    }

    #[test]
    fn a_user_is_not_a_harness() {
        let mut t = Turns::with_user();
        t.says("Shall I?");
        t.hears("Yes, please continue working on it.");
        assert!(!finish(t).0[0].told_to_continue);
    }

    fn noted(turns: Turns) -> (Vec<RawStep>, Vec<(String, String)>) {
        let mut raw = RawRollout::default();
        turns.finish(&mut raw);
        (raw.steps, raw.notes)
    }

    #[test]
    fn a_result_for_a_call_that_is_not_there_is_noted() {
        let mut t = Turns::with_harness();
        t.calls(call("a", Some("1")));
        t.calls(call("b", Some("2")));
        t.gets(Some("1"), told("A"));
        t.gets(Some("x"), told("B"));
        let (steps, notes) = noted(t);
        assert_eq!(seen(&steps), [(0, "a", "", Some("A")), (0, "b", "", Some("B"))]);
        let reason =
            "a result for the call id `x`, which no call has: given to this step by its order";
        assert_eq!(notes, [("steps[1].observation".to_owned(), reason.to_owned())]);
    }

    #[test]
    fn a_second_result_names_the_call_beside_it_that_has_none() {
        let mut t = Turns::with_harness();
        t.calls(call("a", Some("1")));
        t.calls(call("b", Some("2")));
        t.gets(Some("1"), told("A"));
        t.gets(Some("1"), told("B"));
        t.calls(call("c", Some("3")));
        let (steps, notes) = noted(t);
        assert_eq!(seen(&steps)[0].3, Some("A\nB"));
        let reason = "another result for the call id `1`, whose call has one: put behind it; \
                      steps[1] has no result";
        assert_eq!(notes, [("steps[0].observation".to_owned(), reason.to_owned())]);
    }

    #[test]
    fn what_a_user_says_before_a_result_is_no_result() {
        let mut t = Turns::with_user();
        t.calls(call("a", Some("1")));
        t.hears("wait");
        t.gets(Some("1"), told("A"));
        assert_eq!(seen(&finish(t).0)[0].3, Some("wait\nA"));
    }

    #[test]
    fn results_before_all_steps_and_many_odd_ones_are_counted() {
        let mut t = Turns::with_harness();
        t.gets(Some("0"), told("lost"));
        for nth in 0..11 {
            t.calls(call("a", Some("1")));
            t.gets(Some(&format!("x{nth}")), told("A"));
        }
        let (steps, notes) = noted(t);
        assert_eq!(steps.len(), 11);
        assert_eq!(notes.len(), 10);
        assert_eq!(notes[0].1, "1 result stands before the first call or answer: left out");
        assert_eq!(notes[9].0, "steps[8..].observation");
        assert!(notes[9].1.starts_with("3 further results"), "{}", notes[9].1);
    }
}
