//! Turns of text without a call: reply, thought, end of the work, or an invalid step.

use super::act::{Act, ActKind};
use crate::profile::{NoTool, Profile};
use crate::rollout::facts::Flags;
use crate::rollout::raw::{Ending, RawKind, RawRollout, RawStep};

/// The act of a text turn; `None` when it is no step: an empty closing message.
#[must_use]
pub fn act(profile: &Profile, rollout: &RawRollout, at: usize, raw: &RawStep) -> Option<Act> {
    let closing = at + 1 == rollout.steps.len();
    let empty = raw.thought.trim().is_empty();
    if closing && empty {
        return None;
    }
    let act = match profile.no_tool {
        NoTool::Respond => Act::new(ActKind::Respond, "", "text reaches a user"),
        _ if raw.told_to_continue => invalid("the harness demanded to continue"),
        _ if closing && !matches!(rollout.ending, Ending::Limit(_)) => {
            Act::new(ActKind::Finish, "", "a closing message").marked(Flags::IMPLICIT_FINISH)
        }
        NoTool::Think if !closing => {
            Act::new(ActKind::Think, "", "the harness accepts text without a call")
        }
        _ => invalid("a turn without a call"),
    };
    Some(act)
}

fn invalid(why: &str) -> Act {
    Act::new(ActKind::Invalid, "", why).marked(Flags::INVALID)
}

/// The part of a text turn that is the action of a text environment.
#[must_use]
pub fn text_action<'t>(profile: &Profile, raw: &'t RawStep) -> Option<&'t str> {
    if raw.kind != RawKind::Text {
        return None;
    }
    // The last one counts: a text may speak of actions before it takes one.
    profile.text_actions.last_group(&raw.thought)
}
