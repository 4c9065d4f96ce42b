//! What came of an action: the printed verdict over the exit code, the exit code only where it
//! speaks for the command, no evidence is `unknown`.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use serde_json::Value;

use super::act::{Act, ActKind, Speaks};
use crate::profile::{Found, Profile, Runners, Verdict};
use crate::rollout::facts::{Flags, StepResult};
use crate::rollout::raw::RawStep;

/// How much of the beginning (and of the end) of an observation can hold a frame or a refusal.
const FRAME: usize = 400;

/// What a step shows of its result.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The observation as logged.
    pub whole: Option<&'a str>,
    /// The observation without the harness's frame.
    pub payload: Cow<'a, str>,
    /// Exit code: a field of its own, or read from the frame.
    pub code: Option<i64>,
    /// Stopped by a limit, an interrupt or a kill.
    pub stopped: Option<StepResult>,
    is_error: bool,
    /// The payload without colours, once it was asked for.
    plain: OnceCell<String>,
    /// What the payload tells about programs, as far as that was asked for.
    found: RefCell<Found>,
}

impl<'a> Seen<'a> {
    /// Reads the result of a step.
    #[must_use]
    pub fn new(profile: &Profile, raw: &'a RawStep) -> Self {
        let whole = raw.observation.as_deref();
        let text = whole.unwrap_or_default();
        let (head, tail) = (head(text), tail(text));
        let code = raw.exit_code.or_else(|| framed_exit_code(profile, text));
        let timed_out = || profile.timeouts.is_match(head) || profile.timeouts.is_match(tail);
        let by_code = || match code {
            Some(124) => Some(StepResult::Timeout),
            Some(130) => Some(StepResult::Interrupted),
            Some(137) => Some(StepResult::Killed),
            _ => None,
        };
        let stopped =
            raw.stopped.or_else(|| timed_out().then_some(StepResult::Timeout)).or_else(by_code);
        Self {
            whole,
            payload: payload(profile, text),
            code,
            stopped,
            is_error: raw.is_error == Some(true),
            plain: OnceCell::new(),
            found: RefCell::default(),
        }
    }

    fn plain(&self) -> &str {
        if memchr::memchr2(0x1b, b'\r', self.payload.as_bytes()).is_none() {
            return &self.payload;
        }
        self.plain.get_or_init(|| plain(&self.payload).into_owned())
    }

    /// Whether there is nothing at all about the result.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.whole.is_none() && self.code.is_none() && self.stopped.is_none() && !self.is_error
    }

    fn failed_by_field(&self) -> bool {
        self.is_error || self.code.is_some_and(|code| code != 0)
    }

    /// What an editor, a file tool or a search tool says about the call.
    #[must_use]
    pub fn of_tool(&self, profile: &Profile) -> (StepResult, Flags) {
        if self.is_missing() {
            return (StepResult::Unknown, Flags::NO_RESULT);
        }
        if let Some(stopped) = self.stopped {
            return (stopped, Flags::default());
        }
        if self.failed_by_field() || (self.code.is_none() && self.is_refused(profile)) {
            return (StepResult::Error, Flags::INVALID);
        }
        (StepResult::Ok, Flags::default())
    }

    /// Whether a tool took the call: nothing speaks against it, and something came back.
    #[must_use]
    pub fn tool_took_it(&self, profile: &Profile) -> bool {
        self.of_tool(profile).0 == StepResult::Ok
            && (self.code == Some(0) || !self.payload.trim().is_empty())
    }

    /// What came of code that a tool ran: a shell's rules, and the tool's own word for a failure.
    #[must_use]
    pub fn of_run(
        &self,
        act: Option<&Act>,
        profile: &Profile,
        runners: &Runners,
    ) -> (StepResult, Flags) {
        let Some(act) = act else {
            return (StepResult::Unknown, Flags::default());
        };
        let came = self.of_act(act, profile, runners);
        let told = self.whole.is_some_and(|w| w.starts_with('{')) && self.is_refused(profile);
        if told && !came.0.failed() { (StepResult::Error, came.1) } else { came }
    }

    fn is_refused(&self, profile: &Profile) -> bool {
        let whole = self.whole.unwrap_or_default();
        let json = whole.starts_with('{');
        let inner = head(&self.payload);
        let refused = |text: &str| profile.refusals.is_match(text);
        refused(inner) || (json && (refused(head(whole)) || refused(tail(whole))))
    }

    /// What a tool of no category says: only the framework's own words for a failed call count.
    #[must_use]
    pub fn of_call(&self, profile: &Profile) -> (StepResult, Flags) {
        if self.is_missing() {
            return (StepResult::Unknown, Flags::NO_RESULT);
        }
        if let Some(stopped) = self.stopped {
            return (stopped, Flags::default());
        }
        let text = self.payload.trim_start();
        let told = profile.tool_errors.iter().any(|e| text.starts_with(e.as_str()));
        let whole = self.whole.unwrap_or_default();
        let refused = whole.starts_with('{') && self.code.is_none() && self.is_refused(profile);
        if told || refused || self.failed_by_field() {
            (StepResult::Error, Flags::TOOL_ERROR.with(Flags::INVALID))
        } else {
            (StepResult::Ok, Flags::default())
        }
    }

    /// What came of an act of a shell line, or of code that was run.
    #[must_use]
    pub fn of_act(&self, act: &Act, profile: &Profile, runners: &Runners) -> (StepResult, Flags) {
        if self.is_missing() {
            return (StepResult::Unknown, Flags::NO_RESULT);
        }
        let absent = profile.exit_code_when_absent.filter(|_| self.whole.is_some());
        let code = self.code.or(if self.is_error { Some(1) } else { absent });
        let masked = match act.speaks {
            Speaks::Always => false,
            Speaks::OnZero => code.is_some_and(|code| code != 0),
            Speaks::Never => true,
        };
        let mask = if masked { Flags::MASKED } else { Flags::default() };
        if let Some(stopped) = self.stopped {
            return (stopped, mask);
        }
        if act.kind == ActKind::Test
            && let Some(runner) = runners.get(&act.runner)
            && let Some(verdict) = runner.verdict(self.plain())
        {
            return with_verdict(verdict, code.filter(|_| !masked), mask);
        }
        let evidence = || {
            programs_of(act)
                .iter()
                .find_map(|p| runners.evidence(p, self.plain(), &mut self.found.borrow_mut()))
        };
        let result = match code.filter(|_| !masked) {
            Some(0) => StepResult::Ok,
            // No match is an answer, not a failure of the search.
            Some(1 | 123) if is_text_search(act) && evidence() != Some(false) => StepResult::Ok,
            Some(_) => StepResult::Error,
            None => match evidence() {
                Some(true) => StepResult::Ok,
                Some(false) => StepResult::Error,
                None => StepResult::Unknown,
            },
        };
        (result, mask)
    }
}

