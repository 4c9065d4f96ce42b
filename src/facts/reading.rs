//! Reads one rollout step by step: what a call is, what came of it, what it does to the rollout.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::act::{Act, ActKind};
use super::args::{self, Args};
use super::edits::{self, short_hash};
use super::results::Seen;
use super::shell::Shell;
use super::walk::Walk;
use super::{editor, line_tools, mask, text_turns};
use crate::profile::{Deed, Profile, Profiles, Tool};
use crate::rollout::facts::{Extent, Flags, StepFacts, StepResult};
use crate::rollout::raw::{RawArgs, RawKind, RawRollout, RawStep};
use crate::rollout::{RolloutFacts, Sym};

/// One rollout while it is being read.
pub struct Reading<'a> {
    profiles: Arc<Profiles>,
    profile: &'a Profile,
    shell: &'a mut Shell,
    masked: &'a mut Vec<u8>,
    walk: Walk<'a>,
    coding_calls: u32,
    calls: u32,
}

/// What a call is, before it is applied.
struct Understood {
    /// Names the action.
    lead: Act,
    /// What came of it.
    came: (StepResult, Flags),
    /// All it does, with what came of each.
    acts: Vec<(Act, StepResult, Flags)>,
    /// Text of the command, for its hash.
    command: Option<String>,
    /// It needs its arguments in its label.
    brief: bool,
}

impl Understood {
    /// One act with its result.
    fn one(act: Act, came: (StepResult, Flags)) -> Self {
        let acts = vec![(act.clone(), came.0, came.1)];
        Self { lead: act, came, acts, command: None, brief: false }
    }
}

impl<'a> Reading<'a> {
    /// Begins a rollout.
    pub fn new(
        profiles: Arc<Profiles>,
        profile: &'a Profile,
        shell: &'a mut Shell,
        masked: &'a mut Vec<u8>,
    ) -> Self {
        let walk = Walk::new(profile);
        Self { profiles, profile, shell, masked, walk, coding_calls: 0, calls: 0 }
    }

    /// Ends it; `raw_index` holds for each step its place among the raw steps.
    pub fn finish(self, raw_index: Vec<u32>) -> RolloutFacts {
        RolloutFacts {
            raw_index,
            profile: self.profile.name.clone(),
            coding_calls: self.coding_calls,
            calls: self.calls,
            table: self.walk.table,
            symbols: self.walk.symbols,
        }
    }

    /// Reads one raw step; `false` when it is no step.
    pub fn step(&mut self, rollout: &RawRollout, at: usize, raw: &RawStep) -> bool {
        let understood = match raw.kind {
            RawKind::Call => self.call(raw),
            RawKind::Opaque => Understood::one(
                Act::new(ActKind::Other, "", "a ready-made step"),
                (StepResult::Unknown, Flags::default()),
            ),
            RawKind::Text => match text_turns::act(self.profile, rollout, at, raw) {
                Some(act) => self.text_turn(act, raw),
                None => return false,
            },
        };
        self.write(raw, understood);
        true
    }

    fn text_turn(&mut self, act: Act, raw: &RawStep) -> Understood {
        if text_turns::text_action(self.profile, raw).is_some() {
            self.calls += 1;
            let act = Act::new(ActKind::Other, "", "the action stands in the text");
            let seen = Seen::new(self.profile, raw);
            return Understood::one(act, seen.of_call(self.profile));
        }
        let seen = Seen::new(self.profile, raw);
        let refused = act.kind == ActKind::Invalid;
        let result = if refused { StepResult::Error } else { seen.of_call(self.profile).0 };
        Understood::one(act, (result, Flags::default()))
    }

    fn call(&mut self, raw: &RawStep) -> Understood {
        self.calls += 1;
        let name = raw.tool.as_deref().unwrap_or_default();
        let profile = self.profile;
        let tool = profile.tools.get(name);
        if tool.is_some_and(is_coding) {
            self.coding_calls += 1;
        }
        let seen = Seen::new(profile, raw);
        let map = match &raw.args {
            RawArgs::Unparsable(_) => {
                return refused("unparsable arguments", Flags::UNPARSABLE);
            }
            RawArgs::Object(map) => map,
        };
        match tool {
            None if name.trim().is_empty() => refused("a call without a tool", Flags::UNKNOWN_TOOL),
            None if profile.strict => refused("a tool that is not there", Flags::UNKNOWN_TOOL),
            None => {
                let act = Act::new(ActKind::Other, "", "no profile knows the tool");
                Understood { brief: true, ..Understood::one(act, seen.of_call(profile)) }
            }
            Some(tool) => self.tool_call(tool, map, &seen),
        }
    }

