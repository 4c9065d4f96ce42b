//! The state graph of a group, with visit counts, and the path tree of folded segments.
//!
//! Counting only: returns and values live in [`crate::credit`], drawing in the screen.

mod lists;
pub mod paths;
mod state_graph;

pub use lists::Lists;
pub use paths::{PathTree, Row};
pub use state_graph::{Counts, Evidence, Pair, PairId, StateGraph, Transition};
