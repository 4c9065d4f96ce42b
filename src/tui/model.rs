//! The state of the screen: the shown analysis, one cursor through all panes, layers.
//!
//! No drawing, no terminal, no thread. Everything that can be derived is derived: what is stored
//! beside it (explanation, wrapped text) is refreshed by [`super::update`] after every message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ratatui::layout::Rect;

use super::comparing::Comparing;
use super::filtering::Filtering;
use super::finding::Finding;
pub use super::grouping::{GroupList, GroupOrder};
use super::jumps::Jumps;
use super::layout::{Needs, Pane, Plan, layout};
use super::lens::{Folds, Lens, LensKind};
use super::loading::Loading;
use super::ordering::{Arrangement, Sight};
use super::pivotal::Reading;
use super::snapshot::Snapshot;
use super::sweeping::Sweeping;
use super::text::{Document, Wrapped};
use super::theme::{Depth, Theme, ThemeId};
use super::turning::Turning;
use crate::analysis::{AnalysisSettings, Explanation, Warning};
use crate::load::{LoadReport, VerdictKind};
use crate::rollout::{Corpus, Group};
use crate::settings::Settings;

/// A warning of the load or a remark about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Stable code.
    pub code: String,
    /// What is the case.
    pub text: String,
    /// What it means and what to do.
    pub help: String,
}

impl Notice {
    /// What a load has to say, the gravest first.
    #[must_use]
    pub fn of_load(report: &LoadReport) -> Vec<Self> {
        let notice = |code: &str, text: String, help: &str| Self {
            code: code.to_owned(),
            text,
            help: help.to_owned(),
        };
        let mut list = Vec::new();
        if let Some(partial) = report.partial() {
            let help = match (report.first_skipped(), &report.stopped) {
                (Some(first), _) => format!("first: {first}"),
                (None, Some(_)) => "the rest was left unread: R loads all of it".to_owned(),
                (None, None) => "`check` has the files and what is wrong with them".to_owned(),
            };
            list.push(notice(PARTIAL, partial, &help));
        }
        for verdict in &report.not_rollouts {
            if verdict.named && verdict.kind != VerdictKind::Copy {
                let text = format!("{}: {}", verdict.name, verdict.reason);
                let help = verdict.hint.as_deref().unwrap_or("no rollouts were found in it");
                list.push(notice("not-rollouts", text, help));
            }
        }
        let partial = report.partial().is_some();
        // That data is partial was said first, with the first record that is missing.
        for warning in report.warnings.iter().filter(|w| !(partial && w.code == "skipped")) {
            let help = warning.hint.as_deref().unwrap_or("see the load report");
            list.push(notice(warning.code, warning.text.clone(), help));
        }
        list
    }
}

/// Code of the notice that records were skipped: the title says so, too.
pub const PARTIAL: &str = "partial";

/// How the screen looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Theme.
    pub theme: ThemeId,
    /// Colours of the terminal.
    pub depth: Depth,
    /// Draw in ASCII.
    pub ascii: bool,
}

impl Look {
    /// The styles.
    #[must_use]
    pub fn styles(&self) -> Theme {
        Theme::new(self.theme, self.depth)
    }
}

/// Where the screen starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Index of the group.
    pub group: usize,
    /// Index of the rollout in it.
    pub rollout: usize,
    /// Step within the rollout.
    pub step: usize,
}

/// What of the load is shown, as the options say.
#[derive(Debug, Clone, Default)]
pub struct Showing {
    /// The settings that the screen starts with: further columns follow them.
    pub start: Option<Settings>,
    /// Only this rollout; statistics still count all.
    pub rollout: Option<String>,
    /// Only groups with successes and failures.
    pub mixed: bool,
    /// Groups of uniform outcome count in what is summed up over groups.
    pub uniform_counts: bool,
}

/// The one cursor. `step` counts within the rollout; a rollout without steps has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// Index of the rollout in the shown group.
    pub rollout: usize,
    /// Step within the rollout.
    pub step: usize,
}

/// A layer over the panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The keys, with what was typed to search them.
    Help {
        /// Search text.
        query: String,
        /// First line in sight.
        scroll: usize,
    },
    /// The warnings.
    Warnings {
        /// Selected one.
        at: usize,
    },
    /// The chooser of columns.
    Columns {
        /// Selected one.
        at: usize,
    },
    /// The filter of steps.
    Filter {
        /// Selected facet.
        at: usize,
    },
    /// The pattern to search, while it is typed.
    Search {
        /// What was typed.
        text: String,
    },
    /// The menu of exports.
    Export {
        /// Selected one.
        at: usize,
    },
    /// Everything that can be done.
    Palette {
        /// What was typed.
        query: String,
        /// Selected entry.
        at: usize,
    },
}