    fn tool_call(&mut self, tool: &Tool, map: &Map<String, Value>, seen: &Seen<'_>) -> Understood {
        let args = Args::new(self.profile, Some(tool), map);
        let Some(verb) = editor::verb(tool, &args) else {
            return refused("a sub-command that the tool does not have", Flags::default());
        };
        match verb.deed {
            Deed::Shell => self.command(&args, seen),
            Deed::Other => {
                let act =
                    Act::new(ActKind::Other, &verb.op, rule(tool, "a known tool of no category"));
                Understood { brief: true, ..Understood::one(act, seen.of_call(self.profile)) }
            }
            _ => {
                let mut acts = editor::acts(&verb, tool, &args, seen);
                if tool.windowed {
                    editor::see_window(self.profile, &mut acts, seen);
                }
                let opened = tool.opens.then(|| args.text("path")).flatten();
                self.editor_call(verb.deed, acts, opened, seen, args.text("code"))
            }
        }
    }

    /// A call of an editor, a file tool, a search tool, or of code to run.
    fn editor_call(
        &mut self,
        deed: Deed,
        mut acts: Vec<Act>,
        opened: Option<String>,
        seen: &Seen<'_>,
        code: Option<String>,
    ) -> Understood {
        let tables = Arc::clone(&self.profiles);
        let mut came = match deed {
            Deed::Run => seen.of_run(acts.first(), self.profile, &tables.runners),
            Deed::Think | Deed::Finish | Deed::Respond => {
                (seen.of_call(self.profile).0, Flags::default())
            }
            _ => seen.of_tool(self.profile),
        };
        for act in &mut acts {
            self.complete(act, seen, &mut came);
        }
        if let Some(path) = opened.filter(|_| !came.0.failed()) {
            self.walk.open_file = Some(path);
        }
        let mut lead = acts.first().cloned().unwrap_or_default();
        for more in acts.iter().skip(1) {
            lead.paths.extend(more.paths.iter().cloned());
        }
        let command = if deed == Deed::Run { code } else { None };
        let acts = acts.into_iter().map(|act| (act, came.0, came.1)).collect();
        Understood { lead, came, acts, command, brief: false }
    }

    /// What only the result or the rollout tells about an act of an editor.
    fn complete(&self, act: &mut Act, seen: &Seen<'_>, came: &mut (StepResult, Flags)) {
        let windowed = act.kind == ActKind::View || act.kind.is_edit();
        if windowed && act.paths.is_empty() {
            act.paths.extend(self.walk.open_file.clone());
        }
        if act.kind == ActKind::View {
            let folder = self.profile.folders.is_match(&seen.payload);
            let root = self.walk.resolve(act).iter().any(|p| p == ".");
            if folder || root {
                act.kind = ActKind::Search;
                "ls".clone_into(&mut act.op);
                act.extent = Extent::None;
            }
        }
        if act.flags.has(Flags::INVALID) {
            *came = (StepResult::Error, came.1.with(Flags::INVALID));
        }
        // An empty old text that the tool took: kept as reported, but it looks false.
        if act.flags.has(Flags::SUSPICIOUS) && came.0.failed() {
            act.flags = Flags(act.flags.0 & !Flags::SUSPICIOUS.0);
        }
    }

    /// A shell command line.
    fn command(&mut self, args: &Args<'_>, seen: &Seen<'_>) -> Understood {
        let tables = Arc::clone(&self.profiles);
        let text = args.command().unwrap_or_default();
        if text.trim().is_empty() {
            let act =
                Act::new(ActKind::Execute, "", "an empty command").marked(Flags::EMPTY_COMMAND);
            let came = seen.of_act(&act, self.profile, &tables.runners);
            return Understood::one(act, came);
        }
        if let Some((name, map)) = line_tools::read(self.profile, &text)
            && let Some(tool) = self.profile.tools.get(&name)
        {
            let mut understood = self.tool_call(tool, &map, seen);
            understood.command = Some(text);
            return understood;
        }
        let line = self.shell.read(&tables, &text);
        let mut lead = line.lead.clone();
        let said = || line.acts.iter().filter_map(|act| act.prints.as_deref());
        if self.profile.finish_words.iter().any(|word| said().any(|s| s.trim() == word)) {
            lead = Act::new(ActKind::Finish, "", "the command that ends the work");
            let came = seen.of_act(&lead, self.profile, &tables.runners);
            return Understood { command: Some(text), ..Understood::one(lead, came) };
        }
        let came = seen.of_act(&lead, self.profile, &tables.runners);
        name_patched_files(&mut lead, seen);
        let acts = if lead.kind == ActKind::Quiet {
            // A line that does nothing but say something is an execute like any other.
            vec![(Act { kind: ActKind::Execute, ..lead.clone() }, came.0, came.1)]
        } else if line.acts.len() == 1 {
            vec![(lead.clone(), came.0, came.1)]
        } else {
            let loud = line.acts.iter().filter(|act| act.kind != ActKind::Quiet);
            loud.map(|act| {
                let mut act = act.clone();
                name_patched_files(&mut act, seen);
                let (result, flags) = seen.of_act(&act, self.profile, &tables.runners);
                (act, result, flags)
            })
            .collect()
        };
        // A failing line has changed its directory all the same, unless that is what failed.
        if self.profile.persistent_shell && !seen.payload.contains("cd: ") {
            self.walk.next_cwd.clone_from(&line.cwd);
        }
        Understood { lead, came, acts, command: Some(text), brief: false }
    }