fn with_verdict(verdict: Verdict, code: Option<i64>, mask: Flags) -> (StepResult, Flags) {
    let (result, flags) = match verdict {
        Verdict::Ok => (StepResult::Ok, mask),
        Verdict::Error => (StepResult::Error, mask),
        Verdict::NothingRan { is_error: true } => {
            (StepResult::Error, mask.with(Flags::NOTHING_RAN))
        }
        Verdict::NothingRan { is_error: false } => (StepResult::Ok, mask.with(Flags::NOTHING_RAN)),
    };
    // The printed verdict wins; the code that says otherwise was not the runner's.
    let disagrees = code.is_some_and(|code| (code == 0) != (result == StepResult::Ok));
    (result, if disagrees { flags.with(Flags::MASKED) } else { flags })
}

fn is_text_search(act: &Act) -> bool {
    act.kind == ActKind::Search && act.op == "grep"
}

/// The programs whose messages tell about an act.
fn programs_of(act: &Act) -> Vec<&str> {
    if act.kind.is_edit() {
        vec!["sed", "patch", "git"]
    } else if act.kind == ActKind::Test {
        vec![act.op.as_str(), "python"]
    } else if act.kind.rank() == ActKind::Unstash.rank() {
        vec!["git"]
    } else {
        vec![act.op.as_str()]
    }
}

/// An exit code that stands in the text of a result, in a form that the profile knows.
#[must_use]
pub fn framed_exit_code(profile: &Profile, observation: &str) -> Option<i64> {
    if observation.is_empty() {
        return None;
    }
    let (head, tail) = (head(observation), tail(observation));
    let codes = &profile.exit_codes;
    codes.group(head).or_else(|| codes.last_group(tail))?.parse().ok()
}

/// The observation without its frame; of a JSON object the field that holds the output.
fn payload<'a>(profile: &Profile, text: &'a str) -> Cow<'a, str> {
    if text.starts_with('{')
        && text.trim_end().ends_with('}')
        && let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text)
    {
        let inner = ["output", "content", "stdout"].iter().find_map(|f| fields.get(*f)?.as_str());
        if let Some(inner) = inner {
            return Cow::Owned(inner.to_owned());
        }
    }
    if let Some(end) = profile.frames.end(text) {
        return Cow::Borrowed(text.get(end..).unwrap_or_default());
    }
    Cow::Borrowed(text)
}

/// The text without colours, so that verdicts stand at the beginning of their lines.
fn plain(text: &str) -> Cow<'_, str> {
    let odd = |from: &str| memchr::memchr2(0x1b, b'\r', from.as_bytes());
    if odd(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = odd(rest) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        // Both are single bytes.
        let after = from.get(1..).unwrap_or_default();
        rest = match after.strip_prefix('[') {
            _ if from.starts_with('\r') => {
                if !after.starts_with('\n') {
                    clean.push('\n');
                }
                after
            }
            Some(code) => {
                let end = code.find(|c: char| c.is_ascii_alphabetic());
                end.and_then(|end| code.get(end + 1..)).unwrap_or_default()
            }
            None => after,
        };
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(FRAME)).unwrap_or(text)
}

fn tail(text: &str) -> &str {
    let from = text.floor_char_boundary(text.len().saturating_sub(FRAME));
    text.get(from..).unwrap_or(text)
}