/// The text of the step under the cursor.
#[derive(Debug, Clone, Default)]
pub enum Text {
    /// Nothing was asked for.
    #[default]
    None,
    /// It is being read.
    Loading,
    /// Here it is.
    Ready(Arc<Document>),
    /// It could not be read; the reason.
    Failed(String),
}

/// The reader.
#[derive(Debug, Default)]
pub struct Reader {
    /// Which step: group, rollout, step.
    pub of: Option<(usize, usize, usize)>,
    /// Its text.
    pub text: Text,
    /// The text at the width of the reader.
    pub lines: Vec<Wrapped>,
    /// Width of `lines`.
    pub width: usize,
    /// First line in sight.
    pub scroll: usize,
    /// The search whose hit was gone to.
    pub sought: Option<u64>,
    /// Lines that hold what it looks for.
    pub found: Vec<usize>,
}

/// Digits typed before a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed {
    /// The number so far.
    pub number: usize,
    /// Whether it is a count for certain.
    pub count: bool,
    /// Where the focus was before the first digit.
    pub focus: (Pane, bool),
}

/// The state of the screen.
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own key")]
pub struct Model {
    /// What was loaded.
    pub corpus: Corpus,
    /// Warnings of the load.
    pub notices: Vec<Notice>,
    /// Settings of the analysis that is wanted.
    pub settings: AnalysisSettings,
    /// How the screen looks.
    pub look: Look,
    /// Size of the terminal.
    pub area: Rect,
    /// The group that is wanted.
    pub group: usize,
    /// Number of the last request; 0 before the first.
    pub wanted: u64,
    /// Number of the first request for the same group and settings: an answer to one since then is of an
    /// earlier state of the load.
    pub since: u64,
    /// What is shown, and for which group.
    pub shown: Option<(usize, Arc<Snapshot>)>,
    /// Number of the request that gave what is shown.
    pub shown_key: u64,
    /// The cursor, in the shown group.
    pub cursor: Cursor,
    /// Where the cursor was in other groups: rollout id and step.
    pub visited: BTreeMap<usize, (String, usize)>,
    /// Where the first group starts, if that was asked for.
    pub start: Option<Start>,
    /// The pane that keys go to.
    pub focus: Pane,
    /// Whether it has all the room.
    pub zoom: bool,
    /// The pane that Esc goes back to.
    pub back: Pane,
    /// Layers over the panes, the topmost last.
    pub layers: Vec<Layer>,
    /// Which lens the tree shows.
    pub lens: LensKind,
    /// Order of the tree and what it leaves out.
    pub arrangement: Arrangement,
    /// Folds of the paths and of the states.
    pub folds: [Folds; 2],
    /// Runs of equal steps that were opened, by the index of their first step in the group.
    pub opened_runs: BTreeSet<usize>,
    /// Whether all bars share one scale.
    pub shared_scale: bool,
    /// The explanation of the selected value, while a pane needs it.
    pub explanation: Option<Explanation>,
    /// Selected row of the explanation's members.
    pub member: usize,
    /// The reader.
    pub reader: Reader,
    /// The list of groups.
    pub groups: GroupList,
    /// The knobs, the pin and what was undone.
    pub turning: Turning,
    /// The steps worth reading.
    pub reading: Reading,
    /// The sweep picture.
    pub sweeping: Sweeping,
    /// The filter of steps.
    pub filtering: Filtering,
    /// The search.
    pub finding: Finding,
    /// Rollouts side by side.
    pub comparing: Comparing,
    /// Places to go back to.
    pub jumps: Jumps,
    /// Digits typed before a key.
    pub typed: Option<Typed>,
    /// A message for the person, until the next key.
    pub message: Option<String>,
    /// Whether control characters of texts are shown.
    pub controls: bool,
    /// Whether the mouse is captured.
    pub mouse: bool,
    /// The settings that the screen started with, where there are any.
    pub begun_with: Option<Settings>,
    /// The load that runs.
    pub loading: Option<Loading>,
    /// Whether the screen opened on a load and nobody pressed a key since.
    pub untouched: bool,
}