    /// Writes the facts of a step.
    fn write(&mut self, raw: &RawStep, understood: Understood) {
        let Understood { lead, came, acts, command, brief } = understood;
        let text_action = text_turns::text_action(self.profile, raw).map(args::shorten);
        let tool = text_action.as_deref().or(raw.tool.as_deref()).unwrap_or_default();
        let mut action = self.walk.name(&lead, came.0, came.1);
        let from = self.walk.table.effects.len() as u32;
        let mut viewed = None;
        for (act, result, flags) in &acts {
            self.walk.apply(act, *result, *flags);
            if act.kind == ActKind::View && !result.failed() {
                viewed = Some(act);
            }
        }
        let to = self.walk.table.effects.len() as u32;
        self.learn(raw, viewed);
        self.walk.step_done();
        let called = raw.kind == RawKind::Call || text_action.is_some();
        if called && self.profile.is_state_tool(tool) {
            action.flags = action.flags.with(Flags::STATE_TOOL);
        }
        let (call, brief) = match (&text_action, &raw.args) {
            (Some(text), _) => (args::call_hash("text", text), text.clone()),
            (None, RawArgs::Object(map)) if brief => {
                (args::call_hash(tool, &args::canonical(&raw.args)), args::brief(map))
            }
            (None, _) if raw.kind == RawKind::Call => {
                (args::call_hash(tool, &args::canonical(&raw.args)), String::new())
            }
            _ => (0, String::new()),
        };
        let observation = raw.observation.as_deref().unwrap_or_default();
        let (seen, seen_masked) = self.observation_hashes(observation);
        let page = self.page(observation);
        let step = StepFacts {
            action,
            effects: (from, to),
            tool: self.walk.sym(tool),
            command: command.map_or(0, |c| short_hash(edits::normalise(c.trim()).as_bytes())),
            call,
            brief: self.walk.sym(&brief),
            seen,
            seen_masked,
            page,
            why: self.walk.sym(&lead.why),
        };
        self.walk.table.steps.push(step);
    }

    /// Learns a file's length from a view of all of it.
    fn learn(&mut self, raw: &RawStep, viewed: Option<&Act>) {
        let Some(act) = viewed.filter(|act| act.extent == Extent::Full) else {
            return;
        };
        if let [path] = self.walk.resolve(act).as_slice() {
            let seen = Seen::new(self.profile, raw);
            if let Some(length) = editor::shown_length(self.profile, &seen) {
                let path = path.clone();
                self.walk.learn_length(&path, length);
            }
        }
    }

    fn observation_hashes(&mut self, observation: &str) -> (u64, u64) {
        if observation.is_empty() {
            return (0, 0);
        }
        let seen = short_hash(observation.as_bytes());
        let masked = mask::mask(observation, self.masked);
        (seen, if masked { short_hash(self.masked) } else { seen })
    }

    fn page(&mut self, observation: &str) -> Sym {
        match self.profile.page.group(observation) {
            Some(page) => self.walk.sym(page.trim()),
            None => Sym::NONE,
        }
    }
}

fn rule<'t>(tool: &'t Tool, default: &'t str) -> &'t str {
    if tool.why.is_empty() { default } else { &tool.why }
}

fn is_coding(tool: &Tool) -> bool {
    tool.verb.as_ref().map_or(!tool.sub.is_empty(), |verb| verb.deed.is_coding())
}

/// A diff that comes from a file does not name what it changes; the program that applies it does.
fn name_patched_files(act: &mut Act, seen: &Seen<'_>) {
    if act.kind != ActKind::Replace || !act.paths.is_empty() {
        return;
    }
    for line in seen.payload.lines() {
        if let Some(file) = line.strip_prefix("patching file ") {
            let file = file.split(" (").next().unwrap_or(file).trim_matches(['\'', '"']);
            act.paths.push(file.to_owned());
        }
    }
}

/// A call that is none.
fn refused(why: &str, flag: Flags) -> Understood {
    let act = Act::new(ActKind::Invalid, "", why).marked(Flags::INVALID.with(flag));
    Understood::one(act, (StepResult::Error, Flags::default()))
}
