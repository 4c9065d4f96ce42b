//! Options of single commands. Those that change rows or numbers stand in the stamp of an export and
//! come back from it.

use serde_json::{Value, json};

use super::kind::Kind;
use crate::analysis::{By, Weight};
use crate::export::Format;
use crate::export::figure::FigureKind;
use crate::export::groups::GroupsBy;
use crate::export::tree::Lens;

/// Options of single commands.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub struct Options {
    /// Form of the output.
    pub format: Format,
    /// No stamp line.
    pub no_stamp: bool,
    /// Texts as they were.
    pub raw: bool,
    /// `report`: the short form.
    pub brief: bool,
    /// `groups`: sort by this column.
    pub sort: Option<String>,
    /// `groups`: rows.
    pub groups_by: GroupsBy,
    /// `quadrants`: rows.
    pub by: By,
    /// `quadrants`: only steps of evidence class `compared`.
    pub compared: bool,
    /// `quadrants`: what counts.
    pub weight: Weight,
    /// `tree`: what it shows.
    pub lens: Lens,
    /// `explain`: the step.
    pub at: Option<String>,
    /// `explain`, `advantages`: the column or columns.
    pub column: Option<String>,
    /// `explain`: artefacts, too.
    pub artefacts: bool,
    /// `sweep`: knobs with their values, as given.
    pub sweep: Vec<String>,
    /// `skill`: abstractions side by side.
    pub compare: bool,
    /// `panel`: the column that stands for the truth.
    pub against: Option<String>,
    /// `compare`: ids of rollouts, between commas.
    pub rollouts: Option<String>,
    /// `compare-runs`: two policies, between a comma.
    pub policies: Option<String>,
    /// `compare-runs`: two training steps, between a comma.
    pub train_steps: Option<String>,
    /// `figure`: which one.
    pub figure: Option<FigureKind>,
    /// `schema`, `completions`: what is asked for.
    pub topic: Option<String>,
    /// `simulate`: all of it.
    pub simulate: super::simulate::Simulate,
    /// The screen: capture the mouse.
    pub mouse: bool,
    /// The screen as a picture in this file.
    pub screenshot: Option<std::path::PathBuf>,
    /// Size of the picture in cells.
    pub size: Option<String>,
    /// Keys to press before the picture.
    pub keys: Option<String>,
    /// Options that stood on the command line.
    pub explicit: Vec<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: Format::Text,
            no_stamp: false,
            raw: false,
            brief: false,
            sort: None,
            groups_by: GroupsBy::Group,
            by: By::Outcome,
            compared: false,
            weight: Weight::Steps,
            lens: Lens::Paths,
            at: None,
            column: None,
            artefacts: false,
            sweep: Vec::new(),
            compare: false,
            against: None,
            rollouts: None,
            policies: None,
            train_steps: None,
            figure: None,
            topic: None,
            simulate: super::simulate::Simulate::default(),
            mouse: false,
            screenshot: None,
            size: None,
            keys: None,
            explicit: Vec::new(),
        }
    }
}

impl Options {
    /// What the stamp of an export of this kind carries.
    pub fn stamped(&self, kind: Kind) -> Vec<(&'static str, Value)> {
        let mut found = vec![("format", json!(self.format.name()))];
        if self.raw {
            found.push(("raw", json!(true)));
        }
        match kind {
            Kind::Report => found.extend(self.brief.then_some(("brief", json!(true)))),
            Kind::Groups => {
                found.push(("by", json!(self.groups_by.name())));
                found.extend(self.sort.iter().map(|s| ("sort", json!(s))));
            }
            Kind::Quadrants => found.extend(self.stamped_quadrants()),
            Kind::Tree => found.push(("lens", json!(self.lens.name()))),
            Kind::Explain => {
                found.extend(self.at.iter().map(|at| ("at", json!(at))));
                found.extend(self.column.iter().map(|c| ("column", json!(c))));
                found.extend(self.artefacts.then_some(("artefacts", json!(true))));
            }
            Kind::Advantages => found.extend(self.column.iter().map(|c| ("column", json!(c)))),
            Kind::Sweep => found.push(("sweep", json!(self.sweep))),
            Kind::Figure => self.stamped_figure(&mut found),
            Kind::Skill => found.extend(self.compare.then_some(("compare", json!(true)))),
            Kind::Panel => found.extend(self.against.iter().map(|a| ("against", json!(a)))),
            Kind::CompareRuns => {
                found.extend(self.policies.iter().map(|p| ("policies", json!(p))));
                found.extend(self.train_steps.iter().map(|t| ("train-steps", json!(t))));
            }
            Kind::Compare => found.extend(self.rollouts.iter().map(|r| ("rollouts", json!(r)))),
            _ => {}
        }
        found
    }

    fn stamped_quadrants(&self) -> [(&'static str, Value); 3] {
        [
            ("by", json!(self.by.name())),
            ("compared", json!(self.compared)),
            ("weight", json!(self.weight.name())),
        ]
    }

    fn stamped_figure(&self, found: &mut Vec<(&'static str, Value)>) {
        let Some(figure) = self.figure else { return };
        found.push(("figure", json!(figure.name())));
        match figure {
            FigureKind::Quadrants => found.extend(self.stamped_quadrants()),
            FigureKind::Sweep => found.push(("sweep", json!(self.sweep))),
            FigureKind::Advantages | FigureKind::Matrix => {
                found.extend(self.column.iter().map(|c| ("column", json!(c))));
            }
            FigureKind::Tree | FigureKind::Panel => {}
        }
    }

    /// Takes an option from a stamp, unless the command line says otherwise.
    pub fn restore(&mut self, kind: Kind, name: &str, value: &Value) {
        if self.explicit.contains(&name) {
            return;
        }
        let text = value.as_str();
        let on = value.as_bool() == Some(true);
        match name {
            "format" => {
                self.format =
                    Format::ALL.into_iter().find(|f| Some(f.name()) == text).unwrap_or(self.format);
            }
            "raw" => self.raw = on,
            "brief" => self.brief = on,
            "compared" => self.compared = on,
            "artefacts" => self.artefacts = on,
            "compare" => self.compare = on,
            "by" if kind == Kind::Groups => {
                self.groups_by = text.and_then(GroupsBy::find).unwrap_or(self.groups_by);
            }
            "by" => {
                self.by = By::ALL.into_iter().find(|b| Some(b.name()) == text).unwrap_or(self.by);
            }
            "weight" if text == Some("tokens") => self.weight = Weight::Tokens,
            "lens" if text == Some("states") => self.lens = Lens::States,
            "sweep" => {
                let list = value.as_array().map_or(&[][..], Vec::as_slice);
                self.sweep = list.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
            }
            "figure" => self.figure = text.and_then(FigureKind::find),
            "sort" => self.sort = text.map(ToOwned::to_owned),
            "at" => self.at = text.map(ToOwned::to_owned),
            "column" => self.column = text.map(ToOwned::to_owned),
            "against" => self.against = text.map(ToOwned::to_owned),
            "policies" => self.policies = text.map(ToOwned::to_owned),
            "train-steps" => self.train_steps = text.map(ToOwned::to_owned),
            "rollouts" => self.rollouts = text.map(ToOwned::to_owned),
            _ => {}
        }
    }
}
