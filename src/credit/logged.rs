//! `logged:NAME`: any number per step that the file holds.

use std::rc::Rc;

use super::{Column, Context, Estimator, Meta, Node, Params};

static META: Meta = Meta {
    id: "logged",
    title: "logged:NAME",
    formula: "the number of that name at the step, as logged",
    source: "the file (`values` of a native step)",
    uses_states: false,
    params: &[],
    reading: "",
};

/// Logged numbers. The name is part of the column's name, so the work is done by free functions.
pub(super) struct Logged;

pub(super) static LOGGED: Logged = Logged;

impl Estimator for Logged {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn estimate(&self, _context: &Context, _params: &Params) -> Column {
        Column::default()
    }

    fn derive(&self, _context: &Context, _params: &Params, _step: usize) -> Option<Rc<Node>> {
        None
    }
}

pub(super) fn estimate(context: &Context, name: &str) -> Column {
    let known = context.group.steps.values.iter().find(|(n, _)| n == name);
    let cells = (0..context.group.len()).map(|step| match known {
        None => Err("not logged in this group"),
        Some((_, values)) => values.get(step).copied().flatten().ok_or("not logged at this step"),
    });
    Column::new(cells, "as logged".to_owned())
}

pub(super) fn derive(context: &Context, name: &str, step: usize) -> Option<Rc<Node>> {
    let (_, values) = context.group.steps.values.iter().find(|(n, _)| n == name)?;
    let value = values.get(step).copied().flatten()?;
    let at = context.at(step);
    Some(Node::leaf(format!("logged {name} of {at}"), value, at))
}