impl Model {
    /// The state before anything is computed.
    #[must_use]
    pub fn new(
        corpus: Corpus,
        notices: Vec<Notice>,
        settings: AnalysisSettings,
        look: Look,
        start: Option<Start>,
    ) -> Self {
        let group = start.map_or(0, |s| s.group).min(corpus.groups.len().saturating_sub(1));
        Self {
            groups: GroupList {
                rows: vec![None; corpus.groups.len()],
                at: group,
                ..GroupList::default()
            },
            corpus,
            notices,
            turning: Turning::new(&settings),
            settings,
            look,
            area: Rect::default(),
            group,
            wanted: 0,
            since: 0,
            shown: None,
            shown_key: 0,
            cursor: Cursor::default(),
            visited: BTreeMap::new(),
            start,
            focus: Pane::Steps,
            zoom: false,
            back: Pane::Steps,
            layers: Vec::new(),
            lens: LensKind::default(),
            arrangement: Arrangement::default(),
            folds: [Folds::default(), Folds::default()],
            opened_runs: BTreeSet::new(),
            shared_scale: false,
            explanation: None,
            member: 0,
            reader: Reader::default(),
            reading: Reading::default(),
            sweeping: Sweeping::default(),
            filtering: Filtering::default(),
            finding: Finding::default(),
            comparing: Comparing::default(),
            jumps: Jumps::default(),
            typed: None,
            message: None,
            controls: false,
            mouse: false,
            begun_with: None,
            loading: None,
            untouched: false,
        }
    }

    /// Shows what the options ask for. Before the first request.
    pub fn show(&mut self, showing: Showing) {
        self.begun_with = showing.start;
        self.groups.mixed = showing.mixed;
        self.groups.uniform_counts = showing.uniform_counts;
        let Some(id) = showing.rollout else {
            return;
        };
        let mut groups = self.corpus.groups.iter().enumerate();
        let found = groups.find_map(|(g, group)| Some((g, group.find(&id)?)));
        if let (Some((group, rollout)), None) = (found, self.start) {
            self.start = Some(Start { group, rollout, step: 0 });
            self.group = group;
            self.groups.at = group;
        }
        self.filtering.only = Some(id);
    }

    /// What is shown.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.shown.as_ref().map(|(_, s)| s)
    }

    /// The group that is shown.
    #[must_use]
    pub fn shown_group(&self) -> Option<&Arc<Group>> {
        self.snapshot().map(|s| &s.analysis.group)
    }

    /// Whether a newer analysis is on its way.
    #[must_use]
    pub const fn waiting(&self) -> bool {
        self.wanted != self.shown_key
    }

    /// Steps of a rollout of the shown group, as indices in the group.
    #[must_use]
    pub fn steps_of(&self, rollout: usize) -> std::ops::Range<usize> {
        self.shown_group().and_then(|g| g.rollouts.get(rollout)).map_or(0..0, |r| r.steps.clone())
    }

    /// The selected step as an index in the group; `None` in a rollout without steps.
    #[must_use]
    pub fn step(&self) -> Option<usize> {
        let steps = self.steps_of(self.cursor.rollout);
        let at = steps.start + self.cursor.step;
        steps.contains(&at).then_some(at)
    }

    /// Folds of the lens in use.
    #[must_use]
    pub fn folds(&self) -> &Folds {
        let [paths, states] = &self.folds;
        match self.lens {
            LensKind::Paths => paths,
            LensKind::States => states,
        }
    }

    /// Folds of the lens in use, to change them.
    pub fn folds_mut(&mut self) -> &mut Folds {
        let [paths, states] = &mut self.folds;
        match self.lens {
            LensKind::Paths => paths,
            LensKind::States => states,
        }
    }

    /// The tree and what is in sight of it.
    #[must_use]
    pub fn tree(&self) -> Option<(&Lens, Sight)> {
        let snapshot = self.snapshot()?;
        let lens = snapshot.lens(self.lens);
        let Arrangement { order, least } = self.arrangement;
        Some((lens, Sight::new(lens, self.folds(), snapshot.drawn(self.lens, order), least)))
    }

    /// Where everything is.
    #[must_use]
    pub fn plan(&self) -> Plan {
        layout(self.area, &self.needs())
    }

    /// What the layout depends on.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs {
            tree: self.tree().map_or(1, |(_, sight)| sight.rows.len().max(1)),
            steps: self.step_lines(self.cursor.rollout).len().max(1),
            rollouts: self.shown_group().map_or(1, |g| g.rollouts.len().max(1)),
            focus: self.focus,
            zoom: self.zoom,
        }
    }

    /// What the load has to say; where there is one group only, without what its own warnings say.
    fn notices_besides<'a>(&'a self, group: &'a [Warning]) -> impl Iterator<Item = Notice> + 'a {
        let one = self.corpus.groups.len() == 1;
        self.notices
            .iter()
            .filter(move |n| !(one && group.iter().any(|w| w.code == n.code)))
            .cloned()
    }

    /// All warnings: those of the group, then those of the load.
    #[must_use]
    pub fn warnings(&self) -> Vec<Notice> {
        let group = self.snapshot().map_or(&[][..], |s| &s.analysis.warnings);
        group
            .iter()
            .map(|w| Notice {
                code: w.code.to_owned(),
                text: w.text.clone(),
                help: w.help.to_owned(),
            })
            .chain(self.notices_besides(group))
            .collect()
    }
}
